"""The code itself: style, types, and the arrows between the rooms, each with the fault it guards against planted once."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import grimp
import pytest

from verify.checkout import ROOT

BIN = Path(sys.executable).parent
ROOMS = ("perfmodel", "macros", "verify")


def run(*command: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(BIN / command[0]), *command[1:]], cwd=cwd, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    "command",
    [
        ("ruff", "check", "."),
        ("ruff", "format", "--check", "."),
        ("mypy",),
        ("lint-imports", "--no-cache"),
    ],
    ids=["ruff", "format", "mypy", "imports"],
)
def test_clean(command: tuple[str, ...]) -> None:
    done = run(*command)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]


@pytest.mark.parametrize(
    ("file", "line", "contract"),
    [
        ("perfmodel/units.py", "import macros.text", "The rooms"),
        ("perfmodel/kernels.py", "import plotly", "plots nothing"),
        ("perfmodel/streams.py", "import torch", "plots nothing"),
        ("perfmodel/streams.py", "import numpy", "plots nothing"),
        ("perfmodel/lockstep/step.py", "import numpy", "plots nothing"),
        ("perfmodel/noise/network.py", "import torch", "plots nothing"),
        ("perfmodel/book/act1.py", "import selectolax", "plots nothing"),
        ("macros/text.py", "import verify.server", "The rooms"),
        ("macros/quotes.py", "import mkdocs.config", "depends on no build"),
    ],
)
def test_a_forbidden_import_is_refused(tmp_path: Path, file: str, line: str, contract: str) -> None:
    for room in ROOMS:
        shutil.copytree(ROOT / room, tmp_path / room, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    source = (tmp_path / file).read_text(encoding="utf-8")
    (tmp_path / file).write_text(source + f"\n{line}\n", encoding="utf-8")
    done = run("lint-imports", "--no-cache", cwd=tmp_path)
    assert done.returncode == 1, done.stdout[-2000:]
    broken = [row for row in done.stdout.splitlines() if "BROKEN" in row]
    assert any(contract in row for row in broken), broken


def test_whatever_the_other_rooms_import_from_elsewhere_is_forbidden_to_perfmodel() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"]
    (forbidden,) = (contract["forbidden_modules"] for contract in contracts if "plots nothing" in contract["name"])
    graph = grimp.build_graph(*ROOMS, include_external_packages=True, cache_dir=None)
    imported = {module.partition(".")[0] for module in graph.modules}
    assert imported - sys.stdlib_module_names - {*ROOMS, "_typeshed"} == set(forbidden)  # the last one is there for types alone


@pytest.mark.parametrize(
    ("command", "source", "says"),
    [
        (("ruff", "check", "--output-format=concise"), "type Pair = tuple[int, int]\n", "on Python 3.11"),
        (("mypy", "--no-incremental"), "from itertools import batched\n\nbatched([1], 1)\n", 'has no attribute "batched"'),
    ],
    ids=["syntax", "library"],
)
@pytest.mark.full
def test_what_the_oldest_python_lacks_is_refused(tmp_path: Path, command: tuple[str, ...], source: str, says: str) -> None:
    """Python 3.11 is promised, whatever runs the checks; both take what they know of it from pyproject.toml."""
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    (tmp_path / "newer.py").write_text(source, encoding="utf-8")
    done = run(*command, "newer.py", cwd=tmp_path)
    assert done.returncode == 1
    assert says in done.stdout, done.stdout


def test_perfmodel_imports_alone() -> None:
    """A user of the library needs neither torch nor plotly nor mkdocs."""
    code = (
        "import sys, perfmodel, perfmodel.book, perfmodel.collectives, perfmodel.pipeline; "
        "print([m for m in ('torch', 'plotly', 'mkdocs', 'jinja2', 'pint', 'numpy', 'macros') if m in sys.modules])"
    )
    assert run("python", "-c", code).stdout.strip() == "[]"
