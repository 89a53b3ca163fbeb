"""What holds on every page, in Chromium: nothing goes wrong, figures are drawn, and all can read them, on a phone, on paper, without a script.

The checks are in browser.py; each is planted with the fault that it is there to find.
"""

from __future__ import annotations

import csv
import json
import re
import unicodedata
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import pytest
from playwright.sync_api import Browser, Locator, Route, expect
from pypdf import PdfReader

from macros.policy import LABS
from verify import browser as b
from verify import perf

pytestmark = pytest.mark.browser

ACTS = ("acts/2-queue.html", "acts/6-allreduce.html")
STOPS = (
    "index.html",
    f"{ACTS[0]}#step-4",
    "module/1-gpu.html",
    "lab.html",
    "numbers.html",
    "reality.html",
    "errata.html",
    "404.html",
)
KINDS = ("index.html", "acts/5-replicas.html", ACTS[1], "numbers.html")  # a page of each kind, where style sheets alone decide


# ---- Every page ------------------------------------------------------------------------


@pytest.mark.parametrize("address", [pytest.param("from disk", marks=pytest.mark.full), "served"], indirect=True)
def test_pages_open_and_figures_come_alive(visitor: b.Visitor, site: Path, address: str) -> None:
    """Each page by its own address, no click before. The visitor sees to it that there is no error, no failed and no outside request."""
    problems = []
    for path in b.pages(site):
        if path == "404.html" and address.startswith("file:"):
            continue  # a host shows it at any address, so its links begin at the root of the host
        page = visitor.open(f"{address}/{path}")
        problems += [f"{path}: {problem}" for check in (b.live, b.redrawn, b.unique_ids) for problem in check(page)]
        figures = page.locator(b.PLOTS).locator("visible=true").count()  # of the first step; those of others wait with it
        assert visitor.watch(page).asked(b.PLOTLY) == min(figures, 1), path
        inline = page.locator("script:not([src])").all_text_contents()
        assert not [script for script in inline if "Plotly" in script or len(script) > 2000], path
        assert figures or path not in ACTS
    assert problems == []


def test_where_nothing_hovers_figures_wait_for_a_tap(visitor: b.Visitor, served: str) -> None:
    for act in ACTS:
        page = visitor.open(f"{served}/{act}", width=390, **b.TOUCH)
        assert b.sweep(page, b.drawn, b.overflows) == []
        page.locator(".step-dot").first.tap()
        page.wait_for_load_state("networkidle")
        assert visitor.watch(page).asked(b.PLOTLY) == 0
        page.get_by_role("button", name="Tap to explore").first.tap()
        expect(page.locator(b.PLOTS).first).to_have_class(re.compile("is-live"))
        expect(page.get_by_role("button", name="Tap a mark for its values")).to_be_visible()
        page.locator(".step-dot").nth(1).tap()
        page.locator(".fig-box:visible").first.tap()
        assert b.live(page) + b.redrawn(page) == []
        assert visitor.watch(page).asked(b.PLOTLY) == 1


def test_figures_follow_the_window(visitor: b.Visitor, served: str) -> None:
    """Also one that was drawn in a step which is hidden while the window changes."""
    page = visitor.open(f"{served}/{ACTS[0]}")
    assert b.live(page) == []
    page.get_by_role("button", name="Next").click()
    assert b.live(page) == []
    for width in (800, 420):
        page.set_viewport_size({"width": width, "height": 800})
        b.expect_fit(page, "#fig-queue-print")
        assert b.redrawn(page) == []
    page.get_by_role("button", name="Back").click()
    b.expect_fit(page, "#fig-queue-statements")
    assert b.redrawn(page) + b.overflows(page) == []


def test_nothing_leaves_a_narrow_window(visitor: b.Visitor, site: Path, served: str) -> None:
    problems = []
    for path in b.pages(site):
        page = visitor.open(f"{served}/{path}", width=360, **b.TOUCH)
        problems += b.sweep(page, b.overflows, b.drawn, b.touch_targets)
    assert problems == []


@pytest.mark.parametrize("width", [390, 1280])
def test_what_scrolls_is_a_stop_of_the_tab_key(visitor: b.Visitor, served: str, width: int) -> None:
    for act in ACTS:
        page = visitor.open(f"{served}/{act}", width=width, **b.TOUCH)
        for where in b.walk(page):
            page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
            assert b.settled(page, b.stops) == [], where


