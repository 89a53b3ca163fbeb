"""The figures and tables of act 5: one network on many GPUs, and a training run that shows that nothing is lost."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import plotly.graph_objects as go

from macros import runs, text
from macros.figures.core import Bar, Drawn, bars, count, scheduled, total, value
from macros.records import Record, load
from macros.tables import Cell, Chunks, Name, Num, Power, Table, Tiny
from macros.timelines import in_unit
from perfmodel import scaling
from perfmodel.book import act5
from perfmodel.streams import Span

# Three ways to split.

_WAYS = {
    "between layers": ("split.between", "dot"),
    "across layers": ("split.across", "dash"),
    "across data": ("split.data", "solid"),
}


def split_waits() -> Drawn:
    """Two long bars and a short one: cut the data, and the GPUs wait for each other once."""
    names = list(_WAYS)
    waits = [count(f"{number}_waits") for number, _ in _WAYS.values()]
    figure = bars(
        [Bar(name, wait, text.show(wait), "transfer") for name, wait in zip(names, waits, strict=True)],
        title="waits in one minibatch",
        upto=8,
        height=170,
    )
    return Drawn(
        figure,
        'Cut the data: [= q("one", split.data_waits) =] wait in a minibatch; cut the network: [= q("six", split.between_waits) =] or '
        '[= q("seven", split.across_waits) =]',
        'Bars: waits in one minibatch. Cut between layers [= q("6", split.between_waits) =], across layers [= q("7", split.across_waits) =], '
        'across data [= q("1", split.data_waits) =].',
        'A network of [= q("four", split.layers) =] layers on [= q("four", batch.gpus) =] GPUs. Counted are '
        "hand-overs from GPU to GPU and meetings of all GPUs; an allreduce is a single meeting, however many steps it takes.",
        Table(("Cut", "Waits in one minibatch"), [[Name(way), Num(n)] for way, n in zip(names, waits, strict=True)]),
        badge="cost model · counts",
    )


def split_bytes() -> Drawn:
    """A flat line, and two that climb and cross it: far to the left door three sends the most, far to the right the least."""
    batches = [32, count("batch.effective"), 512, count("split.across_even"), 1024, 1536, count("split.between_even"), 2304]
    lines = {way: [act5.traffic(way, batch).total_bytes for batch in batches] for way in _WAYS}
    figure = go.Figure(
        [
            go.Scatter(
                x=[0, *batches],
                y=[in_unit(lines[way][0], "MB") if way == "across data" else 0, *(in_unit(v, "MB") for v in lines[way])],
                mode="lines",
                name=way,
                meta={"role": "transfer"},
                line={"dash": dash},
            )
            for way, (_, dash) in _WAYS.items()
        ]
    )
    figure.update_layout(
        height=320,
        xaxis={"title": {"text": "samples in the minibatch"}, "range": [0, 2304]},
        yaxis={"title": {"text": "sent by all GPUs (MB)"}, "range": [0, 52]},
    )
    for name in ("split.across_even", "split.between_even"):
        at, high = value(name), in_unit(value("split.data"), "MB")
        figure.add_shape(type="line", name="total", x0=at, x1=at, y0=0, y1=high, line={"dash": "dot"})
        figure.add_annotation(name="total", x=at, y=high + 2.5, text=text.show(count(name)), showarrow=False, xanchor="right")
    ours = count("batch.effective")
    figure.add_shape(type="line", name="total", x0=ours, x1=ours, y0=0, y1=1, yref="paper")
    figure.add_annotation(name="total", x=ours, y=1, yref="paper", text=f"our batch: {ours}", showarrow=False, xanchor="left")
    return Drawn(
        figure,
        "Cutting the data sends the same bytes for every batch; the other cuts send more with every sample",
        'Bytes over the size of the minibatch. Cut across data: a flat line at [= q("13.6 MB", split.data) =]. Cut across layers: a line that climbs '
        'and crosses it at [= q("630", split.across_even) =] samples. Cut between layers: a flatter one that crosses it at '
        '[= q("1900", split.between_even) =].',
        'The same network on [= q("four", batch.gpus) =] GPUs, with numbers in FP32. Upright lines: our batch, and where two ways cross.',
        Table(
            ("Samples", *(f"Cut {way}" for way in _WAYS)),
            [[Num(batch), *(Num(lines[way][i], "MB", 2) for way in _WAYS)] for i, batch in enumerate(batches)],
        ),
        badge="cost model · bytes",
    )


def three_ways() -> Table:
    """What a GPU then holds, and what travels."""
    rows: list[list[Cell]] = [
        ["between layers", "some of the layers", "activations, and their gradients"],
        ["across layers", "a part of every layer", "activations, and their gradients"],
        ["across data", "the whole network", "gradients of the parameters"],
    ]
    return Table(("Cut", "A GPU holds", "What travels"), rows)


# One step.

_STEP_ROLES = {"transfer": "move samples or gradients", "compute": "forward and backward", "update": "update the parameters"}


def _part(span: Span, lane: str) -> str:
    """The number of a part on the CPU's lane; short names elsewhere."""
    if span.name.startswith("part"):
        return span.name.partition(" ")[2]
    return {"forward": "fwd", "backward": "bwd", "allreduce": "sum", "update": ""}.get(span.name, span.name)


