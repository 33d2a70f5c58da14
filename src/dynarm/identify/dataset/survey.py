"""A first look at all files of a dataset: how long each is, what it holds, and which go on from which."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import pairwise
from pathlib import Path

import numpy as np

from ...border.files import named
from ...border.kinds import FloatArray
from ...errors import DynarmError, InputError
from ...robot.arm import Arm
from ..logs.log import Log
from ..logs.noted import of_parts
from ..logs.numbers import earlier
from .files import Dataset
from .parts import every_part, following, joined, later, parts, schema
from .strewn import Strewing, Strewn

_ANEW = 0.05  # of a recording's first file: a clock that begins within it starts anew,
_SECOND = 1.0  # or within a second
_ROWS = 1000  # of which one tells whether files hold the same
_STREWN = 1 << 16  # pairs of rows of all files that show what is usual
_INSTEAD = "; mend it or take it away, or go on without it: skip_bad=True (--skip-bad)"

Look = Callable[[int, int, int], None]  # files done, files in all, rows so far


@dataclass(frozen=True, slots=True, eq=False)
class Span:
    """One file: its samples, its times [s], what it holds, and between what its positions lie.

    since: the moment that its clock counts from, where it tells; shift [ns]: how much later that is than the moment
    from which times of its recording count; raw: rows of a file that is read in parts, with those that are left out;
    first, last: between which of its rows the samples lie (0: its end), where some of them are kept back; told: by
    what another file with the same samples is known; strewn: rows from all over it.
    """

    path: Path
    rows: int
    start: float
    stop: float
    holds: tuple[str, ...]
    low: FloatArray
    high: FloatArray
    notes: tuple[str, ...] = ()
    since: np.datetime64 | None = None
    shift: int = 0
    raw: int = 0
    first: int = 0
    last: int = 0
    told: str = ""
    strewn: Strewn | None = None

    def after(self, shift: int) -> Span:
        """The same, whose recording's times count from so many nanoseconds earlier."""
        start, stop = earlier(np.array([self.start, self.stop]), shift).tolist()
        return replace(self, start=start, stop=stop, shift=shift)


Looking = Callable[[Dataset, Arm, Sequence[Path]], Iterable[Span | DynarmError]]


@dataclass(frozen=True, slots=True, eq=False)
class FileRun:
    """Files that are one recording, in order of time."""

    files: tuple[Span, ...]

    @property
    def rows(self) -> int:
        return sum(span.rows for span in self.files)

    @property
    def name(self) -> str:
        first = self.files[0].path
        more = len(self.files) - 1
        return str(first) + (f" and {more} more" if more else "")


@dataclass(frozen=True, slots=True, eq=False)
class Survey:
    """The recordings of a dataset, and what is to be said about its files, each with the file's name."""

    dataset: Dataset
    arm: Arm
    runs: tuple[FileRun, ...]
    bad: tuple[str, ...] = ()  # messages about files that were left out
    notes: tuple[tuple[str, str], ...] = ()
    copies: tuple[tuple[str, str], ...] = ()  # of other files, that were left out

    @property
    def rows(self) -> int:
        return sum(run.rows for run in self.runs)

    @property
    def light(self) -> Survey:
        """The same without the rows that show what is usual."""
        runs = [[replace(span, strewn=None) for span in run.files] for run in self.runs]
        return replace(self, runs=tuple(FileRun(tuple(files)) for files in runs))

    @property
    def width(self) -> int:
        """Numbers in a row."""
        one = self.runs[0].files[0]
        return 1 + len(one.low) * (len(one.holds) - 1)

    def parts(self, run: FileRun, first: int = 0) -> Iterator[Log]:
        """The logs of a recording's parts, in order, from its row `first` on."""
        before, last = 0, None
        for span in run.files:
            if before + span.rows > first:
                skip = max(first - before, 0)
                skip += span.first
                for part in parts(span.path, self.dataset.how, self.arm, skip, span.last):
                    last = following(last, later(part, span.shift), self.arm)
                    yield last
            before += span.rows

    def read(self, run: FileRun, first: int = 0, rows: int | None = None) -> Log:
        """A recording as one log, or so many of its rows."""
        wanted = run.rows - first if rows is None else rows
        kept: list[Log] = []
        have = 0
        for part in self.parts(run, first):
            kept.append(part if have + len(part) <= wanted else part.rows(slice(wanted - have)))
            have += len(kept[-1])
            if rows is not None and have >= wanted - 1:
                break
        notes = of_parts(note for span in run.files for note in span.notes)
        return replace(joined(kept, run.name), notes=notes)