@pytest.mark.full
@pytest.mark.parametrize(
    ("width", "scheme"),
    [(320, "light"), (600, "dark"), (768, "light"), (1920, "dark")],  # axe and the Tab key's way see 360 and 1280
)
def test_every_step_at_every_width(visitor: b.Visitor, site: Path, served: str, width: int, scheme: str) -> None:
    problems = []
    for path in b.pages(site):
        page = visitor.open(f"{served}/{path}", width=width, color_scheme=scheme)
        if width == 320:
            b.spaced(page)
        problems += b.sweep(page, b.live, b.overflows, b.redrawn, b.ink, b.touch_targets, b.pictures)
    assert problems == []


@pytest.mark.quick
def test_wide_set_text_fits_a_narrow_window(visitor: b.Visitor, served: str) -> None:
    """WCAG 1.4.12 in a window of 320 px, which is 1280 px at 400 %."""
    problems = []
    for path in ("index.html", ACTS[0]):
        page = visitor.open(f"{served}/{path}", width=320, **b.TOUCH)
        problems += b.sweep(page, b.spaced, b.overflows, b.drawn)
    assert problems == []


def test_with_colours_of_the_reader(visitor: b.Visitor, served: str) -> None:
    """Forced colours, light and dark, whatever the palette of the page; and more contrast, which is of use only if it is there."""
    page = visitor.open(f"{served}/{ACTS[0]}#step-4", **b.TOUCH)
    page.locator("[data-lab]").scroll_into_view_if_needed()
    expect(page.locator("[data-lab]")).to_have_class(re.compile("is-live"))
    problems = []
    for scheme in ("light", "dark"):
        page.emulate_media(forced_colors="active", color_scheme=scheme)
        problems += b.ink(page) + b.signs(page) + b.drawn(page)
        b.toggle(page)
    assert problems == []
    page.evaluate(f"{{ {STYLE.format('.fig-svg { forced-color-adjust: auto !important }')} }}")
    assert b.ink(page) + b.signs(page) != []  # light letters on white, dark ones on black, or keys without their colours
    page.emulate_media(forced_colors="none", contrast="more")
    soft, ink = page.evaluate(
        "['.step-count', '.step.step:not([hidden]) p'].map((name) => getComputedStyle(document.querySelector(name)).color)"
    )
    assert soft == ink


# ---- Everybody, everywhere ---------------------------------------------------------------


def axe(visitor: b.Visitor, url: str, **window: Any) -> list[str]:
    """What axe finds on a page with all its steps open and a card; of the ledger, which repeats itself, in what the filter leaves."""
    page = visitor.open(url, **window)
    if page.get_by_role("searchbox").count():
        page.get_by_role("searchbox").fill("nvlink")
    b.reveal(page)
    if page.locator("a.q").count():
        page.locator("a.q").first.click()
        expect(page.locator("#number-card")).to_be_visible()
    return [f"{url}: {problem}" for problem in b.accessible(page)]


def test_the_way_to_the_symbols_is_one_word_beside_a_wide_formula(visitor: b.Visitor, served: str) -> None:
    page = visitor.open(f"{served}/module/2-processes.html", width=320)
    b.reveal(page)
    lines = """[...document.querySelectorAll(".symbols-link")].map((link) => {
      const range = document.createRange(); range.selectNodeContents(link); return range.getClientRects().length; })"""
    assert set(page.evaluate(lines)) == {1}
    page.evaluate(f"{{ {STYLE.format('.md-typeset .symbols-link { white-space: normal; overflow-wrap: anywhere }')} }}")
    assert 2 in page.evaluate(lines)


@pytest.mark.quick
@pytest.mark.parametrize(("width", "scheme", "paths"), [(1280, "light", KINDS[:3]), (360, "dark", KINDS[1:])])
def test_axe_finds_nothing(visitor: b.Visitor, served: str, width: int, scheme: str, paths: tuple[str, ...]) -> None:
    """On a page of each kind."""
    problems = []
    for path in paths:
        problems += axe(visitor, f"{served}/{path}", width=width, color_scheme=scheme)
    assert problems == []


