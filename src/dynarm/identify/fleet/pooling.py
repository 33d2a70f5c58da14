"""What robots of one kind share and how each differs: partial pooling of their fits, unknown by unknown.

Robot r is fitted x_r with deviation s_r; its true value is drawn about what all share, x_r ~ N(theta_r, s_r^2) and
theta_r ~ N(mean, spread^2). The mean has a flat prior and is integrated in closed form; so is the spread, by
quadrature, because its best single value is often 0, which would make intervals of the robots too narrow. Shrinkage,
means and deviations are those of the resulting mixture of normal distributions (Gelman, Bayesian Data Analysis, 5.4).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...border.kinds import FloatArray

_POINTS = 96  # of the quadrature over the spread
_WIDEST = 8.0  # times the scatter of the fits, beyond which no spread is looked at
_FINEST = 1e-3  # the smallest spread but 0, in the same unit
_SMALLEST = 1e-12  # of the fits' variance: deviations that count as none
_TINY = 1e-100
_NEWTON = 60  # steps to a spread; convex and decreasing, so that none overshoots


@dataclass(frozen=True, slots=True, eq=False)
class Pool:
    """What robots share, and each of them drawn towards it as far as its own data leave room.

    `fleet.pool` is one.

    Attributes
    ----------
    mean : ndarray
        The values (p,) that all share.
    mean_std : ndarray
        Their deviations (p,).
    spread : ndarray
        Standard deviation (p,) between robots, beyond what their fits' own deviations
        explain.
    values : ndarray
        Each robot (R, p), partially pooled; those that were left out keep their own.
    std : ndarray
        Their deviations (R, p).
    members : ndarray
        Which robots (R,) the mean was made of.

    Examples
    --------
    >>> arm = dynarm.load("two_link")
    >>> t = np.linspace(0, 10, 1001)
    >>> q = np.column_stack([np.sin(2 * t), np.sin(3 * t)])
    >>> tau = np.random.default_rng(0).normal(0, 0.1, (4, *q.shape))
    >>> logs = {name: dynarm.Log(t, q, x) for name, x in zip("abcd", tau)}
    >>> dynarm.fit_fleet(arm, logs, friction=("viscous",), armature=False).pool.mean.shape
    (8,)
    """

    mean: FloatArray
    mean_std: FloatArray
    spread: FloatArray
    values: FloatArray
    std: FloatArray
    members: np.ndarray  # (R, p) which fits the mean and the spread were made of


def pooled(x: FloatArray, s: FloatArray, members: np.ndarray | None = None) -> Pool:
    """The pool of fits x (R, p) with deviations s; members: which of them belong to it (all)."""
    inside = np.isfinite(x) & np.isfinite(s) if members is None else members & np.isfinite(s)
    taus = _grid(x, s, inside)  # (G, p)
    with np.errstate(divide="ignore", invalid="ignore"):
        weight = np.where(inside, 1 / (s**2 + taus[:, None, :] ** 2), 0.0)  # (G, R, p)
    total = weight.sum(axis=1)
    centre = (weight * np.where(inside, x, 0.0)).sum(axis=1) / total  # (G, p)
    chance = _chances(np.where(inside, x, 0.0), weight, total, centre, taus)
    mean = (chance * centre).sum(axis=0)
    variance = (chance * (1 / total + (centre - mean) ** 2)).sum(axis=0)
    values, std = _robots(x, s, (taus, centre, total, chance))
    return Pool(
        mean,
        np.sqrt(variance),
        np.sqrt((chance * taus**2).sum(axis=0)),
        np.where(inside | ~np.isfinite(s), values, x),
        np.where(inside | ~np.isfinite(s), std, s),
        inside,
    )


def _grid(x: FloatArray, s: FloatArray, inside: np.ndarray) -> FloatArray:
    """(G, p) spreads to integrate over: 0, and geometric steps up to more than the fits scatter by."""
    own = np.where(inside, x, np.nan)
    unit = np.nanstd(own, axis=0) + np.nanmedian(np.where(inside, s, np.nan), axis=0)
    steps = np.r_[0.0, np.geomspace(_FINEST, _WIDEST, _POINTS - 1)]
    return np.asarray(steps[:, None] * np.where(unit > 0, unit, 1.0))


def _chances(
    x: FloatArray, weight: FloatArray, total: FloatArray, centre: FloatArray, taus: FloatArray
) -> FloatArray:
    """(G, p) posterior of the spread with a flat prior on it, with the weights of the trapezoidal rule."""
    squares = (weight * (x - centre[:, None, :]) ** 2).sum(axis=1)
    logs = np.log(np.where(weight > 0, weight, 1.0)).sum(axis=1)
    likelihood = 0.5 * (logs - np.log(total) - squares)
    density = np.exp(likelihood - likelihood.max(axis=0))
    steps = np.diff(taus, axis=0)
    widths = np.vstack([steps[:1], steps[:-1] + steps[1:], steps[-1:]]) / 2
    chance = density * widths
    return np.asarray(chance / chance.sum(axis=0))


def _robots(
    x: FloatArray, s: FloatArray, spreads: tuple[FloatArray, FloatArray, FloatArray, FloatArray]
) -> tuple[FloatArray, FloatArray]:
    """(R, p) mean and deviation of every robot's own value."""
    taus, centre, total, chance = (array[:, None, :] for array in spreads)
    with np.errstate(invalid="ignore"):
        share = np.where(np.isfinite(s), taus**2 / (s**2 + taus**2), 0.0)  # of its own data
    share = np.where(np.isnan(share), 1.0, share)  # no deviation at all: its own value
    mean = centre + share * (np.where(np.isfinite(s), x, 0.0) - centre)
    variance = taus**2 * (1 - share) + (1 - share) ** 2 / total
    value = (chance * mean).sum(axis=0)
    return value, np.sqrt((chance * (variance + (mean - value) ** 2)).sum(axis=0))


def moment_spread(x: FloatArray, s: FloatArray, inside: np.ndarray) -> FloatArray:
    """Spread^2 between robots along the first axis at which weighted squares are what chance gives (Paule, Mandel)."""
    count = inside.sum(axis=0)
    own = np.where(inside, x, 0.0)
    with np.errstate(invalid="ignore"):
        noise = np.where(inside, s**2, np.inf)
    scatter = np.where(inside, x - own.sum(axis=0) / count, 0.0)
    noise = np.maximum(noise, _SMALLEST * (scatter**2).sum(axis=0) / count)
    square = np.zeros(x.shape[1:])
    for _ in range(_NEWTON):
        weight = 1 / np.maximum(noise + square, _TINY)
        centre = (weight * own).sum(axis=0) / weight.sum(axis=0)
        gap = (weight * (own - centre) ** 2).sum(axis=0) - (count - 1)
        slope = (weight**2 * (own - centre) ** 2).sum(axis=0)
        step = np.where(gap > 0, gap / np.where(slope > 0, slope, 1.0), 0.0)
        square = square + step
        if (step <= 1e-9 * square).all():
            break
    return square
