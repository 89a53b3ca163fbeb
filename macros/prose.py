"""The words of a text as a reader meets them: the characters that stay, each with its place in the source, and marks for what is no words."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field
from typing import NamedTuple

# What stands in the text for a call: a quote, a relation, an exemption, and all else that is no words: other calls, code, formulas.
QUOTE, RELATION, PLAIN, OTHER = "\ue0f0", "\ue0f1", "\ue0f2", "\ue0f3"
STOP = "\ue0f4"  # the end of a paragraph, a cell, a heading: words on its two sides do not belong together
GONE = "\2\3"  # which Python-Markdown takes out of a page before it reads it
DROP = "\0"  # a character that vanishes: a star of emphasis, a tag inside a word, the rest of a call after its mark

# What a reader sees or hears of a tag or an attribute list. All other attributes are for the machine.
SPOKEN = (
    "alt", "title", "aria-label", "aria-description", "aria-roledescription", "aria-valuetext", "placeholder", "label", "summary", "abbr", "value",
    "content", "srcdoc",
)  # fmt: skip
_SPOKEN = re.compile(rf"(?<![\w-])(?:{'|'.join(SPOKEN)})\s*=\s*(\"[^\"]*\"|'[^']*'|[^\s\"'>}}]+)", re.IGNORECASE)
KINDS = ("comment", "fence", "code", "formula", "alt", "heading")
Span = tuple[int, int]


class Heading(NamedTuple):
    """A heading: its line, level and words."""

    start: int
    end: int
    level: int
    words: str


@dataclass
class Prose:
    """The words of a text, `text[i]` standing at `at[i]` of the source, and what was cut out of them.

    `places` are the spans of the source that are not plain prose: fence (and indented code), code, formula, alt (alt texts, titles and other
    attributes), comment, heading. `broken` are what a parser of Markdown would read to the end of the page: (offset, message).
    """

    text: str = ""
    at: list[int] = field(default_factory=list)
    code: list[tuple[int, str]] = field(default_factory=list)
    math: list[tuple[int, str]] = field(default_factory=list)
    places: dict[str, list[Span]] = field(default_factory=lambda: {kind: [] for kind in KINDS})
    headings: list[Heading] = field(default_factory=list)
    broken: list[tuple[int, str]] = field(default_factory=list)
    lost: list[tuple[int, int, str]] = field(
        default_factory=list
    )  # Markdown that comes out as text: (start, end, what to do about it)
    links: list[tuple[int, str]] = field(default_factory=list)  # where a link or an image leads: (offset, address)
    bare: str = ""  # the source with code and comments blanked, nothing dropped

    def where(self, start: int, end: int) -> str:
        """What kind of place a span of the source stands in."""
        return next((kind for kind in KINDS if any(a <= start and end <= b for a, b in self.places[kind])), "prose")

    def keep(self, text: str) -> Prose:
        """Take the words of a text of the source's length: all but the characters that vanish."""
        self.at = [i for i, c in enumerate(text) if c != DROP and c not in GONE and (c < "\x7f" or unicodedata.category(c) != "Cf")]
        self.text = "".join([text[i] for i in self.at])
        return self


def literal(source: str) -> Prose:
    """A text that is shown as it stands: neither Markdown nor HTML."""
    return Prose(bare=source).keep(source)


def blank(text: str, mark: str = " ") -> str:
    """As many marks as `text` has characters, its line ends kept."""
    return re.sub(r"[^\n]", mark, text)


def opaque(text: str) -> str:
    """One word that nobody can read, in the place of code, a formula or an address."""
    return OTHER + DROP * (len(text) - 1)


def mask(text: str, bound: list[str]) -> str:
    """The text with a mark in every place of the words that are bound, in whatever blanks they are set."""
    for words in sorted({w for w in bound if w.strip()}, key=len, reverse=True):
        pattern = r"(?<![\w.,])" + r"\s+".join(map(re.escape, words.split())) + r"(?!\w|[.,]\d)"
        text = re.sub(pattern, lambda m: QUOTE + DROP * (len(m[0]) - 1), text)
    return text


def spoken(text: str, base: int, found: Prose) -> str:
    """A tag, an attribute list or the first line of a fence, which vanish but for the attributes that a reader sees or hears."""
    out = list(blank(text, DROP))
    for m in _SPOKEN.finditer(text):
        start, end = m.span(1)
        if m[1][0] in "\"'":
            start, end = start + 1, end - 1
        out[start - 1] = STOP
        out[start:end] = text[start:end]
        if end < len(out):
            out[end] = STOP
        found.places["alt"].append((base + start, base + end))
    return "".join(out)
