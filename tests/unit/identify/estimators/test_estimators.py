"""Estimators: exact on exact data, honest on noisy data, robust and unbiased where they claim to be."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import dynarm
from dynarm import Friction, Identifier, Log, Preparation, minimal_parameters
from dynarm.identify.estimators import factors, table
from dynarm.identify.estimators.methods import ols
from dynarm.identify.estimators.problem import Problem
from dynarm.identify.preprocess import smooth
from dynarm.identify.regressor import Terms
from oracles.simulated_log import exact_log, exact_torque, multi_sine, noisy_log
from strategies import sample_arms

EXACT = 1e-9  # relative to the largest value
NAMED = ("stanford", "puma560", "scara")
DRIVE = Friction(viscous=0.5, coulomb=0.8, offset=0.2)


def bare(name):
    """A built-in robot without motors and friction."""
    arm = dynarm.load(name)
    return replace(arm, joints=tuple(replace(j, armature=0.0, friction=None) for j in arm.joints))


def driven(name):
    """A built-in robot with friction in every joint."""
    arm = bare(name)
    return replace(arm, joints=tuple(replace(j, friction=DRIVE) for j in arm.joints))


def truth(arm):
    """The unknowns of Identifier(arm, armature=False) for a robot made by `driven`."""
    return np.r_[minimal_parameters(arm).values, [0.5, 0.8, 0.2] * arm.n]


TWO = driven("two_link")


@pytest.mark.parametrize("estimator", table.names())
@pytest.mark.parametrize("name", NAMED)
def test_exact_data_give_the_minimal_parameters(name, estimator):
    arm = bare(name)
    fit = Identifier(arm, friction=(), armature=False, estimator=estimator).fit(exact_log(arm))
    values = minimal_parameters(arm).values
    assert np.abs(fit.values_ - values).max() < EXACT * np.abs(values).max()
    assert fit.rank_ == len(values)
    assert fit.status_.startswith("ok")


@pytest.mark.parametrize("arm", list(sample_arms(3, 6, (2, 3))), ids=lambda a: a.name)
def test_exact_data_of_random_arms(arm):
    log = exact_log(arm, samples=200)
    if (np.ptp(log.tau, axis=0) == 0).any():
        pytest.skip("a joint that feels nothing")
    values = minimal_parameters(arm).values
    for estimator in ("wls", "recursive"):
        fit = Identifier(arm, friction=(), armature=False, estimator=estimator).fit(log)
        assert np.abs(fit.values_ - values).max() < EXACT * np.abs(values).max()


@pytest.mark.parametrize("estimator", table.names())
def test_exact_data_give_friction_and_armature_too(estimator):
    arm = driven("puma560")
    arm = replace(
        arm, joints=tuple(replace(j, armature=0.3 + 0.1 * k) for k, j in enumerate(arm.joints))
    )
    fit = Identifier(arm, estimator=estimator).fit(exact_log(arm))
    values = np.r_[minimal_parameters(arm, armature=True).values, [0.5, 0.8, 0.2] * 6]
    assert np.abs(fit.values_ - values).max() < EXACT * np.abs(values).max()
    assert fit.names_[0] == "U1_33+Ia1"
    assert fit.names_[-3:] == ("viscous6", "coulomb6", "offset6")


def test_streamed_factors_equal_the_stacked_regressor(monkeypatch):
    arm = driven("puma560")
    log = noisy_log(arm, 0.5, duration=5.0)
    terms, how = Terms(arm), Preparation(cutoff=10.0, velocity="differentiate", decimate=1)
    piece = smooth(log, how)
    columns = terms.evaluate(piece.q, piece.qd, piece.qdd)
    rows = [columns[piece.keep[:, j], j] for j in range(6)]
    y = [piece.tau[piece.keep[:, j], j] for j in range(6)]
    stacked = np.linalg.lstsq(np.vstack(rows), np.concatenate(y), rcond=None)[0]
    for chunk in (100, 2048):
        monkeypatch.setattr(factors, "CHUNK", chunk)
        found = ols.solve(Problem(factors.fold(terms, [piece], how))).values
        np.testing.assert_allclose(found, stacked, rtol=1e-7, atol=1e-8)


def test_memory_does_not_grow_with_the_log():
    """No array of a fold has more rows than a chunk, whatever the length of the log."""
    terms, how = Terms(TWO), Preparation(cutoff=10.0, velocity="differentiate", decimate=1)
    sizes = []
    for duration in (20.0, 80.0):
        piece = smooth(noisy_log(TWO, 0.5, duration=duration), how)
        sizes.append(max(len(Xy) for rows in factors.stream(terms, [piece], how) for Xy in rows.Xy))
    assert max(sizes) <= factors.CHUNK


def test_forces_are_columns_times_values():
    terms = Terms(dynarm.load("puma560"), shape="tanh", asymmetric=True)
    rng = np.random.default_rng(0)
    states = [rng.normal(size=(20, 6)) for _ in range(3)]
    values = rng.normal(size=terms.size)
    np.testing.assert_allclose(
        terms.forces(values, *states), terms.evaluate(*states) @ values, rtol=1e-11, atol=1e-11
    )


def test_intervals_cover_the_truth():
    """95 % intervals hold the truth in 90 to 99 % of 200 recordings with quantised encoders and noisy torques."""
    identifier = Identifier(TWO, armature=False, cutoff=15.0)
    values, hits = truth(TWO), []
    for seed in range(200):
        log = noisy_log(TWO, 0.5, step=2 * np.pi / 2**18, seed=seed, duration=6.0, rate=100.0)
        low, high = identifier.fit(log).intervals(0.95).T
        hits.append((low <= values) & (values <= high))
    assert 0.90 <= np.mean(hits) <= 0.99


def test_bootstrap_agrees_with_the_standard_deviations():
    fit = Identifier(TWO, armature=False, cutoff=15.0).fit(noisy_log(TWO, 0.5, duration=20.0))
    ratio = fit.bootstrap(100).std(axis=0) / fit.std_
    assert 0.5 < np.median(ratio) < 2.0


def test_instruments_remove_the_bias_of_noisy_positions():
    """With encoder noise and a high cut-off, wls shrinks inertias; iv does not."""
    found = {"wls": [], "iv": []}
    for seed in range(8):
        log = noisy_log(TWO, 0.2, jitter=3e-4, seed=seed)
        for estimator, values in found.items():
            fit = Identifier(
                TWO, armature=False, estimator=estimator, cutoff=30.0, regularise=0
            ).fit(log)
            values.append(fit.values_)
    values = truth(TWO)
    inertial = [0, 1, 3, 4]  # U1_33, k1_x, U2_33, k2_x
    bias = {
        k: np.abs(np.mean(v, axis=0) / np.where(values == 0, 1, values) - 1)[inertial]
        for k, v in found.items()
    }
    assert (bias["iv"] < 0.1 * bias["wls"]).all()
    assert bias["iv"].max() < 0.01 < bias["wls"].min()


def test_outliers_hardly_move_the_robust_fit():
    log = noisy_log(TWO, 0.2)
    tau = log.tau.copy()
    hit = np.random.default_rng(0).random(len(tau)) < 0.03
    tau[hit] += 200.0
    spoiled = Log(log.t, log.q, tau)
    values = truth(TWO)
    error = {}
    for estimator in ("wls", "irls"):
        fit = Identifier(
            TWO,
            armature=False,
            estimator=estimator,
            cutoff=15.0,
            preparation=Preparation(decimate=1),
        ).fit(spoiled)
        error[estimator] = np.abs(fit.values_ - values) / np.abs(values).max()
    assert error["irls"].max() < 0.1 * error["wls"].max()


def test_recursive_reports_each_joints_condition():
    arm = bare("puma560")
    fit = Identifier(arm, friction=(), armature=False, estimator="recursive").fit(exact_log(arm))
    assert len(fit.joint_conditions_) == 6
    assert 1 < max(fit.joint_conditions_) < 100
    still = exact_log(arm)
    q, qd, qdd = still.q.copy(), still.qd.copy(), still.qdd.copy()
    q[:, :5], qd[:, :5], qdd[:, :5] = 0.3, 0.0, 0.0  # joint 6 turns about one axis only
    tau = exact_torque(arm, q, qd, qdd) + np.random.default_rng(0).normal(0, 1e-3, q.shape)
    poor = Log(still.t, q, tau, qd, qdd)
    found = Identifier(arm, friction=(), armature=False, estimator="recursive").fit(poor)
    assert found.joint_conditions_[5] > 100 * fit.joint_conditions_[5]
    assert "cond(A_i)" in found.summary()


def test_a_log_of_one_joint_leaves_the_others_unknown():
    arm = bare("puma560")
    t, q, qd, qdd = multi_sine(6)
    for x in (q, qd, qdd):
        x[:, 1:] *= 0.0
    tau = exact_torque(arm, q, qd, qdd) + np.random.default_rng(0).normal(0, 0.01, q.shape)
    fit = Identifier(arm, cutoff=10.0).fit(Log(t, q, tau, qd))
    check = fit.identifiability_
    assert fit.rank_ < len(fit.names_)
    assert len(check.undetermined) > 20
    assert np.isinf(fit.std_).any() or fit.ridge_ > 0
    assert fit.status_.startswith("doubtful")
    with pytest.raises(dynarm.DynarmError, match="not determined"):
        fit.check()
