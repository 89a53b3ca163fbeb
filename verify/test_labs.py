"""The labs as Python draws them: values known by hand, the edges of the controls, and the cluster's formulas against the engine."""

from __future__ import annotations

import csv
import itertools
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from bs4 import BeautifulSoup

from macros import labs, text
from macros.calls import Recorder, recording
from macros.evaluate import book
from macros.figures import TABLES
from macros.fingerprint import ROOT
from macros.labs import LABS, NARROW, WIDE, Control, Lab, lab, lab_html
from macros.quantity import QuoteError
from macros.views.cluster import cluster_step
from perfmodel import alphabeta, buckets, cluster, kernels, wording
from perfmodel.streams import run
from perfmodel.units import BYTES, MIB, RATE, TIME
from verify.labs import GRIDS, _numbers

NBSP = "\u00a0"


def words(html: str) -> str:
    """What a reader sees of a part, with common spaces, and one between two blocks."""
    parted = re.sub(r"</(td|th|p|li|text)>", r" </\1>", html)
    return " ".join(BeautifulSoup(parted, "html.parser").get_text().split())


def shown(name: str, **changed: float) -> list[str]:
    """The parts of a lab as a reader sees them, with some controls changed."""
    made = LABS[name]()
    return [words(part) for part in made.parts([changed.get(c.name, c.value) for c in made.controls], WIDE)]


# ---- Values known by hand ----------------------------------------------------------------


def test_the_pipeline_begins_with_the_values_of_the_act() -> None:
    """Dive into Deep Learning 13.2 by hand: 8·(2+3+2) = 56, and 2 + 8·3 + 2 = 28."""
    result, figure, formula, notes = shown("pipeline")
    assert result == "With one barrier at the end: 28 ticks, 2.00× as fast as with a barrier after every task."
    assert "a barrier after every task: 56 ticks" in figure
    assert "one barrier at the end: 28 ticks" in figure
    assert "n·(t₁ + t₂ + t₃) = 8·(2 + 3 + 2) = 56 ticks" in formula
    assert "= 2 + 7·3 + 3 + 2 = 28 ticks" in formula
    assert "The queue peaks at 4 pending tasks." in notes


def test_a_pipeline_with_barriers_in_between() -> None:
    """9 tasks, a barrier every 4: two groups of 2+3·3+3+2 = 16 and one task of 7 make 39. One barrier: 2+8·3+3+2 = 31.
    Each of the two others adds min(2, 3) + 2 = 4."""
    result, _, formula, notes = shown("pipeline", tasks=9, every=4)
    assert result.startswith("With a barrier every 4 tasks: 39 ticks, 1.62× as fast")  # 63/39
    assert "2·(2 + 3·3 + 3 + 2) + (2 + 0·3 + 3 + 2) = 39 ticks" in formula
    assert "Each of the 2 barriers before the end adds min(t₁, t₂) + t₃ = 4 ticks, 8 ticks in all." in notes


