"""A GPU that is none: the methods of `Gpu`, a clock of its own, and a queue that works as perfmodel says.

The numbers are computed by the CPU; only time is made up. Each operation costs the host its launch and a stream its work, and the
clock moves when the host launches or waits. So what a section measures is known beforehand: the times that went in, if and only
if it waits where it must.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from verify.gpu import Gpu


class Costs(NamedTuple):
    """What operations cost, in seconds and bytes per second."""

    launch_s: float = 2e-6
    product_s: Callable[[int], float] = lambda side: 3e-6
    layer_s: float = 1e-6  # a product with a bias, or a ReLU
    fetch_s: float = 5e-6
    copy_bytes_per_s: float = 10e9
    memory_bytes_per_s: float = 1e12


class Stream:
    """What is queued on it is done one after the other; `free` is when it has done all of it."""

    def __init__(self, free: float = 0.0) -> None:
        self.free = free

    def wait_stream(self, other: Stream) -> None:
        """What comes next here waits for all that is queued there now."""
        self.free = max(self.free, other.free)


class Event:
    """A place in a stream; reached when the clock has passed it."""

    def __init__(self, at: float, fake: Fake) -> None:
        self.at, self.fake = at, fake

    def query(self) -> bool:
        """Whether the GPU has got there."""
        return self.at <= self.fake.now

    def elapsed_time(self, other: Event) -> float:
        """Milliseconds to another event."""
        if not (self.query() and other.query()):
            raise RuntimeError("Both events must be completed before calculating elapsed time.")
        return (other.at - self.at) * 1e3


def _place(tensor: Tensor) -> int:
    return tensor.untyped_storage().data_ptr()


class _Costing(TorchDispatchMode):  # type: ignore[no-untyped-call] # torch gives it no types
    """Tells a fake of each operation before it is done."""

    def __init__(self, fake: Fake) -> None:
        super().__init__()  # type: ignore[no-untyped-call] # the same
        self.fake = fake

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Let an operation cost what it costs, and do it."""
        self.fake.charge(func.name(), args)
        return func(*args, **(kwargs or {}))


class Fake(Gpu):
    """A device to pass for a Gpu, within `with fake:`. `forgetful` makes `wait` return at once, as if it had been left out."""

    device = torch.device("cpu")

    def __init__(self, costs: Costs | None = None, *, forgetful: bool = False, gpus: int = 1) -> None:
        self.costs, self.forgetful, self.gpus = costs or Costs(), forgetful, gpus
        self.now = 0.0
        self.streams = [Stream()]
        self._current = self.streams[0]
        self._pinned: list[Tensor] = []  # kept, so that no other tensor can get the place of one
        self._costing: Any = _Costing(self)

    def __enter__(self) -> Fake:
        self._costing.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self._costing.__exit__(*error)

    def charge(self, name: str, args: Any) -> None:
        """What an operation costs."""
        if name.startswith("aten::mm"):
            self._launch(self.costs.product_s(len(args[0])))
        elif name in ("aten::addmm", "aten::relu"):
            self._launch(self.costs.layer_s)
        elif name == "aten::copy_":
            self._copied(*args[:2], non_blocking=len(args) > 2 and args[2])
        elif name == "aten::_local_scalar_dense":
            self.now = max(self.now, self._current.free) + self.costs.fetch_s

    def _launch(self, seconds: float) -> None:
        self.now += self.costs.launch_s
        self._current.free = max(self.now, self._current.free) + seconds

    def _copied(self, target: Tensor, source: Tensor, *, non_blocking: bool) -> None:
        hosts = {_place(tensor) for tensor in self._pinned}
        inside = non_blocking and not {_place(target), _place(source)} & hosts
        rate = self.costs.memory_bytes_per_s / 2 if inside else self.costs.copy_bytes_per_s
        self._launch(target.nbytes / rate)
        if not non_blocking:
            self.now = self._current.free

    # What a Gpu does ------------------------------------------------------------------------------------------------------------

    def clock(self) -> float:
        """The made-up time."""
        return self.now

    def wait(self) -> None:
        """Let the clock go on until every stream is free."""
        if not self.forgetful:
            self.now = max([self.now, *(stream.free for stream in self.streams)])

    def mark(self) -> Event:
        """An event behind what is queued."""
        return Event(max(self.now, self._current.free), self)

    def seconds(self, start: Event, stop: Event) -> float:
        """From one to the other."""
        return start.elapsed_time(stop) / 1e3

    def stream(self) -> Stream:
        """One more."""
        self.streams.append(Stream(self.now))
        return self.streams[-1]

    def current(self) -> Stream:
        """The one that work is queued on."""
        return self._current

    @contextmanager
    def on(self, stream: Stream) -> Iterator[None]:
        """Queue on another."""
        before, self._current = self._current, stream
        try:
            yield
        finally:
            self._current = before

    def pinned(self, *shape: int, dtype: torch.dtype) -> Tensor:
        """Zeros that are remembered as pinned."""
        tensor = torch.zeros(*shape, dtype=dtype)
        self._pinned.append(tensor)
        return tensor

    def captured(self, work: Callable[[], Tensor]) -> Callable[[], Tensor]:
        """All that `work` costs its stream, for one launch."""
        now, costs = self.now, self.costs
        self.now, self.costs = 0.0, costs._replace(launch_s=0.0)
        with self.on(Stream()):
            output = work()
            whole = self._current.free
        self.now, self.costs = now, costs

        def replay() -> Tensor:
            self._launch(whole)
            return output

        return replay

    def count(self) -> int:
        """As many as it was told."""
        return self.gpus

    def free_bytes(self) -> int:
        """Enough."""
        return 10**12

    def tidy(self) -> None:
        """Nothing to give back."""

    def facts(self) -> dict[str, Any]:
        """A device that nobody takes for a real one."""
        return {
            "device": "Fake GPU", "memory_bytes": 10**10, "gpus": self.gpus, "capability": "0.0", "driver": "none", "cuda": "none",
            "cudnn": "none",
        }  # fmt: skip

    def why_no_compiler(self) -> str:
        """It has none."""
        return "torch.compile needs a GPU, and this one is made up"
