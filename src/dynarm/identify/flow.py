"""Stretches of motion that are made when they are asked for, and made again when they are asked for again.

A fit folds them as they come and keeps an excerpt, from the middle of each, for all that looks at samples.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Protocol

import numpy as np

from ..border.kinds import Kept
from .preprocess import Preparation, Stretch

if TYPE_CHECKING:
    from .estimators.factors import Factors, Tick, Weigh
    from .regressor import Terms

ENOUGH = 200_000  # samples that residuals are looked at in
_FEWEST = 64  # of them in a stretch


class Away(Protocol):
    """Where stretches of a flow are made and folded by other processes."""

    def fold(
        self, terms: Terms, how: Preparation, weigh: Weigh | None, blocks: int, tick: Tick | None
    ) -> Factors:
        """The factors of all rows, as `factors.fold` of the flow gives them."""

    def excerpts(self) -> list[Stretch] | None:
        """An excerpt of all stretches, kept from a fold; None where there was none yet."""

    def mapped(self, change: Callable[[Stretch], Stretch]) -> Away:
        """The same stretches, each changed."""


class Flow:
    """Stretches in order, `rows` samples in all, which no one holds at once.

    apart: whether rows of one run are never folded together with those of another; runs are few then.
    """

    def __init__(
        self,
        make: Callable[[], Iterator[Stretch]],
        rows: int,
        away: Away | None = None,
        apart: bool = False,
    ):
        self._make = make
        self.rows = rows
        self.away = away
        self.apart = apart
        self._seen: list[Stretch] | None = None

    def __iter__(self) -> Iterator[Stretch]:
        seen: list[Stretch] = []
        for piece in self._make():
            seen.append(_own(excerpt(piece, self.rows)))
            yield piece
        self._seen = seen

    def seen(self) -> list[Stretch]:
        """An excerpt of all stretches, kept from the first time that they were made."""
        if self._seen is None and self.away is not None:
            self._seen = self.away.excerpts()
        if self._seen is None:
            for _ in self:
                pass
        assert self._seen is not None
        return self._seen

    def mapped(self, change: Callable[[Stretch], Stretch]) -> Flow:
        """The same stretches, each changed."""
        away = None if self.away is None else self.away.mapped(change)
        return Flow(lambda: map(change, self._make()), self.rows, away, self.apart)


Stretches = Sequence[Stretch] | Flow


def rows_of(pieces: Stretches) -> int:
    """Samples in all."""
    return pieces.rows if isinstance(pieces, Flow) else sum(map(len, pieces))


def seen(pieces: Stretches) -> Sequence[Stretch]:
    """The stretches, or an excerpt where nobody holds them."""
    return pieces.seen() if isinstance(pieces, Flow) else pieces


def excerpt(piece: Stretch, total: int) -> Stretch:
    """As much of a stretch's middle as statistics need, of stretches of so many samples in all."""
    if total <= ENOUGH:
        return piece
    size = max(_FEWEST, int(len(piece) * ENOUGH / total))
    start = max(0, (len(piece) - size) // 2)
    return piece.part(slice(start, start + size))


def _own(piece: Stretch) -> Stretch:
    """The stretch with arrays of its own, so that those it was cut from can be given back."""
    own: dict[str, Kept] = {}
    for field in fields(Stretch):
        value = getattr(piece, field.name)
        own[field.name] = np.array(value) if isinstance(value, np.ndarray) else value
    return Stretch(**own)
