"""Linear estimators on triangular factors: ols, wls, recursive; irls and iv fold the data again with other weights.

All solve for values in tau = X values. Weights are one a joint, 1 / standard deviation of its residual. A ridge is
the pull towards a prior, in units that do not depend on the units of the parameters: sd = |y| / (ridge |x_k|).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from .factors import Factors

_PASSES = 50
_ROUNDING = 1e-11  # singular values below this part of the largest, columns scaled, count as zero


@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """Values of all unknowns, and what they were found with."""

    values: np.ndarray
    weights: np.ndarray  # (n,) of the joints' rows
    covariance: np.ndarray  # (p, p) for white residuals
    rank: int
    condition: float  # of the weighted regressor with columns of length one
    singular: np.ndarray  # its singular values, descending
    directions: np.ndarray  # its right singular vectors by rows, in scaled unknowns
    scales: np.ndarray  # (p,) length of each weighted column: scaled unknown = value * scale
    ridge: float = 0.0
    # (p,) how each value is drawn to its prior
    pulls: np.ndarray = field(default_factory=lambda: np.zeros(0))
    joint_conditions: tuple[float, ...] = ()  # recursive: cond(A_i)


@dataclass(frozen=True, slots=True, eq=False)
class Pull:
    """A prior: values that the unknowns are pulled to, and how much each is (1: by the ridge, 0: not at all)."""

    values: np.ndarray
    strength: np.ndarray


def solve(
    factors: Factors, weights: np.ndarray, ridge: float = 0.0, pull: Pull | None = None
) -> Solution:
    """The weighted least-squares solution; the one nearest to the prior (or zero), scaled, where it is not unique."""
    X, y = factors.stacked(weights)
    start = np.zeros(factors.size) if pull is None else pull.values
    present = factors.present
    start = np.where(present, start, 0.0)
    y = y - X @ start
    scales = np.sqrt((X**2).sum(axis=0))
    scales[scales == 0] = 1.0
    A = (X / scales)[:, present]
    U, s, V = np.linalg.svd(A, full_matrices=False)
    rank = int((s > _ROUNDING * s[0]).sum()) if len(s) and s[0] > 0 else 0
    strength = np.ones(factors.size) if pull is None else pull.strength
    if ridge > 0:
        found, inverse = _ridged(A, y, (ridge * strength)[present])
    else:
        inverse_s = np.where(np.arange(len(s)) < rank, 1 / np.where(s > 0, s, 1), 0)
        found = V.T @ (inverse_s * (U.T @ y))
        inverse = (V.T * inverse_s**2) @ V
    values, spread, directions = (
        start.copy(),
        np.zeros((factors.size,) * 2),
        np.zeros((len(V), factors.size)),
    )
    values[present] += found / scales[present]
    spread[np.ix_(present, present)] = inverse / np.outer(scales[present], scales[present])
    directions[:, present] = V
    return Solution(
        values,
        weights,
        spread,
        rank,
        float(s[0] / s[-1]) if rank == present.sum() and s[-1] > 0 else np.inf,
        s,
        directions,
        scales,
        ridge,
        ridge * scales * strength * present,
    )


def _ridged(A: np.ndarray, y: np.ndarray, pulls: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The minimiser of |A x - y|^2 + |pulls x|^2, and the inverse of its normal matrix."""
    stacked = np.vstack([A, np.diag(pulls)])
    Q, R = np.linalg.qr(stacked)
    size = np.abs(np.diag(R))
    if (size <= _ROUNDING * size.max()).any():
        found, *_ = np.linalg.lstsq(stacked, np.r_[y, np.zeros(len(pulls))], rcond=_ROUNDING)
        return found, np.linalg.pinv(stacked.T @ stacked, rcond=_ROUNDING**2)
    inside = np.linalg.inv(R)
    return inside @ (Q[: len(A)].T @ y), inside @ inside.T


