"""Quantities: named numbers that an author can combine. They keep their dimension, and how they were made."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from macros import text
from perfmodel.number import Kind, Ledger, Number
from perfmodel.units import NONE, UNITS, Dim

_LEVEL = {"+": 1, "-": 1, "*": 2, "/": 2}


class QuoteError(ValueError):
    """What is wrong with a call on a page, in words an author can act on. `fix` is the text to write instead, if there is one."""

    def __init__(self, message: str, fix: str = "") -> None:
        super().__init__(message.replace(text.NBSP, " "))  # a message is read, searched and pasted in a terminal
        self.fix = fix.replace(text.NBSP, " ")


class Drift(QuoteError):
    """A quote or a relation that can be read and does not hold."""


class Withheld(QuoteError):
    """A call that waits for a record that is refused: the record is named, not the call."""


@dataclass(frozen=True)
class Quantity:
    """A value (SI, or a tuple of them), its dimension, the expression that made it and the numbers it is made of."""

    value: Any
    dim: Dim
    expr: str
    numbers: tuple[Number, ...]
    level: int = 9  # precedence of `expr`, to print it with as few parentheses as it needs
    filled: str = ""  # the expression with values in place of names

    @property
    def single(self) -> Number | None:
        """The number, when the quantity is just one number and no arithmetic."""
        return self.numbers[0] if self.level == 9 and len(self.numbers) == 1 and self.expr == self.numbers[0].name else None

    @property
    def kind(self) -> Kind:
        """The kind of the number; "model", computed, for what arithmetic has made."""
        return self.single.kind if self.single else "model"

    def _combine(self, other: Any, sign: str, value: Callable[[Any, Any], Any], *, swap: bool = False) -> Quantity:
        right = quantity(other)
        left = self
        if swap:
            left, right = right, left
        if isinstance(left.value, tuple) or isinstance(right.value, tuple):
            raise QuoteError(f"a list cannot take part in arithmetic: {left.expr} {sign} {right.expr}")
        if sign in "+-":
            if left.dim != right.dim:
                raise QuoteError(
                    f"cannot {'add' if sign == '+' else 'subtract'} {left.expr} ({left.dim}) and {right.expr} ({right.dim})"
                )
            dim = left.dim
        else:
            dim = left.dim.times(right.dim, 1 if sign == "*" else -1)
        if sign == "/" and right.value == 0:
            raise QuoteError(f"cannot divide by {right.expr}, which is 0")
        level = _LEVEL[sign]

        def side(q: Quantity, form: str, *, tight: bool = False) -> str:
            return f"({form})" if q.level < level or (tight and q.level == level) else form

        tight = sign in "-/"
        join = f" {sign} "
        expr = join.join((side(left, left.expr), side(right, right.expr, tight=tight)))
        shown = {"*": "·", "-": " − ", "+": " + ", "/": " / "}[sign]
        filled = shown.join((side(left, left.filled), side(right, right.filled, tight=tight)))
        numbers = tuple(dict.fromkeys((*left.numbers, *right.numbers)))
        return Quantity(value(left.value, right.value), dim, expr, numbers, level, filled)

    def __add__(self, other: Any) -> Quantity:
        return self._combine(other, "+", lambda a, b: a + b)

    def __radd__(self, other: Any) -> Quantity:
        return self._combine(other, "+", lambda a, b: a + b, swap=True)

    def __sub__(self, other: Any) -> Quantity:
        return self._combine(other, "-", lambda a, b: a - b)

    def __rsub__(self, other: Any) -> Quantity:
        return self._combine(other, "-", lambda a, b: a - b, swap=True)

    def __mul__(self, other: Any) -> Quantity:
        return self._combine(other, "*", lambda a, b: a * b)

    def __rmul__(self, other: Any) -> Quantity:
        return self._combine(other, "*", lambda a, b: a * b, swap=True)

    def __truediv__(self, other: Any) -> Quantity:
        return self._combine(other, "/", lambda a, b: a / b)

    def __rtruediv__(self, other: Any) -> Quantity:
        return self._combine(other, "/", lambda a, b: a / b, swap=True)

    def __neg__(self) -> Quantity:
        raise QuoteError(f"a call combines numbers with + - * / only: -{self.expr}")

    def __str__(self) -> str:
        raise QuoteError(f'a number needs its words: write q("{shown(self)}", {self.expr})')


# One object a number, whatever asks for it: the call in a page, a figure, the ledger.
def of(number: Number) -> Quantity:
    """The quantity of one named number."""
    return Quantity(number.value, number.dim, number.name, (number,), 9, value_text(number))


def quantity(value: Any) -> Quantity:
    """`value` as a quantity: one already, or a whole number typed in a call (`2 * sync.one_gpu`)."""
    if isinstance(value, Quantity):
        return value
    if isinstance(value, float) and not value.is_integer():
        raise QuoteError(f"a call holds names and whole numbers: {value} needs a name in the book")
    if isinstance(value, int | float) and not isinstance(value, bool):
        return Quantity(value, NONE, f"{value:.15g}", (), 9, text.show(value))
    if isinstance(value, Group):
        raise QuoteError(str(value))
    if isinstance(value, str) and re.fullmatch(r"\w+\.\w+", value):
        raise QuoteError(f"a name stands without quotes: {value}")
    got = (
        f'"{value}"'
        if isinstance(value, str)
        else "a list"
        if isinstance(value, list)
        else "a macro"
        if callable(value)
        else str(value)
    )
    raise QuoteError(f"expected a number of the book, such as sync.one_gpu, got {got}")


def value_text(number: Number) -> str:
    """A number's value in the unit it reads best in."""
    if isinstance(number.value, list | tuple):
        return "[" + ", ".join(text.show(v, number.unit) for v in number.value) + "]"
    return text.show(number.value, text.best_unit(number.value, number.dim, number.unit))


