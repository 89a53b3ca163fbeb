"""Every number that a function of the model takes has a rule, the same wherever its name stands, and an error that names it.

The tables below were typed from what the names mean: a count of GPUs is at least 1, one of kernels may be 0, a rate is above 0.
The functions are found by looking, so that none that is added later can do without.
"""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import itertools
import math
import pkgutil
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import pytest

import perfmodel
from perfmodel import (
    alphabeta,
    buckets,
    cluster,
    collectives,
    data_parallel,
    devices,
    hardware,
    kernels,
    ladder,
    language,
    matmul,
    memory,
    overlap,
    pipeline,
    scale_out,
    scaling,
    splitting,
    stages,
    streams,
    transformer,
    units,
    zero,
)
from perfmodel.hardware import PCIE_3
from perfmodel.sources import HERE
from perfmodel.streams import Task
from perfmodel.units import MB, TB

# The least that a whole number may be.
COUNTS = {
    "gpus": 1, "nodes": 1, "gpus_per_node": 1, "workers": 1, "servers": 1, "messages": 1, "beats": 1, "lanes": 1, "units": 1,
    "fma_per_cycle": 1, "n": 1, "rows": 1, "inner": 1, "columns": 1, "batch": 1, "base_batch": 1, "per_gpu_batch": 1, "samples": 1,
    "parameters": 1, "ranks": 1, "devices": 1, "stages": 1, "microbatches": 1, "chunks": 1, "inputs": 1, "outputs": 1, "writes": 1,
    "layers": 1, "heads": 1, "hidden": 1, "sequence": 1, "microbatch": 1, "tensor": 1, "replica_gpus": 1,
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
    "ready": [1.0], "peaks": {"FP32": 1.0},
}  # fmt: skip
LAYERS = splitting.mlp(3, 2)
# True, text, a list, a complex number, a number of a library that overflows, or rounds, where ours do not, and one beyond the floats.
NO_NUMBERS = [True, "160MB", [], 1j, np.int32(1_600_000_000), np.float32(1.5), math.nan, math.inf, 10**400, 10**5000]


class Argument(NamedTuple):
    """A number that a function takes, and that function with all else in order."""

    place: str
    function: Callable[..., Any]
    name: str
    others: dict[str, Any]
    annotation: str

    def give(self, value: Any) -> Any:
        return self.function(**{**self.others, self.name: value})


def numbers(*, by_hand: bool = False) -> Iterator[Argument]:
    """All numbers that the public functions and dataclasses of the model take by name or by position; or also those tested by hand."""
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
            left_out = set() if by_hand else BY_HAND.get(f"{module.name}.{name}", set())
            for p in parameters:
                if str(p.annotation) in ("int", "float", "float | None", "int | None") and p.name not in left_out:
                    yield Argument(f"{module.name}.{name}", function, p.name, others, str(p.annotation))


ALL = list(numbers())
each = pytest.mark.parametrize("argument", ALL, ids=lambda a: f"{a.place}-{a.name}")


def test_many_are_found_and_each_has_one_rule() -> None:
    assert len(ALL) > 200
    assert {"collectives.ring_s", "stages.pipeline_tasks", "pipeline.AsyncPipeline"} <= {a.place for a in ALL}
    assert len(COUNTS) + len(POSITIVE) + len(NOT_NEGATIVE) == len(COUNTS.keys() | POSITIVE | NOT_NEGATIVE)
    assert {a.name for a in ALL} <= COUNTS.keys() | POSITIVE | NOT_NEGATIVE  # a new name needs a rule here


def refused(words: str) -> Any:
    return pytest.raises(ValueError, match=f"^{re.escape(words)}$")


def shown(value: Any) -> str:
    """A value as an error shows it: of 10^400, of which no float has as much, and 10^5000, which Python refuses to write, the bits."""
    return f"a whole number of {value.bit_length()} bits" if type(value) is int and value > 2**1024 else repr(value)


