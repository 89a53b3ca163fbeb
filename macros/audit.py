"""The audit: every call of every page evaluated, every word between the calls read, every fault listed in one run.

It reads the sources alone and needs no build, so that nothing depends on a hook having run. `python -m macros.audit` is `make numbers`;
with `--fix` it is `make fix`.
"""

from __future__ import annotations

import ast
import difflib
import re
import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from macros import formulas, naked, quotes, text
from macros.calls import INLINE, Recorder, Use, recording
from macros.claims import read
from macros.code import code, files
from macros.drawings import DRAWINGS, drawing
from macros.evaluate import Evaluator, beside, sort_of, using
from macros.evaluate import book as current_book
from macros.figures import FIGURES, TABLES, figure, table
from macros.files import check_files, pages_of
from macros.fingerprint import ROOT
from macros.fixes import digits_only, fixed, literal
from macros.frontmatter import CONFIG, check_config, check_front_matter
from macros.labels import check_labels
from macros.labs import LABS, lab
from macros.links import check_links, check_places
from macros.measured import measured
from macros.pages import cards, credit, ledger, live, symbols, verification
from macros.pins import EXEMPT, PINS, check_book, check_exempt
from macros.quantity import QuoteError, of
from macros.reality import check_reality
from macros.records import RecordError, write_whole
from macros.refused import check_records
from macros.says import check_says
from macros.scan import MACROS, Call, Fault, Page, scan, source_of
from macros.structure import check_structure
from perfmodel.number import KINDS, Ledger, Number

__all__ = [
    "CALLABLE",
    "EXEMPT",
    "PINS",
    "ROOT",
    "Audit",
    "apply_fixes",
    "audit_page",
    "audit_sources",
    "check_book",
    "pages_of",
    "report",
]

# Everything a page can call. Blocks stand on a line of their own.
BLOCKS: dict[str, Callable[..., Any]] = {
    "figure": figure, "drawing": drawing, "lab": lab, "table": table, "code": code, "credit": credit, "cards": cards, "ledger": ledger, "symbols": symbols, "live": live, "verification": verification,
    "measured": measured,
}  # fmt: skip
CALLABLE: dict[str, Callable[..., Any]] = {**INLINE, **BLOCKS}
NAMED: dict[str, Collection[str]] = {
    "figure": FIGURES, "table": TABLES, "drawing": DRAWINGS, "lab": LABS, "code": files(), "credit": (),
}  # fmt: skip
MACROS.update(CALLABLE)


@dataclass
class Audit:
    """What the audit found: the pages as scanned, what they bind, and what is wrong."""

    pages: dict[str, Page] = field(default_factory=dict)
    uses: list[Use] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    withheld: list[Fault] = field(default_factory=list)  # what waits for a record that is refused, and is named among the faults
    titles: dict[str, list[str]] = field(default_factory=dict)  # page -> the numbers its title and description bind
    refused: set[str] = field(default_factory=set)  # what lies under docs/ and is not published: see `macros.files`
    unread: set[str] = field(
        default_factory=set
    )  # pages that are not what they seem: their front matter is shown as text, or nothing is

    def coverage(self) -> str:
        """The line that says what is bound, by kind, and what is not."""
        kinds = Counter(kind_of(use) for use in self.uses if use.kind == "q")
        sorts = Counter(fault.sort for fault in self.faults)
        order = ("model", *(kind for kind in KINDS if kind != "model"))
        of_kind = ", ".join(f"{kinds[kind]} {'computed' if kind == 'model' else kind}" for kind in order)
        counts = Counter(use.kind for use in self.uses)
        broken = f", {sorts['broken']} broken" if sorts["broken"] else ""
        return (
            f"numbers   {counts['q']} quoted: {of_kind}; {text.counted(counts['r'], 'relation')}; {counts['e']} plain; "
            f"{sorts['unbound']} unbound, {sorts['drifted']} drifted{broken}"
        )


