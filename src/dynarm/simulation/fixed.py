"""Motion by steps of fixed length, for one state or a batch of them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import batch
from ..errors import InputError
from ..model import Model
from .inputs import Failed, Source
from .integrators import ITERATIONS, ab4_step, midpoint_iteration, rates, rk4_step

METHODS = ("rk4", "ab4", "midpoint")
CHANGE = 0.02  # largest change of a joint in one step [rad or m] where no dt is given
SPEEDS = {True: math.pi, False: 1.0}  # of joints without a velocity limit [rad/s, m/s]
LOOK = 64  # steps between looks at whether the state is still finite


@dataclass(frozen=True, slots=True)
class Record:
    """What an integration leaves behind; arrays have time first."""

    t: np.ndarray
    q: np.ndarray
    qd: np.ndarray
    tau: np.ndarray
    work: np.ndarray
    status: str = "success"
    message: str = ""


def step_length(model: Model, qd0: np.ndarray, t_end: float) -> float:
    """A step in which no joint can change by more than CHANGE at its largest velocity, as turney1980 advises."""
    fastest = np.abs(qd0).reshape(-1, model.arm.n).max(axis=0)
    speeds = [
        max(j.velocity_limit if j.velocity_limit else SPEEDS[j.revolute], float(v))
        for j, v in zip(model.arm.joints, fastest, strict=True)
    ]
    return min(CHANGE / max(speeds), t_end)


def steps_of(t_end: float, dt: float, period: float | None) -> tuple[int, float, int]:
    """Number of steps, their length, and steps for each tick of a controller: whole ones, none longer than dt."""
    if period is None:
        count = max(1, math.ceil(t_end / dt - 1e-9))
        return count, t_end / count, 1
    each = max(1, math.ceil(period / dt - 1e-9))
    return max(1, round(t_end / period * each)), period / each, each


def integrate(
    model: Model,
    q0: np.ndarray,
    qd0: np.ndarray,
    t_end: float,
    torque: Source,
    wrench: Source | None,
    method: str,
    dt: float,
    period: float | None,
    threads: int,
    progress: Callable[[float], None] | None,
) -> tuple[Record, float]:
    """The motion and the step that was taken."""
    count, h, each = steps_of(t_end, dt, period)
    tape = _Tape.of(q0, qd0, count, h)
    stepper = _STEPPERS[method](model, torque, wrench, h, each, threads)
    with np.errstate(all="ignore"):
        for k in range(count):
            try:
                stepper.step(tape, k)
            except Failed as failure:
                return tape.cut(k, "torque", f"{failure} at t = {k * h:.6g} s"), h
            if k % LOOK == LOOK - 1 or k == count - 1:
                bad = tape.first_bad(k)
                if bad is not None:
                    return tape.cut(bad - 1, "nan", _why(tape, bad, h)), h
                if progress is not None:
                    progress((k + 1) / count)
        try:
            tape.tau[count] = stepper.force(tape, count)
        except Failed as failure:
            return tape.cut(count - 1, "torque", f"{failure} at t = {count * h:.6g} s"), h
    return tape.cut(count, "success", ""), h


def _why(tape: _Tape, bad: int, h: float) -> str:
    last = tape.qd[bad - 1]
    speed = float(np.abs(last[np.isfinite(last)]).max(initial=0.0))
    return (
        f"the state is no longer finite at t = {bad * h:.6g} s (largest velocity before: {speed:.3g}); "
        "take a smaller dt, check torques and masses, or use an adaptive method"
    )


@dataclass(slots=True)
class _Tape:
    """All states of a run, time first."""

    t: np.ndarray
    q: np.ndarray
    qd: np.ndarray
    tau: np.ndarray
    work: np.ndarray
    looked: int = 0

    @classmethod
    def of(cls, q0: np.ndarray, qd0: np.ndarray, count: int, h: float) -> _Tape:
        shape = (count + 1, *q0.shape)
        tape = cls(
            h * np.arange(count + 1),
            np.empty(shape),
            np.empty(shape),
            np.zeros(shape),
            np.zeros(shape[:-1]),
        )
        tape.q[0], tape.qd[0] = q0, qd0
        return tape

    def first_bad(self, k: int) -> int | None:
        """The first step since the last look whose state is not finite."""
        span = slice(self.looked + 1, k + 2)
        axes = tuple(range(1, self.q.ndim))
        good = np.isfinite(self.q[span]).all(axis=axes) & np.isfinite(self.qd[span]).all(axis=axes)
        start, self.looked = self.looked, k + 1
        return None if good.all() else start + 1 + int(np.argmin(good))

    def cut(self, last: int, status: str, message: str) -> Record:
        end = last + 1
        return Record(
            self.t[:end],
            self.q[:end],
            self.qd[:end],
            self.tau[:end],
            self.work[:end],
            status,
            message,
        )


class _Stepper:
    """What the methods share: forces at a time, held between a controller's ticks."""

    def __init__(
        self, model: Model, torque: Source, wrench: Source | None, h: float, each: int, threads: int
    ):
        self.model, self.torque, self.wrench = model, torque, wrench
        self.h, self.each, self.threads = h, each, threads

    def force(self, tape: _Tape, k: int) -> np.ndarray:
        """The torque at step k; between ticks of a sampled controller the one before."""
        if self.each > 1 and k % self.each:
            return tape.tau[k - 1]
        return self.torque(k * self.h, tape.q[k], tape.qd[k])

    def push(self, t: float, q: np.ndarray, qd: np.ndarray) -> tuple[np.ndarray, ...]:
        return () if self.wrench is None else (self.wrench(t, q, qd),)

    def call(self, ufunc: np.ufunc, args: tuple[Any, ...], out: tuple[Any, ...]) -> None:
        """A kernel on the batch, in slices where there are threads."""
        if self.threads > 1 and out[0].ndim > 1:
            batch.spread(ufunc, args, out, self.threads)
        else:
            ufunc(*args, out=out)


