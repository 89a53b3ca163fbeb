"""The audit as a whole: planted faults caught where they stand and nothing else, harmless edits silent, messages in full."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from macros import audit as auditing
from macros import figures
from macros.audit import CALLABLE, EXEMPT, NAMED, Audit, apply_fixes, audit_sources, matching
from macros.calls import Piece, Recorder, Use, check_badge, recording
from macros.evaluate import Evaluator, _places, speaker, using
from macros.formulas import COMMANDS
from macros.frontmatter import CONFIG
from macros.quantity import QuoteError, of
from macros.records import RecordError
from macros.scan import Fault, scan
from perfmodel.book import LEDGER
from perfmodel.number import Ledger
from verify.audited import ACTS, EVALUATOR, FRONT, SMALL, TEST, audit_one, source_of
from verify.checkout import ROOT, copy, replace
from verify.planted import ACT2, ACT6, BROKEN, HARMLESS, HERE, NAKED, PLANTED, TURNED, WRONG, Planted, plant

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


def test_the_coverage_line_counts_what_is_bound_by_kind() -> None:
    calls = (
        'q("60 ms", sync.one_gpu)', 'q("120 ms", 2 * sync.one_gpu)', 'q("4 and 8", sync.gpus, scale.eight)', 'q("four", sync.gpus)', 'q("160 MB", sync.gradient)', 'qt("300", lockstep.steps)',
        'q("at least 1", products.threads)', 'rel("slower", sync.cpu, sync.one_gpu)', 'plain("1985", why="a year")', 'plain("1986", why="a year")',
    )  # fmt: skip
    audit = audit_one("docs/x.md", FRONT + "\n\n".join(f"It is [= {call} =]." for call in calls))
    assert audit.coverage() == (
        "numbers   7 quoted: 3 computed, 2 given, 1 run, 1 measured; 1 relation; 2 plain; 0 unbound, 0 drifted"
    )


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


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "cp1252", "utf-32"])
def test_a_page_that_is_not_utf_8_is_named_and_the_rest_is_read(tmp_path: Path, encoding: str) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "a.md").write_bytes("---\ntitle: Ä page\n---\nIt takes 61 ms.\n".encode(encoding))
    (folder / "b.md").write_text(f"{FRONT}It takes 61 ms.\n", encoding="utf-8")
    before = (folder / "a.md").read_bytes()
    audit = audit_sources(docs=folder)
    assert (audit.pages["docs/a.md"].path, audit.pages["docs/a.md"].source) == ("docs/a.md", "")
    found = audit.faults
    assert str(found[0]) == "docs/a.md:1:1: this page is not saved as UTF-8: save it again with that encoding"
    assert [(f.path, f.line) for f in found[1:]] == [("docs/b.md", 4)]
    apply_fixes(folder)
    assert (folder / "a.md").read_bytes() == before


def test_what_is_refused_under_docs_is_named_and_handed_on_to_the_build(tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "a.html").write_text("<p>60 ms", encoding="utf-8")
    (folder / "b.md").write_text(f"{FRONT}It waits.\n", encoding="utf-8")
    audit = audit_sources(docs=folder)
    assert [str(fault) for fault in audit.faults] == [
        "docs/a.html:1:1: a name here ends in .md, .svg, .png, .jpg, .jpeg, .gif, .webp, .txt, in small letters; got .html: rename it, or take it out"
    ]
    assert audit.refused == {"docs/a.html"}


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
    assert _places("It ends here\nor there", file)(3) == (1, 5)
    assert _places("It begins 7", file)(3) == (1, 1)  # nowhere in it


@pytest.mark.parametrize(("words", "offset", "place"), [
    ("abcd", 0, (2, 9)), ("abcd", 1, (2, 10)), ("abcd", 2, (2, 14)), ("abcd", 3, (2, 15)), ("abcd", 4, (2, 13)),
    ("efgh", 1, (4, 10)), ("efgh", 2, (6, 6)), ("ij", 1, (8, 12)), ("ij", 2, (8, 10)), ("klm n", 3, (9, 1)), ("yy top\ntwice over\nthe longest of all", 0, (14, 1)), ("too long\nop qr", 0, (10, 1)), ("as\n# a comment", 0, (11, 1)), ("zz", 0, (1, 1)),
])  # fmt: skip
def test_where_a_text_of_a_figure_stands(tmp_path: Path, words: str, offset: int, place: tuple[int, int]) -> None:
    file = tmp_path / "x.py"
    file.write_text(
        """
