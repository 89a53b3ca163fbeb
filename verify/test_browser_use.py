"""What a reader does, in Chromium: steps through an act, opens the card of a number, looks one up in the ledger, searches."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from playwright.sync_api import Locator, Page, expect

from verify import browser as b

pytestmark = pytest.mark.browser

ACT, STEPS = "acts/2-queue.html", 4
SENTENCE = "The short formula holds only while"  # of the last step


@pytest.fixture
def act(visitor: b.Visitor, served: str) -> Page:
    return visitor.open(f"{served}/{ACT}")


class Place(NamedTuple):
    """Where a stepper says it is: the steps that can be seen, the address, its number, the current dot, the ends."""

    shown: list[str]
    hash: str
    number: str
    dot: list[str]
    back: str
    next: str


def place(page: Page) -> Place:
    return Place(
        b.shown_steps(page),
        page.evaluate("location.hash"),
        page.locator(".step-count").inner_text(),
        page.locator(".step-dot[aria-current=step]").evaluate_all("dots => dots.map((dot) => dot.hash)"),
        str(button(page, "Back").get_attribute("aria-disabled")),
        str(button(page, "Next").get_attribute("aria-disabled")),
    )


def at(step: int, address: str | None = None) -> Place:
    """The place to be at in a step, all in agreement; `address` where it is not the step's own."""
    name = f"step-{step}"
    ends = [str(step == end).lower() for end in (1, STEPS)]
    return Place([name], f"#{name}" if address is None else address, f"{step:02d}/{STEPS:02d}", [f"#{name}"], *ends)


def button(page: Page, name: str) -> Locator:
    return page.get_by_role("button", name=name)


def focus(page: Page) -> str:
    """The id of what has the focus; of the body, nothing."""
    return str(page.evaluate("document.activeElement.id"))


# ---- Steps -----------------------------------------------------------------------------


def test_an_act_begins_at_its_first_step(act: Page) -> None:
    assert place(act) == at(1, address="")
    assert focus(act) == ""
    assert act.evaluate("scrollY") == 0


def test_each_way_to_step(act: Page) -> None:
    entries = act.evaluate("history.length")
    dots = act.locator(".step-dot")
    ways: list[tuple[int, Callable[[], object]]] = [
        (2, lambda: button(act, "Next").click()),
        (3, lambda: act.keyboard.press("ArrowRight")),
        (1, lambda: dots.nth(0).click()),
        (4, lambda: dots.nth(3).click()),
        (3, lambda: act.keyboard.press("ArrowLeft")),
        (2, lambda: button(act, "Back").click()),
        (3, lambda: button(act, "Next").press("Enter")),
        (4, lambda: button(act, "Next").press("Space")),
    ]
    for step, way in ways:
        way()
        assert place(act) == at(step)
        assert focus(act) == f"step-{step}-title"
        expect(act.locator(f"#step-{step}-title")).to_be_in_viewport()
    assert act.evaluate("history.length") == entries


def test_back_leaves_the_act(act: Page, served: str) -> None:
    """The browser's Back goes to the page before, not to the step before."""
    act.goto(f"{served}/index.html")
    act.goto(f"{served}/{ACT}")
    for _ in range(3):
        button(act, "Next").click()
    act.go_back()
    expect(act).to_have_url(f"{served}/index.html")
    act.go_forward()
    assert place(act) == at(4)


def test_the_ends_hold_without_disabling_a_button(act: Page) -> None:
    button(act, "Back").click(force=True)  # as a reader can: it does not stand still, it does nothing
    act.keyboard.press("ArrowLeft")
    assert place(act) == at(1, address="")
    assert focus(act) != "step-1-title"
    act.locator(".step-dot").last.click()
    button(act, "Next").click(force=True)
    act.keyboard.press("ArrowRight")
    assert place(act) == at(STEPS)
    expect(act.locator(".step-bar :disabled")).to_have_count(0)


@pytest.mark.parametrize(
    ("address", "step", "target"),
    [
        ("#step-3", 3, "#step-3"),
        ("#step-2-title", 2, "#step-2-title"),
        ("#fig-queue-depth", 4, "#fig-queue-depth"),
        ("#check", STEPS, "#check"),
        ("#nowhere", 1, "h1"),
        ("#%zz", 1, "h1"),
        (f"#:~:text={SENTENCE.replace(' ', '%20')}", STEPS, f"text={SENTENCE}"),
    ],
)
def test_an_address_leads_to_its_step(visitor: b.Visitor, served: str, address: str, step: int, target: str) -> None:
    page = visitor.open(f"{served}/{ACT}{address}")
    assert b.soon(page, lambda: place(page) == at(step, address="" if ":~:" in address else address))
    assert b.soon(page, lambda: in_sight(page.locator(target).first))


