"""`make cuda`: what a GPU does, measured, beside what the model says; written to docs/records/cuda.json for the Measured page.

Needs torch, numpy and a CUDA device; without one it says so and ends with status 3. Each section is timed, stops when its budget
is spent, and leaves an error as its result instead of ending the others. The record is rewritten after each of them.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any

import torch
from torch import Tensor, nn

from macros import gpu_record
from macros.records import write
from perfmodel.launch import python_bound_step_s
from perfmodel.lockstep import train
from perfmodel.overlap import copies_s
from perfmodel.pipeline import AsyncPipeline
from perfmodel.units import MB
from verify import lockstep as table
from verify.gpu import Budget, Gpu, host_facts, on_the_gpu, until_done, until_queued

NOT_RUN = "NOT RUN: needs a CUDA device; run make cuda on a machine with a GPU"
NO_DEVICE = 3  # the exit status
WHOLE_S = 290.0

REPLICAS, RANKS = (1, 2, 4, 8), 2
PRODUCTS, TASKS, QUEUED = (64, 256, 1024), (1, 8, 64), 200
COPIED = (int(MB), int(160 * MB))
PAIRS, PAIRED = (2048, 4096), 8
MOVED = tuple(int(size * MB) for size in (1, 4, 16, 64, 256, 1000))
SIDES, PRECISIONS = (512, 1024, 2048, 4096, 8192), (torch.float32, torch.bfloat16)
BATCHES = (1, 128)
OPERATIONS = 5  # of the network below: three products, each with its bias, and two ReLUs


def error_of(measured: float, predicted: float) -> float:
    """How far a measured time lies from the predicted one, relative to that; above 0 is slower."""
    return measured / predicted - 1


# Lockstep -------------------------------------------------------------------------------------------------------------------------


def lockstep(gpu: Gpu, budget: Budget) -> dict[str, Any]:
    """k replicas against one on the same GPU: in one process, over processes that share the GPU, over NCCL with a GPU for each."""
    device = str(gpu.device)

    def in_process() -> list[dict[str, Any]]:
        rows = []
        for dtype in table.ON_GPUS:
            one = train(1, dtype=dtype, devices=(device,))
            for k in REPLICAS:
                if budget.over(f"{k} replicas in {table.NAMES[dtype]}"):
                    continue
                begin = time.monotonic()
                made = train(k, dtype=dtype, devices=(device,))
                rows.append(table.row("one process", made, one, time.monotonic() - begin, table.ON_GPUS)._asdict())
        return rows

    def over(ranks: int, on: str, backend: str) -> list[dict[str, Any]]:
        patience = min(60.0, max(budget.left, 15.0))
        made = table.over_ranks(ranks, device=on, backend=backend, reference=device, patience_s=patience)
        return [row._asdict() for row in made.rows]

    gpus = gpu.count()
    return {
        "in_process": attempt(in_process),
        "gloo": attempt(over, RANKS, device, "gloo"),
        "nccl": attempt(over, gpus, "cuda", "nccl") if gpus > 1
        else {"not_run": f"needs two GPUs or more, a rank for each; this machine has {gpus}"},
    }  # fmt: skip


# The queue ------------------------------------------------------------------------------------------------------------------------


def queue(gpu: Gpu, budget: Budget) -> dict[str, Any]:
    """Products of several sizes: what queueing, computing and fetching one takes, and then n of them, each fetched or only the last."""
    sizes = []
    for side in PRODUCTS:
        if budget.over(f"products of side {side}"):
            continue
        x = torch.ones(side, side, device=gpu.device) / side
        y = torch.empty_like(x)
        corner = y[0, 0]

        def enqueue(x: Tensor = x, y: Tensor = y) -> None:
            torch.mm(x, x, out=y)

        def fetch(corner: Tensor = corner) -> None:
            corner.item()  # waits for the product, then brings one value over

        t1 = until_queued(gpu, enqueue, budget, count=QUEUED)
        t2 = on_the_gpu(gpu, enqueue, budget)
        t3 = until_done(gpu, fetch, budget, fetches=True)  # nothing is under way: only the fetch is timed
        rows = []
        for tasks in TASKS:
            for every in (1, None):

                def loop(tasks: int = tasks, every: int | None = every) -> None:
                    for _ in range(tasks):
                        enqueue()
                        if every:
                            fetch()
                    if not every:
                        fetch()

                took = until_done(gpu, loop, budget, fetches=True)
                model = AsyncPipeline(enqueue=t1.median, compute=t2.median, fetch=t3.median, tasks=tasks, barrier_every=every)
                rows.append(
                    {"tasks": tasks, "barrier_every": every, "measured": took._asdict(), "predicted_s": model.total,
                     "relative_error": error_of(took.median, model.total)}
                )  # fmt: skip
        sizes.append({"side": side, "t1": t1._asdict(), "t2": t2._asdict(), "t3": t3._asdict(), "rows": rows})
    return {"sizes": sizes}


# Copies and overlap ---------------------------------------------------------------------------------------------------------------


def copies(gpu: Gpu, budget: Budget) -> dict[str, Any]:
    """Between the host and the GPU, both ways, with the host's memory pageable and pinned."""
    rows = []
    for pinned in (False, True):
        for size in COPIED:
            if budget.over(f"{'pinned' if pinned else 'pageable'} memory, {size} bytes"):
                continue
            host = gpu.pinned(size, dtype=torch.uint8) if pinned else torch.zeros(size, dtype=torch.uint8)
            there = torch.zeros(size, dtype=torch.uint8, device=gpu.device)
            for way, source, target in (("to the GPU", host, there), ("from the GPU", there, host)):
                source.fill_(1)
                target.fill_(0)

                def copy(source: Tensor = source, target: Tensor = target, pinned: bool = pinned) -> None:
                    target.copy_(source, non_blocking=pinned)

                took = until_done(gpu, copy, budget)
                if not bool((target == 1).all()):
                    raise RuntimeError("a copy must arrive")
                rows.append(
                    {"pinned": pinned, "way": way, "bytes": size, "measured": took._asdict(), "bytes_per_s": size / took.median}
                )
    return {"rows": rows}


