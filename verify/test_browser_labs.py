"""The labs in Chromium: driven by keyboard, pointer and address, every number on the screen held against perfmodel."""

from __future__ import annotations

import itertools
import json
import re
from pathlib import Path
from typing import Any

import pytest
from bs4 import BeautifulSoup
from playwright.sync_api import Locator, Page, expect

from macros.labs import LABS
from verify import browser as b
from verify import labs
from verify.browser import soon

pytestmark = pytest.mark.browser

PAGE = "lab.html"
IN_ACTS = {"pipeline": "acts/2-queue.html#step-4", "ladder": "acts/4-iron.html#step-5", "ring": "acts/6-allreduce.html#step-4"}
IN_ACTS["cluster"] = "acts/6-allreduce.html#step-5"
PARTS = ("result", "figure", "formula", "notes")


def lab(page: Page, name: str) -> Locator:
    """A lab that is awake."""
    found = page.locator(f"#lab-{name}")
    found.scroll_into_view_if_needed()
    expect(found).to_have_class(re.compile(r"\bis-live\b"))
    return found


def values(page: Page, name: str) -> list[float]:
    """What the controls of a lab say, once all that was done is drawn."""
    page.evaluate("new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))")
    found: list[float] = page.evaluate(
        """(name) => labs[name].controls.map((control) =>
        Number(document.querySelector(`#lab-${name}-${control.name}`).value))""",
        name,
    )
    return found


def on_screen(page: Page, name: str) -> list[str]:
    """The words of each part of a lab, and what its drawings say."""
    found: list[str] = page.evaluate(
        """(name) => { const root = document.getElementById(`lab-${name}`);
        return [...["result", "figure", "formula", "notes"].map((part) => root.querySelector(`[data-part=${part}]`).textContent),
                ...[...root.querySelectorAll("svg[role]")].map((svg) => svg.getAttribute("aria-label"))]; }""",
        name,
    )
    return found


def by_model(page: Page, name: str) -> list[str]:
    """The same by Python, for what the controls say, as wide as the lab is."""
    made = LABS[name]()
    width = page.evaluate("(name) => document.querySelector(`#lab-${name} .lab-figure`).clientWidth", name)
    parts = [BeautifulSoup(part, "html.parser") for part in made.parts(values(page, name), min(max(width, 320), 760))]
    return [part.get_text() for part in parts] + [str(svg["aria-label"]) for part in parts for svg in part.select("svg[role]")]


def drawn_anew(page: Page, name: str) -> list[str]:
    """The parts whose elements and attributes are not what the view makes: a part is changed only where it differs."""
    wrong: list[str] = page.evaluate(
        """(name) => { const { view, names, numbers, controls } = labs[name], root = document.getElementById(`lab-${name}`);
        const values = controls.map((control) => Number(document.getElementById(`lab-${name}-${control.name}`).value));
        const wide = Math.min(Math.max(root.querySelector(".lab-figure").clientWidth, 320), 760);
        const made = kernels[view](values, names, numbers, wide), fresh = document.createElement("template");
        return ["result", "figure", "formula", "notes"].filter((part, i) => {
          fresh.innerHTML = made[i];
          const has = root.querySelector(`[data-part=${part}]`).childNodes, wants = fresh.content.childNodes;
          return has.length !== wants.length || [...wants].some((want, k) => !want.isEqualNode(has[k]));
        }); }""",
        name,
    )
    return wrong


def agrees(page: Page, name: str) -> bool:
    """Whether every word and number on the screen is the model's, once it is drawn, and every element the view's."""
    right = by_model(page, name)
    assert on_screen(page, name) == right
    assert drawn_anew(page, name) == []
    return True


def field(page: Page, name: str, control: str) -> Locator:
    return page.locator(f"#lab-{name}-{control}")


def slide(page: Page, name: str, control: str) -> Locator:
    return page.locator(f"#lab-{name} [data-slide={control}]")


def said(page: Page, name: str) -> str:
    return page.locator(f"#lab-{name} .lab-said").inner_text()


@pytest.fixture
def at_lab(visitor: b.Visitor, served: str) -> Page:
    return visitor.open(f"{served}/{PAGE}")


# ---- The same numbers --------------------------------------------------------------------


