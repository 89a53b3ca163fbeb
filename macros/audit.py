"""The audit: every call of every page evaluated, every word between the calls read, every fault listed in one run.

It reads the sources alone and needs no build, so that nothing depends on a hook having run. `python -m macros.audit` is `make numbers`.
"""

from __future__ import annotations

import csv
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import yaml

from macros import naked, quotes, text
from macros.calls import INLINE, Recorder, Use, recording
from macros.evaluate import Evaluator
from macros.figures import figure
from macros.pages import cards, credit, ledger, live, verification
from macros.quantity import QuoteError, of, unknown
from macros.scan import Call, Fault, Page, prose, scan
from macros.tables import table
from perfmodel.number import KINDS, Ledger

ROOT = Path(__file__).resolve().parent.parent
PINS = "verify/expected/given.csv"
BOOK = "perfmodel/book.py"

# Everything a page can call. Blocks stand on a line of their own.
BLOCKS: dict[str, Callable[..., Any]] = {
    "figure": figure, "table": table, "credit": credit, "cards": cards, "ledger": ledger, "live": live, "verification": verification,
}  # fmt: skip
CALLABLE: dict[str, Callable[..., Any]] = {**INLINE, **BLOCKS}


@dataclass
class Audit:
    """What the audit found: the pages as scanned, what they bind, and what is wrong."""

    pages: dict[str, Page] = field(default_factory=dict)
    uses: list[Use] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    titles: dict[str, list[str]] = field(default_factory=dict)  # page -> the numbers its title and description bind

    def coverage(self) -> str:
        """The line that says what is bound, by kind, and what is not."""
        kinds = Counter(kind_of(use) for use in self.uses if use.kind == "q")
        sorts = Counter(fault.sort for fault in self.faults)
        of_kind = ", ".join(f"{kinds[k]} {'computed' if k == 'model' else k}" for k in ("model", *(k for k in KINDS if k != "model")))
        counts = Counter(use.kind for use in self.uses)
        broken = f", {sorts['broken']} broken" if sorts["broken"] else ""
        return (
            f"numbers   {counts['q']} quoted: {of_kind}; {_count(counts['r'], 'relation')}; {counts['e']} plain; "
            f"{sorts['unbound']} unbound, {sorts['drifted']} drifted{broken}"
        )


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def kind_of(use: Use) -> str:
    """given, run or measured when the quote is of one such number; computed (model) otherwise."""
    single = use.quantities[0].single if len(use.quantities) == 1 else None
    return single.kind if single else "model"


def audit_page(path: str, source: str, evaluator: Evaluator, audit: Audit) -> Page:
    """Audit one page: add its uses and faults to `audit`."""
    page = scan(path, source)
    audit.pages[path] = page
    audit.faults += page.faults
    recorder = Recorder(page=path)
    with recording(recorder):
        for call in page.calls:
            if call.where == "comment":
                continue
            recorder.line, recorder.column = call.line, call.column
            try:
                evaluator.call(call)
            except QuoteError as error:
                audit.faults.append(_fault_of(page, call, error))
        audit.faults += _front_matter(page, evaluator, audit, recorder)
    audit.uses += recorder.uses
    audit.faults += [fault for fault in recorder.faults if fault not in audit.faults]
    audit.faults += _naked(page, evaluator.book)
    audit.faults += _structure(page)
    return page


def _fault_of(page: Page, call: Call, error: QuoteError) -> Fault:
    old = ""
    if error.fix:
        literal = re.search(r'\(\s*("(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\')', page.source[call.start : call.end])
        old = literal[1][1:-1] if literal else ""
    return page.fault(call.start, str(error), "drifted" if call.macro in ("q", "qt", "rel") else "broken", old, error.fix)


def matching(fragment: str, book: Ledger) -> list[str]:
    """The names whose value a naked number could quote."""
    found: list[str] = []
    for number in book:
        try:
            quotes.check(fragment, of(number))
        except QuoteError:
            continue
        found.append(number.name)
    return found


