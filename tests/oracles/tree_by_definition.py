"""Trees by definition: poses and Jacobians of every link in NumPy, the mass matrix and gravity as sums over links.

Positions are those of all joints, followers included; on a free base its pose stands beside them, and its speeds
(linear, then angular, in its own axes) come first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dynarm import Arm


@dataclass(frozen=True, eq=False)
class LinkMotion:
    """A link's internal frame in the user's base link (in the world, of a free base), and its (6, nv) Jacobian there.

    The Jacobian has linear velocity of the frame's origin, then angular, in the link's own axes.
    """

    pose: np.ndarray
    jacobian: np.ndarray


def all_positions(arm: Arm, y: Any) -> np.ndarray:
    """Positions of all joints from those of the independent ones."""
    rule = arm.coupling
    return np.array(rule.multipliers) * np.asarray(y)[list(rule.of)] + np.array(rule.offsets)


def coupling_matrix(arm: Arm) -> np.ndarray:
    """(speeds of base and all joints, nv): identity but for joints that follow others."""
    rule, first = arm.coupling, 6 if arm.floating else 0
    G = np.zeros((first + arm.n, arm.nv))
    G[:first, :first] = np.eye(first)
    for i, (k, multiplier) in enumerate(zip(rule.of, rule.multipliers, strict=True)):
        G[first + i, first + k] = multiplier
    return G


def link_motions(arm: Arm, q: Any, base: np.ndarray | None = None) -> list[LinkMotion]:
    """Motion of every link, a free base's first, columns for all joints."""
    first = 6 if arm.floating else 0
    nv = first + arm.n
    root = np.zeros((6, nv))
    root[:first, :first] = np.eye(first)
    start = LinkMotion(arm.base_pose if base is None else base, root)
    motions: list[LinkMotion] = []
    for i, joint in enumerate(arm.joints):
        parent = motions[arm.parents[i]] if arm.parents[i] >= 0 else start
        step = joint.displacement(float(q[i]))
        R, p = step[:3, :3], step[:3, 3]
        J = np.zeros((6, nv))
        v, w = parent.jacobian[:3], parent.jacobian[3:]
        J[:3], J[3:] = R.T @ (v - _cross(p) @ w), R.T @ w
        J[(5 if joint.revolute else 2), first + i] += 1.0
        motions.append(LinkMotion(parent.pose @ step, J))
    return [start, *motions] if arm.floating else motions


def spatial_inertia(ten: Any) -> np.ndarray:
    """6x6 about the frame's origin, for linear then angular velocity."""
    m, x, y, z, xx, xy, yy, xz, yz, zz = ten
    h = _cross(np.array([x, y, z]))
    J = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    return np.block([[m * np.eye(3), -h], [h, J]])


def mass_matrix(arm: Arm, motions: list[LinkMotion]) -> np.ndarray:
    """(nv, nv) with the couplings applied."""
    M = sum(
        one.jacobian.T @ spatial_inertia(ten) @ one.jacobian
        for one, ten in zip(motions, arm.parameters, strict=True)
    )
    G = coupling_matrix(arm)
    return np.asarray(G.T @ M @ G)


def gravity(arm: Arm, motions: list[LinkMotion]) -> np.ndarray:
    """(nv,) forces that hold the robot still."""
    total = np.zeros(motions[0].jacobian.shape[1])
    for one, ten in zip(motions, arm.parameters, strict=True):
        g = one.pose[:3, :3].T @ np.array(arm.gravity)
        weight = np.concatenate([ten[0] * g, np.cross(ten[1:4], g)])
        total -= one.jacobian.T @ weight
    return np.asarray(coupling_matrix(arm).T @ total)


def _cross(v: np.ndarray) -> np.ndarray:
    return np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])
