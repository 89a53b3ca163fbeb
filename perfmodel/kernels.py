"""The arithmetic that Python and the browser share: plain functions over floats, ints and lists.

Each function here is also translated to JavaScript, one at a time, and must give the same numbers there. So the code keeps to
what both languages do alike: no negative `%`, no `x[-1]`, no exceptions, no objects. Inputs are checked by the layer above
(`streams`, `pipeline`, `collectives`, `cluster` and others): these functions trust them. Times are in any one unit; sizes and rates are in bytes and
bytes per second.
"""

from __future__ import annotations

import math


def run_streams(task_streams: list[list[int]], task_waits: list[list[int]], durations: list[float], streams: int) -> list[float]:
    """The start of each task, on streams that run their tasks in the order issued.

    A task starts at the maximum of two things: the moment each of its streams is free, and the moment all it waits for has
    ended. It then holds all its streams until it ends. A wait names an earlier task by its index.

    One pass and no event queue: O(tasks + waits). Both inputs are lists of short lists, because that was the faster layout
    when measured: about 0.2 µs a task, against about 0.4 µs for flat lists with offsets, which Python must index by hand.

    Two streams. Task 1 waits for task 0; task 2 follows task 0 on stream 0; task 3 waits for both.

    >>> run_streams([[0], [1], [0], [0, 1]], [[], [0], [], [1, 2]], [2.0, 3.0, 2.0, 1.0], 2)
    [0.0, 2.0, 2.0, 5.0]
    """
    free = [0.0 for _ in range(streams)]
    starts: list[float] = []
    ends: list[float] = []
    for i in range(len(durations)):
        start = 0.0
        for stream in task_streams[i]:
            if free[stream] > start:
                start = free[stream]
        for wait in task_waits[i]:
            if ends[wait] > start:
                start = ends[wait]
        end = start + durations[i]
        for stream in task_streams[i]:
            free[stream] = end
        starts.append(start)
        ends.append(end)
    return starts


# The asynchronous queue. Stream 0 is the frontend (the Python thread), stream 1 the backend (the GPU).
# Source: Dive into Deep Learning 13.2.


def pipeline_kinds(tasks: int, every: int) -> list[int]:
    """The program of the queue, as one kind per task in the order issued: 0 enqueue, 1 compute, 2 fetch.

    A fetch follows every `every` tasks (0: none of these) and always the last task. No tasks, no fetch.

    >>> pipeline_kinds(3, 2)
    [0, 1, 0, 1, 2, 0, 1, 2]
    """
    kinds: list[int] = []
    since = 0
    for i in range(tasks):
        kinds.append(0)
        kinds.append(1)
        since += 1
        if since == every or i == tasks - 1:
            kinds.append(2)
            since = 0
    return kinds


def pipeline_streams(kinds: list[int]) -> list[list[int]]:
    """The streams of each task: compute runs on the backend (1), the rest on the frontend (0).

    >>> pipeline_streams([0, 1, 2])
    [[0], [1], [0]]
    """
    frontend = [0]
    backend = [1]
    return [backend if kind == 1 else frontend for kind in kinds]


def pipeline_waits(kinds: list[int]) -> list[list[int]]:
    """What each task waits for: an enqueue for nothing, a compute and a fetch for the task issued just before.

    >>> pipeline_waits([0, 1, 2])
    [[], [0], [1]]
    """
    nothing: list[int] = []
    return [nothing if kinds[i] == 0 else [i - 1] for i in range(len(kinds))]


def pipeline_durations(kinds: list[int], enqueue: float, compute: float, fetch: float) -> list[float]:
    """How long each task takes, by its kind.

    >>> pipeline_durations([0, 1, 2], 2.0, 3.0, 1.0)
    [2.0, 3.0, 1.0]
    """
    by_kind = [enqueue, compute, fetch]
    return [by_kind[kind] for kind in kinds]


def pipeline_group(enqueue: float, compute: float, fetch: float, tasks: int) -> float:
    """The time of `tasks` tasks with one barrier after the last: t1 + (m−1)·max(t1, t2) + t2 + t3.

    The first enqueue and the last compute always show. In between, the slower of the two sides sets the pace.

    >>> pipeline_group(2.0, 3.0, 2.0, 8)
    28.0
    """
    if tasks == 0:
        return 0.0
    return enqueue + (tasks - 1) * max(enqueue, compute) + compute + fetch


def pipeline_total(enqueue: float, compute: float, fetch: float, tasks: int, every: int) -> float:
    """The time of all tasks: the sum of `pipeline_group` over the groups between barriers (`every` = 0: one group).

    A barrier drains the queue, so the groups simply follow one another.

    >>> pipeline_total(2.0, 3.0, 2.0, 9, 4)  # two groups of 4 and one of 1: 16 + 16 + 7
    39.0
    """
    if every == 0:
        return pipeline_group(enqueue, compute, fetch, tasks)
    full = tasks // every
    rest = tasks - full * every
    return full * pipeline_group(enqueue, compute, fetch, every) + pipeline_group(enqueue, compute, fetch, rest)


