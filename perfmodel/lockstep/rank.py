"""One rank of a run over processes: what torchrun starts, `torchrun … -m perfmodel.lockstep.rank FOLDER`.

torch.distributed does all the communication. The step is that of `step.py`, with all_reduce in the place of the sum in one
process, or with DistributedDataParallel.
"""

from __future__ import annotations

import ctypes
import importlib
import os
import re
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.distributed.elastic.multiprocessing.errors import ErrorHandler, record
from torch.nn.parallel import DistributedDataParallel

from perfmodel.lockstep import checkpoint
from perfmodel.lockstep.faults import faults
from perfmodel.lockstep.job import Job, Training, Trouble, read
from perfmodel.lockstep.networks import xor_batch, xor_net
from perfmodel.lockstep.runs import flatten, mean_loss_of, named_sizes, settings
from perfmodel.lockstep.step import LOCKSTEP, Method, gradients_of

ERROR_FILE = "TORCHELASTIC_ERROR_FILE"
STARTUP_S = 60.0  # until all ranks are there: on a busy machine one loads its libraries much later than another
PATIENCE_S = 3.0  # to find out who is missing, when a collective has failed


class GroupError(RuntimeError):
    """The group cannot go on, because of one rank: the message names it, whichever rank says so."""


# The sum over ranks ---------------------------------------------------------------------------------------------------------------

# (all gradients in one vector, their sizes, step, group): changes the vector in place
Send = Callable[[Tensor, list[int], int, dist.ProcessGroup], None]


def _sum(flat: Tensor, sizes: list[int], step: int, group: dist.ProcessGroup) -> None:
    dist.all_reduce(flat, group=group)


def _rounded(dtype: torch.dtype) -> Send:
    def send(flat: Tensor, sizes: list[int], step: int, group: dist.ProcessGroup) -> None:
        sent = flat.to(dtype)
        dist.all_reduce(sent, group=group)
        flat.copy_(sent)

    return send


def _scaled(rank: int, by: float, at: int | None = None) -> Send:
    """One rank (-1: the last) sends its gradient times a number, always or at one step."""

    def send(flat: Tensor, sizes: list[int], step: int, group: dist.ProcessGroup) -> None:
        if dist.get_rank() == rank % dist.get_world_size() and at in (None, step):
            flat.mul_(by)
        dist.all_reduce(flat, group=group)

    return send


def _to_the_root_only(flat: Tensor, sizes: list[int], step: int, group: dist.ProcessGroup) -> None:
    dist.reduce(flat, 0, group=group)


def _all_but_the_last(flat: Tensor, sizes: list[int], step: int, group: dist.ProcessGroup) -> None:
    dist.all_reduce(flat[: -sizes[-1]], group=group)


def sends(once_at: int) -> Mapping[str, Send]:
    """How gradients travel under the faults that are faults of the sum; all others send as they should."""
    return {
        "one gradient forgotten always": _scaled(-1, 0.0),
        "one gradient forgotten once": _scaled(-1, 0.0, once_at),
        "root counted twice": _scaled(0, 2.0),
        "allreduce in float32": _rounded(torch.float32),
        "allreduce in bfloat16": _rounded(torch.bfloat16),
        "no broadcast of the sum": _to_the_root_only,
        "one parameter skipped": _all_but_the_last,
    }


# A training -----------------------------------------------------------------------------------------------------------------------


