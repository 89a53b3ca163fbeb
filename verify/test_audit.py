"""The audit as a whole: planted faults caught where they stand and nothing else, harmless edits silent, and every call of every page mutated."""

from __future__ import annotations

import importlib
import os
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace as replaced
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from macros import audit as auditing
from macros import figures
from macros.audit import CALLABLE, EXEMPT, NAMED, PINS, Audit, apply_fixes, audit_page, audit_sources, check_book, pages_of
from macros.calls import Recorder
from macros.evaluate import Evaluator, _places, book, using
from macros.fixes import digits_only, fixed, literal
from macros.frontmatter import CONFIG, check_config, check_front_matter
from macros.links import check_links
from macros.links import places as link_places
from macros.pins import check_exempt
from macros.quantity import QuoteError
from macros.says import check_says
from macros.scan import Fault, scan
from perfmodel import collectives, kernels
from perfmodel.book import LEDGER
from perfmodel.number import Ledger
from verify.checkout import ROOT, copy, replace
from verify.planted import ACT2, ACT6, BROKEN, HARMLESS, HERE, NAKED, PLANTED, TURNED, WRONG, Planted, plant

ACTS = [path for path in pages_of(ROOT / "docs") if path.startswith("docs/acts/")]
BOOK = "perfmodel/book"
SMALL = (
    "---\ntitle: A page\ndescription: A page for a test.\n---\n\n# A page { #page }\n\nIt is one.\n{ .lede }\n\n"
    'And goes on.\n{ .bridge }\n\n[= credit("13.7") =]\n'
)
FRONT = "---\ntitle: A page\n---\n"
EVALUATOR = Evaluator(book(), CALLABLE, NAMED)


