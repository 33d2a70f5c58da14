"""Where the states of a run with fixed steps live: segments of equal steps, a scratch of some of them, and the record.

A run is a row of segments between the times at which an input jumps; each is divided into equal steps, none longer than
the one asked for. States go through a small scratch that stays in the processor's cache, and from there to the record.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ..border.kinds import Outside
from ..errors import InputError
from .health import Outcome
from .system import Layout

SCRATCH = 1 << 17  # numbers in the scratch, so that it fits into a second-level cache
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
    edges = [0.0, *breaks.tolist(), t_end]
    return [Segment(a, b, max(1, math.ceil((b - a) / dt - 1e-9))) for a, b in pairwise(edges)]


@dataclass(slots=True)
class Scratch:
    """Rows of consecutive states, their rates and their inputs; row HISTORY is where the next step starts from."""

    layout: Layout
    x: np.ndarray
    rate: np.ndarray
    tau: np.ndarray
    push: np.ndarray | None

    @classmethod
    def of(cls, layout: Layout, lead: tuple[int, ...] = ()) -> Scratch:
        """An empty scratch for states of this layout; lead: the batch axis, where there is one."""
        room = max(2, min(4096, SCRATCH // (math.prod(lead) * layout.size)))

        def empty(size: int) -> np.ndarray:
            return np.zeros((room + HISTORY + 1, *lead, size))

        push = empty(layout.push) if layout.push else None
        return cls(layout, empty(layout.size), empty(layout.size), empty(layout.inputs), push)

    @property
    def room(self) -> int:
        """Steps that fit."""
        return len(self.x) - HISTORY - 1

    def q(self, k: int) -> np.ndarray:
        """Positions in row k."""
        return self.x[k, ..., self.layout.q]

    def qd(self, k: int) -> np.ndarray:
        """Velocities in row k."""
        return self.x[k, ..., self.layout.qd]

    def shift(self, steps: int) -> None:
        """Make the state after so many steps, and the history before it, the current one."""
        for a in (self.x, self.rate):
            a[: HISTORY + 1] = a[steps : steps + HISTORY + 1]


class Tape:
    """What is kept of a run: every so many steps, and the last one. An input that never changes is kept once."""

    def __init__(
        self,
        layout: Layout,
        lead: tuple[int, ...],
        steps: int,
        every: int,
        tau: np.ndarray | None,
        push: np.ndarray | None,
    ):
        rows = 1 + steps // every + (steps % every > 0)
        width = layout.size + layout.inputs * (tau is None) + layout.push * (push is None)
        size = 8 * rows * math.prod(lead) * width
        if size > LARGEST:
            raise InputError(
                f"a record of {rows} times would take {size / 1e9:.3g} GB; take a larger dt, or record less with every="
            )
        self.every, self.steps, self.rows = every, steps, 0
        self.t, self.x = np.empty(rows), np.empty((rows, *lead, layout.size))
        self.tau = _column(tau, (rows, *lead, layout.inputs))
        self.push = _column(push, (rows, *lead, layout.push)) if layout.push else None

    def put(self, step: int, times: np.ndarray, scratch: Scratch) -> None:
        """Outcome the rows of the scratch from HISTORY on; the first of them is the state after `step` steps."""
        rows: slice | np.ndarray = slice(HISTORY, HISTORY + len(times))
        if self.every > 1:
            wanted = (step + np.arange(len(times))) % self.every == 0
            if len(times) and step + len(times) - 1 == self.steps:
                wanted[-1] = True
            rows, times = HISTORY + np.flatnonzero(wanted), times[wanted]
        into = slice(self.rows, self.rows + len(times))
        self.t[into] = times
        for mine, theirs in (
            (self.x, scratch.x),
            (self.tau, scratch.tau),
            (self.push, scratch.push),
        ):
            if mine is not None and theirs is not None and mine.flags.writeable:
                mine[into] = theirs[rows]
        self.rows = into.stop

    def blank(self, dead: np.ndarray, reached: np.ndarray) -> None:
        """NaN for what samples of a batch have after they broke down."""
        end = self.rows
        if dead.any():
            self.tau = np.array(self.tau)
            self.push = None if self.push is None else np.array(self.push)
        for k in np.flatnonzero(dead):
            gone = self.t[:end] > reached[k]
            for a in (self.x, self.tau, self.push):
                if a is not None:
                    a[:end][gone, k] = np.nan

    def forget_inputs(self) -> None:
        """Make the inputs at the last time unknown."""
        self.tau = np.array(self.tau)
        self.push = None if self.push is None else np.array(self.push)
        for a in (self.tau, self.push):
            if a is not None:
                a[self.rows - 1] = np.nan

    def record(self, **rest: Outside) -> Outcome:
        end = self.rows
        push = None if self.push is None else self.push[:end]
        return Outcome(self.t[:end], self.x[:end], self.tau[:end], push, **rest)


def _column(constant: np.ndarray | None, shape: tuple[int, ...]) -> np.ndarray:
    return np.empty(shape) if constant is None else np.broadcast_to(constant, shape)
