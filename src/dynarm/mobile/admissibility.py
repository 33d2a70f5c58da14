"""All of (9) as one answer: balance, contact, adhesion and tip-over, each row with its margin.

How more than three wheels share the vertical forces is a choice of the `contact` (`sharing.py`). Where statics leaves
forces open (axle forces of wheels on one axle; at best also vertical forces) the question is whether SOME distribution
keeps every wheel on the ground and inside its friction cone. That is a small second-order cone program in the
self-stresses: maximise t such that F_z - t >= |F| / sqrt(1 + eta^2) at every wheel. The margin is concave in the
vertical forces, so that it is worst where three wheels carry everything.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ..border.arguments import reals, shown
from ..border.kinds import Given, Numbers
from ..border.words import brief
from ..errors import DynarmError, InputError, KindError
from .constraints import roller
from .sharing import CONTACTS, below, contact_word, elastic, possible

if TYPE_CHECKING:
    from .robot import MobileManipulator

_BALANCE = 1e-9  # of the load, below which a residual is rounding
_RANK = 1e-9


@dataclass(frozen=True, slots=True)
class Row:
    """One condition of (9). margin: what is left (negative: what lacks); of a balance, minus the residual."""

    name: str
    wheel: str | None
    holds: bool
    margin: float
    unit: str


@dataclass(frozen=True, slots=True, eq=False)
class Admissibility:
    """Every row of (9) at one state; true if all hold.

    Attributes
    ----------
    rows : tuple[Row, ...]
        The rows, each with its name, margin and whether it holds.
    forces : ndarray
        Wheel forces (w, 3) that satisfy the rows, or come nearest to it [N].
    optimised : bool
        Whether the distribution was searched for, because statics leaves it open.
    status : str
        One sentence.
    contact : str, default "elastic"
        How more than three wheels share the load.
    margins : dict[str, float], optional
        Smallest margin of contact and adhesion by each way of sharing the load [N].

    Examples
    --------
    >>> robot = dynarm.mobile.load("tanner2001")
    >>> q, z = np.zeros(len(robot.coordinate_names)), np.zeros(len(robot.speed_names))
    >>> verdict = robot.admissible(q, z, robot.hold(q), friction=0.8)
    >>> verdict.margin > 0
    True
    """

    rows: tuple[Row, ...]
    forces: np.ndarray  # (w, 3): a distribution that satisfies the rows, or comes nearest to it
    optimised: bool  # whether the distribution was searched for, because statics leaves it open
    status: str
    contact: str = "elastic"  # how more than three wheels share the load
    # smallest margin of contact and adhesion [N] by each way of sharing; one way where there are three wheels
    margins: dict[str, float] = field(default_factory=dict)

    __repr__ = brief

    def __bool__(self) -> bool:
        return all(row.holds for row in self.rows)

    @property
    def margin(self) -> float:
        """Smallest margin of contact and adhesion [N]."""
        return min(row.margin for row in self.rows if row.unit == "N" and row.wheel is not None)

    def check(self) -> Admissibility:
        """Itself, or an error with the rows that fail.

        Returns
        -------
        Admissibility
            The record itself.

        Examples
        --------
        >>> verdict.check() is verdict
        True
        """
        if not self:
            raise NotAdmissible(self.status)
        return self

    def __str__(self) -> str:
        lines = [self.status]
        for row in self.rows:
            place = f" of {row.wheel}" if row.wheel else ""
            lines.append(
                f"{'ok  ' if row.holds else 'FAIL'} {row.name}{place}: margin {row.margin:.6g} {row.unit}"
            )
        return "\n".join(lines)


class NotAdmissible(DynarmError, ArithmeticError):
    """A state in which the wheels cannot hold the robot."""


def coefficients(friction: Numbers, w: int) -> np.ndarray:
    """One coefficient a wheel, from one number or one a wheel."""
    try:
        eta = np.broadcast_to(reals("friction", friction), (w,))
    except (TypeError, ValueError):
        raise KindError(
            f"friction is {shown(friction)}; give one coefficient, or one for each of {w} wheels"
        ) from None
    if not (np.isfinite(eta).all() and (eta >= 0).all()):
        raise InputError(
            f"friction is {eta.tolist()}; give finite coefficients that are not negative"
        )
    return eta


def self_stresses(robot: MobileManipulator, phi: float) -> tuple[np.ndarray, np.ndarray]:
    """(w, a) vertical forces and (w, b) axle forces that balance among themselves."""
    w = len(robot.wheels)
    levers = np.column_stack([np.ones(w), robot.support.points[:, 1], -robot.support.points[:, 0]])
    vertical = _null(levers.T)
    rows = np.array(
        [
            tuple(roller(wheel, robot.platform.steering, phi).skid)
            for wheel in robot.wheels
            if wheel.braces
        ],
        dtype=float,
    ).reshape(-1, 3)
    open_axles = _null(rows.T) if len(rows) else np.zeros((0, 0))
    axle = np.zeros((w, open_axles.shape[1]))
    axle[[j for j, wheel in enumerate(robot.wheels) if wheel.braces]] = open_axles
    return vertical, axle


def _null(A: np.ndarray) -> np.ndarray:
    _, values, right = np.linalg.svd(A)
    rank = int((values > _RANK * values[0]).sum())
    return right[rank:].T


def best_distribution(
    forces: np.ndarray, vertical: np.ndarray, axle: np.ndarray, eta: np.ndarray, guides: np.ndarray
) -> np.ndarray:
    """The distribution (w, 3) with the largest smallest margin, among the given forces plus self-stresses."""
    a, b = vertical.shape[1], axle.shape[1]
    if a + b == 0:
        return forces
    from .cones import maximise

    scale = max(float(np.abs(forces).max()), 1e-300)
    base = forces / scale
    w = len(forces)
    blocks = []
    for j in range(w):
        up = (np.concatenate([vertical[j], np.zeros(b), [0.0]]), base[j, 2])
        step = (np.concatenate([vertical[j], np.zeros(b), [-1.0]]), base[j, 2])  # F_z - t
        if not guides[j]:
            blocks.append([step])
            continue
        k = float(np.sqrt(1 + eta[j] ** 2))
        side = (np.concatenate([np.zeros(a), axle[j], [0.0]]), base[j, 1])
        push = (np.zeros(a + b + 1), base[j, 0])
        blocks.append([(k * step[0], k * step[1]), push, side, up])
    goal = np.zeros(a + b + 1)
    goal[-1] = 1.0
    status, stresses = maximise(goal, blocks)
    if status != "solved":
        return forces  # the minimum-norm split, whose margins are then reported as they are
    better = forces.copy()
    better[:, 2] += scale * vertical @ stresses[:a]
    better[:, 1] += scale * axle @ stresses[a : a + b]
    return better


def slip_margins(forces: np.ndarray, eta: np.ndarray) -> np.ndarray:
    """(..., w) [N]: F_z - |F| / sqrt(1 + eta^2), the no-slipping row of (9)."""
    sizes = np.sqrt((forces * forces).sum(-1))
    margins: np.ndarray = forces[..., 2] - sizes / np.sqrt(1 + eta**2)
    return margins


def admissibility(
    robot: MobileManipulator,
    q: Numbers,
    z: Numbers,
    tau: Numbers,
    friction: Numbers,
    load: Given,
    locked: bool,
    contact: str = "elastic",
) -> Admissibility:
    """Every row of (9) at one state."""
    contact = contact_word(contact)
    q, z, tau = (
        reals(what, x, "real numbers", robot.entry_names(what))
        for what, x in (("q", q), ("z", z), ("tau", tau))
    )
    if q.ndim != 1 or z.ndim != 1:
        raise InputError(
            f"admissible looks at one state, q has shape {q.shape}; loop over the batch"
        )
    eta = coefficients(friction, len(robot.wheels))
    outputs = robot.evaluate(q, z, tau, load, locked)
    forces = outputs.forces
    if forces.ndim != 2:
        raise InputError("admissible looks at one state; tau or load holds a batch: loop over it")
    if not np.isfinite(forces).all():
        raise InputError("the state or the inputs hold NaN or infinity; give finite numbers")
    phi = float(q[3]) if robot.guidance.steered else 0.0
    vertical, axle = self_stresses(robot, phi)
    ways = (contact,) if robot.support.determinate else CONTACTS
    splits = {
        way: distribution(robot, way, forces, outputs.ground, (vertical, axle), eta) for way in ways
    }
    margins = {way: _smallest(robot, split, eta) for way, split in splits.items()}
    drive = _driving(robot, q, z, tau, outputs.zd, forces)
    rows = _rows(robot, q, splits[contact], outputs.ground, eta, drive)
    free = axle.shape[1] + (vertical.shape[1] if contact == "best" else 0)
    failing = [f"{r.name}{' of ' + r.wheel if r.wheel else ''}" for r in rows if not r.holds]
    way = "some distribution of the open forces satisfies" if free else "the forces satisfy"
    status = (
        f"admissible: {way} every row" if not failing else "not admissible: " + ", ".join(failing)
    )
    others = {way: f"margin {value:.4g} N" for way, value in margins.items() if way != contact}
    status += told_contact(contact, others)
    return Admissibility(tuple(rows), splits[contact], bool(free), status, contact, margins)


def told_contact(contact: str, others: Mapping[str, str]) -> str:
    """Which way of sharing was taken, and what the others would give."""
    rest = "".join(f"; {way}: {text}" for way, text in others.items())
    return f" (contact {contact}{rest})"


def distribution(
    robot: MobileManipulator,
    contact: str,
    forces: np.ndarray,
    ground: np.ndarray,
    stresses: tuple[np.ndarray, np.ndarray],
    eta: np.ndarray,
) -> np.ndarray:
    """The forces (w, 3) by a way of sharing, axle forces as good as they can be."""
    guides = np.array([w.guides for w in robot.wheels])
    vertical, axle = stresses
    if contact == "best" or robot.support.determinate:
        return best_distribution(forces, vertical, axle, eta, guides)
    answer = below(robot, ground)
    ups = [elastic(robot, answer)]
    if contact == "worst":
        corners = possible(robot, answer)
        ups = list(corners[~np.isnan(corners).any(-1)]) or ups
    splits = []
    for up in ups:
        given = forces.copy()
        given[:, 2] = up
        splits.append(best_distribution(given, vertical[:, :0], axle, eta, guides))
    return min(splits, key=lambda split: _smallest(robot, split, eta))


def _smallest(robot: MobileManipulator, forces: np.ndarray, eta: np.ndarray) -> float:
    """The smallest margin of contact and adhesion [N]."""
    guides = np.array([w.guides for w in robot.wheels])
    slips = np.where(guides, slip_margins(forces, eta), forces[:, 2])
    return float(np.minimum(slips, forces[:, 2]).min())


def _driving(
    robot: MobileManipulator,
    q: np.ndarray,
    z: np.ndarray,
    tau: np.ndarray,
    zd: np.ndarray,
    forces: np.ndarray,
) -> np.ndarray:
    """(w,) [N m]: r F_x - (tau_d - friction - I_y w_y') of each wheel, the driving-torque row of (9)."""
    f = robot.formulas
    machine, at, _ = f.state(q.tolist(), z.tolist())
    lost = f.wheel_friction(machine, at) if robot.friction else [0.0] * len(f.rolling)
    left = np.zeros(len(robot.wheels))
    for place, (j, slot) in enumerate(zip(f.rolling, f.slots, strict=True)):
        wheel, roll = robot.wheels[j], at.rolling[place]
        spin = (
            roll.change + sum(V * acc for V, acc in zip(roll.V, zd, strict=False))
        ) / wheel.radius
        push = forces[j, f.place_of(place)[1]]
        rest = wheel.radius * push - (tau[slot] - lost[place] - wheel.spin * spin)
        left[j] = max(left[j], rest, key=abs)
    return left


def _rows(
    robot: MobileManipulator,
    q: np.ndarray,
    forces: np.ndarray,
    ground: np.ndarray,
    eta: np.ndarray,
    drive: np.ndarray,
) -> list[Row]:
    scale = float(np.linalg.norm(ground[:3])) or 1.0
    names = robot.wheel_names
    residual = _balance(robot, q, forces, ground)
    up, level = abs(float(residual[2])), float(np.hypot(*residual[:2]))
    rows = [
        Row("vertical balance", None, up <= _BALANCE * scale, -up, "N"),
        Row("no skidding", None, level <= _BALANCE * scale, -level, "N"),
    ]
    for j in dict.fromkeys(robot.formulas.rolling):
        rest = abs(float(drive[j]))
        rows.append(Row("driving torque", names[j], rest <= _BALANCE * scale, -rest, "N m"))
    slip = slip_margins(forces, eta)
    for j, name in enumerate(names):
        rows.append(Row("contact", name, bool(forces[j, 2] >= 0), float(forces[j, 2]), "N"))
        if robot.wheels[j].guides:
            rows.append(Row("no slipping", name, bool(slip[j] >= 0), float(slip[j]), "N"))
    tip = robot.tipover_of(ground)
    rows.append(Row("no tip-over", None, bool(tip.measure > 0), float(tip.measure), "N rad"))
    return rows


def _balance(
    robot: MobileManipulator, q: np.ndarray, forces: np.ndarray, ground: np.ndarray
) -> np.ndarray:
    """R + sum F in the axes of {v}: what the ground forces leave of the load."""
    phi = float(q[3]) if robot.guidance.steered else 0.0
    total = ground[:3].copy()
    for wheel, (x, y, up) in zip(robot.wheels, forces, strict=True):
        at = roller(wheel, robot.platform.steering, phi)
        total += [at.c * x - at.s * y, at.s * x + at.c * y, up]
    return total
