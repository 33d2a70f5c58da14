"""What the ground allows in a pose: how hard to accelerate, brake and turn, how steep to stand, how much to carry.

Each is a load that grows along a line from the one at rest (`reach.py`): with an acceleration, with the square of a
speed, with the tangent of a slope, with the mass of a payload. The arm is held in its pose throughout.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..border.arguments import above_zero, check_finite, real, reals
from ..border.kinds import Given, Numbers
from ..border.words import brief
from ..errors import InputError
from .admissibility import coefficients, told_contact
from .constraints import columns
from .outline import arm_frames
from .reach import Demand, Window, difference, reach, scaled
from .sharing import CONTACTS, contact_word

if TYPE_CHECKING:
    from .robot import MobileManipulator

UNITS = {
    "acceleration": "m/s^2",
    "deceleration": "m/s^2",
    "yaw_rate": "rad/s",
    "curve_speed": "m/s",
    "slope_up": "degrees",
    "slope_down": "degrees",
    "slope_left": "degrees",
    "slope_right": "degrees",
    "payload": "kg",
}


@dataclass(frozen=True, slots=True, eq=False)
class MobileLimits:
    """`mobile.Limits`: the largest of each before a wheel slips or the robot tips.

    An infinite entry is limited by nothing; NaN means that the robot does not even stand at rest.

    Attributes
    ----------
    acceleration : float
        Largest acceleration forwards [m/s^2].
    deceleration : float
        Largest deceleration [m/s^2].
    yaw_rate : float
        Largest rate of turning, on the spot or along the bend of the steering angle
        [rad/s].
    curve_speed : float
        Largest speed in the bend [m/s].
    slope_up : float
        Steepest slope, nose up [degrees].
    slope_down : float
        Steepest slope, nose down [degrees].
    slope_left : float
        Steepest slope whose lower side is the left one [degrees].
    slope_right : float
        Steepest slope whose lower side is the right one [degrees].
    payload : float
        Largest payload, a point mass at the tool, beyond `load` [kg].
    by : dict[str, str]
        Which wheel or edge ends each.
    others : dict[str, dict[str, float]]
        What the other ways of sharing the load would allow.
    contact : str
        How more than three wheels share the load.

    Examples
    --------
    >>> robot = dynarm.mobile.load("tanner2001")
    >>> limits = robot.limits(np.zeros(len(robot.coordinate_names)), friction=0.6)
    >>> print(limits.by["acceleration"])
    w1
    """

    acceleration: float  # [m/s^2] forwards
    deceleration: float  # [m/s^2]
    yaw_rate: float  # [rad/s] turning on the spot, or along the bend of the steering angle
    curve_speed: float  # [m/s] in the bend
    slope_up: float  # [degrees]
    slope_down: float
    slope_left: float
    slope_right: float
    payload: float  # [kg]
    by: dict[str, str]
    others: dict[str, dict[str, float]]  # by contact
    contact: str

    __repr__ = brief

    @property
    def status(self) -> str:
        """One line a limit."""
        lines = []
        for name, unit in UNITS.items():
            text = _shown(getattr(self, name), f" {unit}")
            rest = {way: _shown(table[name]) for way, table in self.others.items()}
            words = f"{name.replace('_', ' ')} {text}, limited by {self.by[name]}"
            lines.append(words + told_contact(self.contact, rest))
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.status


def _shown(value: float, unit: str = "") -> str:
    if math.isnan(value):
        return "not even at rest"
    return "no limit" if math.isinf(value) else f"{value:.4g}{unit}"


@dataclass(frozen=True, slots=True)
class EmergencyStop:
    """The shortest stop straight ahead: constant deceleration, what it takes, and which wheel or edge limits it.

    Attributes
    ----------
    speed : float
        Speed at which braking begins [m/s].
    deceleration : float
        Constant deceleration [m/s^2]; NaN where the robot does not even stand.
    time : float
        Time that it takes [s].
    distance : float
        Way that it takes [m].
    by : str
        Which wheel or edge limits it.
    contact : str
        How more than three wheels share the load.
    status : str
        One sentence.

    Examples
    --------
    >>> robot = dynarm.mobile.load("tanner2001")
    >>> stop = robot.emergency_stop(np.zeros(len(robot.coordinate_names)), 0.5)
    >>> bool(np.isclose(stop.distance, stop.speed**2 / (2 * stop.deceleration)))
    True
    """

    speed: float  # [m/s]
    deceleration: float  # [m/s^2]; NaN where the robot does not even stand
    time: float  # [s]
    distance: float  # [m]
    by: str
    contact: str
    status: str

    __repr__ = brief


@dataclass(frozen=True, slots=True, eq=False)
class _Pose:
    """One pose with what acts on it."""

    robot: MobileManipulator
    q: np.ndarray
    gravity: np.ndarray
    load: np.ndarray
    eta: np.ndarray

    @property
    def phi(self) -> float:
        return float(self.q[3]) if self.robot.guidance.steered else 0.0

    def demand(
        self,
        z: np.ndarray | None = None,
        zd: np.ndarray | None = None,
        gravity: np.ndarray | None = None,
        load: np.ndarray | None = None,
    ) -> Demand:
        still = np.zeros(self.robot.formulas.n)
        given = (
            self.q,
            still if z is None else z,
            still if zd is None else zd,
            self.gravity if gravity is None else gravity,
            self.load if load is None else load,
        )
        ground, push = self.robot.call("demand", *given)[:2]
        return Demand(np.asarray(ground), np.asarray(push))

    def grow(self, still: Demand, moved: Demand, contact: str) -> Window:
        slope = difference(moved, still)
        return reach(self.robot, self.phi, still, slope, self.eta, contact)


def _pose(
    robot: MobileManipulator, q: Numbers, friction: Numbers, gravity: Given, load: Given
) -> _Pose:
    eta = coefficients(friction, len(robot.wheels))
    pull, push = robot.acting(gravity, load)
    checked = []
    for what, value in (("q", q), ("gravity", pull), ("load", push)):
        names = robot.entry_names(what)
        x = reals(what, value, "real numbers", names)
        if x.shape != (len(names),):
            raise InputError(
                f"{what} has shape {x.shape}; limits looks at one pose, give {len(names)} numbers"
            )
        check_finite(what, x)
        checked.append(x)
    coordinates, pull, push = checked
    pose = _Pose(robot, coordinates, pull, push, eta)
    up = -float(pose.demand().ground[2])
    if not up > 1e-9 * max(1.0, float(np.abs(push).max())):
        raise InputError(
            f"no load on any wheel: the force on the ground is {up:.4g} N, so that nothing holds the robot there; "
            "look at gravity and load"
        )
    return pose


def limits_of(
    robot: MobileManipulator,
    q: Numbers,
    z: Given,
    friction: Numbers,
    gravity: Given,
    load: Given,
    contact: str,
    radius: float,
) -> MobileLimits:
    """What the ground allows in a pose."""
    contact = contact_word(contact)
    pose = _pose(robot, q, friction, gravity, load)
    n = robot.formulas.n
    speeds = np.zeros(n) if z is None else reals("z", z, "real numbers", robot.speed_names)
    if speeds.shape != (n,):
        raise InputError(f"z has shape {speeds.shape}; limits looks at one state, give {n} numbers")
    check_finite("z", speeds)
    bend = real("radius", radius, "the radius of a bend above 0 m", above_zero)
    questions = _questions(pose, speeds, bend)
    ways = (contact,) if robot.support.determinate else CONTACTS
    values: dict[str, dict[str, float]] = {way: {} for way in ways}
    by = {}
    for name, ask in questions.items():
        for way in ways:
            value, why = ask(way)
            values[way][name] = value
            if way == contact:
                by[name] = why
    others = {way: table for way, table in values.items() if way != contact}
    return MobileLimits(**values[contact], by=by, others=others, contact=contact)


Asked = Callable[[str], tuple[float, str]]


def _questions(pose: _Pose, z: np.ndarray, radius: float) -> dict[str, Asked]:
    """Each limit by its name: a function of the way in which the wheels share."""
    rest, moving = pose.demand(), pose.demand(z)
    ahead = np.zeros(len(z))
    ahead[0] = 1.0
    turn, bend, ratio = _bends(pose, radius)

    def linear(still: Demand, moved: Demand) -> Asked:
        return lambda way: _told(pose.grow(still, moved, way), lambda p: p)

    def squared(z: np.ndarray | None, times: float = 1.0) -> Asked:
        if z is None:
            return lambda way: (math.inf, "nothing")
        moved = pose.demand(z)
        # wheels that slide resist alike at every speed, so that two speeds tell what grows with the square
        grows = difference(pose.demand(2 * z), moved)
        still = rest if not pose.robot.slides else difference(moved, scaled(grows, 1 / 3))
        return lambda way: _told(pose.grow(still, moved, way), lambda p: times * math.sqrt(p))

    slopes = {"up": (-1, 0), "down": (1, 0), "left": (0, 1), "right": (0, -1)}
    made = {
        "acceleration": linear(moving, pose.demand(z, ahead)),
        "deceleration": linear(moving, pose.demand(z, -ahead)),
        "yaw_rate": squared(turn, ratio),
        "curve_speed": squared(bend),
    }
    for word, direction in slopes.items():
        made[f"slope_{word}"] = _slope(pose, direction)
    return made | {"payload": linear(rest, pose.demand(load=pose.load + _weight(pose)))}


def _told(window: Window, value: Callable[[float], float]) -> tuple[float, str]:
    if math.isnan(window.high) or window.low > 0:
        return math.nan, window.limit
    return value(window.high), window.limit


def _bends(pose: _Pose, radius: float) -> tuple[np.ndarray | None, np.ndarray | None, float]:
    """Speeds that turn, speeds in a bend, and the yaw rate of the first per unit; None: the platform does not turn."""
    robot = pose.robot
    names, n = robot.guidance.speeds, robot.formulas.n
    if "thetad" in names:
        turn, bend = np.zeros(n), np.zeros(n)
        turn[names.index("thetad")] = 1.0
        bend[0], bend[names.index("thetad")] = 1.0, 1 / radius
        return turn, bend, 1.0
    cols, _ = columns(robot.guidance, robot.platform.steering, pose.phi)
    rate = float(cols[0].z)
    if rate == 0:
        return None, None, 0.0
    bend = np.zeros(n)
    bend[0] = 1.0
    return bend, bend, abs(rate)


def _slope(pose: _Pose, direction: tuple[int, int]) -> Asked:
    """The steepest slope [degrees] on which the robot stands; gravity then pulls along `direction` of {v} as well.

    Divided by the cosine, gravity's part is linear in the tangent; a load on the tool is not and is put in by steps.
    """
    g = float(np.linalg.norm(pose.gravity))
    nothing = np.zeros(6)
    level = pose.demand(gravity=np.array([0.0, 0.0, -g]), load=nothing)
    pull = pose.demand(gravity=np.array([g * direction[0], g * direction[1], -g]), load=nothing)
    # what the load adds, whatever the slope
    extra = difference(pose.demand(gravity=np.array([0.0, 0.0, -g])), level)

    def ask(way: str) -> tuple[float, str]:
        stretch = 1.0
        for _ in range(100):
            added = scaled(extra, stretch)
            still = Demand(level.ground + added.ground, level.push + added.push)
            moved = Demand(pull.ground + added.ground, pull.push + added.push)
            window = pose.grow(still, moved, way)
            value, why = _told(window, lambda p: p)
            if not math.isfinite(value):
                return (90.0 if math.isinf(value) else value), why
            after = math.hypot(1.0, value)
            if abs(after - stretch) <= 1e-12 * after or not extra.ground.any():
                break
            stretch = after
        return math.degrees(math.atan(value)), why

    return ask


def _weight(pose: _Pose) -> np.ndarray:
    """Force [N] on the tool, in its axes, of one kilogram there."""
    q = pose.q.copy()
    q[:3] = 0.0  # gravity is in the axes of the platform
    R = arm_frames(pose.robot, q)[-1][:3, :3]
    return np.concatenate([R.T @ pose.gravity, np.zeros(3)])


def emergency_stop(
    robot: MobileManipulator,
    q: Numbers,
    speed: float,
    friction: Numbers,
    gravity: Given,
    load: Given,
    contact: str,
) -> EmergencyStop:
    """The shortest stop from a speed straight ahead."""
    contact = contact_word(contact)
    v = real("speed", speed, "a speed above 0 m/s", above_zero)
    pose = _pose(robot, q, friction, gravity, load)
    if robot.guidance.steered and pose.phi != 0:
        raise InputError(f"phi is {pose.phi:g}; a stop straight ahead has no steering, set it to 0")
    ahead = np.zeros(robot.formulas.n)
    ahead[0] = -1.0
    rest = pose.demand()
    moved = pose.demand(zd=ahead)
    most, by = _told(pose.grow(rest, moved, contact), lambda p: p)
    ways = () if robot.support.determinate else [w for w in CONTACTS if w != contact]
    others = {w: _shown(_told(pose.grow(rest, moved, w), lambda p: p)[0], " m/s^2") for w in ways}
    if not most > 0:
        status = f"cannot brake: {by} slips, lifts or tips at rest"
        told = status + told_contact(contact, others)
        return EmergencyStop(v, math.nan, math.nan, math.nan, by, contact, told)
    time, distance = v / most, v * v / (2 * most)
    status = f"from {v:.4g} m/s in {distance:.4g} m and {time:.4g} s at {most:.4g} m/s^2, limited by {by}"
    return EmergencyStop(
        v, most, time, distance, by, contact, status + told_contact(contact, others)
    )
