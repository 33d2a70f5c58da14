"""Motions that break a limit on torque or workspace, drawn towards a pose that keeps it until the whole motion does.

q(s) = (1 - s) pose + s q: positions stay between two that are allowed, velocities and accelerations shrink with s, and
at s = 0 the arm rests in the pose. So a pose in which the arm can rest within its limits is all that is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ...errors import InputError
from .limits import Limits

Excess = Callable[[np.ndarray], np.ndarray]  # poses (N, n) -> (N,), below 0: inside
_POSES = 4000  # drawn at random before the best are improved
_BEST = 8
_ROUNDS = 60
_ROOMY = 150  # poses whose neighbours are looked at,
_NEIGHBOURS = 60  # so many of each,
_ABOUT = 0.2  # this part of the range of a joint away
_LESS = 0.93
_PARTS = tuple(_LESS**k for k in range(100))  # sizes of a motion that are tried
_ROOM = -1e-9  # what counts as inside


class Unreachable(InputError):
    """Limits that no motion of the arm can keep."""


def resting_pose(limits: Limits, excess: Excess, seed: int) -> tuple[np.ndarray, float]:
    """The pose, of those within the position limits, that keeps the others best, and by how much it misses them."""
    rng = np.random.default_rng(seed)
    poses = rng.uniform(limits.low, limits.high, (_POSES, len(limits.low)))
    poses[0] = (limits.low + limits.high) / 2
    miss = excess(poses)
    order = np.argsort(miss)[:_BEST]
    best, least = poses[order], miss[order]
    width = (limits.high - limits.low) / 4
    # a random search that narrows: excess has kinks where one limit takes over from another
    for _ in range(_ROUNDS):
        tried = best[:, None] + width * rng.normal(size=(_BEST, 32, best.shape[1]))
        tried = np.clip(tried, limits.low, limits.high)
        told = excess(tried.reshape(-1, best.shape[1])).reshape(_BEST, 32)
        k = told.argmin(axis=1)
        better = told[np.arange(_BEST), k] < least
        best = np.where(better[:, None], tried[np.arange(_BEST), k], best)
        least = np.where(better, told[np.arange(_BEST), k], least)
        width = width * 0.85
    k = int(least.argmin())
    return best[k], float(least[k])


def roomy_poses(limits: Limits, excess: Excess, seed: int, most: int) -> list[np.ndarray]:
    """Of random poses that keep the limits, those about which most others do, best first, and not near each other."""
    rng = np.random.default_rng(seed)
    poses = rng.uniform(limits.low, limits.high, (_POSES, len(limits.low)))
    poses[0] = (limits.low + limits.high) / 2
    miss = excess(poses)
    order = np.argsort(miss)
    order = order[miss[order] < _ROOM]
    if not len(order):
        return []
    order = order[np.linspace(0, len(order) - 1, min(_ROOMY, len(order))).astype(int)]
    inside = poses[order]
    width = _ABOUT * (limits.high - limits.low)
    around = inside[:, None] + width * rng.normal(size=(len(inside), _NEIGHBOURS, len(width)))
    kept = ((around > limits.low) & (around < limits.high)).all(axis=2)
    around = np.clip(around, limits.low, limits.high).reshape(-1, len(width))
    kept &= (excess(around) < _ROOM).reshape(kept.shape)
    # where neighbours tell nothing, the pose with most to spare
    room = kept.mean(axis=1) - 0.01 * miss[order]
    return _apart(inside / (limits.high - limits.low), inside, room, most)


def _apart(places: np.ndarray, poses: np.ndarray, room: np.ndarray, most: int) -> list[np.ndarray]:
    """The roomiest pose, then again and again the one that has much room and is far from those that were taken."""
    chosen = [int(room.argmax())]
    while len(chosen) < min(most, len(poses)):
        away = np.linalg.norm(places[:, None] - places[chosen], axis=2).min(axis=1)
        worth = np.where(away > 0, np.maximum(room, 0) * np.sqrt(away), -1.0)
        if worth.max() <= 0:
            break
        chosen.append(int(worth.argmax()))
    return [np.asarray(poses[k]) for k in chosen]


def drawn_in(x: np.ndarray, pose: np.ndarray, excess: Callable[[np.ndarray], float]) -> np.ndarray:
    """Coefficients (n, size) of a series moved towards a pose as little as its limits need."""

    def part(s: float) -> np.ndarray:
        moved = s * x
        moved[:, 0] += (1 - s) * pose
        return moved

    low = next((s for s in _PARTS if excess(part(s)) <= 0), None)
    if low is None:
        raise Unreachable(
            "the limits leave no room to move: the arm can rest within torques and box, but a motion of "
            f"{_PARTS[-1]:.1%} of the size breaks them (friction?); give larger torques or a wider box"
        )
    high = min(1.0, low / _LESS)
    for _ in range(12):
        middle = (low + high) / 2
        low, high = (middle, high) if excess(part(middle)) <= 0 else (low, middle)
    return part(low)


def reachable_pose(
    limits: Limits,
    excess: Excess,
    hold: Excess,
    names: Sequence[str],
    seed: int,
    bodies: bool = False,
) -> np.ndarray:
    """A pose in which the arm can rest within its limits, or an error that says which cannot be kept.

    hold: the torques (N, n) that the arm needs at rest; bodies: floor and links are to be kept apart too.
    """
    pose, miss = resting_pose(limits, excess, seed)
    if miss < _ROOM:
        return pose
    if limits.torque is not None:
        torque = np.abs(hold(pose[None])[0])
        j = int(np.argmax(torque / limits.torque))
        if torque[j] >= limits.torque[j]:
            raise Unreachable(
                f"joint '{names[j]}' needs {torque[j]:.3g} to hold the arm at rest in the best pose found, its torque "
                f"limit is {limits.torque[j]:.3g}; give larger torques, other positions or a wider box"
            )
    if bodies:
        box = "the tool in the box and " if limits.box is not None else ""
        raise Unreachable(
            f"no pose keeps {box}the links off the floor and off each other, the best misses by {miss:.3g} m; give "
            f"{'a wider box, ' if box else ''}another floor (False: none), other positions, or collisions=False"
        )
    raise Unreachable(
        f"box is out of the tool's reach by {miss:.3g} m within the position limits; move or widen it, or give other "
        "positions"
    )
