"""Numbers as text: exact decimals, rounding, units and the characters they are set in.

Everything a reader sees as a number passes through here, in both directions: `show` writes one, `decimal` reads a float as the
exact decimal number it stands for.
"""

from __future__ import annotations

import math
import re
from decimal import Decimal
from fractions import Fraction

from perfmodel.units import UNITS, Dim, Unit

NBSP = "\u00a0"
SUPERSCRIPTS = str.maketrans("0123456789-−", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁻")
PLAIN_DIGITS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
# Every blank that a keyboard, a word processor or a browser may put between a number and its unit.
BLANKS = re.compile("[\u00a0\u2000-\u200b\u202f\u205f\u2060\ufeff]")

WORDS = {
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
    "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16, "seventeen": 17, "eighteen": 18,
    "nineteen": 19, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90,
    "hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9,
}  # fmt: skip


def decimal(value: float | int) -> Decimal:
    """The decimal number that a float stands for, exactly.

    A double holds 15 significant decimal digits; what lies beyond them is the noise of binary arithmetic, and is dropped, so
    that 0.1 + 0.2 is 0.3 and a value on a tie is rounded as a reader with a pencil would.

    >>> decimal(0.1 + 0.2), decimal(3)
    (Decimal('0.3'), Decimal('3'))
    """
    if isinstance(value, int):
        return Decimal(value)
    if not math.isfinite(value):
        raise ValueError(f"a number on a page must be finite, got {value}")
    return Decimal(f"{value:.15g}").normalize()


def in_unit(value: float | int, unit: Unit | None) -> Fraction:
    """`value` (SI) as an exact number of `unit`s."""
    exact = Fraction(decimal(value))
    return exact / unit.size if unit else exact


def half_up(value: Fraction, places: int) -> Decimal:
    """`value` rounded half away from zero at `places` decimals (negative: tens, hundreds).

    >>> half_up(Fraction(25, 2), 0), half_up(Fraction(-25, 2), 0), half_up(Fraction(40, 3), 1)
    (Decimal('13'), Decimal('-13'), Decimal('13.3'))
    """
    scaled = abs(value) * Fraction(10) ** places
    whole = int((scaled + Fraction(1, 2)).__floor__())
    return Decimal(whole if value >= 0 else -whole).scaleb(-places)


def digits(number: Decimal, places: int) -> str:
    """`number` with `places` decimals and commas from five digits up: 1500, 10,000."""
    text = f"{number:,.{max(places, 0)}f}"
    whole = text.lstrip("-").split(".")[0].replace(",", "")
    return text.replace(",", "") if len(whole) <= 4 else text


def places_of(value: Fraction, significant: int = 3) -> int:
    """Decimals that show `value` exactly if few do, else to `significant` digits.

    >>> places_of(Fraction(75, 10)), places_of(Fraction(40, 3)), places_of(Fraction("0.99995"))
    (1, 1, 5)
    """
    for places in range(6):
        if (value * 10**places).denominator == 1:
            return places
    lead = 0
    size = abs(value)
    while size >= 10:
        size, lead = size / 10, lead + 1
    while size < 1:
        size, lead = size * 10, lead - 1
    return max(significant - 1 - lead, 0)


def best_unit(value: float, dim: Dim, prefer: str) -> str:
    """The unit to show `value` in: `prefer`, or a neighbour of the same family when that would read badly (0.0003 s)."""
    if not prefer or value == 0 or prefer in ("×", "%"):
        return prefer
    size = abs(in_unit(value, UNITS[prefer]))
    if Fraction(1, 10) <= size < 10_000:
        return prefer
    odd = ("min", "months")  # read in two ways, or no whole number of days: only where an author asks for them
    same = [u for u in UNITS.values() if u.dim == dim and ("bit" in u.symbol) == ("bit" in prefer)]
    family = [u for u in same if u.symbol not in odd and "iB" not in u.symbol]
    fits = [u for u in family if abs(in_unit(value, u)) >= 1]
    return max(fits, key=lambda u: u.size).symbol if fits else min(family, key=lambda u: u.size).symbol


def show(value: float | int, unit: str = "", places: int | None = None) -> str:
    """`value` (SI) as text in `unit`, with a no-break space before the unit. A value that is not 0 is never shown as 0.

    >>> show(0.06, "ms"), show(0.04 / 3, "ms"), show(2.0, "×", 2), show(20002), show(86400, "days")
    ('60\\xa0ms', '13.3\\xa0ms', '2.00×', '20,002', '1\\xa0day')
    """
    number = in_unit(value, UNITS[unit] if unit else None)
    places = places_of(number) if places is None else places
    rounded = half_up(number, places)
    if number and not rounded:
        places = places_of(number)
        rounded = half_up(number, places)
    text = digits(rounded, places).replace("-", "−")
    if not unit:
        return text
    return f"{text}{unit}" if unit in ("×", "%") else f"{text}{NBSP}{singular(unit) if text == '1' else unit}"


def power(exponent: int) -> str:
    """A power of ten, as an axis shows it.

    >>> power(-15), power(0)
    ('10⁻¹⁵', '1')
    """
    return f"10{str(exponent).translate(SUPERSCRIPTS)}" if exponent else "1"


def singular(unit: str) -> str:
    """The unit after a 1: tick, day, year; a symbol stays as it is."""
    return unit[:-1] if unit in ("ticks", "days", "months", "years") else unit


def counted(number: int, noun: str) -> str:
    """A count and its noun: 1 number, 2 numbers."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def exact(value: float | int, unit: str) -> str:
    """`value` in `unit` with every digit it has (up to 15)."""
    number = in_unit(value, UNITS[unit] if unit else None)
    text = f"{Decimal(number.numerator) / Decimal(number.denominator):.15g}"
    if "e" in text:
        mantissa, power = text.split("e")
        text = f"{Decimal(mantissa).normalize()}·10{str(int(power)).translate(SUPERSCRIPTS)}"
    text = text.replace("-", "−")
    return f"{text}{NBSP}{unit}" if unit and unit not in ("×", "%") else f"{text}{unit}"


def normalise(text: str) -> str:
    """`text` with one kind of blank, minus, micro sign and power: what the parser of quotes reads."""
    text = BLANKS.sub(" ", text).replace("−", "-").replace("μ", "µ").replace("‑", "-")
    text = re.sub(r"10([⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+)", lambda m: "10^" + m[1].translate(PLAIN_DIGITS), text)
    return re.sub(r"\s+", " ", text).strip()


_RANGE = re.compile(r"(?<![\w.,^-])(\d+(?:,\d{3})*(?:\.\d+)?)\s*-\s*(?=\d)(?!\d[\d.,]*-\d)")  # two ends; a date has three parts


def typeset(text: str) -> str:
    """What an author typed, in the characters of print: µ, ×, −, powers, ranges, a no-break space before a unit.

    >>> typeset("5 us"), typeset("4x"), typeset("10^-15"), typeset("-3 ms"), typeset("10-20 ms"), typeset("160-megabyte")
    ('5\\xa0µs', '4×', '10⁻¹⁵', '−3\\xa0ms', '10–20\\xa0ms', '160-megabyte')
    """
    text = re.sub(r"\s+", " ", BLANKS.sub(" ", text)).strip().replace("μ", "µ")
    text = re.sub(r"\bus\b", "µs", text)
    text = re.sub(r"10\^(-?\d+)", lambda m: "10" + m[1].translate(SUPERSCRIPTS), text)
    text = re.sub(r"(?<=\d)\s*[x*](?=\s*10[⁰¹²³⁴⁵⁶⁷⁸⁹⁻])", " ×", text)
    text = re.sub(r"(?<=\d) ?x(?![a-z0-9])|(?<![a-z0-9])x ?(?=\d)", "×", text)
    text = _RANGE.sub(r"\1–", text)
    text = re.sub(r"(?<![\w)-])-(?=\d)", "−", text)
    text = re.sub(r"<=\s*", "≤ ", re.sub(r">=\s*", "≥ ", text))
    return re.sub(r"(?<=[\d⁰¹²³⁴⁵⁶⁷⁸⁹]) (?=[A-Za-zµ×%])", NBSP, text)
