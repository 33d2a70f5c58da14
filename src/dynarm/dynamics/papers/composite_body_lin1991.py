"""Inertia matrix, bias vector and bias coefficients by composite bodies seen from one reference origin.

[lin1991]  S.-K. Lin, A new composite body method for manipulator dynamics, J. Robotic Systems 8 (1991) 197-219,
           sections II to IV and Fig. 3.
Frames     Composite body j is links j to n as if joints j+1 to n were locked; everything of it is written in frame j
           and measured from the reference origin. u_m is the axis of joint m, s_j the way from the reference origin
           to origin j, K_j = 0 and K*_j = 1 for a rotational joint, 1 and 0 for a translational one.
Differs    The reference origin is origin r of the first rotational joint: nothing depends on the choice, s_r = 0 (59),
           and leading translational joints cost nothing; r = 1 is the base origin of Fig. 3. Printed slips: (47) holds
           for k = j too; (67) has K_m; the gravity term of a leading translational joint is -m^ (g)_z. A link is
           taken about its centre of mass as printed; where there is none (first moments without mass) or it is not a
           number (a batch of links), about its frame's origin, and then h is the first moment that remains.
           H_nn and e_n are the last link's constants. Where gravity lies along the first axis, g = u_1 g_z. Origins on
           parallel axes and the last one are moved along their axes so that fewer d differ from zero (`slid`).

    (15) s^_m = u_m x s_m
    (24) u_m  = R u_m                   (27) s^_m = R s^_m                      from frame j-1 to frame j
    (25) s_j  = R (s_{j-1} + s)         (26) p_j  = s_j + c_j
    (28) m^_j = m_j + m^_{j+1}
    (29) p^_j = m_j p_j + R' p^_{j+1}
    (30) J_j  = I~_j - m_j p_j p_j' + R' J_{j+1} R,                             I~ = I - 1/2 tr(I) E (19)
    (23) J^_j = J_j - tr(J_j) E
    (62) a_j  = J^_j u_j + s^_j x p^_j
    (63) e_j  = u_j x (p^_j - m^_j s_j)
    (64) B_j  = -J_j [u_j x] + [s^_j x][p^_j x]
    (65) H_mj = K*_m K*_j (a_j.u_m - s^_m.e_j) + K_m K*_j e_j.u_m
                + K*_m K_j (u_m x p^_j - m^_j s^_m)_z + K_m K_j m^_j (u_m)_z    m <= j
    (66) d_mj = K*_m K*_j (B_j u_m + s^_m x e_j) + K_m K*_j e_j x u_m
                + K*_m K_j u_j x (u_m x p^_j - m^_j s^_m) - K_m K_j m^_j u_m x u_j    m < j
    (67) eta_m = -K*_m e_m.g - K_m m^_m (g)_z
    (45) D_mkj = K*_k u_k.d_mj,  m < j, k <= j
    (32) D_mjk = D_mkj                  (33) D_jkj = 0, j >= k
    (34) D_jkm = -D_mkj, m and j >= k
    (55) zeta_j = 2 sum_{k<j} K*_k u_k qd_k + K*_j u_j qd_j
    (56) zeta_{j+1} = R (zeta_j + K*_j u_j qd_j) + K*_{j+1} u_{j+1} qd_{j+1}
    (57) zeta_j qd_j in frame m = R (zeta_j qd_j in frame m-1)
    (54) b_m = eta_m - sum_{j<m} (zeta_j qd_j).d_jm + sum_{j>m} (zeta_j qd_j).d_mj
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ...algebra.vectors import (
    SYM_ZERO,
    ZERO,
    Mat3,
    Scalar,
    Sym3,
    Vec3,
    Z,
    add,
    is_zero,
    mul,
    square_skew,
    sub,
    total,
)
from ...robot.frames.chain import Chain, Limb, Step, slid

Rows = list[list[Scalar]]
Sight = list[list["Axis"]]  # for each frame j the axes of joints 1 to j
NOTHING = Mat3(ZERO, ZERO, ZERO)
Forming = Callable[[Chain, Sequence[Step], Vec3], tuple[Sight, list["BaseComposite"]]]


@dataclass(frozen=True, slots=True, eq=False)
class Axis:
    """Joint m as frame j sees it: u_m and, if it is rotational, s^_m."""

    revolute: bool
    u: Vec3
    s: Vec3


@dataclass(frozen=True, slots=True, eq=False)
class BaseComposite:
    """Composite body j in frame j, and its own entry H_jj."""

    revolute: bool
    m: Scalar
    p: Vec3
    a: Vec3
    e: Vec3
    B: Mat3
    H: Scalar


def mass_matrix(
    arm: Chain, pose: Sequence[Step], origin: Vec3 = ZERO, form: Forming | None = None
) -> Rows:
    """Inertia matrix [kg m^2, kg m or kg]; `origin` is s_r, which may be any vector (in frame r).

    form: how composite bodies are formed, where not by `composites`; here and below.
    """
    arm, pose, _ = slid(arm, pose)
    return inertia(*(form or composites)(arm, pose, origin))


def mass_matrix_and_bias(
    arm: Chain,
    pose: Sequence[Step],
    qd: Sequence[Scalar],
    origin: Vec3 = ZERO,
    form: Forming | None = None,
) -> tuple[Rows, list[Scalar]]:
    """Inertia matrix, and the joint forces [N m or N] at zero acceleration."""
    arm, pose, _ = slid(arm, pose)
    seen, bodies = (form or composites)(arm, pose, origin)
    return inertia(seen, bodies), bias_vector(arm, pose, qd, seen, bodies)


def bias(
    arm: Chain, pose: Sequence[Step], qd: Sequence[Scalar], form: Forming | None = None
) -> list[Scalar]:
    """Joint forces [N m or N] at zero acceleration."""
    return mass_matrix_and_bias(arm, pose, qd, form=form)[1]


def coriolis_tensor(
    arm: Chain, pose: Sequence[Step], origin: Vec3 = ZERO, form: Forming | None = None
) -> list[Rows]:
    """D_mkj [kg m^2, kg m or kg]: velocity forces are sum D_mkj qd_k qd_j."""
    arm, pose, _ = slid(arm, pose)
    return bias_coefficients(*(form or composites)(arm, pose, origin))


def inertia(seen: Sight, bodies: Sequence[BaseComposite]) -> Rows:
    """H from the composite bodies and the axes that their frames see."""
    H: Rows = [[body.H] * len(bodies) for body in bodies]
    for j, body in enumerate(bodies):
        for m in range(j):
            H[m][j] = H[j][m] = entry(seen[j][m], body)
    return H


def bias_vector(
    arm: Chain,
    pose: Sequence[Step],
    qd: Sequence[Scalar],
    seen: Sight,
    bodies: Sequence[BaseComposite],
) -> list[Scalar]:
    """b from the same."""
    b = _gravity(arm, pose, seen, bodies)
    turning = _turning(arm, pose, qd, seen)
    for j, body in enumerate(bodies):
        for m in range(j):
            d = bias_direction(seen[j][m], body)
            b[m] = add(b[m], _along(turning[j][j], d))  # (54)
            b[j] = sub(b[j], _along(turning[j][m], d))  # (54)
    return b


def bias_coefficients(seen: Sight, bodies: Sequence[BaseComposite]) -> list[Rows]:
    """D_mkj from the same."""
    n = len(bodies)
    D: list[Rows] = [[[0] * n for _ in range(n)] for _ in range(n)]  # (33)
    for j, body in enumerate(bodies):
        for m in range(j):
            d = bias_direction(seen[j][m], body)
            for k in range(j + 1):
                if seen[j][k].revolute:
                    D[m][k][j] = D[m][j][k] = seen[j][k].u.dot(d)  # (45), (32)
                    if k <= m:
                        D[j][k][m] = D[j][m][k] = -D[m][k][j]  # (34)
    return D


def entry(axis: Axis, body: BaseComposite) -> Scalar:
    """H_mj from joint m and composite body j."""
    u, s = axis.u, axis.s
    if body.revolute:
        return sub(body.a.dot(u), s.dot(body.e)) if axis.revolute else body.e.dot(u)  # (65)
    return _sway(axis, body).z if axis.revolute else mul(body.m, u.z)  # (65)


def bias_direction(axis: Axis, body: BaseComposite) -> Vec3:
    """d_mj from joint m and composite body j."""
    u, s = axis.u, axis.s
    if body.revolute:
        return body.B @ u + s.cross(body.e) if axis.revolute else body.e.cross(u)  # (66)
    return Z.cross(_sway(axis, body) if axis.revolute else u * body.m)  # (66)


def _sway(axis: Axis, body: BaseComposite) -> Vec3:
    """Momentum of composite body j for unit speed of rotational joint m: u_m x p^_j - m^_j s^_m."""
    return axis.u.cross(body.p) - axis.s * body.m


def first_rotational(arm: Chain) -> int:
    """Index of the first rotational joint r; n if there is none."""
    return next((i for i, joint in enumerate(arm.joints) if joint.revolute), arm.n)


def axes(arm: Chain, pose: Sequence[Step], origin: Vec3 = ZERO) -> tuple[Sight, list[Vec3]]:
    """The axes that each frame sees, and s_j (zero before joint r, where it is not asked for)."""
    first, s = first_rotational(arm), ZERO
    seen: Sight = []
    ways = []
    for j, (joint, step) in enumerate(zip(arm.joints, pose, strict=True)):
        if j >= first:
            s = origin if j == first else outward(step, s)  # (25)
        inner = seen[-1] if seen else []
        own = Axis(joint.revolute, Z, Z.cross(s) if joint.revolute else ZERO)  # (15)
        seen.append(
            [*(Axis(x.revolute, step.rise(x.u), step.rise(x.s)) for x in inner), own]
        )  # (24), (27)
        ways.append(s)
    return seen, ways


def outward(step: Step, s: Vec3) -> Vec3:
    """s plus the step's displacement, in frame j (8 mul 6 add): a is added before the turn about x, d after it."""
    v = Vec3(add(s.x, step.a), s.y, s.z)
    for turn in step.turns[:-1]:
        v = turn.rise(v)
    return step.turns[-1].rise(Vec3(v.x, v.y, add(v.z, step.d)))


