"""The figures and tables of the Reality page: predicted against measured, and by how much each prediction is off.

A point on the dashed line is as predicted; below it reality took longer. Where a set has hundreds of points, a few are drawn, evenly
spread over all in order of what was measured; the tests hold all of them.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import plotly.graph_objects as go

from macros import published, reality, text
from macros.figures.core import Drawn
from macros.gates import Point, gate_words
from macros.reality import data_set
from macros.tables import TIMES, Cell, Instead, Link, Name, Num, Signed, Table, scaled
from perfmodel.units import MS

BADGE = "published measurements beside a cost model"


class Series(NamedTuple):
    """Points under one name, in one role's colour."""

    name: str
    role: str
    points: Sequence[Point]
    muted: bool = False


def thinned(points: Sequence[Point], most: int) -> list[Point]:
    """At most `most` points, evenly spread over all in order of what was measured, both ends among them.

    >>> [round(point.measured) for point in thinned([Point(label="", predicted=1, measured=m) for m in range(1, 101)], 4)]
    [1, 34, 67, 100]
    """
    ordered = sorted(points, key=lambda point: point.measured)
    if len(ordered) <= most:
        return ordered
    return [ordered[round(i * (len(ordered) - 1) / (most - 1))] for i in range(most)]


def _series(name: str, words: str, role: str, most: int = 1000) -> list[Series]:
    """The points of a data set: those that are gated, and as a series of hollow ones those that are not; `most` thins each of the two."""
    each = data_set(name)
    beyond = [point for point in each.points if not point.gated]
    parts = [Series(words, role, thinned(each.gated, most))]
    return [*parts, Series(f"{words}, no gate", role, thinned(beyond, most), True)] if beyond else parts


def _dots(part: Series, x: Sequence[float], y: Sequence[float]) -> dict[str, Any]:
    """A trace; as a plain dict, since figures made of Plotly's objects one by one take several times as long to make."""
    digits = [[float(f"{value:.4g}") for value in values] for values in (x, y)]
    return {
        "type": "scatter", "x": digits[0], "y": digits[1], "mode": "markers", "name": part.name,
        "meta": {"role": part.role, "muted": part.muted},
    }  # fmt: skip


def _span(values: Sequence[float]) -> list[float]:
    """The decades that hold all values, with some room."""
    low, high = math.log10(min(values)), math.log10(max(values))
    room = 0.06 * (high - low) + 0.02
    return [low - room, high + room]


def _against(parts: Sequence[Series], what: str, size: float, decimals: Sequence[float] | None = None) -> go.Figure:
    """Predicted over measured on two log axes with one range, and the line on which they agree; `size` is a unit in what points are in."""
    traces: list[dict[str, Any]] = []
    every: list[float] = []
    for part in parts:
        measured, predicted = ([getattr(point, way) / size for point in part.points] for way in ("measured", "predicted"))
        every += [*measured, *predicted]
        traces.append(_dots(part, measured, predicted))
        if any(point.high is not None for point in part.points):
            highs = [(point.high or point.predicted) / size for point in part.points]
            every += highs
            traces.append(_dots(part._replace(name=f"{part.name}, at the most", muted=True), measured, highs))
    span = _span(every)
    ends = [10.0**end for end in span]
    line = {
        "type": "scatter",
        "x": ends,
        "y": ends,
        "mode": "lines",
        "name": "as predicted",
        "meta": {"role": "idle"},
        "line": {"dash": "dash"},
    }
    axis: dict[str, Any] = {"type": "log", "range": span}
    if decimals:
        axis |= {"tickvals": list(decimals), "ticktext": [f"{value:g}" for value in decimals], "tickmode": "array"}
    axes = {
        f"{letter}axis": {**axis, "title": {"text": f"{way} ({what}), log scale"}}
        for letter, way in (("x", "measured"), ("y", "predicted"))
    }
    return go.Figure({"data": [*traces, line], "layout": {"height": 380, **axes}})


