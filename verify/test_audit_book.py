"""The audit of the book: every given is held by its pin, every exemption by its line, and a model that slips is caught."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import replace as replaced
from pathlib import Path
from typing import Any

import pytest

from macros import audit as auditing
from macros.audit import CALLABLE, EXEMPT, PINS, audit_sources, check_book
from macros.calls import Use
from macros.evaluate import Evaluator, book
from macros.pins import check_exempt
from macros.says import check_says
from macros.scan import Fault
from perfmodel import collectives, kernels
from perfmodel.book import LEDGER
from perfmodel.number import Ledger
from verify.audited import FRONT, audit_one, source_of
from verify.checkout import ROOT
from verify.planted import ACT2, ACT6

BOOK = "perfmodel/book"


def rebuilt(monkeypatch: pytest.MonkeyPatch, changes: dict[str, tuple[str, str]] | None = None) -> Ledger:
    """The book made again from its sources, with texts changed: module -> (old, new)."""
    fresh = Ledger()
    monkeypatch.setattr("perfmodel.book.ledger.LEDGER", fresh)
    for name in importlib.import_module("perfmodel.book").__all__:
        if name == "LEDGER":
            continue
        path = ROOT / "perfmodel" / "book" / f"{name}.py"
        source = path.read_text(encoding="utf-8")
        old, new = (changes or {}).get(name, ("", ""))
        assert old in source
        exec(compile(source.replace(old, new, 1) if old else source, str(path), "exec"), {"__name__": f"perfmodel.book.{name}"})
    for number in LEDGER:
        if not number.path.startswith(BOOK):  # entered by others, from records
            fresh._add(number)
    return fresh


def test_the_book_made_again_is_the_book(monkeypatch: pytest.MonkeyPatch) -> None:
    assert {n.name: n.value for n in rebuilt(monkeypatch)} == {n.name: n.value for n in LEDGER}


SAID = [  # the words of scale.ring_eight, whose ring has eight GPUs and a gradient of 160 MB, and what is named in them
    ("the ring over eight GPUs", ""),
    ("the ring over 8 GPUs, 160 MB", ""),
    ("the largest ring, one of 17.5 ms", ""),
    ("Send 4 KB over 100 Gbps fabric, and the other rungs", ""),
    ("the ring over nine GPUs", "nine GPUs"),
    ("the ring over 9 GPUs", "9"),
    ("a ring of eight, 161 MB", "161 MB"),
    ("a ring of eight, 160 GB", "160 GB"),
    ("the ring over eight GPUs, twice as long", "twice"),
    ("a ring that doubles", "doubles"),
]


@pytest.mark.parametrize(("says", "wrong"), SAID, ids=[says for says, _ in SAID])
def test_a_number_in_the_words_of_the_book_is_one_that_its_number_is_made_of(says: str, wrong: str) -> None:
    ring = replaced(book()["scale.ring_eight"], says=says)
    faults = [*check_says([ring])]
    assert [(f.path, f.line, f.message.split('"')[1]) for f in faults] == ([(ring.path, ring.line, wrong)] if wrong else [])
    assert all("scale.eight = 8" in f.message for f in faults)


def test_a_number_that_is_made_of_a_list_is_named_too() -> None:
    ring = book()["scale.ring_eight"]
    pair = replaced(ring, name="scale.pair", value=(0.06, 0.08), unit="ms", inputs={})
    [fault] = check_says([replaced(ring, says="in nine steps, or 80 ms", inputs={"p": pair})])
    assert '"nine steps" in the words of scale.ring_eight is no number that it is made of (scale.pair = ' in fault.message


def test_a_number_in_the_words_of_a_number_is_named_with_what_that_is_made_of() -> None:
    ring = book()["scale.ring_eight"]
    four, link = replaced(ring, name="x.four", value=0.004, unit="ms", inputs={}), book()["sync.link"]
    cure = "say it without, or make it of that number"
    for inputs, parts in (({}, "it is given"), ({"n": four, "b": link}, "x.four = 4\u00a0ms, sync.link = 16\u00a0GB/s")):
        message = f'"nine steps" in the words of scale.ring_eight is no number that it is made of ({parts}): {cure}'
        wrong = replaced(ring, says="in nine steps", inputs=inputs)
        assert [*check_says([wrong])] == [Fault(ring.path, ring.line, 1, message, "unbound")]


def test_a_count_that_changes_is_seen_in_the_words_that_repeat_it() -> None:
    ring = book()["scale.ring_eight"]
    fewer = {symbol: replaced(part, value=4) if part.name == "scale.eight" else part for symbol, part in ring.inputs.items()}
    assert [f.message.split('"')[1] for f in check_says([replaced(ring, inputs=fewer)])] == ["eight GPUs"]
    assert [*check_says(book())] == []


def test_a_given_changed_by_one_per_cent_is_named_with_its_pin(monkeypatch: pytest.MonkeyPatch) -> None:
    old = '_given("sync.link", 16 * GB'
    source = source_of("perfmodel/book/act6.py")
    line = source[: source.index(old)].count("\n") + 1
    pin = [*source_of(PINS).split("\n")].index(next(row for row in source_of(PINS).split("\n") if row.startswith("sync.link,"))) + 1
    ledger = rebuilt(monkeypatch, {"act6": (old, '_given("sync.link", 16.16 * GB')})
    misspelt = source_of(ACT2) + '\n[= figure("quue-depth") =]\n'
    found = audit_sources(book=ledger, overrides={ACT2: misspelt}).faults
    assert any(
        str(f).startswith(f"{BOOK}/act6.py:{line}:1: sync.link is 16.16 GB/s, but {PINS}:{pin} pins 16 GB/s (") for f in found
    )
    assert any(f.path == ACT6 and "for sync.link, the model says 16 GB/s" not in f.message for f in found)
    assert any(
        f.path == "macros/figures/act6.py" and "for scale.ring_eight, the model says 17.3 ms" in f.message for f in found
    )  # of this book
    assert [f.message for f in found if f.path == ACT2] == ['there is no figure "quue-depth"; did you mean queue-depth?']


def shifted(by: float) -> Ledger:
    """The givens of the book, each changed a little."""
    ledger = Ledger()
    for number in LEDGER:
        if number.kind == "given":
            values = number.value if isinstance(number.value, tuple) else (number.value,)
            moved = tuple(v * by if v else (by - 1) * 1e-12 for v in values)
            ledger.given(
                number.name, moved if isinstance(number.value, tuple) else moved[0], number.unit, number.says, number.source
            )
    return ledger


@pytest.mark.parametrize("by", [1.01, 0.99, 1.0000001, -1.0])
def test_every_given_is_caught_however_little_it_moves(by: float) -> None:
    found = [*check_book(shifted(by), ROOT / PINS)]
    assert {f.message.split(" ")[0] for f in found if " pins " in f.message} == {n.name for n in LEDGER if n.kind == "given"}
    assert [*check_book(shifted(1.0), ROOT / PINS)] == []


def test_a_pin_changed_missing_or_for_no_number_is_named(tmp_path: Path) -> None:
    pins = tmp_path / "given.csv"
    rows = source_of(PINS).split("\n")
    at = next(i for i, row in enumerate(rows) if row.startswith("sync.gradient,"))
    for new, says in (
        (rows[at].replace("160 MB", "161 MB"), "pins 161 MB"),
        (rows[at].replace("160 MB", "160 MiB"), "pins 160 MiB"),
        (None, "sync.gradient is given but not pinned"),
        (
            rows[at].replace("sync.gradient", "sync.gradeint"),
            "sync.gradeint is not a number of the book; did you mean sync.gradient?",
        ),
    ):
        pins.write_text("\n".join([*rows[:at], *([new] if new else []), *rows[at + 1 :]]), encoding="utf-8")
        found = [*check_book(LEDGER, pins, tmp_path)]
        assert any(says in f.message for f in found)
        assert len(found) == (2 if new and "gradeint" in new else 1)
        number = LEDGER["sync.gradient"]
        assert (found[0].path, found[0].line, found[0].column) == (number.path, number.line, 1)


EXEMPTS = '---\ntitle: Since 2017\ntitle_quotes:\n  "2017": plain, a year\n---\n\nIn [= plain("ten, or so", why="a guess") =] and [= plain("ten, or so", why="a guess") =].\n'


@pytest.mark.parametrize(("old", "new", "expected"), [
    ("", "", []),
    ('plain("ten,', 'plain("six,', ['docs/x.md:7:4: exempts "six, or so", a guess; nothing holds them: add the line docs/x.md,"six, or so",a guess to verify/expected/plain.csv']),
    (' and [= plain("ten, or so", why="a guess") =]', "", []),
    ('ten, or so", why="a guess") =] and [= plain("ten, or so", why="a guess', 'six, or so", why="a guess', ['docs/x.md:7:4: exempts "six, or so", a guess; verify/expected/plain.csv:2 pins "ten, or so", a guess']),
    ("2017\": plain", "2018\": plain", ['docs/x.md:4:4: exempts "2018", a year; verify/expected/plain.csv:3 pins "2017", a year']),
    ("In [", "In [= plain(\"so, so\", why=\"a word\") =] [", ['docs/x.md:7:4: exempts "so, so", a word; nothing holds them: add the line docs/x.md,"so, so",a word to verify/expected/plain.csv']),
    ('In [= plain("ten, or so", why="a guess") =] and [= plain("ten, or so", why="a guess") =].', "In it.", ['verify/expected/plain.csv:2:1: docs/x.md does not exempt "ten, or so", a guess: take the line out']),
], ids=["as it is", "one of two", "one alone", "other words", "another year", "one more", "one less"])  # fmt: skip
def test_words_that_nothing_else_holds_are_pinned(tmp_path: Path, old: str, new: str, expected: list[str]) -> None:
    pins = tmp_path / "plain.csv"
    pins.write_text(
        'page,words,why\ndocs/x.md,"ten, or so",a guess\ndocs/x.md,2017,a year\ndocs/y.md,60,a page that is not asked for\n',
        encoding="utf-8",
    )
    audit = audit_one("docs/x.md", EXEMPTS.replace(old, new, 1 if "ten" in old else -1))
    assert [str(f) for f in check_exempt(auditing.exempt(audit), pins, audit.pages)][: len(expected) or 1] == expected


@pytest.mark.parametrize(("words", "why", "says", "left"), [
    ("60", "a year", "", [3]), ("60", "a page", 'verify/expected/plain.csv:2 pins "60", a year', [3]), ("ten", "a guess", 'verify/expected/plain.csv:3 pins "six", a guess', [2]),
    ("ten", "a word", "nothing holds them: add the line x.md,ten,a word to verify/expected/plain.csv", [2, 3]),
    ('the "XL" one', "a, b", 'nothing holds them: add the line x.md,"the ""XL"" one","a, b" to verify/expected/plain.csv', [2, 3]),
    ("XL", "a\nb", 'nothing holds them: add the line x.md,XL,"a b" to verify/expected/plain.csv', [2, 3]),
])  # fmt: skip
def test_an_exemption_is_held_against_the_pins_of_its_page(
    tmp_path: Path, words: str, why: str, says: str, left: list[int]
) -> None:
    pins = tmp_path / "plain.csv"
    pins.write_text("page,words,why\nx.md,60,a year\nx.md,six,a guess\ny.md,ten,a word\n", encoding="utf-8")
    use = Use("e", "x.md", 4, 7, words, why=why)
    said = f'x.md:4:7: exempts "{words}", {why}; {says}'.replace("\n", " ")
    lines = {2: 'does not exempt "60", a year', 3: 'does not exempt "six", a guess'}
    found = [*check_exempt([use], pins, ["x.md"])]
    assert [str(f) for f in found] == [
        *([said] if says else []),
        *(f"verify/expected/plain.csv:{line}:1: x.md {lines[line]}: take the line out" for line in left),
    ]
    assert [f.sort for f in found] == [*(["drifted"] if says else []), *("broken" for _ in left)]


def test_a_pin_of_an_exemption_with_a_cell_too_few_is_named(tmp_path: Path) -> None:
    pins = tmp_path / "plain.csv"
    pins.write_text("page,words,why\ndocs/x.md,60\n", encoding="utf-8")
    assert [str(f) for f in check_exempt([], pins, ["docs/x.md"])] == [
        f"{EXEMPT}:2:1: a pin has three cells, page, words and why; got 2"
    ]


MODELS: list[tuple[str, Any, str, Callable[..., float], str]] = [
    # 2·(n−1) becomes 2·n, as a slip would have it: the page, the printed formula, or both must disagree
    ("2(n−1) for 2n in a closed form", collectives, "one_gpu_s", lambda *, gradient_bytes, gpus, link_bytes_per_s, **_: 2 * gpus * gradient_bytes / link_bytes_per_s, "sync.one_gpu"),
    ("a ring that forgets its last step", collectives, "ring_s", lambda *, gradient_bytes, gpus, link_bytes_per_s, latency_s=0.0, **_: (2 * (gpus - 1) - 1) * (latency_s + gradient_bytes / (gpus * link_bytes_per_s)), "sync.ring"),
    ("a transfer that is 1 % too long", kernels, "transfer_s", lambda size, rate, latency: 1.01 * size / rate + latency, "sync.hop"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "module", "function", "wrong", "number"), MODELS, ids=[m[0] for m in MODELS])
def test_a_model_that_slips_is_caught(
    monkeypatch: pytest.MonkeyPatch, name: str, module: Any, function: str, wrong: Callable[..., float], number: str
) -> None:
    monkeypatch.setattr(module, function, wrong)
    ledger = rebuilt(monkeypatch)
    book = [*check_book(ledger, ROOT / PINS)]
    assert any(f.message.startswith(f"{number}: its printed formula ") and f.path == f"{BOOK}/act6.py" for f in book)
    if "1 %" not in name:
        page = audit_one(ACT6, source_of(ACT6), Evaluator(ledger, CALLABLE)).faults
        assert any(f"for {number}, the model says " in f.message and f.sort == "drifted" for f in page)


def test_a_relation_left_behind_when_the_model_moves_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        collectives, "cpu_s", lambda *, gradient_bytes, gpus, link_bytes_per_s, **_: gradient_bytes / link_bytes_per_s
    )
    page = f'{FRONT}It is [= rel("slower", sync.cpu, sync.one_gpu) =].'
    assert audit_one("docs/x.md", page).faults == []
    [fault] = audit_one("docs/x.md", page, Evaluator(rebuilt(monkeypatch), CALLABLE)).faults
    assert (
        fault.message
        == '"slower" does not hold: sync.cpu is 10 ms and sync.one_gpu is 60 ms (sync.cpu < sync.one_gpu); write "faster"'
    )