def survey(
    dataset: Dataset,
    arm: Arm,
    look: Look | None = None,
    looking: Looking | None = None,
    apart: bool = False,
) -> Survey:
    """What a dataset holds; files that cannot be used are refused, or left out where that was asked for.

    looking: what looks at all files; None: this process, one after the other. apart: whether every file is a recording
    of its own, whatever its clock says.
    """
    spans: list[Span] = []
    bad: list[str] = []
    few, rows = _Strewn(), 0
    files = dataset.files()
    more = _INSTEAD if len(files) > 1 else ""
    for done, one in enumerate((looking or _one_by_one)(dataset, arm, files), 1):
        if isinstance(one, Span) and spans and one.holds != spans[0].holds:
            one = _mixed(one, spans[0])
        if isinstance(one, Span):
            few.add(one)
            spans.append(replace(one, strewn=None))
            rows += one.rows
        elif dataset.skip_bad:
            bad.append(_naming(files[done - 1], one))
        else:
            raise type(one)(f"{_naming(files[done - 1], one)}{more}") from None
        if look is not None:
            look(done, len(files), rows)
    if not spans:
        raise InputError(f"none of {len(files)} files can be used; the first: {bad[0]}")
    spans, copies = _once([few.of(span) for span in spans])
    alone = apart or dataset.apart
    runs, order = (tuple(FileRun((span,)) for span in spans), []) if alone else _runs(spans)
    notes = [(str(span.path), note) for span in spans for note in span.notes]
    return Survey(dataset, arm, runs, tuple(bad), (*notes, *order), tuple(copies))


def _once(spans: Sequence[Span]) -> tuple[list[Span], list[tuple[str, str]]]:
    """The files without copies of others in folders below, which would count twice; a remark about those."""
    first: dict[str, Span] = {}
    for span in sorted(spans, key=lambda span: len(span.path.parts)):
        first.setdefault(span.told, span)
    copies = [span for span in spans if first[span.told] is not span]
    other = named(first[copies[0].told].path) if len(copies) == 1 else "other files"
    note = f"holds the same samples as {other}, and was left out"
    kept = [span for span in spans if first[span.told] is span]
    return kept, [(str(span.path), note) for span in copies]


class _Strewn:
    """Rows from all over many files: as many of each as it is long, and a bounded number together."""

    def __init__(self) -> None:
        self._own: dict[Path, Strewn] = {}
        self._every, self._count = 1, 0

    def add(self, span: Span) -> None:
        """The next file's."""
        if span.strewn is None:
            return
        self._own[span.path] = own = span.strewn.at_most(self._every)
        self._count += len(own.steps)
        while self._count > max(_STREWN, 4 * len(self._own)):
            self._every *= 2
            self._own = {path: one.at_most(self._every) for path, one in self._own.items()}
            self._count = sum(len(one.steps) for one in self._own.values())

    def of(self, span: Span) -> Span:
        """The file with what is left of its rows."""
        return replace(span, strewn=self._own.get(span.path))


def _one_by_one(dataset: Dataset, arm: Arm, files: Sequence[Path]) -> Iterator[Span | DynarmError]:
    return (look_at(path, dataset, arm) for path in files)


def look_at(path: Path, dataset: Dataset, arm: Arm) -> Span | DynarmError:
    """What one file holds, or why it cannot be used."""
    try:
        return _span(path, dataset, arm)
    except DynarmError as error:
        return error


def _naming(path: Path, error: DynarmError) -> str:
    text = str(error)
    return text if named(path) in text else f"{named(path)}: {text}"


def _span(path: Path, dataset: Dataset, arm: Arm) -> Span:
    """One file, looked through from its first row to its last."""
    rows, start, stop = 0, np.nan, -np.inf
    holds: tuple[str, ...] = ()
    low = high = np.zeros(0)
    notes: list[str] = []
    since: np.datetime64 | None = None
    measured = np.zeros(0, bool)
    raw = 0
    seen, some = _Fingerprint(), Strewing()
    for part, count in every_part(path, dataset.how, arm):
        raw += count
        if part is None:
            continue
        if part.t[0] < stop:
            raise InputError(
                f"{named(path)}: time goes backwards in row {rows + 1} ({stop:.6g} s, then {part.t[0]:.6g} s); cut the "
                "log there"
            )
        if rows and (part.measured != measured).any():
            raise _partly(path, part, part.measured != measured, rows)
        measured = part.measured
        least, most = part.q.min(axis=0), part.q.max(axis=0)
        low, high = (np.minimum(low, least), np.maximum(high, most)) if rows else (least, most)
        start = float(part.t[0]) if not rows else start
        some.add(part, rows)
        seen.add(part, schema(part), rows)
        rows, stop, holds = rows + len(part), float(part.t[-1]), schema(part)
        since = part.since
        notes += part.notes
    if not rows:
        raise InputError(f"{named(path)} has {min(raw, 1)} samples; at least 2 are needed")
    told = seen.of(rows, holds, since)
    return Span(
        path,
        rows,
        start,
        stop,
        holds,
        low,
        high,
        of_parts(notes),
        since,
        raw=raw,
        told=told,
        strewn=some.all,
    )