BASE = {u.dim: u.symbol for u in UNITS.values() if u.size == 1 and u.dim != NONE}  # the SI unit of each dimension


def shown(q: Quantity) -> str:
    """A quantity's value, as the suggestion for a quote: a sum or a product of counts is a count, a quotient is a ratio."""
    if q.single:
        return value_text(q.single)
    if isinstance(q.value, tuple):
        return "[" + ", ".join(text.show(v) for v in q.value) + "]"
    for number in q.numbers:
        if number.dim == q.dim and number.unit:
            return text.show(q.value, text.best_unit(q.value, q.dim, number.unit))
    if q.dim == NONE:
        counts = all(number.dim == NONE for number in q.numbers) and "/" not in q.expr
        return text.show(q.value, "" if counts else "×")
    base = BASE.get(q.dim)
    return text.show(q.value, text.best_unit(q.value, q.dim, base)) if base else f"{text.show(q.value)} ({q.dim})"


class Group:
    """What an author writes before the dot: `sync` in `sync.one_gpu`."""

    def __init__(self, name: str, ledger: Ledger) -> None:
        self._name, self._ledger = name, ledger

    def __getattr__(self, name: str) -> Quantity:
        if name.startswith("__"):
            raise AttributeError(name)
        full = f"{self._name}.{name}"
        if full not in self._ledger:
            raise QuoteError(unknown(full, list(self._ledger.names)))
        return of(self._ledger[full])

    def __str__(self) -> str:
        names = [name for name in self._ledger.names if name.startswith(f"{self._name}.")]
        return f"{self._name} is a group: write {', '.join(names[:3])}{', …' if len(names) > 3 else ''}"


def near(wrong: str, name: str, known: Iterable[str]) -> str:
    """A message with the nearest known name; with all of them, in order, when none is near."""
    close = difflib.get_close_matches(name, [*known])
    return f"{wrong}; did you mean {close[0]}?" if close else f"{wrong}: {', '.join(sorted(known))}"


def unknown(name: str, names: list[str]) -> str:
    """The message for a name that is not in the book: the nearest one is suggested."""
    close = difflib.get_close_matches(name, names, cutoff=0.5)
    return f"{name} is not a number of the book" + (f"; did you mean {close[0]}?" if close else "; the Numbers page lists them all")


def groups(ledger: Ledger) -> dict[str, Group]:
    """The names a page can use, one object a group."""
    return {name: Group(name, ledger) for name in dict.fromkeys(n.name.partition(".")[0] for n in ledger)}
