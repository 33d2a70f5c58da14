"""Sections II and III of lin1991 as printed: vectors and tensors in base axes, NumPy, one state.

The forms that the errata correct are switches of their functions: `printed=True` is what the paper says.
Joints are numbered from 0 here; K[j] is True for a translational joint.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dynarm.dynamics.kinematics import frames
from dynarm.robot.frames.chain import Chain, pose

E3 = np.eye(3)


def skew(v: np.ndarray) -> np.ndarray:
    """[v x]."""
    return np.cross(v, -E3)


def half_trace_less(I: np.ndarray) -> np.ndarray:
    """(19)."""
    return I - np.trace(I) / 2 * E3


@dataclass(frozen=True, eq=False)
class World:
    """A chain at one pose, seen from a reference origin O: u_j, s_j, p_j, I_j, m_j."""

    K: list[bool]
    R: np.ndarray  # (n, 3, 3) frame j to base
    u: np.ndarray
    s: np.ndarray
    p: np.ndarray
    I: np.ndarray
    m: np.ndarray
    g: np.ndarray

    @property
    def n(self) -> int:
        return len(self.K)

    def mass(self, j: int) -> float:
        """(2)."""
        return self.m[j:].sum()

    def r(self, j: int) -> np.ndarray:
        """(3)."""
        return self.first_moment(j) / self.mass(j)

    def first_moment(self, j: int) -> np.ndarray:
        """p^_j (14)."""
        return self.m[j:] @ self.p[j:]

    def central(self, j: int) -> np.ndarray:
        """J_j (4), about the centre of mass of composite body j."""
        arms = self.p[j:] - self.r(j)
        return sum(
            I - m * skew(x) @ skew(x) for I, m, x in zip(self.I[j:], self.m[j:], arms, strict=True)
        )

    def hat(self, j: int) -> np.ndarray:
        """J^_j (13)."""
        return sum(
            I - m * skew(p) @ skew(p)
            for I, m, p in zip(self.I[j:], self.m[j:], self.p[j:], strict=True)
        )

    def bar(self, j: int) -> np.ndarray:
        """J_j with a bar (22)."""
        parts = zip(self.I[j:], self.m[j:], self.p[j:], strict=True)
        return sum(half_trace_less(I) - m * np.outer(p, p) for I, m, p in parts)

    def s_hat(self, m: int) -> np.ndarray:
        """(15)."""
        return np.cross(self.u[m], self.s[m])

    def arm(self, j: int) -> np.ndarray:
        """u_j x (p^_j - m^_j s_j), e_j of (63)."""
        return np.cross(self.u[j], self.first_moment(j) - self.mass(j) * self.s[j])

    def H(self, m: int, j: int) -> float:
        """(12), m <= j."""
        u, w = self.u[m], self.u[j]
        if not self.K[m] and not self.K[j]:
            turned = self.hat(j) @ w + np.cross(self.s_hat(j), self.first_moment(j))
            return float(u @ turned - self.s_hat(m) @ self.arm(j))
        if self.K[m] and not self.K[j]:
            return float(u @ self.arm(j))
        if not self.K[m]:
            return float(w @ (np.cross(u, self.first_moment(j)) - self.mass(j) * self.s_hat(m)))
        return float(self.mass(j) * u @ w)

    def d(self, m: int, j: int) -> np.ndarray:
        """(46), m < j."""
        u, w, p, mass = self.u[m], self.u[j], self.first_moment(j), self.mass(j)
        if not self.K[m] and not self.K[j]:
            return (
                -self.bar(j) @ np.cross(w, u)
                + np.cross(self.s_hat(j), np.cross(p, u))
                + np.cross(self.s_hat(m), self.arm(j))
            )
        if self.K[m] and not self.K[j]:
            return -np.cross(u, self.arm(j))
        if not self.K[m]:
            return np.cross(w, np.cross(u, p) - mass * self.s_hat(m))
        return -mass * np.cross(u, w)

    def D(self, printed: bool = False) -> np.ndarray:
        """D[m, k, j] by (45), (32), (33) and (47), which is printed for m > j > k only."""
        found = np.zeros((self.n,) * 3)
        for m in range(self.n):
            for j in range(self.n):
                for k in range(j + 1):
                    if m < j and not self.K[k]:
                        value = self.u[k] @ self.d(m, j)  # (45)
                    elif m > j and not self.K[k] and (k < j or not printed):
                        value = -self.u[k] @ self.d(j, m)  # (47)
                    else:
                        value = 0.0  # (33)
                    found[m, k, j] = found[m, j, k] = value
        return found

    def eta(self, j: int) -> float:
        """(58)."""
        moment = np.cross(self.r(j) - self.s[j], self.mass(j) * self.g)
        return float(-self.u[j] @ (self.mass(j) * self.g if self.K[j] else moment))


def world(chain: Chain, q: Sequence[float], origin: Sequence[float] = (0.0, 0.0, 0.0)) -> World:
    """The chain at joint positions q (n numbers); `origin` is the reference origin in frame 0."""
    steps = pose(chain, [float(x) for x in q])
    R, o, c, I = [], [], [], []
    for body, (turn, place) in zip(chain.joints, frames(steps), strict=True):
        T = np.array([list(row) for row in turn.rows], float)
        centre = np.array(list(body.h), float) / (body.m or 1.0)
        inertia = np.array([list(row) for row in body.J.full().rows], float) + body.m * skew(
            centre
        ) @ skew(centre)
        R.append(T)
        o.append(np.array(list(place), float) - np.asarray(origin, float))
        c.append(T @ centre)
        I.append(T @ inertia @ T.T)
    return World(
        [not body.revolute for body in chain.joints],
        np.array(R),
        np.array(R)[:, :, 2],
        np.array(o),
        np.array(o) + np.array(c),
        np.array(I),
        np.array([float(body.m) for body in chain.joints]),
        np.array(list(chain.gravity), float),
    )
