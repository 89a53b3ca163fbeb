"""The kernels, their wording and the labs' views in JavaScript: the browser runs the functions that made the page, and nobody writes them twice.

pscript translates one function at a time. Translated code follows JavaScript where the two languages differ, so an allow-list of
syntax comes first: what could mean something else there is refused, with its place. What can't be seen in the syntax (a `%` of a
negative number, a whole number past 2^53, a tie, what a float looks like as text) the grid of `verify/labs.py` decides.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from macros.fingerprint import ROOT

KERNELS = "perfmodel/kernels.py"
SOURCES = (
    KERNELS,
    "perfmodel/wording.py",
    *(f"macros/views/{name}.py" for name in ("core", "pipeline", "ladder", "ring", "cluster")),
)
"""What is translated: a module may import from those before it."""

_NODES: tuple[type[ast.AST], ...] = (
    ast.Return, ast.Assign, ast.AnnAssign, ast.AugAssign, ast.For, ast.While, ast.If, ast.IfExp, ast.Expr,
    ast.Break, ast.Continue, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.Call, ast.keyword, ast.List, ast.ListComp, ast.comprehension,
    ast.Subscript, ast.Name, ast.Attribute, ast.Constant, ast.Load, ast.Store, ast.And, ast.Or, ast.Not, ast.Add, ast.Sub, ast.Mult, ast.Div,
    ast.FloorDiv, ast.Mod, ast.USub, ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq,
)  # fmt: skip
_CALLS = {"range", "len", "min", "max", "abs", "str"}
_MATH = {"floor", "ceil", "sqrt"}
_METHODS = {"append", "join"}
_LARGEST = 2**53


class Refused(NamedTuple):
    """What can't be translated faithfully, and where."""

    path: str
    line: int
    column: int
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}:{self.column}: {self.message}"


class TranslationError(ValueError):
    """The kernels hold something that JavaScript would read otherwise. The message has a line for each."""


def refused(source: str, path: str = KERNELS, others: Mapping[str, set[str]] | None = None) -> list[Refused]:
    """Everything in a source that can't be translated faithfully, in order. `others`: the functions of the modules that it may import from."""
    tree, others = ast.parse(source), others or {}
    found: list[tuple[ast.AST, str]] = []
    known = functions(source)
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module and node.module in others:
            for name in node.names:
                if name.name not in others[node.module] or name.asname:
                    found.append((node, f"{node.module} has no function {name.name} to import by that name"))
            known |= {name.name for name in node.names}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            if any(node.name in names for names in others.values()):
                found.append(
                    (node, f"{node.name} has the name of another module's function: in JavaScript they stand side by side")
                )
            found += _of_function(node, known)
        elif not (_is_text(node) or _imports(node, others)):
            found.append((node, "only functions are translated: put it in the layer above"))
    return sorted(Refused(path, getattr(n, "lineno", 1), getattr(n, "col_offset", 0) + 1, message) for n, message in found)


def functions(source: str) -> set[str]:
    """The names of the functions of a module."""
    return {node.name for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)}


def _imports(node: ast.stmt, others: Mapping[str, set[str]]) -> bool:
    """Whether a statement imports what needs no translation, or is translated as well."""
    if isinstance(node, ast.Import):
        return [(name.name, name.asname) for name in node.names] == [("math", None)]
    return isinstance(node, ast.ImportFrom) and (node.module == "__future__" or node.module in others)


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


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