def _naked(page: Page, book: Ledger) -> Iterator[Fault]:
    words = prose(page)
    for finding in naked.findings(words.text):
        names = matching(finding.text, book) if finding.rule == "a naked number" else []
        hint = f" (it could be {', '.join(names[1:4])})" if len(names) > 1 else ""
        yield page.fault(finding.start, f"{finding.rule}: {finding.text}; {naked.cure(finding, names[0] if names else '')}{hint}", "unbound")
    for offset, code in words.code:
        if naked.in_code(code):
            yield page.fault(offset, f'a naked number in inline code: `{code}`; bind it: [= q("{code.strip()}", name) =]', "unbound")
    for offset, tex in words.math:
        number = naked.in_formula(tex)
        if number:
            yield page.fault(offset, f"a naked number in a formula: {number}; print the formula with formula(name, numbers=True)", "unbound")


def _front_matter(page: Page, evaluator: Evaluator, audit: Audit, recorder: Recorder) -> Iterator[Fault]:
    """Title and description: their numbers are declared under `title_quotes`, each with its name."""
    raw = page.source[: page.body]
    if not raw:
        return
    try:
        meta = yaml.safe_load(raw.strip().strip("-")) or {}
    except yaml.YAMLError as error:
        yield page.fault(0, f"the front matter cannot be read: {' '.join(str(error).split())}")
        return
    if not isinstance(meta, dict):
        return
    declared = meta.get("title_quotes") or {}
    if not isinstance(declared, dict):
        yield page.fault(max(raw.find("title_quotes"), 0), "title_quotes holds one line a number: \"160-megabyte\": sync.gradient")
        return
    bound = audit.titles.setdefault(page.path, [])
    for words, expression in declared.items():
        offset = max(raw.find(f"{words}", raw.find("title_quotes")), 0)
        recorder.line, recorder.column = page.place(offset)
        try:
            wrong = evaluator.misspelt(str(expression))
            if wrong:
                raise QuoteError(wrong)
            INLINE["q"](str(words), evaluator.value(str(expression)))
            bound.append(str(words))
        except (QuoteError, SyntaxError) as error:
            yield page.fault(offset, str(error), "drifted")
            bound.append(str(words))  # named once, as a wrong quote
    for key in ("title", "description"):
        value = str(meta.get(key, ""))
        rest = value
        for words in bound:
            rest = rest.replace(words, " " * len(words))
        offset = max(raw.find(value.split("\n")[0][:20], max(raw.find(f"{key}:"), 0)), 0)
        for finding in naked.findings(rest):
            yield page.fault(
                offset + finding.start, f'{finding.rule} in the {key}: {finding.text}; declare it under title_quotes: "{finding.text}": name', "unbound"
            )


_HEADING = re.compile(r"^(#{1,6})[ \t]+(.*)$", re.MULTILINE)


def _structure(page: Page) -> Iterator[Fault]:
    """What every page and every act must have: explicit ids where a number would enter a URL; in a step, a figure and what to notice."""
    steps: list[tuple[int, str]] = []
    for found in _HEADING.finditer(page.source, page.body):
        offset, words = found.start(), found[2]
        has_call = any(found.start() <= call.start < found.end() for call in page.calls)
        if has_call and not re.search(r"\{[^{}]*#[\w-]+[^{}]*\}\s*$", words):
            yield page.fault(offset, "a heading with a number needs an id of its own, or the number enters the URL: { #short-name }")
        step = re.search(r"\{[^{}]*\.step\b[^{}]*\}\s*$", words)
        if step:
            number = re.search(r"#step-(\d+)\b", step[0])
            expected = len(steps) + 1
            if not number or int(number[1]) != expected:
                yield page.fault(offset, f"this is step {expected} of the page: its heading ends with {{ .step #step-{expected} }}")
            steps.append((offset, words))
        elif steps and len(found[1]) <= 2:
            steps.append((offset, ""))
    if not steps:
        return
    ends = [offset for offset, _ in steps[1:]] + [len(page.source)]
    for (start, words), end in zip(steps, ends, strict=True):
        if not words:
            continue
        part = page.source[start:end]
        if not any(start <= call.start < end and call.macro in ("figure", "table") for call in page.calls):
            yield page.fault(start, "a step needs a figure or a table: [= figure(…) =]")
        if not re.search(r"\{[^{}]*\.notice\b[^{}]*\}", part):
            yield page.fault(start, "a step needs a line that says what to notice, ending with { .notice } on the next line")


