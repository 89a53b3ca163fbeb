"""Collectives in the alpha-beta model: closed form, stream runner and an independent simulation agree; the values by hand and by paper."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perfmodel import alphabeta, collectives, kernels
from perfmodel.streams import Task, run
from verify import simulate
from verify.asserts import refuses, same

steady = settings(derandomize=True, deadline=None, max_examples=60)
MB, GB = 1e6, 1e9  # typed here, not imported
NAMES = ("reduce_scatter", "all_gather", "alltoall", "broadcast", "reduce", "tree", "halving_doubling")
sizes, rates, latencies = st.floats(0, 1e10), st.floats(1e3, 1e12), st.just(0.0) | st.floats(1e-9, 1e-2)


def closed(name: str) -> Callable[..., float]:
    found: Callable[..., float] = getattr(alphabeta, f"{name}_s")
    return found


def program(name: str) -> Callable[..., list[Task]]:
    found: Callable[..., list[Task]] = getattr(alphabeta, f"{name}_tasks")
    return found


def simulated(tasks: list[Task]) -> float:
    """The end of a program by SimPy, which shares no code with the runner."""
    spans = simulate.program([simulate.Issued(task.streams, task.duration_s, task.waits) for task in tasks])
    return max((end for _, end in spans), default=0.0)


def faults(name: str, **inputs: Any) -> list[str]:
    """Closed form, runner and simulation of one collective: what differs."""
    tasks = program(name)(**inputs)
    found = {"runner": run(tasks).total_s, "simulation": simulated(tasks)}
    form = closed(name)(**inputs)
    return [f"{name} {inputs}: closed form {form}, {who} {value}" for who, value in found.items() if not same(form, value)]


@steady
@given(name=st.sampled_from(NAMES), size=sizes, gpus=st.integers(1, 13), rate=rates, latency=latencies)
def test_closed_form_runner_and_simulation_agree(name: str, size: float, gpus: int, rate: float, latency: float) -> None:
    gpus = 2 ** (gpus % 5) if name == "halving_doubling" else gpus
    assert faults(name, size_bytes=size, gpus=gpus, link_bytes_per_s=rate, latency_s=latency) == []


@steady
@given(size=sizes, nodes=st.integers(1, 4), each=st.integers(1, 5), rate=rates, nic=rates, latency=latencies, far=latencies)
def test_the_hierarchy_too(size: float, nodes: int, each: int, rate: float, nic: float, latency: float, far: float) -> None:
    inputs: dict[str, Any] = {
        "size_bytes": size, "nodes": nodes, "gpus_per_node": each, "link_bytes_per_s": rate, "network_bytes_per_s": nic,
        "latency_s": latency, "network_latency_s": far,
    }  # fmt: skip
    assert faults("hierarchical", **inputs) == []


def test_by_hand() -> None:
    """160 MB over links of 16 GB/s: 10 ms for all of it."""
    link: dict[str, Any] = {"size_bytes": 160 * MB, "link_bytes_per_s": 16 * GB}
    assert same(alphabeta.reduce_scatter_s(gpus=4, **link), 7.5e-3)  # 3 steps of 2.5 ms
    assert same(alphabeta.broadcast_s(gpus=5, **link), 30e-3)  # 1, 2, 4, 5 ranks have it after 3 rounds of 10 ms
    assert same(alphabeta.tree_s(gpus=8, **link), 60e-3)  # 3 up, 3 down
    assert same(alphabeta.alltoall_s(gpus=8, **link), 8.75e-3)  # 7 parts of 20 MB
    # Two nodes of four: 15 ms around each node, and 40 MB over each NIC at 4 GB/s around a ring of two: 2 · 5 ms.
    hierarchy = alphabeta.hierarchical_s(
        nodes=2, gpus_per_node=4, network_bytes_per_s=4 * GB, latency_s=1e-6, network_latency_s=1e-3, **link
    )
    assert same(hierarchy, 15e-3 + 6e-6 + 10e-3 + 2e-3)


def test_goyal_counts_the_steps() -> None:
    """Goyal et al. 2017, section 4: 2·log2(p) steps against 2·(p−1), with the same bytes."""
    for ranks, steps, around in ((4, 4, 6), (32, 10, 62), (256, 16, 510)):
        only_latency: dict[str, Any] = {"gpus": ranks, "link_bytes_per_s": 1.0, "latency_s": 1.0}
        assert alphabeta.halving_doubling_s(size_bytes=0, **only_latency) == steps
        assert collectives.ring_s(gradient_bytes=0, **only_latency) == around
        only_bytes: dict[str, Any] = {"gpus": ranks, "link_bytes_per_s": 1.0}
        assert same(
            alphabeta.halving_doubling_s(size_bytes=7.0, **only_bytes), collectives.ring_s(gradient_bytes=7.0, **only_bytes)
        )


def test_an_allreduce_is_its_two_halves() -> None:
    for gpus in (1, 2, 3, 8, 129):
        inputs: dict[str, Any] = {"size_bytes": 160 * MB, "gpus": gpus, "link_bytes_per_s": 16 * GB, "latency_s": 5e-6}
        halves = alphabeta.reduce_scatter_s(**inputs) + alphabeta.all_gather_s(**inputs)
        inputs["gradient_bytes"] = inputs.pop("size_bytes")
        assert same(halves, collectives.ring_s(**inputs))


def ends(task: Task) -> tuple[str, str]:
    """Who sends a transfer, and who receives it."""
    sender, receiver = (port.rpartition(" ")[0] for port in task.streams)
    return sender, receiver


ONE_BYTE_PER_S: dict[str, Any] = {"size_bytes": 16.0, "link_bytes_per_s": 1.0}


@pytest.mark.parametrize("gpus", [1, 2, 4, 8, 16])
@pytest.mark.parametrize("name", ["reduce_scatter", "all_gather", "halving_doubling"])
def test_at_each_step_a_rank_sends_on_what_it_received_in_the_step_before(name: str, gpus: int) -> None:
    tasks = program(name)(gpus=gpus, **ONE_BYTE_PER_S)
    for i, task in enumerate(tasks):
        step = range(i // gpus * gpus - gpus, i // gpus * gpus)
        assert list(task.waits) == [j for j in step if j >= 0 and ends(tasks[j])[1] == ends(task)[0]]


@pytest.mark.parametrize("gpus", [1, 2, 3, 4, 7, 8, 13])
@pytest.mark.parametrize("name", ["broadcast", "reduce", "tree"])
def test_in_a_tree_a_rank_sends_when_the_last_has_arrived(name: str, gpus: int) -> None:
    tasks = program(name)(gpus=gpus, **ONE_BYTE_PER_S)
    for i, task in enumerate(tasks):
        assert list(task.waits) == [j for j in range(i) if ends(tasks[j])[1] == ends(task)[0]][-1:]


def test_the_hierarchy_is_three_phases_of_rings() -> None:
    """2 nodes of 2 GPUs: a step in each node, 2 steps between the nodes for each of the two halves, a step in each node."""
    inputs: dict[str, Any] = {"nodes": 2, "gpus_per_node": 2, "network_bytes_per_s": 1.0, **ONE_BYTE_PER_S}
    tasks = alphabeta.hierarchical_tasks(**inputs)
    assert [task.role for task in tasks] == ["transfer"] * 4 + (["transfer"] * 2 + ["update"] * 2) * 2 + ["update"] * 4
    assert [task.duration_s for task in tasks] == [8] * 4 + [4] * 8 + [8] * 4  # 16 bytes in halves, and in quarters
    # In each node a GPU sends its own half at first; in the last step the other, which it has from the far ring of that number.
    assert [task.name.partition(", ")[2] for task in tasks] == [f"chunk {c}" for c in (0, 1, 0, 1, *(0, 1, 1, 0) * 2, 1, 0, 1, 0)]
    far = ["node 0 NIC", "node 1 NIC"]
    for i, task in enumerate(tasks[:4]):
        assert task.waits == (), i
    assert [ends(task)[0].rpartition(" ")[0] for task in tasks[4:12]] == far * 4
    assert (
        run(tasks).total_s
        == alphabeta.hierarchical_s(**inputs)
        == alphabeta.hierarchical_s(latency_s=0, network_latency_s=0, **inputs)
    )


def test_halving_and_doubling_by_hand() -> None:
    """16 bytes over 8 ranks, 1 byte/s: halves of 8, 4 and 2 bytes with the partner 4, 2 and 1 away; and back."""
    tasks = alphabeta.halving_doubling_tasks(gpus=8, **ONE_BYTE_PER_S)
    assert [task.duration_s for task in tasks[::8]] == [8, 4, 2, 2, 4, 8]
    assert [ends(task)[1] for task in tasks[::8]] == ["GPU 4", "GPU 2", "GPU 1", "GPU 1", "GPU 2", "GPU 4"]  # those of GPU 0


@pytest.mark.parametrize("name", NAMES)
def test_sums_come_together_by_transfers_and_go_back_by_updates(name: str) -> None:
    tasks = program(name)(gpus=8, **ONE_BYTE_PER_S)
    together = {"all_gather": 0, "broadcast": 0, "tree": len(tasks) // 2, "halving_doubling": len(tasks) // 2}.get(name, len(tasks))
    assert [task.role for task in tasks] == ["transfer"] * together + ["update"] * (len(tasks) - together)


@pytest.mark.parametrize("name", NAMES)
def test_a_latency_left_out_is_none(name: str) -> None:
    inputs: dict[str, Any] = {"gpus": 4, **ONE_BYTE_PER_S}
    assert run(program(name)(**inputs)).total_s == closed(name)(**inputs) == closed(name)(latency_s=0, **inputs)


def test_who_holds_what_at_the_end() -> None:
    """Follow the bytes: a broadcast reaches every rank from one that has it; every rank's part reaches the root of a reduce."""
    for gpus in (1, 2, 3, 6, 8, 13):
        inputs: dict[str, Any] = {"size_bytes": MB, "gpus": gpus, "link_bytes_per_s": GB}
        have = {0}
        for task in alphabeta.broadcast_tasks(**inputs):
            sender, receiver = (int(port.split()[1]) for port in task.streams)
            assert sender in have
            have.add(receiver)
        assert have == set(range(gpus))
        summed = {rank: {rank} for rank in range(gpus)}
        for task in alphabeta.reduce_tasks(**inputs):
            sender, receiver = (int(port.split()[1]) for port in task.streams)
            assert not summed[sender] & summed[receiver]  # nothing is added twice
            summed[receiver] |= summed.pop(sender)
        assert summed == {0: set(range(gpus))}


