"""The 2000 arms on which the minimal parameters are proved, random and structured, and what they are compared with."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np

from dynarm import Arm
from dynarm.dynamics.papers.minimal_parameters_lin1995 import layout
from oracles.pinocchio_arm import pinocchio_model
from strategies import random_arm, random_rotation, random_states

COUNT = 2000
TOLERANCE = 1e-12  # times the largest entry of the reference, or 1
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


def regressor(arm, seed=0, samples=24):
    """The stacked regressor (samples n, 10 n) of pinocchio."""
    twin = pinocchio_model(arm)
    states = random_states(np.random.default_rng([seed, arm.n]), arm.n, samples)
    return np.concatenate([twin.regressor(*s) for s in zip(*states, strict=True)])


def full(mp, values):
    """The values of Theorem 2's whole set; what was merged into others is 0."""
    found = [0.0] * len(layout(mp.structure))
    for k, value in zip(mp.kept, values.tolist(), strict=True):
        found[k] = value
    return found
