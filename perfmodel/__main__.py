"""`python -m perfmodel`: the models at a terminal. Units in, units out; `--json` for machines; `--trace` for Perfetto.

The models need nothing but the standard library; this command needs click, `perfmodel.noise` NumPy and `perfmodel.lockstep` torch.
"""

from __future__ import annotations

import functools
import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

import click

from perfmodel import alphabeta, cluster, collectives, ladder, zero
from perfmodel import stages as _stages
from perfmodel.hardware import Pipe
from perfmodel.memory import RECIPES
from perfmodel.pipeline import AsyncPipeline
from perfmodel.sources import HERE
from perfmodel.streams import Schedule, Task, run
from perfmodel.trace import trace
from perfmodel.units import BYTES, RATE, TIME, Dim, unit
from perfmodel.wording import bytes_text, feels_like, number, percent, rate_text, ticks_text, time_text

_COUNTS = {"": 1, "K": 10**3, "M": 10**6, "B": 10**9, "T": 10**12}
_LEAST, _MOST = Decimal("1e-100"), Decimal("1e100")
"""What can be typed, but for 0: so far from the ends of the floats that no result leaves them, nor the decimals that it is printed with."""
_RANGE = "must be 0, or from 1e-100 to 1e100"


def _in_range(text: str) -> Decimal | None:
    """The number that was typed; None for one that is out of range."""
    try:
        amount = Decimal(text)
    except InvalidOperation:  # its exponent has more digits than even that of a Decimal may have
        return None
    return amount if amount == 0 or _LEAST <= amount.copy_abs() <= _MOST else None


class Amount(click.ParamType[float]):
    """A number with its unit, as "160MB" or "16 GB/s", in SI; without a unit only where there is none."""

    def __init__(self, dim: Dim, name: str, example: str) -> None:
        self.dim, self.name, self.example = dim, name, example

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The value in SI. A spelling that people read in two ways is refused, as is a unit of another kind."""
        if isinstance(value, float):
            return value
        found = re.fullmatch(r"\s*([+-]?[0-9_]*\.?[0-9]+(?:[eE][+-]?[0-9]+)?)\s*(\S.*)?\s*", value)
        if found is None:
            self.fail(f"must be {self.name}, such as {self.example}; got {value!r}", param, ctx)
        amount = _in_range(found[1])
        if amount is None:
            self.fail(f"{_RANGE}; got {value!r}", param, ctx)
        if found[2] is None:
            self.fail(f"must have a unit, such as {self.example}; got {value!r}", param, ctx)
        try:
            size = unit(found[2])
        except ValueError as error:
            self.fail(str(error), param, ctx)
        if size.dim != self.dim:
            self.fail(f"must be {self.name}, such as {self.example}; got {value!r}, {size.dim}", param, ctx)
        return float(Decimal(size.size.numerator) * amount / Decimal(size.size.denominator))


class Count(click.ParamType[int]):
    """A whole number; of parameters also as 7.5B: K, M, B and T are a thousand, a million, a billion and a trillion."""

    name = "count"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """The number."""
        if isinstance(value, int):
            return value
        found = re.fullmatch(r"\s*([0-9_]*\.?[0-9]+(?:[eE]\+?[0-9]+)?)\s*([KMBT]?)\s*", value)
        rule = f"must be a whole number, such as 7500000000 or 7.5B; got {value!r}"
        if found is None:
            self.fail(rule, param, ctx)
        amount = _in_range(found[1])
        if amount is None:
            self.fail(f"{_RANGE}; got {value!r}", param, ctx)
        amount *= _COUNTS[found[2]]
        if amount != amount.to_integral_value():
            self.fail(rule, param, ctx)
        return int(amount)


class Ticks(click.ParamType[float]):
    """A number of ticks, which have no unit."""

    name = "float"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The number."""
        ticks = click.FLOAT.convert(value, param, ctx)
        if math.isfinite(ticks) and _in_range(repr(ticks)) is None:  # the model refuses the others
            self.fail(f"{_RANGE}; got {value!r}", param, ctx)
        return ticks


SIZE = Amount(BYTES, "a size in bytes", "160MB")
LINK = Amount(RATE, "a rate in bytes per second", "16GB/s")
DURATION = Amount(TIME, "a time", "5us")
COUNT = Count()
TICKS = Ticks()


