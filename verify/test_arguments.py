"""Every number that a function of the model takes has a rule, the same wherever its name stands, and an error that names it.

The tables below were typed from what the names mean: a count of GPUs is at least 1, one of kernels may be 0, a rate is above 0.
The functions are found by looking, so that none that is added later can do without.
"""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import math
import pkgutil
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest

import perfmodel
from perfmodel import cluster, devices, memory, splitting
from perfmodel.hardware import PCIE_3
from perfmodel.sources import HERE

# The least that a whole number may be.
COUNTS = {
    "gpus": 1, "nodes": 1, "gpus_per_node": 1, "workers": 1, "servers": 1, "messages": 1, "beats": 1, "lanes": 1, "units": 1,
    "fma_per_cycle": 1, "n": 1, "rows": 1, "inner": 1, "columns": 1, "batch": 1, "base_batch": 1, "per_gpu_batch": 1, "samples": 1,
    "parameters": 1, "ranks": 1, "devices": 1, "stages": 1, "microbatches": 1, "chunks": 1, "inputs": 1, "outputs": 1, "writes": 1,
    "layers": 1, "heads": 1, "hidden": 1, "sequence": 1, "microbatch": 1, "tensor": 1,
    "records": 0, "ops": 0, "kernels": 0, "step": 0, "steps": 0, "tasks": 0, "reads": 0,
}  # fmt: skip
POSITIVE = {
    "link_bytes_per_s", "network_bytes_per_s", "bytes_per_s", "lane_bytes_per_s", "both_ways_bytes_per_s", "bus_bytes_per_s", "iops",
    "first_s", "beat_s", "width_bytes", "revolutions_per_minute", "cycles_per_s", "peak_flop_per_s", "element_bytes", "base_lr", "lr",
    "start_lr", "peak_lr", "card_bytes", "storage_bytes", "one_gpu_s", "deadline_s", "efficiency", "each_s", "cap_bytes",
    "first_cap_bytes", "bucket_bytes", "time_s",
}  # fmt: skip
NOT_NEGATIVE = {
    "gradient_bytes", "size_bytes", "latency_s", "network_latency_s", "record_bytes", "flop_per_byte", "flop", "launch_s", "op_s",
    "kernel_s", "copy_s", "forward_s", "backward_s", "update_s", "loss_s", "exchange_s", "compute_s", "overhead_s", "sample_variance",
    "parameters_bytes", "gradients_bytes", "optimizer_bytes", "input_bytes", "output_bytes", "state_bytes", "activations_bytes",
    "data_bytes", "enqueue", "compute", "fetch",
}  # fmt: skip
# Where a name means something else, or an error names the object instead: tested by hand, with what it belongs to.
BY_HAND = {
    "matmul.multiply_add_s": {"time_s"}, "stages.bubble_fraction": {"chunks"}, "stages.order": {"device"}, "stages.in_flight": {"device"},
    "zero.zero_state": {"stage"}, "pipeline.AsyncPipeline": {"barrier_every"}, "buckets.step_s": {"slowdown", "backward_s"},
    "buckets.overlap": {"slowdown", "backward_s"}, "buckets.step_tasks": {"backward_s"}, "devices.Gpu": {"memory_bytes_per_s"},
    "hardware.Pipe": {"bytes_per_s"}, "hardware.Peak": {"flop_per_s"}, "collectives.transfer_task": {"duration_s"},
    "splitting.Traffic": {"total_bytes", "busiest_gpu_bytes", "synchronizations"}, "number.Number": {"line"}, "ladder.Latency": {"seconds"},
    "ladder.rescale": {"seconds", "reference_s"}, "streams.Task": {"duration_s"}, "streams.Schedule": {"total_s"},
    "collectives.around_ring": {"hop_s"}, "language.statement": {"line"},
}  # fmt: skip
# Apart from the rules of numbers: text, the browser's part, which trusts its callers, and the command line.
LEFT_OUT = {"__main__", "kernels", "units", "wording", "lockstep", "noise", "book"}
# What else a function takes, and the numbers that are more than 1 to be in order.
TAKES: dict[str, Any] = {
    "cap_bytes": 2.0, "first_cap_bytes": 1.0, "time_s": 3.0, "start_lr": 1e-4, "stage": 1, "device": 0, "efficiency": 0.5, "barrier": True,
    "overlap": True, "sequential": True, "way": "ring", "schedule": "1f1b", "collective": "all_reduce", "kind": "vendor peak",
    "cluster": cluster.H100_CLUSTER, "link": PCIE_3, "cpu": PCIE_3, "network": PCIE_3, "source": HERE,
    "latency_source": HERE, "name": "a", "recipe": memory.MIXED_ADAM, "sizes_bytes": [1.0], "layout": [[0]], "work": [1.0],
    "ready": [1.0],
}  # fmt: skip
LAYERS = splitting.mlp(3, 2)


