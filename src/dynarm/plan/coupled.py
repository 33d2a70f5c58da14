"""Accelerations where drives feel those of other joints, and friction may grow with the load.

    r = M qdd + h,      r + g |r| + K qdd = y

Where a joint's row of K is 0, its r is known at once. The others are found together: with the loads u = |r| of those
whose friction grows as well, accelerations are linear in u, and r + A u = b is left, of as many unknowns. Newton's
method on it finds the signs of r; once they are right, the answer is exact.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..algebra import lu
from ..algebra.vectors import Scalar, add, is_zero, magnitude, mul, sign, sub, total
from ..dynamics.drive_train import borne, check_factors
from .scene import Rows, Scene, minus, plus

MORE = 2  # turns of Newton's method beyond one an unknown


def coupled_accelerations(scene: Scene, K: Rows) -> list[Scalar]:
    """Accelerations by L U of the mass matrix with what coupled drives add."""
    y = minus(scene.given["tau"], scene.free_friction())
    check_factors(scene.arm.joints)
    g = scene.load_factors() if scene.loaded else scene.still
    both = [i for i, row in enumerate(K) if any(row) and not is_zero(g[i])]
    force = [y[i] if i in both or is_zero(g[i]) else borne(y[i], g[i]) for i in range(len(y))]
    felt = [plus(a, b) for a, b in zip(scene.mass_matrix, K, strict=True)]
    factors = lu.factorise(felt)
    qdd = factors.solve(minus(force, scene.inverse_dynamics(scene.qd, scene.still)))
    if not both:
        return qdd
    answers = [factors.solve([1 if i == j else 0 for i in range(len(y))]) for j in both]
    b = [sub(y[i], _dot(K[i], qdd)) for i in both]
    A = [
        [mul(g[j], sub(int(i == j), _dot(K[i], e))) for j, e in zip(both, answers, strict=True)]
        for i in both
    ]
    for j, e, r in zip(both, answers, _loads(A, b), strict=True):
        lost = mul(g[j], magnitude(r))
        qdd = [sub(a, mul(lost, x)) for a, x in zip(qdd, e, strict=True)]
    return qdd


def _loads(A: Rows, b: Sequence[Scalar]) -> list[Scalar]:
    """r with r + A |r| = b, where A is small."""
    r = list(b)
    for _ in range(1 if len(b) == 1 else len(b) + MORE):
        signs = [sign(x) for x in r]
        rows = [
            [add(int(i == j), mul(a, s)) for j, (a, s) in enumerate(zip(row, signs, strict=True))]
            for i, row in enumerate(A)
        ]
        r = lu.factorise(rows).solve(b)
    return r


def _dot(row: Sequence[Scalar], x: Sequence[Scalar]) -> Scalar:
    return total(*(mul(a, b) for a, b in zip(row, x, strict=True)))
