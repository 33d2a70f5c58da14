"""Small second-order cone programs. The only door to clarabel in this package."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

Affine = tuple[np.ndarray, float]  # coefficients, constant


class ConeSolution(NamedTuple):
    """status: "solved", "infeasible", "unbounded" or "failed"; x where it is solved."""

    status: str
    x: np.ndarray


_STATUS = {
    "Solved": "solved",
    "AlmostSolved": "solved",
    "PrimalInfeasible": "infeasible",
    "AlmostPrimalInfeasible": "infeasible",
    "DualInfeasible": "unbounded",
    "AlmostDualInfeasible": "unbounded",
}


def maximise(goal: np.ndarray, blocks: Sequence[Sequence[Affine]]) -> ConeSolution:
    """x that maximises goal . x with every block inside its cone.

    A block of one affine expression asks for expression >= 0; a longer one for first >= norm of the others.
    """
    import clarabel
    from scipy import sparse

    rows, constants, cones = [], [], []
    for block in blocks:
        rows += [-row for row, _ in block]
        constants += [value for _, value in block]
        cones.append(
            clarabel.NonnegativeConeT(1)
            if len(block) == 1
            else clarabel.SecondOrderConeT(len(block))
        )
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-10
    n = len(goal)
    solver = clarabel.DefaultSolver(
        sparse.csc_matrix((n, n)),
        -np.asarray(goal, float),
        sparse.csc_matrix(np.array(rows)),
        np.array(constants, float),
        cones,
        settings,
    )
    answer = solver.solve()
    return ConeSolution(_STATUS.get(str(answer.status), "failed"), np.array(answer.x))
