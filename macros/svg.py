"""Draw the Plotly figures of this site as SVG at build time: first paint, no script, print.

Only a subset is drawn, and anything outside it is refused by name: the SVG and the live figure never differ in silence.
No colour stands in the SVG: classes name roles, and `figures.css` gives them the palette's colours.
"""

from __future__ import annotations

import itertools
import math
from html import escape
from typing import Any, NamedTuple

ROLES = ("host", "compute", "transfer", "fetch", "update", "idle")
NAMES = (*ROLES, "total")  # what a shape or an annotation may be called

_Schema = dict[str, Any]

CHAR = 7.0  # px a character takes at 13 px
ROW = 20.0  # px a row of text takes
# The shapes of markers, round a place: square, triangle, diamond, triangle on its head. The other roles have circles. figures.js names them too.
MARKERS = {
    "transfer": "m-4-4h8v8h-8z",
    "update": "m0-5l5 9h-10z",
    "fetch": "m0-5.5l5.5 5.5l-5.5 5.5l-5.5-5.5z",
    "host": "m0 5l5-9h-10z",
}
DASH = {"solid": "", "dash": "7 4", "dot": "2 3", "dashdot": "7 3 2 3"}
_SUPER = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
ANCHOR = {"left": "start", "center": "middle", "right": "end"}

# What is drawn: each attribute with the values it may take, a tuple, or () for any. See `_check`.
_COMMON: _Schema = dict.fromkeys(("x", "y", "name", "showlegend", "hovertemplate", "hovertext", "hoverinfo", "customdata"), ())
_COMMON["meta"] = {"role": ROLES, "muted": (True, False)}
_TRACES: dict[str, _Schema] = {
    "bar": {
        **_COMMON,
        "type": ("bar",),
        "base": (),
        "text": (),
        "orientation": ("v", "h"),
        "textposition": ("inside", "outside"),
    },
    "scatter": {
        **_COMMON,
        "type": ("scatter",),
        "mode": ("lines", "markers", "lines+markers"),
        "line": {"shape": ("linear", "hv"), "dash": tuple(DASH)},
    },
}
_LAYOUT: _Schema = dict.fromkeys(("height", "margin", "showlegend", "bargap", "xaxis", "yaxis", "shapes", "annotations"), ())
_LAYOUT["barmode"] = ("group", "overlay", "stack")
_AXIS: _Schema = dict.fromkeys(("range", "categoryarray", "tickvals", "ticktext"), ())
_AXIS |= {"title": {"text": ()}, "autorange": (True, "reversed"), "type": ("linear", "log", "category")}
_AXIS |= {"categoryorder": ("array",), "tickmode": ("array",)}
_REFS: _Schema = {"xref": ("x", "x domain", "paper"), "yref": ("y", "y domain", "paper"), "name": NAMES}
_SHAPE: _Schema = {**_REFS, **dict.fromkeys(("x0", "x1", "y0", "y1"), ()), "type": ("line",), "line": {"dash": tuple(DASH)}}
_NOTE: _Schema = {
    **_REFS,
    **dict.fromkeys(("x", "y", "xshift", "yshift", "text"), ()),
    "showarrow": (False,),
    "xanchor": tuple(ANCHOR),
}
_NOTE["yanchor"] = ("top", "middle", "bottom")


def number(value: float) -> str:
    """A tick's number: plain below 10,000, commas from there, a true minus.

    >>> number(2500), number(10000), number(-0.25), number(1e-5)
    ('2500', '10,000', '−0.25', '0.00001')
    """
    text = f"{abs(value):,.12f}" if abs(value) >= 10_000 else f"{abs(value):.12f}"
    text = text.rstrip("0").rstrip(".")
    return "−" + text if value < 0 and text != "0" else text


def wrap(text: str, chars: int) -> list[str]:
    """Lines of at most `chars` characters, broken at spaces only.

    >>> wrap("parameter server", 10)
    ['parameter', 'server']
    """
    lines: list[str] = []
    for word in text.split(" "):
        if lines and len(lines[-1]) + 1 + len(word) <= chars:
            lines[-1] += " " + word
        else:
            lines.append(word)
    return lines


