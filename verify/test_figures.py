"""Every figure and table: used by a page, described in words, and its downloads in agreement with the model."""

from __future__ import annotations

import csv
import io
import json
import re
import xml.etree.ElementTree as ET
from typing import Any

import pytest

from macros.figures import FIGURES, TABLES, make
from macros.svg import CHAR, MARKERS, draw, normalise
from perfmodel.book import LEDGER
from verify.checkout import ROOT

DOCS = ROOT / "docs"
PAGES = {path: path.read_text(encoding="utf-8") for path in DOCS.rglob("*.md")}
# The number of the book that the last bar of a timeline ends at.
ENDS = {
    "overlap-turns": ("overlap.turns", 1.0), "overlap-together": ("overlap.together", 1.0),
    "overlap-copies": ("overlap.in_turn", 1.0), "overlap-slow": ("overlap.slow", 1.0),
    "bill-launch": ("bill.total_four", 1e6),
    "queue-statements": ("queue.done", 1.0), "queue-print": ("queue.printed", 1.0), "queue-barriers": ("queue.each", 1.0),
    "queue-slow": ("slow.every_four", 1.0), "sync-one-gpu": ("sync.one_gpu", 1e6), "sync-cpu": ("sync.cpu", 1e6),
    "sync-sharded": ("sync.sharded", 1e6), "sync-sharded-close": ("sync.sharded", 1e6),
    "sync-ring": ("sync.ring", 1e6), "sync-ring-close": ("sync.ring", 1e6),
    "replica-step": ("step.one", 1.0), "step-data-parallel": ("dp.parallel", 1e6), "step-ddp": ("dp.ddp", 1e6),
}  # fmt: skip


@pytest.mark.parametrize("kind", ["figure", "table"])
def test_each_is_shown_on_some_page(kind: str) -> None:
    used = {name for text in PAGES.values() for name in re.findall(rf'\b{kind}\("([\w-]+)"\)', text)}
    assert used == (set(FIGURES) if kind == "figure" else set(TABLES))


@pytest.mark.parametrize("name", FIGURES)
def test_each_figure_says_what_to_see(name: str) -> None:
    assert len((FIGURES[name].__doc__ or "").split()) >= 6
    drawn = FIGURES[name]()
    for words in (drawn.title, drawn.alt, drawn.caption):
        assert words.strip()
    assert drawn.badge.strip()
    made = make(name)
    assert made.faults == []
    assert hollow(drawn.title, drawn.alt) == []


def hollow(title: str, alt: str) -> list[str]:
    """What an alt text lacks: it says what is seen, not that something is; where the finding has a number, so has the alt text."""
    wrong = (
        [f"begins with {found[0]!r}"]
        if (found := re.match(r"(?i)(an?|the)? *(chart|graph|plot|picture|image|figure|diagram) (of|that)\b", alt))
        else []
    )
    return wrong + (["has no number"] if "[= q(" in title and "[= q(" not in alt else [])


def test_an_alt_text_without_its_finding_is_seen() -> None:
    assert hollow('It takes [= q("60 ms", sync.one_gpu) =]', "A chart of the time.") == [
        "begins with 'A chart of'",
        "has no number",
    ]


def alike(figure: dict[str, Any]) -> list[str]:
    """The named lines and dots of a figure that nothing but their colour tells apart."""
    looks: dict[tuple[Any, ...], list[str]] = {}
    for trace in figure["data"]:
        if trace["type"] == "scatter" and trace.get("name"):
            shape = MARKERS.get(trace["meta"]["role"], "circle") if "markers" in trace["mode"] else ""
            dash = trace.get("line", {}).get("dash", "solid") if "lines" in trace["mode"] else ""
            looks.setdefault((shape, dash, bool(trace["meta"].get("muted"))), []).append(trace["name"])
    return [" and ".join(names) for names in looks.values() if len(names) > 1]


@pytest.mark.parametrize("name", FIGURES)
def test_colour_is_never_the_only_sign(name: str) -> None:
    assert alike(normalise(FIGURES[name]().figure.to_dict())) == []


def covered(svg: str) -> list[str]:
    """The notes of a figure that lie on a dot, which they would hide or be taken for its name."""
    root = ET.fromstring(svg)
    dots = [d for d in root.iter() if (d.get("class") or "").startswith("dot")]
    places = [(float(d.get("cx", 0)), float(d.get("cy", 0))) if d.get("cx") else _start(d.get("d", "")) for d in dots]
    found = []
    for note in [t for t in root.iter("{http://www.w3.org/2000/svg}text") if (t.get("class") or "").startswith("note")]:
        words, x, y = "".join(note.itertext()), float(note.get("x", 0)), float(note.get("y", 0))
        wide = CHAR * len(words)
        left = x - {"middle": wide / 2, "end": wide}.get(note.get("text-anchor", ""), 0.0)
        if any(left - 4.5 < at < left + wide + 4.5 and y - 14.5 < up < y + 5.5 for at, up in places):
            found.append(words)
    return found


def _start(d: str) -> tuple[float, float]:
    x, y = re.findall(r"-?[\d.]+", d)[:2]
    return float(x), float(y)


@pytest.mark.parametrize("width", [340, 760])
@pytest.mark.parametrize("name", FIGURES)
def test_no_note_lies_on_a_dot(name: str, width: int) -> None:
    assert covered(draw(FIGURES[name]().figure.to_dict(), width=width)) == []


def test_a_note_on_a_dot_is_seen() -> None:
    dots = {"type": "scatter", "mode": "markers", "x": [1, 2, 3], "y": [1, 2, 3]}
    for role in ("transfer", "compute"):  # a square, a circle
        for shift, seen in ((0, ["a dot"]), (9, [])):
            note = {"x": 2, "y": 2, "xshift": shift, "text": "a dot", "showarrow": False, "xanchor": "left", "yanchor": "middle"}
            figure = {"data": [{**dots, "meta": {"role": role}}], "layout": {"annotations": [note]}}
            assert covered(draw(figure, width=340)) == seen


def test_lines_that_differ_in_colour_alone_are_seen() -> None:
    line = {"type": "scatter", "mode": "lines", "x": [1, 2], "y": [1, 2]}
    two = [{**line, "name": role, "meta": {"role": role}} for role in ("host", "compute")]
    assert alike(normalise({"data": two})) == ["host and compute"]
    assert alike(normalise({"data": [{**one, "mode": "markers"} for one in two]})) == []


@pytest.mark.parametrize("name", FIGURES)
def test_each_table_of_data_is_whole(name: str) -> None:
    rows = list(csv.reader(io.StringIO(make(name).files[f"{name}.csv"])))
    assert len(rows) > 1
    assert {len(row) for row in rows} == {len(rows[0])}
    assert "[=" not in rows[0][0]


@pytest.mark.parametrize("name", ENDS)
def test_each_trace_ends_where_the_model_says(name: str) -> None:
    events = json.loads(make(name).files[f"{name}.trace.json"])["traceEvents"]
    number, size = ENDS[name]
    last = max(e["ts"] + e["dur"] for e in events if e["ph"] == "X")
    assert last == pytest.approx(LEDGER[number].value * size, rel=1e-9)


def test_every_timeline_has_a_trace() -> None:
    assert {name for name in FIGURES if f"{name}.trace.json" in make(name).files} == set(ENDS)
