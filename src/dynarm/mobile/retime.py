"""The shortest time for a path of platform and arm: as fast at every point as ground and drives allow there.

A path is driven with a speed r(s) along its length s (sum of squares of all speeds: m, rad). Speeds are then r z', and
accelerations r' z' + r^2 z'', so that each point has a set of admissible (r^2, acceleration). From the end backwards
the largest r^2 is found from which the rest can be driven, from the start on the largest acceleration is taken that
stays below it (Pham and Pham, A new approach to time-optimal path parameterization based on reachability analysis,
2018). What is admissible is asked of the robot's own `ground` and `inverse_dynamics` in batches, at both ends of every
interval.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..border.arguments import above_zero, real, whole
from ..border.kinds import Given, Numbers, Outside
from ..border.words import brief
from ..errors import InputError, KindError
from .demands import Bounds, bounds_of
from .pace import Motion, motion_through

if TYPE_CHECKING:
    from .robot import MobileManipulator

LEVELS = 40  # speeds that are tried at a point
_HARD = 60.0  # [m/s^2 or rad/s^2] the largest acceleration along the path that is tried
_TRIED = np.concatenate([-np.geomspace(_HARD, 0.02, 20), [0.0], np.geomspace(0.02, _HARD, 20)])
_ROUNDS = 24  # halvings of an acceleration
_FINER = 10  # halvings of a speed
_SURE = 0.999  # of what lies between two speeds that were tried
_STEPS = 8  # of an interval, between which it is looked at in the end
_LOOSE = 1.02  # part of a limit between the points from which on it is told
_NEAR = 0.02  # of a limit, within which it is what limits a point


@dataclass(frozen=True, slots=True, eq=False)
class Retimed:
    """A path in the shortest time within slip, tip-over, torques and speeds, from rest to rest.

    Attributes
    ----------
    motion : Motion
        The motion in its new times.
    s : ndarray
        Length along the path (N,).
    rate : ndarray
        Speed along the path (N,).
    by : tuple[str, ...]
        What limits each point.
    parts : ndarray
        Which part of each limit is used (N, limits); 1 where it is reached.
    limits : tuple[str, ...]
        What the columns of `parts` stand for.
    status : str
        One sentence.
    between : float
        The largest part of a limit used anywhere between the points: above `used`, more points
        are called for.

    Examples
    --------
    >>> robot = dynarm.mobile.load("tanner2001")
    >>> t = np.linspace(0, 4, 81)
    >>> path = np.outer(0.5 * (1 - np.cos(np.pi * t / 4)), np.eye(len(robot.coordinate_names))[0])
    >>> print(robot.retime((t, path), friction=0.6).limits[0])
    slipping of w0
    """

    motion: Motion  # on times of its own, at the path's points
    s: np.ndarray  # (N,): length along the path
    rate: np.ndarray  # (N,): speed along it
    by: tuple[str, ...]  # (N,): what limits each point
    parts: np.ndarray  # (N, limits): which part of each limit is used, 1 where it is reached
    limits: tuple[str, ...]  # what these are
    status: str
    between: float  # the largest part used anywhere between the points: above `used`, more points are called for

    __repr__ = brief

    @property
    def used(self) -> float:
        """The largest part of a limit that is used at any point."""
        return float(self.parts.max())

    @property
    def time(self) -> float:
        """[s] in all."""
        return float(self.motion.t[-1])


@dataclass(frozen=True, slots=True, eq=False)
class _Path:
    """Points of a path at equal distances ds: coordinates, speeds per unit of rate, their derivatives along s."""

    s: np.ndarray
    q: np.ndarray
    z: np.ndarray
    bend: np.ndarray
    bounds: Bounds
    motion: Motion  # through which it leads

    @property
    def ds(self) -> float:
        return float(self.s[1] - self.s[0])

    def worst(self, k: np.ndarray, x: np.ndarray, u: np.ndarray) -> np.ndarray:
        """The largest used part at points k with squared rates x and accelerations u."""
        z = np.sqrt(np.maximum(x, 0.0))[:, None] * self.z[k]
        zd = u[:, None] * self.z[k] + x[:, None] * self.bend[k]
        most: np.ndarray = self.bounds.used(self.q[k], z, zd, compare=False).max(-1)
        return most

    def holds(self, k: np.ndarray, x: np.ndarray, u: np.ndarray) -> np.ndarray:
        """Whether the interval after point k can begin with x and be driven with u."""
        after = np.maximum(x + 2 * self.ds * u, 0.0)
        good: np.ndarray = (self.worst(k, x, u) <= 1) & (self.worst(k + 1, after, u) <= 1)
        return good

    def spans(self, k: np.ndarray, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Smallest and largest acceleration at points k with squared rates x; NaN where there is none."""
        grid = np.broadcast_to(_TRIED, (len(k), len(_TRIED)))
        good = self.holds(
            np.repeat(k, len(_TRIED)), np.repeat(x, len(_TRIED)), grid.ravel()
        ).reshape(grid.shape)
        some = good.any(-1)
        first, last = good.argmax(-1), len(_TRIED) - 1 - good[:, ::-1].argmax(-1)
        ends = []
        for inner, step in ((first, -1), (last, 1)):
            inside = _TRIED[inner]
            outside = _TRIED[np.clip(inner + step, 0, len(_TRIED) - 1)]
            for _ in range(_ROUNDS):
                middle = 0.5 * (inside + outside)
                keeps = self.holds(k, x, middle)
                inside, outside = np.where(keeps, middle, inside), np.where(keeps, outside, middle)
            ends.append(np.where(some, inside, np.nan))
        possible = ends[1] >= -x / (2 * self.ds)  # it does not turn back
        return np.where(possible, ends[0], np.nan), ends[1]


