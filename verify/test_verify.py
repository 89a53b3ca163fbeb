"""The harness itself: a leg that fails, does not run or is required reads as just that."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

from macros import fingerprint, pages
from verify import __main__ as harness
from verify.checkout import ROOT


def junit(path: Path, *cases: tuple[str, str]) -> Path:
    """A report with one test case for each (module, outcome)."""
    inner = {"passed": "", "failed": '<failure message="no"/>', "error": '<error message="no"/>'}
    rows = "".join(
        f'<testcase classname="{module}" name="t">{inner.get(outcome, f"<skipped message={chr(34)}{outcome}{chr(34)}/>")}</testcase>'
        for module, outcome in cases
    )
    path.write_text(f"<testsuites><testsuite>{rows}</testsuite></testsuites>", encoding="utf-8")
    return path


def test_every_test_module_belongs_to_a_leg() -> None:
    modules = [f"verify.{p.stem}" for p in (ROOT / "verify").glob("test_*.py")]
    assert {harness.leg_of(module) for module in modules} == set(harness.ORDER)
    with pytest.raises(ValueError, match="belongs to a leg"):
        harness.leg_of("verify.test_of_something_new")


def test_a_make_that_a_test_starts_is_none_within_make_verify(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Within another, make tells of the folders it enters, and takes over the variables of the other."""
    monkeypatch.setenv("MAKELEVEL", "1")
    monkeypatch.setenv("MAKEFLAGS", " -- FULL=1")
    given: dict[str, str] = {}

    def pytest_runs(command: list[str], *, env: dict[str, str], **_: object) -> subprocess.CompletedProcess[str]:
        given.update(env)
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(subprocess, "run", pytest_runs)
    harness.run_tests(False, junit(tmp_path / "junit.xml", ("verify.test_model", "passed")))
    assert given["PATH"]
    assert not {"MAKELEVEL", "MAKEFLAGS"} & set(given)


def test_outcomes_become_legs(tmp_path: Path) -> None:
    cases = [
        ("verify.test_model", "passed"),
        ("verify.test_model.TestX", "passed"),
        ("verify.test_site", "failed"),
        ("verify.test_site", "passed"),
        ("verify.test_code", "error"),
        ("verify.test_browser", "needs Chromium; apt-get install chromium"),
        ("verify.test_quotes", "passed"),
    ]
    legs = {leg.leg: leg for leg in harness.read_junit(junit(tmp_path / "j.xml", *cases))}
    assert (legs["model"].status, legs["model"].checks) == ("passed", 2)
    assert legs["site"].status == "failed"
    assert legs["site"].detail.startswith("1 of 2 failed")
    assert legs["code"].status == "failed"
    assert (legs["browser"].status, legs["browser"].detail, legs["browser"].cure) == (
        "NOT RUN",
        "needs Chromium",
        "apt-get install chromium",
    )
    text = harness.table(list(legs.values()))
    assert len(text.splitlines()) == len(harness.ORDER)
    assert "NOT RUN  needs Chromium → apt-get install chromium" in text


CUDA = "no CUDA device; last record: none; run make cuda on a machine with a GPU"


def test_without_a_gpu_its_line_says_when_there_was_one(tmp_path: Path) -> None:
    """The tests of its parts run everywhere; they belong to another leg, so that nobody takes them for a run on a GPU."""
    legs = harness.read_junit(junit(tmp_path / "j.xml", ("verify.test_cuda", CUDA), ("verify.test_cuda_parts", "passed")))
    (line,) = [line for line in harness.table(legs).splitlines() if line.startswith("cuda")]
    assert line == "cuda      NOT RUN  no CUDA device; last record: none → run make cuda on a machine with a GPU"
    assert {leg.leg: leg.checks for leg in legs}["lockstep"] == 1


def test_a_leg_without_tests_does_not_read_as_passed(tmp_path: Path) -> None:
    legs = {leg.leg: leg for leg in harness.read_junit(junit(tmp_path / "j.xml", ("verify.test_model", "passed")))}
    assert legs["site"].status == "NOT RUN"
    assert legs["site"].detail == "no test ran"


def test_required_legs() -> None:
    assert harness.parse_required("browser, model") == {"browser", "model"}
    with pytest.raises(ValueError, match=r"VERIFY_REQUIRE names legs of .*; got cude"):
        harness.parse_required("cude")


