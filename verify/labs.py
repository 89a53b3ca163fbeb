"""`make labs`: all that the labs run, in Python and in JavaScript, over a grid of states; both must give the same, to the last bit.

The functions are the model's kernels, the wording of numbers, and the views that draw.
"""

from __future__ import annotations

import importlib
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

from macros.labs import LABS, Lab, script
from macros.translate import SOURCES, TranslationError
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


def _numbers() -> Iterator[float]:
    """Numbers as the labs show them: whole ones, halves and other ties, quotients, sums of 0.1, and those at the edge of a unit."""
    yield from (
        0.0,
        1.0,
        2.0,
        9.5,
        59.5,
        999.5,
        9999.5,
        10000.0,
        12345678.0,
        0.1 + 0.2,
        100 / 3,
        2 / 3,
        0.99995,
        1e-9,
        999.5e-6,
        0.9995,
    )
    for k, scale in itertools.product(range(1, 60), (1e-9, 1e-6, 1e-3, 0.05, 0.25, 0.5, 1.0, 60.0, 3600.0, 86400.0, 1e6, 1e9)):
        yield k * scale
        yield scale / k
    draw = random.Random(2)
    for _ in range(2 * RANDOM):
        yield draw.randrange(1, 10_000) / draw.choice((1, 3, 7, 8, 64, 1000)) * 10.0 ** draw.randrange(-9, 7)


def _ones() -> Iterator[State]:
    return ((number,) for number in _numbers())


def _views(lab: Lab, states: int, seed: int, widths: tuple[float, ...] = (320.0, 560.0, 760.0)) -> Iterator[State]:
    """The state a reader finds, the ends of each control, each preset, and states drawn within the ranges."""
    draw = random.Random(seed)
    picks = [
        [*(value for _, value in c.options)]
        or [*c.stops]
        or [c.low + k * c.step for k in range(int((c.high - c.low) / c.step) + 1)]
        for c in lab.controls
    ]

    def state(values: list[float]) -> State:
        values = [float(value) for value in values]
        highs = lab.highs(values, [float(c.high) for c in lab.controls]) if lab.highs else [c.high for c in lab.controls]
        values = [min(value, high) for value, high in zip(values, highs, strict=True)]
        return values, list(lab.names), list(lab.numbers), draw.choice(widths)

    start = lab.values()
    yield state(start)
    for i, control in enumerate(lab.controls):
        for value in {control.low, control.high, *picks[i][:40]}:
            if not control.options or value in picks[i]:
                yield state([*start[:i], value, *start[i + 1 :]])
    for _, values in lab.settings():
        yield state([values.get(c.name, c.value) for c in lab.controls])
    for _ in range(states):
        yield state([draw.choice(pick) for pick in picks])


def _rings() -> Iterator[State]:
    return ((n, t) for n in range(1, 9) for t in range(2 * (n - 1) + 1))


def _clusters(*before: tuple[Any, ...]) -> Iterator[State]:
    for state in itertools.islice(_views(LABS["cluster"](), 60, 6), 0, None, 4):
        values = state[0]
        for rest in itertools.product(*before):
            yield values, *rest


