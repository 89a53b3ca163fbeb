"""Bigger batches: k GPUs make the batch k times as large, and the learning rate is scaled and warmed up with it.

The linear rule is a heuristic and no law, the more so with an optimizer that rescales gradients itself, such as Adam.

Source: Goyal et al. 2017, "Accurate, large minibatch SGD: training ImageNet in 1 hour", sections 2.1 and 2.2.
"""

from __future__ import annotations

from perfmodel.sources import Source
from perfmodel.units import at_least, finite, not_negative, positive

GOYAL = Source(
    title="Accurate, large minibatch SGD: training ImageNet in 1 hour",
    authors="Priya Goyal, Piotr Dollár, Ross Girshick, Pieter Noordhuis, Lukasz Wesolowski, Aapo Kyrola, Andrew Tulloch, "
    "Yangqing Jia and Kaiming He",
    url="https://arxiv.org/abs/1706.02677",
    place="arXiv:1706.02677 (2017)",
)

SMITH = Source(
    title="Don't decay the learning rate, increase the batch size",
    authors="Samuel L. Smith, Pieter-Jan Kindermans, Chris Ying and Quoc V. Le",
    url="https://arxiv.org/abs/1711.00489",
    place="section 2, arXiv:1711.00489 (2018)",
)


def effective_batch(*, per_gpu_batch: int, gpus: int) -> int:
    """How many samples one step of data-parallel training sees: the batch of each GPU, times the GPUs.

    Raises ValueError for either below 1.

    >>> effective_batch(per_gpu_batch=32, gpus=4)
    128

    Source: Goyal et al. 2017, section 2.1.
    """
    return at_least("per_gpu_batch", per_gpu_batch, 1) * at_least("gpus", gpus, 1)


def linear_rule(*, base_lr: float, base_batch: int, batch: int) -> float:
    """The learning rate for `batch` samples when `base_lr` suits `base_batch`: base_lr·batch/base_batch.

    Raises ValueError for a batch below 1, for a learning rate not above 0, and for one that is not finite.

    >>> linear_rule(base_lr=1e-3, base_batch=32, batch=128)
    0.004

    Source: Goyal et al. 2017, section 2.1: "When the minibatch size is multiplied by k, multiply the learning rate by k."
    """
    at_least("base_batch", base_batch, 1)
    at_least("batch", batch, 1)
    return finite("linear_rule", positive("base_lr", base_lr) * batch / base_batch)


def step_noise(*, lr: float, batch: int, sample_variance: float = 1.0) -> float:
    """How far one step of plain gradient descent scatters, as a variance: lr²·σ²/b, with σ² that of a single sample's gradient.

    Samples are drawn afresh. Four times the batch and four times the rate give four times the scatter in a step, not as much as
    before. Raises ValueError for a batch below 1, for a rate not above 0, for a variance that is negative, and for a scatter not finite.

    >>> step_noise(lr=4e-3, batch=128) / step_noise(lr=1e-3, batch=32)
    4.0

    Source: hand calculation; Smith et al. 2018.
    """
    at_least("batch", batch, 1)
    square = finite("lr * lr", positive("lr", lr) * lr)
    return finite("step_noise", square * not_negative("sample_variance", sample_variance) / batch)


def pass_noise(*, lr: float, batch: int, samples: int, sample_variance: float = 1.0) -> float:
    """The scatter of all steps over `samples` samples, added up: samples/b steps of lr²·σ²/b; a function of lr/b alone.

    So it is the linear rule that leaves it as it was. The gradient is taken as the same in all of them. Raises as `step_noise`
    does, and for `samples` below 1.

    >>> round(pass_noise(lr=4e-3, batch=128, samples=1280) / pass_noise(lr=1e-3, batch=32, samples=1280), 12)
    1.0

    Source: hand calculation; Smith et al. 2018 find the same ratio lr/b in the noise of training.
    """
    each = step_noise(lr=lr, batch=batch, sample_variance=sample_variance)
    return finite("pass_noise", at_least("samples", samples, 1) * each / batch)


def warm_up_lr(*, step: int, steps: int, start_lr: float, peak_lr: float) -> float:
    """The learning rate at `step` (from 0): a straight line from start to peak over the first `steps`, then the peak.

    Gradual warm-up starts at the rate for one GPU and ends at the scaled one. `steps` = 0 is no warm-up. It leaves out the decay
    that usually follows. Raises ValueError for `step` or `steps` below 0, for a rate not above 0, and for a start above the peak.

    >>> [warm_up_lr(step=step, steps=4, start_lr=0.5, peak_lr=2.5) for step in range(6)]
    [0.5, 1.0, 1.5, 2.0, 2.5, 2.5]

    Source: Goyal et al. 2017, section 2.2, gradual warmup.
    """
    at_least("step", step, 0)
    at_least("steps", steps, 0)
    _check_rates(start_lr, peak_lr)
    if step >= steps:
        return peak_lr
    return finite("warm_up_lr", start_lr + (peak_lr - start_lr) * step / steps)


def constant_warm_up_lr(*, step: int, steps: int, start_lr: float, peak_lr: float) -> float:
    """The learning rate at `step` (from 0): the start for the first `steps`, then the peak at once. Raises as `warm_up_lr` does.

    >>> [constant_warm_up_lr(step=step, steps=2, start_lr=0.5, peak_lr=2.5) for step in range(4)]
    [0.5, 0.5, 2.5, 2.5]

    Source: Goyal et al. 2017, section 2.2, constant warmup.
    """
    at_least("step", step, 0)
    at_least("steps", steps, 0)
    _check_rates(start_lr, peak_lr)
    return peak_lr if step >= steps else start_lr


def _check_rates(start_lr: float, peak_lr: float) -> None:
    if positive("start_lr", start_lr) > positive("peak_lr", peak_lr):
        raise ValueError(f"start_lr must be at most peak_lr = {peak_lr!r}, got {start_lr!r}")