def _wide(text: str) -> float:
    """About the px that a text takes at 13 px, rather too many than too few: the fonts differ from reader to reader."""
    return sum(
        4.6 if c in " .,:;'|!ijlI" else 5.6 if c in "()tfr·-" else 12.0 if c in "mwMW@%→←↩" else 10.0 if c.isupper() else 8.3
        for c in text
    )


def normalise(figure: dict[str, Any]) -> dict[str, Any]:
    """A checked copy with axis types, categories, ranges and anchors written out, for the SVG and for Plotly alike.

    Raises ValueError naming the trace or attribute that the SVG cannot show.
    """
    layout = {key: value for key, value in figure.get("layout", {}).items() if key != "template"}  # Plotly's own look
    _check("layout", layout, _LAYOUT)
    data = [_trace(i, trace) for i, trace in enumerate(figure.get("data", []))]
    layout["shapes"] = [_shape(i, shape) for i, shape in enumerate(layout.get("shapes", []))]
    layout["annotations"] = [_note(i, note) for i, note in enumerate(layout.get("annotations", []))]
    for letter in "xy":
        layout[letter + "axis"] = _axis(letter, layout.get(letter + "axis", {}), data)
    bars = _bars(data, layout)
    for letter in "xy":
        axis = layout[letter + "axis"]
        axis["range"] = list(axis.get("range") or _range(letter, data, layout, bars))
        if axis.pop("autorange", None) == "reversed":
            axis["range"] = axis["range"][::-1]
    return {"data": data, "layout": layout}


def _check(where: str, given: dict[str, Any], schema: _Schema) -> None:
    """Refuse what the schema does not hold, by its full name."""
    for key, value in given.items():
        if key not in schema:
            raise ValueError(f"{where}.{key} is not drawn in the SVG; drawn are {', '.join(sorted(schema))}")
        if isinstance(schema[key], dict):
            _check(f"{where}.{key}", value, schema[key])
        elif schema[key] and value not in schema[key]:
            raise ValueError(f"{where}.{key} must be one of {', '.join(map(str, schema[key]))}, got {value!r}")


def _trace(i: int, given: dict[str, Any]) -> dict[str, Any]:
    where = f"data[{i}] ({given.get('name', 'unnamed')})"
    kind = given.get("type", "scatter")
    if kind not in _TRACES:
        raise ValueError(f"{where}.type must be one of {', '.join(_TRACES)}, got {kind!r}")
    defaults = {"orientation": "v", "textposition": "inside"} if kind == "bar" else {"mode": None}
    trace = {"type": kind, "x": None, "y": None, **defaults, **given, "meta": {"role": None, **(given.get("meta") or {})}}
    _check(where, trace, _TRACES[kind])
    for key in ("x", "y", "base", "text"):
        if key not in trace:
            continue
        if not isinstance(trace[key], list | tuple):
            raise ValueError(f"{where}.{key} must be a list, got {type(trace[key]).__name__}")
        if len(trace[key]) != len(trace["x"]):
            raise ValueError(f"{where}.{key} must be as long as x ({len(trace['x'])}), got {len(trace[key])}")
        for value in trace[key]:
            if not (isinstance(value, str) or (key != "text" and isinstance(value, int | float) and math.isfinite(value))):
                kind = "text" if key == "text" else "finite numbers or names"
                raise ValueError(f"{where}.{key} must hold {kind}, got {value!r}")
    return trace


def _shape(i: int, given: dict[str, Any]) -> dict[str, Any]:
    shape = {"type": "rect", "xref": "x", "yref": "y", "name": "total", **given}
    _check(f"layout.shapes[{i}]", shape, _SHAPE)
    if missing := {"x0", "x1", "y0", "y1"} - shape.keys():
        raise ValueError(f"layout.shapes[{i}] must have x0, x1, y0 and y1, got none for {', '.join(sorted(missing))}")
    if shape["x0"] != shape["x1"] and shape["y0"] != shape["y1"]:
        ends = f"{shape['x0']!r}, {shape['y0']!r} to {shape['x1']!r}, {shape['y1']!r}"
        raise ValueError(f"layout.shapes[{i}] must be vertical or horizontal, got {ends}")
    return shape


