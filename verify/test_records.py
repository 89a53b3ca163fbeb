"""Records: a fresh one is read, a stale, torn or edited one is made again, and a reader never sees half of one."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from mkdocs.exceptions import PluginError

from macros import audit, published, records, render, runs
from macros.build import on_config
from macros.records import RecordError, load, read
from perfmodel.number import Ledger
from verify.checkout import ROOT, build, copy

RESULTS: dict[str, Any] = {"l2": {"2": [0.0, 1.4281349483100270e-16]}, "part_in_ten_to": {"2": 15}}


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Each training that a test sets off, in place of a real one."""
    runs: list[str] = []

    def record() -> dict[str, Any]:
        runs.append("lockstep")
        return RESULTS

    monkeypatch.setattr("perfmodel.lockstep.shown.record", record)
    return runs


@pytest.fixture
def stored(tmp_path: Path, made: list[str], capsys: pytest.CaptureFixture[str]) -> Path:
    """A fresh record."""
    load("lockstep", folder=tmp_path)
    assert made == ["lockstep"]
    made.clear()
    assert "lockstep.json does not exist: making it again" in capsys.readouterr().err
    return tmp_path / "lockstep.json"


def test_a_fresh_record_is_read_and_nothing_is_trained(stored: Path, made: list[str]) -> None:
    before = stored.read_bytes()
    record = load("lockstep", folder=stored.parent)
    assert record.results == RESULTS
    assert made == []
    assert stored.read_bytes() == before


def test_a_record_says_how_it_was_made_and_not_where(stored: Path) -> None:
    record = read(stored)
    assert (record.device, record.code) == ("cpu", records.code_hash(ROOT / "perfmodel/lockstep"))
    assert record.machine.split(", ")[1].endswith("CPUs")
    assert os.uname().nodename not in stored.read_text(encoding="utf-8")
    assert record.date.endswith("UTC")


def _other_code(text: str) -> str:
    return json.dumps({**json.loads(text), "code": "0" * 64})


def _edited(text: str) -> str:
    changed = text.replace("1.428134948310027e-16", "1.428134948310027e-18")
    assert changed != text
    return changed


def _without_a_key(text: str) -> str:
    return json.dumps({key: value for key, value in json.loads(text).items() if key != "torch"})