def kind_of(use: Use) -> str:
    """given, run or measured when the quote is of one such number; computed (model) otherwise."""
    return use.quantities[0].kind if len(use.quantities) == 1 else "model"


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
        front = check_front_matter(page, evaluator, recorder, audit.faults)
    audit.titles[path] = front.bound
    if not front.read:
        audit.unread.add(path)
    audit.uses += recorder.uses
    audit.faults += [fault for fault in dict.fromkeys(recorder.faults) if fault not in audit.faults]
    audit.faults += _naked(page, evaluator.book)
    audit.faults += check_structure(page, front.values, BLOCKS)
    return page


def exempt(audit: Audit) -> list[Use]:
    """The exemptions that stand in pages. Those in Python are of names that a record gives."""
    uses = [use for use in audit.uses if use.kind == "e"]
    calls = {(page.path, c.line, c.column) for page in audit.pages.values() for c in page.calls if c.macro == "plain"}
    return [
        u for u in uses if (u.page, u.line, u.column) in calls or u.line < audit.pages[u.page].place(audit.pages[u.page].body)[0]
    ]


def _fault_of(page: Page, call: Call, error: QuoteError) -> Fault:
    _, old = literal(page, call)
    fix = digits_only(old, error.fix)
    return page.fault(call.start, str(error), sort_of(error), old if fix else "", fix)


def matching(fragment: str, book: Ledger, around: str) -> list[str]:
    """The names whose value a naked number could quote; those first that are about what stands around it."""
    found: list[Number] = []
    claims = read(fragment)
    for number in book:
        value = number.value
        if not isinstance(value, list | tuple) and not any(quotes.holds(claim, value) for claim in claims):
            continue  # most numbers, without the words for why not
        try:
            quotes.check(fragment, of(number))
        except QuoteError:
            continue
        found.append(number)
    about = around.removeprefix(fragment).split()
    return [n.name for n in sorted(found, key=lambda n: -sum(word in f"{n.name} {n.says}" for word in about))]


def _naked(page: Page, book: Ledger) -> Iterator[Fault]:
    words = page.prose
    for finding in naked.findings(words.text):
        offset = words.at[finding.start]
        if any(start <= offset < end for start, end, _ in words.lost):
            continue
        quote, names = beside(page, finding)
        said = naked.quotable(finding.text) if finding.rule not in (*naked.AT_A_CALL, naked.DATE) else ""
        names = names or (matching(said, book, finding.text) if said else [])
        hint = f" (it could be {', '.join(names[1:4])})" if said and len(names) > 1 else ""
        cure = naked.cure(finding, names, "qt" if words.where(offset, offset) == "alt" else "q", quote)
        yield page.fault(offset, f"{finding.rule}: {finding.text}; {cure}{hint}", "unbound")
    for call in page.calls:
        for title in _titles(call):
            for finding in naked.findings(title):
                yield page.fault(call.start, f"{finding.rule} in the title: {finding.text}; {naked.IN_THE_TEXT}", "unbound")
    for offset, shown in words.code:
        if naked.in_code(shown):
            first = next(iter(naked.findings(shown)), None)
            cure = f"take the backticks away and {naked.cure(first)}" if first else "take the backticks away"
            where = offset + len(shown) - len(shown.lstrip())
            yield page.fault(where, f"a naked number in inline code: `{shown.strip()}`; {cure}", "unbound")
    for offset, tex in words.math:
        try:
            formulas.mathml(tex.strip())
        except QuoteError as error:
            yield page.fault(offset, str(error))
        number = naked.in_formula(tex)
        if number:
            message = f"a naked number in a formula: {number}; print the formula with formula(name, numbers=True)"
            yield page.fault(offset, message, "unbound")


def _titles(call: Call) -> list[str]:
    """The words that a call puts on the page as they are: the named texts of a block, such as `title="…"`."""
    if call.macro not in BLOCKS:
        return []
    parts = ast.walk(ast.parse(call.source.replace("\n", " ")))
    return [str(k.value.value) for k in parts if isinstance(k, ast.keyword) and isinstance(k.value, ast.Constant)]


