"""Inertia matrix by Renaud's composite bodies, each about the origin of its own frame.

[lin1991]  S.-K. Lin, A new composite body method for manipulator dynamics, J. Robotic Systems 8 (1991) 197-219,
           appendix, eqs (A1)-(A9) and Fig. A1; the method is M. Renaud's (1984), for general joints J. W. Burdick's.
Frames     Composite body j is links j to n as if joints j+1 to n were locked; everything of it is about origin j, in
           frame j. s is the displacement from origin j to origin j+1, K_j = 0 and K*_j = 1 for a rotational joint,
           1 and 0 for a translational one.
Differs    s = a x + d z is taken in its two parts, d along z of frame j+1 before the turn about x and a along x of
           frame j after it, in (A7)-(A9) alike; what is constant stays in (A5), (A6) as printed. In Fig. A1 the entry
           33 for translational joints has s_x^2 + s_y^2, e_j has c^_j, and the first s^ has s. Origins on parallel axes
           and the last one are moved along their axes so that fewer d differ from zero (`slid`).

    (A1) H_mj = K*_m K*_j (u_m.J^_j u_j + s^_m.(u_j x c^_j)) + K_m K*_j u_m.(u_j x c^_j)
                + K*_m K_j (m^_j s^_m.u_j + u_m.(c^_j x u_j)) + K_m K_j m^_j u_m.u_j        m <= j
    (A4) s^_m = u_m x (origin j - origin m), in frame j
    (A5) c~_j = m_j c_j + K*_{j+1} m^_{j+1} s
    (A6) J~_j = I_j - m_j [c_j x][c_j x] - K*_{j+1} m^_{j+1} [s x][s x]
    (A7) c^_j = c~_j + R' c^_{j+1} + K_{j+1} m^_{j+1} s
    (A8) J^_j = J~_j + R' J^_{j+1} R - [s x][R' c^_{j+1} x] - [R' c^_{j+1} x][s x] - K_{j+1} m^_{j+1} [s x][s x]
    (A9) s^_m = R (s^_m + u_m x s), from frame j-1 to frame j
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...algebra.vectors import ZERO, Scalar, Sym3, Vec3, Z, add, mul, square_skew, sub
from ...robot.frames.chain import Chain, Step, slid


@dataclass(frozen=True, slots=True, eq=False)
class RenaudComposite:
    """Mass, first moment and inertia of links j to n about origin j, in frame j."""

    m: Scalar
    c: Vec3
    J: Sym3


def mass_matrix(arm: Chain, pose: Sequence[Step]) -> list[list[Scalar]]:
    """Inertia matrix [kg m^2, kg m or kg]."""
    arm, pose, _ = slid(arm, pose)
    bodies = composites(arm, pose)
    H: list[list[Scalar]] = [[0] * arm.n for _ in range(arm.n)]
    seen: list[tuple[Vec3, Vec3]] = []
    for j, (joint, step, body) in enumerate(zip(arm.joints, pose, bodies, strict=True)):
        seen = [_outward(step, u, v) for u, v in seen]
        H[j][j] = body.J.zz if joint.revolute else body.m  # (A1), m = j
        for m, (u, v) in enumerate(seen):
            H[m][j] = H[j][m] = _entry(arm.joints[m].revolute, joint.revolute, u, v, body)
        seen.append((Z, ZERO))  # (A4)
    return H


def composites(arm: Chain, pose: Sequence[Step]) -> list[RenaudComposite]:
    """The composite bodies 1 to n."""
    tip = arm.joints[-1]
    body = RenaudComposite(tip.m, tip.h, tip.J)
    bodies = [body]
    for j in range(arm.n - 2, -1, -1):
        joint, outer, step = arm.joints[j], arm.joints[j + 1], pose[j + 1]
        fixed = step.s if outer.revolute else Vec3(step.a, 0, 0)  # of s
        c = joint.h + fixed * body.m  # (A5)
        J = joint.J - square_skew(fixed) * body.m  # (A6)
        moved, turned = _inward(step, body, sliding=not outer.revolute)
        body = RenaudComposite(add(joint.m, body.m), c + moved, J + turned)  # (A7), (A8)
        bodies.append(body)
    return bodies[::-1]


def _inward(step: Step, body: RenaudComposite, sliding: bool) -> tuple[Vec3, Sym3]:
    """First moment and inertia of body j+1 in frame j, but for the constants that (A5) and (A6) have already.

    -[s x][c x] - [c x][s x] = 2 (s.c) E - s c' - c s', first for s = d z, then for s = a x.
    """
    about_z, a, d = step.turns[-1], step.a, step.d
    c, J = about_z.fall(body.c), about_z.fall_sym(body.J)  # (A7), (A8)
    if sliding:
        lowered = c + Z * mul(body.m, d)
        both = mul(d, add(c.z, lowered.z))
    else:
        lowered, both = c, mul(mul(2, d), c.z)
    J = Sym3(
        add(J.xx, both), J.xy, add(J.yy, both), sub(J.xz, mul(d, c.x)), sub(J.yz, mul(d, c.y)), J.zz
    )  # (A8)
    for turn in reversed(step.turns[:-1]):
        lowered, J = turn.fall(lowered), turn.fall_sym(J)  # (A7), (A8)
    both = mul(mul(2, a), lowered.x)  # (A8)
    J = J + Sym3(0, -mul(a, lowered.y), both, -mul(a, lowered.z), 0, both)  # (A8)
    return lowered, J


def _outward(step: Step, u: Vec3, v: Vec3) -> tuple[Vec3, Vec3]:
    """u_m and s^_m from frame j-1 to frame j (20 mul 12 add)."""
    v = v + Vec3(0, mul(u.z, step.a), -mul(u.y, step.a))  # (A9): u x a x
    for turn in step.turns[:-1]:
        u, v = turn.rise(u), turn.rise(v)  # (A9)
    v = v + Vec3(mul(u.y, step.d), -mul(u.x, step.d), 0)  # (A9): u x d z
    return step.turns[-1].rise(u), step.turns[-1].rise(v)  # (A9)


def _entry(turns: bool, turned: bool, u: Vec3, v: Vec3, body: RenaudComposite) -> Scalar:
    """H_mj of joint m, rotational if it `turns`, and body j, whose joint is rotational if it is `turned`."""
    e = Z.cross(body.c)
    if turned:
        return add(body.J.third.dot(u), v.dot(e)) if turns else e.dot(u)  # (A1)
    return sub(mul(body.m, v.z), e.dot(u)) if turns else mul(body.m, u.z)  # (A1)
