"""The code samples of `docs/code/`: each runs as a reader would run it, and prints what it should."""

from __future__ import annotations

import ast
import importlib.util
import io
import os
import re
import signal
import subprocess
import sys
import tokenize
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch

from verify.checkout import ROOT

CODE = ROOT / "docs" / "code"
TIMEOUT_S = 240  # each takes seconds; a first torch.compile, two workers and two busy cores make it more
NUMBER = r"-?\d+(\.\d+)?(e[-+]\d+)?"

# What each sample prints, line for line. Times are this machine's: a number stands for them.
EXPECTED: dict[str, tuple[str, ...]] = {
    "async_timing.py": (
        r"10 products of 512 by 512, PyTorch on .+",
        rf"NumPy, on the CPU: +{NUMBER} ms",
        rf"PyTorch, until queued: +{NUMBER} ms",
        rf"PyTorch, until done: +{NUMBER} ms",
        r"OK: NumPy and PyTorch agree; (CPU operations are synchronous, so nothing needs waiting for|on a GPU only the time until done .*)",
    ),
    "compile_model.py": (
        rf"the network gives \[{NUMBER}, {NUMBER}\]",
        r"torch\.jit\.script: largest difference \d\.\de[-+]\d\d",
        r"torch\.compile: largest difference \d\.\de[-+]\d\d",
        r"OK: the same output before and after, with torch\.jit\.script and with torch\.compile",
    ),
    "data_parallel.py": (
        r"(cpu|cuda:\d) computes \d+ of 128 samples",
        *[r"(cuda:\d computes \d+ of 128 samples)?"] * 15,
        r"all outputs come to (cpu, all gradients to cpu|cuda:0, all gradients to cuda:0)",
        r"(There is no GPU: DataParallel runs the plain module, and splits nothing\.)?",
        r"OK: (the same outputs and gradients as the plain module, in every bit|on \d+ GPUs the same outputs and gradients .*)",
    ),
    "matmul_timing.py": (
        r"1024 by 1024, 2,147,483,648 FLOP a product; times are this machine's, now",  # 2 · 1024³
        rf"CPU, threads: \d+: {NUMBER} ms, median of 5 \({NUMBER} to {NUMBER}\), {NUMBER} GFLOP/s",
        rf"(NOT RUN: the GPU's time needs a GPU, and PyTorch finds none|.+: {NUMBER} ms, median of 5 .*)",
        rf"(the CPU took {NUMBER}× as long as the GPU)?",
        r"OK: the products are right",
    ),
    "multiple_gpus.py": (
        r"allreduce of \[1, 1\] and \[2, 2\]: \[3, 3\] and \[3, 3\]",
        r"(2 replicas on cpu, cpu, with \[31, 30\] of 61 samples|\d+ replicas on cuda:0, .*)",
        rf"loss:( {NUMBER}){{6}}",
        r"OK: the replicas agree in every bit and the loss fell",
    ),
    "multiple_gpus_concise.py": (
        rf"loss: {NUMBER} at first, {NUMBER} after 10 steps",
        r"(Without a GPU, DataParallel runs the module itself: no copies, nothing split\.)?",
        r"DataParallel is one process, .* DistributedDataParallel runs a process per GPU\.",
        r"OK: the loss fell, on (the CPU|\d+ GPUs)",
    ),
    "pipe_bandwidth.py": (
        r"the fit finds a known pipe again: 10\.000 µs and 12\.000 GB/s",
        rf"CPU memory to CPU memory: {NUMBER} µs and {NUMBER} GB/s, fitted to 8 sizes, on this machine, now",
        rf"(NOT RUN: the pipe between CPU and GPU needs a GPU, this machine has none|CPU to GPU, pinned: {NUMBER} µs and {NUMBER} GB/s, .*)",
        r"OK: every copy arrived, and the fit is right where the answer is known",
    ),
    "ring_allreduce.py": (
        r"4 processes, chunk sums \[10, 10, 10, 10\]",  # 1 + 2 + 3 + 4
        r"OK: the ring gives what all_reduce gives, on every rank",
    ),
    "train_ddp.py": (
        r"1 rank on (cpu with gloo|cuda with nccl), 1 × 32 = 32 samples a step, learning rate 0\.001",
        *[rf"epoch {epoch}: loss {NUMBER}, accuracy {NUMBER}" for epoch in (1, 2, 3)],
        r"OK: 375 steps; all ranks hold the same, bit for bit",  # 3 epochs of 4000 / 32
    ),
    "two_devices.py": (
        r"CPU: the same results with and without the barrier",
        rf"(NOT RUN: two devices side by side need 2 GPUs, this machine has [01]|GPUs: in turns {NUMBER} ms, side by side {NUMBER} ms)",
        rf"(NOT RUN: copying while computing needs a GPU, this machine has 0|GPU: computed and copied in {NUMBER} ms)",
        r"OK: dropping the barrier changes when the work runs, not what comes out",
    ),
}


