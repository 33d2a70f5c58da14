"""Least squares weighted by each joint's residual, iterated until the weights stand still."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..estimator import Estimator
from ..least_squares import deviations, sizes, weighted
from ..problem import Problem, Solution

PASSES = 50
_STILL = 1e-6  # part by which weights may still move


def solve(problem: Problem, passes: int = PASSES) -> Solution:
    """The solution whose weights are those of its own residuals."""
    one = problem.drawn()
    size = sizes(one.factors)
    floor = 1e-12 * size  # noise-free data: rounding is all that is left
    floor[floor == 0] = 1.0
    sigma = np.maximum(size if problem.weights is None else 1 / problem.weights, floor)
    still, done = False, 0
    while not still and done < passes:
        new = np.maximum(deviations(one.factors, weighted(one, 1 / sigma).values), floor)
        still = bool(np.abs(new / sigma - 1).max() < _STILL or (new <= 1e3 * floor).all())
        sigma, done = new, done + 1
    return replace(
        weighted(one, 1 / sigma),
        problem=problem.settled,
        iterations=done,
        status="solved" if still else f"weights still move after {done} passes",
    )


ESTIMATOR = Estimator(solve, listed=True)
