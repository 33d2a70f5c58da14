"""Motion by steps of fixed length, for one state or a batch of them: the segments of a run, one after another."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .health import BLOWN, Progress, Record, cause
from .inputs import Constant, Failed, Law, Source, breaks_of
from .integrators import Plant, rates
from .steppers import STEPPERS, Stepper
from .tape import HISTORY, Scratch, Segment, Tape, segments

CHANGE = 0.02  # largest change of a joint in one step [rad or m] where no dt is given
GAIN = 0.1  # and the largest change of its velocity, as a part of the largest velocity
SPEEDS = {True: math.pi, False: 1.0}  # of joints without a velocity limit [rad/s, m/s]
HINT = "take a smaller dt, check torques and masses, or use an adaptive method"


def step_length(plant: Plant, q0: np.ndarray, qd0: np.ndarray, drives: Sequence[Any]) -> float:
    """A step in which no joint and no joint velocity changes much, as turney1980 section 7 advises.

    Positions: by CHANGE at the velocity limit (or at pi rad/s, 1 m/s where there is none, or at the first velocity
    where that is larger). Velocities: by GAIN of the same velocity at the first acceleration.
    """
    fastest = np.abs(qd0).reshape(-1, plant.n).max(axis=0)
    limits = [j.velocity_limit or SPEEDS[j.revolute] for j in plant.model.arm.joints]
    speeds = np.maximum(limits, fastest)
    x, n = state_of(q0, qd0), plant.n
    with np.errstate(all="ignore"):
        rate = rates(plant)(x, *drives, *plant.extras)
    found = np.abs(rate[..., n : 2 * n]).reshape(-1, n)
    largest = found[np.isfinite(found).all(axis=1)].max(axis=0, initial=0.0)
    return float(min(CHANGE / speeds.max(), GAIN * (speeds / np.maximum(largest, 1e-12)).min()))


def state_of(q: np.ndarray, qd: np.ndarray) -> np.ndarray:
    """[q, qd, 0, 0]: the state at the start of a run."""
    return np.concatenate([q, qd, np.zeros((*q.shape[:-1], 2))], axis=-1)


class Integration:
    """One run with fixed steps."""

    def __init__(self, plant: Plant, torque: Source, push: Source | None, every: int):
        self.plant, self.torque, self.push, self.every = plant, torque, push, every

    def over(
        self,
        t_end: float,
        dt: float,
        method: str,
        threads: int,
        q0: np.ndarray,
        qd0: np.ndarray,
        progress: Progress | None,
    ) -> tuple[Record, float]:
        """The motion, and the longest step that was taken."""
        sources = [s for s in (self.torque, self.push) if s is not None]
        parts = segments(t_end, dt, breaks_of(sources, t_end))
        stepper = STEPPERS[method](self.plant, threads)
        return self.run(stepper, parts, q0, qd0, progress), max(s.h for s in parts)

    def run(
        self,
        stepper: Stepper,
        parts: Sequence[Segment],
        q0: np.ndarray,
        qd0: np.ndarray,
        progress: Progress | None,
    ) -> Record:
        """The motion through all segments, or as far as it goes."""
        total = sum(s.count for s in parts)
        wrench = self.push is not None
        tau, push = (s.value if isinstance(s, Constant) else None for s in (self.torque, self.push))
        self.tape = Tape(q0.shape, total, self.every, tau, push, wrench)
        self.rows = Scratch.of(q0.shape, wrench)
        self.rows.x[HISTORY] = state_of(q0, qd0)
        self.harmless = state_of(q0, np.zeros_like(qd0))
        self.step, self.ended = 0, ("success", "")
        self.dead = np.zeros(q0.shape[:-1], bool)
        self.reached = np.full(q0.shape[:-1], parts[-1].end)
        with np.errstate(all="ignore"):
            try:
                for segment in parts:
                    if not self.segment(stepper, segment, progress, total):
                        break
                else:
                    self.finish(parts[-1])
            except Failed as failure:
                self.ended = "function", str(failure)
        if q0.ndim > 1:
            self.tape.blank(self.dead, self.reached)
        status, message = self.ended
        if self.dead.sum() > 1:
            message += f" ({int(self.dead.sum())} samples of the batch broke down)"
        return self.tape.record(
            status=status,
            message=message,
            reached=self.reached,
            evaluations=stepper.evaluations(self.step),
            steps=self.step,
        )

    def laws(self, start: float, end: float) -> tuple[Law, Law | None]:
        q, qd = self.rows.q(HISTORY), self.rows.qd(HISTORY)
        try:
            torque = self.torque.during(start, end, q, qd)
            return torque, None if self.push is None else self.push.during(start, end, q, qd)
        except Failed:
            self.keep(start)
            raise

    def keep(self, t: float) -> None:
        """Record the current state although its inputs are not known."""
        self.reached = np.where(self.dead, self.reached, t)
        self.tape.put(self.tape.steps, np.array([t]), self.rows)
        self.tape.forget_inputs()

    def segment(
        self, stepper: Stepper, segment: Segment, progress: Progress | None, total: int
    ) -> bool:
        """The steps of one segment; whether any motion is left after it."""
        stepper.begin(segment, *self.laws(segment.start, segment.end))
        rows, done = self.rows, 0
        while done < segment.count:
            count = min(rows.room, segment.count - done)
            try:
                stepper.advance(rows, done, count)
            except Failed as failure:
                if self.settle(segment, done, failure.done):
                    self.keep(segment.start + (done + failure.done) * segment.h)
                raise
            if not self.settle(segment, done, count):
                return False
            done += count
            if progress is not None:
                progress(self.step / total)
        return True

    def settle(self, segment: Segment, done: int, count: int) -> bool:
        """Look at the last steps, record what is good and go on to the next state; whether there is one."""
        rows, n = self.rows, self.plant.n
        good = count
        if not (np.abs(rows.qd(HISTORY + count)) < BLOWN).all():  # what has blown up stays so
            new = rows.x[HISTORY + 1 : HISTORY + count + 1, ..., n : 2 * n]
            good = self.bury(segment, done, ~(np.abs(new) < BLOWN).all(axis=-1))
        self.tape.put(self.step, segment.times(done, done + good - 1), rows)
        self.step += good
        if self.dead.all():
            return False
        rows.shift(count)
        if self.dead.any():  # samples that broke down are kept busy with something harmless
            rows.x[: HISTORY + 1, self.dead] = self.harmless[self.dead]
            rows.rate[: HISTORY + 1, self.dead] = 0.0
        return True

    def bury(self, segment: Segment, done: int, bad: np.ndarray) -> int:
        """Note which samples broke down, when and why; how many of the last steps are worth keeping."""
        count, rows = len(bad), self.rows
        first = np.where(bad.any(axis=0), bad.argmax(axis=0), count)
        fresh = (first < count) & ~self.dead
        self.reached = np.where(fresh, segment.start + (done + first) * segment.h, self.reached)
        if fresh.any() and self.ended[0] == "success":
            k = np.unravel_index(np.argmin(np.where(fresh, first, count)), fresh.shape)
            row = HISTORY + int(first[k])
            plant = _one(self.plant, int(k[0])) if k else self.plant
            status, message = cause(
                plant, float(self.reached[k]), rows.q(row)[k], rows.qd(row)[k], HINT
            )
            self.ended = status, (f"sample {k[0]} of {fresh.size}: " if k else "") + message
        self.dead = self.dead | fresh
        return int(first[fresh].max()) + 1 if self.dead.all() else count

    def finish(self, last: Segment) -> None:
        """Record the last state with its inputs."""
        rows, q, qd = self.rows, self.rows.q(HISTORY), self.rows.qd(HISTORY)
        try:
            for source, given in ((self.torque, rows.tau), (self.push, rows.push)):
                if source is not None and given is not None:
                    law = source.during(last.end, last.end, q, qd)
                    given[HISTORY] = law(last.end, q, qd)
        except Failed:
            self.keep(last.end)
            raise
        self.tape.put(self.step, np.array([last.end]), rows)


def _one(plant: Plant, k: int) -> Plant:
    """The plant of one sample of a batch."""
    gravity, values = (
        None if x is None else (x[k] if x.ndim > 1 else x) for x in (plant.gravity, plant.values)
    )
    return Plant(plant.model, plant.wrench, gravity, values)
