"""How far the gradient of a random batch lies from that of all the data, by the size of the batch.

With samples drawn afresh each time, the mean of ‖g_batch − g_all‖² is σ²/b: σ² is the mean of ‖g_sample − g_all‖², known exactly
here, and b the size of the batch. So log variance against log b is a line of slope −1. Nothing of it is fitted: the experiment
draws batches, and asks whether −1 lies within the confidence interval of the slope that they show.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from perfmodel.noise.network import Floats
from perfmodel.units import at_least

BATCHES = (8, 16, 32, 64, 128, 256)
DRAWS, RESAMPLES, LEVEL = 1000, 2000, 0.95


class Interval(NamedTuple):
    """A value, and the two ends of its confidence interval."""

    value: float
    low: float
    high: float


class Noise(NamedTuple):
    """What the batches showed: variance by size, slope, and the variance of a fourfold batch over that of the small one."""

    single: float
    variances: tuple[Interval, ...]
    slope: Interval
    ratio: Interval


def slope(batches: Sequence[int], variances: Floats) -> Floats:
    """The slope of log variance against log batch, by least squares; `variances` has the sizes in its last axis.

    >>> slope((1, 2, 4), np.array([3.0, 1.5, 0.75])).round(12)
    np.float64(-1.0)
    """
    x = np.log(np.asarray(batches, dtype=np.float64))
    x = x - x.mean()
    found: Floats = np.log(variances) @ x / (x @ x)
    return found


def distances(gradients: Floats, *, batch: int, draws: int, random: np.random.Generator) -> Floats:
    """‖g_batch − g_all‖² for `draws` batches, whose samples are drawn one by one from all, so that one may come twice.

    Raises ValueError for a batch or a number of draws below 1.
    """
    at_least("batch", batch, 1)
    at_least("draws", draws, 1)
    samples = len(gradients)
    drawn = random.integers(samples, size=(draws, batch))
    counts = np.stack([np.bincount(each, minlength=samples) for each in drawn])
    apart = counts @ gradients / batch - gradients.mean(axis=0)
    found: Floats = (apart**2).sum(axis=1)
    return found


def _interval(value: float, again: Floats) -> Interval:
    """The percentile interval of a bootstrap."""
    low, high = np.quantile(again, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Interval(float(value), float(low), float(high))


def measure(
    gradients: Floats,
    *,
    seed: int,
    batches: Sequence[int] = BATCHES,
    draws: int = DRAWS,
    resamples: int = RESAMPLES,
    compared: tuple[int, int] = (32, 128),
) -> Noise:
    """Draw batches of each size from the samples whose gradients are given, and say how their noise falls with the size.

    Intervals are those of a bootstrap over the draws: draw as many of them again, with replacement, and take the middle 95 %.
    `compared` are two of the sizes: `ratio` is the variance of the second over that of the first. Raises ValueError for sizes
    that are not among `batches`, and as `distances` does.

    Source: Efron & Tibshirani 1993, An introduction to the bootstrap, chapter 13, for the percentile interval.
    """
    for batch in compared:
        if batch not in batches:
            raise ValueError(f"compared must be two of the sizes {', '.join(map(str, batches))}; got {batch!r}")
    random = np.random.default_rng(seed)
    far = np.stack([distances(gradients, batch=batch, draws=draws, random=random) for batch in batches])
    again = np.stack([each[random.integers(draws, size=(resamples, draws))].mean(axis=1) for each in far], axis=1)
    means = far.mean(axis=1)
    first, second = (list(batches).index(batch) for batch in compared)
    return Noise(
        single=float(((gradients - gradients.mean(axis=0)) ** 2).sum(axis=1).mean()),
        variances=tuple(_interval(means[i], again[:, i]) for i in range(len(batches))),
        slope=_interval(float(slope(batches, means)), slope(batches, again)),
        ratio=_interval(means[second] / means[first], again[:, second] / again[:, first]),
    )
