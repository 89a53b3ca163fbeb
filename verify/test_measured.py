"""The Measured page: a record shown beside predictions that are made anew, what is missing said in words, a spoilt record refused."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from bs4 import BeautifulSoup

from macros import gpu_record, measured, pages, tables
from macros.audit import ROOT, Audit, audit_sources
from macros.audit_html import audit_site
from macros.quantity import QuoteError
from macros.records import RecordError, write
from perfmodel.pipeline import AsyncPipeline
from verify import cuda, gpu, lockstep
from verify.fakegpu import Costs, Fake

PAGE = "docs/measured.md"
Change = Callable[[dict[str, Any], dict[str, Any]], None]  # of (sections, environment)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> gpu_record.DeviceRecord:
    """What `make cuda` writes, of a GPU that is made up and small."""
    path = tmp_path_factory.mktemp("made") / "cuda.json"
    threads = torch.get_num_threads()
    with pytest.MonkeyPatch.context() as patch:
        for module, name, value in (
            (gpu, "FILL", 48), (cuda, "PRODUCTS", (16, 32)), (cuda, "TASKS", (1, 8)), (cuda, "QUEUED", 20), (cuda, "COPIED", (1000, 160_000)),
            (cuda, "PAIRS", (16, 32)), (cuda, "MOVED", (1000, 100_000)), (cuda, "SIDES", (16, 32)), (cuda, "REPLICAS", (1, 2)),
            (lockstep, "over_ranks", lambda *_, **__: lockstep.Transport([], [])),
        ):  # fmt: skip
            patch.setattr(module, name, value)
        torch.set_num_threads(1)
        fake = Fake(Costs(product_s=lambda side: {16: 1e-6, 32: 4e-6}.get(side, 1e-3)))
        with fake:
            cuda.measure(fake, path, [name for name in cuda.SECTIONS if name != "lockstep"])
        sections = {"lockstep": cuda.measure(fake, path.with_name("other.json"), ["lockstep"])["lockstep"]}
    torch.set_num_threads(threads)
    record = gpu_record.read(path)
    assert record is not None
    environment = {**record.environment, "device": "NVIDIA H100 80GB HBM3"}
    sections |= record.sections
    return gpu_record.sealed(date="2026-01-02 03:04 UTC", environment=environment, sections=sections, code=record.code)


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the build looks for the record."""
    monkeypatch.setattr(gpu_record, "PATH", tmp_path / "cuda.json")
    return tmp_path / "cuda.json"


@pytest.fixture
def kept(made: gpu_record.DeviceRecord, path: Path) -> Callable[..., None]:
    """Puts the record there, changed and sealed again, as another run would have written it."""

    def put(change: Change = lambda sections, environment: None, code: str = "") -> None:
        sections, environment = copy.deepcopy(made.sections), dict(made.environment)
        change(sections, environment)
        write(gpu_record.sealed(date=made.date, environment=environment, sections=sections, code=code or made.code), path)

    put()
    return put


def words(html: str) -> str:
    return " ".join(BeautifulSoup(html, "html.parser").get_text(" ").split())


def rows(section: str, which: int = -1) -> list[list[str]]:
    """The cells of a table of a section, as text; by default of the last one."""
    table = BeautifulSoup(measured.measured(section).html, "html.parser").find_all("table")[which]
    return [[cell.get_text() for cell in row.find_all(["th", "td"])] for row in table.find_all("tr")]


def test_without_a_record_the_page_says_so_and_how_to_get_one(path: Path) -> None:
    head = words(measured.measured().html)
    assert head.startswith("No GPU run has been recorded. Run make cuda on a machine with a GPU")
    assert "docs/records/cuda.json" in head
    assert {words(measured.measured(name).html) for name in measured.SECTIONS} == {"Not measured yet."}
    assert "none recorded" in pages.live_html(Audit(), lambda page: page)


def test_the_page_asks_for_every_section() -> None:
    source = Path(ROOT, PAGE).read_text(encoding="utf-8")
    asked = re.findall(r'measured\("(\w+)"\)', source)
    assert asked == list(cuda.SECTIONS) == list(measured.SECTIONS)
    with pytest.raises(QuoteError, match=r'measured\("quueue"\) names no section: lockstep, queue'):
        measured.measured("quueue")


