"""Motion of a mobile manipulator in time: the simulator of arms on the equations of rolling, and the ground."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..border.arguments import above_zero, check_finite, flag, real, reals
from ..border.kinds import Given, Numbers, Outside
from ..errors import InputError, ModelError, UnknownName
from ..simulation.adaptive import SOLVERS, AdaptiveIntegration, Settings
from ..simulation.fixed import Integration
from ..simulation.health import Outcome
from ..simulation.inputs import Source, errors_of_functions, source_of
from ..simulation.system import BOOKS
from .admissibility import coefficients, told_contact
from .run import MobileRun
from .stability import friction_needed
from .system import SINGULAR_STEERING, RollingSystem, Watch

if TYPE_CHECKING:
    from .robot import MobileManipulator

MOST_TIMES = 1e7  # of one run
FREE = 1e100  # an error of work and loss [J] that no step is shortened for
STEPPED = ("rk4", "ab4")
METHODS = (*SOLVERS, *STEPPED)


def simulate(
    robot: MobileManipulator,
    q0: Numbers,
    z0: Numbers,
    t_end: float,
    torque: Outside = None,
    *,
    load: Outside = None,
    friction: Given = None,
    stop: bool = False,
    locked: bool = False,
    project: bool = False,
    dt: float | None = None,
    method: str = "dop853",
    rtol: float = 1e-12,
    atol: float = 1e-12,
    max_seconds: float | None = None,
) -> MobileRun:
    """The motion from (q0, z0) until t_end, the wheels taken to roll whatever happens.

    Parameters
    ----------
    robot : MobileManipulator
        The robot.
    q0 : array_like (nq,)
        Coordinates at the start.
    z0 : array_like (nz,)
        Speeds at the start.
    t_end : float
        Time at which the run ends [s].
    torque : array, Sampled or callable, optional
        Inputs: an array, `dynarm.simulation.Sampled(t, values, hold)`, or a function f(t,
        q, z); with an attribute `rate` [Hz] it is asked that often and held in between.
    load : array, Sampled or callable, optional
        Force then couple on the tool, given in the same ways.
    friction : float or array_like (w,), optional
        Coefficient against which adhesion is watched; contact always is.
    stop : bool, default False
        End the motion at the first loss of contact or adhesion; else go on and list them.
    locked : bool, default False
        Hold the steering column.
    project : bool, default False
        Put the speeds back on the energy of the start after each interval of the grid; off
        by default, because the speeds are independent and nothing drifts off the
        constraints.
    dt : float, optional
        Spacing of the grid [s]; default: a hundredth of t_end, at most 0.01 s.
    method : str, default "dop853"
        "dop853", "rk45", "rk23", "radau", "bdf", "lsoda" (adaptive, to rtol and atol), or
        "rk4", "ab4" with steps of length dt, which watch no events.
    rtol : float, default 1e-12
        Relative tolerance of an adaptive method.
    atol : float, default 1e-12
        Absolute tolerance.
    max_seconds : float, optional
        Computing time after which the run is refused; None: no limit, but a run that would
        need more than ten further minutes at its pace is refused as well. What a function
        of yours raises is raised.

    Returns
    -------
    MobileRun
        The run.

    Examples
    --------
    >>> robot = dynarm.mobile.load("tanner2001")
    >>> q, z = np.zeros(len(robot.coordinate_names)), np.zeros(len(robot.speed_names))
    >>> run = robot.simulate(q, z, 0.2, torque=robot.hold(q))
    >>> bool(np.abs(run.q[-1] - q).max() < 1e-6)
    True
    """
    q0, z0, t_end = _start(robot, q0, z0, t_end)
    method = _method(method)
    grid = _grid(t_end, dt)
    if max_seconds is not None:
        max_seconds = real("max_seconds", max_seconds, "seconds above 0", lambda x: x > 0)
    stop, project = flag("stop", stop), flag("project", project)
    tolerances = _tolerance("rtol", rtol), _tolerance("atol", atol)
    inputs = _source("torque", torque, robot.input_names)
    loads = _source("load", load, robot.entry_names("load"))
    eta = None if friction is None else coefficients(friction, len(robot.wheels))
    if project:
        _check_free(robot, torque, load)
    control = robot.variant("control", z0, locked)
    for name in (control, "energy"):
        robot.functions[name]  # compiled before the budget's clock starts
    system = RollingSystem(robot, control.endswith(":locked"))
    watch = Watch(system, eta, stop)
    # refuses a singular start
    robot.acceleration(q0, z0, np.zeros(len(robot.input_names)), locked=locked)
    if method in STEPPED:
        if stop or project or friction is not None:
            raise InputError(f"{method} knows no events and no projection; use 'dop853'")
        with errors_of_functions():
            run = Integration(system, inputs, loads, 1)
            outcome, _ = run.over(t_end, grid[1], method, 1, q0, z0, None)
        return _run(watch, outcome, [])
    settings = _settings(method, *tolerances, max_seconds, watch, len(q0) + len(z0))
    if project:
        halts, corrected = grid[1:-1].tolist(), _projection(system, q0, z0)
        settings = replace(settings, halts=halts, corrected=corrected)
    return _adaptive(watch, AdaptiveIntegration(system, inputs, loads, settings), q0, z0, grid)


def _method(name: str) -> str:
    method = str(name).lower()
    if method not in METHODS:
        raise UnknownName("method", method, METHODS)
    return method


def _adaptive(
    watch: Watch,
    integration: AdaptiveIntegration,
    q0: np.ndarray,
    z0: np.ndarray,
    grid: np.ndarray,
) -> MobileRun:
    """The motion over the grid's times, with its events."""
    watch.drives = integration.drives
    projected = integration.settings.corrected is not None
    with errors_of_functions():
        status, message = integration.run(q0, z0, float(grid[-1]), None)
        outcome = _recorded(integration, grid, projected, status, message)
    return _run(watch, outcome, integration.events)


