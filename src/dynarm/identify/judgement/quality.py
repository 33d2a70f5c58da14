"""What is doubtful about a recording: uneven time, gaps, resets, rests, quantisation, saturation, units."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

GAP = 5.0  # a step in time longer than this many usual steps is a gap
REST = 0.01  # a joint slower than this part of its own top speed rests
_LOOKED = 50_000  # samples in which a quantisation shows
_HELD = 5  # usual holds for which a torque must stand at its extreme to be saturated
_STILL = 1e-3  # [rad or m] range of positions of a joint that may rest
_LEAP = 0.15  # of a joint's range: longer steps lead to another pose, they are not part of a motion
_SLOWEST = 0.4  # [s] between samples: beyond, the clock rather counts something shorter
_TURN = 7.0  # [rad] positions beyond this are rather degrees


@dataclass(frozen=True, slots=True)
class Quality:
    """Findings about one recording; `notes` says them in sentences, `warnings` those that make a fit doubtful."""

    step: float  # usual time step [s]
    jitter: float  # standard deviation of the time step over the usual one, gaps left out
    gaps: tuple[tuple[float, float], ...]  # (time since the start, length) [s]
    resets: tuple[tuple[int, int], ...]  # (row, column of q) where a position jumps
    resting: np.ndarray  # (n,) part of the samples in which each joint rests
    resolution: np.ndarray  # (n,) quantisation step of each position, 0 where none shows
    saturated: np.ndarray  # (n,) part of the samples with the torque at its own extreme value
    notes: tuple[str, ...]
    warnings: tuple[str, ...]

    @property
    def rate(self) -> float:
        """Samples a second."""
        return 1 / self.step

    @property
    def uniform(self) -> bool:
        """Whether the samples lie on an even grid."""
        return not self.gaps and self.jitter < 1e-3


def inspect(
    t: np.ndarray, q: np.ndarray, tau: np.ndarray, qd: np.ndarray | None, base: int = 0
) -> Quality:
    """The quality of a recording, joint by joint. base: columns of q that are the pose of a free base."""
    steps = np.diff(t)
    usual = float(np.median(steps))
    long = steps > GAP * usual
    jitter = float(np.std(steps[~long]) / usual) if (~long).any() else 0.0
    gaps = tuple((float(t[k] - t[0]), float(steps[k])) for k in np.flatnonzero(long))
    resets = _resets(steps, q)
    n = q.shape[1] - base
    q, tau = q[:, base:], tau[:, tau.shape[1] - n :]
    qd = None if qd is None else qd[:, qd.shape[1] - n :]
    speed = np.abs(_speeds(t, q, qd))
    resting = (speed < REST * np.maximum(speed.max(axis=0), 1e-300)).mean(axis=0)
    resolution = np.array([_resolution(column) for column in q.T])
    saturated = np.array([_saturated(column) for column in tau.T])
    notes, warnings = [], []
    if gaps:
        longest = max(gaps, key=lambda g: g[1])
        notes.append(
            f"{len(gaps)} gaps in time, the longest {longest[1] * 1e3:.3g} ms at {longest[0]:.3f} s"
        )
    if jitter >= 1e-3:
        notes.append(
            f"time steps vary by {100 * jitter:.2g} % about {usual * 1e3:.4g} ms; resampled on recorded time"
        )
    for row, column in resets[:5]:
        whose = f"joint {column - base + 1}" if column >= base else "the base"
        warnings.append(f"the position of {whose} jumps in row {row + 1}; the log is cut there")
    for j in range(q.shape[1]):
        if resting[j] > 0.2:
            notes.append(f"joint {j + 1} rests in {100 * resting[j]:.0f} % of the samples")
        if resolution[j] > 0:
            notes.append(f"positions of joint {j + 1} come in steps of {resolution[j]:.3g}")
        if saturated[j] > 0:
            warnings.append(
                f"the torque of joint {j + 1} stands at its extreme value in {100 * saturated[j]:.1f} % of the "
                "samples: saturated"
            )
    return Quality(
        usual, jitter, gaps, resets, resting, resolution, saturated, tuple(notes), tuple(warnings)
    )


def _speeds(t: np.ndarray, q: np.ndarray, qd: np.ndarray | None) -> np.ndarray:
    """Velocities (N, n), by the positions where none were recorded or a column was not written."""
    slope = np.gradient(q, t, axis=0)
    return slope if qd is None else np.where(_unwritten(q, qd), slope, qd)


def _unwritten(q: np.ndarray, qd: np.ndarray) -> np.ndarray:
    """(n,): whether velocities never change where positions move."""
    return np.asarray((np.ptp(qd, axis=0) == 0) & _moves(q))


def _moves(q: np.ndarray) -> np.ndarray:
    """(n,): whether positions change bit by bit, by more than a joint at rest; not from one pose to another at once."""
    steps, span = np.abs(np.diff(q, axis=0)), np.ptp(q, axis=0)
    little = np.where(steps < _LEAP * span, steps, 0.0).sum(axis=0)
    return np.asarray((span > _STILL) & (little > 0.5 * steps.sum(axis=0)))


def _resets(steps: np.ndarray, q: np.ndarray) -> tuple[tuple[int, int], ...]:
    """Rows whose position cannot follow from the one before: far beyond the usual change, and much of the range."""
    jumped = jumps(steps, q, usual_rates(steps, q), np.ptp(q, axis=0))
    return tuple((int(k) + 1, int(j)) for k, j in np.argwhere(jumped))


def usual_rates(steps: np.ndarray, q: np.ndarray) -> np.ndarray:
    """(k,) rates that the positions (N, k) hardly ever exceed."""
    return rates_of(steps, np.diff(q, axis=0))


def rates_of(steps: np.ndarray, moves: np.ndarray) -> np.ndarray:
    """The same from changes (N, k) of positions in steps of time (N,)."""
    return np.array([np.quantile(np.abs(column) / steps, 0.995) for column in moves.T])


def jumps(steps: np.ndarray, q: np.ndarray, usual: np.ndarray, span: np.ndarray) -> np.ndarray:
    """(N - 1, k) where positions (N, k) jump, by their usual rates and their ranges."""
    change = np.abs(np.diff(q, axis=0))
    rate = change / steps[:, None]
    far = (change > 0.05 * span) & (span > 1e-6)
    return np.asarray((rate > 10 * np.maximum(usual, 1e-12)) & far)


def _resolution(column: np.ndarray) -> float:
    """The step of which all changes are multiples, 0 if there is none that could matter."""
    column = column[:_LOOKED]
    changes = np.abs(np.diff(column))
    changes = changes[changes > 0]
    if len(changes) < 20:
        return 0.0
    step = float(np.quantile(changes, 0.01))
    step = float(np.median(changes[changes < 1.5 * step]))
    whole = np.abs(changes / step - np.round(changes / step))
    few = len(np.unique(np.round(column / step))) < 0.9 * len(column)
    return step if few and np.quantile(whole, 0.9) < 0.02 else 0.0


def _saturated(column: np.ndarray) -> float:
    """Part of the samples at the extreme value, where it is held for several samples; 0 if it is not."""
    top = np.abs(column).max()
    if not top > 0 or np.ptp(column) == 0:  # NaN: not measured
        return 0.0
    at = np.abs(column) >= top * (1 - 1e-9)
    edges = np.flatnonzero(np.diff(np.r_[0, at.astype(int), 0]))
    longest = int((edges[1::2] - edges[::2]).max()) if len(edges) else 0
    return float(at.mean()) if longest >= _HELD * _usual_hold(column) else 0.0


def _usual_hold(column: np.ndarray) -> float:
    """For how many samples a value usually stays: more than one where a slower sensor is read again and again."""
    changes = np.flatnonzero(np.diff(column))
    return float(np.median(np.diff(changes))) if len(changes) > 1 else 1.0


def unit_doubts(
    t: np.ndarray, q: np.ndarray, qd: np.ndarray | None, revolute: Sequence[bool]
) -> list[str]:
    """Sentences about positions that look like degrees and velocities that do not fit their positions."""
    doubts = []
    for j, turning in enumerate(revolute):
        if turning and np.abs(q[:, j]).max() > _TURN:
            doubts.append(
                f"positions of joint {j + 1} reach {np.abs(q[:, j]).max():.4g}: degrees? Declare unit = 'deg' in the "
                "channels, or convert to radians"
            )
    usual = float(np.median(np.diff(t)))
    if usual > _SLOWEST and _moves(q).any():
        doubts.append(
            f"samples are {usual:.4g} s apart: milliseconds? Declare t in 'ms' in the channels, or give seconds"
        )
    if qd is None:
        return doubts
    for j in np.flatnonzero(_unwritten(q, qd)).tolist():
        doubts.append(
            f"the velocity of joint {j + 1} never changes, its position does: not recorded? Leave velocities out"
        )
    slope = np.gradient(q, t, axis=0)
    slope, qd = slope - slope.mean(axis=0), qd - qd.mean(axis=0)
    size = np.sqrt((slope**2).mean(axis=0)), np.sqrt((qd**2).mean(axis=0))
    moving = (size[0] > 1e-9) & (size[1] > 1e-9)
    both = (
        slope.T @ qd / (len(t) * np.outer(np.maximum(size[0], 1e-150), np.maximum(size[1], 1e-150)))
    )
    for j in np.flatnonzero(moving).tolist():
        best = int(np.argmax(np.where(moving, np.abs(both[j]), 0)))
        ratio = size[0][j] / size[1][j]
        if best != j and abs(both[j, best]) > 0.95 and abs(both[j, j]) < 0.6:
            doubts.append(
                f"the velocity of joint {j + 1} fits the positions of joint {best + 1} better: swapped columns?"
            )
        elif both[j, j] > 0.8 and not 1 / 3 < ratio < 3:
            doubts.append(
                f"positions of joint {j + 1} change {ratio:.3g} times as fast as its velocities say: mixed units?"
            )
        elif both[j, j] < -0.8:
            doubts.append(f"the velocity of joint {j + 1} has the opposite sign of its positions")
    return doubts
