"""Reading a quote: the words an author wrote, as claims of numbers.

The grammar is closed. A quote is one number, a range or a list, each with at most one unit and one word of comparison; whatever is left over
makes the quote unreadable, so that no second number can hide in it.
"""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import NamedTuple

from macros import text
from macros.quantity import QuoteError
from perfmodel.units import ALIASES, AMBIGUOUS, UNITS, Unit, unit

SAME = {"≈", "~", "about", "around", "roughly", "approximately", "some"}
COMPARISONS = {
    "<": "<", "under": "<", "below": "<", "less than": "<", "fewer than": "<", "≤": "≤", "<=": "≤", "at most": "≤", "up to": "≤",
    "no more than": "≤", ">": ">", "over": ">", "above": ">", "more than": ">", "≥": "≥", ">=": "≥", "at least": "≥",
    "no less than": "≥", "no fewer than": "≥",
}  # fmt: skip
MULTIPLES = {
    "twice": Fraction(2), "double": Fraction(2), "thrice": Fraction(3), "triple": Fraction(3), "half": Fraction(1, 2), "½": Fraction(1, 2),
    "third": Fraction(1, 3), "⅓": Fraction(1, 3), "two thirds": Fraction(2, 3), "⅔": Fraction(2, 3), "quarter": Fraction(1, 4),
    "¼": Fraction(1, 4), "three quarters": Fraction(3, 4), "¾": Fraction(3, 4), "fifth": Fraction(1, 5), "eighth": Fraction(1, 8),
    "tenth": Fraction(1, 10), "hundredth": Fraction(1, 100), "thousandth": Fraction(1, 1000),
}  # fmt: skip
_ORDINALS = ("second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh", "twelfth")
_PREFIXES = sorted((*SAME, *COMPARISONS), key=len, reverse=True)

_NUMBER = r"[+-]?(?:[1-9][0-9]{0,2}(?:,[0-9]{3})+|[0-9]+)(?:\.[0-9]+)?|[+-]?\.[0-9]+"
_NUMERAL = re.compile(
    rf"(?P<digits>{_NUMBER})(?:\s*[×x*]\s*10\^(?P<power>-?[0-9]+)|[eE](?P<exponent>[+-]?[0-9]+))?(?![0-9.]|,[0-9])"
)
_POWER = re.compile(r"10\^(?P<power>-?[0-9]+)(?![0-9.])")
_LONGEST = 1000  # characters of a quote: a list of many values, and more digits than any value has
_LARGEST = 300  # powers of ten beyond this are slips, and no float

_ONES = [w for w, n in text.WORDS.items() if n < 20]
_TENS = [w for w, n in text.WORDS.items() if 20 <= n < 100]
_UP_TO_99 = rf"(?:(?:{'|'.join(_TENS)})(?:[\s-](?:{'|'.join(_ONES[1:10])}))?|{'|'.join(sorted(_ONES, key=len, reverse=True))})"
_UP_TO_999 = rf"(?:(?:{_UP_TO_99}|an?)[\s-]hundred(?:\s(?:and\s)?{_UP_TO_99})?|{_UP_TO_99})"
_IN_WORDS = re.compile(
    rf"(?:{_UP_TO_999}|an?)[\s-](?:thousand|million|billion)(?:\s(?:and\s)?{_UP_TO_999})?(?![a-z])|{_UP_TO_999}(?![a-z])"
)
_FOLD = re.compile(rf"({_UP_TO_99})-?fold")


class Spot(NamedTuple):
    """Where in a quote the digits of a number stand, and how they scale: `digits × 10^power`, or a number in words."""

    start: int
    end: int
    power: int = 0
    words: bool = False


@dataclass(frozen=True)
class Claim:
    """One number as an author wrote it: `places` decimals of `unit` (None places: the exact value is claimed)."""

    value: Fraction
    unit: Unit | None
    places: int | None
    sign: str = "="  # = < ≤ > ≥
    magnitude: bool = False  # the value claimed is a power of ten: "eight orders of magnitude"
    spot: Spot | None = None


