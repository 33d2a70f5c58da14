"""What the papers see of a robot: a chain of limbs over abstract scalars, and its pose. A chain may branch.

Frame i is fixed to link i with z on the axis of joint i (modified Denavit-Hartenberg). The step from frame i-1
to frame i is Tx(a) Rx(alpha) Ry(beta) Tz(d) Rz(theta), where beta is zero but for nearly parallel axes (Hayati's
extra rotation); the joint variable adds to theta (rotational) or to d (translational).

Frame 0 coincides with frame 1 in the zero pose: whatever constant displacement the first joint has belongs to
the base. The first step is therefore a pure Rz(q1) or Tz(q1).

A tree is a chain whose joints have parents: the step is from the parent's frame, with Rz(gamma) Tz(b) before it at
a branch. Where several joints hang on the base, or the base moves freely (`root`), frame 0 is the base's own.
The papers' files speak of chains without branches (`serial`); recursions that extend to trees ask for `parent_of`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ...algebra.vectors import Mat3, Scalar, Sym3, Turn, Vec3, add, cos, is_zero, mul, sin, sub
from ..arm import Arm
from ..joint import Joint

_QUARTER = math.pi / 2
ULPS = 8 * 2.0**-52  # of their scale: constants so close to 0 or +-1 are meant to be exact


@dataclass(frozen=True, slots=True, eq=False)
class Limb:
    """One joint and the link that it moves; inertial parameters about the origin of the link's frame, in its axes."""

    revolute: bool
    a: Scalar
    d: Scalar
    theta: Scalar
    ca: Scalar
    sa: Scalar
    cb: Scalar
    sb: Scalar
    m: Scalar
    h: Vec3
    J: Sym3
    cg: Scalar = 1
    sg: Scalar = 0
    b: Scalar = 0


@dataclass(frozen=True, slots=True, eq=False)
class Root:
    """The link of a base that moves freely: its inertial parameters about its own frame."""

    m: Scalar
    h: Vec3
    J: Sym3


@dataclass(frozen=True, slots=True, eq=False)
class Chain:
    """Limbs from the base to the tips, and the gravitational acceleration in frame 0.

    parents: of each joint, -1 for the base; None where each hangs on the one before it. root: the link of a free base.
    loads: the links as `dynamics/own/gathered_links` would make them, where only these are known.
    """

    joints: tuple[Limb, ...]
    gravity: Vec3
    parents: tuple[int, ...] | None = None
    root: Root | None = None
    loads: Scalar = None

    @property
    def n(self) -> int:
        return len(self.joints)

    @property
    def nv(self) -> int:
        """Number of speeds: six more than joints on a free base."""
        return len(self.joints) + (6 if self.root is not None else 0)

    @property
    def serial(self) -> bool:
        """Whether this is a chain on a fixed base."""
        return self.parents is None and self.root is None

    def parent_of(self, i: int) -> int:
        """The joint that joint i hangs on, -1 for the base."""
        return i - 1 if self.parents is None else self.parents[i]

    def ancestors(self, i: int) -> Iterator[int]:
        """The joints between joint i and the base, from i inwards, without i."""
        i = self.parent_of(i)
        while i >= 0:
            yield i
            i = self.parent_of(i)


