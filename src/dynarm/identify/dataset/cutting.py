"""A recording longer than memory as segments: cleaned, cut at gaps and resets, by limits that were set beforehand.

What a log in memory finds out about itself (its usual step, how fast its positions change, how far its torques reach)
is found out here on some thousand rows from all over it, and then held; samples are told from spikes and resets by
factors of ten, so that these tell the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ...border.kinds import FloatArray
from ...robot.arm import Arm
from ..judgement.outliers import spikes_beyond, usual_of
from ..judgement.quality import jumps, rates_of
from ..logs.log import Log
from ..logs.turns import nearest, turning
from ..segments import SEGMENT, SHORTEST, SIDE, TimeSegment, gap_beyond
from .parts import joined
from .strewn import Strewn

FEWEST = 2  # rows that a log needs


@dataclass(frozen=True, slots=True, eq=False)
class Usual:
    """What is usual in a recording: gap [s], rates and range of each position, and what each channel stays within.

    turning: which positions are angles of joints.
    """

    gap: float
    rates: FloatArray
    span: FloatArray
    turning: np.ndarray
    spikes: Mapping[str, list[tuple[float, float]]]


def limits(some: Strewn, span: FloatArray, arm: Arm) -> Usual:
    """The limits that rows from all over a recording show; span: the range of its positions."""
    joints = turning(arm)
    angles = np.r_[np.zeros(len(span) - len(joints), bool), joints]
    spikes = {name: [usual_of(column) for column in rows.T] for name, rows in some.rows.items()}
    gap = gap_beyond(float(np.median(some.steps)))
    return Usual(gap, rates_of(some.steps, some.moves), span, angles, spikes)


def cut(parts: Iterable[Log], usual: Usual) -> Iterator[TimeSegment]:
    """The segments of a recording that comes in parts; at most one segment, its neighbours and a part are held."""
    held: Log | None = None
    low = 0  # row of what is held at which the next segment begins
    for piece, fresh in _pieces(parts, usual):
        if held is not None and fresh:
            yield from _last(held, low)
            held = None
        held, low = (piece, 0) if held is None else (joined([held, piece]), low)
        while len(held) > low + SEGMENT + SIDE:
            high = low + SEGMENT
            yield TimeSegment(held.rows(slice(high + SIDE)), low, high)
            held, low = held.rows(slice(high - SIDE, None)), SIDE
    if held is not None:
        yield from _last(held, low)


def _last(held: Log, low: int) -> Iterator[TimeSegment]:
    """The last segment of a stretch, unless the stretch is too short to be smoothed."""
    if len(held) >= SHORTEST:
        yield TimeSegment(held, low, len(held))


def _pieces(parts: Iterable[Log], usual: Usual) -> Iterator[tuple[Log, bool]]:
    """The parts without spikes, cut where time or a position jumps; whether a piece begins a stretch."""
    before: Log | None = None
    fresh = True
    for raw in parts:
        part = cleaned(raw, usual)
        if part is None:
            continue
        fresh = fresh or (before is not None and breaks_between(before, part, usual))
        for low, high, begins in pieces_of(len(part), starts_in(part, usual), fresh):
            if high - low >= FEWEST:
                yield part.rows(slice(low, high)), begins
            fresh = begins and high - low < FEWEST
        before = part


def pieces_of(length: int, starts: Sequence[int], fresh: bool) -> Iterator[tuple[int, int, bool]]:
    """Rows low to high of a part's pieces, and whether a stretch begins there; fresh: whether the part begins one."""
    for low, high in pairwise([0, *starts, length]):
        yield low, high, fresh or low > 0


def starts_in(part: Log, usual: Usual) -> list[int]:
    """Rows inside a part at which stretches begin."""
    return (np.flatnonzero(_broken(part.t, part.q, usual)) + 1).tolist()


def breaks_between(one: Log, other: Log, usual: Usual) -> bool:
    """Whether time or a position jumps from the last row of one part to the first of the next; turns are no jumps."""
    t, q = np.r_[one.t[-1], other.t[0]], np.vstack([one.q[-1], other.q[0]])
    q[1] = np.where(usual.turning, nearest(q[1], q[0]), q[1])
    return bool(_broken(t, q, usual)[0])


def _broken(t: FloatArray, q: FloatArray, usual: Usual) -> np.ndarray:
    steps = np.diff(t)
    with np.errstate(divide="ignore", invalid="ignore"):
        far = jumps(steps, q, usual.rates, usual.span).any(axis=1)
    return np.asarray((steps > usual.gap) | far)


def cleaned(part: Log, usual: Usual) -> Log | None:
    """The part without samples that cannot be; None where too few are left."""
    spoiled = np.zeros(len(part), bool)
    for name, columns in usual.spikes.items():
        for column, (centre, limit) in zip(getattr(part, name).T, columns, strict=True):
            spoiled[spikes_beyond(column, centre, limit)] = True
    if not spoiled.any():
        return part
    return part.rows(~spoiled) if (~spoiled).sum() >= FEWEST else None
