"""A hash of all that the build and the checks read, so that a verification can be told to belong to this checkout or to another."""

from __future__ import annotations

import hashlib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("perfmodel", "macros", "docs", "verify", ".github", ".ci")
MADE = ("verification.json", "bench.json")  # beside them, by the checks themselves


def files(root: Path = ROOT) -> list[Path]:
    """Every file of the sources: those in the folders, and the guides, settings and requirements beside them. No name that begins with a dot
    is read by a check, nor is a cache."""
    within = [p for folder in FOLDERS for p in (root / folder).rglob("*") if not _passed_over(p.relative_to(root / folder))]
    beside = [p for p in root.glob("*") if p.name not in MADE and not _passed_over(p.relative_to(root))]
    return sorted(p for p in (*within, *beside) if p.is_file())


def _passed_over(path: Path) -> bool:
    return any(part.startswith(".") or part == "__pycache__" for part in path.parts)


def sources(root: Path = ROOT) -> str:
    """The hash of the sources, in hexadecimal: the same for equal files, whatever their dates and wherever they lie."""
    digest = hashlib.sha256()
    for path in files(root):
        digest.update(path.relative_to(root).as_posix().encode() + b"\0")
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()
