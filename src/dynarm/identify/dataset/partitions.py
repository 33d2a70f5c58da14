"""A dataset as partitions that can be read apart from one another: which rows each reads, and the segments in it.

The segments are those that one process cuts (`cutting`): parts of a long recording are first looked at one by one for
where stretches begin; a partition then reads its own parts and as much of its neighbours as their segments need.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise

import numpy as np

from ...border.files import named
from ...border.kinds import Kept
from ...errors import DynarmWarning
from ..fitting import fitted_rows, fitting_log
from ..logs.log import Log
from ..logs.readers import row_groups
from ..segments import SHORTEST, SIDE, TimeSegment, bounds, segments, stretches
from .cutting import FEWEST, Usual, breaks_between, cleaned, pieces_of, starts_in
from .parts import edges, every_part, following, later, schema
from .survey import FileRun, Survey

MOST = 8  # segments of a partition


@dataclass(frozen=True, slots=True)
class Chunk:
    """Rows first to last (0: all) of a recording's file, and how a message calls them."""

    file: int
    first: int
    last: int
    told: str


@dataclass(frozen=True, slots=True, eq=False)
class Glance:
    """What a look at a chunk tells: its rows once cleaned, those at which stretches begin, its first and last row."""

    length: int = 0
    starts: tuple[int, ...] = ()
    ends: Log | None = None


Reach = tuple[int, int, int]  # chunk, rows low to high of it once cleaned


@dataclass(frozen=True, slots=True, eq=False)
class Placed:
    """A segment: the rows that are read for it, chunk by chunk, and which of them are its own."""

    reaches: tuple[Reach, ...]
    low: int
    high: int


@dataclass(frozen=True, slots=True, eq=False)
class Partition:
    """Some segments of one recording; a short one is read whole, and has none listed."""

    run: FileRun
    told: str
    usual: Usual | None = None
    chunks: tuple[Chunk, ...] = ()
    segments: tuple[Placed, ...] = ()
    index: int = 0  # of the recording among all


def short_partition(run: FileRun) -> Partition:
    """A recording that is read whole."""
    return Partition(run, run.name)


def chunks_of(run: FileRun) -> tuple[Chunk, ...]:
    """The parts of a long recording, as one process reads them."""
    chunks: list[Chunk] = []
    for k, span in enumerate(run.files):
        if not span.raw:
            chunks.append(Chunk(k, 0, span.last, named(span.path)))
            continue
        ends = np.cumsum(row_groups(span.path) or [span.raw])
        for first, last in pairwise(edges(span.last or int(ends[-1]))):
            groups = np.searchsorted(ends, (first, last - 1), side="right")
            where = _groups(*groups) if len(ends) > 1 else f"rows {first + 1} to {last}"
            chunks.append(Chunk(k, first, last, f"{named(span.path)}, {where}"))
    return tuple(chunks)


def _groups(first: int, last: int) -> str:
    return f"row group {first}" if first == last else f"row groups {first} to {last}"


def _between(first: Chunk, last: Chunk) -> str:
    return first.told if first == last else f"{first.told} to {last.told}"


def part_of(whole: Partition, low: int, high: int) -> Partition:
    """Chunks low to high of a long recording and the files that hold them, without those of all the others."""
    chunks = whole.chunks[low:high]
    first, last = chunks[0].file, chunks[-1].file
    run = FileRun(whole.run.files[first : last + 1])
    own = tuple(replace(chunk, file=chunk.file - first) for chunk in chunks)
    return replace(whole, run=run, told=_between(chunks[0], chunks[-1]), chunks=own)


def glances(seen: Survey, rows: str | None, partition: Partition) -> list[Glance]:
    """What the chunks of a part of a long recording tell."""
    assert partition.usual is not None
    told = []
    for part in _read(seen, rows, partition):
        clean = None if part is None else cleaned(part, partition.usual)
        if clean is None:
            told.append(Glance())
            continue
        ends = clean.rows(np.arange(len(clean)) % max(len(clean) - 1, 1) == 0)
        told.append(Glance(len(clean), tuple(starts_in(clean, partition.usual)), ends))
    return told