class _Fingerprint:
    """What files share that hold the same samples, whatever their format: a row in a thousand, and the last."""

    def __init__(self) -> None:
        self._told = sha256()
        self._last = b""

    def add(self, part: Log, holds: Sequence[str], place: int) -> None:
        """The next part, whose first row is row `place` of the file."""
        rows = np.r_[np.arange(-place % _ROWS, len(part), _ROWS), len(part) - 1]
        some = np.nan_to_num(np.column_stack([getattr(part, name)[rows] for name in holds]))
        self._told.update(some[:-1].tobytes())
        self._last = some[-1].tobytes()

    def of(self, *others: object) -> str:
        """The fingerprint, together with what else is known of the file."""
        self._told.update(self._last + repr(others).encode())
        return self._told.hexdigest()


def _partly(path: Path, part: Log, changed: np.ndarray, rows: int) -> InputError:
    """Torques that are there in some parts of a file only."""
    return InputError(
        f"{named(path)}: tau column {np.argmax(changed) + 1} is missing throughout in some rows before or from row "
        f"{rows + 1} on ({part.t[0]:.6g} s); cut the log there"
    )


def _mixed(span: Span, first: Span) -> InputError:
    return InputError(
        f"{named(span.path)}: holds {', '.join(span.holds)}, {named(first.path)} holds {', '.join(first.holds)}; give "
        "logs of one kind, or declare the channels that all have"
    )


def _runs(spans: Sequence[Span]) -> tuple[tuple[FileRun, ...], list[tuple[str, str]]]:
    """Files that go on from one to the next are one recording; a remark where names and times disagree."""
    known = _by_one_clock(spans)
    ordered = sorted(known or spans, key=lambda span: span.start)
    if all(other.start >= one.stop for one, other in pairwise(ordered)):
        names = [span.path for span in ordered]
        wrong = next((a.path for a, b in zip(spans, names, strict=True) if a.path != b), None)
        told = [] if wrong is None else [(str(wrong), "files were put in order of their times")]
        return (FileRun(tuple(ordered)),), told
    if known:
        both = next(b for a, b in pairwise(ordered) if b.start < a.stop)
        alone = "was recorded while another file was; such files are recordings of their own"
        return tuple(FileRun((span,)) for span in spans), [(str(both.path), alone)]
    groups: list[list[Span]] = []
    for span in spans:
        if groups and span.start >= groups[-1][-1].stop:
            groups[-1].append(span)
        elif not groups or _anew(span, groups[-1][0]):
            groups.append([span])
        else:
            raise _overlap(groups[-1][-1], span)
    return tuple(FileRun(tuple(group)) for group in groups), []


def _by_one_clock(spans: Sequence[Span]) -> list[Span]:
    """The files with times that count from the first moment of all; none where a clock does not tell its moments."""
    moments = [span.since for span in spans if span.since is not None]
    if len(moments) < len(spans):
        return []
    ticks = [(moment - min(moments)).astype("m8[ns]").astype(int) for moment in moments]
    return [span.after(int(shift)) for span, shift in zip(spans, ticks, strict=True)]


def _anew(span: Span, first: Span) -> bool:
    """Whether a file's clock begins where that of a recording began."""
    near = max(_SECOND, _ANEW * (first.stop - first.start))
    return abs(span.start - first.start) <= near


def _overlap(one: Span, other: Span) -> InputError:
    return InputError(
        f"{named(other.path)}: its times ({other.start:.6g} to {other.stop:.6g} s) overlap those of "
        f"{named(one.path)} ({one.start:.6g} to {one.stop:.6g} s); fit recordings of one clock that do not overlap, or "
        "take every file as a recording of its own: apart=True (--apart)"
    )