def _sync() -> Iterator[State]:
    rates = (1.0, 16e9, 1e12 / 7)
    return itertools.product(range(5), (1.0, 160e6, 1e12 / 3), (1, 2, 3, 8), (1, 2, 5, 128), rates, rates, rates, (0.0, 5e-6))


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
        "sync_terms": _sync,
        "bucket_count": lambda: itertools.product((0.0, 1.0, 25e6, 160e6, 1e12 / 3), (5e-324, 1.0, 25e6, 26214400.0, 1e10)),
        "overlapped_step_s": lambda: itertools.product((0.0, *TIMES), (1, 2, 3, 7, 1000), TIMES),
        "sync_step_s": lambda: (
            (*state, *step)
            for state in itertools.islice(_sync(), 0, None, 17)
            for step in itertools.product((0.0, 0.05), (0.0, 1.0, 26214400.0))
        ),
        "clamped": lambda: itertools.product(
            (-1.0, 0.0, 0.25, 7.3, 63.5, 64.0, 99.0, 1e300, -1e300), (0.0, 0.5, 1.0), (8.0, 64.0, 1e6), (0.25, 0.5, 1.0, 3.0)
        ),
        "ring_chunk": lambda: ((n, i, t) for n in (1, 2, 3, 4, 8, 13) for i in range(n) for t in range(2 * (n - 1))),
        "ring_state": lambda: ((n, t) for n in (1, 2, 3, 4, 5, 8, 13) for t in range(2 * (n - 1) + 1)),
        # wording
        "half_up": _ones,
        "one_decimal": _ones,
        "three_digits": lambda: ((number,) for number in _numbers() if number > 0),
        "feels_like": lambda: itertools.product(_numbers(), (False, True)),
        "grouped": lambda: (
            (whole,)
            for whole in (
                0,
                1,
                999,
                1000,
                9999,
                10000,
                10001,
                99999,
                100000,
                1000000,
                1000007,
                987654321,
                2**53 - 1,
                5,
                60,
                1234,
                65536,
            )
        ),
        "fixed": lambda: itertools.product(_numbers(), (0, 1, 2, 3)),
        "number": _ones,
        "in_units": lambda: itertools.product(_numbers(), ([1e-6, 1e-3, 1.0],), (["µs", "ms", "s"],), (0, 1, 2)),
        "counted": lambda: itertools.product(
            ("0", "1", "2", "1.5"), ("ticks", "days", "years", "pending tasks", "machines", "ms", "")
        ),
        "time_text": _ones,
        "brief_time": _ones,
        "bytes_text": _ones,
        "rate_text": _ones,
        "ticks_text": _ones,
        # views
        "px": _ones,
        "box": lambda: itertools.product((0.0, 0.05, 1.25, 33.3), repeat=4),
        "path": lambda: itertools.product(
            ("bar", "line"), ("", "M0 0h1", "M1 2h3v4H1z", "M0 0L1 1", "M5 5h5", "M1 1v1", "M2 2v2", "M3 3v3")
        ),
        "idle": lambda: itertools.product(("", "M0 0h1", "M1 2h3v4H1z", "M0 0L1 1"), ("a", "b", "c", "d")),
        "words": lambda: itertools.product((0.0, 3.75), (0.0, 12.5), ("lane", "tick"), ("start", "end"), ("8", "GPU")),
        "svg": lambda: itertools.product(("a", "b"), (320.0, 560.5), (80.0, 99.95), ("an alt text",), ("", "<g></g>")),
        "nice_step": lambda: itertools.product((1.0, 7.0, 56.0, 448.0, 1500.0, 0.3, 1e-3), (2.0, 4.0, 8.0, 13.0)),
        "bold": lambda: ((str(k),) for k in range(16)),
        "item": lambda: ((str(k),) for k in range(16)),
        "cell": lambda: ((str(k),) for k in range(16)),
        "key": lambda: itertools.product(
            ("r-host", "line r-update", "hatched", "r-fetch muted"), ("queue", "idle", "fetch", "wait")
        ),
        "legend": lambda: ((str(k),) for k in range(16)),
        "times": _ones,
        "percent": lambda: ((k / 997,) for k in range(998)),
        "said": lambda: itertools.product((0.0, 0.5, 1.0, 2.0, 18.75), ("", "ticks", "GPUs", "GB/s"), ("", "none")),
        "lanes": lambda: (
            (kernels.pipeline_kinds(n, every), e, c, 2.0, 60.0, 32.0, 500 / (1 + n * (e + c + 2.0)), "hatch")
            for n, every, e, c in itertools.product((1, 2, 8, 64), (0, 1, 3), TIMES[:6], TIMES[:6])
        ),
        "pipeline_words": _pipelines,
        "pipeline_sum": lambda: itertools.product((1, 8, 64), TIMES[:8], TIMES[:8], TIMES[:4]),
        "pipeline_view": lambda: _views(LABS["pipeline"](), 400, 1),
        "scaled_bar": _ones,
        "ladder_view": lambda: _views(LABS["ladder"](), 0, 2, (560.0,)),
        "ring_highs": lambda: (([float(n), 0.0, 1.0, 1.0], [8.0, 14.0, float(m), 1.0]) for n in range(1, 9) for m in range(1, 9)),
        "ring_phase": _rings,
        "ring_grid": lambda: ((n, t, width, "name", "an alt text") for n, t in _rings() for width in (320.0, 560.0)),
        "ring_growth": lambda: itertools.product(
            (1, 2, 4, 8), (0.5e6, 160e6, 1e10), (0.25e9, 16e9, 1e12), (320.0, 560.0), ("name",)
        ),
        "ring_view": lambda: _views(LABS["ring"](), 200, 3),
        "way_name": lambda: ((k % 5,) for k in range(16)),
        "cluster_terms": lambda: _clusters(tuple(range(5)), (1, 8), (1, 3), (1, 7)),
        "cluster_step": lambda: _clusters(tuple(range(5)), (1, 8), (1, 3), (True, False)),
        "cluster_best": lambda: _clusters((1, 4, 8), (1, 2, 16)),
        "cluster_bars": lambda: _clusters((1, 8), (1, 4), (320.0, 560.0)),
        "cluster_curve": lambda: _clusters((320.0, 760.0)),
        "cluster_view": lambda: _views(LABS["cluster"](), 150, 5),
    }
)


