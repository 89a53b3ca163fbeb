"""The small language of act 1: straight-line programs of pure functions over numbers, read from Python text.

A program is a list of `def`s and assignments that ends with the expression it computes. A function takes plain parameters, makes
assignments, and ends with a return. Expressions hold numbers, names, + - * / // % **, unary minus and calls of the program's own
functions. `read` checks all of that and names the line and the rule where it fails; nothing here runs the text.

Source: the programs of Dive into Deep Learning 13.1.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

Number = int | float
MOST_BITS = 1000  # of a whole number: 2**1000 still fits a float, and nobody waits for 9**9**9
MOST_DEPTH = 60  # of an expression, and of calls within calls: Python's own stack bears it
OPERATORS: dict[type[ast.operator], Callable[[Number, Number], object]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.Pow: operator.pow,
}  # fmt: skip
BOTH = "a name must not be both a function and a value"
_WORDS: dict[type[ast.AST], str] = {
    ast.For: "loop", ast.While: "loop", ast.ListComp: "loop", ast.SetComp: "loop", ast.DictComp: "loop", ast.GeneratorExp: "loop",
    ast.IfExp: "if", ast.Match: "if", ast.BoolOp: "if", ast.Compare: "comparison", ast.ImportFrom: "import", ast.ClassDef: "class",
    ast.NamedExpr: ":=", ast.AnnAssign: "annotation", ast.Return: "return outside a function", ast.JoinedStr: "text",
}  # fmt: skip


class Statement(NamedTuple):
    """One statement: `target = value`, or without a target the return of a function or the result of the program."""

    target: str | None
    value: ast.expr
    line: int
    text: str


class Block(NamedTuple):
    """A function, or the program itself (no name, no parameters). The last statement is the one without a target."""

    name: str
    parameters: tuple[str, ...]
    body: tuple[Statement, ...]
    line: int


class Program(NamedTuple):
    """The functions by name, and the statements outside them."""

    functions: Mapping[str, Block]
    main: Block

    def text(self) -> str:
        """The program as Python text."""
        lines = []
        for function in self.functions.values():
            lines.append(f"def {function.name}({', '.join(function.parameters)}):")
            lines += [f"    {statement.text}" for statement in function.body]
        return "\n".join(lines + [statement.text for statement in self.main.body])


def statement(target: str | None, value: ast.expr, line: int, *, returns: bool = False) -> Statement:
    """A statement that a pass makes, with the text for it. Raises ValueError where the expression is nested too deep."""
    _check_depth(value, line)
    text = ast.unparse(value)
    return Statement(target, value, line, f"return {text}" if returns else f"{target} = {text}" if target else text)


def number_of(node: ast.expr) -> Number | None:
    """The number that `node` writes down: 3, 0.5 or -2. None for anything that must be computed.

    >>> number_of(ast.parse("-2", mode="eval").body), number_of(ast.parse("1 + 1", mode="eval").body)
    (-2, None)
    """
    match node:
        case ast.Constant(value=int() | float() as value):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
            return -value
    return None


def literal(value: Number) -> ast.expr:
    """The node that writes `value`: -2 as a minus and a 2, or `ast.unparse` would print (-2)**2 as -2 ** 2."""
    if math.copysign(1, value) < 0:
        return ast.UnaryOp(ast.USub(), ast.Constant(-value))
    return ast.Constant(value)


def arithmetic(op: type[ast.operator], left: Number, right: Number) -> Number:
    """`left op right` as Python computes it.

    Raises ValueError where Python raises an error, where the result is not a real number, and for a whole number of more than
    `MOST_BITS` bits, which is never even begun.

    >>> arithmetic(ast.FloorDiv, -7, 2)
    -4
    >>> arithmetic(ast.Pow, 9, 9**9)
    Traceback (most recent call last):
    ValueError: a whole number may have at most 1000 bits, got 9 ** 387420489
    """

    def refuse(rule: str) -> ValueError:
        return ValueError(f"{rule}, got {ast.unparse(ast.BinOp(literal(left), op(), literal(right)))}")

    size = f"a whole number may have at most {MOST_BITS} bits"
    whole = isinstance(left, int) and isinstance(right, int)
    if whole and op is ast.Pow and max(int(abs(left)).bit_length() - 1, 0) * right >= MOST_BITS:  # |left| ≥ 2**(bits − 1)
        raise refuse(size)
    try:
        result = OPERATORS[op](left, right)
    except ZeroDivisionError:
        raise refuse("a divisor must not be 0") from None
    except OverflowError:
        raise refuse("a result must fit a float") from None
    if not isinstance(result, int | float):
        raise refuse("a result must be a real number")
    if isinstance(result, int) and result.bit_length() > MOST_BITS:
        raise refuse(size)
    return result


def names_in(node: ast.AST) -> Iterator[str]:
    """The names that an expression reads, in the order it reads them."""
    match node:
        case ast.Name(id=name):
            yield name
        case ast.BinOp(left=left, right=right):
            yield from names_in(left)
            yield from names_in(right)
        case ast.UnaryOp(operand=operand):
            yield from names_in(operand)
        case ast.Call(args=arguments):
            for argument in arguments:
                yield from names_in(argument)


def calls_in(node: ast.AST) -> list[str]:
    """The functions that an expression calls, in no particular order."""
    return [inner.func.id for inner in ast.walk(node) if isinstance(inner, ast.Call) and isinstance(inner.func, ast.Name)]


def read(source: str) -> Program:
    """The program that `source` writes.

    Raises ValueError, with the line and the rule, for text that is not Python, for anything but a straight-line program (a loop,
    an if, a lambda, an import, an attribute, a call of something else, such as print), for a name used before it is assigned,
    for a wrong number of arguments, for recursion, and for a function called before its `def`.

    >>> sorted(read("def add(a, b): return a + b\\nadd(1, 2)").functions)
    ['add']
    >>> read("x = 1\\nfor i in x: pass")
    Traceback (most recent call last):
    ValueError: line 2: a straight-line program has no loop, got 'for i in x:'
    """
    if not isinstance(source, str):
        raise ValueError(f"line 1: a program must be text, got {source!r}")
    if "\0" in source:  # of which the parser says no line, and each Python says it in its own way
        line = source[: source.index("\0")].count("\n") + 1
        raise ValueError(f"line {line}: a program must be Python, got a null character")
    try:
        tree = ast.parse(source)
        return _program(tree)
    except SyntaxError as error:
        raise ValueError(f"line {error.lineno or 1}: a program must be Python, got {error.msg}") from None
    except UnicodeError:
        raise ValueError("line 1: a program must be Python, got half a character") from None
    except (RecursionError, MemoryError):  # both are how CPython's parser says that it is out of stack
        raise ValueError(f"line 1: an expression must be nested at most {MOST_DEPTH} deep, got far more") from None


def _refuse(node: ast.AST, rule: str, got: str | None = None) -> ValueError:
    shown = got if got is not None else repr(ast.unparse(node).splitlines()[0])
    return ValueError(f"line {getattr(node, 'lineno', 1)}: {rule}, got {shown}")


def _refuse_kind(node: ast.AST) -> ValueError:
    word = _WORDS.get(type(node), type(node).__name__.lower())
    return _refuse(node, f"a straight-line program has no {word}")


def _check_depth(node: ast.expr, line: int) -> None:
    level, depth = [node], 0
    while level:
        depth += 1
        if depth > MOST_DEPTH:
            raise ValueError(f"line {line}: an expression must be nested at most {MOST_DEPTH} deep, got more")
        level = [child for outer in level for child in ast.iter_child_nodes(outer) if isinstance(child, ast.expr)]


def _without_docstring(body: list[ast.stmt]) -> list[ast.stmt]:
    match body:
        case [ast.Expr(value=ast.Constant(value=str())), *rest]:
            return rest
    return body


def _program(tree: ast.Module) -> Program:
    body = _without_docstring(tree.body)
    arities: dict[str, int] = {}
    for node in body:
        if isinstance(node, ast.FunctionDef):
            if node.name in arities:
                raise _refuse(node, "a function must be defined once", repr(node.name))
            arities[node.name] = len(node.args.args)
    functions = {node.name: _function(node, arities) for node in body if isinstance(node, ast.FunctionDef)}
    main = _block("", (), [node for node in body if not isinstance(node, ast.FunctionDef)], arities, 1)
    if body and isinstance(body[-1], ast.FunctionDef):
        raise _refuse(body[-1], "a program must end with the expression it computes")
    reach = _reach(functions)
    for step in main.body:
        for name in {inner for called in calls_in(step.value) for inner in reach[called]}:
            if functions[name].line > step.line:
                raise ValueError(f"line {step.line}: a function must be defined before it is called, got {name!r}")
    return Program(functions, main)


def _reach(functions: Mapping[str, Block]) -> dict[str, set[str]]:
    """What each function calls, itself and directly or not. Raises ValueError for recursion, and for calls nested too deep."""
    reach: dict[str, set[str]] = {}
    height: dict[str, int] = {}

    def visit(name: str, above: tuple[str, ...]) -> None:
        if name in above:
            raise ValueError(f"line {functions[name].line}: a function must not call itself, got {' → '.join([*above, name])}")
        called = {inner for step in functions[name].body for inner in calls_in(step.value)}
        for inner in sorted(called):
            if inner not in reach and len(above) < MOST_DEPTH:
                visit(inner, (*above, name))
        height[name] = 1 + max((height.get(inner, MOST_DEPTH) for inner in called), default=0)
        if height[name] > MOST_DEPTH:
            raise ValueError(f"line {functions[name].line}: calls must be nested at most {MOST_DEPTH} deep, got more")
        reach[name] = {name}.union(*(reach[inner] for inner in called))

    for name in functions:
        if name not in reach:
            visit(name, ())
    return reach


def _function(node: ast.FunctionDef, arities: Mapping[str, int]) -> Block:
    a = node.args
    plain = not (a.posonlyargs or a.kwonlyargs or a.vararg or a.kwarg or a.defaults or node.decorator_list or node.returns)
    if not plain or any(argument.annotation for argument in a.args):
        raise _refuse(node, "a function must have plain parameters, without defaults, annotations or decorators", repr(node.name))
    parameters = tuple(argument.arg for argument in a.args)
    if len(set(parameters)) < len(parameters):
        raise _refuse(node, "each parameter must have its own name", repr(", ".join(parameters)))
    return _block(node.name, parameters, _without_docstring(node.body), arities, node.lineno)


def _block(name: str, parameters: tuple[str, ...], body: list[ast.stmt], arities: Mapping[str, int], line: int) -> Block:
    known = set(parameters)
    for parameter in parameters:
        if parameter in arities:
            raise ValueError(f"line {line}: {BOTH}, got {parameter!r}")
    steps: list[Statement] = []
    for node in body:
        last = node is body[-1]
        target: str | None = None
        match node:
            case ast.Assign(targets=[ast.Name(id=assigned)], value=value):
                target = assigned
            case ast.AugAssign(target=ast.Name(id=assigned) as old, op=op, value=added):
                target, value = assigned, ast.BinOp(ast.Name(assigned, ast.Load()), op, added)
                ast.copy_location(value, node), ast.copy_location(value.left, old)
            case ast.Return(value=ast.expr() as value) if name and last:
                pass
            case ast.Expr(value=value) if not name and last:
                pass
            case ast.Return() if name:
                raise _refuse(node, "a return must be the last statement of its function, and give a value")
            case ast.FunctionDef():
                raise _refuse(node, "a function must be defined outside any other", repr(node.name))
            case ast.Assign() | ast.AugAssign():
                raise _refuse(node, "an assignment must have one plain name on its left")
            case ast.Expr(value=value):
                _check_expression(value, known, arities)  # print(x) and x.append(1) have better reasons than the next
                raise _refuse(node, "an expression must be used: assign it, or let the program end with it")
            case _:
                raise _refuse_kind(node)
        _check_depth(value, node.lineno)
        _check_expression(value, known, arities)
        if target is not None:
            if target in arities:
                raise _refuse(node, BOTH, repr(target))
            known.add(target)
        steps.append(Statement(target, value, node.lineno, ast.unparse(node)))
    if not steps or steps[-1].target is not None:
        at = body[-1].lineno if body else line
        end = f"{name} must end with a return" if name else "a program must end with the expression it computes"
        raise ValueError(f"line {at}: {end}, got {steps[-1].text if steps else 'nothing'!r}")
    return Block(name, parameters, tuple(steps), line)


def _check_expression(node: ast.expr, known: set[str], arities: Mapping[str, int]) -> None:
    match node:
        case ast.Constant(value=bool() | str() | bytes() | complex() | None):
            raise _refuse(node, "a constant must be a whole number or a float")
        case ast.Constant(value=int() as value) if value.bit_length() > MOST_BITS:
            raise _refuse(node, f"a whole number may have at most {MOST_BITS} bits", f"{value.bit_length()} bits")
        case ast.Constant(value=int() | float() as value) if math.isfinite(value):
            pass
        case ast.Constant():
            raise _refuse(node, "a constant must be a finite number")
        case ast.Name(id=name) if name in arities:
            raise _refuse(node, "a function can only be called")
        case ast.Name(id=name):
            if name not in known:
                raise _refuse(node, "a name must be assigned before it is used, and a function sees only its own")
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            _check_expression(operand, known, arities)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
            _check_expression(left, known, arities)
            _check_expression(right, known, arities)
        case ast.BinOp() | ast.UnaryOp():
            raise _refuse(node, "an operation must be one of + - * / // % ** and unary minus")
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]) if name in arities:
            for argument in arguments:
                _check_expression(argument, known, arities)
            if len(arguments) != arities[name]:
                raise _refuse(node, f"{name} takes {arities[name]} arguments", f"{len(arguments)}: {ast.unparse(node)}")
        case ast.Call(func=ast.Name(id=name)) if name in arities:
            raise _refuse(node, "arguments must be given by position")
        case ast.Call(func=ast.Name(id=name)):
            raise _refuse(node, "a call must be of a function of the program, since others may have side effects")
        case ast.Call(func=func):
            raise _refuse_kind(func)
        case _:
            raise _refuse_kind(node)
