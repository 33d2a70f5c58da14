"""Casters that trail behind their swivels."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..border.arguments import check_finite, reals
from ..border.kinds import Numbers
from ..errors import InputError
from .constraints import columns
from .platform import Wheel

if TYPE_CHECKING:
    from .robot import MobileManipulator

_STILL = 1e-9  # [m/s] of a swivel, below which its caster is not turned


def trailing(robot: MobileManipulator, q: Numbers, z: Numbers) -> MobileManipulator:
    """The robot with its casters turned into the directions in which their swivels move."""
    given = []
    for what, value in (("q", q), ("z", z)):
        names = robot.entry_names(what)
        x = reals(what, value, "real numbers", names)
        if x.shape != (len(names),):
            raise InputError(f"{what} has shape {x.shape}; give one state, {len(names)} numbers")
        check_finite(what, x)
        given.append(x)
    vx, vy, w = platform_twist(robot, *given)
    return replace(robot, wheels=tuple(_turned(wheel, vx, vy, w) for wheel in robot.wheels))


def platform_twist(
    robot: MobileManipulator, q: np.ndarray, z: np.ndarray
) -> tuple[float, float, float]:
    """vx, vy [m/s] of the platform's mass centre in its own axes, and its yaw rate."""
    phi = float(q[3]) if robot.guidance.steered else 0.0
    cols, _ = columns(robot.guidance, robot.platform.steering, phi)
    twist = np.zeros(3)
    for column, speed in zip(cols, z, strict=False):
        twist += float(speed) * np.array([float(x) for x in column])
    vx, vy, w = twist.tolist()
    return vx, vy, w


def _turned(wheel: Wheel, vx: float, vy: float, w: float) -> Wheel:
    if not wheel.trail:
        return wheel
    ahead, across = vx - w * wheel.y, vy + w * wheel.x
    if math.hypot(ahead, across) <= _STILL:
        return wheel
    return replace(wheel, angle=math.atan2(across, ahead))
