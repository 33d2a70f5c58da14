"""Whether a URDF's collision bodies touch the floor or each other, by Pinocchio and coal: independent of dynarm."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import coal
import numpy as np
import pinocchio as pin

import dynarm

LEFT = re.compile(r"'(.+)' against '(.+)': ")


@cache
def robots_folder() -> Path:
    """The folder of the wheel example-robot-data, next to pinocchio."""
    for parent in Path(pin.__file__).parents:
        folder = parent / "share" / "example-robot-data" / "robots"
        if folder.is_dir():
            return folder
    raise AssertionError(
        "the wheel example-robot-data is not installed; pip install 'dynarm[test]'"
    )


def example_robot(name: str) -> Path:
    """The URDF of that file name."""
    return next(p for p in sorted(robots_folder().rglob("*.urdf")) if p.name == name)


class Bodies:
    """The collision bodies of a URDF, moved as an arm of dynarm is; its other joints rest at zero."""

    def __init__(self, urdf: Path, arm: dynarm.Arm):
        self.model = pin.buildModelFromUrdf(str(urdf))
        folders = [str(robots_folder().parents[1]), str(robots_folder()), str(urdf.parent)]
        self.bodies = pin.buildGeomFromUrdf(self.model, str(urdf), pin.COLLISION, folders)
        self.arm = arm
        names = tuple(str(joint.name) for joint in arm.joints)
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
        full, how = pin.neutral(self.model), self.arm.coupling
        values = np.asarray(how.multipliers) * q[list(how.of)] + np.asarray(how.offsets)
        for joint, value in zip(self.places, values, strict=True):
            if joint.nq == 2:  # a joint without limits is held as cosine and sine
                full[joint.idx_q : joint.idx_q + 2] = np.cos(value), np.sin(value)
            else:
                full[joint.idx_q] = value
        pin.updateGeometryPlacements(self.model, self.data, self.bodies, self.there, full)

    def lowest(self, q: np.ndarray) -> float:
        """Height [m] of the lowest point of all bodies that the first joint and what it carries move."""
        heights = self.heights(q)
        first = min(joint.id for joint in self.places)
        return min((low for joint, low in heights.items() if joint > first), default=np.inf)

    def heights(self, q: np.ndarray) -> dict[int, float]:
        """By joint of the model the height [m] of the lowest point of the bodies that it carries; 0: of the base's."""
        self._place(q)
        lows: dict[int, float] = {}
        for k, body in enumerate(self.bodies.geometryObjects):
            joint = int(self.moving[body.parentJoint])
            low = _lowest(body.geometry, self.there.oMg[k])
            lows[joint] = min(low, lows.get(joint, np.inf))
        return lows

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

    def left(self, lines: tuple[str, ...]) -> frozenset[frozenset[int]]:
        """Pairs of joints whose links a motion says it did not look at, and of links that one joint moves alone."""
        joint = self.links()
        matches = (LEFT.match(line) for line in lines)
        told = {frozenset(joint[word] for word in match.groups()) for match in matches if match}
        return frozenset(told)

    def links(self) -> dict[str, int]:
        """The joint of the model that carries each link of the arm."""
        origin = self.arm.origin
        joints = (self.model.getJointId(str(joint.name)) for joint in self.arm.joints)
        return dict(zip(origin.links, joints, strict=True)) | {origin.base_link: 0}

    def pairs(self, left: frozenset[frozenset[int]] = frozenset()) -> list[tuple[int, int]]:
        """Bodies of links whose distance more than one independent joint decides, but for those of `left`."""
        joint = [int(self.moving[g.parentJoint]) for g in self.bodies.geometryObjects]
        apart = {
            (a, b): len(self._above(a) ^ self._above(b)) > 1 and frozenset((a, b)) not in left
            for a in set(joint)
            for b in set(joint)
        }
        count = range(len(joint))
        return [(a, b) for a in count for b in count if a < b and apart[joint[a], joint[b]]]

    def _above(self, joint: int) -> frozenset[int]:
        """The independent joints that move a link, by the id of the joint that carries it."""
        own = {place.id: k for k, place in enumerate(self.places)}
        coordinates = set()
        while joint:
            coordinates.add(self.arm.coupling.of[own[joint]])
            joint = int(self.moving[self.model.parents[joint]])
        return frozenset(coordinates)


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
