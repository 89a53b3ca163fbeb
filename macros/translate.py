"""`perfmodel/kernels.py` in JavaScript: the browser runs the functions that computed the pages, and nobody writes them twice.

pscript translates one function at a time. Translated code follows JavaScript where the two languages differ, so an allow-list of
syntax comes first: what could mean something else there is refused, with its place. What can't be seen in the syntax (a `%` of a
negative number, a whole number past 2^53, a tie) the grid of `verify/labs.py` decides.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator
from typing import NamedTuple

from macros.fingerprint import ROOT

KERNELS = "perfmodel/kernels.py"

_NODES: tuple[type[ast.AST], ...] = (
    ast.Return, ast.Assign, ast.AnnAssign, ast.AugAssign, ast.For, ast.While, ast.If, ast.IfExp, ast.Expr,
    ast.Break, ast.Continue, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.Call, ast.keyword, ast.List, ast.ListComp, ast.comprehension,
    ast.Subscript, ast.Name, ast.Attribute, ast.Constant, ast.Load, ast.Store, ast.And, ast.Or, ast.Not, ast.Add, ast.Sub, ast.Mult, ast.Div,
    ast.FloorDiv, ast.Mod, ast.USub, ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq,
)  # fmt: skip
_CALLS = {"range", "len", "min", "max", "abs"}
_MATH = {"floor", "ceil", "sqrt"}
_LARGEST = 2**53


class Refused(NamedTuple):
    """What can't be translated faithfully, and where."""

    line: int
    column: int
    message: str

    def __str__(self) -> str:
        return f"{KERNELS}:{self.line}:{self.column}: {self.message}"


class TranslationError(ValueError):
    """The kernels hold something that JavaScript would read otherwise. The message has a line for each."""


def refused(source: str) -> list[Refused]:
    """Everything in the source that can't be translated faithfully, in order."""
    found = []
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef):
            found += [_at(bad, message) for bad, message in _of_function(node, _names(source))]
        elif not (_is_text(node) or (isinstance(node, ast.ImportFrom) and node.module == "__future__") or _imports_math(node)):
            found.append(_at(node, "only functions are translated: put it in the layer above"))
    return sorted(found)


def _at(node: ast.AST, message: str) -> Refused:
    return Refused(getattr(node, "lineno", 1), getattr(node, "col_offset", 0) + 1, message)


def _names(source: str) -> set[str]:
    return {node.name for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)}


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _imports_math(node: ast.stmt) -> bool:
    return isinstance(node, ast.Import) and [(name.name, name.asname) for name in node.names] == [("math", None)]


