"""Logs and gains of another unit: suspected, said, and no rigid bodies are taken from them."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest

import dynarm
from dynarm.identify.position.checks import log_doubts
from dynarm.identify.position.deciding import KEPT
from oracles.example_robots import example_robot
from oracles.position_log import Truth, recorded, truth

DEGREES = 180 / np.pi


@pytest.fixture(scope="module", params=["puma560", "go2"])
def case(request) -> tuple[Truth, dynarm.Log]:
    if request.param == "go2":
        arm = dynarm.load(example_robot("go2.urdf"), floating=False)
        true = truth(arm, 40.0, 1.0, [0, 0.9, -1.8] * 4, 1.0, seed=3)
    else:
        arm = dynarm.load("puma560")
        arm = replace(arm, joints=tuple(replace(j, armature=0, friction=None) for j in arm.joints))
        kp, kd = [800.0, 800, 400, 80, 80, 80], [40.0, 40, 20, 4, 4, 4]
        true = truth(arm, kp, kd, [0.3, -0.8, 0.6, 0.2, 0.5, 0.1], 5.0, seed=3)
    return true, recorded(true, 2.0 if request.param == "go2" else 1.0, 4)


def fitted(true: Truth, log: dynarm.Log, gain: float = 1.0) -> tuple[dynarm.PositionFit, list[str]]:
    """The fit with gains so many times the true ones, and what was warned of."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", dynarm.DynarmWarning)
        fit = dynarm.Identifier(true.arm, pd=(gain * true.kp, gain * true.kd)).fit(log)
    return fit, [str(w.message) for w in said if issubclass(w.category, dynarm.DynarmWarning)]


@pytest.mark.parametrize("factors", [(1, DEGREES), (DEGREES, 1), (DEGREES, DEGREES)])
def test_degrees_make_a_fit_doubtful_and_keep_the_description(case, factors):
    true, log = case
    q, c = factors
    other = dynarm.Log(log.t, q * log.q, q_command=c * log.q_command)
    fit, said = fitted(true, other)
    assert said and any("degrees" in text for text in said)
    assert fit.status_.startswith("doubtful: ") and "degrees" in fit.status_
    assert fit.choice.told == f"{KEPT}: units are in doubt" and fit.choice.told in fit.status_
    assert not fit.bodies_ and np.array_equal(fit.arm_.parameters, true.arm.parameters)


@pytest.mark.parametrize(
    ("gain", "words"), [(DEGREES, "radians taken for degrees?"), (1 / DEGREES, "N m a degree?")]
)
def test_gains_of_another_unit_make_a_fit_doubtful_and_keep_the_description(case, gain, words):
    fit, said = fitted(*case, gain)
    assert len(said) == 1 and words in said[0] and "torques of these gains" in said[0]
    assert fit.status_.startswith("doubtful: ") and words in fit.status_
    assert fit.choice.told == f"{KEPT}: gains are in doubt" and fit.choice.told in fit.status_
    assert not fit.bodies_ and np.array_equal(fit.arm_.parameters, case[0].arm.parameters)


def test_right_units_are_not_doubted(case):
    fit, said = fitted(*case)
    assert not said and fit.status_.startswith("ok") and not fit.choice.doubts


def test_time_in_milliseconds_is_refused(case):
    true, log = case
    slow = dynarm.Log(1e3 * log.t, log.q, q_command=log.q_command)
    with pytest.raises(dynarm.DynarmError, match=r"samples lie 2 s apart.* is time in ms"):
        fitted(true, slow)


def test_one_sentence_tells_of_all_joints_whose_commands_are_of_another_unit(case):
    true, log = case
    other = dynarm.Log(
        log.t, log.q, q_command=np.array([DEGREES] * (true.arm.n - 1) + [1.0]) * log.q
    )
    (told,) = log_doubts(true.arm, other)
    assert told.startswith("commands of joint 1 are 57.3 times the positions: degrees?")
    assert (f"(so are those of {true.arm.n - 2} more)" in told) == (true.arm.n > 2)


@pytest.mark.parametrize(("limits", "doubted"), [(None, True), ((-20, 20), False), ((-3, 3), True)])
def test_joints_that_turn_more_than_once_are_doubted_unless_described_so(limits, doubted):
    two = dynarm.load("two_link")
    joint = replace(two.joints[0], position_limits=limits)
    arm = replace(two, joints=(joint, two.joints[1]))
    t = np.arange(0, 3, 0.002)
    q = np.column_stack([9 * np.sin(t), np.sin(t)])
    told = log_doubts(arm, dynarm.Log(t, q, q_command=q))
    assert [text.startswith("positions of joint 1 reach 9") for text in told] == [True] * doubted
