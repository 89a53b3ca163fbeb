"""`python -m perfmodel`: units in and out, errors that name the flag and the rule, JSON, traces; and the library without what it does not need."""

from __future__ import annotations

import importlib.util
import itertools
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result

from macros.fingerprint import ROOT
from perfmodel.__main__ import Amount, Count, Ticks, _show, main
from perfmodel.streams import Task, run
from perfmodel.trace import trace
from perfmodel.units import BYTES, GB, GBIT, MB, MIB, RATE, TIME

RING = ["allreduce", "--gradient", "160MB", "--gpus", "4", "--link", "16GB/s"]
PIPELINE = ["pipeline", "--stages", "4", "--microbatches", "8", "--forward", "1ms", "--backward", "2ms"]
QUEUE = ["queue", "--tasks", "8", "--enqueue", "2", "--compute", "3", "--fetch", "2"]
STEP = ["step", "--gradient", "160MB", "--compute", "50ms"]
MEMORY = ["memory", "--parameters", "7.5B"]
ALL = {"allreduce": RING, "pipeline": PIPELINE, "queue": QUEUE, "step": STEP, "memory": MEMORY, "ladder": ["ladder"]}


def call(*arguments: str) -> Result:
    return CliRunner().invoke(main, list(arguments))


def table(*arguments: str) -> dict[str, list[str]]:
    """The rows of the printed table, by their first cell."""
    done = call(*arguments)
    assert done.exit_code == 0, done.output
    rows = [[cell.strip() for cell in line.split("  ") if cell.strip()] for line in done.stdout.splitlines()]
    return {row[0]: row[1:] for row in rows}


def values(*arguments: str) -> dict[str, Any]:
    done = call(*arguments, "--json")
    assert done.exit_code == 0, done.output
    found: dict[str, Any] = json.loads(done.stdout)
    return found


# ---- Right values, from the book and the papers ----------------------------------------------


def test_allreduce_gives_the_times_of_the_book() -> None:
    """Dive into Deep Learning 13.7: 60, 80 and 15 ms. The bus bandwidth of a perfect ring is the link's."""
    found = table(*RING)
    assert (found["one-gpu"][0], found["cpu"][0], found["sharded"][0], found["ring"][0]) == ("60 ms", "80 ms", "15 ms", "15 ms")
    assert found["ring"][1] == "16 GB/s"


def test_a_pipeline_has_the_bubble_of_the_paper() -> None:
    """GPipe: (p−1)/(m+p−1) = 3/11, and (8+3)·3 ms. 1F1B holds p microbatches on the first device, GPipe all."""
    found = values(*PIPELINE)
    assert found["bubble_fraction"] == pytest.approx(3 / 11)
    assert found["time_s"] == pytest.approx(0.033)
    assert found["in_flight"][0] == 4
    assert values(*PIPELINE, "--schedule", "gpipe")["in_flight"][0] == 8
    assert values(*PIPELINE, "--chunks", "2")["time_s"] == pytest.approx(0.0285)


def test_a_queue_is_the_book_s() -> None:
    """8·(2+3+2) = 56 and 2+8·3+2 = 28."""
    assert table(*QUEUE) == {
        "barriers": [], "a barrier after every task": ["56 ticks"], "one at the end": ["28 ticks"], "most tasks pending": ["4"]
    }  # fmt: skip
    assert table(*QUEUE, "--every", "4")["a barrier every 4"] == ["32 ticks"]


def test_a_step_is_computing_and_sending() -> None:
    """50 + 60 ms at the end; on the way, 7 buckets of 60/7 ms, the first after 1/3 and 1/7 of 2/3 of 50 ms: 16.7 + 4.8 + 60 = 81.4."""
    found = table(*STEP)
    assert found["one GPU"][:2] == ["110 ms", "81.4 ms"]
    assert found["ring"][0] == "65 ms"
    slow = values(*STEP, "--cluster", "h100x4", "--nodes", "2", "--network", "400Gbit/s", "--latency", "0s")
    assert (slow["gpus"], slow["nodes"], slow["network_bytes_per_s"], slow["latency_s"]) == (8, 2, 50e9, 0)


