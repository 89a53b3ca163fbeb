"""Evaluating the calls of pages: names checked first, so that a misspelt one gets the nearest name and not a stack trace."""

from __future__ import annotations

import ast
import difflib
import io
import operator
import re
import tokenize
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from pathlib import Path
from typing import Any

from macros import naked
from macros.calls import INLINE, Piece, current
from macros.fixes import literal
from macros.prose import QUOTE
from macros.quantity import Drift, Quantity, QuoteError, Withheld, groups, near, shown, unknown
from macros.records import RecordError
from macros.scan import Call, Fault, Page, scan_literal
from perfmodel.number import Ledger

_OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
}  # fmt: skip
_EXAMPLES = {
    "q": 'q("60 ms", sync.one_gpu)', "qt": 'qt("60 ms", sync.one_gpu)', "rel": 'rel("slower", sync.cpu, sync.one_gpu)',
    "plain": 'plain("1985", why="a year")', "formula": "formula(sync.one_gpu, numbers=True)", "figure": 'figure("sync-ring")',
    "table": 'table("barriers")', "credit": 'credit("13.7")',
}  # fmt: skip
_CONSTANTS = {"true": True, "false": False, "none": None}  # as Jinja spells them


@lru_cache(maxsize=4096)
def _parsed(expression: str) -> ast.expr:
    return ast.parse(expression.replace("\n", " ").strip(), mode="eval").body


def _as_text(node: ast.expr) -> str:
    """What an author meant by a name without quotes: sync-ring, which reads as a difference."""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ast.unparse(node).replace(" ", "")


class Evaluator:
    """Evaluates the calls of pages against one ledger. `callable_` are the macros it lets them call, `named` the names that some take as text."""

    def __init__(
        self, book: Ledger, callable_: Mapping[str, Callable[..., Any]] = INLINE, named: Mapping[str, Collection[str]] | None = None
    ) -> None:
        self.book = book
        self.named = named or {}
        self.groups = groups(book)
        self.names = [*book.names]
        self.callable = callable_
        self.context: dict[str, Any] = {**self.groups, **callable_}

    def misspelt(self, expression: str) -> str:
        """What is wrong with the names of an expression, "" when all are known. Raises Withheld for one that a refused record would give."""
        tree = _parsed(expression)
        for node in ast.walk(tree):  # from the outside: a.b.c comes before a.b
            if isinstance(node, ast.Attribute):
                name = ast.unparse(node)
                if name not in self.book:
                    _wait(name)
                    return unknown(name, self.names)
            elif isinstance(node, ast.Call) and not (isinstance(node.func, ast.Name) and node.func.id in self.callable):
                name = ast.unparse(node.func)
                return near(f"{name}(…) is not a macro", name, self.callable)
            elif isinstance(node, ast.Name) and node.id not in self.context and node.id not in _CONSTANTS:
                close = difflib.get_close_matches(node.id, [*self.groups, *self.callable, *self.names])
                return f"{node.id} is not a number of the book or a macro" + (f"; did you mean {close[0]}?" if close else "")
        return ""

    def _misnamed(self, macro: str, expression: str) -> str:
        """What is wrong with the names that a figure, a table, a drawing or code is asked for by, "" when nothing is."""
        node = _parsed(expression) if macro in self.named else None
        if not isinstance(node, ast.Call):
            return ""
        for argument in node.args:
            if not isinstance(argument, ast.Constant) or not isinstance(argument.value, str):
                meant = ", ".join(f'"{_as_text(a)}"' for a in node.args)
                return f"put the name in straight quotes: {macro}({meant})"
        known = self.named[macro]
        name = node.args[0].value if node.args else None  # type: ignore[attr-defined]
        return near(f'there is no {macro} "{name}"', str(name), known) if known and name is not None and name not in known else ""

    def _walk(self, node: ast.expr) -> Any:
        """The value of an expression: names, texts, numbers, + - * /, lists and calls, and nothing else that Jinja could do."""
        match node:
            case ast.Constant(value=value):
                return value
            case ast.Name(id=name):
                return _CONSTANTS[name] if name in _CONSTANTS else self.context[name]
            case ast.Attribute(value=ast.Name(id=name), attr=attr):
                return getattr(self.groups[name], attr)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
                sides = self._walk(left), self._walk(right)
                if any(isinstance(side, str | list) for side in sides):  # "a" * 10**10 would fill the memory
                    raise QuoteError(f"{ast.unparse(node)} cannot be calculated: + - * / stand between numbers")
                return _OPERATORS[type(op)](*sides)
            case ast.BinOp():
                raise QuoteError(f"a call combines numbers with + - * / only: {ast.unparse(node)}")
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -self._walk(operand)
            case ast.List(elts=elements) | ast.Tuple(elts=elements):
                return [self._walk(element) for element in elements]
            case ast.Call(func=ast.Name(id=name), args=args, keywords=keywords) if all(k.arg for k in keywords):
                return self.context[name](*map(self._walk, args), **{str(k.arg): self._walk(k.value) for k in keywords})
        raise QuoteError(f"{ast.unparse(node)} cannot stand in a call: it holds names, texts, numbers and + - * /")

    def value(self, expression: str) -> Any:
        """The value of an expression. Raises QuoteError, in an author's words, whatever is wrong with it."""
        try:
            wrong = self.misspelt(expression)
            if wrong:
                raise QuoteError(wrong)
            return self._walk(_parsed(expression))
        except QuoteError:
            raise
        except SyntaxError as error:
            raise QuoteError(f"{expression} cannot be read: {error.msg}") from None
        except Exception as error:
            raise QuoteError(f"{type(error).__name__}: {error}") from error

    def call(self, call: Call) -> Any:
        """Evaluate one call. Raises QuoteError, in an author's words, for whatever is wrong with it."""
        if not call.source:
            raise QuoteError("an empty call: write [= q(…) =] or take it away")
        try:
            wrong = self._misnamed(call.macro, call.source) or self.misspelt(call.source)
        except Withheld:
            raise
        except (SyntaxError, ValueError) as error:
            raise QuoteError(f"[= {call.source} =] cannot be read: {error.args[0]}") from None
        if wrong:
            raise QuoteError(wrong)
        if not call.macro:
            value = self.value(call.source)
            words = f'q("{shown(value)}", {call.source})' if isinstance(value, Quantity) else 'q("60 ms", sync.one_gpu)'
            raise QuoteError(f"[= {call.source} =] must call one macro, with the words on the page: [= {words} =]")
        _placed(call)
        try:
            return self._walk(_parsed(call.source))
        except QuoteError:
            raise
        except RecordError as error:
            raise Withheld(str(error)) from None
        except Exception as error:
            if isinstance(error, KeyError):  # a figure asks the book by name
                _wait(str(error.args[0]))
            if isinstance(error, TypeError) and "argument" in str(error):
                example = _EXAMPLES.get(call.macro, f"{call.macro}()")
                what = str(error).partition("() ")[2] or error  # without the function, whose name in Python may be another
                raise QuoteError(f"{call.macro}(…) {what}: it is called as {example}") from None
            raise QuoteError(f"{call.macro}(…) failed: {type(error).__name__}: {error}") from error


