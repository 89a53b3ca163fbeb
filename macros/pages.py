"""The parts of pages that the build fills in: the ledger, the verification, the live strip, the credit of an act."""

from __future__ import annotations

import json
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Mapping
from functools import lru_cache
from html import escape
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import yaml

from macros import formulas, gpu_record, text
from macros.calls import Piece, Use, current, sections
from macros.evaluate import book
from macros.fingerprint import ROOT, sources
from macros.quantity import Quantity, QuoteError, of, shown, value_text
from macros.records import RecordError
from macros.scan import FRONT_MATTER
from perfmodel import sources as works
from perfmodel.number import Number
from perfmodel.units import NONE

if TYPE_CHECKING:
    from macros.audit import Audit

KIND_WORDS = {"given": "given", "model": "computed", "run": "run", "measured": "measured"}
Late = Callable[["Audit", Callable[[str], str]], str]  # (audit, page path -> link) -> HTML


def credit(section: str = "", *more: str) -> Piece:
    """The credit of an act to the sections of Dive into Deep Learning it is adapted from: `credit("13.7")`, `credit("13.5", "13.6")`.

    Without a section, what a page that is adapted from none has in its place.
    """
    if not section:
        return Piece(
            '<p class="credit">Words, code and drawings here are our own '
            '(<a href="https://creativecommons.org/licenses/by-sa/4.0/">CC BY-SA 4.0</a>). <a href="REPORT">Report a wrong number</a>.</p>',
            "credit",
            "report",
        )
    known = works.D2L_SECTIONS
    for name in (section, *more):
        if name not in known:
            raise QuoteError(f'credit("{name}") names no section this site has a source for: {", ".join(known)}')
    quoted = sections(current().uses)
    if quoted and (most := quoted.most_common(1)[0][0]) not in (section, *more):
        raise QuoteError(f'most numbers of this page come from section {most}, which its credit leaves out: credit("{most}")')
    work = known[section]
    others = "".join(f' and <a href="{known[name].url}">section {name}</a>' for name in more)
    markup = (
        f'<p class="credit">Adapted from <a href="{work.url}">{work.title}, section {section}</a>{others}, by {work.authors} '
        f'(<a href="https://creativecommons.org/licenses/by-sa/4.0/">{work.licence}</a>). Words, code and drawings here are our own, under the same '
        f'licence. <a href="REPORT">Report a wrong number</a>.</p>'
    )
    return Piece(markup, "credit", "report")


def ledger() -> Piece:
    """The list of every number: the Numbers page."""
    return Piece("", "ledger", "late")


def cards() -> Piece:
    """A card for each act that exists."""
    return Piece("", "cards", "late")


def symbols() -> Piece:
    """What every symbol of every formula stands for: the Symbols page."""
    return Piece("", "symbols", "late")


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
    """The id of a quantity on the Numbers page, free of blanks. The two ends of a range have entries of their own: the first is meant."""
    return q.numbers[0].name if ", " in q.expr else q.expr.replace(" ", "")


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


def _inputs_html(q: Quantity) -> str:
    """What the symbols of a formula stand for, each with its value and name."""
    single = q.single
    if not single or not single.inputs:
        return ""
    rows = (
        f"<li>{formulas.mathml(formulas.SYMBOLS.get(symbol, symbol))} = {escape(value_text(number))}: {escape(number.says)}</li>"
        for symbol, number in single.inputs.items()
    )
    return f'<ul class="inputs">{"".join(rows)}</ul>'


def _exact(q: Quantity) -> str:
    single = q.single
    values = q.value if isinstance(q.value, tuple) else (q.value,)
    unit = single.unit if single else next((n.unit for n in q.numbers if n.dim == q.dim), "" if q.dim == NONE else "s")
    return ", ".join(text.exact(v, unit) for v in values)


def _sources(q: Quantity) -> str:
    return "; ".join(dict.fromkeys(source_html(n) for n in q.numbers))


def _about(q: Quantity) -> str:
    """What a card and an entry of the ledger say alike: what the number is, its formula, and what the symbols stand for."""
    says = f"<p>{_sentence(q.single.says)}</p>" if q.single else ""
    formula = _formula_html(q)
    block = f'<div class="card-formula">{formula}</div>' if formula else ""
    return f"{says}{block}{_inputs_html(q)}"


