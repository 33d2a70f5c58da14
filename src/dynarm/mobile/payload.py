"""What a robot can carry where its arm reaches, before it tips, slips or a joint's drive is too weak."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..border.arguments import above_zero, check_finite, real, reals, whole
from ..border.kinds import Given, Numbers
from ..border.words import brief
from ..errors import InputError
from .demands import Bounds, bounds_of
from .outline import arm_frames

if TYPE_CHECKING:
    from .robot import MobileManipulator

_ROUNDS = 40  # halvings of a payload
_WIDEST = np.pi  # [rad] that a joint without limits is turned by
_FARTHEST = 0.5  # [m] likewise


@dataclass(frozen=True, slots=True, eq=False)
class PayloadMap:
    """Poses of a held arm: where the tool is, what it can carry there, and what ends it.

    Attributes
    ----------
    q : ndarray
        Coordinates (N, nq) of the poses.
    place : ndarray
        Positions (N, 3) of the tool in {v} [m].
    reach : ndarray
        Level distance (N,) of the tool from the middle of the support polygon [m].
    payload : ndarray
        Largest payload (N,) at the tool [kg]; 0 where the robot does not even stand empty.
    by : tuple[str, ...]
        What ends it in each pose.
    most : float
        The largest payload that was tried [kg].

    Examples
    --------
    >>> places = dynarm.mobile.load("tanner2001").payload_map(friction=0.6, count=50)
    """

    q: np.ndarray  # (N, coordinates)
    place: np.ndarray  # (N, 3) of the tool in {v} [m]
    reach: np.ndarray  # (N,) [m]: level distance from the middle of the support polygon
    payload: np.ndarray  # (N,) [kg] at the tool; 0 where the robot does not even stand empty
    by: tuple[str, ...]  # (N,): what ends it
    most: float  # [kg] that was tried

    __repr__ = brief

    def envelope(self, bins: int = 24) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Middles of equal spans of reach, and the smallest and largest payload in each; empty spans are left out.

        Parameters
        ----------
        bins : int, default 24
            Number of spans.

        Returns
        -------
        ndarray
            Middles of the spans [m].
        ndarray
            Smallest payload in each [kg].
        ndarray
            Largest payload in each [kg].

        Examples
        --------
        >>> middle, least, most = places.envelope(bins=5)
        >>> bool((least <= most).all())
        True
        """
        count = whole("bins", bins, 1)
        edges = np.linspace(self.reach.min(), self.reach.max() * (1 + 1e-12), count + 1)
        which = np.clip(np.searchsorted(edges, self.reach, side="right") - 1, 0, count - 1)
        kept = np.unique(which)
        low, high = (
            np.array([pick(self.payload[which == k]) for k in kept]) for pick in (np.min, np.max)
        )
        return 0.5 * (edges[kept] + edges[kept + 1]), low, high

    @property
    def status(self) -> str:
        """One sentence."""
        worst = int(self.payload.argmin())
        return (
            f"{self.payload[worst]:.4g} kg in every one of {len(self.payload)} poses (least at a reach of "
            f"{self.reach[worst]:.3g} m, limited by {self.by[worst]}), {self.payload.max():.4g} kg in the best "
            "(contact elastic)"
        )