def _flags(function: Callable[..., None]) -> Callable[..., None]:
    """The two ways out that every command has, and the rules of the model at the flag that breaks them."""

    @functools.wraps(function)
    def wrapped(**given: Any) -> None:
        try:
            function(**given)
        except ValueError as error:
            rule, context = str(error), click.get_current_context()
            names = {option.name: option for option in context.command.params}
            parts = {**{name: name for name in names if name}, **_MEANS}
            flag = next((names[to] for word, to in parts.items() if to in names and rule.startswith(f"{word} must ")), None)
            raise click.BadParameter(rule, ctx=context, param=flag) from error

    return click.option("--json", "as_json", is_flag=True, help="Print values in SI units as JSON.")(wrapped)


_MEANS = {  # what the model calls it: the flag
    "gradient_bytes": "gradient", "link_bytes_per_s": "link", "latency_s": "latency", "size_bytes": "gradient", "forward_s": "forward",
    "backward_s": "backward", "compute_s": "compute", "bucket_bytes": "bucket", "the rate of 'link'": "link", "the rate of 'network'": "network",
    "stage": "zero_stage", "barrier_every": "every", "messages": "bucket",
}  # fmt: skip


# pragma: no mutate start, since this runs at import, before there is a mutant
def _trace_flag(function: Callable[..., None]) -> Callable[..., None]:
    path = click.Path(dir_okay=False, writable=True, path_type=Path)
    return click.option("--trace", "trace_file", type=path, metavar="FILE", help="Write the timeline for ui.perfetto.dev.")(
        function
    )


# pragma: no mutate end


def _write(trace_file: Path | None, schedules: Mapping[str, Schedule], unit_name: str) -> None:
    """Write the timelines, and say where. The file is there whole, or not at all."""
    if trace_file is None:
        return
    part = trace_file.with_name(trace_file.name + ".part")
    try:
        part.write_text(trace(schedules, unit_name), encoding="utf-8")
        part.replace(trace_file)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise click.FileError(str(trace_file), error.strerror) from error
    click.echo(f"trace: {trace_file}", err=True)


def _show(as_json: bool, values: Mapping[str, Any], head: Sequence[str], rows: Iterable[Sequence[str]], line: str = "") -> None:
    """A table with its columns aligned, or the values as JSON."""
    if as_json:
        click.echo(json.dumps(values, ensure_ascii=False, indent=2))
        return
    table = [list(head), *(list(row) for row in rows)]
    wide = [max(len(row[i]) for row in table) for i in range(len(head))]
    for row in table:
        cells = [row[0].ljust(wide[0]), *(cell.rjust(width) for cell, width in zip(row[1:], wide[1:], strict=True))]
        click.echo("  ".join(cells).replace("\u00a0", " ").rstrip())
    if line:
        click.echo(line.replace("\u00a0", " "))


@click.group(context_settings={"help_option_names": ["-h", "--help"], "show_default": True})
def main() -> None:
    """Cost models of deep-learning training. Sizes, rates and times carry their units: 160MB, 25MiB, 16GB/s, 400Gbit/s, 5us."""


@main.command()
@click.option("--gradient", type=SIZE, required=True, help="What each GPU holds, such as 160MB.")
@click.option("--gpus", type=int, required=True)
@click.option("--link", type=LINK, required=True, help="What a GPU's link carries each way, such as 16GB/s.")
@click.option("--latency", type=DURATION, default="0s", help="What each transfer costs before its first byte, such as 5us.")
@click.option(
    "--way",
    type=click.Choice(["one-gpu", "cpu", "sharded", "ring", "tree", "halving-doubling"]),
    help="Only this way, and its bus bandwidth.",
)
@_trace_flag
@_flags
def allreduce(
    gradient: float, gpus: int, link: float, latency: float, way: str | None, trace_file: Path | None, as_json: bool
) -> None:
    """The time to sum a gradient over some GPUs, for each way to do it."""
    link_of = {"gpus": gpus, "link_bytes_per_s": link, "latency_s": latency}
    by_gradient, by_size = {"gradient_bytes": gradient, **link_of}, {"size_bytes": gradient, **link_of}
    ways: dict[str, tuple[Callable[..., float], Callable[..., list[Task]], dict[str, Any]]] = {
        "one-gpu": (collectives.one_gpu_s, collectives.one_gpu_tasks, by_gradient),
        "cpu": (collectives.cpu_s, collectives.cpu_tasks, by_gradient),
        "sharded": (collectives.sharded_s, collectives.sharded_tasks, by_gradient),
        "ring": (collectives.ring_s, collectives.ring_tasks, by_gradient),
        "tree": (alphabeta.tree_s, alphabeta.tree_tasks, by_size),
        "halving-doubling": (alphabeta.halving_doubling_s, alphabeta.halving_doubling_tasks, by_size),
    }
    if way is None and gpus & (gpus - 1):
        del ways["halving-doubling"]  # needs a power of two
    chosen = [way] if way else list(ways)
    times = {name: ways[name][0](**ways[name][2]) for name in chosen}
    _write(trace_file, {name: run(ways[name][1](**ways[name][2])) for name in chosen} if trace_file else {}, "s")
    bus = {
        name: alphabeta.bus_bytes_per_s("all_reduce", size_bytes=gradient, gpus=gpus, time_s=t) if t else 0.0
        for name, t in times.items()
    }
    rows = [(name, time_text(t), rate_text(bus[name])) for name, t in times.items()]
    values = {
        "gradient_bytes": gradient,
        **link_of,
        "ways": {name: {"time_s": t, "bus_bytes_per_s": bus[name]} for name, t in times.items()},
    }
    _show(as_json, values, ("way", "time", "bus bandwidth"), rows)


