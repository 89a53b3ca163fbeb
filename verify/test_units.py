"""Every unit against pint, and every given against its pin.

pint is the oracle for sizes: it knows nothing of this project. What pint has no word for (ticks, IOPS) is stated by hand.
"""

from __future__ import annotations

import csv
import importlib
import importlib.util
import math
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pint
import pytest

from macros.pins import PINS, check_book
from macros.scan import Fault
from perfmodel import units
from perfmodel.book import LEDGER
from perfmodel.number import Ledger, _short, evaluate
from perfmodel.sources import HERE, Source
from verify.asserts import refuses
from verify.checkout import ROOT

REGISTRY: Any = pint.UnitRegistry()
# pint's words for our symbols; FLOP are counted as a dimension of their own, "count" stands in for it.
ORACLE = {
    "ns": "nanosecond", "µs": "microsecond", "ms": "millisecond", "s": "second", "min": "minute", "h": "hour", "days": "day",
    "B": "byte", "KB": "kilobyte", "MB": "megabyte", "GB": "gigabyte", "TB": "terabyte",
    "KiB": "kibibyte", "MiB": "mebibyte", "GiB": "gibibyte", "TiB": "tebibyte",
    "B/s": "byte/second", "KB/s": "kilobyte/second", "MB/s": "megabyte/second", "GB/s": "gigabyte/second", "TB/s": "terabyte/second",
    "bit/s": "bit/second", "kbit/s": "kilobit/second", "Mbit/s": "megabit/second", "Gbit/s": "gigabit/second", "Tbit/s": "terabit/second",
    "FLOP": "count", "MFLOP": "megacount", "GFLOP": "gigacount", "TFLOP": "teracount",
    "FLOP/s": "count/second", "MFLOP/s": "megacount/second", "GFLOP/s": "gigacount/second", "TFLOP/s": "teracount/second",
    "FLOP/B": "count/byte", "%": "percent", "×": "dimensionless",
}  # fmt: skip
# A year is 365 days here, since a course that says "a year" means a calendar; pint's is 365.25.
BY_HAND = {
    "months": (units.TIME, Fraction(365 * 24 * 60 * 60, 12)),
    "years": (units.TIME, Fraction(365 * 24 * 60 * 60)),
    "ticks": (units.TICKS, Fraction(1)),
    "IOPS": (units.IOPS, Fraction(1)),
}
BASE = {
    units.TIME: "second", units.BYTES: "byte", units.RATE: "byte/second", units.WORK: "count", units.SPEED: "count/second",
    units.INTENSITY: "count/byte", units.NONE: "dimensionless",
}  # fmt: skip


def size_by_pint(word: str, base: str) -> float:
    return float(REGISTRY.Quantity(1, word).to(base).magnitude)


@pytest.mark.parametrize("symbol", units.UNITS)
def test_a_unit_is_what_pint_says(symbol: str) -> None:
    unit = units.UNITS[symbol]
    assert unit.symbol == symbol
    if symbol in BY_HAND:
        assert (unit.dim, unit.size) == BY_HAND[symbol]
    else:
        assert math.isclose(float(unit.size), size_by_pint(ORACLE[symbol], BASE[unit.dim]), rel_tol=1e-15)


@pytest.mark.parametrize(("name", "word"), [
    ("NS", "nanosecond"), ("US", "microsecond"), ("MS", "millisecond"), ("S", "second"), ("MINUTE", "minute"), ("HOUR", "hour"), ("DAY", "day"),
    ("B", "byte"), ("KB", "kilobyte"), ("MB", "megabyte"), ("GB", "gigabyte"), ("TB", "terabyte"), ("KIB", "kibibyte"), ("MIB", "mebibyte"),
    ("GIB", "gibibyte"), ("TIB", "tebibyte"), ("BIT", "bit"), ("KBIT", "kilobit"), ("MBIT", "megabit"), ("GBIT", "gigabit"), ("TBIT", "terabit"),
])  # fmt: skip
def test_a_constant_is_what_pint_says(name: str, word: str) -> None:
    base = "second" if REGISTRY.Quantity(1, word).check("[time]") else "byte"
    assert math.isclose(getattr(units, name), size_by_pint(word, base), rel_tol=1e-15)


