"""What stands above a page and in the settings: bound as on the page, refused with its place, and in the menu."""

from __future__ import annotations

import pytest

from macros.audit import audit_sources
from macros.calls import Recorder
from macros.frontmatter import CONFIG, check_config, check_front_matter
from macros.scan import Fault, scan
from verify.audited import EVALUATOR, audit_one, source_of
from verify.planted import ACT2, HERE


def test_an_alias_that_holds_itself_is_read_once() -> None:
    assert [f.message for f in audit_one("docs/x.md", "---\ntitle: &a [*a, 60 ms]\n? [x]\n: y\n---\n").faults] == [
        "the front matter holds title, description, title_quotes, hide, search; got a key of several parts",
        'a naked number in the title: 60 ms; declare it under title_quotes: "60 ms": name',
    ]


def test_a_page_outside_the_menu_is_named_and_so_is_what_the_menu_lists_and_is_none() -> None:
    config = source_of(CONFIG)
    found = audit_sources(overrides={CONFIG: config.replace("acts/2-queue.md", "acts/2-quue.md")}).faults
    line = config[: config.index("acts/2-queue.md")].count("\n") + 1
    assert [str(f) for f in found] == [
        f'{ACT2}:1:1: no menu leads to this page: add a line "- acts/2-queue.md" under nav: in mkdocs.yml, where it belongs',
        f"mkdocs.yml:{line}:5: there is no page docs/acts/2-quue.md; did you mean acts/2-queue.md?",
    ]


def test_a_year_in_a_title_may_be_declared_with_its_reason() -> None:
    page = '---\ntitle: Since 2017\ndescription: More of 4 May 2024.\ntitle_quotes:\n  "2017": plain, a year\n  4 May 2024: plain, a date\n---\n\n# Since [= plain("2017", why="a year") =] { #x }\n'
    audit = audit_one("docs/x.md", page)
    assert [str(f) for f in audit.faults] == []
    assert [use.why for use in audit.uses if use.kind == "e"] == ["a year", "a year", "a date"]