def from_words(words: str) -> int:
    """The whole number that words say. Lower case, as `_IN_WORDS` finds them.

    >>> from_words("twenty-four"), from_words("ten thousand"), from_words("a hundred and sixty")
    (24, 10000, 160)
    """
    total = part = 0
    for word in re.split(r"[\s-]+", words):
        number = text.WORDS.get(word, 1 if word in ("a", "an") else 0)
        if number == 100:
            part *= 100
        elif number >= 1000:
            total, part = total + part * number, 0
        else:
            part += number
    return total + part


def in_words(number: int) -> str:
    """A whole number from 0 to 99, or a round one, in words; "" for others.

    >>> in_words(24), in_words(10_000), in_words(161)
    ('twenty-four', 'ten thousand', '')
    """
    names = {n: w for w, n in text.WORDS.items() if n < 100}
    if number in names:
        return names[number]
    if 0 <= number < 100:
        return f"{names[number // 10 * 10]}-{names[number % 10]}"
    for size, word in ((10**9, "billion"), (10**6, "million"), (1000, "thousand"), (100, "hundred")):
        if number >= size and number % size == 0 and number // size < 100:
            return f"{in_words(number // size)} {word}"
    return ""


def _power(digits: str, quote: str) -> int:
    if len(digits) > 5 or abs(int(digits)) > _LARGEST:
        raise QuoteError(f'"{quote}" holds a power of ten beyond {_LARGEST}')
    return int(digits)


def _unit_of(words: str, quote: str) -> Unit | None:
    words = words.strip()
    if not words:
        return None
    if words == "fold":
        return UNITS["×"]
    try:
        return unit(words)
    except ValueError as error:
        known = [w for w in known_words() if len(w) > 2]
        close = difflib.get_close_matches(words, known, cutoff=0.75) if words not in AMBIGUOUS else []
        said = f'"{words}" is not a unit this site uses; did you mean {close[0]}?' if close else error
        raise QuoteError(f'cannot read "{quote}": {said}') from None


def _split_prefix(words: str) -> tuple[str, int]:
    """The comparison that begins a quote, and where the number begins."""
    lower = words.lower()
    for prefix in _PREFIXES:
        if lower.startswith(prefix) and not (prefix[-1].isalpha() and words[len(prefix) : len(prefix) + 1].isalnum()):
            rest = words[len(prefix) :]
            return COMPARISONS.get(prefix, "="), len(prefix) + len(rest) - len(rest.lstrip())
    return "=", 0


def _one(words: str, quote: str, base: int = 0) -> Claim:
    """The claim that `words` make: a number, perhaps with a unit. `base` is where they stand in the quote."""
    sign, skip = _split_prefix(words)
    words, base = words[skip:], base + skip
    times = re.match(r"[×x]\s*(?=[0-9.])", words)
    lead = times.end() if times else 0
    found = _NUMERAL.match(words, lead)
    power = _POWER.match(words, lead)
    if power or found:
        end = power.end() if power else found.end()  # type: ignore[union-attr]
        rest = words[end:] + (" ×" if times else "")
        if rest.startswith("-") and len(rest) > 1:
            rest = rest[1:]  # 160-megabyte
        of_unit = _unit_of(rest, quote)
        if power:
            return Claim(Fraction(10) ** _power(power["power"], quote), of_unit, None, sign)
        assert found is not None
        digits = found["digits"].replace(",", "")
        exponent = _power(found["power"] or found["exponent"] or "0", quote)
        places = len(digits.partition(".")[2])
        spot = Spot(base + found.start("digits"), base + found.end("digits"), exponent)
        return Claim(Fraction(digits) * Fraction(10) ** exponent, of_unit, places - exponent, sign, spot=spot)
    return _spelled(words, quote, sign, base)


