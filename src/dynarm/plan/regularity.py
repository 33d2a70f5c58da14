"""Whether an arm has accelerations to compute: a mass matrix that is singular in every pose has none."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from ..dynamics.table import formulation
from ..errors import ModelError
from ..robot.arm import Arm
from .scene import Options, Scene

POSES = 8  # at random: one regular pose among them is enough
# eigenvalue of the mass matrix, its diagonal scaled to one, that rounding leaves of zero
SMALLEST = 1e-13


@lru_cache(maxsize=256)
def check_regular(arm: Arm, drives: bool = False) -> None:
    """Refuse an arm whose mass matrix (drives: with the joints' armatures) is singular in every pose."""
    M = _mass_matrices(arm, drives)
    idle = idle_speed(M)
    if idle is not None:
        raise ModelError(
            f"joint '{arm.speed_names[idle]}' of robot '{arm.name}' moves no inertia, so its acceleration is "
            "undefined; give its links mass, or an armature and compile with friction=True"
        )
    if not regular(M):
        raise ModelError(
            f"the mass matrix of robot '{arm.name}' is singular in every pose; give more of its links mass or "
            "inertia, or armatures and compile with friction=True"
        )


def idle_speed(M: np.ndarray) -> int | None:
    """The first speed that moves no inertia in any of the poses, of mass matrices (poses, n, n); None: all do."""
    idle = np.flatnonzero(~np.einsum("...ii->...i", M).any(axis=0))
    return int(idle[0]) if len(idle) else None


def regular(M: np.ndarray) -> bool:
    """Whether one of the mass matrices (poses, n, n) can be inverted."""
    scale = np.sqrt(np.abs(np.einsum("...ii->...i", M)))
    usable = scale.all(axis=-1)
    unit = M[usable] / (scale[usable, :, None] * scale[usable, None, :])
    return bool((np.abs(np.linalg.eigvalsh(unit)).min(axis=-1) >= SMALLEST).any())


def _mass_matrices(arm: Arm, drives: bool) -> np.ndarray:
    """(POSES, nv, nv), for the independent joints and a free base."""
    q = np.random.default_rng(0).uniform(-1, 1, (arm.nq, POSES))
    if arm.floating:
        q[3:7] /= np.linalg.norm(q[3:7], axis=0)
    row = formulation("mass_matrix", "composite_1" if arm.serial else "gathered_composite")
    scene = Scene(arm, Options(friction=drives), {"mass_matrix": row}, {"q": list(q)})
    entries = [[np.broadcast_to(x, POSES) for x in row] for row in scene.mass_matrix]
    return np.array(entries, float).transpose(2, 0, 1)
