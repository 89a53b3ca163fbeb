"""The HTML of one figure: SVG at two widths, room for Plotly, caption, data table, links, and the data for Plotly."""

from __future__ import annotations

import json
import re
from html import escape
from typing import Any

from macros.svg import draw, normalise

WIDE, NARROW = 760, 340  # px; the page shows one or the other by the room there is


def figure_html(
    fig: Any,
    *,
    id: str,
    title_html: str,
    alt: str,
    caption_html: str,
    badge: str,
    kind: str,
    table_html: str,
    csv_href: str,
    trace_href: str | None,
) -> str:
    """A figure from a Plotly figure or its dict, the same text for the same input.

    `id` names the figure on its page, `alt` is what a screen reader says in its place, `kind` is one word: that of its `badge`.
    Raises ValueError for what the SVG cannot show, an id that cannot stand in a URL, or an empty alt text.
    """
    for name, word in (("id", id), ("kind", kind)):
        if not re.fullmatch(r"[a-z][a-z0-9-]*", word):
            raise ValueError(f"{name} must be lower-case letters, digits and hyphens, got {word!r}")
    if not alt.strip():
        raise ValueError(f"figure {id} must have an alt text, got {alt!r}")
    figure = normalise(fig if isinstance(fig, dict) else fig.to_dict())
    wide = draw(figure, width=WIDE, label_prefix=f"{id}-wide-").replace("<svg ", '<svg class="fig-wide" ', 1)
    narrow = draw(figure, width=NARROW, label_prefix=f"{id}-narrow-").replace("<svg ", '<svg class="fig-narrow" ', 1)
    trace = f' <a href="{escape(trace_href)}" download>Trace for Perfetto</a>' if trace_href else ""
    about = escape("Data: " + re.sub(r"<[^>]*>", "", title_html), quote=True).replace("&amp;", "&")
    return (
        f'<figure class="fig" id="fig-{id}" data-kind="{kind}" data-search-exclude>'
        f'<p class="fig-title">{title_html}</p>'
        f'<div class="fig-box" role="img" aria-label="{escape(alt)}">'
        f'<div class="fig-svg" aria-hidden="true">{wide}{narrow}</div><div class="fig-plot" aria-hidden="true"></div></div>'
        f'<figcaption>{caption_html} <span class="badge badge-{kind}">{escape(badge)}</span></figcaption>'
        f'<details class="fig-data"><summary>Data as a table</summary>'
        f'<div class="scroll" role="region" aria-label="{about}">{table_html}</div>'
        f'<p class="fig-links"><a href="{escape(csv_href)}" download>CSV</a>{trace}</p></details>'
        f'<template class="fig-json">{plotly_json(figure)}</template></figure>'
    )


def plotly_json(figure: dict[str, Any]) -> str:
    """Data and layout for Plotly as compact JSON that can stand inside an HTML element.

    >>> plotly_json({"data": [{"name": "</template>", "y": (0.1 + 0.2,)}], "layout": {}})
    '{"data":[{"name":"\\\\u0026lt;/template\\\\u0026gt;","y":[0.3]}],"layout":{}}'
    """
    text = json.dumps(_plain(figure), ensure_ascii=False, allow_nan=False, separators=(",", ":"), sort_keys=True)
    return text.translate({ord(c): f"\\u{ord(c):04x}" for c in "<>&"})


def _plain(value: Any, key: str = "") -> Any:
    """Lists for tuples, ten digits for floats, and text that Plotly shows as written instead of reading its tags."""
    if isinstance(value, dict):
        return {name: _plain(item, name) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item, key) for item in value]
    if isinstance(value, float):
        return float(f"{value:.10g}")
    return escape(value, quote=False) if isinstance(value, str) and key != "hovertemplate" else value
