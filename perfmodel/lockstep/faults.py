"""Ways to get a data-parallel step wrong: each is a method with one or two of its functions replaced, and each must be caught.

They matter from two replicas on. Most leave the loss curve looking as it should.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

import torch
from torch import Tensor, nn
from torch.func import functional_call
from torch.nn.functional import cross_entropy

from perfmodel.lockstep.networks import xor_net
from perfmodel.lockstep.step import LOCKSTEP, Gradients, Method, Shard, allreduce, split_batch

ONCE_AT = 150  # the step at which a fault strikes that strikes once

# What goes wrong with the gradients ---------------------------------------------------------------------------------------------


def forget(*, at: int | None = None) -> Callable[[Gradients, int], None]:
    """A `synchronize` that leaves the last replica's gradient out, at step `at` or (None) at every step. It still gets the sum."""

    def synchronize(gradients: Gradients, step: int) -> None:
        if at is None or step == at:
            for gradient in gradients[-1]:
                gradient.zero_()
        LOCKSTEP.synchronize(gradients, step)

    return synchronize


def rounded(dtype: torch.dtype) -> Callable[[Gradients, int], None]:
    """A `synchronize` that adds up in another dtype, as one does to send fewer bytes."""

    def synchronize(gradients: Gradients, step: int) -> None:
        for tensors in zip(*gradients, strict=True):
            sent = [t.to(dtype) for t in tensors]
            allreduce(sent)
            for tensor, got in zip(tensors, sent, strict=True):
                tensor.copy_(got)

    return synchronize


def _onto_the_root_only(gradients: Gradients, step: int) -> None:
    for root, *others in zip(*gradients, strict=True):
        for other in others:
            root += other


def _root_twice(gradients: Gradients, step: int) -> None:
    for tensors in zip(*gradients, strict=True):
        tensors[0].mul_(2)
        allreduce(tensors)


def _all_but_the_last(gradients: Gradients, step: int) -> None:
    for tensors in list(zip(*gradients, strict=True))[:-1]:
        allreduce(tensors)


# With the parts of the batch ----------------------------------------------------------------------------------------------------


def _without_remainder(X: Tensor, y: Tensor, k: int) -> list[Shard]:
    return split_batch(X[: len(X) // k * k], y[: len(X) // k * k], k)


def _overlapping(X: Tensor, y: Tensor, k: int) -> list[Shard]:
    shards = split_batch(X, y, k)
    size = len(shards[0][0])
    shards[1] = (X[size - 1 : size + len(shards[1][0])], y[size - 1 : size + len(shards[1][0])])
    return shards


def _always_the_first(X: Tensor, y: Tensor, k: int) -> list[Shard]:
    return [split_batch(X, y, k)[0]] * k


def _labels_of_the_first(X: Tensor, y: Tensor, k: int) -> list[Shard]:
    shards = split_batch(X, y, k)
    return [(shard, shards[0][1][: len(shard)]) for shard, _ in shards]


# With the loss, the start and the update ----------------------------------------------------------------------------------------


def mean_loss(net: nn.Module, X: Tensor, y: Tensor) -> Tensor:
    """The loss averaged over the samples of one shard: the mean of such means is the mean only if all shards are equally large."""
    return cross_entropy(net(X), y)


def _forward_in_float32(net: nn.Module, X: Tensor, y: Tensor) -> Tensor:
    single = {name: p.float() for name, p in net.named_parameters()}
    return cross_entropy(functional_call(net, single, (X.float(),)), y, reduction="sum").double()


def _begin_alone(first: nn.Module, replica: int) -> nn.Module:
    return first if replica == 0 else xor_net(init=replica)


def _twice(*, at: int) -> Callable[[nn.Module, Sequence[Tensor], float, int], None]:
    def update(net: nn.Module, gradients: Sequence[Tensor], rate: float, step: int) -> None:
        for _ in range(2 if step == at else 1):
            LOCKSTEP.update(net, gradients, rate, step)

    return update


def _faster(net: nn.Module, gradients: Sequence[Tensor], rate: float, step: int) -> None:
    LOCKSTEP.update(net, gradients, 1.01 * rate, step)


def faults(once_at: int = ONCE_AT) -> Mapping[str, Method]:
    """Every fault by its name, those that strike once at step `once_at`. The network is that of XOR for one of them."""
    methods = (
        Method(name="mean of means", loss=mean_loss, divide_by=lambda batch, shard, k: k),
        Method(name="sum of means", loss=mean_loss, divide_by=lambda batch, shard, k: 1),
        Method(name="one gradient forgotten always", synchronize=forget()),
        Method(name="one gradient forgotten once", synchronize=forget(at=once_at), strikes_at=once_at),
        Method(name="divided by the size of the shard", divide_by=lambda batch, shard, k: shard),
        Method(name="divided by the batch less one", divide_by=lambda batch, shard, k: batch - 1),
        Method(name="no broadcast at the start", begin=_begin_alone),
        Method(name="no broadcast of the sum", synchronize=_onto_the_root_only),
        Method(name="one parameter skipped", synchronize=_all_but_the_last),
        Method(name="allreduce in float32", synchronize=rounded(torch.float32)),
        Method(name="allreduce in bfloat16", synchronize=rounded(torch.bfloat16)),
        Method(name="forward in float32", loss=_forward_in_float32),
        Method(name="remainder dropped", split=_without_remainder),
        Method(name="one sample in two shards", split=_overlapping),
        Method(name="root counted twice", synchronize=_root_twice),
        Method(name="the first shard for everyone", split=_always_the_first),
        Method(name="labels of the first shard", split=_labels_of_the_first),
        Method(name="one step more", update=_twice(at=once_at), strikes_at=once_at),
        Method(name="learning rate 1.01 times", update=_faster),
    )
    return MappingProxyType({method.name: method for method in methods})


FAULTS = faults()
SHOWN = ("mean of means", "one gradient forgotten once", "allreduce in float32")
"""The three whose curves the page draws: a loss curve hardly shows them."""
