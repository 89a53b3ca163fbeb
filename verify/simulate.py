"""The same models once more, as a discrete-event simulation with SimPy: an oracle that shares no code with `perfmodel`.

Written from the words of the models alone. People and machines are processes, ports are resources that serve one at a time, and
SimPy's event queue decides what happens when. Nothing here is fast, and nothing here knows a closed form.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any, NamedTuple

import simpy

Process = Generator[simpy.Event, Any, None]


class PipelineRun(NamedTuple):
    """What was seen: when Python was done, and for each task when its enqueue ended and when it was computed."""

    total: float
    enqueued: list[float]
    completed: list[float]


def pipeline(*, enqueue: float, compute: float, fetch: float, tasks: int, barrier_every: int | None = None) -> PipelineRun:
    """Python enqueues, a GPU takes tasks off a queue and computes them, and at a barrier Python waits and fetches."""
    env = simpy.Environment()
    queue = simpy.Store(env)
    enqueued: list[float] = []
    completed: list[float] = []

    def python() -> Process:
        for number in range(1, tasks + 1):
            yield env.timeout(enqueue)
            enqueued.append(env.now)
            done = env.event()
            queue.put(done)  # the queue has no limit, so Python does not wait for room
            if number == tasks or (barrier_every is not None and number % barrier_every == 0):
                yield done
                yield env.timeout(fetch)

    def gpu() -> Process:
        while True:
            done = yield queue.get()
            yield env.timeout(compute)
            completed.append(env.now)
            done.succeed()

    env.process(gpu())
    env.run(until=env.process(python()))
    return PipelineRun(env.now, enqueued, completed)


class Issued(NamedTuple):
    """A task as it is issued to `program`: the streams it holds, for how long, and the earlier tasks it waits for."""

    streams: Sequence[str]
    duration: float
    waits: Sequence[int]


def program(tasks: Sequence[Issued]) -> list[tuple[float, float]]:
    """The start and end of each task, when every stream serves its tasks in the order issued."""
    env = simpy.Environment()
    streams: dict[str, simpy.Resource] = {}
    running: list[simpy.Process] = []
    spans: dict[int, tuple[float, float]] = {}

    def one(number: int, task: Issued) -> Process:
        requests = [streams.setdefault(name, simpy.Resource(env)).request() for name in task.streams]
        yield env.all_of([*requests, *(running[wait] for wait in task.waits)])
        start = env.now
        yield env.timeout(task.duration)
        spans[number] = (start, env.now)
        for name, request in zip(task.streams, requests, strict=True):
            streams[name].release(request)

    for number, task in enumerate(tasks):
        running.append(env.process(one(number, task)))
    env.run()
    return [spans[number] for number in range(len(tasks))]


class _Machine:
    """Something with one full-duplex link: a port out and a port in, each busy with one transfer at a time."""

    def __init__(self, env: simpy.Environment) -> None:
        self.out = simpy.Resource(env)
        self.into = simpy.Resource(env)


class _Network:
    """Machines and the transfers between them."""

    def __init__(self, link_bytes_per_s: float, latency_s: float) -> None:
        self.env = simpy.Environment()
        self.link_bytes_per_s = link_bytes_per_s
        self.latency_s = latency_s

    def machines(self, count: int) -> list[_Machine]:
        return [_Machine(self.env) for _ in range(count)]

    def send(self, sender: _Machine, receiver: _Machine, size: float) -> Process:
        with sender.out.request() as out, receiver.into.request() as into:
            yield out & into
            yield self.env.timeout(self.latency_s + size / self.link_bytes_per_s)

    def start(self, sender: _Machine, receiver: _Machine, size: float) -> simpy.Process:
        return self.env.process(self.send(sender, receiver, size))

    def finish(self, story: Process) -> float:
        self.env.run(until=self.env.process(story))
        return float(self.env.now)


def _to_center_and_back(network: _Network, center: _Machine, others: list[_Machine], size: float) -> float:
    def story() -> Process:
        yield network.env.all_of([network.start(other, center, size) for other in others])
        yield network.env.all_of([network.start(center, other, size) for other in others])

    return network.finish(story())


def one_gpu(*, gradient_bytes: float, gpus: int, link_bytes_per_s: float, latency_s: float) -> float:
    """All other GPUs send their gradient to the first; then the first sends the sum to all others."""
    network = _Network(link_bytes_per_s, latency_s)
    first, *others = network.machines(gpus)
    return _to_center_and_back(network, first, others, gradient_bytes)


def cpu(*, gradient_bytes: float, gpus: int, link_bytes_per_s: float, latency_s: float) -> float:
    """All GPUs send their gradient to the CPU; then the CPU sends the parameters to all GPUs."""
    network = _Network(link_bytes_per_s, latency_s)
    (center,) = network.machines(1)
    return _to_center_and_back(network, center, network.machines(gpus), gradient_bytes)


def sharded(*, gradient_bytes: float, gpus: int, link_bytes_per_s: float, latency_s: float) -> float:
    """Each GPU sums one part. It sends the others their parts, then, once all of its own arrived, sends out the sum."""
    network = _Network(link_bytes_per_s, latency_s)
    env = network.env
    machines = network.machines(gpus)
    arrived: list[list[simpy.Event]] = [[env.event() for _ in range(gpus - 1)] for _ in range(gpus)]
    part = gradient_bytes / gpus

    def gpu(me: int) -> Process:
        to_my_right = [(me + away) % gpus for away in range(1, gpus)]
        for other in to_my_right:
            yield network.start(machines[me], machines[other], part)
            next(event for event in arrived[other] if not event.triggered).succeed()
        yield env.all_of(arrived[me])
        for other in to_my_right:
            yield network.start(machines[me], machines[other], part)

    def story() -> Process:
        yield env.all_of([env.process(gpu(me)) for me in range(gpus)])

    return network.finish(story())


class RingRun(NamedTuple):
    """When the ring was done, and what each GPU held in each chunk then."""

    total_s: float
    grid: list[list[int]]


def ring(*, gradient_bytes: float, gpus: int, link_bytes_per_s: float, latency_s: float) -> RingRun:
    """Every GPU sends its own chunk to its right neighbour, and from then on whatever chunk it received last.

    The first n−1 chunks to arrive are partial sums: the GPU adds its own share. The next n−1 are finished: it keeps them.
    GPU i begins with i+1 in every chunk.
    """
    network = _Network(link_bytes_per_s, latency_s)
    env = network.env
    machines = network.machines(gpus)
    inbox = [simpy.Store(env) for _ in range(gpus)]
    grid = [[me + 1] * gpus for me in range(gpus)]
    part = gradient_bytes / gpus

    def gpu(me: int) -> Process:
        right = me + 1 if me + 1 < gpus else 0
        chunk = me
        for message in range(2 * gpus - 2):
            value = grid[me][chunk]
            yield network.start(machines[me], machines[right], part)
            inbox[right].put((chunk, value))
            chunk, value = yield inbox[me].get()
            grid[me][chunk] = grid[me][chunk] + value if message < gpus - 1 else value

    def story() -> Process:
        yield env.all_of([env.process(gpu(me)) for me in range(gpus)])

    return RingRun(network.finish(story()), grid)


def parameter_server(*, gradient_bytes: float, workers: int, servers: int, link_bytes_per_s: float, latency_s: float) -> float:
    """Every worker pushes a part to every server; when all pushes have ended, every server sends its part to every worker.

    All walk around one circle of places, each from its own place on, so that no two want the same server at once.
    """
    network = _Network(link_bytes_per_s, latency_s)
    env = network.env
    working, serving = network.machines(workers), network.machines(servers)
    part = gradient_bytes / servers
    places = max(workers, servers)

    def worker(me: int) -> Process:
        for place in range(me, me + places):
            if place % places < servers:
                yield network.start(working[me], serving[place % places], part)

    def server(me: int) -> Process:
        for place in range(me, me + places):
            if place % places < workers:
                yield network.start(serving[me], working[place % places], part)

    def story() -> Process:
        yield env.all_of([env.process(worker(me)) for me in range(workers)])
        yield env.all_of([env.process(server(me)) for me in range(servers)])

    return network.finish(story())
