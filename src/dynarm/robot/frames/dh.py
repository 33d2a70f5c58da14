"""Denavit-Hartenberg frames out of other descriptions of a chain.

`modified_dh` takes joints with arbitrary frames and axes, as a URDF gives them, to the internal frames: z on the
driving axis, step Tx(a) Rx(alpha) Ry(beta) Tz(d) Rz(theta). `from_classic_dh` regroups classic (distal) numbers.

The frame of joint i is pinned by its axis and the next one: x lies on their common normal. What that leaves free is
used for zeros and for short distances:

    parallel axes        the normal may stand anywhere along the axis: where d becomes 0
    coincident axes      x may point anywhere: where theta becomes 0
    nearly parallel      0 < sin(angle) < 0.05 and the normal's feet lie off the robot: x points at the next axis in
                         the plane z = 0, and alpha and one more constant rotation beta reach that axis (Hayati)
    prismatic joint      only its direction counts: its line may be moved, to meet the neighbouring axes if it can
    first, last joint    the first frame is its own frame 0, the last keeps d = theta = 0

Constants that differ from 0, or from a multiple of a quarter turn, by rounding alone are made exact; all others stay,
so that a twist written as 1.5708 stays 1.5708.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...border.words import shown
from ...errors import InputError, KindError, ModelError
from ..arm import Arm, Joint
from ..inertia import move_parameters, tensor
from .poses import inverse, rigid
from .rounding import ROUNDING, clean, clean_direction, clean_pose, norm, snap

NEARLY_PARALLEL = 0.05  # sine below which the common normal may run away
MAX_SEARCHED = 12  # prismatic joints beyond which their lines stay where they are given
_TINY_SINE = 1e-9  # below it the direction of the common normal is mostly rounding
_QUARTER = math.pi / 2


@dataclass(frozen=True, slots=True, eq=False)
class Segment:
    """One joint as other formats describe it, with the link that it moves."""

    kind: str  # revolute, prismatic
    placement: np.ndarray  # 4x4 pose of the link frame in the frame of the link before, at q = 0
    axis: np.ndarray  # unit vector, in the link frame
    parameters: np.ndarray  # the ten inertial parameters about the link frame


@dataclass(frozen=True, slots=True, eq=False)
class Frames:
    """A chain in internal frames."""

    base: np.ndarray  # pose of frame 0 in the link that carries the first joint
    steps: tuple[tuple[float, ...], ...]  # a, alpha, beta, d, theta of each joint
    links: tuple[np.ndarray, ...]  # pose of each internal frame in its link's own frame
    parameters: np.ndarray  # (n, 10) about the internal frames


def modified_dh(segments: Sequence[Segment]) -> Frames:
    """The chain in modified Denavit-Hartenberg frames, the same motion and dynamics to rounding."""
    chain = _Lines(segments)
    links, steps = _with_best_lines(chain)
    table = [
        _clean_parameters(move_parameters(s.parameters, *_parts(inverse(X))), s.parameters, X)
        for s, X in zip(segments, links, strict=True)
    ]
    base = clean_pose(
        segments[0].placement @ links[0], chain.size + norm(segments[0].placement[:3, 3])
    )
    return Frames(base, steps, links, np.array(table))


class _Lines:
    """The joint axes as lines, each in the frame of its own link, with the movable points of prismatic ones."""

    def __init__(self, segments: Sequence[Segment]) -> None:
        self.n = len(segments)
        self.T = [clean_pose(s.placement, norm(s.placement[:3, 3])) for s in segments]
        self.u = [clean_direction(s.axis) for s in segments]
        self.points = [np.zeros(3) for _ in segments]
        self.sliding = [i for i, s in enumerate(segments) if s.kind == "prismatic"]
        self.size = sum(norm(T[:3, 3]) for T in self.T[1:]) or 1.0
        self.back = [inverse(T) for T in self.T]
        # the axis after joint i, in the frame of link i, and the common normal: |normal| is the sine between them
        self.v = [
            clean_direction(T[:3, :3] @ u) for T, u in zip(self.T[1:], self.u[1:], strict=True)
        ]
        self.normal = [cross(u, v) for u, v in zip(self.u[:-1], self.v, strict=True)]
        self.sine = [norm(normal) for normal in self.normal]

    def next_point(self, i: int) -> np.ndarray:
        """A point of the axis after joint i, in the frame of link i."""
        T = self.T[i + 1]
        return T[:3, :3] @ self.points[i + 1] + T[:3, 3]


# ---- the lines of prismatic joints


def _with_best_lines(chain: _Lines) -> tuple[tuple[np.ndarray, ...], tuple[tuple[float, ...], ...]]:
    """Frames and steps with each prismatic line where it makes most constants zero, one joint after another."""
    found = _convert(chain)
    if len(chain.sliding) > MAX_SEARCHED:
        return found
    best = _cost(chain, found[1])
    for _ in range(2):
        before = best
        for i in chain.sliding:
            kept = chain.points[i]
            for point in _candidates(chain, i):
                chain.points[i] = point
                trial = _convert(chain)
                cost = _cost(chain, trial[1])
                if cost < best:
                    kept, found, best = point, trial, cost
            chain.points[i] = kept
        if best == before or len(chain.sliding) == 1:
            break
    return found


def _cost(chain: _Lines, steps: Sequence[Sequence[float]]) -> tuple[int, float]:
    """How much arithmetic the constants cause, roughly, then how long they are (rounded, so that ties are ties)."""
    count, length = 0, 0.0
    for i, (a, _, beta, d, theta) in enumerate(steps):
        turns = theta / _QUARTER
        # an odd angle is an addition to q, or, if there is no angle q, one more plane rotation
        odd = (turns != round(turns)) * (8 if i in chain.sliding else 1)
        count += 8 * (beta != 0) + 2 * (a != 0) + 2 * (d != 0) + odd
        length += abs(a) + abs(d)
    return count, round(length / chain.size, 9)


def _candidates(chain: _Lines, i: int) -> list[np.ndarray]:
    """Points through which the line of prismatic joint i may well pass, in the frame of link i."""
    points = []
    back = chain.back[i]
    if i + 1 < chain.n:
        points.append(chain.next_point(i))
    if i > 0:
        points.append(back[:3, :3] @ chain.points[i - 1] + back[:3, 3])
    if 0 < i < chain.n - 1:
        (r, p), u = points, chain.u[i]
        e, f = back[:3, :3] @ chain.u[i - 1], chain.v[i]
        sine = float(cross(e, f) @ u)
        if abs(sine) > 0.1:  # seen along u, the two neighbouring axes cross
            meeting = p + e * float(cross(r - p, f) @ u / sine)
            if norm(meeting) <= chain.size:
                points.append(meeting)
    u = chain.u[i]
    points = [clean(p - u * float(u @ p), chain.size) for p in points]
    return [*points, np.zeros(3)]


# ---- the frames


def _convert(chain: _Lines) -> tuple[tuple[np.ndarray, ...], tuple[tuple[float, ...], ...]]:
    """Pose of each internal frame in its link's frame, and the steps between them."""
    links = [_first_frame(chain)]
    steps: list[tuple[float, ...]] = [(0.0,) * 5]
    for i in range(1, chain.n):
        T, u, point = chain.T[i], chain.u[i], chain.points[i]
        before = links[-1]
        R, t = _parts(chain.back[i])
        x, origin = _landing(chain, i, before)
        x = clean_direction(R @ x)
        origin = point + u * float(u @ (R @ origin + t - point))
        if i + 1 < chain.n:
            x, origin = _pinned(chain, i, x, origin)
        links.append(_frame(x, u, clean(origin, chain.size)))
        steps.append(_constants(before, T @ links[-1], chain.size))
    return tuple(links), tuple(steps)


