"""The figures and tables of act 2: Python, a queue and a GPU."""

from __future__ import annotations

from collections.abc import Callable

import plotly.graph_objects as go

from macros.evaluate import book
from macros.figures.core import Drawn, count, scheduled, total, value
from macros.tables import Cell, Code, Name, Num, Table
from perfmodel.pipeline import AsyncPipeline
from perfmodel.streams import Span, run


def _pipeline(tasks: str, every: int | None = None, group: str = "queue") -> AsyncPipeline:
    t1, t2, t3 = (value(f"{group}.{name}") for name in ("enqueue", "compute", "fetch"))
    return AsyncPipeline(enqueue=t1, compute=t2, fetch=t3, tasks=count(tasks), barrier_every=every)


def _statement(span: Span, _lane: str) -> str:
    """x, y and z for the tasks of the first example."""
    verb, _, number = span.name.partition(" ")
    return "xyz"[int(number) - 1] if number else verb


def _task(span: Span, _lane: str) -> str:
    return span.name.partition(" ")[2] or ("↩" if span.role == "fetch" else "")


_QUEUE_ROLES = {"host": "Python queues a task", "compute": "the GPU computes", "fetch": "the result comes back"}


def queue_statements() -> Drawn:
    """Python's lane ends long before the GPU's: the code has run, the work has not."""
    tasks = [task for task in _pipeline("queue.statements").program() if task.role != "fetch"]
    schedules = {"": run(tasks, ("Python", "GPU"))}
    return scheduled(
        schedules,
        'Python is done at [= q("6 ticks", queue.free) =]; the GPU works until [= q("11 ticks", queue.done) =]',
        'Timeline. Python queues x, y and z and is free at [= q("6 ticks", queue.free) =]. The GPU starts x at [= q("2 ticks", queue.enqueue) =], '
        'runs the tasks one after the other and ends at [= q("11 ticks", queue.done) =].',
        "Top lane: Python puts tasks in the queue, then goes on to other things. Bottom lane: the GPU takes them out.",
        unit="ticks",
        upto=14,
        label=_statement,
        roles=_QUEUE_ROLES,
        totals=[total("queue.free"), total("queue.done")],
        free=("Python",),
    )


def queue_print() -> Drawn:
    """Python's lane does not end any more: it is stuck until the GPU is done."""
    schedules = {"": _pipeline("queue.statements").schedule()}
    return scheduled(
        schedules,
        'print(z) makes Python wait [= q("5 ticks", queue.wait) =], then fetch for [= q("2 ticks", queue.fetch) =]',
        'Timeline. Python waits from [= q("6 ticks", queue.free) =] to [= q("11 ticks", queue.done) =], then fetches the result '
        'until [= q("13 ticks", queue.printed) =].',
        "The same queue, with print(z) at the end.",
        unit="ticks",
        upto=14,
        label=_statement,
        roles=_QUEUE_ROLES,
        totals=[total("queue.printed")],
        waits="Python",
        free=("GPU",),
    )


def queue_barriers() -> Drawn:
    """Same work, same machine: in the upper pair somebody always waits, in the lower pair hardly anybody."""
    schedules = {"each · ": _pipeline("queue.tasks", 1).schedule(), "once · ": _pipeline("queue.tasks").schedule()}
    return scheduled(
        schedules,
        'One barrier at the end takes [= q("28 ticks", queue.once) =]; one after each task takes [= q("56 ticks", queue.each) =]',
        'Two timelines of [= q("eight", queue.tasks) =] tasks. With a barrier after each task, Python and the GPU take turns and end at '
        '[= q("56 ticks", queue.each) =]. With one barrier at the end they overlap and end at [= q("28 ticks", queue.once) =].',
        "Upper lanes: a barrier after each task. Lower lanes: one barrier at the end. ↩ is a result coming back.",
        unit="ticks",
        upto=60,
        label=_task,
        roles=_QUEUE_ROLES,
        totals=[total("queue.once", "once"), total("queue.each", "each")],
        waits="Python",
    )


