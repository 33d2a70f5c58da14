"""dynarm simulate: the motion of a robot in time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import typer

from ..border.arguments import real
from ..errors import InputError, UnknownName
from .console import print_json, progress, say
from .options import (
    FRICTION,
    HTML,
    JSON,
    PORTION,
    ROBOT,
    Portion,
    load_arm,
    numbers,
    refuse_given,
    seconds,
    turning,
    with_portion,
    writable_all,
)

if TYPE_CHECKING:
    import numpy as np

    from ..border.kinds import Json, Outside
    from ..model.model import Model
    from ..robot.arm import Arm
    from ..simulation.control import Controller
    from ..simulation.run import Run

EXAMPLES = (
    "dynarm simulate two_link --q0 30deg,0 --time 5 --html run.html",
    "dynarm simulate puma560 --control computed_torque --target 0.5 --time 2",
)
CONTROLS = ("none", "gravity_pd", "computed_torque")
FORMATS = (".npz", ".parquet", ".csv")
STEPPED = ("rk4", "ab4", "midpoint")
STEPS = 1e8  # of a run that is not hopeless


Q0 = typer.Option(
    "0", "--q0", help="Start, one number a joint or one for all [rad or m]; 30deg is an angle."
)
TARGET = typer.Option(
    None, "--target", help="Where the controller shall bring the joints; default 0."
)
CONTROL_RATE = typer.Option(
    None, "--control-rate", help="Of the controller [Hz]; default: continuous."
)
PAYLOAD = typer.Option(
    0.0, "--payload", min=0.0, help="Mass at the tool [kg], which the controller does not know."
)
METHOD = typer.Option(
    "dop853",
    "--method",
    help="dop853, rk45, radau, bdf, lsoda, or by steps rk4, ab4, midpoint.",
)
DT = typer.Option(None, "--dt", help="Step of rk4, ab4 and midpoint [s]; default: from the speeds.")
FORMULATION = typer.Option(
    None,
    "--formulation",
    help="Of forward dynamics: base_composite (one graph), or a pair such as renaud+newton_euler.",
)
LIMITS = typer.Option("ignore", "--limits", help="Position limits: ignore, report or stop.")
SAVE = typer.Option(None, "--save", metavar="FILE", help="Write .npz, .parquet, or .csv as a log.")


@with_portion
def simulate(
    robot: str = ROBOT,
    q0: str = Q0,
    qd0: str = typer.Option("0", "--qd0", help="Speeds at the start [rad/s or m/s]."),
    time: float = typer.Option(5.0, "--time", "-t", help="How long [s]."),
    torque: str = typer.Option(None, "--torque", help="Constant torques [N m or N]."),
    control: str = typer.Option("none", "--control", help="none, gravity_pd or computed_torque."),
    target: str = TARGET,
    kp: str = typer.Option(None, "--kp", help="Gains on position; default 100."),
    kd: str = typer.Option(None, "--kd", help="Gains on velocity; default 20."),
    control_rate: float = CONTROL_RATE,
    payload: float = PAYLOAD,
    friction: bool = FRICTION,
    method: str = METHOD,
    dt: float = DT,
    formulation: str = FORMULATION,
    limits: str = LIMITS,
    save: str = SAVE,
    portion: Portion = PORTION,
    html: str = HTML,
    as_json: bool = JSON,
) -> int:
    """Simulate a robot's motion.

    From a start, free or under control; tells how it went. Exit code 1 if the run ended early; everything until then
    is kept.
    """
    from ..model.model import compile as compile_arm
    from ..simulation import simulate as integrate

    writable_all({"--save": (save, FORMATS), "--html": (html, (".html",))})
    method = method.lower()
    _check_times(time, method, dt, control_rate)
    real("--payload", payload, "a mass in kg", lambda x: 0 <= x < float("inf"))
    arm = load_arm(robot, portion)
    _check_log(arm, save)
    first, speeds = _first(arm, q0), _speeds(arm, qd0)
    model = compile_arm(_loaded(arm, payload), _wish(formulation), friction)
    believed = compile_arm(arm, friction=friction)
    force = _force(believed, torque, control, target, kp, kd, control_rate)
    how: dict[str, Outside] = {
        "torque": force,
        "method": method,
        "dt": dt,
        "limits": limits,
        "times": None if method in STEPPED else _grid(time),
    }
    with progress("simulating") as done:
        run = integrate(model, first, speeds, time, progress=done, **how)
    files = _written(run, save, html)
    if as_json:
        print_json(_as_data(run, files))
    else:
        _show(run, files)
    return 0 if _well(run) else 1


def _wish(formulation: str | None) -> dict[str, str] | None:
    return None if formulation is None else {"forward_dynamics": formulation}


def _written(run: Run, save: str | None, html: str | None) -> list[str]:
    """The files that were asked for, written."""
    if save is not None:
        _save(run, save)
    if html is not None:
        from ..report.simulation import page

        page(run, html)
    return [path for path in (save, html) if path is not None]


def _well(run: Run) -> bool:
    """Whether the run came to its end."""
    return run.status in ("success", "event")


def _show(run: Run, files: list[str]) -> None:
    good = _well(run)
    for line in run.summary().splitlines():
        say(line, "" if good else "yellow")
    ends = zip(run.model.arm.coordinate_names, run.q[-1], strict=True)
    say("at the end: " + ", ".join(f"{name} {x:.4g}" for name, x in ends))
    for path in files:
        say(f"wrote {path}")


def _check_log(arm: Arm, save: str | None) -> None:
    """Refuse a log of what no log can hold."""
    if arm.floating and save is not None and save.lower().endswith(".csv"):
        raise InputError(f"--save {save} is a log of joints, and the base moves; end it in .npz")


def _first(arm: Arm, text: str) -> list[float]:
    """Coordinates from text: of the joints, or of a free base before them, which else stands upright at the origin."""
    return _with_base(arm, "--q0", text, arm.coordinate_names, [0.0] * 6 + [1.0])


def _speeds(arm: Arm, text: str) -> list[float]:
    """Speeds from text: of the joints, or of a free base before them, which else is at rest."""
    return _with_base(arm, "--qd0", text, arm.speed_names, [0.0] * 6)


def _with_base(
    arm: Arm, option: str, text: str, names: Sequence[str], still: list[float]
) -> list[float]:
    joints, angles = arm.joint_names, turning(arm)
    if not arm.floating:
        return numbers(option, text, len(joints), joints, angles)
    given = len(text.replace(",", " ").split())
    if given == len(names):
        return numbers(option, text, given, names, [False] * len(still) + angles)
    if given not in (0, 1, len(joints)):
        base = " ".join(names[: len(still)])
        raise InputError(
            f"{option} has {given} numbers; give {len(joints)} for the joints {', '.join(joints)}, or {len(names)} "
            f"with {base} of the base before them, or one for all joints"
        )
    return [*still, *numbers(option, text, len(joints), joints, angles)]


def _loaded(arm: Arm, payload: float) -> Arm:
    """The arm with a mass at its tool."""
    if payload == 0:
        return arm
    if len(arm.all_tools) > 1:
        raise InputError("--payload is carried by one tool; give --tool once")
    return arm.with_payload(payload)


def _grid(time: float, most: int = 2000) -> np.ndarray:
    """Times at which an adaptive run is recorded: every 5 ms, less often in long runs."""
    import numpy as np

    return np.linspace(0.0, time, min(most, max(2, round(time / 0.005) + 1)))


def _check_times(time: float, method: str, dt: float | None, rate: float | None) -> None:
    """Refuse lengths of time that no run can be made of."""
    seconds("--time", time)
    if dt is not None:
        if method not in STEPPED:
            raise InputError(
                f"--dt is for --method {', '.join(STEPPED)}; {method} chooses its steps itself, leave it out"
            )
        real(
            "--dt",
            dt,
            f"seconds, at least {time / STEPS:.3g} for --time {time:g}",
            _at_least(time / STEPS),
        )
    if rate is not None:
        most = STEPS / time
        real(
            "--control-rate",
            rate,
            f"samples a second, above 0 and at most {most:.3g}",
            _up_to(most),
        )


def _at_least(least: float) -> Callable[[float], bool]:
    return lambda x: least <= x < float("inf")


def _up_to(most: float) -> Callable[[float], bool]:
    return lambda x: 0 < x <= most


def _force(
    model: Model,
    torque: str | None,
    control: str,
    target: str | None,
    kp: str | None,
    kd: str | None,
    rate: float | None,
) -> Controller | list[float] | None:
    """What drives the joints: nothing, constant torques or a controller."""
    from ..simulation import ComputedTorque, GravityPD

    arm = model.arm
    n = len(arm.joint_names)
    if control not in CONTROLS:
        raise UnknownName("control", control, CONTROLS)
    if control == "none":
        given = {"--target": target, "--kp": kp, "--kd": kd, "--control-rate": rate}
        refuse_given("is for a controller; give --control gravity_pd or computed_torque", given)
        if torque is None:
            return None
        free = [0.0] * (arm.nv - n)  # nothing pushes a free base
        return [*free, *numbers("--torque", torque, n, arm.joint_names)]
    if torque is not None:
        raise InputError(f"--torque and --control {control} were both given; leave one of them out")
    law = {"gravity_pd": GravityPD, "computed_torque": ComputedTorque}[control]
    return law(
        model,
        numbers("--target", "0" if target is None else target, n, arm.joint_names, turning(arm)),
        numbers("--kp", "100" if kp is None else kp, n, arm.joint_names),
        numbers("--kd", "20" if kd is None else kd, n, arm.joint_names),
        rate,
    )


def _save(run: Run, path: str) -> None:
    if not path.lower().endswith(".csv"):
        run.save(path)
        return
    from ..identify.logs.log import Log
    from .files import write_log

    write_log(Log(run.t, run.q, run.tau, qd=run.qd, source="simulation"), path)


def _as_data(run: Run, files: list[str]) -> Json:
    return {
        "robot": run.model.arm.name,
        "status": run.status,
        "message": run.message,
        "method": run.method,
        "dt": run.dt,
        "samples": len(run.t),
        "t_end": run.t[-1],
        "q_end": run.q[-1],
        "qd_end": run.qd[-1],
        "energy_start": run.energy[0],
        "energy_end": run.energy[-1],
        "unexplained_energy": run.unexplained,
        "events": run.events,
        "files": files,
    }
