"""Identifier and Fit: what goes in, what comes out, and what is refused."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace

import numpy as np
import pytest

import dynarm
from dynarm import (
    Column,
    DynarmError,
    DynarmWarning,
    Friction,
    Identifier,
    Log,
    Preparation,
    minimal_parameters,
)
from dynarm.algebra.vectors import cos, sign, sin
from oracles.simulated_log import exact_log, exact_torque, multi_sine, noisy_log

TWO = dynarm.load("two_link")
DRIVE = Friction(viscous=0.5, coulomb=0.8, offset=0.2)


def driven(arm, friction=DRIVE, armature=0.0):
    return replace(
        arm, joints=tuple(replace(j, friction=friction, armature=armature) for j in arm.joints)
    )


PUMA = driven(dynarm.load("puma560"), armature=0.4)


# ---- what comes out


def test_values_stand_in_the_order_of_the_contract():
    fit = Identifier(PUMA).fit(exact_log(PUMA))
    n = len(minimal_parameters(PUMA, armature=True).names)
    assert fit.names_[:n] == tuple(minimal_parameters(PUMA, armature=True).names)
    assert fit.names_[n : n + 6] == (
        "viscous1",
        "coulomb1",
        "offset1",
        "viscous2",
        "coulomb2",
        "offset2",
    )
    assert len(fit.names_) == len(fit.values_) == len(fit.std_) == n + 18


def test_arm_and_model_are_the_fit():
    fit = Identifier(PUMA).fit(exact_log(PUMA))
    found = minimal_parameters(fit.arm_, armature=True).values
    np.testing.assert_allclose(found, fit.values_[: len(found)], rtol=1e-9, atol=1e-9)
    assert fit.arm_.check() == []
    assert fit.arm_.joints[3].friction.coulomb == pytest.approx(0.8, rel=1e-9)
    rng = np.random.default_rng(5)
    q, qd, qdd = (rng.normal(size=(50, 6)) for _ in range(3))
    tau = fit.model_.inverse_dynamics(q, qd, qdd)
    np.testing.assert_allclose(tau, fit.torque(q, qd, qdd), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(tau, exact_torque(PUMA, q, qd, qdd), rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(fit.model_.forward_dynamics(q, qd, tau), qdd, rtol=1e-6, atol=1e-6)


def test_model_predicts_what_the_fit_predicts_even_of_inconsistent_values():
    log = noisy_log(driven(TWO), 30.0)
    fit = Identifier(TWO, cutoff=10.0).fit(log)
    if fit.feasible_.exact:
        pytest.fail("the noise was meant to push the values out of the consistent set")
    states = fit.states(log)
    np.testing.assert_allclose(
        fit.model_.inverse_dynamics(*states), fit.torque(*states), rtol=1e-9, atol=1e-8
    )
    assert fit.arm_.check() == []


def test_feasible_values_are_those_of_the_arm():
    log = noisy_log(driven(TWO), 30.0)
    fit = Identifier(TWO, cutoff=10.0, feasible=True).fit(log)
    found = minimal_parameters(fit.arm_, armature=True).values
    np.testing.assert_allclose(found, fit.values_[: len(found)], rtol=1e-6, atol=1e-6)
    assert fit.arm_.check() == []
    states = fit.states(log)
    np.testing.assert_allclose(
        fit.model_.inverse_dynamics(*states), fit.torque(*states), rtol=1e-6, atol=1e-6
    )
    assert "not unique" in fit.status_


def test_prediction_is_at_the_logs_own_samples():
    arm = driven(TWO)
    log, other = noisy_log(arm, 0.3), noisy_log(arm, 0.3, motion=3)
    fit = Identifier(TWO, cutoff=15.0).fit(log)
    found = fit.validate(other)
    assert fit.predict(other).shape == other.tau.shape
    expected = np.sqrt(((other.tau - fit.predict(other)) ** 2).mean(axis=0))
    np.testing.assert_allclose(found.rmse, expected)
    np.testing.assert_allclose(found.relative, expected / other.tau.std(axis=0))
    assert found.mean < 0.05


def test_several_logs_are_fitted_together():
    arm = driven(TWO)
    logs = [noisy_log(arm, 0.5, motion=m, duration=4.0) for m in range(4)]
    together = Identifier(TWO, cutoff=15.0).fit(logs)
    alone = Identifier(TWO, cutoff=15.0).fit(logs[0])
    assert (together.std_ < alone.std_).mean() > 0.9
    runs = Identifier(TWO, cutoff=15.0).cross_validate(logs)
    assert len(runs) == 4
    assert max(r.mean for r in runs) < 0.1


def test_joints_are_found_by_name():
    arm = driven(TWO)
    log = noisy_log(arm, 0.3)
    names = arm.joint_names
    turned = Log(log.t, log.q[:, ::-1], log.tau[:, ::-1], joint_names=names[::-1])
    a, b = (Identifier(TWO, cutoff=15.0).fit(x) for x in (log, turned))
    np.testing.assert_allclose(a.values_, b.values_)
    np.testing.assert_allclose(a.predict(turned), a.predict(log))


def test_a_measured_tool_wrench_is_taken_into_account():
    arm = dynarm.load("puma560")
    arm = replace(
        arm,
        joints=tuple(replace(j, armature=0.0) for j in arm.joints),
        tool=np.eye(4) + np.eye(4, k=3) * 0.1,
    )
    log = exact_log(arm)
    wrench = np.random.default_rng(0).normal(0, 20, (len(log), 6))
    tau = dynarm.compile(arm).inverse_dynamics(log.q, log.qd, log.qdd, wrench)
    held = Log(log.t, log.q, tau, log.qd, log.qdd, wrench=wrench)
    fit = Identifier(arm, friction=(), armature=False).fit(held)
    values = minimal_parameters(arm).values
    assert np.abs(fit.values_ - values).max() < 1e-9 * np.abs(values).max()
    np.testing.assert_allclose(fit.predict(held), tau, atol=1e-8)


# ---- model terms


def test_friction_by_direction():
    friction = Friction(viscous=0.5, coulomb=0.8, viscous_negative=0.9, coulomb_negative=0.4)
    arm = driven(TWO, friction)
    fit = Identifier(TWO, armature=False, asymmetric=True).fit(exact_log(arm))
    assert fit.names_[6:10] == ("viscous1", "viscous_negative1", "coulomb1", "coulomb_negative1")
    np.testing.assert_allclose(fit.values_[6:10], [0.5, 0.9, 0.8, 0.4], rtol=1e-9)
    assert fit.arm_.joints[0].friction.coulomb_negative == pytest.approx(0.4)
    speed, force = fit.friction_curve(0)
    assert force[0] == pytest.approx(speed[0] * 0.9 - 0.4)
    assert force[-1] == pytest.approx(speed[-1] * 0.5 + 0.8)


def test_the_width_of_a_smoothed_sign_is_found():
    arm = driven(TWO, Friction(viscous=0.5, coulomb=5.0, shape="tanh", width=0.1))
    fit = Identifier(TWO, armature=False, shape="tanh").fit(exact_log(arm))
    assert fit.widths_ == (0.1, 0.1)
    assert fit.arm_.joints[1].friction.width == 0.1
    given = Identifier(TWO, armature=False, shape="tanh", width=(0.1, 0.2)).fit(exact_log(arm))
    assert given.widths_ == (0.1, 0.2)


def test_a_smoothed_sign_is_recommended_where_it_helps():
    smooth = driven(TWO, Friction(viscous=0.5, coulomb=5.0, shape="tanh", width=0.2))
    told = Identifier(TWO, cutoff=15.0).fit(noisy_log(smooth, 0.1)).friction_advice_
    assert len(told) == 2
    assert "tanh" in told[0]
    sharp = driven(TWO, Friction(viscous=0.5, coulomb=5.0))
    assert Identifier(TWO, cutoff=15.0).fit(noisy_log(sharp, 0.1)).friction_advice_ == ()


def test_what_no_motion_can_tell_is_taken_as_zero():
    """The weight of a vertical sliding joint and its offset: the weight is kept."""
    scara = driven(dynarm.load("scara"), Friction(viscous=0.5, coulomb=0.8))
    fit = Identifier(scara).fit(exact_log(scara))
    assert fit.values_[fit.names_.index("offset3")] == 0
    assert np.isinf(fit.std_[fit.names_.index("offset3")])
    values = minimal_parameters(scara, armature=True).values
    np.testing.assert_allclose(fit.values_[: len(values)], values, rtol=1e-9, atol=1e-9)
    assert fit.status_.startswith("ok")
    assert "no motion tells offset3" in fit.identifiability_.summary()


COLUMNS = (
    Column("spring", lambda q, qd, qdd: [sin(q[0]) * cos(q[1]), 0]),
    Column("coupling", lambda q, qd, qdd: [qdd[1], qdd[0]]),
    Column("rub", lambda q, qd, qdd: [sign(qd[0] + qd[1]), sign(qd[0] + qd[1])]),
)


def test_columns_of_the_users_own_run_in_the_model_too():
    arm, coefficients = driven(TWO), (7.0, 0.6, 1.5)
    log = exact_log(arm)
    extra = sum(
        c * col.evaluate(log.q, log.qd, log.qdd)
        for c, col in zip(coefficients, COLUMNS, strict=True)
    )
    log = replace(log, tau=log.tau + extra)
    fit = Identifier(TWO, armature=False, columns=COLUMNS).fit(log)
    assert fit.names_[-3:] == ("spring", "coupling", "rub")
    np.testing.assert_allclose(fit.values_[-3:], coefficients, rtol=1e-9)
    tau = fit.model_.inverse_dynamics(log.q, log.qd, log.qdd)
    np.testing.assert_allclose(tau, fit.predict(log), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(
        fit.model_.forward_dynamics(log.q, log.qd, tau), log.qdd, rtol=1e-7, atol=1e-7
    )
    M = fit.model_.mass_matrix(log.q[:3])
    np.testing.assert_allclose(
        M, fit.model_.rigid.mass_matrix(log.q[:3]) + 0.6 * (1 - np.eye(2)), atol=1e-9
    )


# ---- under-determined logs


def poor_log(arm, seed=0):
    """Every joint at one frequency, slowly."""
    t = np.arange(2000) / 100
    w = 2 * np.pi * 0.1
    a = np.linspace(0.4, 0.8, arm.n)
    q, qd, qdd = (
        a * f
        for f in (np.sin(w * t), w * np.cos(w * t), -(w**2) * np.sin(w * t))
        for f in (f[:, None],)
    )
    tau = exact_torque(arm, q, qd, qdd) + np.random.default_rng(seed).normal(0, 0.3, q.shape)
    return Log(t, q, tau, qd)


def test_a_poor_log_is_told_so():
    arm = driven(dynarm.load("puma560"))
    fit = Identifier(arm, cutoff=5.0).fit(poor_log(arm))
    check = fit.identifiability_
    assert check.undetermined
    assert any("0.1 Hz" in line for line in check.advice)
    assert "free combination" in check.summary()
    assert not fit.verdict().passed
    assert fit.ridge_ > 0


def test_cad_values_help_where_the_log_is_poor():
    """The arm's own numbers, half as large again, against an arm that knows nothing, on a rich log."""
    arm = driven(dynarm.load("puma560"))
    t, q, qd, qdd = multi_sine(6, seed=4)
    rich = Log(t, q, exact_torque(arm, q, qd, qdd), qd)
    blank, rough = (arm.with_parameters(k * arm.parameters) for k in (0.0, 1.5))
    how = {"armature": False, "cutoff": 5.0, "feasible": False}  # what the prior alone does
    error = {}
    for name, known in (("blank", blank), ("rough", rough)):
        error[name] = Identifier(known, **how).fit(poor_log(arm)).validate(rich).mean
    given = Identifier(blank, prior=rough, **how).fit(poor_log(arm))
    assert error["rough"] < 0.5 * error["blank"]
    assert given.validate(rich).mean < 0.5 * error["blank"]


