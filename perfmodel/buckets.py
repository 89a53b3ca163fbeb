"""A step of data-parallel training: gradients collected in buckets, each sent as soon as it is full, while the backward pass goes on.

The backward pass reaches the parameters in the reverse of the order in which the network registers them. Its time is spread over
them by `work`, whatever unit that has: FLOP, as a rule. Buckets are sent one after the other, in the order in which they fill up.
The optimizer waits for the last one.

Left out: launches, copies into the bucket, the time from one collective to the next, and gradients that a step does not produce.

Source: Li et al. 2020, "PyTorch Distributed: experiences on accelerating data parallel training", arXiv:2006.15704; PyTorch's reducer.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from perfmodel.sources import Source
from perfmodel.streams import Task
from perfmodel.units import MIB, finite, is_finite, is_whole, listed, not_negative, positive, shown

CONTENTION = Source(
    title="nccl-network-benchmark, phase 8: communication / compute resource contention",
    authors="kopernik278",
    url="https://github.com/kopernik278/nccl-network-benchmark/blob/main/docs/experiments/p8-contention.md",
    place="section 4, four A40 over shared memory (2026)",
)

FIRST_CAP_BYTES = 1 * MIB
"""What PyTorch closes the first bucket at, unless the caller sets a cap: then that holds for the first one too."""
CAP_BYTES = 25 * MIB
"""PyTorch's cap for all other buckets."""
STEP_LANES = ("GPU", "network")


class Overlap(NamedTuple):
    """When the backward pass ends, and when the last bucket has been summed; both from the start of the backward pass."""

    backward_end_s: float
    exchange_end_s: float


def bucket_layout(
    sizes_bytes: Sequence[float], *, cap_bytes: float | None = None, first_cap_bytes: float | None = None
) -> list[list[int]]:
    """Which gradients share a bucket, as PyTorch lays them out: indices in the order of registration, the first bucket to go first.

    Parameters are taken in reverse. A bucket is closed once it holds its cap or more, so it may be larger than its cap, by up to
    the last parameter that went in; what is left makes the last bucket. With both caps left out they are PyTorch's: 1 MiB for
    the first bucket, 25 MiB for the others. With `cap_bytes` alone it holds for the first one too, also where it is 25 MiB.

    It takes all parameters to be of one type on one device, dense, and used in the reverse order: PyTorch sees in the first step
    in what order gradients come, and lays out anew by that. Raises ValueError for sizes below 0 and caps of 0 or below.

    >>> bucket_layout([30 * MIB, 10 * MIB, 2 * MIB])
    [[2], [1, 0]]
    >>> bucket_layout([30 * MIB, 10 * MIB, 2 * MIB], cap_bytes=8 * MIB)
    [[2, 1], [0]]

    Source: PyTorch, `compute_bucket_assignment_by_size` in reducer.cpp, which the tests call; Li et al. 2020, section 3.2.3.
    """
    if first_cap_bytes is None:
        first_cap_bytes = FIRST_CAP_BYTES if cap_bytes is None else cap_bytes
    cap = positive("cap_bytes", CAP_BYTES if cap_bytes is None else cap_bytes)
    first_cap = positive("first_cap_bytes", first_cap_bytes)
    buckets: list[list[int]] = []
    held = math.inf  # before there is a bucket
    for index in reversed(range(len(sizes_bytes))):
        if held >= (first_cap if len(buckets) <= 1 else cap):
            buckets.append([])
            held = 0.0
        buckets[-1].append(index)
        held += not_negative("a size", sizes_bytes[index])
    return buckets


def ready_s(layout: Sequence[Sequence[int]], *, work: Sequence[float], backward_s: float) -> list[float]:
    """When each bucket of `layout` is full, from the start of the backward pass: b times the share of `work` done by then.

    A bucket fills up when the backward pass has been through all of its parameters and all of those of the buckets before.
    Raises ValueError for work that is negative, or none at all, for a time that is negative or not finite, and for an index that is
    no whole number, that `work` does not reach, or that comes twice.

    >>> ready_s([[2], [1, 0]], work=[1, 1, 2], backward_s=8)
    [4.0, 8.0]

    Source: hand calculation.
    """
    not_negative("backward_s", backward_s)
    work = listed("work", work)
    total = positive("the sum of all work", sum(not_negative("work", each) for each in work))
    done = 0.0
    ready = []
    seen: set[int] = set()
    for bucket in listed("layout", layout):
        held = listed("a bucket", bucket)
        for index in held:
            if not is_whole(index) or not 0 <= index < len(work) or index in seen:
                raise ValueError(f"layout must hold each index from 0 to {len(work) - 1} once at most, got {shown(index)}")
            seen.add(index)
        done += sum(work[index] for index in held)
        ready.append(backward_s * min(done / total, 1.0))  # which rounding could put just above
    return ready


