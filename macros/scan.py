"""Reading a Markdown page: every call with its line and column, and the prose around the calls.

The scan works on the raw file, so that a message names the line an author sees in an editor. Jinja's own lexer finds the calls: what it
can't read becomes a fault, in an author's words, and the rest of the page is read on.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from jinja2 import Environment
from jinja2.exceptions import TemplateSyntaxError

from macros import markdown
from macros.prose import DROP, OTHER, PLAIN, QUOTE, RELATION, Prose, blank, literal

OPEN, CLOSE = "[=", "=]"
JINJA = {
    "variable_start_string": OPEN, "variable_end_string": CLOSE, "block_start_string": "[%", "block_end_string": "%]",
    "comment_start_string": "[##", "comment_end_string": "##]",
}  # fmt: skip
CALLS = {"q": QUOTE, "qt": QUOTE, "rel": RELATION, "plain": PLAIN}
FRONT_MATTER = re.compile(r"\A\ufeff?---[ \t]*\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
# Front matter that MkDocs does not take for one: below a blank line, never closed, or without its lines of dashes.
_LOST = re.compile(
    r"\A\ufeff?(?:\s*^---[ \t]*\n|\s*(?=(?:title|description):))(?:(?:[\w\"'-][^\n:]*:|[ \t]+\S)[^\n]*\n)*(?:---[ \t]*\n)?",
    re.MULTILINE,
)


@dataclass(frozen=True, order=True)
class Fault:
    """One thing wrong, and where. `fix` replaces `old` in the source when only digits are wrong."""

    path: str
    line: int
    column: int
    message: str
    sort: str = "broken"  # drifted: a quote or relation that does not hold; unbound: a naked number; withheld: what waits for a refused record; broken: all else
    old: str = field(default="", compare=False)
    fix: str = field(default="", compare=False)

    @property
    def place(self) -> str:
        """The file, and where it is known the line and the column."""
        return f"{self.path}:{self.line}:{self.column}" if self.line else self.path

    def __str__(self) -> str:
        return f"{self.place}: {' '.join(self.message.split())}"


@dataclass(frozen=True)
class Call:
    """One `[= … =]` of a page: its expression, the macro it calls, and where it stands (character offsets of the whole block)."""

    source: str
    macro: str
    start: int
    end: int
    line: int
    column: int
    where: str = "prose"  # prose, heading, code, formula, alt, fence, comment


@dataclass
class Page:
    """A scanned page."""

    path: str
    source: str
    calls: list[Call]
    faults: list[Fault]
    body: int  # offset of the first character after the front matter
    prose: Prose = field(default_factory=Prose)

    def place(self, offset: int) -> tuple[int, int]:
        """Line and column (both from 1) of a character."""
        above = self.source[:offset]
        return above.count("\n") + 1, offset - above.rfind("\n")

    def fault(self, offset: int, message: str, sort: str = "broken", old: str = "", fix: str = "") -> Fault:
        """A fault at a character of this page."""
        return Fault(self.path, *self.place(offset), message, sort, old, fix)


_ENV = Environment(**JINJA, keep_trailing_newline=True)  # type: ignore[arg-type]
_CURLY = "“”„‟‘’‚′″«»"
# A call that cannot be read ends at its =], or, when that belongs to another call, at its last parenthesis.
_EXTENT = re.compile(r"\[=(?:(?!\[=|\n[ \t]*\n).)*?=\]|\[(?:=|%|##)(?:(?!\[=)[^)\n])*\)?", re.DOTALL)
# A sign beside the brackets of a call: the lexer drops the blanks around it, and then miscounts.
_SIGN = re.compile(r"(?<=\[=)[-+]|(?<=\[%)[-+]|(?<=\[##)[-+]|[-+](?=(?:=|%|##)\])")
MACROS: set[str] = set(CALLS)  # every name that a page may call; the audit adds its own


class _Block(NamedTuple):
    """A stretch of the source: a call with its expression, or what is wrong with one that can't be read."""

    start: int
    end: int
    words: str


def _lex(source: str) -> tuple[list[_Block], list[_Block]]:
    """Every call that can be read, and every one that can't with what is wrong. After an error its opening is blanked and all is read again."""
    text = _SIGN.sub(" ", source)
    broken: dict[int, _Block] = {}
    while True:
        found: list[_Block] = []
        statements: list[_Block] = []
        offset = 0
        opened: int | None = None
        pieces: list[str]
        try:
            for _line, kind, value in _ENV.lexer.tokeniter(text, None):
                if kind in ("variable_begin", "block_begin", "comment_begin", "raw_begin"):
                    opened, pieces = offset, []
                    if kind in ("block_begin", "raw_begin"):
                        statements.append(
                            _Block(offset, offset + 2, "a page holds calls, not statements: [% … %] belongs in a macro")
                        )
                elif kind == "variable_end" and opened is not None:
                    found.append(_Block(opened, offset + len(value), "".join(pieces).strip()))
                    opened = None
                elif kind in ("block_end", "comment_end", "raw_end"):
                    if kind == "block_end":
                        statements[-1] = statements[-1]._replace(end=offset + len(value))
                    opened = None
                elif opened is not None and text.startswith(OPEN, opened):
                    pieces.append(value)
                    if OPEN in value or CLOSE in value or re.search(r"\n[ \t]*\n", value) or "".join(pieces[-2:]) == OPEN:
                        raise TemplateSyntaxError("it runs into the next call", 1)
                offset += len(value)
            if opened is not None:
                raise TemplateSyntaxError("unexpected end of template", 1)
        except TemplateSyntaxError as error:
            if opened is None:  # the lexer can only go wrong inside what began last
                raise
            inside = next(_EXTENT.finditer(text, opened))[0]
            broken[opened] = _Block(opened, opened + len(inside), _explain(inside, str(error.message)))
            text = text[:opened] + "  " + text[opened + 2 :]
            continue
        ends = ("end", "else", "elif")
        opening = [s for s in statements if not text[s.start + 2 :].lstrip().startswith(ends)]
        signed = [b for b in found if {source[b.start + 2], source[b.end - 3]} & {"-", "+"}]
        refused = [
            b._replace(words=f"{_short(source[b.start : b.end])} has a sign beside its brackets: a call is [= … =]") for b in signed
        ]
        return [b for b in found if b not in signed], [*broken.values(), *(opening or statements), *refused]


