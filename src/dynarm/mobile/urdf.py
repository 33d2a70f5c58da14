"""A mobile manipulator out of one URDF: which of its links are wheels and casters, and everything else as the arm.

A wheel is a link on a joint that turns it (continuous, or revolute) about a level axis and whose joint or link is
called a wheel, or whose collision shape is a cylinder or sphere that touches the ground. Casters are told by their
names; they count as points that carry weight, and their mass stays with the platform. The ground lies below the lowest
wheel. A steering joint is one with an upright axis between platform and wheel; other joints there are suspensions,
held at zero.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from ..border.arguments import among
from ..border.digits import words, written
from ..border.kinds import Outside
from ..border.toml import known_keys
from ..border.words import shown
from ..errors import InputError, KindError, ModelError, UnknownName
from ..robot.arm import Arm
from ..robot.formats.elements import Element, parse
from ..robot.formats.tree import Tree, TreeJoint, listed
from ..robot.formats.urdf import SKIPPED, read_tree
from ..robot.formats.whole import arm_of_tree
from ..robot.inertia import move_parameters, pack_parameters, unpack_parameters
from .platform import KINDS, Base, Platform, Wheel
from .robot import MobileManipulator

_LEVEL = 1e-3  # of a unit axis, along the vertical
_GROUND = 0.01  # [m] that a wheel may be off the ground
DECLARED = ("kind", "stiffness", "roller", "slide", "trail", "driven", "ratio")
DECLARE = 'declare them: wheels={"joint or link": "fixed", ...} or a list of mobile.Wheel in the axes of the root link'


@dataclass(frozen=True, slots=True, eq=False)
class _Mark:
    """A link that touches the ground: its joint, its pose in the root link, its radius if the file tells, its kind."""

    joint: TreeJoint
    pose: np.ndarray
    radius: float | None
    kind: str
    more: Mapping[str, Outside] = field(default_factory=dict)  # what was declared besides

    @property
    def name(self) -> str:
        return self.joint.name.removesuffix("_joint")

    @property
    def axis(self) -> np.ndarray:
        """Of the axle, in the root link."""
        axis: np.ndarray = self.pose[:3, :3] @ self.joint.axis
        return axis / (np.linalg.norm(axis) or 1.0)

    @property
    def level(self) -> bool:
        return abs(float(self.axis[2])) < _LEVEL


def robot_of_urdf(
    content: bytes,
    source: str,
    wheels: Outside = None,
    tip: str | None = None,
    friction: bool = False,
    snap: bool = True,
) -> MobileManipulator:
    """The mobile manipulator of a URDF document."""
    tree = read_tree(content, source, snap)
    if tip is not None:
        tree.check_link("tip", tip)
    poses = _poses(tree)
    marks, records = _declared(tree, poses, wheels, _radii(content, source))
    if not marks and not records:
        raise ModelError(f"{source}: no link of it is a wheel by name, axis and shape; {DECLARE}")
    ground = _ground(source, marks)
    made = [_wheel(tree, mark, ground) for mark in marks] + records
    arm = _arm(tree, [mark.joint for mark in marks], tip)
    body = _body(arm, poses, tree, marks, made)
    mass, com, inertia = unpack_parameters(body)
    if not mass > 0:
        raise ModelError(
            f"{source}: the platform has no mass apart from its wheels; give the base link an <inertial>"
        )
    assert arm.origin is not None
    mount = np.eye(4)
    mount[:3, 3] = -com
    return MobileManipulator(
        Platform(mass, inertia, float(com[2] - ground)),
        tuple(replace(w, x=w.x - com[0], y=w.y - com[1]) for w in made),
        Base(mount=mount),
        replace(arm, origin=replace(arm.origin, base=None)),
        friction=friction,
        name=tree.name,
    )


def _poses(tree: Tree) -> dict[str, np.ndarray]:
    """Every link in the root link, all joints at zero."""
    poses = {tree.root: np.eye(4)}
    for joint in tree.outwards(tree.root):
        poses[joint.child] = poses[joint.parent] @ joint.placement
    return poses


def _radii(content: bytes, source: str) -> dict[str, float]:
    """Radius of the first cylinder or sphere among each link's collision shapes, else its visual ones."""
    kept = SKIPPED - {"collision", "visual"}
    radii: dict[str, float] = {}
    for link in parse(content, source, kept).all("link"):
        shapes = [*link.all("collision"), *link.all("visual")]
        sizes = [size for shape in shapes for size in _sizes(shape)]
        if sizes:
            radii[link.attributes.get("name", "")] = sizes[0]
    return radii