def overlap(ready: Sequence[float], *, exchange_s: Sequence[float], backward_s: float, slowdown: float = 1.0) -> Overlap:
    """A backward pass of b seconds beside the exchange of its buckets: bucket j starts when it is full and j−1 has been sent.

    So the exchange ends at the largest, over all buckets, of the time that it is full plus the time to send it and all after it.
    `slowdown` is how much longer the backward pass takes while a bucket is on its way: 1, as if they shared nothing, unless given.
    Measured: 2.0 for many short matrix products and 1.2 to 1.3 for kernels bound by memory, constant as long as the collective
    runs, on one kind of machine.

    Raises ValueError for lists of different lengths, times that are negative or not finite or not in order, a bucket that is full
    after the end, and a slowdown below 1.

    >>> overlap([4.0, 8.0], exchange_s=[3.0, 3.0], backward_s=8.0)
    Overlap(backward_end_s=8.0, exchange_end_s=11.0)
    >>> overlap([4.0, 8.0], exchange_s=[3.0, 3.0], backward_s=8.0, slowdown=2.0)  # from 4 to 7 only 1.5 s worth is done
    Overlap(backward_end_s=9.5, exchange_end_s=12.5)

    Source: hand calculation; for the slowdown kopernik278, nccl-network-benchmark, phase 8, section 4.
    """
    ready, exchange_s = listed("ready", ready), listed("exchange_s", exchange_s)
    if len(ready) != len(exchange_s):
        raise ValueError(f"exchange_s must be one for each of {len(ready)} buckets, got {len(exchange_s)}")
    if not is_finite(slowdown) or slowdown < 1:
        raise ValueError(f"slowdown must be a finite number of at least 1, got {shown(slowdown)}")
    not_negative("backward_s", backward_s)
    now = free = done = 0.0  # the clock of the GPU, when the network is free, and how far the backward pass has come
    for full, sending in zip(ready, exchange_s, strict=True):
        not_negative("a time when a bucket is full", full)
        now = _compute(now, free, not_negative("the time from one bucket to the next", full - done), slowdown)
        free = max(now, free) + not_negative("a time to send a bucket", sending)
        done = full
    now = _compute(now, free, not_negative("the time after the last bucket", backward_s - done), slowdown)
    return Overlap(finite("backward_end_s", now), finite("exchange_end_s", free))


def _compute(now: float, free: float, work_s: float, slowdown: float) -> float:
    """When `work_s` seconds' worth of computing is done, that begins now, beside a network that is busy until `free`."""
    slowed = min(work_s, max(free - now, 0.0) / slowdown)
    return now + slowed * slowdown + (work_s - slowed)


def step_s(
    ready: Sequence[float],
    *,
    exchange_s: Sequence[float],
    forward_s: float,
    backward_s: float,
    update_s: float,
    slowdown: float = 1.0,
) -> float:
    """Seconds for one step: forward + max(backward, end of the last bucket's allreduce) + optimizer. See `overlap`. Raises as it does.

    >>> step_s([4.0, 8.0], exchange_s=[3.0, 3.0], forward_s=4, backward_s=8, update_s=1)
    16.0

    Source: hand calculation, after Li et al. 2020, section 3.2.3.
    """
    found = overlap(ready, exchange_s=exchange_s, backward_s=backward_s, slowdown=slowdown)
    return finite("step_s", not_negative("forward_s", forward_s) + max(found) + not_negative("update_s", update_s))


def step_tasks(
    ready: Sequence[float], *, exchange_s: Sequence[float], forward_s: float, backward_s: float, update_s: float
) -> list[Task]:
    """The step of `step_s`, without a slowdown, for `streams.run` on `STEP_LANES`. Raises as it does.

    >>> [task.name for task in step_tasks([8.0], exchange_s=[3.0], forward_s=4, backward_s=8, update_s=1)]
    ['forward', 'backward to bucket 1', 'allreduce of bucket 1', 'update']
    """
    ready, exchange_s = listed("ready", ready), listed("exchange_s", exchange_s)
    step_s(ready, exchange_s=exchange_s, forward_s=forward_s, backward_s=backward_s, update_s=update_s)
    gpu, network = STEP_LANES
    tasks = [Task(name="forward", streams=(gpu,), duration_s=forward_s)]
    before = 0.0
    sent: tuple[int, ...] = ()
    for number, (full, sending) in enumerate(zip(ready, exchange_s, strict=True), 1):
        tasks.append(Task(name=f"backward to bucket {number}", streams=(gpu,), duration_s=full - before))
        tasks.append(
            Task(
                name=f"allreduce of bucket {number}",
                streams=(network,),
                duration_s=sending,
                waits=(len(tasks) - 1,),
                role="transfer",
            )
        )
        sent = (len(tasks) - 1,)
        before = full
    if backward_s > before:
        tasks.append(Task(name="rest of backward", streams=(gpu,), duration_s=backward_s - before))
    tasks.append(Task(name="update", streams=(gpu,), duration_s=update_s, waits=sent, role="update"))
    return tasks


def step_bounds_s(*, forward_s: float, backward_s: float, exchange_s: float) -> tuple[float, float]:
    """The least and the most that a step can take, wherever its exchange hides: forward + max(backward, exchange), and the sum of all.

    The least is an exchange that runs beside all of the backward pass, the most one that begins when it has ended. It leaves out
    the optimizer. The parameter servers of `collectives.parameter_server_s` are such an exchange too, and so is any allreduce.
    Raises ValueError for times that are negative or not finite, their sum too.

    >>> step_bounds_s(forward_s=1, backward_s=2, exchange_s=3)
    (4, 6)

    Source: hand calculation.
    """
    not_negative("forward_s", forward_s)
    not_negative("backward_s", backward_s)
    not_negative("exchange_s", exchange_s)
    most_s = finite("the sum of all three times", forward_s + backward_s + exchange_s)
    return forward_s + max(backward_s, exchange_s), most_s