@pytest.mark.parametrize(("front", "found"), [
    ("title: ▸60 ms of it\n", ['a naked number in the title: 60 ms; declare it under title_quotes: "60 ms": name']),
    ("title: x\ndescription: It is of ▸4 May 2024\n", ['a date in the description: 4 May 2024; declare it under title_quotes: "4 May 2024": plain, a date']),
    ("title: Since ▸2017\n", ['a naked number in the title: 2017; declare it under title_quotes: "2017": plain, a year']), ("title: Since ▸2117\n", ['a naked number in the title: 2117; declare it under title_quotes: "2117": name']),
    ("title: It takes ▸10–20 ms\n", ["a naked number in the title: 10–20 ms; say it in the text, where it can be bound"]), ("title: It is ▸faster than that\n", ["a comparison in the title: faster than; say it in the text, where it can be bound"]),
    ("title: It ▸doubles\n", ["a multiple in words in the title: doubles; say it in the text, where it can be bound"]), ("title: All ▸eight tasks\n", ['a number in words before something the model counts in the title: eight tasks; declare it under title_quotes: "eight": name']),
    ("title: It takes ▸60 ms or more\ntitle_quotes:\n  60 ms: sync.one_gpu\n", ["a bound after a quote in the title: … or more; what stands under title_quotes must hold it"]),
    ("\n▸sub: x\n", ["the front matter holds title, description, title_quotes, hide, search; got sub"]), ("title: x\nhide: [toc]\n▸sub: x\ndescription: y\n", ["the front matter holds title, description, title_quotes, hide, search; got sub"]),
    ("title: [▸!x a, [b]]\n", ["a tag means nothing in front matter: !x"]), ("title: [▸!x a, {b: c}]\n", ["a tag means nothing in front matter: !x"]), ("title: {▸!x a: b}\n", ["a tag means nothing in front matter: !x"]),
    ("title: {a: ▸!x b}\n", ["a tag means nothing in front matter: !x"]), ("▸sub: 60 ms\n", ["the front matter holds title, description, title_quotes, hide, search; got sub"]),
    ("title: x\nhide: ▸!!python/name:x y\n", ["a tag means nothing in front matter: tag:yaml.org,2002:python/name:x"]), ("title: x\n▸description: So: it is\nhide: [toc]\n", ['a description with a colon needs quotes: description: "So: it is"']),
    ("title: x\nhide: [60 ms]\nsearch:\n  boost: 60\n", []), ("", []),
    ("title: 60 ms of [it]\ntitle_quotes:\n  ▸61 ms: sync.one_gpu\n", None), ("title: x\ntitle_quotes:\n  ▸a: [b]\n", ['a line under title_quotes holds words, a colon and one name: "160-megabyte": sync.gradient']),
    ("title: x\ntitle_quotes:\n  ▸[a]: b\n", ['a line under title_quotes holds words, a colon and one name: "160-megabyte": sync.gradient']), ("title: x\ntitle_quotes:\n  '▸2': plain\n", ['say why it is bound to nothing: "2": plain, a year']),
    ("title: x\ntitle_quotes:\n  ▸2: plain,\n", ['say why it is bound to nothing: "2": plain, a year']), ("title: x\ntitle_quotes: ▸60 ms\n", ['title_quotes holds one line a number: "160-megabyte": sync.gradient']),
    ("▸title: The queue: again\n", ['a title with a colon needs quotes: title: "The queue: again"']), ("title: x\n▸description: So:\n", ['a description with a colon needs quotes: description: "So:"']),
    ("▸- a\n- b\n", ["the front matter cannot be read: each of its lines is a key, a colon and a value"]), ("title: [▸\n", None), ("title: x\ntitle_quotes:\n  ▸60 ms: sync.one_gpuu\n", ["sync.one_gpuu is not a number of the book; did you mean sync.one_gpu?"]),
    ("title: x\ntitle_quotes:\n  ▸60 ms: sync.one_gpu +\n", ["sync.one_gpu + cannot be read: invalid syntax"]),
])  # fmt: skip
def test_what_is_wrong_above_a_page(front: str, found: list[str] | None) -> None:
    source = f"---\n{front}---\nIt is so.\n"
    at = source.find(HERE)
    source = source.replace(HERE, "")
    faults = audit_one("docs/x.md", source).faults
    if found is None:  # the words are of YAML, or of a quote, which have tests of their own
        assert faults
    else:
        assert [f.message for f in faults] == found
        assert [(f.line, f.column) for f in faults] == [(source.count("\n", 0, at) + 1, at - source.rfind("\n", 0, at))] * len(
            found
        )


def test_what_stands_above_a_page_is_bound() -> None:
    page = '---\ntitle: The 160-megabyte question\ndescription: It waits.\nhide: [toc]\ntitle_quotes:\n  160-megabyte: sync.gradient\n  "2017": plain, a year\n---\nIt is so.\n'
    audit = audit_one("docs/x.md", page)
    assert audit.faults == []
    assert audit.titles == {"docs/x.md": ["160-megabyte", "2017"]}
    assert [(u.kind, u.shown, u.why, u.line, u.column, [q.expr for q in u.quantities]) for u in audit.uses] == [
        ("q", "160-megabyte", "", 6, 3, ["sync.gradient"]), ("e", "2017", "a year", 7, 4, []),
    ]  # fmt: skip
    assert audit.unread == set()
    assert audit_one("docs/x.md", "It is so.\n").unread == {"docs/x.md"}
    front = check_front_matter(audit.pages["docs/x.md"], EVALUATOR, Recorder(), [])
    assert front == (["160-megabyte", "2017"], {"title": "The 160-megabyte question", "description": "It waits."}, True)


@pytest.mark.parametrize("source", ["It is so.\n", "---\ntitle: [\n---\n", "---\ntitle: 60 ms\nhide: !x a\n---\n"])
def test_what_stands_above_a_page_and_cannot_be_read_is_one_fault_and_binds_nothing(source: str) -> None:
    faults: list[Fault] = []
    assert check_front_matter(scan("docs/x.md", source), EVALUATOR, Recorder(), faults) == ([], {}, False)
    assert [fault.sort for fault in faults] == ["broken"]


