"""simulate(model, q0, qd0, t_end, ...) -> Run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import batch
from ..errors import InputError, KindError, UnknownName
from ..model import Model
from . import fixed
from .adaptive import SOLVERS, Event, Motion, Tolerances, dense
from .fixed import Record
from .friction import Sliding
from .inputs import source_of
from .run import Run

METHODS = (*SOLVERS, *fixed.METHODS)


def simulate(
    model: Model,
    q0: Any,
    qd0: Any,
    t_end: float,
    torque: Any = None,
    method: str = "dop853",
    dt: float | None = None,
    *,
    wrench: Any = None,
    rtol: float = 1e-9,
    atol: float = 1e-11,
    times: Any = None,
    events: Sequence[Any] = (),
    limits: str = "ignore",
    max_step: float = np.inf,
    threads: int | None = None,
    progress: Callable[[float], None] | None = None,
) -> Run:
    """The motion of a model from q0, qd0 until t_end [s].

    torque   None, an array, `dynarm.simulation.Sampled(t, values, hold)`, f(t, q, qd), or a controller
    wrench   force and torque on the tool in its axes: None, an array (6,) or f(t, q, qd)
    method   "dop853", "rk45", "radau", "bdf", "lsoda" (adaptive, to rtol and atol), or with steps of length dt "rk4",
             "ab4", or "midpoint" (symplectic, for long free motions); dt=None takes a step from the velocity limits
    times    where an adaptive run is recorded (None: at the solver's own steps)
    events   functions f(t, q, qd) whose zeros are reported; with attribute terminal=True they end the run
    limits   "ignore", "report" or "stop" at the joints' position limits
    q0, qd0 of shape (N, n) make a batch (fixed steps; the kernels run over all of it at once, on several threads)
    """
    if not isinstance(model, Model):
        raise KindError(f"model is {model!r}; give dynarm.compile(arm)")
    if method not in METHODS:
        raise UnknownName("method", method, METHODS)
    if model.gravity_input or model.parameters_input:
        raise InputError(
            "the model takes gravity or parameters as inputs; compile it without for a simulation"
        )
    q0, qd0 = _state(model, "q0", q0), _state(model, "qd0", qd0)
    q0, qd0 = (np.array(x) for x in np.broadcast_arrays(q0, qd0))
    t_end = _positive("t_end", t_end)
    force = source_of(torque, q0.shape, "torque")
    push = None if wrench is None else source_of(wrench, (*q0.shape[:-1], 6), "wrench")
    rate = getattr(torque, "rate", None)
    period = 1 / rate if rate else None
    model.functions["forward_dynamics"]  # refuses a mass matrix that is singular everywhere
    if method in fixed.METHODS:
        if Sliding.of(model) is not None and model.friction:
            raise InputError(
                f"{method} cannot step across sharp Coulomb friction; use an adaptive method such as 'dop853', or give "
                "the joints shape='tanh'"
            )
        if events or limits != "ignore" or times is not None:
            raise InputError(
                f"{method} knows no events, limits or times; use an adaptive method such as 'dop853'"
            )
        step = _positive("dt", dt) if dt is not None else fixed.step_length(model, qd0, t_end)
        count = batch.threads if threads is None else batch.check_threads(threads)
        record, step = fixed.integrate(
            model, q0, qd0, t_end, force, push, method, step, period, count, progress
        )
        return _run(model, record, method, step, (), 0, None)
    if q0.ndim > 1:
        raise InputError(
            f"q0 has shape {q0.shape}; batches need fixed steps: method='rk4', 'ab4' or 'midpoint'"
        )
    if dt is not None:
        raise InputError(
            f"{method} chooses its steps itself; give rtol and atol, or max_step, instead of dt"
        )
    watched = [_event(e, k) for k, e in enumerate(events)] + _limits(model, limits)
    motion = Motion(model, force, push, method, Tolerances(rtol, atol), watched, period, max_step)
    grid = None if times is None else np.unique(np.asarray(times, float))
    if grid is not None and (len(grid) == 0 or grid[0] < 0 or grid[-1] > t_end):
        raise InputError(f"times must lie between 0 and t_end = {t_end}")
    record, pieces = motion.run(q0, qd0, t_end, grid, progress)
    n = model.arm.n

    def between(t: Any) -> tuple[np.ndarray, np.ndarray]:
        y = dense(pieces, np.atleast_1d(np.asarray(t, float)))
        shape = np.shape(t)
        return y[:, :n].reshape(*shape, n), y[:, n : 2 * n].reshape(*shape, n)

    found = tuple(sorted(motion.found))
    return _run(model, record, method, None, found, motion.evaluations, between if pieces else None)


def _run(
    model: Model,
    r: Record,
    method: str,
    dt: float | None,
    events: tuple[tuple[float, str], ...],
    evaluations: int,
    between: Any,
) -> Run:
    def lead(x: np.ndarray) -> np.ndarray:
        return np.moveaxis(x, 0, -1 if x is r.work else -2) if r.q.ndim > 2 else x

    return Run(
        model,
        r.t,
        lead(r.q),
        lead(r.qd),
        lead(r.tau),
        lead(r.work),
        method,
        dt,
        r.status,
        r.message,
        events,
        evaluations,
        between,
    )


def _state(model: Model, name: str, value: Any) -> np.ndarray:
    try:
        array = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        raise KindError(f"{name} is {value!r}; give {model.arm.n} numbers") from None
    if array.ndim == 0 or array.shape[-1] != model.arm.n or array.ndim > 2:
        raise InputError(
            f"{name} has shape {array.shape}, robot '{model.arm.name}' has {model.arm.n} joints; give (n,) or (N, n)"
        )
    if not np.isfinite(array).all():
        raise InputError(f"{name} holds NaN or infinity; give finite numbers")
    return array


def _positive(name: str, value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise KindError(f"{name} is {value!r}; give a number of seconds") from None
    if not (np.isfinite(number) and number > 0):
        raise InputError(f"{name} is {number}; give a positive number of seconds")
    return number


def _event(given: Any, k: int) -> Event:
    if isinstance(given, Event):
        return given
    if not callable(given):
        raise KindError(f"events[{k}] is {given!r}; give a function of (t, q, qd)")
    name = getattr(given, "__name__", f"event {k}")
    terminal, direction = getattr(given, "terminal", False), getattr(given, "direction", 0.0)
    return Event(name, given, bool(terminal), float(direction))


def _limits(model: Model, wanted: str) -> list[Event]:
    """Events at the joints' position limits."""
    if wanted not in ("ignore", "report", "stop"):
        raise InputError(f"limits is {wanted!r}; choose 'ignore', 'report' or 'stop'")
    if wanted == "ignore":
        return []
    found = []
    for i, joint in enumerate(model.arm.joints):
        for side, bound in zip(("lower", "upper"), joint.position_limits or (), strict=False):

            def function(
                t: float, q: np.ndarray, qd: np.ndarray, i: int = i, bound: float = bound
            ) -> float:
                return float(q[i] - bound)

            direction = -1.0 if side == "lower" else 1.0
            found.append(
                Event(f"{side} limit of {joint.name}", function, wanted == "stop", direction)
            )
    return found