def run(path: Path, timeout_s: float = TIMEOUT_S, environment: Mapping[str, str] | None = None) -> list[str]:
    """The lines that a sample prints. Warnings are errors. Fails for an exit status, a timeout, or a last line without a verdict."""
    command = [sys.executable, "-W", "error", str(path)]
    # One thread: on a busy machine a thread that waits for its sibling makes a sample of seconds take a minute.
    env = {**os.environ, "PYTHONIOENCODING": "utf-8", "OMP_NUM_THREADS": "1", **(environment or {})}
    running = subprocess.Popen(
        command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8", start_new_session=True
    )
    try:
        out, err = running.communicate(timeout=timeout_s)
    except subprocess.TimeoutExpired:
        pytest.fail(f"{path.name} took over {timeout_s:.0f} s")
    finally:
        if running.poll() is None:  # with all that it started
            os.killpg(running.pid, signal.SIGKILL)
            running.communicate()
    if running.returncode:
        pytest.fail(f"{path.name} ended with status {running.returncode}:\n{out}{err[-2000:]}")
    lines = out.splitlines()
    if not lines or not lines[-1].startswith(("OK: ", "NOT RUN: ")):
        pytest.fail(f"the last line of {path.name} must begin with OK: or NOT RUN:, got {lines[-1:]}")
    return lines


def check(name: str, lines: list[str], expected: tuple[str, ...]) -> None:
    """Fails unless each line is as expected. A line for what another machine prints may be missing."""
    left = list(lines)
    for pattern in expected:
        if left and re.fullmatch(pattern, left[0]):
            left.pop(0)
        elif not re.fullmatch(pattern, ""):
            pytest.fail(f"{name} must print {pattern!r}, got {left[:1]}")
    if left:
        pytest.fail(f"{name} prints more than expected: {left}")


def parts(source: str) -> dict[str, str]:
    """The named parts of a sample. Raises ValueError for one that is not closed, is empty, overlaps another, or takes its name."""
    found: dict[str, str] = {}
    name, begin = "", 0
    lines = source.splitlines()
    for number, line in enumerate(lines):
        mark = re.fullmatch(r"\s*# (part|end): ([a-z][a-z-]*)", line)
        if mark is None:
            if re.match(r"\s*#\s*(part|end)\s*:", line):
                raise ValueError(f"a mark is written `# part: name` or `# end: name`, got {line.strip()!r}")
        elif mark[1] == "part":
            if name or mark[2] in found:
                raise ValueError(f"parts must follow one another, each name once, got {mark[2]!r} in or after {name or mark[2]!r}")
            name, begin = mark[2], number + 1
        else:
            if mark[2] != name:
                raise ValueError(f"a part must end under its own name, got {mark[2]!r} for {name!r}")
            found[name], name = "\n".join(lines[begin:number]).strip("\n"), ""
            if not found[mark[2]].strip():
                raise ValueError(f"a part must hold code, got none in {mark[2]!r}")
    if name:
        raise ValueError(f"a part must end, got no end of {name!r}")
    return found


