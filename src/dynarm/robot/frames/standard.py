"""A chain in standard (distal) Denavit-Hartenberg frames, for the papers that use them.

Standard frame i is fixed to link i with z on the axis of joint i+1: it is the chain's own frame i followed by the
constant part Tx(a) Rx(alpha) Ry(beta) of step i+1. The step from standard frame i-1 to standard frame i is therefore
Rz(theta_i) Tz(d_i) Tx(a_{i+1}) Rx(alpha_{i+1}) Ry(beta_{i+1}); standard frames 0 and n are the chain's own.
Everything about a link is constant in either frame, so that this conversion costs no operation at run time.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ...algebra.vectors import Mat3, Scalar, Sym3, Turn, Vec3, add, mul, sub
from .chain import Chain, Limb, Step, tidy


@dataclass(frozen=True, slots=True, eq=False)
class Link:
    """One joint and its link: mass, centre of mass from the standard frame's origin, inertia about that centre."""

    revolute: bool
    m: Scalar
    rbar: Vec3
    I: Sym3  # in the axes of the standard frame

    @property
    def h(self) -> Vec3:
        """First moment of mass about the frame's origin: m rbar."""
        moment: Vec3 = self.rbar * self.m
        return moment

    @property
    def K(self) -> Sym3:
        """Second moment of mass about the centre of mass, the integral of d d' dm: tr(I)/2 E - I."""
        xx, xy, yy, xz, yz, zz = self.I
        half = [
            mul(0.5, sub(add(y, z), x)) for x, y, z in ((xx, yy, zz), (yy, zz, xx), (zz, xx, yy))
        ]
        return Sym3(half[0], -xy, half[1], -xz, -yz, half[2])

    @property
    def J(self) -> Sym3:
        """Second moment of mass about the frame's origin: K + m rbar rbar'."""
        return self.K + self.h.outer(self.rbar).symmetric()


@dataclass(frozen=True, slots=True, eq=False)
class StandardStep:
    """Where standard frame i stands in standard frame i-1: a turn about z, a displacement, constant turns."""

    turn: Turn
    tilt: tuple[Turn, ...]
    lever: Vec3  # [a 0 d], from origin i-1 to origin i, in the axes between turn and tilt

    def rise(self, v: Vec3) -> Vec3:
        """Components in frame i of a vector given in frame i-1 (8 mul 4 add)."""
        return tilted(self.turn.rise(v), self.tilt)

    def fall(self, v: Vec3) -> Vec3:
        """Components in frame i-1 of a vector given in frame i (8 mul 4 add)."""
        return self.turn.fall(untilted(v, self.tilt))

    @property
    def r(self) -> Vec3:
        """From origin i-1 to origin i in the axes of frame i: constants if the joint is rotational."""
        return tilted(self.lever, self.tilt)

    def after(self, R: Mat3, p: Vec3) -> tuple[Mat3, Vec3]:
        """Rotation and origin of frame i in a frame that sees frame i-1 at R, p (30 mul 18 add)."""
        rows = [self.turn.rise(row) for row in R.rows]
        along = Vec3(*(row.dot(self.lever) for row in rows))
        return Mat3(*(tilted(row, self.tilt) for row in rows)), p + along

    def lower(self, f: Vec3, n: Vec3) -> tuple[Vec3, Vec3]:
        """A force and its moment about origin i, given in frame i, with the moment about origin i-1, in frame i-1."""
        f, n = untilted(f, self.tilt), untilted(n, self.tilt)
        return self.turn.fall(f), self.turn.fall(n + self.lever.cross(f))


def tilted(v: Vec3, tilt: Sequence[Turn]) -> Vec3:
    """Components in the frame that constant turns lead to."""
    for turn in tilt:
        v = turn.rise(v)
    return v


def untilted(v: Vec3, tilt: Sequence[Turn]) -> Vec3:
    """Components in the frame before constant turns."""
    for turn in reversed(tilt):
        v = turn.fall(v)
    return v


def links(arm: Chain) -> tuple[Link, ...]:
    """The links of a chain, their constants in standard frames."""
    return tuple(_link(body, *_tilt(after)) for body, after in _neighbours(arm))


def steps(arm: Chain, pose: Sequence[Step]) -> tuple[StandardStep, ...]:
    """The steps between standard frames in a pose of the chain."""
    standard = []
    for step, (_, after) in zip(pose, _neighbours(arm), strict=True):
        tilt, a = _tilt(after)
        standard.append(StandardStep(step.turns[-1], tilt, Vec3(a, 0, step.d)))
    return tuple(standard)


def without_centre(arm: Chain) -> str | None:
    """Why a chain has no centres of mass to write its dynamics with, or None."""
    for i, body in enumerate(arm.joints, start=1):
        if _plain(body.m) and body.m == 0 and any(not (_plain(x) and x == 0) for x in body.h):
            return f"link {i} has first moments but no mass, hence no centre of mass"
    return None


def _neighbours(arm: Chain) -> Iterable[tuple[Limb, Limb | None]]:
    return zip(arm.joints, (*arm.joints[1:], None), strict=True)


def _tilt(after: Limb | None) -> tuple[tuple[Turn, ...], Scalar]:
    """The constant turns and the offset a that lead from a chain's own frame to its standard frame."""
    if after is None:
        return (), 0
    turns = [Turn("x", after.ca, after.sa), Turn("y", after.cb, after.sb)]
    return tuple(
        turn for turn in turns if not (_plain(turn.s) and turn.s == 0 and turn.c == 1)
    ), after.a


def _link(body: Limb, tilt: tuple[Turn, ...], a: Scalar) -> Link:
    if _plain(body.m) and body.m == 0:
        c, inertia = Vec3(0, 0, 0), body.J
        rbar = c
    else:
        c = body.h * (1 / body.m)
        inertia = body.J - _parallel_axis(body.h, c)
        rbar = _tidy_vector(tilted(c - Vec3(a, 0, 0), tilt), (*c, a))
    for turn in tilt:
        inertia = turn.rise_sym(inertia)
    return Link(body.revolute, body.m, rbar, _tidy_tensor(inertia, body.J))


def _parallel_axis(h: Vec3, c: Vec3) -> Sym3:
    """m (c.c E - c c'), what the distance of the centre of mass adds to an inertia."""
    square = h.dot(c)
    around = h.outer(c).symmetric()
    return Sym3(square, 0, square, 0, 0, square) - around


def _plain(x: Scalar) -> bool:
    return x.__class__ in (int, float)


def _tidy_vector(v: Vec3, of: Iterable[Scalar]) -> Vec3:
    """v with components that only rounding keeps from zero made zero; `of` are the numbers that it was made from."""
    values = [*v, *of]
    if not all(map(_plain, values)):
        return v
    return Vec3(*(_cleared(x, max(map(abs, values))) for x in v))


def _tidy_tensor(tensor: Sym3, of: Sym3) -> Sym3:
    values = [*tensor, *of]
    if not all(map(_plain, values)):
        return tensor
    return Sym3(*(_cleared(x, max(map(abs, values))) for x in tensor))


def _cleared(x: float, scale: float) -> Scalar:
    return x if scale == 0 or tidy(x / scale) != 0 else 0
