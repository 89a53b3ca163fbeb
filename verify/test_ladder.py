"""The latency ladder against a second copy typed from its source, and the words for its times against exact arithmetic.

The rows are those of Dive into Deep Learning 13.4 (after Eliot Eshelman), in verify/expected/latency_ladder.csv.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Callable
from dataclasses import replace
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from macros.text import decimal
from perfmodel import ladder, wording
from perfmodel.ladder import LADDER, Latency
from verify.asserts import refuses

steady = settings(derandomize=True, deadline=None, max_examples=300)
with (Path(__file__).parent / "expected" / "latency_ladder.csv").open(encoding="utf-8", newline="") as file:
    EXPECTED = list(csv.DictReader(file))
DAY, YEAR = 86_400, 365 * 86_400


def ladder_faults() -> list[str]:
    """Every rung that differs from the table, in any column, and every wrong word for it when an L1 hit takes a second."""
    faults = []
    if [row.id for row in LADDER] != [row["id"] for row in EXPECTED]:
        faults.append("the rungs differ, or their order")
    for row, right in zip(LADDER, EXPECTED, strict=False):
        if decimal(row.seconds) != Decimal(right["seconds"]):
            faults.append(f"{row.id} takes {row.seconds}, not {right['seconds']}")
        for name, seen in (
            ("action", row.action),
            ("group", row.group),
            ("in_lab", "yes" if row.in_lab else "no"),
            ("note", row.note),
        ):
            if seen != right[name]:
                faults.append(f"{row.id}: {name} {seen!r}, not {right[name]!r}")
        words = wording.feels_like(ladder.rescale(row.seconds, 1.5e-9), row.id == "l1")
        if right["feels_like_if_l1_is_1s"] and words != right["feels_like_if_l1_is_1s"]:
            faults.append(f"{row.id} feels like {words}, not {right['feels_like_if_l1_is_1s']}")
    return faults


def test_the_ladder() -> None:
    assert ladder_faults() == []
    assert len(EXPECTED) == 34
    assert sum(row["in_lab"] == "yes" for row in EXPECTED) == 24
    assert all(bool(row["feels_like_if_l1_is_1s"]) == (row["in_lab"] == "yes") for row in EXPECTED)
    assert all(row["source"] for row in EXPECTED)
    assert [row.seconds for row in LADDER] == sorted(row.seconds for row in LADDER)
    assert round(math.log10(ladder.slowest_to_fastest()), 12) == 8  # 150 ms / 1.5 ns = 10^8
    assert ladder.rescaled("l1")["hdd_random"] == pytest.approx(10e-3 / 1.5e-9, rel=1e-12)


# What the rule says: the time, the words, and why.
WORDS: list[tuple[float, str]] = [
    (10 / 3, "3.3 s"),
    (9.94, "9.9 s"),
    (9.95, "10.0 s"),  # a tie, half up; still under 10 s
    (9.999, "10.0 s"),
    (10, "10 s"),
    (10.5, "11 s"),  # a tie: a float formatted by Python would give 10
    (11.5, "12 s"),
    (59.4, "59 s"),
    (59.5, "60 s"),  # still under 60 s
    (60, "1 min"),
    (90, "2 min"),  # a tie, 1.5 min
    (149.9, "2 min"),
    (150, "3 min"),  # a tie, 2.5 min
    (3599, "60 min"),
    (3600, "1 h"),
    (1.5 * 3600, "2 h"),
    (86_399, "24 h"),
    (DAY, "1 day"),
    (1.4 * DAY, "1 day"),
    (1.5 * DAY, "2 days"),
    (364.4 * DAY, "364 days"),
    (364.9 * DAY, "365 days"),
    (YEAR, "1.0 years"),
    (1.25 * YEAR, "1.3 years"),  # a tie
    (100 * YEAR, "100.0 years"),
    (1, "1.0 s"),
    (1.05, "1.1 s"),  # 1.05 · 10 is 10.5 in decimal, a tie
    (149.99999999999997, "3 min"),  # 30 µs / 200 ns in binary, a tie
    (0.9996, "1.0 s"),  # 999.6 ms has four digits
    (0.9994, "999 ms"),
    (0.5, "500 ms"),
    (0.0125, "12.5 ms"),
    (0.01255, "12.6 ms"),  # a tie
    (1e-3, "1 ms"),
    (999.6e-6, "1 ms"),
    (66.67e-6, "66.7 µs"),
    (1.5e-6, "1.5 µs"),
    (1.204e-6, "1.2 µs"),  # 1.20: no zeros at the end
    (1e-6, "1 µs"),
    (999.6e-9, "1 µs"),
    (999.4999995e-9, "999 ns"),
    (999.4e-9, "999 ns"),
    (2.504999999e-9, "2.5 ns"),
    (66.64999e-6, "66.6 µs"),
    (999.4999e-6, "999 µs"),
    (1.5e-7, "150 ns"),
    (1e-8, "10 ns"),
    (2.5e-9, "2.5 ns"),
    (1e-9, "1 ns"),
    (0.25e-9, "0.25 ns"),
    (0.04e-9, "0.04 ns"),
    (0, "0 s"),
    (1e-5 / 1e-6, "10 s"),  # 10.000000000000002
    (59.99999999999999, "1 min"),  # means 60
]


def word_faults() -> list[str]:
    return [
        f"{seconds} s: {seen}, not {right}"
        for seconds, right in WORDS
        if (seen := wording.feels_like(float(seconds), False)) != right
    ]


def test_words() -> None:
    assert word_faults() == []
    assert wording.feels_like(1.0, True) == "1 s (ref)"


def test_a_time_that_comes_to_a_limit_is_on_it() -> None:
    """The largest times that times 1 + 1e-9 are a limit to the last bit."""
    for limit, words in ((10, "10 s"), (60, "1 min"), (3600, "1 h"), (86400, "1 day"), (365 * 86400, "1.0 years")):
        near = limit / (1 + 1e-9)
        [at] = {one for one in (math.nextafter(near, 0), near, math.nextafter(near, math.inf)) if one * (1 + 1e-9) == limit}
        assert wording.feels_like(at, False) == words


def test_words_from_other_rungs() -> None:
    # HDD random access as one second: an L1 hit is 1.5 ns / 10 ms = 150 ns, a kernel launch 1 ms, a packet 15 s.
    by = {
        row.id: wording.feels_like(seconds, row.id == "hdd_random")
        for row, seconds in zip(LADDER, ladder.rescaled("hdd_random").values(), strict=True)
    }
    assert (by["l1"], by["launch"], by["packet"], by["hdd_random"]) == ("150 ns", "1 ms", "15 s", "1 s (ref)")
    assert (by["optane_read"], by["pcie_1m"], by["disk_read_1m"]) == ("30.5 µs", "8 ms", "500 ms")
    # A kernel launch as one second: Ethernet, which takes as long, is no reference but 1.0 s; the packet 15,000 s = 4.17 h.
    launch = ladder.rescaled("launch")
    assert (wording.feels_like(launch["ethernet_4k"], False), wording.feels_like(launch["packet"], False)) == ("1.0 s", "4 h")


def exact(seconds: float) -> str:
    """The rule once more, in exact decimals, for a time of at most 12 digits."""
    time = decimal(seconds)
    for limit, unit, size in (
        (Decimal("1e-6"), "ns", Decimal("1e-9")),
        (Decimal("1e-3"), "µs", Decimal("1e-6")),
        (Decimal(1), "ms", Decimal("1e-3")),
    ):
        if time < limit:
            value = time / size
            places = max(0, 2 - value.adjusted())
            rounded = value.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP)
            if rounded < 1000:
                return f"{rounded.normalize():f} {unit}"
    for below, unit, each, step in ((10, "s", 1, "0.1"), (60, "s", 1, "1"), (3600, "min", 60, "1"), (DAY, "h", 3600, "1"),
                                    (YEAR, "days", DAY, "1"), (math.inf, "years", YEAR, "0.1")):  # fmt: skip
        if time < below:
            text = f"{(time / each).quantize(Decimal(step), ROUND_HALF_UP)} {unit}"
            return "1 day" if text == "1 days" else text
    raise AssertionError("every time is below infinity")


@steady
@given(st.integers(1, 10**6 - 1), st.integers(-15, 6))
def test_words_against_exact_arithmetic(digits: int, exponent: int) -> None:
    seconds = float(Decimal(digits).scaleb(exponent))
    assert wording.feels_like(seconds, False) == exact(seconds)


@steady
@given(st.sampled_from(LADDER), st.sampled_from(LADDER))
def test_every_rung_by_every_other(row: Latency, reference: Latency) -> None:
    seconds = ladder.rescale(row.seconds, reference.seconds)
    assert ladder.rescaled(reference.id)[row.id] == seconds
    # The same from the typed table: a quotient of exact decimals.
    text = {right["id"]: Decimal(right["seconds"]) for right in EXPECTED}
    assert wording.feels_like(seconds, False) == exact(float(text[row.id] / text[reference.id]))


BAD_ROWS = [
    ({"seconds": 0}, "the time of 'x' must be a finite number above 0, got 0"),
    ({"seconds": -1e-9}, "the time of 'x' must be a finite number above 0, got -1e-09"),
    ({"seconds": math.nan}, "the time of 'x' must be a finite number above 0, got nan"),
    ({"group": "tape"}, "a group must be one of cpu, gpu, memory, bus, storage, network, got 'tape'"),
    ({"id": "L1 hit"}, "an id must be letters, digits and _, got 'L1 hit'"),
]


@pytest.mark.parametrize(("changes", "message"), BAD_ROWS)
def test_bad_rows(changes: dict[str, Any], message: str) -> None:
    with refuses(message):
        Latency(**{"id": "x", "action": "nothing", "seconds": 1.0, "group": "cpu", "in_lab": False, **changes})


def test_a_bad_reference() -> None:
    with pytest.raises(ValueError, match=r"a reference must be one of l1, fma, .*, packet; got 'l4'"):
        ladder.rescaled("l4")


# The comparisons see a fault.

PLANTS: dict[str, tuple[object, str, Callable[..., Any]]] = {
    "the quotient upside down": (ladder, "rescale", lambda seconds, reference_s: reference_s / seconds),
    "ties to even": (wording, "half_up", lambda value: round(value)),
    "always down": (wording, "half_up", lambda value: math.floor(value)),
    "ties by the last bit": (wording, "half_up", lambda value: math.floor(value + 0.5)),
    "four digits": (wording, "three_digits", lambda value: str(round(value, 4))),
    "no row is the reference": (wording, "feels_like", lambda seconds, ref, right=wording.feels_like: right(seconds, False)),
}


def test_no_faults() -> None:
    assert ladder_faults() + word_faults() == []


@pytest.mark.parametrize("plant", PLANTS)
def test_a_planted_fault_is_reported(plant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    where, name, planted = PLANTS[plant]
    monkeypatch.setattr(where, name, planted)
    assert ladder_faults() + word_faults(), plant


@pytest.mark.parametrize("change", [{"seconds": 5.05e-9}, {"action": "L2 cache hit "}, {"in_lab": False}, {"group": "gpu"}])
def test_a_planted_rung_is_reported(change: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [replace(row, **change) if row.id == "l2" else row for row in LADDER]
    monkeypatch.setattr("verify.test_ladder.LADDER", tuple(rows))
    assert ladder_faults()
