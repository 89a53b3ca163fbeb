"""Lockstep over processes: torchrun starts a process per replica, torch.distributed carries the gradients, this collects the runs.

>>> one = train(1, 20)
>>> (two,) = run(2, Job(trainings=(Training(steps=20),)))
>>> why_not(two, one)
()

Raises RunError, with a short message that names the rank and the cause, when a rank fails. No process is left behind.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import torch

from perfmodel.lockstep.compare import why_not
from perfmodel.lockstep.job import Job, Training
from perfmodel.lockstep.runs import Run, spread, train
from perfmodel.units import at_least

__all__ = ["Ended", "Job", "RunError", "Training", "collect", "launch", "run", "train", "why_not"]

ROOT = Path(__file__).resolve().parent.parent.parent
PATIENCE_S = 120.0
ONE_HOST = ("--standalone", "--local-addr=127.0.0.1")  # the address: a name of the machine may lead nowhere


class RunError(RuntimeError):
    """A run over processes that failed."""


class Ended(NamedTuple):
    """How a group of processes ended: the reason ("" when all went well), the seconds it took, processes that outlived it."""

    reason: str
    seconds: float
    left: tuple[int, ...]


def run(k: int, job: Job, **options: Any) -> list[Run]:
    """Run a job on k processes of this machine; returns a Run for each of its trainings.

    Options are those of `launch`. Raises RunError when a rank fails, ValueError as `launch` does.
    """
    with tempfile.TemporaryDirectory(prefix="lockstep-") as folder:
        ended = launch(k, job, Path(folder), **options)
        if ended.reason:
            raise RunError(ended.reason)
        return collect(k, job, [Path(folder)])


def launch(
    k: int,
    job: Job,
    folder: Path,
    *,
    options: Sequence[str] = ONE_HOST,
    restarts: int = 0,
    patience_s: float = PATIENCE_S,
    environment: Mapping[str, str] | None = None,
    prefix: Sequence[str] = (),
) -> Ended:
    """Let torchrun start k ranks that do a job in a folder, and wait for them.

    `options` are torchrun's; `restarts` how often it starts the group again after a rank has failed; `prefix` is a command that
    runs the launcher, such as one that enters a network namespace. After `patience_s` seconds all is ended.
    Raises ValueError for k below 1, for more ranks than GPUs where each needs its own (device "cuda"), and for trouble with a rank that is not there.
    """
    at_least("k", k, 1)
    if job.device == "cuda" and k > (gpus := torch.cuda.device_count()):
        raise ValueError(f"k must be at most {gpus}, since device 'cuda' needs a GPU for each rank; got {k}")
    if job.trouble and job.trouble.rank >= k:
        raise ValueError(f"the rank in trouble must be one of 0 to {k - 1}, got {job.trouble.rank}")
    job.write(folder)
    mark = uuid.uuid4().hex
    env = {
        **os.environ, "OMP_NUM_THREADS": "1", "CUBLAS_WORKSPACE_CONFIG": ":4096:8", "PYTHONPATH": str(ROOT), "LOCKSTEP_RUN": mark,
        "TORCH_DISABLE_SHARE_RDZV_TCP_STORE": "1",  # a new store for each start: in the old one a restarted group finds the addresses of the dead
        **({"GLOO_SOCKET_IFNAME": "lo"} if sys.platform == "linux" else {}), **(environment or {}),
    }  # fmt: skip
    report = folder / f"failures-{mark}.json"
    command = [
        *prefix, sys.executable, "-m", "perfmodel.lockstep.processes", str(report), *options, f"--nproc-per-node={k}", f"--max-restarts={restarts}",
        "-m", "perfmodel.lockstep.rank", str(folder),
    ]  # fmt: skip
    begin = time.monotonic()
    log = folder / f"log-{mark}.txt"
    with log.open("wb") as output:
        launcher = subprocess.Popen(command, cwd=ROOT, env=env, stdout=output, stderr=subprocess.STDOUT, start_new_session=True)
        try:
            status = launcher.wait(timeout=patience_s)
        except subprocess.TimeoutExpired:
            status = None
        finally:
            if launcher.poll() is None:  # the time is up, or this process is being ended
                os.killpg(launcher.pid, signal.SIGKILL)
                launcher.wait()
                _end(_alive(mark))  # the ranks end with it, but for those that are still starting
    seconds = time.monotonic() - begin
    left = _left_over(mark)
    if status is None:
        reason = f"the group took over {patience_s:g} s"
    elif status:
        reason = _reason(report, log)
    else:
        reason = ""
    return Ended(reason, seconds, left)


def _reason(report: Path, log: Path) -> str:
    """Why a group failed, in a line: what its launcher wrote down, else the last line that was printed."""
    if report.exists():
        return str(json.loads(report.read_text(encoding="utf-8"))["reason"])
    lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    return f"torchrun ended without a reason; its last line: {lines[-1] if lines else 'none'}"


def _alive(mark: str) -> tuple[int, ...]:
    """The processes of a group. Known on Linux only; elsewhere none."""
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            if f"LOCKSTEP_RUN={mark}".encode() in path.read_bytes():  # a zombie has no environment any more
                found.append(int(path.parent.name))
        except OSError:
            continue  # it has ended meanwhile, or is not ours
    return tuple(found)


def _end(processes: Sequence[int]) -> None:
    for process in processes:
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)


def _left_over(mark: str) -> tuple[int, ...]:
    """Processes of a group that are still there two seconds after its end; they are ended."""
    end = time.monotonic() + 2
    while (left := _alive(mark)) and time.monotonic() < end:
        time.sleep(0.05)
    _end(left)
    return left


def collect(k: int, job: Job, folders: Sequence[Path]) -> list[Run]:
    """The runs of a job, from the files that its k ranks wrote into the folders of their hosts.

    Raises RunError for a file that is missing.
    """
    files = {path.name: path for folder in folders for path in folder.glob("rank-*.pt")}
    missing = [str(rank) for rank in range(k) if f"rank-{rank}.pt" not in files]
    if missing:
        raise RunError(f"every rank must write what it saw, got nothing from rank {', '.join(missing)}")
    ranks = [torch.load(files[f"rank-{rank}.pt"], weights_only=True) for rank in range(k)]
    runs = []
    for number, training in enumerate(job.trainings):
        each = [rank[number] for rank in ranks]
        flat = [rank["parameters"] for rank in each]
        runs.append(
            Run(
                k=k,
                dtype=flat[0].dtype,
                method=training.fault or "lockstep",
                steps=tuple(each[0]["steps"]),
                losses=tuple(each[0]["losses"]),
                parameters=tuple(flat[0]),
                spreads=tuple(spread(row) for row in zip(*flat, strict=True)),
                tensors=tuple((name, size) for name, size in each[0]["tensors"]),
            )
        )
    return runs


# The launcher, a process of its own: torchrun, and a reason in one line when it fails -------------------------------------------


def main(arguments: Sequence[str]) -> int:
    """`python -m perfmodel.lockstep.processes REPORT …`: torchrun with the arguments; why it failed goes into the file REPORT."""
    from torch.distributed.elastic.multiprocessing.errors import ChildFailedError
    from torch.distributed.run import main as torchrun

    report, *rest = arguments
    os.environ["LOCKSTEP_LAUNCHER"] = str(os.getpid())
    try:
        torchrun(rest)
    except ChildFailedError as error:
        reason = blame({rank: Failure(_said(f.message), f.exitcode, f.timestamp) for rank, f in error.failures.items()})
    except (RuntimeError, OSError, ValueError) as error:
        reason = f"no rank was started: {_first_line(error)}"
    else:
        return 0
    Path(report).write_text(json.dumps({"reason": reason}), encoding="utf-8")
    print(reason, file=sys.stderr)
    return 1


class Failure(NamedTuple):
    """What torchrun knows of a rank that failed: the error it raised ("" for none), its exit status (−9: by signal 9), the time."""

    said: str
    status: int
    time: int


def blame(failures: Mapping[int, Failure]) -> str:
    """The cause of a failure in a line.

    A rank that was killed or left without a word comes first; then one that others have named; then the first that raised an
    error. Ranks whose connection broke, and those that torchrun itself has ended, failed because of another.

    >>> blame({0: Failure("GroupError: rank 1 did not come", 1, 7), 1: Failure("", -9, 8), 2: Failure("", -15, 8)})
    'rank 1 was killed by SIGKILL'
    >>> blame({0: Failure("RuntimeError: Connection closed by peer", 1, 7), 1: Failure("ValueError: planted", 1, 8)})
    'rank 1: ValueError: planted'
    """
    silent = {rank: f.status for rank, f in failures.items() if not f.said and f.status != -signal.SIGTERM}
    if silent:
        rank, status = min(silent.items())
        how = f"was killed by {signal.Signals(-status).name}" if status < 0 else f"ended with status {status} and said nothing"
        return f"rank {rank} {how}"
    named = [f.said for f in failures.values() if f.said.startswith("GroupError: ")]
    if named:
        return _first_line(named[0].removeprefix("GroupError: "))
    rank = min(failures, key=lambda rank: (not failures[rank].said, "Connection " in failures[rank].said, failures[rank].time))
    said = failures[rank].said
    return f"rank {rank}: {_first_line(said)}" if said else "every rank was ended by SIGTERM, and none said why"


def _said(message: Any) -> str:
    """The error in torchrun's message of a failure: a text, or a mapping where the rank raised one; "" where it could not say."""
    return str(message["message"]) if isinstance(message, dict) else ""


def _first_line(message: object) -> str:
    return str(message).strip().partition("\n")[0]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
