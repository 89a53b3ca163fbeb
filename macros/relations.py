"""Relations in words: "slower", "the same", "fastest". The word says which way the numbers must stand, and the build holds it to that."""

from __future__ import annotations

import math
from typing import Any

from macros.quantity import Quantity, QuoteError, quantity, shown
from perfmodel.units import IOPS, RATE, SPEED, TICKS, TIME, Dim

# Of the word, what the first value must be to the others. Speed words turn with the dimension: the slower time is the greater one.
GREATER = {"more", "greater", "larger", "bigger", "higher", "most", "largest", "biggest", "highest", "greatest"}
LESS = {"less", "fewer", "smaller", "lower", "cheaper", "least", "smallest", "fewest", "lowest", "cheapest"}
TIMES_ONLY = {"longer": "greater", "shorter": "less", "longest": "greater", "shortest": "less", "later": "greater", "earlier": "less",
              "sooner": "less"}  # fmt: skip
RATES_ONLY = {"wider": "greater", "narrower": "less", "widest": "greater", "narrowest": "less"}
SPEED_WORDS = {"slower": "slow", "slowest": "slow", "faster": "fast", "fastest": "fast", "quicker": "fast", "quickest": "fast"}
SAME = {"the same", "equal", "equals", "equal to", "as long as", "as fast as", "as large as", "as much as", "as many as", "matches"}
VOCABULARY = sorted({*GREATER, *LESS, *TIMES_ONLY, *RATES_ONLY, *SPEED_WORDS, *SAME})

_TIMES: tuple[Dim, ...] = (TIME, TICKS)
_RATES: tuple[Dim, ...] = (RATE, SPEED, IOPS)


def direction(word: str, dim: Dim) -> str:
    """What `word` claims of values of dimension `dim`: greater, less or same. Raises QuoteError for a word that can't be held to it."""
    if word in SAME:
        return "same"
    if word in GREATER:
        return "greater"
    if word in LESS:
        return "less"
    if word in SPEED_WORDS:
        if dim in _TIMES:
            return "greater" if SPEED_WORDS[word] == "slow" else "less"
        if dim in _RATES:
            return "less" if SPEED_WORDS[word] == "slow" else "greater"
        raise QuoteError(f'"{word}" compares times or rates, not {dim}')
    if word in TIMES_ONLY:
        if dim not in _TIMES:
            raise QuoteError(f'"{word}" compares times, not {dim}')
        return TIMES_ONLY[word]
    if word in RATES_ONLY:
        if dim not in _RATES:
            raise QuoteError(f'"{word}" compares rates, not {dim}')
        return RATES_ONLY[word]
    raise QuoteError(f'"{word}" is not a relation this site knows: {", ".join(VOCABULARY)}')


def check(word: str, first: Any, *others: Any) -> list[Quantity]:
    """Hold `word` against its numbers: `check("slower", sync.cpu, sync.one_gpu)`. Returns them; raises QuoteError when it does not hold."""
    if not others:
        raise QuoteError(f'rel("{word}", …) compares at least two numbers')
    quantities = [quantity(v) for v in (first, *others)]
    left = quantities[0]
    core = word.strip().lower().removesuffix(" than").removeprefix("the ") if word.strip().lower() != "the same" else "the same"
    for right in quantities[1:]:
        if left.dim != right.dim:
            raise QuoteError(f'"{word}" compares {left.expr} ({left.dim}) with {right.expr} ({right.dim})')
        if isinstance(left.value, tuple) or isinstance(right.value, tuple):
            raise QuoteError(f'"{word}" compares single numbers, not lists')
        want = direction(core, left.dim)
        equal = math.isclose(left.value, right.value, rel_tol=1e-12)
        holds = {"same": equal, "greater": left.value > right.value and not equal, "less": left.value < right.value and not equal}[want]
        if not holds:
            sign = "=" if equal else (">" if left.value > right.value else "<")
            raise QuoteError(
                f'"{word}" does not hold: {left.expr} is {shown(left)} and {right.expr} is {shown(right)} '
                f"({left.expr} {sign} {right.expr}){_better(core, left.dim, sign)}"
            )
    return quantities


def _better(word: str, dim: Dim, sign: str) -> str:
    """The vocabulary's opposite of `word`, as a hint."""
    if sign == "=":
        return '; write "the same"'
    opposites = (
        ("slower", "faster"), ("more", "less"), ("greater", "less"), ("larger", "smaller"), ("bigger", "smaller"), ("higher", "lower"),
        ("longer", "shorter"), ("wider", "narrower"), ("more", "fewer"), ("later", "earlier"), ("slowest", "fastest"),
        ("largest", "smallest"), ("longest", "shortest"), ("highest", "lowest"), ("most", "least"),
    )  # fmt: skip
    for a, b in opposites:
        if word in (a, b):
            return f'; write "{b if word == a else a}"'
    return ""
