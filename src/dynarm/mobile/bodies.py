"""From records to what Kane's equations see: links about their mass centres, the arm's mount, the whole machine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..algebra.vectors import IDENTITY, Mat3, Nested, Scalar, Sym3, Vec3
from ..dynamics.papers.kane_arm_tanner2001 import KaneLink, Mount
from ..dynamics.papers.kane_platform_tanner2001 import Carried, Roller
from ..dynamics.papers.kane_tanner2001 import Machine
from ..errors import ModelError
from ..robot.arm import Arm
from ..robot.frames.chain import tidy
from ..robot.inertia import move_parameters, pack_parameters, unpack_parameters
from .constraints import follows, rollers
from .platform import Base, Platform, Steering, Wheel


def links_of(arm: Arm) -> tuple[KaneLink, ...]:
    """The arm's links with inertia about their mass centres; massless links must have no first moments."""
    links = []
    for joint in arm.joints:
        if joint.mass == 0 and any(joint.parameters[1:4]):  # type: ignore[index]
            raise ModelError(
                f"link of joint '{joint.name}' has first moments but no mass, so it has no mass centre; "
                "give it a mass (fit.arm_ is physical)"
            )
        I = np.array(joint.inertia)
        scale = max(float(np.abs(I).max()), 1e-300)
        size = max(map(abs, joint.com)) or 1.0
        upper = (I[0, 0], I[0, 1], I[1, 1], I[0, 2], I[1, 2], I[2, 2])
        links.append(
            KaneLink(
                joint.revolute,
                joint.mass,
                Vec3(*(tidy(float(x), size) if x else 0 for x in joint.com)),
                Sym3(*(0 if abs(x) <= 1e-15 * scale else float(x) for x in upper)),
            )
        )
    return tuple(links)


def hand_of(arm: Arm) -> tuple[int, np.ndarray]:
    """The link that carries the load, and the tool's pose in its frame: the first tool, else that of the last link."""
    tools = arm.all_tools
    if tools and tools[0].joint >= 0:
        return tools[0].joint, np.array(tools[0].pose, float).reshape(4, 4)
    return arm.n - 1, arm.tool_pose


def with_base_link(base: Base, arm: Arm) -> tuple[Base, Arm]:
    """The base with the mass of the arm's own base link, as its file has it, and the arm without it."""
    if arm.origin is None or arm.origin.base is None:
        return base, arm
    T = base.mount_pose
    ten = pack_parameters(base.mass, base.com, base.inertia)
    ten = ten + move_parameters(arm.origin.base, T[:3, :3], T[:3, 3])
    mass, com, inertia = unpack_parameters(ten)
    bare = replace(arm, origin=replace(arm.origin, base=None))
    x, y, z = com.tolist() if mass else base.com
    return Base(mass, (x, y, z), inertia, T), bare


def mount_of(base: Base, arm: Arm) -> Mount:
    """Where frame 0 of the arm stands in {v}."""
    T = base.mount_pose @ arm.frame0
    table = [[tidy(float(x)) for x in row] for row in T[:3, :3]]
    upright = table == [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    size = max(1.0, float(np.abs(T[:3, 3]).max()))
    r0 = np.array(base.com)
    return Mount(
        IDENTITY if upright else Mat3(*(Vec3(*row) for row in table)),
        Vec3(*(tidy(float(x), size) for x in r0)),
        Vec3(*(tidy(float(x), size) for x in T[:3, 3] - r0)),
    )


def _sym(table: Nested) -> Sym3:
    return Sym3(*(float(table[i][j]) for i, j in ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))))


def _rolling(wheel: Wheel, steering: Steering | None, phi: Scalar) -> list[Roller]:
    """The wheel, without its mass where it may move across: that is carried as a point."""
    made = rollers(wheel, steering, phi)
    return made if wheel.constrains else [replace(one, mass=0) for one in made]


def _caster(wheel: Wheel, height: float) -> Carried:
    """The mass of a wheel that may move across, as a point at its centre."""
    x, y = wheel.place
    return Carried(wheel.mass, Vec3(x, y, wheel.radius - height), Sym3(0, 0, 0, 0, 0, 0))


def machine_of(
    platform: Platform, wheels: Sequence[Wheel], base: Base, arm: Arm, phi: Scalar
) -> Machine:
    """The machine at a steering angle, as Kane's equations see it."""
    steering, height = platform.steering, platform.height
    mount = mount_of(base, arm)
    hand, pose = hand_of(arm)
    tool = pose[:3, 3]
    size = max(1.0, float(np.abs(tool).max()))
    return Machine(
        tuple(one for w in wheels if w.guides for one in _rolling(w, steering, phi)),
        Carried(platform.mass, Vec3(0, 0, 0), _sym(platform.inertia)),
        Carried(base.mass, mount.r0, _sym(base.inertia)),
        tuple(_caster(w, height) for w in wheels if not w.constrains and w.mass),
        links_of(arm),
        mount,
        Vec3(*(tidy(float(x), size) for x in tool)),
        any(follows(w, steering) for w in wheels),
        None if arm.plain else arm.parents,
        hand,
    )