@each
def test_a_number_out_of_its_range_is_refused_by_name(argument: Argument) -> None:
    if argument.name in COUNTS:
        least = COUNTS[argument.name]
        rule, bad = f"a whole number of at least {least}", [least - 1, -3, 2.5]
    elif argument.name in POSITIVE:
        rule, bad = "a finite number above 0", [0, -1.5]
    else:
        rule, bad = "a finite number of at least 0", [-1e-9]
    for value in bad + NO_NUMBERS + ([] if "None" in argument.annotation else [None]):
        most = argument.name in COUNTS and type(value) is int and value > 1
        with refused(f"{argument.name} must be {'a whole number of at most 2^53' if most else rule}, got {shown(value)}"):
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


# What comes out: a finite number, or ValueError.

HOLDS_ONLY = {
    "number.Number",
    "streams.Schedule",
    "language.statement",
    "collectives.around_ring",
}  # what they are given; they compute nothing
MAKES_MANY = ("tasks", "lanes", "ports", "stages.order", "stages.in_flight")  # as many as it is told to
SMALL = transformer.Transformer(layers=1, heads=1, hidden=1, sequence=1, microbatch=1)
LATE = dataclasses.replace(cluster.BOOK_SERVER, latency_s=2e307, link=dataclasses.replace(PCIE_3, bytes_per_s=1))
JOB = scale_out.Job(state_bytes=1, activations_bytes=1, one_gpu_s=1, deadline_s=1, data_bytes=1)
USES: dict[str, tuple[Callable[[Any], Any], ...]] = {  # what is computed from an object, once it is made
    "data_parallel.Step": (
        data_parallel.data_parallel_s, data_parallel.ddp_s, lambda step: step.move_s(1e308),
        lambda step: data_parallel.ddp_tasks(step) if step.gpus == 1 else 0,
        lambda step: data_parallel.data_parallel_tasks(step) if step.gpus == 1 else 0,
    ),
    "memory.ModelState": (
        lambda recipe: memory.model_state(parameters=2**53, recipe=recipe), lambda recipe: transformer.state_bytes(SMALL, recipe=recipe),
        lambda recipe: zero.zero_state(parameters=2**53, ranks=3, stage=1, recipe=recipe),
    ),
    "transformer.Transformer": (
        transformer.state_bytes, transformer.activation_bytes, transformer.activation_bytes_selective, transformer.interleave_factor,
    ),
    "scale_out.Job": (
        lambda job: scale_out.machines_for_data(job, scale_out.Machine(card_bytes=1, storage_bytes=1e-10)),
        lambda job: scale_out.advise(job, scale_out.Machine(card_bytes=1, storage_bytes=1)),
        lambda job: scale_out.gpus_to_hold(job, scale_out.Machine(card_bytes=1, storage_bytes=1)),
    ),
    "scale_out.Machine": (lambda machine: scale_out.machines_for_data(JOB, machine), lambda machine: scale_out.fits_card(JOB, machine)),
}  # fmt: skip
PLACES = {
    place: list(found) for place, found in itertools.groupby(numbers(by_hand=True), lambda a: a.place) if place not in HOLDS_ONLY
}


def found_in(result: Any) -> Iterator[float]:
    """All numbers in what a function gave, those that are computed when they are asked for too."""
    if isinstance(result, int | float):
        yield result
    elif isinstance(result, list | tuple):
        for each_one in result:
            yield from found_in(each_one)
    elif isinstance(result, Mapping):
        yield from found_in(list(result.values()))
    elif dataclasses.is_dataclass(result):
        kind = type(result)
        asked = [field.name for field in dataclasses.fields(result)] + [n for n, v in vars(kind).items() if isinstance(v, property)]
        yield from found_in([getattr(result, name) for name in asked])


def extremes(found: list[Argument]) -> Iterator[dict[str, Any]]:
    """Each number at its least and its largest, alone and with all others."""
    many = found[0].place.endswith(MAKES_MANY)
    ends = {
        a.name: (COUNTS.get(a.name, 1),) if "int" in a.annotation and many
        else (COUNTS.get(a.name, 1), 2**53) if "int" in a.annotation else (5e-324, 1e308)
        for a in found
    }  # fmt: skip
    for name, both in ends.items():
        yield from ({name: value} for value in both)
    for values in itertools.product(*ends.values()):
        yield dict(zip(ends, values, strict=True))


