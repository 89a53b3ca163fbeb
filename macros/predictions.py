"""The data sets of the Reality page, a function each: what was measured, and what a model predicts from the same inputs.

Nothing measured is computed here: it is read from docs/records/published/. Every prediction is made here, by `perfmodel`, from data
sheets and, where the set says so, from one or two of its own measurements, which then are no points of it.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from macros import text
from macros.gates import DataSet, Point
from macros.published import Row, table
from perfmodel import alphabeta, buckets, collectives, hardware, scaling, stages, transformer, zero
from perfmodel.book.ledger import LEDGER
from perfmodel.devices import EFA, ETHERNET_10, GPUS
from perfmodel.matmul import product_s
from perfmodel.units import GB, GIB, MIB, MS, TFLOP, US


def _gate(name: str) -> float:
    return float(LEDGER[f"gate.{name}"].value)


def _size(name: str) -> float:
    return float(LEDGER[f"sizes.{name}"].value)


def _rows(name: str, **where: str) -> list[Row]:
    return [row for row in table(name).rows if all(row[key] == value for key, value in where.items())]


def _of(row: Row, key: str) -> float:
    return float(row[key])


def _half_digit(printed: str) -> float:
    """Half of the last printed digit, relative to the value: what rounding may have taken or added.

    >>> round(_half_digit("229"), 5), round(_half_digit("12.4"), 5)
    (0.00218, 0.00403)
    """
    return 0.5 * 10.0 ** -len(printed.partition(".")[2]) / float(printed)


def two_points(first: tuple[float, float], second: tuple[float, float]) -> tuple[float, float]:
    """Latency and rate of the line alpha + S/B through two measurements (size, time).

    >>> two_points((0, 1.0), (10, 3.0))
    (1.0, 5.0)
    """
    rate = (second[0] - first[0]) / (second[1] - first[1])
    return first[1] - first[0] / rate, rate


# Collectives.


def _ring_time(size: float, gpus: int, rate: float) -> float:
    return collectives.ring_s(gradient_bytes=size, gpus=gpus, link_bytes_per_s=rate)


def _bus_time(row: Row, busbw: str) -> float:
    return alphabeta.bus_time_s(
        "all_reduce", size_bytes=_of(row, "size_bytes"), gpus=int(row["gpus"]), bus_bytes_per_s=_of(row, busbw) * GB
    )


def ring_node() -> DataSet:
    """Forced ring within a node, over more and more GPUs: the rate of four sets that of all others."""
    points = []
    for gpu in ("H200", "B200"):
        rows = _rows("allreduce_ring", gpu=gpu, nodes="1")
        rate = _of(rows[0], "busbw_ring") * GB
        for row in rows[1:]:
            size, count = _of(row, "size_bytes"), int(row["gpus"])
            points.append(
                Point(
                    label=f"{count} {gpu}",
                    predicted=_ring_time(size, count, rate),
                    measured=_bus_time(row, "busbw_ring"),
                    size=count,
                )
            )
    return DataSet(
        name="ring_node", title="Ring over more GPUs of a node", kind="prediction", model="2(n−1)/n · S/B",
        inputs="for each GPU, the rate of four of them", constants=2, tables=("allreduce_ring",), points=tuple(points), unit="ms", gate=_gate("ring_node"),
    )  # fmt: skip


def ring_nodes() -> DataSet:
    """Forced ring over four nodes of H200, from the rate of one of them."""
    one, many = _rows("allreduce_ring", gpu="H200", gpus="8")[0], _rows("allreduce_ring", gpu="H200", nodes="4")[0]
    predicted = _ring_time(_of(many, "size_bytes"), int(many["gpus"]), _of(one, "busbw_ring") * GB)
    return DataSet(
        name="ring_nodes", title="Ring over four nodes, from the rate of one", kind="prediction", model="2(n−1)/n · S/B",
        inputs="the rate of eight GPUs in one node", constants=1, tables=("allreduce_ring",), unit="ms", gate=_gate("ring_nodes"),
        points=(Point(label="4 nodes of 8 H200, 4 GiB", predicted=predicted, measured=_bus_time(many, "busbw_ring"), size=32),),
    )  # fmt: skip


def ring_mi325x() -> DataSet:
    """Forced ring over nodes of MI325X: two nodes at the largest size set the rate."""
    rows = table("allreduce_mi325x").rows
    one = next(row for row in rows if row["nodes"] == "2" and _of(row, "size_bytes") == 16 * GIB)
    rate = alphabeta.bus_bytes_per_s("all_reduce", size_bytes=16 * GIB, gpus=int(one["gpus"]), time_s=_of(one, "time_us") * US)
    points = tuple(
        Point(
            label=f"{row['nodes']} nodes, {_of(row, 'size_bytes') / GIB:.0f} GiB",
            predicted=_ring_time(_of(row, "size_bytes"), int(row["gpus"]), rate),
            measured=_of(row, "time_us") * US,
            gated=row["nodes"] != "1" and _of(row, "size_bytes") >= _size("rings"),
            size=_of(row, "size_bytes"),
        )
        for row in rows
        if row is not one
    )
    return DataSet(
        name="ring_mi325x", title="Ring over nodes of MI325X", kind="prediction", model="2(n−1)/n · S/B",
        inputs="the rate of two nodes at 16 GiB", constants=1, tables=("allreduce_mi325x",), points=points, unit="ms",
        gate=_gate("ring_mi325x"), where=f"several nodes, from {text.show(_size('rings'), 'GiB')}",
    )  # fmt: skip


def allreduce_a100() -> DataSet:
    """All sizes on eight A100, through the smallest and the largest of them: a fit, which is wrong in the middle."""
    rows = table("allreduce_a100").rows
    gpus = 8
    first, *between, last = ((_of(row, "size_bytes"), _of(row, "time_us") * US) for row in rows)
    alpha, rate = two_points(first, last)
    factor = alphabeta.bus_factor("all_reduce", gpus=gpus)
    points = tuple(
        Point(
            label=f"{size:.0f} B",
            predicted=collectives.ring_s(
                gradient_bytes=size, gpus=gpus, link_bytes_per_s=rate * factor, latency_s=alpha / (2 * (gpus - 1))
            ),
            measured=time,
            gated=not _size("wrong_from") < size < _size("wrong_to"),
            size=size,
        )
        for size, time in between
    )
    return DataSet(
        name="allreduce_a100", title="Allreduce of every size on eight A100", kind="fit", model="2(n−1)·(α + S/(n·B))",
        inputs="latency and rate, from the smallest and the largest size", constants=2, tables=("allreduce_a100",), points=points, unit="ms",
        gate=_gate("allreduce_a100"), where=f"up to {text.show(_size('wrong_from'), 'KiB')}, from {text.show(_size('wrong_to'), 'MiB')}",
    )  # fmt: skip


def _b200() -> Iterable[tuple[Row, float, float]]:
    for row in table("allreduce_b200").rows:
        size = _of(row, "size_bytes")
        time = alphabeta.bus_time_s("all_reduce", size_bytes=size, gpus=32, bus_bytes_per_s=_of(row, "busbw_4_nodes") * GB)
        yield row, size, time


def flat_b200() -> DataSet:
    """Four nodes of B200 as one flat ring at the rate on the data sheet of the network."""
    points = tuple(
        Point(
            label=f"{size / MIB:g} MiB",
            predicted=_ring_time(size, 32, EFA.bytes_per_s),
            measured=time,
            gated=size >= _size("large"),
            size=size,
        )
        for _, size, time in _b200()
    )
    return DataSet(
        name="flat_b200", title="Allreduce over four nodes of B200", kind="prediction", model="2(n−1)/n · S/B", inputs="data sheet", tables=("allreduce_b200",),
        points=points, unit="ms", gate=_gate("flat_b200"), where=f"from {text.show(_size('large'), 'GiB')}",
    )  # fmt: skip


def hierarchy_b200() -> DataSet:
    """The same in three phases: across nodes alone at the least, one after the other at the most."""
    points = []
    for row, size, time in _b200():
        inputs: dict[str, Any] = {"size_bytes": size, "nodes": 4, "link_bytes_per_s": _of(row, "busbw_1_node") * GB}
        # All NICs of a node as one.
        across = alphabeta.hierarchical_s(gpus_per_node=1, network_bytes_per_s=EFA.bytes_per_s, **inputs)
        both = alphabeta.hierarchical_s(gpus_per_node=8, network_bytes_per_s=EFA.bytes_per_s / 8, **inputs)
        points.append(
            Point(label=f"{size / MIB:g} MiB", predicted=across, high=both, measured=time, gated=size >= _size("large"), size=size)
        )
    return DataSet(
        name="hierarchy_b200", title="The nodes of B200 in three phases", kind="bracket", model="between 2(N−1)/N · S/B' and that with 2(g−1)/g · S/B added",
        inputs="data sheet of the network; the rate of one node at each size", constants=5, tables=("allreduce_b200",), points=tuple(points), unit="ms",
        where=f"from {text.show(_size('large'), 'GiB')}",
    )  # fmt: skip


# Data-parallel steps.


def gpt() -> list[tuple[str, int]]:
    """The parameters of the GPT of the DDP runs in order of registration: 8 layers of width 768, a vocabulary of 16,384."""
    width, vocabulary = 768, 16_384
    layer = [
        ("norm", width), ("norm", width), ("matrix", width * 3 * width), ("matrix", width * width),
        ("norm", width), ("norm", width), ("matrix", width * 4 * width), ("matrix", 4 * width * width),
    ]  # fmt: skip
    ends = [("norm", width), ("norm", width), ("matrix", width * vocabulary)]
    return [("embedding", vocabulary * width), ("embedding", 1024 * width), *layer * 8, *ends]


def resnet18() -> list[int]:
    """The parameters of torchvision's ResNet-18 in order of registration."""
    sizes = [64 * 3 * 7 * 7, 64, 64]
    inside = 64
    for outside in (64, 128, 256, 512):
        for block in range(2):
            first = inside if block == 0 else outside
            sizes += [outside * first * 9, outside, outside, outside * outside * 9, outside, outside]
            if first != outside:
                sizes += [outside * first, outside, outside]
        inside = outside
    return [*sizes, 1000 * 512, 1000]


