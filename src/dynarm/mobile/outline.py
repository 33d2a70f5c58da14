"""A mobile manipulator seen from above: what reports and the 3D page draw."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .bodies import hand_of
from .constraints import roller

if TYPE_CHECKING:
    from .robot import MobileManipulator


@dataclass(frozen=True, slots=True, eq=False)
class Outline:
    """Points in the plane [m] at one state."""

    polygon: np.ndarray  # (k, 2): corners of the support polygon
    arm: np.ndarray  # (m, 2): mount, joints, tool
    wheels: np.ndarray  # (w, 2, 2): rear and front of each wheel


def platform_pose(q: np.ndarray) -> np.ndarray:
    """4x4 pose of the platform on the ground."""
    x, y, theta = q[:3]
    c, s = np.cos(theta), np.sin(theta)
    return np.array([[c, -s, 0, x], [s, c, 0, y], [0, 0, 1, 0], [0, 0, 0, 1.0]])


def wheel_headings(robot: MobileManipulator, q: np.ndarray) -> list[float]:
    """Directions [rad] in which the wheels roll, in the platform's axes; casters without trail point along it."""
    phi = float(q[3]) if robot.guidance.steered else 0.0
    headings = []
    for wheel in robot.wheels:
        if not wheel.guides:
            headings.append(wheel.angle if wheel.trail else 0.0)
            continue
        at = roller(wheel, robot.platform.steering, phi)
        headings.append(float(np.arctan2(at.s, at.c)))
    return headings


def arm_frames(robot: MobileManipulator, q: np.ndarray) -> list[np.ndarray]:
    """4x4 poses on the ground of the arm's mount, its links and its tool."""
    arm = robot.arm
    frames = [platform_pose(q) @ robot.base.mount_pose @ arm.base_pose]
    for joint, parent, angle in zip(arm.joints, arm.parents, q[len(q) - arm.n :], strict=True):
        frames.append(frames[parent + 1] @ joint.displacement(float(angle)))
    hand, pose = hand_of(arm)
    return [*frames, frames[hand + 1] @ pose]


def outline(robot: MobileManipulator, q: np.ndarray) -> Outline:
    """The machine at coordinates q, from above."""
    q = np.asarray(q, float)
    T = platform_pose(q)
    turn, place = T[:2, :2], T[:2, 3]
    corners = robot.support.points[list(robot.support.corners), :2]
    wheels = []
    for wheel, heading in zip(robot.wheels, wheel_headings(robot, q), strict=True):
        along = wheel.radius * np.array([np.cos(heading), np.sin(heading)])
        centre = np.array(wheel.place)
        wheels.append(np.array([centre - along, centre + along]) @ turn.T + place)
    arm = np.array([frame[:2, 3] for frame in arm_frames(robot, q)])
    return Outline(corners @ turn.T + place, arm, np.array(wheels))
