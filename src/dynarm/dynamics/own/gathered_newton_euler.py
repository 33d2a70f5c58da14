"""Inverse dynamics of chains and trees, on a fixed or a free base: Newton and Euler on gathered links.

The recursion is that of lin1995 (57)-(75) (`constants_newton_euler_lin1995`), its composite bodies replaced by links
from which all was handed inwards that no joint force can tell (`gathered_links`): seven numbers a rotational joint,
four a translational one. So it needs no more than the minimal parameters, and a link may have any number of children.

    w, wd, Omega, a of link i from those of its parent, a_i = R (a + Omega across) + Omega_i z d (+ z qdd + 2 w x z qd)
    f = m a + Omega h        n = h x a + axial(Omega Q - Q Omega')        minus what acts on the link from outside
    f, n of a link join those of its parent: f' = R f, n' = R (n + d z x f) + across x f'
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...algebra.vectors import ZERO, Scalar, Vec3, Z, is_zero, mul
from ...robot.frames.chain import Chain, Step
from ..papers.angular_motion_lin1995 import Spin, carried, turned
from ..papers.minimal_newton_euler_lin1995 import spread_moment
from .free_base import BaseMotion, Wrench, base_motion
from .gathered_links import Mass, gathered

# by joint, -1 for the base: force and moment on the link, in its frame
Wrenches = Mapping[int, Wrench]


def inverse_dynamics(
    arm: Chain,
    pose: Sequence[Step],
    qd: Sequence[Scalar],
    qdd: Sequence[Scalar],
    wrenches: Wrenches | None = None,
) -> list[Scalar]:
    """Joint forces [N m or N] that give accelerations qdd in the pose with velocities qd; of a free base its wrench."""
    masses, rest = gathered(arm, pose)
    outside = wrenches or {}
    base = base_motion(arm, qd, qdd)
    motions = moved(arm, pose, base)
    forces = [
        _share(mass, *motion, outside.get(i, (ZERO, ZERO)))
        for i, (mass, motion) in enumerate(zip(masses, motions, strict=True))
    ]
    whole = _share(rest, base.spin, base.a, outside.get(-1, (ZERO, ZERO)))
    tau: list[Scalar] = []
    for i in range(arm.n - 1, -1, -1):
        f, n = forces[i]
        tau.append(n.z if arm.joints[i].revolute else f.z)
        parent = arm.parent_of(i)
        if parent < 0 and arm.root is None:
            continue
        inner = handed(pose[i], f, n)
        if parent >= 0:
            forces[parent] = forces[parent][0] + inner[0], forces[parent][1] + inner[1]
        else:
            whole = whole[0] + inner[0], whole[1] + inner[1]
    joints = tau[::-1]
    return joints if arm.root is None else [*whole[0], *whole[1], *joints]


def moved(chain: Chain, pose: Sequence[Step], base: BaseMotion) -> list[tuple[Spin, Vec3]]:
    """The angular motion of each link and the acceleration of its origin, in its own axes."""
    motions: list[tuple[Spin, Vec3]] = []
    for i, (body, step) in enumerate(zip(chain.joints, pose, strict=True)):
        parent = chain.parent_of(i)
        inner, a = motions[parent] if parent >= 0 else (base.spin, base.a)
        v, acc = base.qd[i], base.qdd[i]
        # where only parallel joints came before, s as a whole is cheaper than its parts
        flat = body.revolute and not is_zero(step.a) and all(map(is_zero, inner.z))
        a = step.whole.rise(a + inner @ (step.s if flat else step.across))
        spin = turned(step, inner, v, acc) if body.revolute else carried(step, inner)
        if not flat:
            a = a + spin.z * step.d
        if not body.revolute:
            a = a + (Z * acc + spin.w.cross(Z * mul(2, v)))
        motions.append((spin, a))
    return motions


def _share(mass: Mass, spin: Spin, a: Vec3, outside: Wrench) -> Wrench:
    """Force and moment that a link's own motion takes, about its origin, less those from outside."""
    f = a * mass.m + spin @ mass.h
    n = mass.h.cross(a) + spread_moment(mass.Q, spin)
    return f - outside[0], n - outside[1]


def handed(step: Step, f: Vec3, n: Vec3) -> Wrench:
    """A wrench on link i as one on its parent."""
    fall = step.whole.fall
    n = fall(n + (Z * step.d).cross(f))
    f = fall(f)
    return f, n + step.across.cross(f)