def ddp_buckets() -> DataSet:
    """How PyTorch laid out the buckets of two networks, for six pairs of caps."""
    networks = {"ResNet-18": [4 * size for size in resnet18()], "GPT": [4 * size for _, size in gpt()]}
    points = []
    for row in table("ddp_buckets").rows:
        sizes = networks[row["network"]]
        layout = buckets.bucket_layout(sizes, cap_bytes=_of(row, "cap_mib") * MIB, first_cap_bytes=_of(row, "first_cap_mib") * MIB)
        laid = [sum(sizes[index] for index in bucket) for bucket in layout]
        what, unit = row["what"], MIB if row["unit"] == "MiB" else 1
        found = {"buckets": len(laid), "smallest": min(laid), "median": statistics.median(laid), "largest": max(laid)}
        value = laid[int(what.removeprefix("bucket ")) - 1] if what.startswith("bucket ") else found[what]
        label = f"{row['network']}, cap {row['cap_mib']} MiB, {what}"
        points.append(Point(label=label, predicted=value / unit, measured=_of(row, "printed"), printed=row["printed"]))
    return DataSet(
        name="ddp_buckets", title="Which gradients share a bucket", kind="worked example", model="filled in reverse, closed at the cap", inputs="shapes of the network",
        tables=("ddp_buckets",), points=tuple(points), unit="",
    )  # fmt: skip


