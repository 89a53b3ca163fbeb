"""Schedules of the stream runner as Plotly figures and data tables. Nothing here computes a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import plotly.graph_objects as go

from macros import text
from macros.tables import Cell, Name, Num, Table
from perfmodel.streams import Schedule, Span
from perfmodel.units import UNITS

ROLE_NAMES = {"host": "Python", "compute": "compute", "transfer": "send gradients", "fetch": "fetch", "update": "send the sum back"}


def in_unit(value: float, unit: str) -> float:
    """`value` as a float number of `unit`s, for an axis."""
    return float(text.in_unit(value, UNITS[unit]))


def lanes_axis(names: Sequence[str]) -> dict[str, Any]:
    """An axis of named lanes, from top to bottom."""
    return {"type": "category", "categoryorder": "array", "categoryarray": list(names), "autorange": "reversed"}


class Total(NamedTuple):
    """A marked time: what stands at the line, when, and the schedule whose lanes it crosses (how the names of its lanes begin)."""

    words: str
    at: float
    prefix: str = ""


def timeline(
    schedules: Mapping[str, Schedule],
    *,
    unit: str,
    upto: float,
    label: Callable[[Span, str], str],
    roles: Mapping[str, str] = ROLE_NAMES,
    totals: Sequence[Total] = (),
    waits: str = "",
    free: Sequence[str] = (),
) -> go.Figure:
    """Bars on lanes. `schedules` are stacked from top to bottom, their lanes prefixed by their key.

    Idle time is hatched. Two kinds of it are told apart: on the lane `waits` it is a blocking wait, in the colour of fetching;
    a lane in `free` has left the scene after its last task, and nothing is drawn there. `upto` (in `unit`) fixes the time axis,
    so that figures can be compared.
    """
    lanes = [f"{prefix}{lane}" for prefix, schedule in schedules.items() for lane in schedule.lanes]
    bars: dict[str, list[tuple[str, float, float, str]]] = {role: [] for role in (*roles, "wait", "idle")}
    for prefix, schedule in schedules.items():
        for span in schedule.spans:
            for lane in span.streams:
                start, end = in_unit(span.start_s, unit), in_unit(span.end_s, unit)
                if end > start:
                    bars[span.role].append((prefix + lane, start, end, label(span, lane)))
        for lane, gaps in schedule.idle.items():
            for gap in gaps:
                start, end = in_unit(gap.start_s, unit), in_unit(gap.end_s, unit)
                if lane not in free or gap.end_s < schedule.total_s:
                    bars["wait" if lane == waits else "idle"].append((prefix + lane, start, end, "waits" if lane == waits else ""))
    names = {**roles, "wait": f"{waits} waits", "idle": "idle"}
    traces = [
        go.Bar(
            orientation="h",
            name=names[role],
            x=[end - start for _, start, end, _ in found],
            base=[start for _, start, _, _ in found],
            y=[lane for lane, *_ in found],
            text=[words for *_, words in found],
            meta={"role": "fetch", "muted": True} if role == "wait" else {"role": role},
            hovertext=[
                f"{names[role]}{f' · {words}' if words else ''}: {start:g}–{end:g} {unit}" for _, start, end, words in found
            ],
        )
        for role, found in bars.items()
        if found
    ]
    figure = go.Figure(traces)
    figure.update_layout(
        barmode="overlay",
        bargap=0.25,
        height=90 + 26 * len(lanes),
        xaxis={"title": {"text": f"time ({unit})"}, "range": [0, upto]},
        yaxis=lanes_axis(lanes),
    )
    for words, at, prefix in totals:
        x = in_unit(at, unit)
        own = [i for i, lane in enumerate(lanes) if lane.startswith(prefix)]
        figure.add_shape(type="line", name="total", x0=x, x1=x, y0=own[0] - 0.5, y1=own[-1] + 0.5)
        note: dict[str, Any] = {"name": "total", "showarrow": False}
        if prefix and x <= 0.75 * upto:  # beside its own lanes, where a phone has room for it
            note |= {"x": x + 0.01 * upto, "y": (own[0] + own[-1]) / 2, "text": words, "xanchor": "left"}
        else:
            words = f"{prefix}: {words}" if prefix else words
            note |= {"x": x, "y": 1, "yref": "paper", "text": words, "xanchor": "right" if x > 0.7 * upto else "left"}
        figure.add_annotation(note)
    return figure


def spans_table(schedules: Mapping[str, Schedule], unit: str) -> Table:
    """Every task: where it runs, when it starts and ends."""
    many = len(schedules) > 1
    rows: list[list[Cell]] = [
        [
            *([Name(prefix.strip(" ·"))] if many else []),
            Name(span.name),
            Name(" and ".join(span.streams)),
            Num(span.start_s, unit),
            Num(span.end_s, unit),
        ]
        for prefix, schedule in schedules.items()
        for span in schedule.spans
    ]
    return Table((*(["Schedule"] if many else []), "Task", "Runs on", "Starts", "Ends"), rows)
