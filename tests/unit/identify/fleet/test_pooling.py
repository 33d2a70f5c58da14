"""Partial pooling and outliers, on fits that are drawn from what they claim to be."""

import numpy as np
import pytest

from dynarm.identify.fleet.outliers import critical, deviates, outliers
from dynarm.identify.fleet.pooling import moment_spread, pooled

ROBOTS, UNKNOWNS, RATE = 50, 30, 0.05
NAMES = [f"r{k}" for k in range(ROBOTS)]
WHAT = [f"u{k}" for k in range(UNKNOWNS)]


def drawn(rng, spread=1.0):
    """True values of a fleet, their fits and the fits' deviations."""
    s = rng.uniform(0.3, 2.0, (ROBOTS, UNKNOWNS))
    mean = 10 * rng.normal(size=UNKNOWNS)
    true = mean + spread * rng.normal(size=(ROBOTS, UNKNOWNS))
    return mean, true, true + s * rng.normal(size=true.shape), s


@pytest.mark.parametrize("spread", [0.3, 1.0, 5.0])
def test_intervals_of_robots_and_of_what_they_share_cover(spread):
    rng = np.random.default_rng(3)
    robots, means, spreads = [], [], []
    for _ in range(8):
        mean, true, x, s = drawn(rng, spread)
        pool = pooled(x, s)
        robots.append(np.abs(pool.values - true) < 1.96 * pool.std)
        means.append(np.abs(pool.mean - mean) < 1.96 * pool.mean_std)
        spreads.append(pool.spread)
    assert 0.90 <= np.mean(robots) <= 0.99
    assert 0.90 <= np.mean(means) <= 0.99
    assert np.mean(spreads) == pytest.approx(spread, rel=0.35 if spread < 1 else 0.15)


def test_a_robot_is_drawn_to_the_others_as_far_as_its_own_data_leave_open():
    rng = np.random.default_rng(4)
    _, true, x, s = drawn(rng, 0.5)
    pool = pooled(x, s)
    assert np.mean((pool.values - true) ** 2) < 0.6 * np.mean((x - true) ** 2)
    assert (pool.std < s).mean() > 0.95
    sure, unsure = s < 0.4, s > 1.8
    drawn_by = np.abs(pool.values - x) / np.maximum(np.abs(x - pool.mean), 1e-9)
    assert np.median(drawn_by[sure]) < 0.5 < np.median(drawn_by[unsure])


def test_a_robot_whose_log_does_not_tell_has_what_all_share():
    rng = np.random.default_rng(5)
    _, _, x, s = drawn(rng)
    s[3, 2], x[3, 2] = np.inf, 1e9
    pool = pooled(x, s)
    assert pool.values[3, 2] == pytest.approx(pool.mean[2], rel=1e-12)
    assert pool.std[3, 2] == pytest.approx(np.hypot(pool.spread[2], pool.mean_std[2]), rel=0.05)
    other = pooled(np.delete(x, 3, 0), np.delete(s, 3, 0))
    assert pool.mean[2] == pytest.approx(other.mean[2], rel=1e-9)


def test_who_is_left_out_keeps_its_own_values_and_moves_nobody():
    rng = np.random.default_rng(6)
    _, _, x, s = drawn(rng)
    far = x.copy()
    far[7] += 1000.0
    members = np.ones(x.shape, bool)
    members[7] = False
    pool = pooled(far, s, members)
    assert np.array_equal(pool.values[7], far[7]) and np.array_equal(pool.std[7], s[7])
    without = pooled(np.delete(x, 7, 0), np.delete(s, 7, 0))
    assert pool.mean == pytest.approx(without.mean, rel=1e-6)


def test_the_spread_of_moments_is_the_closed_form_where_deviations_are_equal():
    rng = np.random.default_rng(7)
    x = rng.normal(size=(40, 3)) * [0.1, 2.0, 5.0]
    s = np.ones((40, 3))
    squares = moment_spread(x, s, np.ones(x.shape, bool))
    assert squares == pytest.approx(np.maximum(x.var(axis=0, ddof=1) - 1, 0), rel=1e-6)


def test_a_deviate_leaves_its_own_robot_out():
    rng = np.random.default_rng(8)
    x = rng.normal(size=(20, 1))
    apart = deviates(x, np.zeros((20, 1)), np.ones((20, 1), bool))
    rest = np.delete(x, 4, 0)
    by_hand = (x[4, 0] - rest.mean()) / (rest.std(ddof=1) * np.sqrt(1 + 1 / 19))
    assert apart[4, 0] == pytest.approx(by_hand, rel=1e-6)
    assert critical(20, 0.05) == pytest.approx(3.5101, abs=2e-3)  # t(18) at 0.05 / 40


def test_sound_fleets_raise_no_more_false_alarms_than_stated():
    rng = np.random.default_rng(9)
    alarms = 0
    for repetition in range(20):
        _, _, x, s = drawn(rng, (0.0, 1.0, 4.0)[repetition % 3])
        alarms += bool(outliers(NAMES, WHAT, x, s, RATE))
    assert alarms <= 3  # 1 expected; more than 3 has a chance of 1.6 %


def test_defective_robots_are_named_even_where_two_hide_each_other():
    rng = np.random.default_rng(10)
    _, _, x, s = drawn(rng)
    x[7, 4] += 15
    x[31, 4] += 15
    x[12, 9] -= 15
    named = outliers(NAMES, WHAT, x, s, RATE)
    assert {(one.robot, one.what) for one in named} >= {("r7", "u4"), ("r31", "u4"), ("r12", "u9")}
    assert {one.robot for one in named} == {"r7", "r31", "r12"}
    assert next(one for one in named if one.robot == "r12").deviations < -5


def test_where_only_large_values_count_small_ones_do_not():
    rng = np.random.default_rng(11)
    x = rng.normal(size=(ROBOTS, 2))
    x[3], x[5] = -20, 20
    upper = np.array([True, False])
    named = outliers(NAMES, WHAT[:2], x, np.zeros_like(x), RATE, upper)
    assert ("r5", "u0") in {(one.robot, one.what) for one in named}
    assert {one.robot for one in named if one.what == "u0"} == {"r5"}
    assert {one.robot for one in named if one.what == "u1"} == {"r3", "r5"}


def test_four_robots_are_too_few_to_tell_which_stands_out():
    x = np.array([[0.0], [0.1], [-0.1], [50.0]])
    assert outliers(NAMES[:4], WHAT[:1], x, np.full_like(x, 0.1), RATE) == []
