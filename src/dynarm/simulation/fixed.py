"""Motion by steps of fixed length, for one state or a batch of them: the segments of a run, one after another."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .health import BLOWN, Progress, Record, cause
from .inputs import Failed, Law, Source
from .integrators import Plant, rates
from .steppers import STEPPERS, Stepper
from .tape import HISTORY, Scratch, Segment, Tape, segments

CHANGE = 0.02  # largest change of a joint in one step [rad or m] where no dt is given
GAIN = 0.1  # and the largest change of its velocity, as a part of the largest velocity
SPEEDS = {True: math.pi, False: 1.0}  # of joints without a velocity limit [rad/s, m/s]
HINT = "take a smaller dt, check torques and masses, or use an adaptive method"


def step_length(plant: Plant, q0: np.ndarray, qd0: np.ndarray, tau: np.ndarray, push: Any) -> float:
    """A step in which no joint and no joint velocity changes much, as turney1980 section 7 advises.

    Positions: by CHANGE at the velocity limit (or at pi rad/s, 1 m/s where there is none, or at the first velocity
    where that is larger). Velocities: by GAIN of the same velocity at the first acceleration.
    """
    fastest = np.abs(qd0).reshape(-1, plant.n).max(axis=0)
    limits = [j.velocity_limit or SPEEDS[j.revolute] for j in plant.model.arm.joints]
    speeds = np.maximum(limits, fastest)
    with np.errstate(all="ignore"):
        qdd, _ = rates(plant)(q0, qd0, tau, *([] if push is None else [push]), *plant.extras)
    found = np.abs(qdd).reshape(-1, plant.n)
    largest = found[np.isfinite(found).all(axis=1)].max(axis=0, initial=0.0)
    return float(min(CHANGE / speeds.max(), GAIN * (speeds / np.maximum(largest, 1e-12)).min()))


class Integration:
    """One run with fixed steps."""

    def __init__(self, plant: Plant, torque: Source, push: Source | None, every: int):
        self.plant, self.torque, self.push, self.every = plant, torque, push, every

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
        self.tape = Tape(q0.shape, wrench, total, self.every)
        self.x = x = Scratch.of(q0.shape, wrench)
        x.q[HISTORY], x.qd[HISTORY], self.q0 = q0, qd0, q0
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
        q, qd = self.x.q[HISTORY], self.x.qd[HISTORY]
        try:
            torque = self.torque.during(start, end, q, qd)
            return torque, None if self.push is None else self.push.during(start, end, q, qd)
        except Failed:
            self.keep(start)
            raise

    def keep(self, t: float) -> None:
        """Record the current state although its inputs are not known."""
        x = self.x
        for a in (x.tau, x.push):
            if a is not None:
                a[HISTORY] = np.nan
        self.reached = np.where(self.dead, self.reached, t)
        self.tape.put(self.tape.steps, np.array([t]), x)

    def segment(
        self, stepper: Stepper, segment: Segment, progress: Progress | None, total: int
    ) -> bool:
        """The steps of one segment; whether any motion is left after it."""
        stepper.begin(segment, *self.laws(segment.start, segment.end))
        x, done = self.x, 0
        while done < segment.count:
            count = min(x.room, segment.count - done)
            try:
                stepper.advance(x, done, count)
            except Failed as failure:
                count = failure.done  # type: ignore[attr-defined]
                if self.settle(segment, done, count):
                    self.keep(segment.start + (done + count) * segment.h)
                raise
            if not self.settle(segment, done, count):
                return False
            done += count
            if progress is not None:
                progress(self.step / total)
        return True

    def settle(self, segment: Segment, done: int, count: int) -> bool:
        """Look at the last steps, record what is good and go on to the next state; whether there is one."""
        x = self.x
        speed = np.abs(x.qd[HISTORY + 1 : HISTORY + count + 1]).max(axis=-1)
        bad = ~(speed < BLOWN)
        good = count
        if bad.any():
            good = self.bury(segment, done, bad)
        self.tape.put(self.step, segment.times(done, done + good - 1), x)
        self.step += good
        if self.dead.all():
            return False
        x.shift(count)
        if self.dead.any():
            for a in (x.qd, x.qdd, x.energy, x.power):
                a[: HISTORY + 1, self.dead] = 0.0
            x.q[: HISTORY + 1, self.dead] = self.q0[self.dead]
        return True

    def bury(self, segment: Segment, done: int, bad: np.ndarray) -> int:
        """Note which samples broke down, when and why; how many of the last steps are worth keeping."""
        count, x = len(bad), self.x
        first = np.where(bad.any(axis=0), bad.argmax(axis=0), count)
        fresh = (first < count) & ~self.dead
        self.reached = np.where(fresh, segment.start + (done + first) * segment.h, self.reached)
        if fresh.any() and self.ended[0] == "success":
            k = np.unravel_index(np.argmin(np.where(fresh, first, count)), fresh.shape)
            row = (HISTORY + int(first[k]), *k)
            t = float(self.reached[k])
            plant = self.plant if not k else _one(self.plant, int(k[0]))
            status, message = cause(plant, t, x.q[row], x.qd[row], HINT)
            self.ended = status, (f"sample {k[0]} of {fresh.size}: " if k else "") + message
        self.dead = self.dead | fresh
        return int(first[fresh].max()) + 1 if self.dead.all() else count

    def finish(self, last: Segment) -> None:
        """Record the last state with its inputs."""
        x = self.x
        try:
            for source, rows in ((self.torque, x.tau), (self.push, x.push)):
                if source is not None and rows is not None:
                    law = source.during(last.end, last.end, x.q[HISTORY], x.qd[HISTORY])
                    rows[HISTORY] = law(last.end, x.q[HISTORY], x.qd[HISTORY])
        except Failed:
            self.keep(last.end)
            raise
        self.tape.put(self.step, np.array([last.end]), x)


def _one(plant: Plant, k: int) -> Plant:
    """The plant of one sample of a batch."""
    gravity, values = (
        None if x is None else (x[k] if x.ndim > 1 else x) for x in (plant.gravity, plant.values)
    )
    return Plant(plant.model, plant.wrench, gravity, values)


def integrate(
    plant: Plant,
    q0: np.ndarray,
    qd0: np.ndarray,
    t_end: float,
    torque: Source,
    push: Source | None,
    method: str,
    dt: float,
    every: int,
    threads: int,
    progress: Progress | None,
) -> tuple[Record, float]:
    """The motion, and the longest step that was taken."""
    sources = [s for s in (torque, push) if s is not None]
    parts = segments(t_end, dt, np.concatenate([s.breaks(t_end) for s in sources]))
    stepper = STEPPERS[method](plant, threads)
    record = Integration(plant, torque, push, every).run(stepper, parts, q0, qd0, progress)
    return record, max(s.h for s in parts)