def _ddp(cap_mib: float) -> tuple[dict[str, float], list[float], list[float]]:
    """The times of a step on a single GPU, and when each bucket is full and how long it takes, from the serial run."""
    single, serial = _rows("ddp_steps", run="single")[0], _rows("ddp_steps", run="serial")[0]
    times = {f"{part}_s": _of(single, f"{part}_ms") * MS for part in ("forward", "backward", "update")}
    sizes = [4 * size for _, size in gpt()]
    rate = sum(sizes) / ((_of(serial, "backward_ms") - _of(serial, "backward_alone_ms")) * MS)
    layout = buckets.bucket_layout(sizes, cap_bytes=cap_mib * MIB)
    work = [size if kind == "matrix" else 0 for kind, size in gpt()]
    ready = buckets.ready_s(layout, work=work, backward_s=times["backward_s"])
    exchange = [hardware.move_s(size_bytes=sum(sizes[index] for index in bucket), bytes_per_s=rate) for bucket in layout]
    return times, ready, exchange


def ddp_step() -> DataSet:
    """The step of DDP for four caps, from one GPU alone and one serial run."""
    points = []
    for row in _rows("ddp_steps", run="ddp"):
        times, ready, exchange = _ddp(_of(row, "cap_mib"))
        predicted = buckets.step_s(ready, exchange_s=exchange, **times)
        points.append(Point(label=f"cap {row['cap_mib']} MiB", predicted=predicted, measured=_of(row, "step_ms") * MS))
    return DataSet(
        name="ddp_step", title="A step of DDP on four A40", kind="prediction", model="forward + max(backward, last allreduce) + update",
        inputs="the step on one GPU; time per byte, from a run without overlap", constants=4, tables=("ddp_steps",), points=tuple(points), unit="ms",
        gate=_gate("ddp_step"),
    )  # fmt: skip