@main.command()
@click.option("--stages", type=int, required=True, help="Devices, each with a part of the network.")
@click.option("--microbatches", type=int, required=True)
@click.option("--forward", type=DURATION, required=True, help="A microbatch forwards through a whole device, such as 1ms.")
@click.option("--backward", type=DURATION, required=True, help="The same backwards.")
@click.option("--schedule", type=click.Choice(["gpipe", "1f1b"]), default="1f1b")
@click.option("--chunks", type=int, default=1, help="Parts of the network on each device; above 1 the schedule is interleaved.")
@_trace_flag
@_flags
def pipeline(
    stages: int,
    microbatches: int,
    forward: float,
    backward: float,
    schedule: str,
    chunks: int,
    trace_file: Path | None,
    as_json: bool,
) -> None:
    """The time of a batch in a pipeline of stages, and its bubble."""
    cut = {"stages": stages, "microbatches": microbatches, "chunks": chunks}
    made = run(_stages.pipeline_tasks(schedule, forward_s=forward, backward_s=backward, **cut))  # type: ignore[arg-type]
    _write(trace_file, {f"{schedule}, {stages} stages": made}, "s")
    bubble = _stages.bubble_fraction(**cut)
    held = [_stages.in_flight(schedule, device=device, **cut) for device in range(stages)]  # type: ignore[arg-type]
    values = {**cut, "schedule": schedule, "time_s": made.total_s, "bubble_fraction": bubble, "in_flight": held}
    rows = [
        ("time of a batch", time_text(made.total_s)),
        ("bubble", percent(bubble)),
        ("microbatches held, first device", number(held[0])),
    ]
    _show(as_json, values, (schedule, ""), rows)


@main.command()
@click.option("--tasks", type=int, required=True)
@click.option("--enqueue", type=TICKS, required=True, help="Ticks to put a task in the queue.")
@click.option("--compute", type=TICKS, required=True, help="Ticks to compute one.")
@click.option("--fetch", type=TICKS, required=True, help="Ticks to bring a result back.")
@click.option("--every", type=int, help="A barrier after so many tasks; without it, one at the end.")
@_trace_flag
@_flags
def queue(
    tasks: int, enqueue: float, compute: float, fetch: float, every: int | None, trace_file: Path | None, as_json: bool
) -> None:
    """The queue between Python and a GPU: what barriers cost, in ticks."""
    made = AsyncPipeline(enqueue=enqueue, compute=compute, fetch=fetch, tasks=tasks, barrier_every=every)
    each = replace(made, barrier_every=1)
    _write(trace_file, {"a barrier after every task": each.schedule(), "as asked": made.schedule()}, "ticks")
    values = {"total_ticks": made.total, "barrier_after_every_task_ticks": each.total, "queue_peak": made.queue_peak}
    rows = [
        ("a barrier after every task", ticks_text(each.total)),
        ("one at the end" if every is None else f"a barrier every {every}", ticks_text(made.total)),
        ("most tasks pending", str(made.queue_peak)),
    ]
    _show(as_json, values, ("barriers", ""), rows)