def overlap(gpu: Gpu, budget: Budget) -> dict[str, Any]:
    """n products and a copy of each result to the host: on one stream, and with the copies on a stream of their own."""
    sizes = []
    for side in PAIRS:
        if budget.over(f"products of side {side}"):
            continue
        x = torch.ones(side, side, device=gpu.device) / side
        results = torch.empty(PAIRED, side, side, device=gpu.device)
        hosts = gpu.pinned(PAIRED, side, side, dtype=torch.float32)
        copying = gpu.stream()

        def kernel(x: Tensor = x, results: Tensor = results) -> None:
            torch.mm(x, x, out=results[0])

        def copy(results: Tensor = results, hosts: Tensor = hosts) -> None:
            hosts[0].copy_(results[0], non_blocking=True)

        def one_stream(x: Tensor = x, results: Tensor = results, hosts: Tensor = hosts) -> None:
            for result, host in zip(results, hosts, strict=True):
                torch.mm(x, x, out=result)
                host.copy_(result, non_blocking=True)

        def two_streams(x: Tensor = x, results: Tensor = results, hosts: Tensor = hosts, copying: Any = copying) -> None:
            computing = gpu.current()
            for result, host in zip(results, hosts, strict=True):
                torch.mm(x, x, out=result)
                copying.wait_stream(computing)  # not before the result is there
                with gpu.on(copying):
                    host.copy_(result, non_blocking=True)
            # Results and hosts outlive the wait that follows, so no memory can be given to others meanwhile: no record_stream.

        kernel_s, copy_s = (on_the_gpu(gpu, work, budget).median for work in (kernel, copy))
        rows = []
        for streams, work in ((1, one_stream), (2, two_streams)):
            hosts.fill_(0)
            took = until_done(gpu, work, budget)
            if not torch.equal(hosts[-1], results[-1].cpu()):
                raise RuntimeError("a copy must hold what was computed")
            model = copies_s(kernels=PAIRED, kernel_s=kernel_s, copy_s=copy_s, overlap=streams == 2)
            rows.append(
                {
                    "streams": streams,
                    "measured": took._asdict(),
                    "predicted_s": model,
                    "relative_error": error_of(took.median, model),
                }
            )
        sizes.append({"side": side, "kernels": PAIRED, "kernel_s": kernel_s, "copy_s": copy_s, "rows": rows})
    return {"sizes": sizes}


# Memory and arithmetic ------------------------------------------------------------------------------------------------------------


def memory(gpu: Gpu, budget: Budget) -> dict[str, Any]:
    """A copy within the memory of the GPU: each byte is read and written."""
    rows = []
    for size in MOVED:
        if 3 * size > gpu.free_bytes():
            budget.left_out.append(f"{size} bytes: there is no room for two of them")
        elif not budget.over(f"{size} bytes"):
            source = torch.ones(size, dtype=torch.uint8, device=gpu.device)
            target = torch.zeros_like(source)

            def copy(source: Tensor = source, target: Tensor = target) -> None:
                target.copy_(source, non_blocking=True)

            took = on_the_gpu(gpu, copy, budget)
            rows.append({"bytes": size, "measured": took._asdict(), "bytes_per_s": 2 * size / took.median})
    return {"rows": rows}


