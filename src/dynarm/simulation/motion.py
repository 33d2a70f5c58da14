"""simulate(model, q0, qd0, t_end, ...) -> Run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ..border.arguments import above_zero, check_finite, positive, real, reals, whole
from ..border.kinds import Given, Numbers, Outside
from ..border.progress import progress_of
from ..errors import InputError, UnknownName
from ..model import batch
from ..model.model import Model
from ..robot.arm import Arm
from .adaptive import SOLVERS, AdaptiveIntegration, Settings
from .events import events_of
from .fixed import STEPPERS, Integration, step_length
from .friction import coulomb_limits
from .health import Outcome, singular_start
from .inputs import Failed, Held, Source, errors_of_functions, source_of
from .plant import Plant, formulated
from .run import Run
from .system import state_of

METHODS = (*SOLVERS, *STEPPERS)
MOST_STEPS = 1e10  # of fixed length in one run: hours of computing
UNIT = 1e-6  # what a quaternion's length may be off by
TIGHTEST = 2.3e-14  # the smallest rtol that SciPy accepts


def simulate(
    model: Model,
    q0: Numbers,
    qd0: Numbers,
    t_end: float,
    torque: Outside = None,
    method: str = "dop853",
    dt: float | None = None,
    *,
    wrench: Outside = None,
    gravity: Given = None,
    values: Given = None,
    friction_state: Given = None,
    rtol: float = 1e-9,
    atol: float | None = None,
    times: Given = None,
    events: Outside = (),
    limits: str = "ignore",
    max_step: float = np.inf,
    max_steps: int = 1_000_000,
    max_seconds: float | None = None,
    every: int = 1,
    threads: int | None = None,
    progress: bool | Callable[[float], Outside] | None = None,
    formulation: str | None = None,
) -> Run:
    """The motion of a model from q0, qd0 until t_end [s].

    With a free base, `torque` has six entries for it before those of the joints (zeros, where nothing holds
    it), and the quaternion of q0 has length 1.

    q0, qd0 of shape (N, n), values (N, p) or gravity (N, 3) make a batch: fixed steps, all samples at once, on
    `threads` threads; torques, wrenches and a controller's gains may then be (N, ...) too. What goes wrong
    while the motion is computed does not raise: `run.status` and `run.message` say when and why, everything
    computed until then is kept, and `run.check()` raises. What a function of yours raises is raised.

    Parameters
    ----------
    model : Model
        A compiled model, `dynarm.compile(arm)`.
    q0 : array_like (nq,) or (N, nq)
        Positions at the start, ordered as `arm.coordinate_names`.
    qd0 : array_like (nv,) or (N, nv)
        Velocities at the start, ordered as `arm.speed_names`.
    t_end : float
        Time at which the run ends [s].
    torque : array, Sampled, callable or controller, optional
        None, an array, `dynarm.simulation.Sampled(t, values, hold)`, f(t, q, qd), or a
        controller (`dynarm.simulation.GravityPD`, `ComputedTorque`); a function with an
        attribute `rate` [Hz] is asked that often and held in between.
    method : str, default "dop853"
        "dop853", "rk45", "rk23", "radau", "bdf", "lsoda" (adaptive), or with steps of a
        fixed length "rk4", "ab4", "midpoint" (symplectic, for long free motions).
    dt : float, optional
        Length of a step [s]; None takes one from the joints' velocity limits and a bounded
        change in one step, reported as `run.dt`.
    wrench : array, Sampled or callable, optional
        Force and torque on the tool in its axes, (6,): an array, samples or f(t, q, qd);
        (k, 6) for the k tools of a robot that was loaded with tools=.
    gravity : array_like (3,), optional
        For models compiled with gravity="input": constant over the run.
    values : array_like (p,), optional
        For models compiled with parameters="inputs": constant over the run.
    friction_state : array_like (m,), optional
        What friction with memory remembers at the start, as `run.friction_state[-1]` of an
        earlier run has it; None: no element is deflected.
    rtol : float, default 1e-09
        Relative tolerance of an adaptive method.
    atol : float, optional
        Absolute tolerance; rtol / 100 by default.
    times : array_like, optional
        Where an adaptive run is recorded; default: at the integrator's own steps.
    events : sequence of callable
        Functions f(t, q, qd) whose zeros are reported in `run.events`; with an attribute
        terminal=True they end the run, with direction=+1 or -1 only rising or falling zeros
        count.
    limits : str, default "ignore"
        "ignore", "report" or "stop" at the joints' position limits.
    max_step : float, default inf
        Longest step of an adaptive method [s].
    max_steps : int, default 1000000
        Steps after which the run ends with status "step".
    max_seconds : float, optional
        Computing time after which an adaptive run ends with status "time" and what it has;
        None: no limit, but a run that would need more than ten further minutes at its pace
        is given up in the same way.
    every : int, default 1
        Record a run with fixed steps every so many steps.
    threads : int, optional
        Threads of a batch.
    progress : callable or bool, optional
        None: a bar on a terminal when the run takes long; False: none; or a function of the
        part that is done.
    formulation : str, optional
        Of the forward dynamics, instead of the model's: "base_composite" (lin1991's
        simulator), a pair such as "renaud+minimal_newton_euler" (mass matrix and inverse
        dynamics), "articulated_body".

    Returns
    -------
    Run
        The run: times, states, torques and energies.

    Examples
    --------
    >>> model = dynarm.compile(dynarm.load("two_link"))
    >>> run = dynarm.simulate(model, [0.5, 0.0], [0.0, 0.0], 1.0)
    >>> run.status, run.unexplained < 1e-6
    ('success', True)
    """
    model = formulated(model, formulation)
    method = _method(model, method)
    q, qd, falling, known = _start(model, q0, qd0, gravity, values)
    t_end = _positive("t_end", t_end, "a number of seconds")
    past = _past(model, friction_state, q)
    plant = Plant(model, wrench is not None, falling, known, past)
    force = source_of(torque, qd.shape, "torque", model.entry_names("tau"))
    push = None if wrench is None else _push(plant, wrench, q.shape[:-1])
    job = Job(plant, q, qd, t_end, force, push, method)
    watched = events_of(events, model, limits)
    refused = singular_start(job.plant, q)
    if refused:
        return _run(job, _nothing(job, "singular", refused))
    bar = progress_of(progress, f"simulating {model.arm.name}")
    if method in SOLVERS:
        settings = _settings(method, rtol, atol, max_step, max_steps, max_seconds, watched)
        _check_adaptive(job, settings, dt)
        with errors_of_functions():
            return _adaptive(job, settings, _times(times, t_end), bar)
    _check_stepped(method, bool(watched) or limits != "ignore" or times is not None, max_seconds)
    count = batch.threads if threads is None else batch.check_threads(threads)
    with errors_of_functions():
        return _stepped(job, dt, _whole("every", every), count, bar)


def _check_adaptive(job: Job, settings: Settings, dt: float | None) -> None:
    """Refuse a length of steps where the method chooses it, and steps that are too short for their number."""
    if dt is not None:
        raise InputError(
            f"{job.method} chooses its steps itself; give rtol and atol, or max_step, instead of dt"
        )
    if job.t_end > settings.max_steps * settings.max_step:
        raise InputError(
            f"max_step is {settings.max_step:g}; {job.t_end:g} s would take more than max_steps = "
            f"{settings.max_steps} steps; allow longer or more of them"
        )


def _check_stepped(method: str, looking: bool, max_seconds: float | None) -> None:
    """Refuse what only adaptive methods know; looking: events, limits or times were asked for."""
    if looking:
        raise InputError(
            f"{method} knows no events, limits or times; use an adaptive method such as 'dop853'"
        )
    if max_seconds is not None:
        raise InputError(f"{method} knows no max_seconds; choose dt and t_end instead")


@dataclass(frozen=True, slots=True, eq=False)
class Job:
    """What is to be simulated."""

    plant: Plant
    q0: np.ndarray
    qd0: np.ndarray
    t_end: float
    torque: Source
    push: Source | None
    method: str


def _adaptive(job: Job, settings: Settings, times: np.ndarray | None, bar: Outside) -> Run:
    if job.q0.ndim > 1:
        raise InputError(
            f"q0 has shape {job.q0.shape}; batches need fixed steps: method='rk4', 'ab4' or 'midpoint'"
        )
    motion = AdaptiveIntegration(job.plant, job.torque, job.push, settings)
    with bar as report:
        status, message = motion.run(job.q0, job.qd0, job.t_end, report)
    record = motion.record(times, status, message)
    return _run(job, record, events=tuple(sorted(motion.events)), dense=motion.path)


def _stepped(job: Job, dt: Outside, every: int, threads: int, bar: Outside) -> Run:
    if coulomb_limits(job.plant.model).any():
        raise InputError(
            f"{job.method} cannot step across sharp Coulomb friction; use an adaptive method such as 'dop853', or "
            "give the joints friction of shape='tanh'"
        )
    try:
        step = _step(job, dt)
    except Failed as failure:
        return _run(job, _nothing(job, "function", str(failure)))
    run = Integration(job.plant, job.torque, job.push, every)
    with bar as report:
        record, longest = run.over(job.t_end, step, job.method, threads, job.q0, job.qd0, report)
    return _run(job, record, longest)


# ---- checks at the border


def _method(model: Model, given: Outside) -> str:
    """The name of a method, refused where it does not serve the model."""
    method = str(given).lower()
    if method not in METHODS:
        raise UnknownName("method", method, METHODS)
    if method == "midpoint" and model.arm.floating:
        raise InputError(
            f"midpoint steps joint positions and their momenta; robot '{model.arm.name}' has a free base, which turns: "
            "use 'rk4', or an adaptive method such as 'dop853'"
        )
    for joint in model.arm.joints if method == "midpoint" and model.friction else ():
        if joint.friction is not None and not joint.friction.alone:
            raise InputError(
                f"midpoint is for free motions; friction of joint '{joint.name}' depends on load, other joints or "
                "memory: use 'rk4', or an adaptive method such as 'dop853'"
            )
    return method


def _past(model: Model, friction_state: Outside, q: np.ndarray) -> np.ndarray | None:
    """What friction remembers at the start, in the pose q."""
    if friction_state is None:
        return None
    return model.friction_state.next(friction_state, q)


def _push(plant: Plant, wrench: Outside, lead: tuple[int, ...]) -> Source:
    """The wrenches on the tools, six numbers each, one tool after the other."""
    arm = plant.model.arm
    if not arm.all_tools:
        raise InputError(
            f"wrench acts on tools; robot '{arm.name}' branches and has none, load it with tools=['link', ...]"
        )
    shape, axes = (*lead, plant.layout.push), plant.model.entry_names("wrench")
    entry = None if arm.tools is None else (len(arm.tools), 6)
    return source_of(wrench, shape, "wrench", axes, entry=entry)


def _start(
    model: Model, q0: Outside, qd0: Outside, gravity: Outside, values: Outside
) -> tuple[Outside, ...]:
    """First states, gravity and values as arrays that fit together."""
    arm = model.arm
    q0 = _array("q0", q0, arm.nq, _meaning(arm, arm.coordinate_names), model.entry_names("q"))
    qd0 = _array("qd0", qd0, arm.nv, _meaning(arm, arm.speed_names), model.entry_names("qd"))
    for word, given, wanted, how in (
        ("gravity", gravity, model.gravity_input, "gravity='input'"),
        ("values", values, model.parameters_input, "parameters='inputs'"),
    ):
        if given is None and wanted:
            raise InputError(f"give {word}=, because the model was compiled with {how}")
        if given is not None and not wanted:
            raise InputError(f"the model takes no {word}=; compile it with {how}")
    if gravity is not None:
        axes = model.entry_names("gravity")
        gravity = _array("gravity", gravity, 3, "an acceleration in the base link's axes", axes)
    if values is not None:
        p = model.minimal.count
        known = model.entry_names("values")
        values = _array("values", values, p, f"the model has {p} minimal parameters", known)
    leads = {
        name: x.shape[:-1]
        for name, x in (("q0", q0), ("qd0", qd0), ("gravity", gravity), ("values", values))
        if x is not None
    }
    try:
        lead = np.broadcast_shapes(*leads.values())
    except ValueError:
        raise InputError(f"the batch axes do not fit together: {leads}") from None
    q0, qd0 = (np.array(np.broadcast_to(x, (*lead, x.shape[-1]))) for x in (q0, qd0))
    return _upright(q0) if arm.floating else q0, qd0, gravity, values


def _meaning(arm: Arm, names: Sequence[str]) -> str:
    """What the entries of a first state are, in words."""
    joints = len(arm.joint_names)
    own = f"{joints} joints" if arm.coupling.free else f"{joints} independent joints"
    if not arm.floating:
        return f"robot '{arm.name}' has {own}"
    return f"robot '{arm.name}' has {len(names)}: {' '.join(names[:-joints])} of its free base and {own}"


def _upright(q0: np.ndarray) -> np.ndarray:
    """First coordinates whose quaternion has unit length; what is off by more than rounding is refused."""
    sizes = np.linalg.norm(q0[..., 3:7], axis=-1)
    worst = float(np.ravel(sizes)[np.argmax(np.abs(np.ravel(sizes) - 1))])
    if not abs(worst - 1) <= UNIT:
        raise InputError(
            f"q0 has a quaternion of length {worst:.9g} in qx qy qz qw; give one of length 1, such as 0 0 0 1"
        )
    q0[..., 3:7] /= sizes[..., None]
    return q0


def _array(name: str, value: Outside, size: int, meaning: str, names: Sequence[str]) -> np.ndarray:
    array = reals(name, value, f"{size} numbers", names)
    if array.ndim == 0 or array.shape[-1] != size or array.ndim > 2 or not array.size:
        raise InputError(
            f"{name} has shape {array.shape}, {meaning}; give ({size},), or (N, {size}) for a batch"
        )
    return check_finite(name, array)


def _positive(name: str, value: Outside, what: str, infinite: bool = False) -> float:
    return real(name, value, f"{what} above 0", positive if infinite else above_zero)


def _whole(name: str, value: Outside) -> int:
    return whole(name, value, 1, 2**62)


def _settings(
    method: str,
    rtol: Outside,
    atol: Outside,
    max_step: Outside,
    max_steps: Outside,
    max_seconds: Outside,
    events: Sequence[Outside],
) -> Settings:
    rtol = _positive("rtol", rtol, "a relative error")
    if rtol < TIGHTEST:
        raise InputError(f"rtol is {rtol:g}; double precision allows no less than {TIGHTEST:g}")
    atol = rtol / 100 if atol is None else _positive("atol", atol, "an error")
    longest = _positive("max_step", max_step, "a number of seconds", infinite=True)
    if max_seconds is not None:
        max_seconds = _positive("max_seconds", max_seconds, "a number of seconds", infinite=True)
    most = _whole("max_steps", max_steps)
    return Settings(method, rtol, atol, longest, most, events, max_seconds)


def _times(given: Outside, t_end: float) -> np.ndarray | None:
    if given is None:
        return None
    times = np.unique(reals("times", given, "numbers of seconds").ravel())
    if not len(times) or not (times[0] >= 0 and times[-1] <= t_end):
        raise InputError(f"times must lie between 0 and t_end = {t_end:g} s")
    return times


def _step(job: Job, dt: Outside) -> float:
    """The step that was asked for, or one that suits the robot."""
    if dt is not None:
        step = min(_positive("dt", dt, "a number of seconds"), job.t_end)
        if job.t_end > MOST_STEPS * step:
            raise InputError(
                f"dt is {step:g}; {job.t_end:g} s would take more than {MOST_STEPS:.0e} steps; take a longer one"
            )
        return step
    sources = [s for s in (job.torque, job.push) if s is not None]
    laws = [s.during(0.0, job.t_end, job.q0, job.qd0) for s in sources]
    drives = [law(0.0, job.q0, job.qd0) for law in laws]
    periods = [s.period for s in sources if isinstance(s, Held)]
    return min(step_length(job.plant, job.q0, job.qd0, drives), job.t_end, *periods)


# ---- results


def _nothing(job: Job, status: str, message: str) -> Outcome:
    """The record of a run that could not start: its first state."""
    lead = job.q0.shape[:-1]
    push = np.full((1, *lead, job.plant.layout.push), np.nan) if job.plant.wrench else None
    x = state_of(job.plant, job.q0, job.qd0)[None]
    return Outcome(
        np.zeros(1), x, np.full((1, *job.qd0.shape), np.nan), push, status, message, np.zeros(lead)
    )


def _by_tool(plant: Plant, push: np.ndarray) -> np.ndarray:
    """(..., T, 6), or (..., T, k, 6) where there are k tools by name."""
    tools = plant.model.arm.tools
    return push if tools is None else push.reshape(*push.shape[:-1], len(tools), 6)


def _run(
    job: Job,
    r: Outcome,
    dt: float | None = None,
    events: tuple[tuple[float, str], ...] = (),
    dense: Outside = None,
) -> Run:
    plant = job.plant

    def lead(x: np.ndarray) -> np.ndarray:
        return np.moveaxis(x, 0, -2) if x.ndim > 2 else x

    x, layout = lead(r.x), plant.layout
    work, loss = np.moveaxis(x[..., layout.books], -1, 0)
    return Run(
        plant.model,
        r.t,
        x[..., layout.q],
        x[..., layout.qd],
        lead(r.tau),
        work,
        loss,
        job.method,
        dt,
        r.status,
        r.message,
        reached=r.reached if np.ndim(r.reached) else float(r.reached),
        events=events,
        steps=r.steps,
        evaluations=r.evaluations,
        dense=dense,
        wrench=None if r.push is None else _by_tool(plant, lead(r.push)),
        gravity=plant.gravity,
        values=plant.values,
        friction_state=x[..., layout.past] if layout.memory else None,
    )
