"""The table of the lab page. The labs themselves are in `macros.labs`."""

from __future__ import annotations

from collections.abc import Callable

from macros.figures.core import Drawn
from macros.labs import LABS
from macros.tables import Cell, Name, Num, Table
from perfmodel.cluster import CLUSTERS


def machines() -> Table:
    """The machines that the cluster lab offers, and where each of their numbers comes from."""
    rows: list[list[Cell]] = []
    for c, (name, _) in zip(CLUSTERS.values(), LABS["cluster"]().presets, strict=True):
        pipes = [Num(pipe.bytes_per_s, "GB/s") for pipe in (c.link, c.cpu, c.network)]
        where = dict.fromkeys(str(s) for s in (c.source, c.link.source, c.cpu.source, c.network.source, c.latency_source))
        rows.append([Name(name), Num(c.gpus * c.nodes), *pipes, Num(c.latency_s, "µs"), Name("; ".join(where))])
    head = ("Machine", "GPUs", "Link inside", "Link to the CPU", "Network port", "Latency", "Sources")
    return Table(head, rows, "The machines of the lab: rates of one GPU, each way")


FIGURES: dict[str, Callable[[], Drawn]] = {}
TABLES: dict[str, Callable[[], Table]] = {"lab-machines": machines}
