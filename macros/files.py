"""What lies under `docs/`, before anyone reads it: what would make the site that is built another than the one that was checked.

MkDocs follows links, in circles too, and copies what it does not know as it is. The audit reads files that end in .md, and follows nothing.
What the two would see otherwise is refused here, and so is what a browser runs, or a host goes by, and no check reads.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from xml.parsers import expat

from macros import naked
from macros.scan import Fault, source_of
from macros.structure import ACTIVE_ATTRIBUTES, ACTIVE_TAGS

_ENDINGS = (".md", ".svg", ".png", ".jpg", ".jpeg", ".gif", ".webp", ".txt")
_MORE = {
    "assets": (".css", ".js"),
    "code": (".py",),
    "records": (".json", ".csv"),
}  # what the maintainers put there besides
# In a drawing: what a browser would take for a page, and what leads elsewhere.
_PAGES = "http://www.w3.org/1999/xhtml"
_ADDRESSES = {"href", "src", "base", "ping"}
_WITHIN = re.compile(r"#.*|data:image/(?:png|jpeg|gif|webp)[;,].*", re.IGNORECASE | re.DOTALL)
_FETCHES = re.compile(r"(?:url|src|image-set)\(\s*+(?![\"']?#)|\\", re.IGNORECASE)  # as CSS has it, whose escapes begin with \


def hidden(name: str) -> bool:
    """Whether MkDocs leaves a file or folder of this name out, by itself or by mkdocs.yml: what editors and systems put beside a page."""
    return name.startswith(".") or any(fnmatchcase(name, pattern) for pattern in ("*~", "#*#"))


def pages_of(docs: Path) -> dict[str, Path]:
    """Every Markdown page under `docs`, by the path a message names. What comes with a vendored file is no page."""
    files = {p.relative_to(docs): p for p in sorted(docs.rglob("*.md")) if p.is_file() and not p.is_symlink()}
    return {
        f"{docs.name}/{name.as_posix()}": p
        for name, p in files.items()
        if name.parts[:2] != ("assets", "vendor") and not any(hidden(part) for part in name.parts)
    }


def check_files(docs: Path) -> Iterator[Fault]:
    """Everything under `docs` that is no plain file or folder, that no check reads, or that a browser would run."""
    for folder, folders, files in os.walk(docs):
        folders[:] = sorted(name for name in folders if not hidden(name) and name != "__pycache__")
        for path in sorted(Path(folder, name) for name in [*folders, *files] if not hidden(name)):
            name = f"{docs.name}/{path.relative_to(docs).as_posix()}"
            wrong = _wrong(path, docs)
            if wrong:
                yield Fault(name if name.isprintable() else ascii(name)[1:-1], 1, 1, wrong)
            elif path.suffix == ".svg":
                yield from _Drawing(name, source_of(path)).faults


def _wrong(path: Path, docs: Path) -> str:
    """What is wrong with a file or folder, "" when nothing is."""
    if not path.name.isprintable():  # one that is no UTF-8 is not
        return "a name is made of characters that can be shown, in UTF-8: rename it"
    if path.is_symlink():
        return "what is published lies under docs/ itself: put the file here in place of a link to it"
    if path.name.startswith("_"):
        return f"a name that begins with _ means something of its own to some hosts, got {path.name}: rename it"
    if path.is_dir():
        return ""
    if not path.is_file():
        return "neither a file nor a folder: move it away"
    if not os.access(path, os.R_OK):
        return "this file cannot be read: give leave to read it"
    place = path.relative_to(docs).parts[0]
    endings = (*_ENDINGS, *_MORE.get(place, ()))
    if path.suffix not in endings:
        known = next((f"; {path.suffix} only under docs/{folder}/" for folder, more in _MORE.items() if path.suffix in more), "")
        return f"a name here ends in {', '.join(endings)}, in small letters{known}; got {path.suffix or 'none of them'}: rename it, or take it out"
    if "." in path.stem and place != "assets":
        return f"a name has one ending, or a server may go by another than the last, got {path.name}: rename it"
    return ""


class _Drawing:
    """What an SVG holds besides a drawing, in `faults`. It is read as browsers read it, as XML: by names, whatever their prefix."""

    def __init__(self, path: str, source: str | None) -> None:
        self.path = path
        self.faults: list[Fault] = []
        self._text: tuple[int, int, list[str]] | None = None
        self._parser = expat.ParserCreate("utf-8", namespace_separator=" ")
        self._parser.XmlDeclHandler = self._declaration
        self._parser.StartDoctypeDeclHandler = self._doctype
        self._parser.ProcessingInstructionHandler = self._instruction
        self._parser.StartElementHandler = self._element
        self._parser.CharacterDataHandler = self._words
        self._parser.EndElementHandler = self._read
        if source is None:
            self.faults.append(Fault(path, 1, 1, "this drawing is not saved as UTF-8: save it again with that encoding"))
            return
        try:
            self._parser.Parse(source.encode(), True)
        except expat.ExpatError as error:
            words = f"an SVG is XML, and this is not: {expat.ErrorString(error.code)}; save it again with a program that draws"
            self.faults.append(Fault(path, error.lineno, error.offset + 1, words))
        except _Doctype:
            self._say("a drawing has no <!DOCTYPE>: take it out")

    def _say(self, words: str) -> None:
        self.faults.append(Fault(self.path, self._parser.CurrentLineNumber, self._parser.CurrentColumnNumber + 1, words))

    def _active(self, what: str) -> None:
        self._say(f"a drawing holds no script, style sheet or page, got {what}: take it out")

    def _declaration(self, version: str, encoding: str | None, standalone: int) -> None:
        if encoding and encoding.lower() != "utf-8":
            self._say(f'a drawing is saved as UTF-8 and says so, got encoding="{encoding}": write encoding="UTF-8"')

    def _doctype(self, *_: object) -> None:
        raise _Doctype  # before its entities are read

    def _instruction(self, target: str, data: str) -> None:
        self._active(f"<?{target}?>")

    def _words(self, words: str) -> None:
        self._text = self._text or (self._parser.CurrentLineNumber, self._parser.CurrentColumnNumber + 1, [])
        self._text[2].append(words)

    def _read(self, *_: object) -> None:
        """What was written since the last tag, which comes in pieces."""
        line, column, words = self._text or (1, 1, [])
        for finding in naked.findings("".join(words)):
            cure = "take it out, or have macros/drawings.py make the drawing"
            self.faults.append(
                Fault(self.path, line, column, f"{finding.rule} in a drawing, where nothing holds it: {finding.text}; {cure}")
            )
        self._text = None

    def _element(self, name: str, attributes: Mapping[str, str]) -> None:
        self._read()
        space, _, local = name.rpartition(" ")
        if space == _PAGES or local.lower() in ACTIVE_TAGS | {"foreignobject"}:
            self._active(f"<{local}>")
        for key, value in attributes.items():
            space, _, local = key.rpartition(" ")
            # An animation sets the attribute that it names.
            animated = value.strip().rpartition(":")[2].lower() if local.lower() == "attributename" else ""
            if ACTIVE_ATTRIBUTES.fullmatch(local):
                self._active(f"{local}=")
            elif animated in _ADDRESSES or ACTIVE_ATTRIBUTES.fullmatch(animated):
                self._say(f'a drawing animates no address, style or script, got {local}="{value}": take it out')
            elif (local.lower() in _ADDRESSES and not _WITHIN.fullmatch(value)) or (not space and _FETCHES.search(value)):
                self._say(
                    f"an address in a drawing is #… within it, or data:image/… of a picture, got {local}={value[:60]!r}: take it out"
                )


class _Doctype(Exception):
    """A drawing brings a document type, which can bring entities."""
