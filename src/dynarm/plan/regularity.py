"""Whether an arm has accelerations to compute: a mass matrix that is singular in every pose has none."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from ..dynamics.table import formulation
from ..errors import ModelError
from ..robot.arm import Arm
from ..robot.frames.chain import chain_of, pose

POSES = 8  # at random: one regular pose among them is enough
SMALLEST = (
    1e-13  # eigenvalue of the mass matrix, its diagonal scaled to one, that rounding leaves of zero
)


@lru_cache(maxsize=256)
def check_regular(arm: Arm, drives: bool = False) -> None:
    """Refuse an arm whose mass matrix (drives: with the joints' armatures) is singular in every pose."""
    M = _mass_matrices(arm)
    if drives:
        M = M + np.diag([j.armature for j in arm.joints])
    scale = np.sqrt(np.abs(np.einsum("...ii->...i", M)))
    for moved, joint in zip(scale.T, arm.joints, strict=True):
        if not moved.any():
            raise ModelError(
                f"joint '{joint.name}' of robot '{arm.name}' moves no inertia, so its acceleration is undefined; "
                "give its links mass, or an armature and compile with friction=True"
            )
    usable = scale.all(axis=-1)
    unit = M[usable] / (scale[usable, :, None] * scale[usable, None, :])
    if not (np.abs(np.linalg.eigvalsh(unit)).min(axis=-1) >= SMALLEST).any():
        raise ModelError(
            f"the mass matrix of robot '{arm.name}' is singular in every pose; give more of its links mass or "
            "inertia, or armatures and compile with friction=True"
        )


def _mass_matrices(arm: Arm) -> np.ndarray:
    """(POSES, n, n), of rigid bodies."""
    q = np.random.default_rng(0).uniform(-1, 1, (arm.n, POSES))
    chain = chain_of(arm)
    function = formulation("mass_matrix", "composite_1").function
    assert function is not None
    rows = function(chain, pose(chain, list(q)))
    entries = [[np.broadcast_to(x, POSES) for x in row] for row in rows]
    return np.array(entries, float).transpose(2, 0, 1)
