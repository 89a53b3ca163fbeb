"""The figures and tables of the module: products, one step in two ways, the noise of a batch, memory, and when to scale out.

What a run or a clock showed differs from machine to machine, so words about it are made from the record.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import plotly.graph_objects as go

from macros import cpu_record, runs, text
from macros.evaluate import book
from macros.figures.core import Bar, Drawn, bars, count, scheduled, total, value
from macros.gpu_record import DeviceRecord
from macros.quantity import Withheld, value_text
from macros.records import RecordError, load
from macros.tables import SIZES, SPEEDS, TIMED, Cell, Code, Instead, Name, Num, Power, Table, scaled, timed
from macros.timelines import in_unit, lanes_axis
from perfmodel import matmul, scale_out, scaling
from perfmodel.book import module
from perfmodel.streams import Span


def _bound(name: str) -> str:
    """A quote of a number as it reads best: for words about a record."""
    return f'[= q("{value_text(book()[name])}", {name}) =]'


def _name(words: object) -> str:
    """The name or the version of something that a record was made with."""
    return f'[= plain("{words}", why="a name or a version") =]'


# Products.


def chip_lanes() -> Drawn:
    """A short bar and a long one: the CPU is wide as well, the GPU wider."""
    chips = {"CPU: Xeon": ("chip.cpu_lanes", "host"), "GPU: V100": ("v100.lanes", "compute")}
    figure = bars(
        [Bar(name, count(number), text.show(count(number)), role) for name, (number, role) in chips.items()],
        title="multiply-adds in a cycle",
        upto=6000,
        height=150,
    )
    return Drawn(
        figure,
        'In a cycle this CPU makes [= q("896", chip.cpu_lanes) =] multiply-adds at most, and this GPU [= q("5120", v100.lanes) =]',
        'Bars: a CPU with [= q("28", chip.cpu_cores) =] cores makes [= q("896", chip.cpu_lanes) =] multiply-adds in a cycle, a GPU '
        '[= q("5120", v100.lanes) =].',
        "FP32, at best, from the data sheets. The clocks differ: the table has the rates.",
        Table(("Chip", "Multiply-adds in a cycle"), [[Name(name), Num(count(number))] for name, (number, _) in chips.items()]),
        badge="derived from Intel's and NVIDIA's data sheets",
    )


def two_chips() -> Table:
    """Not cores against cores: the lanes, the peak and the memory are what differ, and by single digits."""
    rows: list[list[Cell]] = [
        ["cores that fetch instructions of their own", Num(value("chip.cpu_cores")), Num(value("v100.multiprocessors"))],
        ["multiply-adds in a cycle, all together", Num(value("chip.cpu_lanes")), Num(value("v100.lanes"))],
        ["FP32 arithmetic at best", Num(value("chip.cpu_peak"), "TFLOP/s", 1), Num(value("roofline.peak"), "TFLOP/s", 1)],
        ["memory bandwidth at best", Num(value("chip.cpu_memory"), "GB/s", 0), Num(value("roofline.memory"), "GB/s", 0)],
    ]
    return Table(("What", "Xeon 8180", "V100"), rows, "A server CPU, and a GPU of its generation")


def same_product() -> Table:
    """Three names, one operation: rows times inner times columns."""
    rows: list[list[Cell]] = []
    for what, first, inner, columns, name in module.PRODUCTS:
        shape = f"({first.value}×{inner.value}) · ({inner.value}×{columns.value})"
        rows.append([Code(what), Name(shape), Num(value(f"same.{name}")), Num(first.value * columns.value)])
    return Table(("In a network", "Shapes", "Multiply-adds", "Results that need no other"), rows)


def clock_readings() -> Table:
    """Only the last row times the product."""
    rows: list[list[Cell]] = [
        ["nowhere", Num(value("bill.launch"), "µs"), "the launch alone"],
        ["after", Num(value("clock.after"), "ms", 2), "the product, and what was queued before it"],
        ["before and after", Num(value("chip.gpu_time"), "ms", 2), "the product and its launch"],
    ]
    return Table(("You wait", "The clock shows", "Which is"), rows)


def _products() -> DeviceRecord:
    """The record of products on a CPU. Raises Withheld where there is none that can be used: the audit names it."""
    try:
        record = cpu_record.read()
    except RecordError as error:
        raise Withheld(str(error)) from None
    if record is None:
        raise Withheld(f"docs/records/{cpu_record.PATH.name} is missing: {cpu_record.CURE}")
    return record


def _badge(record: DeviceRecord) -> str:
    stale = "" if record.code == cpu_record.code_hash() else " · made by other code"
    return f"measured · {record.device}, {record.environment['threads']} threads · {record.day}{stale}"


def _sides(record: DeviceRecord) -> list[int]:
    return [row["side"] for row in record.sections["matmul"]["rows"]]


def matmul_cube() -> Drawn:
    """On the right the dots lie on the line; on the left they rise above it, and the line itself flattens into the cost of a call."""
    record = _products()
    sides = _sides(record)
    first, last = sides[0], sides[-1]
    call, each = value("products.call"), value("products.each")
    span = [round(first * (last / first) ** (k / 24)) for k in range(25)]
    figure = go.Figure(
        [
            go.Scatter(
                x=[n**3 for n in span],
                y=[in_unit(matmul.cubic_s(n=n, overhead_s=call, each_s=each), "ms") for n in span],
                mode="lines",
                name="modelled: call + n³·c",
                meta={"role": "host"},
            ),
            go.Scatter(
                x=[n**3 for n in sides],
                y=[in_unit(value(f"products.t{n}"), "ms") for n in sides],
                mode="markers",
                name="measured",
                meta={"role": "compute"},
                hovertext=[f"side {n}: {value_text(book()[f'products.t{n}'])}" for n in sides],
                hoverinfo="text",
            ),
        ]
    )
    low, high = math.floor(math.log10(in_unit(call, "ms"))), math.ceil(math.log10(in_unit(value(f"products.t{last}"), "ms")))
    marks = range(low, high + 1)
    figure.update_layout(
        height=330,
        xaxis={
            "title": {"text": "n³, the multiply-adds, log scale"},
            "type": "log",
            "range": [3.2, 11.4],
            "tickvals": [10.0**k for k in range(4, 12)],
            "ticktext": [text.power(k) for k in range(4, 12)],
        },
        yaxis={
            "title": {"text": "time, log scale"},
            "type": "log",
            "range": [low - 0.4, high + 0.3],
            "tickvals": [10.0**k for k in marks],
            "ticktext": [text.show(10.0 ** (k - 3), "s" if k >= 3 else "ms" if k >= 0 else "µs") for k in marks],
        },
    )
    for n in (first, 64, 512, last):
        if n in sides:
            figure.add_annotation(
                name="compute",
                x=3 * math.log10(n),
                xshift=-6 if n > first else -4,
                y=math.log10(in_unit(value(f"products.t{n}"), "ms")),
                yshift=14 if n > first else -15,  # below the first dot, which the line leaves to the right
                text=f"n = {n}",
                showarrow=False,
                xanchor="right" if n > first else "left",
            )
    about = record.environment
    return Drawn(
        figure,
        f"A multiply-add in a product of side {_bound(f'products.n{first}')} costs {_bound(f'products.d{first}')} as much as in one of side "
        f"{_bound(f'products.n{last}')}",
        f"Time over n³, both axes logarithmic. Dots: measured, from {_bound(f'products.t{first}')} at side {_bound(f'products.n{first}')} to "
        f"{_bound(f'products.t{last}')} at side {_bound(f'products.n{last}')}. Line: modelled from the time of a call and that of the rightmost dot.",
        f"Dots are medians of {_bound('products.rounds')} rounds, with {_name(about['blas'])} and PyTorch {_name(about['torch'])}. The line is made from only two of "
        f"these times: that of a call, {_bound('products.call')}, and the rightmost dot. At side {_bound(f'products.n{first}')} the call alone is "
        f"{_bound(f'products.o{first}')} of the time.{' Other work ran on the machine, so these times are too long.' if cpu_record.busy(about) else ''}",
        Table(
            ("Side", "n³", *TIMED, "Rate", "The call"),
            [
                [
                    Num(row["side"]),
                    Num(row["side"] ** 3),
                    *timed(row, value(f"products.p{row['side']}") if row["side"] != last else None, "sets the slope"),
                    scaled(value(f"products.r{row['side']}"), SPEEDS),
                    Num(value(f"products.o{row['side']}"), "%", 1),
                ]
                for row in record.sections["matmul"]["rows"]
            ],
        ),
        kind="measured",
        badge=_badge(record),
    )


def matmul_exercise() -> Table:
    """From the first row to the last the rate is nearly the same: time follows n³."""
    record = _products()
    rows: list[list[Cell]] = []
    last = _sides(record)[-1]
    for row in record.sections["matmul"]["rows"]:
        side = row["side"]
        if side < count("cube.first"):
            continue
        predicted = value(f"products.p{side}") if side != last else None
        rows.append([Num(side), *timed(row, predicted, "sets the slope"), scaled(value(f"products.r{side}"), SPEEDS)])
    return Table(("Side", *TIMED, "Rate"), rows, _straight(record))


def _straight(record: DeviceRecord) -> str:
    """Whether the exercise's times lie on the line, as far as they can tell: does each size's line lie between its quartiles?"""
    asked = [row for row in record.sections["matmul"]["rows"] if row["side"] >= count("cube.first")][:-1]
    within = all(row["low"] <= value(f"products.p{row['side']}") <= row["high"] for row in asked)
    off = _bound("products.worst")
    return (
        f"A straight line? Within the spread of the times, yes: the one furthest from it lies {off} off."
        if within
        else f"A straight line? Not quite: one lies {off} off it, and that is beyond the spread of its times."
    )


def matmul_small() -> Table:
    """What a multiply-add of a small product costs, and how much of that is the call."""
    record = _products()
    last = _sides(record)[-1]
    rows: list[list[Cell]] = []
    for side in _sides(record):
        if side < count("cube.first"):
            rows.append([Num(side), Num(value(f"products.d{side}"), "×", 1), Num(value(f"products.o{side}"), "%", 1)])
    if not rows:
        rows.append([Num(last), Num(1.0, "×", 1), Instead()])
    return Table(("Side", "A multiply-add costs", "Of the time, the call is"), rows)


# One step in two ways.

_STEP_ROLES = {"compute": "compute", "transfer": "copies and gradients", "update": "parameters, and their update"}
_SHORT = {
    "own samples": "",
    "scatter": "",
    "gather": "",
    "send back": "",
    "loss": "",
    "update": "",
    "replicate": "copy",
    "reduce": "send",
}


def _span(span: Span, _lane: str) -> str:
    return _SHORT.get(span.name, span.name)


def _step(which: str, name: str, title: str, alt: str, caption: str) -> Drawn:
    """One step on the lanes and the time scale that both ways share."""
    return scheduled(
        {"": module.schedules()[which]},
        title,
        alt,
        caption,
        unit="ms",
        upto=1.1 * in_unit(value("dp.parallel"), "ms"),
        label=_span,
        roles=_STEP_ROLES,
        totals=[total(name)],
    )


def step_data_parallel() -> Drawn:
    """The top lane is busy while the others wait: everything passes one link."""
    return _step(
        "DataParallel",
        "dp.parallel",
        'Of a step of [= q("135 ms", dp.parallel) =], the link of GPU 0 is busy for [= q("69 ms", dp.copies) =], and nobody computes meanwhile',
        'Timeline. The parts of the batch and then the parameters go from GPU 0 to the others, one after the other. All run forward for [= q("20 ms", dp.forward) =]. '
        'Outputs come to GPU 0, which computes the loss. All run backward for [= q("40 ms", dp.backward) =]. Gradients come to GPU 0 one after the other, and it '
        'updates; the step ends at [= q("135 ms", dp.parallel) =].',
        "The short bars: parts of the batch, outputs, the loss, the gradients of the outputs, the update. Hatched: idle.",
    )


def step_ddp() -> Drawn:
    """The same lanes and the same scale: every lane does the same, and the picture ends far earlier."""
    return _step(
        "DDP",
        "dp.ddp",
        'With a process for each GPU, the same step takes [= q("79 ms", dp.ddp) =]',
        'Timeline on the same scale. Each GPU reads its own samples, runs forward and backward, takes part in an allreduce of [= q("15 ms", sync.ring) =] and updates '
        'its own parameters, until [= q("79 ms", dp.ddp) =].',
        "The same lanes and the same time scale. The allreduce is the ring of Act 6. Here it begins when backward has ended; in practice it begins earlier.",
    )


_AVERAGES = {
    "equal": ("equal", "the plain average"),
    "uneven": ("uneven", "the plain average"),
    "weighted": ("uneven", "each weighted by its samples"),
    "normed": ("equal, with batch normalization", "the plain average"),
}


def _far(distance: float) -> Num:
    return Num(distance, "%", 0) if distance > 1e-3 else Power(distance)


def averages() -> Table:
    """Two rows are equal up to rounding; the other two are another gradient altogether."""
    rows: list[list[Cell]] = [
        [parts, how, _far(value(f"average.{name}")), "yes, up to rounding" if value(f"average.{name}") < 1e-12 else "no"]
        for name, (parts, how) in _AVERAGES.items()
    ]
    return Table(("Shards", "Combined by", "Distance from the big batch", "The same gradient?"), rows)


# Bigger batches.


def noise_variance() -> Drawn:
    """Every dot lies on a straight line that was there before them: σ²/b."""
    record = load("noise")
    shown = record.results
    batches, single = shown["batches"], value("noise.single")
    line = [batches[0] / 1.4, batches[-1] * 1.4]
    figure = go.Figure(
        [
            go.Scatter(x=line, y=[single / b for b in line], mode="lines", name="modelled: σ² / b", meta={"role": "host"}),
            go.Scatter(
                x=batches,
                y=[each[0] for each in shown["variances"]],
                mode="markers",
                name="batches drawn at random",
                meta={"role": "compute"},
            ),
        ]
    )
    figure.update_layout(
        height=300,
        xaxis={
            "title": {"text": "samples in the batch, log scale"},
            "type": "log",
            "range": [math.log10(line[0]), math.log10(line[1])],
            "tickvals": batches,
            "ticktext": [str(b) for b in batches],
        },
        yaxis={
            "title": {"text": "variance of the gradient, log scale"},
            "type": "log",
            "range": [-1.7, 0.4],
            "tickvals": [0.03, 0.1, 0.3, 1],
            "ticktext": [text.show(v) for v in (0.03, 0.1, 0.3, 1)],
        },
    )
    return Drawn(
        figure,
        f"From {_bound('noise.small')} samples to {_bound('noise.large')}, the variance falls to {_bound('noise.ratio')} what it was",
        f"Variance over the size of the batch, both axes logarithmic. The dots of {_bound('noise.draws')} batches of each size lie on a line of slope "
        f"{_bound('noise.slope')}: from {_bound('noise.small')} samples to {_bound('noise.large')} it falls to {_bound('noise.ratio')}.",
        f"A network of {_bound('noise.parameters')} parameters, {_bound('noise.draws')} batches of each size, drawn from {_bound('noise.samples')} samples. The line is "
        "no fit: σ² is the variance of single samples, computed from all of them.",
        Table(
            ("Samples", "Variance", "Interval, low", "Interval, high", "σ² / b"),
            [
                [Num(b), *(Num(v, "", 4) for v in each), Num(single / b, "", 4)]
                for b, each in zip(batches, shown["variances"], strict=True)
            ],
        ),
        kind="run",
        badge=runs.badge(record, "experiment"),
    )


def noise_numbers() -> Table:
    """What the experiment found, with its interval, beside what the law says."""
    level = text.show(value("noise.level"), "%", 0)
    low, high = load("noise").results["compared"]
    rows: list[list[Cell]] = [
        [
            "slope of log variance over log batch",
            *(Num(value(f"noise.slope{end}"), "", 3) for end in ("", "_low", "_high")),
            Num(-1),
        ],
        [
            f'variance of [= q("{high}", noise.large) =] samples against [= q("{low}", noise.small) =]',
            *(Num(value(f"noise.ratio{end}"), "", 3) for end in ("", "_low", "_high")),
            Num(low / high),
        ],
    ]
    return Table(("What", "Found", f'[= q("{level}", noise.level) =] interval, low', "high", "By the law"), rows)


def warm_up_ways() -> Drawn:
    """Three ways to the same rate: at once, in one jump, or up a ramp."""
    base, peak, climb = value("batch.base_lr"), value("batch.scaled_lr"), count("warm.steps")
    steps = [*range(0, climb + 1, climb // 8), 2 * climb]
    ramp, jump = (
        [schedule(step=step, steps=climb, start_lr=base, peak_lr=peak) for step in steps]
        for schedule in (scaling.warm_up_lr, scaling.constant_warm_up_lr)
    )
    figure = go.Figure(
        [
            go.Scatter(
                x=[0, 2 * climb], y=[peak, peak], mode="lines", name="no warm-up", meta={"role": "transfer"}, line={"dash": "dot"}
            ),
            go.Scatter(
                x=[0, climb, 2 * climb],
                y=[base, peak, peak],
                mode="lines",
                name="constant, then a jump",
                meta={"role": "host"},
                line={"dash": "dash", "shape": "hv"},
            ),
            go.Scatter(x=steps, y=ramp, mode="lines", name="a ramp", meta={"role": "update"}),
        ]
    )
    figure.update_layout(
        height=260,
        xaxis={"title": {"text": "step"}, "range": [0, 2 * climb]},
        yaxis={"title": {"text": "learning rate"}, "range": [0, 1.25 * peak]},
    )
    return Drawn(
        figure,
        'Warm-up delays the rate of [= q("0.004", batch.scaled_lr) =] until the first, sensitive steps are over',
        'Learning rate over steps. Dotted: [= q("0.004", batch.scaled_lr) =] from the start. Dashed: [= q("0.001", batch.base_lr) =] until step '
        '[= q("200", warm.steps) =], then a jump. Solid: a straight climb from the one to the other.',
        'How many steps to take is a choice: [= q("200", warm.steps) =] here.',
        Table(
            ("Step", "Ramp", "Constant, then a jump"),
            [[Num(step), Num(a), Num(b)] for step, a, b in zip(steps, ramp, jump, strict=True)],
        ),
        badge="worked example · after Goyal et al.",
        kind="example",
    )


# When to scale out.


def memory_card() -> Drawn:
    """The parameters are a sliver. Adam's states fill most of a card, and a full batch of activations goes far beyond it."""
    psi = count("state.parameters")
    state = {
        "parameters": (psi * value("state.half_weights"), "compute"),
        "gradients": (psi * value("state.half_gradients"), "transfer"),
        "Adam, FP32 copy": (psi * value("state.optimizer"), "update"),
    }
    kept = {
        "state": 0.0,
        "activations recomputed": value("state.recomputed"),
        "all activations": value("state.activations"),
    }
    names = list(kept)
    parts = {
        **{name: ([size] * len(names), role) for name, (size, role) in state.items()},
        "activations": ([*kept.values()], "fetch"),
    }
    figure = go.Figure(
        [
            go.Bar(
                orientation="h",
                name=name,
                x=[in_unit(size, "GB") for size in sizes if size],
                y=[bar for bar, size in zip(names, sizes, strict=True) if size],
                text=[text.show(in_unit(size, "GB")) if in_unit(size, "GB") >= 6 else "" for size in sizes if size],
                meta={"role": role},
            )
            for name, (sizes, role) in parts.items()
        ]
    )
    card = in_unit(value("state.card"), "GB")
    figure.update_layout(
        barmode="stack",
        bargap=0.3,
        height=230,
        xaxis={"title": {"text": "memory (GB)"}, "range": [0, 90]},
        yaxis=lanes_axis(names),
    )
    figure.add_shape(type="line", name="total", x0=card, x1=card, y0=-0.5, y1=len(names) - 0.5)
    figure.add_annotation(
        name="total",
        x=card,
        y=1,
        yref="paper",
        text=f"one card: {text.show(value('state.card'), 'GB')}",
        showarrow=False,
        xanchor="left",
    )
    return Drawn(
        figure,
        'GPT-2 is [= q("3 GB", state.weights) =] of parameters, and training it takes [= q("84 GB", state.gpt_whole) =]',
        'Stacked bars against a line at [= q("32 GB", state.card) =]. Parameters and gradients [= q("3 GB", state.weights) =] each, Adam '
        '[= q("18 GB", state.parameters * state.optimizer) =]: [= q("24 GB", state.gpt) =]. With recomputed activations [= q("32 GB", state.gpt_lean) =], with all of '
        'them [= q("84 GB", state.gpt_whole) =].',
        'GPT-2 with [= q("1,500,000,000", state.parameters) =] parameters, mixed precision, Adam. The activations are those that the ZeRO paper gives for its batch.',
        Table(
            ("What", *names),
            [[Name(name), *(Num(size, "GB") for size in sizes)] for name, (sizes, _) in parts.items()],
        ),
        kind="example",
        badge="worked example · Rajbhandari et al. 2020",
    )


