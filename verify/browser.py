"""What the browser checks share: Chromium, pages under watch, and checks that return the problems they find, a sentence each."""

from __future__ import annotations

import os
import re
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Request, Response, expect, sync_playwright

from verify.test_colours import contrast

MISSING = "needs Chromium; apt-get install chromium, or set CHROMIUM to its path"
ARGUMENTS = [
    "--no-sandbox", "--disable-background-networking", "--disable-component-update", "--disable-gpu",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",  # a page that asks another host is caught, and never answered
    # Two pages of Chromium's own that cost as much as ours, for every window. The last such list counts, so Playwright's comes again.
    "--disable-features=WebUIOmniboxPopup,WebUIOmniboxAimPopup,AimEnabled,AvoidUnnecessaryBeforeUnloadCheckSync,DestroyProfileOnBrowserClose,"
    "HttpsUpgrades,HttpsFirstBalancedModeAutoEnable,LensOverlay,MediaRouter,NetworkTimeServiceQuerying,OptimizationHints,PaintHolding,PreconnectToSearch",
]  # fmt: skip
PATIENCE = 10  # s to wait for what must come, on a busy machine
TOUCH = {"has_touch": True}  # no hover: figures wait for a tap
PLOTS = ".fig:has(.fig-plot)"  # the figures that Plotly draws as well; drawings stay SVG
PLOTLY = "assets/vendor/plotly-basic.min.js"
Check = Callable[[Page], list[str]]


def executable() -> str | None:
    """The Chromium to use: CHROMIUM from the environment, or the one on the path."""
    return shutil.which(os.environ.get("CHROMIUM") or "chromium")


@contextmanager
def chromium() -> Iterator[Browser]:
    """A running Chromium. Raises FileNotFoundError where there is none."""
    path = executable()
    if not path:
        raise FileNotFoundError(MISSING)
    expect.set_options(timeout=PATIENCE * 1000)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield browser
        browser.close()


class Watch:
    """What the pages of a context ask for, and what goes wrong in them: messages, failures, outside requests, breaches of the policy."""

    def __init__(self, context: BrowserContext, scripts: bool = True) -> None:
        self.scripts = scripts
        self.requests: list[str] = []
        self.problems: list[str] = []
        context.on("request", self._request)
        context.on("requestfailed", self._failed)
        context.on("response", self._response)
        context.on("console", self._console)
        context.on("weberror", lambda error: self.problems.append(f"uncaught: {error.error}"))
        context.add_init_script(
            "addEventListener('securitypolicyviolation', (event) =>"
            " console.error(`policy: ${event.violatedDirective} refused ${event.blockedURI}`))"
        )

    def _request(self, request: Request) -> None:
        self.requests.append(request.url)
        parts = urlsplit(request.url)
        if parts.scheme not in ("file", "data", "blob") and parts.hostname != "127.0.0.1":
            self.problems.append(f"outside request: {request.url}")

    def _failed(self, request: Request) -> None:
        # A page asks for its scripts ahead, also where none may run.
        unwanted = request.failure == "csp" and request.resource_type == "script" and not self.scripts
        if request.failure != "net::ERR_ABORTED" and not unwanted:  # the reader went on before it had come, or saved it as a file
            self.problems.append(f"failed request: {request.url} {request.failure}")

    def _response(self, response: Response) -> None:
        if response.status >= 400:
            self.problems.append(f"failed request: {response.url} {response.status}")

    def _console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.problems.append(f"{message.type}: {message.text}")

    def asked(self, part: str) -> int:
        """How many requests had `part` in their address."""
        return sum(part in url for url in self.requests)