@pytest.mark.full
def test_axe_reads_no_colour_on_its_way_to_another(visitor: b.Visitor, served: str) -> None:
    """Back at the top the header turns from the page's title to the site's, and each is faint for a moment, here for minutes."""
    page = visitor.open(f"{served}/{ACTS[0]}", width=360)
    page.locator("a.q").last.scroll_into_view_if_needed()
    expect(page.locator(".md-header__title")).to_have_class(re.compile("--active"))
    expect(page.locator(".md-header__topic").first).to_have_css("opacity", "0")
    page.evaluate(f"{{ {STYLE.format('.md-header__topic { transition: opacity 120s linear -36s }')} }}")
    assert b.accessible(page) == []


@pytest.mark.full
@pytest.mark.parametrize(("width", "scheme"), [(1280, "dark"), (360, "light")])  # the others are looked at on a page of each kind
def test_axe_finds_nothing_anywhere(visitor: b.Visitor, site: Path, served: str, width: int, scheme: str) -> None:
    problems = []
    long = {"numbers.html", "api.html"}  # axe takes minutes for each; they have a check of their own, and a place among the KINDS
    for path in [path for path in b.pages(site) if path not in long]:
        problems += axe(visitor, f"{served}/{path}", width=width, color_scheme=scheme)
    assert problems == []


@pytest.mark.full
def test_axe_finds_nothing_in_the_library(visitor: b.Visitor, served: str) -> None:
    assert b.accessible(visitor.open(f"{served}/api.html", color_scheme="dark")) == []


@pytest.mark.full
def test_axe_finds_nothing_in_the_whole_ledger(visitor: b.Visitor, served: str) -> None:
    assert b.accessible(visitor.open(f"{served}/numbers.html", color_scheme="dark")) == []


@pytest.mark.parametrize(
    ("width", "paths"),
    [
        pytest.param(1280, ("index.html", "404.html"), marks=pytest.mark.quick),
        pytest.param(360, (f"{ACTS[0]}#step-4",), marks=pytest.mark.quick),
        pytest.param(1280, STOPS, marks=pytest.mark.full),
        pytest.param(640, STOPS, marks=pytest.mark.full),  # 1280 px at 200 %
    ],
)
def test_the_tab_key_goes_everywhere_in_sight(visitor: b.Visitor, served: str, width: int, paths: tuple[str, ...]) -> None:
    problems = []
    for path in paths:
        page = visitor.open(f"{served}/{path}", width=width)
        if page.get_by_role("searchbox").count():
            page.get_by_role("searchbox").fill("nvlink")
            page.evaluate("document.activeElement.blur()")
        problems += [f"{path}: {problem}" for problem in b.tour(page)]
    assert problems == []


def test_a_figure_keeps_its_name_when_plotly_takes_over(visitor: b.Visitor, served: str) -> None:
    page = visitor.open(f"{served}/{ACTS[1]}")
    figure = page.locator(".fig-box:visible").first
    name = figure.get_attribute("aria-label") or ""
    assert len(name) > 40
    assert b.live(page) == []
    expect(page.get_by_role("img", name=name, exact=True)).to_have_count(1)
    assert b.pictures(page) == []
    assert "Data as a table" in page.locator(f"{b.PLOTS}:visible").first.aria_snapshot()


def test_less_motion(visitor: b.Visitor, served: str) -> None:
    problems = []
    for path in KINDS:
        page = visitor.open(f"{served}/{path}", reduced_motion="reduce")
        b.live(page)
        b.reveal(page)
        problems += [f"{path}: {problem}" for problem in b.still(page)]
    assert problems == []


def _answer(text: str, route: Route) -> None:
    route.fulfill(body=text, content_type="text/html")


@pytest.mark.parametrize("path", ["index.html", "lab.html"])
def test_scripts_are_asked_for_ahead(visitor: b.Visitor, site: Path, served: str, path: str) -> None:
    """Beyond the policy in the head Chromium does not look for them, and would ask for each one after the last has run."""
    resources = "performance.getEntriesByType('resource').filter((one) => one.name.endsWith('.js')).map((one) => [one.initiatorType, one.name])"
    for link, by in ((None, "link"), ('<link rel="preload" as="script"', "script")):
        page = visitor.open("about:blank")
        if link:  # a page without them is seen
            text = (site / path).read_text(encoding="utf-8").replace(link, "<link")
            page.route(f"{served}/{path}", partial(_answer, text))
        page.goto(f"{served}/{path}")
        found = [tuple(one) for one in page.evaluate(resources)]
        assert len(found) >= 3
        own = [one for one in found if one[1].endswith(LABS)]  # where there are labs, theirs come first
        assert bool(own) == (path == "lab.html")
        assert {kind for kind, _ in own or found} == {by}, found


