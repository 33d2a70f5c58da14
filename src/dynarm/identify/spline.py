"""Smooth positions, velocities and accelerations by a penalised spline whose smoothness the positions tell themselves.

A P-spline (Eilers and Marx 1996) of degree 5 on the recorded times, with knots every 5 ms (or every sample, if these
are further apart) and a penalty on third differences of its coefficients. How strong, is found for each joint and
stretch by restricted likelihood (REML): no torque takes part, nothing is resampled and no end is padded.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..border.kinds import FloatArray, Foreign

DEGREE = 5
ORDER = 3  # of the differences that are penalised
KNOTS = 0.005  # [s] between knots, or the usual step if that is longer
FEWEST = 8  # intervals between knots
# decimal logarithms of the penalty's weight that are tried first
_STRENGTHS = np.arange(-6.0, 12.0, 1.5)
_FINE = 0.05  # of such a logarithm
_LEAST = 1e-300


@dataclass(frozen=True, slots=True, eq=False)
class Spline:
    """Coefficients (knots, n) of the splines of all joints, and the weights (n,) of their penalties, as log10."""

    start: float
    step: float
    intervals: int
    coefficients: FloatArray
    strengths: FloatArray

    def states(self, t: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Positions, velocities and accelerations (N, n) at times; beyond the ends those of the ends."""
        last = self.step * self.intervals * (1 - 1e-13)
        since = np.clip(t - self.start, 0.0, last)
        rates, out = self.coefficients, []
        for k in range(3):
            design = _design(since, self.step, self.intervals, DEGREE - k)
            out.append(np.asarray(design @ rates))
            rates = np.diff(rates, axis=0) / self.step
        q, qd, qdd = out
        return q, qd, qdd


def _design(since: FloatArray, step: float, intervals: int, degree: int) -> Foreign:
    """(N, intervals + degree) sparse: every B-spline at every time."""
    from scipy.interpolate import BSpline

    knots = step * np.arange(-degree, intervals + degree + 1.0)
    return BSpline.design_matrix(since, knots, degree)


def _banded(matrix: Foreign) -> FloatArray:
    """The upper band of a symmetric sparse matrix, as LAPACK keeps it."""
    size = matrix.shape[0]
    band = np.zeros((DEGREE + 1, size))
    for k in range(DEGREE + 1):
        band[DEGREE - k, k:] = matrix.diagonal(k)
    return band


class _Fitting:
    """What the splines of all joints on the same times share."""

    def __init__(self, t: FloatArray):
        import scipy.sparse as sparse

        usual = max(float(np.median(np.diff(t))), KNOTS)
        self.start = float(t[0])
        lasting = float(t[-1]) - self.start
        self.intervals = max(FEWEST, int(np.ceil(lasting / usual)))
        self.step = lasting / self.intervals
        since = np.clip(t - self.start, 0.0, lasting * (1 - 1e-13))
        self.design = _design(since, self.step, self.intervals, DEGREE).tocsr()
        self.size = self.intervals + DEGREE
        rows = self.size - ORDER
        bands = [np.full(rows, x) for x in np.diff(np.eye(ORDER + 1), ORDER, axis=0)[0]]
        D = sparse.diags(bands, list(range(ORDER + 1)), shape=(rows, self.size)).tocsr()
        self.penalty = (D.T @ D).tocsr()
        self.data_band = _banded((self.design.T @ self.design).tocsr())
        self.penalty_band = _banded(self.penalty)

    def solved(self, y: FloatArray, strength: float) -> tuple[float, FloatArray]:
        """Minus twice the restricted log-likelihood, but for a constant, and the coefficients."""
        from scipy.linalg import cho_solve_banded, cholesky_banded

        weight = 10.0**strength
        root = cholesky_banded(self.data_band + weight * self.penalty_band, check_finite=False)
        c = cho_solve_banded((root, False), self.design.T @ y, check_finite=False)
        left = y - self.design @ c  # computed directly: differences of large sums have no digits
        misfit = max(float(left @ left + weight * (c @ (self.penalty @ c))), _LEAST)
        cost = (len(y) - ORDER) * np.log(misfit) + 2 * np.log(root[-1]).sum()
        return float(cost - (self.size - ORDER) * np.log(weight)), np.asarray(c)

    def smoothest(self, y: FloatArray) -> tuple[float, FloatArray]:
        """The penalty of the greatest restricted likelihood, as log10, and its coefficients."""
        from scipy.optimize import minimize_scalar

        costs = [self.solved(y, s)[0] for s in _STRENGTHS]
        k = int(np.argmin(costs))
        low, high = _STRENGTHS[max(k - 1, 0)], _STRENGTHS[min(k + 1, len(_STRENGTHS) - 1)]
        best = minimize_scalar(
            lambda s: self.solved(y, s)[0],
            bounds=(low, high),
            method="bounded",
            options={"xatol": _FINE},
        )
        return float(best.x), self.solved(y, float(best.x))[1]


def spline_of(t: FloatArray, q: FloatArray) -> Spline:
    """The smoothing splines of positions q (N, n) at times t, at least 8, ascending."""
    fitting = _Fitting(t)
    middle = q.mean(axis=0)
    pairs = [fitting.smoothest(column) for column in (q - middle).T]
    coefficients = np.column_stack([c for _, c in pairs]) + middle  # B-splines sum to one
    strengths = np.array([s for s, _ in pairs])
    return Spline(fitting.start, fitting.step, fitting.intervals, coefficients, strengths)
