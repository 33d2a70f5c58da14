"""The fixed-step methods at work on rows of states: RK4, and AB4 with an RK4 start.

Where torque and wrench do not ask for the state, all steps of a call run in compiled code without returning to Python,
and a batch is cut into slices for the threads.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..machine.load.march import March
from ..model import batch
from .inputs import Constant, Failed, Law, Line
from .integrators import ab4_step, rk4_step
from .system import System, coordinates, put_back, rates
from .tape import HISTORY, Scratch, Segment

WORTH = 4096  # steps times samples that make a second thread worth its start

Operand = tuple[np.ndarray, bool]  # an array, and whether each call moves on to its next row


class Stepper:
    """What the methods share: laws of the inputs in a segment, kernels on the scratch, threads."""

    each = 4  # evaluations of the dynamics in a step

    def __init__(self, system: System, threads: int):
        self.system, self.threads = system, threads
        self.extras = [np.ascontiguousarray(x) for x in system.extras]
        self.torque: Law
        self.push: Law | None = None
        self.h = np.zeros(())

    def begin(self, segment: Segment, torque: Law, push: Law | None) -> None:
        """Take up the inputs of a new segment."""
        self.segment, self.torque, self.push = segment, torque, push
        self.h = np.array(segment.h)

    @property
    def steady(self) -> bool:
        return self.torque.steady and (self.push is None or self.push.steady)

    def advance(self, rows: Scratch, done: int, count: int) -> None:
        """`count` steps from row HISTORY on, `done` steps after the segment's start."""
        if self.steady:
            self.fill(rows, done, count)
            self.march(rows, done, count)
            return
        for k in range(count):
            try:
                self.single(rows, HISTORY + k, self.segment.start + (done + k) * self.segment.h)
            except Failed as failure:
                failure.done = k
                raise

    def fill(self, rows: Scratch, done: int, count: int) -> None:
        """Write down the inputs at the beginning of each step."""
        for law, given in ((self.torque, rows.tau), (self.push, rows.push)):
            if given is None:
                continue
            if isinstance(law, Constant):
                given[HISTORY : HISTORY + count] = law.value
            elif isinstance(law, Line):
                times = self.segment.times(done, done + count - 1)
                given[HISTORY : HISTORY + count] = law.rows(times)

    def inputs(self, rows: Scratch, k: int, t: float) -> tuple[np.ndarray, ...]:
        """Torque and wrench in row k at time t, written down there."""
        rows.tau[k] = tau = self.torque(t, rows.q(k), rows.qd(k))
        if self.push is None or rows.push is None:
            return (tau,)
        rows.push[k] = push = self.push(t, rows.q(k), rows.qd(k))
        return tau, push

    def march(self, rows: Scratch, done: int, count: int) -> None:
        """Steady steps."""
        raise NotImplementedError

    def single(self, rows: Scratch, k: int, t: float) -> None:
        """One step from row k at time t whose inputs follow the state."""
        raise NotImplementedError

    def evaluations(self, steps: int) -> int:
        """Evaluations of the dynamics in so many steps."""
        return self.each * steps

    def run(self, kernel: March, moving: Sequence[Operand], count: int) -> None:
        """A kernel `count` times."""
        operands = [a[0, ...] if moves else a for a, moves in moving]
        if count == 1 and (self.threads == 1 or operands[-1].ndim == 1):
            ufunc = kernel.ufunc
            ufunc(*operands[: ufunc.nin], out=tuple(operands[ufunc.nin :]))
            return
        moves = [a.strides[0] if m else 0 for a, m in moving]
        lead = operands[-1].shape[:-1]
        if not lead:
            kernel(operands, moves, count)
            return
        size = lead[0]
        parts = min(self.threads, size // 8) if size * count >= WORTH else 1

        def work(low: int, high: int) -> None:
            cut = [
                a[low:high] if a.ndim > axes else a
                for a, axes in zip(operands, kernel.cores, strict=True)
            ]
            kernel(cut, moves, count, high - low)

        batch.slices(size, max(1, parts), work)


class RK4(Stepper):
    def __init__(self, system: System, threads: int):
        super().__init__(system, threads)
        self.kernel: March | None = None
        self.rates: np.ufunc | None = None

    def march(self, rows: Scratch, done: int, count: int) -> None:
        self.march_from(rows, HISTORY, done, count)

    def march_from(self, rows: Scratch, k: int, done: int, count: int) -> None:
        """Steady steps from row k on."""
        if self.kernel is None:
            self.kernel = rk4_step(self.system)
        drives = [
            operand
            for law in (self.torque, self.push)
            if law is not None
            for operand in self.thrice(law, done, count)
        ]
        fixed = [(a, False) for a in (self.h, *self.extras)]
        self.run(self.kernel, [(rows.x[k:], True), *drives, *fixed, (rows.x[k + 1 :], True)], count)

    def thrice(self, law: Law, done: int, count: int) -> list[Operand]:
        """A steady law at start, middle and end of each step."""
        if isinstance(law, Constant):
            return [(law.value, False)] * 3
        assert isinstance(law, Line)
        times = self.segment.times(done, done + count)
        edges, middles = law.rows(times), law.rows((times[:-1] + times[1:]) / 2)
        return [(edges, True), (middles, True), (edges[1:], True)]

    def single(self, rows: Scratch, k: int, t: float) -> None:
        """The four stages one by one, where torque or wrench follow the state."""
        if self.rates is None:
            self.rates = rates(self.system)
        h, x, layout = self.segment.h, rows.x[k], self.system.layout
        stages = [self.rates(x, *self.inputs(rows, k, t), *self.extras)]
        for c in (0.5, 0.5, 1.0):
            at = x + c * h * stages[-1]
            q, qd = coordinates(self.system, at), at[..., layout.qd]
            drives = [law(t + c * h, q, qd) for law in (self.torque, self.push) if law is not None]
            stages.append(self.rates(at, *drives, *self.extras))
        f1, f2, f3, f4 = stages
        rows.x[k + 1] = put_back(self.system, x + h / 6 * (f1 + f4 + 2 * (f2 + f3)))


class AB4(Stepper):
    """Three steps of RK4 after each break, then one evaluation a step."""

    each = 1

    def __init__(self, system: System, threads: int):
        super().__init__(system, threads)
        self.starter, self.kernel, self.rates = (
            RK4(system, threads),
            ab4_step(system),
            rates(system),
        )
        self.known = 0

    def begin(self, segment: Segment, torque: Law, push: Law | None) -> None:
        super().begin(segment, torque, push)
        self.starter.begin(segment, torque, push)
        self.known = 0  # a jump of the input is a jump of what the past would extrapolate

    def march(self, rows: Scratch, done: int, count: int) -> None:
        k = 0
        while k < count and self.known < HISTORY:
            self.look(rows, HISTORY + k)
            self.starter.march_from(rows, HISTORY + k, done + k, 1)
            k += 1
        if k < count:
            self.call(rows, HISTORY + k, count - k)

    def look(self, rows: Scratch, k: int) -> None:
        """The rate of the state in row k, for the steps to come."""
        push = () if rows.push is None else (rows.push[k],)
        rows.rate[k] = self.rates(rows.x[k], rows.tau[k], *push, *self.extras)
        self.known += 1

    def call(self, rows: Scratch, k: int, count: int) -> None:
        """Steps from row k on, whose inputs are written down."""
        moving = [rows.x[k:], *(rows.rate[k - back :] for back in (1, 2, 3)), rows.tau[k:]]
        if rows.push is not None:
            moving.append(rows.push[k:])
        fixed = [(a, False) for a in (self.h, *self.extras)]
        after = [(rows.x[k + 1 :], True), (rows.rate[k:], True)]
        self.run(self.kernel, [*((a, True) for a in moving), *fixed, *after], count)

    def single(self, rows: Scratch, k: int, t: float) -> None:
        if self.known < HISTORY:
            self.starter.single(rows, k, t)
            self.look(rows, k)
            return
        self.inputs(rows, k, t)
        self.call(rows, k, 1)
