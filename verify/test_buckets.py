"""DDP buckets against PyTorch itself, and the overlapped step against a simulation and by hand."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.distributed as dist
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch._C._distributed_c10d import _DEFAULT_FIRST_BUCKET_BYTES, GradBucket, _compute_bucket_assignment_by_size
from torch.nn.parallel import DistributedDataParallel

from perfmodel import buckets
from perfmodel.buckets import (
    CAP_BYTES,
    FIRST_CAP_BYTES,
    STEP_LANES,
    bucket_layout,
    overlap,
    ready_s,
    step_bounds_s,
    step_s,
    step_tasks,
)
from perfmodel.streams import run
from verify import simulate
from verify.asserts import refuses

steady = settings(derandomize=True, deadline=None, max_examples=80)
MIB = 2**20


def by_torch(elements: list[int], caps: list[int]) -> list[list[int]]:
    """The layout that PyTorch makes of parameters of so many floats, given in reverse, as their gradients come."""
    tensors = [torch.empty(count) for count in reversed(elements)]
    found, _ = _compute_bucket_assignment_by_size(tensors, caps)
    return [[len(elements) - 1 - index for index in bucket] for bucket in found]


@steady
@given(
    elements=st.lists(st.integers(1, 2000), min_size=1, max_size=40),
    first=st.integers(1, 12_000),
    cap=st.integers(1, 12_000),
)
def test_the_layout_is_pytorchs(elements: list[int], first: int, cap: int) -> None:
    ours = bucket_layout([4 * count for count in elements], cap_bytes=cap, first_cap_bytes=first)
    assert ours == by_torch(elements, [first, cap])


def test_the_caps_are_pytorchs() -> None:
    assert FIRST_CAP_BYTES == _DEFAULT_FIRST_BUCKET_BYTES == 2**20
    assert CAP_BYTES == 25 * 2**20  # DistributedDataParallel's bucket_cap_mb


@pytest.fixture
def group(tmp_path: Path) -> Iterator[None]:
    """A process group of one."""
    dist.init_process_group("gloo", init_method=f"file://{tmp_path}/store", rank=0, world_size=1)
    yield
    dist.destroy_process_group()


@pytest.mark.parametrize("cap_mb", [None, 1, 4, 25])
def test_the_reducer_lays_out_the_same(group: None, cap_mb: int | None) -> None:
    """A real DistributedDataParallel, after it has seen in what order gradients come: which parameters it sends together, in order."""
    net = nn.Sequential(*(nn.Linear(width, width * 2) for width in (64, 128, 256, 512, 1024)))
    model = DistributedDataParallel(net) if cap_mb is None else DistributedDataParallel(net, bucket_cap_mb=cap_mb)
    sent: list[list[int]] = []
    number = {id(parameter): index for index, parameter in enumerate(net.parameters())}

    def keep(_: None, bucket: GradBucket) -> torch.futures.Future[torch.Tensor]:
        sent.append(sorted((number[id(parameter)] for parameter in bucket.parameters()), reverse=True))
        done: torch.futures.Future[torch.Tensor] = torch.futures.Future()
        done.set_result(bucket.buffer())
        return done

    # PyTorch looks at the types themselves, where this file has their names.
    keep.__annotations__ |= {"bucket": GradBucket, "return": torch.futures.Future[torch.Tensor]}
    model.register_comm_hook(None, keep)
    for _ in range(2):
        sent.clear()
        torch.autograd.backward(model(torch.zeros(2, 64)).sum())
    sizes = [parameter.nbytes for parameter in net.parameters()]
    ours = bucket_layout(sizes) if cap_mb is None else bucket_layout(sizes, cap_bytes=cap_mb * MIB)
    assert sent == ours
    assert (len(sent) == 1) == (cap_mb == 25)  # 11 MB in all


def test_a_layout_that_closes_before_the_cap_is_seen() -> None:
    """The rule that one would guess, never more than the cap, is not PyTorch's."""
    elements, cap = [100, 100, 100, 100], 1000
    guess = [[3, 2], [1, 0]]  # 800 B fit under 1000 B
    assert by_torch(elements, [cap, cap]) == [[3, 2, 1], [0]] != guess
    assert bucket_layout([400] * 4, cap_bytes=cap, first_cap_bytes=cap) == [[3, 2, 1], [0]]


def test_a_bucket_that_holds_its_cap_to_the_byte_is_full() -> None:
    assert bucket_layout([8, 8, 8], cap_bytes=8) == [[2], [1], [0]]
    assert bucket_layout([8, 7], cap_bytes=8) == [[1, 0]]
    assert bucket_layout([8, 8, 8, 8, 8], cap_bytes=16, first_cap_bytes=8) == [[4], [3, 2], [1, 0]]