def _note(i: int, given: dict[str, Any]) -> dict[str, Any]:
    note = {"xref": "x", "yref": "y", "xanchor": "center", "name": "total", "showarrow": True, **given}
    _check(f"layout.annotations[{i}]", note, _NOTE)
    if missing := {"x", "y", "text"} - note.keys():
        raise ValueError(f"layout.annotations[{i}] must have x, y and text, got none for {', '.join(sorted(missing))}")
    note.setdefault("yanchor", "bottom" if note["yref"] != "y" and note["y"] >= 1 else "middle")
    return note


def _axis(letter: str, given: dict[str, Any], data: list[dict[str, Any]]) -> dict[str, Any]:
    where = f"layout.{letter}axis"
    values = [value for trace in data for value in trace[letter]]
    named = any(isinstance(value, str) for value in values)
    axis = {"type": "category" if named else "linear", **given}  # else Plotly takes names such as "1" for numbers
    _check(where, axis, _AXIS)
    if named != (axis["type"] == "category"):
        raise ValueError(
            f"{where}.type must be category for names, another for numbers; got {axis['type']!r} for {'names' if named else 'numbers'}"
        )
    if axis["type"] == "log" and any(value <= 0 for value in values):
        raise ValueError(f"{where} must hold values above 0, since it is logarithmic; got {min(values)!r}")
    if len(axis.get("tickvals", ())) != len(axis.get("ticktext", ())):
        sizes = f"{len(axis.get('tickvals', ()))} and {len(axis.get('ticktext', ()))}"
        raise ValueError(f"{where} must have tickvals and ticktext of one length, got {sizes}")
    if named:
        axis["categoryarray"] = list(axis.get("categoryarray") or dict.fromkeys(values))
        axis["categoryorder"] = "array"
        if missing := [value for value in values if value not in axis["categoryarray"]]:
            raise ValueError(f"{where}.categoryarray must hold all names of its values, got no {missing[0]!r}")
    return axis


def _value(axis: dict[str, Any], at: float) -> str:
    """The value at an axis coordinate, for Plotly to set the same tick."""
    if axis["type"] == "category":
        return str(axis["categoryarray"][round(at)])
    return f"{10**at if axis['type'] == 'log' else at:.10g}"


def _at(axis: dict[str, Any], value: Any) -> float:
    """A value as Plotly's own axis coordinate: the index of a category, the exponent on a log axis."""
    if axis["type"] == "category":
        return float(axis["categoryarray"].index(value) if isinstance(value, str) else value)
    return math.log10(value) if axis["type"] == "log" else float(value)


def _bars(data: list[dict[str, Any]], layout: dict[str, Any]) -> list[tuple[int, int, float, float, float, float]]:
    """Each bar as (trace, item, side, other side, start, end) in axis coordinates, placed as Plotly does."""
    bars = [(i, trace) for i, trace in enumerate(data) if trace["type"] == "bar"]
    if not bars:
        return []
    if len({trace["orientation"] for _, trace in bars}) > 1:
        raise ValueError("all bars of a figure must have one orientation, got both")
    across, along = "yx" if bars[0][1]["orientation"] == "h" else "xy"
    if layout[along + "axis"]["type"] != "linear":
        raise ValueError(
            f"layout.{along}axis must be linear, since a bar's length needs a zero; got {layout[along + 'axis']['type']}"
        )
    axis, mode = layout[across + "axis"], layout.get("barmode", "group")
    if mode == "stack" and any("base" in trace for _, trace in bars):
        raise ValueError("layout.barmode must be overlay where bars have a base, got stack")
    centres = sorted({_at(axis, value) for _, trace in bars for value in trace[across]})
    gaps = [1.0] if axis["type"] == "category" else [b - a for a, b in itertools.pairwise(centres)]
    slot = min(gaps, default=1.0) * (1 - layout.get("bargap", 0.2))
    share = slot / len(bars) if mode == "group" else slot
    placed, ends = [], dict.fromkeys(centres, 0.0)
    for k, (i, trace) in enumerate(bars):
        for j, (name, length) in enumerate(zip(trace[across], trace[along], strict=True)):
            centre = _at(axis, name)
            start = trace["base"][j] if "base" in trace else ends[centre] if mode == "stack" else 0.0
            ends[centre] = start + length
            side = centre - slot / 2 + (k * share if mode == "group" else 0)
            placed.append((i, j, side, side + share, start, start + length))
    return placed


