"""The fixed-step methods at work on rows of states: RK4, AB4 with an RK4 start, and the symplectic midpoint rule.

Where torque and wrench do not ask for the state, all steps of a call run in compiled code without returning to Python,
and a batch is cut into slices for the threads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import batch
from ..errors import InputError
from ..machine.march import March
from .inputs import Constant, Failed, Law, Line
from .integrators import (
    TURNS,
    Plant,
    ab4_step,
    midpoint_turns,
    momenta,
    rates,
    rk4_step,
    velocities,
)
from .tape import HISTORY, Scratch, Segment

ITERATIONS = 100  # calls of the midpoint rule's kernel in one step
WORTH = 4096  # steps times samples that make a second thread worth its start


class Stepper:
    """What the methods share: laws of the inputs in a segment, kernels on the scratch, threads."""

    each = 4  # evaluations of the dynamics in a step

    def __init__(self, plant: Plant, threads: int):
        self.plant, self.threads = plant, threads
        self.extras = [np.ascontiguousarray(x) for x in plant.extras]
        self.torque: Law
        self.push: Law | None = None
        self.h = np.zeros(())

    def begin(self, segment: Segment, torque: Law, push: Law | None) -> None:
        self.segment, self.torque, self.push = segment, torque, push
        self.h = np.array(segment.h)

    @property
    def steady(self) -> bool:
        return self.torque.steady and (self.push is None or self.push.steady)

    def advance(self, x: Scratch, done: int, count: int) -> int:
        """`count` steps from row HISTORY on, `done` steps after the segment's start."""
        if self.steady:
            self.fill(x, done, count)
            self.march(x, done, count)
            return count
        for k in range(count):
            try:
                self.single(x, HISTORY + k, self.segment.start + (done + k) * self.segment.h)
            except Failed as failure:
                failure.done = k  # type: ignore[attr-defined]
                raise
        return count

    def fill(self, x: Scratch, done: int, count: int) -> None:
        """Write down the inputs at the beginning of each step."""
        times = self.segment.times(done, done + count - 1)
        for law, rows in ((self.torque, x.tau), (self.push, x.push)):
            if law is not None and rows is not None:
                into = rows[HISTORY : HISTORY + count]
                into[:] = law.rows(times) if isinstance(law, Line) else law(0.0, into[0], into[0])

    def inputs(self, x: Scratch, k: int, t: float) -> tuple[np.ndarray, ...]:
        """Torque and wrench in row k at time t, written down there."""
        x.tau[k] = tau = self.torque(t, x.q[k], x.qd[k])
        if self.push is None or x.push is None:
            return (tau,)
        x.push[k] = push = self.push(t, x.q[k], x.qd[k])
        return tau, push

    def march(self, x: Scratch, done: int, count: int) -> None:
        """Steady steps."""
        raise NotImplementedError

    def single(self, x: Scratch, k: int, t: float) -> None:
        """One step from row k at time t whose inputs follow the state."""
        raise NotImplementedError

    def evaluations(self, steps: int) -> int:
        """Evaluations of the dynamics in so many steps."""
        return self.each * steps

    def run(self, kernel: March, moving: Sequence[tuple[np.ndarray, bool]], count: int) -> None:
        """A kernel `count` times; operands marked True move on to their array's next row each time."""
        operands = [a[0, ...] if moves else a for a, moves in moving]
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
    def __init__(self, plant: Plant, threads: int):
        super().__init__(plant, threads)
        self.kernel: March | None = None
        self.rates: np.ufunc | None = None

    def march(self, x: Scratch, done: int, count: int) -> None:
        self.march_from(x, HISTORY, done, count)

    def march_from(self, x: Scratch, row: int, done: int, count: int) -> None:
        if self.kernel is None:
            self.kernel = rk4_step(self.plant)
        state = [(a[row:], True) for a in (x.q, x.qd, x.energy)]
        after = [(a[row + 1 :], True) for a in (x.q, x.qd, x.energy)]
        drives = [
            pair
            for law in (self.torque, self.push)
            if law is not None
            for pair in self.thrice(law, done, count)
        ]
        fixed = [(a, False) for a in (self.h, *self.extras)]
        self.run(self.kernel, [*state, *drives, *fixed, *after], count)

    def thrice(self, law: Law, done: int, count: int) -> list[tuple[np.ndarray, bool]]:
        """A steady law at start, middle and end of each step."""
        if isinstance(law, Constant):
            return [(law.value, False)] * 3
        assert isinstance(law, Line)
        times = self.segment.times(done, done + count)
        edges, middles = law.rows(times), law.rows((times[:-1] + times[1:]) / 2)
        return [(edges, True), (middles, True), (edges[1:], True)]

    def single(self, x: Scratch, k: int, t: float) -> None:
        """The four stages one by one, where torque or wrench follow the state."""
        if self.rates is None:
            self.rates = rates(self.plant)
        h, q, qd = self.segment.h, x.q[k], x.qd[k]
        v, (a, p) = qd, self.rates(q, qd, *self.inputs(x, k, t), *self.extras)
        found = [(v, a, p)]
        for c in (0.5, 0.5, 1.0):
            q_c, v_c = q + c * h * v, qd + c * h * a
            drives = [f(t + c * h, q_c, v_c) for f in (self.torque, self.push) if f is not None]
            v, (a, p) = v_c, self.rates(q_c, v_c, *drives, *self.extras)
            found.append((v, a, p))
        for rows, stages in zip((x.q, x.qd, x.energy), zip(*found, strict=True), strict=True):
            k1, k2, k3, k4 = stages
            rows[k + 1] = rows[k] + h / 6 * (k1 + k4 + 2 * (k2 + k3))


