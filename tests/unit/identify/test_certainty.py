"""How sure values are, against what is worked out another way: covariances, coverage, bootstrap, what a prior hides."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import dynarm
from dynarm import Friction, Identifier, Log
from dynarm.identify.estimators import least_squares as estimators
from dynarm.identify.estimators.factors import Factors
from dynarm.identify.estimators.methods import ols, recursive
from dynarm.identify.estimators.problem import Problem, Pull
from oracles.simulated_log import exact_torque, multi_sine, noisy_log

TWO = dynarm.load("two_link")
DRIVE = Friction(viscous=0.5, coulomb=0.8, offset=0.2)


def driven(name):
    arm = dynarm.load(name)
    return replace(arm, joints=tuple(replace(j, friction=DRIVE, armature=0.0) for j in arm.joints))


# ---- small problems of two joints: joint 1 feels unknowns 0 to 4, joint 2 unknowns 3 to 5

SUPPORT = (np.arange(5), np.array([3, 4, 5]))
ROWS = 40
RNG = np.random.default_rng(5)
X = [RNG.normal(size=(ROWS, len(s))) for s in SUPPORT]
TRUTH = np.array([1.0, -2.0, 0.5, 3.0, -1.0, 2.0])


def factors_of(torques):
    R = [np.column_stack([x, y]) for x, y in zip(X, torques, strict=True)]
    return Factors(SUPPORT, 6, [R], np.full((1, 2), ROWS))


def exact():
    return [x @ TRUTH[s] for x, s in zip(X, SUPPORT, strict=True)]


def wide(weights):
    """The stacked regressor over all unknowns, and each row's joint."""
    rows = np.zeros((2 * ROWS, 6))
    for j, (x, s) in enumerate(zip(X, SUPPORT, strict=True)):
        rows[j * ROWS : (j + 1) * ROWS, s] = x * weights[j]
    return rows


def test_doubt_is_handed_on_by_the_recursive_procedure():
    """Values are linear in the torques, so their covariance follows from a unit change of each torque."""
    noise = [np.random.default_rng(k).normal(0, s, ROWS) for k, s in enumerate((0.3, 0.05))]
    torques = [y + e for y, e in zip(exact(), noise, strict=True)]
    factors, inflations = factors_of(torques), np.array([1.7, 0.6])
    solution = recursive.solve(Problem(factors))
    values = solution.values
    variances = estimators.deviations(factors.merged(), values) ** 2 * inflations
    expected = np.zeros((6, 6))
    for j in range(2):
        for k in range(ROWS):
            moved = [y.copy() for y in torques]
            moved[j][k] += 1.0
            slope = recursive.solve(Problem(factors_of(moved))).values - values
            expected += variances[j] * np.outer(slope, slope)
    told = recursive.covariance(solution, inflations)
    np.testing.assert_allclose(told, expected, rtol=1e-8, atol=1e-12)
    alone = np.linalg.inv(X[0][:, :3].T @ X[0][:, :3]) * variances[0]
    assert (np.diag(told)[:3] > np.diag(alone)).all()  # what is handed on is doubt, not certainty


