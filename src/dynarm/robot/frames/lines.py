"""Joint axes as lines in their links, and the frames that pairs of neighbouring lines pin.

The frame of a link has z on its joint's axis. The axis of a joint that hangs on the link pins x, on the common normal
of both, and the origin, at that normal's foot. What parallel and coincident axes leave free stays as it was wished.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...border.kinds import Outside
from ..inertia import tensor
from .poses import inverse
from .rounding import ROUNDING, clean, clean_direction, clean_pose, norm

NEARLY_PARALLEL = 0.05  # sine below which the common normal may run away
_TINY_SINE = 1e-9  # below it the direction of the common normal is mostly rounding


@dataclass(frozen=True, slots=True, eq=False)
class JointLine:
    """One joint as other formats describe it, with the link that it moves."""

    kind: str  # revolute, prismatic
    placement: np.ndarray  # 4x4 pose of the link frame in the frame of its parent link, at q = 0
    axis: np.ndarray  # unit vector, in the link frame
    parameters: np.ndarray  # the ten inertial parameters about the link frame


class Lines:
    """The axes, each in the frame of its own link, with the movable points of prismatic ones.

    parents: of each joint, -1 for the base. own_base: whether frame 0 is the base link's own, as several joints on it
    or a free base ask for; else it is where the only joint on the base wants it. Lists that end with one entry more
    than there are joints have the base link's at index -1: its line is the z axis of its frame.
    """

    def __init__(
        self, segments: Sequence[JointLine], parents: Sequence[int], own_base: bool
    ) -> None:
        self.n, self.parents, self.own_base = len(segments), parents, own_base
        self.T = [clean_pose(s.placement, norm(s.placement[:3, 3])) for s in segments]
        self.u = [*(clean_direction(s.axis) for s in segments), np.array([0.0, 0.0, 1.0])]
        self.points = [np.zeros(3) for _ in range(self.n + 1)]
        self.sliding = [i for i, s in enumerate(segments) if s.kind == "prismatic"]
        first = 0 if own_base else 1
        self.size = sum(norm(T[:3, 3]) for T in self.T[first:]) or 1.0
        self.back = [inverse(T) for T in self.T]
        # each axis in the frame of its parent link, and the common normal: |normal| is the sine between them
        self.v = [clean_direction(T[:3, :3] @ u) for T, u in zip(self.T, self.u[:-1], strict=True)]
        self.normal = [cross(self.u[p], v) for p, v in zip(parents, self.v, strict=True)]
        self.sine = [norm(normal) for normal in self.normal]
        self.children: list[list[int]] = [[] for _ in range(self.n + 1)]
        self.subtrees: list[list[int]] = [[i] for i in range(self.n)]  # of each joint, in order
        for i, p in enumerate(parents):
            self.children[p].append(i)
        for i in range(self.n - 1, -1, -1):
            if parents[i] >= 0:
                self.subtrees[parents[i]] += self.subtrees[i]
        for outer in self.subtrees:
            outer.sort()
        # the child whose axis pins a link's frame; that of the base link is as it is
        sizes = [len(outer) for outer in self.subtrees]
        self.main = [_heaviest(below, sizes) for below in self.children]
        if own_base:
            self.main[-1] = None

    def affected(self, i: int) -> Sequence[int]:
        """The joints whose frames may change where the child that pins link i, or that child's line, does."""
        if i < 0:
            return range(self.n)
        j = None if self.own_base else 0
        while j is not None:  # frame 1 is pinned by as many of these lines as it needs
            if j == i:
                return range(self.n)
            j = self.main[j]
        return self.subtrees[i]

    def point_of(self, j: int) -> np.ndarray:
        """A point of the axis of joint j, in the frame of its parent link."""
        T = self.T[j]
        point: np.ndarray = T[:3, :3] @ self.points[j] + T[:3, 3]
        return point


def _heaviest(below: Sequence[int], sizes: Sequence[int]) -> int | None:
    return max(below, key=lambda j: sizes[j]) if below else None


