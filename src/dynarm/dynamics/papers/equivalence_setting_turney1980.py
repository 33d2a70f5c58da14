"""An arm in motion as the two formulations of turney1980 see it: what both sides of its section 4 are made of.

[turney1980]  J. L. Turney, T. N. Mudge, C. S. G. Lee, Equivalence of two formulations for robot arm dynamics,
              University of Michigan, December 1980, sections 3 and 4.
Frames     Standard Denavit-Hartenberg (`robot.standard`), rotational joints. Links and joints are counted from 1.
Differs    As in `newton_euler_turney1980` and `lagrange_turney1980`; here the recursion keeps every vector.

    (1.8)  Q_i^{j-1} b = (R_i^{j-1} z_{j-1}) x b
    (3.15) w_i        (3.16) alpha_i   (3.17) a_i   (3.18) abar_i, as in `newton_euler_turney1980`
    (3.19) f_i        (3.20) n_i
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ...algebra.vectors import Mat3, Scalar, Sym3, Vec3, Z, mul, sub, total
from ...robot.frames.chain import Chain, Step
from ...robot.frames.standard import Link, StandardStep, links, steps
from .lagrange_turney1980 import NOTHING, PoseDerivatives, Rows34, motions, second

ZEROS = Vec3(0, 0, 0)


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


def disc(J: Sym3, v: Vec3) -> Vec3:
    """(Tr{J} E - J) v."""
    return v * J.trace - J @ v
