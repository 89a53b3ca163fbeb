"""The words of a quote against its value: what is read, what is right, and what is suggested.

The oracle of rounding is `decimal` with ROUND_HALF_UP, over values that are drawn as decimal numbers in the first place; the code under
test rounds fractions.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import replace
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from macros import calls, claims, quotes, text
from macros.claims import Claim, read
from macros.quantity import Drift, Quantity, QuoteError, groups, near, of, unknown
from macros.quantity import shown as quantity_text
from perfmodel.number import Ledger
from perfmodel.sources import HERE
from perfmodel.units import NONE, UNITS, Unit
from verify.checkout import ROOT

steady = settings(derandomize=True, deadline=None, max_examples=300)
# How many of the SI unit one unit is, by hand: the code under test takes it from the table.
SCALE = {"ns": Decimal("1e-9"), "µs": Decimal("1e-6"), "ms": Decimal("1e-3"), "s": Decimal(1), "MB": Decimal("1e6"), "GB/s": Decimal("1e9"), "ticks": Decimal(1), "": Decimal(1)}  # fmt: skip


def number(value: Any, unit: str = "ms", name: str = "a.b") -> Quantity:
    ledger = Ledger()
    ledger.given(name, value, unit, "a number for a test", HERE)
    return of(ledger[name])


def complaint(words: str, *values: Any) -> str:
    """What is wrong with a quote, "" when it is right."""
    try:
        quotes.check(words, *values)
    except QuoteError as error:
        return str(error)
    return ""


def said(claim: Claim) -> tuple[Fraction, str, int | None, str]:
    return claim.value, claim.unit.symbol if claim.unit else "", claim.places, claim.sign


@pytest.mark.parametrize(("words", "expected"), [
    ("60 ms", (60, "ms", 0, "=")), ("60ms", (60, "ms", 0, "=")), ("60.0 ms", (60, "ms", 1, "=")), ("0.06 s", (Fraction(6, 100), "s", 2, "=")),
    (".5 s", (Fraction(1, 2), "s", 1, "=")), ("5 us", (5, "µs", 0, "=")), ("5 µs", (5, "µs", 0, "=")), ("5 μs", (5, "µs", 0, "=")),
    ("6\u00a0ms", (6, "ms", 0, "=")), ("6\u202fms", (6, "ms", 0, "=")), ("6\u2009ms", (6, "ms", 0, "=")), ("6\n   ms", (6, "ms", 0, "=")),
    ("10,000 ticks", (10_000, "ticks", 0, "=")), ("1,234,567.5", (Fraction(24691350, 20), "", 1, "=")), ("-3 ms", (-3, "ms", 0, "=")),
    ("−3 ms", (-3, "ms", 0, "=")), ("+3 ms", (3, "ms", 0, "=")), ("160-megabyte", (160, "MB", 0, "=")), ("160 megabytes", (160, "MB", 0, "=")),
    ("2.00×", (2, "×", 2, "=")), ("×2.00", (2, "×", 2, "=")), ("× 2", (2, "×", 0, "=")), ("2x", (2, "×", 0, "=")), ("x2", (2, "×", 0, "=")),
    ("2 times", (2, "×", 0, "=")), ("2-fold", (2, "×", 0, "=")), ("25 %", (25, "%", 0, "=")), ("25%", (25, "%", 0, "=")),
    ("25 percent", (25, "%", 0, "=")), ("10^-15", (Fraction(1, 10**15), "", None, "=")), ("10⁻¹⁵", (Fraction(1, 10**15), "", None, "=")),
    ("10^6 B", (10**6, "B", None, "=")), ("1.5×10^3 MB", (1500, "MB", -2, "=")), ("1.5 x 10^3 MB", (1500, "MB", -2, "=")),
    ("1.5*10³ MB", (1500, "MB", -2, "=")), ("1.5e3 MB", (1500, "MB", -2, "=")), ("2e-3 s", (Fraction(2, 1000), "s", 3, "=")),
    ("about 60 ms", (60, "ms", 0, "=")), ("≈60 ms", (60, "ms", 0, "=")), ("~ 60 ms", (60, "ms", 0, "=")), ("Roughly 60 ms", (60, "ms", 0, "=")),
    ("< 60 ms", (60, "ms", 0, "<")), ("under 60 ms", (60, "ms", 0, "<")), ("less than 60 ms", (60, "ms", 0, "<")), ("fewer than 60", (60, "", 0, "<")),
    ("≤ 60 ms", (60, "ms", 0, "≤")), ("<= 60 ms", (60, "ms", 0, "≤")), ("at most 60 ms", (60, "ms", 0, "≤")), ("up to 60 ms", (60, "ms", 0, "≤")),
    ("no more than 60 ms", (60, "ms", 0, "≤")), ("> 60 ms", (60, "ms", 0, ">")), ("over 60 ms", (60, "ms", 0, ">")), ("more than 60 ms", (60, "ms", 0, ">")),
    ("≥ 60 ms", (60, "ms", 0, "≥")), (">= 60 ms", (60, "ms", 0, "≥")), ("at least 60 ms", (60, "ms", 0, "≥")), ("no less than 60 ms", (60, "ms", 0, "≥")),
    ("four", (4, "", None, "=")), ("Four", (4, "", None, "=")), ("twenty-four", (24, "", None, "=")), ("ten thousand", (10_000, "", None, "=")),
    ("a hundred", (100, "", None, "=")), ("two hundred and sixty", (260, "", None, "=")), ("sixty milliseconds", (60, "ms", None, "=")),
    ("at least two", (2, "", None, "≥")), ("every fourth", (4, "", None, "=")), ("Every second", (2, "", None, "=")), ("twice", (2, "×", None, "=")), ("half", (Fraction(1, 2), "×", None, "=")),
    ("a quarter", (Fraction(1, 4), "×", None, "=")), ("two thirds", (Fraction(2, 3), "×", None, "=")), ("½", (Fraction(1, 2), "×", None, "=")),
    ("threefold", (3, "×", None, "=")), ("three-fold", (3, "×", None, "=")), ("three times", (3, "×", None, "=")),
    ("one part in 10^15", (Fraction(1, 10**15), "", None, "=")), ("less than one part in 10^15", (Fraction(1, 10**15), "", None, "<")),
    ("three parts in 10^16", (Fraction(3, 10**16), "", None, "=")), ("one part in a thousand", (Fraction(1, 1000), "", None, "=")),
])  # fmt: skip
def test_what_is_read(words: str, expected: tuple[Any, ...]) -> None:
    [claim] = read(words)
    assert said(claim) == expected


@pytest.mark.parametrize(("words", "expected"), [
    ("10–20 ms", [(10, "ms"), (20, "ms")]), ("10-20 ms", [(10, "ms"), (20, "ms")]), ("10 – 20 ms", [(10, "ms"), (20, "ms")]),
    ("10 to 20 ms", [(10, "ms"), (20, "ms")]), ("10 ms to 20 ms", [(10, "ms"), (20, "ms")]), ("between 10 and 20 ms", [(10, "ms"), (20, "ms")]),
    ("from 10 to 20 ms", [(10, "ms"), (20, "ms")]), ("about 10–20 ms", [(10, "ms"), (20, "ms")]), ("500 µs–2 ms", [(500, "µs"), (2, "ms")]),
    ("1,000–10,000 tasks".removesuffix(" tasks"), [(1000, ""), (10_000, "")]), ("[3, 3]", [(3, ""), (3, "")]), ("[3,3]", [(3, ""), (3, "")]),
    ("[10, 20] ms", [(10, "ms"), (20, "ms")]), ("[10 ms, 2 s]", [(10, "ms"), (2, "s")]), ("[10,000, 4]", [(10_000, ""), (4, "")]),
    ("[−1, 0.5]", [(-1, ""), (Fraction(1, 2), "")]), ("[4]", [(4, "")]),
])  # fmt: skip
def test_what_is_read_of_several(words: str, expected: list[tuple[Any, str]]) -> None:
    assert [(value, unit) for value, unit, *_ in map(said, read(words))] == expected


@pytest.mark.parametrize("words", [
    "", " ", "ms", "sixty-ish", "60 ms 61 ms", "60 ms or 61", "60 ms (61)", "6 0 ms", "60. ms", "60..1 ms", "1,00 ms", "0,060 s", "00,060 s", "-0,060 s", "10,0000 ms", "60 msx", "60 m", "60 Mb",
    "about", "about about 60 ms", "６０ ms", "٦٠ ms", "60/61 ms", "±60 ms", "60 ± 1 ms", "1e", "10^", "10^2.5", "1e999999999", "10^999999999", "four five",
    "twenty twenty", "hundred hundred", "one part in", "one part in 0", "one part in 10 ms", "a billion orders of magnitude", "[]", "[1, ]", "[a]",
    "60 ms–", "–60 ms", "the 60 ms", "60 ms!", "=60 ms", "60ms61", "0x10", "1_000",
])  # fmt: skip
def test_what_cannot_be_read(words: str) -> None:
    with pytest.raises(QuoteError) as error:
        quotes.check(words, number(0.06))
    assert not isinstance(error.value, Drift) or words in ("[]",)


numbers = st.decimals(min_value=Decimal("-1e6"), max_value=Decimal("1e6"), places=4, allow_nan=False, allow_infinity=False)


def test_a_quote_has_at_most_as_many_characters_as_the_guide_for_authors_says() -> None:
    found = re.search(r"The words are at most (\d+) characters", (ROOT / "AUTHORING.md").read_text(encoding="utf-8"))
    assert found
    most = int(found[1])
    assert len(read("1" * most)) == 1
    with pytest.raises(QuoteError, match=f"^a quote has at most {most} characters, got {most + 1}$"):
        read("1" * (most + 1))


@steady
@given(numbers, st.integers(0, 4), st.sampled_from(sorted(SCALE)))
def test_right_means_rounded_half_up_at_the_last_digit_shown(value: Decimal, places: int, unit: str) -> None:
    q = number(float(value * SCALE[unit]), unit)
    step = Decimal(1).scaleb(-places)
    right = value.quantize(step, ROUND_HALF_UP)
    assume(right or not value)
    assert complaint(f"{right:f} {unit}", q) == ""
    assert complaint(f"{right:,f} {unit}", q) == ""
    for wrong in (right + step, right - step):
        assert "the model says" in complaint(f"{wrong:f} {unit}", q) or (
            not wrong and "which is not 0 but" in complaint(f"{wrong:f} {unit}", q)
        )


@pytest.mark.parametrize(("value", "right", "wrong"), [
    # ties, and values that binary arithmetic puts a hair beside one: 1.005 is 1.00499999999999989… as a float
    (0.0125, "13 ms", "12 ms"), (0.0135, "14 ms", "13 ms"), (1.005, "1.01 s", "1.00 s"), (2.675, "2.68 s", "2.67 s"), (0.1 + 0.2, "0.3 s", "0.4 s"),
    (-0.0125, "-13 ms", "-12 ms"), (1.115 * 100 / 100, "1.12 s", "1.11 s"), (8.5e-9, "9 ns", "8 ns"), (0.04 / 3, "13.3 ms", "13.4 ms"),
])  # fmt: skip
def test_ties_go_up_as_with_a_pencil(value: float, right: str, wrong: str) -> None:
    assert complaint(right, number(value)) == ""
    assert "the model says" in complaint(wrong, number(value))


quoted_numbers = st.one_of(
    st.integers(-99, 99_999).map(str),
    st.integers(0, 99_999).map(lambda n: f"{n:,}"),
    st.tuples(st.integers(0, 9999), st.integers(1, 3)).map(lambda t: f"{t[0]}.{'5' * t[1]}"),
    st.tuples(st.integers(1, 99), st.integers(-9, 9)).map(lambda t: f"{t[0]}×10^{t[1]}"),
    st.tuples(st.integers(1, 99), st.integers(-9, 9)).map(lambda t: f"{t[0]}e{t[1]}"),
    st.integers(-15, 15).map(lambda n: f"10^{n}"),
    st.sampled_from(["four", "Four", "twenty-four", "ten thousand"]),
)
prefixes = st.sampled_from(["", "about ", "≈", "~", "under ", "at least ", "< ", "≥ ", "<= ", "more than "])
quote_words = st.one_of(
    st.tuples(prefixes, quoted_numbers, st.sampled_from(["", " ms", " us", " s", " MB", "-megabyte", "×", "x", " %", " ticks", " GB/s"])).map("".join),
    st.tuples(st.integers(0, 999), st.sampled_from(["–", "-", " to ", " – "]), st.integers(0, 999), st.sampled_from(["", " ms"])).map(lambda t: f"{t[0]}{t[1]}{t[2]}{t[3]}"),
    st.lists(st.integers(-99, 9999).map(str), min_size=1, max_size=4).map(lambda parts: f"[{', '.join(parts)}]"),
    st.sampled_from(["twice", "half", "a quarter", "two thirds", "threefold", "an order of magnitude", "two orders of magnitude", "one part in 10^15"]),
)  # fmt: skip


@steady
@given(quote_words)
def test_what_is_typeset_reads_the_same(words: str) -> None:
    def plain(quote: str) -> list[Claim]:
        return [replace(claim, spot=None) for claim in read(quote)]

    try:
        before = plain(words)
    except QuoteError:
        assume(False)
    assert plain(text.typeset(words)) == before
    assert text.typeset(text.typeset(words)) == text.typeset(words)


positive = st.floats(1e-9, 1e12, allow_nan=False)


@settings(derandomize=True, deadline=None, max_examples=600)
@given(
    quote_words,
    st.one_of(positive, positive.map(lambda x: -x), st.just(0.0), st.integers(0, 20_000)),
    st.sampled_from(["ms", "MB", "", "ticks", "GB/s", "µs", "×"]),
)
def test_a_suggestion_is_accepted_when_it_is_pasted(words: str, value: float, unit: str) -> None:
    try:
        several = len(read(words))
    except QuoteError:
        assume(False)
    values = [number(value, unit)] * several
    message = complaint(words, *values)
    if message:
        assert "\u00a0" not in message
        assert "\n" not in message
        fix = message.rpartition('write "')[2].removesuffix('"')
        assert complaint(fix, *values) == "", message


@pytest.mark.parametrize(("words", "values", "fix"), [
    ("61 ms", [0.06], "60 ms"), ("about 61 ms", [0.06], "about 60 ms"), ("≈61 ms", [0.06], "≈60 ms"), ("61-millisecond", [0.06], "60-millisecond"),
    ("×2.01", [(2.0, "×")], "×2.00"), ("10–21 ms", [0.01, 0.02], "10–20 ms"), ("from 10 to 21 ms", [0.01, 0.02], "from 10 to 20 ms"),
    ("[10, 21] ms", [0.01, 0.02], "[10, 20] ms"), ("five", [(4, "")], "four"), ("Five", [(4, "")], "Four"), ("12,345", [(54321, "")], "54,321"),
    ("9–21 ms", [0.01, 0.02], "10–20 ms"), ("20–10 ms", [0.01, 0.02], "10–20 ms"), ("[< 70, 61] ms", [0.06, 0.06], "[< 70, 60] ms"), ("at most 59 ms", [0.0604], "60.4 ms"), ("about 2 ticks", [(1, "ticks")], "about 1 tick"),
    ("Two ticks", [(1, "ticks")], "One tick"), ("about 1 tick", [(11, "ticks")], "about 11 ticks"), ("1.0 ticks", [(2.1, "ticks")], "2.1 ticks"), ("61-second", [60.0], "60-second"),
    ("1 tick", [(3, "ticks")], "3 ticks"), ("2 ticks", [(1, "ticks")], "1 tick"), ("one tick", [(2, "ticks")], "two ticks"),
    ("6.1×10^-2 s", [0.06], "6.0×10^-2 s"), ("at most 59 ms", [0.06], "at most 60 ms"), ("under 60 ms", [0.06], "60 ms"), ("-60 ms", [0.06], "60 ms"),
    ("60 s", [0.06], "60 ms"), ("60", [0.06], "60 ms"), ("4×", [(4, "")], "4"), ("0 ms", [1e-9], "1 ns"), ("fourfold", [(3.0, "×")], "threefold"),
    ("under 60 ms", [0.0606], "60.6 ms"), ("+61 ms", [0.06], "+60 ms"), ("+61 ms", [-0.06], "-60 ms"), ("+1 ms", [0.0], "0 ms"), ("+2 ms", [0.001], "+1 ms"),
    ("about 1", [(123_456_789, "")], "about 123,456,789"), ("about -1", [(-123_456_789, "")], "about -123,456,789"), ("about 1", [(1_234_567_890, "")], "1,234,567,890"),
    ("five", [(2.5, "")], "2.5"), ("five", [(-3, "")], "−3"), ("five", [(0, "")], "zero"), ("an order of magnitude", [(2.0, "×")], "2×"), ("more than half", [(0.25, "×")], "0.25×"),
    ("every second", [(3, "")], "3"), ("half", [(0.3, "×")], "0.3×"), ("half", [(2.0, "×")], "twice"), ("twice", [(3.0, "×")], "thrice"), ("twice", [(0.5, "×")], "half"),
    ("half", [(2 / 3, "×")], "two thirds"), ("half", [(1 / 3, "×")], "a third"),
])  # fmt: skip
def test_a_suggestion_keeps_the_author_s_form(words: str, values: list[Any], fix: str) -> None:
    quantities = [number(*v) if isinstance(v, tuple) else number(v) for v in values]
    with pytest.raises(Drift) as error:
        quotes.check(words, *quantities)
    assert error.value.fix == fix


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_is_no_number_cannot_be_quoted(value: float) -> None:
    q = replace(number(0.06), value=value)
    assert complaint("60 ms", q) == f"a.b is {value}: a page cannot quote it"
    assert complaint("0 ms", q) == f"a.b is {value}: a page cannot quote it"
    assert complaint("[60, 60] ms", replace(q, value=(0.06, value))) == f"a.b is {value}: a page cannot quote it"
    with pytest.raises(ValueError, match="a number on a page must be finite"):
        text.show(value, "ms")


@pytest.mark.parametrize("words", ["0 ms", "0.0 ms", "0.00 s", "about 0 ms", "0%", "zero"])
def test_a_value_is_never_shown_as_zero(words: str) -> None:
    unit = "%" if "%" in words or words == "zero" else "ms"
    assert complaint(words, number(1e-12, "×" if unit == "%" else "ms")) != ""
    assert complaint(words, number(0.0, "×" if words == "0%" else ("" if words == "zero" else "ms"))) == ""


@given(st.floats(1e-15, 1e-3), st.integers(0, 3))
@steady
def test_a_number_in_a_table_is_never_shown_as_zero(value: float, places: int) -> None:
    assert any(c in "123456789" for c in text.show(value, "s", places))


@steady
@given(st.integers(0, 99))
def test_numbers_in_words_read_back(n: int) -> None:
    words = claims.in_words(n)
    assert read(words)[0].value == n
    assert complaint(words, number(n, "")) == ""
    assert complaint(words.capitalize(), number(n, "")) == ""
    assert complaint(words, number(n + 1, "")) != ""
    assert complaint(words, number(n + 0.1, "")) != ""


@pytest.mark.parametrize(("words", "value", "right"), [
    ("two thirds", 2 / 3, True), ("a third", 1 / 3, True), ("a third", 0.3333, False), ("half", 0.5, True), ("half", 0.49, False), ("a tenth", 0.1, True),
    ("twice", 2.0, True), ("twice", 1.999, False), ("an order of magnitude", 12.0, True), ("an order of magnitude", 3.0, False), ("an order of magnitude", 3.1, False), ("an order of magnitude", 3.2, True), ("an order of magnitude", 31.6, True), ("an order of magnitude", 31.7, False),
    ("two orders of magnitude", 99.0, True), ("two orders of magnitude", 320.0, False), ("eight orders of magnitude", 0.9e8, True),
    ("over two orders of magnitude", 101.0, True), ("over two orders of magnitude", 99.0, False),
])  # fmt: skip
def test_words_claim_what_they_say(words: str, value: float, right: bool) -> None:
    assert (complaint(words, number(value, "×")) == "") is right


@pytest.mark.parametrize(("words", "right"), [
    ("< 60 ms", False), ("≤ 60 ms", True), ("> 60 ms", False), ("≥ 60 ms", True), ("under 60.1 ms", True), ("under 59.9 ms", False), ("over 59.9 ms", True),
    ("over 60.1 ms", False), ("at most 60 ms", True), ("at most 59 ms", False), ("at least 60 ms", True), ("at least 61 ms", False), ("up to 60 ms", True),
    ("< 10^-15 s", False), ("> 10^-15 s", True), ("below 1 s", True), ("above 1 s", False),
])  # fmt: skip
def test_bounds_are_compared_without_rounding(words: str, right: bool) -> None:
    assert (complaint(words, number(0.06)) == "") is right


def test_every_unit_can_be_quoted_and_no_other_dimension_passes() -> None:
    other: dict[Unit, str] = {}
    for unit in UNITS.values():
        q = number(float(7 * unit.size), unit.symbol)
        assert complaint(f"7.000 {unit.symbol}", q) == "", unit
        for wrong in UNITS.values():
            if wrong.dim != unit.dim:
                assert "for a.b, " in complaint(f"7 {wrong.symbol}", q)
            elif wrong.size != unit.size:
                assert complaint(f"7.000 {wrong.symbol}", q) != "", (unit, wrong)
                other[unit] = wrong.symbol
    assert len(other) > 20


def test_arithmetic_keeps_dimension_and_expression() -> None:
    ledger = Ledger()
    ledger.given("a.time", 0.06, "ms", "a time", HERE)
    ledger.given("a.size", 160e6, "MB", "a size", HERE)
    ledger.given("a.count", 4, "", "a count", HERE)
    a: Any = groups(ledger)["a"]
    assert complaint("2.67 GB/s", a.size / a.time) == ""
    assert complaint("180 ms", 3 * a.time) == ""
    assert complaint("3", a.count - 1) == ""
    assert complaint("-3", 1 - a.count) == ""
    assert (a.time / (2 * a.count)).expr == "a.time / (2 * a.count)"
    assert (a.time - (a.time - a.time)).expr == "a.time - (a.time - a.time)"
    assert ((a.time + a.time) * 2).expr == "(a.time + a.time) * 2"
    assert ((a.time + a.time) * 2).filled == "(60\u00a0ms + 60\u00a0ms)·2"
    wrong: list[Callable[[], Any]] = [
        lambda: a.time + a.size,
        lambda: a.time - 1,
        lambda: 1 + a.size,
        lambda: a.time / 0,
        lambda: a.time / (a.count - 4),
    ]
    for combine in wrong:
        with pytest.raises(QuoteError, match=r"cannot (add|subtract|divide)"):
            combine()
    refused: list[Callable[[], Any]] = [
        lambda: -a.time,
        lambda: str(a.time),
    ]
    for combine in refused:
        with pytest.raises(QuoteError):
            combine()
    for odd in ("x", None, True, 0.5, [a.time]):
        with pytest.raises(QuoteError, match=r"expected a number|needs a name"):
            a.time * odd


def test_a_list_is_compared_element_by_element() -> None:
    q = number((3, 3, 6), "")
    assert complaint("[3, 3, 6]", q) == ""
    assert 'write "[3, 3, 6]"' in complaint("[3, 4, 6]", q)
    assert '"[3, 3]" holds 2 numbers, a.b 3 values' in complaint("[3, 3]", q)
    assert complaint("[10, 20] ms", number((0.01, 0.02))) == ""
    with pytest.raises(QuoteError, match="a list cannot take part in arithmetic"):
        _ = q + q


def test_the_message_names_quote_value_and_way() -> None:
    from perfmodel.book import LEDGER

    sync: Any = groups(LEDGER)["sync"]
    assert complaint("61 ms", sync.one_gpu) == (
        'quotes 61 ms for sync.one_gpu, the model says 60 ms (0.06 s = 2·(4−1)·160 MB / 16 GB/s); write "60 ms"'
    )


def test_a_ratio_comes_about_without_a_unit_of_its_own() -> None:
    from perfmodel.book import LEDGER

    assert quotes.explain(of(LEDGER["memory.ratio"])) == "500× = 100 ns / 0.2 ns"


UNITS_IN_ORDER = ", ".join(UNITS)


@pytest.mark.parametrize(("words", "values", "says"), [
    (60, (0.06,), 'the words of a quote come first, in straight quotes: q("60 ms", sync.one_gpu)'),
    (" ", (0.06,), 'the words of a quote are empty: write what the page should say, such as "60 ms"'),
    ("1e301 ms", (0.06,), '"1e301 ms" holds a power of ten beyond 300'),
    ("10^-301 s", (0.06,), '"10^-301 s" holds a power of ten beyond 300'),
    ("a thousand orders of magnitude", (0.06,), '"a thousand orders of magnitude" holds a power of ten beyond 300'),
    ("60 milisecond", (0.06,), 'cannot read "60 milisecond": "milisecond" is not a unit this site uses; did you mean millisecond?'),
    ("60 furlongs", (0.06,), f'cannot read "60 furlongs": "furlongs" is not a unit this site uses: {UNITS_IN_ORDER}'),
    ("60 mss", (0.06,), f'cannot read "60 mss": "mss" is not a unit this site uses: {UNITS_IN_ORDER}'),
    ("60 gigs", (0.06,), f'cannot read "60 gigs": "gigs" is not a unit this site uses: {UNITS_IN_ORDER}'),
    ("60 minz", (0.06,), 'cannot read "60 minz": "minz" is not a unit this site uses; did you mean min?'),
    ("four furlongs", (0.06,), f'cannot read "four furlongs": "furlongs" is not a unit this site uses: {UNITS_IN_ORDER}'),
    ("[3, 4] furlongs", (0.06,), f'cannot read "[3, 4] furlongs": "furlongs" is not a unit this site uses: {UNITS_IN_ORDER}'),
    ("3 furlongs–4 ms", (0.06,), f'cannot read "3 furlongs–4 ms": "furlongs" is not a unit this site uses: {UNITS_IN_ORDER}'),
    ("3–4 furlongs", (0.06,), f'cannot read "3–4 furlongs": "furlongs" is not a unit this site uses: {UNITS_IN_ORDER}'),
    ("[3, soon]", (0.06,), '"[3, soon]" holds no number this site can read'),
    ("one part in soon", (0.06,), '"one part in soon" holds no number this site can read'),
    ("Only 60 ms", (0.06,), 'cannot read "Only 60 ms": put "Only" before the call'),
    ("60 Mb", (0.06,), 'cannot read "60 Mb": "Mb" is ambiguous: write MB or Mbit/s'),
    ("1,5 ms", (0.06,), 'cannot read "1,5 ms": write 1.5 ms, with a point'),
    ("0,125 ms", (0.06,), 'cannot read "0,125 ms": write 0.125 ms, with a point'),
    ("only 60 ms", (0.06,), 'cannot read "only 60 ms": put "only" before the call'),
    ("just over all 60 ms", (0.06,), 'cannot read "just over all 60 ms": put "just over all" before the call'),
    ("soon", (0.06,), '"soon" holds no number this site can read'),
    ("60 ms", (), '"60 ms" names no number of the book: write q("60 ms", name)'),
    ("10–20 ms", (0.06,), 'a range needs both its ends: "10–20 ms" holds 2 numbers, a.b 1 value'),
    ("20 ms", (0.06, 0.06), '"20 ms" holds 1 number, a.b, a.b 2 values'),
    ("[10, 20] ms", (0.06,), '"[10, 20] ms" holds 2 numbers, a.b 1 value'),
    ("60 MB", (0.06,), 'quotes "60 MB", which is a size in bytes, for a.b, a time; write "60 ms"'),
    ("60", (0.06,), 'quotes "60", which has no unit, for a.b, a time; write "60 ms"'),
    ("4×", ((4, ""),), 'quotes "4×", which is a ratio, for a.b, a count; write "4"'),
    ("400%", ((4, ""),), 'quotes "400%", which is a ratio, for a.b, a count; write "4"'),
    ("0 ms", (0.06,), 'quotes 0 ms for a.b, which is not 0 but 60 ms; write "60 ms"'),
    ("61 ms", (0.06,), f'quotes 61 ms for a.b, the model says 60 ms (given, {HERE}); write "60 ms"'),
    ("[10, 21] ms", ((0.01, 0.02),), f'quotes [10, 21] ms for a.b, the model says 20 ms (given, {HERE}); write "[10, 20] ms"'),
    ("11–21 ms", (0.01, 0.02), f'quotes 11–21 ms for a.b, the model says 10 ms (given, {HERE}); and for a.b, the model says 20 ms (given, {HERE}); write "10–20 ms"'),
    ("[20, 10] ms", (0.01, 0.02), f'quotes [20, 10] ms for a.b, the model says 10 ms (given, {HERE}); and for a.b, the model says 20 ms (given, {HERE}); write "[10, 20] ms"'),
    ("10–20 ms", (0.01, 0.01), f'quotes 10–20 ms for a.b, the model says 10 ms (given, {HERE}); write "10–10 ms"'),
    ("20–10 ms", (0.01, 0.01), f'quotes 20–10 ms for a.b, the model says 10 ms (given, {HERE}); write "10–10 ms"'),
    ("10–10 ms", (0.02, 0.01), f'quotes 10–10 ms for a.b, the model says 20 ms (given, {HERE}); write "20–10 ms"'),
    ("10–10 ms", (0.01, 0.02), f'quotes 10–10 ms for a.b, the model says 20 ms (given, {HERE}); write "10–20 ms"'),
    ("500 ms–2 s", (2.0, 0.5), 'quotes 500 ms–2 s, whose names stand the other way round: write q("500 ms–2 s", a.b, a.b)'),
    ("2–1 s", (0.03, 0.04), f'quotes 2–1 s for a.b, the model says 30 ms (given, {HERE}); and for a.b, the model says 40 ms (given, {HERE}); write "30 ms–40 ms"'),
    ("[1, 2] s", (0.03, 0.04), f'quotes [1, 2] s for a.b, the model says 30 ms (given, {HERE}); and for a.b, the model says 40 ms (given, {HERE}); write "[30 ms, 40 ms]"'),
    ("[1, 2] s", ((0.03, 0.04),), f'quotes [1, 2] s for a.b, the model says 30 ms (given, {HERE}); and for a.b, the model says 40 ms (given, {HERE}); write "[30 ms, 40 ms]"'),
    ("1–2 s", (0.04, 0.03), 'quotes 1–2 s, whose names stand the other way round: write q("1–2 s", a.b, a.b)'),
    ("20–10 ms", (0.01, 0.02), 'quotes 20–10 ms, whose ends stand the other way round; write "10–20 ms"'),
    ("10–20 ms", (0.02, 0.01), 'quotes 10–20 ms, whose names stand the other way round: write q("10–20 ms", a.b, a.b)'),
])  # fmt: skip
def test_what_is_wrong_is_said_in_full(words: Any, values: tuple[Any, ...], says: str) -> None:
    quantities = [number(*v) if isinstance(v, tuple) and isinstance(v[1], str) else number(v) for v in values]
    assert complaint(words, *quantities) == says


# By hand: the unit an author would take, and the digits a pencil would leave.
@pytest.mark.parametrize(("value", "prefer", "best"), [
    (0.06, "ms", "ms"), (0.0001, "ms", "ms"), (0.00009, "ms", "µs"), (9.999, "ms", "ms"), (10.0, "ms", "s"), (-10.0, "ms", "s"), (-0.06, "ms", "ms"),
    (-0.00005, "s", "µs"), (0.0, "ms", "ms"), (1e-12, "ms", "ns"), (1e-12, "s", "ns"), (0.001, "s", "ms"), (36_000.0, "s", "h"), (5_184_000.0, "s", "days"),
    (86_400.0 * 365, "s", "years"), (300.0, "min", "min"), (3.0, "min", "s"), (120.0, "ms", "s"), (0.000095, "ms", "µs"), (86_400.0 * 60, "months", "months"),
    (86_400.0, "months", "days"), (2e10, "MB", "GB"), (9.999e9, "MB", "MB"), (1e10, "MB", "GB"), (20_000 * 2**20, "MiB", "GB"), (2**20, "MiB", "MiB"),
    (3e5 / 8, "Gbit/s", "kbit/s"), (3e5, "GB/s", "KB/s"), (1e15, "GB/s", "TB/s"), (0.5, "B", "B"), (0.01, "B", "B"), (1e15, "FLOP", "TFLOP"),
    (0.00001, "×", "×"), (0.00001, "%", "%"), (200.0, "%", "%"), (100_000, "ticks", "ticks"), (1e6, "IOPS", "IOPS"), (100_000, "", ""), (0.001, "", ""),
])  # fmt: skip
def test_the_unit_that_reads_best(value: float, prefer: str, best: str) -> None:
    assert text.best_unit(value, UNITS[prefer].dim if prefer else NONE, prefer) == best


@pytest.mark.parametrize(("value", "unit", "places", "shown"), [
    (0.06, "ms", None, "60 ms"), (1 / 3, "", None, "0.333"), (1 / 30, "", None, "0.0333"), (10 / 3, "", None, "3.33"), (31 / 3, "", None, "10.3"),
    (1000 / 3, "", None, "333"), (10_000 / 3, "", None, "3333"), (100_000 / 3, "", None, "33,333"), (0.99995, "", None, "0.99995"), (0.999995, "", None, "1.000"),
    (2.0, "×", 2, "2.00×"), (0.25, "%", None, "25%"), (0.001, "s", 0, "0.001 s"), (0.0004, "s", 2, "0.0004 s"), (0.0, "s", 2, "0.00 s"), (-3.0, "s", None, "−3 s"),
    (1234.5, "", 1, "1234.5"), (1 / 10.9, "", None, "0.0917"), (1e-7, "", None, "0.000000100"), (12_345.678, "", 1, "12,345.7"), (1234.5, "", 0, "1235"), (12_345, "", -2, "12,300"), (9999.5, "", 0, "10,000"), (1.0, "ticks", None, "1 tick"),
    (86_400.0, "days", None, "1 day"), (86_400.0, "days", 1, "1.0 days"), (31_536_000.0, "years", None, "1 year"), (2_628_000.0, "months", None, "1 month"),
    (2_628_000.0 * 2, "months", None, "2 months"), (0.001, "ms", None, "1 ms"), (-12_345.0, "", None, "−12,345"), (-1234.0, "", None, "−1234"),
])  # fmt: skip
def test_a_number_is_shown_with_the_digits_that_it_needs(value: float, unit: str, places: int | None, shown: str) -> None:
    assert text.show(value, unit, places).replace(text.NBSP, " ") == shown


@pytest.mark.parametrize(("value", "unit", "digits"), [
    (0.06, "s", "0.06\u00a0s"), (160e6, "MB", "160\u00a0MB"), (1 / 3, "", "0.333333333333333"), (1e-9, "s", "1·10⁻⁹\u00a0s"), (-1e-9, "s", "−1·10⁻⁹\u00a0s"),
    (1.5e20, "B", "1.5·10²⁰\u00a0B"), (2.5, "×", "2.5×"), (0.25, "%", "25%"), (-2.0, "", "−2"), (123456.789012345, "", "123456.789012345"),
])  # fmt: skip
def test_an_exact_number_has_all_its_digits(value: float, unit: str, digits: str) -> None:
    assert text.exact(value, unit) == digits


@pytest.mark.parametrize(("typed", "printed"), [
    ("5 us", "5\u00a0µs"), ("5us", "5us"), ("5 μs", "5\u00a0µs"), ("bus 5", "bus 5"), ("4x", "4×"), ("4 x", "4×"), ("x4", "×4"), ("x 4", "×4"), ("4 xs", "4\u00a0xs"), ("ax4", "ax4"),
    ("10^-15", "10⁻¹⁵"), ("10^6 B", "10⁶\u00a0B"), ("2x10^6", "2\u00a0×10⁶"), ("2 * 10^6", "2\u00a0× 10⁶"), ("2 x 10⁶", "2\u00a0× 10⁶"),
    ("-3 ms", "−3\u00a0ms"), ("(-3)", "(−3)"), ("a-3", "a-3"), ("2)-3", "2)-3"), ("[-3]", "[−3]"), ("<= 3", "≤ 3"), ("<=3", "≤ 3"), (">=  3 ms", "≥ 3\u00a0ms"), ("< 3", "< 3"),
    ("10-20 ms", "10–20\u00a0ms"), ("10 - 20 ms", "10–20\u00a0ms"), ("1,000-2,000", "1,000–2,000"), ("1.5-2.5", "1.5–2.5"), ("2024-05-01", "2024-05-01"),
    ("160-megabyte", "160-megabyte"), (" 3   ms ", "3\u00a0ms"), ("3\u2009ms", "3\u00a0ms"), ("3\u00a0ms", "3\u00a0ms"), ("3\nms", "3\u00a0ms"), ("25 %", "25\u00a0%"), ("10⁶ B", "10⁶\u00a0B"),
    ("2 ×", "2\u00a0×"), ("between 10 and 20 ms", "between 10\u00a0and 20\u00a0ms"), ("three ms", "three ms"), ("2 µs", "2\u00a0µs"),
])  # fmt: skip
def test_what_is_typed_is_set_as_print(typed: str, printed: str) -> None:
    assert text.typeset(typed) == printed


@pytest.mark.parametrize(("typed", "read_as"), [
    ("6\u00a0ms", "6 ms"), ("6\u200bms", "6 ms"), (" 6 \n\t ms ", "6 ms"), ("−6", "-6"), ("5 μs", "5 µs"), ("160‑megabyte", "160-megabyte"), ("10⁻¹⁵", "10^-15"),
    ("10⁶ B", "10^6 B"), ("2×10⁰¹²³⁴⁵⁶⁷⁸⁹", "2×10^0123456789"), ("2⁶", "2⁶"), ("6\ufeffms", "6 ms"),
])  # fmt: skip
def test_what_is_typed_is_read_in_one_spelling(typed: str, read_as: str) -> None:
    assert text.normalise(typed) == read_as


@pytest.fixture
def group() -> Any:
    ledger = Ledger()
    ledger.given("a.time", 0.06, "ms", "a time", HERE)
    ledger.given("a.size", 160e6, "MB", "a size", HERE)
    ledger.given("a.count", 4, "", "a count", HERE)
    ledger.given("a.list", (3, 6), "", "a list", HERE)
    ledger.given("a.steps", 0.5, "×", "a part", HERE)
    ledger.given("a.waits", (0.01, 0.02), "ms", "a list of times", HERE)
    return groups(ledger)["a"]


@pytest.mark.parametrize(("combine", "value", "expr", "filled"), [
    (lambda a: 3 + a.count, 7, "3 + a.count", "3 + 4"), (lambda a: a.count + 3, 7, "a.count + 3", "4 + 3"), (lambda a: 3 - a.count, -1, "3 - a.count", "3 − 4"),
    (lambda a: a.count - 3, 1, "a.count - 3", "4 − 3"), (lambda a: 2 * a.count, 8, "2 * a.count", "2·4"), (lambda a: a.count * 2, 8, "a.count * 2", "4·2"),
    (lambda a: 2 / a.count, 0.5, "2 / a.count", "2 / 4"), (lambda a: a.count / 2, 2, "a.count / 2", "4 / 2"), (lambda a: 2.0 * a.time, 0.12, "2 * a.time", "2·60 ms"),
    (lambda a: a.count * 2 * 3, 24, "a.count * 2 * 3", "4·2·3"), (lambda a: a.count / 2 / 4, 0.5, "a.count / 2 / 4", "4 / 2 / 4"),
    (lambda a: a.count / (2 / a.count), 8, "a.count / (2 / a.count)", "4 / (2 / 4)"), (lambda a: a.count - 1 - 2, 1, "a.count - 1 - 2", "4 − 1 − 2"),
    (lambda a: a.count - (a.count - 1), 1, "a.count - (a.count - 1)", "4 − (4 − 1)"), (lambda a: a.count + (a.count - 1), 7, "a.count + a.count - 1", "4 + 4 − 1"),
    (lambda a: (a.count + 1) * 2, 10, "(a.count + 1) * 2", "(4 + 1)·2"), (lambda a: 2 * (a.count - 1), 6, "2 * (a.count - 1)", "2·(4 − 1)"),
    (lambda a: a.count * (a.count / 2), 8, "a.count * a.count / 2", "4·4 / 2"), (lambda a: a.count * a.steps, 2, "a.count * a.steps", "4·0.5×"),
])  # fmt: skip
def test_what_is_combined_says_how(group: Any, combine: Callable[[Any], Quantity], value: float, expr: str, filled: str) -> None:
    q = combine(group)
    assert math.isclose(q.value, value, rel_tol=1e-12)
    assert (q.expr, q.filled.replace(text.NBSP, " ")) == (expr, filled)


@pytest.mark.parametrize(("combine", "says"), [
    (lambda a: a.list + 1, "a list cannot take part in arithmetic: a.list + 1"), (lambda a: 2 * a.list, "a list cannot take part in arithmetic: 2 * a.list"),
    (lambda a: a.time + a.size, "cannot add a.time (a time) and a.size (a size in bytes)"), (lambda a: a.time - 1, "cannot subtract a.time (a time) and 1 (a plain number)"),
    (lambda a: a.time / (a.count - 4), "cannot divide by a.count - 4, which is 0"), (lambda a: -a.time, "a call combines numbers with + - * / only: -a.time"), (lambda a: str(a.time), 'a number needs its words: write q("60 ms", a.time)'),
    (lambda a: a.time * 0.5, "a call holds names and whole numbers: 0.5 needs a name in the book"), (lambda a: a.time * "a.time", "a name stands without quotes: a.time"),
    (lambda a: a.time * "x", 'expected a number of the book, such as sync.one_gpu, got "x"'), (lambda a: a.time * [1], "expected a number of the book, such as sync.one_gpu, got a list"),
    (lambda a: a.time * abs, "expected a number of the book, such as sync.one_gpu, got a macro"), (lambda a: a.time * True, "expected a number of the book, such as sync.one_gpu, got True"),
    (lambda a: a.time * a, "a is a group: write a.time, a.size, a.count, …"), (lambda a: a.tme, "a.tme is not a number of the book; did you mean a.time?"),
    (lambda a: a.zzzzzzzzz, "a.zzzzzzzzz is not a number of the book; the Numbers page lists them all"),
])  # fmt: skip
def test_what_cannot_be_combined_says_why(group: Any, combine: Callable[[Any], Any], says: str) -> None:
    with pytest.raises(QuoteError) as error:
        combine(group)
    assert str(error.value) == says


@pytest.mark.parametrize(("combine", "shown"), [
    (lambda a: a.time, "60 ms"), (lambda a: a.time * 2, "120 ms"), (lambda a: a.count * 2, "8"), (lambda a: a.count / 2, "2×"), (lambda a: a.size / a.time, "2.67 GB/s"),
    (lambda a: a.time * a.time, "0.0036 (s^2)"), (lambda a: a.list, "[3, 6]"), (lambda a: a.waits, "[10 ms, 20 ms]"), (lambda a: a.count * a.steps, "2×"), (lambda a: a.time / a.time, "1×"), (lambda a: a.time * a.steps, "30 ms"), (lambda a: a.time * 1000, "60 s"), (lambda a: calls.q("4–8", a.count, 2 * a.count).quantity, "[4, 8]"),
])  # fmt: skip
def test_what_is_combined_is_shown_in_a_unit_that_fits(group: Any, combine: Callable[[Any], Quantity], shown: str) -> None:
    assert quantity_text(combine(group)).replace(text.NBSP, " ") == shown


def test_a_group_names_three_of_its_numbers(group: Any) -> None:
    ledger = Ledger()
    for name in ("b.x", "b.y", "bc.z", "d.k", "d.l", "d.m", "e.k", "e.l", "e.m", "e.n"):
        ledger.given(name, 1, "", "a number", HERE)
    few = groups(ledger)
    assert [*few] == ["b", "bc", "d", "e"]
    assert str(few["d"]) == "d is a group: write d.k, d.l, d.m"
    assert str(few["e"]) == "e is a group: write e.k, e.l, e.m, …"
    assert str(few["b"]) == "b is a group: write b.x, b.y"
    with pytest.raises(AttributeError, match=r"^__wrapped__$"):
        few["b"].__wrapped__  # noqa: B018


@pytest.mark.parametrize(("words", "spots"), [
    ("60 ms", [("60", 0, False)]), ("about 60 ms", [("60", 0, False)]), ("under  1,234.5 ms", [("1,234.5", 0, False)]), ("×2.00", [("2.00", 0, False)]), ("× 2", [("2", 0, False)]),
    ("-60 ms", [("-60", 0, False)]), ("+60 ms", [("+60", 0, False)]), ("6.1×10^-2 s", [("6.1", -2, False)]), ("6.1e3 B", [("6.1", 3, False)]), ("6.1*10³ B", [("6.1", 3, False)]),
    ("four", [("four", 0, True)]), ("about four GB", [("four", 0, True)]), ("twenty-four ms", [("twenty-four", 0, True)]), ("threefold", [("three", 0, True)]), ("at most three-fold", [("three", 0, True)]),
    ("a hundred and sixty MB", [("a hundred and sixty", 0, True)]), ("two orders of magnitude", [("two", 0, True)]), ("10–20 ms", [("10", 0, False), ("20", 0, False)]),
    ("from 10 to 20 ms", [("10", 0, False), ("20", 0, False)]), ("about 10 ms to 2 s", [("10", 0, False), ("2", 0, False)]), ("[3, 4]", [("3", 0, False), ("4", 0, False)]),
    ("[ 3,4 ,  10,000] ms", [("3", 0, False), ("4", 0, False), ("10,000", 0, False)]), ("10^-15", [None]), ("twice", [None]), ("a quarter", [None]), ("one part in 10^15", [None]), ("every fourth", [None]),
])  # fmt: skip
def test_where_the_digits_of_a_quote_stand(words: str, spots: list[tuple[str, int, bool] | None]) -> None:
    plain = text.normalise(words)
    assert [c.spot and (plain[c.spot.start : c.spot.end], c.spot.power, c.spot.words) for c in read(words)] == spots


@pytest.mark.parametrize(("words", "value", "unit", "sign", "magnitude"), [
    ("two orders of magnitude", 2, "×", "=", True), ("an order of magnitude", 1, "×", "=", True), ("One order of magnitude", 1, "×", "=", True), ("Over Eight Orders of Magnitude", 8, "×", ">", True),
    ("three hundred orders of magnitude", 300, "×", "=", True), ("one order of magnitude", 1, "×", "=", True), ("one thousandth", Fraction(1, 1000), "×", "=", False), ("an eighth", Fraction(1, 8), "×", "=", False),
    ("A Third", Fraction(1, 3), "×", "=", False), ("three quarters", Fraction(3, 4), "×", "=", False), ("under a tenth", Fraction(1, 10), "×", "<", False), ("Every Twelfth", 12, "", "=", False),
    ("2 fold", 2, "×", "=", False), ("ninety-ninefold", 99, "×", "=", False), ("at least tenfold", 10, "×", "≥", False), ("two parts in 10^6", Fraction(2, 10**6), "", "=", False),
    ("one part in a million", Fraction(1, 10**6), "", "=", False), ("one million bytes", 10**6, "B", "=", False), ("two billion", 2 * 10**9, "", "=", False), ("nine hundred ninety-nine", 999, "", "=", False),
    ("ten thousand and twenty", 10_020, "", "=", False), ("two hundred thousand", 200_000, "", "=", False), ("a thousand one hundred", 1100, "", "=", False), ("10^300 B", 10**300, "B", "=", False),
    ("1e-300 s", Fraction(1, 10**300), "s", "=", False), ("zero", 0, "", "=", False), ("roughly ≈".replace(" ≈", " 4"), 4, "", "=", False), ("some 4", 4, "", "=", False), ("approximately 4", 4, "", "=", False),
    ("an hundred", 100, "", "=", False), ("10^-0300 s", Fraction(1, 10**300), "s", "=", False), ("×10^3", 1000, "×", "=", False), ("160-B", 160, "B", "=", False),
    ("over an order of magnitude", 1, "×", ">", True), ("at least every third", 3, "", "≥", False), ("sixty-millisecond", Fraction(60), "ms", "=", False), ("around 4", 4, "", "=", False), ("below 4", 4, "", "<", False), ("above 4", 4, "", ">", False), ("no fewer than 4", 4, "", "≥", False), ("<4", 4, "", "<", False), (">=4", 4, "", "≥", False),
])  # fmt: skip
def test_what_words_and_bounds_claim(words: str, value: Any, unit: str, sign: str, magnitude: bool) -> None:
    [claim] = read(words)
    assert (claim.value, claim.unit.symbol if claim.unit else "", claim.sign, claim.magnitude) == (value, unit, sign, magnitude)


@pytest.mark.parametrize("words", [
    "under6 ms", "60-", "10^000300 s", "four Xms", "one part in one part in ten", "under 10–20 ms", "under60 ms", "overall 60 ms", "some60", "301 orders of magnitude", "three hundred and one orders of magnitude", "one part in under 10", "one part in zero", "every first", "every", "second",
    "four-fold fold", "2 orders of magnitude", "two orders of", "one part in", "twenty ten", "[3, 4] mss", "10^1.5 s", "x 4 ms", "100000e1 ms".replace("1 ms", "100000 ms"), "1×10^ ms",
])  # fmt: skip
def test_words_that_claim_no_number_are_refused(words: str) -> None:
    with pytest.raises(QuoteError):
        read(words)


@pytest.mark.parametrize(("number", "words"), [
    (0, "zero"), (1, "one"), (19, "nineteen"), (20, "twenty"), (21, "twenty-one"), (99, "ninety-nine"), (100, "one hundred"), (101, ""), (200, "two hundred"), (1000, "one thousand"), (1100, "eleven hundred"),
    (9900, "ninety-nine hundred"), (10_000, "ten thousand"), (99_000, "ninety-nine thousand"), (100_000, ""), (10**6, "one million"), (42 * 10**6, "forty-two million"), (10**9, "one billion"),
    (99 * 10**9, "ninety-nine billion"), (10**11, ""), (-1, ""), (1_500_000, ""),
])  # fmt: skip
def test_a_whole_number_in_words(number: int, words: str) -> None:
    assert claims.in_words(number) == words
    if words:
        assert claims.from_words(words) == number


def bound(call: Callable[[], calls.Piece]) -> tuple[calls.Piece, list[tuple[str, str, str, str, int, int]]]:
    """What a call puts on a page, and what it tells the recorder."""
    recorder = calls.Recorder("docs/x.md", 3, 7)
    with calls.recording(recorder) as same:
        assert same is recorder is calls.current()
        piece = call()
    assert calls.current() is not recorder
    return piece, [
        (u.kind, u.shown, ", ".join(q.expr for q in u.quantities), u.why, u.line, u.column)
        for u in recorder.uses
        if u.page == "docs/x.md"
    ]


def test_what_a_call_puts_on_a_page(group: Any) -> None:
    a = group
    assert bound(lambda: calls.q("60 ms", a.time)) == (
        calls.Piece('<span class="q" data-q="a.time">60\u00a0ms</span>', "60\u00a0ms", "q", a.time),
        [("q", "60\u00a0ms", "a.time", "", 3, 7)],
    )
    piece, uses = bound(lambda: calls.q("< 70 ms", a.time))
    assert (piece.html, piece.text) == ('<span class="q" data-q="a.time">&lt; 70\u00a0ms</span>', "< 70\u00a0ms")
    piece, uses = bound(lambda: calls.q("4–8", a.count, 2 * a.count))
    assert (piece.html, piece.text, uses) == (
        '<span class="q" data-q="a.count, 2 * a.count">4–8</span>',
        "4–8",
        [("q", "4–8", "a.count, 2 * a.count", "", 3, 7)],
    )
    both = piece.quantity
    assert both is not None
    assert (both.value, both.dim, both.expr, [n.name for n in both.numbers], both.filled) == (
        (4, 8),
        NONE,
        "a.count, 2 * a.count",
        ["a.count"],
        "4, 2·4",
    )
    assert both.single is None
    assert bound(lambda: calls.qt("< 70 ms", a.time)) == (
        calls.Piece("&lt; 70\u00a0ms", "< 70\u00a0ms", "text"),
        [("q", "< 70\u00a0ms", "a.time", "", 3, 7)],
    )
    assert bound(lambda: calls.rel("more", a.count, 2)) == (
        calls.Piece('<span class="rel" data-rel="a.count, 2">more</span>', "more", "rel"),
        [("r", "more", "a.count, 2", "", 3, 7)],
    )
    assert bound(lambda: calls.plain("<5 us", why="a bound")) == (
        calls.Piece('<span class="plain">&lt;5\u00a0µs</span>', "<5\u00a0µs", "plain"),
        [("e", "<5 us", "", "a bound", 3, 7)],
    )


def test_what_a_formula_puts_on_a_page() -> None:
    from perfmodel.book import LEDGER

    one: Any = groups(LEDGER)["sync"].one_gpu
    symbols, filled = "2·(n−1)·S / B", "2·(4−1)·160 MB / 16 GB/s"
    for numbers, block, kind, tag, said in (
        (False, False, "formula", "span", symbols),
        (False, True, "block", "div", symbols),
        (True, False, "formula", "span", filled),
        (True, True, "block", "div", filled),
    ):
        piece, uses = bound(lambda numbers=numbers, block=block: calls.formula(one, numbers=numbers, block=block))  # type: ignore[misc]
        assert (piece.text, piece.kind, piece.quantity, uses) == (said, kind, None if numbers else one, [])
        assert piece.html.startswith(f'<{tag} class="formula" data-formula="sync.one_gpu"><math ')
        assert piece.html.endswith(f"</math></{tag}>")
        assert ('display="block"' in piece.html) is (block and not numbers)
        assert ("<wbr>" in piece.html) is (block and numbers)
    assert "60.0" in bound(lambda: calls.formula(one, numbers=True, result="60.0 ms"))[0].html


def test_a_name_that_is_half_of_another_is_told_that() -> None:
    assert unknown("wrong_", ["sizes.wrong_from"]) == "wrong_ is not a number of the book; did you mean sizes.wrong_from?"


def test_a_number_in_words_is_exact_in_its_unit() -> None:
    assert quotes.holds(read("sixty milliseconds")[0], 0.06)
    assert not quotes.holds(read("sixty milliseconds")[0], 0.0601)


def test_what_is_to_be_written_instead_has_plain_blanks() -> None:
    assert (QuoteError("60\u00a0ms").fix, QuoteError("x", "60\u00a0ms").fix) == ("", "60 ms")


def test_a_formula_stands_in_the_line_and_is_one_of_a_number_of_the_book() -> None:
    from perfmodel.book import LEDGER

    piece = calls.formula(of(LEDGER["sync.one_gpu"]))
    assert (piece.kind, piece.html.startswith("<span ")) == ("formula", True)
    with pytest.raises(QuoteError, match="takes one number of the book, such as"):
        calls.formula("60 ms")


def test_a_name_unlike_any_is_told_all() -> None:
    assert near("there is no lab", "zzzz", ["ring", "cpu"]) == "there is no lab: cpu, ring"
    assert near("there is no lab", "rings", ["ring", "cpu"]) == "there is no lab; did you mean ring?"
