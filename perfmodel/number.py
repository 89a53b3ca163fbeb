"""A number with a name: value, unit, formula, inputs, kind and source, so that a page can quote it and never retype it."""

from __future__ import annotations

import ast
import math
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from types import FrameType, MappingProxyType
from typing import Any, Literal

from perfmodel.language import arithmetic
from perfmodel.sources import Source
from perfmodel.units import NONE, Dim, finite, is_finite, unit

Kind = Literal["given", "model", "run", "measured"]
KINDS: tuple[Kind, ...] = ("given", "model", "run", "measured")

_OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow)
_OF_ONE: dict[str, Callable[[float], float]] = {"ceil": math.ceil, "floor": math.floor}
_OF_SEVERAL: dict[str, Callable[..., float]] = {"max": max, "min": min}


@dataclass(frozen=True, kw_only=True, eq=False)
class Number:
    """One named number.

    `value` is SI (or ticks, or a plain number), or a tuple of such values for a list; `unit` is the unit it is best shown in ("" for a plain number), which also says
    its dimension. `formula` is written in Python over the symbols of `inputs` (symbol -> the Number it stands for), so that it
    can be evaluated, and printed with symbols or with numbers filled in. `says` finishes the sentence "this is …". `path` and
    `line` are where the book defines it.
    """

    name: str
    value: Any
    unit: str
    kind: Kind
    says: str
    source: Source
    formula: str = ""
    inputs: Mapping[str, Number] = field(default_factory=dict)
    path: str = ""
    line: int = 0

    @property
    def dim(self) -> Dim:
        """The dimension of the value, from its unit."""
        return unit(self.unit).dim if self.unit else NONE


def evaluate(formula: str, values: Mapping[str, float]) -> float:
    """The value of `formula` (+ - * / **, max and min of several, ceil and floor of one, over symbols and plain numbers).

    Raises ValueError for anything else in the formula, for a symbol without a value, and where a result is no finite number (1/0).

    >>> evaluate("2*(n-1)*S/B", {"n": 4, "S": 160e6, "B": 16e9})
    0.06
    """

    def walk(node: ast.AST) -> float:
        match node:
            case ast.Expression():
                return walk(node.body)
            case ast.Constant(value=int() | float() as value) if is_finite(value):
                return value
            case ast.Name(id=name) if name in values:
                return finite(name, values[name])
            case ast.BinOp(op=op) if isinstance(op, _OPERATORS):
                return finite(formula, arithmetic(type(op), walk(node.left), walk(node.right)))
            case ast.UnaryOp(op=ast.USub()):
                return -walk(node.operand)
            case ast.Call(func=ast.Name(id=name), args=[one], keywords=[]) if name in _OF_ONE:
                return _OF_ONE[name](walk(one))
            case ast.Call(func=ast.Name(id=name), args=[_, _, *_] as several, keywords=[]) if name in _OF_SEVERAL:
                return _OF_SEVERAL[name](*map(walk, several))
        raise ValueError(f"a formula holds only inputs, numbers, + - * / **, max, min, ceil and floor; got {ast.unparse(node)!r}")

    if not isinstance(formula, str):
        raise ValueError(f"a formula must be text, got {formula!r}")
    try:
        return walk(ast.parse(formula, mode="eval"))
    except SyntaxError as error:
        raise ValueError(f"a formula must be one Python expression, got {formula!r}: {error.msg}") from None
    except (RecursionError, MemoryError):  # both are how CPython's parser says that it is out of stack
        raise ValueError("a formula must not be nested so deep that Python cannot read it") from None


def _place(frame: FrameType) -> tuple[str, int]:
    """The file (from the package on) and the line of a call, for messages."""
    return _short(frame.f_code.co_filename), frame.f_lineno


def _short(file: str) -> str:
    """A file as messages name it: from the package on."""
    path = file.replace("\\", "/")
    found = max((path.rfind(f"/{package}/") for package in ("perfmodel", "macros")), default=-1)
    return path[found + 1 :]


class Ledger:
    """All named numbers, in the order of their definition. Names are `group.name`, each used once."""

    def __init__(self) -> None:
        self._numbers: dict[str, Number] = {}

    def __iter__(self) -> Iterator[Number]:
        return iter(self._numbers.values())

    def __len__(self) -> int:
        return len(self._numbers)

    def __contains__(self, name: str) -> bool:
        return name in self._numbers

    def __getitem__(self, name: str) -> Number:
        return self._numbers[name]

    @property
    def names(self) -> Mapping[str, Number]:
        """Every number under its name."""
        return MappingProxyType(self._numbers)

    def _add(self, number: Number) -> Number:
        group, dot, rest = number.name.partition(".")
        if not (dot and group.isidentifier() and rest.isidentifier()):
            raise ValueError(f"a number is named group.name, in letters, digits and _; got {number.name!r}")
        if number.name in self._numbers:
            raise ValueError(f"a name is used once, got {number.name!r} twice")
        values = number.value if isinstance(number.value, tuple) else (number.value,)
        if not all(map(is_finite, values)):
            raise ValueError(f"a number must be finite, got {number.name} = {number.value!r}")
        self._numbers[number.name] = number
        return number

    def disagreements(self) -> Iterator[tuple[Number, str]]:
        """Every number whose printed formula, evaluated on its inputs, does not give its value."""
        for number in self:
            if number.formula:
                again = evaluate(number.formula, {s: n.value for s, n in number.inputs.items()})
                if not math.isclose(again, number.value, rel_tol=1e-12):
                    yield number, f"its printed formula {number.formula} gives {again!r}, the model says {number.value!r}"

    # pragma: no mutate start, since each of these looks at the frame that calls it, and a mutant is called by another
    def given(self, name: str, value: Any, unit: str, says: str, source: Source) -> Number:
        """Enter a number that comes from outside the model. It is pinned a second time in verify/expected/given.csv."""
        path, line = _place(sys._getframe(1))
        return self._add(Number(name=name, value=value, unit=unit, kind="given", says=says, source=source, path=path, line=line))

    def run(self, name: str, value: Any, unit: str, says: str, source: Source) -> Number:
        """Enter a number that a training run showed, from its record."""
        path, line = _place(sys._getframe(1))
        return self._add(Number(name=name, value=value, unit=unit, kind="run", says=says, source=source, path=path, line=line))

    def measured(self, name: str, value: Any, unit: str, says: str, source: Source) -> Number:
        """Enter a number that somebody measured, from a record that says who."""
        path, line = _place(sys._getframe(1))
        return self._add(Number(name=name, value=value, unit=unit, kind="measured", says=says, source=source, path=path, line=line))

    def model(self, name: str, value: Any, unit: str, says: str, source: Source, formula: str = "", /, **inputs: Number) -> Number:
        """Enter a number that the model computes. The formula, when there is one, must evaluate to the same value."""
        path, line = _place(sys._getframe(1))
        return self._add(
            Number(
                name=name,
                value=value,
                unit=unit,
                kind="model",
                says=says,
                source=source,
                formula=formula,
                inputs=inputs,
                path=path,
                line=line,
            )
        )

    # pragma: no mutate end
