"""One picture of a result as SVG text: how many times as fast by quantity, and cost against the number of joints."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from typing import Any

from .chart import STYLE
from .targets import RATIOS, ROBOT

Figures = dict[str, Any]
WIDTH, HEIGHT, MIDDLE = 900, 400, 440  # the left panel ends in the middle
TOP, LOW = 52, HEIGHT - 44
MORE_STYLE = """
text.c1, text.c2, text.c3, text.c4 { stroke: none }
.asked { stroke: #1c2429; stroke-width: 2 }
@media (prefers-color-scheme: dark) { .asked { stroke: #e4eaed } }
"""
CURVES = {"forward_dynamics": 4, "mass_matrix": 2, "bias": 3, "inverse_dynamics": 1}  # colours
PINOCCHIO = {
    "inverse_dynamics": "pin.rneaInParallel(1)",
    "forward_dynamics": "pin.abaInParallel(1)",
}
APART = 15  # pixels between the names of curves


def picture(result: Figures) -> str:
    """The SVG of a result; panels whose section did not run stay empty."""
    about = (
        "Left: times as fast as pinocchio by quantity. Right: nanoseconds against number of joints"
    )
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">',
        f"<title>{escape(about)}</title><style>{STYLE}{MORE_STYLE}</style>",
    ]
    ratios = {
        q: r for q, r in result.get("batch", {}).items() if r.get("peer") in r.get("ratios", {})
    }
    if ratios:
        lanes = result.get("machine", {}).get("lanes")
        asked = {q: by[lanes] for q, (_, by) in RATIOS.items() if lanes in by}
        parts += _bars(ratios, asked if result.get("robot") == ROBOT else {})
    chains = {int(n): row for n, row in result.get("length", {}).items() if n.isdigit()}
    if len(chains) > 1:
        parts += _costs(chains, result["length"].get("samples", 1024))
    return "\n".join([*parts, "</svg>", ""])


def _text(x: float, y: float, words: str, kind: str = "", anchor: str = "start") -> str:
    kind = f' class="{kind}"' if kind else ""
    end = f' text-anchor="{anchor}"' if anchor != "start" else ""
    return f'<text{kind} x="{x:.1f}" y="{y:.1f}"{end}>{escape(words)}</text>'


def _line(kind: str, x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


# ---- left


def _bars(rows: Figures, asked: Figures) -> list[str]:
    """How many times as fast as its peer each quantity is, on a plain scale from nought."""
    left, right = 8, MIDDLE - 60
    most = max([r["ratios"][r["peer"]] for r in rows.values()] + list(asked.values()))
    scale, step = (right - left) / most, (LOW + 16 - TOP) / len(rows)
    parts = [
        _text(left, 18, "Times as fast as pinocchio", "title"),
        _text(left, 35, "batches of 4096, one thread", "faint"),
    ]
    if any(q in asked for q in rows):
        parts += [
            _line("asked", MIDDLE - 98, 25, MIDDLE - 98, 39),
            _text(MIDDLE - 90, 35, "asked for", "faint"),
        ]
    for k, (quantity, row) in enumerate(rows.items()):
        y, ratio = TOP + step * k, row["ratios"][row["peer"]]
        words = quantity.replace("_", " ")
        parts += [
            f'<text x="{left}" y="{y + 12:.1f}">{escape(words)}'
            f'<tspan class="faint" dx="8">{escape(row["peer"])}</tspan></text>',
            f'<rect class="c1" x="{left}" y="{y + 19:.1f}" width="{ratio * scale:.1f}" height="12"/>',
            _text(
                left + _clear(ratio, asked.get(quantity), scale) + 8,
                y + 30,
                f"{ratio:.0f}",
                "title",
            ),
        ]
        if quantity in asked:
            x = left + asked[quantity] * scale
            parts.append(_line("asked", x, y + 16, x, y + 34))
    return parts


def _clear(ratio: float, asked: float | None, scale: float) -> float:
    """Where a bar ends; or the mark behind it, where the number would stand on that."""
    near = asked is not None and 0 <= (asked - ratio) * scale < 40
    return (asked if near and asked is not None else ratio) * scale


# ---- right


@dataclass(frozen=True, slots=True)
class Curve:
    """Nanoseconds by number of joints."""

    name: str
    kind: str
    points: Sequence[tuple[int, float]]
    dashed: bool = False


def _curves(chains: dict[int, Figures]) -> list[Curve]:
    found = []
    for quantity, colour in CURVES.items():
        rows = {n: row[quantity] for n, row in chains.items() if quantity in row}
        words = quantity.replace("_", " ")
        ours = [(n, r["dynarm"]["best"] * 1e9) for n, r in rows.items()]
        theirs = [(n, r["peer"]["best"] * 1e9) for n, r in rows.items() if "peer" in r]
        found.append(Curve(words, f"c{colour}", ours))
        if theirs:
            found.append(Curve(PINOCCHIO.get(quantity, words), f"c{colour}", theirs, dashed=True))
    return [curve for curve in found if curve.points]


def _costs(chains: dict[int, Figures], samples: int) -> list[str]:
    """Nanoseconds a sample against the number of joints, both logarithmic, names at the curves' ends."""
    left, right = MIDDLE + 52, WIDTH - 150
    curves = _curves(chains)
    joints = sorted(chains)
    values = [y for curve in curves for _, y in curve.points]
    low, high = math.log10(min(values) * 0.7), math.log10(max(values) * 1.4)

    def across(n: float) -> float:
        return left + (right - left) * math.log(n / joints[0]) / math.log(joints[-1] / joints[0])

    def up(value: float) -> float:
        return LOW - (LOW - TOP) * (math.log10(value) - low) / (high - low)

    parts = [
        _text(left - 44, 18, "Cost of generic arms", "title"),
        _text(left - 44, 35, f"ns a sample, batches of {samples}, one thread", "faint"),
    ]
    for decade in range(math.ceil(low), math.floor(high) + 1):
        y = up(10.0**decade)
        parts.append(_line("grid", left, y, right, y))
        parts.append(_text(left - 6, y + 4, f"{10**decade:,}".replace(",", " "), "faint", "end"))
    for n in joints:
        parts.append(_line("grid", across(n), TOP, across(n), LOW))
        parts.append(_text(across(n), LOW + 17, str(n), "faint", "middle"))
    parts.append(_text((left + right) / 2, LOW + 36, "joints", anchor="middle"))
    ends = _spread([up(curve.points[-1][1]) for curve in curves])
    for curve, end in zip(curves, ends, strict=True):
        places = [(across(n), up(y)) for n, y in curve.points]
        parts += _drawn(curve, places)
        parts.append(_text(places[-1][0] + 10, end + 4, curve.name, curve.kind))
    return parts


def _drawn(curve: Curve, places: Sequence[tuple[float, float]]) -> list[str]:
    way = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in places)
    dashed = " dashed" if curve.dashed else ""
    dots = [
        f'<circle class="{curve.kind}" cx="{x:.1f}" cy="{y:.1f}" r="{2 if dashed else 2.8}"/>'
        for x, y in places
    ]
    return [f'<path class="{curve.kind}{dashed}" d="{way}"/>', *dots]


def _spread(places: Sequence[float]) -> list[float]:
    """The same places in the same order, moved so that no two are nearer than a line of text."""
    order = sorted(range(len(places)), key=lambda k: places[k])
    found = list(places)
    for _ in range(50):
        for a, b in pairwise(order):
            close = APART - (found[b] - found[a])
            if close > 0:
                found[a] -= close / 2
                found[b] += close / 2
    return found
