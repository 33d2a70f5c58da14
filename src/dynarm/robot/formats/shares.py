"""How the inertia of links that move as one is shared out among them, after it has been changed as a whole.

Torques tell the sum only. The moved link takes all of the change, and those fixed to it keep what they had. Where that
leaves the moved link with what no body has (a negative mass, say), all links that have mass take a part: of all ways to
share out the whole among bodies the nearest to what they had, by the divergence

    sum over links of  tr(P R^-1) - log det(P R^-1) - 4,     P, R: pseudo-inertias, now and before

(Lee, Wensing, Park 2020), which depends neither on frames nor on units. Its minimum has P^-1 = R^-1 + L with one
symmetric 4x4 matrix L for all links; L is found by Newton's method on the dual problem, which is concave and
self-concordant, so that damped steps always arrive.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...border.kinds import FloatArray
from ..doubts import doubts_of
from ..inertia import of_pseudo_inertia, pseudo_inertia

_NOTHING = 1e-12  # part of the whole that is rounding
_THIN = 1e-6  # least eigenvalue of what a link had, as part of the largest: point masses and rods have 0
_STEPS = 500
_CLOSE = 1e-13


@dataclass(frozen=True, slots=True, eq=False)
class Portions:
    """Ten parameters of the moved link and, where they changed, of the links fixed to it, all about its frame."""

    own: FloatArray
    fixed: Sequence[FloatArray] | None  # None: as they were
    why: str = ""  # they could not stay


def shared(own: FloatArray, fixed: Sequence[FloatArray], change: FloatArray) -> Portions:
    """What the links of a group have after the group as a whole has changed; all about the moved link's frame."""
    whole = own + sum(fixed, np.zeros(10)) + change
    rest = own + change
    sizes = _sizes([own, *fixed, whole])
    if (np.abs(rest) <= _NOTHING * sizes).all():
        return Portions(np.zeros(10), None)
    why = _impossible(rest, own, whole)
    before = [own, *fixed]
    with_mass = [k for k, ten in enumerate(before) if ten[0] > 0]
    if not why or not fixed or with_mass in ([], [0]):
        return Portions(rest, None)
    if whole[0] <= 0 or doubts_of(whole):
        parts = _by_mass([before[k] for k in with_mass], change)
    else:
        parts = _nearest([before[k] for k in with_mass], whole)
    after = list(before)
    for k, ten in zip(with_mass, parts, strict=True):
        after[k] = ten
    return Portions(after[0], after[1:], why)


def _impossible(rest: FloatArray, own: FloatArray, whole: FloatArray) -> str:
    """Why a moved link cannot have this; physics is not asked of it where the file or the whole has none."""
    if rest[0] < 0:
        return f"a mass of {rest[0]:.4g} kg"
    if rest[0] == 0 and rest[1:4].any():
        return "no mass, but first moments"
    if doubts_of(whole) or (own.any() and doubts_of(own)):
        return ""
    return "; ".join(doubts_of(rest))


def _sizes(rows: Sequence[FloatArray]) -> FloatArray:
    """What the ten parameters of a group are compared with, each kind by itself."""
    table = np.abs(np.array(rows))
    m, h, J = (float(table[:, k].max()) for k in (slice(0, 1), slice(1, 4), slice(4, 10)))
    return np.array([m, h, h, h, *[J] * 6])


def _by_mass(before: Sequence[FloatArray], change: FloatArray) -> list[FloatArray]:
    """The change shared out in proportion to mass, so that the signs of masses stay."""
    total = sum(float(ten[0]) for ten in before)
    return [ten + change * (float(ten[0]) / total) for ten in before]


def _nearest(before: Sequence[FloatArray], whole: FloatArray) -> list[FloatArray]:
    """Bodies that add up to the whole, nearest to those before; the first takes what rounding leaves."""
    P = pseudo_inertia(whole)
    scale = np.sqrt(np.maximum(np.diag(P), _THIN * np.diag(P).max()))
    s, V = np.linalg.eigh(P / np.outer(scale, scale))
    root = V * np.sqrt(np.maximum(s, 1e-9 * s[-1]))  # the whole, its units taken off, is root root'
    back = np.linalg.inv(root)
    had = []
    for ten in before:
        R = back @ (pseudo_inertia(ten) / np.outer(scale, scale)) @ back.T
        r, U = np.linalg.eigh(R)
        had.append((U * np.maximum(r, _THIN * r[-1])) @ U.T)
    parts = [root @ X @ root.T * np.outer(scale, scale) for X in _nearest_parts_of_one(had)]
    others = [of_pseudo_inertia(X) for X in parts[1:]]
    return [whole - sum(others, np.zeros(10)), *others]


def _nearest_parts_of_one(had: Sequence[FloatArray]) -> list[FloatArray]:
    """Positive definite 4x4 matrices that add up to the unit matrix, nearest to those given."""
    inverses = [np.linalg.inv(R) for R in had]
    L = np.zeros((4, 4))
    for _ in range(_STEPS):
        parts: list[FloatArray] = [np.linalg.inv(B + L).astype(float) for B in inverses]
        gap = sum(parts, np.zeros((4, 4))) - np.eye(4)
        curvature = sum((np.kron(X, X) for X in parts), np.zeros((16, 16)))
        step = np.linalg.solve(curvature, gap.ravel()).reshape(4, 4)
        decrement = float(np.sqrt(max(float((gap * step).sum()), 0.0)))
        if decrement <= _CLOSE:
            break
        L = L + (step + step.T) / 2 * (1.0 if decrement < 0.25 else 1 / (1 + decrement))
    return parts