def _of_function(function: ast.FunctionDef, known: set[str]) -> Iterator[tuple[ast.AST, str]]:
    arguments = function.args
    if arguments.defaults or arguments.kwonlyargs or arguments.vararg or arguments.kwarg or function.decorator_list:
        yield function, f"{function.name} may take positional arguments only, without defaults or decorators"
    truths = {a.arg for a in arguments.args if isinstance(a.annotation, ast.Name) and a.annotation.id == "bool"}
    for node in _code(function):
        for part in ast.iter_child_nodes(node):
            if not hasattr(part, "lineno") and not isinstance(part, _NODES):  # an operator has no place of its own
                yield node, f"{type(part).__name__} is not on the list of what is translated"
        if hasattr(node, "lineno") and not isinstance(node, _NODES):
            yield node, f"{type(node).__name__} is not on the list of what is translated"
        elif isinstance(node, ast.Call):
            yield from _of_call(node, known)
        elif isinstance(node, ast.Constant):
            if isinstance(node.value, bytes | complex) or node.value is None or node.value is Ellipsis:
                yield node, f"only numbers, texts and truth values are translated, got {node.value!r}"
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
            elif not isinstance(node.ops[0], ast.Eq | ast.NotEq) and any(map(_is_string, (node.left, *node.comparators))):
                yield node, f"{ast.unparse(node)}: texts are not ordered alike"
        elif isinstance(node, ast.If | ast.While | ast.IfExp):
            yield from _of_test(node.test, truths)
        elif isinstance(node, ast.comprehension):
            for test in node.ifs:
                yield from _of_test(test, truths)
        elif isinstance(node, ast.BoolOp):
            for value in node.values:
                yield from _of_test(value, truths)
        elif isinstance(node, ast.Assign):
            if len(node.targets) > 1 or isinstance(node.targets[0], ast.Tuple | ast.List):
                yield node, f"{ast.unparse(node)}: assign one thing at a time"
        elif isinstance(node, ast.For | ast.While) and node.orelse:
            yield node, "a loop may have no else"
        elif isinstance(node, ast.BinOp) and any(isinstance(side, ast.List | ast.ListComp) for side in (node.left, node.right)):
            yield node, f"{ast.unparse(node)}: lists are not added or repeated alike"
        elif isinstance(node, ast.BinOp) and not isinstance(node.op, ast.Add) and (_is_string(node.left) or _is_string(node.right)):
            yield node, f"{ast.unparse(node)}: texts are only added"
        elif (
            isinstance(node, ast.Attribute)
            and not (isinstance(node.value, ast.Name) and node.value.id == "math")
            and node.attr not in _METHODS
        ):
            yield node, f"{ast.unparse(node)}: only math.floor, math.ceil, math.sqrt, append and join are translated"


def _is_string(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _of_call(node: ast.Call, functions: set[str]) -> Iterator[tuple[ast.AST, str]]:
    name = ast.unparse(node.func)
    if node.keywords:
        yield node, f"{name}(…) may take positional arguments only"
    known = (
        name in _CALLS | functions
        or name in {f"math.{one}" for one in _MATH}
        or (isinstance(node.func, ast.Attribute) and node.func.attr in _METHODS)
    )
    if not known:
        yield (
            node,
            f"{name} is not on the list of what is called: {', '.join(sorted(_CALLS))}, math.{', math.'.join(sorted(_MATH))}, append, join and functions translated as well",
        )
    if name in ("min", "max") and len(node.args) < 2:
        yield node, f"{name} of a list is not translated: give it the numbers"


def _of_test(test: ast.expr, truths: set[str]) -> Iterator[tuple[ast.AST, str]]:
    """A test must be a comparison, or an argument declared bool: an empty list is false in Python and true in JavaScript."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield from _of_test(test.operand, truths)
    elif isinstance(test, ast.Name) and test.id in truths:
        return
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


def javascript(sources: Mapping[str, str] | None = None) -> str:
    """The modules as a classic script that defines `kernels`, an object with a function for each of theirs.

    `sources` are other texts than those on disk, by path. Raises TranslationError when something can't be translated faithfully.
    """
    texts = sources or {path: (ROOT / path).read_text(encoding="utf-8") for path in SOURCES}
    bad: list[Refused] = []
    known: dict[str, set[str]] = {}
    for path, text in texts.items():
        bad += refused(text, path, known)
        known[path.removesuffix(".py").replace("/", ".")] = functions(text)
    if bad:
        raise TranslationError("\n".join(map(str, bad)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # pscript 0.8.1 knows no Python newer than 3.11, and says so; the grid decides
        import pscript
        from pscript import stdlib

        written, names = [], []
        for text in texts.values():
            for node in ast.parse(text).body:
                if isinstance(node, ast.FunctionDef):
                    code = pscript.py2js(ast.unparse(ast.fix_missing_locations(_Strip().visit(node))), inline_stdlib=False)
                    written.append(
                        re.sub(rf"^var {node.name};\n{node.name} = function \w+ ", f"function {node.name}", code.strip())
                    )
                    names.append(node.name)
    body = "\n".join(written)
    body = re.sub(r"\bmath\.(\w+)", r"Math.\1", body)
    helpers = stdlib.get_partial_std_lib(
        sorted(set(re.findall(r"_pyfunc_(\w+)", body))), sorted(set(re.findall(r"_pymeth_(\w+)", body))), indent=0
    )
    return (
        f"// Made from {', '.join(texts)} when the site was built. Change it there.\n"
        f"const kernels = (() => {{\n{helpers}\n{body}\nreturn {{ {', '.join(names)} }};\n}})();\n"
    )
