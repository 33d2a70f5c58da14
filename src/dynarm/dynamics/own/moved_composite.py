"""Inertia matrix and bias vector by composite bodies formed about their own origins and seen from the reference origin.

[lin1991]  S.-K. Lin, A new composite body method for manipulator dynamics, J. Robotic Systems 8 (1991) 197-219: the
           method of `composite_body_lin1991` with Renaud's invariants, which the paper's conclusion holds to be
           incompatible with one reference origin. They are not: the composite bodies may keep their own origins if
           the force e_j is moved to the reference origin, because p^_j - m^_j s_j = c^_j makes of (62)-(64) what
           stands below.
Frames     As in `composite_body_lin1991`; c^_j and J_j are about origin j, as in `renaud_lin1991`, and J_j is written
           as J^_j - 1/2 tr(J^_j) E.
Differs    (29), (30) and p_j are gone. s = a x + d z is taken in two parts, as in `renaud_lin1991`.

    (A5) c~_j = m_j c_j + K*_{j+1} m^_{j+1} s
    (A7) c^_j = c~_j + R' c^_{j+1} + K_{j+1} m^_{j+1} s
    (A8) J_j  = J~_j + R' J_{j+1} R - s c' - c s' - K_{j+1} m^_{j+1} s s',  c = R' c^_{j+1}
    (A6) J~_j = I_j - 1/2 tr(I_j) E - m_j c_j c_j' - K*_{j+1} m^_{j+1} s s'
    (23) J^_j = J_j - tr(J_j) E
    (63) e_j  = u_j x c^_j
    (62) a_j  = J^_j u_j + s_j x e_j
    (64) B_j  = -J_j [u_j x] - [e_j x][s_j x]
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from ...algebra.vectors import Mat3, Scalar, Sym3, Vec3, Z, add, double, mul, sub
from ...robot.frames.chain import Chain, Step
from ..papers import composite_body_lin1991
from ..papers.composite_body_lin1991 import BaseComposite, Sight, axes, half_trace_less


def composites(arm: Chain, pose: Sequence[Step], origin: Vec3) -> tuple[Sight, list[BaseComposite]]:
    """The axes that each frame sees and the composite bodies 1 to n."""
    seen, ways = axes(arm, pose, origin)
    tip = arm.joints[-1]
    m, c, J = tip.m, tip.h, half_trace_less(tip.J)
    bodies = [_seen_from_reference(tip.revolute, ways[-1], m, c, J, tip.J.zz)]
    for j in range(arm.n - 2, -1, -1):
        joint, step = arm.joints[j], pose[j + 1]
        sliding = not arm.joints[j + 1].revolute
        fixed = Vec3(step.a, 0, 0) if sliding else step.s  # of s
        moved, turned = _inward(step, m, c, J, sliding)
        c = joint.h + fixed * m + moved  # (A5), (A7)
        J = half_trace_less(joint.J) - fixed.outer(fixed).symmetric() * m + turned  # (A6), (A8)
        m = add(joint.m, m)
        polar = -add(J.xx, J.yy)  # (23)
        bodies.append(_seen_from_reference(joint.revolute, ways[j], m, c, J, polar))
    return seen, bodies[::-1]


def _inward(step: Step, m: Scalar, c: Vec3, J: Sym3, sliding: bool) -> tuple[Vec3, Sym3]:
    """c and J of body j+1 in frame j, about origin j, but for the constants that (A5) and (A6) have already."""
    a, d, about_z = step.a, step.d, step.turns[-1]
    c, J = about_z.fall(c), about_z.fall_sym(J)
    slid_c = c + Z * mul(m, d) if sliding else c
    along = mul(d, add(c.z, slid_c.z)) if sliding else double(c.z, d)
    J = J - Sym3(0, 0, 0, mul(d, c.x), mul(d, c.y), along)  # (A8), s = d z
    for turn in reversed(step.turns[:-1]):
        slid_c, J = turn.fall(slid_c), turn.fall_sym(J)
    across = Sym3(double(slid_c.x, a), mul(a, slid_c.y), 0, mul(a, slid_c.z), 0, 0)
    return slid_c, J - across  # (A8), s = a x


def _seen_from_reference(
    revolute: bool, s: Vec3, m: Scalar, c: Vec3, J: Sym3, polar: Scalar
) -> BaseComposite:
    """Composite body j, its force and couple moved by s_j; [e x][s x] = s e' - (e.s) E, and e has no z component."""
    e = Z.cross(c)  # (63)
    B = Mat3(
        Vec3(sub(mul(s.y, e.y), J.xy), sub(J.xx, mul(s.x, e.y)), 0),
        Vec3(-add(J.yy, mul(s.y, e.x)), add(J.xy, mul(s.x, e.x)), 0),
        Vec3(-add(J.yz, mul(s.z, e.x)), sub(J.xz, mul(s.z, e.y)), e.dot(s)),
    )  # (64)
    a = Vec3(B.r3.y, -B.r3.x, sub(B.r2.x, B.r1.y))  # (62): its components stand in B
    return BaseComposite(revolute, m, c + s * m, a, e, B, polar if revolute else m)


mass_matrix = partial(composite_body_lin1991.mass_matrix, form=composites)
mass_matrix_and_bias = partial(composite_body_lin1991.mass_matrix_and_bias, form=composites)
bias = partial(composite_body_lin1991.bias, form=composites)
coriolis_tensor = partial(composite_body_lin1991.coriolis_tensor, form=composites)
