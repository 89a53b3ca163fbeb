"""The cost models against an independent simulation, against hand calculations, and against bad input.

Closed form, stream runner and SimPy must agree. The comparisons are functions that return what differs, so that the last tests
can plant a fault in the model and see that it is reported.

Expected values are hand calculations, written beside them; the cost models are those of Dive into Deep Learning 13.2 and 13.7.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perfmodel import collectives, kernels
from perfmodel.pipeline import LANES, AsyncPipeline
from perfmodel.streams import Gap, Schedule, Span, Task, run
from verify import simulate
from verify.asserts import refuses, same

MB, GB = 1e6, 1e9  # typed here, not imported: expected values come from outside the code
steady = settings(derandomize=True, deadline=None, max_examples=150)

# Quarter ticks are exact in binary, so equal times are equal. Zero is among them.
quarter_ticks = st.integers(0, 40).map(lambda quarters: quarters / 4)
barriers = st.none() | st.integers(1, 12)
sizes = st.floats(0, 1e10)
rates = st.floats(1e3, 1e12)
latencies = st.just(0.0) | st.floats(1e-9, 1e-2)

METHODS: dict[str, tuple[Callable[..., float], Callable[..., list[Task]], Callable[..., float]]] = {
    "one_gpu": (collectives.one_gpu_s, collectives.one_gpu_tasks, simulate.one_gpu),
    "cpu": (collectives.cpu_s, collectives.cpu_tasks, simulate.cpu),
    "sharded": (collectives.sharded_s, collectives.sharded_tasks, simulate.sharded),
    "ring": (collectives.ring_s, collectives.ring_tasks, lambda **inputs: simulate.ring(**inputs).total_s),
}


# The comparisons: each returns what differs, in words.


def schedule_faults(tasks: list[Task], schedule: Schedule) -> list[str]:
    """What any schedule owes, from the words alone: tasks keep their order on a stream and never overlap there, no task starts
    before what it waits for has ended, and none starts later than it must."""
    faults = []
    for number, (task, span) in enumerate(zip(tasks, schedule.spans, strict=True)):
        before = [schedule.spans[wait].end_s for wait in task.waits]
        before += [earlier.end_s for earlier in schedule.spans[:number] if set(earlier.streams) & set(task.streams)]
        if span.start_s != max(before, default=0.0):
            faults.append(f"{task.name} starts at {span.start_s}, it could at {max(before, default=0.0)}")
        if not same(span.end_s - span.start_s, task.duration_s):
            faults.append(f"{task.name} lasts {span.end_s - span.start_s}, not {task.duration_s}")
    return faults


def pipeline_faults(pipeline: AsyncPipeline) -> list[str]:
    """Closed form, stream runner and simulation of one pipeline: totals, and the time of every enqueue and every compute."""
    seen = simulate.pipeline(
        enqueue=pipeline.enqueue,
        compute=pipeline.compute,
        fetch=pipeline.fetch,
        tasks=pipeline.tasks,
        barrier_every=pipeline.barrier_every,
    )
    schedule = pipeline.schedule()
    faults = []
    if not same(pipeline.total, seen.total):
        faults.append(f"closed form {pipeline.total}, simulation {seen.total}: {pipeline}")
    if not same(schedule.total_s, seen.total):
        faults.append(f"runner {schedule.total_s}, simulation {seen.total}: {pipeline}")
    for role, times in (("host", seen.enqueued), ("compute", seen.completed)):
        ends = [span.end_s for span in schedule.spans if span.role == role]
        if len(ends) != len(times) or not all(map(same, ends, times)):
            faults.append(f"runner {role} {ends}, simulation {times}: {pipeline}")
    return faults


def queue_faults(pipeline: AsyncPipeline) -> list[str]:
    """The queue's peak and steps against counting, at the end of every enqueue, the tasks in [end of enqueue, completion)."""
    seen = simulate.pipeline(
        enqueue=pipeline.enqueue,
        compute=pipeline.compute,
        fetch=pipeline.fetch,
        tasks=pipeline.tasks,
        barrier_every=pipeline.barrier_every,
    )
    intervals = list(zip(seen.enqueued, seen.completed, strict=True))

    def pending(time: float) -> int:
        return sum(start <= time < end for start, end in intervals)

    peak = max(map(pending, seen.enqueued), default=0)
    faults = []
    if pipeline.queue_peak != peak:
        faults.append(f"peak {pipeline.queue_peak}, counted {peak}: {pipeline}")
    for time, count in pipeline.queue_depth():
        if pending(time) != count:
            faults.append(f"{count} pending at {time}, counted {pending(time)}: {pipeline}")
    return faults


def collective_faults(method: str, **inputs: Any) -> list[str]:
    """Closed form, stream runner and simulation of one way to sum a gradient."""
    closed, program, simulated = METHODS[method]
    tasks = program(**inputs)
    schedule = run(tasks, collectives.ports(inputs["gpus"], cpu=method == "cpu"))
    return _compare(closed(**inputs), schedule, tasks, simulated(**inputs), f"{method} {inputs}")


