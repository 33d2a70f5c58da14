"""What several runs say together: deviations that hold between them, logs that do not belong, signs, unseen logs."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import dynarm
from dynarm import Friction, Identifier
from dynarm.identify.judgement.runs import told_apart
from dynarm.identify.judgement.signs import impossible_signs
from dynarm.identify.regressor import Terms
from oracles.simulated_log import noisy_log

PUMA = dynarm.load("puma560")
PLAIN = {"friction": ("viscous", "coulomb", "offset"), "cutoff": 10.0}
WIDER = 1.3  # the most that deviations of equal runs are usually widened by, and twice at most


def driven(scale=1.0):
    """The arm with motors and friction, friction scaled."""
    rows = [Friction(viscous=2.0 * scale, coulomb=3.0 * scale)] * 3
    rows += [Friction(viscous=0.5 * scale, coulomb=0.8 * scale)] * 3
    pairs = zip(PUMA.joints, rows, strict=True)
    return replace(PUMA, joints=tuple(replace(j, armature=1.0, friction=f) for j, f in pairs))


def runs(scales, noise=0.4):
    return [
        noisy_log(driven(s), noise, seed=k, motion=k, duration=8.0) for k, s in enumerate(scales)
    ]


@cache
def fitted(scales):
    return Identifier(PUMA, **PLAIN).fit(runs(scales))


def friction_of(fit):
    return np.arange(fit.record.terms.rigid_size, len(fit.names_))


def test_equal_runs_keep_their_deviations():
    fit = fitted((1.0, 1.0, 1.0, 1.0))
    assert fit.runs_ and len(fit.runs_.sources) == 4
    wide = fit.runs_.widening
    assert (wide >= 1).all() and np.median(wide) < WIDER and (wide < 2).all()
    for rigid in (True, False):
        assert (np.abs(fit.runs_.apart(rigid)) < 1.96).mean() > 0.85
    assert not fit.runs_.strangers and "4 runs fitted alone" in fit.summary()


def test_runs_with_other_friction_widen_what_is_stated_of_it():
    """The mean of the true values lies inside the widened intervals, and not inside those of noise alone."""
    scales = (0.9, 1.1, 0.85, 1.15)
    fit, equal = fitted(scales), fitted((1.0, 1.0, 1.0, 1.0))
    own, rigid = friction_of(fit), np.arange(fit.record.terms.rigid_size)
    slips = [k for k in own if fit.names_[k].startswith(("viscous", "coulomb"))]
    assert np.median(fit.runs_.widening[slips]) > 2
    assert np.median(fit.runs_.widening[rigid]) < WIDER
    assert (fit.std_[slips] > 1.5 * equal.std_[slips]).mean() > 0.8
    true = np.array([getattr(driven().joints[int(fit.names_[k][7:]) - 1].friction, fit.names_[k][:7])
                     for k in slips])  # fmt: skip
    off = np.abs(fit.values_[slips] - true)
    assert (off < 1.96 * fit.std_[slips]).mean() >= 0.9
    assert (np.abs(fit.runs_.apart(False)) < 1.96).mean() < 0.9
    assert "friction's differences" in fit.runs_.told


def test_one_run_has_nothing_to_agree_with():
    fit = Identifier(PUMA, **PLAIN).fit(runs((1.0,)))
    assert not fit.runs_ and fit.runs_.told == "" and (fit.runs_.widening == 1).all()


@pytest.mark.parametrize("estimator", ["ols", "irls", "iv", "recursive"])
def test_runs_are_compared_for_every_estimator(estimator):
    two = dynarm.load("two_link")
    logs = [noisy_log(two, 0.3, seed=k, motion=k) for k in range(3)]
    fit = Identifier(two, estimator=estimator, **PLAIN).fit(logs)
    assert fit.runs_ and fit.runs_.widening.max() < 2


def test_a_log_of_another_payload_is_suspected():
    logs = runs((1.0, 1.0, 1.0))
    heavy = driven().with_payload(4.0)
    other = replace(noisy_log(heavy, 0.4, seed=9, motion=9, duration=8.0), source="heavy.csv")
    fit = Identifier(PUMA, **PLAIN).fit([*logs, other])
    assert any(told.startswith("heavy.csv seems to be of another") for told in fit.runs_.strangers)
    assert fit.status_.startswith("doubtful") and "heavy.csv" in fit.status_
    assert fit.verdict(logs[0]).word == "FAIL"


@pytest.mark.parametrize("lasting", [0.2, 0.5])
def test_a_very_short_log_beside_long_ones_is_no_stranger(lasting):
    """Fitted alone it is explained by anything."""
    long = runs((1.0,))[0]
    short = [noisy_log(driven(), 0.4, seed=k, motion=k).cut(1.0, 1.0 + lasting) for k in (5, 6, 7)]
    fit = Identifier(PUMA, **PLAIN).fit([long, *short])
    assert len(fit.runs_.sources) == 4 and not fit.runs_.strangers
    assert fit.verdict(noisy_log(driven(), 0.4, seed=9, motion=9, duration=8.0)).word == "PASS"


def test_logs_of_one_name_are_told_apart():
    """Arrays in memory are all called 'log': which of them is meant says a number."""
    logs = runs((1.0, 1.0, 1.0))
    heavy = noisy_log(driven().with_payload(4.0), 0.4, seed=9, motion=9, duration=8.0)
    fit = Identifier(PUMA, **PLAIN).fit([logs[0], logs[1], heavy])
    assert any(told.startswith("log (3 of 3) seems to be of") for told in fit.runs_.strangers)
    assert told_apart(["a", "log", "b", "log"]) == ["a", "log (2 of 4)", "b", "log (4 of 4)"]


def test_agreements_and_validations_show_themselves_in_a_line():
    logs = runs((1.0, 1.0))
    fit = Identifier(PUMA, **PLAIN).fit(logs)
    check = fit.validate(logs[0])
    shown = repr(check)
    assert shown.startswith("<dynarm.Validation of log: mean error 0.") and "\n" not in shown
    assert [float(x) for x in shown[:-1].split("joint ")[1].split()] == check.relative.round(
        3
    ).tolist()
    assert repr(fit.runs_).startswith("<dynarm.RunAgreement: 2 runs fitted alone: ")
    assert "array" not in repr(fit.runs_) and "array" not in shown


# ---- verdicts


def test_a_held_out_log_of_the_same_robot_passes_and_of_another_fails():
    fit = fitted((1.0, 1.0, 1.0, 1.0))
    assert fit.verdict().word == "NOT VALIDATED"
    assert fit.verdict(noisy_log(driven(), 0.4, seed=11, motion=11)).passed
    heavy = noisy_log(driven().with_payload(6.0), 0.4, seed=11, motion=11)
    failed = fit.verdict(heavy)
    assert failed.word == "FAIL" and failed.exit_code == 1
    assert "same robot, payload and mounting" in failed.advice[0]
    assert any("N m" in reason for reason in failed.reasons)


def test_fitted_errors_are_what_validate_says_of_the_fitted_log():
    (log,) = runs((1.0,))
    fit = Identifier(PUMA, **PLAIN).fit(log)
    check = fit.validate(log)
    np.testing.assert_allclose(fit.fitted_.rmse, check.rmse, rtol=1e-3)
    np.testing.assert_allclose(fit.fitted_.relative, check.relative, rtol=1e-3)
    np.testing.assert_allclose(fit.fitted_.band, check.band, rtol=0.02)


def negative(armature):
    """A fit of an arm whose last motor has a given inertia, which simulation does not refuse."""
    log = noisy_log(driven(), 0.1, motion=3)
    qdd = np.gradient(np.gradient(log.q[:, 5], log.t), log.t)
    tau = log.tau.copy()
    tau[:, 3] += (armature - 1.0) * np.gradient(np.gradient(log.q[:, 3], log.t), log.t)
    assert len(qdd)
    return Identifier(PUMA, **PLAIN).fit(replace(log, tau=tau)), replace(log, tau=tau)


def test_a_motor_inertia_below_zero_is_no_pass():
    fit, log = negative(-0.5)
    k = fit.names_.index("Ia4")
    assert fit.values_[k] < -4 * fit.std_[k]
    verdict = fit.verdict(log)
    assert not verdict.passed and any("Ia4 is -0.5" in reason for reason in verdict.reasons)
    assert any("feasible=True" in advice for advice in verdict.advice)
    good, log = negative(0.5)
    assert good.verdict(log).passed and not good.impossible_


@pytest.mark.parametrize("sure, told", [(3.9, 0), (4.1, 1)])
@pytest.mark.parametrize("word", ["Ia3", "viscous2", "coulomb1"])
def test_four_deviations_make_a_sign_impossible(word, sure, told):
    terms = Terms(PUMA)
    values, covariance = np.ones(terms.size), np.zeros((terms.size, terms.size))
    k = terms.names.index(word)
    values[k], covariance[k, k] = -0.2 * sure, 0.04
    assert len(impossible_signs(terms, values, covariance, np.ones(6))) == told


@pytest.mark.parametrize("wide, told", [(0.5, 0), (-4.0, 1)])
def test_friction_with_lists_is_looked_at_as_a_whole(wide, told):
    """A viscous coefficient may be below zero where a curve makes up for it, not where nothing does."""
    curve = Friction(curve=((0.1, 0.0),))
    terms = Terms(PUMA, listed=(curve,) * 6)
    values = np.ones(terms.size)
    values[terms.names.index("viscous1")] = -0.3
    values[terms.listed_index(0)] = wide
    sentences = impossible_signs(terms, values, np.zeros((terms.size,) * 2), np.ones(6))
    assert len(sentences) == told and all("joint 1" in s or "pushes" in s for s in sentences)


# ---- unknowns that are called determined


def test_what_is_not_told_from_zero_is_not_called_determined():
    fit = fitted((1.0, 1.0, 1.0, 1.0))
    check = fit.identifiability_
    percent = fit.relative_std_
    rows = zip(check.grades, percent, strict=True)
    assert all(p <= 100 for grade, p in rows if grade == "determined")
    small = [k for k, grade in enumerate(check.grades) if grade == "small"]
    assert small and (percent[small] > 100).all()
    assert "too small to be told from 0" in check.summary()
