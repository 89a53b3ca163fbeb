"""`make mutants`: plants faults one at a time and sees that the audit names each, and makes harmless edits and sees that it names none.

The faults are those of `verify.mutations`, to be named with file and line; the edits are those of `verify.harmless`. It prints a line a
kind, then what survived and what rang falsely, and fails when anything did. What is done is kept in build/mutants.jsonl under the hash of
the sources: a run that was stopped goes on there. `--restart` forgets it.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import multiprocessing
import os
import signal
import sys
import tempfile
import time
import types
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from macros import audit, drawings, figures, labels, labs, published, quotes, reality, records, relations, runs
from macros.audit import Audit, audit_page
from macros.calls import Recorder, Use, recording
from macros.evaluate import Evaluator, using
from macros.fingerprint import ROOT, sources
from macros.gpu_record import read as read_clocked
from macros.pins import check_exempt
from macros.quantity import QuoteError
from macros.records import RecordError
from macros.says import check_says
from macros.scan import Fault
from perfmodel import book as book_module
from perfmodel.number import Ledger, Number
from verify import harmless
from verify.mutations import Mutant, all_of, evaluator, text_of

PROGRESS = ROOT / "build" / "mutants.jsonl"
CORES = 2
SURVIVED = "survived"


# What the audit says of a changed source ----------------------------------------------------------------------------------------------


def of_page(path: str, text: str) -> list[Fault]:
    """All that is wrong with one page of this text, the rest of the project being as it is."""
    found = Audit()
    with using(evaluator().book):
        audit_page(path, text, evaluator(), found)
    return [*found.faults, *check_exempt(audit.exempt(found), ROOT / audit.EXEMPT, found.pages)]


@cache
def _work() -> tempfile.TemporaryDirectory[str]:
    """A folder that goes when this process does; the processes that part from it have one of their own in it."""
    return tempfile.TemporaryDirectory(prefix="mutants-")


def _folder() -> Path:
    """Where a changed file lies while it is read: a message shows the lines of the file that it names."""
    return Path(_work().name) / str(os.getpid())


def of_module(file: str, text: str, first: int = 0, until: Callable[[list[Fault]], bool] = lambda _: False) -> list[Fault]:
    """All that is wrong with the words of one Python module of this text. What stands at line `first` is drawn first, until enough is found."""
    path = _folder() / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    name = file.removesuffix(".py").replace("/", ".")
    module = types.ModuleType(name)
    module.__file__ = str(path)
    exec(compile(text, str(path), "exec"), module.__dict__)
    found: list[Fault] = []
    with contextlib.ExitStack() as stack:
        stack.enter_context(using(evaluator().book))
        for drawn in sorted(_drawn(module, stack), key=lambda each: not each[0] <= first <= each[1]):
            recorder = Recorder(page="docs/x.md")
            with recording(recorder):
                drawn[2]()
            found += recorder.faults
            if until(found):
                break
    return found


def _drawn(module: types.ModuleType, stack: contextlib.ExitStack) -> list[tuple[int, int, Callable[[], Any]]]:
    """What a module draws: from which line to which its function goes, and the call that draws it. The module is in use meanwhile."""
    made: list[tuple[int, int, Callable[[], Any]]] = []
    homes: dict[str, tuple[types.ModuleType, Callable[[str], Any]]] = {
        "FIGURES": (figures, figures.figure), "TABLES": (figures, figures.table), "DRAWINGS": (module, getattr(module, "drawing", drawings.drawing)),
        "LABS": (module, getattr(module, "lab", labs.lab)),
    }  # fmt: skip
    if hasattr(module, "FIGURES"):
        stack.enter_context(_patched(figures, "_made", {}))
    for kind, (home, call) in homes.items():
        if hasattr(module, kind):
            own = getattr(module, kind)
            if home is not module:
                stack.enter_context(_patched(home, kind, {**getattr(home, kind), **own}))
            for name, draw in own.items():
                code = draw.__code__
                last = max((line for *_, line in code.co_lines() if line), default=code.co_firstlineno)
                made.append((code.co_firstlineno, last, lambda call=call, name=name: call(name)))  # type: ignore[misc]
    return made


@contextlib.contextmanager
def _patched(module: object, name: str, value: object) -> Iterator[None]:
    old = getattr(module, name)
    setattr(module, name, value)
    try:
        yield
    finally:
        setattr(module, name, old)


class Slipped(Ledger):
    """A ledger into which one number is entered 1 % too large, and all others as they are computed from it."""

    def __init__(self, slipped: str = "") -> None:
        super().__init__()
        self.slipped = slipped

    def _add(self, number: Number) -> Number:
        if number.name == self.slipped:
            value = number.value
            larger = tuple(v * 1.01 or 1e-12 for v in value) if isinstance(value, tuple) else value * 1.01 or 1e-12
            number = replace(number, value=larger)
        return super()._add(number)


@cache
def _book_code() -> list[tuple[str, types.CodeType]]:
    names = [name for name in book_module.__all__ if name != "LEDGER"]
    paths = [ROOT / "perfmodel" / "book" / f"{name}.py" for name in names]
    return [(f"perfmodel.book.{p.stem}", compile(p.read_text(encoding="utf-8"), str(p), "exec")) for p in paths]


def made_again(slipped: str = "") -> Ledger:
    """The book made again from its sources, with one number 1 % too large."""
    ledger = Slipped(slipped)
    with _patched(book_module.ledger, "LEDGER", ledger):
        for name, code in _book_code():
            exec(code, {"__name__": name})
    runs.enter.__wrapped__(ledger)
    reality.enter.__wrapped__(ledger)
    return ledger


@cache
def _uses() -> list[Use]:
    """Every quote and relation of the project as it is."""
    return [use for use in audit.audit_sources().uses if use.kind != "e"]


def of_book(ledger: Ledger) -> tuple[list[Fault], int]:
    """What is wrong with a book, and how many quotes and relations of the pages no longer hold with it."""
    again = Evaluator(ledger)
    moved = 0
    for use in _uses():
        check = relations.check if use.kind == "r" else quotes.check
        try:
            check(use.shown, *(again.value(q.expr) for q in use.quantities))
        except QuoteError:
            moved += 1
    return [*audit.check_book(ledger, ROOT / audit.PINS)], moved


def of_pins(text: str) -> list[Fault]:
    """What is wrong with the book when its pins are these."""
    path = _folder() / audit.PINS
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="")
    return [*audit.check_book(evaluator().book, path)]


def of_record(file: str, text: str) -> str:
    """Why a record of this text is refused, "" when it is taken."""
    path = _folder() / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="")
    try:
        if path.suffix == ".csv":
            entries = path.with_name("sources.json")
            if not entries.exists():
                entries.write_bytes((published.PATH / "sources.json").read_bytes())
            published.read(path.parent, path.stem)
        elif path.stem in records.MAKERS:
            records.read(path)
        else:
            read_clocked(path)
    except RecordError as error:
        return str(error)
    return ""


# Judging ---------------------------------------------------------------------------------------------------------------------------------


class Result(NamedTuple):
    """How one mutant or harmless edit ended: what it is, its kind, and what is wrong; "" when it is as it must be."""

    key: str
    kind: str
    wrong: str
    note: int = 0


def judged(mutant: Mutant) -> Result:
    """Plant one fault and read what the audit says."""
    text = mutant.applied(text_of(mutant.file)) if mutant.edits else ""
    note = 0

    def hit(faults: Iterable[Fault]) -> bool:
        return any(f.path == mutant.file and {(f.line, f.column), (f.line, 0)} & {*mutant.places} for f in faults)

    try:
        if mutant.kind == "given":
            faults, note = of_book(made_again(mutant.what.split()[0]))
            caught = hit(faults)
            said = "; ".join(map(str, faults[:2]))
        elif mutant.kind == "words of the book":
            name, _, says = mutant.what.partition(": ")
            faults = [*check_says([replace(evaluator().book[name], says=says)])]
            caught = hit(faults)
            said = "; ".join(map(str, faults))
        elif mutant.kind in ("record", "published"):
            said = of_record(mutant.file, text)
            caught = "was changed" in said
        else:
            if mutant.file.endswith(".md"):
                faults = of_page(mutant.file, text)
            else:
                faults = [*labels.typed(mutant.file, text)]
                faults += [] if hit(faults) else of_module(mutant.file, text, mutant.places[0][0], hit)
            caught = hit(faults)
            said = "; ".join(map(str, faults[:2]))
    except Exception as error:  # noqa: BLE001  a fault that stops the audit is none that it names
        caught, said = False, f"{type(error).__name__}: {error}"
    wrong = "" if caught else said or "nothing is said"
    return Result(str(mutant), mutant.kind, wrong, note)


def edited(edit: harmless.Edit) -> Result:
    """Make one harmless edit and read what the audit says, which must be nothing."""
    text = edit.applied()
    try:
        if edit.file.endswith(".md"):
            said = "; ".join(map(str, of_page(edit.file, text)[:2]))
        elif edit.file.endswith(".py"):
            said = "; ".join(map(str, [*labels.typed(edit.file, text), *of_module(edit.file, text)][:2]))
        elif edit.file == audit.PINS:
            said = "; ".join(map(str, of_pins(text)[:2]))
        else:
            said = of_record(edit.file, text)
    except Exception as error:  # noqa: BLE001  so does an edit that stops it
        said = f"{type(error).__name__}: {error}"
    return Result(str(edit), harmless.KIND, said)


Task = Mutant | harmless.Edit


def done(task: Task) -> Result:
    """What a worker does with a task."""
    return judged(task) if isinstance(task, Mutant) else edited(task)


def _ignore_interrupts() -> None:
    """A worker leaves Ctrl-C to the process that started it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