def source_of(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def audit_one(path: str, source: str, evaluator: Evaluator = EVALUATOR) -> Audit:
    """One page audited, or the configuration, and nothing else."""
    audit = Audit()
    if path == CONFIG:
        audit.faults += check_config(path, source)
        return audit
    with using(evaluator.book):
        audit_page(path, source, evaluator, audit)
    return audit


def places(faults: list[Fault]) -> set[tuple[int, int]]:
    return {(fault.line, fault.column) for fault in faults}


# Planted faults and harmless edits


def test_there_are_enough_kinds_of_faults_and_each_has_a_name() -> None:
    assert len({fault.name for fault in PLANTED}) == len(PLANTED) > 250


def missed(fault: Planted, source: str) -> str:
    """What is wrong with how the audit takes a planted fault, "" when it is caught at its place, in its words, and nothing else is."""
    planted = plant(fault, source)
    found = audit_one(fault.file, planted.text).faults
    caught = [
        f for f in found if (f.path, f.line, f.column) == (fault.file, planted.line, planted.column) and fault.says in f.message
    ]
    lines = "\n".join(map(str, found))
    if len(caught) != 1:
        return f"{fault.file}:{planted.line}:{planted.column} must say {fault.says!r}, the audit says\n{lines}"
    if any("\n" in str(f) or "\u00a0" in str(f) for f in found):
        return f"a message is one plain line\n{lines}"
    return "" if len(found) == fault.faults else f"must be {fault.faults} in all, the audit says\n{lines}"


@pytest.mark.parametrize("fault", PLANTED, ids=[fault.name for fault in PLANTED])
def test_a_planted_fault_is_caught_where_it_stands(fault: Planted) -> None:
    assert missed(fault, source_of(fault.file) if fault.old else SMALL) == ""


@pytest.mark.full
@pytest.mark.parametrize("fault", PLANTED, ids=[fault.name for fault in PLANTED])
def test_a_fault_planted_in_an_act_is_caught_where_it_stands(fault: Planted) -> None:
    assert missed(fault, source_of(fault.file)) == ""


@pytest.mark.parametrize(("faults", "sort"), [(WRONG, "drifted"), (TURNED, "drifted"), (BROKEN, "broken"), (NAKED, "unbound")])
def test_the_coverage_line_counts_what_is_wrong(faults: tuple[Planted, ...], sort: str) -> None:
    audit = audit_one(ACT6, plant(faults[0], SMALL).text)
    assert [fault.sort for fault in audit.faults] == [sort]
    assert f"1 {sort}" in audit.coverage()


@pytest.mark.parametrize("name", HARMLESS)
def test_a_harmless_edit_is_silent(name: str) -> None:
    assert [str(f) for f in audit_one(ACT6, f"{SMALL}\n{HARMLESS[name]}\n").faults] == []


@pytest.mark.build
@pytest.mark.full
def test_all_harmless_edits_together_build(tmp_path: Path) -> None:
    """Through MkDocs and its extensions, and the audit of what they make of it."""
    project = copy(tmp_path / "project")
    (project / "docs" / "probe.md").write_text(
        SMALL + "\n" + "\n\nA paragraph.\n\n".join(HARMLESS.values()) + "\n", encoding="utf-8"
    )
    replace(project / "mkdocs.yml", "  - numbers.md", "  - probe.md\n  - numbers.md")
    with (project / EXEMPT).open("a", encoding="utf-8") as pins:
        pins.write('docs/probe.md,"the ""1985"" one",a year\ndocs/probe.md,1985,a year\n')
    command = [
        sys.executable,
        "-m",
        "mkdocs",
        "build",
        "--site-dir",
        str(tmp_path / "site"),
    ]  # not --strict: its links lead nowhere
    done = subprocess.run(
        command, cwd=project, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "docs/probe.md:" not in done.stdout + done.stderr


@pytest.mark.parametrize("path", ACTS)
def test_an_act_may_be_wrapped_and_its_paragraphs_moved(path: str) -> None:
    source = source_of(path)
    paragraphs = [
        p for p in source[scan(path, source).body :].split("\n\n") if re.match(r"[A-Z][^\n]* [^\n]*\n", p) and "{ ." not in p
    ]
    wrapped = source
    for paragraph in paragraphs:
        words = paragraph.replace("\n", " ")
        wrapped = wrapped.replace(paragraph, re.sub(r"(?<=[a-z,]) (?=[a-z])", "\n", words, count=4), 1)
    assert wrapped != source
    moved = source.replace(paragraphs[0] + "\n\n", "", 1).rstrip() + "\n\n" + paragraphs[0] + "\n"
    for text in (source, wrapped, moved):
        assert [str(f) for f in audit_one(path, text).faults] == []


@pytest.mark.parametrize(("source", "line"), [
    ("---\ntitle: A page\nhide: [toc]\n---\n\n\n# A page\n\nIt takes [= q(\"61 ms\", sync.one_gpu) =].\n", 9),
    ("---\r\ntitle: A page\r\nhide: [toc]\r\n---\r\n\r\n\r\n# A page\r\n\r\nIt takes [= q(\"61 ms\", sync.one_gpu) =].\r\n", 9),
    ("\ufeff---\ntitle: A page\n---\nIt takes [= q(\"61 ms\", sync.one_gpu) =].\n", 4),
    ("---\ntitle: A page\n...\nIt takes [= q(\"61 ms\", sync.one_gpu) =].\n", 4),
])  # fmt: skip
def test_the_line_is_that_of_the_file(source: str, line: int) -> None:
    [fault] = audit_one("docs/x.md", source).faults
    assert (
        str(fault)
        == f'docs/x.md:{line}:10: quotes 61 ms for sync.one_gpu, the model says 60 ms (0.06 s = 2·(4−1)·160 MB / 16 GB/s); write "60 ms"'
    )


pieces = st.sampled_from(
    [
        "---\n",
        "title: ",
        "title_quotes:\n  ",
        "60 ms",
        "&a ",
        "*a",
        "[",
        "]",
        "{",
        "}",
        "? ",
        ": ",
        "- ",
        "\n",
        "\n\n",
        "\t",
        "| ",
        ">-\n ",
        "'",
        '"',
        "#",
        "\x07",
        "!x ",
        "    ",
        "[= ",
        " =]",
        'q("60 ms", sync.one_gpu)',
        "sync.one_gpu",
        "q(",
        ")",
        "rel(",
        '"slower"',
        ", ",
        " / 0",
        " ** 2",
        "lambda: 1",
        "x.y.z",
        "f'{x}'",
        "[% ",
        " %]",
        "[##",
        "##]",
        "`",
        "```\n",
        "$",
        "$$",
        "<div>",
        "</div>",
        "<!--",
        "-->",
        "](",
        "![",
        "![a](b)",
        "## ",
        "{ .step #step-1 }",
        "===\n",
        "> ",
        "1. ",
        "!!! note\n",
        "&#54;",
        "\\",
        "**",
    ]
)


@settings(derandomize=True, deadline=None, max_examples=400)
@given(st.lists(pieces, max_size=25), st.booleans())
def test_any_page_is_audited_without_failing(parts: list[str], front: bool) -> None:
    source = ("---\n" if front else "") + "".join(parts)
    for fault in audit_one("docs/x.md", source).faults:
        assert 1 <= fault.line <= source.count("\n") + 1
        assert "\n" not in str(fault)
    for fault in audit_one(CONFIG, "site_name: " + "".join(parts)).faults:
        assert fault.path == CONFIG


def test_an_alias_that_holds_itself_is_read_once() -> None:
    assert [f.message for f in audit_one("docs/x.md", "---\ntitle: &a [*a, 60 ms]\n? [x]\n: y\n---\n").faults] == [
        "the front matter holds title, description, title_quotes, hide, search; got a key of several parts",
        'a naked number in the title: 60 ms; declare it under title_quotes: "60 ms": name',
    ]


def test_all_faults_of_all_pages_come_out_in_one_run() -> None:
    page = '---\ntitle: A page\n---\nIt takes [= q("61 ms", sync.one_gpu) =].\n\nAnd [= q("81 ms", sync.cpu) =].\n'
    found = audit_sources(overrides={"docs/one.md": page, "docs/two.md": page.replace("61", "62")}).faults
    assert [f"{f.path}:{f.line}" for f in found if f.path in ("docs/one.md", "docs/two.md")] == [
        "docs/one.md:4",
        "docs/one.md:6",
        "docs/two.md:4",
        "docs/two.md:6",
    ]


def test_a_macro_that_raises_is_one_line_and_the_rest_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    def bad(name: str) -> None:
        raise KeyError(name)

    evaluator = Evaluator(LEDGER, {**CALLABLE, "figure": bad})
    found = audit_one("docs/x.md", f'{FRONT}[= figure("ring") =]\n\n[= q("61 ms", sync.one_gpu) =]\n', evaluator).faults
    assert [str(f).split(";")[0] for f in sorted(found)] == [
        "docs/x.md:4:1: figure(…) failed: KeyError: 'ring'",
        str(sorted(found)[1]).split(";")[0],
    ]
    assert sorted(found)[1].line == 6


@pytest.mark.parametrize(("part", "says"), [
    ("It is one.\n{ .lede }\n\n", "an act has a first paragraph that says what it is about, with { .lede } on the line below it"),
    ("And goes on.\n{ .bridge }\n\n", "an act has a last paragraph that leads to the next act, with { .bridge } on the line below it"),
    ('[= credit("13.7") =]\n', 'an act ends with the section of the book it is adapted from: [= credit("13.7") =]'),
    ("# A page { #page }\n", "an act begins with its title: # A page"), ("title: A page\n", "an act has a line title: between its two lines ---: the menu shows it"),
    ("description: A page for a test.\n", "an act has a line description: between its two lines ---: the home page shows it"),
])  # fmt: skip
def test_an_act_without_one_of_its_parts_is_refused_and_another_page_is_not(part: str, says: str) -> None:
    page = SMALL.replace(part, "", 1)
    assert page != SMALL
    [fault] = audit_one("docs/acts/7-next.md", page).faults
    assert fault.message == says
    assert audit_one("docs/next.md", page).faults == []


def test_the_act_that_the_guide_for_authors_shows_has_all_its_parts() -> None:
    guide = source_of("AUTHORING.md")
    [act] = re.findall(r"^```text\n(---\n.*?)^```", guide, re.MULTILINE | re.DOTALL)
    step = act.replace("…\n\n## Check", 'Look.\n{ .notice }\n\n[= figure("sync-ring") =]\n\n## Check')
    assert step != act
    assert [str(f) for f in audit_one("docs/acts/7-name.md", step).faults] == []


LINKS = [
    ("9-none.md", "9-none.md leads nowhere: there is no file docs/acts/9-none.md; did you mean"), ("../numbres.md", "did you mean ../numbers.md?"), ("x.png", "there is no file docs/acts/x.png"),
    ("6-allreduce.md#chekc", "docs/acts/6-allreduce.md has no place #chekc; did you mean #check?"), ("#nope", "docs/acts/2-queue.md has no place #nope"), ("9-none.html", "there is no file docs/acts/9-none.html"),
]  # fmt: skip


def test_a_link_that_leads_nowhere_is_named_with_its_line() -> None:
    forms = ("See [it]({}).", "See ![it]({}).", 'See <a href="{}">it</a>.', "See [it][there{n}].\n\n[there{n}]: {}")
    source, expected = source_of(ACT2).rstrip() + "\n", []
    for n, (address, says) in enumerate(LINKS):
        for form in forms:
            source += "\n" + form.replace("{n}", str(n)).format(address) + "\n"
            at = source.rindex(address)
            expected.append((source.count("\n", 0, at) + 1, at - source.rfind("\n", 0, at), says))
    found = audit_sources(overrides={ACT2: source}).faults
    assert [(f.path, f.line, f.column) for f in found] == [(ACT2, line, column) for line, column, _ in expected]
    assert [f.message for f, (_, _, says) in zip(found, expected, strict=True) if says not in f.message] == []


def test_links_that_lead_somewhere_are_silent() -> None:
    places = (
        "6-allreduce.md", "../numbers.md#sync.one_gpu", "#step-1", "6-allreduce.md#check", "../assets/site.css", "https://d2l.ai/none", "mailto:a@b.c", "#fig-queue-depth", "6-allreduce.html",
        "../code/multiple_gpus.py", "../index.md#start-here", "#act-2-the-queue-behind-your-code",
    )  # fmt: skip
    source = source_of(ACT2) + "\n" + " ".join(f"[it]({place})" for place in places)
    assert [str(f) for f in audit_sources(overrides={ACT2: source}).faults] == []


def test_a_page_outside_the_menu_is_named_and_so_is_what_the_menu_lists_and_is_none() -> None:
    config = source_of(CONFIG)
    found = audit_sources(overrides={CONFIG: config.replace("acts/2-queue.md", "acts/2-quue.md")}).faults
    line = config[: config.index("acts/2-queue.md")].count("\n") + 1
    assert [str(f) for f in found] == [
        f'{ACT2}:1:1: no menu leads to this page: add a line "- acts/2-queue.md" under nav: in mkdocs.yml, where it belongs',
        f"mkdocs.yml:{line}:5: there is no page docs/acts/2-quue.md; did you mean acts/2-queue.md?",
    ]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "cp1252", "utf-32"])
def test_a_page_that_is_not_utf_8_is_named_and_the_rest_is_read(tmp_path: Path, encoding: str) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "a.md").write_bytes("---\ntitle: Ä page\n---\nIt takes 61 ms.\n".encode(encoding))
    (folder / "b.md").write_text(f"{FRONT}It takes 61 ms.\n", encoding="utf-8")
    before = (folder / "a.md").read_bytes()
    found = audit_sources(docs=folder).faults
    assert str(found[0]) == "docs/a.md:1:1: this page is not saved as UTF-8: save it again with that encoding"
    assert [(f.path, f.line) for f in found[1:]] == [("docs/b.md", 4)]
    apply_fixes(folder)
    assert (folder / "a.md").read_bytes() == before


