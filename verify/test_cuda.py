"""The CUDA leg: `make cuda` as it is run, on a machine that has a GPU. Its parts are tested without one in test_cuda_parts.py."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import torch

from macros import gpu_record
from verify import cuda
from verify.checkout import ROOT


def test_every_section_on_this_gpu(tmp_path: Path) -> None:
    if not torch.cuda.is_available():
        pytest.skip(f"no CUDA device; last record: {gpu_record.last(gpu_record.PATH)}; {gpu_record.CURE}")
    out = tmp_path / "cuda.json"
    done = subprocess.run(
        [sys.executable, "-m", "verify.cuda", "--out", str(out)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    record = gpu_record.read(out)
    assert record is not None
    assert record.code == gpu_record.code_hash()
    assert list(record.sections) == list(cuda.SECTIONS)
    assert cuda.wrong(record.sections) == []
    for name, section in record.sections.items():
        assert "not_run" not in section, name  # a slow or small GPU may leave some sizes out, but no section
    seconds = sum(section["seconds"] for section in record.sections.values())
    assert seconds < 300
    lockstep = record.sections["lockstep"]
    assert [row["k"] for row in lockstep["in_process"]] == [1, 2, 4, 8, 1, 2, 4, 8]
    assert len(lockstep["gloo"]) == 5
    assert all(record.sections[name]["rows"] for name in ("copies", "memory", "matmul"))
    assert all(
        row["measured"]["median"] > 0
        for name in ("copies", "memory", "matmul")
        for row in record.sections[name]["rows"]
    )  # fmt: skip
    for name in ("queue", "overlap"):
        assert record.sections[name]["sizes"]
        assert all(row["measured"]["median"] > 0 for size in record.sections[name]["sizes"] for row in size["rows"])
    ran = [row for row in record.sections["programs"]["rows"] if "not_run" not in row]
    assert {"eager", "CUDA graph", "torch.jit.script"} <= {row["program"] for row in ran}
    assert all(row["difference"] < 1e-5 for row in ran)
