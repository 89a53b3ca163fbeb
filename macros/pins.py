"""What is typed twice: every given of the book against its pin, exactly, and what pages exempt; every printed formula against its value."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from fractions import Fraction
from pathlib import Path

from macros import claims, text
from macros.calls import Use
from macros.fingerprint import ROOT
from macros.quantity import QuoteError, unknown
from macros.scan import Fault
from perfmodel.number import Ledger, Number
from perfmodel.units import NONE

PINS = "verify/expected/given.csv"
EXEMPT = "verify/expected/plain.csv"


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
    for line, row in _rows(pins):
        if len(row) != 3:
            yield Fault(shown, line, 1, f"a pin has three cells, name, value and where; got {len(row)}")
        elif row[0] in pinned:
            yield Fault(shown, line, 1, f"{row[0]} is pinned twice")
        else:
            pinned[row[0]] = (line, row[1], row[2])
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


def check_exempt(uses: Iterable[Use], pins: Path, pages: Iterable[str]) -> Iterator[Fault]:
    """What is wrong with the words that `pages` exempt with `plain`: nothing else holds them, so each is pinned.

    `pins` is the file of pins: page, words, why. `uses` are the exemptions that stand in pages; one pin holds all that are alike.
    """
    pinned: dict[tuple[str, str, str], int] = {}
    for line, row in _rows(pins) if pins.exists() else ():
        if len(row) != 3:
            yield Fault(EXEMPT, line, 1, f"a pin has three cells, page, words and why; got {len(row)}")
        else:
            pinned[row[0], row[1], row[2]] = line
    found = {use: (use.page, use.shown, use.why) for use in uses}
    left = {key: line for key, line in pinned.items() if key[0] in set(pages) and key not in found.values()}
    for use, (page, words, why) in found.items():
        if (page, words, why) in pinned:
            continue
        old = next((key for key in left if key[0] == page and (key[2] == why or key[1] == words)), None)
        if old:
            says = f'{EXEMPT}:{left.pop(old)} pins "{old[1]}", {old[2]}'
        else:
            says = f"nothing holds them: add the line {page},{_cell(words)},{_cell(why)} to {EXEMPT}"
        yield Fault(page, use.line, use.column, f'exempts "{words}", {why}; {says}', "drifted")
    for (page, words, why), line in left.items():
        yield Fault(EXEMPT, line, 1, f'{page} does not exempt "{words}", {why}: take the line out')


def _rows(pins: Path) -> list[tuple[int, list[str]]]:
    """The rows of a file of pins below its head, each with the line on which it ends."""
    reader = csv.reader(io.StringIO(pins.read_bytes().decode()))
    return [(reader.line_num, row) for row in reader][1:]


def _cell(words: str) -> str:
    """Words as they stand in a file of pins."""
    return '"{}"'.format(words.replace('"', '""')) if set(words) & set(',"\n') else words


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
