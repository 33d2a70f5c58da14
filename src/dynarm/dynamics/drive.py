"""What the joints' drives add to rigid-body dynamics: reflected motor inertia and friction, over abstract scalars.

Friction is written here and nowhere else: TERMS holds each term of it, as a force for a coefficient of one. Compiled
models sum coefficient times term; the columns of an identification are the terms themselves; a simulation asks which
of them jump at rest. All of them call the same functions, over floats, batches or symbols.

A further term is an entry of TERMS and, for its coefficient and for whatever number shapes it, fields of
`robot.arm.Friction`. Terms that a record holds lists of are FAMILIES: each entry is a `ListedTerm`, the same again.

Maxwell-slip elements have memory. Their deflections come with the `Instant` where somebody keeps them (`stops.py`);
where nobody does, `stand_in` guesses them from velocity and acceleration. See `drive_train.py` for whole robots.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace

from ..algebra.vectors import Scalar, add, cos, magnitude, mul, sign, sin, tanh, total
from ..border.kinds import Kept
from ..border.trial import on_trial
from ..errors import InputError, ModelError
from ..robot.friction import PAIRS, Coupled, Friction


@dataclass(frozen=True, slots=True, eq=False)
class Neighbour:
    """The motion of a coupled joint, and the deflections of elements on the sum of both positions."""

    v: Scalar
    q: Scalar = 0
    a: Scalar | None = None
    x: Mapping[float, Scalar] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Instant:
    """What a drive may feel at one instant; terms take from it what they depend on.

    A term that depends on more needs a further field here, with a default, and no other term changes.
    """

    v: Scalar  # velocity of the joint
    q: Scalar = 0  # its position
    a: Scalar | None = (
        None  # its acceleration; None: not known, elements without a state have slipped
    )
    r: Scalar = 0  # its rigid-body force, the armature's included
    x: Mapping[float, Scalar] | None = (
        None  # deflections of its elements by stroke; None: without memory
    )
    others: Mapping[int, Neighbour] = field(default_factory=dict)  # the motion of coupled joints


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


def smooth_sign(v: Scalar, steepness: Scalar) -> Scalar:
    """The sign of a velocity, smoothed over a width of 1 / steepness."""
    return tanh(v * steepness)


def _coulomb(friction: Friction, at: Instant) -> Scalar:
    return sign(at.v) if friction.shape == "sign" else smooth_sign(at.v, 1 / friction.width)


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
    with on_trial(TERMS, dict(zip(names, terms, strict=True))):
        yield


# ---- lists of terms


@dataclass(frozen=True, slots=True, eq=False)
class ListedTerm:
    """One term of a list in a record: its coefficient times its force."""

    family: str  # the field of `Friction` that lists it
    index: int  # its place there
    part: str  # which of several coefficients of one entry; nothing where there is one
    coefficient: float
    # the force of a coefficient of one; of a loaded piece per unit of load
    factor: Callable[[Instant], Scalar]
    loaded: bool = False
    dissipative: bool = True  # as of a `Term`

    @property
    def name(self) -> str:
        """Such as curve1, ripple2_sine, coupling1_inertia."""
        return f"{self.family}{self.index + 1}" + f"_{self.part}" * bool(self.part)

    def force(self, at: Instant) -> Scalar:
        """The force of a coefficient of one: a column of the linear model."""
        x = self.factor(at)
        return mul(magnitude(at.r), x) if self.loaded else x


def stand_in(v: Scalar, a: Scalar, stroke: float) -> Scalar:
    """x / stroke of an element without a state: sign(v) clip(v^2 / (2 |a| stroke) - 1, -1, 1) where v a > 0.

    Elsewhere sign(v). It is what an element does that had slipped all the way before the joint turned round, if the
    acceleration has been the same since. Written without a branch: w = s / (s + D) with s = v^2, D = 2 |a| stroke never
    exceeds one, and s / D = w / (1 - w).
    """
    s, D = v * v, mul(2 * stroke, magnitude(a))
    w = s / (s + D + 1e-30)  # a number that float has, too
    w = 0.5 * (w + 2 / 3 - magnitude(w - 2 / 3))  # s / D no more than 2
    speeding = sign(v * a)
    speeding = 0.5 * (speeding + magnitude(speeding))  # 1 where v a > 0, else 0
    return sign(v) * (1 + speeding * (w / (1 - w) - 2))


def _deflection(friction: Friction, stroke: float, v: Scalar, at: Instant | Neighbour) -> Scalar:
    """x / stroke of an element of a joint, or of one coupled with it, that moves with velocity v."""
    if at.x is not None:
        return mul(1 / stroke, at.x[stroke])
    return _coulomb(friction, Instant(v)) if at.a is None else stand_in(v, at.a, stroke)


def _along_curve(width: float) -> Callable[[Instant], Scalar]:
    return lambda at: smooth_sign(at.v, 1 / width)


def _along_stroke(friction: Friction, stroke: float) -> Callable[[Instant], Scalar]:
    return lambda at: _deflection(friction, stroke, at.v, at)


def _curves(family: str, loaded: bool) -> Callable[[Friction], list[ListedTerm]]:
    return lambda f: [
        ListedTerm(family, k, "", c, _along_curve(w), loaded)
        for k, (w, c) in enumerate(getattr(f, family))
    ]


def _elements(family: str, loaded: bool) -> Callable[[Friction], list[ListedTerm]]:
    return lambda f: [
        ListedTerm(family, k, "", c, _along_stroke(f, d), loaded)
        for k, (d, c) in enumerate(getattr(f, family))
    ]


def _ripple(friction: Friction) -> list[ListedTerm]:
    made = []
    for k, (order, s, c) in enumerate(friction.ripple):
        for part, value, wave in (("sine", s, sin), ("cosine", c, cos)):

            def force(
                at: Instant, wave: Callable[[Scalar], Scalar] = wave, order: float = order
            ) -> Scalar:
                return wave(mul(order, at.q))

            made.append(ListedTerm("ripple", k, part, value, force, dissipative=False))
    return made


def _coupling(friction: Friction) -> list[ListedTerm]:
    return [p for k, c in enumerate(friction.coupling) for p in _coupled(friction, k, c)]


def _coupled(friction: Friction, k: int, coupled: Coupled) -> list[ListedTerm]:
    """What one joint adds to the force on another."""
    i = int(coupled.joint)

    def inertia(at: Instant) -> Scalar:
        a = at.others[i].a
        return 0 if a is None else a

    def viscous(at: Instant) -> Scalar:
        return at.others[i].v

    def coulomb(at: Instant) -> Scalar:
        return smooth_sign(at.v + at.others[i].v, 1 / coupled.width)

    def element(stroke: float) -> Callable[[Instant], Scalar]:
        return lambda at: _summed_deflection(friction, stroke, at, at.others[i])

    parts = [("inertia", inertia), ("viscous", viscous), ("coulomb", coulomb)]
    made = [
        ListedTerm("coupling", k, part, getattr(coupled, part), force, dissipative=False)
        for part, force in parts
    ]
    for e, (stroke, c) in enumerate(coupled.presliding):
        part = f"presliding{e + 1}"
        made.append(ListedTerm("coupling", k, part, c, element(stroke), dissipative=False))
    return made


def _summed_deflection(friction: Friction, stroke: float, at: Instant, other: Neighbour) -> Scalar:
    """x / stroke of an element that moves with the sum of two positions."""
    a = None if at.a is None or other.a is None else add(at.a, other.a)
    both = Neighbour(add(at.v, other.v), a=a, x=other.x)
    return _deflection(friction, stroke, both.v, both)


FAMILIES: dict[str, Callable[[Friction], list[ListedTerm]]] = {
    "curve": _curves("curve", loaded=False),
    "presliding": _elements("presliding", loaded=False),
    "load_curve": _curves("load_curve", loaded=True),
    "load_presliding": _elements("load_presliding", loaded=True),
    "ripple": _ripple,
    "coupling": _coupling,
}


def pieces(friction: Friction | None) -> list[ListedTerm]:
    """Every entry of a record's lists, in the order of FAMILIES."""
    if friction is None:
        return []
    return [piece for family in FAMILIES.values() for piece in family(friction)]


