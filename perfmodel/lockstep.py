"""Lockstep: a batch split over k replicas trains the same network as the whole batch on one.

The gradient of a sum of losses is the sum of the gradients, so in exact arithmetic k replicas that add theirs up take the step
that one replica takes. In floating point the order of the additions differs, and so do the last bits. This module trains both,
in one process, and measures how far apart they end.

It holds for models that treat each sample alone. Batch norm mixes the samples of a shard and is refused. A method is data: the
functions of a step, so that a fault can be put in the place of one of them.

>>> one, two = train(1, 20), train(2, 20)
>>> in_lockstep(two, one), two.spreads
(True, (0, 0, 0))
>>> why_not(train(2, 20, method=FAULTS["mean of means"]), one)[0].partition(" is ")[0]
'after step 20 the relative L2 distance'

The only module here that needs torch, 2.11 or newer: `import perfmodel` never imports it.
Source: data parallelism as in Dive into Deep Learning 13.5, with shards of unequal size.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from perfmodel.units import at_least, positive

BATCH, STEPS, LR, EVERY = 13, 300, 0.2, 10
FORGOTTEN_AT = 150  # the step at which the forgetful fault forgets
LIMITS: Mapping[torch.dtype, float] = MappingProxyType({torch.float64: 1e-15, torch.float32: 1e-6})
"""The largest relative L2 distance that counts as lockstep. The weakest fault, an allreduce in float32, shows about 2e-9."""
LIMIT_ELSEWHERE = 1e-13
"""The same in float64 on a GPU, or with another BLAS, whose sums round in another order: pass it as `limit`."""

_PRODUCTS: tuple[Any, ...] = (torch.backends.cuda.matmul, torch.backends.cudnn.conv)  # type: ignore[attr-defined] # made at run time

Shard = tuple[Tensor, Tensor]
Gradients = list[list[Tensor]]  # [replica][parameter]


# One step --------------------------------------------------------------------------------------------------------------------


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
    """

    name: str = "lockstep"
    begin: Callable[[nn.Module, int], nn.Module] = _copy
    split: Callable[[Tensor, Tensor, int], list[Shard]] = split_batch
    loss: Callable[[nn.Module, Tensor, Tensor], Tensor] = _summed_loss
    synchronize: Callable[[Gradients, int], None] = _allreduce_each
    divide_by: Callable[[int, int, int], float] = _batch_size
    update: Callable[[nn.Module, Sequence[Tensor], float, int], None] = _descend


LOCKSTEP = Method()


def forget(*, at: int | None = None) -> Callable[[Gradients, int], None]:
    """A `synchronize` that leaves the last replica's gradient out, at step `at` or (None) at every step. It still gets the sum."""

    def synchronize(gradients: Gradients, step: int) -> None:
        if at is None or step == at:
            for gradient in gradients[-1]:
                gradient.zero_()
        _allreduce_each(gradients, step)

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


def mean_loss(net: nn.Module, X: Tensor, y: Tensor) -> Tensor:
    """The loss averaged over the samples of one shard: the mean of such means is the mean only if all shards are equally large."""
    return cross_entropy(net(X), y)


FAULTS: Mapping[str, Method] = MappingProxyType(
    {
        method.name: method
        for method in (
            Method(name="mean of means", loss=mean_loss, divide_by=lambda batch, shard, k: k),
            Method(name="one gradient forgotten once", synchronize=forget(at=FORGOTTEN_AT)),
            Method(name="allreduce in float32", synchronize=rounded(torch.float32)),
        )
    }
)
"""Three ways to get it wrong that a loss curve hardly shows. They matter from two replicas on."""


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
    gradients = [_gradients(net) for net in replicas]
    total = sum(float(loss.detach()) for loss in losses)
    if not math.isfinite(total):
        raise ValueError(f"the loss must stay finite, got {total} at step {step} with lr = {lr}")
    with torch.no_grad():
        method.synchronize(gradients, step)
        for net, own, (shard, _) in zip(replicas, gradients, shards, strict=True):
            method.update(net, own, lr / method.divide_by(len(X), len(shard), k), step)
    return total


def _gradients(net: nn.Module) -> list[Tensor]:
    gradients = []
    for name, parameter in net.named_parameters():
        if parameter.grad is None:
            raise ValueError(f"the loss must depend on every parameter, got no gradient for {name!r}")
        gradients.append(parameter.grad)
    return gradients


# A run -----------------------------------------------------------------------------------------------------------------------