def ddp_tails() -> list[tuple[str, float, float]]:
    """What sticks out behind the backward pass, predicted and in the profiler's trace, by cap. Not gated: the profiler slows what it shows."""
    found = []
    for row in table("ddp_trace").rows:
        times, ready, exchange = _ddp(_of(row, "cap_mib"))
        overlap = buckets.overlap(ready, exchange_s=exchange, backward_s=times["backward_s"])
        found.append((row["cap_mib"], overlap.exchange_end_s - overlap.backward_end_s, _of(row, "tail_ms") * MS))
    return found


def slowed_step(slowdown: float) -> float:
    """The largest error of `ddp_step` when the backward pass takes that much longer beside an allreduce."""
    errors = []
    for row in _rows("ddp_steps", run="ddp"):
        times, ready, exchange = _ddp(_of(row, "cap_mib"))
        errors.append(buckets.step_s(ready, exchange_s=exchange, slowdown=slowdown, **times) / (_of(row, "step_ms") * MS) - 1)
    return max(errors)


PARAMETERS = {"InceptionV3": 23.9e6, "ResNet-50": 25.6e6, "ResNet-152": 60.4e6}
"""Of the networks of the TensorFlow benchmarks, as the documentation of Keras Applications counts them."""


def parameter_server() -> DataSet:
    """Two to eight nodes with a parameter server on each: between hidden altogether and not at all."""
    points = []
    for row in table("parameter_server").rows:
        gpus, batch = int(row["gpus"]), int(row["batch_per_gpu"])
        alone = _rows("parameter_server", model=row["model"], batch_per_gpu=row["batch_per_gpu"], gpus="8")[0]
        if row is alone:
            continue
        nodes = gpus // 8
        step = 8 * batch / _of(alone, "images_per_s")
        exchange = collectives.parameter_server_s(
            gradient_bytes=4 * PARAMETERS[row["model"]], workers=nodes, servers=nodes, link_bytes_per_s=ETHERNET_10.bytes_per_s
        )
        low, high = buckets.step_bounds_s(forward_s=0, backward_s=step, exchange_s=exchange)
        slack = _half_digit(row["images_per_s"]) + _half_digit(alone["images_per_s"])
        label = f"{row['model']}, batch {batch}, {gpus} GPUs"
        points.append(Point(label=label, predicted=low, high=high, measured=gpus * batch / _of(row, "images_per_s"), slack=slack))
    return DataSet(
        name="parameter_server", title="Parameter servers over 10 GbE", kind="bracket", model="between max(step, exchange) and step + exchange",
        inputs="data sheet of the network; the step of one node", constants=5, tables=("parameter_server",), points=tuple(points), unit="ms",
    )  # fmt: skip


