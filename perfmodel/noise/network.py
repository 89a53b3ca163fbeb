"""A classifier of one hidden layer, and its gradient for each sample on its own, worked out by hand.

z = x·W₁ + b₁, h = tanh z, o = h·W₂ + b₂, and the loss of a sample is its cross-entropy. With batch normalization, z is first
brought to mean 0 and variance 1 in each column, by the statistics of the batch at hand; there is no scale and no shift after it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Labels = NDArray[np.int64]
INPUTS, HIDDEN, CLASSES, SAMPLES = 16, 8, 4, 4096
EPSILON = 1e-5
"""What is added to a variance before its root is taken, as PyTorch does."""


class Network(NamedTuple):
    """Weights and biases: W₁ of inputs×hidden, b₁, W₂ of hidden×classes, b₂."""

    w1: Floats
    b1: Floats
    w2: Floats
    b2: Floats

    @property
    def parameters(self) -> int:
        """How many numbers that is."""
        return sum(part.size for part in self)


def network(seed: int) -> Network:
    """A network drawn from a seed: each weight from N(0, 1/inputs of its layer), biases 0.

    >>> network(0).parameters  # 16·8 + 8 + 8·4 + 4
    172
    """
    random = np.random.default_rng(seed)
    return Network(
        random.normal(size=(INPUTS, HIDDEN)) / INPUTS**0.5,
        np.zeros(HIDDEN),
        random.normal(size=(HIDDEN, CLASSES)) / HIDDEN**0.5,
        np.zeros(CLASSES),
    )


def dataset(seed: int, samples: int = SAMPLES) -> tuple[Floats, Labels]:
    """Samples from N(0, 1) in each input, and a class for each, drawn from what a random linear rule makes of it, with noise.

    >>> x, y = dataset(0)
    >>> x.shape, y.shape, sorted(set(y.tolist()))
    ((4096, 16), (4096,), [0, 1, 2, 3])
    """
    random = np.random.default_rng(seed)
    x = random.normal(size=(samples, INPUTS))
    scores = x @ random.normal(size=(INPUTS, CLASSES)) + 2 * random.normal(size=(samples, CLASSES))
    return x, np.argmax(scores, axis=1).astype(np.int64)


def _wrong(o: Floats, y: Labels) -> Floats:
    """The gradient of each sample's cross-entropy by its outputs: softmax(o) − (1 at its class)."""
    powers = np.exp(o - o.max(axis=1, keepdims=True))
    p: Floats = powers / powers.sum(axis=1, keepdims=True)
    p[np.arange(len(y)), y] -= 1
    return p


def sample_gradients(net: Network, x: Floats, y: Labels) -> Floats:
    """The gradient of the loss of each sample by all parameters, one row a sample: (samples, parameters).

    The gradient of the mean loss of a batch is the mean of its rows, since no sample's loss depends on another.
    """
    h = np.tanh(x @ net.w1 + net.b1)
    do = _wrong(h @ net.w2 + net.b2, y)
    dz = do @ net.w2.T * (1 - h**2)
    n = len(x)
    parts = ((x[:, :, None] * dz[:, None, :]).reshape(n, -1), dz, (h[:, :, None] * do[:, None, :]).reshape(n, -1), do)
    return np.concatenate(parts, axis=1)


def batch_norm_gradient(net: Network, x: Floats, y: Labels) -> Floats:
    """The gradient of the mean loss of this batch with batch normalization before tanh, by all parameters: (parameters,).

    The mean and the variance of z are those of the batch, so each sample's loss depends on all of its samples.
    """
    n = len(x)
    z = x @ net.w1 + net.b1
    root = np.sqrt(z.var(axis=0) + EPSILON)
    u = (z - z.mean(axis=0)) / root
    h = np.tanh(u)
    do = _wrong(h @ net.w2 + net.b2, y) / n
    du = do @ net.w2.T * (1 - h**2)
    dz = (du - du.mean(axis=0) - u * (du * u).mean(axis=0)) / root  # through the mean and the variance as well
    return np.concatenate([(x.T @ dz).ravel(), dz.sum(axis=0), (h.T @ do).ravel(), do.sum(axis=0)])
