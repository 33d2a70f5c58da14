"""Arguments and options that several commands share, and how their texts become numbers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import typer

from ..border.numbers import written
from ..errors import InputError

if TYPE_CHECKING:
    from ..robot.arm import Arm


def robots(incomplete: str = "") -> list[str]:
    """Built-in robots for the shell's completion; files are completed by the shell itself."""
    from ..robot.files import catalogue

    return [name for name in catalogue() if name.startswith(incomplete)]


def mobile_robots(incomplete: str = "") -> list[str]:
    """Built-in mobile manipulators for the shell's completion."""
    from ..mobile.files import catalogue

    return [name for name in catalogue() if name.startswith(incomplete)]


ROBOT = typer.Argument(
    help="A built-in robot's name, or a path to a .urdf or .toml file.",
    autocompletion=robots,
    show_default=False,
)
BASE = typer.Option(
    None, "--base", metavar="LINK", help="Link where the chain begins; default: the root."
)
TIP = typer.Option(
    None, "--tip", metavar="LINK", help="Link where the chain ends; default: the only movable end."
)
JSON = typer.Option(False, "--json", help="Print JSON for machines.")
FORMULATION = typer.Option(
    [], "--formulation", "-f", metavar="QUANTITY=NAME", help="Force a formulation; may be repeated."
)
LOGS = typer.Argument(
    help="One or more logs: CSV, Parquet, npz, MAT or a ROS 2 bag.", show_default=False
)
CHANNELS = typer.Option(
    "",
    "--channels",
    metavar="TOML",
    help="What the logs' columns are; default: <log>.toml, else the usual names.",
)
HTML = typer.Option(None, "--html", metavar="FILE", help="Write a page with pictures too.")


def load_arm(robot: str, base: str | None = None, tip: str | None = None) -> Arm:
    """The arm that the arguments name."""
    from ..robot.files import load

    return load(robot, base=base, tip=tip)


def numbers(option: str, text: str, size: int, names: Iterable[str] = ()) -> list[float]:
    """`size` numbers from text such as "0.1,-2,0.5" or one number for all of them; angles may end in deg."""
    parts = [p for p in text.replace(",", " ").split() if p]
    try:
        found = [_number(p) for p in parts]
    except ValueError:
        raise InputError(
            f"{option} is {text!r}; give numbers such as {option} {','.join(['0.1'] * min(size, 3))}"
        ) from None
    if len(found) == 1:
        return found * size
    if len(found) != size:
        listed = ", ".join(names)
        order = f" in the order {listed}" if listed else ""
        raise InputError(f"{option} has {len(found)} numbers; give {size}{order}, or one for all")
    return found


def _number(text: str) -> float:
    import math

    if text.endswith("deg"):
        return math.radians(written(text[:-3]))
    return written(text)


def formulation_wishes(texts: Iterable[str]) -> dict[str, str]:
    """{quantity: name} from texts such as mass_matrix=composite_1."""
    found = {}
    for text in texts:
        quantity, sign, name = text.partition("=")
        if not (sign and quantity and name):
            raise InputError(
                f"--formulation is {text!r}; give quantity=name, for example mass_matrix=composite_1"
            )
        found[quantity] = name
    return found


def words(option: str, text: str, known: Iterable[str]) -> tuple[str, ...]:
    """Words of a list with commas, each of them known."""
    from ..errors import UnknownName

    found = tuple(w.strip() for w in text.split(",") if w.strip())
    known = list(known)
    for word in found:
        if word not in known:
            raise UnknownName(f"word in {option}", word, known)
    return found


def writable(path: Any, what: str, suffixes: tuple[str, ...]) -> Any:
    """The path, after a look whether it can be written: found out before long work, not after."""
    import os
    from pathlib import Path

    from ..errors import FileError

    target = Path(path)
    if suffixes and target.suffix.lower() not in suffixes:
        raise InputError(f"{what} is '{target}'; end the name in {' or '.join(suffixes)}")
    folder = target.parent
    if not folder.is_dir():
        raise FileError(
            f"there is no folder {folder} for {target.name}; make it first, or name another"
        )
    if target.is_dir():
        raise FileError(f"{target} is a folder; name a file")
    if not os.access(folder, os.W_OK):
        raise FileError(f"no permission to write into {folder}; name another folder")
    return target
