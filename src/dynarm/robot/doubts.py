"""What may be wrong with an arm's numbers: inertias that no body has, joints that move nothing, senseless drives."""

from __future__ import annotations

import warnings

import numpy as np

from ..errors import DynarmWarning, ModelError
from .arm import Arm, Body, Joint
from .origin import ASTRAY


def all_doubts(arm: Arm) -> list[str]:
    """Every physical doubt about the arm's numbers, one sentence each; empty if there is none."""
    return impossible_links(arm) + _idle_joints(arm) + _doubtful_drives(arm)


def impossible_links(arm: Arm) -> list[str]:
    """Links whose parameters no rigid body can have, and why."""
    base = [f"free base: {doubt}" for doubt in _doubts(arm.floating)] if arm.floating else []
    return base + [
        f"link of joint '{j.name}': {doubt}"
        for j in arm.joints
        for doubt in (*_doubts(j), *_rotor(j))
    ]


def _idle_joints(arm: Arm) -> list[str]:
    """Joints at the tips that move no inertia: the mass matrix is singular in every pose (armature left out).

    A joint that others follow is idle if all of them are.
    """
    bare = [True] * arm.n  # none of the links further out has any inertia
    idle = [False] * arm.n
    for i in range(arm.n - 1, -1, -1):
        joint, p, parent = arm.joints[i], arm.parameters[i - arm.n], arm.parents[i]
        idle[i] = bare[i] and not (p[9] if joint.revolute else p[0])
        if parent >= 0 and (p.any() or not bare[i]):
            bare[parent] = False
    busy = {master for master, nothing in zip(arm.coupling.of, idle, strict=True) if not nothing}
    told = []
    for k, i in enumerate(arm.coupling.masters):
        if k not in busy:
            joint = arm.joints[i]
            moved = "about its axis" if joint.revolute else "along its axis"
            told.append(
                f"joint '{joint.name}' moves no inertia {moved}: the mass matrix is singular"
            )
    return told


def _doubtful_drives(arm: Arm) -> list[str]:
    """Friction that gives energy to its joint, and limits that leave it no room."""
    told = []
    for joint in arm.joints:
        friction, limits = joint.friction, joint.position_limits
        for key in ("viscous", "coulomb", "viscous_negative", "coulomb_negative"):
            value = getattr(friction, key, None)
            if value is not None and value < 0:
                told.append(f"joint '{joint.name}': friction {key} {value:.6g} is negative")
        for key in ("velocity_limit", "effort_limit"):
            value = getattr(joint, key)
            if value is not None and value < 0:
                words = key.replace("_", " ")
                told.append(f"joint '{joint.name}': {words} {value:.6g} is negative")
        if limits is not None and limits[0] > limits[1]:
            told.append(f"joint '{joint.name}': position limits {limits[0]} > {limits[1]}")
    return told


def _rotor(joint: Joint) -> list[str]:
    return [f"armature {joint.armature:.6g} is negative"] if joint.armature < 0 else []


def doubts_of(ten: np.ndarray) -> list[str]:
    """Why no rigid body can have these ten parameters; empty where one can."""
    return _doubts(Body(parameters=tuple(ten.tolist())))


def _doubts(joint: Joint | Body) -> list[str]:
    """Why no rigid body can have these parameters."""
    assert joint.parameters is not None
    told = []
    if joint.mass < 0:
        told.append(f"mass {joint.mass:.6g} is negative")
    if joint.mass == 0 and any(joint.parameters[1:]):
        told.append("mass is zero but first moments or inertia are not")
    inertia = np.array(joint.inertia)
    size = float(np.abs(inertia).max()) or 1.0
    principal = np.linalg.eigvalsh(inertia / size / 2 + inertia.T / size / 2) * size
    # what rounding leaves when inertia about the frame's origin is moved to the centre of mass proves nothing
    noise = 1e-9 * np.abs(inertia).max() + 1e-13 * np.abs(joint.parameters[4:]).max()
    if principal[0] < -noise:
        told.append(
            f"inertia about the centre of mass has a negative principal moment ({principal[0]:.6g})"
        )
    if principal[0] + principal[1] < principal[2] * (1 - 1e-6) - noise:
        a, b, c = principal
        told.append(
            f"principal moments {a:.6g}, {b:.6g}, {c:.6g} violate the triangle inequality; no body has them"
        )
    return told


def warn_doubts(arm: Arm, strict: bool = False) -> Arm:
    """The arm itself, after a warning (or, with strict, an error) of impossible links and couplings to no joint."""
    doubts = impossible_links(arm)
    if doubts:
        text = f"robot '{arm.name}' has impossible inertias: " + "; ".join(doubts)
        if strict:
            raise ModelError(text + "; mend the file or load it with strict=False")
        warnings.warn(text, DynarmWarning, stacklevel=3)
    for note in arm.origin.notes if arm.origin else ():
        if note.startswith(ASTRAY):
            text = f"robot '{arm.name}', {note}"
            if strict:
                raise ModelError(text + "; mend the names, or load it with strict=False")
            warnings.warn(text, DynarmWarning, stacklevel=3)
    return arm