def about_centre(body: Limb) -> tuple[Vec3, Vec3, Sym3]:
    """A point c of a link, the link's first moment about c and its inertia about c.

    c is the centre of mass, and the moment about it zero, if the link is a body that can exist; if it is not
    (h.h > m tr J), h / m may be as large as it likes, and c is the frame's origin.
    """
    m, h, J = body.m, body.h, body.J
    numbers = all(x.__class__ in (int, float) for x in (m, *h, *J))
    if numbers and 0 < h.dot(h) <= m * J.trace:
        c = h * (1 / m)
        return c, ZERO, J + square_skew(c) * m
    return ZERO, h, J


def composites(
    arm: Chain, pose: Sequence[Step], origin: Vec3 = ZERO
) -> tuple[Sight, list[BaseComposite]]:
    """The axes that each frame sees and the composite bodies 1 to n."""
    seen, ways = axes(arm, pose, origin)
    first, tip = first_rotational(arm), arm.n - 1
    m: Scalar = 0
    p, J = ZERO, SYM_ZERO
    bodies = []
    for j in range(tip, -1, -1):
        joint, s, sh = arm.joints[j], ways[j], seen[j][j].s
        m = add(joint.m, m)  # (28)
        if j < first:
            bodies.append(BaseComposite(False, m, ZERO, ZERO, ZERO, NOTHING, m))
            continue
        mp, own = _link(joint, s)
        p = mp + pose[j + 1].fall(p) if j < tip else mp  # (29)
        e = Z.cross(joint.h if j == tip else p - s * m)  # (63)
        if j > first:
            J = own + pose[j + 1].fall_sym(J) if j < tip else own  # (30)
            B = _gyration(J, sh, p)
            a = Vec3(B.r3.y, -B.r3.x, sub(B.r2.x, B.r1.y))  # (62): its components stand in B
        else:
            polar = -add(own.xx, own.yy)  # (23): of J^_r only the entry 33 is wanted
            if j < tip:
                polar = add(polar, _about_axis(seen[j + 1][j].u, J))
            a, B = Z * polar + sh.cross(p), NOTHING  # (62)
        H = m if not joint.revolute else joint.J.zz if j == tip else sub(a.z, sh.dot(e))  # (65)
        bodies.append(BaseComposite(joint.revolute, m, p, a, e, B, H))
    return seen, bodies[::-1]