def test_the_ladder_says_the_wordings_typed_from_the_book() -> None:
    with (ROOT / "verify/expected/latency_ladder.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["in_lab"] == "yes"]
    assert len(rows) == 24
    table = BeautifulSoup(LABS["ladder"]().parts([0.0], WIDE)[1], "html.parser")
    found = [[cell.get_text().replace(NBSP, " ") for cell in row.find_all(["th", "td"])] for row in table.select("tbody tr")]
    assert [(name, felt) for name, _, felt, _ in found] == [
        (row["action"].replace("->", "→"), row["feels_like_if_l1_is_1s"]) for row in rows
    ]


def test_the_fast_rows_collapse_when_a_disk_takes_a_second() -> None:
    """1.5 ns / 10 ms = 150 ns; 150 ms / 10 ms = 15 s."""
    made = LABS["ladder"]()
    (disk,) = [i for i, name in enumerate(made.names) if name.startswith("HDD random access")]
    result, _, formula, _ = shown("ladder", reference=disk)
    assert "“L1 cache hit” would take 150 ns" in result
    assert "“Packet CA → Netherlands → CA” would take 15 s" in result
    assert "150 ms / 10 ms · 1 s = 15 s" in formula
    bars = re.findall(r"h([\d.]+)v10H0z", made.parts([float(disk)], WIDE)[1])
    assert [float(bar) for bar in bars[:10]] == [0.4] * 10  # the least that is drawn


def test_the_ring_begins_with_the_values_of_the_act() -> None:
    """2·3 = 6 steps, 160 MB / 4 = 40 MB, 2·3·160 MB/(4·16 GB/s) = 15 ms, and 2·3·10 ms = 60 ms."""
    result, _, formula, _ = shown("ring")
    assert "Every chunk is to become 10." in result
    for line in ("= 2·3 = 6", "160 MB / 4 = 40 MB", "(4·16 GB/s) = 15 ms", "/ 16 GB/s = 60 ms"):
        assert line in formula
    result, figure, *_ = shown("ring", step=6)
    assert result == "After 6 steps: every chunk is 10, on every GPU."
    assert figure.split().count("10") >= 16


@pytest.mark.parametrize(
    ("step", "phase"),
    [
        (0, "the start"),
        (3, "reduce-scatter, step 3 of 3"),
        (4, "all-gather, step 1 of 3"),
        (6, "all-gather, step 3 of 3"),
    ],
)
def test_the_two_phases_of_the_ring_are_told_apart(step: int, phase: str) -> None:
    assert f"Phase: {phase}." in shown("ring", step=step)[3]


def test_the_cluster_begins_with_the_book_s_server() -> None:
    """60, 80 and 15 ms are Dive into Deep Learning 13.7's. With 50 ms of computing, sent at the end: 110, 130 and 65 ms. On the way, in
    7 buckets of 15/7 ms: 50/3 + 100/3 + 15/7 = 52.1 ms, since a bucket comes every 4.8 ms and takes 2.1."""
    result, _, formula, notes = shown("cluster")
    assert result.startswith("At best a step takes 52.1 ms (one ring, sent on the way): the GPUs compute 95.9 %")
    assert "40 million · 4 B = 160 MB, in 7 buckets" in formula
    for row in (
        "all to one GPU 60 ms 110 ms",
        "through one CPU 80 ms 130 ms",
        "in shards 15 ms 65 ms",
        "one ring 15 ms 65 ms 52.1 ms",
    ):
        assert row in formula
    assert "Largest term: computing." in notes


def test_a_cluster_of_h100_by_hand() -> None:
    """4 × 8 H100, two levels: latency 2·(7+3)·5 µs = 0.1 ms; inside 2·7·160 MB/(8·450 GB/s) = 0.622 ms; between 2·3·160 MB/(32·50 GB/s)
    = 0.6 ms; in one message 1.32 ms."""
    preset = dict(LABS["cluster"]().settings())["4 × 8 H100 at 400 Gbit/s"]
    formula = shown("cluster", **preset)[2]
    assert "two levels of rings 1.32 ms" in formula
    latency, inside, between = cluster.terms_s(way="two levels", gradient_bytes=160e6, cluster=cluster.H100_CLUSTER)
    assert (latency, inside, between) == pytest.approx((1e-4, 160e6 * 14 / (8 * 450e9), 6e-4))


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"network": 0.25, "nodes": 8}, "mostly bytes between machines"),
        ({"link": 0.25}, "mostly bytes inside a machine"),
        ({"latency": 10000}, "mostly latency"),
        ({"compute": 100000}, "Largest term: computing"),
    ],
)
def test_the_cluster_names_what_dominates(changed: dict[str, float], says: str) -> None:
    assert says in shown("cluster", **changed)[3]


# ---- Edges -------------------------------------------------------------------------------


def test_nothing_takes_any_time() -> None:
    result, figure, _, notes = shown("pipeline", enqueue=0, compute=0, fetch=0)
    assert result == "With one barrier at the end: 0 ticks. Nothing takes any time here."
    assert "0 pending tasks" in notes
    assert "nan" not in figure.lower()


