"""The audit of built pages: whatever way a number came in (raw HTML, a plugin, a template), it is computed, bound or refused."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from bs4 import BeautifulSoup
from bs4.element import Comment, NavigableString, Tag

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
}  # fmt: skip
_ATTRIBUTES_MADE = {"data", "lab", "fault", "faults", "footnote-backref"}  # whose attributes are made as well
# Elements that stand inside a sentence; all others part words.
_INLINE = {
    "a", "abbr", "b", "bdi", "bdo", "cite", "del", "dfn", "em", "font", "i", "ins", "kbd", "mark", "q", "s", "samp", "small", "span", "strong",
    "sub", "sup", "time", "u", "var", "wbr",
}  # fmt: skip
_SILENT = {"script", "style", "template", "pre", "svg", "noscript", "math"}
# What holds no words for a reader, or words that the source audit reads: most of a page's bytes, emptied before they are parsed.
_UNREAD = re.compile(
    r'(<(svg|template|script|style|math)\b[^>]*>|<(section|details) class="(?:entry|lab|fig-data)"[^>]*>).*?</(?:\2|\3)\s*>',
    re.DOTALL,
)
# The Library page, a module at a time: docstrings, whose examples the checks run.
_DOCSTRINGS = re.compile(
    r'<div class="doc doc-object doc-module">.*?(?=<div class="doc doc-object doc-module">|</article>)', re.DOTALL
)
_HEADINGS = {"h1", "h2", "h3", "h4", "h5", "h6"}
_SPOKEN = tuple(name for name in SPOKEN if name not in ("content", "value", "srcdoc", "summary"))


class _Passage(NamedTuple):
    """Words as a reader meets them, and where on the page."""

    words: str
    where: str
    heading: str = ""


class _Read(NamedTuple):
    """A page as it is read: parsed, and its words."""

    soup: BeautifulSoup
    passages: list[_Passage]
    spoken: list[_Passage]


@lru_cache(maxsize=100)
def _read(html: str) -> _Read:
    """Under serve most pages are as they were."""
    soup = BeautifulSoup(_DOCSTRINGS.sub("", _UNREAD.sub(lambda m: f"{m[1]}</{m[2] or m[3]}>", html)), "lxml")
    return _Read(soup, list(_passages(soup)), list(_spoken(soup)))


def audit_site(site: Path, audit: Audit) -> Iterator[Fault]:
    """Every naked number of every built page, mapped back to its line in the source where the words are found there."""
    titles = [words for bound in audit.titles.values() for words in bound]
    for path in sorted(site.rglob("*.html")):
        built = path.relative_to(site)
        source = f"docs/{built.with_suffix('.md').as_posix()}"
        page = audit.pages.get(source)
        if source in audit.unread:  # refused as it is, and all of it would be named again
            continue
        shown = {use.shown for use in audit.uses if use.page == source}
        known = [f for f in (*audit.faults, *audit.withheld) if f.path == source]
        read = _read(path.read_text(encoding="utf-8"))
        passages = [(p, [*titles, *_bare(page)]) for p in read.passages] + [(p, [*titles, *shown]) for p in read.spoken]
        for passage, bound in passages:
            words = mask(passage.words, bound).replace(DROP, "")
            for finding in [f for f in naked.findings(words) if f.rule not in naked.AT_A_CALL]:
                fault = _place(page, finding, passage._replace(words=words), source if page else built.as_posix())
                if not any(_is_same(fault, finding, other) for other in known):
                    yield fault
        text_shown = " ".join(passage.words for passage in read.passages)
        for words in dict.fromkeys(ATTRIBUTES.findall(text_shown)):
            offset = page.source.find(words) if page else -1
            message = f"{words} is shown as text: it stands alone on the line right below its paragraph"
            fault = (
                page.fault(offset, message) if page and offset >= 0 else Fault(source if page else built.as_posix(), 0, 0, message)
            )
            if not any(other.line == fault.line for other in known):
                yield fault
        for what in dict.fromkeys(_active(read.soup)):
            if not any(what in other.message for other in known):
                yield Fault(source if page else built.as_posix(), 0, 0, f"in the built page: {what} cannot stand on a page")
        for words, where in _unquoted(read.soup, shown):
            yield Fault(
                source if page else built.as_posix(),
                0,
                0,
                f"in the built page{where}: {words} is marked as a quote, and no call quotes it",
            )


def _is_same(fault: Fault, finding: naked.Finding, other: Fault) -> bool:
    """Whether the audit of the source has named this already, on its line; anywhere, where the line is not known."""
    return fault.line in (0, other.line) and finding.text in other.message


def _bare(page: Page | None) -> list[str]:
    """What the calls of a page show as text alone: in headings, and from `qt`."""
    calls = [c for c in page.calls if c.macro == "qt" or c.where == "heading"] if page else []
    return [text.typeset(literal(page, call)[1]) for call in calls if page]


def _classes(tag: Tag) -> list[str]:
    found = tag.get("class")
    return found if isinstance(found, list) else [found] if found else []


def _roots(soup: BeautifulSoup) -> Iterator[Tag]:
    """The title and the content. What the theme puts around it repeats titles, and holds no number of its own."""
    for root in (soup.find("title"), soup.find("article") or soup.find("main") or soup.body or soup):
        if isinstance(root, Tag):
            yield root


def _passages(soup: BeautifulSoup) -> Iterator[_Passage]:
    """The text of a page. What macros made stands as a mark, and words do not run on from one block into the next."""
    heading = ""
    out: list[str] = []

    def flush() -> Iterator[_Passage]:
        words = re.sub(r"\s+", " ", ADDRESS.sub(OTHER, "".join(out))).strip()
        out.clear()
        if words.strip(f"{STOP} "):
            yield _Passage(words, f" under “{heading}”" if heading else "", heading)

    def walk(node: Tag) -> Iterator[_Passage]:
        nonlocal heading
        for child in node.children:
            if isinstance(child, Comment):
                continue
            if isinstance(child, NavigableString):
                out.append("".join([c for c in child if c.isascii() or not _vanishes(c)]))
            elif isinstance(child, Tag) and child.name not in _SILENT:
                made = next((c for c in _classes(child) if c in _MADE), None)
                if child.name in _HEADINGS:
                    yield from flush()
                    heading = " ".join(child.get_text().split()).removesuffix("#").strip()
                if made is not None:
                    out.append(_MADE[made])
                elif child.name == "a" and child.get_text() == str(child.get("href")).removeprefix("mailto:"):
                    out.append(OTHER)  # an address shown as itself
                elif child.name == "code":
                    code = child.get_text()
                    out.append(code if naked.in_code(code) else OTHER)
                elif child.name in _INLINE:
                    yield from walk(child)
                else:
                    yield from flush()
                    yield from walk(child)
                    yield from flush()

    for root in _roots(soup):
        yield from walk(root)
        yield from flush()
        heading = ""


def _vanishes(c: str) -> bool:
    return c in "\u00ad\u200b\u200c\u200d\u2060\ufeff"


def _spoken(soup: BeautifulSoup) -> Iterator[_Passage]:
    """The attributes that a reader sees or hears."""
    for tag in soup.find_all("meta", attrs={"name": "description"}):
        yield _Passage(" ".join(str(tag.get("content")).split()), ", in the description")
    for root in _roots(soup):
        for tag in root.find_all(True):
            said = [(name, value) for name in _SPOKEN if isinstance(value := tag.get(name), str)]
            if not said or any(_ATTRIBUTES_MADE & set(_classes(parent)) for parent in (tag, *tag.parents)):
                continue
            for name, value in said:
                if value:
                    yield _Passage(" ".join(value.split()), f", in the {name} of a {tag.name}")


def _unquoted(soup: BeautifulSoup, shown: set[str]) -> Iterator[tuple[str, str]]:
    """What looks like a quote and is none of those that the source audit has checked."""
    for root in _roots(soup):
        for tag in root.find_all(class_="q"):
            words = tag.get_text()
            if words not in shown:
                yield words, f", in a {tag.name}"


def _active(soup: BeautifulSoup) -> Iterator[str]:
    """What would run, load or restyle something in the content of a page."""
    for root in _roots(soup):
        for tag in root.find_all(True):
            if tag.name in ACTIVE_TAGS:
                yield f"<{tag.name}>"
            for name, value in tag.attrs.items():
                if ACTIVE_ATTRIBUTES.fullmatch(name):
                    yield f"{name}="
                elif name in ("href", "src", "action", "formaction", "xlink:href") and active_scheme(str(value)):
                    yield active_scheme(str(value))


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
        first = next((k for k, m in enumerate(built) if m.end() > finding.start), len(built))
        last = next((k for k, m in enumerate(built) if m.start() >= finding.end), len(built))
        names, others = [m[0] for m in built], [m[0] for m in source]
        for around in (4, 3, 2, 1, 0):
            low = max(first - around, 0)
            wanted = names[low : last + around]
            at = [k for k in range(len(others) - len(wanted) + 1) if others[k : k + len(wanted)] == wanted] if wanted else []
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
