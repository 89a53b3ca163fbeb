"""What a reader reads of a Markdown text: its words, each with its place in the source; and what is code, formula or attribute.

Only what no reader sees is taken out: addresses, tags, ids, list markers, comments. Whatever this module does not understand stays in the
text and is read, so that a mistake here is a false alarm and never a hidden number. Masks keep the place of every character; at the end,
those that vanish on a page (the stars of emphasis, a tag inside a word) are dropped.
"""

from __future__ import annotations

import html
import itertools
import re
from collections.abc import Callable

from macros.blocks import PARTS_WORDS, fences, lines, raw_html
from macros.prose import DROP, STOP, Heading, Prose, blank, opaque, spoken

_TEXT = r"(?:[^\n]|\n(?![ \t>]*(?:\n|\Z)))"  # a character of a paragraph: no blank line comes after it
_TICKS = re.compile(r"(?<!\\)(?:\\\\)*(?P<ticks>`+)")
_MATH = re.compile(
    rf"(?<!\\)\$\$(?P<block>(?:(?!\$\$){_TEXT})+)\$\$|(?<!\\)(?:\\\\)*(?<!\$)\$(?![\s$])(?P<line>(?:\\.|(?![\\$]){_TEXT})+?)(?<!\s)\$"
    rf"|(?<!\\)\\\((?P<round>{_TEXT}+?)\\\)|(?<!\\)\\\[(?P<square>{_TEXT}+?)\\\]|(?P<begin>\\begin\{{(?P<env>[a-z]+\*?)\}}{_TEXT}+?\\end\{{(?P=env)\}})"
)
_BLOCK_BEFORE = re.compile(r"(?:\A|(?:\A|\n)[ \t>]*\n|(?:\A|\n)[ \t>]*(?:#|!!!|\?\?\?|===)[^\n]*\n)[ \t>]*\Z")
_BLOCK_AFTER = re.compile(r"[ \t]*(?:\n[ \t>]*(?:\n|\Z)|\Z)")
_COMMENT = re.compile(r"<!--(?:(?!<!--|-->).)*-->", re.DOTALL)
_NO_COMMENT = re.compile(r"<[!?](?!--)|</(?![A-Za-z>])")  # in HTML: it would end at the next >, and so in the middle of a real one
_COMMENT_LINE = re.compile(r"^ {0,3}<!--.*?-->", re.DOTALL | re.MULTILINE)  # read before all else
NOTE = re.compile(r"\[##.*?##\]", re.DOTALL)
_ENTITY = re.compile(r"&(?:#\d+|#[xX][\da-fA-F]+|[A-Za-z]\w*);")
_TAG = re.compile(
    r"</?+[a-zA-Z][\w:-]*+(?:\s+[A-Za-z_:@][\w:.@-]*+(?:\s*+=\s*+(?:\"[^\"|]*+\"|'[^'|]*+'|[^\s\"'=<>|`]++))?+)*+\s*+/?>"
)
ADDRESS = re.compile(r"<[A-Za-z][\w+.-]*:[^<>\s]*>|<[^<>\s!]+@[^<>\s@]+>|\b(?:https?://|www\.)[^\s)>\]\"'|]+")
_LEADS = re.compile(r"(?<![\w-])(?:href|src)\s*=\s*([\"'])(.*?)\1")
_VALUE = r"(?:\"[^\"\n]*\"|'[^'\n]*'|[^\s\"'{}<>]+)"
_ATTRIBUTES = re.compile(rf"\{{:?[ \t]*(?:(?:[.#][\w:-]+|[A-Za-z][\w:-]*={_VALUE})[ \t]*)+\}}")
# What follows the words of a link. An address that reads like a number is none.
_TAIL = re.compile(
    r"(?<=\])\((?P<url><[^>\n]*>|(?!\d[\d.,]*[A-Za-zµ%×]*[\s)])[^\s()]*(?:\([^\s()]*\)[^\s()]*)*)"
    rf"(?P<title>\s+(?:\"(?:(?!\"){_TEXT})*\"|'(?:(?!'){_TEXT})*'))?\s*\)"
)
_REFERENCE = re.compile(
    r"^ {0,3}\[(?!\^)(?P<id>[^\[\]\n]+)\]:[ \t]*\n?[ \t]*(?P<url>\S+)[ \t]*"
    r"(?:\n?[ \t]*(?P<title>\"[^\n]*\"|'[^\n]*'|\([^\n]*\))[ \t]*)?$(?!\n[ \t]*(?:=+|-+)[ \t]*$)",
    re.MULTILINE,
)
_REFERRED = re.compile(r"(?<=\])[ ]?\[([^\[\]\n]*)\]")
_NOTE_BELOW = re.compile(r"^[ \t]*\[\^([^\]\s]+)\]:", re.MULTILINE)
_FOOTNOTE = re.compile(r"\[\^([^\]\s]+)\](:?)")
_ESCAPE = re.compile(r"\\(?=[^\w\s]).")
_EMPHASIS = re.compile(r"[*_~]+")
_ALT = re.compile(r"!\[([^\[\]]*)\](?=[(\[])")
_ATX = re.compile(r"^[ \t>]*(?P<marks>#{1,6})(?!#)[ \t]*(?P<words>[^\n]*)$", re.MULTILINE)
_SETEXT = re.compile(r"(?:\A|(?<=\n))(?P<words>[^\n]*\S[^\n]*)\n[ \t>]*(?P<marks>=+|-+)[ \t]*$", re.MULTILINE)

