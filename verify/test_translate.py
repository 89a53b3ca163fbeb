"""What the labs run gives the same in JavaScript and in Python; what JavaScript would read otherwise is refused, with its place."""

from __future__ import annotations

import re
import warnings
from types import ModuleType

import pscript
import pytest

from macros.fingerprint import ROOT
from macros.labs import script as script_of_the_labs
from macros.translate import KERNELS, SOURCES, TranslationError, javascript, refused
from verify import labs

TEXTS = {path: (ROOT / path).read_text(encoding="utf-8") for path in SOURCES}


@pytest.fixture(scope="module")
def script() -> str:
    return script_of_the_labs()


@pytest.mark.parametrize("name", labs.functions())
def test_a_function_is_the_same_in_javascript(script: str, name: str) -> None:
    count, wrong = labs.differences(name, script)
    assert count >= 16
    assert wrong == []


def test_every_function_has_its_grid_and_all_are_large_together() -> None:
    assert set(labs.GRIDS) == set(labs.functions())
    assert sum(sum(1 for _ in grid()) for grid in labs.GRIDS.values()) >= 20_000


def test_two_translations_are_equal_and_name_their_source(script: str) -> None:
    assert script.startswith(javascript())
    assert script.startswith(f"// Made from {', '.join(SOURCES)} when the site was built.")


def test_what_pscript_warns_of_on_a_newer_python_stops_no_build(monkeypatch: pytest.MonkeyPatch) -> None:
    """It looks for parts of `ast` that are going; with PYTHONWARNINGS=error, as in these tests, that would be an error."""
    plain, py2js = javascript(), pscript.py2js

    def warns(*arguments: object, **keywords: object) -> object:
        warnings.warn("ast.Ellipsis is deprecated", DeprecationWarning, stacklevel=2)
        return py2js(*arguments, **keywords)

    monkeypatch.setattr(pscript, "py2js", warns)
    assert javascript() == plain


CHANGES = {  # function: its module, its text, and a change
    "queue_peak": (KERNELS, "return largest - math.floor(", "return largest - 1 - math.floor("),
    "pipeline_total": (KERNELS, "rest = tasks - full * every", "rest = tasks - full * every + 1"),
    "ring_state": (KERNELS, "grid[right][chunk] += grid[i][chunk]", "grid[right][chunk] += 2 * grid[i][chunk]"),
    "transfer_s": (KERNELS, "return latency_s + transfer_bytes", "return latency_s + (1 + 1e-15) * transfer_bytes"),
    "half_up": ("perfmodel/wording.py", "value + 0.5 + 1e-9", "value + 0.5 - 1e-9"),
    "number": ("perfmodel/wording.py", "places = 2", "places = 1"),
    "way_name": ("macros/views/cluster.py", '"in shards"', '"in shreds"'),
    "scaled_bar": ("macros/views/ladder.py", "felt * 24 > 96", "felt * 24 > 97"),
}


@pytest.mark.parametrize("name", CHANGES)
@pytest.mark.parametrize("side", ["Python", "JavaScript"])
def test_a_function_changed_on_one_side_is_caught(script: str, name: str, side: str) -> None:
    """By as little as the last bit, or a letter."""
    path, old, new = CHANGES[name]
    assert TEXTS[path].count(old) == 1
    changed = TEXTS[path].replace(old, new)
    module = ModuleType("changed")
    exec(changed, module.__dict__)
    if side == "Python":
        _, wrong = labs.differences(name, script, module.__dict__[name])
    else:
        before = {one: TEXTS[one] for one in SOURCES[: SOURCES.index(path)]}
        _, wrong = labs.differences(name, javascript({**before, path: changed}))
    assert wrong
    assert wrong[0].startswith(f"{name}(")


def in_a_kernel(line: str) -> str:
    return f'import math\n\n\ndef f(x: float, y: list[float]) -> float:\n    """A kernel."""\n    {line}\n    return x\n'


