"""Denavit-Hartenberg frames of robots whose joints have arbitrary frames and axes, as a URDF gives them.

`modified_dh` gives the internal frames: z on the driving axis, step Tx(a) Rx(alpha) Ry(beta) Tz(d) Rz(theta) from the
parent's frame. The frame of a link is pinned by its axis and that of one joint on it, its main child: x lies on their
common normal. What that leaves free is used for zeros and for short distances:

    parallel axes        the normal may stand anywhere along the axis: where d becomes 0
    coincident axes      x may point anywhere: where theta becomes 0
    nearly parallel      0 < sin(angle) < 0.05 and the normal's feet lie off the robot: x points at the next axis in
                         the plane z = 0, and alpha and one more constant rotation beta reach that axis (Hayati)
    prismatic joint      only its direction counts: its line may be moved, to meet the neighbouring axes if it can
    first, last joint    the first frame is its own frame 0, the last keeps d = theta = 0

Where several joints hang on a link, the step of each but the main child has Rz(gamma) Tz(b) before it, from the link's
frame to the one that this child would have wished (Khalil and Kleinfinger). Main is the child that carries most joints,
or another where that makes more constants zero. On a base link with several joints, or a free one, all are such
children: frame 0 is the link's own.

Constants that differ from 0, or from a multiple of a quarter turn, by rounding alone are made exact; all others stay,
so that a twist written as 1.5708 stays 1.5708.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..inertia import move_parameters
from .lines import (
    NEARLY_PARALLEL,
    JointLine,
    Lines,
    any_normal,
    clean_parameters,
    cross,
    direction,
    facing,
    frame,
    free_along,
    pinned,
)
from .poses import inverse, rotation, translation
from .rounding import ROUNDING, clean, clean_direction, clean_pose, norm, snap

__all__ = ["NEARLY_PARALLEL", "Frames", "JointLine", "modified_dh"]

MAX_SEARCHED = 12  # prismatic joints beyond which their lines stay where they are given
# of the robot's size: how far an axis may be moved for the sake of a quarter turn
MOVED = 16 * ROUNDING
_QUARTER = math.pi / 2


@dataclass(frozen=True, slots=True, eq=False)
class Frames:
    """A robot in internal frames."""

    base: np.ndarray  # pose of frame 0 in the link that carries the first joint
    steps: tuple[tuple[float, ...], ...]  # a, alpha, beta, d, theta of each joint
    branches: tuple[tuple[float, float], ...]  # gamma, b of each joint
    links: tuple[np.ndarray, ...]  # pose of each internal frame in its link's own frame
    parameters: np.ndarray  # (n, 10) about the internal frames


@dataclass(frozen=True, slots=True, eq=False)
class _Layout:
    """Pose of each internal frame in its link's frame, and the constants between them."""

    links: tuple[np.ndarray, ...]
    steps: tuple[tuple[float, ...], ...]
    branches: tuple[tuple[float, float], ...]


def modified_dh(
    segments: Sequence[JointLine], parents: Sequence[int] | None = None, free: bool = False
) -> Frames:
    """The robot in modified Denavit-Hartenberg frames, the same motion and dynamics to rounding.

    parents: of each joint, earlier ones, -1 for the base; None for a chain. free: whether the base moves freely.
    """
    tree = range(-1, len(segments) - 1) if parents is None else parents
    lines = Lines(segments, tree, own_base=free or list(tree).count(-1) > 1)
    layout = _with_best_lines(lines, _with_best_children(lines, _convert(lines)))
    links = layout.links
    table = [
        clean_parameters(move_parameters(s.parameters, *_parts(inverse(X))), s.parameters, X)
        for s, X in zip(segments, links, strict=True)
    ]
    if lines.own_base:
        base = np.eye(4)
    else:
        reach = lines.size + norm(segments[0].placement[:3, 3])
        base = clean_pose(segments[0].placement @ links[0], reach)
    return Frames(base, layout.steps, layout.branches, links, np.array(table))


