"""Every estimator by its name: that of its file in `methods/`, which ends in ESTIMATOR. To add one, add the file.

Files are loaded when their estimator is asked for, so that names alone (the command line's help) cost nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING

from ...border.arguments import among
from ...border.trial import on_trial
from ...errors import UnknownName
from . import methods

if TYPE_CHECKING:
    from .estimator import Estimator

# the order in which they are told, others behind them
_USUAL = (
    "ols",
    "wls",
    "irls",
    "iv",
    "recursive",
)


def _files() -> tuple[str, ...]:
    """The names of the files in `methods/`, none of which is loaded."""
    there = {module.name for module in iter_modules(methods.__path__)}
    return (*(name for name in _USUAL if name in there), *sorted(there - set(_USUAL)))


_TABLE: dict[str, Estimator | None] = dict.fromkeys(_files())


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
    estimator: Estimator = import_module(f".{name}", methods.__name__).ESTIMATOR
    return estimator


@contextmanager
def added(name: str, estimator: Estimator) -> Iterator[None]:
    """One more estimator, or another of a name, for as long as the context lasts."""
    with on_trial(_TABLE, {name: estimator}):
        yield