@pytest.mark.parametrize("free", ["enqueue", "compute", "fetch"])
def test_one_cost_is_nothing(free: str) -> None:
    made = LABS["pipeline"]()
    parts = made.parts([0.0 if c.name == free else c.value for c in made.controls], WIDE)
    drawn = re.findall(r' d="([^"]*)"', parts[1].replace("M-1 1L1 -1M0 6L6 0M5 7L7 5", ""))
    assert len(drawn) > 8
    assert not re.search(r"nan|inf|-\d|h0v", " ".join(drawn), re.IGNORECASE)


def test_a_single_task_and_a_single_gpu() -> None:
    assert shown("pipeline", tasks=1)[0].startswith("With one barrier at the end: 7 ticks, 1.00×")
    result, _, formula, notes = shown("ring", gpus=1)
    assert result == "One GPU has nobody to send to: 0 steps. Its gradient is the sum."
    assert "= 2·0 = 0" in formula
    assert "sends chunk" not in notes
    assert shown("cluster", gpus=1, nodes=1)[0] == "One GPU has nobody to wait for: a step takes 50 ms."


def test_a_barrier_interval_longer_than_the_queue_is_one_at_the_end() -> None:
    far, end = shown("pipeline", every=64), shown("pipeline", every=0)
    assert far[:3] == end[:3]
    assert "There are fewer tasks than that: the only barrier is the one at the end." in far[3]


