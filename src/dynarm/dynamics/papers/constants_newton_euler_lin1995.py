"""Inverse dynamics by the recursive Newton-Euler method in the inertia constants of composite bodies.

[lin1995]  S.-K. Lin, Minimal linear combinations of the inertia parameters of a manipulator, IEEE Trans. Robotics
           and Automation 11 (1995) 360-373, section III-A: (10)-(14) and (38)-(43) for the constants, (57)-(75).
Frames     Quantities of link i are written in frame i; z lies on joint i. `rise` maps frame i-1 to frame i, `fall`
           maps back; s = b x + d z is the displacement from origin i-1 to origin i: b x across, d z along joint i.
Differs    w, wd and Omega come from `angular_motion_lin1995`, (57)-(60). Gravity enters as a base acceleration (76), so
           that (65) has a where it prints a - g. The external wrench (f_E, t_E) acts on the last link, in frame n, the
           moment about its origin. Origins are first moved along parallel axes and the last one (`slid`), so that fewer
           d differ from zero.
           (62) lacks a plus sign, (70) has it. U of (12) and G of (39)-(43) serve only for U* = U + R G R', which obeys
           (12) with diag(U*_22, U*_22, 0) in place of diag(U_22, U_22, U_33), and (14) as it stands: U* is carried, so
           that nothing is added that is subtracted again. R diag(u, u, 0) R' = u (E - z z'), z the axis of joint i+1.
           (30) lets the part of s along the axis be added after the rotation in (62), (71) for rotational joints too;
           where only parallel joints came before and b is not zero, s in (70) is cheaper.
           m^ d z x a* of (73) is added to mu in (74), which is multiplied by d z in any case.

    (10) k_i = m c + m^ s + z k_z (joint i+1 rotational), m c + m^ b + R k (translational)
    (12) U*_i = J - m^ [s x][s x] + U*_22 (E - z z') - [s x][z k_z x] - [z k_z x][s x]               rotational
    (14) U*_i = J + R U* R' - m^ [b x][b x] - [b x][R k x] - [R k x][b x]                            translational
    (30) Omega_i [0, 0, d] = Omega_{i-1} [0, 0, d]
    (38) D_i = U* - diag(U*_22, U*_22, 0) + the sum of d_k W_k over the translational joints k next to i, as in (91)
    (61) h_i = z qdd + 2 w x z qd                                                                 translational joints
    (63) rho_i = m^ a_z + (Omega k)_z
    (66) mu_i = mu-_i + R mu_{i+1}      mu_{n+1} = -f_E, zeta_{n+1} = -t_E
    (68) tau_i = zeta_z (rotational), rho_i + (R mu_{i+1})_z (translational)
    (69) h*  = h + Omega [0, 0, d]      (70) a* = a_{i-1} + Omega_{i-1} b       (71) a_i = R a* + h*
    (72) mu-_i = Omega [k_x, k_y, 0] (rotational), m^ h* (translational)
    (73) zeta-_i = [k_x, k_y, 0] x a + Psi psi(D) (rotational), m^ d z x a* + k x h (translational)
    (74) zeta*_i = zeta_i + d z x mu_i  (75) zeta_i = zeta-_i + R zeta*_{i+1} + b x R mu_{i+1}
    (76) a_0 = -g                       (92) W_k = R [2 k_z, 0, -k_x; 0, 2 k_z, -k_y; -k_x, -k_y, 0] R', in frame i
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...algebra.vectors import ZERO, Scalar, Sym3, Vec3, X, Z, add, is_zero, mul, pair, square_skew
from ...robot.frames.chain import Chain, Limb, Step, slid
from .angular_motion_lin1995 import STILL, Spin, carried, psi, turned

Wrench = tuple[Vec3, Vec3]


@dataclass(frozen=True, slots=True, eq=False)
class CompositeConstants:
    """Inertia constants of composite body i: mass, first moment k and, for a rotational joint, the tensor D."""

    m: Scalar
    k: Vec3
    D: Sym3


@dataclass(frozen=True, slots=True, eq=False)
class Share:
    """rho, mu-bar and zeta-bar of composite body i, and the force m^ a* that a translational joint carries along d."""

    rho: Scalar
    mu: Vec3
    zeta: Vec3
    carried: Vec3


def inverse_dynamics(
    arm: Chain,
    pose: Sequence[Step],
    qd: Sequence[Scalar],
    qdd: Sequence[Scalar],
    wrench: Wrench = (ZERO, ZERO),
) -> list[Scalar]:
    """Joint forces [N m or N] that give accelerations qdd in the pose with velocities qd."""
    arm, pose, back = slid(arm, pose)
    shares = _outward(arm, pose, qd, qdd, inertia_constants(arm, pose))
    mu, zeta = -wrench[0], -wrench[1] - (Z * back).cross(wrench[0])
    tau = []
    for joint, step, share in zip(arm.joints[::-1], pose[::-1], shares[::-1], strict=True):
        zeta = share.zeta + zeta
        tau.append(zeta.z if joint.revolute else add(share.rho, mu.z))  # (68)
        mu = share.mu + mu  # (66)
        zeta = zeta + (Z * step.d).cross(mu + share.carried)  # (74)
        mu = step.whole.fall(mu)
        zeta = step.whole.fall(zeta) + (X * step.a).cross(mu)  # (75)
    return tau[::-1]


def _outward(
    arm: Chain,
    pose: Sequence[Step],
    qd: Sequence[Scalar],
    qdd: Sequence[Scalar],
    bodies: Sequence[CompositeConstants],
) -> list[Share]:
    """What each composite body adds to the forces at its joint."""
    a, motion = -arm.gravity, STILL  # (76)
    loads = []
    for joint, step, v, acc, body in zip(arm.joints, pose, qd, qdd, bodies, strict=True):
        flat = joint.revolute and not is_zero(step.a) and all(map(is_zero, motion.z))
        a = step.whole.rise(a + motion @ (step.s if flat else X * step.a))  # (70)
        motion = turned(step, motion, v, acc) if joint.revolute else carried(step, motion)
        along = ZERO if flat else motion @ (Z * step.d)  # (30)
        if joint.revolute:
            a = a + along  # (71)
            loads.append(_rotational(body, motion, a))
        else:
            h = Z * acc + motion.w.cross(Z * mul(2, v))  # (61)
            loads.append(_translational(body, motion, a, h, h + along))  # (69)
            a = a + (h + along)  # (71)
    return loads


def _rotational(body: CompositeConstants, motion: Spin, a: Vec3) -> Share:
    k = Vec3(body.k.x, body.k.y, 0)
    return Share(0, motion @ k, k.cross(a) + psi(body.D, motion), ZERO)  # (72), (73)


def _translational(
    body: CompositeConstants, motion: Spin, a_star: Vec3, h: Vec3, h_star: Vec3
) -> Share:
    rho = add(mul(body.m, add(a_star.z, h_star.z)), (motion @ body.k).z)  # (63)
    return Share(rho, h_star * body.m, body.k.cross(h), a_star * body.m)  # (72), (73)


def inertia_constants(arm: Chain, pose: Sequence[Step]) -> list[CompositeConstants]:
    """m^, k and D of the composite bodies 1 to n. D alone may vary, with the translational joints next to i."""
    tip = arm.joints[-1]
    m, k, U = tip.m, tip.h, tip.J  # U is U* of the paper
    sliding: list[tuple[Scalar, Sym3]] = []  # d_k and W_k in frame i
    constants = []
    for i in range(arm.n - 1, -1, -1):
        joint, step = arm.joints[i], pose[i]
        D = U - Sym3(U.yy, 0, U.yy, 0, 0, 0)
        for d, W in sliding:
            D = D + W * d  # (38)
        constants.append(CompositeConstants(m, k, D))
        if i:
            own = Sym3(mul(2, k.z), 0, mul(2, k.z), -k.x, -k.y, 0)  # (92)
            sliding = [] if joint.revolute else [*sliding, (step.d, own)]
            sliding = [(d, step.fall_sym(W)) for d, W in sliding]
            m, k, U = _inner(arm.joints[i - 1], joint.revolute, step, m, k, U)
    return constants[::-1]


def _inner(
    link: Limb, revolute: bool, step: Step, m: Scalar, k: Vec3, U: Sym3
) -> tuple[Scalar, Vec3, Sym3]:
    """m^, k and U* of composite body i, given those of i+1 and the kind of joint i+1."""
    if revolute:
        s, turned, tensor = step.s, step.z * k.z, square_skew(step.z) * -U.yy  # (12)
    else:
        s, turned, tensor = X * step.a, step.fall(k), step.fall_sym(U)  # (14)
    tensor = link.J + tensor - square_skew(s) * m + pair(s, turned)
    return add(link.m, m), link.h + s * m + turned, tensor  # (10)
