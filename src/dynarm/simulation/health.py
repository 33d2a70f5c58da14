"""How a run went: its record, and why it ended early."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..algebra.ldl import factorise
from .plant import Plant
from .system import System

BLOWN = 1e5  # a joint velocity [rad/s or m/s] at which a motion has blown up
# smallest eigenvalue of a mass matrix with a unit diagonal that can still be solved with
SINGULAR = 1e-13
NEARLY = 1e-7  # the same of a pose in which a motion broke down

Progress = Callable[[float], object]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an integration leaves behind; arrays have time first."""

    t: np.ndarray
    x: np.ndarray  # (..., layout.size): q, qd, work of the inputs, what friction took
    tau: np.ndarray
    push: np.ndarray | None
    status: str = "success"
    message: str = ""
    reached: float | np.ndarray = np.nan  # last good time, (N,) for a batch
    evaluations: int = 0
    steps: int = 0


def solvable(system: System, q: np.ndarray) -> np.ndarray:
    """Smallest pivot of the mass matrix at q after its diagonal is scaled to one; 0 where that is impossible."""
    with np.errstate(all="ignore"):
        M = system.mass_matrix(q)
        scale = np.sqrt(np.maximum(np.einsum("...ii->...i", M), 0))
        unit = M / (scale[..., :, None] * scale[..., None, :])
        if q.ndim == 1 and np.isfinite(unit).all():
            return _pivot(unit)
        rows = [[unit[..., i, j] for j in range(i + 1)] for i in range(unit.shape[-1])]
        pivots = 1 / np.array(factorise(rows).inverse)
        smallest: np.ndarray = np.where(np.isfinite(pivots), pivots, 0.0).min(axis=0)
        return smallest


def _pivot(unit: np.ndarray) -> np.ndarray:
    """The same of one matrix: LAPACK is quicker than a graph of NumPy scalars."""
    try:
        return np.asarray(np.square(np.diagonal(np.linalg.cholesky(unit))).min())
    except np.linalg.LinAlgError:
        return np.zeros(())


def singular_start(plant: Plant, q: np.ndarray) -> str:
    """Why no acceleration can be computed in the first pose, or an empty string."""
    smallest = np.atleast_1d(solvable(plant, q))
    bad = np.flatnonzero(~(smallest > SINGULAR))
    if not len(bad):
        return ""
    arm, which = plant.model.arm, f"sample {bad[0]}: " if q.ndim > 1 else ""
    M = plant.mass_matrix(q)
    diagonal = np.einsum("...ii->...i", M).reshape(-1, arm.nv)
    idle = np.flatnonzero(~(diagonal[bad[0]] > 0))
    if len(idle):
        why = (
            f"joint '{arm.speed_names[idle[0]]}' moves no inertia, so its acceleration is undefined"
        )
    else:
        why = "the joints' inertias are not independent in this pose"
    return (
        f"{which}the mass matrix of robot '{arm.name}' is singular at t = 0 s: {why}; give its links mass or "
        "inertia, or armatures and compile with friction=True, or start from another pose"
    )


def cause(system: System, t: float, q: np.ndarray, qd: np.ndarray, hint: str) -> tuple[str, str]:
    """Status and message of a motion whose last good state (one sample) is q, qd at time t."""
    speed = float(np.abs(qd).max())
    smallest = float(solvable(system, q))
    if smallest < NEARLY:
        return "singular", (
            f"the mass matrix is singular near t = {t:.6g} s (its smallest pivot, diagonal scaled to one, is "
            f"{smallest:.2g}); give the links mass or inertia, or armatures and compile with friction=True"
        )
    if speed > 1e2:
        return "step", (
            f"the motion blew up at t = {t:.6g} s (largest joint velocity {speed:.3g}); {hint}"
        )
    return "nan", (
        f"the state is no longer finite after t = {t:.6g} s (largest joint velocity {speed:.3g}); {hint}"
    )