class Argument(NamedTuple):
    """A number that a function takes, and that function with all else in order."""

    place: str
    function: Callable[..., Any]
    name: str
    others: dict[str, Any]

    def give(self, value: Any) -> Any:
        return self.function(**{**self.others, self.name: value})


def numbers() -> Iterator[Argument]:
    """All numbers that the public functions and dataclasses of the model take by name or by position."""
    for module in pkgutil.iter_modules(perfmodel.__path__):
        if module.name in LEFT_OUT:
            continue
        for name, function in vars(importlib.import_module(f"perfmodel.{module.name}")).items():
            if not callable(function) or function.__module__ != f"perfmodel.{module.name}" or "__" in f"_{name}":
                continue  # not public, or a copy that a mutation run made
            if not (inspect.isfunction(function) or (inspect.isclass(function) and dataclasses.is_dataclass(function))):
                continue
            parameters = [p for p in inspect.signature(function).parameters.values() if p.kind is not p.VAR_POSITIONAL]
            needed = [p.name for p in parameters if p.default is p.empty]
            others = {key: TAKES.get(key, 1) for key in needed}
            if "layers" in others and f"{module.name}.{name}" != "transformer.Transformer":
                others["layers"] = LAYERS
            if f"{module.name}.{name}" in ("buckets.overlap", "buckets.step_s", "buckets.step_tasks"):
                others["exchange_s"] = [1.0]
            by_hand = BY_HAND.get(f"{module.name}.{name}", set())
            for p in parameters:
                if str(p.annotation) in ("int", "float", "float | None", "int | None") and p.name not in by_hand:
                    yield Argument(f"{module.name}.{name}", function, p.name, others)


ALL = list(numbers())
each = pytest.mark.parametrize("argument", ALL, ids=lambda a: f"{a.place}-{a.name}")


def test_many_are_found_and_each_has_one_rule() -> None:
    assert len(ALL) > 200
    assert {"collectives.ring_s", "stages.pipeline_tasks", "pipeline.AsyncPipeline"} <= {a.place for a in ALL}
    assert len(COUNTS) + len(POSITIVE) + len(NOT_NEGATIVE) == len(COUNTS.keys() | POSITIVE | NOT_NEGATIVE)
    assert {a.name for a in ALL} <= COUNTS.keys() | POSITIVE | NOT_NEGATIVE  # a new name needs a rule here


@each
def test_a_number_out_of_its_range_is_refused_by_name(argument: Argument) -> None:
    if argument.name in COUNTS:
        least = COUNTS[argument.name]
        rule, bad = f"a whole number of at least {least}", [least - 1, -3, 2.5, True, math.nan]
    elif argument.name in POSITIVE:
        rule, bad = "a finite number above 0", [0, -1.5, math.inf, math.nan]
    else:
        rule, bad = "a finite number of at least 0", [-1e-9, math.inf, math.nan]
    for value in bad:
        with pytest.raises(ValueError, match=f"^{re.escape(f'{argument.name} must be {rule}, got {value!r}')}$"):
            argument.give(value)


