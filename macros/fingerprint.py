"""A hash of all that the build and the checks read, so that a verification can be told to belong to this checkout or to another."""

from __future__ import annotations

import hashlib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("perfmodel", "macros", "docs", "verify")
FILES = ("mkdocs.yml", "requirements.txt", "requirements.lock", "pyproject.toml", "Makefile")
SUFFIXES = {".py", ".md", ".csv", ".json", ".js", ".css", ".yml", ".txt", ".toml", ".html", ".svg", ""}


def sources(root: Path = ROOT) -> str:
    """The hash of the sources, in hexadecimal: the same for equal files, whatever their dates and wherever they lie."""
    digest = hashlib.sha256()
    files = [
        p
        for folder in FOLDERS
        for p in (root / folder).rglob("*")
        if p.is_file() and p.suffix in SUFFIXES and "__pycache__" not in p.parts
    ]
    for path in sorted([*files, *(root / name for name in FILES)]):
        if path.exists():
            digest.update(path.relative_to(root).as_posix().encode() + b"\0")
            digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()
