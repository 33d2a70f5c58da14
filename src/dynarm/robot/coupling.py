"""Joints in their places: names, parents, and which of them follow others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from ..border.kinds import FloatArray
from ..errors import InputError, ModelError, UnknownName
from .joint import Joint, Mimic

MAX_JOINTS = 256
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Coupling:
    """q = G y + g0: the positions of all joints from those of the independent ones, one entry a row of G.

    masters: indices of the independent joints; of: for each joint which of these it follows (its own place, if it is
    one), `multipliers` and `offsets` how. Forces are gathered by G': tau_y = G' tau.
    """

    masters: tuple[int, ...]
    of: tuple[int, ...]
    multipliers: tuple[float, ...]
    offsets: tuple[float, ...]

    def positions(self, own: Sequence[float] | FloatArray) -> list[float]:
        """Positions of all joints from those of the independent ones."""
        rules = zip(self.of, self.multipliers, self.offsets, strict=True)
        return [factor * float(own[j]) + offset for j, factor, offset in rules]

    @property
    def free(self) -> bool:
        """Whether no joint follows another."""
        return len(self.masters) == len(self.of)


def placed(joints: Sequence[Joint]) -> tuple[Joint, ...]:
    """The joints with names, parents and couplings as an arm keeps them, or an error that says what cannot be."""
    if len(joints) > MAX_JOINTS:
        raise ModelError(f"the robot has {len(joints)} joints; at most {MAX_JOINTS} are supported")
    named = tuple(j if j.name else replace(j, name=f"joint{i + 1}") for i, j in enumerate(joints))
    names = [str(j.name) for j in named]
    if len(set(names)) != len(names):
        raise InputError(f"joint names are not unique: {names}; give each joint its own name")
    hung = (_hung(j, i, len(named)) for i, j in enumerate(named))
    joints = tuple(_following(j, i, names, named) for i, j in enumerate(hung))
    return tuple(_felt(j, i, names, joints) for i, j in enumerate(joints))


def _felt(joint: Joint, i: int, names: Sequence[str], joints: Sequence[Joint]) -> Joint:
    """The joint with the indices of those that its friction is coupled with; all of them are independent."""
    friction = joint.friction
    if friction is None:
        return joint
    if joint.mimic is not None and (
        friction.coupling or friction.load_curve or friction.load_presliding
    ):
        raise InputError(
            f"joint '{joint.name}' follows another, and its friction has coupling or load terms; "
            "give these to the joint that it follows"
        )
    if not friction.coupling:
        return joint
    coupling = [replace(c, joint=_partner(c.joint, joint, i, names)) for c in friction.coupling]
    for entry in coupling:
        if joints[int(entry.joint)].mimic is not None:
            raise InputError(
                f"friction of joint '{joint.name}' is coupled with '{names[int(entry.joint)]}', which "
                "follows another joint; name the one that it follows"
            )
    return replace(joint, friction=replace(friction, coupling=tuple(coupling)))


def _index(joint: int | str, names: Sequence[str], wanted_for: str) -> int:
    """The place of a joint that is given by it or by its name."""
    if not isinstance(joint, str):
        return joint
    if joint not in names:
        raise UnknownName(f"joint for {wanted_for}", joint, names)
    return names.index(joint)


def _partner(other: int | str, joint: Joint, i: int, names: Sequence[str]) -> int:
    other = _index(other, names, f"the friction coupling of '{joint.name}'")
    if not 0 <= other < len(names):
        raise InputError(
            f"friction of joint '{joint.name}' is coupled with joint {other}; the robot has joints 0 "
            f"to {len(names) - 1}"
        )
    if other == i:
        raise InputError(f"friction of joint '{joint.name}' is coupled with itself; name another")
    return other


def _hung(joint: Joint, i: int, n: int) -> Joint:
    """The joint with parent None where that is the joint before it."""
    parent = joint.parent
    if parent is None:
        return joint
    if parent == i:
        raise InputError(f"joint '{joint.name}' is its own parent; give an earlier joint or -1")
    if i < parent < n:
        raise InputError(
            f"joint '{joint.name}' (index {i}) has parent {parent}, which comes after it; order joints from "
            "the base outwards"
        )
    if not -1 <= parent < n:
        raise InputError(
            f"joint '{joint.name}' (index {i}) has parent {parent}; give an index from 0 to {i - 1}, or -1 "
            "for the base"
        )
    return replace(joint, parent=None) if parent == i - 1 else joint


def _following(joint: Joint, i: int, names: Sequence[str], joints: Sequence[Joint]) -> Joint:
    """The joint with the index of the one at the end of its row, which follows none."""
    if joint.mimic is None:
        return joint
    row, factor, offset = [i], 1.0, 0.0
    rule: Mimic | None = joint.mimic
    while rule is not None:
        master = _index(rule.joint, names, f"the mimic joint '{names[row[-1]]}'")
        if not 0 <= master < len(joints):
            raise InputError(
                f"joint '{names[row[-1]]}' mimics joint {master}; the robot has joints 0 to {len(joints) - 1}"
            )
        if master in row:
            way = "".join(f", by way of '{names[k]}'" for k in row[1:])
            raise InputError(f"joint '{joint.name}' mimics itself{way}; name another joint")
        offset += factor * rule.offset
        factor *= rule.multiplier
        row.append(master)
        rule = joints[master].mimic
    return replace(joint, mimic=Mimic(row[-1], factor, offset))


def coupled(joints: Sequence[Joint]) -> Coupling:
    """The coupling of an arm's joints."""
    masters = tuple(i for i, joint in enumerate(joints) if joint.mimic is None)
    place = {i: k for k, i in enumerate(masters)}
    rules = [joint.mimic or Mimic(i) for i, joint in enumerate(joints)]
    return Coupling(
        masters,
        tuple(place[int(rule.joint)] for rule in rules),
        tuple(rule.multiplier for rule in rules),
        tuple(rule.offset for rule in rules),
    )