def card(q: Quantity) -> str:
    """What opens when a reader activates a number. The script adds the link to the ledger and the close button."""
    return (
        f'<template class="card" data-q="{escape(q.expr, quote=True)}"><p class="card-name"><code>{escape(q.expr)}</code> {badge(q.kind)}</p>{_about(q)}'
        f"<p>{_exactly(q) or f'Exactly <data>{shown(q)}</data>.'}</p>"
        f'<p class="card-source">Source: {_sources(q)}.</p></template>'
    )


@lru_cache(maxsize=200)
def front_matter(source: str) -> Mapping[str, Any]:
    """The front matter of a page, empty when there is none or it can't be read (the audit says so)."""
    found = FRONT_MATTER.match(source)
    try:
        meta = yaml.safe_load(found[1]) if found else None
    except yaml.YAMLError:
        return {}
    return MappingProxyType(meta if isinstance(meta, dict) else {})


def _title(audit: Audit, page: str) -> str:
    return str(front_matter(audit.pages[page].source).get("title") or page)


def cards_html(audit: Audit, link: Callable[[str], str]) -> str:
    """A card for each act that exists, in order."""
    out = []
    for page in sorted(p for p in audit.pages if p.startswith("docs/acts/")):
        number, dot, title = _title(audit, page).partition(" · ")
        line = str(front_matter(audit.pages[page].source).get("description", ""))
        head = f'<span class="card-no">{escape(number)}</span>' if dot else ""
        out.append(
            f'<a class="card-link" href="{link(page)}">{head} <strong>{escape(title if dot else number)}</strong> <span>{escape(line)}</span></a>'
        )
    return f'<div class="cards">{" ".join(out)}</div>'


def _uses_html(uses: list[Use], audit: Audit, link: Callable[[str], str]) -> str:
    if not uses:
        return "Not quoted yet."
    counts = Counter(use.page for use in uses)
    links = (f'<a href="{link(page)}">{escape(_title(audit, page))}</a>{f" ({n})" if n > 1 else ""}' for page, n in counts.items())
    return f"Quoted in {', '.join(links)}."


def _entry(q: Quantity, uses: list[Use], audit: Audit, link: Callable[[str], str], twins: list[str]) -> str:
    same = f"<p>Same value as {', '.join(f'<code>{t}</code>' for t in twins)}: mind which one you mean.</p>" if twins else ""
    return (
        f'<section class="entry" id="{escape(anchor(q), quote=True)}">'
        f"<p><code>{escape(q.expr)}</code> "
        f"<data>{escape(shown(q))}</data> {badge(q.kind)}</p>{_about(q)}"
        f"<p>{_exactly(q)}Source: {_sources(q)}. {_uses_html(uses, audit, link)}</p>"
        f'<details class="for-authors"><summary>For authors</summary><p><code class="call">{escape(call_text(q))}</code></p>{same}</details></section>'
    )


def _sentence(words: str) -> str:
    return escape(words[:1].upper() + words[1:] + ".")


def _exactly(q: Quantity) -> str:
    exact = _exact(q)
    return "" if exact == shown(q) else f"To all its digits: <data>{exact}</data>. "


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
    out = [
        f"<p>{len(numbers)} numbers: {', '.join(f'{n} {KIND_WORDS[k]}' for k, n in Counter(n.kind for n in numbers).items())}; "
        f"and {len(expressions)} expressions that pages make of them.</p>"
    ]
    by_group: dict[str, list[Number]] = {}
    for number in numbers:
        by_group.setdefault(number.name.partition(".")[0], []).append(number)
    for group, members in by_group.items():
        out.append(f'<div class="group"><h2 id="group-{group}">{group}</h2>')
        for number in members:
            same = [t for t in twins[number.value, str(number.dim)] if t != number.name]
            out.append(_entry(of(number), by_expr.get(number.name, []), audit, link, same))
        out.append("</div>")
    if expressions:
        out.append('<div class="group"><h2 id="expressions">Expressions that pages quote</h2>')
        out += [_entry(expressions[e], by_expr[e], audit, link, []) for e in sorted(expressions)]
        out.append("</div>")
    return f'<div class="ledger">{"".join(out)}</div>'


def act_of(number: Number) -> str:
    """The act or the page a number is entered for, as the id of its part of the Symbols page: act-6, reality."""
    found = re.search(r"book/(act)?(\w+)\.py$", number.path)
    return f"{'act-' if found[1] else ''}{found[2]}" if found else "runs"


