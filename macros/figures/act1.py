"""The figures and tables of act 1: a program run a statement at a time, the same program compiled, and what Python costs the GPUs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from itertools import groupby

import plotly.graph_objects as go

from macros import text
from macros.code import listing
from macros.evaluate import book
from macros.figures.core import Drawn, count, scheduled, total, value
from macros.tables import Cell, Code, Name, Num, Say, Table
from macros.timelines import in_unit, lanes_axis, timeline
from perfmodel import launch, program
from perfmodel.book.act1 import NETWORK, PROGRAM, STAGES
from perfmodel.interpreter import Step
from perfmodel.streams import Schedule, Span, Task, run

_BADGE = "worked example · Dive into Deep Learning 13.1"


# Step 1: a statement at a time.


@dataclass(frozen=True)
class Listing(Table):
    """A table of one cell, a program, shown as a listing."""

    def html(self, say: Say) -> str:
        """The program, coloured."""
        return listing(str(self.rows[0][0]))


def program_source() -> Table:
    """The program of the act, as the model reads it."""
    return Listing(("Program",), [[Code(PROGRAM)]])


def _steps() -> list[Step]:
    """The statements of fancy_func that assign, each once it has run."""
    return [step for step in program.trace(PROGRAM) if step.function == "fancy_func" and " = " in step.statement]


def program_turns() -> Drawn:
    """The boxes of the two lanes never touch side by side in one lane: between two additions Python always comes back."""
    sums = [line.partition(" = ")[2] for line in program.inline(PROGRAM).splitlines() if " = " in line]
    boxes = [("Python", "call")]
    for addition, step in zip(sums, _steps(), strict=True):
        boxes.append(("adding", addition.replace(" ", "")))
        boxes.append(("Python", f"{step.statement.partition(' = ')[0]}={step.value}"))
    tasks = [
        Task(
            name=words,
            streams=(lane,),
            duration_s=1.25 if lane == "Python" else 1,  # room for its words; no claim about time
            role="host" if lane == "Python" else "compute",
            waits=(i - 1,) if i else (),
        )
        for i, (lane, words) in enumerate(boxes)
    ]
    figure = timeline(
        {"": run(tasks, ("Python", "adding"))},
        unit="ticks",
        upto=sum(task.duration_s for task in tasks),
        label=lambda span, lane: span.name,
        roles={"host": "Python between the additions", "compute": "an addition"},
    )
    # The engine gives the order; a box says nothing about how long anything takes.
    figure.update_layout(xaxis={"title": {"text": "time, not to scale"}, "tickvals": [], "ticktext": []})
    for trace in figure.data:
        trace.hovertext = [words or trace.name for words in trace.text]
    rows: list[list[Cell]] = [
        [Name(step.function or "outside"), Code(step.statement), Num(step.value)] for step in program.trace(PROGRAM)
    ]
    return Drawn(
        figure,
        "Between one addition and the next, Python always comes back",
        'A lane for Python and a lane for adding, which take turns. Python calls add, the first sum is made, Python gets e = [= q("3", program.e) =] back and calls add '
        'again, which gives f = [= q("7", program.f) =], and once more, which gives g = [= q("10", program.g) =].',
        "Top lane: Python calls, gets a result back, gives it a name. Bottom lane: the additions themselves. Hatched: nothing runs there.",
        Table(("In", "Statement", "Gives"), rows),
        kind="example",
        badge=_BADGE,
    )


def program_alive() -> Drawn:
    """The hatching grows to the right: more and more values are held only because their function has not ended."""
    steps = _steps()
    names = list(dict.fromkeys(alive.name for step in steps for alive in step.alive))
    kinds = {"needed": ("host", "will be read again"), "held": ("idle", "held, and never read again")}
    bars: dict[str, list[tuple[str, int, int, str]]] = {why: [] for why in kinds}
    for name in names:
        states = [
            (column, alive.why, alive.value) for column, step in enumerate(steps) for alive in step.alive if alive.name == name
        ]
        for why, same in groupby(states, key=lambda state: state[1]):
            run_of = list(same)
            bars[why].append((name, run_of[0][0], len(run_of), str(run_of[0][2])))
    traces = [
        go.Bar(
            orientation="h",
            name=words,
            x=[wide for _, _, wide, _ in bars[why]],
            base=[start for _, start, _, _ in bars[why]],
            y=[name for name, *_ in bars[why]],
            text=[shown for *_, shown in bars[why]],
            hovertext=[f"{name} = {shown}: {words}" for name, _, _, shown in bars[why]],
            meta={"role": role},
        )
        for why, (role, words) in kinds.items()
    ]
    figure = go.Figure(traces)
    figure.update_layout(
        barmode="overlay",
        bargap=0.2,
        height=70 + 26 * len(names),
        xaxis={
            "title": {"text": "once this statement has run"},
            "range": [0, len(steps)],
            "tickvals": [column + 0.5 for column in range(len(steps))],
            "ticktext": [step.statement for step in steps],
        },
        yaxis=lanes_axis(names),
    )
    rows: list[list[Cell]] = [
        [Code(step.statement), Code(alive.name), Num(alive.value), Name(kinds[alive.why][1])]
        for step in steps
        for alive in step.alive
    ]
    return Drawn(
        figure,
        'Once g is made, Python holds [= q("seven", program.alive) =] values, [= q("six", program.held) =] of them for nothing',
        "A lane for each name of fancy_func, from a to g, over its statements. Once a value has been read for the last time its bar turns hatched, and it "
        'goes on to the end. After g = add(e, f), [= q("six", program.held) =] of [= q("seven", program.alive) =] bars are hatched.',
        "A bar is a value that is alive in fancy_func; the number in it is the value. When the function returns, all of them go at once.",
        Table(("Statement", "Name", "Value", "Why it is alive"), rows),
        kind="example",
        badge=_BADGE,
    )


# Step 2: read it all, then run it.


@dataclass(frozen=True)
class Stages(Table):
    """The stages of a program, a box each: its name, its text, and what one execution takes. The same cells make a plain table."""

    title: str = ""
    badge: str = ""

    def html(self, say: Say) -> str:
        """Boxes side by side, or one under the other where there is no room."""
        boxes = []
        for name, source, *counts in self.rows:
            group = STAGES[str(name)]
            lines = "".join(
                f"<br>{say(f'{head}: [= q({chr(34)}{cell}{chr(34)}, {group}.{key}) =]')[0]}"
                for head, cell, key in zip(self.head[2:], counts, ("operations", "calls", "alive"), strict=True)
            )
            boxes.append(
                f"<div><strong>{escape(str(name)).capitalize()}</strong><p>{lines.removeprefix('<br>')}</p>{listing(str(source))}</div>"
            )
        return (
            f'<figure class="fig" id="fig-program-stages" data-kind="model"><p class="fig-title">{say(self.title)[0]}</p>'
            f'<div class="cards">{"".join(boxes)}</div>'
            f'<figcaption>{say(self.caption)[0]} <span class="badge badge-model">{escape(self.badge)}</span></figcaption></figure>'
        )


def program_stages() -> Table:
    """Less is left from box to box, and the result stays."""
    return Stages(
        ("Stage", "Program", "Operations", "Calls", "Values alive at once"),
        [
            [Name(stage.name), Code(stage.source), Num(stage.operations), Num(stage.calls), Num(stage.most_alive)]
            for stage in program.stages(PROGRAM)
        ],
        title='A compiler that sees the whole program reduces it to one number: [= q("10", program.folded) =]',
        caption="The text in each box was written by the compiler's passes while this page was built, and the counts are of that text.",
        badge="computed by this build",
    )


# Step 3: write the one, run the other.


def program_ways() -> Table:
    """The last row takes its second cell from the first row and its third from the second."""
    rows: list[list[Cell]] = [
        [Name("Imperative"), "statements", "each statement", "easy"],
        [Name("Symbolic"), "a description", "compiled code", "hard"],
        [Name("Hybrid"), "statements", "compiled code", "easy"],
    ]
    return Table(("Way", "You write", "What runs", "To debug"), rows)


def hybrid_network() -> Table:
    """Nearly all parameters of the network are in its first layer."""
    rows: list[list[Cell]] = [
        [Name(name), Num(layer.inputs), Num(layer.outputs), Num(layer.parameters)]
        for name, layer in zip(("first", "second", "third"), NETWORK, strict=True)
    ]
    rows.append([Name("all"), Num(NETWORK[0].inputs), Num(NETWORK[-1].outputs), Num(value("hybrid.parameters"))])
    return Table(("Layer", "Inputs", "Outputs", "Parameters"), rows)


# Step 4: one thread, several GPUs.


def _on(span: Span, _lane: str) -> str:
    """The number of the GPU that a launch is for."""
    return span.name.rpartition("GPU ")[2] if span.role == "host" else ""


def _fed(gpus: int) -> Schedule:
    """The operations of the example, on each of `gpus` GPUs."""
    tasks = launch.launch_tasks(ops=count("bill.ops"), gpus=gpus, launch_s=value("bill.launch"), op_s=value("bill.op"))
    return run(tasks, launch.launch_lanes(gpus))


def bill_launch() -> Drawn:
    """Above, the GPU's lane is full. Below, the same Python lane feeds four, and theirs are striped with waiting."""
    schedules = {f"{word} · ": _fed(count(f"bill.{word}")) for word in ("one", "four")}
    return scheduled(
        schedules,
        'One Python thread keeps one GPU busy; with [= q("four", bill.four) =], each gets [= q("20 µs", bill.op) =] of work only every '
        '[= q("40 µs", bill.bound_four) =]',
        'Two timelines of operations that take [= q("20 µs", bill.op) =] and cost [= q("10 µs", bill.launch) =] to launch. A single GPU computes without a gap once '
        'it has begun and ends at [= q("90 µs", bill.total_one) =]. Each of [= q("four", bill.four) =] GPUs gets an operation only every '
        '[= q("40 µs", bill.bound_four) =], is idle in between, and the last ends at [= q("180 µs", bill.total_four) =].',
        'Upper lanes: one GPU. Lower lanes: [= q("four", bill.four) =] of them, with as many operations each. Python launches for GPU 0 first, then for each of the others in turn.',
        unit="µs",
        upto=240,
        label=_on,
        roles={"host": "Python launches an operation", "compute": "a GPU computes it"},
        totals=[total(f"bill.total_{word}", word) for word in ("one", "four")],
        free=("Python",),
    )