def test_what_is_wrong_above_a_page_is_of_some_sort() -> None:
    page = "---\ntitle: 62 ms\ntitle_quotes:\n  61 ms: sync.one_gpu\n  5: sync.gpuus\n---\nIt is so.\n"
    assert [(fault.line, fault.sort) for fault in audit_one("docs/x.md", page).faults] == [
        (4, "drifted"),
        (5, "broken"),
        (2, "unbound"),
    ]


@pytest.mark.parametrize("other", ["&a [60 ms], *a", "{a: 60 ms}", "[[60 ms]]"])
def test_each_text_of_the_configuration_is_read_once(other: str) -> None:
    found = [f.message.split(";")[0] for f in audit_one(CONFIG, f"site_name: [61 ms, {other}]\n").faults]
    assert found == ["a naked number in site_name: 61 ms", "a naked number in site_name: 60 ms"]


@pytest.mark.parametrize(("config", "found"), [
    ("site_name: ▸60 ms\n", "a naked number in site_name: 60 ms; say it on a page, where it can be bound"), ("site_description: a\ncopyright: Of ▸60\n", "a naked number in copyright: 60; say it on a page, where it can be bound"),
    ("site_name: a\nnav:\n  - ▸60 ms: x.md\n", "a naked number in nav: 60 ms; say it on a page, where it can be bound"), ("nav:\n  - A:\n    - All ▸eight tasks: x.md\n", "a number in words before something the model counts in nav: eight tasks; say it on a page, where it can be bound"),
    ("▸- a\n", "cannot be read: each of its lines is a key, a colon and a value"), ("theme: 60\nnav: [60.md]\nextra: 60 ms\n", ""), ("", ""), ("nav:\n  - 60.md\n  - a: 60.md\n", ""),
])  # fmt: skip
def test_what_the_configuration_shows(config: str, found: str) -> None:
    at = config.find(HERE)
    config = config.replace(HERE, "")
    faults = [*check_config("mkdocs.yml", config)]
    place = config.count("\n", 0, at) + 1, at - config.rfind("\n", 0, at)
    assert [(f.path, f.line, f.column, f.message) for f in faults] == ([("mkdocs.yml", *place, found)] if found else [])
    assert [f.sort for f in faults] == ([] if not found else ["broken"] if "cannot" in found else ["unbound"])


def test_the_menu_leads_to_every_page_and_to_nothing_else() -> None:
    config = "nav:\n  - a.md\n  - B: sub/b.md\n  - aa.md\n  - zzzzzzzzzzzzzzzzzzzzzzzz.md\n  - https://x.y\nnot_in_nav: |\n  c.md\n  d d.md\n"
    assert [*check_config("mkdocs.yml", config, ["docs/a.md", "docs/sub/b.md", "docs/c.md", "docs/d d.md", "docs/e.md"])] == [
        Fault("docs/e.md", 1, 1, 'no menu leads to this page: add a line "- e.md" under nav: in mkdocs.yml, where it belongs'),
        Fault("mkdocs.yml", 4, 5, "there is no page docs/aa.md; did you mean a.md?"),
        Fault("mkdocs.yml", 5, 5, "there is no page docs/zzzzzzzzzzzzzzzzzzzzzzzz.md"),
    ]


@pytest.mark.parametrize(("front", "line", "column", "says"), [
    ("title: x\nhide: [\n", 4, 1, "the front matter cannot be read: expected the node content, but found '<stream end>'"),
    ("title: x\nhide: ]\n", 3, 7, "the front matter cannot be read: expected the node content, but found ']'"),
    ("title: a\x07b\n", 2, 1, 'the front matter cannot be read: unacceptable character #x0007: special characters are not allowed in "<unicode string>", position 8'),
])  # fmt: skip
def test_front_matter_that_is_no_yaml_is_named_where_it_breaks(front: str, line: int, column: int, says: str) -> None:
    [fault] = [f for f in audit_one("docs/x.md", f"---\n{front}---\nIt is so.\n").faults if "read" in f.message]
    assert str(fault) == f"docs/x.md:{line}:{column}: {says}"
