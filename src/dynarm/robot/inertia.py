"""The ten inertial parameters of a link: packing, unpacking, and moving them to another frame."""

from __future__ import annotations

import numpy as np

from ..border.kinds import Outside

PARAMETER_NAMES = ("m", "mcx", "mcy", "mcz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz")


def pack_parameters(mass: float, com: Outside, inertia: Outside) -> np.ndarray:
    """The ten parameters [m, m c, J] about the frame's origin, from inertia about the centre of mass."""
    c, inertia = np.asarray(com, float), np.asarray(inertia, float)
    J = inertia + mass * (c @ c * np.eye(3) - np.outer(c, c))
    return np.array([mass, *(mass * c), J[0, 0], J[0, 1], J[1, 1], J[0, 2], J[1, 2], J[2, 2]])


def tensor(p: Outside) -> np.ndarray:
    """The 3x3 inertia about the frame's origin out of ten parameters."""
    xx, xy, yy, xz, yz, zz = p[4:]
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def unpack_parameters(p: Outside) -> tuple[float, np.ndarray, np.ndarray]:
    """Mass, centre of mass and inertia about it; for zero mass the centre is the origin."""
    m = float(p[0])
    c = np.asarray(p[1:4], float) / m if m != 0 else np.zeros(3)
    return m, c, tensor(p) - m * (c @ c * np.eye(3) - np.outer(c, c))


def move_parameters(p: Outside, R: np.ndarray, t: np.ndarray) -> np.ndarray:
    """The ten parameters of a body about another frame: p is given in frame b, and R, t is the pose of b in a."""
    m, h, J = float(p[0]), R @ np.asarray(p[1:4], float), R @ tensor(p) @ R.T
    t = np.asarray(t, float)
    cross = np.outer(h, t)
    J = J + (2 * (h @ t) + m * (t @ t)) * np.eye(3) - cross - cross.T - m * np.outer(t, t)
    h = h + m * t
    return np.array([m, *h, J[0, 0], J[0, 1], J[1, 1], J[0, 2], J[1, 2], J[2, 2]])


def same_parameters(p: np.ndarray, other: np.ndarray) -> bool:
    """Whether two sets of ten parameters differ by rounding only, each kind against its own scale."""
    parts = (slice(0, 1), slice(1, 4), slice(4, 10))
    return all(np.abs(p[k] - other[k]).max() <= 1e-12 * np.abs(p[k]).max() for k in parts)


def pseudo_inertia(ten: np.ndarray) -> np.ndarray:
    """The 4x4 pseudo-inertia of ten parameters: positive definite for bodies, and only for these."""
    J = tensor(ten)
    P = np.empty((4, 4))
    P[:3, :3] = np.trace(J) / 2 * np.eye(3) - J
    P[3, :3] = P[:3, 3] = ten[1:4]
    P[3, 3] = ten[0]
    return P


def of_pseudo_inertia(P: np.ndarray) -> np.ndarray:
    """The ten parameters of a 4x4 pseudo-inertia."""
    J = np.trace(P[:3, :3]) * np.eye(3) - P[:3, :3]
    return np.array([P[3, 3], *P[3, :3], *J[[0, 0, 1, 0, 1, 2], [0, 1, 1, 2, 2, 2]]])