def test_chromium_computes_what_python_does(at_lab: Page) -> None:
    """A sample of the grid of `make labs`, from each function the states spread over it."""
    lab(at_lab, "pipeline")
    total = 0
    for name, function in labs.functions().items():
        states = [list(state) for state in labs.GRIDS[name]()]
        states = states[:: max(len(states) // 60, 1)]
        theirs = json.loads(
            at_lab.evaluate(
                "([name, text]) => JSON.stringify(JSON.parse(text).map((s) => kernels[name](...s)))", [name, json.dumps(states)]
            )
        )
        assert [state for state, other in zip(states, theirs, strict=True) if function(*state) != other] == [], name
        total += len(states)
    assert total > 2500


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.full] if name != "pipeline" else []) for name in LABS])
def test_each_control_by_keyboard(at_lab: Page, name: str) -> None:
    lab(at_lab, name)
    assert agrees(at_lab, name)
    for control in LABS[name]().controls:
        if control.options:
            choice = field(at_lab, name, control.name)
            choice.focus()
            at_lab.keyboard.press("ArrowDown")
            assert float(choice.input_value()) == control.options[1][1]
        else:
            slider = slide(at_lab, name, control.name)
            slider.focus()
            before = field(at_lab, name, control.name).input_value()
            for key in ("Home", "ArrowRight", "End", "ArrowLeft"):
                at_lab.keyboard.press(key)
                assert agrees(at_lab, name)
                assert slider.get_attribute("aria-valuetext")
            assert field(at_lab, name, control.name).input_value() != before
            assert at_lab.evaluate("document.activeElement.dataset.slide") == control.name
        assert agrees(at_lab, name)


@pytest.mark.full
@pytest.mark.parametrize("name", ["pipeline", "ring", "cluster"])
def test_each_slider_by_pointer(at_lab: Page, name: str) -> None:
    lab(at_lab, name)
    for control in [c for c in LABS[name]().controls if not c.options]:
        slider = slide(at_lab, name, control.name)
        slider.scroll_into_view_if_needed()
        box = slider.bounding_box()
        assert box is not None
        for share in (0.9, 0.3):
            at_lab.mouse.click(box["x"] + share * box["width"], box["y"] + box["height"] / 2)
            assert agrees(at_lab, name)
    # And dragged fast, from end to end, in as many moves as a hand makes.
    box = slider.bounding_box()
    assert box is not None
    at_lab.mouse.move(box["x"] + 4, box["y"] + box["height"] / 2)
    at_lab.mouse.down()
    for step in range(60):
        at_lab.mouse.move(box["x"] + 4 + step / 60 * (box["width"] - 8), box["y"] + box["height"] / 2)
    at_lab.mouse.up()
    assert agrees(at_lab, name)


@pytest.mark.full
def test_by_touch(visitor: b.Visitor, served: str) -> None:
    page = visitor.open(f"{served}/{PAGE}", width=360, height=780, is_mobile=True, **b.TOUCH)
    ring = lab(page, "ring")
    step = ring.get_by_role("button", name="Step", exact=True)
    for _ in range(3):
        step.tap()
    assert values(page, "ring")[1] == 3
    assert agrees(page, "ring")
    ladder = lab(page, "ladder")
    ladder.get_by_role("button", name="HDD random access").tap()
    assert agrees(page, "ladder")
    for button in page.locator("[data-walk], .lab-buttons button").all():
        box = button.bounding_box()
        assert box is not None
        assert box["height"] >= 36


# ---- Values from the book -------------------------------------------------------------------


def test_the_values_a_reader_finds(at_lab: Page) -> None:
    lab(at_lab, "pipeline")
    result, figure, formula, notes, *_ = (part.replace("\u00a0", " ") for part in on_screen(at_lab, "pipeline"))
    assert "28 ticks, 2.00×" in result
    assert "a barrier after every task: 56 ticks" in figure
    assert "= 56 ticks" in formula
    assert "= 28 ticks" in formula
    assert "4 pending tasks" in notes
    lab(at_lab, "ring")
    formula = on_screen(at_lab, "ring")[2].replace("\u00a0", " ")
    assert re.findall(r"= (6|40 MB|15 ms|60 ms)(?=[a-z]|$)", formula) == ["6", "40 MB", "15 ms", "60 ms"]