# Each alias by hand, since a wrong alias changes every number that is written with it.
ALIASES = {
    "µs": ("us", "μs", "microsecond", "microseconds"), "ns": ("nanosecond", "nanoseconds"), "ms": ("millisecond", "milliseconds"),
    "s": ("sec", "second", "seconds"), "min": ("minute", "minutes"), "h": ("hour", "hours"), "days": ("day",), "months": ("month",), "years": ("year",),
    "ticks": ("tick",), "B": ("byte", "bytes"), "KB": ("kB", "kilobyte", "kilobytes"), "MB": ("megabyte", "megabytes"),
    "GB": ("gigabyte", "gigabytes"), "TB": ("terabyte", "terabytes"), "KiB": ("kibibytes",), "MiB": ("mebibytes",), "GiB": ("gibibytes",),
    "KB/s": ("kB/s",), "B/s": ("bytes per second",), "MB/s": ("megabytes per second",), "GB/s": ("gigabytes per second",),
    "Gbit/s": ("gigabits per second",), "IOPS": ("reads per second", "operations per second"), "×": ("x", "times"), "%": ("percent",),
}  # fmt: skip


def test_every_alias_means_what_its_words_say() -> None:
    by_hand = {alias: symbol for symbol, aliases in ALIASES.items() for alias in aliases}
    assert {alias: units.unit(alias).symbol for alias in units.ALIASES} == {alias: by_hand.get(alias) for alias in units.ALIASES}


@pytest.mark.parametrize("text", units.AMBIGUOUS)
def test_what_people_read_in_two_ways_is_refused_with_the_ways(text: str) -> None:
    with pytest.raises(ValueError, match="is ambiguous: write "):
        units.unit(text)
    for way in units.AMBIGUOUS[text].split(" or "):
        assert way in units.UNITS


def test_an_unknown_unit_is_refused_with_the_list() -> None:
    with pytest.raises(ValueError, match='"furlongs" is not a unit this site uses: ns, µs, ms'):
        units.unit("furlongs")


def test_a_rate_times_a_time_is_a_size() -> None:
    assert units.RATE.times(units.TIME) == units.BYTES
    assert units.BYTES.times(units.RATE, -1) == units.TIME


def test_every_given_is_pinned_and_nothing_else() -> None:
    with (ROOT / PINS).open(encoding="utf-8", newline="") as file:
        pinned = [row["name"] for row in csv.DictReader(file)]
    assert sorted(pinned) == sorted(n.name for n in LEDGER if n.kind == "given")
    assert [str(f) for f in check_book(LEDGER, ROOT / PINS)] == []


def one(value: object, unit: str = "MB", name: str = "a.b") -> Ledger:
    ledger = Ledger()
    ledger.given(name, value, unit, "a number for a test", HERE)  # type: ignore[arg-type,unused-ignore]
    return ledger


@pytest.mark.parametrize(("value", "unit", "pin", "agrees"), [
    (160e6, "MB", "160 MB", True), (160e6, "MB", "0.16 GB", True), (161.6e6, "MB", "160 MB", False), (160e6, "MB", "160", False),
    (160e6, "MB", "160 ms", False), (160.0001e6, "MB", "160 MB", False), (160e6, "MB", "160 MiB", False), (5e-6, "µs", "5 μs", True),
    (0.99995, "ticks", "0.99995 ticks", True), (0.99995, "ticks", "1 ticks", False), (10_000, "", "10,000", True), (10_000, "", "10,001", False),
    (300e9 / 8, "Gbit/s", "300 Gbit/s", True), (300e9 / 8, "Gbit/s", "37.5 GB/s", True), (160e6, "MB", "-160 MB", False),
    ((1, 2), "", "[1, 2]", True), ((1, 2), "", "[1, 3]", False), ((1, 2), "", "[1, 2, 3]", False), (0.1 + 0.2, "", "0.3", True),
])  # fmt: skip
def test_a_pin_is_compared_exactly(tmp_path: Path, value: object, unit: str, pin: str, agrees: bool) -> None:
    pins = tmp_path / "given.csv"
    pins.write_text(f'name,value,where\na.b,"{pin}",a page\n', encoding="utf-8")
    found = [*check_book(one(value, unit), pins, tmp_path)]
    assert bool(found) is not agrees
    for fault in found:
        assert fault.path.endswith("test_units.py")
        assert f"given.csv:2 pins {pin} (a page)" in fault.message