def _errors(
    parts: Sequence[Series],
    x: str,
    ticks: Sequence[tuple[float, str]],
    gate: float,
    *,
    wrong: tuple[float, float, str] | None = None,
    span: tuple[float, float] = (-105, 25),
    height: int = 320,
) -> go.Figure:
    """Signed errors over the size of what was done; dashed lines are the gate, dotted ones bound the region where the model is wrong."""
    traces = [_dots(part, [point.size for point in part.points], [100 * point.error for point in part.points]) for part in parts]
    lines: list[dict[str, Any]] = [
        {"type": "line", "name": "total", "x0": 0, "x1": 1, "xref": "paper", "y0": y, "y1": y, "line": {"dash": "dash"}}
        for y in (100 * gate, -100 * gate)
    ]
    notes: list[dict[str, Any]] = []
    if wrong:
        lines += [
            {"type": "line", "name": "total", "x0": at, "x1": at, "y0": 0, "y1": 1, "yref": "paper", "line": {"dash": "dot"}}
            for at in wrong[:2]
        ]
        middle = (math.log10(wrong[0]) + math.log10(wrong[1])) / 2
        notes.append({
            "name": "total", "x": middle, "y": 1, "yref": "paper", "text": wrong[2], "showarrow": False, "xanchor": "center", "yanchor": "bottom",
        })  # fmt: skip
    layout = {
        "height": height, "shapes": lines, "annotations": notes,
        "xaxis": {
            "type": "log", "range": _span([point.size for part in parts for point in part.points]), "title": {"text": f"{x}, log scale"},
            "tickmode": "array", "tickvals": [at for at, _ in ticks], "ticktext": [words for _, words in ticks],
        },
        "yaxis": {"title": {"text": "error of the prediction (%)"}, "range": list(span)},
    }  # fmt: skip
    return go.Figure({"data": traces, "layout": layout})


def _cell(value: float, unit: str) -> Num:
    return scaled(value, TIMES) if unit == "ms" else Num(value, unit, 1 if unit == "%" else None)


def _table(parts: Sequence[Series], unit: str) -> Table:
    """All points that are drawn, each with its error."""
    ranged = any(point.high is not None for part in parts for point in part.points)
    rows: list[list[Cell]] = []
    for part in parts:
        for point in part.points:
            most = [Instead() if point.high is None else _cell(point.high, unit)] if ranged else []
            error = Signed(point.error) if point.high is None else Instead()
            rows.append([Name(point.label), _cell(point.measured, unit), _cell(point.predicted, unit), *most, error])
    head = ("Point", "Measured", "Predicted", *(["At the most"] if ranged else []), "Error")
    return Table(head, rows)


def _error_table(parts: Sequence[Series]) -> Table:
    """The same points by their errors alone."""
    return Table(("Points", "Drawn", "Min", "Median", "Max"), [
        [Name(part.name), Num(len(part.points)), *(Signed(f([p.error for p in part.points])) for f in (min, statistics.median, max))]
        for part in parts
    ])  # fmt: skip


# Collectives.


def collectives() -> Drawn:
    """On the line at both ends; far below it in between."""
    parts = [
        *_series("allreduce_a100", "A100, fit", "transfer", 12),
        *_series("flat_b200", "nodes of B200, data sheet", "compute", 8),
        *_series("ring_mi325x", "nodes of MI325X, a constant", "update")[:1],
    ]
    close = [*_series("ring_node", "H200 and B200", "host"), *_series("ring_nodes", "nodes of H200", "host")]
    return Drawn(
        _against(parts, "ms", MS),
        'Give a ring one measured rate: from [= q("8 GiB", sizes.rings) =] up it is off by [= q("−0.30 % to 0.17 %", reality.ring_mi325x_low, reality.ring_mi325x_high) =], also with [= q("64", sizes.ranks) =] GPUs',
        "Predicted over measured time of an allreduce, both on log scales. Large messages lie near the line on all machines: nodes of MI325X, with a measured rate, are off by "
        '[= q("−0.30 % to 0.17 %", reality.ring_mi325x_low, reality.ring_mi325x_high) =] from [= q("8 GiB", sizes.rings) =] up, nodes of B200, with the data sheet alone, by '
        '[= q("−9.5 % to −4.6 %", reality.flat_b200_low, reality.flat_b200_high) =] from [= q("1 GiB", sizes.large) =] up. In the middle the points lie below it: reality is slower.',
        "A point is one size on one machine, and some are left out; hollow ones are held by no gate. Below the dashed line reality was slower. The table also holds rings over H200 and B200, "
        "which would lie on top of the others.",
        _table([*parts, *close], "ms"),
        badge=BADGE,
    )


def collectives_error() -> Drawn:
    """Flat at both ends, and a deep valley between."""
    parts = [
        *_series("allreduce_a100", "A100, fit", "transfer", 12),
        *_series("flat_b200", "nodes of B200, data sheet", "compute", 8),
    ]
    powers = ((6, "B"), (11, "KiB"), (16, "KiB"), (21, "MiB"), (26, "MiB"), (32, "GiB"))
    ticks = [(2.0**power, text.show(2**power, unit)) for power, unit in powers]
    figure = _errors(parts, "size of the message", ticks, data_set("allreduce_a100").gate, wrong=(2.0**16, 2.0**26, "wrong here"))
    return Drawn(
        figure,
        'Between [= q("64 KiB", sizes.wrong_from) =] and [= q("64 MiB", sizes.wrong_to) =] the formula is wrong: its error falls to [= q("−46 %", reality.allreduce_a100_beyond_low) =]',
        'Error of the prediction over the size of the message. For A100 it keeps to its gate, [= q("15 %", gate.allreduce_a100) =], at both ends and falls to '
        '[= q("−46 %", reality.allreduce_a100_beyond_low) =] in between. For several nodes of B200, predicted from the data sheet alone, it is small '
        "for large messages only.",
        "Dashed: the gate of the A100. Dotted: the sizes that it leaves out. Below zero reality was slower. Some sizes are not drawn.",
        _error_table(parts),
        badge=BADGE,
    )


