"""Act 1: what a program computes stays what it was through both passes, and what it costs never rises.

The oracle is Python itself: `exec` runs the text before and after each pass, on programs that hypothesis writes. The comparisons
return what differs, so that the last tests can plant a fault in a pass and see it reported.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Generator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import simpy
from hypothesis import given, settings
from hypothesis import strategies as st

from perfmodel import interpreter, language, launch, program
from perfmodel.interpreter import Alive
from perfmodel.streams import run
from verify import simulate
from verify.asserts import refuses

steady = settings(derandomize=True, deadline=None, max_examples=200)

# The program of Dive into Deep Learning 13.1, without its print.
BOOK = """
def add(a, b):
    return a + b

def fancy_func(a, b, c, d):
    e = add(a, b)
    f = add(c, d)
    g = add(e, f)
    return g

fancy_func(1, 2, 3, 4)
"""


def python(source: str) -> str:
    """What Python makes of a program: the repr of its value, or the name of its error."""
    tree = ast.parse(source)
    assert isinstance(tree.body[-1], ast.Expr)
    tree.body[-1] = ast.Assign([ast.Name("result_", ast.Store())], tree.body[-1].value)
    names: dict[str, Any] = {}
    try:
        exec(compile(ast.fix_missing_locations(tree), "program", "exec"), names)  # the oracle: our own programs only
    except (ZeroDivisionError, OverflowError, TypeError) as error:
        return type(error).__name__
    return repr(names["result_"])


def program_faults(source: str) -> list[str]:
    """Every way in which a pass changed what a program computes or raised what it costs; or our own run differs from Python's."""
    before = python(source)
    inlined = program.inline(source)
    folded = program.fold(inlined)
    faults = [f"{name} gives {python(text)}, not {before}:\n{text}" for name, text in (("inlined", inlined), ("folded", folded),
              ("folded alone", program.fold(source))) if python(text) != before]  # fmt: skip
    try:
        ours = repr(program.evaluate(source))
    except ValueError as error:
        complex_number = "a result must be a real number" in str(error)  # Python goes on with it
        ours = before if before.endswith("Error") or complex_number else str(error)
    if ours != before:
        faults.append(f"evaluate gives {ours}, Python {before}")
    written, after, last = program.stages(source)
    if not last.operations <= after.operations <= written.operations:
        faults.append(f"operations: {written.operations}, {after.operations}, {last.operations}")
    if after.calls or last.calls:
        faults.append(f"calls: {after.calls}, {last.calls}")
    if not last.most_alive <= after.most_alive <= written.most_alive:
        faults.append(f"values alive: {written.most_alive}, {after.most_alive}, {last.most_alive}")
    return faults


# Programs that hypothesis writes.

NUMBERS = ["0", "1", "2", "3", "7", "10", "0.5", "2.0", "1e-3", "-1", "-2", "-0.5", "1e308"]
SIMPLE = ["+", "-", "*"]


@st.composite
def expressions(draw: st.DrawFn, names: tuple[str, ...], functions: dict[str, int], depth: int = 0) -> str:
    """An expression over the names and functions that exist where it stands."""
    kinds = ["number"] + (["name"] * 3 if names else [])
    if depth < 3:
        kinds += ["simple", "simple", "divide", "power", "minus"] + (["call"] * 2 if functions else [])
    kind = draw(st.sampled_from(kinds))

    def inner() -> str:
        return draw(expressions(names, functions, depth + 1))

    if kind == "number":
        return draw(st.sampled_from(NUMBERS))
    if kind == "name":
        return draw(st.sampled_from(names))
    if kind == "minus":
        return f"(-{inner()})"
    if kind == "divide":
        return f"({inner()} {draw(st.sampled_from(['/', '//', '%']))} {inner()})"
    if kind == "power":
        return f"({inner()} ** {draw(st.sampled_from(['0', '2', '3', '-1', '0.5']))})"
    if kind == "call":
        name = draw(st.sampled_from(sorted(functions)))
        return f"{name}({', '.join(inner() for _ in range(functions[name]))})"
    return f"({inner()} {draw(st.sampled_from(SIMPLE))} {inner()})"