@pytest.mark.parametrize(
    ("value", "low", "high", "step", "right"),
    [(-3, 0, 10, 0.5, 0), (99, 0, 10, 0.5, 10), (7.25, 0, 10, 0.5, 7.5), (7.2, 0, 10, 0.5, 7.0), (1e300, 1, 64, 1, 64), (18.8, 0.25, 1000, 0.25, 18.75), (10, 0, 10, 3, 10), (99, 0, 10, 3, 10)],
)  # fmt: skip
def test_a_value_is_brought_into_its_range(value: float, low: float, high: float, step: float, right: float) -> None:
    assert kernels.clamped(value, low, high, step) == right


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ({"low": 3, "high": 3}, "must have a name, a range and a step above 0"),
        ({"step": 0}, "must have a name, a range and a step above 0"),
        ({"name": "two words"}, "must have a name"),
        ({"of": "sync.gradient", "unit": "MB"}, "x must be between 0 and 10, got 160"),
        ({"options": (("a", 1), ("b", 2))}, "x must start at one of its options, got 4"),
        ({"stops": (1, 11)}, "x must be between 0 and 10, got 11"),
        ({"stops": (2, 1)}, "the stops of x must go up"),
        ({"options": (("a", 12),)}, "x must be between 0 and 10, got 12"),
    ],
)
def test_a_control_that_is_none_is_refused(bad: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        Control(**{"name": "x", "label": "x", "of": "sync.gpus", "low": 0, "high": 10, **bad})  # type: ignore[arg-type]


@pytest.mark.parametrize("name", LABS)
def test_a_control_can_be_set_to_all_it_offers(name: str) -> None:
    """Its first value, its stops and every preset are whole steps within its range: a slider would not move them."""
    made = LABS[name]()
    for control in made.controls:
        presets = [values[control.name] for _, values in made.settings() if control.name in values]
        for value in (control.value, *control.stops, *(value for _, value in control.options), *presets):
            assert kernels.clamped(value, control.low, control.high, control.step) == value


@pytest.mark.parametrize("name", LABS)
def test_no_start_is_typed(name: str) -> None:
    """Every control starts at a number of the book, in its own unit, or at its zero; every preset goes to numbers of the book."""
    made = LABS[name]()
    for control in made.controls:
        assert control.of in book() if control.of else control.value == 0
    assert all(of in book() for _, numbers in made.presets for of in numbers.values())
    with pytest.raises(TypeError, match="value"):
        Control(name="x", label="x", low=0, high=1, value=1)  # type: ignore[call-arg]


def test_a_machine_that_the_lab_misnames_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = {tag: words.replace('"400 Gbit/s"', '"200 Gbit/s"') for tag, words in labs.MACHINES.items()}
    monkeypatch.setattr(labs, "MACHINES", wrong)
    with recording(Recorder(page="docs/x.md")) as recorder:
        lab("cluster")
    assert {(f.path, f.sort) for f in recorder.faults} == {("macros/labs.py", "drifted")}
    assert "quotes 200 Gbit/s for cluster.h100x4_network, the model says 400 Gbit/s" in recorder.faults[0].message


def test_an_unknown_lab_is_refused_by_name() -> None:
    with pytest.raises(QuoteError, match='there is no lab "rings": pipeline, ladder, ring, cluster'):
        lab("rings")


# ---- Text ---------------------------------------------------------------------------------

TEXT: list[tuple[Callable[[float], str], Callable[[float], str]]] = [
    (wording.number, text.show),
    (wording.ticks_text, lambda x: text.show(x, "ticks")),
    *(
        (ours, lambda x, dim=dim, prefer=prefer: text.show(x, text.best_unit(x, dim, prefer)))
        for ours, dim, prefer in (
            (wording.time_text, TIME, "ms"),
            (wording.bytes_text, BYTES, "MB"),
            (wording.rate_text, RATE, "GB/s"),
        )
    ),
]


@pytest.mark.parametrize(("ours", "theirs"), TEXT, ids=["number", "ticks", "time", "bytes", "rate"])
def test_the_labs_write_a_number_as_the_pages_do(ours: Callable[[float], str], theirs: Callable[[float], str]) -> None:
    """On ties too: 12.5, 0.125, 2.675 and what a quotient leaves a bit below a tie."""
    ties = [(k + 0.5) / 10**places for k in range(200) for places in range(4)]
    values = [v for v in (*_numbers(), *ties) if v < 1e7 or v.is_integer()]  # beyond, the digits of a double run out
    assert len(values) > 2500
    assert [(v, ours(v), theirs(v)) for v in values if ours(v) != theirs(v)] == []


@pytest.mark.parametrize("places", [0, 1, 2, 3])
def test_fixed_decimals_round_as_the_pages_do(places: int) -> None:
    ties = [(k + 0.5) / 10**places for k in range(500)]
    values = [v for v in (*_numbers(), *ties) if v < 1e12]
    wrong = [v for v in values if wording.fixed(v, places) != text.digits(text.half_up(text.in_unit(v, None), places), places)]
    assert wrong == []


def test_what_is_all_but_a_bit_is_all() -> None:
    assert (wording.percent(1 - 1e-12), wording.percent(1 - 2e-12)) == ("100\xa0%", "99.9\xa0%")
    assert wording.brief_time((1 - 1e-12) * 3600.0) == "1\xa0h"


def test_a_number_ends_where_it_should() -> None:
    assert wording.three_digits(100.6) == "101"
    assert wording.three_digits(1.26e-14) == "0.000000000000013"  # fifteen decimals at most
    assert wording.number(5_000_000_000_000.3) == "5,000,000,000,000.3"
    sizes, names = [1e-6, 1e-3, 1.0], ["µs", "ms", "s"]
    for value, prefer, unit in (
        (0.1 - 1e-13, 2, "s"),
        (9999.5, 2, "s"),
        (10000 - 1e-9, 2, "s"),
        (0.0099, 2, "ms"),
        (0.00009, 1, "µs"),
    ):
        assert wording.in_units(value, sizes, names, prefer).endswith("\u00a0" + unit), value
    for value, unit in ((9999.5, "s"), (10_000 - 1e-9, "ks")):
        assert wording.in_units(value, [1.0, 1000.0], ["s", "ks"], 0).endswith("\u00a0" + unit)
    assert wording.in_units(10_000 * 1e-6 - 1e-15, sizes, names, 0) == "10\u00a0ms"
    assert wording.in_units(1 - 1e-13, [1e-6, 1.0], ["µs", "s"], 0).endswith("\u00a0s")


def test_one_of_a_kind_has_a_word_of_its_own() -> None:
    pairs = ("tick ticks", "day days", "year years", "task tasks", "pending_task pending_tasks", "step steps",
             "GPU GPUs", "machine machines", "bucket buckets", "ms ms", "GB/s GB/s")  # fmt: skip
    for one, many in ([word.replace("_", " ") for word in pair.split()] for pair in pairs):
        assert [wording.counted(text, many) for text in ("1", "2", "0")] == [f"1\u00a0{one}", f"2\u00a0{many}", f"0\u00a0{many}"]


def test_a_brief_time_has_the_largest_unit_of_which_there_is_one() -> None:
    found = [wording.brief_time(seconds) for seconds in (5e-10, 5e-9, 9.996e-7, 2e-6, 0.9999e-3, 3.0, 1800.0, 3600.0, 7200.0)]
    assert found == [
        "0.5\u00a0ns",
        "5\u00a0ns",
        "1\u00a0µs",
        "2\u00a0µs",
        "1\u00a0ms",
        "3\u00a0s",
        "1800\u00a0s",
        "1\u00a0h",
        "2\u00a0h",
    ]
    assert [wording.bytes_text(1e12), wording.bytes_text(2e12), wording.rate_text(2e13)] == [
        "1\u00a0TB",
        "2\u00a0TB",
        "20\u00a0TB/s",
    ]
    assert wording.time_text(365 * 86_400.0) == "1\u00a0year"


def test_a_rounding_to_even_would_be_caught() -> None:
    """Python's own format rounds 12.5 down and 13.5 up."""
    assert [f"{v:.0f}" == wording.fixed(v, 0) for v in (12.5, 13.5)] == [False, True]


# ---- The cluster against the engine -----------------------------------------------------------

SHAPES = [(1, 1), (2, 1), (3, 1), (8, 1), (1, 2), (1, 5), (2, 2), (3, 4), (4, 3), (8, 4)]


@pytest.mark.parametrize("way", cluster.WAYS)
@pytest.mark.parametrize("latency_s", [0.0, 1e-5])
def test_a_way_takes_what_its_transfers_take(way: str, latency_s: float) -> None:
    for (gpus, nodes), base in itertools.product(SHAPES, cluster.CLUSTERS.values()):
        c = replace(base, gpus=gpus, nodes=nodes, latency_s=latency_s)
        tasks = cluster.tasks(way=way, gradient_bytes=160e6, cluster=c)
        engine = run(tasks).total_s if tasks else 0.0
        assert engine == pytest.approx(sum(cluster.terms_s(way=way, gradient_bytes=160e6, cluster=c)), rel=1e-12, abs=1e-15)


@pytest.mark.parametrize(
    ("gpus", "link", "network", "right"),
    [
        (2, 1.0, 2.0, [0, 24, 0]),  # 4 GPUs, 6 steps of 4 bytes, at the pace of the links inside
        (2, 1.0, 1.0, [0, 24, 0]),
        (2, 2.0, 1.0, [0, 0, 24]),
        (1, 1.0, 2.0, [0, 0, 8]),  # no link inside is on the way: 2 steps of 8 bytes over the network
    ],
)
def test_one_ring_goes_at_the_pace_of_its_slowest_link(gpus: int, link: float, network: float, right: list[float]) -> None:
    assert kernels.sync_terms(3, 16.0, gpus, 2, link, 1.0, network, 0.0) == right


def test_two_levels_are_the_hierarchical_allreduce() -> None:
    """The lab's arithmetic, which the browser runs too, beside the library's."""
    for (gpus, nodes), base in itertools.product(SHAPES, cluster.CLUSTERS.values()):
        c = replace(base, gpus=gpus, nodes=nodes)
        library = alphabeta.hierarchical_s(
            size_bytes=160e6, nodes=nodes, gpus_per_node=gpus, link_bytes_per_s=c.link.bytes_per_s, network_bytes_per_s=c.network.bytes_per_s,
            latency_s=c.latency_s, network_latency_s=c.latency_s,
        )  # fmt: skip
        assert sum(cluster.terms_s(way="two levels", gradient_bytes=160e6, cluster=c)) == pytest.approx(library, rel=1e-12)


@pytest.mark.parametrize("buckets_", [1, 3, 7])
@pytest.mark.parametrize("exchange_s", [0.0, 0.002, 0.05])
def test_equal_buckets_are_the_overlapped_step_of_the_library(buckets_: int, exchange_s: float) -> None:
    ready = buckets.ready_s([[k] for k in range(buckets_)], work=[1] * buckets_, backward_s=0.06)
    library = buckets.step_s(ready, exchange_s=[exchange_s] * buckets_, forward_s=0.03, backward_s=0.06, update_s=0)
    assert kernels.overlapped_step_s(0.09, buckets_, exchange_s) == pytest.approx(library, rel=1e-12)


def test_the_engine_would_catch_a_wrong_formula() -> None:
    c = replace(cluster.H100_CLUSTER, nodes=2)
    engine = run(cluster.tasks(way="ring", gradient_bytes=160e6, cluster=c)).total_s
    assert engine != pytest.approx(sum(cluster.terms_s(way="two levels", gradient_bytes=160e6, cluster=c)), rel=1e-3)


ALONE = replace(cluster.BOOK_SERVER, gpus=1)


@pytest.mark.parametrize("way", cluster.WAYS)
def test_a_single_gpu_only_computes(way: str) -> None:
    """Through the CPU too: the way has its price, but nobody to pay it for."""
    step: dict[str, Any] = {"way": way, "gradient_bytes": 160e6, "cluster": ALONE, "compute_s": 0.09}
    assert cluster.step_s(**step) == cluster.step_s(**step, bucket_bytes=25e6) == 0.09
    made = cluster.step_tasks(**step, bucket_bytes=25e6)
    assert {task.streams for task in made} == {("GPU",)}
    assert run(made).total_s == pytest.approx(0.09)


@pytest.mark.parametrize("way", cluster.WAYS)
@pytest.mark.parametrize("bucket_bytes", [160e6, 80e6, 25e6, 3.2e6])
@pytest.mark.parametrize("compute_s", [0.0, 0.003, 0.09, 1.0])
def test_an_overlapped_step_is_what_the_engine_says(way: str, bucket_bytes: float, compute_s: float) -> None:
    for c in (
        *cluster.CLUSTERS.values(),
        ALONE,
        replace(cluster.H100_CLUSTER, gpus=4),
    ):  # the last with as many nodes as GPUs in each
        step = {"way": way, "gradient_bytes": 160e6, "cluster": c, "compute_s": compute_s, "bucket_bytes": bucket_bytes}
        made = cluster.step_tasks(**step)  # type: ignore[arg-type]
        assert cluster.step_s(**step) == pytest.approx(run(made).total_s, rel=1e-12)  # type: ignore[arg-type]
        assert sum(task.duration_s for task in made if task.streams == ("GPU",)) == pytest.approx(compute_s)


def test_one_machine_is_the_server_of_the_act() -> None:
    book_ways = dict(zip(cluster.WAYS, ("sync.one_gpu", "sync.cpu", "sync.sharded", "sync.ring", "sync.ring"), strict=True))
    for way, name in book_ways.items():
        assert sum(cluster.terms_s(way=way, gradient_bytes=160e6, cluster=cluster.BOOK_SERVER)) == pytest.approx(book()[name].value)


def test_the_typed_layer_and_the_lab_agree() -> None:
    made = LABS["cluster"]()
    for (_, preset), c in zip(made.settings(), cluster.CLUSTERS.values(), strict=True):
        values = [preset.get(control.name, control.value) for control in made.controls]
        for i, way in enumerate(cluster.WAYS):
            for overlapped in (False, True):
                bucket = 25 * MIB if overlapped else None
                step = cluster.step_s(way=way, gradient_bytes=160e6, cluster=c, compute_s=0.05, bucket_bytes=bucket)
                assert cluster_step(values, i, c.gpus, c.nodes, overlapped) == pytest.approx(step, rel=1e-12)


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ({"way": "pigeon"}, "a way to synchronize must be one of one GPU, CPU, shards, ring, two levels; got 'pigeon'"),
        ({"gradient_bytes": -1}, "gradient_bytes must be a finite number of at least 0, got -1"),
        ({"compute_s": -1}, "compute_s must be a finite number of at least 0, got -1"),
        ({"bucket_bytes": 0}, "bucket_bytes must be a finite number above 0, got 0"),
    ],
)
def test_bad_input_to_the_cluster(bad: dict[str, object], message: str) -> None:
    for c in (cluster.BOOK_SERVER, ALONE):
        good: dict[str, object] = {"way": "ring", "gradient_bytes": 1.0, "cluster": c, "compute_s": 1.0}
        with pytest.raises(ValueError, match=re.escape(message)):
            cluster.step_s(**{**good, **bad})  # type: ignore[arg-type]