def baidu() -> DataSet:
    """Gathering 300 million gradients on one GPU, and the same around a ring."""
    size = 4 * 300e6
    naive = [
        collectives.one_gpu_s(gradient_bytes=size, gpus=gpus, link_bytes_per_s=1 * GB) / 2 for gpus in (2, 10)
    ]  # there, not back
    found = [*naive, collectives.ring_limit_s(gradient_bytes=size, link_bytes_per_s=6 * GB)]
    rows = table("baidu").rows[:3]
    points = tuple(
        Point(label=row["example"], predicted=value, measured=_of(row, "printed"), printed=row["printed"])
        for row, value in zip(rows, found, strict=True)
    )
    return DataSet(
        name="baidu", title="Baidu’s ring, by hand", kind="worked example", model="(n−1)·S/B; 2·S/B", inputs="the example's own", tables=("baidu",),
        points=points, unit="s",
    )  # fmt: skip


def baidu_step() -> DataSet:
    """The step of 40 GPUs, of which only a range is told."""
    alone = 370 * MS
    low, high = buckets.step_bounds_s(
        forward_s=alone / 3,
        backward_s=alone * 2 / 3,
        exchange_s=collectives.ring_limit_s(gradient_bytes=4 * 300e6, link_bytes_per_s=6 * GB),
    )
    points = tuple(
        Point(label=row["example"], predicted=low, high=high, measured=_of(row, "printed") * MS) for row in table("baidu").rows[3:]
    )
    return DataSet(
        name="baidu_step", title="A step of 40 GPUs on InfiniBand", kind="bracket", model="between forward + max(backward, ring) and the sum",
        inputs="data sheet of the network; the step of one GPU", constants=1, tables=("baidu",), points=points, unit="ms",
    )  # fmt: skip


def goyal() -> DataSet:
    """The bandwidth that hides an allreduce, and the steps of two ways to make it."""
    size, time = 100e6, 0.125  # the source states 120 ms, and divides by this
    ring = collectives.ring_s(gradient_bytes=0, gpus=32, link_bytes_per_s=1.0, latency_s=1.0)
    halving = alphabeta.halving_doubling_s(size_bytes=0, gpus=32, link_bytes_per_s=1.0, latency_s=1.0)
    rate = collectives.ring_limit_s(gradient_bytes=size, link_bytes_per_s=1.0) / time  # at 1 B/s it takes as many seconds as bytes
    points = tuple(
        Point(label=row["example"], predicted=value, measured=_of(row, "printed"), printed=row["printed"])
        for row, value in zip(table("goyal").rows, (rate * 8 / 1e9, halving, ring), strict=True)
    )
    return DataSet(
        name="goyal", title="ResNet-50 at Facebook, by hand", kind="worked example", model="2·S/t; 2·log2 n; 2(n−1)", inputs="the example's own",
        tables=("goyal",), points=points, unit="",
    )  # fmt: skip


