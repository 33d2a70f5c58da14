"""How fast a given motion may be driven: the largest time scaling for which no wheel slips or lifts.

Driven s times as fast, a motion has the same path, speeds s z and accelerations s^2 zd; everything the ground must
carry is a constant (weight, load) plus s^2 times the rest, and `reach` says how far s^2 may grow.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ..border.arguments import reals, shown
from ..border.kinds import Given, Numbers
from ..border.words import brief
from ..errors import InputError, KindError
from .admissibility import coefficients, told_contact
from .constraints import roller
from .reach import Demand, Window, demands, difference, reach, scaled
from .sharing import CONTACTS, contact_word

if TYPE_CHECKING:
    from .robot import MobileManipulator

_ROLLS = 1e-6  # sideways speed at a wheel, relative to the motion's, that still counts as rolling


@dataclass(frozen=True, slots=True, eq=False)
class Motion:
    """A motion on a grid of times: coordinates, independent speeds, accelerations.

    Attributes
    ----------
    t : ndarray
        Times (N,) [s].
    q : ndarray
        Coordinates (N, nq).
    z : ndarray
        Speeds (N, nz).
    zd : ndarray
        Accelerations (N, nz).

    Examples
    --------
    >>> robot = dynarm.mobile.load("tanner2001")
    >>> t = np.linspace(0, 4, 81)
    >>> path = np.outer(0.5 * (1 - np.cos(np.pi * t / 4)), np.eye(len(robot.coordinate_names))[0])
    >>> robot.motion(t, path).z[40, 0].round(3)
    np.float64(0.393)
    """

    t: np.ndarray
    q: np.ndarray
    z: np.ndarray
    zd: np.ndarray

    __repr__ = brief


@dataclass(frozen=True, slots=True, eq=False)
class SafeSpeed:
    """The largest time scaling of a motion, and what limits it.

    Attributes
    ----------
    scale : float
        1: as given; 2: twice as fast; infinite if nothing limits it, 0 if no speed will do.
    limits : ndarray
        The same for each sample alone (N,).
    lowest : ndarray
        Slowest scaling of each sample (N,); 0 where the robot can stand still.
    sample : int
        Which sample sets the scale.
    wheel : str
        Which wheel slips or lifts there.
    status : str
        One sentence.
    contact : str, default "elastic"
        How more than three wheels share the load.
    edge : tuple[str, str], optional
        Over which side it tips there.
    scales : dict[str, float], optional
        The scale by each way of sharing the load; for the ways not asked for, that of the
        limiting sample.

    Examples
    --------
    >>> robot = dynarm.mobile.load("tanner2001")
    >>> t = np.linspace(0, 4, 81)
    >>> path = np.outer(0.5 * (1 - np.cos(np.pi * t / 4)), np.eye(len(robot.coordinate_names))[0])
    >>> print(robot.safe_speed((t, path), friction=0.6).wheel)
    w1
    """

    scale: (
        float  # 1: as given; 2: twice as fast; infinite if nothing limits it, 0 if no speed will do
    )
    limits: np.ndarray  # (N,): the same for each sample alone
    lowest: np.ndarray  # (N,): slowest scaling of each sample; 0 where the robot can stand still
    sample: int  # which sample sets the scale
    wheel: str | None  # which wheel slips or lifts there
    status: str
    contact: str = "elastic"  # how more than three wheels share the load
    edge: tuple[str, str] | None = None  # over which side it tips there
    # the scale by each way of sharing; for the ways not asked for, that of the limiting sample
    scales: dict[str, float] = field(default_factory=dict)

    __repr__ = brief


def motion_through(robot: MobileManipulator, t: Numbers, q: Numbers) -> Motion:
    """The motion through sampled coordinates by cubic splines; refused if the wheels would skid."""
    from scipy.interpolate import CubicSpline

    t, q = _samples(robot, t, q)
    spline = CubicSpline(t, q, bc_type="natural" if len(t) < 4 else "not-a-knot")
    qd = spline(t, 1)
    c, s = np.cos(q[:, 2]), np.sin(q[:, 2])
    twist = np.stack([c * qd[:, 0] + s * qd[:, 1], c * qd[:, 1] - s * qd[:, 0], qd[:, 2]], axis=-1)
    g = robot.guidance
    phi = q[:, 3] if g.steered else np.zeros(len(t))
    sideways = np.zeros(len(t))
    for wheel in {*robot.wheels, *g.rows}:
        if wheel.constrains:
            row = roller(wheel, robot.platform.steering, phi).skid
            slide = sum(a * b for a, b in zip(row, twist.T, strict=True))
            sideways = np.maximum(sideways, np.abs(slide))
    speed = float(np.abs(twist).max())
    h = float(np.diff(t).max())
    # the spline's own error
    allowed = _ROLLS * speed + 10 * h**3 * float(np.abs(spline(t, 3)).max())
    worst = int(sideways.argmax())
    if sideways[worst] > allowed:
        raise InputError(
            f"at t = {t[worst]:.6g} s a wheel would skid sideways at {sideways[worst]:.3g} m/s; "
            "a motion must roll, and x, y are those of the platform's mass centre, not of its axle: correct the path "
            "or build it from speeds (robot.simulate)"
        )
    moving = [twist[:, k] for k in ((0,), (0, 2), (0, 1, 2))[g.moving - 1]]
    rest = [qd[:, k] for k in range(3, q.shape[1])]
    z = np.stack([*moving, *rest], axis=-1)
    zd = CubicSpline(t, z, bc_type="not-a-knot" if len(t) >= 4 else "natural")(t, 1)
    return Motion(t, q, z, zd)


def _samples(robot: MobileManipulator, t: Numbers, q: Numbers) -> tuple[np.ndarray, np.ndarray]:
    names = robot.coordinate_names
    t, q = reals("t", t, "an array of seconds"), reals("q", q, "an array of coordinates", names)
    if t.ndim != 1 or len(t) < 3 or q.shape != (len(t), len(names)):
        raise InputError(
            f"t has shape {t.shape} and q {q.shape}; give (N,) with N >= 3, and (N, {len(names)}): {', '.join(names)}"
        )
    if not (np.isfinite(t).all() and np.isfinite(q).all() and (np.diff(t) > 0).all()):
        raise InputError("t must increase and t, q must be finite")
    return t, q


def safe_speed(
    robot: MobileManipulator,
    motion: Motion,
    friction: Numbers,
    load: Given = None,
    contact: str = "elastic",
    gravity: Given = None,
) -> SafeSpeed:
    """The largest s such that the motion, driven s times as fast, keeps every wheel in its friction cone.

    Driven wheels (`driven`) share the drive with the smallest squared torque; bearings are taken as free of friction.

    Parameters
    ----------
    robot : MobileManipulator
        The robot.
    motion : Motion
        A Motion, a Run, or (t, q) with sampled coordinates.
    friction : float or array_like (w,)
        Coefficient, one or one for each wheel.
    load : array_like (6,), optional
        Force then couple on the tool, the same at every speed.
    contact : str, default "elastic"
        How more than three wheels share the load: "elastic", "best" or "worst".
    gravity : array_like (3,) or (N, 3), optional
        In the axes of the platform, for a slope, or for each sample its own [m/s^2].

    Returns
    -------
    SafeSpeed
        The scaling and what limits it.

    Examples
    --------
    >>> robot = dynarm.mobile.load("tanner2001")
    >>> t = np.linspace(0, 4, 81)
    >>> path = np.outer(0.5 * (1 - np.cos(np.pi * t / 4)), np.eye(len(robot.coordinate_names))[0])
    >>> robot.safe_speed((t, path), friction=0.6).scale > 1
    True
    """
    if isinstance(motion, (tuple, list)) and len(motion) == 2:
        motion = motion_through(robot, *motion)
    if not all(hasattr(motion, key) for key in ("t", "q", "z", "zd")):
        raise KindError(
            f"motion is {type(motion).__name__}; give robot.motion(t, q), a Run, or (t, q)"
        )
    eta, contact = coefficients(friction, len(robot.wheels)), contact_word(contact)
    q, z, zd = motion.q, motion.z, motion.zd
    push = _push(robot, load)
    down = None if gravity is None else _down(robot, gravity, len(q))
    still, moved = _growing(robot, q, z, zd, (push, down))
    phi = q[:, 3] if robot.guidance.steered else np.zeros(len(q))

    def window(k: int, way: str) -> Window:
        return reach(robot, float(phi[k]), still[k], difference(moved[k], still[k]), eta, way)

    windows = [window(k, contact) for k in range(len(q))]
    lowest, limits = np.sqrt([w.low for w in windows]), np.sqrt([w.high for w in windows])
    worst = int(limits.argmin())
    late = int(lowest.argmax())
    possible = bool(limits[worst] >= lowest[late] and not np.isnan(limits).any())
    scale = float(limits[worst]) if possible else 0.0
    sample = worst if possible else late
    others = {
        way: float(np.sqrt(window(sample, way).high))
        for way in CONTACTS
        if way != contact and not robot.support.determinate
    }
    at = windows[sample]
    slowest = float(lowest[late]) if possible else np.inf
    status = _status(scale, slowest, float(motion.t[sample]), at.limit)
    status += told_contact(contact, {way: _times(value) for way, value in others.items()})
    return SafeSpeed(
        scale, limits, lowest, sample, at.wheel, status, contact, at.edge, {contact: scale} | others
    )


def _push(robot: MobileManipulator, load: Given) -> np.ndarray:
    """(6,): the load, none where none is given."""
    if load is None:
        return np.zeros(6)
    wanted = "force, then couple: 6 numbers"
    push: np.ndarray = reals("load", load, wanted, robot.entry_names("load"))
    if push.shape != (6,) or not np.isfinite(push).all():
        raise InputError(f"load is {shown(load)}; give force, then couple: 6 finite numbers")
    return push


def _growing(
    robot: MobileManipulator,
    q: np.ndarray,
    z: np.ndarray,
    zd: np.ndarray,
    acting: tuple[np.ndarray, np.ndarray | None],
) -> tuple[list[Demand], list[Demand]]:
    """What each sample asks whatever the speed, and as it is driven; acting: load, gravity."""
    moved = demands(robot, q, z, zd, *acting)
    if not robot.slides:
        return demands(robot, q, 0 * z, 0 * zd, *acting), moved
    # friction of sliding is alike at every speed: two speeds tell what grows with the square
    twice = demands(robot, q, 2 * z, 4 * zd, *acting)
    pairs = zip(moved, twice, strict=True)
    return [difference(a, scaled(difference(b, a), 1 / 3)) for a, b in pairs], moved


def _down(robot: MobileManipulator, gravity: Numbers, count: int) -> np.ndarray:
    """Gravity in the axes of {v}, of all samples or of each."""
    wanted = "3 numbers, or 3 for each sample"
    x = reals("gravity", gravity, wanted, robot.entry_names("gravity"))
    if x.shape not in ((3,), (count, 3)) or not np.isfinite(x).all():
        raise InputError(f"gravity is {shown(gravity)}; give {wanted} (shape ({count}, 3)), finite")
    return x


def _times(scale: float) -> str:
    return "no speed" if np.isnan(scale) else f"{scale:.4g} times"


def _status(scale: float, lowest: float, t: float, limit: str) -> str:
    if scale == 0:
        why = limit if limit.startswith("tipping") else f"{limit} slips or lifts"
        rest = ", at rest as well" if lowest > 0 else ", though not at rest"
        return f"no speed will do: at t = {t:.6g} s {why}{rest}"
    slow = f"; below {lowest:.4g} times the robot tips or slips at rest" if lowest > 0 else ""
    if np.isinf(scale):
        return "no speed makes a wheel slip or lift" + slow
    return f"{scale:.4g} times as fast, limited at t = {t:.6g} s by {limit}" + slow
