"""Tables of the pages: cells are computed numbers or the reader's words, and words are held to the rules of prose."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape

from macros import text
from macros.calls import Piece
from macros.evaluate import book, speaker
from macros.quantity import QuoteError
from perfmodel import kernels
from perfmodel.pipeline import AsyncPipeline


@dataclass(frozen=True)
class Num:
    """A computed cell: a value (SI), its unit, and decimals where the column needs a fixed number of them."""

    value: float | int
    unit: str = ""
    places: int | None = None

    def __str__(self) -> str:
        return text.show(self.value, self.unit, self.places)


@dataclass(frozen=True)
class Name:
    """A cell that holds the name of something in the model (a task, a port), which may have a digit in it."""

    words: str

    def __str__(self) -> str:
        return self.words


@dataclass(frozen=True)
class Code(Name):
    """A cell of code."""


@dataclass(frozen=True)
class Chunks:
    """A cell that shows what one GPU holds: a partial sum per chunk. Finished sums (equal to `whole`) and the one just received are marked."""

    sums: tuple[int, ...]
    whole: int
    before: tuple[int, ...]

    def __str__(self) -> str:
        return " ".join(map(str, self.sums))

    def html(self) -> str:
        """One box per chunk."""
        marks = ((" done" if v == self.whole else "") + (" new" if v != old else "") for v, old in zip(self.sums, self.before, strict=True))
        return "".join(f'<span class="chunk{mark}">{v}</span>' for mark, v in zip(marks, self.sums, strict=True))


Cell = Num | Name | Chunks | str
_say = speaker(__file__)


@dataclass(frozen=True)
class Table:
    """A heading for each column, rows of cells, and what the table shows, in words."""

    head: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    caption: str = ""

    def html(self) -> str:
        """The table. Words go through the rules of prose; a number stands in tabular figures."""
        numeric = [all(isinstance(row[i], Num) for row in self.rows) for i in range(len(self.head))]
        head = "".join(f'<th scope="col"{" class=" + chr(34) + "num" + chr(34) if n else ""}>{_words(h)}</th>' for h, n in zip(self.head, numeric, strict=True))
        body = "".join("<tr>" + "".join(_cell(c, first=i == 0) for i, c in enumerate(row)) + "</tr>" for row in self.rows)
        caption = f"<caption>{_words(self.caption)}</caption>" if self.caption else ""
        return f'<table class="data">{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'

    def csv(self) -> str:
        """The same cells as comma-separated values, in the characters a spreadsheet reads."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow([_say(h)[1] for h in self.head])
        for row in self.rows:
            writer.writerow(
                [str(c).replace(text.NBSP, " ").replace("−", "-").replace(",", "") if isinstance(c, Num) else str(c) for c in row]
            )
        return out.getvalue()


def _words(words: str) -> str:
    return _say(words)[0]


def _cell(cell: Cell, *, first: bool) -> str:
    if isinstance(cell, Num):
        return f'<td class="num">{escape(str(cell))}</td>'
    if isinstance(cell, Chunks):
        return f'<td class="chunks">{cell.html()}</td>'
    tag = 'th scope="row"' if first else "td"
    words = escape(str(cell)) if isinstance(cell, Name) else _words(cell)
    words = f"<code>{words}</code>" if isinstance(cell, Code) else words
    return f"<{tag}>{words}</{tag.split()[0]}>"


def _barriers() -> Table:
    """How often to wait: totals and queue peaks of the eight tasks."""
    t1, t2, t3, n = (book()[f"queue.{name}"].value for name in ("enqueue", "compute", "fetch", "tasks"))
    rows: list[list[Cell]] = []
    for every in (1, 2, int(book()["queue.every"].value), None):
        pipeline = AsyncPipeline(enqueue=t1, compute=t2, fetch=t3, tasks=int(n), barrier_every=every)
        name: Cell = (
            Name(f"after every {every} tasks") if every and every > 1 else ("after every task" if every else "only at the end")
        )
        rows.append([name, Num(pipeline.barriers), Num(pipeline.total, "ticks"), Num(pipeline.queue_peak)])
    return Table(("Python waits", "Barriers", "Total", "Most tasks pending"), rows)


def _blockers() -> Table:
    """Calls that wait for the queue when z lives on a GPU, and where each hides."""
    rows: list[list[Cell]] = [
        [Code("print(z)"), "the values, as text", "debugging"],
        [Code("z.sum().item()"), "a Python number", "logging the loss of a step"],
        [Code("z.tolist()"), "a list", "metrics"],
        [Code("z.cpu()"), "a copy in CPU memory", "saving, comparing"],
        [Code("z.cpu().numpy()"), "an array; the copy is what waits", "plotting"],
        [Code("if z.sum() > 0:"), "true or false", "a branch on a value"],
        [Code("z[z > 0]"), "the values that fit the mask", "filtering"],
        [Code("torch.cuda.synchronize()"), "nothing: it only waits", "timing; reading a copy made with non_blocking"],
    ]
    return Table(("Call", "What Python gets", "Where you meet it"), rows)


def _ring_walk() -> Table:
    """What every GPU holds in every chunk after each step of the ring; a finished sum is marked."""
    gpus = int(book()["sync.gpus"].value)
    last = 2 * (gpus - 1)
    whole = kernels.ring_state(gpus, last)[0][0]
    rows: list[list[Cell]] = []
    for step in range(last + 1):
        phase = "at the start" if step == 0 else ("reduce-scatter" if step < gpus else "all-gather")
        grid = kernels.ring_state(gpus, step)
        before = kernels.ring_state(gpus, max(step - 1, 0))
        rows.append([Name(str(step)), phase, *(Chunks(tuple(grid[gpu]), whole, tuple(before[gpu])) for gpu in range(gpus))])
    return Table(("Step", "Phase", *(f"GPU {gpu}" for gpu in range(gpus))), rows)


TABLES: dict[str, Callable[[], Table]] = {"barriers": _barriers, "blockers": _blockers, "ring-walk": _ring_walk}


def table(name: str) -> Piece:
    """Put a table of the site on the page, by name."""
    if name not in TABLES:
        raise QuoteError(f'there is no table "{name}": {", ".join(TABLES)}')
    content = TABLES[name]().html()
    return Piece(f'<div class="scroll table-{name}" role="region" aria-label="Table">{content}</div>', name)
