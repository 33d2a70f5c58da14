"""Vectors, symmetric tensors, matrices and frame changes over abstract scalars.

A scalar is anything with + - * and sin/cos: a float, a NumPy batch, a symbol of a graph. Numbers that are
known to be zero or one at tracing time (Python ints and floats) fold away here, so that a formula may be
written in full and still cost only what the robot's geometry makes it cost.

Vectors stand on the left of a product with a scalar (`Z * qd`): the scalar types do not know them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias, overload

import numpy as np

Scalar: TypeAlias = Any  # a float, a NumPy batch, a symbol
Nested: TypeAlias = Any  # a scalar, or lists and tuples of such
_PLAIN = (int, float)


def _value(x: Scalar) -> float | None:
    """The number itself if x is a plain Python number, else None."""
    return x if x.__class__ in _PLAIN else None


def is_zero(x: Scalar) -> bool:
    """Whether x is a structural zero: the plain number 0."""
    return x.__class__ in _PLAIN and bool(x == 0)


def add(x: Scalar, y: Scalar) -> Scalar:
    """x + y, where a plain 0 costs nothing."""
    if x.__class__ in _PLAIN and x == 0:
        return y
    if y.__class__ in _PLAIN and y == 0:
        return x
    return x + y


def sub(x: Scalar, y: Scalar) -> Scalar:
    """x - y, where a plain 0 costs nothing."""
    if y.__class__ in _PLAIN and y == 0:
        return x
    if x.__class__ in _PLAIN and x == 0:
        return -y
    return x - y


def mul(x: Scalar, y: Scalar) -> Scalar:
    """x * y, where a plain 0, 1 or -1 costs nothing."""
    if x.__class__ in _PLAIN:
        if x == 0:
            return 0
        if x == 1:
            return y
        if x == -1:
            return -y
    if y.__class__ in _PLAIN:
        if y == 0:
            return 0
        if y == 1:
            return x
        if y == -1:
            return -x
    return x * y


def double(x: Scalar, y: Scalar) -> Scalar:
    """2 x y, where the 2 is absorbed by a factor that is a plain number."""
    return mul(x, mul(2, y)) if y.__class__ in _PLAIN else mul(mul(2, x), y)


def total(*terms: Scalar) -> Scalar:
    """The sum of the terms, from left to right."""
    result: Scalar = 0
    for term in terms:
        result = add(result, term)
    return result


def elementary(name: str, x: Scalar) -> Scalar:
    """A function of one argument by its name: a symbol has it as a method, NumPy for all else."""
    method = getattr(x, name, None)
    return getattr(np, name)(x) if method is None else method()


def sin(x: Scalar) -> Scalar:
    """sin x for a float, a NumPy batch or a symbol."""
    return math.sin(x) if x.__class__ in _PLAIN else elementary("sin", x)


def cos(x: Scalar) -> Scalar:
    """cos x for a float, a NumPy batch or a symbol."""
    return math.cos(x) if x.__class__ in _PLAIN else elementary("cos", x)


def sign(x: Scalar) -> Scalar:
    """-1, 0 or 1."""
    return elementary("sign", x)


def tanh(x: Scalar) -> Scalar:
    """tanh x."""
    return elementary("tanh", x)


def magnitude(x: Scalar) -> Scalar:
    """|x|."""
    return elementary("fabs", x)


def clip(x: Scalar, most: Scalar) -> Scalar:
    """x, no further from 0 than `most`."""
    return mul(0.5, sub(magnitude(add(x, most)), magnitude(sub(x, most))))


def sqrt(x: Scalar) -> Scalar:
    """The square root of x."""
    return elementary("sqrt", x)


@dataclass(frozen=True, slots=True, eq=False)
class Vec3:
    """Three scalars: a vector in some frame's axes."""

    x: Scalar
    y: Scalar
    z: Scalar

    def __add__(self, o: Vec3) -> Vec3:
        return Vec3(add(self.x, o.x), add(self.y, o.y), add(self.z, o.z))

    def __sub__(self, o: Vec3) -> Vec3:
        return Vec3(sub(self.x, o.x), sub(self.y, o.y), sub(self.z, o.z))

    def __neg__(self) -> Vec3:
        return Vec3(-self.x, -self.y, -self.z)

    def __mul__(self, k: Scalar) -> Vec3:
        return Vec3(mul(self.x, k), mul(self.y, k), mul(self.z, k))

    def __iter__(self) -> Iterator[Scalar]:
        return iter((self.x, self.y, self.z))

    def dot(self, o: Vec3) -> Scalar:
        """self . o"""
        return total(mul(self.x, o.x), mul(self.y, o.y), mul(self.z, o.z))

    def cross(self, o: Vec3) -> Vec3:
        """self x o"""
        return Vec3(
            sub(mul(self.y, o.z), mul(self.z, o.y)),
            sub(mul(self.z, o.x), mul(self.x, o.z)),
            sub(mul(self.x, o.y), mul(self.y, o.x)),
        )

    def outer(self, o: Vec3) -> Mat3:
        """The matrix self o'."""
        return Mat3(o * self.x, o * self.y, o * self.z)