def test_the_page_stays_put_while_a_slider_is_dragged(at_lab: Page) -> None:
    lab(at_lab, "pipeline")
    field(at_lab, "pipeline", "compute").focus()
    heights = []
    for key in ("Home", "End") * 3:
        slide(at_lab, "pipeline", "compute").press(key)
        assert agrees(at_lab, "pipeline")
        heights.append(at_lab.evaluate("document.documentElement.scrollHeight"))
    assert len(set(heights[1:])) == 1, heights  # the longest notes have been seen by then


def test_what_is_out_of_sight_waits_and_is_right_when_seen(at_lab: Page) -> None:
    """While a hand drags, the browser lays out the words under a tall figure only where they can be seen; their room is kept."""
    cluster = lab(at_lab, "cluster")
    more = cluster.locator(".lab-more")
    seen = "(more) => [more.firstChild.checkVisibility({ contentVisibilityAuto: true }), more.offsetHeight]"
    two_frames = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
    at_lab.evaluate("scrollTo(0, 0)")
    at_lab.evaluate(two_frames)
    rendered, room = more.evaluate(seen)
    assert rendered  # before a hand has moved all is laid out, so that what scrolls can be told from what fits
    slide(at_lab, "cluster", "latency").evaluate(
        "(slide) => { slide.value = slide.max; slide.dispatchEvent(new Event('input', { bubbles: true })); }"
    )
    assert agrees(at_lab, "cluster")
    assert more.evaluate(seen) == [False, room]
    more.scroll_into_view_if_needed()
    at_lab.evaluate(two_frames)
    assert more.evaluate(seen)[0]
    assert agrees(at_lab, "cluster")


def test_walking_the_ring_ends_with_the_sum_in_every_chunk(at_lab: Page) -> None:
    ring = lab(at_lab, "ring")
    back, step = (ring.get_by_role("button", name=name, exact=True) for name in ("Step back", "Step"))
    expect(back).to_have_attribute("aria-disabled", "true")
    for _ in range(6):
        step.click()
    expect(step).to_have_attribute("aria-disabled", "true")
    expect(ring.locator("text.bar-label")).to_have_text(["10"] * 16)
    step.dispatch_event("click")  # nothing happens at the end
    assert values(at_lab, "ring")[1] == 6
    back.click()
    assert values(at_lab, "ring")[1] == 5
    assert agrees(at_lab, "ring")


def test_every_row_of_the_ladder_can_be_the_second(at_lab: Page) -> None:
    ladder = lab(at_lab, "ladder")
    rows = ladder.locator("tbody button")
    assert rows.count() == 24
    for i in (23, 22, 12, 1, 0):
        rows.nth(i).click()
        assert values(at_lab, "ladder") == [i]
        assert agrees(at_lab, "ladder")
        expect(rows.nth(i)).to_be_focused()  # the table was drawn again under the hand
        expect(rows.nth(i)).to_have_attribute("aria-pressed", "true")
        assert ladder.locator("[aria-pressed=true]").count() == 1


@pytest.mark.full
def test_every_preset_of_the_cluster(at_lab: Page) -> None:
    cluster = lab(at_lab, "cluster")
    choice = cluster.locator("[data-preset]")
    for name, settings in LABS["cluster"]().settings():
        choice.select_option(label=name)
        assert agrees(at_lab, "cluster")
        found = dict(zip((c.name for c in LABS["cluster"]().controls), values(at_lab, "cluster"), strict=True))
        assert {key: found[key] for key in settings} == settings
    slide(at_lab, "cluster", "latency").focus()
    at_lab.keyboard.press("ArrowRight")
    expect(choice).to_have_value("your own")
    assert agrees(at_lab, "cluster")


# ---- Typing, and nonsense ----------------------------------------------------------------------


def typed(page: Page, name: str, control: str, text: str) -> str:
    """What the lab says to a text typed into a field."""
    where = field(page, name, control)
    where.click()
    where.press("Control+a")
    page.keyboard.press("Delete")
    page.keyboard.type(text)
    where.press("Tab")
    assert agrees(page, name)
    return said(page, name)


