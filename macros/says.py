"""The words by which the book describes its numbers: a number among them is the one described, or one that it is made of.

No call can bind "a ring over eight GPUs" where it stands, in `perfmodel`. But the time it describes is computed from a count of GPUs,
and that count must be eight. Comparisons are free: "the largest error" says which one is meant.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from macros import naked
from macros.claims import read
from macros.labels import PERHAPS
from macros.quantity import QuoteError, value_text
from macros.quotes import holds
from macros.scan import Fault
from perfmodel.cluster import CLUSTERS
from perfmodel.ladder import LADDER
from perfmodel.number import Number
from perfmodel.units import NONE, Dim

FOLDER = "perfmodel/book/"
NAMES = sorted({rung.action for rung in LADDER} | {cluster.name for cluster in CLUSTERS.values()}, key=len, reverse=True)
"""What other sources call a thing: "Send 4 KB over 100 Gbps fabric", "8 V100 with NVLink". A name stays as it is."""


def check_says(book: Iterable[Number]) -> Iterator[Fault]:
    """Every number in the words of a number of the book that is not made of it."""
    for number in book:
        for words in typed(number):
            if not _made_of(words, number):
                parts = ", ".join(f"{part.name} = {value_text(part)}" for part in number.inputs.values())
                message = f'"{words}" in the words of {number.name} is no number that it is made of ({parts or "it is given"})'
                yield Fault(number.path, number.line, 1, f"{message}: say it without, or make it of that number", "unbound")


def typed(number: Number) -> Iterator[str]:
    """The numbers in the words of a number of the book."""
    if number.path.startswith(FOLDER) and PERHAPS.search(number.says):
        says = number.says
        for name in NAMES:
            says = says.replace(name, "this")
        yield from dict.fromkeys(f.text for f in naked.findings(says) if "comparison" not in f.rule)


def _made_of(words: str, number: Number) -> bool:
    """Whether some words claim what a number, or one that it is computed from, is."""
    parts = ((part.dim, part.value if isinstance(part.value, tuple) else (part.value,)) for part in _lineage(number))
    return claimed(words, [(dim, value) for dim, values in parts for value in values])


def claimed(words: str, values: Iterable[tuple[Dim | None, float]]) -> bool:
    """Whether each number in some words is one of the values. Where a value comes without a dimension, that of the words is its own."""
    try:
        claims = read(naked.quotable(words))
    except QuoteError:
        return False
    values = list(values)
    return all(
        any(dim in (None, claim.unit.dim if claim.unit else NONE) and holds(claim, value) for dim, value in values)
        for claim in claims
    )


def _lineage(number: Number) -> Iterator[Number]:
    """A number, and all that it is made of."""
    yield number
    for part in number.inputs.values():
        yield from _lineage(part)
