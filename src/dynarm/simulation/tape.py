"""Where the states of a run with fixed steps live: segments of equal steps, a scratch of some of them, and the record.

A run is a row of segments between the times at which an input jumps; each is divided into equal steps, none longer than
the one asked for. States go through a small scratch that stays in the processor's cache, and from there to the record.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from ..errors import InputError
from .health import Record

SCRATCH = 1 << 18  # numbers in the scratch, so that it fits into a second-level cache
LARGEST = 8 << 30  # bytes of a record; more is refused
HISTORY = 3  # rows of the scratch before the current state: AB4 looks back


@dataclass(frozen=True, slots=True)
class Segment:
    """Equal steps between two breaks."""

    start: float
    end: float
    count: int

    @property
    def h(self) -> float:
        return (self.end - self.start) / self.count

    def times(self, first: int, last: int) -> np.ndarray:
        """Times after `first` ... `last` steps."""
        return self.start + self.h * np.arange(first, last + 1)


def segments(t_end: float, dt: float, breaks: np.ndarray) -> list[Segment]:
    """Equal steps of at most dt between the breaks."""
    edges = [0.0, *np.unique(breaks).tolist(), t_end]
    return [Segment(a, b, max(1, math.ceil((b - a) / dt - 1e-9))) for a, b in pairwise(edges)]


@dataclass(slots=True)
class Scratch:
    """Rows of consecutive states, their rates and their inputs; row HISTORY is where the next step starts from."""

    x: np.ndarray
    rate: np.ndarray
    tau: np.ndarray
    push: np.ndarray | None

    @classmethod
    def of(cls, shape: tuple[int, ...], wrench: bool) -> Scratch:
        n, lead = shape[-1], shape[:-1]
        room = max(2, min(4096, SCRATCH // (math.prod(lead) * (2 * n + 2))))

        def empty(size: int) -> np.ndarray:
            return np.zeros((room + HISTORY + 1, *lead, size))

        return cls(empty(2 * n + 2), empty(2 * n + 2), empty(n), empty(6) if wrench else None)

    @property
    def room(self) -> int:
        """Steps that fit."""
        return len(self.x) - HISTORY - 1

    def q(self, k: int) -> np.ndarray:
        """Positions in row k."""
        return self.x[k, ..., : self.tau.shape[-1]]

    def qd(self, k: int) -> np.ndarray:
        """Velocities in row k."""
        n = self.tau.shape[-1]
        return self.x[k, ..., n : 2 * n]

    def shift(self, steps: int) -> None:
        """Make the state after so many steps, and the history before it, the current one."""
        for a in (self.x, self.rate):
            a[: HISTORY + 1] = a[steps : steps + HISTORY + 1]


class Tape:
    """What is kept of a run: every so many steps, and the last one."""

    def __init__(self, shape: tuple[int, ...], wrench: bool, steps: int, every: int):
        rows = 1 + steps // every + (steps % every > 0)
        size = 8 * rows * math.prod(shape[:-1]) * (3 * shape[-1] + 2 + 6 * wrench)
        if size > LARGEST:
            raise InputError(
                f"a record of {rows} times would take {size / 1e9:.3g} GB; take a larger dt, or record less with every="
            )
        self.every, self.steps, self.rows = every, steps, 0
        lead, n = (rows, *shape[:-1]), shape[-1]
        self.t, self.x, self.tau = (
            np.empty(rows),
            np.empty((*lead, 2 * n + 2)),
            np.empty((*lead, n)),
        )
        self.push = np.empty((*lead, 6)) if wrench else None

    def put(self, step: int, times: np.ndarray, scratch: Scratch) -> None:
        """Record the rows of the scratch from HISTORY on; the first of them is the state after `step` steps."""
        wanted = (step + np.arange(len(times))) % self.every == 0
        if len(times) and step + len(times) - 1 == self.steps:
            wanted[-1] = True
        rows: Any = slice(HISTORY, HISTORY + len(times))
        if not wanted.all():
            rows = HISTORY + np.flatnonzero(wanted)
        into = slice(self.rows, self.rows + int(wanted.sum()))
        self.t[into] = times[wanted]
        for mine, theirs in (
            (self.x, scratch.x),
            (self.tau, scratch.tau),
            (self.push, scratch.push),
        ):
            if mine is not None and theirs is not None:
                mine[into] = theirs[rows]
        self.rows = into.stop

    def blank(self, dead: np.ndarray, reached: np.ndarray) -> None:
        """NaN for what samples of a batch have after they broke down."""
        for k in np.flatnonzero(dead):
            gone = self.t[: self.rows] > reached[k]
            for a in (self.x, self.tau, self.push):
                if a is not None:
                    a[: self.rows][gone, k] = np.nan

    def record(self, **rest: Any) -> Record:
        end = self.rows
        push = None if self.push is None else self.push[:end]
        return Record(self.t[:end], self.x[:end], self.tau[:end], push, **rest)