@each
def test_the_least_that_is_allowed_is_taken(argument: Argument) -> None:
    argument.give(COUNTS.get(argument.name, 1e-3 if argument.name in POSITIVE else 0))


def test_a_gradient_without_end_is_refused_with_buckets_too() -> None:
    for way in cluster.WAYS:
        with pytest.raises(ValueError, match=r"^gradient_bytes must be a finite number of at least 0, got inf$"):
            cluster.step_s(way=way, gradient_bytes=math.inf, cluster=cluster.H100_CLUSTER, compute_s=1, bucket_bytes=1)


@pytest.mark.parametrize(("peaks", "memory", "what"), [({"FP32": 0}, 1, "the FP32 rate"), ({"FP32": 1}, 0, "the memory rate")])
def test_a_gpu_names_itself_and_its_rate(peaks: dict[str, float], memory: float, what: str) -> None:
    with pytest.raises(ValueError, match=f"^{what} of 'a' must be a finite number above 0, got 0$"):
        devices.Gpu(name="a", peaks=peaks, memory_bytes_per_s=memory, source=HERE)


@pytest.mark.parametrize(("gpus", "nodes"), [(2, 1), (1, 2), (2, 2)])
def test_all_but_a_single_gpu_synchronize(gpus: int, nodes: int) -> None:
    made = dataclasses.replace(cluster.BOOK_SERVER, gpus=gpus, nodes=nodes)
    sent = sum(cluster.terms_s(way="ring", gradient_bytes=160e6, cluster=made))
    assert cluster.step_s(way="ring", gradient_bytes=160e6, cluster=made, compute_s=1) == 1 + sent > 1


def test_a_cluster_names_its_ports_and_its_buckets() -> None:
    one = dataclasses.replace(cluster.BOOK_SERVER, gpus=1)
    there_and_back = cluster.tasks(way="CPU", gradient_bytes=1, cluster=one)
    assert [(task.name, task.role) for task in there_and_back] == [
        ("GPU 0.0 out → CPU in", "transfer"),
        ("CPU out → GPU 0.0 in", "transfer"),
    ]
    step = cluster.step_tasks(way="ring", gradient_bytes=1, cluster=cluster.BOOK_SERVER, compute_s=3, bucket_bytes=1)
    assert [(task.name, task.streams[0], task.role, task.waits) for task in step] == [
        ("forward", "GPU", "compute", ()),
        ("backward 1", "GPU", "compute", ()),
        ("bucket 1", "network", "transfer", (1,)),
    ]


def test_around_several_machines_each_sends_on_what_came() -> None:
    made = cluster.tasks(way="ring", gradient_bytes=4, cluster=dataclasses.replace(cluster.BOOK_SERVER, gpus=2, nodes=2))
    ring = ["GPU 0.0", "GPU 0.1", "GPU 1.0", "GPU 1.1"]
    assert [task.name for task in made] == [f"{ring[i]} out → {ring[(i + 1) % 4]} in" for _ in range(6) for i in range(4)]
    assert [task.waits for task in made] == [()] * 4 + [(4 * step + (i - 1) % 4,) for step in range(5) for i in range(4)]


def test_in_shards_each_sends_its_sum_when_the_last_part_has_come() -> None:
    made = cluster.tasks(way="shards", gradient_bytes=9, cluster=dataclasses.replace(cluster.BOOK_SERVER, gpus=3, nodes=3))
    places = [(node, gpu) for node in range(3) for gpu in range(3)]
    pairs = [((n, g), ((n + a) % 3, (g + b) % 3)) for a, b in places[1:] for n, g in places]
    assert [task.name for task in made] == [f"GPU {n}.{g} out → GPU {m}.{h} in" for (n, g), (m, h) in pairs] * 2
    last = {to: index for index, (_, to) in enumerate(pairs)}
    assert [task.waits for task in made] == [()] * 72 + [(last[sender],) for sender, _ in pairs]
