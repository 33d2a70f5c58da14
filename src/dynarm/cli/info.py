"""dynarm info: what a robot is, its minimal parameters, what each formulation costs, and what was chosen."""

from __future__ import annotations

import math
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from .console import busy, part_of, print_json, progress, say, show_table
from .count import costs, show_costs
from .info_data import file_data, tree_data
from .options import (
    HTML,
    JSON,
    PORTION,
    ROBOT,
    Portion,
    load_arm,
    refuse_given,
    with_portion,
    writable_all,
)
from .sheet import WIDE, ends, limits, show_sheet
from .wheeled import WHEELS, mobile_of, show_mobile
from .wording import options_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..border.kinds import Json
    from ..parameters.minimal import MinimalParameters
    from ..robot.arm import Arm, Joint

FORM = 600  # letters of a combination that are printed unasked
EXAMPLES = ("dynarm info puma560", "dynarm info stanford --html stanford.html")
SHOWN = (
    "inverse_dynamics",
    "bias",
    "mass_matrix",
    "mass_matrix_and_bias",
    "coriolis_tensor",
    "forward_dynamics",
)
MOST = 24  # speeds of a tree whose Coriolis tensor is still counted
CHAIN = ["joint", "kind", "a [m]", "alpha [deg]", "d [m]", "theta [deg]", "mass [kg]", "limits"]


CONVENTION = typer.Option(
    "lin1995",
    "--convention",
    help="Of the minimal parameters: lin1995, linfang1999 or gautier1990.",
)
ARMATURE = typer.Option(False, "--armature", help="Reflected motor inertias are parameters too.")

LATEX = typer.Option(
    False,
    "--latex",
    help="Print the minimal parameters as LaTeX instead, and M, C, G of chains of up to four joints.",
)

LONG = typer.Option(
    False, "--long", help="Of a robot's file: also every parameter, joint and formulation."
)


@with_portion
def info(
    robot: str = ROBOT,
    wheels: bool = WHEELS,
    portion: Portion = PORTION,
    convention: str = CONVENTION,
    armature: bool = ARMATURE,
    long: bool = LONG,
    latex: bool = LATEX,
    html: str = HTML,
    as_json: bool = JSON,
) -> None:
    """Show a robot and its minimal parameters.

    Of a file: its joints and links, ends, what is merged, held, taken as exact or doubtful, on one screen; --long adds
    the rest. Of others the chain, the minimal parameters with their long forms, what each formulation costs, what was
    chosen and why. With --html the robot's sheet: a sketch, the costs as bars, a heat map of the mass matrix.
    """
    from ..parameters.minimal import minimal_parameters

    writable_all({"--html": (html, (".html",))})
    wheeled = mobile_of(robot, wheels, portion)
    if wheeled is not None:
        told = f"is about arms; the page of a robot on wheels: dynarm mobile {robot} --html FILE"
        refuse_given(told, {"--html": html, "--latex": latex, "--long": long})
        return show_mobile(wheeled, as_json)
    arm = load_arm(robot, portion)
    if latex:
        return _print_latex(arm, convention, armature)
    with progress("counting") as done:
        minimal = minimal_parameters(arm, convention=convention, armature=armature)
        counted = _count(arm, done)
    if html:
        from ..report.robot_sheet import page

        with busy("drawing"):
            page(arm, minimal, counted, html)
    if as_json:
        print_json({**_as_data(arm, minimal, counted), "about": _about(robot)})
        return
    if arm.origin is not None:
        _show_file(arm, minimal, counted, long)
    elif whole(arm):
        _show_whole(arm, minimal)
        _show_choices(arm, counted)
    else:
        _show_chain(arm)
        _show_doubts(arm, minimal)
        show_minimal(minimal, long)
        _show_choices(arm, counted)
        for quantity in ("inverse_dynamics", "mass_matrix"):
            show_costs(f"Operations: {quantity}", counted[quantity])
    _say_about(robot)
    shown = robot if len(robot) < WIDE // 2 else Path(robot).name
    say(f"Every quantity by formulation: dynarm count {shown}")
    if html:
        say(f"wrote {html}")


