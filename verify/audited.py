"""A page of a test, audited alone: what the tests of the audit share."""

from __future__ import annotations

from macros.audit import CALLABLE, NAMED, Audit, audit_page, pages_of
from macros.evaluate import Evaluator, book, using
from macros.frontmatter import CONFIG, check_config
from macros.scan import Fault
from perfmodel.sources import Source
from verify.checkout import ROOT

ACTS = [path for path in pages_of(ROOT / "docs") if path.startswith("docs/acts/")]
SMALL = (
    "---\ntitle: A page\ndescription: A page for a test.\n---\n\n# A page { #page }\n\nIt is one.\n{ .lede }\n\n"
    'And goes on.\n{ .bridge }\n\n[= credit("13.7") =]\n'
)
TEST = Source(title="a test", authors="A")
FRONT = "---\ntitle: A page\n---\n"
EVALUATOR = Evaluator(book(), CALLABLE, NAMED)


def source_of(path: str) -> str:
    """The text of a file of this project."""
    return (ROOT / path).read_text(encoding="utf-8")


def audit_one(path: str, source: str, evaluator: Evaluator = EVALUATOR) -> Audit:
    """One page audited, or the configuration, and nothing else."""
    audit = Audit()
    if path == CONFIG:
        audit.faults += check_config(path, source)
        return audit
    with using(evaluator.book):
        audit_page(path, source, evaluator, audit)
    return audit


def places(faults: list[Fault]) -> set[tuple[int, int]]:
    """Where faults stand: line and column."""
    return {(fault.line, fault.column) for fault in faults}
