"""One CUDA device, and how to time what it does: everything here that only CUDA has goes through `Gpu`.

Work on a GPU is queued, and the call returns before it is done. So a clock is read only after a wait, before the work and after
it; and the time of a kernel comes from events that the GPU itself stamps, while it has enough to do not to wait for Python.
"""

from __future__ import annotations

import importlib.util
import os
import platform
import shutil
import statistics
import subprocess
import sysconfig
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, NamedTuple

import numpy
import torch
from torch import Tensor

Work = Callable[[], object]
WARM_UP, ROUNDS, LEAST = 3, 20, 3
FILL = 2048  # the side of the products that keep a GPU busy
MOST_FILLS = 256  # a GPU takes about a thousand launches into its queue; then Python waits


class Gpu:
    """The first GPU. A test puts another device with the same methods in its place."""

    device = torch.device("cuda", 0)

    def clock(self) -> float:
        """Seconds, from a clock that never goes back."""
        return time.perf_counter()

    def wait(self) -> None:
        """Wait until the GPU has done all that it was given, on every stream."""
        torch.cuda.synchronize(self.device)

    def mark(self) -> Any:
        """An event at this place of the current stream: the GPU stamps it with the time when it gets there."""
        event: Any = torch.cuda.Event(enable_timing=True)  # type: ignore[no-untyped-call] # torch gives it no types
        event.record()
        return event

    def seconds(self, start: Any, stop: Any) -> float:
        """The time from one event to another; both must have been reached."""
        return float(start.elapsed_time(stop)) / 1e3

    def stream(self) -> Any:
        """Another stream: its work runs beside that of the current one."""
        return torch.cuda.Stream(self.device)  # type: ignore[no-untyped-call] # torch gives it no types

    def current(self) -> Any:
        """The stream that work is queued on."""
        return torch.cuda.current_stream(self.device)

    def on(self, stream: Any) -> AbstractContextManager[Any]:
        """Work inside is queued on `stream`."""
        return torch.cuda.stream(stream)

    def pinned(self, *shape: int, dtype: torch.dtype) -> Tensor:
        """A tensor in memory of the host that the GPU reads and writes by itself, with all its pages there."""
        return torch.empty(*shape, dtype=dtype, pin_memory=True).fill_(0)

    def captured(self, work: Callable[[], Tensor]) -> Callable[[], Tensor]:
        """`work` as a CUDA graph: what it launches, recorded once, then launched as a whole; each call fills the same output."""
        side = self.stream()
        side.wait_stream(torch.cuda.current_stream(self.device))  # its inputs may still be in the making
        with torch.cuda.stream(side):
            for _ in range(WARM_UP):  # libraries set themselves up in the first calls, and that cannot be recorded
                work()
        torch.cuda.current_stream(self.device).wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            output = work()

        def replay() -> Tensor:
            graph.replay()
            return output

        return replay

    def free_bytes(self) -> int:
        """The memory of the GPU that nobody uses."""
        return torch.cuda.mem_get_info(self.device)[0]

    def tidy(self) -> None:
        """Give memory that is no longer used back to the GPU."""
        torch.cuda.empty_cache()

    def count(self) -> int:
        """How many GPUs this machine has."""
        return torch.cuda.device_count()

    def facts(self) -> dict[str, Any]:
        """The GPU and its software; nothing that names the machine."""
        properties = torch.cuda.get_device_properties(self.device)
        return {
            "device": properties.name, "memory_bytes": properties.total_memory, "gpus": self.count(),
            "capability": f"{properties.major}.{properties.minor}", "driver": _driver(), "cuda": str(torch.version.cuda),
            "cudnn": str(torch.backends.cudnn.version()),  # type: ignore[no-untyped-call] # torch gives it no types
        }  # fmt: skip

    def why_no_compiler(self) -> str:
        """What torch.compile lacks for this device; "" when it lacks nothing."""
        if importlib.util.find_spec("triton") is None:
            return "torch.compile needs triton on a GPU, and it is not installed"
        names = (os.environ["CC"],) if os.environ.get("CC") else ("gcc", "clang", "cc")
        if not any(shutil.which(name) for name in names):
            return f"torch.compile needs a C compiler, and there is no {' or '.join(names)}"
        return why_no_headers()


def why_no_headers() -> str:
    """What a C compiler lacks to build a module for this Python; "" when it lacks nothing."""
    if not (Path(sysconfig.get_paths()["include"]) / "Python.h").exists():
        return "torch.compile needs Python's header files; install python3-dev"
    return ""


