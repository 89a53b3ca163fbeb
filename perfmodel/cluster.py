"""A cluster: several machines with several GPUs each, and what a training step costs there for each way to synchronize.

Inside a machine each GPU has a link to the others, and a path to the CPU; between machines each GPU has a network port of its own.
All are full duplex. A GPU sends one transfer at a time and receives one at a time, over whichever path it needs.

Ignored: sums cost nothing, switches carry everything at full rate, and sending takes no time from computing. Buckets are equally
large and are filled at an even pace. The batch of a GPU stays the same however many there are (weak scaling).

Source: Dive into Deep Learning 13.7 for one machine; for several, hand calculations that the engine confirms.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from perfmodel import alphabeta, kernels
from perfmodel.devices import GPUS
from perfmodel.hardware import ETHERNET, PCIE_3, Pipe, one_way_bytes_per_s
from perfmodel.sources import D2L_PARAMETER_SERVERS, HERE, Source
from perfmodel.streams import Task
from perfmodel.units import GB, GBIT, US, at_least, finite, not_negative, positive

WAYS = ("one GPU", "CPU", "shards", "ring", "two levels")
"""All to one GPU; all through the CPU of one machine; each GPU sums a shard; one ring through all; a ring in each machine and between."""

MOST_BUCKETS = 1_000_000
"""How many buckets a step may be drawn with: each makes two tasks."""

H100_SHEET = GPUS["H100"].source
DGX_H100_SHEET = Source(
    title="NVIDIA DGX H100 data sheet",
    authors="NVIDIA",
    url="https://www.nvidia.com/en-us/data-center/dgx-h100/",
    place="networking",
)
V100_NVLINK = Pipe(
    name="three NVLinks of a V100",
    bytes_per_s=3 * one_way_bytes_per_s(both_ways_bytes_per_s=300 * GBIT),
    kind="derived",
    source=D2L_PARAMETER_SERVERS,
)
H100_NVLINK = Pipe(
    name="NVLink of an H100", bytes_per_s=one_way_bytes_per_s(both_ways_bytes_per_s=900 * GB), kind="vendor peak", source=H100_SHEET
)
PCIE_5 = Pipe(
    name="PCIe 5.0 ×16", bytes_per_s=one_way_bytes_per_s(both_ways_bytes_per_s=128 * GB), kind="vendor peak", source=H100_SHEET
)
NETWORK_400 = Pipe(name="one 400 Gbit/s port a GPU", bytes_per_s=400 * GBIT, kind="vendor peak", source=DGX_H100_SHEET)


@dataclass(frozen=True, kw_only=True, slots=True)
class Cluster:
    """`nodes` machines with `gpus` GPUs each, and their pipes, each with its source. `latency_s` is the cost of starting a transfer.

    Raises ValueError for `gpus` or `nodes` below 1, and a latency that is negative or not finite.
    """

    name: str
    gpus: int
    nodes: int = 1
    link: Pipe
    cpu: Pipe
    network: Pipe
    latency_s: float = 0.0
    source: Source
    latency_source: Source

    def __post_init__(self) -> None:
        at_least("gpus", self.gpus, 1)
        at_least("nodes", self.nodes, 1)
        not_negative("latency_s", self.latency_s)


BOOK_SERVER = Cluster(
    name="the book’s server: 4 GPUs on PCIe", gpus=4, link=PCIE_3, cpu=PCIE_3, network=ETHERNET, source=D2L_PARAMETER_SERVERS,
    latency_source=D2L_PARAMETER_SERVERS,
)  # fmt: skip
V100_SERVER = Cluster(
    name="8 V100 with NVLink", gpus=8, link=V100_NVLINK, cpu=PCIE_3, network=ETHERNET, latency_s=5 * US, source=D2L_PARAMETER_SERVERS,
    latency_source=HERE,
)  # fmt: skip
H100_SERVER = Cluster(
    name="8 H100",
    gpus=8,
    link=H100_NVLINK,
    cpu=PCIE_5,
    network=NETWORK_400,
    latency_s=5 * US,
    source=DGX_H100_SHEET,
    latency_source=HERE,
)
H100_CLUSTER = replace(H100_SERVER, name="4 × 8 H100 at 400 Gbit/s", nodes=4)
CLUSTERS: Mapping[str, Cluster] = MappingProxyType(
    {"book": BOOK_SERVER, "v100": V100_SERVER, "h100": H100_SERVER, "h100x4": H100_CLUSTER}
)
"""The clusters to start from, by a short name."""


def _way(way: str) -> int:
    if way not in WAYS:
        raise ValueError(f"a way to synchronize must be one of {', '.join(WAYS)}; got {way!r}")
    return WAYS.index(way)


def terms_s(*, way: str, gradient_bytes: float, cluster: Cluster, messages: int = 1) -> tuple[float, float, float]:
    """What synchronizing costs, in seconds: latency, bytes inside the machines, bytes between them. Their sum is the time.

    With `messages` the gradient travels in so many equal parts, one after the other: each pays the latency again.
    The formulas stand in `kernels.sync_terms`. Raises ValueError for an unknown way, bytes below 0, `messages` below 1, and a time
    that is not finite.

    >>> terms_s(way="ring", gradient_bytes=160e6, cluster=BOOK_SERVER)
    (0.0, 0.015, 0.0)

    Source: Dive into Deep Learning 13.7 for one machine; for several, `tasks` run by the engine.
    """
    at_least("messages", messages, 1)
    not_negative("gradient_bytes", gradient_bytes)
    latency_s, inside_s, between_s = kernels.sync_terms(*_inputs(way, gradient_bytes, cluster))
    finite("the sum of terms_s", latency_s * messages + inside_s + between_s)
    return latency_s * messages, inside_s, between_s


def step_s(*, way: str, gradient_bytes: float, cluster: Cluster, compute_s: float, bucket_bytes: float | None = None) -> float:
    """Seconds of a training step: computing, then the whole gradient; or, with buckets, the gradient on its way during the backward pass.

    The backward pass takes 2/3 of the computing. A single GPU only computes. Raises as `terms_s` does, and ValueError for a negative
    `compute_s` or buckets of 0 bytes.

    >>> step_s(way="ring", gradient_bytes=160e6, cluster=BOOK_SERVER, compute_s=0.1)
    0.115

    Source: hand calculation; `kernels.sync_step_s`.
    """
    buckets = _buckets(gradient_bytes, compute_s, bucket_bytes)
    terms_s(way=way, gradient_bytes=gradient_bytes, cluster=cluster, messages=buckets)  # refuses what is not finite
    return finite("step_s", kernels.sync_step_s(*_inputs(way, gradient_bytes, cluster), compute_s, bucket_bytes or 0.0))


def _inputs(way: str, gradient_bytes: float, c: Cluster) -> tuple[int, float, int, int, float, float, float, float]:
    """What the kernels ask for, in their order."""
    rates = c.link.bytes_per_s, c.cpu.bytes_per_s, c.network.bytes_per_s
    return (_way(way), gradient_bytes, c.gpus, c.nodes, *rates, c.latency_s)


def _buckets(gradient_bytes: float, compute_s: float, bucket_bytes: float | None) -> int:
    """How many parts the gradient travels in: one without buckets. Checks what a step is made of."""
    not_negative("compute_s", compute_s)
    not_negative("gradient_bytes", gradient_bytes)
    return 1 if bucket_bytes is None else kernels.bucket_count(gradient_bytes, positive("bucket_bytes", bucket_bytes))


def step_tasks(*, way: str, gradient_bytes: float, cluster: Cluster, compute_s: float, bucket_bytes: float) -> list[Task]:
    """The step of `step_s` with buckets, for `streams.run`: the GPU computes, and the network sends a bucket whenever one is full.

    Each bucket is one task here, however many transfers it takes; a single GPU sends none. Raises as `step_s` does, and for more than
    `MOST_BUCKETS`.

    >>> [task.name for task in step_tasks(way="ring", gradient_bytes=2, cluster=BOOK_SERVER, compute_s=3, bucket_bytes=1)]
    ['forward', 'backward 1', 'bucket 1', 'backward 2', 'bucket 2']
    """
    buckets = _buckets(gradient_bytes, compute_s, positive("bucket_bytes", bucket_bytes))
    if buckets > MOST_BUCKETS:
        raise ValueError(f"bucket_bytes must make at most {MOST_BUCKETS} buckets, got {bucket_bytes!r}, which makes {buckets:.3g}")
    bucket_s = sum(terms_s(way=way, gradient_bytes=gradient_bytes, cluster=cluster, messages=buckets)) / buckets
    made = [Task(name="forward", streams=("GPU",), duration_s=compute_s / 3)]
    for k in range(1, buckets + 1):
        made.append(Task(name=f"backward {k}", streams=("GPU",), duration_s=2 * (compute_s / 3) / buckets))
        made.append(Task(name=f"bucket {k}", streams=("network",), duration_s=bucket_s, waits=(len(made) - 1,), role="transfer"))
    return [task for task in made if task.role != "transfer"] if cluster.gpus * cluster.nodes == 1 else made


class _Transfers:
    """Transfers in the order issued. A port runs its transfers in that order, so what arrived last says that all before have."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.tasks: list[Task] = []

    def send(self, sender: tuple[int, int], receiver: tuple[int, int], size_bytes: float, *, waits: tuple[int, ...] = ()) -> int:
        """From one GPU (node, place) to another; node −1 is the CPU of the first machine. Returns the index of the task."""
        c = self.cluster
        if sender[0] == receiver[0]:
            pipe = c.link
        else:
            pipe = c.cpu if -1 in (sender[0], receiver[0]) and 0 in (sender[0], receiver[0]) else c.network
        names = [
            f"CPU {way}" if node < 0 else f"GPU {node}.{gpu} {way}" for (node, gpu), way in ((sender, "out"), (receiver, "in"))
        ]
        self.tasks.append(
            Task(
                name=f"{names[0]} → {names[1]}",
                streams=(names[0], names[1]),
                duration_s=kernels.transfer_s(size_bytes, pipe.bytes_per_s, c.latency_s),
                waits=waits,
                role="transfer",
            )
        )
        return len(self.tasks) - 1


