"""Derivatives of the joint forces by q, qd and qdd, by composite bodies: no automatic differentiation, and far fewer
operations than it takes.

What joint j does to the links beyond it, as seen from frame j, is a small change of that frame's motion: of its angular
velocity w, its angular acceleration wd and the acceleration a of its origin. With the change of wd counted as
dwd* = dwd + w x dw, the three travel outwards like a motion itself,

    dw_i = R' dw        dwd*_i = R' dwd*        da_i = R' (da + dwd* x s + dw x 2 ds/dt)

with s the displacement of origin i, ds/dt its velocity; and the wrench on composite body i answers linearly,

    df = m da + dwd* x h + dw x p                    p = 2 sum m r'        twice the momentum about origin i
    dn = h x da + J dwd* + (tr E - E') dw            E = 2 sum m r r''     its first moments, r' the velocity of r

The changes by joint j itself are the columns of Omega = [wd x] + [w x][w x] and of w (z is its axis):

                   rotational                               translational
    by q      dw = w x z,  dwd* = Omega z,  da = a x z       da = Omega z
    by qd     dw = z,      dwd* = 2 w x z                    da = 2 w x z
    by qdd                 dwd* = z                          da = z

The force of joint i >= j is a row (the answer of n_z or f_z) that is carried inwards to joint j; that of joint i < j
is the answer of composite body j, with the change of the direction of its own wrench, carried inwards to joint i. The
rows give the mass matrix on the way.

Links are first gathered: mass on the axis of a rotational joint belongs to the link before it, as does the second
moment of a link behind a translational joint. All joint forces stay the same, and most parameters become 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...algebra.vectors import (
    ZERO,
    Mat3,
    Scalar,
    Sym3,
    Turn,
    Vec3,
    X,
    Z,
    add,
    mul,
    sub,
    total,
)
from ...robot.frames.chain import Chain, Limb, Step, slid
from ..papers.angular_motion_lin1995 import STILL, Spin, carried, turned
from ..papers.minimal_newton_euler_lin1995 import spread_moment
from .gathered_links import Mass, gathered

Rows = list[list[Scalar]]


@dataclass(frozen=True, slots=True, eq=False)
class Link:
    """The motion of link i: of its frame, of its origin, and twice the velocities of the two parts of s."""

    spin: Spin
    a: Vec3
    along: Vec3  # of d z, in frame i
    across: Vec3  # of b x, in frame i-1


@dataclass(frozen=True, slots=True, eq=False)
class Load:
    """Composite body i: its mass and moments, p, E, and the wrench that moves it."""

    mass: Mass
    p: Vec3
    E: Mat3
    f: Vec3
    n: Vec3

    def answer(self, change: Change) -> tuple[Vec3, Vec3]:
        """df and dn."""
        h, dw, dwd, da = self.mass.h, change.w, change.wd, change.a
        force = da * self.mass.m + dwd.cross(h) + dw.cross(self.p)
        return force, h.cross(da) + _inertia(self.mass.Q) @ dwd + _moments(self.E) @ dw


@dataclass(frozen=True, slots=True, eq=False)
class Change:
    """A change dw, dwd*, da of a frame's motion; or a row of what a force answers to each of them."""

    w: Vec3
    wd: Vec3
    a: Vec3

    def dot(self, o: Change) -> Scalar:
        return total(self.w.dot(o.w), self.wd.dot(o.wd), self.a.dot(o.a))


def _inertia(Q: Sym3) -> Sym3:
    """tr Q - Q."""
    return Sym3(add(Q.yy, Q.zz), -Q.xy, add(Q.xx, Q.zz), -Q.xz, -Q.yz, add(Q.xx, Q.yy))


def _moments(E: Mat3) -> Mat3:
    """tr E - E'."""
    a, b, c = E.rows
    return Mat3(
        Vec3(add(b.y, c.z), -b.x, -c.x),
        Vec3(-a.y, add(a.x, c.z), -c.y),
        Vec3(-a.z, -b.z, add(a.x, b.y)),
    )


def derivatives(
    arm: Chain, pose: Sequence[Step], qd: Sequence[Scalar], qdd: Sequence[Scalar]
) -> tuple[Rows, Rows, Rows]:
    """d tau / d q, d tau / d qd and the mass matrix, n rows of n each [N m or N by rad or m, and by their rates]."""
    return _differentiated(arm, pose, qd, qdd, 2)


