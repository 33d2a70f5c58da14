"""Fits and logs that cannot be what they say: moving bodies with negative energy, time and positions without digits."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...errors import InputError
from ..logs.log import Log
from ..preprocess import Preparation, Stretch
from ..regressor import Terms
from ..segments import stretches

_STATES = 40  # of the log, at which the kinetic energy is looked at
_SURE = 5.0  # standard deviations by which it must be negative
_SMALL = 0.03  # part of the energies of all directions that it must exceed
_FASTEST, _SLOWEST = 1e-7, 1e5  # [s] usual time steps of a recording of a robot
_COARSE = 0.01  # of a time step: as far as time stamps may be rounded
_ANGLE = 1e-4  # [rad or m] as far as positions may be rounded
_HUGE = 1e100  # squares and products of larger numbers overflow


def _some(parts: Sequence[np.ndarray]) -> np.ndarray:
    """Rows that stand evenly in the parts, one behind the other; about `_STATES` of them."""
    step = max(1, sum(map(len, parts)) // _STATES)
    rows, before = [], 0
    for part in parts:
        rows.append(part[-before % step :: step])
        before += len(part)
    return np.concatenate(rows)


def negative_energy(
    terms: Terms, pieces: Sequence[Stretch], values: np.ndarray, covariance: np.ndarray
) -> tuple[str, ...]:
    """A sentence where the values give a mass matrix that is not positive.

    It must be negative by more than the values' doubt explains, and by more than a small part of the energies of all
    directions, joints moving as fast as in the log: small links may come out below zero in fits that predict well.
    """
    squares = sum(np.einsum("ij,ij->j", piece.qd, piece.qd) for piece in pieces)
    usual = np.sqrt(squares / sum(len(piece.qd) for piece in pieces))
    q = _some([piece.q for piece in pieces])
    n = terms.n
    still = np.zeros((len(q), n))
    speeds = np.diag(np.where(usual > 0, usual, 1.0))
    rest = terms.forces(values, q, still, still)
    columns = [
        terms.forces(values, q, still, np.ascontiguousarray(still + speeds[k])) - rest
        for k in range(n)
    ]
    M = speeds @ np.stack(columns, axis=-1)
    M = (M + M.transpose(0, 2, 1)) / 2
    size, vectors = np.linalg.eigh(M)
    along = np.ascontiguousarray(vectors[:, :, 0] @ speeds)  # of the least energy in each state
    part = terms.evaluate(q, still, along) - terms.evaluate(q, still, still)
    gradient = np.einsum("kj,kjp->kp", along, part)  # v' M v = gradient @ values
    spread = np.sqrt(np.maximum(np.einsum("kp,pr,kr->k", gradient, covariance, gradient), 0.0))
    sure = size[:, 0] + _SURE * spread < -_SMALL * np.abs(size).sum(axis=1)
    if not sure.any():
        return ()
    worst = int(np.argmin(np.where(sure, size[:, 0], np.inf)))
    joint = terms.row_names[int(np.argmax(np.abs(along[worst])))]
    return (
        f"the fitted mass matrix is not positive definite (kinetic energy {size[worst, 0] / 2:.3g} J at usual speeds, "
        f"mostly of joint {joint}): no robot moves like this; check the signs and order of torques and positions, and "
        "the units of time",
    )


def check_digits(log: Log) -> None:
    """Refuse times and positions that float64 cannot tell apart, or whose derivatives overflow."""
    step, far = float(np.median(np.diff(log.t))), float(np.abs(log.t).max())
    if not _FASTEST <= step <= _SLOWEST:
        raise InputError(
            f"{log.source}: the usual time step is {step:.3g} s; give t in seconds, steps from {_FASTEST:g} to "
            f"{_SLOWEST:g} s"
        )
    if np.spacing(far) > _COARSE * step:
        raise InputError(
            f"{log.source}: times reach {far:.3g} s, where float64 keeps {np.spacing(far):.2g} s of a step of "
            f"{step:.3g} s; subtract the first time before storing them"
        )
    top = np.abs(log.split("q")[1]).max(axis=0)
    coarse = np.spacing(top) > _ANGLE
    if coarse.any():
        j = int(np.argmax(coarse))
        raise InputError(
            f"{log.source}: positions of joint {j + 1} reach {top[j]:.3g}, where float64 keeps steps of "
            f"{np.spacing(top[j]):.2g}; give radians or metres"
        )
    for name in ("tau", "qd", "qdd", "wrench"):
        array = getattr(log, name)
        if array is not None and np.nanmax(np.abs(array)) > _HUGE:
            raise InputError(
                f"{log.source}: {name} reaches {np.nanmax(np.abs(array)):.3g}; give SI units"
            )


def check_stretches(logs: Sequence[Log], how: Preparation) -> None:
    """Refuse logs without a stretch that can be filtered, and a cut-off below the slowest motion they can hold."""
    pieces = [piece for log in logs for piece in stretches(log)]
    if not pieces:
        most = max(len(log) for log in logs)
        raise InputError(
            f"{logs[0].source}: no stretch of 8 samples without a gap (the longest log has {most} samples); record "
            "longer"
        )
    longest = max(piece.duration for piece in pieces)
    if how.cutoff is not None and how.cutoff * longest < 0.5:
        raise InputError(
            f"cutoff is {how.cutoff:g} Hz, below half a cycle of the longest stretch of {longest:.3g} s; raise it, or "
            "leave it out"
        )
