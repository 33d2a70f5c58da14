"""A fit that outliers hardly move: rows that stand off are counted less, and the data folded again."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..judgement.statistics import residuals
from ..preprocess import Preparation, Stretch
from ..regressor import Terms
from . import least_squares as estimators
from .factors import Factors, fold
from .least_squares import Pull, Solution

_HUBER = 1.345


def robust(
    terms: Terms,
    factors: Factors,
    pieces: Sequence[Stretch],
    how: Preparation,
    ridge: float,
    pull: Pull,
    passes: int = 8,
) -> tuple[Factors, Solution]:
    """Huber's estimator: rows beyond 1.345 standard deviations count less, iterated."""
    solution = estimators.wls(factors, ridge, pull)
    for _ in range(passes):
        values = solution.values
        sigma = _middle_deviation(terms, pieces, how, values)

        def weigh(j: int, X: np.ndarray, y: np.ndarray) -> np.ndarray:
            left = np.abs(y - X @ values[terms.support[j]])  # noqa: B023
            limit = _HUBER * sigma[j]  # noqa: B023
            return np.sqrt(np.minimum(1.0, limit / np.maximum(left, limit * 1e-12 + 1e-300)))

        factors = fold(terms, pieces, how, weigh)
        before, solution = values, estimators.wls(factors, ridge, pull)
        change = np.abs(solution.values - before) * solution.scales
        if change.max() < 1e-4 * np.abs(solution.values * solution.scales).max():
            break
    return factors, solution


def _middle_deviation(
    terms: Terms, pieces: Sequence[Stretch], how: Preparation, values: np.ndarray
) -> np.ndarray:
    """(n,) standard deviation of each joint's residual from its median size: outliers do not count."""
    left = residuals(terms, pieces, how, values)
    sizes = [np.abs(a - b) for a, b in zip(left.measured, left.predicted, strict=True)]
    return np.array([1.4826 * np.median(x) if len(x) else 0.0 for x in sizes])
