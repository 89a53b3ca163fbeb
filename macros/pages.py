"""The parts of pages that the build fills in: the ledger, the verification, the live strip, the credit of an act."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from macros import formulas, text
from macros.calls import Piece, Use
from macros.evaluate import book
from macros.fingerprint import ROOT, sources
from macros.quantity import Quantity, QuoteError, of, shown
from perfmodel import sources as works
from perfmodel.number import Number
from perfmodel.units import NONE

if TYPE_CHECKING:
    from macros.audit import Audit

KIND_WORDS = {"given": "given", "model": "cost model", "run": "run of this build", "measured": "measured"}
Late = Callable[["Audit", Callable[[str], str]], str]  # (audit, page path -> link) -> HTML


def credit(section: str) -> Piece:
    """The credit of an act to the section of Dive into Deep Learning it is adapted from: `credit("13.7")`."""
    known = {s.place.removeprefix("section "): s for s in (works.D2L_ASYNC, works.D2L_PARAMETER_SERVERS)}
    if section not in known:
        raise QuoteError(f'credit("{section}") names no section this site has a source for: {", ".join(known)}')
    work = known[section]
    markup = (
        f'<p class="credit">Adapted from <a href="{work.url}">{work.title}, section {section}</a>, by {work.authors} '
        f'(<a href="https://creativecommons.org/licenses/by-sa/4.0/">{work.licence}</a>). Words, code and drawings here are our own, under the same '
        f'licence. <a href="REPORT">Report a wrong number</a>.</p>'
    )
    return Piece(markup, "credit", "report")


def ledger() -> Piece:
    """The list of every number: the Numbers page."""
    return Piece("", "ledger", "late")


def live() -> Piece:
    """The live strip of the home page: what is bound, what was checked, when."""
    return Piece("", "live", "late")


def verification() -> Piece:
    """The legs of the last verification."""
    return Piece("", "verification", "late")


def source_html(number: Number) -> str:
    """A number's source, linked where it has an address."""
    words = escape(str(number.source))
    return f'<a href="{number.source.url}">{words}</a>' if number.source.url else words


def badge(kind: str) -> str:
    """The kind of a number, small."""
    return f'<span class="badge badge-{kind}">{KIND_WORDS[kind]}</span>'


def call_text(q: Quantity) -> str:
    """The call that quotes a quantity, ready to paste."""
    return f'q("{shown(q).replace(text.NBSP, " ")}", {q.expr})'


def anchor(q: Quantity) -> str:
    """The id of a quantity on the Numbers page, free of blanks."""
    return q.expr.replace(" ", "")


def _formula_html(q: Quantity) -> str:
    single = q.single
    if single and single.formula:
        return formulas.mathml(formulas.tex(single), block=True) + formulas.mathml(formulas.tex(single, numbers=True), block=True)
    if single:
        return ""
    values = q.value if isinstance(q.value, tuple) else (q.value,)
    if len(values) > 1:
        return f"<p>{escape(q.filled)}</p>"
    return f"<p>{escape(q.filled)} = {escape(shown(q))}</p>"


def _exact(q: Quantity) -> str:
    single = q.single
    values = q.value if isinstance(q.value, tuple) else (q.value,)
    unit = single.unit if single else next((n.unit for n in q.numbers if n.dim == q.dim), "" if q.dim == NONE else "s")
    return ", ".join(text.exact(v, unit) for v in values)


def _sources(q: Quantity) -> str:
    return "; ".join(dict.fromkeys(source_html(n) for n in q.numbers))


def card(q: Quantity, ledger_href: str) -> str:
    """What opens when a reader activates a number."""
    single = q.single
    kind = single.kind if single else "model"
    says = f'<p class="card-says">{escape(single.says)}</p>' if single else ""
    formula = _formula_html(q)
    block = f'<div class="card-formula">{formula}</div>' if formula else ""
    return (
        f'<template class="card" data-q="{escape(q.expr, quote=True)}"><p class="card-name"><code>{escape(q.expr)}</code> {badge(kind)}</p>{says}{block}'
        f"<p>Exact: <data>{_exact(q)}</data></p>"
        f'<p class="card-source">{_sources(q)} <a href="{escape(ledger_href, quote=True)}">Open in the ledger</a></p></template>'
    )


def _uses_html(uses: list[Use], link: Callable[[str], str]) -> str:
    if not uses:
        return '<p class="uses">Not quoted yet.</p>'
    pages = Counter(use.page for use in uses)
    links = ", ".join(f'<a href="{link(page)}">{escape(page.removeprefix("docs/"))}</a>{f" ({n})" if n > 1 else ""}' for page, n in pages.items())
    return f'<p class="uses">Quoted in {links}.</p>'


