"""Two ways to leave no device idle: devices that work at once, and copies that travel while the next kernel runs.

All times are in one unit of your choice: ticks, or seconds. Launch cost is left out (Python issues all tasks at once and for
free); so is the time to synchronize, and any contention for memory between a copy and a kernel.

Source: Dive into Deep Learning 13.3.
"""

from __future__ import annotations

from perfmodel.streams import Task
from perfmodel.units import at_least, finite, not_negative

COPY_LANES = ("GPU", "GPU → CPU")


def _check_devices(kernels: int, kernel_s: float, devices: int) -> None:
    at_least("kernels", kernels, 0)
    at_least("devices", devices, 1)
    not_negative("kernel_s", kernel_s)


def _check_copies(kernels: int, kernel_s: float, copy_s: float) -> None:
    at_least("kernels", kernels, 0)
    not_negative("kernel_s", kernel_s)
    not_negative("copy_s", copy_s)


def devices_s(*, kernels: int, kernel_s: float, barrier: bool, devices: int = 2) -> float:
    """The time of `devices` devices with n kernels of t each: d·n·t with a barrier between them, n·t without.

    With a barrier, Python waits for all work of one device before it issues the next one's.
    Raises ValueError for `kernels` below 0, `devices` below 1, and a time that is negative or not finite, the whole time too.

    >>> devices_s(kernels=10, kernel_s=1, barrier=True), devices_s(kernels=10, kernel_s=1, barrier=False)
    (20.0, 10.0)

    Source: Dive into Deep Learning 13.3.
    """
    _check_devices(kernels, kernel_s, devices)
    return float(finite("devices_s", (devices if barrier else 1) * kernels * kernel_s))


def device_lanes(devices: int = 2) -> tuple[str, ...]:
    """The lanes of `devices_tasks` in drawing order. Raises ValueError for `devices` below 1.

    >>> device_lanes()
    ('GPU 0', 'GPU 1')
    """
    return tuple(f"GPU {device}" for device in range(at_least("devices", devices, 1)))


def devices_tasks(*, kernels: int, kernel_s: float, barrier: bool, devices: int = 2) -> list[Task]:
    """The kernels of `devices_s`, for `streams.run` on `device_lanes`. Raises as it does.

    >>> [task.waits for task in devices_tasks(kernels=2, kernel_s=1, barrier=True)]
    [(), (), (1,), ()]
    """
    _check_devices(kernels, kernel_s, devices)
    tasks: list[Task] = []
    for lane in device_lanes(devices):
        for number in range(1, kernels + 1):
            # Only the first kernel after the barrier waits: the others queue behind it on their own device.
            waits = (len(tasks) - 1,) if barrier and tasks and number == 1 else ()
            tasks.append(Task(name=f"kernel {number}", streams=(lane,), duration_s=kernel_s, waits=waits))
    return tasks


def copies_s(*, kernels: int, kernel_s: float, copy_s: float, overlap: bool) -> float:
    """The time to compute n results of t each and copy each off the device in c: n·(t + c), or with overlap t + (n−1)·max(t, c) + c.

    With overlap the copy of one result runs while the next is computed, so the first kernel and the last copy always show, and
    in between the slower of the two sets the pace. 0 without kernels.
    Raises ValueError for `kernels` below 0, and a time that is negative or not finite, the whole time too.

    >>> copies_s(kernels=10, kernel_s=1, copy_s=1, overlap=False), copies_s(kernels=10, kernel_s=1, copy_s=1, overlap=True)
    (20.0, 11.0)
    >>> copies_s(kernels=10, kernel_s=1, copy_s=3, overlap=True)  # a slow copy: 1 + 10 · 3
    31.0

    Source: Dive into Deep Learning 13.3.
    """
    _check_copies(kernels, kernel_s, copy_s)
    if kernels == 0:
        return 0.0
    if not overlap:
        return float(finite("copies_s", kernels * (kernel_s + copy_s)))
    return float(finite("copies_s", kernel_s + (kernels - 1) * max(kernel_s, copy_s) + copy_s))


def copies_tasks(*, kernels: int, kernel_s: float, copy_s: float, overlap: bool) -> list[Task]:
    """The kernels and copies of `copies_s`, for `streams.run` on `COPY_LANES`. Raises as it does.

    A copy waits for its kernel. Without overlap, a kernel also waits for the copy before it.

    >>> [task.waits for task in copies_tasks(kernels=2, kernel_s=1, copy_s=1, overlap=False)]
    [(), (0,), (1,), (2,)]
    """
    _check_copies(kernels, kernel_s, copy_s)
    tasks: list[Task] = []
    gpu, link = COPY_LANES
    for number in range(1, kernels + 1):
        waits = (len(tasks) - 1,) if tasks and not overlap else ()
        tasks.append(Task(name=f"kernel {number}", streams=(gpu,), duration_s=kernel_s, waits=waits))
        tasks.append(Task(name=f"copy {number}", streams=(link,), duration_s=copy_s, waits=(len(tasks) - 1,), role="transfer"))
    return tasks
