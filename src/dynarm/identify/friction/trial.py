"""Errors on time that was not fitted, for many sets of columns of one model: each trial costs a few small solutions.

Rows are folded once, with every column that may be wanted, and kept as products of columns, stretch of time by stretch
of time. A trial leaves one stretch out after the other, solves for the columns it wants and looks at what is left of
the torques there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...border.kinds import FloatArray
from ..estimators.factors import stream
from ..preprocess import Preparation, Stretch
from ..regressor import Terms

FOLDS = 8
FEWEST = 4  # folds that tell a gain from chance
WORTH = 0.01  # part of an error by which a family must lower it at least
_PASSES = 3
_ROUNDING = 1e-9  # keeps what no row tells at its start
_LEAST = 1e-300


@dataclass(frozen=True, slots=True, eq=False)
class Folds:
    """Products [X y]' [X y] of each fold's and joint's rows, over the unknowns that the joint feels."""

    support: tuple[np.ndarray, ...]
    size: int
    products: list[list[FloatArray]]
    rows: np.ndarray  # (folds, n)
    spread: FloatArray  # (n,) root mean square torque


def folds_of(
    terms: Terms, pieces: Sequence[Stretch], how: Preparation, groups: Sequence[Sequence[int]]
) -> Folds:
    """The folds that groups of the pieces' blocks make."""
    number = {block: k for k, group in enumerate(groups) for block in group}
    sizes = [len(s) + 1 for s in terms.support]
    products = [[np.zeros((k, k)) for k in sizes] for _ in groups]
    rows = np.zeros((len(groups), terms.n), int)
    for chunk in stream(terms, pieces, how):
        k = number[chunk.block]
        rows[k] += chunk.count
        for G, Xy in zip(products[k], chunk.Xy, strict=True):
            G += Xy.T @ Xy
    total = np.array([sum(p[j][-1, -1] for p in products) for j in range(terms.n)])
    spread = np.sqrt(np.maximum(total / np.maximum(rows.sum(axis=0), 1), _LEAST))
    return Folds(terms.support, terms.size, products, rows, spread)


@dataclass(frozen=True, slots=True, eq=False)
class Wanted:
    """Which unknowns take part in a trial, how each is drawn, and to what."""

    kept: np.ndarray  # (size,) bool
    pulls: FloatArray  # (size,) in scaled unknowns
    start: FloatArray  # (size,)


def errors(folds: Folds, wanted: Wanted) -> FloatArray:
    """(folds, n): root mean square of what is left of each joint's torque where it was not fitted; NaN: no rows."""
    products, places = _narrowed(folds, wanted)
    totals = _summed(products)
    out = np.full(folds.rows.shape, np.nan)
    for f, fold in enumerate(products):
        rest = [total - G for total, G in zip(totals, fold, strict=True)]
        count = folds.rows.sum(axis=0) - folds.rows[f]
        values = _solved(rest, places, count, folds, wanted)
        for j, (G, place) in enumerate(zip(fold, places, strict=True)):
            if folds.rows[f, j]:
                out[f, j] = np.sqrt(_left(G, values[place]) / folds.rows[f, j])
    return out


def solution(folds: Folds, wanted: Wanted) -> FloatArray:
    """(size,): values fitted to all folds; 0 for unknowns that take no part."""
    products, places = _narrowed(folds, wanted)
    totals = _summed(products)
    values = _solved(totals, places, folds.rows.sum(axis=0), folds, wanted)
    return np.where(wanted.kept, values, 0.0)


def _summed(products: Sequence[Sequence[FloatArray]]) -> list[FloatArray]:
    """The products of each joint over all folds."""
    return [np.sum(of_joint, axis=0) for of_joint in zip(*products, strict=True)]


def _narrowed(folds: Folds, wanted: Wanted) -> tuple[list[list[FloatArray]], list[np.ndarray]]:
    """The products of the unknowns that take part, and where these stand among all, joint by joint."""
    picks = [np.flatnonzero(wanted.kept[s]) for s in folds.support]
    places = [s[k] for s, k in zip(folds.support, picks, strict=True)]
    corners = [np.r_[k, len(s)] for s, k in zip(folds.support, picks, strict=True)]
    products = [
        [G[np.ix_(c, c)] for G, c in zip(fold, corners, strict=True)] for fold in folds.products
    ]
    return products, places