def test_a_rich_log_is_fitted_without_a_pull():
    arm = driven(dynarm.load("puma560"))
    fit = Identifier(arm, cutoff=10.0).fit(noisy_log(arm, 0.3))
    assert fit.ridge_ == 0
    assert fit.identifiability_.undetermined == ()
    assert fit.verdict(noisy_log(arm, 0.3, motion=2)).passed


# ---- words and records


def test_verdict_is_machine_readable():
    log = noisy_log(driven(TWO), 0.3)
    fit = Identifier(TWO, cutoff=15.0).fit(log)
    good, bad = fit.verdict(log), fit.verdict(log, limit=1e-6)
    assert (good.word, good.exit_code) == ("PASS", 0)
    assert (bad.word, bad.exit_code) == ("FAIL", 1)
    told = json.loads(bad.as_json())
    assert told["verdict"] == "FAIL"
    assert "joint" in told["reasons"][0]


def test_summary_names_everything():
    fit = Identifier(TWO).fit(noisy_log(driven(TWO), 0.3))
    text = fit.summary()
    for word in (*fit.names_, "cut-off", *TWO.joint_names, "determined", "condition number"):
        assert word in text
    assert set(fit.essential_) <= set(fit.names_)
    assert "U2_33+Ia2" in fit.essential_ or "U2_33" in fit.essential_
    assert len(fit.residuals_.spectrum) == 2