ZERO = Vec3(0, 0, 0)
X = Vec3(1, 0, 0)
Y = Vec3(0, 1, 0)
Z = Vec3(0, 0, 1)


@dataclass(frozen=True, slots=True, eq=False)
class Sym3:
    """A symmetric 3x3 tensor, in the order of the inertial parameters."""

    xx: Scalar
    xy: Scalar
    yy: Scalar
    xz: Scalar
    yz: Scalar
    zz: Scalar

    def __add__(self, o: Sym3) -> Sym3:
        return Sym3(*(add(a, b) for a, b in zip(self, o, strict=True)))

    def __sub__(self, o: Sym3) -> Sym3:
        return Sym3(*(sub(a, b) for a, b in zip(self, o, strict=True)))

    def __mul__(self, k: Scalar) -> Sym3:
        return Sym3(*(mul(a, k) for a in self))

    def __iter__(self) -> Iterator[Scalar]:
        return iter((self.xx, self.xy, self.yy, self.xz, self.yz, self.zz))

    def __matmul__(self, v: Vec3) -> Vec3:
        return Vec3(
            total(mul(self.xx, v.x), mul(self.xy, v.y), mul(self.xz, v.z)),
            total(mul(self.xy, v.x), mul(self.yy, v.y), mul(self.yz, v.z)),
            total(mul(self.xz, v.x), mul(self.yz, v.y), mul(self.zz, v.z)),
        )

    @property
    def third(self) -> Vec3:
        """The third column."""
        return Vec3(self.xz, self.yz, self.zz)

    @property
    def trace(self) -> Scalar:
        """xx + yy + zz"""
        return total(self.xx, self.yy, self.zz)

    def full(self) -> Mat3:
        """The same tensor as a general matrix."""
        return Mat3(
            Vec3(self.xx, self.xy, self.xz),
            Vec3(self.xy, self.yy, self.yz),
            Vec3(self.xz, self.yz, self.zz),
        )


SYM_ZERO = Sym3(0, 0, 0, 0, 0, 0)


@dataclass(frozen=True, slots=True, eq=False)
class Mat3:
    """A general 3x3 matrix by rows."""

    r1: Vec3
    r2: Vec3
    r3: Vec3

    def __add__(self, o: Mat3) -> Mat3:
        return Mat3(self.r1 + o.r1, self.r2 + o.r2, self.r3 + o.r3)

    def __sub__(self, o: Mat3) -> Mat3:
        return Mat3(self.r1 - o.r1, self.r2 - o.r2, self.r3 - o.r3)

    def __mul__(self, k: Scalar) -> Mat3:
        return Mat3(self.r1 * k, self.r2 * k, self.r3 * k)

    @overload
    def __matmul__(self, o: Vec3) -> Vec3: ...

    @overload
    def __matmul__(self, o: Sym3 | Mat3) -> Mat3: ...

    def __matmul__(self, o: Vec3 | Sym3 | Mat3) -> Vec3 | Mat3:
        if isinstance(o, Vec3):
            return Vec3(self.r1.dot(o), self.r2.dot(o), self.r3.dot(o))
        cols = (o.full() if isinstance(o, Sym3) else o).T
        return Mat3(cols @ self.r1, cols @ self.r2, cols @ self.r3)

    @property
    def T(self) -> Mat3:
        """The transposed matrix."""
        a, b, c = self.r1, self.r2, self.r3
        return Mat3(Vec3(a.x, b.x, c.x), Vec3(a.y, b.y, c.y), Vec3(a.z, b.z, c.z))

    @property
    def rows(self) -> tuple[Vec3, Vec3, Vec3]:
        """The three rows."""
        return self.r1, self.r2, self.r3

    def symmetric(self) -> Sym3:
        """The upper triangle, for a matrix that is symmetric by construction."""
        return Sym3(self.r1.x, self.r1.y, self.r2.y, self.r1.z, self.r2.z, self.r3.z)


IDENTITY = Mat3(X, Y, Z)


def skew(v: Vec3) -> Mat3:
    """[v x]: skew(v) @ u = v x u."""
    return Mat3(Vec3(0, -v.z, v.y), Vec3(v.z, 0, -v.x), Vec3(-v.y, v.x, 0))


def square_skew(v: Vec3) -> Sym3:
    """[v x][v x] = v v' - (v.v) E."""
    xx, yy, zz = mul(v.x, v.x), mul(v.y, v.y), mul(v.z, v.z)
    return Sym3(
        -add(yy, zz), mul(v.x, v.y), -add(xx, zz), mul(v.x, v.z), mul(v.y, v.z), -add(xx, yy)
    )


def pair(a: Vec3, b: Vec3) -> Sym3:
    """-[a x][b x] - [b x][a x]; a, whose entries are doubled, is best the constant one."""
    xx, yy, zz = (mul(mul(2, p), q) for p, q in zip(a, b, strict=True))
    return Sym3(
        add(yy, zz),
        -add(mul(a.x, b.y), mul(a.y, b.x)),
        add(xx, zz),
        -add(mul(a.x, b.z), mul(a.z, b.x)),
        -add(mul(a.y, b.z), mul(a.z, b.y)),
        add(xx, yy),
    )


