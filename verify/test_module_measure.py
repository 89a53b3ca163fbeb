"""`make measure`: a clock of its own must be measured as it was set; what the page says of a record follows the record."""

from __future__ import annotations

import json
import platform
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from macros import cpu_record, runs
from macros.audit import audit_sources
from macros.calls import Recorder, recording
from macros.evaluate import book, speaker, using
from macros.figures import module as figures
from macros.gpu_record import DeviceRecord, sealed
from macros.quantity import QuoteError
from macros.records import RecordError, digest, write
from perfmodel.book import LEDGER
from perfmodel.number import Ledger
from verify import measure


class Machine:
    """A CPU that is made up: a product takes what `cost_s` says, the first call of each size a second more."""

    def __init__(self, cost_s: Callable[[int], float]) -> None:
        self.now, self.cost_s, self.calls = 0.0, cost_s, [0]

    def clock(self) -> float:
        return self.now

    def work(self, side: int) -> Callable[[], None]:
        def multiply() -> None:
            self.now += self.cost_s(side) + (side not in self.calls)
            self.calls.append(side)

        return multiply


def test_what_is_measured_is_what_went_in() -> None:
    machine = Machine(lambda side: 1e-6 + side**3 * 1e-9)
    found = measure.times({side: machine.work(side) for side in (1, 10, 100)}, rounds=5, round_s=1e-3, clock=machine.clock)
    for side, row in found.items():
        for name in ("median", "low", "high", "best"):
            assert row[name] == pytest.approx(1e-6 + side**3 * 1e-9, rel=1e-6), (side, name)
    # 1e-3 s hold 1 of the largest (1.001 ms), and of the others as many as the next power of two: 512 · 2 µs, 1024 · 1.001 µs.
    assert {side: row["calls"] for side, row in found.items()} == {1: 1024, 10: 512, 100: 1}


def test_a_busy_moment_falls_on_all_sizes() -> None:
    """Sizes take turns: after the last warm-up, every round has each of them, in the same order."""
    machine = Machine(lambda side: float(side))
    measure.times({1: machine.work(1), 2: machine.work(2), 3: machine.work(3)}, rounds=4, round_s=0.5, clock=machine.clock)
    assert machine.calls[-12:] == [1, 2, 3] * 4


def test_the_spread_shows_a_machine_that_is_disturbed() -> None:
    times = iter([1.0, 1.0, 9.0, 1.0, 9.0] * 100)
    machine = Machine(lambda _: next(times))
    row = measure.times({1: machine.work(1)}, rounds=20, round_s=0.0, clock=machine.clock)[1]
    assert (row["median"], row["best"], row["high"]) == (1.0, 1.0, 9.0)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measure, "SIDES", (2, 4))
    monkeypatch.setattr(measure, "ROUNDS", 3)
    monkeypatch.setattr(measure, "ROUND_S", 1e-4)


