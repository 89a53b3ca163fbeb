"""The values the finished acts and the module must show, typed from the book or from a hand calculation: the model gives each, and the act says it."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest

from macros import quotes
from macros.audit import Audit, audit_sources
from macros.evaluate import Evaluator, book
from macros.quantity import QuoteError

EXPECTED = Path(__file__).resolve().parent / "expected" / "right_values.csv"
with EXPECTED.open(encoding="utf-8", newline="") as _file:
    ROWS = list(csv.DictReader(_file))


@pytest.fixture(scope="module")
def evaluator() -> Evaluator:
    return Evaluator(book())


@pytest.fixture(scope="module")
def audit() -> Audit:
    return audit_sources()


def test_the_table_is_whole() -> None:
    assert len(ROWS) >= 66
    assert {row["act"] for row in ROWS} == {*"123456", "module"}
    for row in ROWS:
        assert all(row[column].strip() for column in ("act", "what", "expression", "right", "source")), row


@pytest.mark.parametrize("row", ROWS, ids=[f"{r['act']}-{r['expression']}" for r in ROWS])
def test_the_model_gives_it(evaluator: Evaluator, row: dict[str, str]) -> None:
    quotes.check(row["right"], evaluator.value(row["expression"]))


@pytest.mark.parametrize("row", ROWS, ids=[f"{r['act']}-{r['expression']}" for r in ROWS])
def test_the_act_says_it(audit: Audit, row: dict[str, str]) -> None:
    """The act quotes the value by name, or prints its formula with the numbers filled in."""
    place = "docs/module/" if row["act"] == "module" else f"docs/acts/{row['act']}-"
    quoted = {q.expr for use in audit.uses if use.page.startswith(place) for q in use.quantities}
    pages = [page.source for path, page in audit.pages.items() if path.startswith(place)]
    printed = {name for source in pages for name in re.findall(r"formula\(([\w.]+), numbers=True", source)}
    assert row["expression"] in quoted | printed


def test_a_wrong_value_is_seen(evaluator: Evaluator) -> None:
    with pytest.raises(QuoteError, match="the model says 60 ms"):
        quotes.check("61 ms", evaluator.value("sync.one_gpu"))


def test_the_ring_stays_under_its_limit() -> None:
    from perfmodel import collectives

    for gpus in range(1, 4097):
        assert collectives.ring_s(gradient_bytes=160e6, gpus=gpus, link_bytes_per_s=16e9) < 0.02