def test_a_year_in_a_title_may_be_declared_with_its_reason() -> None:
    page = '---\ntitle: Since 2017\ndescription: More of 4 May 2024.\ntitle_quotes:\n  "2017": plain, a year\n  4 May 2024: plain, a date\n---\n\n# Since [= plain("2017", why="a year") =] { #x }\n'
    audit = audit_one("docs/x.md", page)
    assert [str(f) for f in audit.faults] == []
    assert [use.why for use in audit.uses if use.kind == "e"] == ["a year", "a year", "a date"]


def suggested(message: str) -> list[str]:
    """The calls that a message suggests, with right names put in."""
    first, second = ("sync.gpus", "scale.two") if "many" in message else ("sync.one_gpu", "sync.cpu")
    calls = re.findall(r"\[= (.*?) =\]", message)
    return [re.sub(r"\bname\b|\bfirst\b", first, re.sub(r"\bsecond\)", f"{second})", call)) for call in calls]


@pytest.mark.parametrize("fault", NAKED, ids=[fault.name for fault in NAKED])
def test_every_call_that_a_message_suggests_can_be_read(fault: Planted) -> None:
    planted = plant(fault, source_of(fault.file) if fault.old else SMALL)
    for found in audit_one(fault.file, planted.text).faults:
        for call in suggested(found.message):
            wrong = [f for f in audit_one("docs/x.md", f"{FRONT}\nIt is [= {call} =].\n").faults if f.sort == "broken"]
            assert [str(f) for f in wrong] == [], (found.message, call)


# Every call of every act


def mutated(path: str, pattern: str, change: Callable[[re.Match[str]], str | None]) -> tuple[str, set[tuple[int, int]]]:
    """The page with every call that `pattern` finds changed, and where those calls then begin. `change` returns None to leave one alone."""
    source = source_of(path)
    out, at, starts = "", 0, set()
    for found in re.finditer(pattern, source):
        new = change(found)
        if new is None or new == found[0]:
            continue
        out += source[at : found.start()]
        starts.add((out.count("\n") + 1, len(out) - (out.rfind("\n") + 1) + 1))
        out += new
        at = found.end()
    return out + source[at:], starts


QUOTED = r"\[= qt?\(\"(?P<words>[^\"]*)\", (?P<name>[^\"=]*?)\) =\]"


def drifted(path: str, source: str) -> set[tuple[int, int]]:
    return places([f for f in audit_one(path, source).faults if f.sort == "drifted"])


@pytest.mark.parametrize("path", ACTS)
@pytest.mark.parametrize("which", [0, -1], ids=["first digit", "last digit"])
@pytest.mark.parametrize("by", [1, 4, 9])
def test_every_quote_of_every_act_is_caught_with_a_digit_changed(path: str, which: int, by: int) -> None:
    def change(found: re.Match[str]) -> str | None:
        digits = [m.start() for m in re.finditer(r"[0-9]", found["words"])]
        if not digits or re.search(r"<|>|≤|≥|under|over|least|most|than", found["words"]):
            return None
        at = digits[which]
        words = found["words"][:at] + str((int(found["words"][at]) + by) % 10) + found["words"][at + 1 :]
        return found[0].replace(f'"{found["words"]}"', f'"{words}"')

    source, starts = mutated(path, QUOTED, change)
    assert len(starts) > 10
    assert places(audit_one(path, source).faults) == starts


# Units far enough apart that no rounding can make both right: 1 KB is 1 KiB, to one digit.
OTHER_UNIT = {
    "ms": "s", "s": "ms", "µs": "ns", "ns": "µs", "KB": "MB", "MB": "GB", "MiB": "GiB", "GB": "MB", "TB": "GB", "GB/s": "Gbit/s", "Gbit/s": "GB/s", "MB/s": "Mbit/s", "×": "%",
    "%": "×", "ticks": "ms", "tick": "s", "megabyte": "gigabyte", "TFLOP/s": "GFLOP/s", "GFLOP": "TFLOP", "days": "h", "h": "min", "IOPS": "ticks",
}  # fmt: skip


@pytest.mark.parametrize("path", ACTS)
def test_every_unit_of_every_act_is_caught_when_swapped(path: str) -> None:
    def change(found: re.Match[str]) -> str | None:
        unit = re.search(
            r"(?<=[0-9 -])(?:" + "|".join(sorted(map(re.escape, OTHER_UNIT), key=len, reverse=True)) + ")$", found["words"]
        )
        if not unit or re.search(r"<|>|≤|≥|under|over|least|most|than|^0\.?0* ", found["words"]):
            return None
        return found[0].replace(f'"{found["words"]}"', f'"{found["words"][: unit.start()]}{OTHER_UNIT[unit[0]]}"')

    source, starts = mutated(path, QUOTED, change)
    assert starts
    assert drifted(path, source) == starts


WORDS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen"]


@pytest.mark.parametrize("path", ACTS)
def test_every_number_word_of_every_act_is_caught_when_changed(path: str) -> None:
    def change(found: re.Match[str]) -> str | None:
        word = re.match(r"[A-Za-z]+", found["words"])
        if not word or word[0].lower() not in WORDS[:-1]:
            return None
        new = WORDS[WORDS.index(word[0].lower()) + 1]
        return found[0].replace(f'"{word[0]}', f'"{new.capitalize() if word[0][0].isupper() else new}', 1)

    source, starts = mutated(path, QUOTED, change)
    assert drifted(path, source) == starts


OPPOSITE = {
    "slower": "faster", "more": "less", "greater": "less", "larger": "smaller", "longer": "shorter", "later": "earlier", "slowest": "fastest", "largest": "smallest",
    "longest": "shortest", "most": "least", "the same": "more", "higher": "lower", "wider": "narrower", "fewer": "more", "cheaper": "more",
}  # fmt: skip
OPPOSITE.update({b: a for a, b in OPPOSITE.items() if a != "the same" and b not in OPPOSITE})


def test_every_relation_of_every_act_is_caught_when_turned() -> None:
    total = 0
    for path in ACTS:

        def change(found: re.Match[str]) -> str:
            return found[0].replace(
                f'"{found[1]}"',
                f'"{OPPOSITE[found[1].lower().removesuffix(" than").removeprefix("the ") if found[1] != "the same" else found[1]]}"',
                1,
            )

        source, starts = mutated(path, r"\[= rel\(\"([^\"]*)\", [^\"=]*?\) =\]", change)
        total += len(starts)
        assert drifted(path, source) == starts
    assert total >= 4


@pytest.mark.parametrize("path", ACTS)
def test_every_quote_with_a_digit_is_caught_when_it_is_typed_bare(path: str) -> None:
    """A call taken away leaves a naked number, wherever it stood."""

    def change(found: re.Match[str]) -> str | None:
        return found["words"] if re.search("[0-9]", found["words"]) else None

    source, starts = mutated(path, QUOTED, change)
    found = places([f for f in audit_one(path, source).faults if f.sort == "unbound"])
    # A range typed bare is found at both its ends; a bound at its number.
    assert all(any(line == at_line and abs(column - at) < 24 for at_line, at in found) for line, column in starts)
    assert len(found) >= len(starts) * 9 // 10


@pytest.mark.parametrize("path", ACTS)
def test_every_name_of_every_act_is_caught_when_misspelt(path: str) -> None:
    source, starts = mutated(path, QUOTED, lambda m: re.sub(r"([a-z]\w*\.\w+)([^=]*=\])$", r"\1x\2", m[0]))
    found = audit_one(path, source).faults
    assert places([f for f in found if "not a number of the book" in f.message]) == starts


# The book


def rebuilt(monkeypatch: pytest.MonkeyPatch, changes: dict[str, tuple[str, str]] | None = None) -> Ledger:
    """The book made again from its sources, with texts changed: module -> (old, new)."""
    fresh = Ledger()
    monkeypatch.setattr("perfmodel.book.ledger.LEDGER", fresh)
    for name in importlib.import_module("perfmodel.book").__all__:
        if name == "LEDGER":
            continue
        path = ROOT / "perfmodel" / "book" / f"{name}.py"
        source = path.read_text(encoding="utf-8")
        old, new = (changes or {}).get(name, ("", ""))
        assert old in source
        exec(compile(source.replace(old, new, 1) if old else source, str(path), "exec"), {"__name__": f"perfmodel.book.{name}"})
    for number in LEDGER:
        if not number.path.startswith(BOOK):  # entered by others, from records
            fresh._add(number)
    return fresh


