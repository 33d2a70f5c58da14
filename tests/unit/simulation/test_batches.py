"""Many runs at once: the same as one by one, with parameter sets, gains and inputs of their own."""

from __future__ import annotations

import numpy as np
import pytest

import dynarm
from dynarm.simulation import ComputedTorque, GravityPD, Sampled

N = 13  # one whole vector of samples and a rest
rng = np.random.default_rng(5)
Q, QD = rng.uniform(-0.5, 0.5, (2, N, 6))


@pytest.mark.parametrize("method", ["rk4", "ab4", "midpoint"])
def test_a_batch_is_its_runs(method, stanford):
    batch = dynarm.simulate(stanford, Q, QD, 0.1, method=method, dt=1e-3)
    assert batch.q.shape == (N, 101, 6) and batch.energy.shape == batch.work.shape == (N, 101)
    for k in (0, 7, 12):
        one = dynarm.simulate(stanford, Q[k], QD[k], 0.1, method=method, dt=1e-3)
        # the midpoint rule iterates until the whole batch is done; the others are the same bits
        allowed = 1e-13 if method == "midpoint" else 0.0
        assert (
            np.abs(batch.q[k] - one.q).max() <= allowed
            and np.abs(batch.qd[k] - one.qd).max() <= 10 * allowed
        )


@pytest.mark.parametrize("method", ["rk4", "ab4"])
def test_threads_and_recording_change_nothing(method, stanford):
    q, qd = np.tile(Q, (40, 1)), np.tile(QD, (40, 1))
    one = dynarm.simulate(stanford, q, qd, 0.1, method=method, dt=1e-3, threads=1)
    two = dynarm.simulate(stanford, q, qd, 0.1, method=method, dt=1e-3, threads=2, every=7)
    assert np.array_equal(one.q[:, ::7], two.q[:, :-1]) and np.array_equal(
        one.q[:, -1], two.q[:, -1]
    )
    assert np.array_equal(two.t, [*one.t[::7], one.t[-1]]) and np.array_equal(
        one.tau[:, ::7], two.tau[:, :-1]
    )


@pytest.mark.parametrize("method", ["rk4", "ab4"])
def test_inputs_of_their_own(method, two_link):
    tau, push = rng.normal(size=(N, 2)), rng.normal(size=(N, 6))
    t = [0.0, 0.013, 0.04]
    rows, pushes = rng.normal(size=(3, N, 2)), rng.normal(size=(3, 6))
    q, qd = Q[:, :2], QD[:, :2]
    kinds = {
        "constant": (tau, push, lambda k: (tau[k], push[k])),
        "shared": (tau[0], push[0], lambda k: (tau[0], push[0])),
        "samples": (
            Sampled(t, rows),
            Sampled(t, pushes),
            lambda k: (Sampled(t, rows[:, k]), Sampled(t, pushes)),
        ),
        "lines": (
            Sampled(t, rows, "linear"),
            None,
            lambda k: (Sampled(t, rows[:, k], "linear"), None),
        ),
        "function": (
            lambda t, q, qd: -5 * q + t,
            push,
            lambda k: (lambda t, q, qd: -5 * q + t, push[k]),
        ),
    }
    for name, (torque, wrench, single) in kinds.items():
        batch = dynarm.simulate(two_link, q, qd, 0.05, torque, method, 1e-3, wrench=wrench)
        for k in (0, 12):
            own = single(k)
            one = dynarm.simulate(two_link, q[k], qd[k], 0.05, own[0], method, 1e-3, wrench=own[1])
            assert np.abs(batch.q[k] - one.q).max() <= 1e-14, name
            assert np.abs(batch.tau[k] - one.tau).max() <= 1e-14, name
            assert np.abs(batch.work[k] - one.work).max() <= 1e-12, name


@pytest.mark.parametrize("method", ["rk4", "ab4", "midpoint", "dop853"])
def test_parameter_sets(method):
    """A model with its parameters as inputs: one set a run, each the same as a model compiled for it."""
    arm = dynarm.load("two_link")
    model = dynarm.compile(arm, parameters="inputs", friction=True)
    arms = [arm.with_payload(m, com=(0.02, 0, 0.1)) for m in (0.0, 1.0, 2.5)]
    values = np.array([model.minimal.matrix @ a.parameters.ravel() for a in arms])
    how = {"rtol": 1e-11} if method == "dop853" else {"dt": 2e-3}
    start = ([0.3, -0.4], [0.5, 0.2])
    if method == "dop853":
        runs = [dynarm.simulate(model, *start, 0.1, method=method, values=v, **how) for v in values]
    else:
        batch = dynarm.simulate(model, *start, 0.1, method=method, values=values, **how)
        assert batch.q.shape == (3, 51, 2)
        assert np.abs(batch.balance).max() <= {"midpoint": 1e-4}.get(method, 1e-7)
    for k, one in enumerate(arms):
        want = dynarm.simulate(
            dynarm.compile(one, friction=True), *start, 0.1, method=method, **how
        )
        q, energy = (
            (runs[k].q, runs[k].energy) if method == "dop853" else (batch.q[k], batch.energy[k])
        )
        assert np.abs(q[-1] - want.q[-1]).max() <= 1e-11
        # energies may differ by what no motion can show: a constant
        assert abs((energy[-1] - energy[0]) - (want.energy[-1] - want.energy[0])) <= 1e-9