def pipeline_barriers(tasks: int, every: int) -> int:
    """How many barriers the program has: one after every `every` tasks, and one at the end.

    >>> pipeline_barriers(9, 4), pipeline_barriers(9, 0), pipeline_barriers(0, 4)
    (3, 1, 0)
    """
    if tasks == 0:
        return 0
    if every == 0:
        return 1
    return (tasks + every - 1) // every


def queue_peak(enqueue: float, compute: float, tasks: int, every: int) -> int:
    """The most tasks that are enqueued and not yet completed at one moment.

    A task counts from the end of its enqueue up to its completion; at equal times the completion counts first. When the
    frontend is slower, the queue holds one task at most. Otherwise the count grows up to the last enqueue of the largest
    group, of m tasks, at m·t1. By then floor((m−1)·t1/t2) of them are done. So the peak is m − floor((m−1)·t1/t2).
    A task that takes no time to compute is never pending.

    A quotient within 1e-9 below a whole number counts as whole: 0.6/0.3 is a tie, whatever its last bit says.

    >>> queue_peak(2.0, 3.0, 8, 0), queue_peak(2.0, 3.0, 7, 0), queue_peak(3.0, 1.0, 8, 0)
    (4, 3, 1)
    """
    largest = tasks
    if every > 0 and every < tasks:
        largest = every
    if largest == 0 or compute == 0:
        return 0
    if compute < enqueue:
        return 1
    return largest - math.floor((largest - 1) * enqueue / compute + 1e-9)


def queue_steps(enqueued: list[float], completed: list[float]) -> list[list[float]]:
    """The number of pending tasks over time, as [time, count] from each change on; the first row is at time 0.

    Takes the end of each enqueue and each completion, both in ascending order. Everything that happens at one time counts
    at once, so a completion and an enqueue at the same time leave the count as it was. Times within a relative 1e-9 are the
    same time: sums of 0.1 drift in the last bit. O(tasks).

    >>> queue_steps([2.0, 4.0, 6.0], [5.0, 8.0, 11.0])
    [[0.0, 0], [2.0, 1], [4.0, 2], [5.0, 1], [6.0, 2], [8.0, 1], [11.0, 0]]
    """
    tasks = len(completed)
    steps: list[list[float]] = [[0.0, 0]]
    count = 0
    i = 0
    j = 0
    while j < tasks:
        now = completed[j]
        if i < tasks and enqueued[i] < now:
            now = enqueued[i]
        same = now + 1e-9 * now
        while i < tasks and enqueued[i] <= same:
            i += 1
        while j < tasks and completed[j] <= same:
            j += 1
        if i - j != count:
            count = i - j
            if now == 0:
                steps = []  # the count at time 0 is the one after all that happens then
            steps.append([now, count])
    return steps


# Collectives. Links are full duplex: a port out and a port in, each at link_bytes_per_s, one transfer at a time.
# A part of the gradient is S/n bytes as a real number: parts are fluid, not rounded to whole elements.
# Source: Dive into Deep Learning 13.7.


def transfer_s(transfer_bytes: float, link_bytes_per_s: float, latency_s: float) -> float:
    """One transfer over one link: alpha + bytes/B.

    >>> transfer_s(160e6, 16e9, 0.0)
    0.01
    """
    return latency_s + transfer_bytes / link_bytes_per_s


def one_gpu_s(gradient_bytes: float, gpus: int, link_bytes_per_s: float, latency_s: float) -> float:
    """All to one GPU and back: 2·(n−1)·(alpha + S/B). Its one port takes the others in turn.

    >>> one_gpu_s(160e6, 4, 16e9, 0.0)
    0.06
    """
    return 2 * (gpus - 1) * transfer_s(gradient_bytes, link_bytes_per_s, latency_s)


def cpu_s(gradient_bytes: float, gpus: int, link_bytes_per_s: float, latency_s: float) -> float:
    """All to the CPU and back: 2·n·(alpha + S/B). The CPU holds the parameters, so even one GPU sends and receives.

    >>> cpu_s(160e6, 4, 16e9, 0.0)
    0.08
    """
    return 2 * gpus * transfer_s(gradient_bytes, link_bytes_per_s, latency_s)