@st.composite
def programs(draw: st.DrawFn) -> str:
    """A straight-line program: functions that call earlier ones, names reused everywhere, assignments that nothing needs."""
    pool = ["a", "b", "x", "y", "x_2"]
    functions: dict[str, int] = {}
    lines: list[str] = []

    def statements(names: list[str], count: int, indent: str) -> None:
        for _ in range(count):
            value = draw(expressions(tuple(names), functions))
            target = draw(st.sampled_from(pool))
            if target in names and draw(st.booleans()):
                lines.append(f"{indent}{target} {draw(st.sampled_from(SIMPLE))}= {value}")
            else:
                lines.append(f"{indent}{target} = {value}")
            if target not in names:
                names.append(target)

    for name in ("f", "g", "h")[: draw(st.integers(0, 3))]:
        parameters = draw(st.lists(st.sampled_from(pool), max_size=3, unique=True))
        lines.append(f"def {name}({', '.join(parameters)}):")
        names = list(parameters)
        statements(names, draw(st.integers(0, 3)), "    ")
        lines.append(f"    return {draw(expressions(tuple(names), functions))}")
        functions[name] = len(parameters)
    names = []
    statements(names, draw(st.integers(0, 4)), "")
    lines.append(draw(expressions(tuple(names), functions)))
    return "\n".join(lines)


@steady
@given(programs())
def test_any_program(source: str) -> None:
    try:
        program.evaluate(source)
    except ValueError as error:
        if "1000 bits" in str(error):  # Python has no such limit; the passes must still agree with each other
            assert python(program.inline(source)) == python(source)
            return
    assert program_faults(source) == [], source


# The book's example.


def test_the_book_statement_by_statement() -> None:
    steps = [step for step in program.trace(BOOK) if step.function == "fancy_func"]
    assert [step.statement for step in steps] == ["e = add(a, b)", "f = add(c, d)", "g = add(e, f)", "return g"]
    assert [step.value for step in steps] == [3, 7, 10, 10]  # 1 + 2, 3 + 4, 3 + 7
    # After e: a and b have been read for the last time, but the frame keeps them; c, d and e are still to be read.
    assert steps[0].alive == (
        Alive("a", "fancy_func", 1, "held"),
        Alive("b", "fancy_func", 2, "held"),
        Alive("c", "fancy_func", 3, "needed"),
        Alive("d", "fancy_func", 4, "needed"),
        Alive("e", "fancy_func", 3, "needed"),
    )
    assert [(alive.name, alive.why) for alive in steps[2].alive] == [(name, "held") for name in "abcdef"] + [("g", "needed")]
    assert steps[3].alive == ()  # the frame is gone
    # The interpreter is in every one of the additions: three statements of add, one after each call.
    assert [(step.statement, step.value, step.depth) for step in program.trace(BOOK)][:2] == [
        ("return a + b", 3, 2),
        ("e = add(a, b)", 3, 1),
    ]
    last = program.trace(BOOK)[-1]
    assert (last.statement, last.value, last.depth, last.line) == ("fancy_func(1, 2, 3, 4)", 10, 0, 11)


def test_the_book_compiled() -> None:
    written, inlined, folded = program.stages(BOOK)
    # As written: 3 additions; fancy_func and 3 times add; a, b, c, d, e, f and g are all held when g has been computed.
    assert written[2:] == (3, 4, 7)
    # Inlined: the same additions; e is alive while f is computed, so two values at once, and g takes the place of what it read.
    assert (inlined.source, inlined[2:]) == ("e = 1 + 2\nf = 3 + 4\ng = e + f\ng", (3, 0, 2))
    assert (folded.source, folded[2:]) == ("10", (0, 0, 1))  # only the result
    assert program.fold("(1 + 2) + (3 + 4)") == "10"
    assert program.evaluate(BOOK) == 10
    assert [stage.name for stage in (written, inlined, folded)] == ["as written", "inlined", "folded"]