def test_halving_and_doubling_sums_every_part_once() -> None:
    for gpus in (1, 2, 4, 8, 16):
        tasks = alphabeta.halving_doubling_tasks(size_bytes=MB, gpus=gpus, link_bytes_per_s=GB)
        assert len(tasks) == 2 * gpus * (gpus.bit_length() - 1)
        added = [{rank} for rank in range(gpus)]  # whose gradients a rank's part of the sum holds
        for start in range(0, len(tasks) // 2, max(gpus, 1)):
            pairs = [tuple(int(port.split()[1]) for port in task.streams) for task in tasks[start : start + gpus]]
            added = [added[receiver] | added[sender] for sender, receiver in sorted(pairs, key=lambda pair: pair[1])]
        assert all(each == set(range(gpus)) for each in added)


# What nccl-tests prints.


def test_bus_bandwidth_as_nccl_tests_defines_it() -> None:
    """doc/PERFORMANCE.md: all_reduce 2(n−1)/n; all_gather, reduce_scatter, alltoall (n−1)/n; broadcast and reduce 1."""
    expected = {"all_reduce": 14 / 8, "all_gather": 7 / 8, "reduce_scatter": 7 / 8, "alltoall": 7 / 8, "broadcast": 1, "reduce": 1}
    assert {name: alphabeta.bus_factor(name, gpus=8) for name in alphabeta.COLLECTIVES} == expected
    assert alphabeta.bus_factor("all_reduce", gpus=1) == 0  # one rank sends nothing


def test_a_printed_line_of_nccl_tests() -> None:
    """SuperBench, nccl_allreduce.log, 8 A100: 8589934592 B in 63896 µs, algbw 134.44, busbw 235.26 GB/s."""
    size, time = 8_589_934_592, 63_896e-6
    assert f"{alphabeta.algorithm_bytes_per_s(size_bytes=size, time_s=time) / 1e9:.2f}" == "134.44"
    assert f"{alphabeta.bus_bytes_per_s('all_reduce', size_bytes=size, gpus=8, time_s=time) / 1e9:.2f}" == "235.26"
    back = alphabeta.bus_time_s("all_reduce", size_bytes=size, gpus=8, bus_bytes_per_s=235.26e9)
    assert math.isclose(back, time, rel_tol=1e-4)


# Bad input, and planted faults.


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: alphabeta.broadcast_s(size_bytes=1, gpus=0, link_bytes_per_s=1), "gpus must be a whole number of at least 1, got 0"),
        (lambda: alphabeta.alltoall_s(size_bytes=-1, gpus=1, link_bytes_per_s=1), "size_bytes must be a finite number of at least 0, got -1"),
        (lambda: alphabeta.tree_s(size_bytes=1, gpus=2, link_bytes_per_s=0), "link_bytes_per_s must be a finite number above 0, got 0"),
        (lambda: alphabeta.halving_doubling_s(size_bytes=1, gpus=6, link_bytes_per_s=1), "gpus must be a power of two, got 6"),
        (lambda: alphabeta.bus_factor("allreduce", gpus=2), "a collective must be one of all_reduce, all_gather, reduce_scatter, alltoall, broadcast, reduce, got 'allreduce'"),
        (lambda: alphabeta.algorithm_bytes_per_s(size_bytes=1, time_s=0), "time_s must be a finite number above 0, got 0"),
        (
            lambda: alphabeta.hierarchical_s(size_bytes=1, nodes=0, gpus_per_node=1, link_bytes_per_s=1, network_bytes_per_s=1),
            "nodes must be a whole number of at least 1, got 0",
        ),
    ],
)  # fmt: skip
def test_bad_input_is_refused(call: Callable[[], float], message: str) -> None:
    with refuses(message):
        call()


