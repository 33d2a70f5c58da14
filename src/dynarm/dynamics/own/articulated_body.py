"""Forward dynamics by the articulated-body recursion, over abstract scalars: cost grows with n, not with n^3.

The method is Featherstone's (The calculation of robot dynamics using articulated-body inertias, Int. J. Robotics
Research 2 (1983) 13-30), here in the accelerations (wd, a) of each frame's origin instead of spatial ones: then the
inertial forces of link i are those of lin1995 (19), (A4),

    n = J wd + h x a + w x J w,    f = m a + wd x h + w x (w x h).

The links from i outwards answer with n = A wd + B a + p_n, f = B' wd + C a + p_f. Joint i lets one component of the
acceleration free, which takes the part U U'/D out of this inertia; the rest is carried to the parent's frame, where
those of several children add up. A base that moves freely gives way in all six. Links are gathered first
(`gathered_links`), which leaves every joint force, and so every pivot D, as it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ...algebra.ldl import factorise
from ...algebra.vectors import SYM_ZERO, ZERO, Mat3, Scalar, Sym3, Vec3, Z, add, mul, skew, sub
from ...robot.frames.chain import Chain, Step
from .free_base import BaseMotion, Wrench, base_motion
from .gathered_links import Mass, gathered


@dataclass(frozen=True, slots=True, eq=False)
class Inertia:
    """n = A wd + B a, f = B' wd + C a about a frame's origin."""

    A: Sym3
    B: Mat3
    C: Sym3

    def __add__(self, o: Inertia) -> Inertia:
        return Inertia(self.A + o.A, self.B + o.B, self.C + o.C)

    def apply(self, wd: Vec3, a: Vec3) -> tuple[Vec3, Vec3]:
        """Moment and force for an acceleration."""
        return self.A @ wd + self.B @ a, self.B.T @ wd + self.C @ a

    def without(self, Un: Vec3, Uf: Vec3, inverse: Scalar) -> Inertia:
        """What is left when the joint's own motion gives way: minus U U'/D."""
        Vn, Vf = Un * inverse, Uf * inverse
        return Inertia(
            self.A - Un.outer(Vn).symmetric(),
            self.B - Un.outer(Vf),
            self.C - Uf.outer(Vf).symmetric(),
        )

    def fall(self, step: Step) -> Inertia:
        """The same inertia about the origin of frame i-1, in its axes."""
        C = step.fall_sym(self.C)
        columns = [step.fall(v) for v in self.B.T.rows]
        B = Mat3(*(step.fall(v) for v in Mat3(*columns).T.rows))
        S = skew(step.s)
        BS, SC = B @ S, S @ C
        A = step.fall_sym(self.A) - (BS + BS.T + SC @ S).symmetric()
        return Inertia(A, B + SC, C)


def _rigid(mass: Mass) -> Inertia:
    """The inertia of one rigid link."""
    m = mass.m
    return Inertia(mass.J, skew(mass.h), Sym3(m, 0, m, 0, 0, m))


@dataclass(frozen=True, slots=True, eq=False)
class Moving:
    """What the velocities alone give a link: accelerations of its frame relative to the frame before, and forces."""

    wd: Vec3
    a: Vec3
    n: Vec3
    f: Vec3


@dataclass(frozen=True, slots=True, eq=False)
class Solved:
    """One joint's equation, qdd = (u - Un.wd - Uf.a) / D, with wd and a of its frame before it gives way."""

    Un: Vec3
    Uf: Vec3
    inverse: Scalar  # 1/D
    u: Scalar


def forward_dynamics(
    arm: Chain,
    pose: Sequence[Step],
    qd: Sequence[Scalar],
    tau: Sequence[Scalar],
    wrenches: Mapping[int, Wrench] | None = None,
    armature: Sequence[Scalar] | None = None,
) -> list[Scalar]:
    """Accelerations under joint forces tau; wrenches act on links, in their frames and about their origins."""
    base = base_motion(arm, qd, [0] * arm.nv)
    masses, rest = gathered(arm, pose)
    moving = _moving(arm, pose, masses, base)
    forces = tau if arm.root is None else tau[6:]
    solved, whole = _solved(arm, pose, masses, moving, forces, wrenches or {}, armature)
    begin, free = (ZERO, base.pull), []
    if arm.root is not None:
        inertia = whole.inertia + _rigid(rest)
        w, h = base.spin.w, rest.h
        n = Vec3(*tau[3:6]) - whole.n - w.cross(rest.J @ w)
        f = Vec3(*tau[:3]) - whole.f - w.cross(w.cross(h))
        begin = _freed(inertia, n + _outside(wrenches, -1)[1], f + _outside(wrenches, -1)[0])
        free = [*(begin[1] - base.pull - w.cross(base.v)), *begin[0]]
    return [*free, *_accelerations(arm, pose, moving, solved, begin)]