def _wait(name: str) -> None:
    """Raise Withheld for a name that is missing because a record is refused."""
    from macros import refused

    if refused.withheld(name.partition(".")[0]):
        raise Withheld(f"{name} waits for a record that is refused")


def sort_of(error: QuoteError) -> str:
    """The sort of the fault that an error is."""
    return "withheld" if isinstance(error, Withheld) else "drifted" if isinstance(error, Drift) else "broken"


def _placed(call: Call) -> None:
    """Refuse a call where its HTML cannot go, and name the macro that can."""
    if call.where == "formula":
        raise QuoteError(
            f"{call.macro}(…) cannot stand in a formula: use formula(name, numbers=True), or write the number beside the formula"
        )
    if call.where == "code":
        raise QuoteError(f"{call.macro}(…) cannot stand in inline code: take the backticks away")
    if call.where in ("alt", "fence") and call.macro != "qt":
        place = "alt text or a title" if call.where == "alt" else "a block of code"
        raise QuoteError(f"{call.macro}(…) cannot stand in {place}, where HTML cannot go: use qt(…)")


_book: ContextVar[Ledger | None] = ContextVar("book", default=None)


@contextmanager
def using(ledger: Ledger) -> Iterator[None]:
    """Figures and tables made inside take their numbers from `ledger`."""
    token = _book.set(ledger)
    try:
        yield
    finally:
        _book.reset(token)


def book() -> Ledger:
    """The ledger at work: that of the audit that runs, else the one of `perfmodel.book`."""
    from macros import reality, runs
    from perfmodel import book as module

    runs.enter(module.LEDGER)
    reality.enter(module.LEDGER)
    return _book.get() or module.LEDGER