def _range(letter: str, data: Any, layout: Any, bars: Any) -> list[float]:
    """The range where the figure gives none: from zero unless something is negative, with room for labels."""
    axis = layout[letter + "axis"]
    if axis["type"] == "category":
        return [-0.5, len(axis["categoryarray"]) - 0.5]
    across = bars and ("y" if data[bars[0][0]]["orientation"] == "h" else "x") == letter
    values = [edge for bar in bars for edge in (bar[2:4] if across else bar[4:6])]
    values += [_at(axis, v) for trace in data if trace["type"] == "scatter" for v in trace[letter]]
    values += [_at(axis, s[letter + k]) for s in layout["shapes"] if s[letter + "ref"] == letter for k in "01"]
    low, high = min(values, default=0.0), max(values, default=1.0)
    if across or letter == "x" or axis["type"] == "log":
        pad = 0.0 if letter == "x" and not across and high > low else 0.04 * (high - low) or 0.5
        return [low - pad, high + pad]
    room = 1.14 if any(trace.get("textposition") == "outside" for trace in data) else 1.06
    low, high = min(0.0, low * room), max(0.0, high * room)
    return [low, high if high > low else 1.0]


def _ticks(axis: dict[str, Any], room: float, each: float) -> list[tuple[float, str]]:
    """(axis coordinate, label) of each tick inside the range, about one every `each` px."""
    low, high = sorted(axis["range"])
    if "tickvals" in axis:
        ticks = [(_at(axis, v), str(text)) for v, text in zip(axis["tickvals"], axis["ticktext"], strict=True)]
    elif axis["type"] == "category":
        ticks = [(float(i), str(name)) for i, name in enumerate(axis["categoryarray"])]
    elif axis["type"] == "log":
        decades = range(math.floor(low), math.ceil(high) + 1)
        ticks = [(float(k), number(10.0**k) if -4 < k < 6 else "10" + str(k).translate(_SUPER)) for k in decades]
    else:
        least = (high - low) / max(2, room // each)
        size = 10.0 ** math.floor(math.log10(least))
        step = next(m * size for m in (1, 2, 5, 10) if m * size >= least * (1 - 1e-9))
        steps = range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)
        ticks = [(value, number(value)) for value in (float(f"{k * step:.12g}") for k in steps)]
    return [tick for tick in ticks if low - 1e-9 <= tick[0] <= high + 1e-9]


class _Frame(NamedTuple):
    """Where the plot's area lies, in px, and the ranges it spans, in axis coordinates."""

    left: float
    top: float
    width: float
    height: float
    x: list[float]
    y: list[float]

    def px(self, value: float) -> float:
        return self.left + (value - self.x[0]) / (self.x[1] - self.x[0]) * self.width

    def py(self, value: float) -> float:
        return self.base - (value - self.y[0]) / (self.y[1] - self.y[0]) * self.height

    @property
    def base(self) -> float:
        return self.top + self.height

    @property
    def right(self) -> float:
        return self.left + self.width


def _n(value: float) -> str:
    # The last bits of a float differ from one Python to another: sums are more exact from 3.12 on. A tie shall not show it.
    text = f"{round(value, 6):.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def _tag(tag: str, text: str = "", /, **attributes: object) -> str:
    """One element: `cls` is its class, numbers are rounded, text is escaped, None is left out."""
    given = ((key.replace("cls", "class").replace("_", "-"), v) for key, v in attributes.items() if v is not None)
    inside = "".join(f' {key}="{_n(v) if isinstance(v, int | float) else escape(str(v))}"' for key, v in given)
    return f"<{tag}{inside}>{escape(text, quote=False)}</{tag}>" if text else f"<{tag}{inside}/>"


def _line(cls: str, *points: tuple[float, float], dash: str = "solid") -> str:
    path = "M" + "L".join(f"{_n(x)} {_n(y)}" for x, y in points)
    return _tag("path", cls=cls, d=path, stroke_dasharray=DASH[dash] or None)


