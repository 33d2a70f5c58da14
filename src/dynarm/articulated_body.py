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

from .algebra import ZERO, Mat3, Scalar, Sym3, Vec3, Z, add, mul, skew, sub
from .robot.chain import Chain, Step


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


def forward_dynamics(
    arm: Chain,
    pose: Sequence[Step],
    qd: Sequence[Scalar],
    tau: Sequence[Scalar],
    wrench: tuple[Vec3, Vec3] = (ZERO, ZERO),
    armature: Sequence[Scalar] | None = None,
) -> list[Scalar]:
    """Accelerations under joint forces tau; the wrench acts on the last link, in its frame and about its origin."""
    n = arm.n
    w = ZERO
    moving = []  # velocity-dependent acceleration (wd, a) and force (n, f) of each link
    for joint, step, v in zip(arm.joints, pose, qd, strict=True):
        a = step.rise(w.cross(w.cross(step.s)))
        w = step.rise(w)
        wd = ZERO
        if joint.revolute:
            wd = w.cross(Z * v)
            w = w + Z * v
        else:
            a = a + w.cross(Z * mul(2, v))
        force = w.cross(joint.J @ w), w.cross(w.cross(joint.h))
        moving.append((wd, a, *force))

    inertia: Inertia | None = None
    pn, pf = -wrench[1], -wrench[0]
    solved: list[tuple[Vec3, Vec3, Scalar, Scalar]] = []
    for i in reversed(range(n)):
        joint, step = arm.joints[i], pose[i]
        wd, a, fn, ff = moving[i]
        own = rigid(joint.m, joint.h, joint.J)
        inertia = own if inertia is None else own + inertia
        pn, pf = pn + fn, pf + ff
        if joint.revolute:
            Un, Uf, D, push = inertia.A.third, inertia.B.r3, inertia.A.zz, pn.z
        else:
            Un, Uf, D, push = inertia.B.T.r3, inertia.C.third, inertia.C.zz, pf.z
        if armature is not None:
            D = add(D, armature[i])
        inverse = 1 / D
        u = sub(tau[i], push)
        solved.append((Un, Uf, inverse, u))
        if i == 0:
            break
        inertia = inertia.without(Un, Uf, inverse)
        cn, cf = inertia.apply(wd, a)
        gain = mul(u, inverse)
        pn, pf = pn + cn + Un * gain, pf + cf + Uf * gain
        pf = step.fall(pf)
        pn = step.fall(pn) + step.s.cross(pf)
        inertia = inertia.fall(step)

    qdd = []
    wd, a = ZERO, -arm.gravity
    for i, (Un, Uf, inverse, u) in enumerate(reversed(solved)):
        joint, step = arm.joints[i], pose[i]
        a = step.rise(a + wd.cross(step.s)) + moving[i][1]
        wd = step.rise(wd) + moving[i][0]
        acc = mul(sub(u, add(Un.dot(wd), Uf.dot(a))), inverse)
        qdd.append(acc)
        if joint.revolute:
            wd = wd + Z * acc
        else:
            a = a + Z * acc
    return qdd
