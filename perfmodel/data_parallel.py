"""One step of data-parallel training in two ways: through one GPU (`DataParallel`), and with a process for each GPU (DDP).

`DataParallel` is one process. In every step it divides the batch, copies the parameters to all other GPUs, gathers the outputs on
GPU 0, computes the loss there, sends the gradients of the outputs back, adds up all gradients on GPU 0 and updates there. All of
it passes the link of GPU 0, one copy after the other. In `DistributedDataParallel` every process reads its own samples over its
own link, keeps its own parameters, and one ring allreduce is all the communication.

Both are programs for `streams.run`; the functions `…_s` are their closed forms. Left out: Python, latency, adding numbers up,
libraries that send one copy to several GPUs at once, and any overlap of the allreduce with backward. A GPU computes its part
`forward_s` and `backward_s` long; the loss of the whole batch takes `loss_s` on one GPU.

Source: PyTorch's documentation of both classes; Li et al. 2020, "PyTorch Distributed"; Dive into Deep Learning 13.6 and 13.7.
"""

from __future__ import annotations

from dataclasses import dataclass

from perfmodel.collectives import one_gpu_s, ring_s
from perfmodel.sources import Source
from perfmodel.streams import Task
from perfmodel.units import at_least, finite, not_negative, positive

PYTORCH_DP = Source(
    title="PyTorch documentation",
    authors="the PyTorch contributors",
    url="https://docs.pytorch.org/docs/stable/generated/torch.nn.DataParallel.html",
    place="torch.nn.DataParallel",
)
LINK = "GPU 0's link"


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """What a step moves and computes. Bytes are those of one GPU's part (input, output) or of all parameters.

    Raises ValueError for `gpus` below 1, a rate of 0 or below, and for bytes or times that are negative or not finite.
    """

    gpus: int
    link_bytes_per_s: float
    parameters_bytes: float
    input_bytes: float
    output_bytes: float
    forward_s: float
    backward_s: float
    loss_s: float
    update_s: float

    def __post_init__(self) -> None:
        at_least("gpus", self.gpus, 1)
        positive("link_bytes_per_s", self.link_bytes_per_s)
        for name in ("parameters_bytes", "input_bytes", "output_bytes", "forward_s", "backward_s", "loss_s", "update_s"):
            not_negative(name, getattr(self, name))

    def move_s(self, size_bytes: float) -> float:
        """Seconds for one copy over one link. Raises ValueError for bytes that are negative or not finite, and a time not finite."""
        return finite("move_s", not_negative("size_bytes", size_bytes) / self.link_bytes_per_s)


def data_parallel_lanes(gpus: int) -> tuple[str, ...]:
    """The lanes of `data_parallel_tasks` in drawing order. Raises ValueError for `gpus` below 1.

    >>> data_parallel_lanes(2)
    ("GPU 0's link", 'GPU 0', 'GPU 1')
    """
    return (LINK, *(f"GPU {gpu}" for gpu in range(at_least("gpus", gpus, 1))))


def data_parallel_tasks(step: Step) -> list[Task]:
    """One step of `DataParallel`. Each copy holds the link of GPU 0 and the other GPU, so copies take turns.

    PyTorch's one process starts each phase when the one before has ended: no GPU computes before all have parts and parameters.

    >>> tasks = data_parallel_tasks(Step(gpus=2, link_bytes_per_s=1, parameters_bytes=1, input_bytes=1, output_bytes=1,
    ...     forward_s=1, backward_s=1, loss_s=1, update_s=1))
    >>> [task.name for task in tasks if "GPU 1" in task.streams]
    ['scatter', 'replicate', 'forward', 'gather', 'send back', 'backward', 'reduce']
    """
    names = data_parallel_lanes(step.gpus)[1:]
    others = names[1:]
    tasks: list[Task] = []
    arrived: tuple[int, ...] = ()  # the end of the phase before

    def copies(name: str, size_bytes: float, role: str) -> None:
        nonlocal arrived
        for other in others:
            tasks.append(Task(name=name, streams=(LINK, other), duration_s=step.move_s(size_bytes), waits=arrived, role=role))
        arrived = (len(tasks) - 1,) if others else arrived  # they take turns: when the last has ended, all have

    def everywhere(name: str, duration_s: float) -> None:
        nonlocal arrived
        first = len(tasks)
        tasks.extend(Task(name=name, streams=(gpu,), duration_s=duration_s, waits=arrived) for gpu in names)
        arrived = tuple(range(first, len(tasks)))

    def on_the_first(name: str, duration_s: float, role: str) -> None:
        nonlocal arrived
        tasks.append(Task(name=name, streams=(names[0],), duration_s=duration_s, waits=arrived, role=role))
        arrived = (len(tasks) - 1,)

    copies("scatter", step.input_bytes, "transfer")
    copies("replicate", step.parameters_bytes, "update")
    everywhere("forward", step.forward_s)
    copies("gather", step.output_bytes, "transfer")
    on_the_first("loss", step.loss_s, "compute")
    copies("send back", step.output_bytes, "transfer")
    everywhere("backward", step.backward_s)
    copies("reduce", step.parameters_bytes, "transfer")
    on_the_first("update", step.update_s, "update")
    return tasks


