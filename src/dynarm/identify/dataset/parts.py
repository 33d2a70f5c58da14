"""A log's file as logs of some of its rows, one after the other; what is large is never held whole."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np

from ...border.files import named, size_of
from ...border.kinds import Kept, Outside
from ...errors import DynarmError, InputError
from ...robot.arm import Arm
from ..logs.channels import columns_of, table_channels
from ..logs.declaration import Declaration, load_declaration
from ..logs.formats.apart import parquet_groups, parquet_parts
from ..logs.formats.csv_parts import csv_parts, csv_rows, has_lines
from ..logs.formats.table import Table
from ..logs.log import Log, in_order
from ..logs.numbers import earlier
from ..logs.recognition import recognise

ROWS = 60_000  # of a part
PARQUET = (".parquet", ".pq")
CSV = (".csv", ".txt", ".tsv")
_LARGE = 32 << 20  # bytes of a CSV file that is read some of its rows at a time
STATES = ("t", "q", "qd", "qdd", "tau", "wrench", "reference", "q_command")


def is_parted(path: Path) -> bool:
    """Whether a file is read some of its rows at a time: Parquet, and CSV where it is large."""
    kind = path.suffix.lower()
    if kind in PARQUET:
        return True
    return kind in CSV and size_of(path, sys.maxsize) > _LARGE and has_lines(path)


def raw_rows(path: Path) -> list[int]:
    """How many rows the row groups of such a file have; a CSV file has one."""
    return parquet_groups(path) if path.suffix.lower() in PARQUET else [csv_rows(path)]


def edges(rows: int) -> list[int]:
    """Between which rows the parts of a Parquet file lie; the last has up to half more."""
    return [*range(0, max(rows - ROWS // 2, 0) + 1, ROWS), rows] if rows > ROWS else [0, rows]


def parts(
    path: Path, how: tuple[Outside, str | None], arm: Arm, first: int = 0, last: int = 0
) -> Iterator[Log]:
    """The log in a file part by part from its row `first` to `last` (0: all), joints in the arm's order.

    how: channels and topic, as for Log.read. Errors name the file.
    """
    for part in every_part(path, how, arm, first, last):
        if part is not None:
            yield part


def every_part(
    path: Path, how: tuple[Outside, str | None], arm: Arm, first: int = 0, last: int = 0
) -> Iterator[Log | None]:
    """The same, with None for parts whose rows are all left out."""
    channels, topic = how
    if not is_parted(path):
        whole = in_order(Log.read(path, channels, topic), arm)
        if first < len(whole):
            yield whole.rows(slice(first, None)) if first else whole
        return
    for part in _in_parts(path, channels, first, last):
        yield None if part is None else in_order(part, arm)


def _in_parts(path: Path, channels: Outside, first: int, last: int) -> Iterator[Log | None]:
    declaration = load_declaration(path, channels)
    elsewhere = () if declaration is None else declaration.channels.values()
    if any(entry.file is not None for entry in elsewhere):
        whole = Log.read(path, channels)
        if first < len(whole):
            yield whole.rows(slice(first, None)) if first else whole
        return
    head: Table = {}
    columns: Collection[str] | None = None

    def choose(table: Table) -> Collection[str] | None:
        """What is declared of the columns, the others being left unread."""
        nonlocal declaration, head, columns
        if declaration is None:
            hint = f"{path.with_suffix('.toml').name} beside it"
            declaration = recognise(named(path), table, hint)
        columns = columns_of(table, declaration)
        head = {k: x[:1] for k, x in table.items() if columns is None or k in columns}
        return columns

    before = first
    read = parquet_parts if path.suffix.lower() in PARQUET else csv_parts
    for table in read(path, ROWS, first, last, choose):
        assert declaration is not None
        rows = len(next(iter(table.values())))
        yield _part(path, table, head if before else {}, before, declaration)
        before += rows


def _part(
    path: Path, table: Table, head: Table, before: int, declaration: Declaration
) -> Log | None:
    """The log of some rows, whose time counts from the file's first row; None where all were left out."""
    source = named(path)
    extra = 0
    if head:  # the first row goes along, because clocks of some units count from it
        extra = len(table_channels(source, head, declaration)["q"])
        table = {name: np.concatenate([head[name], column]) for name, column in table.items()}
    try:
        channels = table_channels(source, table, declaration)
    except DynarmError as error:
        raise type(error)(f"{error} (rows from {before + 1} on)") from None
    whole = {name: channels.pop(name, None) for name in ("joint_names", "drives", "since")}
    dropped = channels.pop("dropped", 0)
    arrays = {name: value[extra:] for name, value in channels.items()}
    if declaration.rate is not None and before:
        arrays["t"] = arrays["t"] + (before - 1) / declaration.rate
    if len(arrays["q"]) < 2:
        return None
    notes = (f"{dropped} rows with missing numbers were left out",) if dropped else ()
    try:
        return Log(**arrays, **whole, source=str(path), notes=notes)
    except DynarmError as error:
        text = str(error) if source in str(error) else f"{source}: {error}"
        raise type(error)(f"{text} (rows from {before + 1} on)") from None


def later(log: Log, shift: int) -> Log:
    """The log with its times so many nanoseconds later."""
    return replace(log, t=earlier(log.t, shift)) if shift else log


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
    notes = tuple(dict.fromkeys(note for log in logs for note in log.notes))
    return replace(first, notes=notes, source=source or first.source, **values)


def _repeated(first: Log, second: Log) -> int:
    """1 where the second part begins with the time stamp that the first ends with, else 0."""
    if second.t[0] < first.t[-1]:
        raise InputError(
            f"{second.source}: begins at {second.t[0]:.6g} s, {first.source} ends at {first.t[-1]:.6g} s: their times "
            "overlap; cut one of them"
        )
    return int(second.t[0] == first.t[-1])