def coriolis_matrix(arm: Chain, pose: Sequence[Step], qd: Sequence[Scalar]) -> Rows:
    """Half of d bias / d qd [N m s or N s]: what stands in d tau / d qd is twice a velocity everywhere."""
    return _differentiated(arm, pose, qd, [0] * arm.n, 1)[1]


def mass_matrix(arm: Chain, pose: Sequence[Step]) -> Rows:
    """The mass matrix, by the operations that `derivatives` has in common with it."""
    still = [0] * arm.n
    return _differentiated(arm, pose, still, still, 2)[2]


def _differentiated(
    arm: Chain,
    pose: Sequence[Step],
    qd: Sequence[Scalar],
    qdd: Sequence[Scalar],
    twice: int,
) -> tuple[Rows, Rows, Rows]:
    """d tau / d q, d tau / d qd times twice/2, and the mass matrix."""
    arm, pose, _ = slid(arm, pose)
    links = _outwards(arm, pose, qd, qdd, twice)
    loads = _inwards(pose, gathered(arm, pose)[0], links, twice)
    n = arm.n
    dq, dqd, M = ([[0] * n for _ in range(n)] for _ in range(3))
    changes = [_changes(b, l, twice) for b, l in zip(arm.joints, links, strict=True)]
    by_q, by_qd = zip(*changes, strict=True)
    for i in range(n):
        row = _row(arm.joints[i], loads[i])
        for j in range(i, -1, -1):
            dq[i][j], dqd[i][j] = row.dot(by_q[j]), row.dot(by_qd[j])
            M[i][j] = M[j][i] = row.wd.z if arm.joints[j].revolute else row.a.z
            if j:
                row = _row_inwards(pose[j], links[j], row)
    for j in range(1, n):
        _carry(arm, pose, j, _turned_wrench(arm.joints[j], loads[j], by_q[j]), dq)
        _carry(arm, pose, j, loads[j].answer(by_qd[j]), dqd)
    return dq, dqd, M


def _outwards(
    arm: Chain,
    pose: Sequence[Step],
    qd: Sequence[Scalar],
    qdd: Sequence[Scalar],
    twice: int,
) -> list[Link]:
    """The motion of the links, from the base on."""
    found = []
    spin, a = STILL, -arm.gravity
    for body, step, v, acc in zip(arm.joints, pose, qd, qdd, strict=True):
        across = (spin.w * mul(twice, step.a)).cross(X)
        star = step.whole.rise(a + spin.x * step.a)
        if body.revolute:
            spin = turned(step, spin, v, acc)
            a = star + spin.z * step.d
            along = (spin.w * mul(twice, step.d)).cross(Z)
        else:
            spin = carried(step, spin)
            a = star + (spin.w * mul(2, v)).cross(Z) + Z * acc + spin.z * step.d
            along = (spin.w * mul(twice, step.d)).cross(Z) + Z * mul(twice, v)
        found.append(Link(spin, a, along, across))
    return found


def _inwards(
    pose: Sequence[Step], masses: Sequence[Mass], links: Sequence[Link], twice: int
) -> list[Load]:
    """The composite bodies, from the tip on."""
    found: list[Load] = []
    for i in range(len(pose) - 1, -1, -1):
        load = _alone(masses[i], links[i], twice)
        if found:
            outer = _load_inwards(pose[i + 1], links[i + 1], found[-1])
            mass = load.mass + outer.mass
            load = Load(
                mass, load.p + outer.p, load.E + outer.E, load.f + outer.f, load.n + outer.n
            )
        found.append(load)
    return found[::-1]


def _alone(mass: Mass, link: Link, twice: int) -> Load:
    """One link by itself."""
    spin, a, h = link.spin, link.a, mass.h
    f = a * mass.m + spin @ h
    n = h.cross(a) + spread_moment(mass.Q, spin)
    doubled = (mass.Q * twice).full()
    E = Mat3(*(spin.w.cross(row) for row in doubled.rows))
    return Load(mass, spin.w.cross(h * twice), E, f, n)


def _load_inwards(step: Step, link: Link, load: Load) -> Load:
    """Composite body i about origin i-1, in frame i-1."""
    load = _load_shifted(load, Z * step.d, link.along)
    mass = load.mass.fall(step)
    load = Load(
        mass, step.fall(load.p), _fallen(step, load.E), step.fall(load.f), step.fall(load.n)
    )
    return _load_shifted(load, X * step.a, link.across)


