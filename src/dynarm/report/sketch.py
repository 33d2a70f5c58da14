"""A robot drawn as lines in space: links along its own frames, joints on their axes, masses where they are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ..robot.arm import Arm
from ..robot.frames.placed import coordinates, link_poses, root_pose, tool_poses
from .html import Markup, drawing

WIDTH, HEIGHT = 640, 420
AZIMUTH, ELEVATION = 0.7, 0.4  # [rad]
BENT = np.radians(30)
_MARGIN = 55
_LISTED = 8  # joints of a tree whose positions are told
_NAMED = 16  # joints of a chain whose names are written beside them
_LETTERS = 14.0  # height of a line of text [pixels]


def pose(arm: Arm) -> np.ndarray:
    """(nq,) a pose to draw: joints beyond the first a little bent, translations drawn out, all within their limits.

    Joints of a tree stand at zero, as their makers drew them; a free base stands upright.
    """
    own = [arm.joints[i] for i in arm.coupling.masters]
    if not arm.serial:
        still = [np.clip(0.0, *(joint.position_limits or (0.0, 0.0))) for joint in own]
        return coordinates(arm, still)
    reach = sum(abs(j.a) + abs(j.d) for j in arm.joints) + float(
        np.linalg.norm(arm.tool_pose[:3, 3])
    )
    q = np.zeros(len(own))
    for k, joint in enumerate(own):
        low, high = joint.position_limits or (-np.inf, np.inf)
        wanted = BENT * (k > 0) if joint.revolute else 0.4 * (reach or 1.0)
        q[k] = np.clip(wanted, low, high)
    return q


def frames(arm: Arm, q: Sequence[float] | np.ndarray) -> list[np.ndarray]:
    """4x4 poses in the base link: frame 0, the frame of every link, the tools."""
    return [root_pose(arm, q), *link_poses(arm, q), *tool_poses(arm, q)]


def skeleton(arm: Arm, q: Sequence[float] | np.ndarray) -> list[np.ndarray]:
    """For every joint and tool, the corners (k, 3) of the line that leads to it from what it hangs on."""
    places = frames(arm, q)
    lines = []
    for k, (joint, parent) in enumerate(zip(arm.joints, arm.parents, strict=True)):
        # along the common normal, then along the axis; the frames of trees lie too far off their links for that
        before, after = places[parent + 1], places[k + 1][:3, 3]
        along = [(before @ np.array([joint.a, 0, 0, 1.0]))[:3]] if arm.serial else []
        lines.append(np.array([before[:3, 3], *along, after]))
    for place, tool in zip(places[arm.n + 1 :], arm.all_tools, strict=True):
        last = places[tool.joint + 1]
        corner = last[:3, 3] + last[:3, 2] * (last[:3, 2] @ (place[:3, 3] - last[:3, 3]))
        along = [corner] if arm.serial else []
        lines.append(np.array([last[:3, 3], *along, place[:3, 3]]))
    if not arm.serial:
        lines += [_stub(arm, places, k) for k in _bare_ends(arm)]
    return lines


def _ends(arm: Arm) -> list[int]:
    """The joints on which no other hangs."""
    carriers = set(arm.parents)
    return [k for k in range(arm.n) if k not in carriers]


def _bare_ends(arm: Arm) -> list[int]:
    """Those of them whose links carry no tool."""
    carriers = {tool.joint for tool in arm.all_tools}
    return [k for k in _ends(arm) if k not in carriers]


def _stub(arm: Arm, places: Sequence[np.ndarray], k: int) -> np.ndarray:
    """A last link that has no tool, as far as its centre of mass."""
    T = places[k + 1]
    return np.array([T[:3, 3], (T @ np.array([*arm.joints[k].com, 1.0]))[:3]])


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
    names = "" if arm.serial and arm.n <= _NAMED else ", point at a joint for its name"
    return drawing(
        svg,
        f"Drawn from the robot's own frames {_posed(arm, q)}. Bars: axes of rotational (blue) and translational "
        f"(orange) joints; discs: centres of mass, area by mass. Drag to turn{names}.",
    )


def _posed(arm: Arm, q: np.ndarray) -> str:
    """In which pose it is drawn, in words."""
    own = [arm.joints[i] for i in arm.coupling.masters]
    if not arm.serial and len(own) > _LISTED:
        return "with its joints at zero or the limit next to it"
    if len(own) > _NAMED:
        return "with its joints a little bent"
    angles = ", ".join(
        f"{np.degrees(x):.0f}°" if j.revolute else f"{x:.2f} m"
        for j, x in zip(own, q[len(q) - len(own) :], strict=True)
    )
    if not own:
        return "at rest"
    return f"at {'its joints' if arm.floating else 'q'} = ({angles})"


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


def _polyline(points: np.ndarray, kind: str, view: _View, name: str = "") -> Markup:
    flat = " ".join("{:.1f},{:.1f}".format(*view.flat(p)) for p in points)
    space = ",".join(_spaced(p) for p in points)
    if not name:
        return Markup('<polyline class="{}" points="{}" data-p="{}"/>').format(kind, flat, space)
    titled = '<polyline class="{}" points="{}" data-p="{}"><title>{}</title></polyline>'
    return Markup(titled).format(kind, flat, space, name)


def _masses(arm: Arm, q: np.ndarray) -> list[np.ndarray]:
    places = frames(arm, q)
    return [(places[k] @ np.array([*com, 1.0]))[None, :3] for k, com, *_ in _heavy(arm)]


def _lowest(arm: Arm, q: np.ndarray) -> float:
    """The height of the lowest point that is drawn: ends and masses count too."""
    return float(np.concatenate([*skeleton(arm, q), *_masses(arm, q)])[:, 2].min())


def _heavy(arm: Arm) -> list[tuple[int, np.ndarray, float, str]]:
    """Frame, centre of mass, mass and name of all links with a mass, a free base's own first."""
    links = [(k + 1, j.com, j.mass, str(j.name)) for k, j in enumerate(arm.joints)]
    if arm.floating:
        links.insert(0, (0, arm.floating.com, arm.floating.mass, "base"))
    return [link for link in links if link[2] > 0]


