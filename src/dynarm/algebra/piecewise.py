"""Functions with corners over abstract scalars, without a branch: for floats, NumPy batches and symbols alike.

A condition is a number, 0 or 1, and a choice a sum of products, exact in both. All come from |x| and the sign of x, so
that NaN in gives NaN out: nothing is decided about what is not known.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from .vectors import Scalar, add, magnitude, mul, sign, sub, total

_STEEP = math.tan(math.pi / 8)
# S. L. Moshier, Cephes 2.8, atan.c: arctan u = u + u^3 P(u^2) / Q(u^2) for |u| <= 0.66
_P = (-0.8750608600031904, -16.157537187333652, -75.00855792314705, -122.88666844901361)
_P_LAST = -64.85021904942025
_Q = (24.858464901423062, 165.02700983169885, 432.88106049129027, 485.3903996359137)
_Q_LAST = 194.5506571482614


def positive(x: Scalar) -> Scalar:
    """x where x > 0, else 0; exact."""
    return mul(0.5, add(x, magnitude(x)))


def step(x: Scalar) -> Scalar:
    """1 where x > 0, else 0."""
    return positive(sign(x))


def smaller(x: Scalar, y: Scalar) -> Scalar:
    """The smaller of two numbers, to rounding."""
    return sub(x, positive(sub(x, y)))


def between(low: float, x: Scalar, high: float) -> Scalar:
    """x itself between the two numbers, beyond them the nearer one, to rounding."""
    return add(sub(x, positive(sub(x, high))), positive(sub(low, x)))


def chosen(condition: Scalar, x: Scalar, y: Scalar) -> Scalar:
    """x where the condition is 1, y where it is 0; both finite."""
    return add(mul(condition, x), mul(sub(1, condition), y))


def smallest(values: Sequence[Scalar]) -> Scalar:
    """The smallest of some numbers, to rounding."""
    low = values[0]
    for value in values[1:]:
        low = smaller(low, value)
    return low


def arctangent(y: Scalar, x: Scalar) -> Scalar:
    """The angle [rad] of the point (x, y), in (-pi, pi]; 0 at the origin."""
    across, along = magnitude(y), magnitude(x)
    steep = step(sub(across, along))
    low, high = chosen(steep, along, across), chosen(steep, across, along)
    high = add(high, 1e-300)
    half = step(sub(low, mul(_STEEP, high)))  # beyond pi/8 the angle is measured from pi/4
    u = sub(low, mul(half, high)) / add(high, mul(half, low))
    z = mul(u, u)
    above, below = _P[0], add(z, _Q[0])
    for p, q in zip((*_P[1:], _P_LAST), (*_Q[1:], _Q_LAST), strict=True):
        above, below = add(mul(above, z), p), add(mul(below, z), q)
    angle = total(u, mul(mul(u, z), above / below), mul(0.25 * math.pi, half))
    angle = chosen(steep, sub(0.5 * math.pi, angle), angle)
    angle = chosen(step(-x), sub(math.pi, angle), angle)
    return mul(sub(1, mul(2, step(-y))), angle)
