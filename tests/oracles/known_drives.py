"""Logs of arms whose drives have friction of a known kind: plain, with hysteresis, or growing with the load."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import dynarm
from dynarm import Arm, Log
from dynarm.dynamics.papers.newton_euler_lin1995 import inverse_dynamics
from dynarm.robot.frames.chain import chain_of, pose
from oracles.simulated_log import multi_sine

ROBOTS = ("puma560", "stanford")
KINDS = ("plain", "presliding", "load")
STROKES = np.array([2e-3, 1e-2, 3e-2])  # [rad or m] of elements


def drawn_arm(seed: int) -> Arm:
    """A robot of the catalogue with armatures, and no friction of its own."""
    rng = np.random.default_rng([seed, 3])
    arm = dynarm.load(ROBOTS[seed % len(ROBOTS)])
    return replace(
        arm,
        joints=tuple(
            replace(j, friction=None, armature=float(rng.uniform(0.05, 0.3))) for j in arm.joints
        ),
    )


def rigid_torque(arm: Arm, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
    """(N, n) by the papers' formulas, armatures included."""
    chain = chain_of(arm)
    forces = inverse_dynamics(chain, pose(chain, list(q.T)), list(qd.T), list(qdd.T))
    motors = np.array([j.armature for j in arm.joints])
    return np.column_stack([np.broadcast_to(f, len(q)) for f in forces]) + motors * qdd


def slipped(q: np.ndarray, strokes: np.ndarray) -> np.ndarray:
    """(N, n, k): x / stroke of Maxwell-slip elements, sample by sample, not deflected at first."""
    x = np.zeros((q.shape[1], len(strokes)))
    out = np.empty((len(q), *x.shape))
    out[0] = 0.0
    for k in range(1, len(q)):
        x = np.clip(x + (q[k] - q[k - 1])[:, None], -strokes, strokes)
        out[k] = x / strokes
    return out


def known_log(
    arm: Arm, kind: str, seed: int, noise: float = 0.01, step: float = 2 * np.pi / 2**17,
    duration: float = 15.0, rate: float = 250.0,
) -> Log:  # fmt: skip
    """A recording with noise of a part of each torque's deviation, and positions in steps of the encoder."""
    t, q, qd, qdd = multi_sine(arm.n, duration, rate, seed=seed)
    rng = np.random.default_rng([seed, 5])
    rigid = rigid_torque(arm, q, qd, qdd)
    size = rigid.std(axis=0)
    usual = np.sqrt((qd**2).mean(axis=0))
    viscous, coulomb = (size * rng.uniform(0.1, 0.3, arm.n) for _ in range(2))
    tau = rigid + viscous * qd / usual + 0.05 * size
    if kind == "presliding":
        shares = rng.dirichlet(np.full(len(STROKES), 2.0), arm.n)
        tau = tau + coulomb * (slipped(q, STROKES) * shares).sum(axis=2)
    else:
        tau = tau + coulomb * np.tanh(qd / (0.02 * usual))
    if kind == "load":
        tau = tau + rng.uniform(0.1, 0.25, arm.n) * np.abs(rigid) * np.tanh(qd / (0.02 * usual))
    tau = tau + rng.normal(size=tau.shape) * noise * tau.std(axis=0)
    return Log(t, step * np.round(q / step), tau)
