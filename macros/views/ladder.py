"""The view of the lab "How long is a nanosecond?": a table of latencies, rescaled so that one of them takes a second."""

from __future__ import annotations

from macros.views.core import bold, box, cell, path
from perfmodel.wording import feels_like, half_up


def scaled_bar(felt: float) -> str:
    """A bar on a linear scale on which one second is 24 px; what is longer than 96 px is cut, and drawn with an open end."""
    wide = min(felt * 24, 96.0)
    start = '<svg class="rung" width="104" height="12" viewBox="0 0 104 12" aria-hidden="true">'
    if felt * 24 > 96:
        return start + '<path class="bar r-transfer" d="M0 1h96l6 5l-6 5H0z"/></svg>'
    return start + path("bar r-transfer", box(0.0, 1.0, max(wide, 0.4), 10.0)) + "</svg>"


def ladder_view(values: list[float], names: list[str], numbers: list[float], width: float) -> list[str]:
    """How long is a nanosecond? Value: the row that takes one second. Names: the actions; numbers: their seconds, shortest first."""
    reference = half_up(values[0])
    one = numbers[reference]
    last = len(numbers) - 1
    result = "If “" + names[reference] + "” took a second, "
    if reference != last:
        result += "“" + names[last] + "” would take " + bold(feels_like(numbers[last] / one, False))
    if reference != 0:
        if reference != last:
            result += ", and "
        result += "“" + names[0] + "” would take " + bold(feels_like(numbers[0] / one, False))
    result += "."
    head = '<table class="data rungs"><thead><tr><th scope="col">Action</th><th scope="col" class="num">Takes</th>'
    head += '<th scope="col" class="num">Feels like</th><th scope="col">To scale</th></tr></thead><tbody>'
    rows = ""
    for i in range(len(numbers)):
        felt = numbers[i] / one
        mark = ' class="chosen"' if i == reference else ""
        pressed = "true" if i == reference else "false"
        rows += (
            "<tr"
            + mark
            + '><th scope="row"><button type="button" data-set="reference" data-to="'
            + str(i)
            + '" aria-pressed="'
            + pressed
        )
        rows += '">' + names[i] + "</button></th>" + cell(feels_like(numbers[i], False)) + cell(feels_like(felt, i == reference))
        rows += "<td>" + scaled_bar(felt) + "</td></tr>"
    formula = "<p>t / t<sub>ref</sub> · 1 s, for the last row: "
    formula += feels_like(numbers[last], False) + " / " + feels_like(one, False) + " · 1 s = "
    formula += bold(feels_like(numbers[last] / one, last == reference)) + "</p>"
    return [result, head + rows + "</tbody></table>", formula, ""]
