"""The band of a low-pass filter, and by how much a log may be thinned out below it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from .preprocess import Preparation, Stretch


def band(pieces: Sequence[Stretch], share: float) -> float:
    """The frequency [Hz] below which the velocity of every joint has the given part of its power."""
    edges = []
    for piece in pieces:
        for speed in piece.qd.T:
            x = (speed - speed.mean()) * np.hanning(len(speed))
            power = np.cumsum(np.abs(np.fft.rfft(x)) ** 2)
            if power[-1] > 0:
                k = int(np.searchsorted(power, share * power[-1]))
                edges.append((k + 1) * piece.rate / len(speed))
    return max(edges, default=1.0)


def factor_for(how: Preparation, rate: float) -> int:
    """How many samples become one: the kept rate is five times the cut-off, or what was asked for."""
    if how.decimate is not None:
        return int(how.decimate)
    assert how.cutoff is not None
    return max(1, int(rate / (5 * how.cutoff)))