REFUSED = [
    ("z = y[-1]", 6, 9, "JavaScript counts from the start only"),
    ("z = y[1:]", 6, 9, "JavaScript counts from the start only"),
    ("if y:\n        x = 1", 6, 8, "y: a test must compare, since lists and numbers are not true alike"),
    ("while not x:\n        x = 1", 6, 15, "x: a test must compare"),
    ("z = x and x > 1", 6, 9, "x: a test must compare"),
    ("z = 0 < x < 1", 6, 9, "compare two things at a time"),
    ("z = [1] == y", 6, 9, "lists are not compared alike"),
    ("z = [1] + y", 6, 9, "lists are not added or repeated alike"),
    ("z = [0] * 3", 6, 9, "lists are not added or repeated alike"),
    ("z = x ** 2", 6, 9, "Pow is not on the list of what is translated"),
    ("z = x in y", 6, 9, "In is not on the list"),
    ("z = sum(y)", 6, 9, "sum is not on the list of what is called"),
    ("z = round(x)", 6, 9, "round is not on the list of what is called"),
    ("z = max(y)", 6, 9, "max of a list is not translated"),
    ("z = math.exp(x)", 6, 9, "math.exp is not on the list of what is called"),
    ("y.sort()", 6, 5, "y.sort is not on the list of what is called"),
    ("z = b'text'", 6, 9, "only numbers, texts and truth values are translated, got b'text'"),
    ("z = None", 6, 9, "only numbers, texts and truth values are translated, got None"),
    ("z = f'{x}'", 6, 9, "JoinedStr is not on the list"),
    ("z = '%d' % x", 6, 9, "texts are only added"),
    ("z = 3 * 'a'", 6, 9, "texts are only added"),
    ("z = 'a' < str(x)", 6, 9, "texts are not ordered alike"),
    ("z = 'a'.upper()", 6, 9, "'a'.upper is not on the list of what is called"),
    ("z = 9007199254740993", 6, 9, "a whole number must be at most 2^53, got 9007199254740993"),
    ("a, b = x, x", 6, 5, "assign one thing at a time"),
    ("a = b = x", 6, 5, "assign one thing at a time"),
    ("z = {1: 2}", 6, 9, "Dict is not on the list"),
    ("z = (1, 2)", 6, 9, "Tuple is not on the list"),
    ("z = lambda: 1", 6, 9, "Lambda is not on the list"),
    ("raise ValueError", 6, 5, "Raise is not on the list"),
    ("with x:\n        pass", 6, 5, "With is not on the list"),
    ("for i in y:\n        pass\n    else:\n        x = 1", 6, 5, "a loop may have no else"),
    ("z = range(0, stop=3)", 6, 9, "range(…) may take positional arguments only"),
]


@pytest.mark.parametrize(("line", "row", "column", "message"), REFUSED, ids=[line for line, *_ in REFUSED])
def test_what_javascript_reads_otherwise_is_refused(line: str, row: int, column: int, message: str) -> None:
    found = refused(in_a_kernel(line))
    assert any((f.line, f.column) == (row, column) and message in f.message for f in found), found
    with pytest.raises(TranslationError, match=re.escape(f"{KERNELS}:{row}:{column}: ")):
        javascript({KERNELS: in_a_kernel(line)})


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("x = 1\n", ":1:1: only functions are translated"),
        ("import numpy\n", ":1:1: only functions are translated"),
        ("import math as m\n", ":1:1: only functions are translated"),
        ("class A:\n    pass\n", ":1:1: only functions are translated"),
        ("def f(x=1):\n    return x\n", ":1:1: f may take positional arguments only, without defaults or decorators"),
        ("def f(*x):\n    return 1\n", ":1:1: f may take positional arguments only"),
    ],
)
def test_what_is_no_function_is_refused(source: str, message: str) -> None:
    assert any(message in str(found) for found in refused(source))


def test_what_is_alike_is_not_refused() -> None:
    assert refused(TEXTS[KERNELS]) == []
    assert refused(in_a_kernel("z: list[float] = [x for x in y if x > 0]")) == []
    assert refused("def f(x: bool) -> str:\n    return 'a' + str(1) if x else ''.join(['b'])\n") == []


def test_a_truth_value_is_one_only_where_it_is_declared() -> None:
    found = refused("def f(x: float) -> int:\n    y = x > 1\n    if y:\n        return 1\n    return 0\n")
    assert [(f.line, f.message[:23]) for f in found] == [(3, "y: a test must compare,")]


OTHERS = {"perfmodel.kernels": {"ring_s"}}


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("from perfmodel.kernels import ring\n", "perfmodel.kernels has no function ring to import by that name"),
        ("from perfmodel.kernels import ring_s as r\n", "perfmodel.kernels has no function ring_s to import by that name"),
        ("from perfmodel.units import MB\n", "only functions are translated"),
        ("def ring_s(x):\n    return x\n", "ring_s has the name of another module's function"),
        ("def f(x):\n    return ring_s(x)\n", "ring_s is not on the list of what is called"),
    ],
)
def test_a_module_takes_from_those_before_it_by_name(source: str, message: str) -> None:
    assert any(message in f.message for f in refused(source, "macros/views/ring.py", OTHERS))
    assert (
        refused("from perfmodel.kernels import ring_s\n\n\ndef f(x):\n    return ring_s(x)\n", "macros/views/ring.py", OTHERS) == []
    )


def test_the_table_names_what_is_refused_in_a_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(labs, "script", lambda: javascript({KERNELS: in_a_kernel("z = y[-1]")}))
    assert labs.main() == 1
    assert capsys.readouterr().out == f"{KERNELS}:6:9: y[-1]: JavaScript counts from the start only, one element at a time\n"