def _link(body: Limb, s: Vec3) -> tuple[Vec3, Sym3]:
    """m p and I~ - m p p' of one link."""
    c, h, inertia = about_centre(body)
    p = s + c  # (26)
    mp = p * body.m + h  # (29)
    spread = mp.outer(p).symmetric() + p.outer(h).symmetric()  # (30)
    return mp, half_trace_less(inertia) - spread  # (30)


def half_trace_less(inertia: Sym3) -> Sym3:
    """I~ = I - 1/2 tr(I) E."""
    half = mul(0.5, inertia.trace)
    return inertia - Sym3(half, 0, half, 0, 0, half)  # (19)


def _gyration(J: Sym3, sh: Vec3, p: Vec3) -> Mat3:
    """B_j; [s^ x][p^ x] = p^ s^' - (s^.p^) E, and s^ has no z component."""
    return Mat3(
        Vec3(-add(J.xy, mul(sh.y, p.y)), add(J.xx, mul(sh.y, p.x)), 0),
        Vec3(sub(mul(sh.x, p.y), J.yy), sub(J.xy, mul(sh.x, p.x)), 0),
        Vec3(sub(mul(sh.x, p.z), J.yz), add(J.xz, mul(sh.y, p.z)), -sh.dot(p)),
    )  # (64)


