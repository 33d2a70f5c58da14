"""The robot as data: frozen records for joints with their links, friction, and the arm."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

from ..border.arguments import number, numbers, shown
from ..border.kinds import FloatArray, Numbers
from ..border.memo import cached_property
from ..border.tables import html_table, text_table
from ..border.words import brief
from ..errors import InputError, KindError, ModelError
from .frames.poses import exact_cos_sin, inverse, rigid, rotation, translation
from .inertia import (
    PARAMETER_NAMES,
    move_parameters,
    pack_parameters,
    same_parameters,
    tensor,
    unpack_parameters,
)
from .sheet import arm_line, arm_sheet

__all__ = [
    "PARAMETER_NAMES",
    "Arm",
    "Friction",
    "Joint",
    "Origin",
    "exact_cos_sin",
    "inverse",
    "move_parameters",
    "numbers",
    "pack_parameters",
    "rigid",
    "tensor",
    "unpack_parameters",
]

KINDS = ("revolute", "prismatic")
SHAPES = ("sign", "tanh")
# a mass matrix multiplies inertias by lengths and its factors by each other: they must not overflow
LONGEST = 1e50  # [m]
HEAVIEST = 1e100  # of a link's ten parameters and the armature


@dataclass(frozen=True, slots=True)
class Friction:
    """Friction of one joint: viscous [N m s or N s/m], Coulomb [N m or N] and a constant offset [N m or N].

    `*_negative` hold the values for negative velocity where they differ. shape="tanh" smooths the sign over
    `width` [rad/s or m/s].
    """

    viscous: float = 0.0
    coulomb: float = 0.0
    offset: float = 0.0
    shape: str = "sign"
    width: float = 0.02
    viscous_negative: float | None = None
    coulomb_negative: float | None = None

    __repr__ = brief

    def __post_init__(self) -> None:
        for f in fields(self):
            value = getattr(self, f.name)
            if f.name != "shape" and not (value is None and f.default is None):
                object.__setattr__(self, f.name, number(f"friction {f.name}", value))
        if not isinstance(self.shape, str) or self.shape not in SHAPES:
            raise InputError(f"friction shape is {shown(self.shape)}; choose 'sign' or 'tanh'")
        if not self.width >= 1e-300:  # its inverse must be a number
            raise InputError(f"friction width is {self.width}; give a positive velocity")


@dataclass(frozen=True, slots=True)
class Joint:
    """One joint and the link that it moves.

    Modified Denavit-Hartenberg: frame i stands in frame i-1 at Tx(a) Rx(alpha) Ry(beta) Tz(d) Rz(theta); q adds to
    theta (revolute) or d (prismatic). beta is 0 except where neighbouring axes are nearly parallel. Mass, centre of
    mass and inertia (about the centre of mass) are in the link frame's axes. `parameters`, if given, replaces them by
    the ten numbers [m, mcx, mcy, mcz, Ixx, Ixy, Iyy, Ixz, Iyz, Izz] about the frame's origin, whatever they are.
    A velocity or effort limit of None, or of 0 as many files write where nobody knows it, is no limit.
    """

    kind: str = "revolute"
    a: float = 0.0
    alpha: float = 0.0
    d: float = 0.0
    theta: float = 0.0
    mass: float = 0.0
    com: Any = (0.0, 0.0, 0.0)  # any three numbers, kept as a tuple
    inertia: Any = ((0.0,) * 3,) * 3
    armature: float = 0.0
    friction: Friction | None = None
    name: str | None = None
    position_limits: tuple[float, float] | None = None
    velocity_limit: float | None = None
    effort_limit: float | None = None
    beta: float = 0.0
    parameters: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        put = object.__setattr__
        if not isinstance(self.name, (str, type(None))):
            raise KindError(f"name of a joint is {shown(self.name)}; give a string or None")
        label = f"joint {shown(self.name)}" if self.name else "joint"
        if not isinstance(self.kind, str) or self.kind not in KINDS:
            raise InputError(
                f"{label}: kind is {shown(self.kind)}; choose 'revolute' or 'prismatic'"
            )
        for key in ("a", "alpha", "beta", "d", "theta", "armature"):
            put(self, key, number(f"{label}: {key}", getattr(self, key)))
        if max(abs(self.a), abs(self.d)) > LONGEST:
            raise InputError(
                f"{label}: a is {self.a}, d is {self.d}; give metres, at most {LONGEST:g}"
            )
        mass = number(f"{label}: mass", self.mass)
        com = numbers(f"{label}: com", self.com, (3,))
        inertia = numbers(f"{label}: inertia", self.inertia, (3, 3))
        if self.parameters is None:
            if mass < 0:
                raise ModelError(f"{label}: mass is {mass}; a mass cannot be negative")
            if np.abs(inertia - inertia.T).max() > 1e-9 * max(np.abs(inertia).max(), 1e-300):
                raise ModelError(
                    f"{label}: inertia is not symmetric ({inertia.tolist()}); give Ixy = Iyx and so on"
                )
            with np.errstate(over="ignore", invalid="ignore"):
                packed = pack_parameters(mass, com, inertia)
        else:
            packed = numbers(f"{label}: parameters", self.parameters, (10,))
        if not (np.abs(packed) <= HEAVIEST).all() or abs(self.armature) > HEAVIEST:
            raise InputError(
                f"{label}: mass, com, inertia and armature are too large to multiply; give kg and m"
            )
        if self.parameters is not None:
            body = unpack_parameters(packed)
            given = [mass, *com, *inertia.ravel()]
            if not any(given) or given == [body[0], *body[1], *body[2].ravel()]:
                mass, com, inertia = body
            elif not same_parameters(packed, pack_parameters(mass, com, inertia)):
                raise InputError(
                    f"{label}: parameters and mass, com, inertia are both given and differ; give one of the "
                    "two (to change one of them, pass parameters=None as well)"
                )
        put(self, "mass", mass)
        put(self, "com", tuple(com.tolist()))
        put(self, "inertia", tuple(map(tuple, inertia.tolist())))
        put(self, "parameters", tuple(packed.tolist()))
        if self.friction is not None and not isinstance(self.friction, Friction):
            raise KindError(
                f"{label}: friction is {shown(self.friction)}; give dynarm.Friction(...) or None"
            )
        if self.position_limits is not None:
            low, high = numbers(f"{label}: position_limits", self.position_limits, (2,))
            put(self, "position_limits", (float(low), float(high)))
        for key in ("velocity_limit", "effort_limit"):
            if getattr(self, key) is not None:
                put(self, key, number(f"{label}: {key}", getattr(self, key)))

    def __repr__(self) -> str:
        return brief(self, "inertia", "parameters")

    @property
    def revolute(self) -> bool:
        return self.kind == "revolute"

    def with_parameters(self, ten: Iterable[float]) -> Joint:
        """The same joint whose link has the ten given parameters."""
        return replace(
            self, mass=0.0, com=(0, 0, 0), inertia=((0,) * 3,) * 3, parameters=tuple(ten)
        )

    def displacement(self, q: float = 0.0) -> FloatArray:
        """The 4x4 pose of this joint's frame in the frame before, at joint position q."""
        theta, d = (self.theta + q, self.d) if self.revolute else (self.theta, self.d + q)
        return (
            translation(self.a, 0, 0)
            @ rotation("x", self.alpha)
            @ rotation("y", self.beta)
            @ translation(0, 0, d)
            @ rotation("z", theta)
        )