def _load_shifted(load: Load, s: Vec3, rate: Vec3) -> Load:
    """A composite body about an origin that stands s further back, with twice the velocity of s."""
    mass = load.mass.shifted(s)
    p = load.p + rate * load.mass.m
    E = load.E + s.outer(p) + load.mass.h.outer(rate)
    return Load(mass, p, E, load.f, load.n + s.cross(load.f))


def _fallen(step: Step, E: Mat3) -> Mat3:
    """R E R'."""
    for turn in reversed(step.turns):
        E = _turned(turn, E)
    return E


def _turned(turn: Turn, E: Mat3) -> Mat3:
    """R E R' for one rotation (14 mul 12 add); by whole quarters entries are moved, which costs nothing."""
    c, s = turn.c, turn.s
    if c.__class__ in (int, float) and c == 0:
        return turn.matrix @ E @ turn.matrix.T
    i, j, k = {"x": (1, 2, 0), "y": (2, 0, 1), "z": (0, 1, 2)}[turn.axis]
    e = [list(row) for row in E.rows]
    p, q = sub(e[i][i], e[j][j]), add(e[i][j], e[j][i])
    u, v = add(mul(s, p), mul(c, q)), sub(mul(c, p), mul(s, q))
    su, sv = mul(s, u), mul(s, v)
    found = [row[:] for row in e]
    found[i][i], found[j][j] = sub(e[i][i], su), add(e[j][j], su)
    found[i][j], found[j][i] = add(e[i][j], sv), add(e[j][i], sv)
    found[i][k], found[j][k] = _plane(c, s, e[i][k], e[j][k])
    found[k][i], found[k][j] = _plane(c, s, e[k][i], e[k][j])
    return Mat3(*(Vec3(*row) for row in found))


def _plane(c: Scalar, s: Scalar, x: Scalar, y: Scalar) -> tuple[Scalar, Scalar]:
    return sub(mul(c, x), mul(s, y)), add(mul(s, x), mul(c, y))


def _changes(body: Limb, link: Link, twice: int) -> tuple[Change, Change]:
    """What q and qd of a joint change in the motion of its link."""
    spin = link.spin
    swept = spin.w.cross(Z) * twice
    if not body.revolute:
        return Change(ZERO, ZERO, spin.z), Change(ZERO, ZERO, swept)
    return Change(spin.w.cross(Z), spin.z, link.a.cross(Z)), Change(Z, swept, ZERO)


def _row(body: Limb, load: Load) -> Change:
    """What the joint's own force answers to changes of its link's motion."""
    h, p = load.mass.h, load.p
    if not body.revolute:
        return Change(p.cross(Z), h.cross(Z), Z * load.mass.m)
    return Change(_moments(load.E).r3, _inertia(load.mass.Q).third, Z.cross(h))


def _row_inwards(step: Step, link: Link, row: Change) -> Change:
    """A row over the motion of link i as one over that of link i-1."""
    row = _row_shifted(row, Z * step.d, link.along)
    fall = step.whole.fall
    row = Change(fall(row.w), fall(row.wd), fall(row.a))
    return _row_shifted(row, X * step.a, link.across)


def _row_shifted(row: Change, s: Vec3, rate: Vec3) -> Change:
    return Change(row.w + rate.cross(row.a), row.wd + s.cross(row.a), row.a)


def _turned_wrench(body: Limb, load: Load, change: Change) -> tuple[Vec3, Vec3]:
    """How q changes the wrench of a composite body, as its own frame sees the frame before."""
    f, n = load.answer(change)
    if not body.revolute:
        return f, n + Z.cross(load.f)
    return f + Z.cross(load.f), n + Z.cross(load.n)


def _carry(arm: Chain, pose: Sequence[Step], j: int, wrench: tuple[Vec3, Vec3], rows: Rows) -> None:
    """Enter column j of the joints before j."""
    f, n = wrench
    for i in range(j - 1, -1, -1):
        step = pose[i + 1]
        fall = step.whole.fall
        n = n + (Z * step.d).cross(f)
        f, n = fall(f), fall(n)
        n = n + (X * step.a).cross(f)
        rows[i][j] = n.z if arm.joints[i].revolute else f.z
