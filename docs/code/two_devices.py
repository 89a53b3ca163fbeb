"""Two devices with independent work: with a barrier between they take turns, without it they run side by side.

python two_devices.py
"""

import time

import torch

SIZE, ROUNDS = 256, 10


# part: work
def compute(x: torch.Tensor) -> list[torch.Tensor]:
    return [x @ x for _ in range(ROUNDS)]


# end: work


def wait_for(*inputs: torch.Tensor) -> None:
    for x in inputs:
        if x.is_cuda:
            torch.cuda.synchronize(x.device)


# part: turns
def in_turns(a: torch.Tensor, b: torch.Tensor) -> list[list[torch.Tensor]]:
    first = compute(a)
    wait_for(a)  # the barrier: the other device gets no work before this one is done
    second = compute(b)
    wait_for(b)
    return [first, second]


# end: turns


# part: together
def side_by_side(a: torch.Tensor, b: torch.Tensor) -> list[list[torch.Tensor]]:
    results = [compute(a), compute(b)]  # both queues fill at once
    wait_for(a, b)  # one barrier, at the end
    return results


# end: together


# part: copy
def copied_while_computing(x: torch.Tensor, hosts: list[torch.Tensor]) -> list[torch.Tensor]:
    """Results travel to pinned `hosts` on a stream of their own while the next is computed."""
    copies, computing = torch.cuda.Stream(x.device), torch.cuda.current_stream(x.device)
    for host in hosts:
        y = x @ x
        copies.wait_stream(computing)  # not before y is there
        with torch.cuda.stream(copies):
            host.copy_(y, non_blocking=True)  # returns at once
        y.record_stream(copies)  # y's memory is in use until the copy is done
    wait_for(x)  # before anyone reads the hosts
    return hosts


# end: copy


def seconds(function, *inputs) -> float:
    function(*inputs)  # once to warm up
    wait_for(*(x for x in inputs if isinstance(x, torch.Tensor)))
    start = time.perf_counter()
    function(*inputs)  # ends with a wait of its own
    return time.perf_counter() - start


def main() -> None:
    gpus = torch.cuda.device_count()
    x = torch.randn(SIZE, SIZE, generator=torch.Generator().manual_seed(0))

    a, b = x, x.T.contiguous()
    same = all(
        torch.equal(p, q)
        for one, other in zip(in_turns(a, b), side_by_side(a, b), strict=True)
        for p, q in zip(one, other, strict=True)
    )
    if not same:
        raise SystemExit("a barrier must change no result")
    print("CPU: the same results with and without the barrier")

    if gpus >= 2:
        a, b = (torch.randn(4096, 4096, device=f"cuda:{i}") for i in range(2))
        print(f"GPUs: in turns {1e3 * seconds(in_turns, a, b):.1f} ms, side by side {1e3 * seconds(side_by_side, a, b):.1f} ms")
    else:
        print(f"NOT RUN: two devices side by side need 2 GPUs, this machine has {gpus}")

    if gpus >= 1:
        a = torch.randn(4096, 4096, device="cuda")
        hosts = [torch.empty(4096, 4096, pin_memory=True) for _ in range(ROUNDS)]
        took = seconds(copied_while_computing, a, hosts)
        if not torch.equal(hosts[-1], (a @ a).cpu()):
            raise SystemExit("a copy must hold what was computed")
        print(f"GPU: computed and copied in {1e3 * took:.1f} ms")
    else:
        print(f"NOT RUN: copying while computing needs a GPU, this machine has {gpus}")
    print("OK: dropping the barrier changes when the work runs, not what comes out")


if __name__ == "__main__":
    main()
