"""The record of matrix products on a CPU, docs/records/matmul.json: `make measure` writes it, the build reads it.

It has the form of the record of a GPU and is held to the same rules: none is made by a build, a torn or edited one is refused, and
one that other code made is shown and called stale.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from macros import gpu_record
from macros.fingerprint import ROOT
from macros.gpu_record import DeviceRecord
from macros.records import FOLDER

PATH = FOLDER / "matmul.json"
WHAT = "products of square matrices on a CPU, measured"
CODE = ("verify/measure.py",)
CURE = "run make measure"


def read() -> DeviceRecord | None:
    """The record of this checkout; None where there is no file. Raises RecordError for one that is torn or was changed."""
    return gpu_record.read(PATH, CURE)


def code_hash(root: Path = ROOT) -> str:
    """The hash of the code that makes the record."""
    return gpu_record.code_hash(root, CODE)


def busy(environment: Mapping[str, Any]) -> bool:
    """Whether other work ran in the minute before: more than a quarter of the CPUs had some.

    >>> busy({"load_before": 0.4, "cpus": 2}), busy({"load_before": 6.3, "cpus": 2})
    (False, True)
    """
    return float(environment["load_before"]) > 0.25 * int(environment["cpus"])