TYPED = [  # what is typed, what is used, what is said
    ("64", "64", ""),
    ("65", "64", "tasks n: 65 is not between 1 and 64; 64 tasks is used."),
    ("0", "1", "tasks n: 0 is not between 1 and 64; 1 task is used."),
    ("-3", "1", "tasks n: -3 is not between 1 and 64; 1 task is used."),
    ("7.4", "7", "tasks n: 7.4 is not a multiple of 1; 7 tasks is used."),
    ("1e9", "64", "tasks n: 1e9 is not between 1 and 64; 64 tasks is used."),
    ("", "8", "tasks n: must be a number from 1 to 64, got “”. It stays at 8 tasks."),
    ("e", "8", "tasks n: must be a number from 1 to 64, got “no number”. It stays at 8 tasks."),
]


def test_what_is_typed(at_lab: Page) -> None:
    pipeline = lab(at_lab, "pipeline")
    for text, value, says in TYPED:
        pipeline.get_by_role("button", name="Reset").click()
        assert values(at_lab, "pipeline")[0] == 8
        assert typed(at_lab, "pipeline", "tasks", text).replace("\u00a0", " ") == says
        assert field(at_lab, "pipeline", "tasks").input_value() == value


def test_an_address_sets_the_labs_and_nonsense_is_said(visitor: b.Visitor, served: str) -> None:
    query = "pipeline.tasks=20&pipeline.compute=banana&pipeline.every=99&ring.step=14&ring.gpus=3&ring.speed=1&cluster.precision=3&ladder.reference=22&h=ring"
    page = visitor.open(f"{served}/{PAGE}?{query}")
    for name in LABS:
        lab(page, name)
        assert agrees(page, name)
    assert values(page, "pipeline") == [20, 2, 3, 2, 64]
    words = said(page, "pipeline").replace("\u00a0", " ")
    assert "compute one, t₂: must be a number from 0 to 10, got “banana”. It stays at 3 ticks." in words
    assert "a barrier every: 99 is not between 0 and 64; 64 tasks is used." in words
    assert values(page, "ring")[:2] == [3, 4]  # a ring of three is walked in four steps
    assert "ring.speed: this lab has no such control." in said(page, "ring")
    assert "steps made: 14 is not between 0 and 4" in said(page, "ring").replace("\u00a0", " ")
    assert "precision of a gradient: must be 4, 2, 1, got “3”." in said(page, "cluster")
    assert said(page, "ladder") == ""


@pytest.mark.full
def test_no_address_can_break_a_lab(at_lab: Page, served: str) -> None:
    for text in ("", " ", "NaN", "Infinity", "-Infinity", "1e999", "0x", "<b>8</b>", "８", "%E0%A4%A"):
        at_lab.goto(f"{served}/{PAGE}?pipeline.tasks={text}")
        lab(at_lab, "pipeline")
        assert agrees(at_lab, "pipeline")
        assert values(at_lab, "pipeline")[0] == 8
        assert "tasks n: must be a number from 1 to 64, got “" in said(at_lab, "pipeline")
        assert at_lab.locator("#lab-pipeline .lab-said b").count() == 0


def test_the_edges_of_the_pipeline(visitor: b.Visitor, served: str) -> None:
    page = visitor.open(f"{served}/{PAGE}?pipeline.enqueue=0&pipeline.compute=0&pipeline.fetch=0&pipeline.tasks=1")
    lab(page, "pipeline")
    assert agrees(page, "pipeline")
    assert "Nothing takes any time here." in on_screen(page, "pipeline")[0]


# ---- A state that can be linked ------------------------------------------------------------------


def test_a_state_stands_in_the_address_and_comes_back(at_lab: Page, visitor: b.Visitor) -> None:
    at_lab.context.grant_permissions(["clipboard-read", "clipboard-write"])
    ring = lab(at_lab, "ring")
    typed(at_lab, "ring", "gpus", "6")
    ring.get_by_role("button", name="Step", exact=True).click()
    assert soon(at_lab, lambda: at_lab.url.endswith("?ring.gpus=6&ring.step=1"))
    ring.get_by_role("button", name="Copy link").click()
    expect(ring.locator(".lab-said")).to_have_text("The link is copied.")
    link = at_lab.evaluate("navigator.clipboard.readText()")
    assert link.endswith(f"{PAGE}?ring.gpus=6&ring.step=1#lab-ring")
    other = visitor.open(link)
    lab(other, "ring")
    assert values(other, "ring") == values(at_lab, "ring")
    assert agrees(other, "ring")
    ring.get_by_role("button", name="Reset").click()
    assert soon(at_lab, lambda: at_lab.url.endswith(PAGE))
    assert values(at_lab, "ring") == LABS["ring"]().values()
    assert agrees(at_lab, "ring")


