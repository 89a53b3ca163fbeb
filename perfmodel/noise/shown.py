"""What the pages show of both experiments, as plain lists and numbers."""

from __future__ import annotations

from typing import Any

from perfmodel.noise.averages import PARTS, averages
from perfmodel.noise.network import dataset, network, sample_gradients
from perfmodel.noise.variance import BATCHES, DRAWS, LEVEL, RESAMPLES, measure

SEED, COMPARED = 0, (32, 128)


def record(seed: int = SEED) -> dict[str, Any]:
    """Both experiments from one seed. They take about a second."""
    net, (x, y) = network(seed), dataset(seed + 1)
    noise = measure(sample_gradients(net, x, y), seed=seed + 2, compared=COMPARED)
    whole = sum(PARTS["equal"])
    return {
        "seed": seed, "samples": len(x), "parameters": net.parameters, "draws": DRAWS, "resamples": RESAMPLES, "level": LEVEL,
        "batches": list(BATCHES), "single": noise.single, "variances": [list(each) for each in noise.variances],
        "slope": list(noise.slope), "compared": list(COMPARED), "ratio": list(noise.ratio),
        "parts": {name: list(parts) for name, parts in PARTS.items()}, "averages": averages(net, x[:whole], y[:whole]),
    }  # fmt: skip
