"""Act 5: bigger batches, their learning rate, and what three ways to split a network must send, by hand and against the ring.

Hand calculations stand beside their values. The rules are those of Goyal et al. 2017 and Dive into Deep Learning 13.5.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perfmodel import scaling, splitting
from perfmodel.collectives import ring_tasks
from perfmodel.splitting import Dense, Traffic, mlp
from verify.asserts import refuses

steady = settings(derandomize=True, deadline=None, max_examples=100)
counts = st.integers(1, 1000)
learning_rates = st.floats(1e-6, 10)


# Batch and learning rate.


def test_right_values() -> None:
    assert scaling.effective_batch(per_gpu_batch=32, gpus=4) == 128
    assert scaling.linear_rule(base_lr=1e-3, base_batch=32, batch=128) == pytest.approx(0.004, rel=1e-15)  # · 128 / 32
    # Goyal et al.: 0.1 for 256 images, so 3.2 for 8192.
    assert scaling.linear_rule(base_lr=0.1, base_batch=256, batch=8192) == pytest.approx(3.2, rel=1e-15)
    # From 0.001 to 0.004 over 3 steps: a thousandth a step.
    rates = [scaling.warm_up_lr(step=step, steps=3, start_lr=0.001, peak_lr=0.004) for step in range(5)]
    assert rates == pytest.approx([0.001, 0.002, 0.003, 0.004, 0.004], rel=1e-15)
    rates = [scaling.constant_warm_up_lr(step=step, steps=3, start_lr=0.001, peak_lr=0.004) for step in range(5)]
    assert rates == [0.001, 0.001, 0.001, 0.004, 0.004]


def test_noise_by_hand() -> None:
    assert scaling.step_noise(lr=0.1, batch=2, sample_variance=3) == pytest.approx(0.015, rel=1e-15)  # 0.01 · 3 / 2
    assert scaling.step_noise(lr=0.1, batch=1, sample_variance=0) == 0  # samples that all agree
    assert scaling.step_noise(lr=1, batch=1) == scaling.pass_noise(lr=1, batch=1, samples=1) == 1  # a variance of 1, left out
    assert scaling.pass_noise(lr=0.1, batch=2, samples=10, sample_variance=3) == pytest.approx(0.075, rel=1e-15)  # 5 such steps


@steady
@given(counts, counts, learning_rates)
def test_the_linear_rule(batch: int, gpus: int, lr: float) -> None:
    whole = scaling.effective_batch(per_gpu_batch=batch, gpus=gpus)
    scaled = scaling.linear_rule(base_lr=lr, base_batch=batch, batch=whole)
    assert math.isclose(scaled, lr * gpus, rel_tol=1e-12)  # k GPUs, k times the rate
    assert math.isclose(scaling.linear_rule(base_lr=scaled, base_batch=whole, batch=batch), lr, rel_tol=1e-12)  # and back


@steady
@given(st.integers(0, 50), learning_rates, st.floats(1, 100))
def test_warm_up(steps: int, start: float, factor: float) -> None:
    peak = start * factor
    for schedule in (scaling.warm_up_lr, scaling.constant_warm_up_lr):
        rates = [schedule(step=step, steps=steps, start_lr=start, peak_lr=peak) for step in range(steps + 3)]
        assert rates[0] == (start if steps else peak)
        assert rates[steps:] == [peak] * 3
        assert all(a <= b * (1 + 1e-12) for a, b in pairwise(rates))
    line = [scaling.warm_up_lr(step=step, steps=steps, start_lr=start, peak_lr=peak) for step in range(steps + 1)]
    rises = [b - a for a, b in pairwise(line)]
    assert rises == pytest.approx([(peak - start) / max(steps, 1)] * steps, rel=1e-6, abs=1e-12)


BAD: list[tuple[Callable[..., Any], dict[str, Any], str]] = [
    (scaling.effective_batch, {"per_gpu_batch": 0, "gpus": 4}, "per_gpu_batch must be a whole number of at least 1, got 0"),
    (scaling.effective_batch, {"per_gpu_batch": 32, "gpus": 0}, "gpus must be a whole number of at least 1, got 0"),
    (scaling.effective_batch, {"per_gpu_batch": 32, "gpus": 2.5}, "gpus must be a whole number of at least 1, got 2.5"),
    (scaling.linear_rule, {"base_lr": 0, "base_batch": 1, "batch": 1}, "base_lr must be a finite number above 0, got 0"),
    (scaling.linear_rule, {"base_lr": math.nan, "base_batch": 1, "batch": 1}, "base_lr must be a finite number above 0, got nan"),
    (scaling.linear_rule, {"base_lr": 1, "base_batch": 0, "batch": 1}, "base_batch must be a whole number of at least 1, got 0"),
    (scaling.linear_rule, {"base_lr": 1, "base_batch": 1, "batch": -1}, "batch must be a whole number of at least 1, got -1"),
]
for schedule in (scaling.warm_up_lr, scaling.constant_warm_up_lr):
    good = {"step": 0, "steps": 1, "start_lr": 1.0, "peak_lr": 2.0}
    for changes, message in (
        ({"step": -1}, "step must be a whole number of at least 0, got -1"),
        ({"step": 0.5}, "step must be a whole number of at least 0, got 0.5"),
        ({"steps": -1}, "steps must be a whole number of at least 0, got -1"),
        ({"start_lr": 0}, "start_lr must be a finite number above 0, got 0"),
        ({"peak_lr": math.inf}, "peak_lr must be a finite number above 0, got inf"),
        ({"start_lr": 3.0}, "start_lr must be at most peak_lr = 2.0, got 3.0"),
    ):
        BAD.append((schedule, {**good, **changes}, message))


@pytest.mark.parametrize(("function", "inputs", "message"), BAD)
def test_bad_scaling(function: Callable[..., Any], inputs: dict[str, Any], message: str) -> None:
    with refuses(message):
        function(**inputs)


# Three ways to split. The network 512-256-128-2: 512·256 + 256 = 131,328, 256·128 + 128 = 32,896 and 128·2 + 2 = 258 parameters,
# 164,482 in all. Batch 64, 4 bytes an element.

NET = mlp(512, 256, 128, 2)
WAYS = {"between": splitting.between_layers, "across": splitting.across_layers, "data": splitting.across_data}
RIGHT: list[tuple[str, int, Traffic]] = [
    # One cut, after the first layer (floor(3/2) = 1): 64 · 256 · 4 = 65,536 bytes forward from GPU 0, as many back from GPU 1.
    ("between", 2, Traffic(total_bytes=131_072, busiest_gpu_bytes=65_536, synchronizations=2)),
    # Two cuts, 256 and 128 wide: 65,536 and 32,768 bytes each way. The GPU in the middle sends one back and one forward.
    ("between", 3, Traffic(total_bytes=196_608, busiest_gpu_bytes=98_304, synchronizations=4)),
    # Gathered forward 256 + 128 + 2, reduced backward 256 + 128: 770 · 64 · 4 = 197,120 bytes, of which each GPU sends half.
    ("across", 2, Traffic(total_bytes=197_120, busiest_gpu_bytes=98_560, synchronizations=5)),
    # Three quarters of it, four times.
    ("across", 4, Traffic(total_bytes=591_360, busiest_gpu_bytes=147_840, synchronizations=5)),
    # 164,482 · 4 = 657,928 bytes: 2 · 1/2 of them from each of two GPUs; 2 · 3/4 from each of four.
    ("data", 2, Traffic(total_bytes=1_315_856, busiest_gpu_bytes=657_928, synchronizations=1)),
    ("data", 4, Traffic(total_bytes=3_947_568, busiest_gpu_bytes=986_892, synchronizations=1)),
    *[(way, 1, Traffic(total_bytes=0, busiest_gpu_bytes=0, synchronizations=0)) for way in WAYS],
]


def split_faults() -> list[str]:
    seen = [(way, gpus, WAYS[way](NET, batch=64, element_bytes=4, gpus=gpus), right) for way, gpus, right in RIGHT]
    return [f"{way} over {gpus}: {traffic}, not {right}" for way, gpus, traffic, right in seen if traffic != right]


def test_splits() -> None:
    assert split_faults() == []
    assert splitting.parameters(NET) == 164_482
    assert splitting.parameters(mlp(784, 256, 10)) == 784 * 256 + 256 + 256 * 10 + 10 == 203_530


widths = st.lists(st.integers(1, 300), min_size=2, max_size=6)


def ring_bytes(size: float, gpus: int, phases: int) -> list[float]:
    """What each GPU sends around a ring, counted transfer by transfer, at one byte a second. A phase is gpus − 1 steps."""
    sent = [0.0] * gpus
    for task in ring_tasks(gradient_bytes=size, gpus=gpus, link_bytes_per_s=1)[: phases * gpus * (gpus - 1)]:
        sent[int(task.streams[0].split()[1])] += task.duration_s
    return sent


@steady
@given(widths, st.integers(1, 64), st.sampled_from([2, 4, 8]), st.integers(1, 6))
def test_splits_counted_another_way(net: list[int], batch: int, element: int, gpus: int) -> None:
    layers = mlp(*net)
    inputs = {"batch": batch, "element_bytes": element, "gpus": gpus}
    # Across data: both phases of one ring over all parameters.
    data = splitting.across_data(layers, **inputs)
    assert ring_bytes(splitting.parameters(layers) * element, gpus, 2) == pytest.approx([data.busiest_gpu_bytes] * gpus)
    # Across layers: one phase for the outputs of every layer, one for the inputs of all but the first.
    across = splitting.across_layers(layers, **inputs)
    moved = [width * batch * element for width in [*net[1:], *net[1:-1]]]
    assert sum(ring_bytes(size, gpus, 1)[0] for size in moved) == pytest.approx(across.busiest_gpu_bytes)
    assert across.synchronizations == (len(moved) if gpus > 1 else 0)
    # Between layers: give every layer to its GPU, and count what crosses.
    if gpus <= len(layers):
        home = [
            next(gpu for gpu in range(gpus) if gpu * len(layers) // gpus <= i < (gpu + 1) * len(layers) // gpus)
            for i in range(len(layers))
        ]
        sent = [0.0] * gpus
        for i, (a, b) in enumerate(pairwise(home)):
            if a != b:
                sent[a] += net[i + 1] * batch * element
                sent[b] += net[i + 1] * batch * element
        between = splitting.between_layers(layers, **inputs)
        assert (between.total_bytes, between.busiest_gpu_bytes) == (sum(sent), max(sent))
        assert set(home) == set(range(gpus))
        assert between.synchronizations == 2 * (gpus - 1)


@steady
@given(widths, st.integers(1, 64), st.integers(2, 6))
def test_what_grows_with_the_batch(net: list[int], batch: int, gpus: int) -> None:
    layers = mlp(*net)
    once, double = ({"batch": b, "element_bytes": 4, "gpus": gpus} for b in (batch, 2 * batch))
    assert splitting.across_data(layers, **once) == splitting.across_data(layers, **double)
    across, more = splitting.across_layers(layers, **once), splitting.across_layers(layers, **double)
    assert more.total_bytes == pytest.approx(2 * across.total_bytes)


BAD_SPLITS = [
    ({"batch": 0}, "batch must be a whole number of at least 1, got 0"),
    ({"gpus": 0}, "gpus must be a whole number of at least 1, got 0"),
    ({"element_bytes": 0}, "element_bytes must be a finite number above 0, got 0"),
    ({"element_bytes": math.nan}, "element_bytes must be a finite number above 0, got nan"),
    ({"layers": ()}, "layers must be at least one, got none"),
    (
        {"layers": (Dense(inputs=2, outputs=3), Dense(inputs=4, outputs=5))},
        "a layer must take what the one before it gives, 3; got 4 inputs",
    ),
]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("changes", "message"), BAD_SPLITS)
def test_bad_splits(way: str, changes: dict[str, Any], message: str) -> None:
    inputs = {"layers": NET, "batch": 64, "element_bytes": 4, "gpus": 2, **changes}
    with refuses(message):
        WAYS[way](inputs.pop("layers"), **inputs)


def test_other_bad_splits() -> None:
    with refuses("gpus must be at most the 3 layers, got 4"):
        splitting.between_layers(NET, batch=64, element_bytes=4, gpus=4)
    with refuses("inputs must be a whole number of at least 1, got 0"):
        Dense(inputs=0, outputs=2)
    with refuses("widths must be at least two, inputs and outputs, got (4,)"):
        mlp(4)


# The right values see a fault.


def _times(way: Callable[..., Traffic], factor: float, synchronizations: int = 0) -> Callable[..., Traffic]:
    def planted(*layers: Any, **inputs: Any) -> Traffic:
        right = way(*layers, **inputs)
        return Traffic(
            total_bytes=right.total_bytes * factor,
            busiest_gpu_bytes=right.busiest_gpu_bytes * factor,
            synchronizations=right.synchronizations + synchronizations,
        )

    return planted


PLANTS: dict[str, tuple[str, Callable[..., Traffic]]] = {
    "activations only": ("between", _times(splitting.between_layers, 0.5)),
    "cuts, not hand-overs": ("between", _times(splitting.between_layers, 1, -1)),
    "the first layer's inputs too": (
        "across",
        lambda layers, **inputs: splitting.across_layers(mlp(512, *[a.inputs for a in layers], 2), **inputs),
    ),
    "the whole and not (n−1)/n": (
        "across",
        lambda *layers, gpus, **inputs: _times(splitting.across_layers, gpus)(*layers, gpus=gpus, **inputs),
    ),
    "one way only": ("data", _times(splitting.across_data, 0.5)),
    "an allreduce for each layer": ("data", _times(splitting.across_data, 1, 2)),
    "the batch counts": (
        "data",
        lambda *layers, batch, **inputs: _times(splitting.across_data, batch)(*layers, batch=batch, **inputs),
    ),
}


@pytest.mark.parametrize("plant", PLANTS)
def test_a_planted_fault_is_reported(plant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    way, planted = PLANTS[plant]
    monkeypatch.setitem(WAYS, way, planted)
    assert split_faults(), plant
