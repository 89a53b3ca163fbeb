"""Networks and batches that a run in lockstep trains: XOR, and a LeNet on synthetic images."""

from __future__ import annotations

import math

import torch
from torch import nn

from perfmodel.lockstep.step import Shard

BATCH, IMAGES = 13, 61


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


def image_batch(dtype: torch.dtype = torch.float64) -> Shard:
    """61 images of 1×28×28: ten patterns of noise, one a class, each image with noise of its own. 61 is uneven over 2, 3, 4 and 8."""
    random = torch.Generator().manual_seed(5)
    y = torch.arange(IMAGES) % 10
    patterns = torch.randn(10, 1, 28, 28, generator=random, dtype=torch.float64)
    X = patterns[y] + 0.5 * torch.randn(IMAGES, 1, 28, 28, generator=random, dtype=torch.float64)
    return X.to(dtype), y


def lenet(dtype: torch.dtype = torch.float64, *, init: int = 0) -> nn.Sequential:
    """LeNet with 20 and 50 channels and 128 hidden units: 129,000 parameters or so, drawn by a generator of its own.

    Its parameters hardly move in a short training, so a difference is measured against how far they moved: `measure="update"`.

    >>> sum(p.numel() for p in lenet().parameters())
    129388
    """
    random = torch.Generator().manual_seed(init)
    net = nn.Sequential(
        nn.Conv2d(1, 20, 5), nn.ReLU(), nn.AvgPool2d(2), nn.Conv2d(20, 50, 5), nn.ReLU(), nn.AvgPool2d(2),
        nn.Flatten(), nn.Linear(800, 128), nn.ReLU(), nn.Linear(128, 10),
    ).double()  # fmt: skip
    with torch.no_grad():
        for parameter in net.parameters():
            spread = 1 / math.sqrt(parameter[0].numel()) if parameter.ndim > 1 else 0.1
            parameter.copy_(spread * torch.randn(parameter.shape, generator=random, dtype=torch.float64))
    return net.to(dtype)