def recipes() -> Table:
    """What a parameter costs, by optimizer and precision."""
    rows: list[list[Cell]] = [
        ["gradient descent, FP32", Num(value("state.sgd"), "B"), "parameters, gradients"],
        ["momentum, FP32", Num(value("state.momentum"), "B"), "and a velocity"],
        ["Adam, FP32", Num(value("state.adam"), "B"), "and both moments"],
        ["Adam, mixed precision", Num(value("state.mixed"), "B"), "short parameters and gradients; a full copy and both moments"],
    ]
    return Table(("How you train", "Each costs", "For what"), rows)


def scale_out_when() -> Table:
    """One row says stay; the others name what does not fit, and what it calls for."""
    rows: list[list[Cell]] = [
        ["Model and batch fit on one GPU, and training is done in hours", "don't bother: more GPUs bring trouble of their own"],
        ["The model fits on one GPU, the activations of a batch do not", "smaller batches, or activations computed again"],
        ["The model does not fit on one GPU", "split the model: between layers, across them, or its state over the GPUs"],
        ["It fits, but training takes days, and the deadline comes first", "data parallelism: the usual cure"],
        ["The data does not fit on one machine", "shard the data: each machine loads its own part"],
    ]
    return Table(("Your situation", "What it calls for"), rows)


