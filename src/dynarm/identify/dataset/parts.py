"""A log's file as logs of some of its rows, one after the other; what is large is never held whole."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ...border.files import named
from ...border.kinds import Kept
from ...errors import DynarmError, FormatError, InputError
from ...robot.arm import Arm
from ..logs.channels import columns_of, table_channels
from ..logs.declaration import Declaration, load_declaration
from ..logs.formats.table import InParts, Table, length
from ..logs.formats.table import edges as part_edges
from ..logs.log import Log, in_order
from ..logs.noted import left_out, of_parts
from ..logs.numbers import earlier
from ..logs.readers import parted, table_parts, weight
from ..logs.recognition import recognise
from ..logs.turns import turned, turning, turns_after
from ..segments import gap_of
from .files import BASE, Reading

ROWS = 60_000  # of a part
STATES = ("t", "q", "qd", "qdd", "tau", "wrench", "reference", "q_command")
_COPIES = 4  # times its numbers that a file takes while it is read whole
_SPARE = 32 << 20  # bytes that are there for it in any case


class LogPart(NamedTuple):
    """The log of some rows, None where all of them were left out; rows: how many the file has there, if it is cut."""

    log: Log | None
    rows: int


def edges(rows: int) -> list[int]:
    """Between which rows the parts of a file lie; the last has up to half more."""
    return part_edges(rows, ROWS)


def parts(path: Path, how: Reading, arm: Arm, first: int = 0, last: int = 0) -> Iterator[Log]:
    """The log in a file part by part from its row `first` to `last` (0: all), joints in the arm's order.

    Errors name the file.
    """
    for part in every_part(path, how, arm, first, last):
        if part.log is not None:
            yield part.log


def every_part(
    path: Path, how: Reading, arm: Arm, first: int = 0, last: int = 0
) -> Iterator[LogPart]:
    """The same, with parts whose rows are all left out."""
    declaration = load_declaration(path, how.channels)
    others = _others(path, declaration)
    read = None if others else parted(path)
    if read is None:
        _check_memory([path, *others], how.room)
        whole = in_order(Log.read(path, how.channels, how.topic), arm)
        if first < len(whole):
            yield LogPart(whole.rows(slice(first, last or None)) if first or last else whole, 0)
        return
    for part in _in_parts(path, read, declaration, how.topic, first, last):
        yield part if part.log is None else part._replace(log=in_order(part.log, arm))


def _others(path: Path, declaration: Declaration | None) -> list[Path]:
    """The other files that a log's channels name."""
    entries = () if declaration is None else declaration.channels.values()
    names = dict.fromkeys(entry.file for entry in entries if entry.file is not None)
    return [path.parent / name for name in names]


def _check_memory(files: Sequence[Path], room: int) -> None:
    """Refuse a log that is read whole and does not fit into memory."""
    need = _COPIES * sum(map(weight, files))
    if need > max(room, _SPARE):
        both = f"{math.ceil((BASE + need) / 1e6)}MB"
        what = "it and the files that its channels name are" if len(files) > 1 else "it is"
        raise InputError(
            f"{named(files[0])}: {what} read whole, which needs about {both}, memory is {(BASE + room) // 10**6}MB; "
            f"give memory='{both}', or save the log as one Parquet or CSV file, which is read in parts"
        )


def _in_parts(
    path: Path,
    read: InParts,
    declaration: Declaration | None,
    topic: str | None,
    first: int,
    last: int,
) -> Iterator[LogPart]:
    head: Table = {}
    columns: Collection[str] | None = None

    def choose(table: Table) -> Collection[str] | None:
        """What is declared of the columns, the others being left unread."""
        nonlocal declaration, head, columns
        if not length(table):
            raise FormatError(f"{named(path)}: holds no rows; export the log again")
        if declaration is None:
            hint = f"{path.with_suffix('.toml').name} beside it"
            declaration = recognise(named(path), table, hint)
        columns = columns_of(table, declaration)
        head = {
            k: x[:1] if x.ndim else x for k, x in table.items() if columns is None or k in columns
        }
        return columns

    before = first
    for table in table_parts(path, read, ROWS, first, last, choose, topic):
        assert declaration is not None
        rows = length(table)
        log = _part(path, table, head if before else {}, before, declaration)
        yield LogPart(log, rows)
        before += rows


def _below(head: np.ndarray, column: np.ndarray, rows: int) -> np.ndarray:
    """A column with the file's first row before it; single numbers stay as they are."""
    single = column.ndim == 0 or (len(column) == 1 and rows > 1)
    return column if single else np.concatenate([head, column])


