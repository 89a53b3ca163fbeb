"""What every figure is made of: a Plotly figure, its words, its data. Each figure's docstring says what a reader should see.

Titles, alt texts and captions hold the same calls as a page and are held to the same rules. A figure draws with no formula of its own.
"""

from __future__ import annotations

from dataclasses import dataclass

import plotly.graph_objects as go

from macros.evaluate import book
from macros.tables import Table
from perfmodel.streams import Schedule


@dataclass(frozen=True)
class Drawn:
    """A figure with its words. `badge` says what kind of thing it shows; `files` are what the reader can download beside the CSV."""

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
    return float(book()[name].value)


def count(name: str) -> int:
    return int(book()[name].value)