def bill_growth() -> Drawn:
    """A straight line up: every GPU more asks for longer operations. Below the line, the GPUs wait."""
    counts = list(range(1, count("bill.eight") + 1))
    bounds = [launch.launch_bound_s(gpus=k, launch_s=value("bill.launch")) for k in counts]
    example = book()["bill.op"].value
    figure = go.Figure(
        go.Scatter(
            x=counts,
            y=[in_unit(bound, "µs") for bound in bounds],
            mode="lines+markers",
            name="an operation must take",
            meta={"role": "host"},
        )
    )
    y = in_unit(example, "µs")
    figure.update_layout(
        height=300,
        xaxis={
            "title": {"text": "GPUs fed by one Python thread"},
            "range": [0.7, 8.3],
            "tickvals": counts,
            "ticktext": [str(k) for k in counts],
        },
        yaxis={"title": {"text": "how long one operation takes (µs)"}, "range": [0, 90]},
    )
    figure.add_shape(type="line", name="compute", x0=0, x1=1, xref="paper", y0=y, y1=y, line={"dash": "dash"})
    figure.add_annotation(
        name="compute", x=8.2, y=y - 6, text=f"the example: {text.show(example, 'µs')}", showarrow=False, xanchor="right"
    )
    figure.add_annotation(x=1, y=75, text="above: GPUs busy", showarrow=False, xanchor="left")
    figure.add_annotation(name="host", x=8.2, y=33, text="below: GPUs wait", showarrow=False, xanchor="right")
    return Drawn(
        figure,
        'Every GPU raises the bar by [= q("10 µs", bill.launch) =]: [= q("eight", bill.eight) =] starve until an operation takes [= q("80 µs", bill.bound_eight) =]',
        'A straight line from [= q("10 µs", bill.bound_one) =] for one GPU to [= q("80 µs", bill.bound_eight) =] for [= q("eight", bill.eight) =]. Operations above '
        'it keep every GPU busy; below it Python is the bottleneck. The example of [= q("20 µs", bill.op) =] is a dashed line, which meets it at [= q("two", bill.fed) =] GPUs.',
        "On the line an operation takes just long enough to keep every GPU busy.",
        Table(
            ("GPUs", "An operation must take"),
            [[Num(k), Num(bound, "µs")] for k, bound in zip(counts, bounds, strict=True)],
        ),
        badge="cost model · µs",
    )


FIGURES: dict[str, Callable[[], Drawn]] = {
    "program-turns": program_turns,
    "program-alive": program_alive,
    "bill-launch": bill_launch,
    "bill-growth": bill_growth,
}
TABLES: dict[str, Callable[[], Table]] = {
    "program-source": program_source,
    "program-stages": program_stages,
    "program-ways": program_ways,
    "hybrid-network": hybrid_network,
}
