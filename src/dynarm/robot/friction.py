"""The friction of a joint as a frozen record: what `dynamics.drive` makes forces of."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields

import numpy as np

from ..border.arguments import items, number
from ..border.kinds import Outside
from ..border.words import brief, shown
from ..errors import InputError, KindError

SHAPES = ("sign", "tanh")
SMALLEST = 1e-300  # of a velocity or a stroke: its inverse must be a number
PAIRS = ("curve", "presliding", "load_curve", "load_presliding")
STROKES = ("presliding", "load_presliding")

Pairs = tuple[tuple[float, float], ...]
Triples = tuple[tuple[float, float, float], ...]


@dataclass(frozen=True, slots=True)
class Coupled:
    """What a joint feels of another one's motion, as where the gears of a wrist are coupled.

    The force on the joint, with q, qd its own and qi, qdi, qddi those of the other: inertia qddi + viscous qdi +
    coulomb tanh((qd + qdi) / width) + the elements of `presliding` on q + qi.

    Parameters
    ----------
    joint : int | str
        Index or name of the other joint; an arm keeps the index.
    inertia : float, default 0.0
        Force per acceleration of the other joint [kg m^2].
    viscous : float, default 0.0
        Force per velocity of the other joint [N m s].
    coulomb : float, default 0.0
        Dry friction of the sum of both velocities [N m].
    width : float, default 0.02
        Velocity over which dry friction turns round [rad/s].
    presliding : sequence of pairs
        (stroke, coefficient) of elements with memory on the sum of both positions.

    Examples
    --------
    >>> wrist = dynarm.Friction(viscous=0.1, coupling=(dynarm.Coupled("j5", viscous=0.05),))
    >>> wrist.coupling[0].viscous
    0.05
    """

    joint: int | str
    inertia: float = 0.0
    viscous: float = 0.0
    coulomb: float = 0.0
    width: float = 0.02
    presliding: Pairs = ()

    __repr__ = brief

    def __post_init__(self) -> None:
        if isinstance(self.joint, bool) or not isinstance(self.joint, (int, np.integer, str)):
            raise KindError(
                f"friction coupling joint is {shown(self.joint)}; give the index or name of a joint"
            )
        if not isinstance(self.joint, str):
            object.__setattr__(self, "joint", int(self.joint))
        for key in ("inertia", "viscous", "coulomb", "width"):
            object.__setattr__(self, key, number(f"friction coupling {key}", getattr(self, key)))
        _check_width("friction coupling width", self.width)
        object.__setattr__(self, "presliding", _pairs("coupling presliding", self.presliding))


@dataclass(frozen=True, slots=True)
class Friction:
    """Friction of one joint: viscous, Coulomb and a constant offset, and lists of further terms that are added.

    Parameters
    ----------
    viscous : float, default 0.0
        Force per velocity [N m s/rad or N s/m].
    coulomb : float, default 0.0
        Dry friction [N m or N].
    offset : float, default 0.0
        A constant force [N m or N].
    shape : str, default "sign"
        "sign" for a sharp change of direction, "tanh" for a smooth one.
    width : float, default 0.02
        Velocity over which "tanh" turns round [rad/s or m/s].
    viscous_negative : float, optional
        The viscous coefficient for negative velocity, where it differs.
    coulomb_negative : float, optional
        Dry friction for negative velocity, where it differs.
    curve : sequence of pairs
        (width, c): c tanh(v / width), any odd curve over the velocity v. Widths are in
        rad/s or m/s.
    presliding : sequence of pairs
        (stroke, c): c x / stroke with x <- clip(x + dq, -stroke, stroke): Maxwell slip,
        which has memory. Strokes are in rad or m.
    load_curve : sequence of pairs
        (width, c): c |r| tanh(v / width), where r is the joint's rigid-body force with that
        of its armature; c has no unit.
    load_presliding : sequence of pairs
        (stroke, c): c |r| x / stroke.
    ripple : sequence of triples
        (order, s, c): s sin(order q) + c cos(order q).
    coupling : tuple[Coupled, ...], optional
        What the joint feels of another one's motion.

    Examples
    --------
    >>> friction = dynarm.Friction(viscous=0.4, coulomb=1.2, shape="tanh", width=0.05)
    >>> joint = dynarm.Joint(mass=1.0, com=(0.2, 0, 0), friction=friction)
    >>> model = dynarm.compile(dynarm.Arm([joint]), friction=True)
    >>> model.inverse_dynamics([0.0], [1.0], [0.0]).round(3)
    array([1.6])
    """

    viscous: float = 0.0
    coulomb: float = 0.0
    offset: float = 0.0
    shape: str = "sign"
    width: float = 0.02
    viscous_negative: float | None = None
    coulomb_negative: float | None = None
    curve: Pairs = ()
    presliding: Pairs = ()
    load_curve: Pairs = ()
    load_presliding: Pairs = ()
    ripple: Triples = ()
    coupling: tuple[Coupled, ...] = ()

    __repr__ = brief

    def __post_init__(self) -> None:
        put = object.__setattr__
        lists = (*PAIRS, "ripple", "coupling")
        for f in fields(self):
            value = getattr(self, f.name)
            if f.name not in ("shape", *lists) and not (value is None and f.default is None):
                put(self, f.name, number(f"friction {f.name}", value))
        if not isinstance(self.shape, str) or self.shape not in SHAPES:
            raise InputError(f"friction shape is {shown(self.shape)}; choose 'sign' or 'tanh'")
        _check_width("friction width", self.width)
        for key in PAIRS:
            put(self, key, _pairs(key, getattr(self, key)))
        put(self, "ripple", _triples(self.ripple))
        put(self, "coupling", _couplings(self.coupling))

    @property
    def plain(self) -> bool:
        """Whether it has velocity alone to depend on and none of the lists but `curve`."""
        lists = (*PAIRS[1:], "ripple", "coupling")
        return not any(getattr(self, key) for key in lists)

    @property
    def alone(self) -> bool:
        """Whether it depends on the joint's own position and velocity alone: no load, no coupling, no memory."""
        return not any(getattr(self, key) for key in (*PAIRS[1:], "coupling"))

    @property
    def strokes(self) -> tuple[float, ...]:
        """The strokes of its elements, each once, in the order in which they stand: one state each."""
        return tuple(dict.fromkeys(d for key in STROKES for d, _ in getattr(self, key)))


