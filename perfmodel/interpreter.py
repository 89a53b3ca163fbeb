"""Runs a straight-line program by walking its syntax tree, and watches the values that live while it does.

Python never executes the text. Where a program fails (1 / 0), the ValueError names the line and the rule.

Source: Dive into Deep Learning 13.1, on why a value stays alive.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Literal, NamedTuple

from perfmodel import language
from perfmodel.language import Block, Number, Program

MOST_STATEMENTS = 1000  # each step records every name alive, so time and memory grow as its square


class Alive(NamedTuple):
    """A name that still holds a value: in which function ("" outside any), and why.

    "needed": a later statement, or the rest of the one that is running, reads it. "held": nothing reads it any more, but it lives
    as long as its frame, because Python does not look ahead.
    """

    name: str
    function: str
    value: Number
    why: Literal["needed", "held"]


class Step(NamedTuple):
    """One statement that has run: where (`depth` 0 is outside any function), what it produced, and what is alive after it.

    After a return the function's own names are gone, and `value` is on its way to the caller.
    """

    line: int
    function: str
    depth: int
    statement: str
    value: Number
    alive: tuple[Alive, ...]


class Value:
    """A value that exists: two names may hold the same one. `written` where it is a number that stands in the text."""

    def __init__(self, number: Number, *, written: bool = False) -> None:
        self.number = number
        self.written = written


class _Frame:
    """A running block: its names, and for each point between two accesses to a name the names that are still to be read."""

    def __init__(self, block: Block, names: dict[str, Value]) -> None:
        self.block = block
        self.names = names
        self.at = 0
        needed: list[frozenset[str]] = [frozenset()]  # from the end backwards, one more for each access
        for step in reversed(block.body):
            if step.target is not None:
                needed.append(needed[-1] - {step.target})
            for name in reversed(list(language.names_in(step.value))):
                needed.append(needed[-1] | {name})
        self.needed = needed[::-1]

    def needs(self, name: str) -> bool:
        return name in self.needed[self.at]


class Interpreter:
    """One run of a program, with what it counts: operations, calls, and the most values alive at once.

    `arithmetic` computes the operations; with one that computes nothing, the run only counts. With `releases`, a name lets go of
    its value after its last use, as compiled code does; without, when its frame ends, as in Python. Raises ValueError for a
    program that executes more than `MOST_STATEMENTS` statements.
    """

    def __init__(
        self,
        program: Program,
        *,
        arithmetic: Callable[[type[ast.operator], Number, Number], Number] = language.arithmetic,
        releases: bool = False,
    ) -> None:
        self.program = program
        self.arithmetic = arithmetic
        self.releases = releases
        self.operations = self.calls = self.most_alive = 0
        self.steps: list[Step] = []
        self._frames: list[_Frame] = []
        self._stack: list[Value] = []  # results that wait for the rest of their expression

    def run(self) -> Number:
        """Run the whole program, and return what it computes."""
        return self._enter(self.program.main, {}).number

    def _enter(self, block: Block, names: dict[str, Value]) -> Value:
        frame = _Frame(block, names)
        depth = len(self._frames)
        self._frames.append(frame)
        value = Value(0)
        for step in block.body:
            value = self._compute(step.value, step.line)
            if step.target is not None:
                frame.at += 1
                frame.names[step.target] = value
            else:
                value = Value(value.number) if value.written else value  # what is handed over needs a place
                if depth:
                    self._frames.pop()
            self._look(value)
            if len(self.steps) >= MOST_STATEMENTS:
                raise ValueError(f"line {step.line}: a program may execute at most {MOST_STATEMENTS} statements, got more")
            self.steps.append(Step(step.line, block.name, depth, step.text, value.number, self._alive()))
        return value

    def _alive(self) -> tuple[Alive, ...]:
        return tuple(
            Alive(name, frame.block.name, value.number, "needed" if frame.needs(name) else "held")
            for frame in self._frames
            for name, value in frame.names.items()
        )

    def _look(self, result: Value) -> None:
        """Count the values alive at the moment when `result` has been made."""
        alive = {id(value) for value in (*self._stack, result) if not value.written}
        for frame in self._frames:
            alive |= {id(value) for name, value in frame.names.items() if not self.releases or frame.needs(name)}
        self.most_alive = max(self.most_alive, len(alive))

    def _compute(self, node: ast.expr, line: int) -> Value:
        written = language.number_of(node)
        if written is not None:
            return Value(written, written=True)
        match node:
            case ast.Name(id=name):
                frame = self._frames[-1]
                frame.at += 1
                return frame.names[name]
            case ast.UnaryOp(operand=operand):
                return self._result(-self._compute(operand, line).number)
            case ast.BinOp(left=left, op=op, right=right):
                self._stack.append(self._compute(left, line))
                second = self._compute(right, line)
                first = self._stack.pop()
                try:
                    return self._result(self.arithmetic(type(op), first.number, second.number))
                except ValueError as error:
                    raise ValueError(f"line {line}: {error}") from None
            case ast.Call(func=ast.Name(id=name), args=arguments):
                for argument in arguments:
                    self._stack.append(self._compute(argument, line))
                first_argument = len(self._stack) - len(arguments)
                block = self.program.functions[name]
                names = dict(zip(block.parameters, self._stack[first_argument:], strict=True))
                del self._stack[first_argument:]
                self.calls += 1
                return self._enter(block, names)
        raise ValueError(f"line {line}: an expression must be one that language.read lets through, got {ast.unparse(node)!r}")

    def _result(self, number: Number) -> Value:
        value = Value(number)
        self.operations += 1
        self._look(value)
        return value
