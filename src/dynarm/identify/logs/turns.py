"""Positions of joints that an encoder tells within one turn only, and that jump by a turn where they leave it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ...border.kinds import Kept
from ...robot.arm import Arm
from ..judgement.quality import rates_of

if TYPE_CHECKING:
    from .log import Log

_TURN = 2 * np.pi
_STEP = 1.0  # [rad] that a joint moves at most from sample to sample
_FAST = 10.0  # times that a step may be faster than usual
_GAP = 20.0  # times the usual step in time, beyond which a joint may have turned


def unbroken(log: Log, arm: Arm) -> Log:
    """The log, turning joints' positions going on where an encoder of one turn begins anew."""
    turns = np.where(turning(arm), whole_turns(log.t, log.split("q")[1]), 0.0)
    if not turns.any():
        return log
    return replace(turned(log, turns), notes=(*log.notes, *said(turns)))


def turning(arm: Arm) -> np.ndarray:
    """(n,): which joints that move on their own turn."""
    return np.array([arm.joints[i].revolute for i in arm.coupling.masters])


def turned(log: Log, turns: np.ndarray) -> Log:
    """The log, its joints so many turns (n,) or (N, n) further on."""
    base, q = log.split("q")
    positions = continuous(q, turns)
    changed: dict[str, Kept] = {"q": np.hstack([base, positions])}
    for name in (k for k in ("reference", "q_command") if getattr(log, k) is not None):
        pose, asked = log.split(name)
        near = np.where(np.atleast_2d(turns).any(axis=0), nearest(asked, positions), asked)
        changed[name] = np.hstack([pose, near])
    return replace(log, **changed)


def whole_turns(t: np.ndarray, q: np.ndarray) -> np.ndarray:
    """(N, n) turns that positions q (N, n) at times t (N,) lack: where they jump by a turn, and but for it go on.

    Poses that do not follow from each other, most of them far apart, are left alone; so are jumps by anything else.
    """
    steps, change = np.diff(t), np.diff(q, axis=0)
    near = (steps <= _GAP * np.median(steps))[:, None]
    lacking = np.zeros(q.shape)
    if (near & (np.abs(change) > _TURN / 2)).any():
        part = np.abs(_within(change))
        follows = np.median(part, axis=0) < _STEP
        lacking[1:] = np.where(near & follows, _lacking(change, fastest(t, q) * steps[:, None]), 0)
    return np.cumsum(lacking, axis=0)


def turns_after(t: np.ndarray, q: np.ndarray, before: float, last: np.ndarray) -> np.ndarray:
    """(n,) turns that positions lack to go on from the last one, at an earlier time; none after a gap."""
    step, change = t[0] - before, q[0] - last
    if not 0 <= step <= _GAP * np.median(np.diff(t)) or (np.abs(change) <= _TURN / 2).all():
        return np.zeros(len(last))
    return _lacking(change, fastest(t, q) * step)


def fastest(t: np.ndarray, q: np.ndarray) -> np.ndarray:
    """(n,) rates that joints never have, by what is usual, turns left out."""
    return _FAST * rates_of(np.diff(t), _within(np.diff(q, axis=0)))


def _lacking(change: np.ndarray, most: np.ndarray) -> np.ndarray:
    """The turns in changes that are no larger than they may be without them."""
    part = np.abs(_within(change))
    return np.where(part <= np.minimum(most, _STEP), -np.round(change / _TURN), 0.0)


def _within(change: np.ndarray) -> np.ndarray:
    """Changes without whole turns."""
    return np.asarray(change - _TURN * np.round(change / _TURN))


def continuous(q: np.ndarray, turns: np.ndarray) -> np.ndarray:
    """Positions (N, n) with the turns that they lack."""
    return np.asarray(q + _TURN * turns)


def nearest(q: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Positions (N, n) in the turn that is nearest to others."""
    return np.asarray(q + _TURN * np.round((other - q) / _TURN))


def said(turns: np.ndarray) -> tuple[str, ...]:
    """A note about each joint whose positions were made continuous."""
    count = (np.diff(turns, axis=0) != 0).sum(axis=0)
    return tuple(
        f"positions of joint {j + 1} leave their turn {count[j]} times and were made continuous"
        for j in np.flatnonzero(count).tolist()
    )
