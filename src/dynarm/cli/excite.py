"""dynarm excite: a motion to record, whose log determines a robot's parameters well."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from ..border.arguments import above_zero, real, whole
from ..errors import InputError
from .console import print_json, say, show_table
from .files import write_log
from .options import (
    HTML,
    JSON,
    PORTION,
    ROBOT,
    Portion,
    load_arm,
    numbers,
    seconds,
    turning,
    with_portion,
    writable_all,
)

if TYPE_CHECKING:
    from ..border.kinds import Json, Outside
    from ..identify.design.trajectory import Trajectory
    from ..robot.arm import Arm

HARMONICS = 200  # more than any drive can follow
EXAMPLES = ("dynarm excite two_link --duration 10 --log log.csv",)


CRITERION = typer.Option("condition", "--criterion", help="condition, logdet or recursive.")
VELOCITY = typer.Option(None, "--velocity", help="Limits [rad/s or m/s], one or one a joint.")
BOX = typer.Option(None, "--box", help="Where the tool may go [m]: xmin,ymin,zmin,xmax,ymax,zmax.")
OUT = typer.Option("excitation.csv", "--out", "-o", metavar="FILE", help="CSV with t, q, qd, qdd.")
LOG = typer.Option(
    None,
    "--log",
    metavar="FILE",
    help="Also a simulated log of this motion, to rehearse identification with.",
)
NOISE = typer.Option(
    0.02, "--noise", min=0.0, help="Of the simulated torques, part of their deviation."
)


FLOOR = typer.Option(
    "usual",
    "--floor",
    help="Height [m] of the plane that every link stays above, or none; usual: 0, or a pedestal's foot, but none where "
    "the robot hangs below.",
)
COLLISIONS = typer.Option(True, "--collisions/--no-collisions", help="Links stay off each other.")
HOME = typer.Option(
    None, "--home", help="Joint positions that the motion starts and ends at [rad or m]."
)


@with_portion
def excite(
    robot: str = ROBOT,
    duration: float = typer.Option(20.0, "--duration", "-d", help="Length of the motion [s]."),
    harmonics: int = typer.Option(5, "--harmonics", help="Of the Fourier series."),
    criterion: str = CRITERION,
    rate: float = typer.Option(200.0, "--rate", help="Samples a second."),
    velocity: str = VELOCITY,
    acceleration: str = typer.Option(None, "--acceleration", help="Limits [rad/s^2 or m/s^2]."),
    torque: str = typer.Option(None, "--torque", help="Limits [N m or N]."),
    box: str = BOX,
    floor: str = FLOOR,
    collisions: bool = COLLISIONS,
    home: str = HOME,
    starts: int = typer.Option(5, "--starts", min=1, help="Attempts of the optimiser."),
    seed: int = typer.Option(0, "--seed", help="Of the random starts."),
    out: str = OUT,
    log: str = LOG,
    noise: float = NOISE,
    portion: Portion = PORTION,
    html: str = HTML,
    as_json: bool = JSON,
) -> None:
    """Find a motion for identification.

    One that makes the robot's parameters visible within its limits, written as CSV: finite Fourier series that start
    and end at rest; the condition number of the regressor is made small.
    """
    from ..identify.design.excitation import excite as find

    arm = load_arm(robot, portion)
    table, sheet = (".csv",), (".html",)
    writable_all({"--out": (out, table), "--log": (log, table), "--html": (html, sheet)})
    _check_times(duration, rate, harmonics)
    real("--noise", noise, "a part of the torques' deviation such as 0.02", lambda x: 0 <= x <= 1e3)
    limits = _limits(arm, velocity, acceleration, torque, box)
    limits |= _bodies(arm, floor, collisions, home)
    wishes: dict[str, Outside] = {"criterion": criterion, "rate": rate, "seed": seed}
    motion = find(arm, duration, harmonics, starts=starts, **wishes, **limits)
    motion.save(out)
    if log is not None:
        from .rehearsal import simulated_log

        write_log(simulated_log(arm, motion.t, motion.q, motion.qd, motion.qdd, noise, seed), log)
    if html is not None:
        from ..report.excitation import page

        page(arm, motion, html)
    written = [path for path in (out, log, html) if path is not None]
    if as_json:
        print_json(_as_data(arm, motion, written))
    else:
        _show(arm, motion, f"{duration:g} s, {harmonics} harmonics", written)


def _as_data(arm: Arm, motion: Trajectory, written: list[str]) -> Json:
    return {
        "robot": arm.name,
        "condition": motion.condition,
        "random": motion.random,
        "joint_conditions": motion.joint_conditions,
        "status": motion.status,
        "home": motion.q[0],
        "checked": motion.checked,
        "unchecked": motion.unchecked,
        "files": written,
    }


def _show(arm: Arm, motion: Trajectory, kind: str, written: list[str]) -> None:
    rows = [
        [name, f"{q.min():.3f}", f"{q.max():.3f}", f"{abs(qd).max():.3f}", f"{abs(qdd).max():.3f}"]
        for name, q, qd, qdd in zip(
            arm.joint_names, motion.q.T, motion.qd.T, motion.qdd.T, strict=True
        )
    ]
    columns = ["joint", "lowest", "highest", "fastest", "strongest acceleration"]
    show_table(f"{arm.name}: {kind} (rad or m, s)", columns, rows)
    say(
        f"condition number {motion.condition:.3g}; of {len(motion.random)} random motions {min(motion.random):.3g} to "
        f"{max(motion.random):.3g} ({motion.status})"
    )
    say(f"starts and ends at {', '.join(f'{x:.3f}' for x in motion.q[0])}")
    for word, lines in (("checked", motion.checked), ("not checked", motion.unchecked)):
        for line in lines:
            say(f"{word}: {line}")
    say(f"wrote {', '.join(written)}")


def _check_times(duration: float, rate: float, harmonics: int) -> None:
    """Refuse a length and a rate that leave too few samples to show the highest harmonic."""
    seconds("--duration", duration)
    real("--rate", rate, "samples a second, above 0", above_zero)
    whole("--harmonics", harmonics, 2, HARMONICS)
    if duration * rate < 2 * harmonics:
        raise InputError(
            f"--rate {rate:g} gives {int(duration * rate)} samples in {duration:g} s; for {harmonics} harmonics give "
            f"--rate {2 * harmonics / duration:.3g} or more"
        )


def _limits(
    arm: Arm, velocity: str | None, acceleration: str | None, torque: str | None, box: str | None
) -> dict[str, Outside]:
    """The limits that were given, as the library takes them."""
    limits: dict[str, Outside] = {}
    given = {"velocity": velocity, "acceleration": acceleration, "torque": torque}
    for name, text in given.items():
        if text is None:
            continue
        angles = turning(arm) if name != "torque" else []
        angles = [angles[i] for i in arm.coupling.masters] if angles else []
        limits[name] = numbers(
            f"--{name}", text, len(arm.joint_names), arm.joint_names, angles, above=0.0
        )
    if box is not None:
        corners = numbers("--box", box, 6)
        low, high = corners[:3], corners[3:]
        if not all(a < b for a, b in zip(low, high, strict=True)):
            raise InputError(
                f"--box is '{box}'; give xmin,ymin,zmin,xmax,ymax,zmax in metres, each lowest below its highest"
            )
        limits["box"] = (low, high)
    return limits


def _bodies(arm: Arm, floor: str, collisions: bool, home: str | None) -> dict[str, Outside]:
    """What is kept off what, and where the motion starts, as the library takes them."""
    wanted: dict[str, Outside] = {"collisions": collisions, "floor": True}
    if floor == "none":
        wanted["floor"] = False
    elif floor != "usual":
        wanted["floor"] = numbers("--floor", floor, 1)[0]
    if home is not None:
        angles = [turning(arm)[i] for i in arm.coupling.masters]
        wanted["home"] = numbers("--home", home, len(arm.joint_names), arm.joint_names, angles)
    return wanted
