"""The equations of turney1980 in plain NumPy, rotational joints, standard frames: as corrected, or as printed.

`printed` names the equation that is to be taken as the paper prints it.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from dynarm.algebra.vectors import IDENTITY, ZERO
from dynarm.robot.frames.chain import chain_of, pose
from dynarm.robot.frames.standard import links, steps
from oracles.pinocchio_arm import pinocchio_model
from strategies import random_arm, random_states

Z = np.array([0.0, 0.0, 1.0])
Q = np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 0]])


class Sample:
    """A random arm of rotational joints in one state, its numbers in standard frames, and the truth by pinocchio."""

    def __init__(self, seed: int, upright: bool):
        rng = np.random.default_rng([80, seed])
        self.n = n = 2 + seed % 5
        twists = [0.0, *rng.uniform(0.3, 2.8, n - 1)] if upright else "generic"
        self.arm = random_arm(rng, n, "R", twists, "generic", "z")
        self.q, self.qd, self.qdd = (x[0] for x in random_states(rng, n, 1))
        self.chain = chain_of(self.arm)
        self.truth = pinocchio_model(self.arm)
        self.g = vector(self.chain.gravity)
        bodies = links(self.chain)
        self.m = [link.m for link in bodies]
        self.rbar = [vector(link.rbar) for link in bodies]
        self.I = [np.array([vector(row) for row in link.I.full().rows]) for link in bodies]
        self.R, self.r = self.frames(self.q)

    def frames(self, q):
        """R_{i-1}^i and r_i of every step."""
        path = steps(self.chain, pose(self.chain, list(q)))
        R = [np.array([vector(row) for row in step.after(IDENTITY, ZERO)[0].rows]) for step in path]
        return R, [vector(step.r) for step in path]


def vector(v) -> np.ndarray:
    return np.array([*v])


@cache
def samples(upright: bool = False) -> tuple[Sample, ...]:
    return tuple(Sample(seed, upright) for seed in range(20))


def cross_matrix(v):
    return np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])


def second_moment(inertia):
    return np.trace(inertia) / 2 * np.eye(3) - inertia


def newton_euler(s: Sample, qd, qdd, printed: str = "", a0=None) -> np.ndarray:
    """(3.15)-(3.21), or, for slips of section 5, (5.1)-(5.2)."""
    w = alpha = np.zeros(3)
    a = -s.g if a0 is None else a0
    loads = []
    for i in range(s.n):
        up = s.R[i].T
        w_before, w = w, up @ (w + Z * qd[i])
        turning = np.cross(w if printed == "3.16" else w_before, Z * qd[i])
        alpha = up @ (alpha + turning + Z * qdd[i])
        A = np.outer(w, w) - w @ w * np.eye(3) + cross_matrix(alpha)
        if printed == "A_i":
            A[2, 1] += alpha[2] - alpha[0]
        a = A @ s.r[i] + up @ a
        rbar = s.rbar[i] + s.r[i] if printed == "rbar from origin i-1" else s.rbar[i]
        abar = A @ (s.r[i] if printed == "3.18" else rbar) + a
        F = s.m[i] * abar
        loads.append((F, moment(s, i, A, w, alpha, printed) + np.cross(rbar + s.r[i], F)))
    f = n = np.zeros(3)
    tau = np.zeros(s.n)
    for i in reversed(range(s.n)):
        down = s.R[i + 1] if i + 1 < s.n else np.eye(3)
        F, N = loads[i]
        n = N + np.cross(s.r[i], down @ f) + down @ n
        f = F + down @ f
        tau[i] = (s.R[i].T @ Z) @ n
    return tau


def moment(s: Sample, i: int, A, w, alpha, printed: str):
    """I alpha + w x I w, or Tr{A K sigma'} where section 5 is on trial."""
    K = second_moment(s.I[i])
    if printed == "K_i diagonal":
        K = np.diag(np.diag(K))
    elif printed == "K_i about origin i-1":
        arm = s.rbar[i] + s.r[i]
        K = K + s.m[i] * np.outer(arm, arm)
    elif printed not in ("A_i", "text below 5.2", "section 5"):
        return s.I[i] @ alpha + np.cross(w, s.I[i] @ w)
    AK = A @ K
    axial = np.array([AK[2, 1] - AK[1, 2], AK[0, 2] - AK[2, 0], AK[1, 0] - AK[0, 1]])
    return -axial if printed == "text below 5.2" else axial


def chain_products(R, r):
    """T_0^q for q = 0 ... n."""
    T = [np.eye(4)]
    for step, displacement in zip(R, r, strict=True):
        local = np.eye(4, dtype=step.dtype)
        local[:3, :3], local[:3, 3] = step, step @ displacement
        T.append(T[-1] @ local)
    return T


Q4 = np.zeros((4, 4))
Q4[:3, :3] = Q


def first_derivative(T, j, q):
    """(1.11): dT_0^q/dtheta_j, j from 1."""
    return T[j - 1] @ Q4 @ np.linalg.inv(T[j - 1]) @ T[q]


def second_derivative(T, j, k, q):
    """(1.12)."""
    j, k = min(j, k), max(j, k)
    return T[j - 1] @ Q4 @ np.linalg.inv(T[j - 1]) @ first_derivative(T, k, q)


def augmented(s: Sample, q, diagonal=False):
    """(1.28), (1.26) of link q, counted from 1."""
    m, rbar = s.m[q - 1], s.rbar[q - 1]
    K = second_moment(s.I[q - 1])
    J = (np.diag(np.diag(K)) if diagonal else K) + m * np.outer(rbar, rbar)
    return np.block([[J, m * rbar[:, None]], [m * rbar[None, :], np.array([[m]])]])


def lagrange(s: Sample, printed: str = ""):
    """M, C[i, j, k] and G of section 2."""
    n = s.n
    T = chain_products(s.R, s.r)
    M, C, G = np.zeros((n, n)), np.zeros((n, n, n)), np.zeros(n)
    for q in range(1, n + 1):
        Ja = augmented(s, q, diagonal=printed == "1.26")
        down = np.append(s.g, 0)
        for i in range(1, q + 1):
            right = Ja @ first_derivative(T, i, q).T
            G[i - 1] -= down @ first_derivative(T, i, q) @ Ja[:, 3]
            for j in range(1, q + 1):
                M[i - 1, j - 1] += np.trace(first_derivative(T, j, q) @ right)
                for k in range(1, q + 1):
                    C[i - 1, j - 1, k - 1] += np.trace(second_derivative(T, j, k, q) @ right)
    return M, C, G
