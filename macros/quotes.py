"""The rules of a quote: what an author wrote, read as a claim, and the claim held against the value.

A quote is right when the value, in the quoted unit, rounds half up at the last digit shown, in exact decimal arithmetic. "About"
and "≈" loosen nothing. "<", "at least", "under" and the like are comparisons. A range needs both its ends. A number word claims the
exact value.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from macros import text
from macros.quantity import Quantity, QuoteError, quantity, shown
from perfmodel.units import ALIASES, AMBIGUOUS, NONE, UNITS, Unit, unit

_NUMBER = r"[+-]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?|[+-]?\.\d+"
_POWER = r"10\^-?\d+"
_VALUE = rf"(?:(?P<mantissa>{_NUMBER})\s*[×x*]\s*(?P<power>{_POWER})|(?P<bare>{_POWER})|(?P<number>(?:{_NUMBER})(?:[eE][+-]?\d+)?))"
_WORD = "|".join(sorted(text.WORDS, key=len, reverse=True))
_MULTIPLES = {
    "twice": Fraction(2), "double": Fraction(2), "thrice": Fraction(3), "triple": Fraction(3), "half": Fraction(1, 2), "½": Fraction(1, 2),
    "third": Fraction(1, 3), "⅓": Fraction(1, 3), "two thirds": Fraction(2, 3), "⅔": Fraction(2, 3), "quarter": Fraction(1, 4),
    "¼": Fraction(1, 4), "three quarters": Fraction(3, 4), "¾": Fraction(3, 4),
}  # fmt: skip

SAME = {"≈", "~", "about", "around", "roughly", "approximately", "some"}
COMPARISONS = {
    "<": "<", "under": "<", "below": "<", "less than": "<", "fewer than": "<", "≤": "≤", "<=": "≤", "at most": "≤", "up to": "≤",
    "no more than": "≤", ">": ">", "over": ">", "above": ">", "more than": ">", "≥": "≥", ">=": "≥", "at least": "≥",
    "no less than": "≥",
}  # fmt: skip


@dataclass(frozen=True)
class Claim:
    """One number as an author wrote it: `places` decimals of `unit` (None places: the exact value is claimed)."""

    value: Fraction
    unit: Unit | None
    places: int | None
    sign: str = "="  # = < ≤ > ≥
    magnitude: bool = False  # the value claimed is its power of ten: "eight orders of magnitude"


def _split_prefix(words: str) -> tuple[str, str]:
    lower = words.lower()
    for prefix in sorted((*SAME, *COMPARISONS), key=len, reverse=True):
        if lower.startswith(prefix):
            rest = words[len(prefix) :]
            if prefix[-1].isalpha() and rest[:1].isalnum():
                continue
            return COMPARISONS.get(prefix, "="), rest.strip()
    return "=", words


def _unit_of(words: str, quote: str) -> Unit | None:
    words = words.strip()
    if not words:
        return None
    try:
        return unit(words)
    except ValueError as error:
        raise QuoteError(f'cannot read "{quote}": {error}') from None


def _one(words: str, quote: str, end_unit: Unit | None = None) -> Claim:
    """The claim that `words` make: a number, perhaps with a unit. `end_unit` serves the first end of "10–20 ms"."""
    sign, words = _split_prefix(words)
    lead = re.match(r"[×x]\s*(?=[\d.])", words)
    if lead:
        words = f"{words[lead.end() :]} ×"
    found = re.match(_VALUE, words)
    if found:
        rest = words[found.end() :]
        spelled = rest.startswith("-") and len(rest) > 1
        of_unit = _unit_of(rest[1:] if spelled else rest, quote) or end_unit
        if found["bare"]:
            return Claim(Fraction(10) ** int(found["bare"][3:]), of_unit, None, sign)
        digits = (found["mantissa"] or found["number"]).replace(",", "")
        exponent = int(found["power"][3:]) if found["power"] else 0
        if "e" in digits.lower():
            digits, tail = re.split("e", digits, flags=re.IGNORECASE)
            exponent += int(tail)
        places = len(digits.partition(".")[2]) - exponent
        return Claim(Fraction(digits) * Fraction(10) ** exponent, of_unit, places, sign)
    lower = words.lower()
    multiple = re.sub(r"^(?:an? |one )", "", lower)
    if multiple in _MULTIPLES:
        return Claim(_MULTIPLES[multiple], UNITS["×"], None, sign)
    whole = re.match(rf"({_WORD})\b[\s-]*", lower)
    if whole:
        rest = words[whole.end() :].strip()
        value = Fraction(text.WORDS[whole[1]])
        if re.fullmatch(r"orders? of magnitude", rest, re.IGNORECASE):
            return Claim(value, None, None, sign, magnitude=True)
        if rest.lower() == "fold":
            return Claim(value, UNITS["×"], None, sign)
        return Claim(value, _unit_of(rest, quote) or end_unit, None, sign)
    fold = re.fullmatch(rf"({_WORD})fold", lower)
    if fold:
        return Claim(Fraction(text.WORDS[fold[1]]), UNITS["×"], None, sign)
    raise QuoteError(f'"{quote}" holds no number this site can read')


def read(quote: str) -> list[Claim]:
    """The claims of a quote: one, two for a range, n for a list.

    >>> [c] = read("about 60 ms"); c.value, c.unit.symbol, c.places
    (Fraction(60, 1), 'ms', 0)
    >>> [str(c.value) for c in read("10–20 ms")], [str(c.value) for c in read("[3, 3]")]
    (['10', '20'], ['3', '3'])
    """
    words = text.normalise(quote)
    if not words:
        raise QuoteError('the words of a quote are empty: write what the page should say, such as "60 ms"')
    listed = re.fullmatch(r"\[(.*)\]\s*(.*)", words)
    if listed:
        tail = _unit_of(listed[2], quote)
        return [_one(part.strip(), quote, tail) for part in listed[1].split(",")]
    ends = re.fullmatch(rf"(?:between\s+)?((?:{_NUMBER})[^\d–]*?)\s*(?:–|\bto\b|\band\b|(?<=\d)\s?-\s?(?=\d))\s*((?:{_NUMBER}).*)", words)
    if ends:
        high = _one(ends[2], quote)
        return [_one(ends[1].strip(), quote, high.unit), high]
    return [_one(words, quote)]


def _wrong(claim: Claim, value: Any, q: Quantity) -> bool:
    number = text.in_unit(value, claim.unit)
    if claim.magnitude:
        return number != Fraction(10) ** int(claim.value)
    if claim.sign != "=":
        holds = {"<": number < claim.value, "≤": number <= claim.value, ">": number > claim.value, "≥": number >= claim.value}
        return not holds[claim.sign]
    if claim.places is None:
        return number != claim.value
    return Fraction(text.half_up(number, claim.places)) != claim.value


def _suggest(claim: Claim, value: Any, q: Quantity) -> str:
    """The value in the author's own form: same unit, same digits; else the way it reads best."""
    symbol = claim.unit.symbol if claim.unit else ""
    if claim.sign == "=" and claim.places is not None and claim.places >= 0:
        number = text.in_unit(value, claim.unit)
        rounded = text.half_up(number, claim.places)
        if rounded or not value:
            return text.show(value, symbol, claim.places)
    return shown(q) if not isinstance(q.value, tuple) else text.show(value, symbol)


