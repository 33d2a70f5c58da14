"""Mass matrix from the minimal linear combinations alone: composite bodies by Table VII, Formulations 1 and 2.

[linfang1999]  S.-K. Lin, C.-J. Fang, Efficient formulations for the manipulator inertia matrix in terms of minimal
           linear combinations of inertia parameters, J. Robotic Systems 16 (1999) 679-695, sections 3 and 4, Tables I,
           II, VII.
Frames     Composite body i is links i to n, about origin i, in frame i. u is the axis of joint r in frame i, constant
           for i < s (r the first rotational joint, s the first one not parallel to it); there moments are wanted along
           u only. The displacement to joint i is b x in frame i-1 and then d z in frame i. `fall` maps frame i to i-1.
Differs    U_i of (C2) less diag(U_22, U_22, 0) is the constant part of D_i of lin1995 (minimal_chain_lin1995). (30) is
           not legible in the scan; (31) has (u)_z of joint j, not i; (33) lacks a trailing R'; the last two terms of
           (40) are -2 (u_z u_x l_x + u_z u_y l_y). (41)-(54) are two plane rotations. With s = n the loops begin with
           l = 0, V = 0. Along u, what comes from beyond joint s is u . t + (u x s) . f with u and u x s formed once.

    (7)  f_ii = z x c^, or m^ z                   (8)  t_ii = J^ z, or c^ x z
    (9)  f_ji = R f_{j+1,i}                       (10) t_ji = R (t + d z x f) + b x x f_ji
    (11) D_ji = (t_ji)_z, or (f_ji)_z
    (20) D_ji in frame i: u_j . (J^ z + s x (z x c^)), u_j . (z x c^), u_j . ((m^ s + c^) x z), m^ (u_j)_z
    (22) c^_i = k_i + l_i                         (23) J^_i = U_i + V_i
    (24) l_{i-1} = R [c^_x, c^_y, l_z] rotational;  R (l + [0, 0, m^ d]) translational joint i
    (29) t_ii along u = u_z J^_33, or kappa1 - u_y l_x + u_x l_y                          i < s
    (30) t_ji along u = t_{j+1,i} + u . (s x f_ji)                                        j < s
    (31) D_ji = u_z t_ji, or (f_ji)_z                                                     j < s
    (32) D_ji = (u_j)_z (J^_33 + c^_x s_x + c^_y s_y), u_j . (z x c^), u_j . (m^ s x z) + (u_z of joint j) t_ii,
         m^ (u_j)_z                                                                       i < s
    (34) V_{i-1} = R X R' + pair(b x, l), X = V + U + pair(d z, l)                        rotational joint i > s
    (35) X = V + pair(d z, c^) + m^ d^2 diag(1, 1, 0)                                     translational joint i > s
    (38) V_33 along u = u . X u + 2 b (l_x - u_x u . l)                                   i = s, (39) u = R' u
    (40) V_33 along u = J^_33, or V_33 + d (2 kappa2 + (1 - u_z^2)(m^ d + 2 l_z) - 2 u_z (u_x l_x + u_y l_y)),  i < s
         plus the last term of (38)
    (55) u . X u = u_x (u_x X_11 + 2 u_y X_12) + u_y^2 X_22 + 2 u_z (u_x X_13 + u_y X_23) + u_z^2 X_33
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...algebra.vectors import SYM_ZERO, ZERO, Scalar, Sym3, Vec3, X, Z, add, mul, sub, total
from ...robot.frames.chain import Step
from .composite_body_linfang1999 import Rows, empty, mirrored
from .minimal_chain_lin1995 import MinimalChain


@dataclass(frozen=True, slots=True, eq=False)
class MinimalComposite:
    """What the mass matrix needs of composite body i: first moment, third column of the tensor, or moment along u."""

    c: Vec3 = ZERO
    J: Vec3 = ZERO  # before joint s only J_33
    t: Scalar = 0  # (29), before joint s


def composites(arm: MinimalChain, pose: Sequence[Step]) -> list[MinimalComposite]:
    """The composite bodies 1 to n by Table VII, in a pose as `placed`."""
    r, s = arm.structure.r, arm.structure.s
    bodies = []
    l, V = ZERO, SYM_ZERO
    V33: Scalar = 0
    for i in range(arm.n - 1, r - 1, -1):
        c = arm.joints[i].k + l  # (22)
        body = _general(arm, i, c, V) if i >= s else _planar(arm, i, c, l, V33)
        bodies.append(body)
        if i == r:
            break
        l, before = _first(arm, pose, i, c, l), l
        if i > s:
            V = pose[i].fall_sym(_inner(arm, pose, i, c, before, V)) + _across(
                pose[i].a, l
            )  # (34), (35)
        elif i == s:
            u = pose[i].rise(arm.structure.axis(i - 1))  # (39)
            V33 = add(
                _along(u, _inner(arm, pose, i, c, before, V)), _reach(arm, pose, i, l)
            )  # (38)
        else:
            V33 = add(_slid(arm, pose, i, body, before, V33), _reach(arm, pose, i, l))  # (40)
    return [MinimalComposite()] * r + bodies[::-1]


def _general(arm: MinimalChain, i: int, c: Vec3, V: Sym3) -> MinimalComposite:
    D = arm.joints[i].D
    return MinimalComposite(c, Vec3(add(D.xz, V.xz), add(D.yz, V.yz), add(D.zz, V.zz)))  # (23)


def _planar(arm: MinimalChain, i: int, c: Vec3, l: Vec3, V33: Scalar) -> MinimalComposite:
    body, u = arm.joints[i], arm.structure.axis(i)
    if body.revolute:
        J33 = add(body.D.zz, V33)  # (23)
        return MinimalComposite(c, Vec3(0, 0, J33), mul(u.z, J33))  # (29)
    return MinimalComposite(c, ZERO, total(body.kappa1, -mul(u.y, l.x), mul(u.x, l.y)))  # (29)


def _first(arm: MinimalChain, pose: Sequence[Step], i: int, c: Vec3, l: Vec3) -> Vec3:
    """l of joint i-1."""
    body, step = arm.joints[i], pose[i]
    moved = Vec3(c.x, c.y, l.z) if body.revolute else l + Z * mul(body.m, step.d)
    return step.fall(moved)  # (24)


def _inner(arm: MinimalChain, pose: Sequence[Step], i: int, c: Vec3, l: Vec3, V: Sym3) -> Sym3:
    """X of (34), (35)."""
    body, d = arm.joints[i], pose[i].d
    if body.revolute:
        whole, both = V + body.D, mul(mul(2, d), l.z)
    else:
        whole, both = V, mul(d, add(mul(body.m, d), mul(2, c.z)))
    return whole + Sym3(both, 0, both, -mul(d, c.x), -mul(d, c.y), 0)


def _across(b: Scalar, l: Vec3) -> Sym3:
    """pair(b x, l)."""
    both = mul(mul(2, b), l.x)
    return Sym3(0, -mul(b, l.y), both, -mul(b, l.z), 0, both)


def _reach(arm: MinimalChain, pose: Sequence[Step], i: int, l: Vec3) -> Scalar:
    """u . pair(b x, l) u in frame i-1."""
    u, b = arm.structure.axis(i - 1), mul(2, pose[i].a)
    return mul(
        b, total(mul(u.y * u.y + u.z * u.z, l.x), -mul(u.x * u.y, l.y), -mul(u.x * u.z, l.z))
    )


def _along(u: Vec3, X: Sym3) -> Scalar:
    """u . X u, u_z being a constant."""
    upper = mul(u.x, add(mul(u.x, X.xx), mul(mul(2, u.y), X.xy)))
    third = mul(mul(2, u.z), add(mul(u.x, X.xz), mul(u.y, X.yz)))
    return total(upper, mul(mul(u.y, u.y), X.yy), third, mul(mul(u.z, u.z), X.zz))  # (55)


def _slid(
    arm: MinimalChain, pose: Sequence[Step], i: int, body: MinimalComposite, l: Vec3, V33: Scalar
) -> Scalar:
    """What joint i < s hands to V_33 of joint i-1, but for the last term of (38)."""
    joint = arm.joints[i]
    if joint.revolute:
        return body.J.z
    u, d = arm.structure.axis(i), pose[i].d
    lift = mul(u.x * u.x + u.y * u.y, add(mul(joint.m, d), mul(2, l.z)))
    side = add(mul(2 * u.z * u.x, l.x), mul(2 * u.z * u.y, l.y))
    return add(V33, mul(d, sub(add(mul(2, joint.kappa2), lift), side)))


# ---- Formulation 1


def mass_matrix_1(arm: MinimalChain, pose: Sequence[Step]) -> Rows:
    """Mass matrix [kg m^2, kg m, kg]: force and moment of each composite body carried inwards."""
    D = empty(arm.n)
    pose = arm.placed(pose)
    bodies = composites(arm, pose)
    axis = _seen_from_s(arm, pose)
    for i, body in enumerate(bodies):
        f = _force(arm, i, body)
        t: Scalar = _moment(arm, i, body) if i >= arm.structure.s else body.t
        D[i][i] = _diagonal(arm, i, body)
        for j in range(i - 1, -1, -1):
            f, t = _inwards(arm, pose, axis, i, j, f, t)
            D[j][i] = _felt(arm, j, f, t)
    return mirrored(D)


def _force(arm: MinimalChain, i: int, body: MinimalComposite) -> Vec3:
    return Z.cross(body.c) if arm.joints[i].revolute else Z * arm.joints[i].m  # (7)


def _moment(arm: MinimalChain, i: int, body: MinimalComposite) -> Vec3:
    return body.J if arm.joints[i].revolute else body.c.cross(Z)  # (8)


def _diagonal(arm: MinimalChain, i: int, body: MinimalComposite) -> Scalar:
    return body.J.z if arm.joints[i].revolute else arm.joints[i].m  # (11)


def _seen_from_s(arm: MinimalChain, pose: Sequence[Step]) -> tuple[Vec3, Vec3]:
    """u and u x s in frame s, s being the displacement from origin s-1 to origin s."""
    s = arm.structure.s
    if not arm.structure.r < s < arm.n:
        return ZERO, ZERO
    u = arm.structure.axis(s - 1)
    return pose[s].rise(u), pose[s].rise(u.cross(pose[s].s))


def _inwards(
    arm: MinimalChain,
    pose: Sequence[Step],
    axis: tuple[Vec3, Vec3],
    i: int,
    j: int,
    f: Vec3,
    t: Scalar,
) -> tuple[Vec3, Scalar]:
    """Force and moment (along u for j < s) at joint j of those of composite body i at joint j+1."""
    step, r, s = pose[j + 1], arm.structure.r, arm.structure.s
    turn = step if j == i - 1 else step.whole
    inner = turn.fall(f)  # (9)
    b, lever = X * step.a, (Z * step.d).cross(f)
    if j >= s:
        return inner, turn.fall(t + lever) + b.cross(inner)  # (10)
    if j < r:
        return inner, 0
    u = arm.structure.axis(j)
    if j + 1 < s:
        return inner, total(t, arm.structure.axis(j + 1).dot(lever), u.dot(b.cross(inner)))  # (30)
    if i == s:
        return inner, add(axis[0].dot(t + lever), u.dot(b.cross(inner)))  # (30)
    return inner, add(axis[0].dot(t), axis[1].dot(f))  # (30)


def _felt(arm: MinimalChain, j: int, f: Vec3, t: Scalar) -> Scalar:
    if not arm.joints[j].revolute:
        return f.z  # (11), (31)
    return t.z if j >= arm.structure.s else mul(arm.structure.axis(j).z, t)  # (11), (31)


# ---- Formulation 2


def mass_matrix_2(arm: MinimalChain, pose: Sequence[Step]) -> Rows:
    """Mass matrix [kg m^2, kg m, kg]: axes and displacements of all joints carried outwards."""
    D = empty(arm.n)
    pose = arm.placed(pose)
    bodies = composites(arm, pose)
    axis = _seen_from_s(arm, pose)
    seen: list[tuple[Vec3, Vec3]] = []  # u_j and the displacement s from origin j, in frame i
    for i, (step, body) in enumerate(zip(pose, bodies, strict=True)):
        turns = [step if j == i - 1 else step.whole for j in range(i)]
        seen = [
            (turn.rise(u), turn.rise(s + X * step.a) + Z * step.d)
            for turn, (u, s) in zip(turns, seen, strict=True)
        ]
        if arm.structure.r <= i < arm.structure.s:
            seen = [(_constant(arm, i, j, u), s) for j, (u, s) in enumerate(seen)]
        D[i][i] = _diagonal(arm, i, body)
        for j, (u, s) in enumerate(seen):
            if i < arm.structure.s:
                D[j][i] = _before_s(arm, i, j, u, s, body)  # (32)
            elif j == i - 1:
                force, moment = _force(arm, i, body), _moment(arm, i, body)
                D[j][i] = _felt(arm, j, *_inwards(arm, pose, axis, i, j, force, moment))
            else:
                D[j][i] = _beyond(arm, i, j, u, s, body)  # (20)
        seen.append((Z, ZERO))
    return mirrored(D)


def _constant(arm: MinimalChain, i: int, j: int, u: Vec3) -> Vec3:
    """u_j in frame i < s of a rotational joint j: that of joint r, or its opposite."""
    if not arm.joints[j].revolute:
        return u
    return arm.structure.axis(i) * arm.structure.axis(j).z


def _before_s(
    arm: MinimalChain, i: int, j: int, u: Vec3, s: Vec3, body: MinimalComposite
) -> Scalar:
    m, c = arm.joints[i].m, body.c
    if not arm.joints[j].revolute:
        return u.dot(Z.cross(c)) if arm.joints[i].revolute else mul(m, u.z)
    if not arm.joints[i].revolute:
        return add(mul(m, u.dot(s.cross(Z))), mul(arm.structure.axis(j).z, body.t))
    return mul(u.z, total(body.J.z, mul(c.x, s.x), mul(c.y, s.y)))


def _beyond(arm: MinimalChain, i: int, j: int, u: Vec3, s: Vec3, body: MinimalComposite) -> Scalar:
    m, c, J = arm.joints[i].m, body.c, body.J
    if not arm.joints[j].revolute:
        return u.dot(Z.cross(c)) if arm.joints[i].revolute else mul(m, u.z)
    if not arm.joints[i].revolute:
        return u.dot((s * m + c).cross(Z))
    across = add(mul(c.x, s.x), mul(c.y, s.y))
    return u.dot(Vec3(sub(J.x, mul(c.x, s.z)), sub(J.y, mul(c.y, s.z)), add(J.z, across)))
