"""A fit that outliers hardly move: rows that stand off are counted less, and the data folded again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from ...flow import seen
from ...judgement.statistics import residuals
from ..estimator import Estimator
from ..factors import RowSource, folded
from ..problem import Problem, Solution
from . import wls

HUBER = 1.345
PASSES = 8
_STILL = 1e-4  # part of the largest scaled value by which values may still move


def solve(problem: Problem, passes: int = PASSES) -> Solution:
    """Huber's estimator: rows beyond 1.345 standard deviations count less, iterated.

    Without the logs' rows (a bootstrap), rows count as they do in the factors.
    """
    solution = wls.solve(problem)
    done, still = 0, not problem.sources
    while not still and done < passes:
        before = solution.values
        sigma = _middle_deviation(problem.sources, before)
        factors = folded(problem.sources, problem.factors.support, _counted_less(before, sigma))
        solution = wls.solve(replace(problem, factors=factors))
        change = np.abs(solution.values - before) * solution.scales
        still = bool(change.max() < _STILL * np.abs(solution.values * solution.scales).max())
        done += 1
    status = solution.status if still else f"values still move after {done} passes"
    return replace(solution, iterations=done, status=status)


def _counted_less(
    values: np.ndarray, sigma: np.ndarray
) -> Callable[[int, np.ndarray, np.ndarray, np.ndarray], np.ndarray]:
    """What a row counts, by its residual."""

    def weigh(j: int, support: np.ndarray, X: np.ndarray, y: np.ndarray) -> np.ndarray:
        left = np.abs(y - X @ values[support])
        limit = HUBER * sigma[j]
        return np.asarray(
            np.sqrt(np.minimum(1.0, limit / np.maximum(left, limit * 1e-12 + 1e-300)))
        )

    return weigh


def _middle_deviation(sources: Sequence[RowSource], values: np.ndarray) -> np.ndarray:
    """(n,) standard deviation of each joint's residual from its median size: outliers do not count."""
    left = [residuals(s.terms, seen(s.pieces), s.how, values) for s in sources]
    sizes = [
        np.concatenate([np.abs(one.measured[j] - one.predicted[j]) for one in left])
        for j in range(sources[0].terms.n)
    ]
    return np.array([1.4826 * np.median(x) if len(x) else 0.0 for x in sizes])


ESTIMATOR = Estimator(solve, listed=True)
