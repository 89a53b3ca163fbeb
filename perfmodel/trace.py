"""Schedules in Chrome's trace format, to look at in Perfetto (ui.perfetto.dev)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from perfmodel.streams import Schedule


def trace(schedules: Mapping[str, Schedule], unit: str) -> str:
    """The schedules as a JSON text in Chrome's trace format: a process each, under its key, a thread a lane, an event a span and lane.

    `unit` is "ticks" where the times are ticks, anything else where they are seconds. A tick is shown as a microsecond, and the file
    says so.

    >>> from perfmodel.streams import Task, run
    >>> made = json.loads(trace({"one": run([Task(name="a", streams=("GPU",), duration_s=2e-6)])}, "s"))
    >>> [(event["name"], event["dur"]) for event in made["traceEvents"] if event["ph"] == "X"]
    [('a', 2.0)]
    """
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
