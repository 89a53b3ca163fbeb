"""The published measurements under docs/records/published/: a table a file, and in sources.json where each is from and its digest.

They are others' figures, typed in once. A file that no longer has the digest of its entry is refused: who changes a figure must say so there.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType

from macros.records import FOLDER, RecordError
from perfmodel.sources import Source

PATH = FOLDER / "published"
Row = Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class Published:
    """One table: its rows as text, as they were printed, where it is from, how it got here, and whether all of it was held against the source."""

    name: str
    rows: tuple[Row, ...]
    source: Source
    hardware: str
    entered: str
    compared: bool


def digest(content: bytes, entry: Mapping[str, object]) -> str:
    """The digest of a file of figures and of its entry, but for the digest in there; whatever the line ends of the checkout."""
    said = json.dumps({key: value for key, value in entry.items() if key != "sha256"}, sort_keys=True)
    return hashlib.sha256(content.replace(b"\r\n", b"\n") + said.encode()).hexdigest()


def read(folder: Path, name: str) -> Published:
    """A table of a folder. Raises RecordError for one that is missing, has no entry, or was changed after it was entered."""
    try:
        entry = json.loads((folder / "sources.json").read_text(encoding="utf-8"))[name]
        content = (folder / f"{name}.csv").read_bytes()
    except (OSError, ValueError, KeyError) as error:
        raise RecordError(
            f"docs/records/published/{name}.csv must be there, and have an entry in sources.json ({error!r})"
        ) from error
    if entry["sha256"] != (now := digest(content, entry)):
        raise RecordError(
            f"docs/records/published/{name}.csv was changed after it was entered, or its entry in sources.json was: take the change back, or "
            f"hold both against the source, say so in the entry, and put the new sha256 there, {now}"
        )
    rows = tuple(MappingProxyType(row) for row in csv.DictReader(io.StringIO(content.decode("utf-8"))))
    source = Source(**{key: entry.get(key, "") for key in ("title", "authors", "url", "licence", "place")})
    return Published(
        name=name, rows=rows, source=source, hardware=entry["hardware"], entered=entry["entered"], compared=entry["compared"]
    )


@lru_cache(maxsize=64)
def table(name: str) -> Published:
    """A table of this project. Raises as `read` does."""
    return read(PATH, name)


def names(folder: Path = PATH) -> list[str]:
    """All tables that have an entry, in its order."""
    return list(json.loads((folder / "sources.json").read_text(encoding="utf-8")))


def changed(folder: Path = PATH) -> list[tuple[str, str]]:
    """The files that are refused, each with the reason."""
    found = []
    for name in names(folder):
        try:
            read(folder, name)
        except RecordError as error:
            path, _, why = str(error).partition(" ")
            found.append((path, why))
    return found