def _accelerations(
    arm: Chain,
    pose: Sequence[Step],
    moving: Sequence[Moving],
    solved: Sequence[Solved],
    begin: tuple[Vec3, Vec3],
) -> list[Scalar]:
    """From the base outwards: what is left of each joint's equation."""
    qdd: list[Scalar] = []
    links: list[tuple[Vec3, Vec3]] = []
    for i, (step, own, row) in enumerate(zip(pose, moving, solved, strict=True)):
        parent = arm.parent_of(i)
        wd, a = links[parent] if parent >= 0 else begin
        a = step.rise(a + wd.cross(step.s)) + own.a
        wd = step.rise(wd) + own.wd
        acc = mul(sub(row.u, add(row.Un.dot(wd), row.Uf.dot(a))), row.inverse)
        qdd.append(acc)
        links.append((wd + Z * acc, a) if arm.joints[i].revolute else (wd, a + Z * acc))
    return qdd


def _moving(
    arm: Chain, pose: Sequence[Step], masses: Sequence[Mass], base: BaseMotion
) -> list[Moving]:
    """From the base outwards: what velocities do to each link."""
    spins: list[Vec3] = []
    links = []
    for i, (joint, step, mass) in enumerate(zip(arm.joints, pose, masses, strict=True)):
        parent, v = arm.parent_of(i), base.qd[i]
        w = spins[parent] if parent >= 0 else base.spin.w
        a = step.rise(w.cross(w.cross(step.s)))
        w = step.rise(w)
        wd = ZERO
        if joint.revolute:
            wd = w.cross(Z * v)
            w = w + Z * v
        else:
            a = a + w.cross(Z * mul(2, v))
        spins.append(w)
        links.append(Moving(wd, a, w.cross(mass.J @ w), w.cross(w.cross(mass.h))))
    return links


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """The articulated inertia of all that hangs on a link, and the wrench that it takes without acceleration."""

    inertia: Inertia
    n: Vec3
    f: Vec3

    def __add__(self, o: Answer) -> Answer:
        return Answer(self.inertia + o.inertia, self.n + o.n, self.f + o.f)


NOTHING = Answer(Inertia(SYM_ZERO, Mat3(ZERO, ZERO, ZERO), SYM_ZERO), ZERO, ZERO)


def _solved(
    arm: Chain,
    pose: Sequence[Step],
    masses: Sequence[Mass],
    moving: Sequence[Moving],
    tau: Sequence[Scalar],
    wrenches: Mapping[int, Wrench],
    armature: Sequence[Scalar] | None,
) -> tuple[list[Solved], Answer]:
    """From the tips inwards: each joint's equation, with the articulated inertia and force of all beyond it."""
    beyond, whole = [NOTHING] * arm.n, NOTHING
    equations: list[Solved] = []
    for i in range(arm.n - 1, -1, -1):
        joint, step, own = arm.joints[i], pose[i], moving[i]
        force, moment = _outside(wrenches, i)
        alone = Answer(_rigid(masses[i]), own.n - moment, own.f - force)
        answer = alone + beyond[i]
        inertia, pn, pf = answer.inertia, answer.n, answer.f
        if joint.revolute:
            Un, Uf, D, push = inertia.A.third, inertia.B.r3, inertia.A.zz, pn.z
        else:
            Un, Uf, D, push = inertia.B.T.r3, inertia.C.third, inertia.C.zz, pf.z
        inverse = 1 / add(D, armature[i] if armature else 0)
        u = sub(tau[i], push)
        equations.append(Solved(Un, Uf, inverse, u))
        parent = arm.parent_of(i)
        if parent < 0 and arm.root is None:
            continue
        inertia = inertia.without(Un, Uf, inverse)
        cn, cf = inertia.apply(own.wd, own.a)
        gain = mul(u, inverse)
        pn, pf = pn + cn + Un * gain, pf + cf + Uf * gain
        pf = step.fall(pf)
        handed = Answer(inertia.fall(step), step.fall(pn) + step.s.cross(pf), pf)
        if parent >= 0:
            beyond[parent] = beyond[parent] + handed
        else:
            whole = whole + handed
    return equations[::-1], whole


def _outside(wrenches: Mapping[int, Wrench] | None, i: int) -> Wrench:
    return (wrenches or {}).get(i, (ZERO, ZERO))


def _freed(inertia: Inertia, n: Vec3, f: Vec3) -> tuple[Vec3, Vec3]:
    """Acceleration of a free base under a wrench: the solution of six equations."""
    A, B, C = inertia.A.full(), inertia.B, inertia.C.full()
    rows = [[*b, *c] for b, c in zip(B.T.rows, C.rows, strict=True)]
    rows += [[*a, *b] for a, b in zip(A.rows, B.rows, strict=True)]
    # forces first: most of their part of the inertia is mass, which keeps the pivots far from zero
    order = (*range(3, 6), *range(3))
    matrix = [[row[c] for c in order] for row in rows]
    x = factorise(matrix).solve([*f, *n])
    return Vec3(*x[3:]), Vec3(*x[:3])
