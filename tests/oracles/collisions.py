"""Whether a URDF's collision bodies touch the floor or each other, by Pinocchio and coal."""

from __future__ import annotations

import re
from pathlib import Path

import coal
import numpy as np
import pinocchio as pin

from .example_robots import robots_folder


class Bodies:
    """The collision bodies of a URDF, moved by joints in the order of `names`; the others rest at zero."""

    def __init__(self, urdf: Path, names: tuple[str, ...]):
        self.model = pin.buildModelFromUrdf(str(urdf))
        folders = [str(robots_folder().parents[1]), str(robots_folder()), str(urdf.parent)]
        self.bodies = pin.buildGeomFromUrdf(self.model, str(urdf), pin.COLLISION, folders)
        self.places = [self.model.joints[self.model.getJointId(name)] for name in names]
        self.moving = self._moved(names)
        self.data, self.there = self.model.createData(), self.bodies.createData()

    def _moved(self, names: tuple[str, ...]) -> np.ndarray:
        """(joints of the model,): the given joint nearest below which each one hangs; 0: none."""
        own = {self.model.getJointId(name) for name in names}
        nearest = np.zeros(self.model.njoints, int)
        for i in range(1, self.model.njoints):
            nearest[i] = i if i in own else nearest[self.model.parents[i]]
        return nearest

    def _place(self, q: np.ndarray) -> None:
        full = pin.neutral(self.model)
        for joint, value in zip(self.places, q, strict=True):
            if joint.nq == 2:  # a joint without limits is held as cosine and sine
                full[joint.idx_q : joint.idx_q + 2] = np.cos(value), np.sin(value)
            else:
                full[joint.idx_q] = value
        pin.updateGeometryPlacements(self.model, self.data, self.bodies, self.there, full)

    def lowest(self, q: np.ndarray) -> float:
        """Height [m] of the lowest point of all bodies that the first joint and what it carries move."""
        self._place(q)
        first = min(joint.id for joint in self.places)
        heights = []
        for k, body in enumerate(self.bodies.geometryObjects):
            if self.moving[body.parentJoint] > first:
                heights.append(_lowest(body.geometry, self.there.oMg[k]))
        return min(heights, default=np.inf)

    def nearest(self, q: np.ndarray, left: frozenset[frozenset[int]] = frozenset()) -> float:
        """Least distance [m] of bodies of links that no joint connects, but for those of `left`; 0: they touch."""
        self._place(q)
        least = np.inf
        for a, b in self.pairs(left):
            request, result = coal.DistanceRequest(), coal.DistanceResult()
            first, second = (self.bodies.geometryObjects[k].geometry for k in (a, b))
            at = (self.there.oMg[k] for k in (a, b))
            poses = [coal.Transform3s(T.rotation, T.translation) for T in at]
            far = coal.distance(first, poses[0], second, poses[1], request, result)
            least = min(least, float(far))
        return least

    def left(self, lines: tuple[str, ...], links: dict[str, str]) -> frozenset[frozenset[int]]:
        """Pairs of joints whose links a motion says it did not look at; links: the joint of each, "" for the base."""
        matches = (re.match(r"'(.+)' against '(.+)': their capsules", line) for line in lines)
        ids = [[links[word] for word in match.groups()] for match in matches if match]
        return frozenset(
            frozenset(self.model.getJointId(name) if name else 0 for name in pair) for pair in ids
        )

    def pairs(self, left: frozenset[frozenset[int]] = frozenset()) -> list[tuple[int, int]]:
        """Bodies of moving links that are neither the same nor neighbours, nor left out."""
        joint = [int(self.moving[g.parentJoint]) for g in self.bodies.geometryObjects]
        above = {
            i: int(self.moving[self.model.parents[i]]) if i else -1
            for i in {*joint, *(int(m) for m in self.moving)}
        }
        return [
            (a, b)
            for a in range(len(joint))
            for b in range(a + 1, len(joint))
            if frozenset((joint[a], joint[b])) not in left
            and joint[a] != joint[b]
            and above[joint[a]] != joint[b]
            and above[joint[b]] != joint[a]
        ]


def _lowest(shape: coal.CollisionGeometry, pose: pin.SE3) -> float:
    """Height of the lowest point of a body: of the corners of a mesh, of a round one by its formula."""
    down = pose.rotation[2]  # the third coordinate in the world, by those of the body
    if isinstance(shape, coal.BVHModelBase):
        return float((shape.vertices() @ down).min() + pose.translation[2])
    if isinstance(shape, coal.Sphere):
        return float(pose.translation[2] - shape.radius)
    if isinstance(shape, coal.Box):
        return float(pose.translation[2] - np.abs(down) @ shape.halfSide)
    if isinstance(shape, coal.Cylinder):
        return float(
            pose.translation[2]
            - abs(down[2]) * shape.halfLength
            - np.hypot(*down[:2]) * shape.radius
        )
    raise AssertionError(f"a body of another kind: {type(shape).__name__}")
