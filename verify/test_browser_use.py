"""What a reader does, in Chromium: steps through an act, opens the card of a number, looks one up in the ledger, searches."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

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


# ---- The label of a mark -----------------------------------------------------------------------


def settle(page: Page) -> None:
    """Wait for longer than Plotly puts off its answer to a pointer: 50 ms."""
    page.wait_for_timeout(120)


def glide(page: Page, start: tuple[float, float], end: tuple[float, float]) -> None:
    """Move the mouse in a straight line, slowly enough for Plotly to answer on the way."""
    for part in range(1, 21):
        page.mouse.move(*(a + (b - a) * part / 20 for a, b in zip(start, end, strict=True)))
        page.wait_for_timeout(20)


def box_of(one: Locator) -> tuple[float, float, float, float]:
    """Left, top, right, bottom in the window, px."""
    box = one.bounding_box()
    assert box
    return box["x"], box["y"], box["x"] + box["width"], box["y"] + box["height"]


def middle(one: Locator) -> tuple[float, float]:
    left, top, right, bottom = box_of(one)
    return (left + right) / 2, (top + bottom) / 2


def marks(figure: Locator) -> Locator:
    return figure.locator(".fig-plot :is(.bars .point path, .points path)")


def label_of(figure: Locator) -> Locator:
    return figure.locator(".fig-plot .hovertext")


def lost_labels(figure: Locator) -> list[str]:
    """What is wrong with the labels of some marks of a figure (WCAG 1.4.13): onto the mark, onto its label, about it, away, out of the window.

    Where a label reaches beside the axes, the pointer leaves it there, since Plotly sees no pointer there.
    """
    page, label, problems = figure.page, label_of(figure), []
    count = marks(figure).count()
    for number in sorted({0, count // 2, count - 1}):
        mark = marks(figure).nth(number)
        mark.scroll_into_view_if_needed()
        _, top, right, _ = box_of(mark)
        corner = right - 3, top + 3
        page.mouse.move(*corner)
        expect(label).to_have_count(1)
        words = label.text_content()

        def stays(label: Locator = label, words: str | None = words) -> bool:
            settle(page)
            return label.all_text_contents() == [words]

        glide(page, corner, middle(label))
        if not stays():
            problems.append(f"mark {number}: lost on the way")
            continue
        x0, y0, x1, y1 = box_of(label)
        axes = box_of(figure.locator(".nsewdrag"))[0]
        for x, y in ((x0 + 2, y0 + 2), (x1 - 2, y1 - 2), (x0 + 2, (y0 + y1) / 2)):
            page.mouse.move(x, y)
            if not stays():
                problems.append(f"mark {number}: lost under the pointer")
                break
        page.mouse.move(x0 + 2, y0 - 30)
        settle(page)
        if words in label.all_text_contents():
            problems.append(f"mark {number}: stuck{' beside the axes' if x0 + 2 < axes else ''}")
        page.mouse.move(*corner)
        expect(label).to_have_count(1)
        page.mouse.move(*middle(label))
        page.mouse.move(x0 + 2, (y0 + y1) / 2)
        settle(page)
        page.mouse.move(-30, (y0 + y1) / 2)
        settle(page)
        problems += [f"mark {number}: stuck outside the window"] * label.count()
    return problems


def with_script(visitor: b.Visitor, address: str, script: str, **window: Any) -> Page:
    """A page with another figures.js."""
    page = visitor.open("about:blank", **window)
    page.route("**/figures.js", lambda route: route.fulfill(body=script, content_type="text/javascript"))
    page.goto(address)
    return page


BARS, DOTS, TALL = "acts/2-queue.html#fig-queue-barriers", "acts/4-iron.html#fig-core-peaks", "module/3-scale.html#fig-memory-card"


@pytest.mark.parametrize("window", [
    pytest.param({"width": 1280, "color_scheme": "dark"}, id="wide"), pytest.param({"width": 360, "reduced_motion": "reduce"}, marks=pytest.mark.full, id="narrow"),
])  # fmt: skip
def test_a_label_stays_while_the_pointer_is_on_it(visitor: b.Visitor, served: str, window: dict[str, Any]) -> None:
    for address in (BARS, DOTS if window["width"] < 600 else TALL):
        page = visitor.open(f"{served}/{address}", **window)
        assert b.live(page) == []
        assert lost_labels(page.locator(f"#{address.partition('#')[2]}")) == [], address


@pytest.mark.full
@pytest.mark.parametrize(
    ("there", "instead", "address", "problem"),
    [
        ("return false;", "return;", BARS, "lost on the way"),  # as Plotly does it
        ("hovers ? 0 : 1", "1", TALL, "lost on the way"),  # no way, the label alone
        ("return since <= until", "return true", BARS, "stuck"),
        ("if (event.target.closest", "return; if (event.target.closest", DOTS, "stuck beside the axes"),
        ('addEventListener("mouseleave"', 'addEventListener("mouseenter"', BARS, "stuck outside the window"),
    ],
)
def test_a_label_that_is_lost_or_stuck_is_seen(
    visitor: b.Visitor, site: Path, served: str, there: str, instead: str, address: str, problem: str
) -> None:
    script = (site / "assets/figures.js").read_text(encoding="utf-8")
    assert script.count(there) == 1
    page = with_script(visitor, f"{served}/{address}", script.replace(there, instead), width=360 if "axes" in problem else 1280)
    assert b.live(page) == []
    found = lost_labels(page.locator(f"#{address.partition('#')[2]}"))
    assert any(problem in one for one in found), found


def dismissal_faults(page: Page, figure: Locator) -> list[str]:
    """What is wrong with how Escape hides a label, with the card of a number open as well: it closes the label alone, until the mark is left."""
    label, card, mark = label_of(figure), page.locator("#number-card"), marks(figure).first
    page.locator("a.q:visible").first.press("Enter")
    expect(card).to_be_visible()
    place_before, focused = place(page), page.evaluate_handle("document.activeElement")
    problems = []

    def say(holds: bool, problem: str) -> None:
        if not holds:
            problems.append(problem)

    def arrive() -> tuple[float, float]:
        page.mouse.move(1, 1)
        page.mouse.move(*middle(mark))
        settle(page)
        say(label.is_visible(), "does not come back")
        return middle(mark)

    def dismiss() -> None:
        page.keyboard.press("Escape")
        settle(page)
        say(not label.is_visible(), "stays")
        say(card.is_visible(), "closes the card")
        say(page.evaluate("(node) => node === document.activeElement", focused), "takes the focus")

    arrive()
    dismiss()  # on the mark
    arrive()
    page.mouse.move(*middle(label))
    settle(page)
    dismiss()  # on the label
    x, y = arrive()
    dismiss()
    page.mouse.move(x + 1, y)
    settle(page)
    say(not label.is_visible(), "comes back with a tremble")
    page.keyboard.press("Escape")  # nothing to hide any more
    say(not card.is_visible(), "keeps the card from Escape")
    arrive()
    say(place(page) == place_before, "steps")
    return problems


def test_escape_hides_a_label_and_nothing_else(act: Page) -> None:
    assert b.live(act) == []
    assert dismissal_faults(act, act.locator(f"{b.PLOTS}:visible").first) == []


@pytest.mark.full
@pytest.mark.parametrize(
    ("there", "instead", "problem"),
    [
        ('classList.add("is-quiet")', 'classList.add("is-loud")', "stays"),
        ("event.preventDefault(); // it", "// it", "closes the card"),
        ('() => plot.classList.remove("is-quiet")', "() => {}", "does not come back"),
        ('plot.on("plotly_hover"', 'plot.addEventListener("mousemove"', "comes back with a tremble"),
        ("|| !now.length", "", "keeps the card from Escape"),
    ],
)
def test_an_escape_that_does_too_little_or_too_much_is_seen(
    visitor: b.Visitor, site: Path, served: str, there: str, instead: str, problem: str
) -> None:
    script = (site / "assets/figures.js").read_text(encoding="utf-8")
    assert script.count(there) == 1
    page = with_script(visitor, f"{served}/{ACT}", script.replace(there, instead))
    assert b.live(page) == []
    assert problem in dismissal_faults(page, page.locator(f"{b.PLOTS}:visible").first)


WORDY = "acts/6-allreduce.html#fig-sync-ring-close"


def cut_labels(figure: Locator) -> list[str]:
    """The labels of some marks that are wider than their figure."""
    label, cut = label_of(figure), []
    for number in range(0, marks(figure).count(), 8):
        mark = marks(figure).nth(number)
        mark.scroll_into_view_if_needed()
        figure.page.mouse.move(1, 1)
        figure.page.mouse.move(*middle(mark))
        expect(label).to_be_visible()
        (left, _, right, _), (least, _, most, _) = box_of(label), box_of(figure.locator(".fig-box"))
        if left < least or right > most:
            cut.append(str(label.text_content()))
    return cut


def test_a_narrow_figure_cuts_no_label(visitor: b.Visitor, site: Path, served: str) -> None:
    script, there = (site / "assets/figures.js").read_text(encoding="utf-8"), 'svg.matches(".fig-narrow")'
    assert script.count(there) == 1
    for instead in (there, "false"):
        page = with_script(visitor, f"{served}/{WORDY}", script.replace(there, instead), width=360, height=900)
        assert b.live(page) == []
        found = cut_labels(page.locator(f"#{WORDY.partition('#')[2]}"))
        assert (found == []) == (instead == there), found


def test_a_label_goes_with_its_step(act: Page) -> None:
    assert b.live(act) == []
    figure = act.locator(f"{b.PLOTS}:visible").first
    label = label_of(figure)
    act.mouse.move(*middle(marks(figure).first))
    expect(label).to_be_visible()
    act.keyboard.press("ArrowRight")
    assert b.shown_steps(act) == ["step-2"]
    act.mouse.move(1, 1)
    act.keyboard.press("ArrowLeft")
    expect(figure).to_be_visible()
    expect(label).to_have_count(0)


def test_a_tap_shows_a_label_and_a_tap_elsewhere_hides_it(visitor: b.Visitor, served: str) -> None:
    page = visitor.open(f"{served}/{BARS}", width=360, height=640, **b.TOUCH)
    figure = page.locator(f"#{BARS.partition('#')[2]}")
    figure.locator(".fig-box").tap()
    assert b.live(page) == []
    label, words = label_of(figure), set()
    for number in (0, 30, 60):
        page.touchscreen.tap(*middle(marks(figure).nth(number)))
        expect(label).to_be_visible()
        words.add(label.text_content())
        page.touchscreen.tap(*middle(label))
        settle(page)
        assert label.text_content() in words
        page.locator("#step-3 .fig-title").tap()
        expect(label).to_have_count(0)
    assert len(words) == 3


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
