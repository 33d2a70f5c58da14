"""Simulated recordings: the log of a motion as it would look, with noise, to try identification on first."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ..identify.logs.log import Log
    from ..robot.arm import Arm

ENCODER = 2 * np.pi / 2**17  # steps of a position [rad or m]: an encoder of 17 bits


def simulated_log(
    arm: Arm,
    t: np.ndarray,
    q: np.ndarray,
    qd: np.ndarray,
    qdd: np.ndarray,
    noise: float = 0.02,
    seed: int = 0,
    source: str = "simulated log",
) -> Log:
    """The log of a motion: positions in encoder steps, torques with white noise of a part `noise` of their deviation.

    Torques are those of the arm with its own friction and motor inertia.
    """
    from ..identify.logs.log import Log
    from ..model.model import compile as compile_arm

    tau = compile_arm(arm, friction=True).inverse_dynamics(q, qd, qdd)
    rng = np.random.default_rng(seed)
    measured = tau + noise * tau.std(axis=0) * rng.normal(size=tau.shape)
    return Log(
        t, np.round(q / ENCODER) * ENCODER, measured, joint_names=arm.joint_names, source=source
    )