def test_it_writes_a_record_that_names_no_machine(small: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "matmul.json"
    assert measure.main(["--out", str(path)]) == 0
    text = path.read_text(encoding="utf-8")
    assert platform.node() not in text
    record = DeviceRecord(**json.loads(text))
    assert record.what == cpu_record.WHAT
    assert record.code == cpu_record.code_hash()
    assert [row["side"] for row in record.sections["matmul"]["rows"]] == [2, 4]
    assert {"threads", "blas", "torch", "cpus", "python"} <= set(record.environment)
    assert "matmul.json is written" in capsys.readouterr().out


def test_a_bad_flag_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        measure.main(["--outt", "x", "y"])
    assert ended.value.code == 2
    assert "usage: python -m verify.measure" in capsys.readouterr().err


# The page and the record.

ABOUT = {
    "device": "A CPU",
    "cpus": 8,
    "threads": 4,
    "blas": "a library 1.2",
    "simd": "AVX2",
    "torch": "9.9",
    "python": "3.99",
    "platform": "X",
    "load_before": 0.0,
}
COSTS = {16: 3e-6, 512: 2.2e-3, 4096: 1.000002}  # the call takes 2 µs, so c = 1 s / 4096³


def made(costs: dict[int, float] = COSTS, code: str = "") -> DeviceRecord:
    def row(seconds: float) -> dict[str, Any]:
        return {"median": seconds, "low": 0.9 * seconds, "high": 1.1 * seconds, "best": 0.8 * seconds, "rounds": 7, "calls": 1}

    section = {"call": row(2e-6), "rows": [{"side": side, **row(seconds)} for side, seconds in costs.items()]}
    return sealed(
        date="2026-01-02 03:04 UTC",
        environment=ABOUT,
        sections={"matmul": section},
        code=code or cpu_record.code_hash(),
        what=cpu_record.WHAT,
    )


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the build looks for the record. The book of this process has its numbers before: it keeps those it gets first."""
    book()
    monkeypatch.setattr(cpu_record, "PATH", tmp_path / "matmul.json")
    return tmp_path / "matmul.json"


@pytest.fixture
def another(path: Path) -> Iterator[Ledger]:
    """The book with the numbers of another record."""
    write(made(), path)
    ledger = Ledger()
    for number in LEDGER:
        if not number.name.startswith("products."):
            ledger._add(number)
    runs._enter_products(ledger)
    with using(ledger):
        yield ledger


def test_the_line_is_made_from_two_times(another: Ledger) -> None:
    assert another["products.each"].value == pytest.approx(4096**-3, rel=1e-12)
    # Side 512 is an eighth of 4096: 1 s / 512 = 1.953125 ms, and the call. Side 16: 16³/4096³ s = 2⁻²⁴ s, 59.6 ns, and the call.
    assert another["products.p512"].value == pytest.approx(1.953125e-3 + 2e-6, rel=1e-12)
    assert another["products.p16"].value == pytest.approx(2**-24 + 2e-6, rel=1e-12)
    assert another["products.o16"].value == pytest.approx(2 / 3, rel=1e-12)
    assert another["products.d16"].value == pytest.approx(3e-6 / 16**3 * 4096**3, rel=1e-12)  # 3 µs, over 59.6 ns: 50.3
    # 2.2 ms at side 512, where the line says 1.955125 ms: 12.5 % off.
    assert another["products.worst"].value == pytest.approx(2.2 / 1.955125 - 1, rel=1e-9)
    assert another["products.r4096"].value == pytest.approx(2 * 4096**3 / 1.000002, rel=1e-12)
    assert list(another.disagreements()) == []
    assert another["products.t512"].kind == "measured"
    assert (
        str(another["products.t512"].source)
        == "Training at Scale, measured 2026-01-02 03:04 UTC, A CPU, 4 threads, a library 1.2, PyTorch 9.9"
    )


def test_another_record_leaves_the_book_of_this_process_alone(another: Ledger) -> None:
    figures.matmul_cube()  # the first to ask for the book, when this test runs alone
    assert another["products.t16"].value == 3e-6
    assert LEDGER["products.t16"].value != 3e-6


def test_the_words_follow_the_record(another: Ledger) -> None:
    drawn = figures.matmul_cube()
    recorder = Recorder()
    with recording(recorder):
        say = speaker(figures.__file__)
        said = [say(words)[1].replace("\u00a0", " ") for words in (drawn.title, drawn.alt, drawn.caption)]
        table = figures.matmul_exercise().html(say)
    assert recorder.faults == []
    assert said[0] == "A multiply-add in a product of side 16 costs 50.3× as much as in one of side 4096"
    assert "from 3 µs at side 16 to 1.000002 s" in said[1].replace("1000.002 ms", "1.000002 s")
    assert "medians of 7 rounds, with a library 1.2 and PyTorch 9.9" in said[2]
    assert "66.7% of the time" in said[2]
    assert drawn.badge == "measured · A CPU, 4 threads · 2026-01-02"
    assert "sets the slope" in table
    assert ">512<" in table
    assert ">16<" not in table
    assert "Not quite: one lies" in table  # its quartiles are 1.98 and 2.42 ms
    assert "12.5%" in table.replace("\u00a0", " ")


def test_a_busy_machine_is_told_of(another: Ledger, path: Path) -> None:
    assert "Other work" not in figures.matmul_cube().caption
    record = made()
    write(sealed(date=record.date, environment={**ABOUT, "load_before": 9.0}, sections=record.sections, code=record.code), path)
    assert figures.matmul_cube().caption.endswith("Other work ran on the machine, so these times are too long.")


def test_times_about_the_line_are_a_straight_line(another: Ledger, path: Path) -> None:
    write(made({**COSTS, 512: 2.0e-3}), path)  # 1.8 to 2.2 ms, the line at 1.955 ms
    assert figures.matmul_exercise().caption.startswith("A straight line? Within the spread of the times, yes")


def test_a_record_of_other_code_is_shown_and_says_so(another: Ledger, path: Path) -> None:
    write(made(code="0" * 64), path)
    assert figures.matmul_cube().badge.endswith("made by other code")


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda text: text[: len(text) // 2], "is torn"),
        (
            lambda text: text.replace("0.0022", "0.0011"),
            "was changed after the run that made it: take the file again, or run make measure",
        ),
    ],
    ids=["torn", "edited"],
)
def test_a_spoilt_record_is_refused(path: Path, spoil: Callable[[str], str], says: str) -> None:
    write(made(), path)
    text = path.read_text(encoding="utf-8")
    assert spoil(text) != text
    path.write_text(spoil(text), encoding="utf-8")
    with pytest.raises(RecordError, match=says):
        cpu_record.read()
    with pytest.raises(QuoteError, match=says):
        figures.matmul_cube()
    ledger = Ledger()
    runs._enter_products(ledger)  # told of where a page asks for it, not here
    assert len(ledger) == 0


@pytest.mark.parametrize("text", ["", '{"torn": '], ids=["missing", "torn"])
def test_a_record_that_cannot_be_used_is_one_fault_whatever_waits_for_it(path: Path, text: str) -> None:
    if text:
        path.write_text(text, encoding="utf-8")
    ledger = Ledger()
    for number in LEDGER:
        if not number.name.startswith("products."):
            ledger._add(number)
    audit = audit_sources(ledger)
    [fault] = audit.faults
    assert str(fault).startswith(f"docs/records/matmul.json: {'is torn' if text else 'is missing: run make measure'}")
    assert {found.path for found in audit.withheld} == {"docs/module/1-gpu.md"}


def test_the_record_of_this_checkout_is_whole_and_by_this_code() -> None:
    record = cpu_record.read()
    assert record is not None
    assert not cpu_record.busy(record.environment)
    assert record.code == cpu_record.code_hash()
    assert [row["side"] for row in record.sections["matmul"]["rows"]][-4:] == [512, 1024, 2048, 4096]
    assert (
        replace(record, digest="").digest
        != record.digest
        == digest({"date": record.date, "environment": record.environment, "code": record.code, "sections": record.sections})
    )
