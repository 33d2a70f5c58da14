"""What of a robot is fitted: its logs, held in memory where they fit into it, else read piece by piece.

Either way rows are folded apart by the hour, or by as many days as give a bounded number of runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from hashlib import sha256
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ...border.kinds import FloatArray
from ...errors import DynarmError, InputError
from ..dataset.files import Dataset
from ..dataset.holding import COPIES, is_small
from ..dataset.streamed import Streamed, middle_of
from ..dataset.survey import Survey, survey
from ..flow import Flow
from ..identifier import Identifier
from ..logs.log import Log
from ..logs.readers import weight
from ..preprocess import Preparation, Recording, Stretch
from ..segments import SHORTEST
from .drift import PERIODS, clock_of, period_of
from .groups import File, Source, day_of

_INSTEAD = "go on without what cannot be used: skip_bad=True (--skip-bad)"
_MOST = 168  # runs of a robot whose rows are folded apart: a week of hours


class Own(NamedTuple):
    """What of one robot is fitted; dates: of each run, once it is folded; rows: how many samples."""

    recording: Recording
    logs: list[Log]
    dates: Callable[[], Sequence[float | None]]
    rows: int


class Recordings:
    """The recordings of robots as the identifier takes them, and what was left out on the way."""

    def __init__(self, identifier: Identifier, memory: int | str, skip_bad: bool):
        self.identifier = identifier
        self.memory = memory
        self.skip_bad = skip_bad
        self.bad: list[str] = []

    @staticmethod
    def by(identifier: Identifier, dataset: Dataset | None, skip_bad: bool) -> Recordings:
        """As a dataset says, if there is one."""
        if dataset is None:
            return Recordings(identifier, "1GB", skip_bad)
        return Recordings(identifier, dataset.memory, skip_bad or dataset.skip_bad)

    def of(self, robot: str, sources: Sequence[Source]) -> Own | None:
        """All that is fitted of a robot; None where nothing can be used."""
        files = [one for one in sources if isinstance(one, File)]
        if len(files) == len(sources):
            try:
                seen = self._large(files)
            except DynarmError as error:
                self.refuse(robot, error)
                return None
            if seen is not None:
                return self._streamed(robot, seen)
        read = list(self._read(robot, sources))
        if not read:
            return None
        logs, spans = [log for log, _ in read], [_log_span(*one) for one in read]
        calendar = Calendar(spans)
        return Own(HeldRuns(logs, calendar), logs, calendar.dates, sum(map(len, logs)))

    def sample(self, robot: str, source: Source) -> Log | None:
        """As much of one recording as choices look at; None where it cannot be used."""
        try:
            seen = self._large([source]) if isinstance(source, File) else None
        except DynarmError as error:
            self.refuse(robot, error)
            return None
        if seen is not None:
            source = middle_of(seen, seen.runs[0])
        return next((log for log, _ in self._read(robot, [source])), None)

    def refuse(self, robot: str, error: DynarmError) -> None:
        """Remember what cannot be used, or say so where nothing may be left out."""
        text = f"robot {robot}: {error}"
        if not self.skip_bad:
            raise type(error)(text if _INSTEAD in text else f"{text}; {_INSTEAD}") from None
        self.bad.append(text)

    def _read(self, robot: str, sources: Sequence[Source]) -> Iterator[tuple[Log, Source]]:
        """The logs that fit into memory, copies of others left out."""
        known: set[bytes] = set()
        for source in sources:
            try:
                log = source if isinstance(source, Log) else Log.read(source.path, *source.how)
                (ready,) = self.identifier.prepare(log)
            except DynarmError as error:
                self.refuse(robot, error)
                continue
            told = sha256(str(log.since).encode())
            for array in (log.t, log.q, log.tau):
                told.update(np.ascontiguousarray(array).data)
            if told.digest() in known:
                self.bad.append(f"robot {robot}: {log.source}: holds the same samples as another")
                continue
            known.add(told.digest())
            yield ready, source

    def _large(self, files: Sequence[File]) -> Survey | None:
        """A look at files of a robot that do not fit into memory; None where they do."""
        first = files[0]
        names = [file.path for file in files]
        data = Dataset(names, first.channels, self.memory, self.skip_bad, first.topic)
        if COPIES * sum(_weight(file) for file in files) <= data.room:
            return None
        if self.identifier.estimator == "iv":
            raise InputError(
                "estimator is 'iv', which needs all rows of a robot at once; raise memory, or choose 'wls'"
            )
        seen = survey(data, self.identifier.arm, apart=True)
        return None if is_small(seen) else seen

    def _streamed(self, robot: str, seen: Survey) -> Own:
        self.bad += [f"robot {robot}: {text}" for text in seen.bad]
        self.bad += [f"robot {robot}: {source}: {note}" for source, note in seen.copies]
        recording = StreamedRuns(seen, self.identifier.rows)
        return Own(recording, list(recording.logs), recording.calendar.dates, seen.rows)


def _weight(file: File) -> int:
    """Bytes of a file's numbers; 0 where it cannot be read, which is told when it is."""
    try:
        return weight(file.path)
    except DynarmError:
        return 0


