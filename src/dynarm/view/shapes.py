"""Meshes and sizes of what is drawn: capsules, ellipsoids of inertia, rotations as quaternions."""

from __future__ import annotations

import numpy as np


def capsule(
    start: np.ndarray, end: np.ndarray, radius: float, around: int = 16, rings: int = 5
) -> tuple[np.ndarray, np.ndarray]:
    """Vertices (v, 3) and faces (f, 3) of a rod with round ends."""
    axis = np.asarray(end, float) - start
    length = float(np.linalg.norm(axis))
    z = axis / length if length > 1e-12 else np.array([0.0, 0.0, 1.0])
    x = np.cross(z, np.eye(3)[int(np.argmin(np.abs(z)))])
    x /= np.linalg.norm(x)
    y = np.cross(z, x)
    turn = np.linspace(0, 2 * np.pi, around, endpoint=False)
    circle = np.cos(turn)[:, None] * x + np.sin(turn)[:, None] * y
    lower = np.linspace(-np.pi / 2, 0, rings)
    heights = [(radius * np.sin(a), radius * np.cos(a)) for a in lower]
    heights += [(length + radius * np.sin(a), radius * np.cos(a)) for a in -lower[::-1]]
    vertices = np.concatenate([start + h * z + r * circle for h, r in heights])
    faces = []
    for ring in range(len(heights) - 1):
        for k in range(around):
            a, b = ring * around + k, ring * around + (k + 1) % around
            faces += [(a, b, b + around), (a, b + around, a + around)]
    return vertices.astype(np.float32), np.array(faces, np.uint32)


def inertia_ellipsoid(mass: float, inertia: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """Half axes (3,) and rotation (3, 3) of the solid ellipsoid with this mass and inertia about its centre.

    Axes that no body can have are drawn as if they were none; None without mass or inertia.
    """
    if mass <= 0:
        return None
    moments, axes = np.linalg.eigh((inertia + inertia.T) / 2)
    squares = 2.5 / mass * (moments.sum() - 2 * moments)
    half = np.sqrt(np.maximum(squares, 0.0))
    if half.max() < 1e-9:
        return None
    if np.linalg.det(axes) < 0:
        axes[:, 0] = -axes[:, 0]
    return np.maximum(half, 0.02 * half.max()), axes


def quaternion(R: np.ndarray) -> np.ndarray:
    """(w, x, y, z) of a rotation matrix."""
    import viser.transforms as transforms

    return transforms.SO3.from_matrix(np.asarray(R, float)).wxyz
