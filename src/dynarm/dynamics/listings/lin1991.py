"""[lin1991] Fig. 3, the new composite body method, and Fig. A1, Renaud's, for arms whose first joint is rotational.

Rows that the scan has lost (a_j, H, d, eta, zeta of joint 2) are written from (62)-(67) and (54)-(57); their bookings
are inferred so that Table I adds up, those of the bias vector are what the equations need. s_2 is on hand, as all
displacements between neighbours are, and tr[J] E is formed and subtracted as Fig. 3 writes it: 2M less and 2A more than
its bookings have for these two lines.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...algebra.vectors import (
    ZERO,
    Mat3,
    Scalar,
    Sym3,
    Vec3,
    Z,
    add,
    mul,
    square_skew,
    sub,
    total,
)
from ...robot.frames.chain import Chain
from ..papers.composite_body_lin1991 import about_centre, half_trace_less
from .tally import ADDITION, Ledger, Rotation

Rows = list[list[Scalar]]


def inertia_matrix(arm: Chain, q: Sequence[float], tally: Ledger) -> Rows:
    """H by Fig. 3 without its boxes."""
    return _Figure3(arm, tally.steps(arm, q), tally, bias=False).inertia()


def inertia_matrix_and_bias(
    arm: Chain, q: Sequence[float], qd: Sequence[float], tally: Ledger
) -> tuple[Rows, list[Scalar]]:
    """H and b by Fig. 3."""
    figure = _Figure3(arm, tally.steps(arm, q), tally, bias=True)
    for joint in arm.joints:
        tally.at("R", *((4, 0) if joint.revolute else (2, 0)))
        _formed(joint.revolute, tally)
    H = figure.inertia()
    return H, figure.bias(tally.numbers(qd))


def _formed(revolute: bool, tally: Ledger) -> None:
    """cos beta sin theta and three more products of R, or two of a displacement."""
    for x in tally.numbers([1.0] * (4 if revolute else 2)):
        _ = x * 0.5


class _Figure3:
    def __init__(self, arm: Chain, steps: Sequence[Rotation], tally: Ledger, bias: bool):
        self.arm, self.steps, self.tally, self.with_bias = arm, steps, tally, bias
        self.n = arm.n
        self.turns = [joint.revolute for joint in arm.joints]
        self.s, self.p, self.c = self._places()
        self.u, self.sh = self._axes()
        self.m, self.ph, self.J = self._bodies()
        self.d: dict[tuple[int, int], Vec3] = {}
        self.e: list[Vec3] = []

    def _places(self) -> tuple[list[Vec3], list[Vec3], list[Vec3]]:
        """s_i and p_i, from origin 1."""
        at, c = self.tally.at, [about_centre(joint)[0] for joint in self.arm.joints]
        s, p = [ZERO], [c[0]]
        for i in range(1, self.n):
            step = self.steps[i]
            if i == 1:
                at("s_2", *((2, 0) if self.turns[1] else (0, 0)))
                with self.tally.on_hand():  # a displacement between neighbours, as R
                    s.append(step.step.turns[-1].rise(Vec3(step.a, 0, step.d)))
            else:
                at("s_i", 8, 7)
                s.append(step.rise(s[-1] + step.s))
            at("p_i", 0, 3)
            p.append(s[i] + c[i])
        return s, p, c

    def _axes(self) -> tuple[dict[tuple[int, int], Vec3], dict[tuple[int, int], Vec3]]:
        """u_j and s^_j in frame i >= j, joints counted from 0."""
        at, u, sh = self.tally.at, {}, {}
        for j in range(self.n):
            u[j, j] = Z
            if self.turns[j]:
                sh[j, j] = Vec3(-self.s[j].y, self.s[j].x, 0) if j else ZERO
            for i in range(j + 1, self.n):
                first, wanted = i == j + 1, bool(j) and self.turns[j]
                if not first:
                    at("u_j in frame i", 8, 4)
                u[j, i] = self.steps[i].inner_axis if first else self.steps[i].rise(u[j, i - 1])
                if not wanted:
                    sh[j, i] = ZERO
                elif first:
                    at("s^_j in frame j+1", 5, 2)
                    sh[j, i] = self.steps[i].R.T @ sh[j, j]
                else:
                    at("s^_j in frame i", 8, 4)
                    sh[j, i] = self.steps[i].rise(sh[j, i - 1])
        return u, sh

    def _bodies(self) -> tuple[list[Scalar], list[Vec3], list[Sym3 | Scalar]]:
        """m^_i, p^_i and J_i (bar); of joint 1 only (J^_1)_33."""
        at, n, limbs = self.tally.at, self.n, self.arm.joints
        m: list[Scalar] = [joint.m for joint in limbs]
        for i in range(n - 2, -1, -1):
            m[i] = m[i] + m[i + 1]
        inertias = [half_trace_less(about_centre(joint)[2]) for joint in limbs]
        ph: list[Vec3] = [ZERO] * n
        J: list[Sym3 | Scalar] = [0] * n
        for i in range(n - 1, -1, -1):
            last = i == n - 1
            if i or self.with_bias:
                at(
                    "p^_n" if last else "p^_i" if i else "p^_1",
                    *((3, 0) if last else (11, 7) if i else (8, 7)),
                )
                mp = self.p[i] * limbs[i].m
                ph[i] = mp if last else mp + self.steps[i + 1].fall(ph[i + 1])
            if i == 0:
                J[0] = self._polar(inertias[0], J[1]) if n > 1 else limbs[0].J.zz
                continue
            at("J_n" if last else "J_i", *((6, 6) if last else (43, 31)))
            J[i] = inertias[i] - _dyad(mp, self.p[i])
            if not last:
                J[i] = J[i] + self.steps[i + 1].fall_sym(J[i + 1])
        return m, ph, J

    def _polar(self, own: Sym3, J: Sym3) -> Scalar:
        """(J^_1)_33."""
        at, u = self.tally.at, self.steps[1].inner_axis
        at("J^_2", 0, 3)
        trace = total(J.xx, J.yy, J.zz)
        hat = Sym3(sub(J.xx, trace), J.xy, sub(J.yy, trace), J.xz, J.yz, sub(J.zz, trace))
        at("(J^_1)_33", 12, 9)
        return add(self.arm.joints[0].J.zz, u.dot(hat @ u))

    def inertia(self) -> Rows:
        """H, and with the boxes d_mj."""
        at, n = self.tally.at, self.n
        H: Rows = [[0] * n for _ in range(n)]
        H[0][0] = self.J[0]
        self.e = [Vec3(-self.ph[0].y, self.ph[0].x, 0)] + [ZERO] * (n - 1)
        for j in range(1, n):
            J, sh, ph, mass = self.J[j], self.sh.get((j, j), ZERO), self.ph[j], self.m[j]
            if not self.turns[j]:
                H[j][j] = mass
                for k in range(j):
                    H[k][j] = H[j][k] = self._translational(k, j)
                continue
            at("e_j", 2, 2)
            e = self.e[j] = Vec3(sub(-ph.y, mul(mass, sh.x)), sub(ph.x, mul(mass, sh.y)), 0)
            a, B = self._moments(J, sh, ph)
            at("H_jj", 2, 2)
            H[j][j] = sub(a.z, sh.dot(e))
            for k in range(j):
                u = self.u[k, j]
                if self.turns[k]:
                    at("H_mj, m > 1" if k else "H_1j", *((5, 4) if k else (3, 2)))
                    H[k][j] = H[j][k] = sub(a.dot(u), self.sh[k, j].dot(e))
                else:
                    at("H_mj, K_m K*_j", 2, 1)
                    H[k][j] = H[j][k] = e.dot(u)
                if self.with_bias:
                    self.d[k, j] = self._direction(k, u, B, e, j)
        return H

    def _moments(self, J: Sym3, sh: Vec3, ph: Vec3) -> tuple[Vec3, Mat3]:
        """a_j and B_j; with the boxes both from A = s^_j p^_j'."""
        at = self.tally.at
        if not self.with_bias:
            at("a_j", 4, 5)
            own = Vec3(J.xz, J.yz, -add(J.xx, J.yy))
            return own + sh.cross(ph), Mat3(ZERO, ZERO, ZERO)
        at("A", 6, 0)
        A = sh.outer(ph)
        at("B_j", 0, 7)
        B = Mat3(
            Vec3(-add(J.xy, A.r2.y), add(J.xx, A.r2.x), 0),
            Vec3(sub(A.r1.y, J.yy), sub(J.xy, A.r1.x), 0),
            Vec3(sub(A.r1.z, J.yz), add(J.xz, A.r2.z), -add(A.r2.y, A.r1.x)),
        )
        at("a_j", 0, 5)
        a = Vec3(add(J.xz, A.r2.z), sub(J.yz, A.r1.z), total(-add(J.xx, J.yy), A.r1.y, -A.r2.x))
        return a, B

    def _translational(self, k: int, j: int) -> Scalar:
        at, u, mass = self.tally.at, self.u[k, j], self.m[j]
        if not self.turns[k]:
            at("H_mj, K_m K_j", 1, 0)
            if self.with_bias:
                self.d[k, j] = Z.cross(u * mass)
            return mul(mass, u.z)
        at("H_mj, K*_m K_j", 3, 2)
        if self.with_bias:
            sway = u.cross(self.ph[j]) - self.sh[k, j] * mass
            self.d[k, j] = Z.cross(sway)
            return sway.z
        across = sub(mul(u.x, self.ph[j].y), mul(u.y, self.ph[j].x))
        return sub(across, mul(mass, self.sh[k, j].z))

    def _direction(self, k: int, u: Vec3, B: Mat3, e: Vec3, j: int) -> Vec3:
        at = self.tally.at
        if not self.turns[k]:
            at("d_mj, K_m K*_j", 4, 1)
            return e.cross(u)
        at("d_mj, m > 1" if k else "d_1j", *((11, 8) if k else (7, 4)))
        turned = B @ u
        return turned + self.sh[k, j].cross(e) if k else turned

    def bias(self, qd: Sequence[Scalar]) -> list[Scalar]:
        """b from d_mj."""
        at, g, b = self.tally.at, self.arm.gravity, []
        for i, step in enumerate(self.steps):
            at("g in frame i", 8, 4)
            g = step.rise(g)
            at("eta_m", *((2, 1) if self.turns[i] else (1, 0)))
            b.append(-self.e[i].dot(g) if self.turns[i] else -mul(self.m[i], g.z))
        for m, row in enumerate(self._rates(qd)):
            for j in range(m + 1):
                if j < m:
                    at("b_m, j < m", 3, 3)
                    b[m] = sub(b[m], row[j].dot(self.d[j, m]))
                    at("b_m, j > m", 3, 3)
                    b[j] = add(b[j], row[m].dot(self.d[j, m]))
        return b

    def _rates(self, qd: Sequence[Scalar]) -> list[list[Vec3]]:
        """zeta_j qd_j in frame m >= j."""
        at = self.tally.at
        rows: list[list[Vec3]] = []
        zeta, inner = ZERO, ZERO
        at("qd_1^2", 1, 0)
        square = mul(qd[0], qd[0])
        for m, step in enumerate(self.steps):
            own = Z * qd[m] if self.turns[m] else ZERO
            if m == 1:
                at("zeta_2", 4, 1)
                zeta = self.u[0, 1] * mul(2, qd[0]) + own
            elif m:
                at("zeta_j", 8, 6)
                zeta = step.rise(zeta + inner) + own
            inner = own
            row = []
            if m:
                at("zeta_1 qd_1 in frame m", 3, 0)
                row.append(self.u[0, m] * square)
                for x in rows[-1][1:]:
                    at("zeta_j qd_j in frame m", 8, 4)
                    row.append(step.rise(x))
                at("zeta_j qd_j", 3, 0)
                row.append(zeta * qd[m])
            else:
                row.append(ZERO)
            rows.append(row)
        return rows


