"""Single samples that no torque can be: spikes of a broken transmission, which would decide a fit alone.

A sample is one where it stands off the median of its neighbours by ten times what 99 % of all samples stay within.
Motion cannot do that: it lasts longer than the neighbours looked at. Ordinary outliers are estimator "irls"'s.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..logs.log import Log

GROSS = 10.0
_USUAL = 0.99
_NEAR = 10  # samples on either side
_SAID = "left out:"
CHANNELS = ("tau", "qd", "qdd", "wrench")


def without_outliers(log: Log) -> Log:
    """The log without such samples, its notes saying which; the log itself if it has none."""
    spoiled = np.zeros(len(log), bool)
    told = []
    for name in CHANNELS:
        array = getattr(log, name)
        if array is None:
            continue
        where = [(k, j) for j, column in enumerate(array.T) for k in spikes(column)]
        if not where:
            continue
        k, j = max(where, key=lambda place: abs(array[place]))
        rows = sorted({row for row, _ in where})
        told.append(
            f"{_SAID} {len(rows)} samples whose {name} cannot be (row {k + 1}, column {j + 1}: {array[k, j]:.3g})"
        )
        spoiled[rows] = True
    return replace(log.rows(~spoiled), notes=(*log.notes, *told)) if told else log


def left_out(log: Log) -> tuple[str, ...]:
    """What was said about samples left out of this log."""
    return tuple(note for note in log.notes if note.startswith(_SAID))


def spikes(column: np.ndarray) -> list[int]:
    """Rows of a column that stand far off both its usual size and its neighbours."""
    return spikes_beyond(column, *usual_of(column))


def usual_of(column: np.ndarray) -> tuple[float, float]:
    """The middle of a column, and how far off it spikes begin."""
    centre = float(np.median(column))
    usual = float(np.quantile(np.abs(column - centre), _USUAL, method="lower"))
    # a column that rests nearly always does not tell what moves
    return centre, GROSS * usual if usual > 0 else np.inf


def spikes_beyond(column: np.ndarray, centre: float, limit: float) -> list[int]:
    """Rows that stand further off the centre, and off their neighbours, than a limit."""
    rows = np.flatnonzero(np.abs(column - centre) > limit)
    return [k for k in rows.tolist() if _stands_off(column, k, limit)]


def _stands_off(column: np.ndarray, k: int, limit: float) -> bool:
    near = np.r_[column[max(k - _NEAR, 0) : k], column[k + 1 : k + 1 + _NEAR]]
    return bool(abs(column[k] - np.median(near)) > limit)
