"""Pipeline parallelism: a network cut into stages, a batch cut into microbatches, and the bubble that is left.

A device holds one stage, or several *chunks* of the network in the interleaved schedule: then chunk c of device d is part c·p + d
of the network. A microbatch passes all parts forwards, and then backwards. `forward_s` and `backward_s` are what one microbatch
takes on one whole device, all its chunks together.

These models ignore the time to send activations between devices, the optimizer, and recomputation. The closed forms also take all
stages to be equal, and a real network is not: its embedding and its output layer weigh on the first and the last stage.

Source: Huang et al. 2019, "GPipe", arXiv:1811.06965; Narayanan et al. 2021, "Efficient large-scale language model training on GPU
clusters using Megatron-LM", arXiv:2104.04473, section 2.2, for 1F1B and for the interleaved schedule.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Literal, NamedTuple, get_args

from perfmodel.streams import Task
from perfmodel.units import at_least, finite, is_whole, listed, not_negative, positive, shown

ScheduleName = Literal["gpipe", "gpipe in order", "1f1b"]
SCHEDULES: tuple[ScheduleName, ...] = get_args(ScheduleName)


class Pass(NamedTuple):
    """One pass of one microbatch through one part of the network: on the device that holds it, forwards or backwards."""

    forward: bool
    microbatch: int
    part: int


def _check(stages: int, microbatches: int, chunks: int) -> None:
    at_least("stages", stages, 1)
    at_least("microbatches", microbatches, 1)
    at_least("chunks", chunks, 1)
    if chunks > 1 and microbatches % stages:
        raise ValueError(f"microbatches must be a multiple of stages = {stages} when interleaved, got {microbatches}")


def bubble_fraction(*, stages: int, microbatches: int, chunks: float = 1) -> float:
    """The part of the time in which a device waits: (p−1)/(v·m + p−1), the same for GPipe and 1F1B with v = 1.

    `chunks` may be a fraction, where devices hold different numbers of layers. Raises ValueError for `stages` or `microbatches`
    below 1, and `chunks` of 0 or less.

    >>> bubble_fraction(stages=4, microbatches=8) == 3 / 11
    True

    Source: Huang et al. 2019, section 2.3; Narayanan et al. 2021, section 2.2, gives (p−1)/(v·m), as a part of the time without bubble.
    """
    at_least("stages", stages, 1)
    at_least("microbatches", microbatches, 1)
    return (stages - 1) / (positive("chunks", chunks) * microbatches + (stages - 1))


def pipeline_s(*, stages: int, microbatches: int, forward_s: float, backward_s: float, chunks: int = 1) -> float:
    """Seconds for one batch: (m + (p−1)/v)·(f + b), the same for GPipe and 1F1B with v = 1.

    Raises ValueError for `stages`, `microbatches` or `chunks` below 1, for chunks above 1 when the microbatches are no multiple of
    the stages, and for times that are negative or not finite, the whole time too.

    >>> pipeline_s(stages=4, microbatches=8, forward_s=1, backward_s=2)  # 11 · 3
    33.0
    >>> pipeline_s(stages=4, microbatches=8, forward_s=1, backward_s=2, chunks=2)  # 9.5 · 3
    28.5

    Source: Huang et al. 2019; Narayanan et al. 2021, section 2.2.
    """
    _check(stages, microbatches, chunks)
    not_negative("forward_s", forward_s)
    not_negative("backward_s", backward_s)
    return finite("pipeline_s", (microbatches + (stages - 1) / chunks) * (forward_s + backward_s))


def order(schedule: ScheduleName, *, stages: int, microbatches: int, device: int, chunks: int = 1) -> list[Pass]:
    """What one device does, in order. Microbatches, parts and devices count from 0.

    GPipe runs all microbatches forwards, and then all backwards, the last one first; "in order" the first one first. 1F1B runs as
    many forwards as are needed to keep all later devices busy, then one forwards and one backwards in turn, then the remaining
    backwards. Interleaved (`chunks` above 1) it takes the microbatches in groups of p through each of its chunks.

    Raises ValueError for an unknown schedule, a device that does not exist, chunks with GPipe, and as `pipeline_s` does.

    >>> [("F" if each.forward else "B") + str(each.microbatch) for each in order("1f1b", stages=2, microbatches=3, device=0)]
    ['F0', 'F1', 'B0', 'F2', 'B1', 'B2']

    Source: Huang et al. 2019, figure 2; Narayanan et al. 2021, figures 3 and 4.
    """
    _check(stages, microbatches, chunks)
    if schedule not in SCHEDULES:
        raise ValueError(f"a schedule must be one of {', '.join(SCHEDULES)}, got {schedule!r}")
    if schedule != "1f1b" and chunks > 1:
        raise ValueError(f"chunks must be 1 with {schedule}, got {chunks}")
    if not is_whole(device) or not 0 <= device < stages:
        raise ValueError(f"device must be 0 to {stages - 1}, got {shown(device)}")
    group = stages if chunks > 1 else microbatches
    turns = range(chunks * microbatches)
    # Turn t: chunk after chunk for one group of microbatches, then for the next group; backwards, the last chunk comes first.
    up = [Pass(True, t // (chunks * group) * group + t % group, t // group % chunks * stages + device) for t in turns]
    down = [Pass(False, each.microbatch, (chunks - 1) * stages + 2 * device - each.part) for each in up]
    if schedule == "gpipe":
        return up + down[::-1]
    if schedule == "gpipe in order":
        return up + down
    behind = stages - 1 - device
    lead = min(2 * behind + (chunks - 1) * stages if chunks > 1 else behind, len(up))
    pairs = [each for pair in zip(up[lead:], down[: len(down) - lead], strict=True) for each in pair]
    return up[:lead] + pairs + down[len(down) - lead :]


def in_flight(schedule: ScheduleName, *, stages: int, microbatches: int, device: int, chunks: int = 1) -> float:
    """The most microbatches whose activations a device holds at once, each chunk counting 1/v. Raises as `order` does.

    GPipe holds all m; 1F1B at most p − device; interleaved, the first device holds p·(1 + (p−1)/(p·v)) from
    m = 2p on, and all m when m = p.

    >>> in_flight("gpipe", stages=4, microbatches=8, device=0), in_flight("1f1b", stages=4, microbatches=8, device=0)
    (8.0, 4.0)

    Source: Narayanan et al. 2021, section 2.2; Korthikanti et al. 2022, section 4.2.3 for the interleaved one.
    """
    held = most = 0
    for each in order(schedule, stages=stages, microbatches=microbatches, device=device, chunks=chunks):
        held += 1 if each.forward else -1
        most = max(most, held)
    return most / chunks


def stage_lanes(stages: int) -> tuple[str, ...]:
    """The lanes of `pipeline_tasks` in drawing order. Raises ValueError for `stages` below 1.

    >>> stage_lanes(2)
    ('device 0', 'device 1')
    """
    return tuple(f"device {device}" for device in range(at_least("stages", stages, 1)))


def pipeline_tasks(
    schedule: ScheduleName,
    *,
    stages: int,
    microbatches: int,
    forward_s: float,
    backward_s: float,
    chunks: int = 1,
    weights: Sequence[float] | None = None,
) -> list[Task]:
    """The passes of one batch, for `streams.run` on `stage_lanes`: the total is `pipeline_s`, when all stages are equal.

    A pass waits for the one before it of the same microbatch, on whatever device that was. `weights` makes stages unequal: one
    factor for each device, on both of its times. O(stages · microbatches · chunks).

    Raises ValueError for as many weights as there are no devices, for one of 0 or below, and as `order` and `pipeline_s` do.

    >>> [task.name for task in pipeline_tasks("1f1b", stages=2, microbatches=1, forward_s=1, backward_s=2)]
    ['F1', 'F1', 'B1', 'B1']
    """
    pipeline_s(stages=stages, microbatches=microbatches, forward_s=forward_s, backward_s=backward_s, chunks=chunks)
    factors = [1.0] * stages if weights is None else [positive("a weight", weight) for weight in listed("weights", weights)]
    if len(factors) != stages:
        raise ValueError(f"weights must be one for each of {stages} stages, got {len(factors)}")
    lanes = stage_lanes(stages)
    parts = stages * chunks
    todo = [
        deque(order(schedule, stages=stages, microbatches=microbatches, device=device, chunks=chunks)) for device in range(stages)
    ]
    done: dict[tuple[int, int], int] = {}  # (microbatch, how far it has come: 0 to 2·parts − 1) -> task
    tasks: list[Task] = []
    # A task may only wait for earlier ones, so each device issues what it can, and its neighbours look again when it has.
    look = deque(range(stages))
    while look:
        device = look.popleft()
        issued = False
        while todo[device]:
            each = todo[device][0]
            at = each.part if each.forward else 2 * parts - 1 - each.part
            before = done.get((each.microbatch, at - 1))
            if at and before is None:
                break
            done[each.microbatch, at] = len(tasks)
            tasks.append(
                Task(
                    name=f"{'F' if each.forward else 'B'}{each.microbatch + 1}",
                    streams=(lanes[device],),
                    duration_s=(forward_s if each.forward else backward_s) / chunks * factors[device],
                    waits=() if before is None else (before,),
                )
            )
            todo[device].popleft()
            issued = True
        if issued and stages > 1:
            look += ((device + 1) % stages, (device - 1) % stages)
    if any(todo):
        raise ValueError(f"the passes of {schedule} wait for each other")
    return tasks
