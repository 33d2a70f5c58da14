"""A URDF file as links and joints: a small reader of the parts that dynamics needs.

The XML parser is expat with every door shut: a DOCTYPE, and with it any entity, is refused before it is read, nothing
is fetched, no other file is opened, nesting is limited. Visuals, collisions, meshes, materials and extensions of other
programs are skipped unread.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from xml.parsers import expat

import numpy as np

from ...border.digits import words, written
from ...border.kinds import Outside
from ...errors import FormatError, ModelError
from ..arm import Arm
from ..frames.poses import exact_cos_sin
from ..inertia import move_parameters, pack_parameters
from .tree import Follow, Tree, TreeJoint
from .whole import arm_of_tree

MAX_DEPTH = 100
MAX_ELEMENTS = 200_000
MAX_PARTS = 10_000  # links and joints together
MAX_NAME = 1000  # letters
LARGEST = 1e50  # of lengths, masses and inertias: their products must not overflow
ENDLESS = 1e300  # limits beyond it mean that there is none
MOVABLE = ("revolute", "continuous", "prismatic", "floating", "planar")
_SKIPPED = frozenset(
    ("visual", "collision", "material", "gazebo", "transmission", "sensor", "ros2_control")
)
_OTHER_ROOTS = {
    "mujoco": "a MuJoCo MJCF file; export a URDF",
    "sdf": "an SDF file; convert it to a URDF",
    "gazebo": "an SDF file; convert it to a URDF",
    "COLLADA": "a COLLADA file; give the robot's URDF",
}


@dataclass(slots=True, eq=False)
class Element:
    """An XML element: tag, attributes and children; text between tags has no meaning in a URDF."""

    tag: str
    attributes: dict[str, str]
    line: int
    children: list[Element] = field(default_factory=list)

    def all(self, tag: str) -> Iterator[Element]:
        return (child for child in self.children if child.tag == tag)

    def first(self, tag: str) -> Element | None:
        return next(self.all(tag), None)


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
    floating: bool = False,
    tools: Sequence[str] | None = None,
) -> Arm:
    """The robot of a URDF document, or its chain to link tip; source names it in messages."""
    try:
        tree = read_tree(content, source)
        return arm_of_tree(
            tree, base, tip, joints, gravity, allow_massless, freeze, floating, tools
        )
    except (FormatError, ModelError) as error:
        # a file's names may hold line ends and what drives a terminal; a message is one line to be read
        raise type(error)(_visible(str(error))) from None


def _visible(text: str) -> str:
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


class _Builder:
    """Receives expat's events and keeps the elements that somebody may read."""

    def __init__(self, source: str, skipped: frozenset[str]) -> None:
        self.source, self.skipped = source, skipped
        self.root: Element | None = None
        self.open: list[Element] = []
        self.depth = self.kept = 0
        self.skipping = 0  # depth at which an element that nobody reads began, or 0
        self.parser = expat.ParserCreate()
        self.parser.StartElementHandler, self.parser.EndElementHandler = self.start, self.end
        self.parser.StartDoctypeDeclHandler = self.parser.EntityDeclHandler = self.refuse
        self.parser.ExternalEntityRefHandler = self.parser.UnparsedEntityDeclHandler = self.refuse
        self.parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        line = self.parser.CurrentLineNumber
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise FormatError(
                f"{self.source}, line {line}: elements nested deeper than {MAX_DEPTH}"
            )
        if tag.startswith("xacro:"):
            raise FormatError(
                f"{self.source}, line {line}: <{tag}> is a xacro macro; expand the file first: "
                "xacro file > robot.urdf"
            )
        if self.skipping or tag in self.skipped:
            self.skipping = self.skipping or self.depth
            return
        self.kept += 1
        if self.kept > MAX_ELEMENTS:
            raise FormatError(
                f"{self.source} has more than {MAX_ELEMENTS} elements; a robot has fewer"
            )
        element = Element(tag, attributes, line)
        if self.open:
            self.open[-1].children.append(element)
        else:
            self.root = element
        self.open.append(element)

    def end(self, tag: str) -> None:
        if not self.skipping:
            self.open.pop()
        elif self.depth == self.skipping:
            self.skipping = 0
        self.depth -= 1

    def refuse(self, *_: Outside) -> Outside:
        raise FormatError(
            f"{self.source} declares a DOCTYPE or an entity; a URDF needs none, remove it"
        )


def parse(content: bytes, source: str, skipped: frozenset[str] = _SKIPPED) -> Element:
    """The root element of an XML document without a DOCTYPE; elements to be skipped are not in it."""
    builder = _Builder(source, skipped)
    try:
        builder.parser.Parse(content, True)
    except FormatError:
        raise
    except expat.ExpatError as error:
        raise FormatError(f"{source} is not well-formed XML: {error}; mend that place") from None
    except (LookupError, ValueError) as error:
        raise FormatError(
            f"{source} has an encoding that cannot be read: {error}; save it as UTF-8"
        ) from None
    if builder.root is None:
        raise FormatError(f"{source} holds no element; give a URDF")
    return builder.root


def read_tree(content: bytes, source: str) -> Tree:
    """All links and joints of a URDF document, checked to be one tree."""
    root = parse(content, source)
    if root.tag in _OTHER_ROOTS:
        raise FormatError(f"{source} is {_OTHER_ROOTS[root.tag]}")
    if root.tag != "robot":
        raise FormatError(f"{source}: the root element is <{root.tag}>, not <robot>; give a URDF")
    count = sum(child.tag in ("link", "joint") for child in root.children)
    if count > MAX_PARTS:
        raise FormatError(f"{source} has {count} links and joints; at most {MAX_PARTS} are read")
    reader = _Reader(source)
    links = [reader.link(e) for e in root.all("link")]
    joints = [reader.joint(e) for e in root.all("joint")]
    name = root.attributes.get("name", "").strip() or "robot"
    return Tree(name, source, links, joints)


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads elements and says in which line something is wrong."""

    source: str

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

    def origin(self, element: Element) -> np.ndarray:
        """The pose in the <origin> of an element; identity where it has none."""
        T = np.eye(4)
        origin = element.first("origin")
        if origin is not None:
            T[:3, 3] = self.numbers(origin, "xyz", 3, "0 0 0")
            T[:3, :3] = rpy_rotation(*self.numbers(origin, "rpy", 3, "0 0 0"))
        return T

    def link(self, element: Element) -> tuple[str, np.ndarray | None]:
        """Name and ten inertial parameters about the link frame of a <link>; None without <inertial>."""
        name = self.name(element)
        inertial = element.first("inertial")
        if inertial is None:
            return name, None
        T = self.origin(inertial)
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
        axis_element = element.first("axis")
        axis = (
            np.array([1.0, 0.0, 0.0])
            if axis_element is None
            else self.numbers(axis_element, "xyz", 3, "1 0 0")
        )
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
            placement=self.origin(element),
            axis=axis,
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
