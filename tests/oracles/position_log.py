"""Simulated robots under a PD controller: quantised encoders, commands that take effect late, no torques."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

import dynarm
from dynarm.robot.arm import Arm


@dataclass(frozen=True)
class Truth:
    arm: Arm
    kp: np.ndarray
    kd: np.ndarray
    middle: np.ndarray
    drives: np.ndarray  # (n, 4): armature, viscous, coulomb, offset
    delay: float = 0.006


def truth(arm: Arm, kp, kd, middle, size: float, seed: int = 0) -> Truth:
    """A robot with drives drawn at random, of this size."""
    rng, n = np.random.default_rng(seed), arm.n
    low, high = np.array([0.01, 0.05, 0.1, -0.2]), np.array([0.03, 0.3, 0.4, 0.2])
    drives = size * rng.uniform(low, high, (n, 4))
    return Truth(arm, *(np.broadcast_to(np.asarray(x, float), n) for x in (kp, kd, middle)), drives)


def commands(true: Truth, t: np.ndarray, seed: int, reach: float = 0.12) -> np.ndarray:
    rng, n = np.random.default_rng(seed), true.arm.n
    waves = [
        np.sin(np.outer(t, 2 * np.pi * rng.uniform(0.2, 2.5, n)) + rng.uniform(0, 6, n))
        for _ in range(4)
    ]
    return true.middle + reach * sum(waves)


def recorded(
    true: Truth, seconds: float = 8.0, seed: int = 1, step: float = 2 * np.pi / 16384, dt: float = 0.002,
    command: np.ndarray | None = None,
) -> dynarm.Log:  # fmt: skip
    """A log by dynarm.simulate, steps much finer than the samples, positions rounded to `step`."""
    t = np.arange(0, seconds, dt)
    c = commands(true, t, seed) if command is None else command
    joints = tuple(
        replace(j, armature=a, friction=dynarm.Friction(v, k, o, "tanh", 0.01))
        for j, (a, v, k, o) in zip(true.arm.joints, true.drives.tolist(), strict=True)
    )
    model = dynarm.compile(replace(true.arm, joints=joints), friction=True)
    fine, sub = dt / 8, 8

    def torque(time: float, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        x = np.clip((time - true.delay) / dt, 0, len(t) - 1.000001)
        k = int(x)
        now = c[k] + (x - k) * (c[k + 1] - c[k])
        return true.kp * (now - q) - true.kd * qd

    run = dynarm.simulate(
        model, c[0], np.zeros(true.arm.n), float(t[-1]), torque, "rk4", dt=fine, progress=False
    )
    q = run.q[::sub][: len(t)]
    return dynarm.Log(t, np.round(q / step) * step, q_command=c, joint_names=true.arm.joint_names)


def engine_recorded(
    true: Truth, seconds: float, seed: int, dt: float = 0.002, fine: int = 16, step: float = 2 * np.pi / 16384
) -> dynarm.Log:  # fmt: skip
    """The same by MuJoCo, whose frictionloss holds; it keeps the arm's effort limits. Offsets are left out."""
    import mujoco

    t = np.arange(0, seconds, dt)
    c = commands(true, t, seed)
    bare = tuple(replace(j, armature=0.0, friction=None) for j in true.arm.joints)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "robot.xml"
        replace(true.arm, joints=bare, tools=()).save(path)
        spec = mujoco.MjSpec.from_string(path.read_text(encoding="utf-8"))
    spec.option.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
    spec.option.timestep = dt / fine
    for joint in spec.joints:
        joint.limited = mujoco.mjtLimited.mjLIMITED_FALSE
    model = spec.compile()
    model.dof_armature[:], model.dof_damping[:], model.dof_frictionloss[:] = true.drives[:, :3].T
    mujoco.mj_setConst(model, mujoco.MjData(model))
    data, q = mujoco.MjData(model), np.empty_like(c)
    data.qpos[:] = q[0] = c[0]
    at = dt / fine * np.arange((len(t) - 1) * fine) - true.delay
    given = np.column_stack([np.interp(at, t, column) for column in c.T])
    low, high = model.jnt_actfrcrange.T
    for k, now in enumerate(given):
        tau = true.kp * (now - data.qpos) - true.kd * data.qvel
        data.qfrc_applied[:] = np.where(model.jnt_actfrclimited, np.clip(tau, low, high), tau)
        mujoco.mj_step(model, data)
        if (k + 1) % fine == 0:
            q[(k + 1) // fine] = data.qpos
    return dynarm.Log(t, np.round(q / step) * step, q_command=c, joint_names=true.arm.joint_names)
