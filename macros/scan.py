"""Reading a Markdown page: every call with its line and column, and the prose around the calls with all that is not prose blanked.

The scan works on the raw file, so that a message names the line an author sees in an editor. Masks keep every character's place.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from jinja2 import Environment, StrictUndefined
from jinja2.exceptions import TemplateSyntaxError

OPEN, CLOSE = "[=", "=]"
JINJA = {
    "variable_start_string": OPEN, "variable_end_string": CLOSE, "block_start_string": "[%", "block_end_string": "%]",
    "comment_start_string": "[##", "comment_end_string": "##]",
}  # fmt: skip
# What stands in the prose for a call: the audit sees that a number, a relation or an exemption was here, and how long it is.
QUOTE, RELATION, PLAIN, OTHER = "\ue0f0", "\ue0f1", "\ue0f2", "\ue0f3"
CALLS = {"q": QUOTE, "qt": QUOTE, "rel": RELATION, "plain": PLAIN}

FRONT_MATTER = re.compile(r"\A---[ \t]*\n(.*?)^---[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True, order=True)
class Fault:
    """One thing wrong, and where. `fix` replaces `old` in the source when only digits are wrong."""

    path: str
    line: int
    column: int
    message: str
    sort: str = "broken"  # drifted: a quote or relation that does not hold; unbound: a naked number; broken: all else
    old: str = field(default="", compare=False)
    fix: str = field(default="", compare=False)

    def __str__(self) -> str:
        place = f"{self.path}:{self.line}:{self.column}" if self.line else self.path
        return f"{place}: {self.message}"


@dataclass(frozen=True)
class Call:
    """One `[= … =]` of a page: its expression, the macro it calls, and where it stands (character offsets of the whole block)."""

    source: str
    macro: str
    start: int
    end: int
    line: int
    column: int
    where: str = "prose"  # prose, heading, code, formula, alt, fence


@dataclass
class Page:
    """A scanned page."""

    path: str
    source: str
    calls: list[Call]
    faults: list[Fault]
    body: int  # offset of the first character after the front matter

    def place(self, offset: int) -> tuple[int, int]:
        """Line and column (both from 1) of a character."""
        return self.source.count("\n", 0, offset) + 1, offset - (self.source.rfind("\n", 0, offset) + 1) + 1

    def fault(self, offset: int, message: str, sort: str = "broken", old: str = "", fix: str = "") -> Fault:
        """A fault at a character of this page."""
        return Fault(self.path, *self.place(offset), message, sort, old, fix)


def environment() -> Environment:
    """The Jinja environment of the pages."""
    return Environment(**JINJA, undefined=StrictUndefined, keep_trailing_newline=True, autoescape=False)  # type: ignore[arg-type]


_ENV = environment()
CURLY = "“”„‟‘’‚′″«»"


def _blocks(source: str) -> Iterator[tuple[int, int, str] | tuple[int, str]]:
    """Every `[= … =]` as (start, end, expression), or (offset, message) where one can't be read. Jinja's own lexer decides."""
    text = source
    while True:
        offset = 0
        opened = -1
        pieces: list[str] = []
        found: list[tuple[int, int, str]] = []
        try:
            for _line, kind, value in _ENV.lexer.tokeniter(text, None):
                if kind == "variable_begin":
                    opened, pieces = offset, []
                elif kind == "variable_end":
                    found.append((opened, offset + len(value), "".join(pieces).strip()))
                    opened = -1
                elif opened >= 0:
                    pieces.append(value)
                elif kind == "block_begin":
                    yield offset, "a page holds calls, not statements: [% … %] belongs in a macro"
                offset += len(value)
            if opened >= 0:
                raise TemplateSyntaxError("unexpected end of template", 1)
        except TemplateSyntaxError as error:
            # The lexer has gone wrong inside the block that began last: say so, blank that block's opening, and read on.
            start = opened if opened >= 0 else _last_open(text, offset)
            if start < 0:
                yield offset, f"cannot be read: {error.message}"
                yield from found
                return
            yield start, _explain(text, start, str(error.message))
            text = text[:start] + "  " + text[start + 2 :]
            continue
        yield from found
        return


def _last_open(text: str, offset: int) -> int:
    at = text.find(OPEN, max(offset - 2, 0))
    return at if at >= 0 else text.rfind(OPEN)


def _explain(text: str, start: int, message: str) -> str:
    """A syntax error of the lexer, in an author's words."""
    end = text.find(CLOSE, start)
    blank = re.search(r"\n[ \t]*\n|\Z", text[start:])
    stop = start + (blank.start() if blank else 0)
    inside = text[start:stop] if end < 0 or end > stop else text[start : end + 2]
    if (any(c in inside for c in CURLY) and "“" in inside) or "”" in inside or "’" in inside or "‘" in inside:
        return f'curly quotes in {_short(inside)}: write straight ones, "…"'
    again = text.find(OPEN, start + 2)
    if end < 0 or end > stop or (0 <= again < end):
        return f"{_short(inside)} is never closed: a call ends with =]"
    if inside.count('"') % 2:
        return f'{_short(inside)} opens a quote that it does not close: every " needs its partner'
    return f"{_short(inside)} cannot be read: {message}"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 60 else line[:57] + "…"