def learning_rates() -> DataSet:
    """The linear rule for two tasks."""
    base = {"ImageNet ResNet-50": (0.1, 256), "COCO Mask R-CNN": (0.02, 16)}
    points = []
    for row in table("learning_rates").rows:
        rate, batch = base[row["task"]]
        found = scaling.linear_rule(base_lr=rate, base_batch=batch, batch=int(row["batch"]))
        points.append(
            Point(label=f"{row['task']}, {row['batch']}", predicted=found, measured=_of(row, "printed"), printed=row["printed"])
        )
    return DataSet(
        name="learning_rates", title="Learning rates by the linear rule", kind="worked example", model="rate · batch/base", inputs="one pair for each task",
        tables=("learning_rates",), points=tuple(points), unit="",
    )  # fmt: skip


# Pipelines.


def _chunks(row: Row) -> float:
    """How many chunks a device holds: as many as layers, with the embedding and the output as a layer each, in the interleaved schedule."""
    return (int(row["layers"]) + 2) / int(row["stages"]) if row["schedule"] == "1F1B-I" else 1.0


def _busy(row: Row) -> float:
    return 1 - stages.bubble_fraction(stages=int(row["stages"]), microbatches=int(row["microbatches"]), chunks=_chunks(row))


def _pipeline(name: str, title: str, schedule: str, model: str) -> DataSet:
    points = []
    for size in ("1.5B", "6.2B", "14.6B", "28.3B"):
        rows = _rows("pipeline_throughput", model=size, schedule=schedule)
        most = max(rows, key=lambda row: int(row["microbatches"]))
        for row in rows:
            if row is not most:
                rate = _of(most, "samples_per_gpu_per_s") * _busy(row) / _busy(most)
                label = f"{size}, {row['stages']} stages, {row['microbatches']} microbatches"
                # As seconds for a sample on a GPU, so that the sign says the same as elsewhere.
                points.append(
                    Point(
                        label=label,
                        predicted=1 / rate,
                        measured=1 / _of(row, "samples_per_gpu_per_s"),
                        size=int(row["microbatches"]),
                    )
                )
    return DataSet(
        name=name, title=title, kind="prediction", model=model, inputs="for each model, its rate at the most microbatches", constants=4,
        tables=("pipeline_throughput",), points=tuple(points), unit="ms", gate=_gate(name),
    )  # fmt: skip


def pipeline() -> DataSet:
    """1F1B on 8 to 32 A100."""
    return _pipeline("pipeline", "1F1B on 8 to 32 A100", "1F1B", "time ~ (m + p−1)/m")


def interleaved() -> DataSet:
    """Interleaved 1F1B, a layer a chunk."""
    return _pipeline("interleaved", "Interleaved, on the same", "1F1B-I", "time ~ (m + (p−1)/v)/m")


def bubbles() -> DataSet:
    """The bubble of the same runs, from profiled times: balanced stages would have less."""
    points = tuple(
        Point(
            label=f"{row['schedule']}, {row['model']}, {row['microbatches']} microbatches",
            predicted=1 - _busy(row),
            measured=_of(row, "bubble_rate"),
            size=int(row["microbatches"]),
        )
        for row in table("pipeline_bubbles").rows
    )
    return DataSet(
        name="bubbles", title="Bubbles of both", kind="bound", model="(p−1)/(v·m + p−1)", inputs="none", tables=("pipeline_bubbles",), points=points, unit="%",
    )  # fmt: skip


# Memory.


def zero_memory() -> DataSet:
    """What a GPU holds at three stages of ZeRO."""
    points = []
    for row in table("zero_memory").rows:
        held = zero.zero_state(parameters=int(row["parameters"]), ranks=int(row["ranks"]), stage=int(row["stage"])).total_bytes
        label = f"{row['model']}, stage {row['stage']}, {row['ranks']} GPUs"
        points.append(Point(label=label, predicted=held / GB, measured=_of(row, "printed_gb"), printed=row["printed_gb"]))
    return DataSet(
        name="zero_memory", title="The state of a model under ZeRO", kind="worked example", model="(2 + 2 + 12/N)·P; (2 + 14/N)·P; 16·P/N", inputs="parameters and GPUs",
        tables=("zero_memory",), points=tuple(points), unit="GB", digits=1.0,
    )  # fmt: skip


