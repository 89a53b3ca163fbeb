"""Steps: a heading `{ .step #step-2 }` and all that follows it, up to the next step or the next heading of its level, is one section."""

from __future__ import annotations

from bs4 import BeautifulSoup, Tag


def build(soup: BeautifulSoup) -> None:
    """Wrap each step of a page in a section, and consecutive steps in one stepper. Without a script they follow one another."""
    heads = [h for h in soup.find_all(["h2", "h3"]) if isinstance(h, Tag) and "step" in (h.get("class") or [])]
    sections: list[Tag] = []
    for head in heads:
        number = str(head.get("id", "")).removeprefix("step-")
        section = soup.new_tag("section")
        section["class"] = "step"
        section["id"] = f"step-{number}"
        section["aria-labelledby"] = f"step-{number}-title"
        head.insert_before(section)
        node: Tag | None = head
        while node is not None:
            following = node.next_sibling
            section.append(node.extract())
            if isinstance(following, Tag) and following.name in ("h1", "h2", head.name):
                break
            node = following  # type: ignore[assignment]
        head["id"] = f"step-{number}-title"
        del head["class"]
        anchor = head.find("a", class_="headerlink")
        if isinstance(anchor, Tag):
            anchor["href"] = f"#step-{number}"
        sections.append(section)
    if not sections:
        return
    stepper = soup.new_tag("div")
    stepper["class"] = "steps"
    sections[0].insert_before(stepper)
    for section in sections:
        stepper.append(section.extract())
    _after(soup, stepper)


def _after(soup: BeautifulSoup, stepper: Tag) -> None:
    """What belongs to the end of an act, from the questions to the bridge, in one box: the stepper shows it with the last step."""
    bridge = stepper.find_next_sibling(class_="bridge")
    if not isinstance(bridge, Tag):
        return
    box = soup.new_tag("div")
    box["class"] = "after-steps"
    stepper.insert_after(box)
    while (node := box.next_sibling) is not None:
        box.append(node.extract())
        if node is bridge:
            return
