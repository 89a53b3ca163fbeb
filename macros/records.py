"""Records: what a training run showed, kept in `docs/records/` under the hash of the code that made it.

A build reads the record; it trains nothing as long as the code is the same. When the code has changed, or the file is torn or
was edited by hand, the run is made again and the file rewritten. `python -m macros.records` makes every record again.

Only the standard library is needed to read a record; torch or NumPy only to make one.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import os
import platform
import re
import shutil
import sys
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from macros.fingerprint import ROOT

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

FOLDER = ROOT / "docs" / "records"


class RecordError(ValueError):
    """A record that cannot be used: the message says why and what to do."""


class Maker(NamedTuple):
    """What makes a record: a module whose `record()` returns plain lists and numbers, the words for the reader, the library it needs."""

    module: str
    what: str
    library: str = "torch"

    @property
    def folder(self) -> str:
        """The folder of the package whose code makes it, from the root of the project."""
        return self.module.rpartition(".")[0].replace(".", "/")


MAKERS: Mapping[str, Maker] = MappingProxyType(
    {
        "lockstep": Maker(
            "perfmodel.lockstep.shown",
            "the XOR network trained on one replica, on several in lockstep, and on several with a fault",
        ),
        "lost": Maker("perfmodel.lockstep.lost", "the same over two processes, one of which is killed and the group restarted"),
        "noise": Maker("perfmodel.noise.shown", "the noise of a batch's gradient by its size, and averages over shards", "numpy"),
    }
)


@dataclass(frozen=True, kw_only=True)
class Record:
    """One finished run. `code` is the hash of the code that made it, `digest` that of all the rest; the library is torch or numpy."""

    what: str
    date: str
    device: str
    machine: str
    code: str
    digest: str = ""
    results: dict[str, Any]
    torch: str = ""
    numpy: str = ""

    def __post_init__(self) -> None:
        if bool(self.torch) == bool(self.numpy):
            raise ValueError(f"a record must name one library, torch or numpy; got {self.torch!r} and {self.numpy!r}")

    @property
    def sealed(self) -> Record:
        """This record with the digest of all that pages show: its date and its machine too. `code` is held against the code itself."""
        return replace(self, digest=digest({k: v for k, v in asdict(self).items() if k not in ("digest", "code")}))

    @property
    def made_with(self) -> str:
        """The library and its version, as a reader knows them."""
        return f"PyTorch {self.torch}" if self.torch else f"NumPy {self.numpy}"


def load(name: str, *, folder: Path = FOLDER, root: Path = ROOT) -> Record:
    """The record `name`: the stored one while it is whole and made by the code of this checkout, else a new one, stored.

    Raises RecordError (a ValueError) for a name that no maker has, and for a record that must be made again where torch, or what
    else makes it, is not installed.

    >>> load("lockstep").results["batch"]
    13
    """
    why = trouble(name, folder=folder, root=root)
    if not why:
        return read(folder / f"{name}.json")
    print(f"{name}.json {why}: making it again", file=sys.stderr)
    return make(name, why=why, folder=folder, root=root)


def trouble(name: str, *, folder: Path = FOLDER, root: Path = ROOT) -> str:
    """Why the record `name` is to be made again, "" while it is whole and made by the code of this checkout."""
    maker = _maker(name)
    try:
        record = read(folder / f"{name}.json")
    except FileNotFoundError:
        return "does not exist"
    except RecordError as error:
        return str(error)
    return "" if record.code == code_hash(root / maker.folder) else f"was made by another version of {maker.folder}"


def make(name: str, *, why: str = "is to be made again", folder: Path = FOLDER, root: Path = ROOT) -> Record:
    """Run the maker of `name` and store what it shows. Raises RecordError, which repeats `why`, when its library is not installed."""
    maker = _maker(name)
    try:
        module = importlib.import_module(maker.module)
        library = importlib.import_module(maker.library)
    except ModuleNotFoundError as error:
        if error.name != maker.library:
            raise
        raise RecordError(
            f"{name}.json {why}, and {maker.library}, which makes it, is not installed: run `pip install -r requirements.txt`"
        ) from error
    results = json.loads(json.dumps(module.record()))  # as it will be read: text keys, no tuples
    record = Record(
        what=maker.what,
        date=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        device="cpu",
        machine=f"{platform.machine()}, {os.cpu_count()} CPUs",
        code=code_hash(root / maker.folder),
        results=results,
        **{maker.library: str(library.__version__)},
    ).sealed
    write(record, folder / f"{name}.json")
    return record


def read(path: Path) -> Record:
    """The record in a file. Raises RecordError for one that is torn or was changed after it was made, OSError without a file."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        record = Record(**content)
    except (ValueError, TypeError) as error:  # no JSON, no UTF-8; no object, keys that are missing or unknown
        raise RecordError(f"is torn ({error})") from error
    if record != record.sealed:
        raise RecordError("was changed after the run that made it")
    return record


def write(record: DataclassInstance, path: Path) -> None:
    """Store a record so that a reader sees the old file or the new one, never a part."""
    text = json.dumps(asdict(record), indent=1, ensure_ascii=False, allow_nan=False)
    text = re.sub(r"\[([^\[\]{}\"]*)\]", lambda found: f"[{' '.join(found[1].split())}]", text)  # one line a list
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, text + "\n")


def write_whole(path: Path, text: str, newline: str = "\n") -> None:
    """Write a file so that it holds what it held or the new text, never a part. Raises OSError; then it holds what it held."""
    new = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        new.write_text(text, encoding="utf-8", newline=newline)
        if path.exists():
            shutil.copymode(path, new)
        os.replace(new, path)
    finally:
        new.unlink(missing_ok=True)


def code_hash(folder: Path) -> str:
    """The hash of the source files of a package."""
    return hash_of(folder.glob("*.py"), folder)


def hash_of(files: Iterable[Path], root: Path) -> str:
    """The hash of some files below `root`: their names and texts, whatever their order and the line ends of the checkout."""
    code = hashlib.sha256()
    for path in sorted(files):
        text = path.read_text(encoding="utf-8")
        code.update(f"{path.relative_to(root).as_posix()}\n{len(text)}\n{text}".encode())
    return code.hexdigest()


def digest(results: object) -> str:
    """The hash of results, in hexadecimal: equal for equal numbers, whatever the spacing and the order of keys."""
    return hashlib.sha256(json.dumps(results, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def _maker(name: str) -> Maker:
    if name not in MAKERS:
        raise RecordError(f"a record is one of {', '.join(MAKERS)}; got {name!r}")
    return MAKERS[name]


def main(names: list[str]) -> int:
    """Make the named records again, or all of them."""
    for name in names or list(MAKERS):
        record = make(name)
        print(f"{name}: {record.date}, {record.made_with}, {record.machine}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