@pytest.mark.parametrize(("rows", "line", "says"), [
    ("", 0, "a.b is given but not pinned: add it to given.csv"),
    ("a.b,160 MB,x\na.b,160 MB,x\n", 3, "a.b is pinned twice"),
    ("a.b,160 MB,x\na.c,160 MB,x\n", 3, "a.c is not a number of the book; did you mean a.b?"),
    ("a.b,160 MB\n", 2, "a pin has three cells, name, value and where; got 2"),
    ("a.b,at least 160 MB,x\n", 2, "must be a value, without a comparison"),
    ("a.b,some,x\n", 2, "the pin of a.b cannot be read"),
    ("a.b,160 Mb,x\n", 2, '"Mb" is ambiguous'),
    ("a.b,,x\n", 2, "the pin of a.b cannot be read"),
])  # fmt: skip
def test_a_wrong_pin_is_named_by_its_line(tmp_path: Path, rows: str, line: int, says: str) -> None:
    pins = tmp_path / "given.csv"
    pins.write_text("name,value,where\n" + rows, encoding="utf-8")
    found = [*check_book(one(160e6), pins, tmp_path)]
    assert any(says in fault.message and (not line or (fault.path, fault.line) == ("given.csv", line)) for fault in found), found


def test_a_missing_file_of_pins_is_a_fault(tmp_path: Path) -> None:
    [fault] = check_book(one(160e6), tmp_path / "given.csv", tmp_path)
    assert str(fault) == "given.csv: is missing: it pins every given of the book, so that none can slip"


def test_a_printed_formula_that_gives_another_value_is_a_fault(tmp_path: Path) -> None:
    ledger = one(4, "", "a.n")
    ledger.model("a.twice", 9.0, "", "twice a number", HERE, "2*n", n=ledger["a.n"])
    pins = tmp_path / "given.csv"
    pins.write_text("name,value,where\na.n,4,x\n", encoding="utf-8")
    [fault] = check_book(ledger, pins, tmp_path)
    assert fault.path.endswith("test_units.py")
    assert fault.message == "a.twice: its printed formula 2*n gives 8, the model says 9.0"


def test_a_source_without_a_place_is_its_title() -> None:
    assert str(Source(title="T", authors="A")) == "T"
    assert str(Source(title="T", authors="A").at("section 1")) == "T, section 1"
    assert Source(title="T", authors="A").at("section 1").url == ""
    assert Source(title="T", authors="A", url="https://a").at("section 1").url == "https://a"


def test_a_formula_that_is_off_in_the_tenth_digit_is_named() -> None:
    ledger = Ledger()
    half = ledger.given("a.half", 0.5, "s", "half", HERE)
    ledger.model("a.whole", 1 + 1e-10, "s", "whole", HERE, "2*h", h=half)
    assert [number.name for number, _ in ledger.disagreements()] == ["a.whole"]


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("half", 0.5, "a number is named group.name, in letters, digits and _; got 'half'"),
        ("1a.b", 0.5, "a number is named group.name, in letters, digits and _; got '1a.b'"),
        ("a.1b", 0.5, "a number is named group.name, in letters, digits and _; got 'a.1b'"),
        ("a.b.c", 0.5, "a number is named group.name, in letters, digits and _; got 'a.b.c'"),
        ("a.taken", 0.5, "a name is used once, got 'a.taken' twice"),
        ("a.b", math.inf, "a number must be finite, got a.b = inf"),
    ],
)
def test_a_number_that_the_ledger_refuses(name: str, value: float, message: str) -> None:
    ledger = Ledger()
    ledger.given("a.taken", 1, "s", "taken", HERE)
    with refuses(message):
        ledger.given(name, value, "s", "new", HERE)
    assert [number.name for number in ledger] == ["a.taken"]


