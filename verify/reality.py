"""`make reality`: every published data set beside its model, with its gate, and whether it holds. Status 1 when one slips."""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Sequence

from macros import reality
from macros.gates import DataSet, gate_words, overall
from macros.published import changed


def line(each: DataSet) -> str:
    """A data set in a line: kind, measured constants, points, least, median and largest error, gate, verdict."""
    errors = each.errors
    low, middle, high = (f"{value:+8.2%}" for value in (errors[0], statistics.median(errors), errors[-1]))
    where = "" if each.where == "all" else f", {each.where}"
    slips = each.slips()
    verdict = f"SLIPS: {'; '.join(slips)}" if slips else "pass"
    return (
        f"{each.name:<19} {each.kind:<15} {each.constants:>2} {len(each.gated):>4} of {len(each.points):<4} {low} {middle} {high}  "
        f"{gate_words(each) + where:<32} {verdict}"
    )


def show(sets: Sequence[DataSet]) -> int:
    """Print the table. Returns how many sets slip."""
    print(f"{'data set':<19} {'kind':<15} {'k':>2} {'points':>9}     {'min':>8} {'median':>8} {'max':>8}  {'gate':<32}")
    for each in sets:
        print(line(each))
        if each.reason:
            print(f"{'':<19} wider than meant, since: {each.reason}")
    total = overall(sets)
    print(
        f"predictions: mean absolute error {total.mean_error:.2%} over {total.points} points of {len(total.sets)} sets, with {total.constants} measured "
        "constants (k); fits, bounds, brackets and worked examples are not in it"
    )
    return sum(bool(each.slips()) for each in sets)


def main() -> int:
    """The whole table. The status is 1 when a set slips, or a file of figures was changed."""
    begin = time.monotonic()
    refused = changed()
    for path, why in refused:
        print(f"{path} {why}")
    if refused:
        return 1
    slipped = show(reality.data_sets())
    print(f"{len(reality.data_sets())} data sets, {slipped} slip, in {time.monotonic() - begin:.2f} s")
    return int(bool(slipped))


if __name__ == "__main__":
    sys.exit(main())
