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

KINDS = ("fixed", "steered", "ackermann", "caster", "omni", "mecanum", "skid", "swerve")
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

    The reference wheel is turned by phi; it may be one of the wheels or a thought one, as the middle of a car's
    front axle.

    Parameters
    ----------
    x : float
        Where the reference wheel stands, forwards [m].
    y : float, default 0.0
        Where it stands, to the left [m].
    axle : float, default 0.0
        The line x = axle on which the axles meet [m].

    Examples
    --------
    >>> dynarm.mobile.Steering(x=0.6).axle
    0.0
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
    """The vehicle's body without wheels: mass, inertia about its mass centre in {v}, height of {v} above the ground.

    Parameters
    ----------
    mass : float
        Mass [kg].
    inertia : array_like (3, 3)
        Inertia about the mass centre, in the axes of {v} [kg m^2].
    height : float
        Height of {v}, the frame at the mass centre, above the ground [m].
    steering : Steering, optional
        Where the axles of 'ackermann' wheels meet.
    pivot : float, optional
        x [m] of the point of a platform on 'skid' wheels that does not move across when it
        turns; default: the mean of these wheels.

    Examples
    --------
    >>> body = dynarm.mobile.Platform(mass=60.0, inertia=np.diag([2.0, 3.0, 4.0]), height=0.25)
    >>> body.mass
    60.0
    """

    mass: float
    inertia: Kept
    height: float
    steering: Steering | None = None
    pivot: float | None = None

    __repr__ = brief

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "mass", _not_negative("platform mass", self.mass))
        put(self, "inertia", _inertia("platform inertia", self.inertia))
        put(self, "height", _number("platform height", self.height, above=0.0))
        if self.pivot is not None:
            put(self, "pivot", _number("platform pivot", self.pivot))
        if self.steering is not None and not isinstance(self.steering, Steering):
            raise KindError(
                f"platform steering is {shown(self.steering)}; give mobile.Steering(...) or None"
            )


@dataclass(frozen=True, slots=True)
class Wheel:
    """One wheel.

    `kind` is one of

    "fixed": rolls along `angle`.

    "steered": turned by ratio * phi + angle about its vertical diameter.

    "ackermann": turned so that its axle meets the others (`platform.steering`).

    "caster": free to roll any way, carries weight only; its mass counts as a point at the wheel's centre.

    "omni", "mecanum": with rollers on its rim, on which it moves across; the ground pushes along the axis of the roller
    below.

    "skid": rolls ahead without slip and slides across when the platform turns, where Coulomb friction `slide` times its
    load resists; the load is that at constant speeds.

    "swerve": steered by a drive of its own into the direction in which it moves, so that the ground may push it
    any way. Its drive and its forces have parts along x and y of the platform, and the part across its heading
    is the ground's. Its steering moves no inertia of its own: `turn` counts with the platform.

    Parameters
    ----------
    x : float
        Where it stands in {v}, forwards [m].
    y : float
        Where it stands, to the left [m].
    radius : float
        Radius [m].
    mass : float, default 0.0
        Mass [kg].
    kind : str, default "fixed"
        What the wheel is, by the list above.
    angle : float, default 0.0
        Direction in which it rolls, or a caster points, from x [rad].
    ratio : float, default 1.0
        How far it turns for each radian of phi, where it is steered.
    spin : float, optional
        Inertia about the axle [kg m^2]; that of a disk, m r^2/2, by default.
    turn : float, optional
        Inertia about a diameter [kg m^2]; that of a disk, m r^2/4, by default.
    driven : bool, default True
        Whether a drive turns it.
    rolling : Friction, optional
        Friction of the axle's bearing, by the wheel's speed [rad/s].
    swivel : Friction, optional
        Friction of the steering column.
    name : str, optional
        What it is called; w0, w1 ... by default.
    stiffness : float, optional
        Of its tyre or suspension [N/m], by which wheels on the ground share the load; give
        it to all wheels or to none, which are then equally stiff.
    roller : float, default 0.0
        Angle of the rollers' axis from the rolling direction, seen from above [rad]: 0 for
        "omni"; for "mecanum" usually -pi/4 front left and rear right, pi/4 front right and
        rear left.
    trail : float, default 0.0
        Of a caster, how far it stands behind its swivel, which is at (x, y) [m]; `angle`
        says where it points, as `robot.trailing(q, z)` turns it in a motion.
    slide : float, optional
        Of a "skid" wheel, the coefficient of friction across.

    Examples
    --------
    >>> left = dynarm.mobile.Wheel(0.0, 0.25, 0.1, mass=1.0, name="left")
    >>> left.guides
    True
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
    trail: float = 0.0
    slide: float | None = None

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
        self._check_kind(label)
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

    def _check_kind(self, label: str) -> None:
        """Refuse numbers that a wheel of its kind does not have."""
        put = object.__setattr__
        put(self, "trail", _not_negative(f"{label}: trail", self.trail))
        if self.trail and self.kind != "caster":
            raise ModelError(
                f"{label}: trail is {self.trail:g} and kind '{self.kind}'; only a caster trails"
            )
        if self.slide is not None:
            put(self, "slide", _not_negative(f"{label}: slide", self.slide))
        if (self.slide is not None) != (self.kind == "skid"):
            raise ModelError(
                f"{label}: slide is {shown(self.slide)} and kind '{self.kind}'; a 'skid' wheel has the coefficient of "
                "friction across it, slide=0.6 for instance, other wheels have none"
            )
        if self.angle and self.kind in ("skid", "swerve"):
            raise ModelError(
                f"{label}: angle is {self.angle:g}; a '{self.kind}' wheel has none, turn the platform's frame"
            )
        if self.kind == "swerve" and (self.rolling is not None or self.swivel is not None):
            raise ModelError(
                f"{label}: friction of bearings is not known of 'swerve' wheels; leave rolling and swivel out"
            )

    @property
    def place(self) -> tuple[float, float]:
        """(x, y) in {v} of the point on which it stands."""
        if not self.trail:
            return self.x, self.y
        back = -self.trail * math.cos(self.angle), -self.trail * math.sin(self.angle)
        return self.x + back[0], self.y + back[1]

    @property
    def guides(self) -> bool:
        """Whether it can take a force along the ground."""
        return self.kind != "caster"

    @property
    def constrains(self) -> bool:
        """Whether it keeps the platform from moving along its axle."""
        return self.kind in ("fixed", "steered", "ackermann")

    @property
    def braces(self) -> bool:
        """Whether the ground holds it along its axle."""
        return self.constrains or self.kind == "skid"

    @property
    def slant(self) -> float | None:
        """Tangent of the rollers' angle; 0 for a swerve wheel, free both ways; None without rollers."""
        return math.tan(self.roller) if self.kind in ("omni", "mecanum", "swerve") else None


@dataclass(frozen=True, slots=True)
class Base:
    """What the arm stands on, fixed to the platform.

    Parameters
    ----------
    mass : float, default 0.0
        Mass [kg].
    com : tuple[float, float, float], optional
        Its mass centre in {v} [m], the paper's point 0, about which the interaction torque
        is taken.
    inertia : array_like (3, 3)
        Inertia about its mass centre [kg m^2].
    mount : array_like (4, 4), optional
        Pose in {v} of the arm's base link; default: upright at `com`. A robot adds to the
        base the inertia that the base link of its arm has in the arm's file: `robot.base`
        holds both.

    Examples
    --------
    >>> base = dynarm.mobile.Base(mass=5.0, com=(0.1, 0.0, 0.2))
    >>> base.mount_pose[:3, 3]
    array([0.1, 0. , 0.2])
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
