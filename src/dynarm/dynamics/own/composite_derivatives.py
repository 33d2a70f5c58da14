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

Links are first gathered (`gathered_links`): all joint forces stay the same, and most parameters become 0.

On a tree the links before joint j are its ancestors; other joints do not feel it. A base that moves freely stands
before all of them: its wrench has six rows, and its small displacement and velocity, in its own axes, six columns,

                   along e                                  about e
    by q                                                     da = a_g x e        a_g: what gravity adds to a
    by qd     da = w x e                                     dw = e,  dwd* = w x e,  da = e x v
    by qdd    da = e                                         dwd* = e
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ...algebra.vectors import (
    ZERO,
    Mat3,
    Scalar,
    Turn,
    Vec3,
    X,
    Y,
    Z,
    add,
    mul,
    sub,
    total,
)
from ...robot.frames.chain import Chain, Limb, Step, slid
from ..papers.angular_motion_lin1995 import Spin, carried, turned
from ..papers.minimal_newton_euler_lin1995 import spread_moment
from .free_base import BaseMotion, base_motion, handed
from .gathered_links import Mass, gathered

Rows = list[list[Scalar]]


@dataclass(frozen=True, slots=True, eq=False)
class MovingLink:
    """The motion of link i: of its frame, of its origin, and twice the velocities of the two parts of s."""

    spin: Spin
    a: Vec3
    along: Vec3  # of d z, in frame i
    across: Vec3  # of the rest of s, in the frame before


@dataclass(frozen=True, slots=True, eq=False)
class Load:
    """Composite body i: its mass and moments, p, E, and the wrench that moves it."""

    mass: Mass
    p: Vec3
    E: Mat3
    f: Vec3
    n: Vec3

    def __add__(self, o: Load) -> Load:
        return Load(self.mass + o.mass, self.p + o.p, self.E + o.E, self.f + o.f, self.n + o.n)

    def answer(self, change: Change) -> tuple[Vec3, Vec3]:
        """df and dn."""
        h, dw, dwd, da = self.mass.h, change.w, change.wd, change.a
        force = da * self.mass.m + dwd.cross(h) + dw.cross(self.p)
        return force, h.cross(da) + self.mass.J @ dwd + _moments(self.E) @ dw


@dataclass(frozen=True, slots=True, eq=False)
class Change:
    """A change dw, dwd*, da of a frame's motion; or a row of what a force answers to each of them."""

    w: Vec3
    wd: Vec3
    a: Vec3

    def dot(self, o: Change) -> Scalar:
        return total(self.w.dot(o.w), self.wd.dot(o.wd), self.a.dot(o.a))


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
    """Christoffel's matrix [N m s or N s]: half of d bias / d qd, where all is twice a velocity.

    The speeds of a free base are no rates of coordinates: half of M ad joins, with ad the motion that the base's own
    velocity makes of another one, so that Mdot - 2C stays skew.
    """
    _, C, M = _differentiated(arm, pose, qd, [0] * arm.nv, 1)
    if arm.root is None:
        return C
    v, w = Vec3(*qd[:3]), Vec3(*qd[3:6])
    for row, masses in zip(C, M, strict=True):
        f, n = Vec3(*masses[:3]) * 0.5, Vec3(*masses[3:6]) * 0.5
        more = (*f.cross(w), *(f.cross(v) + n.cross(w)))
        row[:6] = [add(x, y) for x, y in zip(row[:6], more, strict=True)]
    return C


def coriolis_tensor(arm: Chain, pose: Sequence[Step]) -> list[Rows]:
    """C[i][j][k], symmetric in j and k: half of d bias / d qd, which is linear in qd, at unit velocities."""
    n = arm.nv
    gravity_free = replace(arm, gravity=ZERO)
    units = [[1 if j == k else 0 for j in range(n)] for k in range(n)]
    slices = [_differentiated(gravity_free, pose, e, [0] * n, 1)[1] for e in units]
    return [
        [[slices[min(j, k)][i][max(j, k)] for k in range(n)] for j in range(n)] for i in range(n)
    ]


def mass_matrix(arm: Chain, pose: Sequence[Step]) -> Rows:
    """The mass matrix, by the operations that `derivatives` has in common with it."""
    still = [0] * arm.nv
    return _differentiated(arm, pose, still, still, 2)[2]


