"""Mass matrix, Coriolis tensor, gravity forces and inverse dynamics by Lagrange's equations in T matrices.

[turney1980]  J. L. Turney, T. N. Mudge, C. S. G. Lee, Equivalence of two formulations for robot arm dynamics,
              University of Michigan, December 1980, section 2; the order-n^3 strategy of its appendix.
Frames     Standard Denavit-Hartenberg (`robot.standard`). T_j^q maps frame q to frame j: rotation R and origin p.
Differs    (1.11) and (1.12) have index j-1 where i-1 is printed. J of (1.26) takes any inertia; the printed diagonal
           form is the case of principal axes. (2.7): the potential energy is -m g.p and enters with +, its derivative
           being what (2.8) gives; g is any vector and enters the torque as an acceleration -g of every mass.
           C^i_jk, not C^k_ij, stands below (2.11). Translational joints are added: their Q has z in its last column
           and nothing else, dT = [0, z], and all second derivatives that need their dR vanish.

    (1.15) T_j^q = T_j^{q-1} T_{q-1}^q
    (1.11) dT_0^q/dq_j = T_0^{j-1} Q T_{j-1}^q              rotation part; (1.18) displacement part
    (1.12) d2T_0^q/dq_j dq_k = dT_0^{k-1}/dq_j Q T_{k-1}^q  rotation part, j <= k; (1.19) displacement part
    (1.28) J_q^a = [J, m rbar; m rbar', m],  (1.26) J = K + m rbar rbar'
    (2.8)  G_i = -g . sum_q dT_i (m rbar_q, m)
    (2.11) tau = M qdd + C(q, qd) + G
           M_ij   = sum_q Tr{dT_j J^a dT_i'}
           C^i_jk = sum_q Tr{d2T_jk J^a dT_i'},  C_i = sum_jk C^i_jk qd_j qd_k
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ...algebra.vectors import IDENTITY, ZERO, Mat3, Scalar, Sym3, Vec3, Z, add, mul, sub, total
from ...robot.frames.chain import Chain, Step
from ...robot.frames.standard import Link, links, steps

Wrench = tuple[Vec3, Vec3]
Rows = list[list[Scalar]]
NOTHING = Mat3(ZERO, ZERO, ZERO)


@dataclass(frozen=True, slots=True, eq=False)
class Rows34:
    """The upper three rows [R p] of a T matrix (below them 0 0 0 1) or of one of its derivatives (0 0 0 0)."""

    R: Mat3
    p: Vec3

    def __add__(self, o: Rows34) -> Rows34:
        return Rows34(self.R + o.R, self.p + o.p)

    def __mul__(self, k: Scalar) -> Rows34:
        return Rows34(self.R * k, self.p * k)

    def q(self, revolute: bool) -> Rows34:
        """Q times this T matrix: its derivative by the joint that carries it; free."""
        if not revolute:
            return Rows34(NOTHING, Z)
        return Rows34(Mat3(-self.R.r2, self.R.r1, ZERO), Vec3(-self.p.y, self.p.x, 0))

    def times(self, o: Rows34) -> Rows34:
        """This matrix times a derivative: only its rotation acts, the last row of a derivative being zero."""
        return Rows34(self.R @ o.R, self.R @ o.p)

    def inertia(self, J: Sym3, h: Vec3, m: Scalar) -> Rows34:
        """This matrix times J^a (48 mul 36 add)."""
        return Rows34(self.R @ J + self.p.outer(h), self.R @ h + self.p * m)

    def trace(self, o: Rows34) -> Scalar:
        """Tr{this o'} (12 mul 11 add)."""
        return total(
            *(a.dot(b) for a, b in zip(self.R.rows, o.R.rows, strict=True)), self.p.dot(o.p)
        )


@dataclass(frozen=True, slots=True, eq=False)
class PoseDerivatives:
    """The T matrices of a pose and their derivatives, joints and frames counted from 1 as in the paper."""

    T: dict[tuple[int, int], Rows34]  # j, q
    D: dict[tuple[int, int], Rows34]  # dT_0^q/dq_j by j, q


def motions(arm: Chain, pose: Sequence[Step]) -> PoseDerivatives:
    """All T_j^q and all first derivatives of the T_0^q."""
    path = steps(arm, pose)
    T, D = {}, {}
    for j in range(arm.n + 1):
        T[j, j] = Rows34(IDENTITY, ZERO)
        for q in range(j + 1, arm.n + 1):
            T[j, q] = Rows34(*path[q - 1].after(T[j, q - 1].R, T[j, q - 1].p))  # (1.15)
    for q in range(1, arm.n + 1):
        for j in range(1, q + 1):
            D[j, q] = T[0, j - 1].times(T[j - 1, q].q(arm.joints[j - 1].revolute))  # (1.11), (1.18)
    return PoseDerivatives(T, D)


def second(arm: Chain, known: PoseDerivatives, j: int, k: int, q: int) -> Rows34:
    """d2T_0^q/dq_j dq_k for j <= k <= q."""
    first, last = arm.joints[j - 1].revolute, arm.joints[k - 1].revolute
    if j == k:
        twice = known.T[k - 1, q].q(last).q(last) if last else Rows34(NOTHING, ZERO)
        return known.T[0, k - 1].times(twice)  # (1.12), (1.19)
    if not first:
        return Rows34(NOTHING, ZERO)
    return known.D[j, k - 1].times(known.T[k - 1, q].q(last))  # (1.12), (1.19)


def _masses(arm: Chain) -> dict[int, tuple[Sym3, Vec3, Scalar]]:
    """J^a of every link, by its blocks."""
    return {
        q: (link.J, link.h, link.m) for q, link in enumerate(links(arm), start=1)
    }  # (1.28), (1.26)


def inverse_dynamics(
    arm: Chain,
    pose: Sequence[Step],
    qd: Sequence[Scalar],
    qdd: Sequence[Scalar],
    wrench: Wrench = (ZERO, ZERO),
) -> list[Scalar]:
    """Joint forces [N m or N] that give accelerations qdd in the pose with velocities qd."""
    known, Ja = motions(arm, pose), _masses(arm)
    joints = range(1, arm.n + 1)
    twice = [mul(2, v) for v in qd]
    pairs = {
        (j, k): mul(twice[j - 1] if j < k else qd[j - 1], qd[k - 1])
        for k in joints
        for j in range(1, k + 1)
    }
    loads = {}
    for q in joints:
        B = Rows34(NOTHING, -arm.gravity)  # (2.8)
        for k in range(1, q + 1):
            B = B + known.D[k, q] * qdd[k - 1]
            for j in range(1, k + 1):
                B = B + second(arm, known, j, k, q) * pairs[j, k]
        loads[q] = B.inertia(*Ja[q])
    tau = [
        total(*(loads[q].trace(known.D[i, q]) for q in range(i, arm.n + 1))) for i in joints
    ]  # (2.11)
    return [sub(t, w) for t, w in zip(tau, _work(arm, known, wrench), strict=True)]


def _work(arm: Chain, known: PoseDerivatives, wrench: Wrench) -> Iterable[Scalar]:
    """What the wrench on the last link does by a unit motion of each joint."""
    turn = known.T[0, arm.n].R
    f, t = turn @ wrench[0], turn @ wrench[1]
    for i, joint in enumerate(arm.joints, start=1):
        axis = known.T[0, i - 1].R @ Z
        yield add(known.D[i, arm.n].p.dot(f), axis.dot(t) if joint.revolute else 0)


def mass_matrix(arm: Chain, pose: Sequence[Step]) -> Rows:
    """M [kg m^2, kg m, kg], each entry of the lower half the object of the upper."""
    known, Ja = motions(arm, pose), _masses(arm)
    DJ = {(i, q): D.inertia(*Ja[q]) for (i, q), D in known.D.items()}
    joints = range(1, arm.n + 1)
    upper = {
        (i, j): total(*(DJ[i, q].trace(known.D[j, q]) for q in range(j, arm.n + 1)))  # (2.11)
        for j in joints
        for i in range(1, j + 1)
    }
    return [[upper[min(i, j), max(i, j)] for j in joints] for i in joints]


def coriolis_tensor(arm: Chain, pose: Sequence[Step]) -> list[Rows]:
    """C[i][j][k], symmetric in j, k: bias_i = sum over j, k of C[i][j][k] qd_j qd_k + gravity_i."""
    known, Ja = motions(arm, pose), _masses(arm)
    DJ = {(i, q): D.inertia(*Ja[q]) for (i, q), D in known.D.items()}
    joints = range(1, arm.n + 1)
    C: dict[tuple[int, int, int], Scalar] = {}
    for q in joints:
        for k in range(1, q + 1):
            for j in range(1, k + 1):
                H = second(arm, known, j, k, q)
                for i in range(1, q + 1):
                    C[i, j, k] = add(C.get((i, j, k), 0), H.trace(DJ[i, q]))  # (2.11)
    return [[[C[i, min(j, k), max(j, k)] for k in joints] for j in joints] for i in joints]


def gravity(arm: Chain, pose: Sequence[Step]) -> list[Scalar]:
    """G [N m or N], the joint forces that hold the arm at rest."""
    known, bodies = motions(arm, pose), list(enumerate(links(arm), start=1))
    return [
        total(*(_weight(known.D[i, q], link, arm.gravity) for q, link in bodies[i - 1 :]))  # (2.8)
        for i, _ in bodies
    ]


def _weight(D: Rows34, link: Link, g: Vec3) -> Scalar:
    return -g.dot(D.R @ link.h + D.p * link.m)
