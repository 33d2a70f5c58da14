"""Every word of a compiled model against pinocchio, on chosen random robots of every family."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import dynarm
from oracles.pinocchio_arm import pinocchio_model
from strategies import random_states, sample_arms

TOLERANCE = 1e-12
FORWARD = 1e-10  # the mass matrix's condition number enters
SAMPLES = 4
ARMS = list(sample_arms(seed=23, count=36))
WORDS = {  # quantity -> (state, how pinocchio says it)
    "inverse_dynamics": ("q qd qdd", lambda t, q, v, a: t.inverse_dynamics(q, v, a)),
    "mass_matrix": ("q", lambda t, q, v, a: t.mass_matrix(q)),
    "bias": ("q qd", lambda t, q, v, a: t.bias(q, v)),
    "gravity": ("q", lambda t, q, v, a: t.gravity(q)),
    "kinetic_energy": ("q qd", lambda t, q, v, a: t.kinetic_energy(q, v)),
    "potential_energy": ("q", lambda t, q, v, a: t.potential_energy(q)),
    "forward_kinematics": ("q", lambda t, q, v, a: t.forward_kinematics(q)),
    "jacobian": ("q", lambda t, q, v, a: t.jacobian(q)),
    "jacobian_derivative": ("q qd", lambda t, q, v, a: t.jacobian_derivative(q, v)),
}


def error(got, want):
    return np.abs(got - want).max() / max(1.0, np.abs(want).max())


def regular(twin, q):
    return all(np.linalg.eigvalsh(twin.mass_matrix(x)).min() > 1e-6 for x in q)


@pytest.mark.parametrize("arm", ARMS, ids=lambda a: a.name)
def test_model_agrees_with_pinocchio(arm):
    rng = np.random.default_rng(arm.n)
    state = dict(zip(("q", "qd", "qdd"), random_states(rng, arm.n, SAMPLES), strict=True))
    model, twin = dynarm.compile(arm), pinocchio_model(arm)
    for name, (needs, oracle) in WORDS.items():
        got = getattr(model, name)(*(state[k] for k in needs.split()))
        want = np.array([oracle(twin, *s) for s in zip(*state.values(), strict=True)])
        assert got.shape == want.shape, name
        assert error(got, want) <= TOLERANCE, name
    if regular(twin, state["q"]):
        tau = rng.uniform(-5, 5, (SAMPLES, arm.n))
        got = model.forward_dynamics(state["q"], state["qd"], tau)
        want = np.array(
            [twin.forward_dynamics(*s) for s in zip(state["q"], state["qd"], tau, strict=True)]
        )
        assert error(got, want) <= FORWARD


@pytest.mark.parametrize("arm", ARMS[::4], ids=lambda a: a.name)
def test_coriolis_matrix_is_that_of_christoffel(arm):
    q, qd, _ = random_states(np.random.default_rng(1), arm.n, SAMPLES)
    model = dynarm.compile(arm)
    C = model.coriolis_matrix(q, qd)
    assert error(np.einsum("sij,sj->si", C, qd) + model.gravity(q), model.bias(q, qd)) <= TOLERANCE
    tensor = model.coriolis_tensor(q)
    assert error(C, np.einsum("sijk,sk->sij", tensor, qd)) <= TOLERANCE
    *_, M = model.inverse_dynamics_derivatives(q, qd, qd)
    assert error(M, model.mass_matrix(q)) <= TOLERANCE
    h = 1e-6  # Mdot by central differences: enough to see that Mdot - 2C is skew
    Mdot = (model.mass_matrix(q + h * qd) - model.mass_matrix(q - h * qd)) / (2 * h)
    S = Mdot - 2 * C
    assert np.abs(S + S.swapaxes(1, 2)).max() <= 1e-7 * max(1.0, np.abs(M).max())


@pytest.mark.parametrize("arm", ARMS[::4], ids=lambda a: a.name)
def test_inverse_dynamics_derivatives(arm):
    state = random_states(np.random.default_rng(2), arm.n, SAMPLES)
    model, twin = dynarm.compile(arm), pinocchio_model(arm)
    got = model.inverse_dynamics_derivatives(*state)
    wants = [twin.inverse_dynamics_derivatives(*s) for s in zip(*state, strict=True)]
    for part, want in zip(got, zip(*wants, strict=True), strict=True):
        assert error(part, np.array(want)) <= TOLERANCE


@pytest.mark.parametrize("arm", ARMS[1::6], ids=lambda a: a.name)
def test_forward_dynamics_derivatives(arm):
    rng = np.random.default_rng(3)
    q, qd, qdd = random_states(rng, arm.n, SAMPLES)
    if not regular(pinocchio_model(arm), q):
        return
    model = dynarm.compile(arm)
    tau = model.inverse_dynamics(q, qd, qdd)
    dq, dqd, dtau = model.forward_dynamics_derivatives(q, qd, tau)
    tq, tqd, M = model.inverse_dynamics_derivatives(q, qd, qdd)
    unit = np.broadcast_to(np.eye(arm.n), M.shape)
    assert error(dtau @ M, unit) <= FORWARD * np.linalg.cond(M).max()
    assert error(M @ dq, -tq) <= FORWARD * np.linalg.cond(M).max()
    assert error(M @ dqd, -tqd) <= FORWARD * np.linalg.cond(M).max()


@pytest.mark.parametrize("arm", ARMS[::9], ids=lambda a: a.name)
def test_wrench_and_gravity_as_inputs(arm):
    rng = np.random.default_rng(4)
    q, qd, qdd = random_states(rng, arm.n, SAMPLES)
    wrench = rng.normal(size=(SAMPLES, 6))
    model = dynarm.compile(arm)
    R = model.forward_kinematics(q)[:, :3, :3]
    in_base = np.concatenate(
        [np.einsum("sij,sj->si", R, wrench[:, :3]), np.einsum("sij,sj->si", R, wrench[:, 3:])],
        axis=1,
    )
    pushed = np.einsum("sik,si->sk", model.jacobian(q), in_base)
    free = model.inverse_dynamics(q, qd, qdd)
    assert error(model.inverse_dynamics(q, qd, qdd, wrench), free - pushed) <= TOLERANCE
    if regular(pinocchio_model(arm), q):
        got = model.forward_dynamics(q, qd, free - pushed, wrench)
        assert error(got, qdd) <= FORWARD

    other = dynarm.compile(arm, gravity="input")
    g = np.array(arm.gravity)
    assert error(other.inverse_dynamics(q, qd, qdd, gravity=g), free) <= TOLERANCE
    tilted = rng.normal(size=(SAMPLES, 3)) * 9
    for k in range(SAMPLES):
        from dataclasses import replace

        fixed = dynarm.compile(replace(arm, gravity=tuple(tilted[k])))
        want = fixed.inverse_dynamics(q[k], qd[k], qdd[k])
        assert error(other.inverse_dynamics(q, qd, qdd, gravity=tilted)[k], want) <= TOLERANCE
        if k == 0:
            assert (
                error(other.potential_energy(q[k], gravity=tilted[k]), fixed.potential_energy(q[k]))
                <= TOLERANCE
            )


def test_friction_and_armature():
    rng = np.random.default_rng(5)
    friction = [
        dynarm.Friction(0.7, 1.1, 0.2),
        dynarm.Friction(0.5, 0.9, -0.1, shape="tanh", width=0.05),
        dynarm.Friction(0.5, 0.9, 0.3, viscous_negative=0.8, coulomb_negative=1.4),
    ]
    joints = [
        dynarm.Joint(
            a=0.3 * i, alpha=0.5 * i, mass=2.0, com=(0.1, 0.05, 0), armature=0.4 + i, friction=f
        )
        for i, f in enumerate(friction)
    ]
    arm = dynarm.Arm(joints)
    q, qd, qdd = random_states(rng, 3, 50)
    qd[0] = 0
    bare, model = dynarm.compile(arm), dynarm.compile(arm, friction=True)
    want = bare.inverse_dynamics(q, qd, qdd) + qdd * [0.4, 1.4, 2.4]
    want[:, 0] += 0.7 * qd[:, 0] + 1.1 * np.sign(qd[:, 0]) + 0.2
    want[:, 1] += 0.5 * qd[:, 1] + 0.9 * np.tanh(qd[:, 1] / 0.05) - 0.1
    v = qd[:, 2]
    want[:, 2] += np.where(v >= 0, 0.5 * v, 0.8 * v) + np.where(v > 0, 0.9, -1.4 * (v < 0)) + 0.3
    tau = model.inverse_dynamics(q, qd, qdd)
    assert error(tau, want) <= TOLERANCE
    assert error(model.forward_dynamics(q, qd, tau), qdd) <= FORWARD
    assert error(model.mass_matrix(q), bare.mass_matrix(q) + np.diag([0.4, 1.4, 2.4])) <= TOLERANCE
    assert error(model.bias(q, qd), bare.bias(q, qd)) == 0
    extra = 0.5 * (qd**2) @ [0.4, 1.4, 2.4]
    assert error(model.kinetic_energy(q, qd), bare.kinetic_energy(q, qd) + extra) <= TOLERANCE
    _, dqd, _ = model.inverse_dynamics_derivatives(q, qd, qdd)
    _, plain, _ = bare.inverse_dynamics_derivatives(q, qd, qdd)
    assert error(dqd[1:, 0, 0] - plain[1:, 0, 0], np.full(49, 0.7)) <= TOLERANCE


def test_named_formulations_are_used():
    arm = ARMS[0]
    for name in dynarm.formulations("inverse_dynamics"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = dynarm.compile(arm, formulation={"inverse_dynamics": name})
        assert model.kernel("inverse_dynamics").notes["formulation"] == {"inverse_dynamics": name}