def nearest_plain(friction: Friction) -> Friction:
    """The viscous and Coulomb friction nearest to a record: what files hold that know damping and frictionloss only.

    Elements count as fully slipped, curves as viscous below and as Coulomb friction above the speeds in between, by
    least squares; the mean of two directions is taken. Load, ripple, coupling and offset have no part in it.
    """
    viscous = _mean(friction.viscous, friction.viscous_negative)
    coulomb = _mean(friction.coulomb, friction.coulomb_negative)
    coulomb += sum(c for _, c in friction.presliding)
    if friction.curve:
        slope, height = _line(friction.curve)
        viscous, coulomb = viscous + slope, coulomb + height
    return Friction(max(viscous, 0.0), max(coulomb, 0.0))


# ---- what comes from outside


def _check_width(what: str, width: float) -> None:
    if not width >= SMALLEST:
        raise InputError(f"{what} is {width}; give a positive velocity")


def _rows(key: str, value: Outside, wanted: str, size: int) -> list[tuple[float, ...]]:
    """A list of rows of numbers, with words about the row that is none."""
    rows = []
    for k, row in enumerate(items(f"friction {key}", value, wanted)):
        if isinstance(row, str) or not isinstance(row, Iterable) or len(tuple(row)) != size:
            raise InputError(f"friction {key}[{k}] is {shown(row)}; give {wanted}")
        rows.append(tuple(number(f"friction {key}[{k}]", x) for x in row))
    return rows


def _pairs(key: str, value: Outside) -> Pairs:
    """(width or stroke, coefficient) rows, the first number of each positive."""
    word = "stroke" if key.endswith("presliding") else "width"
    rows = _rows(key, value, f"({word}, coefficient) pairs", 2)
    for k, (first, _) in enumerate(rows):
        if not first >= SMALLEST:
            raise InputError(f"friction {key}[{k}] has the {word} {first}; give a positive one")
    return tuple((first, c) for first, c in rows)


def _triples(value: Outside) -> Triples:
    rows = _rows("ripple", value, "(order, sine, cosine) triples", 3)
    for k, (order, _, _) in enumerate(rows):
        if not order > 0:
            raise InputError(f"friction ripple[{k}] has the order {order}; give a positive one")
    return tuple((order, s, c) for order, s, c in rows)


def _couplings(value: Outside) -> tuple[Coupled, ...]:
    if isinstance(value, Coupled):
        raise KindError("friction coupling is one dynarm.Coupled; give a list of them")
    held = items("friction coupling", value, "dynarm.Coupled(joint, ...) records")
    for k, entry in enumerate(held):
        if not isinstance(entry, Coupled):
            raise KindError(
                f"friction coupling[{k}] is {shown(entry)}; give dynarm.Coupled(joint, ...)"
            )
    joints = [entry.joint for entry in held]
    if len(set(joints)) < len(joints):
        raise InputError(f"friction coupling names a joint twice: {joints}; give one entry each")
    return tuple(held)


# ---- the nearest plain record


def _mean(forwards: float, backwards: float | None) -> float:
    return forwards if backwards is None else (forwards + backwards) / 2


def _line(curve: Pairs) -> tuple[float, float]:
    """Slope and height of b v + c that fit the curve best over speeds up to twice its largest width."""
    v = np.linspace(0, 2 * max(w for w, _ in curve), 201)[1:]
    force = sum(c * np.tanh(v / w) for w, c in curve)
    (slope, height), *_ = np.linalg.lstsq(np.column_stack([v, np.ones(len(v))]), force, rcond=None)
    return float(slope), float(height)
