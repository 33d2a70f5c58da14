"""How fast a given motion may be driven: the largest time scaling for which no wheel slips or lifts.

Driven s times as fast, a motion has the same path, speeds s z and accelerations s^2 zd; everything the ground must
carry is a constant (weight, load) plus s^2 times the rest. The forces that statics leaves open and s^2 are then the
unknowns of one small cone program a sample, whose largest s^2 is exact: the feasible set is convex.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..border.arguments import reals, shown
from ..border.kinds import Given, Numbers
from ..border.words import brief
from ..errors import InputError, KindError
from .admissibility import coefficients, self_stresses
from .cones import Affine, maximise
from .constraints import roller

if TYPE_CHECKING:
    from .robot import MobileManipulator

_ROLLS = 1e-6  # sideways speed at a wheel, relative to the motion's, that still counts as rolling


@dataclass(frozen=True, slots=True, eq=False)
class Motion:
    """A motion on a grid of times: coordinates, independent speeds, accelerations."""

    t: np.ndarray
    q: np.ndarray
    z: np.ndarray
    zd: np.ndarray

    __repr__ = brief


@dataclass(frozen=True, slots=True, eq=False)
class SafeSpeed:
    """The largest time scaling of a motion, and what limits it."""

    scale: (
        float  # 1: as given; 2: twice as fast; infinite if nothing limits it, 0 if no speed will do
    )
    limits: np.ndarray  # (N,): the same for each sample alone
    lowest: np.ndarray  # (N,): slowest scaling of each sample; 0 where the robot can stand still
    sample: int  # which sample sets the scale
    wheel: str | None  # which wheel slips or lifts there
    status: str

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
    for wheel in robot.wheels:
        if wheel.guides:
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
            "a motion must roll: build it from speeds (robot.simulate) or correct the path"
        )
    moving = [twist[:, 0]] if g.moving == 1 else [twist[:, 0], twist[:, 2]]
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
    robot: MobileManipulator, motion: Motion, friction: Numbers, load: Given = None
) -> SafeSpeed:
    """The largest s such that the motion, driven s times as fast, keeps every wheel in its friction cone.

    motion    a Motion, a Run, or (t, q) with sampled coordinates
    friction  coefficient, one or one a wheel
    load      (6,) on the end effector, the same at every speed

    Driven wheels (`driven`) share the drive with the smallest squared torque; bearings are taken as free of friction.
    """
    if isinstance(motion, (tuple, list)) and len(motion) == 2:
        motion = motion_through(robot, *motion)
    if not all(hasattr(motion, key) for key in ("t", "q", "z", "zd")):
        raise KindError(
            f"motion is {type(motion).__name__}; give robot.motion(t, q), a Run, or (t, q)"
        )
    eta = coefficients(friction, len(robot.wheels))
    q, z, zd = motion.q, motion.z, motion.zd
    wanted, names = "force, then couple: 6 numbers", robot.entry_names("load")
    push = np.zeros(6) if load is None else reals("load", load, wanted, names)
    if push.shape != (6,) or not np.isfinite(push).all():
        raise InputError(f"load is {shown(load)}; give force, then couple: 6 finite numbers")
    still = _demand(robot, q, 0 * z, 0 * zd, push)
    moving = tuple(a - b for a, b in zip(_demand(robot, q, z, zd, push), still, strict=True))
    windows = [
        _window(robot, float(q[k, 3]) if robot.guidance.steered else 0.0, *parts, eta)
        for k, parts in enumerate(
            zip(zip(*still, strict=True), zip(*moving, strict=True), strict=True)
        )
    ]
    lowest, limits = np.sqrt([w.low for w in windows]), np.sqrt([w.high for w in windows])
    worst = int(limits.argmin())
    late = int(lowest.argmax())
    possible = bool(limits[worst] >= lowest[late] and not np.isnan(limits).any())
    scale = float(limits[worst]) if possible else 0.0
    sample = worst if possible else late
    wheel = windows[sample].wheel
    t = float(motion.t[sample])
    return SafeSpeed(
        scale, limits, lowest, sample, wheel, _status(scale, float(lowest[late]), t, wheel)
    )


def _status(scale: float, lowest: float, t: float, wheel: str | None) -> str:
    if scale == 0:
        return f"no speed will do: at t = {t:.6g} s {wheel} slips or lifts, at rest as well"
    slow = f"; below {lowest:.4g} times the robot tips or slips at rest" if lowest > 0 else ""
    if np.isinf(scale):
        return "no speed makes a wheel slip or lift" + slow
    return f"{scale:.4g} times as fast, limited at t = {t:.6g} s by {wheel}" + slow


class _Window(NamedTuple):
    """Smallest and largest s^2 of one sample, and the wheel that limits it."""

    low: float
    high: float
    wheel: str | None


def _demand(
    robot: MobileManipulator, q: np.ndarray, z: np.ndarray, zd: np.ndarray, load: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Load on the ground (N, 6) and rolling force of each wheel (N, w) of a prescribed motion."""
    needed, ground, push = robot.call("prescribed", q, z, zd, load)[:3]
    B = robot.call("equations", q, z)[2]
    w = len(robot.wheels)
    driven = [j for j in robot.formulas.rolling if robot.wheels[j].driven]
    p = robot.guidance.moving
    drive = B[:, :p, driven]  # (N, p, d)
    tau = np.einsum("ndp,np->nd", np.linalg.pinv(drive), needed[:, :p])
    lacks = np.abs(np.einsum("npd,nd->np", drive, tau) - needed[:, :p]).max()
    if lacks > 1e-8 * (1 + np.abs(needed[:, :p]).max()):
        raise InputError("the driven wheels cannot produce this motion; let more wheels be driven")
    total = push.copy()
    total[:, driven] += tau / np.array([robot.wheels[j].radius for j in driven])
    assert total.shape[1] == w
    return ground, total