def imported(name: str) -> ModuleType:
    """A sample as a module."""
    spec = importlib.util.spec_from_file_location(name, CODE / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_sample_is_expected() -> None:
    assert {p.name for p in CODE.glob("*.py")} == set(EXPECTED)


def hidden(pages: Iterable[str]) -> set[str]:
    """The samples that no page shows anything of."""
    return set(EXPECTED) - {name for text in pages for name in re.findall(r'\bcode\("([\w.-]+)"', text)}


def test_every_sample_is_shown_on_some_page() -> None:
    pages = {path.stem: path.read_text(encoding="utf-8") for path in (ROOT / "docs").rglob("*.md")}
    assert hidden(pages.values()) == set()
    pages.pop("6-allreduce")
    assert hidden(pages.values()) == {"ring_allreduce.py"}


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_it_runs_and_prints_what_it_should(name: str) -> None:
    lines = run(CODE / name)
    if lines[-1].startswith("NOT RUN: "):
        pytest.skip(f"{name}: {lines[-1].removeprefix('NOT RUN: ')}; see the README for what each sample needs")
    check(name, lines, EXPECTED[name])


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_its_parts_are_marked_and_fit_a_page(name: str) -> None:
    source = (CODE / name).read_text(encoding="utf-8")
    found = parts(source)
    assert found
    for part, code in found.items():
        wide = [line for line in code.splitlines() if len(line) > 100]
        assert not wide, f"{name}, {part}: {wide}"
        compile(code, f"{name}:{part}", "exec")


def test_without_a_compiler_torch_compile_is_not_run_and_says_why() -> None:
    lines = run(CODE / "compile_model.py", environment={"CXX": "no-such-compiler"})
    assert lines[1].startswith("torch.jit.script: largest difference ")
    assert lines[-1] == "NOT RUN: torch.compile needs a C++ compiler, and there is no no-such-compiler"


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("raise SystemExit('the loss must fall')", "ended with status 1"),
        ("print('done')", "must begin with OK: or NOT RUN:"),
        ("", "must begin with OK: or NOT RUN:"),
        ("import warnings; warnings.warn('old'); print('OK: x')", "ended with status 1"),
        ("import time; time.sleep(60)", "took over 1 s"),
    ],
)
def test_a_sample_that_fails_is_seen(tmp_path: Path, source: str, why: str) -> None:
    path = tmp_path / "sample.py"
    path.write_text(source, encoding="utf-8")
    with pytest.raises(pytest.fail.Exception, match=re.escape(why)):
        run(path, timeout_s=1 if "sleep" in source else TIMEOUT_S)


