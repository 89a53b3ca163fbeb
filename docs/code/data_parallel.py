"""nn.DataParallel on as many GPUs as there are: who computes what, and where all of it meets. Without a GPU it runs the plain module.

python data_parallel.py
"""

import copy

import torch
from torch import Tensor, nn

BATCH = 128


# part: wrap
def on_all_gpus(net: nn.Module) -> nn.Module:
    """One process, a thread for each GPU; without GPUs the plain module."""
    net = net.to("cuda:0" if torch.cuda.is_available() else "cpu")
    return nn.DataParallel(net)


# end: wrap


# part: watch
def watch(layer: nn.Module) -> list[tuple[str, int]]:
    """Fills up with the device and the number of samples of each call."""
    calls: list[tuple[str, int]] = []

    def note(_: nn.Module, inputs: tuple[Tensor]) -> None:
        calls.append((str(inputs[0].device), len(inputs[0])))

    layer.register_forward_pre_hook(note)  # copies of the layer keep it
    return calls


# end: watch


# part: step
def gradients(
    net: nn.Module,
    X: Tensor,
    y: Tensor,
) -> tuple[Tensor, list[Tensor]]:
    """The output, and the gradients, which meet where the parameters are."""
    device = next(net.parameters()).device
    output = net(X.to(device))
    nn.CrossEntropyLoss()(output, y.to(device)).backward()
    return output.detach(), [p.grad for p in net.parameters()]


# end: step


def largest_difference(ours: list[Tensor], plain: list[Tensor]) -> float:
    return max(float((a.cpu() - b).abs().max()) for a, b in zip(ours, plain, strict=True))


def main() -> None:
    torch.manual_seed(0)
    gpus = torch.cuda.device_count()
    net = nn.Sequential(nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 10))
    plain = copy.deepcopy(net)
    X, y = torch.randn(BATCH, 784), torch.arange(BATCH) % 10

    calls = watch(net[0])
    output, ours = gradients(on_all_gpus(net), X, y)
    for device, samples in sorted(calls):
        print(f"{device} computes {samples} of {BATCH} samples")
    if sum(samples for _, samples in calls) != BATCH:
        raise SystemExit(f"each sample must be computed once, got {calls}")
    print(f"all outputs come to {output.device}, all gradients to {ours[0].device}")

    expected, theirs = gradients(plain, X, y)
    difference = largest_difference([output, *ours], [expected, *theirs])
    if difference > (1e-4 if gpus else 0.0):  # float32: other kernels add in another order
        raise SystemExit(f"wrapped and plain must give the same, got a difference of {difference}")
    if gpus:
        print(f"OK: on {gpus} GPUs the same outputs and gradients as in one piece, to {difference:.0e}")
    else:
        print("There is no GPU: DataParallel runs the plain module, and splits nothing.")
        print("OK: the same outputs and gradients as the plain module, in every bit")


if __name__ == "__main__":
    main()
