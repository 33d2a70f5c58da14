"""Whether two links can touch in any pose, where two joints decide how they lie: by points all over their surfaces.

Both joints move one link of the two against a third, on which the axis of either is fixed. Turned all the way about
its axis, the one link sweeps a body of revolution, that is a profile of (radius, height) about the axis; the least
distance to it of points of the other link is that of their profiles in the plane. So one joint alone is stepped
through its range. Distances between points are shortened by what lies between points and between steps.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.ndimage import distance_transform_edt

from ...robot.arm import Arm
from .capsules import coarser, grains
from .limbs import Limbs
from .limits import Limits
from .shapes import Shapes

_FINEST = 1 / 45  # longest edge of triangles, over the longest side of the body,
_MANY = 300_000  # of which there are no more
_PLACES = 1 / 80  # raster that their corners are put on, likewise
_STEPS = 180  # of a joint's range
_ROUGH = 15  # one of so many points, and of steps, is looked at first
_CELLS = 300  # of the raster of a profile, along its longer side,
_WIDEST = 1000  # and on all sides beyond it, at most
# from its nearest corner, over its longest edge, a point of a triangle is no further
_COVER = 1 / np.sqrt(3)


@dataclass(frozen=True, slots=True, eq=False)
class Surface:
    """Points (k, 3) in a joint's frame, and how far from them their body's surface goes at most [m]."""

    points: np.ndarray
    grain: float


def surface_of(shapes: Shapes, joint: int) -> Surface | None:
    """Points all over the shape of a link; None where it is not known, or has balls."""
    solids = shapes.solids.get(joint, ())
    bodies = [solid.triangles for solid in solids if solid.triangles is not None]
    if not bodies or len(bodies) < len(solids):
        return None
    triangles, grown = coarser(np.concatenate(bodies))
    size = float(np.ptp(triangles, axis=(0, 1)).max())
    fine = grains(triangles, _FINEST * size, _MANY)
    longest = np.linalg.norm(np.roll(fine, -1, axis=1) - fine, axis=2).max()
    cell = _PLACES * size
    points = cell * np.unique(np.rint(fine.reshape(-1, 3) / cell).astype(np.int64), axis=0)
    return Surface(points, grown + _COVER * float(longest) + cell * np.sqrt(3) / 2)


def surely_apart(
    arm: Arm,
    limbs: Limbs,
    limits: Limits,
    links: tuple[int, int],
    surfaces: tuple[Surface, Surface],
    gap: float,
) -> bool:
    """Whether two links are surely further apart than a gap [m] in all poses."""
    connected = between(arm, *links)
    if connected is None:
        return False
    middle, joints = connected
    return any(
        _swept_apart(
            limbs,
            limits,
            arm.coupling.of[joints[1 - k]],
            (middle, links[k], links[1 - k], joints[k], joints[1 - k]),
            (surfaces[k], surfaces[1 - k]),
            gap,
        )
        for k in (0, 1)
    )


def between(arm: Arm, i: int, j: int) -> tuple[int, tuple[int, int]] | None:
    """The link that two others hang on by one joint each, and these joints; None where there is no such link."""
    if arm.parents[j] >= 0 and arm.parents[arm.parents[j]] == i:
        middle, joints = arm.parents[j], (arm.parents[j], j)
    elif i >= 0 and arm.parents[i] == arm.parents[j]:
        middle, joints = arm.parents[i], (i, j)
    else:
        return None
    how = arm.coupling
    free = all(list(how.of).count(how.of[k]) == 1 and how.multipliers[k] == 1 for k in joints)
    return (middle, joints) if free else None


def _swept_apart(
    limbs: Limbs,
    limits: Limits,
    moved: int,
    frames: tuple[int, int, int, int, int],
    surfaces: tuple[Surface, Surface],
    gap: float,
) -> bool:
    """Whether the first link, swept by its joint, stays off the second at every position of that one's coordinate.

    frames: of the middle link, the two links, and their joints.
    """
    q = np.tile((limits.low + limits.high) / 2, (_STEPS, 1))
    q[:, moved] = np.linspace(limits.low[moved], limits.high[moved], _STEPS)
    poses = limbs.poses(q)
    middle, *others, joint, stepped = frames
    first, second, axis, turned = (_seen(poses, middle, k) for k in (*others, joint, stepped))
    turns, way = bool(limbs.turns[joint]), (axis[0, :3, 2], axis[0, :3, 3])
    step = float(q[1, moved] - q[0, moved]) / 2
    if limbs.turns[stepped]:
        places = _moved(surfaces[1].points, second[0]) - turned[0, :3, 3]
        step *= float(np.linalg.norm(np.cross(places, turned[0, :3, 2]), axis=1).max())
    lost = gap + step + surfaces[0].grain + surfaces[1].grain
    far = _Field.of(_profile(_moved(surfaces[0].points, first[0]), way, turns), lost)
    # a rough look first: few points, few steps
    for points, every in ((surfaces[1].points[::_ROUGH], _ROUGH), (surfaces[1].points, 1)):
        for T in second[::every]:
            if far.least(_profile(_moved(points, T), way, turns)) <= lost:
                return False
    return True


def _moved(points: np.ndarray, T: np.ndarray) -> np.ndarray:
    return np.asarray(points @ T[:3, :3].T + T[:3, 3])


def _seen(poses: np.ndarray, middle: int, joint: int) -> np.ndarray:
    """(N, 4, 4): a frame as the middle link sees it; -1: the base link."""
    still = np.broadcast_to(np.eye(4), (len(poses), 4, 4))
    onto, seen = (poses[:, k] if k >= 0 else still for k in (middle, joint))
    return np.linalg.inv(onto) @ seen


def _profile(points: np.ndarray, way: tuple[np.ndarray, np.ndarray], turns: bool) -> np.ndarray:
    """(k, 2): distance from an axis and height along it; of a sliding joint, where the points are across it."""
    axis, foot = way
    moved = points - foot
    height = moved @ axis
    if turns:
        return np.column_stack([np.linalg.norm(moved - height[:, None] * axis, axis=1), height])
    return np.asarray(moved @ np.linalg.svd(axis[None])[2][1:].T)


@dataclass(frozen=True, slots=True, eq=False)
class _Field:
    """Distances from a profile on a raster of the plane."""

    low: np.ndarray  # (2,)
    cell: float
    far: np.ndarray

    @classmethod
    def of(cls, profile: np.ndarray, beyond: float) -> _Field:
        """The raster about a profile and so much beyond [m]."""
        low, size = profile.min(axis=0), float(np.ptp(profile, axis=0).max())
        cell = size / _CELLS
        pad = int(np.ceil(min(beyond / cell, _WIDEST))) + 3
        low = low - pad * cell
        places = np.rint((profile - low) / cell).astype(np.int64)
        empty = np.ones(places.max(axis=0) + 1 + pad, bool)
        empty[tuple(places.T)] = False
        return cls(low, cell, distance_transform_edt(empty) * cell)

    def least(self, points: np.ndarray) -> float:
        """No more than the least distance of points from the profile; beyond the raster, that of its edge."""
        places = np.rint((points - self.low) / self.cell).astype(np.int64)
        places = np.clip(places, 0, np.array(self.far.shape) - 1)
        return float(self.far[tuple(places.T)].min()) - 2**0.5 * self.cell
