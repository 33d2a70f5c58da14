"""Parquet files and packed bags, read by another process: their readers are compiled code of others.

The child (`child.py`) may crash, run out of memory or never end; what comes back is a line of JSON and plain bytes,
which are checked like a stranger's file. See docs/decisions/0013-files-of-strangers.md.
"""

from __future__ import annotations

import json
import math
import os
import sys
import threading
from collections.abc import Callable, Collection, Generator
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import IO

import numpy as np

from ....border.apart import REFUSED, started
from ....border.extras import extra
from ....border.files import LARGEST, is_folder, named, room, size_of
from ....border.kinds import Foreign, Json
from ....errors import FormatError
from .table import Table, check_names, check_room, text_column

# of the first rows' table: the columns that are read
Choose = Callable[[Table], Collection[str] | None]

_HEADER = 16 << 20  # bytes of the line of JSON
_PATIENCE = 60.0  # seconds, and
_PACE = 1e6  # bytes of the file for one more
_MODULE = "dynarm.identify.logs.formats.child"
_INSTEAD = "; read it with pandas and give Log.from_frame"


def read_parquet(path: Path) -> Table:
    """The columns of a Parquet file."""
    _check_pyarrow(path)
    return _read("parquet", path, size_of(path))


def _check_pyarrow(path: Path) -> None:
    if find_spec("pyarrow") is None:
        raise FormatError(
            f"{named(path)}: Parquet files need the package pyarrow; {extra('parquet')}, or convert the log to .csv"
        )


def parquet_groups(path: Path) -> list[int]:
    """How many rows each row group of a Parquet file has."""
    _check_pyarrow(path)
    size = min(size_of(path, sys.maxsize), LARGEST)
    return [int(rows) for rows in _read("parquet_groups", path, size)["rows"]]


def parquet_parts(
    path: Path, rows: int, first: int = 0, last: int = 0, choose: Choose | None = None
) -> Generator[Table, None, None]:
    """The columns of a Parquet file of any size, `rows` rows at a time, from row `first` to `last` (0: all).

    choose: which columns, told by the first rows' table; of the others no more than those rows is read. The child
    waits while a part is being worked on, so no more than two parts are held.
    """
    _check_pyarrow(path)
    size = size_of(path, sys.maxsize)
    most = room(min(size, LARGEST))
    arguments = ("parquet_parts", str(path.absolute()), str(most), *map(str, (rows, first, last)))
    with started(_MODULE, arguments, named(path), _INSTEAD, asking=True) as child:
        try:
            assert child.stdin is not None
            table, late = _timely(path, child, size, most)
            if table:
                wanted = None if choose is None else choose(table)
                with suppress(OSError):  # it has ended, which the next reading finds
                    child.stdin.write(json.dumps(wanted and sorted(wanted)).encode() + b"\n")
                    child.stdin.flush()
            while table:
                table, late = _timely(path, child, size, most)
                if table:
                    yield table
        finally:
            child.kill()
    if table is None:
        raise _broken_off(path, child.returncode, late)


def _timely(path: Path, child: Foreign, size: int, most: int) -> tuple[Table | None, bool]:
    """What the child sends next, None where it broke off, and whether it took too long."""
    assert child.stdout is not None
    end = threading.Timer(_PATIENCE + min(size, LARGEST) / _PACE, child.kill)
    end.start()
    try:
        return _received(path, child.stdout, most), not end.is_alive()
    finally:
        end.cancel()


def read_bag(path: Path, topic: str | None = None) -> Table:
    """The joint states of a bag that is a folder, or of one that is no .db3 file, by the rosbags package."""
    if find_spec("rosbags") is None or find_spec("rosbags.highlevel") is None:
        raise FormatError(
            f"{named(path)}: this kind of ROS 2 bag needs the package rosbags; {extra('bags')}, or convert "
            "the bag to .db3"
        )
    if not is_folder(path):
        return _read("bag", path, size_of(path), topic)
    with os.scandir(path) as entries:
        inside = [entry for entry, _ in zip(entries, range(10_000), strict=False)]
    size = sum(size_of(Path(entry.path)) for entry in inside if not entry.is_dir())
    return _read("bag", path, size, topic)


def _read(what: str, path: Path, size: int, topic: str | None = None) -> Table:
    most = room(size)
    chosen = () if topic is None else (topic,)
    arguments = (what, str(path.absolute()), str(most), *chosen)
    with started(_MODULE, arguments, named(path), _INSTEAD) as child:
        try:
            table, late = _timely(path, child, size, most)
        finally:
            child.kill()
    if table is not None:
        return table
    raise _broken_off(path, child.returncode, late)


def _broken_off(path: Path, code: int, late: bool) -> FormatError:
    if late:
        return FormatError(f"{named(path)}: takes too long to read; save it in parts")
    return FormatError(
        f"{named(path)}: damaged, its reader broke off (code {code}); export the log again"
    )


def _received(path: Path, stream: IO[bytes], most: int) -> Table | None:
    """What the child sent; None where it broke off."""
    line = stream.readline(_HEADER)
    if not line.endswith(b"\n"):
        return None
    head: Json = json.loads(line)
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
            return None
        table[column["name"]] = np.frombuffer(data, dtype).reshape(shape)
    return table
