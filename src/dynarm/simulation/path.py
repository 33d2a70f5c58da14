"""The path of an adaptive run: the interpolants that its steps left, one after another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..border.kinds import Foreign, Numbers
from ..errors import InputError
from .system import System, coordinates


@dataclass(frozen=True, slots=True)
class Piece:
    """One step: from when to when, and the states in between."""

    start: float
    end: float
    states: Foreign


@dataclass(frozen=True, slots=True, eq=False)
class Path:
    """The states of a run between its steps, by each step's own interpolant."""

    first: np.ndarray
    pieces: Sequence[Piece]
    system: System

    def __call__(self, t: Numbers) -> tuple[np.ndarray, np.ndarray]:
        """q and qd at times between 0 and the end of the run."""
        times = np.asarray(t, float)
        end = self.pieces[-1].end if self.pieces else 0.0
        if times.size and not (times.min() >= 0 and times.max() <= end * (1 + 1e-12)):
            raise InputError(f"the run goes from 0 to {end:g} s; ask for times in between")
        y = self.states(times.ravel()).reshape(*times.shape, len(self.first))
        return coordinates(self.system, y), y[..., self.system.layout.qd]

    def states(self, times: np.ndarray) -> np.ndarray:
        """The integrator's whole state, one row a time."""
        y = np.empty((len(times), len(self.first)))
        if not self.pieces:
            y[:] = self.first
            return y
        starts = np.array([p.start for p in self.pieces])
        which = np.clip(np.searchsorted(starts, times, side="right") - 1, 0, len(starts) - 1)
        order = np.argsort(which, kind="stable")
        edges = np.flatnonzero(np.diff(which[order])) + 1
        for mine in np.split(order, edges):
            if len(mine):
                piece = self.pieces[which[mine[0]]]
                y[mine] = piece.states(np.clip(times[mine], piece.start, piece.end)).T
        return y
