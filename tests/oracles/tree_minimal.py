"""What the minimal parameters of a tree must fulfil, measured against a recursion that shares none of the library's."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from dynarm import Arm, minimal_parameters
from dynarm.errors import DynarmWarning
from dynarm.parameters.loads import loads
from oracles.tree_recursion import (
    Link,
    coupled_forces,
    coupled_states,
    tree_forces,
    tree_regressor,
)

TOLERANCE = 1e-12  # of the largest force or entry of the regressor
# singular values over the largest, columns of one length: of zeros rounding leaves 1e-15
RANK = 1e-12


@dataclass(frozen=True)
class Shown:
    """Number of parameters and rank of the regressor; what the parameters miss of the regressor and of the forces."""

    count: int
    rank: int
    rows: float
    forces: float


def minimal_of(arm: Arm, *args, **kwargs):
    """The minimal parameters; what is said of the tolerance is no fault of random trees."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DynarmWarning)
        return minimal_parameters(arm, *args, **kwargs)


def random_motion(arm: Arm, samples: int, seed: int = 0) -> tuple[np.ndarray, ...]:
    """Positions of independent joints, speeds and accelerations (those of a free base first), samples last."""
    rng = np.random.default_rng([seed, arm.n])
    y = rng.uniform(-3, 3, (len(arm.coupling.masters), samples))
    return y, rng.normal(size=(arm.nv, samples)) * 2, rng.normal(size=(arm.nv, samples)) * 5


def stacked(arm: Arm, motion: tuple[np.ndarray, ...], armature: bool = False) -> np.ndarray:
    """The regressor of the natural parameters, by rows; with armature eleven columns a joint."""
    Y = tree_regressor(arm, *motion)
    if not armature:
        return Y.reshape(-1, Y.shape[2])
    qdd = coupled_states(arm, *motion)[2]
    base = arm.nv - len(arm.coupling.masters)
    joints = Y[:, :, 10 if base else 0 :].reshape(*Y.shape[:2], arm.n, 10)
    drives = np.zeros((*Y.shape[:2], arm.n, 1))
    for i, (k, factor) in enumerate(zip(arm.coupling.of, arm.coupling.multipliers, strict=True)):
        drives[base + k, :, i, 0] = factor * qdd[base + i]
    wide = np.concatenate([joints, drives], axis=3).reshape(*Y.shape[:2], -1)
    return np.concatenate([Y[:, :, : 10 if base else 0], wide], axis=2).reshape(
        -1, 11 * arm.n + (10 if base else 0)
    )


def rank_of(Y: np.ndarray) -> int:
    """The numerical rank, columns that are nothing but rounding left out."""
    size = np.linalg.norm(Y, axis=0)
    there = size > 1e-11 * max(size.max(), 1e-300)
    values = np.linalg.svd(Y[:, there] / size[there], compute_uv=False)
    return int((values > RANK * values[0]).sum()) if there.any() else 0


def missed(Y: np.ndarray, matrix: np.ndarray) -> float:
    """What of the regressor is no combination of the rows of the matrix, of its largest entry."""
    inside = Y @ np.linalg.pinv(matrix) @ matrix
    return float(np.abs(Y - inside).max() / max(1.0, np.abs(Y).max()))


def forces_of(arm: Arm, mp, motion: tuple[np.ndarray, ...]) -> np.ndarray:
    """(nv, samples): forces from the values of the minimal parameters alone."""
    masses, base = loads(mp, mp.values.tolist())
    links = [Link.of_second_moments(x.m, list(x.h), list(x.Q)) for x in (*masses, base)]
    free = links[-1] if arm.floating else None
    forces = tree_forces(arm, links[:-1], free, *coupled_states(arm, *motion))
    own = coupled_forces(arm, forces)
    return np.array([np.broadcast_to(f, motion[0].shape[1:]) for f in own])


def shown(arm: Arm, convention: str = "lin1995") -> Shown:
    """Everything at once, on as many states as the rank needs."""
    mp = minimal_of(arm, convention)
    motion = random_motion(arm, 12 + 20 * len(arm.link_names) // arm.nv)
    Y = stacked(arm, motion)
    R = np.linalg.qr(Y, mode="r")  # as many rows as columns, and the same row space
    wanted = (Y @ arm.parameters.ravel()).reshape(arm.nv, -1)
    off = np.abs(forces_of(arm, mp, motion) - wanted).max() / max(1.0, np.abs(wanted).max())
    return Shown(mp.count, rank_of(R), missed(R, mp.matrix), float(off))
