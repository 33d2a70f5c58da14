"""dynarm export: a robot's dynamics as C99 for controllers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from ..border.arguments import path_of, shown
from ..errors import InputError
from .console import busy, print_json, say
from .options import (
    BASE,
    FLOATING,
    FORCE,
    FORMULATION,
    FREEZE,
    FRICTION,
    JSON,
    MASSLESS,
    PACKAGES,
    ROBOT,
    SNAP,
    TIP,
    TOOLS,
    XACRO,
    formulation_wishes,
    load_arm,
    words,
)

EXAMPLES = (
    "dynarm export two_link",
    "dynarm export puma560 puma_c --single -q inverse_dynamics,gravity",
)


def export(
    robot: str = ROBOT,
    folder: str = typer.Argument(
        None, help="A new folder for the code; default: <robot>_c.", show_default=False
    ),
    quantities: str = typer.Option(
        None, "--quantity", "-q", help="Names with commas between them; default: the usual ones."
    ),
    name: str = typer.Option(
        None, "--name", help="Prefix of files and functions; default: the robot's name."
    ),
    single: bool = typer.Option(False, "--single", help="float instead of double."),
    bounded_stack: bool = typer.Option(
        False, "--bounded-stack", help="Stack of a stated size at most; slower."
    ),
    friction: bool = FRICTION,
    formulation: list[str] = FORMULATION,
    force: bool = FORCE,
    base: str = BASE,
    tip: str = TIP,
    floating: bool = FLOATING,
    tools: list[str] = TOOLS,
    freeze: list[str] = FREEZE,
    snap: bool = SNAP,
    xacro: list[str] = XACRO,
    packages: list[str] = PACKAGES,
    allow_massless: bool = MASSLESS,
    as_json: bool = JSON,
) -> None:
    """Write a robot's dynamics as C.

    C99: header, source, a self-test with stored cases, and a CMake file. No allocation, no global state, nothing of
    the C library but sin, cos, sqrt and tanh. Build and try it with cmake -S FOLDER -B build && cmake --build build &&
    ctest --test-dir build.
    """
    from ..machine.emit.c_names import identifier
    from ..model.export import DEFAULT, export_c
    from ..model.model import compile as compile_arm
    from ..plan.quantities import QUANTITIES

    arm = load_arm(robot, base, tip, floating, tools, freeze, snap, xacro, packages, allow_massless)
    wanted = DEFAULT if quantities is None else words("--quantity", quantities, QUANTITIES)
    if name is not None and name != identifier(name):
        raise InputError(f"--name is {shown(name)}; a C name is wanted, such as {identifier(name)}")
    prefix = identifier(arm.name) if name is None else name
    target = path_of("FOLDER", f"{prefix}_c" if folder is None else folder, "the name of a folder")
    model = compile_arm(arm, formulation_wishes(formulation) or None, friction=friction)
    with busy("writing C"):
        made = export_c(
            model,
            target,
            quantities=wanted,
            name=name,
            single=single,
            bounded_stack=bounded_stack,
            force=force,
        )
    files = sorted(p.name for p in Path(made.folder).iterdir() if p.is_file())
    report: dict[str, Any] = {
        "folder": str(made.folder),
        "files": files,
        "functions": made.functions,
        "stack": made.stack,
    }
    if as_json:
        print_json(report)
        return
    say(f"{made.folder}: {', '.join(files)}")
    for function in made.functions:
        say(f"  {function}")
    taken = "stack of any function: at most" if bounded_stack else "temporaries of any function:"
    say(f"{taken} {made.stack} bytes; {'float' if single else 'double'}, {arm.n} joints")