def test_without_a_script(visitor: b.Visitor, site: Path, served: str) -> None:
    problems = []
    for path in b.pages(site):
        page = visitor.open(f"{served}/{path}", java_script_enabled=False)
        problems += [f"{path}: {problem}" for problem in b.complete(page)]
    assert problems == []
    page = visitor.open(f"{served}/{ACTS[0]}", java_script_enabled=False)
    page.locator("a.q", has_text="11 ticks").first.click()
    expect(page).to_have_url(f"{served}/numbers.html#queue.done")
    expect(page.locator(".entry:target")).to_contain_text("queue.done")


@pytest.mark.parametrize(
    "which", [pytest.param("of each kind", marks=pytest.mark.quick), pytest.param("all", marks=pytest.mark.full)]
)
def test_on_paper(visitor: b.Visitor, site: Path, served: str, which: str) -> None:
    """From a light screen and from a dark one, with a figure that Plotly has drawn."""
    problems = []
    for path in b.pages(site) if which == "all" else KINDS:
        page = visitor.open(f"{served}/{path}")
        b.live(page)
        for scheme in ("default", "slate"):
            expect(page.locator("body")).to_have_attribute("data-md-color-scheme", scheme)
            page.emulate_media(media="print")
            problems += [f"{path}, {scheme}: {problem}" for check in (b.complete, b.opened, b.ink) for problem in check(page)]
            expect(page.locator("body")).to_have_css("background-color", "rgb(255, 255, 255)")
            expect(page.locator("h1")).to_have_css("color", "rgb(28, 32, 36)")
            page.emulate_media(media="screen")
            b.toggle(page)
    assert problems == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_pdf_holds_every_heading_and_answer(visitor: b.Visitor, served: str, tmp_path: Path, scheme: str) -> None:
    for act in ACTS:
        page = visitor.open(f"{served}/{act}", color_scheme=scheme)
        wanted: list[str] = page.evaluate("""[...document.querySelectorAll(".step > h2, details:not(.fig-data) p")]
          .map((node) => node.firstChild.textContent)""")
        assert len(wanted) > 6
        page.pdf(path=tmp_path / "act.pdf")
        printed = squeezed("".join(sheet.extract_text() for sheet in PdfReader(tmp_path / "act.pdf").pages))
        assert [words for words in wanted if squeezed(words) not in printed] == []


def squeezed(text: str) -> str:
    """Letters and digits alone: a PDF breaks lines, sets spaces and joins letters where it likes."""
    return re.sub(r"\W+", "", unicodedata.normalize("NFKC", text))


# ---- Downloads -----------------------------------------------------------------------------


def cells(figure: Locator) -> list[list[str]]:
    """The cells of a figure's table of data, plain."""
    return plain(figure.locator("tr").evaluate_all("rows => rows.map((row) => [...row.cells].map((cell) => cell.textContent))"))


def plain(rows: list[list[str]]) -> list[list[str]]:
    """Cells without what typography adds: no-break spaces, true minus, thousands commas."""
    return [[re.sub("[\u00a0\u202f]", " ", cell).replace("\u2212", "-").replace(",", "") for cell in row] for row in rows]


def test_downloads_hold_what_the_page_shows(visitor: b.Visitor, site: Path, served: str) -> None:
    """CSV = the table on the page; the trace, the table and the total that is drawn end at the same time; no file is left over."""
    seen: set[str] = set()
    for act in (*b.acts(site), "reality.html"):
        page = visitor.open(f"{served}/{act}", **b.TOUCH)
        for figure in page.locator(".fig:has(.fig-links)").all():
            links = {str(link.text_content()): str(link.get_attribute("href")) for link in figure.locator(".fig-links a").all()}
            files = {name: page.request.get(urljoin(page.url, href)).text() for name, href in links.items()}
            seen |= {href.rpartition("/")[2] for href in links.values()}
            shown = cells(figure)
            assert shown == plain(list(csv.reader(files["CSV"].splitlines())))
            if "Trace for Perfetto" in files:
                events = [event for event in json.loads(files["Trace for Perfetto"])["traceEvents"] if event["ph"] == "X"]
                unit = shown[-1][-1].split()[1]
                size = {"ticks": 1, "µs": 1, "ms": 1000}[unit]
                ends = {float(row[-1].split()[0]) for row in shown[1:]}
                (notes,) = plain([figure.locator(".fig-wide .note").all_text_contents()])
                totals = {float(found[1]) for note in notes if (found := re.search(rf"([\d.]+) {unit}$", note))}
                assert max(totals) == max(ends) == max(event["ts"] + event["dur"] for event in events) / size
                assert totals <= ends
    assert seen == {path.name for path in (site / "data").iterdir()}


