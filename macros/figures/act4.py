"""The figures and tables of act 4: pipes, bursts, disks, arithmetic and the latency ladder.

Most axes are logarithmic, so dots and lines stand for values there, never bars: a bar's length needs a zero.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

import plotly.graph_objects as go

from macros import text
from macros.evaluate import book
from macros.figures.core import Drawn, count, value
from macros.quantity import value_text
from macros.tables import Cell, Name, Num, Table
from macros.timelines import in_unit, lanes_axis
from perfmodel import hardware
from perfmodel.book.act4 import PIPES
from perfmodel.ladder import LADDER, Latency, rescaled
from perfmodel.wording import feels_like

_BOOK = "worked example · Dive into Deep Learning 13.4"

_ROLE = {"cpu": "host", "memory": "host", "gpu": "compute", "bus": "transfer", "network": "transfer", "storage": "fetch"}
_ROLE_NAMES = {"host": "CPU and its memory", "compute": "GPU", "transfer": "buses and networks", "fetch": "storage"}


class _Dot(NamedTuple):
    """A lane with one dot: its name, the value (SI), the words beside the dot, its role."""

    lane: str
    at: float
    words: str
    role: str


def _shown(name: str) -> str:
    """A number of the book, as it reads best."""
    return value_text(book()[name])


def _log(at: float, unit: str) -> float:
    """Where a value stands on a log axis: a note is placed by its power of ten."""
    return math.log10(in_unit(at, unit))


GAP = 8  # px from the middle of a dot to the words beside it


def _beside(x: float, y: str | float, words: str, role: str, span: tuple[float, float], turn: float = 0.62) -> dict[str, object]:
    """A note to the right of a dot, or to its left from the share `turn` of the axis on."""
    low, high = span
    left = x > low + turn * (high - low)
    return {
        "name": role,
        "x": x,
        "xshift": -GAP if left else GAP,
        "y": y,
        "text": words,
        "showarrow": False,
        "xanchor": "right" if left else "left",
        "yanchor": "middle",
    }


def _dots(
    rows: Sequence[_Dot],
    *,
    title: str,
    unit: str,
    span: tuple[float, float],
    ticks: tuple[list[float], list[str]] | None = None,
    legend: bool = False,
) -> go.Figure:
    """Dots on lanes over a log axis, each with its value beside it. `span` is the axis in powers of ten of `unit`."""
    figure = go.Figure()
    for role in dict.fromkeys(row.role for row in rows):
        own = [row for row in rows if row.role == role]
        figure.add_scatter(
            x=[in_unit(row.at, unit) for row in own],
            y=[row.lane for row in own],
            mode="markers",
            name=_ROLE_NAMES[role] if legend else None,
            meta={"role": role},
            hovertext=[f"{row.lane}: {row.words}" for row in own],
            hoverinfo="text",
        )
    axis = {"title": {"text": title}, "type": "log", "range": list(span)}
    figure.update_layout(
        height=70 + 28 * len(rows),
        showlegend=legend,
        xaxis={**axis, **({"tickvals": ticks[0], "ticktext": ticks[1]} if ticks else {})},
        yaxis=lanes_axis([row.lane for row in rows]),
    )
    # All notes at once: Plotly checks the whole list again each time that one is added.
    figure.update_layout(annotations=[_beside(_log(row.at, unit), row.lane, row.words, row.role, span) for row in rows])
    return figure


_PIPE_GROUP = {
    "gpu_memory": "gpu", "cpu_memory": "memory", "pcie4": "bus", "pcie3": "bus", "ethernet": "network", "nvme": "storage", "hdd": "storage",
}  # fmt: skip


def pipe_times() -> Drawn:
    """A dot that moves right at every row: the same bytes, and a pipe that is narrower each time."""
    rows = [
        _Dot(
            f"{pipe.name} · {_shown(f'pipes.{id}')}", value(f"pipes.{id}_time"), _shown(f"pipes.{id}_time"), _ROLE[_PIPE_GROUP[id]]
        )
        for id, pipe in PIPES.items()
    ]
    return Drawn(
        _dots(rows, title="time (ms), log scale", unit="ms", span=(-1, 3.3), legend=True),
        'The pipe decides: [= q("160 MB", pipes.size) =] take [= q("0.32 ms", pipes.gpu_memory_time) =] or [= q("800 ms", pipes.hdd_time) =]',
        'Dots on a logarithmic axis. GPU memory [= q("0.32 ms", pipes.gpu_memory_time) =], CPU memory [= q("1.6 ms", pipes.cpu_memory_time) =], '
        'PCIe 4.0 [= q("5 ms", pipes.pcie4_time) =], PCIe 3.0 [= q("10 ms", pipes.pcie3_time) =], Ethernet [= q("16 ms", pipes.ethernet_time) =], '
        'an NVMe drive [= q("20 ms", pipes.nvme_time) =], a hard disk [= q("800 ms", pipes.hdd_time) =].',
        "Beside each pipe: the bytes that it carries in a second. Latency is left out.",
        Table(
            ("Pipe", "Carries", '[= q("160 MB", pipes.size) =] take', "What kind of rate"),
            [
                [Name(pipe.name), Num(value(f"pipes.{id}"), "GB/s"), Num(value(f"pipes.{id}_time"), "ms"), pipe.kind]
                for id, pipe in PIPES.items()
            ],
        ),
        kind="example",
        badge=_BOOK,
    )


def burst_bandwidth() -> Drawn:
    """A line that climbs for a long way and bends under a ceiling: only long reads get what the memory can give."""
    width, first, beat = (value(f"memory.{name}") for name in ("word", "first", "beat"))
    marked = [1, count("memory.words")]
    beats = sorted({*(round(10 ** (k / 5)) for k in range(26)), *marked})
    rates = {n: hardware.burst_bytes_per_s(beats=n, width_bytes=width, first_s=first, beat_s=beat) for n in beats}
    limit = in_unit(value("memory.limit"), "GB/s")
    sizes = {n: n * width for n in beats}
    figure = go.Figure(
        [
            go.Scatter(
                x=[sizes[n] for n in beats], y=[in_unit(rates[n], "GB/s") for n in beats], mode="lines", meta={"role": "transfer"}
            ),
            go.Scatter(
                x=[sizes[n] for n in marked],
                y=[in_unit(rates[n], "GB/s") for n in marked],
                mode="markers",
                meta={"role": "transfer"},
                hovertext=[f"{text.show(sizes[n], 'B')}: {text.show(rates[n], 'GB/s')}" for n in marked],
                hoverinfo="text",
            ),
        ]
    )
    ticks = [10.0**k for k in range(1, 7)]
    figure.update_layout(
        height=300,
        showlegend=False,
        xaxis={
            "title": {"text": "length of a read, log scale"},
            "type": "log",
            "range": [0.75, 6.2],
            "tickvals": ticks,
            "ticktext": [text.show(at, "B" if at < 1e3 else "KB" if at < 1e6 else "MB") for at in ticks],
        },
        yaxis={"title": {"text": "effective bandwidth (GB/s), log scale"}, "type": "log", "range": [-1.4, 2.1]},
    )
    figure.add_shape(type="line", name="total", xref="paper", x0=0, x1=1, y0=limit, y1=limit, line={"dash": "dash"})
    figure.add_annotation(
        name="total", x=0.9, y=math.log10(limit) + 0.22, text=f"limit: {_shown('memory.limit')}", showarrow=False, xanchor="left"
    )
    notes = (
        (marked[0], f"one word: {_shown('memory.random_rate')}"),
        (marked[1], f"{marked[1]} words: {text.show(rates[marked[1]], 'GB/s', 0)}"),
    )
    for n, words in notes:
        figure.add_annotation(
            name="transfer",
            x=math.log10(sizes[n]),
            xshift=GAP,
            y=math.log10(in_unit(rates[n], "GB/s")),
            yshift=-1.5 * GAP,
            text=words,
            showarrow=False,
            xanchor="left",
        )
    return Drawn(
        figure,
        'Single words at random get [= q("80 MB/s", memory.random_rate) =]; long reads come close to [= q("40 GB/s", memory.limit) =]',
        'Line of effective bandwidth over the length of a read, both axes logarithmic. It starts at [= q("0.08 GB/s", memory.random_rate) =] for a word of '
        '[= q("8 B", memory.word) =], passes [= q("20 GB/s", memory.burst_rate) =] at [= q("501", memory.words) =] words, and bends under a limit of '
        '[= q("40 GB/s", memory.limit) =].',
        'A bus of [= q("8 B", memory.word) =]: [= q("100 ns", memory.first) =] for the first word, [= q("0.2 ns", memory.beat) =] for each one that follows.',
        Table(
            ("Words in a row", "Bytes", "Effective bandwidth"),
            [[Num(n), Num(sizes[n], "B"), Num(rates[n], "GB/s", 2)] for n in beats],
        ),
        badge="cost model · GB/s",
    )


def disk_times() -> Drawn:
    """One dot far to the right: a hard disk that has to seek for every record. In sequence it is with the fast ones."""
    names = {
        "hdd_random": "hard disk, at random",
        "hdd_sequential": "hard disk, in sequence",
        "ssd_random": "SSD, at random",
        "ssd_fast_random": "fast SSD, at random",
    }
    rows = [
        _Dot(words, value(f"disk.{id}"), text.show(value(f"disk.{id}"), unit, places), "fetch")
        for (id, words), (unit, places) in zip(names.items(), (("s", 0), ("ms", 0), ("ms", 0), ("ms", 0)), strict=True)
    ]
    marks = [10.0**k for k in range(-2, 4)]
    return Drawn(
        _dots(
            rows,
            title="time, log scale",
            unit="s",
            span=(-2.2, 3.1),
            ticks=(marks, [text.show(mark, "s" if mark >= 1 else "ms") for mark in marks]),
        ),
        '[= q("10,000", disk.records) =] records cost a hard disk [= q("100 s", disk.hdd_random) =] at random, [= q("210 ms", disk.hdd_sequential) =] in sequence',
        'Dots on a logarithmic axis. A hard disk takes [= q("100 s", disk.hdd_random) =] at random and [= q("210 ms", disk.hdd_sequential) =] in sequence. '
        'At random, an SSD takes [= q("100 ms", disk.ssd_random) =] and a fast one [= q("20 ms", disk.ssd_fast_random) =].',
        '[= q("10,000", disk.records) =] records of [= q("4 KB", disk.record) =]. The SSDs have [= q("100,000 IOPS", disk.ssd) =] and '
        '[= q("1 GB/s", disk.ssd_rate) =], or [= q("500,000 IOPS", disk.ssd_fast) =] and [= q("3 GB/s", disk.ssd_fast_rate) =].',
        Table(("Drive and order", "Time"), [[Name(row.lane), Num(row.at, "s")] for row in rows]),
        badge="cost model · s",
    )


def core_peaks() -> Drawn:
    """The same clock in every row: what grows is how much happens in one beat of it."""
    width, lanes, tensors = count("v100.width"), count("v100.lanes"), count("v100.tensor_cores")
    rows = [
        _Dot("one lane", value("v100.lane"), _shown("v100.lane"), "compute"),
        _Dot(f"SIMD: {width} lanes", value("v100.block"), text.show(value("v100.block"), "GFLOP/s", 0), "compute"),
        _Dot(f"all {lanes} lanes", value("v100.all_lanes"), text.show(value("v100.all_lanes"), "TFLOP/s", 1), "compute"),
        _Dot(
            f"{tensors} tensor cores",
            value("v100.all_tensor_cores"),
            text.show(value("v100.all_tensor_cores"), "TFLOP/s", 0),
            "compute",
        ),
    ]
    marks = [10.0**k for k in range(9, 15)]
    return Drawn(
        _dots(
            rows,
            title="FLOP/s at best, log scale",
            unit="FLOP/s",
            span=(8.8, 14.7),
            ticks=(marks, [text.show(m, "TFLOP/s" if m >= 1e12 else "GFLOP/s").partition("FLOP")[0] for m in marks]),
        ),
        'One lane makes [= q("3.06 GFLOP/s", v100.lane) =]; all tensor cores together make [= q("125 TFLOP/s", v100.all_tensor_cores) =]',
        'Dots on a logarithmic axis, for a V100. One lane [= q("3.06 GFLOP/s", v100.lane) =]; [= q("16", v100.width) =] lanes under one instruction '
        '[= q("49 GFLOP/s", v100.block) =]; all [= q("5120", v100.lanes) =] lanes [= q("15.7 TFLOP/s", v100.all_lanes) =]; '
        '[= q("640", v100.tensor_cores) =] tensor cores [= q("125 TFLOP/s", v100.all_tensor_cores) =].',
        "All on one NVIDIA V100, at one clock. Lanes compute in FP32; tensor cores multiply FP16 numbers and add in FP32.",
        Table(("Unit", "Peak"), [[Name(row.lane), Num(row.at, "TFLOP/s", 5 if row.at < 1e12 else 1)] for row in rows]),
        badge="derived from NVIDIA's V100 white paper",
    )


def roofline() -> Drawn:
    """A slope where memory is the limit, a flat roof where arithmetic is. The sum hangs low on the slope, the product is under the roof."""
    memory, ridge, tensor_ridge = (value(f"roofline.{name}") for name in ("memory", "ridge", "tensor_ridge"))
    low, high = 0.01, 10_000.0

    def at(intensity: float, peak: str) -> float:
        return in_unit(
            hardware.attainable_flop_per_s(flop_per_byte=intensity, peak_flop_per_s=value(f"roofline.{peak}"), bytes_per_s=memory),
            "TFLOP/s",
        )

    points = {
        "sum": ("elementwise", "transfer"),
        "matrix product": ("matmul", "compute"),
    }
    figure = go.Figure(
        [
            go.Scatter(
                x=[low, tensor_ridge],
                y=[at(low, "tensor_peak"), at(tensor_ridge, "tensor_peak")],
                mode="lines",
                name="limited by memory",
                meta={"role": "transfer"},
                line={"dash": "dot"},
            ),
            go.Scatter(
                x=[ridge, high],
                y=[at(ridge, "peak"), at(high, "peak")],
                mode="lines",
                name="by arithmetic, FP32",
                meta={"role": "compute"},
            ),
            go.Scatter(
                x=[tensor_ridge, high],
                y=[at(tensor_ridge, "tensor_peak"), at(high, "tensor_peak")],
                mode="lines",
                name="by arithmetic, tensor cores",
                meta={"role": "compute"},
                line={"dash": "dash"},
            ),
            *(
                go.Scatter(
                    x=[value(f"roofline.{name}")],
                    y=[in_unit(value(f"roofline.{name}_rate"), "TFLOP/s")],
                    mode="markers",
                    meta={"role": role},
                    showlegend=False,
                    hovertext=[f"{words}: {_shown(f'roofline.{name}')}, {_shown(f'roofline.{name}_rate')}"],
                    hoverinfo="text",
                )
                for words, (name, role) in points.items()
            ),
        ]
    )
    figure.update_layout(
        height=320,
        xaxis={"title": {"text": "intensity (FLOP for each byte moved), log scale"}, "type": "log", "range": [-2, 4]},
        yaxis={"title": {"text": "TFLOP/s at best, log scale"}, "type": "log", "range": [-2.1, 2.6]},
    )
    x = math.log10(ridge)
    figure.add_shape(type="line", name="total", x0=ridge, x1=ridge, y0=10**-2.1, y1=at(ridge, "peak"), line={"dash": "dot"})
    figure.add_annotation(
        name="total", x=x - 0.08, y=-1.8, text=f"ridge: {text.show(ridge, places=1)}", showarrow=False, xanchor="right"
    )
    for words, (name, role) in points.items():
        intensity, rate = value(f"roofline.{name}"), in_unit(value(f"roofline.{name}_rate"), "TFLOP/s")
        figure.add_annotation(
            name=role,
            x=math.log10(intensity),
            xshift=GAP if role == "transfer" else 0,
            y=math.log10(rate),
            yshift=-GAP if role == "transfer" else -2 * GAP,
            text=words,
            showarrow=False,
            xanchor="left" if role == "transfer" else "center",
        )
    rows: list[list[Cell]] = [
        [Name(words), Num(value(f"roofline.{name}"), "FLOP/B"), Num(value(f"roofline.{name}_rate"), "TFLOP/s")]
        for words, (name, _) in points.items()
    ]
    rows += [
        [Name("ridge, FP32"), Num(ridge, "FLOP/B"), Num(value("roofline.peak"), "TFLOP/s")],
        [Name("ridge, tensor cores"), Num(tensor_ridge, "FLOP/B"), Num(value("roofline.tensor_peak"), "TFLOP/s")],
    ]
    return Drawn(
        figure,
        'In FP32, memory is the limit left of [= q("17.4 FLOP/B", roofline.ridge) =]: a sum uses [= q("0.5 %", roofline.elementwise_share) =] of the peak, a large matrix product all',
        'Roofline of a V100, both axes logarithmic. A slope rises with intensity to [= q("15.7 TFLOP/s", roofline.peak) =] at the ridge of '
        '[= q("17.4 FLOP/B", roofline.ridge) =], and stays flat from there; for tensor cores it rises on to [= q("125 TFLOP/s", roofline.tensor_peak) =] at '
        '[= q("139 FLOP/B", roofline.tensor_ridge) =]. The elementwise sum lies on the slope at [= q("0.083 FLOP/B", roofline.elementwise) =], the matrix product '
        'under the flat roof at [= q("683 FLOP/B", roofline.matmul) =].',
        'A V100 with [= q("900 GB/s", roofline.memory) =] of memory bandwidth, at its data sheet\'s peaks. The product is of '
        '[= q("4096", roofline.side) =] × [= q("4096", roofline.side) =] matrices in FP32.',
        Table(
            ("Point", "Intensity (FLOP/B)", "At best"),
            rows,
        ),
        badge="cost model · vendor peaks of a V100",
    )


# Short names for the dots of the figure, * where the size of the access goes; the table beside it has the full ones.
_SHORT = {
    "l1": "L1 hit", "fma": "float multiply-add", "l2": "L2 hit", "branch": "branch mispredict", "l3": "L3 hit", "l3_shared": "L3, shared",
    "mutex": "mutex lock", "l3_modified": "L3, modified", "gpu_shared": "GPU shared memory", "l3_remote": "L3, other socket", "qpi": "QPI hop",
    "ram_local_64": "RAM", "ram_remote_64": "RAM, other socket", "ram_local_256": "RAM, *", "optane_write": "Optane write",
    "ram_remote_256": "RAM, other, *", "gpu_global": "GPU global memory", "optane_read": "Optane read", "fabric_4k": "*, fabric",
    "snappy_1k": "compress *", "launch": "kernel launch", "ethernet_4k": "Ethernet *", "nvme_write_4k": "NVMe write",
    "nvlink_1m": "*, NVLink", "pcie_1m": "*, PCIe", "nvme_read_4k": "NVMe read *", "nvme_read_1m": "NVMe read *",
    "sata_write_4k": "SATA write *", "sata_read_4k": "SATA read *", "rtt_datacenter": "datacenter trip", "sata_read_1m": "SATA read *",
    "disk_read_1m": "disk read *", "hdd_random": "disk seek", "packet": "CA → NL → CA",
}  # fmt: skip


def _action(words: str) -> str:
    """What a rung does, as it is set in print."""
    return text.typeset(words).replace("->", "→")


def _short(row: Latency) -> str:
    """The short name of a rung, with the size of its access as the full one has it."""
    size = re.search(r"\d+ [KM]B", row.action)
    return _SHORT[row.id].replace("*", size[0] if size else "")


def ladder_rungs() -> Drawn:
    """A staircase to the lower right, the name of each rung beside it: every vertical line is ten times the one before."""
    span = (-9.15, -0.3)
    figure = go.Figure()
    for role, name in _ROLE_NAMES.items():
        own = [(place, row) for place, row in enumerate(LADDER) if _ROLE[row.group] == role]
        figure.add_scatter(
            x=[value(f"ladder.{row.id}") for _, row in own],
            y=[place for place, _ in own],
            mode="markers",
            name=name,
            meta={"role": role},
            hovertext=[f"{_action(row.action)}: {_shown(f'ladder.{row.id}')}" for _, row in own],
            hoverinfo="text",
        )
    marks = [10.0**k for k in range(-9, 0)]
    words = {-9: text.show(1e-9, "ns"), -6: text.show(1e-6, "µs"), -3: text.show(1e-3, "ms")}
    figure.update_layout(
        height=90 + 20 * len(LADDER),
        xaxis={
            "title": {"text": "time, log scale"},
            "type": "log",
            "range": list(span),
            "tickvals": marks,
            "ticktext": [words.get(round(math.log10(mark)), "") for mark in marks],
        },
        yaxis={"range": [len(LADDER) - 0.4, -0.6], "tickvals": [], "ticktext": []},
    )
    figure.update_layout(
        annotations=[
            _beside(
                _log(value(f"ladder.{row.id}"), "s"),
                place,
                f"{_short(row)} · {_shown(f'ladder.{row.id}')}",
                _ROLE[row.group],
                span,
                turn=0.5,
            )
            for place, row in enumerate(LADDER)
        ]
    )
    return Drawn(
        figure,
        'From a cache hit, [= q("1.5 ns", ladder.l1) =], to a packet overseas, [= q("150 ms", ladder.packet) =]: '
        '[= q("eight orders of magnitude", ladder.spread) =]',
        'Dots on a logarithmic axis, [= q("34", ladder.rungs) =] of them, from an L1 hit of [= q("1.5 ns", ladder.l1) =] by way of a kernel launch of '
        '[= q("10 µs", ladder.launch) =] and a disk seek of [= q("10 ms", ladder.hdd_random) =] to a packet across the Atlantic and back, '
        '[= q("150 ms", ladder.packet) =]. Caches come first, then memory, then buses, networks and drives.',
        "All rows of the table below, in its order. Times are Eliot Eshelman's.",
        Table(
            ("Action", "Time"),
            [[Name(_action(row.action)), Num(value(f"ladder.{row.id}"), book()[f"ladder.{row.id}"].unit)] for row in LADDER],
        ),
        kind="example",
        badge="given · Eliot Eshelman's table",
    )


def ladder() -> Table:
    """Every rung: its time, how long it would feel if an L1 hit took a second, and the author's note."""
    feels = rescaled("l1")
    rows: list[list[Cell]] = [
        [
            Name(_action(row.action)),
            Num(value(f"ladder.{row.id}"), book()[f"ladder.{row.id}"].unit),
            Name(text.typeset(feels_like(feels[row.id], row.id == "l1"))),
            Name(text.typeset(row.note)),
        ]
        for row in LADDER
    ]
    return Table(
        ("Action", "Time", "Feels like", "Note"),
        rows,
        "Times and notes by Eliot Eshelman, as reprinted in Dive into Deep Learning, section 13.4. Feels like: if an L1 hit took a second.",
    )


FIGURES: dict[str, Callable[[], Drawn]] = {
    "pipe-times": pipe_times,
    "burst-bandwidth": burst_bandwidth,
    "disk-times": disk_times,
    "core-peaks": core_peaks,
    "roofline": roofline,
    "ladder-rungs": ladder_rungs,
}
TABLES: dict[str, Callable[[], Table]] = {"ladder": ladder}
