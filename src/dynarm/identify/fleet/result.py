"""The outcome of a fleet's fit: each robot, what all share, who stands out, what drifts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ...border.arguments import real, shown
from ...border.kinds import FloatArray, Foreign
from ...errors import InputError
from ...robot.arm import Arm
from ..estimators.factors import Factors
from .drift import Drift
from .outliers import Outlier
from .pooling import Pool


@dataclass(frozen=True, slots=True, eq=False)
class RobotFit:
    """The fit of one robot by itself, without its logs.

    `fleet[name]` is one.

    Attributes
    ----------
    name : str
        Name of the robot.
    values : ndarray
        Values (p,) of all unknowns.
    std : ndarray
        Their deviations; infinite where the robot's logs do not tell.
    covariance : ndarray
        Their covariance (p, p).
    relative : ndarray
        Fitted error (n,), as `Fit.relative_`.
    rms : ndarray
        Fitted error (n,) [N m or N].
    speeds : ndarray
        Largest speed (n,) of each joint.
    samples : int
        Number of samples.
    factors : Factors
        The folded rows of its logs as one block.

    Examples
    --------
    >>> arm = dynarm.load("two_link")
    >>> t = np.linspace(0, 10, 1001)
    >>> q = np.column_stack([np.sin(2 * t), np.sin(3 * t)])
    >>> tau = np.random.default_rng(0).normal(0, 0.1, (4, *q.shape))
    >>> logs = {name: dynarm.Log(t, q, x) for name, x in zip("abcd", tau)}
    >>> dynarm.fit_fleet(arm, logs, friction=("viscous",), armature=False)["a"].values.shape
    (8,)
    """

    name: str
    values: FloatArray
    std: FloatArray
    covariance: FloatArray
    relative: FloatArray
    rms: FloatArray
    speeds: FloatArray
    samples: int
    factors: Factors

    def __repr__(self) -> str:
        worst = np.nanmax(self.relative) if np.isfinite(self.relative).any() else np.nan
        return (
            f"<dynarm.RobotFit of '{self.name}': {self.samples} samples, worst joint {worst:.1%}>"
        )


@dataclass(frozen=True, slots=True, eq=False)
class Fleet:
    """Fits of robots of one kind.

    `dynarm.fit_fleet` makes it.

    Attributes
    ----------
    arm : Arm
        The description.
    names : tuple[str, ...]
        Of the unknowns, the same for every robot.
    units : tuple[str, ...]
        Of the unknowns, the same for every robot.
    robots : Mapping[str, RobotFit]
        {name: RobotFit}.
    pool : Pool
        What all share and how far they are apart, and each robot drawn to it (see Pool).
    outliers : tuple[Outlier, ...]
        Robots that stand out, in which unknown, by how much.
    drift : tuple[Drift, ...]
        Trends of plain friction and offsets, robot by robot; empty where recordings are not
        dated.
    rate : float
        The chance that any robot is named in vain.
    left_out : tuple[str, ...], optional
        What could not be used, each with its reason.
    notes : tuple[str, ...], optional
        What else is to be known.

    Examples
    --------
    >>> arm = dynarm.load("two_link")
    >>> t = np.linspace(0, 10, 1001)
    >>> q = np.column_stack([np.sin(2 * t), np.sin(3 * t)])
    >>> qd = np.column_stack([2 * np.cos(2 * t), 3 * np.cos(3 * t)])
    >>> rng = np.random.default_rng(0)
    >>> tau = dynarm.compile(arm).inverse_dynamics(q, qd, -q * [4, 9])
    >>> logs = {name: dynarm.Log(t, q, tau + rng.normal(0, 0.1, q.shape), qd=qd) for name in "abcd"}
    >>> fleet = dynarm.fit_fleet(arm, logs, friction=("viscous",), armature=False)
    >>> fleet.values_.shape
    (4, 8)
    """

    arm: Arm
    names: tuple[str, ...]
    units: tuple[str, ...]
    robots: Mapping[str, RobotFit]
    pool: Pool
    outliers: tuple[Outlier, ...]
    drift: tuple[Drift, ...]
    rate: float
    left_out: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.robots)

    def __getitem__(self, robot: str) -> RobotFit:
        try:
            return self.robots[robot]
        except KeyError:
            known = ", ".join(list(self.robots)[:20])
            raise InputError(f"no robot {robot!r} in the fleet; it has {known}") from None

    @property
    def values_(self) -> FloatArray:
        """(R, p): the robots' own values, each from its own logs alone."""
        return np.array([fit.values for fit in self.robots.values()])

    @property
    def std_(self) -> FloatArray:
        """(R, p): their standard deviations."""
        return np.array([fit.std for fit in self.robots.values()])

    @property
    def outlier_names_(self) -> tuple[str, ...]:
        """The robots that stand out, each once."""
        return tuple(dict.fromkeys(one.robot for one in self.outliers))

    @property
    def drifting_(self) -> tuple[Drift, ...]:
        """The trends that are beyond chance."""
        return tuple(one for one in self.drift if one.drifts)

    @property
    def differences_(self) -> FloatArray:
        """(R, p): how each robot differs from what all share, in units of its own deviation."""
        with np.errstate(invalid="ignore", divide="ignore"):
            apart = (self.values_ - self.pool.mean) / self.std_
        return np.where(np.isfinite(self.std_), apart, np.nan)

    def intervals(self, level: float = 0.95) -> FloatArray:
        """(R, p, 2): confidence intervals of the robots' partially pooled values.

        Parameters
        ----------
        level : float, default 0.95
            Confidence, 0.95 for 95 %.

        Returns
        -------
        ndarray
            Lower and upper ends (R, p, 2).

        Examples
        --------
        >>> fleet.intervals().shape
        (4, 8, 2)
        """
        from scipy.stats import norm

        share = real("level", level, "a share of at least 0, below 1", lambda x: 0 <= x < 1)
        half = float(norm.ppf(0.5 + share / 2)) * self.pool.std
        return np.stack([self.pool.values - half, self.pool.values + half], axis=-1)

    @property
    def frame(self) -> Foreign:
        """A DataFrame of every unknown of every robot: robot, name, unit, own value and std, pooled value and std."""
        import pandas as pd

        count = len(self.names)
        return pd.DataFrame(
            {
                "robot": np.repeat(list(self.robots), count),
                "name": np.tile(self.names, len(self)),
                "unit": np.tile(self.units, len(self)),
                "value": self.values_.ravel(),
                "std": self.std_.ravel(),
                "pooled": self.pool.values.ravel(),
                "pooled_std": self.pool.std.ravel(),
                "deviations": self.differences_.ravel(),
            }
        )

    @property
    def shared(self) -> Foreign:
        """A DataFrame of what all share: name, unit, mean, its std, spread between robots."""
        import pandas as pd

        pool = self.pool
        columns = (self.names, self.units, pool.mean, pool.mean_std, pool.spread)
        return pd.DataFrame(
            dict(zip(("name", "unit", "mean", "std", "spread"), columns, strict=True))
        )

    def summary(self) -> str:
        """What to know about the fleet, for people.

        Returns
        -------
        str
            The text.

        Examples
        --------
        >>> print(fleet.summary().splitlines()[0])
        4 robots 'two_link', 4004 samples, 8 unknowns each
        """
        return "\n".join(_lines(self))

    def __str__(self) -> str:
        return self.summary()

    def __repr__(self) -> str:
        return (
            f"<dynarm.Fleet of {len(self)} {shown(self.arm.name)}: {len(self.outlier_names_)} stand out, "
            f"{len(self.drifting_)} drifts>"
        )


def _lines(fleet: Fleet) -> list[str]:
    worst = [np.nanmax(fit.relative) for fit in fleet.robots.values()]
    samples = sum(fit.samples for fit in fleet.robots.values())
    lines = [
        f"{len(fleet)} robots '{fleet.arm.name}', {samples} samples, {len(fleet.names)} unknowns each",
        f"worst joint's error: {np.median(worst):.1%} for half of the robots, {np.max(worst):.1%} at most",
        _outlier_line(fleet),
    ]
    lines += [f"  {one}" for one in fleet.outliers]
    if fleet.drift:
        count = len(fleet.drifting_)
        lines.append(
            f"{count or 'no'} drift{'s' * (count != 1)} of friction or offsets beyond chance"
        )
        lines += [f"  {one}" for one in fleet.drifting_]
    lines += [f"left out: {one}" for one in fleet.left_out]
    return [*lines, *fleet.notes]


def _outlier_line(fleet: Fleet) -> str:
    names = fleet.outlier_names_
    chance = f"(chance that any is named in vain: {fleet.rate:.2g})"
    if not names:
        return f"no robot stands out {chance}"
    return f"{len(names)} stand{'s' * (len(names) == 1)} out {chance}: {', '.join(names)}"
