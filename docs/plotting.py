"""Small plots as SVG text, for docs/drawings.py: panels with axes, curves, dots, bands, words."""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

INK, GREY, PALE = "#37474f", "#90a4ae", "#cfd8dc"
TEAL, LIGHT, ORANGE, BLUE = (
    "#00796b",
    "#80cbc4",
    "#d55e00",
    "#0072b2",
)  # told apart by the colour-blind


@dataclass(frozen=True)
class Curve:
    """A line, or dots, or the band between y and upto; its name stands in the legend."""

    x: Sequence[float]
    y: Sequence[float]
    colour: str = TEAL
    name: str = ""
    dots: bool = False
    dashed: bool = False
    upto: Sequence[float] | None = None


@dataclass(frozen=True)
class Panel:
    """One plot: what is drawn, the words beside its axes, and the range of y where it is chosen by hand."""

    curves: Sequence[Curve]
    across: str
    upwards: str
    title: str = ""
    y: tuple[float, float] | None = None
    marks: Sequence[tuple[float, str]] = field(default=())  # positions on x instead of numbers


def picture(width: int, height: int, parts: Iterable[str]) -> str:
    """An SVG on white, with the words of the site."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" '
        f'font-size="12" fill="{INK}" role="img">\n<rect width="100%" height="100%" fill="#ffffff"/>\n'
        + "\n".join(parts)
        + "\n</svg>\n"
    )


def word(x: float, y: float, text: str, anchor: str = "middle", more: str = "") -> str:
    return f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}" {more}>{html.escape(text)}</text>'


def box(
    x: float, y: float, w: float, h: float, lines: Sequence[str], colour: str = "#e0f2f1"
) -> list[str]:
    """A rounded box with lines of words, the first of them in bold."""
    top = y + h / 2 - 8 * (len(lines) - 1) + 4
    parts = [
        f'<rect x="{x:.0f}" y="{y:.0f}" width="{w:.0f}" height="{h:.0f}" rx="6" fill="{colour}" stroke="{GREY}"/>'
    ]
    for k, line in enumerate(lines):
        more = 'font-weight="bold"' if k == 0 else f'fill="{INK}" font-size="11"'
        parts.append(word(x + w / 2, top + 16 * k, line, more=more))
    return parts


def arrow(x0: float, y0: float, x1: float, y1: float, colour: str = GREY) -> str:
    a = math.atan2(y1 - y0, x1 - x0)
    ends = " ".join(
        f"{x1 - 8 * math.cos(a + s):.1f},{y1 - 8 * math.sin(a + s):.1f}" for s in (0.45, -0.45)
    )
    return (
        f'<path d="M{x0:.1f} {y0:.1f}L{x1:.1f} {y1:.1f}" stroke="{colour}" stroke-width="1.6" fill="none"/>'
        f'<polygon points="{x1:.1f},{y1:.1f} {ends}" fill="{colour}"/>'
    )


def ticks(low: float, high: float, most: int = 5) -> list[float]:
    """Round numbers in a range."""
    raw = (high - low) / most
    size = 10.0 ** math.floor(math.log10(raw))
    step = next(m * size for m in (1, 2, 5, 10) if m * size >= raw)
    return [
        k * step for k in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)
    ]


def plot(panels: Sequence[Panel], width: int = 760, height: int = 300) -> str:
    """Panels side by side, legends above them."""
    each = width / len(panels)
    parts: list[str] = []
    for k, panel in enumerate(panels):
        parts += _panel(panel, k * each + 62, 44, each - 82, height - 94)
    return picture(width, height, parts)


def _range(values: Sequence[np.ndarray]) -> tuple[float, float]:
    low, high = float(min(v.min() for v in values)), float(max(v.max() for v in values))
    room = 0.06 * ((high - low) or 1.0)
    return low - room, high + room


def _panel(panel: Panel, x0: float, y0: float, w: float, h: float) -> list[str]:
    xs = [np.asarray(c.x, float) for c in panel.curves]
    left, right = float(min(x.min() for x in xs)), float(max(x.max() for x in xs))
    heights = [np.asarray(v, float) for c in panel.curves for v in (c.y, c.upto) if v is not None]
    low, high = panel.y or _range(heights)

    def at(x: np.ndarray, y: np.ndarray) -> str:
        px = x0 + w * (np.asarray(x, float) - left) / (right - left)
        py = y0 + h * (high - np.asarray(y, float)) / (high - low)
        return " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(px, py, strict=True))

    parts = [word(x0 + w / 2, 18, panel.title, more='font-weight="bold"')] if panel.title else []
    for y in ticks(low, high):
        py = y0 + h * (high - y) / (high - low)
        parts.append(f'<path d="M{x0:.0f} {py:.1f}h{w:.0f}" stroke="{PALE}"/>')
        parts.append(word(x0 - 6, py + 4, f"{y + 0.0:g}", "end"))
    for x, text in panel.marks or [(x, f"{x + 0.0:g}") for x in ticks(left, right)]:
        parts.append(word(x0 + w * (x - left) / (right - left), y0 + h + 16, text))
    for c, x in zip(panel.curves, xs, strict=True):
        y = np.asarray(c.y, float)
        if c.upto is not None:
            back = at(x[::-1], np.asarray(c.upto, float)[::-1])
            parts.append(f'<polygon points="{at(x, y)} {back}" fill="{c.colour}" opacity="0.35"/>')
        elif c.dots:
            spots = "".join(f"M{p}h0" for p in at(x, y).split())
            parts.append(
                f'<path d="{spots}" stroke="{c.colour}" stroke-width="3" stroke-linecap="round"/>'
            )
        else:
            dash = ' stroke-dasharray="5 4"' if c.dashed else ""
            parts.append(
                f'<polyline points="{at(x, y)}" fill="none" stroke="{c.colour}" stroke-width="1.8"{dash}/>'
            )
    parts.append(
        f'<rect x="{x0:.0f}" y="{y0}" width="{w:.0f}" height="{h}" fill="none" stroke="{GREY}"/>'
    )
    here = x0
    for c in panel.curves:
        if c.name:
            parts.append(f'<rect x="{here:.0f}" y="27" width="14" height="9" fill="{c.colour}"/>')
            parts.append(word(here + 18, 36, c.name, "start"))
            here += 34 + 7.3 * len(c.name)
    parts.append(word(x0 + w / 2, y0 + h + 36, panel.across))
    turned = f'transform="rotate(-90 {x0 - 46:.0f} {y0 + h / 2:.0f})"'
    parts.append(word(x0 - 46, y0 + h / 2, panel.upwards, more=turned))
    return parts