INLINED = [
    ("a local is renamed where its name is taken", "def f(x):\n    y = x + 1\n    return y * y\ny = 5\nf(y) + y",
     "y = 5\ny_2 = y + 1\ny_2 * y_2 + y"),
    ("and around a name that looks renamed", "def f():\n    x = 1 + 1\n    return x\nx = 3\nx_2 = 4\nf() + x + x_2",
     "x = 3\nx_2 = 4\nx_3 = 1 + 1\nx_3 + x + x_2"),
    ("an argument is computed once", "def sq(x): return x * x\nsq(1 + 2)", "x = 1 + 2\nx * x"),
    ("an argument that is not used is still computed", "def one(x): return 1\none(1 / 0)", "x = 1 / 0\n1"),
    ("a parameter swapped with the caller's names", "def sub(a, b): return a - b\na = 1\nb = 2\nsub(b, a)", "a = 1\nb = 2\nb - a"),
    ("what stands left is computed first", "def f(x):\n    y = x / 0\n    return y\n1 % 0 + f(2)", "left = 1 % 0\ny = 2 / 0\nleft + y"),
    ("a parameter that is assigned", "def f(a):\n    a = a + 1\n    a += 1\n    return a\na = 1\nf(a) + a", "a = 1\na_2 = a + 1\na_3 = a_2 + 1\na_3 + a"),
]  # fmt: skip
FOLDED = [
    ("a constant through a reassignment", "x = 1\ny = x + 1\nx = 5\nx * y", "10"),
    ("a negative base keeps its brackets", "x = 0 - 2\ny = 1 / 0\nx ** 2 + y * x", "y = 1 / 0\n4 + y * -2"),
    ("division by zero stays", "1 + 1 / (2 - 2)", "1 + 1 / 0"),
    ("and is kept where nothing needs it", "x = 1 // 0\n2 + 2", "x = 1 // 0\n4"),
    ("a huge power stays", "9 ** 9 ** 9", "9 ** 387420489"),
    ("infinity has no spelling", "1e308 * 10", "1e+308 * 10"),
    ("a complex number is no number here", "(0 - 8) ** 0.5", "(-8) ** 0.5"),
    ("inside a function, with its parameters unknown", "def f(a):\n    b = 2 * 3\n    c = a + 1\n    return a * b + 0\nf(1)",
     "def f(a):\n    return a * 6 + 0\nf(1)"),
    ("minus zero is not zero", "1 / 0 + -0.0", "1 / 0 + -0.0"),
    ("what is known no more", "x = 1\nx = 1 / 0\nx + 1", "x = 1 / 0\nx + 1"),
    ("minus a minus", "x = -2\n-x * 3", "6"),
    ("what a later assignment covers", "def f(a):\n    b = a + 1\n    b = a + 2\n    return b\nf(1)", "def f(a):\n    b = a + 2\n    return b\nf(1)"),
]  # fmt: skip


@pytest.mark.parametrize(("source", "expected"), [case[1:] for case in INLINED], ids=[case[0] for case in INLINED])
def test_inlined(source: str, expected: str) -> None:
    assert program.inline(source) == expected
    assert program_faults(source) == []


@pytest.mark.parametrize(("source", "expected"), [case[1:] for case in FOLDED], ids=[case[0] for case in FOLDED])
def test_folded(source: str, expected: str) -> None:
    assert program.fold(source) == expected
    assert program.fold(expected) == expected


def test_values_alive() -> None:
    # One value with two names counts once, and a number passed by name is a value: x, then y too, then y alone and the sum.
    assert program.stages("def same(x): return x\nx = 1 + 1\ny = same(x)\nx + y")[0].most_alive == 2  # the value, and the sum
    # a and b wait while c is computed, and all three names are read again: 3, compiled or not.
    three = "a = 1 + 1\nb = 2 + 2\nc = 3 + 3\na * b * c"
    assert [stage.most_alive for stage in program.stages(three)] == [4, 3, 1]  # as written the result is a fourth
    # A left side waits for the right one: (1 + 2), then (3 + 4) beside it.
    assert program.stages("(1 + 2) * (3 + 4)")[1].most_alive == 2


def test_a_program_that_fails_still_counts() -> None:
    assert [stage.operations for stage in program.stages("x = 1 / 0\nx + (1 + 1)")] == [3, 3, 2]
    with refuses("line 1: a divisor must not be 0, got 1 / 0"):
        program.trace("x = 1 / 0\nx + 1")
    with refuses("line 3: a whole number may have at most 1000 bits, got 2 ** 1000"):
        program.evaluate("def f(x):\n    y = x + 0\n    return 2 ** y\nf(1000)")
    assert program.evaluate("2 ** 999 // 2 ** 989") == 1024
    assert program.evaluate("x = 2\n-x - -x * 3") == 4