def _cls(kind: str, trace: dict[str, Any]) -> str:
    return f"{kind} r-{trace['meta']['role']}" + (" muted" if trace["meta"].get("muted") else "")


def _dot(trace: dict[str, Any], x: float, y: float) -> str:
    """A marker at a place: a shape a role, so that colour is never the only sign; hollow where it is muted."""
    cls, role = _cls("dot", trace), trace["meta"]["role"]
    if role not in MARKERS:
        return _tag("circle", cls=cls, cx=x, cy=y, r=4)
    return _tag("path", cls=cls, d=f"M{_n(x)} {_n(y)}{MARKERS[role]}")


def _bar(cls: str, hatch: str, **place: float) -> str:
    return _tag("rect", cls=cls, **place, fill=f"url(#{hatch})" if "r-idle" in cls else None)


def _legend(data: list[dict[str, Any]], width: float, hatch: str) -> tuple[list[str], float]:
    """Swatches with names, in as many rows as the width needs, and the height they take."""
    out, x, y = [], 0.0, ROW / 2
    for trace in data:
        wide = 24 + _wide(trace["name"])
        if x and x + wide > width:
            x, y = 0.0, y + ROW
        if trace["type"] == "bar":
            out.append(_bar(_cls("bar", trace), hatch, x=x, y=y - 6, width=18, height=12))
        else:
            if "lines" in trace["mode"]:
                out.append(_line(_cls("line", trace), (x, y), (x + 18, y), dash=trace.get("line", {}).get("dash", "solid")))
            if "markers" in trace["mode"]:
                out.append(_dot(trace, x + 9, y))
        out.append(_tag("text", trace["name"], cls="legend", x=x + 24, y=y + 4.5))
        x += wide + 14
    return out, y + ROW / 2 + 6


def _axes(f: _Frame, layout: dict[str, Any], x_ticks: Any, x_lines: list[list[str]], y_ticks: Any) -> list[str]:
    """Grid across axes of numbers, tick labels, lane names; an x tick whose label would touch its neighbour is left out."""
    x, y = layout["xaxis"], layout["yaxis"]
    lanes = y["type"] == "category"
    out, reach = [], -math.inf
    for (value, _), lines in zip(x_ticks, x_lines, strict=True):
        at, half = f.px(value), max(map(_wide, lines)) / 2
        if at - half < reach and x["type"] != "category":
            continue
        reach = at + half + 6
        if lanes or x["type"] == "log":
            out.append(_line("grid", (at, f.top), (at, f.base)))
        spans = "".join(_tag("tspan", line, x=at, dy=16 if k else None) for k, line in enumerate(lines))
        data_x = escape(_value(x, value))
        out.append(f'<text class="tick" data-x="{data_x}" y="{_n(f.base + 18)}" text-anchor="middle">{spans}</text>')
    for value, text in y_ticks:
        at, cls = f.py(value), "lane" if lanes else "tick"
        if not lanes:
            out.append(_line("grid", (f.left, at), (f.right, at)))
        out.append(_tag("text", text, cls=cls, data_y=_value(y, value), x=f.left - 8, y=at + 4.5, text_anchor="end"))
    return out


def _bar_label(item: str, trace: dict[str, Any], text: str, x: float, y: float, wide: float, high: float) -> str:
    """The text of a bar, inside where it fits and else nowhere, or beyond its end where the trace says so."""
    middle = {"cls": _cls("bar-label", trace), "x": x + wide / 2, "y": y + high / 2 + 4.5, "text_anchor": "middle"}
    if trace["textposition"] == "outside" and trace["orientation"] == "h":
        middle |= {"cls": "bar-label out", "x": x + wide + 5, "text_anchor": None}
    elif trace["textposition"] == "outside":
        middle |= {"cls": "bar-label out", "y": y - 5}
    elif _wide(text) + 3 > wide or high < 15:
        return ""
    return _tag("text", text, data_bar=item, **middle)