# Steps.


def steps() -> Drawn:
    """The steps of DDP on the line; for the others the line runs between two clouds."""
    parts = [
        *_series("ddp_step", "DDP", "compute"),
        *_series("parameter_server", "parameter servers", "transfer"),
        *_series("baidu_step", "a ring of GPUs", "update"),
    ]
    return Drawn(
        _against(parts, "ms", MS, (100, 200, 500, 1000, 2000)),
        'Steps of DDP are foretold to [= q("2.8 %", reality.ddp_step_high) =]; of parameter servers only the two ends are',
        'Predicted over measured time of a training step, both on log scales. The steps of DDP lie on the line to [= q("2.8 %", reality.ddp_step_high) =]. '
        "Each step with parameter servers has two predictions, one below the line and one above it.",
        "Hollow points stand for steps in which nothing overlaps; their twins below, for steps in which all does that can. The dashed line has to pass between the two.",
        _table(parts, "ms"),
        badge=BADGE,
    )


def pipelines() -> Drawn:
    """All points below the line: the formula is a bound."""
    each = data_set("bubbles")
    parts = [
        Series("1F1B", "compute", [p for p in each.points if p.label.startswith("1F1B,")]),
        Series("interleaved", "transfer", [p for p in each.points if p.label.startswith("1F1B-I")]),
    ]
    return Drawn(
        _against(parts, "% of the time", 0.01, (3, 5, 10, 20, 30)),
        "The formula is a floor: every bubble that was measured lies above it",
        'Predicted over measured bubbles, both on log scales. All points lie below the line, the errors reach down to [= q("−21 %", reality.bubbles_low) =].',
        "A point is one model at one number of microbatches. Stages that are not quite equal, and sending between them, are no part of the formula.",
        _table(parts, "%"),
        badge=BADGE,
    )


def pipelines_error() -> Drawn:
    """Within the gate, on both sides of zero."""
    parts = [*_series("pipeline", "1F1B", "compute"), *_series("interleaved", "interleaved", "transfer")]
    ticks = [(float(n), str(n)) for n in (24, 32, 48, 64, 96, 128)]
    figure = _errors(parts, "microbatches", ticks, data_set("pipeline").gate, span=(-2.6, 2.6), height=260)
    return Drawn(
        figure,
        'Yet how a pipeline speeds up with more microbatches is foretold to [= q("1.9 %", reality.pipeline_high) =]',
        'Error of the predicted time over the number of microbatches. Without interleaving it lies above zero and reaches [= q("1.9 %", reality.pipeline_high) =]; interleaved it lies '
        'below, down to [= q("−1.4 %", reality.interleaved_low) =].',
        "Dashed: the gate. For each model the run furthest to the right is the constant, so it is no point here.",
        _table(parts, "ms"),
        badge=BADGE,
    )


# Memory.


def memory() -> Table:
    """What four transformers take on each GPU, as printed and as computed: equal."""
    rows: list[list[Cell]] = []
    for point in data_set("transformer_memory").points:
        rows.append([Name(point.label), Name(point.printed), Num(point.predicted, "", len(point.printed.partition(".")[2]))])
    return Table(
        ("Model", "Printed (GiB)", "Computed (GiB)"),
        rows,
        "Memory on each GPU: model state, all activations, and with selective recomputation",
    )


# Products.


def products() -> Drawn:
    """A bound below which nothing lies, and a prediction that hugs the line for large products."""
    parts = [
        *_series("matmul", "A100, H100, H200: measured ceiling", "compute"),
        *_series("roofline", "V100, P100, T4: data sheet", "transfer", 16),
    ]
    return Drawn(
        _against(parts, "ms", MS),
        'None of [= q("960", reality.roofline_points) =] products crosses the roofline of its data sheet',
        'Predicted over measured time of a matrix product, both on log scales. All of [= q("960", reality.roofline_points) =] points lie on the line or '
        "below it; long products come near it, short ones stay far below.",
        'Of the [= q("960", reality.roofline_points) =] products on V100, P100 and T4 some are drawn, evenly spread over all times.',
        _table(parts, "ms"),
        badge=BADGE,
    )