def check_book(book: Ledger, pins: Path, root: Path = ROOT) -> Iterator[Fault]:
    """Every given against its pin, exactly; every printed formula against its value."""
    for number, message in book.disagreements():
        yield Fault(BOOK, number.line, 1, f"{number.name}: {message}", "drifted")
    shown_path = pins.relative_to(root).as_posix() if pins.is_relative_to(root) else pins.as_posix()
    if not pins.exists():
        yield Fault(shown_path, 0, 0, "is missing: it pins every given of the book, so that none can slip")
        return
    pinned: dict[str, tuple[int, str, str]] = {}
    with pins.open(encoding="utf-8", newline="") as file:
        reader = csv.reader(file)
        next(reader, None)
        for row in reader:
            if len(row) != 3:
                yield Fault(shown_path, reader.line_num, 1, f"a pin has three cells, name, value and where; got {len(row)}")
            elif row[0] in pinned:
                yield Fault(shown_path, reader.line_num, 1, f"{row[0]} is pinned twice")
            else:
                pinned[row[0]] = (reader.line_num, row[1], row[2])
    for number in book:
        if number.kind != "given":
            continue
        if number.name not in pinned:
            yield Fault(BOOK, number.line, 1, f"{number.name} is given but not pinned: add it to {shown_path}, typed from its source")
            continue
        line, value, where = pinned.pop(number.name)
        try:
            [claim] = quotes.read(value)
        except (QuoteError, ValueError) as error:
            yield Fault(shown_path, line, 1, f"the pin of {number.name} cannot be read: {error}")
            continue
        claimed = claim.value * (claim.unit.size if claim.unit else 1)
        dim = claim.unit.dim if claim.unit else text_dim()
        if dim != number.dim or claimed != Fraction(text.decimal(number.value)):
            has = text.exact(number.value, number.unit).replace(text.NBSP, " ")
            yield Fault(BOOK, number.line, 1, f"{number.name} is {has}, but {shown_path}:{line} pins {value} ({where})", "drifted")
    for name, (line, _, _) in pinned.items():
        yield Fault(shown_path, line, 1, unknown(name, [n.name for n in book if n.kind == "given"]))


def text_dim() -> Any:
    """The dimension of a plain number."""
    from perfmodel.units import NONE

    return NONE


def pages_of(docs: Path) -> dict[str, Path]:
    """Every Markdown page under `docs`, by the path a message names."""
    return {f"{docs.name}/{p.relative_to(docs).as_posix()}": p for p in sorted(docs.rglob("*.md")) if "vendor" not in p.relative_to(docs).parts}


def audit_sources(book: Ledger | None = None, docs: Path = ROOT / "docs", overrides: Mapping[str, str] | None = None,
                  pins: Path = ROOT / PINS) -> Audit:  # fmt: skip
    """Audit the book and every page. `overrides` replaces the text of pages by path, for tests that plant a fault."""
    if book is None:
        from perfmodel.book import LEDGER as book
    audit = Audit()
    audit.faults += check_book(book, pins)
    evaluator = Evaluator(book, CALLABLE)
    for path, file in pages_of(docs).items():
        source = (overrides or {}).get(path)
        audit_page(path, file.read_text(encoding="utf-8") if source is None else source, evaluator, audit)
    audit.faults.sort()
    return audit


def report(audit: Audit, faults: Iterable[Fault] = ()) -> int:
    """Print every fault, a line each, then the coverage line. Returns the exit status."""
    for fault in [*audit.faults, *faults]:
        print(fault)
    print(audit.coverage())
    return 1 if audit.faults or list(faults) else 0


def main() -> int:
    """`make numbers`."""
    return report(audit_sources())


if __name__ == "__main__":
    sys.exit(main())
