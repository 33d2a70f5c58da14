"""How far a robot's links stay off the floor and off each other, by capsules: in numbers and slopes.

The floor is the plane z = floor of the base link. Ends of capsules that no joint lifts are not looked at (`ground`),
nor are links that one joint connects, or moves alone as the fingers of a gripper. Pairs of links whose capsules overlap
in nearly every pose are looked at by more and tighter ones; where these overlap in most poses too, the pair is left
out, by name. Pairs that overlap often though points on their surfaces show that they cannot touch are not looked at.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...robot.arm import Arm
from .capsules import Capsule
from .contact import Surface, between, surely_apart, surface_of
from .ground import lifted_of, standing
from .limbs import Limbs, limbs_of
from .limits import Limits
from .rods import TINY, Rods, nearest, rods_of
from .shapes import Shapes

_POSES = 1500  # drawn at random to see what can move and touch at all
_OFTEN = 0.2  # part of the poses in which a pair overlaps that asks whether it can touch at all,
_ALWAYS = 0.85  # that asks for tighter capsules,
_STILL = 0.6  # and by these tells nothing
_NEAR = 0.25  # part of the margin that stays between tight capsules
_BLOCK = 200_000  # pairs of capsules that are looked at at a time
MARGIN = 0.01  # of the robot's size, at most 0.02 m: what stays between two bodies


@dataclass(frozen=True, slots=True, eq=False)
class Clearance:
    """What is looked at: capsules, ends of them against the floor, pairs of them against each other."""

    limbs: Limbs
    shapes: Shapes
    rods: Rods  # the capsules of the shapes
    floor: float | None
    ends: np.ndarray  # (k, 2): capsule, 0 for its start or 1 for its end
    pairs: np.ndarray  # (k, 2): two capsules
    gaps: np.ndarray  # (k,): what stays between them [m]
    margin: float  # above the floor
    checked: tuple[str, ...]
    unchecked: tuple[str, ...]
    left: tuple[tuple[str, str], ...] = ()  # names of links that are not looked at
    # links with ends that no joint lifts, and the height above the floor that these keep [m]
    rest: tuple[tuple[str, float], ...] = ()

    @property
    def paired(self) -> tuple[tuple[str, str], ...]:
        """Names of links that are held apart."""
        names = [capsule.name for capsule in self.shapes.capsules]
        return tuple(sorted({(names[a], names[b]) for a, b in self.pairs.tolist()}))

    @property
    def empty(self) -> bool:
        """Whether there is nothing to look at."""
        return not len(self.ends) and not len(self.pairs)

    def room(self, q: np.ndarray) -> np.ndarray:
        """(N,): by how much the nearest bodies are further apart than the margin [m]; below 0: too near."""
        each = max(1, _BLOCK // max(1, len(self.pairs)))
        least = [self._room(q[k : k + each]) for k in range(0, len(q), each)]
        return np.concatenate(least) if least else np.zeros(0)

    def _room(self, q: np.ndarray) -> np.ndarray:
        points = self.rods.placed(self.limbs.poses(q))
        least = np.full(len(q), np.inf)
        if len(self.ends):
            least = self._heights(points).min(axis=1) - self.margin
        if len(self.pairs):
            spare = self.apart(points, self.pairs) - self.gaps
            least = np.minimum(least, spare.min(axis=1))
        return np.asarray(least)

    def touching(self, pose: np.ndarray) -> str:
        """In words what comes too near in one pose; nothing where all is clear."""
        points = self.rods.placed(self.limbs.poses(pose[None]))
        capsules = self.shapes.capsules
        if len(self.ends):
            heights = self._heights(points)[0]
            k = int(heights.argmin())
            if heights[k] < self.margin:
                link = capsules[self.ends[k, 0]].name
                return f"{link} is {heights[k]:.3g} m above the floor, {self.margin:.3g} m is kept"
        if len(self.pairs):
            apart = self.apart(points, self.pairs)[0]
            k = int((apart - self.gaps).argmin())
            if apart[k] < self.gaps[k]:
                a, b = (capsules[c].name for c in self.pairs[k])
                return f"{a} and {b} are {apart[k]:.3g} m apart by capsules, {self.gaps[k]:.3g} m is kept"
        return ""

    def push(self, q: np.ndarray, spare: float, unit: float) -> tuple[float, np.ndarray]:
        """The sum of squares of what is missing to margin + spare, in units [m], and its slope (N, nv)."""
        poses = self.limbs.poses(q)
        points = self.rods.placed(poses)
        wanted = self.margin + spare
        total, slope = 0.0, np.zeros((len(q), self.limbs.gather.shape[1]))
        if len(self.ends):
            short = np.maximum(wanted - self._heights(points), 0) / unit
            row, k = np.nonzero(short)
            c, end = self.ends[k].T
            force = np.zeros((len(row), 3))
            force[:, 2] = -2 / unit * short[row, k]
            total += float((short**2).sum())
            slope += self.limbs.pull(poses, row, self.rods.joints[c], points[row, c, end], force)
        for row, k in self._close(points, wanted):
            a, b = self.pairs[k].T
            s, t, gap = nearest(points[row, a], points[row, b])
            far = np.sqrt((gap**2).sum(axis=1) + TINY)
            kept = self.gaps[k] + spare
            short = np.maximum(kept - far + self.rods.radii[a] + self.rods.radii[b], 0) / unit
            force = (-2 / unit * short / far)[:, None] * gap
            for c, part, sign in ((a, s, 1.0), (b, t, -1.0)):
                start, end_ = points[row, c, 0], points[row, c, 1]
                at = start + part[:, None] * (end_ - start)
                slope += self.limbs.pull(poses, row, self.rods.joints[c], at, sign * force)
            total += float((short**2).sum())
        return total, slope

    def _close(self, points: np.ndarray, wanted: float) -> list[tuple[np.ndarray, np.ndarray]]:
        """Samples and pairs whose balls about their capsules are near, in one block; none where there are none."""
        if not len(self.pairs):
            return []
        middle = (points[:, :, 0] + points[:, :, 1]).transpose(2, 1, 0) / 2  # (3, capsules, N)
        reach = self.rods.radii + self.rods.halves
        a, b = self.pairs.T
        square = ((middle[:, a] - middle[:, b]) ** 2).sum(axis=0)
        k, row = np.nonzero(square < ((reach[a] + reach[b] + wanted) ** 2)[:, None])
        return [(row, k)] if len(row) else []

    def _heights(self, points: np.ndarray) -> np.ndarray:
        """(N, ends): of the lowest point of each end above the floor."""
        c, end = self.ends.T
        return np.asarray(points[:, c, end, 2] - self.rods.radii[c] - (self.floor or 0.0))

    def apart(self, points: np.ndarray, pairs: np.ndarray) -> np.ndarray:
        """(N, pairs): distances of capsules, below 0 where they overlap."""
        a, b = pairs.T
        _, _, gap = nearest(points[:, a], points[:, b])
        return np.asarray(np.sqrt((gap**2).sum(axis=-1)) - self.rods.radii[a] - self.rods.radii[b])


def clearance_of(
    arm: Arm, shapes: Shapes, limits: Limits, floor: float | None, bodies: bool, asked: bool
) -> Clearance:
    """What of a robot can touch the floor or itself. asked: the floor was given, not the usual one."""
    limbs = limbs_of(arm)
    margin = min(0.02, MARGIN * arm.size)
    rng = np.random.default_rng(2)
    poses = rng.uniform(limits.low, limits.high, (_POSES, len(limits.low)))
    rods = rods_of(shapes.capsules)
    points = rods.placed(limbs.poses(poses))
    if floor is not None and not asked:
        floor = standing(shapes, floor, arm.size)
    checked: list[str] = []
    unchecked = ["what stands around the robot, cables, and tools that its file does not hold"]
    none = np.zeros((0, 2), int)
    empty = Clearance(limbs, shapes, rods, floor, none, none, np.zeros(0), margin, (), ())
    if floor is None:
        unchecked.append("the floor (floor=False)")
    else:
        lifted = lifted_of(shapes, points, floor, margin, arm.size, asked)
        (checked if len(lifted.ends) else unchecked).append(lifted.told)
        unchecked += lifted.below
        empty = replace(empty, ends=lifted.ends, rest=lifted.rest)
    if not bodies:
        unchecked.append("the robot against itself (collisions=False)")
        return replace(empty, checked=tuple(checked), unchecked=tuple(unchecked))
    full, told, left = _with_pairs(arm, empty, limits, limbs.poses(poses))
    checked += [told] if len(full.pairs) else []
    unchecked += [told] * (not len(full.pairs)) + left
    unchecked += [f"shape of {word}; a rod is taken" for word in shapes.why]
    return replace(full, checked=tuple(checked), unchecked=tuple(unchecked))


def _with_pairs(
    arm: Arm, empty: Clearance, limits: Limits, poses: np.ndarray
) -> tuple[Clearance, str, list[str]]:
    """With the pairs of capsules that are looked at; what is said of them, and what is left out."""
    covers = _Covers(arm, empty, limits, poses)
    joints = sorted({capsule.joint for capsule in empty.shapes.capsules})
    links = [(i, j) for i in joints for j in joints if i < j and _free(arm, i, j)]
    pairs, gaps, left = [np.zeros((0, 2), int)], [np.zeros(0)], []
    names: list[tuple[str, str]] = []
    never: list[str] = []
    for i, j in links:
        members, gap = covers.pairs(i, j, False), empty.margin
        often = covers.overlap(members, gap)
        a, b = (covers.capsules[c].name for c in members[0])
        if often > _OFTEN and covers.never(i, j):
            never.append(f"{a} and {b}")
            continue
        if often > _ALWAYS:
            members, gap = covers.pairs(i, j, True), _NEAR * empty.margin
            often = covers.overlap(members, gap)
            if often > _STILL:
                left.append(f"{a} against {b}: their capsules overlap in {often:.0%} of all poses")
                names.append((a, b))
                continue
        pairs.append(members)
        gaps.append(np.full(len(members), gap))
    told = f"the robot against itself: {len(pairs) - 1} pairs of links, {empty.shapes.source}"
    if never:
        told += f"; cannot touch in any pose, by points on their surfaces: {', '.join(never)}"
    capsules, members = covers.used(np.concatenate(pairs))
    shapes, rods = replace(empty.shapes, capsules=capsules), rods_of(capsules)
    full = replace(empty, shapes=shapes, rods=rods, pairs=members, gaps=np.concatenate(gaps))
    full = replace(full, left=tuple(names))
    return full, told, [*left, "links that one joint connects, or moves alone"]


def _free(arm: Arm, i: int, j: int) -> bool:
    """Whether more than one independent joint decides how two links lie: one alone has limits for that, as fingers."""
    return len(_movers(arm, i) ^ _movers(arm, j)) > 1


def _movers(arm: Arm, joint: int) -> frozenset[int]:
    """The independent joints that move the link of a joint."""
    movers = set()
    while joint >= 0:
        movers.add(arm.coupling.of[joint])
        joint = arm.parents[joint]
    return frozenset(movers)


class _Covers:
    """The capsules of links, coarse ones first and tighter ones as they are asked for, in many poses."""

    def __init__(self, arm: Arm, empty: Clearance, limits: Limits, poses: np.ndarray):
        self.arm, self.empty, self.limits = arm, empty, limits
        self.shapes, self.poses = empty.shapes, poses
        self.surfaces: dict[int, Surface | None] = {}
        self.capsules = list(empty.shapes.capsules)
        self.own: dict[tuple[int, bool], list[int]] = {}
        for c, capsule in enumerate(self.capsules):
            self.own.setdefault((capsule.joint, False), []).append(c)

    def pairs(self, i: int, j: int, tight: bool) -> np.ndarray:
        """(k, 2): every capsule of one link with every one of the other."""
        for joint in (i, j):
            if (joint, tight) not in self.own:
                finer = self.shapes.finer(joint)
                first = len(self.capsules)
                self.own[joint, tight] = list(range(first, first + len(finer)))
                self.capsules += finer
        return np.array([(a, b) for a in self.own[i, tight] for b in self.own[j, tight]], int)

    def never(self, i: int, j: int) -> bool:
        """Whether two links surely cannot touch, however their joints stand."""
        if between(self.arm, i, j) is None:
            return False
        for joint in (i, j):
            if joint not in self.surfaces:
                self.surfaces[joint] = surface_of(self.shapes, joint)
        first, second = self.surfaces[i], self.surfaces[j]
        if first is None or second is None:
            return False
        limbs, gap = self.empty.limbs, _NEAR * self.empty.margin
        return surely_apart(self.arm, limbs, self.limits, (i, j), (first, second), gap)

    def used(self, pairs: np.ndarray) -> tuple[tuple[Capsule, ...], np.ndarray]:
        """The coarse capsules and those of the pairs, and the pairs by their places among these."""
        kept = np.union1d(np.arange(len(self.shapes.capsules)), pairs)
        return tuple(self.capsules[c] for c in kept), np.searchsorted(kept, pairs)

    def overlap(self, members: np.ndarray, gap: float) -> float:
        """Part of the poses in which some of these pairs are nearer than the gap."""
        used, place = np.unique(members, return_inverse=True)
        capsules = tuple(self.capsules[c] for c in used)
        rods = rods_of(capsules)
        points, radii = rods.placed(self.poses), rods.radii
        near = np.zeros(len(points), bool)
        for a, b in place.reshape(-1, 2):
            far = np.linalg.norm(nearest(points[:, a], points[:, b])[2], axis=-1)
            near |= far - radii[a] - radii[b] < gap
        return float(near.mean())
