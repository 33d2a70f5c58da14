"""Positions of joints that an encoder tells within one turn only, and that jump by a turn where they leave it."""

from __future__ import annotations

import numpy as np

_TURN = 2 * np.pi
_SLACK = 0.1  # [rad] by which rounding may take such positions beyond a turn
_STEP = 1.0  # [rad] that a joint moves at most from sample to sample


def whole_turns(q: np.ndarray) -> np.ndarray:
    """(N, n) turns that positions (N, n) lack: where they never leave one turn and jump across all of it.

    No motion does that: it would cross its whole range from one sample to the next. Poses that do not follow from each
    other, most of them far apart, are left alone.
    """
    change = np.diff(q, axis=0)
    part = change - _TURN * np.round(change / _TURN)
    moving = np.median(np.abs(part), axis=0) < _STEP
    within = np.ptp(q, axis=0) <= _TURN + _SLACK
    across = moving & within & (np.abs(change) > _TURN - _STEP)
    jumps = np.where(across, -np.sign(change), 0.0)
    return np.vstack([np.zeros(q.shape[1]), np.cumsum(jumps, axis=0)])


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