def data_parallel_s(step: Step) -> float:
    """Seconds of `data_parallel_tasks`: (n−1)·(x + 2·o + 2·S)/B + forward + loss + backward + update.

    The parameters go out and their gradients come back at every step: that part, 2·(n−1)·S/B, is summing on one GPU, as
    `collectives.one_gpu_s`. More GPUs make it longer. Raises ValueError for a time that is not finite, as all here do.

    >>> data_parallel_s(Step(gpus=4, link_bytes_per_s=16e9, parameters_bytes=160e6, input_bytes=0, output_bytes=0,
    ...     forward_s=0, backward_s=0, loss_s=0, update_s=0))
    0.06

    Source: Dive into Deep Learning 13.7 for the part that moves parameters; hand calculation.
    """
    parameters = one_gpu_s(gradient_bytes=step.parameters_bytes, gpus=step.gpus, link_bytes_per_s=step.link_bytes_per_s)
    rest = (step.gpus - 1) * step.move_s(step.input_bytes + 2 * step.output_bytes)
    return finite("data_parallel_s", parameters + rest + step.forward_s + step.loss_s + step.backward_s + step.update_s)


def ddp_tasks(step: Step) -> list[Task]:
    """One step of DistributedDataParallel: all GPUs do the same at the same time. The lanes are those of `data_parallel_tasks`.

    The loss is that of a GPU's own part, 1/n of the whole. The allreduce holds every GPU, and the link of the first, which then
    carries no more than any other.

    >>> tasks = ddp_tasks(Step(gpus=2, link_bytes_per_s=1, parameters_bytes=1, input_bytes=1, output_bytes=1,
    ...     forward_s=1, backward_s=1, loss_s=1, update_s=1))
    >>> [task.name for task in tasks if "GPU 1" in task.streams]
    ['own samples', 'forward', 'loss', 'backward', 'allreduce', 'update']
    """
    lanes = data_parallel_lanes(step.gpus)
    names = lanes[1:]
    tasks = [
        Task(
            name="own samples",
            streams=(LINK, name) if name == names[0] else (name,),
            duration_s=step.move_s(step.input_bytes),
            role="transfer",
        )
        for name in names
    ]
    for work, duration_s in (("forward", step.forward_s), ("loss", step.loss_s / step.gpus), ("backward", step.backward_s)):
        tasks += [Task(name=work, streams=(name,), duration_s=duration_s) for name in names]
    if step.gpus > 1:
        allreduce = ring_s(gradient_bytes=step.parameters_bytes, gpus=step.gpus, link_bytes_per_s=step.link_bytes_per_s)
        tasks.append(Task(name="allreduce", streams=lanes, duration_s=allreduce, role="transfer"))
    return tasks + [Task(name="update", streams=(name,), duration_s=step.update_s, role="update") for name in names]


def ddp_s(step: Step) -> float:
    """Seconds of `ddp_tasks`: x/B + forward + loss/n + backward + 2·(n−1)·S/(n·B) + update.

    >>> ddp_s(Step(gpus=4, link_bytes_per_s=16e9, parameters_bytes=160e6, input_bytes=0, output_bytes=0,
    ...     forward_s=0, backward_s=0, loss_s=0, update_s=0))
    0.015

    Source: Patarasuk & Yuan 2009 for the ring; hand calculation.
    """
    ring = ring_s(gradient_bytes=step.parameters_bytes, gpus=step.gpus, link_bytes_per_s=step.link_bytes_per_s)
    computing = step.forward_s + step.loss_s / step.gpus + step.backward_s
    return finite("ddp_s", step.move_s(step.input_bytes) + computing + ring + step.update_s)