def test_memory_is_that_of_zero() -> None:
    """ZeRO, figure 1: 7.5 billion parameters over 64 ranks take 120, 31.4, 16.6 and 1.88 GB."""
    found = [values(*MEMORY, "--ranks", "64", "--zero", str(stage))["bytes"]["total"] / GB for stage in range(4)]
    assert found == pytest.approx([120, 31.4, 16.6, 1.88], rel=3e-3)
    assert values(*MEMORY, "--card", "80GB")["fits"] is False
    assert "does not fit on a card of 80 GB, before activations" in call(*MEMORY, "--card", "80GB").stdout


def test_the_ladder_collapses_for_a_disk() -> None:
    assert table("ladder", "--reference", "hdd_random")["L1 cache hit"] == ["1.5 ns", "150 ns"]
    assert "after Eliot Eshelman" in call("ladder").stdout
    assert values("ladder")["packet"]["felt_s"] == pytest.approx(1e8)


# ---- Units ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("dim", "text", "value"),
    [
        (BYTES, "160MB", 160 * MB), (BYTES, "160 megabytes", 160 * MB), (BYTES, "25MiB", 25 * MIB), (BYTES, "1_000 B", 1000.0), (BYTES, "1.5e3 B", 1500.0), (BYTES, "1.5E3B", 1500.0),
        (RATE, "400Gbit/s", 400 * GBIT), (RATE, "18.75 GB/s", 18.75 * GB), (TIME, "5us", 5e-6), (TIME, "0.1 ms", 1e-4), (TIME, "2h", 7200.0),
    ],
)  # fmt: skip
def test_what_can_be_typed(dim: Any, text: str, value: float) -> None:
    assert Amount(dim, "x", "y").convert(text, None, None) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [("7500000000", 7_500_000_000), ("7.5B", 7_500_000_000), ("1e6", 1_000_000), ("125M", 125_000_000), ("7_000", 7000)],
)
def test_counts_that_can_be_typed(text: str, value: int) -> None:
    assert Count().convert(text, None, None) == value


@pytest.mark.parametrize(
    "text",
    ["", "MB", "1..2MB", "1,5MB", "0x10MB", "½MB", "nanMB", "infMB", "1 MB 2", "--", "1e", "\u0661MB", "1e9999999999999999999MB"],
)
def test_what_is_no_amount_is_refused(text: str) -> None:
    with pytest.raises(click.UsageError):
        Amount(BYTES, "a size in bytes", "160MB").convert(text, None, None)


@pytest.mark.parametrize(("text", "value"), [("0", 0.0), ("1e-100", 1e-100), ("1e100", 1e100), ("2", 2.0), ("-2", -2.0)])
def test_ticks_that_can_be_typed(text: str, value: float) -> None:
    assert Ticks().convert(text, None, None) == value


def test_the_ends_of_what_can_be_typed_are_printed_and_one_step_beyond_is_refused() -> None:
    """Every command with every amount at its least and its largest: each prints a table, or names the flag that it refuses."""
    flags = {
        "allreduce": ({"--gradient": "TB", "--link": "TB/s", "--latency": "years"}, RING), "pipeline": ({"--forward": "years", "--backward": "years"}, PIPELINE),
        "queue": ({"--enqueue": "", "--compute": "", "--fetch": ""}, QUEUE), "memory": ({"--card": "TB"}, MEMORY),
        "step": ({"--gradient": "TB", "--compute": "years", "--bucket": "TB", "--link": "TB/s", "--network": "TB/s", "--latency": "years"}, STEP),
    }  # fmt: skip
    for amounts, command in flags.values():
        for ends in itertools.product(("1e-100", "1e100"), repeat=len(amounts)):
            given = [word for (flag, unit), end in zip(amounts.items(), ends, strict=True) for word in (flag, end + unit)]
            done = call(*command, *given)
            assert done.exit_code == 0 or (done.exit_code == 2 and " must " in done.stderr), (given, done.exception)


