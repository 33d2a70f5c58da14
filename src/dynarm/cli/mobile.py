"""dynarm mobile: an arm on wheels: how it stands, how it moves, where it slips or tips over."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

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

if TYPE_CHECKING:
    import numpy as np

    from ..border.kinds import Json, Numbers
    from ..mobile.robot import MobileManipulator
    from ..mobile.run import MobileRun as Run
    from ..reproductions.tanner2001_cases import CaseRun

EXAMPLES = (
    "dynarm mobile tanner2001 --case 5",
    "dynarm mobile diffdrive_puma560 --z0 0.5,0.3,0,0,0,0,0,0 --time 2 --html run.html",
)
PAPER = "tanner2001"
LENGTHS = ("x", "y", "v")  # among a platform's coordinates and speeds, which else are angles


MACHINE = typer.Argument(
    help="A built-in mobile manipulator (tanner2001, diffdrive_puma560) or a path to a .toml file.",
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
    html: str = HTML,
    as_json: bool = JSON,
) -> int:
    """Look at an arm on wheels: slip and tip-over.

    Ground forces, friction needed and tip-over margin, at rest or along a motion. With --case one of the paper's
    motions is run, its statements are checked (exit code 1 if one does not hold) and a page with an animated view
    from above is written.
    """
    from ..mobile.files import load

    if case is not None:
        fixed = {"--q0": q0, "--z0": z0, "--time": time, "--torque": torque, "--adhesion": adhesion}
        fixed |= {"--stop": stop, "--locked": locked, "--friction": friction}
        refuse_given("does not go with --case, whose motion is the paper's; leave one out", fixed)
        return _case(robot, case, html, as_json)
    writable_all({"--html": (html, (".html",))})
    if time:
        seconds("--time", time)
    else:
        refuse_given("is about a motion; give --time as well", {"--html": html, "--stop": stop})
    if adhesion is not None:
        real("--adhesion", adhesion, "a coefficient such as 0.6", lambda x: 0 <= x < float("inf"))
    machine = load(robot, friction=friction or None)
    q, z, tau = _state(machine, q0, z0, torque)
    if not time:
        _stand(machine, q, z, None if torque is None else tau, adhesion, locked, as_json)
        return 0
    with busy("simulating"):
        run = machine.simulate(q, z, time, tau, friction=adhesion, stop=stop, locked=locked)
    if html is not None:
        from ..mobile.outline import outline
        from ..report.mobile import page

        page(machine, run, outline, html)
    _show_run(machine, run, html, as_json)
    return 0


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


def _stand(
    machine: MobileManipulator,
    q: list[float],
    z: list[float],
    tau: list[float] | None,
    adhesion: float | None,
    locked: bool,
    as_json: bool,
) -> None:
    """The ground forces of one state."""
    state = _standing(machine, q, z, tau, locked)
    judged = (
        None
        if adhesion is None
        else machine.admissible(q, z, state.inputs, adhesion, locked=locked)
    )
    if as_json:
        data = {
            "robot": machine.name,
            "coordinates": machine.coordinate_names,
            "speeds": machine.speed_names,
            "inputs": machine.input_names,
            "wheel_forces": dict(zip(machine.wheel_names, state.forces.tolist(), strict=True)),
            "tipover_measure": float(state.measure),
            "status": state.status,
            "admissible": None if judged is None else bool(judged),
        }
        print_json(data)
        return
    _show_names(machine)
    rows = wheel_rows(machine, state.forces, state.needed)
    show_table("Ground forces [N]", ["wheel", "rolling", "axle", "up", "friction needed"], rows)
    say(state.status)
    if judged is not None:
        for line in str(judged).splitlines():
            say(line)


class _Standing(NamedTuple):
    """What the ground carries of one state."""

    forces: np.ndarray  # (w, 3)
    needed: np.ndarray  # friction coefficient of each wheel
    measure: np.ndarray
    status: str
    inputs: Numbers


def _standing(
    machine: MobileManipulator,
    q: list[float],
    z: list[float],
    tau: list[float] | None,
    locked: bool,
) -> _Standing:
    if tau is None:  # held: the joints' drives carry the arm
        rest = [0.0] * len(z)
        ground = machine.ground(q, z, rest)
        inputs = machine.inverse_dynamics(q, z, rest)
        return _Standing(ground.forces, ground.friction, ground.measure, ground.status, inputs)
    contact = machine.contact(q, z, tau, locked=locked)
    tipover = contact.tipover
    return _Standing(contact.forces, contact.friction_needed, tipover.measure, tipover.status, tau)


def _show_names(machine: MobileManipulator) -> None:
    say(machine.name, "bold")
    for word, names in (
        ("coordinates q", machine.coordinate_names),
        ("speeds z", machine.speed_names),
        ("inputs tau", machine.input_names),
    ):
        say(f"  {word}: {', '.join(names)}")
    say()


def wheel_rows(
    machine: MobileManipulator, forces: np.ndarray, needed: np.ndarray
) -> list[list[str]]:
    """Forces of each wheel and the friction coefficient that holds it."""
    return [
        [name, *(f"{x:.2f}" for x in force), f"{mu:.3f}"]
        for name, force, mu in zip(machine.wheel_names, forces, needed, strict=True)
    ]


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