class Visitor:
    """Opens pages, each in a fresh context under watch."""

    def __init__(self, browser: Browser) -> None:
        self.browser = browser
        self.visits: list[tuple[BrowserContext, Watch]] = []

    def open(self, url: str, *, width: int = 1280, height: int = 800, **options: Any) -> Page:
        """A page at `url` in a window of that size; options as for a Playwright context."""
        context = self.browser.new_context(viewport={"width": width, "height": height}, **options)
        context.set_default_timeout(PATIENCE * 1000)
        context.set_default_navigation_timeout(6 * PATIENCE * 1000)  # the ledger is long
        self.visits.append((context, Watch(context, options.get("java_script_enabled", True))))
        page = context.new_page()
        page.goto(url)
        return page

    def watch(self, page: Page) -> Watch:
        """What has been seen of a page's context."""
        return next(watch for context, watch in self.visits if context == page.context)

    def close(self) -> list[str]:
        """Close all contexts; returns the problems seen in any of them."""
        problems = [problem for _, watch in self.visits for problem in watch.problems]
        for context, _ in self.visits:
            context.close()
        return problems


def pages(site: Path) -> list[str]:
    """All pages of a built site, by their paths in it."""
    return sorted(path.relative_to(site).as_posix() for path in site.rglob("*.html"))


def acts(site: Path) -> list[str]:
    """The acts among them, and the pages of the module, which are made like acts."""
    return [path for path in pages(site) if path.startswith(("acts/", "module/"))]


def shown_steps(page: Page) -> list[str]:
    """The ids of the steps that a reader sees."""
    ids: list[str] = page.evaluate("""[...document.querySelectorAll(".step > :first-child")]
      .filter((heading) => heading.checkVisibility()).map((heading) => heading.parentElement.id)""")
    return ids


def walk(page: Page) -> Iterator[str]:
    """Each step of a page in turn, or the page itself where it has none; yields its name."""
    name = urlsplit(page.url).path.rpartition("/")[2]
    dots = page.locator(".step-dot").all()
    for number, dot in enumerate(dots, start=1):
        dot.click()
        yield f"{name} step {number}"
    if not dots:
        yield name


def sweep(page: Page, *checks: Check) -> list[str]:
    """The problems that the checks find in any step of a page."""
    return [f"{where}: {problem}" for where in walk(page) for check in checks for problem in check(page)]


def live(page: Page) -> list[str]:
    """Bring each figure of the step into view and wait until Plotly has drawn it: no check, but what one may need before it."""
    for figure in page.locator(f"{PLOTS}:visible").all():
        figure.scroll_into_view_if_needed()
        expect(figure).to_have_class(re.compile(r"\bis-live\b"))
    return []


def reveal(page: Page) -> None:
    """Show all steps at once, what follows the last, and what is folded, for checks that read the page as a whole."""
    page.evaluate("""{ for (const part of document.querySelectorAll("[hidden=until-found]"))
        for (const name of ["hidden", "aria-hidden"]) part.removeAttribute(name);
      document.querySelectorAll("details").forEach((part) => { part.open = true; }); }""")


def soon(page: Page, holds: Callable[[], bool]) -> bool:
    """Whether something comes to hold within some seconds, while the page goes on."""
    end = time.monotonic() + PATIENCE
    while not holds():
        if time.monotonic() > end:
            return False
        page.wait_for_timeout(20)  # lets Chromium's messages in
    return True


def settled(page: Page, check: Check) -> list[str]:
    """The problems that a check finds, once the page has had some time to get over them."""
    soon(page, lambda: not check(page))
    return check(page)


def toggle(page: Page) -> None:
    """Turn from light colours to dark ones, or back."""
    page.locator("label[for^=__palette]:visible").click()


def expect_fit(page: Page, figure: str) -> None:
    """Wait until Plotly's drawing is as wide as the SVG under it."""
    page.wait_for_function(
        """(name) => { const figure = document.querySelector(name);
            const widths = [...figure.querySelectorAll(".fig-svg svg, .fig-plot .main-svg")].map((one) => one.getBoundingClientRect().width);
            return new Set(widths.filter((width) => width).map(Math.round)).size === 1; }""",
        arg=figure,
    )