def _count(arm: Arm, done: Callable[..., None]) -> dict[str, list[Json]]:
    """What each formulation of each quantity costs."""
    wanted = _counted(arm)
    pieces = [part_of(done, k, len(wanted)) for k in range(len(wanted))]
    return {q: costs(arm, q, None, tell) for q, tell in zip(wanted, pieces, strict=True)}


def _say_about(robot: str) -> None:
    """Where a built-in robot's numbers come from."""
    told = _about(robot)
    if told:
        say(f"{told['title']}; inertias: {told['inertias']}")
        say(f"Source: {told['source']} ({told['licence']})")


def _print_latex(arm: Arm, convention: str, armature: bool) -> None:
    """The minimal parameters, and the equations of short arms, for a document."""
    from ..parameters.explicit import MOST, explicit
    from ..parameters.minimal import minimal_parameters

    texts = [minimal_parameters(arm, convention=convention, armature=armature).latex()]
    if arm.n <= MOST and not whole(arm):
        texts.append(explicit(arm).latex())
    for line in "\n".join(texts).splitlines():
        say(line)


def _show_file(
    arm: Arm, minimal: MinimalParameters, counted: dict[str, list[Json]], long: bool
) -> None:
    """A robot of a file on one screen; long: then all numbers."""
    from ..robot.sheet import shape

    g = ", ".join(f"{x:g}" for x in arm.gravity)
    title = f"{arm.name}: {arm.n} joints{shape(arm)}, gravity ({g}) m/s^2"
    show_sheet(arm, title[:WIDE], options_of(info), _doubts(arm, minimal), long)
    if long:
        _show_long(arm, minimal, counted)
        return
    rows = choices(arm, counted)
    columns = ["quantity", "chosen", "mul", "add", "total"]
    show_table("Cheapest formulations", columns, [[r[c] for c in columns] for r in rows], right=2)
    say(
        f"{minimal.count} minimal parameters of {len(minimal.natural)} natural ones; --long lists all"
    )


def _show_long(arm: Arm, minimal: MinimalParameters, counted: dict[str, list[Json]]) -> None:
    if whole(arm):
        columns, rows = tree_table(arm)
        show_table("Joints", columns, rows, right=len(columns) - 2)
    else:
        _show_chain(arm)
    show_minimal(minimal)
    _show_choices(arm, counted)
    for quantity in ("inverse_dynamics", "mass_matrix"):
        show_costs(f"Operations: {quantity}", counted[quantity])


def _about(robot: str) -> dict[str, str]:
    """What a built-in robot is and where its numbers come from; nothing of a file."""
    from ..robot.about import about, catalogue

    return asdict(about(robot)) if robot in catalogue() else {}


def _counted(arm: Arm) -> list[str]:
    """The quantities that are counted; the Coriolis tensor has n^3 entries, too many of a humanoid."""
    return [q for q in SHOWN if arm.serial or arm.nv <= MOST or q != "coriolis_tensor"]


def _show_chain(arm: Arm) -> None:
    g = ", ".join(f"{x:g}" for x in arm.gravity)
    title = f"{arm.name}: {arm.n} joints, modified Denavit-Hartenberg, gravity ({g}) m/s^2"
    show_table(title, CHAIN, [_joint_row(j) for j in arm.joints], right=2)


def whole(arm: Arm) -> bool:
    """Whether it is more than a chain with one tool."""
    return not (arm.serial and arm.coupling.free and arm.tools is None)