def _dyad(x: Vec3, y: Vec3) -> Sym3:
    """x y' of parallel vectors, one entry of each symmetric pair (6 mul)."""
    return Sym3(
        mul(x.x, y.x), mul(x.x, y.y), mul(x.y, y.y), mul(x.x, y.z), mul(x.y, y.z), mul(x.z, y.z)
    )


def renaud(arm: Chain, q: Sequence[float], tally: Ledger) -> Rows:
    """H by Fig. A1."""
    tally.doubling = (
        ADDITION  # 2x is an addition in Fig. A1: only so its rows have their 40 and 43 additions
    )
    steps, at, n = tally.steps(arm, q), tally.at, arm.n
    turns = [joint.revolute for joint in arm.joints]
    u, sh = _renaud_axes(steps, turns, tally)
    m, c, J = renaud_bodies(arm, steps, tally)
    H: Rows = [[0] * n for _ in range(n)]
    for j in range(n):
        H[j][j] = (J[j].zz if j else J[0]) if turns[j] else m[j]
        e = Vec3(-c[j].y, c[j].x, 0)
        for k in range(j):
            axis = u[k, j]
            if turns[j] and turns[k]:
                at("H_mj", 5, 4)
                value = add(J[j].third.dot(axis), sh[k, j].dot(e))
            elif turns[j]:
                at("H_mj, K_m K*_j", 2, 1)
                value = e.dot(axis)
            elif turns[k]:
                at("H_mj, K*_m K_j", 3, 2)
                value = sub(mul(m[j], sh[k, j].z), e.dot(axis))
            else:
                at("H_mj, K_m K_j", 1, 0)
                value = mul(m[j], axis.z)
            H[k][j] = H[j][k] = value
    return H