MODULES = tuple(importlib.import_module(path.removesuffix(".py").replace("/", ".")) for path in SOURCES)


def functions() -> dict[str, Callable[..., Any]]:
    """All functions that are translated, by name."""
    own = ((module, inspect.getmembers(module, inspect.isfunction)) for module in MODULES)
    return {name: value for module, members in own for name, value in members if value.__module__ == module.__name__}


def differences(name: str, script: str, function: Callable[..., Any] | None = None) -> tuple[int, list[str]]:
    """How many states of a function were run, and those in which JavaScript gives something else than Python, the first few."""
    function = function or functions()[name]
    states = [list(state) for state in GRIDS[name]()]
    context = quickjs.Context()
    context.eval(script)
    run = context.eval(f"(text) => JSON.stringify(JSON.parse(text).map((state) => kernels.{name}(...state)))")
    theirs = json.loads(run(json.dumps(states)))
    ours = [function(*state) for state in states]
    # repr parts what JSON would hide (NaN is null there), and a float is equal to itself to the last bit
    wrong = [f"{name}{tuple(state)}: {_apart(a, b)}" for state, a, b in zip(states, ours, theirs, strict=True) if a != b]
    return len(states), wrong[:5]


def _apart(ours: Any, theirs: Any) -> str:
    """What the two gave; of long texts, the piece where they part."""
    a, b = repr(ours), repr(theirs)
    at = next((k for k, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
    begin = max(at - 40, 0) if max(len(a), len(b)) > 200 else 0
    a, b = (("…" if begin else "") + text[begin : begin + 200] for text in (a, b))
    return f"Python gives {a}, JavaScript {b}"


def main() -> int:
    """A line a function. The status is 1 when one differs, or cannot be translated: then a line for each place."""
    begin, total, bad = time.monotonic(), 0, 0
    try:
        source = script()
    except TranslationError as error:
        print(error)
        return 1
    for name in functions():
        count, wrong = differences(name, source)
        total, bad = total + count, bad + bool(wrong)
        print(f"{'DIFFERS' if wrong else 'equal':<8} {count:>6} states  {name}")
        for line in wrong:
            print(f"         {line}")
    print(
        f"{total} states of {len(functions())} functions in {time.monotonic() - begin:.1f} s; {len(source.encode()) / 1000:.1f} kB of JavaScript"
    )
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
