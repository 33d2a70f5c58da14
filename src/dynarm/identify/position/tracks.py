"""Stretches of logs without gaps: what is recorded in them, and smooth states."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...border.kinds import FloatArray
from ..logs.log import Log
from ..segments import stretches
from ..spline import spline_of

_WIDTH = 0.01  # of a joint's usual speed: the width of its Coulomb friction
_NARROW = 0.003  # [rad/s or m/s] and at least
_MOVED = 1e-3  # [rad or m] range of positions of a joint that moves


@dataclass(frozen=True, slots=True, eq=False)
class Track:
    """A stretch of a log: times, positions, commands and smooth states."""

    t: FloatArray
    q: FloatArray
    command: FloatArray
    states: tuple[FloatArray, FloatArray, FloatArray]

    def cut(self, part: slice) -> Track:
        """A part of it."""
        q, qd, qdd = self.states
        states = q[part], qd[part], qdd[part]
        return Track(self.t[part], self.q[part], self.command[part], states)

    @property
    def start(self) -> tuple[FloatArray, FloatArray]:
        return self.states[0][0], self.states[1][0]


def tracks_of(logs: Sequence[Log]) -> list[Track]:
    """The stretches of the logs between gaps, with smooth states."""
    tracks = []
    for log in logs:
        for piece in stretches(log):
            spline = spline_of(piece.t, piece.q)
            tracks.append(Track(piece.t, piece.q, piece.q_command, spline.states(piece.t)))
    return tracks


def widths_of(tracks: Sequence[Track]) -> FloatArray:
    """(n,): where Coulomb friction is smoothed, by the joints' usual speeds."""
    speeds = np.sqrt(np.mean(np.vstack([track.states[1] for track in tracks]) ** 2, axis=0))
    return np.asarray(np.maximum(_NARROW, _WIDTH * speeds))


def moving(tracks: Sequence[Track]) -> np.ndarray:
    """(n,) which joints move at all."""
    q = np.vstack([k.states[0] for k in tracks])
    return np.asarray(np.ptp(q, axis=0) > _MOVED)


def units(tracks: Sequence[Track], torque: FloatArray) -> FloatArray:
    """(4 n,): what a drive would be if it alone took all of the torque (n,)."""
    v, a = (np.vstack([k.states[i] for k in tracks]) for i in (1, 2))
    speed, rate = (np.maximum(np.sqrt((x**2).mean(axis=0)), 1e-6) for x in (v, a))
    torque = np.maximum(torque, 1e-9)
    return np.concatenate([torque / rate, torque / speed, torque, torque])
