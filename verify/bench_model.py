"""How fast the stream runner is: against SimPy on the same pipeline, and from a thousand tasks to a million."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from typing import TypedDict

from perfmodel import collectives, kernels, stages
from perfmodel.streams import Task
from verify import simulate


class Row(TypedDict):
    """One line of the table: what was measured, the value and its unit, the budget in words, and whether it was met."""

    what: str
    value: float
    unit: str
    budget: str
    ok: bool


def _best_s(work: Callable[[], object], repeats: int) -> float:
    """The shortest of several runs: the rest is what else the machine was doing."""
    best = float("inf")
    for _ in range(repeats):
        begin = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - begin)
    return best


def _program(tasks: int) -> tuple[list[list[int]], list[list[int]], list[float], int]:
    """A pipeline of `tasks` tasks in all (half are enqueues, half computes, and one fetch), as the runner takes it."""
    kinds = kernels.pipeline_kinds(tasks // 2, 0)
    durations = kernels.pipeline_durations(kinds, 2.0, 3.0, 2.0)
    return kernels.pipeline_streams(kinds), kernels.pipeline_waits(kinds), durations, 2


Program = tuple[list[list[int]], list[list[int]], list[float], int]


def _issued(tasks: list[Task]) -> Program:
    """Any program, as the runner takes it."""
    lanes = {lane: at for at, lane in enumerate(dict.fromkeys(lane for task in tasks for lane in task.streams))}
    streams = [[lanes[lane] for lane in task.streams] for task in tasks]
    return streams, [list(task.waits) for task in tasks], [task.duration_s for task in tasks], len(lanes)


def _pipeline(devices: int, microbatches: int) -> Program:
    return _issued(stages.pipeline_tasks("1f1b", stages=devices, microbatches=microbatches, forward_s=1.0, backward_s=2.0))


def _ring(gpus: int) -> Program:
    return _issued(collectives.ring_tasks(gradient_bytes=160e6, gpus=gpus, link_bytes_per_s=16e9, latency_s=5e-6))


def size_bench() -> list[Row]:
    """The runner's cost per task on the largest pipeline and the largest ring over that on small ones; where nothing grows it is 1.

    As `timeit` does, it leaves the collector of garbage off while the clock runs. Takes a few seconds.
    """
    rows = []
    for what, small, large in (
        ("pipeline of 64 stages, 512 microbatches over 4, 8", _pipeline(4, 8), _pipeline(64, 512)),
        ("ring of 128 ranks over 4", _ring(4), _ring(128)),
    ):
        small_s = large_s = float("inf")
        gc.disable()
        for _ in range(12):  # in turn, so that a busy moment of the machine falls on both
            small_s = min(small_s, _best_s(lambda program=small: kernels.run_streams(*program), 200))  # type: ignore[misc]
            large_s = min(large_s, _best_s(lambda program=large: kernels.run_streams(*program), 2))  # type: ignore[misc]
        gc.enable()
        growth = (large_s / len(large[2])) / (small_s / len(small[2]))
        rows.append(_row(f"cost per task, {what}", growth, "×", "at most 1.5 ×", growth <= 1.5))
    return rows


def runner_bench() -> list[Row]:
    """The runner against SimPy, its cost per task from 10^3 to 10^6 tasks, and its time for 10^6. Takes a few seconds.

    Both sides run one pipeline, in turn, in this one run. SimPy makes its events as it goes, so a row without a budget adds to
    the runner's time the time to make its program.
    """
    queued = 20_000
    program = _program(2 * queued)
    small, large = _program(1_000), _program(1_000_000)
    simulated_s = run_s = made_s = small_s = large_s = float("inf")
    for _ in range(8):  # in turn, so that a busy moment of the machine falls on all of them
        simulated_s = min(simulated_s, _best_s(lambda: simulate.pipeline(enqueue=2.0, compute=3.0, fetch=2.0, tasks=queued), 1))
        run_s = min(run_s, _best_s(lambda: kernels.run_streams(*program), 5))
        made_s = min(made_s, _best_s(lambda: _program(2 * queued), 5))
        small_s = min(small_s, _best_s(lambda: kernels.run_streams(*small), 50))
        large_s = min(large_s, _best_s(lambda: kernels.run_streams(*large), 1))
    ratio = simulated_s / run_s
    growth = (large_s / len(large[2])) / (small_s / len(small[2]))
    return [
        _row("stream runner against SimPy", ratio, "×", "at least 10 ×", ratio >= 10),
        _row("the same, with making its program", simulated_s / (run_s + made_s), "×", "none", True),
        _row("cost per task, 10^6 over 10^3 tasks", growth, "×", "at most 1.5 ×", growth <= 1.5),
        _row("stream runner, 10^6 tasks", large_s, "s", "at most 1 s", large_s <= 1),
    ]


def _row(what: str, value: float, unit: str, budget: str, ok: bool) -> Row:
    return {"what": what, "value": value, "unit": unit, "budget": budget, "ok": ok}