REFUSED = {
    "x = 1\nfor i in x:\n    x = 2\nx": "line 2: a straight-line program has no loop, got 'for i in x:'",
    "while 1: pass": "line 1: a straight-line program has no loop, got 'while 1:'",
    "[x for x in 3]": "line 1: a straight-line program has no loop, got '[x for x in 3]'",
    "if 1: x = 2\n3": "line 1: a straight-line program has no if, got 'if 1:'",
    "1 if 2 else 3": "line 1: a straight-line program has no if, got '1 if 2 else 3'",
    "1 < 2": "line 1: a straight-line program has no comparison, got '1 < 2'",
    "x = lambda: 1\nx": "line 1: a straight-line program has no lambda, got 'lambda: 1'",
    "import os\n1": "line 1: a straight-line program has no import, got 'import os'",
    "x = 1\nx.real": "line 2: a straight-line program has no attribute, got 'x.real'",
    "x = 1\nx.append(2)\nx": "line 2: a straight-line program has no attribute, got 'x.append'",
    "global x\n1": "line 1: a straight-line program has no global, got 'global x'",
    "return 1": "line 1: a straight-line program has no return outside a function, got 'return 1'",
    "print(1)": "line 1: a call must be of a function of the program, since others may have side effects, got 'print(1)'",
    "def f(x): return f(x)\nf(1)": "line 1: a function must not call itself, got f → f",
    "def f(x): return g(x)\ndef g(x): return f(x)\n1": "line 1: a function must not call itself, got f → g → f",
    "x = y\ny = 1\nx": "line 1: a name must be assigned before it is used, and a function sees only its own, got 'y'",
    "s = 2\ndef f(x): return x * s\nf(1)": "line 2: a name must be assigned before it is used, and a function sees only its own, got 's'",
    "def f(a, b): return a\nf(1)": "line 2: f takes 2 arguments, got 1: f(1)",
    "def f(a): return a\nf(a=1)": "line 2: arguments must be given by position, got 'f(a=1)'",
    "def f(a): return a\nf(*3)": "line 2: a straight-line program has no starred, got '*3'",
    "f(1)\ndef f(a): return a\n1": "line 1: an expression must be used: assign it, or let the program end with it, got 'f(1)'",
    "x = f(1)\ndef f(a): return a\nx": "line 1: a function must be defined before it is called, got 'f'",
    "def f(a): return g(a)\nx = f(1)\ndef g(a): return a\nx": "line 2: a function must be defined before it is called, got 'g'",
    "def f(a): return a\nx = f\nx": "line 2: a function can only be called, got 'f'",
    "def f(a): return a\nf = 2\nf": "line 2: a name must not be both a function and a value, got 'f'",
    "def f(f): return 1\n1": "line 1: a name must not be both a function and a value, got 'f'",
    "def f(): return 1\ndef f(): return 2\nf()": "line 2: a function must be defined once, got 'f'",
    "def f(a, a): return 1\n1": "line 1: each parameter must have its own name, got 'a, a'",
    "def f(a=1): return a\nf(1)": "line 1: a function must have plain parameters, without defaults, annotations or decorators, got 'f'",
    "x = 1\n\ndef f(a=1): return a\nf(1)": "line 3: a function must have plain parameters, without defaults, annotations or decorators, got 'f'",
    **{
        f"{head}\nf(1)": "line 1: a function must have plain parameters, without defaults, annotations or decorators, got 'f'"
        for head in ("def f(a, /): return a", "def f(*, a): return a", "def f(*a): return 1", "def f(**a): return 1", "def f(a: int): return a", "def f(a) -> int: return a")
    },
    "def g(a): return a\n@g\ndef f(a): return a\nf(1)": "line 3: a function must have plain parameters, without defaults, annotations or decorators, got 'f'",
    "x = 1\ndef f(a, a): return 1\n1": "line 2: each parameter must have its own name, got 'a, a'",
    "def f(a):\n    x = a\nf(1)": "line 2: f must end with a return, got 'x = a'",
    "def f(a):\n    return a\n    x = 1\nf(1)": "line 2: a return must be the last statement of its function, and give a value, got 'return a'",
    "def f(a):\n    def g(): return 1\n    return a\nf(1)": "line 2: a function must be defined outside any other, got 'g'",
    "1 + 1\n2": "line 1: an expression must be used: assign it, or let the program end with it, got '1 + 1'",
    "x = 1": "line 1: a program must end with the expression it computes, got 'x = 1'",
    "": "line 1: a program must end with the expression it computes, got 'nothing'",
    "1\ndef f(): return 1": "line 2: a program must end with the expression it computes, got 'def f():'",
    "x = 1\nx\ndef f(): return 1": "line 3: a program must end with the expression it computes, got 'def f():'",
    "x = 1\nx + 1\nx": "line 2: an expression must be used: assign it, or let the program end with it, got 'x + 1'",
    "a, b = 1\na": "line 1: an assignment must have one plain name on its left, got 'a, b = 1'",
    "a = b = 1\na": "line 1: an assignment must have one plain name on its left, got 'a = b = 1'",
    "x = True\nx": "line 1: a constant must be a whole number or a float, got 'True'",
    "'text' + 'more'": "line 1: a constant must be a whole number or a float, got \"'text'\"",
    "1j": "line 1: a constant must be a whole number or a float, got '1j'",
    "1e999": "line 1: a constant must be a finite number, got '1e309'",
    "1 << 2": "line 1: an operation must be one of + - * / // % ** and unary minus, got '1 << 2'",
    "+1": "line 1: an operation must be one of + - * / // % ** and unary minus, got '+1'",
    "x = = 1": "line 1: a program must be Python, got invalid syntax",
    "x = 1\nx\0\n\0": "line 2: a program must be Python, got a null character",
    "1\ud800": "line 1: a program must be Python, got half a character",
    "x = 1\n\ny = (": "line 3: a program must be Python, got '(' was never closed",
    f"x = {'9' * 400}\nx": "line 1: a whole number may have at most 1000 bits, got 1329 bits",  # 400 · log2(10) = 1328.8
    f"x = 1\ny = {2**1000}\ny": "line 2: a whole number may have at most 1000 bits, got 1001 bits",
    "+".join(["1"] * 61): "line 1: an expression must be nested at most 60 deep, got more",
    "-" * 20_000 + "1": "line 1: an expression must be nested at most 60 deep, got far more",
    "+".join(["1"] * 5000): "line 1: an expression must be nested at most 60 deep, got far more",
}  # fmt: skip


