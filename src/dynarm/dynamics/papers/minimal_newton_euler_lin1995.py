"""Inverse dynamics from the minimal linear combinations alone, by a recursive Newton-Euler method.

[lin1995]  S.-K. Lin, Minimal linear combinations of the inertia parameters of a manipulator, IEEE Trans. Robotics
           and Automation 11 (1995) 360-373, section III-B with (57)-(75).
Frames     Quantities of link i are written in frame i; z lies on joint i. Joint r is the first rotational one, joint
           s the first rotational one not parallel to it; u is the axis of joint r in frame i, constant for i < s. The
           displacement to joint i is b x in frame i-1 and then d z in frame i. Joints i < r have no angular motion;
           for r <= i < s it is W u with acceleration A u, and moments are wanted along u only; i >= s is general.
Differs    w, wd and Omega come from `angular_motion_lin1995`, (57)-(60). (70) adds the displacement d z of rotational
           joints too in frame i, where Omega_i z = Omega_{i-1} z, which saves 3 multiplications and 3 additions.
           Gravity enters as the base acceleration (76), so that a stands where (65) prints a - g. tau of a rotational
           joint before s is u_z times the moment along u, which (68) leaves out. The product Psi psi(D) of (73) is
           grouped, or written with S (minimal_chain_lin1995), which takes 13 multiplications and 10 additions after
           Omega. m d z x a* of (73), (85) joins d z x mu. A translational joint that is a body of its own (see there)
           adds its whole force, (32) without mu, and the moment k x a. The external wrench (f_E, t_E) acts on the last
           link, in frame n, the moment about its origin.

    (32) f_i  = m a + Omega k + mu_{i+1}
    (59) Omega = [wd x] + [w x][w x]
    (61) h_i  = z qdd + 2 w x z qd                                                    translational joints
    (63) rho_i = m a_z + (Omega k)_z                                                  translational joints
    (66) mu_i = mu-_i + R mu_{i+1}                         mu_{n+1} = -f_E
    (68) tau_i = rho_i + (mu_{i+1})_z in frame i, or (zeta_i)_z
    (69) h*_i = h + Omega d z         (70) a*_i = a_{i-1} + Omega_{i-1} b x           (71) a_i = R a* + h*
    (72) mu-_i = Omega [k_x, k_y, 0], or m h*
    (73) zeta-_i = [k_x, k_y, 0] x a + Psi psi(D), or m d z x a* + k x h
    (74) zeta*_i = zeta_i + d z x mu_i
    (75) zeta_{i-1} = zeta-_{i-1} + R zeta* + b x x R mu_i    zeta_{n+1} = -t_E
    (76) a_0  = -g
    (77) a_i  = R a + z qdd           (78) rho_i = m a_z         (79) mu-_i = m z qdd                     i < r
    (80) W_i  = W + u_z qd            (81) A_i = A + u_z qdd                                              r <= i < s
    (82) h_i  = [0, 0, qdd] + 2 [u_y, -u_x, 0] W qd
    (83) rho_i = m a_z + kappa1 A - kappa2 W^2
    (84) mu-_i = delta Omega [k_x, k_y, 0], or m h*
    (85) zeta-_i = delta u_z (k_x a_y - k_y a_x) + A D_33, or (u_y a*_x - u_x a*_y) m d + kappa1 qdd + 2 kappa2 W qd
    (88) zeta*_s = u . R (zeta_s + d z x mu_s)
    (89) zeta*_i = zeta_i + u . (d z x mu_i)
    (90) zeta_{i-1} = zeta-_{i-1} + zeta*_i + u . (b x x R mu_i)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...algebra.vectors import ZERO, Scalar, Sym3, Vec3, X, Y, Z, add, mul, sub, total
from ...robot.frames.chain import Step
from .angular_motion_lin1995 import STILL, Spin, carried, psi, turned
from .minimal_chain_lin1995 import MinimalBody, MinimalChain, moment_along, tensor

Wrench = tuple[Vec3, Vec3]


@dataclass(frozen=True, slots=True, eq=False)
class MinimalShare:
    """What joint i adds on the way back: a force mu-, a moment zeta- (a scalar along u before joint s), and rho."""

    mu: Vec3
    zeta: Scalar
    rho: Scalar = 0
    carried: Vec3 = ZERO  # m a* of a translational joint, whose lever is that of mu


def inverse_dynamics(
    arm: MinimalChain,
    pose: Sequence[Step],
    qd: Sequence[Scalar],
    qdd: Sequence[Scalar],
    wrench: Wrench = (ZERO, ZERO),
) -> list[Scalar]:
    """Joint forces [N m or N] that give accelerations qdd in the pose with velocities qd."""
    steps = arm.placed(pose)
    return _backward(arm, steps, _forward(arm, steps, qd, qdd), wrench)


def _forward(
    arm: MinimalChain, pose: Sequence[Step], qd: Sequence[Scalar], qdd: Sequence[Scalar]
) -> list[MinimalShare]:
    r, s = arm.structure.r, arm.structure.s
    shares = []
    a = -arm.gravity  # (76)
    W: Scalar = 0
    A: Scalar = 0
    motion = STILL
    for i, (body, step, v, acc) in enumerate(zip(arm.loads, pose, qd, qdd, strict=True)):
        star = step.whole.rise(a + motion.x * step.a)  # (70)
        if i < r:
            a = star + Z * acc  # (77)
            shares.append(MinimalShare(Z * mul(body.m, acc), 0, mul(body.m, a.z)))  # (78), (79)
        elif i < s:
            u = arm.structure.axis(i)
            if body.revolute:
                W, A = add(W, mul(u.z, v)), add(A, mul(u.z, acc))  # (80), (81)
            motion = _turn_about(u, W, A)
            a, share = _planar(arm, pose, i, star, (v, acc), (W, A), motion)
            shares.append(share)
        else:
            u = step.rise(arm.structure.axis(i - 1)) if i == s else ZERO
            seen = (u * W, u * A) if i == s else None  # (80), (81)
            motion = turned(step, motion, v, acc, seen) if body.revolute else carried(step, motion)
            a, share = _general(arm, pose, i, star, (v, acc), motion)
            shares.append(share)
    return shares


def _turn_about(u: Vec3, W: Scalar, A: Scalar) -> Spin:
    """Angular velocity W u and acceleration A u about a constant axis: Omega = A [u x] + W^2 (u u' - E)."""
    W2 = mul(W, W)

    def column(e: Vec3) -> Vec3:
        return _mixed(u.cross(e), A) + _mixed(u * u.dot(e) - e, W2)  # (59)

    w = u * W
    squares = Vec3(*(mul(x, x) for x in w))
    return Spin(w, u * A, squares, column(X), column(Y), column(Z))


def _mixed(v: Vec3, k: Scalar) -> Vec3:
    """v k, with what rounding leaves of a unit vector's zeros dropped."""
    return Vec3(*(0 if x.__class__ is float and abs(x) < 1e-15 else mul(x, k) for x in v))


# ---- joints r <= i < s


def _planar(
    arm: MinimalChain,
    pose: Sequence[Step],
    i: int,
    star: Vec3,
    rate: tuple[Scalar, Scalar],
    about: tuple[Scalar, Scalar],
    motion: Spin,
) -> tuple[Vec3, MinimalShare]:
    """Acceleration of origin i, and its share."""
    body, u = arm.loads[i], arm.structure.axis(i)
    (v, acc), (W, A) = rate, about
    if body.revolute:
        k = body.k  # zero where delta is
        lever = mul(u.z, sub(mul(k.x, star.y), mul(k.y, star.x)))
        moment = add(lever, mul(A, moment_along(arm, pose, i)))  # (85)
        return star, MinimalShare(motion @ k, moment)  # (84)
    d = pose[i].d
    drag = mul(W, v)
    h = Vec3(mul(mul(2, u.y), drag), -mul(mul(2, u.x), drag), acc)  # (82)
    more = h + motion.z * d  # (69)
    a = star + more  # (71)
    pull = add(mul(body.kappa1, acc), mul(mul(2, body.kappa2), drag))  # (85)
    rho = total(mul(body.m, a.z), mul(body.kappa1, A), -mul(body.kappa2, mul(W, W)))  # (83)
    return a, MinimalShare(more * body.m, pull, rho, star * body.m)  # (84)


# ---- joints i >= s


def _general(
    arm: MinimalChain,
    pose: Sequence[Step],
    i: int,
    star: Vec3,
    rate: tuple[Scalar, Scalar],
    motion: Spin,
) -> tuple[Vec3, MinimalShare]:
    """Acceleration of origin i, and its share."""
    body, d = arm.loads[i], pose[i].d
    k = body.k
    if body.revolute:
        a = star + motion.z * d  # (70), (71)
        own = tensor(arm, pose, i)
        moment = (spread_moment if body.spread else psi)(own, motion)
        return a, MinimalShare(motion @ k, k.cross(a) + moment)  # (72), (73)
    w = motion.w
    v, acc = rate
    twice = mul(2, v)
    h = Vec3(mul(w.y, twice), -mul(w.x, twice), acc)  # (61)
    more = h + motion.z * d  # (69)
    a = star + more  # (71)
    if body.apart:
        whole = a * body.m + motion @ k  # (32)
        return a, MinimalShare(whole, k.cross(a), whole.z)
    rho = add(mul(body.m, a.z), (motion @ k).z)  # (63)
    return a, MinimalShare(more * body.m, k.cross(h), rho, star * body.m)  # (72), (73)


def spread_moment(S: Sym3, motion: Spin) -> Vec3:
    """Psi psi(D) as the axial vector of Omega S - S Omega'."""
    square, x, y, z = motion.squares, motion.x, motion.y, motion.z
    free = Vec3(-mul(z.y, S.zz), mul(z.x, S.zz), 0)
    return free + Vec3(  # (73)
        total(mul(x.z, S.xy), mul(y.z, S.yy), mul(sub(square.z, square.y), S.yz), -mul(x.y, S.xz)),
        total(mul(sub(square.x, square.z), S.xz), mul(y.x, S.yz), -mul(x.z, S.xx), -mul(y.z, S.xy)),
        total(
            mul(x.y, S.xx),
            -mul(y.x, S.yy),
            mul(sub(square.y, square.x), S.xy),
            mul(z.y, S.xz),
            -mul(z.x, S.yz),
        ),
    )


# ---- backward recursion


def _backward(
    arm: MinimalChain, pose: Sequence[Step], shares: Sequence[MinimalShare], wrench: Wrench
) -> list[Scalar]:
    r, s, n = arm.structure.r, arm.structure.s, arm.n
    mu = -wrench[0]  # in frame i, from joints beyond i
    zeta: Scalar = (Z * arm.left).cross(mu) - wrench[1]  # likewise; a scalar along u for i < s
    if s >= n > r:
        zeta = arm.structure.axis(n - 1).dot(zeta)
    tau: list[Scalar] = []
    for i in range(n - 1, -1, -1):
        step, share = pose[i], shares[i]
        if i >= r:
            zeta = zeta + share.zeta if i >= s else add(zeta, share.zeta)
        tau.append(_force(arm, i, share, mu, zeta))
        if i == 0:
            break
        mu = mu + share.mu  # (66)
        inner = step.whole.fall(mu)
        if i > s:
            star = zeta + (Z * step.d).cross(mu + share.carried)  # (73), (74)
            zeta = step.whole.fall(star) + (X * step.a).cross(inner)  # (75)
        elif i > r:
            zeta = _along_u(arm, step, i, mu + share.carried, inner, zeta)
        mu = inner
    return tau[::-1]


def _along_u(
    arm: MinimalChain, step: Step, i: int, pull: Vec3, inner: Vec3, zeta: Scalar
) -> Scalar:
    """The moment along u that joints r < i <= s hand to joint i-1; pull acts at d z, inner at b x."""
    u, lever = arm.structure.axis(i - 1), (Z * step.d).cross(pull)
    arm_of_force = u.dot((X * step.a).cross(inner))
    if i == arm.structure.s:
        return add(step.rise(u).dot(zeta + lever), arm_of_force)  # (88), (90)
    return total(zeta, arm.structure.axis(i).dot(lever), arm_of_force)  # (89), (90)


def _force(arm: MinimalChain, i: int, share: MinimalShare, mu: Vec3, zeta: Scalar) -> Scalar:
    body: MinimalBody = arm.joints[i]
    if not body.revolute:
        return add(share.rho, mu.z)  # (68)
    return zeta.z if i >= arm.structure.s else mul(arm.structure.axis(i).z, zeta)  # (68)
