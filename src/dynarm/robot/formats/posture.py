"""Which joints of a tree an arm keeps, and where all others are held.

Joints are held where `freeze` says so, where they are off a chain that was asked for (at zero), and where they follow
a joint that is held. Those that follow a joint of the arm stay coupled to it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ...border.arguments import number
from ...border.kinds import Outside
from ...border.words import shown
from ...errors import FormatError, InputError, KindError, UnknownName
from ..frames.poses import exact_cos_sin
from ..frames.rounding import norm
from ..joint import LONGEST
from ..origin import FROZEN, HELD
from .tree import Follow, Tree, TreeJoint, listed

SEVERAL_DEGREES = ("floating", "planar", "ball")


@dataclass(frozen=True, slots=True, eq=False)
class Posture:
    """The arm's joints in their order, how some follow others, and positions of all that are held."""

    kept: tuple[TreeJoint, ...]
    follows: Mapping[str, Follow]
    held: Mapping[str, float]
    why: Mapping[str, str]  # of joints that are held because they follow one that is

    def placement(self, joint: TreeJoint) -> np.ndarray:
        """4x4 pose of the child link in the parent link, moved to where the joint is held."""
        position = self.held.get(joint.name, 0.0)
        return joint.placement @ motion(joint, position) if position else joint.placement

    def notes(self, tree: Tree) -> list[str]:
        """What is held where, a line a position."""
        places: dict[float, list[str]] = {}
        for joint in tree.above.values():
            if joint.name in self.held:
                text = joint.label + self.why.get(joint.name, "")
                places.setdefault(self.held[joint.name], []).append(text)
        return [
            (f"{HELD}{position:.9g}: " if position else FROZEN) + ", ".join(names)
            for position, names in places.items()
        ]


def posture(tree: Tree, members: Sequence[TreeJoint], freeze: Outside) -> Posture:
    """The joints among `members` that stay free, and where the tree's other movable joints are held."""
    named = _named(tree, freeze) if isinstance(freeze, Mapping) else {}
    if not isinstance(freeze, (bool, np.bool_, Mapping)):
        raise KindError(
            f"freeze is {shown(freeze)}; give True, False or {{'joint': position, ...}}"
        )
    inside = {joint.name for joint in members}
    off = [j for j in tree.above.values() if j.movable and j.name not in inside]
    if off and not isinstance(freeze, Mapping) and not freeze:
        raise InputError(
            f"{tree.source}: movable joints off the chain: {listed([j.label for j in off])}; "
            "load with freeze=True to hold them at zero"
        )
    held = {joint.name: named.get(joint.name, 0.0) for joint in off} | named
    for joint in off:  # what was asked to stand elsewhere takes its followers along
        if joint.mimic and joint.name not in named:
            rule = _rule(tree, joint, joint.mimic, named)
            if rule and rule.joint in named:
                held[joint.name] = _followed(tree, joint, rule, named[rule.joint])
    follows: dict[str, Follow] = {}
    why = {}
    for joint in members:
        if joint.mimic is None or joint.name in named:
            continue
        rule = _no_circle(tree, joint, _rule(tree, joint, joint.mimic, named))
        master = tree.joints[rule.joint]
        if master.name in held or not master.movable or rule.multiplier == 0:
            at = held.get(master.name, 0.0)
            held[joint.name] = _followed(tree, joint, rule, at)
            why[joint.name] = f" as it follows '{master.name}'"
        else:
            follows[joint.name] = rule
    kept = tuple(joint for joint in members if joint.name not in held)
    return Posture(kept, follows, held, why)


def _named(tree: Tree, freeze: Mapping[Outside, Outside]) -> dict[str, float]:
    """Positions that were asked for, checked."""
    joints = tree.joints
    positions = {}
    for name, value in freeze.items():
        if not isinstance(name, str):
            raise KindError(f"freeze names {shown(name)}; give the name of a joint")
        if name not in joints:
            movable = [j.name for j in joints.values() if j.movable]
            raise UnknownName("joint in freeze", name, movable)
        joint, position = joints[name], number(f"freeze: position of joint '{name}'", value)
        if not joint.movable:
            raise InputError(f"freeze names joint '{name}', which is fixed already; leave it out")
        if joint.kind in SEVERAL_DEGREES and position:
            raise InputError(
                f"freeze holds joint '{name}' at {position:g}; it is {joint.kind} and can be held at 0 only"
            )
        positions[name] = _bounded(joint, position)
    return positions


def _rule(tree: Tree, joint: TreeJoint, rule: Follow, named: Mapping[str, float]) -> Follow | None:
    """How a mimic joint follows the one at the end of its row, which follows none or is held; None: a circle."""
    seen = {joint.name}
    while rule.joint not in seen:
        master = tree.joints[rule.joint]
        if master.mimic is None or master.name in named or not master.movable:
            return rule
        seen.add(master.name)
        rule = rule.after(master.mimic)
    return None


def _no_circle(tree: Tree, joint: TreeJoint, rule: Follow | None) -> Follow:
    if rule is None:
        raise FormatError(
            f"{tree.source}: joint '{joint.name}' mimics itself, by way of '{joint.mimic and joint.mimic.joint}'; "
            f"name another joint, or hold it: freeze={{'{joint.name}': 0}}"
        )
    return rule


def _followed(tree: Tree, joint: TreeJoint, rule: Follow, position: float) -> float:
    return _bounded(joint, rule.multiplier * position + rule.offset)


def _bounded(joint: TreeJoint, position: float) -> float:
    if not abs(position) <= LONGEST:
        raise InputError(
            f"joint '{joint.name}' would be held at {position:g}; give radians or metres"
        )
    return position


def motion(joint: TreeJoint, position: float) -> np.ndarray:
    """4x4 displacement of a joint along or about its axis, in the frame of its link."""
    length = norm(joint.axis)
    if not length:
        raise FormatError(f"joint '{joint.name}' has axis 0 0 0; give it a direction")
    u = joint.axis / length
    T = np.eye(4)
    if joint.kind == "prismatic":
        T[:3, 3] = u * position
        return T
    c, s = exact_cos_sin(position)
    across = np.array([[0.0, -u[2], u[1]], [u[2], 0.0, -u[0]], [-u[1], u[0], 0.0]])
    T[:3, :3] = np.eye(3) * c + across * s + np.outer(u, u) * (1 - c)
    return T
