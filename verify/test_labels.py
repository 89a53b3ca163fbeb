"""The words that stand in the Python of figures and labs: no number is typed into them."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from macros import labels
from macros.prose import OTHER
from macros.scan import Fault
from verify.checkout import ROOT

LABELS = [
    ("a legend", 'go.Scatter(x=x, y=y, name=▸"4 servers")', "a naked number in a label: 4"),
    ("an axis", 'figure.update_layout(xaxis={"title": {"text": ▸"time (60 ms)"}})', "60 ms"),
    ("ticks", 'axis = {"ticktext": [▸"1 KB", text.show(1e6, "MB")]}', "1 KB"),
    ("a tick without a unit", 'axis = {"ticktext": [▸"1900", str(n)]}', "1900"),
    ("a note", 'figure.add_annotation(text=▸f"limit: 40 GB/s of {total}", x=1, y=1)', "40 GB/s"),
    ("a number in words", 'go.Bar(name=▸"all four GPUs")', "four GPUs"),
    ("a multiple", 'go.Bar(name=▸"twice the ring")', "a multiple in words in a label: twice"),
    ("a fraction as a character", 'go.Bar(name=▸"½ of it")', "½"),
    ("a badge", 'Drawn(figure, badge=▸"measured on 8 GPUs")', "8"),
    ("a key that is shown", '{▸"ring of 8": (ring, "compute")}', "8"),
    ("a preset", 'presets = ((▸"8 V100 with NVLink", machine("v100")),)', "8"),
    ("a text over lines", 'words = (\n    ▸"goes on "\n    "for 60 ms"\n)', "60 ms"),
    ("an exemption, tight", "words = ▸'[=plain(\"1985\",why=\"a year\")=]'", "an exemption in Python, where no pin holds it"),
    ("a fragment with a call", "words = ▸f'[= q(\"{shown}\", {name}) =] of 60 ms'", "60 ms"),
    ("in a tag", 'go.Bar(name=▸"<b>60 ms</b>")', "a naked number in a label: 60 ms"),
    ("after a sign that begins no tag", 'go.Bar(name=▸"waits < 5 ms")', "5 ms"),
    ("texts added up", 'words = ▸"It takes 6" + "0 ms, " + show(x)', "a naked number in a label: 60 ms"),
    ("a name after a docstring", '"""Doc."""\nname = ▸"4 servers"', "4"),
    ("a comparison", 'go.Bar(name=▸"the sum, faster than the ring")', "a comparison in a label: faster than; say it in the title or a sentence, with rel(…)"),
    ("a comparison of all", 'Drawn(figure, badge=▸"the fastest of them")', "a comparison of all in a label: fastest"),
    ("an equality", 'figure.add_annotation(text=▸f"{name}: the same time")', "a comparison in a label: the same time"),
    ("an exemption", "words = ▸'[= plain(\"1985\", why=\"a year\") =]'", "an exemption in Python, where no pin holds it"),
]  # fmt: skip
FREE = """'''Doc: 60 ms.'''
def f(value):
    '''Takes 60 ms, twice as long.'''
    if not value:
        raise ValueError(f"it must be at least 1, got {value}")
    words = {"learning rate 1.01 times": "the learning rate is a little too high"}
    names = loss["1"], value("v100.lanes"), count("lockstep.l2_four"), "pcie4", "h100x4"
    shown = f"{value:.1e}", f"{value:.3g} ms", f"GPU {value}", f"{value} replicas", text.show(value, "ms", 1), "relative distance from one replica"
    title = f"costs {shown} as much as that one, {shown} faster than this"
    cells = Code("z[z > 0]"), Name("L3 hit"), "PCIe 3.0 ×16", "1F1B", "worked example · Dive into Deep Learning 13.7", "FP32"
    return re.search(r"\\d+ [KM]B", "x"), '<rect height="30" rx="3"/>', 'It takes [= q("60 ms", sync.one_gpu) =], [=q("60 ms",sync.one_gpu)=].'
