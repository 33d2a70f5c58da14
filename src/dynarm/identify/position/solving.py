"""Drives and delay that make the simulated closed loop follow the recorded positions best.

First by least squares on reconstructed torques: the states by splines, tau = kp (command(t - delay) - q) - kd qd, less
the rigid body's torque, joint by joint on [qdd, qd, smooth sign of qd, 1], the delay being that with the least error.
Then by Gauss-Newton on rollouts, which feel no noise of derivatives: the difference of simulated and recorded
positions, joint by joint in units of its own size. Limbs on a fixed base do not feel one another, so that drives of
different limbs are varied together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...border.kinds import FloatArray, Maker
from ...dynamics.drive import smooth_sign
from ..logs.log import Log
from ..segments import stretches
from ..spline import spline_of
from .loop import Loop, commanded, legs, simulated

LATEST = 0.06  # [s] the longest delay that is looked for
_GRID = 0.001  # [s] between delays that are tried first
_PASSES = 12  # Gauss-Newton steps at most
_ENOUGH = 1e-2  # of a deviation: a smaller step is none
_BLOCK = 0.25  # [s] stretches of time whose errors count as independent
_WIDTH = 0.01  # of a joint's usual speed: the width of its Coulomb friction
_NARROW = 0.003  # [rad/s or m/s] and at least
_LEAST = 1e-9  # [rad or m] of an error
_DAMPED = (0.01, 1.0)  # [rad, rad/s] by how much first states move in a step, about
_BEGINNING = 0.5  # [s] of a log that tell the first state of a rollout
_BETWEEN = 0.05  # of a sample: what commands do in it makes the delay uncertain
_START = 1e-4  # [rad, rad/s] by which first states are
_SHIFT = 1e-4  # [s] by which the delay is varied
_WIDER = 0.05  # by which the logarithm of the widths is
_NARROWEST, _WIDEST = -1.0, 3.0  # of that logarithm: narrower ones tell nothing and take many steps


@dataclass(frozen=True, slots=True, eq=False)
class Track:
    """A stretch of a log: times, positions, commands and smooth states."""

    t: FloatArray
    q: FloatArray
    command: FloatArray
    states: tuple[FloatArray, FloatArray, FloatArray]

    @property
    def start(self) -> tuple[FloatArray, FloatArray]:
        return self.states[0][0], self.states[1][0]


@dataclass(frozen=True, slots=True, eq=False)
class DriveSolution:
    """Drives (4 n,) in the order of WORDS, joint by joint inside, delay and width of Coulomb friction.

    covariance: of drives, the delay, and the logarithm of the factor that widths were multiplied by.
    """

    drives: FloatArray
    delay: float
    widths: FloatArray
    covariance: FloatArray
    told: FloatArray  # (4 n,) which drives the log tells at all
    rms: FloatArray  # (n,) of what is left [rad or m]
    worth: FloatArray  # (4 n,) what each drive would be if it alone took all of the torque
    passes: int


def tracks_of(logs: Sequence[Log]) -> list[Track]:
    """The stretches of the logs between gaps, with smooth states."""
    tracks = []
    for log in logs:
        for piece in stretches(log):
            spline = spline_of(piece.t, piece.q)
            tracks.append(Track(piece.t, piece.q, piece.q_command, spline.states(piece.t)))
    return tracks


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


def widths_of(tracks: Sequence[Track]) -> FloatArray:
    """(n,): where Coulomb friction is smoothed, by the joints' usual speeds."""
    speeds = np.sqrt(np.mean(np.vstack([track.states[1] for track in tracks]) ** 2, axis=0))
    return np.asarray(np.maximum(_NARROW, _WIDTH * speeds))


# ---- by torques