SIZE = Amount(BYTES, "a size in bytes", "160MB")


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        *((SIZE, text) for text in ("much", "160", "1 parsec", "1 s", "1.5", "1e400", "1e400MB")),
        *((Count(), text) for text in ("much", "1 s", "1.5", "1e400")),
        *((Ticks(), text) for text in ("much", "1e-310")),
    ],
)
def test_an_error_knows_its_flag_and_its_command(kind: click.ParamType[Any], text: str) -> None:
    flag, command = click.Option(["--flag"]), click.Context(main)
    with pytest.raises(click.BadParameter) as caught:
        kind.convert(text, flag, command)
    assert (caught.value.param, caught.value.ctx) == (flag, command)


# ---- Errors ---------------------------------------------------------------------------------


ERRORS = [
    ([*RING, "--gpus", "0"], "--gpus", "gpus must be a whole number of at least 1, got 0"),
    ([*RING, "--gpus", "x"], "--gpus", "'x' is not a valid integer"),
    ([*RING, "--gradient", "160Mb"], "--gradient", '"Mb" is ambiguous: write MB or Mbit/s'),
    ([*RING, "--gradient", "16GB/s"], "--gradient", "must be a size in bytes, such as 160MB; got '16GB/s', a rate in bytes per second"),
    ([*RING, "--gradient", "160"], "--gradient", "must have a unit, such as 160MB; got '160'"),
    ([*RING, "--gradient", "much"], "--gradient", "must be a size in bytes, such as 160MB; got 'much'"),
    ([*RING, "--gradient", "1 parsec"], "--gradient", '"parsec" is not a unit this site uses'),
    ([*RING, "--link", "0GB/s"], "--link", "link_bytes_per_s must be a finite number above 0, got 0.0"),
    ([*RING, "--latency", "-1us"], "--latency", "latency_s must be a finite number of at least 0"),
    ([*RING, "--gpus", "3", "--way", "halving-doubling"], "--gpus", "gpus must be a power of two, got 3"),
    ([*RING, "--way", "pigeon"], "--way", "'pigeon' is not one of"),
    ([*PIPELINE, "--stages", "0"], "--stages", "stages must be a whole number of at least 1, got 0"),
    ([*PIPELINE, "--microbatches", "7", "--chunks", "2"], "--microbatches", "microbatches must be a multiple of stages = 4 when interleaved, got 7"),
    ([*PIPELINE, "--chunks", "2", "--schedule", "gpipe"], "--chunks", "chunks must be 1 with gpipe, got 2"),
    ([*PIPELINE, "--backward", "-2ms"], "--backward", "backward_s must be a finite number of at least 0, got -0.002"),
    ([*QUEUE, "--enqueue", "-2"], "--enqueue", "enqueue must be a finite number of at least 0, got -2.0"),
    ([*QUEUE, "--every", "0"], "--every", "barrier_every must be at least 1"),
    ([*STEP, "--nodes", "0"], "--nodes", "nodes must be a whole number of at least 1, got 0"),
    ([*STEP, "--link", "0GB/s"], "--link", "the rate of 'link' must be a finite number above 0, got 0.0"),
    ([*STEP, "--bucket", "0MB"], "--bucket", "bucket_bytes must be a finite number above 0, got 0.0"),
    ([*STEP, "--compute", "-1ms"], "--compute", "compute_s must be a finite number of at least 0, got -0.001"),
    ([*MEMORY, "--parameters", "7.5x"], "--parameters", "must be a whole number, such as 7500000000 or 7.5B; got '7.5x'"),
    ([*MEMORY, "--parameters", "1.5"], "--parameters", "must be a whole number"),
    ([*MEMORY, "--zero", "5"], "--zero", "stage must be 0, 1, 2 or 3, got 5"),
    ([*MEMORY, "--ranks", "0"], "--ranks", "ranks must be a whole number of at least 1, got 0"),
    (["ladder", "--reference", "moon"], "--reference", "'moon' is not one of"),
    # Numbers that no float holds, or whose results none would hold, or no line.
    ([*MEMORY, "--parameters", "1e400"], "--parameters", "must be 0, or from 1e-100 to 1e100; got '1e400'"),
    ([*MEMORY, "--parameters", "1e99999999"], "--parameters", "must be 0, or from 1e-100 to 1e100; got '1e99999999'"),
    ([*MEMORY, "--parameters", "1e9999999999999999999"], "--parameters", "must be 0, or from 1e-100 to 1e100; got '1e9999999999999999999'"),
    ([*MEMORY, "--parameters", "1e90"], "--parameters", f"parameters must be a whole number of at most 2^53, got {10**90}"),
    ([*QUEUE, "--enqueue", "1e-310"], "--enqueue", "must be 0, or from 1e-100 to 1e100; got '1e-310'"),
    ([*QUEUE, "--compute", "-1e-310"], "--compute", "must be 0, or from 1e-100 to 1e100; got '-1e-310'"),
    ([*QUEUE, "--fetch", "1e101"], "--fetch", "must be 0, or from 1e-100 to 1e100; got '1e101'"),
    ([*QUEUE, "--fetch", "inf"], "--fetch", "fetch must be a finite number of at least 0, got inf"),
    ([*QUEUE, "--fetch", "nan"], "--fetch", "fetch must be a finite number of at least 0, got nan"),
    ([*QUEUE, "--fetch", "x"], "--fetch", "'x' is not a valid float"),
    ([*STEP, "--bucket", "1e-320B"], "--bucket", "must be 0, or from 1e-100 to 1e100; got '1e-320B'"),
    ([*STEP, "--bucket", "1e-90B"], "--bucket", "messages must be a whole number of at most 2^53, got 10000000000000000"),
    ([*STEP, "--bucket", "1B", "--trace", "unwritten.json"], "--bucket", "bucket_bytes must make at most 1000000 buckets, got 1.0, which makes 1.6e+08"),
    ([*STEP, "--compute", "1e101s"], "--compute", "must be 0, or from 1e-100 to 1e100; got '1e101s'"),
    ([*STEP, "--link", "1e-101GB/s"], "--link", "must be 0, or from 1e-100 to 1e100; got '1e-101GB/s'"),
    ([*RING, "--gpus", "1" + "0" * 400], "--gpus", "gpus must be a whole number of at most 2^53, got a whole number of 1329 bits"),
    ([*RING, "--latency", "1e99999999s"], "--latency", "must be 0, or from 1e-100 to 1e100; got '1e99999999s'"),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "flag", "rule"), ERRORS)
