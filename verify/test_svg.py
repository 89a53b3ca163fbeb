"""The SVG of a figure shows all that the figure holds, or refuses it; its HTML stays one piece; Plotly is the pinned one."""

from __future__ import annotations

import hashlib
import json
import re
import xml.etree.ElementTree as ET
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import plotly.offline
import pytest

from macros.embed import figure_html
from macros.svg import _n, draw, normalise

VENDOR = Path(__file__).parent.parent / "docs/assets/vendor"
SVG = "{http://www.w3.org/2000/svg}"
ODD = '*a* b <b>&amp; "q" </template><script>'


def timeline(**layout: Any) -> dict[str, Any]:
    bar = {"type": "bar", "orientation": "h"}
    return {
        "data": [
            {
                **bar,
                "name": "work",
                "meta": {"role": "compute"},
                "y": ["w1", "w2"],
                "base": [0, 0],
                "x": [4, 9],
                "text": ["long label", ODD],
            },
            {**bar, "name": "wait", "meta": {"role": "idle"}, "y": ["w1"], "base": [4], "x": [5], "text": ["waits"]},
        ],
        "layout": {
            "barmode": "overlay",
            "height": 160,
            "xaxis": {"title": {"text": "time, ticks"}},
            "yaxis": {"autorange": "reversed"},
            "shapes": [{"type": "line", "x0": 9, "x1": 9, "y0": 0, "y1": 1, "yref": "paper", "name": "total"}],
            "annotations": [{"x": 9, "y": 1, "yref": "paper", "text": "total 9", "xanchor": "right", "showarrow": False}],
            **layout,
        },
    }


def curve(x: list[float], y: list[float], **axes: Any) -> dict[str, Any]:
    return {"data": [{"type": "scatter", "mode": "lines", "x": x, "y": y, "meta": {"role": "host"}}], "layout": axes}


def texts(svg: str, cls: str) -> list[str]:
    found = (t for t in ET.fromstring(svg).iter(f"{SVG}text") if cls in t.get("class", "").split())
    return [" ".join(t.itertext()) for t in found]


def embed(figure: dict[str, Any], **changes: Any) -> str:
    given: dict[str, Any] = {
        "id": "one",
        "title_html": "A <em>finding</em>",
        "alt": 'w1 waits for "w2"',
        "caption_html": "Look at w1.",
        "badge": "cost model · ticks",
        "kind": "model",
        "table_html": "<table></table>",
        "csv_href": "one.csv",
        "trace_href": "one.json",
    }
    return figure_html(figure, **{**given, **changes})


def test_labels_come_out_as_written() -> None:
    figure = timeline()
    figure["data"][1]["name"] = ODD
    svg = draw(figure, width=2000)
    assert ODD in texts(svg, "bar-label")
    assert ODD in texts(svg, "legend")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda f: f["data"][0].update(type="pie"), r"data\[0\] \(work\)\.type must be one of bar, scatter, got 'pie'"),
        (lambda f: f["data"][0].update(error_x={"array": [1]}), r"data\[0\] \(work\)\.error_x is not drawn"),
        (lambda f: f["data"][0].update(meta={"role": "magic"}), r"data\[0\] \(work\)\.meta\.role .* got 'magic'"),
        (lambda f: f["data"][0].pop("meta"), r"data\[0\] \(work\)\.meta\.role .* got None"),
        (lambda f: f["data"][0].update(x=[1, float("nan")]), r"data\[0\] \(work\)\.x must hold finite numbers"),
        (lambda f: f["data"][0].update(x={"dtype": "f8", "bdata": "AA"}), r"data\[0\] \(work\)\.x must be a list, got dict"),
        (lambda f: f["data"][0].update(base=[0]), r"data\[0\] \(work\)\.base must be as long as x \(2\), got 1"),
        (lambda f: f["layout"].update(polar={}), r"layout\.polar is not drawn"),
        (lambda f: f["layout"].update(barmode="relative"), r"layout\.barmode must be one of .* got 'relative'"),
        (lambda f: f["layout"].update(barmode="stack"), r"layout\.barmode must be overlay"),
        (
            lambda f: f["layout"]["xaxis"].update(type="log"),
            r"layout\.xaxis must hold values above 0, .* got 0|layout\.xaxis must be linear",
        ),
        (lambda f: f["layout"]["shapes"][0].pop("type"), r"layout\.shapes\[0\]\.type must be one of line, got 'rect'"),
        (lambda f: f["layout"]["shapes"][0].update(x1=5), r"layout\.shapes\[0\] must be vertical or horizontal, got "),
        (lambda f: f["layout"]["annotations"][0].pop("showarrow"), r"layout\.annotations\[0\]\.showarrow must be one of False"),
        (
            lambda f: f["layout"]["yaxis"].update(categoryarray=["w1"]),
            r"layout\.yaxis\.categoryarray must hold all names of its values, got no 'w2'",
        ),
    ],
)
def test_what_the_svg_cannot_show_is_refused_by_name(change: Any, message: str) -> None:
    figure = timeline()
    change(figure)
    with pytest.raises(ValueError, match=message):
        draw(figure, width=760)


