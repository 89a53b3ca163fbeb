"""Schedules of the stream runner as Plotly figures, data tables and Chrome traces. Nothing here computes a time."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import plotly.graph_objects as go

from macros import text
from macros.tables import Cell, Name, Num, Table
from perfmodel.streams import Schedule, Span
from perfmodel.units import UNITS

ROLE_NAMES = {"host": "Python", "compute": "compute", "transfer": "send gradients", "fetch": "fetch", "update": "send the sum back"}


def in_unit(value: float, unit: str) -> float:
    """`value` as a float number of `unit`s, for an axis."""
    return float(text.in_unit(value, UNITS[unit]))


def timeline(
    schedules: Mapping[str, Schedule],
    *,
    unit: str,
    upto: float,
    label: Callable[[Span, str], str],
    roles: Mapping[str, str] = ROLE_NAMES,
    totals: Sequence[tuple[str, float]] = (),
    axis: str = "",
) -> go.Figure:
    """Bars on lanes, idle time hatched. `schedules` are stacked from top to bottom, their lanes prefixed by their key.

    `upto` (in `unit`) fixes the time axis, so that figures can be compared. `totals` are (text, time) for marked lines.
    """
    lanes = [f"{prefix}{lane}" for prefix, schedule in schedules.items() for lane in schedule.lanes]
    bars: dict[str, list[tuple[str, float, float, str]]] = {role: [] for role in (*roles, "idle")}
    for prefix, schedule in schedules.items():
        for span in schedule.spans:
            for lane in span.streams:
                start, end = in_unit(span.start_s, unit), in_unit(span.end_s, unit)
                if end > start:
                    bars[span.role].append((prefix + lane, start, end, label(span, lane)))
        for lane, gaps in schedule.idle.items():
            bars["idle"] += [(prefix + lane, in_unit(g.start_s, unit), in_unit(g.end_s, unit), "") for g in gaps]
    traces = [
        go.Bar(
            orientation="h",
            name={**roles, "idle": "idle"}[role],
            x=[end - start for _, start, end, _ in found],
            base=[start for _, start, _, _ in found],
            y=[lane for lane, *_ in found],
            text=[words for *_, words in found],
            meta={"role": role},
            hovertemplate="%{y}: %{text} from %{base} to %{x} " + unit + "<extra></extra>",
        )
        for role, found in bars.items()
        if found
    ]
    figure = go.Figure(traces)
    figure.update_layout(
        barmode="overlay",
        bargap=0.25,
        height=90 + 26 * len(lanes),
        xaxis={"title": {"text": axis or f"time ({unit})"}, "range": [0, upto]},
        yaxis={"type": "category", "categoryorder": "array", "categoryarray": lanes, "autorange": "reversed"},
    )
    for words, at in totals:
        x = in_unit(at, unit)
        figure.add_shape(type="line", name="total", x0=x, x1=x, y0=0, y1=1, yref="paper")
        figure.add_annotation(
            name="total", x=x, y=1, yref="paper", text=words, showarrow=False, xanchor="right" if x > upto * 0.7 else "left"
        )
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


def trace(schedules: Mapping[str, Schedule], unit: str) -> str:
    """The schedules in Chrome's trace format, which Perfetto reads. A tick is shown as a microsecond, and the file says so."""
    size = 1.0 if unit == "ticks" else 1e6
    events: list[dict[str, Any]] = []
    for pid, (prefix, schedule) in enumerate(schedules.items()):
        events.append({"ph": "M", "name": "process_name", "pid": pid, "tid": 0, "args": {"name": prefix.strip(" ·") or "schedule"}})
        for tid, lane in enumerate(schedule.lanes):
            events.append({"ph": "M", "name": "thread_name", "pid": pid, "tid": tid, "args": {"name": lane}})
        for span in schedule.spans:
            for lane in span.streams:
                start = round(span.start_s * size, 6)
                row = {"ph": "X", "name": span.name, "cat": span.role, "pid": pid, "tid": schedule.lanes.index(lane)}
                events.append({**row, "ts": start, "dur": round(span.end_s * size - start, 6)})
    note = "a cost model, not a measurement; " + (
        "one tick is shown as 1 microsecond" if unit == "ticks" else "times in microseconds"
    )
    return (
        json.dumps({"displayTimeUnit": "ms", "otherData": {"note": note}, "traceEvents": events}, ensure_ascii=False, indent=1)
        + "\n"
    )
