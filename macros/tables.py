"""Tables of the pages: cells are computed numbers or the reader's words, and words are held to the rules of prose."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from macros import text
from perfmodel.units import UNITS

Say = Callable[[str], tuple[str, str]]  # words with calls -> (HTML, plain text), held to the rules of prose


@dataclass(frozen=True)
class Num:
    """A computed cell: a value (SI), its unit, and decimals where the column needs a fixed number of them."""

    value: float | int
    unit: str = ""
    places: int | None = None

    def __str__(self) -> str:
        return text.show(self.value, self.unit, self.places)


@dataclass(frozen=True)
class Tiny(Num):
    """A computed cell far below one, as a spreadsheet reads it too: 1.51e−16."""

    def __str__(self) -> str:
        return f"{self.value:.2e}".replace("-", "−") if self.value else "0"


class Power(Tiny):
    """The same in a table of the page: 1.5 × 10⁻¹⁶."""

    def __str__(self) -> str:
        mantissa, _, exponent = f"{self.value:.1e}".partition("e")
        return f"{mantissa} × 10{str(int(exponent)).translate(text.SUPERSCRIPTS)}" if self.value else "0"


# Families of units for numbers that a clock showed: each is written in the one that it reads well in, with three digits.
TIMES, RATES, SPEEDS, SIZES = (
    ("ns", "µs", "ms", "s"),
    ("MB/s", "GB/s", "TB/s"),
    ("MFLOP/s", "GFLOP/s", "TFLOP/s"),
    ("KB", "MB", "GB", "TB"),
)


def _scale(value: float, units: Sequence[str]) -> tuple[str, int]:
    """The unit of a family, smallest first, that a value reads well in, and the decimals that show three of its digits."""
    value = abs(float(f"{value:.3g}"))  # as it will read: 999.9 µs is 1.00 ms
    sizes = {unit: float(UNITS[unit].size) for unit in units}
    unit = next((each for each in reversed(units) if value >= sizes[each]), units[0])
    return unit, max(2 - math.floor(math.log10(value / sizes[unit])), 0) if value else 0


def scaled(value: float, units: Sequence[str]) -> Num:
    """A computed cell, in the unit of a family that it reads well in.

    >>> str(scaled(0.0123, TIMES)), str(scaled(0.0009996, TIMES))
    ('12.3\\xa0ms', '1.00\\xa0ms')
    """
    return Num(value, *_scale(value, units))


@dataclass(frozen=True)
class Quartiles(Num):
    """A computed cell of two times, in the unit of the second."""

    high: float = 0.0

    def __str__(self) -> str:
        unit, places = _scale(self.high, TIMES)
        low, high = (text.show(value, unit, places) for value in (self.value, self.high))
        return f"{low.partition(text.NBSP)[0]}–{high}"


@dataclass(frozen=True)
class Instead(Num):
    """Words in the place of a number, in a column of numbers."""

    value: float = 0.0
    words: str = "–"

    def __str__(self) -> str:
        return self.words


class Signed(Num):
    """A computed cell with its sign, in per cent: +3.2%."""

    def __str__(self) -> str:
        shown = text.show(round(self.value, 3), "%", 0 if abs(self.value) >= 1 else 1)
        return f"+{shown}" if round(self.value, 3) > 0 else shown


@dataclass(frozen=True)
class Name:
    """A cell that holds the name of something in the model (a task, a port), which may have a digit in it."""

    words: str

    def __str__(self) -> str:
        return self.words


@dataclass(frozen=True)
class Code(Name):
    """A cell of code."""


@dataclass(frozen=True)
class Link(Name):
    """A name that leads to an address."""

    url: str


@dataclass(frozen=True)
class Chunks:
    """A cell that shows what one GPU holds: a partial sum per chunk. Finished sums (equal to `whole`) and the one just received are marked."""

    sums: tuple[int, ...]
    whole: int
    before: tuple[int, ...]

    def __str__(self) -> str:
        return " ".join(map(str, self.sums))

    def html(self) -> str:
        """One box per chunk."""
        marks = (
            (" done" if v == self.whole else "") + (" new" if v != old else "")
            for v, old in zip(self.sums, self.before, strict=True)
        )
        return "".join(f'<span class="chunk{mark}">{v}</span>' for mark, v in zip(marks, self.sums, strict=True))


Cell = Num | Name | Chunks | str


def timed(measured: Mapping[str, Any], predicted: float | None, otherwise: str = "–") -> list[Cell]:
    """What was measured, its quartiles, what the model says, and the error; or words in the place of a prediction."""
    cells: list[Cell] = [scaled(measured["median"], TIMES), Quartiles(measured["low"], high=measured["high"])]
    if predicted is None:
        return [*cells, Instead(words=otherwise), Instead()]
    return [*cells, scaled(predicted, TIMES), Signed(measured["median"] / predicted - 1)]


TIMED = ("Measured", "Quartiles", "Predicted", "Error")


@dataclass(frozen=True)
class Table:
    """A heading for each column, rows of cells, and what the table shows, in words."""

    head: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    caption: str = ""

    def html(self, say: Say) -> str:
        """The table. Words go through the rules of prose; a number stands in tabular figures."""
        numeric = [all(isinstance(row[i], Num) for row in self.rows) for i in range(len(self.head))]
        head = "".join(
            f'<th scope="col"{" class=" + chr(34) + "num" + chr(34) if n else ""}>{say(h)[0]}</th>'
            for h, n in zip(self.head, numeric, strict=True)
        )
        body = "".join("<tr>" + "".join(_cell(c, say, first=i == 0) for i, c in enumerate(row)) + "</tr>" for row in self.rows)
        caption = f"<caption>{say(self.caption)[0]}</caption>" if self.caption else ""
        return f'<table class="data">{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'

    def csv(self, say: Say) -> str:
        """The same cells as comma-separated values, in the characters a spreadsheet reads."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow([say(h)[1] for h in self.head])
        for row in self.rows:
            writer.writerow(
                [str(c).replace(text.NBSP, " ").replace("−", "-").replace(",", "") if isinstance(c, Num) else str(c) for c in row]
            )
        return out.getvalue()


def _cell(cell: Cell, say: Say, *, first: bool) -> str:
    if isinstance(cell, Num):
        return f'<td class="num">{escape(str(cell))}</td>'
    if isinstance(cell, Chunks):
        return f'<td class="chunks">{cell.html()}</td>'
    tag = 'th scope="row"' if first else "td"
    words = escape(str(cell)) if isinstance(cell, Name) else say(cell)[0]
    words = f"<code>{words}</code>" if isinstance(cell, Code) else words
    words = f'<a href="{escape(cell.url)}">{words}</a>' if isinstance(cell, Link) else words
    return f"<{tag}>{words}</{tag.split()[0]}>"
