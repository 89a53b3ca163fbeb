"""The gate of a data set: predictions beside measurements, the rule by which the model holds or fails, and all sets in one figure."""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

Kind = Literal["worked example", "prediction", "fit", "bound", "bracket"]
Rule = Literal["each", "median"]


@dataclass(frozen=True, kw_only=True)
class Point:
    """One measurement and its prediction, in one unit. With `high`, the prediction is a range from `predicted` to there.

    `gated` says whether the gate covers it. `slack` is the half of the last printed digits, relative: a range may be missed by it.
    `printed` is what a worked example prints, as text. `size` is what an error is drawn over, where that says something.
    """

    label: str
    predicted: float
    measured: float
    high: float | None = None
    gated: bool = True
    slack: float = 0.0
    printed: str = ""
    size: float = 0.0

    @property
    def error(self) -> float:
        """(predicted − measured)/measured: below zero where reality was slower, or larger, than predicted."""
        return self.predicted / self.measured - 1


@dataclass(frozen=True, kw_only=True)
class DataSet:
    """Measurements of one kind from one source, and the rule by which the model holds or fails.

    `constants` is how many measured constants the predictions needed, `inputs` says which. `where` says which points the gate covers.
    `reason` stands on the page where a gate is wider than it was meant to be.
    """

    name: str
    title: str
    kind: Kind
    model: str
    inputs: str
    tables: tuple[str, ...]
    points: tuple[Point, ...]
    unit: str
    constants: int = 0
    gate: float = 0.0
    rule: Rule = "each"
    where: str = "all"
    digits: float = 0.5
    reason: str = ""

    @property
    def gated(self) -> tuple[Point, ...]:
        """The points that the gate covers."""
        return tuple(point for point in self.points if point.gated)

    @property
    def errors(self) -> list[float]:
        """The signed errors of those points, in order of size."""
        return sorted(point.error for point in self.gated)

    @property
    def typical(self) -> float:
        """The median of those errors, all taken as positive."""
        return statistics.median(map(abs, self.errors))

    def slips(self) -> list[str]:
        """What the gate refuses, in words; empty when the model holds."""
        if not self.gated:
            return [f"{self.name}: no point is gated"]
        if self.rule == "median":
            wide = self.typical > self.gate
            return [f"{self.name}: the median error is {self.typical:.2%}, the gate is {self.gate:.2%}"] if wide else []
        return [f"{self.name}, {point.label}: {slip}" for point in self.gated if (slip := self._slip(point))]

    def _slip(self, point: Point) -> str:
        match self.kind:
            case "worked example":
                last = 10.0 ** -len(point.printed.partition(".")[2])
                off = abs(point.predicted - float(point.printed)) / last
                # The half digit itself rounds either way; the noise of binary arithmetic is far below a thousandth of a digit.
                return f"{point.predicted!r}, printed {point.printed}" if off > self.digits * 1.001 else ""
            case "bound":
                return f"the bound {point.predicted:.6g} is above {point.measured:.6g}" if point.predicted > point.measured else ""
            case "bracket":
                high = point.predicted if point.high is None else point.high
                inside = point.predicted * (1 - point.slack) <= point.measured <= high * (1 + point.slack)
                return "" if inside else f"{point.measured:.6g} is outside {point.predicted:.6g} to {high:.6g}"
            case _:
                return f"an error of {point.error:+.2%}, the gate is {self.gate:.2%}" if abs(point.error) > self.gate else ""


def gate_words(each: DataSet) -> str:
    """The rule of a data set, as a table shows it."""
    match each.kind:
        case "worked example":
            return "within one printed digit" if each.digits > 0.5 else "to the printed digits"
        case "bound":
            return "never above"
        case "bracket":
            return "inside"
        case _:
            return f"{each.gate:.0%} ({'median' if each.rule == 'median' else 'each'})"


@dataclass(frozen=True)
class Overall:
    """Over all gated points of predictions: the mean absolute error, how many points, and how many constants they needed."""

    mean_error: float
    points: int
    constants: int
    sets: list[str] = field(default_factory=list)


def overall(sets: Iterable[DataSet]) -> Overall:
    """The predictive sets as one: neither fits, which have seen both ends, nor bounds, nor worked examples."""
    predictive = [each for each in sets if each.kind == "prediction"]
    errors = [abs(error) for each in predictive for error in each.errors]
    constants = sum(each.constants for each in predictive)
    return Overall(statistics.fmean(errors), len(errors), constants, [each.name for each in predictive])