def sharded_s(gradient_bytes: float, gpus: int, link_bytes_per_s: float, latency_s: float) -> float:
    """Each GPU sums one part of S/n bytes: 2·(n−1)·(alpha + S/(n·B)).

    >>> sharded_s(160e6, 4, 16e9, 0.0)
    0.015
    """
    return 2 * (gpus - 1) * transfer_s(gradient_bytes / gpus, link_bytes_per_s, latency_s)


def ring_s(gradient_bytes: float, gpus: int, link_bytes_per_s: float, latency_s: float) -> float:
    """Around a ring, in 2·(n−1) steps of one chunk: 2·(n−1)·(alpha + S/(n·B)).

    2·(n−1), not n−1: reduce-scatter, then all-gather.

    >>> ring_s(160e6, 4, 16e9, 0.0)
    0.015
    """
    return 2 * (gpus - 1) * transfer_s(gradient_bytes / gpus, link_bytes_per_s, latency_s)


def ring_limit_s(gradient_bytes: float, link_bytes_per_s: float) -> float:
    """What the ring comes close to with many GPUs and no latency, and never reaches: 2·S/B.

    >>> ring_limit_s(160e6, 16e9)
    0.02
    """
    return 2 * gradient_bytes / link_bytes_per_s


def parameter_server_s(gradient_bytes: float, workers: int, servers: int, link_bytes_per_s: float, latency_s: float) -> float:
    """Push to n servers, then pull: 2·max(m, n)·(alpha + S/(n·B)) for m workers.

    Each way every worker meets every server once. A port serves one at a time, so max(m, n) rounds are needed, and they
    suffice (a bipartite graph has an edge colouring with as many colours as its highest degree).

    >>> parameter_server_s(160e6, 4, 1, 16e9, 0.0), parameter_server_s(160e6, 4, 4, 16e9, 0.0)
    (0.08, 0.02)
    """
    return 2 * max(workers, servers) * transfer_s(gradient_bytes / servers, link_bytes_per_s, latency_s)


def ring_chunk(gpus: int, gpu: int, step: int) -> int:
    """The chunk that `gpu` sends to its right neighbour at `step`, 0 ≤ step < 2·(n−1): (gpu − step) mod n.

    It is the chunk that arrived in the step before. At step 0 it is the GPU's own.

    >>> [ring_chunk(4, 0, step) for step in range(6)]
    [0, 3, 2, 1, 0, 3]
    """
    return (gpu + 2 * gpus - step) % gpus


def ring_state(gpus: int, step: int) -> list[list[int]]:
    """grid[gpu][chunk] of partial sums after `step` steps, 0 ≤ step ≤ 2·(n−1). GPU i starts with i+1 in every chunk.

    In the first n−1 steps (reduce-scatter) the receiver adds what arrives. In the last n−1 (all-gather) it copies it.
    All end with n·(n+1)/2 everywhere.

    >>> ring_state(2, 0), ring_state(2, 1), ring_state(2, 2)
    ([[1, 1], [2, 2]], [[1, 3], [3, 2]], [[3, 3], [3, 3]])
    """
    grid = [[i + 1 for _ in range(gpus)] for i in range(gpus)]
    for t in range(step):
        for i in range(gpus):
            # In place is safe: within a step no GPU sends the chunk that it receives.
            chunk = ring_chunk(gpus, i, t)
            right = (i + 1) % gpus
            if t < gpus - 1:
                grid[right][chunk] += grid[i][chunk]
            else:
                grid[right][chunk] = grid[i][chunk]
    return grid


# A cluster: `nodes` machines with `gpus` GPUs each, n = gpus·nodes in all. Inside a machine each GPU has a link to the others (B),
# and one to the CPU (C). Between machines each GPU has a port of its own on the network (N). All are full duplex.


