"""Inverse dynamics by the modified Newton-Euler equations: one matrix A_i acts on every vector of link i.

[turney1980]  J. L. Turney, T. N. Mudge, C. S. G. Lee, Equivalence of two formulations for robot arm dynamics,
              University of Michigan, December 1980, section 5.
Frames     Standard Denavit-Hartenberg (`robot.standard`): z_{i-1} on the axis of joint i, r_i from origin i-1 to
           origin i, rbar_i from origin i to the centre of mass, both in frame i. R maps frame i-1 to frame i.
Differs    A_i has alpha_x, not alpha_z, in row 3, column 2. K_i is the second moment about the centre of mass, and
           general: K = tr(I)/2 E - I, of which the paper's diagonal form is the case of principal axes. In (5.2) the
           last term is R' n_{i+1}, and component x of the first is (A K)_zy - (A K)_yz. r_i acts once, on the whole
           force f_i, while it is still the sparse [a 0 d]: (rbar + r) x F + r x R' f_{i+1} = rbar x F + r x f_i.
           Translational joints are added: there r_i holds the joint's variable, and a_i gains
           R (z qdd_i + 2 w_{i-1} x z qd_i). Gravity is any vector g. The wrench acts on the last link, so that
           f_{n+1} and n_{n+1}, which the last link exerts, are minus the wrench.

    (3.15) w_i     = R (w_{i-1} + z qd_i)                          rotational joints
    (3.16) alpha_i = R (alpha_{i-1} + w_{i-1} x z qd_i + z qdd_i)  rotational joints
    A_i    A_i     = w w' - w.w E + [alpha x],  so that A b = w x (w x b) + alpha x b
    (5.1)  a_i     = A_i r_i + R a_{i-1},  F_i = m (A_i rbar_i + a_i),  f_i = F_i + R' f_{i+1}
    (5.2)  n_i     = Tr{A_i K_i sigma'} + rbar_i x F_i + r_i x f_i + R' n_{i+1}
    (3.21) tau_i   = z_{i-1} . n_i  (translational: z_{i-1} . f_i)
"""

from __future__ import annotations

from collections.abc import Sequence

from ...algebra.vectors import ZERO, Mat3, Scalar, Sym3, Vec3, Z, mul, skew, square_skew, sub, total
from ...robot.frames.chain import Chain, Step
from ...robot.frames.standard import links, steps

Wrench = tuple[Vec3, Vec3]


def inverse_dynamics(
    arm: Chain,
    pose: Sequence[Step],
    qd: Sequence[Scalar],
    qdd: Sequence[Scalar],
    wrench: Wrench = (ZERO, ZERO),
) -> list[Scalar]:
    """Joint forces [N m or N] that give accelerations qdd in the pose with velocities qd."""
    w, alpha, a = ZERO, ZERO, -arm.gravity
    chain = list(zip(links(arm), steps(arm, pose), strict=True))
    loads = []
    for (link, step), v, acc in zip(chain, qd, qdd, strict=True):
        if link.revolute:
            alpha = alpha + w.cross(Z * v) + Z * acc  # (3.16)
            w = w + Z * v  # (3.15)
        else:
            a = a + Z * acc + w.cross(Z * mul(2, v))
        w, alpha = step.rise(w), step.rise(alpha)
        A = acceleration_matrix(w, alpha)  # A_i
        a = A @ step.r + step.rise(a)  # (5.1)
        F = A @ link.h + a * link.m  # (5.1)
        loads.append((F, spin_moment(A, link.K) + link.rbar.cross(F)))  # (5.2)

    f, n = -wrench[0], -wrench[1]
    tau = []
    for (link, step), (F, N) in reversed(list(zip(chain, loads, strict=True))):
        f, n = step.lower(f + F, n + N)  # (5.1), (5.2)
        tau.append(n.z if link.revolute else f.z)  # (3.21)
    return tau[::-1]


def acceleration_matrix(w: Vec3, alpha: Vec3) -> Mat3:
    """A of section 5: A b = w x (w x b) + alpha x b (6 mul 9 add)."""
    return square_skew(w).full() + skew(alpha)


def spin_moment(A: Mat3, K: Sym3) -> Vec3:
    """Tr{A K sigma'}: the moment I alpha + w x I w [N m] (6 mul 3 add on principal axes, 15 mul 15 add in general)."""
    x, y, z = A.rows
    return Vec3(
        _component(K.xy, z.x, K.xz, y.x, K.yz, z.z, y.y, K.yy, z.y, K.zz, y.z),
        _component(K.yz, x.y, K.xy, z.y, K.xz, x.x, z.z, K.zz, x.z, K.xx, z.x),
        _component(K.xz, y.z, K.yz, x.z, K.xy, y.y, x.x, K.xx, y.x, K.yy, x.y),
    )


def _component(
    k1: Scalar,
    a1: Scalar,
    k2: Scalar,
    a2: Scalar,
    k3: Scalar,
    a3: Scalar,
    a4: Scalar,
    k5: Scalar,
    a5: Scalar,
    k6: Scalar,
    a6: Scalar,
) -> Scalar:
    """k5 a5 - k6 a6 + k1 a1 - k2 a2 + k3 (a3 - a4): one component of A K - (A K)', K symmetric."""
    principal = sub(mul(k5, a5), mul(k6, a6))
    return total(principal, mul(k1, a1), -mul(k2, a2), mul(k3, sub(a3, a4)))
