"""`make mutants`: a sample of its faults, each caught, and of its harmless edits, each silent; and that it can be stopped and goes on."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace

import pytest

from macros.audit import PINS, pages_of
from macros.fingerprint import ROOT
from verify import harmless, mutants
from verify.mutants import Result, judged, remembered, run, table
from verify.mutations import RECORDS, WORDS_IN_PYTHON, Mutant, all_of, of_quotes, of_records, opposites, slips, true, values

RECORDED = [path.relative_to(ROOT).as_posix() for path in sorted(RECORDS.rglob("*")) if path.suffix in (".json", ".csv")]


@pytest.fixture(scope="module")
def planted() -> list[Mutant]:
    """All there are."""
    return [*all_of()]


@pytest.fixture(scope="module")
def sample(planted: list[Mutant]) -> list[Mutant]:
    """A few of each kind, always the same; `make mutants` plants them all."""
    draw = random.Random(7)
    kinds = {kind: [m for m in planted if m.kind == kind] for kind in dict.fromkeys(m.kind for m in planted)}
    return [mutant for own in kinds.values() for mutant in draw.sample(own, min(2, len(own)))]


def test_every_mutant_of_a_sample_is_caught_where_it_stands(sample: list[Mutant]) -> None:
    assert len({m.kind for m in sample}) > 20
    assert [f"{mutant}: {wrong}" for mutant in sample if (wrong := judged(mutant).wrong)] == []


def test_every_harmless_edit_of_a_sample_is_silent() -> None:
    files = ("docs/acts/2-queue.md", "docs/module/3-scale.md", "macros/figures/act6.py", "docs/records/noise.json", PINS)
    edits = [edit for file in files for edit in [*harmless.edits([file])][::6]]
    assert len(edits) > 25
    assert [f"{edit}: {wrong}" for edit in edits if (wrong := mutants.edited(edit).wrong)] == []


def test_all_sources_are_planted_in(planted: list[Mutant]) -> None:
    """Every page with a quote, every module with words, every given and every record; nothing twice."""
    assert len(set(map(str, planted))) == len(planted) > 10_000
    quoting = {path for path in pages_of(ROOT / "docs") if "[= q(" in (ROOT / path).read_text(encoding="utf-8")}
    assert {m.file for m in planted} >= quoting
    pins = (ROOT / PINS).read_text(encoding="utf-8").splitlines()[1:]
    assert {m.what.split()[0] for m in planted if m.kind == "given"} == {pin.split(",")[0] for pin in pins}
    tables = {path.name for path in (ROOT / "docs/records/published").glob("*.csv")}
    assert {Path(m.file).name for m in planted if m.kind == "published"} == tables


def test_there_are_enough_harmless_edits_each_of_some_use() -> None:
    assert len(harmless.KINDS) > 90
    used = {edit.name for file in ("docs/acts", "docs/module", "macros", "docs/records") for edit in _under(file)}
    assert len({*harmless.KINDS} - used - {*harmless.IN_PINS}) <= 8  # these sources have no place for them


def _under(folder: str) -> Iterator[harmless.Edit]:
    """The edits of a few files of a folder."""
    files = [m for m in (*pages_of(ROOT / "docs"), *WORDS_IN_PYTHON, *RECORDED) if m.startswith(folder)]
    return harmless.edits(files[:3])


def test_each_mutant_changes_its_source_and_stands_in_it(sample: list[Mutant]) -> None:
    for mutant in sample:
        if mutant.edits:
            text = (ROOT / mutant.file).read_text(encoding="utf-8")
            assert mutant.applied(text) != text
            line, column = mutant.at if mutant.at[0] else mutant.places[0]
            assert len(text.split("\n")[line - 1]) >= column > 0, str(mutant)


def said(name: str, words: str) -> list[str]:
    return [f"{kind}: {new}" for kind, new in slips(words, values(name))]


def test_slips_of_a_quote_by_hand() -> None:
    assert said("sync.one_gpu", "60 ms") == ["last digit: 61 ms", "sign: −60 ms", "unit: 60 µs", "unit: 60 s", "unit: 60"]
    assert said("sync.gpus", "four") == ["number word: five"]
    assert said("sync.gpus", "4") == ["last digit: 5", "sign: −4", "unit: 4 ms"]
    assert said("sync.one_gpu", "under 80 ms") == [
        "bound turned: over 80 ms",
        "bound moved: under 30.00 ms",
        "unit: under 80 µs",
        "unit: under 80",
    ]
    assert said("sync.one_gpu / sync.sharded", "4×") == ["last digit: 5×", "sign: −4×", "unit: 4%"]
    assert said("sync.gpus", "at most four") == ["number word: at most three"]
    assert said("tiny.gradient", "1 KB") == [
        "last digit: 2 KB",
        "sign: −1 KB",
        "unit: 1 MB",
        "unit: 1 B",
        "unit: 1",
    ]  # 1 KiB is 1 KB


@pytest.mark.parametrize(("sign", "number", "size", "value", "right"), [
    ("=", "13.3", 1, 40 / 3, True), ("=", "13.4", 1, 40 / 3, False), ("=", "1,000", 1, 1000.4, True), ("<", "20", 1, 20.0, False), ("≤", "20", 1, 20.0, True), (">", "20", 1, 20.5, True),
])  # fmt: skip
def test_what_is_true_is_decided_here_too(sign: str, number: str, size: int, value: float, right: bool) -> None:
    assert true(sign, number, Fraction(size), value) is right


def test_opposites_by_hand() -> None:
    assert opposites("Slower than") == ["faster than", "the same"]
    assert opposites("the slowest") == ["the fastest", "the same"]
    assert opposites("the same") == ["more", "less"]
    assert opposites("less") == ["more", "greater", "the same"]


# A gate with a hole in it, and the command


@pytest.fixture(scope="module")
def quote() -> Mutant:
    """The first quote of a page, with another last digit."""
    return next(m for m in of_quotes("docs/acts/2-queue.md") if m.kind == "last digit")


def test_what_the_audit_does_not_see_survives_and_is_listed(quote: Mutant, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("macros.calls.quotes.check", lambda words, *values: list(values))
    result = judged(quote)
    assert result.wrong == "nothing is said"
    lines = table([result, Result("docs/x.md: wrapped", harmless.KIND, "docs/x.md:1:1: a naked number")]).splitlines()
    assert lines[1].split() == ["last", "digit", "0", "1"]
    assert lines[2].split() == ["all", "0", "1", "0.00%"]
    assert lines[3] == "1 harmless edits, 1 false alarms"
    assert lines[4] == f"{quote}: survived: nothing is said"
    assert lines[5].startswith("docs/x.md: wrapped: a false alarm: ")


def test_what_is_named_elsewhere_survives(quote: Mutant) -> None:
    line, column = quote.places[0]
    assert "the model says" in judged(quote._replace(places=((line, column + 1),))).wrong


def test_a_fault_that_stops_the_audit_survives(quote: Mutant, monkeypatch: pytest.MonkeyPatch) -> None:
    def stops(*_: object) -> None:
        raise RuntimeError("no audit")

    monkeypatch.setattr(mutants, "audit_page", stops)
    assert judged(quote).wrong == "RuntimeError: no audit"
    assert mutants.edited(harmless.Edit("about", "docs/acts/2-queue.md")).wrong == "RuntimeError: no audit"


def test_a_run_goes_on_where_one_over_the_same_sources_was_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    few = [*of_records()][:40]
    path = tmp_path / "mutants.jsonl"
    assert {r.key for r in run(few[:10], path=path)} == {str(m) for m in few[:10]}
    with path.open("a", encoding="utf-8") as file:
        file.write('["torn')
    before = path.read_text(encoding="utf-8").splitlines()
    made: list[str] = []

    def do(task: Mutant) -> Result:
        made.append(str(task))
        return Result(str(task), task.kind, "")

    monkeypatch.setattr(mutants, "done", do)
    monkeypatch.setattr("multiprocessing.get_context", lambda _: SimpleNamespace(Pool=InThisProcess))
    assert len(run(few, path=path)) == 40
    assert {*made} == {str(m) for m in few[10:]}
    assert before[:11] == path.read_text(encoding="utf-8").splitlines()[:11]
    assert len(run(few, path=path, restart=True)) == 40
    assert len(made) == 70
    assert remembered(path, "another hash") == {}


class InThisProcess:
    """A pool that is none."""

    def __init__(self, *_: object) -> None: ...

    def __enter__(self) -> InThisProcess:
        return self

    def __exit__(self, *_: object) -> None: ...

    def imap_unordered(self, do: object, tasks: list[Mutant], chunksize: int) -> Iterator[Result]:
        return (mutants.done(task) for task in tasks)


@pytest.mark.full
def test_ctrl_c_stops_it_and_it_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "mutants.jsonl"
    program = (
        f"from pathlib import Path; from verify import mutants; mutants.PROGRESS = Path({str(path)!r}); "
        "raise SystemExit(mutants.main(['--every', '3', 'docs/acts/2-queue.md']))"
    )

    def started() -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-c", program],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    process = started()
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and (not path.exists() or path.read_text(encoding="utf-8").count("\n") < 3):
        time.sleep(0.1)
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert errors.strip() == "stopped: run it again to go on"
    done = path.read_text(encoding="utf-8").splitlines()
    assert len(done) >= 3
    process = started()
    out, _ = process.communicate(timeout=300)
    assert process.returncode == 0, out
    assert path.read_text(encoding="utf-8").splitlines()[: len(done)] == done
    counts = Counter(json.loads(line)[0] for line in path.read_text(encoding="utf-8").splitlines()[1:])
    assert set(counts.values()) == {1}
    assert "0 false alarms" in out
