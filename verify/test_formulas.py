"""Formulas: what is printed says what is computed, and what cannot be rendered is refused."""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from macros import formulas
from macros.quantity import QuoteError
from perfmodel.book import LEDGER
from perfmodel.number import Ledger, Number, evaluate
from perfmodel.sources import HERE

steady = settings(derandomize=True, deadline=None, max_examples=400)
VALUES = {"n": 4.0, "S": 160e6, "B": 16e9, "k": 3.0}


def number(formula: str) -> Number:
    ledger = Ledger()
    units = {"n": "", "S": "MB", "B": "GB/s", "k": ""}
    inputs = {s: ledger.given(f"a.{s}", v, units[s], "an input", HERE) for s, v in VALUES.items()}
    return replace(ledger.model("a.result", 1.0, "", "a result", HERE), formula=formula, inputs=inputs)


def read_back(printed: str) -> str:
    """The text of a formula, as Python: an inverse that knows only what the signs mean to a reader."""
    text = printed.replace("·", "*").replace("−", "-").replace("^", "**").replace("\u00a0", " ")
    return re.sub(r"⌈(.*?)⌉", r"ceil(\1)", re.sub(r"⌊(.*?)⌋", r"floor(\1)", text))


leaves = st.sampled_from(["n", "S", "B", "k", "1", "2"])
trees = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["+", "-", "*", "/"]), inner).map(lambda t: f"({t[0]}){t[1]}({t[2]})"),
        inner.map(lambda t: f"-({t})"),
        st.tuples(inner, st.sampled_from(["2", "3"])).map(lambda t: f"({t[0]})**{t[1]}"),
        st.tuples(st.sampled_from(["max", "min"]), inner, inner).map(lambda t: f"{t[0]}({t[1]}, {t[2]})"),
    ),
    max_leaves=6,
)


@steady
@given(trees)
def test_what_is_printed_computes_the_same(formula: str) -> None:
    try:
        value = evaluate(formula, VALUES)
        again = evaluate(read_back(formulas.symbols(number(formula))), VALUES)
    except (ZeroDivisionError, OverflowError):
        assume(False)
    assert math.isclose(value, again, rel_tol=1e-9, abs_tol=1e-300) or value == again


@pytest.mark.parametrize(("formula", "printed"), [
    ("2*(n-1)*S/B", "2·(n−1)·S / B"), ("S/(n*B)", "S / (n·B)"), ("(S/n)*B", "(S / n)·B"), ("S/n/B", "(S / n) / B"), ("S/(n/B)", "S / (n / B)"),
    ("n-(k-1)", "n−(k−1)"), ("n-k-1", "n−k−1"), ("-(n+k)", "−(n+k)"), ("(n+1)**2", "(n+1)^2"), ("(-n)**2", "(−n)^2"), ("n**(k+1)", "n^(k+1)"),
    ("max(n, k)*S", "max(n, k)·S"), ("floor(n/k)*S", "⌊n / k⌋·S"), ("ceil(n/k)", "⌈n / k⌉"), ("n*1234567", "n·1234567"), ("0.5*n", "0.5·n"),
])  # fmt: skip
def test_symbols(formula: str, printed: str) -> None:
    assert formulas.symbols(number(formula)) == printed


@pytest.mark.parametrize(("formula", "printed"), [
    ("2*(n-1)*S/B", "2·(4−1)·160 MB / 16 GB/s"), ("S**2", "(160 MB)^2"), ("S+S", "160 MB + 160 MB"), ("n-S", "4 − 160 MB"),
    ("max(n, k)*S", "max(4, 3)·160 MB"),
])  # fmt: skip
def test_numbers_filled_in(formula: str, printed: str) -> None:
    assert formulas.filled(number(formula)) == printed


def test_the_pieces_of_a_formula_make_the_whole() -> None:
    """A line may break between them, before the result at the least; each can be rendered, and none ends inside a bracket."""
    for one in (one for one in LEDGER if one.formula):
        whole = formulas.tex(one, numbers=True)
        cut = formulas.pieces(whole)
        assert " ".join(cut).replace("{} ", "") == whole
        assert cut[-1].startswith("{} = ")
        assert all(piece.count(r"\left") == piece.count(r"\right") and formulas.mathml(piece) for piece in cut)


def test_a_result_in_the_words_of_the_page() -> None:
    assert formulas.tex(LEDGER["v100.all_lanes"], numbers=True, result="15.7 TFLOP/s").endswith(r"= 15.7\,\text{TFLOP/s}")


