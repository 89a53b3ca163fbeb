"""Time a @ b on the CPU and, where there is one, on a GPU.

python matmul_timing.py --size 4096
"""

import argparse
import statistics
import time

import torch
from torch import Tensor

ROUNDS = 5


# part: wait
def wait_for(device: torch.device) -> None:
    """A GPU's work is only queued when the line returns: wait for its end."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)


# end: wait


# part: time
def seconds(a: Tensor, b: Tensor) -> list[float]:
    """How long a @ b takes, several times; not the first, which warms up."""
    a @ b  # loads libraries, wakes threads, lets the clock rate rise
    times = []
    for _ in range(ROUNDS):
        wait_for(a.device)  # nothing of what came before is timed
        start = time.perf_counter()
        a @ b
        wait_for(a.device)  # all of this is
        times.append(time.perf_counter() - start)
    return times


# end: time


# part: tell
def tell(name: str, size: int, times: list[float]) -> float:
    median = statistics.median(times)  # one may have waited for others
    flop = 2 * size**3  # n³ multiplications, and as many additions
    low, high = 1e3 * min(times), 1e3 * max(times)
    print(f"{name}: {1e3 * median:.3f} ms, median of {len(times)}", end="")
    print(f" ({low:.3f} to {high:.3f}), {flop / median / 1e9:.1f} GFLOP/s")
    return median


# end: tell


# part: compare
def compare(a: Tensor, b: Tensor) -> None:
    threads = torch.get_num_threads()
    on_cpu = tell(f"CPU, threads: {threads}", len(a), seconds(a, b))
    if not torch.cuda.is_available():
        print("NOT RUN: the GPU's time needs a GPU, and PyTorch finds none")
        return
    a, b = a.to("cuda"), b.to("cuda")  # the copies are not timed
    on_gpu = tell(torch.cuda.get_device_name(), len(a), seconds(a, b))
    print(f"the CPU took {on_cpu / on_gpu:.1f}× as long as the GPU")


# end: compare


def check(a: Tensor, b: Tensor) -> None:
    """A few rows again, in float64: float32 may round at each of n sums."""
    rows = a[:4]
    error = float(((rows @ b).double() - rows.double() @ b.double()).abs().max())
    if not error <= 1e-6 * len(b):
        raise SystemExit(f"a @ b must be right to {1e-6 * len(b):.0e}, got an error of {error:.0e}")


def a_size(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 16384:
        raise argparse.ArgumentTypeError(f"must be a whole number from 1 to 16384, got {text!r}")
    return int(text)


def main() -> None:
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--size", type=a_size, default=1024, help="of the square matrices")
    size = parser.parse_args().size
    torch.manual_seed(0)
    a, b = torch.randn(size, size), torch.randn(size, size)
    print(f"{size} by {size}, {2 * size**3:,} FLOP a product; times are this machine's, now")
    compare(a, b)
    check(a, b)
    print("OK: the products are right")


if __name__ == "__main__":
    main()
