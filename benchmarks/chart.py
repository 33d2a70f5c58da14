"""A chart with logarithmic axes as SVG text: panels of curves, readable on light and dark pages."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

WIDTH, HEIGHT = 380, 330  # of a panel
LEFT, RIGHT, TOP, BOTTOM = 62, 22, 34, 46
STYLE = """
text { font: 12px system-ui, 'Segoe UI', Roboto, Arial, sans-serif; fill: #1c2429 }
.title { font-weight: 600 } .faint { fill: #5b6870 }
.grid { stroke: #d8dfe3; stroke-width: 1 } .frame { stroke: #5b6870; fill: none }
.c1 { stroke: #0b6e83; fill: #0b6e83 } .c2 { stroke: #d1602b; fill: #d1602b }
.c3 { stroke: #5a8f29; fill: #5a8f29 } .c4 { stroke: #8a4fa3; fill: #8a4fa3 }
path { fill: none !important; stroke-width: 2 } .dashed { stroke-dasharray: 6 4 }
@media (prefers-color-scheme: dark) {
  text { fill: #e4eaed } .faint { fill: #9aa8b0 } .grid { stroke: #334047 } .frame { stroke: #9aa8b0 }
  .c1 { stroke: #4fb8cf; fill: #4fb8cf } .c2 { stroke: #f0935f; fill: #f0935f }
  .c3 { stroke: #93c95c; fill: #93c95c } .c4 { stroke: #c08fd6; fill: #c08fd6 }
}
"""


@dataclass(frozen=True, slots=True)
class Curve:
    """Points with a name; colour 1 to 4."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    colour: int
    dashed: bool = False


@dataclass(frozen=True, slots=True)
class Panel:
    """Curves that share axes."""

    title: str
    x_title: str
    y_title: str
    curves: Sequence[Curve]


def chart(panels: Sequence[Panel], about: str) -> str:
    """The SVG of some panels side by side; `about` is read out where the picture is not seen."""
    width = WIDTH * len(panels)
    legend = 18 * max(len(p.curves) for p in panels)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {HEIGHT + legend}" role="img">',
        f"<title>{escape(about)}</title><style>{STYLE}</style>",
    ]
    xs = _range([x for p in panels for c in p.curves for x in c.x])
    ys = _range([y for p in panels for c in p.curves for y in c.y])
    for k, panel in enumerate(panels):
        parts += [f'<g transform="translate({k * WIDTH} 0)">', *_panel(panel, xs, ys), "</g>"]
    return "\n".join([*parts, "</svg>", ""])


def _range(values: Sequence[float]) -> tuple[int, int]:
    logs = [math.log10(v) for v in values]
    return math.floor(min(logs)), math.ceil(max(logs))


def _panel(panel: Panel, xs: tuple[int, int], ys: tuple[int, int]) -> list[str]:
    right, low = WIDTH - RIGHT, HEIGHT - BOTTOM

    def across(decade: float) -> float:
        return LEFT + (decade - xs[0]) / (xs[1] - xs[0]) * (right - LEFT)

    def up(decade: float) -> float:
        return low - (decade - ys[0]) / (ys[1] - ys[0]) * (low - TOP)

    text = [f'<text class="title" x="{LEFT}" y="20">{escape(panel.title)}</text>']
    for d in range(xs[0], xs[1] + 1):
        x = across(d)
        text.append(f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{TOP}" y2="{low}"/>')
        text.append(
            f'<text class="faint" x="{x:.1f}" y="{low + 17}" text-anchor="middle">{_power(d)}</text>'
        )
    for d in range(ys[0], ys[1] + 1, max(1, (ys[1] - ys[0]) // 6)):
        y = up(d)
        text.append(f'<line class="grid" x1="{LEFT}" x2="{right}" y1="{y:.1f}" y2="{y:.1f}"/>')
        text.append(
            f'<text class="faint" x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{_power(d)}</text>'
        )
    text.append(
        f'<rect class="frame" x="{LEFT}" y="{TOP}" width="{right - LEFT}" height="{low - TOP}"/>'
    )
    middle = (LEFT + right) / 2
    text.append(
        f'<text x="{middle}" y="{low + 36}" text-anchor="middle">{escape(panel.x_title)}</text>'
    )
    text.append(
        f'<text transform="translate(14 {(TOP + low) / 2}) rotate(-90)" text-anchor="middle">'
        f"{escape(panel.y_title)}</text>"
    )
    for k, curve in enumerate(panel.curves):
        points = [
            (across(math.log10(x)), up(math.log10(y)))
            for x, y in zip(curve.x, curve.y, strict=True)
        ]
        kind = f"c{curve.colour}" + (" dashed" if curve.dashed else "")
        line = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
        text.append(f'<path class="{kind}" d="{line}"/>')
        text += [
            f'<circle class="c{curve.colour}" cx="{x:.1f}" cy="{y:.1f}" r="2.6"/>'
            for x, y in points
        ]
        y = HEIGHT + 18 * k + 6
        text.append(f'<path class="{kind}" d="M{LEFT} {y}L{LEFT + 34} {y}"/>')
        text.append(f'<text x="{LEFT + 42}" y="{y + 4}">{escape(curve.name)}</text>')
    return text


def _power(decade: int) -> str:
    """10 to the decade, in raised digits."""
    if 0 <= decade <= 3:
        return str(10**decade)
    return "10" + str(decade).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
