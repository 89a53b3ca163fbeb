"""Ways to sum a gradient over several GPUs: what each costs, and the transfers it makes, port by port.

The gradient has S bytes. Each GPU, worker, server and CPU has one full-duplex link: a port out and a port in, each B bytes/s,
each busy with one transfer at a time. A transfer of b bytes holds the sender's out-port and the receiver's in-port for
alpha + b/B seconds, where alpha is the latency per transfer. A part of the gradient is S/n bytes as a real number: parts are
fluid, not rounded to whole elements.

All these models ignore the time to add numbers up, a switch that is too slow for all its ports at once, and any overlap with the
backward pass. The functions `…_s` are closed forms. The functions `…_tasks` return programs for `streams.run`, whose total is
that closed form. In a program the role "transfer" brings gradients together, and "update" brings the sum back.

Source: Dive into Deep Learning 13.7; for the ring also Patarasuk & Yuan 2009.
"""

from __future__ import annotations

from collections.abc import Sequence

from perfmodel import kernels
from perfmodel.streams import Task
from perfmodel.units import a_link, at_least, finite


def _check_link(gradient_bytes: float, link_bytes_per_s: float, latency_s: float) -> None:
    a_link("gradient_bytes", gradient_bytes, link_bytes_per_s, latency_s)


def one_gpu_s(*, gradient_bytes: float, gpus: int, link_bytes_per_s: float, latency_s: float = 0.0) -> float:
    """Seconds to sum on one GPU and send the sum back: 2·(n−1)·(alpha + S/B).

    The other n−1 GPUs send S bytes each; one in-port takes them in turn. Then one out-port serves them in turn.
    Raises ValueError for `gpus` below 1, for bytes or latency below 0, for a rate of 0 or below, and for values or a time not finite.

    >>> one_gpu_s(gradient_bytes=160e6, gpus=4, link_bytes_per_s=16e9)  # 6 transfers of 10 ms
    0.06

    Source: Dive into Deep Learning 13.7.
    """
    _check_link(gradient_bytes, link_bytes_per_s, latency_s)
    at_least("gpus", gpus, 1)
    return float(finite("one_gpu_s", kernels.one_gpu_s(gradient_bytes, gpus, link_bytes_per_s, latency_s)))


def cpu_s(*, gradient_bytes: float, gpus: int, link_bytes_per_s: float, latency_s: float = 0.0) -> float:
    """Seconds to sum on the CPU and send the sum back: 2·n·(alpha + S/B).

    The CPU holds the parameters, so even one GPU sends and receives. Raises as `one_gpu_s` does.

    >>> cpu_s(gradient_bytes=160e6, gpus=4, link_bytes_per_s=16e9)  # 8 transfers of 10 ms
    0.08

    Source: Dive into Deep Learning 13.7.
    """
    _check_link(gradient_bytes, link_bytes_per_s, latency_s)
    at_least("gpus", gpus, 1)
    return float(finite("cpu_s", kernels.cpu_s(gradient_bytes, gpus, link_bytes_per_s, latency_s)))


def sharded_s(*, gradient_bytes: float, gpus: int, link_bytes_per_s: float, latency_s: float = 0.0) -> float:
    """Seconds when each GPU sums one part of S/n bytes: 2·(n−1)·(alpha + S/(n·B)).

    All ports work at once, which needs a link or a switch between every two GPUs. One GPU alone sends nothing: 0.
    Raises as `one_gpu_s` does.

    >>> sharded_s(gradient_bytes=160e6, gpus=4, link_bytes_per_s=16e9)  # 6 rounds of 2.5 ms
    0.015

    Source: Dive into Deep Learning 13.7.
    """
    _check_link(gradient_bytes, link_bytes_per_s, latency_s)
    at_least("gpus", gpus, 1)
    return float(finite("sharded_s", kernels.sharded_s(gradient_bytes, gpus, link_bytes_per_s, latency_s)))


