"""Words that stand in the Python of figures and labs: axes, legends, notes, bars, badges, sentences. None holds a number that was typed.

A drawing is made of computed values, so that a number in its labels is one too: put there by the code, not written into a text.
The views of labs write HTML, so there a reader's words are what is left without tags, paths and the factors of formulas.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from macros import naked, text
from macros.fingerprint import ROOT
from macros.prose import DROP, OTHER, Prose, spoken
from macros.scan import OPEN, Fault, scan_literal

FIGURES, VIEWS = "macros/figures", "macros/views"
# What else writes words on a page: drawings, labs, and what stands around them. Cells of tables come from the figures' modules.
WRITERS = tuple(
    f"macros/{name}.py"
    for name in (
        "code",
        "drawings",
        "embed",
        "gates",
        "labs",
        "measured",
        "pages",
        "reality",
        "render",
        "says",
        "steps",
        "timelines",
    )
)
# What can't be a number is not read, which is most of it: names of the book and of roles, keys, formats; and where an axis begins.
_NAME = re.compile(r"[a-z_][\w.-]*|0")
# A tag, whole or as far as it goes, or some of its attributes; what it says aloud is read.
_TAG = re.compile(r"</?[A-Za-z][^<>]*(?:>|$)|^[^<>]*[\"/]>|(?:(?<!\S)[\w-]+=\"[^\"]*\"\s*)+")
_PATH = re.compile(rf"[MLHV][LHVZmlhvz\d\s.,{OTHER}-]+")
# In the formula of a lab, which is written out beside its result: the 2 of 2·(n−1) and its 1, and the second that is the ladder's unit.
_FACTOR = re.compile(r"(?<![\d.,])2(?=·)|(?<=[a-z]−)1(?=\))|(?<=· )1 s\b")
PERHAPS = re.compile(
    rf"\d|[^\x00-\x7f–—’“”·]|(?:{'|'.join(text.WORDS)}|twi|thri|hal|doubl|tripl|quarter|third|fold|dozen|magnitude|per\s?cent)",
    re.IGNORECASE,
)
_PLAIN = re.compile(rf"{re.escape(OPEN)}\s*plain\(")
# The nodes that hold a text, or by which one is silent.
_TELLING = (ast.Expr, ast.JoinedStr, ast.FormattedValue, ast.Subscript, ast.Dict, ast.Raise, ast.Call, ast.BinOp, ast.Constant)
_SILENT_CALLS = {"Code", "match", "fullmatch", "search", "sub", "split", "findall", "startswith"}  # code, and patterns


def files(root: Path = ROOT) -> list[str]:
    """The modules whose words are shown."""
    return [
        *sorted(path.relative_to(root).as_posix() for folder in (FIGURES, VIEWS) for path in (root / folder).glob("*.py")),
        *WRITERS,
    ]


def check_labels(root: Path = ROOT) -> Iterator[Fault]:
    """Every number that is typed into a text of a figure or a lab. A text with calls is read where it is said."""
    for file in files(root):
        if (root / file).exists():
            yield from typed(file, (root / file).read_text(encoding="utf-8"))


@lru_cache(maxsize=64)
def typed(file: str, source: str) -> tuple[Fault, ...]:
    """The numbers in the texts of one module, and of a figure the comparisons too. What a view of a lab compares, it has computed."""
    found: list[Fault] = []
    compares = file.startswith(FIGURES)
    for node, words in texts(ast.parse(source)):
        if _NAME.fullmatch(words) or not (PERHAPS.search(words) or (compares and " " in words)):
            continue
        line, column = node.lineno, node.col_offset + 1
        if OPEN in words and isinstance(node, ast.Constant):  # read where it is said; only what it exempts would pass there
            if _PLAIN.search(words):
                message = "an exemption in Python, where no pin holds it: give the number a name, and quote it"
                found.append(Fault(file, line, column, message, "unbound"))
            continue
        shown = scan_literal(file, words).prose.text if OPEN in words else _read(words, file.startswith(VIEWS))
        for finding in naked.findings(shown):
            comparison = "comparison" in finding.rule
            counted = shown[: finding.start].rstrip().endswith(OTHER)  # "{ratio} as much as"
            if finding.rule not in naked.AT_A_CALL and (not comparison or (compares and not counted)):
                cure = "compute it from the book, as text.show(value(name), unit) does"
                if comparison:
                    cure = "say it in the title or a sentence, with rel(…)"
                found.append(Fault(file, line, column, f"{finding.rule} in a label: {finding.text}; {cure}", "unbound"))
    return tuple(found)


def _read(words: str, in_a_view: bool) -> str:
    """What a reader sees or hears of a text: no tags, and in a view no paths of a drawing and no factors of a formula."""
    if in_a_view and _PATH.fullmatch(words):
        return ""
    words = _TAG.sub(lambda m: spoken(m[0], 0, Prose()).replace(DROP, "") or " ", words)
    return _FACTOR.sub(OTHER, words) if in_a_view else words


def _joined(node: ast.expr) -> tuple[str, list[ast.expr]] | None:
    """The words of texts that are added up, and the nodes that they stand in; None where no text is among them."""
    match node:
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            parts = [_joined(left), _joined(right)]
            if any(parts):
                return "".join(p[0] if p else OTHER for p in parts), [node, *(part for p in parts if p for part in p[1])]
        case ast.JoinedStr(values=values):
            return "".join(str(part.value) if isinstance(part, ast.Constant) else OTHER for part in values), [node]
        case ast.Constant(value=str() as value):
            return value, [node]
    return None


def texts(tree: ast.Module) -> Iterator[tuple[ast.expr, str]]:
    """The texts of a module that may be shown, without docstrings, names, keys, errors and code. What is computed stands as a mark."""
    silent: set[int] = set()
    nodes = [node for node in ast.walk(tree) if isinstance(node, _TELLING)]
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
        if isinstance(node, ast.BinOp | ast.JoinedStr | ast.Constant) and id(node) not in silent and (found := _joined(node)):
            silent |= {id(part) for part in found[1]}
            yield node, found[0]
