"""Relations in words: "slower", "the same", "fastest". The word says which way the numbers must stand, and the build holds it to that."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from macros.quantity import Drift, Quantity, QuoteError, near, quantity, shown
from perfmodel.units import IOPS, NONE, RATE, SPEED, TICKS, TIME, Dim


class _Word(NamedTuple):
    """What a word claims of the first value: greater, less or same; and of what it can be said."""

    claims: str
    of: str = "all"  # all; times; rates; counts; speeds: of times and rates, and the slower time is the greater one
    opposite: str = ""


def _pairs(of: str, *pairs: tuple[str, str]) -> dict[str, _Word]:
    """Words for greater and less, in pairs of opposites. The first pair that has a word says what its opposite is."""
    words: dict[str, _Word] = {}
    for more, less in pairs:
        words.setdefault(more, _Word("greater", of, less))
        words.setdefault(less, _Word("less", of, more))
    return words


_WORDS: dict[str, _Word] = {
    **_pairs(
        "all", ("more", "less"), ("more", "fewer"), ("greater", "less"), ("larger", "smaller"), ("bigger", "smaller"), ("higher", "lower"),
        ("more", "cheaper"), ("most", "least"), ("most", "fewest"), ("largest", "smallest"), ("biggest", "smallest"), ("highest", "lowest"),
        ("greatest", "least"), ("most", "cheapest"),
    ),
    **_pairs("times", ("longer", "shorter"), ("longest", "shortest"), ("later", "earlier"), ("later", "sooner"), ("latest", "earliest")),
    **_pairs("rates", ("wider", "narrower"), ("widest", "narrowest")),
    # In the direction of times; `direction` turns them for rates.
    **_pairs("speeds", ("slower", "faster"), ("slower", "quicker"), ("slowest", "fastest"), ("slowest", "quickest")),
    **{word: _Word("same") for word in ("the same", "equal", "equals", "equal to", "as large as", "as much as", "matches")},
    "as long as": _Word("same", "times"),
    "as fast as": _Word("same", "speeds"),
    "as slow as": _Word("same", "speeds"),
    "as many as": _Word("same", "counts"),
}  # fmt: skip
VOCABULARY = sorted(_WORDS)
_TIMES: tuple[Dim, ...] = (TIME, TICKS)
_RATES: tuple[Dim, ...] = (RATE, SPEED, IOPS)
_OF: dict[str, tuple[Dim, ...]] = {"times": _TIMES, "rates": _RATES, "speeds": (*_TIMES, *_RATES), "counts": (NONE,)}


def direction(word: str, dim: Dim) -> str:
    """What `word` claims of values of dimension `dim`: greater, less or same. Raises QuoteError for a word that can't be held to it."""
    if word not in _WORDS:
        raise QuoteError(near(f'"{word}" is not a relation this site knows', word, VOCABULARY))
    claims, of, _ = _WORDS[word]
    if of != "all" and dim not in _OF[of]:
        raise QuoteError(f'"{word}" compares {"times or rates" if of == "speeds" else of}, not {dim}')
    if of == "speeds" and dim in _RATES and claims != "same":
        return "less" if claims == "greater" else "greater"
    return claims


def _core(word: str) -> str:
    """The word of the vocabulary: "Slower than" is slower, "the slowest" is slowest."""
    core = " ".join(word.lower().split())
    return "the same" if core in ("same", "the same", "the same as") else core.removesuffix(" than").removeprefix("the ")


def _stands(left: Quantity, right: Quantity) -> str:
    """How two values stand: greater, less, or the same to 1e-12."""
    if math.isclose(left.value, right.value, rel_tol=1e-12):
        return "same"
    return "greater" if left.value > right.value else "less"


def check(word: str, first: Any, *others: Any) -> list[Quantity]:
    """Hold `word` against its numbers: `check("slower", sync.cpu, sync.one_gpu)`. Returns them; raises QuoteError when it does not hold."""
    if not isinstance(word, str) or not word.strip():
        raise QuoteError('the word of a relation comes first: rel("slower", sync.cpu, sync.one_gpu)')
    if not others:
        raise QuoteError(f'rel("{word}", …) compares at least two numbers')
    quantities = [quantity(v) for v in (first, *others)]
    if not any(q.numbers for q in quantities):
        raise QuoteError(f'rel("{word}", …) compares no number of the book')
    left, *rest = quantities
    for q in quantities:
        if isinstance(q.value, tuple):
            raise QuoteError(f'"{word}" compares single numbers, not lists')
        if not math.isfinite(q.value):
            raise QuoteError(f"{q.expr} is {q.value}: a page cannot compare it")
        if left.dim != q.dim:
            raise QuoteError(f'"{word}" compares {left.expr} ({left.dim}) with {q.expr} ({q.dim})')
    want = direction(_core(word), left.dim)
    wrong = [q for q in rest if _stands(left, q) != want]
    if wrong:
        right = wrong[0]
        sign = {"same": "=", "greater": ">", "less": "<"}[_stands(left, right)]
        better = _better(_core(word), left, rest)
        raise Drift(
            f'"{word}" does not hold: {left.expr} is {shown(left)} and {right.expr} is {shown(right)} '
            f"({left.expr} {sign} {right.expr})" + (f'; write "{better}"' if better else "")
        )
    return quantities


def _better(word: str, left: Quantity, rest: list[Quantity]) -> str:
    """A word that does hold, "" when none does: the opposite, "the same", or for "the same" the words of the dimension."""
    speeds = ("slower", "faster") if left.dim in _OF["speeds"] else ("greater", "less")
    for candidate in (_WORDS[word].opposite, "the same", *speeds):
        if candidate and all(_stands(left, q) == direction(candidate, left.dim) for q in rest):
            return candidate
    return ""
