"""Act 3: devices that work at once, and copies that travel while the next kernel runs, against SimPy and by hand.

The cost model is that of Dive into Deep Learning 13.3, with launches for free.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator
from typing import Any

import pytest
import simpy
from hypothesis import given, settings
from hypothesis import strategies as st

from perfmodel import overlap
from perfmodel.streams import Task, run
from verify import simulate
from verify.asserts import refuses, same

steady = settings(derandomize=True, deadline=None, max_examples=100)
times = st.integers(0, 40).map(lambda quarters: quarters / 4) | st.floats(0, 1e3)
Process = Generator[simpy.Event, Any, None]


# The same once more in SimPy, from the words alone.


def simulated_devices(*, kernels: int, kernel_s: float, barrier: bool, devices: int) -> float:
    env = simpy.Environment()

    def device() -> Process:
        for _ in range(kernels):
            yield env.timeout(kernel_s)

    def python() -> Process:
        working = []
        for _ in range(devices):
            working.append(env.process(device()))
            if barrier:
                yield working[-1]
        yield env.all_of(working)

    env.run(until=env.process(python()))
    return float(env.now)


def simulated_copies(*, kernels: int, kernel_s: float, copy_s: float, overlap: bool) -> float:
    env = simpy.Environment()
    results = simpy.Store(env)
    copied = [env.event() for _ in range(kernels)]

    def gpu() -> Process:
        for number in range(kernels):
            yield env.timeout(kernel_s)
            results.put(number)
            if not overlap:
                yield copied[number]

    def copy_engine() -> Process:
        for _ in range(kernels):
            number = yield results.get()
            yield env.timeout(copy_s)
            copied[number].succeed()

    env.process(gpu())
    env.run(until=env.process(copy_engine()))
    return float(env.now)


def faults(closed: float, tasks: list[Task], lanes: tuple[str, ...], expected: float, what: str) -> list[str]:
    """Closed form, stream runner and the tasks in SimPy, each against the simulation from the words."""
    spans = simulate.program([simulate.Issued(task.streams, task.duration_s, task.waits) for task in tasks])
    seen = {
        "closed form": closed,
        "runner": run(tasks, lanes).total_s,
        "tasks in SimPy": max((end for _, end in spans), default=0.0),
    }
    return [f"{name} {value}, simulation {expected}: {what}" for name, value in seen.items() if not same(value, expected)]


def device_faults(**inputs: Any) -> list[str]:
    lanes = overlap.device_lanes(inputs["devices"])
    tasks = overlap.devices_tasks(**inputs)
    return faults(overlap.devices_s(**inputs), tasks, lanes, simulated_devices(**inputs), f"devices {inputs}")


def copy_faults(**inputs: Any) -> list[str]:
    tasks = overlap.copies_tasks(**inputs)
    return faults(overlap.copies_s(**inputs), tasks, overlap.COPY_LANES, simulated_copies(**inputs), f"copies {inputs}")


def all_faults() -> list[str]:
    found: list[str] = []
    for kernels in (0, 1, 2, 10):
        for flag in (False, True):
            found += device_faults(kernels=kernels, kernel_s=1, barrier=flag, devices=2)
            for kernel_s, copy_s in ((1, 1), (2, 1), (1, 3), (0, 1), (1, 0)):
                found += copy_faults(kernels=kernels, kernel_s=kernel_s, copy_s=copy_s, overlap=flag)
    return found


@steady
@given(st.integers(0, 12), times, st.booleans(), st.integers(1, 5))
def test_devices(kernels: int, kernel_s: float, barrier: bool, devices: int) -> None:
    assert device_faults(kernels=kernels, kernel_s=kernel_s, barrier=barrier, devices=devices) == []


@steady
@given(st.integers(0, 12), times, times, st.booleans())
def test_copies(kernels: int, kernel_s: float, copy_s: float, hide: bool) -> None:
    assert copy_faults(kernels=kernels, kernel_s=kernel_s, copy_s=copy_s, overlap=hide) == []


@steady
@given(st.integers(0, 50), times, times)
def test_overlap_helps_and_has_a_limit(kernels: int, kernel_s: float, copy_s: float) -> None:
    inputs = {"kernel_s": kernel_s, "copy_s": copy_s}
    hidden = overlap.copies_s(kernels=kernels, overlap=True, **inputs)
    serial = overlap.copies_s(kernels=kernels, overlap=False, **inputs)
    assert hidden <= serial * (1 + 1e-12)
    assert hidden >= kernels * max(kernel_s, copy_s) * (1 - 1e-12)  # no stream can do its own work faster
    assert 2 * hidden >= serial * (1 - 1e-12)  # so overlap never more than halves the time


def test_right_values() -> None:
    ten = {"kernels": 10, "kernel_s": 1}
    assert overlap.devices_s(**ten, barrier=True) == 20  # 10 + 10
    assert overlap.devices_s(**ten, barrier=False) == 10
    assert overlap.copies_s(**ten, copy_s=1, overlap=True) == 11  # 10 kernels, and the last copy
    assert overlap.copies_s(**ten, copy_s=1, overlap=False) == 20  # 10 · (1 + 1)
    assert overlap.copies_s(**ten, copy_s=3, overlap=True) == 31  # the first kernel, and 10 copies of 3
    assert overlap.copies_s(**ten, copy_s=0.5, overlap=True) == 10.5  # 10 kernels, and half a tick for the last copy
    assert overlap.copies_s(**ten, copy_s=0, overlap=True) == 10


def test_the_timeline() -> None:
    # Kernels at 0, 1, 2; a copy of 2 follows the first at 1, then each waits for the copy before it: 1, 3, 5.
    spans = run(overlap.copies_tasks(kernels=3, kernel_s=1, copy_s=2, overlap=True), overlap.COPY_LANES).spans
    assert [(span.name, span.start_s) for span in spans] == [
        ("kernel 1", 0), ("copy 1", 1), ("kernel 2", 1), ("copy 2", 3), ("kernel 3", 2), ("copy 3", 5),
    ]  # fmt: skip
    assert {span.role for span in spans if span.name.startswith("copy")} == {"transfer"}
    barrier = run(overlap.devices_tasks(kernels=2, kernel_s=1, barrier=True), overlap.device_lanes())
    assert [(span.name, span.streams, span.start_s) for span in barrier.spans] == [
        ("kernel 1", ("GPU 0",), 0),
        ("kernel 2", ("GPU 0",), 1),
        ("kernel 1", ("GPU 1",), 2),
        ("kernel 2", ("GPU 1",), 3),
    ]


BAD_DEVICES = [
    ({"kernels": -1}, "kernels must be a whole number of at least 0, got -1"),
    ({"kernels": 2.0}, "kernels must be a whole number of at least 0, got 2.0"),
    ({"devices": 0}, "devices must be a whole number of at least 1, got 0"),
    ({"kernel_s": -1}, "kernel_s must be a finite number of at least 0, got -1"),
    ({"kernel_s": math.nan}, "kernel_s must be a finite number of at least 0, got nan"),
]
BAD_COPIES = [
    ({"kernels": -1}, "kernels must be a whole number of at least 0, got -1"),
    ({"kernel_s": math.inf}, "kernel_s must be a finite number of at least 0, got inf"),
    ({"copy_s": -0.5}, "copy_s must be a finite number of at least 0, got -0.5"),
    ({"copy_s": math.nan}, "copy_s must be a finite number of at least 0, got nan"),
]


@pytest.mark.parametrize(("changes", "message"), BAD_DEVICES)
def test_bad_devices(changes: dict[str, Any], message: str) -> None:
    for function in (overlap.devices_s, overlap.devices_tasks):
        with refuses(message):
            function(**{"kernels": 0, "kernel_s": 1, "barrier": True, "devices": 2, **changes})


@pytest.mark.parametrize(("changes", "message"), BAD_COPIES)
def test_bad_copies(changes: dict[str, Any], message: str) -> None:
    for function in (overlap.copies_s, overlap.copies_tasks):
        with refuses(message):
            function(**{"kernels": 0, "kernel_s": 1, "copy_s": 1, "overlap": True, **changes})


# The comparisons see a fault.


def _without_waits(right: Callable[..., list[Task]]) -> Callable[..., list[Task]]:
    def planted(**inputs: Any) -> list[Task]:
        return [Task(name=t.name, streams=t.streams, duration_s=t.duration_s, role=t.role) for t in right(**inputs)]

    return planted


PLANTS: dict[str, tuple[str, Callable[..., Any]]] = {
    "a barrier that nobody waits at": ("devices_tasks", _without_waits(overlap.devices_tasks)),
    "a copy before its kernel": ("copies_tasks", _without_waits(overlap.copies_tasks)),
    "copies that always overlap": (
        "copies_tasks",
        lambda overlap, right=overlap.copies_tasks, **inputs: right(overlap=True, **inputs),
    ),
    "the last copy is free": (
        "copies_s",
        lambda copy_s, right=overlap.copies_s, **inputs: right(copy_s=copy_s, **inputs) - copy_s,
    ),
    "a kernel always hides a copy": (
        "copies_s",
        lambda kernels, kernel_s, copy_s, overlap: kernels * kernel_s + (copy_s if overlap else kernels * copy_s) if kernels else 0,
    ),
    "the barrier forgotten": ("devices_s", lambda kernels, kernel_s, barrier, devices: kernels * kernel_s),
}


def test_no_faults() -> None:
    assert all_faults() == []


@pytest.mark.parametrize("plant", PLANTS)
def test_a_planted_fault_is_reported(plant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    name, planted = PLANTS[plant]
    monkeypatch.setattr(overlap, name, planted)
    assert all_faults(), plant
