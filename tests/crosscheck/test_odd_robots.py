"""Robots that nobody builds but somebody will type: compiled models of them against pinocchio."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import dynarm
from oracles.pinocchio_arm import pinocchio_model
from strategies import random_arm, random_states

TOLERANCE = 1e-12
FORWARD = 1e-10
SAMPLES = 4


def scaled(arm, factors):
    return arm.with_parameters(arm.parameters * np.array(factors)[:, None])


def rng(seed):
    return np.random.default_rng([47, seed])


FAR = np.eye(4)
FAR[:3, 3] = 1e5, -1e5, 1e5
ROBOTS = {
    "one slide": dynarm.Arm([dynarm.Joint("prismatic", mass=2.0)]),
    "one hinge": dynarm.Arm([dynarm.Joint(mass=2.0, com=(0.3, 0.1, 0))], gravity=(0, -9.81, 0)),
    "no gravity": random_arm(rng(0), 3, gravity="none"),
    "no lengths": random_arm(rng(1), 3, "R", offsets="zero"),
    "no lengths, no twists": random_arm(rng(2), 3, "RRP", "zero", "zero"),
    "featherweight": scaled(random_arm(rng(3), 3), [1e-12] * 3),
    "giant": scaled(random_arm(rng(4), 3), [1e12] * 3),
    "heavy on light": scaled(random_arm(rng(5), 3), [1e-12, 1e12, 1e12]),
    "light on heavy": scaled(random_arm(rng(6), 3), [1e12, 1.0, 1e-12]),
    "a star's gravity": random_arm(rng(7), 3, gravity=(100.0, -200.0, 300.0)),
    "a base far away": replace(random_arm(rng(8), 3), base=FAR),
    "quarter turns thrice round": random_arm(rng(9), 3, "R", [0, 6.5 * math.pi, -5 * math.pi]),
    **{
        f"{e:g} rad from parallel": random_arm(rng(10), 3, "R", [0, e, math.pi - e])
        for e in (1e-3, 1e-7, 1e-14)
    },
}


def error(found, wanted, floor=0.0):
    """Each sample against its own size (a featherweight's torques are far below 1), but no less than the floor."""
    scale = np.maximum(np.abs(wanted).reshape(len(wanted), -1).max(axis=1), floor)
    each = np.abs(found - wanted).reshape(len(wanted), -1).max(axis=1)
    return (each / np.where(scale > 0, scale, 1.0)).max()


def weight(arm):
    """The load [N m] that the arm's weight can put on a joint: upright, it comes to zero by cancellation."""
    return arm.parameters[:, 0].sum() * np.linalg.norm(arm.gravity) * max(arm.size, 0.1)


@pytest.mark.parametrize("name", ROBOTS)
def test_odd_robots(name):
    arm = ROBOTS[name]
    model, twin = dynarm.compile(arm), pinocchio_model(arm)
    q, qd, qdd = random_states(rng(99), arm.n, SAMPLES)
    tau = np.array([twin.inverse_dynamics(*s) for s in zip(q, qd, qdd, strict=True)])
    M = np.array([twin.mass_matrix(x) for x in q])
    bias = np.array([twin.bias(*s) for s in zip(q, qd, strict=True)])
    assert error(model.inverse_dynamics(q, qd, qdd), tau, weight(arm)) <= TOLERANCE
    assert error(model.mass_matrix(q), M) <= TOLERANCE
    assert error(model.bias(q, qd), bias, weight(arm)) <= TOLERANCE
    C = np.einsum("sij,sj->si", model.coriolis_matrix(q, qd), qd)
    assert np.abs(C + model.gravity(q) - bias).max() <= TOLERANCE * max(
        np.abs(bias).max(), np.abs(C).max()
    )
    place = model.forward_kinematics(q)
    wanted = np.array([twin.forward_kinematics(x) for x in q])
    assert error(place, wanted) <= TOLERANCE
    accelerations = model.forward_dynamics(q, qd, tau)
    limit = max(FORWARD, np.finfo(float).eps * np.linalg.cond(M).max())
    assert error(accelerations, qdd) <= limit


def test_thirty_joints():
    arm = random_arm(rng(20), 30)
    named = {
        "inverse_dynamics": "newton_euler_driving_axis",
        "forward_dynamics": "articulated_body",
    }
    model, twin = dynarm.compile(arm, named), pinocchio_model(arm)
    q, qd, qdd = random_states(rng(21), 30, 2)
    tau = np.array([twin.inverse_dynamics(*s) for s in zip(q, qd, qdd, strict=True)])
    assert error(model.inverse_dynamics(q, qd, qdd), tau) <= TOLERANCE
    wanted = np.array([twin.forward_dynamics(*s) for s in zip(q, qd, tau, strict=True)])
    assert error(model.forward_dynamics(q, qd, tau), wanted) <= FORWARD
    assert error(model.jacobian(q), np.array([twin.jacobian(x) for x in q])) <= TOLERANCE
    potential = np.array([[twin.potential_energy(x)] for x in q])
    assert error(model.potential_energy(q)[:, None], potential) <= TOLERANCE
