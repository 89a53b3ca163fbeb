"""Pipelines: schedules as the papers draw them and as PyTorch lays them out; closed form, runner and simulation agree."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.distributed.pipelining import schedules as torch_schedules

from perfmodel import stages
from perfmodel.stages import ScheduleName, bubble_fraction, in_flight, order, pipeline_s, pipeline_tasks, stage_lanes
from perfmodel.streams import run
from verify import simulate
from verify.asserts import refuses

steady = settings(derandomize=True, deadline=None, max_examples=60)

# The schedules as drawn. A character is a unit of time, a device a line; digits are forward passes, letters the backward passes of
# the same microbatches (a is the first), dots are idle.

# Huang et al. 2019, figure 2c: four devices, microbatches 0 to 3, F and B drawn equally wide, backward from the last microbatch on.
GPIPE = """
0123......dcba
.0123....dcba.
..0123..dcba..
...0123dcba...
"""
# Narayanan et al. 2021, figure 3: GPipe with four devices and eight microbatches, backward twice as long as forward.
GPIPE_IN_ORDER = """
12345678.........aabbccddeeffgghh
.12345678......aabbccddeeffgghh..
..12345678...aabbccddeeffgghh....
...12345678aabbccddeeffgghh......
"""
# The same, figure 4, above: 1F1B. The order on each device is the figure's. When a pass starts follows by hand from that order:
# device 4 starts B1 at 4, device 3 at 6, device 2 at 8, device 1 at 10; from then on each takes three units for a pair.
ONE_F_ONE_B = """
1234......aa5bb6cc7dd8ee.ff.gg.hh
.123....aa4bb5cc6dd7ee8ff.gg.hh..
..12..aa3bb4cc5dd6ee7ff8gg.hh....
...1aa2bb3cc4dd5ee6ff7gg8hh......
"""
# The same, figure 4, below: interleaved, two chunks a device. Numbers are microbatches, a prime is the second chunk, B is backward.
INTERLEAVED = {
    0: "1 2 3 4 1' 2' 3' 4' 5 6 7 B1' 8 B2' 5' B3' 6' B4' 7' B1 8' B2 B3 B4 B5' B6' B7' B8' B5 B6 B7 B8",
    3: "1 2 3 4 1' B1' 2' B2' 3' B3' 4' B4' 5 B1 6 B2 7 B3 8 B4 5' B5' 6' B6' 7' B7' 8' B8' B5 B6 B7 B8",
}


def drawn(schedule: ScheduleName, *, microbatches: int, backward: int, first: int) -> str:
    """A schedule as above; `first` is the digit of the first microbatch."""
    tasks = pipeline_tasks(schedule, stages=4, microbatches=microbatches, forward_s=1, backward_s=backward)
    done = run(tasks, stage_lanes(4))
    lines = {lane: ["."] * round(done.total_s) for lane in done.lanes}
    for span in done.spans:
        number = int(span.name[1:])
        mark = str(number - 1 + first) if span.name[0] == "F" else chr(ord("a") + number - 1)
        for at in range(round(span.start_s), round(span.end_s)):
            lines[span.streams[0]][at] = mark
    return "\n" + "\n".join("".join(line) for line in lines.values()) + "\n"


def test_as_gpipe_draws_it() -> None:
    assert drawn("gpipe", microbatches=4, backward=1, first=0) == GPIPE


def test_as_megatron_draws_gpipe() -> None:
    assert drawn("gpipe in order", microbatches=8, backward=2, first=1) == GPIPE_IN_ORDER


def test_as_megatron_draws_1f1b() -> None:
    assert drawn("1f1b", microbatches=8, backward=2, first=1) == ONE_F_ONE_B


@pytest.mark.parametrize("device", INTERLEAVED)
def test_as_megatron_draws_it_interleaved(device: int) -> None:
    words = [
        ("" if each.forward else "B") + str(each.microbatch + 1) + "'" * (each.part // 4)
        for each in order("1f1b", stages=4, microbatches=8, device=device, chunks=2)
    ]
    assert " ".join(words) == INTERLEAVED[device]


def test_a_schedule_with_two_passes_swapped_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    right = stages.order

    def swapped(*args: Any, **kwargs: Any) -> list[stages.Pass]:
        found = right(*args, **kwargs)
        if kwargs["device"] == 3:
            found[1], found[2] = found[2], found[1]  # F2 before B1
        return found

    monkeypatch.setattr(stages, "order", swapped)
    assert drawn("1f1b", microbatches=8, backward=2, first=1) != ONE_F_ONE_B


def test_passes_that_wait_for_each_other_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    right = stages.order
    monkeypatch.setattr(stages, "order", lambda *args, **kwargs: right(*args, **kwargs)[::-1])  # backwards first
    with pytest.raises(ValueError, match="wait for each other"):
        pipeline_tasks("gpipe", stages=2, microbatches=1, forward_s=1, backward_s=1)


def torch_order(stage_count: int, microbatches: int, chunks: int, device: int) -> list[tuple[bool, int, int]]:
    """The order of PyTorch's own interleaved schedule, without its idle slots."""
    shape = SimpleNamespace(
        n_local_stages=chunks, microbatches_per_round=stage_count, pp_group_size=stage_count, _n_microbatches=microbatches
    )
    actions = torch_schedules.ScheduleInterleaved1F1B._calculate_single_rank_operations(shape, device)  # type: ignore[arg-type]
    forward = torch_schedules._ComputationType.FORWARD
    found = [each for each in actions if each is not None]
    return [(each.computation_type == forward, int(each.microbatch_index or 0), each.stage_index) for each in found]