def _sizes(shape: Element) -> list[float]:
    geometry = shape.first("geometry")
    sizes = []
    for kind in () if geometry is None else geometry.children:
        text = words(kind.attributes.get("radius", ""))
        if kind.tag in ("cylinder", "sphere") and len(text) == 1:
            try:
                sizes.append(written(text[0]))
            except ValueError:
                continue
    return [size for size in sizes if 0 < size < np.inf]


# ---- which links


def _declared(
    tree: Tree, poses: Mapping[str, np.ndarray], wheels: Outside, radii: Mapping[str, float]
) -> tuple[list[_Mark], list[Wheel]]:
    """The links that are wheels, recognised or named, and the wheels that were given as records."""
    if wheels is None:
        return _recognised(tree, poses, radii), []
    if isinstance(wheels, (str, Wheel)) or not isinstance(wheels, Iterable):
        raise KindError(f"wheels is {shown(wheels)}; {DECLARE}")
    given = list(wheels.items()) if isinstance(wheels, Mapping) else [(w, None) for w in wheels]
    marks, records = [], []
    for entry, kind in given:
        if isinstance(entry, Wheel):
            records.append(entry)
            continue
        joint = _named(tree, entry)
        more = (
            dict(known_keys(kind, DECLARED, f"wheel '{entry}'"))
            if isinstance(kind, Mapping)
            else {}
        )
        kind = more.pop("kind", None) if isinstance(kind, Mapping) else kind
        if kind is not None and not among(kind, KINDS):
            raise InputError(f"wheel '{entry}' is {shown(kind)}; choose one of {', '.join(KINDS)}")
        mark = _Mark(joint, poses[joint.child], radii.get(joint.child), "fixed")
        usual = "caster" if _caster(mark) else _steered(tree, poses, joint)
        marks.append(replace(mark, kind=kind or usual, more=more))
    return marks, records


def _named(tree: Tree, entry: Outside) -> TreeJoint:
    if not isinstance(entry, str):
        raise KindError(f"wheels holds {shown(entry)}; {DECLARE}")
    joint = tree.joints.get(entry) or tree.above.get(entry)
    if joint is None:
        raise UnknownName("joint or link for wheels", entry, [*tree.joints, *tree.above])
    return joint


def _recognised(
    tree: Tree, poses: Mapping[str, np.ndarray], radii: Mapping[str, float]
) -> list[_Mark]:
    """Wheels by name, axis and shape; casters by name, each by the outermost link of it that has a radius."""
    marks, casters = [], {}
    for joint in tree.outwards(tree.root):
        mark = _Mark(joint, poses[joint.child], radii.get(joint.child), "fixed")
        if _caster(mark):
            casters[_caster_of(tree, joint)] = replace(mark, kind="caster")
        elif _rolls(tree, mark):
            marks.append(replace(mark, kind=_steered(tree, poses, joint)))
    own = [mark.name for mark in marks if mark.kind == "steered"]
    if len(own) > 1:
        raise ModelError(
            f"{tree.source}: wheels {listed(own)} are steered each by a joint of its own, and there is one steering "
            "angle phi; say what they are: wheels={'joint': 'swerve', ...}, or how they are held: 'fixed'"
        )
    return [*marks, *casters.values()]


def _caster(mark: _Mark) -> bool:
    return any("caster" in name.lower() for name in (mark.joint.name, mark.joint.child))


def _caster_of(tree: Tree, joint: TreeJoint) -> str:
    """The innermost link of the caster that a joint belongs to."""
    link = joint.child
    while link in tree.above and "caster" in tree.above[link].parent.lower():
        link = tree.above[link].parent
    return link


def _rolls(tree: Tree, mark: _Mark) -> bool:
    joint = mark.joint
    if joint.kind not in ("continuous", "revolute") or not mark.level or joint.mimic:
        return False
    if "wheel" in f"{joint.name} {joint.child}".lower():
        return True
    outermost = not any(below.movable for below in tree.below[joint.child])
    return joint.kind == "continuous" and outermost and mark.radius is not None and _low(mark)


def _low(mark: _Mark) -> bool:
    """Whether a nameless wheel could stand on the ground of the root link."""
    assert mark.radius is not None
    return abs(float(mark.pose[2, 3]) - mark.radius) < _GROUND


def _steered(tree: Tree, poses: Mapping[str, np.ndarray], joint: TreeJoint) -> str:
    """ "steered" where a joint with an upright axis stands between root and wheel, else "fixed"."""
    for above in tree.path(tree.root, joint.parent) if joint.parent != tree.root else ():
        if above.kind in ("revolute", "continuous"):
            axis = poses[above.child][:3, :3] @ above.axis
            if abs(axis[2]) > (1 - _LEVEL) * float(np.linalg.norm(axis)):
                return "steered"
    return "fixed"


# ---- what becomes of them