def symbols_html(audit: Audit, link: Callable[[str], str]) -> str:
    """A table per act: each symbol of its formulas, what it stands for, its unit, and the names of the numbers."""
    meanings: dict[str, dict[str, dict[str, Number]]] = {}
    for number in book():
        for symbol, given in number.inputs.items():
            meanings.setdefault(act_of(number), {}).setdefault(symbol, {})[given.name] = given
    out = []
    for act in sorted(meanings):
        rows = "".join(
            f'<tr><th scope="row">{formulas.mathml(formulas.SYMBOLS.get(symbol, symbol))}</th>'
            + "".join(
                f"<td>{'<br>'.join(cell(n) for n in found.values())}</td>"
                for cell in (_meaning, _unit_word, lambda n: _name_link(n, link))
            )
            + "</tr>"
            for symbol, found in sorted(meanings[act].items(), key=lambda item: item[0].lower())
        )
        head = "".join(f'<th scope="col">{word}</th>' for word in ("Symbol", "Stands for", "Unit", "Name"))
        title = {"module": "The module", "runs": "Runs and measurements"}.get(act) or act.replace("act-", "Act ").capitalize()
        out.append(
            f'<h2 id="{act}">{title}</h2><div class="scroll" role="region" aria-label="Symbols of {title}">'
            f'<table class="data"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>'
        )
    return "".join(out)


def _meaning(number: Number) -> str:
    return escape(number.says[:1].upper() + number.says[1:])


def _unit_word(number: Number) -> str:
    return escape(number.unit or "a plain number")


def _name_link(number: Number, link: Callable[[str], str]) -> str:
    return f'<a href="{link("docs/numbers.md")}#{number.name}"><code>{number.name}</code></a>'


def read_verification(root: Path = ROOT) -> dict[str, Any] | None:
    """The last verification, when it belongs to these very sources; else None."""
    path = root / "verification.json"
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) and found.get("sources") == sources(root) else None


def version(root: Path = ROOT) -> str:
    """The version of the site and of the package: pyproject.toml alone names it."""
    return str(tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"])


NOT_VERIFIED = "not verified in this checkout"


def live_html(audit: Audit, link: Callable[[str], str]) -> str:
    """Numbers bound, checks passed, last verification, last GPU run: from the last verify, or the words that say there was none."""
    bound = sum(use.kind in ("q", "r") for use in audit.uses)
    last = read_verification()
    cells = [("numbers checked", str(bound))]
    if last:
        cells.append(("checks passed", str(sum(leg.get("checks", 0) for leg in last["legs"]))))
    cells += [("last check", last["date"] if last else NOT_VERIFIED), _last_gpu_run()]
    return '<dl class="live">' + "".join(f"<div><dt>{escape(k)}</dt><dd>{escape(v)}</dd></div>" for k, v in cells) + "</dl>"


def _last_gpu_run() -> tuple[str, str]:
    """The last run on a GPU, as a label and a date. A record that is refused stops the build where the Measured page asks for it."""
    label = "last run on a GPU"
    try:
        record = gpu_record.read(gpu_record.PATH)
    except RecordError:
        return label, "not readable"
    return (f"{label}, {record.device}", record.day) if record else (label, "none recorded")


def verification_html(audit: Audit, link: Callable[[str], str]) -> str:
    """A row a leg: what it checks, how it ended, why it did not run and what would make it run."""
    last = read_verification()
    of = f'<p>Version <data class="data">{version()}</data>.</p>'
    if not last:
        return f'{of}<p class="unverified"><strong>This page was built from sources that are {NOT_VERIFIED}.</strong> Run <code>make verify</code>.</p>'
    rows = "".join(
        f'<tr><th scope="row">{escape(leg["leg"])}</th><td>{escape(leg["status"])}</td><td>{escape(leg["detail"])}</td>'
        f"<td>{escape(leg.get('cure', ''))}</td></tr>"
        for leg in last["legs"]
    )
    return (
        f'{of}<p>Verified on <data class="data">{escape(last["date"])}</data>, in <data class="data">{escape(last["took"])}</data>.</p>'
        '<div class="scroll" role="region" aria-label="Legs of the verification"><table class="data"><thead><tr><th scope="col">Leg</th>'
        f'<th scope="col">Result</th><th scope="col">What was checked</th><th scope="col">What it would take</th></tr></thead><tbody>{rows}</tbody></table></div>'
        f'<p class="fingerprint">Hash of the verified sources: <code>{last["sources"]}</code></p>'
    )


LATE: dict[str, Late] = {
    "cards": cards_html,
    "ledger": ledger_html,
    "symbols": symbols_html,
    "live": live_html,
    "verification": verification_html,
}