def test_residuals_of_a_good_model_are_white_and_undelayed():
    arm = driven(TWO)
    fit = Identifier(TWO, cutoff=15.0, preparation=Preparation(decimate=1)).fit(noisy_log(arm, 0.5))
    assert (fit.residuals_.white > 0.7).all()
    assert np.abs(fit.delays_).max() < 1e-3
    t, q, qd, qdd = multi_sine(2, rate=500.0)
    late = np.roll(exact_torque(arm, q, qd, qdd), 5, axis=0)  # 10 ms
    late += np.random.default_rng(0).normal(0, 0.5, late.shape)
    shifted = Identifier(TWO, armature=False, cutoff=15.0).fit(Log(t, q, late, qd))
    assert shifted.delays_ == pytest.approx([0.01, 0.01], abs=0.001)


def test_the_better_velocity_is_used():
    arm = driven(TWO)
    t, q, qd, qdd = multi_sine(2, rate=500.0)
    tau = exact_torque(arm, q, qd, qdd) + np.random.default_rng(0).normal(0, 0.2, q.shape)
    rough = q + np.random.default_rng(1).normal(0, 2e-3, q.shape)
    assert Identifier(TWO).fit(Log(t, rough, tau, qd)).record.preparation.velocity == "recorded"
    lazy = np.roll(qd, 40, axis=0)
    assert Identifier(TWO).fit(Log(t, q, tau, lazy)).record.preparation.velocity == "differentiate"


