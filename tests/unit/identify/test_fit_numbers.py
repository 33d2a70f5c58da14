"""A fit's numbers against what they say they are: deviations, intervals, errors, arms, curves, judgements, refusals."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import dynarm
from dynarm import Column, Friction, Identifier, Log, Preparation, minimal_parameters
from dynarm.identify.estimators.methods import recursive
from dynarm.identify.judgement import reasons as judgement
from dynarm.identify.judgement.statistics import residuals
from oracles.simulated_log import exact_log, exact_torque, multi_sine, noisy_log

TWO = dynarm.load("two_link")
DRIVE = Friction(viscous=0.5, coulomb=0.8, offset=0.2)
ARM = replace(TWO, joints=tuple(replace(j, friction=DRIVE) for j in TWO.joints))


@pytest.fixture(scope="module")
def log():
    return noisy_log(ARM, 0.5)


@pytest.fixture(scope="module")
def fit(log):
    return Identifier(TWO, armature=False, cutoff=15.0).fit(log)


def test_intervals_are_the_normal_distributions(fit):
    np.testing.assert_allclose(fit.std_, np.sqrt(np.diag(fit.covariance_)))
    for level, sigmas in ((0.95, 1.959964), (0.5, 0.6744898), (0.0, 0.0)):
        low, high = fit.intervals(level).T
        np.testing.assert_allclose(high - fit.values_, sigmas * fit.std_, rtol=1e-6, atol=1e-12)
        np.testing.assert_allclose(fit.values_ - low, sigmas * fit.std_, rtol=1e-6, atol=1e-12)
    np.testing.assert_array_equal(fit.intervals(), fit.intervals(0.95))
    np.testing.assert_allclose(fit.relative_std_, 100 * fit.std_ / np.abs(fit.values_))
    for level in (-0.1, 1.0):
        with pytest.raises(dynarm.DynarmError, match="level"):
            fit.intervals(level)


def test_directions_without_answer_have_endless_deviations():
    """Two columns alike but for a random third: the sum is told, the parts are not, the rest is."""
    spring = Column("spring", lambda q, qd, qdd: [q[0], 0])
    bent = Column("bent", lambda q, qd, qdd: [q[0] * q[0] * q[0], 0])
    log = exact_log(TWO)
    q = log.q.copy()
    q[:, 0] = np.where(np.arange(len(q)) % 2, 1.0, -1.0)  # q and its cube are the same there
    tau = exact_torque(TWO, q, log.qd, log.qdd)
    tau = tau + np.random.default_rng(0).normal(0, 1e-3, tau.shape)
    held = Log(log.t, q, tau, log.qd, log.qdd)
    how = Preparation(cutoff=np.inf, velocity="recorded")
    told = Identifier(
        TWO, friction=(), armature=False, columns=(spring, bent), regularise=0, preparation=how
    ).fit(held)
    endless = {n for n, s in zip(told.names_, told.std_, strict=True) if np.isinf(s)}
    assert {"spring", "bent"} <= endless
    assert "U2_33" not in endless and np.isfinite(told.std_[told.names_.index("k2_x")])
    assert told.rank_ < len(told.names_)
    assert "cannot be told apart" in told.status_


def test_errors_are_parts_of_the_torques_deviation(fit, log):
    left = fit.residuals_
    np.testing.assert_allclose(fit.relative_, left.rms / left.spread)
    for j in range(2):
        own = left.measured[j] - left.predicted[j]
        assert left.rms[j] == pytest.approx(np.sqrt((own**2).mean()), rel=1e-6)
    run = fit.validate(log)
    np.testing.assert_allclose(run.rmse, np.sqrt(((log.tau - fit.predict(log)) ** 2).mean(axis=0)))
    np.testing.assert_allclose(run.relative, run.rmse / log.tau.std(axis=0))
    assert run.mean == pytest.approx(run.relative.mean())
    other = noisy_log(ARM, 2.0, motion=3)
    both = [1 - np.mean(fit.validate(x).relative ** 2) for x in (log, other)]
    assert fit.score(log) == pytest.approx(both[0])
    assert fit.score([log, other]) == pytest.approx(np.mean(both))
    flat = replace(other, tau=np.column_stack([other.tau[:, 0], np.full(len(other), 3.0)]))
    assert fit.validate(flat).relative[1] == pytest.approx(fit.validate(flat).rmse[1])


def test_errors_of_the_consistent_values(log):
    loud = noisy_log(ARM, 30.0)
    fit = Identifier(TWO, cutoff=10.0).fit(loud)
    near = fit.feasible_.values
    assert not np.array_equal(near, fit.values_)
    factors = fit.record.factors
    rms = np.sqrt(factors.squares(near).sum(axis=0) / factors.rows.sum(axis=0))
    np.testing.assert_allclose(fit.consistent_, rms / fit.residuals_.spread)
    good = Identifier(TWO, armature=False, cutoff=15.0, feasible=True).fit(log)
    np.testing.assert_array_equal(good.consistent_, good.relative_)


def test_torques_in_large_batches(fit):
    rng = np.random.default_rng(0)
    states = [rng.normal(size=(9000, 2)) for _ in range(3)]
    tau = fit.torque(*states)
    for k in (0, 4095, 4096, 8191, 8192, 8999):
        np.testing.assert_allclose(tau[k], fit.torque(*(x[k : k + 1] for x in states))[0])


@pytest.mark.parametrize("armature", [False, True])
def test_the_exact_arm_gives_the_fitted_values(armature):
    fit = Identifier(TWO, armature=armature, cutoff=10.0).fit(noisy_log(ARM, 30.0))
    arm = fit._exact_arm()
    values = minimal_parameters(arm, armature=armature).values
    np.testing.assert_allclose(values, fit.values_[: len(values)], rtol=1e-9, atol=1e-9)
    assert not fit.feasible_.exact
    for j, joint in enumerate(arm.joints):
        words = ("viscous", "coulomb", "offset")
        told = [fit.values_[fit.names_.index(f"{w}{j + 1}")] for w in words]
        assert [getattr(joint.friction, w) for w in words] == pytest.approx(told)
    if not armature:
        assert [j.armature for j in arm.joints] == [0.0, 0.0]


def test_a_fit_without_friction_has_none():
    fit = Identifier(TWO, friction=(), armature=False).fit(exact_log(TWO))
    assert all(j.friction is None for j in fit.arm_.joints)
    motors = replace(TWO, joints=tuple(replace(j, armature=0.3) for j in TWO.joints))
    fit = Identifier(motors, friction=()).fit(exact_log(motors))
    np.testing.assert_allclose(fit._exact_arm().parameters, fit.arm_.parameters, atol=1e-6)


def test_speeds_and_friction_curves(fit, log):
    tops = np.abs(np.gradient(log.q, log.t, axis=0)).max(axis=0)
    np.testing.assert_allclose(fit.speeds_, tops)
    speed, force = fit.friction_curve(1)
    assert len(speed) == len(force) == 201
    np.testing.assert_allclose(speed, np.linspace(-tops[1], tops[1], 201), atol=1e-12)
    v, c, o = (fit.values_[fit.names_.index(w)] for w in ("viscous2", "coulomb2", "offset2"))
    np.testing.assert_allclose(force, v * speed + c * np.sign(speed) + o, atol=1e-12)
    assert len(fit.friction_curve(0, 2)[0]) == 2
    for joint, points in ((2, 9), (-1, 9), (0, 1)):
        with pytest.raises(dynarm.DynarmError):
            fit.friction_curve(joint, points)
    slow, fast = noisy_log(ARM, 0.5), noisy_log(ARM, 0.5, top=2.0)
    both = Identifier(TWO, armature=False, cutoff=15.0).fit([slow, fast])
    each = [np.abs(np.gradient(x.q, x.t, axis=0)).max(axis=0) for x in (slow, fast)]
    np.testing.assert_allclose(both.speeds_, np.maximum(*each))


def test_advice_on_friction_says_how_much():
    smooth = replace(TWO.joints[0], friction=Friction(coulomb=5.0, shape="tanh", width=0.2))
    arm = replace(TWO, joints=(smooth, TWO.joints[1]))
    fit = Identifier(TWO, cutoff=15.0).fit(noisy_log(arm, 0.1))
    (told,) = fit.friction_advice_
    assert told.startswith(f"joint {TWO.joint_names[0]}: shape='tanh' (width 0.2) would lower")
    percent = int(told.split()[-2])
    assert 20 <= percent < 100
    assert Identifier(TWO, cutoff=15.0, friction=("viscous",)).fit(
        noisy_log(arm, 0.1)
    ).friction_advice_ == ()  # fmt: skip


# ---- how a fit is made


@pytest.mark.parametrize("regularise", [0.5, 2])
def test_a_ridge_is_given_in_units_of_the_noise(log, regularise):
    plain = Identifier(TWO, cutoff=15.0, regularise=0).fit(log)
    fit = Identifier(TWO, cutoff=15.0, regularise=regularise).fit(log)
    pieces = plain.record.recording.pieces(plain.record.preparation)
    as_left = residuals(plain.record.terms, pieces, plain.record.preparation, plain.values_)
    unit = np.sqrt(as_left.inflation.mean())
    assert plain.ridge_ == 0
    assert fit.ridge_ == pytest.approx(regularise * unit)
    assert f"regularised (ridge {fit.ridge_:.2g})" in fit.status_
    assert "regularised" not in plain.status_


def test_a_prior_pulls_even_where_the_log_tells_all(log):
    fit = Identifier(TWO, cutoff=15.0, prior=TWO).fit(log)
    assert fit.ridge_ >= np.sqrt(fit.residuals_.inflation.mean()) * 0.5
    assert fit.record.ridge_errors
    assert fit.record.pull is not None
    assert Identifier(TWO, cutoff=15.0).fit(log).record.pull is None


def test_covariances_by_estimator(log):
    """Instruments: of white noise times the mean inflation."""
    fit = Identifier(TWO, armature=False, cutoff=15.0, estimator="iv").fit(log)
    inflation = fit.residuals_.inflation.mean()
    np.testing.assert_allclose(fit.covariance_, fit.solution.covariance * inflation)
    fit = Identifier(TWO, armature=False, cutoff=15.0, estimator="recursive").fit(log)
    expected = recursive.covariance(fit.solution, fit.residuals_.inflation)
    np.testing.assert_allclose(fit.covariance_, expected)


def test_widths_are_sought_only_where_they_matter(log):
    assert Identifier(TWO, shape="tanh", friction=("viscous",)).fit(log).widths_ == (0.02, 0.02)
    assert Identifier(TWO, cutoff=15.0).fit(log).widths_ == (0.02, 0.02)
    assert Identifier(TWO, shape="tanh", width=0.3, cutoff=15.0).fit(log).widths_ == (0.3, 0.3)


def test_progress_reaches_all_samples(log):
    seen = []
    how = Preparation(cutoff=15.0, decimate=1)
    Identifier(TWO, preparation=how, progress=lambda *x: seen.append(x)).fit(log)
    assert seen[-1] == (len(log), len(log))
    assert [done for done, _ in seen] == sorted({done for done, _ in seen})


def test_too_few_samples_are_refused(log):
    how = Preparation(cutoff=15.0, decimate=4, slow=0, trim=0)
    unknowns = len(Identifier(TWO).terms().names)
    enough = -(-unknowns // 2)
    few = log.rows(slice(300, 300 + 4 * enough - 1))
    with pytest.raises(dynarm.DynarmError, match=f"{enough - 1} samples of 2 joints"):
        Identifier(TWO, preparation=how).fit(few)


def test_cross_validation_leaves_each_run_out():
    logs = [noisy_log(ARM, 0.5, motion=m, duration=4.0) for m in range(3)]
    identifier = Identifier(TWO, armature=False, cutoff=15.0)
    runs = identifier.cross_validate(logs)
    for k, run in enumerate(runs):
        others = [x for j, x in enumerate(logs) if j != k]
        expected = identifier.fit(others).validate(logs[k])
        np.testing.assert_allclose(run.rmse, expected.rmse)
    with pytest.raises(dynarm.DynarmError, match="at least two"):
        identifier.cross_validate(logs[:1])
    assert len(identifier.cross_validate(logs[:2])) == 2


def test_the_check_alone(log):
    told = dynarm.Identifier(TWO, armature=False, cutoff=15.0).fit(log).identifiability_
    assert told.names == Identifier(TWO, armature=False).terms().names
    assert told.undetermined == ()


def test_nearly_constant_torques_are_refused(log):
    def with_ripple(size):
        tau = log.tau.copy()
        tau[:, 1] = 3.0 + size * np.sin(np.arange(len(tau)))
        return replace(log, tau=tau)

    with pytest.raises(dynarm.DynarmError, match="is constant"):
        Identifier(TWO, cutoff=15.0).fit(with_ripple(1e-9))
    Identifier(TWO, cutoff=15.0).fit(with_ripple(1e-8))
    silent = log.tau.copy()
    silent[:, 0] = 0.0
    with pytest.raises(dynarm.DynarmError, match=f"'{TWO.joint_names[0]}' is constant"):
        Identifier(TWO, cutoff=15.0).fit(replace(log, tau=silent))


def test_options_of_an_identifier_are_looked_at():
    assert Identifier(TWO, regularise=0).regularise == 0
    assert Identifier(TWO, friction="viscous").friction == ("viscous",)
    assert repr(Identifier(TWO)) == f"<dynarm.Identifier of '{TWO.name}'>"
    told = repr(Identifier(TWO, cutoff=3.0, prior=TWO))
    assert told == f"<dynarm.Identifier of '{TWO.name}', cutoff=3.0, prior='{TWO.name}'>"
    for wrong in ({"width": 0.0}, {"width": (0.1, -0.1)}, {"cutoff": 0.0}, {"regularise": np.inf}):
        with pytest.raises(dynarm.DynarmError, match=next(iter(wrong))):
            Identifier(TWO, **wrong)
    for wrong in ({"progress": 3}, {"preparation": 3}, {"prior": 3}, {"armature": 3}):
        with pytest.raises(dynarm.DynarmError, match=next(iter(wrong))):
            Identifier(TWO, **wrong)


# ---- judgement


def test_a_status_tells_what_is_wrong_with_a_fit():
    t, q, qd, qdd = multi_sine(2)
    tau = exact_torque(TWO, q, qd, qdd)
    tau[:, 1] += np.random.default_rng(0).normal(0, 20 * tau[:, 1].std(), len(tau))
    fit = Identifier(TWO, armature=False, cutoff=15.0).fit(Log(t, q, tau, qd))
    assert fit.relative_[1] > 0.5
    reason = (
        f"joint {TWO.joint_names[1]}: the torque is not explained, error {fit.relative_[1]:.2f}"
    )
    assert fit.status_.startswith("doubtful: ") and reason in fit.status_
    unexplained = f"joint {TWO.joint_names[0]}: the torque is not explained"
    assert not any(unexplained in r.text for r in judgement.own_reasons(fit, fit.relative_[0]))
    assert any(unexplained in r.text for r in judgement.own_reasons(fit, 0.99 * fit.relative_[0]))
    with pytest.raises(dynarm.DynarmError, match="not explained"):
        fit.check()
    with pytest.raises(dynarm.DynarmError, match="limit"):
        fit.verdict(limit=-0.1)
    assert not fit.verdict(limit=0).passed


def test_a_joint_that_is_not_excited_is_named():
    t, q, qd, qdd = multi_sine(2)
    q[:, 1], qd[:, 1], qdd[:, 1] = 0.3, 0.0, 0.0
    tau = exact_torque(TWO, q, qd, qdd) + np.random.default_rng(0).normal(0, 0.01, q.shape)
    fit = Identifier(TWO, armature=False, cutoff=15.0, estimator="recursive").fit(
        Log(t, q, tau, qd)
    )
    assert f"does not excite joint {TWO.joint_names[1]} persistently" in fit.status_
    assert f"does not excite joint {TWO.joint_names[0]} persistently" not in fit.status_


def test_errors_do_not_depend_on_the_unit_of_torque(log, fit):
    small = replace(log, tau=1e-4 * log.tau)
    other = Identifier(TWO, armature=False, cutoff=15.0).fit(small)
    np.testing.assert_allclose(other.relative_, fit.relative_, rtol=1e-6)
    np.testing.assert_allclose(
        other.validate(small).relative, fit.validate(log).relative, rtol=1e-6
    )
    np.testing.assert_allclose(other.values_, 1e-4 * fit.values_, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(other.std_, 1e-4 * fit.std_, rtol=1e-5)
