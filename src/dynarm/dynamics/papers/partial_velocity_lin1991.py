"""Inertia matrix by partial velocities, link by link: the explicit method of 1988, of order n^3.

[lin1991]  S.-K. Lin, A new composite body method for manipulator dynamics, J. Robotic Systems 8 (1991) 197-219, Table I
           and introduction, of S.-K. Lin, An efficient formulation for the dynamic simulation of robots, IFAC Symposium
           on Robot Control 1988: the entries of H are sums over the links of products of the derivatives of their
           velocities and angular velocities with respect to the joint velocities. The 1991 paper prints no equation
           of it; the numbers P are this file's own.
Frames     i is a link, m and j are joints, m <= j <= i. u_m is the axis of joint m, r_m the way from origin m to the
           origin of the frame. Velocities of link i are written in frame i-1, angular velocities in frame i.
Differs    A link without a centre of mass is taken about its frame's origin (see `about_centre`): then h is the first
           moment that remains, and otherwise zero. The mass multiplies the three products of a velocity or its three
           components, whichever are fewer.

    (P1) w_mi = u_m,                    0 if joint m is translational
    (P2) v_mi = u_m x (r_m + c_i),      u_m if joint m is translational
    (P3) H_mj = sum_{i>=j} w_mi.I_i w_ji + m_i v_mi.v_ji + v_mi.(w_ji x h_i) + w_mi.(h_i x v_ji)
    (P4) u_m = R u_m, r_m = R (r_m + s), from frame i-1 to frame i
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...algebra.vectors import ZERO, Scalar, Vec3, Z, add, mul, total
from ...robot.frames.chain import Chain, Step
from .composite_body_lin1991 import about_centre, outward

SCALED_FROM = 3  # index of the joint from which on there are more products than components


@dataclass(frozen=True, slots=True, eq=False)
class PartialAxis:
    """Joint m in some frame: whether it turns, u_m and r_m."""

    revolute: bool
    u: Vec3
    r: Vec3

    def velocity(self, c: Vec3) -> Vec3:
        """Partial velocity of the point c."""
        return self.u.cross(self.r + c) if self.revolute else self.u  # (P2)

    @property
    def spin(self) -> Vec3:
        """Partial angular velocity."""
        return self.u if self.revolute else ZERO  # (P1)


def mass_matrix(arm: Chain, pose: Sequence[Step]) -> list[list[Scalar]]:
    """Inertia matrix [kg m^2, kg m or kg]."""
    n = arm.n
    H: list[list[Scalar]] = [[0] * n for _ in range(n)]
    axes: list[PartialAxis] = []
    for i, (body, step) in enumerate(zip(arm.joints, pose, strict=True)):
        c, h, inertia = about_centre(body)
        point, rest = inward(step, c), step.fall(h)
        v = [axis.velocity(point) for axis in axes]
        v.append(step.fall(Z.cross(c)) if body.revolute else step.z)  # (P2), m = i
        about = [*(axis.spin for axis in axes), step.z if body.revolute else ZERO]
        axes = [PartialAxis(x.revolute, step.rise(x.u), outward(step, x.r)) for x in axes]  # (P4)
        axes.append(PartialAxis(body.revolute, Z, ZERO))
        w = [axis.spin for axis in axes]
        L = [inertia @ x for x in w]
        for j in range(i + 1):
            P, mass = (v[j] * body.m, 1) if j >= SCALED_FROM else (v[j], body.m)
            cross, lever = about[j].cross(rest), rest.cross(v[j])
            for m in range(min(j + 1, i)):
                more = total(
                    L[m].dot(w[j]), mul(mass, v[m].dot(P)), v[m].dot(cross), about[m].dot(lever)
                )
                H[m][j] = add(H[m][j], more)  # (P3)
        H[i][i] = body.J.zz if body.revolute else body.m  # (P3), m = j = i
    return [[H[min(i, j)][max(i, j)] for j in range(n)] for i in range(n)]


def inward(step: Step, c: Vec3) -> Vec3:
    """c plus the step's displacement, in frame i-1 (8 mul 6 add): d is added before the turn about x, a after it."""
    v = step.turns[-1].fall(c)
    v = Vec3(v.x, v.y, add(v.z, step.d))
    for turn in reversed(step.turns[:-1]):
        v = turn.fall(v)
    return Vec3(add(v.x, step.a), v.y, v.z)
