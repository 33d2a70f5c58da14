"""A mobile manipulator's undercarriage as data: platform, wheels and the base on which the arm stands.

Frame {v} stands at the platform's mass centre: x forward, y left, z up. The ground is level. Wheel centres lie at
(x, y) in {v} and at the height of their radius.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..border.arguments import among, flag, numbers, reals, shown
from ..border.arguments import number as finite
from ..border.kinds import Kept, Outside
from ..border.words import brief
from ..errors import InputError, KindError, ModelError
from ..robot.arm import HEAVIEST, LONGEST, Friction, rigid

KINDS = ("fixed", "steered", "ackermann", "caster", "omni", "mecanum")
Tensor = tuple[tuple[float, float, float], ...]
_CROSSWAYS = math.radians(85)  # rollers nearer to the axle push nothing ahead
_NO_INERTIA: Tensor = ((0.0, 0.0, 0.0),) * 3


def _number(what: str, value: Outside, above: float | None = None) -> float:
    number = finite(what, value)
    if abs(number) > LONGEST:
        raise InputError(f"{what} is {number:g}; give a number in SI units, at most {LONGEST:g}")
    if above is not None and not number > above:
        raise ModelError(f"{what} is {number:g}; give a number greater than {above:g}")
    return number


def _not_negative(what: str, value: Outside) -> float:
    number = _number(what, value)
    if number < 0:
        raise ModelError(f"{what} is {number:g}; it cannot be negative")
    return number


def _inertia(what: str, value: Outside) -> Tensor:
    """A symmetric 3x3 tensor, given in full or by its diagonal."""
    given = np.array(value, dtype=object)
    table = (
        np.diag(numbers(what, value, (3,))) if given.shape == (3,) else numbers(what, value, (3, 3))
    )
    if np.abs(table).max() > HEAVIEST:
        raise InputError(f"{what} is too large to multiply; give kg m^2, at most {HEAVIEST:g}")
    if np.abs(table - table.T).max() > 1e-9 * max(np.abs(table).max(), 1e-300):
        raise ModelError(f"{what} is not symmetric ({table.tolist()}); give Ixy = Iyx and so on")
    return tuple(map(tuple, table.tolist()))


@dataclass(frozen=True, slots=True)
class Steering:
    """Where the axles of 'ackermann' wheels meet: on the line x = axle, and on the axle of a reference wheel.

    The reference wheel stands at (x, y) and is turned by phi; it may be one of the wheels or a thought one, as the
    middle of a car's front axle.
    """

    x: float
    y: float = 0.0
    axle: float = 0.0

    __repr__ = brief

    def __post_init__(self) -> None:
        for key in ("x", "y", "axle"):
            object.__setattr__(self, key, _number(f"steering {key}", getattr(self, key)))
        if self.x == self.axle:
            raise ModelError(
                f"steering: the reference wheel stands on the line of axles (x = axle = {self.x:g}) and cannot turn "
                "the platform; move one of them"
            )


@dataclass(frozen=True, slots=True)
class Platform:
    """The vehicle's body without wheels: mass, inertia about its mass centre in {v}, height of {v} above the ground."""

    mass: float
    inertia: Kept
    height: float
    steering: Steering | None = None

    __repr__ = brief

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "mass", _not_negative("platform mass", self.mass))
        put(self, "inertia", _inertia("platform inertia", self.inertia))
        put(self, "height", _number("platform height", self.height, above=0.0))
        if self.steering is not None and not isinstance(self.steering, Steering):
            raise KindError(
                f"platform steering is {shown(self.steering)}; give mobile.Steering(...) or None"
            )