def matmul(gpu: Gpu, budget: Budget) -> dict[str, Any]:
    """Square products: 2n³ FLOP each. In float32 TF32 is off."""
    rows = []
    random = torch.Generator().manual_seed(0)
    for dtype in PRECISIONS:
        for side in SIDES:
            if budget.over(f"products of side {side} in {str(dtype).removeprefix('torch.')}"):
                continue
            x = torch.randn(side, side, generator=random).to(gpu.device, dtype)
            y = torch.empty_like(x)

            def product(x: Tensor = x, y: Tensor = y) -> None:
                torch.mm(x, x, out=y)

            took = on_the_gpu(gpu, product, budget)
            rows.append(
                {"dtype": str(dtype).removeprefix("torch."), "element_bytes": x.element_size(), "side": side, "measured": took._asdict(),
                 "flop_per_s": 2 * side**3 / took.median}
            )  # fmt: skip
    return {"rows": rows}


# One network, several ways to run it ----------------------------------------------------------------------------------------------


def mlp() -> nn.Sequential:
    """The network of act 1, drawn from a seed of its own."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return nn.Sequential(nn.Linear(512, 256), nn.ReLU(), nn.Linear(256, 128), nn.ReLU(), nn.Linear(128, 2))


Forward = Callable[[Tensor], Tensor]
Make = Callable[[Gpu, nn.Module, Tensor], Callable[[], Tensor]]


def _eager(gpu: Gpu, net: Forward, x: Tensor) -> Callable[[], Tensor]:
    return lambda: net(x)


def _graph(gpu: Gpu, net: nn.Module, x: Tensor) -> Callable[[], Tensor]:
    return gpu.captured(_eager(gpu, net, x))


def _script(gpu: Gpu, net: nn.Module, x: Tensor) -> Callable[[], Tensor]:
    return _eager(gpu, torch.jit.script(net), x)


def _compiled(gpu: Gpu, net: nn.Module, x: Tensor) -> Callable[[], Tensor]:
    return _eager(gpu, torch.compile(net, dynamic=False), x)  # for this batch size, as a CUDA graph is


PROGRAMS: Mapping[str, tuple[Make, int | None]] = MappingProxyType(  # with how many operations Python launches, where that is known
    {
        "eager": (_eager, OPERATIONS),
        "CUDA graph": (_graph, 1),
        "torch.jit.script": (_script, None),
        "torch.compile": (_compiled, None),
    }
)


def programs(gpu: Gpu, budget: Budget) -> dict[str, Any]:
    """A small network run line by line, as one CUDA graph, scripted and compiled: the time of a forward pass, and the same output."""
    net = mlp().to(gpu.device).eval()
    rows = []

    def program(make: Make, operations: int | None, x: Tensor, expected: Tensor) -> dict[str, Any]:
        run = make(gpu, net, x)
        took = until_done(gpu, run, budget)
        queued, computed = until_queued(gpu, run, budget, count=QUEUED // OPERATIONS), on_the_gpu(gpu, run, budget, count=20)
        found: dict[str, Any] = {
            "measured": took._asdict(), "queued": queued._asdict(), "on_the_gpu": computed._asdict(),
            "difference": float((run() - expected).abs().max()), "operations": operations,
        }  # fmt: skip
        if operations:
            each = {"launch_s": queued.median / operations, "op_s": computed.median / operations}
            found["predicted_s"] = python_bound_step_s(ops=operations, gpus=1, **each)
            found["relative_error"] = error_of(took.median, found["predicted_s"])
        return found

    with warnings.catch_warnings(), torch.no_grad():
        # torch.jit is deprecated since PyTorch 2.9 and says so at each call; torch.compile imports it. It is measured knowingly.
        warnings.filterwarnings("ignore", message=r"`torch\.jit\.", category=DeprecationWarning)
        for name, (make, operations) in PROGRAMS.items():
            for batch in BATCHES:
                row: dict[str, Any] = {"program": name, "batch": batch}
                lacks = gpu.why_no_compiler() if name == "torch.compile" else ""
                if lacks:
                    row["not_run"] = lacks
                elif budget.over(f"{name}, batch {batch}"):
                    continue
                else:
                    x = torch.randn(batch, 512, generator=torch.Generator().manual_seed(1)).to(gpu.device)
                    row |= attempt(program, make, operations, x, net(x).clone())
                rows.append(row)
    return {"rows": rows}


# All of it ------------------------------------------------------------------------------------------------------------------------

Section = Callable[[Gpu, Budget], dict[str, Any]]
SECTIONS: Mapping[str, tuple[Section, float]] = MappingProxyType(  # with the seconds that each may take
    {
        "lockstep": (lockstep, 100.0), "queue": (queue, 25.0), "copies": (copies, 20.0), "overlap": (overlap, 20.0), "memory": (memory, 15.0),
        "matmul": (matmul, 30.0), "programs": (programs, 70.0),
    }
)  # fmt: skip


def attempt(work: Callable[..., Any], *arguments: Any) -> Any:
    """What some work returns; {"error": why} when it raises, so that the rest goes on."""
    try:
        return work(*arguments)
    except Exception as error:  # noqa: BLE001  # whatever goes wrong with one part must not lose the others
        return {"error": in_words(error)}


def in_words(error: Exception) -> str:
    """An error in one line, without the name and the paths of this machine.

    >>> in_words(OSError("no file /a/b/lib.so\\nmore"))
    'OSError: no file …'
    """
    line = re.sub(r"(?<![\w.])(?:[A-Za-z]:)?(?:[/\\][\w.+@-]+){2,}", "…", str(error).strip().partition("\n")[0])
    line = line.replace(platform.node() or "\n", "…")
    return f"{type(error).__name__}: {line[:200]}"


@contextmanager
def no_tf32() -> Iterator[None]:
    """Products in float32 are products in float32. The older switch, allow_tf32, must not be touched beside this one."""
    products = torch.backends.cuda.matmul
    before = products.fp32_precision
    products.fp32_precision = "ieee"
    try:
        yield
    finally:
        products.fp32_precision = before


def environment(gpu: Gpu) -> dict[str, Any]:
    """What the numbers belong to: the GPU, the software, the machine without its name."""
    return {**gpu.facts(), **host_facts()}


def measure(gpu: Gpu, out: Path, names: Sequence[str] = (), *, whole_s: float = WHOLE_S) -> dict[str, Any]:
    """Run the sections (all, unless some are named), write the record after each, and return what they gave."""
    now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    code = gpu_record.code_hash()
    whole = Budget(whole_s)
    sections: dict[str, Any] = {}
    about = attempt(environment, gpu)

    def keep() -> None:
        write(gpu_record.sealed(date=now, environment=about, sections=sections, code=code), out)

    def run(name: str, budget: Budget) -> dict[str, Any]:
        with no_tf32():
            found = SECTIONS[name][0](gpu, budget)
        gpu.wait()  # an error of the GPU shows at a wait, and must be told of the section that caused it
        gpu_record.sealed(date=now, environment={}, sections=found, code=code)  # what can't be written is an error of the section
        return found

    for name in names or SECTIONS:
        budget = Budget(min(SECTIONS[name][1], whole.left))
        begin = time.monotonic()
        if whole.over():
            found = {"not_run": f"the {whole_s:g} s of the whole run were spent"}
        else:
            found = attempt(run, name, budget)
            attempt(gpu.tidy)
        took = time.monotonic() - begin
        sections[name] = {**found, "seconds": round(took, 2), "budget_s": budget.seconds, "left_out": budget.left_out}
        keep()
        words = found.get("error") or found.get("not_run") or "; ".join(f"left out: {each}" for each in budget.left_out) or "done"
        print(f"{name:<10} {took:6.1f} s  {words}", flush=True)
    return sections


def wrong(found: Any) -> list[str]:
    """Every error in what the sections gave, and every run that is not in lockstep, in words."""
    if isinstance(found, dict):
        own = [str(found["error"])] if isinstance(found.get("error"), str) else []
        own += (
            [f"{found['transport']}, k = {found['k']}, {found['dtype']}: {'; '.join(found['reasons'])}"]
            if found.get("reasons")
            else []
        )
        return own + [each for value in found.values() for each in wrong(value)]
    return [each for value in found for each in wrong(value)] if isinstance(found, list | tuple) else []


def main(arguments: Sequence[str], gpu: Gpu | None = None) -> int:
    """Measure and write the record. The status is 0; 1 for a section that failed or a run out of lockstep; 3 without a device."""
    parser = argparse.ArgumentParser(prog="python -m verify.cuda", description="Measure what a GPU does, and keep it as a record.")
    parser.add_argument("--out", type=Path, default=gpu_record.PATH, help="where the record goes (default: docs/records/cuda.json)")
    parser.add_argument("--sections", default="", help=f"some of {','.join(SECTIONS)} (default: all)")
    options = parser.parse_args(arguments)
    names = [name for name in options.sections.split(",") if name]
    for name in names:
        if name not in SECTIONS:
            parser.error(f"sections are {', '.join(SECTIONS)}; got {name!r}")
    os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"  # before CUDA starts: else its products are not the same twice
    os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")  # no helpers that outlive the run
    if gpu is None and not torch.cuda.is_available():
        print(NOT_RUN)
        return NO_DEVICE
    began = time.monotonic()
    sections = measure(gpu or Gpu(), options.out, names)
    faults = wrong(sections)
    for fault in faults:
        print(f"WRONG      {fault}")
    print(f"{options.out.name} written in {time.monotonic() - began:.0f} s; make site shows it on the Measured page")
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
