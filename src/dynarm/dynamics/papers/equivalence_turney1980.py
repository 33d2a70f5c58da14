"""The proof that Lagrange and Newton-Euler say the same: each equation of section 4, both of its sides computed.

[turney1980]  J. L. Turney, T. N. Mudge, C. S. G. Lee, Equivalence of two formulations for robot arm dynamics,
              University of Michigan, December 1980, section 4; its first part is `equivalence_link_turney1980`.
Frames     Standard Denavit-Hartenberg (`robot.standard`), rotational joints only: the section speaks of no others.
Differs    (4.28)-(4.33): the paper takes link i+1 as the last and lets the sums grow afterwards; here they run over all
           links beyond i at once, and (4.32) is said of each of them. m_{i+1} stands before every term of (4.30), and
           dR/dtheta rbar + dp/dtheta in (4.33).

    (3.21) tau_i = axis . n_i
    (4.28) axis . (r x R f_{i+1} + R n_{i+1})                (4.29) its force as a trace  (4.30) expanded
    (4.31) its moment in blocks  (4.32) levers add up to dp_0^m/dtheta_i   (4.33) both together
    (4.34) tau_i = sum_m Tr{(sum_j dT qdd_j + sum_jk d2T qd_j qd_k) J^a dT_i'} + weights: (2.11)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ...algebra.vectors import Scalar, Vec3, Z, total
from ...robot.frames.chain import Chain, Step
from .equivalence_link_turney1980 import (
    Sides,
    blocks,
    by_matrices,
    eq_4_1,
    eq_4_2,
    eq_4_3,
    eq_4_4,
    eq_4_5,
    eq_4_6,
    eq_4_7,
    eq_4_8,
    eq_4_9,
    eq_4_10,
    eq_4_11,
    eq_4_12,
    eq_4_13,
    eq_4_14,
    eq_4_15,
    eq_4_16,
    eq_4_17,
    eq_4_19,
    eq_4_20,
    eq_4_21,
    eq_4_23,
    eq_4_24,
    eq_4_25,
    eq_4_26,
    eq_4_27,
    eq_gravity,
    psi,
    upper,
)
from .equivalence_setting_turney1980 import ZEROS, Setting, trace


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """One equation of the proof: its number, what it says, and the numbers on its two sides, for all links."""

    equation: str
    says: str
    left: tuple[Scalar, ...]
    right: tuple[Scalar, ...]


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


def eq_4_29(s: Setting, i: int) -> Sides:
    """(4.28), (4.29)"""
    return [_handed(s, i)], [trace(s.R(0, i + 1) @ s.moving[i].f, _first_arm(s, i))]


def eq_4_30(s: Setting, i: int) -> Sides:
    """(4.30)"""
    force = ZEROS
    for m in range(i + 1, s.n + 1):
        force = force + (psi(s, m) - s.arm.gravity) * s.bodies[m - 1].m
    return [_handed(s, i)], [trace(force, _first_arm(s, i))]


def eq_4_31(s: Setting, i: int) -> Sides:
    """(4.31)"""
    left = s.axis(i, i).dot(s.R(i, i + 1) @ s.moving[i].n)
    return [left], [total(*(blocks(s, i, m, _lever(s, i, m)) for m in range(i + 1, s.n + 1)))]


def eq_4_32(s: Setting, i: int) -> Sides:
    """(4.32)"""
    left: list[Scalar] = []
    right: list[Scalar] = []
    for m in range(i + 1, s.n + 1):
        left += _first_arm(s, i) + _lever(s, i, m)
        right += s.first(m, i).p
    return left, right


def eq_4_33(s: Setting, i: int) -> Sides:
    """(4.33)"""
    beyond = range(i + 1, s.n + 1)
    return [upper(s, i)], [total(*(blocks(s, i, m, s.first(m, i).p) for m in beyond))]


def eq_4_34(s: Setting, i: int) -> Sides:
    """(4.34)"""
    left = s.axis(i, i).dot(s.moving[i - 1].n)  # (3.21)
    return [left], [total(*(by_matrices(s, i, m) for m in range(i, s.n + 1)))]


Equation = tuple[str, str, Callable[[Setting, int], Sides], bool]

EQUATIONS: tuple[Equation, ...] = (  # number, words, sides, whether it needs links beyond
    ("4.1", "angular velocity is the sum of the axes, each times its speed", eq_4_1, False),
    ("4.2", "angular acceleration, expanded over joints and pairs of joints", eq_4_2, False),
    ("4.3", "w x (w x r) by pairs of Q", eq_4_3, False),
    ("4.4", "alpha x r by Q and its commutators", eq_4_4, False),
    ("4.5", "acceleration of a frame from that of the frame before", eq_4_5, False),
    ("4.6", "the same down to the base", eq_4_6, False),
    ("4.7", "the same in derivatives of p: Lagrange's last column", eq_4_7, False),
    ("4.8", "acceleration of the centre of mass by Q in base axes", eq_4_8, False),
    ("4.9", "the same in derivatives of R and p", eq_4_9, False),
    ("4.10", "torque of a link alone, by Newton and Euler", eq_4_10, False),
    ("4.11", "the same with J, about the frame's origin, in the place of I", eq_4_11, False),
    ("4.12", "its terms of J as an integral over the link", eq_4_12, False),
    ("4.13", "the integrand as d x (alpha x d) + d x (w x (w x d))", eq_4_13, False),
    ("4.14", "the integrand expanded as (4.1) to (4.4)", eq_4_14, False),
    ("4.15", "integrated again: a trace with J", eq_4_15, False),
    ("4.16", "a trace for every joint and every pair", eq_4_16, False),
    ("4.17", "the other terms of (4.11), expanded", eq_4_17, False),
    ("4.18, 4.19", "those of rbar as a trace with Q", eq_4_19, False),
    ("4.20", "Q_i^{i-1} = R_i^0 dR_0^i/dtheta_i", eq_4_20, False),
    ("4.21", "those of rbar as a trace with dR", eq_4_21, False),
    ("4.22, 4.23", "those of r as a trace", eq_4_23, False),
    ("4.24", "axis x r = R_i^0 dp_0^i/dtheta_i", eq_4_24, False),
    ("4.25", "those of r as a trace with dp", eq_4_25, False),
    ("below 4.25", "the weight of the link", eq_gravity, False),
    ("4.26", "torque of a link alone, in the blocks of T", eq_4_26, False),
    ("4.27", "torque of a link alone, by Lagrange", eq_4_27, False),
    ("4.28, 4.29", "what the force of the links beyond does, as a trace", eq_4_29, True),
    ("4.30", "the same with their accelerations expanded", eq_4_30, True),
    ("4.31", "what their moment does, in the blocks of T", eq_4_31, True),
    ("4.32", "the two levers together are dp_0^m/dtheta_i", eq_4_32, True),
    ("4.33", "force and moment of the links beyond, together", eq_4_33, True),
    ("4.34", "the torque: Newton and Euler on the left, Lagrange on the right", eq_4_34, False),
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