def audit_sources(
    book: Ledger | None = None,
    docs: Path = ROOT / "docs",
    overrides: Mapping[str, str] | None = None,
    pins: Path = ROOT / PINS,
) -> Audit:
    """Audit the book and every page. `overrides` are texts of pages by path, in the place of files, for tests that plant a fault."""
    audit = Audit()
    try:
        ledger_ = book if book is not None else current_book()
    except RecordError as error:  # without it there is no book, and nothing to hold a page against
        audit.faults.append(Fault("docs/records", 0, 0, str(error)))
        return audit
    texts = overrides or {}
    audit.faults += check_book(ledger_, pins)
    audit.faults += [*check_reality(), *check_records(), *check_labels(docs.parent), *check_says(ledger_)]
    refused = [*check_files(docs)]
    audit.faults += refused
    audit.refused = {fault.path for fault in refused}
    pages = pages_of(docs)
    evaluator = Evaluator(ledger_, CALLABLE, NAMED)
    with using(ledger_):
        for path, file in pages.items():
            source = texts[path] if path in texts else source_of(file)
            if source is None:
                audit.pages[path] = scan(path, "")
                audit.unread.add(path)
                if not any(fault.path == path for fault in audit.faults):  # one that cannot be read at all has a fault already
                    audit.faults.append(Fault(path, 1, 1, "this page is not saved as UTF-8: save it again with that encoding"))
            else:
                audit_page(path, source, evaluator, audit)
        for path in [path for path in texts if path not in audit.pages and path != CONFIG]:
            audit_page(path, texts[path], evaluator, audit)
    for page in audit.pages.values():
        audit.faults += [*check_links(page, docs.parent, audit.pages), *check_places(page, audit.pages)]
    audit.faults += check_exempt(exempt(audit), docs.parent / EXEMPT, [path for path in audit.pages if path not in audit.unread])
    config = docs.parent / CONFIG
    if CONFIG in texts or config.exists():
        settings = texts.get(CONFIG) or source_of(config)
        if settings is None:
            audit.faults.append(Fault(CONFIG, 1, 1, "this file is not saved as UTF-8: save it again with that encoding"))
        else:
            audit.faults += check_config(CONFIG, settings, [*pages])
    audit.withheld = [fault for fault in audit.faults if fault.sort == "withheld"]
    audit.faults = sorted(fault for fault in audit.faults if fault.sort != "withheld")
    return audit


def apply_fixes(docs: Path = ROOT / "docs") -> str:
    """Correct the digits of wrong quotes in the pages under `docs`. Returns what changed, as a unified diff."""
    audit = audit_sources(docs=docs)
    out: list[str] = []
    for path, file in pages_of(docs).items():
        old = audit.pages[path].source
        new = fixed(audit.pages[path], audit.faults)
        if new != old:
            out += difflib.unified_diff(old.splitlines(keepends=True), new.splitlines(keepends=True), path, path)
            ends = re.findall("\r\n|\r|\n", file.read_bytes().decode())  # digits change, line ends do not
            lines = [line + end for line, end in zip(new.split("\n"), [*ends, ""], strict=True)]
            write_whole(file, "".join(lines), "")
    return "".join(out)


def report(audit: Audit, faults: Iterable[Fault] = ()) -> int:
    """Print every fault, a line each, then the coverage line. Returns the exit status."""
    found = [*audit.faults, *faults]
    for fault in found:
        print(fault)
    print(audit.coverage())
    return 1 if found else 0


def main(arguments: list[str]) -> int:
    """`make numbers`; with `--fix`, `make fix`: show and write the digits that change, then audit again."""
    if arguments not in ([], ["--fix"]):
        print(f"usage: python -m macros.audit [--fix], got {' '.join(arguments)}", file=sys.stderr)
        return 2
    if arguments:
        try:
            print(apply_fixes() or "nothing that digits alone can mend")
        except OSError as error:
            print(f"a page cannot be written, and is as it was: {error.strerror}: {error.filename}", file=sys.stderr)
            return 1
    return report(audit_sources())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