@dataclass(frozen=True, slots=True)
class Wheel:
    """One wheel.

    kind       "fixed": rolls along `angle`. "steered": turned by ratio * phi + angle about its vertical diameter.
               "ackermann": turned so that its axle meets the others (platform.steering). "caster": free to roll any
               way, carries weight only; its mass counts as a point at the wheel's centre. "omni", "mecanum": with
               rollers on its rim, on which it moves across; the ground pushes along the axis of the roller below.
    roller     [rad] angle of that axis from the rolling direction, seen from above: 0 for "omni"; for "mecanum"
               usually -pi/4 front left and rear right, pi/4 front right and rear left
    spin, turn inertia about the axle and about a diameter; default: those of a disk, m r^2/2 and m r^2/4
    driven     False: `safe_speed` puts no drive torque on it
    stiffness  [N/m] of its tyre or suspension, by which wheels on the ground share the load; give it to all wheels
               or to none, who are then equally stiff
    rolling    friction of the axle's bearing (speed: rad/s of the wheel); swivel: of the steering column
    """

    x: float
    y: float
    radius: float
    mass: float = 0.0
    kind: str = "fixed"
    angle: float = 0.0
    ratio: float = 1.0
    spin: float | None = None
    turn: float | None = None
    driven: bool = True
    rolling: Friction | None = None
    swivel: Friction | None = None
    name: str | None = None
    stiffness: float | None = None
    roller: float = 0.0

    __repr__ = brief

    def __post_init__(self) -> None:
        put = object.__setattr__
        if not isinstance(self.name, (str, type(None))):
            raise KindError(f"name of a wheel is {shown(self.name)}; give a string or None")
        label = f"wheel {shown(self.name)}" if self.name else "wheel"
        flag(f"{label}: driven", self.driven)
        if not among(self.kind, KINDS):
            raise InputError(
                f"{label}: kind is {shown(self.kind)}; choose one of {', '.join(KINDS)}"
            )
        for key in ("x", "y", "angle", "ratio", "roller"):
            put(self, key, _number(f"{label}: {key}", getattr(self, key)))
        if not abs(self.roller) < _CROSSWAYS or (self.roller != 0) != (self.kind == "mecanum"):
            raise ModelError(
                f"{label}: roller is {self.roller:g} and kind '{self.kind}'; a 'mecanum' wheel has rollers at an angle "
                "between -pi/2 and pi/2 but 0, other wheels have none at an angle"
            )
        put(self, "radius", _number(f"{label}: radius", self.radius, above=0.0))
        put(self, "mass", _not_negative(f"{label}: mass", self.mass))
        if self.stiffness is not None:
            put(self, "stiffness", _number(f"{label}: stiffness", self.stiffness, above=0.0))
        for key, part in (("spin", 0.5), ("turn", 0.25)):
            given = getattr(self, key)
            disk = part * self.mass * self.radius**2
            inertia = _not_negative(f"{label}: {key}", disk if given is None else given)
            put(self, key, inertia)
        for key in ("rolling", "swivel"):
            value = getattr(self, key)
            if value is not None and not isinstance(value, Friction):
                raise KindError(
                    f"{label}: {key} is {shown(value)}; give dynarm.Friction(...) or None"
                )
        if self.kind == "steered" and self.ratio == 0:
            raise ModelError(f"{label}: ratio is 0, so phi does not turn it; make it 'fixed'")

    @property
    def guides(self) -> bool:
        """Whether it can take a force along the ground."""
        return self.kind != "caster"

    @property
    def constrains(self) -> bool:
        """Whether it keeps the platform from moving along its axle."""
        return self.kind in ("fixed", "steered", "ackermann")

    @property
    def slant(self) -> float | None:
        """Tangent of the rollers' angle; None without rollers."""
        return math.tan(self.roller) if self.kind in ("omni", "mecanum") else None


@dataclass(frozen=True, slots=True)
class Base:
    """What the arm stands on, fixed to the platform.

    com: its mass centre in {v}, the paper's point 0, about which the interaction torque is taken. mount: 4x4 pose in
    {v} of the arm's base link; default: upright at com. A robot adds to it the inertia that the base link of its arm
    has in the arm's file: `robot.base` holds both.
    """

    mass: float = 0.0
    com: tuple[float, float, float] = (0.0, 0.0, 0.0)
    inertia: Kept = _NO_INERTIA
    mount: Kept = None

    __repr__ = brief

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "mass", _not_negative("base mass", self.mass))
        com = numbers("base com", self.com, (3,))
        put(self, "com", tuple(com.tolist()))
        put(self, "inertia", _inertia("base inertia", self.inertia))
        T = np.eye(4)
        if self.mount is None:
            T[:3, 3] = com
        else:
            given = reals("base mount", self.mount, "a 4x4 pose")
            if given.size != 16:
                raise InputError(f"base mount has shape {given.shape}; give a 4x4 pose")
            T = rigid("base mount", given.reshape(4, 4))
        put(self, "mount", tuple(T.ravel().tolist()))

    @property
    def mount_pose(self) -> np.ndarray:
        """4x4 pose of the arm's base link in {v}."""
        return np.array(self.mount).reshape(4, 4)