@pytest.mark.full
def test_where_nothing_may_be_copied_the_link_is_shown(visitor: b.Visitor, served: str) -> None:
    page = visitor.open(f"{served}/{PAGE}?pipeline.tasks=5")
    page.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject(new Error('no')); }")
    lab(page, "pipeline").get_by_role("button", name="Copy link").click()
    link = page.get_by_role("textbox", name="Link to this state")
    expect(link).to_be_focused()
    assert link.input_value().endswith(f"{PAGE}?pipeline.tasks=5#lab-pipeline")


def test_a_drag_is_heard_once_the_hand_rests(at_lab: Page) -> None:
    """And a control says its value with its unit: on the slider in words, on the field as what describes it."""
    pipeline = lab(at_lab, "pipeline")
    heard = pipeline.locator(".lab-heard")
    assert heard.text_content() == ""
    times = at_lab.evaluate("""async () => {
      const lab = document.getElementById("lab-pipeline"), slider = lab.querySelector("[data-slide=compute]");
      let times = 0;
      new MutationObserver(() => { times += 1; }).observe(lab.querySelector(".lab-heard"), { childList: true });
      for (let value = 1; value <= 10; value++) {
        slider.value = value;
        slider.dispatchEvent(new Event("input", { bubbles: true }));
        await new Promise(requestAnimationFrame);
      }
      const during = times;
      await new Promise((done) => setTimeout(done, 1000));
      return [during, times];
    }""")
    assert times[1] == 1, times
    result = pipeline.locator("[data-part=result]").text_content()
    assert heard.text_content() == result
    assert b.loud(at_lab) + b.pictures(at_lab) == []
    assert (slide(at_lab, "pipeline", "compute").get_attribute("aria-valuetext") or "").replace("\u00a0", " ") == "10 ticks"
    expect(field(at_lab, "pipeline", "compute")).to_have_accessible_description("ticks")


def test_a_prediction_hides_the_answer_until_asked(at_lab: Page) -> None:
    pipeline = lab(at_lab, "pipeline")
    result = pipeline.locator("[data-part=result]")
    pipeline.get_by_role("button", name="Predict first").click()
    for part in PARTS:
        expect(pipeline.locator(f"[data-part={part}]")).not_to_be_visible()
    assert pipeline.get_by_role("img").count() == 0  # hidden from who hears it, too
    slide(at_lab, "pipeline", "compute").focus()
    at_lab.keyboard.press("Home")
    expect(result).not_to_be_visible()
    pipeline.get_by_role("button", name="Show the answer").click()
    expect(result).to_be_visible()
    assert agrees(at_lab, "pipeline")
    at_lab.keyboard.press("Tab")
    slide(at_lab, "pipeline", "compute").focus()
    at_lab.keyboard.press("End")
    expect(result).to_be_visible()


# ---- In the acts, from disk, without a script ------------------------------------------------------


@pytest.mark.parametrize("name", IN_ACTS)
def test_a_lab_in_its_act(visitor: b.Visitor, address: str, name: str) -> None:
    page = visitor.open(f"{address}/{IN_ACTS[name]}")
    lab(page, name)
    assert agrees(page, name)
    if name != "ladder":
        step = page.locator(".step-count").inner_text()
        slide(page, name, LABS[name]().controls[0].name).focus()
        page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowLeft")
        assert page.locator(".step-count").inner_text() == step  # the arrow moved the slider, not the act
        assert agrees(page, name)
        page.keyboard.press("ArrowRight")
        assert soon(page, lambda: f"?{name}." in page.url)
        assert page.url.endswith(f"#{IN_ACTS[name].partition('#')[2]}")


def test_the_scripts_of_a_lab_come_when_it_comes_near(visitor: b.Visitor, served: str) -> None:
    page = visitor.open(f"{served}/acts/2-queue.html", height=500)
    page.wait_for_load_state("networkidle")
    watch = visitor.watch(page)
    assert watch.asked("kernels.js") == watch.asked("labs.js") == 0
    page.locator(".step-dot").nth(3).click()
    lab(page, "pipeline")
    assert watch.asked("kernels.js") == watch.asked("labs.js") == 1


