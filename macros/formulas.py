"""Formulas: one Python expression, printed as text or as MathML, with its symbols or with its numbers filled in."""

from __future__ import annotations

import ast
import functools
import html
import re
from collections.abc import Callable, Mapping

from latex2mathml.converter import convert

from macros.quantity import QuoteError, value_text
from macros.text import NBSP
from perfmodel.number import Number

# How the symbols of the formulas are set. A symbol that is not here is set as its own letters.
SYMBOLS = {
    "t1": r"t_1", "t2": r"t_2", "t3": r"t_3", "alpha": r"\alpha", "S": "S", "B": "B", "n": "n", "m": "m", "k": "k",
}  # fmt: skip
PLAIN_SYMBOLS = {"t1": "t₁", "t2": "t₂", "t3": "t₃", "alpha": "α"}

# What the MathML converter is known to render. It lets a command it does not know through in silence, so we do not.
LETTERS = {"alpha", "beta", "epsilon", "sigma", "ell"}
COMMANDS = LETTERS | {
    "frac", "cdot", "times", "left", "right", "max", "min", "lceil", "rceil", "lfloor", "rfloor", "mathrm", "text", "approx", "le",
    "ge", "lt", "gt", "ldots", "dots", "sum", "log", "ln", "quad", "qquad", "textrm", "infty", "in", "to", "ne", "pm", "sqrt", "mathbf",
    "prime", "cdots",
}  # fmt: skip
_LEVEL: dict[type[ast.operator], int] = {ast.Add: 1, ast.Sub: 1, ast.Mult: 2, ast.Div: 2, ast.Pow: 4}


def _print(node: ast.expr, symbol: Callable[[str], str], tex: bool) -> tuple[str, int]:
    """The text of a formula and the precedence of its outermost operator."""

    def paren(inner: tuple[str, int], least: int) -> str:
        if inner[1] >= least:
            return inner[0]
        return rf"\left({inner[0]}\right)" if tex else f"({inner[0]})"

    def go(child: ast.expr) -> tuple[str, int]:
        return _print(child, symbol, tex)

    match node:
        case ast.Constant(value=int() | float() as value):
            return f"{value:.15g}", 9
        case ast.Name(id=name):
            # A value with a unit is a product, and stands in parentheses where a product would: (1 − 0.5 ms), never 2^3 ms.
            shown = symbol(name)
            return shown, 3 if (NBSP in shown or r"\," in shown) else 9
        case ast.UnaryOp(op=ast.USub()):
            return ("-" if tex else "−") + paren(go(node.operand), 3), 1
        case ast.BinOp(op=ast.Div()) if tex:
            return rf"\frac{{{go(node.left)[0]}}}{{{go(node.right)[0]}}}", 9
        case ast.BinOp(op=ast.Pow()):
            power = go(node.right)[0]
            # A fraction bar ends above its exponent: (a/b)² without parentheses would be read as a²/b, or not at all.
            divides = isinstance(node.left, ast.BinOp) and isinstance(node.left.op, ast.Div)
            base = go(node.left)[0], 2 if divides else go(node.left)[1]
            return paren(base, 5) + (f"^{{{power}}}" if tex else f"^{paren(go(node.right), 9)}"), 4
        case ast.BinOp(op=op):
            level = _LEVEL[type(op)]
            # Left of a product a quotient stands in parentheses, so that a/b·c is never read as a/(b·c).
            divides = isinstance(node.left, ast.BinOp) and isinstance(node.left.op, ast.Div)
            left = paren(go(node.left), 3 if divides and level == 2 and not tex else level)
            right = paren(go(node.right), level + (0 if isinstance(op, ast.Add | ast.Mult) else 1))
            gap = " " if re.search(r"[\s·/]", left + right) else ""  # n−1, but 2 ticks + 3 ticks
            signs = {ast.Add: f"{gap}+{gap}", ast.Sub: f"{gap}−{gap}", ast.Mult: "·", ast.Div: " / "}
            tex_signs = {ast.Add: " + ", ast.Sub: " - ", ast.Mult: r" \cdot "}
            return left + (tex_signs if tex else signs)[type(op)] + right, level
        case ast.Call(func=ast.Name(id=name)):
            inner = (", ").join(go(a)[0] for a in node.args)
            if name in ("ceil", "floor"):
                pair = {"ceil": (r"\lceil ", r" \rceil", "⌈", "⌉"), "floor": (r"\lfloor ", r" \rfloor", "⌊", "⌋")}[name]
                return (pair[0] + inner + pair[1] if tex else pair[2] + inner + pair[3]), 9
            return (rf"\{name}\left({inner}\right)" if tex else f"{name}({inner})"), 9
    raise ValueError(
        f"a formula must hold only what can be printed: symbols, numbers, + - * / **, max, min, ceil and floor; got {ast.unparse(node)!r}"
    )


