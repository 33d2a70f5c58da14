"""A bootstrap solves the problem of the fit again: its estimator, prior and instruments, on other blocks of time."""

from __future__ import annotations

import numpy as np
import pytest

import dynarm
from dynarm import Identifier, Log
from dynarm.identify.estimators import table
from dynarm.identify.estimators.problem import Pull
from oracles.simulated_log import exact_torque, noisy_log

TWO = dynarm.load("two_link")


def noisy_positions():
    """Positions so noisy that least squares and instruments give other values."""
    return noisy_log(TWO, 0.3, jitter=4e-3, duration=20.0, rate=100.0)


def poor_log(arm):
    """Every joint at one frequency, slowly: the log leaves most unknowns to the prior."""
    t = np.arange(2000) / 100
    w, a = 2 * np.pi * 0.1, np.linspace(0.4, 0.8, arm.n)
    q = a * np.sin(w * t)[:, None]
    qd, qdd = a * w * np.cos(w * t)[:, None], -(w**2) * q
    tau = exact_torque(arm, q, qd, qdd) + np.random.default_rng(0).normal(0, 0.3, q.shape)
    return Log(t, q, tau, qd)


def away(fit, repetitions=60):
    """(p,): the bootstrap's mean less the estimate, in standard deviations of the bootstrap."""
    draws = fit.bootstrap(repetitions)
    return np.abs(draws.mean(axis=0) - fit.values_) / np.maximum(draws.std(axis=0), 1e-9)


@pytest.mark.parametrize("estimator", table.names())
def test_the_mean_of_the_bootstrap_is_the_estimate(estimator):
    fit = Identifier(TWO, armature=False, cutoff=20.0, estimator=estimator).fit(noisy_positions())
    assert away(fit).max() < 1


@pytest.mark.parametrize("estimator", ["ols", "wls", "irls"])
def test_a_regularised_fit_of_a_poor_log_keeps_its_prior(estimator):
    """PUMA: what the log does not tell comes from the prior, in each draw as in the fit."""
    arm = dynarm.load("puma560")
    how = {"cutoff": 5.0, "prior": arm, "feasible": False}  # draws are not made consistent
    fit = Identifier(arm, estimator=estimator, **how).fit(poor_log(arm))
    assert fit.ridge_ > 0 and fit.identifiability_.undetermined
    assert away(fit, 30).max() < 1
    k = fit.names_.index("U1_33+Ia1")
    assert fit.bootstrap(30)[:, k].mean() == pytest.approx(fit.values_[k], rel=0.1)


def test_the_problem_of_a_fit_carries_what_is_needed_again():
    fit = Identifier(TWO, cutoff=20.0, regularise=2.0).fit(noisy_positions())
    problem = fit.record.problem
    assert problem.ridge == fit.ridge_ > 0 and isinstance(problem.pull, Pull)
    assert problem.names == fit.names_
    assert problem.sources == ()  # the logs' rows are not held on to
    one = problem.drawn([3, 3, 5])
    assert one.factors.blocks == 1 and one.pull is problem.pull and one.ridge == problem.ridge
    rows = problem.factors.rows
    np.testing.assert_array_equal(one.factors.rows[0], 2 * rows[3] + rows[5])