def _code(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a function's body, without annotations and its docstring, which are not translated."""
    if isinstance(node, ast.FunctionDef):
        inside = node.body[1:] if _is_text(node.body[0]) else node.body
        for statement in inside:
            yield from _code(statement)
        return
    yield node
    for name, value in ast.iter_fields(node):
        if name != "annotation":
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    yield from _code(child)


def _of_function(function: ast.FunctionDef, kernels: set[str]) -> Iterator[tuple[ast.AST, str]]:
    arguments = function.args
    if arguments.defaults or arguments.kwonlyargs or arguments.vararg or arguments.kwarg or function.decorator_list:
        yield function, f"{function.name} may take positional arguments only, without defaults or decorators"
    for node in _code(function):
        for part in ast.iter_child_nodes(node):
            if not hasattr(part, "lineno") and not isinstance(part, _NODES):  # an operator has no place of its own
                yield node, f"{type(part).__name__} is not on the list of what is translated"
        if hasattr(node, "lineno") and not isinstance(node, _NODES):
            yield node, f"{type(node).__name__} is not on the list of what is translated"
        elif isinstance(node, ast.Call):
            yield from _of_call(node, kernels)
        elif isinstance(node, ast.Constant):
            if isinstance(node.value, str | bytes | complex) or node.value is None or node.value is Ellipsis:
                yield node, f"only numbers and truth values are translated, got {node.value!r}"
            elif isinstance(node.value, int) and abs(node.value) > _LARGEST:
                yield node, f"a whole number must be at most 2^53, got {node.value}"
        elif isinstance(node, ast.Subscript):
            if isinstance(node.slice, ast.Slice | ast.UnaryOp | ast.Tuple):
                yield node, f"{ast.unparse(node)}: JavaScript counts from the start only, one element at a time"
        elif isinstance(node, ast.Compare):
            if len(node.ops) > 1:
                yield node, f"{ast.unparse(node)}: compare two things at a time"
            elif any(isinstance(side, ast.List | ast.ListComp) for side in (node.left, *node.comparators)):
                yield node, f"{ast.unparse(node)}: lists are not compared alike"
        elif isinstance(node, ast.If | ast.While | ast.IfExp):
            yield from _of_test(node.test)
        elif isinstance(node, ast.comprehension):
            for test in node.ifs:
                yield from _of_test(test)
        elif isinstance(node, ast.BoolOp):
            for value in node.values:
                yield from _of_test(value)
        elif isinstance(node, ast.Assign):
            if len(node.targets) > 1 or isinstance(node.targets[0], ast.Tuple | ast.List):
                yield node, f"{ast.unparse(node)}: assign one thing at a time"
        elif isinstance(node, ast.For | ast.While) and node.orelse:
            yield node, "a loop may have no else"
        elif isinstance(node, ast.BinOp) and any(isinstance(side, ast.List | ast.ListComp) for side in (node.left, node.right)):
            yield node, f"{ast.unparse(node)}: lists are not added or repeated alike"
        elif (
            isinstance(node, ast.Attribute)
            and not (isinstance(node.value, ast.Name) and node.value.id == "math")
            and node.attr != "append"
        ):
            yield node, f"{ast.unparse(node)}: only math.floor, math.ceil, math.sqrt and append are translated"


def _of_call(node: ast.Call, kernels: set[str]) -> Iterator[tuple[ast.AST, str]]:
    name = ast.unparse(node.func)
    if node.keywords:
        yield node, f"{name}(…) may take positional arguments only"
    known = (
        name in _CALLS | kernels
        or name in {f"math.{one}" for one in _MATH}
        or (isinstance(node.func, ast.Attribute) and node.func.attr == "append")
    )
    if not known:
        yield (
            node,
            f"{name} is not on the list of what is called: {', '.join(sorted(_CALLS))}, math.{', math.'.join(sorted(_MATH))}, append and other kernels",
        )
    if name in ("min", "max") and len(node.args) < 2:
        yield node, f"{name} of a list is not translated: give it the numbers"


def _of_test(test: ast.expr) -> Iterator[tuple[ast.AST, str]]:
    """A test must be a comparison: an empty list is false in Python and true in JavaScript."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield from _of_test(test.operand)
    elif not isinstance(test, ast.Compare | ast.BoolOp) and not (isinstance(test, ast.Constant) and isinstance(test.value, bool)):
        yield test, f"{ast.unparse(test)}: a test must compare, since lists and numbers are not true alike"


class _Strip(ast.NodeTransformer):
    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        self.generic_visit(node)
        node.returns = None
        for argument in node.args.args:
            argument.annotation = None
        node.body = node.body[1:] if _is_text(node.body[0]) else node.body
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.Assign:
        self.generic_visit(node)
        assert node.value is not None
        return ast.copy_location(ast.Assign(targets=[node.target], value=node.value), node)


def javascript(source: str | None = None) -> str:
    """The kernels as a classic script that defines `kernels`, an object with a function for each.

    Raises TranslationError when something can't be translated faithfully.
    """
    text = source if source is not None else (ROOT / KERNELS).read_text(encoding="utf-8")
    bad = refused(text)
    if bad:
        raise TranslationError("\n".join(map(str, bad)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # pscript 0.8.1 knows no Python newer than 3.11, and says so; the grid decides
        import pscript
        from pscript import stdlib

    functions, names = [], []
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef):
            code = pscript.py2js(ast.unparse(ast.fix_missing_locations(_Strip().visit(node))), inline_stdlib=False)
            functions.append(re.sub(rf"^var {node.name};\n{node.name} = function \w+ ", f"function {node.name}", code.strip()))
            names.append(node.name)
    body = "\n".join(functions)
    body = re.sub(r"\bmath\.(\w+)", r"Math.\1", body)
    helpers = stdlib.get_partial_std_lib(
        sorted(set(re.findall(r"_pyfunc_(\w+)", body))), sorted(set(re.findall(r"_pymeth_(\w+)", body))), indent=0
    )
    return (
        "// Made from perfmodel/kernels.py when the site was built. Change it there.\n"
        f"const kernels = (() => {{\n{helpers}\n{body}\nreturn {{ {', '.join(names)} }};\n}})();\n"
    )
