"""Periodic motions as finite Fourier series that start and end at rest, and the record of one.

q = c + sum (a_l sin(l w t) - b_l cos(l w t)) / (l w),  l = 1 ... harmonics,  w = 2 pi / period
qd(0) = sum a_l = 0,  qdd(0) = w sum l b_l = 0
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ..errors import FileError, InputError


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
        return rng.normal(size=(n, len(null))) @ null


@dataclass(frozen=True, slots=True, eq=False)
class Trajectory:
    """A motion to record a log with. condition: of the regressor along it, columns of length one.

    random: the same for random motions within the same limits; joint_conditions: of each joint's own problem A_i in
    the recursive procedure.
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

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write t, q, qd, qdd to a CSV file; nothing is left half-written."""
        n = self.q.shape[1]
        head = ["t", *(f"{word}{j + 1}" for word in ("q", "qd", "qdd") for j in range(n))]
        table = np.column_stack([self.t, self.q, self.qd, self.qdd])
        target = Path(path)
        part = target.with_name(target.name + ".part")
        try:
            np.savetxt(part, table, delimiter=",", header=",".join(head), comments="", fmt="%.9g")
            os.replace(part, target)
        except OSError as error:
            part.unlink(missing_ok=True)
            raise FileError(f"{path}: cannot be written ({error.strerror})") from None


def check_series(duration: float, harmonics: int, period: float | None) -> Series:
    """The series of a duration: whole periods of about ten seconds, unless one is given."""
    if not duration > 0:
        raise InputError(f"duration is {duration!r}; give seconds")
    if harmonics != int(harmonics) or harmonics < 2:
        raise InputError(f"harmonics is {harmonics!r}; give a whole number of at least 2")
    if period is None:
        period = duration / max(1, round(duration / 10))
    elif abs(duration / period - round(duration / period)) > 1e-9:
        raise InputError(f"period {period} s does not divide the duration {duration} s")
    return Series(float(period), int(harmonics))