def columns(friction: Friction, at: Instant) -> list[Scalar]:
    """The force for a coefficient of one of each of the pieces: force = sum of coefficient times column."""
    return [piece.force(at) for piece in pieces(friction)]


def with_coefficients(friction: Friction, values: Sequence[float]) -> Friction:
    """The record whose pieces have these coefficients, one each in the order of `pieces`."""
    given = {p.name: float(c) for p, c in zip(pieces(friction), values, strict=True)}

    def pairs(family: str, listed: Iterable[tuple[float, float]], part: str = "") -> Kept:
        return tuple((w, given[f"{family}{part}{k + 1}"]) for k, (w, _) in enumerate(listed))

    coupling = []
    for k, coupled in enumerate(friction.coupling):
        own = f"coupling{k + 1}_"
        parts = {key: given[own + key] for key in ("inertia", "viscous", "coulomb")}
        held = pairs(own, coupled.presliding, "presliding")
        coupling.append(Coupled(coupled.joint, **parts, width=coupled.width, presliding=held))
    ripple = tuple(
        (order, given[f"ripple{k + 1}_sine"], given[f"ripple{k + 1}_cosine"])
        for k, (order, _, _) in enumerate(friction.ripple)
    )
    lists = {key: pairs(key, getattr(friction, key)) for key in PAIRS}
    return replace(friction, ripple=ripple, coupling=tuple(coupling), **lists)


