"""dynarm export: a robot's dynamics as C99 for controllers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ..border.arguments import path_of, shown
from ..errors import InputError
from .console import busy, print_json, progress, say
from .options import (
    FORCE,
    FORMULATION,
    FRICTION,
    JSON,
    PORTION,
    ROBOT,
    Portion,
    formulation_wishes,
    load_arm,
    with_portion,
    words,
)
from .wheeled import WHEELS, export_mobile, mobile_of

if TYPE_CHECKING:
    from ..border.kinds import Json
    from ..model.export import Exported

EXAMPLES = (
    "dynarm export two_link",
    "dynarm export puma560 puma_c --single -q inverse_dynamics,gravity",
)


FOLDER = typer.Argument(
    None, help="A new folder for the code; default: <robot>_c.", show_default=False
)
QUANTITIES = typer.Option(
    None, "--quantity", "-q", help="Names with commas between them; default: the usual ones."
)
NAME = typer.Option(
    None, "--name", help="Prefix of files and functions; default: the robot's name."
)
BOUNDED_STACK = typer.Option(
    False, "--bounded-stack", help="Stack of a stated size at most; slower."
)


@with_portion
def export(
    robot: str = ROBOT,
    folder: str = FOLDER,
    quantities: str = QUANTITIES,
    name: str = NAME,
    single: bool = typer.Option(False, "--single", help="float instead of double."),
    bounded_stack: bool = BOUNDED_STACK,
    friction: bool = FRICTION,
    formulation: list[str] = FORMULATION,
    force: bool = FORCE,
    wheels: bool = WHEELS,
    portion: Portion = PORTION,
    as_json: bool = JSON,
) -> None:
    """Write a robot's dynamics as C.

    C99: header, source, a self-test with stored cases, and a CMake file. No allocation, no global state, nothing of
    the C library but sin, cos, sqrt and tanh. Build and try it with cmake -S FOLDER -B build && cmake --build build &&
    ctest --test-dir build.
    """
    from ..machine.emit.c_names import identifier
    from ..model.export import DEFAULT, export_c, source_of, wanted_of
    from ..model.model import compile as compile_arm
    from ..plan.quantities import QUANTITIES

    wheeled = mobile_of(robot, wheels, portion)
    if wheeled is not None:
        options = {"single": single, "bounded_stack": bounded_stack, "force": force, "name": name}
        written = export_mobile(wheeled, folder, quantities, options)
        return print_json(_as_data(written)) if as_json else _show(written)
    arm = load_arm(robot, portion)
    wanted = DEFAULT if quantities is None else words("--quantity", quantities, QUANTITIES)
    if name is not None and name != identifier(name):
        raise InputError(f"--name is {shown(name)}; a C name is wanted, such as {identifier(name)}")
    prefix = identifier(arm.name) if name is None else name
    target = path_of("FOLDER", f"{prefix}_c" if folder is None else folder, "the name of a folder")
    model = compile_arm(arm, formulation_wishes(formulation) or None, friction=friction)
    kind = {"single": single, "bounded_stack": bounded_stack}
    with progress("tracing") as done:  # what takes its time; the files then go quickly
        source = source_of(model)
        for k, quantity in enumerate(names := wanted_of(source, wanted)):
            source.graph(quantity)
            done((k + 1) / len(names))
    with busy("writing C"):
        made = export_c(model, target, quantities=wanted, name=name, force=force, **kind)
    if as_json:
        print_json(_as_data(made))
        return
    _show(made)
    taken = "stack of any function: at most" if bounded_stack else "temporaries of any function:"
    say(f"{taken} {made.stack} bytes; {'float' if single else 'double'}, {arm.n} joints")


def _files(made: Exported) -> list[str]:
    return sorted(p.name for p in Path(made.folder).iterdir() if p.is_file())


def _as_data(made: Exported) -> Json:
    return {
        "folder": str(made.folder),
        "files": _files(made),
        "functions": made.functions,
        "stack": made.stack,
    }


def _show(made: Exported) -> None:
    say(f"{made.folder}: {', '.join(_files(made))}")
    for function in made.functions:
        say(f"  {function}")
