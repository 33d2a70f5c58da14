"""A robot drawn as lines in space: links along its own frames, joints on their axes, masses where they are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ..robot.arm import Arm
from .html import Markup, drawing

WIDTH, HEIGHT = 640, 420
AZIMUTH, ELEVATION = 0.7, 0.4  # [rad]
BENT = np.radians(30)
_MARGIN = 55
_LETTERS = 14.0  # height of a line of text [pixels]


def pose(arm: Arm) -> np.ndarray:
    """(n,) a pose to draw: joints beyond the first a little bent, translations drawn out, all within their limits."""
    reach = sum(abs(j.a) + abs(j.d) for j in arm.joints) + float(
        np.linalg.norm(arm.tool_pose[:3, 3])
    )
    q = np.zeros(arm.n)
    for k, joint in enumerate(arm.joints):
        low, high = joint.position_limits or (-np.inf, np.inf)
        wanted = BENT * (k > 0) if joint.revolute else 0.4 * (reach or 1.0)
        q[k] = np.clip(wanted, low, high)
    return q


def frames(arm: Arm, q: Sequence[float] | np.ndarray) -> list[np.ndarray]:
    """4x4 poses in the base link: frame 0, the frame of every link, the tool."""
    poses = [arm.base_pose]
    for joint, angle in zip(arm.joints, q, strict=True):
        poses.append(poses[-1] @ joint.displacement(float(angle)))
    return [*poses, poses[-1] @ arm.tool_pose]


def skeleton(arm: Arm, q: Sequence[float] | np.ndarray) -> list[np.ndarray]:
    """For every joint and the tool, the corners (k, 3) of the line that leads to it from the frame before."""
    places = frames(arm, q)
    lines = []
    for k, joint in enumerate(arm.joints):
        # along the common normal, then along the axis
        corner = places[k] @ np.array([joint.a, 0, 0, 1.0])
        lines.append(np.array([places[k][:3, 3], corner[:3], places[k + 1][:3, 3]]))
    last, tool = places[-2], places[-1]
    corner = last[:3, 3] + last[:3, 2] * (last[:3, 2] @ (tool[:3, 3] - last[:3, 3]))
    lines.append(np.array([last[:3, 3], corner, tool[:3, 3]]))
    return lines


def sketch(arm: Arm, q: np.ndarray | None = None) -> Markup:
    """The robot as an SVG that turns when dragged."""
    q = pose(arm) if q is None else q
    view = _View(np.concatenate([np.zeros((1, 3)), *skeleton(arm, q), *_masses(arm, q)]))
    parts = Markup("").join(_elements(arm, q, view))
    svg = Markup(
        '<svg class="sketch" viewBox="0 0 {} {}" role="img" aria-label="{}" data-azimuth="{}" data-elevation="{}" '
        'data-scale="{}" data-x="{}" data-y="{}" data-centre="{}">{}</svg>'
    ).format(
        WIDTH,
        HEIGHT,
        f"Sketch of {arm.name}",
        AZIMUTH,
        ELEVATION,
        f"{view.scale:.6g}",
        f"{view.origin[0]:.1f}",
        f"{view.origin[1]:.1f}",
        _spaced(view.centre),
        parts,
    )
    angles = ", ".join(
        f"{np.degrees(x):.0f}°" if j.revolute else f"{x:.2f} m"
        for j, x in zip(arm.joints, q, strict=True)
    )
    return drawing(
        svg,
        f"Drawn from the robot's own frames at q = ({angles}). Bars: axes of rotational (blue) and translational "
        "(orange) joints; discs: centres of mass, area by mass. Drag to turn.",
    )


class _View:
    """An axonometric view that fits all points."""

    def __init__(self, points: np.ndarray):
        self.centre = (points.min(axis=0) + points.max(axis=0)) / 2
        self.scale, self.origin = 1.0, np.zeros(2)
        self.radius = max(float(np.linalg.norm(points - self.centre, axis=1).max()), 1e-3)
        flat = np.array([self.flat(p) for p in points])
        low, high = flat.min(axis=0), flat.max(axis=0)
        room = np.array([WIDTH, HEIGHT]) - 2 * _MARGIN
        self.scale = float((room / np.maximum(high - low, 0.3 * self.radius)).min())
        middle = (low + high) / 2 * self.scale
        self.origin = np.array([WIDTH, HEIGHT]) / 2 - middle

    def flat(self, point: np.ndarray) -> np.ndarray:
        """The place of a point on the sheet, in pixels."""
        x, y, z = point - self.centre
        ca, sa, ce, se = np.cos(AZIMUTH), np.sin(AZIMUTH), np.cos(ELEVATION), np.sin(ELEVATION)
        return self.origin + self.scale * np.array(
            [ca * y - sa * x, -(ce * z - se * (ca * x + sa * y))]
        )


def _spaced(point: np.ndarray) -> str:
    return " ".join(f"{x:.4f}" for x in point)


def _polyline(points: np.ndarray, kind: str, view: _View) -> Markup:
    flat = " ".join("{:.1f},{:.1f}".format(*view.flat(p)) for p in points)
    space = ",".join(_spaced(p) for p in points)
    return Markup('<polyline class="{}" points="{}" data-p="{}"/>').format(kind, flat, space)


def _masses(arm: Arm, q: np.ndarray) -> list[np.ndarray]:
    places = frames(arm, q)[1:-1]
    return [
        (T @ np.array([*j.com, 1.0]))[None, :3]
        for T, j in zip(places, arm.joints, strict=True)
        if j.mass > 0
    ]


def _elements(arm: Arm, q: np.ndarray, view: _View) -> Iterator[Markup]:
    places, size = frames(arm, q), view.radius
    r = 0.35 * size
    floor = np.array([[-r, -r, 0], [r, -r, 0], [r, r, 0], [-r, r, 0], [-r, -r, 0]])
    yield _polyline(floor, "floor", view)
    for k, axis in enumerate("xyz"):
        yield _polyline(np.array([np.zeros(3), 0.15 * size * np.eye(3)[k]]), axis, view)
    for corners in skeleton(arm, q):
        yield _polyline(corners, "link", view)
    for corners, T, joint in zip(skeleton(arm, q), places[1:], arm.joints, strict=False):
        # a slide sits on its rail
        centre = T[:3, 3] if joint.revolute else corners[1:].mean(axis=0)
        half = 0.055 * size * T[:3, 2]
        yield _polyline(np.array([centre - half, centre + half]), joint.kind, view)
    heaviest = max((j.mass for j in arm.joints), default=0.0)
    for point, joint in zip(_masses(arm, q), (j for j in arm.joints if j.mass > 0), strict=True):
        x, y = view.flat(point[0])
        radius = 3 + 9 * np.sqrt(joint.mass / heaviest)
        yield Markup(
            '<circle class="mass" cx="{}" cy="{}" r="{}" data-p="{}"><title>{}</title></circle>'
        ).format(
            f"{x:.1f}",
            f"{y:.1f}",
            f"{radius:.1f}",
            _spaced(point[0]),
            f"{joint.name}: {joint.mass:g} kg",
        )
    for k, axis in enumerate("xyz"):
        T = places[-1]
        yield _polyline(np.array([T[:3, 3], T[:3, 3] + 0.1 * size * T[:3, k]]), axis, view)
    yield from _labels(arm, places, view)


def _labels(arm: Arm, places: Sequence[np.ndarray], view: _View) -> Iterator[Markup]:
    """The joints' names, one below the other where joints stand in one place."""
    taken: list[tuple[float, float]] = []
    for T, joint in zip(places[1:], arm.joints, strict=False):
        at = view.flat(T[:3, 3])
        down = 0.0
        while any(abs(at[0] - x) < _LETTERS and abs(at[1] + down - y) < _LETTERS for x, y in taken):
            down += _LETTERS
        taken.append((at[0], at[1] + down))
        yield Markup('<text x="{}" y="{}" data-p="{}" data-down="{}">{}</text>').format(
            f"{at[0] + 10:.1f}", f"{at[1] - 8 + down:.1f}", _spaced(T[:3, 3]), down, joint.name
        )