def ring_s(*, gradient_bytes: float, gpus: int, link_bytes_per_s: float, latency_s: float = 0.0) -> float:
    """Seconds around a ring: 2·(n−1) steps, each of one chunk of S/n bytes: 2·(n−1)·(alpha + S/(n·B)).

    Each GPU talks to its two neighbours only. The time of the bytes stays below 2·S/B; the latency grows with n.
    One GPU alone sends nothing: 0. Raises as `one_gpu_s` does.

    >>> ring_s(gradient_bytes=160e6, gpus=4, link_bytes_per_s=16e9)  # 6 steps of 2.5 ms
    0.015
    >>> ring_s(gradient_bytes=0, gpus=8, link_bytes_per_s=16e9, latency_s=5e-6) == 14 * 5e-6
    True

    Source: Dive into Deep Learning 13.7; Patarasuk & Yuan 2009, "Bandwidth optimal all-reduce algorithms".
    """
    _check_link(gradient_bytes, link_bytes_per_s, latency_s)
    at_least("gpus", gpus, 1)
    return float(finite("ring_s", kernels.ring_s(gradient_bytes, gpus, link_bytes_per_s, latency_s)))


def ring_limit_s(*, gradient_bytes: float, link_bytes_per_s: float) -> float:
    """What the ring comes close to with many GPUs and no latency, and never reaches: 2·S/B seconds.

    It leaves out the factor (n−1)/n: for 8 GPUs it is 8/7 of `ring_s`. Raises as `one_gpu_s` does.

    >>> ring_limit_s(gradient_bytes=160e6, link_bytes_per_s=16e9)
    0.02

    Source: Dive into Deep Learning 13.7, which quotes this form; Patarasuk & Yuan 2009.
    """
    _check_link(gradient_bytes, link_bytes_per_s, 0.0)
    return float(finite("ring_limit_s", kernels.ring_limit_s(gradient_bytes, link_bytes_per_s)))


def parameter_server_s(
    *, gradient_bytes: float, workers: int, servers: int, link_bytes_per_s: float, latency_s: float = 0.0
) -> float:
    """Seconds for m workers to push to n servers and pull back: 2·max(m, n)·(alpha + S/(n·B)).

    Each server holds one part of S/n bytes. The step is synchronous: no pull starts before every push has ended. With one
    server it is 2·m·(alpha + S/B), so it grows as m; with n ≤ m servers, but for latency, as m/n.
    Raises ValueError for `workers` or `servers` below 1, and as `one_gpu_s` does.

    >>> parameter_server_s(gradient_bytes=160e6, workers=4, servers=1, link_bytes_per_s=16e9)
    0.08
    >>> parameter_server_s(gradient_bytes=160e6, workers=4, servers=4, link_bytes_per_s=16e9)
    0.02

    Source: Dive into Deep Learning 13.7.
    """
    _check_link(gradient_bytes, link_bytes_per_s, latency_s)
    at_least("workers", workers, 1)
    at_least("servers", servers, 1)
    return float(
        finite("parameter_server_s", kernels.parameter_server_s(gradient_bytes, workers, servers, link_bytes_per_s, latency_s))
    )


def ports(gpus: int, cpu: bool = False) -> tuple[str, ...]:
    """The lanes of `gpus` GPUs in drawing order, and of the CPU if it takes part. Raises ValueError for `gpus` below 1.

    >>> ports(2, cpu=True)
    ('GPU 0 out', 'GPU 0 in', 'GPU 1 out', 'GPU 1 in', 'CPU in', 'CPU out')
    """
    at_least("gpus", gpus, 1)
    lanes = [f"GPU {gpu} {way}" for gpu in range(gpus) for way in ("out", "in")]
    return (*lanes, "CPU in", "CPU out") if cpu else tuple(lanes)


def server_ports(workers: int, servers: int) -> tuple[str, ...]:
    """The lanes of workers and servers in drawing order. Raises ValueError for `workers` or `servers` below 1.

    >>> server_ports(1, 1)
    ('worker 0 out', 'worker 0 in', 'server 0 in', 'server 0 out')
    """
    at_least("workers", workers, 1)
    at_least("servers", servers, 1)
    sending = [f"worker {worker} {way}" for worker in range(workers) for way in ("out", "in")]
    serving = [f"server {server} {way}" for server in range(servers) for way in ("in", "out")]
    return (*sending, *serving)


