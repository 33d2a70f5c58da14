"""Which links of a URDF are wheels and casters, and of what kind.

A wheel is a link on a joint that turns it (continuous, or revolute) about a level axis and whose joint or link is
called a wheel, or whose collision shape is a cylinder or sphere that touches the ground. Casters are told by their
names. A steering joint is one with an upright axis between platform and wheel; other joints there are suspensions, held
at zero. Several steered wheels beside fixed ones can only roll if their axles meet: they are those of a car.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from ..border.arguments import above_zero, among, real
from ..border.digits import words, written
from ..border.kinds import Outside
from ..border.toml import known_keys
from ..border.words import shown
from ..errors import InputError, KindError, ModelError, UnknownName
from ..robot.formats.elements import Element, parse
from ..robot.formats.tree import Tree, TreeJoint, listed
from ..robot.formats.urdf import SKIPPED
from .platform import KINDS, Wheel

_LEVEL = 1e-3  # of a unit axis, along the vertical
GROUND = 0.01  # [m] that a wheel may be off the ground, or off the axis that steers it
DECLARED = ("kind", "radius", "stiffness", "roller", "slide", "trail", "driven", "ratio")
RADIUS = 'declare it: wheels={"joint or link": {"kind": "fixed", "radius": 0.1}, ...}'
DECLARE = 'declare them: wheels={"joint or link": "fixed", ...} or a list of mobile.Wheel in the axes of the root link'


@dataclass(frozen=True, slots=True, eq=False)
class Mark:
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


def declared(
    tree: Tree, poses: Mapping[str, np.ndarray], wheels: Outside, radii: Mapping[str, float]
) -> tuple[list[Mark], list[Wheel]]:
    """The links that are wheels, recognised or named, and the wheels that were given as records."""
    if wheels is None:
        return _recognised(tree, poses, radii), []
    if isinstance(wheels, (str, Wheel)) or not isinstance(wheels, Iterable):
        raise KindError(f"wheels is {shown(wheels)}; {DECLARE}")
    marks, records = [], []
    for entry, kind in (
        wheels.items() if isinstance(wheels, Mapping) else [(w, None) for w in wheels]
    ):
        if isinstance(entry, Wheel):
            records.append(entry)
        else:
            marks.append(_told(tree, poses, _named(tree, entry), entry, kind, radii))
    return marks, records


def _told(
    tree: Tree,
    poses: Mapping[str, np.ndarray],
    joint: TreeJoint,
    entry: str,
    given: Outside,
    radii: Mapping[str, float],
) -> Mark:
    """A declared wheel: a kind, a table of what it is, or None for what its joints and names say."""
    known = isinstance(given, Mapping)
    more = dict(known_keys(given, DECLARED, f"wheel '{entry}'")) if known else {"kind": given}
    kind = more.pop("kind", None)
    if kind is not None and not among(kind, KINDS):
        raise InputError(f"wheel '{entry}' is {shown(kind)}; choose one of {', '.join(KINDS)}")
    radius = radii.get(joint.child)
    if "radius" in more:
        wanted = "metres above 0"
        radius = real(f"radius of wheel '{entry}'", more.pop("radius"), wanted, above_zero)
    mark = Mark(joint, poses[joint.child], radius, "fixed")
    usual = "caster" if _caster(mark) else _steered(tree, poses, joint)
    return replace(mark, kind=kind or usual, more=more)


def _named(tree: Tree, entry: Outside) -> TreeJoint:
    if not isinstance(entry, str):
        raise KindError(f"wheels holds {shown(entry)}; {DECLARE}")
    joint = tree.joints.get(entry) or tree.above.get(entry)
    if joint is None:
        raise UnknownName("joint or link for wheels", entry, [*tree.joints, *tree.above])
    return joint


def _recognised(
    tree: Tree, poses: Mapping[str, np.ndarray], radii: Mapping[str, float]
) -> list[Mark]:
    """Wheels by name, axis and shape; casters by name, each by the outermost link of it that has a radius."""
    marks, casters = [], {}
    for joint in tree.outwards(tree.root):
        mark = Mark(joint, poses[joint.child], radii.get(joint.child), "fixed")
        if _caster(mark):
            casters[_caster_of(tree, joint)] = replace(mark, kind="caster")
        elif _rolls(tree, mark):
            marks.append(replace(mark, kind=_steered(tree, poses, joint)))
    own = [mark.name for mark in marks if mark.kind == "steered"]
    if len(own) > 1 and len(own) < len(marks):  # beside fixed ones: their axles have to meet
        marks = [replace(m, kind="ackermann") if m.kind == "steered" else m for m in marks]
    elif len(own) > 1:
        raise ModelError(
            f"{tree.source}: wheels {listed(own)} are steered each by a joint of its own, and there is one steering "
            "angle phi; say what they are: wheels={'joint': 'swerve', ...}, or how they are held: 'fixed'"
        )
    return [*marks, *casters.values()]


def _caster(mark: Mark) -> bool:
    return any("caster" in name.lower() for name in (mark.joint.name, mark.joint.child))


def _caster_of(tree: Tree, joint: TreeJoint) -> str:
    """The innermost link of the caster that a joint belongs to."""
    link = joint.child
    while link in tree.above and "caster" in tree.above[link].parent.lower():
        link = tree.above[link].parent
    return link


def _rolls(tree: Tree, mark: Mark) -> bool:
    joint = mark.joint
    if joint.kind not in ("continuous", "revolute") or not mark.level or joint.mimic:
        return False
    if "wheel" in f"{joint.name} {joint.child}".lower():
        return True
    outermost = not any(below.movable for below in tree.below[joint.child])
    return joint.kind == "continuous" and outermost and mark.radius is not None and _low(mark)


def _low(mark: Mark) -> bool:
    """Whether a nameless wheel could stand on the ground of the root link."""
    assert mark.radius is not None
    return abs(float(mark.pose[2, 3]) - mark.radius) < GROUND


def _steered(tree: Tree, poses: Mapping[str, np.ndarray], joint: TreeJoint) -> str:
    """ "steered" where a joint with an upright axis stands between root and wheel, else "fixed"."""
    return "fixed" if _column(tree, poses, joint) is None else "steered"


def _column(tree: Tree, poses: Mapping[str, np.ndarray], joint: TreeJoint) -> TreeJoint | None:
    """The joint with an upright axis between the root and a wheel that is nearest to the wheel."""
    for above in reversed(tree.path(tree.root, joint.parent) if joint.parent != tree.root else ()):
        axis = poses[above.child][:3, :3] @ above.axis
        upright = abs(axis[2]) > (1 - _LEVEL) * float(np.linalg.norm(axis))
        if above.kind in ("revolute", "continuous") and upright:
            return above
    return None


def check_column(tree: Tree, poses: Mapping[str, np.ndarray], mark: Mark) -> None:
    """Refuse a wheel that its steering swings about; here a wheel turns about its own upright diameter."""
    above = _column(tree, poses, mark.joint)
    if above is None or mark.kind not in ("steered", "ackermann", "swerve"):
        return
    off = float(np.hypot(*(mark.pose[:2, 3] - poses[above.child][:2, 3])))
    if off > GROUND:
        raise ModelError(
            f"{tree.source}: wheel '{mark.name}' stands {1000 * off:.0f} mm off the axis of '{above.name}' that steers "
            "it, and the equations turn a wheel about its own upright diameter; declare it where it would roll alike: "
            "a mobile.Wheel in the axes of the root link, or a caster"
        )


def radii_of(content: bytes, source: str) -> dict[str, float]:
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