def macro_of(expression: str) -> str:
    """The macro an expression calls, "" when it is not exactly one call."""
    try:
        node = ast.parse(expression.replace("\n", " ").strip(), mode="eval").body
    except SyntaxError:
        return ""
    return node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""


_FENCE = re.compile(r"^(?P<indent>[ \t]*)(?P<mark>`{3,}|~{3,})[^\n]*\n.*?(?:^[ \t]*(?P=mark)[`~]*[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_NOTE = re.compile(r"\[##.*?(?:##\]|\Z)", re.DOTALL)
_CODE = re.compile(r"(?<!`)(`+)(?!`)((?:[^`\n]|(?!\1)`|\n(?![ \t]*\n))+?)\1(?!`)")
_MATH = re.compile(r"(?<![\\$])\$\$(.+?)\$\$|(?<![\\$\w])\$(?!\s)((?:[^$\n\\]|\\.)+?)(?<!\s)\$(?!\d)", re.DOTALL)
_TAG = re.compile(r"</?[A-Za-z][^<>\n]*(?:\n[^<>\n]*)*?>")
_AUTOLINK = re.compile(r"<https?://[^>\s]+>|\bhttps?://[^\s)>\]]+")
_ATTR = re.compile(r"\{:?[^{}\n]*[#.=][^{}\n]*\}")
_LINK = re.compile(r"(?<=\])\((?P<url><[^>\n]*>|[^\s()]*(?:\([^\s()]*\)[^\s()]*)*)(?P<title>\s+(?:\"[^\"\n]*\"|'[^'\n]*'))?\s*\)")
_REFERENCE = re.compile(r"^[ \t]*\[[^\]\n]+\]:[ \t]*\S+", re.MULTILINE)
_FOOTNOTE = re.compile(r"\[\^[^\]\s]+\]:?")
_LIST = re.compile(r"^[ \t]*\d+[.)](?=[ \t])", re.MULTILINE)
_SPOKEN = re.compile(r"(?:\b(?:title|alt|aria-label|summary)\s*=\s*)(\"[^\"]*\"|'[^']*')")
_IMAGE_ALT = re.compile(r"!\[([^\]]*)\](?=\()")


def _keep_spoken(text: str) -> str:
    """Blanks a tag or an attribute list, but for the attributes that a reader sees or hears."""
    out = [" " if c != "\n" else c for c in text]
    for found in _SPOKEN.finditer(text):
        start, end = found.span(1)
        out[start + 1 : end - 1] = text[start + 1 : end - 1]
    return "".join(out)


def blank(text: str) -> str:
    """As many blanks as `text` has characters, its line ends kept."""
    return re.sub(r"[^\n]", " ", text)


@dataclass
class Prose:
    """The reader's words of a page, at the places they have in the file, and the code and formulas cut out of them."""

    text: str
    code: list[tuple[int, str]]
    math: list[tuple[int, str]]


def prose(page: Page) -> Prose:
    """The page with everything that is not read as prose blanked, and calls replaced by marks of their length."""
    text = blank(page.source[: page.body]) + page.source[page.body :]
    for call in page.calls:
        mark = CALLS.get(call.macro, OTHER)
        text = text[: call.start] + re.sub(r"[^\n]", mark, text[call.start : call.end]) + text[call.end :]
    text = _FENCE.sub(lambda m: blank(m[0]), text)
    text = _COMMENT.sub(lambda m: blank(m[0]), text)
    text = _NOTE.sub(lambda m: blank(m[0]), text)
    code: list[tuple[int, str]] = []
    math: list[tuple[int, str]] = []

    def take_code(found: re.Match[str]) -> str:
        code.append((found.start(2), found[2]))
        return blank(found[0])

    def take_math(found: re.Match[str]) -> str:
        which = 1 if found[1] is not None else 2
        math.append((found.start(which), found[which]))
        return blank(found[0])

    text = _CODE.sub(take_code, text)
    text = _MATH.sub(take_math, text)
    text = _AUTOLINK.sub(lambda m: blank(m[0]), text)
    text = _TAG.sub(lambda m: _keep_spoken(m[0]), text)
    text = _LINK.sub(lambda m: "(" + blank(m["url"]) + (m["title"] or "") + " " * (len(m[0]) - 2 - len(m["url"]) - len(m["title"] or "")) + ")", text)
    text = _ATTR.sub(lambda m: _keep_spoken(m[0]), text)
    text = _REFERENCE.sub(lambda m: blank(m[0]), text)
    text = _FOOTNOTE.sub(lambda m: blank(m[0]), text)
    text = _LIST.sub(lambda m: blank(m[0]), text)
    return Prose(text, code, math)


def _where(source: str, start: int, end: int, spans: dict[str, list[tuple[int, int]]]) -> str:
    for kind in ("fence", "code", "formula", "alt"):
        if any(a <= start and end <= b for a, b in spans[kind]):
            return kind
    line_start = source.rfind("\n", 0, start) + 1
    return "heading" if re.match(r"#{1,6}\s", source[line_start:start]) else "prose"


def scan(path: str, source: str) -> Page:
    """Find every call of a page. Calls that can't be read become faults; the rest of the page is read on."""
    source = source.replace("\r\n", "\n")
    front = FRONT_MATTER.match(source)
    page = Page(path, source, [], [], front.end() if front else 0)
    hidden = [m.span() for m in _COMMENT.finditer(source)]
    blocks: list[tuple[int, int, str]] = []
    for block in _blocks(source):
        if len(block) == 2:
            page.faults.append(page.fault(block[0], block[1]))
        else:
            blocks.append(block)
    # Code and formulas are found with the calls masked, since a call may hold a backtick or a dollar.
    masked = source
    for start, end, _ in blocks:
        masked = masked[:start] + re.sub(r"[^\n]", OTHER, masked[start:end]) + masked[end:]
    no_fence = _FENCE.sub(lambda m: blank(m[0]), masked)
    no_code = _CODE.sub(lambda m: blank(m[0]), no_fence)
    spans = {
        "fence": [m.span() for m in _FENCE.finditer(masked)],
        "code": [m.span() for m in _CODE.finditer(no_fence)],
        "formula": [m.span() for m in _MATH.finditer(no_code)],
        "alt": [m.span(1) for m in _IMAGE_ALT.finditer(no_code)],
    }
    for start, end, expression in sorted(blocks):
        unread = any(a <= start < b for a, b in hidden)  # in an HTML comment, which nobody reads
        where = "comment" if unread else _where(source, start, end, spans)
        page.calls.append(Call(expression, macro_of(expression), start, end, *page.place(start), where))
    for found in re.finditer(r"(?<!!)\[\s*(q|qt|rel|plain|formula|figure|table)\(", no_code):
        page.faults.append(page.fault(found.start(), f"[{found[1]}(…)] is not a call: write [= {found[1]}(…) =]"))
    return page
