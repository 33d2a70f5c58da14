"""MuJoCo as an oracle for MJCF files: mj_rne and mj_fullM of the model that it loads itself, in an arm's coordinates.

The arm's joints are found by name. Conventions of free joints and couplings are those of `mujoco_tree.py`.
"""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np

from dynarm import Arm
from oracles.mujoco_tree import MujocoTree


def file_oracle(path: Any, arm: Arm, armature: bool = False) -> MujocoTree:
    """The twin of an arm by the file itself; armature, which dynarm adds on request only, is taken out."""
    spec = mujoco.MjSpec.from_file(str(path))
    for joint in () if armature else spec.joints:
        joint.armature = 0  # before compiling: MuJoCo keeps constant entries of the mass matrix
    model = spec.compile()
    places = [int(model.joint(str(joint.name)).dofadr[0]) for joint in arm.joints]
    coupling = arm.coupling
    G = np.zeros((arm.n, len(coupling.masters)))
    for i, (of, factor) in enumerate(zip(coupling.of, coupling.multipliers, strict=True)):
        G[i, of] = factor
    data = mujoco.MjData(model)
    free = arm.floating is not None
    return MujocoTree(model, data, np.array(places, int), G, np.array(coupling.offsets), free)