def begun(loop: Loop, tracks: Sequence[Track]) -> tuple[FloatArray, float, FloatArray]:
    """Drives and delay by least squares on torques, and the size (n,) of the torques that the controller gave."""
    n = loop.n
    q, qd, qdd = (np.vstack([track.states[k] for track in tracks]) for k in range(3))
    rigid = loop.plant.model.inverse_dynamics(q, qd, qdd)
    columns = np.stack([qdd, qd, smooth_sign(qd, 1 / loop.widths), np.ones_like(qd)], axis=-1)
    scale = np.maximum(np.sqrt((columns**2).mean(axis=0)), 1e-12)
    bases = [np.linalg.svd(columns[:, j] / scale[j], full_matrices=False) for j in range(n)]

    def torques(delay: float) -> FloatArray:
        given = [commanded(k.t, k.command, k.t - delay) for k in tracks]
        return np.asarray(loop.kp * (np.vstack(given) - q) - loop.kd * qd)

    def error(delay: float) -> float:
        y = torques(delay) - rigid
        left = [
            float(np.sum((y[:, j] - U @ (U.T @ y[:, j])) ** 2)) for j, (U, _, _) in enumerate(bases)
        ]
        return float(np.log(np.maximum(left, 1e-12)).sum())

    delay = _least(error)
    y = torques(delay) - rigid
    drives = np.zeros((4, n))
    for j, (U, s, V) in enumerate(bases):
        inverse = np.where(s > 1e-6 * s[0], 1 / np.maximum(s, 1e-300), 0.0)
        drives[:, j] = V.T @ (inverse * (U.T @ y[:, j])) / scale[j]
    drives[:3] = np.maximum(drives[:3], 0.0)
    return drives.ravel(), delay, np.sqrt((torques(delay) ** 2).mean(axis=0))


def _least(error: Maker) -> float:
    """The delay of the least error: the best of a grid, then the lowest point of a parabola."""
    delays = np.arange(0.0, LATEST + _GRID / 2, _GRID)
    errors = np.array([error(delay) for delay in delays])
    k = int(np.argmin(errors))
    if not 0 < k < len(delays) - 1:
        return float(delays[k])
    low, mid, high = errors[k - 1 : k + 2]
    return float(delays[k] + _GRID / 2 * (low - high) / max(low - 2 * mid + high, 1e-12))


# ---- by rollouts


class Rollouts:
    """Errors of rollouts over all tracks, and how they change with drives and delay."""

    def __init__(self, loop: Loop, tracks: Sequence[Track]):
        self.loop, self.tracks = loop, tracks
        limbs = legs(loop.plant.model.arm)
        places = [[i for i, own in enumerate(limbs) if own == limb] for limb in sorted(set(limbs))]
        self.limbs, self.rounds = places, max(map(len, places))

    def positions(
        self, drives: FloatArray, delay: float, wider: FloatArray, starts: FloatArray
    ) -> FloatArray:
        """(samples, N, n) along all tracks for drives (N, 4 n), from starts (N, tracks, 2 n).

        wider (N,): logarithms of a factor of the widths.
        """
        narrow = replace(self.loop, widths=self.loop.widths * np.exp(wider.min()))
        n, out = self.loop.n, []
        for i, k in enumerate(self.tracks):
            steps = narrow.substeps(k.t, k.q, drives[0])
            start = starts[:, i, :n], starts[:, i, n:]
            run = simulated(self.loop, k.t, k.command, start, drives, delay, steps, wider)
            out.append(run)
        return np.concatenate(out)

    def parted(self, x: FloatArray) -> tuple[FloatArray, float, float, FloatArray]:
        """Drives, delay, wider and starts (tracks, 2 n) of all unknowns in a row."""
        n = self.loop.n
        return x[: 4 * n], float(x[4 * n]), float(x[4 * n + 1]), x[4 * n + 2 :].reshape(-1, 2 * n)

    def left(self, x: FloatArray) -> FloatArray:
        """(N, n): simulated less recorded positions."""
        recorded = np.concatenate([track.q for track in self.tracks])
        drives, delay, wider, starts = self.parted(x)
        run = self.positions(drives[None], delay, np.array([wider]), starts[None])
        return np.asarray(run[:, 0] - recorded)

    def jacobian(self, x: FloatArray, units: FloatArray) -> FloatArray:
        """(N, n, unknowns): by differences; units (4 n,): by how much each drive is varied."""
        n, (drives, delay, wider, starts) = self.loop.n, self.parted(x)
        rounds, last = 4 * self.rounds, 6 * self.rounds + 1
        varied, begun = np.tile(drives, (last + 1, 1)), np.tile(starts, (last + 1, 1, 1))
        for k in range(rounds):
            varied[1 + k] += self._which(k) * units
        for k in range(2 * self.rounds):
            begun[1 + rounds + k] += _START * self._which(k)[: 2 * n]
        wide = np.full(last + 1, wider)
        wide[-1] += _WIDER
        runs = self.positions(varied, delay, wide, begun)
        J = np.zeros((len(runs), n, len(x)))
        for k in range(rounds):
            self._spread(J, runs[:, 1 + k] - runs[:, 0], k, units, slice(0, 4 * n))
        low, row = 4 * n + 2, 0
        for track in self.tracks:
            high = row + len(track.t)
            for k in range(2 * self.rounds):
                change = runs[row:high, 1 + rounds + k] - runs[row:high, 0]
                self._spread(
                    J[row:high], change, k, np.full(2 * n, _START), slice(low, low + 2 * n)
                )
            low, row = low + 2 * n, high
        later = self.positions(drives[None], delay + _SHIFT, np.array([wider]), starts[None])
        J[:, :, 4 * n] = (later[:, 0] - runs[:, 0]) / _SHIFT
        J[:, :, 4 * n + 1] = (runs[:, -1] - runs[:, 0]) / _WIDER
        return J

    def _spread(
        self, J: FloatArray, change: FloatArray, k: int, units: FloatArray, where: slice
    ) -> None:
        """Put what a round changed into the columns of the unknowns that it varied, limb by limb."""
        for place in np.flatnonzero(self._which(k)[: where.stop - where.start]):
            limb = next(own for own in self.limbs if place % self.loop.n in own)
            J[:, limb, where.start + place] = change[:, limb] / units[place]

    def _which(self, k: int) -> FloatArray:
        """(4 n,) the drives that are varied in one round: of every limb one joint's."""
        word, turn = divmod(k, self.rounds)
        mask = np.zeros((4, self.loop.n))
        for own in self.limbs:
            if turn < len(own):
                mask[word, own[turn]] = 1.0
        return mask.ravel()


