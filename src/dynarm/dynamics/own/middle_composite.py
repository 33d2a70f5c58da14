"""Mass matrix by composite bodies whose forces meet the axes in a middle frame: Formulations 1 and 3 joined.

[linfang1999]  S.-K. Lin, C.-J. Fang, Efficient formulations for the manipulator inertia matrix in terms of minimal
           linear combinations of inertia parameters, J. Robotic Systems 16 (1999) 679-695. The paper has Formulation 1,
           which carries forces and moments inwards to joint 1, and Formulation 3, which carries axes and their moments
           outwards to joint n. That both may stop at any frame k between is not in it.
Frames     Those of `composite_body_linfang1999`. Bodies i >= k carry force and moment inwards to frame k, joints j < k
           their axes u_j and moments of axes s^_j outwards to frame k; there (21) joins them. Pairs with j, i >= k are
           entered on the way in by (11), pairs with j, i < k on the way out by (21).
Differs    About n^2/4 pairs of vectors are carried from frame to frame instead of n^2/2. k = 2 is Formulation 1, k = n
           Formulation 3. The k that is cheapest for an arm is found by counting the operations of each.

    (9)  f_ji = R f_{j+1,i}             (10) t_ji = R (t + d z x f) + b x x f_ji
    (11) D_ji = z . t_ji (joint j rotational), z . f_ji (translational)
    (18) s^_j = R (s^_j + u_j x b x) + u_j x d z, from frame i-1 to frame i
    (21) D_ji = u_j . t_ki + s^_j . f_ki,   u_j . f_ki where j is translational
"""

from __future__ import annotations

from collections.abc import Sequence

from ...algebra.vectors import ZERO, Scalar, Sym3, Vec3, X, Z
from ...robot.frames.chain import Chain, Step, pose, slid
from ..papers.composite_bodies_linfang1999 import Composite, composites
from ..papers.composite_body_linfang1999 import (
    Rows,
    along,
    empty,
    force,
    inwards,
    mirrored,
    moment,
    neighbour,
    table_3,
    triple,
    turn_of,
)

Axes = list[tuple[Vec3, Vec3]]  # u_j and s^_j in one frame


def mass_matrix(arm: Chain, steps: Sequence[Step]) -> Rows:
    """Mass matrix [kg m^2, kg m, kg]: forces carried inwards and axes outwards to the cheapest frame between."""
    arm, steps, _ = slid(arm, steps)
    return joined(arm, steps, composites(arm, steps), cheapest_middle(arm))


def joined(arm: Chain, steps: Sequence[Step], bodies: Sequence[Composite], k: int) -> Rows:
    """The mass matrix by the middle frame k, counted from 0 as joints are."""
    D = empty(arm.n)
    axes = _outwards(arm, steps, bodies, k, D)
    for i in range(k, arm.n):
        joint, body = arm.joints[i], bodies[i]
        f, t = force(joint, body), moment(joint, body)
        D[i][i] = along(joint, f, t)
        for j in range(i - 1, k - 1, -1):
            f, t = inwards(steps[j + 1], f, t, turn_of(steps[j + 1], i, j))  # (9), (10)
            D[j][i] = along(arm.joints[j], f, t)  # (11)
        for j, (u, hat) in enumerate(axes):
            if j == i - 1:
                D[j][i] = neighbour(arm.joints[j], joint, steps[i], body)
            else:
                D[j][i] = triple(arm.joints[j], u, hat, f, t)  # (21)
    return mirrored(D)


def _outwards(
    arm: Chain, steps: Sequence[Step], bodies: Sequence[Composite], k: int, D: Rows
) -> Axes:
    """The axes of joints before k in frame k; enters D_ji of the pairs before k."""
    axes: Axes = []
    for i in range(k):
        axes = [*_next(arm, steps[i], axes), (Z, ZERO)]
        joint, body = arm.joints[i], bodies[i]
        D[i][i] = body.J.zz if joint.revolute else body.m
        for j, (u, hat) in enumerate(axes[:-1]):
            if j == i - 1:
                D[j][i] = neighbour(arm.joints[j], joint, steps[i], body)
            else:
                D[j][i] = table_3(arm.joints[j], joint, u, hat, body)  # (21)
    return _next(arm, steps[k], axes)


def _next(arm: Chain, step: Step, axes: Axes) -> Axes:
    """The axes one frame further out; a translational joint has no use for the moment of its axis."""
    b, d, i = X * step.a, Z * step.d, len(axes)
    pairs = []
    for j, (u, hat) in enumerate(axes):
        turn = turn_of(step, i, j)
        outer = turn.rise(u)
        if arm.joints[j].revolute:
            hat = turn.rise(hat + u.cross(b)) + outer.cross(d)  # (18)
        pairs.append((outer, hat))
    return pairs


# ---- which frame


class Tally:
    """A scalar without a value: it counts the operations done to it and to all that comes of it."""

    __slots__ = ("spent",)

    def __init__(self) -> None:
        self.spent = 0

    def _operation(self, other: Scalar) -> Tally:
        self.spent += 1
        return self

    def _nothing(self) -> Tally:
        return self

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _operation
    __neg__ = sin = cos = _nothing


def cheapest_middle(arm: Chain) -> int:
    """The frame k that costs the fewest operations, given the composite bodies."""
    n = arm.n
    one = Tally()
    steps = pose(arm, [one] * n)
    bodies = [Composite(one, Vec3(one, one, one), Sym3(*[one] * 6))] * n
    costs = {}
    for k in range(1, n):
        before = one.spent
        joined(arm, steps, bodies, k)
        costs[k] = one.spent - before
    return min(costs, key=costs.__getitem__, default=0)