def test_idle_is_hatched_and_nothing_else() -> None:
    svg = draw(timeline(), width=760, label_prefix="one-")
    bars = [bar for bar in ET.fromstring(svg).iter(f"{SVG}rect") if "bar" in bar.get("class", "")]
    assert {bar.get("class"): bar.get("fill") for bar in bars} == {"bar r-compute": None, "bar r-idle": "url(#one-hatch)"}
    assert 'id="one-hatch"' in svg


def test_colours_and_styles_stay_out() -> None:
    svg = draw(timeline(), width=760)
    assert "style" not in svg
    assert not re.search(r"(fill|stroke)=\"(?!url\(#)", svg)
    assert not re.search(r"\d\.\d{3}", svg)


def test_narrow_leaves_out_labels_that_do_not_fit() -> None:
    wide, narrow = (texts(draw(timeline(), width=width), "bar-label") for width in (760, 140))
    assert "long label" in wide
    assert "long label" not in narrow
    assert texts(draw(timeline(), width=140), "lane") == ["w1", "w2"]


def test_bars_lie_where_the_axis_says() -> None:
    svg = ET.fromstring(draw(timeline(xaxis={"range": [0, 10]}), width=760))
    left, _, right, _ = map(float, svg.get("data-margin", "").split())
    bars = [bar for bar in svg.iter(f"{SVG}rect") if bar.get("class") == "bar r-compute" and bar.get("height") != "12"]
    scale = (760 - left - right) / 10  # px a tick
    for bar, length in zip(bars, (4, 9), strict=True):
        assert float(bar.get("x", "")) == pytest.approx(left, abs=0.01)
        assert float(bar.get("width", "")) == pytest.approx(length * scale, abs=0.02)
    assert float(bars[0].get("y", "")) < float(bars[1].get("y", ""))  # reversed: the first lane on top


def test_bars_stack_and_stand_side_by_side() -> None:
    def places(mode: str) -> list[tuple[float, float]]:
        bars = [{"type": "bar", "x": ["a"], "y": [y], "meta": {"role": "host"}} for y in (1, 2)]
        svg = draw({"data": bars, "layout": {"barmode": mode}}, width=760)
        return [(float(b.get("x", "")), float(b.get("y", ""))) for b in ET.fromstring(svg).iter(f"{SVG}rect") if b.get("class")]

    (x0, y0), (x1, y1) = places("stack")
    assert x0 == x1
    assert y1 < y0
    (x0, _), (x1, _) = places("group")
    assert x0 < x1


def test_the_same_input_gives_the_same_text() -> None:
    assert draw(timeline(), width=340) == draw(timeline(), width=340)
    assert draw(normalise(timeline()), width=340) == draw(timeline(), width=340)
    assert embed(timeline()) == embed(timeline())


def test_log_axes_have_a_tick_a_decade() -> None:
    svg = draw(curve([1, 1e7], [0.01, 100], xaxis={"type": "log"}, yaxis={"type": "log"}), width=760)
    assert texts(svg, "tick") == ["1", "10", "100", "1000", "10,000", "100,000", "10⁶", "10⁷", "0.01", "0.1", "1", "10", "100"]


def test_given_ticks_never_overlap() -> None:
    crowded = {"tickvals": [0, 1, 2, 100], "ticktext": ["none", "one", "two", "hundred"]}
    assert texts(draw(curve([0, 100], [0, 1], xaxis=crowded), width=340), "tick")[:2] == ["none", "hundred"]


def test_a_note_at_the_edge_is_moved_inside() -> None:
    name = "a limit with a long name"
    note = {"x": 1, "y": 1, "text": name, "xanchor": "left", "showarrow": False}
    svg = ET.fromstring(draw(curve([0, 1], [0, 1], annotations=[note]), width=340))
    [text] = [t for t in svg.iter(f"{SVG}text") if t.get("class") == "note"]
    assert float(text.get("x", "")) + 6 * len(name) <= 340
    assert float(text.get("data-shift", "")) < 0


