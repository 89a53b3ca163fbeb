"""Evaluating the calls of pages: names checked first, so that a misspelt one gets the nearest name and not a stack trace."""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from macros import naked
from macros.calls import INLINE, Piece, current
from macros.quantity import Quantity, QuoteError, groups, shown, unknown
from macros.scan import Call, Fault, environment, prose, scan
from perfmodel.number import Ledger

_ENV = environment()


class Evaluator:
    """Evaluates the calls of pages against one ledger. `callable_` are the macros it lets them call."""

    def __init__(self, book: Ledger, callable_: Mapping[str, Callable[..., Any]] = INLINE) -> None:
        self.book = book
        self.groups = groups(book)
        self.names = [*book.names]
        self.callable = callable_
        self.context: dict[str, Any] = {**self.groups, **callable_}

    def misspelt(self, expression: str) -> str:
        """What is wrong with the names of an expression, "" when all are known."""
        tree = ast.parse(expression.replace("\n", " ").strip(), mode="eval")
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute):
                name = ast.unparse(node)
                if name.split(".")[0] not in self.groups or name not in self.book:
                    return unknown(name, self.names)
            elif isinstance(node, ast.Call) and not (isinstance(node.func, ast.Name) and node.func.id in self.callable):
                name = ast.unparse(node.func)
                near = difflib.get_close_matches(name, self.callable, n=1)
                return f"{name}(…) is not a macro{f'; did you mean {near[0]}?' if near else ': ' + ', '.join(self.callable)}"
            elif isinstance(node, ast.Name) and node.id not in self.context:
                near = difflib.get_close_matches(node.id, [*self.groups, *self.callable, *self.names], n=1)
                return f"{node.id} is not a number of the book or a macro" + (f"; did you mean {near[0]}?" if near else "")
        return ""

    def value(self, expression: str) -> Any:
        """The value of an expression whose names are known."""
        return _ENV.compile_expression(expression.replace("\n", " "), undefined_to_none=False)(**self.context)

    def call(self, call: Call) -> Any:
        """Evaluate one call. Raises QuoteError, in an author's words, for whatever is wrong with it."""
        if not call.source:
            raise QuoteError("an empty call: write [= q(…) =] or take it away")
        try:
            wrong = self.misspelt(call.source)
        except SyntaxError as error:
            raise QuoteError(f"[= {call.source} =] cannot be read: {error.msg}") from None
        if wrong:
            raise QuoteError(wrong)
        if not call.macro:
            value = self.value(call.source)
            words = f'q("{shown(value)}", {call.source})' if isinstance(value, Quantity) else 'q("60 ms", sync.one_gpu)'
            raise QuoteError(f"[= {call.source} =] must call one macro, with the words on the page: [= {words} =]")
        _placed(call)
        try:
            return self.value(call.source)
        except QuoteError:
            raise
        except Exception as error:
            raise QuoteError(f"{call.macro}(…) failed: {type(error).__name__}: {error}") from error


def _placed(call: Call) -> None:
    """Refuse a call where its HTML cannot go, and name the macro that can."""
    if call.where == "formula":
        raise QuoteError(f"{call.macro}(…) cannot stand in a formula: use formula(name, numbers=True), or write the number beside the formula")
    if call.where == "code":
        raise QuoteError(f"{call.macro}(…) cannot stand in inline code: take the backticks away")
    if call.where in ("alt", "fence") and call.macro != "qt":
        place = "alt text" if call.where == "alt" else "a fenced block"
        raise QuoteError(f"{call.macro}(…) cannot stand in {place}, where HTML cannot go: use qt(…)")


def book() -> Ledger:
    """The ledger as it is now: a test may have put another in its place."""
    from perfmodel import book as module

    return module.LEDGER


def speaker(file: str) -> Callable[[str], tuple[str, str]]:
    """`say` for the texts that stand in the Python file `file` of this package."""
    path = Path(file)
    return lambda words: say(words, Evaluator(book()), path, f"macros/{path.name}")


def say(words: str, evaluator: Evaluator, file: Path, path: str) -> tuple[str, str]:
    """A figure's title, alt text or caption, as (HTML, plain text).

    It holds the same calls as a page, under the same rules; a fault names the line of `file` (shown as `path`) where the words stand.
    """
    page = scan(path, words)
    recorder = current()
    html, plain, at = "", "", 0

    def fault(message: str, sort: str) -> None:
        recorder.faults.append(Fault(path, _line_of(words, file), 1, message, sort))

    for broken in page.faults:
        fault(broken.message, "broken")
    for call in page.calls:
        between = words[at : call.start]
        try:
            piece = evaluator.call(call)
        except QuoteError as error:
            fault(str(error), "drifted")
            piece = Piece(call.source, call.source)
        html += _escape(between) + piece.html
        plain += between + piece.text
        at = call.end
    for finding in naked.findings(prose(page).text):
        fault(f"{finding.rule}: {finding.text}; {naked.cure(finding)}", "unbound")
    return html + _escape(words[at:]), plain + words[at:]


def _escape(words: str) -> str:
    return words.replace("&", "&amp;").replace("<", "&lt;")


def _line_of(words: str, file: Path) -> int:
    """The line of a Python file where a text begins, found by its longest run of plain words."""
    source = file.read_text(encoding="utf-8")
    runs = sorted((r.strip() for r in re.split(r"[\"\\\n]", words)), key=len, reverse=True)
    at = next((source.find(run) for run in runs if run and source.count(run) == 1), -1)
    return source.count("\n", 0, at) + 1 if at >= 0 else 1
