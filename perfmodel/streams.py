"""One engine for every timeline: tasks on streams.

A stream runs its tasks in the order issued: a Python thread, a GPU, one direction of a port. A task holds one stream or several
at once, and may wait for tasks issued before it. A method (a pipeline, an allreduce) is a function that returns tasks; `run`
says when each of them starts.

>>> schedule = run([
...     Task(name="enqueue 1", streams=("Python",), duration_s=2, role="host"),
...     Task(name="compute 1", streams=("GPU",), duration_s=3, waits=(0,)),
... ])
>>> schedule.total_s, schedule.spans[1].start_s
(5.0, 2.0)
>>> schedule.idle["GPU"]
(Gap(start_s=0.0, end_s=2.0),)

Source: the queue of Dive into Deep Learning 13.2, with tasks that may hold several streams.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from perfmodel import kernels
from perfmodel.units import at_least, listed, not_negative

ROLES = ("host", "compute", "transfer", "fetch", "update")
"""What a task does: run Python, compute, move data, bring a result back to Python, or bring a summed gradient back."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Task:
    """One piece of work: what it is called, the streams it holds, how long, and the earlier tasks it waits for.

    `waits` are indices into the list that the task is issued in. `duration_s` is in seconds, or in ticks where a whole program
    is in ticks. Two tasks that take no time are still ordered.

    Raises ValueError for streams or waits that are no tuple, a duration that is negative or not finite, no streams, a stream named
    twice or by no text, a negative wait, or a role that is not in `ROLES`.

    >>> Task(name="copy", streams=("GPU 0 out", "GPU 1 in"), duration_s=0.01, role="transfer").waits
    ()
    >>> Task(name="copy", streams=(), duration_s=0.01)
    Traceback (most recent call last):
    ValueError: a task must hold at least one stream, got () for 'copy'
    """

    name: str
    streams: tuple[str, ...]
    duration_s: float
    waits: tuple[int, ...] = ()
    role: str = "compute"

    def __post_init__(self) -> None:
        if not isinstance(self.streams, tuple) or not all(isinstance(stream, str) for stream in self.streams):
            raise ValueError(f"streams must be a tuple of names, got {self.streams!r} for {self.name!r}")
        if not isinstance(self.waits, tuple):  # a generator would give them once
            raise ValueError(f"waits must be a tuple of indices, got {self.waits!r} for {self.name!r}")
        if not self.streams:
            raise ValueError(f"a task must hold at least one stream, got () for {self.name!r}")
        if len(set(self.streams)) < len(self.streams):
            raise ValueError(f"a task must name each stream once, got {self.streams!r} for {self.name!r}")
        not_negative(f"the duration of {self.name!r}", self.duration_s)
        for wait in self.waits:
            at_least(f"each wait of {self.name!r}", wait, 0)
        if self.role not in ROLES:
            raise ValueError(f"a role must be one of {', '.join(ROLES)}, got {self.role!r} for {self.name!r}")


class Span(NamedTuple):
    """A task that has run: from `start_s` to `end_s`, on `streams`."""

    name: str
    streams: tuple[str, ...]
    role: str
    start_s: float
    end_s: float


class Gap(NamedTuple):
    """A time in which a lane runs nothing."""

    start_s: float
    end_s: float


@dataclass(frozen=True, kw_only=True)
class Schedule:
    """What `run` returns: one span per task in the order issued, the lanes in drawing order, and the total time.

    `total_s` is the end of the last task to end; 0 without tasks.
    """

    spans: tuple[Span, ...]
    lanes: tuple[str, ...]
    total_s: float

    @property
    def idle(self) -> dict[str, tuple[Gap, ...]]:
        """For each lane, when it runs nothing between 0 and `total_s`, in order of time.

        >>> run([Task(name="a", streams=("GPU",), duration_s=1)], ("GPU", "Python")).idle
        {'GPU': (), 'Python': (Gap(start_s=0.0, end_s=1.0),)}
        """
        gaps: dict[str, list[Gap]] = {lane: [] for lane in self.lanes}
        free = dict.fromkeys(self.lanes, 0.0)
        for span in self.spans:  # on each lane, the order issued is the order of time
            for lane in span.streams:
                if span.start_s > free[lane]:
                    gaps[lane].append(Gap(free[lane], span.start_s))
                free[lane] = span.end_s
        for lane in self.lanes:
            if self.total_s > free[lane]:
                gaps[lane].append(Gap(free[lane], self.total_s))
        return {lane: tuple(found) for lane, found in gaps.items()}


def run(tasks: Iterable[Task], streams: Sequence[str] | None = None) -> Schedule:
    """Run `tasks` in the order issued: each starts when its streams are free and all it waits for has ended.

    `streams` gives the lanes and their order; left out, they come in order of first use. O(tasks + waits). It ignores any cost
    of scheduling itself, and no task overtakes another on a stream.

    Raises ValueError for a wait on a task that is not issued before, for a stream that is not among `streams`, for a lane
    listed twice, and for a program whose end is beyond the largest float.

    >>> ports = ("A out", "B in"), ("C out", "B in")
    >>> [span.start_s for span in run([Task(name="to B", streams=p, duration_s=10) for p in ports]).spans]
    [0.0, 10.0]
    >>> run([]).total_s
    0.0
    """
    tasks = listed("tasks", tasks)
    lanes = tuple(dict.fromkeys(lane for task in tasks for lane in task.streams)) if streams is None else listed("streams", streams)
    index = {lane: i for i, lane in enumerate(lanes)}
    if len(index) < len(lanes):
        raise ValueError(f"each lane must be listed once, got {lanes!r}")
    held: dict[tuple[str, ...], list[int]] = {}
    for issued, task in enumerate(tasks):
        if task.streams not in held:
            for lane in task.streams:
                if lane not in index:
                    raise ValueError(f"a task must use the lanes {', '.join(lanes)}; got {lane!r} for {task.name!r}")
            held[task.streams] = [index[lane] for lane in task.streams]
        for wait in task.waits:
            if wait >= issued:
                raise ValueError(
                    f"a task may only wait for tasks issued before it, got wait {wait} for task {issued}, {task.name!r}"
                )
    starts = kernels.run_streams(
        [held[task.streams] for task in tasks],
        [list(task.waits) for task in tasks],
        [task.duration_s for task in tasks],
        len(lanes),
    )
    spans = tuple(
        Span(task.name, task.streams, task.role, start, start + task.duration_s) for task, start in zip(tasks, starts, strict=True)
    )
    total_s = max((span.end_s for span in spans), default=0.0)
    if total_s == math.inf:
        late = next(span.name for span in spans if span.end_s == math.inf)
        raise ValueError(f"a task must end at a finite time, got inf for {late!r}")
    return Schedule(spans=spans, lanes=lanes, total_s=total_s)