def _expression(number: Number) -> ast.expr:
    if not number.formula:
        raise QuoteError(f"{number.name} has no formula: it is {number.kind} ({number.source})")
    return ast.parse(number.formula, mode="eval").body


def symbols(number: Number) -> str:
    """The formula in symbols, as text: `2·(n−1)·S / B`."""
    return _print(_expression(number), lambda s: PLAIN_SYMBOLS.get(s, s), tex=False)[0]


def filled(number: Number) -> str:
    """The formula with its numbers, as text: `2·(4−1)·160 MB / 16 GB/s`."""
    return _print(_expression(number), lambda s: value_text(number.inputs[s]), tex=False)[0].replace(NBSP, " ")


def _tex_value(text: str) -> str:
    value, _, unit = text.partition(NBSP)
    value = rf"\text{{{value}}}" if "," in value else value.replace("−", "-")
    return rf"{value}\,\text{{{unit}}}" if unit else value


def tex(number: Number, *, numbers: bool = False, result: str = "") -> str:
    """The formula in TeX, with symbols or with its numbers filled in, and its value at the end when filled: in the words of `result`, if any."""
    inputs: Mapping[str, Number] = number.inputs
    if not numbers:
        return _print(_expression(number), lambda s: SYMBOLS.get(s, s), tex=True)[0]
    body = _print(_expression(number), lambda s: _tex_value(value_text(inputs[s])), tex=True)[0]
    return f"{body} = {_tex_value(result.replace(' ', NBSP) or value_text(number))}"


def pieces(source: str) -> list[str]:
    r"""A formula in TeX, cut before each + - = that stands outside braces and parentheses: there a narrow screen may break the line.

    >>> pieces(r"1 + \max\left(2 + 3, 4\right) = 5")
    ['1', '{} + \\max\\left(2 + 3, 4\\right)', '{} = 5']
    """
    cut, depth = [""], 0
    for word in source.split(" "):
        if word in ("+", "-", "=") and not depth:
            cut.append("{} " + word)  # after an empty group a sign stands between two operands, and is spaced as such
        else:
            cut[-1] += " " * bool(cut[-1]) + word
        depth += len(re.findall(r"[({]|\\l(?:ceil|floor)", word)) - len(re.findall(r"[)}]|\\r(?:ceil|floor)", word))
    return cut


def breakable(source: str) -> str:
    """A formula on a line of its own, as MathML in pieces: as long as the screen is wide enough, they stand side by side."""
    return "<wbr>".join(mathml(piece).replace("<math ", '<math displaystyle="true" ', 1) for piece in pieces(source))


@functools.lru_cache(maxsize=512)
def mathml(source: str, *, block: bool = False) -> str:
    """TeX as MathML, for a browser without scripts. A command outside the tested list is refused by name."""
    for command in re.findall(r"\\([A-Za-z]+)", source):
        if command not in COMMANDS:
            raise QuoteError(f"\\{command} is not among the commands that formulas here may use: {', '.join(sorted(COMMANDS))}")
    try:
        markup = str(convert(source, display="block" if block else "inline"))
    except Exception as error:
        raise QuoteError(f"the formula ${source}$ cannot be read: {type(error).__name__}; are all its braces closed?") from error
    label = html.escape(source.removeprefix("{} "), quote=True)
    return markup.replace("<math ", f'<math alttext="{label}" ', 1)
