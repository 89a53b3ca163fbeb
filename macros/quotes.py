"""The rules of a quote: what an author's words claim (see `claims`), held against the value.

A quote is right when the value, in the quoted unit, rounds half up at the last digit shown, in exact decimal arithmetic. "About"
and "≈" loosen nothing. "<", "at least", "under" and the like are comparisons. A range needs both its ends. A number word claims the
exact value.
"""

from __future__ import annotations

import math
import re
from dataclasses import replace
from fractions import Fraction
from typing import Any

from macros import text
from macros.claims import MULTIPLES, Claim, in_words, read
from macros.quantity import BASE, Drift, Quantity, QuoteError, quantity, shown
from perfmodel.units import NONE


def _exactly(claim: Claim, value: float | int) -> bool:
    """Whether the value is the claimed one, a third among them: to the digits that a float holds."""
    target = claim.value * (claim.unit.size if claim.unit else 1)
    return text.decimal(float(target)) == text.decimal(value)


def holds(claim: Claim, value: float | int) -> bool:
    """Whether a claim is true of a value (SI)."""
    number = text.in_unit(value, claim.unit)
    if claim.magnitude:  # the nearest power of ten, so within half a power on both sides: no logarithm, no rounding
        power = Fraction(10) ** (2 * int(claim.value))
        right = power / 10 <= number * number < power * 10
        return right if claim.sign == "=" else _compare(claim.sign, number, Fraction(10) ** int(claim.value))
    if claim.sign != "=":
        return _compare(claim.sign, number, claim.value)
    if claim.places is None:
        return _exactly(claim, value)
    return Fraction(text.half_up(number, claim.places)) == claim.value


def _compare(sign: str, number: Fraction, bound: Fraction) -> bool:
    return {"<": number < bound, "≤": number <= bound, ">": number > bound, "≥": number >= bound}[sign]


def _new_digits(claim: Claim, value: float | int, old: str) -> str:
    """The value in the author's own form: same unit, as many digits, words for words. "" when that form can't hold it."""
    if not claim.spot or claim.sign in "<>" or claim.magnitude:
        return ""
    number = text.in_unit(value, claim.unit) / Fraction(10) ** claim.spot.power
    if claim.spot.words:
        new = in_words(int(number))  # of a fraction its whole part, which `_corrected` will not take
        return new.capitalize() if old[:1].isupper() else new
    places = len(old.partition(".")[2])
    rounded = text.half_up(number, places)
    if value and (not rounded or len(text.digits(rounded, 0)) > 12):
        return ""
    new = text.digits(rounded, places)
    return "+" + new if old.startswith("+") and rounded > 0 else new


_NOUN = re.compile(r"(?<=[\da-z] )(tick|day|year|hour|minute|\w*second|\w*byte)s?$")


_MULTIPLES = {
    fraction: words for words, fraction in reversed(MULTIPLES.items()) if words.isascii() and words not in ("double", "triple")
}


def _multiple(claim: Claim, value: float | int) -> str:
    """The multiple or the part that a value is, in words, for an author who wrote another: "a quarter" for "a third"."""
    if claim.places is not None or not claim.unit or claim.magnitude or claim.sign != "=":
        return ""
    for fraction, words in _MULTIPLES.items():
        if _exactly(replace(claim, value=fraction), value):
            return words if words in ("twice", "thrice", "half") or " " in words else f"a {words}"
    return ""


def _corrected(words: str, claims: list[Claim], values: list[Any], whole: str) -> str:
    """The quote with right numbers in it; `whole`, when they can't stand in the author's form."""
    fixed = words
    for claim, value in sorted(
        zip(claims, values, strict=True), key=lambda pair: pair[0].spot.start if pair[0].spot else 0, reverse=True
    ):
        if not claim.spot:
            return _multiple(claim, value) or whole
        start, end = claim.spot[:2]
        new = words[start:end] if holds(claim, value) else _new_digits(claim, value, words[start:end])
        if not new:
            return whole
        fixed = fixed[:start] + new + fixed[end:]
    noun = _NOUN.search(fixed)
    if noun:
        fixed = (
            fixed[: noun.start()]
            + noun[1]
            + ("" if re.search(r"(?:(?<![\d.,])1|\bone) $", fixed[: noun.start()], re.IGNORECASE) else "s")
        )
    try:
        again = read(fixed)
    except QuoteError:  # a minus in a range: 1-2 would become -1-2
        return whole
    return fixed if len(again) == len(values) and all(map(holds, again, values)) else whole


