"""The closed loop simulated along all stretches at once, and how its positions change with every unknown.

Unknowns in a row: drives (4 n,) in the order of WORDS, joint by joint inside; logarithms (n,) of factors of the widths
of Coulomb friction; the delay; the lead; the first state (2 n,) of every stretch; and where rigid bodies are unknown,
their natural parameters, of which the log feels the minimal ones. Limbs on a fixed base do not feel one another, so
that unknowns of different limbs are varied together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...border.kinds import FloatArray
from .bodies import Bodies
from .loop import Loop, legs, simulated
from .tracks import Track, moving

OWN = 5  # unknowns of a joint: its drives and its width
COMMON = 2  # and of all joints: delay, lead
_START = 1e-4  # [rad, rad/s] by which first states are varied
_SHIFT = 1e-4  # [s] by which the delay is
_WIDER = 0.05  # by which the logarithm of a width is
_LATER = 5e-4  # [s] by which the lead is
_DAMPED = (0.01, 1.0)  # [rad, rad/s] by how much first states move in a step, about
_LOCKED = 1e6  # [kg m^2 or kg] armature of a joint that rests in a log: something holds it
_BEGINNING = 0.5  # [s] of a log that tell the first state of a rollout


def loop_of(loop: Loop, x: FloatArray) -> Loop:
    """The loop with the widths and the lead of some unknowns."""
    n = loop.n
    wider, lead = x[4 * n : OWN * n], float(x[OWN * n + 1])
    return replace(loop, widths=loop.widths * np.exp(wider), lead=lead)


def locked(drives: FloatArray, tracks: Sequence[Track]) -> FloatArray:
    """The drives (4 n,) with which joints that rest along some stretches stay where they are, whatever holds them."""
    still = ~moving(tracks)
    return np.asarray(drives + np.concatenate([_LOCKED * still, np.zeros(3 * len(still))]))


@dataclass(frozen=True, slots=True, eq=False)
class _Change:
    """A row (unknowns,) by which unknowns are varied, and by how much it moves each of some columns."""

    row: FloatArray
    columns: Sequence[int]
    steps: FloatArray


class Rollouts:
    """Errors of rollouts over all tracks, and how they change with drives, delay and bodies."""

    def __init__(self, loop: Loop, tracks: Sequence[Track], bodies: Bodies | None = None):
        self.loop, self.tracks, self.bodies = loop, tracks, bodies
        limbs, n = legs(loop.plant.model.arm), loop.n
        places = [[i for i, own in enumerate(limbs) if own == limb] for limb in sorted(set(limbs))]
        self.limbs, self.rounds = places, max(map(len, places))
        self.first = OWN * n + COMMON
        self.last = self.first + 2 * n * len(tracks)  # where bodies begin

    def positions(self, rows: FloatArray, delay: float) -> FloatArray:
        """(samples, N, n) along all tracks for unknowns (N, all), whose delay is not read."""
        n, out = self.loop.n, []
        wider, lead = rows[:, 4 * n : OWN * n], rows[:, OWN * n + 1]
        starts = rows[:, self.first : self.last].reshape(len(rows), -1, 2 * n)
        values = rows[:, self.last :] @ self.bodies.matrix.T if self.bodies else None
        drives, own = rows[:, : 4 * n], loop_of(self.loop, rows[0])
        for i, k in enumerate(self.tracks):
            steps = own.substeps(k.t, k.q, drives[0])
            start, varied = (starts[:, i, :n], starts[:, i, n:]), (wider, lead, values)
            run = simulated(self.loop, k.t, k.command, start, drives, delay, steps, *varied)
            out.append(run)
        return np.concatenate(out)

    def left(self, x: FloatArray) -> FloatArray:
        """(N, n): simulated less recorded positions."""
        recorded = np.concatenate([track.q for track in self.tracks])
        return np.asarray(self.positions(x[None], x[OWN * self.loop.n])[:, 0] - recorded)

    def jacobian(self, x: FloatArray, units: FloatArray) -> FloatArray:
        """(N, n, unknowns): by differences; units (4 n,): by how much each drive is varied.

        The last columns are those of the minimal parameters of the bodies.
        """
        n, size, delay = self.loop.n, len(x), float(x[OWN * self.loop.n])
        changes = [*self._changes(size, units), *self._bodies(x)]
        runs = self.positions(x + np.vstack([np.zeros(size), *(c.row for c in changes)]), delay)
        J = np.zeros((len(runs), n, self.last + (len(self.bodies.matrix) if self.bodies else 0)))
        for k, change in enumerate(changes):
            moved = runs[:, 1 + k] - runs[:, 0]
            for place, step in zip(change.columns, change.steps, strict=True):
                own = self._limb(int(place))
                J[:, own, place] = moved[:, own] / step
        later = self.positions(x[None], delay + _SHIFT)
        J[:, :, OWN * n] = (later[:, 0] - runs[:, 0]) / _SHIFT
        return J

    def _changes(self, size: int, units: FloatArray) -> list[_Change]:
        """By what unknowns but bodies are varied."""
        n, changes = self.loop.n, []
        own = np.concatenate([units, np.full(n, _WIDER)])
        parts = [(0, word, own) for word in range(OWN)]
        starts = range(self.first, self.last, 2 * n)
        parts += [(first, word, np.full(2 * n, _START)) for first in starts for word in range(2)]
        for first, word, by in parts:
            for turn in range(self.rounds):
                row = np.zeros(size)
                joints = [own[turn] + word * n for own in self.limbs if turn < len(own)]
                columns = [first + j for j in joints]
                row[columns] = by[joints]
                changes.append(_Change(row, columns, by[joints]))
        later = np.zeros(size)
        later[OWN * n + 1] = _LATER
        return [*changes, _Change(later, [OWN * n + 1], np.array([_LATER]))]

    def _bodies(self, x: FloatArray) -> list[_Change]:
        """By what bodies are varied: a thousandth of what is believed of each minimal parameter, a limb's at a time."""
        if self.bodies is None:
            return []
        by = 1e-3 * np.sqrt(np.diag(self.bodies.believed(self.bodies.described)))
        ways, limbs = np.linalg.pinv(self.bodies.matrix), self.bodies.limbs()
        kinds = [[k for k, own in enumerate(limbs) if own == limb] for limb in sorted(set(limbs))]
        changes = []
        for turn in range(max(map(len, kinds))):
            places = [own[turn] for own in kinds if turn < len(own)]
            row = np.zeros(len(x))
            row[self.last :] = ways[:, places] @ by[places]
            changes.append(_Change(row, [self.last + k for k in places], by[places]))
        return changes

    def _limb(self, place: int) -> Sequence[int] | slice:
        """The joints of the limb that an unknown belongs to; all of them for what limbs share."""
        n = self.loop.n
        if OWN * n <= place < self.first:
            return slice(None)
        if self.bodies is not None and place >= self.last:
            return self.limbs[self.bodies.limbs()[place - self.last]]
        joint = place % n if place < OWN * n else (place - self.first) % n
        return next(own for own in self.limbs if joint in own)


