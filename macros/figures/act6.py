"""The figures and tables of act 6: the ports of a server, and the routes of its gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import plotly.graph_objects as go

from macros import text
from macros.evaluate import book
from macros.figures.core import Bar, Drawn, bars, count, scheduled, total, value
from macros.tables import Cell, Chunks, Name, Num, Table
from macros.timelines import in_unit
from perfmodel import collectives, kernels
from perfmodel.streams import Span, run

_SYNC_ROLES = {"transfer": "gradients on their way to be summed", "update": "the sum on its way back"}


def _port(span: Span, lane: str) -> str:
    """→2 on the sender's lane, ←0 on the receiver's."""
    sender, _, receiver = span.name.partition(",")[0].partition(" → ")
    return f"→{receiver.removeprefix('GPU ')}" if lane.endswith("out") else f"←{sender.removeprefix('GPU ')}"


def _sync(build: Callable[..., Any], name: str, title: str, alt: str, caption: str, *, close: bool = False) -> Drawn:
    """One way to synchronize, port by port. All on the same lanes and the same time scale, but for a close-up."""
    gpus = count("sync.gpus")
    tasks = build(gpus=gpus, gradient_bytes=value("sync.gradient"), link_bytes_per_s=value("sync.link"))
    schedules = {"": run(tasks, collectives.ports(gpus, cpu=not close))}
    return scheduled(
        schedules,
        title,
        alt,
        caption,
        unit="ms",
        upto=1.1 * in_unit(value(name), "ms") if close else 85,
        label=_port,
        roles=_SYNC_ROLES,
        totals=[total(name)],
        kind="example",
        badge="worked example · Dive into Deep Learning 13.7",
    )


def sync_one_gpu() -> Drawn:
    """At any moment one transfer runs, and GPU 0 is at one end of it."""
    return _sync(
        collectives.one_gpu_tasks,
        "sync.one_gpu",
        'GPU 0 takes one transfer at a time: [= q("60 ms", sync.one_gpu) =] to gather and send back',
        'Timeline of all ports. The other GPUs send to GPU 0 one after the other, [= q("10 ms", sync.hop) =] each, until '
        '[= q("30 ms", sync.one_gpu_half) =]. Then GPU 0 sends to each of them until [= q("60 ms", sync.one_gpu) =]. Most ports are idle most of the time.',
        "A lane is one direction of one link. An arrow → names the GPU it sends to, ← the GPU it receives from. Hatched: idle.",
    )


def sync_cpu() -> Drawn:
    """The same staircase with one more stair: GPU 0 now has to send too."""
    return _sync(
        collectives.cpu_tasks,
        "sync.cpu",
        'Through the CPU it takes [= q("80 ms", sync.cpu) =]: now all of the GPUs must send',
        'Timeline of all ports. Every GPU sends to the CPU in turn, until [= q("40 ms", sync.cpu_half) =]; then the CPU sends to every GPU in turn, until '
        '[= q("80 ms", sync.cpu) =].',
        "The same lanes and the same time scale. The busy port is the CPU's.",
    )


def sync_sharded() -> Drawn:
    """Every GPU lane is full, and the picture ends early."""
    return _sync(
        collectives.sharded_tasks,
        "sync.sharded",
        'Sharded, every GPU works all the time: [= q("15 ms", sync.sharded) =]',
        'Timeline of all ports. All GPUs send and receive shards at the same time. Every shard is summed at [= q("7.5 ms", sync.sharded_half) =] and back '
        'on every GPU at [= q("15 ms", sync.sharded) =]. Only the ports of the CPU are idle.',
        "The same lanes and the same time scale. Nothing waits but the CPU, which takes no part.",
    )


def sync_sharded_close() -> Drawn:
    """Along a lane the names change: every GPU talks to every other."""
    return _sync(
        collectives.sharded_tasks,
        "sync.sharded",
        "Close up: every GPU sends to every other",
        "The timeline of sharding, enlarged. GPU 0 sends to GPU 1, GPU 2 and GPU 3 in turn, and so does each of the others.",
        "The figure above, its time scale stretched. Read along a lane: the names change.",
        close=True,
    )


def sync_ring() -> Drawn:
    """As full as sharding, on the same scale."""
    return _sync(
        collectives.ring_tasks,
        "sync.ring",
        'The ring needs [= q("15 ms", sync.ring) =] as well, and only neighbours',
        'Timeline of all ports. In [= q("six", sync.steps) =] steps every GPU sends one chunk to the next GPU in the ring and receives one from the GPU '
        'before it, until [= q("15 ms", sync.ring) =].',
        "The same lanes and the same time scale.",
    )


def sync_ring_close() -> Drawn:
    """Every out-lane holds one name all along, and so does every in-lane."""
    return _sync(
        collectives.ring_tasks,
        "sync.ring",
        "Close up: each GPU sends to one neighbour and listens to one neighbour",
        "The timeline of the ring, enlarged. GPU 0 always sends to GPU 1 and always receives from GPU 3; GPU 1 sends to GPU 2, and so on around.",
        "The figure above, its time scale stretched. Read along a lane: the name never changes.",
        close=True,
    )


def sync_growth() -> Drawn:
    """One line climbs for ever; the other bends under a ceiling."""
    link = {"gradient_bytes": value("sync.gradient"), "link_bytes_per_s": value("sync.link")}
    counts = list(range(2, count("scale.eight") + 1))
    naive = [collectives.one_gpu_s(gpus=n, **link) for n in counts]
    ring = [collectives.ring_s(gpus=n, **link) for n in counts]
    limit = book()["sync.limit"].value
    figure = go.Figure(
        [
            go.Scatter(
                x=counts,
                y=[in_unit(v, "ms") for v in naive],
                mode="lines+markers",
                name="all to one GPU",
                meta={"role": "transfer"},
            ),
            go.Scatter(
                x=counts,
                y=[in_unit(v, "ms") for v in ring],
                mode="lines+markers",
                name="ring, or in shards",
                meta={"role": "update"},
            ),
        ]
    )
    figure.update_layout(
        height=300,
        xaxis={"title": {"text": "GPUs"}, "range": [1.7, 8.3], "tickvals": counts, "ticktext": [str(n) for n in counts]},
        yaxis={"title": {"text": "time (ms)"}, "range": [0, 150]},
    )
    y = in_unit(limit, "ms")
    figure.add_shape(type="line", name="total", x0=0, x1=1, xref="paper", y0=y, y1=y, line={"dash": "dash"})
    figure.add_annotation(
        name="total", x=8.2, y=y + 7, text=f"the ring stays under {text.show(limit, 'ms')}", showarrow=False, xanchor="right"
    )
    return Drawn(
        figure,
        'Without latency the ring never passes [= q("20 ms", sync.limit) =]; all to one GPU grows with every GPU',
        'Time over the number of GPUs. All to one GPU climbs in a straight line from [= q("20 ms", scale.one_gpu_two) =] to '
        '[= q("140 ms", scale.one_gpu_eight) =]. The ring goes from [= q("10 ms", scale.ring_two) =] to [= q("17.5 ms", scale.ring_eight) =], '
        '[= rel("less", scale.ring_eight, sync.limit) =] than its limit of [= q("20 ms", sync.limit) =].',
        "The same links throughout, and no latency. Summing in shards gives the same line. The dashed one is the limit of both.",
        Table(
            ("GPUs", "All to one GPU", "Ring, or in shards"),
            [[Num(n), Num(a, "ms"), Num(b, "ms", 1)] for n, a, b in zip(counts, naive, ring, strict=True)],
        ),
        badge="cost model · ms",
    )


def _bars(rows: list[tuple[str, str, str]], upto: float, height: int) -> tuple[go.Figure, Table]:
    """Bars of named times, and their table: (words, number of the book, role)."""
    figure = bars(
        [Bar(words, in_unit(value(name), "ms"), text.show(value(name), "ms"), role) for words, name, role in rows],
        title="time (ms)",
        upto=upto,
        height=height,
    )
    return figure, Table(("Way to synchronize", "Time"), [[Name(words), Num(value(name), "ms")] for words, name, _ in rows])


def sync_compare() -> Drawn:
    """Same server, same gradients: the route alone makes the difference."""
    figure, table = _bars(
        [
            ("through the CPU", "sync.cpu", "transfer"),
            ("all to one GPU", "sync.one_gpu", "transfer"),
            ("sharded", "sync.sharded", "transfer"),
            ("ring", "sync.ring", "transfer"),
        ],
        105,
        200,
    )
    return Drawn(
        figure,
        'On one and the same server the route decides: [= q("80 ms", sync.cpu) =] or [= q("15 ms", sync.sharded) =]',
        'Bars. Through the CPU [= q("80 ms", sync.cpu) =], all to one GPU [= q("60 ms", sync.one_gpu) =], sharded [= q("15 ms", sync.sharded) =], '
        'ring [= q("15 ms", sync.ring) =].',
        'The book\'s server: [= q("four", sync.gpus) =] GPUs, [= q("160 MB", sync.gradient) =] of gradients, [= q("16 GB/s", sync.link) =] each way on '
        "every link.",
        table,
        kind="example",
        badge="worked example · Dive into Deep Learning 13.7",
    )


def sync_nvlink() -> Drawn:
    """A panel of its own, since the machine is another one: the book's ring, and what its roundings hide."""
    figure, table = _bars(
        [
            ("as in the book", "nvlink.rounded_short", "transfer"),
            ("with the factor", "nvlink.rounded", "transfer"),
            ("and an exact link", "nvlink.exact", "transfer"),
        ],
        10,
        160,
    )
    return Drawn(
        figure,
        'On another machine, with NVLink, the ring takes about [= q("6 ms", nvlink.rounded_short) =]',
        'Bars for [= q("eight", nvlink.gpus) =] GPUs with NVLink: [= q("5.93 ms", nvlink.rounded_short) =] as in the book, '
        '[= q("5.19 ms", nvlink.rounded) =] with the factor that it leaves out, [= q("4.98 ms", nvlink.exact) =] where its link is not rounded either.',
        'Another machine: [= q("eight", nvlink.gpus) =] V100s, [= q("three", nvlink.links) =] NVLinks in use each way on every GPU. Not to be compared '
        "bar by bar with the figure above.",
        table,
        kind="example",
        badge="worked example · Dive into Deep Learning 13.7",
    )


