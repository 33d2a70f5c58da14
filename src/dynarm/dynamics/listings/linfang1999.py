"""[linfang1999] Tables I to V, Formulations 1 to 5 of the mass matrix, and Table VII, composite bodies.

For arms whose first joint is rotational; Table VII for those whose second one is so too and not parallel to it. Tables
I to V have the composite bodies on hand. Table VIII is Table I or II with Table VII. The row of X is lost in the scan;
its booking follows from the sums that the text below Table VII prints.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ...algebra.vectors import (
    SYM_ZERO,
    ZERO,
    Scalar,
    Sym3,
    Vec3,
    X,
    Z,
    add,
    mul,
    pair,
    square_skew,
    sub,
    total,
)
from ...robot.frames.chain import Chain, Limb
from ..papers.composite_bodies_linfang1999 import composites
from .tally import Ledger, Rotation

Rows = list[list[Scalar]]


@dataclass(frozen=True, slots=True, eq=False)
class HandBody:
    """What the tables have on hand of composite body i."""

    revolute: bool
    m: Scalar
    c: Vec3
    J: Vec3  # third column
    h: Vec3 = ZERO  # first moment about origin i-1, in frame i-1


Table = Callable[[Sequence[Rotation], Sequence[HandBody], Ledger], Rows]


def on_hand(table: Table) -> Callable[[Chain, Sequence[float], Ledger], Rows]:
    """The mass matrix by a table, composite bodies on hand."""

    def mass_matrix(arm: Chain, q: Sequence[float], tally: Ledger) -> Rows:
        steps = tally.steps(arm, q)
        with tally.on_hand():
            made = composites(arm, [step.step for step in steps])
            bodies = [
                HandBody(joint.revolute, body.m, body.c, body.J.third, body.l + body.g)
                for joint, body in zip(arm.joints, made, strict=True)
            ]
        return table(steps, bodies, tally)

    return mass_matrix


def with_bodies(table: Table) -> Callable[[Chain, Sequence[float], Ledger], Rows]:
    """The mass matrix by a table, composite bodies by Table VII."""

    def mass_matrix(arm: Chain, q: Sequence[float], tally: Ledger) -> Rows:
        steps = tally.steps(arm, q)
        return table(steps, table_7(arm, steps, tally), tally)

    return mass_matrix


def _mirrored(D: dict[tuple[int, int], Scalar], n: int) -> Rows:
    return [[D[min(i, j), max(i, j)] for j in range(n)] for i in range(n)]


def _own(bodies: Sequence[HandBody]) -> dict[tuple[int, int], Scalar]:
    return {(i, i): body.J.z if body.revolute else body.m for i, body in enumerate(bodies)}


def _start(body: HandBody) -> tuple[Vec3, Vec3]:
    """f_ii and t_ii: free."""
    c, m = body.c, body.m
    if body.revolute:
        return Vec3(-c.y, c.x, 0), body.J
    return Vec3(0, 0, m), Vec3(c.y, -c.x, 0)


def formulation_1(steps: Sequence[Rotation], bodies: Sequence[HandBody], tally: Ledger) -> Rows:
    """Table I."""
    at, D = tally.at, _own(bodies)
    for i, body in enumerate(bodies):
        f, t = _start(body)
        for j in range(i - 1, -1, -1):
            step, beside = steps[j + 1], j == i - 1
            if j == 0:
                at("t_1i", *((12, 8) if beside else (14, 10)))
                t = _at_joint_1(step, f, t, tally)
            else:
                turns = body.revolute
                if beside:
                    at("f_i-1,i", *((6, 2) if turns else (0, 0)))
                else:
                    at("f_ji", 8, 4)
                moved = step.fall(f)
                line = ("t_i-1,i", 12, 8) if turns else ("t_i-1,i, K_i", 8, 6)
                at(*(line if beside else ("t_ji", 12, 8)))
                lever = Vec3(-mul(step.d, f.y), mul(step.d, f.x), 0)
                t = step.fall(t + lever) + (X * step.a).cross(moved)
                f = moved
            D[j, i] = _felt(bodies[j], f, t)
    return _mirrored(D, len(bodies))


def _felt(body: HandBody, f: Vec3, t: Vec3) -> Scalar:
    return t.z if body.revolute else f.z


def _at_joint_1(step: Rotation, f: Vec3, t: Vec3, tally: Ledger) -> Vec3:
    """R (t + s x f), s in frame 2 on hand."""
    with tally.on_hand():
        s = step.step.turns[-1].rise(Vec3(step.a, 0, step.d))
    return step.fall(t + s.cross(f))


def _axes(steps: Sequence[Rotation], tally: Ledger) -> dict[tuple[int, int], Vec3]:
    """u_j in frame k > j."""
    u = {}
    for j in range(len(steps)):
        for k in range(j + 1, len(steps)):
            if k == j + 1:
                u[j, k] = steps[k].inner_axis
            else:
                tally.at("u_j in frame k", 8, 4)
                u[j, k] = steps[k].rise(u[j, k - 1])
    return u


def formulation_2(steps: Sequence[Rotation], bodies: Sequence[HandBody], tally: Ledger) -> Rows:
    """Table II."""
    at, D, u = tally.at, _own(bodies), _axes(steps, tally)
    s: dict[tuple[int, int], Vec3] = {}
    for j, body in enumerate(bodies):
        for k in range(j + 1, len(bodies)):
            step = steps[k]
            if k == j + 1:
                with tally.on_hand():
                    s[j, k] = step.step.turns[-1].rise(Vec3(step.a, 0, step.d))
            elif body.revolute:
                at("s from j to k", 8, 6)
                v = s[j, k - 1]
                v = step.rise(Vec3(add(v.x, step.a), v.y, v.z))
                s[j, k] = Vec3(v.x, v.y, add(v.z, step.d))
    for i, body in enumerate(bodies):
        for j in range(i):
            D[j, i] = _entry_2(bodies[j].revolute, body, u[j, i], s.get((j, i), ZERO), tally)
    return _mirrored(D, len(bodies))


def _entry_2(turns: bool, body: HandBody, u: Vec3, s: Vec3, tally: Ledger) -> Scalar:
    at, c, J, m = tally.at, body.c, body.J, body.m
    if body.revolute and turns:
        at("D_ji", 7, 6)
        z = total(J.z, mul(c.x, s.x), mul(c.y, s.y))
        return u.dot(Vec3(sub(J.x, mul(c.x, s.z)), sub(J.y, mul(c.y, s.z)), z))
    if body.revolute:
        at("D_ji, K_j K*_i", 2, 1)
        return sub(mul(u.y, c.x), mul(u.x, c.y))
    if turns:
        at("D_ji, K*_j K_i", 4, 3)
        return sub(mul(u.x, add(mul(m, s.y), c.y)), mul(u.y, add(mul(m, s.x), c.x)))
    at("D_ji, K_j K_i", 1, 0)
    return mul(m, u.z)


def formulation_3(steps: Sequence[Rotation], bodies: Sequence[HandBody], tally: Ledger) -> Rows:
    """Table III."""
    at, D, u = tally.at, _own(bodies), _axes(steps, tally)
    sh: dict[tuple[int, int], Vec3] = {}
    for j, body in enumerate(bodies):
        if not body.revolute:
            continue
        for k in range(j + 1, len(bodies)):
            step = steps[k]
            if k == j + 1:
                at("s^ from j to j+1", 4, 2)
                s = step.s
                x, y = (add(mul(r.x, -s.y), mul(r.y, s.x)) for r in step.R.T.rows[:2])
                with tally.on_hand():
                    z = add(mul(step.R.r1.z, -s.y), mul(step.R.r2.z, s.x))
                sh[j, k] = Vec3(x, y, z)
                continue
            at("s^ from j to k", 12, 8)
            v = step.rise(sh[j, k - 1] + u[j, k - 1].cross(X * step.a))
            sh[j, k] = v + u[j, k].cross(Z * step.d)
    for i, body in enumerate(bodies):
        for j in range(i):
            D[j, i] = _entry_3(bodies[j].revolute, body, u[j, i], sh.get((j, i), ZERO), tally)
    return _mirrored(D, len(bodies))


def _entry_3(turns: bool, body: HandBody, u: Vec3, sh: Vec3, tally: Ledger) -> Scalar:
    at, c, m = tally.at, body.c, body.m
    if not (body.revolute and turns):
        if body.revolute:
            at("D_ji, K_j K*_i", 2, 1)
            return sub(mul(u.y, c.x), mul(u.x, c.y))
        if turns:
            at("D_ji, K*_j K_i", 3, 2)
            return total(mul(m, sh.z), mul(u.x, c.y), -mul(u.y, c.x))
        at("D_ji, K_j K_i", 1, 0)
        return mul(m, u.z)
    at("D_ji", 5, 4)
    return total(u.dot(body.J), mul(sh.y, c.x), -mul(sh.x, c.y))


def formulation_4(steps: Sequence[Rotation], bodies: Sequence[HandBody], tally: Ledger) -> Rows:
    """Table IV."""
    at, n, D = tally.at, len(steps), _own(bodies)
    last = n - 1
    R = {last - 1: steps[last].R.T} if n > 1 else {}  # from frame i to frame n
    for i in range(n - 3, -1, -1):
        at("R from i to n", 24, 12)
        R[i] = type(R[i + 1])(*(steps[i + 1].fall(row) for row in R[i + 1].rows))
    u, s = {}, {}
    for i in range(n - 1):
        step = steps[i + 1]
        if i == n - 2:
            u[i] = step.inner_axis
            at("s from n-1 to n", 2, 0)
            s[i] = step.step.turns[-1].rise(Vec3(step.a, 0, step.d))
            continue
        at("u_i in frame n", 8, 4)
        u[i] = Vec3(*(row.z for row in R[i].rows))
        at("s from i to i+1", 6, 3)
        s[i] = Vec3(
            *(
                add(mul(a.x, step.a), mul(b.z, step.d))
                for a, b in zip(R[i].rows, R[i + 1].rows, strict=True)
            )
        )
    for i, body in enumerate(bodies):
        f, t = _start(body)
        if 0 < i < last:
            at("f_ii in frame n", *((6, 3) if body.revolute else (3, 0)))
            f = R[i] @ f
            at("t_ii in frame n", *((9, 6) if body.revolute else (6, 3)))
            t = R[i] @ t
        for j in range(i - 1, -1, -1):
            at("t_ji", 6, 6)
            t = t + s[j].cross(f)
            at("D_ji", 3, 2)
            D[j, i] = u[j].dot(t if bodies[j].revolute else f)
    return _mirrored(D, n)


def formulation_5(steps: Sequence[Rotation], bodies: Sequence[HandBody], tally: Ledger) -> Rows:
    """Table V."""
    at, D = tally.at, _own(bodies)
    for i, body in enumerate(bodies):
        f, t = ZERO, body.J
        for j in range(i - 1, -1, -1):
            step = steps[j + 1]
            if j == i - 1:
                f, t = _beside_5(step, body, tally)
            elif j == 0:
                at("t_1i", 14, 10)
                t = _at_joint_1(step, f, t, tally)
            else:
                at("f_ji", 8, 4)
                moved = step.fall(f)
                at("t_ji", 12, 8)
                t = step.fall(t + Vec3(-mul(step.d, f.y), mul(step.d, f.x), 0))
                t, f = t + (X * step.a).cross(moved), moved
            D[j, i] = _felt(bodies[j], f, t)
    return _mirrored(D, len(bodies))


def _beside_5(step: Rotation, body: HandBody, tally: Ledger) -> tuple[Vec3, Vec3]:
    """f and t of body i at joint i-1."""
    at, u = tally.at, Vec3(*(row.z for row in step.R.rows))
    if not body.revolute:
        at("f_i-1,i", 0, 0)
        f = u * body.m
        at("t_i-1,i, K_i", 8, 5)
        return f, body.h.cross(u)
    at("f_i-1,i", 4, 4)
    f = u.cross(body.h - step.s * body.m)
    at("t_i-1,i", 14, 10)
    return f, step.fall(body.J) + step.s.cross(f)


def table_7(arm: Chain, steps: Sequence[Rotation], tally: Ledger) -> list[HandBody]:
    """Table VII: first moments and third columns of the tensors, from k and U of (C1)-(C3); r = 1, s = 2."""
    at, n = tally.at, arm.n
    tip = arm.joints[-1]
    m, k, U, l, V = tip.m, tip.h, tip.J, ZERO, SYM_ZERO
    bodies = [HandBody(tip.revolute, m, k, U.third)]
    for i in range(n - 2, -1, -1):
        limb, step, outer = arm.joints[i], steps[i + 1], bodies[-1]
        turns, first = arm.joints[i + 1].revolute, i == n - 2
        c, d = outer.c, step.d
        if turns:
            at("l_i", *((6, 2) if first else (8, 4)))
            moved = Vec3(c.x, c.y, l.z)
        else:
            at("l_i, K_i+1", 9, 5)
            moved = Vec3(l.x, l.y, add(l.z, mul(m, d)))
        inner_l = step.fall(moved)
        at(*(("X", 0, 0) if first and turns else ("X", 3, 6) if turns else ("X, K_i+1", 4, 5)))
        tensor = _within(turns, U, V, outer, moved, d, tally)
        m, k, U = _constants(limb, turns, step, m, k, U)
        l = inner_l
        if i:
            at("Y", 18, 14)
            V = _turned(step, tensor, tally)
            at("V_i", 3, 4)
            V = _moved(V, step.a, l)
            at("c^_i", 0, 2 if limb.revolute else 3)
            c = k + l if not limb.revolute else Vec3(add(k.x, l.x), add(k.y, l.y), 0)
            at("third column of J^_i", 0, 3 if limb.revolute else 0)
            J = U.third + V.third if limb.revolute else ZERO
        else:
            at("Y_33", 10, 5)
            J = Vec3(0, 0, _polar(step.inner_axis, tensor))
            at("(V_1)_33", 1, 1)
            J = Vec3(0, 0, add(J.z, mul(mul(2, step.a), l.x)))
            at("(J^_1)_33", 0, 1)
            J, c = Vec3(0, 0, add(J.z, U.zz)), ZERO
        bodies.append(HandBody(limb.revolute, m, c, J))
    return bodies[::-1]


def _within(
    turns: bool, U: Sym3, V: Sym3, outer: HandBody, moved: Vec3, d: Scalar, tally: Ledger
) -> Sym3:
    """X of (34), (35), its last column being that of J^ but for d."""
    c = outer.c
    if turns:
        both = mul(mul(2, d), moved.z)
        xx = total(V.xx, U.xx - U.yy, both)
        xz, yz = sub(outer.J.x, mul(d, c.x)), sub(outer.J.y, mul(d, c.y))
        return Sym3(xx, add(V.xy, U.xy), add(V.yy, both), xz, yz, outer.J.z)
    with tally.on_hand():
        md = mul(outer.m, d)
    both = mul(d, add(md, tally.twice(c.z)))
    xz, yz = sub(V.xz, mul(d, c.x)), sub(V.yz, mul(d, c.y))
    return Sym3(add(V.xx, both), V.xy, add(V.yy, both), xz, yz, V.zz)


def _turned(step: Rotation, T: Sym3, tally: Ledger) -> Sym3:
    """Y = R X R' by (41)-(54)."""
    about_x, about_z = step.step.turns
    C, S, cb, sb = about_z.c, about_z.s, about_x.c, about_x.s
    A1 = sub(mul(C, sub(T.xx, T.yy)), mul(tally.twice(S), T.xy))
    A2 = mul(C, A1)
    A3, A4 = sub(T.xx, A2), add(mul(S, A1), T.xy)
    A5, A8 = add(mul(S, T.xz), mul(C, T.yz)), sub(mul(C, T.xz), mul(S, T.yz))
    A6 = sub(mul(sub(A3, T.zz), cb), mul(2 * sb, A5))
    A7 = mul(cb, A6)
    return Sym3(
        add(A2, T.yy),
        sub(mul(cb, A4), mul(sb, A8)),
        add(A7, T.zz),
        add(mul(sb, A4), mul(cb, A8)),
        add(A5, mul(sb, A6)),
        sub(A3, A7),
    )


