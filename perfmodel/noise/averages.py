"""Is the average over shards the gradient of the whole batch? For equal shards yes, up to rounding; else only with weights.

A shard's gradient is that of its own mean loss, as in DistributedDataParallel, which then averages over processes.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from perfmodel.noise.network import Floats, Labels, Network, batch_norm_gradient, sample_gradients

PARTS = {"equal": (32, 32, 32, 32), "uneven": (56, 40, 24, 8)}
"""How a batch of 128 samples is divided: as DistributedSampler does, and unequally."""


def _apart(one: Floats, other: Floats) -> float:
    """The length of the difference, relative to `one`."""
    return float(np.linalg.norm(other - one) / np.linalg.norm(one))


def _shards(parts: Sequence[int]) -> list[slice]:
    ends = np.cumsum(parts).tolist()
    return [slice(end - size, end) for size, end in zip(parts, ends, strict=True)]


def averages(net: Network, x: Floats, y: Labels) -> dict[str, float]:
    """How far the combined gradient of the shards lies from that of the whole batch, relative to it, in four cases.

    `equal`: the plain average over equal shards. `uneven`: the same over uneven ones. `weighted`: uneven ones, each weighted by its
    part of the batch. `normed`: equal ones, in a network with batch normalization. Raises ValueError unless the batch has as many
    samples as the parts together.
    """
    if any(sum(parts) != len(x) for parts in PARTS.values()):
        raise ValueError(f"the batch must have {sum(PARTS['equal'])} samples, got {len(x)}")
    whole = sample_gradients(net, x, y).mean(axis=0)
    normed_whole = batch_norm_gradient(net, x, y)
    equal, uneven = (
        np.stack([sample_gradients(net, x[s], y[s]).mean(axis=0) for s in _shards(PARTS[name])]) for name in ("equal", "uneven")
    )
    normed = np.stack([batch_norm_gradient(net, x[s], y[s]) for s in _shards(PARTS["equal"])])
    weights = np.array(PARTS["uneven"]) / len(x)
    return {
        "equal": _apart(whole, equal.mean(axis=0)),
        "uneven": _apart(whole, uneven.mean(axis=0)),
        "weighted": _apart(whole, weights @ uneven),
        "normed": _apart(normed_whole, normed.mean(axis=0)),
    }