def _marks(f: _Frame, data: list[dict[str, Any]], layout: dict[str, Any], hatch: str) -> tuple[list[str], list[str]]:
    """Bars and lines, which the plot's area clips, then labels and markers, which it does not."""
    marks, over = [], []
    for i, j, side, other, start, end in _bars(data, layout):
        trace = data[i]
        if trace["orientation"] == "h":
            (x0, x1), (y0, y1) = sorted((f.px(start), f.px(end))), sorted((f.py(side), f.py(other)))
        else:
            (x0, x1), (y0, y1) = sorted((f.px(side), f.px(other))), sorted((f.py(start), f.py(end)))
        marks.append(_bar(_cls("bar", trace), hatch, x=x0, y=y0, width=x1 - x0, height=y1 - y0))
        if "text" in trace and trace["text"][j]:
            over.append(_bar_label(f"{i}-{j}", trace, trace["text"][j], x0, y0, x1 - x0, y1 - y0))
    for trace in data:
        if trace["type"] == "bar":
            continue
        points = [
            (f.px(_at(layout["xaxis"], x)), f.py(_at(layout["yaxis"], y))) for x, y in zip(trace["x"], trace["y"], strict=True)
        ]
        if "markers" in trace["mode"]:
            inside = (p for p in points if f.left - 1 <= p[0] <= f.right + 1 and f.top - 1 <= p[1] <= f.base + 1)
            over += [_dot(trace, x, y) for x, y in inside]
        line = trace.get("line", {})
        if line.get("shape") == "hv":
            points = points[:1] + [q for a, b in itertools.pairwise(points) for q in ((b[0], a[1]), b)]
        if "lines" in trace["mode"] and points:
            marks.append(_line(_cls("line", trace), *points, dash=line.get("dash", "solid")))
    return marks, over


def _place(f: _Frame, layout: dict[str, Any], item: dict[str, Any], key: str) -> float:
    """Where a shape's or a note's x or y lies, in px."""
    letter = key[0]
    if item[letter + "ref"] != letter:  # "paper" or "x domain": a share of the plot's area
        share: float = item[key]
        return f.left + share * f.width if letter == "x" else f.base - share * f.height
    axis = layout[letter + "axis"]
    # Plotly takes a note's place on a log axis as the exponent, a shape's as the value.
    at: float = item[key] if axis["type"] == "log" and len(key) == 1 else _at(axis, item[key])
    return f.px(at) if letter == "x" else f.py(at)


def _note_places(f: _Frame, layout: dict[str, Any], width: float) -> list[tuple[float, float, int]]:
    """(x, shift, row) of each note: moved by its own `xshift`, inwards where it would leave the figure, up a row where it would meet another."""
    out, rows = [], list[list[tuple[float, float]]]()
    for note in layout["annotations"]:
        at, wide = _place(f, layout, note, "x"), 1.1 * _wide(note["text"])  # semi-bold
        left = at - {"left": 0.0, "center": wide / 2, "right": wide}[note["xanchor"]]
        shift = min(max(left + note.get("xshift", 0.0), 0.0), width - wide) - left
        row = 0
        if _above(note):
            span = (left + shift, left + shift + wide + CHAR)
            while row < len(rows) and any(span[0] < end and start < span[1] for start, end in rows[row]):
                row += 1
            rows += [[]] * (row == len(rows))
            rows[row] = [*rows[row], span]
        out.append((at + shift, shift, row))
    return out


def _above(note: dict[str, Any]) -> bool:
    return bool(note["yref"] != "y" and note["y"] >= 1 and note["yanchor"] == "bottom")


def _overlays(f: _Frame, layout: dict[str, Any], places: list[tuple[float, float, int]]) -> list[str]:
    """Limit and total lines, and notes."""
    out = []
    for shape in layout["shapes"]:
        cls = "total" if shape["name"] == "total" else f"limit r-{shape['name']}"
        ends = ((_place(f, layout, shape, "x" + k), _place(f, layout, shape, "y" + k)) for k in "01")
        out.append(_line(cls, *ends, dash=shape.get("line", {}).get("dash", "solid")))
    for note, (x, shift, row) in zip(layout["annotations"], places, strict=True):
        lift = ROW * row + note.get("yshift", 0.0)
        y = _place(f, layout, note, "y") + {"top": 15, "middle": 4.5, "bottom": -5}[note["yanchor"]] - lift
        cls = "note" if note["name"] == "total" else f"note r-{note['name']}"
        moved = {"data_shift": shift or None, "data_lift": lift or None}
        out.append(_tag("text", note["text"], cls=cls, x=x, y=y, text_anchor=ANCHOR[note["xanchor"]], **moved))
    return out


