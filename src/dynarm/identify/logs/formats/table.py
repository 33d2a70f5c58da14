"""A log file's columns and arrays by name, and the bounds that every format keeps."""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np

from ....border.files import named
from ....errors import FormatError

Table = dict[str, np.ndarray]  # name -> (N,) column or (N, k) array; what holds no numbers is text
# of the first rows' table: the columns that are read
Choose = Callable[[Table], Collection[str] | None]
MOST_COLUMNS = 10_000
LONGEST_NAME = 300


def text_column(says: str, rows: int = 1) -> np.ndarray:
    """(rows,) of one text, which says what stands there instead of numbers; it takes no memory by the row."""
    return np.broadcast_to(np.array(says), (rows,))


def check_names(path: Path | str, names: Iterable[str]) -> None:
    """Refuse more columns than a log has, names that nobody wrote, and names that stand for two."""
    seen: set[str] = set()
    for name in names:
        if len(name) > LONGEST_NAME:
            raise FormatError(
                f"{named(path)}: a column's name has {len(name)} letters; at most {LONGEST_NAME} are read"
            )
        if name in seen:
            raise FormatError(f"{named(path)}: two columns are called '{named(name)}'; rename one")
        seen.add(name)
    if len(seen) > MOST_COLUMNS:
        raise FormatError(
            f"{named(path)}: has {len(seen)} columns; at most {MOST_COLUMNS} are read; leave out those not needed"
        )


def check_room(path: Path, needed: int, room: int) -> None:
    """Refuse what unpacks to more than a recording of this size would."""
    if needed > room:
        raise FormatError(
            f"{named(path)}: unpacks to {needed} bytes or more, at most {room} are read from a file of its size; "
            "save it without compression, or in parts"
        )


def listed(names: Iterable[str]) -> str:
    """The names, not too many, on one line."""
    all_names = list(names)
    shown = ", ".join(named(name) for name in all_names[:30])
    return shown + (f" and {len(all_names) - 30} more" if len(all_names) > 30 else "")


# ---- files of any size, some of their rows at a time


class Parts(Protocol):
    """The chosen columns from row `first` to `last` (0: all), `rows` rows a table; the last may have half more."""

    def __call__(
        self, path: Path, rows: int, first: int, last: int, choose: Choose, topic: str | None
    ) -> Generator[Table, None, None]: ...


@dataclass(frozen=True, slots=True)
class InParts:
    """How files of a format are read some of their rows at a time.

    weight: bytes of a file's numbers; groups: how many rows each of its groups has, where it has some; always: whether
    small files are read so too.
    """

    parts: Parts
    weight: Callable[[Path], int]
    groups: Callable[[Path], list[int]] | None = None
    always: bool = False


def edges(total: int, rows: int) -> list[int]:
    """Between which rows the parts of so many rows lie; the last has up to half more."""
    return [*range(0, max(total - rows // 2, 0) + 1, rows), total] if total > rows else [0, total]


def length(table: Table) -> int:
    """The rows of a table, beside which single numbers may stand."""
    return max((len(column) for column in table.values() if column.ndim), default=0)


def some_rows(table: Table, low: int, high: int) -> Table:
    """The table of its rows from low to high."""
    return {name: column[low:high] for name, column in table.items()}


def together(tables: list[Table]) -> Table:
    """Tables of the same columns, one below the other."""
    if len(tables) == 1:
        return tables[0]
    return {name: np.concatenate([table[name] for table in tables]) for name in tables[0]}


def regrouped(tables: Iterable[Table], rows: int, wanted: int) -> Generator[Table, None, None]:
    """The first `wanted` rows of tables of whatever length, `rows` rows each; the last may have half more."""
    held: list[Table] = []
    count = 0
    for table in tables:
        held.append(table)
        count += length(table)
        while count >= rows + rows // 2 and wanted >= rows + rows // 2:
            whole = together(held)
            yield some_rows(whole, 0, rows)
            held, count, wanted = [some_rows(whole, rows, count)], count - rows, wanted - rows
        if count >= wanted:
            break
    if held and min(count, wanted) > 0:
        yield some_rows(together(held), 0, min(count, wanted))
