"""Ordinary least squares: every row counts the same."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..estimator import Estimator
from ..least_squares import weighted
from ..problem import Problem, Solution


def solve(problem: Problem) -> Solution:
    """The solution with weights of one, its covariance that of white noise of equal size on all joints."""
    alike = weighted(problem.drawn(), np.ones(problem.factors.n))
    return replace(_own_weights(problem, alike), problem=problem.settled)


def plain(problem: Problem) -> Solution:
    """The same without the prior."""
    return solve(problem.free)


def _own_weights(problem: Problem, solution: Solution) -> Solution:
    """The solution with the weights that say how large its residual is, one for all joints."""
    factors = problem.factors
    free = max(int(factors.rows.sum()) - factors.size, 1)
    common = float(np.sqrt(factors.squares(solution.values).sum() / free))
    common = common if common > 0 else 1.0
    return replace(
        solution,
        weights=np.full(factors.n, 1 / common),
        covariance=solution.covariance * common**2,
        scales=solution.scales / common,
        pulls=solution.pulls / common,
    )


ESTIMATOR = Estimator(solve, plain=plain, listed=True)
