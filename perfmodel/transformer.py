"""The memory of a transformer that is cut over tensor-parallel and pipeline-parallel ranks: its state, and its activations.

Of the parameters only the matrices of the layers count, 12·h² in each; embeddings, biases and normalizations are left out, as the
source does for its figure. Activations are in 16 bits, dropout masks take a byte. All is for the first stage of the pipeline,
which holds most.

Source: Korthikanti et al. 2022, "Reducing activation recomputation in large transformer models", arXiv:2205.05198.
"""

from __future__ import annotations

from dataclasses import dataclass

from perfmodel.memory import MIXED_ADAM_FP32_GRADIENTS, ModelState
from perfmodel.units import at_least, finite


@dataclass(frozen=True, kw_only=True, slots=True)
class Transformer:
    """A decoder of L layers, with a attention heads, hidden size h, sequences of s tokens and b of them in a microbatch; over t
    tensor-parallel ranks, in p stages of which each device holds v chunks. Raises ValueError for any of them below 1.

    >>> Transformer(layers=48, heads=64, hidden=6144, sequence=2048, microbatch=4, tensor=8).parameters
    21743271936
    """

    layers: int
    heads: int
    hidden: int
    sequence: int
    microbatch: int
    tensor: int = 1
    stages: int = 1
    chunks: int = 1

    def __post_init__(self) -> None:
        for name in self.__dataclass_fields__:
            at_least(name, getattr(self, name), 1)

    @property
    def parameters(self) -> int:
        """The weights of all layers: 12·h²·L, 4·h² of attention and 8·h² of the feed-forward part in each."""
        return 12 * self.hidden**2 * self.layers


def state_bytes(model: Transformer, *, recipe: ModelState = MIXED_ADAM_FP32_GRADIENTS) -> float:
    """Bytes of parameters, gradients and optimizer on one device: what the recipe says for each of 12·h²·L/(t·p).

    Raises ValueError for bytes that are not finite.

    >>> state_bytes(Transformer(layers=48, heads=64, hidden=6144, sequence=2048, microbatch=4, tensor=8)) / 2**30
    45.5625

    Source: Korthikanti et al. 2022, figure 1.
    """
    return finite("state_bytes", model.parameters * recipe.total_bytes / (model.tensor * model.stages))


def interleave_factor(model: Transformer) -> float:
    """How much more the first stage holds when each device has v chunks: 1 + (p−1)/(p·v), and 1 with one chunk.

    >>> interleave_factor(Transformer(layers=96, heads=96, hidden=12288, sequence=2048, microbatch=1, stages=8, chunks=3))
    1.2916666666666667

    Source: Korthikanti et al. 2022, section 4.2.3.
    """
    return 1.0 if model.chunks == 1 else 1 + (model.stages - 1) / (model.stages * model.chunks)


def activation_bytes(model: Transformer) -> float:
    """Bytes of activations with tensor parallelism alone, nothing recomputed: s·b·h·L·(10 + 24/t + 5·a·s/(h·t))·`interleave_factor`.

    With p stages the first holds L/p layers, for p microbatches at once: L in all. It leaves out what lies before and after the
    layers.

    >>> activation_bytes(Transformer(layers=48, heads=64, hidden=6144, sequence=2048, microbatch=4, tensor=8)) / 2**30
    59.25

    Source: Korthikanti et al. 2022, equation 2 and section 4.2.3.
    """
    m = model
    each = 10 * m.hidden + (24 * m.hidden + 5 * m.heads * m.sequence) / m.tensor
    return m.sequence * m.microbatch * m.layers * each * interleave_factor(m)


def activation_bytes_selective(model: Transformer) -> float:
    """The same with sequence parallelism, and attention recomputed: 34·s·b·h·L/t times `interleave_factor`.

    >>> activation_bytes_selective(Transformer(layers=48, heads=64, hidden=6144, sequence=2048, microbatch=4, tensor=8)) / 2**30
    9.5625

    Source: Korthikanti et al. 2022, section 5, equation 6.
    """
    m = model
    return 34 * m.sequence * m.microbatch * m.hidden * m.layers / m.tensor * interleave_factor(m)