@pytest.mark.parametrize("ridge", [0.0, 2.0])
def test_covariance_of_a_regularised_solution(ridge):
    """Of a truth drawn from the prior: (A + P)^-1 (A s + P m) (A + P)^-1, A the information, P that of the prior."""
    weights, inflations = np.array([2.0, 5.0]), np.array([1.7, 0.6])
    factors = factors_of(exact())
    strength = np.array([0.5, 1.0, 2.0, 0.0, 1.0, 3.0])
    solution = estimators.weighted(Problem(factors, ridge, Pull(np.zeros(6), strength)), weights)
    W = wide(weights)
    P = np.diag((ridge * strength * np.linalg.norm(W, axis=0)) ** 2)
    inverse = np.linalg.inv(W.T @ W + P)
    np.testing.assert_allclose(solution.covariance, inverse, rtol=1e-9, atol=1e-15)
    each = np.repeat(inflations, ROWS)
    middle = (W.T * each) @ W + P * inflations.mean()
    expected = inverse @ middle @ inverse
    told = estimators.sandwich(solution, inflations)
    np.testing.assert_allclose(told, expected, rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize("estimator", ["wls", "ols"])
def test_regularised_fits_are_as_sure_as_their_errors(estimator):
    """Truths drawn from the prior, noise white: errors over standard deviations are of size 1, not less, not more."""
    weights = np.full(2, 1 / 0.3)
    scales = np.linalg.norm(wide(weights), axis=0)
    strength = np.array([4.0, 1.0, 8.0, 1.0, 2.0, 8.0])
    rng, ratios = np.random.default_rng(0), []
    for _ in range(1500):
        truth = TRUTH + rng.normal(size=6) / (strength * scales)
        torques = [x @ truth[s] + rng.normal(0, 0.3, ROWS) for x, s in zip(X, SUPPORT, strict=True)]
        factors, pull = factors_of(torques), Pull(TRUTH, strength)
        if estimator == "wls":
            solution = estimators.weighted(Problem(factors, 1.0, pull), weights)
        else:
            solution = ols.solve(Problem(factors, 1.0, pull))
        spread = estimators.sandwich(solution, np.ones(2))
        ratios.append((solution.values - truth) / np.sqrt(np.diag(spread)))
    size = np.sqrt(np.mean(np.square(ratios), axis=0))
    assert size == pytest.approx(np.ones(6), abs=0.07)


# ---- coverage, two-sided


@pytest.mark.parametrize("estimator", ["recursive", "iv", "irls", "ols", "wls"])
def test_intervals_hold_the_truth_as_often_as_they_say(estimator):
    """100 recordings of 12 unknowns: half of the 50 % intervals hold it, and 95 of 100 of the others."""
    arm = driven("two_link")
    truth = np.r_[dynarm.minimal_parameters(arm).values, [0.5, 0.8, 0.2] * 2]
    identifier = Identifier(arm, armature=False, cutoff=15.0, estimator=estimator)
    hits = {0.5: [], 0.95: []}
    for seed in range(100):
        log = noisy_log(arm, 0.5, step=2 * np.pi / 2**18, seed=seed, duration=6.0, rate=100.0)
        fit = identifier.fit(log)
        for level, told in hits.items():
            low, high = fit.intervals(level).T
            told.append((low <= truth) & (truth <= high))
    shares = {level: float(np.mean(told)) for level, told in hits.items()}
    assert 0.42 <= shares[0.5] <= 0.58, shares
    assert 0.90 <= shares[0.95] <= 0.985, shares


# ---- poor logs: what a prior does, and what is judged


def poor_log(arm, seed=0):
    """Every joint at one frequency, slowly."""
    t = np.arange(2000) / 100
    w, a = 2 * np.pi * 0.1, np.linspace(0.4, 0.8, arm.n)
    q = a * np.sin(w * t)[:, None]
    qd, qdd = a * w * np.cos(w * t)[:, None], -(w**2) * q
    tau = exact_torque(arm, q, qd, qdd) + np.random.default_rng(seed).normal(0, 0.3, q.shape)
    return Log(t, q, tau, qd)


@pytest.fixture(scope="module")
def poor():
    arm = driven("puma560")
    return arm, Identifier(arm, cutoff=5.0, prior=arm).fit(poor_log(arm))


def test_the_bootstrap_of_a_regularised_fit_keeps_the_prior(poor):
    _, fit = poor
    draws = fit.bootstrap(60)
    assert fit.ridge_ > 0
    gap = np.abs(draws.mean(axis=0) - fit.values_)
    spread = np.maximum(draws.std(axis=0), 1e-9)
    assert np.median(gap / spread) < 1
    assert (gap < 4 * spread + 0.02 * np.abs(fit.values_).max()).all()
    k = fit.names_.index("U1_33+Ia1")
    assert draws[:, k].mean() == pytest.approx(fit.values_[k], rel=0.1)


def test_a_prior_that_took_part_answers_for_what_the_log_does_not_tell(poor):
    arm, fit = poor
    assert fit.identifiability_.undetermined
    assert not fit.verdict().findings
    assert "rest on the prior" in fit.status_
    plain = Identifier(arm, cutoff=5.0).fit(poor_log(arm))
    assert plain.identifiability_.undetermined
    assert any("not determined" in reason for reason in plain.verdict().reasons)


@pytest.mark.parametrize("options", [{"estimator": "recursive"}, {"regularise": 0}])
def test_a_prior_that_took_no_part_answers_for_nothing(options):
    arm = driven("puma560")
    fit = Identifier(arm, cutoff=5.0, prior=arm, **options).fit(poor_log(arm))
    assert fit.ridge_ == 0
    assert any("not determined" in reason for reason in fit.verdict().reasons)


def test_unequal_noise_is_weighed_joint_by_joint():
    """wls, told by nothing but the data, is closer to the truth than ols where joints are not alike."""
    arm = driven("two_link")
    t, q, qd, qdd = multi_sine(2)
    truth = np.r_[dynarm.minimal_parameters(arm).values, [0.5, 0.8, 0.2] * 2]
    error = {"wls": [], "ols": []}
    for seed in range(10):
        noise = np.random.default_rng(seed).normal(0, (5.0, 0.05), q.shape)
        log = Log(t, q, exact_torque(arm, q, qd, qdd) + noise, qd)
        for estimator, told in error.items():
            fit = Identifier(arm, armature=False, cutoff=15.0, estimator=estimator).fit(log)
            told.append(np.abs(fit.values_ - truth)[[3, 4, 5]].mean())
    assert np.mean(error["wls"]) < 0.5 * np.mean(error["ols"])
