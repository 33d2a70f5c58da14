"""Filtering, differentiation and decimation: no delay, no bias, the same however a log is cut into chunks."""

from __future__ import annotations

import numpy as np
import pytest

from dynarm import DynarmError, Log, Preparation
from dynarm.identify.decimation import decimated, kept_rows, margin
from dynarm.identify.preprocess import differentiate, low_pass, smooth, states_at
from dynarm.identify.segments import stretches

RATE = 500.0
T = np.arange(4000) / RATE
Q = np.column_stack([np.sin(2 * np.pi * 0.7 * T), np.cos(2 * np.pi * 0.4 * T)])
W = 2 * np.pi * np.array([0.7, 0.4])
V = np.column_stack([W[0] * np.cos(W[0] * T), -W[1] * np.sin(W[1] * T)])
A = -Q * W**2
LOG = Log(T, Q, Q, V)


def test_filter_has_no_delay():
    found = low_pass(Q, RATE, 20.0, 4, None)
    inside = slice(300, -300)
    np.testing.assert_allclose(found[inside], Q[inside], atol=2e-5)


def test_central_differences_are_of_second_order():
    errors = []
    for rate in (100.0, 200.0):
        t = np.arange(int(2 * rate)) / rate
        errors.append(np.abs(differentiate(np.sin(3 * t), rate) - 3 * np.cos(3 * t))[5:-5].max())
    assert errors[0] / errors[1] == pytest.approx(4, rel=0.02)


@pytest.mark.parametrize("velocity", ["recorded", "differentiate"])
def test_states_follow_the_motion(velocity):
    state = smooth(LOG, Preparation(cutoff=15.0, velocity=velocity))
    inside = slice(100, -100)
    np.testing.assert_allclose(state.qd[inside], V[inside], atol=1e-3)
    np.testing.assert_allclose(state.qdd[inside], A[inside], atol=5e-3)
    np.testing.assert_array_equal(state.tau, Q)  # torques stay as they were measured


def test_uneven_time_is_resampled():
    t = T + np.random.default_rng(0).uniform(-0.0008, 0.0008, len(T))
    uneven = Log(t, np.sin(np.outer(t, W)), np.zeros_like(Q))
    q, qd, _ = states_at(uneven, Preparation(cutoff=15.0, velocity="differentiate"))
    inside = slice(200, -200)
    np.testing.assert_allclose(q[inside], np.sin(np.outer(t, W))[inside], atol=1e-4)
    np.testing.assert_allclose(qd[inside], (W * np.cos(np.outer(t, W)))[inside], atol=0.02)


def test_gaps_and_resets_split_a_log():
    keep = (T < 2) | (T > 2.5)
    q = Q.copy()
    q[3000:] += 4.0
    pieces = list(stretches(Log(T[keep], q[keep], Q[keep])))
    assert [round(p.duration, 1) for p in pieces] == [2.0, 3.5, 2.0]


def test_a_reset_does_not_smear_into_its_neighbours():
    q = Q.copy()
    q[2000:] += 4.0
    _, qd, _ = states_at(Log(T, q, Q), Preparation(cutoff=15.0, velocity="differentiate"))
    assert np.abs(qd).max() < 1.5 * np.abs(V).max()


def test_slow_rows_are_masked_joint_by_joint():
    state = smooth(LOG, Preparation(cutoff=15.0, velocity="recorded", slow=(0.5, 0.0), trim=0))
    np.testing.assert_array_equal(state.keep[:, 0], np.abs(state.qd[:, 0]) >= 0.5)
    assert state.keep[:, 1].all()


def test_a_joint_that_hardly_moves_keeps_its_rows():
    q = Q * [1, 0]
    q[:10, 1] = 1e-3
    state = smooth(
        Log(T, q, Q), Preparation(cutoff=15.0, velocity="differentiate", slow=0.1, trim=0)
    )
    assert state.keep[:, 1].all()


@pytest.mark.parametrize("decimator, tolerance", [("fir", 1e-14), ("chebyshev", 1e-9)])
@pytest.mark.parametrize("factor", [4, 10])
def test_decimation_in_chunks_is_decimation_at_once(decimator, tolerance, factor):
    x = np.random.default_rng(0).normal(size=(12000, 3))
    rows = kept_rows(len(x), factor)
    assert rows[-1] == len(x) - 1
    whole = decimated(x, factor, decimator, int(rows[0]), len(rows))
    side = margin(factor, decimator)
    part = rows[(rows >= 5000) & (rows < 6000)]
    low, high = part[0] - side, part[-1] + side + 1
    found = decimated(x[low:high], factor, decimator, int(part[0] - low), len(part))
    np.testing.assert_allclose(found, whole[(rows >= 5000) & (rows < 6000)], atol=tolerance)


@pytest.mark.parametrize("decimator", ["fir", "chebyshev"])
def test_decimation_keeps_slow_signals_and_drops_fast_ones(decimator):
    slow = np.sin(2 * np.pi * 0.5 * T)
    fast = np.sin(2 * np.pi * 90 * T)
    rows = kept_rows(len(T), 10)
    found = decimated(np.column_stack([slow, fast]), 10, decimator, int(rows[0]), len(rows))
    inside = slice(20, -20)
    ripple = 10 ** (2 * 0.05 / 20) - 1  # of the Chebyshev filter, run twice
    np.testing.assert_allclose(found[inside, 0], slow[rows][inside], atol=1.01 * ripple)
    assert np.abs(found[inside, 1]).max() < 0.02


@pytest.mark.parametrize(
    "wrong",
    [
        {"cutoff": -1.0},
        {"velocity": "guess"},
        {"decimator": "none"},
        {"decimate": 0},
        {"decimate": 2.5},
    ],
)
def test_bad_preparations_are_refused(wrong):
    with pytest.raises(DynarmError, match=next(iter(wrong))):
        Preparation(**wrong)
