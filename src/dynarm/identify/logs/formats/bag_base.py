"""Joint states of a ROS 2 bag in SQLite (.db3). A base is a program: only its two tables are read, and not for ever.

A bag whose messages have no index by time is sorted by SQLite, in a temporary file where it is large.
"""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from ....border.files import named, room, size_of
from ....errors import FileError, FormatError
from .joint_states import JointTopic, Message, blocks, chosen_topic, columns, look, whole
from .table import Table

_STEPS = 100_000  # of SQLite's machine between two looks at the budget
_LONGEST = 64 << 20  # bytes of a cell
_MOST_TOPICS = 10_000
_TABLES = ("topics", "messages", "sqlite_master", "sqlite_schema")


def read_db3(path: Path, topic: str | None = None) -> Table:
    """The joint states by column, of the given topic where there are several."""
    size = size_of(path)
    with _opened(path, size) as base:
        return whole(path, _messages(path, base, topic), room(size))


def look_db3(path: Path, topic: str | None = None) -> JointTopic:
    """What all joint states of a bag of any size hold."""
    size = size_of(path, sys.maxsize)
    with _opened(path, size) as base:
        return look(path, blocks(path, _messages(path, base, topic), room(size)))


def db3_tables(
    path: Path, topic: str | None, held: JointTopic, first: int = 0
) -> Generator[Table, None, None]:
    """The columns of the joint states from number `first` on, some at a time."""
    size = size_of(path, sys.maxsize)
    with _opened(path, size) as base:
        messages = _messages(path, base, topic, first)
        for block in blocks(path, messages, room(size), held.names, first):
            yield columns(held, block)


@contextmanager
def _opened(path: Path, size: int) -> Iterator[sqlite3.Connection]:
    """The base, fenced in; what goes wrong in it is told of the file."""
    _check_journal(path)
    budget = [500 + size // 1000]  # looks: a row costs some dozen steps and no fewer bytes

    def spent() -> bool:
        budget[0] -= 1
        return budget[0] < 0

    # as_uri quotes ? and %, with which a path would name another file
    uri = f"{path.absolute().as_uri()}?mode=ro&immutable=1"
    try:
        with closing(sqlite3.connect(uri, uri=True)) as base:
            base.execute("pragma trusted_schema = off")
            base.execute("pragma cell_size_check = on")
            base.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST)
            base.set_authorizer(_may)
            base.set_progress_handler(spent, _STEPS)
            yield base
    except sqlite3.Error as error:
        if budget[0] < 0:
            raise FormatError(
                f"{named(path)}: takes more steps to read than a bag of its size; record it again"
            ) from None
        raise FormatError(
            f"{named(path)}: damaged or not a .db3 file ({named(str(error))}); export the log again"
        ) from None


def _may(action: int, first: str | None, *rest: str | None) -> int:
    """SELECT from the two tables themselves; no views, no functions of theirs, no recursion, no pragmas."""
    reads = action == sqlite3.SQLITE_READ and first in _TABLES and rest[-1] is None
    plain = action == sqlite3.SQLITE_SELECT and rest[-1] is None
    return sqlite3.SQLITE_OK if reads or plain else sqlite3.SQLITE_DENY


def _messages(
    path: Path, base: sqlite3.Connection, topic: str | None, first: int = 0
) -> Iterator[Message]:
    """The joint states' topic's messages by time, from number `first` on."""
    for name in ("topics", "messages"):
        kinds = base.execute(
            "select type, rootpage from sqlite_master where name = ?", (name,)
        ).fetchall()
        if len(kinds) != 1 or kinds[0][0] != "table" or not kinds[0][1]:
            what = f"a {kinds[0][0]}" if kinds else "missing"
            raise FormatError(
                f"{named(path)}: '{name}' should be a table and is {named(what)}; no ROS 2 bag is made so"
            )
    topics = base.execute("select id, name, type from topics").fetchmany(_MOST_TOPICS)
    chosen = chosen_topic(path, topics, topic)
    rows = base.execute(
        "select timestamp, data from messages where topic_id = ? order by timestamp, id limit -1 offset ?",
        (chosen, first),
    )
    for number, (stamp, data) in enumerate(rows, first + 1):
        if not isinstance(stamp, int):
            raise FormatError(f"{named(path)}: message {number} has no time stamp; record it again")
        yield stamp, data


def _check_journal(path: Path) -> None:
    """A bag that was not closed keeps its last messages in a second file, which is not read."""
    journal = Path(f"{path}-wal")
    try:
        pending = journal.is_file() and journal.stat().st_size > 0
    except OSError:
        return
    if pending:
        raise FileError(
            f"{named(journal)} holds messages that are not in the bag yet; close the bag, or run: "
            f"sqlite3 {named(path.name)} 'pragma wal_checkpoint(truncate)'"
        )
