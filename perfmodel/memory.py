"""The memory that training needs on a card: the state of the model, and the activations that backward reads again.

The *model state* is what does not depend on the batch: parameters, gradients and what the optimizer keeps. A recipe says how many
bytes of each a single parameter costs. Left out are buffers of libraries, fragmentation and the CUDA context, all of which come
on top.

Source: Rajbhandari et al. 2020, section 3, for mixed precision with Adam; the rest is a hand calculation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from perfmodel.sources import Source
from perfmodel.splitting import Dense, parameters
from perfmodel.units import at_least, finite, listed, not_negative, positive

ZERO = Source(
    title="ZeRO: memory optimizations toward training trillion parameter models",
    authors="Samyam Rajbhandari, Jeff Rasley, Olatunji Ruwase and Yuxiong He",
    url="https://arxiv.org/abs/1910.02054",
    place="section 3, arXiv:1910.02054 (2020)",
)
ADAM = Source(
    title="Adam: a method for stochastic optimization",
    authors="Diederik P. Kingma and Jimmy Ba",
    url="https://arxiv.org/abs/1412.6980",
    place="algorithm 1, arXiv:1412.6980 (2015)",
)


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelState:
    """Bytes of parameters, of gradients and of what the optimizer keeps; of one parameter (a recipe) or of a whole model.

    A full-precision copy of the parameters that only the optimizer reads counts with the optimizer, as in the source.
    Raises ValueError for bytes that are negative or not finite, all three together too.

    >>> ModelState(parameters_bytes=2, gradients_bytes=2, optimizer_bytes=12).total_bytes
    16
    """

    parameters_bytes: float
    gradients_bytes: float
    optimizer_bytes: float

    def __post_init__(self) -> None:
        not_negative("parameters_bytes", self.parameters_bytes)
        not_negative("gradients_bytes", self.gradients_bytes)
        not_negative("optimizer_bytes", self.optimizer_bytes)
        finite("total_bytes", self.total_bytes)

    @property
    def total_bytes(self) -> float:
        """All three together."""
        return self.parameters_bytes + self.gradients_bytes + self.optimizer_bytes


FP32_SGD = ModelState(parameters_bytes=4, gradients_bytes=4, optimizer_bytes=0)
"""Plain gradient descent in FP32 keeps nothing: 8 bytes a parameter. Hand calculation: 4 + 4."""
FP32_MOMENTUM = ModelState(parameters_bytes=4, gradients_bytes=4, optimizer_bytes=4)
"""Momentum keeps a velocity for each parameter: 12 bytes. Hand calculation: 4 + 4 + 4."""
FP32_ADAM = ModelState(parameters_bytes=4, gradients_bytes=4, optimizer_bytes=8)
"""Adam keeps two moments for each parameter: 16 bytes. Kingma & Ba 2015, algorithm 1: 4 + 4 + 2·4."""
MIXED_ADAM = ModelState(parameters_bytes=2, gradients_bytes=2, optimizer_bytes=12)
"""Mixed precision with Adam: FP16 parameters and gradients; the optimizer keeps FP32 parameters and both moments. 16 bytes.

Rajbhandari et al. 2020, section 3.1: 2 + 2 + K, with K = 12.
"""
MIXED_ADAM_FP32_GRADIENTS = ModelState(parameters_bytes=2, gradients_bytes=4, optimizer_bytes=12)
"""The same with gradients summed in FP32, as Megatron-LM does: 18 bytes. Hand calculation: 2 + 4 + 12, the total that
Korthikanti et al. 2022 draw in figure 1."""
RECIPES = {"SGD": FP32_SGD, "momentum": FP32_MOMENTUM, "Adam": FP32_ADAM, "Adam, mixed precision": MIXED_ADAM}
"""The recipes by name, the leanest first."""


def model_state(*, parameters: int, recipe: ModelState) -> ModelState:
    """The state of a model of that many parameters, when each costs what `recipe` says: a product, part by part.

    It leaves out activations and all buffers. Raises ValueError for `parameters` below 1.

    >>> model_state(parameters=1_500_000_000, recipe=MIXED_ADAM).total_bytes  # GPT-2: "at least 24 GB"
    24000000000

    Source: Rajbhandari et al. 2020, section 3.1.
    """
    at_least("parameters", parameters, 1)
    return ModelState(
        parameters_bytes=parameters * recipe.parameters_bytes,
        gradients_bytes=parameters * recipe.gradients_bytes,
        optimizer_bytes=parameters * recipe.optimizer_bytes,
    )


def dense_activations_bytes(layers: Sequence[Dense], *, batch: int, element_bytes: float) -> float:
    """What backward reads again of one forward pass through dense layers: batch·(inputs + all outputs)·bytes.

    Each layer keeps its inputs. An activation function keeps its own result, which is the inputs of the next layer, and so costs
    nothing more; the loss keeps its result, one element for each output. Unlike the model state it grows with the batch. It leaves
    out the labels, and what is alive for a moment only. Raises ValueError for layers that do not fit together, a batch below 1,
    and an element of 0 bytes or less.

    >>> from perfmodel.splitting import mlp
    >>> dense_activations_bytes(mlp(784, 256, 10), batch=32, element_bytes=4)  # 32 · (784 + 256 + 10) · 4
    134400

    Source: hand calculation; PyTorch keeps exactly these tensors (the tests count them).
    """
    layers = listed("layers", layers)
    parameters(layers)  # refuses layers that do not fit
    at_least("batch", batch, 1)
    positive("element_bytes", element_bytes)
    return finite("dense_activations_bytes", batch * (layers[0].inputs + sum(layer.outputs for layer in layers)) * element_bytes)
