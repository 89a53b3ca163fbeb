"""What processes are asked to train, as data that can be written to a file and read by every rank."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path

from perfmodel.lockstep.faults import FAULTS, ONCE_AT, faults
from perfmodel.lockstep.networks import BATCH
from perfmodel.lockstep.runs import EVERY, LR, STEPS
from perfmodel.units import at_least, positive

TROUBLES = ("raise", "exit", "kill", "hang", "shape")


def _one_of(name: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, allowed))}; got {value!r}")


@dataclass(frozen=True, kw_only=True)
class Training:
    """One training of the XOR network over all ranks, and which fault is planted in its method, if any.

    `how` is "allreduce" (each rank sends its summed gradient to all_reduce) or "ddp" (DistributedDataParallel, which averages over
    ranks, so each rank's loss is weighted by ranks / samples). `samples` is how many of the batch are used: with fewer than there
    are ranks, some have none. Raises ValueError for anything else.
    """

    how: str = "allreduce"
    dtype: str = "float64"
    steps: int = STEPS
    every: int = EVERY
    lr: float = LR
    samples: int = BATCH
    fault: str = ""
    once_at: int = ONCE_AT

    def __post_init__(self) -> None:
        for name, value, allowed in (
            ("how", self.how, ("allreduce", "ddp")),
            ("dtype", self.dtype, ("float64", "float32")),
            ("fault", self.fault, ("", *FAULTS)),
        ):
            _one_of(name, value, allowed)
        for name, whole in (("steps", self.steps), ("every", self.every), ("samples", self.samples)):
            at_least(name, whole, 1)
        positive("lr", self.lr)
        at_least("once_at", self.once_at, 0)
        if self.fault:
            faults(self.once_at)[self.fault].check_strikes(self.steps)


@dataclass(frozen=True, kw_only=True)
class Trouble:
    """What befalls one rank before the allreduce of one step, the first time that the group runs: see TROUBLES.

    "raise" an error, "exit" with a status, "kill" by a signal, "hang" for ever, or begin with parameters of another "shape".
    """

    kind: str
    rank: int
    step: int = 0

    def __post_init__(self) -> None:
        _one_of("kind", self.kind, TROUBLES)
        at_least("rank", self.rank, 0)
        at_least("step", self.step, 0)


@dataclass(frozen=True, kw_only=True)
class Job:
    """What all ranks of a run do: some trainings, one after the other.

    `device` is "cpu", "cuda" (each rank the GPU of its own number) or "cuda:0" (all share one); `backend` "gloo" or "nccl", which
    needs a GPU for each rank. An allreduce that takes over `timeout_s` seconds fails. With `save_every` above 0 there is a checkpoint
    after so many steps, and a group that is started again goes on from it. Raises ValueError for anything else.
    """

    trainings: tuple[Training, ...]
    backend: str = "gloo"
    device: str = "cpu"
    timeout_s: float = 30.0
    save_every: int = 0
    trouble: Trouble | None = None

    def __post_init__(self) -> None:
        _one_of("backend", self.backend, ("gloo", "nccl"))
        _one_of("device", self.device, ("cpu", "cuda", "cuda:0"))
        if self.backend == "nccl" and self.device != "cuda":
            raise ValueError(f"device must be 'cuda' with 'nccl', which needs a GPU for each rank; got {self.device!r}")
        positive("timeout_s", self.timeout_s)
        at_least("save_every", self.save_every, 0)
        last = max((training.steps for training in self.trainings), default=1) - 1
        if self.trouble and self.trouble.step > last:
            raise ValueError(f"trouble must come at one of the steps 0 to {last}, got {self.trouble.step}")

    @property
    def name(self) -> str:
        """A name for what is trained, whatever befalls it: a checkpoint of another job must not be taken for one of this."""
        return hashlib.sha256(json.dumps([asdict(t) for t in self.trainings]).encode()).hexdigest()[:12]

    def write(self, folder: Path) -> None:
        """Store the job where the ranks look for it."""
        (folder / "job.json").write_text(json.dumps(asdict(self)), encoding="utf-8")


def read(folder: Path) -> Job:
    """The job in a folder."""
    content = json.loads((folder / "job.json").read_text(encoding="utf-8"))
    trouble = content.pop("trouble")
    trainings = tuple(Training(**each) for each in content.pop("trainings"))
    return Job(trainings=trainings, trouble=Trouble(**trouble) if trouble else None, **content)
