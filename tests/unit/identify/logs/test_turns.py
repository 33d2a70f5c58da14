"""Encoders of one turn: positions that jump by a turn are made continuous, whatever else jumps is not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import dynarm
from dynarm import Identifier, Log
from dynarm.identify.logs.log import in_order
from dynarm.identify.logs.turns import whole_turns

TWO = dynarm.load("two_link")
T = np.arange(1500) * 0.01
Q = np.column_stack([3.0 + 0.9 * np.sin(2 * T) + 0.3 * np.sin(5.1 * T), 1.5 * np.sin(1.3 * T)])
QD = np.gradient(Q, T, axis=0)
TAU = dynarm.compile(TWO).inverse_dynamics(Q, QD, np.gradient(QD, T, axis=0))
TAU = TAU + 0.05 * np.random.default_rng(0).normal(size=TAU.shape)


def within_a_turn(q, start=-np.pi):
    return start + (q - start) % (2 * np.pi)


@pytest.mark.parametrize("start", [-np.pi, 0.0, 3.0 - 2 * np.pi])
def test_a_wrapping_encoder_is_fitted_as_one_that_counts_turns(start):
    wrapped = Log(T, within_a_turn(Q, start), TAU)
    good = Identifier(TWO, cutoff=10.0).fit(Log(T, Q, TAU))
    fit = Identifier(TWO, cutoff=10.0).fit(wrapped)
    np.testing.assert_allclose(fit.values_, good.values_, atol=1e-6)
    np.testing.assert_allclose(good.predict(wrapped), good.predict(Log(T, Q, TAU)), atol=1e-6)


def test_many_turns_are_said_once_a_joint():
    assert (np.abs(np.diff(within_a_turn(Q)[:, 0])) > 5).sum() > 0.005 * len(
        T
    )  # too often to be resets
    log = in_order(Log(T, within_a_turn(Q), TAU), TWO)
    np.testing.assert_allclose(np.ptp(log.q[:, 0] - Q[:, 0]), 0, atol=1e-12)
    assert not log.quality.resets
    (note,) = log.notes
    assert note.startswith("positions of joint 1 leave their turn ")
    assert in_order(log, TWO) is log


def test_noise_at_the_end_of_a_turn_is_no_motion():
    q = np.full((200, 1), np.pi) + 0.01 * np.random.default_rng(1).normal(size=(200, 1))
    turns = whole_turns(T[:200], within_a_turn(q))
    assert np.ptp(within_a_turn(q) + 2 * np.pi * turns) < 0.1


def test_sliding_joints_and_other_jumps_stay():
    sliding = replace(TWO, joints=[replace(j, kind="prismatic") for j in TWO.joints])
    log = Log(T, within_a_turn(Q), TAU)
    assert in_order(log, sliding) is log
    for jump in (3.0, 4.5, 2 * np.pi + 1.2):
        q = Q.copy()
        q[700:, 1] += jump
        log = Log(T, q, TAU)
        assert in_order(log, TWO) is log
    poses = np.random.default_rng(2).uniform(-np.pi, np.pi, Q.shape)
    assert not whole_turns(T, poses).any()


def test_across_a_gap_nothing_is_said_of_turns():
    q = Q.copy()
    q[700:] += 2 * np.pi
    assert whole_turns(T, q)[-1].tolist() == [-1, -1]
    late = T + np.where(np.arange(len(T)) < 700, 0.0, 0.3)
    assert not whole_turns(late, q).any()


def test_commands_stay_beside_their_positions():
    log = in_order(Log(T, within_a_turn(Q), q_command=within_a_turn(Q + 0.02)), TWO)
    np.testing.assert_allclose(log.q_command - log.q, 0.02, atol=1e-12)
    assert log.reference is not None and np.array_equal(log.reference, log.q_command)