def ps_growth() -> Drawn:
    """One server: a line that climbs with every worker. Four: the same climb, flatter. As many servers as workers: flat."""
    link = {"gradient_bytes": value("sync.gradient"), "link_bytes_per_s": value("sync.link")}
    workers = [1, 2, 4, 6, 8, 10, 12, 14, 16]
    four = count("ps.servers")
    one = [collectives.parameter_server_s(workers=m, servers=1, **link) for m in workers]
    split = [collectives.parameter_server_s(workers=m, servers=four, **link) for m in workers]
    matched = [collectives.parameter_server_s(workers=m, servers=m, **link) for m in workers]
    lines = (
        ("one server", one, "transfer", "solid"),
        (f"{four} servers", split, "fetch", "dash"),
        ("one server a worker", matched, "update", "dot"),
    )
    figure = go.Figure(
        [
            go.Scatter(
                x=workers,
                y=[in_unit(v, "ms") for v in values],
                mode="lines+markers",
                name=name,
                meta={"role": role},
                line={"dash": dash},
            )
            for name, values, role, dash in lines
        ]
    )
    figure.update_layout(
        height=300,
        xaxis={"title": {"text": "workers"}, "range": [0, 17], "tickvals": workers, "ticktext": [str(m) for m in workers]},
        yaxis={"title": {"text": "push and pull (ms)"}, "range": [0, 340]},
    )
    return Drawn(
        figure,
        'With [= q("eight", ps.workers) =] workers, one server takes [= q("160 ms", ps.one) =]; [= q("four", ps.servers) =] servers take [= q("40 ms", ps.split) =]',
        'Time over the number of workers. One server climbs in a straight line to [= q("320 ms", ps.one_more) =] at [= q("16", ps.more_workers) =] workers. '
        'With [= q("eight", ps.workers) =] it takes [= q("160 ms", ps.one) =], [= q("four", ps.servers) =] servers take [= q("40 ms", ps.split) =]. '
        'One server a worker stays flat at [= q("20 ms", ps.matched) =].',
        'Every link carries [= q("16 GB/s", sync.link) =] each way, as in the server above, so that only the route differs.',
        Table(
            ("Workers", "One server", '[= q("Four", ps.servers) =] servers', "One a worker"),
            [[Num(m), Num(a, "ms"), Num(b, "ms"), Num(c, "ms")] for m, a, b, c in zip(workers, one, split, matched, strict=True)],
        ),
        badge="cost model · ms",
    )


