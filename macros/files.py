"""What lies under `docs/`, before anyone reads it: what would make the site that is built another than the one that was checked.

MkDocs follows links, in circles too, takes five endings for Markdown and copies all else as it is. The audit reads files that end in .md, and
follows nothing. What the two would see otherwise is refused here, and so is what a browser runs and no check reads.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from macros.scan import Fault, scan_literal, source_of
from macros.structure import ACTIVE

# As MkDocs has them, in small letters only.
_MARKDOWN = {".md", ".markdown", ".mdown", ".mkdn", ".mkd"}
_HTML = {".html", ".htm", ".xhtml"}


def hidden(name: str) -> bool:
    """Whether MkDocs leaves a file or folder of this name out: what editors and systems put beside a page, an unsaved page's lock too."""
    return name.startswith(".")


def pages_of(docs: Path) -> dict[str, Path]:
    """Every Markdown page under `docs`, by the path a message names. What comes with a vendored file is no page."""
    files = {p.relative_to(docs): p for p in sorted(docs.rglob("*.md")) if p.is_file() and not p.is_symlink()}
    return {
        f"{docs.name}/{name.as_posix()}": p
        for name, p in files.items()
        if name.parts[:2] != ("assets", "vendor") and not any(hidden(part) for part in name.parts)
    }


def check_files(docs: Path) -> Iterator[Fault]:
    """Everything under `docs` that is no plain file or folder, that MkDocs and the audit would take for two things, or that a browser would run."""
    for folder, folders, files in os.walk(docs):
        folders[:] = sorted(name for name in folders if not hidden(name) and name != "__pycache__")
        for path in sorted(Path(folder, name) for name in [*folders, *files] if not hidden(name)):
            name = f"{docs.name}/{path.relative_to(docs).as_posix()}"
            wrong = _wrong(path)
            if wrong:
                yield Fault(name if name.isprintable() else ascii(name)[1:-1], 1, 1, wrong)
            elif path.suffix.lower() == ".svg" and (found := ACTIVE.search(drawn := source_of(path) or "")):
                yield scan_literal(name, drawn).fault(found.start(), "a drawing holds no script")


def _wrong(path: Path) -> str:
    """What is wrong with a file or folder, "" when nothing is."""
    if not path.name.isprintable():  # one that is no UTF-8 is not
        return "a name is made of characters that can be shown, in UTF-8: rename it"
    if path.is_symlink():
        return "what is published lies under docs/ itself: put the file here in place of a link to it"
    if path.is_dir():
        return ""
    if not path.is_file():
        return "neither a file nor a folder: move it away"
    if not os.access(path, os.R_OK):
        return "this file cannot be read: give leave to read it"
    ending = path.suffix.lower()
    if ending in _HTML:
        return "a page is written in Markdown, or no check reads it"
    if ending in _MARKDOWN and path.suffix != ".md":
        return f"a page's name ends in .md, in small letters, got {path.suffix}"
    return ""
