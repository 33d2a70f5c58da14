"""Limits, series and the search for poses by numbers known beforehand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import dynarm
from dynarm import Arm, DynarmError, Friction, Joint
from dynarm.identify.design.clearance import clearance_of
from dynarm.identify.design.descent import STAGES, descent_of, shrunk, started_at
from dynarm.identify.design.excitation import _Problem
from dynarm.identify.design.limits import limits_of
from dynarm.identify.design.scaling import drawn_in, reachable_pose, resting_pose
from dynarm.identify.design.shapes import shapes_of
from dynarm.identify.design.trajectory import LONGEST, Series, Trajectory, check_series
from dynarm.identify.design.worth import condition_worth, volume_worth
from dynarm.identify.logs.splitting import hold_out
from dynarm.identify.regressor import Terms
from oracles.simulated_log import exact_torque

PI = np.pi
TWO = dynarm.load("two_link")


def one(**joint):
    return Arm([Joint(**{"mass": 1.0, "com": (0.1, 0, 0), **joint})])


def own(arm, **given):
    empty = dict.fromkeys(("position", "velocity", "acceleration", "torque", "box"))
    return limits_of(arm, **(empty | given))


# ---- limits


def test_joints_without_limits_get_a_turn_and_two_radians_a_second():
    found = own(one())
    assert (found.low, found.high, found.velocity, found.acceleration) == (-PI, PI, 2.0, 8.0)
    assert found.torque is None and found.box is None


def test_sliding_joints_without_limits_get_half_a_metre():
    found = own(one(kind="prismatic"))
    assert (found.low, found.high, found.velocity, found.acceleration) == (-0.5, 0.5, 0.5, 2.0)


@pytest.mark.parametrize(
    "given, expected",
    [
        ((-1.0, 2.0), (-1.0, 2.0)),
        ((0.0, 2 * PI), (0.0, 2 * PI)),
        ((-10.0, 10.0), (-PI, PI)),
        ((2.0, 12.0), (2.0, 2.0 + 2 * PI)),
        ((-12.0, -2.0), (-2.0 - 2 * PI, -2.0)),
        ((-4.0, 2.5), (2.5 - 2 * PI, 2.5)),
    ],
)
def test_more_than_a_turn_is_one_turn_as_near_to_zero_as_can_be(given, expected):
    found = own(one(position_limits=given))
    assert (found.low[0], found.high[0]) == pytest.approx(expected)


def test_sliding_joints_keep_long_ways():
    found = own(one(kind="prismatic", position_limits=(-5.0, 9.0), velocity_limit=3.0))
    assert (found.low, found.high, found.velocity, found.acceleration) == (-5.0, 9.0, 3.0, 12.0)


def test_efforts_are_limits_where_an_arm_has_mass():
    pair = [Joint(mass=1.0, effort_limit=5.0), Joint(a=0.5, mass=1.0)]
    assert own(Arm(pair)).torque.tolist() == [5.0, np.inf]
    light = [Joint(effort_limit=5.0), Joint(a=0.5)]
    assert own(Arm(light)).torque is None
    assert own(Arm(pair), torque=3.0).torque.tolist() == [3.0, 3.0]
    assert own(Arm(light), torque=3.0).torque is None


def test_given_limits_take_the_place_of_the_joints_own():
    arm = one(position_limits=(-1.0, 1.0), velocity_limit=1.0, effort_limit=2.0)
    box = ((0, 0, 0), (1, 2, 3))
    found = own(arm, position=(-9.0, 9.5), velocity=7.0, torque=4.0, box=box)
    assert (found.low, found.high, found.velocity, found.acceleration) == (-9.0, 9.5, 7.0, 28.0)
    assert found.torque == 4.0
    assert [corner.tolist() for corner in found.box] == [[0, 0, 0], [1, 2, 3]]
    assert own(arm, acceleration=6.0).acceleration == 6.0


@pytest.mark.parametrize(
    "wrong",
    [
        {"position": (1.0, 1.0)},
        {"position": [(0.0, 1.0), (2.0, 1.0)]},
        {"velocity": (1.0, 0.0)},
        {"acceleration": (0.0, 1.0)},
        {"torque": (1.0, 0.0)},
        {"torque": -1.0},
        {"box": ((0, 0, 0), (1, 0, 1))},
        {"box": ((0, 0, 0), (1, 1, -1))},
    ],
)
def test_limits_without_room_are_refused(wrong):
    with pytest.raises(DynarmError, match=r"limits must leave room|box is"):
        own(TWO, **wrong)


# ---- series


@pytest.mark.parametrize(
    "duration, period", [(4.0, 4.0), (14.0, 14.0), (16.0, 8.0), (20.0, 10.0), (36.0, 9.0)]
)
def test_a_motion_has_whole_periods_of_about_ten_seconds(duration, period):
    assert check_series(duration, 5, None) == Series(period, 5)


def test_given_periods_divide_the_duration():
    for period in (12.0, 6.0, 4.0, 12 / 7):
        assert check_series(12.0, 3, period).period == period
    for period in (24.0, 5.0, 12.001, 11.999, 3.999999):
        with pytest.raises(DynarmError, match="divide"):
            check_series(12.0, 3, period)


def test_how_long_and_how_many():
    assert check_series(LONGEST, 2, LONGEST).size == 5
    assert check_series(1, 200, None).size == 401
    for wrong in ((LONGEST * 1.001, 2), (0.0, 2), (1.0, 1), (1.0, 201)):
        with pytest.raises(DynarmError):
            check_series(*wrong, None)
    with pytest.raises(DynarmError, match="period"):
        check_series(1.0, 2, 0.0)


def test_a_series_by_hand():
    """w = 1: q = c + a1 sin t + a2 sin(2 t) / 2 - b1 cos t - b2 cos(2 t) / 2."""
    series = Series(2 * PI, 2)
    q, qd, qdd = (B @ [1.0, 2.0, 3.0, 5.0, 7.0] for B in series.basis(np.array([0.0, PI / 2])))
    np.testing.assert_allclose(q, [1 - 5 - 3.5, 1 + 2 + 3.5])
    np.testing.assert_allclose(qd, [2 + 3, -3 + 5], atol=1e-12)
    np.testing.assert_allclose(qdd, [5 + 14, -2 - 14], atol=1e-12)


def test_random_series_rest_at_both_ends_and_fill_all_other_directions():
    series = Series(4.0, 3)
    x = series.random(np.random.default_rng(0), 400)
    assert x.shape == (400, 7)
    for B in series.basis(np.array([0.0, 4.0]))[1:]:
        np.testing.assert_allclose(B @ x.T, 0, atol=1e-9)
    # 5 directions of a normal distribution of deviation 1
    s = np.linalg.svd(x, compute_uv=False) / 20
    np.testing.assert_allclose(s[:5], 1, atol=0.2)
    np.testing.assert_allclose(s[5:], 0, atol=1e-12)


def test_a_motion_as_text_and_as_a_file(tmp_path):
    q = np.array([[0.0, 1.0], [0.5, -2.0], [0.25, 0.0]])
    found = Trajectory(np.array([0.0, 0.5, 1.0]), q, -2 * q, 3 * q, 12.345, ("a", "<b>"))
    head = "dynarm.Trajectory of 2 joints: 3 samples, 1 s, condition number 12.3"
    assert repr(found) == f"<{head}>"
    assert [line.split() for line in str(found).splitlines()[3:]] == [
        ["a", "0", "0.5", "1", "1.5"], ["<b>", "-2", "1", "4", "6"]
    ]  # fmt: skip
    page = found._repr_html_()
    assert head in page and "&lt;b&gt;" in page and "<b>" not in page
    found.save(tmp_path / "x.csv")
    lines = (tmp_path / "x.csv").read_text().splitlines()
    assert lines[0] == "t,q1,q2,qd1,qd2,qdd1,qdd2"
    assert lines[2] == "0.5,0.5,-2,-1,4,1.5,-6"


# ---- poses


LIMITS = own(TWO, position=(-1.0, 2.0))


def test_the_middle_is_tried_itself():
    pose, miss = resting_pose(LIMITS, lambda q: np.where((q == 0.5).all(axis=1), -1.0, 1.0), 3)
    assert pose.tolist() == [0.5, 0.5] and miss == -1.0


def test_the_search_narrows_and_stays_within_the_limits():
    seen = []

    def excess(q):
        seen.append(q)
        return np.abs(q - [0.7, -0.3]).sum(axis=1)

    pose, miss = resting_pose(LIMITS, excess, 0)
    np.testing.assert_allclose(pose, [0.7, -0.3], atol=1e-4)
    assert miss == pytest.approx(np.abs(pose - [0.7, -0.3]).sum())
    tried = np.concatenate(seen)
    assert tried.min() >= -1.0 and tried.max() <= 2.0


def test_motions_are_drawn_in_to_a_thousandth_and_no_further():
    x = np.array([[0.0, 1.0, 1.0]])
    for size in (0.9, 0.5, 0.01, 0.0011):
        drawn = drawn_in(x, np.zeros(1), lambda y, size=size: float(y[0, 1] - size))
        assert size * (1 - 3e-5) <= drawn[0, 1] <= size
    with pytest.raises(DynarmError, match="no room to move"):
        drawn_in(x, np.zeros(1), lambda y: float(y[0, 1] - 0.0007))
    # at its limit is within it
    assert drawn_in(x, np.ones(1), lambda y: 0.0).tolist() == x.tolist()


def test_the_joint_that_cannot_hold_the_arm_is_named():
    limits = replace(LIMITS, torque=np.array([10.0, 1.0]))

    def asked(hold, miss):
        return reachable_pose(
            limits, lambda q: np.full(len(q), miss), lambda q: np.array([hold]), ("a", "b"), 0
        )

    assert asked((0.0, 0.0), -0.1).shape == (2,)
    for miss in (0.0, 0.3):
        with pytest.raises(DynarmError, match=r"joint 'b' needs 3 .* limit is 1;"):
            asked((-12.0, -3.0), miss)
        with pytest.raises(DynarmError, match=r"joint 'a' needs 10 .* limit is 10;"):
            asked((10.0, 0.5), miss)
    with pytest.raises(DynarmError, match=r"reach by 0\.3 m"):
        asked((9.0, 0.9), 0.3)


# ---- what the optimiser sees


def problem(arm, criterion="condition", friction=(), armature=False, **given):
    terms = Terms(arm, friction, "tanh", (0.05,) * arm.n, armature)
    return _Problem(arm, terms, Series(4.0, 3), own(arm, **given), criterion, 50.0)


@pytest.mark.parametrize("p", [1, 3])
def test_measures_of_an_information_matrix(p):
    X = np.random.default_rng(0).normal(size=(9, p)) * np.logspace(0, 2, p)
    M = X.T @ X
    assert volume_worth(M)[0] == pytest.approx(-np.linalg.slogdet(M)[1], rel=1e-9)
    unit = X / np.linalg.norm(X, axis=0)
    U = unit.T @ unit
    value = condition_worth(M, 1.0)[0]
    assert value == pytest.approx(np.log(np.trace(U) * np.trace(np.linalg.inv(U))), abs=1e-9)
    sharp = condition_worth(M, 200.0)[0]
    assert sharp == pytest.approx(2 * np.log(np.linalg.cond(unit)), abs=0.02)


@pytest.mark.parametrize("criterion", ["condition", "logdet", "recursive"])
def test_slopes_of_what_the_optimiser_makes_small(criterion):
    """Criterion, springs at every kind of limit, and both together, against differences."""
    box = ((-0.2, -2.0, 0.1), (0.3, 2.0, 0.4))
    seen = problem(
        TWO, criterion, friction=("viscous",), position=(-0.5, 0.8), torque=(2.0, 1.0), box=box
    )
    look = clearance_of(TWO, shapes_of(TWO), seen.limits, 0.0, True, True)
    seen.clearance = look
    descent = descent_of(seen, np.array([0.3, 0.2]))
    rng = np.random.default_rng(0)
    x, way = 0.7 * rng.normal(size=(2, 2, 7))
    assert look.push(seen.fine[0] @ x.T, 0.01, 0.1)[0] > 0
    for function in (
        lambda y: seen.worth(y, 3.0),
        lambda y: seen.torque_push(y, 0.9),
        lambda y: descent.springs(y, 0.01),
        lambda y: descent.value(y, STAGES[-1]),
    ):
        value, slope = function(x)
        h = 1e-6
        numeric = (function(x + h * way)[0] - function(x - h * way)[0]) / (2 * h)
        assert value != 0
        assert (slope * way).sum() == pytest.approx(numeric, rel=1e-5)


def test_motions_are_sought_among_those_that_start_at_home_at_rest():
    seen, home = problem(TWO), np.array([0.4, -0.3])
    descent = descent_of(seen, home)
    z = np.random.default_rng(0).normal(size=(2, len(descent.free)))
    start = [B @ (descent.fixed + z @ descent.free).T for B in seen.series.basis(np.zeros(1))]
    np.testing.assert_allclose(start, [[home], [[0, 0]], [[0, 0]]], atol=1e-12)
    moved = started_at(seen.series.random(np.random.default_rng(0), 2), seen.series, home)
    q, qd, qdd = (B @ shrunk(moved, home, seen.limits, seen.fine, 0.9).T for B in seen.fine)
    assert q[0] == pytest.approx(home)
    assert (np.abs(qd) <= 0.9 * 2.0 + 1e-9).all() and (np.abs(qdd) <= 0.9 * 8.0 + 1e-9).all()


def test_the_regressor_of_the_optimiser_is_the_scaled_one():
    arm = dynarm.load("scara")
    found = problem(arm, friction=("viscous", "coulomb", "offset"), armature=True)
    state = np.random.default_rng(1).normal(size=(3, arm.n))
    state[1] *= 10  # far from the width of the sign
    expected = found.terms.evaluate(*(np.ascontiguousarray(x[None]) for x in state))[0]
    expected = expected / found.rows[:, None] / found.scale
    np.testing.assert_allclose(np.array(found._regressor()(*state)).T, expected, atol=1e-9)


def test_torque_and_tool_of_the_optimiser():
    drive = Friction(viscous=2.0, coulomb=1.5, offset=0.5)
    scara = dynarm.load("scara")
    arm = replace(
        scara, joints=tuple(replace(j, friction=drive, armature=1.0) for j in scara.joints)
    )
    found = problem(arm)
    q, qd, qdd = np.random.default_rng(1).normal(size=(3, arm.n))
    qd = 10 * np.sign(qd)
    expected = exact_torque(arm, q[None], qd[None], qdd[None])[0]
    np.testing.assert_allclose(found._driven.inverse_dynamics(q, qd, qdd), expected, rtol=1e-9)
    place = dynarm.compile(arm).forward_kinematics(q)[:3, 3]
    (joint,), (local,) = found.box_points
    T = found.limbs.poses(q[None])[0, joint]
    np.testing.assert_allclose(T[:3, :3] @ local + T[:3, 3], place, atol=1e-12)


# ---- the end of a log


def test_where_a_log_is_cut():
    t = 100.0 + np.arange(11.0)
    log = dynarm.Log(t, t, t, source="run.csv")
    for share, fitted in ((0.5, 5), (0.25, 8), (0.1, 9), (0.85, 2)):
        first, last = hold_out(log, share)
        assert (len(first), len(last)) == (fitted, 11 - fitted)
    assert hold_out(log, 0.5)[1].source == "run.csv from 5 s on"
    for share, parts in ((0.05, "10 and 1"), (0.95, "1 and 10")):
        with pytest.raises(DynarmError, match=f"cut into {parts} samples"):
            hold_out(log, share)
    for share in (0, 1):
        with pytest.raises(DynarmError, match="above 0 and below 1"):
            hold_out(log, share)


def test_small_limits_leave_room():
    found = own(TWO, velocity=0.1, acceleration=0.2, torque=0.3)
    assert (found.velocity[0], found.acceleration[0], found.torque[0]) == (0.1, 0.2, 0.3)
