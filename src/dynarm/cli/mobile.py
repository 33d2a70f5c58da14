"""dynarm mobile: an arm on wheels: how it stands, how it moves, where it slips or tips over."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from ..border.arguments import real
from ..errors import InputError
from .console import busy, print_json, say, show_table
from .options import (
    HTML,
    JSON,
    mobile_robots,
    numbers,
    refuse_given,
    seconds,
    turning,
    writable_all,
)
from .paths import drive
from .standing import asked_of, posed, stand

if TYPE_CHECKING:
    from ..border.kinds import Json
    from ..mobile.robot import MobileManipulator
    from ..mobile.run import MobileRun as Run
    from ..reproductions.tanner2001_cases import CaseRun

EXAMPLES = (
    "dynarm mobile tanner2001 --case 5",
    "dynarm mobile diffdrive_puma560 --payload 5 --slope 4deg --stop-from 1.2 --adhesion 0.6 --html stand.html",
    "dynarm mobile diffdrive_puma560 --z0 0.5,0.3,0,0,0,0,0,0 --time 2 --html run.html",
)
PAPER = "tanner2001"
LENGTHS = ("x", "y", "v")  # among a platform's coordinates and speeds, which else are angles


MACHINE = typer.Argument(
    help="A built-in mobile manipulator (tanner2001, diffdrive_puma560) or a path to a .toml or .urdf file.",
    autocompletion=mobile_robots,
    show_default=False,
)
CASE = typer.Option(
    None, "--case", help="A motion of the paper's section 6: 3, 4 or 5 (tanner2001 only)."
)
Q0 = typer.Option(
    None, "--q0", help="Coordinates at the start; a number for all, or one each; default 0."
)
TIME = typer.Option(
    None,
    "--time",
    "-t",
    min=0.0,
    help="Simulate so long [s]; without it: only look at how it stands.",
)
TORQUE = typer.Option(
    None,
    "--torque",
    help="Constant inputs: drive and steering of each wheel, then the joints; without --time the default is what "
    "holds the arm, 0 lets it fall.",
)
ADHESION = typer.Option(
    None, "--adhesion", min=0.0, help="Friction coefficient between wheels and ground."
)
POSE = typer.Option(
    None, "--pose", help="Positions of the arm's joints; a number for all, or one each."
)
LOAD = typer.Option(
    None, "--load", help="Force [N] then couple [N m] on the tool, in its axes: six numbers."
)
PAYLOAD = typer.Option(None, "--payload", min=0.0, help="A mass [kg] at the tool.")
SLOPE = typer.Option(
    None, "--slope", help="Of the ground, nose up, or nose up and left side up: 5deg or 5deg,2deg."
)
STOP_FROM = typer.Option(
    None, "--stop-from", min=0.0, help="The shortest stop from this speed [m/s] straight ahead."
)
PATH = typer.Option(
    None,
    "--path",
    metavar="FILE",
    help="A CSV file of t and coordinates: its path in the shortest time that wheels, edges and joints allow.",
)
CONTACT = typer.Option(
    "elastic",
    "--contact",
    help="How more than three wheels share the load: elastic, best or worst.",
)
TIP = typer.Option(None, "--tip", help="Of a URDF: the link to which the arm is taken.")
STOP = typer.Option(False, "--stop", help="End at the first loss of contact or adhesion.")
FRICTION = typer.Option(False, "--friction", help="Friction of wheels and joints takes part.")


def mobile(
    robot: str = MACHINE,
    case: int = CASE,
    q0: str = Q0,
    z0: str = typer.Option(None, "--z0", help="Speeds at the start; default 0."),
    time: float = TIME,
    torque: str = TORQUE,
    adhesion: float = ADHESION,
    stop: bool = STOP,
    locked: bool = typer.Option(False, "--locked", help="Hold the steering."),
    friction: bool = FRICTION,
    pose: str = POSE,
    load: str = LOAD,
    payload: float = PAYLOAD,
    slope: str = SLOPE,
    stop_from: float = STOP_FROM,
    contact: str = CONTACT,
    path: str = PATH,
    tip: str = TIP,
    html: str = HTML,
    as_json: bool = JSON,
) -> int:
    """Look at an arm on wheels: slip and tip-over.

    Ground forces, friction needed, degrees to tipping and what the ground still allows (acceleration, braking, bends,
    slopes, payload), at rest or along a motion. With --case one of the paper's motions is run, its statements are
    checked (exit code 1 if one does not hold) and a page with an animated view from above is written.
    """
    from ..mobile.files import load as load_robot

    standing = {"--pose": pose, "--load": load, "--payload": payload, "--slope": slope}
    standing |= {"--stop-from": stop_from, "--path": path}
    if case is not None:
        fixed = {"--q0": q0, "--z0": z0, "--time": time, "--torque": torque, "--adhesion": adhesion}
        fixed |= {"--stop": stop, "--locked": locked, "--friction": friction, "--tip": tip}
        fixed |= standing
        refuse_given("does not go with --case, whose motion is the paper's; leave one out", fixed)
        return _case(robot, case, html, as_json)
    writable_all({"--html": (html, (".html",))})
    _check(time, adhesion, standing, {"--stop": stop})
    machine = load_robot(robot, friction=friction or None, tip=tip)
    q, z, tau = _state(machine, q0, z0, torque)
    if not time:
        asked = asked_of(machine, (load, payload, slope), stop_from, adhesion, contact)
        if path is not None:
            own = {"--pose": pose, "--q0": q0, "--z0": z0, "--torque": torque, "--locked": locked}
            own |= {"--payload": payload, "--stop-from": stop_from}
            refuse_given("does not go with --path, which has its own motion; leave one out", own)
            return drive(machine, path, asked, html, as_json)
        held = posed(machine, q, q0, pose)
        return stand(machine, held, z, tau if torque else None, locked, asked, as_json, html)
    with busy("simulating"):
        run = machine.simulate(q, z, time, tau, friction=adhesion, stop=stop, locked=locked)
    _write(machine, run, html)
    _show_run(machine, run, html, as_json)
    return 0


def _check(
    time: float | None,
    adhesion: float | None,
    standing: dict[str, object],
    moving: dict[str, object],
) -> None:
    """Refuse options that do not go with a motion, or without one, before anything is computed."""
    if time:
        seconds("--time", time)
        refuse_given("is about a robot that stands; leave --time out", standing)
    else:
        refuse_given("is about a motion; give --time as well", moving)
    if adhesion is not None:
        real("--adhesion", adhesion, "a coefficient such as 0.6", lambda x: 0 <= x < float("inf"))


def _state(
    machine: MobileManipulator, q0: str | None, z0: str | None, torque: str | None
) -> tuple[list[float], list[float], list[float]]:
    """Coordinates, speeds and inputs as numbers; 0 where none are given."""
    values = []
    for option, text, names in (
        ("--q0", q0, machine.coordinate_names),
        ("--z0", z0, machine.speed_names),
        ("--torque", torque, machine.input_names),
    ):
        own = len(names) - machine.arm.n  # of the platform, the joints come after them
        angles = [name not in LENGTHS for name in names[:own]] + turning(machine.arm)
        turns = angles if option != "--torque" else ()
        values.append(numbers(option, "0" if text is None else text, len(names), names, turns))
    q, z, tau = values
    return q, z, tau


def _write(machine: MobileManipulator, run: Run, html: str | None) -> None:
    """The page of a motion, where one is wanted."""
    if html is not None:
        from ..mobile.outline import outline
        from ..report.mobile import page

        page(machine, run, outline, html)


def _show_run(machine: MobileManipulator, run: Run, html: str | None, as_json: bool) -> None:
    if as_json:
        print_json(
            {
                "robot": machine.name,
                "status": run.status,
                "t_end": run.t[-1],
                "q_end": dict(zip(machine.coordinate_names, run.q[-1].tolist(), strict=True)),
                "z_end": dict(zip(machine.speed_names, run.z[-1].tolist(), strict=True)),
                "lowest_measure": run.measure.min(),
                "friction_needed": run.friction_needed.max(),
                "intervals": run.intervals,
                "events": [
                    [e.t, e.kind, e.wheel, "lost" if e.lost else "found"] for e in run.events
                ],
                "files": [] if html is None else [html],
            }
        )
        return
    say(f"{machine.name}: {run.t[-1]:g} s, {run.status}")
    ends = zip(machine.coordinate_names, run.q[-1], strict=True)
    say("at the end: " + ", ".join(f"{name} {x:.4g}" for name, x in ends))
    say(
        f"lowest tip-over measure {run.measure.min():.4g} N rad, most friction needed {run.friction_needed.max():.3g}"
    )
    for low, high in run.intervals:
        say(f"tips between {low:.3f} s and {high:.3f} s", "yellow")
    for e in run.events[:20]:
        say(f"{e.t:.3f} s: {e.wheel} {'loses' if e.lost else 'finds'} {e.kind}")
    if html is not None:
        say(f"wrote {html}")


def _case(robot: str, case: int, html: str | None, as_json: bool) -> int:
    """One of the paper's motions, its statements checked."""
    from ..mobile.outline import outline
    from ..report.mobile import case_page
    from ..reproductions.tanner2001_cases import run as run_case

    if robot != PAPER:
        raise InputError(
            f"--case belongs to {PAPER}; '{robot}' has no motions of its own, give --time instead"
        )
    target = f"{PAPER}_case{case}.html" if html is None and not as_json else html
    writable_all({"--html": (target, (".html",))})
    with busy("simulating"):
        played = run_case(case)
    if target is not None:
        case_page(played, outline, target)
    if as_json:
        print_json(_case_data(played, target))
        return 0 if played.ok else 1
    say(f"Fig. {played.case.number}: {played.case.title}", "bold")
    say(f"start: {played.case.start}")
    say()
    rows = [[f.claim, "holds" if f.holds else "FAILS", f.text] for f in played.findings]
    show_table("What the paper says", ["statement", "", "found"], rows, right=3, wrap=2)
    for low, high in played.run.intervals:
        say(f"tips between {low:.3f} s and {high:.3f} s", "yellow")
    say(f"wrote {target}")
    return 0 if played.ok else 1


def _case_data(played: CaseRun, target: str | None) -> Json:
    return {
        "case": played.case.number,
        "title": played.case.title,
        "start": played.case.start,
        "assumptions": played.assumptions,
        "findings": [
            {"claim": f.claim, "holds": f.holds, "found": f.text} for f in played.findings
        ],
        "intervals": played.run.intervals,
        "verdict": "PASS" if played.ok else "FAIL",
        "files": [] if target is None else [target],
    }