# Progress ----------------------------------------------------------------------------------------------------------------------------------


def remembered(path: Path, code: str) -> dict[str, Result]:
    """What an earlier run over the same sources has done; nothing when it was over others, or the file can't be read."""
    try:
        first, *rest = path.read_text(encoding="utf-8").splitlines()
        if json.loads(first) != {"sources": code}:
            return {}
        return {r.key: r for r in (Result(*json.loads(line)) for line in rest if line.endswith("]"))}
    except (OSError, ValueError, TypeError):
        return {}


def run(tasks: Sequence[Task], *, cores: int = CORES, path: Path = PROGRESS, restart: bool = False) -> list[Result]:
    """Do all tasks that an earlier run has not done, on several cores. Each result is written down as soon as it is there."""
    code = sources(ROOT)
    before = {} if restart else remembered(path, code)
    left = [task for task in tasks if key_of(task) not in before]
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps({"sources": code}), *(json.dumps(r, ensure_ascii=False) for r in before.values())]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    found = [before[key_of(task)] for task in tasks if key_of(task) in before]
    evaluator(), _uses(), _work()  # once, before the processes part
    with path.open("a", encoding="utf-8") as file, multiprocessing.get_context("fork").Pool(cores, _ignore_interrupts) as pool:
        for result in pool.imap_unordered(done, left, chunksize=16):
            file.write(json.dumps(result, ensure_ascii=False) + "\n")
            file.flush()
            found.append(result)
            _show(len(found), len(tasks))
    return found


