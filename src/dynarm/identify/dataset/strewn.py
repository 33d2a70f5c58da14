"""Pairs of neighbouring rows from all over a file, a few thousand at most: they show what is usual in it.

Rows are drawn at random from stretches of equal length, so that no period of the motion meets one of the drawing; the
same rows whatever process looks at the file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ...border.kinds import FloatArray
from ..judgement.outliers import CHANNELS
from ..logs.log import Log

MOST = 4096  # pairs of a file
_EVERY = 8  # rows of which one is drawn, at first


@dataclass(frozen=True, slots=True, eq=False)
class Strewn:
    """Steps in time (k,), changes of positions (k, n), and the first rows (k, c) of channels that may have spikes.

    every: of how many rows one was drawn.
    """

    every: int
    steps: FloatArray
    moves: FloatArray
    rows: Mapping[str, FloatArray]

    def at_most(self, every: int) -> Strewn:
        """The same, or fewer: one pair of so many rows."""
        times = every // self.every
        if times <= 1:
            return self
        some = slice(None, None, times)
        rows = {name: np.array(column[some]) for name, column in self.rows.items()}
        return Strewn(every, np.array(self.steps[some]), np.array(self.moves[some]), rows)


def strewn(log: Log, every: int, place: int) -> Strewn:
    """Pairs of a part of a file that begins with row `place`."""
    starts = np.arange(0, len(log) - 1, every)
    drawn = starts + np.random.default_rng(place).integers(0, every, len(starts))
    k = drawn[drawn < len(log) - 1]
    rows = {name: x[k] for name in CHANNELS if (x := getattr(log, name)) is not None}
    return Strewn(every, log.t[k + 1] - log.t[k], log.q[k + 1] - log.q[k], rows)


def together(several: Sequence[Strewn], most: int = MOST) -> Strewn:
    """Pairs of several parts or files, as many from each as it is long, and no more than so many."""
    every = max(one.every for one in several)
    alike = [one.at_most(every) for one in several]
    whole = Strewn(
        every,
        np.concatenate([one.steps for one in alike]),
        np.concatenate([one.moves for one in alike]),
        {name: np.concatenate([one.rows[name] for one in alike]) for name in alike[0].rows},
    )
    while len(whole.steps) > most:
        whole = whole.at_most(2 * whole.every)
    return whole


class Strewing:
    """Collects pairs from a file that comes in parts."""

    def __init__(self) -> None:
        self._all: Strewn | None = None

    def add(self, part: Log, place: int) -> None:
        """The next part, whose first row is row `place` of the file."""
        every = _EVERY if self._all is None else self._all.every
        more = strewn(part, every, place)
        self._all = together([more] if self._all is None else [self._all, more])

    @property
    def all(self) -> Strewn | None:
        return self._all