def _moved(V: Sym3, b: Scalar, l: Vec3) -> Sym3:
    both = mul(mul(2, b), l.x)
    return Sym3(
        V.xx, sub(V.xy, mul(b, l.y)), add(V.yy, both), sub(V.xz, mul(b, l.z)), V.yz, add(V.zz, both)
    )


def _polar(u: Vec3, T: Sym3) -> Scalar:
    """u' X u by (55), u_z being a constant."""
    upper = mul(u.x, add(mul(u.x, T.xx), mul(mul(2, u.y), T.xy)))
    third = mul(mul(2, u.z), add(mul(u.x, T.xz), mul(u.y, T.yz)))
    return total(upper, mul(mul(u.y, u.y), T.yy), third, mul(mul(u.z, u.z), T.zz))


def _constants(
    limb: Limb, turns: bool, step: Rotation, m: Scalar, k: Vec3, U: Sym3
) -> tuple[Scalar, Vec3, Sym3]:
    """m^, k and U of composite body i by (C1)-(C3): constants."""
    if turns:
        z = step.step.z
        kz = z * k.z
        tensor = limb.J - square_skew(step.s) * m + square_skew(z) * -U.yy + pair(step.s, kz)
        return limb.m + m, limb.h + step.s * m + kz, tensor
    b, inner = X * step.a, step.fall(k)
    tensor = limb.J + step.fall_sym(U) - square_skew(b) * m + pair(b, inner)
    return limb.m + m, limb.h + b * m + inner, tensor
