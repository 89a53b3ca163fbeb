"""A program run imperatively, and the same program compiled: two passes over its syntax tree, each stage counted.

The programs are those of `perfmodel.language`: straight lines of pure functions over numbers. `trace` runs one statement by
statement, as Python does. `inline` puts the body of each function in the place of its calls, `fold` computes what is known
beforehand. Both keep what the program computes. They are text in, text out; nothing is ever handed to Python to execute.

All functions here raise ValueError, with the line and the rule, for text that is not such a program, and for one that executes
more than `MOST_STATEMENTS` statements.

>>> book = '''
... def add(a, b):
...     return a + b
...
... def fancy_func(a, b, c, d):
...     e = add(a, b)
...     f = add(c, d)
...     g = add(e, f)
...     return g
...
... fancy_func(1, 2, 3, 4)
... '''
>>> print(inline(book))
e = 1 + 2
f = 3 + 4
g = e + f
g
>>> fold(inline(book))
'10'
>>> [(stage.name, stage.operations, stage.calls, stage.most_alive) for stage in stages(book)]
[('as written', 3, 4, 7), ('inlined', 3, 0, 2), ('folded', 0, 0, 1)]

Source: Dive into Deep Learning 13.1.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Mapping
from typing import Literal, NamedTuple

from perfmodel import language
from perfmodel.interpreter import MOST_STATEMENTS, Interpreter, Step
from perfmodel.language import Block, Number, Program, Statement


class Stage(NamedTuple):
    """The program at one stage of compiling it: its text, and what one execution of that text takes.

    `operations` counts + - * / // % ** and unary minus (a written -2 is a number, not an operation), `calls` the functions
    entered. `most_alive` is the most values alive at once: those that have a name, and results on their way to one (a number
    that stands in an expression needs no place of its own; two names of one value count once; an operation puts its result in
    the place of what it read). As written, a name keeps its value until its frame ends; a compiler knows the last use of each
    and lets go after it.
    """

    name: Literal["as written", "inlined", "folded"]
    source: str
    operations: int
    calls: int
    most_alive: int


def evaluate(source: str) -> Number:
    """What the program computes. Raises ValueError, with the line, where an operation fails (1 / 0) or grows too large.

    >>> evaluate("def square(x): return x * x\\nsquare(3) + 1")
    10
    """
    return Interpreter(language.read(source)).run()


def trace(source: str) -> list[Step]:
    """The program statement by statement, as Python runs it. Raises as `evaluate` does.

    >>> for step in trace("a = 2\\nb = a * a\\nb + 1"):
    ...     print(step.statement, step.value, [(alive.name, alive.why) for alive in step.alive])
    a = 2 2 [('a', 'needed')]
    b = a * a 4 [('a', 'held'), ('b', 'needed')]
    b + 1 5 [('a', 'held'), ('b', 'held')]
    """
    interpreter = Interpreter(language.read(source))
    interpreter.run()
    return interpreter.steps


def inline(source: str) -> str:
    """The program without its functions: each call is replaced by the body of what it calls.

    Every name is assigned once: where a local's name is taken, it gets a number. An argument that is more than a name or a
    number is computed first, under the parameter's name, so nothing is computed twice, and all in the order it was.

    >>> print(inline("def twice(x):\\n    y = x + x\\n    return y\\ny = 1\\ntwice(y) * twice(y + 1)"))
    y = 1
    y_2 = y + y
    x = y + 1
    y_3 = x + x
    y_2 * y_3
    """
    return _inlined(language.read(source)).text()


def fold(source: str) -> str:
    """The program with every operation on known numbers done beforehand, and without assignments that nothing needs.

    Left as they are: operations that fail (1 / 0), whose result is no finite real number or has more than 1000 bits, and
    assignments that might fail, needed or not, since to drop those would hide the error. It does no algebra: a * 0 is not 0
    where a is infinite, and a + 1 + 2 may round otherwise than a + 3.

    >>> print(fold("a = 2 * 3\\nb = 1 / 0\\nc = a + 1\\nc * b"))
    b = 1 / 0
    7 * b
    """
    return _folded(language.read(source)).text()


def stages(source: str) -> list[Stage]:
    """The program as written, inlined, and inlined and folded. It counts without computing: a program may fail, and still count.

    >>> [stage.operations for stage in stages("def half(x): return x / 2\\nhalf(3) + half(4)")]
    [3, 3, 0]
    """
    written = language.read(source)
    inlined = _inlined(written)
    text = ast.unparse(ast.parse(source))  # without comments, and laid out like the other stages
    return [
        _stage("as written", text, written, releases=False),
        _stage("inlined", inlined.text(), inlined, releases=True),
        _stage("folded", _folded(inlined).text(), _folded(inlined), releases=True),
    ]


def _stage(name: Literal["as written", "inlined", "folded"], text: str, program: Program, *, releases: bool) -> Stage:
    interpreter = Interpreter(program, arithmetic=lambda op, left, right: 0, releases=releases)
    interpreter.run()
    return Stage(name, text, interpreter.operations, interpreter.calls, interpreter.most_alive)


# The passes.


def _is_plain(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) or language.number_of(node) is not None


class _Inliner:
    """Writes out a program without calls. `out` is what it has written, `taken` the names assigned in it."""

    def __init__(self, program: Program) -> None:
        self.functions = program.functions
        self.out: list[Statement] = []
        self.taken: set[str] = set()
        self.entered = 0
        self.line = 1

    def assign(self, wanted: str, value: ast.expr, at: int | None = None) -> ast.Name:
        """Write `wanted = value`, under a name not yet taken, at the end or before statement `at`."""
        name, number = wanted, 1
        while name in self.taken:
            number += 1
            name = f"{wanted}_{number}"
        self.taken.add(name)
        self.out.insert(len(self.out) if at is None else at, language.statement(name, value, self.line))
        return ast.Name(name, ast.Load())

    def block(self, block: Block, names: dict[str, ast.expr]) -> ast.expr:
        """Write the assignments of a block whose names stand for `names`; return what it computes."""
        self.entered += 1
        if self.entered + len(self.out) > MOST_STATEMENTS:
            raise ValueError(f"line {self.line}: a program may execute at most {MOST_STATEMENTS} statements, got more")
        *assignments, last = block.body
        caller = self.line
        for step in assignments:
            self.line = step.line
            names[str(step.target)] = self.assign(str(step.target), self.expression(step.value, names))
        self.line = last.line
        result = self.expression(last.value, names)
        self.line = caller
        return result

    def expression(self, node: ast.expr, names: Mapping[str, ast.expr]) -> ast.expr:
        """`node` without calls and in new names; what it calls is written before it, in the order Python would compute it."""
        match node:
            case ast.Name(id=name):
                return names[name]
            case ast.UnaryOp(op=op, operand=operand):
                return ast.UnaryOp(op, self.expression(operand, names))
            case ast.BinOp(left=left, op=op, right=right):
                first = self.expression(left, names)
                before = len(self.out)
                second = self.expression(right, names)
                if len(self.out) > before and not _is_plain(first):
                    first = self.assign("left", first, at=before)
                return ast.BinOp(first, op, second)
            case ast.Call(func=ast.Name(id=name), args=arguments):
                called = self.functions[name]
                values: dict[str, ast.expr] = {}
                for parameter, argument in zip(called.parameters, arguments, strict=True):
                    value = self.expression(argument, names)
                    values[parameter] = value if _is_plain(value) else self.assign(parameter, value)
                return self.block(called, values)
        return node


def _inlined(program: Program) -> Program:
    inliner = _Inliner(program)
    result = inliner.block(program.main, {})
    body = (*inliner.out, language.statement(None, result, program.main.body[-1].line))
    return Program({}, Block("", (), body, 1))


def _folded(program: Program) -> Program:
    functions = {name: block._replace(body=_folded_body(block)) for name, block in program.functions.items()}
    return Program(functions, program.main._replace(body=_folded_body(program.main)))


def _folded_body(block: Block) -> tuple[Statement, ...]:
    known: dict[str, Number] = {}
    kept: list[Statement] = []
    for step in block.body:
        value = _folded_expression(step.value, known)
        number = language.number_of(value)
        if step.target is not None:
            known.pop(step.target, None)
            if number is not None:
                known[step.target] = number  # every later use becomes the number, so the assignment is dead
                continue
        kept.append(language.statement(step.target, value, step.line, returns=bool(block.name and step.target is None)))
    needed: set[str | None] = set()
    body: list[Statement] = []
    for step in reversed(kept):
        if step.target is None or step.target in needed or _may_fail(step.value):
            needed.discard(step.target)
            needed.update(language.names_in(step.value))
            body.append(step)
    return tuple(reversed(body))


def _folded_expression(node: ast.expr, known: Mapping[str, Number]) -> ast.expr:
    match node:
        case ast.Name(id=name) if name in known:
            return language.literal(known[name])
        case ast.UnaryOp(op=op, operand=operand):
            inner = _folded_expression(operand, known)
            number = language.number_of(inner)
            return ast.UnaryOp(op, inner) if number is None else language.literal(-number)
        case ast.BinOp(left=left, op=op, right=right):
            first, second = _folded_expression(left, known), _folded_expression(right, known)
            a, b = language.number_of(first), language.number_of(second)
            if a is not None and b is not None:
                try:
                    result = language.arithmetic(type(op), a, b)
                except ValueError:
                    return ast.BinOp(first, op, second)  # it fails when it runs, and not before
                if math.isfinite(result):  # Python has no way to write down infinity
                    return language.literal(result)
            return ast.BinOp(first, op, second)
        case ast.Call(func=func, args=arguments):
            return ast.Call(func, [_folded_expression(argument, known) for argument in arguments], [])
    return node


def _may_fail(node: ast.expr) -> bool:
    """Whether computing `node` can be an error: a division, a power, a call. Sums and products of numbers cannot."""
    return any(
        isinstance(inner, ast.Call) or (isinstance(inner, ast.BinOp) and not isinstance(inner.op, ast.Add | ast.Sub | ast.Mult))
        for inner in ast.walk(node)
    )
