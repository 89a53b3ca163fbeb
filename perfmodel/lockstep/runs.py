"""A run: training on k replicas in one process, and what it shows at each recorded step."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from perfmodel.lockstep.networks import xor_batch, xor_net
from perfmodel.lockstep.step import LOCKSTEP, Method, Shard, check_model, train_batch
from perfmodel.units import at_least, positive

STEPS, LR, EVERY = 300, 0.2, 10
PRODUCTS: tuple[Any, ...] = (torch.backends.cuda.matmul, torch.backends.cudnn.conv)  # type: ignore[attr-defined] # made at run time


@dataclass(frozen=True, kw_only=True, eq=False)
class Run:
    """A finished run, at each of the recorded `steps` (0 is before the first update).

    `losses` are means over the whole batch, on replica 0; `parameters` are all parameters of replica 0 in one vector, on the
    CPU; `spreads` count the parameters that differ between any two replicas in any bit; `tensors` are the parameters' names and
    sizes, in the order of the vector.
    """

    k: int
    dtype: torch.dtype
    method: str
    steps: tuple[int, ...]
    losses: tuple[float, ...]
    parameters: tuple[Tensor, ...]
    spreads: tuple[int, ...]
    tensors: tuple[tuple[str, int], ...]


def train(
    k: int,
    steps: int = STEPS,
    dtype: torch.dtype = torch.float64,
    *,
    lr: float = LR,
    method: Method = LOCKSTEP,
    model: nn.Module | None = None,
    batch: Shard | None = None,
    init: int = 0,
    devices: Sequence[str] = ("cpu",),
    every: int = EVERY,
) -> Run:
    """Train on `k` replicas, full batch, cross-entropy summed and divided by the batch size, for `steps` steps.

    Without `model` and `batch` it is the XOR network and batch above; `init` draws its parameters. Replica i lies on device
    i modulo the number of devices. Equal arguments give equal bits: one thread, deterministic algorithms, generators of its own;
    every setting of torch and its random state are as before afterwards. On CUDA, set CUBLAS_WORKSPACE_CONFIG=:4096:8 first.

    Raises ValueError for k, steps or every below 1, a learning rate that is not above 0, a model that does not treat each sample
    alone (batch norm, dropout), a fault that strikes after the last step, and a loss that becomes infinite or NaN.

    >>> run = train(3, 25)
    >>> run.steps, run.losses[-1] < run.losses[0]
    ((0, 10, 20, 25), True)
    >>> train(0)
    Traceback (most recent call last):
    ValueError: k must be a whole number of at least 1, got 0
    """
    at_least("k", k, 1)
    at_least("steps", steps, 1)
    at_least("every", every, 1)
    positive("lr", lr)
    method.check_strikes(steps)
    if not devices:
        raise ValueError("devices must name at least one device, got none")
    with settings(devices), torch.random.fork_rng(devices=[d for d in devices if d != "cpu"]):
        X, y = xor_batch(dtype) if batch is None else (batch[0].to(dtype), batch[1])
        first = (xor_net(dtype, init=init) if model is None else copy.deepcopy(model).to(dtype)).cpu()
        check_model(first, X.cpu())
        replicas = [method.begin(first, i).to(devices[i % len(devices)]) for i in range(k)]
        recorded: list[tuple[int, float, Tensor, int]] = []
        for step in range(steps + 1):
            if step % every == 0 or step == steps:
                flat = [flatten(net) for net in replicas]
                recorded.append((step, mean_loss_of(replicas[0], X, y), flat[0], spread(flat)))
            if step < steps:
                train_batch(X, y, replicas, lr, method=method, step=step)
        tensors = named_sizes(first)
    at, losses, parameters, spreads = zip(*recorded, strict=True)
    return Run(
        k=k, dtype=dtype, method=method.name, steps=at, losses=losses, parameters=parameters, spreads=spreads, tensors=tensors
    )


def flatten(net: nn.Module) -> Tensor:
    """All parameters in one vector, on the CPU: a copy."""
    return torch.cat([p.detach().flatten() for p in net.parameters()]).cpu()


def named_sizes(net: nn.Module) -> tuple[tuple[str, int], ...]:
    """The name and the number of elements of each parameter, in the order in which `flatten` has them."""
    return tuple((name, p.numel()) for name, p in net.named_parameters())


def spread(flat: Sequence[Tensor]) -> int:
    """How many parameters differ between any two replicas, in any bit: -0.0 and 0.0 differ, and so would two NaNs of other bits."""
    bits = torch.stack(list(flat)).view(torch.uint8).view(len(flat), len(flat[0]), -1)
    return int((bits != bits[0]).any(dim=2).any(dim=0).sum())


def mean_loss_of(net: nn.Module, X: Tensor, y: Tensor) -> float:
    """The mean loss over a batch. Raises ValueError unless it and all parameters are finite."""
    device = next(net.parameters()).device
    with torch.no_grad():
        loss = float(LOCKSTEP.loss(net, X.to(device), y.to(device))) / len(X)
    if not (math.isfinite(loss) and all(bool(p.isfinite().all()) for p in net.parameters())):
        raise ValueError(f"loss and parameters must stay finite, got a mean loss of {loss}")
    return loss


@contextmanager
def settings(devices: Sequence[str]) -> Iterator[None]:
    """One thread, deterministic algorithms, no TF32 on a GPU (cuDNN's convolutions use it unless told not to); then all as before."""
    threads = torch.get_num_threads()
    # Not use_deterministic_algorithms: it does the same and loads torch's compiler as well, seconds for every process.
    strictness = torch.get_deterministic_debug_mode()
    products = PRODUCTS if any(device != "cpu" for device in devices) else ()
    precisions = [product.fp32_precision for product in products]
    try:
        torch.set_num_threads(1)
        torch.set_deterministic_debug_mode("error")
        for product in products:
            product.fp32_precision = "ieee"
        yield
    finally:
        torch.set_num_threads(threads)
        torch.set_deterministic_debug_mode(strictness)
        for product, precision in zip(products, precisions, strict=True):
            product.fp32_precision = precision
