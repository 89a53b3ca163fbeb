"""The words of YAML that a reader sees: the title and the description of a page, the name of the site and the titles of its navigation.

YAML is composed, not loaded: every text keeps its place in the file, and no tag is executed.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Collection, Iterator
from typing import NamedTuple

import yaml

from macros import markdown, naked
from macros.calls import INLINE, Recorder
from macros.claims import read
from macros.evaluate import Evaluator, sort_of
from macros.prose import literal, mask
from macros.quantity import QuoteError
from macros.scan import FRONT_MATTER, Fault, Page

# What the front matter of a page may hold, and which of it nobody reads.
KEYS = ("title", "description", "title_quotes", "hide", "search")
_SILENT = {"hide", "search", "title_quotes"}
_PLAIN = {f"tag:yaml.org,2002:{kind}" for kind in ("str", "int", "float", "bool", "null", "timestamp", "map", "seq")}
_SHOWN_BY_THE_SITE = {"site_name", "site_description", "copyright", "nav"}
CONFIG = "mkdocs.yml"


class _Unreadable(Exception):
    """What is wrong with a text that should be YAML, and at which character."""

    def __init__(self, at: int, problem: str) -> None:
        super().__init__(problem)
        self.at = at


def _mapping(source: str) -> list[tuple[str, yaml.Node]]:
    """The keys of a text and the nodes they lead to. Raises _Unreadable for what is no mapping of texts."""
    try:
        root = yaml.compose(source)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        raise _Unreadable(mark.index if mark else 0, str(getattr(error, "problem", error))) from None
    if root is None:
        return []
    if not isinstance(root, yaml.MappingNode):
        raise _Unreadable(0, "each of its lines is a key, a colon and a value")
    return [(key.value if isinstance(key, yaml.ScalarNode) else "", value) for key, value in root.value]


def _texts(node: yaml.Node, *, keys: bool = False) -> list[yaml.ScalarNode]:
    """Every value below a node; with `keys` every key instead, which are the titles of a navigation. An alias is read once."""
    found: dict[int, yaml.ScalarNode] = {}
    seen: set[int] = set()
    todo = [(node, not keys)]
    while todo:
        node, wanted = todo.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, yaml.ScalarNode):
            if wanted:
                found[node.start_mark.index] = node
        elif isinstance(node, yaml.MappingNode):
            todo += [part for key, value in node.value for part in ((key, keys), (value, not keys))]
        else:
            todo += [(part, not keys) for part in node.value]
    return [found[at] for at in sorted(found)]


def _nodes(node: yaml.Node) -> list[yaml.Node]:
    """A node and all below it, each once."""
    found: dict[int, yaml.Node] = {}
    todo = [node]
    while todo:
        node = todo.pop()
        if id(node) not in found:
            found[id(node)] = node
            if isinstance(node, yaml.MappingNode):
                todo += [part for pair in node.value for part in pair]
            elif isinstance(node, yaml.SequenceNode):
                todo += node.value
    return list(found.values())


def _line_of(source: str, at: int) -> int:
    """Where the line begins in which a character stands."""
    return source[:at].rfind("\n") + 1


class Front(NamedTuple):
    """The front matter of a page: the words that its title and its description bind, its values, and whether it can be read at all."""

    bound: list[str]
    values: dict[str, str]
    read: bool = True


def check_front_matter(page: Page, evaluator: Evaluator, recorder: Recorder, faults: list[Fault]) -> Front:
    """Adds what is wrong with the front matter of a page to `faults`."""
    found = FRONT_MATTER.match(page.source)
    if not found:
        faults.append(page.fault(0, "a page begins with ---, title: and description:, and ---, each on a line of its own"))
        return Front([], {}, read=False)
    source, base = found[1], found.start(1)
    try:
        entries = _mapping(source)
    except _Unreadable as error:
        start = _line_of(source, error.at)
        pair = re.match(r"([\w-]+): *([^\"'].*:(?: .*|))$", source[start:].partition("\n")[0])
        message = f"the front matter cannot be read: {error}"
        if pair:
            message = f'a {pair[1]} with a colon needs quotes: {pair[1]}: "{pair[2]}"'
        faults.append(page.fault(base + (start if pair else error.at), message))
        return Front([], {}, read=False)
    for key, value in entries:
        if key not in KEYS:
            faults.append(
                page.fault(
                    base + _line_of(source, value.start_mark.index),
                    f"the front matter holds {', '.join(KEYS)}; got {key or 'a key of several parts'}",
                )
            )
        for odd in [node for node in _nodes(value) if node.tag not in _PLAIN]:
            faults.append(page.fault(base + odd.start_mark.index, f"a tag means nothing in front matter: {odd.tag}"))
            return Front([], {}, read=False)
    bound: list[str] = []
    for key, value in entries:
        if key == "title_quotes":
            faults += _title_quotes(page, value, base, evaluator, recorder, bound)
    for key, value in entries:
        for text in _texts(value) if key in KEYS and key not in _SILENT else ():
            start = text.start_mark.index
            words = literal(mask(source[start : text.end_mark.index], bound))
            for finding in naked.findings(words.text):
                message = f"{finding.rule} in the {key}: {finding.text}; {_cure(finding)}"
                faults.append(page.fault(base + start + words.at[finding.start], message, "unbound"))
    return Front(bound, {key: str(value.value) for key, value in entries if isinstance(value, yaml.ScalarNode)})


def _cure(finding: naked.Finding) -> str:
    """How to mend a number in a title: what a quote can hold is declared, all else belongs in the text."""
    if finding.rule in naked.AT_A_CALL:
        return "what stands under title_quotes must hold it"
    if finding.rule == naked.DATE or re.fullmatch(r"(?:19|20)\d\d", finding.text):
        return f'declare it under title_quotes: "{finding.text}": plain, a {"date" if finding.rule == naked.DATE else "year"}'
    said = naked.quotable(finding.text)
    return f'declare it under title_quotes: "{said}": name' if said and len(read(said)) == 1 else naked.IN_THE_TEXT


_EXEMPT = re.compile(r"plain(?:\s*,\s*(?P<why>.*))?")


def _title_quotes(
    page: Page, node: yaml.Node, base: int, evaluator: Evaluator, recorder: Recorder, bound: list[str]
) -> Iterator[Fault]:
    if not isinstance(node, yaml.MappingNode):
        yield page.fault(base + node.start_mark.index, 'title_quotes holds one line a number: "160-megabyte": sync.gradient')
        return
    for key, value in node.value:
        offset = base + key.start_mark.index + (getattr(key, "style", None) is not None)
        recorder.line, recorder.column = page.place(offset)
        words = str(key.value) if isinstance(key, yaml.ScalarNode) else ""
        bound.append(words)  # a wrong one is named once, as a wrong quote
        try:
            if not words or not isinstance(value, yaml.ScalarNode):
                raise QuoteError('a line under title_quotes holds words, a colon and one name: "160-megabyte": sync.gradient')
            exempt = _EXEMPT.fullmatch(value.value)
            if exempt and not exempt["why"]:
                raise QuoteError(f'say why it is bound to nothing: "{words}": plain, a year')
            if exempt:
                INLINE["plain"](words, why=exempt["why"])
            else:
                INLINE["q"](words, evaluator.value(value.value))
        except QuoteError as error:
            yield page.fault(offset, str(error), sort_of(error))


def check_config(path: str, source: str, pages: Collection[str] = ()) -> Iterator[Fault]:
    """Naked numbers in what the site's configuration shows on every page: nothing there can be bound, so nothing may be claimed.

    And the menu: `pages` are all there are, and each is in it.
    """
    fault = Page(path, source, [], [], 0).fault
    try:
        entries = _mapping(source)
    except _Unreadable as error:
        yield fault(error.at, f"cannot be read: {error}")
        return
    for key, value in entries:
        for text in _texts(value, keys=key == "nav") if key in _SHOWN_BY_THE_SITE else ():
            start = text.start_mark.index
            words = markdown.read(source[start : text.end_mark.index])
            for finding in naked.findings(words.text):
                message = f"{finding.rule} in {key}: {finding.text}; say it on a page, where it can be bound"
                yield fault(start + words.at[finding.start], message, "unbound")
    if pages:
        yield from _menu(entries, pages, fault)


def _menu(entries: list[tuple[str, yaml.Node]], pages: Collection[str], fault: Callable[[int, str], Fault]) -> Iterator[Fault]:
    """The pages that no menu leads to, and what is in the menu and is no page."""
    listed = {f"docs/{text.value}": text.start_mark.index for key, nav in entries if key == "nav" for text in _texts(nav)}
    apart = {
        f"docs/{line.strip()}"
        for key, node in entries
        if key == "not_in_nav"
        for text in _texts(node)
        for line in text.value.split("\n")
    }
    for page in pages:
        if page not in listed and page not in apart:
            line = page.removeprefix("docs/")
            yield Fault(page, 1, 1, f'no menu leads to this page: add a line "- {line}" under nav: in {CONFIG}, where it belongs')
    for page, at in listed.items():
        if page not in pages and page.endswith(".md"):
            close = difflib.get_close_matches(page, pages)
            yield fault(at, f"there is no page {page}" + (f"; did you mean {close[0].removeprefix('docs/')}?" if close else ""))