def transformer_memory() -> DataSet:
    """State and activations of four transformers on 8 to 512 GPUs."""
    points = []
    for row in table("transformer_memory").rows:
        shape = {key: int(row[key]) for key in ("layers", "heads", "hidden", "microbatch", "tensor", "stages", "chunks")}
        model = transformer.Transformer(sequence=2048, **shape)
        found = (
            ("state", "state_gib", transformer.state_bytes(model)),
            ("activations", "activations_gib", transformer.activation_bytes(model)),
            ("activations, selective", "selective_gib", transformer.activation_bytes_selective(model)),
        )
        for what, column, value in found:
            points.append(
                Point(label=f"{row['model']}, {what}", predicted=value / GIB, measured=_of(row, column), printed=row[column])
            )
    return DataSet(
        name="transformer_memory", title="State and activations of a transformer", kind="worked example", model="18 bytes a parameter; s·b·h·L·(10 + 24/t + 5as/(ht)); 34·s·b·h·L/t",
        inputs="shapes", tables=("transformer_memory",), points=tuple(points), unit="GiB",
    )  # fmt: skip


# Matrix products.

ELEMENT_BYTES = {"FP32": 4, "FP16": 2, "FP8": 1}


def _product(row: Row, peak: float, memory: float, precision: str) -> float:
    m, n, k = int(row["m"]), int(row["n"]), int(row["k"])
    return product_s(rows=m, inner=k, columns=n, element_bytes=ELEMENT_BYTES[precision], peak_flop_per_s=peak, bytes_per_s=memory)


def _flop(row: Row) -> float:
    return 2.0 * int(row["m"]) * int(row["n"]) * int(row["k"])


def _shape(row: Row) -> str:
    return f"{row['m']} × {row['n']} × {row['k']}"


def roofline() -> DataSet:
    """960 products on three GPUs: none beats the roofline of its data sheet."""
    points = []
    for row in table("matmul_deepbench").rows:
        gpu, precision = GPUS[row["gpu"]], row["precision"].upper()
        found = _product(row, gpu.peaks[precision], gpu.memory_bytes_per_s, precision)
        label = f"{row['gpu']} {precision}, {_shape(row)}"
        points.append(Point(label=label, predicted=found, measured=_of(row, "time_ms") * MS, size=_flop(row)))
    return DataSet(
        name="roofline", title="Products of DeepBench", kind="bound", model="max(2mnk/peak, bytes/bandwidth)", inputs="data sheet", tables=("matmul_deepbench",),
        points=tuple(points), unit="ms",
    )  # fmt: skip


def _azure(ceilings: dict[str, float], left_out: Sequence[Row]) -> tuple[Point, ...]:
    return tuple(
        Point(
            label=f"{row['gpu']} {row['precision']}, {_shape(row)}",
            predicted=_product(row, ceilings[row["gpu"]], GPUS[row["gpu"]].memory_bytes_per_s, row["precision"]),
            measured=_flop(row) / (_of(row, "tflop_per_s") * TFLOP),
            gated=min(int(row[side]) for side in "mnk") >= _size("side"),
            size=_flop(row),
        )
        for row in table("matmul_azure").rows
        if row not in left_out
    )


def matmul() -> DataSet:
    """Products on A100, H100 and H200: the fastest of each GPU is its ceiling."""
    best = {gpu: max(_rows("matmul_azure", gpu=gpu), key=lambda row: _of(row, "tflop_per_s")) for gpu in ("A100", "H100", "H200")}
    ceilings = {gpu: _of(row, "tflop_per_s") * TFLOP for gpu, row in best.items()}
    return DataSet(
        name="matmul", title="Products on A100, H100, H200", kind="prediction", model="max(2mnk/ceiling, bytes/bandwidth)",
        inputs="data sheet of the memory; for each GPU, its best rate in the table", constants=3, tables=("matmul_azure",),
        points=_azure(ceilings, list(best.values())), unit="ms", gate=_gate("matmul"), where=f"every side from {text.show(_size('side'))}",
    )  # fmt: skip