def retime(
    robot: MobileManipulator,
    motion: Outside,
    friction: Numbers,
    gravity: Given = None,
    load: Given = None,
    torque: Given = None,
    points: int = 80,
    top: float = 5.0,
) -> Retimed:
    """The motion's path, platform and arm, in the shortest time from rest to rest.

    Parameters
    ----------
    robot : MobileManipulator
        The robot.
    motion : Motion, Run or (t, q)
        Only its path counts, not its times.
    friction : float or array_like (w,)
        Coefficient, one or one for each wheel.
    gravity : array_like (..., 3), optional
        Acceleration of gravity [m/s^2] in the axes of the platform, for slopes; default:
        straight down.
    load : array_like (..., 6), optional
        Force then couple acting on the tool, in the axes of the tool [N, N m].
    torque : float or array_like, optional
        Limits of the inputs, one or one each [N m or N]; default: effort limits of the
        joints in the arm's file, whose velocity limits count as well.
    points : int, default 80
        Number of points of the path at which limits are kept; `between` says how much is used
        between them, the status where it is more than 2 % too much.
    top : float, default 5.0
        Largest speed along the path that is tried.

    Returns
    -------
    Retimed
        The motion in the shortest time, and what limits it where.

    Examples
    --------
    >>> robot = dynarm.mobile.load("tanner2001")
    >>> t = np.linspace(0, 4, 81)
    >>> path = np.outer(0.5 * (1 - np.cos(np.pi * t / 4)), np.eye(len(robot.coordinate_names))[0])
    >>> faster = robot.retime((t, path), friction=0.6)
    >>> round(float(faster.used), 1) <= 1.0
    True
    """
    if isinstance(motion, (tuple, list)) and len(motion) == 2:
        motion = motion_through(robot, *motion)
    if not all(hasattr(motion, key) for key in ("t", "q", "z")):
        raise KindError(
            f"motion is {type(motion).__name__}; give robot.motion(t, q), a Run, or (t, q)"
        )
    bounds = bounds_of(robot, friction, gravity, load, torque)
    count = whole("points", points, 8)
    highest = real("top", top, "a speed above 0", above_zero)
    path = _path(bounds, motion, count)
    ceiling = _backward(path, highest)
    return _driven(path, ceiling, highest)


def _path(bounds: Bounds, motion: Motion, count: int) -> _Path:
    """Points at equal distances along the path."""
    from scipy.integrate import cumulative_trapezoid
    from scipy.interpolate import CubicSpline

    t, q, z = (np.asarray(x, float) for x in (motion.t, motion.q, motion.z))
    fine = np.linspace(t[0], t[-1], 40 * len(t))
    speeds = CubicSpline(t, z)(fine)
    size = np.sqrt((speeds * speeds).sum(-1))
    length = np.concatenate([[0.0], cumulative_trapezoid(size, fine)])
    if not length[-1] > 1e-9:
        raise InputError("the motion stands still; give a path along which something moves")
    moving = size > 1e-6 * size.max()
    s = np.linspace(0.0, length[-1], count)
    keep = np.concatenate([[True], np.diff(length) > 1e-12 * length[-1]])
    at = np.interp(s, length[keep], fine[keep])
    ways = speeds[moving] / size[moving, None]
    along = length[moving]
    z_of_s = np.stack([np.interp(s, along, column) for column in ways.T], axis=-1)
    places = CubicSpline(t, q)(at)
    return _Path(s, places, z_of_s, CubicSpline(s, z_of_s)(s, 1), bounds, motion)


def _between(path: _Path, x: np.ndarray, u: np.ndarray) -> float:
    """The largest part of a limit that is used between the points, whose squared rates are x, accelerations u."""
    fine = _path(path.bounds, path.motion, _STEPS * (len(path.s) - 1) + 1)
    inner = np.setdiff1d(np.arange(len(fine.s)), _STEPS * np.arange(len(path.s)))
    k = inner // _STEPS
    here = np.maximum(x[k] + 2 * u[k] * (fine.s[inner] - path.s[k]), 0.0)
    return float(fine.worst(inner, here, u[k]).max())


