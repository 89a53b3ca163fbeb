"""Links and images that lead nowhere, or elsewhere than their words say, each with its line.

MkDocs finds the first too, but only in a build, and names no line.
"""

from __future__ import annotations

import difflib
import posixpath
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import unquote, urlsplit

from macros.scan import Fault, Page
from macros.structure import ATTRIBUTES
from perfmodel import sources

_ID = re.compile(r"<[^<>]*?\sid\s*=\s*[\"']?([^\"'\s<>]+)|\{[^{}]*?#([\w:.-]+)")
_MADE = {"ledger", "symbols"}  # they make places of their own, as do figures and labs: fig-…, lab-…

_WORDS = re.compile(r"([^\]]*)\]\(")  # of a link, up to its address
_ACT, _STEP = re.compile(r"^docs/acts/(\d+)-"), re.compile(r"^step-(\d+)$")
_NAMED = re.compile(r"\b(act|step|section)\s(\d+(?:\.\d+)?)", re.IGNORECASE)
_SECTIONS = {work.url: section for section, work in sources.D2L_SECTIONS.items()}


def places(page: Page) -> set[str]:
    """The ids of a page: those it gives, and those its headings get."""
    given = {a or b for a, b in _ID.findall(page.prose.bare)}
    words = (ATTRIBUTES.sub("", page.source[h.start : h.end]) for h in page.prose.headings)  # code in it, too
    slugs = (re.sub(r"[^\w\s-]", "", heading).strip().lower() for heading in words)
    return given | {re.sub(r"[-\s]+", "-", slug) for slug in slugs}


# "Act 3", "acts 2 and 6", "step 4 of Act 6", "Act 6, step 4".
_LABEL = re.compile(
    r"\b(?:act\s+(?P<before>\d),\s+)?(?P<what>act|step)s?\s+(?P<numbers>(?:\d(?:,?\s+(?:and|or|to|through|&)\s+|,\s+|\s?[–-]\s?))*\d)\b(?!\.\d)"
    r"(?:\s+of\s+act\s+(?P<after>\d)\b)?",
    re.IGNORECASE,
)


def check_places(page: Page, pages: Mapping[str, Page]) -> Iterator[Fault]:
    """Every act and every step that a page names, where there are acts, and where its act or the page itself has steps."""
    acts = {m[1]: pages[name] for name in pages if (m := re.match(r"docs/acts/(\d)-", name))}
    for label in _LABEL.finditer(page.prose.text):
        act = label["before"] or label["after"]
        known, has = sorted(acts), f"the acts are {', '.join(sorted(acts))}"
        if acts and act and act not in acts:
            yield page.fault(page.prose.at[label.start("before" if label["before"] else "after")], f"there is no Act {act}: {has}")
            continue
        if label["what"].lower() == "step":
            known = sorted(place[-1] for place in places(acts.get(act, page)) if place.startswith("step-"))
            has = f"{f'Act {act}' if act else 'this page'} has {len(known)}"
        for number in re.finditer(r"\d", label["numbers"]):
            if known and number[0] not in known:
                what = label["what"].lower().replace("act", "Act")
                yield page.fault(page.prose.at[label.start("numbers") + number.start()], f"there is no {what} {number[0]}: {has}")


def check_links(page: Page, root: Path, pages: Mapping[str, Page]) -> Iterator[Fault]:
    """Every relative link of a page against the files below `root` and the places on `pages`, and each one against its words."""
    for offset, address in page.prose.links:
        try:
            parts = urlsplit(address)
        except ValueError:
            continue
        if parts.scheme or parts.netloc or address.startswith("/") or not address.isprintable():
            yield from _against_words(page, offset, address, "section", _SECTIONS.get(address.partition("#")[0], ""))
            continue
        name = posixpath.normpath(posixpath.join(posixpath.dirname(page.path), unquote(parts.path))) if parts.path else page.path
        source = f"{name.removesuffix('.html')}.md"
        name = source if name.endswith(".html") and source in pages else name
        yield from _against_words(page, offset, address, "act", "".join(_ACT.findall(name)))
        yield from _against_words(page, offset, address, "step", "".join(_STEP.findall(parts.fragment)))
        if name not in pages and not (root / name).exists():
            by_name = {posixpath.basename(other): other for other in pages}
            close = difflib.get_close_matches(posixpath.basename(name), by_name)
            hint = f"; did you mean {posixpath.relpath(by_name[close[0]], posixpath.dirname(page.path))}?" if close else ""
            yield page.fault(offset, f"{address} leads nowhere: there is no file {name}{hint}")
        elif (
            parts.fragment
            and not parts.fragment.startswith(("fig-", "lab-"))
            and name in pages
            and pages[name].source.strip()  # one that cannot be read has a fault of its own
            and not any(call.macro in _MADE for call in pages[name].calls)
            and "\n::: " not in pages[name].source  # docstrings bring places of their own
        ):
            known = places(pages[name])
            if unquote(parts.fragment) not in known:
                close = difflib.get_close_matches(parts.fragment, known)
                hint = f"; did you mean #{close[0]}?" if close else ""
                yield page.fault(offset, f"{address} leads nowhere: {name} has no place #{parts.fragment}{hint}")


def _against_words(page: Page, offset: int, address: str, kind: str, leads: str) -> Iterator[Fault]:
    """A link that leads to one act, step or section of the book, where its words name others alone."""
    words = _WORDS.fullmatch(page.source, page.source.rfind("[", 0, offset) + 1, offset)
    named = [number for what, number in _NAMED.findall(words[1]) if what.lower() == kind] if words else []
    if leads and named and leads not in named:
        yield page.fault(offset, f"{address} is {kind} {leads}, and the words of the link say {kind} {named[0]}")