@pytest.mark.parametrize(("source", "message"), REFUSED.items(), ids=range(len(REFUSED)))
def test_refused(source: str, message: str) -> None:
    for read in (program.evaluate, program.trace, program.inline, program.fold, program.stages):
        with refuses(message):
            read(source)


def nested(calls: int) -> str:
    """A program whose functions call one another, so many deep."""
    return "".join(f"def f{i}(x): return f{i + 1}(x)\n" for i in range(calls - 1)) + f"def f{calls - 1}(x): return x\nf0(1)"


def test_limits() -> None:
    doubling = (
        "def f0(x): return x + 1\n" + "".join(f"def f{i}(x): return f{i - 1}(x) + f{i - 1}(x)\n" for i in range(1, 40)) + "f39(1)"
    )
    for read in (program.trace, program.inline, program.stages):
        with pytest.raises(ValueError, match="a program may execute at most 1000 statements, got more"):
            read(doubling)
    for calls, line in ((61, 1), (2000, 61)):  # the first that is too high; what lies deeper is not looked at
        with refuses(f"line {line}: calls must be nested at most 60 deep, got more"):
            program.trace(nested(calls))
    assert program.evaluate(nested(60)) == 1
    assert program.evaluate("+".join(["1"] * 60)) == 60
    assert program.evaluate(f"{2**999}") == 2**999
    bearable = "def f0(x): return x\n" + "".join(f"def f{i}(x): return f{i - 1}(x) + 1\n" for i in range(1, 50)) + "f49(1)"
    assert program_faults(bearable) == []
    assert program.evaluate("\n".join(["x = 1"] + ["x += 1"] * 998) + "\nx") == 999


