"""The parts of `make cuda`, on a device whose times are known beforehand: what goes in must come out, and faults must show."""

from __future__ import annotations

import json
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from macros import gpu_record
from macros.gpu_record import DeviceRecord
from macros.records import RecordError, write
from perfmodel.lockstep import FAULTS, LOCKSTEP, Run, train
from perfmodel.lockstep.job import Training
from perfmodel.lockstep.processes import RunError
from perfmodel.overlap import copies_s
from perfmodel.pipeline import AsyncPipeline
from verify import cuda, gpu, lockstep
from verify.checkout import ROOT
from verify.fakegpu import Costs, Fake
from verify.gpu import Budget, Gpu, Spread, on_the_gpu, until_done, until_queued

PRODUCTS = {16: 1e-6, 32: 4e-6}  # one faster than a launch takes, one slower


def product_s(side: int) -> float:
    return PRODUCTS.get(side, 1e-3)


COSTS = Costs(launch_s=2e-6, product_s=product_s)


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Sizes for a CPU that is busy with other things."""
    for module, name, value in (
        (gpu, "FILL", 48),
        (cuda, "PRODUCTS", (16, 32)),
        (cuda, "TASKS", (1, 8)),
        (cuda, "QUEUED", 20),
        (cuda, "COPIED", (1000, 160_000)),
        (cuda, "PAIRS", (16, 32)),
        (cuda, "MOVED", (1000, 100_000)),
        (cuda, "SIDES", (16, 32)),
    ):
        monkeypatch.setattr(module, name, value)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def close(value: float) -> Any:
    return pytest.approx(value, rel=1e-6)


def long() -> Budget:
    return Budget(100)


def ask(side: int = 16) -> Any:
    x = torch.ones(side, side)
    y = torch.empty_like(x)
    return lambda: torch.mm(x, x, out=y)


# Clocks ---------------------------------------------------------------------------------------------------------------------------


def test_each_time_is_the_one_that_went_in() -> None:
    """A product takes 2 µs to launch; alone it is done 1 µs or 4 µs later, and behind others each takes just that."""
    for side, kernel_s in PRODUCTS.items():
        with Fake(COSTS) as fake:
            work = ask(side)
            assert until_done(fake, work, long()).median == close(2e-6 + kernel_s)
            assert until_queued(fake, work, long(), count=20).median == close(2e-6)
            assert on_the_gpu(fake, work, long())[:3] == (close(kernel_s),) * 3


def test_a_clock_that_is_read_before_the_wait_is_caught() -> None:
    """The same device, with the wait left out: the queue is timed and not the work."""
    with Fake(COSTS, forgetful=True) as fake:
        assert until_done(fake, ask(32), long()).median == close(2e-6)  # not 6 µs
        with pytest.raises(RuntimeError, match="must be completed"):
            on_the_gpu(fake, ask(32), long())


def test_a_gpu_that_waits_for_python_is_given_more_to_do() -> None:
    """Filled with products that are over at once it comes too early to the first event: rounds are made again, then counted."""
    with Fake(COSTS._replace(product_s=lambda side: 1e-6)) as fake:
        found = on_the_gpu(fake, ask(), long(), rounds=3)
    assert found.starved == found.rounds == 3
    assert found.median == close(2e-6)  # that of the launches: which is why it says so
    with Fake(COSTS) as fake:
        assert on_the_gpu(fake, ask(), long()).starved == 0


def test_a_budget_ends_a_section_early_and_says_what_it_left_out() -> None:
    with Fake(COSTS) as fake:
        over = Budget(0)
        assert until_done(fake, ask(), over).rounds == gpu.LEAST
        found = cuda.queue(fake, over)
    assert found == {"sizes": []}
    assert over.left_out == ["products of side 16", "products of side 32"]


def test_the_budgets_keep_the_whole_under_five_minutes() -> None:
    assert sum(seconds for _, seconds in cuda.SECTIONS.values()) <= cuda.WHOLE_S < 300


# Sections -------------------------------------------------------------------------------------------------------------------------


def test_the_queue_does_what_the_model_says() -> None:
    with Fake(COSTS) as fake:
        found = cuda.queue(fake, long())
    assert [size["side"] for size in found["sizes"]] == [16, 32]
    for size in found["sizes"]:
        kernel_s = PRODUCTS[size["side"]]
        assert [size[name]["median"] for name in ("t1", "t2", "t3")] == [close(2e-6), close(kernel_s), close(5e-6)]
        assert [(row["tasks"], row["barrier_every"]) for row in size["rows"]] == [(1, 1), (1, None), (8, 1), (8, None)]
        for row in size["rows"]:
            model = AsyncPipeline(
                enqueue=2e-6, compute=kernel_s, fetch=5e-6, tasks=row["tasks"], barrier_every=row["barrier_every"]
            ).total
            assert (row["measured"]["median"], row["predicted_s"]) == (close(model), close(model))
            assert abs(row["relative_error"]) < 1e-6


def test_overlap_does_what_the_model_says(monkeypatch: pytest.MonkeyPatch) -> None:
    """The host's launches must be hidden behind the GPU, as the model has none."""
    monkeypatch.setattr(cuda, "PAIRS", (256,))
    with Fake(Costs(launch_s=1e-9, product_s=lambda side: 40e-6 if side == 256 else 1e-3)) as fake:
        (size,) = cuda.overlap(fake, long())["sizes"]
    copy_s = 4 * 256**2 / 10e9
    assert (size["kernel_s"], size["copy_s"]) == (close(40e-6), close(copy_s))
    for row, streams in zip(size["rows"], (1, 2), strict=True):
        model = copies_s(kernels=8, kernel_s=40e-6, copy_s=copy_s, overlap=streams == 2)
        assert row["streams"] == streams
        assert row["measured"]["median"] == pytest.approx(model, rel=1e-3)
    assert size["rows"][1]["measured"]["median"] < 0.7 * size["rows"][0]["measured"]["median"]


