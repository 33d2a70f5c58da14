"""Motion of a mobile manipulator in time, by SciPy's integrators on the compiled equations."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ..border.arguments import above_zero, check_finite, flag, real, reals
from ..border.kinds import Given, Numbers
from ..border.words import brief
from ..errors import InputError, ModelError, UnknownName
from ..simulation.budget import Budget
from .admissibility import coefficients
from .constraints import SINGULAR, forwardness
from .stability import Tipover, friction_needed, tip_angles

if TYPE_CHECKING:
    from .robot import MobileManipulator

Signal = Callable[..., np.ndarray]
MOST_TIMES = 1e7  # of one run
METHODS = {m.lower(): m for m in ("DOP853", "RK45", "RK23", "Radau", "BDF", "LSODA")}


@dataclass(frozen=True, slots=True)
class Event:
    """A moment at which a condition of rolling is lost or found again."""

    t: float
    kind: str  # "contact" or "adhesion"
    wheel: str  # with more than three wheels, for contact, the two between which the tip-over axis runs
    lost: bool


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """A simulated motion on a grid of times, with everything about the ground."""

    t: np.ndarray  # (N,)
    q: np.ndarray  # (N, coordinates)
    z: np.ndarray  # (N, speeds)
    zd: np.ndarray
    tau: np.ndarray  # (N, inputs)
    kinetic: np.ndarray  # (N,) [J]
    potential: np.ndarray
    wheel_forces: np.ndarray  # (N, w, 3) [N]
    friction_needed: np.ndarray  # (N, w)
    tipover: Tipover
    events: tuple[Event, ...]
    status: str

    __repr__ = brief

    @property
    def energy(self) -> np.ndarray:
        """Kinetic and potential energy (N,) [J]."""
        return self.kinetic + self.potential

    @property
    def measure(self) -> np.ndarray:
        """Tip-over measure (N,) [N rad]; negative where the motion is formal."""
        return self.tipover.measure

    @property
    def intervals(self) -> tuple[tuple[float, float], ...]:
        """Spans of time in which the measure is negative, their ends interpolated."""
        return negative_spans(self.t, self.measure)


def negative_spans(t: np.ndarray, values: np.ndarray) -> tuple[tuple[float, float], ...]:
    """Where a sampled signal is negative: (from, to), with straight lines between the samples."""
    below = values < 0
    edges = np.flatnonzero(below[1:] != below[:-1])
    crossings = [
        float(t[k] - values[k] * (t[k + 1] - t[k]) / (values[k + 1] - values[k])) for k in edges
    ]
    marks = ([float(t[0])] if below[0] else []) + crossings + ([float(t[-1])] if below[-1] else [])
    return tuple(zip(marks[::2], marks[1::2], strict=True))


def simulate(
    robot: MobileManipulator,
    q0: Numbers,
    z0: Numbers,
    t_end: float,
    torque: Any = None,
    *,
    load: Any = None,
    friction: Given = None,
    stop: bool = False,
    locked: bool = False,
    project: bool = False,
    dt: float | None = None,
    method: str = "dop853",
    rtol: float = 1e-12,
    atol: float = 1e-12,
    max_seconds: float | None = None,
) -> Run:
    """The motion from (q0, z0) until t_end, the wheels taken to roll whatever happens.

    torque, load  None, an array, or a function f(t, q, z) of one
    friction      coefficient against which adhesion is watched; contact always is
    stop          end the motion at the first loss of contact or adhesion; else go on and list them
    locked        hold the steering column
    project       put the speeds back on the energy of the start after each interval of the grid; off by default,
                  because the speeds are independent and nothing drifts off the constraints
    dt            spacing of the grid; default: a hundredth of t_end, at most 0.01 s
    max_seconds   computing time after which the run is refused; None: no limit, but a run that would need more than ten
                  further minutes at its pace is refused as well. What a function of yours raises is raised
    """
    q0, z0, t_end = _start(robot, q0, z0, t_end)
    solver = METHODS.get(str(method).lower())
    if solver is None:
        raise UnknownName("method", method, METHODS)
    step = min(0.01, t_end / 100)
    if dt is not None:
        wanted = f"a spacing between 0 and t_end = {t_end:g} s"
        step = real("dt", dt, wanted, lambda x: 0 < x <= t_end)
    if t_end > MOST_TIMES * step:
        raise InputError(
            f"{t_end:g} s by steps of {step:g} s are more than {MOST_TIMES:.0e} times; take a larger dt or end earlier"
        )
    if max_seconds is not None:
        max_seconds = real("max_seconds", max_seconds, "seconds above 0", lambda x: x > 0)
    stop, project = flag("stop", stop), flag("project", project)
    small = "a tolerance between 1e-15 and 1"
    rtol, atol = (
        real(what, x, small, lambda x: 1e-15 <= x <= 1)
        for what, x in (("rtol", rtol), ("atol", atol))
    )
    inputs = _signal("torque", torque, robot.input_names)
    loads = _signal("load", load, robot.entry_names("load"))
    eta = None if friction is None else coefficients(friction, len(robot.wheels))
    if project and (torque is not None or load is not None or robot.friction):
        raise InputError(
            "project keeps the energy of free motion; leave torque, load and friction out"
        )
    names = (robot.variant(kind, z0, locked) for kind in ("derivative", "control"))
    for name in (*names, "energy"):
        robot.functions[name]  # compiled before the budget's clock starts
    flow = Flow(robot, inputs, loads, eta, locked, Budget(t_end, max_seconds))
    grid = np.append(np.arange(0.0, t_end - 1e-9 * step, step), t_end)
    settings = {"method": solver, "rtol": rtol, "atol": atol, "events": flow.events(stop)}
    return _run(robot, flow, *_integrate(flow, q0, z0, grid, project, settings))


def _integrate(
    flow: Flow,
    q0: np.ndarray,
    z0: np.ndarray,
    grid: np.ndarray,
    project: bool,
    settings: dict[str, Any],
) -> tuple[np.ndarray, np.ndarray, list[Event], str]:
    """Times, states, events, and why the motion ended before its time (empty if it did not)."""
    from scipy.integrate import solve_ivp

    robot, n, y = flow.robot, len(q0), np.concatenate([q0, z0])
    energy = float(robot.kinetic_energy(q0, z0) + robot.potential_energy(q0))
    times, states, happened, ended = [grid[:1]], [y[None]], [], ""
    for piece in itertools.pairwise(grid) if project else [grid]:
        answer = solve_ivp(flow.rate, (piece[0], piece[-1]), y, t_eval=np.array(piece), **settings)
        flow.refuse_singular(answer)
        times.append(answer.t[1:])
        states.append(answer.y.T[1:])
        happened += flow.happened(answer)
        if answer.status < 0:
            ended = answer.message
            break
        if answer.status > 0:  # the moment of the event itself ends the run
            ended = "stopped"
            moments = [max(t, default=-1.0) for t in answer.t_events]
            last = int(np.argmax(moments))
            times.append(answer.t_events[last][-1:])
            states.append(answer.y_events[last][-1:])
            break
        y = answer.y[:, -1].copy()
        if project:
            y[n:] *= _rescaled(robot, y, n, energy)
            states[-1][-1] = y
    return np.concatenate(times), np.concatenate(states), happened, ended


@dataclass(slots=True, eq=False)
class Flow:
    """The equations of motion as SciPy wants them, and the margins watched on the way.

    Contact: the vertical force of each wheel where three carry the robot; with more, the tip-over angle about each
    side of the support polygon, since the split is a convention. Adhesion: by the minimum-norm split.
    """

    robot: MobileManipulator
    inputs: Signal
    loads: Signal
    eta: np.ndarray | None
    locked: bool
    budget: Budget
    singular: list[float] = field(default_factory=list)

    def labels(self) -> list[tuple[str, str, int]]:
        """Kind, wheel (or axis) and place of every margin."""
        robot, names = self.robot, self.robot.wheel_names
        if robot.support.determinate:
            contact = list(names)
        else:
            contact = [f"{names[a]}-{names[b]}" for a, b in robot.support.axes]
        found = [("contact", name, k) for k, name in enumerate(contact)]
        if self.eta is not None:
            found += [("adhesion", names[j], len(contact) + j) for j in robot.formulas.rolling]
        return found

    def rate(self, t: float, y: np.ndarray) -> np.ndarray:
        """Rates of q and z."""
        spent = self.budget.spent(t)
        if spent:
            raise ModelError(spent)
        n = len(self.robot.coordinate_names)
        q, z = y[:n], y[n:]
        name = "derivative:locked" if self.locked and self.robot.guidance.steered else "derivative"
        found = self.robot.functions[name](q, z, self.inputs(t, q, z), self.loads(t, q, z))
        if self.robot.guidance.steered and not found[-1] < SINGULAR**2:
            self.singular.append(t)
        return np.concatenate(found[:2])

    def margins(self, t: float, y: np.ndarray) -> np.ndarray:
        """What contact and adhesion leave; negative where they are lost."""
        n = len(self.robot.coordinate_names)
        q, z = y[:n], y[n:]
        name = "control:locked" if self.locked and self.robot.guidance.steered else "control"
        found = self.robot.functions[name](q, z, self.inputs(t, q, z), self.loads(t, q, z))
        forces, ground = found[5], found[6]
        if self.robot.support.determinate:
            contact = forces[:, 2]
        else:
            contact = tip_angles(self.robot.support, ground[:3], ground[3:])
        if self.eta is None:
            return contact
        grip = self.eta * forces[:, 2] - np.hypot(forces[:, 0], forces[:, 1])
        return np.concatenate([contact, grip])

    def events(self, stop: bool) -> list[Callable[..., float]]:
        """Functions whose zeros SciPy looks for; the last one of a steered platform is the singular angle."""
        found: list[Callable[..., float]] = []
        for _, _, k in self.labels():

            def watch(t: float, y: np.ndarray, k: int = k) -> float:
                return float(self.margins(t, y)[k])

            watch.terminal, watch.direction = stop, -1.0 if stop else 0.0  # type: ignore[attr-defined]
            found.append(watch)
        if self.robot.guidance.steered:
            guidance, steering = self.robot.guidance, self.robot.platform.steering

            def ahead(t: float, y: np.ndarray) -> float:
                return float(forwardness(guidance, steering, float(y[3])))

            ahead.terminal = True  # type: ignore[attr-defined]
            found.append(ahead)
        return found

    def refuse_singular(self, answer: Any) -> None:
        """An error if the steering angle has become singular."""
        if not self.robot.guidance.steered:
            return
        self.singular += answer.t_events.pop().tolist()
        answer.y_events.pop()
        if self.singular:
            raise InputError(
                f"the steering angle reached a singular value at t = {min(self.singular):.6g} s; end the motion "
                "before, lock the steering or give it friction"
            )

    def happened(self, answer: Any) -> list[Event]:
        """The events of one stretch, by time; lost or found again is told by the margin's slope."""
        found, h = [], 1e-6
        for (kind, name, k), times, states in zip(
            self.labels(), answer.t_events, answer.y_events, strict=True
        ):
            for t, y in zip(times, states, strict=True):
                ahead = self.margins(t + h, y + h * self.rate(t, y))[k]
                found.append(Event(float(t), kind, name, bool(ahead < self.margins(t, y)[k])))
        return sorted(found, key=lambda e: e.t)