def replica_step() -> Drawn:
    """The blue shrinks to a quarter; the orange does not shrink at all."""
    schedules = {"alone · ": act5.replica_step(1), "split · ": act5.replica_step(count("batch.gpus"))}
    return scheduled(
        schedules,
        '[= q("Four", batch.gpus) =] GPUs take [= q("18 ticks", step.many) =] where a single one takes [= q("41 ticks", step.one) =]: only the computing '
        "has been split",
        'Two timelines of the same step. Alone, GPU 0 gets the whole batch, runs forward and backward, updates, and ends at [= q("41 ticks", step.one) =]. '
        'Split, [= q("four", batch.gpus) =] GPUs get their parts one after the other, run forward and backward side by side, wait for the last one, hold an '
        'allreduce together, update, and end at [= q("18 ticks", step.many) =].',
        "Upper lanes: a single GPU with the whole batch. Lower lanes: the same batch in parts, one for each GPU. The box before the update is the "
        "allreduce, which all GPUs begin at once. Hatched: idle.",
        unit="ticks",
        upto=42,
        label=_part,
        roles=_STEP_ROLES,
        totals=[total("step.many", "split"), total("step.one", "alone")],
        free=("CPU",),
    )


# Allreduce from scratch.


def allreduce_walk() -> Table:
    """What each replica holds before, between and after; a finished sum is filled."""
    whole = int(act5.ALLREDUCE[-1][-1][0])
    names = ("at the start", "added up on the first", "copied to the others")
    rows: list[list[Cell]] = []
    before = act5.ALLREDUCE[0]
    for name, state in zip(names, act5.ALLREDUCE, strict=True):
        cells = [Chunks(_whole(now), whole, _whole(old)) for now, old in zip(state, before, strict=True)]
        rows.append([name, *cells])
        before = state
    return Table(("Moment", "First replica", "Second replica"), rows)


def _whole(numbers: tuple[float, ...]) -> tuple[int, ...]:
    return tuple(int(number) for number in numbers)


# Lockstep: what the training run showed. The last bits differ from machine to machine, so words about them are made from the record.


def _tiny(name: str) -> str:
    """A quote of a tiny number, made of its own digits."""
    mantissa, _, exponent = f"{value(name):.1e}".partition("e")
    if not value(name):
        return f'[= q("0", {name}) =]'
    return f'[= q("{mantissa} × 10^{int(exponent)}", {name}) =]'


def _record() -> Record:
    return load("lockstep")


def _run_figure(y: dict[str, Any], lines: list[go.Scatter], height: int) -> go.Figure:
    figure = go.Figure(lines)
    last = count("lockstep.steps")
    figure.update_layout(height=height, xaxis={"title": {"text": "step"}, "range": [-0.02 * last, 1.02 * last]}, yaxis=y)
    return figure


def lockstep_loss() -> Drawn:
    """Every dot lies on the line."""
    record = _record()
    shown = record.results
    steps, loss = shown["steps"], shown["loss"]
    two, four = (text.show(count(f"lockstep.{name}_replicas")) for name in runs.REPLICAS)
    lines = [
        go.Scatter(x=steps, y=loss["1"], mode="lines", name="one replica", meta={"role": "compute"}),
        go.Scatter(x=steps[::2], y=loss[two][::2], mode="markers", name=f"{two} replicas", meta={"role": "transfer"}),
        go.Scatter(x=steps[1::2], y=loss[four][1::2], mode="markers", name=f"{four} replicas", meta={"role": "update"}),
    ]
    return Drawn(
        _run_figure({"title": {"text": "mean loss of the batch"}, "range": [0, 0.85]}, lines, 300),
        'With [= q("two", lockstep.two_replicas) =] or [= q("four", lockstep.four_replicas) =] replicas, the loss stays on the curve of one',
        'Loss during [= q("300", lockstep.steps) =] steps. The line of a single replica falls from [= q("0.766", lockstep.loss_first) =] to '
        '[= q("0.029", lockstep.loss_one) =]. The dots of [= q("two", lockstep.two_replicas) =] and [= q("four", lockstep.four_replicas) =] replicas '
        "lie on it.",
        "Dots of the two runs take turns, so that none hides another; the table has them all.",
        Table(
            ("Step", "A single replica", '[= q("Two", lockstep.two_replicas) =]', '[= q("Four", lockstep.four_replicas) =]'),
            [
                [Num(s), Num(a, "", 6), Num(b, "", 6), Num(c, "", 6)]
                for s, a, b, c in zip(steps, loss["1"], loss[two], loss[four], strict=True)
            ],
        ),
        kind="run",
        badge=runs.badge(record),
    )