def first_state(loop: Loop, track: Track, drives: FloatArray, delay: float) -> FloatArray:
    """(2 n,): the q, qd from which a rollout follows the first half second best, by a few Gauss-Newton steps."""
    n = loop.n
    few = max(8, int(np.searchsorted(track.t, track.t[0] + _BEGINNING)))
    t, q, c = track.t[:few], track.q[:few], track.command[:few]
    x = np.concatenate(track.start)
    steps, weights = loop.substeps(t, q, drives), np.repeat(_DAMPED, n)
    best, least = x, np.inf
    for _ in range(4):
        varied = np.vstack([x, x + _START * np.eye(2 * n)])
        given = np.tile(drives, (2 * n + 1, 1))
        runs = simulated(loop, t, c, (varied[:, :n], varied[:, n:]), given, delay, steps)
        left = (runs[:, 0] - q).ravel()
        if not np.isfinite(runs).all() or not left @ left < least:
            break
        best, least = x, float(left @ left)
        J = ((runs[:, 1:] - runs[:, :1]) / _START).transpose(0, 2, 1).reshape(-1, 2 * n) * weights
        size = 1e-6 * np.trace(J.T @ J) / (2 * n)
        x = x - weights * np.linalg.solve(J.T @ J + size * np.eye(2 * n), J.T @ left)
    return best
