"""MuJoCo's compiled numbers as a tree of links and joints whose positions are MuJoCo's qpos.

A body moves by its joints in their order, each about its own anchor: between them stand links without inertia. MuJoCo
counts a joint's position from `ref`, at which the body stands where the file places it; here links stand at zero.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...border.kinds import FloatArray, Outside
from ...errors import FormatError
from ..frames.poses import translation
from ..inertia import pack_parameters
from .posture import motion
from .tree import Follow, Tree, TreeJoint
from .urdf_text import MAX_NAME

WORLD = "world"
_LARGEST = 1e30  # of a number of a robot
_UNITS = ("quat", "iquat", "axis")  # what MuJoCo makes of length one, if it can
Row = Mapping[str, Outside]


@dataclass(frozen=True, slots=True, eq=False)
class Compiled:
    """Bodies, joints, sites and equalities of a model, everything with a name of its own."""

    numbers: Row
    bodies: tuple[str, ...]
    joints: tuple[str, ...]

    @classmethod
    def of(cls, numbers: Row, source: str) -> Compiled:
        _check_finite(numbers, source)
        bodies = _named([row["name"] for row in numbers["bodies"]], "body")
        owners = {j: i for i, row in enumerate(numbers["bodies"]) for j in row["joints"]}
        given = [row["name"] for row in numbers["joints"]]
        wished = [
            name or f"{bodies[owners[j]]}_{numbers['joints'][j]['kind']}"
            for j, name in enumerate(given)
        ]
        joints = _fresh_names(wished, {name for name in given if name})
        return cls(numbers, bodies, joints)

    def row(self, body: int) -> Row:
        row: Row = self.numbers["bodies"][body]
        return row

    def own_joints(self, body: int) -> list[tuple[str, Row]]:
        """The joints by which a body moves in its parent, by name."""
        return [(self.joints[j], self.numbers["joints"][j]) for j in self.row(body)["joints"]]

    def free(self, body: int) -> bool:
        """Whether the body moves freely."""
        return any(row["kind"] == "free" for _, row in self.own_joints(body))

    def moved(self, body: int) -> bool:
        """Whether a joint moves anything from the body outwards, but for its own free joint."""
        return any(row["kind"] != "free" for i in self.under(body) for _, row in self.own_joints(i))

    def under(self, body: int) -> Iterator[int]:
        """The body and all that it carries, in MuJoCo's order."""
        inside = {body}
        for i in range(body, len(self.bodies)):  # parents come first
            if i in inside or (i and self.row(i)["parent"] in inside):
                inside.add(i)
                yield i

    def trees(self) -> list[int]:
        """The bodies that stand on the world."""
        return [i for i in range(1, len(self.bodies)) if self.row(i)["parent"] == 0]

    def tree_of(self, body: int) -> int:
        """The body on the world that carries this one; 0 for the world."""
        while body and self.row(body)["parent"]:
            body = self.row(body)["parent"]
        return body

    def orientation(self, body: int) -> FloatArray:
        """The axes of a body in those of the world, where the file places it."""
        R = np.eye(3)
        while body:
            row = self.row(body)
            R = turn(row["quat"]) @ R
            body = row["parent"]
        return R


def _check_finite(numbers: Row, source: str) -> None:
    """Refuse what MuJoCo lets pass: numbers that are none, or beyond all sizes."""
    for kind in ("bodies", "joints", "sites", "equalities"):
        for row in numbers[kind]:
            if len(row["name"]) > MAX_NAME:
                raise FormatError(
                    f"{source}: name '{row['name'][:40]}...' ({kind}) is longer than {MAX_NAME} letters; shorten it"
                )
            for key, value in row.items():
                entries = value if isinstance(value, list) else [value]
                if not all(abs(x) <= _LARGEST for x in entries if isinstance(x, float)):
                    raise FormatError(
                        f"{source}: {key} of '{row['name'] or 'unnamed'}' ({kind}) is {value}; give numbers of robots"
                    )
                if key in _UNITS and not abs(math.hypot(*entries) - 1) <= 1e-6:
                    raise FormatError(
                        f"{source}: {key} of '{row['name'] or 'unnamed'}' ({kind}) has no direction; give it one"
                    )
    if not all(abs(x) <= _LARGEST for x in numbers["gravity"]):
        raise FormatError(f"{source}: gravity is {numbers['gravity']}; give m/s^2")


def _named(given: Sequence[str], word: str) -> tuple[str, ...]:
    """Names of all, those that have none numbered."""
    return _fresh_names(
        [name or f"{word}{i}" for i, name in enumerate(given)], {n for n in given if n}
    )


