"""Two experiments with gradients, on a network small enough to know the gradient of each sample: seeded, in FP64, in NumPy alone.

One shows how the noise of a batch's gradient falls with the size of the batch; the other when the average over shards is the
gradient of the whole batch, and when it is not.
"""

from perfmodel.noise.averages import PARTS, averages
from perfmodel.noise.network import Network, batch_norm_gradient, dataset, network, sample_gradients
from perfmodel.noise.shown import record
from perfmodel.noise.variance import BATCHES, Interval, Noise, measure, slope

__all__ = [
    "BATCHES", "PARTS", "Interval", "Network", "Noise", "averages", "batch_norm_gradient", "dataset", "measure", "network", "record",
    "sample_gradients", "slope",
]  # fmt: skip
