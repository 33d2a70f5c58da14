"""A motion as a moving picture: the robot's lines in space, the paths of its tools, the floor and the box.

SVG alone, moved by the picture itself: no script, no network.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ..identify.design.trajectory import Trajectory
from ..robot.arm import Arm
from .html import Markup, drawing
from .sketch import skeleton

WIDTH, HEIGHT = 760, 520
POSES = 160  # of the motion that are drawn
_AZIMUTH, _ELEVATION = -0.9, 0.42  # [rad]
_EDGE = 26  # free of lines [pixels]
_TILES = 8  # of the floor along a side


class _Sheet:
    """An axonometric view that fits all points (N, 3)."""

    def __init__(self, points: np.ndarray):
        ca, sa, ce, se = (f(x) for x in (_AZIMUTH, _ELEVATION) for f in (np.cos, np.sin))
        self.turn = np.array([[-sa, ca, 0], [se * ca, se * sa, -ce]])
        flat = points @ self.turn.T
        low, high = flat.min(axis=0), flat.max(axis=0)
        room = np.array([WIDTH, HEIGHT]) - 2 * _EDGE
        self.scale = float((room / np.maximum(high - low, 1e-3)).min())
        self.shift = np.array([WIDTH, HEIGHT]) / 2 - self.scale * (low + high) / 2

    def flat(self, points: np.ndarray) -> str:
        """Points (k, 3) as SVG writes them."""
        placed = self.shift + self.scale * (np.atleast_2d(points) @ self.turn.T)
        return " ".join(f"{x:.1f},{y:.1f}" for x, y in placed)


def picture(arm: Arm, motion: Trajectory) -> Markup:
    """The motion, repeated for ever, in its own time."""
    step = max(1, -(-len(motion.t) // POSES))
    frames = [skeleton(arm, q) for q in motion.q[::step]]
    paths = _paths(arm, frames)
    kept = motion.kept
    box = None if kept is None or kept.box is None else kept.box
    floor = None if kept is None else kept.floor
    points = np.concatenate([line for frame in frames for line in frame])
    if box is not None:
        points = np.concatenate([points, _corners(box)])
    ground = _ground(points, floor)
    sheet = _Sheet(np.concatenate([points, *ground]) if ground else points)
    parts = [
        *_floor(sheet, ground),
        *_box(sheet, box),
        *(_line(sheet, path, "--c2", 1.6, 0.9) for path in paths),
        *_moving(sheet, frames, paths, float(motion.t[-1])),
    ]
    svg = Markup('<svg viewBox="0 0 {} {}" role="img" aria-label="{}" style="width:100%">{}</svg>')
    told = "Black: the robot's own frames joined by lines, in real time; orange: the way of "
    told += "its tool" if arm.all_tools else "its last links"
    told += "" if floor is None else f"; grey: the floor that is kept, z = {floor:.4g} m"
    told += "" if box is None else "; dashed: the box of the tool"
    return drawing(
        svg.format(WIDTH, HEIGHT, f"Motion of {arm.name}", Markup("").join(parts)), f"{told}."
    )


def _paths(arm: Arm, frames: Sequence[Sequence[np.ndarray]]) -> list[np.ndarray]:
    """(frames, 3) of each tool, or of each end where there is none."""
    count = len(arm.all_tools)
    ends = range(arm.n, arm.n + count) if count else [len(frames[0]) - 1]
    return [np.array([frame[k][-1] for frame in frames]) for k in ends]


def _ground(points: np.ndarray, floor: float | None) -> list[np.ndarray]:
    """Lines (2, 3) of a grid on the floor below all points."""
    if floor is None:
        return []
    low, high = points.min(axis=0)[:2], points.max(axis=0)[:2]
    middle, half = (low + high) / 2, max(float((high - low).max()) / 2, 1e-3)
    marks = np.linspace(-half, half, _TILES + 1)
    lines = []
    for mark in marks:
        for a, b in (((mark, -half), (mark, half)), ((-half, mark), (half, mark))):
            lines.append(np.array([[*(middle + a), floor], [*(middle + b), floor]]))
    return lines


def _floor(sheet: _Sheet, ground: Sequence[np.ndarray]) -> Iterator[Markup]:
    for line in ground:
        yield _line(sheet, line, "--faint", 0.8, 0.45)


def _box(sheet: _Sheet, box: np.ndarray | None) -> Iterator[Markup]:
    """The twelve edges."""
    if box is None:
        return
    corners = _corners(box)
    for first in range(8):
        for bit in (1, 2, 4):
            if not first & bit:
                edge = corners[[first, first | bit]]
                yield _line(sheet, edge, "--c4", 1.5, 0.9, "6 4")


def _corners(box: np.ndarray) -> np.ndarray:
    """(8, 3); the bits of a corner's number say which side it is on."""
    return np.array([[box[k >> 2][0], box[k >> 1 & 1][1], box[k & 1][2]] for k in range(8)])


def _line(
    sheet: _Sheet, points: np.ndarray, colour: str, width: float, opacity: float, dash: str = ""
) -> Markup:
    look = f"fill:none;stroke:var({colour});stroke-width:{width};opacity:{opacity}"
    look += f";stroke-dasharray:{dash}" if dash else ""
    return Markup('<polyline points="{}" style="{}"/>').format(sheet.flat(points), look)


def _moving(
    sheet: _Sheet,
    frames: Sequence[Sequence[np.ndarray]],
    paths: Sequence[np.ndarray],
    duration: float,
) -> Iterator[Markup]:
    """The robot's lines and its tools, each with all its places; without animation they stand at the start."""
    animated = Markup(
        '<animate attributeName="{}" dur="{}s" repeatCount="indefinite" values="{}"/>'
    )
    look = "fill:none;stroke:var(--ink);stroke-width:5;stroke-linecap:round;stroke-linejoin:round"
    for k in range(len(frames[0])):
        places = [sheet.flat(frame[k]) for frame in frames]
        moved = animated.format("points", f"{duration:g}", ";".join(places))
        yield Markup('<polyline points="{}" style="{}">{}</polyline>').format(
            places[0], look, moved
        )
    for path in paths:
        spots = [sheet.flat(point).split(",") for point in path]
        xs, ys = (";".join(spot[i] for spot in spots) for i in (0, 1))
        yield Markup('<circle cx="{}" cy="{}" r="6" style="fill:var(--c2)">{}{}</circle>').format(
            *spots[0],
            animated.format("cx", f"{duration:g}", xs),
            animated.format("cy", f"{duration:g}", ys),
        )