@pytest.mark.parametrize("bad", [{"gpus": 0}, {"nodes": 0}, {"latency_s": -1.0}])
def test_a_cluster_that_is_none(bad: dict[str, float]) -> None:
    (name,) = bad
    with pytest.raises(ValueError, match=f"^{name} must be"):
        replace(cluster.BOOK_SERVER, **bad)  # type: ignore[arg-type]


# ---- What stands on the page -------------------------------------------------------------------


@pytest.fixture(params=LABS)
def made(request: pytest.FixtureRequest) -> Lab:
    return LABS[request.param]()


def built(made: Lab) -> BeautifulSoup:
    return BeautifulSoup(lab_html(made, lambda words: (words, words)), "html.parser")


def test_a_lab_is_readable_without_a_script_and_its_controls_sleep(made: Lab) -> None:
    soup = built(made)
    for name, part in zip(("result", "formula", "notes"), (0, 2, 3), strict=True):
        (slot,) = soup.select(f"[data-part={name}]")
        assert slot.get_text() == BeautifulSoup(made.parts(made.values(), WIDE)[part], "html.parser").get_text()
    for control in made.controls:
        field = soup.find(id=f"lab-{made.name}-{control.name}")
        assert field is not None
        assert soup.find("label", attrs={"for": field["id"]}) is not None
    assert all(field.has_attr("disabled") or field.has_attr("readonly") for field in soup.find_all(["input", "select"]))
    assert all(button.has_attr("disabled") or button.has_attr("data-set") for button in soup.find_all("button"))


