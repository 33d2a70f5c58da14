"""What every arm's dynamics must satisfy, whatever its numbers: identities on random arms of all families.

Derivatives along a motion are taken by a complex step: f(x + i h x') has the derivative in its imaginary part, without
a difference of nearly equal numbers, so that they hold to rounding like everything else.
"""

from __future__ import annotations

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dynarm.algebra.ldl import factorise
from dynarm.algebra.vectors import Vec3
from dynarm.dynamics.kinematics import (
    forward_kinematics,
    jacobian,
    kinetic_energy,
    potential_energy,
)
from dynarm.dynamics.own.articulated_body import forward_dynamics
from dynarm.dynamics.papers.composite_body_lin1991 import coriolis_tensor
from dynarm.dynamics.papers.newton_euler_lin1995 import inverse_dynamics
from dynarm.dynamics.table import formulation
from dynarm.errors import ModelError
from dynarm.parameters.minimal import minimal_parameters
from dynarm.plan.choice import graph
from dynarm.plan.regularity import check_regular
from dynarm.plan.scene import constant_frame
from dynarm.robot.frames.chain import chain_of, pose
from strategies import arm_strategy, random_states

TOLERANCE = 1e-12  # times the largest of the terms that must cancel
SAMPLES = 3
STEP = 1e-30  # of the complex step: its square vanishes
mass_matrix = formulation("mass_matrix", "composite_1").function

robots = settings(
    max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)
seeds = st.integers(0, 2**16)


class Motion:
    """An arm with a batch of states, and its quantities over real or complex states, samples first."""

    def __init__(self, arm, seed):
        self.arm, self.chain = arm, chain_of(arm)
        self.root, self.tool = constant_frame(arm.frame0), constant_frame(arm.tool_pose)
        self.q, self.qd, self.qdd = random_states(np.random.default_rng(seed), arm.n, SAMPLES)

    def stack(self, scalars):
        """Nested lists of scalars or batches -> (samples, ...)."""
        if isinstance(scalars, (list, tuple)):
            return np.stack([self.stack(x) for x in scalars], axis=1)
        return np.broadcast_to(np.asarray(scalars), (SAMPLES,))

    def steps(self, q):
        return pose(self.chain, list(q.T))

    def tau(self, q, qd, qdd):
        return self.stack(inverse_dynamics(self.chain, self.steps(q), list(qd.T), list(qdd.T)))

    def mass(self, q):
        return self.stack(mass_matrix(self.chain, self.steps(q)))

    def coriolis(self, q, qd):
        tensor = self.stack(coriolis_tensor(self.chain, self.steps(q)))
        return np.einsum("sijk,sk->sij", tensor, qd)

    def kinetic(self, q, qd):
        return self.stack(kinetic_energy(self.chain, self.steps(q), list(qd.T)))

    def potential(self, q):
        gravity = Vec3(*self.arm.gravity)
        return self.stack(potential_energy(self.chain, self.steps(q), self.root, gravity))

    def pose(self, q):
        R, p = forward_kinematics(self.steps(q), self.root, self.tool)
        return self.stack([list(row) for row in R.rows]), self.stack(list(p))

    def jacobian(self, q):
        columns = jacobian(self.chain, self.steps(q), self.root, self.tool)
        return self.stack([[*v, *w] for v, w in columns]).swapaxes(1, 2)

    def rate(self, function, *arguments):
        """d/dt of a function of q (and qd) along the motion."""
        ends = (self.q + 1j * STEP * self.qd, self.qd + 1j * STEP * self.qdd)
        return function(*ends[: len(arguments)]).imag / STEP


def small(error, *terms):
    """Whether an error is rounding of the terms that it is made from."""
    scale = max(1.0, *(np.abs(t).max() for t in terms))
    return np.abs(error).max() <= TOLERANCE * scale


@robots
@given(arm_strategy(), seeds)
def test_torques_are_linear_in_accelerations(arm, seed):
    m = Motion(arm, seed)
    still, twice = np.zeros_like(m.qdd), 2 * m.qdd
    free, one, two = (m.tau(m.q, m.qd, a) for a in (still, m.qdd, twice))
    assert small(two - 2 * one + free, two, free)
    assert small(one - free - np.einsum("sij,sj->si", m.mass(m.q), m.qdd), one, free)