@pytest.mark.parametrize("stage_count", [2, 3, 4, 8])
@pytest.mark.parametrize("chunks", [2, 3, 4])
@pytest.mark.parametrize("groups", [1, 2, 5])
def test_as_pytorch_orders_it_interleaved(stage_count: int, chunks: int, groups: int) -> None:
    shape: dict[str, Any] = {"stages": stage_count, "microbatches": stage_count * groups, "chunks": chunks}
    for device in range(stage_count):
        ours = [(each.forward, each.microbatch, each.part) for each in order("1f1b", device=device, **shape)]
        assert ours == torch_order(stage_count, stage_count * groups, chunks, device)


# Closed form, runner, simulation.

quarters = st.integers(0, 12).map(lambda count: count / 4)


@st.composite
def shapes(draw: st.DrawFn) -> dict[str, Any]:
    count, chunks = draw(st.integers(1, 6)), draw(st.integers(1, 3))
    schedule = draw(st.sampled_from(stages.SCHEDULES)) if chunks == 1 else "1f1b"
    batches = draw(st.integers(1, 4)) * count if chunks > 1 else draw(st.integers(1, 12))
    return {"schedule": schedule, "stages": count, "microbatches": batches, "chunks": chunks}


@steady
@given(shape=shapes(), forward=quarters, backward=quarters)
def test_closed_form_runner_and_simulation_agree(shape: dict[str, Any], forward: float, backward: float) -> None:
    schedule = shape.pop("schedule")
    tasks = pipeline_tasks(schedule, forward_s=forward, backward_s=backward, **shape)
    closed = pipeline_s(forward_s=forward, backward_s=backward, **shape)
    total = run(tasks, stage_lanes(shape["stages"])).total_s
    spans = simulate.program([simulate.Issued(task.streams, task.duration_s, task.waits) for task in tasks])
    assert math.isclose(total, max(end for _, end in spans), rel_tol=1e-9, abs_tol=1e-12)
    # Where forward and backward are so unequal that the pipeline runs dry, a real 1F1B waits longer than the form says: never less.
    assert total >= closed * (1 - 1e-9)
    if forward <= backward and shape["microbatches"] >= shape["stages"]:
        assert math.isclose(total, closed, rel_tol=1e-9, abs_tol=1e-12)


@steady
@given(shape=shapes())
def test_every_pass_runs_once_and_where_it_belongs(shape: dict[str, Any]) -> None:
    schedule, parts = shape.pop("schedule"), shape["stages"] * shape["chunks"]
    seen = []
    for device in range(shape["stages"]):
        mine = order(schedule, device=device, **shape)
        assert all(each.part % shape["stages"] == device for each in mine)
        for each in mine:  # forwards before backwards, on the same device
            if not each.forward:
                assert mine.index(stages.Pass(True, each.microbatch, each.part)) < mine.index(each)
        seen += mine
    everything = {(way, batch, part) for way in (True, False) for batch in range(shape["microbatches"]) for part in range(parts)}
    assert len(seen) == len(everything)
    assert {tuple(each) for each in seen} == everything


def test_by_hand() -> None:
    # 4 devices, 8 microbatches of 1 + 2: (8 + 3) · 3 = 33; two chunks: 8 · 3 + 3/2 · 3 = 28.5. The bubble is 9 of 33 and 4.5 of 28.5.
    shape = {"stages": 4, "microbatches": 8}
    assert pipeline_s(forward_s=1, backward_s=2, **shape) == 33
    assert pipeline_s(forward_s=1, backward_s=2, chunks=2, **shape) == 28.5
    assert bubble_fraction(**shape) == 9 / 33
    assert bubble_fraction(chunks=2, **shape) == pytest.approx(4.5 / 28.5)
    assert bubble_fraction(stages=1, microbatches=3) == 0
    # Narayanan et al. 2021, section 2.2: (p−1)/m of the time without bubble, and (p−1)/(v·m) interleaved.
    assert (33 - 24) / 24 == 3 / 8
    assert pytest.approx(3 / (2 * 8)) == (28.5 - 24) / 24


def test_the_bubble_is_what_the_lanes_show() -> None:
    for schedule in stages.SCHEDULES:
        done = run(pipeline_tasks(schedule, stages=5, microbatches=7, forward_s=1, backward_s=2), stage_lanes(5))
        idle = sum(gap.end_s - gap.start_s for gaps in done.idle.values() for gap in gaps)
        assert idle / (5 * done.total_s) == pytest.approx(bubble_fraction(stages=5, microbatches=7))


