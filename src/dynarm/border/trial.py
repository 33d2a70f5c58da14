"""Tables of things that can be added, and how a new one is tried in them before it gets its row."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from typing import TypeVar

Record = TypeVar("Record")


@contextmanager
def on_trial(table: MutableMapping[str, Record], more: Mapping[str, Record]) -> Iterator[None]:
    """Inside, the further records stand in the table as well, or in the place of those of their names."""
    before = {name: table[name] for name in more if name in table}
    table.update(more)
    try:
        yield
    finally:
        for name in more:
            del table[name]
        table.update(before)
