"""What preparation does to a log, by numbers known beforehand: gains, edges, grids, the rows that take part."""

from __future__ import annotations

import numpy as np
import pytest

from dynarm import DynarmError, Log, Preparation
from dynarm.identify.band import band, factor_for
from dynarm.identify.decimation import decimated, kept_rows, margin
from dynarm.identify.preprocess import (
    Stretch,
    differentiate,
    low_pass,
    smooth,
    states_at,
    stretches,
)

RATE = 500.0
T = np.arange(2000) / RATE
HOW = Preparation(cutoff=10.0, velocity="differentiate")


def log(t=T, **more):
    q = np.column_stack([np.sin(3 * t), np.cos(2 * t)])
    return Log(t, q, 10 * q, **more)


def gain(x, y):
    """Of a sine in the middle of a long signal."""
    inside = slice(len(x) // 4, -len(x) // 4)
    return float(x[inside] @ y[inside] / (x[inside] @ x[inside]))


# ---- options


@pytest.mark.parametrize(
    "option, least", [("order", 1), ("padding", 0), ("decimate", 1), ("trim", 0)]
)
def test_the_smallest_whole_numbers(option, least):
    assert getattr(Preparation(**{option: least}), option) == least
    with pytest.raises(DynarmError, match=option):
        Preparation(**{option: least - 1})


def test_an_order_is_needed():
    with pytest.raises(DynarmError, match="order"):
        Preparation(order=None)
    assert Preparation(padding=None, decimate=None, trim=None) == Preparation()


def test_speeds_are_one_or_one_a_joint():
    for slow in (0, 0.1, (0.0, 0.2)):
        assert Preparation(slow=slow).slow == slow
    for slow in (-0.1, (0.1, -0.1), ((0.1, 0.2),)):
        with pytest.raises(DynarmError, match="slow"):
            Preparation(slow=slow)


# ---- pieces


@pytest.mark.parametrize(
    "rate, gap, pieces",
    [(500.0, 0.045, 1), (500.0, 0.055, 2), (100.0, 0.15, 1), (100.0, 0.19, 1), (100.0, 0.22, 2)],
)
def test_what_counts_as_a_gap(rate, gap, pieces):
    """A twentieth of a second, or twenty steps where that is more."""
    t = np.arange(400) / rate
    t[200:] += gap - 1 / rate
    parts = list(stretches(log(t)))
    assert [len(p) for p in parts] == ([400] if pieces == 1 else [200, 200])


@pytest.mark.parametrize("short, kept", [(7, [300]), (8, [8, 300])])
def test_eight_samples_are_a_piece(short, kept):
    t = np.arange(300 + short) / RATE
    t[short:] += 1.0
    assert [len(p) for p in stretches(log(t))] == kept


def test_too_short_pieces_take_the_next_state():
    t = np.arange(310) / RATE
    t[5:] += 1.0
    t[305:] += 1.0
    q, qd, qdd = states_at(log(t), HOW)
    for x in (q, qd, qdd):
        np.testing.assert_array_equal(x[:5], np.tile(x[5], (5, 1)))
        np.testing.assert_array_equal(x[305:], np.tile(x[304], (5, 1)))
    assert np.abs(q[5:305] - log(t).q[5:305]).max() < 1e-3


def test_nothing_but_short_pieces_is_refused():
    t = np.arange(21) / RATE + np.arange(21) // 7
    with pytest.raises(DynarmError, match="no stretch of 8 samples"):
        states_at(log(t), HOW)


# ---- filters


@pytest.mark.parametrize("order", [1, 2, 4])
def test_gain_of_the_low_pass(order):
    """1 / (1 + (f / cut-off)^(2 order)): the square of Butterworth's, for it is run twice."""
    t = np.arange(20000) / 5000
    for part in (0.5, 1.0, 2.0):
        x = np.sin(2 * np.pi * 20 * part * t)
        y = low_pass(x[:, None], 5000.0, 20.0, order, None)[:, 0]
        assert gain(x, y) == pytest.approx(1 / (1 + part ** (2 * order)), rel=5e-3)


def test_beyond_the_rate_nothing_is_filtered():
    x = np.random.default_rng(0).normal(size=(50, 2))
    assert low_pass(x, 100.0, 49.0, 4, None) is x
    assert low_pass(x, 100.0, np.inf, 4, None) is x
    assert np.abs(low_pass(x, 100.0, 48.0, 4, None) - x).max() > 1e-3


def test_padding_keeps_lines_straight():
    """An odd extension carries a line on; without one, the filter starts from the first value."""
    line = np.linspace(1.0, 3.0, 400)[:, None]
    padded = low_pass(line, 100.0, 2.0, 4, None)
    np.testing.assert_allclose(padded, line, atol=5e-5)
    assert np.abs(low_pass(line, 100.0, 2.0, 4, 0) - line).max() > 1e-3
    np.testing.assert_array_equal(low_pass(line, 100.0, 2.0, 4, 150), padded)  # 3 rate / cut-off


def test_short_pieces_are_padded_as_far_as_they_go():
    x = np.arange(8.0)[:, None] ** 2
    assert low_pass(x, 100.0, 2.0, 4, None).shape == x.shape
    np.testing.assert_array_equal(low_pass(x, 100.0, 2.0, 4, None), low_pass(x, 100.0, 2.0, 4, 6))


def test_derivatives_count_in_seconds():
    np.testing.assert_allclose(
        differentiate(np.outer(np.arange(9), [2.0, -3.0]), 50.0), [[100, -150]] * 9
    )


# ---- one piece


def test_even_logs_are_taken_as_they_are():
    t = 100 + T + 1e-4 / RATE * np.sin(np.arange(len(T)))  # a ten thousandth of a step
    state = smooth(log(t), HOW)
    assert state.rate == pytest.approx(RATE, rel=1e-6)
    np.testing.assert_array_equal(state.t, t)
    np.testing.assert_array_equal(state.tau, log(t).tau)


def test_uneven_logs_get_an_even_grid():
    t = T + 0.2 / RATE * np.sin(np.arange(len(T)))
    t[[0, -1]] = T[[0, -1]]
    wrench = np.outer(t, np.arange(1, 7))
    given = log(t, qd=np.outer(t, [1.0, 2.0]), wrench=wrench, reference=np.outer(t, [1, 1]))
    state = smooth(given, Preparation(cutoff=np.inf, velocity="recorded"))
    step = given.quality.step
    assert state.rate == pytest.approx(1 / step)
    np.testing.assert_allclose(np.diff(state.t), step)
    assert state.t[0] == t[0]
    assert t[-1] - step <= state.t[-1] <= t[-1]
    np.testing.assert_allclose(state.wrench, np.outer(state.t, np.arange(1, 7)))
    np.testing.assert_allclose(state.qd, np.outer(state.t, [1.0, 2.0]))
    np.testing.assert_allclose(state.tau[:, 0], 10 * np.sin(3 * state.t), atol=1e-3)


def test_recorded_states_are_used_where_they_are_wanted():
    ones = np.ones((len(T), 2))
    given = log(qd=3 * ones, qdd=7 * ones)
    recorded = smooth(given, Preparation(cutoff=10.0, velocity="recorded"))
    np.testing.assert_allclose(recorded.qd, 3 * ones)
    np.testing.assert_allclose(recorded.qdd, 7 * ones)
    own = smooth(given, HOW)
    assert np.abs(own.qd[200:-200, 0] - 3 * np.cos(3 * T[200:-200])).max() < 0.01
    without = smooth(log(qd=np.outer(T, [2.0, 5.0])), Preparation(cutoff=10.0, velocity="recorded"))
    np.testing.assert_allclose(without.qdd[200:-200], [[2.0, 5.0]] * 1600, rtol=1e-3)
    # nothing was recorded
    np.testing.assert_allclose(
        smooth(log(), Preparation(cutoff=10.0, velocity="recorded")).qd, smooth(log(), HOW).qd
    )


def test_the_ends_of_a_piece_take_no_part():
    """rate / cut-off samples at each end, at most a tenth of the piece."""
    keep = smooth(log(), Preparation(cutoff=10.0, slow=0.0)).keep
    assert keep.shape == (2000, 2)
    assert not keep[:50].any() and not keep[-50:].any() and keep[50:-50].all()
    short = smooth(log(T[:300]), Preparation(cutoff=10.0, slow=0.0)).keep
    assert not short[:30].any() and not short[-30:].any() and short[30:-30].all()
    assert smooth(log(), Preparation(cutoff=np.inf, slow=0.0)).keep.all()


def test_trimmed_pieces_lose_their_start():
    given = log(wrench=np.outer(T, np.ones(6)))
    whole = smooth(given, Preparation(cutoff=10.0, slow=0.0, trim=0))
    part = smooth(given, Preparation(cutoff=10.0, slow=0.0, trim=30))
    assert whole.keep.all() and len(whole) == 2000 and len(part) == 1970
    for name in ("t", "q", "qd", "qdd", "tau", "wrench", "keep"):
        np.testing.assert_array_equal(getattr(part, name), getattr(whole, name)[30:])
    assert part.rate == whole.rate


def test_a_fiftieth_of_the_usual_speed_is_slow():
    speed = np.where(np.arange(len(T)) % 2 == 0, 1.0, 0.0)[:, None] * [1.0, 5.0]
    speed[7::10] = [[0.0135, 0.0675]]  # RMS 0.7: below and above 0.0141 and 0.0707
    speed[9::10] = [[0.0145, 0.0725]]
    state = smooth(log(qd=speed), Preparation(cutoff=np.inf, velocity="recorded", trim=0))
    expected = (np.arange(len(T)) % 2 == 0) | (np.arange(len(T)) % 10 == 9)
    np.testing.assert_array_equal(state.keep, np.column_stack([expected] * 2))


@pytest.mark.parametrize("moving, kept", [(0.19, 1.0), (0.21, 0.21)])
def test_joints_that_move_a_fifth_of_the_time_count_where_they_move(moving, kept):
    speed = np.where(np.arange(len(T)) < moving * len(T), 1.0, 0.0)[:, None] * [1.0, 1.0]
    how = Preparation(cutoff=np.inf, velocity="recorded", slow=0.5, trim=0)
    assert smooth(log(qd=speed), how).keep.mean(axis=0) == pytest.approx([kept, kept])


# ---- band and decimation


def piece(*speeds, rate=RATE):
    qd = np.column_stack(speeds)
    return Stretch(T[: len(qd)], qd, qd, qd, qd, None, qd > 0, rate)


def test_band_of_sines():
    """A windowed sine of bin k has a sixth, four sixths and a sixth of its power in the bins k - 1, k, k + 1."""
    bins = RATE / len(T)
    three, six = (np.sin(2 * np.pi * f * T) for f in (12 * bins, 24 * bins))
    assert band([piece(three)], 0.5) == pytest.approx(13 * bins)
    assert band([piece(three)], 0.1) == pytest.approx(12 * bins)
    assert band([piece(three)], 0.9) == pytest.approx(14 * bins)
    assert band([piece(5 + three)], 0.5) == pytest.approx(13 * bins)  # the mean is no motion
    assert band([piece(100 * three, six)], 0.5) == pytest.approx(25 * bins)
    assert band([piece(six), piece(three)], 0.5) == pytest.approx(25 * bins)
    assert band([piece(0 * three, three)], 0.5) == pytest.approx(13 * bins)
    assert band([piece(0 * three)], 0.5) == 1.0
    assert band([], 0.5) == 1.0


def test_the_kept_rate_is_five_times_the_cut_off():
    assert factor_for(Preparation(cutoff=10.0), 1000.0) == 20
    assert factor_for(Preparation(cutoff=10.0), 1049.0) == 20
    assert factor_for(Preparation(cutoff=10.0), 20.0) == 1
    assert factor_for(Preparation(cutoff=10.0, decimate=3), 1000.0) == 3


def test_decimation_looks_so_far():
    assert margin(1, "fir") == margin(1, "chebyshev") == 0
    assert margin(4, "fir") == 24
    assert margin(4, "chebyshev") == 640


def test_the_kept_grid_ends_on_the_last_sample():
    assert kept_rows(10, 3).tolist() == [0, 3, 6, 9]
    assert kept_rows(11, 3).tolist() == [1, 4, 7, 10]
    assert kept_rows(4, 1).tolist() == [0, 1, 2, 3]


def test_one_in_one_is_a_part():
    x = np.arange(20.0).reshape(10, 2)
    for decimator in ("fir", "chebyshev"):
        np.testing.assert_array_equal(decimated(x, 1, decimator, 3, 4), x[3:7])


@pytest.mark.parametrize("part, expected", [(0.4, 1.0), (0.8, 0.5), (1.2, 0.0)])
def test_gain_of_the_windowed_sinc(part, expected):
    """Half at its edge, four fifths of half the kept rate; ends go on flat."""
    n, factor = 12000, 6
    x = np.sin(np.pi * part / factor * np.arange(n) + 0.3)
    rows = kept_rows(n, factor)
    y = decimated(x[:, None], factor, "fir", int(rows[0]), len(rows))[:, 0]
    assert gain(x[rows], y) == pytest.approx(expected, abs=0.01)
    flat = decimated(np.full((40, 1), 3.0), factor, "fir", 3, 7)
    np.testing.assert_allclose(flat, 3.0)


@pytest.mark.parametrize("part", [0.4, 0.8, 0.9])
def test_gain_of_the_chebyshev_filter(part):
    """1 / (1 + e^2 T8(w)^2) with e^2 = 10^0.005 - 1, w warped as the bilinear transform does."""
    n, factor = 24000, 6
    x = np.sin(np.pi * part / factor * np.arange(n) + 0.3)
    w = np.tan(np.pi * part / factor / 2) / np.tan(np.pi * 0.8 / factor / 2)
    chebyshev = np.polynomial.chebyshev.chebval(w, [0] * 8 + [1])
    y = decimated(x[:, None], factor, "chebyshev", 5, n // factor)[:, 0]
    expected = 1 / (1 + (10**0.005 - 1) * chebyshev**2)
    assert gain(x[5::factor][: len(y)], y) == pytest.approx(expected, abs=1e-3)