def _differentiated(
    arm: Chain,
    pose: Sequence[Step],
    qd: Sequence[Scalar],
    qdd: Sequence[Scalar],
    twice: int,
) -> tuple[Rows, Rows, Rows]:
    """d tau / d q, d tau / d qd times twice/2, and the mass matrix."""
    if arm.serial:
        arm, pose, _ = slid(arm, pose)
    base = base_motion(arm, qd, qdd)
    links = _outwards(arm, pose, base, twice)
    loads, whole = _inwards(arm, pose, links, base, twice)
    first, size = arm.nv - arm.n, arm.nv
    dq, dqd, M = ([[0] * size for _ in range(size)] for _ in range(3))
    changes = [_changes(b, l, twice) for b, l in zip(arm.joints, links, strict=True)]
    by_q, by_qd = [by_q for by_q, _ in changes], [by_qd for _, by_qd in changes]
    for i in range(arm.n - 1, -1, -1):
        row, r, j = _row(arm.joints[i], loads[i]), first + i, i
        while j >= 0:
            c = first + j
            dq[r][c], dqd[r][c] = row.dot(by_q[j]), row.dot(by_qd[j])
            M[r][c] = M[c][r] = row.wd.z if arm.joints[j].revolute else row.a.z
            if arm.parent_of(j) >= 0 or whole is not None:
                row = _row_inwards(pose[j], links[j], row)
            j = arm.parent_of(j)
        if whole is not None:
            _enter_base_row(r, row, _base_changes(base, twice), dq, dqd, M)
        wrench = _turned_wrench(arm.joints[i], loads[i], by_q[i])
        _carry(arm, pose, i, wrench, dq)
        _carry(arm, pose, i, loads[i].answer(by_qd[i]), dqd)
    if whole is not None:
        _enter_base(whole, _base_changes(base, twice), dq, dqd, M)
    return dq, dqd, M


def _outwards(arm: Chain, pose: Sequence[Step], base: BaseMotion, twice: int) -> list[MovingLink]:
    """The motion of the links, from the base on."""
    links: list[MovingLink] = []
    for i, (body, step) in enumerate(zip(arm.joints, pose, strict=True)):
        parent = arm.parent_of(i)
        inner = links[parent] if parent >= 0 else base
        spin, a, v, acc = inner.spin, inner.a, base.qd[i], base.qdd[i]
        across = spin.w.cross(step.across * twice)
        star = step.whole.rise(a + spin @ step.across)
        if body.revolute:
            spin = turned(step, spin, v, acc)
            a = star + spin.z * step.d
            along = (spin.w * mul(twice, step.d)).cross(Z)
        else:
            spin = carried(step, spin)
            a = star + (spin.w * mul(2, v)).cross(Z) + Z * acc + spin.z * step.d
            along = (spin.w * mul(twice, step.d)).cross(Z) + Z * mul(twice, v)
        links.append(MovingLink(spin, a, along, across))
    return links


def _inwards(
    arm: Chain, pose: Sequence[Step], links: Sequence[MovingLink], base: BaseMotion, twice: int
) -> tuple[list[Load], Load | None]:
    """The composite bodies, from the tips on; and the whole robot as one body, where its base moves freely."""
    masses, rest = gathered(arm, pose)
    loads = [_alone(m, l.spin, l.a, twice) for m, l in zip(masses, links, strict=True)]
    whole = None if arm.root is None else _alone(rest, base.spin, base.a, twice)
    for i in range(arm.n - 1, -1, -1):
        parent = arm.parent_of(i)
        if parent >= 0:
            loads[parent] = loads[parent] + _load_inwards(pose[i], links[i], loads[i])
        elif whole is not None:
            whole = whole + _load_inwards(pose[i], links[i], loads[i])
    return loads, whole


def _alone(mass: Mass, spin: Spin, a: Vec3, twice: int) -> Load:
    """One link by itself."""
    h = mass.h
    f = a * mass.m + spin @ h
    n = h.cross(a) + spread_moment(mass.Q, spin)
    doubled = (mass.Q * twice).full()
    E = Mat3(*(spin.w.cross(row) for row in doubled.rows))
    return Load(mass, spin.w.cross(h * twice), E, f, n)


