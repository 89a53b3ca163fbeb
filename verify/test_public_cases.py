"""Faults that others have reported, each a test with the number of its row in `CASES`; those that need Chromium are in the module beside this.

A row is a small input and its right outcome. The fault behind it may be another project's: what counts is that this one does not have it.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from macros.audit import audit_sources
from macros.claims import read
from macros.evaluate import Evaluator, book
from perfmodel import collectives, streams
from perfmodel.lockstep import FAULTS, LIMITS, allreduce, compare, runs, split_batch, train, why_not, xor_batch, xor_net
from perfmodel.lockstep.job import Job, Training
from perfmodel.lockstep.processes import run
from perfmodel.pipeline import AsyncPipeline
from verify.checkout import ROOT, build, copy, offline, replace
from verify.cuda import no_tf32
from verify.ddp_rank import sample
from verify.fakegpu import Fake
from verify.gpu import Budget, until_done, until_queued
from verify.lockstep import ON_GPUS
from verify.test_quotes import complaint, number
from verify.test_site import outside_requests, soup
from verify.test_train_ddp import wrong

ACT2, ACT6 = "docs/acts/2-queue.md", "docs/acts/6-allreduce.md"
# Where each was reported: by row, a public issue, a section of Dive into Deep Learning, or the versions that it was reproduced on.
CASES = {
    1: "mkdocs/mkdocs#3722", 2: "FZJ-IEK3-VSA/tsam#388", 3: "plotly/plotly.js#2769", 4: "fboundy/agile_predict#83", 5: "plotly/plotly.py#5413",
    6: "plotly/plotly.py#5404", 7: "plotly/plotly.py#3393", 8: "plotly/plotly.js#3487", 9: "plotly/plotly.js#897", 11: "Markdown in MkDocs 1.6.1",
    13: "squidfunk/mkdocs-material#8107", 14: "squidfunk/mkdocs-material#6181", 16: "plotly/plotly.js#1651", 18: "mkdocs/mkdocs#3733",
    19: "fralau/mkdocs-macros-plugin#117", 20: "mkdocs/mkdocs#4126", 21: "fralau/mkdocs-macros-plugin#221", 23: "fralau/mkdocs-macros-plugin#57",
    26: "11ty/buildawesome#327", 28: "fralau/mkdocs-macros-plugin, a discussion", 29: "MongLong0214/commitlore#590", 30: "stacksjs/stacks#2056",
    32: "hgrecco/pint#2365", 34: "Cyan4973/xxHash#1051", 35: "BenjaminVanRyseghem/numbro#765", 37: "CarlVerret/csFastFloat#110",
    39: "NVIDIA/nccl-tests#274", 40: "Dive into Deep Learning 13.2", 41: "Dive into Deep Learning 13.2", 42: "Dive into Deep Learning 13.4",
    43: "stas00/ml-engineering#38", 45: "NVIDIA/nccl-tests#241", 46: "pytorch/pytorch#18012", 47: "pytorch/pytorch#37359",
    48: "facebookresearch/fairseq#494", 49: "d2l-ai/d2l-en#1978", 50: "pytorch/pytorch#25162", 52: "pytorch/pytorch#62967",
    53: "pytorch/pytorch#53635", 54: "NVIDIA/Megatron-LM#661",
}  # fmt: skip
MB, GB, MS, US = 1e6, 1e9, 1e-3, 1e-6  # typed here, not imported: expected values come from outside the code


def test_every_case_has_its_test() -> None:
    """None is left out, none has a number of its own; and no row went from the list: there are forty."""
    here = Path(__file__).parent
    tests = [
        int(node.name.split("_")[2])
        for name in ("test_public_cases.py", "test_public_cases_browser.py")
        for node in ast.parse((here / name).read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_case_")
    ]
    assert sorted(tests) == sorted(CASES)
    assert len(CASES) == 40


# ---- The build -------------------------------------------------------------------------


@pytest.mark.build
def test_case_7_two_builds_are_equal_byte_for_byte(site: Path, tmp_path: Path) -> None:
    other = tmp_path / "again" / "site"
    assert build(ROOT, other).returncode == 0
    first = {p.relative_to(site): p.read_bytes() for p in site.rglob("*") if p.is_file()}
    second = {p.relative_to(other): p.read_bytes() for p in other.rglob("*") if p.is_file()}
    assert first.keys() == second.keys()
    assert [str(name) for name in first if first[name] != second[name]] == []


@pytest.mark.build
def test_case_13_a_build_without_a_network_asks_for_nothing_and_so_do_its_pages(probed: Path) -> None:
    assert not (probed / "offline/asked").exists()
    assert outside_requests(probed / "site") == []


def test_a_build_that_asks_would_be_seen(tmp_path: Path) -> None:
    code = "import socket\ntry:\n    socket.create_connection(('192.0.2.1', 80))\nexcept OSError as error:\n    print(error)"
    done = subprocess.run([sys.executable, "-c", code], env=offline(tmp_path), capture_output=True, text=True, check=True)
    assert done.stdout == "there is no network here\n"
    assert "192.0.2.1" in (tmp_path / "asked").read_text(encoding="utf-8")


class Refused(NamedTuple):
    """A project with wrong pages, what it said when it was built quietly, where its wrong quotes stand with both values, and its other faults."""

    project: Path
    site: Path
    status: int
    said: str
    quotes: list[str]
    others: list[str]


WRONG = """---
title: Wrong
description: A page for a test.
---


