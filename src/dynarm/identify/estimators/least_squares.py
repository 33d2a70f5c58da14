"""The algebra that estimators share: one weighted solution of folded rows, its covariance, sizes of residuals."""

from __future__ import annotations

import numpy as np

from .factors import Factors
from .problem import Problem, Pull, Solution

ROUNDING = 1e-11  # singular values below this part of the largest, columns scaled, count as zero


def weighted(problem: Problem, weights: np.ndarray) -> Solution:
    """The solution with given weights; the one nearest to the prior (or zero), scaled, where it is not unique."""
    factors, start, pulls = problem.factors, problem.start, problem.pulls
    X, y = factors.stacked(weights)
    present = factors.present
    y = y - X @ start
    scales = lengths(X)
    A = (X / scales)[:, present]
    U, s, V = np.linalg.svd(A, full_matrices=False)
    rank = int((s > ROUNDING * s[0]).sum()) if len(s) and s[0] > 0 else 0
    if pulls[present].any():
        steps, inverse = _ridged(A, y, pulls[present])
    else:
        inverse_s = np.where(np.arange(len(s)) < rank, 1 / np.where(s > 0, s, 1), 0)
        steps = V.T @ (inverse_s * (U.T @ y))
        inverse = (V.T * inverse_s**2) @ V
    values, spread, directions = (
        start.copy(),
        np.zeros((factors.size,) * 2),
        np.zeros((len(V), factors.size)),
    )
    values[present] += steps / scales[present]
    spread[np.ix_(present, present)] = inverse / np.outer(scales[present], scales[present])
    directions[:, present] = V
    return Solution(
        problem.settled,
        values,
        weights,
        spread,
        rank,
        float(s[0] / s[-1]) if rank == present.sum() and s[-1] > 0 else np.inf,
        s,
        directions,
        scales,
        problem.ridge,
        pulls * scales * present,
    )


def lengths(X: np.ndarray) -> np.ndarray:
    """(p,) length of each column, 1 for columns of zeros."""
    size = np.sqrt((X**2).sum(axis=0))
    size[size == 0] = 1.0
    return np.asarray(size)


def _ridged(A: np.ndarray, y: np.ndarray, pulls: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The minimiser of |A x - y|^2 + |pulls x|^2, and the inverse of its normal matrix."""
    stacked = np.vstack([A, np.diag(pulls)])
    Q, R = np.linalg.qr(stacked)
    size = np.abs(np.diag(R))
    if (size <= ROUNDING * size.max()).any():
        x, *_ = np.linalg.lstsq(stacked, np.r_[y, np.zeros(len(pulls))], rcond=ROUNDING)
        return x, np.linalg.pinv(stacked.T @ stacked, rcond=ROUNDING**2)
    inside = np.linalg.inv(R)
    return inside @ (Q[: len(A)].T @ y), inside @ inside.T


def quick(
    factors: Factors, ridge: float = 0.0, pull: Pull | None = None, passes: int = 3
) -> np.ndarray:
    """Values of a weighted fit after a few passes: for choices that compare many fits."""
    problem = Problem(factors, max(ridge, 1e-10), pull)
    start = problem.start
    pulls = np.where(factors.present, problem.pulls, 1.0)
    size = np.maximum(sizes(factors), 1e-300)
    size[~factors.rows.any(axis=0)] = 1.0  # no rows, nothing to weigh
    sigma = size
    values = np.zeros(factors.size)
    for _ in range(passes):
        X, y = factors.stacked(1 / sigma)
        scales = lengths(X)
        values = start + _ridged(X / scales, y - X @ start, pulls)[0] / scales
        sigma = np.maximum(deviations(factors, values), 1e-9 * size)
    return values


def worths(factors: Factors, weights: np.ndarray) -> np.ndarray:
    """(p,): what each scaled unknown may be worth: on no joint more than its torque, shared among all unknowns there.

    Joints are averaged by the part of the unknown's column that lies in their rows, in terms of 1 / worth^2.
    """
    merged = factors.merged()
    share, precision = np.zeros(factors.size), np.zeros(factors.size)
    for j, support in enumerate(factors.support):
        R = merged.R[0][j] * weights[j]
        length = (R[:, :-1] ** 2).sum(axis=0)
        torque = float((R[:, -1] ** 2).sum())
        share[support] += length
        precision[support] += length * len(support) / max(torque, 1e-300)
    with np.errstate(divide="ignore", invalid="ignore"):
        worth = np.sqrt(share / precision)
    return np.where(np.isfinite(worth) & (worth > 0), worth, 1.0)


def deviations(factors: Factors, values: np.ndarray) -> np.ndarray:
    """(n,) standard deviation of each joint's residual."""
    rows = factors.rows.sum(axis=0)
    free = np.maximum(rows - [len(s) for s in factors.support], 1)
    return np.asarray(np.sqrt(factors.squares(values).sum(axis=0) / free))


def sizes(factors: Factors) -> np.ndarray:
    """(n,) root mean square of each joint's torque."""
    rows = np.maximum(factors.rows.sum(axis=0), 1)
    return np.asarray(np.sqrt(factors.squares(np.zeros(factors.size)).sum(axis=0) / rows))


def freedoms(solution: Solution) -> np.ndarray:
    """(n,) degrees of freedom that a solution took from each joint's rows: together the rank, less what was drawn."""
    merged, taken = solution.data.merged(), np.zeros(solution.data.n)
    for j, support in enumerate(merged.support):
        R = merged.R[0][j][:, :-1] * solution.weights[j]
        taken[j] = np.sum((R @ solution.covariance[np.ix_(support, support)]) * R)
    return np.clip(taken, 0.0, [len(support) for support in merged.support])


def sandwich(solution: Solution, inflations: np.ndarray) -> np.ndarray:
    """(p, p): A^-1 B A^-1 with A the information, B that of each joint times its residual's inflation.

    A pull towards a prior counts as information of the same quality: what it hides is part of the doubt. What is damped
    was drawn to zero from about where it is now, which moves the others with it.
    """
    A = solution.covariance  # weights are 1 / sigma, so this is in units of the noise
    pulls = solution.pulls**2
    hidden = pulls * float(np.mean(inflations))
    pull = None if solution.problem is None else solution.problem.pull
    if pull is not None and pull.damping is not None:
        drawn = (pulls * solution.values) ** 2
        hidden = np.where(pull.damping > 0, np.maximum(hidden, drawn), hidden)
    B = np.diag(hidden)
    merged = solution.data.merged()
    for j, support in enumerate(merged.support):
        R = merged.R[0][j][:, :-1] * (solution.weights[j] * np.sqrt(inflations[j]))
        B[np.ix_(support, support)] += R.T @ R
    return np.asarray(A @ B @ A)