def test_the_update_waits_for_the_last_bucket_alone() -> None:
    times = {"forward_s": 4, "backward_s": 8, "update_s": 1}
    assert step_tasks([], exchange_s=[], **times)[-1].waits == ()
    assert step_tasks([8], exchange_s=[3], **times)[-1].waits == (2,)
    *_, last, update = step_tasks([4, 8], exchange_s=[3, 3], **times)
    assert (last.name, update.waits) == ("allreduce of bucket 2", (4,))


# The step.

quarters = st.integers(0, 20).map(lambda count: count / 4)


@st.composite
def steps(draw: st.DrawFn) -> tuple[list[float], list[float], dict[str, float]]:
    """Buckets that fill up in order, the time to send each, and the other times of a step."""
    gaps, rest = draw(st.lists(quarters, min_size=1, max_size=8)), draw(quarters)
    ready = [sum(gaps[: index + 1]) for index in range(len(gaps))]
    sending = [draw(quarters) for _ in gaps]
    return ready, sending, {"forward_s": draw(quarters), "backward_s": ready[-1] + rest, "update_s": draw(quarters)}


@steady
@given(step=steps())
def test_closed_form_runner_and_simulation_agree(step: tuple[list[float], list[float], dict[str, float]]) -> None:
    ready, sending, times = step
    tasks = step_tasks(ready, exchange_s=sending, **times)
    total = step_s(ready, exchange_s=sending, **times)
    spans = simulate.program([simulate.Issued(task.streams, task.duration_s, task.waits) for task in tasks])
    assert math.isclose(run(tasks, STEP_LANES).total_s, total, rel_tol=1e-9, abs_tol=1e-12)
    assert math.isclose(max(end for _, end in spans), total, rel_tol=1e-9, abs_tol=1e-12)
    # The end of the last bucket, as a formula: over all buckets, full plus all that is sent from then on.
    last = max(full + sum(sending[index:]) for index, full in enumerate(ready))
    assert math.isclose(overlap(ready, exchange_s=sending, backward_s=times["backward_s"]).exchange_end_s, last, rel_tol=1e-9)
    low, high = step_bounds_s(forward_s=times["forward_s"], backward_s=times["backward_s"], exchange_s=sum(sending))
    assert low - 1e-9 <= total - times["update_s"] <= high + 1e-9


@steady
@given(step=steps(), slowdown=st.sampled_from([1.0, 1.25, 2.0, 4.0]))
def test_the_slowdown_against_small_steps_of_time(step: tuple[list[float], list[float], dict[str, float]], slowdown: float) -> None:
    """All times are quarters and a slowdown is a multiple of one, so a clock of 1/64 s hits every event."""
    ready, sending, times = step
    tick, done, now, queue, left = 1 / 64, 0.0, 0.0, list(zip(ready, sending, strict=True)), 0.0
    while done < times["backward_s"] - 1e-9 or left > 1e-9 or queue:
        while left <= 1e-9 and queue and done >= queue[0][0] - 1e-9:
            left = queue.pop(0)[1]
        if done >= times["backward_s"] - 1e-9 and left <= 1e-9 and not queue:
            break
        if done < times["backward_s"] - 1e-9:
            done += tick / slowdown if left > 1e-9 else tick
        left -= tick
        now += tick
    found = overlap(ready, exchange_s=sending, backward_s=times["backward_s"], slowdown=slowdown)
    assert max(found) == pytest.approx(now, abs=0.5)  # where a quarter over 1.25 falls between two ticks
    plain = overlap(ready, exchange_s=sending, backward_s=times["backward_s"])
    assert found.backward_end_s >= plain.backward_end_s - 1e-9
    assert slowdown != 1 or found == plain


def test_the_slowdown_by_hand() -> None:
    # A backward pass of 8, buckets full at 4 and 8, 3 to send each. Slowed by 2 from 4 to 7, it does 1.5 of the 4 that are left by 7,
    # so it is done at 9.5; then the second bucket goes, until 12.5.
    assert overlap([4, 8], exchange_s=[3, 3], backward_s=8, slowdown=2) == (9.5, 12.5)
    # One long allreduce beside all of the rest: 4 at half the pace are 8, and 4 + 8 = 12 is before it ends at 4 + 20.
    assert overlap([4], exchange_s=[20], backward_s=8, slowdown=2) == (12, 24)
    # Off by default.
    assert overlap([4, 8], exchange_s=[3, 3], backward_s=8) == (8, 11)


