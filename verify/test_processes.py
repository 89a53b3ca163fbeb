"""Lockstep over processes and hosts, and through faults: what `make lockstep` and `make faults` print, asserted."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import IO

import pytest
import torch

from perfmodel.lockstep import FAULTS, checkpoint, processes, train
from perfmodel.lockstep.checkpoint import CheckpointError
from perfmodel.lockstep.job import Job, Training, Trouble, read
from perfmodel.lockstep.processes import Ended, Failure, RunError, blame, collect, launch, run
from perfmodel.lockstep.rank import WholeReason
from verify import faults, hosts, lockstep

STATE = {"step": 3, "net": torch.arange(4.0)}


# In lockstep ------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ranks", [2, pytest.param(4, marks=pytest.mark.full)])
def test_ranks_are_one_replica_and_no_mutant_passes(ranks: int) -> None:
    """all_reduce and DDP, float64 and float32, and three samples: on four ranks one has none. Mutants on two."""
    made = lockstep.over_ranks(ranks, mutants=ranks == 2)
    assert len(made.rows) == 5
    assert [row for row in made.rows if row.reasons or row.spread] == []
    assert made.uncaught == []


@pytest.mark.full
def test_two_hosts_are_one_replica() -> None:
    try:
        made = lockstep.across_hosts()
    except hosts.NotPermittedError as reason:
        pytest.skip(f"two hosts: {reason}")
    assert len(made.rows) == 4
    assert [row for row in made.rows if row.reasons or row.spread] == []


@pytest.mark.full
def test_two_runs_over_processes_are_equal_in_every_bit() -> None:
    job = Job(trainings=lockstep.MATRIX)
    for a, b in zip(run(2, job), run(2, job), strict=True):
        assert a.losses == b.losses
        assert all(torch.equal(x, y) for x, y in zip(a.parameters, b.parameters, strict=True))


def test_a_run_out_of_lockstep_is_seen_by_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    broken = train(2, 60, method=FAULTS["mean of means"])
    row = lockstep.row("in process", broken, train(1, 60), 0.1)
    assert lockstep.show([row]) == 1
    assert "NOT IN LOCKSTEP: after step 60 the relative L2 distance is 0.0069, over 1e-15" in capsys.readouterr().out


def test_no_mutant_passes_in_process() -> None:
    assert lockstep.uncaught() == []


# Through faults ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", [name if name == "a rank is killed" else pytest.param(name, marks=pytest.mark.full) for name in faults.FAULTS]
)
def test_a_fault_ends_as_it_should(name: str) -> None:
    try:
        outcome = faults.run(name)
    except faults.CannotRunError as reason:
        pytest.skip(f"{name}: {reason}")
    assert outcome.right, outcome


@pytest.mark.parametrize(
    ("ended", "right"),
    [
        (Ended("rank 1 was killed", 5.0, ()), True),
        (Ended("rank 0 was killed", 5.0, ()), False),
        (Ended("", 5.0, ()), False),
        (Ended("rank 1 was killed", 31.0, ()), False),
        (Ended("rank 1 was killed", 5.0, (4711,)), False),
    ],
    ids=["as it should", "another rank", "no fault", "too late", "an orphan"],
)
def test_a_fault_that_ends_otherwise_is_seen(ended: Ended, right: bool) -> None:
    assert faults.judged(ended, "rank 1 was killed").right is right


@pytest.mark.parametrize(
    ("failures", "says"),
    [
        ({0: Failure("", -11, 5)}, "rank 0 was killed by SIGSEGV"),
        ({0: Failure("", 3, 5), 1: Failure("", -15, 5)}, "rank 0 ended with status 3 and said nothing"),
        ({0: Failure("", -15, 5), 1: Failure("ValueError: x\nmore", 1, 9)}, "rank 1: ValueError: x"),
        ({0: Failure("RuntimeError: Connection reset by peer", 1, 4), 1: Failure("OSError: disk", 1, 5)}, "rank 1: OSError: disk"),
        ({0: Failure("RuntimeError: y", 1, 4), 1: Failure("GroupError: rank 2 did not come", 1, 9)}, "rank 2 did not come"),
        ({0: Failure("", -15, 5)}, "every rank was ended by SIGTERM, and none said why"),
    ],
)
def test_who_is_to_blame(failures: dict[int, Failure], says: str) -> None:
    assert blame(failures) == says


def test_a_group_that_takes_too_long_is_ended_with_all_its_ranks(tmp_path: Path) -> None:
    """Killed outright, torchrun can't end its ranks: they must end by themselves."""
    job = Job(trainings=(Training(steps=60),), timeout_s=100, trouble=Trouble(kind="hang", rank=0, step=3))
    ended = launch(2, job, tmp_path, patience_s=9)
    assert ended.reason == "the group took over 9 s"
    assert ended.left == ()