def server_faults(**inputs: Any) -> list[str]:
    """The same for workers and parameter servers."""
    tasks = collectives.parameter_server_tasks(**inputs)
    schedule = run(tasks, collectives.server_ports(inputs["workers"], inputs["servers"]))
    simulated = simulate.parameter_server(**inputs)
    return _compare(collectives.parameter_server_s(**inputs), schedule, tasks, simulated, f"servers {inputs}")


def _compare(closed: float, schedule: Schedule, tasks: list[Task], simulated: float, what: str) -> list[str]:
    faults = schedule_faults(tasks, schedule)
    if not same(closed, simulated):
        faults.append(f"closed form {closed}, simulation {simulated}: {what}")
    if not same(schedule.total_s, simulated):
        faults.append(f"runner {schedule.total_s}, simulation {simulated}: {what}")
    return faults


def ring_faults(gpus: int) -> list[str]:
    """The chunk grid against what a ring must hold at each step, and at the end against the simulation."""
    faults = []
    start = kernels.ring_state(gpus, 0)
    if start != [[gpu + 1] * gpus for gpu in range(gpus)]:
        faults.append(f"n = {gpus} starts as {start}")
    for step in range(2 * (gpus - 1)):
        before, after = kernels.ring_state(gpus, step), kernels.ring_state(gpus, step + 1)
        for gpu in range(gpus):
            right, chunk = (gpu + 1) % gpus, kernels.ring_chunk(gpus, gpu, step)
            arrived = before[gpu][chunk]
            expected = before[right].copy()
            expected[chunk] = arrived + before[right][chunk] if step < gpus - 1 else arrived
            if after[right] != expected:
                faults.append(f"n = {gpus}, step {step}: GPU {right} holds {after[right]}, not {expected}")
    last = kernels.ring_state(gpus, 2 * (gpus - 1))
    simulated = simulate.ring(gradient_bytes=MB, gpus=gpus, link_bytes_per_s=GB, latency_s=0.0).grid
    total = sum(range(1, gpus + 1))
    if last != simulated or last != [[total] * gpus for _ in range(gpus)]:
        faults.append(f"n = {gpus} ends as {last}, not {total} everywhere; the simulation as {simulated}")
    return faults


def all_faults() -> list[str]:
    """Every comparison over a small grid."""
    faults = []
    for enqueue, compute, fetch in ((2, 3, 2), (3, 1, 2), (2, 2, 0), (0, 2, 1), (1, 0, 1)):
        for tasks in (0, 1, 2, 7, 8, 9):
            for every in (None, 1, 4):
                pipeline = AsyncPipeline(enqueue=enqueue, compute=compute, fetch=fetch, tasks=tasks, barrier_every=every)
                faults += pipeline_faults(pipeline) + queue_faults(pipeline)
    link = {"gradient_bytes": 160 * MB, "link_bytes_per_s": 16 * GB, "latency_s": 5e-6}
    for gpus in (1, 2, 3, 4, 8):
        faults += ring_faults(gpus)
        for method in METHODS:
            faults += collective_faults(method, gpus=gpus, **link)
        for servers in (1, 2, 5):
            faults += server_faults(workers=gpus, servers=servers, **link)
    return faults


# Closed form = stream runner = simulation.


@steady
@given(quarter_ticks, quarter_ticks, quarter_ticks, st.integers(0, 30), barriers)
def test_pipeline_and_queue(t1: float, t2: float, t3: float, tasks: int, every: int | None) -> None:
    pipeline = AsyncPipeline(enqueue=t1, compute=t2, fetch=t3, tasks=tasks, barrier_every=every)
    assert pipeline_faults(pipeline) == []
    assert queue_faults(pipeline) == []
    assert schedule_faults(pipeline.program(), pipeline.schedule()) == []


@steady
@given(st.floats(0, 1e3), st.floats(0, 1e3), st.floats(0, 1e3), st.integers(0, 30), barriers)
def test_pipeline_with_any_times(t1: float, t2: float, t3: float, tasks: int, every: int | None) -> None:
    assert pipeline_faults(AsyncPipeline(enqueue=t1, compute=t2, fetch=t3, tasks=tasks, barrier_every=every)) == []


@steady
@given(st.integers(0, 40), st.integers(0, 40), st.integers(0, 40), st.integers(0, 30), barriers)
def test_the_unit_does_not_move_the_queue(t1: int, t2: int, t3: int, tasks: int, every: int | None) -> None:
    """In tenths every sum is a little off in binary, and a tie must still be a tie."""
    whole = AsyncPipeline(enqueue=t1, compute=t2, fetch=t3, tasks=tasks, barrier_every=every)
    tenths = AsyncPipeline(enqueue=t1 / 10, compute=t2 / 10, fetch=t3 / 10, tasks=tasks, barrier_every=every)
    assert tenths.queue_peak == whole.queue_peak
    assert [row.tasks for row in tenths.queue_depth()] == [row.tasks for row in whole.queue_depth()]
    assert max(row.tasks for row in whole.queue_depth()) == whole.queue_peak