def _first_frame(chain: _Lines) -> np.ndarray:
    """Frame 1, pinned as far as the axes behind pin it: their frames at zero pose are carried back to link 1."""
    u, point = chain.u[0], chain.points[0]
    x, origin = _any_normal(u), point
    T = np.eye(4)
    reached = 0
    while reached + 1 < chain.n and _free_along(chain, reached):
        reached += 1
        T = T @ chain.T[reached]
    if reached + 1 < chain.n:
        _, there = _pinned(chain, reached, _any_normal(chain.u[reached]), chain.points[reached])
        there = T[:3, :3] @ there + T[:3, 3]
        origin = point + u * float(u @ (there - point))
    T = np.eye(4)
    for i in range(chain.n - 1):  # the first pair of axes that gives x a direction
        if i:
            T = T @ chain.T[i]
        local = T[:3, :3].T @ (origin - T[:3, 3])
        found = _direction(chain, i, local)
        if found is not None:
            found = T[:3, :3] @ found
            x = clean_direction(found - u * float(u @ found))
            break
        if not _free_along(chain, i):
            break
    return _frame(_facing(x, np.eye(3)), u, clean(origin, chain.size))


def _pinned(
    chain: _Lines, i: int, x: np.ndarray, origin: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """x and origin of frame i as the next axis wants them; what it leaves free stays as given."""
    foot = _foot(chain, i, origin)
    if foot is not None:
        origin = foot
    found = _direction(chain, i, origin)
    if found is None:
        return x, origin
    side = float(found @ x)
    if abs(side) <= ROUNDING:  # a quarter turn either way: take the positive one
        side = float(cross(x, found) @ chain.u[i])
    return (found if side > 0 else -found), origin


def _free_along(chain: _Lines, i: int) -> bool:
    """Whether the next axis lets the origin of frame i slide along axis i."""
    return _foot(chain, i, chain.points[i]) is None


def _foot(chain: _Lines, i: int, wish: np.ndarray) -> np.ndarray | None:
    """Foot on axis i of the common normal with the next axis; None where it is free, or off the robot."""
    u, point, v, sine = chain.u[i], chain.points[i], chain.v[i], chain.sine[i]
    if sine < _TINY_SINE:
        return None
    there = chain.next_point(i)
    across = cross(chain.normal[i] / sine, v)
    along = float(across @ (there - point) / (across @ u))
    if sine < NEARLY_PARALLEL:
        gap = there - point - u * along
        if abs(along) > chain.size or abs(float(gap @ v)) > chain.size:
            return None
    # rounding moves the foot by its share of 1 / sine; a place already taken within that is the same place
    slack = ROUNDING * chain.size / sine
    for place in (float(u @ (wish - point)), 0.0):
        if abs(along - place) <= slack:
            along = place
            break
    return point + u * along


def _direction(chain: _Lines, i: int, origin: np.ndarray) -> np.ndarray | None:
    """Direction of x of frame i with the given origin, up to its sign; None where it is free."""
    u, point, v, sine = chain.u[i], chain.points[i], chain.v[i], chain.sine[i]
    if sine >= NEARLY_PARALLEL or _foot(chain, i, origin) is not None:
        return clean_direction(chain.normal[i])
    there = chain.next_point(i)
    at = point + u * float(u @ (origin - point))
    # to the next axis, in the plane across this one
    gap = there + v * float(u @ (at - there) / (u @ v)) - at
    gap = gap - u * float(u @ gap)
    if norm(gap) > ROUNDING * chain.size:
        return clean_direction(gap)
    return clean_direction(chain.normal[i]) if sine > ROUNDING else None


def _landing(chain: _Lines, i: int, before: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """x and origin that frame i has with d = theta = 0, in the frame of link i-1."""
    probe = chain.T[i] @ _frame(_any_normal(chain.u[i]), chain.u[i], chain.points[i])
    a, alpha, beta, _, _ = _constants(before, probe, chain.size)
    R, t = _parts(before)
    x = np.array(
        [math.cos(beta), math.sin(alpha) * math.sin(beta), -math.cos(alpha) * math.sin(beta)]
    )
    return R @ x, t + R[:, 0] * a


def _constants(before: np.ndarray, after: np.ndarray, size: float) -> tuple[float, ...]:
    """a, alpha, beta, d, theta of the step between two frames given in one and the same frame."""
    D = inverse(before) @ after
    R, p = D[:3, :3], D[:3, 3]
    sb, y, z = R[0, 2], -R[1, 2], R[2, 2]
    beta = 0.0 if abs(sb) <= ROUNDING else math.atan2(sb, math.hypot(y, z))
    alpha = snap(math.atan2(y, z))
    theta = snap(math.atan2(-R[0, 1], R[0, 0]))
    d = (-math.sin(alpha) * p[1] + math.cos(alpha) * p[2]) / math.cos(beta)
    d = float(clean(d, size))
    a = float(clean(p[0] - d * math.sin(beta), size))
    return a, alpha, beta, d, theta


# ---- small geometry


def _frame(x: np.ndarray, z: np.ndarray, origin: np.ndarray) -> np.ndarray:
    """The pose with the given z, x turned into the plane across it."""
    x = clean_direction(x - z * float(z @ x))
    T = np.eye(4)
    T[:3, 0], T[:3, 1], T[:3, 2], T[:3, 3] = x, clean_direction(cross(z, x)), z, origin
    return T


def _any_normal(u: np.ndarray) -> np.ndarray:
    """A unit vector across u: the coordinate axis least along it, made normal."""
    e = np.eye(3)[int(np.argmin(np.abs(u) > 0.9))]
    return clean_direction(e - u * float(u @ e))


def _facing(x: np.ndarray, axes: np.ndarray) -> np.ndarray:
    """x or -x, whichever looks along the first of the axes that is not across it."""
    for axis in axes:
        if abs(float(x @ axis)) > 1e-6:
            return x if float(x @ axis) > 0 else -x
    return x


def cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a x b; for single vectors far quicker than NumPy's."""
    (ax, ay, az), (bx, by, bz) = a.tolist(), b.tolist()
    return np.array([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx])


def _parts(T: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return T[:3, :3], T[:3, 3]


def _clean_parameters(ten: np.ndarray, given: Any, X: np.ndarray) -> np.ndarray:
    """The moved parameters, entries that are rounding of what they were made of set to zero."""
    m, t = abs(float(given[0])), norm(X[:3, 3])
    h = norm(np.asarray(given[1:4], float))
    ten = ten.copy()
    ten[1:4] = clean(ten[1:4], h + m * t)
    ten[4:] = clean(ten[4:], float(np.abs(tensor(given)).max()) + 2 * h * t + m * t * t)
    return ten


# ---- classic convention


def from_classic_dh(
    joints: Sequence[Joint],
    gravity: Any = (0.0, 0.0, -9.81),
    name: str = "arm",
    base: Any = None,
    tool: Any = None,
) -> Arm:
    """The arm whose joints' numbers are meant in the classic (distal) convention.

    Classic: frame i in frame i-1 at Rz(theta) Tz(d) Tx(a) Rx(alpha). Grouped the other way, with a and alpha of the
    link before, the same product is the modified convention, exactly; each link's distal frame stands at
    Tx(a) Rx(alpha) in its internal frame, and its inertia is moved by that.
    """
    if isinstance(joints, Joint) or not isinstance(joints, Iterable):
        raise KindError(f"joints is {shown(joints)}; give a list of dynarm.Joint")
    given = list(joints)
    if not given:
        raise ModelError("the arm has no joints; give at least one dynarm.Joint")
    a, alpha = 0.0, 0.0
    found = []
    for i, joint in enumerate(given):
        if not isinstance(joint, Joint):
            raise KindError(f"joints[{i}] is {shown(joint)}; give dynarm.Joint(...)")
        if joint.beta:
            raise InputError(
                f"joints[{i}] has beta {joint.beta}; the classic convention has no such angle, set it to 0"
            )
        distal = Joint(a=joint.a, alpha=joint.alpha).displacement()
        assert joint.parameters is not None
        ten = move_parameters(joint.parameters, *_parts(distal))
        ten = _clean_parameters(ten, joint.parameters, distal)
        found.append(replace(joint, a=a, alpha=alpha).with_parameters(ten.tolist()))
        a, alpha = joint.a, joint.alpha
    end = distal if tool is None else distal @ rigid("tool", tool)
    return Arm(tuple(found), gravity=gravity, name=name, base=base, tool=end)