def test_the_limit_counts_functions_entered_and_statements_written(monkeypatch: pytest.MonkeyPatch) -> None:
    assigns, returns = ("def f(x): return x + 1\na = 1 + 1\n" + last for last in ("b = f(a)\nb", "f(a)"))
    monkeypatch.setattr(program, "MOST_STATEMENTS", 3)  # the program, f, and a = 1 + 1 by the time that f is entered
    assert program.inline(assigns) == "a = 1 + 1\nb = a + 1\nb"
    monkeypatch.setattr(program, "MOST_STATEMENTS", 2)
    for source in (assigns, returns):
        with refuses("line 3: a program may execute at most 2 statements, got more"):
            program.inline(source)
    monkeypatch.setattr(program, "MOST_STATEMENTS", 0)
    with refuses("line 1: a program may execute at most 0 statements, got more"):
        program.inline("\n1")


def test_the_limit_counts_statements_executed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interpreter, "MOST_STATEMENTS", 2)
    assert program.evaluate("a = 1\na") == 1
    with refuses("line 3: a program may execute at most 2 statements, got more"):
        program.evaluate("a = 1\nb = a\nb")


@pytest.mark.parametrize(
    ("left", "op", "right", "message"),
    [
        (10.0, ast.Pow, 400, "a result must fit a float, got 10.0 ** 400"),
        (-8, ast.Pow, 0.5, "a result must be a real number, got (-8) ** 0.5"),
        (2**600, ast.Mult, 2**600, f"a whole number may have at most 1000 bits, got {2**600} * {2**600}"),
    ],
    ids=["too large", "complex", "too long"],
)
def test_a_result_that_is_no_number_here_is_refused(left: float, op: type[ast.operator], right: float, message: str) -> None:
    with refuses(message):
        language.arithmetic(op, left, right)


def test_a_power_that_would_be_too_long_is_not_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    assert [language.arithmetic(ast.Pow, a, b) for a, b in ((0, 2000), (1, 10**9), (-1, 10**9), (2, 999))] == [0, 1, 1, 2**999]
    monkeypatch.setitem(language.OPERATORS, ast.Pow, lambda left, right: pytest.fail(f"{left} ** {right} was begun"))
    for left, right in ((2, 1000), (3, 1000), (-2, 1000), (9, 9**9)):
        with pytest.raises(ValueError, match="a whole number may have at most 1000 bits, got"):
            language.arithmetic(ast.Pow, left, right)


FAILS = "1 / 0"


@pytest.mark.parametrize("inside", [f"({FAILS}) + 1", f"1 + {FAILS}", f"-({FAILS})", f"same({FAILS})", f"same(same({FAILS}))"])
def test_what_fails_inside_an_expression_is_named_with_its_line(inside: str) -> None:
    with refuses(f"line 3: a divisor must not be 0, got {FAILS}"):
        program.evaluate(f"def same(x): return x\ny = 1\nx = {inside}\nx")


def test_each_pass_keeps_the_lines() -> None:
    read = language.read("def f(x):\n    y = x + 1\n    return y / x\nz = f(2) + 1\nf(z) + z")
    lines = {"y = 2 + 1": 2, "z = y / 2 + 1": 4, "y_2 = z + 1": 2, "y_2 / z + z": 5}
    inlined = program._inlined(read)
    assert {step.text: step.line for step in inlined.main.body} == lines
    assert (read.main.name, read.main.line) == ("", 1)
    assert (inlined.functions, inlined.main._replace(body=())) == ({}, language.Block("", (), (), 1))
    assert [(step.text, step.line) for step in program._folded(inlined).main.body] == [("3.9", 5)]
    folded = program._folded(language.read("a = 1\nx = a / 0\nx + a"))
    assert [(step.text, step.line) for step in folded.main.body] == [("x = 1 / 0", 2), ("x + 1", 3)]
    forty = " + 1" * 40
    with refuses("line 2: an expression must be nested at most 60 deep, got more"):
        program.inline(f"def f(x): return x{forty}\nz = f(1){forty}\nz")