def ring_walk() -> Table:
    """What every GPU holds in every chunk after each step of the ring; a finished sum is marked."""
    gpus = int(book()["sync.gpus"].value)
    last = 2 * (gpus - 1)
    whole = kernels.ring_state(gpus, last)[0][0]
    rows: list[list[Cell]] = []
    for step in range(last + 1):
        phase = "at the start" if step == 0 else ("reduce-scatter" if step < gpus else "all-gather")
        grid = kernels.ring_state(gpus, step)
        before = kernels.ring_state(gpus, max(step - 1, 0))
        rows.append([Name(str(step)), phase, *(Chunks(tuple(grid[gpu]), whole, tuple(before[gpu])) for gpu in range(gpus))])
    return Table(("Step", "Phase", *(f"GPU {gpu}" for gpu in range(gpus))), rows)


FIGURES: dict[str, Callable[[], Drawn]] = {
    "sync-one-gpu": sync_one_gpu,
    "sync-cpu": sync_cpu,
    "sync-sharded": sync_sharded,
    "sync-sharded-close": sync_sharded_close,
    "sync-ring": sync_ring,
    "sync-ring-close": sync_ring_close,
    "sync-growth": sync_growth,
    "sync-compare": sync_compare,
    "sync-nvlink": sync_nvlink,
    "ps-growth": ps_growth,
}
TABLES: dict[str, Callable[[], Table]] = {"ring-walk": ring_walk}
