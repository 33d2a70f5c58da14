"""All formulations x random robots: each agrees with pinocchio, and so with all others, to the last digits."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from dynarm import Arm
from dynarm.dynamics.table import QUANTITIES, TABLE, Formulation
from dynarm.plan.scene import body_of
from dynarm.robot.frames.chain import chain_of, pose
from oracles.batches import stacked as stack
from oracles.pinocchio_arm import pinocchio_model
from strategies import random_states, sample_arms

TOLERANCE = 1e-12  # times the largest entry of the reference, or 1


def tilted(arm: Arm, k: int) -> Arm:
    """The arm with the additional constant rotation that nearly parallel axes have, at every joint but the first."""
    rng = np.random.default_rng([13, k])
    joints = [replace(j, beta=rng.uniform(-0.05, 0.05)) for j in arm.joints[1:]]
    return replace(arm, joints=(arm.joints[0], *joints), name=f"{arm.name}_tilted")


ARMS = list(sample_arms(seed=11, count=96, sizes=range(1, 9)))
ARMS += [tilted(arm, k) for k, arm in enumerate(ARMS[1::8])]
SAMPLES = 3


def reference(quantity, twin, q, qd, qdd):
    if quantity == "inverse_dynamics":
        return twin.inverse_dynamics(q, qd, qdd)
    if quantity == "bias":
        return twin.bias(q, qd)
    if quantity == "mass_matrix":
        return twin.mass_matrix(q)
    if quantity == "gravity":
        return twin.gravity(q)
    raise AssertionError(quantity)


def evaluate(row: Formulation, body, steps, qd, qdd):
    state = {
        "inverse_dynamics": (qd, qdd),
        "bias": (qd,),
        "mass_matrix": (),
        "mass_matrix_and_bias": (qd,),
    }
    return row.function(body, steps, *state.get(row.quantity, ()))


COMPARED = ("inverse_dynamics", "bias", "mass_matrix", "gravity")
CASES = [row for row in TABLE if row.quantity in COMPARED]


@pytest.fixture(scope="module")
def references():
    found = []
    for k, arm in enumerate(ARMS):
        rng = np.random.default_rng([5, k])
        q, qd, qdd = random_states(rng, arm.n, SAMPLES)
        twin = pinocchio_model(arm)
        truth = {
            name: np.array([reference(name, twin, *s) for s in zip(q, qd, qdd, strict=True)])
            for name in COMPARED
        }
        found.append((arm, q, qd, qdd, truth))
    return found


@pytest.mark.parametrize("row", CASES, ids=lambda r: f"{r.quantity}-{r.name}")
def test_agrees_with_pinocchio(row, references):
    worst, refused = 0.0, Counter()
    for arm, q, qd, qdd, truth in references:
        chain = chain_of(arm)
        if row.refuses(chain):
            refused[row.refuses(chain)] += 1
            continue
        body = body_of(chain, row)
        got = stack(evaluate(row, body, pose(chain, q.T), qd.T, qdd.T), SAMPLES)
        want = truth[row.quantity]
        error = np.abs(got - want).max() / max(1.0, np.abs(want).max())
        assert error <= TOLERANCE, f"{arm.name}: {error:.2e}"
        worst = max(worst, error)
    assert sum(refused.values()) < len(references) / 4, refused


BOTH = [row for row in TABLE if row.quantity == "mass_matrix_and_bias"]


@pytest.mark.parametrize("row", BOTH, ids=lambda r: r.name)
def test_mass_matrix_and_bias_agree_with_pinocchio(row, references):
    for arm, q, qd, _, truth in references:
        chain = chain_of(arm)
        M, b = row.function(chain, pose(chain, q.T), qd.T)
        for got, name in ((M, "mass_matrix"), (b, "bias")):
            want = truth[name]
            error = np.abs(stack(got, SAMPLES) - want).max() / max(1.0, np.abs(want).max())
            assert error <= TOLERANCE, f"{arm.name} {name}: {error:.2e}"


TENSORS = [row for row in TABLE if row.quantity == "coriolis_tensor"]


@pytest.mark.parametrize("row", TENSORS, ids=lambda r: r.name)
def test_coriolis_tensor_gives_the_bias(row, references):
    for arm, q, qd, _, truth in references:
        chain = chain_of(arm)
        C = stack(row.function(chain, pose(chain, q.T)), SAMPLES)
        assert np.abs(C - C.swapaxes(2, 3)).max() <= TOLERANCE * max(1.0, np.abs(C).max())
        twin = pinocchio_model(arm)
        rest = np.array([twin.gravity(x) for x in q])
        got = np.einsum("sijk,sj,sk->si", C, qd, qd) + rest
        error = np.abs(got - truth["bias"]).max() / max(1.0, np.abs(truth["bias"]).max())
        assert error <= TOLERANCE, f"{arm.name}: {error:.2e}"


FORWARD = [row for row in TABLE if row.quantity == "forward_dynamics"]
CONDITIONED = 1e-10  # forward dynamics loses what the mass matrix is ill-conditioned by


@pytest.mark.parametrize("row", FORWARD, ids=lambda r: r.name)
def test_forward_dynamics_undoes_inverse_dynamics(row, references):
    solved = 0
    for arm, q, qd, qdd, truth in references:
        if np.linalg.eigvalsh(truth["mass_matrix"]).min() < 1e-6:
            continue  # a massless first link leaves its joint without inertia
        chain = chain_of(arm)
        tau = truth["inverse_dynamics"]
        got = stack(row.function(chain, pose(chain, q.T), qd.T, tau.T), SAMPLES)
        assert np.abs(got - qdd).max() <= CONDITIONED * max(1.0, np.abs(qdd).max()), arm.name
        solved += 1
    assert solved > len(references) / 2


CORIOLIS = [row for row in TABLE if row.quantity == "coriolis_matrix"]


@pytest.mark.parametrize("row", CORIOLIS, ids=lambda r: r.name)
def test_coriolis_matrix_is_the_tensor_with_one_velocity(row, references):
    for arm, q, qd, _, _ in references:
        chain = chain_of(arm)
        steps = pose(chain, q.T)
        want = np.einsum("sijk,sk->sij", stack(TENSORS[-1].function(chain, steps), SAMPLES), qd)
        got = stack(row.function(chain, steps, qd.T), SAMPLES)
        error = np.abs(got - want).max() / max(1.0, np.abs(want).max())
        assert error <= TOLERANCE, f"{arm.name}: {error:.2e}"


DERIVATIVES = [row for row in TABLE if row.quantity == "inverse_dynamics_derivatives"]


@pytest.mark.parametrize("row", DERIVATIVES, ids=lambda r: r.name)
def test_derivatives_agree_with_pinocchio(row, references):
    for arm, q, qd, qdd, _ in references:
        chain = chain_of(arm)
        found = row.function(chain, pose(chain, q.T), qd.T, qdd.T)
        twin = pinocchio_model(arm)
        wanted = [twin.inverse_dynamics_derivatives(*s) for s in zip(q, qd, qdd, strict=True)]
        for got, want in zip(found, map(np.array, zip(*wanted, strict=True)), strict=True):
            error = np.abs(stack(got, SAMPLES) - want).max() / max(1.0, np.abs(want).max())
            assert error <= TOLERANCE, f"{arm.name}: {error:.2e}"


def test_every_quantity_of_the_table_is_covered():
    covered = CASES + BOTH + TENSORS + FORWARD + CORIOLIS + DERIVATIVES
    assert {row.quantity for row in covered} == set(QUANTITIES)
