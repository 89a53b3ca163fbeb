"""The figures of act 3: two GPUs, then a GPU and its link. All on one time scale."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from macros.figures.core import Drawn, count, scheduled, total, value
from macros.tables import Table
from macros.timelines import Total
from perfmodel import overlap
from perfmodel.streams import Schedule, Span, run

_UPTO = 32  # of every figure of this act, so that lengths compare
_COPY_LANES = ("GPU", "link")  # short names, so that a phone has room for the bars
_DEVICE_ROLES = {"compute": "a kernel"}
_COPY_ROLES = {"compute": "a kernel", "transfer": "the copy of its result"}


def _number(span: Span, _lane: str) -> str:
    return span.name.partition(" ")[2]


def _drawn(schedules: dict[str, Schedule], totals: list[Total], roles: dict[str, str], title: str, alt: str, caption: str) -> Drawn:
    return scheduled(schedules, title, alt, caption, unit="ticks", upto=_UPTO, label=_number, roles=roles, totals=totals)


def _devices(*, barrier: bool) -> Schedule:
    devices = count("overlap.devices")
    tasks = overlap.devices_tasks(
        kernels=count("overlap.kernels"), kernel_s=value("overlap.kernel"), barrier=barrier, devices=devices
    )
    return run(tasks, overlap.device_lanes(devices))


def _copies(copy: str, *, together: bool) -> Schedule:
    tasks = overlap.copies_tasks(
        kernels=count("overlap.kernels"), kernel_s=value("overlap.kernel"), copy_s=value(copy), overlap=together
    )
    short = dict(zip(overlap.COPY_LANES, _COPY_LANES, strict=True))
    return run([replace(task, streams=tuple(short[lane] for lane in task.streams)) for task in tasks], _COPY_LANES)


def overlap_turns() -> Drawn:
    """A staircase of two: while one GPU computes, the other is all hatching."""
    barrier = value("overlap.barrier")
    return _drawn(
        {"": _devices(barrier=True)},
        [Total("barrier", barrier), total("overlap.turns")],
        _DEVICE_ROLES,
        'The barrier, not the hardware, makes it [= q("20 ticks", overlap.turns) =]',
        'Timeline. GPU 0 runs its [= q("ten", overlap.kernels) =] kernels until the barrier at [= q("10 ticks", overlap.barrier) =], while GPU 1 is idle. '
        'Then GPU 1 runs its own until [= q("20 ticks", overlap.turns) =], while GPU 0 is idle.',
        'Each box is a kernel of [= q("1 tick", overlap.kernel) =]. Hatched: the GPU is idle.',
    )


def overlap_together() -> Drawn:
    """The same boxes, one lane above the other: no hatching, and the picture ends early."""
    return _drawn(
        {"": _devices(barrier=False)},
        [total("overlap.together")],
        _DEVICE_ROLES,
        'Without the barrier the same work takes [= q("10 ticks", overlap.together) =]',
        'Timeline. Both GPUs run their [= q("ten", overlap.kernels) =] kernels at the same time and end at [= q("10 ticks", overlap.together) =]. '
        "Neither is ever idle.",
        "The same lanes and the same time scale as in step 1.",
    )


def overlap_copies() -> Drawn:
    """In the upper pair the lanes alternate; in the lower pair the copies slide under the kernels, one step behind."""
    return _drawn(
        {
            "in turn · ": _copies("overlap.copy", together=False),
            "overlap · ": _copies("overlap.copy", together=True),
        },
        [total("overlap.copies", "overlap"), total("overlap.in_turn", "in turn")],
        _COPY_ROLES,
        'Copy while you compute, and [= q("20 ticks", overlap.in_turn) =] become [= q("11 ticks", overlap.copies) =]',
        "Two timelines of a GPU and its link to the CPU. In turn, each kernel waits for the copy before it, and all ends at "
        '[= q("20 ticks", overlap.in_turn) =]. With overlap, each copy runs beside the next kernel, and all ends at [= q("11 ticks", overlap.copies) =].',
        "Upper lanes: GPU and link wait for each other. Lower lanes: a result is copied while the next is computed. The time scale is that of all figures here.",
    )


def overlap_slow() -> Drawn:
    """Now the lane of the link is the full one, and the GPU is done long before it."""
    return _drawn(
        {"": _copies("overlap.slow_copy", together=True)},
        [total("overlap.slow")],
        _COPY_ROLES,
        'With copies of [= q("3 ticks", overlap.slow_copy) =], the link sets the pace: [= q("31 ticks", overlap.slow) =]',
        'Timeline. The GPU computes all [= q("ten", overlap.kernels) =] results by [= q("10 ticks", overlap.together) =] and then has nothing to do. The link '
        'copies one after the other without a pause, until [= q("31 ticks", overlap.slow) =].',
        "Overlapped as above, on the same time scale, over a link that is slow.",
    )


FIGURES: dict[str, Callable[[], Drawn]] = {
    "overlap-turns": overlap_turns,
    "overlap-together": overlap_together,
    "overlap-copies": overlap_copies,
    "overlap-slow": overlap_slow,
}
TABLES: dict[str, Callable[[], Table]] = {}
