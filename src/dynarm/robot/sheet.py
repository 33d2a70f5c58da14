"""An arm on one line, and as a small table: its joints and the masses that they move."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..border.words import titled

if TYPE_CHECKING:
    from .arm import Arm

HEAD = ("joint", "kind", "a [m]", "alpha [rad]", "d [m]", "theta [rad]", "mass [kg]")
_LETTERS = 20  # joints whose kinds are shown on the line


def arm_line(arm: Arm) -> str:
    """Name, number of joints, and which are revolute and prismatic, such as RRP."""
    kinds = "".join("R" if joint.revolute else "P" for joint in arm.joints)
    kinds = kinds if len(kinds) <= _LETTERS else kinds[:_LETTERS] + "..."
    return titled("Arm", arm.name, f", {arm.n} joint{'s' * (arm.n > 1)} {kinds}")


def arm_sheet(arm: Arm) -> tuple[str, tuple[str, ...], list[tuple[Any, ...]]]:
    """Title, head and rows of its table."""
    x, y, z = arm.gravity
    title = f"{arm.name}: {arm.n} joints, gravity ({x:g}, {y:g}, {z:g}) m/s^2"
    rows = [(j.name, j.kind, j.a, j.alpha, j.d, j.theta, j.mass) for j in arm.joints]
    return title, HEAD, rows
