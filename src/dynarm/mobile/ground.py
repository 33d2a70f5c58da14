"""The ground under a planned motion: what each wheel carries, what it needs to hold, and how far it is to tipping."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..border.kinds import Given, Numbers
from ..border.words import brief
from .planned import NOTHING
from .sharing import contact_word, shared
from .springs import LIFTED

if TYPE_CHECKING:
    from .robot import MobileManipulator

_HUGE = 1e12  # no coefficient


@dataclass(frozen=True, slots=True, eq=False)
class Ground:
    """Unilateral ground forces of a planned motion (or a batch); `contact`: how more than three wheels share the load.

    Axle forces that statics leaves open are split with the smallest norm; `limits` and `admissible` ask whether any
    split holds, so that a wheel here may need more friction than they do.

    Where the measure is negative no upward forces balance the load: the robot tips over that edge, and `forces` are
    those of the moment of tipping. What is not finite in the state is NaN here, and no verdict.

    Attributes
    ----------
    forces : ndarray
        Forces (..., w, 3) on each wheel: rolling, axle, up [N].
    needed : ndarray
        `friction` (..., w), with a huge number in place of infinity.
    angles : ndarray
        Angles (..., edges) to tipping over each side of the support polygon, (9) [rad].
    measure : ndarray
        Tip-over measure (...); negative where the robot tips.
    load : ndarray
        Force and moment (..., 6) on the ground, about the origin of {v} [N, N m].
    axes : tuple[tuple[str, str], ...]
        The wheels between which the edges of the support polygon run.
    wheels : tuple[str, ...]
        Names of the wheels.
    contact : str, default "elastic"
        How more than three wheels share the load.

    Examples
    --------
    >>> robot = dynarm.mobile.load("tanner2001")
    >>> q, z = np.zeros(len(robot.coordinate_names)), np.zeros(len(robot.speed_names))
    >>> ground = robot.ground(q, z, z)
    >>> ground.lifted
    array([False, False, False])
    """

    forces: np.ndarray  # (..., w, 3) [N]: rolling, axle, up; up is never negative
    needed: np.ndarray  # (..., w): `friction`, with a huge number for infinity
    angles: np.ndarray  # (..., edges) [rad] to tipping over each side of the support polygon, (9)
    # (...) [N rad]: smallest angle times the size of the load; negative: it tips
    measure: np.ndarray
    load: np.ndarray  # (..., 6) force [N] and moment [N m] on the ground, about the origin of {v}
    axes: tuple[tuple[str, str], ...]  # the wheels between which each edge runs
    wheels: tuple[str, ...]
    contact: str = "elastic"

    __repr__ = brief

    @property
    def friction(self) -> np.ndarray:
        """(..., w): smallest coefficient that holds each wheel; infinite for one pushed without load."""
        sideways = np.hypot(self.forces[..., 0], self.forces[..., 1])
        idle = sideways <= LIFTED * np.abs(self.load[..., 2:3])
        return np.where(idle, 0.0, np.where(self.needed > _HUGE, np.inf, self.needed))

    @property
    def lifted(self) -> np.ndarray:
        """(..., w): whether each wheel carries nothing."""
        up = self.forces[..., 2]
        known = np.isfinite(up)
        lifted: np.ndarray = known & (up <= LIFTED * np.abs(self.load[..., 2:3]))
        return lifted

    @property
    def edge(self) -> np.ndarray:
        """(...): which of `axes` is nearest to tipping."""
        return np.asarray(np.argmin(self.angles, axis=-1))

    @property
    def degrees(self) -> np.ndarray:
        """(...): degrees to tipping, negative where it tips."""
        return np.asarray(np.degrees(self.angles.min(-1)))

    @property
    def status(self) -> str:
        """One sentence about the worst sample, and by which contact."""
        way = f"(contact {self.contact})"
        if not np.isfinite(self.measure).all():
            return f"unknown: the state or what acts on it is not finite {way}"
        if not self.measure.size:
            return f"no states {way}"
        up = -self.load[..., 2]
        if (up <= LIFTED * np.abs(self.load[..., :3]).max(-1)).any():
            return (
                f"no load on any wheel: the force on the ground is {float(up.min()):.4g} N, so that the robot neither "
                f"stands nor tips; look at gravity and load {way}"
            )
        k = np.unravel_index(int(np.argmin(self.measure)), self.measure.shape)
        first, second = self.axes[int(self.edge[k])]
        worst = f"{float(self.degrees[k]):.3g} degrees, measure {float(self.measure[k]):.4g} N rad"
        if self.measure[k] < 0:
            return f"tips over the line from {first} to {second} ({worst}) {way}"
        idle = [name for name, off in zip(self.wheels, self.lifted[k], strict=True) if off]
        lifted = f"; {', '.join(idle)} carries nothing" if idle else ""
        return f"stands: {worst} to the line from {first} to {second}{lifted} {way}"


def ground_of(
    robot: MobileManipulator,
    q: Numbers,
    z: Numbers,
    zd: Numbers,
    gravity: Given,
    load: Given,
    contact: str,
    threads: int | None = None,
) -> Ground:
    """The ground under a planned motion."""
    contact = contact_word(contact)
    given = q, z, zd, *robot.acting(gravity, load)
    forces, needed, angles, measure, acting = robot.call("ground", *given, threads=threads)[:5]
    forces += 0.0  # no minus before a zero
    names = robot.wheel_names
    if contact != "elastic":
        forces = shared(robot, contact, acting, forces)
        needed = np.hypot(forces[..., 0], forces[..., 1]) / (forces[..., 2] + NOTHING)
    return Ground(forces, needed, angles, measure, acting, robot.tip_axes, names, contact)