def _spelled(words: str, quote: str, sign: str, base: int) -> Claim:
    """A number in words, which claims the exact value: four GPUs' worth, a quarter, threefold, one part in 10^15."""
    lower = words.lower()
    multiple = re.sub(r"^(?:an?|one) ", "", lower)
    if multiple in MULTIPLES:
        return Claim(MULTIPLES[multiple], UNITS["×"], None, sign)
    if re.fullmatch(r"(?:an|one) order of magnitude", lower):
        return Claim(Fraction(1), UNITS["×"], None, sign, magnitude=True)
    every = lower.removeprefix("every ")
    if every != lower and every in _ORDINALS:
        return Claim(Fraction(2 + _ORDINALS.index(every)), None, None, sign)
    fold = _FOLD.fullmatch(lower)
    if fold:
        return Claim(Fraction(from_words(fold[1])), UNITS["×"], None, sign, spot=Spot(base, base + fold.end(1), words=True))
    found = _IN_WORDS.match(lower)
    if not found:
        raise QuoteError(f'"{quote}" holds no number this site can read')
    value = Fraction(from_words(found[0]))
    rest = words[found.end() :].lstrip(" -")
    spot = Spot(base, base + found.end(), words=True)
    if re.fullmatch(r"orders? of magnitude", rest, re.IGNORECASE):
        if value > _LARGEST:
            raise QuoteError(f'"{quote}" holds a power of ten beyond {_LARGEST}')
        return Claim(value, UNITS["×"], None, sign, magnitude=True, spot=spot)
    part = re.fullmatch(r"parts? in (.+)", rest)
    if part and " in " not in part[1]:
        whole = _one(part[1], quote)
        if whole.unit or whole.sign != "=" or not whole.value:
            raise QuoteError(f'"{quote}" holds no number this site can read')
        return Claim(value / whole.value, None, None, sign)
    return Claim(value, _unit_of(rest, quote), None, sign, spot=spot)


_LIST = re.compile(r"\[(?P<parts>.*)\]\s*(?P<unit>.*)")
_BETWEEN = re.compile(
    rf"(?:(?:between|from)\s+)?(?P<low>(?:{_NUMBER})[^0-9–]*?)\s*(?:–|\bto\b|\band\b|(?<=[0-9])\s?-\s?(?=[0-9]))\s*(?P<high>(?:{_NUMBER}).*)"
)


def read(quote: str) -> list[Claim]:
    """The claims of a quote: one, two for a range, n for a list.

    >>> [c] = read("about 60 ms"); c.value, c.unit.symbol, c.places
    (Fraction(60, 1), 'ms', 0)
    >>> [str(c.value) for c in read("10–20 ms")], [str(c.value) for c in read("[3, 3]")]
    (['10', '20'], ['3', '3'])
    """
    if not isinstance(quote, str):
        raise QuoteError('the words of a quote come first, in straight quotes: q("60 ms", sync.one_gpu)')
    words = text.normalise(quote)
    if not words:
        raise QuoteError('the words of a quote are empty: write what the page should say, such as "60 ms"')
    if len(words) > _LONGEST:
        raise QuoteError(f"a quote has at most {_LONGEST} characters, got {len(words)}")
    listed = _LIST.fullmatch(words)
    if listed:
        tail = _unit_of(listed["unit"], words)
        parts = re.finditer(r"(?:[^,]|,(?=[0-9]{3}(?![0-9])))+", listed["parts"])
        claims = [_one(m[0].strip(), words, listed.start("parts") + m.start() + len(m[0]) - len(m[0].lstrip())) for m in parts]
        return [replace(c, unit=c.unit or tail) for c in claims]
    sign, skip = _split_prefix(words)
    ends = _BETWEEN.fullmatch(words, skip) if sign == "=" else None
    if ends:
        low, high = _one(ends["low"].strip(), words, ends.start("low")), _one(ends["high"], words, ends.start("high"))
        return [replace(low, unit=low.unit or high.unit), high]
    try:
        return [_one(words, words)]
    except QuoteError as error:
        raise QuoteError(_hint(words) or str(error)) from None


def _hint(words: str) -> str:
    """What is wrong with a quote whose rest can be read: a word too many before the number, a comma for a point."""
    point = re.sub(r"(?<=[0-9]),(?=[0-9]{1,2}(?![0-9]))|(?<=^0),(?=[0-9])", ".", words)
    lead = re.match(r"((?:[A-Za-z]+ )+)(?=\S)", words)
    for changed, hint in (
        (point, f"write {point}, with a point"),
        (words[lead.end() :] if lead else words, f'put "{lead[1].strip()}" before the call' if lead else ""),
    ):
        if changed != words:
            try:
                _one(changed, changed)
            except QuoteError:
                continue
            return f'cannot read "{words}": {hint}'
    return ""


def known_words() -> set[str]:
    """Every word or symbol that may follow a number as its unit, in any accepted or refused spelling."""
    return {*UNITS, *ALIASES, *AMBIGUOUS}
