"""The robot as data: an arm of joints, which may branch, hang on a free base, and follow each other."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING

import numpy as np

from ..border.arguments import numbers, shown
from ..border.familiar import told_attribute
from ..border.kinds import FloatArray, Kept, Numbers, Outside
from ..border.memo import cached_property
from ..border.tables import html_table, text_table
from ..errors import InputError, KindError, ModelError, UnknownName
from .coupling import Coupling, coupled, placed
from .frames.poses import inverse, rigid
from .inertia import (
    PARAMETER_NAMES,
    move_parameters,
    pack_parameters,
    unpack_parameters,
)
from .joint import (
    HEAVIEST,
    LONGEST,
    SHAPES,
    Body,
    Coupled,
    Friction,
    Joint,
    Mimic,
    Tool,
    kept_pose,
)
from .origin import Origin, SourceFile
from .sheet import arm_line, arm_sheet

__all__ = [
    "HEAVIEST",
    "LONGEST",
    "PARAMETER_NAMES",
    "SHAPES",
    "Arm",
    "Body",
    "Coupled",
    "Friction",
    "Joint",
    "Mimic",
    "Origin",
    "SourceFile",
    "Tool",
    "move_parameters",
    "pack_parameters",
    "rigid",
    "unpack_parameters",
]


@dataclass(frozen=True)
class Arm:
    """A robot of one-degree joints: a chain or a tree, on a fixed or a free base. Immutable; equal arms hash equal.

    With a free base, q is [x y z, qx qy qz qw, joints], and qd is [linear, angular velocity of the base link in its own
    axes, joints].

    Parameters
    ----------
    joints : sequence of Joint
        The joints, parents before children.
    gravity : array_like (3,)
        Acceleration of gravity in the base link [m/s^2].
    name : str, default "arm"
        What the robot is called, also in exported files.
    base : array_like (4, 4), optional
        Pose of frame 0 in the base link; the same frame by default.
    tool : array_like (4, 4), optional
        Pose of the tool in the frame of the last link; the same frame by default.
    origin : Origin, optional
        What is known about the file that the robot was read from; `dynarm.load` fills it
        in.
    floating : Body, optional
        The body that moves freely under the joints; None for a fixed base.
    tools : sequence of Tool, optional
        The frames of several tools; None: the one of `tool` on the last link of a chain,
        and no tool where the robot branches.
    file : SourceFile, optional
        The file that the robot came from; `dynarm.load` fills it in.

    Examples
    --------
    >>> tube = dict(mass=4.0, com=(0.25, 0, 0), inertia=np.diag([0.01, 0.09, 0.09]))
    >>> boom = dynarm.Joint(alpha=np.pi / 2, name="boom", **tube)
    >>> fore = dynarm.Joint(a=0.5, name="fore", **tube)
    >>> arm = dynarm.Arm([boom, fore], name="lift")
    >>> arm.joint_names, arm.n
    (('boom', 'fore'), 2)
    """

    joints: Sequence[Joint]
    gravity: Kept = (0.0, 0.0, -9.81)
    name: str = "arm"
    base: Kept = None  # pose of frame 0 in the user's base link, kept as 16 numbers by rows
    tool: Kept = None  # pose of the tool in the last link's frame, kept likewise
    origin: Origin | None = field(default=None, compare=False)
    floating: Body | None = None
    tools: Sequence[Tool] | None = None
    file: SourceFile | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        put = object.__setattr__
        if not isinstance(self.name, str) or not self.name:
            raise KindError(f"name is {shown(self.name)}; give a non-empty string")
        if isinstance(self.joints, Joint) or not isinstance(self.joints, Iterable):
            raise KindError(f"joints is {shown(self.joints)}; give a list of dynarm.Joint")
        joints = tuple(self.joints)
        if not joints and self.floating is None:
            raise ModelError(
                "the arm has no joints; give at least one dynarm.Joint, or floating=dynarm.Body(...)"
            )
        for i, joint in enumerate(joints):
            if not isinstance(joint, Joint):
                raise KindError(f"joints[{i}] is {shown(joint)}; give dynarm.Joint(...)")
        put(self, "joints", placed(joints))
        put(self, "gravity", tuple(numbers("gravity", self.gravity, (3,)).tolist()))
        if max(map(abs, self.gravity)) > LONGEST:
            raise InputError(f"gravity is {self.gravity}; give m/s^2, at most {LONGEST:g}")
        for key in ("base", "tool"):
            put(self, key, kept_pose(key, getattr(self, key)))
        self._check_free_base()
        if self.tools is not None:
            put(self, "tools", self._checked_tools())
        if not isinstance(self.origin, (Origin, type(None))):
            raise KindError(f"origin is {shown(self.origin)}; pass origin=None")
        if not isinstance(self.file, (SourceFile, type(None))):
            raise KindError(f"file is {shown(self.file)}; pass file=None")
        if self.origin is not None and len(self.origin.links) != len(joints):
            raise InputError(
                f"origin describes {len(self.origin.links)} links, the arm has {len(joints)} joints; pass origin=None"
            )

    def _check_free_base(self) -> None:
        if not isinstance(self.floating, (Body, type(None))):
            raise KindError(
                f"floating is {shown(self.floating)}; give dynarm.Body(mass, com, inertia) or None"
            )
        if self.floating is not None and self.base != kept_pose("base", None):
            raise InputError("base is a pose and floating a body; a free base is its own frame 0")

    def _checked_tools(self) -> tuple[Tool, ...]:
        if isinstance(self.tools, Tool) or not isinstance(self.tools, Iterable):
            raise KindError(f"tools is {shown(self.tools)}; give a list of dynarm.Tool, or None")
        tools = tuple(self.tools)
        for tool in tools:
            if not isinstance(tool, Tool):
                raise KindError(f"tools holds {shown(tool)}; give dynarm.Tool(name, joint, pose)")
            if not -1 <= tool.joint < len(self.joints):
                raise InputError(
                    f"tool '{tool.name}' is on joint {tool.joint}; the robot has joints 0 to "
                    f"{len(self.joints) - 1}, and -1 for its base"
                )
        names = [tool.name for tool in tools]
        if len(set(names)) != len(names):
            raise InputError(f"names of tools are not unique: {names}; give each its own name")
        return tools

    def __repr__(self) -> str:
        return arm_line(self)

    def __str__(self) -> str:
        return text_table(*arm_sheet(self))

    def _repr_html_(self) -> str:
        return html_table(*arm_sheet(self))

    if not TYPE_CHECKING:  # else every misspelt name would be one
        __getattr__ = told_attribute

    def __getstate__(self) -> dict[str, Outside]:
        """The fields alone: what was derived from them is derived again, and is read-only again."""
        return {f.name: getattr(self, f.name) for f in fields(self)}

    @classmethod
    def from_classic_dh(
        cls,
        joints: Sequence[Joint],
        gravity: Outside = (0.0, 0.0, -9.81),
        name: str = "arm",
        base: Outside = None,
        tool: Outside = None,
    ) -> Arm:
        """The arm whose joints' numbers are meant in the classic (distal) convention.

        Frame i stands in frame i-1 at Rz(theta) Tz(d) Tx(a) Rx(alpha), z of frame i-1 on joint i; mass, com and
        inertia are in the distal frame i.

        Parameters
        ----------
        joints : sequence of Joint
            The joints, with a, alpha, d, theta of the distal convention.
        gravity : array_like (3,)
            Acceleration of gravity in the base link [m/s^2].
        name : str, default "arm"
            What the robot is called.
        base : array_like (4, 4), optional
            Pose of the classic frame 0 in the base link.
        tool : array_like (4, 4), optional
            Pose of the tool in the classic frame n.

        Returns
        -------
        Arm
            The same robot, kept in modified Denavit-Hartenberg numbers.

        Examples
        --------
        >>> classic = [dynarm.Joint(a=0.4, mass=2.0), dynarm.Joint(a=0.3, mass=1.0)]
        >>> planar = dynarm.Arm.from_classic_dh(classic)
        >>> planar.joints[1].a
        0.4
        """
        from .frames.classic import from_classic_dh

        return from_classic_dh(joints, gravity, name, base, tool)

    @property
    def n(self) -> int:
        """Number of joints, those that follow others included."""
        return len(self.joints)

    @property
    def nq(self) -> int:
        """Number of coordinates: of independent joints, and seven more of a free base."""
        return len(self.coupling.masters) + (7 if self.floating else 0)

    @property
    def nv(self) -> int:
        """Number of speeds: of independent joints, and six more of a free base."""
        return len(self.coupling.masters) + (6 if self.floating else 0)

    @property
    def joint_names(self) -> tuple[str, ...]:
        """The names of the independent joints, in the order of q."""
        return tuple(str(self.joints[i].name) for i in self.coupling.masters)

    @property
    def coordinate_names(self) -> tuple[str, ...]:
        """What the entries of q are called."""
        free = ("x", "y", "z", "qx", "qy", "qz", "qw") if self.floating else ()
        return (*free, *self.joint_names)

    @property
    def speed_names(self) -> tuple[str, ...]:
        """What the entries of qd, qdd and tau are called."""
        free = ("vx", "vy", "vz", "wx", "wy", "wz") if self.floating else ()
        return (*free, *self.joint_names)

    @property
    def link_names(self) -> tuple[str, ...]:
        """What the rows of `parameters` are called: the joints that move the links, a free base before them."""
        names = tuple(str(joint.name) for joint in self.joints)
        return ("base", *names) if self.floating else names

    @cached_property
    def parents(self) -> tuple[int, ...]:
        """The index of each joint's parent, -1 for the base."""
        return tuple(i - 1 if j.parent is None else j.parent for i, j in enumerate(self.joints))

    @cached_property
    def coupling(self) -> Coupling:
        """Which joints are independent, and how the others follow them."""
        return coupled(self.joints)

    @property
    def branched(self) -> bool:
        """Whether any joint hangs on another one than the joint before it."""
        return any(joint.parent is not None for joint in self.joints)

    @property
    def serial(self) -> bool:
        """Whether the robot is what the papers speak of: a chain on a fixed base, without steps as at branches."""
        return self.plain and self.floating is None

    @property
    def plain(self) -> bool:
        """Whether each joint hangs on the one before it by the five numbers of a chain."""
        turned = any(joint.gamma or joint.b for joint in self.joints[1:])
        return not self.branched and not turned

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
        """4x4 pose in the user's base link of the frame that the papers call 0: frame 1 in the zero pose.

        Where several joints hang on the base, or it moves freely, the frame that their numbers start from.
        """
        alone = self.floating is None and self.parents.count(-1) == 1
        pose = self.base_pose @ self.joints[0].displacement() if alone else self.base_pose
        pose.setflags(write=False)
        return pose

    @cached_property
    def parameters(self) -> FloatArray:
        """(links, 10): m, mcx, mcy, mcz, Ixx, Ixy, Iyy, Ixz, Iyz, Izz about each internal link frame.

        The link of a free base comes first.
        """
        rows = [self.floating.parameters] if self.floating else []
        table = np.array([*rows, *(j.parameters for j in self.joints)])
        table.setflags(write=False)
        return table

    @cached_property
    def urdf_parameters(self) -> FloatArray:
        """(links, 10): the same about the URDF's link frames (the internal frames where there is no URDF)."""
        if self.origin is None:
            return self.parameters
        table = self.parameters.copy()
        moved = table[len(table) - self.n :]  # the frame of a free base is its link's own
        for row, flat in zip(moved, self.origin.frames, strict=True):
            T = inverse(np.array(flat).reshape(4, 4))  # internal frame in the URDF link frame
            row[:] = move_parameters(row, T[:3, :3], T[:3, 3])
        table.setflags(write=False)
        return table

    @cached_property
    def size(self) -> float:
        """A length [m] that the robot's own lengths are compared with: the sum of its link lengths, or 1.

        Lengths that no number can be divided by are none.
        """
        first = 0 if self.floating or self.parents.count(-1) > 1 else 1
        lengths = sum(abs(j.a) + abs(j.d) + abs(j.b) for j in self.joints[first:])
        return lengths if lengths > 1 / LONGEST else 1.0

    def with_parameters(self, table: Numbers) -> Arm:
        """The same robot with other inertial parameters, (links, 10) about the internal frames; no physics asked.

        The numbers need not be those of possible bodies. A DataFrame may have its columns (m, mcx ...) and its
        rows (names of links) in any order.

        Parameters
        ----------
        table : array_like (links, 10)
            M, mcx, mcy, mcz, Ixx, Ixy, Iyy, Ixz, Iyz, Izz of each link about its internal
            frame.

        Returns
        -------
        Arm
            A robot with these parameters; this one is not changed.

        Examples
        --------
        >>> heavier = arm.with_parameters(1.1 * arm.parameters)
        >>> heavier.parameters[:, 0].round(3)
        array([4.4, 4.4])
        """
        names = self.link_names
        rows = numbers("parameters", table, (len(names), 10), PARAMETER_NAMES, names).tolist()
        floating = Body(parameters=tuple(rows.pop(0))) if self.floating else None
        joints = (j.with_parameters(p) for j, p in zip(self.joints, rows, strict=True))
        return replace(self, joints=tuple(joints), floating=floating)

    def with_payload(
        self,
        mass: float,
        com: Numbers = (0, 0, 0),
        inertia: Numbers = ((0.0,) * 3,) * 3,
        tool: str | None = None,
    ) -> Arm:
        """The robot carrying a rigid payload, given in the tool frame (inertia about its centre of mass).

        Parameters
        ----------
        mass : float
            Mass [kg].
        com : array_like (3,)
            Centre of mass in the frame of the tool [m].
        inertia : array_like (3, 3)
            Inertia about the centre of mass [kg m^2].
        tool : str, optional
            The name of the tool that carries it, where there are several.

        Returns
        -------
        Arm
            The robot with the payload as a part of the link that carries it.

        Examples
        --------
        >>> loaded = arm.with_payload(1.5, com=(0, 0, 0.1))
        >>> round(loaded.parameters[:, 0].sum() - arm.parameters[:, 0].sum(), 6)
        np.float64(1.5)
        """
        load = Joint(mass=mass, com=com, inertia=inertia, name="payload")
        assert load.parameters is not None
        carrier = self.tool_named(tool)
        T = carrier.matrix
        table = self.parameters.copy()
        if carrier.joint < 0 and not self.floating:
            return self  # what stands on a fixed base moves nothing
        row = len(table) - self.n + carrier.joint
        table[row] += move_parameters(load.parameters, T[:3, :3], T[:3, 3])
        return self.with_parameters(table)

    def tool_named(self, name: str | None = None) -> Tool:
        """A tool by its name; the only one where no name is given.

        Parameters
        ----------
        name : str, optional
            Name of a tool; may be left out where there is only one.

        Returns
        -------
        Tool
            The tool.

        Examples
        --------
        >>> arm.tool_named().joint
        1
        """
        tools = self.all_tools
        if name is None and len(tools) == 1:
            return tools[0]
        known = [tool.name for tool in tools]
        if name is not None and not isinstance(name, str):
            raise KindError(f"tool is {shown(name)}; give the name of a tool")
        if name is None:
            way = f"name one of {known}" if known else "load it with tools=['link', ...]"
            raise InputError(f"robot '{self.name}' has {len(tools)} tools; {way}")
        if name not in known:
            raise UnknownName("tool", name, known)
        return tools[known.index(name)]

    @cached_property
    def all_tools(self) -> tuple[Tool, ...]:
        """The tools by name; of a chain without any the frame at the end of its last link."""
        if self.tools is not None:
            return tuple(self.tools)
        return () if self.branched else (Tool("tool", self.n - 1, self.tool),)

    def check(self) -> list[str]:
        """Every physical doubt about the arm's numbers, one sentence each.

        Joints that the robot's file has beyond this arm, and rounded numbers that were taken as exact, are
        listed as well.

        Returns
        -------
        list[str]
            The sentences; empty where nothing is doubtful.

        Examples
        --------
        >>> arm.check()
        []
        >>> dynarm.Arm([dynarm.Joint(mass=1.0, inertia=np.diag([1, 1, 5]), name="odd")]).check()[0]
        "link of joint 'odd': principal moments 1, 1, 5 violate the triangle inequality; no body has them"
        """
        from .doubts import all_doubts

        origin = self.origin
        return [*all_doubts(self), *((*origin.held, *origin.snapped) if origin else ())]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the arm to x.toml, x.urdf or x.xml (MJCF); nothing is left half-written.

        Parameters
        ----------
        path : path-like
            Where to; x.toml, x.urdf or x.xml (MJCF).

        Examples
        --------
        >>> arm.save("lift.toml")
        >>> dynarm.load("lift.toml") == arm
        True
        """
        from .files import save

        save(self, path)

    def update_mjcf(
        self,
        original: str | os.PathLike[str],
        new: str | os.PathLike[str],
        force: bool = False,
        packages: Mapping[str, str | os.PathLike[str]] | None = None,
    ) -> tuple[str, ...]:
        """Write the MJCF model that the robot came from with its inertials, armature, damping and frictionloss now.

        Everything else stays as it was; the rules are those of `update_urdf`. Values that a class or an included file
        gave are written into the body and joint themselves, in the new file.

        Parameters
        ----------
        original : path-like
            The MJCF file that the robot was loaded from.
        new : path-like
            The file to write.
        force : bool, default False
            Allow `new` to be the original itself.
        packages : Mapping[str, path-like], optional
            {name: folder, ...}: further folders that the model's files are in, as `load` takes them.

        Returns
        -------
        tuple[str, ...]
            What a reader of the new file should know, one sentence each.

        Examples
        --------
        >>> arm.save("lift.xml")
        >>> loaded = dynarm.load("lift.xml")
        >>> notes = loaded.with_parameters(1.1 * loaded.parameters).update_mjcf("lift.xml", "new.xml")
        """
        from .update import update_mjcf

        return update_mjcf(self, original, new, force, packages)

    def update_urdf(
        self,
        original: str | os.PathLike[str],
        new: str | os.PathLike[str],
        force: bool = False,
        xacro: Mapping[str, str | float] | None = None,
        packages: Mapping[str, str | os.PathLike[str]] | None = None,
    ) -> tuple[str, ...]:
        """Write the URDF that the robot came from with its inertias and friction now; all else stays as it was.

        A link to which others are fixed takes the whole of the change; where that is impossible a warning says
        so, and the nearest possible is written. Of a .xacro file the expanded text is written.

        Parameters
        ----------
        original : path-like
            The URDF or xacro file that the robot was loaded from.
        new : path-like
            The file to write.
        force : bool, default False
            Allow `new` to be the original itself.
        xacro : Mapping[str, str | float], optional
            Arguments of a .xacro file, as for `dynarm.load`.
        packages : Mapping[str, path-like], optional
            Folders of packages that a .xacro file includes from, as for `dynarm.load`.

        Returns
        -------
        tuple[str, ...]
            What a reader of the new file should know, one sentence each.

        Examples
        --------
        >>> arm.save("lift.urdf")
        >>> loaded = dynarm.load("lift.urdf")
        >>> notes = loaded.with_payload(0.5).update_urdf("lift.urdf", "loaded.urdf")
        """
        from .update import update_urdf

        return update_urdf(self, original, new, force, xacro, packages)