class Rank:
    """This process: which rank it is, where it computes, how it finds out who is missing, and what is to befall it."""

    def __init__(self, job: Job, folder: Path) -> None:
        self.job, self.folder = job, folder
        self.number, self.ranks = dist.get_rank(), dist.get_world_size()
        self.device = f"cuda:{os.environ['LOCAL_RANK']}" if job.device == "cuda" else job.device
        patience = timedelta(seconds=job.timeout_s)
        self.control = dist.new_group(backend="gloo", timeout=timedelta(seconds=STARTUP_S))
        self.group = dist.new_group(backend=job.backend, timeout=patience)  # for the steps
        self.asking = dist.new_group(backend="gloo", timeout=patience)  # a barrier's own timeout holds on rank 0 only
        again = int(os.environ.get("TORCHELASTIC_RESTART_COUNT", "0")) > 0
        self.trouble = job.trouble if job.trouble and job.trouble.rank == self.number and not again else None

    @contextmanager
    def together(self, step: int) -> Iterator[None]:
        """Around a collective: when it fails, ask all ranks to answer, and say which do not.

        Meanwhile torchrun sees a process that has ended, and says so itself: then it stops this one, which waits here.
        """
        try:
            yield
        except RuntimeError as error:
            try:
                dist.monitored_barrier(self.asking, timeout=timedelta(seconds=PATIENCE_S), wait_all_ranks=True)
            except RuntimeError as barrier:
                missing = re.search(r"[Rr]anks? ([\d, ]+?) failed to pass|from rank (\d+)", str(barrier))
                if missing is None:
                    raise
                names = missing[1] or missing[2]
                raise GroupError(
                    f"rank {names} did not come to the allreduce of step {step} within {self.job.timeout_s:g} s"
                ) from error
            raise

    def meet(self, kind: str, step: int) -> bool:
        """Whether this rank's trouble, of some kind, strikes now."""
        return self.trouble == Trouble(kind=kind, rank=self.number, step=step)

    def suffer(self, step: int) -> None:
        """What is to befall this rank before the allreduce of a step."""
        if self.meet("raise", step):
            raise ValueError(f"planted at step {step}")
        if self.meet("exit", step):
            os._exit(3)
        if self.meet("kill", step):
            os.kill(os.getpid(), signal.SIGKILL)
        if self.meet("hang", step):
            time.sleep(3600)

    def same_shapes(self, net: nn.Module) -> None:
        """Raises GroupError, on every rank, unless all hold parameters of the same shapes: a sum of others would hang or be wrong."""
        shapes = [(name, tuple(p.shape)) for name, p in net.named_parameters()]
        everyones: list[Any] = [None] * self.ranks
        dist.all_gather_object(everyones, shapes, group=self.control)
        for rank, theirs in enumerate(everyones):
            for (name, shape), (_, other) in zip(everyones[0], theirs, strict=False):
                if shape != other:
                    raise GroupError(f"rank {rank} holds {name} in the shape {other}, rank 0 in {shape}: all must hold the same")

    def train(self, training: Training) -> dict[str, Any]:
        """Train, and return what was recorded: steps, losses, parameters (a row a step), names and sizes of the tensors, and the step it began at."""
        method = faults(training.once_at)[training.fault] if training.fault else LOCKSTEP
        dtype: torch.dtype = getattr(torch, training.dtype)
        X, y = (part[: training.samples].to(self.device) for part in xor_batch(dtype))
        net = xor_net(dtype, init=self.number).to(self.device)  # each rank draws its own: the broadcast makes them equal
        if self.trouble and self.trouble.kind == "shape":
            net = nn.Sequential(nn.Linear(2, 9), nn.Tanh(), nn.Linear(9, 2)).to(self.device, dtype)
        self.same_shapes(net)  # and all are there: from here on a rank that does not come is missed
        first, done = self.resume(net)
        if first == 0 and method.begin is LOCKSTEP.begin:
            for parameter in net.parameters():
                dist.broadcast(parameter.data, 0, group=self.group)
        model = DistributedDataParallel(net, process_group=self.group) if training.how == "ddp" else net
        sizes = [p.numel() for p in net.parameters()]
        send = sends(training.once_at).get(training.fault, _sum)
        shard, labels = method.split(X, y, self.ranks)[self.number]
        for step in range(first, training.steps + 1):
            if (step % training.every == 0 or step == training.steps) and step not in done[
                "steps"
            ]:  # a checkpoint may hold this one
                done["steps"].append(step)
                done["losses"].append(mean_loss_of(net, X, y))
                done["parameters"].append(flatten(net))
            if step and self.job.save_every and step % self.job.save_every == 0:
                self.save(net, done, step)
            if step < training.steps:
                divide_by = method.divide_by(len(X), len(shard), self.ranks)
                net.zero_grad(set_to_none=True)
                self.suffer(step)
                if training.how == "ddp":
                    self._step_ddp(model, net, shard, labels, method, divide_by, training.lr, step)
                else:
                    self._step(net, shard, labels, method, send, sizes, training.lr / divide_by, step)
        return {**done, "began": first, "parameters": torch.stack(done["parameters"]), "tensors": named_sizes(net)}

    def _step(
        self, net: nn.Module, X: Tensor, y: Tensor, method: Method, send: Send, sizes: list[int], rate: float, step: int
    ) -> None:
        """The gradient of the summed loss of the shard, the sum over ranks in one buffer, the update."""
        method.loss(net, X, y).backward()  # type: ignore[no-untyped-call] # torch gives it no types
        gradients = gradients_of(net)
        flat = torch.cat([g.flatten() for g in gradients])
        with self.together(step):
            send(flat, sizes, step, self.group)
        with torch.no_grad():
            summed = [part.view_as(g) for part, g in zip(torch.split(flat, sizes), gradients, strict=True)]
            method.update(net, summed, rate, step)

    def _step_ddp(
        self, model: nn.Module, net: nn.Module, X: Tensor, y: Tensor, method: Method, divide_by: float, lr: float, step: int
    ) -> None:
        """DistributedDataParallel divides the sum of gradients by the number of ranks: the loss is weighted to undo that."""
        loss = method.loss(model, X, y) * (self.ranks / divide_by)
        with self.together(step):
            loss.backward()  # type: ignore[no-untyped-call] # torch gives it no types
        with torch.no_grad():
            method.update(net, gradients_of(net), lr, step)

    # Checkpoints: rank 0 writes, since all hold the same parameters; at a restart all read.

    @property
    def _file(self) -> Path:
        return self.folder / "checkpoint.pt"

    def save(self, net: nn.Module, done: dict[str, Any], step: int) -> None:
        """Rank 0 writes a checkpoint."""
        if self.number == 0:
            checkpoint.save(self._file, {**done, "step": step, "net": net.state_dict()}, job=self.job.name)

    def resume(self, net: nn.Module) -> tuple[int, dict[str, Any]]:
        """Put the checkpoint's parameters into the network; returns its step, and what had been recorded until then."""
        state = checkpoint.load(self._file, job=self.job.name) if self.job.save_every else None
        if state is None:
            return 0, {"steps": [], "losses": [], "parameters": []}
        net.load_state_dict(state["net"])
        return state["step"], {name: state[name] for name in ("steps", "losses", "parameters")}