def solved(loop: Loop, tracks: Sequence[Track]) -> DriveSolution:
    """Drives and delay by rollouts, from those that torques give; the first states are unknown, too."""
    drives, delay, torque = begun(loop, tracks)
    rollouts = Rollouts(loop, tracks)
    units = 1e-3 * _units(tracks, torque)
    n, starts = loop.n, np.concatenate([np.concatenate(track.start) for track in tracks])
    anything = np.full(len(starts), -np.inf)
    low = np.concatenate([np.zeros(3 * n), np.full(n, -np.inf), [0.0, _NARROWEST], anything])
    still = ~_moving(tracks)
    held = np.concatenate([still, still, still, np.zeros(n + 2 + len(starts), bool)])
    x = np.concatenate([drives, [delay, 0.0], starts])
    x[held] = 0.0
    x, left, passes = _descended(rollouts, x, units, low, held)
    J, sigma = rollouts.jacobian(x, units), _sizes(left)
    covariance, told = _covariance(J, left, sigma, held, tracks)
    drives, delay, wider, _ = rollouts.parted(x)
    worth, widths, own = 1e3 * units, loop.widths * np.exp(wider), 4 * n + 2
    return DriveSolution(
        drives, delay, widths, covariance[:own, :own], told[: 4 * n], sigma, worth, passes
    )


def _descended(
    rollouts: Rollouts,
    x: FloatArray,
    units: FloatArray,
    low: FloatArray,
    held: np.ndarray,
) -> tuple[FloatArray, FloatArray, int]:
    """Unknowns and errors after steps of Gauss-Newton, and how many there were."""
    left, passes = rollouts.left(x), 0
    while passes < _PASSES:
        passes += 1
        sigma = _sizes(left)
        step, length = _stepped(rollouts.jacobian(x, units), left, sigma, x, low, held)
        for part in (1.0, 0.3, 0.1, 0.03):
            trial = np.maximum(x + part * step, low)
            tried = rollouts.left(trial)
            if np.isfinite(tried).all() and _cost(tried, sigma) < _cost(left, sigma):
                break
        else:
            break
        x, left = trial, tried
        if length < _ENOUGH * np.sqrt(len(x)):
            break
    return x, left, passes


def _sizes(left: FloatArray) -> FloatArray:
    """(n,): the size of each joint's errors."""
    return np.asarray(np.maximum(np.sqrt((left**2).mean(axis=0)), _LEAST))


def _cost(left: FloatArray, sigma: FloatArray) -> float:
    return float(((left / sigma) ** 2).sum())


def _units(tracks: Sequence[Track], torque: FloatArray) -> FloatArray:
    """(4 n,): what a drive would be if it alone took all of the torque."""
    v, a = (np.vstack([k.states[i] for k in tracks]) for i in (1, 2))
    speed, rate = (np.maximum(np.sqrt((x**2).mean(axis=0)), 1e-6) for x in (v, a))
    torque = np.maximum(torque, 1e-9)
    return np.concatenate([torque / rate, torque / speed, torque, torque])


