"""Data parallelism from scratch: every device holds all of LeNet and sees a part of the batch; gradients are added up.

python multiple_gpus.py
"""

import torch
import torch.nn.functional as F
from torch import Tensor

LR, BATCH, STEPS = 0.05, 61, 6  # 61 samples: uneven on 2 devices


# part: lenet
def lenet(X: Tensor, params: list[Tensor]) -> Tensor:
    W1, b1, W2, b2, W3, b3, W4, b4 = params
    X = F.avg_pool2d(F.relu(F.conv2d(X, W1, b1)), 2)
    X = F.avg_pool2d(F.relu(F.conv2d(X, W2, b2)), 2)
    X = F.relu(X.flatten(1) @ W3 + b3)
    return X @ W4 + b4


# end: lenet


def draw_params(random: torch.Generator) -> list[Tensor]:
    shapes = [(20, 1, 5, 5), (50, 20, 5, 5), (800, 128), (128, 10)]  # two convolutions, two linear layers
    params = []
    for shape in shapes:
        inputs, outputs = (shape[0], shape[1]) if len(shape) == 2 else (shape[1] * shape[2] * shape[3], shape[0])
        params += [torch.randn(shape, generator=random) * (2 / inputs) ** 0.5, torch.zeros(outputs)]
    return params


# part: copy
def copy_to(params: list[Tensor], device: str) -> list[Tensor]:
    """A replica: tensors of its own, also where two replicas lie on one device."""
    return [p.clone().to(device).requires_grad_() for p in params]


# end: copy


# part: allreduce
def allreduce(data: list[Tensor]) -> None:
    """Add all up on the first device, then give everyone the sum, in place."""
    for other in data[1:]:
        data[0] += other.to(data[0].device)
    for other in data[1:]:
        other.copy_(data[0])


# end: allreduce


# part: split
def split_batch(X: Tensor, y: Tensor, devices: list[str]) -> tuple[list[Tensor], list[Tensor]]:
    """A part for each device, in order, every sample once; the first parts may hold one more."""

    def parts(whole: Tensor) -> list[Tensor]:
        pieces = whole.tensor_split(len(devices))
        return [piece.to(device) for piece, device in zip(pieces, devices, strict=True)]

    return parts(X), parts(y)


# end: split


# part: train
def train_batch(X: Tensor, y: Tensor, replicas: list[list[Tensor]], devices: list[str], lr: float):
    """One step on every replica; returns the mean loss before it."""
    X_parts, y_parts = split_batch(X, y, devices)
    losses = [
        F.cross_entropy(lenet(X_part, params), y_part, reduction="sum")  # parts may differ in size
        for X_part, y_part, params in zip(X_parts, y_parts, replicas, strict=True)
    ]
    for loss in losses:  # each device works on its own
        loss.backward()
    with torch.no_grad():
        for copies in zip(*replicas, strict=True):  # the copies of one parameter
            allreduce([p.grad for p in copies])
        for params in replicas:  # the same update everywhere
            for p in params:
                p -= lr / len(X) * p.grad
                p.grad = None
    return sum(loss.item() for loss in losses) / len(X)


# end: train


def pictures(random: torch.Generator) -> tuple[Tensor, Tensor]:
    """Made up: each of ten classes has a pattern of 28 by 28, each picture is its class's pattern with noise."""
    patterns = torch.randn(10, 1, 28, 28, generator=random)
    y = torch.arange(BATCH) % 10
    return patterns[y] + 0.5 * torch.randn(BATCH, 1, 28, 28, generator=random), y


def main() -> None:
    gpus = torch.cuda.device_count()
    devices = [f"cuda:{i % gpus}" for i in range(max(2, gpus))] if gpus else ["cpu", "cpu"]
    random = torch.Generator().manual_seed(0)

    data = [torch.ones(2, device=device) * (i + 1) for i, device in enumerate(devices[:2])]
    allreduce(data)
    print(f"allreduce of [1, 1] and [2, 2]: {data[0].int().tolist()} and {data[1].int().tolist()}")

    first, (X, y) = draw_params(random), pictures(random)
    replicas = [copy_to(first, device) for device in devices]
    sizes = [len(part) for part in split_batch(X, y, devices)[0]]
    print(f"{len(devices)} replicas on {', '.join(devices)}, with {sizes} of {BATCH} samples")
    losses = [train_batch(X, y, replicas, devices, LR) for _ in range(STEPS)]
    print("loss: " + " ".join(f"{loss:.3f}" for loss in losses))

    for params in replicas[1:]:
        if not all(torch.equal(a.cpu(), b.cpu()) for a, b in zip(replicas[0], params, strict=True)):
            raise SystemExit("the replicas must be equal in every bit")
    if not losses[-1] < losses[0]:
        raise SystemExit("the loss must fall")
    print("OK: the replicas agree in every bit and the loss fell")


if __name__ == "__main__":
    main()
