"""[turney1980] Tables 2 to 4: Lagrange by 4 x 4 matrices, Newton-Euler and its modified form, for rotational joints.

Rotations are full 3 x 3 products, 9 multiplications and 6 additions, in standard Denavit-Hartenberg frames; sines,
cosines, rotation matrices and constants of the links are on hand. Table 4 takes principal axes along these frames.
Rows that are booked n times though link n needs nothing of them (r x R f, R n) need less than is booked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...algebra.vectors import ZERO, Mat3, Scalar, Vec3, Z, add, mul, total
from ...robot.frames.chain import Chain, pose
from ...robot.frames.standard import Link, links, steps
from ..papers.modified_newton_euler_turney1980 import acceleration_matrix, spin_moment
from .tally import Ledger

Square = list[list[Scalar]]  # a 4 x 4 matrix, by rows


@dataclass(frozen=True, slots=True, eq=False)
class StandardPlace:
    """A link with R from frame i to frame i-1 and r_i in frame i: on hand."""

    link: Link
    R: Mat3
    r: Vec3


def _places(arm: Chain, q: Sequence[Scalar], tally: Ledger) -> list[StandardPlace]:
    with tally.on_hand():
        path = steps(arm, pose(arm, list(q)))
        units = (Vec3(1, 0, 0), Vec3(0, 1, 0), Z)
        return [
            StandardPlace(link, Mat3(*(step.fall(e) for e in units)).T, step.r)
            for link, step in zip(links(arm), path, strict=True)
        ]


def newton_euler(arm: Chain, q: Sequence[float], tally: Ledger) -> list[Scalar]:
    """Joint forces at qd = qdd = q by Table 3."""
    at, n = tally.at, arm.n
    places, rates = _places(arm, tally.numbers(q), tally), tally.numbers(q)
    loads = []
    w, alpha, a = ZERO, ZERO, -arm.gravity
    for here, v in zip(places, rates, strict=True):
        link = here.link
        w, alpha, A = _turning(here, w, alpha, v, tally)
        at("a_i", 18, 15)
        a = A @ here.r + here.R.T @ a
        at("abar_i", 9, 9)
        loads.append((A @ link.rbar + a, w, alpha))
    f, moment, tau = ZERO, ZERO, []
    for i in range(n - 1, -1, -1):
        link, (abar, w, alpha) = places[i].link, loads[i]
        outer = places[i + 1].R if i < n - 1 else None
        at("f_i", *((12, 9) if outer else (0, 0)))
        F = abar * link.m
        moved = outer @ f if outer else ZERO
        f = F + moved
        at("I_i alpha_i", 9, 6)
        spin = link.I @ alpha
        at("w_i x (I_i w_i)", 15, 9)
        whirl = w.cross(link.I @ w)
        moment = _moment(places[i], F, moved, outer, moment, (spin, whirl), tally)
        tau.append(_felt(places[i], moment, tally))
    return tau[::-1]


def modified_newton_euler(arm: Chain, q: Sequence[float], tally: Ledger) -> list[Scalar]:
    """Joint forces at qd = qdd = q by Table 4."""
    at, n = tally.at, arm.n
    places, rates = _places(arm, tally.numbers(q), tally), tally.numbers(q)
    loads = []
    w, alpha, a = ZERO, ZERO, -arm.gravity
    for i, (here, v) in enumerate(zip(places, rates, strict=True)):
        link = here.link
        w, alpha, A = _turning(here, w, alpha, v, tally)
        at("a_i", *((18, 15) if i < n - 1 else (0, 0)))
        a = A @ here.r + here.R.T @ a
        at("m_i abar_i", 12, 9)
        F = A @ link.h + a * link.m
        at("Tr{A_i K_i sigma'}", 6, 3)
        loads.append((F, spin_moment(A, link.K)))
    f, moment, tau = ZERO, ZERO, []
    for i in range(n - 1, -1, -1):
        F, spin = loads[i]
        outer = places[i + 1].R if i < n - 1 else None
        at("f_i", *((9, 9) if outer else (0, 0)))
        moved = outer @ f if outer else ZERO
        f = F + moved
        moment = _moment(places[i], F, moved, outer, moment, (spin,), tally)
        tau.append(_felt(places[i], moment, tally))
    return tau[::-1]


def _turning(
    here: StandardPlace, w: Vec3, alpha: Vec3, v: Scalar, tally: Ledger
) -> tuple[Vec3, Vec3, Mat3]:
    at, back = tally.at, here.R.T
    at("alpha_i", 9, 9)
    alpha = back @ (alpha + w.cross(Z * v) + Z * v)
    at("w_i", 9, 7)
    w = back @ (w + Z * v)
    at("A_i", 6, 9)
    return w, alpha, acceleration_matrix(w, alpha)


def _moment(
    here: StandardPlace,
    F: Vec3,
    moved: Vec3,
    outer: Mat3 | None,
    moment: Vec3,
    own: Sequence[Vec3],
    tally: Ledger,
) -> Vec3:
    at = tally.at
    at("m (r_i + rbar_i) x abar_i", 6, 3)
    lever = (here.r + here.link.rbar).cross(F)
    at("r_i x R f_{i+1}", 6, 3)
    beyond = here.r.cross(moved)
    at("R n_{i+1}", 9, 6)
    carried = outer @ moment if outer else ZERO
    at("add n", 0, 15)
    summed = lever + beyond + carried
    for term in own:
        summed = summed + term
    return summed


def _felt(here: StandardPlace, moment: Vec3, tally: Ledger) -> Scalar:
    """z_{i-1} . n_i, which the tables do not count."""
    with tally.on_hand():
        return (here.R @ moment).z


# ---- Table 2


def lagrange(arm: Chain, q: Sequence[float], tally: Ledger) -> list[Scalar]:
    """Joint forces at qd = qdd = q by Table 2."""
    at, n = tally.at, arm.n
    places, v = _places(arm, tally.numbers(q), tally), tally.numbers(q)
    with tally.on_hand():
        step = [_square(here.R, here.R @ here.r) for here in places]
        inertia = [_pseudo(here.link) for here in places]
    T: dict[tuple[int, int], Square] = {(j, j + 1): step[j] for j in range(n)}
    for j in range(n):
        for k in range(j + 2, n + 1):
            at("T_j^i", 64, 48)
            T[j, k] = _times(T[j, k - 1], step[k - 1])
    D: dict[tuple[int, int], Square] = {}
    for k in range(1, n + 1):
        D[1, k] = _q(T[0, k])
        for j in range(2, k + 1):
            at("dT_0^i/dtheta_j", 64, 48)
            D[j, k] = _times(T[0, j - 1], _q(T[j - 1, k]))
    tau: list[Scalar] = [0] * n
    for k in range(1, n + 1):
        load = _load(k, T, D, inertia[k - 1], v, tally)
        weight = [mul(-x, arm.gravity.z) for x in (*places[k - 1].link.h, places[k - 1].link.m)]
        for i in range(1, k + 1):
            first = k == i
            at("Tr{[...] dT_0^q/dtheta_i}", 16, 15 if first else 16)
            part = total(
                *(
                    mul(x, y)
                    for a, b in zip(load, D[i, k], strict=True)
                    for x, y in zip(a, b, strict=True)
                )
            )
            tau[i - 1] = part if first else add(tau[i - 1], part)
            at("sum_q z' dT_0^q/dtheta_i m_q g rbar_q^a", 4, 3 if first else 4)
            height = total(*(mul(x, y) for x, y in zip(D[i, k][2], weight, strict=True)))
            with tally.on_hand():
                tau[i - 1] = add(tau[i - 1], height)
            if not first and not _plain(height):
                tally.done(1)
    return tau


def _load(
    k: int,
    T: dict[tuple[int, int], Square],
    D: dict[tuple[int, int], Square],
    inertia: Square,
    v: Sequence[Scalar],
    tally: Ledger,
) -> Square:
    """sum_j {dT theta''_j + sum_l d2T theta'_j theta'_l} J_q^a of link k."""
    at = tally.at
    second = {}
    for j in range(1, k + 1):
        for i in range(1, j + 1):
            if i == 1:
                second[i, j] = _q(D[j, k])
                continue
            at("d2T_0^i/dtheta_j dtheta_k", 64, 48)
            twice = _q(_q(T[j - 1, k])) if i == j else _q(T[j - 1, k])
            second[i, j] = _times(T[0, j - 1] if i == j else D[i, j - 1], twice)
    at(
        "sum_j {[dT] theta''_j + sum_k [d2T] theta'_j theta'_k} J_q^a",
        17 * k * (k + 1) // 2 + 64,
        16 * k * (k - 1) + 32,
    )
    summed: Square = [[0] * 4 for _ in range(4)]
    for j in range(1, k + 1):
        summed = _plus(summed, _scaled(D[j, k], v[j - 1]))
        for i in range(1, j + 1):
            rate = mul(v[i - 1], v[j - 1])
            part = _scaled(second[i, j], rate)
            summed = _plus(summed, part)
            if i < j:
                summed = _plus(summed, part)  # (i, j) and (j, i)
    return _times(summed, inertia)


def _square(R: Mat3, p: Vec3) -> Square:
    return [[*row, x] for row, x in zip(R.rows, p, strict=True)] + [[0, 0, 0, 1]]


def _pseudo(link: Link) -> Square:
    """J_q^a."""
    J, h = link.J.full(), link.h
    return [*_square(J, h)[:3], [*h, link.m]]


def _q(T: Square) -> Square:
    """Q T: an interchange of rows, not counted."""
    return [[-x for x in T[1]], list(T[0]), [0] * 4, [0] * 4]


def _times(A: Square, B: Square) -> Square:
    return [[total(*(mul(row[k], B[k][j]) for k in range(4))) for j in range(4)] for row in A]


def _scaled(A: Square, x: Scalar) -> Square:
    return [[mul(a, x) for a in row] for row in A]


def _plus(A: Square, B: Square) -> Square:
    return [[add(a, b) for a, b in zip(r, s, strict=True)] for r, s in zip(A, B, strict=True)]


def _plain(x: Scalar) -> bool:
    return isinstance(x, (int, float))
