"""Words that stand in the Python of figures and labs: axes, legends, notes, bars, badges. None holds a number that was typed.

A drawing is made of computed values, so that a number in its labels is one too: put there by the code, not written into a text.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from macros import naked, text
from macros.fingerprint import ROOT
from macros.prose import OTHER
from macros.scan import OPEN, Fault, scan_literal

FOLDER = "macros/figures"
LABS = "macros/labs.py"
# What can't be a number is not read, which is most of it: names of the book and of roles, keys, formats.
_NAME = re.compile(r"[a-z_][\w.-]*|<.*>", re.DOTALL)
PERHAPS = re.compile(
    rf"\d|[^\x00-\x7f–—’“”·]|(?:{'|'.join(text.WORDS)}|twi|thri|hal|doubl|tripl|quarter|third|fold|dozen|magnitude|per\s?cent)",
    re.IGNORECASE,
)
_PLAIN = re.compile(rf"{re.escape(OPEN)}\s*plain\(")
_SILENT_CALLS = {"Code", "match", "fullmatch", "search", "sub", "split", "findall", "startswith"}  # code, and patterns


def files(root: Path = ROOT) -> list[str]:
    """The modules whose words are shown."""
    return [*sorted(f"{FOLDER}/{path.name}" for path in (root / FOLDER).glob("*.py")), LABS]


def check_labels(root: Path = ROOT) -> Iterator[Fault]:
    """Every number that is typed into a text of a figure or a lab. A text with calls is read where it is said."""
    for file in files(root):
        if (root / file).exists():
            yield from typed(file, (root / file).read_text(encoding="utf-8"))


@lru_cache(maxsize=64)
def typed(file: str, source: str) -> tuple[Fault, ...]:
    """The numbers in the texts of one module."""
    found: list[Fault] = []
    for node, words in texts(ast.parse(source)):
        if _NAME.fullmatch(words) or not PERHAPS.search(words):
            continue
        line, column = node.lineno, node.col_offset + 1
        if OPEN in words and isinstance(node, ast.Constant):  # read where it is said; only what it exempts would pass there
            if _PLAIN.search(words):
                message = "an exemption in Python, where no pin holds it: give the number a name, and quote it"
                found.append(Fault(file, line, column, message, "unbound"))
            continue
        shown = scan_literal(file, words).prose.text if OPEN in words else words
        for finding in naked.findings(shown):
            if "comparison" not in finding.rule and finding.rule not in naked.AT_A_CALL:
                cure = "compute it from the book, as text.show(value(name), unit) does"
                found.append(Fault(file, line, column, f"{finding.rule} in a label: {finding.text}; {cure}", "unbound"))
    return tuple(found)


def texts(tree: ast.Module) -> Iterator[tuple[ast.Constant | ast.JoinedStr, str]]:
    """The texts of a module that may be shown, without docstrings, names, keys, errors and code. What is computed stands as a mark."""
    silent: set[int] = set()
    nodes = [*ast.walk(tree)]
    for node in nodes:
        match node:
            case ast.Expr(value=ast.Constant()):
                silent.add(id(node.value))
            case ast.JoinedStr():
                silent |= {id(part) for part in node.values}
            case ast.FormattedValue(format_spec=spec) if spec:
                silent.add(id(spec))
            case ast.Subscript():
                silent.add(id(node.slice))
            case ast.Dict(keys=keys, values=values) if values and all(
                isinstance(v, ast.Constant) and isinstance(v.value, str) for v in values
            ):
                silent |= {id(key) for key in keys}  # from names to words
            case ast.Raise():
                silent |= {id(part) for part in ast.walk(node)}
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=args) if name in _SILENT_CALLS:
                silent |= {id(part) for argument in args for part in ast.walk(argument)}
    for node in nodes:
        if id(node) in silent:
            continue
        if isinstance(node, ast.JoinedStr):
            yield node, "".join(str(part.value) if isinstance(part, ast.Constant) else OTHER for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node, node.value
