"""Motion by SciPy's adaptive integrators: breaks where the input jumps, events, friction that sticks.

The state of the integrator is [q, qd, work]. The motion is cut into intervals on which the right-hand side is
smooth: at samples that are held, at a controller's ticks, and where a joint with sharp Coulomb friction starts or stops sliding.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import InputError
from ..model import Model
from .fixed import Record
from .friction import Sliding
from .inputs import Failed, Sampled, Source
from .integrators import rates

SOLVERS = {
    "dop853": "DOP853",
    "rk45": "RK45",
    "rk23": "RK23",
    "radau": "Radau",
    "bdf": "BDF",
    "lsoda": "LSODA",
}
IMPLICIT = ("radau", "bdf", "lsoda")
BLOWN = 1e8  # a joint velocity [rad/s or m/s] at which the motion has blown up
MOST_SWITCHES = 100_000  # of sliding joints, before the motion is taken for chattering without end


@dataclass(frozen=True, slots=True)
class Event:
    """A function of (t, q, qd) whose zeros are reported, and whether the run ends there."""

    name: str
    function: Callable[[float, np.ndarray, np.ndarray], float]
    terminal: bool = False
    direction: float = 0.0


@dataclass(frozen=True, slots=True)
class Tolerances:
    rtol: float
    atol: float


class Motion:
    """One adaptive run: the smooth pieces, put together."""

    def __init__(
        self,
        model: Model,
        torque: Source,
        wrench: Source | None,
        method: str,
        tolerances: Tolerances,
        events: Sequence[Event],
        period: float | None,
        max_step: float,
    ):
        self.model, self.torque, self.wrench = model, torque, wrench
        self.method, self.tolerances, self.events = method, tolerances, list(events)
        self.period, self.max_step = period, max_step
        self.n = model.arm.n
        self.rates = rates(model, wrench is not None)
        self.sliding = Sliding.of(model) if model.friction else None
        if self.sliding is not None and wrench is not None:
            raise InputError(
                "sharp Coulomb friction with a tool wrench is not supported; give the joints shape='tanh'"
            )
        self.held: np.ndarray | None = None
        self.evaluations = 0
        self.found: list[tuple[float, str]] = []

    # ---- right-hand side

    def force(self, t: float, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        return self.torque(t, q, qd) if self.held is None else self.held

    def derivative(self, t: float, y: np.ndarray) -> np.ndarray:
        n = self.n
        q, qd = y[:n], y[n : 2 * n]
        self.evaluations += 1
        tau = self.force(t, q, qd)
        if self.sliding is not None:
            qdd, power = self.sliding.rates(q, qd, tau)
        else:
            push = () if self.wrench is None else (self.wrench(t, q, qd),)
            qdd, power = self.rates(q, qd, tau, *push)
        return np.concatenate([qd, qdd, [power]])

    def jacobian(self, t: float, y: np.ndarray) -> np.ndarray:
        """d(derivative)/dy with the torque held, which is what an implicit method needs to converge."""
        n = self.n
        q, qd = y[:n], y[n : 2 * n]
        dq, dqd, _ = self.model.forward_dynamics_derivatives(q, qd, self.force(t, q, qd))
        J = np.zeros((2 * n + 1, 2 * n + 1))
        J[:n, n : 2 * n] = np.eye(n)
        J[n : 2 * n, :n], J[n : 2 * n, n : 2 * n] = dq, dqd
        return J

    # ---- pieces

    def breaks(self, t_end: float) -> list[float]:
        """Times inside the run at which the input jumps."""
        times: set[float] = set()
        for source in (self.torque, self.wrench):
            if isinstance(source, Sampled) and source.hold == "zero":
                times |= {float(t) for t in source.t}
        if self.period is not None:
            times |= {k * self.period for k in range(1, int(np.ceil(t_end / self.period)) + 1)}
        return [*sorted(t for t in times if 0 < t < t_end * (1 - 1e-12)), t_end]

    def run(
        self,
        q0: np.ndarray,
        qd0: np.ndarray,
        t_end: float,
        times: np.ndarray | None,
        progress: Callable[[float], None] | None,
    ) -> tuple[Record, list[tuple[float, float, Any]]]:
        """The motion at the given times (None: at the solver's own steps), and its dense pieces."""
        y = np.concatenate([q0, qd0, [0.0]])
        t = 0.0
        pieces: list[tuple[float, float, Any]] = []
        steps: list[np.ndarray] = [np.zeros(1)]
        status, message = "success", ""
        ends = self.breaks(t_end)
        switches = 0
        try:
            if self.sliding is not None:
                self.sliding.start(q0, qd0, self.torque(0.0, q0, qd0))
            while ends and status == "success":
                if self.period is not None and not switches:
                    self.held = np.array(self.torque(t, y[: self.n], y[self.n : 2 * self.n]))
                solved, kind = self.piece(t, y, ends[0])
                pieces.append((t, float(solved.t[-1]), solved.sol))
                steps.append(solved.t[1:])
                t, y = float(solved.t[-1]), solved.y[:, -1].copy()
                if kind == "end":
                    ends.pop(0)
                    switches = 0
                elif kind == "switch":
                    switches += 1
                    assert self.sliding is not None
                    y = self.sliding.switch(y, self.force(t, y[: self.n], y[self.n : 2 * self.n]))
                    if switches > MOST_SWITCHES:
                        status, message = (
                            "step",
                            f"friction switches without end near t = {t:.6g} s",
                        )
                else:
                    status, message = kind, self.explain(kind, t, solved.message)
                if progress is not None:
                    progress(t / t_end)
        except Failed as failure:
            status, message = "torque", f"{failure} (after t = {t:.6g} s)"
        return self.record(pieces, np.concatenate(steps), times, t, status, message), pieces

    def piece(self, t: float, y: np.ndarray, end: float) -> tuple[Any, str]:
        """One smooth interval, and what ended it: end, switch, event, nan or step."""
        from scipy.integrate import solve_ivp

        watched = [self.watch(e) for e in self.events]
        guard = _guard(self.n)
        stops = self.sliding.events(self) if self.sliding is not None else []
        implicit = self.method in IMPLICIT and self.sliding is None and self.wrench is None
        with np.errstate(all="ignore"):
            solved = solve_ivp(
                self.derivative,
                (t, end),
                y,
                method=SOLVERS[self.method],
                rtol=self.tolerances.rtol,
                atol=self.tolerances.atol,
                dense_output=True,
                events=[*watched, guard, *stops],
                max_step=self.max_step,
                **({"jac": self.jacobian} if implicit else {}),
            )
        for event, when in zip(self.events, solved.t_events, strict=False):
            self.found += [(float(x), event.name) for x in when]
        if solved.status == -1 or not np.isfinite(solved.y[:, -1]).all():
            return solved, "nan" if not np.isfinite(solved.y[:, -1]).all() else "step"
        if solved.status == 0:
            return solved, "end"
        return solved, self.reason(solved, len(watched))

    def reason(self, solved: Any, watched: int) -> str:
        if len(solved.t_events[watched]):
            return "step"
        if any(len(when) for when in solved.t_events[watched + 1 :]):
            return "switch"
        return "event"

    def watch(self, event: Event) -> Any:
        def function(t: float, y: np.ndarray) -> float:
            return event.function(t, y[: self.n], y[self.n : 2 * self.n])

        function.terminal = event.terminal  # type: ignore[attr-defined]
        function.direction = event.direction  # type: ignore[attr-defined]
        return function

    def explain(self, kind: str, t: float, solver: str) -> str:
        if kind == "event":
            return f"event '{self.found[-1][1]}' ended the run at t = {t:.6g} s"
        if kind == "nan":
            return f"the state is no longer finite at t = {t:.6g} s; check torques, masses and the mass matrix there"
        return f"the motion blew up at t = {t:.6g} s ({solver.rstrip('.')}); check torques, or damp the joints"

    # ---- results

    def record(
        self,
        pieces: Sequence[tuple[float, float, Any]],
        steps: np.ndarray,
        times: np.ndarray | None,
        reached: float,
        status: str,
        message: str,
    ) -> Record:
        grid = steps if times is None else times[times <= reached * (1 + 1e-12)]
        y = dense(pieces, grid) if pieces else np.zeros((0, 2 * self.n + 1))
        grid = grid[: len(y)]
        q, qd, work = y[:, : self.n], y[:, self.n : 2 * self.n], y[:, -1]
        tau = np.zeros_like(q)
        try:
            for k, t in enumerate(grid):
                tick = t if self.period is None else np.floor(t / self.period + 1e-9) * self.period
                at = dense(pieces, np.array([tick]))[0] if self.period is not None else y[k]
                tau[k] = self.torque(tick, at[: self.n], at[self.n : 2 * self.n])
        except Failed as failure:
            status, message = "torque", message or str(failure)
        return Record(grid, q, qd, tau, work, status, message)


def _guard(n: int) -> Any:
    """A terminal event where velocities have blown up."""

    def function(t: float, y: np.ndarray) -> float:
        speed = float(np.abs(y[n : 2 * n]).max())
        return 1 - speed / BLOWN if np.isfinite(speed) else -1.0

    function.terminal = True  # type: ignore[attr-defined]
    return function


def dense(pieces: Sequence[tuple[float, float, Any]], times: np.ndarray) -> np.ndarray:
    """The states at some times by each piece's own interpolant."""
    starts = np.array([start for start, _, _ in pieces])
    which = np.clip(np.searchsorted(starts, times, side="right") - 1, 0, len(pieces) - 1)
    found = [
        pieces[k][2](min(max(t, pieces[k][0]), pieces[k][1]))
        for k, t in zip(which, times, strict=True)
    ]
    return np.array(found)
