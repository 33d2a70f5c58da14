"""Logs that are no recording of the robot: refused in one line, or called doubtful, never 'ok' above FAIL."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest

import dynarm
from dynarm import DynarmError, DynarmWarning, Friction, Identifier, Log
from dynarm.identify.judgement.outliers import spikes, without_outliers
from dynarm.identify.judgement.soundness import negative_energy
from dynarm.identify.preprocess import smooth
from dynarm.identify.regressor import Terms
from dynarm.identify.segments import stretches
from oracles.simulated_log import exact_log, exact_torque, multi_sine, noisy_log

TWO = dynarm.load("two_link")
ARM = replace(
    TWO,
    joints=tuple(
        replace(j, friction=Friction(viscous=0.5, coulomb=0.8, offset=0.2)) for j in TWO.joints
    ),
)
LOG = noisy_log(ARM, 0.3)
T, Q, TAU = LOG.t, LOG.q, LOG.tau


@pytest.fixture(autouse=True)
def quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DynarmWarning)
        yield


# ---- refused


REFUSED = {
    "2 samples": (lambda: LOG.rows(slice(0, 2)), {}, "8 samples"),
    "3 samples": (lambda: LOG.rows(slice(0, 3)), {}, "8 samples"),
    "7 samples": (lambda: [LOG.rows(slice(0, 7))] * 3, {}, "8 samples"),
    "only gaps": (lambda: Log(np.where(np.arange(30) % 4, 0, 9.0).cumsum() + np.arange(30) * 0.01,
                              Q[:30], TAU[:30]), {}, "8 samples"),
    "q of 1e300": (lambda: Log(T, Q * 1e300, TAU), {}, "positions of joint 1"),
    "q of 1e13": (lambda: Log(T, Q + 1e13, TAU), {}, "positions of joint 1"),
    "tau of 1e200": (lambda: Log(T, Q, TAU * 1e200), {}, "tau reaches"),
    "qd of 1e200": (lambda: Log(T, Q, TAU, qd=Q * 1e200), {}, "qd reaches"),
    "steps of 1e-300 s": (lambda: Log(T * 1e-300, Q, TAU), {}, "time step"),
    "steps of 1e300 s": (lambda: Log(T * 1e300, Q, TAU), {}, "time step"),
    "time offset of 1e15": (lambda: Log(T * 1e3 + 1e15, Q, TAU), {}, "subtract the first time"),
    "seconds offset by 1e15": (lambda: Log(T * 100 + 1e15, Q, TAU), {}, "subtract the first time"),
    "cut-off of 1e-9": (lambda: LOG, {"cutoff": 1e-9}, "cutoff is 1e-09 Hz"),
    "cut-off of 1e-3": (lambda: LOG, {"cutoff": 1e-3}, "cutoff is 0.001 Hz"),
}  # fmt: skip


@pytest.mark.parametrize("kind", REFUSED)
def test_nonsense_is_refused_in_one_line(kind):
    make, options, words = REFUSED[kind]
    with pytest.raises(DynarmError, match=words) as refusal:
        Identifier(TWO, **options).fit(make())
    assert "\n" not in str(refusal.value)
    assert len(str(refusal.value)) < 300


def test_what_cannot_be_solved_is_an_error_of_ours(monkeypatch):
    def fail(*args, **options):
        raise np.linalg.LinAlgError("SVD did not converge")

    monkeypatch.setattr("dynarm.identify.solving.fold", fail)
    with pytest.raises(DynarmError, match="check the units"):
        Identifier(TWO, cutoff=15.0).fit(LOG)


@pytest.mark.parametrize("samples", [8, 9, 20, 40])
def test_short_logs_are_refused_or_doubtful(samples):
    try:
        fit = Identifier(TWO).fit(LOG.rows(slice(0, samples)))
    except DynarmError:
        return
    assert np.isfinite(fit.values_).all()
    assert not fit.status_.startswith("ok")


def test_epoch_times_of_fast_recordings_are_fine():
    fit = Identifier(TWO, cutoff=15.0).fit(Log(T + 1.7e9, Q, TAU))
    plain = Identifier(TWO, cutoff=15.0).fit(LOG)
    np.testing.assert_allclose(fit.values_, plain.values_, rtol=0.02, atol=0.02)


def test_many_short_stretches_are_fitted():
    """So many that a trial on thinned stretches has none left of 8 samples."""
    t, q, qd, qdd = multi_sine(2, duration=50.0, rate=1000.0)
    tau = exact_torque(ARM, q, qd, qdd)
    pieces = [slice(k, k + 40) for k in range(0, len(t), 200)]
    rows = np.concatenate([np.arange(len(t))[p] for p in pieces])
    fit = Identifier(TWO, armature=False).fit(Log(t[rows], q[rows], tau[rows], qd[rows]))
    assert fit.relative_.max() < 0.1
    assert fit.delays_.shape == (2,)


# ---- doubtful


NONSENSE = {
    "torques negated": (lambda: Log(T, Q, -TAU), {}),
    "torques negated, feasible": (lambda: Log(T, Q, -TAU), {"feasible": True}),
    "torques negated, recursive": (lambda: Log(T, Q, -TAU), {"estimator": "recursive"}),
    "torques negated, iv": (lambda: Log(T, Q, -TAU), {"estimator": "iv"}),
    "torques negated, irls": (lambda: Log(T, Q, -TAU), {"estimator": "irls"}),
    "torques negated, ols": (lambda: Log(T, Q, -TAU), {"estimator": "ols"}),
    "positions negated": (lambda: Log(T, -Q, TAU), {}),
    "milliseconds": (lambda: Log(T * 1e3, Q, TAU), {}),
    "joints swapped": (lambda: Log(T, Q, TAU[:, ::-1]), {}),
    "noise": (lambda: Log(T, Q, np.random.default_rng(0).normal(size=Q.shape)), {}),
    "backwards": (lambda: Log(T, Q[::-1], TAU), {}),
}


@pytest.mark.parametrize("kind", NONSENSE)
def test_status_and_verdict_agree_about_nonsense(kind):
    make, options = NONSENSE[kind]
    fit = Identifier(TWO, cutoff=15.0 if kind != "milliseconds" else None, **options).fit(make())
    verdict = fit.verdict()
    assert not verdict.passed
    assert fit.status_.startswith("doubtful")
    assert verdict.findings
    for reason in verdict.findings:
        assert reason.text in fit.status_
    with pytest.raises(DynarmError, match="doubtful"):
        fit.check()


@pytest.mark.parametrize("options", [{}, {"feasible": True}, {"estimator": "recursive"}])
def test_negated_torques_are_told_by_negative_energy(options):
    fit = Identifier(TWO, cutoff=15.0, **options).fit(Log(T, Q, -TAU))
    assert any("kinetic energy" in reason for reason in fit.verdict().reasons)
    assert "check the signs" in fit.status_


@pytest.mark.parametrize("estimator", ["wls", "recursive", "iv", "irls", "ols"])
def test_good_logs_stay_ok(estimator):
    for seed in range(5):
        fit = Identifier(TWO, cutoff=15.0, estimator=estimator).fit(noisy_log(ARM, 0.5, seed=seed))
        assert fit.status_.startswith("ok")
        assert fit.verdict().word == "NOT VALIDATED"
        assert fit.verdict(noisy_log(ARM, 0.5, seed=seed + 9)).passed


def test_feasible_values_are_judged_by_their_own_error():
    """The consistent values nearest to negated ones explain nothing, and that is the fit's error."""
    fit = Identifier(TWO, cutoff=15.0, feasible=True).fit(Log(T, Q, -TAU))
    own = fit.validate(Log(T, Q, -TAU)).relative
    np.testing.assert_allclose(fit.relative_, own, rtol=0.1)
    assert fit.relative_.min() > 0.5


