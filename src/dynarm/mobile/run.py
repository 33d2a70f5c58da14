"""The record of a simulated motion on wheels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..border.words import brief
from ..simulation.run import EnergyBooks
from .stability import Tipover


@dataclass(frozen=True, slots=True)
class RollingEvent:
    """A moment at which a condition of rolling is lost or found again."""

    t: float
    kind: str  # "contact" or "adhesion"
    wheel: str  # with more than three wheels, for contact, the two between which the tip-over axis runs
    lost: bool


@dataclass(frozen=True, eq=False)
class MobileRun(EnergyBooks):
    """A simulated motion on a grid of times, with everything about the ground.

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
    tau : ndarray
        Inputs (N, inputs) [N m].
    kinetic : ndarray
        Kinetic energy (N,) [J].
    potential : ndarray
        Potential energy (N,) [J].
    work : ndarray
        Work of the inputs until each time [J].
    loss : ndarray
        Energy lost in friction until each time [J].
    wheel_forces : ndarray
        Forces (N, w, 3) on the wheels [N].
    friction_needed : ndarray
        Coefficient (N, w) that keeps each wheel from slipping.
    tipover : Tipover
        Tip-over angles and measure.
    events : tuple[RollingEvent, ...]
        Losses of contact and adhesion.
    status : str
        One sentence.
    contact : str
        How more than three wheels share the load.

    Examples
    --------
    >>> robot = dynarm.mobile.load("tanner2001")
    >>> q, z = np.zeros(len(robot.coordinate_names)), np.zeros(len(robot.speed_names))
    >>> run = robot.simulate(q, z, 0.2, torque=robot.hold(q))
    >>> run.energy.shape == run.t.shape
    True
    """

    t: np.ndarray  # (N,)
    q: np.ndarray  # (N, coordinates)
    z: np.ndarray  # (N, speeds)
    zd: np.ndarray
    tau: np.ndarray  # (N, inputs)
    kinetic: np.ndarray  # (N,) [J]
    potential: np.ndarray
    work: np.ndarray  # (N,) that inputs and load have done since the start [J]
    loss: np.ndarray  # (N,) that friction has taken since the start [J]
    wheel_forces: np.ndarray  # (N, w, 3) [N]
    friction_needed: np.ndarray  # (N, w)
    tipover: Tipover
    events: tuple[RollingEvent, ...]
    status: str
    contact: str = "elastic"  # how more than three wheels share the load

    __repr__ = brief

    @property
    def measure(self) -> np.ndarray:
        """Tip-over measure (N,) [N rad]; negative where the motion is formal."""
        return self.tipover.measure

    @property
    def intervals(self) -> tuple[tuple[float, float], ...]:
        """Spans of time in which the measure is negative, their ends interpolated."""
        return negative_spans(self.t, self.measure)


def negative_spans(t: np.ndarray, values: np.ndarray) -> tuple[tuple[float, float], ...]:
    """Where a sampled signal is negative: (from, to), with straight lines between the samples."""
    below = values < 0
    edges = np.flatnonzero(below[1:] != below[:-1])
    crossings = [
        float(t[k] - values[k] * (t[k + 1] - t[k]) / (values[k + 1] - values[k])) for k in edges
    ]
    marks = ([float(t[0])] if below[0] else []) + crossings + ([float(t[-1])] if below[-1] else [])
    return tuple(zip(marks[::2], marks[1::2], strict=True))