def test_parameter_sets_of_a_puma(puma):
    """Monte Carlo around the true parameters: the first run is the true one, the others are not."""
    model = dynarm.compile(dynarm.load("puma560"), parameters="inputs", friction=True)
    values = model.minimal.values * np.array([[1.0], [1.05], [0.9]])
    batch = dynarm.simulate(model, Q[0], QD[0], 0.2, np.ones(6), "rk4", 2e-3, values=values).check()
    want = dynarm.simulate(puma, Q[0], QD[0], 0.2, np.ones(6), "rk4", 2e-3)
    assert np.abs(batch.q[0] - want.q).max() <= 1e-11 and np.abs(batch.balance).max() <= 1e-6
    assert np.abs(batch.q[1:, -1] - want.q[-1]).max(axis=1).min() > 1e-4


def test_gains_and_beliefs_of_their_own(puma):
    """One controller, a row of gains for each run; and one that believes other parameters."""
    kp, kd = rng.uniform(50, 200, (N, 6)), rng.uniform(10, 30, (N, 6))
    for kind in (GravityPD, ComputedTorque):
        law = kind(puma, np.zeros(6), kp, kd, rate=200.0, limit=np.inf)
        batch = dynarm.simulate(puma, Q, QD, 0.1, law, "rk4", 5e-3)
        one = dynarm.simulate(
            puma,
            Q[3],
            QD[3],
            0.1,
            kind(puma, np.zeros(6), kp[3], kd[3], 200.0, np.inf),
            "rk4",
            5e-3,
        )
        assert np.abs(batch.q[3] - one.q).max() <= 1e-12
    open_model = dynarm.compile(dynarm.load("puma560"), parameters="inputs", friction=True)
    right = open_model.minimal.values
    beliefs = right * np.array([[1.0], [0.9]])
    law = ComputedTorque(open_model, np.zeros(6), 100.0, 20.0, limit=np.inf, values=beliefs)
    run = dynarm.simulate(puma, np.stack([Q[0]] * 2), np.zeros((2, 6)), 2.0, law, "rk4", 2e-3)
    assert np.abs(run.q[0, -1]).max() <= 1e-6 < 1e-4 < np.abs(run.q[1, -1]).max()


def test_one_that_breaks_down_leaves_the_others(stanford):
    """A sample whose step is too long for it ends in NaN with a time; the rest of the batch goes on."""
    q, qd = Q.copy(), QD.copy()
    qd[4] = 400.0
    for method in ("rk4", "ab4"):
        run = dynarm.simulate(stanford, q, qd, 0.3, method=method, dt=0.01)
        assert run.status == "step" and "sample 4 of 13" in run.message
        good = np.delete(np.arange(N), 4)
        assert np.isfinite(run.q[good]).all() and (run.reached[good] == 0.3).all()
        end = int(np.searchsorted(run.t, run.reached[4]))
        assert (
            np.isfinite(run.qd[4, : end + 1]).all()
            and np.isnan(run.qd[4, end + 1 :]).all()
            and end < 30
        )
        assert f"{run.reached[4]:.6g} s" in run.message
        alone = dynarm.simulate(stanford, q[3], qd[3], 0.3, method=method, dt=0.01)
        assert np.array_equal(alone.q, run.q[3])
        with pytest.raises(dynarm.DynarmError, match="sample 4"):
            run.check()
        assert "sample 4" in run.summary() and np.isfinite(run.unexplained)


def test_all_of_them_breaking_down_ends_the_run(stanford):
    run = dynarm.simulate(stanford, Q[:3], QD[:3] + 500.0, 10.0, method="rk4", dt=0.02)
    assert run.status == "step" and len(run.t) < 100 and "3 samples" in run.message
    assert run.t[-1] == run.reached.max()


def test_batches_and_adaptive_methods(stanford):
    with pytest.raises(dynarm.DynarmError, match="rk4"):
        dynarm.simulate(stanford, Q, QD, 0.1)
    with pytest.raises(dynarm.DynarmError, match="batch axes"):
        dynarm.simulate(stanford, Q, QD[:5], 0.1, method="rk4")
    with pytest.raises(dynarm.DynarmError, match="torque has shape"):
        dynarm.simulate(stanford, Q, QD, 0.1, np.zeros((5, 6)), method="rk4")
    with pytest.raises(dynarm.DynarmError, match="GB"):
        dynarm.simulate(stanford, Q, QD, 1e6, method="rk4", dt=1e-3)