def explain(q: Quantity) -> str:
    """How a value comes about: `0.06 s = 2·(4−1)·160 MB / 16 GB/s`."""
    from macros.formulas import filled

    single = q.single
    if single and single.formula and not isinstance(q.value, tuple):
        return f"{text.exact(single.value, BASE.get(single.dim, single.unit))} = {filled(single)}"
    if single:
        return f"{single.kind}, {single.source}"
    return q.filled


def check(quote: str, *values: Any) -> list[Quantity]:
    """Hold a quote against its value (two for a range). Returns the quantities; raises QuoteError when the quote is wrong."""
    claims = read(quote)
    words = text.normalise(quote)
    quantities = [quantity(v) for v in values]
    if not any(q.numbers for q in quantities):
        raise QuoteError(f'"{words}" names no number of the book: write q("{words}", name)')
    flat = [(v, q) for q in quantities for v in (q.value if isinstance(q.value, tuple) else (q.value,))]
    for value, q in flat:
        if not math.isfinite(value):
            raise QuoteError(f"{q.expr} is {value}: a page cannot quote it")
    if len(claims) != len(flat):
        rule = "a range needs both its ends: " if len(claims) == 2 and not words.startswith("[") else ""
        names = ", ".join(q.expr for q in quantities)
        raise QuoteError(f'{rule}"{words}" holds {text.counted(len(claims), "number")}, {names} {text.counted(len(flat), "value")}')
    right = _right(quantities, words)
    pairs = [*zip(claims, flat, strict=True)]
    for claim, (_, q) in pairs:
        dim = claim.unit.dim if claim.unit else NONE
        if dim != q.dim:
            what = "has no unit" if not claim.unit else f"is {dim}"
            raise Drift(f'quotes "{words}", which {what}, for {q.expr}, {q.dim}; write "{right}"', right)
        if claim.unit and claim.unit.symbol in ("×", "%") and q.single and not q.single.unit:
            raise Drift(f'quotes "{words}", which is a ratio, for {q.expr}, a count; write "{right}"', right)
    if len(flat) == 2 and not words.startswith("["):
        _in_order(words, claims, flat)
    fix = _corrected(words, claims, [v for v, _ in flat], right)
    wrong: list[str] = []
    for claim, (value, q) in pairs:
        if value and claim.value == 0 and claim.sign == "=" and not claim.magnitude:
            raise Drift(f'quotes {words} for {q.expr}, which is not 0 but {shown(q)}; write "{right}"', right)
        if not holds(claim, value):
            wrong.append(f"{q.expr}, the model says {_says(claim, value, q, words)} ({explain(q)})")
    if wrong:
        raise Drift(f'quotes {words} for {"; and for ".join(wrong)}; write "{fix}"', fix)
    return quantities


def _in_order(words: str, claims: list[Claim], flat: list[tuple[Any, Quantity]]) -> None:
    """A range whose ends stand the other way round keeps its digits: they change places, or its names do."""
    (low, of_low), (high, of_high) = flat
    rises = [c.value * (c.unit.size if c.unit else 1) for c in claims]
    if low > high and rises[0] < rises[1]:
        right = _corrected(words, claims, [high, low], words)
        raise Drift(f'quotes {words}, whose names stand the other way round: write q("{right}", {of_high.expr}, {of_low.expr})')
    spots = [c.spot for c in claims if c.spot]
    if low < high and rises[0] > rises[1] and len(spots) == 2:
        (a, b, *_), (c, d, *_) = spots
        turned = words[:a] + words[c:d] + words[b:c] + words[a:b] + words[d:]
        right = _corrected(turned, read(turned), [low, high], "")
        if right:
            raise Drift(f'quotes {words}, whose ends stand the other way round; write "{right}"', right)


def _says(claim: Claim, value: float | int, q: Quantity, words: str) -> str:
    """The right value of one claim, with its unit."""
    if claim.spot and not claim.spot.words and not claim.spot.power and claim.sign == "=":
        new = _new_digits(claim, value, words[claim.spot.start : claim.spot.end])
        if new:
            return text.show(value, claim.unit.symbol if claim.unit else "", claim.places)
    return shown(q) if not isinstance(q.value, tuple) else text.show(value, q.numbers[0].unit)


def _right(quantities: list[Quantity], words: str) -> str:
    """A quote that is right, in the form that reads best."""
    shown_ = [shown(q) for q in quantities]
    if len(shown_) == 1:
        return shown_[0].replace(text.NBSP, " ")
    right = "–".join(shown_) if len(shown_) == 2 and not words.startswith("[") else f"[{', '.join(shown_)}]"
    return right.replace(text.NBSP, " ")
