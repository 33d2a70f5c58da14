"""Lin's procedure: from the tip, each joint's own unknowns from its own small problem A_i w_i = gamma_i (111).

gamma_i is the joint's torque less what the unknowns found further out explain. Friction and armature columns of the
joint itself belong to its A_i. joint_conditions holds cond(A_i): infinite where the motion is not persistently
exciting (117). A prior takes no part.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from ..estimator import Estimator
from ..factors import Factors
from ..least_squares import ROUNDING, deviations, lengths, sizes, weighted
from ..problem import Problem, Solution


def solve(problem: Problem) -> Solution:
    """Values joint by joint from the tip; weights are those of their residuals."""
    one = problem.free.drawn()
    factors = one.factors
    values = np.zeros(factors.size)
    conditions = [1.0] * factors.n
    rank = 0
    for j, own, known in _from_the_tip(factors):
        R = factors.R[0][j]
        A, gamma = (
            R[:, :-1][:, own],
            R[:, -1] - R[:, :-1][:, known] @ values[factors.support[j][known]],
        )
        inverse, conditions[j], told = _pseudo_inverse(A)
        values[factors.support[j][own]] = inverse @ gamma
        rank += told
    sigma = np.maximum(deviations(factors, values), 1e-12 * sizes(factors) + 1e-300)
    return replace(
        weighted(one, 1 / sigma),
        problem=problem.free.settled,
        values=values,
        rank=rank,
        condition=max(conditions),
        joint_conditions=tuple(conditions),
    )


def covariance(solution: Solution, inflations: np.ndarray) -> np.ndarray:
    """(p, p) of Lin's procedure: a joint's noise in its own unknowns, and doubt handed on from further out."""
    factors = solution.data.merged()
    variances = deviations(factors, solution.values) ** 2 * inflations
    C = np.zeros((factors.size, factors.size))
    for j, own, known in _from_the_tip(factors):
        R, support = factors.R[0][j], factors.support[j]
        inverse, _, _ = _pseudo_inverse(R[:, :-1][:, own])
        mine, outer = support[own], support[known]
        handed = -inverse @ R[:, :-1][:, known]
        across = handed @ C[outer]
        C[mine] = across
        C[:, mine] = across.T
        C[np.ix_(mine, mine)] = (
            inverse @ inverse.T * variances[j] + handed @ C[np.ix_(outer, outer)] @ handed.T
        )
    return C


def _from_the_tip(factors: Factors) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
    """Joints from the last to the first, and which of their unknowns are their own, which known from further out."""
    seen = np.zeros(factors.size, bool)
    rows = factors.rows.sum(axis=0)
    for j in range(factors.n - 1, -1, -1):
        known = seen[factors.support[j]]
        if rows[j] and not known.all():
            yield j, ~known, known
        seen[factors.support[j]] = True


def _pseudo_inverse(A: np.ndarray) -> tuple[np.ndarray, float, int]:
    """The pseudo-inverse, and condition number and rank with columns of length one."""
    scale = lengths(A)
    U, s, V = np.linalg.svd(A / scale, full_matrices=False)
    good = s > ROUNDING * s[0]
    full = bool(good.all()) and len(s) == A.shape[1]
    inverse = (V.T * np.where(good, 1 / np.where(good, s, 1), 0)) @ U.T / scale[:, None]
    return inverse, float(s[0] / s[-1]) if full else np.inf, int(good.sum())


ESTIMATOR = Estimator(solve, covariance, prior=False, together=False, floating=False)