def tasks(*, way: str, gradient_bytes: float, cluster: Cluster) -> list[Task]:
    """The transfers of a way to synchronize, for `streams.run`: its total is the sum of `terms_s`. Raises as that does.

    >>> [task.name for task in tasks(way="one GPU", gradient_bytes=1, cluster=replace(BOOK_SERVER, gpus=2))]
    ['GPU 0.1 out → GPU 0.0 in', 'GPU 0.0 out → GPU 0.1 in']
    """
    not_negative("gradient_bytes", gradient_bytes)
    kind, g, m = _way(way), cluster.gpus, cluster.nodes
    if kind == 4:
        return alphabeta.hierarchical_tasks(
            size_bytes=gradient_bytes, nodes=m, gpus_per_node=g, link_bytes_per_s=cluster.link.bytes_per_s,
            network_bytes_per_s=cluster.network.bytes_per_s, latency_s=cluster.latency_s, network_latency_s=cluster.latency_s,
        )  # fmt: skip
    all_gpus = [(node, gpu) for node in range(m) for gpu in range(g)]
    shard_bytes = gradient_bytes / (g * m)
    made = _Transfers(cluster)
    if kind in (0, 1):
        root = (0, 0) if kind == 0 else (-1, 0)
        others = [one for one in all_gpus if one != root]
        last = [made.send(one, root, gradient_bytes) for one in others][-1:]
        for one in others:
            made.send(root, one, gradient_bytes, waits=tuple(last))
    elif kind == 2:
        last_in: dict[tuple[int, int], int] = {}
        for phase in range(2):
            for away, offset in [(a, b) for a in range(m) for b in range(g) if a or b]:
                for node, gpu in all_gpus:
                    to = ((node + away) % m, (gpu + offset) % g)
                    waits = (last_in[node, gpu],) if phase else ()
                    index = made.send((node, gpu), to, shard_bytes, waits=waits)
                    if not phase:
                        last_in[to] = index
    else:
        came: dict[tuple[int, int], int] = {}  # what each GPU got in the step before, and now sends on
        for _ in range(2 * (g * m - 1)):
            before = dict(came)
            for i, member in enumerate(all_gpus):
                right = all_gpus[(i + 1) % (g * m)]
                came[right] = made.send(member, right, shard_bytes, waits=(before[member],) if member in before else ())
    return made.tasks
