"""What an author can call: q, qt, rel, plain, formula. Each returns a Piece and tells the recorder what the page has bound.

The same functions serve the audit, which evaluates every call of every page, and the build, which renders them.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Literal

from macros import formulas, quotes, relations, text
from macros.quantity import Group, Quantity, QuoteError
from macros.scan import Fault
from perfmodel.number import Number
from perfmodel.sources import D2L_ASYNC

_SECTION = re.compile(r"Dive into Deep Learning (\d+\.\d+)")
UseKind = Literal["q", "r", "e"]


@dataclass(frozen=True)
class Piece:
    """What a call puts on the page: HTML, and the same as plain text for where HTML can't go."""

    html: str
    text: str
    kind: str = "block"  # what the build does with it: see `Renderer._html`; a block stands as it is
    quantity: Quantity | None = None


@dataclass(frozen=True)
class Use:
    """One bound place: a quote (q), a relation (r) or an exemption (e)."""

    kind: UseKind
    page: str
    line: int
    column: int
    shown: str
    quantities: tuple[Quantity, ...] = ()
    why: str = ""


@dataclass
class Recorder:
    """What a run of calls has bound, and where it stands."""

    page: str = ""
    line: int = 0
    column: int = 0
    uses: list[Use] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)  # of the texts of figures and tables, which stand in Python

    def add(self, kind: UseKind, shown: str, quantities: list[Quantity] | None = None, why: str = "") -> None:
        """Note one use at the current place."""
        self.uses.append(Use(kind, self.page, self.line, self.column, shown, tuple(quantities or ()), why))


def sections(uses: Iterable[Use]) -> Counter[str]:
    """How many numbers that were quoted come from each section of Dive into Deep Learning, themselves or by what they are made of.

    >>> from macros.quantity import of
    >>> from perfmodel.book import LEDGER
    >>> sections([Use("q", "docs/x.md", 1, 1, "15 ms", (of(LEDGER["sync.ring"]),))])
    Counter({'13.7': 1})
    """
    return Counter(place for use in uses for each in use.quantities for number in each.numbers for place in _places(number))


def _places(number: Number) -> set[str]:
    own = {number.source.place.removeprefix("section ")} if number.source.title == D2L_ASYNC.title else set()
    return own.union(*map(_places, number.inputs.values()))


def check_badge(badge: str, uses: Iterable[Use]) -> None:
    """Raises QuoteError for a section in a badge from which none of the numbers comes that stand with it."""
    found = sections(uses)
    for section in _SECTION.findall(badge):
        if found and section not in found:
            raise QuoteError(f"the badge names section {section}, and the numbers beside it come from {', '.join(found)}")


_current: ContextVar[Recorder] = ContextVar("recorder")
_NOBODY = Recorder()  # for calls outside any page


@contextmanager
def recording(recorder: Recorder) -> Iterator[Recorder]:
    """Calls inside tell `recorder` what they bind."""
    token = _current.set(recorder)
    try:
        yield recorder
    finally:
        _current.reset(token)


def current() -> Recorder:
    """The recorder of the page at work."""
    return _current.get(_NOBODY)


def key(quantities: list[Quantity] | tuple[Quantity, ...]) -> str:
    """The name of a quote in the ledger: a number's name, or the expression."""
    return ", ".join(q.expr for q in quantities)


def q(words: str, *values: Any) -> Piece:
    """Quote a number: `q("60 ms", sync.one_gpu)`. The words go on the page; the value must agree with them."""
    quantities = quotes.check(words, *values)
    shown = text.typeset(words)
    current().add("q", shown, quantities)
    name = html.escape(key(quantities))
    return Piece(f'<span class="q" data-q="{name}">{html.escape(shown)}</span>', shown, "q", _joint(quantities))


def _joint(quantities: list[Quantity]) -> Quantity:
    """The quantity of a quote with one value, or a list of several under their joint name."""
    if len(quantities) == 1:
        return quantities[0]
    numbers = tuple(dict.fromkeys(n for q in quantities for n in q.numbers))
    return Quantity(
        tuple(q.value for q in quantities), quantities[0].dim, key(quantities), numbers, 0, ", ".join(q.filled for q in quantities)
    )


def qt(words: str, *values: Any) -> Piece:
    """Quote a number where HTML cannot go: the alt text of an image, a title."""
    piece = q(words, *values)
    return Piece(html.escape(piece.text), piece.text, "text")


def rel(word: str, first: Any, *others: Any) -> Piece:
    """State a relation: `rel("slower", sync.cpu, sync.one_gpu)`. The word must hold."""
    quantities = relations.check(word, first, *others)
    current().add("r", word, quantities)
    names = html.escape(key(quantities))
    return Piece(f'<span class="rel" data-rel="{names}">{html.escape(word)}</span>', word, "rel")


def plain(words: str, *, why: str = "") -> Piece:
    """Exempt words that look like a result and are none: `plain("1985", why="a year")`."""
    if not isinstance(words, str) or not words.strip():
        raise QuoteError('plain("…", why="…") needs the words that the page shows')
    if not why.strip():
        raise QuoteError(f'plain("{words}") must say why it is bound to nothing: plain("{words}", why="a year")')
    current().add("e", words, why=why)
    shown = text.typeset(words)
    return Piece(f'<span class="plain">{html.escape(shown)}</span>', shown, "plain")


def formula(value: Any, *, numbers: bool = False, block: bool = False, result: str = "") -> Piece:
    """The formula of a number, with symbols, or with its numbers filled in and its value (`numbers=True`); on a line of its own (`block=True`).

    `result` writes the value as a quote does, with as many digits as the page wants.
    """
    if isinstance(value, Group):
        raise QuoteError(str(value))
    number = value.single if isinstance(value, Quantity) else None
    if number is None:
        raise QuoteError("formula(…) takes one number of the book, such as sync.one_gpu")
    if result and not numbers:
        raise QuoteError("formula(…) shows a result only with numbers=True")
    if result:
        quotes.check(result, value)
    source = formulas.tex(number, numbers=numbers, result=result)
    markup = formulas.breakable(source) if numbers and block else formulas.mathml(source, block=block)
    tag = "div" if block else "span"
    name = html.escape(number.name)
    as_text = formulas.filled(number) if numbers else formulas.symbols(number)
    return Piece(
        f'<{tag} class="formula" data-formula="{name}">{markup}</{tag}>',
        as_text,
        "block" if block else "formula",
        None if numbers else value,
    )


INLINE: dict[str, Callable[..., Any]] = {"q": q, "qt": qt, "rel": rel, "plain": plain, "formula": formula}
