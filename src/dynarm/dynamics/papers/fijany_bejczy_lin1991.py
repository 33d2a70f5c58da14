"""Inertia matrix by Fijany and Bejczy: forces of Renaud's composite bodies, carried inwards in one common frame.

[lin1991]  S.-K. Lin, A new composite body method for manipulator dynamics, J. Robotic Systems 8 (1991) 197-219,
           appendix, eqs (A10)-(A15); the method is A. Fijany and A. K. Bejczy's (1989).
Frames     Composite body j is that of `renaud_lin1991`. Force and couple for unit acceleration of joint j arise in
           frame j, about origin j; the common frame k is frame 2 (the only one if there is but one joint), in which
           also the axes u_m and the displacements s_m from origin m-1 to origin m are written.
Differs    (A14) takes the force from frame j, and the couple at joint j is minus the equivalent couple, t_jj = -t_Ejj:
           both printed otherwise. Joint 1 needs no couple of its own: u_1.(s x f) = (u_1 x s).f in (A15). Origins on
           parallel axes and the last one are moved along their axes (`slid`).

    (A10) -f_Ejj = K_j m^_j u_j + K*_j u_j x c^_j
    (A11) -t_Ejj = K_j c^_j x u_j + K*_j J^_j u_j
    (A12) H_jj = K_j m^_j + K*_j u_j.J^_j u_j
    (A13) H_mj = K_m u_m.f_mj + K*_m u_m.t_mj,  m < j
    (A14) f_mj = -R f_Ejj, from frame j to frame k
    (A15) t_mj = t_{m+1,j} + s_{m+1} x f_{m+1,j}
"""

from __future__ import annotations

from collections.abc import Sequence

from ...algebra.vectors import IDENTITY, Mat3, Scalar, Vec3, Z, add, is_zero
from ...robot.frames.chain import Chain, Step, slid
from .renaud_lin1991 import RenaudComposite, composites


def mass_matrix(arm: Chain, pose: Sequence[Step]) -> list[list[Scalar]]:
    """Inertia matrix [kg m^2, kg m or kg]."""
    n = arm.n
    arm, pose, _ = slid(arm, pose)
    bodies = composites(arm, pose)
    H: list[list[Scalar]] = [[0] * n for _ in range(n)]
    for j, (joint, body) in enumerate(zip(arm.joints, bodies, strict=True)):
        H[j][j] = body.J.zz if joint.revolute else body.m  # (A12)
    if n == 1:
        return H
    turns, u, s = common_frame(pose)
    lever = pose[1].rise(Z.cross(pose[1].s))  # u_1 x s_2
    for j in range(1, n):
        f, t = (
            turns[j] @ x if j > 1 else x for x in _effect(arm.joints[j].revolute, bodies[j])
        )  # (A14)
        for m in range(j - 1, 0, -1):
            t = t + s[m + 1].cross(f)  # (A15)
            H[m][j] = H[j][m] = u[m].dot(t if arm.joints[m].revolute else f)  # (A13)
        couple = add(u[0].dot(t), lever.dot(f))
        H[0][j] = H[j][0] = couple if arm.joints[0].revolute else u[0].dot(f)  # (A13)
    return H


def _effect(turned: bool, body: RenaudComposite) -> tuple[Vec3, Vec3]:
    """Force on composite body j and its couple about origin j for unit acceleration of joint j, in frame j."""
    if turned:
        return Z.cross(body.c), body.J.third  # (A10), (A11)
    return Z * body.m, body.c.cross(Z)  # (A10), (A11)


def common_frame(pose: Sequence[Step]) -> tuple[list[Mat3], list[Vec3], list[Vec3]]:
    """In frame 2: the rotation that takes frame j there, u_j, and s_j (not of joint 1)."""
    turns, u, s = [IDENTITY, IDENTITY], [pose[1].rise(Z), Z], [Z, pose[1].s_up]
    for j in range(2, len(pose)):
        step, R = pose[j], turns[-1]
        x, y = step.rise(R.r1), step.rise(R.r2)
        oblique = not any(is_zero(k) for k in (step.turns[0].c, step.turns[0].s))
        # whichever is cheaper
        R_j = Mat3(x, y, x.cross(y) if oblique and j > 2 else step.rise(R.r3))
        u_j = Vec3(R_j.r1.z, R_j.r2.z, R_j.r3.z)
        turns.append(R_j)
        u.append(u_j)
        s.append(R.T.r1 * step.a + u_j * step.d)
    return turns, u, s
