"""Which recording is of which robot: from a key in the files' paths, a column in them, their folders, or as told."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from ...border.arguments import shown
from ...border.files import named
from ...border.kinds import Kept, Outside
from ...errors import DynarmError, InputError
from ...robot.arm import Arm
from ..dataset.files import BASE, Dataset, dataset_of
from ..dataset.holding import COPIES
from ..dataset.parts import ROWS
from ..logs.formats.table import Table
from ..logs.log import Log
from ..logs.readers import parted, read_table, table_parts, weight
from ..logs.sources import is_frame, logs_of

FOLDER = "folder"  # by: the folder that a file lies in
FILE = "file"  # by: every file is a robot of its own


@dataclass(frozen=True, slots=True)
class File:
    """A log's file, and how it is read."""

    path: Path
    channels: Kept = None
    topic: str | None = None

    @property
    def how(self) -> tuple[Kept, str | None]:
        return self.channels, self.topic

    def absolute(self) -> File:
        """The same by a name that holds wherever a worker stands."""
        return replace(self, path=self.path.absolute())


Source = File | Log
Groups = dict[str, list[Source]]
WANTED = "a folder or pattern of logs, a dynarm.Dataset, a DataFrame, or a dict {robot: its logs}"
_LONGEST = 100  # letters of a robot's name
_DAY = re.compile(r"(?:day|date)=(\d{4}-\d{2}-\d{2})", re.IGNORECASE)
_HOUR = re.compile(r"hour=(\d{1,2})", re.IGNORECASE)


def grouped(data: Outside, by: str, arm: Arm) -> Groups:
    """The recordings of each robot, robots in order of their first file."""
    if isinstance(data, Mapping):
        return {_name(robot): list(_told(robot, own, arm)) for robot, own in data.items()}
    if is_frame(data):
        return _of_frame(data, by, arm)
    dataset = dataset_of(data)
    if dataset is None:
        raise InputError(f"data is {shown(data)}; give {WANTED}")
    groups: Groups = {}
    held: list[Path] = []
    for path in dataset.files():
        for robot, source in _of_file(path, by, dataset, arm, held):
            groups.setdefault(robot, []).append(source)
    return groups


def _name(robot: Outside) -> str:
    text = str(robot).strip()
    if not text or len(text) > _LONGEST:
        raise InputError(
            f"a robot is called {shown(robot)}; give it a name of 1 to {_LONGEST} letters"
        )
    return named(text)


def _told(robot: Outside, own: Outside, arm: Arm) -> Iterator[Source]:
    """What a dict holds of one robot."""
    dataset = dataset_of(own)
    if dataset is not None:
        yield from (File(path, dataset.channels, dataset.topic) for path in dataset.files())
        return
    several = own if isinstance(own, (list, tuple)) else [own]
    for one in several:
        if isinstance(one, (str, Path)):
            yield File(Path(one))
        else:
            try:
                yield from logs_of(one, arm)
            except DynarmError as error:
                raise type(error)(f"robot {_name(robot)}: {error}") from None


def _of_frame(frame: Outside, by: str, arm: Arm) -> Groups:
    if by not in frame.columns:
        raise InputError(
            f"the DataFrame has no column '{named(by)}'; it has {named(', '.join(map(str, frame.columns[:20])))}"
        )
    return {
        _name(robot): [Log.from_frame(rows.drop(columns=by), arm)]
        for robot, rows in frame.groupby(by, sort=False)
    }


def _of_file(
    path: Path, by: str, dataset: Dataset, arm: Arm, held: list[Path]
) -> Iterator[tuple[str, Source]]:
    """The robots of a file, and their part of it. held: files whose rows are in memory, to which this one may come."""
    file, key = File(path, dataset.channels, dataset.topic), path_key(path, by)
    if key is not None:
        yield _name(key), file
    elif by == FOLDER:
        yield _name(path.parent.name or path.parent.absolute().name), file
    elif by == FILE:
        yield _name(path.stem), file
    elif len(names := _labels(path, by, dataset.topic)) == 1:
        yield _name(names[0]), file
    else:
        held.append(path)
        _check_memory(held, by, dataset)
        yield from _by_column(path, by, dataset, arm)


def path_key(path: Path, key: str) -> str | None:
    """The value of key=value among a path's folders, as partitioned datasets write it; None: there is none."""
    for part in path.parts:
        name, equals, value = part.partition("=")
        if equals and name == key:
            return value
    return None


def _labels(path: Path, by: str, topic: str | None) -> list[str]:
    """The robots that a column of the file names."""

    def wanted(table: Table) -> set[str]:
        if by not in table or table[by].ndim != 1:
            raise InputError(
                f"{named(path)}: neither a folder {named(by)}=... nor a column '{named(by)}' says whose log it is; "
                f"give by='{FOLDER}' or by='{FILE}', or a dict {{robot: its logs}}"
            )
        return {by}

    read = parted(path)
    if read is None:
        table = read_table(path, topic)
        wanted(table)
        return list(dict.fromkeys(map(str, table[by].tolist())))
    names: dict[str, None] = {}
    for table in table_parts(path, read, ROWS, 0, 0, wanted, topic):
        names |= dict.fromkeys(map(str, table[by].tolist()))
    return list(names)


def _check_memory(held: Sequence[Path], by: str, dataset: Dataset) -> None:
    """Refuse files of several robots each that do not fit into memory together."""
    need = COPIES * sum(map(weight, held))
    if need > dataset.room:
        both = f"{math.ceil((BASE + need) / 1e6)}MB"
        raise InputError(
            f"{named(held[-1])}: column '{named(by)}' names several robots, which are held in memory and need about "
            f"{both}, memory is {(BASE + dataset.room) // 10**6}MB; give memory='{both}', or save each robot's rows as "
            f"files of its own, in folders {named(by)}=..."
        )


def _by_column(path: Path, by: str, dataset: Dataset, arm: Arm) -> Iterator[tuple[str, Source]]:
    """The robots that a column of the file names, each with its rows."""
    import pandas as pd

    table = read_table(path, dataset.topic)
    labels = np.array([str(label) for label in table[by].tolist()])
    for robot in dict.fromkeys(labels.tolist()):
        rows = {
            name: list(column[labels == robot]) if column.ndim > 1 else column[labels == robot]
            for name, column in table.items()
            if name != by
        }
        yield _name(robot), Log.from_frame(pd.DataFrame(rows), arm, dataset.channels)


def day_of(source: Source) -> float | None:
    """When a file was recorded [s since 1970, UTC], where its path says day=... and maybe hour=...."""
    text = str(source.path) if isinstance(source, File) else source.source
    day, hour = _DAY.search(text), _HOUR.search(text)
    if day is None:
        return None
    try:
        date = datetime.strptime(day.group(1), "%Y-%m-%d").replace(tzinfo=UTC)
    except ValueError:
        return None
    return date.timestamp() + (3600.0 * (int(hour.group(1)) % 24) if hour else 0.0)
