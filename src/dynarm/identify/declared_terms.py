"""Terms that a channels file declares of a robot's drives: gears that couple two joints, springs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..algebra import sign
from ..algebra.vectors import Scalar
from ..errors import InputError
from ..robot.arm import Arm, Coupled, Friction
from .logs.declaration import DriveTerms
from .logs.log import Log
from .own_columns import Column

_WORDS = ("inertia", "viscous", "coulomb")  # of a coupling
_SHARP = 1e-4  # [rad/s or m/s] width of a sign that a record can only smooth


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


def carried(arm: Arm, columns: Sequence[Column], values: Sequence[float]) -> Arm:
    """The arm whose friction holds the coupling among some columns, so that its files and its code have it.

    Its sign is smoothed over a width that no motion notices. Springs have no place in a record of friction.
    """
    joints = list(arm.joints)
    for (i, j), parts in _couplings(arm, columns, values).items():
        for one, other in ((i, j), (j, i)):
            own = joints[one].friction or Friction()
            inertia, viscous, coulomb = (parts.get(word, 0.0) for word in _WORDS)
            pair = Coupled(other, inertia, viscous, coulomb, _SHARP)
            joints[one] = replace(
                joints[one], friction=replace(own, coupling=(*own.coupling, pair))
            )
    return replace(arm, joints=tuple(joints))


def left_behind(arm: Arm, columns: Sequence[Column]) -> tuple[str, ...]:
    """Names of the columns that `carried` cannot put into the arm."""
    held = _couplings(arm, columns, [0.0] * len(columns))
    return tuple(c.name for c in columns if getattr(c.function, "pair", None) not in held)


def _couplings(
    arm: Arm, columns: Sequence[Column], values: Sequence[float]
) -> dict[tuple[int, int], dict[str, float]]:
    """For every pair of joints that columns couple, the numbers of it; none where joints follow others or a base."""
    pairs: dict[tuple[int, int], dict[str, float]] = {}
    if arm.floating or not arm.coupling.free:
        return pairs
    for column, value in zip(columns, values, strict=True):
        if isinstance(column.function, Swapped):
            word = "inertia" if column.function.order == 2 else "viscous"
            pairs.setdefault(column.function.pair, {})[word] = float(value)
        elif isinstance(column.function, Rubbing):
            pairs.setdefault(column.function.pair, {})["coulomb"] = float(value)
    return pairs


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
