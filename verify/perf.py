"""What a page costs a reader with a slow phone: its weight, and the time until something can be read."""

from __future__ import annotations

import statistics
from contextlib import nullcontext
from pathlib import Path
from typing import Any, TypedDict
from urllib.parse import urlsplit

from playwright.sync_api import Browser, Page

from verify.browser import PLOTLY, chromium
from verify.server import serve

FONTS = (".woff2", ".woff", ".otf", ".ttf")
PHONE: dict[str, Any] = {"viewport": {"width": 360, "height": 780}, "is_mobile": True, "has_touch": True}
LINK = {"offline": False, "latency": 150, "downloadThroughput": 1.6e6 / 8, "uploadThroughput": 1.6e6 / 8}  # ms, B/s
SLOWER = 4  # times, the processor


class Paint(TypedDict):
    """First contentful paint, in seconds, and whether a figure could be seen in that very paint or the one after."""

    fcp_s: float
    svg_visible: bool


def weights(site: Path, page: str, browser: Browser | None = None) -> dict[str, int]:
    """Bytes over the wire of each file that a phone loads for a page of a built site: bodies, gzip, without headers.

    Counted are the page, style sheets, scripts and icon. Left out are Plotly, which waits for a tap, and fonts, which the page could do
    without. The search, its worker and its index, waits until a reader turns to it; a lab's scripts wait until the lab comes near.
    """
    with nullcontext(browser) if browser else chromium() as running, serve(site) as address:
        context = running.new_context(**PHONE)
        tab = context.new_page()
        answers: dict[str, int] = {}
        # The length that the server states: what the worker's own script took is not told to the page that started it.
        context.on("response", lambda answer: answers.update({answer.url: int(answer.headers.get("content-length", 0))}))
        tab.goto(f"{address}/{page}", wait_until="networkidle")
        context.close()
    paths = {urlsplit(url).path.lstrip("/"): size for url, size in answers.items()}
    return {path: size for path, size in paths.items() if path != PLOTLY and not path.endswith(FONTS)}


def page_weight(site: Path, page: str) -> int:
    """The sum of `weights`."""
    return sum(weights(site, page).values())


def first_paint(site: Path, page: str, tries: int = 3) -> Paint:
    """First contentful paint at 1.6 Mbit/s, 150 ms and a processor four times slower, 360 px wide; the median of some tries.

    A figure is visible when its SVG is laid out at the moment the paint is reported, without a script of ours having run.
    """
    with chromium() as browser, serve(site) as address:
        paints = []
        for _ in range(tries):
            context = browser.new_context(**PHONE)
            paints.append(_paint(context.new_page(), f"{address}/{page}"))
            context.close()
    return {
        "fcp_s": statistics.median(paint["fcp_s"] for paint in paints),
        "svg_visible": all(paint["svg_visible"] for paint in paints),
    }


class Drive(TypedDict):
    """What a lab costs on a slow phone: seconds until it has answered the first input, and ms from an input to its paint, at the 95th percentile."""

    first_s: float
    p95_ms: float


def drive(site: Path, lab: str, control: str, query: str = "", inputs: int = 100) -> Drive:
    """Move a slider of a lab back and forth on a slow phone: `inputs` times, each after the last was painted.

    The first input comes the moment the lab is awake, the others once the page has loaded. An input is painted when the frame after it
    has been drawn.
    """
    with chromium() as browser, serve(site) as address:
        context = browser.new_context(**PHONE)
        tab = context.new_page()
        _slow(tab)
        tab.add_init_script(f"""(() => {{
          const painted = () => new Promise((done) => requestAnimationFrame(() => {{
            const channel = new MessageChannel();
            channel.port1.onmessage = done;
            channel.port2.postMessage(0); // after the frame
          }}));
          const begin = async () => {{
            const root = document.getElementById("lab-{lab}");
            if (!root?.classList.contains("is-live")) return requestAnimationFrame(begin);
            root.scrollIntoView();
            const slide = root.querySelector("[data-slide={control}]");
            const times = [];
            for (let i = 0; i < {inputs}; i += 1) {{
              const start = performance.now();
              slide.value = i % 2 ? slide.max : slide.min;
              slide.dispatchEvent(new Event("input", {{ bubbles: true }}));
              await painted();
              times.push(performance.now() - start);
              if (i) continue;
              window.firstAnswer = performance.now() / 1000;
              while (document.readyState !== "complete") await new Promise((done) => setTimeout(done, 50));
              await new Promise((done) => setTimeout(done, 500)); // what else the page begins with is no part of a later input
            }}
            window.answers = times.sort((a, b) => a - b);
          }};
          begin();
        }})()""")
        tab.goto(f"{address}/lab.html{query}")
        times: list[float] = tab.wait_for_function("() => window.answers", timeout=60_000).json_value()
        first: float = tab.evaluate("window.firstAnswer")
        context.close()
    return {"first_s": first, "p95_ms": times[int(0.95 * len(times))]}


def _slow(tab: Page) -> None:
    devtools = tab.context.new_cdp_session(tab)
    devtools.send("Network.enable")
    devtools.send("Network.emulateNetworkConditions", LINK)
    devtools.send("Emulation.setCPUThrottlingRate", {"rate": SLOWER})


def _paint(tab: Page, url: str) -> Paint:
    _slow(tab)
    tab.add_init_script("""new PerformanceObserver((list) => {
      for (const { name, startTime } of list.getEntries()) {
        if (name !== "first-contentful-paint") continue;
        const drawn = [...document.querySelectorAll(".fig-svg svg")].some((svg) => svg.getBoundingClientRect().height > 50);
        window.firstPaint = { fcp_s: startTime / 1000, svg_visible: drawn };
      }
    }).observe({ type: "paint", buffered: true })""")
    tab.goto(url)
    paint: Paint = tab.wait_for_function("window.firstPaint").json_value()
    return paint
