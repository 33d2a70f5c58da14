"""Contributions of the arm's links to Kane's equations: partial velocities by recursion, virtual speeds of the base.

[tanner2001]  H. G. Tanner, K. J. Kyriakopoulos, Mobile manipulator modeling with Kane's approach, Robotica 19 (2001)
              675-690, sections 3.4-3.6 and appendix.
Frames     Link i carries the axes of dynarm's frame i (z on joint i); velocities are those of its mass centre c_i, at
           c from the frame's origin. `rise` takes components from frame i-1 to frame i. r^{c i} leads from
           c_{i-1} to the origin of frame i. Link 0 is the base: its frame is the arm's frame 0, its point the base's
           mass centre.
Differs    Inertia tensors are whole and the joint need not be parallel to a principal axis. Link 1 is not written out
           apart: the recursion starts at the base. Translational joints, which the paper leaves out, add (A), (B), (Y1)
           their own terms. A+ and B+ are carried along, not multiplied out. Gravity is inside Y of the base. Arms may
           branch: i-1 is then the link that link i hangs on.
           Errata: docs/papers/tanner2001.md.

    (A)   A_i = R [A_{i-1} e_z]                       partial angular velocities
    (X)   [X]_i = A_{i-1} x r^{c i} + B_{i-1}         partial velocities of joint i, axes i-1
    (B)   B_i = R [X]_i + A_i x c_i,  e_z x c_i       partial velocities of c_i
    (A+)  A+_i = A_i u: angular velocity              (B+)  B+_i = B_i u: velocity of c_i
    (G)   Gamma_i = u_{i+4} dR/dq_i A+_{i-1} + R Gamma_{i-1},  dR/dq_i a = R a x e_z
    (Y1)  [Y1]_i = Gamma_{i-1} x r^{c i} + [Y2]_{i-1}  (+ A+_{i-1} x e_z u_{i+4} if translational)
    (Y2)  [Y2]_i = u_{i+4} dR/dq_i [X]_i u + R [Y1]_i + Gamma_i x c_i
    (D)   Delta_i = [Y2]_i + A+_i x B+_i              acceleration of c_i without accelerations of the speeds
    (Mi)  M_i = R M_{i-1}                             angular, per virtual angular speed of the base
    (N1)  [X]_p = N1_{i-1} + M_{i-1} x r^{c i},  N1_i = R [X]_p + M_i x c_i      (N2)  N2_i = M_i
    (Ti)  T*_i = I (A u' + Gamma) + A+ x I A+         (Fi)  F*_i = m (B u' + Delta)
    (ee)  the load: couple on A_m, force on B_ee
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from ...algebra.vectors import IDENTITY, ZERO, Mat3, Scalar, Sym3, Vec3, Z, add, total
from ...robot.frames.chain import Step
from .kane_platform_tanner2001 import Carriage, Sums


@dataclass(frozen=True, slots=True, eq=False)
class KaneLink:
    """One link: mass, mass centre in its frame, inertia about the mass centre."""

    revolute: bool
    m: Scalar
    c: Vec3
    I: Sym3


@dataclass(frozen=True, slots=True, eq=False)
class Mount:
    """Where the arm stands: rotation of frame 0 in {v}, base's mass centre in {v}, the way from there to frame 0."""

    R: Mat3
    r0: Vec3
    r01: Vec3  # axes of {v}

    @property
    def into(self) -> Mat3:
        """The rotation that takes components from {v} to frame 0."""
        return IDENTITY if self.R is IDENTITY else self.R.T


@dataclass(frozen=True, slots=True, eq=False)
class LinkMotion:
    """Partial velocities of one link in its own axes, and what remains of its accelerations."""

    A: tuple[Vec3, ...]  # per speed: platform, then joints up to this one
    B: tuple[Vec3, ...]
    w: Vec3  # A+
    v: Vec3  # B+
    G: Vec3
    Y: Vec3  # [Y2]
    D: Vec3
    M: tuple[Vec3, ...] = ()  # per virtual angular speed of the base; also N2
    N: tuple[Vec3, ...] = ()  # N1
    path: tuple[int, ...] = ()  # the joints between the base and this link, to which A and B belong


def base_motion(carriage: Carriage, mount: Mount, virtual: bool) -> LinkMotion:
    """The base as link 0: its mass centre, in the axes of frame 0."""
    into, level = mount.into, Vec3(mount.r0.x, mount.r0.y, 0)
    arms = Z.cross(level)
    A = tuple(into @ (Z * w) for w in carriage.angular)
    B = tuple(into @ (v + arms * w) for v, w in zip(carriage.linear, carriage.angular, strict=True))
    w, v = into @ (Z * carriage.w), into @ (carriage.v + arms * carriage.w)
    change = carriage.change + carriage.pull  # gravity stands inside
    G, Y = into @ (Z * carriage.wd), into @ (change + arms * carriage.wd)
    M = into.T.rows if virtual else ()
    return LinkMotion(A, B, w, v, G, Y, ZERO, M, (ZERO,) * len(M))