@pytest.mark.parametrize("method", METHODS)
@steady
@given(gpus=st.integers(1, 9), gradient_bytes=sizes, link_bytes_per_s=rates, latency_s=latencies)
def test_collectives(method: str, gpus: int, gradient_bytes: float, link_bytes_per_s: float, latency_s: float) -> None:
    link = {"gradient_bytes": gradient_bytes, "link_bytes_per_s": link_bytes_per_s, "latency_s": latency_s}
    assert collective_faults(method, gpus=gpus, **link) == []


@steady
@given(st.integers(1, 7), st.integers(1, 7), sizes, rates, latencies)
def test_parameter_servers(workers: int, servers: int, size: float, rate: float, latency_s: float) -> None:
    link = {"gradient_bytes": size, "link_bytes_per_s": rate, "latency_s": latency_s}
    assert server_faults(workers=workers, servers=servers, **link) == []


@st.composite
def programs(draw: st.DrawFn) -> list[Task]:
    """Any program: up to 12 tasks on up to 4 streams, each holding one or several and waiting for any earlier ones."""
    tasks: list[Task] = []
    for number in range(draw(st.integers(0, 12))):
        held = draw(st.lists(st.sampled_from("ABCD"), min_size=1, max_size=3, unique=True))
        waits = draw(st.lists(st.integers(0, number - 1), max_size=3)) if number else []
        duration = draw(quarter_ticks)
        tasks.append(Task(name=str(number), streams=tuple(held), duration_s=duration, waits=tuple(waits)))
    return tasks


@steady
@given(programs())
def test_any_program(tasks: list[Task]) -> None:
    schedule = run(tasks, tuple("ABCD"))
    seen = simulate.program([simulate.Issued(task.streams, task.duration_s, task.waits) for task in tasks])
    assert [(span.start_s, span.end_s) for span in schedule.spans] == seen
    assert schedule_faults(tasks, schedule) == []
    for lane, gaps in schedule.idle.items():  # busy and idle time together fill the lane
        busy = sum(span.end_s - span.start_s for span in schedule.spans if lane in span.streams)
        assert busy + sum(gap.end_s - gap.start_s for gap in gaps) == schedule.total_s


@pytest.mark.parametrize("gpus", range(1, 10))
def test_ring_states(gpus: int) -> None:
    assert ring_faults(gpus) == []


# What is sent where: the programs move the right parts, not only the right number of them.