def _fresh_names(wished: Sequence[str], given: Collection[str]) -> tuple[str, ...]:
    """The wished names, with a number behind those that somebody has."""
    taken: set[str] = set()
    names = []
    for name in wished:
        fresh, k = name, 2
        while fresh in taken or (fresh in given and name not in given):
            fresh, k = f"{name}_{k}", k + 1
        taken.add(fresh)
        names.append(fresh)
    return tuple(names)


def turn(quaternion: Sequence[float]) -> FloatArray:
    """The rotation of a unit quaternion w, x, y, z."""
    w, x, y, z = quaternion
    R: FloatArray = np.array(
        [
            [w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z],
        ]
    )
    return R


def pose(row: Row) -> FloatArray:
    """The 4x4 pose of a body or site in the body that carries it."""
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = turn(row["quat"]), row["pos"]
    return T


def inertia_of(row: Row) -> FloatArray:
    """The ten parameters of a body about its frame."""
    R = turn(row["iquat"])
    ten: FloatArray = pack_parameters(
        row["mass"], row["ipos"], R @ np.diag(np.array(row["inertia"])) @ R.T
    )
    return ten


def tree_of(
    model: Compiled,
    source: str,
    roots: Sequence[int],
    top: int,
    fixed: bool,
    follows: Mapping[str, Follow],
    sites: Collection[str],
) -> Tree:
    """The tree of the bodies on `roots`: on the world, or from body `top` outwards; fixed: no free joint is one."""
    inside = sorted(i for root in roots for i in model.under(root))
    builder = _Hanging(model, follows, fixed)
    if top == 0:
        builder.links.append((model.bodies[0], None))
    for i in inside:
        builder.add(i, hung=i != top)
    builder.add_sites(sites, {*inside, 0} if top == 0 else set(inside))
    return Tree(model.numbers["name"] or "robot", source, builder.links, builder.joints)


class _Hanging:
    """Collects links and joints body by body."""

    def __init__(self, model: Compiled, follows: Mapping[str, Follow], fixed: bool) -> None:
        self.model, self.follows, self.fixed = model, follows, fixed
        self.links: list[tuple[str, np.ndarray | None]] = []
        self.joints: list[TreeJoint] = []
        self.welds = set(model.joints)

    def add(self, i: int, hung: bool) -> None:
        """The body with the joints before it; not hung: it is the top."""
        row, body = self.model.row(i), self.model.bodies[i]
        if hung:
            self._hang(body, self.model.bodies[row["parent"]], pose(row), self.model.own_joints(i))
        ten = inertia_of(row)
        self.links.append((body, ten if ten.any() else None))

    def _hang(
        self, body: str, parent: str, T: np.ndarray, joints: Sequence[tuple[str, Row]]
    ) -> None:
        for k, (name, row) in enumerate(joints):
            anchor = np.zeros(3) if row["kind"] in ("slide", "free") else np.array(row["pos"])
            at = translation(*anchor)
            last = k == len(joints) - 1 and not anchor.any()
            child = body if last else f"{body}:{name}"
            joint = self._joint(name, row, parent, child, T @ at)
            self.joints.append(joint)
            if last:
                return
            self.links.append((child, None))
            parent, T = child, translation(*-anchor)
        self._weld(body, parent, T)

    def _weld(self, body: str, parent: str, T: np.ndarray) -> None:
        name = f"{body}_fixed"
        while name in self.welds:
            name += "_"
        self.welds.add(name)
        self.joints.append(_fixed(name, parent, body, T))

    def _joint(self, name: str, row: Row, parent: str, child: str, T: np.ndarray) -> TreeJoint:
        kind = row["kind"]
        if kind == "free" and self.fixed:
            return _fixed(name, parent, child, T)
        words = {"hinge": "continuous", "slide": "prismatic", "free": "floating", "ball": "ball"}
        limits = None if row["range"] is None else (row["range"][0], row["range"][1])
        joint = TreeJoint(
            name,
            "revolute" if kind == "hinge" and limits else words[kind],
            parent,
            child,
            T,
            np.array(row["axis"]),
            limits,
            None,
            row["effort"],
            row["damping"],
            row["friction"],
            self.follows.get(name),
            row["armature"],
        )
        zero = row["zero"]
        return replace(joint, placement=T @ motion(joint, -zero)) if zero else joint

    def add_sites(self, wanted: Collection[str], inside: Collection[int]) -> None:
        """Sites that are to be tools or a tip, as links."""
        known = {name for name, _ in self.links}
        for row in self.model.numbers["sites"]:
            name = row["name"]
            if name in wanted and name not in known and row["body"] in inside:
                self._weld(name, self.model.bodies[row["body"]], pose(row))
                self.links.append((name, None))


def _fixed(name: str, parent: str, child: str, T: np.ndarray) -> TreeJoint:
    return TreeJoint(
        name, "fixed", parent, child, T, np.array([0.0, 0.0, 1.0]), None, None, None, 0.0, 0.0, None
    )