def matmul_elsewhere() -> DataSet:
    """The same, with the best rate that somebody else found on such a GPU."""
    chips = {"A100": ("BF16", "NVIDIA A100 SXM"), "H100": ("FP8", "NVIDIA H100 SXM"), "H200": ("FP8", "NVIDIA H200 SXM")}
    ceilings = {
        gpu: _of(_rows("matmul_best", precision=precision, accelerator=chip)[0], "tflop_per_s") * TFLOP
        for gpu, (precision, chip) in chips.items()
    }
    return DataSet(
        name="matmul_elsewhere", title="Products with ceilings from elsewhere", kind="prediction", model="max(2mnk/ceiling, bytes/bandwidth)",
        inputs="data sheet of the memory; for each GPU, the best rate on another machine", constants=3, tables=("matmul_azure", "matmul_best"),
        points=_azure(ceilings, []), unit="ms", gate=_gate("matmul_elsewhere"), where=f"every side from {text.show(_size('side'))}",
        reason="The ceiling comes from a search over many shapes, on another machine. The A100 of the table never gets that far: at its best it "
        "stays below that ceiling, and all its errors start from there.",
    )  # fmt: skip


def best() -> DataSet:
    """The best rates that a search over shapes found, on many chips: none reaches the peak of its data sheet."""
    points = tuple(
        Point(
            label=f"{row['accelerator']}, {row['precision']}",
            predicted=_flop(row) / (_of(row, "peak_tflop_per_s") * TFLOP),
            measured=_flop(row) / (_of(row, "tflop_per_s") * TFLOP),
            size=_flop(row),
        )
        for row in table("matmul_best").rows
    )
    return DataSet(
        name="best", title="The best product of each chip", kind="bound", model="2mnk/peak", inputs="data sheet", tables=("matmul_best",), points=points, unit="ms",
    )  # fmt: skip


# PCIe.


def _pcie(name: str, title: str, direction: str) -> DataSet:
    timed = [
        (_of(row, "size_bytes"), _of(row, "size_bytes") / (_of(row, "gb_per_s") * GB)) for row in _rows("pcie", direction=direction)
    ]
    fitted = [next(each for each in timed if each[0] == 50e3), max(timed)]
    alpha, rate = two_points(*fitted)
    points = tuple(
        Point(
            label=f"{size / 1e3:g} KB",
            predicted=hardware.move_s(size_bytes=size, bytes_per_s=rate, latency_s=alpha),
            measured=time,
            size=size,
        )
        for size, time in timed
        if (size, time) not in fitted
    )
    return DataSet(
        name=name, title=title, kind="fit", model="α + S/B", inputs="latency and rate, from the copies of 50 KB and 68 MB", constants=2, tables=("pcie",),
        points=points, unit="ms", gate=_gate(name), rule="median", where="all",
    )  # fmt: skip


def pcie_up() -> DataSet:
    """Copies to a V100."""
    return _pcie("pcie_up", "Copies to a V100 over PCIe 3.0", "H2D")


def pcie_down() -> DataSet:
    """Copies from a V100."""
    return _pcie("pcie_down", "Copies from a V100 over PCIe 3.0", "D2H")


MAKERS: tuple[Callable[[], DataSet], ...] = (
    ring_node, ring_nodes, ring_mi325x, flat_b200, hierarchy_b200, allreduce_a100, ddp_buckets, ddp_step, parameter_server, baidu, baidu_step,
    goyal, learning_rates, pipeline, interleaved, bubbles, zero_memory, transformer_memory, roofline, best, matmul, matmul_elsewhere,
    pcie_up, pcie_down,
)  # fmt: skip