def test_the_book_made_again_is_the_book(monkeypatch: pytest.MonkeyPatch) -> None:
    assert {n.name: n.value for n in rebuilt(monkeypatch)} == {n.name: n.value for n in LEDGER}


SAID = [  # the words of scale.ring_eight, whose ring has eight GPUs and a gradient of 160 MB, and what is named in them
    ("the ring over eight GPUs", ""),
    ("the ring over 8 GPUs, 160 MB", ""),
    ("the largest ring, one of 17.5 ms", ""),
    ("Send 4 KB over 100 Gbps fabric, and the other rungs", ""),
    ("the ring over nine GPUs", "nine GPUs"),
    ("the ring over 9 GPUs", "9"),
    ("a ring of eight, 161 MB", "161 MB"),
    ("a ring of eight, 160 GB", "160 GB"),
    ("the ring over eight GPUs, twice as long", "twice"),
]


@pytest.mark.parametrize(("says", "wrong"), SAID, ids=[says for says, _ in SAID])
def test_a_number_in_the_words_of_the_book_is_one_that_its_number_is_made_of(says: str, wrong: str) -> None:
    ring = replaced(book()["scale.ring_eight"], says=says)
    faults = [*check_says([ring])]
    assert [(f.path, f.line, f.message.split('"')[1]) for f in faults] == ([(ring.path, ring.line, wrong)] if wrong else [])
    assert all("scale.eight = 8" in f.message for f in faults)


def test_a_count_that_changes_is_seen_in_the_words_that_repeat_it() -> None:
    ring = book()["scale.ring_eight"]
    fewer = {symbol: replaced(part, value=4) if part.name == "scale.eight" else part for symbol, part in ring.inputs.items()}
    assert [f.message.split('"')[1] for f in check_says([replaced(ring, inputs=fewer)])] == ["eight GPUs"]
    assert [*check_says(book())] == []


def test_a_given_changed_by_one_per_cent_is_named_with_its_pin(monkeypatch: pytest.MonkeyPatch) -> None:
    old = '_given("sync.link", 16 * GB'
    source = source_of("perfmodel/book/act6.py")
    line = source[: source.index(old)].count("\n") + 1
    pin = [*source_of(PINS).split("\n")].index(next(row for row in source_of(PINS).split("\n") if row.startswith("sync.link,"))) + 1
    ledger = rebuilt(monkeypatch, {"act6": (old, '_given("sync.link", 16.16 * GB')})
    found = audit_sources(book=ledger).faults
    assert any(
        str(f).startswith(f"{BOOK}/act6.py:{line}:1: sync.link is 16.16 GB/s, but {PINS}:{pin} pins 16 GB/s (") for f in found
    )
    assert any(f.path == ACT6 and "for sync.link, the model says 16 GB/s" not in f.message for f in found)


def shifted(by: float) -> Ledger:
    """The givens of the book, each changed a little."""
    ledger = Ledger()
    for number in LEDGER:
        if number.kind == "given":
            values = number.value if isinstance(number.value, tuple) else (number.value,)
            moved = tuple(v * by if v else (by - 1) * 1e-12 for v in values)
            ledger.given(
                number.name, moved if isinstance(number.value, tuple) else moved[0], number.unit, number.says, number.source
            )
    return ledger


@pytest.mark.parametrize("by", [1.01, 0.99, 1.0000001, -1.0])
def test_every_given_is_caught_however_little_it_moves(by: float) -> None:
    found = [*check_book(shifted(by), ROOT / PINS)]
    assert {f.message.split(" ")[0] for f in found if " pins " in f.message} == {n.name for n in LEDGER if n.kind == "given"}
    assert [*check_book(shifted(1.0), ROOT / PINS)] == []


def test_a_pin_changed_missing_or_for_no_number_is_named(tmp_path: Path) -> None:
    pins = tmp_path / "given.csv"
    rows = source_of(PINS).split("\n")
    at = next(i for i, row in enumerate(rows) if row.startswith("sync.gradient,"))
    for new, says in (
        (rows[at].replace("160 MB", "161 MB"), "pins 161 MB"),
        (rows[at].replace("160 MB", "160 MiB"), "pins 160 MiB"),
        (None, "sync.gradient is given but not pinned"),
        (
            rows[at].replace("sync.gradient", "sync.gradeint"),
            "sync.gradeint is not a number of the book; did you mean sync.gradient?",
        ),
    ):
        pins.write_text("\n".join([*rows[:at], *([new] if new else []), *rows[at + 1 :]]), encoding="utf-8")
        found = [*check_book(LEDGER, pins, tmp_path)]
        assert any(says in f.message for f in found)
        assert len(found) == (2 if new and "gradeint" in new else 1)


EXEMPTS = '---\ntitle: Since 2017\ntitle_quotes:\n  "2017": plain, a year\n---\n\nIn [= plain("ten, or so", why="a guess") =] and [= plain("ten, or so", why="a guess") =].\n'


@pytest.mark.parametrize(("old", "new", "expected"), [
    ("", "", []),
    ('plain("ten,', 'plain("six,', ['docs/x.md:7:4: exempts "six, or so", a guess; nothing holds them: add the line docs/x.md,"six, or so",a guess to verify/expected/plain.csv']),
    (' and [= plain("ten, or so", why="a guess") =]', "", []),
    ('ten, or so", why="a guess") =] and [= plain("ten, or so", why="a guess', 'six, or so", why="a guess', ['docs/x.md:7:4: exempts "six, or so", a guess; verify/expected/plain.csv:2 pins "ten, or so", a guess']),
    ("2017\": plain", "2018\": plain", ['docs/x.md:4:4: exempts "2018", a year; verify/expected/plain.csv:3 pins "2017", a year']),
    ("In [", "In [= plain(\"so, so\", why=\"a word\") =] [", ['docs/x.md:7:4: exempts "so, so", a word; nothing holds them: add the line docs/x.md,"so, so",a word to verify/expected/plain.csv']),
    ('In [= plain("ten, or so", why="a guess") =] and [= plain("ten, or so", why="a guess") =].', "In it.", ['verify/expected/plain.csv:2:1: docs/x.md does not exempt "ten, or so", a guess: take the line out']),
], ids=["as it is", "one of two", "one alone", "other words", "another year", "one more", "one less"])  # fmt: skip
def test_words_that_nothing_else_holds_are_pinned(tmp_path: Path, old: str, new: str, expected: list[str]) -> None:
    pins = tmp_path / "plain.csv"
    pins.write_text(
        'page,words,why\ndocs/x.md,"ten, or so",a guess\ndocs/x.md,2017,a year\ndocs/y.md,60,a page that is not asked for\n',
        encoding="utf-8",
    )
    audit = audit_one("docs/x.md", EXEMPTS.replace(old, new, 1 if "ten" in old else -1))
    assert [str(f) for f in check_exempt(auditing.exempt(audit), pins, audit.pages)][: len(expected) or 1] == expected


def test_a_pin_of_an_exemption_with_a_cell_too_few_is_named(tmp_path: Path) -> None:
    pins = tmp_path / "plain.csv"
    pins.write_text("page,words,why\ndocs/x.md,60\n", encoding="utf-8")
    assert [str(f) for f in check_exempt([], pins, ["docs/x.md"])] == [
        f"{EXEMPT}:2:1: a pin has three cells, page, words and why; got 2"
    ]


MODELS: list[tuple[str, Any, str, Callable[..., float], str]] = [
    # 2·(n−1) becomes 2·n, as a slip would have it: the page, the printed formula, or both must disagree
    ("2(n−1) for 2n in a closed form", collectives, "one_gpu_s", lambda *, gradient_bytes, gpus, link_bytes_per_s, **_: 2 * gpus * gradient_bytes / link_bytes_per_s, "sync.one_gpu"),
    ("a ring that forgets its last step", collectives, "ring_s", lambda *, gradient_bytes, gpus, link_bytes_per_s, latency_s=0.0, **_: (2 * (gpus - 1) - 1) * (latency_s + gradient_bytes / (gpus * link_bytes_per_s)), "sync.ring"),
    ("a transfer that is 1 % too long", kernels, "transfer_s", lambda size, rate, latency: 1.01 * size / rate + latency, "sync.hop"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "module", "function", "wrong", "number"), MODELS, ids=[m[0] for m in MODELS])
