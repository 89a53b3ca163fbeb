"""The labs: a view of `macros.views`, the controls that drive it with their ranges, and the state a reader finds.

`lab("ring")` puts one on a page, drawn at build time: readable without a script. With one, `docs/assets/labs.js` reads the same
declaration and calls the same view, translated to JavaScript, for every other state.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache, partial
from html import escape
from pathlib import Path
from types import MappingProxyType
from typing import Any

from macros import text, translate
from macros.calls import Piece
from macros.evaluate import book, speaker
from macros.fingerprint import ROOT
from macros.quantity import QuoteError
from macros.views.cluster import cluster_view
from macros.views.core import said
from macros.views.ladder import ladder_view
from macros.views.pipeline import pipeline_view
from macros.views.ring import ring_highs, ring_view
from perfmodel import wording
from perfmodel.cluster import CLUSTERS
from perfmodel.ladder import LADDER
from perfmodel.units import UNITS

View = Callable[[list[float], list[str], list[float], float], list[str]]
WIDE, NARROW = 560, 340  # px; without a script the page shows one or the other, with one the lab is drawn as wide as it is
PARTS = ("result", "figure", "formula", "notes")  # what a view returns, in this order
SCRIPT = "assets/kernels.js"


@dataclass(frozen=True, kw_only=True)
class Control:
    """What a reader can set: its range and step, and where it stands: at the number of the book that `of` names, in its own unit, or at 0.

    So no start is typed. With `stops` the slider goes from one to the next; with `options` it is a list to choose from. `zero` says what 0
    means, `buttons` are the words of one step back and one forward.

    Raises ValueError for a range or step that is none, for a start, stops or options outside the range, and for a start that is no option.
    """

    name: str
    label: str
    low: float
    high: float
    step: float = 1
    unit: str = ""
    zero: str = ""
    stops: tuple[float, ...] = ()
    options: tuple[tuple[str, float], ...] = ()
    buttons: tuple[str, str] | None = None
    of: str = ""
    value: float = field(init=False)

    def __post_init__(self) -> None:
        if not (self.name.isidentifier() and self.low < self.high and self.step > 0):
            raise ValueError(
                f"a control must have a name, a range and a step above 0, got {self.name!r}, {self.low}–{self.high}, {self.step}"
            )
        object.__setattr__(self, "value", self.reads(self.of) if self.of else 0.0)
        for value in (self.value, *self.stops, *(value for _, value in self.options)):
            if not self.low <= value <= self.high:
                raise ValueError(f"{self.name} must be between {self.low} and {self.high}, got {value}")
        if list(self.stops) != sorted(set(self.stops)):
            raise ValueError(f"the stops of {self.name} must go up, got {self.stops}")
        if self.options and self.value not in [value for _, value in self.options]:
            raise ValueError(f"{self.name} must start at one of its options, got {self.value:g}")

    def reads(self, name: str) -> float:
        """A number of the book as this control shows it: 25 for 25 MiB, 18.75 for 18.75 GB/s."""
        size = UNITS[self.unit].size if self.unit in UNITS else 10**6 if self.unit == "million" else 1
        return float(wording.half_up(float(book()[name].value) / float(size) * 1000) / 1000)

    def said(self) -> str:
        """The value in words, for who hears it."""
        return said(self.value, self.unit, self.zero)


@dataclass(frozen=True, kw_only=True)
class Lab:
    """A lab: what it shows (`view`), what drives it, and what a reader is asked before looking. `highs` narrows the ranges as they move.

    `presets` are settings by name: for some of the controls, the numbers of the book that they go to. `responsive` views are drawn for two widths.
    """

    name: str
    title: str
    question: str
    view: View
    controls: tuple[Control, ...]
    names: tuple[str, ...] = ()
    numbers: tuple[float, ...] = ()
    highs: Callable[[list[float], list[float]], list[float]] | None = None
    presets: tuple[tuple[str, Mapping[str, str]], ...] = ()
    responsive: bool = True
    badge: str = "cost model"

    def parts(self, values: list[float], width: float) -> list[str]:
        """What the view shows for these values, part by part."""
        return self.view(values, list(self.names), list(self.numbers), width)

    def settings(self) -> list[tuple[str, dict[str, float]]]:
        """The presets with their values."""
        return [(name, {c.name: c.reads(of[c.name]) for c in self.controls if c.name in of}) for name, of in self.presets]

    def values(self) -> list[float]:
        """Where the controls stand when a reader comes."""
        return [control.value for control in self.controls]

    def declaration(self) -> dict[str, Any]:
        """The lab for the front end."""
        return {
            "view": self.view.__name__,
            "highs": self.highs.__name__ if self.highs else None,
            "names": self.names,
            "numbers": self.numbers,
            "controls": [
                {
                    "name": c.name, "label": c.label, "value": c.value, "low": c.low, "high": c.high, "step": c.step, "unit": c.unit, "zero": c.zero,
                    "stops": c.stops, "options": [value for _, value in c.options],
                }
                for c in self.controls
            ],
            "presets": [[name, values] for name, values in self.settings()],
        }  # fmt: skip


def _pipeline() -> Lab:
    ticks = partial(Control, low=0, high=10, step=0.5, unit="ticks")
    return Lab(
        name="pipeline",
        title="Drive the pipeline",
        question="Let queueing take longer and computing take less. Does a single barrier at the end still help, and how long does the queue get?",
        view=pipeline_view,
        controls=(
            Control(name="tasks", label="tasks n", of="queue.tasks", low=1, high=64, unit="tasks"),
            ticks(name="enqueue", label="queue one, t₁", of="queue.enqueue"),
            ticks(name="compute", label="compute one, t₂", of="queue.compute"),
            ticks(name="fetch", label="fetch a result, t₃", of="queue.fetch"),
            Control(name="every", label="a barrier every", low=0, high=64, unit="tasks", zero="at the end only"),
        ),
        badge="cost model · ticks",
    )


def _ladder() -> Lab:
    rows = [row for row in LADDER if row.in_lab]
    names = tuple(escape(row.action.replace("->", "→")) for row in rows)
    return Lab(
        name="ladder",
        title="How long is a nanosecond?",
        question='Let an access to a spinning disk take [= q("one second", ladder.second) =]. Which rows can you still feel?',
        view=ladder_view,
        controls=(
            Control(
                name="reference",
                label="let this take a second",
                low=0,
                high=len(rows) - 1,
                options=tuple((name, i) for i, name in enumerate(names)),
            ),
        ),
        names=names,
        numbers=tuple(row.seconds for row in rows),
        responsive=False,
        badge="after Eliot Eshelman",
    )


def _ring() -> Lab:
    return Lab(
        name="ring",
        title="Walk the ring",
        question="Before you add GPUs: what will that do to the time of the ring, and to the time when all send to one?",
        view=ring_view,
        highs=ring_highs,
        controls=(
            Control(name="gpus", label="GPUs n", of="sync.gpus", low=1, high=8, unit="GPUs"),
            Control(name="step", label="steps made", low=0, high=14, unit="steps", zero="none", buttons=("Step back", "Step")),
            Control(
                name="size",
                label="gradient S",
                of="sync.gradient",
                low=0.5,
                high=10000,
                step=0.5,
                unit="MB",
                stops=(0.5, 1, 2, 5, 10, 20, 40, 80, 160, 320, 640, 1000, 2000, 5000, 10000),
            ),
            Control(
                name="link",
                label="link B, each way",
                of="sync.link",
                low=0.25,
                high=1000,
                step=0.25,
                unit="GB/s",
                stops=(0.25, 0.5, 1, 2, 4, 8, 12.5, 16, 25, 32, 50, 64, 100, 200, 300, 450, 600, 900, 1000),
            ),
        ),
        badge="worked example",
    )


# The words of the machines that the lab starts from.
MACHINES = {
    "book": 'the book’s server: [= q("4", cluster.book_gpus) =] GPUs on PCIe',
    "v100": '[= q("8", cluster.v100_gpus) =] V100 with NVLink',
    "h100": '[= q("8", cluster.h100_gpus) =] H100',
    "h100x4": (
        '[= q("4", cluster.h100x4_nodes) =] × [= q("8", cluster.h100x4_gpus) =] H100 at [= q("400 Gbit/s", cluster.h100x4_network) =]'
    ),
}
_say = speaker(__file__)


def _cluster() -> Lab:
    def machine(tag: str) -> dict[str, str]:
        return {part: f"cluster.{tag}_{part}" for part in ("gpus", "nodes", "link", "cpu", "network", "latency")}

    start = machine("book")
    # A gradient has as many bytes as the name of its format says.
    formats = tuple((name, int(name[2:4]) / 8) for name in ("FP32", "BF16 or FP16", "FP8"))
    rate = partial(Control, low=0.25, high=2000, step=0.25, unit="GB/s")
    return Lab(
        name="cluster",
        title="Your cluster",
        question="Choose a machine. What will a step mostly consist of: computing, latency, or bytes? And does a larger bucket help or harm?",
        view=cluster_view,
        controls=(
            Control(name="gpus", label="GPUs in a machine", of=start["gpus"], low=1, high=16, unit="GPUs"),
            Control(
                name="nodes",
                label="machines",
                of=start["nodes"],
                low=1,
                high=128,
                unit="machines",
                stops=(1, 2, 4, 8, 16, 32, 64, 128),
            ),
            rate(
                name="link",
                label="link in a machine, each way",
                of=start["link"],
                stops=(1, 2, 4, 8, 16, 32, 56.25, 64, 100, 150, 200, 300, 450, 600, 900, 1800),
            ),
            rate(
                name="cpu",
                label="link to the CPU, each way",
                of=start["cpu"],
                stops=(1, 2, 4, 8, 16, 32, 64, 128, 256, 450),
            ),
            rate(
                name="network",
                label="network port a GPU, each way",
                of=start["network"],
                stops=(0.25, 1.25, 2.5, 5, 10, 12.5, 25, 50, 100, 200),
            ),
            Control(
                name="latency",
                label="latency of a transfer",
                of=start["latency"],
                low=0,
                high=10000,
                step=0.5,
                unit="µs",
                stops=(0, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 10000),
            ),
            Control(
                name="parameters",
                label="parameters",
                of="cluster.parameters",
                low=1,
                high=1000000,
                unit="million",
                stops=(1, 2, 5, 10, 25, 40, 60, 110, 340, 1000, 1500, 3000, 7000, 13000, 70000, 175000, 1000000),
            ),
            Control(
                name="precision",
                label="precision of a gradient",
                of="cluster.gradient",
                low=1,
                high=8,
                options=formats,
            ),
            Control(
                name="compute",
                label="computing of a step",
                of="cluster.compute",
                low=0.5,
                high=100000,
                step=0.5,
                unit="ms",
                stops=(0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 100000),
            ),
            Control(
                name="bucket",
                label="bucket",
                of="cluster.bucket",
                low=1,
                high=10000,
                unit="MiB",
                stops=(1, 2, 5, 10, 25, 50, 100, 200, 500, 1000, 10000),
            ),
        ),
        presets=tuple((_say(MACHINES[tag])[1].replace(text.NBSP, " "), machine(tag)) for tag in CLUSTERS),
    )


LABS: Mapping[str, Callable[[], Lab]] = MappingProxyType(
    {"pipeline": _pipeline, "ladder": _ladder, "ring": _ring, "cluster": _cluster}
)


@lru_cache(maxsize=1)
def _translated(texts: tuple[tuple[str, str], ...]) -> str:
    return translate.javascript(dict(texts))


def script() -> str:
    """What the browser runs: the views and all they call, in JavaScript, and the declarations of the labs."""
    texts = tuple((path, (ROOT / path).read_text(encoding="utf-8")) for path in translate.SOURCES)
    declared = json.dumps({name: make().declaration() for name, make in LABS.items()}, ensure_ascii=False, separators=(",", ":"))
    return f"{_translated(texts)}const labs = {declared};\n"


def _control(lab: Lab, control: Control, say: Callable[[str], tuple[str, str]]) -> str:
    """One control: a list; or a number, a slider beside it, and buttons where it is walked. They wake up with the script."""
    name = f"lab-{lab.name}-{control.name}"
    shown, plain = say(control.label)
    label = f'<label for="{name}">{shown}</label>'
    if control.options:
        choices = "".join(
            f'<option value="{value:g}"{" selected" if value == control.value else ""}>{words}</option>'
            for words, value in control.options
        )
        return f'<div class="lab-control">{label}<select id="{name}" data-choice="{control.name}" disabled>{choices}</select></div>'
    top = len(control.stops) - 1 if control.stops else control.high
    at = _nearest(control.stops, control.value) if control.stops else control.value
    low, step = (0, 1) if control.stops else (control.low, control.step)
    walk = "".join(
        f'<button type="button" data-walk="{control.name}" data-by="{by}" disabled>{words}</button>'
        for by, words in zip((-1, 1), control.buttons or (), strict=False)
    )
    words = control.zero if control.zero and not control.value else control.unit
    unit = f'<span class="lab-unit" id="{name}-unit" data-unit="{control.name}">{escape(words)}</span>' if control.unit else ""
    about = f' aria-describedby="{name}-unit"' if unit else ""
    return (
        f'<div class="lab-control">{label}<span class="lab-number"><input type="number" id="{name}" data-field="{control.name}" inputmode="decimal" '
        f'min="{control.low:g}" max="{control.high:g}" step="{control.step:g}" value="{control.value:g}"{about} readonly>{unit}</span>'
        f'<input type="range" data-slide="{control.name}" min="{low:g}" max="{top:g}" step="{step:g}" value="{at:g}" '
        f'aria-label="{escape(plain, quote=True)}" aria-valuetext="{escape(control.said(), quote=True)}" disabled>'
        + (f'<span class="lab-walk">{walk}</span>' if walk else "")
        + "</div>"
    )


def _nearest(stops: tuple[float, ...], value: float) -> int:
    """The stop at which a slider stands for a value: the last that is not above it."""
    return max([i for i, stop in enumerate(stops) if stop <= value], default=0)


def lab_html(lab: Lab, say: Callable[[str], tuple[str, str]]) -> str:
    """A lab in the state that a reader finds, with its controls asleep."""
    result, figure, formula, notes = lab.parts(lab.values(), WIDE)
    if lab.responsive:
        narrow = lab.parts(lab.values(), NARROW)[1]
        figure = f'<div class="fig-wide">{figure}</div><div class="fig-narrow">{narrow}</div>'
    preset = ""
    if lab.presets:
        here = {c.name: c.value for c in lab.controls}
        choices = "".join(
            f"<option{' selected' if all(here[k] == v for k, v in values.items()) else ''}>{escape(name)}</option>"
            for name, values in lab.settings()
        )
        preset = (
            f'<div class="lab-control"><label for="lab-{lab.name}-preset">start from</label><select id="lab-{lab.name}-preset" data-preset disabled>'
            f"{choices}<option>your own</option></select></div>"
        )
    controls = preset + "".join(_control(lab, control, say) for control in lab.controls)
    title, plain = say(lab.title)
    question, _ = say(lab.question)
    buttons = "".join(
        f'<button type="button" data-do="{do}" disabled>{words}</button>'
        for do, words in (("reset", "Reset"), ("copy", "Copy link"), ("predict", "Predict first"))
    )
    return (
        f'<section class="lab" id="lab-{lab.name}" data-lab="{lab.name}" aria-label="Lab: {escape(plain, quote=True)}" data-search-exclude>'
        f'<p class="lab-title"><span class="lab-mark">Lab</span> {title}</p>'
        f'<p class="lab-ask"><strong>Predict first.</strong> {question}</p>'
        f'<div class="lab-body"><div class="lab-answer"><p class="lab-result" data-part="result">{result}</p>'
        '<p class="lab-heard unseen" role="status"></p>'
        f'<div class="lab-figure fig-svg scroll" role="group" aria-label="Figure" data-part="figure">{figure}</div></div>'
        f'<form class="lab-controls" aria-label="Controls: {escape(plain, quote=True)}">{controls}<p class="lab-buttons">{buttons}</p>'
        f'<p class="lab-said" role="status"></p></form></div>'
        f'<div class="lab-answer lab-more"><div class="lab-formula scroll" role="group" aria-label="Formulas" data-part="formula">{formula}</div><ul class="lab-notes" data-part="notes">{notes}</ul></div>'
        f'<p class="lab-foot"><span class="badge badge-model">{escape(lab.badge)}</span> <span class="lab-off">With a script, every control moves.</span></p>'
        f"</section>"
    )


def lab(name: str) -> Piece:
    """Put a lab on the page, by name."""
    if name not in LABS:
        raise QuoteError(f'there is no lab "{name}": {", ".join(LABS)}')
    return Piece(lab_html(LABS[name](), speaker(str(Path(__file__)))), name)
