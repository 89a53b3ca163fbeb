"""Three ways to split one network over k GPUs, and what each must send for one minibatch.

The network is a chain of dense layers. Counted are the bytes that cross between GPUs in one forward and one backward pass, and
the synchronizations: the points at which a GPU waits for data from another before it can go on. All GPUs take an equal part; a
part is a real number of elements, not rounded. Left out: loading the input, the loss, the optimizer's state, activation functions
(they work where their input is), and all latency. Activations, gradients and parameters have the same `element_bytes`.

Source: Dive into Deep Learning 13.5 describes the three ways; the counts are a hand calculation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from perfmodel.units import at_least, finite, listed, positive


@dataclass(frozen=True, kw_only=True, slots=True)
class Dense:
    """A layer outputs = weights · inputs + bias. Raises ValueError for fewer than one input or output.

    >>> Dense(inputs=784, outputs=256).parameters
    200960
    """

    inputs: int
    outputs: int

    def __post_init__(self) -> None:
        at_least("inputs", self.inputs, 1)
        at_least("outputs", self.outputs, 1)

    @property
    def parameters(self) -> int:
        """The weights and the biases."""
        return self.inputs * self.outputs + self.outputs


@dataclass(frozen=True, kw_only=True, slots=True)
class Traffic:
    """What one minibatch costs: bytes that all GPUs send together, bytes that the busiest GPU sends, and synchronizations.

    Raises ValueError for a total that is not finite; the busiest GPU sends no more.
    """

    total_bytes: float
    busiest_gpu_bytes: float
    synchronizations: int

    def __post_init__(self) -> None:
        finite("total_bytes", self.total_bytes)


def mlp(*widths: int) -> tuple[Dense, ...]:
    """The chain of dense layers between these widths. Raises ValueError for fewer than two, and for a width below 1.

    >>> [layer.inputs for layer in mlp(512, 256, 128, 2)]
    [512, 256, 128]
    """
    if len(widths) < 2:
        raise ValueError(f"widths must be at least two, inputs and outputs, got {widths!r}")
    return tuple(Dense(inputs=a, outputs=b) for a, b in pairwise(widths))


def parameters(layers: Sequence[Dense]) -> int:
    """All weights and biases. Raises ValueError where a layer does not fit the one before it, and without layers.

    >>> parameters(mlp(784, 256, 10))
    203530
    """
    layers = listed("layers", layers)
    if not layers:
        raise ValueError("layers must be at least one, got none")
    for before, after in pairwise(layers):
        if before.outputs != after.inputs:
            raise ValueError(f"a layer must take what the one before it gives, {before.outputs}; got {after.inputs} inputs")
    return sum(layer.parameters for layer in layers)


def _checked(layers: Sequence[Dense], batch: int, element_bytes: float, gpus: int) -> tuple[Dense, ...]:
    layers = listed("layers", layers)
    parameters(layers)
    at_least("batch", batch, 1)
    positive("element_bytes", element_bytes)
    at_least("gpus", gpus, 1)
    return layers


def between_layers(layers: Sequence[Dense], *, batch: int, element_bytes: float, gpus: int) -> Traffic:
    """Each GPU holds a run of layers: at each of the k−1 cuts the activations go forward, and their gradients come back.

    A cut after a layer of w outputs carries batch·w elements each way; each way is a synchronization, 2·(k−1) in all. GPU i holds
    the layers from floor(i·L/k) up to floor((i+1)·L/k). The minibatch passes as a whole: no micro-batches, one GPU works at a time.
    Raises ValueError for `gpus` above the number of layers, for `batch` or `gpus` below 1, and for an element of 0 bytes or less.

    >>> between_layers(mlp(784, 256, 10), batch=32, element_bytes=4, gpus=2)  # 32 · 256 · 4 bytes each way
    Traffic(total_bytes=65536.0, busiest_gpu_bytes=32768.0, synchronizations=2)

    Source: Dive into Deep Learning 13.5; hand calculation.
    """
    layers = _checked(layers, batch, element_bytes, gpus)
    if gpus > len(layers):
        raise ValueError(f"gpus must be at most the {len(layers)} layers, got {gpus}")
    cuts = [layers[i * len(layers) // gpus - 1].outputs * batch * element_bytes for i in range(1, gpus)]
    sent = [after + before for before, after in zip([0.0, *cuts], [*cuts, 0.0], strict=True)]  # backward, and forward
    return Traffic(total_bytes=2.0 * sum(cuts), busiest_gpu_bytes=float(max(sent)), synchronizations=2 * len(cuts))


def across_layers(layers: Sequence[Dense], *, batch: int, element_bytes: float, gpus: int) -> Traffic:
    """Each GPU holds 1/k of the outputs of every layer, and sees the whole minibatch.

    Forward, an all-gather after every layer gives each GPU all outputs. Backward, each GPU has a part of the sum that is the
    gradient of the layer's inputs, and a reduce-scatter adds them up where they are needed; the first layer's inputs need none.
    Around a ring each GPU sends (k−1)/k of the elements in either: with L layers, 2L−1 synchronizations.
    Raises as `between_layers` does, but for the number of layers: any k will do. One GPU sends nothing.

    >>> across_layers(mlp(784, 256, 10), batch=32, element_bytes=4, gpus=2)  # half of 32 · (256 + 10 + 256) · 4 bytes
    Traffic(total_bytes=66816.0, busiest_gpu_bytes=33408.0, synchronizations=3)

    Source: Dive into Deep Learning 13.5; hand calculation; Patarasuk & Yuan 2009 for (k−1)/k.
    """
    layers = _checked(layers, batch, element_bytes, gpus)
    elements = batch * (sum(layer.outputs for layer in layers) + sum(layer.inputs for layer in layers[1:]))
    each = elements * element_bytes * (gpus - 1) / gpus
    return Traffic(total_bytes=each * gpus, busiest_gpu_bytes=each, synchronizations=2 * len(layers) - 1 if gpus > 1 else 0)


def across_data(layers: Sequence[Dense], *, batch: int, element_bytes: float, gpus: int) -> Traffic:
    """Each GPU holds the whole network and 1/k of the minibatch: one allreduce of all gradients, whatever the batch.

    Around a ring each GPU sends 2·(k−1)/k of the parameters' bytes. One synchronization. Raises as `across_layers` does.

    >>> across_data(mlp(784, 256, 10), batch=32, element_bytes=4, gpus=2)  # 203530 parameters · 4 bytes
    Traffic(total_bytes=1628240.0, busiest_gpu_bytes=814120.0, synchronizations=1)

    Source: Dive into Deep Learning 13.5; Patarasuk & Yuan 2009.
    """
    layers = _checked(layers, batch, element_bytes, gpus)
    each = 2 * parameters(layers) * element_bytes * (gpus - 1) / gpus
    return Traffic(total_bytes=each * gpus, busiest_gpu_bytes=each, synchronizations=1 if gpus > 1 else 0)