# ---- what is free to choose


def _with_best_children(lines: Lines, layout: _Layout) -> _Layout:
    """The layout in which each link's frame is pinned by the child that makes most constants zero."""
    best = _cost(lines, layout)
    for i, below in enumerate(lines.children):
        if len(below) < 2 or (i == lines.n and lines.own_base):
            continue
        kept = lines.main[i]
        for j in below:
            if j == kept:
                continue
            lines.main[i] = j
            trial = _convert(lines, layout, lines.affected(i))
            cost = _cost(lines, trial)
            if cost[0] < best[0]:
                kept, layout, best = j, trial, cost
        lines.main[i] = kept
    return layout


def _with_best_lines(lines: Lines, layout: _Layout) -> _Layout:
    """The layout with each prismatic line where it makes most constants zero, one joint after another."""
    if len(lines.sliding) > MAX_SEARCHED:
        return layout
    best = _cost(lines, layout)
    for _ in range(2):
        before = best
        for i in lines.sliding:
            kept = lines.points[i]
            p = lines.parents[i]
            changed = lines.affected(p if lines.main[p] == i else i)
            for point in _candidates(lines, i, layout):
                lines.points[i] = point
                trial = _convert(lines, layout, changed)
                cost = _cost(lines, trial)
                if cost < best:
                    kept, layout, best = point, trial, cost
            lines.points[i] = kept
        if best == before or len(lines.sliding) == 1:
            break
    return layout


def _cost(lines: Lines, layout: _Layout) -> tuple[int, float]:
    """How much arithmetic the constants cause, roughly, then how long they are (rounded, so that ties are ties)."""
    count, length = 0, 0.0
    rows = zip(layout.steps, layout.branches, strict=True)
    for i, ((a, _, beta, d, theta), (gamma, b)) in enumerate(rows):
        # an odd angle is an addition to q, or, if there is no angle q, one more plane rotation
        odd = _odd(theta) * (8 if i in lines.sliding else 1)
        count += 8 * (beta != 0) + 2 * (a != 0) + 2 * (d != 0) + odd
        count += 8 * _odd(gamma) + 2 * (b != 0)
        length += abs(a) + abs(d) + abs(b)
    return count, round(length / lines.size, 9)


def _odd(angle: float) -> bool:
    """Whether an angle is no multiple of a quarter turn."""
    turns = angle / _QUARTER
    return turns != round(turns)


def _candidates(lines: Lines, i: int, layout: _Layout) -> list[np.ndarray]:
    """Points through which the line of prismatic joint i may well pass, in the frame of link i."""
    points = []
    back, p, after = lines.back[i], lines.parents[i], lines.main[i]
    held = p >= 0 or lines.own_base  # there is a line before it
    if after is not None:
        points.append(lines.point_of(after))
    if held:
        points.append(back[:3, :3] @ lines.points[p] + back[:3, 3])
    if held and after is not None:
        (r, s), u = points, lines.u[i]
        e, f = back[:3, :3] @ lines.u[p], lines.v[after]
        sine = float(cross(e, f) @ u)
        if abs(sine) > 0.1:  # seen along u, the two neighbouring axes cross
            meeting = s + e * float(cross(r - s, f) @ u / sine)
            if norm(meeting) <= lines.size:
                points.append(meeting)
    if p >= 0 and lines.main[p] != i:  # the parent's origin stands where another child wants it
        points.append(back[:3, :3] @ layout.links[p][:3, 3] + back[:3, 3])
    u = lines.u[i]
    points = [clean(point - u * float(u @ point), lines.size) for point in points]
    return [*points, np.zeros(3)]


# ---- the frames


