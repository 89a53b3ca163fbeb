"""Time a product of matrices in NumPy and in PyTorch: until it is queued, and until it is done.

python async_timing.py
"""

import time
from collections.abc import Callable

import numpy as np
import torch

SIZE, ROUNDS = 512, 10


# part: careless
def seconds_until_queued(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    for _ in range(ROUNDS):
        work()
    return time.perf_counter() - start  # on a GPU the work has only been queued


# end: careless


# part: wait
def wait_for(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    # On a CPU there is nothing to wait for: when the line returns, the result is there.


# end: wait


# part: honest
def seconds_until_done(work: Callable[[], object], device: torch.device) -> float:
    wait_for(device)  # nothing of what came before is timed
    start = time.perf_counter()
    for _ in range(ROUNDS):
        work()
    wait_for(device)  # all of this is
    return time.perf_counter() - start


# end: honest


def main() -> None:
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    random = np.random.default_rng(0)
    a = random.standard_normal((SIZE, SIZE), dtype=np.float32)
    t = torch.from_numpy(a).to(device)

    def in_numpy() -> object:
        return a @ a

    def in_torch() -> object:
        return t @ t

    in_numpy(), in_torch(), wait_for(device)  # the first call also loads libraries
    name = torch.cuda.get_device_name(device) if device.type == "cuda" else "this CPU"
    print(f"{ROUNDS} products of {SIZE} by {SIZE}, PyTorch on {name}; times are this machine's, now")
    print(f"NumPy, on the CPU:     {1e3 * seconds_until_done(in_numpy, torch.device('cpu')):8.2f} ms")
    queued = seconds_until_queued(in_torch)
    done = seconds_until_done(in_torch, device)
    print(f"PyTorch, until queued: {1e3 * queued:8.2f} ms")
    print(f"PyTorch, until done:   {1e3 * done:8.2f} ms")

    error = float(np.abs((t @ t).cpu().numpy() - a @ a).max())
    if error > 1e-2:  # float32 sums of 512 products, in another order; TF32 is off unless someone turns it on
        raise SystemExit(f"NumPy and PyTorch must agree, got a difference of {error}")
    if device.type == "cpu":
        print("OK: NumPy and PyTorch agree; CPU operations are synchronous, so nothing needs waiting for")
    else:
        print("OK: NumPy and PyTorch agree; on a GPU only the time until done is the time of the work")


if __name__ == "__main__":
    main()
