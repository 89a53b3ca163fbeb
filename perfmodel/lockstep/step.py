"""One data-parallel step, with its parts as data: split the batch, a gradient on each replica, allreduce, the same update on each.

The gradient of a sum of losses is the sum of the gradients, so in exact arithmetic k replicas that add theirs up take the step
that one replica takes. That holds for models that treat each sample alone. Batch norm mixes the samples of a shard and is refused.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from perfmodel.units import at_least

Shard = tuple[Tensor, Tensor]
Gradients = list[list[Tensor]]  # [replica][parameter]


def split_batch(X: Tensor, y: Tensor, k: int) -> list[Shard]:
    """The batch in `k` parts, in order, every sample in exactly one; the first `len(X) % k` parts hold one sample more.

    The parts are views. With more parts than samples the last ones are empty: their loss and gradient are zero.

    Raises ValueError for k below 1, an empty batch, or labels that do not match the samples one to one.

    >>> [len(X) for X, y in split_batch(torch.zeros(10, 2), torch.zeros(10), 3)]
    [4, 3, 3]
    """
    at_least("k", k, 1)
    if len(X) == 0 or len(X) != len(y):
        raise ValueError(f"a batch must hold at least one sample and as many labels, got {len(X)} and {len(y)}")
    return list(zip(X.tensor_split(k), y.tensor_split(k), strict=True))


def allreduce(tensors: Sequence[Tensor]) -> None:
    """Put the sum of `tensors` into each of them, in place: whoever holds one of them sees the sum.

    They may lie on different devices. The sum is made on the first, in order, and copied back, so that all end bitwise equal.

    Raises ValueError for no tensors, or for shapes or dtypes that differ (adding those would broadcast or round in silence).

    >>> data = [torch.ones(2) * (i + 1) for i in range(2)]
    >>> allreduce(data)
    >>> data
    [tensor([3., 3.]), tensor([3., 3.])]
    """
    if len({(t.shape, t.dtype) for t in tensors}) != 1:
        raise ValueError(f"allreduce needs tensors of one shape and dtype, got {[(tuple(t.shape), t.dtype) for t in tensors]}")
    with torch.no_grad():
        root, *others = tensors
        for other in others:
            root += other.to(root.device)
        for other in others:
            other.copy_(root)


def _copy(first: nn.Module, replica: int) -> nn.Module:
    return copy.deepcopy(first)


def _summed_loss(net: nn.Module, X: Tensor, y: Tensor) -> Tensor:
    return cross_entropy(net(X), y, reduction="sum")


def _allreduce_each(gradients: Gradients, step: int) -> None:
    for tensors in zip(*gradients, strict=True):
        allreduce(tensors)


def _batch_size(batch: int, shard: int, k: int) -> float:
    return batch


def _descend(net: nn.Module, gradients: Sequence[Tensor], rate: float, step: int) -> None:
    for parameter, gradient in zip(net.parameters(), gradients, strict=True):
        parameter.sub_(rate * gradient)


@dataclass(frozen=True, kw_only=True)
class Method:
    """The functions that make up a data-parallel step. The defaults are the right ones; a fault replaces one or two.

    begin(first, replica)               -> the replica to start from: a copy of the first (the initial broadcast)
    split(X, y, k)                      -> the shards
    loss(net, X, y)                     -> the loss of one shard, summed over its samples
    synchronize(gradients, step)           adds up the gradients [replica][parameter] in place
    divide_by(batch, shard, k)          -> what one replica divides the summed gradient by
    update(net, gradients, rate, step)     changes the parameters in place; runs without autograd

    A fault that strikes once does so at step `strikes_at`.
    """

    name: str = "lockstep"
    begin: Callable[[nn.Module, int], nn.Module] = _copy
    split: Callable[[Tensor, Tensor, int], list[Shard]] = split_batch
    loss: Callable[[nn.Module, Tensor, Tensor], Tensor] = _summed_loss
    synchronize: Callable[[Gradients, int], None] = _allreduce_each
    divide_by: Callable[[int, int, int], float] = _batch_size
    update: Callable[[nn.Module, Sequence[Tensor], float, int], None] = _descend
    strikes_at: int | None = None

    def check_strikes(self, steps: int) -> None:
        """Raises ValueError where a fault that strikes once would not: a run without its fault must not pass for one with it."""
        if self.strikes_at is not None and not 0 <= self.strikes_at < steps:
            raise ValueError(f"{self.name!r} must strike at one of the steps 0 to {steps - 1}, got {self.strikes_at}")


LOCKSTEP = Method()


def train_batch(
    X: Tensor, y: Tensor, replicas: Sequence[nn.Module], lr: float, *, method: Method = LOCKSTEP, step: int = 0
) -> float:
    """One step: split the batch, a gradient on each replica, allreduce, the same update on each. Returns the summed loss before it.

    The replicas must hold equal parameters and may lie on different devices. Each sample weighs `lr / len(X)`.

    Raises ValueError when the loss is not finite, or for a parameter that the loss does not depend on.
    """
    k = len(replicas)
    shards, losses = method.split(X, y, k), []
    for net, (shard, labels) in zip(replicas, shards, strict=True):
        device = next(net.parameters()).device
        net.zero_grad(set_to_none=True)
        losses.append(method.loss(net, shard.to(device), labels.to(device)))
    for loss in losses:  # all forwards are queued before the first backward, so that devices run side by side
        loss.backward()  # type: ignore[no-untyped-call] # torch gives it no types
    gradients = [gradients_of(net) for net in replicas]
    total = sum(float(loss.detach()) for loss in losses)
    if not math.isfinite(total):
        raise ValueError(f"the loss must stay finite, got {total} at step {step} with lr = {lr}")
    with torch.no_grad():
        method.synchronize(gradients, step)
        for net, own, (shard, _) in zip(replicas, gradients, shards, strict=True):
            method.update(net, own, lr / method.divide_by(len(X), len(shard), k), step)
    return total


def gradients_of(net: nn.Module) -> list[Tensor]:
    """The gradients of all parameters, in order. Raises ValueError for a parameter that the loss does not depend on."""
    gradients = []
    for name, parameter in net.named_parameters():
        if parameter.grad is None:
            raise ValueError(f"the loss must depend on every parameter, got no gradient for {name!r}")
        gradients.append(parameter.grad)
    return gradients


def check_model(net: nn.Module, X: Tensor) -> None:
    """Raises ValueError unless `net` gives each sample of `X` the output that it gives it among other samples.

    Batch norm in training mode does not, nor does dropout, and then a shard's gradient is no part of the batch's.

    >>> check_model(nn.Sequential(nn.Linear(2, 8), nn.BatchNorm1d(8)), torch.ones(13, 2))
    Traceback (most recent call last):
    ValueError: a model must treat each sample alone, got batch norm in '1' (BatchNorm1d): its statistics are those of a shard
    """
    for name, module in net.named_modules():
        if isinstance(module, nn.modules.batchnorm._BatchNorm) and module.training:
            raise ValueError(
                f"a model must treat each sample alone, got batch norm in {name!r} ({type(module).__name__}): its statistics are those of a shard"
            )
    net, half = copy.deepcopy(net), len(X) // 2  # a copy: a forward may change buffers
    with torch.no_grad():
        together, apart = net(X), torch.cat([net(X[:half]), net(X[half:])])
    if not torch.allclose(together, apart, rtol=1e-4, atol=1e-5, equal_nan=True):
        raise ValueError(
            "a model must treat each sample alone, got one whose output for a sample depends on the others, or on chance"
        )
