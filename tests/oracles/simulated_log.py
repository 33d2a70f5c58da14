"""Logs of known robots: multi-sine motions, exact torques, and what a real recorder does to them."""

from __future__ import annotations

import numpy as np

from dynarm import Arm, Log
from dynarm.dynamics.papers.newton_euler_lin1995 import inverse_dynamics
from dynarm.robot.frames.chain import chain_of, pose
from oracles.friction_log import friction_along


def exact_torque(arm: Arm, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
    """(N, n) joint forces by the papers' formulas, armature and friction included; elements begin undeflected."""
    chain = chain_of(arm)
    forces = inverse_dynamics(chain, pose(chain, list(q.T)), list(qd.T), list(qdd.T))
    rigid = np.column_stack([np.broadcast_to(x, len(q)) for x in forces])
    rigid = rigid + qdd * [j.armature for j in arm.joints]
    return rigid + friction_along(arm, q, qd, qdd, rigid)


def multi_sine(
    n: int,
    duration: float = 10.0,
    rate: float = 200.0,
    seed: int = 0,
    top: float = 1.2,
    size: float = 0.35,
) -> tuple[np.ndarray, ...]:
    """t, q, qd, qdd of five sines a joint with frequencies up to `top` Hz."""
    rng = np.random.default_rng(seed)
    t = np.arange(int(duration * rate)) / rate
    w = 2 * np.pi * rng.uniform(0.1, top, (5, n))
    a, phase = rng.uniform(0.2, 1.0, (5, n)) * size, rng.uniform(0, 2 * np.pi, (5, n))
    angle = t[:, None, None] * w + phase
    q, qd, qdd = a * np.sin(angle), a * w * np.cos(angle), -a * w**2 * np.sin(angle)
    return t, q.sum(axis=1), qd.sum(axis=1), qdd.sum(axis=1)


def exact_log(arm: Arm, samples: int = 400, seed: int = 1) -> Log:
    """States drawn at random, with exact velocities, accelerations and torques."""
    rng = np.random.default_rng(seed)
    q, qd, qdd = (rng.uniform(-s, s, (samples, arm.n)) for s in (np.pi, 2.0, 5.0))
    return Log(np.arange(samples) * 0.01, q, exact_torque(arm, q, qd, qdd), qd, qdd)


def noisy_log(
    arm: Arm,
    noise: float,
    step: float = 0.0,
    jitter: float = 0.0,
    seed: int = 0,
    motion: int = 0,
    **shape: float,
) -> Log:
    """Positions quantised to `step` and disturbed by `jitter`, torques with noise [N m]; velocities not recorded."""
    t, q, qd, qdd = multi_sine(arm.n, seed=motion, **shape)
    rng = np.random.default_rng([seed, 17])
    tau = exact_torque(arm, q, qd, qdd) + rng.normal(0, noise, q.shape)
    seen = q + rng.normal(0, jitter, q.shape) if jitter else q
    seen = step * np.round(seen / step) if step else seen
    return Log(t, seen, tau)