def test_the_head_names_the_gpu_the_day_and_the_software(kept: Any) -> None:
    head = words(measured.measured().html)
    assert head.startswith("Measured on 2026-01-02 03:04 UTC . measured · NVIDIA H100 80GB HBM3 · 2026-01-02")
    assert f"PyTorch {torch.__version__}" in head
    assert "stale" not in head
    live = pages.live_html(Audit(), lambda page: page)
    assert "<dt>last run on a GPU, NVIDIA H100 80GB HBM3</dt><dd>2026-01-02</dd>" in live


def test_what_was_measured_stands_beside_what_the_model_says(kept: Any) -> None:
    """t1 = 2 µs, t2 = 1 µs or 4 µs, t3 = 5 µs went in: 8 tasks with a fetch each take 8 · 8 µs, with one at the end 8 · 2 + 1 + 5 µs."""
    assert rows("queue", 0)[1:] == [
        ["16", "2.00\xa0µs", "1.00\xa0µs", "5.00\xa0µs"],
        ["32", "2.00\xa0µs", "4.00\xa0µs", "5.00\xa0µs"],
    ]
    table = rows("queue")
    assert table[0] == ["Side", "Tasks", "Fetched", "Measured", "Quartiles", "Predicted", "Error"]
    assert table[3] == ["16", "8", "each", "64.0\xa0µs", "64.0–64.0\xa0µs", "64.0\xa0µs", "0.0%"]
    assert table[4][3:] == ["22.0\xa0µs", "22.0–22.0\xa0µs", "22.0\xa0µs", "0.0%"]
    assert AsyncPipeline(enqueue=2, compute=1, fetch=5, tasks=8).total == 22


def test_predictions_are_made_anew_and_not_taken_from_the_record(kept: Any) -> None:
    before = {name: measured.measured(name).html for name in measured.SECTIONS}

    def forged(sections: dict[str, Any], environment: dict[str, Any]) -> None:
        for size in (*sections["queue"]["sizes"], *sections["overlap"]["sizes"]):
            for row in size["rows"]:
                row["predicted_s"] = row["relative_error"] = 42.0
        for row in sections["programs"]["rows"]:
            row["predicted_s"] = 42.0

    kept(forged)
    assert {name: measured.measured(name).html for name in measured.SECTIONS} == before


def test_an_error_has_a_sign_and_follows_what_was_measured(kept: Any) -> None:
    def slower(sections: dict[str, Any], environment: dict[str, Any]) -> None:
        first, second = sections["queue"]["sizes"][0]["rows"][2:]
        first["measured"]["median"] *= 1.25
        second["measured"]["median"] *= 0.5

    kept(slower)
    assert [row[-1] for row in rows("queue")[3:5]] == ["+25.0%", "−50.0%"]
    assert [str(tables.Signed(value)) for value in (0.0321, -0.0321, 0.00001, 2.5, -0.00001)] == [
        "+3.2%", "−3.2%", "0.0%", "+250%", "0.0%",
    ]  # fmt: skip


def test_a_time_is_shown_to_three_digits_in_a_unit_that_suits_it() -> None:
    shown = [str(tables.scaled(value, tables.TIMES)) for value in (2e-6, 1.2345e-5, 9.9996e-4, 1.5, 250.0, 4e-10, 0.0)]
    assert shown == [
        f"{n}\xa0{u}"
        for n, u in zip(
            ("2.00", "12.3", "1.00", "1.50", "250", "0.400", "0"), ["µs", "µs", "ms", "s", "s", "ns", "ns"], strict=True
        )
    ]
    assert str(tables.scaled(9.999e11, tables.RATES)) == "1.00\xa0TB/s"
    assert str(tables.Quartiles(9.7e-4, high=1.04e-3)) == "0.97–1.04\xa0ms"


@pytest.mark.parametrize("name", ["copies", "memory", "matmul"])
def test_the_row_that_a_prediction_rests_on_has_none(kept: Any, name: str) -> None:
    own = [row for row in rows(name)[1:] if row[-1] == "–"]
    assert own
    assert all(row[-2] in ("sets the rate", "sets the roof") for row in own)
    assert all(row[-1].endswith("%") for row in rows(name)[1:] if row not in own)


def test_every_table_is_named_captioned_and_scrolls_in_its_own_box(kept: Any) -> None:
    for name in ("", *measured.SECTIONS):
        soup = BeautifulSoup(measured.measured(name).html, "html.parser")
        assert soup.find_all("table")
        for table in soup.find_all("table"):
            box, caption = table.find_parent("div", class_="scroll"), table.find("caption")
            assert box is not None, name
            assert caption is not None, name
            assert (box["role"], box["aria-label"]) == ("region", caption.get_text())
            assert all(head["scope"] == "col" for head in table.select("thead th"))
        assert soup.find(class_="badge-measured")