def _driver() -> str:
    """The version of NVIDIA's driver, from its own tool; "unknown" where that can't be asked."""
    try:
        asked = subprocess.run(
            ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"], capture_output=True, text=True, timeout=20, check=True
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return "unknown"
    return (asked.stdout.strip().splitlines() or ["unknown"])[0]


def host_facts() -> dict[str, Any]:
    """The machine around the GPU, without its name."""
    return {
        "torch": torch.__version__, "numpy": numpy.__version__, "python": platform.python_version(), "cpus": os.cpu_count() or 0,
        "platform": f"{platform.system()} {platform.machine()}",
    }  # fmt: skip


# How much time there is ----------------------------------------------------------------------------------------------------------


class Budget:
    """Some seconds to spend, from now on. What notices that they are over stops early, and says what it left out."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.left_out: list[str] = []
        self._began = time.monotonic()

    @property
    def left(self) -> float:
        """The seconds that are left, at least 0."""
        return max(self.seconds - (time.monotonic() - self._began), 0.0)

    def over(self, what: str = "") -> bool:
        """Whether the time is spent; then `what`, if given, is noted as left out."""
        if self.left:
            return False
        if what:
            self.left_out.append(what)
        return True


# How long things take -------------------------------------------------------------------------------------------------------------


class Spread(NamedTuple):
    """Many times of the same thing, in seconds: the median, the quartiles on both its sides, and how many there were.

    `starved` counts those in which the GPU waited for Python in spite of all, so that they say too much.
    """

    median: float
    low: float
    high: float
    rounds: int
    starved: int = 0


def spread(times: list[float], starved: int = 0) -> Spread:
    """The spread of some times, two or more.

    >>> spread([5.0, 1.0, 2.0, 4.0, 3.0])
    Spread(median=3.0, low=2.0, high=4.0, rounds=5, starved=0)
    """
    low, median, high = statistics.quantiles(times, n=4, method="inclusive")
    return Spread(median, low, high, len(times), starved)


def _enough(times: list[float], rounds: int, budget: Budget) -> bool:
    return len(times) >= rounds or (len(times) >= LEAST and budget.over())


def until_done(gpu: Gpu, work: Work, budget: Budget, *, rounds: int = ROUNDS, fetches: bool = False) -> Spread:
    """Seconds from the call of `work` until the GPU has done it. Work that ends with a fetch of its result has waited by itself."""
    for _ in range(WARM_UP):
        work()
        gpu.wait()
    times: list[float] = []
    while not _enough(times, rounds, budget):
        gpu.wait()  # nothing of what came before is timed
        start = gpu.clock()
        work()
        if not fetches:
            gpu.wait()  # all of this is
        times.append(gpu.clock() - start)
    return spread(times)


def until_queued(gpu: Gpu, work: Work, budget: Budget, *, count: int, rounds: int = ROUNDS) -> Spread:
    """Seconds that Python needs to queue `work` once: `count` of them are queued, and no one waits for the GPU meanwhile."""
    for _ in range(WARM_UP):
        work()
    times: list[float] = []
    while not _enough(times, rounds, budget):
        gpu.wait()  # the queue is empty, so that it can't fill up
        start = gpu.clock()
        for _ in range(count):
            work()
        times.append((gpu.clock() - start) / count)
    gpu.wait()
    return spread(times)


def on_the_gpu(gpu: Gpu, work: Work, budget: Budget, *, count: int = 50, rounds: int = ROUNDS) -> Spread:
    """Seconds that the GPU needs for `work`, between two events around `count` of them, at most.

    Some large products go first. While the GPU is at them, all the rest is queued: else it would wait for Python between one
    piece of work and the next, and the events would time that. Whether it got to the first event too early is asked, and then
    the round is made again behind more products.
    """
    square = torch.ones(FILL, FILL, device=gpu.device)
    product = torch.empty_like(square)
    work()
    gpu.wait()
    start = gpu.clock()
    work()
    gpu.wait()
    count = max(1, min(count, round(0.02 / max(gpu.clock() - start, 1e-9))))  # of slow work, few are enough
    fills, starved = 1, 0
    times: list[float] = []
    while not _enough(times, rounds, budget):
        gpu.wait()
        for _ in range(fills):
            torch.mm(square, square, out=product)
        first = gpu.mark()
        for _ in range(count):
            work()
        last = gpu.mark()
        too_early = first.query()
        gpu.wait()  # an event that was not reached has no time
        if too_early and fills < MOST_FILLS:
            fills *= 2
            continue
        starved += too_early
        times.append(gpu.seconds(first, last) / count)
    return spread(times, starved)
