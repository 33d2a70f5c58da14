"""The same trajectories as independent integrations with pinocchio's articulated-body algorithm, and MuJoCo's RK4."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import dynarm
from oracles.pinocchio_arm import pinocchio_model
from strategies import sample_arms

END = 0.4
TOLERANCE = 1e-9  # of two adaptive integrations at 1e-12, over a motion of a few radians
# of the same sixty steps of the same method, after the mass matrix's condition number
ROUNDING = 1e-11

NAMED = {name: dynarm.load(name) for name in ("stanford", "puma560")}


def drive(t, q, qd):
    k = np.arange(1, len(q) + 1)
    return 0.5 * np.sin(3 * k * t) - 0.4 * q - 0.2 * qd


def start(arm):
    rng = np.random.default_rng(arm.n)
    return rng.uniform(-0.6, 0.6, arm.n), rng.uniform(-0.5, 0.5, arm.n)


def twin_of(arm):
    """Pinocchio's model, motor inertias included."""
    twin = pinocchio_model(arm)
    twin.model.armature = np.array([j.armature for j in arm.joints])[np.argsort(twin.columns)]
    return twin


def regular(arm):
    return np.linalg.eigvalsh(pinocchio_model(arm).mass_matrix(start(arm)[0])).min() > 1e-2


RANDOM = [arm for arm in sample_arms(seed=41, count=18) if regular(arm)][:5]
CHOSEN = NAMED | {f"random {k}": arm for k, arm in enumerate(RANDOM)}


def test_enough_robots_are_regular():
    assert len(CHOSEN) == 7 and any(not j.revolute for arm in RANDOM for j in arm.joints)


def right_hand_side(twin, n, torque):
    def rates(t, y):
        q, qd = y[:n], y[n:]
        tau = np.zeros(n) if torque is None else torque(t, q, qd)
        return np.concatenate([qd, twin.forward_dynamics(q, qd, tau)])

    return rates


@pytest.mark.parametrize("torque", [None, drive], ids=["free", "driven"])
@pytest.mark.parametrize("name", CHOSEN)
def test_adaptive(name, torque):
    arm = CHOSEN[name]
    q0, qd0 = start(arm)
    rates = right_hand_side(twin_of(arm), arm.n, torque)
    want = solve_ivp(rates, (0, END), [*q0, *qd0], method="DOP853", rtol=1e-12, atol=1e-13).y[:, -1]
    run = dynarm.simulate(
        dynarm.compile(arm, friction=True), q0, qd0, END, torque, rtol=1e-12
    ).check()
    error = np.abs(np.concatenate([run.q[-1], run.qd[-1]]) - want).max()
    assert error <= TOLERANCE * max(1, np.abs(want).max())


@pytest.mark.parametrize("name", list(CHOSEN)[:4])
@pytest.mark.parametrize("torque", [None, drive], ids=["free", "driven"])
def test_rk4_step_by_step(name, torque):
    """Sixty steps of RK4, written out here over pinocchio: the same numbers but for rounding."""
    arm = CHOSEN[name]
    h = END / 60
    y = np.concatenate(start(arm))
    rates = right_hand_side(twin_of(arm), arm.n, torque)
    run = dynarm.simulate(
        dynarm.compile(arm, friction=True), y[: arm.n], y[arm.n :], END, torque, "rk4", h
    ).check()
    for k in range(60):
        t = k * h
        k1 = rates(t, y)
        k2 = rates(t + h / 2, y + h / 2 * k1)
        k3 = rates(t + h / 2, y + h / 2 * k2)
        k4 = rates(t + h, y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        found = np.concatenate([run.q[k + 1], run.qd[k + 1]])
        assert np.abs(found - y).max() <= ROUNDING * max(1, np.abs(y).max())


@pytest.mark.parametrize("name", list(CHOSEN)[:3])
def test_ab4_step_by_step(name):
    """Adams-Bashforth with an RK4 start over pinocchio."""
    arm = CHOSEN[name]
    h = END / 200
    rates = right_hand_side(twin_of(arm), arm.n, drive)
    run = dynarm.simulate(
        dynarm.compile(arm, friction=True), *start(arm), END, drive, "ab4", h
    ).check()
    states = np.concatenate([run.q, run.qd], axis=1)
    slopes = [rates(k * h, states[k]) for k in range(200)]
    for k in range(3, 200):
        f = slopes[k - 3 : k + 1]
        want = states[k] + h / 24 * (55 * f[3] - 59 * f[2] + 37 * f[1] - 9 * f[0])
        assert np.abs(states[k + 1] - want).max() <= ROUNDING * max(1, np.abs(want).max())


def test_mujoco_takes_the_same_steps():
    """What the benchmark compares: RK4 of the same robot with the same step."""
    import mujoco
    from benchmarks.robots import robot

    twin = robot("panda")
    q0, qd0 = np.full(7, 0.3), np.linspace(-0.5, 0.5, 7)
    data = mujoco.MjData(twin.mujoco)
    data.qpos[:], data.qvel[:] = q0, qd0
    h = float(twin.mujoco.opt.timestep)
    run = dynarm.simulate(dynarm.compile(twin.arm), q0, qd0, 100 * h, method="rk4", dt=h)
    for k in range(1, 101):
        mujoco.mj_step(twin.mujoco, data)
        assert (
            np.abs(data.qpos - run.q[k]).max() <= 1e-10
            and np.abs(data.qvel - run.qd[k]).max() <= 1e-9
        )