def _script(source: str) -> Check:
    """A check in JavaScript: an expression for the list of problems."""

    def check(page: Page) -> list[str]:
        found: list[str] = page.evaluate(source)
        return found

    return check


overflows = _script("""(() => {
  const name = (node) => node.id ? `#${node.id}` : `${node.localName}.${node.getAttribute("class") || ""}`;
  const scrolls = (node) => node && (/auto|scroll/.test(getComputedStyle(node).overflowX) || scrolls(node.parentElement));
  const wide = [...document.querySelectorAll("article *, .step-bar *")].filter((node) =>
    node.checkVisibility() && !node.closest("svg") && node.getBoundingClientRect().right > innerWidth + 1 && !scrolls(node.parentElement));
  const across = document.documentElement.scrollWidth;
  return [...(across > innerWidth ? [`scrolls sideways: ${across} px in a window of ${innerWidth}`] : []),
          ...wide.slice(0, 3).map((node) => `${name(node)} leaves the window`)];
})()""")
"""Nothing scrolls the page sideways or is cut off at its edge; a wide thing scrolls in its own box."""

_FIGURES = """((live) => [...document.querySelectorAll(".fig:has(.fig-svg)")].filter((figure) => figure.checkVisibility()).flatMap((figure) => {
  const wrong = [];
  const say = (holds, what) => holds || wrong.push(`${figure.id}: ${what}`);
  const shown = [...figure.querySelectorAll(".fig-svg svg")].filter((svg) => svg.getBoundingClientRect().width > 0);
  if (shown.length !== 1) return [`${figure.id}: ${shown.length} drawings`];
  const [svg] = shown, frame = svg.getBoundingClientRect();
  const slack = 1.5 * frame.width / svg.viewBox.baseVal.width; // glyphs reach a little out of their place
  const inside = (one) => one.left >= frame.left - slack && one.right <= frame.right + slack && one.top >= frame.top - slack && one.bottom <= frame.bottom + slack;
  for (const text of svg.querySelectorAll("text")) say(inside(text.getBoundingClientRect()), `cuts off "${text.textContent}"`);
  if (!figure.matches(PLOTS)) return wrong;
  const room = figure.querySelector(".fig-box").getBoundingClientRect().width;
  const wanted = Math.min(room, parseFloat(getComputedStyle(svg).maxWidth) || room);
  say(Math.abs(frame.width - wanted) <= 1, `${frame.width} px wide where there are ${wanted}`);
  const marks = [...svg.querySelectorAll(":not(.keep) > :is(.bar, .line, .dot)")];
  say(marks.length > 0, "no marks");
  for (const bar of marks.filter((mark) => mark.matches(".bar"))) {
    const { width, height } = bar.getBoundingClientRect();
    say(width >= 1 && height >= 4 && inside(bar.getBoundingClientRect()), `a bar of ${width} x ${height} px, or outside`);
  }
  const plots = figure.querySelectorAll(".fig-plot .plot-container");
  say(plots.length === (live ? 1 : 0), `drawn by Plotly ${plots.length} times`);
  if (live && plots.length) {
    const over = figure.querySelector(".fig-plot .main-svg").getBoundingClientRect();
    say(["left", "top", "width", "height"].every((side) => Math.abs(over[side] - frame[side]) <= 1), "Plotly drew it beside the SVG");
    const colour = ({ fill, fillOpacity }) => fill.startsWith("url") ? "hatched" : `${fill} ${Number(fillOpacity).toFixed(2)}`;
    const colours = (bars) => [...bars].map((bar) => colour(getComputedStyle(bar))).sort().join();
    const [below, above] = [marks.filter((mark) => mark.matches(".bar")), figure.querySelectorAll(".fig-plot .bars .point path")];
    say(above.length === below.length, `${above.length} bars of Plotly's`);
    say(colours(above) === colours(below), `Plotly's colours are others: ${colours(above)} for ${colours(below)}`);
  }
  return wrong;
}))""".replace("PLOTS", f'"{PLOTS}"')
drawn = _script(f"{_FIGURES}(false)")
"""Each figure in sight is an SVG as wide as its room, with all its bars and labels inside, and not yet Plotly's."""
redrawn = _script(f"{_FIGURES}(true)")
"""The same, and Plotly has drawn it once, exactly over the SVG, with the same bars in the same colours."""

