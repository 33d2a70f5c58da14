"""What a friction record looks like: curves over velocity and position, loops of presliding, maps over load.

For pages and people who look at a fit. All of it by the functions of `drive.py`, of one joint by itself: what it feels
of other joints has no part in it.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..border.kinds import FloatArray
from ..robot.friction import Friction
from .drive import Instant, force_at
from .stops import stop_states


def velocity_curve(friction: Friction, speeds: FloatArray, load: float = 0.0) -> FloatArray:
    """Force [N m or N] at steady speeds under a load, its elements slipped and its ripple left out."""
    way = np.sign(speeds)
    slipped = {d: d * way for d in friction.strokes}
    return _force(_alone(friction), Instant(speeds, r=load, x=slipped), speeds.shape)


def load_map(friction: Friction, speeds: FloatArray, loads: FloatArray) -> FloatArray:
    """(loads, speeds): the velocity curve under each load."""
    rows = [velocity_curve(friction, speeds, load) for load in np.asarray(loads).tolist()]
    return np.array(rows).reshape(len(loads), len(speeds))


def ripple_curve(friction: Friction, q: FloatArray) -> FloatArray:
    """Force [N m or N] of the ripple over positions."""
    alone = Friction(ripple=friction.ripple)
    return _force(alone, Instant(np.zeros(q.shape), q), q.shape)


def presliding_loop(
    friction: Friction, reach: float, points: int = 400, load: float = 0.0
) -> tuple[FloatArray, FloatArray]:
    """Positions and force [N m or N] of the elements over one slow turn to and fro, by `reach` to either side.

    From no deflection in the middle to the end and once to and fro; the loop after that closes. It takes the energy
    sum of 4 c (reach - stroke) over the elements of shorter stroke.
    """
    once = reach * np.cos(np.linspace(0, 2 * np.pi, points + 1))
    way = np.concatenate([[0.0], once[:-1], once])
    x = stop_states(way, friction.strokes)[1 + points :]
    held = dict(zip(friction.strokes, x.T, strict=True))
    alone = Friction(presliding=friction.presliding, load_presliding=friction.load_presliding)
    return once, _force(alone, Instant(np.zeros(len(once)), r=load, x=held), once.shape)


def _alone(friction: Friction) -> Friction:
    """The record without what depends on position or on other joints."""
    return replace(friction, ripple=(), coupling=())


def _force(friction: Friction, at: Instant, shape: tuple[int, ...]) -> FloatArray:
    return np.array(np.broadcast_to(force_at(friction, at), shape), float)