def _about_axis(u: Vec3, J: Sym3) -> Scalar:
    """u.J^u = u.J u - tr(J) for a unit vector (9 mul 7 add if u_z is a number)."""
    zz = mul(u.z, u.z)
    twice = mul(2, u.z)
    xy = mul(  # (65)
        u.x, total(mul(sub(J.xx, J.yy), u.x), mul(mul(2, u.y), J.xy), mul(twice, J.xz))
    )
    outer = total(J.xx, mul(zz, J.yy), mul(sub(1, zz), J.zz))  # (65)
    return sub(add(xy, mul(mul(twice, u.y), J.yz)), outer)  # (65)


def _gravity(
    arm: Chain, pose: Sequence[Step], seen: Sight, bodies: Sequence[BaseComposite]
) -> list[Scalar]:
    """The gravity forces eta [N m or N]."""
    g, size = arm.gravity, 1
    along_first = is_zero(g.x) and is_zero(g.y)
    eta = []
    for j, (step, body) in enumerate(zip(pose, bodies, strict=True)):
        g, size = (seen[j][0].u, arm.gravity.z) if along_first else (step.rise(g), 1)
        eta.append(
            -mul(size, body.e.dot(g)) if body.revolute else -mul(mul(body.m, size), g.z)
        )  # (67)
    return eta


Rate = tuple[Vec3, Scalar]  # a vector and a factor that its products are multiplied by


def _along(rate: Rate, d: Vec3) -> Scalar:
    return mul(rate[1], rate[0].dot(d))


def _turning(
    arm: Chain, pose: Sequence[Step], qd: Sequence[Scalar], seen: Sight
) -> list[list[Rate]]:
    """zeta_m qd_m for m <= j, in frame j; of the first rotational joint it is u_r times its squared speed."""
    first = first_rotational(arm)
    zeta, inner = ZERO, ZERO
    rows: list[list[Rate]] = []
    for j, (joint, step, v) in enumerate(zip(arm.joints, pose, qd, strict=True)):
        own = Z * v if joint.revolute else ZERO
        if sum(x.revolute for x in arm.joints[:j]) == 1:
            zeta = seen[j][first].u * mul(2, qd[first]) + own  # (55)
        else:
            zeta = step.rise(zeta + inner) + own  # (56)
        inner = own
        row: list[Rate] = [(step.rise(x), k) for x, k in rows[-1]] if rows else []  # (57)
        row.append((zeta * v, 1))
        if j >= first:
            row[first] = seen[j][first].u, mul(qd[first], qd[first])
        rows.append(row)
    return rows
