"""Lin's link-by-link procedure: exact on exact data, equal to the streamed estimator, and what the errata change."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import dynarm
from dynarm import Identifier
from dynarm.algebra.vectors import Vec3
from dynarm.dynamics.papers.minimal_parameters_lin1995 import combinations, constants, structure_of
from dynarm.dynamics.papers.newton_euler_lin1995 import inverse_dynamics
from dynarm.robot.frames.chain import chain_of, pose
from oracles import lin1995_identification as recursive
from oracles.simulated_log import exact_log
from strategies import random_states, sample_arms

SAMPLES = 200
NAMED = [dynarm.load(name) for name in ("stanford", "puma560", "scara", "two_link")]
RANDOM = list(sample_arms(11, 60, (1, 2, 3, 4, 5, 6)))


def least_squares(i, A, gamma):
    """The solution of (111), columns scaled."""
    M = np.column_stack([np.broadcast_to(a, np.shape(gamma)) for a in A])
    size = np.linalg.norm(M, axis=0)
    size[size == 0] = 1.0
    return np.linalg.lstsq(M / size, gamma, rcond=None)[0] / size


def data(arm, wrench=None):
    """Chain, structure, poses, velocities, accelerations and forces at random states."""
    chain = chain_of(arm)
    q, qd, qdd = random_states(np.random.default_rng(0), arm.n, SAMPLES)
    steps = pose(chain, list(q.T))
    args = (wrench,) if wrench is not None else ()
    tau = inverse_dynamics(chain, steps, list(qd.T), list(qdd.T), *args)
    tau = [np.broadcast_to(x, SAMPLES) for x in tau]
    return chain, structure_of(chain, 0.0), steps, list(qd.T), list(qdd.T), tau


def truth(chain, structure):
    return np.array(
        [float(x) for x in combinations(structure, constants(chain, pose(chain, [0] * chain.n)))]
    )


@pytest.mark.parametrize("arm", NAMED + RANDOM, ids=lambda a: a.name)
def test_exact_forces_give_the_minimal_combinations(arm):
    rng = np.random.default_rng(1)
    wrench = Vec3(*rng.normal(size=(3, SAMPLES))), Vec3(*rng.normal(size=(3, SAMPLES)))
    chain, structure, *rest = data(arm, wrench)
    found, _ = recursive.identify(chain, structure, *rest, least_squares, wrench)
    values = truth(chain, structure)
    assert np.abs(found - values).max() < 1e-9 * np.abs(values).max()


def test_friction_and_armature_columns_may_join_each_joint():
    arm = dynarm.load("puma560")
    chain, structure, steps, qd, qdd, tau = data(arm)
    # the armature of joints 1 and 2 cannot be told from their U_33: joint by joint from the third
    own = [
        [v, np.sign(v)] + ([a] if i > 1 else [])
        for i, (v, a) in enumerate(zip(qd, qdd, strict=True))
    ]
    forces = [
        t + sum(0.5 * (k + 1) * c for k, c in enumerate(cs)) for t, cs in zip(tau, own, strict=True)
    ]
    found, more = recursive.identify(
        chain, structure, steps, qd, qdd, forces, least_squares, own=own
    )
    values = truth(chain, structure)
    assert np.abs(found - values).max() < 1e-9 * np.abs(values).max()
    for i, coefficients in enumerate(more):
        np.testing.assert_allclose(coefficients, [0.5, 1.0] + ([1.5] if i > 1 else []), rtol=1e-9)


@pytest.mark.parametrize("name", ["stanford", "puma560"])
def test_the_streamed_estimator_is_this_procedure(name):
    """On noisy forces, where solutions differ from method to method, both give the same numbers."""
    arm = dynarm.load(name)
    arm = replace(arm, joints=tuple(replace(j, armature=0.0) for j in arm.joints))
    log = exact_log(arm, samples=SAMPLES)
    noisy = replace(log, tau=log.tau + np.random.default_rng(2).normal(0, 1.0, log.tau.shape))
    chain = chain_of(arm)
    structure = structure_of(chain, 0.0)
    args = (pose(chain, list(log.q.T)), list(log.qd.T), list(log.qdd.T), list(noisy.tau.T))
    found, _ = recursive.identify(chain, structure, *args, least_squares)
    how = dynarm.Preparation(cutoff=np.inf, velocity="recorded", slow=0.0)
    fit = Identifier(arm, friction=(), armature=False, estimator="recursive", preparation=how).fit(
        noisy
    )
    np.testing.assert_allclose(fit.values_, found, rtol=1e-8, atol=1e-8)


def test_void_columns_must_be_left_out():
    """(102), (104) as printed keep the columns that delta_i = 0 makes void; A_i has then no full rank."""
    arm = dynarm.load("scara")
    chain, structure, steps, qd, qdd, _ = data(arm)
    i = structure.delta.index(False)
    assert structure.revolute[i] and i < structure.s
    at = recursive.motion(chain, steps, qd, qdd)[i]
    kept = np.column_stack([np.broadcast_to(x, SAMPLES) for x in (at.a.y, -at.a.x, at.wd.z)])
    assert np.linalg.matrix_rank(kept) < 3
    left = np.column_stack(list(recursive.columns(structure, i, at).values()))
    assert np.linalg.matrix_rank(left) == left.shape[1]


def oblique_arm():
    """A rotational joint, then an oblique translational one: kappa1 and kappa2 are unknowns (103)."""
    arms = (a for a in sample_arms(5, 400, (2, 3, 4)) if any(structure_of(chain_of(a), 0.0).sigma))
    return next(arms)


def test_the_last_entry_of_103_is_squared(monkeypatch):
    arm = oblique_arm()
    chain, structure, *rest = data(arm)
    values = truth(chain, structure)
    right, _ = recursive.identify(chain, structure, *rest, least_squares)
    assert np.abs(right - values).max() < 1e-9 * np.abs(values).max()
    columns = recursive.columns

    def printed(structure, i, at):
        found = columns(structure, i, at)
        if "kappa2" in found:
            found["kappa2"] = -recursive.along(structure, i, at)[0]
        return found

    monkeypatch.setattr(recursive, "columns", printed)
    wrong, _ = recursive.identify(chain, structure, *rest, least_squares)
    assert np.abs(wrong - values).max() > 1e-3 * np.abs(values).max()


def test_persistent_excitation():
    """(117): a motion that turns joint 1 only does not excite joint 2's problem."""
    arm = dynarm.load("puma560")
    chain, structure, *_ = data(arm)
    q, qd, qdd = random_states(np.random.default_rng(0), 6, SAMPLES)
    for x in (qd, qdd):
        x[:, 1:] = 0.0
    q[:, 1:] = 0.3
    moving = recursive.motion(chain, pose(chain, list(q.T)), list(qd.T), list(qdd.T))
    A = np.column_stack(
        [np.broadcast_to(x, SAMPLES) for x in recursive.columns(structure, 1, moving[1]).values()]
    )
    assert np.linalg.matrix_rank(A.T @ A, tol=1e-9 * np.linalg.norm(A) ** 2) < A.shape[1]