def test_a_model_that_slips_is_caught(
    monkeypatch: pytest.MonkeyPatch, name: str, module: Any, function: str, wrong: Callable[..., float], number: str
) -> None:
    monkeypatch.setattr(module, function, wrong)
    ledger = rebuilt(monkeypatch)
    book = [*check_book(ledger, ROOT / PINS)]
    assert any(f.message.startswith(f"{number}: its printed formula ") and f.path == f"{BOOK}/act6.py" for f in book)
    if "1 %" not in name:
        page = audit_one(ACT6, source_of(ACT6), Evaluator(ledger, CALLABLE)).faults
        assert any(f"for {number}, the model says " in f.message and f.sort == "drifted" for f in page)


def test_a_relation_left_behind_when_the_model_moves_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        collectives, "cpu_s", lambda *, gradient_bytes, gpus, link_bytes_per_s, **_: gradient_bytes / link_bytes_per_s
    )
    page = f'{FRONT}It is [= rel("slower", sync.cpu, sync.one_gpu) =].'
    assert audit_one("docs/x.md", page).faults == []
    [fault] = audit_one("docs/x.md", page, Evaluator(rebuilt(monkeypatch), CALLABLE)).faults
    assert (
        fault.message
        == '"slower" does not hold: sync.cpu is 10 ms and sync.one_gpu is 60 ms (sync.cpu < sync.one_gpu); write "faster"'
    )


# The words of figures and tables, which stand in Python


def figures_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: str, old: str, new: str) -> tuple[int, int]:
    """The module of figures with a text changed, in use; the line and the column of the marked place."""
    file = Path("macros", "figures", f"{module}.py")
    source = source_of(file.as_posix())
    assert source.count(old) >= 1, f"{file} must hold {old!r}"
    text = source.replace(old, new, 1)
    before = text[: text.index(HERE)]
    copy = tmp_path / file
    copy.parent.mkdir(parents=True)
    copy.write_text(text.replace(HERE, ""), encoding="utf-8")
    space: dict[str, Any] = {"__name__": f"macros.figures.{module}"}
    exec(compile(copy.read_text(encoding="utf-8"), str(copy), "exec"), space)
    monkeypatch.setattr(figures, "_made", {})
    for name in ("FIGURES", "TABLES"):
        monkeypatch.setattr(figures, name, {**getattr(figures, name), **space[name]})
    return before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1


IN_PYTHON = [
    # (what, module, call of a page, old, new, message)
    ("a title", "act6", 'figure("sync-one-gpu")', '[= q("60 ms", sync.one_gpu) =]', HERE + '[= q("61 ms", sync.one_gpu) =]', 'the model says 60 ms'),
    ("a naked number in a title", "act6", 'figure("sync-one-gpu")', '[= q("60 ms", sync.one_gpu) =]', f"{HERE}60 ms", "a naked number: 60 ms"),
    ("an alt text", "act6", 'figure("sync-one-gpu")', '[= q("30 ms", sync.one_gpu_half) =]', HERE + '[= q("31 ms", sync.one_gpu_half) =]', 'write "30 ms"'),
    ("a misspelt name", "act6", 'figure("sync-one-gpu")', "sync.one_gpu_half) =]", "sync.one_gpu_hafl) =]", "did you mean sync.one_gpu_half?"),
    ("a caption", "act2", 'figure("queue-depth")', "Each pending task holds memory", f"Each {HERE}4 pending tasks hold memory", "a naked number: 4"),
    ("backticks hide nothing", "act2", 'figure("queue-depth")', "Each pending task holds memory", f"Each of `{HERE}4 ms` holds memory", "a naked number: 4 ms"),
    ("a tag hides nothing", "act2", 'figure("queue-depth")', "Each pending task holds memory", f"Each <b {HERE}4 ms> holds memory", "a naked number: 4 ms"),
    ("words", "act2", 'figure("queue-depth")', "Each pending task holds memory", f"Holds {HERE}twice the memory", "a multiple in words: twice"),
    ("the head of a table", "act2", 'table("blockers")', '"What Python gets"', f'"What Python gets in {HERE}4 ms"', "a naked number: 4 ms"),
    ("a cell of a table", "act2", 'table("blockers")', '"the values, as text"', f'"the {HERE}4 values"', "a naked number: 4"),
]  # fmt: skip


@pytest.mark.parametrize(("what", "module", "call", "old", "new", "says"), IN_PYTHON, ids=[f[0] for f in IN_PYTHON])
def test_the_words_of_figures_and_tables_are_held_to_the_same_rules(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str, module: str, call: str, old: str, new: str, says: str
) -> None:
    if HERE not in new:  # the fault is at the call, which begins before the text that is changed
        source = source_of(f"macros/figures/{module}.py")
        start = source.rindex("[= ", 0, source.index(old))
        old, new = source[start : source.index(old) + len(old)], HERE + source[start : source.index(old)] + new
    line, column = figures_with(tmp_path, monkeypatch, module, old, new)
    found = audit_one("docs/x.md", f"{FRONT}x\n\n[= {call} =]\n").faults
    assert [(f.path, f.line, f.column) for f in found] == [(f"macros/figures/{module}.py", line, column)], [str(f) for f in found]
    assert says in found[0].message


def test_a_text_with_computed_parts_is_named_where_it_begins(tmp_path: Path) -> None:
    file = tmp_path / "x.py"
    file.write_text('a = f"It ends {n}"\nb = (\n    f"It takes {n} at "\n    f"most, {m} ms."\n)\n', encoding="utf-8")
    assert _places("It takes 7 at most, 8 ms.", file)(3) == (3, 5)
    assert _places("It ends here", file)(3) == (1, 5)
    assert _places("It begins 7", file)(3) == (1, 1)  # nowhere in it


def test_a_figure_on_two_pages_is_named_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    figures_with(tmp_path, monkeypatch, "act2", "Each pending task holds memory", f"Each of {HERE}4 ms holds memory")
    page = f'{FRONT}[= figure("queue-depth") =]\n\n[= figure("queue-depth") =]\n'
    assert len(audit_one("docs/x.md", page).faults) == 1


def test_the_words_of_a_call_are_read_too() -> None:
    [fault] = audit_one("docs/x.md", '[= table("blockers", title="In 60 ms") =]\n').faults[:1]
    assert "title" in fault.message


# make fix


@pytest.mark.parametrize(("old", "new", "fix"), [
    ("61 ms", "60 ms", "60 ms"), ("61\u00a0ms", "60 ms", "60\u00a0ms"), ("about 61 ms", "about 60 ms", "about 60 ms"), ("12,345", "54321", "54321"), ("9.9 ms", "10.1 ms", "10.1 ms"),
    ("10–21 ms", "10–20 ms", "10–20 ms"), ("[3, 4]", "[3, 3]", "[3, 3]"), ("161-megabyte", "160-megabyte", "160-megabyte"), ("5 μs", "6 µs", "6 μs"), ("60 s", "60 ms", ""), ("five", "four", ""),
    ("-60 ms", "60 ms", ""), ("60", "60 ms", ""), ("10–20 ms", "10 ms", ""), ("twice", "4×", ""), ("1 tick", "3 ticks", ""), ("10⁻¹⁵", "10^-12", ""), ("", "60 ms", ""),
])  # fmt: skip
def test_a_fix_changes_digits_and_nothing_else(old: str, new: str, fix: str) -> None:
    assert digits_only(old, new) == fix


