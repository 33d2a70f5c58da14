"""A URDF file as links and joints: a small reader of the parts that dynamics needs.

Visuals, collisions, meshes, materials and extensions of other programs are skipped unread. Numbers that were meant to
be exact are taken as such where that is asked for (`frames/snap.py`): angles of all origins, axes, offsets of joints.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ...border.digits import words, written
from ...border.kinds import Outside
from ...errors import FormatError, ModelError
from ..arm import Arm
from ..frames.poses import exact_cos_sin
from ..frames.snap import (
    Snapped,
    exact_angle,
    exact_axis,
    exact_offset,
    is_noted,
    meaning,
)
from ..inertia import move_parameters, pack_parameters
from .elements import Element, parse
from .tree import Follow, Tree, TreeJoint
from .urdf_text import LARGEST, MAX_NAME
from .whole import arm_of_tree

MAX_PARTS = 10_000  # links and joints together
ENDLESS = 1e300  # limits beyond it mean that there is none
MOVABLE = ("revolute", "continuous", "prismatic", "floating", "planar")
SKIPPED = frozenset(
    ("visual", "collision", "material", "gazebo", "transmission", "sensor", "ros2_control")
)
_OTHER_ROOTS = {
    "mujoco": "a MuJoCo MJCF file; export a URDF",
    "sdf": "an SDF file; convert it to a URDF",
    "gazebo": "an SDF file; convert it to a URDF",
    "COLLADA": "a COLLADA file; give the robot's URDF",
}


def arm_of_urdf(
    content: bytes,
    source: str,
    *,
    base: str | None = None,
    tip: str | None = None,
    joints: Sequence[str] | None = None,
    gravity: Outside = (0.0, 0.0, -9.81),
    allow_massless: bool = False,
    freeze: Outside = True,
    floating: bool | None = False,
    tools: Sequence[str] | None = None,
    snap: bool = True,
    mimic: bool = True,
) -> Arm:
    """The robot of a URDF document, or its chain to link tip; source names it in messages.

    floating=None: where nothing else moves.
    """
    try:
        tree = read_tree(content, source, snap)
        # what has no joint is a body, such as a drone: fixed to the ground it would be no robot
        free = not any(j.movable for j in tree.above.values()) if floating is None else floating
        return arm_of_tree(
            tree, base, tip, joints, gravity, allow_massless, freeze, free, tools, mimic
        )
    except (FormatError, ModelError) as error:
        # a file's names may hold line ends and what drives a terminal; a message is one line to be read
        raise type(error)(_visible(str(error))) from None


def _visible(text: str) -> str:
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def read_tree(content: bytes, source: str, snap: bool = False) -> Tree:
    """All links and joints of a URDF document, checked to be one tree; snap: rounded numbers are taken as exact."""
    root = parse(content, source, SKIPPED)
    if root.tag in _OTHER_ROOTS:
        raise FormatError(f"{source} is {_OTHER_ROOTS[root.tag]}")
    if root.tag != "robot":
        raise FormatError(f"{source}: the root element is <{root.tag}>, not <robot>; give a URDF")
    count = sum(child.tag in ("link", "joint") for child in root.children)
    if count > MAX_PARTS:
        raise FormatError(f"{source} has {count} links and joints; at most {MAX_PARTS} are read")
    written = _tree(root, _Reader(source))
    if not snap:
        return written
    offsets = (joint.placement[:3, 3] for joint in written.above.values())
    reader = _Reader(source, True, max((float(np.abs(p).max()) for p in offsets), default=0.0))
    tree = _tree(root, reader)
    tree.exact = True
    if reader.snapped:
        tree.snapped, tree.written = tuple(reader.snapped), written
    return tree


def _tree(root: Element, reader: _Reader) -> Tree:
    links = [reader.link(e) for e in root.all("link")]
    joints = [reader.joint(e) for e in root.all("joint")]
    name = reader.name(root).strip() if root.attributes.get("name", "").strip() else "robot"
    return Tree(name, reader.source, links, joints)


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads elements and says in which line something is wrong; what it takes as exact it writes down."""

    source: str
    snap: bool = False
    largest: float = 0.0  # of the offsets of all joints
    snapped: list[Snapped] = field(default_factory=list)

    def error(self, element: Element, text: str) -> FormatError:
        return FormatError(f"{self.source}, line {element.line}: {text}")

    def name(self, element: Element, key: str = "name") -> str:
        value = element.attributes.get(key, "")
        if not value.strip():
            raise self.error(element, f"<{element.tag}> has no {key}; give it one")
        if len(value) > MAX_NAME:
            start = f"{key} of <{element.tag}> begins with '{value[:40]}'"
            raise self.error(element, f"{start} and is longer than {MAX_NAME} letters; shorten it")
        return value

    def numbers(
        self,
        element: Element,
        key: str,
        count: int,
        default: str | None = None,
        largest: float = LARGEST,
    ) -> np.ndarray:
        """The numbers of an attribute, all of them finite and no larger than arithmetic can bear."""
        text = element.attributes.get(key, default)
        if text is None:
            raise self.error(
                element, f"<{element.tag}> has no {key}; give {count} number{'s' * (count > 1)}"
            )
        try:
            values = [written(word) for word in words(text)]
            sound = all(math.isfinite(value) and abs(value) <= largest for value in values)
            if len(values) != count or not sound:
                raise ValueError
        except ValueError:
            shown = text if len(text) <= 60 else text[:57] + "..."
            wanted = f"{count} finite number" + ("s, separated by spaces" if count > 1 else "")
            if "${" in text:
                wanted = "numbers; this is a xacro expression, expand the file first"
            raise self.error(element, f'<{element.tag} {key}="{shown}">: give {wanted}') from None
        return np.array(values)

    def number(self, element: Element, key: str, default: str | None = None) -> float:
        return float(self.numbers(element, key, 1, default)[0])

    def origin(self, element: Element, owner: str) -> np.ndarray:
        """The pose in the <origin> of an element of a joint or link; identity where it has none."""
        T = np.eye(4)
        origin = element.first("origin")
        if origin is not None:
            xyz = self.numbers(origin, "xyz", 3, "0 0 0")
            rpy = self.numbers(origin, "rpy", 3, "0 0 0")
            if self.snap:
                self._take_exact(origin, owner, rpy, xyz if element.tag == "joint" else None)
            T[:3, 3] = xyz
            T[:3, :3] = rpy_rotation(*rpy)
        return T

    def _take_exact(
        self, origin: Element, owner: str, rpy: np.ndarray, xyz: np.ndarray | None
    ) -> None:
        """Replace angles, and offsets of a joint, that were meant to be exact; centres of mass stay."""
        for k, text in enumerate(words(origin.attributes.get("rpy", ""))):
            angle = exact_angle(text)
            if angle is not None:
                rpy[k] = angle
                self._note(owner, text, angle, meaning(angle))
        if xyz is None:
            return
        for k, text in enumerate(words(origin.attributes.get("xyz", ""))):
            offset = exact_offset(text, self.largest)
            if offset is not None:
                xyz[k] = offset
                self._note(owner, text, offset, "0 m")

    def _note(self, owner: str, text: str, exact: float, meant: str) -> None:
        if is_noted(text, exact):
            self.snapped.append(Snapped(owner, text, meant))

    def _axis(self, element: Element | None, owner: str) -> np.ndarray:
        if element is None:
            return np.array([1.0, 0.0, 0.0])
        axis = self.numbers(element, "xyz", 3, "1 0 0")
        exact = exact_axis(axis.tolist()) if self.snap else None
        if exact is None:
            return axis
        along = f"the axis {'xyz'[int(np.argmax(np.abs(exact)))]}"
        for text, number in zip(words(element.attributes["xyz"]), exact.tolist(), strict=True):
            self._note(owner, text, number, along)
        return exact

    def link(self, element: Element) -> tuple[str, np.ndarray | None]:
        """Name and ten inertial parameters about the link frame of a <link>; None without <inertial>."""
        name = self.name(element)
        inertial = element.first("inertial")
        if inertial is None:
            return name, None
        T = self.origin(inertial, name)
        mass_element, tensor_element = inertial.first("mass"), inertial.first("inertia")
        mass = self.number(mass_element, "value") if mass_element is not None else 0.0
        if mass < 0:
            assert mass_element is not None
            raise self.error(
                mass_element, f"link '{name}' has mass {mass}; a mass cannot be negative"
            )
        I = np.zeros((3, 3))
        if tensor_element is not None:
            for i, j, key in (
                (0, 0, "ixx"),
                (0, 1, "ixy"),
                (0, 2, "ixz"),
                (1, 1, "iyy"),
                (1, 2, "iyz"),
                (2, 2, "izz"),
            ):
                I[i, j] = I[j, i] = self.number(tensor_element, key, None if i == j else "0")
        return name, move_parameters(pack_parameters(mass, np.zeros(3), I), T[:3, :3], T[:3, 3])

    def joint(self, element: Element) -> TreeJoint:
        name = self.name(element)
        kind = element.attributes.get("type", "")
        if kind not in (*MOVABLE, "fixed"):
            raise self.error(
                element,
                f"joint '{name}' has type '{kind[:40]}'; one of {', '.join((*MOVABLE, 'fixed'))}",
            )
        ends = []
        for tag in ("parent", "child"):
            end = element.first(tag)
            if end is None:
                raise self.error(element, f"joint '{name}' has no <{tag}>; give one")
            ends.append(self.name(end, "link"))
        position, velocity, effort = self._limits(element)
        dynamics = element.first("dynamics")
        damping, friction = (
            self.number(dynamics, key, "0") if dynamics is not None else 0.0
            for key in ("damping", "friction")
        )
        return TreeJoint(
            name,
            kind,
            parent=ends[0],
            child=ends[1],
            placement=self.origin(element, name),
            axis=self._axis(element.first("axis"), name),
            position_limits=position if kind in ("revolute", "prismatic") else None,
            velocity_limit=velocity,
            effort_limit=effort,
            damping=damping,
            friction=friction,
            mimic=self._follow(element.first("mimic")),
        )

    def _follow(self, element: Element | None) -> Follow | None:
        """The coupling of a <mimic>."""
        if element is None:
            return None
        return Follow(
            self.name(element, "joint"),
            self.number(element, "multiplier", "1"),
            self.number(element, "offset", "0"),
        )

    def _limits(
        self, element: Element
    ) -> tuple[tuple[float, float] | None, float | None, float | None]:
        """Position, velocity and effort limits; infinite ones are none."""
        limit = element.first("limit")
        if limit is None:
            return None, None, None
        bounds: dict[str, float | None] = {}
        for key in ("lower", "upper", "velocity", "effort"):
            text = limit.attributes.get(key, "inf").strip().lower()
            if text.lstrip("+-") in ("inf", "infinity"):
                value = None
            else:
                value = float(self.numbers(limit, key, 1, largest=math.inf)[0])
            bounds[key] = None if value is None or abs(value) >= ENDLESS else value
        position = None
        if {"lower", "upper"} & limit.attributes.keys():
            # an omitted end is 0 in a URDF; an infinite one has no place in a pair of numbers
            low, high = (
                bounds[key] if key in limit.attributes else 0.0 for key in ("lower", "upper")
            )
            position = None if low is None or high is None else (low, high)
        return position, bounds["velocity"], bounds["effort"]


def rotation_of(element: Element, owner: str, source: str, snap: bool) -> np.ndarray:
    """The rotation in the <origin> of an element of a joint or link, as `read_tree` reads it."""
    rotation: np.ndarray = _Reader(source, snap).origin(element, owner)[:3, :3]
    return rotation


def rpy_rotation(roll: float, pitch: float, yaw: float) -> np.ndarray:
    """Rz(yaw) Ry(pitch) Rx(roll); quarter turns, as float64 writes them, are exact."""
    (cr, sr), (cp, sp), (cy, sy) = (exact_cos_sin(float(x)) for x in (roll, pitch, yaw))
    return np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )
