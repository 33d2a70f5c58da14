"""Mass matrix by the composite body method about the origins of the local frames: Formulations 1 to 5.

[linfang1999]  S.-K. Lin, C.-J. Fang, Efficient formulations for the manipulator inertia matrix in terms of minimal
           linear combinations of inertia parameters, J. Robotic Systems 16 (1999) 679-695, Tables I to V,
           appendix B.
Frames     z lies on joint i. `fall` maps frame j+1 to frame j, `rise` maps back. s is the displacement from origin j
           to origin j+1 in frame j; b x of it is across and d z along the axis of joint j+1. Formulations 1 and 5 work
           in the frame j of the joint that feels the force, 2 and 3 in the frame i of the one that moves, 4 in frame n.
Differs    The composite bodies come from `composite_bodies_linfang1999`, after the origins have been moved along
           parallel axes and the last one (`slid`), so that fewer d differ from zero.
           Of what arrives at joint 1 only the z component is wanted: D_1i is taken by the triple product of (21) as
           u . t + (u x s) . f, with u and u x s formed once for all i. Neighbours D_{i-1,i} of Formulations 2 and 3
           are taken by (10) and (11), whose products the composite body i-1 needs too.
           Formulation 3: the K_j* K_i term of D_ji prints [-c_y, c_x, 0] for [c_y, -c_x, 0], the recursion lacks a
           hat on s. Formulation 4: one row of R is the product of the two others where that is cheaper.
           Formulation 5: K_j, not K_i, chooses in (B11); -f x s of Table V belongs to K_i* only, as in (B8); in (B7)
           h - m^ s = R c^ = l + z k_z, of which the part along z drops out.

    (7)  f_ii = u x c^ (rotational), m^ u (translational)             (8)  t_ii = J^ u, c^ x u
    (9)  f_ji = R f_{j+1,i}                                           (10) t_ji = R t_{j+1,i} + s x f_ji
    (11) D_ji = z . t_ji (joint j rotational), z . f_ji (translational)
    (18) s x f_ji = R (d z x f_{j+1,i}) + b x f_ji
    (20) D_ji = u_j . (J^ z + s x (z x c^)),   u_j . (z x c^) where j is translational,
                u_j . ((m^ s + c^) x z) where i is, m^ u_j . z where both are; all in frame i
    (21) D_ji = u_j . J^ z + s^ . (z x c^),    u_j . (z x c^), m^ s^ . z + u_j . (c^ x z), m^ u_j . z;  s^ = u_j x s
    (B5) k_i  = J^ z                    (B6) D_ii = z . k_i, m^
    (B7) f_{i-1,i} = z x (h - m^ s), m^ z                             (B8)  t_{i-1,i} = R k + s x f, h x z
    (B9) f_ji = R f_{j+1,i}             (B10) t_ji = R t_{j+1,i} + s x f_ji
    (B11) D_ij = z . t_ji, z . f_ji
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...algebra.vectors import IDENTITY, Mat3, Scalar, Vec3, X, Z, add, mul, sub
from ...robot.frames.chain import Chain, Limb, Slant, Step, slid
from .composite_bodies_linfang1999 import Composite, composites

Rows = list[list[Scalar]]
Bodies = Sequence[Composite]


def natural(formulation: Callable[[Chain, Sequence[Step], Bodies], Rows]) -> Callable[..., Rows]:
    """A formulation that makes its composite bodies itself, from the links' own parameters."""

    def mass_matrix(arm: Chain, pose: Sequence[Step]) -> Rows:
        arm, pose, _ = slid(arm, pose)
        return formulation(arm, pose, composites(arm, pose))

    mass_matrix.__doc__ = formulation.__doc__
    return mass_matrix


def formulation_1(arm: Chain, pose: Sequence[Step], bodies: Bodies) -> Rows:
    """Mass matrix [kg m^2, kg m, kg]: force and moment of each composite body carried inwards, Table I."""
    D = empty(arm.n)
    first = _first_axis(pose)
    for i, (joint, body) in enumerate(zip(arm.joints, bodies, strict=True)):
        f, t = force(joint, body), moment(joint, body)
        D[i][i] = along(joint, f, t)
        _carry(arm, pose, first, D, i, i, f, t)
    return mirrored(D)


