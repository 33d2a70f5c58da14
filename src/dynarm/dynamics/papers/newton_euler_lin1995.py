"""Inverse dynamics by the recursive Newton-Euler method, frames on the driving axes.

[lin1995]  S.-K. Lin, Minimal linear combinations of the inertia parameters of a manipulator, IEEE Trans. Robotics
           and Automation 11 (1995) 360-373, eqs (16)-(23).
Frames     Quantities of link i are written in frame i; z lies on joint i. `rise` maps frame i-1 to frame i, `fall`
           maps back; s is the displacement from origin i-1 to origin i, in frame i-1.
Differs    Gravity enters as a base acceleration (76). Inertia is about the frame's origin, as in (A4). The external
           wrench (f_E, t_E) acts on the last link, in frame n, the moment about its origin.

    (16) w_i  = R w_{i-1} + z qd_i                  rotational joints
    (17) wd_i = R wd_{i-1} + z qdd_i + R w_{i-1} x z qd_i
    (18) a_i  = R (a_{i-1} + wd x s + w x (w x s))  + z qdd_i + 2 w_i x z qd_i for translational joints
    (19) F_i  = m a_i + wd x h + w x (w x h),       h = m c
    (A4) N_i  = J wd + w x J w + h x a
    (21) f_i  = F_i + R' f_{i+1}                    f_{n+1} = -f_E
    (22) t_i  = N_i + R' t_{i+1} + s x R' f_{i+1}   t_{n+1} = -t_E
    (23) tau_i = z . t_i (rotational), z . f_i (translational)
    (76) a_0  = -g
"""

from __future__ import annotations

from collections.abc import Sequence

from ...algebra.vectors import ZERO, Scalar, Vec3, Z, mul
from ...robot.frames.chain import Chain, Step

Wrench = tuple[Vec3, Vec3]


def inverse_dynamics(
    arm: Chain,
    pose: Sequence[Step],
    qd: Sequence[Scalar],
    qdd: Sequence[Scalar],
    wrench: Wrench = (ZERO, ZERO),
) -> list[Scalar]:
    """Joint forces [N m or N] that give accelerations qdd in the pose with velocities qd."""
    w, wd, a = ZERO, ZERO, -arm.gravity  # (76)
    forces = []
    for joint, step, v, acc in zip(arm.joints, pose, qd, qdd, strict=True):
        a = step.rise(a + wd.cross(step.s) + w.cross(w.cross(step.s)))  # (18)
        w, wd = step.rise(w), step.rise(wd)
        if joint.revolute:
            wd = wd + Z * acc + w.cross(Z * v)  # (17)
            w = w + Z * v  # (16)
        else:
            a = a + Z * acc + w.cross(Z * mul(2, v))  # (18)
        F = a * joint.m + wd.cross(joint.h) + w.cross(w.cross(joint.h))  # (19)
        N = joint.J @ wd + w.cross(joint.J @ w) + joint.h.cross(a)  # (A4)
        forces.append((F, N))

    f, t = -wrench[0], -wrench[1]
    tau = []
    for joint, step, (F, N) in reversed(list(zip(arm.joints, pose, forces, strict=True))):
        f, t = f + F, t + N  # (21), (22)
        tau.append(t.z if joint.revolute else f.z)  # (23)
        f = step.fall(f)
        t = step.fall(t) + step.s.cross(f)
    return tau[::-1]