def _show_whole(arm: Arm, minimal: MinimalParameters) -> None:
    """A robot that branches, moves freely or has joints that follow others, on one screen."""
    from ..robot.sheet import shape

    columns, rows = tree_table(arm)
    g = ", ".join(f"{x:g}" for x in arm.gravity)
    show_table(
        f"{arm.name}: {arm.n} joints{shape(arm)}, gravity ({g}) m/s^2",
        columns,
        rows,
        right=len(columns) - 2,
    )
    for line in _facts(arm, minimal):
        say(line)
    _show_doubts(arm, minimal)


def tree_table(arm: Arm) -> tuple[list[str], list[list[str]]]:
    """Columns and rows of the joints: what each hangs on, its kind, what it follows, mass and limits."""
    from ..robot.sheet import link_name, rule

    rows = []
    for joint, parent in zip(arm.joints, arm.parents, strict=True):
        hung = [str(joint.name), link_name(arm, parent), joint.kind, rule(arm, joint)]
        rows.append([*hung, f"{joint.mass:.6g}", limits(joint)])
    if arm.floating:
        rows.insert(0, ["base", "", "free", "", f"{arm.floating.mass:.6g}", ""])
    columns = ["joint", "hangs on", "kind", "follows", "mass [kg]", "limits"]
    if arm.coupling.free:
        columns.remove("follows")
        rows = [row[:3] + row[4:] for row in rows]
    return columns, rows


def _facts(arm: Arm, minimal: MinimalParameters) -> list[str]:
    """Sizes, ends and tools, a line each."""
    lines = [f"q has {arm.nq} numbers, qd and tau have {arm.nv}"]
    if arm.floating:
        lines[0] += ": of the base x y z qx qy qz qw, and its velocities in its own axes, first"
    held = {p for p in arm.parents if p >= 0}
    lines.append(
        f"ends: {', '.join(str(j.name) for i, j in enumerate(arm.joints) if i not in held)}"
    )
    tools = ", ".join(tool.name for tool in arm.all_tools)
    lines.append(f"tools: {tools or 'none; name links with --tool'}")
    total = len(minimal.natural)
    lines.append(
        f"{minimal.count} minimal parameters of {total} natural ones ({minimal.convention}); "
        "--html and --json list them"
    )
    return lines


def _joint_row(joint: Joint) -> list[str]:
    lengths = [
        f"{joint.a:.6g}",
        _tidy(math.degrees(joint.alpha)),
        f"{joint.d:.6g}",
        _tidy(math.degrees(joint.theta)),
    ]
    return [str(joint.name), joint.kind, *lengths, f"{joint.mass:.6g}", limits(joint)]


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


def _cut(form: str) -> str:
    """A combination of hundreds of terms is not read; its beginning, and how much there is."""
    if len(form) <= FORM:
        return form
    start = form[: form.rfind(" ", 0, FORM - 60)].rstrip(" +-(")
    return f"{start} ... ({len(form)} letters in all; --long, --html and --json have them)"


def show_minimal(minimal: MinimalParameters, long: bool = True) -> None:
    """Names, values and long forms of the minimal parameters."""
    rows = [
        [name, f"{value:.6g}", form if long else _cut(form)]
        for name, value, form in zip(minimal.names, minimal.values, minimal.long_forms, strict=True)
    ]
    total = len(minimal.natural)
    title = f"{minimal.count} minimal parameters of {total} natural ones ({minimal.convention})"
    show_table(title, ["name", "value", "= combination"], rows, right=1, wrap=2)


def choices(arm: Arm, counted: dict[str, list[Json]]) -> list[Json]:
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


def _show_choices(arm: Arm, counted: dict[str, list[Json]]) -> None:
    rows = choices(arm, counted)
    columns = list(rows[0])
    title = "Chosen for this robot: the fewest multiplications and additions"
    show_table(title, columns, [[row[c] for c in columns] for row in rows], right=2)


def _as_data(arm: Arm, minimal: MinimalParameters, counted: dict[str, list[Json]]) -> Json:
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
        **(tree_data(arm) if whole(arm) else {}),
        **(file_data(arm.origin, ends(arm)) if arm.origin else {}),
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
