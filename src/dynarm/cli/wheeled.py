"""Arms on wheels where a command expects a robot: `dynarm info`, `count` and `export` of mobile manipulators."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ..errors import FormatError
from .console import busy, print_json, say, show_table
from .options import refuse_given
from .standing import show_forces, show_names

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..border.kinds import Json, Outside
    from ..mobile.robot import MobileManipulator
    from ..model.export import Exported
    from .options import Portion

WHEELS = typer.Option(
    False, "--wheels", help="Of a URDF: take it as an arm on wheels, as `dynarm mobile` does."
)
FUNCTIONS = ("equations", "control", "derivative", "inverse_dynamics", "ground", "energy")


def mobile_of(
    robot: str | None, wheels: bool = False, portion: Portion | None = None
) -> MobileManipulator | None:
    """The mobile manipulator of a built-in name or of a file with wheels (TOML, URDF); None: it is something else."""
    from ..border.files import content
    from ..border.toml import tables
    from ..mobile.files import MAX_BYTES, catalogue, load

    if robot is None:
        refuse_given("is about a robot; name one", {"--wheels": wheels or None})
        return None
    if robot in catalogue():
        return load(robot)
    path = Path(robot)
    if wheels:
        given = {} if portion is None else portion.given
        tip = given.pop("--tip", None)
        refuse_given("does not go with --wheels; leave one out", given)
        return load(robot, tip=tip)  # type: ignore[arg-type]
    if path.suffix.lower() != ".toml" or not os.path.isfile(path):
        return None
    try:
        keys = set(tables(content(path, MAX_BYTES), robot, MAX_BYTES))
    except FormatError:  # whoever reads it as an arm says what is wrong with it
        return None
    return load(robot) if keys & {"platform", "wheels", "urdf"} else None


def show_mobile(robot: MobileManipulator, as_json: bool) -> None:
    """What the robot is, and how it stands with its arm at zero."""
    q, still = [0.0] * len(robot.coordinate_names), [0.0] * len(robot.speed_names)
    ground = robot.ground(q, still, still)
    if as_json:
        wheels = [
            {"name": name, "kind": w.kind, "x": w.x, "y": w.y, "radius": w.radius, "mass": w.mass}
            for name, w in zip(robot.wheel_names, robot.wheels, strict=True)
        ]
        data: Json = {
            "robot": robot.name,
            "coordinates": robot.coordinate_names,
            "speeds": robot.speed_names,
            "inputs": robot.input_names,
            "mobility": robot.mobility,
            "wheels": wheels,
            "mass": _mass(robot),
            "wheel_forces": dict(zip(robot.wheel_names, ground.forces.tolist(), strict=True)),
            "status": ground.status,
        }
        print_json(data)
        return
    show_names(robot)
    rows = [
        [name, w.kind, f"{w.x:.4g}", f"{w.y:.4g}", f"{w.radius:.4g}", f"{w.mass:.4g}"]
        for name, w in zip(robot.wheel_names, robot.wheels, strict=True)
    ]
    show_table("Wheels", ["wheel", "kind", "x [m]", "y [m]", "radius [m]", "mass [kg]"], rows)
    say(f"{_mass(robot):.6g} kg in all, {robot.arm.n} joints")
    say(f"mass centre of the platform {robot.platform.height:.4g} m above the ground")
    show_forces(robot, ground.forces, ground.friction)
    say(ground.status)


def _mass(robot: MobileManipulator) -> float:
    parts = [robot.platform.mass, robot.base.mass, *(w.mass for w in robot.wheels)]
    return float(sum(parts) + sum(joint.mass for joint in robot.arm.joints))


def count_mobile(robot: MobileManipulator, as_json: bool) -> None:
    """Operations of the robot's functions."""
    counts = {}
    with busy("counting"):
        for name in FUNCTIONS:
            c = robot.count(name)
            counts[name] = {
                "mul": c.mul,
                "add": c.add,
                "div": c.div,
                "sqrt": c.sqrt,
                "path": c.depth,
            }
    if as_json:
        print_json({robot.name: counts})
        return
    rows = [[name, *(str(x) for x in table.values())] for name, table in counts.items()]
    show_table(f"{robot.name}: operations", ["function", "mul", "add", "div", "sqrt", "path"], rows)


def export_mobile(
    robot: MobileManipulator,
    folder: str | None,
    quantities: str | None,
    options: Mapping[str, Outside],
) -> Exported:
    """The robot's functions as C."""
    from ..border.arguments import path_of
    from ..machine.emit.c_names import identifier
    from ..mobile.export import default_functions
    from ..mobile.kernels import NAMES
    from ..model.export import export_c
    from .options import words

    prefix = identifier(robot.name)
    target = path_of("FOLDER", f"{prefix}_c" if folder is None else folder, "the name of a folder")
    chosen = default_functions(robot)
    if quantities is not None:
        chosen = words("--quantity", quantities, NAMES)
    with busy("writing C"):
        return export_c(robot, target, quantities=chosen, **options)
