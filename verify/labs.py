"""`make labs`: every kernel in Python and in JavaScript, over a grid of states; both must give the same numbers, to the last bit."""

from __future__ import annotations

import inspect
import itertools
import json
import random
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

import quickjs

from macros.translate import TranslationError, javascript
from perfmodel import kernels

State = tuple[Any, ...]
TIMES = (0.0, 0.1, 0.3, 0.5, 1.0, 1.5, 2.0, 3.0, 7.25, 1e-9, 1e6)
COUNTS = (0, 1, 2, 3, 4, 7, 8, 9, 16, 63, 64)
EVERY = (0, 1, 2, 3, 4, 8, 65)
BYTES, RATES, LATENCIES, GPUS = (
    (1.0, 4096.0, 160e6, 1e12 / 3),
    (1.0, 16e9, 18.75e9, 1e12 / 7),
    (0.0, 1e-6, 0.3),
    (1, 2, 3, 4, 5, 8, 64, 1000),
)
RANDOM = 400  # states more for each kernel, drawn from a seed


def _pipelines() -> Iterator[State]:
    yield from itertools.product(COUNTS, EVERY)


def _durations(draw: random.Random, count: int) -> list[float]:
    return [draw.choice(TIMES) * draw.random() for _ in range(count)]


def _programs() -> Iterator[State]:
    """Tasks on streams, as pipelines make them and as drawn."""
    for tasks, every in itertools.product((0, 1, 3, 8, 64), EVERY):
        kinds = kernels.pipeline_kinds(tasks, every)
        yield kernels.pipeline_streams(kinds), kernels.pipeline_waits(kinds), kernels.pipeline_durations(kinds, 2.0, 0.1, 0.3), 2
    draw = random.Random(1)
    for _ in range(2 * RANDOM):
        count, streams = draw.randrange(1, 30), draw.randrange(1, 6)
        held = [sorted(draw.sample(range(streams), draw.randrange(1, streams + 1))) for _ in range(count)]
        waits = [sorted(draw.sample(range(i), draw.randrange(0, min(i, 3) + 1))) for i in range(count)]
        yield held, waits, _durations(draw, count), streams


def _queues() -> Iterator[State]:
    for enqueue, compute, tasks in itertools.product(TIMES[:8], TIMES[:8], (0, 1, 3, 8, 64)):
        enqueued, completed, now = [], [], 0.0
        for i in range(tasks):
            enqueued.append((i + 1) * enqueue)
            now = max(now, enqueued[-1]) + compute
            completed.append(now)
        yield enqueued, completed


def _links(*counts: tuple[int, ...]) -> Iterator[State]:
    for size, rate, latency, *rest in itertools.product(BYTES, RATES, LATENCIES, *counts):
        yield size, *rest, rate, latency


GRIDS: Mapping[str, Callable[[], Iterator[State]]] = MappingProxyType(
    {
        "run_streams": _programs,
        "pipeline_kinds": _pipelines,
        "pipeline_streams": lambda: ((kernels.pipeline_kinds(*state),) for state in _pipelines()),
        "pipeline_waits": lambda: ((kernels.pipeline_kinds(*state),) for state in _pipelines()),
        "pipeline_durations": lambda: (
            (kernels.pipeline_kinds(*state), *times) for state in _pipelines() for times in itertools.product(TIMES[::4], repeat=3)
        ),
        "pipeline_group": lambda: itertools.product(TIMES, TIMES, TIMES[::3], COUNTS),
        "pipeline_total": lambda: itertools.product(TIMES[::2], TIMES[::2], TIMES[::3], COUNTS, EVERY),
        "pipeline_barriers": _pipelines,
        "queue_peak": lambda: itertools.product(TIMES, TIMES, COUNTS, EVERY),
        "queue_steps": _queues,
        "transfer_s": _links,
        "one_gpu_s": lambda: _links(GPUS),
        "cpu_s": lambda: _links(GPUS),
        "sharded_s": lambda: _links(GPUS),
        "ring_s": lambda: _links(GPUS),
        "ring_limit_s": lambda: itertools.product(BYTES, RATES),
        "parameter_server_s": lambda: _links(GPUS, GPUS),
        "ring_chunk": lambda: ((n, i, t) for n in (1, 2, 3, 4, 8, 13) for i in range(n) for t in range(2 * (n - 1))),
        "ring_state": lambda: ((n, t) for n in (1, 2, 3, 4, 5, 8, 13) for t in range(2 * (n - 1) + 1)),
    }
)


def names() -> list[str]:
    """All kernels."""
    return [name for name, value in inspect.getmembers(kernels, inspect.isfunction) if value.__module__ == kernels.__name__]


def differences(name: str, script: str, module: Any = kernels) -> tuple[int, list[str]]:
    """How many states of a kernel were run, and those in which JavaScript gives something else than Python, the first few."""
    states = [list(state) for state in GRIDS[name]()]
    context = quickjs.Context()
    context.eval(script)
    run = context.eval(f"(text) => JSON.stringify(JSON.parse(text).map((state) => kernels.{name}(...state)))")
    theirs = json.loads(run(json.dumps(states)))
    ours = [getattr(module, name)(*state) for state in states]
    # repr parts what JSON would hide (NaN is null there), and a float is equal to itself to the last bit
    wrong = [
        f"{name}{tuple(state)}: Python gives {a!r}, JavaScript {b!r}"
        for state, a, b in zip(states, ours, theirs, strict=True)
        if a != b
    ]
    return len(states), wrong[:5]


def main() -> int:
    """A line a kernel. The status is 1 when one differs, or cannot be translated: then a line for each place."""
    begin, total, bad = time.monotonic(), 0, 0
    try:
        script = javascript()
    except TranslationError as error:
        print(error)
        return 1
    for name in names():
        count, wrong = differences(name, script)
        total, bad = total + count, bad + bool(wrong)
        print(f"{'DIFFERS' if wrong else 'equal':<8} {count:>6} states  {name}")
        for line in wrong:
            print(f"         {line}")
    print(
        f"{total} states of {len(names())} kernels in {time.monotonic() - begin:.1f} s; {len(script.encode()) / 1000:.1f} kB of JavaScript"
    )
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