def test_a_number_that_is_written_needs_no_place_and_a_name_keeps_its_own_till_its_frame_ends() -> None:
    read, runs = language.read, interpreter.Interpreter
    for source, held, let_go in (("1 + 2 * 3", 1, 1), ("a = 1 + 1\nb = a + 1\nb + 1", 3, 1)):
        for each, most in ((runs(read(source)), held), (runs(read(source), releases=True), let_go)):
            each.run()
            assert each.most_alive == most


def test_an_expression_that_no_program_has_is_refused_by_the_interpreter() -> None:
    body = (language.Statement(None, ast.parse("1 if 2 else 3", mode="eval").body, 7, ""),)
    run = interpreter.Interpreter(language.Program({}, language.Block("", (), body, 7)))
    with refuses("line 7: an expression must be one that language.read lets through, got '1 if 2 else 3'"):
        run.run()


def test_docstrings_and_comments_do_no_harm() -> None:
    source = '"""A program."""\ndef f(x):\n    """Doubles."""\n    return x + x  # twice\nf(2)'
    assert (program.inline(source), program.evaluate(source)) == ("2 + 2", 4)


# The passes' tests see a fault: plant one, and they must report it.

CORPUS = [BOOK, *(case[1] for case in INLINED), "x = 1\ny = x + 1\nx = 5\nx * y", "x = 1 // 0\n2 + 2", "x = 0 - 2\nx ** 2 - 7 // x", "x = 0 - 2\ny = 1e308 * 10\nx ** y", "1 - 2 - 3",
          "x = 1 // 0\nx = 2\nx"]  # fmt: skip


def _without_names(self: Any, wanted: str, value: ast.expr, at: int | None = None) -> ast.Name:
    self.out.insert(len(self.out) if at is None else at, language.statement(wanted, value, self.line))
    return ast.Name(wanted, ast.Load())


def _argument_in_place(self: Any, wanted: str, value: ast.expr, at: int | None = None, right: Any = program._Inliner.assign) -> Any:
    return value if wanted in "xab" else right(self, wanted, value, at)


def _forgets_nothing(block: Any) -> Any:
    known: dict[str, Any] = {}
    body = []
    for step in block.body:
        value = program._folded_expression(step.value, known)
        number = language.number_of(value)
        if step.target is not None and number is not None:
            known.setdefault(step.target, number)  # the first value stays, whatever is assigned later
        body.append(language.statement(step.target, value, step.line, returns=bool(block.name and step.target is None)))
    return tuple(body)


PLANTS: dict[str, tuple[object, str, Callable[..., Any]]] = {
    "locals keep their names": (program._Inliner, "assign", _without_names),
    "arguments are computed where they are used": (program._Inliner, "assign", _argument_in_place),
    "a reassignment is not seen": (program, "_folded_body", _forgets_nothing),
    "what might fail is dropped": (program, "_may_fail", lambda node: False),
    "a negative number loses its brackets": (language, "literal", lambda value: ast.Constant(value)),
    "subtraction the wrong way round": (
        language,
        "arithmetic",
        lambda op, a, b, right=language.arithmetic: right(op, b, a) if op is ast.Sub else right(op, a, b),
    ),
    "floor division rounds to zero": (
        language,
        "arithmetic",
        lambda op, a, b, right=language.arithmetic: int(a / b) if op is ast.FloorDiv and b else right(op, a, b),
    ),
}


def corpus_faults() -> list[str]:
    return [fault for source in CORPUS for fault in program_faults(source)]


def test_no_faults() -> None:
    assert corpus_faults() == []