def test_copies_that_do_not_wait_for_the_result_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the wait of one stream for the other, all copies would begin at once: too fast for the model."""
    monkeypatch.setattr(cuda, "PAIRS", (16,))

    class Careless(Fake):
        def current(self) -> Any:
            return type(self.streams[0])()  # a stream that is always free: waiting for it means nothing

    costs = Costs(launch_s=1e-9, product_s=lambda side: 40e-6 if side == 16 else 1e-3, copy_bytes_per_s=4 * 16**2 / 40e-6)
    with Careless(costs) as fake:
        size = cuda.overlap(fake, long())["sizes"][0]
    assert size["rows"][1]["relative_error"] < -0.05


def test_rates_are_bytes_and_flop_over_seconds() -> None:
    with Fake(COSTS) as fake:
        copied, moved, multiplied = (cuda.SECTIONS[name][0](fake, long()) for name in ("copies", "memory", "matmul"))
    assert [(row["pinned"], row["way"], row["bytes"]) for row in copied["rows"]] == [
        (pinned, way, size) for pinned in (False, True) for size in cuda.COPIED for way in ("to the GPU", "from the GPU")
    ]
    for row in copied["rows"]:
        assert row["measured"]["median"] == close(2e-6 + row["bytes"] / 10e9)
        assert row["bytes_per_s"] == close(row["bytes"] / row["measured"]["median"])
    for row in moved["rows"]:
        assert row["bytes_per_s"] == close(1e12)  # 2 · size over size / (rate / 2)
    assert [(row["dtype"], row["side"], row["element_bytes"]) for row in multiplied["rows"]] == [
        ("float32", 16, 4), ("float32", 32, 4), ("bfloat16", 16, 2), ("bfloat16", 32, 2),
    ]  # fmt: skip
    for row in multiplied["rows"]:
        assert row["flop_per_s"] == close(2 * row["side"] ** 3 / PRODUCTS[row["side"]])


def test_memory_that_is_not_there_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    fake, budget = Fake(COSTS), long()
    monkeypatch.setattr(fake, "free_bytes", lambda: 10_000)
    with fake:
        assert [row["bytes"] for row in cuda.memory(fake, budget)["rows"]] == [1000]
    assert budget.left_out == ["100000 bytes: there is no room for two of them"]


def test_a_network_every_way_gives_the_same_output_and_a_graph_launches_once() -> None:
    with Fake(COSTS) as fake:
        rows = cuda.programs(fake, long())["rows"]
    assert [(row["program"], row["batch"]) for row in rows] == [(name, batch) for name in cuda.PROGRAMS for batch in (1, 128)]
    by = {(row["program"], row["batch"]): row for row in rows}
    for batch in (1, 128):
        eager, graph, script = (by[name, batch] for name in ("eager", "CUDA graph", "torch.jit.script"))
        assert eager["measured"]["median"] == close(5 * 2e-6 + 1e-6)  # five launches, and the last operation
        assert graph["measured"]["median"] == close(2e-6 + 5 * 1e-6)  # one launch, five operations
        assert eager["predicted_s"] == close(5 * 2e-6 + 1e-6)
        assert graph["predicted_s"] == close(2e-6 + 5 * 1e-6)
        assert [row["difference"] for row in (eager, graph)] == [0.0, 0.0]
        assert script["difference"] < 1e-6
        assert "predicted_s" not in script
        assert by["torch.compile", batch]["not_run"] == "torch.compile needs a GPU, and this one is made up"


def test_a_network_that_computes_something_else_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong: Any = lambda fake, net, x: lambda: net(x) + 1  # noqa: E731
    monkeypatch.setattr(cuda, "PROGRAMS", {"eager": (wrong, 5)})
    with Fake(COSTS) as fake:
        assert cuda.programs(fake, long())["rows"][0]["difference"] == close(1.0)


# Lockstep -------------------------------------------------------------------------------------------------------------------------

SHORT_MADE = lockstep.Transport([lockstep.row("gloo, DDP", train(2, 60), train(1, 60), 0.1, lockstep.ON_GPUS)], [])


def test_lockstep_on_the_device(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[Any, ...]] = []

    def over_ranks(ranks: int, *, device: str, backend: str, reference: str, patience_s: float) -> lockstep.Transport:
        asked.append((ranks, device, backend, reference))
        assert patience_s <= 60
        return SHORT_MADE

    monkeypatch.setattr(lockstep, "over_ranks", over_ranks)
    monkeypatch.setattr(cuda, "train", lambda k, **options: train(k, 60, **options))
    found = cuda.lockstep(Fake(), long())
    assert [(row["k"], row["dtype"], row["limit"]) for row in found["in_process"]] == [
        *((k, "float64", 1e-13) for k in (1, 2, 4, 8)),
        *((k, "float32", 1e-6) for k in (1, 2, 4, 8)),
    ]
    assert all(row["reasons"] == () and row["spread"] == 0 and row["l2"] <= row["limit"] for row in found["in_process"])
    assert found["in_process"][0]["l2"] == 0.0  # the same training twice
    assert found["nccl"] == {"not_run": "needs two GPUs or more, a rank for each; this machine has 1"}
    assert asked == [(2, "cpu", "gloo", "cpu")]
    monkeypatch.setattr(cuda, "REPLICAS", (2,))
    found = cuda.lockstep(Fake(gpus=4), long())
    assert asked[1:] == [(2, "cpu", "gloo", "cpu"), (4, "cuda", "nccl", "cpu")]
    assert [row["transport"] for row in found["nccl"]] == ["gloo, DDP"]


def test_ranks_that_fail_lose_no_other_part(monkeypatch: pytest.MonkeyPatch) -> None:
    def over_ranks(ranks: int, **_: Any) -> lockstep.Transport:
        raise RunError("rank 1 was killed by SIGKILL")

    monkeypatch.setattr(lockstep, "over_ranks", over_ranks)
    monkeypatch.setattr(cuda, "REPLICAS", (2,))
    found = cuda.lockstep(Fake(), long())
    assert found["gloo"] == {"error": "RunError: rank 1 was killed by SIGKILL"}
    assert len(found["in_process"]) == 2
    assert cuda.wrong(found) == ["RunError: rank 1 was killed by SIGKILL"]


def test_a_run_out_of_lockstep_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(k: int, **options: Any) -> Run:
        return train(k, 60, method=FAULTS["allreduce in float32"] if k == 4 else LOCKSTEP, **options)

    monkeypatch.setattr(cuda, "train", broken)
    monkeypatch.setattr(lockstep, "over_ranks", lambda *_, **__: SHORT_MADE)
    (fault,) = cuda.wrong(cuda.lockstep(Fake(), long()))
    assert fault.startswith("one process, k = 4, float64: after step 60 the relative L2 distance is ")
    assert fault.endswith(", over 1e-13")


def test_a_run_on_a_gpu_is_given_the_limit_of_other_devices(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is 5e-15 away is lockstep on a GPU, where sums are made in another order, and none on this CPU."""
    one = train(1, 60)
    near = Run(**{**vars(train(2, 60)), "parameters": tuple(p * (1 + 5e-15) for p in one.parameters)})
    monkeypatch.setattr(lockstep, "MATRIX", ())
    monkeypatch.setattr(lockstep, "FEW", Training(steps=60))
    monkeypatch.setattr(lockstep, "run", lambda *_, **__: [near])
    assert lockstep.over_ranks(2, device="cuda:0").rows[0].reasons == ()
    (reason,) = lockstep.over_ranks(2).rows[0].reasons
    assert reason.endswith("over 1e-15")


