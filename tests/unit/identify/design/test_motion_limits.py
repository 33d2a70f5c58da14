"""Limits, series and the search for poses by numbers known beforehand."""

from __future__ import annotations

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest

import dynarm
from dynarm import Arm, DynarmError, Friction, Joint
from dynarm.identify.design.excitation import _lower_inverse, _Problem
from dynarm.identify.design.limits import limits_of
from dynarm.identify.design.scaling import drawn_in, reachable_pose, resting_pose
from dynarm.identify.design.trajectory import LONGEST, Series, Trajectory, check_series
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


def test_inverse_of_a_triangle():
    L = np.tril(np.random.default_rng(0).normal(size=(4, 4))) + 3 * np.eye(4)
    inverse = ca.Function("f", [], [ca.densify(_lower_inverse(ca.SX(L)))])()
    np.testing.assert_allclose(np.array(inverse["o0"]), np.linalg.inv(L), atol=1e-12)


@pytest.mark.parametrize("p", [1, 3])
def test_measures_of_an_information_matrix(p):
    X = np.random.default_rng(0).normal(size=(9, p))
    M = X.T @ X
    value = float(_Problem._measure(p, "logdet")(M))
    assert value == pytest.approx(-np.linalg.slogdet(M)[1], rel=1e-9)
    value = float(_Problem._measure(p, "condition")(M))
    assert value == pytest.approx(np.log(np.trace(M) * np.trace(np.linalg.inv(M))), abs=1e-9)


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
    np.testing.assert_allclose(np.array(found._driven(q, qd, qdd)).ravel(), expected, rtol=1e-9)
    place = dynarm.compile(arm).forward_kinematics(q)[:3, 3]
    np.testing.assert_allclose(np.array(found._tool(q)).ravel(), place, atol=1e-12)


def test_constraints_of_the_optimiser():
    """Rest, positions, velocities, accelerations, torques, box: 97 % of each, less what is spared."""
    box = ((-1.0, -2.0, -3.0), (1.0, 2.0, 5.0))
    found = problem(
        TWO, position=[(-1.0, 2.0), (0.0, 1.0)], velocity=(1.0, 2.0), acceleration=8.0,
        torque=(10.0, 20.0), box=box,
    )  # fmt: skip
    x = found.series.random(np.random.default_rng(0), 2)
    points = len(found.bases[0])
    symbol = ca.MX.sym("x", x.size)
    states = [ca.mtimes(ca.DM(np.kron(B, np.eye(2))), symbol) for B in found.bases]
    shaped = [ca.reshape(s, 2, points) for s in states]
    for spare, torque, spared in ((0.0, 0.97, 0.0), (0.1, 0.87, 0.1), (0.9, 0.47, (0.5, 0.9, 0.9))):
        found.spare = spare
        g, low, high = found._constraints(symbol, states, *shaped)
        sizes = [int(part.shape[0]) for part in g]
        assert sizes == [4, *[2 * points] * 4, 3 * points]
        rows = [
            (low[k][: len(low[k]) // points or 4], high[k][: len(high[k]) // points or 4])
            for k in range(1, 6)
        ]
        np.testing.assert_allclose(rows[0], [[0.5 - 1.455, 0.015], [0.5 + 1.455, 0.985]])
        np.testing.assert_allclose(rows[1], np.outer([-1, 1], [0.97, 1.94]))
        np.testing.assert_allclose(rows[2], np.outer([-1, 1], [7.76, 7.76]))
        np.testing.assert_allclose(rows[3], np.outer([-1, 1], [10 * torque, 20 * torque]))
        np.testing.assert_allclose(
            rows[4], [box[0] + np.ones(3) * spared, box[1] - np.ones(3) * spared]
        )
        assert not low[0].any() and not high[0].any() and len(low[0]) == 4
    values = ca.Function("g", [symbol], g)(x.T.ravel())
    np.testing.assert_allclose(np.array(values[0]), 0, atol=1e-9)
    q, qd, qdd = (B @ x.T for B in found.bases)
    np.testing.assert_allclose(np.array(values[2]).reshape(-1, 2), qd, atol=1e-9)
    np.testing.assert_allclose(
        np.array(values[4]).reshape(-1, 2), exact_torque(TWO, q, qd, qdd), atol=1e-9
    )


def test_objectives_of_the_optimiser():
    for criterion in ("condition", "logdet", "recursive"):
        found = problem(TWO, criterion)
        x = found.within(found.series.random(np.random.default_rng(0), 2))
        points = len(found.bases[0])
        symbol = ca.MX.sym("x", x.size)
        states = [ca.mtimes(ca.DM(np.kron(B, np.eye(2))), symbol) for B in found.bases]
        shaped = [ca.reshape(s, 2, points) for s in states]
        value, parts, low, high = found._objective(*shaped)
        Y = found.terms.evaluate(*(np.ascontiguousarray(B @ x.T) for B in found.bases))
        Y = Y / found.rows[:, None] / found.scale
        if criterion == "recursive":
            given = np.array(ca.Function("f", [symbol], [parts])(x.T.ravel())).ravel()
            expected = []
            for j, columns in enumerate(found.owned()):
                M = Y[:, j, columns].T @ Y[:, j, columns]
                expected.append(np.log(np.trace(M) * np.trace(np.linalg.inv(M))))
            np.testing.assert_allclose(given, expected, rtol=1e-6)
            assert value is None and (low == -np.inf).all() and (high == 0).all()
            continue
        W = Y.reshape(-1, Y.shape[2])[:, found.terms.independent]
        M = W.T @ W / points
        given = float(ca.Function("f", [symbol], [value])(x.T.ravel()))
        if criterion == "logdet":
            assert given == pytest.approx(-np.linalg.slogdet(M)[1], rel=1e-6)
        else:
            expected = np.log(np.trace(M) * np.trace(np.linalg.inv(M)))
            assert given == pytest.approx(expected, rel=1e-6)


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