def test_a_lab_has_no_style_of_its_own_and_every_drawing_speaks(made: Lab) -> None:
    soup = built(made)
    assert soup.select("[style], style, script") == []
    drawings = [svg for svg in soup.find_all("svg") if "rung" not in (svg.get("class") or [])]
    assert all(len(str(svg.get("aria-label"))) > 40 for svg in drawings)
    assert len(drawings) == {"pipeline": 2, "ladder": 0, "ring": 4, "cluster": 4}[made.name]  # for two widths


def test_all_ids_of_all_labs_differ() -> None:
    ids = [str(tag["id"]) for make in LABS.values() for tag in built(make()).find_all(id=True)]
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("width", [320.0, float(NARROW), float(WIDE), 760.0])
def test_nothing_leaves_the_drawing(made: Lab, width: float) -> None:
    """Every place of every text and bar is inside, over the states of the grid."""
    for values, names, numbers, _ in itertools.islice(GRIDS[f"{made.name}_view"](), 0, None, 5):
        for svg in BeautifulSoup(made.view(values, names, numbers, width)[1], "html.parser").find_all("svg"):
            across, high = float(str(svg["width"])), float(str(svg["height"]))
            for tag in svg.find_all("text"):
                assert 0 <= float(str(tag["x"])) <= across, (values, tag)
                assert 0 <= float(str(tag["y"])) <= high, (values, tag)
            for tag in svg.find_all("path", class_=re.compile("bar|arrived|line")):
                for x, y in re.findall(r"[ML]([\d.]+) ([\d.]+)", str(tag["d"])):
                    assert 0 <= float(x) <= across, (values, tag)
                    assert 0 <= float(y) <= high, (values, tag)


def test_the_machines_of_the_lab_name_their_sources() -> None:
    table = TABLES["lab-machines"]()
    assert len(table.rows) == len(cluster.CLUSTERS)
    assert all("NVIDIA" in str(row[-1]) or "Dive into Deep Learning" in str(row[-1]) for row in table.rows)
