"""A number that remembers how large the terms were of which it is the sum.

Where terms cancel, rounding leaves a little of a zero. How much it may leave is a share of the terms themselves, not of
other numbers beside them: those may have another unit, or belong to a far larger link. The papers' formulas run on a
`Weighed` as they run on numbers; `settled` then tells a zero from a small number at every scale.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...algebra.vectors import Scalar, Sym3, Vec3
from .chain import ULPS, Chain

_PLAIN = (int, float)


class Weighed:
    """A number, or an array of numbers, and the sum of the sizes of its terms."""

    __array_ufunc__ = None
    __slots__ = ("value", "weight")

    def __init__(self, value: Scalar, weight: Scalar):
        self.value, self.weight = value, weight

    def __neg__(self) -> Weighed:
        return Weighed(-self.value, self.weight)

    def __add__(self, o: Scalar) -> Weighed:
        value, weight = _parts(o)
        return Weighed(self.value + value, self.weight + weight)

    __radd__ = __add__

    def __sub__(self, o: Scalar) -> Weighed:
        value, weight = _parts(o)
        return Weighed(self.value - value, self.weight + weight)

    def __rsub__(self, o: Scalar) -> Weighed:
        value, weight = _parts(o)
        return Weighed(value - self.value, self.weight + weight)

    def __mul__(self, o: Scalar) -> Weighed:
        value, weight = _parts(o)
        return Weighed(self.value * value, self.weight * weight)

    __rmul__ = __mul__


def _parts(x: Scalar) -> tuple[Scalar, Scalar]:
    return (x.value, x.weight) if isinstance(x, Weighed) else (x, abs(x))


def weighed(x: Scalar) -> Scalar:
    """A plain number other than 0 with its own size as weight; anything else as it is."""
    return Weighed(x, abs(x)) if x.__class__ in _PLAIN and x != 0 else x


def settled(x: Scalar) -> Scalar:
    """The plain number, or 0 where rounding alone separates it from there; anything else as it is."""
    if not isinstance(x, Weighed):
        return x
    return x.value if abs(x.value) > ULPS * x.weight else 0


def weighed_chain(chain: Chain) -> Chain:
    """The chain with its inertial parameters weighed, those that are plain numbers."""
    bodies = (
        replace(b, m=weighed(b.m), h=Vec3(*map(weighed, b.h)), J=Sym3(*map(weighed, b.J)))
        for b in chain.joints
    )
    return replace(chain, joints=tuple(bodies))


def cut(values: np.ndarray, weights: np.ndarray, share: float) -> np.ndarray:
    """The values, those that are no more than a share of their weights made 0."""
    return np.where(np.abs(values) <= share * weights, 0.0, values)
