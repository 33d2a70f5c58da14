"""Newton and Euler on a tree, written down once more: joint forces of links given by mass and moments, in plain NumPy.

It shares with the library the geometry of a step only (rotation and displacement, as `Arm` defines them), and none of
its recursions. Quantities are arrays: states (samples,), parameters (columns, 1), so that one run is a regressor.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dynarm import Arm

Vector = list[Any]


def _cross(a: Vector, b: Vector) -> Vector:
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def _plus(*vectors: Vector) -> Vector:
    return [sum(parts) for parts in zip(*vectors, strict=True)]


def _times(R: Any, v: Vector) -> Vector:
    return [sum(R[i][j] * v[j] for j in range(3)) for i in range(3)]


def _back(R: Any, v: Vector) -> Vector:
    return [sum(R[j][i] * v[j] for j in range(3)) for i in range(3)]


@dataclass(frozen=True, eq=False)
class Link:
    """m, h = m c and the inertia tensor about the frame's origin as xx, xy, yy, xz, yz, zz; arrays that broadcast."""

    m: Any
    h: Sequence[Any]
    J: Sequence[Any]

    @classmethod
    def of_second_moments(cls, m: Any, h: Sequence[Any], Q: Sequence[Any]) -> Link:
        """From Q = sum m r r': J = tr(Q) E - Q."""
        xx, xy, yy, xz, yz, zz = Q
        return cls(m, h, (yy + zz, -xy, xx + zz, -xz, -yz, xx + yy))

    def wrench(self, w: Vector, wd: Vector, a: Vector) -> tuple[Vector, Vector]:
        """Force and moment that its motion takes, about the origin."""
        h, (xx, xy, yy, xz, yz, zz) = list(self.h), self.J
        J = [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]
        f = _plus([x * self.m for x in a], _cross(wd, h), _cross(w, _cross(w, h)))
        n = _plus(_cross(h, a), _times(J, wd), _cross(w, _times(J, w)))
        return f, n


def _poses(arm: Arm, q: np.ndarray) -> list[tuple[list[list[Any]], Vector]]:
    """Rotation and displacement of each joint's frame in its parent's, entries (samples,)."""
    poses = []
    for i, joint in enumerate(arm.joints):
        first = joint.displacement()
        axis, origin = first[:3, :3], first[:3, 3]
        c, s = np.cos(q[i]), np.sin(q[i])
        if joint.revolute:
            R = [[r[0] * c + r[1] * s, r[1] * c - r[0] * s, r[2]] for r in axis]
            poses.append((R, list(origin)))
        else:
            poses.append(
                (axis.tolist(), [o + z * q[i] for o, z in zip(origin, axis[:, 2], strict=True)])
            )
    return poses


def tree_forces(
    arm: Arm,
    links: Sequence[Link],
    base: Link | None,
    q: np.ndarray,
    qd: np.ndarray,
    qdd: np.ndarray,
    gravity: Sequence[Any] | None = None,
) -> list[Any]:
    """Forces of all joints (those that follow others too), and before them force and moment on a free base.

    q: (joints, samples); qd, qdd: of a free base before the joints (linear, angular, in its axes). gravity: in the axes
    of a free base, or the arm's own in those of the user's base link.
    """
    g = arm.base_pose[:3, :3].T @ np.array(arm.gravity) if gravity is None else gravity
    zero: Vector = [0.0, 0.0, 0.0]
    start: tuple[Vector, Vector, Vector] = (zero, zero, [-x for x in g])
    free = 6 if arm.floating else 0
    if free:
        v, w, vd, wd = (list(x) for x in (qd[:3], qd[3:6], qdd[:3], qdd[3:6]))
        start = (w, wd, _plus(vd, _cross(w, v), [-x for x in g]))
    poses, motions = _poses(arm, q), []
    for i, joint in enumerate(arm.joints):
        w, wd, a = motions[arm.parents[i]] if arm.parents[i] >= 0 else start
        R, s = poses[i]
        a = _back(R, _plus(a, _cross(wd, s), _cross(w, _cross(w, s))))
        w, wd = _back(R, w), _back(R, wd)
        along, more = [0.0, 0.0, qd[free + i]], [0.0, 0.0, qdd[free + i]]
        if joint.revolute:
            wd = _plus(wd, more, _cross(w, along))
            w = _plus(w, along)
        else:
            a = _plus(a, more, [2 * x for x in _cross(w, along)])
        motions.append((w, wd, a))
    wrenches = [link.wrench(*motion) for link, motion in zip(links, motions, strict=True)]
    whole = (zero, zero) if base is None else base.wrench(*start)
    tau = [None] * arm.n
    for i in range(arm.n - 1, -1, -1):
        f, n = wrenches[i]
        tau[i] = n[2] if arm.joints[i].revolute else f[2]
        R, s = poses[i]
        f = _times(R, f)
        n = _plus(_times(R, n), _cross(s, f))
        parent = arm.parents[i]
        if parent >= 0:
            wrenches[parent] = (_plus(wrenches[parent][0], f), _plus(wrenches[parent][1], n))
        elif free:
            whole = (_plus(whole[0], f), _plus(whole[1], n))
    return [*whole[0], *whole[1], *tau] if free else tau


def coupled_states(arm: Arm, y: np.ndarray, *rates: np.ndarray) -> list[np.ndarray]:
    """States of all joints from those of the independent ones; rates have those of a free base before them."""
    of, factors = list(arm.coupling.of), np.array(arm.coupling.multipliers)[:, None]
    base = 6 if arm.floating else 0
    q = y[of] * factors + np.array(arm.coupling.offsets)[:, None]
    return [q, *(np.concatenate([x[:base], x[base:][of] * factors]) for x in rates)]


def coupled_forces(arm: Arm, forces: Sequence[Any]) -> list[Any]:
    """Forces of the independent joints: those of joints that follow join their masters'."""
    base = 6 if arm.floating else 0
    own: list[Any] = [0.0] * len(arm.coupling.masters)
    for i, (k, factor) in enumerate(zip(arm.coupling.of, arm.coupling.multipliers, strict=True)):
        own[k] = own[k] + factor * forces[base + i]
    return [*forces[:base], *own]


def natural_links(arm: Arm, table: np.ndarray) -> tuple[list[Link], Link | None]:
    """Links, and that of a free base, from (links, 10) parameters, each entry a number or an array."""
    links = [Link(row[0], row[1:4], row[4:]) for row in table]
    return (links[1:], links[0]) if arm.floating else (links, None)


def tree_regressor(arm: Arm, y: np.ndarray, yd: np.ndarray, ydd: np.ndarray) -> np.ndarray:
    """(nv, samples, 10 links): forces of independent joints = regressor @ arm.parameters.ravel()."""
    count = arm.parameters.size
    unit = np.eye(count).reshape(-1, 10, count, 1)
    forces = coupled_forces(
        arm, tree_forces(arm, *natural_links(arm, unit), *coupled_states(arm, y, yd, ydd))
    )
    samples = y.shape[1]
    return np.array([np.broadcast_to(f, (count, samples)).T for f in forces])
