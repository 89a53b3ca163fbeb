"""Collectives in the alpha-beta model, and the bandwidths that nccl-tests prints for them.

A transfer of b bytes takes alpha + b/B. `size_bytes`, S, is counted as nccl-tests counts it: what every rank holds in the end of an
all-gather or a broadcast, at the start of a reduce-scatter or a reduce, and what every rank sends in an all-to-all, its own part
included. Ports, fluid parts and what is left out (sums are free, a switch carries all ports at full rate) are those of
`perfmodel.collectives`, where more ways to allreduce stand, the ring and the direct exchange (`sharded_s`) among them. It calls the same
bytes `gradient_bytes`, since there they always are a gradient.

The functions `…_s` are closed forms, and those named `…_tasks` return programs for `streams.run` whose total is that closed form.

Source: Thakur, Rabenseifner & Gropp 2005, "Optimization of collective communication operations in MPICH", doi:10.1177/1094342005051521;
Goyal et al. 2017, section 4; for bandwidths the documentation of nccl-tests.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from perfmodel import kernels
from perfmodel.collectives import around_ring, transfer_task
from perfmodel.sources import Source
from perfmodel.streams import Task
from perfmodel.units import a_link, at_least, finite, not_negative, positive

NCCL_TESTS = Source(
    title="nccl-tests, performance reported by NCCL tests",
    authors="NVIDIA",
    url="https://github.com/NVIDIA/nccl-tests/blob/master/doc/PERFORMANCE.md",
    licence="BSD-3-Clause",
)


def _check(size_bytes: float, gpus: int, link_bytes_per_s: float, latency_s: float) -> None:
    a_link("size_bytes", size_bytes, link_bytes_per_s, latency_s)
    at_least("gpus", gpus, 1)


def rounds(gpus: int) -> int:
    """How often a group must double to hold `gpus` ranks: log2(n), rounded up. Raises ValueError for `gpus` below 1.

    >>> [rounds(gpus) for gpus in (1, 2, 3, 4, 5, 4096)]
    [0, 1, 2, 2, 3, 12]
    """
    return (at_least("gpus", gpus, 1) - 1).bit_length()


def _power_of_two(gpus: int) -> int:
    if gpus & (gpus - 1):
        raise ValueError(f"gpus must be a power of two, got {gpus}")
    return rounds(gpus)


# Halves of an allreduce, and exchanges.


def reduce_scatter_s(*, size_bytes: float, gpus: int, link_bytes_per_s: float, latency_s: float = 0.0) -> float:
    """Seconds for each rank to get the sum of one n-th, around a ring: (n−1)·(alpha + S/(n·B)).

    Raises ValueError for `gpus` below 1, for bytes or latency below 0, for a rate of 0 or below, and for values or a time not finite.

    >>> reduce_scatter_s(size_bytes=160e6, gpus=4, link_bytes_per_s=16e9)  # 3 steps of 2.5 ms
    0.0075

    Source: Thakur, Rabenseifner & Gropp 2005; nccl-tests.
    """
    _check(size_bytes, gpus, link_bytes_per_s, latency_s)
    return finite("reduce_scatter_s", (gpus - 1) * kernels.transfer_s(size_bytes / gpus, link_bytes_per_s, latency_s))


def all_gather_s(*, size_bytes: float, gpus: int, link_bytes_per_s: float, latency_s: float = 0.0) -> float:
    """Seconds for every rank to get all parts of S/n bytes, around a ring: (n−1)·(alpha + S/(n·B)). Raises as `reduce_scatter_s` does.

    >>> all_gather_s(size_bytes=160e6, gpus=4, link_bytes_per_s=16e9)
    0.0075

    Source: Thakur, Rabenseifner & Gropp 2005; nccl-tests.
    """
    return reduce_scatter_s(size_bytes=size_bytes, gpus=gpus, link_bytes_per_s=link_bytes_per_s, latency_s=latency_s)


def alltoall_s(*, size_bytes: float, gpus: int, link_bytes_per_s: float, latency_s: float = 0.0) -> float:
    """Seconds for every rank to send another part of S/n bytes to each other one, directly: (n−1)·(alpha + S/(n·B)).

    In round r rank i sends to rank (i+r) mod n, so no two transfers share a port. Raises as `reduce_scatter_s` does.

    >>> alltoall_s(size_bytes=160e6, gpus=4, link_bytes_per_s=16e9)
    0.0075

    Source: Thakur, Rabenseifner & Gropp 2005, pairwise exchange; nccl-tests.
    """
    return reduce_scatter_s(size_bytes=size_bytes, gpus=gpus, link_bytes_per_s=link_bytes_per_s, latency_s=latency_s)


# Trees.


def broadcast_s(*, size_bytes: float, gpus: int, link_bytes_per_s: float, latency_s: float = 0.0) -> float:
    """Seconds to bring S bytes from one rank to all, along a binomial tree: ceil(log2 n)·(alpha + S/B).

    Every rank that has the bytes passes all of them on, so those that have them double in each round. It cuts nothing into pieces:
    libraries do, and come near S/B for large messages. Raises as `reduce_scatter_s` does.

    >>> broadcast_s(size_bytes=160e6, gpus=8, link_bytes_per_s=16e9)  # 3 rounds of 10 ms
    0.03

    Source: Thakur, Rabenseifner & Gropp 2005.
    """
    _check(size_bytes, gpus, link_bytes_per_s, latency_s)
    return finite("broadcast_s", rounds(gpus) * kernels.transfer_s(size_bytes, link_bytes_per_s, latency_s))


def reduce_s(*, size_bytes: float, gpus: int, link_bytes_per_s: float, latency_s: float = 0.0) -> float:
    """Seconds to sum on one rank: the tree of `broadcast_s`, run backwards: ceil(log2 n)·(alpha + S/B). Raises as it does.

    >>> reduce_s(size_bytes=160e6, gpus=8, link_bytes_per_s=16e9)
    0.03

    Source: Thakur, Rabenseifner & Gropp 2005.
    """
    return broadcast_s(size_bytes=size_bytes, gpus=gpus, link_bytes_per_s=link_bytes_per_s, latency_s=latency_s)


def tree_s(*, size_bytes: float, gpus: int, link_bytes_per_s: float, latency_s: float = 0.0) -> float:
    """Seconds to allreduce along a tree: reduce, then broadcast: 2·ceil(log2 n)·(alpha + S/B). Raises as `broadcast_s` does.

    Few latencies, many bytes: the way for tiny messages. The double tree of NCCL, which is cut into pieces, is not this one.

    >>> tree_s(size_bytes=160e6, gpus=8, link_bytes_per_s=16e9)
    0.06

    Source: Thakur, Rabenseifner & Gropp 2005.
    """
    one_way_s = broadcast_s(size_bytes=size_bytes, gpus=gpus, link_bytes_per_s=link_bytes_per_s, latency_s=latency_s)
    return finite("tree_s", 2 * one_way_s)


# Allreduce, with few steps and few bytes.


def halving_doubling_s(*, size_bytes: float, gpus: int, link_bytes_per_s: float, latency_s: float = 0.0) -> float:
    """Seconds to allreduce by recursive halving, then doubling: 2·log2(n)·alpha + 2·(n−1)·S/(n·B).

    As few bytes as the ring, in 2·log2(n) steps where the ring takes 2·(n−1). Every pair of ranks at a distance of a power of two
    needs a link. Raises ValueError for a number of ranks that is no power of two, and as `reduce_scatter_s` does.

    >>> halving_doubling_s(size_bytes=0, gpus=32, link_bytes_per_s=16e9, latency_s=1e-6) == 10 * 1e-6
    True

    Source: Goyal et al. 2017, section 4 (2·log2(p) communication steps); Thakur, Rabenseifner & Gropp 2005.
    """
    _check(size_bytes, gpus, link_bytes_per_s, latency_s)
    bytes_s = (gpus - 1) * size_bytes / gpus / link_bytes_per_s
    return finite("halving_doubling_s", 2 * (_power_of_two(gpus) * latency_s + bytes_s))


def hierarchical_s(
    *,
    size_bytes: float,
    nodes: int,
    gpus_per_node: int,
    link_bytes_per_s: float,
    network_bytes_per_s: float,
    latency_s: float = 0.0,
    network_latency_s: float = 0.0,
) -> float:
    """Seconds to allreduce within each node, across nodes, within each node: g GPUs in each of N nodes, with a NIC for each GPU:

    2·(g−1)·(alpha + S/(g·B)) + 2·(N−1)·(alpha' + S/(g·N·B')), with alpha' and B' of one NIC.

    Reduce-scatter around a ring in each node; then all GPUs of the same number form a ring across nodes, for their n-th of the sum;
    then all-gather. The phases follow one another: a library may overlap them, and then it takes at least the longer one.
    Raises ValueError for `nodes` or `gpus_per_node` below 1, and as `reduce_scatter_s` does.

    >>> hierarchical_s(size_bytes=160e6, nodes=2, gpus_per_node=4, link_bytes_per_s=16e9, network_bytes_per_s=4e9)  # 15 ms + 10 ms
    0.025

    Source: Goyal et al. 2017, section 4 (three phases); the form is a hand calculation.
    """
    at_least("gpus_per_node", gpus_per_node, 1)
    _check(size_bytes, gpus_per_node, link_bytes_per_s, latency_s)
    at_least("nodes", nodes, 1)
    a_link("size_bytes", size_bytes, network_bytes_per_s, network_latency_s, "network")
    within = kernels.ring_s(size_bytes, gpus_per_node, link_bytes_per_s, latency_s)
    across = kernels.ring_s(size_bytes / gpus_per_node, nodes, network_bytes_per_s, network_latency_s)
    return float(finite("hierarchical_s", within + across))


# The same as tasks.


def _names(gpus: int) -> list[str]:
    return [f"GPU {gpu}" for gpu in range(gpus)]


def reduce_scatter_tasks(*, size_bytes: float, gpus: int, link_bytes_per_s: float, latency_s: float = 0.0) -> list[Task]:
    """The transfers of `reduce_scatter_s`: the first n−1 steps of a ring allreduce. Raises as it does.

    >>> [task.name for task in reduce_scatter_tasks(size_bytes=160e6, gpus=2, link_bytes_per_s=16e9)]
    ['GPU 0 → GPU 1, chunk 0', 'GPU 1 → GPU 0, chunk 1']
    """
    _check(size_bytes, gpus, link_bytes_per_s, latency_s)
    tasks: list[Task] = []
    around_ring(tasks, _names(gpus), kernels.transfer_s(size_bytes / gpus, link_bytes_per_s, latency_s), range(gpus - 1))
    return tasks


def all_gather_tasks(*, size_bytes: float, gpus: int, link_bytes_per_s: float, latency_s: float = 0.0) -> list[Task]:
    """The transfers of `all_gather_s`: the last n−1 steps of a ring allreduce. Raises as it does.

    >>> [task.role for task in all_gather_tasks(size_bytes=160e6, gpus=2, link_bytes_per_s=16e9)]
    ['update', 'update']
    """
    _check(size_bytes, gpus, link_bytes_per_s, latency_s)
    tasks: list[Task] = []
    hop_s = kernels.transfer_s(size_bytes / gpus, link_bytes_per_s, latency_s)
    around_ring(tasks, _names(gpus), hop_s, range(gpus - 1, 2 * (gpus - 1)))
    return tasks


def alltoall_tasks(*, size_bytes: float, gpus: int, link_bytes_per_s: float, latency_s: float = 0.0) -> list[Task]:
    """The transfers of `alltoall_s`, round by round. Nobody waits for anyone: the parts are there from the start. Raises as it does.

    >>> [task.name for task in alltoall_tasks(size_bytes=160e6, gpus=3, link_bytes_per_s=16e9)][:3]
    ['GPU 0 → GPU 1, part 1', 'GPU 1 → GPU 2, part 2', 'GPU 2 → GPU 0, part 0']
    """
    _check(size_bytes, gpus, link_bytes_per_s, latency_s)
    hop_s = kernels.transfer_s(size_bytes / gpus, link_bytes_per_s, latency_s)
    pairs = [(i, (i + r) % gpus) for r in range(1, gpus) for i in range(gpus)]
    return [transfer_task(f"GPU {i}", f"GPU {to}", hop_s, update=False, what=f", part {to}") for i, to in pairs]


def _up(tasks: list[Task], gpus: int, hop_s: float) -> list[int]:
    """Append a reduce onto rank 0 to `tasks`; return for each rank the last transfer it received in it, −1 for none."""
    arrived = [-1] * gpus
    for distance in (2**k for k in reversed(range(rounds(gpus)))):
        for rank in range(distance, min(2 * distance, gpus)):
            waits = (arrived[rank],) if arrived[rank] >= 0 else ()
            arrived[rank - distance] = len(tasks)
            tasks.append(transfer_task(f"GPU {rank}", f"GPU {rank - distance}", hop_s, update=False, waits=waits))
    return arrived


def _down(tasks: list[Task], gpus: int, hop_s: float, root_waits: tuple[int, ...] = ()) -> None:
    """Append a broadcast from rank 0 to `tasks`, which begins when all of `root_waits` have ended."""
    waits = {0: root_waits}
    for distance in (2**k for k in range(rounds(gpus))):
        for rank in range(distance, min(2 * distance, gpus)):
            waits[rank] = (len(tasks),)
            sender = rank - distance
            tasks.append(transfer_task(f"GPU {sender}", f"GPU {rank}", hop_s, update=True, waits=waits[sender]))


def broadcast_tasks(*, size_bytes: float, gpus: int, link_bytes_per_s: float, latency_s: float = 0.0) -> list[Task]:
    """The transfers of `broadcast_s`: in round k every rank below 2^k sends to the rank 2^k above it. Raises as it does.

    >>> [task.name for task in broadcast_tasks(size_bytes=160e6, gpus=4, link_bytes_per_s=16e9)]
    ['GPU 0 → GPU 1', 'GPU 0 → GPU 2', 'GPU 1 → GPU 3']
    """
    _check(size_bytes, gpus, link_bytes_per_s, latency_s)
    tasks: list[Task] = []
    _down(tasks, gpus, kernels.transfer_s(size_bytes, link_bytes_per_s, latency_s))
    return tasks


def reduce_tasks(*, size_bytes: float, gpus: int, link_bytes_per_s: float, latency_s: float = 0.0) -> list[Task]:
    """The transfers of `reduce_s`: those of `broadcast_tasks`, the other way and backwards. Raises as it does.

    >>> [task.name for task in reduce_tasks(size_bytes=160e6, gpus=4, link_bytes_per_s=16e9)]
    ['GPU 2 → GPU 0', 'GPU 3 → GPU 1', 'GPU 1 → GPU 0']
    """
    _check(size_bytes, gpus, link_bytes_per_s, latency_s)
    tasks: list[Task] = []
    _up(tasks, gpus, kernels.transfer_s(size_bytes, link_bytes_per_s, latency_s))
    return tasks


def tree_tasks(*, size_bytes: float, gpus: int, link_bytes_per_s: float, latency_s: float = 0.0) -> list[Task]:
    """The transfers of `tree_s`: a reduce onto rank 0, then a broadcast from there. Raises as it does.

    >>> [task.name for task in tree_tasks(size_bytes=160e6, gpus=2, link_bytes_per_s=16e9)]
    ['GPU 1 → GPU 0', 'GPU 0 → GPU 1']
    """
    _check(size_bytes, gpus, link_bytes_per_s, latency_s)
    hop_s = kernels.transfer_s(size_bytes, link_bytes_per_s, latency_s)
    tasks: list[Task] = []
    last = _up(tasks, gpus, hop_s)[0]
    _down(tasks, gpus, hop_s, (last,) if last >= 0 else ())
    return tasks


def halving_doubling_tasks(*, size_bytes: float, gpus: int, link_bytes_per_s: float, latency_s: float = 0.0) -> list[Task]:
    """The transfers of `halving_doubling_s`: at each step a rank exchanges with one partner, half as much as before, then twice as much.

    First with the partner half the ranks away, last with its neighbour; then all the way back. Raises as it does.

    >>> [task.name for task in halving_doubling_tasks(size_bytes=160e6, gpus=4, link_bytes_per_s=16e9)][:4]
    ['GPU 0 → GPU 2', 'GPU 1 → GPU 3', 'GPU 2 → GPU 0', 'GPU 3 → GPU 1']
    """
    _check(size_bytes, gpus, link_bytes_per_s, latency_s)
    halving = [2**k for k in reversed(range(_power_of_two(gpus)))]
    tasks: list[Task] = []
    for step, distance in enumerate([*halving, *reversed(halving)]):
        hop_s = kernels.transfer_s(size_bytes * distance / gpus, link_bytes_per_s, latency_s)
        first = (step - 1) * gpus  # of the transfers of the step before, in the order of their senders
        before = distance * 2 if step < len(halving) else (distance if step == len(halving) else distance // 2)
        for rank in range(gpus):
            waits = (first + (rank ^ before),) if step else ()
            partner = rank ^ distance
            tasks.append(transfer_task(f"GPU {rank}", f"GPU {partner}", hop_s, update=step >= len(halving), waits=waits))
    return tasks


def hierarchical_tasks(
    *,
    size_bytes: float,
    nodes: int,
    gpus_per_node: int,
    link_bytes_per_s: float,
    network_bytes_per_s: float,
    latency_s: float = 0.0,
    network_latency_s: float = 0.0,
) -> list[Task]:
    """The transfers of `hierarchical_s`. A GPU has a port in and out to its node, and another pair at its NIC. Raises as it does.

    >>> tasks = hierarchical_tasks(size_bytes=160e6, nodes=2, gpus_per_node=1, link_bytes_per_s=16e9, network_bytes_per_s=4e9)
    >>> [task.name for task in tasks][:2]
    ['node 0 NIC 0 → node 1 NIC 0, chunk 0', 'node 1 NIC 0 → node 0 NIC 0, chunk 1']
    """
    at_least("gpus_per_node", gpus_per_node, 1)
    _check(size_bytes, gpus_per_node, link_bytes_per_s, latency_s)
    at_least("nodes", nodes, 1)
    a_link("size_bytes", size_bytes, network_bytes_per_s, network_latency_s, "network")
    count = gpus_per_node
    within = kernels.transfer_s(size_bytes / count, link_bytes_per_s, latency_s)
    across = kernels.transfer_s(size_bytes / count / nodes, network_bytes_per_s, network_latency_s)
    tasks: list[Task] = []
    members = [[f"node {node} GPU {gpu}" for gpu in range(count)] for node in range(nodes)]
    scattered = [around_ring(tasks, each, within, range(count - 1)) for each in members]
    summed: list[list[int | None]] = []
    for gpu in range(count):
        nics = [f"node {node} NIC {gpu}" for node in range(nodes)]
        summed.append(around_ring(tasks, nics, across, range(2 * (nodes - 1)), [scattered[node][gpu] for node in range(nodes)]))
    for node in range(nodes):
        around_ring(tasks, members[node], within, range(count - 1, 2 * (count - 1)), [summed[gpu][node] for gpu in range(count)])
    return tasks


# What nccl-tests prints.

_FACTORS: Mapping[str, Callable[[int], float]] = MappingProxyType(
    {
        "all_reduce": lambda n: 2 * (n - 1) / n,
        "all_gather": lambda n: (n - 1) / n,
        "reduce_scatter": lambda n: (n - 1) / n,
        "alltoall": lambda n: (n - 1) / n,
        "broadcast": lambda n: 1.0,
        "reduce": lambda n: 1.0,
    }
)
COLLECTIVES = tuple(_FACTORS)
"""The collectives that have a bus bandwidth."""


def bus_factor(collective: str, *, gpus: int) -> float:
    """Bus bandwidth over algorithm bandwidth: how often each byte must pass the slowest port, at the least.

    2·(n−1)/n for all_reduce, (n−1)/n for all_gather, reduce_scatter and alltoall, 1 for broadcast and reduce.
    Raises ValueError for another collective, and `gpus` below 1.

    >>> [bus_factor(collective, gpus=8) for collective in ("all_reduce", "all_gather", "broadcast")]
    [1.75, 0.875, 1.0]

    Source: nccl-tests, doc/PERFORMANCE.md.
    """
    if collective not in COLLECTIVES:
        raise ValueError(f"a collective must be one of {', '.join(COLLECTIVES)}, got {collective!r}")
    return _FACTORS[collective](at_least("gpus", gpus, 1))


def algorithm_bytes_per_s(*, size_bytes: float, time_s: float) -> float:
    """The algorithm bandwidth, algbw: S/t. Raises ValueError for a size below 0, a time of 0 or below, and a rate not finite.

    >>> algorithm_bytes_per_s(size_bytes=160e6, time_s=0.01)
    16000000000.0

    Source: nccl-tests, doc/PERFORMANCE.md.
    """
    return finite("algorithm_bytes_per_s", not_negative("size_bytes", size_bytes) / positive("time_s", time_s))


def bus_bytes_per_s(collective: str, *, size_bytes: float, gpus: int, time_s: float) -> float:
    """The bus bandwidth, busbw: S/t times `bus_factor`. It compares with a link, whatever the number of ranks.

    In-network reduction (NVLS, SHARP) sends fewer bytes than the factor says, and so can read above the link. Raises as both do.

    >>> round(bus_bytes_per_s("all_reduce", size_bytes=160e6, gpus=4, time_s=0.015))  # a ring over links of 16 GB/s
    16000000000

    Source: nccl-tests, doc/PERFORMANCE.md.
    """
    algorithm = algorithm_bytes_per_s(size_bytes=size_bytes, time_s=time_s)
    return finite("bus_bytes_per_s", algorithm * bus_factor(collective, gpus=gpus))


def bus_time_s(collective: str, *, size_bytes: float, gpus: int, bus_bytes_per_s: float) -> float:
    """Seconds that a printed bus bandwidth stands for: S times `bus_factor`, over it. Raises as it does, and for a rate of 0 or below.

    >>> bus_time_s("all_reduce", size_bytes=160e6, gpus=4, bus_bytes_per_s=16e9)
    0.015

    Source: nccl-tests, doc/PERFORMANCE.md.
    """
    factor = bus_factor(collective, gpus=gpus)
    return finite("bus_time_s", not_negative("size_bytes", size_bytes) * factor / positive("bus_bytes_per_s", bus_bytes_per_s))