def speaker(file: str) -> Callable[[str], tuple[str, str]]:
    """`say` for the texts that stand in the Python file `file` of this package."""
    path = Path(file)
    shown = "macros/" + path.as_posix().rpartition("/macros/")[2]
    return lambda words: say(words, _evaluator(book(), len(book())), path, shown)


@lru_cache(maxsize=8)
def _evaluator(ledger: Ledger, size: int) -> Evaluator:
    """The evaluator for words in Python; one for each state of a ledger, which only grows."""
    return Evaluator(ledger)


def say(words: str, evaluator: Evaluator, file: Path, path: str) -> tuple[str, str]:
    """A figure's title, alt text or caption, as (HTML, plain text).

    It holds the same calls as a page, under the same rules, but neither Markdown nor HTML. A fault names the line and the column of `file`
    (shown as `path`) where the words stand.
    """
    page = scan_literal(path, words)
    recorder = current()
    html, plain, at = "", "", 0
    faults: list[tuple[int, str, str]] = [(_offset(page, f), f.message, f.sort) for f in page.faults]
    for call in page.calls:
        between = words[at : call.start]
        try:
            piece = evaluator.call(call)
        except QuoteError as error:
            faults.append((call.start, str(error), sort_of(error)))
            piece = Piece(call.source, call.source)
        html += _escape(between) + piece.html
        plain += between + piece.text
        at = call.end
    for finding in naked.findings(page.prose.text):
        quote, names = beside(page, finding)
        cure = naked.cure(finding, names, quote=quote)
        faults.append((page.prose.at[finding.start], f"{finding.rule}: {finding.text}; {cure}", "unbound"))
    if faults:
        places = _places(words, file)
        recorder.faults += [Fault(path, *places(offset), message, sort) for offset, message, sort in faults]
    return html + _escape(words[at:]), plain + words[at:]


def beside(page: Page, finding: naked.Finding) -> tuple[str, list[str]]:
    """The words and the numbers of the quote that a finding stands at; ("", []) when it stands at none."""
    marks = [page.prose.at[at] for at in range(finding.start, finding.end) if page.prose.text[at] == QUOTE]
    call = next((c for c in page.calls if c.start in marks), None) if finding.rule in naked.AT_A_CALL else None
    if call is None:
        return "", []
    node = _parsed(call.source)
    return literal(page, call)[1], [ast.unparse(a) for a in node.args[1:]] if isinstance(node, ast.Call) else []


def _offset(page: Page, fault: Fault) -> int:
    """The character of a page that a fault names."""
    lines = page.source.split("\n")
    return sum(len(line) + 1 for line in lines[: fault.line - 1]) + fault.column - 1


def _escape(words: str) -> str:
    return words.replace("&", "&amp;").replace("<", "&lt;")


def _places(words: str, file: Path) -> Callable[[int], tuple[int, int]]:
    """Line and column in a Python file of each character of a text that stands in it as one string, or as several joined by juxtaposition.

    Of a text with computed parts only the place where it begins is known; one that is put together otherwise is found by its longest run
    of plain words, and then only the line is.
    """
    source = file.read_text(encoding="utf-8")
    run: list[tuple[str, tuple[int, int]]] = []  # the strings joined so far, each with the place of its first character
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.STRING and not re.match(r"(?i)[a-z]*f", token.string):
            lead = len(re.findall(r"\A[A-Za-z]*(?:'''|\"\"\"|'|\")", token.string)[0])
            run.append((str(ast.literal_eval(token.string)), (token.start[0], token.start[1] + lead)))
        elif token.type not in (tokenize.NL, tokenize.COMMENT):
            if "".join(part for part, _ in run) == words:
                return lambda offset, run=run: _place_in(run, offset)  # type: ignore[misc]
            run = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.JoinedStr):
            parts = (re.escape(str(part.value)) if isinstance(part, ast.Constant) else ".*" for part in node.values)
            if re.fullmatch("".join(parts), words, re.DOTALL):
                return lambda _, node=node: (node.lineno, node.col_offset + 1)  # type: ignore[misc]
    pieces = sorted((r.strip() for r in re.split(r"[\"\\\n]", words)), key=len, reverse=True)
    at = next((source.find(piece) for piece in pieces if piece and source.count(piece) == 1), 0)
    return lambda offset: (source[:at].count("\n") + 1, 1)


def _place_in(run: list[tuple[str, tuple[int, int]]], offset: int) -> tuple[int, int]:
    for part, (line, column) in run:
        if offset < len(part):
            return line, column + offset + 1
        offset -= len(part)
    return run[-1][1]
