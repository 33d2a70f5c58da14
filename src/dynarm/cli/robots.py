"""dynarm robots: the built-in robots, and where their numbers come from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .console import print_json, say, show_table
from .options import JSON

if TYPE_CHECKING:
    from ..border.kinds import Json, Outside
    from ..robot.about import About
    from ..robot.arm import Arm

EXAMPLES = ("dynarm robots", "dynarm robots --json")
COLUMNS = ("name", "robot", "inertias", "licence", "joints", "mass [kg]")


def robots(as_json: bool = JSON) -> None:
    """List the built-in robots: joints, mass of what moves, and where the inertias come from.

    Any of the names stands for a robot in all commands; `dynarm info NAME` tells more of one.
    """
    from ..robot.about import about, catalogue
    from ..robot.files import load

    listed = [_row(name, about(name), load(name)) for name in catalogue()]
    if as_json:
        print_json(listed)
        return
    rows = [[_shown(row[key]) for key in COLUMNS] for row in listed]
    show_table(f"{len(rows)} built-in robots", list(COLUMNS), rows, right=4, wrap=2)
    say("Sources of the numbers: dynarm robots --json, and the heads of the files")


def _row(name: str, told: About, arm: Arm) -> Json:
    """A robot as the table and JSON have it; joints on a free base are told apart."""
    return {
        "name": name,
        "robot": told.title,
        "joints": arm.n,
        "free base": arm.floating is not None,
        "mass [kg]": float(arm.parameters[:, 0].sum()),
        "inertias": told.inertias,
        "licence": told.licence,
        "source": told.source,
    }


def _shown(value: Outside) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