@dataclass(frozen=True, slots=True)
class Origin:
    """Where an arm came from: what `save("x.urdf")` needs to write it back in the frames of its own file."""

    base_link: str
    links: tuple[str, ...]  # the moving link of each joint
    frames: tuple[tuple[float, ...], ...]  # each URDF link frame in the internal one, 16 numbers
    axes: tuple[tuple[float, float, float], ...]  # joint axes in the URDF link frames
    kinds: tuple[str, ...]  # URDF joint types: revolute, continuous, prismatic
    tip_link: str | None = None
    notes: tuple[str, ...] = ()  # what was frozen, merged or ignored on loading

    __repr__ = brief


@dataclass(frozen=True)
class Arm:
    """A serial chain of one-degree joints. Immutable; equal arms compare and hash equal."""

    joints: Sequence[Joint]
    gravity: Any = (0.0, 0.0, -9.81)
    name: str = "arm"
    base: Any = None  # pose of frame 0 in the user's base link, kept as 16 numbers by rows
    tool: Any = None  # pose of the tool in the last link's frame, kept likewise
    origin: Origin | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        put = object.__setattr__
        if isinstance(self.joints, Joint) or not isinstance(self.joints, Iterable):
            raise KindError(f"joints is {shown(self.joints)}; give a list of dynarm.Joint")
        joints = tuple(self.joints)
        if not joints:
            raise ModelError("the arm has no joints; give at least one dynarm.Joint")
        for i, joint in enumerate(joints):
            if not isinstance(joint, Joint):
                raise KindError(f"joints[{i}] is {shown(joint)}; give dynarm.Joint(...)")
        joints = tuple(
            j if j.name else replace(j, name=f"joint{i + 1}") for i, j in enumerate(joints)
        )
        names = [j.name for j in joints]
        if len(set(names)) != len(names):
            raise InputError(f"joint names are not unique: {names}; give each joint its own name")
        put(self, "joints", joints)
        put(self, "gravity", tuple(numbers("gravity", self.gravity, (3,)).tolist()))
        for key in ("base", "tool"):
            value = getattr(self, key)
            if isinstance(value, (tuple, list)) and len(value) == 16:  # as the record keeps it
                value = numbers(key, value, (16,)).reshape(4, 4)
            T = np.eye(4) if value is None else rigid(key, value)
            put(self, key, tuple(T.ravel().tolist()))
        if not isinstance(self.name, str) or not self.name:
            raise KindError(f"name is {shown(self.name)}; give a non-empty string")
        if not isinstance(self.origin, (Origin, type(None))):
            raise KindError(f"origin is {shown(self.origin)}; pass origin=None")
        if self.origin is not None and len(self.origin.links) != len(joints):
            raise InputError(
                f"origin describes {len(self.origin.links)} links, the arm has {len(joints)} joints; pass origin=None"
            )

    def __repr__(self) -> str:
        return arm_line(self)

    def __str__(self) -> str:
        return text_table(*arm_sheet(self))

    def _repr_html_(self) -> str:
        return html_table(*arm_sheet(self))

    def __getstate__(self) -> dict[str, Any]:
        """The fields alone: what was derived from them is derived again, and is read-only again."""
        return {f.name: getattr(self, f.name) for f in fields(self)}

    @classmethod
    def from_classic_dh(
        cls,
        joints: Sequence[Joint],
        gravity: Any = (0.0, 0.0, -9.81),
        name: str = "arm",
        base: Any = None,
        tool: Any = None,
    ) -> Arm:
        """The arm whose joints' numbers are meant in the classic (distal) convention.

        Frame i stands in frame i-1 at Rz(theta) Tz(d) Tx(a) Rx(alpha), z of frame i-1 on joint i; mass, com and
        inertia are in the distal frame i. base: pose of classic frame 0 in the user's base link; tool: pose of the
        tool in classic frame n.
        """
        from .frames.dh import from_classic_dh

        return from_classic_dh(joints, gravity, name, base, tool)

    @property
    def n(self) -> int:
        """Number of joints."""
        return len(self.joints)

    @property
    def joint_names(self) -> tuple[str, ...]:
        return tuple(str(j.name) for j in self.joints)

    @property
    def base_pose(self) -> FloatArray:
        """4x4 pose of frame 0, as the joints' DH numbers start from it, in the user's base link."""
        return np.array(self.base).reshape(4, 4)

    @property
    def tool_pose(self) -> FloatArray:
        """4x4 pose of the tool in the last link's frame."""
        return np.array(self.tool).reshape(4, 4)

    @cached_property
    def frame0(self) -> FloatArray:
        """4x4 pose in the user's base link of the frame that the papers call 0: frame 1 in the zero pose."""
        pose = self.base_pose @ self.joints[0].displacement()
        pose.setflags(write=False)
        return pose

    @cached_property
    def parameters(self) -> FloatArray:
        """(n, 10): m, mcx, mcy, mcz, Ixx, Ixy, Iyy, Ixz, Iyz, Izz about each internal link frame."""
        table = np.array([j.parameters for j in self.joints])
        table.setflags(write=False)
        return table

    @cached_property
    def urdf_parameters(self) -> FloatArray:
        """(n, 10): the same about the URDF's link frames (the internal frames where there is no URDF)."""
        if self.origin is None:
            return self.parameters
        rows = []
        for p, flat in zip(self.parameters, self.origin.frames, strict=True):
            T = inverse(np.array(flat).reshape(4, 4))  # internal frame in the URDF link frame
            rows.append(move_parameters(p, T[:3, :3], T[:3, 3]))
        table = np.array(rows)
        table.setflags(write=False)
        return table

    @cached_property
    def size(self) -> float:
        """A length [m] that the robot's own lengths are compared with: the sum of its link lengths, or 1."""
        return sum(abs(j.a) + abs(j.d) for j in self.joints[1:]) or 1.0

    def with_parameters(self, table: Numbers) -> Arm:
        """The same arm with other inertial parameters, (n, 10) about the internal frames; no physics asked.

        A DataFrame may have its columns (m, mcx ...) and its rows (joint names) in any order.
        """
        rows = numbers("parameters", table, (self.n, 10), PARAMETER_NAMES, self.joint_names)
        joints = (j.with_parameters(p.tolist()) for j, p in zip(self.joints, rows, strict=True))
        return replace(self, joints=tuple(joints))

    def with_payload(
        self, mass: float, com: Numbers = (0, 0, 0), inertia: Numbers = ((0.0,) * 3,) * 3
    ) -> Arm:
        """The arm carrying a rigid payload, given in the tool frame (inertia about its centre of mass)."""
        load = Joint(mass=mass, com=com, inertia=inertia, name="payload")
        assert load.parameters is not None
        T = self.tool_pose
        moved = move_parameters(load.parameters, T[:3, :3], T[:3, 3])
        table = self.parameters.copy()
        table[-1] += moved
        return self.with_parameters(table)

    def check(self) -> list[str]:
        """Every physical doubt about the arm's numbers, one sentence each; empty if there is none."""
        from .doubts import all_doubts

        return all_doubts(self)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the arm to x.toml or x.urdf; nothing is left half-written."""
        from .files import save

        save(self, path)
