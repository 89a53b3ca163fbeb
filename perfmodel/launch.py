"""What it costs that one Python thread launches every operation, when it feeds several GPUs.

The thread launches one operation on each of k GPUs in turn, L seconds each; a GPU computes what it was given in the order given.
These models ignore whatever else Python does, and a limit on the length of the queues.

Source: Dive into Deep Learning 13.1 (one thread, several fast GPUs) and 13.4 (10 µs a launch); hand calculation.
"""

from __future__ import annotations

from perfmodel.streams import Task
from perfmodel.units import at_least, finite, not_negative


def _check(ops: int, gpus: int, launch_s: float, op_s: float) -> None:
    at_least("ops", ops, 0)
    at_least("gpus", gpus, 1)
    not_negative("launch_s", launch_s)
    not_negative("op_s", op_s)


def launch_bound_s(*, gpus: int, launch_s: float) -> float:
    """The duration of an operation below which one Python thread is the bottleneck: k·L.

    The thread launches one operation on each of k GPUs in turn, L seconds each, so a GPU gets its next one every k·L seconds.
    An operation shorter than that leaves its GPU waiting. It ignores whatever else Python does, and a limit on the queues.
    Raises ValueError for `gpus` below 1, for a launch cost that is negative or not finite, and for a result that is not finite.

    >>> launch_bound_s(gpus=8, launch_s=1e-5)
    8e-05

    Source: Dive into Deep Learning 13.1 (one thread, many GPUs) and 13.4 (10 µs a launch); hand calculation.
    """
    at_least("gpus", gpus, 1)
    not_negative("launch_s", launch_s)
    return finite("launch_bound_s", gpus * launch_s)


def python_bound_step_s(*, ops: int, gpus: int, launch_s: float, op_s: float) -> float:
    """Seconds for one Python thread to have `ops` operations of `op_s` computed on each of k GPUs: k·L + (n−1)·max(k·L, t) + t.

    The last GPU gets its first operation after k launches, and each further one k launches later. 0 without operations.
    Assumptions and errors as in `launch_bound_s`; also ValueError for `ops` below 0 and for a negative or infinite `op_s`.

    >>> python_bound_step_s(ops=100, gpus=8, launch_s=1e-5, op_s=0) == 100 * launch_bound_s(gpus=8, launch_s=1e-5)
    True

    Source: hand calculation, with the queue of Dive into Deep Learning 13.2.
    """
    _check(ops, gpus, launch_s, op_s)
    round_s = launch_bound_s(gpus=gpus, launch_s=launch_s)
    return finite("python_bound_step_s", round_s + (ops - 1) * max(round_s, op_s) + op_s) if ops else 0.0


def launch_lanes(gpus: int) -> tuple[str, ...]:
    """The lanes of `launch_tasks` in drawing order. Raises ValueError for `gpus` below 1.

    >>> launch_lanes(2)
    ('Python', 'GPU 0', 'GPU 1')
    """
    return ("Python", *(f"GPU {gpu}" for gpu in range(at_least("gpus", gpus, 1))))


def launch_tasks(*, ops: int, gpus: int, launch_s: float, op_s: float) -> list[Task]:
    """The tasks of `python_bound_step_s`, for `streams.run`: each launch, then what it launched. Raises as it does.

    >>> [task.name for task in launch_tasks(ops=1, gpus=2, launch_s=1e-5, op_s=1e-4)]
    ['launch 1 on GPU 0', 'operation 1', 'launch 1 on GPU 1', 'operation 1']
    """
    _check(ops, gpus, launch_s, op_s)
    tasks: list[Task] = []
    for op in range(1, ops + 1):
        for gpu in launch_lanes(gpus)[1:]:
            tasks.append(Task(name=f"launch {op} on {gpu}", streams=("Python",), duration_s=launch_s, role="host"))
            tasks.append(Task(name=f"operation {op}", streams=(gpu,), duration_s=op_s, waits=(len(tasks) - 1,)))
    return tasks
