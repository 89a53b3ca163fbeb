"""Faults that others have reported, in Chromium: the rows of `test_public_cases.CASES` that need a browser, each a test with the row's number."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from macros.labs import LABS
from verify import browser as b
from verify.server import serve
from verify.test_browser_labs import IN_ACTS, agrees, lab, slide

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def probe(probed: Path) -> Iterator[str]:
    """The address of the page with more figures, served with the policy that every page bears."""
    with serve(probed / "site") as served:
        yield f"{served}/probe.html"


@pytest.mark.full  # the first figures of each page are looked at in every run
def test_case_1_an_act_opened_by_its_address_draws_every_figure(visitor: b.Visitor, site: Path, served: str) -> None:
    """mkdocs/mkdocs#3722. The visitor sees to it that no page writes an error."""
    problems = []
    for path in b.acts(site):
        problems += b.sweep(visitor.open(f"{served}/{path}"), b.live, b.redrawn)
    assert problems == []


def test_case_2_there_and_back_again_each_figure_is_drawn_once(visitor: b.Visitor, address: str) -> None:
    """FZJ-IEK3-VSA/tsam#388."""
    act = "acts/2-queue.html"
    page = visitor.open(f"{address}/index.html")
    page.locator(f".cards a[href='{act}']").click()
    page.wait_for_url(f"**/{act}")
    assert b.live(page) + b.redrawn(page) == []
    page.go_back()
    expect(page).to_have_url(re.compile(r"/index\.html$"))
    page.go_forward()
    assert b.live(page) + b.redrawn(page) == []
    assert visitor.watch(page).asked(b.PLOTLY) == 2


def test_case_3_a_figure_in_the_second_tab_is_as_wide_as_its_room(visitor: b.Visitor, probe: str) -> None:
    """plotly/plotly.js#2769."""
    page = visitor.open(probe)
    expect(page.locator("#fig-queue-print")).not_to_be_visible()
    page.get_by_text("Second").click()
    assert b.live(page) + b.redrawn(page) == []
    page.get_by_text("First").click()
    page.set_viewport_size({"width": 700, "height": 800})  # hidden while the window changes
    page.get_by_text("Second").click()
    b.expect_fit(page, "#fig-queue-print")
    assert b.live(page) + b.redrawn(page) + b.overflows(page) == []


@pytest.mark.parametrize("options", [{}, b.TOUCH], ids=["Plotly", "SVG"])
def test_case_4_five_entries_of_a_legend_leave_a_phone_its_bars(visitor: b.Visitor, probe: str, options: dict[str, bool]) -> None:
    """fboundy/agile_predict#83."""
    page = visitor.open(probe, width=390, **options)
    figure = page.locator("#fig-five")
    assert figure.locator(".fig-narrow .legend").count() == 5
    figure.scroll_into_view_if_needed()
    assert b.drawn(page) + b.overflows(page) == [] if options else b.live(page) + b.redrawn(page) + b.overflows(page) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("options", [{}, b.TOUCH], ids=["Plotly", "SVG"])
def test_case_5_a_palette_toggled_twice_is_the_first_again(
    visitor: b.Visitor, served: str, scheme: str, options: dict[str, bool]
) -> None:
    """plotly/plotly.py#5413."""
    page = visitor.open(f"{served}/acts/2-queue.html#step-3", color_scheme=scheme, **options)
    if not options:
        assert b.live(page) == []
    first = b.paints(page)
    assert b.ink(page) == []
    b.toggle(page)
    assert b.settled(page, b.ink) == []
    assert b.paints(page) != first
    if not options:
        assert b.redrawn(page) == []
    b.toggle(page)
    assert b.soon(page, lambda: b.paints(page) == first)


@pytest.mark.full  # what is asked for by the first figures of each page is counted in every run
def test_case_6_an_act_with_six_figures_asks_for_plotly_once(visitor: b.Visitor, site: Path, served: str) -> None:
    """plotly/plotly.py#5404."""
    act = max(b.acts(site), key=lambda path: (site / path).read_text(encoding="utf-8").count('<figure class="fig"'))
    page = visitor.open(f"{served}/{act}")
    assert page.locator(b.PLOTS).count() >= 6
    assert b.sweep(page, b.live) == []
    assert visitor.watch(page).asked(b.PLOTLY) == 1
    assert not [script for script in page.locator("script:not([src])").all_text_contents() if len(script) > 2000]


def test_case_8_the_same_figure_twice_on_a_page_is_drawn_twice(visitor: b.Visitor, probe: str) -> None:
    """plotly/plotly.js#3487, by whose report a second drawing of one id stays empty."""
    page = visitor.open(probe)
    assert b.unique_ids(page) == []
    names = page.locator(".fig[id*=queue-print]").evaluate_all("figures => figures.map((figure) => figure.id)")
    assert names == ["fig-queue-print", "fig-queue-print-2"]
    page.get_by_text("Second").click()
    assert b.live(page) + b.redrawn(page) == []


def test_case_11_a_label_with_the_marks_of_markdown_stays_as_written(visitor: b.Visitor, probe: str) -> None:
    """Python-Markdown 3.10 with pymdownx: HTML in a tab or a fold is read as Markdown."""
    page = visitor.open(probe)
    page.get_by_text("Odd").click()
    assert b.live(page) == []
    for layer in (".fig-svg .fig-wide .bar-label", ".fig-plot .bartext"):
        assert page.locator(f"#fig-odd {layer}").all_text_contents() == ["*a* b", "`c` _d_"]


def test_case_16_five_billion_bytes_per_second_are_no_5_b(visitor: b.Visitor, probe: str) -> None:
    """plotly/plotly.js#1651. Plotly sets the ticks of the SVG, and so no SI letter of its own, where a figure names them and where none does."""
    page = visitor.open(probe)
    assert b.live(page) == []
    for layer in (".fig-svg .fig-wide .tick[data-x]", ".fig-plot .xtick text"):
        assert page.locator(f"#fig-rates {layer}").all_text_contents()[-1] == "5\u00a0GB/s"
        assert page.locator(f"#fig-bare-rates {layer}").all_text_contents()[-1] == "5,000,000,000"


def figures_and_labs_work(visitor: b.Visitor, address: str) -> None:
    """A figure comes alive and a lab computes; the visitor sees to it that nothing is refused and nothing fails."""
    page = visitor.open(f"{address}/{IN_ACTS['ring']}")
    assert b.live(page) + b.redrawn(page) == []
    lab(page, "ring")
    before = page.locator("#lab-ring [data-part=result]").inner_text()
    slide(page, "ring", LABS["ring"]().controls[0].name).focus()
    page.keyboard.press("ArrowRight")
    assert agrees(page, "ring")
    assert page.locator("#lab-ring [data-part=result]").inner_text() != before


@pytest.mark.full  # labs in their acts are driven in every run, served under this policy and from disk
def test_case_9_a_policy_of_own_scripts_alone_is_borne(visitor: b.Visitor, served: str) -> None:
    """plotly/plotly.js#897: what compiles code at run time needs 'unsafe-eval'."""
    page = visitor.open(f"{served}/index.html")
    policy = page.request.get(f"{served}/acts/6-allreduce.html").headers["content-security-policy"]
    assert "script-src 'self'" in policy
    assert "unsafe" not in policy
    figures_and_labs_work(visitor, served)


@pytest.mark.full
def test_case_14_the_site_works_from_disk(visitor: b.Visitor, site: Path) -> None:
    """squidfunk/mkdocs-material#6181."""
    figures_and_labs_work(visitor, site.as_uri())