def _load_inwards(step: Step, link: MovingLink, load: Load) -> Load:
    """Composite body i about origin i-1, in frame i-1."""
    load = _load_shifted(load, Z * step.d, link.along)
    mass = load.mass.fall(step)
    load = Load(
        mass, step.fall(load.p), _fallen(step, load.E), step.fall(load.f), step.fall(load.n)
    )
    return _load_shifted(load, step.across, link.across)


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
    rows = [row[:] for row in e]
    rows[i][i], rows[j][j] = sub(e[i][i], su), add(e[j][j], su)
    rows[i][j], rows[j][i] = add(e[i][j], sv), add(e[j][i], sv)
    rows[i][k], rows[j][k] = _plane(c, s, e[i][k], e[j][k])
    rows[k][i], rows[k][j] = _plane(c, s, e[k][i], e[k][j])
    return Mat3(*(Vec3(*row) for row in rows))


def _plane(c: Scalar, s: Scalar, x: Scalar, y: Scalar) -> tuple[Scalar, Scalar]:
    return sub(mul(c, x), mul(s, y)), add(mul(s, x), mul(c, y))


def _changes(body: Limb, link: MovingLink, twice: int) -> tuple[Change, Change]:
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
    return Change(_moments(load.E).r3, load.mass.J.third, Z.cross(h))


def _row_inwards(step: Step, link: MovingLink, row: Change) -> Change:
    """A row over the motion of link i as one over that of link i-1."""
    row = _row_shifted(row, Z * step.d, link.along)
    fall = step.whole.fall
    row = Change(fall(row.w), fall(row.wd), fall(row.a))
    return _row_shifted(row, step.across, link.across)


def _row_shifted(row: Change, s: Vec3, rate: Vec3) -> Change:
    return Change(row.w + rate.cross(row.a), row.wd + s.cross(row.a), row.a)


def _turned_wrench(body: Limb, load: Load, change: Change) -> tuple[Vec3, Vec3]:
    """How q changes the wrench of a composite body, as its own frame sees the frame before."""
    f, n = load.answer(change)
    if not body.revolute:
        return f, n + Z.cross(load.f)
    return f + Z.cross(load.f), n + Z.cross(load.n)


def _carry(arm: Chain, pose: Sequence[Step], j: int, wrench: tuple[Vec3, Vec3], rows: Rows) -> None:
    """Enter column j of the joints before j, and of a free base."""
    f, n = wrench
    first, column = arm.nv - arm.n, arm.nv - arm.n + j
    i = j
    while i >= 0 and (arm.parent_of(i) >= 0 or arm.root is not None):
        f, n = handed(pose[i], f, n)
        i = arm.parent_of(i)
        if i >= 0:
            rows[first + i][column] = n.z if arm.joints[i].revolute else f.z
    if arm.root is not None:
        for r, x in enumerate((*f, *n)):
            rows[r][column] = x


# ---- a base that moves freely


def _base_changes(base: BaseMotion, twice: int) -> list[tuple[Change, Change, Change]]:
    """What q, qd and qdd of a free base change in its motion: along its three axes, then about them."""
    w, axes = base.spin.w, (X, Y, Z)
    along = [
        (
            Change(ZERO, ZERO, ZERO),
            Change(ZERO, ZERO, _half(w.cross(e), twice)),
            Change(ZERO, ZERO, e),
        )
        for e in axes
    ]
    about = [
        (
            Change(ZERO, ZERO, base.pull.cross(e)),
            Change(e, _half(w.cross(e), twice), _half(e.cross(base.v), twice)),
            Change(ZERO, e, ZERO),
        )
        for e in axes
    ]
    return along + about


def _half(v: Vec3, twice: int) -> Vec3:
    return v if twice == 2 else v * 0.5


def _enter_base_row(
    r: int,
    row: Change,
    changes: Sequence[tuple[Change, Change, Change]],
    dq: Rows,
    dqd: Rows,
    M: Rows,
) -> None:
    """The entries of a joint's row below the columns of a free base."""
    for c, (by_q, by_qd, by_qdd) in enumerate(changes):
        dq[r][c], dqd[r][c] = row.dot(by_q), row.dot(by_qd)
        M[r][c] = M[c][r] = row.dot(by_qdd)


def _enter_base(
    whole: Load,
    changes: Sequence[tuple[Change, Change, Change]],
    dq: Rows,
    dqd: Rows,
    M: Rows,
) -> None:
    """How the wrench on a free base answers to its own motion."""
    for c, kinds in enumerate(changes):
        for rows, change in zip((dq, dqd, M), kinds, strict=True):
            f, n = whole.answer(change)
            for r, x in enumerate((*f, *n)):
                rows[r][c] = x
