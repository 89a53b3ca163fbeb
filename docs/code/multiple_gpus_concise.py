"""Data parallelism in one line: nn.DataParallel splits the batch, runs the replicas and adds up the gradients.

python multiple_gpus_concise.py
"""

import torch
from torch import nn


# part: network
def small_net() -> nn.Sequential:
    return nn.Sequential(nn.Flatten(), nn.Linear(28 * 28, 128), nn.ReLU(), nn.Linear(128, 10))


# end: network


# part: train
def train(net: nn.Module, X: torch.Tensor, y: torch.Tensor, lr: float, steps: int) -> list[float]:
    devices = [torch.device("cuda", i) for i in range(torch.cuda.device_count())]
    first = devices[0] if devices else torch.device("cpu")
    net = nn.DataParallel(net.to(first), device_ids=devices or None)  # the one line
    optimizer = torch.optim.SGD(net.parameters(), lr)
    loss_of, losses = nn.CrossEntropyLoss(), []
    X, y = X.to(first), y.to(first)
    for _ in range(steps):
        optimizer.zero_grad()
        loss = loss_of(net(X), y)  # outputs meet on the first device: the mean of the whole batch
        loss.backward()  # gradients arrive summed on the first device
        optimizer.step()
        losses.append(loss.item())
    return losses


# end: train


def main() -> None:
    torch.manual_seed(0)
    gpus = torch.cuda.device_count()
    y = torch.arange(61) % 10
    X = torch.randn(10, 1, 28, 28)[y] + 0.5 * torch.randn(61, 1, 28, 28)
    losses = train(small_net(), X, y, lr=0.05, steps=10)
    print(f"loss: {losses[0]:.3f} at first, {losses[-1]:.3f} after {len(losses)} steps")
    if not losses[-1] < losses[0]:
        raise SystemExit("the loss must fall")
    if not gpus:
        x = X[:2]
        plain = small_net()
        if not torch.equal(nn.DataParallel(plain)(x), plain(x)):
            raise SystemExit("without a GPU, DataParallel must be the module itself")
        print("Without a GPU, DataParallel runs the module itself: no copies, nothing split.")
    print("DataParallel is one process, and gathers on one device; in production, DistributedDataParallel runs a process per GPU.")
    print(f"OK: the loss fell, on {gpus} GPUs" if gpus else "OK: the loss fell, on the CPU")


if __name__ == "__main__":
    main()
