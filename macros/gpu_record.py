"""The record of a run on a GPU, docs/records/cuda.json: `python -m verify.cuda` writes it, the build reads it.

No build can make it again, as it does those of `records.py`: it is carried here from a machine with a GPU. So a torn or edited
one is refused, and one that other code made is shown and called stale. Only the standard library is needed.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from macros.fingerprint import ROOT
from macros.records import FOLDER, RecordError, digest, hash_of

PATH = FOLDER / "cuda.json"
WHAT = "what one GPU does, measured"
CODE = ("verify/cuda.py", "verify/gpu.py", "perfmodel/lockstep/*.py")
"""What makes the record. Its predictions are none of it: the build makes those itself."""
CURE = "run make cuda on a machine with a GPU"


@dataclass(frozen=True, kw_only=True)
class DeviceRecord:
    """A run on a device, finished or not: on a GPU, or on a CPU (`cpu_record`). `code` is the hash of the code that made it, `digest` that of everything else here."""

    what: str
    date: str
    environment: dict[str, Any]
    code: str
    digest: str
    sections: dict[str, Any]

    @property
    def device(self) -> str:
        """The GPU or the CPU, by the name that its driver or its system gives it."""
        return str(self.environment.get("device", "a device without a name"))

    @property
    def day(self) -> str:
        """The date without the time."""
        return self.date.partition(" ")[0]


def sealed(*, date: str, environment: dict[str, Any], sections: dict[str, Any], code: str, what: str = WHAT) -> DeviceRecord:
    """A record of this content, as it will be read: text keys, no tuples. Raises ValueError for a number that is not finite."""
    plain = json.loads(json.dumps({"date": date, "environment": environment, "code": code, "sections": sections}, allow_nan=False))
    return DeviceRecord(what=what, digest=digest(plain), **plain)


def read(path: Path, cure: str = CURE) -> DeviceRecord | None:
    """The record in a file; None where there is no file. Raises RecordError for one that is torn or was changed after it was made."""
    try:
        record = DeviceRecord(**json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return None
    except (ValueError, TypeError) as error:  # no JSON, no UTF-8; no object, keys that are missing or unknown
        raise RecordError(f"docs/records/{path.name} is torn ({error}): take the whole file again, or delete it") from error
    plain = {"date": record.date, "environment": record.environment, "code": record.code, "sections": record.sections}
    if record.digest != digest(plain) or not (isinstance(record.environment, dict) and isinstance(record.sections, dict)):
        raise RecordError(f"docs/records/{path.name} was changed after the run that made it: take the file again, or {cure}")
    return record


def code_hash(root: Path = ROOT, made_by: Sequence[str] = CODE) -> str:
    """The hash of the files that make the record."""
    return hash_of((path for pattern in made_by for path in root.glob(pattern)), root)


def last(path: Path) -> str:
    """The last run on a GPU in words: its device and its date, "none", or "not readable"."""
    try:
        record = read(path)
    except RecordError:
        return "not readable"
    return f"{record.device}, {record.day}" if record else "none"
