"""Published measurements: typed in right, predicted by hand as by the models, gated as meant; each way to slip is planted and seen.

Expected values are typed from the papers and tables, or follow from their figures by the arithmetic written beside them.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from macros import predictions, published, reality
from macros.audit import audit_sources
from macros.evaluate import book
from macros.figures import TABLES
from macros.gates import DataSet, Point
from macros.pins import check_book
from macros.reality import data_set, data_sets
from macros.records import RecordError
from perfmodel import alphabeta, buckets, collectives, kernels, stages, units
from perfmodel.book import LEDGER
from perfmodel.devices import GPUS
from perfmodel.number import Ledger
from verify import reality as command
from verify.checkout import ROOT

GIB, MIB = 2**30, 2**20

# What each set is meant to be held to, how many points its source gives, and how many of them are gated.
MEANT: dict[str, tuple[str, float, int, int]] = {
    "ring_node": ("prediction", 0.02, 8, 8),  # five counts of GPUs for two machines, less the first of each
    "ring_nodes": ("prediction", 0.02, 1, 1),
    "ring_mi325x": ("prediction", 0.01, 11, 5),  # 4 counts of nodes × 3 sizes, less one; several nodes from 8 GiB
    "flat_b200": ("prediction", 0.10, 20, 5),  # 1, 2, 4, 8, 16 GiB
    "hierarchy_b200": ("bracket", 0, 20, 5),
    "allreduce_a100": ("fit", 0.15, 30, 21),  # 32 sizes, less two; 128 KiB to 32 MiB are nine
    "ddp_buckets": ("worked example", 0, 22, 22),  # 2 × 3 buckets, 4 × (count, least, median, most)
    "ddp_step": ("prediction", 0.04, 4, 4),
    "parameter_server": ("bracket", 0, 15, 15),
    "baidu": ("worked example", 0, 3, 3),
    "baidu_step": ("bracket", 0, 2, 2),
    "goyal": ("worked example", 0, 3, 3),
    "learning_rates": ("worked example", 0, 11, 11),
    "pipeline": ("prediction", 0.02, 8, 8),  # 4 models × 3 counts of microbatches, less one each
    "interleaved": ("prediction", 0.02, 8, 8),
    "bubbles": ("bound", 0, 24, 24),
    "zero_memory": ("worked example", 0, 54, 54),  # 3 models × 3 stages × 6 counts of GPUs
    "transformer_memory": ("worked example", 0, 12, 12),
    "roofline": ("bound", 0, 960, 960),
    "best": ("bound", 0, 20, 20),
    "matmul": ("prediction", 0.15, 23, 11),  # 26 less three; from 4096: 4 + 5 + 5, less three
    "matmul_elsewhere": ("prediction", 0.15, 26, 14),
    "pcie_up": ("fit", 0.05, 79, 79),  # 81 less two
    "pcie_down": ("fit", 0.05, 79, 79),
}


@pytest.fixture
def again(monkeypatch: pytest.MonkeyPatch) -> Callable[[], list[str]]:
    """Makes all sets anew and returns what slips, so that a fault can be planted in a model first."""

    def slips() -> list[str]:
        return [slip for make in predictions.MAKERS for slip in make().slips()]

    return slips


def point(name: str, label: str) -> Point:
    return next(each for each in data_set(name).points if each.label == label)


# All sets.


@pytest.mark.parametrize("each", data_sets(), ids=lambda each: each.name)
def test_it_holds(each: DataSet) -> None:
    assert each.slips() == []


def test_every_set_is_held_to_what_was_meant() -> None:
    assert [each.name for each in data_sets()] == list(MEANT)
    for each in data_sets():
        kind, gate, points, gated = MEANT[each.name]
        assert (each.kind, len(each.points), len(each.gated)) == (kind, points, gated), each.name
        assert widened(each, gate) == "", each.name


def widened(each: DataSet, meant: float) -> str:
    """What is wrong with a gate that is wider than it was meant to be: it needs a reason, and the page must show that."""
    if each.gate <= meant:
        return "" if each.gate == meant else f"{each.name} is gated more narrowly than meant: mend the table above"
    if not each.reason:
        return f"{each.name} is gated at {each.gate:.0%}, meant was {meant:.0%}, and no reason is given"
    caption = TABLES["reality"]().caption
    return "" if each.reason in caption else f"the reason of {each.name} is not on the page"


def test_a_gate_that_is_widened_without_a_reason_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    each = data_set("ddp_step")
    assert widened(replace(each, gate=0.05), 0.04).endswith("no reason is given")
    assert widened(replace(each, gate=0.05, reason="It was late."), 0.04) == "the reason of ddp_step is not on the page"
    assert widened(data_set("matmul_elsewhere"), 0.15) == ""
    monkeypatch.setattr(reality, "data_sets", lambda: (replace(each, gate=0.05, reason="It was late."),))
    assert widened(replace(each, gate=0.05, reason="It was late."), 0.04) == ""


def test_a_gate_that_is_changed_in_one_place_is_seen() -> None:
    """Gates are given, so each is pinned a second time."""
    changed = Ledger()
    for number in LEDGER:
        if number.name.startswith("gate."):
            value = 0.25 if number.name == "gate.pipeline" else number.value
            changed.given(number.name, value, number.unit, number.says, number.source)
    faults = [fault.message for fault in check_book(changed, published.PATH.parents[2] / "verify/expected/given.csv")]
    assert [message for message in faults if "gate.pipeline" in message and "pins 2 %" in message]
    assert not [message for message in faults if "gate.interleaved" in message]


def slipped(each: DataSet) -> DataSet:
    """A set with its first gated point moved just out of its gate; all of them where the median decides."""
    target = each.gated[0]

    def moved(old: Point) -> Point:
        if each.kind == "worked example":
            return replace(old, predicted=old.predicted + 1.6 * 10.0 ** -len(old.printed.partition(".")[2]))
        if each.kind == "bound":
            return replace(old, measured=old.predicted * 0.999)
        if each.kind == "bracket":
            return replace(old, measured=(old.high or 0) * (1.001 + old.slack))
        return replace(old, measured=old.predicted / (1 + each.gate * 1.01))

    return replace(each, points=tuple(moved(old) if old is target or each.rule == "median" else old for old in each.points))


@pytest.mark.parametrize("each", data_sets(), ids=lambda each: each.name)
def test_a_point_that_slips_is_seen(each: DataSet) -> None:
    assert slipped(each).slips()


def test_a_bracket_is_closed_below_too() -> None:
    each = data_set("parameter_server")
    old = each.points[0]
    assert replace(each, points=(replace(old, measured=old.predicted * (0.999 - old.slack)),)).slips()


@pytest.mark.parametrize(
    ("name", "field", "words", "wrong"),
    [
        ("flat_b200", "title", "Allreduce over five nodes of B200", "five nodes"),
        ("flat_b200", "title", "Allreduce over eight nodes of B200", "eight nodes"),  # of eight GPUs there are nodes
        ("ring_nodes", "title", "Ring over five nodes, from the rate of one", "five nodes"),  # with 5 GPUs there are rows
        ("pcie_up", "inputs", "latency and rate, from the copies of 50 KB and 69 MB", "69 MB"),
        ("pcie_up", "inputs", "latency and rate, from the copies of 51 KB and 68 MB", "51 KB"),
        ("matmul", "where", "every side from 4095", "4095"),
        ("pipeline", "title", "1F1B on 8 to 33 A100", "8 to 33"),
        ("allreduce_a100", "where", "up to 60 KiB, from 64 MiB", "60 KiB"),
    ],
)
def test_a_number_in_the_words_of_a_set_is_one_of_its_figures(
    monkeypatch: pytest.MonkeyPatch, name: str, field: str, words: str, wrong: str
) -> None:
    sets = tuple(replace(each, **{field: words}) if each.name == name else each for each in data_sets())  # type: ignore[arg-type]
    monkeypatch.setattr(reality, "data_sets", lambda: sets)
    [fault] = reality.check_reality()
    assert fault.message.startswith(f'{name}: "{wrong}" in "{words}" is no figure of ')
    line = (ROOT / fault.path).read_text(encoding="utf-8").splitlines()[fault.line - 1]
    assert line == f"def {name}() -> DataSet:"


def test_a_set_without_a_gated_point_slips() -> None:
    each = data_set("flat_b200")
    assert replace(each, points=tuple(replace(old, gated=False) for old in each.points)).slips() == ["flat_b200: no point is gated"]


def test_a_slip_stops_the_build(monkeypatch: pytest.MonkeyPatch) -> None:
    book()  # it keeps the numbers that it gets first: they must be right ones, also where this test runs first
    monkeypatch.setattr(reality, "data_sets", lambda: (slipped(data_sets()[0]), *data_sets()[1:]))
    faults = [fault for fault in audit_sources().faults if fault.path == "docs/reality.md" and "ring_node" in fault.message]
    assert len(faults) == 1
    assert "the gate is 2.00%" in faults[0].message
    assert LEDGER["reality.ring_node_high"].value == data_sets()[0].errors[-1]


def test_make_reality(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    begin = time.monotonic()
    data_sets.cache_clear()
    published.table.cache_clear()
    assert command.main() == 0
    assert time.monotonic() - begin < 3
    printed = capsys.readouterr().out
    assert all(f"{name} " in printed for name in MEANT)
    assert "with 22 measured constants" in printed  # 2 + 1 + 1 + 0 + 4 + 4 + 4 + 3 + 3
    assert "over 64 points of 9 sets" in printed  # 8 + 1 + 5 + 5 + 4 + 8 + 8 + 11 + 14
    monkeypatch.setattr(reality, "data_sets", lambda: (slipped(data_sets()[0]),))
    assert command.main() == 1
    assert "SLIPS: ring_node, 5 H200: an error of +2.02%" in capsys.readouterr().out


# The records.


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.copytree(published.PATH, tmp_path / "published")
    return tmp_path / "published"


def test_the_records_have_sources() -> None:
    files = {path.stem for path in published.PATH.glob("*.csv")}
    assert set(published.names()) == files
    for name in files:
        found = published.table(name)
        assert all((found.source.title, found.source.authors, found.source.url.startswith("https://"))), name
        assert found.entered.startswith("Entered on "), name
    used = {table for each in data_sets() for table in each.tables}
    assert used | {"ddp_trace"} == files  # nothing is kept that nothing shows


@pytest.mark.parametrize("name", published.names())
def test_a_changed_figure_is_refused(folder: Path, name: str) -> None:
    file = folder / f"{name}.csv"
    content = file.read_bytes()
    last = max(content.rfind(digit) for digit in (b"1", b"2", b"3", b"4", b"5", b"6", b"7", b"8", b"9", b"0"))
    digit = b"%d" % ((content[last] - ord("0") + 1) % 10)
    file.write_bytes(content[:last] + digit + content[last + 1 :])
    with pytest.raises(RecordError, match="was changed after it was entered"):
        published.read(folder, name)
    assert [path for path, _ in published.changed(folder)] == [f"docs/records/published/{name}.csv"]


def test_a_file_without_an_entry_and_an_entry_without_a_file_are_refused(folder: Path) -> None:
    (folder / "more.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    with pytest.raises(RecordError, match="must be there, and have an entry"):
        published.read(folder, "more")
    (folder / "pcie.csv").unlink()
    assert [path for path, _ in published.changed(folder)] == ["docs/records/published/pcie.csv"]


def test_windows_line_ends_are_no_change(folder: Path) -> None:
    file = folder / "pcie.csv"
    file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    assert published.read(folder, "pcie").rows == published.table("pcie").rows


@pytest.mark.parametrize("name", ["ddp_steps", "baidu"])
def test_a_changed_record_is_one_fault_whatever_it_feeds(folder: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    file = folder / f"{name}.csv"
    file.write_bytes(file.read_bytes() + b"\n")
    monkeypatch.setattr(published, "PATH", folder)
    monkeypatch.setattr(reality, "changed", lambda: published.changed(folder))
    ledger = Ledger()
    for number in LEDGER:
        if not number.name.startswith("reality."):
            ledger._add(number)
    published.table.cache_clear()
    data_sets.cache_clear()
    try:
        audit = audit_sources(ledger)
    finally:
        published.table.cache_clear()
        data_sets.cache_clear()
    [fault] = audit.faults
    assert str(fault).startswith(
        f"docs/records/published/{name}.csv: was changed after it was entered, or its entry in sources.json was: take the change back, or "
    )
    assert {found.path for found in audit.withheld} >= {"docs/reality.md"}
    assert len(audit.withheld) > 20


def test_a_changed_record_stops_the_audit_and_the_table(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = folder / "ddp_steps.csv"
    file.write_bytes(file.read_bytes().replace(b"157.26", b"156.26"))
    monkeypatch.setattr(reality, "changed", lambda: published.changed(folder))
    faults = list(reality.check_reality())
    assert [fault.path for fault in faults] == ["docs/records/published/ddp_steps.csv"]
    monkeypatch.setattr(command, "changed", lambda: published.changed(folder))
    assert command.main() == 1
    assert "was changed after it was entered" in capsys.readouterr().out


def test_every_work_is_named_once_and_led_to() -> None:
    rows = TABLES["published"]().rows
    html = TABLES["published"]().html(lambda words: (words, words))
    assert len({str(row[0]) for row in rows}) == len(rows)
    assert html.count('<a href="https://') == len(rows)
    assert sum(int(str(row[4]).replace(",", "")) for row in rows) == sum(
        len(published.table(name).rows) for name in published.names()
    )


# By hand, a point or more of each set.


def test_rings_by_hand() -> None:
    # busbw stays as it is, so the error is measured over calibrated busbw: 365.6/363.3, 682.2/673.8, 364.65/365.6.
    assert point("ring_node", "8 H200").error == pytest.approx(365.6 / 363.3 - 1)
    assert point("ring_node", "8 B200").error == pytest.approx(682.2 / 673.8 - 1)
    assert data_set("ring_nodes").errors == [pytest.approx(364.65 / 365.6 - 1)]
    # T(64)/T(16) = (63/64)/(15/16) = 1.05 of 91,973 µs, against 96,405 µs.
    eight = point("ring_mi325x", "8 nodes, 16 GiB")
    assert eight.predicted == pytest.approx(1.05 * 91_973e-6)
    assert f"{eight.error:+.2%}" == "+0.17%"
    assert f"{point('ring_mi325x', '4 nodes, 16 GiB').error:+.2%}" == "+0.10%"
    assert point("ring_mi325x", "1 nodes, 16 GiB").error == pytest.approx(1.75 / 1.875 * 91_973 / 94_222 - 1)  # another fabric


def test_four_nodes_of_b200_by_hand() -> None:
    # 4 GiB: 2·31/32·4.294967296/400 s = 20.80 ms, printed busbw 377.34 of 400; across nodes alone 2·3/4·4.295/400 = 16.1 ms, and
    # 2·7/8·4.295/740.64 = 10.15 ms within: 26.25 ms.
    flat, phases = point("flat_b200", "4096 MiB"), point("hierarchy_b200", "4096 MiB")
    assert flat.predicted == pytest.approx(2 * 31 / 32 * 4.294967296 / 400)
    assert flat.error == pytest.approx(377.34 / 400 - 1)
    assert (f"{phases.predicted * 1e3:.1f}", f"{(phases.high or 0) * 1e3:.2f}", f"{phases.measured * 1e3:.2f}") == (
        "16.1",
        "26.25",
        "22.05",
    )
    assert point("flat_b200", "256 MiB").error == pytest.approx(229.09 / 400 - 1)  # −43 %


def test_the_a100_fit_by_hand() -> None:
    # Through 4 B in 34.73 µs and 8 GiB in 63,896 µs: 1 MiB would take 34.73 + (63,896 − 34.73)/8192 = 42.53 µs, and took 74.78.
    assert point("allreduce_a100", "1048576 B").predicted == pytest.approx(42.53e-6, rel=1e-3)
    assert point("allreduce_a100", "1048576 B").error == pytest.approx(42.53 / 74.78 - 1, abs=1e-3)
    outside = [each.error for each in data_set("allreduce_a100").points if not each.gated]
    assert max(outside) < -0.13  # nowhere in the middle does it hold


def test_the_ddp_step_by_hand() -> None:
    # One serial allreduce of 330,405,888 B takes 173.08 − 87.68 = 85.40 ms: 0.2710 ms/MiB.
    rate = 85.40 / (330_405_888 / MIB)
    assert f"{rate:.4f}" == "0.2710"
    # 64 MiB: buckets of 66.01, 72.04, 65.28 and 111.78 MiB. The last is full at the end of the backward pass, 87.35 ms, and before
    # it the network is free: 46.65 + 87.35 + 111.78 · 0.2710 + 7.13 = 171.42 ms, measured 166.80.
    last = point("ddp_step", "cap 64 MiB")
    assert last.predicted == pytest.approx((46.65 + 87.35 + 111.78 * rate + 7.13) * 1e-3, rel=1e-4)
    assert [f"{each.error:+.1%}" for each in data_set("ddp_step").points] == ["+0.1%", "+0.6%", "+1.7%", "+2.8%"]
    assert sum(size for _, size in predictions.gpt()) == 82_601_472  # parameters, section 2 of the source
    assert 4 * sum(predictions.resnet18()) == 46_758_048  # bytes, the issue


def test_parameter_servers_by_hand() -> None:
    # ResNet-152 on 64 GPUs: 8·32/146 = 1753 ms on one node, 64·32/981 = 2088 ms, and 2·4·60.4 million bytes over 1.25 GB/s = 387 ms.
    found = point("parameter_server", "ResNet-152, batch 32, 64 GPUs")
    assert (round(found.predicted * 1e3), round(found.measured * 1e3), round((found.high or 0) * 1e3)) == (1753, 2088, 1753 + 387)


def test_pipelines_by_hand() -> None:
    # 28.3B on 32 devices: 0.88 at 256 microbatches, so 0.88 · (96/127)/(256/287) = 0.7457 at 96, measured 0.76.
    assert point("pipeline", "28.3B, 32 stages, 96 microbatches").error == pytest.approx(
        0.76 / (0.88 * (96 / 127) / (256 / 287)) - 1
    )
    # Interleaved, (62 + 2)/32 = 2 chunks: 96/(96 + 31/2) over 256/(256 + 31/2), from 0.90, measured 0.82.
    by_hand = 0.90 * (96 / 111.5) / (256 / 271.5)
    assert point("interleaved", "28.3B, 32 stages, 96 microbatches").error == pytest.approx(0.82 / by_hand - 1)
    assert point("bubbles", "1F1B, 1.5B, 24 microbatches").predicted == pytest.approx(7 / 31)  # below 0.2431


def test_products_by_hand() -> None:
    # H100, 8192³ in FP8: 1290.1 of the table's best, 1382.2, and of 1402.6 elsewhere.
    assert point("matmul", "H100 FP8, 8192 × 8192 × 8192").error == pytest.approx(1290.1 / 1382.2 - 1)
    assert point("matmul_elsewhere", "H100 FP8, 8192 × 8192 × 8192").error == pytest.approx(1290.1 / 1402.6 - 1)
    # V100, FP32, 5124 × 9124 × 1760 in 13.004 ms: 2mnk = 164.56 GFLOP over 15.7 TFLOP/s = 10.48 ms.
    assert point("roofline", "V100 FP32, 5124 × 9124 × 1760").predicted == pytest.approx(10.48e-3, rel=1e-3)
    assert point("best", "Intel Gaudi 2, BF16").error == pytest.approx(418.7 / 432 - 1)


def test_copies_by_hand() -> None:
    # Through 50 KB at 7.3 GB/s (6.849 µs) and 68 MB at 12.4 GB/s (5.4839 ms): 12.406 GB/s and 2.819 µs; 1 MB: 83.42 µs, measured at 11.7 GB/s.
    assert point("pcie_up", "1000 KB").predicted == pytest.approx(83.42e-6, rel=1e-3)
    assert point("pcie_up", "1000 KB").error == pytest.approx(83.42e-6 / (1e6 / 11.7e9) - 1, abs=1e-3)
    assert data_set("pcie_down").typical < 0.01
    assert min(data_set("pcie_down").errors) < -0.5  # tiny copies, which the median does not show


# Traps in the sources.


def test_trap_gib_over_decimal_gb() -> None:
    assert pytest.approx(1.0737, abs=1e-4) == 2**30 / 1e9  # 7.4 % off
    assert (units.GIB, units.GB, units.MIB) == (2**30, 1e9, 2**20)


def test_trap_in_network_reduction_reads_above_the_wire() -> None:
    """NVLink 4 carries 450 GB/s each way. NVLS prints 473.1 on eight H200; a forced ring stays below the wire, and only it is used."""
    eight = next(row for row in published.table("allreduce_ring").rows if row["gpu"] == "H200" and row["gpus"] == "8")
    assert float(eight["busbw_default"]) == 473.1 > 450 > float(eight["busbw_ring"]) == 365.6
    found = point("ring_node", "8 H200")
    assert alphabeta.bus_bytes_per_s("all_reduce", size_bytes=8 * GIB, gpus=8, time_s=found.measured) == pytest.approx(365.6e9)


def test_trap_baidu_prints_the_fraction_upside_down() -> None:
    """2(N−1)·N/K bytes it says, with N GPUs and K bytes. With K/N it is right, and near its own "approximately 2K"."""
    gpus, size = 40, 1.2e9
    right = collectives.ring_s(gradient_bytes=size, gpus=gpus, link_bytes_per_s=1.0)  # at 1 B/s, a second a byte
    assert right == pytest.approx(2 * (gpus - 1) * size / gpus)
    assert right == pytest.approx(2 * size, rel=0.03)
    assert 2 * (gpus - 1) * gpus / size < 1e-5  # as printed: less than a byte


def test_trap_goyal_divides_by_another_time_than_it_states() -> None:
    """12.8 Gbit/s is 2 · 100 MB in 125 ms. In the 120 ms that the text states it would be 13.3."""
    assert 2 * 100e6 * 8 / 0.125 == 12.8e9
    assert f"{2 * 100e6 * 8 / 0.120 / 1e9:.1f}" == "13.3"
    assert data_set("goyal").points[0].predicted == pytest.approx(12.8)


def test_trap_zero_truncates() -> None:
    """128B at stage 1 on 1024 GPUs: 513.5 GB, printed 513; at stage 2 257.75, printed 257."""
    each = data_set("zero_memory")
    assert point("zero_memory", "128B, stage 1, 1024 GPUs").predicted == 513.5
    assert point("zero_memory", "128B, stage 2, 1024 GPUs").predicted == 257.75
    # 257.75, 4046.9, 4011.7, 2218.75, 2054.7 and 2013.7 are cut off, where rounding would have printed one more.
    assert len(replace(each, digits=0.5).slips()) == 6


# Planted faults: each is a slip that someone could make.


def half_the_ring(size: float, gpus: int, rate: float, latency: float) -> float:
    return (gpus - 1) * (latency + size / gpus / rate)  # n−1 where 2(n−1) is right


def test_planted_n_minus_one(monkeypatch: pytest.MonkeyPatch, again: Callable[[], list[str]]) -> None:
    monkeypatch.setattr(kernels, "ring_s", half_the_ring)
    assert {slip.partition(",")[0] for slip in again()} >= {"flat_b200", "ring_mi325x", "goyal"}


def test_planted_gib_as_gb(monkeypatch: pytest.MonkeyPatch, again: Callable[[], list[str]]) -> None:
    monkeypatch.setattr(predictions, "GB", 2.0**30)
    assert {slip.partition(",")[0] for slip in again()} >= {"zero_memory", "baidu"}
    monkeypatch.setattr(predictions, "GB", 1e9)
    monkeypatch.setattr(predictions, "GIB", 1e9)
    assert len(predictions.transformer_memory().slips()) == 12


@pytest.mark.parametrize("factor", [lambda n: (n - 1) / n, lambda n: 1.0, lambda n: 2 * n / (n - 1)])
def test_planted_busbw_factor(monkeypatch: pytest.MonkeyPatch, again: Callable[[], list[str]], factor: Any) -> None:
    monkeypatch.setattr(alphabeta, "_FACTORS", {**alphabeta._FACTORS, "all_reduce": factor})
    assert {slip.partition(",")[0] for slip in again()} >= {"flat_b200"}


def test_planted_bucket_that_never_passes_its_cap(monkeypatch: pytest.MonkeyPatch, again: Callable[[], list[str]]) -> None:
    right = buckets.bucket_layout
    monkeypatch.setattr(buckets, "bucket_layout", lambda sizes, **caps: [each[:-1] or each for each in right(sizes, **caps)])
    assert "ddp_buckets" in {slip.partition(",")[0] for slip in again()}


def test_planted_bubble_of_one_stage_more(monkeypatch: pytest.MonkeyPatch, again: Callable[[], list[str]]) -> None:
    right = stages.bubble_fraction
    monkeypatch.setattr(stages, "bubble_fraction", lambda *, stages, **rest: right(stages=2 * stages, **rest))
    assert {slip.partition(",")[0] for slip in again()} >= {"pipeline", "bubbles"}


def test_planted_peak_with_sparsity_or_without_half_of_the_chip(
    monkeypatch: pytest.MonkeyPatch, again: Callable[[], list[str]]
) -> None:
    """A peak that is too low makes a bound that reality crosses."""
    gpus = {name: replace(gpu, peaks={p: v / 2 for p, v in gpu.peaks.items()}) for name, gpu in GPUS.items()}
    monkeypatch.setattr(predictions, "GPUS", gpus)
    assert "roofline" in {slip.partition(",")[0] for slip in again()}
