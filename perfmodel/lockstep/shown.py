"""What the pages show of lockstep, as plain lists and numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from perfmodel.lockstep.compare import LIMITS, compare, part_in_ten_to
from perfmodel.lockstep.faults import ONCE_AT, SHOWN, faults
from perfmodel.lockstep.networks import xor_batch
from perfmodel.lockstep.runs import LR, STEPS, train
from perfmodel.lockstep.step import split_batch

TABLE = (2, 3, 4, 8)


def record(replicas: Sequence[int] = (2, 4), steps: int = STEPS) -> dict[str, Any]:
    """What a page shows of lockstep, as plain lists and numbers: one replica, several, and the same with each fault of `SHOWN`.

    Lists follow `steps`. Keys that name a number of replicas are text, as JSON has them.
    """
    one = train(1, steps)
    runs = {k: train(k, steps) for k in replicas}
    apart = {k: compare(run, one) for k, run in runs.items()}
    once_at = min(ONCE_AT, steps - 1)
    mutants = {name: {k: train(k, steps, method=method) for k in replicas} for name, method in faults(once_at).items()}
    X, y = xor_batch()
    return {
        "dtype": "float64", "batch": len(X), "parameters": len(one.parameters[0]), "lr": LR, "steps": list(one.steps), "forgotten_at": once_at,
        "shards": {str(k): [len(shard) for shard, _ in split_batch(X, y, k)] for k in replicas},
        "loss": {str(k): list(run.losses) for k, run in ((1, one), *runs.items())},
        "l2": {str(k): list(d.l2) for k, d in apart.items()},
        "l2_end": {str(k): d.l2[-1] for k, d in apart.items()},
        "l2_worst": {str(k): max(d.l2) for k, d in apart.items()},
        "part_in_ten_to": {str(k): part_in_ten_to(max(d.l2)) for k, d in apart.items()},
        "elementwise_worst": {str(k): max(d.elementwise) for k, d in apart.items()},
        "spread": {str(k): list(run.spreads) for k, run in runs.items()},
        "faults": {
            name: {
                str(k): {
                    "loss": list(run.losses), "l2": list(compare(run, one).l2), "l2_end": compare(run, one).l2[-1],
                    "spread": list(run.spreads),
                }
                for k, run in broken.items()
            }
            for name, broken in ((name, mutants[name]) for name in SHOWN)
        },
        "table": {str(dtype).removeprefix("torch."): {str(k): row(k, dtype, steps) for k in TABLE} for dtype in LIMITS},
        "mutants": {
            name: {str(k): {"l2": compare(run, one).l2[-1], "spread": max(run.spreads)} for k, run in broken.items()}
            for name, broken in mutants.items()
        },
    }  # fmt: skip


def row(k: int, dtype: torch.dtype, steps: int) -> dict[str, float]:
    """k replicas against one in a dtype: the largest distances at any recorded step, and the largest spread."""
    run, reference = train(k, steps, dtype), train(1, steps, dtype)
    apart = compare(run, reference)
    return {"l2": max(apart.l2), "elementwise": max(apart.elementwise), "ulps": max(apart.ulps), "spread": max(run.spreads)}