@dataclass(frozen=True, slots=True, eq=False)
class Slant:
    """Rx(alpha) Rz(theta), alpha no whole quarter turn: one multiplication a vector less than by two plane rotations.

    p, r are cos theta and sin theta times the larger of cos alpha and sin alpha, formed once for all vectors; the ratio
    of the smaller to the larger, a constant, gives the rest.
    """

    c: Scalar
    s: Scalar
    ca: float
    sa: float
    p: Scalar
    r: Scalar

    @classmethod
    def of(cls, about_x: Turn, about_z: Turn) -> Slant | None:
        """None where alpha is not a plain number, or a whole quarter turn."""
        ca, sa, c, s = about_x.c, about_x.s, about_z.c, about_z.s
        if any(x.__class__ not in (int, float) or x in (0, 1, -1) for x in (ca, sa)):
            return None
        large = ca if abs(ca) >= abs(sa) else sa
        return cls(c, s, ca, sa, mul(large, c), mul(large, s))

    def fall(self, v: Vec3) -> Vec3:
        """Components in the parent (7 mul 4 add)."""
        ca, sa = self.ca, self.sa
        x = sub(mul(self.c, v.x), mul(self.s, v.y))
        u = add(mul(self.r, v.x), mul(self.p, v.y))
        if abs(ca) >= abs(sa):
            return Vec3(x, sub(u, mul(sa, v.z)), add(mul(sa / ca, u), mul(ca, v.z)))
        return Vec3(x, sub(mul(ca / sa, u), mul(sa, v.z)), add(u, mul(ca, v.z)))

    def rise(self, v: Vec3) -> Vec3:
        """Components in the frame (7 mul 4 add)."""
        ca, sa = self.ca, self.sa
        u = add(v.y, mul(sa / ca, v.z)) if abs(ca) >= abs(sa) else add(mul(ca / sa, v.y), v.z)
        x, y = add(mul(self.c, v.x), mul(self.r, u)), sub(mul(self.p, u), mul(self.s, v.x))
        return Vec3(x, y, sub(mul(ca, v.z), mul(sa, v.y)))


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """Where frame i stands in frame i-1 (in its parent's): plane rotations and the displacement s."""

    # outwards: (about z by gamma,) about x by alpha, (y by beta,) z by theta
    turns: tuple[Turn, ...]
    a: Scalar
    d: Scalar
    s: Vec3  # from origin i-1 to origin i, in the axes of frame i-1
    slant: Slant | None = None  # both rotations at once, where that is possible
    branch: Vec3 | None = None  # a x + b z turned by gamma, at a branch

    @property
    def across(self) -> Vec3:
        """The part of s that is not along the joint's own axis by d: constants."""
        return Vec3(self.a, 0, 0) if self.branch is None else self.branch

    def fall(self, v: Vec3) -> Vec3:
        """Components in frame i-1 of a vector given in frame i (8 mul 4 add)."""
        for turn in reversed(self.turns):
            v = turn.fall(v)
        return v

    def rise(self, v: Vec3) -> Vec3:
        """Components in frame i of a vector given in frame i-1 (8 mul 4 add)."""
        for turn in self.turns:
            v = turn.rise(v)
        return v

    @property
    def whole(self) -> Slant | Step:
        """What maps vectors between the frames at least cost if there are three or more; its products are its own."""
        return self if self.slant is None else self.slant

    def fall_sym(self, J: Sym3) -> Sym3:
        """R J R' of a symmetric tensor given in frame i."""
        for turn in reversed(self.turns):
            J = turn.fall_sym(J)
        return J

    def rise_sym(self, J: Sym3) -> Sym3:
        """R' J R of a symmetric tensor given in frame i-1."""
        for turn in self.turns:
            J = turn.rise_sym(J)
        return J

    @property
    def s_up(self) -> Vec3:
        """The same displacement s in the axes of frame i: Rz(-theta) [a 0 d] where beta is 0."""
        if len(self.turns) > 2 or self.branch is not None:
            return self.rise(self.s)
        return self.turns[-1].rise(Vec3(self.a, 0, self.d))

    @property
    def z(self) -> Vec3:
        """The axis of joint i in frame i-1: constants."""
        v = Vec3(0, 0, 1)
        for turn in reversed(self.turns[:-1]):
            v = turn.fall(v)
        return v

    @property
    def R(self) -> Mat3:
        """The rotation matrix, formed (its products count)."""
        fall = self.fall
        return Mat3(fall(Vec3(1, 0, 0)), fall(Vec3(0, 1, 0)), fall(Vec3(0, 0, 1))).T


def tidy(x: float, scale: float = 1.0) -> Scalar:
    """x, or the exact 0 or +-scale from which rounding alone separates it."""
    if abs(x) <= ULPS * scale:
        return 0
    if scale == 1.0 and abs(abs(x) - 1) <= ULPS:
        return 1 if x > 0 else -1
    return x


def _plain(x: Scalar) -> bool:
    return x.__class__ in (int, float)


def difference(x: Scalar, y: Scalar) -> Scalar:
    """x - y, or an exact 0 where rounding alone separates two constants."""
    if isinstance(x, (int, float)) and isinstance(y, (int, float)):
        return tidy(x - y, max(abs(x), abs(y)))
    return sub(x, y)


def pose(chain: Chain, q: Sequence[Scalar]) -> tuple[Step, ...]:
    """The steps of the chain at joint positions q, one scalar a joint."""
    return tuple(_step(body, value) for body, value in zip(chain.joints, q, strict=True))


def _step(body: Limb, q: Scalar) -> Step:
    if body.revolute:
        c, s = _cos_sin(q, body.theta)
        d = body.d
    else:
        c, s = (tidy(x) if _plain(x) else x for x in (cos(body.theta), sin(body.theta)))
        d = add(body.d, q)
    about_x, about_z = Turn("x", body.ca, body.sa), Turn("z", c, s)
    if body.sb == 0:
        turns: tuple[Turn, ...] = (about_x, about_z)
        along = Vec3(0, -mul(body.sa, d), mul(body.ca, d))
    else:
        about_y = Turn("y", body.cb, body.sb)
        turns = (about_x, about_y, about_z)
        along = about_x.fall(about_y.fall(Vec3(0, 0, d)))
    slant = Slant.of(*turns) if len(turns) == 2 else None
    if is_zero(body.sg) and body.cg == 1 and is_zero(body.b):
        return Step(turns, body.a, d, Vec3(add(body.a, along.x), along.y, along.z), slant)
    return _branch(body, turns, d, along, slant)


def _branch(
    body: Limb, turns: tuple[Turn, ...], d: Scalar, along: Vec3, slant: Slant | None
) -> Step:
    """A step with Rz(gamma) Tz(b) before it."""
    about = Turn("z", body.cg, body.sg)
    across = about.fall(Vec3(body.a, 0, body.b))
    if is_zero(body.sg) and body.cg == 1:
        return Step(turns, body.a, d, across + along, slant, across)
    return Step((about, *turns), body.a, d, across + about.fall(along), None, across)


