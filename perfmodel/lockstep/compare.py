"""Two runs: how far apart they are, and whether that counts as lockstep."""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

import torch
from torch import Tensor

from perfmodel.lockstep.runs import Run
from perfmodel.units import positive

LIMITS: Mapping[torch.dtype, float] = MappingProxyType({torch.float64: 1e-15, torch.float32: 1e-6})
"""The largest relative L2 distance that counts as lockstep. The weakest fault, an allreduce in float32, shows about 2e-9."""
LIMIT_ELSEWHERE = 1e-13
"""The same in float64 on a GPU, or with another BLAS, whose sums round in another order: pass it as `limit`."""


class Difference(NamedTuple):
    """How far one run is from another at each recorded step.

    `l2` is ‖a − b‖ / ‖b‖ over all parameters, the gated one. `update` is ‖a − b‖ / ‖b − b₀‖, for networks whose parameters
    hardly move (0 at step 0). `tensors` are the distances ‖a − b‖ / ‖b‖ of each parameter tensor. `elementwise` is the largest
    |aᵢ − bᵢ| / |bᵢ|, and `ulps` the most floating-point numbers from aᵢ to bᵢ, in the coarser dtype of the two runs: both say
    little where a parameter passes zero, so they are shown and never gated.
    """

    steps: tuple[int, ...]
    l2: tuple[float, ...]
    update: tuple[float, ...]
    tensors: tuple[tuple[float, ...], ...]
    elementwise: tuple[float, ...]
    ulps: tuple[int, ...]


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
        ulps = _ulps(a_t, b_t)
        a_t, b_t = a_t.double(), b_t.double()
        apart = a_t - b_t
        distance, moved = float(apart.norm()), float((b_t - begin).norm())
        relative = (apart / b_t).abs()[apart != 0]
        rows.append(
            (
                distance / float(b_t.norm()) if distance else 0.0,
                distance / moved if moved else (math.inf if distance else 0.0),
                _each(a_t, b_t, [size for _, size in reference.tensors]),
                float(relative.max()) if len(relative) else 0.0,
                ulps,
            )
        )
    l2, update, tensors, elementwise, ulps_of = zip(*rows, strict=True)
    return Difference(run.steps, l2, update, tensors, elementwise, ulps_of)


def _each(a: Tensor, b: Tensor, sizes: list[int]) -> tuple[float, ...]:
    """The relative distance of each tensor of two vectors of parameters; 0 for equal ones, also where all is zero."""
    return tuple(
        float((one - other).norm() / other.norm()) if not torch.equal(one, other) else 0.0
        for one, other in zip(torch.split(a, sizes), torch.split(b, sizes), strict=True)
    )


def _ulps(a: Tensor, b: Tensor) -> int:
    """How many steps from one floating-point number to the next lie between aᵢ and bᵢ, at most over i.

    The bits of a float, read as a sign and a whole number, count the floats from zero: so the difference of two is the distance.
    """
    dtype = torch.float32 if torch.float32 in (a.dtype, b.dtype) else torch.float64
    whole = torch.int32 if dtype == torch.float32 else torch.int64

    def place(x: Tensor) -> list[int]:
        bits = x.to(dtype).view(whole)
        return torch.where(bits < 0, torch.iinfo(whole).min - bits, bits).tolist()  # -0.0 stands with 0.0

    return max(abs(i - j) for i, j in zip(place(a), place(b), strict=True))


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