def xor_batch(dtype: torch.dtype = torch.float64) -> Shard:
    """13 samples: the four points of XOR in turn, jittered by 0.1·N(0, 1). 13 is uneven over 2, 3, 4 and 8 replicas.

    Without the jitter copies of a point would hide a sample taken twice in place of another.
    """
    random = torch.Generator().manual_seed(5)
    jitter = 0.1 * torch.randn(BATCH, 2, generator=random, dtype=torch.float64)
    point = torch.arange(BATCH) % 4
    X = torch.stack([point // 2, point % 2], dim=1) + jitter
    return X.to(dtype), (point // 2) ^ (point % 2)


def xor_net(dtype: torch.dtype = torch.float64, *, init: int = 0) -> nn.Sequential:
    """The network 2-8-2 with tanh: 42 parameters, drawn in float64 by a generator of its own that starts from `init`."""
    random = torch.Generator().manual_seed(init)
    net = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 2)).double()
    with torch.no_grad():
        for parameter, scale in zip(net.parameters(), (1.0, 0.1, 1 / math.sqrt(8), 0.1), strict=True):
            parameter.copy_(scale * torch.randn(parameter.shape, generator=random, dtype=torch.float64))
    return net.to(dtype)


@dataclass(frozen=True, kw_only=True, eq=False)
class Run:
    """A finished run, at each of the recorded `steps` (0 is before the first update).

    `losses` are means over the whole batch, on replica 0; `parameters` are all parameters of replica 0 in one vector, on the
    CPU; `spreads` count the parameters that differ between any two replicas in any bit.
    """

    k: int
    dtype: torch.dtype
    method: str
    steps: tuple[int, ...]
    losses: tuple[float, ...]
    parameters: tuple[Tensor, ...]
    spreads: tuple[int, ...]


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
    alone (batch norm, dropout), and a loss that becomes infinite or NaN.

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
    if not devices:
        raise ValueError("devices must name at least one device, got none")
    with _settings(devices), torch.random.fork_rng(devices=[d for d in devices if d != "cpu"]):
        X, y = xor_batch(dtype) if batch is None else (batch[0].to(dtype), batch[1])
        first = (xor_net(dtype, init=init) if model is None else copy.deepcopy(model).to(dtype)).cpu()
        check_model(first, X.cpu())
        replicas = [method.begin(first, i).to(devices[i % len(devices)]) for i in range(k)]
        recorded: list[tuple[int, float, Tensor, int]] = []
        for step in range(steps + 1):
            if step % every == 0 or step == steps:
                recorded.append((step, *_look(replicas, X, y)))
            if step < steps:
                train_batch(X, y, replicas, lr, method=method, step=step)
    at, losses, parameters, spreads = zip(*recorded, strict=True)
    return Run(k=k, dtype=dtype, method=method.name, steps=at, losses=losses, parameters=parameters, spreads=spreads)


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


def _look(replicas: Sequence[nn.Module], X: Tensor, y: Tensor) -> tuple[float, Tensor, int]:
    """Mean loss and parameters of replica 0, and how many parameters differ between the replicas."""
    flat = [torch.cat([p.detach().flatten() for p in net.parameters()]).cpu() for net in replicas]
    bits = torch.stack(flat).view(torch.uint8).view(len(flat), len(flat[0]), -1)
    device = next(replicas[0].parameters()).device
    with torch.no_grad():
        loss = float(_summed_loss(replicas[0], X.to(device), y.to(device))) / len(X)
    if not (math.isfinite(loss) and bool(flat[0].isfinite().all())):
        raise ValueError(f"loss and parameters must stay finite, got a mean loss of {loss}")
    return loss, flat[0], int((bits != bits[0]).any(dim=2).any(dim=0).sum())


@contextmanager
def _settings(devices: Sequence[str]) -> Iterator[None]:
    """One thread, deterministic algorithms, no TF32 on a GPU (cuDNN's convolutions use it unless told not to); then all as before."""
    threads = torch.get_num_threads()
    strict, warns = torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled()
    products = _PRODUCTS if any(device != "cpu" for device in devices) else ()
    precisions = [product.fp32_precision for product in products]
    try:
        torch.set_num_threads(1)
        torch.use_deterministic_algorithms(True)
        for product in products:
            product.fp32_precision = "ieee"
        yield
    finally:
        torch.set_num_threads(threads)
        torch.use_deterministic_algorithms(strict, warn_only=warns)
        for product, precision in zip(products, precisions, strict=True):
            product.fp32_precision = precision


# Two runs --------------------------------------------------------------------------------------------------------------------


class Difference(NamedTuple):
    """How far one run is from another at each recorded step.

    `l2` is ‖a − b‖ / ‖b‖ over all parameters, the gated one. `update` is ‖a − b‖ / ‖b − b₀‖, for networks whose parameters
    hardly move (0 at step 0). `elementwise` is the largest |aᵢ − bᵢ| / |bᵢ|: it says little where a parameter passes zero, so
    it is shown and never gated.
    """

    steps: tuple[int, ...]
    l2: tuple[float, ...]
    update: tuple[float, ...]
    elementwise: tuple[float, ...]


def compare(run: Run, reference: Run) -> Difference:
    """The distance of `run` from `reference` at each recorded step, in float64.

    Raises ValueError when they recorded different steps or hold different numbers of parameters.
    """
    shapes = [(r.steps, len(r.parameters[0])) for r in (run, reference)]
    if shapes[0] != shapes[1]:
        (a, m), (b, n) = shapes
        raise ValueError(
            f"two runs must record the same steps of as many parameters, got {len(a)} up to step {a[-1]} of {m}, and {len(b)} up to step {b[-1]} of {n}"
        )
    begin = reference.parameters[0].double()
    rows = []
    for a_t, b_t in zip(run.parameters, reference.parameters, strict=True):
        a_t, b_t = a_t.double(), b_t.double()
        apart = a_t - b_t
        distance, moved = float(apart.norm()), float((b_t - begin).norm())
        relative = (apart / b_t).abs()[apart != 0]
        rows.append(
            (
                distance / float(b_t.norm()) if distance else 0.0,
                distance / moved if moved else (math.inf if distance else 0.0),
                float(relative.max()) if len(relative) else 0.0,
            )
        )
    l2, update, elementwise = zip(*rows, strict=True)
    return Difference(run.steps, l2, update, elementwise)


def why_not(
    run: Run, reference: Run, dtype: torch.dtype = torch.float64, *, limit: float | None = None, measure: str = "l2"
) -> tuple[str, ...]:
    """Why `run` is not in lockstep with `reference`, a sentence a reason; empty when it is.

    Lockstep in `dtype` is: all replicas equal in every bit, and the relative L2 distance at most `limit` (default: `LIMITS`), at
    every recorded step. `measure="update"` gates the distance relative to the update instead, and then needs its own `limit`.

    Raises ValueError for a question that has no answer: another measure (element-wise error is refused), a run of another dtype,
    a reference of several replicas, or one whose loss did not fall.
    """
    if measure not in ("l2", "update"):
        raise ValueError(
            f'lockstep is gated on "l2" or "update" over all parameters, got {measure!r}: an element-wise error can be large by chance near zero'
        )
    if limit is None and measure == "l2":
        limit = LIMITS.get(dtype)
    if limit is None:
        raise ValueError(f"a limit must be given for {measure!r} in {dtype}, got none")
    positive("limit", limit)
    for name, each in (("run", run), ("reference", reference)):
        if each.dtype != dtype:
            raise ValueError(f"lockstep in {dtype} is a claim about runs in it, got a {name} in {each.dtype}")
    if reference.k != 1:
        raise ValueError(f"the reference must be one replica, got {reference.k}")
    if not reference.losses[-1] < reference.losses[0]:
        raise ValueError(f"the reference must have learned, got a loss from {reference.losses[0]} to {reference.losses[-1]}")
    difference = compare(run, reference)
    distances = difference.l2 if measure == "l2" else difference.update
    reasons = []
    if max(distances) > limit:
        worst = max(zip(distances, run.steps, strict=True))
        of = "relative L2 distance" if measure == "l2" else "L2 distance relative to the update"
        reasons.append(f"after step {worst[1]} the {of} is {worst[0]:.2g}, over {limit:.2g}")
    if any(run.spreads):
        step, spread = next((step, spread) for step, spread in zip(run.steps, run.spreads, strict=True) if spread)
        reasons.append(f"after step {step} the replicas differ in {spread} of {len(run.parameters[0])} parameters")
    return tuple(reasons)


def in_lockstep(
    run: Run, reference: Run, dtype: torch.dtype = torch.float64, *, limit: float | None = None, measure: str = "l2"
) -> bool:
    """Whether `run` is in lockstep with `reference`: nothing that `why_not` could say, with the same arguments and errors."""
    return not why_not(run, reference, dtype, limit=limit, measure=measure)


def part_in_ten_to(l2: float) -> int:
    """The largest N for which `l2` is less than one part in 10^N, at most 16: float64 resolves no finer.

    >>> part_in_ten_to(2.8e-16), part_in_ten_to(1e-15), part_in_ten_to(0.0)
    (15, 14, 16)
    """
    return next((n for n in range(16, 0, -1) if l2 < float(f"1e-{n}")), 0)


def record(replicas: Sequence[int] = (2, 4), steps: int = STEPS) -> dict[str, Any]:
    """What a page shows of lockstep, as plain lists and numbers: one replica, several, and the same with each of `FAULTS`.

    Lists follow `steps`. Keys that name a number of replicas are text, as JSON has them.
    """
    one = train(1, steps)
    runs = {k: train(k, steps) for k in replicas}
    apart = {k: compare(run, one) for k, run in runs.items()}
    faults = {name: {k: train(k, steps, method=method) for k in replicas} for name, method in FAULTS.items()}
    X, y = xor_batch()
    return {
        "dtype": "float64", "batch": len(X), "parameters": len(one.parameters[0]), "lr": LR, "steps": list(one.steps), "forgotten_at": FORGOTTEN_AT,
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
            for name, broken in faults.items()
        },
    }  # fmt: skip
