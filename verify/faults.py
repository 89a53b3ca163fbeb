"""`make faults`: what befalls a group of processes, what it says then, and how long that takes.

Each fault either does no harm, or ends the group within 30 s with a short message that names the rank and the cause. None leaves
a process behind. The last ones restart: a rank is killed, torchrun starts the group again from the checkpoint, and the parameters
end equal in every bit to those of an undisturbed run.
"""

from __future__ import annotations

import re
import shutil
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import torch

from perfmodel.lockstep import Run, checkpoint, train, why_not, xor_net
from perfmodel.lockstep.job import Job, Training, Trouble
from perfmodel.lockstep.lost import restart
from perfmodel.lockstep.processes import Ended, RunError, collect, launch
from verify import hosts

LIMIT_S = 30.0
STEPS = 60
SHORT = Training(steps=STEPS)


class Outcome(NamedTuple):
    """How a fault ended: what was said, in how many seconds, whether as it should, and which processes were left over."""

    said: str
    seconds: float
    right: bool
    left: tuple[int, ...] = ()


class CannotRunError(Exception):
    """This machine lacks what the fault needs. The message says what."""


def ends(kind: str, rank: int, says: str, *, how: str = "allreduce") -> Callable[[Path], Outcome]:
    """A rank in trouble: the group must end in time and say so."""

    def check(folder: Path) -> Outcome:
        trouble = Trouble(kind=kind, rank=rank, step=0 if kind == "shape" else 20)
        return judged(launch(2, Job(trainings=(Training(how=how),), timeout_s=3, trouble=trouble), folder), says)

    return check


def judged(ended: Ended, says: str) -> Outcome:
    """Whether a group has ended in time, with the right words, and left nothing behind."""
    right = re.fullmatch(says, ended.reason) is not None and ended.seconds <= LIMIT_S and not ended.left
    return Outcome(ended.reason or "nothing went wrong", ended.seconds, right, ended.left)


def works(ended: Ended, k: int, job: Job, folder: Path, reference: Run) -> Outcome:
    """Whether a group did its work in spite of all: its run must be in lockstep."""
    if ended.reason:
        return Outcome(ended.reason, ended.seconds, False, ended.left)
    reasons = why_not(collect(k, job, [folder])[0], reference)
    return Outcome("; ".join(reasons) or "works, in lockstep", ended.seconds, not reasons and not ended.left, ended.left)


def port_in_use(folder: Path) -> Outcome:
    """torchrun is told to listen where another program does."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        options = ("--nnodes=1", "--node-rank=0", "--master-addr=127.0.0.1", f"--master-port={port}")
        ended = launch(2, Job(trainings=(SHORT,)), folder, options=options, patience_s=LIMIT_S)
    return judged(ended, rf"no rank was started: .*port: {port}.*(EADDRINUSE|address already in use).*")


def two_at_once(folder: Path) -> Outcome:
    """Two groups on one machine at the same time."""
    job, reference = Job(trainings=(SHORT,)), train(1, STEPS)
    folders = [folder / "first", folder / "second"]
    for each in folders:
        each.mkdir()
    with ThreadPoolExecutor(2) as pool:
        both = list(pool.map(lambda each: works(launch(2, job, each), 2, job, each, reference), folders))
    return max(both, key=lambda outcome: (not outcome.right, outcome.seconds))


def unresolvable(folder: Path) -> Outcome:
    """The machine's own name leads nowhere, as in many containers."""
    prefix = hosts.named("no-such-host-at-all")
    if not prefix:
        raise CannotRunError("needs leave to make a UTS namespace; run as root, or where unprivileged user namespaces are allowed")
    job = Job(trainings=(SHORT,))
    return works(launch(2, job, folder, prefix=prefix), 2, job, folder, train(1, STEPS))


def restarted(folder: Path) -> Outcome:
    """Rank 1 is killed at step 25, ten steps after a checkpoint; torchrun starts both ranks again."""
    made = restart(folder, steps=STEPS, save_every=15, killed_at=25)
    right = made.began == 15 and not made.differ and not made.ended.left
    said = f"went on from step {made.began}; {made.differ or 'no'} parameters differ from an undisturbed run in any bit"
    return Outcome(said, made.ended.seconds, right, made.ended.left)


def spoilt(spoil: Callable[[Path], None], says: str) -> Callable[[Path], Outcome]:
    """A checkpoint that must not be used: the group must refuse it, and not begin again in silence."""

    def check(folder: Path) -> Outcome:
        job = Job(trainings=(SHORT,), save_every=15)
        state = {"steps": [0], "losses": [1.0], "parameters": [torch.zeros(42)], "step": 15, "net": xor_net().state_dict()}
        checkpoint.save(folder / "checkpoint.pt", state, job=job.name)
        spoil(folder / "checkpoint.pt")
        return judged(launch(2, job, folder), says)

    return check


def _tear(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-100])


def _stale(path: Path) -> None:
    head, _, content = path.read_bytes().partition(b"\n")
    path.write_bytes(head.replace(Job(trainings=(SHORT,)).name.encode(), b"0123456789ab") + b"\n" + content)


FAULTS: Mapping[str, Callable[[Path], Outcome]] = MappingProxyType(
    {
        "a rank is killed": ends("kill", 1, "rank 1 was killed by SIGKILL"),
        "a rank raises an error": ends("raise", 1, "rank 1: ValueError: planted at step 20"),
        "a rank exits": ends("exit", 0, "rank 0 ended with status 3 and said nothing"),
        "a rank hangs": ends("hang", 1, "rank 1 did not come to the allreduce of step 20 within 3 s"),
        "rank 0 hangs, under DistributedDataParallel": ends(
            "hang", 0, "rank 0 did not come to the allreduce of step 20 within 3 s", how="ddp"
        ),
        "a rank has parameters of another shape": ends(
            "shape", 1, r"rank 1 holds 0\.weight in the shape \(9, 2\), rank 0 in \(8, 2\): all must hold the same"
        ),
        "the port is in use": port_in_use,
        "two groups at once": two_at_once,
        "the machine's name leads nowhere": unresolvable,
        "a rank is killed, and the group restarted": restarted,
        "a torn checkpoint": spoilt(_tear, r".*checkpoint\.pt is torn: its checksum is another; delete it to begin again"),
        "a stale checkpoint": spoilt(_stale, r".*checkpoint\.pt is stale: it belongs to job 0123456789ab, and this is .*"),
    }
)


def run(name: str) -> Outcome:
    """Let one of FAULTS happen. Raises CannotRunError where the machine lacks what it needs."""
    folder = Path(tempfile.mkdtemp(prefix="fault-"))
    try:
        return FAULTS[name](folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def main() -> int:
    """Every fault, a line each. The status is 1 when one did not end as it should."""
    begin, wrong = time.monotonic(), 0
    for name in FAULTS:
        try:
            outcome = run(name)
        except CannotRunError as reason:
            print(f"NOT RUN {'':>6}  {name}: {reason}")
            continue
        except RunError as error:
            outcome = Outcome(str(error), 0.0, False)
        wrong += not outcome.right
        left = f"; left over: {', '.join(map(str, outcome.left))}" if outcome.left else ""
        print(f"{'right' if outcome.right else 'WRONG':<7} {outcome.seconds:>4.1f} s  {name}: {outcome.said}{left}", flush=True)
    print(f"{len(FAULTS) - wrong} of {len(FAULTS)} in {time.monotonic() - begin:.0f} s")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
