"""Motion by steps of fixed length, for one state or a batch of them: the segments of a run, one after another."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from .health import BLOWN, Outcome, Progress, cause
from .inputs import Constant, Failed, Law, Source, breaks_of
from .steppers import AB4, RK4, Stepper
from .symplectic import Midpoint
from .system import System, rates, state_of
from .tape import HISTORY, Scratch, Segment, Tape, segments

CHANGE = 0.02  # largest change of a joint in one step [rad or m] where no dt is given
GAIN = 0.1  # and the largest change of its velocity, as a part of the largest velocity
HINT = "take a smaller dt, check torques and masses, or use an adaptive method"

STEPPERS: dict[str, Callable[[System, int], Stepper]] = {
    "rk4": RK4,
    "ab4": AB4,
    "midpoint": Midpoint,
}


def step_length(
    system: System, q0: np.ndarray, qd0: np.ndarray, drives: Sequence[np.ndarray]
) -> float:
    """A step in which no joint and no joint velocity changes much, as turney1980 section 7 advises.

    Positions: by CHANGE at the velocity limit (or at the usual velocity where there is none, or at the first velocity
    where that is larger). Velocities: by GAIN of the same velocity at the first acceleration.
    """
    layout = system.layout
    fastest = np.abs(qd0).reshape(-1, layout.speeds).max(axis=0)
    speeds = np.maximum(system.speed_limits, fastest)
    with np.errstate(all="ignore"):
        rate = rates(system)(state_of(system, q0, qd0), *drives, *system.extras)
    sizes = np.abs(rate[..., layout.qd]).reshape(-1, layout.speeds)
    largest = sizes[np.isfinite(sizes).all(axis=1)].max(axis=0, initial=0.0)
    return float(min(CHANGE / speeds.max(), GAIN * (speeds / np.maximum(largest, 1e-12)).min()))


class Integration:
    """One run with fixed steps."""

    def __init__(self, system: System, torque: Source, push: Source | None, every: int):
        self.system, self.torque, self.push, self.every = system, torque, push, every

    def over(
        self,
        t_end: float,
        dt: float,
        method: str,
        threads: int,
        q0: np.ndarray,
        qd0: np.ndarray,
        progress: Progress | None,
    ) -> tuple[Outcome, float]:
        """The motion, and the longest step that was taken."""
        sources = [s for s in (self.torque, self.push) if s is not None]
        parts = segments(t_end, dt, breaks_of(sources, t_end))
        stepper = STEPPERS[method](self.system, threads)
        return self.run(stepper, parts, q0, qd0, progress), max(s.h for s in parts)

    def run(
        self,
        stepper: Stepper,
        parts: Sequence[Segment],
        q0: np.ndarray,
        qd0: np.ndarray,
        progress: Progress | None,
    ) -> Outcome:
        """The motion through all segments, or as far as it goes."""
        total = sum(s.count for s in parts)
        layout, lead = self.system.layout, q0.shape[:-1]
        tau, push = (s.value if isinstance(s, Constant) else None for s in (self.torque, self.push))
        self.tape = Tape(layout, lead, total, self.every, tau, push)
        self.rows = Scratch.of(layout, lead)
        self.rows.x[HISTORY] = state_of(self.system, q0, qd0)
        self.harmless = state_of(self.system, q0, np.zeros_like(qd0))
        self.step, self.ended = 0, ("success", "")
        self.dead = np.zeros(lead, bool)
        self.reached = np.full(lead, parts[-1].end)
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
        """Outcome the current state although its inputs are not known."""
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
        rows, good = self.rows, count
        if not (np.abs(rows.qd(HISTORY + count)) < BLOWN).all():  # what has blown up stays so
            new = rows.x[HISTORY + 1 : HISTORY + count + 1, ..., rows.layout.qd]
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
            system = self.system.sample(int(k[0])) if k else self.system
            status, message = cause(
                system, float(self.reached[k]), rows.q(row)[k], rows.qd(row)[k], HINT
            )
            self.ended = status, (f"sample {k[0]} of {fresh.size}: " if k else "") + message
        self.dead = self.dead | fresh
        return int(first[fresh].max()) + 1 if self.dead.all() else count

    def finish(self, last: Segment) -> None:
        """Outcome the last state with its inputs."""
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