def test_what_a_formula_holds() -> None:
    assert evaluate("-a + 2*b", {"a": 5, "b": 1}) == -3
    with pytest.raises(ValueError, match=r"^a formula holds only inputs, .* floor; got 'a\.b'$"):
        evaluate("a.b", {"a": 1})


@pytest.mark.parametrize(
    ("formula", "says"),
    [
        ("2 +", "a formula must be one Python expression, got '2 +': invalid syntax"), ("1; 2", "a formula must be one Python expression, got '1; 2': invalid syntax"),
        ("1/0", "a divisor must not be 0, got 1 / 0"), ("max()", "a formula holds only inputs, .*; got 'max()'"), ("max(1)", "a formula holds only inputs, .*; got 'max(1)'"),
        ("ceil(1, 2)", "a formula holds only inputs, .*; got 'ceil(1, 2)'"), ("floor()", "a formula holds only inputs, .*; got 'floor()'"),
        ("True + 1", "a formula holds only inputs, .*; got 'True'"), ("'a'", "a formula holds only inputs, .*; got \"'a'\""), ("1e999", "a formula holds only inputs, .*; got '1e309'"),
        ("1e308*10", "1e308*10 must be a finite number, got inf"), ("9**9**9", "a whole number may have at most 1000 bits, got 9 ** 387420489"),
        ("(-1)**0.5", "a result must be a real number, got (-1) ** 0.5"), ("x + 1", "x must be a finite number, got nan"), ("y + 1", "y must be a finite number, got '1'"),
        ("-" * 10_000 + "1", "a formula must not be nested so deep that Python cannot read it"), (None, "a formula must be text, got None"),
    ],
)  # fmt: skip
def test_a_formula_that_gives_no_number_is_refused(formula: Any, says: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(says)}$".replace(re.escape(".*"), ".*")):
        evaluate(formula, {"x": math.nan, "y": "1"})  # type: ignore[dict-item]


def test_a_formula_takes_the_most_and_the_least_of_several() -> None:
    assert evaluate("max(1, 3, 2) + min(4, 6, 5) + ceil(0.5) + floor(1.5)", {}) == 3 + 4 + 1 + 1


@pytest.mark.parametrize("value", [True, "160MB", None, [], 1j, np.int32(1), math.nan, 10**400], ids=repr)
def test_what_is_no_number_does_not_enter_the_ledger(value: Any) -> None:
    with pytest.raises(ValueError, match=r"^a number must be finite, got a\.b = "):
        Ledger().given("a.b", value, "s", "a time", HERE)


def test_a_message_names_a_file_from_its_package_on() -> None:
    files = ("C:\\x\\perfmodel\\book\\act1.py", "/a/macros/b.py", "/perfmodel/x/perfmodel/y.py", "/else/where.py")
    assert [_short(file) for file in files] == ["perfmodel/book/act1.py", "macros/b.py", "perfmodel/y.py", "/else/where.py"]


def test_a_dimension_says_what_it_is() -> None:
    assert [str(dim) for dim in (units.NONE, units.TIME, units.RATE)] == ["a plain number", "a time", "a rate in bytes per second"]
    assert str(units.Dim(s=2, B=-1)) == "s^2·B^-1"  # which has no name
    assert units.RATE.times(units.TIME) == units.BYTES
    assert units.BYTES.times(units.TIME, -1) == units.RATE


@pytest.mark.parametrize("name", ["units", "hardware", "devices", "ladder", "cluster", "memory", "transformer", "sources"])
def test_the_tables_of_a_module_are_the_same_when_it_is_loaded_again(name: str) -> None:
    module = importlib.import_module(f"perfmodel.{name}")
    spec = module.__spec__
    assert spec is not None
    assert spec.loader is not None
    again = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(again)
    tables = {key: repr(value) for key, value in vars(module).items() if key.isupper() and " at 0x" not in repr(value)}
    assert tables == {key: repr(getattr(again, key)) for key in tables}
    assert tables


