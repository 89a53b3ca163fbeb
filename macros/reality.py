"""The Reality page's data sets as the build takes them: made once, checked against their gates, entered in the ledger."""

from __future__ import annotations

import re
import statistics
from collections.abc import Iterator
from functools import cache

from macros import naked
from macros.gates import DataSet, overall
from macros.predictions import MAKERS, ddp_tails, slowed_step
from macros.published import changed, table
from macros.says import claimed
from macros.scan import Fault
from perfmodel import buckets
from perfmodel.number import Ledger
from perfmodel.sources import HERE
from perfmodel.units import Dim


@cache
def data_sets() -> tuple[DataSet, ...]:
    """All data sets, in the order of the page."""
    return tuple(make() for make in MAKERS)


def data_set(name: str) -> DataSet:
    """One of them, by name. Raises KeyError for one that there is not."""
    return {each.name: each for each in data_sets()}[name]


def check_reality() -> Iterator[Fault]:
    """What stops a build: a file of figures that was changed, a prediction that left its gate, and a number in a title that is no figure."""
    refused = changed()
    yield from (Fault(path, 0, 0, why) for path, why in refused)
    if not refused:
        yield from (Fault("docs/reality.md", 0, 0, slip, "drifted") for each in data_sets() for slip in each.slips())
        for each, make in zip(data_sets(), MAKERS, strict=True):
            line = make.__code__.co_firstlineno
            yield from (Fault("macros/predictions.py", line, 1, f"{each.name}: {words}", "unbound") for words in strange(each))


def strange(data: DataSet) -> Iterator[str]:
    """The numbers in the words of a data set, its title, inputs and where it is gated, that no figure of its tables is.

    "Four nodes" is a figure of the column of nodes, where there is one, or of what the source says of nodes: "1 and 4 nodes of 8 B200".
    """
    columns: dict[str, list[tuple[Dim | None, float]]] = {}
    for name in data.tables:
        cells = [("", table(name).hardware), *(cell for row in table(name).rows for cell in row.items())]
        for column, text in cells:
            figures = re.findall(r"(?<![\w.])\d+(?:\.\d+)?(?![\w.])", text)
            columns.setdefault(column, []).extend((None, float(figure)) for figure in figures)
    every = [figure for figures in columns.values() for figure in figures]
    for words in (data.title, data.inputs, data.where):
        for found in naked.findings(words):
            noun = found.text.split()[-1].lower()
            of_noun = re.findall(
                rf"((?:\d+(?:,| to| and)? )+){re.escape(noun)}\b", "; ".join(table(name).hardware for name in data.tables)
            )
            near = [(None, float(figure)) for figure in re.findall(r"\d+", " ".join(of_noun))]
            figures_of = columns.get(noun) or (near if noun.isalpha() else []) or every
            if "comparison" not in found.rule and not claimed(found.text, figures_of):
                yield f'"{found.text}" in "{words}" is no figure of {", ".join(data.tables)}: say it without, or as the table has it'


@cache
def enter(ledger: Ledger) -> None:
    """Add what the page quotes of the data sets to `ledger`, once; nothing where a file of figures is refused, which the audit says."""
    if changed():
        return
    total = overall(data_sets())
    says = "over all predictions that are gated"
    ledger.model("reality.mean_error", total.mean_error, "%", f"the mean of the errors, all taken as positive, {says}", HERE)
    ledger.model("reality.predictions", total.points, "", "the measurements that the predictions are held against", HERE)
    ledger.model("reality.constants", total.constants, "", "the measured constants that the predictions needed", HERE)
    ledger.model("reality.sets", len(data_sets()), "", "the data sets of the page", HERE)
    for each in data_sets():
        source, of = table(each.tables[0]).source, f"of “{each.title}”"
        ledger.model(f"reality.{each.name}_points", len(each.gated), "", f"the measurements {of} that are gated", source)
        if each.rule == "median":
            says = f"the median of the errors {of}, all taken as positive"
            ledger.model(f"reality.{each.name}_typical", each.typical, "%", says, source)
        parts = {"": each.errors, "beyond_": sorted(point.error for point in each.points if not point.gated)}
        for part, errors in parts.items():
            if not errors or each.kind in ("worked example", "bracket"):
                continue
            beyond = ", of the points that no gate covers" if part else ""
            for word, value in (("low", errors[0]), ("median", statistics.median(errors)), ("high", errors[-1])):
                which = {"low": "least", "high": "largest"}.get(word, word)
                ledger.model(f"reality.{each.name}_{part}{word}", value, "%", f"the {which} error {of}{beyond}", source)
    for cap, predicted, traced in ddp_tails():
        says = f"what sticks out behind the backward pass with buckets of {cap} MiB"
        ledger.model(f"reality.tail_{cap}", predicted, "ms", f"{says}, by the model", table("ddp_steps").source)
        ledger.measured(f"reality.tail_{cap}_trace", traced, "ms", f"{says}, in a profiler's trace", table("ddp_trace").source)
    for name, slowdown in (("low", 1.2), ("high", 2.0)):
        says = f"the largest error of the steps of DDP with a slowdown of {slowdown:g}"
        ledger.model(f"reality.slowed_{name}", slowed_step(slowdown), "%", says, buckets.CONTENTION)