class LogSpan(NamedTuple):
    """When a recording begins and ends by its own times, what these count from, or the day it is of [s since 1970]."""

    start: float
    stop: float
    clock: float | None
    day: float | None

    def periods(self, period: float) -> list[int]:
        """Those in which it lies; -1 where nothing dates it."""
        if self.clock is None:
            return [-1 if self.day is None else int(self.day // period)]
        first, last = period_of(np.array([self.start, self.stop]) + self.clock, period).tolist()
        return list(range(first, last + 1))


def _log_span(log: Log, source: Source) -> LogSpan:
    first, last = float(log.t[0]), float(log.t[-1])
    return LogSpan(first, last, clock_of(log.since, first), day_of(source))


class Calendar:
    """Cuts prepared stretches where hours or days end, and says to which run, one of few, a part belongs.

    Runs are the hours of a recording; where these are too many, the days of all, two, four; or neighbouring recordings,
    where nothing dates them.
    """

    def __init__(self, spans: Sequence[LogSpan]):
        self.spans = spans
        self.single, self.period = True, PERIODS["hour"]
        while self._count() > _MOST:
            longer = max(2 * self.period, PERIODS["day"]) if not self.single else self.period
            self.single, self.period = False, longer
        self._when: list[tuple[float, int]] = []  # sum of times and rows of each run
        self._dated: list[bool] = []

    def _count(self) -> int:
        return len({self._name(k, p) for k in range(len(self.spans)) for p in self._periods(k)})

    def _periods(self, k: int) -> list[int]:
        return self.spans[k].periods(self.period)

    def _name(self, k: int, period: int) -> tuple[int, int]:
        """What tells the run of a recording's period from others."""
        if self.single:
            return k, period
        return (-1, period) if period >= 0 else (k * _MOST // (2 * len(self.spans)), -1)

    def dates(self) -> list[float | None]:
        """The mean time of each run [s since 1970]; None where nothing dates it."""
        return [
            total / rows if dated else None
            for (total, rows), dated in zip(self._when, self._dated, strict=True)
        ]

    @property
    def names(self) -> list[str]:
        return [f"part {k + 1}" for k in range(len(self._when))]

    def cut(self, pieces: Iterable[Stretch]) -> Iterator[Stretch]:
        """The stretches of recordings as those of runs."""
        runs: dict[tuple[int, int], int] = {}
        self._when, self._dated = [], []
        for piece in pieces:
            for part, when in self._parts(piece):
                middle = -1 if when is None else int(when[len(when) // 2] // self.period)
                run = runs.setdefault(self._name(piece.run, middle), len(runs))
                if run == len(self._when):
                    self._when.append((0.0, 0))
                    self._dated.append(when is not None)
                total, rows = self._when[run]
                more = 0.0 if when is None else float(when.sum())
                self._when[run] = (total + more, rows + len(part))
                yield replace(part, run=run)

    def _parts(self, piece: Stretch) -> Iterator[tuple[Stretch, FloatArray | None]]:
        """A stretch cut where periods end, but not near its own ends, with the times of the samples."""
        span = self.spans[piece.run]
        if span.clock is None:
            yield piece, None if span.day is None else np.full(len(piece), span.day)
            return
        when = piece.t + span.clock
        ends = np.flatnonzero(np.diff(period_of(when, self.period))) + 1
        inside = ends[(ends >= SHORTEST) & (ends <= len(piece) - SHORTEST)]
        for low, high in pairwise([0, *inside.tolist(), len(piece)]):
            yield piece.part(slice(low, high)), when[low:high]


class HeldRuns(Recording):
    """The recordings of a robot, held in memory; the runs of their stretches are the calendar's."""

    def __init__(self, logs: Sequence[Log], calendar: Calendar):
        super().__init__(logs)
        self.calendar = calendar

    def pieces(self, how: Preparation) -> list[Stretch]:
        """The smooth stretches of all logs."""
        return list(self.calendar.cut(super().pieces(how)))

    @property
    def run_names(self) -> list[str]:
        return self.calendar.names


class StreamedRuns(Streamed):
    """The recordings of a robot, read piece by piece; the runs of their stretches are the calendar's."""

    def __init__(self, seen: Survey, rows: str | None):
        super().__init__(seen, rows)
        files = [run.files[0] for run in seen.runs]
        self.calendar = Calendar(
            [
                LogSpan(one.start, one.stop, clock_of(one.since, one.start), day_of(File(one.path)))
                for one in files
            ]
        )

    def pieces(self, how: Preparation) -> Flow:  # type: ignore[override]
        """All stretches, whose runs are folded apart."""
        return Flow(lambda: self.calendar.cut(self._made_anew(how)), self._seen.rows, apart=True)

    @property
    def run_names(self) -> list[str]:
        return self.calendar.names
