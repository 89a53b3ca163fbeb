"""Lockstep in process: k replicas train what one replica trains, and each way to get it wrong is caught."""

from __future__ import annotations

import math
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from perfmodel import lockstep
from perfmodel.lockstep import (
    FAULTS,
    LIMITS,
    LOCKSTEP,
    Method,
    Run,
    allreduce,
    compare,
    faults,
    image_batch,
    in_lockstep,
    lenet,
    split_batch,
    train,
    train_batch,
    why_not,
    xor_batch,
    xor_net,
)
from verify.checkout import ROOT

REPLICAS = (1, 2, 3, 4, 8)
SHORT = 60  # steps in which every mutant shows, those that strike once in the last of them included


@pytest.fixture(scope="module")
def one() -> Run:
    return train(1)


@pytest.fixture(scope="module")
def short() -> Run:
    return train(1, SHORT)


# The claim -------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", REPLICAS)
def test_k_replicas_are_one_replica(one: Run, k: int) -> None:
    run = train(k)
    assert max(compare(run, one).l2) <= 1e-15
    assert run.spreads == (0,) * 31
    assert why_not(run, one) == ()


@pytest.mark.parametrize("init", range(1, 4))
def test_from_other_beginnings(init: int) -> None:
    assert why_not(train(3, init=init), train(1, init=init)) == ()


@pytest.mark.parametrize("k", REPLICAS)
def test_in_float32(k: int) -> None:
    run, reference = train(k, dtype=torch.float32), train(1, dtype=torch.float32)
    assert max(compare(run, reference).l2) <= 1e-6
    assert in_lockstep(run, reference, torch.float32)
    assert not any(run.spreads)


def test_more_replicas_than_samples(short: Run) -> None:
    """Empty shards count for nothing: 16 replicas, 13 samples."""
    assert why_not(train(16, SHORT), short) == ()


def test_one_replica_is_plain_gradient_descent(one: Run) -> None:
    """The reference against torch's own optimizer on the mean loss: the same training, written by others."""
    (X, y), net = xor_batch(), xor_net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.2)
    for _ in range(300):
        optimizer.zero_grad()
        cross_entropy(net(X), y).backward()  # type: ignore[no-untyped-call] # torch gives it no types
        optimizer.step()
    theirs = torch.cat([p.detach().flatten() for p in net.parameters()])
    assert float((one.parameters[-1] - theirs).norm() / theirs.norm()) < 1e-14


def test_the_run_learns_xor(one: Run) -> None:
    assert one.losses[0] > 0.5
    assert one.losses[-1] < 0.05
    assert (one.steps[0], one.steps[-1], len(one.parameters[0])) == (0, 300, 2 * 8 + 8 + 8 * 2 + 2)


def test_two_runs_are_equal_in_every_bit_and_leave_no_trace() -> None:
    """Whatever the state of torch was, and it stays as it was."""
    first = train(4, 30)
    torch.manual_seed(7)
    threads, state = torch.get_num_threads(), torch.get_rng_state()
    second = train(4, 30)
    assert torch.equal(torch.get_rng_state(), state)
    assert (torch.get_num_threads(), torch.are_deterministic_algorithms_enabled()) == (threads, False)
    assert all(torch.equal(a, b) for a, b in zip(first.parameters, second.parameters, strict=True))
    assert first.losses == second.losses


def test_the_settings_come_back_after_an_error() -> None:
    with pytest.raises(ValueError, match="must stay finite"):
        train(2, 400, lr=1e308)
    assert not torch.are_deterministic_algorithms_enabled()


# The parts -------------------------------------------------------------------------------------------------------------------


@given(st.integers(1, 40), st.integers(1, 50))
def test_every_sample_in_exactly_one_shard(samples: int, k: int) -> None:
    X, y = torch.arange(samples), torch.arange(samples) + 100
    shards = split_batch(X, y, k)
    assert len(shards) == k
    assert torch.cat([shard for shard, _ in shards]).tolist() == X.tolist()
    assert torch.cat([labels for _, labels in shards]).tolist() == y.tolist()
    sizes = [len(shard) for shard, _ in shards]
    assert max(sizes) - min(sizes) <= 1