def _ground(source: str, marks: list[_Mark]) -> float:
    """Height of the ground in the root link: below the wheels, which must all stand on it."""
    known = [m for m in marks if m.radius is not None]
    if not marks:
        return 0.0
    if not known:
        names = listed([m.name for m in marks])
        raise ModelError(
            f"{source}: wheels {names} have no cylinder or sphere that tells their radius; {DECLARE}"
        )
    heights = {m.name: float(m.pose[2, 3]) - float(m.radius or 0.0) for m in known}
    first = [m for m in known if m.kind != "caster"] or known
    ground = min(heights[m.name] for m in first)
    off = [name for name, height in heights.items() if abs(height - ground) > _GROUND]
    if off:
        gap = 1000 * (heights[off[0]] - ground)
        raise ModelError(
            f"{source}: {listed(off)} stands {gap:.0f} mm above the ground of the other wheels; {DECLARE}"
        )
    return ground


def _wheel(tree: Tree, mark: _Mark, ground: float) -> Wheel:
    x, y, z = mark.pose[:3, 3]
    radius = float(z - ground)  # of casters and wheels alike: the centre stands so high
    if not radius > 0:
        raise ModelError(
            f"{tree.source}: the centre of wheel '{mark.name}' is not above the ground; {DECLARE}"
        )
    if mark.kind == "caster":
        return Wheel(x, y, radius, kind="caster", name=mark.name, **mark.more)
    if not mark.level:
        raise ModelError(
            f"{tree.source}: the axis of wheel '{mark.name}' is not level; declare it a caster or leave it out"
        )
    # the axle is y of a wheel that rolls along its x, forwards
    angle = float(np.arctan2(-mark.axis[0], mark.axis[1]))
    if abs(angle) > np.pi / 2 + 1e-9:
        angle -= np.copysign(np.pi, angle)
    if mark.kind == "swerve":
        angle = 0.0  # it turns itself
    own = tree.inertias[mark.joint.child]
    mass, _, inertia = unpack_parameters(np.zeros(10) if own is None else own)
    axis = mark.joint.axis / np.linalg.norm(mark.joint.axis)
    spin = float(axis @ inertia @ axis)
    turn = float(np.trace(inertia) - spin) / 2
    return Wheel(
        x,
        y,
        radius,
        mass,
        mark.kind,
        0.0 if abs(angle) < 1e-9 else angle,
        spin=spin,
        turn=turn,
        name=mark.name,
        **mark.more,
    )


def _arm(tree: Tree, joints: list[TreeJoint], tip: str | None) -> Arm:
    """The joints that are no part of wheels; those that follow others are held, with those that they follow."""
    held = {}
    for joint in joints:
        for step in [*tree.path(tree.root, joint.child)]:
            if step.movable:
                held[step.name] = 0.0
        for link in tree.under(joint.child):
            held |= {below.name: 0.0 for below in tree.below[link] if below.movable}
    if tip is None:
        for joint in tree.above.values():
            if joint.mimic is not None:
                held |= {joint.name: 0.0, joint.mimic.joint: 0.0}
    left = [j.name for j in tree.above.values() if j.movable and j.name not in held]
    if not left:
        raise ModelError(
            f"{tree.source}: apart from its wheels it has no joints; a mobile manipulator has an arm"
        )
    freeze = {name: value for name, value in held.items() if name in tree.joints}
    arm = arm_of_tree(tree, tip=tip, freeze=freeze, allow_massless=True)
    if not arm.branched:
        return arm
    assert arm.origin is not None
    reach = {link: _depth(arm, i) for i, link in enumerate(arm.origin.links)}
    tool = max(reach, key=lambda link: reach[link])
    return arm_of_tree(tree, tip=tip, freeze=freeze, allow_massless=True, tools=[tool])


def _depth(arm: Arm, i: int) -> int:
    steps = 0
    while i >= 0:
        i, steps = arm.parents[i], steps + 1
    return steps


def _body(
    arm: Arm,
    poses: Mapping[str, np.ndarray],
    tree: Tree,
    marks: list[_Mark],
    made: list[Wheel],
) -> np.ndarray:
    """Ten parameters, in the root link, of all that is rigid with it but for the wheels as they are modelled."""
    assert arm.origin is not None
    body = np.zeros(10) if arm.origin.base is None else np.array(arm.origin.base)
    for mark, wheel in zip(marks, made, strict=False):
        if wheel.kind == "caster":
            continue
        assert wheel.spin is not None and wheel.turn is not None
        c, s = np.cos(wheel.angle), np.sin(wheel.angle)
        R = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
        disk = np.diag([wheel.turn, wheel.spin, wheel.turn])
        modelled = pack_parameters(wheel.mass, np.zeros(3), disk)
        body = body - move_parameters(modelled, R, mark.pose[:3, 3])
    return body