def queue_depth() -> Drawn:
    """Without barriers the staircase climbs; a barrier after every fourth task cuts it down to the floor."""
    every = count("queue.every")
    lines = {
        "one barrier at the end": (_pipeline("queue.tasks"), "compute"),
        f"a barrier after every {every} tasks": (_pipeline("queue.tasks", every), "fetch"),
    }
    traces: list[go.Scatter] = []
    rows: list[list[Cell]] = []
    for name, (pipeline, role) in lines.items():
        depth = [*pipeline.queue_depth()]
        times, counts = [d.time for d in depth], [d.tasks for d in depth]
        traces.append(
            go.Scatter(
                x=[*times, pipeline.total],
                y=[*counts, 0],
                mode="lines",
                name=name,
                meta={"role": role},
                line={"shape": "hv", "dash": "solid" if role == "compute" else "dash"},
            )
        )
        rows += [[Name(name), Num(d.time, "ticks"), Num(d.tasks)] for d in depth]
    figure = go.Figure(traces)
    figure.update_layout(
        height=260,
        xaxis={"title": {"text": "time (ticks)"}, "range": [0, 34]},
        yaxis={
            "title": {"text": "tasks pending"},
            "range": [0, 5],
            "tickvals": [*range(5)],
            "ticktext": [str(n) for n in range(5)],
        },
    )
    return Drawn(
        figure,
        'The queue grows to [= q("four", queue.peak) =] tasks; a barrier after [= q("every fourth", queue.every) =] task keeps it at [= q("two", queue.peak_every_four) =]',
        'Pending tasks over time. With one barrier at the end the queue climbs to [= q("4", queue.peak) =]. With a barrier after [= q("every fourth", queue.every) =] task it '
        'holds [= q("at most 2", queue.peak_every_four) =].',
        "Each pending task holds memory for its inputs and results.",
        Table(("Barrier", "Time", "Tasks pending from then on"), rows),
        badge="cost model · ticks",
        unit="ticks",
    )


def queue_slow() -> Drawn:
    """Here Python's lane is the full one and the GPU's lane is mostly hatching."""
    every = count("queue.every")
    schedules = {
        "once · ": _pipeline("queue.tasks", group="slow").schedule(),
        f"every {every} · ": _pipeline("queue.tasks", every, "slow").schedule(),
    }
    return scheduled(
        schedules,
        'With a slow Python the GPU starves: [= q("27 ticks", slow.once) =], and one more barrier adds [= q("3 ticks", slow.price) =]',
        'Two timelines in which queueing a task takes [= q("3 ticks", slow.enqueue) =] and computing it [= q("1 tick", slow.compute) =]. The GPU is idle '
        'most of the time. One barrier at the end: [= q("27 ticks", slow.once) =]. A barrier after [= q("every fourth", queue.every) =] task: [= q("30 ticks", slow.every_four) =].',
        'Upper lanes: one barrier at the end. Lower lanes: a barrier after [= q("every fourth", queue.every) =] task.',
        unit="ticks",
        upto=34,
        label=_task,
        roles=_QUEUE_ROLES,
        totals=[total("slow.once", "once"), total("slow.every_four", f"every {every}")],
        waits="Python",
    )


def barriers() -> Table:
    """How often to wait: totals and queue peaks of the eight tasks."""
    t1, t2, t3, n = (book()[f"queue.{name}"].value for name in ("enqueue", "compute", "fetch", "tasks"))
    rows: list[list[Cell]] = []
    for every in (1, 2, int(book()["queue.every"].value), None):
        pipeline = AsyncPipeline(enqueue=t1, compute=t2, fetch=t3, tasks=int(n), barrier_every=every)
        name: Cell = (
            Name(f"after every {every} tasks") if every and every > 1 else ("after every task" if every else "only at the end")
        )
        rows.append([name, Num(pipeline.barriers), Num(pipeline.total, "ticks"), Num(pipeline.queue_peak)])
    return Table(("Python waits", "Barriers", "Total", "Most tasks pending"), rows)


def blockers() -> Table:
    """Calls that wait for the queue when z lives on a GPU, and where each hides."""
    rows: list[list[Cell]] = [
        [Code("print(z)"), "the values, as text", "debugging"],
        [Code("z.sum().item()"), "a Python number", "logging the loss of a step"],
        [Code("z.tolist()"), "a list", "metrics"],
        [Code("z.cpu()"), "a copy in CPU memory", "saving, comparing"],
        [Code("z.cpu().numpy()"), "an array; the copy is what waits", "plotting"],
        [Code("if z.sum() > 0:"), "true or false", "a branch on a value"],
        [Code("z[z > 0]"), "the values that fit the mask", "filtering"],
        [Code("torch.cuda.synchronize()"), "nothing: it only waits", "timing; reading a copy made with non_blocking"],
    ]
    return Table(("Call", "What Python gets", "Where you meet it"), rows)


FIGURES: dict[str, Callable[[], Drawn]] = {
    "queue-statements": queue_statements,
    "queue-print": queue_print,
    "queue-barriers": queue_barriers,
    "queue-depth": queue_depth,
    "queue-slow": queue_slow,
}
TABLES: dict[str, Callable[[], Table]] = {"barriers": barriers, "blockers": blockers}