@main.command()
@click.option("--cluster", "preset", type=click.Choice(list(cluster.CLUSTERS)), default="book", help="The machine to start from.")
@click.option("--gpus", type=int, help="GPUs in a machine.")
@click.option("--nodes", type=int, help="Machines.")
@click.option("--link", type=LINK, help="A GPU's link inside its machine, each way.")
@click.option("--network", type=LINK, help="A GPU's port on the network, each way.")
@click.option("--latency", type=DURATION, help="What each transfer costs before its first byte.")
@click.option("--gradient", type=SIZE, required=True, help="What each GPU must have summed, such as 160MB.")
@click.option("--compute", type=DURATION, required=True, help="Forward and backward pass of one step, such as 50ms.")
@click.option("--bucket", type=SIZE, default="25MiB", help="What is sent at once while the backward pass runs.")
@_trace_flag
@_flags
def step(
    preset: str, gpus: int | None, nodes: int | None, link: float | None, network: float | None, latency: float | None, gradient: float,
    compute: float, bucket: float, trace_file: Path | None, as_json: bool,
) -> None:  # fmt: skip
    """A step of data-parallel training, for each way to synchronize: gradients sent at the end, or bucket by bucket on the way."""
    machine = cluster.CLUSTERS[preset]
    pipes = {
        name: Pipe(name=name, bytes_per_s=rate, kind="assumed", source=HERE)
        for name, rate in (("link", link), ("network", network))
        if rate is not None
    }
    counts = {name: value for name, value in (("gpus", gpus), ("nodes", nodes), ("latency_s", latency)) if value is not None}
    machine = replace(machine, **pipes, **counts)  # type: ignore[arg-type]
    asked: dict[str, Any] = {"gradient_bytes": gradient, "cluster": machine, "compute_s": compute}
    made = {way: (cluster.step_s(way=way, **asked), cluster.step_s(way=way, bucket_bytes=bucket, **asked)) for way in cluster.WAYS}
    if trace_file:
        _write(trace_file, {way: run(cluster.step_tasks(way=way, bucket_bytes=bucket, **asked)) for way in cluster.WAYS}, "s")
    rows = [
        (way, time_text(end), time_text(along), percent(compute / min(end, along)) if end else "")
        for way, (end, along) in made.items()
    ]
    values = {
        "gpus": machine.gpus, "nodes": machine.nodes, "link_bytes_per_s": machine.link.bytes_per_s, "network_bytes_per_s": machine.network.bytes_per_s,
        "latency_s": machine.latency_s, "gradient_bytes": gradient, "compute_s": compute, "bucket_bytes": bucket,
        "ways": {way: {"sent_at_the_end_s": end, "sent_on_the_way_s": along} for way, (end, along) in made.items()},
    }  # fmt: skip
    _show(as_json, values, ("way", "sent at the end", "sent on the way", "computing"), rows)


@main.command()
@click.option("--parameters", type=COUNT, required=True, help="Such as 7500000000 or 7.5B.")
@click.option("--recipe", type=click.Choice(list(RECIPES)), default="Adam, mixed precision")
@click.option("--zero", "zero_stage", type=int, default=0, help="The stage of ZeRO: 0 shards nothing, 3 everything.")
@click.option("--ranks", type=int, default=1, help="Data-parallel ranks to shard over.")
@click.option("--card", type=SIZE, help="The memory of a card, such as 80GB, to compare with.")
@_flags
def memory(parameters: int, recipe: str, zero_stage: int, ranks: int, card: float | None, as_json: bool) -> None:
    """What a rank holds of a model: parameters, gradients and optimizer. Activations and buffers come on top."""
    held = zero.zero_state(parameters=parameters, ranks=ranks, stage=zero_stage, recipe=RECIPES[recipe])
    parts = {
        "parameters": held.parameters_bytes,
        "gradients": held.gradients_bytes,
        "optimizer": held.optimizer_bytes,
        "total": held.total_bytes,
    }
    values: dict[str, Any] = {"parameters": parameters, "recipe": recipe, "zero": zero_stage, "ranks": ranks, "bytes": parts}
    line = ""
    if card is not None:
        values["fits"] = held.total_bytes <= card
        line = f"{'fits' if values['fits'] else 'does not fit'} on a card of {bytes_text(card)}, before activations"
    _show(as_json, values, ("holds", ""), [(name, bytes_text(size)) for name, size in parts.items()], line)


@main.command(name="ladder")
@click.option("--reference", type=click.Choice(list(ladder.BY_ID)), default="l1", help="What takes one second.", show_choices=False)
@_flags
def latencies(reference: str, as_json: bool) -> None:
    """How long things take, from a cache hit to a packet across an ocean, and how it feels if one of them took a second."""
    felt = ladder.rescaled(reference)
    rows = [(row.action, feels_like(row.seconds, False), feels_like(felt[row.id], row.id == reference)) for row in ladder.LADDER]
    values = {row.id: {"action": row.action, "time_s": row.seconds, "felt_s": felt[row.id]} for row in ladder.LADDER}
    _show(as_json, values, ("action", "takes", "feels like"), rows, f"after {ladder.ESHELMAN.authors}")


if __name__ == "__main__":
    main(prog_name="python -m perfmodel")
