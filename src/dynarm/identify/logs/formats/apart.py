"""Parquet files and packed bags, read by another process: their readers are compiled code of others.

The child (`child.py`) may crash, run out of memory or never end; what comes back are lines of JSON and plain bytes,
which are checked like a stranger's file. One that answered goes on with the next file. See
docs/decisions/0013-files-of-strangers.md.
"""

from __future__ import annotations

import json
import math
import os
import sys
import threading
from collections.abc import Generator, Iterator
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import IO

import numpy as np

from ....border.apart import OVER, REFUSED, lent
from ....border.extras import extra
from ....border.files import LARGEST, is_folder, named, room, size_of
from ....border.kinds import Foreign, Json, Outside
from ....errors import FormatError
from .joint_states import JointTopic, held_of
from .table import Choose, InParts, Table, check_names, check_room, text_column

_HEADER = 16 << 20  # bytes of the line of JSON
_PATIENCE = 60.0  # seconds, and
_PACE = 1e6  # bytes of the file for one more
_MODULE = "dynarm.identify.logs.formats.child"
_INSTEAD = "; read it with pandas and give Log.from_frame"


class _BrokeOff(Exception):
    """The child ended before its answer did: by itself, or because it took too long."""

    def __init__(self, late: bool = False):
        super().__init__()
        self.late = late


def read_parquet(path: Path) -> Table:
    """The columns of a Parquet file."""
    _check_pyarrow(path)
    return _first(_answers(path, size_of(path), "parquet"))


def _check_pyarrow(path: Path) -> None:
    if find_spec("pyarrow") is None:
        raise FormatError(
            f"{named(path)}: Parquet files need the package pyarrow; {extra('parquet')}, or convert the log to .csv"
        )


def parquet_groups(path: Path) -> list[int]:
    """How many rows each row group of a Parquet file has."""
    _check_pyarrow(path)
    counts = _first(_answers(path, size_of(path, sys.maxsize), "parquet_groups"))["rows"]
    return [int(rows) for rows in counts]


def parquet_parts(
    path: Path,
    rows: int,
    first: int = 0,
    last: int = 0,
    choose: Choose | None = None,
    topic: str | None = None,
) -> Generator[Table, None, None]:
    """The columns of a Parquet file of any size, `rows` rows at a time, from row `first` to `last` (0: all).

    choose: which columns, told by the first rows' table; of the others no more than those rows is read. The child
    waits while a part is being worked on, so no more than two parts are held.
    """
    _check_pyarrow(path)
    what = ("parquet_parts", rows, first, last)
    yield from _answers(path, size_of(path, sys.maxsize), *what, choose=choose or (lambda _: None))


PARQUET = InParts(
    parquet_parts, lambda path: size_of(path, sys.maxsize), parquet_groups, always=True
)


# ---- bags


def read_bag(path: Path, topic: str | None = None) -> Table:
    """The joint states of a bag that is a folder, or of one that is no .db3 file, by the rosbags package."""
    return _first(_answers(path, bag_size(path, LARGEST), "bag", topic))


def look_bag(path: Path, topic: str | None = None) -> JointTopic:
    """What all joint states of such a bag of any size hold."""
    about, head = _answers(path, bag_size(path), "bag_look", topic)
    return held_of((array.tolist() for array in about.values()), head)


def bag_tables(path: Path, topic: str | None, held: JointTopic, first: int = 0) -> Iterator[Table]:
    """The columns of such a bag from message `first` on, some at a time."""
    return _answers(path, bag_size(path), "bag_tables", topic, held[:-1], first)


def bag_size(path: Path, most: int = sys.maxsize) -> int:
    """Bytes of the files of a bag."""
    if find_spec("rosbags") is None or find_spec("rosbags.rosbag2") is None:
        raise FormatError(
            f"{named(path)}: this kind of ROS 2 bag needs the package rosbags; {extra('bags')}, or convert "
            "the bag to .db3"
        )
    if not is_folder(path):
        return size_of(path, most)
    with os.scandir(path) as entries:
        inside = [entry for entry, _ in zip(entries, range(10_000), strict=False)]
    return sum(size_of(Path(entry.path), most) for entry in inside if not entry.is_dir())


# ---- what the child is asked, and what it sends


def _first(tables: Iterator[Table]) -> Table:
    """The one table of an answer, which is read to its end."""
    (table,) = tables
    return table


def _answers(
    path: Path, size: int, what: str, *more: Outside, choose: Choose | None = None
) -> Generator[Table, None, None]:
    """The tables that the child sends of a file; choose: upon the first one it is told which columns are wanted."""
    most = room(min(size, LARGEST))
    try:
        with lent(_MODULE, named(path), _INSTEAD) as one:
            _ask(one.child, [what, str(path.absolute()), most, *more])
            while (table := _timely(path, one.child, size, most)) is not None:
                if choose is None:
                    yield table
                    continue
                wanted, choose = choose(table), None
                _ask(one.child, None if wanted is None else sorted(wanted))
            one.done = True
    except _BrokeOff as broken:
        raise _broken_off(path, one.child.returncode, broken.late) from None


def _ask(child: Foreign, line: Outside) -> None:
    with suppress(OSError):  # it has ended, which the next reading finds
        child.stdin.write(json.dumps(line).encode() + b"\n")
        child.stdin.flush()


def _timely(path: Path, child: Foreign, size: int, most: int) -> Table | None:
    """What the child sends next; None behind the last."""
    late = threading.Event()

    def stop() -> None:
        late.set()
        child.kill()

    end = threading.Timer(_PATIENCE + min(size, LARGEST) / _PACE, stop)
    end.start()
    try:
        return _received(path, child.stdout, most)
    except _BrokeOff:
        raise _BrokeOff(late.is_set()) from None
    finally:
        end.cancel()


def _broken_off(path: Path, code: int, late: bool) -> FormatError:
    if late:
        return FormatError(f"{named(path)}: takes too long to read; save it in parts")
    return FormatError(
        f"{named(path)}: damaged, its reader broke off (code {code}); export the log again"
    )


def _received(path: Path, stream: IO[bytes], most: int) -> Table | None:
    """What the child sent; None behind the last."""
    line = stream.readline(_HEADER)
    if not line.endswith(b"\n"):
        raise _BrokeOff
    head: Json = json.loads(line)
    if OVER in head:
        return None
    if REFUSED in head:
        raise FormatError(f"{named(path)}: {head[REFUSED]}")
    check_names(path, (column["name"] for column in head["columns"]))
    table: Table = {}
    for column in head["columns"]:
        if "says" in column:
            table[column["name"]] = text_column(column["says"], column["rows"])
            continue
        dtype, shape = np.dtype(column["dtype"]), tuple(column["shape"])
        size = dtype.itemsize * math.prod(shape)
        most -= size
        check_room(path, -most, 0)
        data = stream.read(size)
        if len(data) != size:
            raise _BrokeOff
        table[column["name"]] = np.frombuffer(data, dtype).reshape(shape)
    return table