@robots
@given(arm_strategy(), seeds)
def test_mass_matrix_is_symmetric_and_positive(arm, seed):
    m = Motion(arm, seed)
    M = m.mass(m.q)
    assert np.array_equal(M, M.swapaxes(1, 2))
    lowest = np.linalg.eigvalsh(M).min()
    assert lowest >= -TOLERANCE * max(1.0, np.abs(M).max())
    energy = 0.5 * np.einsum("si,sij,sj->s", m.qd, M, m.qd)
    assert small(energy - m.kinetic(m.q, m.qd), energy)


@robots
@given(arm_strategy(), seeds)
def test_mdot_minus_2c_is_skew(arm, seed):
    m = Motion(arm, seed)
    C, Mdot = m.coriolis(m.q, m.qd), m.rate(m.mass, m.q)
    S = Mdot - 2 * C
    assert small(S + S.swapaxes(1, 2), Mdot, C)
    still = np.zeros_like(m.qd)
    bias, rest = m.tau(m.q, m.qd, still), m.tau(m.q, still, still)
    assert small(np.einsum("sij,sj->si", C, m.qd) + rest - bias, bias, rest)


@robots
@given(arm_strategy(), seeds)
def test_power_of_the_torques_is_the_rate_of_energy(arm, seed):
    m = Motion(arm, seed)
    tau = m.tau(m.q, m.qd, m.qdd)
    power = np.einsum("si,si->s", tau, m.qd)
    kinetic, potential = m.rate(m.kinetic, m.q, m.qd), m.rate(m.potential, m.q)
    assert small(kinetic + potential - power, kinetic, potential, tau)


@robots
@given(arm_strategy(), seeds)
def test_jacobian_is_the_rate_of_the_pose(arm, seed):
    m = Motion(arm, seed)
    v = np.einsum("sij,sj->si", m.jacobian(m.q), m.qd)
    assert small(m.rate(lambda q: m.pose(q)[1], m.q) - v[:, :3], v)
    R, Rdot = m.pose(m.q)[0], m.rate(lambda q: m.pose(q)[0], m.q)
    W = Rdot @ R.swapaxes(1, 2)  # [w x]
    w = np.stack([W[:, 2, 1], W[:, 0, 2], W[:, 1, 0]], axis=1)
    assert small(w - v[:, 3:], v)


@robots
@given(arm_strategy(), seeds)
def test_forward_dynamics_undoes_inverse_dynamics(arm, seed):
    m = Motion(arm, seed)
    tau, M = m.tau(m.q, m.qd, m.qdd), m.mass(m.q)
    try:
        check_regular(arm)
    except ModelError:  # refused because it is singular, and not otherwise
        assert np.abs(np.linalg.eigvalsh(M)).min() <= TOLERANCE * np.abs(M).max()
        return
    limit = TOLERANCE * max(1.0, np.abs(m.qdd).max()) * np.linalg.cond(M).max()
    found = forward_dynamics(m.chain, m.steps(m.q), list(m.qd.T), list(tau.T))
    assert np.abs(m.stack(found) - m.qdd).max() <= limit
    bias = m.tau(m.q, m.qd, np.zeros_like(m.qdd))
    rows = [[M[:, i, j] for j in range(arm.n)] for i in range(arm.n)]
    solved = factorise(rows).solve(list((tau - bias).T))
    assert np.abs(m.stack(solved) - m.qdd).max() <= limit


@settings(robots, max_examples=25)
@given(arm_strategy(max_joints=4), seeds)
def test_torques_are_the_regressor_times_the_minimal_parameters(arm, seed):
    m = Motion(arm, seed)
    (Y,) = graph(arm, "regressor", {}).evaluate(m.q, m.qd, m.qdd)
    values = minimal_parameters(arm).values
    tau = m.tau(m.q, m.qd, m.qdd)
    assert Y.shape == (SAMPLES, arm.n, len(values))
    assert small(Y @ values - tau, tau, np.abs(Y) @ np.abs(values))
