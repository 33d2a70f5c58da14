"""What a motion remembers: deflections of Maxwell-slip elements, as numbers of the state that follow the coordinates.

While the speed of an element keeps its sign, its deflection is clip(x + q - q_x): x and q_x are what it was, and where.
So the state holds the last known deflections with their positions, the dynamics let them follow from there, and after
each step they are brought up to date. With steps of fixed length an element that turns round within a step is late by
less than the step's way. Adaptive methods end a step where one turns, and miss nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ..algebra.vectors import Scalar
from ..dynamics.drive_train import moved_deflections
from ..dynamics.stops import elements, start_state, state_size
from ..robot.arm import Arm


@dataclass(frozen=True, slots=True, eq=False)
class Memory:
    """The friction state of an arm along a motion; first: the one to begin with, else no element is deflected."""

    arm: Arm
    first: np.ndarray | None = None

    @property
    def size(self) -> int:
        return state_size(self.arm)

    def begun(self, q: np.ndarray) -> np.ndarray:
        """(..., size): what is remembered at the start of a motion from q."""
        if self.first is None:
            return start_state(self.arm, q)
        return np.broadcast_to(self.first, (*q.shape[:-1], self.size))

    def moved(self, q: Sequence[Scalar], numbers: Sequence[Scalar]) -> list[Scalar]:
        """What is remembered once the coordinates are q, over scalars."""
        own = list(q[self.arm.nq - len(self.arm.coupling.masters) :])
        return [*moved_deflections(self.arm, own, numbers), *own]

    @property
    def speeds(self) -> np.ndarray:
        """(k, nv): the speeds that elements move with are these rows times qd."""
        rule = self.arm.coupling
        first = self.arm.nv - len(rule.masters)
        rows = {}
        for e in elements(self.arm.joints):
            row = np.zeros(self.arm.nv)
            for joint in (e.joint,) if e.other is None else (e.joint, e.other):
                row[first + rule.of[joint]] += rule.multipliers[joint]
            rows[e.joint, e.other] = row
        return np.array(list(rows.values())).reshape(-1, self.arm.nv)


@dataclass(slots=True)
class Turns:
    """Which way the elements of a motion move, and when one of them turns round."""

    rows: np.ndarray  # (k, nv): speeds of elements per unit of qd
    slack: float  # a speed that counts as none
    way: np.ndarray = field(init=False)  # +1, -1, or 0 for an element that has not moved yet

    def __post_init__(self) -> None:
        self.way = np.zeros(len(self.rows))

    @classmethod
    def of(cls, memory: Memory | None, slack: float) -> Turns | None:
        """Those of a motion that remembers."""
        return None if memory is None else cls(memory.speeds, slack)

    def gaps(self, qd: np.ndarray) -> np.ndarray:
        """For each element how far it is from turning round; negative beyond."""
        return np.where(self.way == 0, 1.0, self.way * (self.rows @ qd))

    def arm(self, qd: np.ndarray) -> None:
        """Note which elements have begun to move."""
        speed = self.rows @ qd
        started = (self.way == 0) & (np.abs(speed) > self.slack)
        self.way = np.where(started, np.sign(speed), self.way)

    def settle(self, qd: np.ndarray) -> None:
        """Begin anew with the speeds at hand."""
        speed = self.rows @ qd
        self.way = np.where(np.abs(speed) > self.slack, np.sign(speed), 0.0)
