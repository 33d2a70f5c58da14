"""What the joints' drives add to rigid-body dynamics: reflected motor inertia and friction, over abstract scalars.

Friction is written here and nowhere else: TERMS holds each term of it, as a force for a coefficient of one. Compiled
models sum coefficient times term; the columns of an identification are the terms themselves; a simulation asks which
of them jump at rest. All of them call the same functions, over floats, batches or symbols.

A further term is an entry of TERMS and, for its coefficient and for whatever number shapes it, fields of
`robot.arm.Friction`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from typing import Any

from ..algebra.vectors import Scalar, add, magnitude, mul, sign, tanh, total
from ..errors import InputError
from ..robot.arm import Friction, Joint


@dataclass(frozen=True, slots=True, eq=False)
class Instant:
    """What a drive may feel at one instant; terms take from it what they depend on.

    A term that depends on more (position, load, a state of its own) needs a further field here, with a default, and no
    other term changes.
    """

    v: Scalar  # velocity of the joint


def _never(friction: Friction) -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Term:
    """One term of friction: a coefficient, a field of `Friction`, times a force that depends on the instant.

    Where a term jumps it is the sign of the velocity and nothing besides: stiction in a simulation holds as much as
    its coefficient says. A curve that falls after breakaway is such a term and a continuous one beside it.
    """

    name: str  # in Identifier(friction=...), and with the joint's number the name of the unknown
    force: Callable[[Friction, Instant], Scalar]  # of a coefficient of one, shaped by the record
    field: str  # of `Friction`: the coefficient
    negative: str | None = None  # of `Friction`: that at negative velocity, if it may differ
    units: tuple[str, str] = ("N m", "N")  # of the coefficient, of turning and of sliding joints
    dissipative: bool = True  # takes energy at every velocity: no negative coefficient is possible
    jumps: Callable[[Friction], bool] = _never  # whether it is discontinuous at rest
    within: str | None = None  # a term that, fitted with two coefficients, holds this one already
    memory: bool = False  # has a state of its own; nothing carries such states yet

    def __post_init__(self) -> None:
        if self.memory:
            raise InputError(f"friction term '{self.name}' has memory; give one without")

    def unknowns(self, two_sided: bool) -> dict[str, tuple[float, float]]:
        """The names of its coefficients, one or one a direction, each with the pair that a unit of it stands for."""
        if two_sided and self.negative is not None:
            return {self.name: (1.0, 0.0), f"{self.name}_negative": (0.0, 1.0)}
        return {self.name: (1.0, 1.0)}

    def coefficients(self, friction: Friction) -> tuple[float, float]:
        """Its coefficients for positive and for negative velocity."""
        forwards = getattr(friction, self.field, 0.0)  # a record may be older than the term
        backwards = None if self.negative is None else getattr(friction, self.negative, None)
        return forwards, forwards if backwards is None else backwards

    def entries(self, values: Mapping[str, float]) -> dict[str, float | None]:
        """The fields of a record that hold the coefficients given by the names of `unknowns`."""
        own: dict[str, float | None] = {self.field: values.get(self.name, 0.0)}
        if self.negative is not None:
            own[self.negative] = values.get(f"{self.name}_negative")
        return own

    def both_ways(
        self, friction: Friction, at: Instant, forwards: float, backwards: float
    ) -> Scalar:
        """The force of the two coefficients; of (1, 1), (1, 0) or (0, 1) a column of the linear model.

        f(v) x with x the force of one, f+ for x > 0 and f- for x < 0, is written (f+ + f-)/2 x + (f+ - f-)/2 |x|,
        which has no branch.
        """
        if forwards == 0 and backwards == 0:
            return 0
        x = self.force(friction, at)
        if forwards == backwards:
            return mul(forwards, x)
        mean, half = (forwards + backwards) / 2, (forwards - backwards) / 2
        return add(mul(mean, x), mul(half, magnitude(x)))


# ---- the terms


def _viscous(friction: Friction, at: Instant) -> Scalar:
    return at.v


def _coulomb(friction: Friction, at: Instant) -> Scalar:
    return sign(at.v) if friction.shape == "sign" else tanh(at.v * (1 / friction.width))


def _sharp(friction: Friction) -> bool:
    return friction.shape == "sign"


def _offset(friction: Friction, at: Instant) -> Scalar:
    return 1


VISCOUS = Term("viscous", _viscous, "viscous", "viscous_negative", ("N m s/rad", "N s/m"))
COULOMB = Term("coulomb", _coulomb, "coulomb", "coulomb_negative", jumps=_sharp)
OFFSET = Term("offset", _offset, "offset", dissipative=False, within="coulomb")
TERMS: dict[str, Term] = {term.name: term for term in (VISCOUS, COULOMB, OFFSET)}


@contextmanager
def extended(*terms: Term) -> Iterator[None]:
    """TERMS with further ones for as long as the context lasts, to try a term before it is built in.

    Compiled models are kept by robot, and know nothing of the table: their records must say by their class or their
    numbers that they mean the term.
    """
    names = [term.name for term in terms]
    if len({*names, *TERMS}) < len(names) + len(TERMS):
        raise InputError(f"friction terms {names} are there already; give other names")
    TERMS.update(zip(names, terms, strict=True))
    try:
        yield
    finally:
        for name in names:
            del TERMS[name]


# ---- records


def shaped(friction: Friction | None, **numbers: Any) -> Friction:
    """The record with no friction left in it but its shape, and with the numbers given."""
    record = Friction() if friction is None else friction
    return without(record, TERMS.values(), **numbers)


def without(friction: Friction, terms: Iterable[Term], **numbers: Any) -> Friction:
    """The record in which these terms have no part."""
    own = {f.name for f in fields(friction)}
    gone = {k: v for term in terms for k, v in term.entries({}).items() if k in own}
    return replace(friction, **(gone | numbers))


def jumping(friction: Friction) -> list[Term]:
    """The terms of a record that are discontinuous at rest."""
    return [term for term in TERMS.values() if term.jumps(friction)]


# ---- forces


def friction_force(friction: Friction | None, v: Scalar) -> Scalar:
    """Force [N m or N] that the drive must overcome at velocity v: the sum of coefficient times term."""
    if friction is None:
        return 0
    at = Instant(v)
    return total(*(t.both_ways(friction, at, *t.coefficients(friction)) for t in TERMS.values()))


def drive_forces(
    joints: Sequence[Joint], qd: Sequence[Scalar], qdd: Sequence[Scalar]
) -> list[Scalar]:
    """Armature times acceleration plus friction, joint by joint [N m or N]."""
    return [
        add(mul(j.armature, acc), friction_force(j.friction, v))
        for j, v, acc in zip(joints, qd, qdd, strict=True)
    ]