def die_with_the_parent() -> None:
    """On Linux: end this process when the one that started it ends, however that happens. A killed torchrun leaves no rank behind."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
    if os.environ.get("LOCKSTEP_LAUNCHER", str(os.getppid())) != str(os.getppid()):
        os._exit(1)  # it ended while this one was still starting


class WholeReason(ErrorHandler):
    """Writes why a rank failed whole, or not at all: torchrun may end it meanwhile, and would stop at half a reason itself."""

    def record_exception(self, e: BaseException) -> None:
        """Write the error to the file that torchrun reads."""
        path = os.environ.get(ERROR_FILE)
        if path is not None:
            os.environ[ERROR_FILE] = f"{path}.part"
        super().record_exception(e)
        if path is not None:
            os.replace(f"{path}.part", path)


@partial(record, error_handler=WholeReason())
def main() -> None:
    """Do the job in the folder, write what this rank saw to rank-N.pt, leave the group."""
    die_with_the_parent()
    folder = Path(sys.argv[1])
    job = read(folder)
    if job.device == "cuda":
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    if any(training.how == "ddp" for training in job.trainings):
        # DDP loads it; loaded once the group is there, it keeps the group's threads alive past the end, where they may abort.
        importlib.import_module("torch._dynamo")
    dist.init_process_group(job.backend, timeout=timedelta(seconds=STARTUP_S))
    rank = Rank(job, folder)
    with settings([rank.device]):
        results = [rank.train(training) for training in job.trainings]
    new = folder / f".rank-{rank.number}.{os.getpid()}"
    torch.save(results, new)
    os.replace(new, folder / f"rank-{rank.number}.pt")
    dist.barrier(group=rank.control)
    dist.destroy_process_group()
    sys.stdout.flush()


def leave_at_once(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Say what went wrong, and end. The interpreter may take seconds to do so, and until then all others wait for this rank."""
    sys.__excepthook__(kind, error, trace)
    sys.stderr.flush()
    os._exit(1)


if __name__ == "__main__":
    sys.excepthook = leave_at_once
    main()
