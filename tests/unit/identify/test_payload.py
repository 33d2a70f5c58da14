"""Payloads and drive gains from a log with and a log without a load."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import dynarm
from dynarm import DynarmError, Friction
from dynarm.identify.logs.declaration import DriveTerms
from oracles.simulated_log import exact_log, noisy_log

MASS, COM, INERTIA = 2.0, (0.02, -0.01, 0.1), np.diag([0.01, 0.012, 0.008])
TOOL = np.eye(4)
TOOL[:3, 3] = 0.0, 0.05, 0.08


@pytest.fixture(scope="module")
def arm():
    puma = dynarm.load("puma560")
    friction = Friction(viscous=0.6, coulomb=0.9, offset=0.1)
    return replace(
        puma, tool=TOOL, joints=tuple(replace(j, friction=friction) for j in puma.joints)
    )


def test_payload_of_exact_logs(arm):
    loaded = arm.with_payload(MASS, COM, INERTIA)
    found = dynarm.identify_payload(arm, exact_log(arm, seed=1), exact_log(loaded, seed=2))
    assert found.mass == pytest.approx(MASS, rel=1e-9)
    np.testing.assert_allclose(found.com, COM, atol=1e-9)
    np.testing.assert_allclose(found.inertia, INERTIA, atol=1e-9)
    assert found.determined == 10
    assert found.consistent


def test_payload_of_noisy_logs_lies_within_its_doubt(arm):
    loaded = arm.with_payload(MASS, COM, INERTIA)
    logs = noisy_log(arm, 0.3, seed=1), noisy_log(loaded, 0.3, seed=2, motion=5)
    found = dynarm.identify_payload(arm, *logs, cutoff=15.0)
    assert found.mass == pytest.approx(MASS, abs=max(4 * found.std[0], 0.02))
    np.testing.assert_allclose(found.com, COM, atol=0.02)
    carrying = arm.with_payload(found.mass, found.com, found.inertia)
    assert carrying.check() == []


def test_logs_without_it_are_fitted_by_defaults(arm):
    """So friction with memory or load is none of the payload's; with plain friction given, both are one fit."""
    loaded = arm.with_payload(MASS, COM, INERTIA)
    logs = noisy_log(arm, 0.3, seed=1), noisy_log(loaded, 0.3, seed=2, motion=5)
    found = dynarm.identify_payload(arm, *logs)
    by_fit = dynarm.identify_payload(arm, dynarm.Identifier(arm).fit(logs[0]), logs[1])
    np.testing.assert_array_equal(found.parameters, by_fit.parameters)
    plain = dynarm.identify_payload(arm, *logs, friction=("viscous", "coulomb", "offset"))
    assert not np.array_equal(found.parameters, plain.parameters)


def test_declared_springs_are_no_payload(arm):
    """A spring that the channels declare is found beside the load; undeclared, it would be taken for one."""
    spring, loaded = 40.0, arm.with_payload(MASS, COM, INERTIA)
    logs = []
    for one, seed in ((arm, 1), (loaded, 2)):
        log = exact_log(one, seed=seed)
        tau = log.tau.copy()
        tau[:, 1] += spring * log.q[:, 1]
        logs.append(replace(log, tau=tau, drives=DriveTerms(springs=(2,))))
    found = dynarm.identify_payload(
        arm, *logs, estimator="ols"
    )  # every joint's rows count the same
    assert found.mass == pytest.approx(MASS, rel=1e-6)
    silent = [replace(log, drives=None) for log in logs]
    blind = dynarm.identify_payload(arm, *silent, estimator="ols")
    assert blind.mass != pytest.approx(MASS, rel=1e-3)


def test_payload_that_the_motion_hardly_tells(arm):
    """A planar arm feels the load's weight, one moment and one inertia."""
    two = dynarm.load("two_link")
    loaded = two.with_payload(1.0, (0.1, 0, 0), 0.01 * np.eye(3))
    found = dynarm.identify_payload(
        two, exact_log(two, seed=1), exact_log(loaded, seed=2), friction=(), armature=False
    )
    assert found.determined < 10


def test_drive_gains_from_a_known_payload(arm):
    gains = np.array([10.0, 8.0, 6.0, 2.0, 1.5, 1.0])
    loaded = arm.with_payload(MASS, COM, INERTIA)
    logs = [exact_log(arm, seed=1), exact_log(loaded, seed=2)]
    currents = [replace(log, tau=log.tau / gains) for log in logs]
    found = dynarm.drive_gains(arm, *currents, MASS, COM, INERTIA)
    np.testing.assert_allclose(found.values, gains, rtol=1e-9)


def test_drive_gains_of_noisy_logs(arm):
    gains = np.array([10.0, 8.0, 6.0, 2.0, 1.5, 1.0])
    loaded = arm.with_payload(10.0, COM, INERTIA)
    logs = [noisy_log(arm, 0.05, seed=1), noisy_log(loaded, 0.05, seed=2, motion=5)]
    currents = [replace(log, tau=log.tau / gains) for log in logs]
    found = dynarm.drive_gains(arm, *currents, 10.0, COM, INERTIA, cutoff=15.0)
    np.testing.assert_allclose(found.values[:3], gains[:3], rtol=0.03)


def test_columns_of_the_users_own_are_refused(arm):
    column = dynarm.Column("x", lambda q, qd, qdd: [0] * 6)
    log = exact_log(arm)
    with pytest.raises(DynarmError, match="columns"):
        dynarm.identify_payload(arm, log, log, columns=(column,))


def test_a_cut_off_that_is_given_is_the_one_that_is_used(monkeypatch):
    """None leaves the choice to the trials; a number is held."""
    from dynarm.identify import payload

    asked = []
    choose = payload.choose_preparation

    def noted(plain, base, how):
        asked.append(how.cutoff)
        return choose(plain, base, how)

    monkeypatch.setattr(payload, "choose_preparation", noted)
    two = dynarm.load("two_link")
    loaded = two.with_payload(1.0, (0.1, 0, 0), 0.01 * np.eye(3))
    logs = noisy_log(two, 0.3, seed=1, duration=4.0), noisy_log(loaded, 0.3, seed=2, duration=4.0)
    masses = [
        dynarm.identify_payload(two, *logs, friction=(), armature=False, cutoff=cutoff).mass
        for cutoff in (4.0, 20.0, None)
    ]
    assert asked == [4.0, 20.0, None]
    assert masses[0] != masses[1]
    np.testing.assert_allclose(masses, 1.0, atol=0.2)
