"""Rows of the linear model: what they are called, their units, and which terms of friction they may hold."""

from __future__ import annotations

from collections.abc import Sequence

from ..border.arguments import among, shown
from ..border.kinds import Outside
from ..dynamics.drive import (
    TERMS,
    ListedTerm,
)
from ..errors import InputError, KindError
from ..robot.arm import SHAPES, Arm
from .logs.base import BASE_FORCES
from .own_columns import Column


def force_names(arm: Arm) -> tuple[str, ...]:
    """What the entries of tau are called: force and moment on a free base in its axes, then the joints by name."""
    return (*BASE_FORCES, *arm.joint_names) if arm.floating else arm.joint_names


def force_units(arm: Arm) -> tuple[str, ...]:
    """The units of the entries of tau."""
    turning = (arm.joints[i].revolute for i in arm.coupling.masters)
    joints = ("N m" if revolute else "N" for revolute in turning)
    return (*(["N"] * 3 + ["N m"] * 3 if arm.floating else ()), *joints)


def check_terms(
    friction: Sequence[Outside], shapes: Sequence[Outside], columns: Sequence[Outside]
) -> None:
    """Refuse what no column can be made of."""
    for word in friction:
        if not among(word, tuple(TERMS)):
            raise InputError(f"friction has {shown(word)}; choose among {', '.join(TERMS)}")
    for shape in shapes:
        if not among(shape, SHAPES):
            raise InputError(f"shape is {shown(shape)}; choose 'sign' or 'tanh'")
    for column in columns:
        if not isinstance(column, Column):
            raise KindError(f"columns holds {shown(column)}; give dynarm.Column(name, function)")


def listed_name(piece: ListedTerm, joint: int) -> str:
    """Such as curve3.1, ripple7.2_sine: family, joint, place in the list, part."""
    return f"{piece.family}{joint + 1}.{piece.index + 1}" + f"_{piece.part}" * bool(piece.part)
