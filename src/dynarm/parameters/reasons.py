"""Why a natural parameter is absent from the minimal ones, alone among them, or grouped with others: in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..border.arguments import among
from ..errors import UnknownName
from .closed_forms import spell_row

if TYPE_CHECKING:
    from .minimal import MinimalParameters


def why(mp: MinimalParameters, name: str) -> str:
    """The reason in words. Natural parameters first; a minimal one is told by what it is made of."""
    if among(name, mp.natural):
        return _natural(mp, mp.natural.index(name))
    if among(name, mp.names):
        row = mp.names.index(name)
        return f"{name} is a minimal parameter: {mp.symbolic_forms[row]}"
    raise UnknownName("parameter", name, (*mp.natural, *mp.names))


def _natural(mp: MinimalParameters, column: int) -> str:
    name = mp.natural[column]
    rows = np.flatnonzero(mp.matrix[:, column]).tolist()
    joint = int(name.lstrip("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"))
    if not rows:
        return f"{name} is absent: no joint force depends on it. {_motion(mp, joint)}".strip()
    only = len(rows) == 1 and np.count_nonzero(mp.matrix[rows[0]]) == 1
    if only:
        return f"{name} is alone: {mp.names[rows[0]]} is it, and nothing else is grouped with it."
    parts = [f"{mp.names[k]} = {spell_row(mp.matrix[k].tolist(), mp.natural)}" for k in rows]
    what = "Only these sums show in the joint forces, not their parts: " + "; ".join(parts) + "."
    return f"{name} is grouped. {what} {_handed(mp, joint)}".strip()


def _motion(mp: MinimalParameters, joint: int) -> str:
    """What keeps link `joint` from moving in more ways: its place before joint s of Theorem 2."""
    if joint == 0:
        return ""
    structure, place = mp.tree.home(joint - 1)
    own = mp.arm.joints[joint - 1].name
    if place < structure.r:
        return f"Link '{own}' only slides: no rotational joint stands before it, so that its mass alone is felt."
    if place < structure.s:
        first = mp.arm.joints[_at(mp, joint, structure.r)].name
        ways = "turns about one axis only, that of joint"
        return (
            f"Link '{own}' {ways} '{first}': moments of its mass about other axes are never felt."
        )
    return "Joints beyond carry the same motion on, and what it adds is felt there."


def _handed(mp: MinimalParameters, joint: int) -> str:
    if joint < 2:
        return ""
    own = mp.arm.joints[joint - 1].name
    kind = "turn about" if mp.arm.joints[joint - 1].revolute else "slide along"
    return (
        f"What a {kind} the axis of joint '{own}' does not change goes to the link that carries it."
    )


def _at(mp: MinimalParameters, joint: int, place: int) -> int:
    """The joint at a place of the path on which a joint was decided."""
    path, _ = mp.tree.homes[joint - 1]
    return mp.tree.paths[path].joints[place]
