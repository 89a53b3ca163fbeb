"""The memory of training: by hand, by the ZeRO paper, and by what PyTorch keeps."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from perfmodel import memory
from perfmodel.memory import FP32_ADAM, FP32_MOMENTUM, FP32_SGD, MIXED_ADAM, ModelState, dense_activations_bytes, model_state
from perfmodel.splitting import mlp, parameters
from verify.asserts import refuses

steady = settings(derandomize=True, deadline=None, max_examples=30)


def test_by_the_paper() -> None:
    """Rajbhandari et al. 2020, section 3.1 and figure 1: 2Ψ + 2Ψ + KΨ with K = 12; 7.5 billion parameters take 120 GB."""
    assert (MIXED_ADAM.parameters_bytes, MIXED_ADAM.gradients_bytes, MIXED_ADAM.optimizer_bytes) == (2, 2, 12)
    assert model_state(parameters=7_500_000_000, recipe=MIXED_ADAM).total_bytes == 120e9
    assert model_state(parameters=1_500_000_000, recipe=MIXED_ADAM).parameters_bytes == 3e9  # 3 GB of weights in 16 bits


def test_by_hand() -> None:
    # 784·256 + 256 = 200,960 and 256·10 + 10 = 2570: 203,530 parameters.
    count = parameters(mlp(784, 256, 10))
    assert count == 200_960 + 2_570 == 203_530
    # 203,530 · 4 = 814,120 for each of: parameters, gradients, and one or two numbers that the optimizer keeps.
    by_recipe = {recipe: model_state(parameters=count, recipe=recipe) for recipe in (FP32_SGD, FP32_MOMENTUM, FP32_ADAM)}
    assert [state.total_bytes for state in by_recipe.values()] == [1_628_240, 2_442_360, 3_256_480]
    assert [state.optimizer_bytes for state in by_recipe.values()] == [0, 814_120, 1_628_240]
    # 128 · (784 + 256 + 10) · 4 bytes.
    assert dense_activations_bytes(mlp(784, 256, 10), batch=128, element_bytes=4) == 537_600


def kept(net: nn.Module, x: Tensor, y: Tensor) -> int:
    """The bytes that PyTorch keeps for backward, but for parameters and labels, each tensor once."""
    own = {p.untyped_storage().data_ptr() for p in net.parameters()} | {y.untyped_storage().data_ptr()}
    found: dict[int, tuple[int, Tensor]] = {}

    def keep(tensor: Tensor) -> Tensor:
        place = tensor.untyped_storage().data_ptr()
        if place not in own and tensor.dim():
            found[place] = (tensor.untyped_storage().nbytes(), tensor)  # the tensor is held, so no other takes its place
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        loss = nn.functional.cross_entropy(net(x), y)
    torch.autograd.backward(loss)
    return sum(size for size, _ in found.values())


@steady
@given(st.lists(st.integers(2, 40), min_size=2, max_size=5), st.integers(1, 16))
def test_activations_are_what_pytorch_keeps(widths: list[int], batch: int) -> None:
    layers: list[nn.Module] = []
    for a, b in pairwise(widths):
        layers += [nn.Linear(a, b), nn.ReLU()]
    net = nn.Sequential(*layers[:-1])  # no ReLU after the last layer
    held = kept(net, torch.randn(batch, widths[0]), torch.zeros(batch, dtype=torch.long))
    assert held == dense_activations_bytes(mlp(*widths), batch=batch, element_bytes=4)


@pytest.mark.parametrize(
    ("recipe", "optimizer", "options"),
    [(FP32_SGD, torch.optim.SGD, {}), (FP32_MOMENTUM, torch.optim.SGD, {"momentum": 0.9}), (FP32_ADAM, torch.optim.Adam, {})],
)
def test_the_state_is_what_pytorch_keeps(recipe: ModelState, optimizer: Any, options: dict[str, float]) -> None:
    net = nn.Sequential(nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 10))
    steps = optimizer(net.parameters(), lr=1e-3, **options)
    net(torch.randn(4, 784)).sum().backward()
    steps.step()

    def size(tensors: Any) -> int:
        return sum(t.numel() * t.element_size() for t in tensors)

    state = model_state(parameters=203_530, recipe=recipe)
    assert size(net.parameters()) == state.parameters_bytes
    assert size(p.grad for p in net.parameters()) == state.gradients_bytes
    held = [t for each in steps.state.values() for t in each.values() if torch.is_tensor(t) and t.dim()]  # its step counter aside
    assert size(held) == state.optimizer_bytes


def test_what_is_refused() -> None:
    with refuses("parameters must be a whole number of at least 1, got 0"):
        model_state(parameters=0, recipe=FP32_ADAM)
    with refuses("gradients_bytes must be a finite number of at least 0, got -1"):
        ModelState(parameters_bytes=4, gradients_bytes=-1, optimizer_bytes=0)
    with refuses("optimizer_bytes must be a finite number of at least 0, got nan"):
        ModelState(parameters_bytes=4, gradients_bytes=4, optimizer_bytes=math.nan)
    with refuses("batch must be a whole number of at least 1, got 0"):
        dense_activations_bytes(mlp(2, 3), batch=0, element_bytes=4)
    with refuses("element_bytes must be a finite number above 0, got 0"):
        dense_activations_bytes(mlp(2, 3), batch=1, element_bytes=0)
    with refuses("layers must be at least one, got none"):
        dense_activations_bytes((), batch=1, element_bytes=4)


def test_the_recipes_get_heavier() -> None:
    totals = [recipe.total_bytes for recipe in memory.RECIPES.values()]
    assert totals == [8, 12, 16, 16]