def formulation_2(arm: Chain, pose: Sequence[Step], bodies: Bodies) -> Rows:
    """Mass matrix [kg m^2, kg m, kg]: axes and displacements of all joints carried outwards, Table II."""
    D = empty(arm.n)
    axes: list[tuple[Vec3, Vec3]] = []  # u_j and the displacement s from origin j, in frame i
    for i, (joint, step, body) in enumerate(zip(arm.joints, pose, bodies, strict=True)):
        b, d = X * step.a, Z * step.d
        turned = []
        for j, (u, s) in enumerate(axes):
            turn = turn_of(step, i, j)
            turned.append((turn.rise(u), turn.rise(s + b) + d))
        axes = turned
        D[i][i] = body.J.zz if joint.revolute else body.m
        for j, (u, s) in enumerate(axes):
            if j == i - 1:
                D[j][i] = neighbour(arm.joints[j], joint, step, body)
            else:
                D[j][i] = _table_2(arm.joints[j], joint, u, s, body)  # (20)
        axes.append((Z, Vec3(0, 0, 0)))
    return mirrored(D)


def formulation_3(arm: Chain, pose: Sequence[Step], bodies: Bodies) -> Rows:
    """Mass matrix [kg m^2, kg m, kg]: axes and moments of axes carried outwards (Renaud), Table III."""
    D = empty(arm.n)
    axes: list[tuple[Vec3, Vec3]] = []  # u_j and its moment u_j x s, in frame i
    for i, (joint, step, body) in enumerate(zip(arm.joints, pose, bodies, strict=True)):
        b, d = X * step.a, Z * step.d
        turned = []
        for j, (u, hat) in enumerate(axes):
            turn = turn_of(step, i, j)
            outer = turn.rise(u)
            turned.append((outer, turn.rise(hat + u.cross(b)) + outer.cross(d)))  # (18)
        axes = turned
        D[i][i] = body.J.zz if joint.revolute else body.m
        for j, (u, hat) in enumerate(axes):
            if j == i - 1:
                D[j][i] = neighbour(arm.joints[j], joint, step, body)
            else:
                D[j][i] = table_3(arm.joints[j], joint, u, hat, body)  # (21)
        axes.append((Z, Vec3(0, 0, 0)))
    return mirrored(D)


def formulation_4(arm: Chain, pose: Sequence[Step], bodies: Bodies) -> Rows:
    """Mass matrix [kg m^2, kg m, kg]: as Formulation 1 with all vectors in frame n (Fijany and Bejczy), Table IV."""
    n = arm.n
    D = empty(n)
    for i, (joint, body) in enumerate(zip(arm.joints, bodies, strict=True)):
        D[i][i] = along(joint, force(joint, body), moment(joint, body))
    if n > 1:
        D[0][1] = neighbour(arm.joints[0], arm.joints[1], pose[1], bodies[1])
    R = _to_last(arm, pose)
    s = [R[j] @ (X * pose[j + 1].a) + R[j + 1] @ (Z * pose[j + 1].d) for j in range(1, n - 1)]
    if n > 2:
        u, hat = (R[1] @ v for v in _first_axis(pose))
    for i in range(2, n):
        joint, body = arm.joints[i], bodies[i]
        f, t = R[i] @ force(joint, body), R[i] @ moment(joint, body)
        for j in range(i - 1, 0, -1):
            t = t + s[j - 1].cross(f)  # (10)
            D[j][i] = (R[j] @ Z).dot(t if arm.joints[j].revolute else f)  # (11)
        D[0][i] = triple(arm.joints[0], u, hat, f, t)
    return mirrored(D)


def formulation_5(arm: Chain, pose: Sequence[Step], bodies: Bodies) -> Rows:
    """Mass matrix [kg m^2, kg m, kg]: as Formulation 1 with first moments about origin i-1 (Kawasaki), Table V."""
    D = empty(arm.n)
    first = _first_axis(pose)
    for i, (joint, step, body) in enumerate(zip(arm.joints, pose, bodies, strict=True)):
        k = body.J.third  # (B5)
        D[i][i] = k.z if joint.revolute else body.m  # (B6)
        if i == 0:
            continue
        z = step.z
        if joint.revolute:
            f = z.cross(body.l)  # (B7)
            t = step.fall(k) + step.s.cross(f)  # (B8)
        else:
            f = z * body.m  # (B7)
            t = (body.l + body.g).cross(z)  # (B8)
        D[i - 1][i] = along(arm.joints[i - 1], f, t)  # (B11)
        _carry(arm, pose, first, D, i, i - 1, f, t)  # (B9)-(B11)
    return mirrored(D)


def force(joint: Limb, body: Composite) -> Vec3:
    """f_ii: the force that gives composite body i a unit acceleration of joint i (7)."""
    return Z.cross(body.c) if joint.revolute else Z * body.m  # (7)