def test_progress_is_told():
    seen = []
    arm = driven(TWO)
    Identifier(TWO, cutoff=15.0, progress=lambda done, total: seen.append((done, total))).fit(
        noisy_log(arm, 0.3)
    )
    assert seen[-1][0] == pytest.approx(seen[-1][1], rel=0.02)


def test_logs_and_values_pickle():
    log = noisy_log(driven(TWO), 0.3)
    again = pickle.loads(pickle.dumps(log))
    np.testing.assert_array_equal(again.tau, log.tau)


# ---- what is refused


def constant(log):
    tau = np.array(log.tau)
    tau[:, 1] = 3.0
    return replace(log, tau=tau)


REFUSED = {
    "wrong joint count": (lambda log: Log(log.t, log.q[:, :1], log.tau[:, :1]), "1 joints, robot"),
    "unknown names": (lambda log: replace(log, joint_names=("a", "b")), "no data for joint"),
    "constant torque": (constant, "is constant"),
    "too short": (lambda log: log.rows(slice(0, 12)), "unknowns"),
    "no log": (lambda log: [], "no log given"),
    "not a log": (lambda log: np.zeros(3), "not a log"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_bad_logs_are_refused(name):
    change, words = REFUSED[name]
    log = noisy_log(driven(TWO), 0.3)
    with pytest.raises(DynarmError, match=words):
        Identifier(TWO, cutoff=15.0).fit(change(log))


def test_degrees_are_suspected():
    log = noisy_log(driven(TWO), 0.3)
    with pytest.warns(DynarmWarning, match="degrees"):
        Identifier(TWO, cutoff=15.0).fit(Log(log.t, np.degrees(log.q), log.tau))


@pytest.mark.parametrize(
    "options, words",
    [
        ({"estimator": "magic"}, "magic"),
        ({"friction": ("sticky",)}, "sticky"),
        ({"shape": "square"}, "square"),
        ({"width": -1.0}, "width"),
        ({"regularise": -2}, "regularise"),
        ({"columns": ("spring",)}, "Column"),
        ({"prior": dynarm.load("puma560")}, "6 joints"),
        ({"arm": "two_link"}, "Arm"),
    ],
)
def test_bad_options_are_refused(options, words):
    with pytest.raises(DynarmError, match=words):
        Identifier(**({"arm": TWO} | options))


def test_cross_validation_needs_two_runs():
    with pytest.raises(DynarmError, match="two logs"):
        Identifier(TWO).cross_validate([noisy_log(driven(TWO), 0.3)])


def test_a_column_of_wrong_length_is_refused():
    wrong = Column("x", lambda q, qd, qdd: [0])
    with pytest.raises(DynarmError, match="1 forces for 2 joints"):
        Identifier(TWO, columns=(wrong,), cutoff=15.0).fit(noisy_log(driven(TWO), 0.3))