def _window(
    robot: MobileManipulator,
    phi: float,
    still: tuple[np.ndarray, np.ndarray],
    moving: tuple[np.ndarray, np.ndarray],
    eta: np.ndarray,
) -> _Window:
    """The s^2 for which some distribution of the open forces keeps every wheel in its cone."""
    vertical, axle = self_stresses(robot, phi)
    a, b = vertical.shape[1], axle.shape[1]
    base, slope = (_spread(robot, phi, *part) for part in (still, moving))
    size = max(float(np.abs(base).max()), 1e-300)
    reach = max(float(np.abs(slope).max()), 1e-12 * size)
    names, blocks = [], []
    for j, wheel in enumerate(robot.wheels):
        # unknowns: self-stresses, then s^2 measured in units of size / reach
        up = (np.concatenate([vertical[j], np.zeros(b), [slope[j, 2] / reach]]), base[j, 2] / size)
        side = (np.concatenate([np.zeros(a), axle[j], [slope[j, 1] / reach]]), base[j, 1] / size)
        roll = (np.concatenate([np.zeros(a + b), [slope[j, 0] / reach]]), base[j, 0] / size)
        blocks.append([up])
        if wheel.guides:
            blocks.append([(eta[j] * up[0], eta[j] * up[1]), roll, side])
        names += [robot.wheel_names[j]] * (2 if wheel.guides else 1)
    goal = np.zeros(a + b + 1)
    goal[-1] = 1.0
    cone = [*blocks, [(goal, 0.0)]]
    # bounded below, so that it decides whether there is any s at all
    first, low = maximise(-goal, cone)
    if first != "solved":
        margins = np.minimum(eta * base[:, 2] - np.hypot(base[:, 0], base[:, 1]), base[:, 2])
        return _Window(np.inf, np.nan, robot.wheel_names[int(np.argmin(margins))])
    slowest = 0.0 if low[-1] < 1e-7 else float(low[-1]) * size / reach
    status, high = maximise(goal, cone)
    if status != "solved":
        return _Window(slowest, np.inf, None)
    left = [float(_left(block, high)) for block in blocks]
    return _Window(slowest, max(float(high[-1]), 0.0) * size / reach, names[int(np.argmin(left))])


def _left(block: Sequence[Affine], x: np.ndarray) -> float:
    """What a cone condition leaves at x."""
    first, *others = (float(row @ x + constant) for row, constant in block)
    return first - float(np.linalg.norm(others))


def _spread(
    robot: MobileManipulator, phi: float, ground: np.ndarray, push: np.ndarray
) -> np.ndarray:
    """(w, 3): forces on the wheels that answer a load, the open parts with the smallest norm."""
    h = robot.platform.height
    answer = np.array([-ground[2], h * ground[1] - ground[3], -h * ground[0] - ground[4]])
    forces = np.zeros((len(robot.wheels), 3))
    forces[:, 0], forces[:, 2] = push, robot.support.share @ answer
    rolling = list(robot.formulas.rolling)
    at = [roller(robot.wheels[j], robot.platform.steering, phi) for j in rolling]
    G = np.array([tuple(r.skid) for r in at], float).T
    rest = -ground[[0, 1, 5]] - np.array([tuple(r.roll) for r in at], float).T @ push[rolling]
    forces[rolling, 1] = np.linalg.pinv(G, rcond=1e-9) @ rest
    return forces