unique_ids = _script("""(() => {
  const ids = [...document.querySelectorAll("[id]")].map((node) => node.id);
  return [...new Set(ids.filter((id, i) => ids.indexOf(id) !== i))].map((id) => `two elements have the id ${id}`);
})()""")

touch_targets = _script("""(() => {
  const controls = document.querySelectorAll(
    ".step-button, .step-dot, .card-close, .card-more a, .copy, .ledger-filter input, details.question > summary");
  return [...controls].filter((node) => node.checkVisibility() && node.getBoundingClientRect().height < 44)
    .map((node) => `${node.className || node.localName} is ${node.getBoundingClientRect().height} px high, under 44`);
})()""")
"""Our controls are as high as a finger needs."""

stops = _script("""[...document.querySelectorAll("article :is(.scroll, div.formula, math[display=block], [tabindex='0'])")]
  .filter((box) => box.checkVisibility()).flatMap((box) => {
    const { overflowX, overflowY } = getComputedStyle(box);
    const more = (overflowX === "auto" && box.scrollWidth > box.clientWidth) || (overflowY === "auto" && box.scrollHeight > box.clientHeight);
    const name = box.getAttribute("class") || box.textContent.trim();
    if (more && box.localName === "div" && !box.getAttribute("aria-label")) return [`${name} is a stop of the Tab key without a name`];
    return more === (box.tabIndex === 0) ? [] : [`${name} ${more ? "scrolls and is no" : "does not scroll and is a"} stop of the Tab key`];
  })""")
"""A box that scrolls can be reached with the Tab key, and one that does not is no stop on the way."""

still = _script("""(() => {
  const ours = document.querySelectorAll("body, body *");
  const moving = [...ours].filter((node) => ["", "::before", "::after"].some((part) => {
    const { transitionDuration, animationDuration } = getComputedStyle(node, part);
    return /[1-9]/.test(transitionDuration) || /[1-9]/.test(animationDuration);
  }));
  const smooth = getComputedStyle(document.documentElement).scrollBehavior === "smooth";
  return [...moving.map((node) => `${node.localName}.${node.getAttribute("class") || ""} moves`), ...(smooth ? ["the page glides"] : [])];
})()""")
"""Nothing moves by itself: what a reader asked for who wants less motion."""

complete = _script("""(() => {
  const seen = (node) => node.checkVisibility({ contentVisibilityAuto: true, visibilityProperty: true, opacityProperty: true });
  const box = (node) => node.getBoundingClientRect();
  const drawing = (figure) => [...figure.querySelectorAll(".fig-svg svg")].some((svg) =>
    seen(svg) && box(svg).height > 50 && [...svg.querySelectorAll("g")].every(seen));
  const flat = (fraction) => box(fraction.children[0]).bottom > box(fraction.children[1]).top + 2;
  const say = (selector, bad, what) => [...document.querySelectorAll(selector)].filter(bad).map((node) =>
    `${what}: ${node.id || node.textContent.trim().slice(0, 40)}`);
  return [
    ...say(".step", (step) => !seen(step) || box(step).height < 100, "a step is hidden"),
    ...say(".step > h2, .step > h3", (heading) => !seen(heading), "a heading is hidden"),
    ...say(".fig:has(.fig-svg)", (figure) => !drawing(figure), "a figure is not drawn"),
    ...say("article math:not(details math, template math)", (math) => !seen(math) || !box(math).height, "a formula is hidden"),
    ...say("article mfrac:not(details mfrac)", flat, "a fraction is set in one line"),
    ...say("article > details, .after-steps > :not(.fig)", (part) => !seen(part), "what follows the steps is hidden"),
    ...say(".step-bar", seen, "a stepper's bar"),
  ];
})()""")
"""Every step, figure and formula can be read at once: without a script, and on paper."""