_LED = "\ue0f5"  # stands for the address of a link until its words have lost their brackets

_Rule = tuple[re.Pattern[str], Callable[[re.Match[str]], str]]


def read(source: str) -> Prose:
    """The words of a Markdown text. Calls are marked already: one mark, the rest of the call dropped.

    >>> words = read("It takes 6**0** ms, [so](x60.html).")
    >>> words.text.split()
    ['It', 'takes', '60', 'ms,', 'so.']
    >>> words.at[words.text.index("60 ms")]
    9
    """
    found = Prose()
    text = NOTE.sub(lambda m: DROP * len(m[0]), source)
    text = _COMMENT_LINE.sub(lambda m: _comment(m, 0, found), fences(text, found))
    raw = raw_html(text)
    text, stops = lines(text, raw, found)
    references = {m["id"].lower() for m in _REFERENCE.finditer(text)} | {f"^{m[1]}" for m in _NOTE_BELOW.finditer(text)}
    parts, at = [], 0
    for start, end in [*raw, (len(text), len(text))]:
        parts += [_paragraphs(text[at:start], at, stops, references, found), _html(text[start:end], start, found)]
        at = end
    text = "".join(parts)
    unclosed = text.find("<!--")
    if unclosed >= 0:
        found.broken.append((unclosed, "a comment is never closed: it ends with -->"))
    found.headings.sort()
    characters = list(text)
    for stop in stops:
        characters[stop] = STOP
    return found.keep("".join(characters))


def _paragraphs(text: str, base: int, stops: list[int], references: set[str], found: Prose) -> str:
    """The Markdown between blocks of raw HTML. Code is taken out first and formulas next, since nothing in them means anything else."""
    text = _REFERENCE.sub(lambda m: _reference(m, base, found), text)
    pieces = [*itertools.pairwise([0, *(stop - base + 1 for stop in stops if base <= stop < base + len(text)), len(text)])]
    text = "".join([_code(text[start:end], base + start, found) for start, end in pieces])
    bare = _COMMENT.sub(lambda m: blank(m[0]), text)
    found.bare += bare
    for pattern in (_ATX, _SETEXT):
        for m in pattern.finditer(bare):
            if pattern is _SETEXT and not _BLOCK_BEFORE.search(bare, 0, m.start()):
                continue
            level = {"=": 1, "-": 2}.get(m["marks"][0], len(m["marks"]))
            found.headings.append(Heading(base + min(m.start("marks"), m.start("words")), base + m.end("words"), level, m["words"]))
            found.places["heading"].append((base + m.start(), base + m.end("words")))
    text = _ATX.sub(lambda m: " " * (m.start("words") - m.start()) + m["words"], text)
    text = _MATH.sub(lambda m: _formula(m, text, base, found), text)
    return "".join([_piece(text[start:end], base + start, references, found) for start, end in pieces])


