"""dynarm info: what a robot is, its minimal parameters, what each formulation costs, and what was chosen."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import typer

from .console import busy, print_json, say, show_table
from .count import costs, show_costs
from .options import BASE, HTML, JSON, ROBOT, TIP, load_arm, writable_all

if TYPE_CHECKING:
    from ..parameters.minimal import MinimalParameters
    from ..robot.arm import Arm, Joint

EXAMPLES = ("dynarm info puma560", "dynarm info stanford --html stanford.html")
SHOWN = (
    "inverse_dynamics",
    "bias",
    "mass_matrix",
    "mass_matrix_and_bias",
    "coriolis_tensor",
    "forward_dynamics",
)
CHAIN = ["joint", "kind", "a [m]", "alpha [deg]", "d [m]", "theta [deg]", "mass [kg]", "limits"]


def info(
    robot: str = ROBOT,
    base: str = BASE,
    tip: str = TIP,
    convention: str = typer.Option(
        "lin1995",
        "--convention",
        help="Of the minimal parameters: lin1995, linfang1999 or gautier1990.",
    ),
    armature: bool = typer.Option(
        False, "--armature", help="Reflected motor inertias are parameters too."
    ),
    html: str = HTML,
    as_json: bool = JSON,
) -> None:
    """Show a robot and its minimal parameters.

    Its chain, doubts about it, the minimal parameters with their long forms, what each formulation costs, what was
    chosen and why. With --html the robot's sheet: a sketch, the costs as bars, a heat map of the mass matrix.
    """
    from ..parameters.minimal import minimal_parameters

    writable_all({"--html": (html, (".html",))})
    arm = load_arm(robot, base, tip)
    with busy("counting"):
        minimal = minimal_parameters(arm, convention=convention, armature=armature)
        counted = {quantity: costs(arm, quantity) for quantity in SHOWN}
    if html:
        from ..report.robot_sheet import page

        with busy("drawing"):
            page(arm, minimal, counted, html)
    if as_json:
        print_json(_as_data(arm, minimal, counted))
        return
    _show_chain(arm)
    _show_doubts(arm, minimal)
    show_minimal(minimal)
    _show_choices(arm, counted)
    for quantity in ("inverse_dynamics", "mass_matrix"):
        show_costs(f"Operations: {quantity}", counted[quantity])
    say(f"Every quantity by formulation: dynarm count {robot}")
    if html:
        say(f"wrote {html}")


def _show_chain(arm: Arm) -> None:
    g = ", ".join(f"{x:g}" for x in arm.gravity)
    title = f"{arm.name}: {arm.n} joints, modified Denavit-Hartenberg, gravity ({g}) m/s^2"
    show_table(title, CHAIN, [_joint_row(j) for j in arm.joints], right=2)


def _joint_row(joint: Joint) -> list[str]:
    unit, factor = ("deg", 180 / math.pi) if joint.revolute else ("m", 1.0)
    limits = ""
    if joint.position_limits:
        low, high = (x * factor for x in joint.position_limits)
        limits = f"{low:.4g} .. {high:.4g} {unit}"
    lengths = [
        f"{joint.a:.6g}",
        _tidy(math.degrees(joint.alpha)),
        f"{joint.d:.6g}",
        _tidy(math.degrees(joint.theta)),
    ]
    return [str(joint.name), joint.kind, *lengths, f"{joint.mass:.6g}", limits]


def _tidy(x: float) -> str:
    """Degrees without what rounding left of them; lengths and masses may well be as small."""
    return f"{0.0 if abs(x) < 1e-9 else x:.6g}"


def _doubts(arm: Arm, minimal: MinimalParameters) -> list[str]:
    """What may be wrong; joints that were made rigid on loading are notes."""
    from ..robot.doubts import all_doubts

    return [*all_doubts(arm), *minimal.doubts]


def _show_doubts(arm: Arm, minimal: MinimalParameters) -> None:
    doubts = _doubts(arm, minimal)
    for doubt in doubts:
        say(f"doubt: {doubt}", "yellow")
    for told in arm.origin.notes if arm.origin else ():
        say(f"note: {told}")
    if doubts or (arm.origin and arm.origin.notes):
        say()


def show_minimal(minimal: MinimalParameters) -> None:
    """Names, values and long forms of the minimal parameters."""
    rows = [
        [name, f"{value:.6g}", form]
        for name, value, form in zip(minimal.names, minimal.values, minimal.long_forms, strict=True)
    ]
    total = len(minimal.natural)
    title = f"{minimal.count} minimal parameters of {total} natural ones ({minimal.convention})"
    show_table(title, ["name", "value", "= combination"], rows, right=1, wrap=2)


def choices(arm: Arm, counted: dict[str, list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """For each quantity the formulation that is compiled, its cost, the next best, and how many were compared."""
    from ..plan.choice import cheapest

    chosen = []
    for quantity, rows in counted.items():
        name = cheapest(arm, quantity).name
        best = next(row for row in rows if row["formulation"] == name)
        rest = [row for row in rows if row is not best]
        second = f"{rest[0]['formulation']} ({rest[0]['mul'] + rest[0]['add']})" if rest else ""
        chosen.append(
            {
                "quantity": quantity,
                "chosen": best["formulation"],
                "mul": best["mul"],
                "add": best["add"],
                "total": best["mul"] + best["add"],
                "next best": second,
                "compared": len(rows),
            }
        )
    return chosen


def _show_choices(arm: Arm, counted: dict[str, list[dict[str, Any]]]) -> None:
    rows = choices(arm, counted)
    columns = list(rows[0])
    title = "Chosen for this robot: the fewest multiplications and additions"
    show_table(title, columns, [[row[c] for c in columns] for row in rows], right=2)


def _as_data(
    arm: Arm, minimal: MinimalParameters, counted: dict[str, list[dict[str, Any]]]
) -> dict[str, Any]:
    return {
        "robot": arm.name,
        "joints": [
            {
                "name": j.name,
                "kind": j.kind,
                "a": j.a,
                "alpha": j.alpha,
                "beta": j.beta,
                "d": j.d,
                "theta": j.theta,
                "mass": j.mass,
                "com": j.com,
                "inertia": j.inertia,
                "armature": j.armature,
                "position_limits": j.position_limits,
            }
            for j in arm.joints
        ],
        "gravity": arm.gravity,
        "doubts": _doubts(arm, minimal),
        "notes": arm.origin.notes if arm.origin else [],
        "minimal_parameters": {
            "convention": minimal.convention,
            "names": minimal.names,
            "values": minimal.values,
            "long_forms": minimal.long_forms,
            "symbolic_forms": minimal.symbolic_forms,
            "decisions": minimal.decisions,
        },
        "counts": counted,
        "chosen": {row["quantity"]: row["chosen"] for row in choices(arm, counted)},
    }