def _elements(arm: Arm, q: np.ndarray, view: _View) -> Iterator[Markup]:
    places, size = frames(arm, q), view.radius
    r = 0.35 * size
    # what stands on legs stands with them on the floor
    low = 0.0 if arm.serial else _lowest(arm, q)
    floor = np.array([[-r, -r, low], [r, -r, low], [r, r, low], [-r, r, low], [-r, -r, low]])
    yield _polyline(floor, "floor", view)
    for k, axis in enumerate("xyz"):
        yield _polyline(np.array([np.zeros(3), 0.15 * size * np.eye(3)[k]]), axis, view)
    if arm.serial and np.linalg.norm(places[0][:3, 3]) > 1e-9:  # what it stands on
        yield _polyline(np.array([np.zeros(3), places[0][:3, 3]]), "pedestal", view)
    for corners in skeleton(arm, q):
        yield _polyline(corners, "link", view)
    for corners, T, joint in zip(skeleton(arm, q), places[1:], arm.joints, strict=False):
        # a slide sits on its rail
        centre = T[:3, 3] if joint.revolute else corners[1:].mean(axis=0)
        half = 0.055 * size * T[:3, 2]
        # of a tree and of long chains not all names are written beside it
        name = "" if arm.serial and arm.n <= _NAMED else str(joint.name)
        yield _polyline(np.array([centre - half, centre + half]), joint.kind, view, name)
    heavy = _heavy(arm)
    heaviest = max((mass for _, _, mass, _ in heavy), default=0.0)
    for point, (_, _, mass, name) in zip(_masses(arm, q), heavy, strict=True):
        x, y = view.flat(point[0])
        radius = 3 + 9 * np.sqrt(mass / heaviest)
        yield Markup(
            '<circle class="mass" cx="{}" cy="{}" r="{}" data-p="{}"><title>{}</title></circle>'
        ).format(
            f"{x:.1f}",
            f"{y:.1f}",
            f"{radius:.1f}",
            _spaced(point[0]),
            f"{name}: {mass:g} kg",
        )
    for T in places[arm.n + 1 :]:
        for k, axis in enumerate("xyz"):
            yield _polyline(np.array([T[:3, 3], T[:3, 3] + 0.1 * size * T[:3, k]]), axis, view)
    yield from _labels(arm, places, view)


def _labels(arm: Arm, places: Sequence[np.ndarray], view: _View) -> Iterator[Markup]:
    """The joints' names, one below the other where joints stand in one place; of a tree those at its ends."""
    taken: list[tuple[float, float]] = []
    for k in range(arm.n) if arm.serial and arm.n <= _NAMED else _ends(arm):
        T, joint = places[k + 1], arm.joints[k]
        at = view.flat(T[:3, 3])
        down = 0.0
        while any(abs(at[0] - x) < _LETTERS and abs(at[1] + down - y) < _LETTERS for x, y in taken):
            down += _LETTERS
        taken.append((at[0], at[1] + down))
        yield Markup('<text x="{}" y="{}" data-p="{}" data-down="{}">{}</text>').format(
            f"{at[0] + 10:.1f}", f"{at[1] - 8 + down:.1f}", _spaced(T[:3, 3]), down, joint.name
        )