def _backward(path: _Path, top: float) -> np.ndarray:
    """(N,): the largest squared rate at each point from which the rest can be driven to rest at the end."""
    count = len(path.s)
    levels, low = _levels(path, top)
    ceiling = np.zeros(count)
    for i in range(count - 2, -1, -1):
        own = levels[i]
        # what the hardest braking leaves too much
        beyond = own + 2 * path.ds * low[i] - ceiling[i + 1]
        good = beyond <= 1e-12
        if not good[0]:
            _refuse(path, i)
        first = len(own) if good.all() else int(np.argmin(good))
        ceiling[i] = own[first - 1]
        if first < len(own) and np.isfinite(beyond[first]):
            part = beyond[first - 1] / (beyond[first - 1] - beyond[first])
            ceiling[i] += _SURE * part * (own[first] - own[first - 1])
    return ceiling


def _levels(path: _Path, top: float) -> tuple[np.ndarray, np.ndarray]:
    """(N - 1, LEVELS): squared rates that are tried at each point, the last one that holds found by halving, and the
    hardest braking that each allows; NaN beyond it."""
    count = len(path.s) - 1
    levels = np.tile((top * np.linspace(0, 1, LEVELS) ** 1.5) ** 2, (count, 1))
    points = np.arange(count)
    low = path.spans(np.repeat(points, LEVELS), levels.ravel())[0].reshape(levels.shape)
    known = np.isfinite(low)
    ends = np.flatnonzero(~known.all(-1) & known[:, 0])
    after = np.argmin(known[ends], axis=-1)
    inside, outside = levels[ends, after - 1], levels[ends, after]
    braking = low[ends, after - 1]
    for _ in range(_FINER):
        middle = 0.5 * (inside + outside)
        new = path.spans(ends, middle)[0]
        keeps = np.isfinite(new)
        braking = np.where(keeps, new, braking)
        inside, outside = np.where(keeps, middle, inside), np.where(keeps, outside, middle)
    levels[ends, after], low[ends, after] = inside, braking
    return levels, low


def _refuse(path: _Path, i: int) -> None:
    still = np.zeros((1, path.z.shape[1]))
    parts = path.bounds.used(path.q[i : i + 1], still, still)[0]
    names = path.bounds.names
    if parts.max() > 1:
        worst = names[int(parts.argmax())]
        raise InputError(
            f"no speed will do: at s = {path.s[i]:.4g} of the path the robot does not even stand, for {worst}"
        )
    raise InputError(
        f"the path cannot be driven on from s = {path.s[i]:.4g}, not even slowly; take more points or a smoother path"
    )


def _driven(path: _Path, ceiling: np.ndarray, top: float) -> Retimed:
    """From rest on, at every point the largest acceleration that stays below the ceiling."""
    count, ds = len(path.s), path.ds
    x, u = np.zeros(count), np.zeros(count)
    for i in range(count - 1):
        low, high = path.spans(np.array([i]), x[i : i + 1])
        wanted = (ceiling[i + 1] - x[i]) / (2 * ds)
        u[i] = max(min(high[0], wanted), low[0])
        x[i + 1] = max(x[i] + 2 * ds * u[i], 0.0)
        if not x[i + 1] > 1e-9 * ds and i + 2 < count:
            tried = path.bounds.used(path.q[i : i + 1], 0 * path.z[:1], 0.1 * path.z[i : i + 1])[0]
            raise InputError(
                f"no speed will do: at s = {path.s[i]:.4g} of the path the robot cannot set out, for "
                f"{path.bounds.names[int(tried.argmax())]}"
            )
    u[-1] = u[-2]
    rate = np.sqrt(x)
    # the acceleration is constant along each interval
    t = np.concatenate([[0.0], np.cumsum(2 * ds / np.maximum(rate[1:] + rate[:-1], 1e-12))])
    z = rate[:, None] * path.z
    zd = u[:, None] * path.z + x[:, None] * path.bend
    parts = path.bounds.used(path.q, z, zd)
    before = np.concatenate([u[:1], u[:-1]])
    arriving = before[:, None] * path.z + x[:, None] * path.bend
    parts = np.maximum(parts, path.bounds.used(path.q, z, arriving))
    by = tuple(_by(path, row, rate[i], top) for i, row in enumerate(parts))
    between = _between(path, x, u)
    limits = list(dict.fromkeys(word for word in by if word != "the rest of the path"))
    status = (
        f"{t[-1]:.4g} s for a path of {path.s[-1]:.4g}, at most {rate.max():.4g} along it; limited by "
        f"{', '.join(limits) or 'nothing'} (contact elastic)"
    )
    if between > _LOOSE:
        status += f"; between the points up to {100 * between:.0f} % of a limit, take more points"
    names = tuple(path.bounds.names)
    return Retimed(Motion(t, path.q, z, zd), path.s, rate, by, parts, names, status, between)


def _by(path: _Path, parts: np.ndarray, rate: float, top: float) -> str:
    """What limits a point: what is used up there, else what comes later."""
    if rate >= top * (1 - 1e-9):
        return f"top = {top:g}"
    k = int(parts.argmax())
    return path.bounds.names[k] if parts[k] >= 1 - _NEAR else "the rest of the path"