@pytest.mark.full
@pytest.mark.parametrize("seconds", [1.0, 4.0, 8.0])
def test_a_launcher_that_is_killed_leaves_no_rank_behind(tmp_path: Path, seconds: float) -> None:
    """Whenever that happens: before the ranks start, while they do, and while they train."""
    Job(trainings=(Training(steps=60),), timeout_s=100, trouble=Trouble(kind="hang", rank=0, step=3)).write(tmp_path)
    mark = f"test-{tmp_path.name}-{seconds}"
    command = [
        sys.executable, "-m", "perfmodel.lockstep.processes", str(tmp_path / "report.json"), *processes.ONE_HOST, "--nproc-per-node=2", "-m",
        "perfmodel.lockstep.rank", str(tmp_path),
    ]  # fmt: skip
    environment = {**os.environ, "LOCKSTEP_RUN": mark, "GLOO_SOCKET_IFNAME": "lo"}
    launcher = subprocess.Popen(command, cwd=processes.ROOT, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(seconds)
    launcher.kill()
    launcher.wait()
    end = time.monotonic() + 15
    while processes._alive(mark) and time.monotonic() < end:
        time.sleep(0.1)
    assert processes._alive(mark) == ()


def test_without_a_report_the_last_line_is_the_reason(tmp_path: Path) -> None:
    log = tmp_path / "log.txt"
    log.write_text("a\nImportError: no torch\n\n", encoding="utf-8")
    assert processes._reason(tmp_path / "none.json", log).endswith("its last line: ImportError: no torch")
    (tmp_path / "report.json").write_text(json.dumps({"reason": "rank 1 left"}), encoding="utf-8")
    assert processes._reason(tmp_path / "report.json", log) == "rank 1 left"


def test_a_rank_that_wrote_nothing_is_missed(tmp_path: Path) -> None:
    torch.save([], tmp_path / "rank-0.pt")
    with pytest.raises(RunError, match="got nothing from rank 1, 2"):
        collect(3, Job(trainings=()), [tmp_path])


# Jobs and checkpoints ---------------------------------------------------------------------------------------------------------


def test_a_job_comes_back_as_it_was(tmp_path: Path) -> None:
    job = Job(
        trainings=(Training(how="ddp", fault="mean of means"), Training(steps=5)),
        save_every=3,
        trouble=Trouble(kind="kill", rank=1),
    )
    job.write(tmp_path)
    assert read(tmp_path) == job


def test_the_name_of_a_job_is_that_of_its_training() -> None:
    """What befalls it does not count: a restarted group must know its own checkpoint. What is trained does."""
    job = Job(trainings=(Training(steps=5),))
    assert replace(job, trouble=Trouble(kind="kill", rank=0), timeout_s=1).name == job.name
    assert replace(job, trainings=(Training(steps=6),)).name != job.name


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Training(how="ring"), "how must be one of 'allreduce', 'ddp'; got 'ring'"),
        (lambda: Training(dtype="float16"), "dtype must be one of 'float64', 'float32'; got 'float16'"),
        (lambda: Training(fault="mean"), "fault must be one of .*; got 'mean'"),
        (lambda: Training(steps=0), "steps must be a whole number of at least 1, got 0"),
        (lambda: Training(samples=0), "samples must be a whole number of at least 1, got 0"),
        (lambda: Training(lr=-1.0), "lr must be a finite number above 0, got -1.0"),
        (lambda: Training(once_at=-5), "once_at must be a whole number of at least 0, got -5"),
        (lambda: Training(once_at="x"), "once_at must be a whole number of at least 0, got 'x'"),  # type: ignore[arg-type]
        (lambda: Training(steps=20, fault="one step more"), "'one step more' must strike at one of the steps 0 to 19, got 150"),
        (lambda: Training(steps=20, fault="one step more", once_at=20), "strike at one of the steps 0 to 19, got 20"),
        (
            lambda: Job(trainings=(Training(steps=9),), trouble=Trouble(kind="kill", rank=0, step=9)),
            "trouble must come at one of the steps 0 to 8, got 9",
        ),
        (lambda: Trouble(kind="sulk", rank=0), "kind must be one of 'raise', 'exit', 'kill', 'hang', 'shape'; got 'sulk'"),
        (lambda: Trouble(kind="kill", rank=-1), "rank must be a whole number of at least 0, got -1"),
        (lambda: Job(trainings=(), backend="mpi"), "backend must be one of 'gloo', 'nccl'; got 'mpi'"),
        (lambda: Job(trainings=(), device="tpu"), "device must be one of 'cpu', 'cuda', 'cuda:0'; got 'tpu'"),
        (
            lambda: Job(trainings=(), backend="nccl"),
            "device must be 'cuda' with 'nccl', which needs a GPU for each rank; got 'cpu'",
        ),
        (lambda: Job(trainings=(), backend="nccl", device="cuda:0"), "device must be 'cuda' with 'nccl'.*; got 'cuda:0'"),
        (lambda: Job(trainings=(), timeout_s=0), "timeout_s must be a finite number above 0, got 0"),
        (lambda: Job(trainings=(), save_every=-1), "save_every must be a whole number of at least 0, got -1"),
        (lambda: run(0, Job(trainings=())), "k must be a whole number of at least 1, got 0"),
        (
            lambda: run(2, Job(trainings=(Training(steps=5),), trouble=Trouble(kind="kill", rank=2))),
            "the rank in trouble must be one of 0 to 1, got 2",
        ),
    ],
)
def test_bad_input_gets_the_rule_and_the_value(make: object, message: str) -> None:
    assert callable(make)
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize("backend", ["gloo", "nccl"])
@pytest.mark.parametrize("gpus", [0, 1, 3])
def test_more_ranks_than_gpus_are_refused_before_any_is_started(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, backend: str, gpus: int
) -> None:
    monkeypatch.setattr("torch.cuda.device_count", lambda: gpus)
    job = Job(trainings=(), backend=backend, device="cuda")
    message = f"^k must be at most {gpus}, since device 'cuda' needs a GPU for each rank; got {gpus + 1}$"
    with pytest.raises(ValueError, match=message):
        launch(gpus + 1, job, tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("device", "ranks"), [("cuda", 2), ("cuda:0", 3), ("cpu", 3)])