@pytest.mark.parametrize(("formula", "printed"), [
    ("2*(n-1)*S/B", r"\frac{2 \cdot \left(n - 1\right) \cdot S}{B}"), ("max(n, k)", r"\max\left(n, k\right)"), ("n**(k+1)", "n^{k + 1}"), ("(S/B)**2", r"\left(\frac{S}{B}\right)^{2}"), ("(S/B)**2*n", r"\left(\frac{S}{B}\right)^{2} \cdot n"),
    ("floor(n/k)", r"\lfloor \frac{n}{k} \rfloor"),
])  # fmt: skip
def test_tex(formula: str, printed: str) -> None:
    assert formulas.tex(number(formula)) == printed


def test_tex_with_numbers_ends_with_the_value() -> None:
    assert formulas.tex(LEDGER["sync.one_gpu"], numbers=True).endswith(r"= 60\,\text{ms}")


@pytest.mark.parametrize("numbers", [False, True])
@pytest.mark.parametrize("number", [n for n in LEDGER if n.formula], ids=lambda n: n.name)
def test_every_formula_of_the_book_becomes_mathml(number: Number, numbers: bool) -> None:
    root = ET.fromstring(formulas.mathml(formulas.tex(number, numbers=numbers), block=True))
    assert root.tag.endswith("math")
    assert root.get("display") == "block"
    assert root.get("alttext")
    assert "\\" not in "".join(root.itertext())


@pytest.mark.parametrize("command", sorted(formulas.COMMANDS))
def test_every_command_on_the_list_is_rendered(command: str) -> None:
    arguments = {
        "frac": "{a}{b}",
        "left": "(a\\right)",
        "right": "",
        "sqrt": "{a}",
        "mathrm": "{ms}",
        "text": "{ms}",
        "textrm": "{ms}",
        "mathbf": "{x}",
    }
    source = r"\left(a\right)" if command == "right" else rf"\{command}{arguments.get(command, ' ')}"
    text = "".join(ET.fromstring(formulas.mathml(source)).itertext())
    assert command not in text or command in ("max", "min", "log", "ln")


@pytest.mark.parametrize("source", [r"\begin{aligned}a\end{aligned}", r"\unknown x", r"\href{x}{y}", r"a \hfill b"])
def test_a_command_off_the_list_is_refused(source: str) -> None:
    with pytest.raises(QuoteError, match="is not among the commands that formulas here may use"):
        formulas.mathml(source)


@pytest.mark.parametrize("source", [r"e^{-1}", r"10^{15}", r"\frac{a}{b}", r"t_{1}"])
def test_braces_are_left_alone(source: str) -> None:
    assert f'alttext="{source}"' in formulas.mathml(source)


def test_a_number_without_a_formula_says_what_it_is() -> None:
    with pytest.raises(QuoteError, match=r"sync\.gradient has no formula: it is given \(Dive into Deep Learning, section 13\.7\)"):
        formulas.symbols(LEDGER["sync.gradient"])


def test_what_is_no_formula_is_refused() -> None:
    with pytest.raises(ValueError, match="a formula must hold only what can be printed"):
        formulas.symbols(number("n if k else S"))


