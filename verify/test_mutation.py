"""The mutation run itself: a survivor fails it, one that is accepted does not, and a file of accepted ones can't go stale."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from mutmut.mutation.data import SourceFileMutationData
from mutmut.stats import status_by_exit_code

from verify import mutation
from verify.checkout import ROOT
from verify.mutation import Mutant, Verdict, accepted, forget_changed_tests, generate, report, to_run

KILLED = Verdict("m.x_f__mutmut_1", "m", "killed", None)
ENDLESS = Verdict("m.x_f__mutmut_2", "m", "timeout", None)
CHANGE = Mutant("m", "f", "return x * 1", "return x / 1")
SURVIVOR = Verdict("m.x_f__mutmut_3", "m", "survived", CHANGE)
UNSEEN = Verdict("m.x_f__mutmut_4", "m", "not checked", None)


def test_a_survivor_fails_unless_it_is_known_to_be_equivalent() -> None:
    text, well = report([KILLED, ENDLESS], {})
    assert well
    assert text.splitlines()[-1].split() == ["all", "2", "1", "1", "0", "0", "0", "100.0%"]
    text, well = report([KILLED, SURVIVOR], {})
    assert not well
    assert text.endswith("m.x_f__mutmut_3: survived\n  - return x * 1\n  + return x / 1")
    assert "50.0%" in text
    text, well = report([KILLED, SURVIVOR], {CHANGE: "both are x"})
    assert well
    assert text.splitlines()[-1].split() == ["all", "2", "1", "0", "1", "0", "0", "100.0%"]


def test_a_run_that_is_not_over_fails() -> None:
    text, well = report([KILLED, UNSEEN], {})
    assert not well
    assert "m.x_f__mutmut_4: not checked" in text
    assert next(line for line in text.splitlines() if line.startswith("all")).split() == [
        "all",
        "2",
        "1",
        "0",
        "0",
        "0",
        "1",
        "100.0%",
    ]


def test_a_row_that_no_survivor_needs_fails() -> None:
    text, well = report([KILLED], {CHANGE: "both are x"})
    assert not well
    assert "equivalent_mutants.csv lists what no survivor needs" in text
    assert report([KILLED], {CHANGE._replace(module="other"): "did not run"})[1]


@pytest.mark.parametrize("rows", [["m,f,a,b,"], ["m,f,a,b, "], ["m,f,a,b,why", "m,f,a,b,why"]])
def test_an_accepted_mutant_stands_once_with_a_reason(tmp_path: Path, rows: list[str]) -> None:
    path = tmp_path / "equivalent.csv"
    path.write_text("\n".join(["module,function,was,becomes,reason", *rows]), encoding="utf-8")
    with pytest.raises(ValueError, match="stands once, with a reason"):
        accepted(path)


def test_the_accepted_mutants_can_be_read() -> None:
    for mutant in accepted(ROOT / mutation.EXPECTED):
        assert mutant.was != mutant.becomes
        assert mutant.was.split()[0] in (ROOT / Path(*mutant.module.split("."))).with_suffix(".py").read_text(encoding="utf-8")


def test_a_second_run_takes_up_what_the_first_left() -> None:
    found = [KILLED, ENDLESS, SURVIVOR, UNSEEN]
    assert to_run(found, [], ["m"]) == [SURVIVOR.name, UNSEEN.name]
    assert to_run(found, [CHANGE], ["m"]) == [UNSEEN.name]
    assert to_run(found, [], ["other"]) == []


def test_a_file_of_mutants_that_was_being_written_is_written_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    mutated, meta = Path("mutants/m.py"), Path("mutants/m.py.meta")
    Path("mutants").mkdir()
    for name in ("copy_src_dir", "copy_also_copy_files"):
        monkeypatch.setattr(mutation, name, lambda: None)
    monkeypatch.setattr(mutation, "create_mutants", lambda children: None)
    monkeypatch.setattr(mutation, "walk_mutatable_files", lambda: [Path("m.py")])

    def is_kept(meta_after_s: float | None) -> bool:
        mutated.touch()
        meta.unlink(missing_ok=True)
        if meta_after_s is not None:
            meta.touch()
            at = mutated.stat().st_mtime + meta_after_s
            os.utime(meta, (at, at))
        generate()
        return mutated.exists()

    assert is_kept(1)
    assert not is_kept(-1)
    assert not is_kept(None)


def test_a_test_that_changed_is_asked_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mutants").mkdir()
    path = Path("mutants/mutmut-stats.json")
    for name in ("old.py", "new.py"):
        Path(name).touch()
    path.write_text(
        json.dumps({
            "duration_by_test": {"old.py::a": 1, "new.py::b": 1, "new.py::c": 1},
            "tests_by_mangled_function_name": {"m.x_f": ["old.py::a", "new.py::b"]},
        }),
        encoding="utf-8",
    )  # fmt: skip
    now = path.stat().st_mtime
    os.utime("old.py", (now - 1, now - 1))
    os.utime("new.py", (now + 1, now + 1))
    forget_changed_tests()
    assert json.loads(path.read_text(encoding="utf-8")) == {
        "duration_by_test": {"old.py::a": 1},
        "tests_by_mangled_function_name": {"m.x_f": ["old.py::a"]},
    }


def test_when_other_tests_are_selected_verdicts_are_not_forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mutants").mkdir()
    path = Path("mutants/mutmut-stats.json")
    stats: dict[str, object] = {"duration_by_test": {}, "tests_by_mangled_function_name": {}}
    path.write_text(json.dumps(stats), encoding="utf-8")
    forget_changed_tests()
    assert path.exists()
    path.write_text(json.dumps({**stats, "config_fingerprint": {"test_selection": "other tests"}}), encoding="utf-8")
    forget_changed_tests()
    assert not path.exists()


@pytest.mark.parametrize(("code", "letters"), [("same", "ktsk."), ("other", "...k.")])
def test_what_a_run_did_not_try_keeps_its_verdict(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str, letters: str) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mutants").mkdir()
    Path("m.py").touch()
    mutation.KEPT.parent.mkdir(parents=True)
    monkeypatch.setattr(mutation, "walk_mutatable_files", lambda: [Path("m.py")])
    mutation.KEPT.write_text(json.dumps({"m": {"x_f": ["same", "ktss."]}}), encoding="utf-8")
    data = SourceFileMutationData(path="m.py")
    data.exit_code_by_key = {
        f"m.x_f__mutmut_{number}": exit_code for number, exit_code in enumerate([None, None, None, 1, None], 1)
    }
    data.hash_by_function_name = {"x_f": code}
    data.save()
    mutation.keep()
    assert json.loads(mutation.KEPT.read_text(encoding="utf-8")) == {"m": {"x_f": [code, letters]}}


@pytest.mark.parametrize(("code", "statuses"), [("same", [1, 36, 0, None, 0]), ("other", [None, None, None, None, 0])])
def test_a_fresh_clone_takes_up_every_verdict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str, statuses: list[int | None]
) -> None:
    """Survivors too, else each that is known to be equivalent would be tried anew; what this clone has found is not overwritten."""
    monkeypatch.chdir(tmp_path)
    Path("mutants").mkdir()
    mutation.KEPT.parent.mkdir(parents=True)
    monkeypatch.setattr(mutation, "walk_mutatable_files", lambda: [Path("m.py")])
    mutation.KEPT.write_text(json.dumps({"m": {"x_f": ["same", "kts.k"]}}), encoding="utf-8")
    data = SourceFileMutationData(path="m.py")
    data.exit_code_by_key = {f"m.x_f__mutmut_{number}": 0 if number == 5 else None for number in range(1, 6)}
    data.hash_by_function_name = {"x_f": code}
    data.save()
    mutation.take_up()
    data.load()
    taken = [status_by_exit_code[status] for status in data.exit_code_by_key.values()]
    assert taken == [status_by_exit_code[status] for status in statuses]


@pytest.mark.full
def test_a_weak_test_lets_a_mutant_live_and_a_better_one_kills_it(tmp_path: Path) -> None:
    (tmp_path / "verify" / "expected").mkdir(parents=True)
    (tmp_path / mutation.EXPECTED).write_text("module,function,was,becomes,reason\n", encoding="utf-8")
    (tmp_path / "toy").mkdir()
    (tmp_path / "toy" / "__init__.py").touch()
    half = tmp_path / "toy" / "half.py"
    half.write_text('def half(x):\n    """Half.\n\n    >>> half(0)\n    0.0\n    """\n    return x / 2\n', encoding="utf-8")
    (tmp_path / "pyproject.toml").write_text(
        '[tool.pytest.ini_options]\npythonpath = ["."]\naddopts = ["--doctest-modules"]\n[tool.mutmut]\nsource_paths = ["toy"]\ntimeout_multiplier = 1000.0\nuse_git_change_detection = false\n'
        'pytest_add_cli_args_test_selection = ["tests", "toy"]\npytest_add_cli_args = ["-p", "no:cacheprovider", "-p", "verify.mutation"]\n',
        encoding="utf-8",
    )
    tests = tmp_path / "tests" / "test_half.py"
    tests.parent.mkdir()

    def mutate() -> tuple[int, str]:
        command = [sys.executable, "-m", "verify.mutation", "toy.half"]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        done = subprocess.run(
            command,
            cwd=tmp_path,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=300,
        )
        return done.returncode, done.stdout

    tests.write_text("from toy.half import half\n\n\ndef test_half():\n    assert half(0) == 0\n", encoding="utf-8")
    status, text = mutate()
    assert status == 1, text
    assert "  - return x / 2\n  + return x / 3" in text
    tests.write_text("from toy.half import half\n\n\ndef test_half():\n    assert half(6) == 3\n", encoding="utf-8")
    status, text = mutate()
    assert (status, text.splitlines()[-1].split()) == (0, ["all", "2", "2", "0", "0", "0", "0", "100.0%"]), text

    killers = (tmp_path / "mutants" / "toy.half.x_half.killers").read_text(encoding="utf-8").splitlines()
    assert "tests/test_half.py::test_half" in killers  # they go first for the next mutant of the function

    [[_, verdicts]] = json.loads((tmp_path / mutation.KEPT).read_text(encoding="utf-8"))["toy.half"].values()
    assert verdicts == "kk"
    shutil.rmtree(tmp_path / "mutants")  # a fresh clone: the verdicts hold for a function as it was
    tests.write_text("from toy.half import half\n\n\ndef test_half():\n    half(0)\n", encoding="utf-8")
    status, text = mutate()
    assert status == 0, text
    half.write_text(half.read_text(encoding="utf-8").replace("x / 2", "(x + 0) / 2"), encoding="utf-8")
    status, text = mutate()  # and for no other
    assert status == 1, text
    assert "survived" in text

    half.write_text("def half(x):\n    while x > 5:\n        x -= 3\n    return x\n", encoding="utf-8")
    tests.write_text(
        "from toy.half import half\n\n\ndef test_half():\n    assert [half(5), half(6), half(10)] == [5, 3, 4]\n", encoding="utf-8"
    )
    status, text = mutate()
    assert (status, text.splitlines()[-1].split()[3]) == (0, "1"), text

    half.write_text("def half(x):\n    return x / 2\n", encoding="utf-8")
    status, text = mutate()  # what fails without a mutant kills none, and is named
    assert status == 1, text
    assert "tests/test_half.py::test_half: " in text
    assert "assert [2.5, 3.0, 5.0] == [5, 3, 4]" in text