def test_a_wrong_closed_form_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    inputs: dict[str, Any] = {"size_bytes": 160 * MB, "gpus": 8, "link_bytes_per_s": 16 * GB, "latency_s": 5e-6}
    right = alphabeta.broadcast_s
    monkeypatch.setattr(alphabeta, "broadcast_s", lambda **given: right(**given) * 4 / 3)
    assert len(faults("broadcast", **inputs)) == 2
    monkeypatch.undo()
    # n steps where n−1 are right, in the kernel that the ring and the hierarchy use
    monkeypatch.setattr(kernels, "ring_s", lambda size, gpus, rate, latency: 2 * gpus * (latency + size / gpus / rate))
    del inputs["gpus"]
    assert len(faults("hierarchical", nodes=2, gpus_per_node=2, network_bytes_per_s=GB, **inputs)) == 2


def test_a_wait_left_out_is_seen() -> None:
    """A broadcast in which a rank passes on what it has not got yet ends too early."""
    tasks = alphabeta.broadcast_tasks(size_bytes=160 * MB, gpus=8, link_bytes_per_s=16 * GB)
    hasty = [Task(name=task.name, streams=task.streams, duration_s=task.duration_s, role=task.role) for task in tasks]
    assert same(run(tasks).total_s, 30e-3)
    assert run(hasty).total_s > 0
    pairs = [tuple(int(port.split()[1]) for port in task.streams) for task in hasty]
    starts = {receiver: span.end_s for (_, receiver), span in zip(pairs, run(hasty).spans, strict=True)}
    assert any(
        span.start_s < starts.get(sender, 0.0) for (sender, _), span in zip(pairs, run(hasty).spans, strict=True)
    )  # it sends before it has received