opened = _script("""[...document.querySelectorAll("article details:not(.fig-data) > :not(summary)")]
  .filter((node) => !node.checkVisibility({ contentVisibilityAuto: true }))
  .map((node) => `closed on paper: ${node.textContent.trim().slice(0, 40)}`)
  .concat([...document.querySelectorAll(".fig-data table, .fig-plot, .fig-hint, .number-card, .copy, .ledger-filter")]
    .filter((node) => node.checkVisibility()).map((node) => `on paper: ${node.className || node.localName}`))""")
"""On paper answers and notes are open, and what is only of use on a screen is gone."""

cards = _script("""(() => {
const stay = (event) => event.preventDefault(); // a link without a card would lead away
addEventListener("click", stay);
const problems = [...document.querySelectorAll("a.q")].filter((link) => link.checkVisibility()).flatMap((link) => {
  const wrong = [];
  const say = (holds, what) => holds || wrong.push(`${link.textContent} (${link.dataset.q}): ${what}`);
  link.scrollIntoView({ block: "nearest" });
  link.click();
  const card = document.querySelector("#number-card:popover-open");
  if (!card) return [`${link.textContent} (${link.dataset.q}): no card`];
  const part = (selector) => card.querySelector(selector)?.textContent.trim() || "";
  const { left, top, right, bottom } = card.getBoundingClientRect();
  const [width, height] = [document.documentElement.clientWidth, innerHeight];
  say(left >= 0 && top >= 0 && right <= width && bottom <= height, `the card leaves the window: ${[left, top, right, bottom]}`);
  say(card.scrollWidth <= card.clientWidth, "the card scrolls sideways");
  say(part(".card-name code") === link.dataset.q, `the card is of ${part(".card-name code")}`);
  say(part(".badge"), "no kind");
  say(/^[−\\d(]/.test(part("data")), `the exact value is "${part("data")}"`);
  say(part(".card-source"), "no source");
  say(card.querySelector(".card-more a")?.href === link.href, "leads to another entry");
  card.hidePopover();
  return wrong;
});
removeEventListener("click", stay);
return problems;
})()""")
"""Every number in sight that is a link opens its own card, inside the window, with name, kind, exact value, source and the way to the ledger."""


_FOCUS = """(() => {
  const node = document.activeElement;
  if (!node || node === document.body) return null;
  const { outlineStyle, outlineWidth } = getComputedStyle(node);
  const box = node.getBoundingClientRect();
  const [left, top, right, bottom] = [Math.max(box.left, 0), Math.max(box.top, 0), Math.min(box.right, innerWidth), Math.min(box.bottom, innerHeight)];
  const sides = [0.1, 0.5, 0.9];
  const seen = sides.flatMap((x) => sides.map((y) => document.elementFromPoint(left + x * (right - left), top + y * (bottom - top))))
    .filter((hit) => hit && (node.contains(hit) || (hit.contains(node) && !hit.matches(".md-header, .step-bar"))));
  const wrong = [];
  if (right - left < 1 || bottom - top < 1) wrong.push("is outside the window");
  else if (seen.length < 5) wrong.push("is hidden behind something");
  if (outlineStyle === "none" || parseFloat(outlineWidth) < 2) wrong.push("has no ring");
  if (node.tabIndex > 0) wrong.push("stands out of the order of the page");
  if (node === globalThis.lastFocus) wrong.push("holds the Tab key");
  globalThis.lastFocus = node;
  const name = (node.getAttribute("aria-label") || node.textContent).trim() || node.id || node.className;
  return wrong.map((what) => `${node.localName} "${name.slice(0, 40)}" ${what}`);
})()"""