@pytest.mark.parametrize("place", PLACES)
def test_what_comes_out_is_finite_or_refused(place: str) -> None:
    for given in extremes(PLACES[place]):
        for use in (lambda made: made, *USES.get(place, ())):
            try:
                out = list(found_in(use(PLACES[place][0].function(**{**PLACES[place][0].others, **given}))))
            except ValueError as error:
                what, overflows, _ = str(error).partition(" must be a finite number, got ")
                assert not overflows or re.fullmatch(r"[a-z_0-9 +*/()]+", what), (given, what)  # as the library names it
                continue
            assert all(map(math.isfinite, out)), (given, out)


def pair(**changes: Any) -> cluster.Cluster:
    """Two GPUs in each node, with pipes of one byte a second."""
    slow = dataclasses.replace(PCIE_3, bytes_per_s=1.0)
    return dataclasses.replace(cluster.BOOK_SERVER, gpus=2, link=slow, network=slow, **changes)


def test_a_step_is_refused_for_its_own_time_alone() -> None:
    """One message of 1.6e308 s is a time; two of them would be none."""
    asked: dict[str, Any] = {"way": "ring", "gradient_bytes": 0, "compute_s": 0}
    assert cluster.step_s(**asked, cluster=pair(latency_s=8e307)) == 1.6e308
    with refused("step_s must be a finite number, got inf"):
        cluster.step_s(**{**asked, "compute_s": 1e308}, cluster=pair(latency_s=8e307))


@pytest.mark.parametrize(
    ("call", "what"),
    [
        (lambda: collectives.one_gpu_s(gradient_bytes=1e308, gpus=4, link_bytes_per_s=1), "one_gpu_s"),
        (lambda: alphabeta.tree_s(size_bytes=1e308, gpus=2, link_bytes_per_s=1), "tree_s"),
        (lambda: alphabeta.bus_bytes_per_s("all_reduce", size_bytes=1e308, gpus=2**53, time_s=1), "bus_bytes_per_s"),
        (lambda: hardware.matmul_flop_per_byte(n=1, element_bytes=1e308), "3 * element_bytes"),  # over which all would be 0
        (lambda: hardware.elementwise_flop_per_byte(element_bytes=1e308), "(reads + writes) * element_bytes"),
        (lambda: matmul.matmul_s(n=1, element_bytes=1e308, peak_flop_per_s=1, bytes_per_s=1), "product_s"),
        (lambda: overlap.copies_s(kernels=2, kernel_s=1e308, copy_s=0, overlap=False), "copies_s"),
        (lambda: buckets.overlap([0.0], exchange_s=[1.7e308], backward_s=1.7e308, slowdown=2), "backward_end_s"),  # half at half the pace
        (lambda: buckets.overlap([1e308], exchange_s=[1e308], backward_s=1e308), "exchange_end_s"),
        (lambda: scaling.step_noise(lr=1e200, batch=4), "lr * lr"),
        (lambda: scaling.step_noise(lr=1e100, batch=4, sample_variance=1e200), "step_noise"),
        (lambda: scaling.pass_noise(lr=1e150, batch=1, samples=2**53), "pass_noise"),
        (lambda: scaling.warm_up_lr(step=5, steps=10, start_lr=1, peak_lr=1e308), "warm_up_lr"),
        (lambda: pipeline.AsyncPipeline(enqueue=1e308, compute=1e308, fetch=0, tasks=2), "total"),
        (lambda: pipeline.AsyncPipeline(enqueue=1e308, compute=0, fetch=1e308, tasks=0).short_form, "short_form"),
        (lambda: pipeline.AsyncPipeline(enqueue=1e308, compute=1e308, fetch=1e308, tasks=0).barrier_price, "barrier_price"),
        (lambda: cluster.terms_s(way="ring", gradient_bytes=1e308, cluster=LATE), "the sum of terms_s"),
        (lambda: cluster.terms_s(way="ring", gradient_bytes=0, cluster=pair(latency_s=1e307), messages=100), "the sum of terms_s"),
        (lambda: cluster.terms_s(way="two levels", gradient_bytes=1.5e308, cluster=pair(nodes=2)), "the sum of terms_s"),
    ],
)  # fmt: skip
def test_what_overflows_says_what_it_was(call: Callable[[], Any], what: str) -> None:
    with refused(f"{what} must be a finite number, got inf"):
        call()