class AB4(Stepper):
    """Three steps of RK4 after each break, then one evaluation a step."""

    each = 1

    def __init__(self, plant: Plant, threads: int):
        super().__init__(plant, threads)
        self.starter, self.kernel, self.rates = RK4(plant, threads), ab4_step(plant), rates(plant)
        self.known = 0

    def begin(self, segment: Segment, torque: Law, push: Law | None) -> None:
        super().begin(segment, torque, push)
        self.starter.begin(segment, torque, push)
        self.known = 0  # a jump of the input is a jump of what the past would extrapolate

    def march(self, x: Scratch, done: int, count: int) -> None:
        k = 0
        while k < count and self.known < HISTORY:
            self.look(x, HISTORY + k)
            self.starter.march_from(x, HISTORY + k, done + k, 1)
            k += 1
        if k < count:
            self.call(x, HISTORY + k, done + k, count - k)

    def look(self, x: Scratch, row: int) -> None:
        """Acceleration and powers in a row, for the steps to come."""
        push = () if x.push is None else (x.push[row],)
        x.qdd[row], x.power[row] = self.rates(x.q[row], x.qd[row], x.tau[row], *push, *self.extras)
        self.known += 1

    def call(self, x: Scratch, row: int, done: int, count: int) -> None:
        past = [(a[row - b :], True) for a in (x.qd, x.qdd, x.power) for b in (1, 2, 3)]
        state = [(a[row:], True) for a in (x.q, x.qd, x.energy)]
        after = [(a[row + 1 :], True) for a in (x.q, x.qd, x.energy)]
        drives = [(a[row:], True) for a in (x.tau, x.push) if a is not None]
        fixed = [(a, False) for a in (self.h, *self.extras)]
        rate = [(a[row:], True) for a in (x.qdd, x.power)]
        self.run(self.kernel, [*state, *past, *drives, *fixed, *after, *rate], count)

    def single(self, x: Scratch, k: int, t: float) -> None:
        if self.known < HISTORY:
            self.starter.single(x, k, t)
            self.look(x, k)
            return
        self.inputs(x, k, t)
        self.call(x, k, 0, 1)


class Midpoint(Stepper):
    """Symplectic: positions and momenta, each step solved by iteration to rounding."""

    def __init__(self, plant: Plant, threads: int):
        super().__init__(plant, threads)
        self.kernel, self.velocities = midpoint_turns(plant), velocities(plant)
        self.momenta = momenta(plant)
        self.count = 0

    def begin(self, segment: Segment, torque: Law, push: Law | None) -> None:
        super().begin(segment, torque, push)
        if not self.steady or push is not None:
            raise InputError(
                "method 'midpoint' is for free motion and torques of time; use 'rk4' for controllers and wrenches"
            )

    def march(self, x: Scratch, done: int, count: int) -> None:
        h = self.segment.h
        p = self.momenta(x.q[HISTORY], x.qd[HISTORY], *self.extras)
        for k in range(HISTORY, HISTORY + count):
            t = self.segment.start + (done + k - HISTORY + 0.5) * h
            tau = self.torque(t, x.q[k], x.qd[k])
            q1, p1, power = self.solve(x.q[k], p, x.q[k] + h * x.qd[k], p, tau)
            x.q[k + 1], p = q1, p1
            x.qd[k + 1] = self.velocities(q1, p, *self.extras)
            x.energy[k + 1] = x.energy[k] + h * power

    def solve(self, q0: Any, p0: Any, q1: Any, p1: Any, tau: Any) -> tuple[Any, Any, Any]:
        """The end of a step by iteration, until it no longer gets better."""
        before = np.inf
        for _ in range(ITERATIONS):
            q1, p1, moved, power = self.kernel(q0, p0, q1, p1, tau, self.h, *self.extras)
            self.count += TURNS
            change = float(moved.max())
            if change == 0 or (change >= before and change < 1e-9) or not np.isfinite(change):
                break
            before = change
        return q1, p1, power

    def evaluations(self, steps: int) -> int:
        return self.count


STEPPERS: dict[str, Callable[[Plant, int], Stepper]] = {"rk4": RK4, "ab4": AB4, "midpoint": Midpoint}
