"""Payloads by a fit of the arm without them: numbers, their certainty, and what a fit cannot take."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import dynarm
from dynarm import DynarmError, Friction
from dynarm.identify.friction.changes import changes_of
from oracles.simulated_log import exact_log, noisy_log

MASS, COM, INERTIA = 2.0, (0.02, -0.01, 0.1), np.diag([0.01, 0.012, 0.008])
PLAIN = {"friction": ("viscous", "coulomb"), "shape": "sign", "armature": True}


@pytest.fixture(scope="module")
def arm():
    puma = dynarm.load("puma560")
    friction = Friction(viscous=0.6, coulomb=0.9)
    return replace(puma, joints=tuple(replace(j, friction=friction) for j in puma.joints))


@pytest.fixture(scope="module")
def loaded(arm):
    return arm.with_payload(MASS, COM, INERTIA)


@pytest.fixture(scope="module")
def noisy(arm):
    return dynarm.Identifier(arm, **PLAIN, cutoff=15.0).fit(noisy_log(arm, 0.3, seed=1))


def test_exact_logs_give_the_payload_exactly(arm, loaded):
    fit = dynarm.Identifier(arm, **PLAIN).fit(exact_log(arm, 600))
    seen = dynarm.identify_payload(arm, fit, exact_log(loaded, seed=2))
    assert seen.mass == pytest.approx(MASS, rel=1e-7)
    np.testing.assert_allclose(seen.com, COM, atol=1e-7)
    np.testing.assert_allclose(seen.inertia, INERTIA, atol=1e-7)
    assert seen.determined == 10 and seen.consistent


def test_what_is_said_of_noisy_logs_covers_the_truth(arm, loaded, noisy):
    """Ten recordings of each, a fit to each of those without: errors are as large as they are said to be."""
    told = []
    for seed in range(10):
        empty = noisy_log(arm, 0.3, seed=seed, motion=seed)
        fit = dynarm.Identifier(arm, **PLAIN, cutoff=15.0).fit(empty)
        seen = dynarm.identify_payload(
            arm, fit, noisy_log(loaded, 0.3, seed=50 + seed, motion=7 + seed)
        )
        told.append([(seen.parameters[0] - MASS) / seen.mass_std])
        told[-1] += list((seen.parameters[1:4] / seen.parameters[0] - COM) / seen.com_std)
        assert seen.mass_std < 0.05 and (seen.com_std < 0.02).all()
    spread = np.sqrt(np.mean(np.square(told), axis=0))
    assert (spread > 0.3).all() and (spread < 2.0).all()


def warmer(arm, seed):
    """The arm with the friction of another run: a tenth of it more or less, and an offset that wandered."""
    rng = np.random.default_rng(seed)
    joints = [
        replace(
            j,
            friction=Friction(
                viscous=0.6 * (1 + 0.1 * rng.normal()),
                coulomb=0.9 * (1 + 0.1 * rng.normal()),
                offset=0.05 * rng.normal(),
            ),
        )
        for j in arm.joints
    ]
    return replace(arm, joints=tuple(joints))


def test_friction_that_changed_since_the_fit_is_no_payload(arm, loaded):
    """Against a fit of one run: errors stay as large as they are said to be, and small."""
    words = {**PLAIN, "friction": ("viscous", "coulomb", "offset")}
    fit = dynarm.Identifier(arm, **words, cutoff=15.0).fit(noisy_log(arm, 0.05, seed=1))
    told, centres = [], []
    for seed in range(8):
        log = noisy_log(warmer(loaded, seed), 0.05, seed=20 + seed, motion=3 + seed)
        seen = dynarm.identify_payload(arm, fit, log)
        told.append([(seen.parameters[0] - MASS) / seen.mass_std])
        told[-1] += list((seen.parameters[1:4] / seen.parameters[0] - COM) / seen.com_std)
        centres.append(seen.parameters[1:4] / seen.parameters[0] - COM)
        assert abs(seen.mass - MASS) < 0.03
    spread = np.sqrt(np.mean(np.square(told), axis=0))
    assert (spread > 0.2).all() and (spread < 2.0).all(), spread
    # a millimetre and more with friction held as it was fitted
    assert np.sqrt(np.mean(np.square(centres))) < 6e-4


def test_changes_are_held_to_what_runs_differ_by(arm):
    words = {**PLAIN, "friction": ("viscous", "coulomb", "offset")}
    search = dynarm.Identifier(arm, **words, cutoff=15.0)
    calm, lively = (
        search.fit(
            [
                noisy_log(warmer(arm, seed) if wander else arm, 0.05, seed=seed, motion=seed)
                for seed in range(6)
            ]
        )
        for wander in (False, True)
    )
    dry = np.full(6, 0.9)
    few, many = (changes_of(fit).deviations(dry) for fit in (calm, lively))
    assert few.shape == (6, 3) and (few < many).mean() > 0.8
    np.testing.assert_allclose(np.sqrt((many[:, :2] ** 2).mean(axis=0)), 0.1, rtol=0.5)
    np.testing.assert_allclose(np.sqrt((many[:, 2] ** 2).mean()), 0.05, rtol=0.5)
    # nothing that the fit has not may change
    bare = dynarm.Identifier(arm, **PLAIN, cutoff=15.0).fit(noisy_log(arm, 0.05, seed=1))
    assert (changes_of(bare).deviations(dry)[:, 2] == 0).all()


def test_the_certainty_of_the_fit_counts(arm, loaded, noisy):
    log = noisy_log(loaded, 0.3, seed=2, motion=5)
    seen = dynarm.identify_payload(arm, noisy, log)
    sure = dynarm.identify_payload(arm, replace(noisy, covariance_=0 * noisy.covariance_), log)
    assert sure.mass == pytest.approx(seen.mass) and sure.mass_std < 0.9 * seen.mass_std


def test_friction_that_grows_with_the_load_is_no_payload(arm):
    """Under the payload's weight the joint rubs more: left out, that would look like mass."""
    rubbing = replace(
        arm,
        joints=tuple(
            replace(j, friction=Friction(viscous=0.5, load_curve=((0.05, 0.2),)))
            for j in arm.joints
        ),
    )
    heavy = rubbing.with_payload(8.0, COM, INERTIA)
    records = tuple(j.friction for j in rubbing.joints)
    fit = dynarm.Identifier(arm, friction=records).fit(exact_log(rubbing, 800))
    seen = dynarm.identify_payload(arm, fit, exact_log(heavy, seed=2))
    assert seen.mass == pytest.approx(8.0, rel=1e-4)


