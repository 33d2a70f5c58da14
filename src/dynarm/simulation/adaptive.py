"""Motion by SciPy's adaptive integrators: breaks where an input jumps, events, friction that sticks.

The state of the integrator is [q, qd, work, loss], and one more where joints may stick. A run is cut into intervals on
which the right-hand side is smooth: at samples of an input, at a controller's ticks, and where a joint with sharp
Coulomb friction starts or stops sliding. Every accepted step leaves its interpolant, on which events are located.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ..border.kinds import Foreign, Json
from .budget import Budget
from .events import POINTS, Event, root
from .health import BLOWN, Outcome, Progress, cause
from .inputs import Failed, Law, Source, breaks_of
from .memory import Turns
from .path import Path, Piece
from .system import System, coordinates, put_back, rates, state_of

SOLVERS = {
    "dop853": "DOP853",
    "rk45": "RK45",
    "rk23": "RK23",
    "radau": "Radau",
    "bdf": "BDF",
    "lsoda": "LSODA",
}
IMPLICIT = ("radau", "bdf", "lsoda")
ASKED = 200  # evaluations after which the clock is looked at
STALLED = 100  # switches of friction in a row at the same time
LOST = 2000  # evaluations in a row that give no finite number, before the run is given up
BROKEN = (ValueError, ArithmeticError, np.linalg.LinAlgError)  # what SciPy raises over NaN
HINT = (
    "check torques, masses and gains, damp the joints, or take a method for stiff motions: 'radau'"
)

Values = Callable[[Sequence[float], np.ndarray, np.ndarray], Sequence[Sequence[float]]]


class Ended(Exception):
    """The run ends here, for a reason that the arguments give: status, message."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How a run is integrated."""

    method: str
    rtol: float
    atol: float | np.ndarray  # one, or one for each number of the state
    max_step: float
    max_steps: int
    events: Sequence[Event]
    max_seconds: float | None = None
    together: Values | None = None  # values of all events at once, where that is cheaper
    halts: Sequence[float] = ()  # times at which the integrator begins anew, with a corrected state
    corrected: Callable[[np.ndarray], np.ndarray] | None = None

    def values(
        self, times: Sequence[float], q: np.ndarray, qd: np.ndarray
    ) -> Sequence[Sequence[float]]:
        """A row of values for each event, one for each state."""
        if self.together is not None:
            return self.together(times, q, qd)
        return [
            [event(*state) for state in zip(times, q, qd, strict=True)] for event in self.events
        ]


