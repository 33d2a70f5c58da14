"""Mass matrix by Walker and Orin's composite body method, about the centres of mass: the ancestor.

[linfang1999]  S.-K. Lin, C.-J. Fang, Efficient formulations for the manipulator inertia matrix in terms of minimal
           linear combinations of inertia parameters, J. Robotic Systems 16 (1999) 679-695, appendix A, after
           M. W. Walker, D. E. Orin, Efficient dynamic computer simulation of robotic mechanisms, ASME J. Dynamic
           Systems, Measurement and Control 104 (1982) 205-211.
Frames     r_i is the centre of mass of composite body i (links i to n) from origin i, I_i its inertia about that
           centre, both in frame i. s is the displacement from origin j to origin j+1, in frame j.
Differs    (A1), (A2) are forces on the link, without the sign of inertia forces. Two bodies p apart join as
           I = I_a + I_b - (m_a m_b / (m_a + m_b)) [p x][p x]. (A4) needs a plus sign, J^ + [c^ x][c^ x] / m^, where
           a minus is printed. A body without mass has no centre; arms that would need it are refused.

    (A1) f_i  = m^ rdd                  (A2) t_i about the centre = I wd
    (A3) r_i  = c^_i / m^_i             (A4) I of one link from its tensor about the origin
    (A5) rdd  = z x r (rotational), z (translational)                 (A6) wd = z, 0
    (A7) f_ii = f_i                     (A8) t_ii = t_i + r x f_i
    (A9) tau_ji = z . (t_ji + s x f_ji), z . f_ji, origin by origin   (A10) D_ji = tau_ji for a unit acceleration
"""

from __future__ import annotations

from collections.abc import Sequence

from ...algebra.vectors import ZERO, Scalar, Sym3, Vec3, Z, add, is_zero, mul, square_skew
from ...robot.frames.chain import Chain, Limb, Step
from ...robot.frames.standard import without_centre

Lump = tuple[Scalar, Vec3, Sym3]  # mass, centre of mass, inertia about it


def mass_matrix(arm: Chain, pose: Sequence[Step]) -> list[list[Scalar]]:
    """Mass matrix [kg m^2, kg m, kg] from masses, centres of mass and inertias about them."""
    n = arm.n
    D: list[list[Scalar]] = [[0] * n for _ in range(n)]
    for i, (joint, lump) in enumerate(zip(arm.joints, lumps(arm, pose), strict=True)):
        f, t = unit_acceleration(joint, lump)
        D[i][i] = t.z if joint.revolute else f.z  # (A10)
        for j in range(i - 1, -1, -1):
            step = pose[j + 1]
            f = step.fall(f)
            t = step.fall(t) + step.s.cross(f)  # (A9)
            D[j][i] = D[i][j] = t.z if arm.joints[j].revolute else f.z  # (A10)
    return D


def unit_acceleration(joint: Limb, lump: Lump) -> tuple[Vec3, Vec3]:
    """Force, and moment about origin i, that accelerate composite body i by a unit of joint i."""
    m, r, inertia = lump
    wd = Z if joint.revolute else ZERO  # (A6)
    rdd = Z.cross(r) if joint.revolute else Z  # (A5)
    f, t = rdd * m, inertia @ wd  # (A1), (A2)
    return f, t + r.cross(f)  # (A7), (A8)


def lumps(arm: Chain, pose: Sequence[Step]) -> list[Lump]:
    """Mass, centre of mass and central inertia of the composite bodies 1 to n, each in its frame."""
    bodies = [_link(arm.joints[-1])]
    for body, step in zip(arm.joints[-2::-1], pose[:0:-1], strict=True):
        m, r, inertia = bodies[-1]
        bodies.append(_joined(_link(body), (m, step.s + step.fall(r), step.fall_sym(inertia))))
    return bodies[::-1]


def _link(body: Limb) -> Lump:
    if is_zero(body.m):
        return 0, ZERO, body.J
    r = body.h * (1 / body.m)  # (A3)
    return body.m, r, body.J + square_skew(r) * body.m  # (A4)


def _joined(one: Lump, other: Lump) -> Lump:
    """Two bodies, in the same axes, as one."""
    (m, r, inertia), (m_other, r_other, inertia_other) = one, other
    if is_zero(m):
        return m_other, r_other, inertia + inertia_other
    if is_zero(m_other):
        return m, r, inertia + inertia_other
    p, share = r_other - r, m_other / (m + m_other)
    tensor = inertia + inertia_other - square_skew(p) * mul(m, share)
    return add(m, m_other), r + p * share, tensor


def refuses(arm: Chain) -> str | None:
    """Why there are no centres of mass to work with, or None."""
    for k in range(arm.n):
        masses = [body.m for body in arm.joints[k:]]
        if any(masses) and sum(masses) == 0:
            return f"links {k + 1} to {arm.n} have no mass together, hence no centre of mass"
    return without_centre(arm)
