"""`make measure`: how long products of square matrices take on this machine's CPU, written to docs/records/matmul.json.

Sizes take turns, round after round, so that a busy moment of the machine falls on all of them. A small product is called many
times in a round, and the round gives the mean. Of the rounds the record keeps the median, the quartiles and the best.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import torch

from macros import cpu_record
from macros.gpu_record import sealed
from macros.records import write

CALL = 1
"""The side of a product that is nothing but a call: it measures the overhead."""
SIDES = (16, 32, 64, 128, 256, 512, 1024, 2048, 4096)
ROUNDS, ROUND_S, WARM_UP = 15, 0.02, 2
Work = Callable[[], object]
Clock = Callable[[], float]


def product(side: int) -> Work:
    """A product of two random matrices in float32, into a third that is there already."""
    random = torch.Generator().manual_seed(side)
    a, b = (torch.randn(side, side, generator=random) for _ in range(2))
    out = torch.empty(side, side)

    def multiply() -> None:
        torch.mm(a, b, out=out)

    return multiply


def mean_s(work: Work, calls: int, clock: Clock) -> float:
    """Seconds that one of `calls` calls takes. A CPU is done when the call returns, so there is nothing to wait for."""
    start = clock()
    for _ in range(calls):
        work()
    return (clock() - start) / calls


def calls_for(work: Work, clock: Clock, least_s: float) -> int:
    """How many calls fill `least_s` seconds: 1, 2, 4, … . Calling them warms up as well."""
    calls = 1
    while mean_s(work, calls, clock) * calls < least_s:
        calls *= 2
    return calls


def times(works: dict[int, Work], *, rounds: int, round_s: float, clock: Clock = time.perf_counter) -> dict[int, dict[str, Any]]:
    """By side: the median, the quartiles and the best of `rounds` rounds, in seconds, and how many calls a round made."""
    calls: dict[int, int] = {}
    for side, work in works.items():
        for _ in range(WARM_UP):
            work()
        calls[side] = calls_for(work, clock, round_s)
    found: dict[int, list[float]] = {side: [] for side in works}
    for _ in range(rounds):
        for side, work in works.items():
            found[side].append(mean_s(work, calls[side], clock))
    return {side: {**spread(each), "rounds": rounds, "calls": calls[side]} for side, each in found.items()}


def spread(seconds: Sequence[float]) -> dict[str, float]:
    """Median, quartiles and best of some times, two or more.

    >>> spread([5.0, 1.0, 2.0, 4.0, 3.0])
    {'median': 3.0, 'low': 2.0, 'high': 4.0, 'best': 1.0}
    """
    low, median, high = statistics.quantiles(seconds, n=4, method="inclusive")
    return {"median": median, "low": low, "high": high, "best": min(seconds)}


def blas(config: str) -> str:
    """The library that multiplies, from what PyTorch says of how it was built.

    >>> blas("  - Intel(R) oneAPI Math Kernel Library Version 2024.2-Product Build 20240605\\n  - BLAS_INFO=mkl")
    'oneAPI Math Kernel Library 2024.2'
    >>> blas("  - Build settings: BLAS_INFO=open, BUILD_TYPE=Release")
    'open'
    """
    mkl = re.search(r"(?:Intel\(R\) )?((?:oneAPI )?Math Kernel Library) Version ([\d.]+)", config)
    other = re.search(r"BLAS_INFO=(\w+)", config)
    return f"{mkl[1]} {mkl[2]}" if mkl else other[1] if other else "unknown"


def cpu_name(cpuinfo: str) -> str:
    """The name of the CPU from the text of /proc/cpuinfo; the architecture where it has none.

    >>> cpu_name("processor : 0\\nmodel name\\t: AMD EPYC\\n")
    'AMD EPYC'
    """
    found = re.search(r"^model name\s*:\s*(.+)$", cpuinfo, re.MULTILINE)
    return found[1].strip() if found else platform.machine()


def environment() -> dict[str, Any]:
    """What the times belong to: the CPU, threads, library and versions; nothing that names the machine."""
    info = Path("/proc/cpuinfo")
    return {
        "device": cpu_name(info.read_text(encoding="utf-8") if info.exists() else ""), "cpus": os.cpu_count() or 0, "threads": torch.get_num_threads(),
        "blas": blas(torch.__config__.show()), "simd": torch.backends.cpu.get_cpu_capability(), "torch": torch.__version__,
        "python": platform.python_version(), "platform": f"{platform.system()} {platform.machine()}",
        "load_before": round(os.getloadavg()[0], 2),  # processes that wanted a CPU in the minute before
    }  # fmt: skip


def main(arguments: Sequence[str]) -> int:
    """Measure, write the record, print it."""
    parser = argparse.ArgumentParser(
        prog="python -m verify.measure", description="Time matrix products on this CPU, and keep them as a record."
    )
    parser.add_argument(
        "--out", type=Path, default=cpu_record.PATH, help="where the record goes (default: docs/records/matmul.json)"
    )
    options = parser.parse_args(arguments)
    now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    about = environment()
    print("Keep the machine quiet for a minute: what else runs on it is measured too.", flush=True)
    if cpu_record.busy(about):
        print(
            f"It is busy now, with a load of {about['load_before']}: these times will be too long. Measure again later.", flush=True
        )
    found = times({side: product(side) for side in (CALL, *SIDES)}, rounds=ROUNDS, round_s=ROUND_S)
    rows = [{"side": side, **found[side]} for side in SIDES]
    section = {"call": found[CALL], "rows": rows}
    record = sealed(date=now, environment=about, sections={"matmul": section}, code=cpu_record.code_hash(), what=cpu_record.WHAT)
    write(record, options.out)
    print(f"{about['device']}, {about['threads']} threads, {about['blas']}, PyTorch {about['torch']}")
    for side, row in found.items():
        print(
            f"{side:>5} {row['median'] * 1e3:12.6f} ms  {row['low'] * 1e3:.6f} to {row['high'] * 1e3:.6f} ms, {row['rounds']} rounds"
        )
    print(f"{options.out.name} is written; make site shows it")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