@pytest.mark.parametrize(
    ("damage", "why"),
    [
        (_other_code, "was made by another version of perfmodel/lockstep"),
        (lambda text: text[: len(text) // 2], "is torn"),
        (lambda text: "", "is torn"),
        (lambda text: "[1, 2]", "is torn"),
        (_without_a_key, "is torn"),
        (_edited, "was changed after the run that made it"),
        (lambda text: text.replace('"date": "20', '"date": "19', 1), "was changed after the run that made it"),
    ],
    ids=["stale", "torn", "empty", "a list", "a key short", "edited", "another date"],
)
def test_a_record_that_cannot_be_used_is_made_again(
    stored: Path, made: list[str], capsys: pytest.CaptureFixture[str], damage: Any, why: str
) -> None:
    whole = stored.read_text(encoding="utf-8")
    stored.write_text(damage(whole), encoding="utf-8")
    assert load("lockstep", folder=stored.parent).results == RESULTS
    assert made == ["lockstep"]
    assert f"lockstep.json {why}" in capsys.readouterr().err
    again = json.loads(stored.read_text(encoding="utf-8"))
    assert {**again, "date": "", "digest": ""} == {**json.loads(whole), "date": "", "digest": ""}
    load("lockstep", folder=stored.parent)
    assert made == ["lockstep"], "the new record is fresh"


def test_a_record_of_bytes_that_are_no_text_is_made_again(stored: Path, made: list[str]) -> None:
    stored.write_bytes(b"\xff\xfe{")
    load("lockstep", folder=stored.parent)
    assert made == ["lockstep"]


def test_the_record_follows_the_code(stored: Path, made: list[str], tmp_path: Path) -> None:
    """The hash is that of the files: any edit, file more or name changed makes the record stale, another line end does not."""
    code, copy = ROOT / "perfmodel/lockstep", tmp_path / "root/perfmodel/lockstep"
    copy.mkdir(parents=True)
    for path in code.glob("*.py"):
        (copy / path.name).write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    load("lockstep", folder=stored.parent, root=tmp_path / "root")
    assert made == []
    changes: tuple[Callable[[], object], ...] = (
        lambda: (copy / "step.py").write_bytes((code / "step.py").read_bytes() + b"\n"),
        lambda: (copy / "more.py").write_bytes(b""),
        lambda: (copy / "more.py").rename(copy / "other.py"),
    )
    for times, change in enumerate(changes, start=1):
        change()
        load("lockstep", folder=stored.parent, root=tmp_path / "root")
        assert len(made) == times


def test_without_torch_a_fresh_record_is_enough_and_a_stale_one_is_an_error_in_words(
    stored: Path, made: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.startswith("perfmodel.lockstep")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "torch", None)
    assert load("lockstep", folder=stored.parent).results == RESULTS
    stored.write_text("{", encoding="utf-8")
    with pytest.raises(
        RecordError, match=r"lockstep\.json is torn .*torch, which makes it, is not installed: run `pip install"
    ) as error:
        load("lockstep", folder=stored.parent)
    assert isinstance(error.value, ValueError)
    assert stored.read_text(encoding="utf-8") == "{", "what was there is left alone"


def test_a_record_that_cannot_be_made_is_one_line_of_the_audit_and_of_a_build(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """And it stays that line: what was entered before it must not stand in the way the next time."""
    known = {name: load(name) for name in ("lockstep", "lost")}

    def torn(name: str) -> records.Record:
        if name not in known:
            raise RecordError(f"{name}.json is torn, and numpy, which makes it, is not installed")
        return known[name]

    empty = Ledger()
    monkeypatch.setattr(runs, "load", torn)
    monkeypatch.setattr(audit, "current_book", lambda: runs.enter(empty))
    for _ in range(2):
        assert audit.main([]) == 1
        says = "docs/records: noise.json is torn, and numpy, which makes it, is not installed"
        assert capsys.readouterr().out.splitlines()[0] == says
    assert len(empty) == 0
    monkeypatch.setattr(render, "book", lambda: runs.enter(empty))
    with pytest.raises(PluginError, match=f"^{says}$"):
        on_config({"docs_dir": str(ROOT / "docs"), "extra": {}})


def test_an_interrupted_write_leaves_the_old_record(stored: Path, made: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    old = stored.read_bytes()

    def fail(*_: object) -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="disk is full"):
        records.make("lockstep", folder=stored.parent)
    assert stored.read_bytes() == old
    assert [p.name for p in stored.parent.iterdir()] == ["lockstep.json"]


def test_no_record_of_that_name() -> None:
    with pytest.raises(RecordError, match="a record is one of lockstep, lost, noise; got 'lockstp'"):
        load("lockstp")


def test_numbers_come_back_to_the_last_bit(stored: Path) -> None:
    assert read(stored).results["l2"]["2"][1] == 1.4281349483100270e-16


def test_the_record_of_this_checkout() -> None:
    """What the pages quote: the loss fell, the replicas agree, and each fault is far outside of what lockstep allows."""
    results = load("lockstep").results
    assert results["steps"][-1] == 300
    for k in ("2", "4"):
        assert results["loss"][k][-1] < 0.1 * results["loss"][k][0]
        assert results["l2_worst"][k] == max(results["l2"][k]) <= 1e-13  # 1e-15 where verify runs lockstep itself
        assert not any(results["spread"][k])
        for fault in results["faults"].values():
            assert fault[k]["l2_end"] > 1e-10


@pytest.mark.build
@pytest.mark.full
def test_a_run_that_rounds_more_still_builds_and_says_so(site: Path, tmp_path: Path) -> None:
    """As on a machine whose sums round in another order: a hundred times the distances, and N = 13."""
    project = copy(tmp_path / "project")
    path = project / "docs/records/lockstep.json"
    record = read(path)
    shown = json.loads(json.dumps(record.results))
    for name in ("l2", "l2_end", "l2_worst"):
        shown[name] = {k: [100 * far for far in of] if isinstance(of, list) else 100 * of for k, of in shown[name].items()}
    shown["part_in_ten_to"] = dict.fromkeys(shown["part_in_ten_to"], 13)
    records.write(replace(record, results=shown).sealed, path)
    done = build(project, tmp_path / "site")
    assert done.returncode == 0, done.stdout
    page = (tmp_path / "site/acts/5-replicas.html").read_text(encoding="utf-8")
    assert "less than one part in 10¹³" in page
    assert "This run was made where sums round in another order, and crosses the dashed line." in page
    assert "crosses the dashed line" not in (site / "acts/5-replicas.html").read_text(encoding="utf-8")


def a_record(results: Any) -> records.Record:
    return records.Record(
        what="a rün", date="a day", device="cpu", machine="m, 2 CPUs", code="c", results=results, numpy="2.4"
    ).sealed


def test_a_record_is_stored_as_text_that_a_person_can_read(tmp_path: Path) -> None:
    results = {"b": [1, [2, 3]], "a": {"x": 1.5}}
    sealed = '{"date":"a day","device":"cpu","machine":"m, 2 CPUs","numpy":"2.4","results":{"a":{"x":1.5},"b":[1,[2,3]]},"torch":"","what":"a r\\u00fcn"}'
    digest = hashlib.sha256(sealed.encode()).hexdigest()
    path = tmp_path / "a" / "b" / "x.json"
    for _ in range(2):  # the folders may be there
        records.write(a_record(results), path)
    assert path.read_text(encoding="utf-8") == (
        '{\n "what": "a rün",\n "date": "a day",\n "device": "cpu",\n "machine": "m, 2 CPUs",\n "code": "c",\n'
        f' "digest": "{digest}",\n "results": {{\n  "b": [\n   1,\n   [2, 3]\n  ],\n  "a": {{\n   "x": 1.5\n  }}\n }},\n "torch": "",\n "numpy": "2.4"\n}}\n'
    )
    assert [p.name for p in path.parent.iterdir()] == ["x.json"]
    assert read(path) == a_record(results)
    with pytest.raises(ValueError, match="Out of range float"):
        records.write(replace(a_record(results), results={"x": float("nan")}), path)
    assert read(path) == a_record(results)


def test_the_hash_of_code_is_that_of_names_and_texts(tmp_path: Path) -> None:
    (tmp_path / "b.py").write_text("y = 'ü'\n", encoding="utf-8")
    (tmp_path / "a.py").write_text("x = 1\n", encoding="utf-8")
    (tmp_path / "notes.txt").write_text("no code", encoding="utf-8")
    assert records.code_hash(tmp_path) == hashlib.sha256("a.py\n6\nx = 1\nb.py\n8\ny = 'ü'\n".encode()).hexdigest()


def test_what_a_run_says_of_itself(tmp_path: Path, made: list[str]) -> None:
    import torch

    record = records.make("lockstep", folder=tmp_path)
    assert (record.what, record.device) == (
        "the XOR network trained on one replica, on several in lockstep, and on several with a fault",
        "cpu",
    )
    assert record.machine == f"{platform.machine()}, {os.cpu_count()} CPUs"
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC", record.date)
    assert (record.torch, record.numpy, record.made_with) == (torch.__version__, "", f"PyTorch {torch.__version__}")
    assert record.code == records.code_hash(ROOT / "perfmodel" / "lockstep")
    assert (record.results, record) == (RESULTS, record.sealed)
    assert read(tmp_path / "lockstep.json") == record


def test_a_run_is_dated_in_utc(tmp_path: Path, made: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as elsewhere:
        elsewhere.setenv("TZ", "XXX-05:00")
        time.tzset()
        record = records.make("lockstep", folder=tmp_path)
    time.tzset()
    date = datetime.strptime(record.date, "%Y-%m-%d %H:%M UTC").replace(tzinfo=UTC)
    assert abs(datetime.now(UTC) - date) < timedelta(hours=1)


def test_a_run_whose_results_are_no_numbers_is_not_stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("perfmodel.lockstep.shown.record", lambda: {"l2": [float("nan")]})
    with pytest.raises(ValueError, match="Out of range float"):
        records.make("lockstep", folder=tmp_path)
    assert [*tmp_path.iterdir()] == []


def test_a_file_is_written_with_the_line_ends_that_are_asked_for(tmp_path: Path) -> None:
    for newline, content in (("\n", b"a\nb\n"), ("\r\n", b"a\r\nb\r\n")):
        records.write_whole(tmp_path / "x", "a\nb\n", newline)
        assert (tmp_path / "x").read_bytes() == content


def test_what_is_not_installed_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        records,
        "MAKERS",
        {"x": records.Maker("json.tool", "a run", "no_such_library"), "y": records.Maker("no_such_module.x", "a run", "json")},
    )
    with pytest.raises(RecordError) as error:
        records.make("x", folder=tmp_path)
    assert (
        str(error.value)
        == "x.json is to be made again, and no_such_library, which makes it, is not installed: run `pip install -r requirements.txt`"
    )
    with pytest.raises(ModuleNotFoundError, match="no_such_module"):
        records.make("y", folder=tmp_path)
    with pytest.raises(RecordError, match=r"^a record is one of x, y; got 'z'$"):
        records.make("z", folder=tmp_path)


def test_the_command_makes_the_named_records_or_all(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    made: list[str] = []

    def make(name: str) -> records.Record:
        made.append(name)
        return a_record({})

    monkeypatch.setattr(records, "make", make)
    assert records.main([]) == 0
    assert capsys.readouterr().out == "".join(f"{name}: a day, NumPy 2.4, m, 2 CPUs\n" for name in ("lockstep", "lost", "noise"))
    assert records.main(["noise"]) == 0
    assert made == ["lockstep", "lost", "noise", "noise"]
    assert capsys.readouterr().out == "noise: a day, NumPy 2.4, m, 2 CPUs\n"


@pytest.mark.parametrize(("torch", "numpy"), [("", ""), ("2.13", "2.4")])
def test_a_record_names_one_library(torch: str, numpy: str) -> None:
    with pytest.raises(ValueError, match=f"^a record must name one library, torch or numpy; got '{torch}' and '{numpy}'$"):
        replace(a_record({}), torch=torch, numpy=numpy)


def test_a_published_table_is_what_was_entered(tmp_path: Path) -> None:
    """A table, its entry, and each way in which it can be refused."""
    table = b"gpus,img/s\r\n1,230\r\n8,1840\r\n"
    entry = {
        "title": "A paper",
        "authors": "A. Uthor",
        "place": "Table 1",
        "hardware": "8 GPUs",
        "entered": "by hand",
        "compared": True,
    }
    said = json.dumps(entry, sort_keys=True).encode()
    entry["sha256"] = hashlib.sha256(b"gpus,img/s\n1,230\n8,1840\n" + said).hexdigest()
    (tmp_path / "sources.json").write_text(json.dumps({"one": entry, "two": entry}), encoding="utf-8")
    (tmp_path / "one.csv").write_bytes(table)
    one = published.read(tmp_path, "one")
    assert (one.name, [dict(row) for row in one.rows]) == ("one", [{"gpus": "1", "img/s": "230"}, {"gpus": "8", "img/s": "1840"}])
    assert (one.hardware, one.entered, one.compared) == ("8 GPUs", "by hand", True)
    assert (one.source.title, one.source.authors, one.source.url, one.source.licence, one.source.place) == (
        "A paper",
        "A. Uthor",
        "",
        "",
        "Table 1",
    )
    assert published.names(tmp_path) == ["one", "two"]
    [(path, why)] = published.changed(tmp_path)
    assert path == "docs/records/published/two.csv"
    assert why.startswith("must be there, and have an entry in sources.json (FileNotFoundError(2, 'No such file or directory')")
    with pytest.raises(
        RecordError,
        match=r"^docs/records/published/three\.csv must be there, and have an entry in sources\.json \(KeyError\('three'\)\)$",
    ):
        published.read(tmp_path, "three")
    (tmp_path / "two.csv").write_bytes(table.replace(b"230", b"231"))
    now = hashlib.sha256(b"gpus,img/s\n1,231\n8,1840\n" + said).hexdigest()
    assert published.changed(tmp_path) == [("docs/records/published/two.csv", (
        "was changed after it was entered, or its entry in sources.json was: take the change back, or hold both against the source, say so in the "
        f"entry, and put the new sha256 there, {now}"
    ))]  # fmt: skip
    for key, value in (("hardware", "9 GPUs"), ("compared", False), ("note", "more")):  # what pages say of the figures
        (tmp_path / "sources.json").write_text(json.dumps({"one": {**entry, key: value}}), encoding="utf-8")
        with pytest.raises(RecordError, match=r"one\.csv was changed after it was entered, or its entry"):
            published.read(tmp_path, "one")
    (tmp_path / "sources.json").write_text("{", encoding="utf-8")
    with pytest.raises(RecordError, match=r"JSONDecodeError"):
        published.read(tmp_path, "one")