class AdaptiveIntegration:
    """One run with steps that the integrator chooses."""

    def __init__(self, system: System, torque: Source, push: Source | None, settings: Settings):
        self.system, self.layout = system, system.layout
        self.q, self.qd = self.layout.q, self.layout.qd
        self.sources = (torque,) if push is None else (torque, push)
        self.settings = settings
        self.sliding = system.switching(10 * float(np.min(settings.atol)))
        self.turns = Turns.of(system.memory, 10 * float(np.min(settings.atol)))
        self.rates = self.sliding.rates if self.sliding is not None else rates(system)
        self.extras = () if self.sliding is not None else system.extras
        self.laws: tuple[Law, ...] = ()
        self.law_starts: list[float] = []
        self.law_list: list[tuple[Law, ...]] = []
        self.pieces: list[Piece] = []
        self.times = [0.0]
        self.states: list[np.ndarray] = []
        self.events: list[tuple[float, str]] = []
        self.evaluations, self.steps, self.lost, self.stalled = 0, 0, 0, 0
        self.budget = Budget(np.inf)

    # ---- right-hand side

    def seen(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """q and qd of a state as functions of the user see them."""
        return coordinates(self.system, y), y[..., self.qd]

    def drives(self, t: float, q: np.ndarray, qd: np.ndarray) -> list[np.ndarray]:
        return [law(t, q, qd) for law in self.laws]

    def derivative(self, t: float, y: np.ndarray) -> np.ndarray:
        self.evaluations += 1
        if not self.evaluations % ASKED:
            self.mind_budget()
        rate = self.rates(y, *self.drives(t, *self.seen(y)), *self.extras)
        if np.isfinite(rate).all():
            self.lost = 0
        else:
            self.lost += 1
            if self.lost > LOST:
                raise Ended
        return rate

    def mind_budget(self) -> None:
        """End a run that takes longer than it may."""
        spent = self.budget.spent(self.times[-1])
        if spent:
            raise Ended("time", spent)

    def jacobian(self, t: float, y: np.ndarray) -> np.ndarray:
        """d(derivative)/dy: dynamics by their compiled derivatives, a torque that follows the state by differences."""
        q, qd = y[self.q], y[self.qd]
        (tau,) = self.drives(t, *self.seen(y))
        assert self.system.linear is not None
        linear = self.system.linear(q, qd, tau)
        moving = len(linear.A)
        J = np.zeros((self.layout.size, self.layout.size))
        J[:moving, :moving] = linear.A
        if not self.laws[0].steady:
            for k in range(moving):
                moved = y.copy()
                moved[k] += 1.5e-8 * max(1.0, abs(y[k]))
                change = self.laws[0](t, moved[self.q], moved[self.qd]) - tau
                J[:moving, k] += linear.B @ change / (moved[k] - y[k])
        return J

    def solver(self, t: float, y: np.ndarray, end: float) -> Foreign:
        from scipy import integrate

        s = self.settings
        extra: Json = {}
        if s.method in IMPLICIT and self.sliding is None and self.system.linear is not None:
            extra["jac"] = self.jacobian
        kind = getattr(integrate, SOLVERS[s.method])
        try:
            return kind(
                self.derivative, t, y, end, rtol=s.rtol, atol=s.atol, max_step=s.max_step, **extra
            )
        except BROKEN:
            raise Ended from None

    # ---- the run

    def run(
        self, q0: np.ndarray, qd0: np.ndarray, t_end: float, progress: Progress | None
    ) -> tuple[str, str]:
        """Integrate as far as it goes; status and message."""
        self.budget = Budget(t_end, self.settings.max_seconds)
        t, y = 0.0, np.append(state_of(self.system, q0, qd0), [0.0] * (self.sliding is not None))
        self.states.append(y)
        breaks = breaks_of(self.sources, t_end, self.settings.halts)
        try:
            with np.errstate(all="ignore"):
                for end in [*breaks.tolist(), t_end]:
                    self.enter(t, end, y)
                    t, y = self.interval(t, y, end, progress, t_end)
                    y = self.correct(y)
        except Failed as failure:
            return "function", str(failure)
        except Ended as ended:
            if ended.args:
                return ended.args[0], ended.args[1]
            last = self.states[-1]
            return cause(self.system, self.times[-1], last[self.q], last[self.qd], HINT)
        return "success", ""

    def correct(self, y: np.ndarray) -> np.ndarray:
        """The state from which the next interval begins, kept in place of the one that the last one ended with."""
        if self.settings.corrected is not None:
            self.states[-1] = y = self.settings.corrected(y)
        return y

    def enter(self, t: float, end: float, y: np.ndarray) -> None:
        """Find the laws of the inputs in the interval that begins here, and what the joints at rest do."""
        q, qd = self.seen(y)
        self.laws = tuple(s.during(t, end, q, qd) for s in self.sources)
        self.law_starts.append(t)
        self.law_list.append(self.laws)
        self.switch(t, y, qd == 0)

    def switch(self, t: float, y: np.ndarray, resting: np.ndarray) -> None:
        """Choose the modes of joints at rest anew, and report what changed."""
        qd = y[self.qd]
        if self.turns is not None:
            self.turns.settle(qd)
        if self.sliding is None:
            return
        before = self.sliding.mode if self.pieces else np.sign(qd)
        self.sliding.settle(y, resting, *self.drives(t, *self.seen(y)))
        self.events += [(t, words) for words in self.sliding.changes(before) if self.pieces]

    def interval(
        self, t: float, y: np.ndarray, end: float, progress: Progress | None, t_end: float
    ) -> tuple[float, np.ndarray]:
        """From one break to the next, with a new start after each switch of friction."""
        while t < end:
            solver = self.solver(t, y, end)
            if self.lost:  # the first rate is not finite; with it no integrator finds a step
                raise Ended
            while solver.status == "running":
                fired = self.step(solver)
                t, y = self.times[-1], self.states[-1]
                if progress is not None:
                    progress(t / t_end)
                if fired is not None:
                    y = y.copy()
                    y[self.qd][fired] = 0.0
                    self.states[-1] = y
                    self.switch(t, y, y[self.qd] == 0)
                    break
        return t, y

    def step(self, solver: Foreign) -> np.ndarray | None:
        """One step, its events, and where friction ended it the joints concerned."""
        if self.settings.max_seconds is not None:
            self.mind_budget()
        try:
            solver.step()
        except BROKEN:
            raise Ended from None
        speed = np.abs(solver.y[self.qd]).max()
        if solver.status == "failed" or not speed < BLOWN:
            raise Ended
        self.steps += 1
        start, end, states = solver.t_old, solver.t, solver.dense_output()
        if not end > start:
            raise Ended
        cut, fired = self.look(start, end, states)
        stop = self.watch(start, cut, states, fired)
        if stop is not None:
            cut = stop[0]
        self.keep(start, cut, end, solver.y, states)
        if stop is not None:
            raise Ended("event", f"event '{stop[1]}' ended the run at t = {stop[0]:.6g} s")
        if self.steps >= self.settings.max_steps and cut < self.budget.t_end:
            raise Ended(
                "step",
                f"{self.steps} steps led no further than t = {cut:.6g} s; raise max_steps, loosen rtol, or "
                "take a method for stiff motions: 'radau'",
            )
        return fired

    def keep(self, start: float, cut: float, end: float, y: np.ndarray, states: Foreign) -> None:
        state = put_back(self.system, y.copy() if cut == end else states(cut))
        if cut > self.times[-1]:
            self.pieces.append(Piece(start, cut, states))
            self.times.append(cut)
            self.states.append(state)
            self.stalled = 0
        else:
            self.stalled += 1
            if self.stalled > STALLED:
                raise Ended("step", f"friction switches without end at t = {cut:.6g} s")
        self.begin(state[self.qd])

    # ---- events

    def begin(self, qd: np.ndarray) -> None:
        """Note which joints and which elements have begun to move."""
        for switching in (self.sliding, self.turns):
            if switching is not None:
                switching.arm(qd)

    def gaps(self, t: float, y: np.ndarray) -> np.ndarray:
        """How far joints are from leaving their modes, and after them elements from turning round."""
        parts = []
        if self.sliding is not None:
            parts.append(self.sliding.gaps(y, *self.drives(t, *self.seen(y))))
        if self.turns is not None:
            parts.append(self.turns.gaps(y[self.qd]))
        return np.concatenate(parts)

    def look(self, start: float, end: float, states: Foreign) -> tuple[float, np.ndarray | None]:
        """Where friction changes within a step, and which joints come to rest or break loose there."""
        if self.sliding is None and self.turns is None:
            return end, None
        joints = 0 if self.sliding is None else self.layout.speeds
        low = start
        for high in np.linspace(start, end, POINTS + 1)[1:].tolist():
            beyond = np.flatnonzero(self.gaps(high, states(high)) < 0)
            if len(beyond):
                times = [
                    root(lambda t, i=i: float(self.gaps(t, states(t))[i]), low, high)  # type: ignore[misc]
                    for i in beyond
                ]
                first = min(times)
                fired = np.zeros(self.layout.speeds, bool)
                ended = [i for i, t in zip(beyond, times, strict=True) if t == first]
                fired[[i for i in ended if i < joints]] = True
                return first, fired
            self.begin(states(high)[self.qd])
            low = high
        return end, None

    def watch(
        self, start: float, end: float, states: Foreign, fired: np.ndarray | None
    ) -> tuple[float, str] | None:
        """Report the events of a step; the first one that ends the run, if any.

        Joints that friction stops at the end are at rest there, whichever side of zero the interpolant rounds to.
        """
        if not self.settings.events:
            return None
        points = np.linspace(start, end, POINTS + 1)
        y = np.ascontiguousarray(states(points).T)
        if fired is not None:
            y[-1, self.qd][fired] = 0.0
        values = self.settings.values(points.tolist(), *self.seen(y))
        hits = []
        for event, signs in zip(self.settings.events, values, strict=True):

            def value(t: float, event: Event = event) -> float:
                return event(t, *self.seen(y[-1] if t == end else states(t)))

            for k in range(POINTS):
                if event.crosses(signs[k], signs[k + 1]):
                    hits.append((root(value, points[k].item(), points[k + 1].item()), event))
        hits.sort(key=lambda hit: hit[0])
        for t, event in hits:
            self.events.append((t, event.name))
            if event.terminal:
                return t, event.name
        return None

    # ---- results

    @property
    def path(self) -> Path:
        return Path(self.states[0], self.pieces, self.system)

    def record(self, times: np.ndarray | None, status: str, message: str) -> Outcome:
        """The motion at some times (None: at the integrator's own steps)."""
        reached, layout = self.times[-1], self.layout
        if times is None:
            t, y = np.array(self.times), np.array(self.states)
        else:
            t = times[times <= reached * (1 + 1e-12)]
            y = put_back(self.system, self.path.states(t))
        x, q, qd = y[:, : layout.size], y[:, self.q], y[:, self.qd]
        sizes = (layout.inputs, layout.push)[: len(self.sources)]
        rows = [np.full((len(t), size), np.nan) for size in sizes]
        which = np.searchsorted(self.law_starts, t, side="right") - 1
        try:
            for k, time in enumerate(t.tolist()):
                if which[k] >= 0:
                    for row, law in zip(rows, self.law_list[which[k]], strict=True):
                        row[k] = law(time, q[k], qd[k])
        except Failed as failure:
            if status == "success":
                status, message = "function", str(failure)
        push = rows[1] if len(rows) > 1 else None
        return Outcome(t, x, rows[0], push, status, message, reached, self.evaluations, self.steps)