def tour(page: Page) -> list[str]:
    """Walk a page with the Tab key alone, folds open: each stop is in sight, uncovered and ringed, in the order of the page, and there is an end.

    Gives up after three problems.
    """
    page.evaluate("document.querySelectorAll('details').forEach((part) => { part.open = true; })")
    problems: list[str] = []
    for _ in range(500):
        page.keyboard.press("Tab")
        found = page.evaluate(_FOCUS)
        if found is None:
            return problems
        if any("holds" not in problem for problem in found):  # not yet in its place, it may be: a panel moves aside
            page.wait_for_timeout(400)
            page.evaluate("globalThis.lastFocus = null")
            found = page.evaluate(_FOCUS)
        problems += found
        if len(problems) >= 3:
            return problems
    return [*problems, "there is no end of stops"]


def spaced(page: Page) -> list[str]:
    """Set text as wide as WCAG 1.4.12 lets a reader ask for: no check, but what one may need before it."""
    page.evaluate("""document.adoptedStyleSheets = [new CSSStyleSheet()]; document.adoptedStyleSheets[0].replaceSync(`
      * { line-height: 1.5 !important; letter-spacing: 0.12em !important; word-spacing: 0.16em !important }
      p { margin-bottom: 2em !important }`)""")
    return []


pictures = _script("""[...document.querySelectorAll(".fig-box, .lab-figure svg:not([aria-hidden=true]), .drawing svg")].filter((one) => one.checkVisibility()).flatMap((one) => {
  const said = [...one.querySelectorAll("*")].filter((node) => !node.children.length && node.textContent.trim() && !node.closest("[aria-hidden=true], defs, style"));
  const name = one.getAttribute("aria-label") || "";
  return [...(one.getAttribute("role") === "img" && name.length > 30 ? [] : [`a picture without words: ${name}`]),
          ...said.slice(0, 1).map((node) => `said twice: ${name.slice(0, 20)}, ${node.textContent}`)];
})""")
"""A drawing is one image with its words; nothing inside it is read out as well."""

loud = _script("""[...document.querySelectorAll("[data-part]")].filter((part) => part.closest("[role=status], [aria-live]"))
  .map((part) => `says every step of a drag: ${part.dataset.part}`)""")
"""A lab speaks once the hand rests, not with each frame of a drag."""


signs = _script("""(() => {
  const look = (node) => { const { backgroundColor, backgroundImage, borderTopColor, borderTopStyle } = getComputedStyle(node);
    return [backgroundColor, backgroundImage, borderTopColor, borderTopStyle].join(); };
  const shown = (selector) => [...document.querySelectorAll(selector)].filter((node) => node.checkVisibility());
  const alike = shown(".lab-legend").flatMap((legend) => {
    const looks = [...legend.querySelectorAll(".key")].map(look);
    return looks.length === new Set(looks).size ? [] : [`two keys look alike: ${legend.textContent}`];
  });
  const dots = shown(".step-dot").map((dot) => [dot.matches("[aria-current]"), getComputedStyle(dot, "::after")])
    .map(([current, { borderTopWidth, width }]) => [current, 2 * parseFloat(borderTopWidth) >= parseFloat(width)]);
  return [...alike, ...(dots.every(([current, filled]) => current === filled) ? [] : ["the current dot looks like the others"])];
})()""")
"""What colours tell can be told, also where the reader's own replace a page's: keys of labs, the dot of the step."""


def formulas(page: Page) -> dict[str, str]:
    """The formula in each card of a page, and in each entry of the ledger, by its entry's id; empty where a number has none."""
    found: dict[str, str] = page.evaluate("""Object.fromEntries([
      ...[...document.querySelectorAll("template.card")].map((card) => [card.dataset.q.replaceAll(" ", ""), card.content]),
      ...[...document.querySelectorAll(".entry")].map((entry) => [entry.id, entry]),
    ].map(([id, box]) => [id, [...box.querySelectorAll(".card-formula math, .card-formula p")].map((part) => part.textContent).join(" ")]))""")
    return found


