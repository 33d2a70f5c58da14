"""What an exciting motion must keep: the robot's own limits, or those that the user gives."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...border.arguments import each
from ...border.kinds import Outside
from ...errors import InputError
from ...robot.arm import Arm

_DEFAULTS = {True: (np.pi, 2.0), False: (0.5, 0.5)}  # range and speed of joints without limits


@dataclass(frozen=True, slots=True, eq=False)
class Limits:
    """What the motion must keep: arrays (n,) and a workspace box ((x, y, z) low, high) of the tools [m]."""

    low: np.ndarray
    high: np.ndarray
    velocity: np.ndarray
    acceleration: np.ndarray
    torque: np.ndarray | None
    box: tuple[np.ndarray, np.ndarray] | None


def limits_of(
    arm: Arm,
    position: Outside,
    velocity: Outside,
    acceleration: Outside,
    torque: Outside,
    box: Outside,
) -> Limits:
    """The limits given, else the joints' own, else defaults."""
    joints = [arm.joints[i] for i in arm.coupling.masters]
    n = len(joints)
    low, high, speed, effort = (np.empty(n) for _ in range(4))
    for j, joint in enumerate(joints):
        reach, fast = _DEFAULTS[joint.revolute]
        low[j], high[j] = joint.position_limits or (-reach, reach)
        if joint.revolute:  # more than a turn tells nothing new
            middle = (
                np.clip(0.0, low[j] + np.pi, high[j] - np.pi)
                if high[j] - low[j] > 2 * np.pi
                else None
            )
            if middle is not None:
                low[j], high[j] = middle - np.pi, middle + np.pi
        speed[j] = joint.velocity_limit or fast
        effort[j] = joint.effort_limit or np.inf
    _keep_followers(arm, low, high, speed)
    if position is not None:
        pairs = each("position", position, (n, 2))
        low, high = pairs[:, 0].copy(), pairs[:, 1].copy()
    if velocity is not None:
        speed = each("velocity", velocity, (n,)).copy()
    quick = 4 * speed if acceleration is None else each("acceleration", acceleration, (n,))
    if torque is not None:
        effort = each("torque", torque, (n,)).copy()
    if (
        not (high > low).all()
        or not (speed > 0).all()
        or not (quick > 0).all()
        or not (effort > 0).all()
    ):
        raise InputError(
            "limits must leave room: low < high, velocities, accelerations and torques positive"
        )
    heavy = np.isfinite(effort).any() and arm.parameters.any()
    corner = None
    if box is not None:
        corners = each("box", box, (2, 3))
        if not (corners[1] > corners[0]).all():
            raise InputError("box is ((x, y, z) lowest, (x, y, z) highest) in metres")
        corner = corners[0], corners[1]
    return Limits(low, high, speed, np.asarray(quick, float), effort if heavy else None, corner)


def narrowed(limits: Limits, part: float) -> Limits:
    """The limits with a part of each joint's range, about its middle."""
    middle, half = (limits.high + limits.low) / 2, part * (limits.high - limits.low) / 2
    return replace(limits, low=middle - half, high=middle + half)


def check_drives(arm: Arm, limits: Limits) -> None:
    """Refuse joints whose own dry friction takes all the torque that they may have."""
    if limits.torque is None:
        return
    for k, i in enumerate(arm.coupling.masters):
        drive = arm.joints[i].friction
        if drive is not None and drive.coulomb >= limits.torque[k]:
            raise InputError(
                f"joint '{arm.joints[i].name}' has a Coulomb friction of {drive.coulomb:g} and a torque limit of "
                f"{limits.torque[k]:g}, so nothing moves it; give a larger torque, or load the robot without it (tip, "
                "freeze)"
            )


def _keep_followers(arm: Arm, low: np.ndarray, high: np.ndarray, speed: np.ndarray) -> None:
    """Narrow the limits of joints to what those that follow them may do."""
    how = arm.coupling
    rules = zip(arm.joints, how.of, how.multipliers, how.offsets, strict=True)
    for joint, j, factor, offset in rules:
        if joint.mimic is None:
            continue
        if joint.position_limits:
            ends = sorted((x - offset) / factor for x in joint.position_limits)
            low[j], high[j] = max(low[j], ends[0]), min(high[j], ends[1])
        if joint.velocity_limit:
            speed[j] = min(speed[j], joint.velocity_limit / abs(factor))
