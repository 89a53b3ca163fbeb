"""Copies of this project for tests that plant a fault and build for real."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PARTS = (
    "docs",
    "macros",
    "perfmodel",
    "verify/expected",
    "verify/cuda.py",
    "verify/gpu.py",
    "mkdocs.yml",
    "requirements.txt",
    "requirements.lock",
    "pyproject.toml",
    "Makefile",
)


def copy(to: Path) -> Path:
    """What a build needs, copied into `to`."""
    for part in PARTS:
        source = ROOT / part
        if source.is_dir():
            shutil.copytree(source, to / part, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            (to / part).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, to / part)
    return to


def small(to: Path) -> Path:
    """A project of two pages, the ledger and one that quotes from it, with all the code: it builds in a quarter of the time."""
    copy(to)
    for page in sorted((to / "docs").rglob("*.md")):
        if page.name != "numbers.md":
            page.unlink()
    config = to / "mkdocs.yml"
    text = config.read_text(encoding="utf-8")
    text = re.sub(r"^nav:\n(?:  - .*\n)+", "nav:\n  - numbers.md\n", text, flags=re.MULTILINE)
    config.write_text(re.sub(r"^not_in_nav:.*\n(?:  .*\n)+", "", text, flags=re.MULTILINE), encoding="utf-8")
    add_page(to, "index.md")
    return to


def add_page(project: Path, name: str, body: str = 'It takes [= q("60 ms", sync.one_gpu) =].', *, encoding: str = "utf-8") -> Path:
    """A page of a small project, which quotes a number and stands in the menu."""
    page = project / "docs" / name
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_bytes(f"---\ntitle: Probe\ndescription: A page for a test.\n---\n\n# Probe\n\n{body}\n".encode(encoding))
    replace(project / "mkdocs.yml", "\nnav:\n", f"\nnav:\n  - '{name}'\n")
    return page


def replace(path: Path, old: str, new: str) -> int:
    """Replace the one place where `old` stands in a file; returns its line. Raises ValueError unless it is there exactly once."""
    text = path.read_text(encoding="utf-8")
    if text.count(old) != 1:
        raise ValueError(f"a planted fault needs its text exactly once in {path.name}, got {text.count(old)} times: {old!r}")
    path.write_text(text.replace(old, new), encoding="utf-8")
    return text.count("\n", 0, text.index(old)) + 1


def offline(folder: Path) -> dict[str, str]:
    """An environment for `build` in which nothing can be reached: what is asked for is refused, and written to `folder`/asked."""
    (folder / "sitecustomize.py").write_text(
        "import socket\n\n\ndef refuse(*asked, **_):\n"
        f"    with open({str(folder / 'asked')!r}, 'a') as log:\n        print(*asked, file=log)\n"
        "    raise OSError('there is no network here')\n\n\n"
        "socket.getaddrinfo = socket.create_connection = socket.socket.connect = refuse\n",
        encoding="utf-8",
    )
    return {"PYTHONPATH": str(folder)}


def build(
    project: Path, site: Path, *options: str, environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """`mkdocs build --strict` in a project; stdout and stderr together in `stdout`."""
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(site), *options]
    return subprocess.run(
        command,
        cwd=project,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1", **(environment or {})},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
