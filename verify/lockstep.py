"""`make lockstep`: k replicas against one, over every transport that this machine has, and every mutant, caught.

A line a row: how, k, dtype, the largest relative L2 distance at any recorded step, in units in the last place, the gate, the
largest spread between the replicas.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import torch

from perfmodel.lockstep import (
    BATCH,
    FAULTS,
    LIMIT_ELSEWHERE,
    LIMITS,
    LOCKSTEP,
    Run,
    compare,
    faults,
    image_batch,
    lenet,
    train,
    why_not,
    xor_batch,
)
from perfmodel.lockstep.job import Job, Training
from perfmodel.lockstep.processes import PATIENCE_S, RunError, collect, launch, run
from verify import hosts

REPLICAS = (2, 3, 4, 8, 16)  # of 13 samples: uneven, and empty for the last three of 16
RANKS = (2, 4)
SHORT = 60  # steps, for mutants
LENET_LIMIT = 2e-14  # of the distance relative to the update
ON_GPUS = {**LIMITS, torch.float64: LIMIT_ELSEWHERE}  # another device rounds its sums in another order
NAMES = {torch.float64: "float64", torch.float32: "float32"}


class Row(NamedTuple):
    """One run against one replica; `reasons` is empty when they are in lockstep."""

    transport: str
    k: int
    dtype: str
    l2: float
    ulps: int
    spread: int
    limit: float
    seconds: float
    reasons: tuple[str, ...]


def row(transport: str, made: Run, reference: Run, seconds: float, limits: Mapping[torch.dtype, float] = LIMITS) -> Row:
    """Hold a run against one replica."""
    apart, limit = compare(made, reference), limits[made.dtype]
    return Row(
        transport, made.k, NAMES[made.dtype], max(apart.l2), max(apart.ulps), max(made.spreads), limit, seconds,
        why_not(made, reference, made.dtype, limit=limit),
    )  # fmt: skip


def in_process(one: dict[torch.dtype, Run]) -> Iterator[Row]:
    """Replicas in this process, in both precisions."""
    for dtype, reference in one.items():
        for k in REPLICAS:
            begin = time.monotonic()
            yield row("in process", train(k, dtype=dtype), reference, time.monotonic() - begin)


def lenets() -> Iterator[Row]:
    """LeNet on synthetic images: its parameters hardly move, so the distance is that relative to the update."""
    one = train(1, SHORT, lr=0.05, model=lenet(), batch=image_batch(), every=20)
    for k in (2, 4):
        begin = time.monotonic()
        made = train(k, SHORT, lr=0.05, model=lenet(), batch=image_batch(), every=20)
        apart = compare(made, one)
        yield Row(
            "LeNet, in process", k, "float64", max(apart.update), max(apart.ulps), max(made.spreads), LENET_LIMIT, time.monotonic() - begin,
            why_not(made, one, measure="update", limit=LENET_LIMIT),
        )  # fmt: skip


MATRIX = tuple(Training(how=how, dtype=dtype) for how in ("allreduce", "ddp") for dtype in ("float64", "float32"))
FEW = Training(samples=3, steps=SHORT)  # on four ranks: one has no sample
BROKEN = (
    tuple(  # every fault over processes: with all_reduce, and with DDP those that are no fault of the sum, which DDP makes itself
        Training(how=how, fault=name, steps=SHORT, once_at=SHORT - 1)
        for how in ("allreduce", "ddp")
        for name, method in FAULTS.items()
        if how == "allreduce" or (method.begin is LOCKSTEP.begin and method.synchronize is LOCKSTEP.synchronize)
    )
)


class Transport(NamedTuple):
    """What was run over processes: the rows of MATRIX, and the mutants that were not caught."""

    rows: list[Row]
    uncaught: list[str]


def over_ranks(
    ranks: int, *, mutants: bool = False, device: str = "cpu", backend: str = "gloo", reference: str = "cpu", patience_s: float = PATIENCE_S
) -> Transport:  # fmt: skip
    """A process per replica on this machine, with all_reduce and with DistributedDataParallel, in both precisions.

    The one replica that they are held against is trained on the device `reference`.
    """
    trainings = (*MATRIX, FEW, *(BROKEN if mutants else ()))
    begin = time.monotonic()
    made = run(ranks, Job(trainings=trainings, device=device, backend=backend), patience_s=patience_s)
    limits = LIMITS if device == "cpu" else ON_GPUS
    return judged(backend, trainings, made, time.monotonic() - begin, limits=limits, reference=reference)


def across_hosts() -> Transport:
    """Two hosts of one rank each. Raises hosts.NotPermittedError where there can be none."""
    job = Job(trainings=MATRIX)
    begin = time.monotonic()
    with hosts.two() as pair, tempfile.TemporaryDirectory() as folder:
        folders = [Path(folder) / host.interface for host in pair]

        def start(index: int) -> str:
            folders[index].mkdir()
            options = (
                "--nnodes=2", "--rdzv-backend=c10d", f"--rdzv-endpoint={pair[0].address}:29400", "--rdzv-id=lockstep",
                f"--local-addr={pair[index].address}", f"--rdzv-conf=is_host={int(index == 0)}",
            )  # fmt: skip
            environment = {"GLOO_SOCKET_IFNAME": pair[index].interface}
            return launch(1, job, folders[index], options=options, environment=environment, prefix=pair[index].prefix).reason

        with ThreadPoolExecutor(2) as pool:
            reasons = [reason for reason in pool.map(start, range(2)) if reason]
        if reasons:
            raise RunError(reasons[0])
        return judged("two hosts", MATRIX, collect(2, job, folders), time.monotonic() - begin)


def judged(
    transport: str, trainings: Sequence[Training], made: Sequence[Run], seconds: float, *,
    limits: Mapping[torch.dtype, float] = LIMITS, reference: str = "cpu",
) -> Transport:  # fmt: skip
    """Hold what was made over processes against one replica in this process, on the device `reference`."""
    references: dict[tuple[str, int, int], Run] = {}
    rows, uncaught = [], []
    for training, each in zip(trainings, made, strict=True):
        key = (training.dtype, training.steps, training.samples)
        if key not in references:
            batch = tuple(part[: training.samples] for part in xor_batch())
            references[key] = train(1, training.steps, each.dtype, batch=(batch[0], batch[1]), devices=(reference,))
        if training.fault:
            if not why_not(each, references[key], each.dtype, limit=limits[each.dtype]):
                uncaught.append(f"{training.fault}, {training.how}, {each.k} ranks")
            continue
        name = "all_reduce" if training.how == "allreduce" else "DDP"
        few = f", {training.samples} samples" if training.samples < BATCH else ""
        rows.append(row(f"{transport}, {name}{few}", each, references[key], seconds, limits))
    return Transport(rows, uncaught)


def uncaught() -> list[str]:
    """The mutants that the gate lets pass, in process with two and four replicas: none, or the gate is worth nothing."""
    one = train(1, SHORT)
    return [
        f"{name}, k = {k}"
        for name, method in faults(SHORT - 1).items()
        for k in RANKS
        if not why_not(train(k, SHORT, method=method), one)
    ]


def show(rows: Sequence[Row]) -> int:
    """Print rows; returns how many are not in lockstep."""
    for r in rows:
        verdict = "lockstep" if not r.reasons else f"NOT IN LOCKSTEP: {'; '.join(r.reasons)}"
        print(
            f"{r.transport:<32} k = {r.k:<3} {r.dtype}  L2 {r.l2:8.2e} ≤ {r.limit:.0e}  {r.ulps:>7} ulps  spread {r.spread}  {r.seconds:5.1f} s  {verdict}",
            flush=True,
        )
    return sum(bool(r.reasons) for r in rows)


def main() -> int:
    """The whole table. The status is 1 when a run is not in lockstep or a mutant is not caught."""
    os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"  # before CUDA starts: else its products are not the same twice
    begin = time.monotonic()
    one = {dtype: train(1, dtype=dtype) for dtype in LIMITS}
    wrong, lost = show(list(in_process(one))) + show(list(lenets())), uncaught()
    for ranks in RANKS:
        made = over_ranks(ranks, mutants=ranks == RANKS[0])
        wrong, lost = wrong + show(made.rows), lost + made.uncaught
    try:
        wrong += show(across_hosts().rows)
    except hosts.NotPermittedError as reason:
        print(f"{'two hosts':<32} NOT RUN: {reason}")
    gpus = torch.cuda.device_count()
    if gpus > 1:
        wrong += show(over_ranks(gpus, device="cuda", backend="nccl", reference="cuda:0").rows)
    else:
        print(f"{'nccl, a rank per GPU':<32} NOT RUN: needs two GPUs or more, this machine has {gpus}")
    for name in FAULTS:
        survivors = [each for each in lost if each.startswith(f"{name},")]
        print(f"{'NOT CAUGHT' if survivors else 'caught':<10} {name}{': ' + '; '.join(survivors) if survivors else ''}")
    print(f"{wrong} not in lockstep, {len(lost)} not caught, in {time.monotonic() - begin:.0f} s")
    return int(bool(wrong or lost))


if __name__ == "__main__":
    sys.exit(main())