_WORDS: dict[scale_out.Advice, str] = {
    "stay on one GPU": "stay on one GPU",
    "save activations": "smaller batches, or activations recomputed",
    "split the model": "split the model",
    "data parallelism": "data parallelism",
    "shard the data": "shard the data",
}


def scale_out_jobs() -> Table:
    """The three comparisons for four jobs: what is too much for one GPU or one machine decides."""
    rows: list[list[Cell]] = []
    for what, name, job in module.EXAMPLES:
        time = book()[f"jobs.{name}_time"]
        found = []
        for advice in scale_out.advise(job, module.MACHINE):
            words = _WORDS[advice]
            if advice == "split the model":
                words += f' among [= q("{count(f"jobs.{name}_split")}", jobs.{name}_split) =] GPUs'
            if advice == "data parallelism":
                words += f' on [= q("{count(f"jobs.{name}_gpus")}", jobs.{name}_gpus) =] GPUs'
            if advice == "shard the data":
                words += f' across [= q("{count(f"jobs.{name}_machines")}", jobs.{name}_machines) =] machines'
            found.append(words)
        rows.append(
            [
                Name(what),
                scaled(value(f"jobs.{name}_memory"), SIZES),
                Num(time.value, time.unit),
                Num(value(f"jobs.{name}_deadline"), "days"),
                scaled(value(f"jobs.{name}_data"), SIZES),
                ", ".join(found),
            ]
        )
    limits: list[Cell] = [
        "what there is",
        Num(value("state.card"), "GB"),
        Instead(),
        Instead(),
        Num(value("jobs.storage"), "TB"),
        "",
    ]
    return Table(("Job", "Memory", "On one GPU", "Deadline", "Data", "It calls for"), [*rows, limits])