def _start(
    robot: MobileManipulator, q0: Numbers, z0: Numbers, t_end: float
) -> tuple[np.ndarray, np.ndarray, float]:
    q = reals("q0", q0, "real numbers", robot.coordinate_names)
    z = reals("z0", z0, "real numbers", robot.speed_names)
    end = real("t_end", t_end, "a time greater than 0 s", above_zero)
    for what, x, names in (("q0", q, robot.coordinate_names), ("z0", z, robot.speed_names)):
        if x.shape != (len(names),):
            raise InputError(
                f"{what} has shape {x.shape}; give {len(names)} numbers: {', '.join(names)}"
            )
        check_finite(what, x)
    return q, z, end


def _signal(what: str, given: Any, names: tuple[str, ...]) -> Signal:
    """A function of (t, q, z) out of None, an array or a function."""
    size = len(names)
    if callable(given):

        def called(t: float, q: np.ndarray, z: np.ndarray) -> np.ndarray:
            made = given(t, q, z)
            value = reals(f"what {what}(t, q, z) returned", made, f"{size} numbers", names)
            if value.shape != (size,):
                raise InputError(
                    f"{what}(t, q, z) returned shape {value.shape}; return {size} numbers"
                )
            return value

        return called
    wanted = f"{size} numbers or a function f(t, q, z)"
    value = np.zeros(size) if given is None else reals(what, given, wanted, names)
    if value.shape != (size,):
        raise InputError(f"{what} has shape {value.shape}; give {size} numbers")
    return lambda t, q, z: value


