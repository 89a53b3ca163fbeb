"""`make fix`: digits change where they are wrong, and nothing else does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from macros import audit as auditing
from macros.audit import Audit, apply_fixes, audit_sources
from macros.fixes import digits_only, fixed, literal
from macros.scan import Fault, scan
from verify.audited import FRONT, audit_one


@pytest.mark.parametrize(("old", "new", "fix"), [
    ("61 ms", "60 ms", "60 ms"), ("61\u00a0ms", "60 ms", "60\u00a0ms"), ("about 61 ms", "about 60 ms", "about 60 ms"), ("12,345", "54321", "54321"), ("9.9 ms", "10.1 ms", "10.1 ms"),
    ("10–21 ms", "10–20 ms", "10–20 ms"), ("[3, 4]", "[3, 3]", "[3, 3]"), ("161-megabyte", "160-megabyte", "160-megabyte"), ("5 μs", "6 µs", "6 μs"), ("60 s", "60 ms", ""), ("five", "four", ""),
    ("-60 ms", "60 ms", ""), ("60", "60 ms", ""), ("10–20 ms", "10 ms", ""), ("twice", "4×", ""), ("1 tick", "3 ticks", ""), ("10⁻¹⁵", "10^-12", ""), ("", "60 ms", ""),
    ("about  61\u00a0ms", "about 60 ms", "about  60\u00a0ms"), ("10-21 ms", "10-20 ms", "10-20 ms"), ("12,345", "54,321", "54,321"), ("999", "1,000", "1,000"), ("1.5×10^3 B", "2.5×10^4 B", "2.5×10^4 B"), ("61 ms", "60 s", ""), ("4×", "4", ""), ("1.5×10³ B", "2.5×10^4 B", ""), ("61", "60 ms", ""), ("-61", "60", ""), ("[1, 2]", "[3, 4]", "[3, 4]"),
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
    assert diff.endswith(
        "--- docs/windows.md\n+++ docs/windows.md\n@@ -1,3 +1,3 @@\n x\n \n"
        '-It takes [= q("61 ms", sync.one_gpu) =].\n+It takes [= q("60 ms", sync.one_gpu) =].\n'
    )
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


def test_the_command_says_what_it_has_done(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def full_disk() -> str:
        raise OSError(28, "No space left on device", "docs/x.md")

    monkeypatch.setattr(auditing, "audit_sources", Audit)
    monkeypatch.setattr(auditing, "apply_fixes", str)
    assert auditing.main([]) == 0
    assert capsys.readouterr() == (f"{Audit().coverage()}\n", "")
    assert auditing.main(["--fix"]) == 0
    assert capsys.readouterr() == (f"nothing that digits alone can mend\n{Audit().coverage()}\n", "")
    assert auditing.main(["--fix", "now"]) == 2
    assert capsys.readouterr() == ("", "usage: python -m macros.audit [--fix], got --fix now\n")
    monkeypatch.setattr(auditing, "apply_fixes", full_disk)
    assert auditing.main(["--fix"]) == 1
    assert capsys.readouterr() == ("", "a page cannot be written, and is as it was: No space left on device: docs/x.md\n")


def test_make_fix_is_a_command(docs: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    fix, audit = apply_fixes, audit_sources
    monkeypatch.setattr(auditing, "apply_fixes", lambda: fix(docs))
    monkeypatch.setattr(auditing, "audit_sources", lambda **_: audit(docs=docs))
    assert auditing.main(["--fix"]) == 1
    out = capsys.readouterr().out
    assert '+It takes [= q("60 ms", sync.one_gpu) =]' in out
    assert "docs/page.md:8:4: quotes five for sync.gpus" in out
    assert out.rstrip().split("\n")[-1].startswith("numbers   ")


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
