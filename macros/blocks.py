"""The lines of a Markdown text: which are code, which are raw HTML, and at which line ends a sentence cannot go on.

It follows Python-Markdown as mkdocs.yml sets it up; verify/test_scan.py holds it against the real thing over random pages.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from macros.prose import DROP, Prose, Span, blank, spoken

_TAGS = (
    "address|article|aside|blockquote|body|canvas|center|colgroup|dd|details|div|dl|dt|fieldset|figcaption|figure|footer|form|h[1-6]|header|"
    "hgroup|hr|html|iframe|legend|li|main|map|menu|nav|noscript|object|ol|option|output|p|pre|script|search|section|style|summary|table|tbody|"
    "td|textarea|tfoot|th|thead|tr|ul|video"
)
PARTS_WORDS = re.compile(rf"</?(?:{_TAGS}|br|img|input)\b", re.IGNORECASE)  # all other tags stand inside a sentence
_TAG = re.compile(rf"<(?P<close>/?)(?!hr\b)(?P<name>{_TAGS})\b[^<>]*>?", re.IGNORECASE)
_OPENING = rf"<(?P<tag>{_TAGS})\b(?P<rest>[^<>]*)>"
_RAW = re.compile(rf"^ {{0,3}}(?:{DROP}[^\n]*?)?{_OPENING}", re.IGNORECASE | re.MULTILINE)
_RAW_AGAIN = re.compile(rf"[^\n]*?{_OPENING}", re.IGNORECASE)  # on the line on which a block of HTML ends
_MARKDOWN_INSIDE = re.compile(r"(?<![\w-])markdown\b")

_FENCE = re.compile(r"(?P<indent>[> \t]*)(?P<mark>`{3,}|~{3,})(?P<info>[^`\n]*)\Z")
_OPTION = r"[ \t]+[A-Za-z]\w*(?:=(?:\"[^\"\n]*\"|'[^'\n]*'))?"
_INFO = re.compile(rf"[ \t]*(?:\.?[\w#.+-]+)?(?:[ \t]*\{{[^\n]*\}}|(?:{_OPTION})*)[ \t]*")

_TITLED = r"(?:(?:!!!|\?\?\?\+?)[ \t]|===[!+]*[ \t]+\")"  # an admonition, a fold, a tab
_HOLDER = re.compile(rf"[ \t]*(?:(?:[-*+]|\d+\.|:)[ \t]|{_TITLED}|\[\^[^\]\s]+\]:)")  # what is indented below belongs to it
_OPENER = re.compile(rf"[ \t]*(?:#{{1,6}}|{_TITLED})")  # the line after it begins a block
_ITEM = re.compile(r"[ \t]*(?:[-*+]|\d+\.)[ \t]")
_NUMBERED = re.compile(r"[ \t]*\d+\.(?=[ \t])")
_FIRST = re.compile(r"[ \t]*1\.[ \t]")
_DEFINITION = re.compile(r" {0,3}\[(?!\^)[^\[\]\n]+\]:[ \t]*\S+[ \t]*\n?\Z")
_UNDERLINE = re.compile(r"[ \t>]*(?:=+|-+)[ \t]*(?:\n|\Z)")  # makes a heading of the line above, whatever it begins with
_LINE = re.compile(r"[^\n]*\n|[^\n]+")


def fences(text: str, found: Prose) -> str:
    """Code fences dropped, but for a title. A fence that is not closed hides nothing: it is no fence."""
    lines = text.split("\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    number = 0
    while number < len(lines):
        opening = _FENCE.match(lines[number])
        if opening and _INFO.fullmatch(opening["info"]):
            last = _fence_end(lines, number, opening)
            if last is None:
                message = f"this fence is never closed: it ends with {opening['mark']} on a line of its own"
                found.broken.append((starts[number] + opening.start("mark"), message))
            else:
                found.places["fence"].append((starts[number], starts[last + 1] - 1))
                lead = opening["indent"]
                info = lead + spoken(lines[number], starts[number], found)[len(lead) :]
                lines[number : last + 1] = [
                    info,
                    *(line[: len(lead)] + DROP * (len(line) - len(lead)) for line in lines[number + 1 : last + 1]),
                ]
                number = last
        number += 1
    return "\n".join(lines)


def _fence_end(lines: list[str], first: int, opening: re.Match[str]) -> int | None:
    """The line that closes a fence: its mark alone, as far in as the opening. A line further out means that there was no fence."""
    width = len(opening["indent"].expandtabs(4))
    for number in range(first + 1, len(lines)):
        line = lines[number].expandtabs(4)
        if line[:width].strip(" >"):
            return None
        if re.fullmatch(rf"{opening['mark']}[ \t]*", line[width:]):
            return number
    return None


def raw_html(text: str) -> list[Span]:
    """Blocks of raw HTML, in which Markdown means nothing. `<div markdown>` is none of them."""
    spans: list[Span] = []
    at, again = 0, False
    while opening := (again and _RAW_AGAIN.match(text, at)) or _RAW.search(text, at):
        at = opening.end()
        again = not _MARKDOWN_INSIDE.search(opening["rest"])
        if again:
            start = opening.start("tag") - 1
            at = _html_end(text, start)
            spans.append((start, at))
    return spans


def _html_end(text: str, start: int) -> int:
    """Where the tag that opens at `start` is closed, with all that it holds; else the end of the text."""
    inside: list[str] = []
    for tag in _TAG.finditer(text, start):
        name = tag["name"].lower()
        if not tag["close"]:
            inside.append(name)
        elif name in inside:
            del inside[len(inside) - 1 - inside[::-1].index(name) :]
        if not inside:
            return tag.end()
    return len(text)


@dataclass
class _Depths:
    """Which blocks hold what is indented below them, by depth; and so whether an indented line is code."""

    holders: list[bool] = field(default_factory=list)

    def of(self, line: str) -> tuple[int, int]:
        """How deep a line is indented, and how deep it may be before it is code."""
        wide = line.expandtabs(4)
        level = (len(wide) - len(wide.lstrip())) // 4
        return level, next((k for k, holds in enumerate(self.holders) if not holds), len(self.holders))

    def begin(self, level: int, *, holds: bool) -> None:
        """A block begins at a depth."""
        self.holders = [*(self.holders + [True] * level)[:level], holds]


def lines(text: str, raw: list[Span], found: Prose) -> tuple[str, list[int]]:
    """Indented code dropped, list markers and quote marks blanked; and the line ends at which a sentence cannot go on."""
    out: list[str] = []
    stops: set[int] = set()
    quoted = [_Depths()]  # by the number of quotation marks before a line
    begun = 0  # how far in the block has begun
    fresh, listing = True, False  # the line begins a block, or all of it so far is code; the block is a list
    astray = False  # a list has begun in the middle of a paragraph
    indented = not re.search(r"<\w[^<>]*\smarkdown\b", text)  # inside such HTML, what is indented is not told from code
    for m in _LINE.finditer(text):
        (start, end), line = m.span(), m[0]
        html = next((span for span in raw if span[0] < end and start < span[1]), None)
        if html or not line.strip(" \t>\n"):
            if html:
                quoted[0].begin(0, holds=False)
                fresh = not text[html[1] : end].strip()
            else:
                stops |= {start - 1, end - 1}
                fresh, listing, astray = True, False, False
            out.append(line)
            continue
        lead = len(re.match(r"(?: {0,3}> ?)*", line)[0])  # type: ignore[index]  # matches nothing at least
        deep = line[:lead].count(">")
        if deep >= len(quoted):
            quoted[-1].begin(0, holds=False)
            quoted += [_Depths() for _ in range(deep)]
        del quoted[deep + 1 :]
        depths = quoted[-1]
        level, depth = depths.of(line[lead:])
        if fresh and level > depth and indented:
            found.places["fence"].append((start, end))
            out.append(blank(line, DROP))
            continue
        inner = len(re.match(r"[ \t]*(?:>[ \t]?)+|", line[lead:])[0])  # type: ignore[index]
        lead += inner
        words = line[lead:]
        holder, opener, item, numbered = (bool(p.match(words)) for p in (_HOLDER, _OPENER, _ITEM, _NUMBERED))
        begun = level if fresh else begun
        opener = opener and level <= begun  # further in, it is words of the paragraph above
        if (fresh or holder or opener) and not _DEFINITION.match(words):
            depths.begin(level, holds=holder)
        apart = "|" in words or words.lstrip().startswith(DROP)  # a row of a table; a fence, or a comment on a line of its own
        if fresh or holder or opener or apart:
            stops.add(start - 1)
        if opener or apart:
            stops.add(end - 1)
        listing = listing and not opener
        if item and not fresh and not listing and (astray or not numbered or _FIRST.match(words)):
            marker = len(words) - len(words.lstrip())
            found.lost.append(
                (start + lead + marker, start + lead + marker + 3, "" if astray else "leave a blank line above the list")
            )
            astray = True
        if numbered and (fresh or (listing and not inner)) and not _UNDERLINE.match(text, end):
            words = _NUMBERED.sub(lambda m: blank(m[0]), words, count=1)
        out.append(" " * lead + words)
        listing, fresh = listing or (item and fresh), opener
    return "".join(out), sorted(s for s in stops if s >= 0 and text[s] == "\n")
