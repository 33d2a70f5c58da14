"""[lin1995] Table II: inverse dynamics in minimal linear combinations, for arms whose first two joints turn about
axes that are not parallel (r = 1, s = 2), translational joints only beyond.

D_i has its entry 22 equal to 0, as (91) makes it, and Psi five columns then; Table II books six. Gravity is a base
acceleration, the external wrench of the table's last column is booked and not there. zeta_1 is booked 2M3A and needs
3M4A, which is what makes the columns sum to the polynomials of Table III.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...algebra.vectors import ZERO, Mat3, Scalar, Sym3, Vec3, X, Z, add, is_zero, mul, sub, total
from ...robot.frames.chain import Chain
from ..papers.minimal_chain_lin1995 import MinimalBody, minimal_chain
from .tally import ADDITION, Ledger, Rotation


@dataclass(frozen=True, slots=True, eq=False)
class ListedMotion:
    """w, wd, Omega and a of link i, and its own force and moment."""

    w: Vec3
    wd: Vec3
    Omega: Mat3
    a: Vec3
    mu: Vec3
    zeta: Vec3
    rho: Scalar = 0


def inverse_dynamics(arm: Chain, q: Sequence[float], tally: Ledger) -> list[Scalar]:
    """Joint forces at qd = qdd = q."""
    tally.doubling = ADDITION  # 2x is an addition in Table II
    steps, v = tally.steps(arm, q), tally.numbers(q)
    loads = minimal_chain(arm, folded=False).loads
    links = [_first(loads[0], steps[0], arm.gravity, v[0], tally)]
    for i in range(1, arm.n):
        D = _tensor(loads[i], steps, tally)
        step = _turning if loads[i].revolute else _sliding
        links.append(step(loads[i], steps[i], links[-1], v[i], D, tally))
    return _back(loads, steps, links, tally)


def _tensor(body: MinimalBody, steps: Sequence[Rotation], tally: Ledger) -> Sym3:
    """D_i by (91)."""
    D = body.D
    if body.W:
        tally.at("D_i", 0, 0)
    for k, W in body.W:
        D = D + W * steps[k].d
    return D


def _first(
    body: MinimalBody, step: Rotation, gravity: Vec3, v: Scalar, tally: Ledger
) -> ListedMotion:
    """Joint 1: (80)-(85)."""
    at = tally.at
    at("w_1", 0, 0)
    w = wd = Z * v
    at("Omega_1", 1, 0)
    square = mul(v, v)
    Omega = Mat3(Vec3(-square, -v, 0), Vec3(v, -square, 0), ZERO)
    at("a_1", 3, 0)
    a = step.rise(-gravity)
    at("zeta-_1", 3, 2)
    k = body.k
    own = total(mul(k.x, a.y), -mul(k.y, a.x), mul(v, body.D.zz))
    return ListedMotion(w, wd, Omega, a, ZERO, Vec3(0, 0, own))


def _spin(w: Vec3, wd: Vec3, tally: Ledger) -> tuple[Mat3, Vec3]:
    """Omega by (59), and the squares of w."""
    tally.at("Omega_i", 6, 9)
    xx, yy, zz = (mul(x, x) for x in w)
    xy, xz, yz = mul(w.x, w.y), mul(w.x, w.z), mul(w.y, w.z)
    Omega = Mat3(
        Vec3(-add(yy, zz), sub(xy, wd.z), add(xz, wd.y)),
        Vec3(add(xy, wd.z), -add(xx, zz), sub(yz, wd.x)),
        Vec3(sub(xz, wd.y), add(yz, wd.x), -add(xx, yy)),
    )
    return Omega, Vec3(xx, yy, zz)


def _turning(
    body: MinimalBody, step: Rotation, inner: ListedMotion, v: Scalar, D: Sym3, tally: Ledger
) -> ListedMotion:
    """Rotational joint i >= s: (57)-(60), (70)-(73)."""
    at, k = tally.at, body.k
    at("w_i", 8, 5)
    carried = _seen(step, inner.w)
    w = carried + Z * v
    at("wd_i", 10, 7)
    wd = _seen(step, inner.wd) + Z * v + carried.cross(Z * v)
    Omega, square = _spin(w, wd, tally)
    at("Psi", 0, 3)
    yz, zx = sub(square.y, square.z), sub(square.z, square.x)
    xy = sub(square.x, square.y)
    at("a_i", 17, 13)
    a = step.rise(inner.a + inner.Omega @ step.s)
    at("mu-_i", 6, 3)
    mu = Omega @ Vec3(k.x, k.y, 0)
    at("zeta-_i", 22, 19)
    with tally.on_hand():  # products that Omega was made of
        wyz, wzx, wxy = mul(w.y, w.z), mul(w.z, w.x), mul(w.x, w.y)
    moment = Vec3(
        total(
            mul(wd.x, D.xx),
            -mul(wyz, D.yy),
            mul(wyz, D.zz),
            -mul(Omega.r3.x, D.xy),
            mul(Omega.r2.x, D.xz),
            mul(yz, D.yz),
        ),
        total(
            mul(wzx, D.xx),
            mul(wd.y, D.yy),
            -mul(wzx, D.zz),
            mul(Omega.r3.y, D.xy),
            mul(zx, D.xz),
            -mul(Omega.r1.y, D.yz),
        ),
        total(
            mul(wd.z, D.zz),
            -mul(wxy, D.xx),
            mul(wxy, D.yy),
            mul(xy, D.xy),
            -mul(Omega.r2.z, D.xz),
            mul(Omega.r1.z, D.yz),
        ),
    )
    return ListedMotion(w, wd, Omega, a, mu, Vec3(k.x, k.y, 0).cross(a) + moment)


def _seen(step: Rotation, w: Vec3) -> Vec3:
    """R w; of joint 1, whose w lies on its axis, by (80)."""
    return step.inner_axis * w.z if is_zero(w.x) and is_zero(w.y) else step.rise(w)


def _sliding(
    body: MinimalBody, step: Rotation, inner: ListedMotion, v: Scalar, D: Sym3, tally: Ledger
) -> ListedMotion:
    """Translational joint i > s."""
    at, k = tally.at, body.k
    at("w_i, K_i", 8, 4)
    w = step.rise(inner.w)
    at("wd_i, K_i", 8, 4)
    wd = step.rise(inner.wd)
    Omega, _ = _spin(w, wd, tally)
    at("h_i, K_i", 5, 4)
    twice = tally.twice(v)
    h = Vec3(mul(w.y, twice), -mul(w.x, twice), v)
    more = h + Omega @ (Z * step.d)
    at("a_i, K_i", 14, 10)
    star = step.rise(inner.a + inner.Omega @ (X * step.a))
    a = star + more
    at("rho_i, K_i", 4, 3)
    rho = add(mul(body.m, a.z), Omega.r3.dot(k))
    at("mu-_i, K_i", 3, 0)
    mu = more * body.m
    at("zeta-_i, K_i", 9, 5)
    zeta = (Z * mul(body.m, step.d)).cross(star) + k.cross(h)
    return ListedMotion(w, wd, Omega, a, mu, zeta, rho)


def _back(
    loads: Sequence[MinimalBody],
    steps: Sequence[Rotation],
    links: Sequence[ListedMotion],
    tally: Ledger,
) -> list[Scalar]:
    """(66)-(68), (74), (75), (88)-(90)."""
    at, n, tau = tally.at, len(loads), []
    mu, zeta = ZERO, ZERO
    for i in range(n - 1, -1, -1):
        own, last = links[i], i == n - 1
        outer = steps[i + 1] if not last else None
        at("mu_i" if i else "mu_1", *((0, 3) if last else (8, 7) if i else (8, 4)))
        inner = outer.fall(mu) if outer else ZERO
        pull = inner + own.mu if i else ZERO
        at("zeta_i" if i else "zeta_1", *((6, 9) if last else (12, 11) if i else (5, 5)))
        if outer is None:
            zeta = own.zeta
        elif i:
            moved = outer.fall(zeta + (Z * outer.d).cross(mu))
            zeta = own.zeta + moved + (X * outer.a).cross(inner)
        else:
            along = outer.inner_axis.dot(zeta + (Z * outer.d).cross(mu))
            zeta = Vec3(0, 0, total(own.zeta.z, along, mul(outer.a, inner.y)))
        if not loads[i].revolute:
            at("tau_i, K_i", 0, 1)
        tau.append(zeta.z if loads[i].revolute else add(own.rho, inner.z))
        mu = pull
    return tau[::-1]