def test_what_is_moved_in_a_step_is_named() -> None:
    step = data_parallel.Step(**PLACES["data_parallel.Step"][0].others | {PLACES["data_parallel.Step"][0].name: 1})
    with refused("size_bytes must be a finite number of at least 0, got -1"):
        step.move_s(-1)


def test_a_float_of_numpy_is_a_float_and_its_ints_are_none() -> None:
    assert collectives.ring_limit_s(gradient_bytes=np.float64(160e6), link_bytes_per_s=16e9) == 0.02
    with refused(f"gradient_bytes must be a finite number of at least 0, got {np.int32(1_600_000_000)!r}"):  # 2·S would be below 0
        collectives.ring_limit_s(gradient_bytes=np.int32(1_600_000_000), link_bytes_per_s=16e9)  # type: ignore[arg-type]


def test_as_many_as_a_float_can_count_are_taken() -> None:
    assert units.at_least("gpus", 2**53, 1) == 2**53
    with refused(f"gpus must be a whole number of at most 2^53, got {2**53 + 1}"):
        units.at_least("gpus", 2**53 + 1, 1)
    assert units.is_finite(1.7976931348623157e308)
    assert not units.is_finite(2**1024)
    assert (units.shown(2**1024 - 1), units.shown(2**1024)) == (repr(2**1024 - 1), "a whole number of 1025 bits")


def test_a_group_longer_than_the_queue_is_all_of_it() -> None:
    """(10^15 − 1)·10^300 is none, and 0 groups of it would be no number at all."""
    long, once = (pipeline.AsyncPipeline(enqueue=1e300, compute=1e300, fetch=0, tasks=8, barrier_every=e) for e in (10**15, None))
    assert long.total == once.total
    assert (long.barriers, long.queue_peak, len(long.program())) == (1, once.queue_peak, 17)


# By hand: where a name means something else.


@pytest.mark.parametrize(
    ("call", "rule", "bad"),
    [
        (lambda v: matmul.multiply_add_s(n=1, time_s=v, overhead_s=1.0), "time_s must be a finite number above the overhead, 1.0; got", [1.0, *NO_NUMBERS]),
        (lambda v: stages.bubble_fraction(stages=2, microbatches=2, chunks=v), "chunks must be a finite number above 0, got", [0, *NO_NUMBERS]),
        (lambda v: stages.order("1f1b", stages=2, microbatches=2, device=v), "device must be 0 to 1, got", [-1, 2, 0.0, None, *NO_NUMBERS]),
        (lambda v: zero.zero_state(parameters=1, ranks=1, stage=v), "stage must be 0, 1, 2 or 3, got", [-1, 4, 1.0, None, *NO_NUMBERS]),
        (lambda v: buckets.overlap([1.0], exchange_s=[1.0], backward_s=1.0, slowdown=v), "slowdown must be a finite number of at least 1, got", [0.5, None, *NO_NUMBERS]),
        (lambda v: buckets.overlap([1.0], exchange_s=[1.0], backward_s=v), "backward_s must be a finite number of at least 0, got", [-1, None, *NO_NUMBERS]),
        (lambda v: buckets.overlap([v], exchange_s=[1.0], backward_s=1.0), "a time when a bucket is full must be a finite number of at least 0, got", [-1, None, *NO_NUMBERS]),
        (lambda v: ladder.rescale(v, 1.0), "seconds must be a finite number of at least 0, got", [-1, None, *NO_NUMBERS]),
        (lambda v: ladder.rescale(1.0, v), "reference_s must be a finite number above 0, got", [0, -1, None, *NO_NUMBERS]),
        (lambda v: ladder.rescaled(v), "a reference must be one of l1, fma, ", [None, *NO_NUMBERS[:-1]]),
        (lambda v: alphabeta.bus_factor(v, gpus=2), "a collective must be one of all_reduce, all_gather, ", [None, *NO_NUMBERS[:-1]]),
        (lambda v: ladder.Latency(id=v, action="a", seconds=1, group="cpu", in_lab=True), "an id must be letters, digits and _, got", ["1a", None, 1]),
        (lambda v: units.unit(v), "a unit must be text, got", [None, 1, [], ["s"]]),
        (lambda v: language.read(v), "line 1: a program must be text, got", [None, 1, []]),
    ],
)  # fmt: skip
def test_a_number_with_a_rule_of_its_own(call: Callable[[Any], Any], rule: str, bad: list[Any]) -> None:
    for value in bad:
        with pytest.raises(ValueError, match=f"^{re.escape(rule)}"):
            call(value)