def _left(G: FloatArray, values: FloatArray) -> float:
    x = np.r_[-values, 1.0]
    return max(float(x @ G @ x), 0.0)


def _solved(
    products: Sequence[FloatArray],
    places: Sequence[np.ndarray],
    count: np.ndarray,
    folds: Folds,
    wanted: Wanted,
) -> FloatArray:
    """(size,): least squares weighted by each joint's own residual, after a few passes."""
    kept = np.flatnonzero(wanted.kept)
    sigma = folds.spread.copy()
    values = wanted.start.copy()
    for _ in range(_PASSES):
        A, b = np.zeros((folds.size,) * 2), np.zeros(folds.size)
        for G, place, s in zip(products, places, sigma, strict=True):
            A[np.ix_(place, place)] += G[:-1, :-1] / s**2
            b[place] += G[:-1, -1] / s**2
        A, b = A[np.ix_(kept, kept)], b[kept] - A[np.ix_(kept, kept)] @ wanted.start[kept]
        scale = np.sqrt(np.diag(A))
        scale[scale == 0] = 1.0
        A = A / np.outer(scale, scale) + np.diag(wanted.pulls[kept] ** 2 + _ROUNDING)
        values = wanted.start.copy()
        values[kept] += np.linalg.solve(A, b / scale) / scale
        left = [_left(G, values[p]) for G, p in zip(products, places, strict=True)]
        sigma = np.sqrt(np.array(left) / np.maximum(count, 1))
        sigma = np.maximum(sigma, 1e-9 * folds.spread)
    return values


@dataclass(frozen=True, slots=True, eq=False)
class Gain:
    """By how much one trial's errors lie below another's, joint by joint: parts of the error, and how sure."""

    mean: FloatArray  # (n,) of the whole error
    steps: FloatArray  # (folds, n) logarithm of the errors' ratio; NaN: no rows

    @property
    def low(self) -> FloatArray:
        """(n,) the mean over folds less one standard error."""
        middle, doubt = _middle(self.steps)
        return middle - doubt

    @property
    def high(self) -> FloatArray:
        """(n,) the mean over folds and one standard error."""
        middle, doubt = _middle(self.steps)
        return middle + doubt

    def pooled(self, joints: Sequence[int]) -> tuple[float, float]:
        """The mean over folds of some joints' mean, and its standard error."""
        some = self.steps[:, list(joints)]
        told = np.isfinite(some).any(axis=1)
        middle, doubt = _middle(np.nanmean(some[told], axis=1)[:, None])
        return float(middle[0]), float(doubt[0])


def _middle(steps: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Mean over folds and its standard error."""
    many = np.maximum(np.isfinite(steps).sum(axis=0), 1)
    mean = np.nansum(steps, axis=0) / many
    spread = np.sqrt(np.nansum((steps - mean) ** 2, axis=0) / np.maximum(many - 1, 1))
    return mean, spread / np.sqrt(many)


def gain(before: FloatArray, after: FloatArray, rows: np.ndarray) -> Gain:
    """What the errors (folds, n) of a trial gain on those of another."""
    count = np.where(np.isfinite(before), rows, 0)
    whole = [np.sqrt(np.nansum(count * e**2, axis=0) + _LEAST) for e in (before, after)]
    steps = np.log(np.maximum(before, _LEAST)) - np.log(np.maximum(after, _LEAST))
    return Gain(1 - whole[1] / whole[0], steps)


def relative(folds: Folds, left: FloatArray, spread: FloatArray) -> FloatArray:
    """(n,): the whole error of a trial over a deviation of the torques."""
    rows = np.where(np.isfinite(left), folds.rows, 0)
    whole = np.sqrt(np.nansum(rows * left**2, axis=0) / np.maximum(rows.sum(axis=0), 1))
    return np.asarray(whole / np.where(spread > 0, spread, 1.0))
