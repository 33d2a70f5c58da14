"""Every estimator by its name. To add one: a file here that ends in ESTIMATOR, and its name in the list.

Files are loaded when their estimator is asked for, so that names alone (the command line's help) cost nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING

from ...border.arguments import among
from ...errors import UnknownName

if TYPE_CHECKING:
    from .estimator import Estimator

_TABLE: dict[str, Estimator | None] = dict.fromkeys(("ols", "wls", "irls", "iv", "recursive"))


def names() -> tuple[str, ...]:
    """The words that `estimator` may be."""
    return tuple(_TABLE)


def choices() -> str:
    """The same in a sentence: "a, b or c"."""
    *first, last = names()
    return f"{', '.join(first)} or {last}"


def named(name: str) -> Estimator:
    """The estimator of a name."""
    if not among(name, names()):
        raise UnknownName("estimator", name, names())
    estimator = _TABLE[name]
    if estimator is None:
        estimator = _TABLE[name] = _loaded(name)
    return estimator


def _loaded(name: str) -> Estimator:
    estimator: Estimator = import_module(f".{name}", __package__).ESTIMATOR
    return estimator


@contextmanager
def added(name: str, estimator: Estimator) -> Iterator[None]:
    """One more estimator, or another of a name, for as long as the context lasts."""
    before = dict(_TABLE)
    _TABLE[name] = estimator
    try:
        yield
    finally:
        _TABLE.clear()
        _TABLE.update(before)