class _RK4(_Stepper):
    def __init__(self, *given: Any):
        super().__init__(*given)
        whole = (
            self.torque.depends != "state" or self.each > 1 or getattr(self.torque, "rate", None)
        )
        steady = self.wrench is None or self.wrench.depends != "state"
        self.kernel = rk4_step(self.model, self.wrench is not None) if whole and steady else None
        self.rates = rates(self.model, self.wrench is not None)

    def step(self, tape: _Tape, k: int) -> None:
        if self.kernel is None:
            self.stages(tape, k)
            return
        h, t = self.h, k * self.h
        q, qd = tape.q[k], tape.qd[k]
        tau = tape.tau[k] = self.force(tape, k)
        middle = end = tau
        if self.torque.depends == "time":
            middle, end = self.torque(t + h / 2, q, qd), self.torque(np.nextafter(t + h, t), q, qd)
        args = (q, qd, tau, middle, end, *self.push(t + h / 2, q, qd), tape.work[k], h)
        self.call(self.kernel, args, (tape.q[k + 1], tape.qd[k + 1], tape.work[k + 1, ...]))

    def stages(self, tape: _Tape, k: int) -> None:
        """The four stages one by one, where torque or wrench follow the state."""
        h, t = self.h, k * self.h
        q, qd = tape.q[k], tape.qd[k]
        found: list[tuple[Any, Any, Any]] = []
        dq, dv = 0.0, 0.0
        for c in (0.0, 0.5, 0.5, 1.0):
            q_c, qd_c = q + c * h * dq, qd + c * h * dv
            tau = self.torque(t + c * h, q_c, qd_c)
            if not found:
                tape.tau[k] = tau
            a, p = self.rates(q_c, qd_c, tau, *self.push(t + c * h, q_c, qd_c))
            found.append((qd_c, a, p))
            dq, dv = qd_c, a
        for row, x, kind in ((tape.q, q, 0), (tape.qd, qd, 1), (tape.work, tape.work[k], 2)):
            k1, k2, k3, k4 = (stage[kind] for stage in found)
            row[k + 1] = x + h / 6 * (k1 + k4 + 2 * (k2 + k3))


class _AB4(_Stepper):
    """Three steps of RK4, then one evaluation a step."""

    def __init__(self, *given: Any):
        super().__init__(*given)
        self.start = _RK4(*given)
        self.kernel = ab4_step(self.model, self.wrench is not None)
        self.rates = rates(self.model, self.wrench is not None)
        self.past: list[
            tuple[np.ndarray, np.ndarray, np.ndarray]
        ] = []  # velocity, acceleration, power

    def step(self, tape: _Tape, k: int) -> None:
        t, q, qd = k * self.h, tape.q[k], tape.qd[k]
        if k < 3:
            self.start.step(tape, k)
            a, p = self.rates(q, qd, tape.tau[k], *self.push(t, q, qd))
            self.past.insert(0, (qd, a, p))
            return
        tau = tape.tau[k] = self.force(tape, k)
        v, a, p = zip(*self.past, strict=True)
        args = (q, qd, tau, *v, *a, *self.push(t, q, qd), *p, tape.work[k], self.h)
        now, power = np.empty_like(q), np.empty(q.shape[:-1])
        self.call(
            self.kernel, args, (tape.q[k + 1], tape.qd[k + 1], tape.work[k + 1, ...], now, power)
        )
        self.past = [(qd, now, power), *self.past[:2]]


class _Midpoint(_Stepper):
    """Symplectic: positions and momenta, the step solved by iteration to rounding."""

    def __init__(self, *given: Any):
        super().__init__(*given)
        if self.wrench is not None or self.torque.depends == "state":
            raise InputError(
                "method 'midpoint' is for free motion and torques of time; use 'rk4' for controllers and wrenches"
            )
        self.kernel = midpoint_iteration(self.model)
        self.p: np.ndarray | None = None

    def step(self, tape: _Tape, k: int) -> None:
        h, q = self.h, tape.q[k]
        M = self.model.functions["mass_matrix"]
        if self.p is None:
            self.p = np.einsum("...ij,...j->...i", M(q), tape.qd[k])
        tape.tau[k] = self.force(tape, k)
        tau = self.torque((k + 0.5) * h, q, tape.qd[k])
        q1, p1 = q + h * tape.qd[k], self.p
        change = np.inf
        for _ in range(ITERATIONS):
            q2, p2 = self.kernel(q, self.p, q1, p1, tau, h)
            before, change = change, float(np.abs(q2 - q1).max() + np.abs(p2 - p1).max())
            q1, p1 = q2, p2
            if change == 0 or (change >= before and change < 1e-9):
                break
        middle = (q1 - q) / h  # the velocity of the midpoint rule
        tape.work[k + 1] = tape.work[k] + h * np.einsum(
            "...i,...i->...", self._acting(tau, middle), middle
        )
        tape.q[k + 1] = q1
        self.p = p1
        tape.qd[k + 1] = np.linalg.solve(M(q1), p1[..., None])[..., 0]

    def _acting(self, tau: np.ndarray, qd: np.ndarray) -> np.ndarray:
        from ..drive import friction_force

        if not self.model.friction:
            return np.broadcast_to(tau, qd.shape)
        lost = [friction_force(j.friction, qd[..., i]) for i, j in enumerate(self.model.arm.joints)]
        return tau - np.stack(np.broadcast_arrays(*lost), axis=-1)


_STEPPERS: dict[str, Any] = {"rk4": _RK4, "ab4": _AB4, "midpoint": _Midpoint}