@pytest.mark.parametrize(
    ("samples", "k", "sizes"), [(10, 3, [4, 3, 3]), (13, 4, [4, 3, 3, 3]), (2, 4, [1, 1, 0, 0]), (6, 3, [2, 2, 2])]
)
def test_shard_sizes(samples: int, k: int, sizes: list[int]) -> None:
    assert [len(X) for X, _ in split_batch(torch.zeros(samples, 2), torch.zeros(samples), k)] == sizes


def test_an_empty_shard_has_no_gradient() -> None:
    net = xor_net()
    loss = LOCKSTEP.loss(net, torch.zeros(0, 2, dtype=torch.float64), torch.zeros(0, dtype=torch.int64))
    loss.backward()  # type: ignore[no-untyped-call] # torch gives it no types
    assert loss.item() == 0
    assert all(p.grad is not None and not p.grad.any() for p in net.parameters())


def test_allreduce_gives_everyone_the_sum() -> None:
    """1 + 2 = 3, on both, as the act has it."""
    data = [torch.ones(2) * (i + 1) for i in range(2)]
    allreduce(data)
    assert [t.tolist() for t in data] == [[3, 3], [3, 3]]


def test_allreduce_of_gradients_reaches_the_parameters() -> None:
    replicas = [xor_net(), xor_net()]
    for net in replicas:
        LOCKSTEP.loss(net, *xor_batch()).backward()  # type: ignore[no-untyped-call] # torch gives it no types
    gradients = [next(net.parameters()).grad for net in replicas]
    once = gradients[0].clone() if gradients[0] is not None else torch.zeros(0)
    allreduce([g for g in gradients if g is not None])
    for net in replicas:
        assert torch.equal(torch.as_tensor(next(net.parameters()).grad), 2 * once)


def test_a_mean_of_even_means_is_the_same_gradient() -> None:
    """Why the batch has 13 samples: with 12 the fault is invisible."""
    X, y = xor_batch()
    even = (X[:12], y[:12])
    fault, reference = train(4, 60, batch=even, method=FAULTS["mean of means"]), train(1, 60, batch=even)
    assert max(compare(fault, reference).l2) < 1e-14


def test_a_step_returns_the_loss_before_it() -> None:
    X, y = xor_batch()
    net = xor_net()
    before = cross_entropy(net(X), y, reduction="sum").item()
    assert train_batch(X, y, [net, xor_net()], 0.2) == pytest.approx(before, rel=1e-12)


# What is refused -------------------------------------------------------------------------------------------------------------


def test_a_model_that_takes_chances_is_refused() -> None:
    model = nn.Sequential(nn.Linear(2, 64), nn.Dropout(0.5), nn.Linear(64, 2))
    with pytest.raises(ValueError, match="depends on the others, or on chance"):
        train(2, 10, model=model)


def test_a_model_that_does_not_mix_them_is_taken() -> None:
    model = nn.Sequential(nn.Linear(2, 8), nn.LayerNorm(8), nn.Tanh(), nn.BatchNorm1d(8).eval(), nn.Linear(8, 2)).double()
    before = [p.clone() for p in model.parameters()]
    reference = train(1, 60, model=model)
    assert max(compare(train(3, 60, model=model), reference).l2) < 1e-13
    assert all(torch.equal(a, b) for a, b in zip(before, model.parameters(), strict=True)), "the caller's model was trained"


def _loss_of_the_first(net: nn.Module, X: Tensor, y: Tensor) -> Tensor:
    assert isinstance(net, nn.ModuleList)
    return cross_entropy(net[0](X), y)


