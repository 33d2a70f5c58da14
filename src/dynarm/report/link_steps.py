"""The steps of lin1995's section IV on a page: which joint's motion is to blame."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .html import Section, note, section, table

if TYPE_CHECKING:
    from ..identify.result import Fit

WORDS = (
    "Joint by joint from the tip: each finds its own unknowns from A w = gamma, its torque less what the unknowns "
    "found further out explain (phi), lin1995 (108)-(111). Persistent excitation (117): A has full rank. "
    "Inflation: how much larger the errors handed inwards make the standard deviations. To blame: the joint whose "
    "motion and noise most of the doubt comes from."
)
COLUMNS = (
    "joint",
    "unknowns",
    "rows",
    "least singular",
    "cond(A)",
    "excited",
    "phi of tau",
    "inflation",
    "to blame",
)


def link_by_link(fit: Fit) -> list[Section]:
    """The steps of the recursive estimator; nothing for others, and for a fit read from a file."""
    steps = fit.solution.steps
    if not steps:
        return []
    names = fit.record.terms.row_names
    rows = []
    for step in steps:
        torque = float(np.sqrt(np.mean((step.gamma + step.phi) ** 2)))
        outer = float(np.sqrt(np.mean(step.phi**2)))
        rows.append(
            [
                step.name,
                len(step.unknowns),
                step.rows,
                f"{step.singular[-1]:.3g}",
                f"{step.condition:.3g}",
                "yes" if step.exciting else "no",
                f"{100 * outer / torque:.0f} %" if torque > 0 else "-",
                f"{float(np.max(step.inflation)):.3g}",
                f"{names[step.blame]} ({100 * step.shares[step.blame]:.0f} %)",
            ]
        )
    return [section("Which joint's motion is to blame", note(WORDS), table(COLUMNS, rows))]
