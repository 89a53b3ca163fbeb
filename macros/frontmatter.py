"""The words of YAML that a reader sees: the title and the description of a page, the name of the site and the titles of its navigation.

YAML is composed, not loaded: every text keeps its place in the file, and no tag is executed.
"""

from __future__ import annotations

from collections.abc import Iterator

import yaml

from macros import markdown, naked
from macros.calls import INLINE, Recorder
from macros.evaluate import Evaluator
from macros.prose import literal, mask
from macros.quantity import Drift, QuoteError
from macros.scan import FRONT_MATTER, Fault, Page

# Keys of a page that nobody reads. All others may be shown by a theme.
_SILENT = {"template", "icon", "hide", "search", "date", "title_quotes"}
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
        raise _Unreadable(mark.index if mark else 0, str(getattr(error, "problem", "") or error)) from None
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
            todo += [(part, keys == is_key) for pair in node.value for part, is_key in zip(pair, (True, False), strict=True)]
        else:
            todo += [(part, not keys) for part in node.value]
    return [found[at] for at in sorted(found)]


def check_front_matter(page: Page, evaluator: Evaluator, recorder: Recorder) -> tuple[list[str], list[Fault]]:
    """The words that the title and the description bind, under `title_quotes`, and what is wrong with the front matter."""
    found = FRONT_MATTER.match(page.source)
    if not found:
        return [], []
    source, base = found[1], found.start(1)
    try:
        entries = _mapping(source)
    except _Unreadable as error:
        return [], [page.fault(base + error.at, f"the front matter cannot be read: {error}")]
    bound: list[str] = []
    faults: list[Fault] = []
    for key, value in entries:
        if key == "title_quotes":
            faults += _title_quotes(page, value, base, evaluator, recorder, bound)
    for key, value in entries:
        for text in _texts(value) if key not in _SILENT else ():
            start = text.start_mark.index
            words = literal(mask(source[start : text.end_mark.index], bound))
            for finding in naked.findings(words.text):
                declare = f'declare it under title_quotes: "{finding.text}": name'
                message = f"{finding.rule} in the {key}: {finding.text}; {declare}"
                faults.append(page.fault(base + start + words.at[finding.start], message, "unbound"))
    return bound, faults


def _title_quotes(
    page: Page, node: yaml.Node, base: int, evaluator: Evaluator, recorder: Recorder, bound: list[str]
) -> Iterator[Fault]:
    if not isinstance(node, yaml.MappingNode):
        yield page.fault(base + node.start_mark.index, 'title_quotes holds one line a number: "160-megabyte": sync.gradient')
        return
    for key, value in node.value:
        offset = base + key.start_mark.index + (getattr(key, "style", None) is not None)
        recorder.line, recorder.column = page.place(offset)
        bound.append(str(key.value))  # a wrong one is named once, as a wrong quote
        try:
            if not isinstance(value, yaml.ScalarNode):
                raise QuoteError(f'"{key.value}" is bound to one name, such as sync.gradient')
            INLINE["q"](str(key.value), evaluator.value(str(value.value)))
        except QuoteError as error:
            yield page.fault(offset, str(error), "drifted" if isinstance(error, Drift) else "broken")


def check_config(path: str, source: str) -> Iterator[Fault]:
    """Naked numbers in what the site's configuration shows on every page: nothing there can be bound, so nothing may be claimed."""

    def fault(at: int, message: str, sort: str) -> Fault:
        return Fault(path, source.count("\n", 0, at) + 1, at - source.rfind("\n", 0, at), message, sort)

    try:
        entries = _mapping(source)
    except _Unreadable as error:
        yield fault(error.at, f"cannot be read: {error}", "broken")
        return
    for key, value in entries:
        for text in _texts(value, keys=key == "nav") if key in _SHOWN_BY_THE_SITE else ():
            start = text.start_mark.index
            words = markdown.read(source[start : text.end_mark.index])
            for finding in naked.findings(words.text):
                message = f"{finding.rule} in {key}: {finding.text}; say it on a page, where it can be bound"
                yield fault(start + words.at[finding.start], message, "unbound")
