"""How a robot's plain friction and offsets change over time: its values by day or hour, and a line through them.

The rows of a period are those of the robot's own fit, folded already; everything else that was fitted (inertias,
curves, hysteresis) is held at the robot's values, so that a period of a minute tells three numbers a joint, not sixty.
A line through the periods' values, weighted by their deviations, and these widened to the scatter about it, says
whether there is a trend; trends share the stated chance of a false alarm in equal parts (Bonferroni).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...border.kinds import FloatArray
from ..estimators.factors import Factors
from ..regressor import Terms

PERIODS = {"hour": 3600.0, "day": 86400.0}  # s
LEAST = 4  # periods that a trend is looked for in
_EPOCH = np.datetime64(0, "ns")
_DATED = 1e8  # s: clocks that count from 1970 show more, those that count from a start less


@dataclass(frozen=True, slots=True, eq=False)
class Drift:
    """One unknown of one robot over time: its value by period with its deviation, and the trend a period.

    `fleet.drift` holds them.

    Attributes
    ----------
    robot : str
        Name of the robot.
    what : str
        Which unknown.
    unit : str
        Its unit.
    period : str
        "day" or "hour".
    times : ndarray
        The periods (T,).
    values : ndarray
        Its value in each (T,).
    std : ndarray
        The deviations (T,).
    trend : float
        Change a period.
    trend_std : float
        Deviation of the trend.
    deviations : float
        The trend over its own deviation.
    critical : float, default inf
        Beyond which it is called a drift.

    Examples
    --------
    >>> from dynarm.identify.fleet.drift import Drift
    >>> days = np.arange(5.0)
    >>> trend = Drift("arm7", "viscous2", "N m s", "day", days, 1 + 0.1 * days, 0.01 * np.ones(5),
    ...               trend=0.1, trend_std=0.003, deviations=33.0, critical=4.0)
    >>> trend.drifts
    True
    """

    robot: str
    what: str
    unit: str
    period: str
    times: FloatArray  # (K,) [s] since 1970, the middle of each period's rows
    values: FloatArray
    std: FloatArray
    trend: float  # a period
    trend_std: float
    deviations: float
    critical: float = np.inf

    @property
    def drifts(self) -> bool:
        """Whether the trend is beyond what chance explains."""
        return bool(abs(self.deviations) > self.critical)

    def __str__(self) -> str:
        return (
            f"{self.robot}: {self.what} changes by {self.trend:+.3g} {self.unit} a {self.period} "
            f"({self.deviations:+.1f} deviations)"
        )


def clock_of(since: np.datetime64 | None, start: float) -> float | None:
    """When times that begin with `start` are counted from [s since 1970]; None where no clock tells."""
    if since is not None:
        return float((since - _EPOCH) / np.timedelta64(1, "s"))
    return 0.0 if start > _DATED else None


def period_of(t: FloatArray, period: float) -> np.ndarray:
    """(N,) the number of the day, hour or other period [s], UTC, in which each sample lies."""
    return np.floor(t / period).astype(np.int64)


def drive_unknowns(terms: Terms) -> np.ndarray:
    """Places of plain friction and offsets among the unknowns, joint by joint."""
    return terms.rigid_size + np.arange(len(terms.drive_names) * len(terms.joints))


def period_values(
    terms: Terms, factors: Factors, values: FloatArray, inflation: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Plain friction and offsets of one period, and their deviations; NaN and inf where its rows do not tell them.

    values: of the robot; inflation: how many rows tell as much as one independent row, joint by joint.
    """
    words = len(terms.drive_names)
    own = np.full(words * len(terms.joints), np.nan)
    std = np.full(len(own), np.inf)
    for j in range(len(terms.joints)):
        row = terms.first + j
        support, R = factors.support[row], factors.joint(row)
        rows = int(factors.rows[:, row].sum())
        wanted = terms.rigid_size + j * words + np.arange(words)
        here = np.isin(support, wanted)
        if rows <= 2 * words or not here.any():
            continue
        y = R[:, -1] - R[:, :-1][:, ~here] @ values[support[~here]]
        X = R[:, :-1][:, here]
        size = np.linalg.norm(X, axis=0)
        told = size > 1e-9 * np.linalg.norm(R[:, :-1])
        if not told.any():
            continue
        scaled = X[:, told] / size[told]
        if np.linalg.cond(scaled) > 1e6:
            continue
        solved, *_ = np.linalg.lstsq(scaled, y, rcond=None)
        left = y - scaled @ solved
        noise = inflation[row] * float(left @ left) / (rows - int(told.sum()))
        spread = noise * np.linalg.inv(scaled.T @ scaled).diagonal()
        places = support[here][told] - terms.rigid_size
        own[places] = solved / size[told]
        std[places] = np.sqrt(spread) / size[told]
    return own, std


def trend(times: FloatArray, values: FloatArray, std: FloatArray) -> tuple[float, float]:
    """Slope of a weighted line, and its deviation: as stated, or wider where the values scatter more about it."""
    weight = 1 / std
    middle = float((times * weight**2).sum() / (weight**2).sum())
    X = np.column_stack([np.ones(len(times)), times - middle]) * weight[:, None]
    line, *_ = np.linalg.lstsq(X, values * weight, rcond=None)
    left = values * weight - X @ line
    scatter = max(1.0, float(left @ left) / (len(times) - 2))
    return float(line[1]), float(np.sqrt(scatter) / np.linalg.norm(X[:, 1]))


def drifts(
    robots: Mapping[str, Sequence[tuple[float, FloatArray, FloatArray]]],
    what: Sequence[str],
    units: Sequence[str],
    period: str,
    rate: float,
) -> list[Drift]:
    """The trends of all robots' unknowns; of each robot (time, values, std) by period."""
    looked: list[Drift] = []
    for robot, periods in robots.items():
        times = np.array([time for time, _, _ in periods])
        for k, name in enumerate(what):
            x = np.array([values[k] for _, values, _ in periods])
            s = np.array([std[k] for _, _, std in periods])
            told = np.isfinite(x) & np.isfinite(s) & (s > 0)
            if told.sum() < LEAST:
                continue
            slope, wide = trend(times[told] / PERIODS[period], x[told], s[told])
            args = (times[told], x[told], s[told], slope, wide, slope / wide)
            looked.append(Drift(robot, name, units[k], period, *args))
    return [_judged(one, rate / len(looked)) for one in looked]


def _judged(one: Drift, rate: float) -> Drift:
    from scipy.stats import t

    return replace(one, critical=float(t.isf(rate / 2, len(one.times) - 2)))
