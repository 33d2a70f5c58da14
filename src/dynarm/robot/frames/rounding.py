"""What rounding alone separates from a special value is made that value: zeros, ones, quarter turns."""

from __future__ import annotations

import math

import numpy as np

from ...border.kinds import Outside

ROUNDING = 16 * 2.0**-52  # relative size of differences that rounding alone explains
_QUARTER = math.pi / 2


def norm(v: np.ndarray) -> float:
    """Length of a vector."""
    return math.hypot(*v.tolist())


def clean(x: Outside, scale: float) -> np.ndarray:
    """x with entries that are rounding of numbers of the given scale made exact zeros."""
    return np.where(np.abs(x) <= ROUNDING * scale, 0.0, x)


def clean_direction(v: np.ndarray) -> np.ndarray:
    """The unit vector along v, components that are rounding made exact: 0, or +-1."""
    length = norm(v)
    parts = [c if abs(c) > ROUNDING else 0.0 for c in (x / length for x in v.tolist())]
    if parts.count(0.0) == 2:
        return np.array([math.copysign(1.0, c) if c else 0.0 for c in parts])
    return np.array(parts) / math.hypot(*parts)


def clean_pose(T: np.ndarray, scale: float) -> np.ndarray:
    """T with rounding removed from zeros and ones."""
    tidied = np.eye(4)
    tidied[:3, :3] = clean(T[:3, :3], 1.0)
    ones = np.abs(np.abs(tidied[:3, :3]) - 1) <= ROUNDING
    tidied[:3, :3][ones] = np.sign(tidied[:3, :3][ones])
    tidied[:3, 3] = clean(T[:3, 3], scale)
    return tidied


def snap(angle: float) -> float:
    """The angle, or the multiple of a quarter turn from which rounding alone separates it; -pi is pi."""
    turns = angle / _QUARTER
    if abs(turns - round(turns)) <= ROUNDING:
        return math.pi if abs(round(turns)) == 2 else round(turns) * _QUARTER
    return angle