def energies(inner, std):
    """What is told of M = [[1, inner], [inner, inner]], the inner inertia known to std."""
    log = exact_log(TWO)
    terms = Terms(TWO, friction=(), armature=False)
    how = dynarm.Preparation(cutoff=np.inf, velocity="recorded")
    pieces = [smooth(p, how) for p in stretches(log)]
    pieces = [replace(p, qd=p.qd / np.sqrt((p.qd**2).mean(axis=0))) for p in pieces]  # unit speeds
    values, spread = np.zeros(terms.size), np.zeros((terms.size, terms.size))
    k = terms.names.index("U2_33")
    values[terms.names.index("U1_33")], values[k] = 1.0, inner
    spread[k, k] = std**2
    return bool(negative_energy(terms, pieces, values, spread))


def test_energy_is_negative_beyond_doubt_only():
    """With -0.1, the eigenvalues are -0.1090 and 1.0090; the doubt of the first is 1.171 times the inertia's.

    It exceeds 3 % of their sum, 0.0335, by five standard deviations if the inertia is known to 0.01289.
    """
    assert energies(-0.1, 0.0) and energies(-0.1, 0.0126)
    assert not energies(-0.1, 0.0132) and not energies(-0.1, 0.1)
    assert energies(-0.035, 0.0) and not energies(-0.028, 0.0)  # 3.5 and 2.8 % of the sum
    assert not energies(0.1, 0.0)


# ---- outliers


def spoiled(value, rows=(400,), joint=0):
    tau = TAU.copy()
    tau[list(rows), joint] = value
    return Log(T, Q, tau)


@pytest.mark.parametrize("value", [1e4, -1e6, 1e12])
@pytest.mark.parametrize("rows", [(400,), (0,), (1999,), (400, 401, 402), (10, 700, 1500)])
def test_gross_outliers_are_left_out_and_told(value, rows):
    good = Identifier(TWO, cutoff=15.0).fit(LOG)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        fit = Identifier(TWO, cutoff=15.0).fit(spoiled(value, rows))
    assert any(f"left out: {len(rows)} samples" in str(w.message) for w in told)
    assert f"left out: {len(rows)} samples whose tau cannot be" in fit.status_
    assert fit.status_.startswith("ok")
    np.testing.assert_allclose(fit.values_, good.values_, atol=0.3 * good.std_.max())
    assert len(fit.record.logs[0]) == len(T) - len(rows)


def test_outliers_of_recorded_velocities_are_left_out():
    qd = np.gradient(Q, T, axis=0)
    qd[300, 1] = 1e9
    fit = Identifier(
        TWO, cutoff=15.0, preparation=dynarm.Preparation(velocity="recorded")
    ).fit(Log(T, Q, TAU, qd))  # fmt: skip
    assert "whose qd cannot be (row 301, column 2" in fit.status_
    assert fit.relative_.max() < 0.1


def test_a_log_without_outliers_is_the_log_itself():
    assert without_outliers(LOG) is LOG
    rest = Log(T, Q, np.where(T[:, None] < 9.95, 0.0, TAU))
    assert without_outliers(rest) is rest  # resting nearly always: what moves is not known


def test_what_counts_as_a_spike():
    x = np.sin(np.arange(1000) * 0.1)
    usual = np.quantile(np.abs(x - np.median(x)), 0.99, method="lower")
    for size, told in ((9.0, []), (12.0, [500])):
        y = x.copy()
        y[500] = size * usual
        assert spikes(y) == told
    y = x.copy()
    y[500:530] = 50.0  # it lasts: a collision, or a motion, not a spike
    assert not set(spikes(y)) & set(range(510, 520))
    assert spikes(np.zeros(100)) == []