def ink(page: Page) -> list[str]:
    """Text in figures, as SVG and as Plotly draws it, that stands out less than 4.5 to 1 from what is behind it.

    Labels in bars are left to test_colours.py, which knows the bars.
    """
    texts: list[tuple[str, str, str]] = page.evaluate("""(() => {
      const ground = (node) => {
        const colour = getComputedStyle(node).backgroundColor;
        return /^rgba\\(.*, 0\\)$/.test(colour) && node.parentElement ? ground(node.parentElement) : colour;
      };
      return [...document.querySelectorAll(".fig-svg text:not(.bar-label), .fig-plot .xtick text, .fig-plot .ytick text, .fig-plot .annotation text")]
        .filter((text) => text.checkVisibility({ visibilityProperty: true }))
        .map((text) => [text.textContent, getComputedStyle(text).fill, ground(text)]);
    })()""")
    if not texts and page.locator(f"{PLOTS}:visible").count():
        return ["no text in any figure"]
    ratios = [(words, contrast(_hex(text), _hex(ground))) for words, text, ground in texts]
    return [f'"{words}" has a contrast of {ratio:.2f}' for words, ratio in ratios if ratio < 4.5]


def _hex(colour: str) -> str:
    """#rrggbb of an opaque CSS colour as browsers compute it.

    >>> _hex("rgb(255, 0, 16)")
    '#ff0010'
    """
    found = re.fullmatch(r"rgb\((\d+), (\d+), (\d+)\)", colour)
    if not found:
        raise ValueError(f"a colour must be opaque, got {colour}")
    return "#" + "".join(f"{int(part):02x}" for part in found.groups())


def paints(page: Page) -> list[str]:
    """The colours of every part of every figure in sight, in order: equal lists, equal looks."""
    found: list[str] = page.evaluate("""[...document.querySelectorAll(".fig-svg svg *, .fig-plot .main-svg *")]
      .filter((node) => node.checkVisibility({ visibilityProperty: true }))
      .map((node) => { const { fill, stroke, textShadow } = getComputedStyle(node); return `${node.localName} ${fill} ${stroke} ${textShadow}`; })""")
    return found


# What axe finds that is no fault of the site: the rule, what tells the element, and why it stays.
EXEMPT = (
    ("landmark-unique", 'class="md-code__nav"', "Material puts the copy button of a code block in a nav, which takes no name"),
    ("empty-table-header", "<math", "axe does not read MathML, browsers and screen readers do"),
)


def accessible(page: Page) -> list[str]:
    """What axe finds wrong: WCAG 2.2 A and AA, and best practice."""
    # The size of targets is in no rule that axe runs unasked. What a figure hides from it has its own check of contrast, in ink(), and would
    # take axe half a minute a page. Without "preload" it doesn't fetch style sheets, which no policy of ours would let it do from a page on disk.
    # Of what passes it names every element, unless it is told that nobody reads it.
    options = {"preload": False, "resultTypes": ["violations"], "rules": {"target-size": {"enabled": True}}}
    page.emulate_media(reduced_motion="reduce")  # else it may read a colour halfway to another
    page.evaluate("scrollTo(0, 0)")  # a target that the header hides is as small as what is left of it
    rules = Axe().run(page, {"exclude": [".fig-box > [aria-hidden]"]}, options).response["violations"]
    found = [(rule["id"], node) for rule in rules for node in rule["nodes"]]
    return [
        f"{rule}: {', '.join(map(str, node['target']))}"
        for rule, node in found
        if not any(rule == exempt and mark in node["html"] for exempt, mark, _ in EXEMPT)
    ]
