"""The Newton-Euler equations of lin1995 in plain arrays, one state, every intermediate quantity kept."""

from __future__ import annotations

import numpy as np

from dynarm.robot.frames.chain import chain_of, pose
from strategies import random_arm, random_states


def skew(v) -> np.ndarray:
    return np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])


def big_omega(w, wd) -> np.ndarray:
    return skew(wd) + skew(w) @ skew(w)  # (24)


def psi_vector(A: np.ndarray) -> np.ndarray:
    return np.array([A[0, 0], A[1, 1], A[2, 2], A[0, 1], A[0, 2], A[1, 2]])  # (26)


def psi_matrix(a, w) -> np.ndarray:
    """(25), written out as printed."""
    x, y, z = w
    return np.array(
        [
            [a[0], -y * z, y * z, a[1] - x * z, a[2] + x * y, y * y - z * z],
            [x * z, a[1], -x * z, a[0] + y * z, z * z - x * x, a[2] - x * y],
            [-x * y, x * y, a[2], x * x - y * y, a[0] - y * z, a[1] + x * z],
        ]
    )


def vectors(*items) -> list[np.ndarray]:
    return [np.array([float(x) for x in v]) for v in items]


class Motion:
    """(16)-(23) of one state in plain arrays, with every intermediate quantity kept."""

    def __init__(self, kinds: str, seed: int = 0):
        rng = np.random.default_rng([seed, len(kinds)])
        self.n = n = len(kinds)
        self.arm = random_arm(rng, n, kinds, gravity="generic")
        self.q, self.qd, self.qdd = (x[0] for x in random_states(rng, n, 1))
        self.chain = chain_of(self.arm)
        self.steps = pose(self.chain, self.q.tolist())
        self.R = [np.array([list(r) for r in s.R.rows], float) for s in self.steps]
        self.s = vectors(*(s.s for s in self.steps))
        self.d = [np.array([0, 0, float(s.d)]) for s in self.steps]
        self.K = [not b.revolute for b in self.chain.joints]
        self.m = [float(b.m) for b in self.chain.joints]
        self.c = [np.array(list(b.h), float) / b.m for b in self.chain.joints]
        self.J = [np.array([list(r) for r in b.J.full().rows], float) for b in self.chain.joints]
        self.g0 = np.array([float(x) for x in self.chain.gravity])
        self._outward()
        self._inward(*rng.normal(size=(2, 3)))

    def _outward(self):
        w = wd = a = np.zeros(3)
        g = self.g0
        self.w, self.wd, self.a, self.g = [], [], [], []
        z = np.array([0, 0, 1.0])
        for i in range(self.n):
            R = self.R[i].T
            a = R @ (a + np.cross(wd, self.s[i]) + np.cross(w, np.cross(w, self.s[i])))  # (18)
            w, wd, g = R @ w, R @ wd, R @ g
            if self.K[i]:
                a = a + z * self.qdd[i] + 2 * np.cross(w, z * self.qd[i])
            else:
                wd = wd + z * self.qdd[i] + np.cross(w, z * self.qd[i])  # (17)
                w = w + z * self.qd[i]  # (16)
            for found, x in zip((self.w, self.wd, self.a, self.g), (w, wd, a, g), strict=True):
                found.append(x)

    def _inward(self, f_E, t_E):
        self.f_E, self.t_E = f_E, t_E
        f, t = -f_E, -t_E  # at the tip, in frame n
        self.f, self.t, self.f_T, self.t_T = ([None] * self.n for _ in range(4))
        for i in range(self.n - 1, -1, -1):
            m, c, w, wd = self.m[i], self.c[i], self.w[i], self.wd[i]
            central = self.J[i] + m * skew(c) @ skew(c)
            self.f_T[i] = -m * (self.a[i] + np.cross(wd, c) + np.cross(w, np.cross(w, c)))  # (19)
            self.t_T[i] = -central @ wd - np.cross(w, central @ w)  # (20)
            t = t - self.t_T[i] - np.cross(c, m * self.g[i] + self.f_T[i])  # (22)
            f = f - m * self.g[i] - self.f_T[i]  # (21)
            self.f[i], self.t[i] = f, t
            f = self.R[i] @ f
            t = self.R[i] @ t + np.cross(self.s[i], f)

    def omega(self, i: int) -> np.ndarray:
        return big_omega(self.w[i], self.wd[i])
