"""The steps of lin1995's section IV on a page: which joint's motion is to blame."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .html import Cell, Section, note, section, table

if TYPE_CHECKING:
    from ..identify.estimators.link_step import LinkStep
    from ..identify.result import Fit

WORDS = (
    "Joint by joint from the tip: each finds its own unknowns w from A w = gamma, its torque less what the unknowns "
    "found further out explain, lin1995 (108)-(111); phi: that part of the torque. To blame: the joint whose motion "
    "and noise most of the doubt about w comes from, and its share. Inflation: how much larger the errors handed "
    "inwards make the standard deviations. Excited: persistently (117), A has full rank. Least: the smallest singular "
    "value of A with columns of length one."
)
COLUMNS = (
    "joint",
    "to blame",
    "share",
    "inflation",
    "phi",
    "excited",
    "cond(A)",
    "least",
    "unknowns",
)


def link_by_link(fit: Fit) -> list[Section]:
    """The steps of the recursive estimator; nothing for others, and for a fit read from a file."""
    steps = fit.known_steps
    if not steps:
        return []
    names = fit.record.terms.row_names
    rows = [_row(step, names[step.blame]) for step in steps]
    return [section("Which joint's motion is to blame", note(WORDS), table(COLUMNS, rows))]


def _row(step: LinkStep, blamed: str) -> list[str | float | Cell]:
    """One joint. Numbers stay numbers, so that columns sort by them."""
    torque = float(np.sqrt(np.mean((step.gamma + step.phi) ** 2)))
    outer = float(np.sqrt(np.mean(step.phi**2)))
    return [
        step.name,
        blamed,
        _percent(float(step.shares[step.blame])),
        _short(float(np.max(step.inflation))),
        _percent(outer / torque if torque > 0 else 0.0),
        "yes" if step.exciting else "no",
        _short(step.condition),
        _short(float(step.singular[-1])),
        len(step.unknowns),
    ]


def _percent(part: float) -> Cell:
    """A share, sorted by its value."""
    return Cell(f"{100 * part:.0f} %", part, "number")


def _short(x: float) -> float:
    """A number of three digits."""
    return float(f"{x:.3g}")
