"""From the calls of a page to its HTML.

A call is evaluated by the audit's own evaluator, and mkdocs-macros is given `piece(7)` in its place, so that it sees nothing an author
wrote as a call. What it returns is a token; Markdown carries it through; then the token becomes HTML, once it is known where it stands: the
first quote of a number in a step is a link, its repeats are marked text, in a heading or a link it is plain. Nothing that Markdown does
can touch the HTML.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from html import escape
from pathlib import Path

from bs4 import BeautifulSoup
from bs4.element import NavigableString, Tag

from macros import formulas, labs, pages, steps
from macros.audit import CALLABLE, NAMED, Audit, audit_sources
from macros.calls import Piece, Recorder, recording
from macros.evaluate import Evaluator, book
from macros.figures import make
from macros.markdown import NOTE
from macros.quantity import Quantity
from macros.scan import FRONT_MATTER, Call, Fault, scan
from macros.structure import DOCSTRINGS, LIBRARY

TOKEN = re.compile("\ue000(\\d+)\ue001")
_FORGED = re.compile("[\ue000\ue001]")  # an author's own marks make no token
_OPENS = re.compile(r"\[(?=[=%]|##)")
_WORK = re.compile(f'{TOKEN.pattern}|class="[^"]*\\b(?:step|arithmatex)\\b')  # what a page must be parsed for
NUMBERS = "docs/numbers.md"
DATA = "data"


def token(index: int) -> str:
    """What stands for a piece until the page is HTML."""
    return f"\ue000{index}\ue001"


def unread(text: str) -> str:
    """A text in which mkdocs-macros finds nothing to read.

    >>> unread("[= now() =] [% set x %] [## a note ##] [a link](#a)")
    '[ = now() =] [ % set x %] [ ## a note ##] [a link](#a)'
    """
    return _OPENS.sub("[ ", text)


class Renderer:
    """One build: the audit of the sources, the pieces that calls have returned, the files that figures leave for download."""

    def __init__(self, docs: Path) -> None:
        self.docs = docs
        self.audit: Audit = audit_sources(docs=docs)
        self.evaluator = Evaluator(book(), CALLABLE, NAMED)
        self.pieces: list[Piece] = []
        self.files: dict[str, str] = {labs.SCRIPT: labs.script()}
        self.report_url = ""
        self.drawn: list[str] = []  # the figures of the page at work
        self.late = False  # whether that page shows what other pages hold
        self._page = ""

    def _token(self, piece: Piece) -> str:
        self.pieces.append(piece)
        return token(len(self.pieces) - 1)

    def path_of(self, src_uri: str) -> str:
        """The path of a page as messages name it."""
        return f"{self.docs.name}/{src_uri}"

    def source(self, src_uri: str) -> str | None:
        """The text of a page as the audit has read it; None for one that it has not read."""
        page = self.audit.pages.get(self.path_of(src_uri))
        return page.source if page else None

    def markdown(self, src_uri: str) -> str:
        """The text of a page for mkdocs-macros: a call a piece; a wrong one is a mark that shows its fault, so that the page still renders."""
        path = self.path_of(src_uri)
        self._page = path
        page = self.audit.pages.get(path) or scan(path, "")  # as the audit has read it, whatever an editor does to it meanwhile
        front = FRONT_MATTER.match(page.source)
        at = lead = front.end() if front else 0
        faults = {(f.line, f.column): f for f in (*self.audit.faults, *self.audit.withheld) if f.path == path}
        good = {call.start: call for call in page.calls}
        out: list[str] = []
        with recording(Recorder(page=path)):
            for found in re.finditer(r"\[=", page.source[lead:]):
                offset = found.start() + lead
                if offset < at:  # in the text of a call
                    continue
                call = good.get(offset)
                fault = faults.get(page.place(offset))
                end = call.end if call else offset + 2
                out.append(_FORGED.sub("\ufffd", page.source[at:offset]))
                if not call or fault:
                    out.append(self._token(_fault_piece(fault, page.source[offset:end])))
                elif call.where != "comment":
                    out.append(self._token(self._piece(call)))
                at = end
        text = "".join([*out, _FORGED.sub("\ufffd", page.source[at:])])
        text = NOTE.sub("", text)
        # What is left over, or has met where something was taken out, is text; what is read are our own calls alone.
        text = TOKEN.sub(r"[= piece(\1) =]", unread(text))
        return text if path == LIBRARY and not faults else DOCSTRINGS.sub(lambda m: m[0].replace(":", "&#58;"), text)

    def _piece(self, call: Call) -> Piece:
        piece: Piece = self.evaluator.call(call)
        # A heading enters the navigation: text only.
        return Piece(escape(piece.text), piece.text, "text") if call.where == "heading" and call.macro == "q" else piece

    def content(self, html: str, url_of: Callable[[str], str]) -> str:
        """A page's HTML after Markdown: steps made, formulas rendered, every token turned into what it stands for."""
        path = self._page
        self.drawn, self.late = [], False
        cards: dict[str, Quantity] = {}
        replace: dict[int, str] = {}
        text = self._placed(html, url_of, cards, replace) if _WORK.search(html) else html
        # A block alone in a paragraph takes the paragraph's place.
        text = re.sub(
            "<p>\\s*(\ue000(\\d+)\ue001)\\s*</p>", lambda m: m[1] if self.pieces[int(m[2])].kind not in _INLINE else m[0], text
        )
        text = TOKEN.sub(lambda m: replace.get(int(m[1]), escape(self.pieces[int(m[1])].text)), text)
        # Material names the code in a listing after the nearest id around it: with one of its own, no two get the same.
        listings = itertools.count(1)
        text = re.sub(r"<pre(?=>)", lambda _: f'<pre id="listing-{next(listings)}"', text)
        text += "".join(pages.card(q) for q in cards.values())
        return self._banner(path) + text

    def _placed(self, html: str, url_of: Callable[[str], str], cards: dict[str, Quantity], replace: dict[int, str]) -> str:
        """A page's HTML with its steps and formulas made, and for each token what it becomes where it stands (`replace`)."""
        soup = BeautifulSoup(html, "html.parser")
        _formulas(soup)
        steps.build(soup)

        def link(page: str) -> str:
            return url_of(page.removeprefix("docs/"))

        ledger_url = link(NUMBERS)
        seen: set[tuple[int, str]] = set()
        used: dict[str, int] = {}
        for node in [n for n in soup.find_all(string=TOKEN) if isinstance(n, NavigableString)]:
            part = node.find_parent("section", class_="step")
            bare = node.find_parent(["a", "h1", "h2", "h3", "h4", "h5", "h6", "summary"]) is not None
            for found in TOKEN.finditer(node):
                index = int(found[1])
                replace[index] = self._html(self.pieces[index], bare, id(part), seen, cards, link, ledger_url, used)
        for tag in soup.find_all(True):
            for name, value in tag.attrs.items():
                if isinstance(value, str) and TOKEN.search(value):
                    tag.attrs[name] = self.plain(value)
        return str(soup)

    def add_files(self, figures: list[str]) -> None:
        """The files that figures leave for download."""
        for name in figures:
            self.files.update({f"{DATA}/{file}": content for file, content in make(name).files.items()})

    def plain(self, text: str) -> str:
        """Tokens in a text where HTML can't go: titles, navigation, attributes."""
        return TOKEN.sub(lambda m: self.pieces[int(m[1])].text, text)

    def _html(
        self, piece: Piece, bare: bool, part: int, seen: set[tuple[int, str]], cards: dict[str, Quantity], link: Callable[[str], str],
        ledger_url: str, used: dict[str, int],
    ) -> str:  # fmt: skip
        if piece.kind == "q" and piece.quantity and not bare:
            q = piece.quantity
            key = (part, q.expr)
            if key in seen or not q.numbers:
                return piece.html
            seen.add(key)
            cards[q.expr] = q
            name = escape(q.expr, quote=True)
            return (
                f'<a class="q" href="{ledger_url}#{escape(pages.anchor(q), quote=True)}" data-q="{name}">{escape(piece.text)}</a>'
            )
        if piece.kind == "figure":
            name = piece.text
            made = make(name)
            used[name] = used.get(name, 0) + 1
            self.drawn.append(name)
            self.add_files([name])
            return made.html(name if used[name] == 1 else f"{name}-{used[name]}", link(f"docs/{DATA}/"))
        single = piece.quantity.single if piece.kind == "block" and piece.quantity else None
        if single:
            place = f"{link('docs/symbols.md')}#{pages.act_of(single)}"
            return f'<div class="formula-line">{piece.html}<a class="symbols-link" href="{place}" aria-label="What the symbols mean">symbols</a></div>'
        if piece.kind == "late":
            self.late = True
            return pages.LATE[piece.text](self.audit, link)
        if piece.kind == "code":
            return piece.html.replace("CODE", link("docs/code/"))
        if piece.kind == "report":
            return piece.html.replace("REPORT", self.report_url or f"{ledger_url}#report")
        return piece.html

    def _banner(self, path: str) -> str:
        faults = [f for f in (*self.audit.faults, *self.audit.withheld) if f.path == path]
        if not faults:
            return ""
        rows = "".join(f"<li><code>{f.place}</code> {escape(f.message)}</li>" for f in faults)
        return f'<div class="faults" role="alert"><p><strong>This page does not build.</strong></p><ul>{rows}</ul></div>'


_INLINE = {"q", "text", "rel", "plain", "formula", "fault"}


def _fault_piece(fault: Fault | None, shown: str) -> Piece:
    message = fault.message if fault else "cannot be read"
    words = re.search(r"\(\s*[\"'“]([^\"'”]*)", shown)
    text = words[1] if words else shown
    return Piece(f'<mark class="fault" title="{escape(message, quote=True)}">{escape(text)}</mark>', text, "fault")


def _formulas(soup: BeautifulSoup) -> None:
    r"""`$…$` as MathML. pymdownx.arithmatex leaves it as \(…\), or \[…\] on a line of its own."""
    for tag in soup.find_all(class_="arithmatex"):
        if not isinstance(tag, Tag):
            continue
        tex = tag.get_text()
        block = tex.startswith("\\[")
        markup = formulas.mathml(tex[2:-2].strip(), block=block)
        fresh = BeautifulSoup(markup, "html.parser")
        tag.clear()
        tag.append(fresh)
        tag["class"] = "formula"