def _moving(tracks: Sequence[Track]) -> np.ndarray:
    """(n,) which joints move at all."""
    q = np.vstack([k.states[0] for k in tracks])
    return np.asarray(np.ptp(q, axis=0) > 1e-3)


def _stepped(
    J: FloatArray,
    left: FloatArray,
    sigma: FloatArray,
    x: FloatArray,
    low: FloatArray,
    held: np.ndarray,
) -> tuple[FloatArray, float]:
    """A step of Gauss-Newton inside the bounds, and its length in deviations."""
    from scipy.optimize import lsq_linear

    size = J.shape[2]
    A, b = (J / sigma[:, None]).reshape(-1, size), (left / sigma).ravel()
    whole, n = A.T @ A, J.shape[1]
    first = np.arange(4 * n + 2, size)
    whole[first, first] += np.tile(np.repeat(np.square(_DAMPED) ** -1.0, n), len(first) // (2 * n))
    scale = np.maximum(np.sqrt(np.diag(whole)), 1e-12)
    gram = whole / np.outer(scale, scale) + 1e-9 * np.eye(size)
    R = np.linalg.cholesky(gram).T
    target = np.linalg.solve(R.T, -(A.T @ b) / scale)
    wide = 4 * n + 1
    top = np.full(size, np.inf)
    top[wide] = (_WIDEST - x[wide]) * scale[wide] + 1e-12
    bounds = (np.where(held, -1e-12, (low - x) * scale - 1e-12), np.where(held, 1e-12, top))
    y = lsq_linear(R, target, bounds=bounds, method="bvls").x
    return np.where(held, 0.0, y / scale), float(np.linalg.norm(R @ y))


def _covariance(
    J: FloatArray, left: FloatArray, sigma: FloatArray, held: np.ndarray, tracks: Sequence[Track]
) -> tuple[FloatArray, np.ndarray]:
    """Of drives and delay, with errors of neighbouring samples dependent; which of them the log tells.

    (J'J)^-1 S (J'J)^-1, S by sums over blocks of time, and never less than if all samples were independent.
    """
    size = J.shape[2]
    A, b = J / sigma[:, None], left / sigma
    gram = np.tensordot(A, A, ([0, 1], [0, 1]))
    scale = np.sqrt(np.maximum(np.diag(gram), 1e-300))
    told = ~held & (scale > 1e-6 * np.sqrt(len(left)))
    keep = np.flatnonzero(told)
    unit = gram[np.ix_(keep, keep)] / np.outer(scale[keep], scale[keep])
    inverse = np.linalg.pinv(unit, rcond=1e-12, hermitian=True) / np.outer(scale[keep], scale[keep])
    scores = np.einsum("kji,kj->ki", A[:, :, keep], b)
    S = np.zeros_like(inverse)
    blocks, first = 0, 0
    for track in tracks:
        own = scores[first : first + len(track.t)]
        first += len(own)
        many = max(1, int((track.t[-1] - track.t[0]) / _BLOCK))
        for part in np.array_split(own, many):
            total = part.sum(axis=0)
            S += np.outer(total, total)
            blocks += 1
    spread = inverse @ S @ inverse * (blocks / max(blocks - len(keep) / max(J.shape[1], 1), 1))
    out = np.full((size, size), 0.0)
    ratio = np.sqrt(np.maximum(1.0, np.diag(inverse) / np.maximum(np.diag(spread), 1e-300)))
    out[np.ix_(keep, keep)] = spread * np.outer(ratio, ratio)
    out += _unseen(gram, keep, tracks, 4 * J.shape[1])
    out[~told, ~told] = np.inf
    return out, told


def _unseen(gram: FloatArray, keep: np.ndarray, tracks: Sequence[Track], place: int) -> FloatArray:
    """The covariance that comes of what commands do between samples, which shows as a part of a sample of delay."""
    size = len(gram)
    late = _BETWEEN * float(np.median(np.diff(tracks[0].t)))
    others = keep[keep != place]
    shift = np.zeros(size)
    shift[place] = late
    shift[others] = -np.linalg.pinv(gram[np.ix_(others, others)], hermitian=True) @ (
        gram[others, place] * late
    )
    return np.outer(shift, shift)