@pytest.mark.parametrize(("required", "status"), [("", 0), ("browser", 1), ("cuda", 1), ("model", 0)])
def test_a_required_leg_that_does_not_run_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], required: str, status: int
) -> None:
    lacks = {"browser": "needs Chromium", "cuda": "no CUDA device; last record: none"}
    legs = [
        harness.Leg(leg, "NOT RUN", lacks[leg], 0, "mend it") if leg in lacks else harness.Leg(leg, "passed", "fine", 1)
        for leg in harness.ORDER
    ]
    monkeypatch.setattr(harness, "run_tests", lambda full, report: (legs, 0))
    monkeypatch.setattr(harness, "build_site", lambda: 0)
    monkeypatch.setattr(harness, "ROOT", tmp_path)
    monkeypatch.setattr(harness, "BUILD", tmp_path / "build")
    monkeypatch.setenv("VERIFY_REQUIRE", required)
    assert harness.main() == status
    out = capsys.readouterr().out
    for leg, why in lacks.items():
        assert (f"required, and NOT RUN: {why}" in out) is (leg == required)
    saved = json.loads((tmp_path / "verification.json").read_text(encoding="utf-8"))
    assert saved["passed"] is (status == 0)


def test_where_nothing_can_be_written_it_says_so_before_it_begins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "build").touch()  # a file in the place of the folder, which is closed to root too
    monkeypatch.setattr(harness, "ROOT", tmp_path)
    monkeypatch.setattr(harness, "BUILD", tmp_path / "build")
    monkeypatch.delenv("VERIFY_REQUIRE", raising=False)
    assert harness.main() == 2
    assert capsys.readouterr().err == f"make verify writes to build/ and to verification.json: File exists: {tmp_path / 'build'}\n"


def test_a_verification_of_other_sources_is_not_shown(tmp_path: Path) -> None:
    for name in ("perfmodel", "docs"):
        (tmp_path / name).mkdir()
    (tmp_path / "perfmodel" / "a.py").write_text("x = 1\n", encoding="utf-8")
    saved = {"sources": fingerprint.sources(tmp_path), "date": "today", "legs": []}
    (tmp_path / "verification.json").write_text(json.dumps(saved), encoding="utf-8")
    assert pages.read_verification(tmp_path) == saved
    (tmp_path / "perfmodel" / "a.py").write_text("x = 2\n", encoding="utf-8")
    assert pages.read_verification(tmp_path) is None
    (tmp_path / "verification.json").write_text("{ torn", encoding="utf-8")
    assert pages.read_verification(tmp_path) is None


READ = [
    "perfmodel/a.py", "perfmodel/py.typed", "macros/b.py", "docs/c.md", "docs/code/d.py", "docs/records/e.json", "docs/f.png", "docs/g.jpg",
    "docs/assets/h.woff2", "verify/expected/i.csv", "mkdocs.yml", "requirements.txt", "requirements.lock", "pyproject.toml", "Makefile",
    "README.md", "AUTHORING.md", "CONTRIBUTING.md", "CHANGELOG.md", "ARCHITECTURE.md", "SECURITY.md", "LICENSE", "ruff.toml",
    ".github/workflows/publish.yml", ".ci/run",
]  # fmt: skip
NOT_READ = [
    "verification.json", "bench.json", ".git", ".venv/a.py", "site/a.html", "build/b", "mutants/c.py", ".mypy_cache/d.json", "docs/.#c.md",
    "docs/.drafts/e.md", "verify/__pycache__/f.pyc", "perfmodel/noise/__pycache__/g.py",
]  # fmt: skip


def test_the_fingerprint_sees_all_that_is_read_and_nothing_that_is_made(tmp_path: Path) -> None:
    root = tmp_path / "__pycache__/.b"  # wherever it lies
    for name in (*READ, *NOT_READ):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("x", encoding="utf-8")
    before = fingerprint.sources(root)
    for name in (*READ, *NOT_READ):
        (root / name).write_text("y", encoding="utf-8")
        assert (fingerprint.sources(root) != before) == (name in READ), name
        (root / name).unlink()
        assert (fingerprint.sources(root) != before) == (name in READ), name
        (root / name).write_text("x", encoding="utf-8")
        assert fingerprint.sources(root) == before


def test_whatever_a_check_names_is_in_the_fingerprint() -> None:
    code = "".join(path.read_text(encoding="utf-8") for room in ("macros", "verify") for path in (ROOT / room).rglob("*.py"))
    named = {name.partition("/")[0] for name in re.findall(r"\bROOT / f?\"([^\"{]+)", code)} - {*fingerprint.MADE, "build"}
    assert {".github", "README.md", "CHANGELOG.md", "docs"} <= named
    assert named <= {path.relative_to(ROOT).parts[0] for path in fingerprint.files()}
