"""What every figure is made of: a Plotly figure, its words, its data. Each figure's docstring says what a reader should see.

Titles, alt texts and captions hold the same calls as a page and are held to the same rules. A figure draws with no formula of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import plotly.graph_objects as go

from macros import text
from macros.evaluate import book
from macros.tables import Table
from macros.timelines import Total, lanes_axis, spans_table, timeline
from perfmodel.streams import Schedule, Span


@dataclass(frozen=True)
class Drawn:
    """A figure with its words. `badge` says what kind of thing it shows; `schedules`, in `unit`, can be downloaded as a trace."""

    figure: go.Figure
    title: str
    alt: str
    caption: str
    table: Table
    kind: str = "model"
    badge: str = "cost model"
    schedules: dict[str, Schedule] | None = None
    unit: str = ""


def value(name: str) -> float:
    """The value of a number of the book."""
    return float(book()[name].value)


def count(name: str) -> int:
    """The same of a count."""
    return int(book()[name].value)


def total(name: str, prefix: str = "") -> Total:
    """A number of the book as a marked time, in words and in place; `prefix` as in `Total`."""
    return Total(text.show(value(name), book()[name].unit), value(name), prefix)


class Bar(NamedTuple):
    """A bar with its name on the axis and words beyond its end: its length, as the axis counts, and its role."""

    name: str
    length: float
    words: str
    role: str


def bars(rows: Sequence[Bar], *, title: str, upto: float, height: int) -> go.Figure:
    """Bars one below the other, over an axis with this title that ends at `upto`."""
    figure = go.Figure(
        [
            go.Bar(
                orientation="h",
                name=row.name,
                x=[row.length],
                y=[row.name],
                text=[row.words],
                textposition="outside",
                meta={"role": row.role},
            )
            for row in rows
        ]
    )
    figure.update_layout(
        barmode="overlay",
        bargap=0.3,
        height=height,
        showlegend=False,
        xaxis={"title": {"text": title}, "range": [0, upto]},
        yaxis=lanes_axis([row.name for row in rows]),
    )
    return figure


def scheduled(
    schedules: dict[str, Schedule],
    title: str,
    alt: str,
    caption: str,
    *,
    unit: str,
    upto: float,
    label: Callable[[Span, str], str],
    roles: Mapping[str, str],
    totals: Sequence[Total] = (),
    waits: str = "",
    free: Sequence[str] = (),
    kind: str = "model",
    badge: str = "",
) -> Drawn:
    """A figure of schedules: their `timeline`, which says what the options mean, a table of every task, and a trace."""
    return Drawn(
        timeline(schedules, unit=unit, upto=upto, label=label, roles=roles, totals=totals, waits=waits, free=free),
        title,
        alt,
        caption,
        spans_table(schedules, unit),
        kind=kind,
        badge=badge or f"cost model · {unit}",
        schedules=schedules,
        unit=unit,
    )
