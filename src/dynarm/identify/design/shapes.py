"""What a robot looks like, for keeping it off the floor and off itself: capsules of its links."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ...errors import DynarmError
from ...robot.arm import Arm
from ...robot.formats.collisions import Solid, collision_shapes
from .capsules import Capsule, covering, holding

MOST = 4  # capsules of a link,
FINE = 12  # and of one that is looked at more closely
_THICK = 0.05  # radius of a link whose shape is not known, in parts of the robot's reach
_SHORT = 1e-3  # likewise: what is shorter is a point


@dataclass(frozen=True, slots=True, eq=False)
class Shapes:
    """The capsules of an arm's links and where they come from.

    told: how many moving links have shapes from the robot's file; guessed: names of links that have rods between their
    joints instead, `why` says for some of them what was wrong with the file's. solids: what they hold, by joint.
    """

    capsules: tuple[Capsule, ...]
    told: int
    guessed: tuple[str, ...]
    why: tuple[str, ...]
    solids: Mapping[int, Sequence[Solid]] = field(default_factory=dict)

    def finer(self, joint: int) -> list[Capsule]:
        """More and tighter capsules about the same link; those that there are, where its shape is not known."""
        coarse = [capsule for capsule in self.capsules if capsule.joint == joint]
        bodies = [s.triangles for s in self.solids.get(joint, ()) if s.triangles is not None]
        if not coarse or not bodies:
            return coarse
        name = coarse[0].name
        return _balls(self.solids[joint], joint, name) + covering(
            np.concatenate(bodies), FINE, joint, name
        )

    @property
    def source(self) -> str:
        """In words where the shapes come from."""
        if not self.guessed:
            return "collision shapes of the robot's file"
        rods = "rods between joints, their thickness guessed"
        return f"collision shapes of the file, else {rods}" if self.told else rods


def shapes_of(arm: Arm) -> Shapes:
    """The capsules of a robot: from its URDF's collision shapes, else rods from joint to joint."""
    solids, failed, why = _described(arm)
    by_joint = {joint: _capsules(own, joint, _label(arm, joint)) for joint, own in solids.items()}
    rods = _rods(arm)
    if not by_joint and not failed:  # a file without any shape describes none, not robots of air
        names = tuple(_label(arm, j) for j in sorted({c.joint for c in rods} - {-1}))
        return Shapes(tuple(rods), 0, names, ())
    capsules: list[Capsule] = []
    for joint in range(-1, arm.n):
        own = by_joint.get(joint, [])
        if joint in failed:
            own = own + [rod for rod in rods if rod.joint == joint]
        capsules += own
    guessed = tuple(_label(arm, j) for j in sorted(failed) if j >= 0)
    told = len([j for j in by_joint if j >= 0 and j not in failed])
    known = {joint: own for joint, own in solids.items() if joint not in failed}
    return Shapes(tuple(capsules), told, guessed, why, known)


def _label(arm: Arm, joint: int) -> str:
    """The name of a link as messages show it."""
    if arm.origin is None:
        return "the base" if joint < 0 else f"link of '{arm.joints[joint].name}'"
    return f"'{arm.origin.base_link if joint < 0 else arm.origin.links[joint]}'"


def _described(arm: Arm) -> tuple[dict[int, list[Solid]], set[int], tuple[str, ...]]:
    """By joint the solids of the file, the joints whose shapes could not be read, and why."""
    if arm.file is None or not arm.file.path:
        return {}, set(), ()
    try:
        solids, why = collision_shapes(Path(arm.file.path))
    except DynarmError:
        return {}, set(), ()  # no URDF, or not there any more
    by_joint: dict[int, list[Solid]] = {}
    failed: set[int] = set()
    reasons = []
    for link, joint, flat in arm.file.places:
        pose = np.array(flat).reshape(4, 4)
        by_joint.setdefault(joint, []).extend(_moved(s, pose) for s in solids.get(link, ()))
        if link in why:
            failed.add(joint)
            reasons.append(f"link '{link}': {why[link]}")
    return {joint: own for joint, own in by_joint.items() if own}, failed, tuple(reasons)


def _moved(solid: Solid, pose: np.ndarray) -> Solid:
    turn, shift = pose[:3, :3], pose[:3, 3]
    corners = None if solid.triangles is None else solid.triangles @ turn.T + shift
    return Solid(corners, turn @ solid.centre + shift, solid.radius)


def _capsules(solids: Sequence[Solid], joint: int, name: str) -> list[Capsule]:
    """Few capsules about everything that one joint carries."""
    balls = _balls(solids, joint, name)
    bodies = [s.triangles for s in solids if s.triangles is not None]
    if not bodies:
        return balls
    if len(bodies) == 1 or len(bodies) > MOST:
        return balls + holding(np.concatenate(bodies), MOST, joint, name)
    apart = [c for body in bodies for c in holding(body, MOST, joint, name)]
    whole = holding(np.concatenate(bodies), MOST, joint, name)
    if len(apart) <= 2 * MOST and sum(c.volume for c in apart) < sum(c.volume for c in whole):
        return balls + apart
    return balls + whole


def _balls(solids: Sequence[Solid], joint: int, name: str) -> list[Capsule]:
    return [
        Capsule(joint, s.centre, s.centre, s.radius, name) for s in solids if s.triangles is None
    ]


def _rods(arm: Arm) -> list[Capsule]:
    """From each joint to those that it carries, and to the tools; of links without length, nothing."""
    radius = _THICK * arm.size
    ends: list[tuple[int, np.ndarray]] = []
    for i, joint in enumerate(arm.joints):
        parent = arm.parents[i]
        place = joint.displacement()[:3, 3]
        ends.append(
            (
                parent,
                (arm.base_pose[:3, :3] @ place + arm.base_pose[:3, 3]) if parent < 0 else place,
            )
        )
    ends += [(tool.joint, tool.matrix[:3, 3]) for tool in arm.all_tools if tool.joint >= 0]
    return [
        Capsule(parent, np.zeros(3), end, radius, _label(arm, parent))
        for parent, end in ends
        if np.linalg.norm(end) > _SHORT * arm.size
    ]
