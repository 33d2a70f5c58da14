"""ROS 2 bags: a .db3 file, alone or the only one in its folder, by our own reader; all else by the rosbags package.

Of a bag in parts all messages are looked through once (`joint_states.look`); what they hold is remembered while the
files stay the same.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Generator, Iterable, Iterator
from pathlib import Path

from ....border.files import is_folder, named, size_of
from ....errors import FileError
from .apart import bag_size, bag_tables, look_bag
from .apart import read_bag as read_packed
from .bag_base import db3_tables, look_db3, read_db3
from .joint_states import JointTopic
from .table import Choose, InParts, Table, regrouped

_REMEMBERED = 256  # bags

Version = tuple[tuple[str, int, int], ...]  # of each file: name, bytes, time of the last change


def read_bag(path: Path, topic: str | None = None) -> Table:
    """The joint states of a bag."""
    base = _base(path)
    return read_packed(path, topic) if base is None else read_db3(base, topic)


def bag_parts(
    path: Path, rows: int, first: int, last: int, choose: Choose, topic: str | None
) -> Generator[Table, None, None]:
    """The columns of a bag of any size from row `first` to `last` (0: all), `rows` rows each."""
    held = _held(path, topic)
    base = _base(path)
    read = bag_tables if base is None else db3_tables
    tables = read(base or path, topic, held, first)
    wanted = (last or held.rows) - first
    yield from regrouped(_chosen(tables, held.head, choose), rows, wanted)


def _chosen(tables: Iterable[Table], head: Table, choose: Choose) -> Iterator[Table]:
    columns = choose(head)
    for table in tables:
        yield {k: x for k, x in table.items() if columns is None or k in columns}


def _base(path: Path) -> Path | None:
    """The only .db3 file of a bag; None where it is none or one of several."""
    if not is_folder(path):
        return path if path.suffix.lower() == ".db3" else None
    inside = sorted(path.glob("*.db3"))
    if not inside and not (path / "metadata.yaml").is_file():
        raise FileError(
            f"{named(path)} is a folder and no ROS 2 bag (no metadata.yaml, no .db3); give a log's file"
        )
    return inside[0] if len(inside) == 1 else None


def _weight(path: Path) -> int:
    """Bytes of a bag's files."""
    base = _base(path)
    return bag_size(path) if base is None else size_of(base, sys.maxsize)


def _held(path: Path, topic: str | None) -> JointTopic:
    """What all joint states of a bag hold."""
    files = sorted(path.iterdir()) if is_folder(path) else [path]
    states = [(str(file), file.stat()) for file in files]
    return _looked(path, topic, tuple((name, s.st_size, s.st_mtime_ns) for name, s in states))


@functools.lru_cache(_REMEMBERED)
def _looked(path: Path, topic: str | None, version: Version) -> JointTopic:
    base = _base(path)
    return look_bag(path, topic) if base is None else look_db3(base, topic)


BAGS = InParts(bag_parts, _weight)