def test_as_many_ranks_as_gpus_are_started_and_more_where_they_share(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, device: str, ranks: int
) -> None:
    monkeypatch.setattr("torch.cuda.device_count", lambda: 2)
    monkeypatch.setattr("subprocess.Popen", lambda *_, **__: pytest.fail("started", pytrace=False))
    with pytest.raises(pytest.fail.Exception, match="started"):
        launch(ranks, Job(trainings=(), device=device), tmp_path)


def test_why_a_rank_failed_is_written_whole_or_not_at_all(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """It may be ended while it writes; torchrun can't read half a reason, and would not start the group again."""
    reason = tmp_path / "error.json"

    def ended_in_between(data: object, file: IO[str]) -> None:
        file.write("{")
        raise SystemExit

    monkeypatch.setenv("TORCHELASTIC_ERROR_FILE", str(reason))
    with monkeypatch.context() as torn:
        torn.setattr("json.dump", ended_in_between)
        with pytest.raises(SystemExit):
            WholeReason().record_exception(ValueError("planted"))
    assert not reason.exists()
    monkeypatch.setenv("TORCHELASTIC_ERROR_FILE", str(reason))
    WholeReason().record_exception(ValueError("planted"))
    assert json.loads(reason.read_text(encoding="utf-8"))["message"]["message"] == "ValueError: planted"
    monkeypatch.delenv("TORCHELASTIC_ERROR_FILE")
    WholeReason().record_exception(ValueError("planted"))  # no torchrun has asked for it


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    path = tmp_path / "checkpoint.pt"
    checkpoint.save(path, STATE, job="abc")
    return path


def test_a_checkpoint_comes_back(saved: Path) -> None:
    state = checkpoint.load(saved, job="abc")
    assert state is not None
    assert (state["step"], state["net"].tolist()) == (3, [0, 1, 2, 3])
    assert checkpoint.load(saved.with_name("none.pt"), job="abc") is None
    assert [path.name for path in saved.parent.iterdir()] == ["checkpoint.pt"]


@pytest.mark.parametrize("cut", [0, 1, 40, 120, 600, -1])
def test_a_torn_checkpoint_is_refused(saved: Path, cut: int) -> None:
    saved.write_bytes(saved.read_bytes()[:cut])
    with pytest.raises(CheckpointError, match=r"checkpoint\.pt is torn: .*; delete it to begin again"):
        checkpoint.load(saved, job="abc")


def test_a_checkpoint_with_a_single_other_bit_is_refused(saved: Path) -> None:
    content = bytearray(saved.read_bytes())
    content[-200] ^= 1
    saved.write_bytes(content)
    with pytest.raises(CheckpointError, match="its checksum is another"):
        checkpoint.load(saved, job="abc")


def test_a_stale_checkpoint_is_refused(saved: Path) -> None:
    with pytest.raises(CheckpointError, match="is stale: it belongs to job abc, and this is def; delete it to begin again"):
        checkpoint.load(saved, job="def")


def test_an_interrupted_save_leaves_the_old_checkpoint(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr("os.replace", fail)
    with pytest.raises(OSError, match="disk is full"):
        checkpoint.save(saved, {"step": 4}, job="abc")
    state = checkpoint.load(saved, job="abc")
    assert state is not None
    assert state["step"] == 3
    assert [path.name for path in saved.parent.iterdir()] == ["checkpoint.pt"]
