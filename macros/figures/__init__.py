"""The figures and tables of the pages, a module per act and one for the module, and the calls that put them on a page."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

from macros.calls import Piece, Recorder, Use, check_badge, current, recording
from macros.embed import figure_html
from macros.evaluate import book, speaker
from macros.figures import act1, act2, act3, act4, act5, act6, lab, module, reality
from macros.figures.core import Drawn
from macros.quantity import QuoteError
from macros.scan import Fault
from macros.tables import Table
from perfmodel.number import Ledger
from perfmodel.trace import trace

PAGES = (act1, act2, act3, act4, act5, act6, module, reality, lab)
FIGURES: dict[str, Callable[[], Drawn]] = {name: draw for page in PAGES for name, draw in page.FIGURES.items()}
TABLES: dict[str, Callable[[], Table]] = {name: make for page in PAGES for name, make in page.TABLES.items()}


@dataclass(frozen=True)
class Made:
    """A figure made once for all pages: its parts, and what its words bind."""

    html: Callable[[str, str], str]  # (id, folder of the data files) -> HTML
    files: dict[str, str]
    uses: list[Use] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)


_made: WeakKeyDictionary[Ledger, dict[str, Made]] = WeakKeyDictionary()


def make(name: str) -> Made:
    """Draw a figure, or take it from the last time: it depends on nothing but the ledger."""
    made = _made.setdefault(book(), {})
    if name in made:
        return made[name]
    recorder = Recorder(page=current().page)
    with recording(recorder):
        say = speaker(FIGURES[name].__code__.co_filename)
        drawn = FIGURES[name]()
        title, _ = say(drawn.title)
        _, alt = say(drawn.alt)
        caption, _ = say(drawn.caption)
        table = drawn.table.html(say)
        files = {f"{name}.csv": drawn.table.csv(say)}
    check_badge(drawn.badge, recorder.uses)
    if drawn.schedules:
        files[f"{name}.trace.json"] = trace(drawn.schedules, drawn.unit)
    figure = drawn.figure.to_dict()

    def html(id_: str, folder: str) -> str:
        return figure_html(
            figure,
            id=id_,
            title_html=title,
            alt=alt,
            caption_html=caption,
            badge=drawn.badge,
            kind=drawn.kind,
            table_html=table,
            csv_href=f"{folder}{name}.csv",
            trace_href=f"{folder}{name}.trace.json" if drawn.schedules else None,
        )

    made[name] = Made(html, files, recorder.uses, recorder.faults)
    return made[name]


def figure(name: str) -> Piece:
    """Put a figure of the site on the page, by name."""
    if name not in FIGURES:
        raise QuoteError(f'there is no figure "{name}": {", ".join(FIGURES)}')
    made = make(name)
    recorder = current()
    for use in made.uses:
        recorder.add(use.kind, use.shown, list(use.quantities), use.why)
    recorder.faults += made.faults
    return Piece(name, name, "figure")


def table(name: str) -> Piece:
    """Put a table of the site on the page, by name."""
    if name not in TABLES:
        raise QuoteError(f'there is no table "{name}": {", ".join(TABLES)}')
    content = TABLES[name]().html(speaker(TABLES[name].__code__.co_filename))
    return Piece(f'<div class="scroll" role="region" aria-label="Table: {name.replace("-", " ")}">{content}</div>', name)