def link_motions(
    links: Sequence[KaneLink],
    pose: Sequence[Step],
    rates: Sequence[Scalar],
    mount: Mount,
    base: LinkMotion,
    parents: Sequence[int] | None = None,
) -> list[LinkMotion]:
    """The motion of every link from the motion of the base and the joint speeds; parents: where the arm branches."""
    motions: list[LinkMotion] = []
    for i, (link, step, u) in enumerate(zip(links, pose, rates, strict=True)):
        k = i - 1 if parents is None else parents[i]
        before, r = (base, mount.into @ mount.r01) if k < 0 else (motions[k], -links[k].c)
        path = (*before.path, i)
        motions.append(replace(_next(before, link, step, u, r + step.s), path=path))
    return motions


def _next(p: LinkMotion, link: KaneLink, step: Step, u: Scalar, r: Vec3) -> LinkMotion:
    """The motion of a link from its predecessor's; r leads from the predecessor's mass centre to this joint."""
    rise, c = step.rise, link.c
    X = [b + a.cross(r) for a, b in zip(p.A, p.B, strict=True)]  # (X)
    Xu = rise(p.v + p.w.cross(r))
    Y1 = p.Y + p.G.cross(r)  # (Y1)
    w, G = rise(p.w), rise(p.G)
    if link.revolute:
        G = G + w.cross(Z) * u  # (G)
        Y = rise(Y1) + Xu.cross(Z) * u  # (Y2)
        w = w + Z * u  # (A+)
        last, v = (Z, Z.cross(c)), Xu
    else:
        Y = rise(Y1 + p.w.cross(step.z * u))  # (Y1), (Y2)
        last, v = (ZERO, Z), Xu + Z * u
    A = [rise(a) for a in p.A]  # (A)
    B = [rise(x) + a.cross(c) for x, a in zip(X, A, strict=True)]  # (B)
    v = v + w.cross(c)  # (B+)
    Y = Y + G.cross(c)  # (Y2)
    M = tuple(rise(a) for a in p.M)  # (Mi), (N2)
    N = tuple(
        rise(n + a.cross(r)) + b.cross(c) for n, a, b in zip(p.N, p.M, M, strict=True)
    )  # (N1)
    return LinkMotion((*A, last[0]), (*B, last[1]), w, v, G, Y, Y + w.cross(v), M, N)  # (D)


def add_links(
    sums: Sums,
    links: Sequence[KaneLink],
    motions: Sequence[LinkMotion],
    rows: Callable[[LinkMotion], Sequence[int]],
) -> None:
    """T* + F* of the links; rows: those of a link's partial velocities (platform, then joints)."""
    for link, motion in zip(links, motions, strict=True):
        places = rows(motion)
        torque = link.I @ motion.G + motion.w.cross(link.I @ motion.w)  # (Ti)
        force = motion.D * link.m  # (Fi)
        turned = [link.I @ a for a in motion.A]
        heavy = [b * link.m for b in motion.B]
        for k, (a, b) in enumerate(zip(motion.A, motion.B, strict=True)):
            for j in range(k + 1):
                sums.put(places[k], places[j], a.dot(turned[j]))
                sums.put(places[k], places[j], b.dot(heavy[j]))
            sums.bias(places[k], a.dot(torque))
            sums.bias(places[k], b.dot(force))


def load_forces(
    last: LinkMotion, link: KaneLink, tool: Vec3, force: Vec3, couple: Vec3
) -> list[Scalar]:
    """Generalised forces of the load on the end effector, per partial velocity of the last link (ee)."""
    moment = couple + (tool - link.c).cross(force)  # about c_m
    return [add(a.dot(moment), b.dot(force)) for a, b in zip(last.A, last.B, strict=True)]  # (ee)


def base_wrench(
    links: Sequence[KaneLink],
    motions: Sequence[LinkMotion],
    accelerations: Callable[[LinkMotion], Sequence[Scalar]],
    load: tuple[Vec3, Vec3, Vec3],
    hand: int,
) -> tuple[Vec3, Vec3]:
    """Force and torque about the base's mass centre that the links exert on the base, axes of {v}.

    accelerations: of the speeds that move a link. load: the end effector in the frame of link `hand`, force and couple.
    """
    F: list[Scalar] = [0, 0, 0]
    T: list[Scalar] = [0, 0, 0]
    for i, (link, motion) in enumerate(zip(links, motions, strict=True)):
        alpha, a = motion.G, motion.D
        for A, B, acc in zip(motion.A, motion.B, accelerations(motion), strict=True):
            alpha, a = alpha + A * acc, a + B * acc
        torque = -(link.I @ alpha + motion.w.cross(link.I @ motion.w))  # (Ti)
        force = -(a * link.m)  # (Fi)
        if i == hand:
            tool, push, couple = load
            force, torque = force + push, torque + couple + (tool - link.c).cross(push)  # (ee)
        for k in range(3):
            F[k] = add(F[k], motion.M[k].dot(force))  # (N2)
            T[k] = total(T[k], motion.M[k].dot(torque), motion.N[k].dot(force))  # (Mi), (N1)
    return Vec3(*F), Vec3(*T)
