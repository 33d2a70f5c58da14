"""Prediction of unseen time, joint by joint, against the plain baseline and the CAD model."""

from __future__ import annotations

import numpy as np
import pytest

import dynarm
from dynarm import Identifier, Preparation
from dynarm.identify.preprocess import states_at
from recordings import arm_of, inner_error, needed, read

pytestmark = needed

# the better of the baseline's two friction shapes, ../shared/data/README.md
BASELINE = {
    "panda": (0.160, 0.029, 0.031, 0.093, 0.217, 0.210, 0.329),
    "ur10": (0.157, 0.110, 0.061, 0.113, 0.141, 0.192),
    "kr300": (0.973, 0.440, 0.393, 0.478, 0.348, 0.337),
}
MEAN = {"panda": 0.153, "ur10": 0.129, "kr300": 0.495}
WORSE = 1.15  # no joint more than 15 % worse


def split(robot):
    """The log to fit and the log to predict."""
    if robot == "kr300":
        return read("kr300"), read("kr300", "b.csv")
    at, end = {"panda": (10.0, 14.0), "ur10": (18.5, 99.0)}[robot]
    return read(robot).cut(0, at), read(robot).cut(at, end)


@pytest.mark.parametrize(
    "robot, shape",
    [("panda", "sign"), ("panda", "tanh"), ("ur10", "tanh"), ("kr300", "sign"), ("kr300", "tanh")],
)
def test_at_or_below_the_baseline(robot, shape):
    seen, unseen = split(robot)
    fit = Identifier(arm_of(robot), shape=shape).fit(seen)
    error = inner_error(fit, unseen)
    assert error.mean() <= MEAN[robot]
    assert (error <= WORSE * np.array(BASELINE[robot])).all(), error.round(3)


def test_the_model_predicts_what_the_fit_predicts():
    seen, unseen = split("ur10")
    fit = Identifier(arm_of("ur10"), shape="tanh", cutoff=10.0).fit(seen)
    states = fit.states(unseen)
    np.testing.assert_allclose(fit.model_.inverse_dynamics(*states), fit.predict(unseen), atol=1e-9)
    assert all(note.startswith("taken as exact") for note in fit.arm_.check())


def test_kr300_is_told_to_be_hard():
    fit = Identifier(arm_of("kr300"), cutoff=20.0).fit(read("kr300"))
    assert fit.identifiability_.undetermined
    assert fit.ridge_ > 0
    assert not fit.verdict(read("kr300", "b.csv")).passed


# ---- the under-excited recording


@pytest.fixture(scope="module")
def lwr4():
    arm = arm_of("lwr4")
    return Identifier(arm, prior=arm, cutoff=5.0).fit(read("lwr4"))


def test_lwr4_names_what_it_does_not_determine(lwr4):
    check = lwr4.identifiability_
    assert check.undetermined
    assert len(check.undetermined) + len(check.doubtful) > 20
    assert any("0.08 Hz" in line for line in check.advice)
    assert any(doubt > 1 for doubt, _ in check.directions)
    assert lwr4.status_.startswith("doubtful")


def test_lwr4_regularised_fit_is_no_worse_than_the_cad_model(lwr4):
    arm, unseen = arm_of("lwr4"), read("lwr4", "run2.npz")
    states = states_at(unseen, Preparation(cutoff=5.0, velocity="recorded"))
    left = unseen.tau - dynarm.compile(arm).inverse_dynamics(*states)
    cad = np.sqrt((left**2).mean(axis=0)) / unseen.tau.std(axis=0)
    assert (lwr4.validate(unseen).relative <= cad).all()
    assert lwr4.ridge_ > 0