def test_words_of_the_record_pass_the_audit_of_built_pages(kept: Any, tmp_path: Path) -> None:
    """Names of devices, errors and dates hold digits: they must stand where the audit knows that a macro put them."""

    def trouble(sections: dict[str, Any], environment: dict[str, Any]) -> None:
        sections["copies"] = {"error": "OutOfMemoryError: tried to allocate 160 MB"}
        sections["memory"]["left_out"] = ["1000000000 bytes"]
        sections["lockstep"]["gloo"] = {"error": "RunError: rank 1 took 60 s"}

    kept(trouble, code="0" * 64)
    body = "".join(measured.measured(name).html for name in ("", *measured.SECTIONS))
    site = tmp_path / "site"
    site.mkdir()
    (site / "measured.html").write_text(f"<html><body><article>{body}</article></body></html>", encoding="utf-8")
    assert list(audit_site(site, Audit())) == []


# What is missing or wrong ---------------------------------------------------------------------------------------------------------


def test_a_stale_record_is_shown_and_called_stale(kept: Any) -> None:
    kept(code="0" * 64)
    assert words(measured.measured().html).startswith("This record is stale. Other code made it")
    assert len(rows("queue")) > 4


def test_a_stale_record_of_another_form_says_so_and_a_fresh_one_is_a_fault(kept: Any) -> None:
    def former(sections: dict[str, Any], environment: dict[str, Any]) -> None:
        del sections["queue"]["sizes"][0]["t1"]

    kept(former, code="0" * 64)
    assert words(measured.measured("queue").html).startswith("This part was recorded by other code")
    kept(former)
    with pytest.raises(KeyError, match="t1"):
        measured.measured("queue")


def test_a_section_that_failed_was_left_out_or_is_not_there_says_so(kept: Any) -> None:
    def trouble(sections: dict[str, Any], environment: dict[str, Any]) -> None:
        sections["copies"] = {"error": "RuntimeError: a copy must arrive", "seconds": 0.1}
        sections["matmul"] = {"not_run": "the 290 s of the whole run were spent"}
        sections["memory"]["left_out"] = ["1000000000 bytes"]
        sections["queue"]["sizes"][0]["t2"]["starved"] = 3
        sections["lockstep"]["in_process"][0]["reasons"] = ["after step 10 …"]
        del sections["overlap"]

    kept(trouble)
    said = {name: words(measured.measured(name).html) for name in measured.SECTIONS}
    assert said["copies"] == "This part failed: RuntimeError: a copy must arrive ."
    assert said["matmul"] == "This part was not run: the 290 s of the whole run were spent ."
    assert said["memory"].endswith("Left out, as the time for this part was over: 1000000000 bytes .")
    assert "the GPU waited for Python" in said["queue"]
    assert said["overlap"] == "The recorded run does not hold this part."
    assert "Over NCCL was not run: needs two GPUs or more" in said["lockstep"]
    assert [row[-1] for row in rows("lockstep")[1:]][:2] == ["no", "yes"]
    assert "torch.compile, batch 1 was not run: torch.compile needs a GPU" in said["programs"]


def test_an_environment_that_could_not_be_asked_says_so(kept: Any) -> None:
    def unknown(sections: dict[str, Any], environment: dict[str, Any]) -> None:
        environment.clear()
        environment["error"] = "RuntimeError: no driver"

    kept(unknown)
    assert "The machine failed: RuntimeError: no driver" in words(measured.measured().html)


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ('"median": ', '"median": 1', "was changed after the run that made it"),
        ("NVIDIA H100", "NVIDIA H200", "was changed after the run that made it"),
        ("}", "", "is torn"),
    ],
)
def test_a_torn_or_edited_record_is_one_fault(kept: Any, path: Path, old: str, new: str, why: str) -> None:
    path.write_text(path.read_text(encoding="utf-8").replace(old, new, 1), encoding="utf-8")
    with pytest.raises(RecordError, match=why):
        gpu_record.read(path)
    audit = audit_sources()
    [fault] = audit.faults
    assert str(fault).startswith(f"docs/records/cuda.json: {why}")
    assert {found.path for found in audit.withheld} == {PAGE, "docs/module/1-gpu.md"}
    assert "not readable" in pages.live_html(Audit(), lambda page: page)


def test_the_page_is_sound_with_a_record_and_without(kept: Any, path: Path) -> None:
    assert audit_sources().faults == []
    path.unlink()
    assert audit_sources().faults == []
