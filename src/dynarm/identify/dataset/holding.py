"""What of a dataset is predicted and not fitted: ends of its recordings, or all of it, as logs that fit into memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ...errors import InputError
from ..logs.log import Log
from ..segments import LONG, sampled
from .parts import parts
from .survey import FileRun, Span, Survey

COPIES = 8  # times a row that a fit in memory holds
_LEAST = 2  # rows of a log


def is_small(seen: Survey) -> bool:
    """Whether a dataset fits into the memory that is given for it."""
    return 8 * COPIES * seen.rows * seen.width <= seen.dataset.room


def parted(seen: Survey, share: float) -> tuple[Survey, Survey]:
    """The dataset without the given share of each recording's rows, its end, and these ends; no row is in both."""
    firsts, lasts = zip(*(_parted(seen, run, share) for run in seen.runs), strict=True)
    return replace(seen, runs=firsts), replace(seen, runs=lasts)


def _parted(seen: Survey, run: FileRun, share: float) -> tuple[FileRun, FileRun]:
    border = round(run.rows * (1 - share))
    if min(border, run.rows - border) < _LEAST:
        raise InputError(
            f"hold_out is {share:g}: {run.name} would be cut into {border} and {run.rows - border} samples; both "
            "parts need 2"
        )
    first: list[Span] = []
    last: list[Span] = []
    for span in run.files:
        if border >= span.rows:
            first.append(span)
        elif border < _LEAST:
            last.append(span)
        else:
            one, other = _cut(seen, span, border)
            first.append(one)
            last += [other] if other.rows >= _LEAST else []
        border -= min(border, span.rows)
    return FileRun(tuple(first)), FileRun(tuple(last))


def _cut(seen: Survey, span: Span, rows: int) -> tuple[Span, Span]:
    """A file cut in two behind so many rows, about where some of its rows are left out."""
    raw = rows
    if span.raw > span.rows:
        raw = round(span.raw * rows / span.rows)
        read = parts(span.path, seen.dataset.how, seen.arm, 0, raw)
        rows = sum(len(part) for part in read)
    first = replace(span, rows=rows, raw=raw if span.raw else 0, last=raw)
    return first, replace(span, rows=span.rows - rows, first=raw)


def excerpts(seen: Survey) -> list[Log]:
    """The recordings as logs; where these do not fit into memory, the middles of some, which say so."""
    if is_small(seen):
        return [_called(seen.read(run), _from(run)) for run in seen.runs]
    return list(_middles(seen, [seen.runs[k] for k in sampled([run.rows for run in seen.runs])]))


def _middles(seen: Survey, runs: Sequence[FileRun]) -> Iterator[Log]:
    for run in runs:
        start = max(run.rows - LONG, 0) // 2
        log = seen.read(run, start, min(LONG, run.rows))
        few = f", {len(log)} of its {run.rows} rows" if len(log) < run.rows else ""
        yield _called(log, f"{_from(run)}{few}")


def _from(run: FileRun) -> str:
    """What a recording is called, from which row of its first file on."""
    first = run.files[0].first
    return f"{run.name} from row {first + 1} on" if first else run.name


def _called(log: Log, name: str) -> Log:
    return replace(log, source=name)
