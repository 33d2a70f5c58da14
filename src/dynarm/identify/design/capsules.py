"""Capsules (rods with round ends) that hold a body: as few as hold it tightly.

A body of triangles is cut into slabs across one of its principal axes; a capsule that holds the corners of what lies
in a slab, corners of the cut included, holds that part of the surface, because capsules are convex.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial import ConvexHull, QhullError

_FATTER = (1.0, 1.04, 1.1, 1.2, 1.35)  # radii that are tried, in parts of the smallest one
_ROUNDS = 80  # towards the middle of the smallest circle about points
_EACH = 0.06  # part of the volume that one capsule more has to save
_MANY = 6000  # triangles from which on a body is made coarser,
_CELLS = 96  # to a grid of this many cells along its longest side
_FINE = 12  # slabs that are hulled once; halves, thirds and quarters are put together of them
_GRAIN = 20  # parts of a body's longest side that edges of triangles are cut to before it is split,
_MOST = 20_000  # triangles at most
_TIGHT = 1.25  # volume of the capsule over that of the hull at which it is left alone
Rod = tuple[np.ndarray, np.ndarray, float, float]  # foot, axis, length and radius of a capsule


@dataclass(frozen=True, slots=True, eq=False)
class Capsule:
    """All points within `radius` [m] of the line from start to end; joint: the frame that it is fixed to, -1: base."""

    joint: int
    start: np.ndarray
    end: np.ndarray
    radius: float
    name: str = ""

    @property
    def volume(self) -> float:
        return _volume(float(np.linalg.norm(self.end - self.start)), self.radius)


def _volume(length: float, radius: float) -> float:
    return float(np.pi * radius**2 * (length + 4 / 3 * radius))


def holding(triangles: np.ndarray, most: int, joint: int, name: str) -> list[Capsule]:
    """At most `most` (up to 4) capsules that together hold every triangle (faces, 3, 3)."""
    triangles, grown = coarser(triangles)
    points, bulk = _hull(triangles.reshape(-1, 3))
    best = [_around(points)]
    least = _volume(*best[0][2:])
    for axis in _axes(points)[:3] if least > _TIGHT * bulk else ():
        parts = [_hull(part)[0] for part in _slabs(triangles, axis, _FINE)]
        for count in range(2, most + 1):
            joined = (parts[k : k + _FINE // count] for k in range(0, _FINE, _FINE // count))
            slabs = [np.vstack(some) for some in joined]
            made = [_around(slab) for slab in slabs if len(slab)]
            volume = sum(_volume(*rod[2:]) for rod in made) * (1 + _EACH * (count - 1))
            if volume < least:
                best, least = made, volume
    return [
        Capsule(joint, foot, foot + length * axis, radius + grown, name)
        for foot, axis, length, radius in best
    ]


def covering(triangles: np.ndarray, most: int, joint: int, name: str) -> list[Capsule]:
    """Up to `most` capsules that hold every triangle more tightly: the fattest part is halved, again and again."""
    triangles, grown = coarser(triangles)
    whole = grains(triangles, float(np.ptp(triangles, axis=(0, 1)).max()) / _GRAIN)
    parts = [(whole, _around(_hull(whole.reshape(-1, 3))[0]))]
    while len(parts) < most:
        k = max(range(len(parts)), key=lambda k: _volume(*parts[k][1][2:]))
        halves = _halved(parts[k][0])
        if not halves:
            break
        parts[k : k + 1] = halves
    return [
        Capsule(joint, foot, foot + length * axis, radius + grown, name)
        for _, (foot, axis, length, radius) in parts
    ]


def _halved(part: np.ndarray) -> list[tuple[np.ndarray, Rod]]:
    """The two halves of triangles across that principal axis where capsules about them are smallest."""
    corners = _hull(part.reshape(-1, 3))[0]
    best: list[tuple[np.ndarray, Rod]] = []
    least = np.inf
    for axis in _axes(corners)[:3]:
        height = part.mean(axis=1) @ axis
        upper = height > (height.min() + height.max()) / 2
        if upper.all() or not upper.any():
            continue
        halves = [part[upper], part[~upper]]
        made = [(half, _around(_hull(half.reshape(-1, 3))[0])) for half in halves]
        volume = sum(_volume(*rod[2:]) for _, rod in made)
        if volume < least:
            best, least = made, volume
    return best


def grains(triangles: np.ndarray, longest: float, most: int = _MOST) -> np.ndarray:
    """The triangles cut across their longest edges until none is longer than so much, or they are very many."""
    while len(triangles) < most:
        edges = np.linalg.norm(np.roll(triangles, -1, axis=1) - triangles, axis=2)
        long = edges.max(axis=1) > longest
        if not long.any():
            break
        first = edges[long].argmax(axis=1)
        row = np.arange(len(first))
        a, b, c = (triangles[long][row, (first + k) % 3] for k in range(3))
        middle = (a + b) / 2
        cut = np.concatenate([np.stack([a, middle, c], axis=1), np.stack([middle, b, c], axis=1)])
        triangles = np.concatenate([triangles[~long], cut])
    return triangles


def coarser(triangles: np.ndarray) -> tuple[np.ndarray, float]:
    """Triangles of a body with fewer of them, and by how much capsules about these must grow to hold all."""
    if len(triangles) <= _MANY:
        return triangles, 0.0
    low = triangles.min(axis=(0, 1))
    cell = float(np.ptp(triangles, axis=(0, 1)).max()) / _CELLS
    places = np.rint((triangles - low) / cell).astype(np.int64)
    base = _CELLS + 2
    corner = np.sort((places[..., 0] * base + places[..., 1]) * base + places[..., 2], axis=1)
    _, kept = np.unique(corner @ np.array([base**6, base**3, 1]), return_index=True)
    return low + cell * places[kept], cell * np.sqrt(3) / 2


def _hull(points: np.ndarray) -> tuple[np.ndarray, float]:
    """The corners of the convex hull, and its volume; all points where they are flat."""
    try:
        hull = ConvexHull(points)
    except (QhullError, ValueError):
        return np.unique(points, axis=0), 0.0
    return points[hull.vertices], float(hull.volume)


def _axes(points: np.ndarray) -> np.ndarray:
    """(6, 3): the principal axes of points, and those of their frame."""
    moved = points - points.mean(axis=0)
    return np.vstack([np.linalg.eigh(moved.T @ moved)[1].T[::-1], np.eye(3)])


def _slabs(triangles: np.ndarray, axis: np.ndarray, count: int) -> list[np.ndarray]:
    """The corners of the parts of all triangles in each of `count` slabs across an axis."""
    height = triangles @ axis
    edges = np.linspace(height.min(), height.max(), count + 1)
    follow = [1, 2, 0]
    a, b = triangles.reshape(-1, 3), triangles[:, follow].reshape(-1, 3)
    ha, hb = height.ravel(), height[:, follow].ravel()
    cuts = []
    for level in edges[1:-1]:
        across = (ha - level) * (hb - level) < 0
        part = ((level - ha[across]) / (hb[across] - ha[across]))[:, None]
        cuts.append(a[across] + part * (b[across] - a[across]))
    none = np.empty((0, 3))
    ends = [none, *cuts, none]
    return [
        np.vstack([a[(ha >= edges[k]) & (ha <= edges[k + 1])], ends[k], ends[k + 1]])
        for k in range(count)
    ]


def _around(points: np.ndarray) -> Rod:
    """Foot, axis, length and radius of the capsule of least volume, about one of a few axes, that holds all points."""
    best, least = (points[0], np.eye(3)[0], 0.0, 0.0), np.inf
    for axis in _axes(points):
        across = np.linalg.svd(axis[None])[2][1:]
        flat, height = points @ across.T, points @ axis
        middle = _middle(flat)
        away = np.linalg.norm(flat - middle, axis=1)
        for factor in _FATTER:
            radius = factor * float(away.max())
            reach = np.sqrt(np.maximum(radius**2 - away**2, 0))
            low, high = float((height + reach).min()), float((height - reach).max())
            if low > high:
                low = high = (low + high) / 2
            gap = np.maximum(np.maximum(low - height, height - high), 0)
            radius = float(np.hypot(gap, away).max())
            volume = _volume(high - low, radius)
            if volume < least:
                best, least = (middle @ across + low * axis, axis, high - low, radius), volume
    return best


def _middle(flat: np.ndarray) -> np.ndarray:
    """About the middle of the smallest circle that holds points (k, 2) (Badoiu and Clarkson)."""
    middle = (flat.min(axis=0) + flat.max(axis=0)) / 2
    for k in range(_ROUNDS):
        away = flat - middle
        middle = middle + away[int((away**2).sum(axis=1).argmax())] / (k + 2)
    return np.asarray(middle)