def pinned(
    lines: Lines, j: int, x: np.ndarray, origin: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """x and origin on the parent's axis as the axis of joint j wants them; what it leaves free stays as given."""
    foot = _foot(lines, j, origin)
    if foot is not None:
        origin = foot
    across = direction(lines, j, origin)
    if across is None:
        return x, origin
    side = float(across @ x)
    if abs(side) <= ROUNDING:  # a quarter turn either way: take the positive one
        side = float(cross(x, across) @ lines.u[lines.parents[j]])
    return (across if side > 0 else -across), origin


def free_along(lines: Lines, j: int) -> bool:
    """Whether joint j lets the origin of its parent's frame slide along the parent's axis."""
    return _foot(lines, j, lines.points[lines.parents[j]]) is None


def _foot(lines: Lines, j: int, wish: np.ndarray) -> np.ndarray | None:
    """Foot on the parent's axis of the common normal with axis j; None where it is free, or off the robot."""
    p = lines.parents[j]
    u, point, v, sine = lines.u[p], lines.points[p], lines.v[j], lines.sine[j]
    if sine < _TINY_SINE:
        return None
    there = lines.point_of(j)
    across = cross(lines.normal[j] / sine, v)
    along = float(across @ (there - point) / (across @ u))
    if sine < NEARLY_PARALLEL:
        gap = there - point - u * along
        if abs(along) > lines.size or abs(float(gap @ v)) > lines.size:
            return None
    # rounding moves the foot by its share of 1 / sine; a place already taken within that is the same place
    slack = ROUNDING * lines.size / sine
    for place in (float(u @ (wish - point)), 0.0):
        if abs(along - place) <= slack:
            along = place
            break
    return point + u * along


def direction(lines: Lines, j: int, origin: np.ndarray) -> np.ndarray | None:
    """Direction of x on the parent's axis with the given origin, up to its sign; None where axis j leaves it free."""
    p = lines.parents[j]
    u, point, v, sine = lines.u[p], lines.points[p], lines.v[j], lines.sine[j]
    if sine >= NEARLY_PARALLEL or _foot(lines, j, origin) is not None:
        return clean_direction(lines.normal[j])
    there = lines.point_of(j)
    at = point + u * float(u @ (origin - point))
    # to axis j, in the plane across the parent's
    gap = there + v * float(u @ (at - there) / (u @ v)) - at
    gap = gap - u * float(u @ gap)
    if norm(gap) > ROUNDING * lines.size:
        return clean_direction(gap)
    return clean_direction(lines.normal[j]) if sine > ROUNDING else None


# ---- small geometry


def frame(x: np.ndarray, z: np.ndarray, origin: np.ndarray) -> np.ndarray:
    """The pose with the given z, x turned into the plane across it."""
    x = clean_direction(x - z * float(z @ x))
    T = np.eye(4)
    T[:3, 0], T[:3, 1], T[:3, 2], T[:3, 3] = x, clean_direction(cross(z, x)), z, origin
    return T


def any_normal(u: np.ndarray) -> np.ndarray:
    """A unit vector across u: the coordinate axis least along it, made normal."""
    e = np.eye(3)[int(np.argmin(np.abs(u) > 0.9))]
    return clean_direction(e - u * float(u @ e))


def facing(x: np.ndarray, axes: np.ndarray) -> np.ndarray:
    """x or -x, whichever looks along the first of the axes that is not across it."""
    for axis in axes:
        if abs(float(x @ axis)) > 1e-6:
            return x if float(x @ axis) > 0 else -x
    return x


def cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a x b; for single vectors far quicker than NumPy's."""
    (ax, ay, az), (bx, by, bz) = a.tolist(), b.tolist()
    return np.array([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx])


def clean_parameters(ten: np.ndarray, given: Outside, X: np.ndarray) -> np.ndarray:
    """The moved parameters, entries that are rounding of what they were made of set to zero."""
    m, t = abs(float(given[0])), norm(X[:3, 3])
    h = norm(np.asarray(given[1:4], float))
    ten = ten.copy()
    ten[1:4] = clean(ten[1:4], h + m * t)
    ten[4:] = clean(ten[4:], float(np.abs(tensor(given)).max()) + 2 * h * t + m * t * t)
    return ten