def quick(
    factors: Factors, ridge: float = 0.0, pull: Pull | None = None, passes: int = 3
) -> np.ndarray:
    """Values of a weighted fit after a few passes: for choices that compare many fits."""
    size = np.maximum(sizes(factors), 1e-300)
    sigma = size
    values = np.zeros(factors.size)
    for _ in range(passes):
        X, y = factors.stacked(1 / sigma)
        start = np.zeros(factors.size) if pull is None else pull.values
        scales = np.sqrt((X**2).sum(axis=0))
        scales[scales == 0] = 1.0
        strength = 1.0 if pull is None else pull.strength
        pulls = np.where(factors.present, max(ridge, 1e-10) * strength, 1.0)
        start = np.where(factors.present, start, 0.0)
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
        found = np.sqrt(share / precision)
    return np.where(np.isfinite(found) & (found > 0), found, 1.0)


def deviations(factors: Factors, values: np.ndarray) -> np.ndarray:
    """(n,) standard deviation of each joint's residual."""
    rows = factors.rows.sum(axis=0)
    free = np.maximum(rows - [len(s) for s in factors.support], 1)
    return np.sqrt(factors.squares(values).sum(axis=0) / free)


def sizes(factors: Factors) -> np.ndarray:
    """(n,) root mean square of each joint's torque."""
    rows = np.maximum(factors.rows.sum(axis=0), 1)
    return np.sqrt(factors.squares(np.zeros(factors.size)).sum(axis=0) / rows)


def ols(factors: Factors, ridge: float = 0.0, pull: Pull | None = None) -> Solution:
    """Ordinary least squares: every row counts the same."""
    return solve(factors, np.ones(factors.n), ridge, pull)


def wls(
    factors: Factors, ridge: float = 0.0, pull: Pull | None = None, passes: int = _PASSES
) -> Solution:
    """Least squares weighted by each joint's residual, iterated until the weights stand still."""
    merged = factors.merged()
    floor = 1e-12 * sizes(merged)  # noise-free data: rounding is all that is left
    floor[floor == 0] = 1.0
    sigma = np.maximum(sizes(merged), floor)
    for _ in range(passes):
        found = solve(merged, 1 / sigma, ridge, pull)
        new = np.maximum(deviations(merged, found.values), floor)
        still = np.abs(new / sigma - 1).max() < 1e-6
        sigma = new
        if still or (sigma <= 1e3 * floor).all():
            break
    return solve(merged, 1 / sigma, ridge, pull)


def recursive(factors: Factors) -> Solution:
    """Lin's procedure: from the tip, each joint's own unknowns from its own small problem A_i w_i = gamma_i (111).

    gamma_i is the joint's torque less what the unknowns found further out explain. Friction and armature columns of
    the joint itself belong to its A_i. joint_conditions holds cond(A_i): infinite where the motion is not persistently
    exciting (117).
    """
    merged = factors.merged()
    values = np.zeros(factors.size)
    conditions = [1.0] * factors.n
    rank = 0
    for j, own, known in _from_the_tip(factors):
        R = merged.R[0][j]
        A, gamma = (
            R[:, :-1][:, own],
            R[:, -1] - R[:, :-1][:, known] @ values[factors.support[j][known]],
        )
        inverse, conditions[j], told = _pseudo_inverse(A)
        values[factors.support[j][own]] = inverse @ gamma
        rank += told
    sigma = np.maximum(deviations(merged, values), 1e-12 * sizes(merged) + 1e-300)
    return replace(
        solve(merged, 1 / sigma),
        values=values,
        rank=rank,
        condition=max(conditions),
        joint_conditions=tuple(conditions),
    )


def recursive_covariance(
    factors: Factors, values: np.ndarray, inflations: np.ndarray
) -> np.ndarray:
    """(p, p) of Lin's procedure: a joint's noise in its own unknowns, and doubt handed on from further out."""
    merged = factors.merged()
    variances = deviations(merged, values) ** 2 * inflations
    C = np.zeros((factors.size, factors.size))
    for j, own, known in _from_the_tip(factors):
        R, support = merged.R[0][j], factors.support[j]
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
    scale = np.sqrt((A**2).sum(axis=0))
    scale[scale == 0] = 1.0
    U, s, V = np.linalg.svd(A / scale, full_matrices=False)
    good = s > _ROUNDING * s[0]
    full = bool(good.all()) and len(s) == A.shape[1]
    inverse = (V.T * np.where(good, 1 / np.where(good, s, 1), 0)) @ U.T / scale[:, None]
    return inverse, float(s[0] / s[-1]) if full else np.inf, int(good.sum())