def products_error() -> Drawn:
    """Errors shrink as products grow: far below zero on the left, near it on the right."""
    parts = [
        *_series("matmul", "A100, H100, H200: measured ceiling", "compute"),
        *_series("roofline", "V100, P100, T4: data sheet", "transfer", 16),
    ]
    ticks = [(at, text.show(at, unit)) for at, unit in ((1e6, "MFLOP"), (1e8, "MFLOP"), (1e10, "GFLOP"), (1e12, "TFLOP"))]
    return Drawn(
        _errors(parts, "arithmetic of the product", ticks, data_set("matmul").gate),
        'Small products are slow for reasons that no roofline knows: even with a measured ceiling errors fall to [= q("−80 %", reality.matmul_beyond_low) =]',
        'Error of the prediction over the arithmetic of the product. Small products lie far below zero, down to [= q("−80 %", reality.matmul_beyond_low) =] with a measured ceiling '
        "and further with a data sheet; large ones with a measured ceiling lie close to it.",
        "Dashed: the gate of products with a measured ceiling. The others are a bound: they may lie anywhere below zero.",
        _error_table(parts),
        badge=BADGE,
    )


# PCIe.


def pcie() -> Drawn:
    """Two lines of points on the dashed line, but for the smallest copies from the GPU."""
    parts = [*_series("pcie_up", "to the GPU", "transfer", 12), *_series("pcie_down", "from the GPU", "fetch", 12)]
    return Drawn(
        _against(parts, "ms", MS, (0.002, 0.01, 0.1, 1, 5)),
        'Latency plus bytes over bandwidth: a typical error is [= q("0.48 %", reality.pcie_up_typical) =] to the GPU, and [= q("0.87 %", reality.pcie_down_typical) =] from it',
        "Predicted over measured time of a copy, both on log scales. Nearly all points lie on the line, with a typical error of "
        '[= q("0.48 %", reality.pcie_up_typical) =] to the GPU and [= q("0.87 %", reality.pcie_down_typical) =] from it; small copies from the GPU lie below it.',
        'Of [= q("158", reality.pcie_up_points + reality.pcie_down_points) =] copies some are drawn, evenly spread over all times.',
        _table(parts, "ms"),
        badge=BADGE,
    )


FIGURES: dict[str, Callable[[], Drawn]] = {
    "reality-collectives": collectives,
    "reality-collectives-error": collectives_error,
    "reality-steps": steps,
    "reality-pipelines": pipelines,
    "reality-pipelines-error": pipelines_error,
    "reality-products": products,
    "reality-products-error": products_error,
    "reality-pcie": pcie,
}


def sets() -> Table:
    """Every data set: what the prediction was made from, its errors, its gate, and whether it holds."""
    rows: list[list[Cell]] = []
    for each in reality.data_sets():
        errors: list[Cell] = [Signed(f(each.errors)) for f in (min, statistics.median, max)]
        if each.kind in ("worked example", "bracket"):
            errors = [Instead(), Instead(), Instead()]
        where = "" if each.where == "all" else f", {each.where}"
        verdict = "no" if each.slips() else "yes"
        rows.append(
            [Name(each.title), each.kind, Name(each.inputs), Num(len(each.gated)), *errors, Name(gate_words(each) + where), verdict]
        )  # fmt: skip
    wider = " ".join(
        f"A wide gate, for a reason: {each.title[0].lower()}{each.title[1:]}. {each.reason}"
        for each in reality.data_sets()
        if each.reason
    )
    return Table(("Data set", "Kind", "Inputs", "Points", "Min", "Median", "Max", "Gate", "Holds"), rows, wider)


def sources() -> Table:
    """The works that the figures are from: where in them, what was measured, and whether all of it was held against the work."""
    works: dict[tuple[str, str], list[published.Published]] = {}
    for name in published.names():
        found = published.table(name)
        works.setdefault((found.source.title, found.source.url), []).append(found)
    rows: list[list[Cell]] = []
    for (title, url), tables in works.items():
        places = "; ".join(dict.fromkeys(each.source.place for each in tables))
        hardware = "; ".join(dict.fromkeys(each.hardware for each in tables))
        by = tables[0].source.authors + (f" ({tables[0].source.licence})" if tables[0].source.licence else "")
        compared = all(each.compared for each in tables)
        rows.append(
            [
                Link(title, url),
                Name(by),
                Name(places),
                Name(hardware),
                Num(sum(len(each.rows) for each in tables)),
                "yes" if compared else "no",
            ]
        )
    return Table(("Source", "By", "Where", "Hardware", "Rows", "Compared"), rows)


TABLES: dict[str, Callable[[], Table]] = {"reality": sets, "reality-memory": memory, "published": sources}
