"""Terms that a channels file declares of a robot's drives: gears that couple two joints, springs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..algebra import sign
from ..algebra.vectors import Scalar
from ..errors import InputError
from ..robot.arm import Arm
from .logs.declaration import DriveTerms
from .logs.log import Log
from .own_columns import Column


@dataclass(frozen=True, slots=True)
class Swapped:
    """Each of two joints feels the other's acceleration (order 2) or velocity (order 1), by one coefficient."""

    pair: tuple[int, int]
    order: int

    def __call__(self, *states: Sequence[Scalar]) -> Sequence[Scalar]:
        i, j = self.pair
        forces: list[Scalar] = [0.0] * len(states[1])
        forces[i], forces[j] = states[self.order][j], states[self.order][i]
        return forces


@dataclass(frozen=True, slots=True)
class Rubbing:
    """Coulomb friction of a motor that turns with the sum of two joints; both feel it."""

    pair: tuple[int, int]

    def __call__(self, *states: Sequence[Scalar]) -> Sequence[Scalar]:
        i, j = self.pair
        forces: list[Scalar] = [0.0] * len(states[1])
        forces[i] = forces[j] = sign(states[1][i] + states[1][j])
        return forces


@dataclass(frozen=True, slots=True)
class Sprung:
    """Force of a joint in proportion to its position; what it is at zero belongs to the joint's offset."""

    place: int  # among velocities
    base: int  # coordinates that positions have more

    def __call__(self, *states: Sequence[Scalar]) -> Sequence[Scalar]:
        forces: list[Scalar] = [0.0] * len(states[1])
        forces[self.place] = states[0][self.place + self.base]
        return forces


def declared_columns(arm: Arm, logs: Sequence[Log]) -> tuple[Column, ...]:
    """The columns that the logs declare, each once."""
    made: dict[str, Column] = {}
    for log in logs:
        if log.drives is not None:
            made |= {column.name: column for column in _columns(arm, log.drives, log.source)}
    return tuple(made.values())


def _columns(arm: Arm, drives: DriveTerms, source: str) -> list[Column]:
    names, first = arm.joint_names, 6 if arm.floating else 0

    def place(joint: str | int) -> int:
        if isinstance(joint, str) and joint in names:
            return names.index(joint)
        if isinstance(joint, int) and 1 <= joint <= len(names):
            return joint - 1
        raise InputError(
            f"{source}: its channels couple or spring joint {joint!r}; robot '{arm.name}' has {', '.join(names)}"
        )

    made = []
    for one, other in drives.coupling:
        i, j = sorted((place(one), place(other)))
        if i == j:
            raise InputError(f"{source}: its channels couple joint {names[i]} with itself")
        pair, whose = (first + i, first + j), f"{names[i]},{names[j]}"
        made += [
            Column(f"Ia({whose})", Swapped(pair, 2)),
            Column(f"fv({whose})", Swapped(pair, 1)),
            Column(f"fc({whose})", Rubbing(pair)),
        ]
    for joint in drives.springs:
        j = place(joint)
        made.append(Column(f"spring({names[j]})", Sprung(first + j, 1 if arm.floating else 0)))
    return made
