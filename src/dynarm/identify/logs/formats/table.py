"""A log file's columns and arrays by name, and the bounds that every format keeps."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from ....border.files import named
from ....errors import FormatError

Table = dict[str, np.ndarray]  # name -> (N,) column or (N, k) array; what holds no numbers is text
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
