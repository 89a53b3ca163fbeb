"""The book against itself: every given against its pin, exactly; every printed formula against its value."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

from macros import claims, text
from macros.fingerprint import ROOT
from macros.quantity import QuoteError, unknown
from macros.scan import Fault
from perfmodel.number import Ledger, Number
from perfmodel.units import NONE

PINS = "verify/expected/given.csv"


def exactly(number: Number) -> str:
    """A number's value with every digit it has, as a pin would be typed."""
    values = number.value if isinstance(number.value, tuple) else (number.value,)
    shown = [text.exact(value, number.unit).replace(text.NBSP, " ") for value in values]
    return f"[{', '.join(shown)}]" if isinstance(number.value, tuple) else shown[0]


def check_book(book: Ledger, pins: Path, root: Path = ROOT) -> Iterator[Fault]:
    """What is wrong with the numbers of `book`, before any page quotes them. `pins` is the file of pins: name, value, where."""
    for number, message in book.disagreements():
        yield Fault(number.path, number.line, 1, f"{number.name}: {message}", "drifted")
    shown = pins.relative_to(root).as_posix() if pins.is_relative_to(root) else pins.as_posix()
    if not pins.exists():
        yield Fault(shown, 0, 0, "is missing: it pins every given of the book, so that none can slip")
        return
    pinned: dict[str, tuple[int, str, str]] = {}
    with pins.open(encoding="utf-8", newline="") as file:
        reader = csv.reader(file)
        next(reader, None)
        for row in reader:
            if len(row) != 3:
                yield Fault(shown, reader.line_num, 1, f"a pin has three cells, name, value and where; got {len(row)}")
            elif row[0] in pinned:
                yield Fault(shown, reader.line_num, 1, f"{row[0]} is pinned twice")
            else:
                pinned[row[0]] = (reader.line_num, row[1], row[2])
    for number in book:
        if number.kind != "given":
            continue
        if number.name not in pinned:
            yield Fault(
                number.path, number.line, 1, f"{number.name} is given but not pinned: add it to {shown}, typed from its source"
            )
            continue
        line, value, where = pinned.pop(number.name)
        try:
            agrees = _agrees(number, value)
        except QuoteError as error:
            yield Fault(shown, line, 1, f"the pin of {number.name} cannot be read: {error}")
            continue
        if not agrees:
            has = exactly(number)
            yield Fault(
                number.path, number.line, 1, f"{number.name} is {has}, but {shown}:{line} pins {value} ({where})", "drifted"
            )
    for name, (line, _, _) in pinned.items():
        yield Fault(shown, line, 1, unknown(name, [n.name for n in book if n.kind == "given"]))


def _agrees(number: Number, pin: str) -> bool:
    """Whether a pin is exactly the number, or the list of numbers. Raises QuoteError for a pin that holds a comparison."""
    found = claims.read(pin)
    values = number.value if isinstance(number.value, tuple) else (number.value,)
    if any(claim.sign != "=" or claim.magnitude for claim in found):
        raise QuoteError(f'"{pin}" must be a value, without a comparison')
    return len(found) == len(values) and all(_is(claim, value, number) for claim, value in zip(found, values, strict=True))


def _is(claim: claims.Claim, value: float, number: Number) -> bool:
    size = claim.unit.size if claim.unit else 1
    dim = claim.unit.dim if claim.unit else NONE
    return dim == number.dim and claim.value * size == Fraction(text.decimal(value))