def _entry(q: Quantity, uses: list[Use], link: Callable[[str], str], twins: list[str]) -> str:
    single = q.single
    kind = single.kind if single else "model"
    says = f"<p>{escape(single.says)}</p>" if single else ""
    formula = _formula_html(q)
    same = f'<p class="twins">Same value: {", ".join(f"<code>{t}</code>" for t in twins)}. Mind which one you mean.</p>' if twins else ""
    return (
        f'<section class="entry" id="{escape(anchor(q), quote=True)}" data-kind="{kind}" data-text="{escape(q.expr + " " + (single.says if single else ""), quote=True)}">'
        f'<p class="entry-head"><code class="entry-name">{escape(q.expr)}</code> <data class="entry-value">{escape(shown(q))}</data> {badge(kind)}</p>{says}'
        f'{f"<div class={chr(34)}card-formula{chr(34)}>{formula}</div>" if formula else ""}'
        f'<p>Exact: <data>{_exact(q)}</data>. Source: {_sources(q)}.</p><p><code class="call">{escape(call_text(q))}</code></p>'
        f"{_uses_html(uses, link)}{same}</section>"
    )


def ledger_html(audit: Audit, link: Callable[[str], str]) -> str:
    """Every number by group, then every expression that a page quotes."""
    by_expr: dict[str, list[Use]] = {}
    expressions: dict[str, Quantity] = {}
    for use in audit.uses:
        for q in use.quantities:
            by_expr.setdefault(q.expr, []).append(use)
            if not q.single and q.numbers:
                expressions[q.expr] = q
            for number in q.numbers if not q.single else ():
                by_expr.setdefault(number.name, []).append(use)
    numbers = list(book())
    twins: dict[tuple[Any, str], list[str]] = {}
    for number in numbers:
        twins.setdefault((number.value, str(number.dim)), []).append(number.name)
    out: list[str] = []
    group = ""
    for number in numbers:
        name = number.name.partition(".")[0]
        if name != group:
            group = name
            out.append(f'<h2 id="group-{group}">{group}</h2>')
        same = [t for t in twins[number.value, str(number.dim)] if t != number.name]
        out.append(_entry(of(number), by_expr.get(number.name, []), link, same))
    if expressions:
        out.append('<h2 id="expressions">Expressions that pages quote</h2>')
        out += [_entry(expressions[e], by_expr[e], link, []) for e in sorted(expressions)]
    return f'<div class="ledger" data-search-exclude>{"".join(out)}</div>'


def read_verification(root: Path = ROOT) -> dict[str, Any] | None:
    """The last verification, when it belongs to these very sources; else None."""
    path = root / "verification.json"
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) and found.get("sources") == sources(root) else None


NOT_VERIFIED = "not verified in this checkout"


def live_html(audit: Audit, link: Callable[[str], str]) -> str:
    """Numbers bound, checks passed, last verification, last GPU run: from the last verify, or the words that say there was none."""
    bound = sum(use.kind in ("q", "r") for use in audit.uses)
    last = read_verification()
    legs = {leg["leg"]: leg for leg in last["legs"]} if last else {}
    gpu = legs.get("cuda", {})
    checks = str(sum(leg.get("checks", 0) for leg in legs.values())) if last else NOT_VERIFIED
    cells = {
        "numbers and relations bound": str(bound),
        "checks passed": checks,
        "last verified": last["date"] if last else NOT_VERIFIED,
        "last GPU run": gpu.get("date") or "not run",
    }
    return '<dl class="live">' + "".join(f"<div><dt>{escape(k)}</dt><dd>{escape(v)}</dd></div>" for k, v in cells.items()) + "</dl>"


def verification_html(audit: Audit, link: Callable[[str], str]) -> str:
    """A row a leg: what it checks, how it ended, why it did not run and what would make it run."""
    last = read_verification()
    if not last:
        return f'<p class="unverified"><strong>This page was built from sources that are {NOT_VERIFIED}.</strong> Run <code>make verify</code>.</p>'
    rows = "".join(
        f"<tr><th scope=\"row\">{escape(leg['leg'])}</th><td>{escape(leg['status'])}</td><td>{escape(leg['detail'])}</td>"
        f"<td>{escape(leg.get('cure', ''))}</td></tr>"
        for leg in last["legs"]
    )
    return (
        f'<p>Verified on {escape(last["date"])}, in {escape(last["took"])}.</p>'
        '<div class="scroll" tabindex="0" role="region" aria-label="Legs of the verification"><table class="data"><thead><tr><th scope="col">Leg</th>'
        f'<th scope="col">Result</th><th scope="col">What was checked</th><th scope="col">What it would take</th></tr></thead><tbody>{rows}</tbody></table></div>'
        f'<p class="fingerprint">Hash of the verified sources: <code>{last["sources"]}</code></p>'
    )


LATE: dict[str, Late] = {"ledger": ledger_html, "live": live_html, "verification": verification_html}
