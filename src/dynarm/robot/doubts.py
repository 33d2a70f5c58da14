"""What may be wrong with an arm's numbers: inertias that no body has, joints that move nothing, senseless drives."""

from __future__ import annotations

import warnings

import numpy as np

from ..errors import DynarmWarning, ModelError
from .arm import Arm, Joint


def all_doubts(arm: Arm) -> list[str]:
    """Every physical doubt about the arm's numbers, one sentence each; empty if there is none."""
    return impossible_links(arm) + _idle_joints(arm) + _doubtful_drives(arm)


def impossible_links(arm: Arm) -> list[str]:
    """Links whose parameters no rigid body can have, and why."""
    return [f"link of joint '{j.name}': {doubt}" for j in arm.joints for doubt in _doubts(j)]


def _idle_joints(arm: Arm) -> list[str]:
    """Joints at the tip that move no inertia: the mass matrix is singular in every pose (armature left out)."""
    found = []
    for joint, p in zip(arm.joints[::-1], arm.parameters[::-1], strict=True):
        if p[9] if joint.revolute else p[0]:
            break
        moved = "about its axis" if joint.revolute else "along its axis"
        found.append(f"joint '{joint.name}' moves no inertia {moved}: the mass matrix is singular")
        if p.any():
            break
    return found[::-1]


def _doubtful_drives(arm: Arm) -> list[str]:
    """Friction that gives energy to its joint, and limits that leave it no room."""
    found = []
    for joint in arm.joints:
        friction, limits = joint.friction, joint.position_limits
        for key in ("viscous", "coulomb", "viscous_negative", "coulomb_negative"):
            value = getattr(friction, key, None)
            if value is not None and value < 0:
                found.append(f"joint '{joint.name}': friction {key} {value:.6g} is negative")
        for key in ("velocity_limit", "effort_limit"):
            value = getattr(joint, key)
            if value is not None and value < 0:
                words = key.replace("_", " ")
                found.append(f"joint '{joint.name}': {words} {value:.6g} is negative")
        if limits is not None and limits[0] > limits[1]:
            found.append(f"joint '{joint.name}': position limits {limits[0]} > {limits[1]}")
    return found


def _doubts(joint: Joint) -> list[str]:
    """Why no rigid body can have these parameters."""
    assert joint.parameters is not None
    found = []
    if joint.mass < 0:
        found.append(f"mass {joint.mass:.6g} is negative")
    if joint.mass == 0 and any(joint.parameters[1:]):
        found.append("mass is zero but first moments or inertia are not")
    inertia = np.array(joint.inertia)
    size = float(np.abs(inertia).max()) or 1.0
    principal = np.linalg.eigvalsh(inertia / size / 2 + inertia.T / size / 2) * size
    # what rounding leaves when inertia about the frame's origin is moved to the centre of mass proves nothing
    noise = 1e-9 * np.abs(inertia).max() + 1e-13 * np.abs(joint.parameters[4:]).max()
    if principal[0] < -noise:
        found.append(
            f"inertia about the centre of mass has a negative principal moment ({principal[0]:.6g})"
        )
    if principal[0] + principal[1] < principal[2] * (1 - 1e-6) - noise:
        a, b, c = principal
        found.append(
            f"principal moments {a:.6g}, {b:.6g}, {c:.6g} violate the triangle inequality; no body has them"
        )
    if joint.armature < 0:
        found.append(f"armature {joint.armature:.6g} is negative")
    return found


def warn_doubts(arm: Arm, strict: bool = False) -> Arm:
    """The arm itself, after a warning (or, with strict, an error) that lists its impossible links."""
    doubts = impossible_links(arm)
    if doubts:
        text = f"robot '{arm.name}' has impossible inertias: " + "; ".join(doubts)
        if strict:
            raise ModelError(text + "; mend the file or load it with strict=False")
        warnings.warn(text, DynarmWarning, stacklevel=3)
    return arm
