"""Where decisions turn over: both sides of what counts as told, consistent, a reset, overfitted."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import dynarm
from dynarm import Identifier, Log
from dynarm.identify.estimators.factors import Factors
from dynarm.identify.estimators.feasibility import nearest, one_body
from dynarm.identify.estimators.least_squares import weighted
from dynarm.identify.estimators.problem import Problem
from dynarm.identify.judgement import reasons as judgement
from dynarm.identify.judgement.fitted import FittedErrors
from dynarm.identify.judgement.verdict import Validation
from dynarm.identify.payload import _told
from dynarm.identify.regressor import Terms
from dynarm.robot.arm import pack_parameters
from dynarm.robot.inertia import pseudo_inertia
from oracles.simulated_log import exact_log, noisy_log

TWO = dynarm.load("two_link")

# ---- payloads


def problem(near, mixed=False):
    """Two unknowns of an arm and ten of a payload; the last of these differs from the one before by `near`."""
    X = np.linalg.qr(np.random.default_rng(0).normal(size=(40, 12)))[0]
    if mixed:
        X[:, 5] = X[:, 0] + 2 * X[:, 1]  # a payload's unknown that the arm's explain
    X[:, 11] = X[:, 10] + near * X[:, 11]
    y = X @ np.arange(12.0)
    factors = Factors((np.arange(12),), 12, [[np.column_stack([X, y])]], np.array([[40]]))
    return weighted(Problem(factors), np.ones(1))


@pytest.mark.parametrize(
    "near, mixed, count",
    [(1.0, False, 10), (1e-5, False, 10), (2e-6, False, 10), (1e-6, False, 9), (1e-8, False, 9),
     (1.0, True, 9), (1e-8, True, 8)],
)  # fmt: skip
def test_how_many_of_ten_numbers_are_told(near, mixed, count):
    """Two columns of length one that differ by `near` have a singular value of near / sqrt 2; 1e-6 decides."""
    seen, free = _told(problem(near, mixed))
    assert (len(seen), len(free)) == (count, 10 - count)
    if near == 1e-8:  # what cannot be told is the difference of the last two
        direction = free[-1] / np.abs(free[-1]).max()
        assert direction[8] == pytest.approx(-direction[9], rel=1e-3)
        np.testing.assert_allclose(seen @ free.T, 0, atol=1e-9)


@pytest.mark.parametrize("name", ["two_link", "scara"])
def test_planar_arms_tell_four_numbers_of_a_payload(name):
    """Mass, two moments and the inertia about the axes' direction; the others may be anything."""
    arm = dynarm.load(name)
    inertia = np.diag([0.01, 0.02, 0.03])
    loaded = arm.with_payload(1.5, (0.1, -0.05, 0.2), inertia)
    logs = exact_log(arm, seed=1), exact_log(loaded, seed=2)
    found = dynarm.identify_payload(arm, *logs, friction=(), armature=False)
    assert found.determined == 4
    assert np.flatnonzero(np.isfinite(found.std)).tolist() == [0, 1, 2, 9]
    assert found.mass == pytest.approx(1.5, rel=1e-6)
    np.testing.assert_allclose(found.com[:2], (0.1, -0.05), atol=1e-6)
    about = found.inertia[2, 2] + found.mass * (found.com[:2] ** 2).sum()
    assert about == pytest.approx(0.03 + 1.5 * 0.0125, rel=1e-5)
    assert found.consistent
    assert arm.with_payload(found.mass, found.com, found.inertia).check() == []


def test_a_payload_that_cannot_be_is_made_consistent_and_told():
    """The load taken off is a body of negative mass."""
    arm = dynarm.load("puma560")
    loaded = arm.with_payload(2.0, (0.02, -0.01, 0.1), np.diag([0.01, 0.012, 0.008]))
    found = dynarm.identify_payload(loaded, exact_log(loaded, seed=1), exact_log(arm, seed=2))
    assert found.parameters[0] == pytest.approx(-2.0, rel=1e-6)
    assert not found.consistent
    assert found.mass >= 0
    assert found.determined == 10


# ---- contradictory inertial parameters

BODY = pack_parameters(2.0, (0.1, 0.2, -0.1), np.diag([0.1, 0.12, 0.15]))


def impossible():
    heavy, flat, light, far = (BODY.copy() for _ in range(4))
    heavy[4:] = pack_parameters(2.0, (0.1, 0.2, -0.1), np.diag([0.1, 0.12, 0.23]))[4:]
    flat[4] = -0.05
    light[:] = -BODY
    far[1:4] *= 4  # moments too large for this inertia
    return {"triangle": heavy, "negative inertia": flat, "negative": light, "far": far}