def explain(q: Quantity) -> str:
    """How a value comes about: `0.06 s = 2·(4−1)·160 MB / 16 GB/s`."""
    from macros.formulas import filled

    single = q.single
    if single and single.formula:
        return f"{text.exact(single.value, _si(single.unit))} = {filled(single)}"
    if single:
        return f"{single.kind}, {single.source}"
    return q.filled


def _si(symbol: str) -> str:
    """The SI unit of the same dimension."""
    dim = unit(symbol).dim if symbol else NONE
    return next((u for u in ("s", "ticks", "B", "B/s", "FLOP", "FLOP/s", "IOPS") if unit(u).dim == dim), symbol)


def check(quote: str, *values: Any) -> list[Quantity]:
    """Hold a quote against its value (two for a range). Returns the quantities; raises QuoteError when the quote is wrong."""
    claims = read(quote)
    quantities = [quantity(v) for v in values]
    if not quantities:
        raise QuoteError(f'"{quote}" names no number: write q("{quote}", name)')
    flat: list[tuple[Any, Quantity]] = []
    for q in quantities:
        flat += [(v, q) for v in (q.value if isinstance(q.value, tuple) else (q.value,))]
    if len(claims) != len(flat):
        rule = "a range needs both its ends: " if len(claims) == 2 else ""
        raise QuoteError(f'{rule}"{quote}" holds {_count(claims, "number")}, {", ".join(q.expr for q in quantities)} {_count(flat, "value")}')
    wrong: list[str] = []
    right: list[str] = []
    for claim, (value, q) in zip(claims, flat, strict=True):
        dim = claim.unit.dim if claim.unit else NONE
        if value != value or value in (float("inf"), float("-inf")):
            raise QuoteError(f"{q.expr} is {value}: a page cannot quote it")
        if dim != q.dim:
            what = "has no unit" if not claim.unit else f"is {dim}"
            raise QuoteError(f'quotes "{quote}", which {what}, for {q.expr}, {q.dim}; write "{shown(q)}"', shown(q))
        suggestion = _suggest(claim, value, q)
        right.append(suggestion)
        if value and claim.value == 0 and claim.sign == "=":
            raise QuoteError(f'quotes {quote} for {q.expr}, which is not 0 but {shown(q)}; write "{shown(q)}"', shown(q))
        if _wrong(claim, value, q):
            wrong.append(f"{q.expr}, the model says {suggestion} ({explain(q)})")
    if wrong:
        fix = _reassemble(quote, claims, right)
        raise QuoteError(f'quotes {text.normalise(quote)} for {"; and for ".join(wrong)}; write "{fix}"', fix)
    return quantities


def _count(things: list[Any], noun: str) -> str:
    return f"{len(things)} {noun}{'s' if len(things) != 1 else ''}"


def _reassemble(quote: str, claims: list[Claim], right: list[str]) -> str:
    """The corrected quote, in the author's form."""
    if len(claims) == 1:
        prefix = re.match(r"^\s*(?:" + "|".join(re.escape(w) for w in sorted(SAME, key=len, reverse=True)) + r")\s*", quote)
        spelled = re.search(r"(?<=\d)-([a-z]+)$", quote)
        body = right[0].replace(text.NBSP, " ")
        if spelled:
            body = body.split(" ")[0] + "-" + spelled[1]
        if re.match(r"\s*[×x]\s*\d", quote):
            body = "×" + body.rstrip("×")
        return (prefix[0] if prefix else "") + body
    numbers = [r.replace(text.NBSP, " ") for r in right]
    if quote.strip().startswith("["):
        return "[" + ", ".join(numbers) + "]"
    return "–".join(numbers)


def known_words() -> set[str]:
    """Every word or symbol that may follow a number as its unit, in any accepted or refused spelling."""
    return {*UNITS, *ALIASES, *AMBIGUOUS}