def in_sight(target: Locator) -> bool:
    """Whether its top can be seen: below the header, above where the bar of the stepper sticks."""
    return bool(
        target.evaluate("""(node) => {
          const { top } = node.getBoundingClientRect();
          return top >= document.querySelector(".md-header").offsetHeight - 1 && top < innerHeight - document.querySelector(".step-bar").offsetHeight;
        }""")
    )


def test_a_changed_address_is_followed(act: Page) -> None:
    for address, step in (("#step-3", 3), ("#%zz", 3), ("#check", STEPS), ("#fig-queue-print", 2), ("", 1)):
        act.evaluate("(address) => { location.hash = address; }", address)
        expect(act.locator(f"#step-{step}")).to_be_visible()
        assert place(act) == at(step, address=address)


def test_find_in_page_reaches_hidden_steps(act: Page) -> None:
    """The browser's own find tells a hidden step that it holds the words; here as Chromium does, with its event."""
    assert act.locator("#step-3").get_attribute("hidden") == "until-found"
    act.evaluate("document.querySelector('#step-3').dispatchEvent(new Event('beforematch', { bubbles: true }))")
    assert b.shown_steps(act) == ["step-3"]
    expect(act.locator(".step-count")).to_have_text("03/04")


def test_arrow_keys_belong_to_what_has_the_focus(visitor: b.Visitor, served: str) -> None:
    page = visitor.open(f"{served}/acts/6-allreduce.html#step-4", width=390)
    box, link = page.get_by_role("region", name="Table: ring walk"), page.locator("a.q:visible").first
    expect(box).to_have_attribute("tabindex", "0")
    box.press("ArrowRight")
    link.press("Shift+ArrowRight")
    link.press("Enter")
    page.keyboard.press("ArrowRight")
    expect(page.locator("#number-card")).to_be_visible()
    page.keyboard.press("Escape")
    assert b.shown_steps(page) == ["step-4"]
    assert b.soon(page, lambda: box.evaluate("(box) => box.scrollLeft > 0"))
    link.press("ArrowRight")
    assert b.shown_steps(page) == ["step-5"]
    page.set_viewport_size({"width": 1280, "height": 800})
    page.locator(".md-search__input").press("ArrowLeft")
    assert b.shown_steps(page) == ["step-5"]


def test_the_bar_stays_in_reach_on_a_phone(visitor: b.Visitor, served: str) -> None:
    page = visitor.open(f"{served}/{ACT}#step-1", width=360, height=640, **b.TOUCH)
    for _ in range(STEPS - 1):
        expect(button(page, "Next")).to_be_in_viewport(ratio=1)
        button(page, "Next").tap()
    assert place(page) == at(STEPS)


# ---- Cards -----------------------------------------------------------------------------


@pytest.mark.full
def test_every_number_has_its_card(visitor: b.Visitor, site: Path, served: str) -> None:
    """And the formula in it is the one of its entry in the ledger."""
    ledger = b.formulas(visitor.open(f"{served}/numbers.html"))
    assert sum("=" in formula for formula in ledger.values()) > 40
    problems, links = [], 0
    for path in b.pages(site):
        page = visitor.open(f"{served}/{path}", width=360, height=640, **b.TOUCH)
        problems += b.sweep(page, b.cards)
        problems += [
            f"{path}: {name} has another formula in the ledger"
            for name, formula in b.formulas(page).items()
            if "," not in name and ledger.get(name) != formula  # a range leads to the entry of its low end
        ]
        links += page.locator("a.q").count()
    assert problems == []
    assert links > 60


@pytest.mark.parametrize("width", [1280, 360])
@pytest.mark.parametrize("by", ["click", "Enter"])
def test_a_card_opens_and_gives_the_focus_back(visitor: b.Visitor, served: str, width: int, by: str) -> None:
    page = visitor.open(f"{served}/{ACT}", width=width)
    link = page.locator("#step-1 a.q", has_text="11 ticks")
    card = page.get_by_role("dialog", name="11 ticks: queue.done")

    def leave_by_key() -> None:
        page.keyboard.press("Escape")

    def leave_by_button() -> None:
        card.get_by_role("button", name="Close").click()

    def leave_by_clicking_elsewhere() -> None:
        page.mouse.click(5, 300)

    for leave in (leave_by_key, leave_by_button, leave_by_clicking_elsewhere):
        if by == "click":
            link.click()
        else:
            link.press("Enter")
        expect(card).to_be_in_viewport(ratio=1)
        assert card.evaluate("(card) => card.contains(document.activeElement)")
        expect(card).to_contain_text("When the GPU has computed the last statement.")
        assert b.touch_targets(page) == []
        leave()
        expect(card).to_be_hidden()
        expect(link).to_be_focused()
    assert place(page) == at(1, address="")


