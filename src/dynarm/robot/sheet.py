"""An arm on one line, and as a small table: its joints and the masses that they move."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..border.words import titled

if TYPE_CHECKING:
    from .arm import Arm, Joint

HEAD = ("joint", "kind", "a [m]", "alpha [rad]", "d [m]", "theta [rad]", "mass [kg]")
_LETTERS = 20  # joints whose kinds are shown on the line


def arm_line(arm: Arm) -> str:
    """Name, number of joints, and which are revolute and prismatic, such as RRP."""
    kinds = "".join("R" if joint.revolute else "P" for joint in arm.joints)
    kinds = kinds if len(kinds) <= _LETTERS else kinds[:_LETTERS] + "..."
    return titled(
        "Arm",
        arm.name,
        f", {arm.n} joint{'s' * (arm.n != 1)}{' ' * bool(kinds)}{kinds}{shape(arm)}",
    )


def shape(arm: Arm) -> str:
    """What makes it more than a chain on a fixed base, in words."""
    ends = arm.n - len({p for p in arm.parents if p >= 0})
    followers = arm.n - len(arm.coupling.masters)
    parts = [
        f"tree of {ends} ends" if arm.branched else "",
        f"{followers} following others" if followers else "",
        "free base" if arm.floating else "",
    ]
    return "".join(f", {part}" for part in parts if part)


def arm_sheet(arm: Arm) -> tuple[str, tuple[str, ...], list[tuple[object, ...]]]:
    """Title, head and rows of its table; columns of trees and couplings where there are any."""
    x, y, z = arm.gravity
    title = f"{arm.name}: {arm.n} joints{shape(arm)}, gravity ({x:g}, {y:g}, {z:g}) m/s^2"
    rows: list[tuple[object, ...]] = [
        (j.name, j.kind, j.a, j.alpha, j.d, j.theta, j.mass) for j in arm.joints
    ]
    head: tuple[str, ...] = HEAD
    if arm.branched or any(j.gamma or j.b for j in arm.joints):
        head = (head[0], "parent", head[1], "gamma [rad]", "b [m]", *head[2:])
        rows = [
            (row[0], link_name(arm, p), row[1], j.gamma, j.b, *row[2:])
            for row, p, j in zip(rows, arm.parents, arm.joints, strict=True)
        ]
    if not arm.coupling.free:
        head = (*head, "follows")
        rows = [(*row, rule(arm, j)) for row, j in zip(rows, arm.joints, strict=True)]
    if arm.floating is not None:
        filled = {"joint": "base", "kind": "free", "mass [kg]": arm.floating.mass}
        rows.insert(0, tuple(filled.get(column, "") for column in head))
    return title, head, rows


def link_name(arm: Arm, i: int) -> str:
    """What joint i, or the base for -1, is called."""
    return str(arm.joints[i].name) if i >= 0 else "base"


def rule(arm: Arm, joint: Joint) -> str:
    """What a joint follows: 2 elbow + 0.1."""
    rule = joint.mimic
    if rule is None:
        return ""
    factor = "" if rule.multiplier == 1 else f"{rule.multiplier:g} "
    shift = f" {'+' if rule.offset > 0 else '-'} {abs(rule.offset):g}" if rule.offset else ""
    return f"{factor}{link_name(arm, int(rule.joint))}{shift}"
