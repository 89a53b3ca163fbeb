"""The colours of text, controls and roles can be read and told apart, in both schemes, as the style sheets set them.

Contrast after WCAG 2.2, distance as CIE76.
Colour blindness after Machado, Oliveira and Fernandes (2009), severity 1, on linear RGB.
Colour is never the only cue: idle is hatched, bars are labelled, lanes keep their order.
"""

from __future__ import annotations

import re
from itertools import combinations
from pathlib import Path

import pytest

ASSETS = Path(__file__).parent.parent / "docs/assets"
CSS = {name: (ASSETS / f"{name}.css").read_text(encoding="utf-8") for name in ("figures", "site")}
SCHEMES = ("default", "slate")
ROLES = ("host", "compute", "transfer", "fetch", "update", "idle")
SIGHT = {
    "full": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
}
Colour = tuple[float, float, float]


def scheme(name: str) -> dict[str, str]:
    """The colours that the style sheets set for one of Material's schemes: those of all schemes, and then its own."""
    found: dict[str, str] = {}
    for sheet in CSS.values():
        for selector in (
            r"body\[data-md-color-scheme\]",
            r'\[data-md-color-scheme="default"\]',
            rf'\[data-md-color-scheme="{name}"\]',
        ):
            for block in re.findall(rf"{selector} \{{([^}}]*)\}}", sheet):
                found |= re.findall(r"--([a-z-]+): *(#[0-9a-f]{3,6});", block)
    return {key: colour if len(colour) == 7 else "#" + "".join(2 * digit for digit in colour[1:]) for key, colour in found.items()}


def share(rule: str) -> float:
    """How much of a colour is laid on its ground, by the first rule of figures.css with that selector."""
    found = re.search(rf"{re.escape(rule)} \{{[^}}]*opacity: ([\d.]+)", CSS["figures"])
    if not found:
        raise ValueError(f"figures.css must set an opacity in {rule}")
    return float(found[1])


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


def faults(colours: dict[str, str]) -> list[str]:
    """Every rule that these colours break, in words."""
    ground, soft = colours["paper"], colours["paper-soft"]
    wanted = [("text on the page", colours["ink"], ground, 7.0), ("text on a soft ground", colours["ink"], soft, 7.0)]
    wanted += [
        (f"soft text on {where}", colours["ink-soft"], on, 4.5) for where, on in (("the page", ground), ("a soft ground", soft))
    ]
    wanted += [("a badge", blend(colours["ink"], ground, share(".badge")), ground, 4.5)]
    wanted += [("text of an alarm", colours["on-alarm"], colours["alarm"], 4.5)]
    wanted += [(f"code, {name[11:]}", colour, soft, 4.5) for name, colour in colours.items() if name.startswith("md-code-hl-")]
    wanted += [("the edge of a field", colours["ink-soft"], ground, 3.0), ("the ring of the focus", colours["ink"], soft, 3.0)]
    wanted += [("the ring of the focus in a figure", colours["role-compute"], ground, 3.0)]
    wanted += [(f"text on {role}", colours["on-role"], colours[f"role-{role}"], 4.5) for role in ROLES if role != "idle"]
    wanted += [(f"{role} as text or bar on the page", colours[f"role-{role}"], ground, 4.5) for role in ROLES]
    wanted += [
        (f"text on muted {r}", colours["fig-text"], blend(colours[f"role-{r}"], ground, share(".bar.muted")), 4.5) for r in ROLES
    ]
    wanted += [("text in a figure", colours["fig-text"], ground, 7.0)]
    found = [f"{what}: {contrast(a, b):.2f}, needs {least}" for what, a, b, least in wanted if contrast(a, b) < least]
    for sight in SIGHT:
        for one, other in combinations(ROLES, 2):
            apart = distance(colours[f"role-{one}"], colours[f"role-{other}"], sight)
            if apart < 10:
                found.append(f"{one} and {other} with {sight}: {apart:.1f} apart, needs 10")
    return found


@pytest.mark.parametrize("name", SCHEMES)
def test_colours_can_be_read_and_told_apart(name: str) -> None:
    colours = scheme(name)
    assert colours["fig-bg"] == colours["paper"]
    assert faults(colours) == []


def test_root_has_the_default_scheme() -> None:
    assert re.search(r':root,\s*\[data-md-color-scheme="default"\]', CSS["figures"])


@pytest.mark.parametrize(
    ("name", "role", "colour", "message"),
    [
        ("default", "role-host", "#e3b341", "text on host"),  # the dark scheme's: white text on it is 2:1
        ("slate", "role-fetch", "#6f42c1", "fetch as text or bar on the page"),
        ("default", "role-transfer", "#b3400f", "host and transfer with deuteranopia"),
        ("slate", "role-fetch", "#8ab4ff", "compute and fetch with protanopia"),
        ("default", "ink-soft", "#7b838d", "soft text on the page"),  # a little lighter
        ("default", "paper-soft", "#c2c6ca", "soft text on a soft ground"),
        ("slate", "ink", "#8d949e", "text on the page"),
        ("slate", "on-alarm", "#ffffff", "text of an alarm"),
        ("slate", "md-code-hl-keyword-color", "#5f7fc6", "code, keyword-color"),
        ("default", "ink-soft", "#a9b0bb", "the edge of a field"),
        ("slate", "ink", "#4a505a", "the ring of the focus"),
    ],
)
def test_a_bad_colour_is_found(name: str, role: str, colour: str, message: str) -> None:
    planted = {**scheme(name), role: colour}
    assert any(fault.startswith(message) for fault in faults(planted))