def test_tab_goes_through_a_card_and_on(act: Page) -> None:
    link = act.locator("#step-1 a.q").first
    link.press("Enter")
    card = act.locator("#number-card")
    expect(act.get_by_role("button", name="Close")).to_be_focused()
    for _ in range(12):
        act.keyboard.press("Tab")
        if not card.evaluate("(card) => card.contains(document.activeElement)"):
            break
    expect(card).to_be_hidden()
    assert act.evaluate("document.activeElement !== document.body")


def test_a_card_leads_to_its_entry(act: Page) -> None:
    act.locator("#step-1 a.q", has_text="1.83×").click()
    act.get_by_role("link", name="Open in the ledger").click()
    act.wait_for_url("**/numbers.html#**")
    expect(act.locator(".entry:target")).to_contain_text("queue.done / queue.free")
    expect(act.locator(".entry:target")).to_be_in_viewport()


def test_ctrl_click_opens_the_ledger_in_a_tab(act: Page) -> None:
    with act.context.expect_page() as opened:
        act.locator("#step-1 a.q").first.click(modifiers=["Control"])
    opened.value.wait_for_url("**/numbers.html#queue.statements")
    expect(act.locator("#number-card")).to_be_hidden()


# ---- The ledger ----------------------------------------------------------------------------


def test_the_filter_of_the_ledger(visitor: b.Visitor, address: str) -> None:
    page = visitor.open(f"{address}/numbers.html")
    entries, field = page.locator(".entry"), page.get_by_label("Filter by name, kind or text")
    everything = entries.count()
    expect(page.get_by_role("status")).to_have_text(f"{everything} numbers")
    field.fill("nvlink GIVEN")
    expect(page.get_by_role("status")).to_have_text(re.compile(rf"^\d+ of {everything} numbers$"))
    left = page.locator(".entry:visible")
    assert 0 < left.count() < everything
    assert all("nvlink" in text.lower() and "given" in text.lower() for text in left.all_text_contents())
    assert page.locator(".group:visible").count() < page.locator(".group").count()
    page.evaluate("location.hash = '#queue.done'")
    expect(page.locator("[id='queue.done']")).to_be_in_viewport()
    expect(field).to_have_value("")
    field.fill("no such number")
    expect(page.get_by_role("status")).to_have_text(f"0 of {everything} numbers")
    field.press("Enter")
    assert page.url.endswith("numbers.html#queue.done")


@pytest.mark.parametrize("allowed", [True, False], ids=["allowed", "refused"])
def test_a_call_is_copied(visitor: b.Visitor, served: str, allowed: bool) -> None:
    page = visitor.open(f"{served}/numbers.html#sync.one_gpu", permissions=["clipboard-read", "clipboard-write"])
    if not allowed:
        page.evaluate("navigator.clipboard.writeText = () => Promise.reject(new Error('no')), null")
    entry = page.locator(".entry:target")
    if entry.locator("summary").count():
        entry.locator("summary").click()
    call = entry.locator("code.call").inner_text()
    entry.get_by_role("button", name=f"Copy call {call}").click()
    expect(page.get_by_role("status")).to_have_text("Copied")
    assert call == 'q("60 ms", sync.one_gpu)'  # with blanks that a reader can type
    assert page.evaluate("navigator.clipboard.readText()") == call


def test_the_entry_in_the_address_stands_out(visitor: b.Visitor, served: str) -> None:
    page = visitor.open(f"{served}/numbers.html#sync.one_gpu")
    entry = page.locator(".entry:target")
    expect(entry).to_have_css("border-left-width", "4px")
    expect(page.locator(".entry:not(:target)").first).to_have_css("border-left-width", "0px")
    top = entry.evaluate("(entry) => entry.getBoundingClientRect().top")
    assert page.locator(".md-header").evaluate("(header) => header.offsetHeight") <= top < 400


# ---- The menu and the palette ------------------------------------------------------------------


def test_the_menu_of_a_narrow_window_by_key(visitor: b.Visitor, served: str) -> None:
    page = visitor.open(f"{served}/lab.html", width=360)
    menu = page.get_by_role("button", name="Menu", exact=True)
    link = page.get_by_role("link", name="Act 3")
    expect(link).to_have_count(0)  # neither seen nor heard
    for key in ("Enter", "Space"):
        menu.press(key)
        expect(menu).to_have_attribute("aria-expanded", "true")
        expect(link).to_be_in_viewport()
        assert page.evaluate("!!document.activeElement.closest('.md-sidebar--primary')")
        page.keyboard.press("Escape")
        expect(menu).to_be_focused()
        expect(menu).to_have_attribute("aria-expanded", "false")
    menu.press("Enter")
    page.get_by_role("button", name="On this page: The lab").press("Enter")
    expect(link).to_have_count(0)  # it lies under the list of this page
    page.get_by_role("button", name="Table of contents: back to the menu").press("Enter")
    page.get_by_role("link", name="Verification", exact=True).focus()
    page.keyboard.press("Tab")
    expect(menu).to_have_attribute("aria-expanded", "false")