# Wrong

It takes [= q("61 ms", sync.one_gpu) =].

And [= typo =].

And [= nosuch("x") =].

And $10^{{15}}$ stays.

And it takes 60 ms.
"""


@pytest.fixture(scope="module")
def refused(tmp_path_factory: pytest.TempPathFactory) -> Refused:
    project = copy(tmp_path_factory.mktemp("refused") / "project")
    (project / "docs/wrong.md").write_text(WRONG, encoding="utf-8")
    replace(project / "mkdocs.yml", "  - numbers.md", "  - wrong.md\n  - numbers.md")
    once, half, sharded = (
        replace(project / ACT2, 'q("28 ticks", queue.once) =] instead', 'q("29 ticks", queue.once) =] instead'),
        replace(project / ACT6, 'q("30 ms", sync.one_gpu_half)', 'q("31 ms", sync.one_gpu_half)'),
        replace(project / ACT6, 'q("7.5 ms", sync.sharded_half) =], is called', 'q("7.6 ms", sync.sharded_half) =], is called'),
    )
    turned, year, statement = (
        replace(project / ACT6, 'rel("slower", sync.cpu, sync.one_gpu)', 'rel("faster", sync.cpu, sync.one_gpu)'),
        replace(project / "docs/index.md", "## Where it comes from", "## Where it comes from, in 1985"),
        replace(project / ACT2, "Now take $n$ =", "[% if true %] Now take $n$ ="),
    )
    done = build(project, project / "site", "-q")
    quotes = [
        f"{ACT2}:{once}:%quotes 29 ticks for queue.once, the model says 28 ticks",
        f"{ACT6}:{half}:%quotes 31 ms for sync.one_gpu_half, the model says 30 ms",
        f"{ACT6}:{sharded}:%quotes 7.6 ms for sync.sharded_half, the model says 7.5 ms",
        "docs/wrong.md:9:%quotes 61 ms for sync.one_gpu, the model says 60 ms",
    ]
    others = [
        f'{ACT6}:{turned}:%"faster" does not hold',
        f"docs/index.md:{year}:%a naked number: 1985",
        f"{ACT2}:{statement}:%a page holds calls, not statements",
        "docs/wrong.md:11:%typo is not a number of the book or a macro",
        "docs/wrong.md:13:%nosuch(…) is not a macro",
        "docs/wrong.md:15:%a naked number in a formula: ",
        'docs/wrong.md:17:%a naked number: 60 ms; bind it: [= q("60 ms", sync.one_gpu) =]',
    ]
    return Refused(project, project / "site", done.returncode, done.stdout, quotes, others)


def missing(said: str, faults: list[str]) -> list[str]:
    """The faults that a run did not name once each, at their file and line and in their words; % is the column."""
    patterns = {fault: "^" + r"\d+: ".join(map(re.escape, fault.split("%"))) for fault in faults}
    return [fault for fault, pattern in patterns.items() if len(re.findall(pattern, said, re.MULTILINE)) != 1]


@pytest.mark.build
@pytest.mark.parametrize("way", [
    "-m macros.audit",
    *(pytest.param(way, marks=pytest.mark.full) for way in ("-m mkdocs build", "make numbers")),
])  # fmt: skip
def test_case_18_a_wrong_quote_stops_every_way_to_build(refused: Refused, way: str) -> None:
    """And the quiet, strict build of case 20, and `make site`, of which `test_site` wants more."""
    tool = (
        ["make", "-o", ".venv/.ready", way[5:], f"PY={sys.executable}"]
        if way.startswith("make")
        else [sys.executable, *way.split()]
    )
    done = subprocess.run(tool, cwd=refused.project, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    assert done.returncode != 0
    assert missing(done.stdout, refused.quotes) == []


@pytest.mark.build
def test_case_19_a_name_that_does_not_exist_is_named(refused: Refused) -> None:
    assert refused.status != 0
    assert missing(refused.said, [fault for fault in refused.others if "typo" in fault or "nosuch" in fault]) == []


@pytest.mark.build
def test_case_20_a_quiet_build_fails_and_is_not_silent(refused: Refused) -> None:
    assert refused.status != 0
    assert missing(refused.said, refused.quotes) == []
    assert "Traceback" not in refused.said


@pytest.mark.build
def test_case_21_the_braces_of_a_formula_are_its_own(probed: Path, refused: Refused) -> None:
    """In `$10^{{15}}$` the number is naked, and refused as one; its braces stay all the same."""
    assert "<msup><mi>e</mi>" in (probed / "site/probe.html").read_text(encoding="utf-8")
    assert "<msup><mn>10</mn><mn>15</mn></msup>" in re.sub(
        r"</?mrow>", "", (refused.site / "wrong.html").read_text(encoding="utf-8")
    )


@pytest.mark.build
def test_case_23_braces_in_code_are_shown_as_written(probed: Path) -> None:
    page = soup(probed / "site/probe.html")
    assert [code.get_text().strip() for code in page.find_all("pre")] == ['x = {{ "x" }}  # 60 ms']
    assert "[[a, b]]" in page.get_text()


@pytest.mark.build
def test_case_26_the_line_is_that_of_the_file(refused: Refused) -> None:
    """Four lines of front matter, and two blank ones that MkDocs takes away as well."""
    assert "docs/wrong.md:9:10: quotes 61 ms for sync.one_gpu" in refused.said


@pytest.mark.build
def test_case_28_every_fault_of_every_page_is_listed_in_one_run(refused: Refused) -> None:
    """Three wrong quotes in two acts, and eight faults more of other kinds and on other pages."""
    assert missing(refused.said, refused.quotes + refused.others) == []
    assert "11 faults: nothing is published until each is mended" in refused.said


@pytest.mark.build
def test_case_29_a_bare_number_is_refused_with_the_way_to_bind_it(refused: Refused) -> None:
    assert missing(refused.said, refused.others[-1:]) == []


@pytest.mark.build
def test_case_30_a_model_that_changed_fails_whatever_was_kept(probed: Path) -> None:
    """After a good build, with its records and all that it left behind."""
    kernels = probed / "perfmodel/kernels.py"
    old, new = "return 2 * gpus * transfer_s(", "return 3 * gpus * transfer_s("
    replace(kernels, old, new)
    try:
        done = subprocess.run([sys.executable, "-m", "macros.audit"], cwd=probed, capture_output=True, text=True, check=False)
    finally:
        replace(kernels, new, old)
    assert done.returncode != 0
    assert "for sync.cpu, the model says 120 ms" in done.stdout


# ---- Numbers and units -----------------------------------------------------------------


@pytest.mark.parametrize("micro", ["\u00b5", "\u03bc"])
def test_case_32_both_micro_signs_are_read(micro: str) -> None:
    assert complaint(f"5 {micro}s", number(5e-6, "µs")) == ""
    assert "the model says 5 µs" in complaint(f"6 {micro}s", number(5e-6, "µs"))


def test_case_34_mib_and_mb_are_not_the_same() -> None:
    """160 MiB are 160 · 1,048,576 B = 167.77 MB; at 16 GB/s that is 10.486 ms."""
    time: Any = number(160 * 2**20, "MiB") / number(16e9, "GB/s")
    assert complaint("10.49 ms", time) == ""
    assert "the model says 10.49 ms" in complaint("10.00 ms", time)
    assert "the model says 167.8 MB" in complaint("160.0 MB", number(160 * 2**20, "MiB"))


@pytest.mark.parametrize("blank", ["\u00a0", "\u202f", "\u2009", ""])
def test_case_35_a_blank_of_print_is_a_blank(blank: str) -> None:
    assert complaint(f"6{blank}ms", number(6e-3)) == ""
    assert "the model says 6 ms" in complaint(f"7{blank}ms", number(6e-3))


def test_case_37_a_comma_of_thousands_is_no_point() -> None:
    assert read("10,000")[0].value == 10_000
    assert complaint("10,000", number(10_000, "")) == ""
    assert "the model says 10" in complaint("10,000", number(10, ""))


# ---- The models ------------------------------------------------------------------------


def test_case_39_the_ring_has_its_factor_and_where_it_has_not_the_page_says_so() -> None:
    """2 · 7/8 · 160 MB / 54 GB/s = 5.185 ms; without (n − 1)/n it would be 5.926 ms."""
    ring = number(collectives.ring_s(gradient_bytes=160 * MB, gpus=8, link_bytes_per_s=54 * GB))
    assert complaint("5.19 ms", ring) == ""
    assert "the model says 5.19 ms" in complaint("5.93 ms", ring)
    short = 2 * 160 * MB / (54 * GB)
    said = [
        (use.page, number.says)
        for use in audit_sources().uses
        for quantity in use.quantities
        if isinstance(quantity.value, float) and abs(quantity.value / short - 1) < 1e-3
        for number in quantity.numbers
    ]
    assert "docs/errata.md" in dict(said)
    assert [page for page, says in said if "over very many GPUs" not in says] == []


def test_case_40_a_slow_python_sets_the_pace() -> None:
    def total(tasks: int) -> float:
        return AsyncPipeline(enqueue=2, compute=1, fetch=1, tasks=tasks).total

    assert total(10_000) == 20_002  # 2 + 9999 · 2 + 1 + 1
    assert total(1) == 4  # 2 + 1 + 1
    assert total(0) == 0


def test_case_41_the_edge_where_the_short_form_stops() -> None:
    edge = AsyncPipeline(enqueue=1, compute=0.99995, fetch=0.5, tasks=10_000)
    assert edge.total == pytest.approx(10_001.49995, rel=1e-14)  # 1 + 9999 · 1 + 0.99995 + 0.5
    assert edge.short_form == pytest.approx(10_001.0, rel=1e-14)  # 1 + 10000 · 0.99995 + 0.5, by the condition of the book


@pytest.mark.parametrize(("words", "name"), [
    ("40 GB/s", "memory.limit"),  # 8 B every 0.2 ns, where the section has 20 to 25 GB/s
    ("0.125 GB/s", "errata.ethernet_low_rate"), ("12.5 GB/s", "errata.ethernet_rate"),  # 1 to 100 Gbit/s over 8, not GB/s
    ("2 GB/s", "errata.lane_rate"),  # 32 GB/s over 16 lanes, not "per lane"
])  # fmt: skip
def test_case_42_a_slip_of_units_in_the_book_is_corrected_and_noted(words: str, name: str) -> None:
    evaluator = Evaluator(book())
    assert complaint(words, evaluator.value(name)) == ""
    assert name in {q.expr for use in audit_sources().uses if use.page == "docs/errata.md" for q in use.quantities}


def test_case_43_a_rate_both_ways_is_halved_and_a_bit_is_no_byte() -> None:
    """300 Gbit/s both ways: 150 Gbit/s each way, over 8."""
    evaluator = Evaluator(book())
    assert complaint("300 Gbit/s", evaluator.value("nvlink.both_ways")) == ""
    assert complaint("18.75 GB/s", evaluator.value("nvlink.link")) == ""


def test_case_45_a_small_ring_takes_its_latencies() -> None:
    """14 steps of 5 µs, and almost nothing for the bytes."""
    small: dict[str, Any] = {"gradient_bytes": 1e3, "gpus": 8, "link_bytes_per_s": 54 * GB, "latency_s": 5 * US}
    assert 70 * US <= collectives.ring_s(**small) < 71 * US
    assert max(span.end_s for span in streams.run(collectives.ring_tasks(**small)).spans) >= 70 * US


# ---- Training --------------------------------------------------------------------------


def test_case_46_a_gpu_is_waited_for_before_both_readings_of_the_clock() -> None:
    events: list[str] = []

    class Told(Fake):
        def clock(self) -> float:
            events.append("clock")
            return 0.0

        def wait(self) -> None:
            events.append("wait")

    until_done(Told(), lambda: events.append("work"), Budget(100), rounds=2)
    assert events == ["work", "wait"] * 3 + ["wait", "clock", "work", "wait", "clock"] * 2
    events.clear()
    until_done(Told(), lambda: events.append("fetch"), Budget(100), rounds=2, fetches=True)  # a fetch waits by itself
    assert events == ["fetch", "wait"] * 3 + ["wait", "clock", "fetch", "clock"] * 2
    events.clear()
    until_queued(Told(), lambda: events.append("work"), Budget(100), count=2, rounds=2)  # how long queueing takes
    assert events == ["work"] * 3 + ["wait", "clock", "work", "work", "clock"] * 2 + ["wait"]


@pytest.mark.parametrize("ranks", [2, 4])
def test_case_47_a_mean_of_uneven_means_is_another_gradient(ranks: int) -> None:
    """13 samples: the sum over 13 is the gradient to 1e-12, the mean of the shards' means is not, and no run with it passes."""
    X, y = xor_batch()

    def gradient(*losses: Tensor) -> Tensor:
        total = torch.stack(losses).sum()
        return torch.cat([g.flatten() for g in torch.autograd.grad(total, list(net.parameters()))])

    net = xor_net()
    whole = gradient(cross_entropy(net(X), y))
    shards = split_batch(X, y, ranks)
    summed = gradient(*(cross_entropy(net(a), b, reduction="sum") / 13 for a, b in shards))
    meaned = gradient(*(cross_entropy(net(a), b) / ranks for a, b in shards))
    assert float((summed - whole).norm() / whole.norm()) < 1e-12
    assert float((meaned - whole).norm() / whole.norm()) > 1e-3
    assert why_not(train(ranks, 30, method=FAULTS["mean of means"]), train(1, 30)) != ()


