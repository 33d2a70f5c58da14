"""Which robots of a fleet stand out, with a stated chance that any is named in vain.

Every statistic (an unknown's value, a joint's error) is compared between robots by the generalised test of extreme
studentised deviates (Rosner 1983): the most extreme robot is set aside, then the next, up to a fifth of the fleet, and
as many are named as the last step that is beyond its critical value. A robot is compared with the others alone, whose
spread does not contain it; deviations of the fits count beside the spread between robots. Statistics share the chance
of a false alarm in equal parts (Bonferroni).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...border.kinds import FloatArray
from .pooling import moment_spread

LEAST = 5  # robots among which one can stand out
_MOST = 0.2  # part of a fleet that may be defective


@dataclass(frozen=True, slots=True)
class Outlier:
    """A robot that stands out in one statistic, by how many deviations, and the number beyond which one is named.

    `fleet.outliers` holds them.

    Attributes
    ----------
    robot : str
        Name of the robot.
    what : str
        In which unknown or statistic.
    deviations : float
        By how many deviations.
    critical : float
        Number of deviations beyond which a robot is named.

    Examples
    --------
    >>> from dynarm.identify.fleet.outliers import Outlier
    >>> Outlier("arm7", "viscous2", 8.1, 4.2).robot
    'arm7'
    """

    robot: str
    what: str
    deviations: float
    critical: float

    def __str__(self) -> str:
        return f"{self.robot}: {self.what} {self.deviations:+.1f} deviations (named beyond {self.critical:.1f})"


def outliers(
    robots: Sequence[str],
    what: Sequence[str],
    x: FloatArray,
    s: FloatArray,
    rate: float,
    upper: np.ndarray | None = None,
) -> list[Outlier]:
    """Robots that stand out in x (R, p) with deviations s; upper: statistics of which only large ones count."""
    inside = np.isfinite(x) & np.isfinite(s)
    tested = inside.sum(axis=0) >= LEAST
    if not tested.any():
        return []
    share = rate / tested.sum()
    named: list[Outlier] = []
    columns = np.flatnonzero(tested)
    one_sided = np.zeros(x.shape[1], bool) if upper is None else upper
    steps = int(max(1, _MOST * len(robots)))
    away, marks = _set_aside(
        x[:, columns], s[:, columns], inside[:, columns], one_sided[columns], steps
    )
    for k, column in enumerate(columns.tolist()):
        count = int(inside[:, column].sum())
        limits = [critical(count - i, share) for i in range(steps)]
        beyond = [i for i in range(steps) if abs(marks[i, k]) > limits[i]]
        named += [
            Outlier(robots[away[i, k]], what[column], float(marks[i, k]), limits[i])
            for i in range(beyond[-1] + 1 if beyond else 0)
        ]
    order = {name: i for i, name in enumerate(robots)}
    return sorted(named, key=lambda one: (order[one.robot], -abs(one.deviations)))


def critical(count: int, rate: float) -> float:
    """The deviation that the most extreme of some robots exceeds by chance `rate`, each compared with the others."""
    from scipy.stats import t

    return float(t.isf(rate / (2 * count), count - 2)) if count > 2 else np.inf


def deviates(x: FloatArray, s: FloatArray, inside: np.ndarray) -> FloatArray:
    """(R, p) every robot's distance from the mean of the others over what both and the spread allow."""
    count = len(x)
    others = inside[None] & ~np.eye(count, dtype=bool)[:, :, None]  # (left out, R, p)
    stacked = np.moveaxis(others, 1, 0)  # robots along the first axis
    wide = np.broadcast_to(x[:, None, :], stacked.shape)
    noise = np.broadcast_to(s[:, None, :], stacked.shape)
    square = moment_spread(wide, noise, stacked)  # (left out, p)
    with np.errstate(invalid="ignore", divide="ignore"):
        weight = np.where(stacked, 1 / (noise**2 + square), 0.0)
        total = weight.sum(axis=0)
        centre = (weight * np.where(stacked, wide, 0.0)).sum(axis=0) / total
        apart = (x - centre) / np.sqrt(s**2 + square + 1 / total)
    return np.where(inside & np.isfinite(apart), apart, 0.0)


def _set_aside(
    x: FloatArray, s: FloatArray, inside: np.ndarray, upper: np.ndarray, steps: int
) -> tuple[np.ndarray, FloatArray]:
    """(steps, p) the robots that are most extreme one after the other, and by how much."""
    left = inside.copy()
    away = np.zeros((steps, x.shape[1]), int)
    marks = np.zeros((steps, x.shape[1]))
    columns = np.arange(x.shape[1])
    for i in range(steps):
        apart = deviates(x, s, left)
        away[i] = np.argmax(np.where(upper, apart, np.abs(apart)), axis=0)
        marks[i] = apart[away[i], columns]
        marks[i] = np.where(upper & (marks[i] < 0), 0.0, marks[i])
        left[away[i], columns] = False
    return away, marks
