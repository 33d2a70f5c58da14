"""What each joint of a robot carries: its own link, and all links that are rigid with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..frames.dh import JointLine
from ..frames.rounding import clean_pose, norm
from ..inertia import move_parameters
from .posture import Posture
from .tree import Tree


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """A link on the link that carries it rigidly: which joint moves that one (-1: the base), and the pose there."""

    carrier: int
    pose: np.ndarray


class CarriedLinks:
    """Where every link under the base is fixed, and the joints with all that their links carry.

    tables: the ten parameters of each joint's link, at the end those of the base link; merged: names of links likewise.
    """

    def __init__(self, tree: Tree, base: str, stand: Posture) -> None:
        index = {joint.name: i for i, joint in enumerate(stand.kept)}
        n = len(index)
        self.places = {base: Place(-1, np.eye(4))}
        self.tables = [np.zeros(10) for _ in range(n + 1)]
        self.merged: list[list[str]] = [[] for _ in range(n + 1)]
        self.parents = [-1] * n
        placements = [np.eye(4)] * n
        for link in tree.under(base):
            place = self.places[link]
            own, at = tree.inertias[link], place.pose
            itself = link == (stand.kept[place.carrier].child if place.carrier >= 0 else base)
            if own is not None:
                moved = own if itself else move_parameters(own, at[:3, :3], at[:3, 3])
                self.tables[place.carrier] = self.tables[place.carrier] + moved
            if not itself:
                self.merged[place.carrier].append(link)
            for joint in tree.below[link]:
                T = at @ stand.placement(joint)
                i = index.get(joint.name)
                if i is None:
                    self.places[joint.child] = Place(place.carrier, T)
                    continue
                self.places[joint.child] = Place(i, np.eye(4))
                self.parents[i], placements[i] = place.carrier, T
        self.segments = [
            JointLine(
                "prismatic" if joint.kind == "prismatic" else "revolute",
                placements[i],
                joint.axis / norm(joint.axis),
                self.tables[i],
            )
            for i, joint in enumerate(stand.kept)
        ]

    @property
    def branched(self) -> bool:
        return self.parents != list(range(-1, len(self.parents) - 1))

    def tool_pose(self, link: str, to_internal: Sequence[np.ndarray]) -> np.ndarray:
        """Pose of a link's frame in the internal frame of the link that carries it."""
        place = self.places[link]
        X, T = to_internal[place.carrier], place.pose
        return clean_pose(X @ T, norm(X[:3, 3]) + norm(T[:3, 3]))  # of what it is the sum