def payload_map(
    robot: MobileManipulator,
    friction: Numbers = 0.6,
    poses: Given = None,
    gravity: Given = None,
    torque: Given = None,
    count: int = 2000,
    most: float = 100.0,
    seed: int = 0,
) -> PayloadMap:
    """The largest payload at the tool in many poses of the held arm.

    Parameters
    ----------
    robot : MobileManipulator
        The robot.
    friction : float or array_like (w,), default 0.6
        Coefficient of friction with the ground.
    poses : array_like (N, joints), optional
        Poses of the arm; default: `count` at random within the joints' limits.
    gravity : array_like (..., 3), optional
        (3,) in the axes of {v}, for slopes.
    torque : float or array_like, optional
        Limits of the inputs; default: the joints' effort limits in the arm's file.
    count : int, default 2000
        Number of poses that are drawn.
    most : float, default 100.0
        [kg] the largest payload that is tried.
    seed : int, default 0
        Seed of the random poses.

    Returns
    -------
    PayloadMap
        The payload in every pose.

    Examples
    --------
    >>> robot = dynarm.mobile.load("tanner2001")
    >>> places = robot.payload_map(friction=0.6, count=50)
    >>> bool(0 <= places.payload.min() < places.payload.max())
    True
    """
    bounds = bounds_of(robot, friction, gravity, None, torque)
    heaviest = real("most", most, "a mass above 0 kg", above_zero)
    joints = _poses(robot, poses, whole("count", count, 1), whole("seed", seed))
    q = np.zeros((len(joints), len(robot.coordinate_names)))
    q[:, q.shape[1] - robot.arm.n :] = joints
    frames = np.array([arm_frames(robot, row)[-1] for row in q])
    unit = np.zeros((len(q), 6))
    unit[:, :3] = np.einsum("kji,j->ki", frames[:, :3, :3], bounds.gravity)
    payload = _largest(bounds, q, unit, heaviest)
    by = _ends(bounds, q, unit, payload, heaviest)
    middle = robot.support.points[list(robot.support.corners), :2].mean(0)
    reach = np.hypot(*(frames[:, :2, 3] - middle).T)
    return PayloadMap(q, frames[:, :3, 3], reach, payload, by, heaviest)


def _poses(robot: MobileManipulator, poses: Given, count: int, seed: int) -> np.ndarray:
    names = robot.arm.joint_names
    if poses is None:
        rng = np.random.default_rng(seed)
        widths = [_WIDEST if joint.revolute else _FARTHEST for joint in robot.arm.joints]
        limits = [
            joint.position_limits or (-width, width)
            for joint, width in zip(robot.arm.joints, widths, strict=True)
        ]
        low, high = np.array(limits).T
        return rng.uniform(
            np.clip(low, -_WIDEST, None), np.clip(high, None, _WIDEST), (count, len(names))
        )
    given = np.atleast_2d(reals("poses", poses, "positions of the joints", names))
    if given.ndim != 2 or given.shape[1] != len(names) or not len(given):
        raise InputError(
            f"poses has shape {given.shape}; give (N, {len(names)}): {', '.join(names)}"
        )
    return check_finite("poses", given)


def _worst(bounds: Bounds, q: np.ndarray, load: np.ndarray) -> np.ndarray:
    still = np.zeros((len(q), bounds.robot.formulas.n))
    return bounds.used(q, still, still, load)


def _largest(bounds: Bounds, q: np.ndarray, unit: np.ndarray, most: float) -> np.ndarray:
    """The largest payload of each pose, by halving; what is held empty and not in between counts as its first end."""
    low, high = np.zeros(len(q)), np.full(len(q), most)
    stands = (_worst(bounds, q, 0 * unit) <= 1).all(-1)
    for _ in range(_ROUNDS):
        middle = 0.5 * (low + high)
        keeps = (_worst(bounds, q, middle[:, None] * unit) <= 1).all(-1)
        low, high = np.where(keeps, middle, low), np.where(keeps, high, middle)
    return np.where(stands, low, 0.0)


def _ends(
    bounds: Bounds, q: np.ndarray, unit: np.ndarray, payload: np.ndarray, most: float
) -> tuple[str, ...]:
    """What is used up a little beyond the largest payload."""
    parts = _worst(bounds, q, (1.0001 * payload + 1e-6)[:, None] * unit)
    names = bounds.names
    free = payload >= most * (1 - 1e-9)
    which = parts.argmax(-1)
    return tuple(
        f"most = {most:g} kg" if none else names[k] for none, k in zip(free, which, strict=True)
    )