FIXED = """---
title: A page
---

# A page { #page }

It takes [= q("61 ms", sync.one_gpu) =] and [= q('81 ms', sync.cpu) =], [= q("about 16 ms", sync.ring) =].
On [= q("five", sync.gpus) =] GPUs it is [= rel("faster", sync.cpu, sync.one_gpu) =]; [= q("60 s", sync.one_gpu) =]; 61 ms; [= q("61 ms", sync.one_gpuu) =].
`61 ms` and [= q("10-21 ms",
  scale.ring_two, sync.limit) =].
"""
AFTER = FIXED.replace('q("61 ms", sync.one_gpu) =] and', 'q("60 ms", sync.one_gpu) =] and').replace("81 ms", "80 ms").replace("about 16", "about 15").replace("10-21", "10-20")  # fmt: skip


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "page.md").write_text(FIXED, encoding="utf-8")
    (folder / "good.md").write_text('It takes [= q("60 ms", sync.one_gpu) =].\n', encoding="utf-8")
    (folder / "windows.md").write_bytes(b'x\r\n\r\nIt takes [= q("61 ms", sync.one_gpu) =].\r\n')
    return folder


def test_make_fix_rewrites_digits_and_shows_what_changed(docs: Path) -> None:
    diff = apply_fixes(docs)
    assert (docs / "page.md").read_text(encoding="utf-8") == AFTER
    assert (docs / "windows.md").read_bytes() == b'x\r\n\r\nIt takes [= q("60 ms", sync.one_gpu) =].\r\n'
    assert (docs / "good.md").read_text(encoding="utf-8") == 'It takes [= q("60 ms", sync.one_gpu) =].\n'
    assert "--- docs/page.md\n+++ docs/page.md\n" in diff
    changed = [line for line in diff.split("\n") if re.match(r"[-+][^-+]", line)]
    assert sorted(line[0] for line in changed) == list("+++---")
    assert all(re.sub(r"\d", "", a[1:]) == re.sub(r"\d", "", b[1:]) for a, b in zip(changed[::2], changed[1::2], strict=True))


def test_make_fix_leaves_what_digits_cannot_mend(docs: Path) -> None:
    apply_fixes(docs)
    again = audit_sources(docs=docs).faults
    assert {f.fix for f in again} == {""}
    assert len([f for f in again if f.path == "docs/page.md"]) == 6
    assert apply_fixes(docs) == ""


def test_a_fix_that_would_change_words_is_refused() -> None:
    page = scan("docs/x.md", '[= q("61 ms", sync.one_gpu) =]')
    for old, fix in (("61 ms", "60 s"), ("61 ms", "sixty ms"), ("62 ms", "60 ms"), ("61 ms", '60", sync.cpu')):
        with pytest.raises(ValueError, match="a fix changes digits only"):
            fixed(page, [Fault("docs/x.md", 1, 1, "x", "drifted", old, fix)])
    assert fixed(page, [Fault("docs/y.md", 1, 1, "x", "drifted", "61 ms", "60 ms")]) == page.source


def test_the_command_says_how_it_is_used(capsys: pytest.CaptureFixture[str]) -> None:
    assert auditing.main(["--help"]) == 2
    assert "usage: python -m macros.audit [--fix], got --help" in capsys.readouterr().err