def _piece(text: str, base: int, references: set[str], found: Prose) -> str:
    """The words of one paragraph, list item or table row, in which code and formulas are opaque already."""
    found.places["alt"] += [(base + m.start(1), base + m.end(1)) for m in _ALT.finditer(text)]
    text = _left_to_right(
        text,
        [
            (_COMMENT, lambda m: _comment(m, base, found)),
            (_ESCAPE, lambda m: DROP + m[0][1]),
            (ADDRESS, lambda m: opaque(m[0])),
            (_TAG, lambda m: _tag(m, base, found)),
            (_ENTITY, _entity),
            (_ATTRIBUTES, lambda m: spoken(m[0], base + m.start(), found)),
            (_TAIL, lambda m: _tail(m, base, found)),
            (_REFERRED, lambda m: _referred(m, base, references, found)),
            (_FOOTNOTE, lambda m: _note(m, base, references, found)),
            (_EMPHASIS, lambda m: DROP * len(m[0])),
        ],
    )
    return _without_brackets(text, references)


def _without_brackets(text: str, references: set[str]) -> str:
    """The words of links without their brackets, which no reader sees: `[faster](a.md) than` is a comparison. An alt text stands apart."""
    out, open_ = list(text), list[int]()
    for m in re.finditer(rf"\[|\]{_LED}?", text):
        if m[0] == "[":
            open_.append(m.start())
        elif open_:
            start = open_.pop()
            if len(m[0]) > 1 or text[start + 1 : m.start()].lower() in references:
                image = text[start - 1 : start] == "!"
                out[start] = out[m.start()] = STOP if image else DROP
                if image:
                    out[start - 1] = DROP
    return "".join(out).replace(_LED, DROP)


def _html(text: str, base: int, found: Prose) -> str:
    """A block of raw HTML: only tags, comments, addresses and entities mean anything."""
    bare = _COMMENT.sub(lambda m: blank(m[0]), text)
    found.bare += bare
    for m in _NO_COMMENT.finditer(bare):
        found.broken.append((base + m.start(), f"{m[0]} begins what a browser takes for a comment: write <!-- … -->, or &lt;"))
    return _left_to_right(
        text,
        [
            (_COMMENT, lambda m: _comment(m, base, found)),
            (ADDRESS, lambda m: opaque(m[0])),
            (_TAG, lambda m: _tag(m, base, found)),
            (_ENTITY, _entity),
        ],
    )


def _left_to_right(text: str, rules: list[_Rule]) -> str:
    """Replaces whatever begins first, and reads on after it."""
    out: list[str] = []
    at = 0
    coming = [(rule, rule[0].search(text)) for rule in rules]
    while True:
        coming = [(rule, m if m is None or m.start() >= at else rule[0].search(text, at)) for rule, m in coming]
        first = min((m.start() for _, m in coming if m), default=None)
        if first is None:
            return "".join([*out, text[at:]])
        make, m = next((rule[1], m) for rule, m in coming if m and m.start() == first)
        out += [text[at:first], make(m)]
        at = m.end()