def moment(joint: Limb, body: Composite) -> Vec3:
    """t_ii: the moment about origin i that does so (8)."""
    return body.J.third if joint.revolute else body.c.cross(Z)  # (8)


def along(joint: Limb, f: Vec3, t: Vec3) -> Scalar:
    return t.z if joint.revolute else f.z  # (11)


def turn_of(step: Step, i: int, j: int) -> Slant | Step:
    """The rotation of joint i for vectors of joint j < i; those of a neighbour share products with composite body i."""
    return step if j == i - 1 else step.whole


def inwards(step: Step, f: Vec3, t: Vec3, turn: Slant | Step | None = None) -> tuple[Vec3, Vec3]:
    """Force and moment at joint j from those at joint j+1."""
    turn = turn or step
    inner = turn.fall(f)  # (9)
    return inner, turn.fall(t + (Z * step.d).cross(f)) + (X * step.a).cross(inner)  # (10), (18)


def _carry(
    arm: Chain,
    pose: Sequence[Step],
    first: tuple[Vec3, Vec3],
    D: Rows,
    i: int,
    j: int,
    f: Vec3,
    t: Vec3,
) -> None:
    """Enter D_0i ... D_{j-1,i}, given force and moment at joint j of body i."""
    while j > 0:
        if j == 1 and i > 1:
            D[0][i] = triple(arm.joints[0], *first, f, t)
            return
        f, t = inwards(pose[j], f, t, pose[j] if j == i else pose[j].whole)
        j -= 1
        D[j][i] = along(arm.joints[j], f, t)


def neighbour(inner: Limb, joint: Limb, step: Step, body: Composite) -> Scalar:
    """D_{i-1,i} by (10), (11)."""
    return along(inner, *inwards(step, force(joint, body), moment(joint, body)))


def _first_axis(pose: Sequence[Step]) -> tuple[Vec3, Vec3]:
    """The first joint's axis u and its moment u x s about origin 2, in frame 2."""
    if len(pose) < 2:
        return Z, Z
    return pose[1].rise(Z), pose[1].rise(Z.cross(pose[1].s))


def triple(first: Limb, u: Vec3, hat: Vec3, f: Vec3, t: Vec3) -> Scalar:
    """D_1i from force and moment about origin 2, in any one frame: z . (t + s x f) as in (21)."""
    return add(u.dot(t), hat.dot(f)) if first.revolute else u.dot(f)


def _table_2(inner: Limb, joint: Limb, u: Vec3, s: Vec3, body: Composite) -> Scalar:
    """D_ji of Table II."""
    c, J, m = body.c, body.J, body.m
    if not inner.revolute:
        return u.dot(Z.cross(c)) if joint.revolute else mul(m, u.z)
    if not joint.revolute:
        return u.dot((s * m + c).cross(Z))
    across = add(mul(c.x, s.x), mul(c.y, s.y))
    return u.dot(Vec3(sub(J.xz, mul(c.x, s.z)), sub(J.yz, mul(c.y, s.z)), add(J.zz, across)))


def table_3(inner: Limb, joint: Limb, u: Vec3, hat: Vec3, body: Composite) -> Scalar:
    """D_ji of Table III."""
    c = body.c
    if not inner.revolute:
        return u.dot(Z.cross(c)) if joint.revolute else mul(body.m, u.z)
    if not joint.revolute:
        return add(mul(body.m, hat.z), u.dot(c.cross(Z)))
    return add(u.dot(body.J.third), hat.dot(Z.cross(c)))


def _to_last(arm: Chain, pose: Sequence[Step]) -> list[Mat3]:
    """The rotations that take frame i to frame n: their rows are the axes of frame n, in frame i."""
    R = [IDENTITY]
    for joint, step in zip(arm.joints[:1:-1], pose[:1:-1], strict=True):
        x, y = step.fall(R[-1].r1), step.fall(R[-1].r2)
        oblique = joint.ca != 0 and joint.sa != 0
        R.append(Mat3(x, y, x.cross(y) if oblique and len(R) > 1 else step.fall(R[-1].r3)))
    return [IDENTITY, *R[::-1]]


def empty(n: int) -> Rows:
    return [[0] * n for _ in range(n)]


def mirrored(D: Rows) -> Rows:
    """The whole matrix from its upper triangle."""
    n = len(D)
    return [[D[min(i, j)][max(i, j)] for j in range(n)] for i in range(n)]


FORMULATIONS = (formulation_1, formulation_2, formulation_3, formulation_4, formulation_5)