def quarters(theta: float) -> int | None:
    """How many quarter turns an angle is but for rounding; None: it is something else."""
    turns = theta / _QUARTER
    return round(turns) if abs(turns - round(turns)) <= ULPS * max(1.0, abs(turns)) else None


def _cos_sin(q: Scalar, theta: Scalar) -> tuple[Scalar, Scalar]:
    """cos and sin of q + theta; offsets by quarter turns are exact and free."""
    turns = quarters(theta) if _plain(theta) else None
    if turns is not None:
        c, s = cos(q), sin(q)
        return ((c, s), (-s, c), (-c, -s), (s, -c))[turns % 4]
    return cos(q + theta), sin(q + theta)


def chain_of(arm: Arm, gravity: Vec3 | None = None) -> Chain:
    """The chain of an arm with its numbers; `gravity` replaces the arm's own, in the axes of the user's base link."""
    root = arm.frame0
    g = gravity if gravity is not None else Vec3(*(float(x) for x in arm.gravity))
    rotation = [[tidy(float(root[r, c])) for c in range(3)] for r in range(3)]
    columns = [Vec3(*(rotation[r][c] for r in range(3))) for c in range(3)]
    scale = max(abs(x) for x in arm.gravity) if gravity is None else 0.0
    local = [column.dot(g) for column in columns]
    if gravity is None:
        local = [tidy(float(x), scale) for x in local]
    alone = arm.floating is None and arm.parents.count(-1) == 1  # the first step belongs to frame 0
    rows = arm.parameters[len(arm.parameters) - arm.n :].tolist()
    limbs = [
        _limb(joint, ten, arm.size, first=alone and i == 0)
        for i, (joint, ten) in enumerate(zip(arm.joints, rows, strict=True))
    ]
    return Chain(
        tuple(limbs),
        Vec3(*local),
        None if arm.plain else arm.parents,
        None if arm.floating is None else Root(*_moments(arm.parameters[0].tolist())),
    )


def _limb(joint: Joint, ten: Sequence[float], size: float, first: bool) -> Limb:
    a, alpha, beta, d, theta, gamma, b = (
        (0.0,) * 7
        if first
        else (joint.a, joint.alpha, joint.beta, joint.d, joint.theta, joint.gamma, joint.b)
    )
    ca, sa, cb, sb, cg, sg = (
        tidy(f(x)) for x in (alpha, beta, gamma) for f in (math.cos, math.sin)
    )
    m, h, J = _moments(ten)
    return Limb(
        revolute=joint.revolute,
        a=tidy(a, size),
        d=tidy(d, size),
        theta=theta,
        ca=ca,
        sa=sa,
        cb=cb,
        sb=sb,
        m=m,
        h=h,
        J=J,
        cg=cg,
        sg=sg,
        b=tidy(b, size),
    )


def _moments(ten: Sequence[float]) -> tuple[float, Vec3, Sym3]:
    m, hx, hy, hz, *J = ten
    return m, Vec3(hx, hy, hz), Sym3(*J)


def slid(chain: Chain, steps: Sequence[Step]) -> tuple[Chain, tuple[Step, ...], Scalar]:
    """The same robot with fewer displacements along the axes: chain, steps, and how far origin n was moved back.

    The origin of a rotational joint may stand anywhere on its axis where the next axis is parallel, and on the last
    axis. There it is moved back to d = 0; the next step takes the displacement over. Joint forces do not change.
    """
    joints, moved = list(chain.joints), list(steps)
    left: Scalar = 0
    for i in range(1, chain.n):
        body, step = joints[i], moved[i]
        last = i == chain.n - 1
        parallel = last or (is_zero(joints[i + 1].sa) and is_zero(joints[i + 1].sb))
        if not (body.revolute and parallel) or is_zero(step.d):
            continue
        joints[i], moved[i] = _lifted(body, step.d), _along(step, 0)
        if last:
            left = step.d
        else:
            outer = moved[i + 1]
            moved[i + 1] = _along(outer, add(outer.d, mul(joints[i + 1].ca, step.d)))
    return replace(chain, joints=tuple(joints)), tuple(moved), left


def _lifted(body: Limb, d: Scalar) -> Limb:
    """The body about an origin that stands d further back on the z axis."""
    m, h, J = body.m, body.h, body.J
    across = mul(d, add(mul(2, h.z), mul(m, d)))
    tensor = Sym3(
        add(J.xx, across),
        J.xy,
        add(J.yy, across),
        sub(J.xz, mul(d, h.x)),
        sub(J.yz, mul(d, h.y)),
        J.zz,
    )
    return replace(body, d=0, h=Vec3(h.x, h.y, add(h.z, mul(m, d))), J=tensor)


def _along(step: Step, d: Scalar) -> Step:
    """The same step with another displacement along its axis."""
    z = step.z
    return replace(step, d=d, s=Vec3(add(step.a, mul(z.x, d)), mul(z.y, d), mul(z.z, d)))
