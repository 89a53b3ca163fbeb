"""When to scale out, and to what: the memory of a job against the card, its time against the deadline, its data against the machine.

Three questions, each a division and a comparison; `advise` puts the answers together. They say what is needed at least, and know
nothing of what it costs to build, debug and keep running.

Source: hand calculation; Dive into Deep Learning 13.5 for the ways to split.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from perfmodel.units import at_least, not_negative, positive

Advice = Literal["stay on one GPU", "save activations", "split the model", "data parallelism", "shard the data"]
MOST_GPUS = MOST_MACHINES = 1_000_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Job:
    """What a training needs. `state_bytes` and `activations_bytes` are those of one GPU that holds the whole model, `one_gpu_s` is
    the time it would take there, `data_bytes` the whole data set.

    Raises ValueError for bytes that are negative or not finite, and for a time or a deadline of 0 or below.
    """

    state_bytes: float
    activations_bytes: float
    one_gpu_s: float
    deadline_s: float
    data_bytes: float

    def __post_init__(self) -> None:
        not_negative("state_bytes", self.state_bytes)
        not_negative("activations_bytes", self.activations_bytes)
        positive("one_gpu_s", self.one_gpu_s)
        positive("deadline_s", self.deadline_s)
        not_negative("data_bytes", self.data_bytes)


@dataclass(frozen=True, kw_only=True, slots=True)
class Machine:
    """What there is: the memory of one card, and the storage of one machine. Raises ValueError for bytes of 0 or below."""

    card_bytes: float
    storage_bytes: float

    def __post_init__(self) -> None:
        positive("card_bytes", self.card_bytes)
        positive("storage_bytes", self.storage_bytes)


def fits_card(job: Job, machine: Machine) -> bool:
    """Whether state and activations fit on one card: state + activations ≤ card.

    Smaller batches, recomputing activations and leaner optimizers come before a split; then ask again with what is left.

    >>> job = Job(state_bytes=24e9, activations_bytes=60e9, one_gpu_s=1, deadline_s=1, data_bytes=0)
    >>> fits_card(job, Machine(card_bytes=32e9, storage_bytes=1e12))
    False

    Source: hand calculation.
    """
    return job.state_bytes + job.activations_bytes <= machine.card_bytes


def gpus_to_hold(job: Job, machine: Machine) -> int:
    """Over how many GPUs one copy of the model must be split, in even parts: (state + activations)/card, rounded up; 1 when it fits.

    Raises ValueError where it would take more than a million.

    >>> job = Job(state_bytes=112e9, activations_bytes=16e9, one_gpu_s=1, deadline_s=1, data_bytes=0)
    >>> gpus_to_hold(job, Machine(card_bytes=32e9, storage_bytes=1e12))
    4

    Source: hand calculation; a split between or across layers divides both.
    """
    rule = f"a model must be in reach of {MOST_GPUS} GPUs, got one that needs"
    return _parts(job.state_bytes + job.activations_bytes, machine.card_bytes, MOST_GPUS, rule)


def gpus_for_deadline(*, one_gpu_s: float, deadline_s: float, efficiency: float = 1.0, replica_gpus: int = 1) -> int:
    """How many GPUs bring a training within its deadline: the least k with one_gpu/(k·e) ≤ deadline, e each one's share of its speed.

    Where a copy of the model is split over `replica_gpus`, k is a multiple of it, and `one_gpu_s` the time of one that could hold it.

    With several GPUs each does `efficiency` of what one alone would do; a single one loses nothing. The efficiency of the example
    is an input, not a result: measure it, it falls as k grows. Raises ValueError for a time, a deadline or an efficiency of 0 or
    below, for an efficiency above 1, and where it would take more than a million.

    >>> gpus_for_deadline(one_gpu_s=10, deadline_s=2), gpus_for_deadline(one_gpu_s=10, deadline_s=2, efficiency=0.9)
    (5, 6)
    >>> gpus_for_deadline(one_gpu_s=10, deadline_s=2, efficiency=0.9, replica_gpus=4)
    8

    Source: hand calculation.
    """
    positive("one_gpu_s", one_gpu_s)
    positive("deadline_s", deadline_s)
    if positive("efficiency", efficiency) > 1:
        raise ValueError(f"efficiency must be at most 1, got {efficiency!r}")
    at_least("replica_gpus", replica_gpus, 1)
    if one_gpu_s <= deadline_s:
        return replica_gpus
    needed = one_gpu_s / deadline_s / efficiency
    if needed > MOST_GPUS:
        raise ValueError(f"a deadline must be in reach of {MOST_GPUS} GPUs, got one that needs {needed:.3g}")
    return replica_gpus * math.ceil(max(2, _up(needed)) / replica_gpus)


def machines_for_data(job: Job, machine: Machine) -> int:
    """Over how many machines the data must be spread: data/storage, rounded up; 1 when it fits.

    Raises ValueError where it would take more than a million.

    >>> job = Job(state_bytes=1, activations_bytes=0, one_gpu_s=1, deadline_s=1, data_bytes=10e12)
    >>> machines_for_data(job, Machine(card_bytes=32e9, storage_bytes=4e12))
    3

    Source: hand calculation.
    """
    rule = f"data_bytes must be in reach of {MOST_MACHINES} machines, got data that need"
    return _parts(job.data_bytes, machine.storage_bytes, MOST_MACHINES, rule)


def _parts(whole: float, part: float, most: int, rule: str) -> int:
    if whole <= part:
        return 1
    if (needed := whole / part) > most:
        raise ValueError(f"{rule} {needed:.3g}")
    return max(2, _up(needed))


def _up(quotient: float) -> int:
    return math.ceil(quotient - 1e-9)  # a quotient of floats that is a whole number, but for its last bits, is one


def advise(job: Job, machine: Machine) -> tuple[Advice, ...]:
    """What the job calls for, the most urgent first; ("stay on one GPU",) when it calls for nothing.

    A model whose state does not fit must be split, whatever the deadline, and counts in whole copies from then on (`gpus_to_hold`).
    Where the state fits and the activations do not, smaller batches or recomputing save them, and may be enough: ask again with what
    is left. What trains too slowly gets more GPUs. Data that one machine cannot hold is sharded over several.

    >>> small = Job(state_bytes=3e6, activations_bytes=1e6, one_gpu_s=60, deadline_s=3600, data_bytes=47e6)
    >>> advise(small, Machine(card_bytes=32e9, storage_bytes=4e12))
    ('stay on one GPU',)

    Source: the three comparisons above.
    """
    found: list[Advice] = []
    if job.state_bytes > machine.card_bytes:
        found.append("split the model")
    elif not fits_card(job, machine):
        found.append("save activations")
    if job.one_gpu_s > job.deadline_s:
        found.append("data parallelism")
    if job.data_bytes > machine.storage_bytes:
        found.append("shard the data")
    return tuple(found) or ("stay on one GPU",)