@pytest.mark.full  # on two ranks and on four it runs with all else that ranks can do, each time
def test_case_48_a_sum_under_ddp_equals_one_process() -> None:
    """DDP averages over ranks what each of the four has summed: unless that is undone, the gradient is a quarter of the right one."""
    job = Job(trainings=(Training(how="ddp", steps=20),))
    [made], reference = run(4, job), train(1, 20)
    assert why_not(made, reference) == ()
    assert max(compare(made, reference).l2) <= LIMITS[torch.float64]


@pytest.mark.parametrize("k", range(1, 9))
def test_case_49_a_kept_reference_holds_the_sum(k: int) -> None:
    data = [torch.full((3,), float(2**i)) for i in range(k)]
    kept = list(data)
    allreduce(data)
    assert [t.tolist() for t in kept] == [[2**k - 1] * 3] * k
    assert all(a is b for a, b in zip(kept, data, strict=True))


def test_case_50_each_sample_once_an_epoch_where_ranks_do_not_divide() -> None:
    """10 samples over 3 ranks: torch's own sampler gives 12, two of them twice."""
    shards = split_batch(torch.arange(10), torch.zeros(10), 3)
    assert sorted(int(i) for shard, _ in shards for i in shard) == list(range(10))
    assert [wrong(sample(), 10, batch, 3) for batch in (3, 6, 9)] == [[]] * 3


