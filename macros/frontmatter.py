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


def _texts(node: yaml.Node) -> Iterator[yaml.ScalarNode]:
    """Every value below a node."""
    if isinstance(node, yaml.ScalarNode):
        yield node
    for part in node.value if not isinstance(node, yaml.ScalarNode) else ():
        yield from _texts(part[1] if isinstance(part, tuple) else part)


def _titles(node: yaml.Node) -> Iterator[yaml.ScalarNode]:
    """Every key below a node: the titles of a navigation."""
    for part in node.value if not isinstance(node, yaml.ScalarNode) else ():
        if isinstance(part, tuple):
            yield part[0]
        yield from _titles(part[1] if isinstance(part, tuple) else part)


def check_front_matter(page: Page, evaluator: Evaluator, recorder: Recorder) -> tuple[list[str], list[Fault]]:
    """The words that the title and the description bind, under `title_quotes`, and what is wrong with the front matter."""
    found = FRONT_MATTER.match(page.source)
    if not found:
        return [], []
    source, base = found[1], found.start(1)
    try:
        root = yaml.compose(source)
    except yaml.MarkedYAMLError as error:
        at = base + (error.problem_mark.index if error.problem_mark else 0)
        return [], [page.fault(at, f"the front matter cannot be read: {error.problem or error}")]
    if root is None:
        return [], []
    if not isinstance(root, yaml.MappingNode):
        return [], [page.fault(base, "the front matter cannot be read: each of its lines is a key, a colon and a value")]
    bound: list[str] = []
    faults: list[Fault] = []
    for key, value in root.value:
        if key.value == "title_quotes":
            faults += _title_quotes(page, value, base, evaluator, recorder, bound)
    for key, value in root.value:
        for text in _texts(value) if key.value not in _SILENT else ():
            start = text.start_mark.index
            words = literal(mask(source[start : text.end_mark.index], bound))
            for finding in naked.findings(words.text):
                declare = f'declare it under title_quotes: "{finding.text}": name'
                message = f"{finding.rule} in the {key.value}: {finding.text}; {declare}"
                faults.append(page.fault(base + start + words.at[finding.start], message, "unbound"))
    return bound, faults


def _title_quotes(
    page: Page, node: yaml.Node, base: int, evaluator: Evaluator, recorder: Recorder, bound: list[str]
) -> Iterator[Fault]:
    if not isinstance(node, yaml.MappingNode):
        yield page.fault(base + node.start_mark.index, 'title_quotes holds one line a number: "160-megabyte": sync.gradient')
        return
    for key, value in node.value:
        offset = base + key.start_mark.index + (key.style is not None)
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
    root = yaml.compose(source)
    for key, value in root.value if isinstance(root, yaml.MappingNode) else ():
        for text in (_titles if key.value == "nav" else _texts)(value) if key.value in _SHOWN_BY_THE_SITE else ():
            start = text.start_mark.index
            words = markdown.read(source[start : text.end_mark.index])
            for finding in naked.findings(words.text):
                at = start + words.at[finding.start]
                line, column = source.count("\n", 0, at) + 1, at - source.rfind("\n", 0, at)
                yield Fault(
                    path,
                    line,
                    column,
                    f"{finding.rule} in {key.value}: {finding.text}; say it on a page, where it can be bound",
                    "unbound",
                )