def _rescaled(robot: MobileManipulator, y: np.ndarray, n: int, energy: float) -> float:
    """The factor that gives the speeds back the energy of the start."""
    kinetic = float(robot.kinetic_energy(y[:n], y[n:]))
    left = energy - float(robot.potential_energy(y[:n]))
    return float(np.sqrt(left / kinetic)) if kinetic > 0 and left > 0 else 1.0


def _run(
    robot: MobileManipulator,
    flow: Flow,
    t: np.ndarray,
    y: np.ndarray,
    events: list[Event],
    ended: str,
) -> Run:
    n = len(robot.coordinate_names)
    q, z = y[:, :n], y[:, n:]
    tau = np.array([flow.inputs(*row) for row in zip(t, q, z, strict=True)])
    load = np.array([flow.loads(*row) for row in zip(t, q, z, strict=True)])
    found = robot.evaluate(q, z, tau, load, flow.locked)
    tipover = robot.tipover_of(found.ground)
    status = tipover.status
    if ended:
        lost = [e for e in events if e.lost]
        why = f"{lost[-1].wheel} loses {lost[-1].kind}" if lost and ended == "stopped" else ended
        status = f"stopped at t = {t[-1]:.6g} s: {why}"
    return Run(
        t,
        q,
        z,
        found.zd,
        tau,
        robot.kinetic_energy(q, z),
        np.broadcast_to(robot.potential_energy(q), t.shape),
        found.forces,
        friction_needed(found.forces),
        tipover,
        tuple(events),
        status,
    )
