"""ZeRO, the memory of a transformer, products in time, and the devices: by paper, by hand, and as properties."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perfmodel import memory
from perfmodel.devices import EFA, ETHERNET_10, GPUS
from perfmodel.hardware import attainable_flop_per_s, matmul_flop_per_byte, move_s
from perfmodel.matmul import matmul_s, product_s
from perfmodel.transformer import Transformer, activation_bytes, activation_bytes_selective, interleave_factor, state_bytes
from perfmodel.zero import STAGES, zero_state
from verify.asserts import refuses

steady = settings(derandomize=True, deadline=None, max_examples=60)


def test_zero_by_the_paper() -> None:
    """Rajbhandari et al. 2020, figure 1: 7.5 billion parameters on 64 GPUs: 120, 31.4, 16.6 and 1.9 GB."""
    held = [zero_state(parameters=7_500_000_000, ranks=64, stage=stage).total_bytes / 1e9 for stage in STAGES]
    assert [f"{each:.1f}" for each in held] == ["120.0", "31.4", "16.6", "1.9"]


@steady
@given(parameters=st.integers(1, 10**13), ranks=st.integers(1, 10**5), recipe=st.sampled_from([*memory.RECIPES.values()]))
def test_zero_shards_more_at_each_stage(parameters: int, ranks: int, recipe: memory.ModelState) -> None:
    held = [zero_state(parameters=parameters, ranks=ranks, stage=stage, recipe=recipe) for stage in STAGES]
    totals = [each.total_bytes for each in held]
    assert totals == sorted(totals, reverse=True)
    assert totals[0] == parameters * recipe.total_bytes
    assert math.isclose(totals[3] * ranks, totals[0], rel_tol=1e-12)
    assert held[0].parameters_bytes == held[1].parameters_bytes == held[2].parameters_bytes  # only stage 3 shards them


def test_a_transformer_by_hand() -> None:
    """Korthikanti et al. 2022, for 22B: 48 layers of h = 6144, a = 64, s = 2048, b = 4, t = 8; sbhL = 2,415,919,104."""
    model = Transformer(layers=48, heads=64, hidden=6144, sequence=2048, microbatch=4, tensor=8)
    sbhl = 2_415_919_104
    assert model.parameters == 12 * 6144**2 * 48 == 21_743_271_936
    assert state_bytes(model) == 18 * 21_743_271_936 / 8
    # 10 + 24/8 + 5·64·2048/(6144·8) = 10 + 3 + 13.33; 34/8 = 4.25
    assert activation_bytes(model) == pytest.approx(sbhl * (13 + 40 / 3), rel=1e-12)
    assert activation_bytes_selective(model) == sbhl * 4.25
    assert interleave_factor(model) == 1


def test_what_makes_activations_larger() -> None:
    small = Transformer(layers=96, heads=96, hidden=12288, sequence=2048, microbatch=1, tensor=8, stages=8)
    split = Transformer(layers=96, heads=96, hidden=12288, sequence=2048, microbatch=1, tensor=8, stages=8, chunks=3)
    longer = Transformer(layers=96, heads=96, hidden=12288, sequence=4096, microbatch=1, tensor=8, stages=8)
    assert activation_bytes(split) / activation_bytes(small) == pytest.approx(1 + 7 / 24)
    assert activation_bytes(longer) > 2 * activation_bytes(small)  # attention grows with the square
    assert activation_bytes_selective(longer) == 2 * activation_bytes_selective(small)  # which is recomputed here


def test_the_recipes_of_the_two_papers() -> None:
    assert memory.MIXED_ADAM.total_bytes == 2 + 2 + 12  # Rajbhandari et al. 2020: 16Ψ
    assert memory.MIXED_ADAM_FP32_GRADIENTS.total_bytes == 2 + 4 + 12  # Korthikanti et al. 2022: gradients in FP32


@steady
@given(m=st.integers(1, 5000), n=st.integers(1, 5000), k=st.integers(1, 5000), launch=st.floats(0, 1e-3))
def test_a_product_takes_the_longer_of_arithmetic_and_memory(m: int, n: int, k: int, launch: float) -> None:
    rates = {"peak_flop_per_s": 15.7e12, "bytes_per_s": 900e9}
    found = product_s(rows=m, inner=k, columns=n, element_bytes=4, overhead_s=launch, **rates)
    by_hand = launch + max(2 * m * n * k / 15.7e12, 4 * (m * k + k * n + m * n) / 900e9)
    assert math.isclose(found, by_hand, rel_tol=1e-9)


def test_a_square_product_is_the_roofline() -> None:
    for side in (64, 512, 4096):
        rate = attainable_flop_per_s(
            flop_per_byte=matmul_flop_per_byte(n=side, element_bytes=4), peak_flop_per_s=15.7e12, bytes_per_s=900e9
        )
        found = matmul_s(n=side, element_bytes=4, peak_flop_per_s=15.7e12, bytes_per_s=900e9)
        assert found == pytest.approx(2 * side**3 / rate, rel=1e-12)


def test_a_copy_pays_its_latency() -> None:
    assert move_s(size_bytes=160e6, bytes_per_s=16e9, latency_s=5e-6) == 0.01 + 5e-6
    assert move_s(size_bytes=0, bytes_per_s=16e9, latency_s=5e-6) == 5e-6
    assert move_s(size_bytes=160e6, bytes_per_s=16e9) == 0.01  # none, unless given


def test_the_devices_as_their_makers_state_them() -> None:
    """Typed from the data sheets: TFLOP/s, and GB/s of memory."""
    sheets = {
        "V100": ({"FP32": 15.7, "FP16": 125}, 900), "P100": ({"FP32": 10.6, "FP16": 21.2}, 732), "T4": ({"FP32": 8.1, "FP16": 65}, 320),
        "A100": ({"FP16": 312}, 2039), "H100": ({"FP8": 1979}, 3350), "H200": ({"FP8": 1979}, 4800),
    }  # fmt: skip
    assert {
        name: ({p: v / 1e12 for p, v in gpu.peaks.items()}, gpu.memory_bytes_per_s / 1e9) for name, gpu in GPUS.items()
    } == sheets
    assert EFA.bytes_per_s == 400e9  # 3200 Gbit/s
    assert ETHERNET_10.bytes_per_s == 1.25e9
    assert all(gpu.source.url and gpu.source.title for gpu in GPUS.values())


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: zero_state(parameters=1, ranks=1, stage=4), "stage must be 0, 1, 2 or 3, got 4"),
        (lambda: zero_state(parameters=1, ranks=0, stage=1), "ranks must be a whole number of at least 1, got 0"),
        (lambda: Transformer(layers=0, heads=1, hidden=1, sequence=1, microbatch=1), "layers must be a whole number of at least 1, got 0"),
        (lambda: product_s(rows=0, inner=1, columns=1, element_bytes=1, peak_flop_per_s=1, bytes_per_s=1), "rows must be a whole number of at least 1, got 0"),
        (lambda: product_s(rows=1, inner=1, columns=1, element_bytes=1, peak_flop_per_s=1, bytes_per_s=1, overhead_s=-1), "overhead_s must be a finite number of at least 0, got -1"),
        (lambda: move_s(size_bytes=1, bytes_per_s=1, latency_s=-1), "latency_s must be a finite number of at least 0, got -1"),
    ],
)  # fmt: skip
def test_bad_input_is_refused(call: Any, message: str) -> None:
    with refuses(message):
        call()