def test_an_error_names_the_flag_and_the_rule(arguments: list[str], flag: str, rule: str) -> None:
    done = call(*arguments)
    assert done.exit_code == 2
    assert done.stdout == ""
    assert f"Invalid value for '{flag}'" in done.stderr
    assert rule in done.stderr
    assert "Traceback" not in done.output


def test_the_commands_are_the_same_when_they_are_made_again() -> None:
    spec = importlib.util.find_spec("perfmodel.__main__")
    assert spec is not None
    assert spec.loader is not None
    again = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(again)
    made, first = ({name: [p.to_info_dict() for p in c.params] for name, c in m.commands.items()} for m in (again.main, main))
    assert made == first
    for arguments, flag, rule in ERRORS:
        done = CliRunner().invoke(again.main, arguments)
        assert (done.exit_code, f"Invalid value for '{flag}'" in done.stderr, rule in done.stderr) == (2, True, True), done.stderr
    assert CliRunner().invoke(again.main, [*RING, "--json"]).stdout == call(*RING, "--json").stdout


@pytest.mark.parametrize("name", ALL)
def test_json_is_json_and_help_is_help(name: str) -> None:
    assert values(*ALL[name])
    shown = call(name, "--help")
    assert shown.exit_code == 0
    assert str(main.commands[name].help) in " ".join(shown.stdout.split())
    assert name in call("--help").stdout


# ---- Traces ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "last_us"), [("allreduce", 80_000), ("pipeline", 33_000), ("queue", 56), ("step", 101_428.571)])
def test_a_trace_ends_when_the_model_says(tmp_path: Path, name: str, last_us: float) -> None:
    file = tmp_path / "trace.json"
    done = call(*ALL[name], "--trace", str(file))
    assert done.exit_code == 0
    assert f"trace: {file}" in done.stderr
    events = json.loads(file.read_text(encoding="utf-8"))["traceEvents"]
    assert max(event["ts"] + event["dur"] for event in events if event["ph"] == "X") == pytest.approx(last_us, rel=1e-6)
    assert list(tmp_path.iterdir()) == [file]