# At size.


@pytest.mark.parametrize("name", NAMES)
def test_128_ranks_as_tasks(name: str) -> None:
    inputs: dict[str, Any] = {"size_bytes": 160 * MB, "gpus": 128, "link_bytes_per_s": 16 * GB, "latency_s": 5e-6}
    assert same(run(program(name)(**inputs)).total_s, closed(name)(**inputs))


def test_the_ring_and_sharding_of_128_ranks_as_tasks() -> None:
    inputs: dict[str, Any] = {"gradient_bytes": 160 * MB, "gpus": 128, "link_bytes_per_s": 16 * GB, "latency_s": 5e-6}
    assert same(run(collectives.ring_tasks(**inputs)).total_s, collectives.ring_s(**inputs))
    assert same(run(collectives.sharded_tasks(**inputs)).total_s, collectives.sharded_s(**inputs))


def test_closed_forms_to_65536_ranks() -> None:
    """In the limit of many ranks bytes take S/B for a half and 2·S/B for an allreduce; a tree takes a round for each doubling."""
    for doublings in (10, 12, 16):  # 1024, 4096, 65,536
        ranks = 2**doublings
        link: dict[str, Any] = {"size_bytes": 160 * MB, "gpus": ranks, "link_bytes_per_s": 16 * GB}
        assert alphabeta.reduce_scatter_s(**link) == pytest.approx(10e-3 * (1 - 1 / ranks), rel=1e-12)
        assert alphabeta.halving_doubling_s(**link) == pytest.approx(20e-3 * (1 - 1 / ranks), rel=1e-12)
        assert alphabeta.broadcast_s(**link) == pytest.approx(doublings * 10e-3, rel=1e-12)
        assert alphabeta.broadcast_s(**{**link, "gpus": ranks + 1}) == pytest.approx((doublings + 1) * 10e-3, rel=1e-12)


@pytest.mark.parametrize("function", [alphabeta.hierarchical_s, alphabeta.hierarchical_tasks])
def test_a_network_too_slow_for_a_float_is_refused_in_its_own_words(function: Callable[..., object]) -> None:
    with refuses("network_latency_s + size_bytes / network_bytes_per_s must be a finite number of at least 0, got inf"):
        function(size_bytes=1e300, nodes=2, gpus_per_node=2, link_bytes_per_s=1e10, network_bytes_per_s=1e-300)