HEAD = "ab" 'cd'
BOTH = (
    R'''ef'''  # with a comment in between

    "gh"
)
a = b + r"ij"
f"klm {a}"
MADE = "\\n".join(["too long", "op qr"])  # too long
LAST = ["# a comment", "as"]  # a comment
# twice over
TURNED = ["yy top",
    "twice over", "the longest of all"]
""",
        encoding="utf-8",
    )
    assert _places(words, file)(offset) == place


def test_the_words_of_a_figure_are_shown_and_what_is_wrong_in_them_is_named(tmp_path: Path) -> None:
    file = tmp_path / "macros" / "old" / "macros" / "figures" / "x.py"
    file.parent.mkdir(parents=True)
    say = speaker(str(file))
    with recording(Recorder()) as recorder:
        assert say('a & b < c [= q("60 ms", sync.one_gpu) =] < d') == (
            'a &amp; b &lt; c <span class="q" data-q="sync.one_gpu">60\u00a0ms</span> &lt; d', "a & b < c 60\u00a0ms < d",
        )  # fmt: skip
    assert [use.shown for use in recorder.uses] == ["60\u00a0ms"]
    assert recorder.faults == []
    words = [
        'It [= q("61 ms", sync.one_gpu) =] and ', '[= q("60 ms", sync.one_gpu) =] or more,', "\n", " [= figure(\"x\") =] [= “x” =]", " 62.7 ms.",
    ]  # fmt: skip
    file.write_text("WORDS = (\n" + "".join(f"    {part!r}\n" for part in words) + ")\n", encoding="utf-8")
    with recording(Recorder()) as recorder:
        say("It takes 9 ms.")
        assert len(recorder.faults) == 1
        html, plain = say("".join(words))
        recorder.faults.pop(0)  # that of the other words, which is kept
    assert plain == 'It q("61 ms", sync.one_gpu) and 60\u00a0ms or more,\n figure("x") [= “x” =] 62.7 ms.'
    assert html == plain.replace("60\u00a0ms", '<span class="q" data-q="sync.one_gpu">60\u00a0ms</span>')
    shown = "macros/figures/x.py"
    assert [(f.path, f.line, f.column, f.sort, f.message) for f in recorder.faults] == [
        (shown, 5, 25, "broken", 'curly quotes in [= “x” =]: write straight ones, "…"'),
        (
            shown,
            2,
            9,
            "drifted",
            'quotes 61 ms for sync.one_gpu, the model says 60 ms (0.06 s = 2·(4−1)·160 MB / 16 GB/s); write "60 ms"',
        ),
        (shown, 5, 7, "broken", "figure(…) is not a macro: formula, plain, q, qt, rel"),
        (shown, 3, 6, "unbound", 'a bound after a quote: … or more; put it inside: [= q("at least 60 ms", sync.one_gpu) =]'),
        (
            shown,
            6,
            7,
            "unbound",
            'a naked number: 62.7 ms; bind it: [= q("62.7 ms", name) =], or say why not: [= plain("62.7 ms", why="…") =]',
        ),
    ]


def test_the_words_of_a_figure_know_what_the_book_has_learned_since(tmp_path: Path) -> None:
    ledger, say = Ledger(), speaker(str(tmp_path / "macros" / "x.py"))
    for name in ("a.b", "c.d"):
        ledger.given(name, 0.06, "ms", "a number for a test", TEST)
        with using(ledger), recording(Recorder()) as recorder:
            say(f'[= q("60 ms", {name}) =]')
        assert recorder.faults == []


@pytest.mark.parametrize(("error", "says"), [
    (TypeError("make() missing 1 argument of g() too"), "figure(…) missing 1 argument of g() too: it is called as figure("),
    (ValueError("an argument is wrong"), "figure(…) failed: ValueError: an argument is wrong"),
    (TypeError("make() is wrong"), "figure(…) failed: TypeError: make() is wrong"),
])  # fmt: skip
def test_an_error_of_a_macro_is_said_in_the_words_of_the_page(error: Exception, says: str) -> None:
    def fails(name: str) -> Piece:
        raise error

    evaluator = Evaluator(LEDGER, {**CALLABLE, "figure": fails})
    [fault] = audit_one("docs/x.md", f'{FRONT}x\n\n[= figure("ring") =]\n', evaluator).faults
    assert fault.message.startswith(says)


def test_a_text_cannot_be_calculated_with() -> None:
    for expression in ("'a' * 2", "[1] + [2]", "2 - 'a'"):
        with pytest.raises(QuoteError, match=f"^{re.escape(expression)} cannot be calculated: \\+ - \\* / stand between numbers$"):
            EVALUATOR.value(expression)


def test_a_call_waits_for_a_record_that_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def torn(name: str) -> None:
        raise RecordError("docs/records/x.json is torn")

    def asks(name: str) -> None:
        raise KeyError("products.call")

    monkeypatch.setattr("macros.refused.withheld", lambda group: group == "products")
    ledger = Ledger()
    ledger.given("sync.link", 16e9, "GB/s", "a link", TEST)
    evaluator = Evaluator(ledger, {**CALLABLE, "figure": torn, "table": asks})
    calls = ('q("1", products.call)', 'figure("x")', 'table("x")', 'q("1", products.call.x)', 'q("1", sync.call)')
    audit = audit_one("docs/x.md", FRONT + "\n\n".join(f"[= {call} =]" for call in calls), evaluator)
    assert [(f.sort, f.message.partition(";")[0]) for f in audit.faults] == [
        ("withheld", "products.call waits for a record that is refused"),
        ("withheld", "docs/records/x.json is torn"),
        ("withheld", "products.call waits for a record that is refused"),
        ("withheld", "products.call.x waits for a record that is refused"),
        ("broken", "sync.call is not a number of the book"),
    ]


def test_a_badge_names_a_section_of_the_numbers_beside_it() -> None:
    uses = [Use("q", "docs/x.md", 1, 1, "", (of(LEDGER[name]),)) for name in ("sync.ring", "queue.each")]
    for badge in (
        "cost model · ms",
        "Dive into Deep Learning 13.7",
        "Dive into Deep Learning 13.2 and Dive into Deep Learning 13.7",
    ):
        check_badge(badge, uses)
    check_badge("Dive into Deep Learning 13.4", ())
    with pytest.raises(QuoteError, match=r"^the badge names section 13\.4, and the numbers beside it come from 13\.7, 13\.2$"):
        check_badge("Dive into Deep Learning 13.2 and Dive into Deep Learning 13.4", uses)


def test_without_its_records_there_is_one_fault_of_no_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def torn() -> Ledger:
        raise RecordError("noise.json is torn")

    monkeypatch.setattr(auditing, "current_book", torn)
    assert audit_sources().faults == [Fault("docs/records", 0, 0, "noise.json is torn")]


def test_a_figure_on_two_pages_is_named_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    figures_with(tmp_path, monkeypatch, "act2", "Each pending task holds memory", f"Each of {HERE}4 ms holds memory")
    page = f'{FRONT}[= figure("queue-depth") =]\n\n[= figure("queue-depth") =]\n'
    assert len(audit_one("docs/x.md", page).faults) == 1


def test_the_words_of_a_call_are_read_too() -> None:
    [fault] = audit_one("docs/x.md", '[= table("blockers", title="In 60 ms") =]\n').faults[:1]
    assert "title" in fault.message


def test_the_command_says_how_it_is_used(capsys: pytest.CaptureFixture[str]) -> None:
    assert auditing.main(["--help"]) == 2
    assert "usage: python -m macros.audit [--fix], got --help" in capsys.readouterr().err


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


def test_what_a_macro_refuses_is_said_with_how_it_is_called() -> None:
    def bad(name: str) -> None:
        raise TypeError(f"bad argument: {name}")

    evaluator = Evaluator(LEDGER, {**CALLABLE, "figure": bad})
    [fault] = audit_one("docs/x.md", f'{FRONT}\n[= figure("ring") =]\n', evaluator).faults
    assert fault.message == 'figure(…) bad argument: ring: it is called as figure("sync-ring")'


@pytest.mark.parametrize(("page", "says"), [
    ("$t = [= q(\"60 ms\", sync.one_gpu) =]$", "q(…) cannot stand in a formula: use formula(name, numbers=True), or write the number beside the formula"), ("`[= q(\"60 ms\", sync.one_gpu) =]`", "q(…) cannot stand in inline code: take the backticks away"),
    ("![[= q(\"60 ms\", sync.one_gpu) =]](../assets/site.css)", "q(…) cannot stand in alt text or a title, where HTML cannot go: use qt(…)"), ("```text\n[= q(\"60 ms\", sync.one_gpu) =]\n```", "q(…) cannot stand in a block of code, where HTML cannot go: use qt(…)"),
    ("`[= qt(\"60 ms\", sync.one_gpu) =]`", "qt(…) cannot stand in inline code: take the backticks away"), ("![[= qt(\"60 ms\", sync.one_gpu) =]](../assets/site.css)", ""), ("```text\n[= qt(\"60 ms\", sync.one_gpu) =]\n```", ""),
])  # fmt: skip
def test_where_a_call_cannot_stand(page: str, says: str) -> None:
    assert [f.message for f in audit_one("docs/acts/x.md", f"{FRONT}\n{page}\n").faults if "an act" not in f.message] == (
        [says] if says else []
    )


def test_a_naked_number_may_be_any_number_that_has_its_value() -> None:
    ledger = Ledger()
    for name, value, unit, says in (
        ("a.wait", 0.06, "ms", "what takes 60 ms"), ("a.size", 60e6, "MB", "a size"), ("a.send", 0.06, "ms", "how long the ring sends"), ("a.pair", (0.06, 0.08), "ms", "two times"), ("a.tasks", 60, "", "tasks"),
    ):  # fmt: skip
        ledger.given(name, value, unit, says, TEST)
    assert matching("60 ms", ledger, "60 ms") == ["a.wait", "a.send"]
    assert matching("60 ms", ledger, "60 ms in a ring") == ["a.send", "a.wait"]
    assert matching("60 ms", ledger, "60 ms of a.wait") == ["a.wait", "a.send"]
    assert matching("60", ledger, "60") == ["a.tasks"]
    assert matching("[60 ms, 80 ms]", ledger, "[60 ms, 80 ms]") == ["a.pair"]
    assert matching("61 ms", ledger, "61 ms") == []


SIXTY = 'bind it: [= q("60 ms", sync.one_gpu) =], or say why not: [= plain("60 ms", why="…") =]'


@pytest.mark.parametrize(("page", "found"), [
    ("\n```\n60 ms\n```\n", []), ("It takes ▸60 ms.", [f"unbound a naked number: 60 ms; {SIXTY} (it could be sync.two, sync.three, sync.four)"]),
    ("It takes ▸11 ms.", [f"unbound a naked number: 11 ms; {SIXTY.replace('one_gpu', 'alone').replace('60', '11')}"]),
    ("It takes ▸12 ms.", [f"unbound a naked number: 12 ms; {SIXTY.replace('one_gpu', 'both').replace('60', '12')} (it could be sync.either)"]),
    ("It takes ▸60–70 ms.", ['unbound a naked number: 60–70 ms; bind it: [= q("60–70 ms", first, second) =], or say why not: [= plain("60–70 ms", why="…") =]']),
    ("![It takes ▸60 ms](../assets/site.css)", ['unbound a naked number: 60 ms; bind it: [= qt("60 ms", sync.one_gpu) =] (it could be sync.two, sync.three, sync.four)']),
    ("On ▸4 May 2024 it was so.", ['unbound a date: 4 May 2024; say that it is one: [= plain("4 May 2024", why="a date") =]']),
    ("It is `  ▸60 ms `.", [f"unbound a naked number in inline code: `60 ms`; take the backticks away and {SIXTY.replace('sync.one_gpu', 'name')}"]),
    ("It is `▸3×4`.", ["unbound a naked number in inline code: `3×4`; take the backticks away"]),
    ('▸[= q("60 ms", sync.one_gpu) =] or more.', ['unbound a bound after a quote: … or more; put it inside: [= q("at least 60 ms", sync.one_gpu) =]']),
    ('▸[= table("blockers", title="In\n60 ms") =]', [
        "broken table(…) got an unexpected keyword argument 'title': it is called as table(\"barriers\")", "unbound a naked number in the title: 60 ms; say it in the text, where it can be bound"]),
    ("It is $▸n + 60$.", ["unbound a naked number in a formula: 60; print the formula with formula(name, numbers=True)"]),
    ("It is $▸n + \\zeta$.", ["broken \\zeta is not among the commands that formulas here may use: " + ", ".join(sorted(COMMANDS))]),
    ('<!-- [= q("61 ms", sync.one_gpu) =] -->\n\nIt is ▸[= q("61 ms", sync.one_gpu) =].', ['drifted quotes 61 ms for sync.one_gpu, the model says 60 ms (given, a test); write "60 ms"']),
])  # fmt: skip
def test_what_is_wrong_on_a_page(page: str, found: list[str]) -> None:
    ledger = Ledger()
    for name in ("one_gpu", "two", "three", "four", "five"):
        ledger.given(f"sync.{name}", 0.06, "ms", "a time", TEST)
    for name, value in (("alone", 0.011), ("both", 0.012), ("either", 0.012)):
        ledger.given(f"sync.{name}", value, "ms", "a time", TEST)
    for name in ("gpus", "cpus"):  # as many as there are days in a date
        ledger.given(f"sync.{name}", 4, "", "a count", TEST)
    source = f"{FRONT}{page}\n"
    at = source.find(HERE)
    source = source.replace(HERE, "")
    faults = audit_one("docs/x.md", source, Evaluator(ledger, CALLABLE, NAMED)).faults
    assert [f"{f.sort} {f.message}" for f in faults] == found
    assert {(f.line, f.column) for f in faults} <= {(source.count("\n", 0, at) + 1, at - source.rfind("\n", 0, at))}


def test_markdown_that_comes_out_as_text_is_named_once() -> None:
    found = audit_one("docs/x.md", f"{FRONT}It is so[^60]62.7 ms. It takes 62.7 ms.\n").faults
    assert [(f.column, f.message.partition(";")[0]) for f in found] == [
        (14, "a naked number: 62.7 ms"),
        (32, "a naked number: 62.7 ms"),
        (9, "[^60] has no note: write [^60]: and the note on a line of its own"),
    ]


def test_a_fault_that_digits_mend_says_what_to_write() -> None:
    page = f'{FRONT}[= q("61 ms", sync.one_gpu) =] [= q("60 s", sync.one_gpu) =] [= q(sync.one_gpu) =]\n'
    assert [(f.sort, f.old, f.fix) for f in audit_one("docs/x.md", page).faults] == [
        ("drifted", "61 ms", "60 ms"), ("drifted", "", ""), ("broken", "", ""),
    ]  # fmt: skip


def test_the_exemptions_of_a_page_are_those_of_its_calls_and_its_title() -> None:
    page = scan("x.md", f'{FRONT}[= figure("x") =] and [= plain("a", why="b") =]\n')
    call = page.calls[1]
    uses = [
        Use("q", "x.md", 4, 1, "60 ms"),
        Use("e", "x.md", 4, 1, "in the figure", why="b"),
        Use("e", "x.md", call.line, call.column, "a", why="b"),
        Use("e", "x.md", 2, 1, "in the title", why="b"),
    ]
    assert auditing.exempt(Audit(pages={"x.md": page}, uses=uses)) == uses[2:]


def test_a_project_is_audited_whole(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    (tmp_path / "verify" / "expected").mkdir(parents=True)
    docs.mkdir()
    page = f'{FRONT}It is [= q("61 ms", sync.one_gpu) =], see [it](b.md#nowhere) and [= plain("so", why="a word") =].\n'
    (docs / "a.md").write_text(page, encoding="utf-8")
    (docs / "b.md").write_text(f"{FRONT}And 61.7 ms.\n", encoding="utf-8")
    (docs / "c.md").write_bytes(f"{FRONT}60 ms\n".encode("utf-16"))
    (tmp_path / EXEMPT).write_text("page,words,why\ndocs/c.md,60,a year\ndocs/b.md,60,a year\n", encoding="utf-8")
    (tmp_path / CONFIG).write_text("site_name: In 60 ms\nnav: [a.md, c.md]\n", encoding="utf-8")
    of_a = [
        'docs/a.md:4:7: quotes 61 ms for sync.one_gpu, the model says 60 ms (0.06 s = 2·(4−1)·160 MB / 16 GB/s); write "60 ms"',
        "docs/a.md:4:48: b.md#nowhere leads nowhere: docs/b.md has no place #nowhere",
        f'docs/a.md:4:66: exempts "so", a word; nothing holds them: add the line docs/a.md,so,a word to {EXEMPT}',
    ]
    naked = 'a naked number: 61.7 ms; bind it: [= q("61.7 ms", name) =], or say why not: [= plain("61.7 ms", why="…") =]'
    of_c = "docs/c.md:1:1: this page is not saved as UTF-8: save it again with that encoding"
    unused = f'{EXEMPT}:3:1: docs/b.md does not exempt "60", a year: take the line out'
    texts = {"docs/b.md": f"{FRONT}Or 62.7 ms.\n", "docs/d.md": "D\n"}
    missing = tmp_path / "none.csv"
    audit = audit_sources(docs=docs, overrides=texts, pins=missing)
    assert [str(f) for f in audit.faults] == [
        f"{missing}: is missing: it pins every given of the book, so that none can slip",
        *of_a,
        'docs/b.md:1:1: no menu leads to this page: add a line "- b.md" under nav: in mkdocs.yml, where it belongs',
        f"docs/b.md:4:4: {naked}".replace("61.7", "62.7"),
        of_c,
        "docs/d.md:1:1: a page begins with ---, title: and description:, and ---, each on a line of its own",
        "mkdocs.yml:1:15: a naked number in site_name: 60 ms; say it on a page, where it can be bound",
        unused,
    ]
    assert audit.unread == {"docs/c.md", "docs/d.md"}
    assert [*audit.pages] == ["docs/a.md", "docs/b.md", "docs/c.md", "docs/d.md"]
    (tmp_path / CONFIG).write_bytes("site_name: In 60 ms\n".encode("utf-16"))
    assert [str(f) for f in audit_sources(docs=docs).faults] == [
        *of_a,
        f"docs/b.md:4:5: {naked}",
        of_c,
        "mkdocs.yml:1:1: this file is not saved as UTF-8: save it again with that encoding",
        unused,
    ]
    (tmp_path / CONFIG).unlink()
    assert [str(f) for f in audit_sources(docs=docs).faults] == [*of_a, f"docs/b.md:4:5: {naked}", of_c, unused]
