"""A tree of links and joints, as robot files describe it; `whole.py` makes an arm of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...border.kinds import Outside
from ...border.words import shown
from ...errors import FormatError, InputError, KindError, UnknownName
from ..coupling import MAX_JOINTS
from ..frames.snap import Snapped

__all__ = ["MAX_JOINTS", "Follow", "Tree", "TreeJoint", "listed"]

_LISTED = 30  # names that a message spells out


@dataclass(frozen=True, slots=True)
class Follow:
    """A coupling as a file writes it: position = multiplier * position of the joint named + offset."""

    joint: str
    multiplier: float = 1.0
    offset: float = 0.0

    def after(self, rule: Follow) -> Follow:
        """The coupling to the joint that the named one follows by a rule of its own."""
        own = self.multiplier
        return Follow(rule.joint, own * rule.multiplier, own * rule.offset + self.offset)


@dataclass(frozen=True, slots=True, eq=False)
class TreeJoint:
    """A joint between two links, as a URDF describes it."""

    name: str
    kind: str  # revolute, continuous, prismatic, fixed, floating, planar, ball
    parent: str
    child: str
    placement: np.ndarray  # 4x4 pose of the child link in the parent link, at zero
    axis: np.ndarray
    position_limits: tuple[float, float] | None
    velocity_limit: float | None
    effort_limit: float | None
    damping: float
    friction: float
    mimic: Follow | None
    armature: float = 0.0

    @property
    def movable(self) -> bool:
        return self.kind != "fixed"

    @property
    def label(self) -> str:
        return f"{self.name} ({self.kind}{', mimic' if self.mimic else ''})"


class Tree:
    """Links with their inertias and the joints between them; one root, no loops, every name once.

    exact: whether rounded numbers of its file were taken as such; snapped: which; written: the same tree with these as
    they are in the file.
    """

    def __init__(
        self,
        name: str,
        source: str,
        links: Sequence[tuple[str, np.ndarray | None]],
        joints: Sequence[TreeJoint],
    ) -> None:
        self.name, self.source = name, source
        self.snapped: tuple[Snapped, ...] = ()
        self.written: Tree | None = None
        self.exact = False
        if not links:
            raise FormatError(f"{source} has no <link>; give a URDF of a robot")
        for what, names in (("link", [n for n, _ in links]), ("joint", [j.name for j in joints])):
            twice = sorted(name for name, times in Counter(names).items() if times > 1)
            if twice:
                raise FormatError(
                    f"{source} has several {what}s named {listed(twice)}; give each its own name"
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
        reached = [link for root in roots for link in self.under(root)]
        lost = sorted(set(self.inertias) - set(reached))
        if lost:
            raise FormatError(
                f"{source}: links {listed(lost)} form a loop; closed loops are not supported"
            )
        if len(roots) > 1:
            raise FormatError(
                f"{source} has several roots: {listed(sorted(roots))}; join them or keep one"
            )
        self.root = roots[0]

    def uncoupled(self, names: Collection[str]) -> Tree:
        """The same tree where the joints named follow none."""
        joints = [replace(j, mimic=None) if j.name in names else j for j in self.above.values()]
        tree = Tree(self.name, self.source, list(self.inertias.items()), joints)
        tree.exact, tree.snapped = self.exact, self.snapped
        tree.written = None if self.written is None else self.written.uncoupled(names)
        return tree

    def under(self, link: str) -> Iterator[str]:
        """The link and all links that hang on it, each after the one that carries it."""
        stack = [link]
        while stack:
            link = stack.pop()
            yield link
            stack += [joint.child for joint in self.below[link]]

    def check_link(self, what: str, link: Outside) -> str:
        """The name of a link of this tree, or an error."""
        if not isinstance(link, str):
            raise KindError(f"{what} is {shown(link)}; give the name of a link")
        if link not in self.inertias:
            raise UnknownName(f"link for {what}", link, self.inertias)
        return link

    def path(self, base: str, tip: str) -> list[TreeJoint]:
        """All joints from base to tip."""
        steps: list[TreeJoint] = []
        link = tip
        while link != base:
            joint = self.above.get(link)
            if joint is None:
                above = [step.parent for step in steps[::-1]]
                raise InputError(
                    f"tip '{tip}' does not hang on base '{base}'; it hangs on {listed(above)}"
                    if above
                    else f"tip '{tip}' is the root and hangs on nothing; choose a link further out"
                )
            steps.append(joint)
            link = joint.parent
        return steps[::-1]

    @property
    def joints(self) -> dict[str, TreeJoint]:
        """Every joint by its name."""
        return {joint.name: joint for joint in self.above.values()}

    def outwards(self, base: str) -> Iterator[TreeJoint]:
        """All joints under base, depth first, in the file's order where it branches."""
        stack = self.below[base][::-1]
        while stack:
            joint = stack.pop()
            yield joint
            stack += self.below[joint.child][::-1]

    def movable_ends(self, base: str) -> dict[str, int]:
        """Links under base that the last movable joint of a branch moves, and how many joints lead to each."""
        ends: dict[str, int] = {}
        depth = {base: 0}
        holder: dict[str, str | None] = {base: None}  # the last moved link on the way to each link
        for link in self.under(base):
            for joint in self.below[link]:
                depth[joint.child] = depth[link] + joint.movable
                holder[joint.child] = joint.child if joint.movable else holder[link]
                if joint.movable:
                    ends.pop(holder[link] or "", None)
                    ends[joint.child] = depth[joint.child]
        return ends


def listed(names: Sequence[str]) -> str:
    """Names in quotes, the first of them where there are many."""
    text = ", ".join(f"'{name}'" for name in names[:_LISTED])
    return text + (f" and {len(names) - _LISTED} more" if len(names) > _LISTED else "")