def test_a_download_is_saved_under_its_name(visitor: b.Visitor, served: str, site: Path) -> None:
    page = visitor.open(f"{served}/{ACTS[0]}")
    page.get_by_text("Data as a table").first.click()
    for name, file in (("CSV", "queue-statements.csv"), ("Trace for Perfetto", "queue-statements.trace.json")):
        with page.expect_download() as saved:
            page.get_by_role("link", name=name).first.click()
        assert saved.value.suggested_filename == file
        assert saved.value.path().read_bytes() == (site / "data" / file).read_bytes()


# ---- Weight --------------------------------------------------------------------------------


def test_every_act_is_light(browser: Browser, site: Path) -> None:
    for act in b.acts(site):
        weights = perf.weights(site, act, browser)
        assert sum(weights.values()) <= 120_000, (act, sorted(weights.items(), key=lambda item: -item[1]))


# ---- Faults, planted -----------------------------------------------------------------------

ADD = "document.querySelector('article').insertAdjacentHTML('beforeend', `{}`)"
STYLE = "document.adoptedStyleSheets = [new CSSStyleSheet()]; document.adoptedStyleSheets[0].replaceSync(`{}`)"
IMAGE = "document.body.append(Object.assign(new Image(), { src: 'http://example.invalid/x.png' }))"
SCRIPT = "document.body.append(Object.assign(document.createElement('script'), { textContent: '1' }))"
WATCHED = [  # (from where, what is done on the page, what the watch says)
    ("served", ADD.format('<p style="color: red">x</p>'), "error: policy: style-src-attr refused inline"),
    ("served", SCRIPT, "error: policy: script-src-elem refused inline"),
    ("served", IMAGE, "error: policy: img-src refused http://example.invalid/x.png"),
    ("from disk", ADD.format('<p style="color: red">x</p>'), "error: policy: style-src-attr refused inline"),
    ("from disk", SCRIPT, "error: policy: script-src-elem refused inline"),
    ("from disk", IMAGE, "error: policy: img-src refused http://example.invalid/x.png"),
    (
        "from disk",
        "setTimeout(() => { location = 'http://example.invalid/x.html' })",
        "outside request: http://example.invalid/x.html",
    ),
    ("served", "fetch('nothing.json')", "nothing.json 404"),
    ("served", "console.warn('careful')", "warning: careful"),
    ("served", "setTimeout(() => { throw new Error('lost') })", "uncaught: lost"),
]
LOST = [  # the same, for the way of the Tab key, which takes its time
    (b.tour, STYLE.format(":focus-visible { outline: none !important }"), 'a "Skip to content" has no ring'),
    (b.tour, STYLE.format('.md-header::after { content: ""; position: fixed; inset: 0 }'), "is hidden behind something"),
    (b.tour, STYLE.format("a.md-header__button { position: fixed; left: -300px }"), 'a "Training at Scale" is outside the window'),
    (b.tour, "document.querySelector('.step-next').tabIndex = 1", 'button "Next →" stands out of the order of the page'),
    (
        b.tour,
        "addEventListener('keydown', (event) => event.target.matches('.md-logo') && event.preventDefault())",
        "holds the Tab key",
    ),
]
PLANTED = [  # (the check, what is done to the page, what the check says)
    (b.overflows, ADD.format('<div class="wide">x</div>') + ";" + STYLE.format(".wide { width: 3000px }"), "scrolls sideways: "),
    (b.overflows, STYLE.format("html, body { overflow-x: clip } .lede { min-width: 3000px }"), "p.lede leaves the window"),
    (b.drawn, "document.querySelectorAll('.fig-svg svg').forEach((svg) => svg.remove())", "fig-queue-statements: 0 drawings"),
    (b.drawn, STYLE.format(".fig-svg svg { width: 300px !important }"), "fig-queue-statements: 300 px wide where there are "),
    (
        b.drawn,
        "document.querySelector('.fig-wide g[clip-path] .bar').setAttribute('width', 0)",
        "fig-queue-statements: a bar of 0 x ",
    ),
    (b.drawn, "document.querySelector('.fig-wide .note').setAttribute('x', 900)", "fig-queue-statements: cuts off "),
    (b.redrawn, "0", "fig-queue-statements: drawn by Plotly 0 times"),
    (b.unique_ids, ADD.format('<p id="step-1"></p>'), "two elements have the id step-1"),
    (b.touch_targets, STYLE.format(".step-button { min-height: 30px }"), "step-button is "),
    (b.drawn, STYLE.format(".fig-box .fig-svg svg text { letter-spacing: 0.12em !important }"), "cuts off "),
    (b.pictures, "document.querySelector('.fig-svg').removeAttribute('aria-hidden')", "said twice: Timeline. Python"),
    (b.pictures, "document.querySelector('.fig-box').removeAttribute('role')", "a picture without words: Timeline"),
    (b.signs, STYLE.format(".step-dot[aria-current]::after { border-width: 2px }"), "the current dot looks like the others"),
    (
        b.signs,
        "document.querySelector('article').insertAdjacentHTML('beforeend', '<p class=lab-legend><i class=key></i><i class=key></i> two</p>')",
        "two keys look alike:  two",
    ),
    (
        b.loud,
        "document.querySelector('[data-part]').setAttribute('role', 'status'); document.querySelector('.steps').classList.remove('stepper')",
        "says every step of a drag: result",
    ),
    (b.stops, "document.querySelector('.notice').tabIndex = 0", "notice does not scroll and is a stop of the Tab key"),
    (b.ink, STYLE.format("body { --fig-text: #999999 !important }"), "has a contrast of 2.85"),
    (b.still, STYLE.format(".step { transition: opacity 1s }"), "section.step moves"),
    (b.complete, "0", "a step is hidden: step-2"),  # as a stepper leaves it
    (b.complete, STYLE.format(".fig-svg { display: none }"), "a figure is not drawn: fig-queue-statements"),
    (b.complete, STYLE.format("math { display: none }"), "a formula is hidden: "),
    (b.complete, ADD.format("<mfrac><mi>a</mi><mi>b</mi></mfrac>"), "a fraction is set in one line: "),
    (b.opened, "0", "closed on paper: "),
    (b.opened, ADD.format('<button class="copy">Copy</button>'), "on paper: copy"),
    (b.cards, "document.querySelector('template.card').content.querySelector('data').textContent = ''", 'the exact value is ""'),
    (b.cards, "document.querySelector('a.q').dataset.q = 'queue.nothing'", "(queue.nothing): no card"),
    (b.cards, STYLE.format(".number-card { position: fixed !important; left: 2000px !important }"), "the card leaves the window"),
    (b.accessible, "document.querySelector('.fig-box').removeAttribute('aria-label')", "role-img-alt: "),
    (b.accessible, STYLE.format(".notice { color: #999 !important }"), "color-contrast: "),
]


