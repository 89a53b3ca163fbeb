"""A lost rank: what it does to a synchronous step, and what a restart from the last checkpoint does about it."""

from __future__ import annotations

import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import torch

from perfmodel.lockstep.job import Job, Training, Trouble
from perfmodel.lockstep.processes import Ended, RunError, collect, launch
from perfmodel.lockstep.runs import Run

STEPS, SAVE_EVERY, KILLED_AT, KILLED, RANKS = 300, 50, 173, 1, 2


class Restart(NamedTuple):
    """A disturbed run: how it ended, the step at which it went on, its run and the undisturbed one."""

    ended: Ended
    began: int
    disturbed: Run
    quiet: Run

    @property
    def differ(self) -> int:
        """How many parameters differ at the end from the undisturbed run's in any bit, or between ranks."""
        a, b = (run.parameters[-1].view(torch.int64) for run in (self.disturbed, self.quiet))
        return int((a != b).sum()) + sum(self.disturbed.spreads)


def restart(folder: Path, *, steps: int, save_every: int, killed_at: int) -> Restart:
    """Kill a rank before the allreduce of a step; torchrun starts the group again, which goes on from the last checkpoint.

    An undisturbed run is made beside it. Raises RunError when either fails.
    """
    quiet = Job(trainings=(Training(steps=steps),), save_every=save_every)
    disturbed = replace(quiet, trouble=Trouble(kind="kill", rank=KILLED, step=killed_at))
    folders = [folder / "quiet", folder / "disturbed"]
    for each in folders:
        each.mkdir()
    with ThreadPoolExecutor(2) as pool:
        ends = list(pool.map(lambda job, each: launch(RANKS, job, each, restarts=1), (quiet, disturbed), folders))
    for end in ends:
        if end.reason:
            raise RunError(end.reason)
    (a,), (b,) = (collect(RANKS, quiet, [each]) for each in folders)
    began = torch.load(folders[1] / "rank-0.pt", weights_only=True)[0]["began"]
    return Restart(ends[1], began, b, a)


def record() -> dict[str, Any]:
    """What a page shows of it, as plain numbers and words."""
    with tempfile.TemporaryDirectory(prefix="lockstep-") as name:
        folder = Path(name)
        made = restart(folder, steps=STEPS, save_every=SAVE_EVERY, killed_at=KILLED_AT)
        alone = folder / "alone"
        alone.mkdir()
        trouble = Trouble(kind="kill", rank=KILLED, step=KILLED_AT)
        ended = launch(RANKS, Job(trainings=(Training(steps=STEPS),), trouble=trouble), alone)
        finished = len(list(alone.glob("rank-*.pt")))  # what a rank writes when it has come to the end
    return {
        "ranks": RANKS, "steps": STEPS, "save_every": SAVE_EVERY, "killed": KILLED, "killed_at": KILLED_AT, "began": made.began,
        "redone": KILLED_AT - made.began, "differ": made.differ, "parameters": len(made.quiet.parameters[-1]),
        "finished_alone": finished, "said": ended.reason,
    }  # fmt: skip