def _distances(steps: Sequence[int], l2: Sequence[float], name: str, role: str, dash: str) -> go.Scatter:
    """A line of distances; one of exactly 0 has no place on a logarithmic axis."""
    points = [(step, far) for step, far in zip(steps, l2, strict=True) if far]
    x, y = [step for step, _ in points], [far for _, far in points]
    return go.Scatter(x=x, y=y, mode="lines", name=name, meta={"role": role}, line={"dash": dash})


def _decades(low: int, high: int, each: int = 1) -> dict[str, Any]:
    """A logarithmic axis of distances, labelled in powers of ten."""
    powers = range(high - (high - low) // each * each, high + 1, each)
    return {
        "title": {"text": "relative distance from one replica"},
        "type": "log",
        "range": [low, high],
        "tickvals": [10.0**n for n in powers],
        "ticktext": [text.power(n) for n in powers],
    }


def _limit(figure: go.Figure, words: str, above: float) -> None:
    """The line under which two runs count as in lockstep. A note's place on a log axis is an exponent, a line's is a value."""
    limit = value("lockstep.limit")
    figure.add_shape(type="line", name="total", x0=0, x1=1, xref="paper", y0=limit, y1=limit, line={"dash": "dash"})
    figure.add_annotation(
        name="total", x=count("lockstep.steps"), y=math.log10(limit) + above, text=words, showarrow=False, xanchor="right"
    )


def lockstep_growth() -> Drawn:
    """Two jagged lines that climb ever more slowly, and never come near the dashed one."""
    record = _record()
    shown = record.results
    steps = shown["steps"][1:]
    two, four = (text.show(count(f"lockstep.{name}_replicas")) for name in runs.REPLICAS)
    lines = [
        _distances(steps, shown["l2"][k][1:], f"{k} replicas", role, dash)
        for k, role, dash in ((two, "transfer", "dash"), (four, "update", "solid"))
    ]
    least = min(far for line in lines for far in line.y)
    figure = _run_figure(_decades(min(-17, math.floor(math.log10(least))), max(-14, 1 - count("lockstep.exponent"))), lines, 300)
    _limit(figure, "limit of lockstep", 0.12)
    crosses = value("lockstep.worst") > value("lockstep.limit")
    more = " This run was made where sums round in another order, and crosses the dashed line." if crosses else ""
    return Drawn(
        figure,
        f'The parameters differ by [= q("less than one part in 10^{count("lockstep.exponent")}", lockstep.worst) =] after '
        '[= q("300", lockstep.steps) =] steps',
        f"Relative L2 distance of all parameters from those of a single replica, on a logarithmic axis. It grows slowly, from {_tiny('lockstep.early_four')} "
        f'at step [= q("10", lockstep.every) =] to {_tiny("lockstep.worst")} at its peak.',
        f'Every [= q("ten", lockstep.every) =] steps, all parameters are compared. At step [= q("10", lockstep.every) =] the distance of the '
        f'[= q("four", lockstep.four_replicas) =] replicas is {_tiny("lockstep.early_four")}, and it peaks at {_tiny("lockstep.worst_four")}.{more}',
        Table(
            ("Step", '[= q("Two", lockstep.two_replicas) =] replicas', '[= q("Four", lockstep.four_replicas) =] replicas'),
            [[Num(s), Tiny(a), Tiny(b)] for s, a, b in zip(shown["steps"], shown["l2"][two], shown["l2"][four], strict=True)],
        ),
        kind="run",
        badge=runs.badge(record),
    )


_FAULT_WORDS = {
    "mean": ("means of uneven parts", "dashdot"),
    "forgot": ("one gradient forgotten", "dash"),
    "float32": ("sum in FP32", "dot"),
}


def lockstep_faults() -> Drawn:
    """Three lines lie many powers of ten above the right run; one of them leaves it in a single step."""
    record = _record()
    shown = record.results
    steps = shown["steps"][1:]
    k = runs.REPLICAS["four"]
    distances = {fault: shown["faults"][key][k]["l2"][1:] for fault, key in runs.FAULTS.items()}
    lines = [_distances(steps, distances[fault], words, "transfer", dash) for fault, (words, dash) in _FAULT_WORDS.items()]
    lines.append(_distances(steps, shown["l2"][k][1:], "done right", "compute", "solid"))
    figure = _run_figure(_decades(-17, 0, 4), lines, 360)
    _limit(figure, "limit", 0.6)
    return Drawn(
        figure,
        "Each of three small mistakes leaves lockstep at once",
        'Relative distance over the steps, on a logarithmic axis, for [= q("four", lockstep.four_replicas) =] replicas. Done right, the line stays at the '
        f"bottom. A sum in FP32 lies at {_tiny('lockstep.float32_four')}; a gradient forgotten at step "
        f'[= q("150", lockstep.forgotten_at) =] jumps and ends at {_tiny("lockstep.forgot_four")}; means of uneven parts climb to '
        f"{_tiny('lockstep.mean_four')}.",
        '[= q("Four", lockstep.four_replicas) =] replicas. The run that forgets does so at step [= q("150", lockstep.forgotten_at) =]; until then it is done '
        "right. The straight dashed line is the limit of lockstep.",
        Table(
            ("Step", "Done right", *(words for words, _ in _FAULT_WORDS.values())),
            [
                [Num(s), Tiny(right), *(Tiny(distances[fault][i]) for fault in _FAULT_WORDS)]
                for i, (s, right) in enumerate(zip(steps, shown["l2"][k][1:], strict=True))
            ],
        ),
        kind="run",
        badge=runs.badge(record),
    )


def lockstep_broken() -> Table:
    """Loss and distance at the end: the losses look alike, the distances don't."""
    rows: list[list[Cell]] = [["nothing", Num(value("lockstep.loss_four"), "", 4), _tiny("lockstep.l2_four")]]
    what = {
        "float32": "gradients are added up in FP32",
        "forgot": "one gradient is forgotten, at a single step",
        "mean": "the mean of the parts' means is taken",
    }
    rows += [
        [words, Num(value(f"lockstep.{fault}_loss_four"), "", 4), _tiny(f"lockstep.{fault}_four")] for fault, words in what.items()
    ]
    return Table(("What is wrong", "Loss at the end", "Distance at the end"), rows)


_MUTANT_WORDS = {
    "sum of means": "the means of the parts are added up",
    "one gradient forgotten always": "one replica's gradient is never counted",
    "root counted twice": "the first replica's gradient is added once more",
    "labels of the first shard": "all replicas take the labels of the first part",
    "the first shard for everyone": "all replicas take the first part",
    "divided by the size of the shard": "the sum is divided by the size of the part",
    "divided by the batch less one": "the sum is divided by the batch size minus a sample",
    "no broadcast at the start": "replicas begin with parameters of their own",
    "no broadcast of the sum": "only the first replica gets the sum",
    "one parameter skipped": "one tensor of parameters is left out of the sum",
    "one sample in two shards": "one sample is in its neighbour's part as well",
    "remainder dropped": "samples that don't divide evenly are left out",
    "learning rate 1.01 times": "the learning rate is a hundredth too high",
    "one step more": "one step is taken a second time",
    "mean of means": "the mean of the parts' means is taken",
    "one gradient forgotten once": "one gradient is forgotten, at a single step",
    "allreduce in bfloat16": "gradients are added up in BF16",
    "forward in float32": "the forward pass runs in FP32",
    "allreduce in float32": "gradients are added up in FP32",
}


def lockstep_mutants() -> Table:
    """All mistakes, the worst first."""
    k = runs.REPLICAS["four"]
    broken = {name: each[k] for name, each in _record().results["mutants"].items()}
    rows: list[list[Cell]] = [
        [_MUTANT_WORDS[name], Power(each["l2"]), "no" if each["spread"] else "yes"]
        for name, each in sorted(broken.items(), key=lambda item: -float(item[1]["l2"]))
    ]
    return Table(("What is wrong", "Distance", "Replicas equal?"), rows)


def lockstep_precisions() -> Table:
    """Every number of replicas stays below the limit of its precision."""
    shown = _record().results["table"]
    rows: list[list[Cell]] = [
        [Num(int(k)), *(Power(shown[dtype][k]["l2"]) for dtype in runs.PRECISIONS.values())] for k in runs.TABLE.values()
    ]
    rows.append(["limit", *(Power(value(name)) for name in ("lockstep.limit", "lockstep.limit_fp32"))])
    return Table(("Replicas", "FP64", "FP32"), rows)


# Bigger batches.


def bigger_batch() -> Table:
    """The batch, and the learning rate by the linear rule, from one GPU to a larger server."""
    each, base = count("batch.per_gpu"), value("batch.base_lr")
    rows: list[list[Cell]] = []
    for gpus in (1, count("batch.two"), count("batch.gpus"), count("batch.more_gpus")):
        batch = scaling.effective_batch(per_gpu_batch=each, gpus=gpus)
        rows.append([Num(gpus), Num(batch), Num(scaling.linear_rule(base_lr=base, base_batch=each, batch=batch))])
    return Table(("GPUs", "Samples in a step", "Learning rate"), rows)


def warm_up() -> Drawn:
    """A ramp from the low dashed line to the high one, then flat."""
    base, peak, climb = value("batch.base_lr"), value("batch.scaled_lr"), count("warm.steps")
    steps = [*range(0, climb + 1, climb // 8), 2 * climb]
    rates = [scaling.warm_up_lr(step=step, steps=climb, start_lr=base, peak_lr=peak) for step in steps]
    figure = go.Figure(go.Scatter(x=steps, y=rates, mode="lines", name="learning rate", meta={"role": "update"}, showlegend=False))
    figure.update_layout(
        height=270,
        showlegend=False,
        xaxis={"title": {"text": "step"}, "range": [0, 2 * climb]},
        yaxis={"title": {"text": "learning rate"}, "range": [0, 1.25 * peak]},
    )
    for rate, words, x, anchor in (
        (base, "what suits one GPU", 2 * climb, "right"),
        (peak, "what the rule gives", 2 * climb, "right"),
    ):
        figure.add_shape(type="line", name="total", x0=0, x1=1, xref="paper", y0=rate, y1=rate, line={"dash": "dash"})
        figure.add_annotation(
            name="total", x=x, y=rate + 0.06 * peak, text=f"{words}: {text.show(rate)}", showarrow=False, xanchor=anchor
        )
    return Drawn(
        figure,
        'Warm-up starts at the rate of one GPU and reaches the scaled one after [= q("200", warm.steps) =] steps',
        'Learning rate over steps. A straight line from [= q("0.001", batch.base_lr) =] at the start to [= q("0.004", batch.scaled_lr) =] at step '
        '[= q("200", warm.steps) =], then flat.',
        'For [= q("four", batch.gpus) =] GPUs. How many steps to take is a choice; Goyal et al. climb for several passes over the data.',
        Table(("Step", "Learning rate"), [[Num(step), Num(rate)] for step, rate in zip(steps, rates, strict=True)]),
        badge="worked example · after Goyal et al.",
        kind="example",
    )


def wrappers() -> Table:
    """Two ways that PyTorch offers, side by side."""
    rows: list[list[Cell]] = [
        ["Processes", "one for all GPUs", "one for each GPU"],
        ["Who splits the batch", "the wrapper, in every call", "you: a process loads its own samples"],
        ["Parameters", "copied in every forward pass", "copied at the start, then updated alike"],
        ["Outputs", "gathered on the first GPU", "stay where they are"],
        ["Gradients", "summed on the first GPU", "averaged by an allreduce, during backward"],
        ["Machines", "one", "one or many"],
    ]
    return Table(("What differs", "DataParallel", "Distributed\u200bDataParallel"), rows)


FIGURES: dict[str, Callable[[], Drawn]] = {
    "split-waits": split_waits,
    "split-bytes": split_bytes,
    "replica-step": replica_step,
    "lockstep-loss": lockstep_loss,
    "lockstep-growth": lockstep_growth,
    "lockstep-faults": lockstep_faults,
    "warm-up": warm_up,
}
TABLES: dict[str, Callable[[], Table]] = {
    "three-ways": three_ways,
    "allreduce-walk": allreduce_walk,
    "lockstep-broken": lockstep_broken,
    "lockstep-mutants": lockstep_mutants,
    "lockstep-precisions": lockstep_precisions,
    "bigger-batch": bigger_batch,
    "wrappers": wrappers,
}
