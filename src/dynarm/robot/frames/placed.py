"""Where the links of a robot stand: poses of all link frames at coordinates q, chains and trees alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ..arm import Arm

UPRIGHT = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)  # a free base at the origin, not turned


def coordinates(arm: Arm, joints: Sequence[float] | np.ndarray) -> np.ndarray:
    """q (..., nq) with the independent joints at these positions (..., joints); a free base stands upright."""
    own = np.asarray(joints, float)
    if not arm.floating:
        return own
    base = np.broadcast_to(np.array(UPRIGHT), (*own.shape[:-1], len(UPRIGHT)))
    return np.concatenate([base, own], axis=-1)


def root_pose(arm: Arm, q: Sequence[float] | np.ndarray) -> np.ndarray:
    """4x4 pose of the frame that the first joints start from: in the base link, or of a free base in the world."""
    if not arm.floating:
        return arm.base_pose
    x, y, z, w = (float(v) for v in q[3:7])
    T = np.eye(4)
    T[:3, 3] = q[:3]
    T[:3, :3] = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return T


def link_poses(arm: Arm, q: Sequence[float] | np.ndarray) -> list[np.ndarray]:
    """4x4 poses of the frames of all links, in the base link, or in the world where the base is free."""
    root = root_pose(arm, q)
    positions = arm.coupling.positions(q[len(q) - len(arm.coupling.masters) :])
    poses: list[np.ndarray] = []
    for joint, parent, position in zip(arm.joints, arm.parents, positions, strict=True):
        before = poses[parent] if parent >= 0 else root
        poses.append(before @ joint.displacement(position))
    return poses


def tool_poses(arm: Arm, q: Sequence[float] | np.ndarray) -> list[np.ndarray]:
    """4x4 poses of the tools."""
    links = link_poses(arm, q)
    base = root_pose(arm, q) if arm.floating else np.eye(4)
    return [(links[t.joint] if t.joint >= 0 else base) @ t.matrix for t in arm.all_tools]
