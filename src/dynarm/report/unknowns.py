"""The unknowns of a fit on a page: values with units and uncertainties, and beside those of the robot's own file."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ..identify.tables import compare, units
from ..parameters.minimal import minimal_parameters
from . import figures
from .html import Cell, Markup, Section, figure, note, section, table
from .meaning import glossary, meaning

if TYPE_CHECKING:
    from ..identify.result import Fit

DIGITS = 3  # significant ones of a value
FINEST = 9  # places after the point
APART = 3.0  # standard deviations beyond which two values differ


def places(value: float, std: float) -> int:
    """Places after the point: three digits of the value, and as many more as its uncertainty needs to be seen."""
    sizes = [abs(x) for x in (value, std) if math.isfinite(x) and x != 0]
    if not sizes:
        return DIGITS
    wanted = DIGITS - 1 - math.floor(math.log10(max(sizes)))
    if math.isfinite(std) and std > 0:
        wanted = max(wanted, -math.floor(math.log10(std)))
    return min(max(wanted, 0), FINEST)


def told(value: float, after: int) -> Cell:
    """A number with so many places, sorted by its value; a dash for what is none."""
    if not math.isfinite(value):
        return Cell("∞" if value > 0 else "–", value if value > 0 else "", "number")
    text = f"{value:.{after}f}" if abs(value) < 1e7 else f"{value:.{DIGITS}g}"
    if float(text) == 0:
        text = text.removeprefix("-")
    return Cell(text.replace("-", "−"), float(value), "number")


def value_cells(value: float, std: float) -> tuple[Cell, Cell]:
    """A value and its standard deviation, with the same places."""
    after = places(value, std)
    return told(value, after), told(std, after)


def explained(fit: Fit, k: int) -> Cell:
    """The name of an unknown, in words when it is pointed at, sorted by its place."""
    name = fit.names_[k]
    return Cell(name, k, title=meaning(name, fit.record.terms.arm.joint_names))


def unit_words(fit: Fit) -> list[str]:
    """Units as people write them."""
    return [u.replace("^2", "²") for u in units(fit.record.terms)]


def names_explained(fit: Fit) -> Markup:
    """What kinds of names mean, to be opened: a phone cannot hover."""
    rows = [list(pair) for pair in glossary(fit.names_)]
    if not rows:
        return Markup("")
    listed = table(("for example", "means"), rows, wide=("means",))
    return Markup("<details><summary>What the names mean</summary>{}</details>").format(listed)


def against_cad(fit: Fit) -> list[Section]:
    """Identified values beside those of the robot that was given; nothing where that has no masses."""
    arm = fit.record.terms.arm
    rigid = fit.record.terms.rigid
    if not np.any(minimal_parameters(arm, armature=rigid.armature).values):
        return []
    frame = compare(fit, arm)
    words = unit_words(fit)
    rows = []
    for k, row in enumerate(frame.itertuples()):
        after = places(row.identified, row.std)
        gap = told(float(row.in_std), 1)
        cells = [told(float(x), after) for x in (row.identified, row.std, row.other)]
        rows.append([explained(fit, k), *cells, words[k], gap])
    far = frame[np.abs(frame.in_std) > APART]
    said = (
        f"{len(far)} of {len(frame)} values differ from those of the robot's own file by more than {APART:g} standard "
        "deviations. Where a value is well determined, believe the logs; where it is not, the file."
    )
    columns = ("unknown", "identified", "± std", "of the file", "unit", "apart [std]")
    return [
        section(
            "Identified against the robot's file",
            said,
            _apart_figure(frame.name.tolist(), frame.in_std.to_numpy()),
            table(columns, rows, tall=len(rows) > 24),
            note("The file: what the robot was described with, usually from its CAD drawings."),
        )
    ]


def _apart_figure(names: list[str], gaps: np.ndarray) -> Markup:
    bars = figures.upright_bars(
        names,
        gaps.tolist(),
        ["--c1" if abs(x) <= APART else "--c2" for x in gaps],
        "(identified − file) / std",
        "%{x}: %{y} standard deviations apart",
        [(-APART, "--faint"), (APART, "--faint")],
    )
    bars["key"] = [
        {"color": "--c1", "text": f"within {APART:g} standard deviations"},
        {"color": "--c2", "text": "farther apart"},
    ]
    return figure(bars, height=280)
