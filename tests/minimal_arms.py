"""The 2000 arms on which the minimal parameters are proved: random and structured, all kinds of gravity."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np

from dynarm import Arm
from strategies import random_arm, random_rotation

COUNT = 2000
GRAVITY = ("along", "across", "generic", "zero")
TWISTS = ("structured", "mixed", "generic")
OFFSETS = ("mixed", "structured", "generic")


def first_axis(arm: Arm) -> np.ndarray:
    """The axis of the first rotational joint (without one: of the last joint) in the base link, in the zero pose."""
    T = arm.base_pose
    for joint in arm.joints:
        T = T @ joint.displacement()
        if joint.revolute:
            break
    return T[:3, 2]


@lru_cache(maxsize=COUNT)
def minimal_arm(k: int) -> Arm:
    """Arm k: 1 to 8 joints, rotational to translational 2:1, named after what is special about it."""
    rng = np.random.default_rng([1995, k])
    gravity, twists, offsets = GRAVITY[k % 4], TWISTS[k // 4 % 3], OFFSETS[k // 12 % 3]
    n = int(rng.integers(1, 9))
    arm = random_arm(
        rng, n, "mixed", twists, offsets, "z", name=f"{k}_{gravity}_{twists}_{offsets}"
    )
    u, R = first_axis(arm), random_rotation(rng)
    g = {"along": u, "across": np.cross(u, R[:, 0]), "generic": R[:, 1], "zero": np.zeros(3)}[
        gravity
    ]
    size = np.linalg.norm(g)
    return replace(arm, gravity=tuple((g / size * 9.81 if size else g).tolist()))
