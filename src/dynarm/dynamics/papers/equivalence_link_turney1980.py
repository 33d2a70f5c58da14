"""Section 4 of turney1980 for one link alone, (4.1) to (4.27): from Newton and Euler to Lagrange, both sides computed.

[turney1980]  J. L. Turney, T. N. Mudge, C. S. G. Lee, Equivalence of two formulations for robot arm dynamics,
              University of Michigan, December 1980, section 4.
Frames     Standard Denavit-Hartenberg (`robot.standard`), rotational joints.
Differs    Gravity is any vector, a_0 = -g in the place of g z_0. (4.9): R_i^0 g, not R_0^i g. (4.11): m_i stands before
           the terms of rbar too. (4.12)-(4.14): the integral over a link is a sum over six points whose second
           moment of mass is J; it is exact, and their masses may be negative. (4.17): m_i once in the term of
           gravity; rbar_i, not r_i, in its fourth sum.

    axis       R_i^{j-1} z_{j-1}, the axis of joint j in frame i;  Q_i^{j-1} b = axis x b
    chi        sum_j dp/dtheta_j qdd_j + sum_jk d2p/dtheta_j dtheta_k qd_j qd_k, of link i
    psi        chi + the same of dR, d2R times rbar_i

    (4.1)  w_i = sum_j axis_j qd_j
    (4.2)  alpha_i = sum_j axis_j qdd_j + sum_{k<j} axis_k x axis_j qd_j qd_k
    (4.3)  w x (w x r) = sum_jk Q_j Q_k r qd_j qd_k
    (4.4)  alpha x r = sum_j Q_j r qdd_j + sum_{k<j} (Q_k Q_j - Q_j Q_k) r qd_j qd_k
    (4.5)  a_i from a_{i-1}      (4.6)  a_i by Q alone       (4.7)  a_i = R_i^0 (chi - g)
    (4.8)  abar_i by Q           (4.9)  abar_i = R_i^0 (psi - g)
    (4.10) tau_i of link i alone: axis . [I alpha + w x I w + m (r + rbar) x abar]
    (4.11) the same with Tr{J} E - J in the place of I, less what rbar adds
    (4.12) its terms of J as an integral  (4.13) of d x (alpha x d) + d x (w x (w x d))  (4.14) expanded
    (4.15) integrated: Tr{R_i^0 (...) J dR_i' R_0^i}         (4.16) for each joint and pair
    (4.17) the other terms       (4.18) those of rbar        (4.19) as a trace with Q
    (4.20) Q_i^{i-1} = R_i^0 dR_0^i/dtheta_i                 (4.21) Tr{chi m rbar' dR_i'}
    (4.22) those of r            (4.23) as a trace           (4.24) axis x r = R_i^0 dp_0^i/dtheta_i
    (4.25) Tr{m psi dp_i'}       (4.26) tau_i of link i alone in blocks   (4.27) in T matrices
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...algebra.vectors import Scalar, Vec3, add, mul, skew, sub, total
from .equivalence_setting_turney1980 import ZEROS, Setting, disc, points, trace, trace_matrices

Sides = tuple[Sequence[Scalar], Sequence[Scalar]]


def eq_4_1(s: Setting, i: int) -> Sides:
    """(4.1)"""
    right = ZEROS
    for j in range(1, i + 1):
        right = right + s.axis(i, j) * s.qd[j - 1]
    return tuple(s.moving[i - 1].w), tuple(right)


def eq_4_2(s: Setting, i: int) -> Sides:
    """(4.2)"""
    right = s.once(i, lambda j: s.axis(i, j))
    right = right + s.pairs(i, lambda j, k: s.axis(i, k).cross(s.axis(i, j)), below=True)
    return tuple(s.moving[i - 1].alpha), tuple(right)


def eq_4_3(s: Setting, i: int) -> Sides:
    """(4.3)"""
    w, r = s.moving[i - 1].w, s.r(i)
    right = s.pairs(i, lambda j, k: s.spun(i, j, s.spun(i, k, r)))
    return tuple(w.cross(w.cross(r))), tuple(right)


def eq_4_4(s: Setting, i: int) -> Sides:
    """(4.4)"""
    r = s.r(i)
    right = s.once(i, lambda j: s.spun(i, j, r)) + s.pairs(
        i,
        lambda j, k: s.spun(i, k, s.spun(i, j, r)) - s.spun(i, j, s.spun(i, k, r)),
        below=True,
    )
    return tuple(s.moving[i - 1].alpha.cross(r)), tuple(right)


def eq_4_5(s: Setting, i: int) -> Sides:
    """(4.5)"""
    r = s.r(i)
    right = s.once(i, lambda j: s.spun(i, j, r)) + s.pairs(i, lambda j, k: s.ordered(i, j, k, r))
    before = s.moving[i - 2].a if i > 1 else -s.arm.gravity
    return tuple(s.moving[i - 1].a), tuple(right + s.R(i, i - 1) @ before)


def eq_4_6(s: Setting, i: int) -> Sides:
    """(4.6)"""
    arms = [s.R(i, m) @ s.r(m) for m in range(1, i + 1)]  # R_i^m r_m

    def beyond(u: int) -> Vec3:
        """The sum of R_i^m r_m over m >= u."""
        result = ZEROS
        for arm in arms[u - 1 :]:
            result = result + arm
        return result

    right = s.once(i, lambda j: s.spun(i, j, beyond(j)))
    right = right + s.pairs(i, lambda j, k: s.ordered(i, j, k, beyond(max(j, k))))
    return tuple(s.moving[i - 1].a), tuple(right - s.R(i, 0) @ s.arm.gravity)


def eq_4_7(s: Setting, i: int) -> Sides:
    """(4.7)"""
    return tuple(s.moving[i - 1].a), tuple(s.R(i, 0) @ (s.motion(i).p - s.arm.gravity))


def eq_4_8(s: Setting, i: int) -> Sides:
    """(4.8)"""
    rbar = s.R(0, i) @ s.bodies[i - 1].rbar
    inner = s.once(i, lambda j: s.spun(0, j, rbar))
    inner = inner + s.pairs(i, lambda j, k: s.ordered(0, j, k, rbar))
    return tuple(s.moving[i - 1].abar), tuple(s.R(i, 0) @ inner + s.moving[i - 1].a)


def eq_4_9(s: Setting, i: int) -> Sides:
    """(4.9)"""
    return tuple(s.moving[i - 1].abar), tuple(s.R(i, 0) @ (psi(s, i) - s.arm.gravity))


def psi(s: Setting, i: int) -> Vec3:
    whole = s.motion(i)
    return whole.R @ s.bodies[i - 1].rbar + whole.p


def own(s: Setting, i: int) -> Scalar:
    """tau_i without what the links beyond hand down: z . (n_i - r x R f_{i+1} - R n_{i+1})."""
    return sub(s.axis(i, i).dot(s.moving[i - 1].n), upper(s, i))


def upper(s: Setting, i: int) -> Scalar:
    """(4.28): what the links beyond hand down to joint i."""
    if i == s.n:
        return 0
    turn, outer = s.R(i, i + 1), s.moving[i]
    return s.axis(i, i).dot(s.r(i).cross(turn @ outer.f) + turn @ outer.n)


def eq_4_10(s: Setting, i: int) -> Sides:
    """(4.10)"""
    link, of = s.bodies[i - 1], s.moving[i - 1]
    moment = link.I @ of.alpha + of.w.cross(link.I @ of.w)
    moment = moment + (s.r(i) + link.rbar).cross(of.abar * link.m)
    return [own(s, i)], [s.axis(i, i).dot(moment)]


def _inertial(s: Setting, i: int) -> Scalar:
    """The terms of J in (4.11)."""
    J, of = s.bodies[i - 1].J, s.moving[i - 1]
    return s.axis(i, i).dot(disc(J, of.alpha) + of.w.cross(disc(J, of.w)))


def _remaining(s: Setting, i: int) -> Scalar:
    """The last three terms of (4.11)."""
    link, of = s.bodies[i - 1], s.moving[i - 1]
    spin = of.alpha.cross(link.rbar) + of.w.cross(of.w.cross(link.rbar))
    rest = (link.rbar + s.r(i)).cross(of.abar) - link.rbar.cross(spin)
    return mul(link.m, s.axis(i, i).dot(rest))


def eq_4_11(s: Setting, i: int) -> Sides:
    """(4.11)"""
    return [own(s, i)], [add(_inertial(s, i), _remaining(s, i))]


def _integral(s: Setting, i: int, of_point: Callable[[Vec3], Scalar]) -> Scalar:
    """The integral over link i of a function that is quadratic in the place."""
    return total(*(mul(dm, of_point(d)) for dm, d in points(s.bodies[i - 1].J)))


def eq_4_12(s: Setting, i: int) -> Sides:
    """(4.12)"""
    of, axis = s.moving[i - 1], s.axis(i, i)

    def at(d: Vec3) -> Scalar:
        dyad = d.outer(d).symmetric()
        return axis.dot(disc(dyad, of.alpha) + of.w.cross(disc(dyad, of.w)))

    return [_inertial(s, i)], [_integral(s, i, at)]


def eq_4_13(s: Setting, i: int) -> Sides:
    """(4.13)"""
    of, axis = s.moving[i - 1], s.axis(i, i)

    def at(d: Vec3) -> Scalar:
        return axis.dot(d.cross(of.alpha.cross(d)) + d.cross(of.w.cross(of.w.cross(d))))

    return [_inertial(s, i)], [_integral(s, i, at)]


def eq_4_14(s: Setting, i: int) -> Sides:
    """(4.14)"""

    def at(d: Vec3) -> Scalar:
        turned = s.R(0, i) @ d
        moved = s.once(i, lambda j: s.spun(0, j, turned))
        moved = moved + s.pairs(i, lambda j, k: s.ordered(0, j, k, turned))
        lever = s.R(i, 0) @ s.spun(0, i, turned)
        return trace(s.R(i, 0) @ moved, lever)

    return [_inertial(s, i)], [_integral(s, i, at)]


def eq_4_15(s: Setting, i: int) -> Sides:
    """(4.15)"""
    inner = s.R(i, 0) @ (s.motion(i).R @ s.bodies[i - 1].J)
    return [_inertial(s, i)], [trace_matrices(inner, s.R(i, 0) @ s.first(i, i).R)]


def eq_4_16(s: Setting, i: int) -> Sides:
    """(4.16)"""
    J, outer = s.bodies[i - 1].J, s.first(i, i).R
    terms = []
    for j in range(1, i + 1):
        terms.append(mul(trace_matrices(s.first(i, j).R @ J, outer), s.qdd[j - 1]))
        for k in range(1, i + 1):
            speed = mul(s.qd[j - 1], s.qd[k - 1])
            terms.append(mul(trace_matrices(s.twice(i, j, k).R @ J, outer), speed))
    return [_inertial(s, i)], [total(*terms)]


def eq_4_17(s: Setting, i: int) -> Sides:
    """(4.17)"""
    link, axis, up = s.bodies[i - 1], s.axis(i, i), s.R(i, 0)
    whole, both = s.motion(i), link.rbar + s.r(i)
    moment = both.cross(up @ whole.p) + s.r(i).cross(up @ (whole.R @ link.rbar))
    moment = moment - both.cross(up @ s.arm.gravity)
    return [_remaining(s, i)], [mul(link.m, axis.dot(moment))]


def eq_4_19(s: Setting, i: int) -> Sides:
    """(4.18), (4.19)"""
    link, turned = s.bodies[i - 1], s.R(i, 0) @ s.motion(i).p
    left = mul(link.m, s.axis(i, i).dot(link.rbar.cross(turned)))  # (4.18)
    return [left], [mul(link.m, trace(turned, s.spun(i, i, link.rbar)))]


def eq_4_20(s: Setting, i: int) -> Sides:
    """(4.20)"""
    left, right = skew(s.axis(i, i)), s.R(i, 0) @ s.first(i, i).R
    return [x for row in left.rows for x in row], [x for row in right.rows for x in row]


def eq_4_21(s: Setting, i: int) -> Sides:
    """(4.21)"""
    link, chi = s.bodies[i - 1], s.motion(i).p
    left = mul(link.m, s.axis(i, i).dot(link.rbar.cross(s.R(i, 0) @ chi)))  # (4.18)
    return [left], [mul(link.m, trace(chi, s.first(i, i).R @ link.rbar))]


def _middle(s: Setting, i: int) -> Scalar:
    """(4.22), the middle two terms of (4.17)."""
    axis, turned = s.axis(i, i), s.R(i, 0) @ psi(s, i)
    return mul(s.bodies[i - 1].m, axis.dot(s.r(i).cross(turned)))


def eq_4_23(s: Setting, i: int) -> Sides:
    """(4.22), (4.23)"""
    turned = s.R(i, 0) @ psi(s, i)
    right = trace(turned, s.axis(i, i).cross(s.r(i) * s.bodies[i - 1].m))
    return [_middle(s, i)], [right]


def eq_4_24(s: Setting, i: int) -> Sides:
    """(4.24)"""
    return tuple(s.axis(i, i).cross(s.r(i))), tuple(s.R(i, 0) @ s.first(i, i).p)


def eq_4_25(s: Setting, i: int) -> Sides:
    """(4.25)"""
    return [_middle(s, i)], [mul(s.bodies[i - 1].m, trace(psi(s, i), s.first(i, i).p))]


def eq_gravity(s: Setting, i: int) -> Sides:
    link = s.bodies[i - 1]
    pull = s.R(i, 0) @ -s.arm.gravity
    left = mul(link.m, s.axis(i, i).dot((link.rbar + s.r(i)).cross(pull)))
    return [left], [_weight(s, i, i, s.first(i, i).p)]


def _weight(s: Setting, i: int, m: int, lever: Vec3) -> Scalar:
    """What gravity on link m does by a turn of joint i that moves its origin by `lever`."""
    link = s.bodies[m - 1]
    moved = s.first(m, i).R @ link.rbar + lever
    return -mul(link.m, s.arm.gravity.dot(moved))


def blocks(s: Setting, i: int, m: int, lever: Vec3) -> Scalar:
    """(4.26), (4.31), (4.33) of link m: with the blocks dR, dp of T, and `lever` for dp/dtheta_i."""
    link, whole = s.bodies[m - 1], s.motion(m)
    turning = whole.R @ link.J + whole.p.outer(link.h)
    moving = whole.R @ link.h + whole.p * link.m
    inertial = add(trace_matrices(turning, s.first(m, i).R), trace(moving, lever))
    return add(inertial, _weight(s, i, m, lever))


def eq_4_26(s: Setting, i: int) -> Sides:
    """(4.26)"""
    return [own(s, i)], [blocks(s, i, i, s.first(i, i).p)]


def by_matrices(s: Setting, i: int, m: int) -> Scalar:
    """(4.27), (4.34): the terms of link m in T matrices."""
    link, D = s.bodies[m - 1], s.first(m, i)
    return add(
        s.motion(m).inertia(link.J, link.h, link.m).trace(D),
        _weight(s, i, m, D.p),
    )


def eq_4_27(s: Setting, i: int) -> Sides:
    """(4.27)"""
    return [own(s, i)], [by_matrices(s, i, i)]