# ---- records


def shaped(friction: Friction | None, **numbers: Kept) -> Friction:
    """The record with no friction left in it but its shape, and with the numbers given."""
    record = Friction() if friction is None else friction
    empty = dict.fromkeys(FAMILIES, ())
    return without(record, TERMS.values(), **(empty | numbers))


def without(friction: Friction, terms: Iterable[Term], **numbers: Kept) -> Friction:
    """The record in which these terms have no part."""
    own = {f.name for f in fields(friction)}
    gone: dict[str, Kept] = {
        k: v for term in terms for k, v in term.entries({}).items() if k in own
    }
    return replace(friction, **(gone | numbers))


def jumping(friction: Friction) -> list[Term]:
    """The terms of a record that are discontinuous at rest."""
    return [term for term in TERMS.values() if term.jumps(friction)]


# ---- forces


def friction_force(friction: Friction | None, v: Scalar) -> Scalar:
    """Force [N m or N] that the drive must overcome at velocity v, where friction depends on nothing else."""
    if friction is None:
        return 0
    if not friction.plain:
        raise ModelError(
            "friction with presliding, load, ripple or coupling depends on more than a velocity; robots on wheels and "
            "their bearings have viscous, coulomb, offset and curve only"
        )
    return force_at(friction, Instant(v))


def force_at(friction: Friction, at: Instant) -> Scalar:
    """Force [N m or N] that the drive must overcome: the sum of coefficient times term."""
    own = free_force(friction, at)
    if not any_load(friction):
        return own
    return add(own, mul(magnitude(at.r), load_factor(friction, at)))


def free_force(friction: Friction, at: Instant) -> Scalar:
    """The part that does not grow with the load."""
    own = (t.both_ways(friction, at, *t.coefficients(friction)) for t in TERMS.values())
    listed = (mul(p.coefficient, p.factor(at)) for p in _weighed(friction) if not p.loaded)
    return total(*own, *listed)


def load_factor(friction: Friction, at: Instant) -> Scalar:
    """The part that does, per unit of load: the friction is free_force + load_factor |r|."""
    return total(*(mul(p.coefficient, p.factor(at)) for p in _weighed(friction) if p.loaded))


def any_load(friction: Friction | None) -> bool:
    """Whether any of it grows with the load."""
    return any(p.loaded for p in _weighed(friction))


def largest_load_factor(friction: Friction | None) -> float:
    """What the load factor may come to at most, whichever way the joint moves."""
    return sum(abs(p.coefficient) for p in _weighed(friction) if p.loaded)


def _weighed(friction: Friction | None) -> list[ListedTerm]:
    """The pieces that have a coefficient."""
    return [piece for piece in pieces(friction) if piece.coefficient]
