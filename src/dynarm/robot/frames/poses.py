"""4x4 poses: elementary displacements, inverse, check."""

from __future__ import annotations

import math

import numpy as np

from ...border.arguments import numbers
from ...border.kinds import Outside
from ...errors import InputError


def translation(x: float, y: float, z: float) -> np.ndarray:
    """4x4 displacement by x, y, z."""
    T = np.eye(4)
    T[:3, 3] = x, y, z
    return T


def exact_cos_sin(angle: float) -> tuple[float, float]:
    """cos and sin, exact at multiples of a quarter turn (the cosine of a stored pi/2 is meant to be 0)."""
    turns = angle / (math.pi / 2)
    if abs(turns - round(turns)) <= 8 * 2.0**-52 * max(1.0, abs(turns)):
        return ((1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0))[round(turns) % 4]
    return math.cos(angle), math.sin(angle)


def rotation(axis: str, angle: float) -> np.ndarray:
    """4x4 rotation about a coordinate axis; exact at quarter turns."""
    T = np.eye(4)
    c, s = exact_cos_sin(angle)
    i, j = {"x": (1, 2), "y": (2, 0), "z": (0, 1)}[axis]
    T[i, i] = T[j, j] = c
    T[i, j], T[j, i] = -s, s
    return T


def inverse(T: np.ndarray) -> np.ndarray:
    """The inverse of a pose."""
    back = np.eye(4)
    back[:3, :3] = T[:3, :3].T
    back[:3, 3] = -T[:3, :3].T @ T[:3, 3]
    return back


def rigid(what: str, T: Outside) -> np.ndarray:
    """A 4x4 pose, checked: rotation orthonormal and right-handed, last row 0 0 0 1."""
    pose = numbers(what, T, (4, 4))
    R = pose[:3, :3]
    if (
        np.abs(R @ R.T - np.eye(3)).max() > 1e-6
        or np.linalg.det(R) < 0
        or np.abs(pose[3] - [0, 0, 0, 1]).max() > 1e-9
    ):
        raise InputError(
            f"{what} is not a pose; give a 4x4 matrix [[R, p], [0, 0, 0, 1]] with R a rotation"
        )
    return pose