def test_a_trace_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    done = call(*RING, "--trace", str(tmp_path / "no" / "trace.json"))
    assert done.exit_code == 1
    assert f"{tmp_path / 'no' / 'trace.json'}': No such file or directory" in done.stderr
    assert "Traceback" not in done.output


def test_a_trace_event_by_event() -> None:
    """Chrome's Trace Event Format: M names processes and threads, X is an event with a beginning and a length, in microseconds."""
    sends = run([
        Task(name="A → B", streams=("A out", "B in"), duration_s=1 / 3, role="transfer"),
        Task(name="on", streams=("B in",), duration_s=1 / 3, role="update"),
    ])  # fmt: skip
    text = trace({"X ring · ": sends, "": run([])}, "s")
    found = json.loads(text)
    assert (found["displayTimeUnit"], found["otherData"]) == (
        "ms",
        {"note": "a cost model, not a measurement; times in microseconds"},
    )
    third = 333333.333333
    assert found["traceEvents"] == [
        {"ph": "M", "name": "process_name", "pid": 0, "tid": 0, "args": {"name": "X ring"}},
        {"ph": "M", "name": "thread_name", "pid": 0, "tid": 0, "args": {"name": "A out"}},
        {"ph": "M", "name": "thread_name", "pid": 0, "tid": 1, "args": {"name": "B in"}},
        {"ph": "X", "name": "A → B", "cat": "transfer", "pid": 0, "tid": 0, "ts": 0, "dur": third},
        {"ph": "X", "name": "A → B", "cat": "transfer", "pid": 0, "tid": 1, "ts": 0, "dur": third},
        {"ph": "X", "name": "on", "cat": "update", "pid": 0, "tid": 1, "ts": third, "dur": 333333.333334},  # to 666666.666667
        {"ph": "M", "name": "process_name", "pid": 1, "tid": 0, "args": {"name": "schedule"}},
    ]
    assert "A → B" in text  # readable as it is
    assert text.startswith('{\n "displayTimeUnit"')
    assert text.endswith("}\n")
    ticks = json.loads(trace({"queue": sends}, "ticks"))
    assert ticks["otherData"]["note"] == "a cost model, not a measurement; one tick is shown as 1 microsecond"
    assert ticks["traceEvents"][-1]["ts"] == 0.333333


def test_a_table_has_its_names_on_the_left_and_its_numbers_on_the_right(capsys: pytest.CaptureFixture[str]) -> None:
    _show(False, {}, ["way", "time", ""], [["ring", "15\u00a0ms", ""], ["one-gpu", "60 ms", "16 GB/s"]], "the\u00a0end")
    assert capsys.readouterr().out.splitlines() == [
        "way       time",
        "ring     15 ms",
        "one-gpu  60 ms  16 GB/s",
        "the end",
    ]
    _show(True, {"name": "µ", "time_s": 1}, ["way"], [])
    assert capsys.readouterr().out == '{\n  "name": "µ",\n  "time_s": 1\n}\n'


# ---- As a library -----------------------------------------------------------------------------


def python(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)


def test_every_module_imports_without_what_it_does_not_need() -> None:
    """No torch, plotly, pint or click, and nothing of the site: only the lockstep runs need torch, and the experiments numpy."""
    modules = [p.stem for p in (ROOT / "perfmodel").glob("*.py") if p.stem not in ("__main__", "__init__")]
    assert len(modules) > 20
    done = python(f"""
import sys
for name in ("torch", "plotly", "pint", "click", "numpy", "macros", "verify", "mkdocs"):
    sys.modules[name] = None
for name in {modules!r}:
    __import__("perfmodel." + name)
""")
    assert done.returncode == 0, done.stderr


def test_a_module_that_needs_torch_would_be_seen() -> None:
    assert python("import sys; sys.modules['torch'] = None; import perfmodel.lockstep.runs").returncode != 0


def test_the_command_runs_as_a_module() -> None:
    done = subprocess.run([sys.executable, "-m", "perfmodel", *RING], cwd=ROOT, capture_output=True, text=True, check=True)
    assert "ring" in done.stdout
    wrong = subprocess.run([sys.executable, "-m", "perfmodel", "allreduce"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (wrong.returncode, "Missing option '--gradient'" in wrong.stderr) == (2, True)