def test_without_a_script_the_menu_shows_where_the_tab_key_is(visitor: b.Visitor, served: str) -> None:
    page = visitor.open(f"{served}/lab.html", width=360, java_script_enabled=False)
    link = page.get_by_role("link", name="Act 3")
    expect(link).not_to_be_in_viewport()
    link.focus()
    expect(link).to_be_in_viewport(ratio=1)
    expect(page.locator(".md-header__option")).to_be_hidden()  # no script, no other palette


def test_the_palette_by_key(act: Page) -> None:
    for key, name, scheme in (("Enter", "Dark colours", "slate"), ("Space", "Light colours", "default")):
        button(act, name).press(key)
        expect(act.locator("body")).to_have_attribute("data-md-color-scheme", scheme)
    expect(button(act, "Dark colours")).to_be_focused()


def test_a_letter_does_nothing_by_itself(act: Page) -> None:
    for letter in "npsf/,.":
        act.keyboard.press(letter)
    assert place(act) == at(1, address="")
    assert act.url.endswith(ACT)
    assert focus(act) == ""
    act.evaluate("window.dispatchEvent(new KeyboardEvent('keydown', { key: 's' }))")  # as Material would hear it
    assert b.soon(act, lambda: "search" in str(act.evaluate("document.activeElement.className")))


def test_a_stepper_says_where_it_is(act: Page) -> None:
    button(act, "Next").click()
    expect(act.get_by_role("navigation", name="Steps")).to_contain_text(f"Step 2 of {STEPS}")
    session = act.context.new_cdp_session(act)
    nodes = session.send("Accessibility.getFullAXTree")["nodes"]
    names = [str(node["name"]["value"]) for node in nodes if not node["ignored"] and node["role"]["value"] in ("heading", "region")]
    assert [name[:25] for name in names if name.startswith("Step")] == ["Step 2: A print is a wall"] * 2
    assert "" not in names


def test_what_a_mark_says_goes_with_escape(act: Page) -> None:
    assert b.live(act) == []
    act.locator(".fig-plot .bars .point path").first.hover(force=True)
    label = act.locator(".fig-plot .hovertext")
    expect(label).to_have_count(1)
    act.keyboard.press("Escape")
    expect(label).to_have_count(0)


# ---- Search ----------------------------------------------------------------------------------


def look_up(page: Page, words: str) -> Locator:
    """The links that a search for some words gives."""
    page.locator(".md-search__input").click()
    page.keyboard.type(words)
    found = page.locator(".md-search-result__link")
    expect(found.first).to_be_visible()
    return found


@pytest.mark.parametrize(
    ("words", "page"),
    [
        ("630", "acts/5-replicas.html"), ("80 ms", "acts/6-allreduce.html"), ("28 ticks", "acts/2-queue.html"), ("2.28×", "acts/5-replicas.html"),
        ("[3, 3]", "acts/5-replicas.html"),
    ],
)  # fmt: skip
def test_search_finds_an_act_by_a_number_it_quotes(visitor: b.Visitor, served: str, words: str, page: str) -> None:
    found = look_up(visitor.open(f"{served}/index.html"), words)
    assert any(page in str(link.get_attribute("href")) for link in found.all()), found.all_text_contents()


def test_search_finds_a_word_and_leads_to_its_step(visitor: b.Visitor, served: str) -> None:
    page = visitor.open(f"{served}/index.html")
    page.wait_for_load_state("networkidle")
    assert visitor.watch(page).asked("search_index") == 0  # it weighs more than an act
    step = look_up(page, "staircase").and_(page.locator("[href*='step']")).first
    step.evaluate("(link) => link.closest('details') && (link.closest('details').open = true)")
    step.click()
    page.wait_for_url("**/acts/6-allreduce.html*")
    assert b.shown_steps(page) == ["step-2"]
    expect(page.locator("#step-2")).to_contain_text("The staircase has become longer")


def test_from_disk_search_says_why_it_cannot_run(visitor: b.Visitor, site: Path) -> None:
    page = visitor.open(f"{site.as_uri()}/index.html")
    field = page.locator(".md-search__input")
    field.click()
    note = page.get_by_text("Search needs the site to be served: run make serve")
    expect(note).to_be_visible()
    expect(field).to_have_accessible_description(re.compile("Search needs the site to be served"))
    field.press("Escape")
    expect(page.locator(".md-search__output")).to_have_css("opacity", "0")
