"""Bodies that stay inside what is possible: a pull by the log-determinant divergence of pseudo-inertias.

[lee2020]      T. Lee, P. M. Wensing, F. C. Park, Geometric robot dynamic identification, IEEE T-RO 36 (2020).
[wensing2018]  P. M. Wensing, S. Kim, J.-J. E. Slotine, Linear matrix inequalities for physically consistent inertial
               parameter identification, IEEE RA-L 3 (2018).

For a body with pseudo-inertia P and a reference P0 (CAD, or a uniform body)

    d(P, P0) = tr(P0^-1 P) - log det(P0^-1 P) - 4,

which is 0 at P0, does not depend on units or frames, and grows without bound towards the edge of what is possible. An
armature a has a/a0 - log(a/a0) - 1, likewise. Sums of these and of squares are smooth and convex: Newton's method.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ...border.kinds import FloatArray
from ...robot.inertia import pseudo_inertia

UNITS = np.array([pseudo_inertia(unit) for unit in np.eye(10)])  # (10, 4, 4)
_STEPS = 100
_EDGE = 1e-13  # least eigenvalue of a pseudo-inertia with a diagonal of 1 that rounding leaves
_DONE = 1e-14  # half the squared Newton decrement at which nothing is left to gain
_PENALTIES = 10.0 ** np.arange(0, 13, 2)  # of the way to values that are met exactly

_WITHIN = (
    0.9  # of the ellipsoid around x, by the divergence's Hessian, in which everything is possible
)

Part = tuple[float, FloatArray, FloatArray]  # a function's value, gradient and Hessian
Whole = tuple[float, FloatArray, FloatArray, FloatArray]  # and the Hessian of the divergence in it


@dataclass(frozen=True, slots=True, eq=False)
class Divergence:
    """The sum of divergences of numbers x from a reference (size,), where each link's ten begin at `links`.

    positive: numbers with the divergence of an armature. barred: numbers that must stay positive and are not pulled;
    each has -bar log x.
    """

    reference: FloatArray
    links: Sequence[int]
    positive: Sequence[int]
    barred: Sequence[int] = ()
    bar: float = 1e-3

    def possible(self, x: FloatArray) -> bool:
        """Whether x lies inside."""
        if not np.isfinite(x).all() or any(x[k] <= 0 for k in (*self.positive, *self.barred)):
            return False
        P = self._inertias(x)
        diagonal = np.einsum("lii->li", P)
        if (diagonal <= 0).any():
            return False
        size = np.sqrt(diagonal)
        return bool((np.linalg.eigvalsh(P / (size[:, :, None] * size[:, None, :])) > _EDGE).all())

    def _inertias(self, x: FloatArray) -> FloatArray:
        places = np.asarray(self.links, int)[:, None] + np.arange(10)
        return np.asarray(np.einsum("lk,kij->lij", x[places], UNITS))

    def at(self, x: FloatArray) -> Part:
        """Its value at x, with gradient and Hessian."""
        size = len(x)
        value, slope, bend = 0.0, np.zeros(size), np.zeros((size, size))
        P, P0 = self._inertias(x), self._inertias(self.reference)
        for start, own, other in zip(self.links, P, P0, strict=True):
            inverse = np.linalg.inv(own)
            place = slice(start, start + 10)
            towards = np.einsum("ij,kji->k", np.linalg.inv(other), UNITS)
            away = np.einsum("ij,kji->k", inverse, UNITS)
            turned = inverse @ UNITS
            value += float(towards @ x[place]) - 4
            value += float(np.linalg.slogdet(other)[1] - np.linalg.slogdet(own)[1])
            slope[place] += towards - away
            bend[place, place] += np.einsum("kij,lji->kl", turned, turned)
        for k in self.positive:
            ratio = x[k] / self.reference[k]
            value += ratio - np.log(ratio) - 1
            slope[k] += 1 / self.reference[k] - 1 / x[k]
            bend[k, k] += 1 / x[k] ** 2
        for k in self.barred:
            value -= self.bar * np.log(x[k])
            slope[k] -= self.bar / x[k]
            bend[k, k] += self.bar / x[k] ** 2
        return value, slope, bend


def drawn(
    pull: Divergence, reach: FloatArray, wanted: FloatArray, weight: float, start: FloatArray
) -> FloatArray:
    """The least of |reach x - wanted|^2 / 2 + weight times the divergence, from a start inside."""

    def whole(x: FloatArray) -> Whole:
        left = reach @ x - wanted
        value, slope, bend = pull.at(x)
        return (
            float(left @ left) / 2 + weight * value,
            reach.T @ left + weight * slope,
            reach.T @ reach + weight * bend,
            bend,
        )

    return _newton(whole, pull.possible, start)


def met(
    pull: Divergence, matrix: FloatArray, wanted: FloatArray, start: FloatArray
) -> FloatArray | None:
    """The least divergence with matrix x = wanted; None where nothing inside was met."""
    size = np.maximum(np.abs(matrix).sum(axis=1), 1e-300)
    rows, right = matrix / size[:, None], wanted / size
    x, held = start, None
    _, s, V = np.linalg.svd(rows)
    free = V[int((s > 1e-10 * s[0]).sum()) :].T
    for penalty in _PENALTIES:
        x = drawn(pull, np.sqrt(penalty) * rows, np.sqrt(penalty) * right, 1.0, x)
        moved = x + np.linalg.lstsq(rows, right - rows @ x, rcond=1e-10)[0]
        if pull.possible(moved):
            held = moved
            break
    if held is None or np.abs(rows @ held - right).max() > 1e-9 * max(np.abs(right).max(), 1e-300):
        return None
    base = held

    def within(z: FloatArray) -> Whole:
        value, slope, bend = pull.at(base + free @ z)
        bend = free.T @ bend @ free
        return value, free.T @ slope, bend, bend

    if not free.shape[1]:
        return np.asarray(base)
    z = _newton(within, lambda z: pull.possible(base + free @ z), np.zeros(free.shape[1]))
    return np.asarray(base + free @ z)


def _solved(bend: FloatArray, right: FloatArray) -> FloatArray:
    """The solution of a positive definite system with a diagonal of 1; of least size where it is only nearly so."""
    from scipy.linalg import cho_factor, cho_solve

    try:
        return np.asarray(cho_solve(cho_factor(bend + 1e-14 * np.eye(len(bend))), right))
    except np.linalg.LinAlgError:
        return np.asarray(np.linalg.lstsq(bend, right, rcond=1e-15)[0])


def _newton(
    function: Callable[[FloatArray], Whole], possible: Callable[[FloatArray], bool], x: FloatArray
) -> FloatArray:
    """The least of a convex function, by Newton steps that stay well inside."""
    value, slope, bend, metric = function(x)
    for _ in range(_STEPS):
        if not (np.isfinite(bend).all() and np.isfinite(slope).all()):
            break  # numbers too far apart: what was reached is kept
        scale = 1 / np.sqrt(np.maximum(np.diag(bend), 1e-300))
        step = scale * _solved(bend * np.outer(scale, scale), -scale * slope)
        gain = -float(slope @ step) / 2
        if gain <= _DONE * max(1.0, abs(value)):
            break
        length = min(1.0, _WITHIN / np.sqrt(max(float(step @ metric @ step), 1e-300)))
        while length > 1e-12:
            trial = x + length * step
            if possible(trial):
                made = function(trial)
                if made[0] <= value - 0.2 * length * gain:
                    break
            length /= 2
        else:
            break
        x, (value, slope, bend, metric) = trial, made
    return x
