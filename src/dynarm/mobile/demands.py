"""Which part of what ground and drives can give a planned motion takes, by wheel, edge and joint; 1 at the limit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..border.arguments import reals, shown
from ..border.kinds import Given, Numbers
from ..errors import InputError
from .admissibility import coefficients

if TYPE_CHECKING:
    from .robot import MobileManipulator

_FREE = 1e30  # a limit that is none


@dataclass(frozen=True, slots=True, eq=False)
class Bounds:
    """What may be used: friction of each wheel, torque of each input, speed of each entry of z."""

    robot: MobileManipulator
    eta: np.ndarray
    torque: np.ndarray
    speed: np.ndarray
    gravity: np.ndarray
    load: np.ndarray

    @property
    def names(self) -> list[str]:
        """What each number of `used` is about."""
        robot = self.robot
        return [
            *(f"slipping of {name}" for name in robot.wheel_names),
            *(f"tipping over the line from {a} to {b}" for a, b in robot.tip_axes),
            *(f"torque of {robot.input_names[k]}" for k in self._driven),
            *(f"speed of {robot.speed_names[k].removesuffix('d')}" for k in self._fast),
        ]

    @property
    def _driven(self) -> list[int]:
        return np.flatnonzero(self.torque < _FREE).tolist()

    @property
    def _fast(self) -> list[int]:
        return np.flatnonzero(self.speed < _FREE).tolist()

    def used(
        self, q: np.ndarray, z: np.ndarray, zd: np.ndarray, load: Given = None, compare: bool = True
    ) -> np.ndarray:
        """(..., names): parts of the limits that states take; above 1 where they do not hold.

        Of tipping: 1 less the angle that is left, relative to that at rest in the same pose; compare=False: 0 or more
        than 1.
        """
        robot, push = self.robot, self.load if load is None else load
        ground = robot.ground(q, z, zd, self.gravity, push)
        left = ground.angles
        tips = np.zeros(left.shape)
        if compare:
            rest = robot.ground(q, 0 * z, 0 * zd, self.gravity, push).angles
            tips = np.minimum(1 - left / np.maximum(rest, 1e-12), 1.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            grip = np.where(ground.friction > 0, ground.friction / self.eta, 0.0)
        parts = [grip, np.where(left < 0, 1 - left, tips)]
        if self._driven:
            tau = robot.inverse_dynamics(q, z, zd, self.gravity, push)
            parts.append(np.abs(tau[..., self._driven]) / self.torque[self._driven])
        if self._fast:
            parts.append(np.abs(z[..., self._fast]) / self.speed[self._fast])
        whole: np.ndarray = np.concatenate(parts, axis=-1)
        return np.where(np.isnan(whole), np.inf, whole)


def bounds_of(
    robot: MobileManipulator, friction: Numbers, gravity: Given, load: Given, torque: Given
) -> Bounds:
    """The limits as arrays. torque: of every input; None: those of the joints that the arm's file has."""
    eta = coefficients(friction, len(robot.wheels))
    pull, push = (
        _six(robot, what, value)
        for what, value in zip(("gravity", "load"), robot.acting(gravity, load), strict=True)
    )
    w, n = len(robot.wheels), robot.arm.n
    limits = np.full(2 * w + n, np.inf)
    if torque is None:
        limits[2 * w :] = [joint.effort_limit or np.inf for joint in robot.arm.joints]
    else:
        given = reals("torque", torque, "one limit or one an input", robot.input_names)
        if given.shape not in ((), limits.shape) or not (given > 0).all():
            raise InputError(
                f"torque is {shown(torque)}; give one limit above 0, or one for each of {len(limits)} inputs"
            )
        limits[:] = given
    speed = np.full(robot.formulas.n, np.inf)
    speed[robot.formulas.n - n :] = [joint.velocity_limit or np.inf for joint in robot.arm.joints]
    return Bounds(robot, eta, limits, speed, pull, push)


def _six(robot: MobileManipulator, what: str, value: Numbers) -> np.ndarray:
    names = robot.entry_names(what)
    x = reals(what, value, "real numbers", names)
    if x.shape != (len(names),) or not np.isfinite(x).all():
        raise InputError(f"{what} is {shown(value)}; give {len(names)} finite numbers")
    return x
