"""Formulations whose equations a paper prints and whose count it quotes as a sum, without rows: nothing is booked.

[linfang1999]  Walker and Orin's, (A1)-(A10): bodies about centres of mass. Its count stands in Table I of lin1991.
[lin1991]      Fijany and Bejczy's, (A10)-(A15), with the composite bodies (A5)-(A8) of Fig. A1: all vectors in frame 2,
               whose rotations R_2^j are products of matrices.

Lin's method of 1988 ("partial_velocity"), the third that Table I compares with, is quoted without an equation.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...algebra.vectors import IDENTITY, Mat3, Scalar, Vec3, Z
from ...robot.frames.chain import Chain
from ..papers.walker_orin_linfang1999 import lumps, unit_acceleration
from .lin1991 import renaud_bodies
from .tally import ADDITION, Ledger, Rotation

Rows = list[list[Scalar]]


def walker_orin(arm: Chain, q: Sequence[float], tally: Ledger) -> Rows:
    """The mass matrix about centres of mass."""
    at, n = tally.at, arm.n
    steps = [rotation.step for rotation in tally.steps(arm, q)]
    at("m_i, r_i, I_i")  # (A3), (A4)
    bodies = lumps(arm, steps)
    D: Rows = [[0] * n for _ in range(n)]
    for i, (joint, body) in enumerate(zip(arm.joints, bodies, strict=True)):
        at("f_ii, t_ii")  # (A1), (A2), (A5)-(A8)
        f, t = unit_acceleration(joint, body)
        D[i][i] = t.z if joint.revolute else f.z
        for j in range(i - 1, -1, -1):
            step = steps[j + 1]
            at("f_ji")
            f = step.fall(f)
            at("t_ji")  # (A9)
            t = step.fall(t) + step.s.cross(f)
            D[j][i] = D[i][j] = t.z if arm.joints[j].revolute else f.z  # (A10)
    return D


def fijany_bejczy(arm: Chain, q: Sequence[float], tally: Ledger) -> Rows:
    """The inertia matrix in frame 2."""
    tally.doubling = ADDITION  # as in Fig. A1, whose bodies these are
    at, n, steps = tally.at, arm.n, tally.steps(arm, q)
    turns = [joint.revolute for joint in arm.joints]
    m, c, J = renaud_bodies(arm, steps, tally)
    R, u, s = _common_frame(steps, tally)
    H: Rows = [[0] * n for _ in range(n)]
    for j in range(n):
        H[j][j] = (J[j].zz if j else J[0]) if turns[j] else m[j]  # (A12)
        f = Vec3(-c[j].y, c[j].x, 0) if turns[j] else Z * m[j]  # (A10)
        t = (J[j].third if turns[j] else Vec3(c[j].y, -c[j].x, 0)) if j else Z  # (A11)
        at("f_j, t_j in frame 2")  # (A14)
        f, t = (x if j < 2 else R[j] @ x for x in (f, t))
        for k in range(j - 1, -1, -1):
            at("t_kj")  # (A15)
            t = t + s[k + 1].cross(f)
            at("H_kj")  # (A13)
            H[k][j] = H[j][k] = u[k].dot(t if turns[k] else f)
    for line in tally.lines.values():
        line[1] = line[2] = 0
    return H


def _common_frame(
    steps: Sequence[Rotation], tally: Ledger
) -> tuple[list[Mat3], list[Vec3], list[Vec3]]:
    """From frame j to frame 2; u_j and s_j in frame 2, s_j from origin j-1 to origin j."""
    at = tally.at
    with tally.on_hand():
        inner = steps[1].rise(steps[1].s)
    R, u, s = [IDENTITY, IDENTITY], [steps[1].inner_axis, Z], [Z, inner]
    for j in range(2, len(steps)):
        step, before = steps[j], R[-1]
        at("s_j in frame 2")
        s.append(step.s if j == 2 else before @ step.s)
        at("R from j to 2")
        R.append(step.R if j == 2 else Mat3(*(step.rise(row) for row in before.rows)))
        u.append(R[-1].T.r3)
    return R, u, s