def _renaud_axes(
    steps: Sequence[Rotation], turns: Sequence[bool], tally: Ledger
) -> tuple[dict[tuple[int, int], Vec3], dict[tuple[int, int], Vec3]]:
    at, n, u, sh = tally.at, len(steps), {}, {}
    for j in range(n):
        for i in range(j + 1, n):
            step = steps[i]
            if i == j + 1:
                u[j, i] = step.inner_axis
                if turns[j]:
                    at("s^_j in frame j+1", 4, 2)
                    x, y = (add(mul(r.x, -step.s.y), mul(r.y, step.s.x)) for r in step.R.T.rows[:2])
                    with tally.on_hand():  # a constant of the initialization
                        z = add(mul(step.R.r1.z, -step.s.y), mul(step.R.r2.z, step.s.x))
                    sh[j, i] = Vec3(x, y, z)
                continue
            if turns[j]:
                at("s^_j in frame i", 14, 10)
                sh[j, i] = step.rise(sh[j, i - 1] + u[j, i - 1].cross(step.s))
            at("u_j in frame i", 8, 4)
            u[j, i] = step.rise(u[j, i - 1])
    return u, sh


def renaud_bodies(
    arm: Chain, steps: Sequence[Rotation], tally: Ledger
) -> tuple[list[Scalar], list[Vec3], list[Sym3 | Scalar]]:
    """m^, c^ and J^; of joint 1 only its entry 33."""
    at, n = tally.at, arm.n
    m: list[Scalar] = [joint.m for joint in arm.joints]
    c = [joint.h for joint in arm.joints]
    J: list[Sym3 | Scalar] = [joint.J for joint in arm.joints]
    for i in range(n - 2, -1, -1):
        step, slides = steps[i + 1], not arm.joints[i + 1].revolute
        own, tensor = arm.joints[i].h, arm.joints[i].J
        if not slides:
            own, tensor = own + step.s * m[i + 1], tensor - square_skew(step.s) * m[i + 1]
        at("c^_i", 8, 7) if not slides else at("c^_i, K_i+1", 11, 10)
        moved = step.fall(c[i + 1])
        c[i] = own + moved
        if slides:
            c[i] = c[i] + step.s * m[i + 1]
        if i:
            at("J^_i", *((46, 40) if not slides else (55, 43)))
            J[i] = tensor + step.fall_sym(J[i + 1]) + _twice_paired(step.s, moved, tally)
            if slides:
                J[i] = J[i] - square_skew(step.s) * m[i + 1]
        else:
            at("(J^_1)_33", *((14, 11) if not slides else (17, 12)))
            u = step.inner_axis
            both = tally.twice(add(mul(step.s.x, moved.x), mul(step.s.y, moved.y)))
            J[0] = total(tensor.zz, u.dot(J[1] @ u), both)
            if slides:
                square = add(mul(step.s.x, step.s.x), mul(step.s.y, step.s.y))
                J[0] = add(J[0], mul(m[1], square))
        m[i] = m[i] + m[i + 1]
    return m, c, J


def _twice_paired(s: Vec3, c: Vec3, tally: Ledger) -> Sym3:
    """-[s x][c x] - [c x][s x], its diagonal doubled after the sum (9 mul 9 add)."""
    xx, yy, zz = (mul(p, q) for p, q in zip(s, c, strict=True))
    return Sym3(
        tally.twice(add(yy, zz)),
        -add(mul(s.x, c.y), mul(s.y, c.x)),
        tally.twice(add(xx, zz)),
        -add(mul(s.x, c.z), mul(s.z, c.x)),
        -add(mul(s.y, c.z), mul(s.z, c.y)),
        tally.twice(add(xx, yy)),
    )