@pytest.mark.parametrize("gpus", range(1, 9))
def test_the_ring_program_sums_every_chunk(gpus: int) -> None:
    """Carry the values along the transfers by name, in order of time: every GPU ends with every sum."""
    tasks = collectives.ring_tasks(gradient_bytes=160 * MB, gpus=gpus, link_bytes_per_s=16 * GB)
    grid = [[gpu + 1] * gpus for gpu in range(gpus)]
    for span in sorted(run(tasks).spans, key=lambda span: span.start_s):
        sender, receiver, chunk = map(int, re.findall(r"\d+", span.name))
        grid[receiver][chunk] = grid[sender][chunk] + (grid[receiver][chunk] if span.role == "transfer" else 0)
        assert receiver == (sender + 1) % gpus  # neighbours only
    assert grid == [[gpus * (gpus + 1) // 2] * gpus for _ in range(gpus)]


@pytest.mark.parametrize("gpus", range(1, 9))
def test_the_sharded_program_moves_every_part(gpus: int) -> None:
    tasks = collectives.sharded_tasks(gradient_bytes=160 * MB, gpus=gpus, link_bytes_per_s=16 * GB)
    moved = {role: {t.name for t in tasks if t.role == role} for role in ("transfer", "update")}
    pairs = [(a, b) for a in range(gpus) for b in range(gpus) if a != b]
    assert moved["transfer"] == {f"GPU {a} → GPU {b}, part {b}" for a, b in pairs}
    assert moved["update"] == {f"GPU {a} → GPU {b}, part {a}" for a, b in pairs}
    assert len(tasks) == 2 * len(pairs)


@pytest.mark.parametrize(("workers", "servers"), [(1, 1), (1, 3), (4, 1), (4, 2), (3, 3), (2, 5)])
def test_every_worker_meets_every_server(workers: int, servers: int) -> None:
    tasks = collectives.parameter_server_tasks(gradient_bytes=160 * MB, workers=workers, servers=servers, link_bytes_per_s=16 * GB)
    pairs = [(i, j) for i in range(workers) for j in range(servers)]
    assert {t.name for t in tasks if t.role == "transfer"} == {f"worker {i} → server {j}" for i, j in pairs}
    assert {t.name for t in tasks if t.role == "update"} == {f"server {j} → worker {i}" for i, j in pairs}
    spans = run(tasks).spans
    pushed = max(span.end_s for span in spans if span.role == "transfer")
    assert all(span.start_s >= pushed for span in spans if span.role == "update")  # a synchronous step


@pytest.mark.parametrize(
    ("method", "gather", "back"),
    [
        ("one_gpu", ["GPU 1 → GPU 0", "GPU 2 → GPU 0"], ["GPU 0 → GPU 1", "GPU 0 → GPU 2"]),
        (
            "cpu",
            ["GPU 0 → CPU", "GPU 1 → CPU", "GPU 2 → CPU"],
            ["CPU → GPU 0", "CPU → GPU 1", "CPU → GPU 2"],
        ),
    ],
)
def test_to_one_place_and_back(method: str, gather: list[str], back: list[str]) -> None:
    tasks = METHODS[method][1](gradient_bytes=160 * MB, gpus=3, link_bytes_per_s=16 * GB)
    assert [t.name for t in tasks if t.role == "transfer"] == gather
    assert [t.name for t in tasks if t.role == "update"] == back
    assert tasks[0].streams == (f"{gather[0][:5]} out", f"{'CPU' if method == 'cpu' else 'GPU 0'} in")
    spans = run(tasks).spans
    assert min(s.start_s for s in spans if s.role == "update") == max(s.end_s for s in spans if s.role == "transfer")


# Hand calculations: the queue (Dive into Deep Learning 13.2).


def book(tasks: int = 8, every: int | None = None, t1: float = 2, t2: float = 3, t3: float = 2) -> AsyncPipeline:
    return AsyncPipeline(enqueue=t1, compute=t2, fetch=t3, tasks=tasks, barrier_every=every)


def test_three_statements() -> None:
    spans = book(tasks=3).schedule().spans
    assert [s.end_s for s in spans if s.role == "host"] == [2, 4, 6]  # the frontend is free at 3 · 2 = 6
    assert max(s.end_s for s in spans if s.role == "compute") == 11  # 2 + 3 · 3
    assert spans[-1] == Span("fetch", ("Python",), "fetch", 11, 13)  # print returns at 11 + 2
    assert book(tasks=3).schedule().lanes == LANES


def test_one_barrier_or_many() -> None:
    assert book(every=1).total == 56  # 8 · (2 + 3 + 2)
    assert book().total == 28  # 2 + 8 · 3 + 2
    assert book(every=1).total / book().total == 2
    assert book(every=4).total == 32  # 2 · (2 + 4 · 3 + 2)
    assert book(tasks=9, every=4).total == 39  # 16 + 16 + (2 + 3 + 2)
    assert book(tasks=9, every=4).barriers == 3  # after 4, after 8, and at the end
    assert book(every=20).total == book().total  # a barrier that never comes


def test_what_a_barrier_costs() -> None:
    slow_frontend = {"t1": 3, "t2": 1, "t3": 2}
    assert book(**slow_frontend).total == 27  # 3 + 7 · 3 + 1 + 2
    assert book(every=4, **slow_frontend).total == 30  # 2 · (3 + 3 · 3 + 1 + 2)
    assert book(**slow_frontend).barrier_price == 3  # min(3, 1) + 2
    assert book().barrier_price == 4  # min(2, 3) + 2: 28 to 32 above


def test_where_the_short_form_stops() -> None:
    assert book(tasks=10_000, t1=2, t2=1, t3=1).short_form == 10_003  # 2 + 10000 + 1
    near = book(tasks=10_000, t1=1, t2=0.99995, t3=0.5)
    assert near.short_form < near.total
    assert 10_000 * 0.99995 > 9_999 * 1  # so the condition n·t2 > (n−1)·t1 holds, and is not enough


def test_few_tasks() -> None:
    assert book(tasks=0).total == 0
    assert book(tasks=0).schedule().total_s == 0
    assert book(tasks=0).queue_depth() == ((0.0, 0),)
    assert book(tasks=0).queue_peak == book(tasks=0).barriers == 0
    assert book(tasks=1).total == 7  # 2 + 3 + 2


def test_queue_peak() -> None:
    # n = 8: the last enqueue ends at 16. By then 5, 8, 11 and 14 are done (2 + 3k): 8 − 4 = 4.
    assert book().queue_peak == 4
    # n = 7: it ends at 14, just when the fourth completes, which counts first: 7 − 4 = 3.
    assert book(tasks=7).queue_peak == 3
    assert book(every=4).queue_peak == 2  # groups of 4: the last enqueue ends at 8, when 5 and 8 are done
    assert book(t2=1).queue_peak == 1  # each task is done at 2k + 1, before the next arrives
    assert book(t1=0).queue_peak == 8  # all arrive at once


# Hand calculations: summing a gradient (Dive into Deep Learning 13.7). 160 MB at 16 GB/s is one hop of 10 ms.

SERVER: dict[str, Any] = {"gradient_bytes": 160 * MB, "gpus": 4, "link_bytes_per_s": 16 * GB}


def exactly(value: float | list[float]) -> Any:
    return pytest.approx(value, rel=1e-12)


def test_four_ways_on_one_server() -> None:
    assert collectives.one_gpu_s(**SERVER) == exactly(60e-3)  # 3 transfers of 10 ms each way
    assert collectives.cpu_s(**SERVER) == exactly(80e-3)  # 4 transfers of 10 ms each way
    assert collectives.sharded_s(**SERVER) == exactly(15e-3)  # 40 MB is 2.5 ms, 3 rounds each way
    assert collectives.ring_s(**SERVER) == exactly(15e-3)  # 6 steps of 2.5 ms
    assert collectives.cpu_s(**SERVER) / collectives.sharded_s(**SERVER) == exactly(16 / 3)  # 80 / 15
    assert kernels.transfer_s(160 * MB, 16 * GB, 0.0) == exactly(10e-3)  # one hop
    for program, half_s in (
        (collectives.one_gpu_tasks, 30e-3),
        (collectives.cpu_tasks, 40e-3),
        (collectives.sharded_tasks, 7.5e-3),
        (collectives.ring_tasks, 7.5e-3),
    ):
        spans = run(program(**SERVER)).spans
        assert max(span.end_s for span in spans if span.role == "transfer") == exactly(half_s)
        assert min(span.start_s for span in spans if span.role == "update") == exactly(half_s)


def test_ring_over_nvlink() -> None:
    three_links = {"gradient_bytes": 160 * MB, "link_bytes_per_s": 54 * GB}  # 3 links of 18 GB/s
    assert collectives.ring_limit_s(**three_links) == exactly(160e-3 / 27)  # 2 · 160 / 54 ms = 5.93 ms
    assert collectives.ring_s(gpus=8, **three_links) == exactly(140e-3 / 27)  # 7/8 of it: 5.19 ms
    at_1875 = {"gradient_bytes": 160 * MB, "link_bytes_per_s": 56.25 * GB}  # 3 links of 18.75 GB/s
    assert round(collectives.ring_limit_s(**at_1875) * 1e3, 2) == 5.69  # 320 / 56.25 = 5.6889
    assert round(collectives.ring_s(gpus=8, **at_1875) * 1e3, 2) == 4.98  # 5.6889 · 7/8 = 4.9778
    across = 80e-3 / collectives.ring_limit_s(**three_links), 80e-3 / collectives.ring_s(gpus=8, **three_links)
    assert across == (exactly(13.5), exactly(108 / 7))  # 80 · 27 / 160; and 8/7 of it, 15.43


def test_more_gpus() -> None:
    def over_n(method: Callable[..., float], gpus: tuple[int, ...]) -> list[float]:
        return [method(gradient_bytes=160 * MB, gpus=n, link_bytes_per_s=16 * GB) for n in gpus]

    # 20 ms · (n−1)/n
    assert over_n(collectives.ring_s, (2, 3, 4, 8)) == exactly([10e-3, 40e-3 / 3, 15e-3, 17.5e-3])
    assert over_n(collectives.one_gpu_s, (2, 4, 8)) == exactly([20e-3, 60e-3, 140e-3])  # 20 ms · (n−1)
    limit = collectives.ring_limit_s(gradient_bytes=160 * MB, link_bytes_per_s=16 * GB)
    assert limit == exactly(20e-3)
    assert all(time < limit for time in over_n(collectives.ring_s, tuple(range(1, 2000))))


def test_latency_is_paid_per_transfer() -> None:
    # 1 KB over 8 GPUs: 14 steps of at least 5 µs, whatever the link.
    ring = collectives.ring_s(gradient_bytes=1e3, gpus=8, link_bytes_per_s=16 * GB, latency_s=5e-6)
    assert ring == exactly(70e-6 + 14 * 125 / 16e9)


def test_parameter_servers_by_hand() -> None:
    link = {"gradient_bytes": 160 * MB, "link_bytes_per_s": 16 * GB}
    one = [collectives.parameter_server_s(workers=m, servers=1, **link) for m in (1, 4, 8)]
    assert one == exactly([20e-3, 80e-3, 160e-3])  # 2 · m · 10 ms: as m
    four = [collectives.parameter_server_s(workers=m, servers=4, **link) for m in (4, 8, 16)]
    assert four == exactly([20e-3, 40e-3, 80e-3])  # 2 · m · 2.5 ms: as m/n
    assert collectives.parameter_server_s(workers=1, servers=4, **link) == exactly(20e-3)  # one port: all 160 MB


def test_a_pull_waits_for_every_push_or_behind_one_that_does() -> None:
    """3 workers, 2 servers: 6 pushes, then from each server a first pull that waits for the last push of every worker."""
    tasks = collectives.parameter_server_tasks(gradient_bytes=2, workers=3, servers=2, link_bytes_per_s=1)
    pushes, pulls = tasks[:6], tasks[6:]
    assert [(task.role, task.waits) for task in pushes] == [("transfer", ())] * 6
    last = {task.streams[0]: i for i, task in enumerate(pushes)}
    begun: set[str] = set()
    for task in pulls:
        server = task.streams[0]
        assert (task.role, sorted(task.waits)) == ("update", [] if server in begun else sorted(last.values()))
        begun.add(server)


def test_a_latency_left_out_is_none() -> None:
    for method in ("one_gpu", "cpu", "sharded", "ring"):
        closed, tasks, _ = METHODS[method]
        inputs: dict[str, Any] = {"gradient_bytes": 16.0, "gpus": 4, "link_bytes_per_s": 1.0}
        assert run(tasks(**inputs)).total_s == closed(**inputs) == closed(latency_s=0, **inputs)
    servers: dict[str, Any] = {"gradient_bytes": 16.0, "workers": 2, "servers": 2, "link_bytes_per_s": 1.0}
    assert run(collectives.parameter_server_tasks(**servers)).total_s == collectives.parameter_server_s(latency_s=0, **servers)
    assert collectives.parameter_server_s(**servers) == collectives.parameter_server_s(latency_s=0, **servers)


def test_in_round_r_a_gpu_sends_to_the_one_r_places_on() -> None:
    tasks = collectives.sharded_tasks(gradient_bytes=4, gpus=4, link_bytes_per_s=1)
    around = [(i, (i + r) % 4) for r in (1, 2, 3) for i in range(4)]
    assert [task.name for task in tasks[:12]] == [f"GPU {i} → GPU {to}, part {to}" for i, to in around]
    assert [task.name for task in tasks[12:]] == [f"GPU {i} → GPU {to}, part {i}" for i, to in around]
    last = {to: index for index, (_, to) in enumerate(around)}  # a GPU has summed its part when the last has arrived
    assert [task.waits for task in tasks[12:]] == [(last[i],) for i, _ in around]


def test_the_ports_of_gpus_alone() -> None:
    assert collectives.ports(1) == ("GPU 0 out", "GPU 0 in")


def test_a_queue_without_tasks_has_both_its_lanes() -> None:
    assert book(tasks=0).schedule().lanes == LANES == ("Python", "GPU")


def test_a_task_that_takes_no_time_is_never_pending() -> None:
    assert kernels.queue_steps([2.0, 3.0], [2.0, 3.0]) == [[0.0, 0]]
    assert kernels.queue_steps([0.0, 0.0], [0.0, 0.0]) == [[0.0, 0]]


def test_walk_the_ring() -> None:
    assert kernels.ring_state(4, 0) == [[1] * 4, [2] * 4, [3] * 4, [4] * 4]
    # Step 1: GPU 0 sends chunk 0 to GPU 1 (1 + 2), GPU 1 chunk 1 to GPU 2 (2 + 3), GPU 2 chunk 2 to GPU 3 (3 + 4),
    # GPU 3 chunk 3 to GPU 0 (4 + 1).
    assert kernels.ring_state(4, 1) == [[1, 1, 1, 5], [3, 2, 2, 2], [3, 5, 3, 3], [4, 4, 7, 4]]
    assert kernels.ring_state(4, 6) == [[10] * 4] * 4  # 1 + 2 + 3 + 4, after 2 · 3 steps


# Identities.


@steady
@given(st.integers(1, 100), sizes, rates, latencies)
def test_identities(gpus: int, size: float, rate: float, latency_s: float) -> None:
    link = {"gradient_bytes": size, "link_bytes_per_s": rate, "latency_s": latency_s}
    n = gpus
    assert collectives.sharded_s(gpus=n, **link) == collectives.ring_s(gpus=n, **link)
    servers = collectives.parameter_server_s(workers=n, servers=1, **link)
    assert same(servers, collectives.cpu_s(gpus=n, **link))  # one server is the CPU in another place
    assert same(collectives.one_gpu_s(gpus=n + 1, **link), collectives.cpu_s(gpus=n, **link))  # the GPU's own share is free
    assert collectives.one_gpu_s(gpus=1, **link) == collectives.ring_s(gpus=1, **link) == 0
    bare = {"gradient_bytes": size, "link_bytes_per_s": rate}
    assert same(n * collectives.sharded_s(gpus=n, **bare), collectives.one_gpu_s(gpus=n, **bare))
    assert same(collectives.ring_s(gpus=n, **bare), collectives.ring_limit_s(**bare) * (n - 1) / n)


@steady
@given(quarter_ticks, quarter_ticks, quarter_ticks, st.integers(1, 30), st.integers(1, 12))
def test_pipeline_identities(t1: float, t2: float, t3: float, tasks: int, every: int) -> None:
    one, many = book(tasks, None, t1, t2, t3), book(tasks, every, t1, t2, t3)
    assert many.total - one.total == (many.barriers - 1) * one.barrier_price  # the price of each extra barrier
    assert one.total == one.short_form + (tasks - 1) * max(0.0, t1 - t2)  # the short form, and what it leaves out
    assert book(tasks, 1, t1, t2, t3).total == tasks * (t1 + t2 + t3)
    assert many.queue_peak <= min(every, tasks)


def test_a_long_program() -> None:
    long = book(tasks=50_000)
    assert long.schedule().total_s == long.total == 2 + 50_000 * 3 + 2


def test_idle_time() -> None:
    # GPU: 0–2 nothing to do, 2–8 two tasks, 8–10 the fetch. Python: 4–8 waits at the barrier.
    schedule = book(tasks=2).schedule()
    assert schedule.idle == {"Python": (Gap(4, 8),), "GPU": (Gap(0, 2), Gap(8, 10))}


# Bad input: the rule, then the value.

LINK = {"gradient_bytes": 160 * MB, "link_bytes_per_s": 16 * GB}
NAN, INF = math.nan, math.inf


def a_task(**changes: Any) -> Task:
    return Task(**{"name": "t", "streams": ("GPU",), "duration_s": 1.0, **changes})


BAD_PIPELINES = [
    ({"every": 0}, "barrier_every must be at least 1 (or None for one at the end), got 0"),
    ({"every": -3}, "barrier_every must be at least 1 (or None for one at the end), got -3"),
    ({"every": 2.0}, "barrier_every must be at least 1 (or None for one at the end), got 2.0"),
    ({"every": True}, "barrier_every must be at least 1 (or None for one at the end), got True"),
    ({"t1": -1}, "enqueue must be a finite number of at least 0, got -1"),
    ({"t2": NAN}, "compute must be a finite number of at least 0, got nan"),
    ({"t3": INF}, "fetch must be a finite number of at least 0, got inf"),
    ({"tasks": -1}, "tasks must be a whole number of at least 0, got -1"),
    ({"tasks": 2.5}, "tasks must be a whole number of at least 0, got 2.5"),
]
BAD_TASKS = [
    ({"duration_s": -1.0}, "the duration of 't' must be a finite number of at least 0, got -1.0"),
    ({"duration_s": NAN}, "the duration of 't' must be a finite number of at least 0, got nan"),
    ({"duration_s": INF}, "the duration of 't' must be a finite number of at least 0, got inf"),
    ({"streams": ()}, "a task must hold at least one stream, got () for 't'"),
    ({"streams": "GPU"}, "streams must be a tuple of names, got 'GPU' for 't'"),
    ({"streams": ("A", "B", "A")}, "a task must name each stream once, got ('A', 'B', 'A') for 't'"),
    ({"waits": (-1,)}, "each wait of 't' must be a whole number of at least 0, got -1"),
    ({"role": "copy"}, "a role must be one of host, compute, transfer, fetch, update, got 'copy' for 't'"),
]
BAD_LINKS = [
    ({"gradient_bytes": -1}, "gradient_bytes must be a finite number of at least 0, got -1"),
    ({"gradient_bytes": NAN}, "gradient_bytes must be a finite number of at least 0, got nan"),
    ({"link_bytes_per_s": 0}, "link_bytes_per_s must be a finite number above 0, got 0"),
    ({"link_bytes_per_s": INF}, "link_bytes_per_s must be a finite number above 0, got inf"),
    ({"latency_s": -1e-6}, "latency_s must be a finite number of at least 0, got -1e-06"),
    ({"latency_s": NAN}, "latency_s must be a finite number of at least 0, got nan"),
]
BAD_GPUS = [
    *BAD_LINKS,
    ({"gpus": 0}, "gpus must be a whole number of at least 1, got 0"),
    ({"gpus": 2.5}, "gpus must be a whole number of at least 1, got 2.5"),
]
BAD_SERVERS = [
    *BAD_LINKS,
    ({"workers": 0}, "workers must be a whole number of at least 1, got 0"),
    ({"servers": 0}, "servers must be a whole number of at least 1, got 0"),
]


@pytest.mark.parametrize(("changes", "message"), BAD_PIPELINES)
def test_bad_pipelines(changes: dict[str, Any], message: str) -> None:
    with refuses(message):
        book(**changes)


@pytest.mark.parametrize(("changes", "message"), BAD_TASKS)
def test_bad_tasks(changes: dict[str, Any], message: str) -> None:
    with refuses(message):
        a_task(**changes)


def test_a_task_that_ends_beyond_the_largest_float_is_named() -> None:
    tasks = [Task(name=name, streams=("GPU",), duration_s=1e308) for name in ("a", "b", "c")]
    with refuses("a task must end at a finite time, got inf for 'b'"):
        run(tasks)


@pytest.mark.parametrize("wait", [1, 2, 7])
def test_a_wait_for_a_task_not_issued(wait: int) -> None:
    with refuses(f"a task may only wait for tasks issued before it, got wait {wait} for task 1, 't'"):
        run([a_task(), a_task(waits=(wait,))])


def test_bad_lanes() -> None:
    with refuses("a task must use the lanes Python, CPU; got 'GPU' for 't'"):
        run([a_task()], ("Python", "CPU"))
    with refuses("each lane must be listed once, got ('GPU', 'GPU')"):
        run([a_task()], ("GPU", "GPU"))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("changes", "message"), BAD_GPUS)
def test_bad_collectives(method: str, changes: dict[str, Any], message: str) -> None:
    for function in METHODS[method][:2]:
        with refuses(message):
            function(**{**LINK, "gpus": 4, **changes})


@pytest.mark.parametrize(("changes", "message"), BAD_SERVERS)
def test_bad_parameter_servers(changes: dict[str, Any], message: str) -> None:
    for function in (collectives.parameter_server_s, collectives.parameter_server_tasks):
        with refuses(message):
            function(**{**LINK, "workers": 4, "servers": 2, **changes})


def test_bad_limits_and_ports() -> None:
    with refuses("link_bytes_per_s must be a finite number above 0, got 0"):
        collectives.ring_limit_s(gradient_bytes=1.0, link_bytes_per_s=0)
    with refuses("gpus must be a whole number of at least 1, got 0"):
        collectives.ports(0)
    with refuses("servers must be a whole number of at least 1, got 0"):
        collectives.server_ports(1, 0)


# The comparisons see a fault: plant one in the model, and they must report it.


def _runner_without(waits: bool = True, all_streams: bool = True) -> Callable[..., list[float]]:
    """The stream runner, planted to ignore waits, or every stream but a task's first."""

    def planted(streams: list[list[int]], after: list[list[int]], durations: list[float], count: int) -> list[float]:
        return right(
            streams if all_streams else [held[:1] for held in streams],
            after if waits else [[] for _ in after],
            durations,
            count,
        )

    right = kernels.run_streams
    return planted


def _half(right: Callable[..., float]) -> Callable[..., float]:
    return lambda *inputs: right(*inputs) / 2


PLANTS: dict[str, tuple[str, Callable[..., object]]] = {
    "the runner ignores waits": ("run_streams", _runner_without(waits=False)),
    "the runner looks at one stream of each task": ("run_streams", _runner_without(all_streams=False)),
    "the short form t1 + n·t2 + t3": ("pipeline_group", lambda t1, t2, t3, n: t1 + n * t2 + t3 if n else 0.0),
    "a remainder is dropped": (
        "pipeline_total",
        lambda t1, t2, t3, n, k, right=kernels.pipeline_total: right(t1, t2, t3, n - n % k if k else n, k),
    ),
    "a fetch does not wait": ("pipeline_waits", lambda kinds: [[i - 1] if kind == 1 else [] for i, kind in enumerate(kinds)]),
    "no barrier at the end": ("pipeline_kinds", lambda n, k: [0, 1] * n),
    "at equal times the enqueue counts first": (
        "queue_peak",
        lambda t1, t2, n, k, right=kernels.queue_peak: right(t1 * (1 - 1e-6), t2, n, k),  # it comes a moment earlier
    ),
    "the queue is not drained at a barrier": ("queue_peak", lambda t1, t2, n, k, right=kernels.queue_peak: right(t1, t2, n, 0)),
    "n−1 steps in a ring": ("ring_s", _half(kernels.ring_s)),
    "sharded, one way only": ("sharded_s", _half(kernels.sharded_s)),
    "the CPU's own copy counts as sent": ("cpu_s", kernels.one_gpu_s),
    "n transfers to one GPU": ("one_gpu_s", kernels.cpu_s),
    "a whole gradient around the ring": ("ring_s", kernels.one_gpu_s),
    "latency counted once": ("ring_s", lambda size, n, rate, latency, right=kernels.ring_s: right(size, n, rate, 0.0) + latency),
    "servers bound by the smaller crowd": (
        "parameter_server_s",
        lambda size, m, n, rate, latency: 2 * min(m, n) * kernels.transfer_s(size / n, rate, latency),
    ),
    "the ring sends its own chunk each time": ("ring_chunk", lambda gpus, gpu, step: gpu),
    "the ring walks the other way": ("ring_chunk", lambda gpus, gpu, step: (gpu + step) % gpus),
    "the last step is left out": ("ring_state", lambda gpus, step, right=kernels.ring_state: right(gpus, max(0, step - 1))),
}  # fmt: skip


def test_no_faults() -> None:
    assert all_faults() == []


@pytest.mark.parametrize("plant", PLANTS)
def test_a_planted_fault_is_reported(plant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    name, planted = PLANTS[plant]
    monkeypatch.setattr(kernels, name, planted)
    assert all_faults(), plant


def test_the_simulation_shares_no_code_with_the_model() -> None:
    tree = ast.parse(Path(simulate.__file__).read_text(encoding="utf-8"))
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    imported |= {node.module or "." for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert imported == {"__future__", "collections.abc", "typing", "simpy"}
