"""How far a load on the wheels may grow along a line before a wheel slips, lifts or the robot tips.

What the ground must carry is a constant plus p times a slope: the weight and what a motion adds when it is driven
sqrt(p) times as fast, an acceleration p, a payload of p kilograms. Where the sharing of the vertical forces is linear
in the load (`sharing.py`) and the axle forces are open, the p that keep every wheel in its friction cone are an
interval, and its ends are two small cone programs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..errors import InputError
from .admissibility import self_stresses
from .cones import Affine, maximise
from .constraints import roller
from .sharing import SharingCase, below

if TYPE_CHECKING:
    from .robot import MobileManipulator

_END = 1e-7  # of the scale of p, within which two ends are one
_WIDE = 1e-12


class Demand(NamedTuple):
    """What the ground must carry: the load (6,) and the rolling force of each wheel (w,)."""

    ground: np.ndarray
    push: np.ndarray


@dataclass(frozen=True, slots=True)
class Window:
    """Smallest and largest p, and what ends it: a wheel that slips or lifts, or a side over which the robot tips."""

    low: float
    high: float  # NaN where there is no p at all
    wheel: str | None = None
    edge: tuple[str, str] | None = None

    @property
    def limit(self) -> str:
        """What ends it, in words."""
        if self.edge is not None:
            return f"tipping over the line from {self.edge[0]} to {self.edge[1]}"
        return self.wheel or "nothing"


class _Piece(NamedTuple):
    """A stretch of p in which up = base + p slope."""

    low: float
    high: float
    base: np.ndarray
    slope: np.ndarray


class _Ray(NamedTuple):
    """Forces on the wheels (w, 3) at p = 0 and per p, open parts with the smallest norm, and what is open."""

    base: np.ndarray
    slope: np.ndarray
    vertical: np.ndarray
    axle: np.ndarray
    size: float
    unit: float  # of p


def reach(
    robot: MobileManipulator,
    phi: float,
    still: Demand,
    moving: Demand,
    eta: np.ndarray,
    contact: str = "elastic",
) -> Window:
    """The p for which every wheel holds, the first stretch of them."""
    vertical, axle = self_stresses(robot, phi)
    base, slope = (_spread(robot, phi, *part) for part in (still, moving))
    size = max(float(np.abs(base).max()), 1e-300)
    grows = max(float(np.abs(slope).max()), 1e-12 * size)
    ray = _Ray(base, slope, vertical, axle, size, size / grows)
    if contact == "best" or robot.support.determinate:
        return _interval(robot, ray, eta, None)
    answers = tuple(below(robot, part.ground) for part in (still, moving))
    if contact == "worst":
        return _worst(robot, ray, eta, answers)
    return _elastic(robot, ray, eta, answers)


def _pieces(
    shares: Sequence[SharingCase], answers: tuple[np.ndarray, ...], unit: float
) -> Iterator[_Piece]:
    """The stretches of p >= 0 in which the cases hold."""
    start, grows = answers
    for share in shares:
        at, rate = share.valid @ start, share.valid @ grows
        small = _WIDE * max(float(np.abs(start).max()), 1e-300)
        at = np.where(np.abs(at) <= small, 0.0, at)
        rate = np.where(np.abs(rate) * unit <= small, 0.0, rate)
        if (at[rate == 0] < 0).any():
            continue
        low = max([0.0, *(-at[rate > 0] / rate[rate > 0])])
        high = min([np.inf, *(-at[rate < 0] / rate[rate < 0])])
        if high > low + _WIDE * unit:
            yield _Piece(float(low), float(high), share.up @ start, share.up @ grows)


def _starts(piece: _Piece) -> tuple[float, float]:
    return piece.low, piece.high


def _elastic(
    robot: MobileManipulator, ray: _Ray, eta: np.ndarray, answers: tuple[np.ndarray, ...]
) -> Window:
    """Stretch after stretch, from the first p that holds to the first that does not."""
    pieces = sorted(_pieces(robot.elastic_shares, answers, ray.unit), key=_starts)
    first: float | None = None
    window = Window(np.inf, np.nan, edge=_edge(robot, answers, 0.0))
    for k, piece in enumerate(pieces):
        window = _interval(robot, ray, eta, piece)
        if np.isnan(window.high):
            if first is not None:
                return Window(first, piece.low, window.wheel)
            continue
        if first is None:
            first = window.low
        elif window.low > piece.low + _END * ray.unit:
            return Window(first, piece.low, window.wheel)
        if window.high < piece.high - _END * ray.unit:
            return Window(first, window.high, window.wheel)
        if k + 1 == len(pieces) or pieces[k + 1].low > piece.high + _END * ray.unit:
            if np.isinf(piece.high):
                return Window(first, np.inf)
            return Window(first, piece.high, None, _edge(robot, answers, piece.high))
    if first is None:
        return Window(np.inf, np.nan, window.wheel, window.edge)
    return Window(first, pieces[-1].high)


def _worst(
    robot: MobileManipulator, ray: _Ray, eta: np.ndarray, answers: tuple[np.ndarray, ...]
) -> Window:
    """From rest to the first p at which three wheels that could carry everything do not hold."""
    pieces = sorted(_pieces(robot.corner_shares, answers, ray.unit), key=_starts)
    if not pieces or pieces[0].low > 0:
        return Window(np.inf, np.nan, edge=_edge(robot, answers, 0.0))
    end = max(piece.high for piece in pieces)
    nearest = Window(0.0, end, None, None if np.isinf(end) else _edge(robot, answers, end))
    for piece in pieces:
        window = _interval(robot, ray, eta, piece)
        fails = piece.high
        if np.isnan(window.high) or window.low > piece.low + _END * ray.unit:
            fails = piece.low
        elif window.high < piece.high - _END * ray.unit:
            fails = window.high
        else:
            continue
        if np.isnan(window.high) and fails <= 0:
            return Window(np.inf, np.nan, window.wheel)
        if fails < nearest.high:
            nearest = Window(0.0, fails, window.wheel)
    return nearest


def _edge(
    robot: MobileManipulator, answers: tuple[np.ndarray, ...], p: float
) -> tuple[str, str] | None:
    """The side of the polygon that the load point is nearest to, or furthest beyond."""
    force, about_x, about_y = answers[0] + p * answers[1]
    xy, names = robot.support.points[:, :2], robot.wheel_names
    inside = []
    for a, b in robot.support.axes:
        along = (xy[b] - xy[a]) / np.linalg.norm(xy[b] - xy[a])
        lever = along[1] * xy[a][0] - along[0] * xy[a][1]
        inside.append(along @ (about_x, about_y) + lever * force)
    first, second = robot.support.axes[int(np.argmin(inside))]
    return names[first], names[second]


def _interval(robot: MobileManipulator, ray: _Ray, eta: np.ndarray, piece: _Piece | None) -> Window:
    """The p of a stretch for which some axle forces keep every wheel in its cone; piece None: any sharing will do."""
    a, b = (ray.vertical.shape[1] if piece is None else 0), ray.axle.shape[1]
    size, unit = ray.size, ray.unit
    grows = size / unit
    blocks: list[list[Affine]] = []
    names = []
    for j, wheel in enumerate(robot.wheels):
        up0, up1 = (
            (ray.base[j, 2], ray.slope[j, 2]) if piece is None else (piece.base[j], piece.slope[j])
        )
        # unknowns: self-stresses, then p
        lift = np.concatenate([ray.vertical[j, :a], np.zeros(b), [up1 / grows]])
        up = (lift, up0 / size)
        tail = [ray.slope[j, 1] / grows]
        side = (np.concatenate([np.zeros(a), ray.axle[j], tail]), ray.base[j, 1] / size)
        roll = (np.concatenate([np.zeros(a + b), [ray.slope[j, 0] / grows]]), ray.base[j, 0] / size)
        if piece is None:  # else it holds on the whole stretch
            blocks.append([up])
        if wheel.guides:
            blocks.append([(eta[j] * up[0], eta[j] * up[1]), roll, side])
        names += [robot.wheel_names[j]] * ((piece is None) + wheel.guides)
    goal = np.zeros(a + b + 1)
    goal[-1] = 1.0
    low = 0.0 if piece is None else piece.low
    cone = [*blocks, [(goal, -low / unit)]]
    if piece is not None and np.isfinite(piece.high):
        cone.append([(-goal, piece.high / unit)])
    # bounded below, so that it decides whether there is any p at all
    first, least = maximise(-goal, cone)
    if first != "solved":
        return Window(np.inf, np.nan, _weakest(robot, ray, eta, piece))
    slowest = low if least[-1] - low / unit < _END else float(least[-1]) * unit
    status, most = maximise(goal, cone)
    if status != "solved":
        return Window(slowest, np.inf)
    left = [_left(block, most) for block in blocks]
    fastest = float(most[-1]) * unit if most[-1] - slowest / unit > _END else slowest
    return Window(slowest, fastest, names[int(np.argmin(left))])


def _weakest(robot: MobileManipulator, ray: _Ray, eta: np.ndarray, piece: _Piece | None) -> str:
    """The wheel that lacks most at the start of a stretch."""
    low = 0.0 if piece is None else piece.low
    forces = ray.base + low * ray.slope
    up = forces[:, 2] if piece is None else piece.base + low * piece.slope
    margins = np.minimum(eta * up - np.hypot(forces[:, 0], forces[:, 1]), up)
    guides = np.array([w.guides for w in robot.wheels])
    margins = np.where(guides, margins, up)
    return robot.wheel_names[int(np.argmin(margins))]


def _left(block: Sequence[Affine], x: np.ndarray) -> float:
    """What a cone condition leaves at x."""
    first, *others = (float(row @ x + constant) for row, constant in block)
    return first - float(np.linalg.norm(others))


def _spread(
    robot: MobileManipulator, phi: float, ground: np.ndarray, push: np.ndarray
) -> np.ndarray:
    """(w, 3): forces on the wheels that answer a load, the open parts with the smallest norm."""
    forces = np.zeros((len(robot.wheels), 3))
    w = len(robot.wheels)
    forces[:, 0], forces[:, 2] = push[:w], robot.support.share @ below(robot, ground)
    forces[[j for j, wheel in enumerate(robot.wheels) if wheel.kind == "swerve"], 1] = push[w:]
    rolling = list(dict.fromkeys(robot.formulas.rolling))
    at = [roller(robot.wheels[j], robot.platform.steering, phi) for j in rolling]
    fast = [k for k, wheel in enumerate(at) if wheel.slant is None]
    G = np.array([tuple(at[k].skid) for k in fast], float).reshape(-1, 3).T
    for j, wheel in zip(rolling, at, strict=True):
        if robot.wheels[j].kind != "swerve":
            forces[j, 1] = 0.0 if wheel.slant is None else float(wheel.slant) * push[j]
    rest = -ground[[0, 1, 5]]
    for j, wheel in zip(rolling, at, strict=True):
        bare = replace(wheel, slant=None)
        rest = rest - forces[j, 0] * np.array(tuple(bare.roll), float)
        rest = rest - forces[j, 1] * np.array(tuple(bare.skid), float)
    forces[[rolling[k] for k in fast], 1] = np.linalg.pinv(G, rcond=1e-9) @ rest
    return forces


def demands(
    robot: MobileManipulator,
    q: np.ndarray,
    z: np.ndarray,
    zd: np.ndarray,
    load: np.ndarray,
    gravity: np.ndarray | None = None,
) -> list[Demand]:
    """What each sample (N, ...) of a prescribed motion asks of the ground; gravity: on slopes."""
    if gravity is not None:
        outputs = robot.call("demand", q, z, zd, gravity, load)[:2]
        return [Demand(*row) for row in zip(*outputs, strict=True)]
    needed, ground, push = robot.call("prescribed", q, z, zd, load)[:3]
    B = robot.call("equations", q, z)[2]
    f, w = robot.formulas, len(robot.wheels)
    rollers = [k for k, j in enumerate(f.rolling) if robot.wheels[j].driven]
    driven = [f.slots[k] for k in rollers]
    p = robot.guidance.moving
    drive = B[:, :p, driven]  # (N, p, d)
    tau = np.einsum("ndp,np->nd", np.linalg.pinv(drive), needed[:, :p])
    lacks = np.abs(np.einsum("npd,nd->np", drive, tau) - needed[:, :p]).max()
    if lacks > 1e-8 * (1 + np.abs(needed[:, :p]).max()):
        raise InputError("the driven wheels cannot produce this motion; let more wheels be driven")
    total = push.copy()
    radii = np.array([robot.wheels[f.rolling[k]].radius for k in rollers])
    swerve = [j for j, wheel in enumerate(robot.wheels) if wheel.kind == "swerve"]
    places = [w + swerve.index(j) if part else j for j, part in (f.place_of(k) for k in rollers)]
    total[:, places] += tau / radii
    return [Demand(*row) for row in zip(ground, total, strict=True)]


def difference(one: Demand, other: Demand) -> Demand:
    """What the first asks more than the other."""
    return Demand(one.ground - other.ground, one.push - other.push)


def scaled(one: Demand, times: float) -> Demand:
    """So many times the demand."""
    return Demand(times * one.ground, times * one.push)
