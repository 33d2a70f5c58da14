"""Ground forces out of the load on the wheels, tip-over angles, friction needed.

All vectors in the axes of {v}. The load is the wrench (force R, moment n about the origin of {v}) of everything that
stands on the ground, eq. (9) of tanner2001 corrected; the ground answers with -R, -n.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..algebra.piecewise import chosen, step
from ..algebra.vectors import Scalar, Sym3, Vec3, add, mul, sub, total
from ..border.words import brief
from ..dynamics.papers.kane_platform_tanner2001 import Roller
from ..dynamics.papers.kane_tanner2001 import GroundLoad
from ..errors import ModelError
from .platform import Wheel
from .springs import LIFTED

_FLAT = 1e-9
_SINGULAR = 1e-9  # of what all wheels together hold, below which those that stand cannot hold it


@dataclass(frozen=True, slots=True, eq=False)
class Support:
    """Where the wheels stand: contact points, the polygon they span, and how weight is shared out."""

    points: np.ndarray  # (w, 3) contact points in {v}
    # wheels at the polygon's corners, counter-clockwise, the lowest index first
    corners: tuple[int, ...]
    # (w, 3): normals per (force up, moment about x, moment about y) on the ground below {v}
    share: np.ndarray

    __repr__ = brief

    @property
    def determinate(self) -> bool:
        """Whether the normal forces follow from statics alone."""
        return len(self.points) == 3

    @property
    def axes(self) -> tuple[tuple[int, int], ...]:
        """Pairs of wheels between which the tip-over axes run."""
        c = self.corners
        return tuple(zip(c, (*c[1:], c[0]), strict=True))


def support_of(wheels: Sequence[Wheel], height: float) -> Support:
    """The support polygon; refused where the wheels cannot carry a platform."""
    if len(wheels) < 3:
        raise ModelError(
            f"{len(wheels)} wheels cannot hold a platform up; give at least three (casters count)"
        )
    xy = np.array([w.place for w in wheels])
    size = np.abs(xy - xy.mean(0)).max()
    if np.linalg.svd(xy - xy.mean(0), compute_uv=False)[1] <= _FLAT * max(size, 1e-300):
        raise ModelError(
            "the wheels stand in one line, so there is no support polygon; move one of them aside"
        )
    # force up, moments about x and y
    levers = np.stack([np.ones(len(wheels)), xy[:, 1], -xy[:, 0]])
    points = np.column_stack([xy, np.full(len(wheels), -height)])
    share = np.linalg.pinv(levers) if len(wheels) > 3 else np.linalg.inv(levers)
    return Support(points, _hull(xy), share)


def _hull(xy: np.ndarray) -> tuple[int, ...]:
    """Corners of the convex hull, counter-clockwise, starting at the lowest index."""
    order = sorted(range(len(xy)), key=lambda k: tuple(xy[k]))
    size = np.ptp(xy, axis=0).max()

    def half(indices: Sequence[int]) -> list[int]:
        chain: list[int] = []
        for k in indices:
            while len(chain) > 1:
                a, b = xy[chain[-1]] - xy[chain[-2]], xy[k] - xy[chain[-1]]
                if a[0] * b[1] - a[1] * b[0] > _FLAT * size * size:
                    break
                chain.pop()
            chain.append(k)
        return chain[:-1]

    corners = half(order) + half(order[::-1])
    first = corners.index(min(corners))
    return tuple(corners[first:] + corners[:first])


# ---- over abstract scalars, for the kernels


def pressed(load: GroundLoad, height: float) -> tuple[Scalar, Scalar, Scalar]:
    """Force up and moments about x and y on the ground below {v} that answer a load."""
    R, n = load.force, load.moment
    return -R.z, sub(mul(height, R.y), n.x), sub(mul(-height, R.x), n.y)


def normal_forces(support: Support, ground: GroundLoad) -> list[Scalar]:
    """Vertical ground force on each wheel: as statics says for three, of the smallest norm for more."""
    answer = pressed(ground, float(-support.points[0, 2]))
    return [
        total(*(mul(float(k), a) for k, a in zip(row, answer, strict=True)))
        for row in support.share
    ]


def axle_forces(
    wheels: Sequence[Roller],
    ways: Sequence[Vec3],
    ground: GroundLoad,
    across: Sequence[Scalar],
    stands: Sequence[Scalar] | None = None,
) -> list[Scalar]:
    """Ground force along each axle: the split of smallest norm of what the motion needs.

    The rows (1) transposed spread the axle forces f: G f = rest, solvable because the rest does no work on the free
    motions. (G G' + sum way way') k = rest then has one solution, and f = G' k the smallest norm.

    ways    those in which no wheel is held along its axle
    across  friction of wheels that slide, which is part of their force
    stands  1 for wheels among which the force is split, as long as they can take it; default: all
    """
    rest = [-ground.force.x, -ground.force.y, -ground.moment.z]
    for wheel, push in zip(wheels, ground.push, strict=True):
        rest = [add(a, -mul(b, push)) for a, b in zip(rest, wheel.roll, strict=True)]
    for wheel, slip in zip(wheels, across, strict=True):
        rest = [sub(a, mul(b, slip)) for a, b in zip(rest, wheel.skid, strict=True)]
    # wheels with rollers: what the roller's axis takes along the axle goes with their push
    fast = [k for k, wheel in enumerate(wheels) if wheel.slant is None]
    rows = [wheels[k].skid for k in fast]
    weights: list[Scalar] = [1] * len(rows)
    if stands is not None:
        weights = _taking(rows, ways, [stands[k] for k in fast])
    k = solved(_normal(rows, ways, weights), Vec3(*rest))
    sides = [
        0 if wheel.slant is None else mul(wheel.slant, push)
        for wheel, push in zip(wheels, ground.push, strict=True)
    ]
    for j, n, g in zip(fast, rows, weights, strict=True):
        sides[j] = add(mul(g, n.dot(k)), across[j])
    return sides


def _taking(rows: Sequence[Vec3], ways: Sequence[Vec3], stands: Sequence[Scalar]) -> list[Scalar]:
    """1 for the wheels that stand where they alone can hold the platform, else 1 for all."""
    every = _determinant(_normal(rows, ways, [1] * len(rows)))
    left = _determinant(_normal(rows, ways, stands))
    can = step(sub(left, mul(_SINGULAR, every)))
    return [chosen(can, g, 1) for g in stands]


def _normal(rows: Sequence[Vec3], ways: Sequence[Vec3], weights: Sequence[Scalar]) -> Sym3:
    whole = Sym3(0, 0, 0, 0, 0, 0)
    for n, g in zip([*rows, *ways], [*weights, *[1] * len(ways)], strict=True):
        whole = whole + n.outer(n).symmetric() * g
    return whole


def _determinant(A: Sym3) -> Scalar:
    return Vec3(A.xx, A.xy, A.xz).dot(Vec3(A.xy, A.yy, A.yz).cross(A.third))


def _axis(support: Support, first: int, second: int) -> tuple[np.ndarray, np.ndarray]:
    """Unit vector along the side between two wheels, and the lever from the mass centre at right angles to it."""
    p = support.points[second]
    a = p - support.points[first]
    a = a / np.linalg.norm(a)
    return a, p - a * (a @ p)


def tip_sides(support: Support, force: Vec3, moment: Vec3) -> list[tuple[Scalar, Scalar]]:
    """Sine and cosine parts of the angle of (9) about each side of the support polygon."""
    parts = []
    for first, second in support.axes:
        a, l = _axis(support, first, second)
        axis, lever, across = (Vec3(*(float(x) for x in v)) for v in (a, l, np.cross(a, l)))
        parts.append((sub(force.dot(across), moment.dot(axis)), force.dot(lever)))
    return parts


def solved(A: Sym3, b: Vec3) -> Vec3:
    """A^-1 b of a positive definite tensor by cofactors."""
    c1 = Vec3(A.xx, A.xy, A.xz)
    c2 = Vec3(A.xy, A.yy, A.yz)
    c3 = A.third
    a, d, e = c2.cross(c3), c3.cross(c1), c1.cross(c2)
    inverse = 1 / c1.dot(a)
    x: Vec3 = Vec3(a.dot(b), d.dot(b), e.dot(b)) * inverse
    return x


# ---- over arrays


@dataclass(frozen=True, slots=True, eq=False)
class Tipover:
    """Force-Angle measure of eq. (9); negative: about to tip, the wheels off that axis have lifted.

    Attributes
    ----------
    angles : ndarray
        Angle (..., edges) between the net force and each edge of the support polygon [rad].
    measure : ndarray
        The measure (...), the smallest angle times the force [N rad].
    axes : tuple[tuple[str, str], ...]
        The wheels between which the edges run.

    Examples
    --------
    >>> robot = dynarm.mobile.load("tanner2001")
    >>> q, z = np.zeros(len(robot.coordinate_names)), np.zeros(len(robot.speed_names))
    >>> tipover = robot.tipover(q, z, robot.hold(q))
    >>> tipover.angles.shape
    (3,)
    """

    angles: np.ndarray  # (..., axes) [rad], one a side of the support polygon
    measure: np.ndarray  # (...) [N rad], smallest angle times the size of the load force
    axes: tuple[tuple[str, str], ...]  # wheels between which each axis runs

    __repr__ = brief

    @property
    def formal(self) -> np.ndarray:
        """True where a wheel has lifted, so that forces and motion are those of a robot held to the ground."""
        return np.asarray(self.measure) < 0

    @property
    def degrees(self) -> np.ndarray:
        """(...): degrees to tipping, negative where it tips."""
        return np.asarray(np.degrees(self.angles.min(-1)))

    @property
    def status(self) -> str:
        """One sentence about the worst sample."""
        if not np.size(self.measure):
            return "no state was given"
        worst, angle = float(np.min(self.measure)), float(np.min(self.degrees))
        if np.isnan(worst):
            return "unknown: the state or what acts on it is not finite"
        left = f"measure {worst:.4g} N rad, {angle:.3g} degrees"
        if worst >= 0:
            return f"stands (smallest {left})"
        axis = np.unravel_index(int(np.argmin(self.angles)), self.angles.shape)[-1]
        first, second = self.axes[int(axis)]
        return f"about to tip over the line from {first} to {second} ({left}); results are formal"


def tip_angles(support: Support, force: np.ndarray, moment: np.ndarray) -> np.ndarray:
    """Angles [rad] of (9) about each side of the support polygon, (..., axes).

    l leads from the origin of {v} to the axis, f* is the load force with its moment about the axis; both lie across
    the axis a, and the angle from l to f* counts positive where the load presses the robot down: sign and arccos of
    (9) in one arctangent.
    """
    force, moment = np.asarray(force, float), np.asarray(moment, float)
    angles = []
    for first, second in support.axes:
        a, l = _axis(support, first, second)
        across = force - (force @ a)[..., None] * a
        n = (moment @ a)[..., None] * a
        f = across + np.cross(l, n) / (l @ l)
        angles.append(np.arctan2(np.cross(l, f) @ a, f @ l))
    return np.stack(angles, axis=-1)


def friction_needed(forces: np.ndarray) -> np.ndarray:
    """Smallest coefficient that holds each wheel, (..., w).

    Infinite where the ground would have to pull it down, or where it is pushed along the ground without load.
    """
    forces = np.asarray(forces, float)
    sideways, up = np.hypot(forces[..., 0], forces[..., 1]), forces[..., 2]
    with np.errstate(divide="ignore", invalid="ignore"):
        needed = np.where(up > 0, sideways / up, np.inf)
    whole = np.abs(up).sum(-1, keepdims=True)
    idle = (np.abs(up) <= LIFTED * whole) & (sideways <= LIFTED * whole)
    return np.where(idle, 0.0, needed)
