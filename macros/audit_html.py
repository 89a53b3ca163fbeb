"""The audit of built pages: whatever way a number came in (raw HTML, a plugin, a template), it is computed, bound or refused."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from selectolax.lexbor import LexborHTMLParser, LexborNode

from macros import naked, text
from macros.audit import Audit, audit_sources, report
from macros.fixes import literal
from macros.markdown import ADDRESS
from macros.prose import DROP, OTHER, PLAIN, QUOTE, RELATION, SPOKEN, STOP, mask
from macros.scan import Fault, Page
from macros.structure import ACTIVE_ATTRIBUTES, ACTIVE_TAGS, ATTRIBUTES, active_scheme

# Computed or exempt already, each made by a macro that the source audit has held to its rules.
_MADE = {
    "q": QUOTE, "rel": RELATION, "plain": PLAIN, "formula": OTHER, "fig-svg": STOP, "fig-data": STOP, "fig-plot": STOP, "data": STOP, "ledger": STOP,
    "live": STOP, "fault": STOP, "faults": STOP, "badge": STOP, "lab": STOP, "fingerprint": STOP, "headerlink": "", "footnote-ref": "", "footnote-backref": "", "credit": STOP, "cards": STOP,
    "entry": STOP, "doc-module": STOP,
}  # fmt: skip
_ATTRIBUTES_MADE = {"data", "lab", "fault", "faults", "footnote-backref"}  # whose attributes are made as well
# Elements that stand inside a sentence; all others part words.
_INLINE = {
    "a", "abbr", "b", "bdi", "bdo", "cite", "del", "dfn", "em", "font", "i", "ins", "kbd", "mark", "q", "s", "samp", "small", "span", "strong",
    "sub", "sup", "time", "u", "var", "wbr",
}  # fmt: skip
_AROUND = {"header", "nav", "footer", "aside"}
_DRAWN = {"script", "style", "template", "svg", "math"}  # in which nothing is an element for a reader
_WHOLE = {
    "entry",
    "lab",
    "fig-data",
    "doc-module",
}  # made as a whole; of the Library page the docstrings, whose examples the checks run
_SILENT = {"script", "style", "template", "pre", "svg", "math"}
_HEADINGS = {"h1", "h2", "h3", "h4", "h5", "h6"}
_ADDRESSES = {"href", "src", "action", "formaction", "xlink:href"}
_VANISH = dict.fromkeys(map(ord, "\u00ad\u200b\u200c\u200d\u2060\ufeff"))  # characters without a width
_SPOKEN = tuple(name for name in SPOKEN if name not in ("content", "value", "srcdoc", "summary"))


class _Passage(NamedTuple):
    """Words as a reader meets them, and where on the page."""

    words: str
    where: str
    heading: str = ""


class _Read(NamedTuple):
    """The words of a page: its text, what its attributes say, and what is marked as a quote, with its tag; and what would run there."""

    passages: list[_Passage]
    spoken: list[_Passage]
    quotes: list[tuple[str, str]]
    active: list[str]


@lru_cache(maxsize=100)
def _read(html: str) -> _Read:
    """A page parsed as browsers do, by the rules of HTML5: what they show of broken HTML is read. Under serve most pages are as they were."""
    tree = LexborHTMLParser(html)
    roots = [root for root in (tree.css_first("head > title"), tree.body) if root is not None]
    spoken = [_Passage(" ".join((tag.attributes.get("content") or "").split()), ", in the description")
              for tag in tree.css('meta[name="description"]')]  # fmt: skip
    quotes: list[tuple[str, str]] = []
    for root in roots:
        for tag in _elements(root, spoken):
            if "q" in _classes(tag):
                quotes.append((tag.text(), tag.tag or ""))
    return _Read([passage for root in roots for passage in _passages(root)], spoken, quotes, [*dict.fromkeys(_active(tree))])


def audit_site(site: Path, audit: Audit) -> Iterator[Fault]:
    """Every naked number of every built page, mapped back to its line in the source where the words are found there."""
    titles = [words for bound in audit.titles.values() for words in bound]
    for path in sorted(site.rglob("*.html")):
        built = path.relative_to(site)
        source = f"docs/{built.with_suffix('.md').as_posix()}"
        page = audit.pages.get(source)
        named = source if page else built.as_posix()
        if source in audit.unread:  # refused as it is, and all of it would be named again
            continue
        shown = {use.shown for use in audit.uses if use.page == source}
        known = [f for f in (*audit.faults, *audit.withheld) if f.path == source]
        read = _read(path.read_text(encoding="utf-8"))
        passages = [(p, [*titles, *_bare(page)]) for p in read.passages] + [(p, [*titles, *shown]) for p in read.spoken]
        for passage, bound in passages:
            words = mask(passage.words, bound).replace(DROP, "")
            for finding in [f for f in naked.findings(words) if f.rule not in naked.AT_A_CALL]:
                fault = _place(page, finding, passage._replace(words=words), named)
                if not any(_is_same(fault, finding, other) for other in known):
                    yield fault
        for words in dict.fromkeys(words for passage in read.passages for words in ATTRIBUTES.findall(passage.words)):
            message = f"{words} is shown as text: it stands alone on the line right below its paragraph"
            fault = page.fault(page.source.index(words), message) if page and words in page.source else Fault(named, 0, 0, message)
            if not any(other.line == fault.line for other in known):
                yield fault
        for what in read.active:
            if not any(what in other.message for other in known):
                yield Fault(named, 0, 0, f"in the built page: {what} cannot stand on a page")
        for words, tag in read.quotes:
            if words not in shown:
                message = f"in the built page, in a {tag}: {words} is marked as a quote, and no call quotes it"
                yield Fault(named, 0, 0, message)


def _is_same(fault: Fault, finding: naked.Finding, other: Fault) -> bool:
    """Whether the audit of the source has named this already, on its line; anywhere, where the line is not known."""
    return fault.line in (0, other.line) and finding.text in other.message


def _bare(page: Page | None) -> list[str]:
    """What the calls of a page show as text alone: in headings, and from `qt`."""
    calls = [c for c in page.calls if c.macro == "qt" or c.where == "heading"] if page else []
    return [text.typeset(literal(page, call)[1]) for call in calls if page]


def _classes(node: LexborNode) -> list[str]:
    return (node.attributes.get("class") or "").split()


def _children(node: LexborNode) -> list[LexborNode]:
    found, child = [], node.child
    while child is not None:
        found.append(child)
        child = child.next
    return found


def _is_around(node: LexborNode) -> bool:
    """Whether an element is what the theme puts around a page: it repeats titles, and holds no number of its own. In an article all is read."""
    if node.tag not in _AROUND and not any(name.startswith("md-sidebar") for name in _classes(node)):
        return False
    above = node.parent
    while above is not None and above.tag != "article":
        above = above.parent
    return above is None


def _passages(root: LexborNode) -> Iterator[_Passage]:
    """The text of a page. What macros made stands as a mark, and words do not run on from one block into the next."""
    heading = ""
    out: list[str] = []

    def flush() -> Iterator[_Passage]:
        words = re.sub(r"\s+", " ", ADDRESS.sub(OTHER, "".join(out))).strip()
        out.clear()
        if words:
            yield _Passage(words, f" under “{heading}”" if heading else "", heading)

    todo: list[LexborNode | None] = [
        None,
        *reversed(_children(root)),
    ]  # None is the end of a block; no page is nested too deep for a list
    while todo:
        node = todo.pop()
        if node is None:
            yield from flush()
        elif node.is_text_node:
            out.append(node.text().translate(_VANISH))
        elif node.is_element_node and node.tag not in _SILENT and not _is_around(node):
            made = next((c for c in _classes(node) if c in _MADE), None)
            if node.tag in _HEADINGS:
                yield from flush()
                heading = " ".join(node.text().split()).removesuffix("#").strip()
            if made is not None:
                out.append(_MADE[made])
            elif node.tag == "a" and (href := node.attributes.get("href")) and node.text() == href.removeprefix("mailto:"):
                out.append(OTHER)  # an address shown as itself
            elif node.tag == "code":
                code = node.text()
                out.append(code if naked.in_code(code) else OTHER)
            elif node.tag in _INLINE:
                todo += reversed(_children(node))
            else:
                yield from flush()
                todo += [None, *reversed(_children(node))]


def _elements(root: LexborNode, spoken: list[_Passage]) -> Iterator[LexborNode]:
    """Every element of a page that is not within what macros made as a whole; `spoken` gets what a reader sees or hears of their attributes."""
    todo = [(node, False) for node in reversed(_children(root))]
    while todo:
        node, made = todo.pop()
        if not node.is_element_node or _is_around(node):
            continue
        yield node
        made = made or not _ATTRIBUTES_MADE.isdisjoint(_classes(node))
        for name, value in node.attributes.items() if not made else ():
            if value and name in _SPOKEN:
                spoken.append(_Passage(" ".join(value.split()), f", in the {name} of a {node.tag}"))
        if node.tag not in _DRAWN and _WHOLE.isdisjoint(_classes(node)):
            todo += [(child, made) for child in reversed(_children(node))]


def _active(tree: LexborHTMLParser) -> Iterator[str]:
    """What would run, load or restyle something in the content of a page."""
    content = tree.css_first("article") or tree.css_first("main") or tree.body
    for tag in _elements(content, []) if content is not None else ():
        if tag.tag in ACTIVE_TAGS:
            yield f"<{tag.tag}>"
        for name, value in tag.attributes.items():
            if ACTIVE_ATTRIBUTES.fullmatch(name):
                yield f"{name}="
            elif value and name in _ADDRESSES and (scheme := active_scheme(value)):
                yield scheme


_TOKEN = re.compile(f"[\\w%×µ½¼¾]+(?:[.,]\\w+)*|[{QUOTE}{RELATION}{PLAIN}{OTHER}]")


def _place(page: Page | None, finding: naked.Finding, passage: _Passage, path: str) -> Fault:
    """The source line of a finding, by the number and its neighbours, as many as it takes, under the same heading if it can be; else the page
    and where on it."""
    message = f"{finding.rule}: {finding.text}; {naked.cure(finding)}"
    words = passage.words
    if page:
        begins = [h.start for h in page.prose.headings if passage.heading and passage.heading in page.source[h.start : h.end]]
        heading = begins[0] if begins else 0
        built = [*_TOKEN.finditer(naked.plain_characters(words))]
        source = [*_TOKEN.finditer(naked.plain_characters(page.prose.text))]
        first = sum(m.end() <= finding.start for m in built)
        last = sum(m.start() < finding.end for m in built)
        names, others = [m[0] for m in built], [m[0] for m in source]
        for around in (4, 3, 2, 1, 0):
            low = max(first - around, 0)
            wanted = names[low : last + around]
            at = [k for k in range(len(others)) if others[k : k + len(wanted)] == wanted]
            offsets = [page.prose.at[source[k + first - low].start()] for k in at]
            if offsets:
                return page.fault(next((o for o in offsets if o >= heading), offsets[0]), message, "unbound")
    near = words[max(finding.start - 20, 0) : finding.end + 20]
    near = re.sub(f"[{QUOTE}{RELATION}{PLAIN}{OTHER}{STOP}]", "…", near)
    return Fault(path, 0, 0, f"in the built page{passage.where}, near “{near}”: {message}", "unbound")


def main(arguments: list[str]) -> int:
    """`python -m macros.audit_html site`: the built site, read without any hook."""
    site = Path(arguments[0] if arguments else "site")
    if not any(site.rglob("*.html")):
        print(f"{site} holds no built page: run make site first", file=sys.stderr)
        return 2
    audit = audit_sources()
    return report(audit, audit_site(site, audit))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