def test_ready_by_hand() -> None:
    # Work 1, 3, 4 in order of registration, so backward has done 4 of 8 when the last is full, and all of it with the rest.
    assert ready_s([[2], [1, 0]], work=[1, 3, 4], backward_s=16) == [8, 16]
    assert step_s([8, 16], exchange_s=[10, 10], forward_s=5, backward_s=16, update_s=2) == 5 + (8 + 20) + 2


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: bucket_layout([1], cap_bytes=0), "cap_bytes must be a finite number above 0, got 0"),
        (lambda: bucket_layout([-1]), "a size must be a finite number of at least 0, got -1"),
        (lambda: ready_s([[0]], work=[0], backward_s=1), "the sum of all work must be a finite number above 0, got 0"),
        (lambda: overlap([1], exchange_s=[], backward_s=1), "exchange_s must be one for each of 1 buckets, got 0"),
        (lambda: overlap([1], exchange_s=[1], backward_s=1, slowdown=0.5), "slowdown must be a finite number of at least 1, got 0.5"),
        (lambda: overlap([2, 1], exchange_s=[1, 1], backward_s=2), "the time from one bucket to the next must be a finite number of at least 0, got -1"),
        (lambda: overlap([2], exchange_s=[1], backward_s=1), "the time after the last bucket must be a finite number of at least 0, got -1"),
        (lambda: step_bounds_s(forward_s=-1, backward_s=1, exchange_s=1), "forward_s must be a finite number of at least 0, got -1"),
    ],
)  # fmt: skip
def test_bad_input_is_refused(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}(\\.0)?$"):
        call()


def test_a_bucket_sent_too_early_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """A step in which each bucket goes when it is half full would end earlier: the simulation of the tasks says otherwise."""
    ready, sending, times = [4.0, 8.0], [3.0, 3.0], {"forward_s": 4.0, "backward_s": 8.0, "update_s": 1.0}
    total = run(step_tasks(ready, exchange_s=sending, **times)).total_s
    right = buckets.overlap
    monkeypatch.setattr(buckets, "overlap", lambda full, **rest: right([each / 2 for each in full], **rest))
    assert buckets.step_s(ready, exchange_s=sending, **times) != total == 16


def test_a_step_task_by_task() -> None:
    """Two buckets, full after 4 and 8 s of 10; the update waits for the last to be sent."""
    tasks = step_tasks([4, 8], exchange_s=[3, 2], forward_s=1, backward_s=10, update_s=5)
    gpu, network = tasks[0].streams, tasks[2].streams
    assert gpu != network
    assert [(task.name, task.streams, task.duration_s, task.role, task.waits) for task in tasks] == [
        ("forward", gpu, 1, "compute", ()),
        ("backward to bucket 1", gpu, 4, "compute", ()),
        ("allreduce of bucket 1", network, 3, "transfer", (1,)),
        ("backward to bucket 2", gpu, 4, "compute", ()),
        ("allreduce of bucket 2", network, 2, "transfer", (3,)),
        ("rest of backward", gpu, 2, "compute", ()),
        ("update", gpu, 5, "update", (4,)),
    ]


def test_a_slower_backward_pass_makes_a_slower_step() -> None:
    """From 4 to 7 only 1.5 s worth of work is done, so the pass ends at 9.5 and the second bucket at 12.5; 1 s before, 0.5 s after."""
    assert step_s([4, 8], exchange_s=[3, 3], forward_s=1, backward_s=8, update_s=0.5, slowdown=2) == 14


def test_the_last_bucket_is_full_when_the_pass_ends_whatever_the_rounding() -> None:
    assert 0.1 + 0.2 + 0.3 > 0.3 + 0.2 + 0.1  # in binary
    assert ready_s([[2], [1], [0]], work=[0.3, 0.2, 0.1], backward_s=8)[-1] == 8


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ready_s([[0]], work=[-1], backward_s=1), "work must be a finite number of at least 0, got -1"),
        (lambda: overlap([1], exchange_s=[-1], backward_s=1), "a time to send a bucket must be a finite number of at least 0, got -1"),
        (lambda: overlap([1], exchange_s=[1], backward_s=1, slowdown=math.inf), "slowdown must be a finite number of at least 1, got inf"),
        (lambda: overlap([1], exchange_s=[1, 1], backward_s=1), "exchange_s must be one for each of 1 buckets, got 2"),
    ],
)  # fmt: skip
def test_a_bad_bucket_is_refused(call: Callable[[], object], message: str) -> None:
    with refuses(message):
        call()
