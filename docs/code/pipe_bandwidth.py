"""How wide is a pipe, and how long? Time copies of many sizes and fit t = latency + bytes / bandwidth.

python pipe_bandwidth.py
"""

import statistics
import time
from collections.abc import Callable, Sequence

import numpy as np
import torch

SIZES = [4**i * 1024 for i in range(8)]  # 1 KiB to 16 MiB
ROUNDS = 15


# part: measure
def seconds_to_copy(copy: Callable[[], object], wait: Callable[[], object]) -> float:
    """The median of many: one copy may wait for something else on the machine."""
    times = []
    for _ in range(ROUNDS):
        wait()
        start = time.perf_counter()
        copy()
        wait()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


# end: measure


# part: fit
def fit_pipe(sizes: Sequence[int], times: Sequence[float]) -> tuple[float, float]:
    """The latency in seconds and the bandwidth in bytes per second that fit best."""
    t, n = np.asarray(times), np.asarray(sizes, dtype=float)
    rows = np.column_stack([1 / t, n / t])  # each over its time, so that small copies count too
    (latency, per_byte), *_ = np.linalg.lstsq(rows, np.ones(len(t)), rcond=None)
    return float(latency), float(1 / per_byte)


# end: fit


def sweep(name: str, device: str, host: dict[str, bool], wait: Callable[[], object]) -> None:
    times = []
    for size in SIZES:
        source = torch.ones(size, dtype=torch.uint8, **host)
        target = torch.zeros(size, dtype=torch.uint8, device=device)
        times.append(seconds_to_copy(lambda a=source, b=target: b.copy_(a), wait))
        if not bool((target == 1).all()):
            raise SystemExit("a copy must arrive")
    latency, bandwidth = fit_pipe(SIZES, times)
    if not (np.isfinite(latency) and 0 < bandwidth < float("inf")):
        raise SystemExit(f"a pipe has a bandwidth above 0, got {bandwidth}")
    print(f"{name}: {1e6 * latency:.1f} µs and {bandwidth / 1e9:.1f} GB/s, fitted to {len(SIZES)} sizes, on this machine, now")


def main() -> None:
    latency, bandwidth = fit_pipe(SIZES, [10e-6 + size / 12e9 for size in SIZES])
    print(f"the fit finds a known pipe again: {1e6 * latency:.3f} µs and {bandwidth / 1e9:.3f} GB/s")
    sweep("CPU memory to CPU memory", "cpu", {}, lambda: None)  # small copies stay in cache: one line fits only roughly
    if torch.cuda.is_available():
        sweep("CPU to GPU, pinned", "cuda", {"pin_memory": True}, torch.cuda.synchronize)
    else:
        print("NOT RUN: the pipe between CPU and GPU needs a GPU, this machine has none")
    print("OK: every copy arrived, and the fit is right where the answer is known")


if __name__ == "__main__":
    main()
