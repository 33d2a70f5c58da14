"""The proof that Lagrange and Newton-Euler say the same: each equation of section 4, both of its sides computed.

[turney1980]  J. L. Turney, T. N. Mudge, C. S. G. Lee, Equivalence of two formulations for robot arm dynamics,
              University of Michigan, December 1980, section 4.
Frames     Standard Denavit-Hartenberg (`robot.standard`), as in `newton_euler_turney1980` and `lagrange_turney1980`.
           Rotational joints only: the section speaks of no others.
Differs    Gravity is any vector, a_0 = -g in the place of g z_0. (4.9): R_i^0 g, not R_0^i g. (4.11): m_i stands before
           the terms of rbar too. (4.12)-(4.14): the integral over a link is a sum over six points whose second
           moment of mass is J; it is exact, and their masses may be negative. (4.17): m_i once in the term of
           gravity; rbar_i, not r_i, in its fourth sum. (4.28)-(4.33): the paper takes link i+1 as the last and lets
           the sums grow afterwards; here they run over all links beyond i at once, and (4.32) is said of each of
           them. m_{i+1} stands before every term of (4.30), and dR/dtheta rbar + dp/dtheta in (4.33).

    axis       R_i^{j-1} z_{j-1}, the axis of joint j in frame i;  Q_i^{j-1} b = axis x b  (1.8)
    chi        sum_j dp/dtheta_j qdd_j + sum_jk d2p/dtheta_j dtheta_k qd_j qd_k, of link i
    psi        chi + the same of dR, d2R times rbar_i

    (3.15) w_i        (3.16) alpha_i   (3.17) a_i   (3.18) abar_i, as in `newton_euler_turney1980`
    (3.19) f_i        (3.20) n_i       (3.21) tau_i
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
    (4.28) axis . (r x R f_{i+1} + R n_{i+1})                (4.29) its force as a trace  (4.30) expanded
    (4.31) its moment in blocks  (4.32) levers add up to dp_0^m/dtheta_i   (4.33) both together
    (4.34) tau_i = sum_m Tr{(sum_j dT qdd_j + sum_jk d2T qd_j qd_k) J^a dT_i'} + weights: (2.11)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ...algebra.vectors import Mat3, Scalar, Sym3, Vec3, Z, add, mul, skew, sub, total
from ...robot.frames.chain import Chain, Step
from ...robot.frames.standard import Link, StandardStep, links, steps
from .lagrange_turney1980 import NOTHING, PoseDerivatives, Rows34, motions, second

ZEROS = Vec3(0, 0, 0)


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """One equation of the proof: its number, what it says, and the numbers on its two sides, for all links."""

    equation: str
    says: str
    left: tuple[Scalar, ...]
    right: tuple[Scalar, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Recursion:
    """What the recursion (3.15)-(3.20) computes of one link, in its frame."""

    w: Vec3
    alpha: Vec3
    a: Vec3
    abar: Vec3
    f: Vec3
    n: Vec3


def recursion(
    arm: Chain, pose: Sequence[Step], qd: Sequence[Scalar], qdd: Sequence[Scalar]
) -> list[Recursion]:
    """The Newton-Euler recursion as it is printed, link by link."""
    path, bodies = steps(arm, pose), links(arm)
    w, alpha, a = ZEROS, ZEROS, -arm.gravity
    out: list[tuple[Vec3, Vec3, Vec3, Vec3]] = []
    for step, link, v, acc in zip(path, bodies, qd, qdd, strict=True):
        alpha = step.rise(alpha + w.cross(Z * v) + Z * acc)  # (3.16)
        w = step.rise(w + Z * v)  # (3.15)
        a = w.cross(w.cross(step.r)) + alpha.cross(step.r) + step.rise(a)  # (3.17)
        out.append(
            (w, alpha, a, w.cross(w.cross(link.rbar)) + alpha.cross(link.rbar) + a)
        )  # (3.18)
    back: list[Recursion] = []
    f, n = ZEROS, ZEROS  # R_i^{i+1} f_{i+1}, R_i^{i+1} n_{i+1}
    for step, link, (w, alpha, a, abar) in reversed(list(zip(path, bodies, out, strict=True))):
        own = link.I @ alpha + w.cross(link.I @ w) + (link.rbar + step.r).cross(abar * link.m)
        n = own + step.r.cross(f) + n  # (3.20)
        f = abar * link.m + f  # (3.19)
        back.append(Recursion(w, alpha, a, abar, f, n))
        f, n = step.fall(f), step.fall(n)
    return back[::-1]


@dataclass(frozen=True, slots=True, eq=False)
class Setting:
    """An arm in motion as both formulations see it. Links and joints are counted from 1 as in the paper."""

    arm: Chain
    qd: Sequence[Scalar]
    qdd: Sequence[Scalar]
    path: tuple[StandardStep, ...]
    bodies: tuple[Link, ...]
    known: PoseDerivatives
    moving: list[Recursion]

    @classmethod
    def of(
        cls, arm: Chain, pose: Sequence[Step], qd: Sequence[Scalar], qdd: Sequence[Scalar]
    ) -> Setting:
        """The setting of a state."""
        path, bodies = steps(arm, pose), links(arm)
        moving = recursion(arm, pose, qd, qdd)
        return cls(arm, qd, qdd, path, bodies, motions(arm, pose), moving)

    @property
    def n(self) -> int:
        return self.arm.n

    def R(self, j: int, i: int) -> Mat3:
        """R_j^i, from frame i to frame j."""
        return self.known.T[j, i].R if j <= i else self.known.T[i, j].R.T

    def axis(self, i: int, j: int) -> Vec3:
        """R_i^{j-1} z_{j-1}."""
        return self.R(i, j - 1) @ Z

    def spun(self, i: int, j: int, b: Vec3) -> Vec3:
        """Q_i^{j-1} b (1.8)."""
        return self.axis(i, j).cross(b)

    def r(self, i: int) -> Vec3:
        return self.path[i - 1].r

    def first(self, q: int, j: int) -> Rows34:
        """dT_0^q/dtheta_j; zero for joints beyond q."""
        return self.known.D[j, q] if j <= q else Rows34(NOTHING, ZEROS)

    def twice(self, q: int, j: int, k: int) -> Rows34:
        """d2T_0^q/dtheta_j dtheta_k."""
        return second(self.arm, self.known, min(j, k), max(j, k), q)

    def motion(self, q: int) -> Rows34:
        """sum_j dT qdd_j + sum_jk d2T qd_j qd_k of link q, by its two blocks."""
        joints = range(1, q + 1)
        whole = Rows34(NOTHING, ZEROS)
        for j in joints:
            whole = whole + self.first(q, j) * self.qdd[j - 1]
            for k in joints:
                whole = whole + self.twice(q, j, k) * mul(self.qd[j - 1], self.qd[k - 1])
        return whole

    def once(self, q: int, term: Callable[[int], Vec3]) -> Vec3:
        """sum_j term(j) qdd_j over the joints up to q."""
        result = ZEROS
        for j in range(1, q + 1):
            result = result + term(j) * self.qdd[j - 1]
        return result

    def pairs(self, q: int, term: Callable[[int, int], Vec3], below: bool = False) -> Vec3:
        """sum_jk term(j, k) qd_j qd_k over the joints up to q; below: over k < j only."""
        result = ZEROS
        for j in range(1, q + 1):
            for k in range(1, j if below else q + 1):
                result = result + term(j, k) * mul(self.qd[j - 1], self.qd[k - 1])
        return result

    def ordered(self, i: int, j: int, k: int, b: Vec3) -> Vec3:
        """Q_i^{v-1} Q_i^{u-1} b, u = max(j, k), v = min(j, k)."""
        return self.spun(i, min(j, k), self.spun(i, max(j, k), b))


def trace(a: Vec3, b: Vec3) -> Scalar:
    """Tr{a b'}."""
    return a.dot(b)


def trace_matrices(A: Mat3, B: Mat3) -> Scalar:
    """Tr{A B'}."""
    return total(*(a.dot(b) for a, b in zip(A.rows, B.rows, strict=True)))


def points(J: Sym3) -> list[tuple[Scalar, Vec3]]:
    """Six masses and their places whose second moment, the sum of dm d d', is J."""
    xx, xy, yy, xz, yz, zz = J
    return [
        (sub(sub(xx, xy), xz), Vec3(1, 0, 0)),
        (sub(sub(yy, xy), yz), Vec3(0, 1, 0)),
        (sub(sub(zz, xz), yz), Vec3(0, 0, 1)),
        (xy, Vec3(1, 1, 0)),
        (xz, Vec3(1, 0, 1)),
        (yz, Vec3(0, 1, 1)),
    ]


def _disc(J: Sym3, v: Vec3) -> Vec3:
    """(Tr{J} E - J) v."""
    return v * J.trace - J @ v


# ---- the equations, link by link: each gives the numbers of its two sides


Sides = tuple[Sequence[Scalar], Sequence[Scalar]]


def _4_1(s: Setting, i: int) -> Sides:
    """(4.1)"""
    right = ZEROS
    for j in range(1, i + 1):
        right = right + s.axis(i, j) * s.qd[j - 1]
    return tuple(s.moving[i - 1].w), tuple(right)


def _4_2(s: Setting, i: int) -> Sides:
    """(4.2)"""
    right = s.once(i, lambda j: s.axis(i, j))
    right = right + s.pairs(i, lambda j, k: s.axis(i, k).cross(s.axis(i, j)), below=True)
    return tuple(s.moving[i - 1].alpha), tuple(right)


def _4_3(s: Setting, i: int) -> Sides:
    """(4.3)"""
    w, r = s.moving[i - 1].w, s.r(i)
    right = s.pairs(i, lambda j, k: s.spun(i, j, s.spun(i, k, r)))
    return tuple(w.cross(w.cross(r))), tuple(right)


def _4_4(s: Setting, i: int) -> Sides:
    """(4.4)"""
    r = s.r(i)
    right = s.once(i, lambda j: s.spun(i, j, r)) + s.pairs(
        i,
        lambda j, k: s.spun(i, k, s.spun(i, j, r)) - s.spun(i, j, s.spun(i, k, r)),
        below=True,
    )
    return tuple(s.moving[i - 1].alpha.cross(r)), tuple(right)


def _4_5(s: Setting, i: int) -> Sides:
    """(4.5)"""
    r = s.r(i)
    right = s.once(i, lambda j: s.spun(i, j, r)) + s.pairs(i, lambda j, k: s.ordered(i, j, k, r))
    before = s.moving[i - 2].a if i > 1 else -s.arm.gravity
    return tuple(s.moving[i - 1].a), tuple(right + s.R(i, i - 1) @ before)


def _4_6(s: Setting, i: int) -> Sides:
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


def _4_7(s: Setting, i: int) -> Sides:
    """(4.7)"""
    return tuple(s.moving[i - 1].a), tuple(s.R(i, 0) @ (s.motion(i).p - s.arm.gravity))


def _4_8(s: Setting, i: int) -> Sides:
    """(4.8)"""
    rbar = s.R(0, i) @ s.bodies[i - 1].rbar
    inner = s.once(i, lambda j: s.spun(0, j, rbar))
    inner = inner + s.pairs(i, lambda j, k: s.ordered(0, j, k, rbar))
    return tuple(s.moving[i - 1].abar), tuple(s.R(i, 0) @ inner + s.moving[i - 1].a)


def _4_9(s: Setting, i: int) -> Sides:
    """(4.9)"""
    return tuple(s.moving[i - 1].abar), tuple(s.R(i, 0) @ (_psi(s, i) - s.arm.gravity))


def _psi(s: Setting, i: int) -> Vec3:
    whole = s.motion(i)
    return whole.R @ s.bodies[i - 1].rbar + whole.p


def _own(s: Setting, i: int) -> Scalar:
    """tau_i without what the links beyond hand down: z . (n_i - r x R f_{i+1} - R n_{i+1})."""
    return sub(s.axis(i, i).dot(s.moving[i - 1].n), _upper(s, i))


def _upper(s: Setting, i: int) -> Scalar:
    """(4.28): what the links beyond hand down to joint i."""
    if i == s.n:
        return 0
    turn, outer = s.R(i, i + 1), s.moving[i]
    return s.axis(i, i).dot(s.r(i).cross(turn @ outer.f) + turn @ outer.n)


def _4_10(s: Setting, i: int) -> Sides:
    """(4.10)"""
    link, of = s.bodies[i - 1], s.moving[i - 1]
    moment = link.I @ of.alpha + of.w.cross(link.I @ of.w)
    moment = moment + (s.r(i) + link.rbar).cross(of.abar * link.m)
    return [_own(s, i)], [s.axis(i, i).dot(moment)]


def _inertial(s: Setting, i: int) -> Scalar:
    """The terms of J in (4.11)."""
    J, of = s.bodies[i - 1].J, s.moving[i - 1]
    return s.axis(i, i).dot(_disc(J, of.alpha) + of.w.cross(_disc(J, of.w)))


def _remaining(s: Setting, i: int) -> Scalar:
    """The last three terms of (4.11)."""
    link, of = s.bodies[i - 1], s.moving[i - 1]
    spin = of.alpha.cross(link.rbar) + of.w.cross(of.w.cross(link.rbar))
    rest = (link.rbar + s.r(i)).cross(of.abar) - link.rbar.cross(spin)
    return mul(link.m, s.axis(i, i).dot(rest))


def _4_11(s: Setting, i: int) -> Sides:
    """(4.11)"""
    return [_own(s, i)], [add(_inertial(s, i), _remaining(s, i))]


def _integral(s: Setting, i: int, of_point: Callable[[Vec3], Scalar]) -> Scalar:
    """The integral over link i of a function that is quadratic in the place."""
    return total(*(mul(dm, of_point(d)) for dm, d in points(s.bodies[i - 1].J)))


def _4_12(s: Setting, i: int) -> Sides:
    """(4.12)"""
    of, axis = s.moving[i - 1], s.axis(i, i)

    def at(d: Vec3) -> Scalar:
        dyad = d.outer(d).symmetric()
        return axis.dot(_disc(dyad, of.alpha) + of.w.cross(_disc(dyad, of.w)))

    return [_inertial(s, i)], [_integral(s, i, at)]


def _4_13(s: Setting, i: int) -> Sides:
    """(4.13)"""
    of, axis = s.moving[i - 1], s.axis(i, i)

    def at(d: Vec3) -> Scalar:
        return axis.dot(d.cross(of.alpha.cross(d)) + d.cross(of.w.cross(of.w.cross(d))))

    return [_inertial(s, i)], [_integral(s, i, at)]


def _4_14(s: Setting, i: int) -> Sides:
    """(4.14)"""

    def at(d: Vec3) -> Scalar:
        turned = s.R(0, i) @ d
        moved = s.once(i, lambda j: s.spun(0, j, turned))
        moved = moved + s.pairs(i, lambda j, k: s.ordered(0, j, k, turned))
        lever = s.R(i, 0) @ s.spun(0, i, turned)
        return trace(s.R(i, 0) @ moved, lever)

    return [_inertial(s, i)], [_integral(s, i, at)]


def _4_15(s: Setting, i: int) -> Sides:
    """(4.15)"""
    inner = s.R(i, 0) @ (s.motion(i).R @ s.bodies[i - 1].J)
    return [_inertial(s, i)], [trace_matrices(inner, s.R(i, 0) @ s.first(i, i).R)]


def _4_16(s: Setting, i: int) -> Sides:
    """(4.16)"""
    J, outer = s.bodies[i - 1].J, s.first(i, i).R
    terms = []
    for j in range(1, i + 1):
        terms.append(mul(trace_matrices(s.first(i, j).R @ J, outer), s.qdd[j - 1]))
        for k in range(1, i + 1):
            speed = mul(s.qd[j - 1], s.qd[k - 1])
            terms.append(mul(trace_matrices(s.twice(i, j, k).R @ J, outer), speed))
    return [_inertial(s, i)], [total(*terms)]


def _4_17(s: Setting, i: int) -> Sides:
    """(4.17)"""
    link, axis, up = s.bodies[i - 1], s.axis(i, i), s.R(i, 0)
    whole, both = s.motion(i), link.rbar + s.r(i)
    moment = both.cross(up @ whole.p) + s.r(i).cross(up @ (whole.R @ link.rbar))
    moment = moment - both.cross(up @ s.arm.gravity)
    return [_remaining(s, i)], [mul(link.m, axis.dot(moment))]


def _4_19(s: Setting, i: int) -> Sides:
    """(4.18), (4.19)"""
    link, turned = s.bodies[i - 1], s.R(i, 0) @ s.motion(i).p
    left = mul(link.m, s.axis(i, i).dot(link.rbar.cross(turned)))  # (4.18)
    return [left], [mul(link.m, trace(turned, s.spun(i, i, link.rbar)))]


def _4_20(s: Setting, i: int) -> Sides:
    """(4.20)"""
    left, right = skew(s.axis(i, i)), s.R(i, 0) @ s.first(i, i).R
    return [x for row in left.rows for x in row], [x for row in right.rows for x in row]


def _4_21(s: Setting, i: int) -> Sides:
    """(4.21)"""
    link, chi = s.bodies[i - 1], s.motion(i).p
    left = mul(link.m, s.axis(i, i).dot(link.rbar.cross(s.R(i, 0) @ chi)))  # (4.18)
    return [left], [mul(link.m, trace(chi, s.first(i, i).R @ link.rbar))]


def _middle(s: Setting, i: int) -> Scalar:
    """(4.22), the middle two terms of (4.17)."""
    axis, turned = s.axis(i, i), s.R(i, 0) @ _psi(s, i)
    return mul(s.bodies[i - 1].m, axis.dot(s.r(i).cross(turned)))


def _4_23(s: Setting, i: int) -> Sides:
    """(4.22), (4.23)"""
    turned = s.R(i, 0) @ _psi(s, i)
    right = trace(turned, s.axis(i, i).cross(s.r(i) * s.bodies[i - 1].m))
    return [_middle(s, i)], [right]


def _4_24(s: Setting, i: int) -> Sides:
    """(4.24)"""
    return tuple(s.axis(i, i).cross(s.r(i))), tuple(s.R(i, 0) @ s.first(i, i).p)


def _4_25(s: Setting, i: int) -> Sides:
    """(4.25)"""
    return [_middle(s, i)], [mul(s.bodies[i - 1].m, trace(_psi(s, i), s.first(i, i).p))]


def _gravity(s: Setting, i: int) -> Sides:
    link = s.bodies[i - 1]
    pull = s.R(i, 0) @ -s.arm.gravity
    left = mul(link.m, s.axis(i, i).dot((link.rbar + s.r(i)).cross(pull)))
    return [left], [_weight(s, i, i, s.first(i, i).p)]


def _weight(s: Setting, i: int, m: int, lever: Vec3) -> Scalar:
    """What gravity on link m does by a turn of joint i that moves its origin by `lever`."""
    link = s.bodies[m - 1]
    moved = s.first(m, i).R @ link.rbar + lever
    return -mul(link.m, s.arm.gravity.dot(moved))


def _blocks(s: Setting, i: int, m: int, lever: Vec3) -> Scalar:
    """(4.26), (4.31), (4.33) of link m: with the blocks dR, dp of T, and `lever` for dp/dtheta_i."""
    link, whole = s.bodies[m - 1], s.motion(m)
    turning = whole.R @ link.J + whole.p.outer(link.h)
    moving = whole.R @ link.h + whole.p * link.m
    inertial = add(trace_matrices(turning, s.first(m, i).R), trace(moving, lever))
    return add(inertial, _weight(s, i, m, lever))


def _4_26(s: Setting, i: int) -> Sides:
    """(4.26)"""
    return [_own(s, i)], [_blocks(s, i, i, s.first(i, i).p)]


def _by_matrices(s: Setting, i: int, m: int) -> Scalar:
    """(4.27), (4.34): the terms of link m in T matrices."""
    link, D = s.bodies[m - 1], s.first(m, i)
    return add(
        s.motion(m).inertia(link.J, link.h, link.m).trace(D),
        _weight(s, i, m, D.p),
    )


def _4_27(s: Setting, i: int) -> Sides:
    """(4.27)"""
    return [_own(s, i)], [_by_matrices(s, i, i)]


def _lever(s: Setting, i: int, m: int) -> Vec3:
    """R_0^{i-1} Q_{i-1}^{i-1} times what leads from origin i to origin m."""
    way = ZEROS
    for k in range(i + 1, m + 1):
        way = way + s.R(i - 1, k) @ s.r(k)
    return s.R(0, i - 1) @ Z.cross(way)


def _first_arm(s: Setting, i: int) -> Vec3:
    """R_0^{i-1} Q_{i-1}^{i-1} R_{i-1}^i r_i."""
    return s.R(0, i - 1) @ Z.cross(s.R(i - 1, i) @ s.r(i))


def _handed(s: Setting, i: int) -> Scalar:
    """The first term of (4.28)."""
    return s.axis(i, i).dot(s.r(i).cross(s.R(i, i + 1) @ s.moving[i].f))


def _4_29(s: Setting, i: int) -> Sides:
    """(4.28), (4.29)"""
    return [_handed(s, i)], [trace(s.R(0, i + 1) @ s.moving[i].f, _first_arm(s, i))]


def _4_30(s: Setting, i: int) -> Sides:
    """(4.30)"""
    force = ZEROS
    for m in range(i + 1, s.n + 1):
        force = force + (_psi(s, m) - s.arm.gravity) * s.bodies[m - 1].m
    return [_handed(s, i)], [trace(force, _first_arm(s, i))]


def _4_31(s: Setting, i: int) -> Sides:
    """(4.31)"""
    left = s.axis(i, i).dot(s.R(i, i + 1) @ s.moving[i].n)
    return [left], [total(*(_blocks(s, i, m, _lever(s, i, m)) for m in range(i + 1, s.n + 1)))]


def _4_32(s: Setting, i: int) -> Sides:
    """(4.32)"""
    left: list[Scalar] = []
    right: list[Scalar] = []
    for m in range(i + 1, s.n + 1):
        left += _first_arm(s, i) + _lever(s, i, m)
        right += s.first(m, i).p
    return left, right


def _4_33(s: Setting, i: int) -> Sides:
    """(4.33)"""
    beyond = range(i + 1, s.n + 1)
    return [_upper(s, i)], [total(*(_blocks(s, i, m, s.first(m, i).p) for m in beyond))]


def _4_34(s: Setting, i: int) -> Sides:
    """(4.34)"""
    left = s.axis(i, i).dot(s.moving[i - 1].n)  # (3.21)
    return [left], [total(*(_by_matrices(s, i, m) for m in range(i, s.n + 1)))]


Equation = tuple[str, str, Callable[[Setting, int], Sides], bool]

EQUATIONS: tuple[Equation, ...] = (  # number, words, sides, whether it needs links beyond
    ("4.1", "angular velocity is the sum of the axes, each times its speed", _4_1, False),
    ("4.2", "angular acceleration, expanded over joints and pairs of joints", _4_2, False),
    ("4.3", "w x (w x r) by pairs of Q", _4_3, False),
    ("4.4", "alpha x r by Q and its commutators", _4_4, False),
    ("4.5", "acceleration of a frame from that of the frame before", _4_5, False),
    ("4.6", "the same down to the base", _4_6, False),
    ("4.7", "the same in derivatives of p: Lagrange's last column", _4_7, False),
    ("4.8", "acceleration of the centre of mass by Q in base axes", _4_8, False),
    ("4.9", "the same in derivatives of R and p", _4_9, False),
    ("4.10", "torque of a link alone, by Newton and Euler", _4_10, False),
    ("4.11", "the same with J, about the frame's origin, in the place of I", _4_11, False),
    ("4.12", "its terms of J as an integral over the link", _4_12, False),
    ("4.13", "the integrand as d x (alpha x d) + d x (w x (w x d))", _4_13, False),
    ("4.14", "the integrand expanded as (4.1) to (4.4)", _4_14, False),
    ("4.15", "integrated again: a trace with J", _4_15, False),
    ("4.16", "a trace for every joint and every pair", _4_16, False),
    ("4.17", "the other terms of (4.11), expanded", _4_17, False),
    ("4.18, 4.19", "those of rbar as a trace with Q", _4_19, False),
    ("4.20", "Q_i^{i-1} = R_i^0 dR_0^i/dtheta_i", _4_20, False),
    ("4.21", "those of rbar as a trace with dR", _4_21, False),
    ("4.22, 4.23", "those of r as a trace", _4_23, False),
    ("4.24", "axis x r = R_i^0 dp_0^i/dtheta_i", _4_24, False),
    ("4.25", "those of r as a trace with dp", _4_25, False),
    ("below 4.25", "the weight of the link", _gravity, False),
    ("4.26", "torque of a link alone, in the blocks of T", _4_26, False),
    ("4.27", "torque of a link alone, by Lagrange", _4_27, False),
    ("4.28, 4.29", "what the force of the links beyond does, as a trace", _4_29, True),
    ("4.30", "the same with their accelerations expanded", _4_30, True),
    ("4.31", "what their moment does, in the blocks of T", _4_31, True),
    ("4.32", "the two levers together are dp_0^m/dtheta_i", _4_32, True),
    ("4.33", "force and moment of the links beyond, together", _4_33, True),
    ("4.34", "the torque: Newton and Euler on the left, Lagrange on the right", _4_34, False),
)


def proof(
    arm: Chain, pose: Sequence[Step], qd: Sequence[Scalar], qdd: Sequence[Scalar]
) -> list[Side]:
    """Every equation of section 4 on this arm in this state; those about links beyond are empty for one joint."""
    setting = Setting.of(arm, pose, qd, qdd)
    out = []
    for number, words, sides, outer in EQUATIONS:
        left: list[Scalar] = []
        right: list[Scalar] = []
        for i in range(1, arm.n + (not outer)):
            of = sides(setting, i)
            left += of[0]
            right += of[1]
        out.append(Side(number, words, tuple(left), tuple(right)))
    return out
