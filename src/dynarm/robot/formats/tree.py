"""A tree of links and joints, and the arm that is cut out of it.

Between link `base` and link `tip` stands a chain of movable joints. Everything else is made rigid: fixed joints, and
movable joints off the chain, which are held at zero; their links are merged into the chain's link that carries them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...border.words import shown
from ...errors import FormatError, InputError, KindError, ModelError, UnknownName
from ..arm import Arm, Friction, Joint, Origin
from ..frames.dh import Segment, modified_dh
from ..frames.poses import inverse
from ..frames.rounding import clean_pose, norm
from ..inertia import move_parameters

MAX_JOINTS = 256
_LISTED = 30  # names that a message spells out


@dataclass(frozen=True, slots=True, eq=False)
class TreeJoint:
    """A joint between two links, as a URDF describes it."""

    name: str
    kind: str  # revolute, continuous, prismatic, fixed, floating, planar
    parent: str
    child: str
    placement: np.ndarray  # 4x4 pose of the child link in the parent link, at zero
    axis: np.ndarray
    position_limits: tuple[float, float] | None
    velocity_limit: float | None
    effort_limit: float | None
    damping: float
    friction: float
    mimic: bool

    @property
    def movable(self) -> bool:
        return self.kind != "fixed"

    @property
    def label(self) -> str:
        return f"{self.name} ({self.kind}{', mimic' if self.mimic else ''})"


class Tree:
    """Links with their inertias and the joints between them; one root, no loops, every name once."""

    def __init__(
        self,
        name: str,
        source: str,
        links: Sequence[tuple[str, np.ndarray | None]],
        joints: Sequence[TreeJoint],
    ) -> None:
        self.name, self.source = name, source
        if not links:
            raise FormatError(f"{source} has no <link>; give a URDF of a robot")
        for what, names in (("link", [n for n, _ in links]), ("joint", [j.name for j in joints])):
            twice = sorted(name for name, times in Counter(names).items() if times > 1)
            if twice:
                raise FormatError(
                    f"{source} has several {what}s named {_listed(twice)}; give each its own name"
                )
        self.inertias = dict(links)
        self.above: dict[str, TreeJoint] = {}
        self.below: dict[str, list[TreeJoint]] = {name: [] for name in self.inertias}
        for joint in joints:
            for end, link in (("parent", joint.parent), ("child", joint.child)):
                if link not in self.inertias:
                    raise FormatError(
                        f"{source}: joint '{joint.name}' has {end} '{link}', but there is no such link"
                    )
            if joint.child in self.above:
                raise FormatError(
                    f"{source}: link '{joint.child}' hangs on two joints, '{self.above[joint.child].name}' and "
                    f"'{joint.name}'; closed loops are not supported, cut one of them"
                )
            self.above[joint.child] = joint
            self.below[joint.parent].append(joint)
        roots = [name for name in self.inertias if name not in self.above]
        reached = [link for root in roots for link in self._under(root)]
        lost = sorted(set(self.inertias) - set(reached))
        if lost:
            raise FormatError(
                f"{source}: links {_listed(lost)} form a loop; closed loops are not supported"
            )
        if len(roots) > 1:
            raise FormatError(
                f"{source} has several roots: {_listed(sorted(roots))}; join them or keep one"
            )
        self.root = roots[0]

    def _under(self, link: str) -> Iterator[str]:
        stack = [link]
        while stack:
            link = stack.pop()
            yield link
            stack += [joint.child for joint in self.below[link]]

    def check_link(self, what: str, link: Any) -> str:
        """The name of a link of this tree, or an error."""
        if not isinstance(link, str):
            raise KindError(f"{what} is {shown(link)}; give the name of a link")
        if link not in self.inertias:
            raise UnknownName(f"link for {what}", link, self.inertias)
        return link

    def path(self, base: str, tip: str) -> list[TreeJoint]:
        """All joints from base to tip."""
        found: list[TreeJoint] = []
        link = tip
        while link != base:
            joint = self.above.get(link)
            if joint is None:
                above = [step.parent for step in found[::-1]]
                raise InputError(
                    f"tip '{tip}' does not hang on base '{base}'; it hangs on {_listed(above)}"
                    if above
                    else f"tip '{tip}' is the root and hangs on nothing; choose a link further out"
                )
            found.append(joint)
            link = joint.parent
        return found[::-1]

    def movable_ends(self, base: str) -> dict[str, int]:
        """Links under base that the last movable joint of a branch moves, and how many joints lead to each."""
        ends: dict[str, int] = {}
        depth = {base: 0}
        holder: dict[str, str | None] = {base: None}  # the last moved link on the way to each link
        for link in self._under(base):
            for joint in self.below[link]:
                depth[joint.child] = depth[link] + joint.movable
                holder[joint.child] = joint.child if joint.movable else holder[link]
                if joint.movable:
                    ends.pop(holder[link] or "", None)
                    ends[joint.child] = depth[joint.child]
        return ends


def _listed(names: Sequence[str]) -> str:
    text = ", ".join(f"'{name}'" for name in names[:_LISTED])
    return text + (f" and {len(names) - _LISTED} more" if len(names) > _LISTED else "")


def arm_of_tree(
    tree: Tree,
    base: str | None = None,
    tip: str | None = None,
    joints: Sequence[str] | None = None,
    gravity: Any = (0.0, 0.0, -9.81),
    allow_massless: bool = False,
    freeze: bool = True,
) -> Arm:
    """The chain of movable joints from link base to link tip, everything else merged."""
    base = tree.root if base is None else tree.check_link("base", base)
    end = _tip(tree, base, tip, joints)
    path = tree.path(base, end)
    chain = [joint for joint in path if joint.movable]
    if not chain:
        raise ModelError(
            f"{tree.source}: no movable joint stands between '{base}' and '{end}'; choose base and tip apart"
        )
    if len(chain) > MAX_JOINTS:
        raise ModelError(
            f"{tree.source}: the chain has {len(chain)} joints; at most {MAX_JOINTS} are supported"
        )
    _check_chain(tree, chain, joints)
    notes = _Notes(tree, chain, freeze)
    segments = []
    T = np.eye(4)
    for joint in path:
        T = T @ joint.placement
        if joint.movable:
            segments.append(_segment(tree, joint, T, notes))
            T = np.eye(4)
    _check_massless(tree, chain, segments, allow_massless)
    frames = modified_dh(segments)
    to_internal = [inverse(X) for X in frames.links]
    levers = norm(to_internal[-1][:3, 3]) + norm(T[:3, 3])  # what the tool's place is the sum of
    tool = clean_pose(to_internal[-1] @ T, levers)
    origin = Origin(
        base_link=base,
        links=tuple(joint.child for joint in chain),
        frames=tuple(tuple(X.ravel().tolist()) for X in to_internal),
        axes=tuple(tuple(s.axis.tolist()) for s in segments),
        kinds=tuple(joint.kind for joint in chain),
        tip_link=end if tip is not None and end != chain[-1].child else None,
        notes=tuple(notes.lines()),
    )
    made = [
        _joint(joint, step, ten)
        for joint, step, ten in zip(chain, frames.steps, frames.parameters, strict=True)
    ]
    return Arm(
        tuple(made), gravity=gravity, name=tree.name, base=frames.base, tool=tool, origin=origin
    )


def _tip(tree: Tree, base: str, tip: str | None, joints: Sequence[str] | None) -> str:
    """The last link of the chain: as asked, as the wanted joints say, or the only movable end."""
    if tip is not None:
        return tree.check_link("tip", tip)
    if joints is not None:
        by_name = {joint.name: joint for joint in tree.above.values()}
        for name in joints:
            if name not in by_name:
                raise UnknownName("joint", name, by_name)
        outermost = max(joints, key=lambda name: len(tree.path(tree.root, by_name[name].child)))
        return by_name[outermost].child
    ends = tree.movable_ends(base)
    if not ends:
        raise ModelError(
            f"{tree.source}: no movable joint under link '{base}'; an arm needs at least one"
        )
    if len(ends) > 1:
        listed = [
            f"'{link}' ({count} joint{'s' * (count > 1)})" for link, count in sorted(ends.items())
        ]
        more = f" and {len(listed) - _LISTED} more" if len(listed) > _LISTED else ""
        raise InputError(
            f"{tree.source} has {len(ends)} movable ends: {', '.join(listed[:_LISTED])}{more}; "
            "choose one with tip='...'"
        )
    return next(iter(ends))


def _check_chain(tree: Tree, chain: Sequence[TreeJoint], joints: Sequence[str] | None) -> None:
    """Refuse, by name, what a chain of one-degree joints cannot be."""
    for joint in chain:
        if joint.mimic:
            raise FormatError(
                f"{tree.source}: joint '{joint.name}' on the chain mimics another joint; choose a tip before it"
            )
        if joint.kind in ("floating", "planar"):
            raise FormatError(
                f"{tree.source}: joint '{joint.name}' on the chain is {joint.kind}; "
                f"choose base='{joint.child}' behind it"
            )
        if not np.any(joint.axis):
            raise FormatError(
                f"{tree.source}: joint '{joint.name}' has axis 0 0 0; give it a direction"
            )
    names = [joint.name for joint in chain]
    if joints is not None and list(joints) != names:
        why = (
            "in another order" if sorted(joints) == sorted(names) else "not the joints of the chain"
        )
        raise InputError(f"joints is {list(joints)}, {why}; the chain has {names}, in that order")


def _check_massless(
    tree: Tree, chain: Sequence[TreeJoint], segments: Sequence[Segment], allow_massless: bool
) -> None:
    bare = [j.child for j, s in zip(chain, segments, strict=True) if not np.any(s.parameters)]
    if bare and not allow_massless:
        raise ModelError(
            f"{tree.source}: moving link{'s' * (len(bare) > 1)} {_listed(bare)} and what is fixed to "
            f"{'them have' if len(bare) > 1 else 'it has'} no inertia, so torques would silently be too small; "
            "add <inertial>, or load with allow_massless=True"
        )


class _Notes:
    """What was made rigid, for the arm's origin."""

    def __init__(self, tree: Tree, chain: Sequence[TreeJoint], freeze: bool) -> None:
        self.chain = {joint.name for joint in chain}
        self.merged: dict[str, list[str]] = {}
        off = [j for j in tree.above.values() if j.movable and j.name not in self.chain]
        if off and not freeze:
            raise InputError(
                f"{tree.source}: movable joints off the chain: {_listed([j.label for j in off])}; "
                "load with freeze=True to hold them at zero"
            )
        self.frozen = [joint.label for joint in off]
        self.doubtful = [
            f"joint '{j.name}' has position limits {j.position_limits[0]} > {j.position_limits[1]}"
            for j in chain
            if j.position_limits and j.position_limits[0] > j.position_limits[1]
        ]

    def lines(self) -> list[str]:
        text = [
            f"merged into link '{link}': {', '.join(names)}" for link, names in self.merged.items()
        ]
        if self.frozen:
            text.append(f"frozen at zero: {', '.join(self.frozen)}")
        return text + self.doubtful