def _part(
    path: Path, table: Table, head: Table, before: int, declaration: Declaration
) -> Log | None:
    """The log of some rows, whose time counts from the file's first row; None where all were left out."""
    source = named(path)
    extra, place = 0, before + (not head)  # of the table's first row
    if head:  # the first row goes along, because clocks of some units count from it
        extra = len(table_channels(source, head, declaration)["q"])
        rows = length(table)
        table = {name: _below(head[name], column, rows) for name, column in table.items()}
    try:
        channels = table_channels(source, table, declaration)
    except DynarmError as error:
        raise type(error)(f"{error} (counted from row {place} on)") from None
    whole = {name: channels.pop(name, None) for name in ("joint_names", "drives", "since")}
    dropped = channels.pop("dropped", 0)
    arrays = {name: value[extra:] for name, value in channels.items()}
    if declaration.rate is not None and before:
        arrays["t"] = arrays["t"] + (before - 1) / declaration.rate
    if len(arrays["q"]) < 2:
        return None
    try:
        return Log(**arrays, **whole, source=str(path), notes=left_out(dropped))
    except DynarmError as error:
        text = str(error) if source in str(error) else f"{source}: {error}"
        raise type(error)(f"{text} (counted from row {place} on)") from None


def later(log: Log, shift: int) -> Log:
    """The log with its times so many nanoseconds later."""
    return replace(log, t=earlier(log.t, shift)) if shift else log


def following(before: Log | None, log: Log, arm: Arm) -> Log:
    """A part of a recording, its encoders of one turn going on from the part before, unless there is a gap."""
    if before is None:
        return log
    last, q = before.split("q")[1][-1], log.split("q")[1]
    turns = np.where(turning(arm), turns_after(log.t, q, float(before.t[-1]), last), 0.0)
    return turned(log, turns) if turns.any() else log


def schema(log: Log) -> tuple[str, ...]:
    """What a log holds."""
    return tuple(name for name in STATES if getattr(log, name) is not None)


def joined(logs: Sequence[Log], source: str | None = None) -> Log:
    """Parts of one recording as one log; a time stamp that two of them hold is kept once."""
    first = logs[0]
    if len(logs) == 1:
        return first if source is None else replace(first, source=source)
    later = [0] + [_repeated(a, b) for a, b in pairwise(logs)]
    values: dict[str, Kept] = {
        name: np.concatenate([getattr(log, name)[k:] for log, k in zip(logs, later, strict=True)])
        for name in schema(first)
    }
    notes = of_parts(note for log in logs for note in log.notes)
    return replace(first, notes=notes, source=source or first.source, **values)


def continued(logs: Sequence[Log]) -> list[Log]:
    """The logs, those as one of which each begins where another has just ended, by the same clock."""
    moments = [log.since for log in logs if log.since is not None]
    if len(logs) < 2 or len({(schema(log), log.joint_names) for log in logs}) > 1:
        return list(logs)
    if moments and len(moments) < len(logs):
        return list(logs)
    ticks = [int((m - min(moments)).astype("m8[ns]").astype(int)) for m in moments]
    shifted = [later(log, k) for log, k in zip(logs, ticks or [0] * len(logs), strict=True)]
    shifted.sort(key=lambda log: float(log.t[0]))
    groups = [[shifted[0]]]
    for log in shifted[1:]:
        last = groups[-1][-1]
        if 0 <= log.t[0] - last.t[-1] <= gap_of(last):
            groups[-1].append(log)
        else:
            groups.append([log])
    if len(groups) == len(logs):
        return list(logs)
    return [_one(group, min(moments, default=None)) for group in groups]


def _one(logs: Sequence[Log], since: np.datetime64 | None) -> Log:
    """Logs that go on from one to the next as one, whose times count from a moment."""
    more = f" and {len(logs) - 1} more" if len(logs) > 1 else ""
    return replace(joined(logs, f"{logs[0].source}{more}"), since=since)


def _repeated(first: Log, second: Log) -> int:
    """1 where the second part begins with the time stamp that the first ends with, else 0."""
    if second.t[0] < first.t[-1]:
        raise InputError(
            f"{second.source}: begins at {second.t[0]:.6g} s, {first.source} ends at {first.t[-1]:.6g} s: their times "
            "overlap; cut one of them"
        )
    return int(second.t[0] == first.t[-1])