def _check_free(robot: MobileManipulator, torque: Outside, load: Outside) -> None:
    if torque is not None or load is not None or robot.friction:
        raise InputError(
            "project keeps the energy of free motion; leave torque, load and friction out"
        )


def _tolerance(name: str, value: float) -> float:
    return real(name, value, "a tolerance between 1e-15 and 1", lambda x: 1e-15 <= x <= 1)


def _settings(
    method: str, rtol: float, atol: float, max_seconds: float | None, watch: Watch, size: int
) -> Settings:
    """How an adaptive run of `size` coordinates and speeds is integrated."""
    # work and loss follow the motion; they must not choose its steps, so they do not count among its errors
    tight = np.sqrt(size / (size + BOOKS))
    errors = np.append(np.full(size, tight * atol), [FREE] * BOOKS)
    most = np.iinfo(int).max
    events = watch.events()
    return Settings(method, tight * rtol, errors, np.inf, most, events, max_seconds, watch.values)


def _grid(t_end: float, dt: float | None) -> np.ndarray:
    """Times of the record."""
    step = min(0.01, t_end / 100)
    if dt is not None:
        wanted = f"a spacing between 0 and t_end = {t_end:g} s"
        step = real("dt", dt, wanted, lambda x: 0 < x <= t_end)
    if t_end > MOST_TIMES * step:
        raise InputError(
            f"{t_end:g} s by steps of {step:g} s are more than {MOST_TIMES:.0e} times; take a larger dt or end earlier"
        )
    return np.append(np.arange(0.0, t_end - 1e-9 * step, step), t_end)


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


def _source(what: str, given: Outside, names: tuple[str, ...]) -> Source:
    wanted = f"{len(names)} numbers or a function f(t, q, z)"
    return source_of(given, (len(names),), what, names, wanted)


def _projection(
    system: RollingSystem, q0: np.ndarray, z0: np.ndarray
) -> Callable[[np.ndarray], np.ndarray]:
    """What gives the speeds of a state back the energy of the start."""
    robot, layout = system.robot, system.layout
    energy = float(robot.kinetic_energy(q0, z0) + robot.potential_energy(q0))

    def projected(x: np.ndarray) -> np.ndarray:
        q, z = x[layout.q], x[layout.qd]
        kinetic = float(robot.kinetic_energy(q, z))
        left = energy - float(robot.potential_energy(q))
        x = x.copy()
        x[layout.qd] *= np.sqrt(left / kinetic) if kinetic > 0 and left > 0 else 1.0
        return x

    return projected


def _recorded(
    integration: AdaptiveIntegration, grid: np.ndarray, project: bool, status: str, message: str
) -> Outcome:
    """The motion on the grid, and where it ended before its time; what makes a run no motion is refused."""
    reached = integration.times[-1]
    if status == "time":
        raise ModelError(message)
    if status == "event" and integration.events[-1][1] == SINGULAR_STEERING:
        raise InputError(
            f"the steering angle reached a singular value at t = {reached:.6g} s; end the motion "
            "before, lock the steering or give it friction"
        )
    if not project:
        times = grid if status == "success" else np.append(grid[grid < reached], reached)
        return integration.record(times, status, message)
    steps = integration.record(None, status, message)
    kept = np.isin(steps.t, grid) | (steps.t == reached)
    return Outcome(
        steps.t[kept], steps.x[kept], steps.tau[kept], _rows(steps.push, kept), status, message
    )


def _rows(push: np.ndarray | None, kept: np.ndarray) -> np.ndarray | None:
    return None if push is None else push[kept]


def _run(watch: Watch, outcome: Outcome, happened: list[tuple[float, str]]) -> MobileRun:
    """The record with everything about the ground."""
    system = watch.system
    robot, layout, t = system.robot, system.layout, outcome.t
    q, z = outcome.x[:, layout.q], outcome.x[:, layout.qd]
    work, loss = outcome.x[:, layout.books].T
    outputs = robot.evaluate(q, z, outcome.tau, outcome.push, system.locked)
    tipover = robot.tipover_of(outputs.ground)
    status = tipover.status + ("" if robot.support.determinate else told_contact("elastic", {}))
    if outcome.status != "success":
        why = happened[-1][1] if outcome.status == "event" else outcome.message
        status = f"stopped at t = {t[-1]:.6g} s: {why}"
    return MobileRun(
        t,
        q,
        z,
        outputs.zd,
        outcome.tau,
        robot.kinetic_energy(q, z),
        np.broadcast_to(robot.potential_energy(q), t.shape),
        work,
        loss,
        outputs.forces,
        friction_needed(outputs.forces),
        tipover,
        tuple(watch.told(happened)),
        status,
    )
