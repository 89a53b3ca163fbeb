"""Every relation word, over values that stand each way, in every dimension it may speak of."""

from __future__ import annotations

import importlib.util
import math
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from macros import relations
from macros.quantity import Drift, Quantity, QuoteError, of
from perfmodel.number import Ledger
from perfmodel.sources import HERE

steady = settings(derandomize=True, deadline=None, max_examples=200)

# By hand, from the words: what the first value is to the second when the word is true. A slow time is a long one, a slow rate a small one.
EVERYWHERE = {
    "more": ">", "greater": ">", "larger": ">", "bigger": ">", "higher": ">", "most": ">", "largest": ">", "biggest": ">", "highest": ">",
    "greatest": ">", "less": "<", "fewer": "<", "smaller": "<", "lower": "<", "cheaper": "<", "least": "<", "smallest": "<", "fewest": "<",
    "lowest": "<", "cheapest": "<", "the same": "=", "equal": "=", "equals": "=", "equal to": "=", "as large as": "=", "as much as": "=",
    "matches": "=",
}  # fmt: skip
OF_TIMES = {
    "longer": ">", "longest": ">", "later": ">", "latest": ">", "shorter": "<", "shortest": "<", "earlier": "<", "earliest": "<", "sooner": "<",
    "as long as": "=", "slower": ">", "slowest": ">", "faster": "<", "fastest": "<", "quicker": "<", "quickest": "<", "as fast as": "=",
    "as slow as": "=",
}  # fmt: skip
OF_RATES = {
    "wider": ">", "widest": ">", "narrower": "<", "narrowest": "<", "slower": "<", "slowest": "<", "faster": ">", "fastest": ">", "quicker": ">",
    "quickest": ">", "as fast as": "=", "as slow as": "=",
}  # fmt: skip
OF_COUNTS = {"as many as": "="}
UNITS = {"ms": OF_TIMES, "ticks": OF_TIMES, "GB/s": OF_RATES, "FLOP/s": OF_RATES, "IOPS": OF_RATES, "": OF_COUNTS, "MB": {}, "FLOP": {}, "×": OF_COUNTS}  # fmt: skip
PAIRS = {">": (2.0, 1.0), "<": (1.0, 2.0), "=": (1.5, 1.5)}


def number(value: Any, unit: str = "ms", name: str = "a.b") -> Quantity:
    ledger = Ledger()
    ledger.given(name, value, unit, "a number for a test", HERE)
    return of(ledger[name])


def complaint(word: str, *values: Any) -> str:
    """What is wrong with a relation, "" when it holds."""
    try:
        relations.check(word, *values)
    except QuoteError as error:
        return str(error)
    return ""


def test_the_vocabulary_is_what_the_tables_above_hold() -> None:
    assert set(relations.VOCABULARY) == {*EVERYWHERE, *OF_TIMES, *OF_RATES, *OF_COUNTS}


@pytest.mark.parametrize("word", relations.VOCABULARY)
@pytest.mark.parametrize("unit", UNITS)
def test_a_word_holds_one_way_and_is_refused_where_it_means_nothing(word: str, unit: str) -> None:
    means = {**EVERYWHERE, **UNITS[unit]}.get(word)
    for stands, (first, second) in PAIRS.items():
        message = complaint(word, number(first, unit), number(second, unit, "a.c"))
        if means is None:
            assert f'"{word}" compares ' in message
        elif stands == means:
            assert message == ""
        else:
            assert f'"{word}" does not hold: a.b is ' in message
            better = message.rpartition('write "')[2].removesuffix('"')
            assert complaint(better, number(first, unit), number(second, unit, "a.c")) == ""


@pytest.mark.parametrize("word", relations.VOCABULARY)
def test_every_word_has_an_opposite_that_is_suggested(word: str) -> None:
    unit = next(unit for unit, words in UNITS.items() if word in {**EVERYWHERE, **words})
    means = {**EVERYWHERE, **UNITS[unit]}[word]
    first, second = PAIRS[{">": "<", "<": ">", "=": ">"}[means]]
    with pytest.raises(Drift, match='; write "'):
        relations.check(word, number(first, unit), number(second, unit, "a.c"))


@steady
@given(st.floats(-1e12, 1e12), st.floats(-1e12, 1e12))
def test_exactly_one_of_less_the_same_and_more_holds(a: float, b: float) -> None:
    words = [word for word in ("less", "the same", "more") if not complaint(word, number(a), number(b, "ms", "a.c"))]
    assert len(words) == 1
    assert words == [{True: "the same"}.get(math.isclose(a, b, rel_tol=1e-12), "more" if a > b else "less")]


@pytest.mark.parametrize(
    ("factor", "word"),
    [(1 + 1e-13, "the same"), (1 - 1e-13, "the same"), (1 + 1e-9, "more"), (1 - 1e-9, "less"), (1 + 3e-12, "more")],
)
def test_the_same_is_equal_to_twelve_digits(factor: float, word: str) -> None:
    assert complaint(word, number(0.06 * factor), number(0.06, "ms", "a.c")) == ""