def test_a_barrier_is_counted_by_a_whole_number() -> None:
    bad: list[Any] = ["2", 1j, np.int32(2), [], math.nan]
    for value in bad:
        with refused(f"barrier_every must be at least 1 (or None for one at the end), got {value!r}"):
            pipeline.AsyncPipeline(enqueue=1, compute=1, fetch=1, tasks=1, barrier_every=value)
    with refused("barrier_every must be a whole number of at most 2^53, got a whole number of 1329 bits"):
        pipeline.AsyncPipeline(enqueue=1.0, compute=1.0, fetch=1.0, tasks=1, barrier_every=10**400)


@pytest.mark.parametrize("layout", [[[5]], [[2]], [[-1], [0]], [[0], [0]], [[0, 0]], [[True]], [[0.0]], [["x"]], [[10**400]]])
def test_a_bucket_holds_each_index_once(layout: Any) -> None:
    index = {"[[5]]": "5", "[[2]]": "2", "[[-1], [0]]": "-1"}.get(repr(layout), shown(layout[-1][-1]))
    with refused(f"layout must hold each index from 0 to 1 once at most, got {index}"):
        buckets.ready_s(layout, work=[1, 2], backward_s=1)


def test_the_buckets_of_a_step_are_counted_before_they_are_made() -> None:
    asked: dict[str, Any] = {"way": "ring", "gradient_bytes": 1e6, "cluster": cluster.BOOK_SERVER, "compute_s": 1}
    assert len(cluster.step_tasks(**{**asked, "gradient_bytes": 10}, bucket_bytes=1)) == 21
    with refused("bucket_bytes must make at most 1000000 buckets, got 0.5, which makes 2e+06"):
        cluster.step_tasks(**asked, bucket_bytes=0.5)
    with refused("bucket_bytes must make at most 1000000 buckets, got 1e-308, which makes 1e+16"):
        cluster.step_tasks(**asked, bucket_bytes=1e-308)
    with refused(f"messages must be a whole number of at most 2^53, got {10**16}"):
        cluster.step_s(**asked, bucket_bytes=1e-308)
    assert kernels.bucket_count(1e6, 1.0) == cluster.MOST_BUCKETS == 1_000_000
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cluster, "MOST_BUCKETS", 3)
        assert len(cluster.step_tasks(**{**asked, "gradient_bytes": 3}, bucket_bytes=1)) == 7
        with refused("bucket_bytes must make at most 3 buckets, got 1, which makes 4"):
            cluster.step_tasks(**{**asked, "gradient_bytes": 4}, bucket_bytes=1)
    long: dict[str, Any] = {**asked, "compute_s": 1.5e308, "bucket_bytes": 5e5}  # twice as long is beyond the floats
    assert streams.run(cluster.step_tasks(**long)).total_s == pytest.approx(cluster.step_s(**long)) == pytest.approx(1.5e308)


def test_a_machine_more_needs_more_than_the_noise_of_a_float() -> None:
    job = dataclasses.replace(JOB, data_bytes=17.1 * TB)
    assert job.data_bytes / (0.9 * TB) > 19
    assert scale_out.machines_for_data(job, scale_out.Machine(card_bytes=1, storage_bytes=0.9 * TB)) == 19
    assert scale_out.machines_for_data(job, scale_out.Machine(card_bytes=1, storage_bytes=17.1 * TB)) == 1
    assert scale_out.machines_for_data(job, scale_out.Machine(card_bytes=1, storage_bytes=math.nextafter(17.1 * TB, 0))) == 2
    most = dataclasses.replace(JOB, data_bytes=1_000_000 * MB)
    assert scale_out.machines_for_data(most, scale_out.Machine(card_bytes=1, storage_bytes=MB)) == 1_000_000
    with refused("data_bytes must be in reach of 1000000 machines, got data that need 1e+12"):
        scale_out.machines_for_data(job, scale_out.Machine(card_bytes=1, storage_bytes=17.1))
    with refused("a deadline must be in reach of 1000000 GPUs, got one that needs inf"):
        scale_out.gpus_for_deadline(one_gpu_s=1, deadline_s=5e-324, efficiency=0.5)