@pytest.mark.parametrize(("stages_", "chunks"), [(1, 1), (2, 1), (5, 1), (3, 2)])
def test_a_pass_waits_for_the_one_before_it_of_its_microbatch(stages_: int, chunks: int) -> None:
    """Forwards through parts 0 to p·v − 1, on the devices in turn; then backwards, the other way: a chain of 2·p·v passes."""
    tasks = pipeline_tasks("1f1b", stages=stages_, microbatches=6, forward_s=1, backward_s=2, chunks=chunks)
    there = [f"device {part % stages_}" for part in range(stages_ * chunks)]
    for number in range(1, 7):
        chain = [i for i, task in enumerate(tasks) if task.name in (f"F{number}", f"B{number}")]
        assert [tasks[i].streams[0] for i in chain] == there + there[::-1]
        assert [list(tasks[i].waits) for i in chain] == [[], *([i] for i in chain[:-1])]


def test_what_a_device_holds() -> None:
    """Narayanan et al. 2021: GPipe keeps all m microbatches, 1F1B at most p. Korthikanti et al. 2022: 1 + (p−1)/(p·v) times p."""
    shape = {"stages": 8, "microbatches": 24}
    assert in_flight("gpipe", device=0, **shape) == 24
    assert [in_flight("1f1b", device=device, **shape) for device in range(8)] == [8, 7, 6, 5, 4, 3, 2, 1]
    assert in_flight("1f1b", device=0, chunks=3, **shape) == pytest.approx(8 * (1 + 7 / (8 * 3)))


def test_unequal_stages_run_at_the_pace_of_the_slowest() -> None:
    """The second of four devices takes twice as long: 8 pairs of 6, behind one forward and before one backward of the first."""
    weights = [1.0, 2.0, 1.0, 1.0]
    tasks = pipeline_tasks("1f1b", stages=4, microbatches=8, forward_s=1, backward_s=2, weights=weights)
    total = run(tasks).total_s
    assert 1 + 8 * 6 + 2 <= total <= 2 * 33
    balanced = pipeline_s(stages=4, microbatches=8, forward_s=1.25, backward_s=2.5)  # the same work, spread evenly
    assert total > balanced


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: pipeline_s(stages=0, microbatches=1, forward_s=1, backward_s=1), "stages must be a whole number of at least 1, got 0"),
        (lambda: pipeline_s(stages=4, microbatches=6, forward_s=1, backward_s=1, chunks=2), "microbatches must be a multiple of stages = 4 when interleaved, got 6"),
        (lambda: bubble_fraction(stages=2, microbatches=2, chunks=0), "chunks must be a finite number above 0, got 0"),
        (lambda: order("gpipe", stages=2, microbatches=2, device=2), "device must be 0 to 1, got 2"),
        (lambda: order("gpipe", stages=2, microbatches=2, device=0, chunks=2), "chunks must be 1 with gpipe, got 2"),
        (lambda: order("zero bubble", stages=2, microbatches=2, device=0), "a schedule must be one of gpipe, gpipe in order, 1f1b, got 'zero bubble'"),  # type: ignore[arg-type]
        (lambda: pipeline_tasks("1f1b", stages=2, microbatches=1, forward_s=1, backward_s=1, weights=[1]), "weights must be one for each of 2 stages, got 1"),
        (lambda: pipeline_tasks("1f1b", stages=1, microbatches=1, forward_s=1, backward_s=1, weights=[0]), "a weight must be a finite number above 0, got 0"),
        (lambda: pipeline_tasks("1f1b", stages=1, microbatches=1, forward_s=-1, backward_s=1), "forward_s must be a finite number of at least 0, got -1"),
    ],
)  # fmt: skip
def test_bad_input_is_refused(call: Any, message: str) -> None:
    with refuses(message):
        call()


# At size.


@pytest.mark.parametrize("schedule", ["gpipe", "1f1b"])
def test_64_stages_and_512_microbatches(schedule: ScheduleName) -> None:
    tasks = pipeline_tasks(schedule, stages=64, microbatches=512, forward_s=1, backward_s=2)
    assert len(tasks) == 65_536
    assert run(tasks).total_s == pipeline_s(stages=64, microbatches=512, forward_s=1, backward_s=2) == 575 * 3


@pytest.mark.full
def test_every_size_up_to_64_stages_and_512_microbatches() -> None:
    for count in (1, 2, 4, 8, 16, 32, 64):
        for batches in (64, 128, 256, 512):
            for chunks in (1, 2, 4):
                shape: dict[str, Any] = {
                    "stages": count,
                    "microbatches": batches,
                    "chunks": chunks,
                    "forward_s": 1.0,
                    "backward_s": 2.0,
                }
                assert run(pipeline_tasks("1f1b", **shape)).total_s == pytest.approx(pipeline_s(**shape), rel=1e-9)


def test_closed_forms_beyond() -> None:
    """4096 stages, a million microbatches: the bubble is 4095 of 1,004,095 rounds."""
    assert bubble_fraction(stages=4096, microbatches=1_000_000) == 4095 / 1_004_095
    assert pipeline_s(stages=4096, microbatches=1_000_000, forward_s=1, backward_s=2) == 1_004_095 * 3