def _convert(lines: Lines, layout: _Layout | None = None, changed: Sequence[int] = ()) -> _Layout:
    """The frames that the lines pin, from the base outwards: all, or those that changed since a layout."""
    links = [np.eye(4)] * lines.n if layout is None else list(layout.links)
    steps: list[tuple[float, ...]] = [(0.0,) * 5] * lines.n
    if layout is not None:
        steps = list(layout.steps)
    branches = [(0.0, 0.0)] * lines.n if layout is None else list(layout.branches)
    for i in range(lines.n) if layout is None else changed:
        p, after = lines.parents[i], lines.main[i]
        if p < 0 and not lines.own_base:
            links[i] = _first_frame(lines)
            continue
        T, u, point = lines.T[i], lines.u[i], lines.points[i]
        before = links[p] if p >= 0 else np.eye(4)
        gamma = b = 0.0
        if lines.main[p] != i:
            gamma, b = _branch(lines, i, before)
            before = before @ rotation("z", gamma) @ translation(0, 0, b)
        R, t = _parts(lines.back[i])
        x, origin = _landing(lines, i, before)
        x = clean_direction(R @ x)
        origin = point + u * float(u @ (R @ origin + t - point))
        if after is not None:
            x, origin = pinned(lines, after, x, origin)
        links[i] = frame(x, u, clean(origin, lines.size))
        steps[i] = _constants(before, T @ links[i], lines.size)
        branches[i] = (gamma, b)
    return _Layout(tuple(links), tuple(steps), tuple(branches))


def _branch(lines: Lines, j: int, before: np.ndarray) -> tuple[float, float]:
    """gamma and b from the parent's frame to the one that joint j would pin there."""
    R, t = _parts(before)
    x, origin = pinned(lines, j, R[:, 0], t)
    u = R[:, 2]
    b = float(clean(u @ (origin - t), lines.size))
    gamma = math.atan2(float(cross(R[:, 0], x) @ u), float(R[:, 0] @ x))
    # rounding turns the common normal by its share of 1 / sine, and the axis itself by no more than rounding; an axis
    # that stands away from the parent's would be moved as well
    away = abs(float((lines.point_of(j) - origin) @ x)) / lines.size
    quarter = round(gamma / _QUARTER) * _QUARTER
    turned = abs(gamma - quarter)
    if turned * lines.sine[j] <= ROUNDING and turned * away <= MOVED and turned < 1e-6:
        gamma = quarter
    return snap(gamma), b


def _first_frame(lines: Lines) -> np.ndarray:
    """Frame 1, pinned as far as the axes behind pin it: their frames at zero pose are carried back to link 1."""
    u, point = lines.u[0], lines.points[0]
    x, origin = any_normal(u), point
    T = np.eye(4)
    reached, after = 0, lines.main[0]
    while after is not None and free_along(lines, after):
        T = T @ lines.T[after]
        reached, after = after, lines.main[after]
    if after is not None:
        _, there = pinned(lines, after, any_normal(lines.u[reached]), lines.points[reached])
        there = T[:3, :3] @ there + T[:3, 3]
        origin = point + u * float(u @ (there - point))
    T = np.eye(4)
    after = lines.main[0]
    while after is not None:  # the first pair of axes that gives x a direction
        local = T[:3, :3].T @ (origin - T[:3, 3])
        across = direction(lines, after, local)
        if across is not None:
            across = T[:3, :3] @ across
            x = clean_direction(across - u * float(u @ across))
            break
        if not free_along(lines, after):
            break
        T = T @ lines.T[after]
        after = lines.main[after]
    return frame(facing(x, np.eye(3)), u, clean(origin, lines.size))


def _landing(lines: Lines, i: int, before: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """x and origin that frame i has with d = theta = 0, in the frame of its parent link."""
    probe = lines.T[i] @ frame(any_normal(lines.u[i]), lines.u[i], lines.points[i])
    a, alpha, beta, _, _ = _constants(before, probe, lines.size)
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


def _parts(T: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return T[:3, :3], T[:3, 3]
