"""Torque that repeats with the position: orders that a residual shows, by its periodogram over position."""

from __future__ import annotations

import numpy as np

from ...border.kinds import FloatArray

MOST = 6  # orders of a joint
_HIGHEST = 1000.0  # order: waves a radian of the position
_ABOVE = 12.0  # times the local median
_PART = 8e-4  # of the residual's variance
_LOCAL = 101  # frequencies around a peak that say what is usual there
_FEWEST = 200  # samples
_FINE = 4  # frequencies a peak's width


def ripple_orders(q: FloatArray, left: FloatArray, step: float) -> list[float]:
    """Orders k (waves are sin k q) of the strongest waves in a residual (N,) over positions (N,), strongest first.

    step: the usual travel from sample to sample, which limits the orders that can be seen.
    """
    if len(q) < _FEWEST:
        return []
    span = float(np.ptp(q))
    highest = min(_HIGHEST, np.pi / max(2 * step, 1e-9))
    if span <= 0 or highest * span < 20 * np.pi:
        return []
    power, orders = _periodogram(q, left, span, highest)
    usual = _running_median(power)
    variance = float(((left - left.mean()) ** 2).mean())
    free = (orders > 6 * np.pi / span) & (power > _ABOVE * usual) & (power > _PART * variance)
    kept: list[float] = []
    while free.any() and len(kept) < MOST:
        k = int(np.argmax(np.where(free, power, 0.0)))
        kept.append(float(orders[k]))
        free &= np.abs(orders - orders[k]) > 4 * np.pi / span
    return kept


def _periodogram(
    q: FloatArray, left: FloatArray, span: float, highest: float
) -> tuple[FloatArray, FloatArray]:
    """Half the squared amplitude of the wave of each order: the variance it explains, and the orders."""
    bins = 1 << int(np.ceil(np.log2(max(2 * highest * span / np.pi, 64))))
    place = np.minimum(((q - q.min()) / span * bins).astype(int), bins - 1)
    sums = np.bincount(place, left - left.mean(), bins)
    waves = np.fft.rfft(sums, _FINE * bins)
    orders = 2 * np.pi * np.arange(len(waves)) / (_FINE * span)
    power = np.asarray(2 * np.abs(waves / len(q)) ** 2, float)
    seen = orders <= highest
    return power[seen], np.asarray(orders[seen], float)


def _running_median(power: FloatArray) -> FloatArray:
    from scipy.ndimage import median_filter

    return np.asarray(median_filter(power, _LOCAL, mode="nearest"))
