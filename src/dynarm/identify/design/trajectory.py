"""Periodic motions as finite Fourier series that start and end at rest, and the record of one.

q = c + sum (a_l sin(l w t) - b_l cos(l w t)) / (l w),  l = 1 ... harmonics,  w = 2 pi / period
qd(0) = sum a_l = 0,  qdd(0) = w sum l b_l = 0
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field

import numpy as np

from ...border.arguments import path_of, real, whole
from ...border.kinds import Outside
from ...border.written import drafted
from ...errors import InputError
from ..tables import html_table, plain_table

MOST = 200  # harmonics
_HEADS = ("joint", "lowest", "highest", "top speed", "top acceleration")
LONGEST = 1e5  # seconds of a motion


@dataclass(frozen=True, slots=True)
class Series:
    """The basis of the series: a joint has 2 harmonics + 1 coefficients [c, a_1 ..., b_1 ...]."""

    period: float
    harmonics: int

    @property
    def size(self) -> int:
        return 2 * self.harmonics + 1

    def basis(self, t: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(N, size) matrices that give q, qd, qdd at times t from a joint's coefficients."""
        w = 2 * np.pi / self.period * np.arange(1, self.harmonics + 1)
        phase = np.outer(t, w)
        s, c = np.sin(phase), np.cos(phase)
        one, nil = np.ones((len(t), 1)), np.zeros((len(t), 1))
        return (
            np.hstack([one, s / w, -c / w]),
            np.hstack([nil, c, s]),
            np.hstack([nil, -s * w, c * w]),
        )

    def rest(self) -> np.ndarray:
        """(2, size): rows whose products with the coefficients vanish for a start at rest."""
        order = np.arange(1, self.harmonics + 1)
        rows = np.zeros((2, self.size))
        rows[0, 1 : 1 + self.harmonics] = 1.0
        rows[1, 1 + self.harmonics :] = order / self.harmonics
        return rows

    def random(self, rng: np.random.Generator, n: int) -> np.ndarray:
        """(n, size) coefficients of random motions that start at rest, of velocities about one."""
        null = np.linalg.svd(self.rest())[2][2:]
        return np.asarray(rng.normal(size=(n, len(null))) @ null)


@dataclass(frozen=True, slots=True, eq=False)
class KeptLimits:
    """What a motion was held within, in numbers; pairs are of names of links.

    position (n, 2), velocity, acceleration, torque (n,): limits of the joints, torque None where none is known; box:
    corners (2, 3) of the tools [m]; floor: height in the base link [m], None where none was kept; home (n,): where the
    motion starts and ends; pairs, left: of links that were held apart, and that were not though joints move them.
    """

    position: np.ndarray
    velocity: np.ndarray
    acceleration: np.ndarray
    torque: np.ndarray | None
    box: np.ndarray | None
    floor: float | None
    home: np.ndarray
    pairs: tuple[tuple[str, str], ...] = ()
    left: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Trajectory:
    """A motion to record a log with.

    Attributes
    ----------
    t : ndarray
        Times (N,) [s].
    q : ndarray
        Positions (N, n).
    qd : ndarray
        Velocities (N, n).
    qdd : ndarray
        Accelerations (N, n).
    condition : float
        Condition number of the regressor along the motion, its columns scaled to length
        one.
    joint_names : tuple[str, ...]
        Names of the joints.
    joint_conditions : tuple[float, ...], optional
        Of each joint's own problem A_i in the recursive procedure.
    random : tuple[float, ...], optional
        The same number for random motions within the limits of the joints.
    status : str, default ""
        What to know about the motion.
    checked : tuple[str, ...], optional
        What the motion was kept away from, in sentences.
    unchecked : tuple[str, ...], optional
        What it was not.
    kept : KeptLimits, optional
        What the motion was held within, in numbers.
    tau : ndarray, optional
        Torques (N, n) that it takes, by the arm's own parameters.

    Examples
    --------
    >>> motion = dynarm.excite(dynarm.load("two_link"), 5.0, harmonics=2, starts=1, iterations=10)
    >>> motion.condition < min(motion.random)
    True
    """

    t: np.ndarray
    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray
    condition: float
    joint_names: tuple[str, ...]
    joint_conditions: tuple[float, ...] = ()
    random: tuple[float, ...] = field(default=())
    status: str = ""
    checked: tuple[str, ...] = ()  # what the motion was held off, in sentences
    unchecked: tuple[str, ...] = ()  # what it was not
    kept: KeptLimits | None = None
    tau: np.ndarray | None = None  # torques that it takes, by the arm's own parameters

    def __repr__(self) -> str:
        return (
            f"<dynarm.Trajectory of {self.q.shape[1]} joints: {len(self.t)} samples, {self.t[-1]:g} s, "
            f"condition number {self.condition:.3g}>"
        )

    def __str__(self) -> str:
        return plain_table(repr(self), _HEADS, self._rows())

    def _repr_html_(self) -> str:
        return html_table(repr(self).strip("<>"), _HEADS, self._rows())

    def _rows(self) -> list[tuple[str, ...]]:
        """For each joint its range, top speed and top acceleration."""
        tops = (np.abs(x).max(axis=0) for x in (self.qd, self.qdd))
        columns = (self.joint_names, self.q.min(axis=0), self.q.max(axis=0), *tops)
        return [
            (str(name), *(f"{x:.4g}" for x in numbers))
            for name, *numbers in zip(*columns, strict=True)
        ]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write t, q, qd, qdd to a CSV file; nothing is left half-written.

        Parameters
        ----------
        path : path-like
            The CSV file to write.

        Examples
        --------
        >>> motion.save("motion.csv")
        >>> open("motion.csv").readline()[:2]
        't,'
        """
        n = self.q.shape[1]
        head = ["t", *(f"{word}{j + 1}" for word in ("q", "qd", "qdd") for j in range(n))]
        table = np.column_stack([self.t, self.q, self.qd, self.qdd])
        with drafted(path_of("path", path, "the name of a .csv file")) as draft:
            np.savetxt(draft, table, delimiter=",", header=",".join(head), comments="", fmt="%.9g")


def check_series(duration: float, harmonics: int, period: float | None) -> Series:
    """The series of a duration: whole periods of about ten seconds, unless one is given."""
    duration = seconds("duration", duration)
    harmonics = whole("harmonics", harmonics, 2, MOST)
    if period is None:
        period = duration / max(1, round(duration / 10))
    else:
        period = seconds("period", period)
        if period > duration or abs(duration / period - round(duration / period)) > 1e-9:
            raise InputError(f"period {period} s does not divide the duration {duration} s")
    return Series(period, harmonics)


def seconds(what: str, value: Outside) -> float:
    """A time that passes, or an error that says what came."""
    wanted = f"seconds, more than 0 and at most {LONGEST:g}"
    return real(what, value, wanted, lambda x: 0 < x <= LONGEST)