@pytest.mark.parametrize(("rows", "line", "message"), [
    ("a.b,160 MB,x\na.b,160 MB,x\n", 3, "a.b is pinned twice"),
    ("a.b,160 MB,x\na.c,160 MB,x\n", 3, "a.c is not a number of the book; did you mean a.b?"),
    ("a.b,160 MB,x\n\n", 3, "a pin has three cells, name, value and where; got 0"),
    ("a.b,160 MB,x,y\na.b,160 MB,x\n", 2, "a pin has three cells, name, value and where; got 4"),
    ("a.b,at least 160 MB,x\n", 2, 'the pin of a.b cannot be read: "at least 160 MB" must be a value, without a comparison'),
    ("a.b,eight orders of magnitude,x\n", 2, 'the pin of a.b cannot be read: "eight orders of magnitude" must be a value, without a comparison'),
    ("a.b,160 Mb,x\n", 2, 'the pin of a.b cannot be read: cannot read "160 Mb": "Mb" is ambiguous: write MB or Mbit/s'),
])  # fmt: skip
def test_a_wrong_pin_is_one_fault(tmp_path: Path, rows: str, line: int, message: str) -> None:
    pins = tmp_path / "expected" / "given.csv"
    pins.parent.mkdir()
    pins.write_text("name,value,where\n" + rows, encoding="utf-8")
    assert [*check_book(one(160e6), pins, tmp_path)] == [Fault("expected/given.csv", line, 1, message)]
    assert [f.path for f in check_book(one(160e6), pins)] == [pins.as_posix()]


@pytest.mark.parametrize(("value", "unit", "pin", "has"), [
    (160e6, "MB", "161 MB", "160 MB"), (1 / 3, "", "0.333", "0.333333333333333"), ((1, 2.5), "ms", "[1, 2] ms", "[1000 ms, 2500 ms]"), ((1, 2), "", "1", "[1, 2]"),
])  # fmt: skip
def test_a_given_that_has_slipped_shows_all_its_digits(tmp_path: Path, value: object, unit: str, pin: str, has: str) -> None:
    pins = tmp_path / "given.csv"
    pins.write_text(f'name,value,where\na.b,"{pin}",a page\n', encoding="utf-8")
    ledger = one(value, unit)
    expected = Fault(ledger["a.b"].path, ledger["a.b"].line, 1, f"a.b is {has}, but given.csv:2 pins {pin} (a page)", "drifted")
    assert [*check_book(ledger, pins, tmp_path)] == [expected]


def test_every_fault_of_the_book_is_named(tmp_path: Path) -> None:
    ledger = one(4, "", "a.n")
    twice = ledger.model("a.twice", 9.0, "", "twice a number", HERE, "2*n", n=ledger["a.n"])
    ledger.given("a.m", 5, "", "a number", HERE)
    ledger.given("a.k", 6, "", "a number", HERE)
    assert [*check_book(ledger, tmp_path / "given.csv", tmp_path)] == [
        Fault(twice.path, twice.line, 1, "a.twice: its printed formula 2*n gives 8, the model says 9.0", "drifted"),
        Fault("given.csv", 0, 0, "is missing: it pins every given of the book, so that none can slip"),
    ]
    (tmp_path / "given.csv").write_text("name,value,where\na.m,some,x\na.twice,9,x\na.n,4,x\n", encoding="utf-8")
    assert [f.message for f in check_book(ledger, tmp_path / "given.csv", tmp_path)] == [
        "a.twice: its printed formula 2*n gives 8, the model says 9.0",
        'the pin of a.m cannot be read: "some" holds no number this site can read',
        "a.k is given but not pinned: add it to given.csv, typed from its source",
        "a.twice is not a number of the book; the Numbers page lists them all",
    ]
