"""Why a natural parameter is absent from the minimal ones, alone among them, or grouped with others: in words.

A parameter is alone if the minimal ones give it: not only where one of them is it, but also where it can be taken out
of their sums. What no joint force depends on adds nothing to the kinetic energy in any motion, and gravity does no work
on it: for a mass at the origin of a link's frame that means that the origin never moves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..border.arguments import among
from ..errors import UnknownName
from ..robot.frames.chain import chain_of
from .spelling import spell_row
from .units import Even, length_of, natural_units, units

if TYPE_CHECKING:
    from .minimal import MinimalParameters

_LEFT = 1e-12  # of a parameter: what rounding leaves of it where the minimal ones give it
_NOISE = 1e-10  # of the largest factor: those of a sum that are rounding's


def why(mp: MinimalParameters, name: str) -> str:
    """The reason in words. Natural parameters first; a minimal one is told by what it is made of."""
    row = mp.names.index(name) if among(name, mp.names) else None
    form = None if row is None else f"{name} = {mp.symbolic_forms[row]}"
    if among(name, mp.natural):
        column = mp.natural.index(name)
        both = form is not None and row not in _exactly(mp, column)
        more = f" The minimal parameter of that name is another: {form}." if both else ""
        return _natural(mp, column) + more
    if form is not None:
        return f"{name} is a minimal parameter: {form}"
    raise UnknownName("parameter", name, (*mp.natural, *mp.names))


def _natural(mp: MinimalParameters, column: int) -> str:
    name = mp.natural[column]
    rows = np.flatnonzero(mp.matrix[:, column]).tolist()
    if not rows:
        return f"{name} is absent: no joint force depends on it. {_unfelt(mp, name)}"
    exact = _exactly(mp, column)
    if exact and len(rows) == 1:
        return f"{name} is alone: {mp.names[exact[0]]} is it, and nothing else is grouped with it."
    factors = _taken_out(mp, column)
    if factors is not None:
        told = spell_row(factors.tolist(), mp.names) if not exact else mp.names[exact[0]]
        others = ", ".join(mp.names[k] for k in rows if k not in exact[:1])
        return f"{name} is alone: {told} is it, and it can be taken out of {others}."
    parts = [f"{mp.names[k]} = {spell_row(mp.matrix[k].tolist(), mp.natural)}" for k in rows]
    what = "Only these sums show in the joint forces, not their parts: " + "; ".join(parts) + "."
    return f"{name} is grouped. {what} {_gathered(mp, name, rows)}".strip()


def _exactly(mp: MinimalParameters, column: int) -> list[int]:
    """The minimal parameters that are this natural one."""
    rows = np.flatnonzero(mp.matrix[:, column] == 1)
    return [k for k in rows.tolist() if np.count_nonzero(mp.matrix[k]) == 1]


def _taken_out(mp: MinimalParameters, column: int) -> np.ndarray | None:
    """Factors of the minimal parameters whose sum is the natural one; None where their sums do not give it."""
    length = length_of(chain_of(mp.arm))
    own = units(mp.tree, mp.armature)[list(mp.kept)]
    natural = natural_units(mp.tree, mp.armature)
    even = Even.of(length, own, natural)
    plain = even.down(mp.matrix)
    wanted = np.zeros(len(mp.natural))
    wanted[column] = 1.0
    factors = np.linalg.lstsq(plain.T, wanted, rcond=None)[0]
    factors[np.abs(factors) < _NOISE * np.abs(factors).max()] = 0.0
    if np.abs(factors @ plain - wanted).max() > _LEFT * max(1.0, float(np.abs(factors).max())):
        return None
    back: np.ndarray = factors / even.rows / even.columns[column]
    near = np.round(back)
    return np.where(np.abs(back - near) <= _LEFT, near, back)


# ---- why


def _unfelt(mp: MinimalParameters, name: str) -> str:
    """Why no joint force depends on a parameter."""
    stem, joint = _split(name)
    if stem == "m":
        return "The origin of its link's frame, where it would be, never moves."
    nothing = "In no motion does it add to the kinetic energy, nor does gravity do work on it."
    if joint == 0 or stem == "Ia":
        return nothing
    structure, place = mp.tree.home(joint - 1)
    own = mp.arm.joints[joint - 1].name
    if place < structure.r:
        return f"Link '{own}' only slides: no rotational joint stands before it, so that its mass alone is felt."
    if place >= structure.s:
        return nothing
    first = mp.arm.joints[_at(mp, joint, structure.r)].name
    turns = f"Link '{own}' turns about one axis only, that of joint '{first}'"
    if stem.startswith("I"):
        return f"{turns}: its inertia about other axes is never felt."
    return (
        f"{turns}: of its first moment at most what is across that axis is felt, where gravity pulls across it or the "
        "frame's origin moves across it."
    )


def _gathered(mp: MinimalParameters, name: str, rows: list[int]) -> str:
    """What a grouped parameter stands together with, and why."""
    stem, joint = _split(name)
    members = {_split(mp.natural[k]) for k in np.flatnonzero(mp.matrix[rows].any(axis=0)).tolist()}
    said = []
    if stem == "Ia" or any(other == "Ia" for other, _ in members):
        said.append("A motor's reflected inertia is felt as inertia of what its joint moves.")
    if joint > 0 and stem != "Ia":
        own = mp.arm.joints[joint - 1].name
        homes = [_joint_of(mp, k) for k in rows]
        if any(home < joint for home in homes):
            kind = "turn about" if mp.arm.joints[joint - 1].revolute else "slide along"
            said.append(
                f"What a {kind} the axis of joint '{own}' does not change goes to the link that carries it."
            )
        if joint in homes and any(other > joint for _, other in members):
            said.append(
                f"At joint '{own}' it is felt together with what links beyond hand inwards."
            )
    return " ".join(said)


def _joint_of(mp: MinimalParameters, row: int) -> int:
    """The joint that a minimal parameter is of, from 1; 0: a free base."""
    if mp.convention == "gautier1990":
        return _split(mp.names[row].removesuffix("R").partition("+")[0].partition("-")[0])[1]
    layout, k = mp.tree.layout(), mp.kept[row]
    return layout[k][0] + 1 if k < len(layout) else k - len(layout) + 1


def _split(name: str) -> tuple[str, int]:
    """Kind and joint of a natural parameter."""
    stem = name.rstrip("R").rstrip("0123456789")
    return stem, int(name.rstrip("R")[len(stem) :])


def _at(mp: MinimalParameters, joint: int, place: int) -> int:
    """The joint at a place of the path on which a joint was decided."""
    path, _ = mp.tree.homes[joint - 1]
    return mp.tree.paths[path].joints[place]