def sync_terms(
    way: int,
    gradient_bytes: float,
    gpus: int,
    nodes: int,
    link_bytes_per_s: float,
    cpu_bytes_per_s: float,
    network_bytes_per_s: float,
    latency_s: float,
) -> list[float]:
    """What a way to synchronize costs, as [latency, bytes inside the machines, bytes between them] in seconds; their sum is its time.

    With g GPUs in each of m nodes, n = g·m. Every transfer costs alpha, and there are as many in a row as stand before it:

    - 0, to one GPU and back: 2·(g−1) of S/B, then 2·(n−g) of S/N, all through the ports of one GPU.
    - 1, through one CPU and back: 2·g of S/C, then 2·(n−g) of S/N.
    - 2, in shards: 2·(g−1) of S/(n·B), then 2·(n−g) of S/(n·N).
    - 3, around one ring through all GPUs: 2·(n−1) of S/(n·slowest link on the way).
    - 4, in two levels: around a ring in each machine, and there each GPU around a ring with its likes in the other machines:
      2·(g−1) of S/(g·B), and 2·(m−1) of S/(n·N).

    >>> sync_terms(3, 160e6, 4, 1, 16e9, 16e9, 16e9, 0.0)
    [0.0, 0.015, 0.0]
    >>> sync_terms(4, 160e6, 4, 2, 16e9, 16e9, 10e9, 1e-6)
    [8e-06, 0.015, 0.004]
    """
    total = gpus * nodes
    remote = total - gpus
    if way == 0:
        return [
            2 * (total - 1) * latency_s,
            2 * (gpus - 1) * gradient_bytes / link_bytes_per_s,
            2 * remote * gradient_bytes / network_bytes_per_s,
        ]
    if way == 1:
        return [
            2 * total * latency_s,
            2 * gpus * gradient_bytes / cpu_bytes_per_s,
            2 * remote * gradient_bytes / network_bytes_per_s,
        ]
    shard_bytes = gradient_bytes / total
    if way == 2:
        return [
            2 * (total - 1) * latency_s,
            2 * (gpus - 1) * shard_bytes / link_bytes_per_s,
            2 * remote * shard_bytes / network_bytes_per_s,
        ]
    if way == 3:
        steps = 2 * (total - 1)
        if nodes > 1 and (gpus == 1 or network_bytes_per_s < link_bytes_per_s):
            return [steps * latency_s, 0.0, steps * shard_bytes / network_bytes_per_s]
        return [steps * latency_s, steps * shard_bytes / link_bytes_per_s, 0.0]
    return [
        2 * (gpus + nodes - 2) * latency_s,
        2 * (gpus - 1) * (gradient_bytes / gpus) / link_bytes_per_s,
        2 * (nodes - 1) * shard_bytes / network_bytes_per_s,
    ]


def bucket_count(gradient_bytes: float, bucket_bytes: float) -> int:
    """How many buckets of at most `bucket_bytes` hold the gradient; at least one. All are taken as equally large.

    More than 10^16 are not told apart: that is more than the layer above lets through.

    >>> bucket_count(160e6, 25e6), bucket_count(160e6, 1e9)
    (7, 1)
    """
    return max(1, math.ceil(min(gradient_bytes / bucket_bytes, 1e16) - 1e-9))


def overlapped_step_s(compute_s: float, buckets: int, bucket_sync_s: float) -> float:
    """A training step that sends each bucket as soon as it is there, while the backward pass goes on.

    The backward pass takes 2/3 of the computing, and fills k equal buckets at an even pace; each takes t on the way, one after the
    other. The last to arrive has waited for the computing, or for all the others: compute/3 + max(b + t, b/k + k·t), b = 2/3·compute.

    >>> overlapped_step_s(3.0, 2, 0.25), overlapped_step_s(3.0, 2, 4.0)
    (3.25, 10.0)
    """
    backward_s = 2 * (compute_s / 3)
    return compute_s - backward_s + max(backward_s + bucket_sync_s, backward_s / buckets + buckets * bucket_sync_s)


def sync_step_s(
    way: int,
    gradient_bytes: float,
    gpus: int,
    nodes: int,
    link_bytes_per_s: float,
    cpu_bytes_per_s: float,
    network_bytes_per_s: float,
    latency_s: float,
    compute_s: float,
    bucket_bytes: float,
) -> float:
    """A training step: computing, then the whole gradient (`bucket_bytes` = 0); or bucket by bucket, during the backward pass.

    The ways to synchronize are those of `sync_terms`. A single GPU has nobody to synchronize with, and only computes.

    >>> sync_step_s(3, 160e6, 4, 1, 16e9, 16e9, 1e9, 0.0, 0.1, 0.0), sync_step_s(3, 160e6, 1, 1, 16e9, 16e9, 1e9, 0.0, 0.1, 25e6)
    (0.115, 0.1)
    """
    if gpus * nodes == 1:
        return compute_s
    terms = sync_terms(way, gradient_bytes, gpus, nodes, link_bytes_per_s, cpu_bytes_per_s, network_bytes_per_s, latency_s)
    if bucket_bytes == 0:
        return compute_s + (terms[0] + terms[1] + terms[2])
    buckets = bucket_count(gradient_bytes, bucket_bytes)
    return overlapped_step_s(compute_s, buckets, (terms[0] * buckets + terms[1] + terms[2]) / buckets)


def clamped(value: float, low: float, high: float, step: float) -> float:
    """The value of a control that is nearest to `value`: within its bounds, a whole number of steps from the lower one, ties up.

    >>> clamped(7.3, 0.0, 10.0, 0.5), clamped(-1.0, 0.0, 10.0, 0.5), clamped(99.0, 1.0, 64.0, 1.0)
    (7.5, 0.0, 64.0)
    """
    if value <= low:
        return low
    if value >= high:
        return high
    return min(high, low + math.floor((value - low) / step + 0.5) * step)