def test_a_note_is_shifted_by_pixels_as_in_plotly() -> None:
    """To the right and up, whatever the width; by figures.js too, which takes both from the SVG."""
    for width in (340, 760):
        notes = [{"x": 0.5, "y": 0.5, "text": "a dot", "showarrow": False, "name": name} for name in ("host", "total")]
        notes[1] |= {"xshift": 9, "yshift": -5}
        svg = ET.fromstring(draw(curve([0, 1], [0, 1], annotations=notes), width=width))
        plain, moved = (t for t in svg.iter(f"{SVG}text") if (t.get("class") or "").startswith("note"))
        assert float(moved.get("x", "")) - float(plain.get("x", "")) == 9
        assert float(moved.get("y", "")) - float(plain.get("y", "")) == 5
        assert [(t.get("data-shift"), t.get("data-lift")) for t in (plain, moved)] == [(None, None), ("9", "-5")]


def test_notes_that_would_meet_stand_in_rows() -> None:
    notes = [{"x": x, "y": 1, "yref": "paper", "text": "Python free: 6 ticks", "showarrow": False} for x in (4, 5)]
    svg = ET.fromstring(draw(timeline(annotations=notes), width=340))
    first, second = (t for t in svg.iter(f"{SVG}text") if t.get("class") == "note")
    assert float(first.get("y", "")) - float(second.get("y", "")) == 20
    assert float(second.get("y", "")) > 0


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []
        self.template = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open[-1:] == ["template"]:
            self.template += data


def test_json_cannot_break_out_of_its_template() -> None:
    figure = timeline()
    figure["data"][0]["y"] = figure["layout"]["yaxis"]["categoryarray"] = [ODD, "w1"]
    tags = _Tags()
    tags.feed(embed(figure))
    assert tags.open == []
    assert "script" not in tags.seen
    assert not {"<", ">", "&"} & set(tags.template)
    data = json.loads(tags.template)["data"]
    assert unescape(data[0]["y"][0]) == ODD  # Plotly reads entities, so it shows the name as written
    assert unescape(data[0]["text"][1]) == ODD


def test_json_holds_plain_lists_and_explicit_axes() -> None:
    figure = timeline(template={"layout": {"font": {"size": 99}}})
    figure["data"][0]["x"] = (0.1 + 0.2, 9)
    [template] = re.findall(r'<template class="fig-json">(.*)</template>', embed(figure))
    held = json.loads(template)
    assert held.keys() == {"data", "layout"}
    assert held["data"][0]["x"] == [0.3, 9]
    assert held["layout"]["yaxis"]["type"] == "category"
    assert held["layout"]["yaxis"]["range"] == [1.5, -0.5]
    assert "template" not in held["layout"]


def test_the_figure_is_named_and_labelled() -> None:
    html = embed(timeline())
    assert html.startswith('<figure class="fig" id="fig-one" data-kind="model" data-search-exclude>')
    assert '<div class="fig-box" role="img" aria-label="w1 waits for &quot;w2&quot;">' in html
    assert 'aria-label="Data: A finding"' in html
    assert '<a href="one.json" download>Trace for Perfetto</a>' in html
    assert "Trace for Perfetto" not in embed(timeline(), trace_href=None)
    ids = re.findall(r' id="([^"]*)"', html)
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize(("field", "value"), [("id", "7 up"), ("kind", 'a"b'), ("alt", " ")])
def test_a_figure_without_a_proper_name_is_refused(field: str, value: str) -> None:
    with pytest.raises(ValueError, match=field):
        embed(timeline(), **{field: value})


def test_plotly_is_the_pinned_version_and_unchanged() -> None:
    script, readme = (VENDOR / name for name in ("plotly-basic.min.js", "README.md"))
    version, digest = plotly.offline.get_plotlyjs_version(), hashlib.sha256(script.read_bytes()).hexdigest()
    assert f"plotly.js (basic - minified) v{version}" in script.read_text(encoding="utf-8")[:200]
    assert f"| {version} | MIT" in readme.read_text(encoding="utf-8")
    assert f"`{digest}`" in readme.read_text(encoding="utf-8")


@pytest.mark.parametrize("kind", ["bar", "scatter"])
def test_each_trace_type_is_in_the_basic_bundle(kind: str) -> None:
    script = (VENDOR / "plotly-basic.min.js").read_text(encoding="utf-8")
    assert re.search(rf'moduleType:"trace",name:"{kind}"', script)
    assert not re.search(r'moduleType:"trace",name:"surface"', script)  # a check that can fail


@pytest.mark.parametrize("tie", [254.075, 471.675, 81.675, 0.005, 2.5])
def test_the_last_bits_of_a_place_are_not_drawn(tie: float) -> None:
    """They differ between versions of Python, and the drawings may not."""
    assert _n(tie * (1 - 1e-13)) == _n(tie) == _n(tie * (1 + 1e-13))
