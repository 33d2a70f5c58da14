"""Motion of a mobile manipulator in time, by SciPy's integrators on the compiled equations."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InputError, KindError, UnknownName
from .admissibility import coefficients
from .constraints import SINGULAR, forwardness
from .stability import Tipover, friction_needed

if TYPE_CHECKING:
    from .robot import MobileManipulator

Array = Any
METHODS = {m.lower(): m for m in ("DOP853", "RK45", "RK23", "Radau", "BDF", "LSODA")}


@dataclass(frozen=True, slots=True)
class Event:
    """A moment at which a condition of rolling is lost or found again."""

    t: float
    kind: str  # "contact" or "adhesion"
    wheel: str
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
    q0: Array,
    z0: Array,
    t_end: float,
    torque: Any = None,
    *,
    load: Any = None,
    friction: Array = None,
    stop: bool = False,
    locked: bool = False,
    project: bool = False,
    dt: float | None = None,
    method: str = "dop853",
    rtol: float = 1e-12,
    atol: float = 1e-12,
) -> Run:
    """The motion from (q0, z0) until t_end, the wheels taken to roll whatever happens.

    torque, load  None, an array, or a function f(t, q, z) of one
    friction      coefficient against which adhesion is watched; contact always is
    stop          end the motion at the first loss of contact or adhesion; else go on and list them
    locked        hold the steering column
    project       put the speeds back on the energy of the start after each interval of the grid; off by default,
                  because the speeds are independent and nothing drifts off the constraints
    dt            spacing of the grid; default: a hundredth of t_end, at most 0.01 s
    """
    from scipy.integrate import solve_ivp

    q0, z0, t_end = _start(robot, q0, z0, t_end)
    name = METHODS.get(str(method).lower())
    if name is None:
        raise UnknownName("method", method, METHODS)
    step = min(0.01, t_end / 100) if dt is None else float(dt)
    if not 0 < step <= t_end:
        raise InputError(f"dt is {step:g}; give a spacing between 0 and t_end = {t_end:g} s")
    inputs = _signal("torque", torque, len(robot.input_names))
    loads = _signal("load", load, 6)
    eta = None if friction is None else coefficients(friction, len(robot.wheels))
    if project and (torque is not None or load is not None or robot.friction):
        raise InputError(
            "project keeps the energy of free motion; leave torque, load and friction out"
        )
    key = robot.variant("derivative", z0, locked)
    rate, n = robot.functions[key], len(q0)
    watch = robot.functions[robot.variant("control", z0, locked)]
    singular: list[float] = []

    def derivative(t: float, y: np.ndarray) -> np.ndarray:
        q, z = y[:n], y[n:]
        found = rate(q, z, inputs(t, q, z), loads(t, q, z))
        if robot.guidance.steered and not found[-1] < SINGULAR**2:
            singular.append(t)
        return np.concatenate(found[:2])

    def margins(t: float, y: np.ndarray) -> np.ndarray:
        q, z = y[:n], y[n:]
        forces = watch(q, z, inputs(t, q, z), loads(t, q, z))[5]
        return _margins(forces, eta)

    def ahead(t: float, y: np.ndarray) -> float:
        return float(forwardness(robot.guidance, robot.platform.steering, float(y[3])))

    ahead.terminal = True  # type: ignore[attr-defined]
    grid = np.append(np.arange(0.0, t_end - 1e-9 * step, step), t_end)
    events = _watchers(robot, margins, eta is not None, stop)
    if robot.guidance.steered:
        events.append(ahead)
    y = np.concatenate([q0, z0])
    energy = float(robot.kinetic_energy(q0, z0) + robot.potential_energy(q0))
    pieces = itertools.pairwise(grid) if project else [(0.0, t_end)]
    times, states, found_events, ended = [np.zeros(1)], [y[None]], [], ""
    for start, end in pieces:
        wanted = np.array([start, end]) if project else grid
        answer = solve_ivp(
            derivative,
            (start, end),
            y,
            method=name,
            t_eval=wanted,
            events=events,
            rtol=rtol,
            atol=atol,
        )
        if robot.guidance.steered:
            singular += answer.t_events.pop().tolist()
            answer.y_events.pop()
        if singular:
            raise InputError(
                f"the steering angle reached a singular value at t = {min(singular):.6g} s; end the motion before, "
                "lock the steering or give it friction"
            )
        times.append(answer.t[1:])
        states.append(answer.y.T[1:])
        found_events += _events(robot, answer, margins, eta is not None)
        if answer.status != 0:
            ended = answer.message if answer.status < 0 else "stopped"
            break
        y = answer.y[:, -1].copy()
        if project:
            y[n:] *= _rescaled(robot, y, n, energy)
            states[-1][-1] = y
    return _run(
        robot,
        np.concatenate(times),
        np.concatenate(states),
        inputs,
        loads,
        locked,
        found_events,
        ended,
    )


def _start(
    robot: MobileManipulator, q0: Array, z0: Array, t_end: float
) -> tuple[np.ndarray, np.ndarray, float]:
    try:
        q, z, end = np.asarray(q0, float), np.asarray(z0, float), float(t_end)
    except (TypeError, ValueError):
        raise KindError("q0, z0 and t_end must be real numbers") from None
    for what, x, names in (("q0", q, robot.coordinate_names), ("z0", z, robot.speed_names)):
        if x.shape != (len(names),):
            raise InputError(
                f"{what} has shape {x.shape}; give {len(names)} numbers: {', '.join(names)}"
            )
        if not np.isfinite(x).all():
            raise InputError(f"{what} holds NaN or infinity; give finite numbers")
    if not (np.isfinite(end) and end > 0):
        raise InputError(f"t_end is {end:g}; give a time greater than 0 s")
    return q, z, end


def _signal(what: str, given: Any, size: int) -> Callable[..., np.ndarray]:
    """A function of (t, q, z) out of None, an array or a function."""
    if callable(given):
        return lambda t, q, z: np.asarray(given(t, q, z), float)
    try:
        value = np.zeros(size) if given is None else np.asarray(given, float)
    except (TypeError, ValueError):
        raise KindError(
            f"{what} is {given!r}; give {size} numbers or a function f(t, q, z)"
        ) from None
    if value.shape != (size,):
        raise InputError(f"{what} has shape {value.shape}; give {size} numbers")
    return lambda t, q, z: value


def _margins(forces: np.ndarray, eta: np.ndarray | None) -> np.ndarray:
    """Vertical forces, then (with friction) what adhesion leaves, wheel by wheel [N]."""
    up = forces[:, 2]
    if eta is None:
        return up
    return np.concatenate([up, eta * up - np.hypot(forces[:, 0], forces[:, 1])])


def _watchers(
    robot: MobileManipulator, margins: Callable[..., np.ndarray], adhesion: bool, stop: bool
) -> list[Callable[..., float]]:
    found = []
    for k in range(len(robot.wheels) * (2 if adhesion else 1)):
        if k >= len(robot.wheels) and not robot.wheels[k - len(robot.wheels)].guides:
            continue

        def watch(t: float, y: np.ndarray, k: int = k) -> float:
            return float(margins(t, y)[k])

        watch.terminal, watch.direction = stop, -1.0 if stop else 0.0  # type: ignore[attr-defined]
        watch.index = k  # type: ignore[attr-defined]
        found.append(watch)
    return found


def _events(
    robot: MobileManipulator, answer: Any, margins: Callable[..., np.ndarray], adhesion: bool
) -> list[Event]:
    found = []
    w = len(robot.wheels)
    places = [k for k in range(w * (2 if adhesion else 1)) if k < w or robot.wheels[k - w].guides]
    for k, times, states in zip(places, answer.t_events, answer.y_events, strict=True):
        for t, y in zip(times, states, strict=True):
            h = 1e-6
            rate = _slope(robot, margins, float(t), y, k, h)
            kind = "contact" if k < w else "adhesion"
            found.append(Event(float(t), kind, robot.wheel_names[k % w], bool(rate < 0)))
    return sorted(found, key=lambda e: e.t)


def _slope(
    robot: MobileManipulator,
    margins: Callable[..., np.ndarray],
    t: float,
    y: np.ndarray,
    k: int,
    h: float,
) -> float:
    """Rate of a margin along the motion, by a difference."""
    n = len(robot.coordinate_names)
    zero = np.zeros(len(robot.input_names))
    qd, zd = robot.functions["derivative"](y[:n], y[n:], zero, np.zeros(6))[:2]
    ahead = y + h * np.concatenate([qd, zd])
    return float((margins(t + h, ahead)[k] - margins(t, y)[k]) / h)


def _rescaled(robot: MobileManipulator, y: np.ndarray, n: int, energy: float) -> float:
    """The factor that gives the speeds back the energy of the start."""
    kinetic = float(robot.kinetic_energy(y[:n], y[n:]))
    left = energy - float(robot.potential_energy(y[:n]))
    return float(np.sqrt(left / kinetic)) if kinetic > 0 and left > 0 else 1.0


def _run(
    robot: MobileManipulator,
    t: np.ndarray,
    y: np.ndarray,
    inputs: Callable[..., np.ndarray],
    loads: Callable[..., np.ndarray],
    locked: bool,
    events: list[Event],
    ended: str,
) -> Run:
    n = len(robot.coordinate_names)
    q, z = y[:, :n], y[:, n:]
    tau = np.array([inputs(*row) for row in zip(t, q, z, strict=True)])
    load = np.array([loads(*row) for row in zip(t, q, z, strict=True)])
    found = robot.evaluate(q, z, tau, load, locked)
    tipover = robot.tipover_of(found[6])
    lost = [e for e in events if e.lost]
    status = tipover.status
    if ended:
        first = lost[0] if lost else None
        status = f"stopped at t = {t[-1]:.6g} s: {ended if first is None else f'{first.wheel} loses {first.kind}'}"
    return Run(
        t,
        q,
        z,
        found[3],
        tau,
        robot.kinetic_energy(q, z),
        np.broadcast_to(robot.potential_energy(q), t.shape),
        found[5],
        friction_needed(found[5]),
        tipover,
        tuple(events),
        status,
    )