def test_directions_that_the_motion_does_not_tell_are_not_known():
    two = dynarm.load("two_link")
    fit = dynarm.Identifier(two, friction=(), armature=False).fit(exact_log(two))
    seen = dynarm.identify_payload(
        two, fit, exact_log(two.with_payload(1.0, (0.1, 0, 0), 0.01 * np.eye(3)), seed=2)
    )
    assert seen.determined == 4 and np.isinf(seen.com_std).any()
    carrying = dynarm.compile(two.with_payload(seen.mass, seen.com, seen.inertia))
    real = dynarm.compile(two.with_payload(1.0, (0.1, 0, 0), 0.01 * np.eye(3)))
    q = np.random.default_rng(0).uniform(-3, 3, (5, 2))
    np.testing.assert_allclose(carrying.mass_matrix(q), real.mass_matrix(q), atol=1e-6)


def test_fits_of_other_robots_options_and_short_logs_are_refused(arm, loaded, noisy):
    log = exact_log(loaded)
    with pytest.raises(DynarmError, match="cutoff is an option of the fit"):
        dynarm.identify_payload(arm, noisy, log, cutoff=3.0)
    with pytest.raises(DynarmError, match="give the robot that was fitted"):
        dynarm.identify_payload(dynarm.load("scara"), noisy, log)
    with pytest.raises(DynarmError, match="fewer than 20 samples"):
        dynarm.identify_payload(arm, noisy, exact_log(loaded, samples=10))