def transfer_task(
    sender: str, receiver: str, duration_s: float, *, update: bool, waits: tuple[int, ...] = (), what: str = ""
) -> Task:
    """One transfer: it holds the sender's out-port and the receiver's in-port. Raises ValueError as `Task` does.

    >>> transfer_task("GPU 0", "GPU 1", 0.01, update=False).streams
    ('GPU 0 out', 'GPU 1 in')
    """
    return Task(
        name=f"{sender} → {receiver}{what}",
        streams=(f"{sender} out", f"{receiver} in"),
        duration_s=duration_s,
        waits=waits,
        role="update" if update else "transfer",
    )


def _star(center: str, others: list[str], duration_s: float) -> list[Task]:
    """All others send to the center; then the center sends to all others."""
    gather = [transfer_task(other, center, duration_s, update=False) for other in others]
    # The in-port takes them in turn, so once the last has arrived all have.
    arrived = (len(gather) - 1,) if gather else ()
    return gather + [transfer_task(center, other, duration_s, update=True, waits=arrived) for other in others]


def one_gpu_tasks(*, gradient_bytes: float, gpus: int, link_bytes_per_s: float, latency_s: float = 0.0) -> list[Task]:
    """The transfers of `one_gpu_s`: all others to GPU 0 in turn, then GPU 0 to all others in turn. Raises as it does.

    >>> [task.name for task in one_gpu_tasks(gradient_bytes=160e6, gpus=3, link_bytes_per_s=16e9)]
    ['GPU 1 → GPU 0', 'GPU 2 → GPU 0', 'GPU 0 → GPU 1', 'GPU 0 → GPU 2']
    """
    _check_link(gradient_bytes, link_bytes_per_s, latency_s)
    at_least("gpus", gpus, 1)
    hop_s = kernels.transfer_s(gradient_bytes, link_bytes_per_s, latency_s)
    return _star("GPU 0", [f"GPU {gpu}" for gpu in range(1, gpus)], hop_s)


def cpu_tasks(*, gradient_bytes: float, gpus: int, link_bytes_per_s: float, latency_s: float = 0.0) -> list[Task]:
    """The transfers of `cpu_s`: every GPU to the CPU in turn, then the CPU to every GPU in turn. Raises as it does.

    >>> [task.name for task in cpu_tasks(gradient_bytes=160e6, gpus=1, link_bytes_per_s=16e9)]
    ['GPU 0 → CPU', 'CPU → GPU 0']
    """
    _check_link(gradient_bytes, link_bytes_per_s, latency_s)
    at_least("gpus", gpus, 1)
    hop_s = kernels.transfer_s(gradient_bytes, link_bytes_per_s, latency_s)
    return _star("CPU", [f"GPU {gpu}" for gpu in range(gpus)], hop_s)


def sharded_tasks(*, gradient_bytes: float, gpus: int, link_bytes_per_s: float, latency_s: float = 0.0) -> list[Task]:
    """The transfers of `sharded_s`, in rounds: in round r GPU i sends part (i+r) mod n to GPU (i+r) mod n.

    No two transfers of a round share a port. Then each GPU sends its summed part around, in rounds again.
    Raises as `sharded_s` does.

    >>> [task.name for task in sharded_tasks(gradient_bytes=160e6, gpus=2, link_bytes_per_s=16e9)]
    ['GPU 0 → GPU 1, part 1', 'GPU 1 → GPU 0, part 0', 'GPU 0 → GPU 1, part 0', 'GPU 1 → GPU 0, part 1']
    """
    _check_link(gradient_bytes, link_bytes_per_s, latency_s)
    at_least("gpus", gpus, 1)
    hop_s = kernels.transfer_s(gradient_bytes / gpus, link_bytes_per_s, latency_s)
    tasks: list[Task] = []
    arrived = [0] * gpus  # the last transfer into each GPU; the in-port is ordered, so then all have arrived
    for r in range(1, gpus):
        for i in range(gpus):
            to = (i + r) % gpus
            arrived[to] = len(tasks)
            tasks.append(transfer_task(f"GPU {i}", f"GPU {to}", hop_s, update=False, what=f", part {to}"))
    for r in range(1, gpus):
        for i in range(gpus):
            to = (i + r) % gpus
            waits = (arrived[i],)
            tasks.append(transfer_task(f"GPU {i}", f"GPU {to}", hop_s, update=True, waits=waits, what=f", part {i}"))
    return tasks


