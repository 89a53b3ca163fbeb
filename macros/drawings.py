"""Drawings that are no plots: boxes and links. Their numbers are computed like all others."""

from __future__ import annotations

from collections.abc import Callable
from html import escape

from macros import text
from macros.calls import Piece, check_badge, current
from macros.evaluate import book, speaker
from macros.quantity import QuoteError

_say = speaker(__file__)


def _box(x: float, y: float, wide: float, words: str, role: str) -> str:
    return (
        f'<rect class="bar r-{role}" x="{x:g}" y="{y:g}" width="{wide:g}" height="30" rx="3"/>'
        f'<text class="bar-label r-{role}" x="{x + wide / 2:g}" y="{y + 20:g}" text-anchor="middle">{escape(words)}</text>'
    )


def _link(x: float, top: float, bottom: float) -> str:
    """A link: one arrow each way."""
    lines = ""
    for at, begin, end in ((x - 5, top, bottom), (x + 5, bottom, top)):
        tip = 5 if end < begin else -5
        head = f"M{at - 3:g} {end + tip:g}L{at:g} {end:g}L{at + 3:g} {end + tip:g}"
        lines += f'<path class="wire" d="M{at:g} {begin:g}L{at:g} {end:g}{head}"/>'
    return lines


def server() -> str:
    """Every GPU and the CPU hang on one switch, each by one link with two directions: that is why one port can be the bottleneck."""
    gpus = int(book()["sync.gpus"].value)
    rate = text.show(book()["sync.link"].value, "GB/s")
    wide, room = 66.0, 336.0 / gpus
    parts = [_box(130, 2, 80, "CPU", "host"), _link(170, 34, 74), _box(2, 76, 336, "switch", "transfer")]
    parts.append(f'<text class="tick" x="184" y="59">{escape(rate)} each way</text>')
    for gpu in range(gpus):
        x = 2 + room * gpu + (room - wide) / 2
        parts += [_link(x + wide / 2, 108, 148), _box(x, 150, wide, f"GPU {gpu}", "compute")]
    title, _ = _say("Each device has one link to the switch, with an in-port and an out-port")
    _, alt = _say(
        "Drawing. The CPU and all GPUs hang on one switch, each by a single link with a direction in and a direction out."
    )
    caption, _ = _say(
        'Every link is PCIe 3.0 ×16 and carries [= q("16 GB/s", sync.link) =] each way. The switch is never the bottleneck.'
    )
    return (
        f'<figure class="fig drawing" id="fig-server" data-kind="example" data-search-exclude><p class="fig-title">{title}</p>'
        f'<div class="fig-svg"><svg role="img" aria-label="{escape(alt, quote=True)}" viewBox="0 0 340 182" width="340" height="182"><g class="keep" aria-hidden="true">{"".join(parts)}</g></svg></div>'
        f'<figcaption>{caption} <span class="badge badge-example">after Dive into Deep Learning 13.7</span></figcaption></figure>'
    )


DRAWINGS: dict[str, Callable[[], str]] = {"server": server}


def drawing(name: str) -> Piece:
    """Put a drawing of the site on the page, by name."""
    if name not in DRAWINGS:
        raise QuoteError(f'there is no drawing "{name}": {", ".join(DRAWINGS)}')
    before = len(current().uses)
    markup = DRAWINGS[name]()
    check_badge(markup, current().uses[before:])
    return Piece(markup, name)
