"""How fast the stream runner is: against SimPy on the same pipeline, and from a thousand tasks to a million."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypedDict

from perfmodel import kernels
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
