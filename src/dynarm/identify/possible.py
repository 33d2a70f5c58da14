"""Whether physically consistent values predict time that they were not fitted to better than free ones do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from .estimators.estimator import Estimator
from .estimators.problem import Problem
from .record import Record, nearest_to

_FOLDS = 3


def consistent_gain(record: Record, method: Estimator) -> tuple[float, float] | None:
    """Held-out errors of free values and of consistent ones, means over joints and thirds of the logs.

    Free values and their prior are solved for without the third, from rows that are folded already. None: too few
    of them.
    """
    problem = record.solved("feasible='auto'")
    blocks = problem.factors.blocks
    if blocks < _FOLDS:
        return None
    errors = []
    for k in range(_FOLDS):
        held = range(k * blocks // _FOLDS, (k + 1) * blocks // _FOLDS)
        seen = [b for b in range(blocks) if b not in held]
        errors.append(_errors(record, method, problem, seen, list(held)))
    both = np.nanmean(errors, axis=0)
    return (float(both[0]), float(both[1])) if np.isfinite(both).all() else None


def _errors(
    record: Record, method: Estimator, problem: Problem, seen: Sequence[int], held: Sequence[int]
) -> tuple[float, float]:
    """The two errors on some blocks of values that others give."""
    part = problem.drawn(seen)
    solution = method.solve(part)
    spread = method.covariance(solution, record.residuals.inflation)
    near = nearest_to(replace(record, problem=part), solution.values, spread)
    rows, size = problem.factors.rows[list(held)].sum(axis=0), record.residuals.spread
    told = (rows > 0) & (np.nan_to_num(size) > 0)
    if not told.any():
        return np.nan, np.nan
    rms = [
        np.sqrt(problem.factors.squares(values)[list(held)].sum(axis=0) / np.maximum(rows, 1))
        for values in (solution.values, near.values)
    ]
    free, possible = (float((one[told] / size[told]).mean()) for one in rms)
    return free, possible