def _segment(tree: Tree, joint: TreeJoint, placement: np.ndarray, notes: _Notes) -> Segment:
    """A joint of the chain with all that its link carries rigidly."""
    ten = np.zeros(10)
    stack = [(joint.child, np.eye(4))]
    merged = []
    while stack:
        link, T = stack.pop()
        own = tree.inertias[link]
        if own is not None:
            ten = ten + (own if link == joint.child else move_parameters(own, T[:3, :3], T[:3, 3]))
        if link != joint.child:
            merged.append(link)
        stack += [(j.child, T @ j.placement) for j in tree.below[link] if j.name not in notes.chain]
    if merged:
        notes.merged[joint.child] = merged
    kind = "prismatic" if joint.kind == "prismatic" else "revolute"
    return Segment(kind, placement, joint.axis / norm(joint.axis), ten)


def _joint(joint: TreeJoint, step: Sequence[float], ten: np.ndarray) -> Joint:
    a, alpha, beta, d, theta = step
    friction = (
        Friction(viscous=joint.damping, coulomb=joint.friction)
        if joint.damping or joint.friction
        else None
    )
    return Joint(
        kind="prismatic" if joint.kind == "prismatic" else "revolute",
        a=a,
        alpha=alpha,
        d=d,
        theta=theta,
        beta=beta,
        friction=friction,
        name=joint.name,
        position_limits=joint.position_limits,
        velocity_limit=joint.velocity_limit,
        effort_limit=joint.effort_limit,
        parameters=tuple(ten.tolist()),
    )
