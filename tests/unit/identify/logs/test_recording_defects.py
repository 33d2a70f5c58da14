"""Where a defect of a recording begins to be told, and with which numbers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import dynarm
from dynarm import Identifier, Preparation
from dynarm.identify.judgement import quality
from dynarm.identify.judgement.quality import inspect, unit_doubts
from dynarm.identify.preprocess import Stretch, smooth
from oracles.simulated_log import exact_torque, multi_sine, noisy_log

TWO = dynarm.load("two_link")
HOW = Preparation(cutoff=10.0, velocity="differentiate", decimate=1)
RNG = np.random.default_rng(0)


def stretch(size=1000, rate=100.0, arm=TWO, seed=0, noise=0.0):
    t, q, qd, qdd = (x[:size] for x in multi_sine(arm.n, size / rate + 1, rate, seed))
    tau = exact_torque(arm, q, qd, qdd)
    tau = tau + np.random.default_rng(9).normal(0, 1, tau.shape) * noise
    return Stretch(t, q, qd, qdd, tau, None, np.ones(q.shape, bool), rate)


# ---- defects of recordings

T = np.arange(2000) * 0.005
Q = np.column_stack([np.sin(2 * T), 0.5 * np.cos(3 * T)])
V = np.column_stack([2 * np.cos(2 * T), -1.5 * np.sin(3 * T)])


def told(t=T, q=Q, tau=Q, qd=V):
    return inspect(t, q, tau, qd)


def test_gaps_are_told_with_time_and_length():
    t = T + 3.0 + 0.021 * (np.arange(2000) >= 700) + 0.5 * (np.arange(2000) >= 900)
    found = told(t)
    assert found.gaps == (
        (pytest.approx(3.495), pytest.approx(0.026)), (pytest.approx(4.516), pytest.approx(0.505)),
    )  # fmt: skip
    assert found.notes[0] == "2 gaps in time, the longest 505 ms at 4.516 s"
    assert found.jitter == pytest.approx(0, abs=1e-9) and not found.uniform
    assert told(T + 0.019 * (np.arange(2000) >= 700)).gaps == ()


def test_jitter_decides_what_is_uniform():
    for size, even in ((0.9e-3, True), (1.1e-3, False)):
        t = T + np.where(np.arange(2000) % 2, 0.5, 0) * size * 0.005 * 1.0
        found = told(t)
        assert found.jitter == pytest.approx(size / 2, rel=1e-3)
        t = T + np.where(np.arange(2000) % 2, 1, 0) * size * 0.005
        found = told(t)
        assert found.uniform is even
        assert any("time steps vary" in note for note in found.notes) is not even


@pytest.mark.parametrize("velocity", [True, False])
def test_rests_are_told_from_a_fifth_on(velocity):
    for part, count in ((0.18, 0), (0.24, 1)):
        q, v = Q.copy(), V.copy()
        k = int(part * 2000)
        q[:k, 0], v[:k, 0] = q[k, 0], 0.0
        found = inspect(T, q, Q, v if velocity else None)
        assert found.resting[0] == pytest.approx(part, abs=0.015)
        assert sum("joint 1 rests in" in note for note in found.notes) == count


@pytest.mark.parametrize("run, count", [(4, 0), (5, 1)])
def test_saturation_is_held_for_five_samples(run, count):
    tau = Q.copy()
    tau[500 : 500 + run, 1] = -0.8
    tau[900 : 900 + run - 1, 1] = 0.8
    found = told(tau=tau)
    assert len(found.warnings) == count
    assert found.saturated[1] == pytest.approx(count * (2 * run - 1) / 2000)
    assert found.saturated[0] == 0
    assert told(tau=np.zeros_like(Q)).saturated.tolist() == [0, 0]
    assert told(tau=np.ones_like(Q)).saturated.tolist() == [0, 0]
    if count:
        assert "joint 2 stands at its extreme value in 0.4 % of" in found.warnings[0]


def test_only_five_jumps_are_told():
    q = Q.copy()
    for k in range(7):
        q[200 + 200 * k :, 0] += 3.0
    found = told(q=q, qd=None)
    assert len(found.resets) == 7 and len(found.warnings) == 5


def test_few_or_fine_steps_are_no_quantisation():
    step = 1e-3
    coarse = step * np.round(Q[:, 0] / step)
    assert quality._resolution(coarse) == pytest.approx(step)
    assert quality._resolution(step * np.floor(np.arange(300) / 15)) == 0  # 19 changes
    assert quality._resolution(step * np.floor(np.arange(315) / 15)) == pytest.approx(step)
    assert quality._resolution(Q[:, 0]) == 0
    assert quality._resolution(step * np.arange(1000.0)) == 0  # every sample another value


# ---- velocities that do not fit


@pytest.mark.parametrize(
    "factor, words",
    [(2.9, None), (3.1, "change 0.323 times"), (0.345, None), (0.32, "change 3.12 times")],
)
def test_velocities_may_be_off_by_a_factor_of_three(factor, words):
    doubts = unit_doubts(T, Q, V * [factor, 1.0], (True, True))
    assert len(doubts) == (words is not None)
    assert words is None or words in doubts[0]


def test_each_velocity_is_compared_with_every_position():
    swapped = unit_doubts(T, Q, V[:, ::-1], (True, True))
    assert swapped == [
        "the velocity of joint 1 fits the positions of joint 2 better: swapped columns?",
        "the velocity of joint 2 fits the positions of joint 1 better: swapped columns?",
    ]
    assert unit_doubts(T, Q, V * [-1, 1] + [5.0, 0], (True, True)) == [
        "the velocity of joint 1 has the opposite sign of its positions"
    ]
    noise = np.random.default_rng(0).normal(size=V.shape)
    assert unit_doubts(T, Q, noise, (True, True)) == []
    assert len(unit_doubts(T, Q, 0 * V, (True, True))) == 2
    assert unit_doubts(T, 1e-4 * Q, 0 * V, (True, True)) == []
    assert unit_doubts(T, Q * [0, 1], V, (True, True)) == []
    assert unit_doubts(T, Q + np.array([6.5, 0]), V, (True, True)) != []
    assert unit_doubts(T, Q + np.array([5.9, 0]), V, (True, True)) == []
    assert unit_doubts(T, Q + np.array([6.5, 0]), None, (True, True)) != []


def test_a_fit_keeps_what_was_left_out():
    log = noisy_log(TWO, 0.1)
    tau = log.tau.copy()
    tau[100, 1] = 1e5
    with pytest.warns(dynarm.DynarmWarning, match="left out: 1 samples"):
        fit = Identifier(TWO, cutoff=15.0).fit(replace(log, tau=tau, source="run"))
    assert "run: left out: 1 samples whose tau cannot be (row 101, column 2: 1e+05)" in fit.status_
    assert smooth(log, HOW).tau.shape == log.tau.shape
