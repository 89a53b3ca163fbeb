"""The colours of the roles can be read and told apart, in both schemes, as `figures.css` sets them.

Contrast after WCAG 2.2, distance as CIE76.
Colour blindness after Machado, Oliveira and Fernandes (2009), severity 1, on linear RGB.
Colour is never the only cue: idle is hatched, bars are labelled, lanes keep their order.
"""

from __future__ import annotations

import re
from itertools import combinations
from pathlib import Path

import pytest

CSS = Path(__file__).parent.parent / "docs/assets/figures.css"
ROLES = ("host", "compute", "transfer", "fetch", "update", "idle")
BACKGROUND = {"default": "#ffffff", "slate": "#1e2129"}  # Material's, slate: hsl(232 15% 14%)
SIGHT = {
    "full": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
}
Colour = tuple[float, float, float]


def scheme(name: str) -> dict[str, str]:
    """The variables that figures.css sets for one of Material's schemes."""
    block = CSS.read_text(encoding="utf-8").split(f'[data-md-color-scheme="{name}"] {{')[1].split("}")[0]
    return dict(re.findall(r"--([a-z-]+): *(#[0-9a-f]{6});", block))


def linear(colour: str) -> Colour:
    """Linear RGB from 0 to 1 of #rrggbb."""
    r, g, b = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    return tuple(c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (r, g, b))  # type: ignore[return-value]


def times(matrix: tuple[Colour, ...], v: Colour) -> Colour:
    return tuple(sum(a * b for a, b in zip(row, v, strict=True)) for row in matrix)  # type: ignore[return-value]


def contrast(one: str, other: str) -> float:
    """WCAG contrast ratio.

    >>> round(contrast("#ffffff", "#000000"), 2), round(contrast("#777777", "#ffffff"), 2)
    (21.0, 4.48)
    """
    light = [0.2126 * r + 0.7152 * g + 0.0722 * b for r, g, b in (linear(one), linear(other))]
    return (max(light) + 0.05) / (min(light) + 0.05)


def lab(rgb: Colour) -> Colour:
    """CIE L*a*b* of linear sRGB, D65."""
    to_xyz = ((0.4124564, 0.3575761, 0.1804375), (0.2126729, 0.7151522, 0.0721750), (0.0193339, 0.1191920, 0.9503041))
    white = (0.95047, 1.0, 1.08883)
    relative = [v / w for v, w in zip(times(to_xyz, rgb), white, strict=True)]
    x, y, z = (v ** (1 / 3) if v > 216 / 24389 else (24389 / 27 * v + 16) / 116 for v in relative)
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def distance(one: str, other: str, sight: str) -> float:
    """CIE76 between two colours as seen with that sight.

    >>> round(distance("#ffffff", "#000000", "full")), distance("#1a7f37", "#1a7f37", "deuteranopia")
    (100, 0.0)
    """
    r, g, b = SIGHT[sight]
    seen = [lab(times((r, g, b), linear(colour))) for colour in (one, other)]
    return float(sum((p - q) ** 2 for p, q in zip(*seen, strict=True)) ** 0.5)


def blend(colour: str, ground: str, share: float) -> str:
    pairs = ((int(colour[i : i + 2], 16), int(ground[i : i + 2], 16)) for i in (1, 3, 5))
    return "#" + "".join(f"{round(share * a + (1 - share) * b):02x}" for a, b in pairs)


def faults(colours: dict[str, str], ground: str) -> list[str]:
    """Every rule that these colours break, in words."""
    wanted = [(f"text on {role}", colours["on-role"], colours[f"role-{role}"], 4.5) for role in ROLES if role != "idle"]
    wanted += [(f"{role} as text or bar on the page", colours[f"role-{role}"], ground, 4.5) for role in ROLES]
    wanted += [(f"text on muted {r}", colours["fig-text"], blend(colours[f"role-{r}"], ground, 0.2), 4.5) for r in ROLES]
    wanted += [("text on the page", colours["fig-text"], ground, 7.0)]
    found = [f"{what}: {contrast(a, b):.2f}, needs {least}" for what, a, b, least in wanted if contrast(a, b) < least]
    for sight in SIGHT:
        for one, other in combinations(ROLES, 2):
            apart = distance(colours[f"role-{one}"], colours[f"role-{other}"], sight)
            if apart < 10:
                found.append(f"{one} and {other} with {sight}: {apart:.1f} apart, needs 10")
    return found


@pytest.mark.parametrize("name", BACKGROUND)
def test_colours_can_be_read_and_told_apart(name: str) -> None:
    colours = scheme(name)
    assert colours["fig-bg"] == BACKGROUND[name]
    assert faults(colours, BACKGROUND[name]) == []


def test_root_has_the_default_scheme() -> None:
    assert re.search(r':root,\s*\[data-md-color-scheme="default"\]', CSS.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("name", "role", "colour", "message"),
    [
        ("default", "host", "#e3b341", "text on host"),  # the dark scheme's: white text on it is 2:1
        ("slate", "fetch", "#6f42c1", "fetch as text or bar on the page"),
        ("default", "transfer", "#b3400f", "host and transfer with deuteranopia"),
        ("slate", "fetch", "#8ab4ff", "compute and fetch with protanopia"),
    ],
)
def test_a_bad_colour_is_found(name: str, role: str, colour: str, message: str) -> None:
    planted = {**scheme(name), f"role-{role}": colour}
    assert any(fault.startswith(message) for fault in faults(planted, BACKGROUND[name]))
