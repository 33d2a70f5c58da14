"""Logs that no fit can be made of, or only in part: each is said in words, with what to do."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import dynarm
from dynarm import Coupled, Friction, Identifier, Log
from oracles.simulated_log import exact_torque, multi_sine, noisy_log

TWO = dynarm.load("two_link")
ARM = replace(
    TWO, joints=tuple(replace(j, friction=Friction(viscous=0.5, coulomb=0.8)) for j in TWO.joints)
)
RNG = np.random.default_rng(3)


def measured(t, q, qd, qdd):
    return Log(t, q, exact_torque(ARM, q, qd, qdd) + RNG.normal(0, 0.1, q.shape))


def rests(jitter, poses=1):
    t = np.arange(2000) / 200
    places = (np.arange(poses)[:, None] * [3, 7] % 10 + RNG.random((poses, 2))) / 5 - 1  # far apart
    q = np.repeat(places, 2000 // poses, axis=0)
    still = measured(t, q, 0 * q, 0 * q)
    return replace(still, q=q + RNG.normal(0, jitter, q.shape))


@pytest.mark.filterwarnings("ignore:.*jumps in row:dynarm.DynarmWarning")
@pytest.mark.parametrize(
    "log", [rests(0.0), rests(1e-5), rests(0.0, 5)], ids=["", "noise", "poses"]
)
def test_a_log_of_rests_only_is_said_to_be_one(log):
    fit = Identifier(TWO).fit(log)
    assert "nothing but rests" in fit.status_ and fit.status_.startswith("doubtful")
    verdict = fit.verdict(noisy_log(ARM, 0.1))
    assert verdict.word == "FAIL" and any("record a motion" in r for r in verdict.reasons)


@pytest.mark.filterwarnings("ignore:.*(jumps in row|steps of):dynarm.DynarmWarning")
@pytest.mark.parametrize("jitter, step", [(1e-5, 0.0), (3e-6, 1e-5), (2e-5, 1e-4)])
@pytest.mark.parametrize("poses", [1, 10])
def test_the_noise_of_rests_tells_nothing_of_inertia_and_friction(jitter, step, poses):
    log = rests(jitter, poses)
    q = np.round(log.q / step) * step if step else log.q
    fit = Identifier(TWO).fit(replace(log, q=q))
    told = dict(zip(fit.names_, fit.identifiability_.grades, strict=True))
    moving = [name for name in fit.names_ if name.startswith(("U", "Ia", "viscous", "coulomb"))]
    assert len(moving) >= 6
    assert {told[name] for name in moving} == {"not"}
    # in one pose torques are a constant and noise; what they are in several is explained by the weight
    assert np.isnan(fit.relative_).all() if poses == 1 else (fit.relative_ < 0.1).all()


@pytest.mark.parametrize("size", [3e-4, 3e-3])
def test_a_small_motion_is_no_noise(size):
    """Of less than a milliradian, as a piezo drive makes it."""
    t, q, qd, qdd = multi_sine(2)
    log = measured(t, size * q, size * qd, size * qdd)
    exact = replace(log, tau=exact_torque(ARM, log.q, size * qd, size * qdd))
    fit = Identifier(TWO, armature=False).fit(exact)
    assert "not" not in fit.identifiability_.grades[:2]


def test_a_motion_is_no_rest():
    assert "rests" not in Identifier(TWO).fit(noisy_log(ARM, 0.1)).status_


@pytest.mark.parametrize("jitter", [0.0, 1e-6])
def test_a_joint_that_never_moves_is_named(jitter):
    t, q, qd, qdd = multi_sine(2)
    q[:, 1], qd[:, 1], qdd[:, 1] = 0.3, 0.0, 0.0
    log = measured(t, q, qd, qdd)
    fit = Identifier(TWO).fit(replace(log, q=q + RNG.normal(0, jitter, q.shape)))
    assert "joint elbow never moves" in fit.status_ and "joint shoulder never" not in fit.status_
    assert set(fit.identifiability_.undetermined) >= {"viscous2", "coulomb2"}
    both = Identifier(TWO).fit([log, noisy_log(ARM, 0.1)])
    assert "never moves" not in both.status_


def test_a_log_too_short_for_folds_is_told_and_a_shorter_one_refused():
    log = noisy_log(ARM, 0.1)
    fit = Identifier(TWO).fit(log.cut(0, 1.0))
    assert "too short" in fit.choice_.refused and "samples" in fit.choice_.refused
    with pytest.raises(dynarm.DynarmError, match="record longer"):
        Identifier(TWO).fit(log.cut(0, 0.3))


@pytest.mark.parametrize("name", ["q", "tau"])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_what_is_no_number_is_named_by_row_and_column(name, value):
    log = noisy_log(ARM, 0.1)
    arrays = {"q": log.q.copy(), "tau": log.tau.copy()}
    arrays[name][100, 1] = value
    with pytest.raises(dynarm.DynarmError, match=f"{name}, row 101, column 2 is {value}"):
        Log(log.t, arrays["q"], arrays["tau"])


STEP = 1e-3
FINE = {
    "presliding": Friction(presliding=((0.5 * STEP, 0.0),)),
    "load_presliding": Friction(load_presliding=((0.5 * STEP, 0.0),)),
    "coupling": Friction(coupling=(Coupled(1, presliding=((0.5 * STEP, 0.0),)),)),
}


@pytest.mark.parametrize("family", FINE)
def test_elements_finer_than_the_encoder_are_refused_by_name(family):
    log = noisy_log(ARM, 0.1, step=STEP)
    with pytest.raises(
        dynarm.DynarmError, match=f"joint 'shoulder': the element of {family} .*finer"
    ):
        Identifier(TWO, friction=(FINE[family], Friction())).fit(log)


def test_elements_that_the_encoder_sees_are_fitted():
    log = noisy_log(ARM, 0.1, step=STEP)
    fit = Identifier(TWO, friction=Friction(presliding=((5 * STEP, 0.0),))).fit(log)
    assert "presliding1.1" in fit.names_