def cheat_sheet() -> Table:
    """What you want, and the tool for it."""
    rows: list[list[Cell]] = [
        ["several GPUs in one process, quickly", Code("nn.DataParallel"), "simple; all passes one GPU"],
        ["several GPUs or machines, in earnest", Code("DistributedDataParallel"), "started by torchrun, a process for each GPU"],
        ["equal gradients on all replicas", "an allreduce", "by itself, within backward()"],
        ["each process its own samples", Code("DistributedSampler"), "set_epoch before each pass; repeats samples to fill shards"],
        ["a learning rate for the larger batch", "the linear rule", "a heuristic; warm up, and look at the loss"],
        ["an honest time on a GPU", Code("torch.cuda.synchronize"), "before both readings of the clock"],
        ["a model too large for a card", "split the model", "or its state, before the data"],
    ]
    return Table(("You want", "Tool", "Mind"), rows)


FIGURES: dict[str, Callable[[], Drawn]] = {
    "chip-lanes": chip_lanes,
    "matmul-cube": matmul_cube,
    "step-data-parallel": step_data_parallel,
    "step-ddp": step_ddp,
    "noise-variance": noise_variance,
    "warm-up-ways": warm_up_ways,
    "memory-card": memory_card,
}
TABLES: dict[str, Callable[[], Table]] = {
    "two-chips": two_chips,
    "same-product": same_product,
    "clock-readings": clock_readings,
    "matmul-exercise": matmul_exercise,
    "matmul-small": matmul_small,
    "averages": averages,
    "noise-numbers": noise_numbers,
    "recipes": recipes,
    "scale-out-when": scale_out_when,
    "scale-out-jobs": scale_out_jobs,
    "cheat-sheet": cheat_sheet,
}