def key_of(task: Task) -> str:
    """What a task is called in the file of progress."""
    return str(task)


def _show(number: int, of: int) -> None:
    if sys.stderr.isatty() and number % 50 == 0:
        print(f"\r{number} of {of}", end="", file=sys.stderr, flush=True)


def table(results: Sequence[Result]) -> str:
    """A line a kind, then a line for each that is not as it must be."""
    lines = [f"{'kind':<28} {'caught':>7} {'planted':>8}"]
    for kind in dict.fromkeys(r.kind for r in results if r.kind != harmless.KIND):
        own = [r for r in results if r.kind == kind]
        seen = sum(bool(r.note) for r in own)
        quoted = f"   {seen} move a quote as well" if kind == "given" else ""
        lines.append(f"{kind:<28} {sum(not r.wrong for r in own):>7} {len(own):>8}{quoted}")
    faults = [r for r in results if r.kind != harmless.KIND]
    edits = [r for r in results if r.kind == harmless.KIND]
    caught = sum(not r.wrong for r in faults)
    lines.append(f"{'all':<28} {caught:>7} {len(faults):>8}   {caught / len(faults):.2%}" if faults else "no fault was planted")
    lines.append(f"{len(edits)} harmless edits, {sum(bool(r.wrong) for r in edits)} false alarms")
    lines += [f"{r.key}: {SURVIVED}: {r.wrong}" for r in faults if r.wrong]
    lines += [f"{r.key}: a false alarm: {r.wrong}" for r in edits if r.wrong]
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Plant all, or what is left of it. The exit status is 1 when something survived or rang falsely, 130 when it was stopped."""
    parser = argparse.ArgumentParser(prog="python -m verify.mutants", description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--restart", action="store_true", help="forget what an earlier run has done")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="plant only every Nth")
    parser.add_argument("files", nargs="*", help="plant only in these files, docs/acts/2-queue.md for one")
    options = parser.parse_args(arguments)
    began = time.monotonic()
    tasks: list[Task] = [*all_of(options.files), *harmless.edits(options.files)]
    try:
        results = run(tasks[:: options.every], path=PROGRESS, restart=options.restart)
    except KeyboardInterrupt:
        print("\nstopped: run it again to go on", file=sys.stderr)
        return 130
    print(table(results))
    print(f"{time.monotonic() - began:.0f} s on {CORES} cores")
    return 1 if any(r.wrong for r in results) else 0


if __name__ == "__main__":
    sys.exit(main())