def test_without_a_script_a_lab_shows_its_first_state(visitor: b.Visitor, address: str) -> None:
    page = visitor.open(f"{address}/{PAGE}", java_script_enabled=False)
    for name, make in LABS.items():
        root = page.locator(f"#lab-{name}")
        made = make()
        expected = BeautifulSoup(made.parts(made.values(), 560)[0], "html.parser").get_text()
        expect(root.locator("[data-part=result]")).to_have_text(expected)
        assert root.locator("input[type=range]:visible, .lab-buttons:visible").count() == 0
        expect(root.locator(".lab-off")).to_be_visible()


@pytest.mark.parametrize(
    ("width", "scheme"),
    [
        (360, "dark"),
        *(
            pytest.param(*pair, marks=pytest.mark.full)
            for pair in ((360, "light"), (768, "light"), (768, "dark"), (1280, "light"), (1280, "dark"))
        ),
    ],
)
def test_the_lab_page_fits_and_is_accessible(visitor: b.Visitor, served: str, width: int, scheme: Any) -> None:
    page = visitor.open(
        f"{served}/{PAGE}?ring.gpus=8&ring.step=9&pipeline.tasks=64", width=width, color_scheme=scheme, reduced_motion="reduce"
    )
    for name in LABS:
        lab(page, name)
        assert agrees(page, name)
    assert b.overflows(page) == []
    assert b.accessible(page) == []
    assert page.evaluate("document.getAnimations().filter((one) => one.effect.target?.closest('.lab')).length") == 0


@pytest.mark.full
def test_a_narrower_window_is_drawn_for(at_lab: Page) -> None:
    lab(at_lab, "pipeline")
    for width in (1280, 700, 340, 900):
        at_lab.set_viewport_size({"width": width, "height": 800})
        assert agrees(at_lab, "pipeline")
        drawn = at_lab.locator("#lab-pipeline [data-part=figure] svg").first.bounding_box()
        assert drawn is not None
        assert drawn["width"] <= width


@pytest.mark.parametrize("media", ["screen", "print"])
def test_nothing_of_a_lab_is_cut_off_on_a_phone_or_on_paper(visitor: b.Visitor, served: str, media: Any) -> None:
    page = visitor.open(f"{served}/{PAGE}?cluster.latency=10000&ring.gpus=8&ring.step=9&pipeline.tasks=64", width=360)
    page.emulate_media(media=media)
    for name in LABS:
        assert agrees(page, name)
    wide = "() => [...document.querySelectorAll('.lab [data-part]')].filter((one) => one.scrollWidth > one.clientWidth + 1).map((one) => one.className)"
    assert page.evaluate(wide) == []
    page.evaluate("for (const one of document.querySelectorAll('.lab table.data th')) one.style.whiteSpace = 'nowrap'")
    assert page.evaluate(wide) != []  # a table that is too wide is seen


def test_a_lab_on_paper(at_lab: Page, tmp_path: Path) -> None:
    lab(at_lab, "ring").get_by_role("button", name="Predict first").click()
    at_lab.emulate_media(media="print")
    expect(at_lab.locator("#lab-ring [data-part=result]")).to_be_visible()
    assert at_lab.locator("#lab-ring input[type=range]:visible").count() == 0


# ---- What would go unseen -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "fault",
    [
        "kernels.pipeline_view = (...a) => { const made = view(...a); made[0] = made[0].replace('7', '8'); return made; }",
        "kernels.pipeline_view = (values, ...a) => view([values[0], values[2], values[1], ...values.slice(3)], ...a)",
    ],
)
def test_a_wrong_number_on_the_screen_would_be_seen(at_lab: Page, fault: str) -> None:
    lab(at_lab, "pipeline")
    assert agrees(at_lab, "pipeline")
    at_lab.evaluate(f"(() => {{ const view = kernels.pipeline_view; {fault}; }})()")
    slide(at_lab, "pipeline", "tasks").focus()
    at_lab.keyboard.press("Home")
    right = by_model(at_lab, "pipeline")
    assert on_screen(at_lab, "pipeline") != right


def test_all_labs_are_looked_at() -> None:
    assert list(itertools.chain(IN_ACTS)) == list(LABS)
