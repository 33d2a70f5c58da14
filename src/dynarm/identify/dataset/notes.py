"""Warnings about many files as few lines: heard while they are read, then said once each kind."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from ...errors import DynarmWarning
from ..logs.noted import noted


@contextmanager
def heard(told: list[tuple[str, str]]) -> Iterator[None]:
    """Warnings of ours are put into a list of (source, text) while it lasts; others are passed on."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", DynarmWarning)
        yield
    for one in caught:
        if issubclass(one.category, DynarmWarning):
            source, sign, text = str(one.message).partition(": ")
            told.append((source, text) if sign else ("log", source))
        else:
            warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)


def say(told: Sequence[tuple[str, str]]) -> None:
    """Warn about what was heard, each kind of remark once."""
    by_source: dict[str, list[str]] = {}
    for source, text in told:
        by_source.setdefault(source, []).append(text)
    for line in noted(by_source.items()):
        warnings.warn(line, DynarmWarning, stacklevel=4)
