"""Capsules of a robot as arrays: where they are in many poses at once, and where two of them are nearest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .capsules import Capsule

TINY = 1e-12  # [m^2]


@dataclass(frozen=True, slots=True, eq=False)
class Rods:
    """Joints (k,), ends (k, 2, 3) in their frames, radii (k,) and halves of the lengths (k,) of capsules."""

    joints: np.ndarray
    ends: np.ndarray
    radii: np.ndarray
    halves: np.ndarray

    def placed(self, poses: np.ndarray) -> np.ndarray:
        """(N, k, 2, 3): where they end, in the base link, from the frames of the joints (N, joints, 4, 4)."""
        points = np.empty((len(poses), *self.ends.shape))
        for joint in np.unique(self.joints):
            own = np.flatnonzero(self.joints == joint)
            local = self.ends[own].reshape(-1, 3)
            if joint >= 0:
                turn, shift = poses[:, joint, :3, :3], poses[:, joint, None, :3, 3]
                local = local @ np.swapaxes(turn, 1, 2) + shift
            points[:, own] = local.reshape(-1, len(own), 2, 3)
        return points


def rods_of(capsules: Sequence[Capsule]) -> Rods:
    """Capsules as arrays."""
    ends = np.array([(c.start, c.end) for c in capsules], float).reshape(-1, 2, 3)
    return Rods(
        np.array([c.joint for c in capsules], int),
        ends,
        np.array([c.radius for c in capsules], float),
        np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1) / 2,
    )


def nearest(first: np.ndarray, second: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of line segments (..., 2, 3): how far along each its nearest point is (0 to 1), and first minus second there."""

    def dot(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.asarray(np.einsum("...x,...x->...", x, y))

    u, v = first[..., 1, :] - first[..., 0, :], second[..., 1, :] - second[..., 0, :]
    r = first[..., 0, :] - second[..., 0, :]
    a, b, e = dot(u, u) + TINY, dot(u, v), dot(v, v) + TINY
    c, f = dot(u, r), dot(v, r)
    s = np.clip((b * f - c * e) / (a * e - b * b + TINY**2), 0, 1)
    t = np.clip((b * s + f) / e, 0, 1)
    s = np.clip((b * t - c) / a, 0, 1)
    return s, t, r + s[..., None] * u - t[..., None] * v
