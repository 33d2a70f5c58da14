"""Forward dynamics by the articulated-body recursion, over abstract scalars: cost grows with n, not with n^3.

The method is Featherstone's (The calculation of robot dynamics using articulated-body inertias, Int. J. Robotics
Research 2 (1983) 13-30), here in the accelerations (wd, a) of each frame's origin instead of spatial ones: then the
inertial forces of link i are those of lin1995 (19), (A4),

    n = J wd + h x a + w x J w,    f = m a + wd x h + w x (w x h).

The links from i outwards answer with n = A wd + B a + p_n, f = B' wd + C a + p_f. Joint i lets one component of the
acceleration free, which takes the part U U'/D out of this inertia; the rest is carried to frame i-1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...algebra.vectors import ZERO, Mat3, Scalar, Sym3, Vec3, Z, add, mul, skew, sub
from ...robot.frames.chain import Chain, Step


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


def rigid(m: Scalar, h: Vec3, J: Sym3) -> Inertia:
    """The inertia of one rigid link."""
    return Inertia(J, skew(h), Sym3(m, 0, m, 0, 0, m))


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
    wrench: tuple[Vec3, Vec3] = (ZERO, ZERO),
    armature: Sequence[Scalar] | None = None,
) -> list[Scalar]:
    """Accelerations under joint forces tau; the wrench acts on the last link, in its frame and about its origin."""
    moving = _moving(arm, pose, qd)
    solved = _solved(arm, pose, moving, tau, wrench, armature or [0] * arm.n)
    qdd = []
    wd, a = ZERO, -arm.gravity
    for joint, step, own, row in zip(arm.joints, pose, moving, solved, strict=True):
        a = step.rise(a + wd.cross(step.s)) + own.a
        wd = step.rise(wd) + own.wd
        acc = mul(sub(row.u, add(row.Un.dot(wd), row.Uf.dot(a))), row.inverse)
        qdd.append(acc)
        if joint.revolute:
            wd = wd + Z * acc
        else:
            a = a + Z * acc
    return qdd


def _moving(arm: Chain, pose: Sequence[Step], qd: Sequence[Scalar]) -> list[Moving]:
    """From the base outwards: what velocities do to each link."""
    w = ZERO
    found = []
    for joint, step, v in zip(arm.joints, pose, qd, strict=True):
        a = step.rise(w.cross(w.cross(step.s)))
        w = step.rise(w)
        wd = ZERO
        if joint.revolute:
            wd = w.cross(Z * v)
            w = w + Z * v
        else:
            a = a + w.cross(Z * mul(2, v))
        found.append(Moving(wd, a, w.cross(joint.J @ w), w.cross(w.cross(joint.h))))
    return found


def _solved(
    arm: Chain,
    pose: Sequence[Step],
    moving: Sequence[Moving],
    tau: Sequence[Scalar],
    wrench: tuple[Vec3, Vec3],
    armature: Sequence[Scalar],
) -> list[Solved]:
    """From the tip inwards: each joint's equation, with the articulated inertia and force of all beyond it."""
    inertia: Inertia | None = None
    pn, pf = -wrench[1], -wrench[0]
    found: list[Solved] = []
    for i in reversed(range(arm.n)):
        joint, step, own = arm.joints[i], pose[i], moving[i]
        alone = rigid(joint.m, joint.h, joint.J)
        inertia = alone if inertia is None else alone + inertia
        pn, pf = pn + own.n, pf + own.f
        if joint.revolute:
            Un, Uf, D, push = inertia.A.third, inertia.B.r3, inertia.A.zz, pn.z
        else:
            Un, Uf, D, push = inertia.B.T.r3, inertia.C.third, inertia.C.zz, pf.z
        inverse = 1 / add(D, armature[i])
        u = sub(tau[i], push)
        found.append(Solved(Un, Uf, inverse, u))
        if i == 0:
            break
        inertia = inertia.without(Un, Uf, inverse)
        cn, cf = inertia.apply(own.wd, own.a)
        gain = mul(u, inverse)
        pn, pf = pn + cn + Un * gain, pf + cf + Uf * gain
        pf = step.fall(pf)
        pn = step.fall(pn) + step.s.cross(pf)
        inertia = inertia.fall(step)
    return found[::-1]
