"""Joints that rest while others move: what they measure is noise, and their forces may have nothing to be explained."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from ..plan.sizes import packed_pattern
from ..robot.arm import Arm

RESTS = "rests"  # slow rows that are left out: those of joints that rest
_FOLD = 64  # rows that are looked at side by side
_REST = 1e-3  # [rad or m] range of the positions of a joint that rests
_SMALL = 5e-3  # of the widest range of another joint's: where all move little, none rests
_JITTER = (
    0.1  # steps' mean square over that of the spread; of white noise 2, of what moves next to none
)
_COUNTS = 4  # positions of an encoder that rests
_REST_TIME = 0.5  # [s] in which a joint that rests for a while ...
_REST_TRAVEL = 2e-3  # ... travels no more than this part of its positions' standard deviation


def spans(x: np.ndarray) -> np.ndarray:
    """(k,) the range of each column of (N, k)."""
    many = len(x) // _FOLD
    if many < 2 or not x.flags.c_contiguous:
        return np.asarray(np.ptp(x, axis=0))
    # side by side, rows are long enough for the processor's lanes
    wide = x[: many * _FOLD].reshape(many, -1)
    rest = x[many * _FOLD :]
    high, low = (f(axis=0).reshape(_FOLD, -1) for f in (wide.max, wide.min))
    return np.asarray(np.vstack([high, rest]).max(axis=0) - np.vstack([low, rest]).min(axis=0))


def resting(q: np.ndarray, base: int = 0) -> np.ndarray:
    """(nv,) which speeds are none: of joints that keep their positions while others move; of a base, all or none.

    base: columns of q (N, nq) that are the pose of a free base.
    """
    span = spans(q)
    still = (span < _REST) & (span < _SMALL * span.max())
    if not base:
        return np.asarray(still)
    return np.concatenate([np.full(6, still[:base].all()), still[base:]])


def motionless(q: np.ndarray, base: int = 0) -> np.ndarray:
    """(nv,) which speeds are none: of joints that rest, or whose positions are noise about one place.

    So rests of a whole arm are told, where `resting` has no moving joint to compare with.
    """
    noise = np.array([_is_noise(column) for column in q.T], dtype=bool)
    if base:
        noise = np.concatenate([np.full(6, noise[:base].all()), noise[base:]])
    return np.asarray(resting(q, base) | noise)


def same_place(q: np.ndarray, speeds: int) -> np.ndarray:
    """(speeds,) of which joints the positions (N, nq) are one place; of a free base, all or none."""
    same = spans(q) < _REST
    base = 7 if q.shape[1] > speeds else 0
    return np.concatenate([np.full(6 if base else 0, same[:base].all()), same[base:]])


def _is_noise(x: np.ndarray) -> bool:
    """Whether positions of a small range jump about in it, or between a few counts of an encoder."""
    if np.ptp(x) >= _REST:
        return False
    spread = float(x.var())
    return len(np.unique(x)) <= _COUNTS or float((np.diff(x) ** 2).mean()) > _JITTER * spread


def idle_rows(arm: Arm, still: np.ndarray) -> np.ndarray:
    """(nv,) which forces cannot change: of joints that rest, and so does all that moves them or is moved by them.

    Their torque is a constant and noise, so no error over its deviation says anything.
    """
    if not still.any():
        return still
    felt = np.zeros((arm.nv, arm.nv), bool)
    felt[_pattern(arm)] = True
    return np.asarray(~((felt | felt.T) & ~still).any(axis=1))


@lru_cache(maxsize=16)
def _pattern(arm: Arm) -> tuple[np.ndarray, np.ndarray]:
    rows, columns = np.array(packed_pattern(arm)).T
    return rows, columns


def at_rest(q: np.ndarray, rate: float) -> np.ndarray:
    """(N, n) where joints hardly travel for a while."""
    from scipy.ndimage import maximum_filter1d, minimum_filter1d

    size = 2 * max(1, int(_REST_TIME * rate / 2)) + 1
    travel = maximum_filter1d(q, size, axis=0) - minimum_filter1d(q, size, axis=0)
    return np.asarray(travel <= _REST_TRAVEL * q.std(axis=0))


def moving_share(t: np.ndarray, q: np.ndarray, span: np.ndarray) -> float:
    """The part of the time in which any joint moves; span: the range of its positions in the whole recording."""
    size = max(2, int(_REST_TIME / float(np.median(np.diff(t)))))
    starts = range(0, max(len(q) - size, 0) + 1, size)
    travel = np.array([np.ptp(q[k : k + size], axis=0) for k in starts])
    return float((travel > _REST_TRAVEL * span).any(axis=1).mean())


def fast_rows(
    slow: float | tuple[float, ...] | str | None, q: np.ndarray, qd: np.ndarray, rate: float
) -> np.ndarray:
    """(N, nv): rows that are not slower than a speed (None: a fiftieth of the usual one), or not at rest."""
    if not isinstance(slow, str):
        return np.asarray(np.abs(qd) >= _least(slow, qd))
    joints = q.shape[1] - 7 * (q.shape[1] > qd.shape[1])
    keep = np.ones(qd.shape, bool)
    keep[:, qd.shape[1] - joints :] = ~at_rest(q[:, q.shape[1] - joints :], rate)
    return keep


def _least(given: float | tuple[float, ...] | None, qd: np.ndarray) -> np.ndarray:
    """(nv,); of numbers one a joint, 0 for a free base."""
    if given is None:
        return np.asarray(0.02 * np.sqrt((qd**2).mean(axis=0)))
    speeds = np.asarray(given, float)
    if speeds.ndim:
        speeds = np.r_[np.zeros(max(qd.shape[1] - len(speeds), 0)), speeds]
    return np.broadcast_to(speeds, qd.shape[1:])
