"""The asynchronous queue behind Python: one thread enqueues, one device computes, and a barrier makes the thread wait.

Source: Dive into Deep Learning 13.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from perfmodel import kernels
from perfmodel.streams import Schedule, Task, run
from perfmodel.units import at_least, finite, is_whole, not_negative, shown

LANES = ("Python", "GPU")


class Depth(NamedTuple):
    """From `time` on, `tasks` tasks are enqueued and not yet completed."""

    time: float
    tasks: int


@dataclass(frozen=True, kw_only=True)
class AsyncPipeline:
    """`tasks` tasks that Python enqueues (t1 each) and a GPU computes (t2 each), with barriers that fetch a result (t3 each).

    At a barrier Python waits until the last task enqueued is computed, then fetches its result; the next enqueue follows. There
    is always one after the last task, and with `barrier_every` = k one after every k tasks as well. All times are in one unit of
    your choice: ticks, or seconds. It ignores a limit on the queue's length, and the cost of checking for a result.

    Raises ValueError for a time that is negative or not finite, the total too, for a negative number of tasks, and for
    `barrier_every` below 1.

    >>> each = AsyncPipeline(enqueue=2, compute=3, fetch=2, tasks=8, barrier_every=1)
    >>> once = AsyncPipeline(enqueue=2, compute=3, fetch=2, tasks=8)
    >>> each.total, once.total, once.queue_peak
    (56.0, 28.0, 4)
    """

    enqueue: float
    compute: float
    fetch: float
    tasks: int
    barrier_every: int | None = None

    def __post_init__(self) -> None:
        not_negative("enqueue", self.enqueue)
        not_negative("compute", self.compute)
        not_negative("fetch", self.fetch)
        at_least("tasks", self.tasks, 0)
        every = self.barrier_every
        if every is not None and (not is_whole(every) or every < 1):
            raise ValueError(f"barrier_every must be at least 1 (or None for one at the end), got {shown(every)}")
        if every is not None:
            at_least("barrier_every", every, 1)
        finite("total", self.total)

    @property
    def _every(self) -> int:
        return min(self.barrier_every or 0, self.tasks)  # a group holds all tasks at most

    @property
    def total(self) -> float:
        """The whole time: per group of m tasks between barriers t1 + (m−1)·max(t1, t2) + t2 + t3. 0 without tasks.

        >>> AsyncPipeline(enqueue=2, compute=1, fetch=1, tasks=10_000).total
        20002.0
        """
        total = kernels.pipeline_total(self.enqueue, self.compute, self.fetch, self.tasks, self._every)
        return float(total)

    @property
    def short_form(self) -> float:
        """t1 + n·t2 + t3, the book's form for one barrier at the end. It equals `total` only while t2 ≥ t1.

        >>> slow_frontend = AsyncPipeline(enqueue=2, compute=1, fetch=1, tasks=10_000)
        >>> slow_frontend.short_form, slow_frontend.total
        (10003.0, 20002.0)
        """
        return float(finite("short_form", self.enqueue + self.tasks * self.compute + self.fetch))

    @property
    def barriers(self) -> int:
        """How many barriers there are, the last one included."""
        return kernels.pipeline_barriers(self.tasks, self._every)

    @property
    def barrier_price(self) -> float:
        """What each barrier beyond the last adds to the total: min(t1, t2) + t3.

        The familiar t1 + t3 holds while t2 ≥ t1.

        >>> AsyncPipeline(enqueue=3, compute=1, fetch=2, tasks=8).barrier_price
        3.0
        """
        return float(finite("barrier_price", min(self.enqueue, self.compute) + self.fetch))

    @property
    def queue_peak(self) -> int:
        """The most tasks pending at one moment: enqueued and not yet completed (at equal times the completion counts first).

        With m tasks in the largest group: m − floor((m−1)·t1/t2) while t2 ≥ t1; 1 when t2 < t1; 0 when t2 = 0.

        >>> AsyncPipeline(enqueue=2, compute=3, fetch=2, tasks=7).queue_peak
        3
        """
        return kernels.queue_peak(self.enqueue, self.compute, self.tasks, self._every)

    def program(self) -> list[Task]:
        """The tasks in the order Python issues them, for `streams.run` on the lanes Python and GPU.

        >>> [task.name for task in AsyncPipeline(enqueue=2, compute=3, fetch=2, tasks=2).program()]
        ['enqueue 1', 'compute 1', 'enqueue 2', 'compute 2', 'fetch']
        """
        kinds = kernels.pipeline_kinds(self.tasks, self._every)
        waits = kernels.pipeline_waits(kinds)
        durations = kernels.pipeline_durations(kinds, self.enqueue, self.compute, self.fetch)
        program: list[Task] = []
        number = 0
        for kind, wait, duration in zip(kinds, waits, durations, strict=True):
            if kind == 0:
                number += 1
            name = ("enqueue {}", "compute {}", "fetch")[kind].format(number)
            lane = ("Python", "GPU", "Python")[kind]
            role = ("host", "compute", "fetch")[kind]
            program.append(Task(name=name, streams=(lane,), duration_s=duration, waits=tuple(wait), role=role))
        return program

    def schedule(self) -> Schedule:
        """The program as it runs; its `total_s` is `total`."""
        return run(self.program(), LANES)

    def queue_depth(self) -> tuple[Depth, ...]:
        """The number of pending tasks over time, one row per change; the first row is at time 0.

        >>> depth = AsyncPipeline(enqueue=2, compute=3, fetch=2, tasks=2).queue_depth()
        >>> [tuple(row) for row in depth]
        [(0.0, 0), (2.0, 1), (4.0, 2), (5.0, 1), (8.0, 0)]
        """
        spans = self.schedule().spans
        steps = kernels.queue_steps(
            [span.end_s for span in spans if span.role == "host"],
            [span.end_s for span in spans if span.role == "compute"],
        )
        return tuple(Depth(time, int(count)) for time, count in steps)
