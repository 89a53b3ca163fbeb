"""The audit of built pages: whatever way a number came in (raw HTML, a plugin, a template), it is computed, bound or refused."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from bs4 import BeautifulSoup, Comment, NavigableString, Tag

from macros import naked
from macros.audit import Audit, audit_sources
from macros.scan import PLAIN, QUOTE, RELATION, Fault

# Computed or exempt already, each made by a macro that the source audit has held to its rules.
_MADE = {
    "q": QUOTE, "rel": RELATION, "plain": PLAIN, "formula": PLAIN, "fig-svg": "", "fig-data": "", "fig-plot": "", "data": "", "ledger": "", "live": "",
    "fault": "", "faults": "", "badge": "", "fingerprint": "", "headerlink": "", "credit": "",
}  # fmt: skip
_BLOCKS = {
    "p", "li", "td", "th", "h1", "h2", "h3", "h4", "h5", "h6", "figcaption", "summary", "dt", "dd", "caption", "blockquote", "div", "section",
    "table", "tr", "ul", "ol", "figure", "details", "article", "main", "pre", "dl", "thead", "tbody", "title", "label", "br",
}  # fmt: skip
_SILENT = {"script", "style", "template", "pre", "svg", "noscript"}
_SPOKEN = ("alt", "title", "aria-label", "placeholder", "content")


def audit_site(site: Path, audit: Audit) -> Iterator[Fault]:
    """Every naked number of every built page, mapped back to its line in the source where the words are found there."""
    titles = [words for bound in audit.titles.values() for words in bound]
    for path in sorted(site.rglob("*.html")):
        source = f"docs/{path.relative_to(site).with_suffix('.md').as_posix()}"
        soup = BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")
        known = {f.message.split(";")[0] for f in audit.faults if f.path == source}
        shown = [use.shown for use in audit.uses if use.page == source]
        for words, heading in _passages(soup):
            for finding in naked.findings(_without(words, titles)):
                fault = _place(source, audit, finding, words, heading, path.relative_to(site).as_posix())
                if not any(finding.text in k for k in known):
                    yield fault
        for tag in soup.find_all(True):
            if isinstance(tag, Tag) and not _inside_made(tag):
                for name in _SPOKEN:
                    value = tag.get(name)
                    if not isinstance(value, str) or (tag.name == "meta" and tag.get("name") != "description"):
                        continue
                    for finding in naked.findings(_without(value, [*titles, *shown])):
                        if not any(finding.text in k for k in known):
                            yield _place(source, audit, finding, value, f"the {name} of a {tag.name}", path.relative_to(site).as_posix())


def _inside_made(tag: Tag) -> bool:
    made = {"data", "fault", "faults"}
    return any(made & set(parent.get("class") or []) for parent in (tag, *tag.parents) if isinstance(parent, Tag))


def _without(words: str, bound: list[str]) -> str:
    for text in sorted(bound, key=len, reverse=True):
        if text:
            words = words.replace(text, QUOTE * len(text))
    return words


def _passages(soup: BeautifulSoup) -> Iterator[tuple[str, str]]:
    """Runs of text as a reader meets them, with the heading above each. What macros made stands as a mark."""
    heading = ""
    buffer: list[str] = []

    def walk(node: Tag) -> Iterator[str]:
        for child in node.children:
            if isinstance(child, Comment):
                continue
            if isinstance(child, NavigableString):
                buffer.append(str(child))
            elif isinstance(child, Tag):
                classes = child.get("class") or []
                made = next((c for c in classes if c in _MADE), None)
                if child.name in _SILENT:
                    continue
                if made is not None:
                    buffer.append(_MADE[made] * max(len(child.get_text()), 1) if _MADE[made] else "\n")
                elif child.name == "code":
                    text = child.get_text()
                    buffer.append(text if naked.in_code(text) else " " * len(text))
                elif child.name == "math":
                    buffer.append(child.get_text())
                elif child.name in _BLOCKS:
                    yield from flush()
                    yield from walk(child)
                    yield from flush()
                else:
                    yield from walk(child)

    def flush() -> Iterator[str]:
        text = re.sub(r"\s+", " ", "".join(buffer)).strip()
        buffer.clear()
        if text:
            yield text

    for root in [soup.find("title"), soup.find("article") or soup.find("main") or soup.body]:
        if isinstance(root, Tag):
            for text in walk(root):
                yield text, heading
            for text in flush():
                yield text, heading
        heading = ""


def _place(source: str, audit: Audit, finding: naked.Finding, words: str, heading: str, built: str) -> Fault:
    """The source line of a finding, by the number and its neighbours; else the page and where on it."""
    page = audit.pages.get(source)
    message = f"{finding.rule}: {finding.text}; {naked.cure(finding)}"
    if page:
        before = words[max(finding.start - 12, 0) : finding.start]
        after = words[finding.end : finding.end + 12]
        for pattern in (before + finding.text + after, before + finding.text, finding.text + after, finding.text):
            offset = page.source.find(pattern)
            if offset >= 0:
                return page.fault(offset + pattern.find(finding.text), message, "unbound")
    where = f" under “{heading}”" if heading else ""
    return Fault(source if page else built, 0, 0, f"in the built page{where}, near “{words[max(finding.start - 20, 0) : finding.end + 20]}”: {message}", "unbound")


def main() -> int:
    """`python -m macros.audit_html site`: the built site, read without any hook."""
    site = Path(sys.argv[1] if len(sys.argv) > 1 else "site")
    audit = audit_sources()
    faults = [*audit.faults, *audit_site(site, audit)]
    for fault in faults:
        print(fault)
    print(audit.coverage())
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
