"""The fit of a dataset: read at once where it fits into memory, else piece by piece, by choices made on a sample."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ...border.kinds import FloatArray
from ...errors import DynarmWarning, InputError
from ...robot.arm import Arm
from ..fitting import fitted_rows, fitting_log, recording_of
from ..flow import Away, Flow
from ..logs.log import Log
from ..preprocess import Preparation, Recording, Stretch, smooth_segment
from ..rests import moving_share
from ..segments import LONG, SEGMENT, TimeSegment, sample_start, sampled, segments, stretches
from .cutting import Usual, cut, limits
from .files import Dataset
from .holding import excerpts, is_small, parted
from .notes import heard, say
from .spread import looked, spread_out
from .strewn import together
from .survey import FileRun, Survey, survey

if TYPE_CHECKING:
    from ..identifier import Identifier
    from ..result import Fit
    from .cluster import Cluster

_WHOLE = 2 * SEGMENT  # samples of a recording that is read at once
READ = 0.3  # part of the work that a first look at all files is


def fit_dataset(identifier: Identifier, dataset: Dataset, cluster: Cluster | None = None) -> Fit:
    """The fit of all recordings of a dataset; by the workers of a cluster, where one is given."""
    arm, rows = identifier.arm, identifier.rows
    looking = None if cluster is None else partial(looked, cluster)
    seen = survey(dataset, arm, _look(identifier, dataset), looking)
    identifier = _after(identifier)
    for message in seen.bad:
        warnings.warn(f"left out: {message}", DynarmWarning, stacklevel=3)
    told = [*seen.notes, *seen.copies]
    small, seen, held_back = is_small(seen), *_parted(seen)
    if small and cluster is None:
        with heard(told):
            held = recording_of(arm, [seen.read(run) for run in seen.runs], rows)
        say(told)
        held.held = held_back
        return identifier.fit_logs(list(held.logs), held)
    if identifier.estimator == "iv":
        raise InputError(
            f"estimator is 'iv', which needs all {seen.rows} rows at once; raise memory, or choose 'wls'"
        )
    with heard(told):
        recording = Streamed(seen, rows, cluster)
    say(told)
    recording.held = held_back
    return identifier.fit_logs(list(recording.logs), recording)


def _parted(seen: Survey) -> tuple[Survey, tuple[Log, ...]]:
    """What is fitted, and logs of what is kept back, if anything is."""
    if not seen.dataset.hold_out:
        return seen, ()
    first, last = parted(seen, seen.dataset.hold_out)
    return first, tuple(excerpts(last))


def _look(identifier: Identifier, dataset: Dataset) -> Callable[[int, int, int], None]:
    """What is told of the first look at all files."""
    report, shown = identifier.progress, dataset.progress

    def look(done: int, files: int, rows: int) -> None:
        if report is not None:
            report(round(READ * 1000 * done / files), 1000)
        if shown is not None:
            shown(done, files, rows)

    return look


def _after(identifier: Identifier) -> Identifier:
    """The identifier, whose progress goes on where the first look ended."""
    report = identifier.progress
    if report is None:
        return identifier

    def rest(done: int, whole: int) -> None:
        report(round(1000 * (READ + (1 - READ) * done / whole)), 1000)

    return replace(identifier, progress=rest)


@dataclass(frozen=True, slots=True, eq=False)
class _Long:
    """A recording that is never held whole, and what is usual in it."""

    run: FileRun
    usual: Usual


class Streamed(Recording):
    """The recordings of a dataset; `logs` are samples of them, `pieces` are read and prepared whenever asked for."""

    def __init__(self, seen: Survey, rows: str | None, cluster: Cluster | None = None):
        usual = [_usual(run, seen.arm) if run.rows > _WHOLE else None for run in seen.runs]
        seen = seen.light
        self._seen, self._rows = seen, rows
        chosen = [seen.runs[k] for k in sampled([run.rows for run in seen.runs])]
        logs = [fitting_log(seen.arm, middle_of(seen, run), rows) for run in chosen]
        super().__init__(logs, logs)
        self.short = Recording(logs, logs)
        self._runs: list[FileRun | _Long] = [
            run if known is None else _Long(run, known)
            for run, known in zip(seen.runs, usual, strict=True)
        ]
        self._away: Callable[[Preparation], Away] | None = None
        if cluster is not None:
            runs = [(r.run, r.usual) if isinstance(r, _Long) else (r, None) for r in self._runs]
            self._away = spread_out(cluster, seen, rows, runs)

    def pieces(self, how: Preparation) -> Flow:  # type: ignore[override]
        """All stretches, segment by segment."""
        away = None if self._away is None else self._away(how)
        return Flow(partial(self._made_anew, how), self._seen.rows, away)

    def checked(self, how: Preparation) -> list[Stretch]:
        """The stretches of the samples."""
        return self.short.pieces(how)

    def _made_anew(self, how: Preparation) -> Iterator[Stretch]:
        for k, run in enumerate(self._runs):
            for segment in self._segments(run):
                yield replace(smooth_segment(segment, how), run=k)

    @property
    def run_names(self) -> list[str]:
        return [run.name for run in self._seen.runs]

    def _segments(self, run: FileRun | _Long) -> Iterator[TimeSegment]:
        seen = self._seen
        if isinstance(run, _Long):
            parts = (fitted_rows(part, self._rows) for part in seen.parts(run.run))
            yield from cut(parts, run.usual)
            return
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DynarmWarning)  # said by the first look
            log = fitting_log(seen.arm, seen.read(run), self._rows)
        for stretch in stretches(log):
            yield from segments(stretch)


def middle_of(seen: Survey, run: FileRun) -> Log:
    """As much of a recording as a choice needs, from where it is taken of one that is held in memory."""
    if run.rows <= LONG:
        return seen.read(run)
    low, high = _range(run)
    logs: dict[int, Log] = {}

    def moving(start: int) -> float:
        if start not in logs:
            logs[start] = seen.read(run, start, LONG)
        return moving_share(logs[start].t, logs[start].q, high - low)

    return logs[sample_start(run.rows, LONG, moving)]


def _usual(run: FileRun, arm: Arm) -> Usual:
    """What is usual in a long recording."""
    low, high = _range(run)
    some = [span.strewn for span in run.files if span.strewn is not None]
    return limits(together(some, sum(len(one.steps) for one in some)), high - low, arm)


def _range(run: FileRun) -> tuple[FloatArray, FloatArray]:
    """Between which the positions of a recording lie."""
    low = np.min([span.low for span in run.files], axis=0)
    return low, np.max([span.high for span in run.files], axis=0)