def test_make_fix_is_a_command(docs: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    fix, audit = apply_fixes, audit_sources
    monkeypatch.setattr(auditing, "apply_fixes", lambda: fix(docs))
    monkeypatch.setattr(auditing, "audit_sources", lambda **_: audit(docs=docs))
    assert auditing.main(["--fix"]) == 1
    out = capsys.readouterr().out
    assert '+It takes [= q("60 ms", sync.one_gpu) =]' in out
    assert "docs/page.md:8:4: quotes five for sync.gpus" in out
    assert out.rstrip().split("\n")[-1].startswith("numbers   ")


def test_make_numbers_ends_with_the_coverage_line() -> None:
    done = subprocess.run([sys.executable, "-m", "macros.audit"], cwd=ROOT, capture_output=True, text=True, check=False)
    lines = done.stdout.strip().split("\n")
    assert re.fullmatch(
        r"numbers   \d+ quoted: \d+ computed, \d+ given, \d+ run, \d+ measured; \d+ relations?; \d+ plain; \d+ unbound, \d+ drifted(, \d+ broken)?",
        lines[-1],
    )
    assert done.returncode == (1 if lines[:-1] else 0), done.stdout


def test_the_sources_are_clean() -> None:
    assert [str(fault) for fault in audit_sources().faults] == []


def test_the_second_act_quotes_its_own_numbers() -> None:
    uses = [use for use in audit_one(ACT2, source_of(ACT2)).uses if use.kind == "q"]
    assert len(uses) > 20
    assert all(use.page == ACT2 and use.line for use in uses)


# Messages in full, for an author reads all of their words.
WHOLE = {
    "curly quotes": 'curly quotes in [= q(“60 ms”, sync.one_gpu) =]: write straight ones, "…"',
    "a statement": "a page holds calls, not statements: [% … %] belongs in a macro",
    "raw": "a page holds calls, not statements: [% … %] belongs in a macro",
    "an open statement": "a page holds calls, not statements: [% … %] belongs in a macro",
    "an open Jinja comment": "a comment is never closed: it ends with ##]",
    "an open HTML comment": "a comment is never closed: it ends with -->",
    "an empty call": "an empty call: write [= q(…) =] or take it away",
    "a bare text": '[= "60 ms" =] must call one macro, with the words on the page: [= q("60 ms", sync.one_gpu) =]',
    "no arguments": "q(…) missing 1 required positional argument: 'words': it is called as q(\"60 ms\", sync.one_gpu)",
    "an unknown argument": "q(…) got an unexpected keyword argument 'unit': it is called as q(\"60 ms\", sync.one_gpu)",
    "an unbalanced quote": '[= q("60 ms, sync.one_gpu) =] opens a quote that it does not close: every " needs its partner',
    "q in a formula": "q(…) cannot stand in a formula: use formula(name, numbers=True), or write the number beside the formula",
    "a heading without an id": "a heading with a number needs an id of its own, or the number enters the URL: { #short-name }",
    "plain without why": 'plain("1985") must say why it is bound to nothing: plain("1985", why="a year")',
    "plain of nothing": 'plain("…", why="…") needs the words that the page shows',
    "symbols with a result": "formula(…) shows a result only with numbers=True",
    "formula of a sum": "formula(…) takes one number of the book, such as sync.one_gpu",
    "formula of a given": "sync.gradient has no formula: it is given (Dive into Deep Learning, section 13.7)",
    "a fold in curly quotes": 'a fold is written ??? question "…", with straight quotes, and its text is indented by four blanks',
    "a note in curly quotes": 'a note is written !!! note "…", with straight quotes, and its text is indented by four blanks',
    "a tab without quotes": 'a tab is written === "…", with straight quotes, and its text is indented by four blanks',
    "a list without a blank line": "leave a blank line above the list",
    "no front matter": "a page begins with ---, title: and description:, and ---, each on a line of its own",
    "a call in the front matter": "the front matter holds no calls: write the number, and declare it under title_quotes",
    "title_quotes without names": 'title_quotes holds one line a number: "160-megabyte": sync.gradient',
}  # fmt: skip


@pytest.mark.parametrize("name", WHOLE)
def test_a_message_is_said_in_full(name: str) -> None:
    [fault] = [fault for fault in PLANTED if fault.name == name]
    planted = plant(fault, source_of(fault.file) if fault.old else SMALL)
    assert WHOLE[name] in [
        f.message for f in audit_one(fault.file, planted.text).faults if (f.line, f.column) == (planted.line, planted.column)
    ]


STEP = '\n## Walk { .step #step-1 }\n\nFrom far away.\n{ .notice }\n\n[= figure("sync-ring") =]\n'


@pytest.mark.parametrize(("path", "old", "new", "says"), [
    (ACT6, '[= figure("sync-ring") =]', "And on.", "a step needs a figure or a table: [= figure(…) =]"),
    (ACT6, "{ .notice }\n", "", "a step needs a line that says what to notice, ending with { .notice } on the next line"),
    (ACT6, "#step-1", "#step-2", "this is step 1 of the page: its heading ends with { .step #step-1 }"),
    ("docs/module/1-x.md", '[= credit("13.7") =]', "", "a page of the module ends with whose words it has: [= credit() =]"),
    ("docs/module/1-x.md", "", "", "a page of the module is adapted from no section of the book: [= credit() =]"),
    ("docs/module/1-x.md", "{ .lede }\n", "", "a page of the module has a first paragraph that says what it is about, with { .lede } on the line below it"),
    ("docs/module/1-x.md", "{ .bridge }\n", "", "a page of the module has a last paragraph that leads on, with { .bridge } on the line below it"),
    ("docs/module/1-x.md", "# A page { #page }\n", "", "a page of the module begins with its title: # A page"),
    ("docs/module/1-x.md", "description: A page for a test.\n", "", "a page of the module has a line description: between its two lines ---: the home page shows it"),
])  # fmt: skip
def test_what_a_page_in_steps_lacks_is_said_in_full(path: str, old: str, new: str, says: str) -> None:
    page = SMALL + STEP
    assert old in page
    faults = [f.message for f in audit_one(path, page.replace(old, new, 1) if old else page).faults]
    of_the_credit = "a page of the module is adapted from no section of the book: [= credit() =]"
    assert [says] == [f for f in faults if f != of_the_credit or says == of_the_credit]


@pytest.mark.parametrize(("call", "words"), [
    ('q("60 ms", sync.one_gpu)', "60 ms"), ("q( '60 ms', sync.one_gpu)", "60 ms"), ('q(\n"a \\" b", x.y)', 'a \\" b'), ('figure("x", "y")', "x"), ("q(sync.one_gpu)", None), ('q("", x.y)', ""), ("sync.one_gpu", None),
])  # fmt: skip
def test_the_words_of_a_call_as_they_stand(call: str, words: str | None) -> None:
    page = scan("docs/x.md", f'{FRONT}Not ("here"), but [= {call} =] and ("there").\n')
    assert page.calls[0].source == call
    start = page.source.index("(", page.source.index("[=")) if words is not None else 0
    assert literal(page, page.calls[0]) == (
        (page.source.index(words or '"', start) + (not words), words) if words is not None else (0, "")
    )


@pytest.mark.parametrize(("old", "new", "fix"), [
    ("61 ms", "60 ms", "60 ms"), ("about  61\u00a0ms", "about 60 ms", "about  60\u00a0ms"), ("10-21 ms", "10-20 ms", "10-20 ms"), ("12,345", "54,321", "54,321"), ("999", "1,000", "1,000"), ("1.5×10^3 B", "2.5×10^4 B", "2.5×10^4 B"),
    ("61 ms", "60 s", ""), ("4×", "4", ""), ("five", "four", ""), ("1.5×10³ B", "2.5×10^4 B", ""), ("61", "60 ms", ""), ("-61", "60", ""), ("[1, 2]", "[3, 4]", "[3, 4]"),
])  # fmt: skip
def test_digits_alone_are_changed(old: str, new: str, fix: str) -> None:
    assert digits_only(old, new) == fix


def test_each_wrong_quote_of_a_page_is_mended_where_it_stands() -> None:
    source = f'{FRONT}A [= q("61 ms", sync.one_gpu) =], [= q("61 ms", sync.one_gpu) =] and [= q("999", many.tasks) =].\n\nAnd [= q("81 ms", sync.cpu) =], [= q("five", sync.gpus) =].\n'
    audit = audit_one("docs/x.md", source)
    assert fixed(audit.pages["docs/x.md"], audit.faults) == source.replace("61 ms", "60 ms").replace("999", "10,000").replace(
        "81 ms", "80 ms"
    )
    other = [Fault("docs/y.md", 4, 3, "", "drifted", "61 ms", "60 ms"), Fault("docs/x.md", 4, 4, "", "drifted", "61 ms", "60 ms")]
    assert fixed(audit.pages["docs/x.md"], other) == source
    for old, fix in (("61 ms", "60 s"), ("62 ms", "60 ms")):
        with pytest.raises(ValueError, match=rf"^a fix changes digits only, got '{fix}' for '61 ms' at docs/x\.md:4:3$"):
            fixed(audit.pages["docs/x.md"], [Fault("docs/x.md", 4, 3, "", "drifted", old, fix)])


def test_the_places_of_a_page() -> None:
    page = scan(
        "docs/x.md",
        f"{FRONT}# The Queue: a `call`, again! {{ #queue .x }}\n\n## Two -  words\n\nA line.\n{{ #below }}\n\n<a id=\"raw\"></a> <b  id = 'one'> <i id=two>\n\nUnderlined\n---\n",
    )
    assert link_places(page) == {"queue", "below", "raw", "one", "two", "the-queue-a-call-again", "two-words", "underlined"}


@pytest.mark.parametrize(("link", "says"), [
    ("[it](y.md)", ""), ("[it](./z/../y.md)", ""), ("[it](y.html)", ""), ("[it](y.md#here)", ""), ("[it](#there)", ""), ("[it](y.md#fig-a)", ""), ("[it](#lab-a)", ""), ("[it](https://x.y/z)", ""),
    ("[it](//x.y/z)", ""), ("[it](/z)", ""), ("[it](mailto:a@b.c)", ""), ("[it](http://[x)", ""), ("[it](%79.md)", ""), ("[it](made.md#any)", ""), ("[it](doc.md#any)", ""), ("[it](lost.md#any)", ""), ("[it](../mkdocs.yml)", ""),
    ("[it](w.md)", "w.md leads nowhere: there is no file docs/w.md; did you mean y.md?"), ("[it](yy.md)", "yy.md leads nowhere: there is no file docs/yy.md; did you mean y.md?"), ("[it](madde.md)", "madde.md leads nowhere: there is no file docs/madde.md; did you mean made.md?"),
    ("[it](nothing.bin)", "nothing.bin leads nowhere: there is no file docs/nothing.bin"), ("[it](w.html)", "w.html leads nowhere: there is no file docs/w.html"), ("[it](y.md#hre)", "y.md#hre leads nowhere: docs/y.md has no place #hre; did you mean #here?"), ("[it](#zzz)", "#zzz leads nowhere: docs/x.md has no place #zzz"),
    ("[it](y.html#zzz)", "y.html#zzz leads nowhere: docs/y.md has no place #zzz"), ("[it](sub/deep)", "sub/deep leads nowhere: there is no file docs/sub/deep; did you mean sub/deeper.md?"),
])  # fmt: skip
def test_where_a_link_leads(tmp_path: Path, link: str, says: str) -> None:
    (tmp_path / "mkdocs.yml").touch()
    texts = {
        "docs/y.md": "# Here { #here }\n", "docs/made.md": "[= ledger() =]\n", "docs/doc.md": "\n::: perfmodel\n", "docs/lost.md": " \n", "docs/x.md": f"# There\n\nSee {link}.\n", "docs/sub/deeper.md": "# x\n",
    }  # fmt: skip
    pages = {path: scan(path, text) for path, text in texts.items()}
    assert [(f.message, f.line, f.sort) for f in check_links(pages["docs/x.md"], tmp_path, pages)] == (
        [(says, 3, "broken")] if says else []
    )


@pytest.mark.parametrize(("front", "found"), [
    ("title: ▸60 ms of it\n", ['a naked number in the title: 60 ms; declare it under title_quotes: "60 ms": name']),
    ("title: x\ndescription: It is of ▸4 May 2024\n", ['a date in the description: 4 May 2024; declare it under title_quotes: "4 May 2024": plain, a date']),
    ("title: Since ▸2017\n", ['a naked number in the title: 2017; declare it under title_quotes: "2017": plain, a year']), ("title: Since ▸2117\n", ['a naked number in the title: 2117; declare it under title_quotes: "2117": name']),
    ("title: It takes ▸10–20 ms\n", ["a naked number in the title: 10–20 ms; say it in the text, where it can be bound"]), ("title: It is ▸faster than that\n", ["a comparison in the title: faster than; say it in the text, where it can be bound"]),
    ("title: It ▸doubles\n", ["a multiple in words in the title: doubles; say it in the text, where it can be bound"]), ("title: All ▸eight tasks\n", ['a number in words before something the model counts in the title: eight tasks; declare it under title_quotes: "eight": name']),
    ("title: It takes ▸60 ms or more\ntitle_quotes:\n  60 ms: sync.one_gpu\n", ["a bound after a quote in the title: … or more; what stands under title_quotes must hold it"]),
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
    config = "nav:\n  - a.md\n  - B: sub/b.md\n  - aa.md\n  - zzzzzzzzzzzzzzzzzzzzzzzz.md\n  - https://x.y\nnot_in_nav: |\n  c.md\n  d.md\n"
    assert [*check_config("mkdocs.yml", config, ["docs/a.md", "docs/sub/b.md", "docs/c.md", "docs/e.md"])] == [
        Fault("docs/e.md", 1, 1, 'no menu leads to this page: add a line "- e.md" under nav: in mkdocs.yml, where it belongs'),
        Fault("mkdocs.yml", 4, 5, "there is no page docs/aa.md; did you mean a.md?"),
        Fault("mkdocs.yml", 5, 5, "there is no page docs/zzzzzzzzzzzzzzzzzzzzzzzz.md"),
    ]


@pytest.mark.parametrize(("expression", "value"), [
    ("2 + 3 * 4 - 6 / 3", 12), ("-3", -3), ("true", True), ("false", False), ("none", None), ("[1, 'a', (2, none)]", [1, "a", [2, None]]), ("'a'", "a"), ("1.5", 1.5), (" 2\n+ 3 ", 5),
])  # fmt: skip
def test_what_an_expression_is(expression: str, value: Any) -> None:
    found = EVALUATOR.value(expression)
    assert found == value
    assert type(found) is type(value) or isinstance(value, int)


@pytest.mark.parametrize(("expression", "says"), [
    ("sync.one_gpuu", "sync.one_gpuu is not a number of the book; did you mean sync.one_gpu?"), ("zzz.qqq", "zzz.qqq is not a number of the book; the Numbers page lists them all"), ("snyc.one_gpu + 1", "snyc.one_gpu is not a number of the book; did you mean sync.one_gpu?"),
    ("sync.one_gpu.x", "sync.one_gpu.x is not a number of the book; did you mean sync.one_gpu?"), ("plan", "plan is not a number of the book or a macro; did you mean plain?"), ("zzzzzzzz", "zzzzzzzz is not a number of the book or a macro"),
    ("1 +", "1 + cannot be read: invalid syntax"), ("1 / 0", "ZeroDivisionError: division by zero"), ("1 if true else 2", "1 if true else 2 cannot stand in a call: it holds names, texts, numbers and + - * /"),
    ("not 1", "not 1 cannot stand in a call: it holds names, texts, numbers and + - * /"), ("1 << 2", "a call combines numbers with + - * / only: 1 << 2"), ("2 ** 3", "a call combines numbers with + - * / only: 2 ** 3"), ("{1}", "{1} cannot stand in a call: it holds names, texts, numbers and + - * /"),
    ("plian('a')", "plian(…) is not a macro; did you mean plain?"), ("sync.one_gpu('a')", "sync.one_gpu(…) is not a macro: "), ("q(*sync.one_gpu)", "*sync.one_gpu cannot stand in a call: it holds names, texts, numbers and + - * /"),
    ("q('60 ms', **sync)", "q('60 ms', **sync) cannot stand in a call: it holds names, texts, numbers and + - * /"), ("sync.one_gpu + sync.gradient", "cannot add sync.one_gpu (a time) and sync.gradient (a size in bytes)"),
])  # fmt: skip
def test_what_an_expression_cannot_be(expression: str, says: str) -> None:
    with pytest.raises(QuoteError) as error:
        EVALUATOR.value(expression)
    assert str(error.value) == (says if not says.endswith(": ") else says + ", ".join(sorted(CALLABLE)))


@pytest.mark.parametrize(("call", "says"), [
    ("figure(sync-ring)", 'put the name in straight quotes: figure("sync-ring")'), ('figure("a", x.y)', 'put the name in straight quotes: figure("a", "x.y")'), ("table()", "table(…) missing 1 required positional argument: 'name': it is called as table(\"barriers\")"),
    ("figure()", "figure(…) missing 1 required positional argument: 'name': it is called as figure(\"sync-ring\")"), ("lab(\"zzz\")", f'there is no lab "zzz": {", ".join(sorted(NAMED["lab"]))}'), ('table("barrier")', 'there is no table "barrier"; did you mean barriers?'),
    ("drawing()", "drawing(…) missing 1 required positional argument: 'name': it is called as drawing()"), ("sync.one_gpu", '[= sync.one_gpu =] must call one macro, with the words on the page: [= q("60 ms", sync.one_gpu) =]'),
    ("3", '[= 3 =] must call one macro, with the words on the page: [= q("60 ms", sync.one_gpu) =]'), ("figure(sync-)", "[= figure(sync-) =] cannot be read: invalid syntax"), ("rel()", "rel(…) missing 2 required positional arguments: 'word' and 'first': it is called as rel(\"slower\", sync.cpu, sync.one_gpu)"),
    ("plain()", "plain(…) missing 1 required positional argument: 'words': it is called as plain(\"1985\", why=\"a year\")"), ("formula()", "formula(…) missing 1 required positional argument: 'value': it is called as formula(sync.one_gpu, numbers=True)"),
    ("qt()", "qt(…) missing 1 required positional argument: 'words': it is called as qt(\"60 ms\", sync.one_gpu)"), ("credit(a='x')", "credit(…) got an unexpected keyword argument 'a': it is called as credit(\"13.7\")"),
])  # fmt: skip
def test_what_a_call_cannot_be(call: str, says: str) -> None:
    assert [f.message for f in audit_one("docs/x.md", f"{FRONT}\n[= {call} =]\n").faults] == [says]


@pytest.mark.parametrize(("page", "says"), [
    ("$t = [= q(\"60 ms\", sync.one_gpu) =]$", "q(…) cannot stand in a formula: use formula(name, numbers=True), or write the number beside the formula"), ("`[= q(\"60 ms\", sync.one_gpu) =]`", "q(…) cannot stand in inline code: take the backticks away"),
    ("![[= q(\"60 ms\", sync.one_gpu) =]](../assets/site.css)", "q(…) cannot stand in alt text or a title, where HTML cannot go: use qt(…)"), ("```text\n[= q(\"60 ms\", sync.one_gpu) =]\n```", "q(…) cannot stand in a block of code, where HTML cannot go: use qt(…)"),
    ("`[= qt(\"60 ms\", sync.one_gpu) =]`", "qt(…) cannot stand in inline code: take the backticks away"), ("![[= qt(\"60 ms\", sync.one_gpu) =]](../assets/site.css)", ""), ("```text\n[= qt(\"60 ms\", sync.one_gpu) =]\n```", ""),
])  # fmt: skip
def test_where_a_call_cannot_stand(page: str, says: str) -> None:
    assert [f.message for f in audit_one("docs/acts/x.md", f"{FRONT}\n{page}\n").faults if "an act" not in f.message] == (
        [says] if says else []
    )


@pytest.mark.parametrize(("front", "line", "column", "says"), [
    ("title: x\nhide: [\n", 4, 1, "the front matter cannot be read: expected the node content, but found '<stream end>'"),
    ("title: x\nhide: ]\n", 3, 7, "the front matter cannot be read: expected the node content, but found ']'"),
    ("title: a\x07b\n", 2, 1, 'the front matter cannot be read: unacceptable character #x0007: special characters are not allowed in "<unicode string>", position 8'),
])  # fmt: skip
def test_front_matter_that_is_no_yaml_is_named_where_it_breaks(front: str, line: int, column: int, says: str) -> None:
    [fault] = [f for f in audit_one("docs/x.md", f"---\n{front}---\nIt is so.\n").faults if "read" in f.message]
    assert str(fault) == f"docs/x.md:{line}:{column}: {says}"