@pytest.mark.parametrize("plant", PLANTS)
def test_a_planted_fault_is_reported(plant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    where, name, planted = PLANTS[plant]
    monkeypatch.setattr(where, name, planted)
    assert corpus_faults(), plant


def test_nothing_is_handed_to_python() -> None:
    """The passes and the interpreter parse and walk; none of them can run what a reader types."""
    for module in (program, language, interpreter):
        tree = ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8"))
        called = {node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
        assert not called & {"exec", "eval", "compile", "__import__"}


# One Python thread and several GPUs.


def launches(*, ops: int, gpus: int, launch_s: float, op_s: float) -> float:
    """With SimPy, from the words: one thread launches round robin; each GPU takes its operations off a queue."""
    env = simpy.Environment()
    queues = [simpy.Store(env) for _ in range(gpus)]
    done = [env.event() for _ in range(gpus)]

    def python_thread() -> Generator[simpy.Event, Any, None]:
        for number in range(ops):
            for queue in queues:
                yield env.timeout(launch_s)
                queue.put(number)

    def gpu(me: int) -> Generator[simpy.Event, Any, None]:
        for _ in range(ops):
            yield queues[me].get()
            yield env.timeout(op_s)
        done[me].succeed()

    for me in range(gpus):
        env.process(gpu(me))
    env.process(python_thread())
    env.run(until=env.all_of(done))
    return float(env.now)


def launch_faults(**inputs: Any) -> list[str]:
    """Closed form, stream runner and two simulations of the launches."""
    tasks = launch.launch_tasks(**inputs)
    spans = simulate.program([simulate.Issued(task.streams, task.duration_s, task.waits) for task in tasks])
    seen = {
        "closed form": launch.python_bound_step_s(**inputs),
        "runner": run(tasks, launch.launch_lanes(inputs["gpus"])).total_s,
        "tasks in SimPy": max((end for _, end in spans), default=0.0),
    }
    expected = launches(**inputs)
    return [
        f"{name} {value}, simulation {expected}: {inputs}"
        for name, value in seen.items()
        if value != pytest.approx(expected, rel=1e-9)
    ]


@settings(steady, max_examples=60)
@given(st.integers(0, 8), st.integers(1, 5), st.floats(0, 1e3), st.floats(0, 1e3))
def test_launches(ops: int, gpus: int, launch_s: float, op_s: float) -> None:
    assert launch_faults(ops=ops, gpus=gpus, launch_s=launch_s, op_s=op_s) == []


def test_python_launches_and_gpus_compute() -> None:
    tasks = launch.launch_tasks(ops=2, gpus=2, launch_s=1, op_s=1)
    assert [(task.streams[0], task.role) for task in tasks[:4]] == [
        ("Python", "host"),
        ("GPU 0", "compute"),
        ("Python", "host"),
        ("GPU 1", "compute"),
    ]


def test_launch_values() -> None:
    # 10 µs a launch, k GPUs: k · 10 µs.
    assert [launch.launch_bound_s(gpus=k, launch_s=10e-6) for k in (1, 2, 4, 8)] == pytest.approx(
        [10e-6, 20e-6, 40e-6, 80e-6], rel=1e-12
    )
    # An operation of 20 µs is below the bound: 100 rounds of 80 µs, and the last operation. One of 200 µs is above: 100 of
    # them, after the first round.
    step = partial(launch.python_bound_step_s, ops=100, gpus=8, launch_s=10e-6)
    assert step(op_s=20e-6) == pytest.approx(100 * 80e-6 + 20e-6, rel=1e-12)
    assert step(op_s=200e-6) == pytest.approx(80e-6 + 100 * 200e-6, rel=1e-12)


@pytest.mark.parametrize("wrong", [lambda **given: max(given.values()), lambda gpus, launch_s: launch_s])
def test_a_planted_launch_bound_is_reported(wrong: Callable[..., float], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launch, "launch_bound_s", wrong)
    assert launch_faults(ops=4, gpus=3, launch_s=0.25, op_s=0.5)


BAD_LAUNCHES = [
    ({"gpus": 0}, "gpus must be a whole number of at least 1, got 0"),
    ({"gpus": 1.5}, "gpus must be a whole number of at least 1, got 1.5"),
    ({"launch_s": -1e-6}, "launch_s must be a finite number of at least 0, got -1e-06"),
    ({"launch_s": float("nan")}, "launch_s must be a finite number of at least 0, got nan"),
    ({"op_s": float("inf")}, "op_s must be a finite number of at least 0, got inf"),
    ({"ops": -1}, "ops must be a whole number of at least 0, got -1"),
]


@pytest.mark.parametrize(("changes", "message"), BAD_LAUNCHES)
def test_bad_launches(changes: dict[str, Any], message: str) -> None:
    for function in (launch.python_bound_step_s, launch.launch_tasks):
        with refuses(message):
            function(**{"ops": 2, "gpus": 2, "launch_s": 1e-5, "op_s": 1e-5, **changes})