def _code(text: str, base: int, found: Prose) -> str:
    """Inline code made opaque. It ends at as many backticks as it begins with; where there are none, at the longest run that is shorter."""
    out: list[str] = []
    at, look = 0, 0
    while opening := _TICKS.search(text, look):
        start, width = opening.start("ticks"), len(opening["ticks"])
        runs = [m.span() for m in re.finditer("`+", text[opening.end() :])]
        exact = next((run for run in runs if run[1] - run[0] == width), None)
        longest = max(runs, key=lambda run: run[1] - run[0], default=(0, 0))
        close = exact or longest
        size = close[1] - close[0]
        look = opening.end()
        if 0 < size <= width:
            end = look + close[1] - size
            found.code.append((base + start + size, text[start + size : end]))
            found.places["code"].append((base + start, base + end + size))
            out += [text[at:start], opaque(text[start : end + size])]
            at = look = end + size
    return "".join([*out, text[at:]])


def _formula(m: re.Match[str], text: str, base: int, found: Prose) -> str:
    kind = next(name for name in ("block", "line", "round", "square", "begin") if m[name] is not None)
    alone = _BLOCK_BEFORE.search(text, 0, m.start()) and _BLOCK_AFTER.match(text, m.end())
    if kind in ("block", "square", "begin") and not alone:
        return m[0]  # $$ in the middle of a paragraph opens nothing
    found.math.append((base + m.start(kind), m[kind]))
    found.places["formula"].append((base + m.start(), base + m.end()))
    return opaque(m[0])


def _comment(m: re.Match[str], base: int, found: Prose) -> str:
    found.places["comment"].append((base + m.start(), base + m.end()))
    return blank(m[0], DROP)


def _tag(m: re.Match[str], base: int, found: Prose) -> str:
    """A tag: what it says aloud stays; a tag that stands inside a word vanishes, one that parts words leaves a stop."""
    kept = spoken(m[0], base + m.start(), found)
    found.links += [(base + m.start() + a.start(2), a[2]) for a in _LEADS.finditer(m[0])]
    return STOP + kept[1:] if PARTS_WORDS.match(m[0]) else kept


def _referred(m: re.Match[str], base: int, references: set[str], found: Prose) -> str:
    """The name of an address at the foot of the page."""
    name = m[1] or m.string[m.string.rfind("[", 0, m.start()) + 1 : m.start() - 1]
    if name.lower() in references:
        return _LED + blank(m[0][1:], DROP)
    if m[1] and m[0][0] == "[":
        message = f"{m[0]} leads nowhere: write {m[0]}: and the address on a line of its own"
        found.lost.append((base + m.start(), base + m.end(), message))
    return m[0]


def _note(m: re.Match[str], base: int, references: set[str], found: Prose) -> str:
    """A mark that leads to a note at the foot of the page."""
    if f"^{m[1]}" in references:
        return blank(m[0], " " if m[2] else DROP)
    note = f"[^{m[1]}]"
    found.lost.append((base + m.start(), base + m.end(), f"{note} has no note: write {note}: and the note on a line of its own"))
    return m[0]


def _entity(m: re.Match[str]) -> str:
    meant = html.unescape(m[0])
    return meant + DROP * (len(m[0]) - 1) if len(meant) == 1 else m[0]


def _reference(m: re.Match[str], base: int, found: Prose) -> str:
    """Where a link leads, at the foot of a page: only its title is read."""
    found.links.append((base + m.start("url"), m["url"].strip("<>")))
    if not m["title"]:
        return blank(m[0])
    start, end = m.start("title") - m.start(), m.end("title") - m.start()
    found.places["alt"].append((base + m.start("title"), base + m.end("title")))
    return blank(m[0][:start]) + STOP + m["title"][1:-1] + STOP + blank(m[0][end:])


def _tail(m: re.Match[str], base: int, found: Prose) -> str:
    """What follows the words of a link: the address goes, the title stays."""
    title = m["title"] or ""
    found.links.append((base + m.start("url"), m["url"].strip("<>")))
    if not title:
        return _LED + blank(m[0][1:], DROP)
    start, end = m.span("title")
    found.places["alt"].append((base + start, base + end))
    return _LED + blank(m["url"], DROP) + STOP + title[1:] + blank(m[0][end - m.start() : -1], DROP) + STOP
