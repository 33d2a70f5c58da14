"""All formulations x the extras of the physics: a wrench on the last link, gravity that differs by sample, armatures.

Each is shown through pinocchio's own kinematics and dynamics, not through another formulation of ours.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dynarm.algebra.vectors import Vec3
from dynarm.dynamics.table import TABLE
from dynarm.parameters.minimal import minimal_chain
from dynarm.robot.frames.chain import chain_of, pose
from oracles.pinocchio_arm import pinocchio_model
from strategies import random_states, sample_arms

TOLERANCE = 1e-12
FORWARD = 1e-10
SAMPLES = 3
ARMS = list(sample_arms(seed=61, count=24, sizes=range(1, 6)))


def stack(scalars):
    return np.stack([np.broadcast_to(np.asarray(x, float), SAMPLES) for x in scalars], axis=1)


def body(chain, row):
    return minimal_chain(chain) if row.parameters == "minimal" else chain


class Case:
    """An arm, a batch of states, of wrenches in the last link's frame and of gravities in the base link."""

    def __init__(self, arm, k):
        rng = np.random.default_rng([67, k])
        self.arm = replace(arm, tool=None)  # the tool is the last link's own frame
        self.q, self.qd, self.qdd = random_states(rng, arm.n, SAMPLES)
        self.wrench = rng.normal(size=(SAMPLES, 6)) * 10
        self.gravities = rng.normal(size=(SAMPLES, 3)) * 9
        self.armature = rng.uniform(0.5, 1.5, arm.n)
        self.chain = chain_of(self.arm)
        self.under = chain_of(self.arm, Vec3(*self.gravities.T))
        self.steps = pose(self.chain, list(self.q.T))
        self.force = Vec3(*self.wrench[:, :3].T), Vec3(*self.wrench[:, 3:].T)
        self._truth()

    def _truth(self):
        pushed, felt, M = [], [], []
        for s in range(SAMPLES):
            twin = pinocchio_model(self.arm)
            R = twin.forward_kinematics(self.q[s])[:3, :3]
            in_base = np.concatenate([R @ self.wrench[s, :3], R @ self.wrench[s, 3:]])
            pushed.append(twin.jacobian(self.q[s]).T @ in_base)
            M.append(twin.mass_matrix(self.q[s]))
            twin.model.gravity.linear = self.gravities[s]
            felt.append(twin.inverse_dynamics(self.q[s], self.qd[s], self.qdd[s]))
        self.pushed, self.felt, self.M = np.array(pushed), np.array(felt), np.array(M)


@pytest.fixture(scope="module")
def cases():
    return [Case(arm, k) for k, arm in enumerate(ARMS)]


def rows(quantity):
    found = [row for row in TABLE if row.quantity == quantity]
    return pytest.mark.parametrize("row", found, ids=[row.name for row in found])


def assert_near(found, wanted, tolerance, label):
    error = np.abs(found - wanted).max() / max(1.0, np.abs(wanted).max())
    assert error <= tolerance, (label, error)


@rows("inverse_dynamics")
def test_wrench_relieves_the_joints_under_any_gravity(row, cases):
    for case in cases:
        if row.refuses(case.chain):
            continue
        state = (case.steps, list(case.qd.T), list(case.qdd.T))
        free = stack(row.function(body(case.under, row), *state))
        assert_near(free, case.felt, TOLERANCE, case.arm.name)
        wrench = {case.arm.n - 1: case.force} if row.trees else case.force
        found = stack(row.function(body(case.under, row), *state, wrench))
        assert_near(found, case.felt - case.pushed, TOLERANCE, case.arm.name)


@rows("bias")
def test_bias_under_any_gravity(row, cases):
    for case in cases:
        if row.refuses(case.chain):
            continue
        found = stack(row.function(body(case.under, row), case.steps, list(case.qd.T)))
        wanted = case.felt - np.einsum("sij,sj->si", case.M, case.qdd)
        scale = max(1.0, np.abs(case.felt).max())
        assert np.abs(found - wanted).max() <= TOLERANCE * scale, case.arm.name


@rows("forward_dynamics")
def test_wrench_gravity_and_armature_give_the_same_accelerations(row, cases):
    for case in cases:
        tau = case.felt - case.pushed + case.armature * case.qdd
        found = row.function(
            body(case.under, row),
            case.steps,
            list(case.qd.T),
            list(tau.T),
            {case.arm.n - 1: case.force},
            case.armature.tolist(),
        )
        assert_near(stack(found), case.qdd, FORWARD, case.arm.name)
