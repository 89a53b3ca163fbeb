"""Every call of every act changed: each change is caught where it stands."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from verify.audited import ACTS, audit_one, places, source_of


def mutated(path: str, pattern: str, change: Callable[[re.Match[str]], str | None]) -> tuple[str, set[tuple[int, int]]]:
    """The page with every call that `pattern` finds changed, and where those calls then begin. `change` returns None to leave one alone."""
    source = source_of(path)
    out, at, starts = "", 0, set()
    for found in re.finditer(pattern, source):
        new = change(found)
        if new is None or new == found[0]:
            continue
        out += source[at : found.start()]
        starts.add((out.count("\n") + 1, len(out) - (out.rfind("\n") + 1) + 1))
        out += new
        at = found.end()
    return out + source[at:], starts


QUOTED = r"\[= qt?\(\"(?P<words>[^\"]*)\", (?P<name>[^\"=]*?)\) =\]"


def drifted(path: str, source: str) -> set[tuple[int, int]]:
    return places([f for f in audit_one(path, source).faults if f.sort == "drifted"])


@pytest.mark.parametrize("path", ACTS)
@pytest.mark.parametrize("which", [0, -1], ids=["first digit", "last digit"])
@pytest.mark.parametrize("by", [1, 4, 9])
def test_every_quote_of_every_act_is_caught_with_a_digit_changed(path: str, which: int, by: int) -> None:
    def change(found: re.Match[str]) -> str | None:
        digits = [m.start() for m in re.finditer(r"[0-9]", found["words"])]
        if not digits or re.search(r"<|>|≤|≥|under|over|least|most|than", found["words"]):
            return None
        at = digits[which]
        words = found["words"][:at] + str((int(found["words"][at]) + by) % 10) + found["words"][at + 1 :]
        return found[0].replace(f'"{found["words"]}"', f'"{words}"')

    source, starts = mutated(path, QUOTED, change)
    assert len(starts) > 10
    assert places(audit_one(path, source).faults) == starts


# Units far enough apart that no rounding can make both right: 1 KB is 1 KiB, to one digit.
OTHER_UNIT = {
    "ms": "s", "s": "ms", "µs": "ns", "ns": "µs", "KB": "MB", "MB": "GB", "MiB": "GiB", "GB": "MB", "TB": "GB", "GB/s": "Gbit/s", "Gbit/s": "GB/s", "MB/s": "Mbit/s", "×": "%",
    "%": "×", "ticks": "ms", "tick": "s", "megabyte": "gigabyte", "TFLOP/s": "GFLOP/s", "GFLOP": "TFLOP", "days": "h", "h": "min", "IOPS": "ticks",
}  # fmt: skip


@pytest.mark.parametrize("path", ACTS)
def test_every_unit_of_every_act_is_caught_when_swapped(path: str) -> None:
    def change(found: re.Match[str]) -> str | None:
        unit = re.search(
            r"(?<=[0-9 -])(?:" + "|".join(sorted(map(re.escape, OTHER_UNIT), key=len, reverse=True)) + ")$", found["words"]
        )
        if not unit or re.search(r"<|>|≤|≥|under|over|least|most|than|^0\.?0* ", found["words"]):
            return None
        return found[0].replace(f'"{found["words"]}"', f'"{found["words"][: unit.start()]}{OTHER_UNIT[unit[0]]}"')

    source, starts = mutated(path, QUOTED, change)
    assert starts
    assert drifted(path, source) == starts


WORDS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen"]


@pytest.mark.parametrize("path", ACTS)
def test_every_number_word_of_every_act_is_caught_when_changed(path: str) -> None:
    def change(found: re.Match[str]) -> str | None:
        word = re.match(r"[A-Za-z]+", found["words"])
        if not word or word[0].lower() not in WORDS[:-1]:
            return None
        new = WORDS[WORDS.index(word[0].lower()) + 1]
        return found[0].replace(f'"{word[0]}', f'"{new.capitalize() if word[0][0].isupper() else new}', 1)

    source, starts = mutated(path, QUOTED, change)
    assert drifted(path, source) == starts


OPPOSITE = {
    "slower": "faster", "more": "less", "greater": "less", "larger": "smaller", "longer": "shorter", "later": "earlier", "slowest": "fastest", "largest": "smallest",
    "longest": "shortest", "most": "least", "the same": "more", "higher": "lower", "wider": "narrower", "fewer": "more", "cheaper": "more",
}  # fmt: skip
OPPOSITE.update({b: a for a, b in OPPOSITE.items() if a != "the same" and b not in OPPOSITE})


def test_every_relation_of_every_act_is_caught_when_turned() -> None:
    total = 0
    for path in ACTS:

        def change(found: re.Match[str]) -> str:
            return found[0].replace(
                f'"{found[1]}"',
                f'"{OPPOSITE[found[1].lower().removesuffix(" than").removeprefix("the ") if found[1] != "the same" else found[1]]}"',
                1,
            )

        source, starts = mutated(path, r"\[= rel\(\"([^\"]*)\", [^\"=]*?\) =\]", change)
        total += len(starts)
        assert drifted(path, source) == starts
    assert total >= 4


@pytest.mark.parametrize("path", ACTS)
def test_every_quote_with_a_digit_is_caught_when_it_is_typed_bare(path: str) -> None:
    """A call taken away leaves a naked number, wherever it stood."""

    def change(found: re.Match[str]) -> str | None:
        return found["words"] if re.search("[0-9]", found["words"]) else None

    source, starts = mutated(path, QUOTED, change)
    found = places([f for f in audit_one(path, source).faults if f.sort == "unbound"])
    # A range typed bare is found at both its ends; a bound at its number.
    assert all(any(line == at_line and abs(column - at) < 24 for at_line, at in found) for line, column in starts)
    assert len(found) >= len(starts) * 9 // 10


@pytest.mark.parametrize("path", ACTS)
def test_every_name_of_every_act_is_caught_when_misspelt(path: str) -> None:
    source, starts = mutated(path, QUOTED, lambda m: re.sub(r"([a-z]\w*\.\w+)([^=]*=\])$", r"\1x\2", m[0]))
    found = audit_one(path, source).faults
    assert places([f for f in found if "not a number of the book" in f.message]) == starts
