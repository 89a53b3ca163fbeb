"""The Measured page: what a GPU did, from docs/records/cuda.json, beside what the models say of the same inputs.

Nothing is predicted in the record's name: each prediction is made here, at build time, from times that the record holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from html import escape
from types import MappingProxyType
from typing import Any

from macros import gpu_record, text
from macros.calls import Piece
from macros.evaluate import speaker
from macros.gpu_record import DeviceRecord
from macros.quantity import QuoteError, Withheld
from macros.records import RecordError
from macros.tables import RATES, SPEEDS, TIMED, TIMES, Cell, Code, Name, Num, Power, Table, scaled, timed
from perfmodel.hardware import attainable_flop_per_s, matmul_flop_per_byte, move_s
from perfmodel.launch import python_bound_step_s
from perfmodel.overlap import copies_s
from perfmodel.pipeline import AsyncPipeline

# Sections -------------------------------------------------------------------------------------------------------------------------


def _lockstep(found: Mapping[str, Any], record: DeviceRecord) -> Iterator[Table | str]:
    rows: list[list[Cell]] = []
    for part, name in (("in_process", "In one process"), ("gloo", "Over processes that share the GPU"), ("nccl", "Over NCCL")):
        runs = found[part]
        if isinstance(runs, dict):
            yield _trouble(name, runs)
            continue
        rows += [
            [Name(run["transport"]), Num(run["k"]), Name(run["dtype"]), Power(run["l2"]), Power(run["limit"]), Num(run["ulps"]), Num(run["spread"]),
             "no" if run["reasons"] else "yes"]
            for run in runs
        ]  # fmt: skip
    head = ("Where", "Replicas", "Precision", "Distance", "Limit", "Ulps", "Differ", "Lockstep")
    if rows:
        yield Table(head, rows, "Replicas against one on the same GPU")


def _queue(found: Mapping[str, Any], record: DeviceRecord) -> Iterator[Table | str]:
    costs: list[list[Cell]] = []
    rows: list[list[Cell]] = []
    for size in found["sizes"]:
        t1, t2, t3 = (size[name]["median"] for name in ("t1", "t2", "t3"))
        costs.append([Num(size["side"]), *(scaled(value, TIMES) for value in (t1, t2, t3))])
        for row in size["rows"]:
            model = AsyncPipeline(enqueue=t1, compute=t2, fetch=t3, tasks=row["tasks"], barrier_every=row["barrier_every"])
            fetched = "each" if row["barrier_every"] else "the last"
            rows.append([Num(size["side"]), Num(row["tasks"]), fetched, *timed(row["measured"], model.total)])
    yield Table(("Side", "Queue one", "Compute one", "Fetch one"), costs, "One product of square matrices: the inputs of the model")
    yield Table(("Side", "Tasks", "Fetched", *TIMED), rows, "Several products in a row")


def _copies(found: Mapping[str, Any], record: DeviceRecord) -> Iterator[Table | str]:
    rates = {(row["pinned"], row["way"]): row for row in sorted(found["rows"], key=lambda row: row["bytes"])}  # of the largest
    rows: list[list[Cell]] = []
    for row in found["rows"]:
        largest = rates[row["pinned"], row["way"]]
        model = None if row is largest else move_s(size_bytes=row["bytes"], bytes_per_s=largest["bytes_per_s"])
        memory = "pinned" if row["pinned"] else "pageable"
        rows.append(
            [memory, Name(row["way"]), Num(row["bytes"], "MB"), scaled(row["bytes_per_s"], RATES), *timed(row["measured"], model, "sets the rate")]
        )  # fmt: skip
    yield Table(("Memory", "Way", "Size", "Rate", *TIMED), rows, "Copies between the memory of the host and that of the GPU")


def _overlap(found: Mapping[str, Any], record: DeviceRecord) -> Iterator[Table | str]:
    rows: list[list[Cell]] = []
    for size in found["sizes"]:
        times = {"kernels": size["kernels"], "kernel_s": size["kernel_s"], "copy_s": size["copy_s"]}
        for row in size["rows"]:
            model = copies_s(**times, overlap=row["streams"] > 1)
            streams = "a second one for copies" if row["streams"] > 1 else "a single one"
            rows.append(
                [Num(size["side"]), Num(size["kernels"]), scaled(size["kernel_s"], TIMES), scaled(size["copy_s"], TIMES), streams,
                 *timed(row["measured"], model)]
            )  # fmt: skip
    yield Table(
        ("Side", "Products", "Compute one", "Copy one", "Streams", *TIMED), rows, "Products, and a copy of each to the host"
    )


def _memory(found: Mapping[str, Any], record: DeviceRecord) -> Iterator[Table | str]:
    largest = max(found["rows"], key=lambda row: row["bytes"], default=None)
    rows: list[list[Cell]] = []
    for row in found["rows"]:
        model = None if row is largest or not largest else move_s(size_bytes=2 * row["bytes"], bytes_per_s=largest["bytes_per_s"])
        rows.append([Num(row["bytes"], "MB"), scaled(row["bytes_per_s"], RATES), *timed(row["measured"], model, "sets the rate")])
    yield Table(("Size", "Rate", *TIMED), rows, "Copies within the memory of the GPU: each byte is read and written")


def _matmul(found: Mapping[str, Any], record: DeviceRecord) -> Iterator[Table | str]:
    moved = record.sections.get("memory", {}).get("rows", [])
    memory = max(moved, key=lambda row: row["bytes"], default=None)
    rows: list[list[Cell]] = []
    for row in found["rows"]:
        side, roof = row["side"], max((r for r in found["rows"] if r["dtype"] == row["dtype"]), key=lambda r: r["flop_per_s"])
        model = None
        if memory and row is not roof:
            intensity = matmul_flop_per_byte(n=side, element_bytes=row["element_bytes"])
            rate = attainable_flop_per_s(
                flop_per_byte=intensity, peak_flop_per_s=roof["flop_per_s"], bytes_per_s=memory["bytes_per_s"]
            )
            model = 2 * side**3 / rate
        otherwise = "sets the roof" if row is roof else "–"
        rows.append(
            [Name(row["dtype"]), Num(side), scaled(row["flop_per_s"], SPEEDS), *timed(row["measured"], model, otherwise)]
        )  # fmt: skip
    yield Table(("Precision", "Side", "Rate", *TIMED), rows, "Products of square matrices, and the roofline of this GPU")


def _programs(found: Mapping[str, Any], record: DeviceRecord) -> Iterator[Table | str]:
    rows: list[list[Cell]] = []
    for row in found["rows"]:
        if "measured" not in row:
            yield _trouble(f"{row['program']}, batch {row['batch']}", row)
            continue
        queued, computed, model = row["queued"]["median"], row["on_the_gpu"]["median"], None
        if row["operations"]:
            model = python_bound_step_s(
                ops=row["operations"], gpus=1, launch_s=queued / row["operations"], op_s=computed / row["operations"]
            )
        rows.append(
            [Code(row["program"]), Num(row["batch"]), scaled(queued, TIMES), scaled(computed, TIMES), *timed(row["measured"], model), Power(row["difference"])]
        )  # fmt: skip
    head = ("Program", "Batch", "Queue it", "Compute it", *TIMED, "Difference")
    if rows:
        yield Table(head, rows, "A forward pass of the network of Act 1, each time from the call to the result")


Draw = Callable[[Mapping[str, Any], DeviceRecord], Iterator[Table | str]]
SECTIONS: Mapping[str, Draw] = MappingProxyType(
    {"lockstep": _lockstep, "queue": _queue, "copies": _copies, "overlap": _overlap, "memory": _memory, "matmul": _matmul, "programs": _programs}
)  # fmt: skip


def _data(words: object) -> str:
    """Words of the record, marked as computed."""
    return f'<data class="data">{escape(str(words))}</data>'


def _trouble(name: str, found: Mapping[str, Any]) -> str:
    """That a part failed or was not run, and why."""
    failed = "error" in found
    why = found["error"] if failed else found.get("not_run", "no reason is given")
    return f'<p class="unverified">{_data(name)} {"failed" if failed else "was not run"}: {_data(why)}.</p>'


def _starved(found: Any) -> bool:
    """Whether a time of a kernel was taken while the GPU waited for Python."""
    if isinstance(found, dict):
        return bool(found.get("starved")) or any(map(_starved, found.values()))
    return isinstance(found, list) and any(map(_starved, found))


STARVED = '<p class="unverified">In some rounds the GPU waited for Python, whatever it was given to do: the times of its kernels say too much there.</p>'


def badge(record: DeviceRecord) -> str:
    """What a table of the page says of itself."""
    return f'<span class="badge badge-measured">measured · {escape(record.device)} · {record.day}</span>'


# The page -------------------------------------------------------------------------------------------------------------------------

NO_RECORD = (
    '<p class="unverified"><strong>No GPU run has been recorded.</strong> Run <code>make cuda</code> on a machine with a GPU: it measures for a few '
    "minutes and writes <code>docs/records/cuda.json</code>. Bring that file back to the same place here, and build the site again.</p>"
)
NOT_YET = '<p class="unverified">Not measured yet.</p>'
STALE = (
    '<p class="unverified"><strong>This record is stale.</strong> Other code made it: <code>verify/cuda.py</code>, <code>verify/gpu.py</code> or '
    "<code>perfmodel/lockstep</code> has changed since. The numbers are those of that run. Run <code>make cuda</code> again on a machine with a GPU.</p>"
)
FORMER = '<p class="unverified">This part was recorded by other code, in a form that this page cannot show.</p>'
ABOUT = (
    ("device", "GPU"), ("memory_bytes", "its memory"), ("gpus", "GPUs in the machine"), ("capability", "compute capability"), ("driver", "driver"),
    ("cuda", "CUDA"), ("cudnn", "cuDNN"), ("torch", "PyTorch"), ("numpy", "NumPy"), ("python", "Python"), ("cpus", "CPUs"), ("platform", "system"),
)  # fmt: skip


def _read() -> DeviceRecord | None:
    try:
        return gpu_record.read(gpu_record.PATH)
    except RecordError as error:
        raise Withheld(str(error)) from None


def measured(section: str = "") -> Piece:
    """A section of the last run on a GPU: `measured("queue")`; without a name, what it ran on and when."""
    if section and section not in SECTIONS:
        raise QuoteError(f'measured("{section}") names no section: {", ".join(SECTIONS)}')
    record = _read()
    if record is None:
        return Piece(NOT_YET if section else NO_RECORD, "measured")
    return Piece(_section(section, record) if section else _head(record), "measured")


def _table(table: Table) -> str:
    return f'<div class="scroll measured" role="region" aria-label="{escape(table.caption)}">{table.html(speaker(__file__))}</div>'


def _head(record: DeviceRecord) -> str:
    about = {**record.environment}
    if "memory_bytes" in about:
        about["memory_bytes"] = text.show(about["memory_bytes"], "GiB", 0)
    rows: list[list[Cell]] = [[words, Name(str(about[key]))] for key, words in ABOUT if key in about]
    stale = "" if record.code == gpu_record.code_hash() else STALE
    wrong = _trouble("The machine", about) if "error" in about else ""
    table = _table(Table(("What", "Which"), rows, "The machine that measured")) if rows else ""
    return f"{stale}<p>Measured on {_data(record.date)}. {badge(record)}</p>{wrong}{table}"


def _section(name: str, record: DeviceRecord) -> str:
    found = record.sections.get(name)
    if found is None:
        return '<p class="unverified">The recorded run does not hold this part.</p>'
    if "error" in found or "not_run" in found:
        return _trouble("This part", found)
    try:
        parts = [part if isinstance(part, str) else _table(part) for part in SECTIONS[name](found, record)]
    except (KeyError, TypeError, ValueError):
        if record.code == gpu_record.code_hash():
            raise
        return FORMER
    left = found.get("left_out", [])
    out = f'<p class="unverified">Left out, as the time for this part was over: {_data("; ".join(left))}.</p>' if left else ""
    return f"{''.join(parts)}<p>{badge(record)}</p>{out}{STARVED if _starved(found) else ''}"
