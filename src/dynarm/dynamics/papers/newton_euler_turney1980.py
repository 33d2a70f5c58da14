"""Inverse dynamics by the recursive Newton-Euler equations of Luh, Walker and Paul, as turney1980 writes them.

[turney1980]  J. L. Turney, T. N. Mudge, C. S. G. Lee, Equivalence of two formulations for robot arm dynamics,
              University of Michigan, December 1980, section 3.
Frames     Standard Denavit-Hartenberg (`robot.standard`): z_{i-1} on the axis of joint i, r_i from origin i-1 to
           origin i, rbar_i from origin i to the centre of mass, both in frame i. R maps frame i-1 to frame i.
Differs    (3.16) has w_{i-1}, not w_i, and (3.18) has rbar_i, not r_i. Accelerations go through A_i of section 5, as
           Table 3 counts them. r_i acts once, on the whole force f_i, while it is still the sparse [a 0 d]:
           (rbar + r) x F + r x R' f_{i+1} = rbar x F + r x f_i. Translational joints are added: there r_i holds the
           joint's variable, and a_i gains R (z qdd_i + 2 w_{i-1} x z qd_i). Gravity is any vector: a_0 = -g. The
           wrench acts on the last link, so that f_{n+1} and n_{n+1}, which the last link exerts, are minus the wrench.
           Section 6: terms can be left out; `Weights` says which of a link's terms count (`dynarm.terms`).

    (3.15) w_i     = R (w_{i-1} + z qd_i)                          rotational joints
    (3.16) alpha_i = R (alpha_{i-1} + w_{i-1} x z qd_i + z qdd_i)  rotational joints
    (3.17) a_i     = w x (w x r_i) + alpha x r_i + R a_{i-1}
    (3.18) abar_i  = w x (w x rbar_i) + alpha x rbar_i + a_i
    (3.9)  F_i     = m abar_i
    (3.10) N_i     = I alpha + w x I w
    (3.19) f_i     = F_i + R' f_{i+1}
    (3.20) n_i     = N_i + rbar_i x F_i + r_i x f_i + R' n_{i+1}
    (3.21) tau_i   = z_{i-1} . n_i  (translational: z_{i-1} . f_i)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...algebra.vectors import ZERO, Scalar, Vec3, Z, mul, skew, square_skew
from ...robot.frames.chain import Chain, Step
from ...robot.frames.standard import links, steps

Wrench = tuple[Vec3, Vec3]


@dataclass(frozen=True, slots=True)
class Weights:
    """1 for each term of a link that counts, 0 for each that is left out."""

    # w_{i-1} x z qd_i in (3.16); for translational joints 2 w_{i-1} x z qd_i in (3.17)
    turning: Scalar = 1
    centripetal: Scalar = 1  # w x (w x .) in (3.17), (3.18)
    tangential: Scalar = 1  # alpha x . in (3.17), (3.18)
    # the acceleration of the centre of mass relative to the frame's origin in (3.18)
    offset: Scalar = 1
    force: Scalar = 1  # m abar in (3.9)
    angular: Scalar = 1  # I alpha in (3.10)
    gyroscopic: Scalar = 1  # w x I w in (3.10)


ALL = Weights()


def inverse_dynamics(
    arm: Chain,
    pose: Sequence[Step],
    qd: Sequence[Scalar],
    qdd: Sequence[Scalar],
    wrench: Wrench = (ZERO, ZERO),
    weights: Sequence[Weights] | None = None,
) -> list[Scalar]:
    """Joint forces [N m or N] that give accelerations qdd in the pose with velocities qd."""
    w, alpha, a = ZERO, ZERO, -arm.gravity
    chain = list(zip(links(arm), steps(arm, pose), strict=True))
    loads = []
    for (link, step), v, acc, k in zip(chain, qd, qdd, weights or [ALL] * arm.n, strict=True):
        if link.revolute:
            alpha = alpha + w.cross(Z * v) * k.turning + Z * acc  # (3.16)
            w = w + Z * v  # (3.15)
        else:
            a = a + Z * acc + w.cross(Z * mul(2, v)) * k.turning
        w, alpha = step.rise(w), step.rise(alpha)
        A = square_skew(w).full() * k.centripetal + skew(alpha) * k.tangential
        a = A @ step.r + step.rise(a)  # (3.17)
        abar = A @ link.rbar * k.offset + a  # (3.18)
        F = abar * mul(link.m, k.force)  # (3.9)
        N = link.I @ alpha * k.angular + w.cross(link.I @ w) * k.gyroscopic  # (3.10)
        loads.append((F, N + link.rbar.cross(F)))  # (3.20)

    f, n = -wrench[0], -wrench[1]
    tau = []
    for (link, step), (F, N) in reversed(list(zip(chain, loads, strict=True))):
        f, n = step.lower(f + F, n + N)  # (3.19), (3.20)
        tau.append(n.z if link.revolute else f.z)  # (3.21)
    return tau[::-1]
