"""Long stretches of a recording are prepared in segments, each with its neighbours' samples at hand.

A segment ends where a choice has seen enough samples; what is left over is joined to the last one. So what becomes of
a sample depends on a bounded neighbourhood, whether the log is held in memory or read piece by piece.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from .logs.log import Log

LONG_GAP = 0.05  # [s] a longer gap splits the log (or 20 usual steps, if that is more)
LONG = 60_000  # samples of a log that choices look at,
SAMPLE = 4 * LONG  # and of all logs together
_LIVELY = 0.5  # part of them in which something moves, else they are sought elsewhere,
_SOUGHT = 9  # in so many places
SHORTEST = 8  # samples of a stretch that can be smoothed
SEGMENT = 60_000  # samples
SIDE = SEGMENT // 4  # samples on either side that are at hand, and the shortest last segment


def sample_start(length: int, wanted: int, moving: Callable[[int], float]) -> int:
    """The first of so many rows that choices look at: those in the middle, or where most moves if little does there.

    moving: of rows from one on, in which part of their time something moves.
    """
    middle = (length - wanted) // 2
    if moving(middle) >= _LIVELY:
        return middle
    places = np.linspace(0, length - wanted, _SOUGHT).astype(int).tolist()
    most: int = max([middle, *places], key=moving)
    return most


def sampled(lengths: Sequence[int]) -> list[int]:
    """Which of logs of so many samples choices look at: as many as are enough, evenly among all."""
    most = max(1, SAMPLE // max(min(length, LONG) for length in lengths)) if lengths else 0
    if len(lengths) <= most:
        return list(range(len(lengths)))
    places: list[int] = np.linspace(0, len(lengths) - 1, most).round().astype(int).tolist()
    return places


def gap_of(log: Log) -> float:
    """The longest step in time [s] that does not split a log."""
    return gap_beyond(log.quality.step)


def gap_beyond(step: float) -> float:
    """The same by the usual step in time [s]."""
    return max(LONG_GAP, 20 * step)


def starts_of(log: Log) -> list[int]:
    """Samples after long gaps and resets, the first among them."""
    cuts = np.flatnonzero(np.diff(log.t) > gap_of(log)) + 1
    return sorted({0, *cuts.tolist(), *(row for row, _ in log.quality.resets)})


def stretches(log: Log) -> Iterator[Log]:
    """The pieces of a log between long gaps and resets."""
    for low, high in pairwise([*starts_of(log), len(log)]):
        if high - low >= SHORTEST:
            yield log.rows(slice(low, high))


@dataclass(frozen=True, slots=True, eq=False)
class TimeSegment:
    """Rows low to high of a log, the others being its neighbours; there are none where a stretch begins or ends."""

    log: Log
    low: int
    high: int

    @property
    def whole(self) -> bool:
        return self.low == 0 and self.high == len(self.log)

    def narrowed(self, side: int) -> TimeSegment:
        """The same with at most so many neighbours on either side."""
        start, stop = max(self.low - side, 0), min(self.high + side, len(self.log))
        if start == 0 and stop == len(self.log):
            return self
        return TimeSegment(self.log.rows(slice(start, stop)), self.low - start, self.high - start)


def bounds(length: int) -> list[tuple[int, int]]:
    """Between which rows the segments of a stretch lie."""
    return list(pairwise([*range(0, max(length - SIDE, 1), SEGMENT), length]))


def segments(stretch: Log) -> Iterator[TimeSegment]:
    """The segments of a stretch that is held in memory."""
    for low, high in bounds(len(stretch)):
        yield TimeSegment(stretch, low, high).narrowed(SIDE)