def _explain(inside: str, message: str) -> str:
    """A syntax error of the lexer, in an author's words."""
    short = _short(inside)
    if inside.startswith("[##"):
        return "a comment is never closed: it ends with ##]"
    if inside.startswith("[%"):
        return "a page holds calls, not statements: [% … %] belongs in a macro"
    if re.search(rf"[(,=]\s*[{_CURLY}]|[{_CURLY}]\s*[,)]", inside):
        return f'curly quotes in {short}: write straight ones, "…"'
    if not inside.endswith(CLOSE):
        return f"{short} is never closed: a call ends with =]"
    if inside.count('"') % 2 or inside.count("'") % 2:
        mark = '"' if inside.count('"') % 2 else "'"
        return f"{short} opens a quote that it does not close: every {mark} needs its partner"
    return f"{short} cannot be read: {message}"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 60 else line[:57] + "…"


def macro_of(expression: str) -> str:
    """The macro an expression calls, "" when it is not exactly one call."""
    try:
        node = ast.parse(expression.replace("\n", " ").strip(), mode="eval").body
    except (SyntaxError, ValueError):
        return ""
    return node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""


def _marked(source: str, blocks: list[tuple[int, int, str]]) -> str:
    """The source with a mark in the place of each block, the rest of the block dropped."""
    out, at = [], 0
    for start, end, mark in sorted(blocks):
        if start >= at:
            out += [source[at:start], mark, DROP * (end - start - 1)]
            at = end
    return "".join([*out, source[at:]])


def one_line_end(text: str) -> str:
    """A text whose lines all end in the same way: Windows has two characters, an old Mac the other of them, and MkDocs takes each for one end."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def source_of(file: Path) -> str | None:
    """The text of a page, None when it is not saved as UTF-8 or cannot be read."""
    try:
        data = file.read_bytes()
        return None if b"\0" in data else one_line_end(data.decode("utf-8"))
    except (UnicodeDecodeError, OSError):
        return None


def scan(path: str, source: str) -> Page:
    """Find every call of a page. Calls that can't be read become faults; the rest of the page is read on."""
    source = one_line_end(source)
    front = FRONT_MATTER.match(source) or _LOST.match(source)
    page = _scan(path, source, front.end() if front else 0, markdown.read)
    page.faults += [page.fault(offset, message) for offset, message in page.prose.broken]
    return page


def scan_literal(path: str, source: str) -> Page:
    """The same of a text that is shown as it stands, neither Markdown nor HTML: a title, an alt text, a caption."""
    return _scan(path, source, 0, literal)


def _scan(path: str, source: str, body: int, read: Callable[[str], Prose]) -> Page:
    page = Page(path, source, [], [], body)
    calls, broken = _lex(source)
    for block in [b for b in calls if b.start < body]:
        broken.append(block._replace(words="the front matter holds no calls: write the number, and declare it under title_quotes"))
    calls = [b for b in calls if b.start >= body]
    # The characters of marks mean nothing in an author's text.
    text = blank(source[:body]) + re.sub(f"[{DROP}\ue000-\uf8ff]", "\ufffd", source[body:])
    marks = [(b.start, b.end, CALLS.get(macro_of(b.words), OTHER)) for b in calls] + [(b.start, b.end, OTHER) for b in broken]
    page.prose = read(_marked(text, marks))
    strays = [*_strays(page.prose.bare)]
    if strays:
        page.prose = read(_marked(text, [*marks, *((b.start, b.end, OTHER) for b in strays)]))
    page.faults = [page.fault(b.start, b.words) for b in (*broken, *strays)]
    for start, end, expression in sorted(calls):
        page.calls.append(Call(expression, macro_of(expression), start, end, *page.place(start), page.prose.where(start, end)))
    return page


@lru_cache(maxsize=8)
def _no_call(names: frozenset[str]) -> re.Pattern[str]:
    either = "|".join(sorted(names, key=len, reverse=True))
    return re.compile(
        rf"(?<![\w.=])(?:\[\s*(?P<square>{either})\(|(?:\{{\{{\s*|\[\s*=\s*|=\s*)?(?P<bare>{either})\(\s*(?=[\"'“”‘’«]))"
        r"[^)\n]*\)?(?:\s*(?:=?\s*\]|\}\}))?"
    )


def _strays(bare: str) -> Iterator[_Block]:
    """What looks like a call and is none, in a text whose calls are marked and whose code is blanked."""
    pattern = _no_call(frozenset(MACROS))
    for m in pattern.finditer(bare):
        shown = f"[{m['square']}(…)]" if m["square"] else f"{m['bare']}(…)"
        yield _Block(m.start(), m.end(), f"{shown} is not a call: write [= {m['square'] or m['bare']}(…) =]")
    for m in re.finditer(re.escape(CLOSE), pattern.sub(lambda m: " " * len(m[0]), bare)):
        yield _Block(m.start(), m.end(), "=] closes nothing: a call is [= q(…) =]")