@pytest.mark.parametrize("kind", impossible())
def test_bodies_that_cannot_be_are_changed(kind):
    ten = impossible()[kind]
    assert np.linalg.eigvalsh(pseudo_inertia(ten))[0] < -1e-3
    body = one_body(ten, np.eye(10) * 1e-4)
    assert not np.array_equal(body, ten)
    assert np.linalg.eigvalsh(pseudo_inertia(body))[0] > -1e-7


def test_an_inertia_without_mass_is_no_body():
    ten = np.array([0.0, 0, 0, 0, 0.1, 0, 0.1, 0, 0, 0.1])
    assert np.linalg.eigvalsh(pseudo_inertia(ten))[0] >= 0
    assert one_body(ten, np.eye(10) * 1e-4)[0] > 0


@pytest.mark.parametrize("spare", [0.0, 1e-3])
def test_bodies_that_just_can_be_are_kept(spare):
    edge = pack_parameters(2.0, (0.1, 0.2, -0.1), np.diag([0.1, 0.12, 0.22 - spare]))
    lowest = np.linalg.eigvalsh(pseudo_inertia(edge))[0]
    assert lowest == pytest.approx(0, abs=1e-9) if spare == 0 else lowest > 1e-5
    np.testing.assert_allclose(one_body(edge, np.eye(10)), edge, atol=1e-6)
    np.testing.assert_array_equal(one_body(BODY, np.eye(10)), BODY)


@pytest.mark.parametrize("change, exact", [(0.0, True), (-0.2, False)])
def test_inertias_beyond_the_consistent_set_are_not_called_exact(change, exact):
    """The inner inertia of a planar arm can be as small as its own moment allows, not negative."""
    terms = Terms(TWO, friction=(), armature=False)
    values = dynarm.minimal_parameters(TWO).values.copy()
    k = terms.names.index("U2_33")
    values[k] += change * values[k] * 10
    near = nearest(terms, values, 1e-6 * np.eye(len(values)))
    assert near.exact is exact
    assert (near.distance == 0) is exact
    assert TWO.with_parameters(near.parameters).check() == []


# ---- resets

T = np.arange(2000) * 0.005
SWEEP = np.sin(0.4 * T)  # spans 1.9 within 10 s, at most 0.002 a sample


def resets(q):
    return Log(T, q, np.cos(T)).quality.resets


def test_a_jump_of_more_than_a_twentieth_of_the_range_is_a_reset():
    for part, told in ((0.04, ()), (0.07, ((1200, 0),))):
        q = SWEEP.copy()
        q[1200:] += part * np.ptp(q)
        assert resets(q) == told