def _read(seen: Survey, rows: str | None, partition: Partition) -> Iterator[Log | None]:
    """The logs of the chunks, neighbours in a file by one reading; None where a chunk holds no rows."""
    before: Log | None = None
    for file, group in groupby(partition.chunks, key=lambda one: one.file):
        some = list(group)
        first, last, span = some[0], some[-1], partition.run.files[file]
        for part in every_part(span.path, seen.dataset.how, seen.arm, first.first, last.last):
            if part.log is None:
                yield None
                continue
            before = following(before, later(part.log, span.shift), seen.arm)
            yield fitted_rows(before, rows)


def placed_segments(looks: Sequence[Glance], usual: Usual) -> list[Placed]:
    """The segments of a long recording, as `cutting.cut` makes them."""
    every: list[Placed] = []
    for stretch in _stretches(looks, usual):
        sizes = [high - low for _, low, high in stretch]
        ends = np.r_[0, np.cumsum(sizes)]
        length = int(ends[-1])
        if length < SHORTEST:
            continue
        for low, high in bounds(length):
            start, stop = max(low - SIDE, 0), min(high + SIDE, length)
            reaches = [
                (chunk, first + max(start - before, 0), last - max(before + size - stop, 0))
                for (chunk, first, last), before, size in zip(stretch, ends, sizes, strict=False)
                if before < stop and before + size > start
            ]
            every.append(Placed(tuple(reaches), low - start, high - start))
    return every


def _stretches(looks: Sequence[Glance], usual: Usual) -> list[list[Reach]]:
    """The pieces of each stretch."""
    whole: list[list[Reach]] = []
    before: Log | None = None
    fresh = True
    for k, look in enumerate(looks):
        if look.ends is None:
            continue
        again = before is not None and look.ends.t[0] == before.t[-1]  # a time stamp is kept once
        fresh = fresh or (before is not None and breaks_between(before, look.ends, usual))
        for low, high, begins in pieces_of(look.length, look.starts, fresh):
            if high - low >= FEWEST:
                if begins:
                    whole.append([])
                whole[-1].append((k, low + (again and not begins and low == 0), high))
            fresh = begins and high - low < FEWEST
        before = look.ends
    return whole


def long_partitions(whole: Partition, looks: Sequence[Glance], size: int) -> Iterator[Partition]:
    """Partitions of so many segments each."""
    assert whole.usual is not None
    every = placed_segments(looks, whole.usual)
    for k in range(0, len(every), size):
        some = every[k : k + size]
        low, high = some[0].reaches[0][0], 1 + some[-1].reaches[-1][0]
        segments = tuple(_counted_from(low, one) for one in some)
        yield replace(part_of(whole, low, high), segments=segments)


def _counted_from(low: int, segment: Placed) -> Placed:
    """The segment, its chunks counted from one of them."""
    reaches = tuple((chunk - low, first, last) for chunk, first, last in segment.reaches)
    return replace(segment, reaches=reaches)


def segments_of(seen: Survey, rows: str | None, partition: Partition) -> Iterator[TimeSegment]:
    """The segments of a partition; no more than those chunks are held that one of them needs."""
    if partition.usual is None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DynarmWarning)  # said by the first look
            log = fitting_log(seen.arm, seen.read(partition.run), rows)
        for stretch in stretches(log):
            yield from segments(stretch)
        return
    coming = enumerate(_read(seen, rows, partition))
    here: dict[int, Log | None] = {}
    for segment in partition.segments:
        first, last = segment.reaches[0][0], segment.reaches[-1][0]
        here = {k: log for k, log in here.items() if k >= first}
        while last not in here:
            k, part = next(coming)
            here[k] = None if part is None else cleaned(part, partition.usual)
        yield TimeSegment(_together(here, segment.reaches), segment.low, segment.high)


def _together(here: dict[int, Log | None], reaches: Sequence[Reach]) -> Log:
    """The rows of neighbouring chunks as one log."""
    logs = [(log, low, high) for chunk, low, high in reaches if (log := here[chunk]) is not None]
    first = logs[0][0]
    values: dict[str, Kept] = {
        name: np.concatenate([getattr(log, name)[low:high] for log, low, high in logs])
        for name in schema(first)
    }
    return replace(first, **values)
