"""Masses, first moments and inertia tensors of the composite bodies, split into constant and varying parts.

[linfang1999]  S.-K. Lin, C.-J. Fang, Efficient formulations for the manipulator inertia matrix in terms of minimal
           linear combinations of inertia parameters, J. Robotic Systems 16 (1999) 679-695, sections 2 to 4,
           appendix C.
Frames     Composite body i is links i to n as if joints i+1 to n were locked; everything of it is about origin i, in
           the axes of frame i. z = R_b is the axis of joint i+1 in frame i (constants), s = b + d z the displacement.
Differs    (34) is (25) and (35) is (26) with the displacement along z taken before the rotation, as in (33), whose
           printed form lacks a trailing R'. (C2) is written with R diag(u, u, 0) R' = u (E - z z'). In (35) the sum
           m d + 2 c_z is taken as (l_z + m d) + (l_z + 2 k_z), which shares a sum with (24). `pair` is the tensor
           -[a x][b x] - [b x][a x] = 2 (a.b) E - a b' - b a'.

    (3)  m^_i = m_i + m^_{i+1}
    (22) c^_i = k_i + l_i               (23) J^_i = U_i + V_i
    (24) l_i  = R [c^_x, c^_y, l_z]     joint i+1 rotational;  R (l + [0, 0, m^ d]) translational
    (34) V_i  = R (V + U - diag(U_22, U_22, 0) + pair(d, R' l_i)) R' + pair(b, l_i)             rotational
    (35) V_i  = R (V + pair(d, c^) + m^ d^2 diag(1, 1, 0)) R' + pair(b, l_i)                    translational
    (B3) h_i  = R c^_i + m^_i s, in frame i-1: here its constant part, the varying one is l_{i-1}
    (C1) k_i  = m_i c_i + m^ s + z k_z  joint i+1 rotational;  m_i c_i + m^ b + R k translational
    (C2) U_i  = J_i - m^ [s x][s x] + U_22 (E - z z') + pair(s, z k_z)                          rotational
    (C3) U_i  = J_i + R U R' - m^ [b x][b x] + pair(b, R k)                                     translational
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...algebra.vectors import SYM_ZERO, ZERO, Scalar, Sym3, Vec3, add, mul, pair, square_skew
from ...robot.frames.chain import Chain, Step, difference


@dataclass(frozen=True, slots=True, eq=False)
class Composite:
    """Mass, first moment and inertia tensor of links i to n about origin i."""

    m: Scalar
    c: Vec3
    J: Sym3
    l: Vec3 = ZERO  # varying part of h_i = R c^_i + m^_i s, in frame i-1
    g: Vec3 = ZERO  # constant part of h_i


def composites(arm: Chain, pose: Sequence[Step]) -> list[Composite]:
    """The composite bodies 1 to n."""
    tip = arm.joints[-1]
    m, k, l, U, V = tip.m, tip.h, ZERO, tip.J, SYM_ZERO
    bodies = []
    for i in range(arm.n - 1, -1, -1):
        c, J = k + l, V + U  # (22), (23)
        if i == 0:
            bodies.append(Composite(m, c, J))
            break
        inner, step = arm.joints[i - 1], pose[i]
        b, z = Vec3(step.a, 0, 0), step.z
        if arm.joints[i].revolute:
            moved = Vec3(c.x, c.y, l.z)
            X = (
                V
                + Sym3(difference(U.xx, U.yy), U.xy, 0, U.xz, U.yz, U.zz)
                + pair(Vec3(0, 0, step.d), moved)
            )
            l = step.fall(moved)  # (24)
            kz = z * k.z
            g = step.s * m + kz  # (B3)
            U = inner.J - square_skew(step.s) * m + _ring(z) * U.yy + pair(step.s, kz)  # (C2)
        else:
            lz = add(l.z, mul(m, step.d))
            X = V + _slide(step.d, c, add(lz, add(l.z, mul(2, k.z))))
            l = step.fall(Vec3(l.x, l.y, lz))  # (24)
            kz = step.fall(k)
            g = b * m + kz  # (B3)
            U = inner.J + step.fall_sym(U) - square_skew(b) * m + pair(b, kz)  # (C3)
        bodies.append(Composite(m, c, J, l, g))
        V = step.fall_sym(X) + pair(b, l)  # (34), (35)
        k = inner.h + g  # (C1)
        m = add(inner.m, m)  # (3)
    return bodies[::-1]


def _ring(z: Vec3) -> Sym3:
    """E - z z' of a unit vector."""
    return square_skew(z) * -1


def _slide(d: Scalar, c: Vec3, p: Scalar) -> Sym3:
    """pair([0, 0, d], c) + m d^2 diag(1, 1, 0), where p = m d + 2 c_z."""
    dp = mul(d, p)
    return Sym3(dp, 0, dp, -mul(d, c.x), -mul(d, c.y), 0)