"""


# In the views of labs, which write HTML.
IN_A_VIEW = [
    ("a sentence", 'result = ▸"The ring takes 15 ms, not " + time_text(x) + "."', "15 ms"),
    ("beside a computed one", 'result = "The ring takes " + bold(▸"15 ms") + "."', "15 ms"),
    (
        "what a drawing says",
        """made = ▸'<svg role="img" aria-label="15 ms, of ' + time_text(x) + '" width="' + px(w) + '">'""",
        "15 ms",
    ),
    ("a tag that is cut", """made = ▸'"/><text x="4">15 ms</text><text x="'""", "15 ms"),
    ("a time that could be a path", 'made = cell(▸"5 h")', "5 h"),
    ("a multiple", 'result = ▸", twice as fast"', "twice"),
    ("a term of a formula", 'made = ▸"<p>ring: 2·(n−1)·160 MB = "', "160 MB"),
    ("a factor of another formula", 'made = ▸"<p>ring: 3·(n−1)·S / B = "', "3"),
    ("a factor with a digit before", 'made = ▸"<p>ring: 12·(n−1)·S / B = "', "12"),
    ("other steps", 'made = ▸"<p>steps: 2·(n−2) = "', "2"),
]
FREE_IN_A_VIEW = """
def f(x, n):
    made = '<rect class="bar" x="' + px(x) + '" y="4" width="12"/>'
    made += path("grid", "M" + px(x) + " 24v176") + svg(' width="12" height="' + px(n) + '"')
    made += item("Queueing takes longer than computing.") if x > n else item("The largest of all.")
    made += '" r="5"/>' + words(x, 4.5, "tick", "end", "0") + path("M" + px(x) + " 4l-5 20h5l5 -20z")
    return "<p>steps: 2·(n−1) = 2·" + str(n - 1) + "</p>" + "t / t<sub>ref</sub> · 1 s = "
"""


@pytest.mark.parametrize(("what", "code", "says"), LABELS, ids=[label[0] for label in LABELS])
def test_a_number_that_is_typed_into_a_label_is_named_where_it_stands(what: str, code: str, says: str) -> None:
    before = code[: code.index("▸")]
    at = (before.count("\n") + 1, len(before) - before.rfind("\n"))
    [fault] = labels.typed("macros/figures/x.py", code.replace("▸", ""))
    assert (fault.path, fault.line, fault.column) == ("macros/figures/x.py", *at)
    assert says in fault.message


@pytest.mark.parametrize(("what", "code", "says"), IN_A_VIEW, ids=[label[0] for label in IN_A_VIEW])
def test_a_number_that_is_typed_into_a_view_is_named_where_it_stands(what: str, code: str, says: str) -> None:
    [fault] = labels.typed("macros/views/x.py", code.replace("▸", ""))
    assert (fault.line, fault.column) == (1, code.index("▸") + 1)
    assert says in fault.message


def test_paths_and_factors_are_free_in_a_view_alone() -> None:
    assert [str(fault) for fault in labels.typed("macros/views/x.py", FREE_IN_A_VIEW)] == []
    assert len(labels.typed("macros/figures/x.py", 'a = "2·(n−1)"; b = "M4 24v176"')) == 4


def test_what_is_computed_or_no_label_is_free() -> None:
    assert [str(fault) for fault in labels.typed("macros/figures/x.py", FREE)] == []


def test_every_module_of_figures_is_read() -> None:
    assert {"macros/figures/act6.py", "macros/figures/reality.py", "macros/views/ring.py", "macros/labs.py"} <= {*labels.files()}
    assert [*labels.check_labels()] == []


@pytest.mark.parametrize(("file", "was", "becomes", "says"), [
    ("drawings", "{escape(rate)} each way", "32 GB/s each way", "32 GB/s"), ("drawings", '"CPU", "host"', '"CPU, 61 ms", "host"', "61 ms"),
    ("pages", '"computed"', '"computed in 61 ms"', "61 ms"),
])  # fmt: skip
def test_what_else_writes_words_is_read(file: str, was: str, becomes: str, says: str) -> None:
    path = f"macros/{file}.py"
    source = (ROOT / path).read_text(encoding="utf-8")
    assert path in labels.WRITERS
    assert source.count(was) == 1
    [fault] = labels.typed(path, source.replace(was, becomes))
    assert (fault.line, says in fault.message) == (source[: source.index(was)].count("\n") + 1, True)


def test_a_file_is_read_where_it_lies(tmp_path: Path) -> None:
    folder = tmp_path / "macros" / "figures"
    folder.mkdir(parents=True)
    (folder / "new.py").write_text('name = "4 servers × 2"\n', encoding="utf-8")
    (folder / "notes.txt").write_text('name = "4 servers"\n', encoding="utf-8")
    assert labels.files(tmp_path) == ["macros/figures/new.py", *labels.WRITERS]
    cure = "; compute it from the book, as text.show(value(name), unit) does"
    assert [*labels.check_labels(tmp_path)] == [
        Fault("macros/figures/new.py", 1, 8, f"a naked number in a label: {number}{cure}", "unbound") for number in ("4", "× 2")
    ]


def test_what_is_computed_stands_as_a_mark() -> None:
    assert [words for _, words in labels.texts(ast.parse('name = f"of {total} in {all}"'))] == [f"of {OTHER} in {OTHER}"]