_FIRST = Method(loss=_loss_of_the_first)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: train(0), "k must be a whole number of at least 1, got 0"),
        (lambda: train(1, 0), "steps must be a whole number of at least 1, got 0"),
        (lambda: train(1, lr=math.nan), "lr must be a finite number above 0, got nan"),
        (lambda: train(1, devices=()), "at least one device, got none"),
        (lambda: train(1, batch=(xor_batch()[0] * math.nan, xor_batch()[1])), "must stay finite, got a mean loss of nan"),
        (lambda: split_batch(torch.zeros(4), torch.zeros(4), 0), "k must be a whole number of at least 1, got 0"),
        (lambda: split_batch(torch.zeros(0), torch.zeros(0), 1), "at least one sample and as many labels, got 0 and 0"),
        (lambda: split_batch(torch.zeros(4), torch.zeros(3), 1), "as many labels, got 4 and 3"),
        (lambda: allreduce([]), "one shape and dtype"),
        (lambda: allreduce([torch.ones(2), torch.ones(1)]), "one shape and dtype"),
        (lambda: allreduce([torch.ones(2), torch.ones(2).double()]), "one shape and dtype"),
        (lambda: train_batch(*xor_batch(), [nn.ModuleList([xor_net(), nn.Linear(1, 1)])], 0.1, method=_FIRST), "no gradient for '1.weight'"),
    ],
)  # fmt: skip
def test_bad_input_gets_the_rule_and_the_value(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def test_the_gate_refuses_questions_without_an_answer(short: Run) -> None:
    two, single = train(2, SHORT), train(1, 10, torch.float32)
    for run, reference, options, message in [
        (two, short, {"measure": "elementwise"}, "an element-wise error can be large by chance near zero"),
        (two, short, {"measure": "update"}, "a limit must be given for 'update'"),
        (two, short, {"dtype": torch.bfloat16}, "a limit must be given"),
        (two, short, {"limit": math.nan}, "limit must be a finite number above 0"),
        (single, single, {}, "got a run in torch.float32"),
        (two, two, {}, "the reference must be one replica, got 2"),
        (train(1, 10), short, {}, "must record the same steps"),
        (train(2, 10, lr=1e-300), train(1, 10, lr=1e-300), {}, "the reference must have learned"),
    ]:
        with pytest.raises(ValueError, match=message):
            in_lockstep(run, reference, **options)  # type: ignore[arg-type] # options of several types


def test_element_wise_error_is_no_measure(one: Run) -> None:
    """Why it is refused: it is a hundred times the L2 error, or more, in runs that are in lockstep."""
    difference = compare(train(8), one)
    assert max(difference.elementwise) > 100 * max(difference.l2)


def moved(run: Run, index: int, ulps: int) -> Run:
    """The same run, but that one parameter at the end is some floating-point numbers further on."""
    last = run.parameters[-1].clone()
    for _ in range(ulps):
        last[index] = torch.nextafter(last[index], torch.tensor(torch.inf, dtype=last.dtype))
    return replace(run, parameters=(*run.parameters[:-1], last))


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("ulps", [0, 1, 5])
def test_ulps_count_the_numbers_in_between(dtype: torch.dtype, ulps: int) -> None:
    run = train(1, 10, dtype)
    assert compare(moved(run, 3, ulps), run).ulps == (0, ulps)


def test_ulps_across_zero() -> None:
    """-0.0 is 0.0, and the smallest numbers on either side of it are two apart."""
    run = train(1, 10)
    tiny = torch.nextafter(torch.zeros((), dtype=torch.float64), torch.ones((), dtype=torch.float64))
    for a, b, ulps in ((-0.0, 0.0, 0), (float(-tiny), float(tiny), 2), (0.0, float(tiny), 1)):
        ends = []
        for value in (a, b):
            last = run.parameters[-1].clone()
            last[0] = value
            ends.append(replace(run, parameters=(*run.parameters[:-1], last)))
        assert compare(*ends).ulps[-1] == ulps


def test_a_distance_is_told_tensor_by_tensor(short: Run) -> None:
    """16 weights, 8 biases, 16 weights, 2 biases; parameter 20 is one of the first biases."""
    assert short.tensors == (("0.weight", 16), ("0.bias", 8), ("2.weight", 16), ("2.bias", 2))
    apart = compare(moved(short, 20, 4), short)
    assert [distance > 0 for distance in apart.tensors[-1]] == [False, True, False, False]
    assert not any(any(row) for row in apart.tensors[:-1])
    whole = compare(train(4, SHORT), short)
    assert max(max(row) for row in whole.tensors) < 1e-14


# The mutants -----------------------------------------------------------------------------------------------------------------


MUTANTS = tuple(faults(once_at=SHORT - 1).values())


@pytest.mark.parametrize("k", [2, 4])
@pytest.mark.parametrize("method", MUTANTS, ids=lambda method: method.name)
def test_each_mutant_is_caught(short: Run, method: Method, k: int) -> None:
    run = train(k, SHORT, method=method)
    assert not in_lockstep(run, short)
    reasons = why_not(run, short)
    assert reasons
    if method.name in (
        "no broadcast at the start",
        "no broadcast of the sum",
        "one parameter skipped",
        "divided by the size of the shard",
    ):
        assert "the replicas differ in" in reasons[-1]
    else:  # the others keep the replicas equal, and wrong by far more than the limit
        assert not any(run.spreads)
        assert max(compare(run, short).l2) > 1e5 * LIMITS[torch.float64]


@pytest.mark.parametrize("name", ["one gradient forgotten once", "one step more"])
@pytest.mark.parametrize(("at", "steps"), [(150, 20), (5, 5), (-1, 5)])
def test_a_fault_that_would_never_strike_is_refused(name: str, at: int, steps: int) -> None:
    """A run without its fault is in lockstep, and would pass for a fault that was not caught."""
    with pytest.raises(ValueError, match=f"^'{name}' must strike at one of the steps 0 to {steps - 1}, got {at}$"):
        train(2, steps, method=faults(once_at=at)[name])


def test_replicas_that_differ_are_seen_whichever_they_are(short: Run) -> None:
    """Replica 0 is right to the last bit, and so is every number of the last of four replicas, but for one last bit."""
    updates = count(1)

    def last_bit(net: nn.Module, gradients: Sequence[Tensor], rate: float, step: int) -> None:
        LOCKSTEP.update(net, gradients, rate, step)
        if next(updates) == 4 * SHORT:  # the last replica, in the last step
            parameters = next(net.parameters()).flatten()
            parameters[0] = torch.nextafter(parameters[0], parameters[0] + 1)

    run = train(4, SHORT, method=Method(update=last_bit))
    assert torch.equal(run.parameters[-1], train(4, SHORT).parameters[-1])
    assert why_not(run, short) == (f"after step {SHORT} the replicas differ in 1 of 42 parameters",)


# LeNet, and the arrows -------------------------------------------------------------------------------------------------------


@pytest.mark.full
def test_lenet_is_in_lockstep_relative_to_its_update() -> None:
    """Its parameters hardly move, so the distance is set against the update: at most 2e-14 in 20 steps of float64."""
    one, *several = (train(k, 20, lr=0.05, model=lenet(), batch=image_batch(), every=10) for k in (1, 2, 4, 8))
    for run in several:
        assert why_not(run, one, measure="update", limit=2e-14) == ()
    broken = train(2, 20, lr=0.05, model=lenet(), batch=image_batch(), every=10, method=FAULTS["allreduce in float32"])
    assert why_not(broken, one, measure="update", limit=2e-14) != ()


@pytest.mark.parametrize(
    ("file", "line", "contract"),
    [
        ("perfmodel/units.py", "import torch", "plots nothing"),
        ("perfmodel/book.py", "from perfmodel import lockstep", "nothing else waits for torch"),
        ("macros/text.py", "def f():\n    from perfmodel.lockstep import train", "nothing else waits for torch"),
    ],
)
def test_torch_stays_where_it_is(tmp_path: Path, file: str, line: str, contract: str) -> None:
    """A planted import of torch, or of the module that may import it, breaks the contract that says so."""
    for room in ("perfmodel", "macros", "verify"):
        shutil.copytree(ROOT / room, tmp_path / room, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    with (tmp_path / file).open("a", encoding="utf-8") as source:
        source.write(f"\n{line}\n")
    command = [str(Path(sys.executable).parent / "lint-imports"), "--no-cache"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert any(contract in row for row in done.stdout.splitlines() if "BROKEN" in row), done.stdout[-2000:]


def test_the_record_says_what_the_runs_say(one: Run) -> None:
    made = lockstep.record((2,), 20)
    assert made["steps"] == [0, 10, 20]
    assert made["loss"]["1"] == list(one.losses[:3])
    assert made["shards"] == {"2": [7, 6]}
    assert made["l2_worst"]["2"] == max(made["l2"]["2"]) <= 1e-15
    assert made["part_in_ten_to"]["2"] >= 15
    assert set(made["faults"]) == set(lockstep.SHOWN)
    assert set(made["mutants"]) == set(FAULTS)
    assert [(dtype, list(of)) for dtype, of in made["table"].items()] == [
        ("float64", ["2", "3", "4", "8"]),
        ("float32", ["2", "3", "4", "8"]),
    ]
    assert made["table"]["float64"]["2"]["l2"] == made["l2_worst"]["2"]
    assert made["mutants"]["mean of means"]["2"] == {"l2": made["faults"]["mean of means"]["2"]["l2_end"], "spread": 0}
    assert made["faults"]["mean of means"]["2"]["l2_end"] > 1e-4