@dataclass(frozen=True, slots=True, eq=False)
class Turn:
    """A rotation by one angle about one coordinate axis, `frame` inside `parent`: v_parent = fall(v_frame)."""

    axis: str
    c: Scalar
    s: Scalar

    def fall(self, v: Vec3) -> Vec3:
        """Components in the parent, from components in the frame (4 mul 2 add)."""
        c, s = self.c, self.s
        if self.axis == "z":
            return Vec3(sub(mul(c, v.x), mul(s, v.y)), add(mul(s, v.x), mul(c, v.y)), v.z)
        if self.axis == "x":
            return Vec3(v.x, sub(mul(c, v.y), mul(s, v.z)), add(mul(s, v.y), mul(c, v.z)))
        return Vec3(add(mul(c, v.x), mul(s, v.z)), v.y, sub(mul(c, v.z), mul(s, v.x)))

    def rise(self, v: Vec3) -> Vec3:
        """Components in the frame, from components in the parent (4 mul 2 add)."""
        c, s = self.c, self.s
        if self.axis == "z":
            x, across = add(mul(c, v.x), mul(s, v.y)), mul(s, v.x)
            return Vec3(x, sub(mul(c, v.y), across), v.z)
        if self.axis == "x":
            y, across = add(mul(c, v.y), mul(s, v.z)), mul(s, v.y)
            return Vec3(v.x, y, sub(mul(c, v.z), across))
        return Vec3(sub(mul(c, v.x), mul(s, v.z)), v.y, add(mul(c, v.z), mul(s, v.x)))

    def fall_sym(self, J: Sym3) -> Sym3:
        """R J R' for a tensor given in the frame (8 mul 7 add; 2 cos is one more where it is not a number).

        Turns by whole quarters move and negate the entries and cost nothing.
        """
        c, s = self.c, self.s
        if 0 in (_value(c), _value(s)) and _value(c) in (0, 1, -1) and _value(s) in (0, 1, -1):
            return self._quarter_sym(J)
        if self.axis == "z":
            t = add(mul(s, sub(J.xx, J.yy)), double(c, J.xy))
            st = mul(s, t)
            xz, yz = sub(mul(c, J.xz), mul(s, J.yz)), add(mul(s, J.xz), mul(c, J.yz))
            return Sym3(sub(J.xx, st), sub(mul(c, t), J.xy), add(J.yy, st), xz, yz, J.zz)
        if self.axis == "x":
            t = add(mul(s, sub(J.yy, J.zz)), double(c, J.yz))
            st = mul(s, t)
            xy, xz = sub(mul(c, J.xy), mul(s, J.xz)), add(mul(s, J.xy), mul(c, J.xz))
            return Sym3(J.xx, xy, sub(J.yy, st), xz, sub(mul(c, t), J.yz), add(J.zz, st))
        t = add(mul(s, sub(J.zz, J.xx)), double(c, J.xz))
        st = mul(s, t)
        yz, xy = sub(mul(c, J.yz), mul(s, J.xy)), add(mul(s, J.yz), mul(c, J.xy))
        return Sym3(add(J.xx, st), xy, J.yy, sub(mul(c, t), J.xz), yz, sub(J.zz, st))

    def _quarter_sym(self, J: Sym3) -> Sym3:
        """R J R' for c, s = +-1, 0 or 0, +-1: two entries change places, products off the axis their sign."""
        c, s = self.c, self.s
        swaps = c == 0
        if self.axis == "z":
            xz, yz = sub(mul(c, J.xz), mul(s, J.yz)), add(mul(s, J.xz), mul(c, J.yz))
            xx, xy, yy = (J.yy, -J.xy, J.xx) if swaps else (J.xx, J.xy, J.yy)
            return Sym3(xx, xy, yy, xz, yz, J.zz)
        if self.axis == "x":
            xy, xz = sub(mul(c, J.xy), mul(s, J.xz)), add(mul(s, J.xy), mul(c, J.xz))
            yy, yz, zz = (J.zz, -J.yz, J.yy) if swaps else (J.yy, J.yz, J.zz)
            return Sym3(J.xx, xy, yy, xz, yz, zz)
        yz, xy = sub(mul(c, J.yz), mul(s, J.xy)), add(mul(s, J.yz), mul(c, J.xy))
        xx, xz, zz = (J.zz, -J.xz, J.xx) if swaps else (J.xx, J.xz, J.zz)
        return Sym3(xx, xy, J.yy, xz, yz, zz)

    def rise_sym(self, J: Sym3) -> Sym3:
        """R' J R for a tensor given in the parent."""
        return Turn(self.axis, self.c, -self.s).fall_sym(J)

    @property
    def matrix(self) -> Mat3:
        """R, whose columns are the frame's axes in the parent."""
        return Mat3(self.fall(X), self.fall(Y), self.fall(Z)).T
