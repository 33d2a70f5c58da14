"""Several arms on one platform, as one arm that branches at its base."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..border.arguments import items, reals
from ..border.kinds import Outside
from ..border.words import shown
from ..errors import InputError, KindError
from ..robot.arm import Arm, Tool, rigid
from ..robot.frames.poses import inverse
from ..robot.joint import Joint
from .bodies import hand_of, with_base_link
from .platform import Base

_PARALLEL = 1e-12
_PAIRS = "give [(arm, mount), ...], each mount the 4x4 pose in {v} of that arm's base link"


def mounted(base: Base, arms: Outside) -> tuple[Base, Arm]:
    """The base with the base links of all arms, and the arms as one; the load acts on the tool of the first."""
    pairs = [_pair(k, entry) for k, entry in enumerate(items("arms", arms, _PAIRS))]
    if not pairs:
        raise InputError(f"arms is empty; {_PAIRS}")
    bare = []
    for arm, pose in pairs:
        whole, alone = with_base_link(Base(base.mass, base.com, base.inertia, pose), arm)
        base = whole
        bare.append((alone, pose))
    first = pairs[0][1]
    return Base(base.mass, base.com, base.inertia, first), joined(bare)


def _pair(k: int, entry: Outside) -> tuple[Arm, np.ndarray]:
    if not isinstance(entry, (tuple, list)) or len(entry) != 2 or not isinstance(entry[0], Arm):
        raise KindError(f"arms[{k}] is {shown(entry)}; {_PAIRS}")
    given = reals(f"mount of arms[{k}]", entry[1], "a 4x4 pose")
    if given.size != 16:
        raise InputError(f"mount of arms[{k}] has shape {given.shape}; give a 4x4 pose")
    return entry[0], rigid(f"mount of arms[{k}]", given.reshape(4, 4))


def joined(arms: Sequence[tuple[Arm, np.ndarray]]) -> Arm:
    """One arm that branches at its base: the first stands as it did, the others are placed from its frame 0."""
    if len(arms) == 1:
        return arms[0][0]
    first, mount = arms[0]
    home = inverse(mount @ first.base_pose)
    joints: list[Joint] = []
    tools = []
    for k, (arm, pose) in enumerate(arms):
        start = len(joints)
        names = _names(arm, k, joints)
        hand, tool = hand_of(arm)
        tools.append(Tool(f"tool{k + 1}", start + hand, tool))
        for i, (joint, parent, name) in enumerate(zip(arm.joints, arm.parents, names, strict=True)):
            moved = replace(joint, name=name, parent=start + parent if parent >= 0 else -1)
            if parent < 0 and k > 0:
                place = home @ pose @ arm.base_pose @ joint.displacement(0.0)
                moved = branched(moved, place)
            joints.append(replace(moved, parent=None) if start + i == 0 else moved)
    title = "_".join(arm.name for arm, _ in arms)
    return Arm(joints, gravity=first.gravity, name=title, base=first.base_pose, tools=tools)


def _names(arm: Arm, k: int, before: Sequence[Joint]) -> list[str]:
    """Names of the joints, with the arm's number where another arm has one of them."""
    taken = {joint.name for joint in before}
    if taken.isdisjoint(arm.joint_names):
        return list(arm.joint_names)
    return [f"arm{k + 1}_{name}" for name in arm.joint_names]


def branched(joint: Joint, pose: np.ndarray) -> Joint:
    """The joint whose Rz(gamma) Tz(b) Tx(a) Rx(alpha) Tz(d) Rz(theta) is a pose."""
    u, p = pose[:3, 2], pose[:3, 3]
    sine = math.hypot(u[0], u[1])
    if sine <= _PARALLEL:  # axes are parallel: the common normal leads to the origin
        side = p[:2] if math.hypot(p[0], p[1]) > _PARALLEL else pose[:2, 0]
        x = np.array([*side, 0.0]) / math.hypot(*side)
        alpha, b, d = (0.0 if u[2] > 0 else math.pi), float(p[2]), 0.0
    else:
        x = np.array([-u[1], u[0], 0.0]) / sine  # across both axes
        alpha = math.atan2(sine, u[2])
        across = np.array([u[0], u[1]]) / sine
        d = float(across @ p[:2]) / sine
        b = float(p[2] - d * u[2])
    y = np.cross(u, x)
    theta = math.atan2(float(y @ pose[:3, 0]), float(x @ pose[:3, 0]))
    a = float(x @ p)
    gamma = math.atan2(x[1], x[0])
    return replace(joint, gamma=gamma, b=b, a=a, alpha=alpha, beta=0.0, d=d, theta=theta)