def test_a_jump_is_ten_times_faster_than_the_motion_otherwise():
    """The range is small, so that every jump here is a large part of it: the speed decides."""
    steps = np.full(1999, 1e-3) * np.where(np.arange(1999) // 20 % 2, 1, -1)
    for ratio, told in ((9.0, ()), (11.0, ((1000, 0),))):
        jumping = steps.copy()
        jumping[999] = ratio * 1e-3
        assert resets(np.r_[0.0, np.cumsum(jumping)]) == told


def test_noise_of_a_joint_at_rest_is_no_reset():
    q = np.zeros(2000)
    q[700] = 5e-7
    assert resets(q) == ()
    q[700] = 5e-6
    assert resets(q) == ((700, 0), (701, 0))


def test_a_log_is_cut_at_its_resets():
    arm = replace(TWO, gravity=(0.0, 0.0, 0.0))  # the first joint's position says nothing then
    log = noisy_log(arm, 0.2)
    q = log.q.copy()
    q[900:, 0] += 4.0
    with pytest.warns(dynarm.DynarmWarning, match="jumps in row 901"):
        fit = Identifier(arm, cutoff=15.0).fit(Log(log.t, q, log.tau))
    good = Identifier(arm, cutoff=15.0).fit(log)
    np.testing.assert_allclose(fit.values_, good.values_, atol=5 * good.std_.max())


# ---- verdicts


class Told:
    """A fit as far as its judgement looks at it; torques have a deviation of 1."""

    ridge_ = 0.0
    consistent_ = np.zeros(2)
    silent_ = np.zeros(2, bool)
    impossible_ = ()

    def __init__(self, own, band=(0.0, 0.0)):
        self.relative_ = np.array(own)
        self.fitted_ = FittedErrors(np.array(own), np.array(own), np.array(band))
        terms = type("", (), {"row_names": ("a", "b"), "arm": dynarm.load("two_link")})
        identifier = type("", (), {"prior": None})
        kept = {"terms": terms, "doubts": (), "strangers": (), "identifier": identifier}
        self.record = type("", (), kept)
        self.identifiability_ = type("", (), {"undetermined": ()})


def predicted(held, band=(0.0, 0.0), scale=1.0):
    """A prediction with errors over a torque's deviation of `scale`."""
    held, none = np.array(held), np.zeros((0, 2))
    return Validation(scale * held, held, np.zeros(0), none, none, "run", None, np.array(band))


@pytest.mark.parametrize(
    "own, held, word",
    [
        ((0.2, 0.2), (0.2, 0.2), "PASS"),
        ((0.49, 0.2), (0.49, 0.2), "PASS"),
        ((0.51, 0.2), (0.49, 0.2), "FAIL"),
        ((0.4, 0.2), (0.51, 0.2), "FAIL"),
        ((0.13, 0.2), (0.25, 0.2), "PASS"),
        ((0.13, 0.2), (0.27, 0.2), "DOUBTFUL"),  # more than twice the fitted error
        ((0.13, 0.2), (0.38, 0.2), "DOUBTFUL"),
        ((0.13, 0.2), (0.4, 0.2), "FAIL"),  # more than three times
        ((0.01, 0.2), (0.19, 0.2), "PASS"),  # fitted errors below 0.1 count as 0.1
        ((0.01, 0.2), (0.21, 0.2), "DOUBTFUL"),
        ((0.01, 0.2), (0.31, 0.2), "FAIL"),
        ((0.1, float("nan")), (0.1, 0.1), "FAIL"),
        ((0.1, 0.1), (0.1, float("nan")), "FAIL"),
    ],
)
def test_where_a_verdict_turns(own, held, word):
    verdict = judgement.verdict(Told(own), [predicted(held)], 0.5)
    assert verdict.word == word and verdict.passed is (word == "PASS")
    assert verdict.exit_code == (word == "FAIL")
    assert bool(verdict.reasons) is not verdict.passed
    assert len(verdict.advice) == len({r.advice for r in verdict.findings})
    assert all(r.advice for r in verdict.findings)


def test_errors_are_compared_in_units_of_torque():
    """A held-out log of gentler motion: 0.3 of a tenth of the torque is less than 0.1 of the whole."""
    fit = Told((0.1, 0.1))
    assert judgement.verdict(fit, [predicted((0.3, 0.1), scale=0.1)], 0.5).passed
    assert judgement.verdict(fit, [predicted((0.3, 0.1), scale=0.6)], 0.5).word == "PASS"
    assert judgement.verdict(fit, [predicted((0.3, 0.1), scale=0.8)], 0.5).word == "DOUBTFUL"


@pytest.mark.parametrize(
    "own, held, word",
    [(0.05, 0.19, "PASS"), (0.05, 0.21, "DOUBTFUL"), (0.05, 0.31, "FAIL"), (0.2, 0.31, "PASS")],
)
def test_the_band_shows_what_noise_hides(own, held, word):
    noisy = (0.4, 0.4)
    check = predicted(noisy, band=(held, 0.0))
    verdict = judgement.verdict(Told(noisy, band=(own, 0.0)), [check], 0.5)
    assert verdict.word == word
    assert all("band" in reason for reason in verdict.reasons)


def test_nothing_passes_unseen():
    verdict = judgement.verdict(Told((0.1, 0.1)), [], 0.5)
    assert verdict.word == "NOT VALIDATED" and verdict.exit_code == 0 and not verdict.passed
    assert len(verdict.reasons) == 1 and "--hold-out" in verdict.advice[0]
    assert verdict.qualified("ok; fine") == "ok; fine"


def test_wrong_signs_and_strange_logs_do_not_pass():
    fit, check = Told((0.1, 0.1)), predicted((0.1, 0.1))
    fit.impossible_ = ("the motor inertia Ia2 is -1",)
    assert judgement.verdict(fit, [check], 0.5).word == "DOUBTFUL"
    assert judgement.verdict(fit, [], 0.5).word == "NOT VALIDATED"
    fit.record.strangers = ("b.csv seems to be of another robot",)
    assert judgement.verdict(fit, [check], 0.5).word == "FAIL"


def test_errors_once_consistent_count():
    fit = Told((0.1, 0.1))
    fit.consistent_ = np.array([0.1, 0.6])
    check = predicted((0.1, 0.1))
    (reason,) = judgement.verdict(fit, [check], 0.5).reasons
    assert reason == "joint b: error 0.60 once the values are made physically consistent"
    assert judgement.verdict(fit, [check], 0.7).passed
