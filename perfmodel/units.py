"""Units: SI floats to multiply by, and the closed table of the units a quote may use.

A value is always a plain float in SI (seconds, bytes, bytes per second, FLOP). Write `160 * MB`, never `160e6`, and divide out
only where text is made. The constants are for code. For what people write there is `UNITS`, the closed table of units and their exact
sizes: a unit that is not in it is refused.

>>> 160 * MB / (16 * GB) == 10 * MS
True
>>> 300 * GBIT / 2 == 18.75 * GB
True
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from fractions import Fraction
from typing import NamedTuple, TypeVar

_Item = TypeVar("_Item")

NS, US, MS, S = 1e-9, 1e-6, 1e-3, 1.0
MINUTE, HOUR, DAY, YEAR = 60.0, 3600.0, 86_400.0, 365 * 86_400.0
B, KB, MB, GB, TB = 1.0, 1e3, 1e6, 1e9, 1e12
KIB, MIB, GIB, TIB = 2.0**10, 2.0**20, 2.0**30, 2.0**40
BIT, KBIT, MBIT, GBIT, TBIT = 1 / 8, 1e3 / 8, 1e6 / 8, 1e9 / 8, 1e12 / 8
FLOP, GFLOP, TFLOP = 1.0, 1e9, 1e12


class Dim(NamedTuple):
    """A dimension, as exponents of the five things the site measures.

    Ticks are a dimension of their own: a cost model whose unit is one tick says nothing about seconds.
    """

    s: int = 0
    tick: int = 0
    B: int = 0
    FLOP: int = 0
    io: int = 0

    def times(self, other: Dim, sign: int = 1) -> Dim:
        """The dimension of a product (`sign=1`) or of a quotient (`sign=-1`)."""
        return Dim(*(a + sign * b for a, b in zip(self, other, strict=True)))

    def __str__(self) -> str:
        known = DIM_NAMES.get(self)
        return known if known else "·".join(f"{n}^{e}" for n, e in zip(self._fields, self, strict=True) if e)


NONE, TIME, TICKS = Dim(), Dim(s=1), Dim(tick=1)
BYTES, RATE = Dim(B=1), Dim(B=1, s=-1)
WORK, SPEED, IOPS = Dim(FLOP=1), Dim(FLOP=1, s=-1), Dim(io=1, s=-1)
INTENSITY = Dim(FLOP=1, B=-1)
DIM_NAMES = {
    NONE: "a plain number",
    TIME: "a time",
    TICKS: "a number of ticks",
    BYTES: "a size in bytes",
    RATE: "a rate in bytes per second",
    WORK: "an amount of arithmetic",
    SPEED: "an arithmetic rate",
    IOPS: "a rate of operations",
    INTENSITY: "an arithmetic intensity",
}


class Unit(NamedTuple):
    """One unit: the symbol as it is typeset, its dimension, and its exact size in SI."""

    symbol: str
    dim: Dim
    size: Fraction


def _table() -> dict[str, Unit]:
    rows: list[tuple[str, Dim, Fraction]] = []
    for symbol, size in (
        ("ns", Fraction(1, 10**9)),
        ("µs", Fraction(1, 10**6)),
        ("ms", Fraction(1, 1000)),
        ("s", Fraction(1)),
        ("min", Fraction(60)),
        ("h", Fraction(3600)),
        ("days", Fraction(86_400)),
        ("months", Fraction(365 * 86_400, 12)),
        ("years", Fraction(365 * 86_400)),
    ):
        rows.append((symbol, TIME, size))
    rows.append(("ticks", TICKS, Fraction(1)))
    for power, letter in enumerate(("", "K", "M", "G", "T")):
        small = letter.lower() if letter == "K" else letter  # kbit, but KB
        rows.append((f"{letter}B", BYTES, Fraction(1000**power)))
        rows.append((f"{letter}B/s", RATE, Fraction(1000**power)))
        rows.append((f"{small}bit/s", RATE, Fraction(1000**power, 8)))
        if power:
            rows.append((f"{letter}iB", BYTES, Fraction(1024**power)))
        if letter != "K":
            rows.append((f"{letter}FLOP", WORK, Fraction(1000**power)))
            rows.append((f"{letter}FLOP/s", SPEED, Fraction(1000**power)))
    rows.append(("IOPS", IOPS, Fraction(1)))
    rows.append(("FLOP/B", INTENSITY, Fraction(1)))
    rows.append(("×", NONE, Fraction(1)))
    rows.append(("%", NONE, Fraction(1, 100)))
    return {symbol: Unit(symbol, dim, size) for symbol, dim, size in rows}


UNITS: dict[str, Unit] = _table()

# Other ways to write a unit that mean exactly one thing. µ (U+00B5) and μ (U+03BC) look the same on a page.
ALIASES: dict[str, str] = {
    "us": "µs", "μs": "µs", "sec": "s", "tick": "ticks", "day": "days", "month": "months", "year": "years", "hours": "h", "hour": "h",
    "minute": "min", "minutes": "min", "second": "s", "seconds": "s", "millisecond": "ms", "milliseconds": "ms",
    "microsecond": "µs", "microseconds": "µs", "nanosecond": "ns", "nanoseconds": "ns",
    "byte": "B", "bytes": "B", "kilobyte": "KB", "kilobytes": "KB", "megabyte": "MB", "megabytes": "MB",
    "gigabyte": "GB", "gigabytes": "GB", "terabyte": "TB", "terabytes": "TB", "kB": "KB", "kB/s": "KB/s",
    "kibibytes": "KiB", "mebibytes": "MiB", "gibibytes": "GiB",
    "bytes per second": "B/s", "megabytes per second": "MB/s", "gigabytes per second": "GB/s",
    "gigabits per second": "Gbit/s", "reads per second": "IOPS", "operations per second": "IOPS", "x": "×", "times": "×", "percent": "%",
}  # fmt: skip

# Spellings that people read in two ways, with what to write instead.
AMBIGUOUS: dict[str, str] = {
    "Mb": "MB or Mbit/s", "Gb": "GB or Gbit/s", "Kb": "KB or kbit/s", "Tb": "TB or Tbit/s", "mb": "MB", "gb": "GB", "kb": "KB",
    "tb": "TB", "Mb/s": "MB/s or Mbit/s", "Gb/s": "GB/s or Gbit/s", "Kb/s": "KB/s or kbit/s", "Tb/s": "TB/s or Tbit/s",
    "mb/s": "MB/s", "gb/s": "GB/s", "Mbps": "MB/s or Mbit/s", "Gbps": "GB/s or Gbit/s", "MBps": "MB/s", "GBps": "GB/s",
    "Mbit": "MB or Mbit/s", "Gbit": "GB or Gbit/s", "MS": "ms", "FLOPS": "FLOP/s", "FLOPs": "FLOP", "m": "min or ms", "M": "MB",
    "G": "GB", "K": "KB", "k": "KB",
}  # fmt: skip


def unit(text: str) -> Unit:
    """The unit that `text` names: a symbol of `UNITS` or one of its spelled-out forms.

    Raises ValueError for a spelling that is ambiguous (`Mb`) or unknown, and for what is no text.

    >>> unit("us").symbol, unit("megabyte").size
    ('µs', Fraction(1000000, 1))
    >>> unit("Mb")
    Traceback (most recent call last):
    ValueError: "Mb" is ambiguous: write MB or Mbit/s
    """
    if not isinstance(text, str):
        raise ValueError(f"a unit must be text, got {text!r}")
    name = ALIASES.get(text, text)
    if name in UNITS:
        return UNITS[name]
    if text in AMBIGUOUS:
        raise ValueError(f'"{text}" is ambiguous: write {AMBIGUOUS[text]}')
    raise ValueError(f'"{text}" is not a unit this site uses: {", ".join(UNITS)}')


MOST_COUNTED = 2**53
"""What a count may be at most: up to here a float holds every whole number, and no product of a few of them leaves the floats."""


def shown(value: object) -> str:
    """`value` as an error shows it: a whole number that no float can hold by its length alone.

    >>> shown("160MB"), shown(10**400)
    ("'160MB'", 'a whole number of 1329 bits')
    """
    if isinstance(value, int) and value.bit_length() > sys.float_info.max_exp:
        return f"a whole number of {value.bit_length()} bits"
    return repr(value)


def is_whole(value: object) -> bool:
    """Whether `value` is a whole number. True is none, nor is one of a library, which may overflow.

    >>> is_whole(1), is_whole(1.0), is_whole(True)
    (True, False, False)
    """
    return isinstance(value, int) and not isinstance(value, bool)


def is_finite(value: float) -> bool:
    """Whether `value` is a number to compute with: a whole number or a float, and not beyond the largest float.

    >>> is_finite(1.5), is_finite(10**400), is_finite(float("nan")), is_finite(True)
    (True, False, False, False)
    """
    return (is_whole(value) or isinstance(value, float)) and abs(value) <= sys.float_info.max


def positive(name: str, value: float) -> float:
    """`value`, when it is a finite number above zero; else ValueError with the rule and the value."""
    if not is_finite(value) or value <= 0:
        raise ValueError(f"{name} must be a finite number above 0, got {shown(value)}")
    return value


def not_negative(name: str, value: float) -> float:
    """`value`, when it is a finite number of at least zero; else ValueError with the rule and the value."""
    if not is_finite(value) or value < 0:
        raise ValueError(f"{name} must be a finite number of at least 0, got {shown(value)}")
    return value


def finite(name: str, value: float) -> float:
    """`value`, when it is a finite number: what a formula gives, which may lie beyond the largest float. Else ValueError, as above.

    >>> finite("ring_limit_s", 2 * 1e308)
    Traceback (most recent call last):
    ValueError: ring_limit_s must be a finite number, got inf
    """
    if not is_finite(value):
        raise ValueError(f"{name} must be a finite number, got {shown(value)}")
    return value


def a_link(bytes_name: str, moved_bytes: float, link_bytes_per_s: float, latency_s: float, prefix: str = "link") -> None:
    """Check what a transfer depends on, and that its time is a finite number of seconds. Raises ValueError with the rule and the value.

    >>> a_link("gradient_bytes", 1e300, 1e-300, 0.0)
    Traceback (most recent call last):
    ValueError: latency_s + gradient_bytes / link_bytes_per_s must be a finite number of at least 0, got inf
    """
    not_negative(bytes_name, moved_bytes)
    positive(f"{prefix}_bytes_per_s", link_bytes_per_s)
    latency_name = "latency_s" if prefix == "link" else f"{prefix}_latency_s"
    not_negative(latency_name, latency_s)
    not_negative(f"{latency_name} + {bytes_name} / {prefix}_bytes_per_s", latency_s + moved_bytes / link_bytes_per_s)


def at_least(name: str, value: int, least: int) -> int:
    """`value`, when it is a whole number of at least `least`, and at most `MOST_COUNTED`; else ValueError with the rule and the value.

    >>> at_least("gpus", 10**400, 1)
    Traceback (most recent call last):
    ValueError: gpus must be a whole number of at most 2^53, got a whole number of 1329 bits
    """
    if not is_whole(value) or value < least:
        raise ValueError(f"{name} must be a whole number of at least {least}, got {shown(value)}")
    if value > MOST_COUNTED:
        raise ValueError(f"{name} must be a whole number of at most 2^53, got {shown(value)}")
    return value


def listed(name: str, values: Iterable[_Item]) -> tuple[_Item, ...]:
    """`values` as a tuple, to be read as often as needed: a generator gives them once. Raises ValueError for text, and for what holds none.

    >>> listed("work", (2 * share for share in (1, 2)))
    (2, 4)
    >>> listed("work", 3)
    Traceback (most recent call last):
    ValueError: work must be a list, got 3
    """
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise ValueError(f"{name} must be a list, got {shown(values)}")
    return tuple(values)