@pytest.mark.parametrize(("where", "plant", "says"), WATCHED, ids=[says for *_, says in WATCHED])
def test_a_watch_sees(visitor: b.Visitor, site: Path, served: str, where: str, plant: str, says: str) -> None:
    page = visitor.open(f"{served if where == 'served' else site.as_uri()}/verification.html")
    problems = visitor.watch(page).problems
    page.evaluate(f"{{ {plant} }}")
    assert b.soon(page, lambda: any(says in problem for problem in problems)), problems
    problems.clear()


@pytest.mark.full
@pytest.mark.parametrize(("check", "plant", "says"), LOST, ids=[says for *_, says in LOST])
def test_the_way_of_the_tab_key_sees_its_fault(visitor: b.Visitor, served: str, check: b.Check, plant: str, says: str) -> None:
    test_a_check_sees_its_fault(visitor, served, check, plant, says)


@pytest.mark.parametrize(("check", "plant", "says"), PLANTED, ids=[says for *_, says in PLANTED])
def test_a_check_sees_its_fault(visitor: b.Visitor, served: str, check: b.Check, plant: str, says: str) -> None:
    page = visitor.open(f"{served}/{ACTS[0]}", **b.TOUCH)
    page.evaluate(f"{{ {plant} }}")
    found = check(page)
    assert any(says in problem for problem in found), found
    visitor.watch(page).problems.clear()