# Lists: a generator gives what it holds once, and must lose nothing.

TIMES: dict[str, Any] = {"forward_s": 1, "backward_s": 2, "update_s": 1}
LISTS: dict[str, tuple[Callable[[Any], Any], list[Any]]] = {
    "tasks": (streams.run, [Task(name="a", streams=("GPU",), duration_s=1), Task(name="b", streams=("GPU",), duration_s=2)]),
    "streams": (lambda v: streams.run([Task(name="a", streams=("GPU",), duration_s=1)], v), ["GPU", "Python"]),
    "layers": (splitting.parameters, [*LAYERS]),
    "layers ": (lambda v: matmul.dense_forward_flop(v, batch=1), [*LAYERS]),
    "layers  ": (lambda v: memory.dense_activations_bytes(v, batch=1, element_bytes=4), [*LAYERS]),
    "layers, between": (lambda v: splitting.between_layers(v, batch=1, element_bytes=4, gpus=2), [*splitting.mlp(3, 2, 1)]),
    "layers, across": (lambda v: splitting.across_layers(v, batch=1, element_bytes=4, gpus=2), [*LAYERS]),
    "layers, data": (lambda v: splitting.across_data(v, batch=1, element_bytes=4, gpus=2), [*LAYERS]),
    "work": (lambda v: buckets.ready_s([[1], [0]], work=v, backward_s=1), [1, 3]),
    "layout": (lambda v: buckets.ready_s(v, work=[1, 3], backward_s=1), [[1], [0]]),
    "a bucket": (lambda v: buckets.ready_s([v], work=[1, 3], backward_s=1), [1, 0]),
    "ready": (lambda v: buckets.overlap(v, exchange_s=[1.0, 1.0], backward_s=2), [1.0, 2.0]),
    "exchange_s": (lambda v: buckets.overlap([1.0, 2.0], exchange_s=v, backward_s=2), [1.0, 1.0]),
    "ready, step": (lambda v: buckets.step_s(v, exchange_s=[1.0, 1.0], **TIMES), [1.0, 2.0]),
    "ready, tasks": (lambda v: buckets.step_tasks(v, exchange_s=[1.0, 1.0], **TIMES), [1.0, 2.0]),
    "exchange_s, tasks": (lambda v: buckets.step_tasks([1.0, 2.0], exchange_s=v, **TIMES), [1.0, 1.0]),
    "weights": (
        lambda v: stages.pipeline_tasks("1f1b", stages=2, microbatches=1, forward_s=1, backward_s=1, weights=v),
        [1.0, 2.0],
    ),
}


@pytest.mark.parametrize("what", LISTS)
def test_a_generator_gives_all_that_a_list_does(what: str) -> None:
    call, values = LISTS[what]
    assert call(values) == call(tuple(values)) == call(one for one in values)
    for bad in ("ab", 3, 10**5000, *([] if what in ("streams", "weights") else [None])):
        with refused(f"{what.partition(',')[0].strip()} must be a list, got {shown(bad)}"):
            call(bad)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"streams": ["GPU"]}, "streams must be a tuple of names, got ['GPU'] for 't'"),
        ({"streams": (1,)}, "streams must be a tuple of names, got (1,) for 't'"),
        ({"streams": ([],)}, "streams must be a tuple of names, got ([],) for 't'"),
        ({"streams": None}, "streams must be a tuple of names, got None for 't'"),
        ({"waits": [0]}, "waits must be a tuple of indices, got [0] for 't'"),
        ({"waits": 0}, "waits must be a tuple of indices, got 0 for 't'"),
        ({"waits": ("x",)}, "each wait of 't' must be a whole number of at least 0, got 'x'"),
    ],
)
def test_a_task_that_would_lose_what_it_is_given_is_refused(changes: dict[str, Any], says: str) -> None:
    with refused(says):
        Task(**{"name": "t", "streams": ("GPU",), "duration_s": 1, **changes})
    with pytest.raises(ValueError, match=r"^waits must be a tuple of indices, got <list_iterator"):
        Task(name="t", streams=("GPU",), duration_s=1, waits=iter([0]))  # type: ignore[arg-type]