# Gpu itself, on a torch.cuda that only takes notes ---------------------------------------------------------------------------------


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What Gpu asks of torch.cuda, in order."""
    told: list[str] = []

    class Stream:
        def __init__(self, name: str) -> None:
            self.name = name

        def wait_stream(self, other: Stream) -> None:
            told.append(f"{self.name} waits for {other.name}")

    class Event:
        def __init__(self, *, enable_timing: bool) -> None:
            assert enable_timing, "an event without it has no time"

        def record(self) -> None:
            told.append("event")

        def query(self) -> bool:
            return False

        def elapsed_time(self, other: Event) -> float:
            told.append("elapsed")
            return 3.0

    class Graph:
        def replay(self) -> None:
            told.append("replay")

    @contextmanager
    def on(stream: Stream) -> Iterator[None]:
        told.append(f"on {stream.name}")
        yield
        told.append(f"off {stream.name}")

    @contextmanager
    def capturing(graph: Graph) -> Iterator[None]:
        told.append("capture")
        yield
        told.append("captured")

    def clock() -> float:
        told.append("clock")
        return float(len(told))

    for name, value in (
        ("synchronize", lambda device: told.append(f"wait for {device}")),
        ("Stream", lambda device: Stream("side")),
        ("Event", Event),
        ("current_stream", lambda device: Stream("main")),
        ("stream", on),
        ("CUDAGraph", Graph),
        ("graph", capturing),
        ("device_count", lambda: 2),
        ("mem_get_info", lambda device: (7, 8)),
    ):
        monkeypatch.setattr(torch.cuda, name, value)
    monkeypatch.setattr("time.perf_counter", clock)
    return told


def test_gpu_waits_before_the_clock_and_after_the_work(calls: list[str]) -> None:
    until_done(Gpu(), lambda: calls.append("work"), long(), rounds=2)
    assert calls[-5:] == ["wait for cuda:0", "clock", "work", "wait for cuda:0", "clock"]


def test_gpu_asks_events_for_their_time_only_after_a_wait(calls: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    device = Gpu()
    monkeypatch.setattr(device, "device", torch.device("cpu"), raising=False)
    found = on_the_gpu(device, lambda: calls.append("work"), long(), rounds=2, count=1)
    assert calls[-6:] == ["wait for cpu", "event", "work", "event", "wait for cpu", "elapsed"]
    assert found.median == 3e-3  # milliseconds become seconds


def test_a_graph_is_recorded_after_its_libraries_have_set_themselves_up(calls: list[str]) -> None:
    output = torch.ones(1)

    def work() -> Tensor:
        calls.append("work")
        return output

    replay = Gpu().captured(work)
    warm = ["side waits for main", "on side", "work", "work", "work", "off side", "main waits for side"]
    assert calls == [*warm, "capture", "work", "captured"]
    assert replay() is output
    assert calls[-1] == "replay"


def test_copies_on_a_stream_of_their_own_wait_for_each_result(calls: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    device = Gpu()
    monkeypatch.setattr(device, "device", torch.device("cpu"), raising=False)
    monkeypatch.setattr(device, "pinned", lambda *shape, dtype: torch.zeros(*shape, dtype=dtype))
    monkeypatch.setattr(cuda, "PAIRS", (16,))
    monkeypatch.setattr(cuda, "PAIRED", 2)
    cuda.overlap(device, long())
    each = ["side waits for main", "on side", "off side"]
    assert calls[-8:] == [*each, *each, "wait for cpu", "clock"]


def test_no_call_of_the_fake_reaches_cuda() -> None:
    public = {name for name, each in vars(Gpu).items() if callable(each) and not name.startswith("_")}
    assert public <= set(vars(Fake))


def test_facts_name_the_gpu_and_no_machine(monkeypatch: pytest.MonkeyPatch, calls: list[str]) -> None:
    class Properties:
        name, total_memory, major, minor = "NVIDIA X", 10**9, 9, 0

    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda device: Properties)
    monkeypatch.setattr("subprocess.run", lambda *_, **__: subprocess.CompletedProcess([], 0, stdout="550.54\n550.54\n"))
    facts = cuda.environment(Gpu())
    assert (facts["device"], facts["capability"], facts["driver"], facts["gpus"]) == ("NVIDIA X", "9.0", "550.54", 2)
    assert facts["torch"] == torch.__version__
    assert Gpu().free_bytes() == 7
    assert platform.node() not in json.dumps(facts)

    def missing(*_: Any, **__: Any) -> None:
        raise FileNotFoundError("nvidia-smi")

    monkeypatch.setattr("subprocess.run", missing)
    assert Gpu().facts()["driver"] == "unknown"


@pytest.mark.parametrize(
    ("found", "compiler", "why"),
    [
        (None, "gcc", "needs triton"),
        (object(), "", "needs a C compiler, and there is no gcc or clang or cc"),
        (object(), "gcc", ""),
    ],
)
def test_what_torch_compile_lacks(monkeypatch: pytest.MonkeyPatch, found: object, compiler: str, why: str) -> None:
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: found)
    monkeypatch.setattr(shutil, "which", lambda name: name if name == compiler else None)
    monkeypatch.setattr(gpu, "why_no_headers", lambda: "")
    assert why in Gpu().why_no_compiler()
    assert bool(why) is bool(Gpu().why_no_compiler())


# The record -----------------------------------------------------------------------------------------------------------------------


def fine(device: Gpu, budget: Budget) -> dict[str, Any]:
    return {"rows": [Spread(2.0, 1.0, 3.0, 5)._asdict()]}


def broken(device: Gpu, budget: Budget) -> dict[str, Any]:
    raise RuntimeError(f"CUDA error in {ROOT}/lib.so on {platform.node()}\nmore")


def test_a_section_that_raises_is_recorded_and_the_others_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(
        cuda, "SECTIONS", {"copies": (broken, 5.0), "memory": (fine, 5.0), "matmul": (lambda *_: {"x": float("nan")}, 5.0)}
    )
    seen: list[list[str]] = []

    def noted(record: DeviceRecord, path: Path) -> None:
        seen.append(list(record.sections))
        write(record, path)

    monkeypatch.setattr(cuda, "write", noted)
    assert cuda.main(["--out", str(tmp_path / "x.json")], Fake()) == 1
    record = gpu_record.read(tmp_path / "x.json")
    assert record is not None
    assert record.sections["copies"]["error"] == "RuntimeError: CUDA error in … on …"
    assert record.sections["memory"]["rows"] == [{"median": 2.0, "low": 1.0, "high": 3.0, "rounds": 5, "starved": 0}]
    assert record.sections["matmul"]["error"].startswith("ValueError: Out of range float values")
    assert seen == [["copies"], ["copies", "memory"], ["copies", "memory", "matmul"]], "rewritten after each"
    out = capsys.readouterr().out
    assert "WRONG      RuntimeError: CUDA error in … on …" in out
    assert str(tmp_path) not in (tmp_path / "x.json").read_text(encoding="utf-8")
    assert (record.device, record.code) == ("Fake GPU", gpu_record.code_hash())


def test_some_sections_alone_and_a_whole_that_took_too_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuda, "SECTIONS", {"copies": (fine, 5.0), "memory": (fine, 5.0)})
    assert cuda.main(["--out", str(tmp_path / "x.json"), "--sections", "memory"], Fake()) == 0
    record = gpu_record.read(tmp_path / "x.json")
    assert record is not None
    assert list(record.sections) == ["memory"]
    assert cuda.measure(Fake(), tmp_path / "x.json", whole_s=0)["copies"]["not_run"] == "the 0 s of the whole run were spent"
    with pytest.raises(SystemExit) as left:
        cuda.main(["--sections", "memroy"], Fake())
    assert left.value.code == 2


def test_products_in_float32_are_not_rounded_and_all_is_as_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    products: Any = torch.backends.cuda.matmul
    before = products.fp32_precision
    monkeypatch.setattr(cuda, "SECTIONS", {"memory": (lambda *_: {"during": products.fp32_precision}, 5.0)})
    found = cuda.measure(Fake(), tmp_path / "x.json")
    assert (found["memory"]["during"], products.fp32_precision) == ("ieee", before)


def record(**changed: Any) -> DeviceRecord:
    content = {"date": "2026-01-02 03:04 UTC", "environment": {"device": "Fake GPU"}, "sections": {"a": {"rows": []}}, "code": "0"}
    return gpu_record.sealed(**{**content, **changed})


def test_a_record_comes_back(tmp_path: Path) -> None:
    path = tmp_path / "cuda.json"
    assert gpu_record.read(path) is None
    assert gpu_record.last(path) == "none"
    write(record(), path)
    assert gpu_record.read(path) == record()
    assert gpu_record.last(path) == "Fake GPU, 2026-01-02"


@pytest.mark.parametrize(
    ("damage", "why"),
    [
        (lambda text: text[: len(text) // 2], "docs/records/cuda.json is torn"),
        (lambda text: "", "is torn"),
        (lambda text: "[1]", "is torn"),
        (lambda text: text.replace('"rows"', '"rouws"'), "was changed after the run that made it"),
        (lambda text: text.replace("Fake GPU", "H100"), "was changed after"),
        (lambda text: text.replace("2026-01-02", "2027-01-02"), "was changed after"),
        (lambda text: text.replace('"code": "0"', '"code": "1"'), "was changed after"),
    ],
    ids=["torn", "empty", "a list", "edited", "another device", "another date", "another code"],
)
def test_a_torn_or_edited_record_is_refused(tmp_path: Path, damage: Any, why: str) -> None:
    path = tmp_path / "cuda.json"
    write(record(), path)
    whole = path.read_text(encoding="utf-8")
    assert damage(whole) != whole
    path.write_text(damage(whole), encoding="utf-8")
    with pytest.raises(RecordError, match=why):
        gpu_record.read(path)
    assert gpu_record.last(path) == "not readable"


def test_the_hash_follows_the_code_that_measures(tmp_path: Path) -> None:
    for name in ("verify/cuda.py", "verify/gpu.py", "perfmodel/lockstep/step.py", "perfmodel/lockstep/runs.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes((ROOT / name).read_bytes())
    before = gpu_record.code_hash(tmp_path)
    for path in [*tmp_path.rglob("*.py")]:
        whole = path.read_bytes()
        path.write_bytes(whole.replace(b"\n", b"\r\n"))
        assert gpu_record.code_hash(tmp_path) == before
        path.write_bytes(whole + b"\n")
        assert gpu_record.code_hash(tmp_path) != before
        path.write_bytes(whole)


# As it is run ---------------------------------------------------------------------------------------------------------------------


def python(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *arguments], cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has a CUDA device; what happens without one can't be seen")
def test_without_a_device_it_says_so_and_writes_nothing(tmp_path: Path) -> None:
    done = python("-m", "verify.cuda", "--out", str(tmp_path / "cuda.json"))
    assert (done.returncode, done.stdout) == (3, cuda.NOT_RUN + "\n")
    assert list(tmp_path.iterdir()) == []


def test_it_needs_torch_and_numpy_and_nothing_else() -> None:
    code = (
        "import sys; before = set(sys.modules); import verify.cuda; import torch, numpy; "
        "print(sorted({m.partition('.')[0] for m in set(sys.modules) - before} & "
        "{'plotly', 'mkdocs', 'jinja2', 'pint', 'bs4', 'simpy', 'yaml', 'pytest', 'hypothesis', 'material', 'latex2mathml', 'pygments'}))"
    )
    assert python("-c", code).stdout == "[]\n"