@pytest.mark.parametrize(("word", "values", "right"), [
    ("slowest", (3, 2, 1), True), ("slowest", (3, 2, 3), False), ("slowest", (2, 3, 1), False), ("fastest", (1, 2, 3), True), ("fastest", (2, 1, 3), False),
    ("the slowest", (3, 1), True), ("Slowest", (3, 1), True), ("the same", (2, 2, 2), True), ("the same", (2, 2, 3), False), ("slower than", (3, 1), True),
    ("the  same", (2, 2), True), ("same", (2, 2), True), ("the same as", (2, 2), True), ("longest", (3, 3), False),
])  # fmt: skip
def test_a_word_is_held_to_all_the_numbers(word: str, values: tuple[float, ...], right: bool) -> None:
    quantities = [number(v, "ms", f"a.n{i}") for i, v in enumerate(values)]
    assert (complaint(word, *quantities) == "") is right


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("word", ["more", "less", "the same", "slowest"])
def test_what_is_no_number_compares_with_nothing(word: str, bad: float) -> None:
    odd = replace(number(1.0), value=bad)
    for pair in ((odd, number(1.0)), (number(1.0), odd), (odd, odd)):
        assert complaint(word, *pair) == f"a.b is {bad}: a page cannot compare it"


@pytest.mark.parametrize(("word", "values", "says"), [
    ("slower", (number(1.0),), 'rel("slower", …) compares at least two numbers'),
    ("slower", (number(1.0), number(1.0, "MB")), '"slower" compares a.b (a time) with a.b (a size in bytes)'),
    ("slower", (number((1, 2), ""), number(1.0, "")), '"slower" compares single numbers, not lists'),
    ("slower", (number(1.0), "1 ms"), 'expected a number of the book, such as sync.one_gpu, got "1 ms"'),
    ("more", (3, 2), 'rel("more", …) compares no number of the book'),
    ("slowr", (number(1.0), number(2.0)), '"slowr" is not a relation this site knows; did you mean slower?'),
    ("zzz", (number(1.0), number(2.0)), f'"zzz" is not a relation this site knows: {", ".join(sorted({*EVERYWHERE, *OF_TIMES, *OF_RATES, *OF_COUNTS}))}'),
    ("", (number(1.0), number(2.0)), 'the word of a relation comes first: rel("slower", sync.cpu, sync.one_gpu)'),
    (" ", (number(1.0), number(2.0)), 'the word of a relation comes first: rel("slower", sync.cpu, sync.one_gpu)'),
    (number(1.0), ("slower", number(2.0)), 'the word of a relation comes first: rel("slower", sync.cpu, sync.one_gpu)'),
    ("slower", (number(1.0, ""), number(2.0, "")), '"slower" compares times or rates, not a plain number'),
    ("longer", (number(1.0, "MB"), number(2.0, "MB")), '"longer" compares times, not a size in bytes'),
])  # fmt: skip
def test_what_cannot_be_compared_says_why(word: Any, values: tuple[Any, ...], says: str) -> None:
    assert complaint(word, *values) == says


def test_a_count_may_be_typed_beside_a_number() -> None:
    assert complaint("more", number(4, ""), 2) == ""
    assert complaint("fewer", 2, number(4, "")) == ""


def test_the_message_says_how_the_numbers_stand() -> None:
    assert complaint("faster", number(0.08, name="sync.cpu"), number(0.06, name="sync.one_gpu")) == (
        '"faster" does not hold: sync.cpu is 80 ms and sync.one_gpu is 60 ms (sync.cpu > sync.one_gpu); write "slower"'
    )


def test_the_vocabulary_comes_out_the_same_when_it_is_made_again() -> None:
    spec = relations.__spec__
    assert spec is not None
    assert spec.loader is not None
    again = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(again)
    assert {word: tuple(means) for word, means in again._WORDS.items()} == {
        word: tuple(means) for word, means in relations._WORDS.items()
    }


@pytest.mark.parametrize(("word", "values", "unit", "says"), [
    ("slower", (1.0, 1.0), "ms", '"slower" does not hold: a.b is 1000 ms and a.b is 1000 ms (a.b = a.b); write "the same"'),
    ("slower", (1.0, 2.0), "ms", '"slower" does not hold: a.b is 1000 ms and a.b is 2000 ms (a.b < a.b); write "faster"'),
    ("the same", (2.0, 1.0), "ms", '"the same" does not hold: a.b is 2000 ms and a.b is 1000 ms (a.b > a.b); write "slower"'),
    ("the same", (1.0, 2.0), "ms", '"the same" does not hold: a.b is 1000 ms and a.b is 2000 ms (a.b < a.b); write "faster"'),
    ("the same", (1e9, 2e9), "GB/s", '"the same" does not hold: a.b is 1 GB/s and a.b is 2 GB/s (a.b < a.b); write "slower"'),
    ("as much as", (2e6, 1e6), "MB", '"as much as" does not hold: a.b is 2 MB and a.b is 1 MB (a.b > a.b); write "greater"'),
    ("as many as", (1, 2), "", '"as many as" does not hold: a.b is 1 and a.b is 2 (a.b < a.b); write "less"'),
    ("the same", (2.0, 1.0, 3.0), "ms", '"the same" does not hold: a.b is 2000 ms and a.b is 1000 ms (a.b > a.b)'),
    ("The slowest", (2.0, 3.0, 1.0), "ms", '"The slowest" does not hold: a.b is 2000 ms and a.b is 3000 ms (a.b < a.b)'),
])  # fmt: skip
def test_a_relation_that_does_not_hold_is_said_in_full(word: str, values: tuple[float, ...], unit: str, says: str) -> None:
    assert complaint(word, *(number(value, unit) for value in values)) == says