def ring_tasks(*, gradient_bytes: float, gpus: int, link_bytes_per_s: float, latency_s: float = 0.0) -> list[Task]:
    """The transfers of `ring_s`: at each step every GPU sends one chunk to its right neighbour. Raises as it does.

    From the second step on, a GPU sends the chunk that it received in the step before, so it waits for that.

    >>> [task.name for task in ring_tasks(gradient_bytes=160e6, gpus=2, link_bytes_per_s=16e9)]
    ['GPU 0 → GPU 1, chunk 0', 'GPU 1 → GPU 0, chunk 1', 'GPU 0 → GPU 1, chunk 1', 'GPU 1 → GPU 0, chunk 0']
    """
    _check_link(gradient_bytes, link_bytes_per_s, latency_s)
    at_least("gpus", gpus, 1)
    hop_s = kernels.transfer_s(gradient_bytes / gpus, link_bytes_per_s, latency_s)
    tasks: list[Task] = []
    around_ring(tasks, [f"GPU {gpu}" for gpu in range(gpus)], hop_s, range(2 * (gpus - 1)))
    return tasks


def around_ring(
    tasks: list[Task], members: Sequence[str], hop_s: float, steps: range, arrived: Sequence[int | None] | None = None
) -> list[int | None]:
    """Append to `tasks` what a ring sends at these of its 2·(n−1) steps: reduce-scatter before step n−1, all-gather from there.

    A member sends when `arrived` has: the index of the task that it waits for, if any. Returns those of the next step.

    >>> tasks: list[Task] = []
    >>> around_ring(tasks, ["A", "B", "C"], 0.01, range(1))
    [2, 0, 1]
    """
    count = len(members)
    waiting = list(arrived or [None] * count)
    for step in steps:
        received: list[int | None] = [None] * count
        for i, sender in enumerate(members):
            wait = waiting[i]
            received[(i + 1) % count] = len(tasks)
            what = f", chunk {kernels.ring_chunk(count, i, step)}"
            tasks.append(
                transfer_task(
                    sender,
                    members[(i + 1) % count],
                    hop_s,
                    update=step >= count - 1,
                    waits=() if wait is None else (wait,),
                    what=what,
                )
            )
        waiting = received
    return waiting


def parameter_server_tasks(
    *, gradient_bytes: float, workers: int, servers: int, link_bytes_per_s: float, latency_s: float = 0.0
) -> list[Task]:
    """The transfers of `parameter_server_s`, in max(m, n) rounds each way. Raises as it does.

    In round r worker i and server (i+r) mod max(m, n) meet, where both exist, so no port is needed by two at once. Every pull
    waits for the last push of every worker: the step is synchronous.

    >>> [task.name for task in parameter_server_tasks(
    ...     gradient_bytes=160e6, workers=2, servers=1, link_bytes_per_s=16e9)]
    ['worker 0 → server 0', 'worker 1 → server 0', 'server 0 → worker 0', 'server 0 → worker 1']
    """
    _check_link(gradient_bytes, link_bytes_per_s, latency_s)
    at_least("workers", workers, 1)
    at_least("servers", servers, 1)
    hop_s = kernels.transfer_s(gradient_bytes / servers, link_bytes_per_s, latency_s)
    rounds = max(workers, servers)
    pairs = [(i, (i + r) % rounds) for r in range(rounds) for i in range(workers) if (i + r) % rounds < servers]
    tasks = [transfer_task(f"worker {i}", f"server {j}", hop_s, update=False) for i, j in pairs]
    last_push = {i: index for index, (i, _) in enumerate(pairs)}
    started: set[int] = set()
    for i, j in pairs:
        # Only the first pull from a server needs the waits: the others queue behind it at the server's out-port.
        waits = () if j in started else tuple(last_push.values())
        started.add(j)
        tasks.append(transfer_task(f"server {j}", f"worker {i}", hop_s, update=True, waits=waits))
    return tasks
