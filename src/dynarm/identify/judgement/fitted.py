"""How fitted values explain the logs that they come from, on the scale of a validation: whole logs, as measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..bodies import wrench_forces
from ..prediction import forces_along
from ..preprocess import Stretch
from ..regressor import Terms
from .verdict import Validation, errors_over, slow_parts

_LEAST = 32  # samples of a stretch that can be low-passed


@dataclass(frozen=True, slots=True, eq=False)
class FittedErrors:
    """Errors on the fitted logs, nothing filtered or left out: rmse in the torques' units, relative, band: (n,).

    They compare with `Validation.rmse`, `.relative` and `.band` of other logs. Of logs that are too long to keep they
    are those of the part in the middle that choices look at.
    """

    rmse: np.ndarray
    relative: np.ndarray
    band: np.ndarray


def one_scale(own: FittedErrors, checks: Sequence[Validation], j: int) -> list[float]:
    """RMS error, the same in % of the torque's deviation and in the band, of a joint on fitted logs and on others."""
    numbers = [float(own.rmse[j]), 100 * float(own.relative[j]), 100 * float(own.band[j])]
    for check in checks:
        numbers += [
            float(check.rmse[j]),
            100 * float(check.relative[j]),
            100 * float(check.band[j]),
        ]
    return numbers


def fitted_errors(
    terms: Terms, values: np.ndarray, pieces: Sequence[Stretch], edge: float
) -> FittedErrors:
    """The errors of values on smooth stretches with their torques as measured. edge: of the fit's band [Hz]."""
    n = terms.n
    squares, power, slow, slow_power = (np.zeros(n) for _ in range(4))
    rows, slow_rows = np.zeros(n), 0
    for piece in pieces:
        left, tau, told = _left(terms, values, piece)
        squares += (left**2).sum(axis=0)
        power += ((tau - tau.mean(axis=0)) ** 2).sum(axis=0)
        rows += told * len(tau)
        if np.isfinite(edge) and len(tau) >= _LEAST:
            low, whole = slow_parts(left, tau, piece.rate, edge)
            slow += (low**2).sum(axis=0)
            slow_power += ((whole - whole.mean(axis=0)) ** 2).sum(axis=0)
            slow_rows += len(low)
    some = np.maximum(rows, 1)
    rmse = np.where(rows > 0, np.sqrt(squares / some), np.nan)
    relative = errors_over(rmse, np.sqrt(power / some))
    band = errors_over(np.sqrt(slow), np.sqrt(slow_power)) if slow_rows else np.full(n, np.nan)
    return FittedErrors(rmse, relative, np.where(rows > 0, band, np.nan))


def _left(
    terms: Terms, values: np.ndarray, piece: Stretch
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Residuals and torques (N, n) of a stretch, and which torques (n,) were measured."""
    held = None if piece.wrench is None else wrench_forces(terms.arm, piece.q, piece.wrench)
    states = piece.q, piece.qd, piece.qdd
    predicted = forces_along(terms, values, states, terms.deflections(*states), held)
    told = np.asarray(piece.keep.any(axis=0))
    tau = np.where(told, piece.tau, 0.0)
    whole = tau if held is None else np.where(told, tau - held, 0.0)
    return np.where(told, whole - predicted, 0.0), tau, told