@pytest.mark.parametrize(("formula", "text", "tex"), [
    ("2*n*S/B", "2·n·S / B", r"\frac{2 \cdot n \cdot S}{B}"), ("(n-1)*S/B", "(n−1)·S / B", r"\frac{\left(n - 1\right) \cdot S}{B}"), ("n+k", "n+k", "n + k"), ("n-(k-1)", "n−(k−1)", r"n - \left(k - 1\right)"),
    ("n-(k+1)", "n−(k+1)", r"n - \left(k + 1\right)"), ("n+(k-1)", "n+k−1", "n + k - 1"), ("n-k-1", "n−k−1", "n - k - 1"), ("n/(k/2)", "n / (k / 2)", r"\frac{n}{\frac{k}{2}}"), ("n/k/2", "(n / k) / 2", r"\frac{\frac{n}{k}}{2}"),
    ("n/k*S", "(n / k)·S", r"\frac{n}{k} \cdot S"), ("S*(n/k)", "S·n / k", r"S \cdot \frac{n}{k}"), ("n/(k*2)", "n / (k·2)", r"\frac{n}{k \cdot 2}"), ("(n/k)**2", "(n / k)^2", r"\left(\frac{n}{k}\right)^{2}"), ("n**2", "n^2", "n^{2}"),
    ("n**(k-1)", "n^(k−1)", "n^{k - 1}"), ("(n**2)**k", "(n^2)^k", r"\left(n^{2}\right)^{k}"), ("-n", "−n", "-n"), ("-(n+k)", "−(n+k)", r"-\left(n + k\right)"), ("-n*k", "(−n)·k", r"\left(-n\right) \cdot k"), ("-(n*k)", "−(n·k)", r"-\left(n \cdot k\right)"),
    ("max(n,k)", "max(n, k)", r"\max\left(n, k\right)"), ("ceil(n/k)", "⌈n / k⌉", r"\lceil \frac{n}{k} \rceil"), ("floor(n)*k", "⌊n⌋·k", r"\lfloor n \rfloor \cdot k"), ("1.5*n", "1.5·n", r"1.5 \cdot n"),
    ("2*(n+k)", "2·(n+k)", r"2 \cdot \left(n + k\right)"), ("n*k+S", "n·k + S", r"n \cdot k + S"), ("n*k-S", "n·k − S", r"n \cdot k - S"), ("n+1/k", "n + 1 / k", r"n + \frac{1}{k}"), ("t1+alpha*t2", "t₁ + α·t₂", r"t_1 + \alpha \cdot t_2"),
    ("max(n,k)/2", "max(n, k) / 2", r"\frac{\max\left(n, k\right)}{2}"), ("t3", "t₃", "t_3"), ("x", "x", "x"),
])  # fmt: skip
def test_how_a_formula_is_printed(formula: str, text: str, tex: str) -> None:
    one = number(formula)
    assert (formulas.symbols(one), formulas.tex(one)) == (text, tex)


@pytest.mark.parametrize(("formula", "text", "tex"), [
    ("n*S/B", "4·160 MB / 16 GB/s", r"\frac{4 \cdot 160\,\text{MB}}{16\,\text{GB/s}}"), ("S+S", "160 MB + 160 MB", r"160\,\text{MB} + 160\,\text{MB}"), ("S**2", "(160 MB)^2", r"\left(160\,\text{MB}\right)^{2}"),
    ("n**2", "4^2", "4^{2}"), ("-S", "−160 MB", r"-160\,\text{MB}"), ("n*(1-S)", "4·(1 − 160 MB)", r"4 \cdot \left(1 - 160\,\text{MB}\right)"), ("n-k", "4−3", "4 - 3"),
])  # fmt: skip
def test_how_a_formula_is_printed_with_its_numbers(formula: str, text: str, tex: str) -> None:
    one = number(formula)
    assert formulas.filled(one) == text
    assert formulas.tex(one, numbers=True) == f"{tex} = 1"
    for result, shown in (
        ("1.0", "1.0"),
        ("60 ms", r"60\,\text{ms}"),
        ("−3 ms", r"-3\,\text{ms}"),
        ("10,000 B", r"\text{10,000}\,\text{B}"),
        ("1,5", r"\text{1,5}"),
    ):
        assert formulas.tex(one, numbers=True, result=result) == f"{tex} = {shown}"


def test_what_cannot_be_printed_says_so() -> None:
    with pytest.raises(ValueError, match=r"^a formula must hold only what can be printed: ") as unprinted:
        formulas.symbols(number("[n]"))
    assert str(unprinted.value).endswith("symbols, numbers, + - * / **, max, min, ceil and floor; got '[n]'")
    with pytest.raises(QuoteError) as error:
        formulas.tex(number("n").inputs["n"])
    assert str(error.value) == f"a.n has no formula: it is given ({HERE})"


@pytest.mark.parametrize(("source", "cut"), [
    ("a + b", ["a", "{} + b"]), ("a + (b + c) - d = e", ["a", "{} + (b + c)", "{} - d", "{} = e"]), (r"\frac{a + b}{c} + d", [r"\frac{a + b}{c}", "{} + d"]), (r"\lceil a + b \rceil + c", [r"\lceil a + b \rceil", "{} + c"]),
    (r"\lfloor a - b \rfloor = c", [r"\lfloor a - b \rfloor", "{} = c"]), (r"\left(a + b\right) \cdot c + d", [r"\left(a + b\right) \cdot c", "{} + d"]), ("a", ["a"]), (r"a \cdot b", [r"a \cdot b"]),
])  # fmt: skip
def test_where_a_formula_may_break(source: str, cut: list[str]) -> None:
    assert formulas.pieces(source) == cut
    markup = formulas.breakable(source)
    assert [(piece[:6], piece[-7:]) for piece in markup.split("<wbr>")] == [("<math ", "</math>")] * len(cut)
    assert markup.count('<math displaystyle="true" ') == markup.count("<math ") == len(cut)
