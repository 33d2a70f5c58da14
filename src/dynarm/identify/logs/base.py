"""What a log holds of a base that moves freely: its pose and speeds, as arms have them, and the wrench on it."""

from __future__ import annotations

import numpy as np

from ...errors import InputError

BASE_POSE = ("x", "y", "z", "qx", "qy", "qz", "qw")  # in the world; unit quaternion
BASE_SPEEDS = ("vx", "vy", "vz", "wx", "wy", "wz")  # linear, angular velocity in the base's axes
BASE_FORCES = ("fx", "fy", "fz", "mx", "my", "mz")  # force, moment on the base in its axes
TURN = slice(3, 7)  # of the pose: the quaternion
_ROUNDED = 1e-3  # of the length of a recorded quaternion, beyond which it is none


def upright(q: np.ndarray, source: str) -> np.ndarray:
    """q with quaternions of length one that do not jump between their two signs; refused where they are none."""
    turns = q[:, TURN]
    length = np.linalg.norm(turns, axis=1)
    off = np.abs(length - 1)
    if not off.max() <= _ROUNDED:
        row = int(np.argmax(off))
        raise InputError(
            f"{source}: the quaternion in row {row + 1} has length {length[row]:.6g}; give qx, qy, qz, qw of length 1 "
            "in columns 4 to 7 of q, after x, y, z; on a fixed base give tau as many columns as q"
        )
    return with_turns(q, turns)


def with_turns(q: np.ndarray, turns: np.ndarray) -> np.ndarray:
    """q with these quaternions, brought to length one, each of the sign that is nearer to the one before it."""
    unit = turns / np.linalg.norm(turns, axis=1, keepdims=True)
    flips = np.r_[1.0, np.where((unit[1:] * unit[:-1]).sum(axis=1) < 0, -1.0, 1.0)]
    out = np.array(q)
    out[:, TURN] = unit * np.cumprod(flips)[:, None]
    return out


def rotations(turns: np.ndarray) -> np.ndarray:
    """(N, 3, 3): from the base's axes to the world's, of unit quaternions x, y, z, w."""
    x, y, z, w = turns.T
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), -1, 0)


def base_speeds(q: np.ndarray, rates: np.ndarray) -> np.ndarray:
    """(N, 6): velocities in the base's axes, of a pose (N, 7) and its rate.

    v = R' dp/dt; (w, 0) = 2 conj(quaternion) x its rate.
    """
    turns, turning = q[:, TURN], rates[:, TURN]
    linear = np.einsum("kji,kj->ki", rotations(turns), rates[:, :3])
    axis, real = turns[:, :3], turns[:, 3:]
    spin = 2 * (real * turning[:, :3] - axis * turning[:, 3:] - np.cross(axis, turning[:, :3]))
    return np.hstack([linear, spin])