@pytest.mark.parametrize(
    "lines",
    [
        ["4 processes, chunk sums [10, 10, 10, 9]", "OK: the ring gives what all_reduce gives, on every rank"],
        ["OK: the ring gives what all_reduce gives, on every rank"],
        ["4 processes, chunk sums [10, 10, 10, 10]", "and more", "OK: the ring gives what all_reduce gives, on every rank"],
    ],
)
def test_a_wrong_result_is_seen(lines: list[str]) -> None:
    with pytest.raises(pytest.fail.Exception, match="must print"):
        check("ring_allreduce.py", lines, EXPECTED["ring_allreduce.py"])


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("# part: a\nx = 1\n", "no end of 'a'"),
        ("# part: a\nx = 1\n# end: b\n", "end under its own name"),
        ("# part: a\n\n# end: a\n", "must hold code"),
        ("# part: a\nx = 1\n# part: b\n", "follow one another"),
        ("# part: a\nx = 1\n# end: a\n# part: a\ny = 1\n# end: a\n", "each name once"),
        ("#part: a\n", "a mark is written"),
    ],
)
def test_marks_that_are_wrong_are_seen(source: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        parts(source)


@pytest.mark.parametrize("sample", ["async_timing", "pipe_bandwidth"])
def test_a_clock_is_read_only_after_waiting(sample: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both readings: wait, clock, work, wait, clock. On a GPU anything else times the queue."""
    module: Any = imported(sample)
    events: list[str] = []

    def clock() -> float:
        events.append("clock")
        return 0.0

    monkeypatch.setattr("time.perf_counter", clock)
    monkeypatch.setattr(module, "ROUNDS", 1)
    if sample == "async_timing":
        monkeypatch.setattr(module, "wait_for", lambda device: events.append("wait"))
        module.seconds_until_done(lambda: events.append("work"), None)
    else:
        module.seconds_to_copy(lambda: events.append("work"), lambda: events.append("wait"))
    assert events == ["wait", "clock", "work", "wait", "clock"]


def test_a_product_is_timed_from_wait_to_wait_once_warm(monkeypatch: pytest.MonkeyPatch) -> None:
    """One product that no clock sees, then: wait, clock, product, wait, clock; the clock's 1, 4, 9, 16 s make 3 and 7 s."""
    module: Any = imported("matmul_timing")
    events: list[str] = []
    readings = iter([1.0, 4.0, 9.0, 16.0])

    class Matrix:
        device = None

        def __matmul__(self, other: object) -> None:
            events.append("product")

    def clock() -> float:
        events.append("clock")
        return next(readings)

    monkeypatch.setattr("time.perf_counter", clock)
    monkeypatch.setattr(module, "ROUNDS", 2)
    monkeypatch.setattr(module, "wait_for", lambda device: events.append("wait"))
    assert module.seconds(Matrix(), Matrix()) == [3.0, 7.0]
    assert events == ["product", *["wait", "clock", "product", "wait", "clock"] * 2]


def test_a_product_is_waited_for_on_a_gpu_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    module: Any = imported("matmul_timing")
    waited: list[torch.device] = []
    monkeypatch.setattr(torch.cuda, "synchronize", waited.append)
    for name in ("cpu", "cuda:1"):
        module.wait_for(torch.device(name))
    assert waited == [torch.device("cuda:1")]


def test_what_is_told_of_a_product(capsys: pytest.CaptureFixture[str]) -> None:
    """2·1000³ FLOP in 10 ms, the median of 10, 8 and 50 ms, are 200 GFLOP/s."""
    module: Any = imported("matmul_timing")
    assert module.tell("CPU", 1000, [10e-3, 8e-3, 50e-3]) == 10e-3
    assert capsys.readouterr().out == "CPU: 10.000 ms, median of 3 (8.000 to 50.000), 200.0 GFLOP/s\n"


@pytest.mark.parametrize("size", [1, 2, 100, 1024])
def test_a_product_that_is_wrong_is_seen(size: int) -> None:
    """One is that rounds as TF32 does: to 10 bits after the first, here only those of b."""
    module: Any = imported("matmul_timing")
    random = torch.Generator().manual_seed(size)
    a, b = (torch.randn(size, size, generator=random) for _ in range(2))
    module.check(a, b)

    class Rounded(torch.Tensor):
        def __matmul__(self, other: Any) -> torch.Tensor:
            plain: torch.Tensor = self.as_subclass(torch.Tensor)
            if plain.dtype == torch.float32:
                other = (other.view(torch.int32) & -0x2000).view(torch.float32)
            return torch.matmul(plain, other)

    with pytest.raises(SystemExit, match="a @ b must be right to"):
        module.check(a.as_subclass(Rounded), b)


@pytest.mark.parametrize("size", ["0", "-1", "16385", "1.5", "big"])
def test_a_size_that_cannot_be_is_refused(size: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", ["matmul_timing.py", f"--size={size}"])
    with pytest.raises(SystemExit) as ended:
        imported("matmul_timing").main()
    assert ended.value.code == 2
    assert capsys.readouterr().err.endswith(f"argument --size: must be a whole number from 1 to 16384, got '{size}'\n")


def test_a_wrapped_module_that_differs_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that sees half of the batch, and one whose weights are other."""
    module: Any = imported("data_parallel")
    wrap = module.on_all_gpus

    def another(net: torch.nn.Module) -> torch.nn.Module:
        with torch.no_grad():
            next(net.parameters()).add_(1e-3)
        wrapped: torch.nn.Module = wrap(net)
        return wrapped

    monkeypatch.setattr(module, "on_all_gpus", another)
    with pytest.raises(SystemExit, match="wrapped and plain must give the same, got a difference of"):
        module.main()
    monkeypatch.setattr(module, "watch", lambda layer: [("cpu", 64)])
    with pytest.raises(SystemExit, match="each sample must be computed once"):
        module.main()


def test_the_fit_finds_the_pipe_that_made_the_times() -> None:
    """10 µs and 12 GB/s by construction: t = 10e-6 + n / 12e9."""
    module: Any = imported("pipe_bandwidth")
    latency, bandwidth = module.fit_pipe([1e3, 1e5, 1e7], [10e-6 + n / 12e9 for n in (1e3, 1e5, 1e7)])
    assert (latency, bandwidth) == (pytest.approx(10e-6, rel=1e-9), pytest.approx(12e9, rel=1e-9))


RESULT = re.compile(
    r"\d[\d.,]*\s?(?:[nµm]?s|[KMGT]i?B/s|[MGTP]?FLOP(?:/s)?|%|×)(?!\w)|\btwice as\b|\b(?:slow|fast|long|quick|few|larg|small)er\b[^.]*?\bthan\b"
)


def results(source: str) -> list[str]:
    """What the comments and docstrings of a listing say that was measured or computed: nothing holds it to the model."""
    comments = [t.string for t in tokenize.generate_tokens(io.StringIO(source).readline) if t.type == tokenize.COMMENT]
    described = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)]
    texts = [*comments, *(ast.get_docstring(node) or "" for node in described)]
    return [found[0] for words in texts for found in RESULT.finditer(words)]


@pytest.mark.parametrize("name", EXPECTED)
def test_a_listing_states_no_result(name: str) -> None:
    assert results((CODE / name).read_text(encoding="utf-8")) == []


def test_a_result_in_a_listing_is_seen() -> None:
    planted = '"""Around, in 61 ms."""\n\n\ndef f():\n    """Is faster, on a server, than g."""\n    return 5  # 4.5× what g takes, twice as fast\n'
    assert results(planted) == ["4.5×", "twice as", "61 ms", "faster, on a server, than"]