class HiddenBatchNorm(nn.Module):
    """Batch norm without a module that says so."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(2, 2)

    def forward(self, X: Tensor) -> Tensor:
        out: Tensor = self.linear(X)
        return (out - out.mean(0)) / (1 + out.std(0, correction=0))


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (
            nn.Sequential(nn.Linear(2, 8), nn.BatchNorm1d(8), nn.Linear(8, 2)),
            r"each sample alone, got batch norm in '1' \(BatchNorm1d\)",
        ),
        (nn.Sequential(nn.Linear(2, 2), nn.Sequential(nn.BatchNorm1d(2))), r"batch norm in '1\.0'"),
        (HiddenBatchNorm(), "depends on the others, or on chance"),
    ],
    ids=["batch norm", "nested", "unnamed"],
)
def test_case_52_batch_norm_is_refused(model: nn.Module, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        train(2, 10, model=model)


def test_case_53_on_a_gpu_float32_is_float32_and_its_tolerance_is_stated() -> None:
    """TF32 keeps 10 bits of 23; cuDNN's convolutions use it unless told not to. No GPU is needed to see the switches move."""
    before = [product.fp32_precision for product in runs.PRODUCTS]
    with runs.settings(("cuda:0",)):
        assert [product.fp32_precision for product in runs.PRODUCTS] == ["ieee", "ieee"]
        assert torch.are_deterministic_algorithms_enabled()
    with no_tf32():
        assert torch.backends.cuda.matmul.fp32_precision == "ieee"
    assert [product.fp32_precision for product in runs.PRODUCTS] == before
    assert {torch.float64: 1e-13, torch.float32: 1e-6} == ON_GPUS


@pytest.mark.parametrize(("flags", "says"), [
    ([], ""), (["--backend", "gloo"], ""), (["--backend", "nccl"], "--backend nccl needs a GPU for each rank, got 1 for 4"),
])  # fmt: skip
def test_case_54_four_ranks_on_one_gpu_take_gloo_or_are_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], flags: list[str], says: str
) -> None:
    monkeypatch.setenv("WORLD_SIZE", "4")
    monkeypatch.setenv("LOCAL_WORLD_SIZE", "4")
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    monkeypatch.setattr(dist, "is_nccl_available", lambda: True)
    if not says:
        assert sample().parse(flags)[0].backend == "gloo"
        return
    with pytest.raises(SystemExit, match="2"):
        sample().parse(flags)
    assert capsys.readouterr().err.rstrip().endswith(says)