def draw(figure: dict[str, Any], *, width: int, label_prefix: str = "") -> str:
    """The figure as an SVG `width` px wide; legend and titles add to `layout.height` where they need more rows.

    As in Plotly, `range` and a note's x and y on a log axis are exponents of ten, a shape's are values.
    `label_prefix` keeps the ids of hatch and clip apart from those of other figures on the page.
    Raises ValueError naming the trace or attribute that is not supported.
    """
    figure = normalise(figure)
    data, layout = figure["data"], figure["layout"]
    x, y, margin = layout["xaxis"], layout["yaxis"], layout.get("margin", {})
    hatch, clip = label_prefix + "hatch", label_prefix + "clip"

    named = [trace for trace in data if trace.get("name") and trace.get("showlegend", True)]
    shown = len(named) > 1 and layout.get("showlegend", True)
    keep, top = _legend(named, width, hatch) if shown else ([], 0.0)  # `keep` stays when Plotly draws over the rest
    for line in wrap(y.get("title", {}).get("text", ""), int(width / CHAR)):
        if line:  # level and above its axis, to be read without turning the head
            keep.append(_tag("text", line, cls="axis-title", x=0, y=top + 14))
            top += ROW
    high = max(80.0, layout.get("height", 300) - 70.0)
    y_ticks = _ticks(y, high, 45)
    left = max(max((_wide(text) for _, text in y_ticks), default=0.0) + 12, margin.get("l", 0), 16)
    ends = [_wide(text) / 2 for _, text in _ticks(x, width - left, width / 10)[-1:] if x["type"] != "category"]
    right = max([12.0, margin.get("r", 0), *ends])
    f = _Frame(left, 0, width - left - right, high, x["range"], y["range"])
    places = _note_places(f, layout, width)
    above = [ROW * (row + 1) for note, (_, _, row) in zip(layout["annotations"], places, strict=True) if _above(note)]
    f = f._replace(top=max(top + max(above, default=8.0), margin.get("t", 0)))
    x_ticks = _ticks(x, f.width, width / 10)
    slot = f.width / abs(x["range"][1] - x["range"][0]) if x["type"] == "category" else math.inf
    x_lines = [wrap(text, int(min(slot, 10_000) / CHAR)) for _, text in x_ticks]
    middle = f.left + f.width / 2
    room = 2 * min(middle, width - middle)
    x_title = [line for line in wrap(x.get("title", {}).get("text", ""), int(room / CHAR)) if line]
    bottom = 10 + 16 * max(map(len, x_lines), default=0) + ROW * len(x_title)
    total = f.base + max(bottom, margin.get("b", 0))
    for k, line in enumerate(x_title):
        at = total - 5 - ROW * (len(x_title) - 1 - k)
        keep.append(_tag("text", line, cls="axis-title", x=middle, y=at, text_anchor="middle"))

    marks, over = _marks(f, data, layout, hatch)
    lanes = y["type"] == "category"
    axis = _line("axis", (f.left, f.top if lanes else f.base), (f.left if lanes else f.right, f.base))
    frame = " ".join(map(_n, (f.left, f.top, width - f.right, total - f.base)))  # left, top, right, bottom margins
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {_n(total)}" width="{width}" height="{_n(total)}" '
        f'data-margin="{frame}"><defs>'
        f'<pattern id="{escape(hatch)}" width="6" height="6" patternUnits="userSpaceOnUse">'
        f'<path class="hatch" d="M-1 1L1 -1M0 6L6 0M5 7L7 5"/></pattern>'
        f'<clipPath id="{escape(clip)}">{_tag("rect", x=f.left, y=f.top, width=f.width, height=f.height)}</clipPath></defs>'
        f'<g class="keep">{"".join(keep)}</g><g>{"".join(_axes(f, layout, x_ticks, x_lines, y_ticks))}'
        f'<g clip-path="url(#{escape(clip)})">{"".join(marks)}</g>{axis}{"".join(_overlays(f, layout, places))}'
        f"{''.join(over)}</g></svg>"
    )
