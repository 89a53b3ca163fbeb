"""What every view is made of: places, bars, text and legends as SVG and HTML, in words that a translation to JavaScript keeps."""

from __future__ import annotations

from perfmodel.wording import counted, fixed, half_up, number


def px(value: float) -> str:
    """A place in the drawing (at least 0), to a tenth of a pixel.

    >>> px(12.34), px(3.0)
    ('12.3', '3')
    """
    tenths = half_up(value * 10)
    if tenths % 10 == 0:
        return str(tenths // 10)
    return str(tenths // 10) + "." + str(tenths % 10)


def box(x: float, y: float, wide: float, high: float) -> str:
    """A rectangle as part of a path: many bars of one role make one element, which is drawn faster.

    >>> box(1.0, 2.0, 10.5, 4.0)
    'M1 2h10.5v4H1z'
    """
    return "M" + px(x) + " " + px(y) + "h" + px(wide) + "v" + px(high) + "H" + px(x) + "z"


def path(cls: str, d: str) -> str:
    """A path, or nothing where there is nothing to draw."""
    if d == "":
        return ""
    return '<path class="' + cls + '" d="' + d + '"/>'


def idle(d: str, hatch: str) -> str:
    """Hatched bars: a resource that waits."""
    if d == "":
        return ""
    return '<path class="bar r-idle" fill="url(#' + hatch + ')" d="' + d + '"/>'


def words(x: float, y: float, cls: str, anchor: str, text: str) -> str:
    """A line of text; `anchor` is start, middle or end."""
    return '<text class="' + cls + '" x="' + px(x) + '" y="' + px(y) + '" text-anchor="' + anchor + '">' + text + "</text>"


def svg(name: str, width: float, height: float, label: str, inside: str) -> str:
    """A drawing with its hatch, and what it shows in words for who can't see it."""
    size = ' width="' + px(width) + '" height="' + px(height) + '" viewBox="0 0 ' + px(width) + " " + px(height) + '"'
    hatch = '<defs><pattern id="' + name + '" width="6" height="6" patternUnits="userSpaceOnUse">'
    lines = '<path class="hatch" d="M-1 1L1 -1M0 6L6 0M5 7L7 5"/></pattern></defs>'
    shown = '<g class="keep" aria-hidden="true">' + inside + "</g>"  # the label says it, and is not said twice
    return '<svg role="img" aria-label="' + label + '"' + size + ">" + hatch + lines + shown + "</svg>"


def nice_step(upto: float, most: float) -> float:
    """The distance of the marks on an axis that ends at `upto`: 1, 2 or 5 times a power of ten, so that there are at most `most`.

    >>> nice_step(56.0, 8.0), nice_step(700.0, 8.0), nice_step(0.3, 4.0)
    (10.0, 100.0, 0.1)
    """
    step = 1.0
    while upto / step <= most / 10:
        step = step / 10
    k = 0
    while upto / step > most:
        step = step * 2.5 if k % 3 == 1 else step * 2
        k += 1
    return step


def bold(text: str) -> str:
    """Text that stands out."""
    return "<strong>" + text + "</strong>"


def item(text: str) -> str:
    """A remark under a lab."""
    return "<li>" + text + "</li>"


def cell(text: str) -> str:
    """A number in a table."""
    return '<td class="num">' + text + "</td>"


def times(value: float) -> str:
    """A ratio: 2.00×."""
    return fixed(value, 2) + "×"


def key(role: str, text: str) -> str:
    """An entry of a legend: a swatch in the colour of a role, and what it stands for."""
    return '<span><span class="key ' + role + '"></span>' + text + "</span> "


def legend(entries: str) -> str:
    """A legend under a drawing."""
    return '<p class="lab-legend">' + entries + "</p>"


def said(value: float, unit: str, zero: str) -> str:
    """The value of a control in words, for who hears it: 3 ticks, at the end only.

    >>> said(3.0, "ticks", ""), said(0.0, "tasks", "at the end only"), said(1.0, "tasks", "")
    ('3\\xa0ticks', 'at the end only', '1\\xa0task')
    """
    if value == 0 and zero != "":
        return zero
    return number(value) if unit == "" else counted(number(value), unit)
