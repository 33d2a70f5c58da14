"""What may be tried on a joint: widths and strokes in units of how the joint moves, and what its sensor can show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...border.kinds import FloatArray
from ...robot.arm import Coupled, Friction

WIDTHS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0)  # of a curve, in usual speeds
# widths of a smoothed sign, in usual speeds
SHAPES = (0.003, 0.005, 0.007, 0.01, 0.014, 0.02, 0.03, 0.04, 0.06, 0.08, 0.11, 0.16, 0.22, 0.3)
STROKES = (3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1)  # of elements, in deviations of the position
LOAD_WIDTHS = (0.01, 0.1)
LOAD_STROKES = (1e-3, 1e-2)
COUPLED_WIDTH = 0.03
SPRING = 1.0  # order of a ripple that is a spring or counterweight: one wave a turn
REACH = 2  # joints further apart do not share gears
_FINE = 2.0  # sensor steps that the stroke of an element has at least
_ALIKE = 1e-3  # part of all motion below which a direction of it is none
_ENOUGH = 0.6  # independent motions a joint that tell friction from the rest


@dataclass(frozen=True, slots=True, eq=False)
class Scales:
    """How each joint moves in the logs: usual speed, deviation of its position, step of its sensor."""

    speed: FloatArray
    travel: FloatArray
    resolution: FloatArray
    moving: np.ndarray  # (joints,) bool

    @property
    def joints(self) -> int:
        return len(self.speed)

    def strokes(self, joint: int, relative: Sequence[float] = STROKES) -> tuple[float, ...]:
        """Strokes of elements that the sensor can show."""
        own = [d * float(self.travel[joint]) for d in relative]
        return tuple(d for d in own if d >= _FINE * self.resolution[joint])

    def too_fine(self, joint: int) -> tuple[float, ...]:
        """Strokes that it cannot."""
        return tuple(
            d * float(self.travel[joint])
            for d in STROKES
            if d * self.travel[joint] < _FINE * self.resolution[joint]
        )


def scales_of(q: FloatArray, qd: FloatArray, resolution: FloatArray, still: np.ndarray) -> Scales:
    """The scales of motions (N, joints); still: joints that rest."""
    speed, travel = np.sqrt((qd**2).mean(axis=0)), q.std(axis=0)
    moving = ~still & (speed > 0) & (travel > 0)
    return Scales(np.where(moving, speed, 1.0), np.where(moving, travel, 1.0), resolution, moving)


def independent_motions(qdd: FloatArray) -> int:
    """In how many independent ways the joints (N, moving) accelerate."""
    x = qdd - qdd.mean(axis=0)
    size = x.std(axis=0)
    x = x / np.where(size > 0, size, 1.0)
    energy = np.linalg.svd(x, compute_uv=False) ** 2
    return int((energy > _ALIKE * max(float(energy.sum()), 1e-300)).sum())


def poor(scales: Scales, qdd: FloatArray) -> str:
    """Why a log cannot tell friction from the rest; nothing where it can.

    Joints that always move together leave it open which of them a torque comes from: columns that explain such a log
    explain no other.
    """
    count = int(scales.moving.sum())
    if not count:
        return "no joint moves"
    ways = independent_motions(qdd[:, scales.moving])
    if ways < _ENOUGH * count:
        return f"{count} joints move together, in {ways} independent ways"
    return ""


def curve(scales: Scales, joint: int, widths: Sequence[float] = WIDTHS) -> Friction:
    return Friction(curve=tuple((w * float(scales.speed[joint]), 0.0) for w in widths))


def presliding(scales: Scales, joint: int) -> Friction:
    return Friction(presliding=tuple((d, 0.0) for d in scales.strokes(joint)))


def load(scales: Scales, joint: int) -> Friction:
    speed = float(scales.speed[joint])
    return Friction(load_curve=tuple((w * speed, 0.0) for w in LOAD_WIDTHS))


def load_presliding(scales: Scales, joint: int) -> Friction:
    strokes = scales.strokes(joint, LOAD_STROKES)
    return Friction(load_presliding=tuple((d, 0.0) for d in strokes))


def ripple(orders: Sequence[float]) -> Friction:
    return Friction(ripple=tuple((float(k), 0.0, 0.0) for k in orders))


def coupled(scales: Scales, joint: int, other: int) -> Coupled:
    """What a joint may feel of another one's motion."""
    strokes = scales.strokes(joint, LOAD_STROKES)
    width = COUPLED_WIDTH * float(scales.speed[joint])
    return Coupled(other, width=width, presliding=tuple((d, 0.0) for d in strokes))


def neighbours(scales: Scales, joint: int) -> list[int]:
    """Joints that may share gears with one."""
    near = range(max(joint - REACH, 0), min(joint + REACH + 1, scales.joints))
    return [i for i in near if i != joint and scales.moving[i]]
