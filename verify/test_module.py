"""The module's models: products and networks, one step in two ways, the scatter of steps, when to scale out.

Expected values are hand calculations, written beside them, or published figures; PyTorch counts FLOP, SimPy runs the steps.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from perfmodel import collectives, data_parallel, hardware, matmul, scale_out, scaling
from perfmodel.book import module
from perfmodel.data_parallel import Step, data_parallel_lanes, data_parallel_s, data_parallel_tasks, ddp_s, ddp_tasks
from perfmodel.scale_out import Job, Machine, advise, fits_card, gpus_for_deadline, gpus_to_hold, machines_for_data
from perfmodel.splitting import mlp
from perfmodel.streams import Task, run
from verify import simulate
from verify.asserts import refuses

steady = settings(derandomize=True, deadline=None, max_examples=60)
widths = st.lists(st.integers(1, 30), min_size=2, max_size=5)


# Products, and networks of them.


def test_products_by_hand() -> None:
    # 512³ = 134,217,728; twice the side is eight times as many; 4096³ = 2³⁶.
    sides = [matmul.multiply_adds(rows=n, inner=n, columns=n) for n in (512, 1024, 2048, 4096)]
    assert sides == [2**27, 2**30, 2**33, 2**36]
    assert matmul.multiply_adds(rows=2, inner=3, columns=5) == 30
    # 784-256-10, 128 samples: 2 · 128 · (784·256 + 256·10) = 256 · 203,264.
    net = mlp(784, 256, 10)
    assert matmul.dense_forward_flop(net, batch=128) == 256 * 203_264 == 52_035_584
    # Backward: 2 · 128 · (784·256 + 2 · 256·10), as PyTorch counts it too (below). The images need no gradient.
    assert matmul.dense_backward_flop(net, batch=128) == 256 * 205_824 == 52_690_944
    # A V100 at 15.7 TFLOP/s: 2 · 4096³ / 15.7e12 = 8.754 ms, and a launch of 10 µs.
    v100 = {"element_bytes": 4, "peak_flop_per_s": 15.7e12, "bytes_per_s": 900e9}
    assert matmul.matmul_s(n=4096, overhead_s=1e-5, **v100) == pytest.approx(8.764e-3, rel=1e-4)
    # Side 64 has 3 · 64² · 4 = 49,152 bytes: memory is the limit, 54.6 ns.
    assert matmul.matmul_s(n=64, **v100) == pytest.approx(49_152 / 900e9, rel=1e-12)
    # The line: a call of 2 s and 3 s for each multiply-add; back from one point of it.
    assert matmul.cubic_s(n=4, overhead_s=2, each_s=3) == 2 + 64 * 3
    assert matmul.multiply_add_s(n=4, time_s=194, overhead_s=2) == 3
    assert matmul.half_speed_side(overhead_s=8e-6, each_s=1e-12) == pytest.approx(200)  # ∛(8·10⁶)


@steady
@given(widths, st.integers(1, 8))
def test_flop_are_what_pytorch_counts(net: list[int], batch: int) -> None:
    """PyTorch counts products alone, as we do; the samples are data, so its backward makes one of the two in the first layer."""
    x = torch.randn(batch, net[0])
    stack = nn.Sequential(*[nn.Linear(a, b, bias=False) for a, b in pairwise(net)])
    with FlopCounterMode(display=False) as counted:
        out = stack(x)
    assert counted.get_total_flops() == matmul.dense_forward_flop(mlp(*net), batch=batch)
    with FlopCounterMode(display=False) as counted:
        torch.autograd.backward(out.sum())
    assert counted.get_total_flops() == matmul.dense_backward_flop(mlp(*net), batch=batch)


def test_two_chips_by_hand() -> None:
    # 28 cores, 2 units of 16 lanes, 2 FLOP, 2.5 GHz: 28 · 32 · 5e9 = 4.48 TFLOP/s. Six channels of 8 bytes at 2.666 GT/s: 127.968 GB/s.
    assert hardware.XEON_FP32.flop_per_s == 4.48e12
    assert hardware.XEON_MEMORY.bytes_per_s == pytest.approx(127.968e9, rel=1e-12)


# One step in two ways: 4 GPUs, copies of 1 s (input), 2 s (output) and 10 s (parameters) over a link.
PAIR = Step(
    gpus=2, link_bytes_per_s=1, parameters_bytes=3, input_bytes=1, output_bytes=2, forward_s=5, backward_s=7, loss_s=4, update_s=6
)


def rows(tasks: list[Task]) -> list[tuple[str, tuple[str, ...], float, str, tuple[int, ...]]]:
    return [(task.name, task.streams, task.duration_s, task.role, task.waits) for task in tasks]


def test_a_step_of_data_parallel_task_by_task() -> None:
    """Each phase waits for all of the one before; copies hold the link of GPU 0 and the other GPU."""
    link = ("GPU 0's link", "GPU 1")
    assert rows(data_parallel_tasks(PAIR)) == [
        ("scatter", link, 1, "transfer", ()),
        ("replicate", link, 3, "update", (0,)),
        ("forward", ("GPU 0",), 5, "compute", (1,)),
        ("forward", ("GPU 1",), 5, "compute", (1,)),
        ("gather", link, 2, "transfer", (2, 3)),
        ("loss", ("GPU 0",), 4, "compute", (4,)),
        ("send back", link, 2, "transfer", (5,)),
        ("backward", ("GPU 0",), 7, "compute", (6,)),
        ("backward", ("GPU 1",), 7, "compute", (6,)),
        ("reduce", link, 3, "transfer", (7, 8)),
        ("update", ("GPU 0",), 6, "update", (9,)),
    ]


def test_a_step_of_ddp_task_by_task() -> None:
    """Nobody waits but for its own stream; the loss is halved; the ring of two sends 2 · 1 halves of 3 bytes."""
    first, second = ("GPU 0",), ("GPU 1",)
    twice = [("forward", 5, "compute"), ("loss", 2, "compute"), ("backward", 7, "compute")]
    assert rows(ddp_tasks(PAIR)) == [
        ("own samples", ("GPU 0's link", "GPU 0"), 1, "transfer", ()),
        ("own samples", second, 1, "transfer", ()),
        *((name, gpu, time, role, ()) for name, time, role in twice for gpu in (first, second)),
        ("allreduce", ("GPU 0's link", "GPU 0", "GPU 1"), 3, "transfer", ()),
        *(("update", gpu, 6, "update", ()) for gpu in (first, second)),
    ]
    assert "allreduce" not in [task.name for task in ddp_tasks(replace(PAIR, gpus=1))]


STEP = Step(
    gpus=4, link_bytes_per_s=1, parameters_bytes=10, input_bytes=1, output_bytes=2, forward_s=5, backward_s=7, loss_s=8, update_s=3
)


def test_a_step_by_hand() -> None:
    # Three of each copy: 3·1 + 3·10, forward 5, 3·2, loss 8, 3·2, backward 7, 3·10, update 3.
    assert data_parallel_s(STEP) == 3 + 30 + 5 + 6 + 8 + 6 + 7 + 30 + 3 == 98
    # Own samples 1, forward 5, a quarter of the loss 2, backward 7, ring 6 · 10/4 = 15, update 3.
    assert ddp_s(STEP) == 1 + 5 + 2 + 7 + 15 + 3 == 33
    one = replace(STEP, gpus=1)
    assert data_parallel_s(one) == 5 + 8 + 7 + 3  # nothing is copied
    assert ddp_s(one) == 1 + 5 + 8 + 7 + 3


def test_what_the_page_says_of_it() -> None:
    """160 MB over 16 GB/s is 10 ms, 16 MB is 1 ms: 3 + 30 + 20 + 3 + 4 + 3 + 40 + 30 + 2, and 1 + 20 + 1 + 40 + 15 + 2."""
    step = module.step(4)
    assert data_parallel_s(step) == pytest.approx(0.135, rel=1e-12)
    assert ddp_s(step) == pytest.approx(0.079, rel=1e-12)
    whole = {name: schedule.total_s for name, schedule in module.schedules().items()}
    assert whole == pytest.approx({"DataParallel": 0.135, "DDP": 0.079}, rel=1e-12)


def step_faults(step: Step) -> list[str]:
    """Where closed form, engine and SimPy differ, and where the two ways do not share their compute."""
    found = []
    for name, tasks, closed in (
        ("DataParallel", data_parallel_tasks(step), data_parallel_s(step)),
        ("DDP", ddp_tasks(step), ddp_s(step)),
    ):
        engine = run(tasks, data_parallel_lanes(step.gpus)).total_s
        simulated = max(end for _, end in simulate.program([simulate.Issued(t.streams, t.duration_s, t.waits) for t in tasks]))
        for other, what in ((engine, "the engine"), (simulated, "the simulation")):
            if not math.isclose(closed, other, rel_tol=1e-9, abs_tol=1e-12):
                found.append(f"{name}: {closed} by the formula, {other} by {what}")
        for gpu in range(step.gpus):
            done = {task.name for task in tasks if f"GPU {gpu}" in task.streams}
            if not {"forward", "backward"} <= done:
                found.append(f"{name}: GPU {gpu} does only {sorted(done)}")
    return found


times = st.floats(0, 100)


@steady
@given(st.integers(1, 6), st.floats(0.1, 1e3), st.tuples(times, times, times, times, times, times, times))
def test_formula_engine_and_simulation(gpus: int, link: float, parts: tuple[float, ...]) -> None:
    names = ("parameters_bytes", "input_bytes", "output_bytes", "forward_s", "backward_s", "loss_s", "update_s")
    step = Step(gpus=gpus, link_bytes_per_s=link, **dict(zip(names, parts, strict=True)))
    assert step_faults(step) == []
    # The parameters of DataParallel go out and come back as in act 6; each further GPU makes it longer, and DDP by less.
    copies = collectives.one_gpu_s(gradient_bytes=step.parameters_bytes, gpus=gpus, link_bytes_per_s=link)
    assert data_parallel_s(step) >= copies - 1e-9
    more = replace(step, gpus=gpus + 1)
    assert data_parallel_s(more) >= data_parallel_s(step) - 1e-9
    assert ddp_s(more) - ddp_s(step) <= data_parallel_s(more) - data_parallel_s(step) + 1e-9


def _without(name: str) -> Callable[[Step], list[Task]]:
    """The tasks, one phase taking no time."""
    right = data_parallel.data_parallel_tasks
    return lambda step: [replace(task, duration_s=0.0) if task.name == name else task for task in right(step)]


def _in_parallel(step: Step) -> list[Task]:
    """Each copy on a link of its own."""
    lane = "GPU 0's link"
    return [
        replace(task, streams=tuple(s for s in task.streams if s != lane)) if lane in task.streams else task
        for task in data_parallel.data_parallel_tasks(step)
    ]


PLANTS: dict[str, Callable[[Step], list[Task]]] = {
    "parameters are not copied again": _without("replicate"), "gradients are not brought together": _without("reduce"),
    "outputs are not gathered": _without("gather"), "copies don't take turns": _in_parallel,
    "the last GPU does nothing": lambda step: data_parallel.data_parallel_tasks(replace(step, gpus=step.gpus - 1)),
}  # fmt: skip


@pytest.mark.parametrize("plant", PLANTS)
def test_a_planted_fault_in_the_step_is_reported(plant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    planted = PLANTS[plant]
    made = planted(STEP)
    monkeypatch.setattr("verify.test_module.data_parallel_tasks", lambda step: made)
    assert step_faults(STEP), plant


def test_steps_that_are_refused() -> None:
    with refuses("gpus must be a whole number of at least 1, got 0"):
        replace(STEP, gpus=0)
    with refuses("link_bytes_per_s must be a finite number above 0, got 0"):
        replace(STEP, link_bytes_per_s=0)
    with refuses("output_bytes must be a finite number of at least 0, got -1"):
        replace(STEP, output_bytes=-1)
    with refuses("gpus must be a whole number of at least 1, got 0"):
        data_parallel_lanes(0)


# The scatter of steps.


def test_scatter_by_hand() -> None:
    # 0.1² · 8 / 4 = 0.02; over 40 samples 10 such steps.
    assert scaling.step_noise(lr=0.1, batch=4, sample_variance=8) == pytest.approx(0.02, rel=1e-12)
    assert scaling.pass_noise(lr=0.1, batch=4, samples=40, sample_variance=8) == pytest.approx(0.2, rel=1e-12)


def test_scatter_of_real_steps() -> None:
    """Descent on a slope that never changes, with noise of variance 1: how far the ends of many walks scatter."""
    random = torch.Generator().manual_seed(0)
    walks = 20_000
    for lr, batch in ((0.1, 4), (0.4, 16), (0.2, 16)):
        end = torch.zeros(walks, dtype=torch.float64)
        for _ in range(64 // batch):
            noise = torch.randn(walks, batch, generator=random, dtype=torch.float64).mean(1)
            end -= lr * (1.0 + noise)
        # The variance of `walks` normal numbers is known to within √(2/walks) = 1 %; five of that.
        assert float(end.var()) == pytest.approx(scaling.pass_noise(lr=lr, batch=batch, samples=64), rel=0.05)


@steady
@given(st.integers(1, 64), st.integers(1, 16), st.floats(1e-4, 1))
def test_the_linear_rule_keeps_the_scatter_of_a_pass(batch: int, gpus: int, lr: float) -> None:
    scaled = scaling.linear_rule(base_lr=lr, base_batch=batch, batch=batch * gpus)
    ratio = scaling.step_noise(lr=scaled, batch=batch * gpus) / scaling.step_noise(lr=lr, batch=batch)
    assert ratio == pytest.approx(gpus, rel=1e-9)  # k² in the rate, 1/k in the variance
    whole = 64 * batch * gpus
    after = scaling.pass_noise(lr=scaled, batch=batch * gpus, samples=whole)
    assert after == pytest.approx(scaling.pass_noise(lr=lr, batch=batch, samples=whole), rel=1e-9)


# When to scale out.
JOB = Job(state_bytes=24e9, activations_bytes=8e9, one_gpu_s=100, deadline_s=100, data_bytes=4e12)
MACHINE = Machine(card_bytes=32e9, storage_bytes=4e12)


def test_all_at_the_limit_is_no_reason() -> None:
    assert advise(JOB, MACHINE) == ("stay on one GPU",)
    assert fits_card(JOB, MACHINE)
    assert machines_for_data(JOB, MACHINE) == 1
    assert gpus_for_deadline(one_gpu_s=100, deadline_s=100, efficiency=0.5) == 1  # alone, nothing is lost


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"activations_bytes": 8e9 + 1}, ("save activations",)),
        ({"state_bytes": 32e9, "activations_bytes": 0.0}, ("stay on one GPU",)),
        ({"state_bytes": 32e9}, ("save activations",)),
        ({"state_bytes": 32e9 + 1, "activations_bytes": 0.0}, ("split the model",)),
        ({"one_gpu_s": 101}, ("data parallelism",)),
        ({"data_bytes": 4e12 + 1}, ("shard the data",)),
        ({"state_bytes": 33e9, "one_gpu_s": 101, "data_bytes": 5e12}, ("split the model", "data parallelism", "shard the data")),
    ],
)
def test_each_excess_has_its_cure(changes: dict[str, float], says: tuple[str, ...]) -> None:
    assert advise(replace(JOB, **changes), MACHINE) == says


def test_how_many() -> None:
    # 10 days in 3, at 90 %: 10/2.7 = 3.7, so 4. 60 in 7: 60/6.3 = 9.5, so 10. 100 TB on 30: 3.3, so 4.
    assert gpus_for_deadline(one_gpu_s=10, deadline_s=3, efficiency=0.9) == 4
    assert gpus_for_deadline(one_gpu_s=60, deadline_s=7, efficiency=0.9) == 10
    assert machines_for_data(replace(JOB, data_bytes=100e12), Machine(card_bytes=1, storage_bytes=30e12)) == 4
    # Split over 4, in whole copies: 300/(60·0.9) = 5.6 makes 8, and one copy where one GPU alone would be in time.
    assert gpus_for_deadline(one_gpu_s=300, deadline_s=60, efficiency=0.9, replica_gpus=4) == 8
    assert gpus_for_deadline(one_gpu_s=8, deadline_s=1, replica_gpus=4) == 8
    assert gpus_for_deadline(one_gpu_s=8.1, deadline_s=1, replica_gpus=4) == 12
    assert gpus_for_deadline(one_gpu_s=1, deadline_s=1, replica_gpus=4) == 4
    assert gpus_for_deadline(one_gpu_s=1.1, deadline_s=1, replica_gpus=4) == 4
    large = replace(JOB, state_bytes=112e9, activations_bytes=16e9)
    assert gpus_to_hold(JOB, MACHINE) == 1
    assert gpus_to_hold(large, MACHINE) == 4
    assert gpus_to_hold(replace(large, state_bytes=112e9 + 1e3), MACHINE) == 5
    # One alone would miss it by a hair: two at least, even if the loss of efficiency makes up for half of it.
    assert gpus_for_deadline(one_gpu_s=100.1, deadline_s=100) == 2
    assert gpus_for_deadline(one_gpu_s=0.3, deadline_s=0.1) == 3  # 0.3/0.1 is 2.9999999999999996 in binary


@steady
@given(st.floats(1, 1e6), st.floats(1, 1e6), st.floats(0.1, 1))
def test_the_fewest_that_meet_the_deadline(time_s: float, deadline_s: float, efficiency: float) -> None:
    if time_s / (deadline_s * efficiency) > 1e6:
        return
    k = gpus_for_deadline(one_gpu_s=time_s, deadline_s=deadline_s, efficiency=efficiency)

    def meets(gpus: int) -> bool:
        return (time_s if gpus == 1 else time_s / (gpus * efficiency)) <= deadline_s * (1 + 1e-8)

    assert meets(k)
    assert k <= 2 or not meets(k - 1)


def test_jobs_that_are_refused() -> None:
    with refuses("deadline_s must be a finite number above 0, got 0"):
        replace(JOB, deadline_s=0)
    with refuses("state_bytes must be a finite number of at least 0, got -1"):
        replace(JOB, state_bytes=-1)
    with refuses("card_bytes must be a finite number above 0, got 0"):
        Machine(card_bytes=0, storage_bytes=1)
    with refuses("efficiency must be at most 1, got 1.1"):
        gpus_for_deadline(one_gpu_s=2, deadline_s=1, efficiency=1.1)
    with refuses("replica_gpus must be a whole number of at least 1, got 0"):
        gpus_for_deadline(one_gpu_s=1, deadline_s=1, replica_gpus=0)
    with refuses("a model must be in reach of 1000000 GPUs, got one that needs 2e+06"):
        gpus_to_hold(replace(JOB, state_bytes=2e6, activations_bytes=0), Machine(card_bytes=1, storage_bytes=1))
    assert gpus_for_deadline(one_gpu_s=1e6, deadline_s=1) == 1_000_000
    with refuses("a deadline must be in reach of 1000000 GPUs, got one that needs 2e+06"):
        gpus_for_deadline(one_gpu_s=2e6, deadline_s=1)


@pytest.mark.parametrize(
    ("function", "inputs", "message"),
    [
        (matmul.multiply_adds, {"rows": 0, "inner": 1, "columns": 1}, "rows must be a whole number of at least 1, got 0"),
        (matmul.cubic_s, {"n": 0, "overhead_s": 1, "each_s": 1}, "n must be a whole number of at least 1, got 0"),
        (matmul.cubic_s, {"n": 1, "overhead_s": -1, "each_s": 1}, "overhead_s must be a finite number of at least 0, got -1"),
        (matmul.cubic_s, {"n": 1, "overhead_s": 1, "each_s": 0}, "each_s must be a finite number above 0, got 0"),
        (
            matmul.multiply_add_s,
            {"n": 1, "time_s": 1, "overhead_s": 1},
            "time_s must be a finite number above the overhead, 1; got 1",
        ),
        (
            matmul.multiply_add_s,
            {"n": 1, "time_s": math.inf, "overhead_s": 1},
            "time_s must be a finite number above the overhead, 1; got inf",
        ),
        (scaling.step_noise, {"lr": 0, "batch": 1}, "lr must be a finite number above 0, got 0"),
        (scaling.pass_noise, {"lr": 1, "batch": 1, "samples": 0}, "samples must be a whole number of at least 1, got 0"),
    ],
)
def test_bad_inputs(function: Callable[..., Any], inputs: dict[str, Any], message: str) -> None:
    with refuses(message):
        function(**inputs)


def test_the_advice_has_words_on_the_page() -> None:
    """The table of jobs shows every advice that there is, and its last row but one more than a single one."""
    said = [scale_out.advise(example.job, module.MACHINE) for example in module.EXAMPLES]
    assert said == [
        ("stay on one GPU",),
        ("data parallelism",),
        ("save activations",),
        ("split the model", "data parallelism"),
        ("data parallelism", "shard the data"),
    ]
