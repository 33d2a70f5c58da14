"""Paths in the shortest time, payload against reach: closed forms, `ground` as the judge, what limits each point."""

from __future__ import annotations

import numpy as np
import pytest

import dynarm
from dynarm import mobile
from dynarm.errors import DynarmError
from dynarm.mobile import Base, MobileManipulator, Platform, Wheel

G = 9.81
TANNER = mobile.load("tanner2001")


def cart(height: float = 0.3, effort: float | None = None) -> MobileManipulator:
    """Four driven wheels at (+-0.4, +-0.3), all mass in the platform, an arm without weight to speak of."""
    joint = dynarm.Joint(mass=1e-6, inertia=np.eye(3) * 1e-6, effort_limit=effort)
    wheels = [Wheel(x, y, 0.1) for x in (0.4, -0.4) for y in (0.3, -0.3)]
    tool = np.eye(4)
    tool[0, 3] = 1.0
    arm = dynarm.Arm([joint], tool=tool)
    return MobileManipulator(Platform(50.0, (3, 4, 5), height), wheels, Base(), arm)


def straight(robot, length=4.0):
    t = np.linspace(0, 4, 41)
    q = np.zeros((41, len(robot.coordinate_names)))
    q[:, 0] = length * t / 4
    return robot.motion(t, q)


def test_a_straight_path_is_bang_bang():
    """Friction allows mu g on a low cart whose wheels share alike: T = 2 sqrt(L / (mu g))."""
    robot = cart(1e-3)
    fast = robot.retime(straight(robot), 0.4, points=60, top=10.0)
    assert fast.time == pytest.approx(2 * np.sqrt(4.0 / (0.4 * G)), rel=0.02)
    half = len(fast.rate) // 2
    np.testing.assert_allclose(fast.motion.zd[1 : half - 2, 0], 0.4 * G, rtol=1e-2)
    assert fast.used <= 1 + 1e-9 and fast.rate[-1] < 0.15
    assert any(word.startswith("slipping of") for word in fast.by)
    assert "limited by slipping" in fast.status


def test_a_high_cart_is_limited_by_tipping():
    """High friction: it tips at g L / h."""
    robot = cart(1.0)
    fast = robot.retime(straight(robot), 1e4, points=60, top=10.0)
    assert np.abs(fast.motion.zd[:, 0]).max() == pytest.approx(0.4 * G / 1.0, rel=1e-2)
    assert any(word.startswith("tipping over the line") for word in fast.by)
    ground = robot.ground(fast.motion.q, fast.motion.z, fast.motion.zd)
    assert (ground.measure >= 0).all()


def test_a_bend_is_slower_than_what_follows_it():
    """Not one factor: turning about while the arm swings out is driven at other speeds than the straight way."""
    t = np.linspace(0, 6, 121)
    swing = np.clip((t - 2) / 2, 0, 1)
    swing = swing * swing * (3 - 2 * swing)
    q = np.column_stack([0.8 * t, 0 * t, 0 * t, 0 * t, -0.6 + 1.2 * swing, 2.0 + 0 * t])
    motion = TANNER.motion(t, q)
    fast = TANNER.retime(motion, 0.5, points=60)
    ground = TANNER.ground(fast.motion.q, fast.motion.z, fast.motion.zd)
    assert ground.friction.max() <= 0.5 * (1 + 1e-6) and (ground.measure > 0).all()
    inner = fast.rate[5:-5]
    assert inner.max() > 1.5 * inner.min()
    assert 1.02 < fast.between < 1.1 and "take more points" in fast.status, (
        "the arm starts with a jerk"
    )
    more = TANNER.retime(motion, 0.5, points=240)
    assert more.between < 1.01 and "between" not in more.status
    assert more.time == pytest.approx(fast.time, rel=0.01)
    by_one = TANNER.safe_speed(motion, 0.5)
    length = 6.0 / by_one.scale
    assert fast.time < 6.0 and np.isfinite(length)
    # times and speeds belong together
    steps = np.diff(fast.s) / np.diff(fast.motion.t)
    np.testing.assert_allclose(steps, 0.5 * (fast.rate[1:] + fast.rate[:-1]), rtol=1e-9)
    np.testing.assert_allclose(np.gradient(fast.s, fast.motion.t)[3:-3], fast.rate[3:-3], rtol=0.1)


def test_torque_and_speed_limits_count():
    free = TANNER.retime(_arm_only(), 0.9, points=40)
    weak = TANNER.retime(_arm_only(), 0.9, points=40, torque=3.0)
    assert weak.time > 1.3 * free.time
    assert any(word.startswith("torque of q") for word in weak.by)
    tau = TANNER.inverse_dynamics(weak.motion.q, weak.motion.z, weak.motion.zd)
    assert np.abs(tau).max() <= 3.0 * (1 + 1e-6)
    capped = TANNER.retime(_arm_only(), 0.9, points=40, top=0.4)
    assert capped.rate.max() <= 0.4 + 1e-9 and "top = 0.4" in capped.by


def _arm_only():
    t = np.linspace(0, 2, 41)
    q = np.zeros((41, 6))
    q[:, 4] = -0.3 + 0.6 * t / 2
    q[:, 5] = 2.2
    return TANNER.motion(t, q)


def test_payload_against_reach_is_the_closed_form():
    """A point mass at reach x tips the cart of mass M over its front axle when p (x - L) = M L, over its side alike."""
    robot = cart()
    table = robot.payload_map(0.6, poses=[[0.0], [np.pi / 2], [np.pi]], most=500.0)
    front, side, rear = 50.0 * 0.4 / (1 - 0.4), 50.0 * 0.3 / (1 - 0.3), 50.0 * 0.4 / (1 - 0.4)
    np.testing.assert_allclose(table.payload, [front, side, rear], rtol=1e-5)
    np.testing.assert_allclose(table.reach, 1.0, atol=1e-12)
    assert table.by[1] == "tipping over the line from w0 to w2"
    middles, low, high = table.envelope(1)
    assert low[0] == pytest.approx(side, rel=1e-5) and high[0] == pytest.approx(front, rel=1e-5)
    assert f"{side:.4g} kg in every one of 3 poses" in table.status and len(middles) == 1
    limited = robot.limits(np.zeros(4), friction=0.6).payload
    assert limited == pytest.approx(front, rel=1e-5), "as robot.limits says"
    unlimited = robot.payload_map(0.6, poses=[[0.0]], most=5.0)
    assert unlimited.payload[0] == pytest.approx(5.0) and unlimited.by == ("most = 5 kg",)


def test_payload_by_torque_and_on_a_slope():
    tilted = dynarm.Arm(
        [dynarm.Joint(alpha=np.pi / 2, mass=1e-6, inertia=np.eye(3) * 1e-6, effort_limit=20.0)],
        tool=np.array([[1, 0, 0, 1.0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]),
    )
    heavy = MobileManipulator(
        Platform(500.0, (30, 40, 50), 0.3),
        [Wheel(x, y, 0.1) for x in (0.4, -0.4) for y in (0.3, -0.3)],
        Base(),
        tilted,
    )
    table = heavy.payload_map(0.6, poses=[[0.0], [np.pi / 3]])
    np.testing.assert_allclose(table.payload, [20 / G, 40 / G], rtol=1e-4)
    assert set(table.by) == {"torque of joint1"}
    steep = cart().payload_map(0.3, poses=[[0.0]], gravity=[-G * 0.5, 0, -G * 0.866])
    assert steep.payload[0] == 0.0 and "slipping" in steep.by[0]
    many = cart().payload_map(0.6, count=50, most=60.0)
    assert len(many.payload) == 50 and (many.payload > 0).all()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: TANNER.retime(3, 0.5), "motion is int; give"),
        (lambda: TANNER.retime(_arm_only(), -1), "not negative"),
        (
            lambda: TANNER.retime(_arm_only(), 0.5, torque=-3),
            "torque is -3; give one limit above 0",
        ),
        (lambda: TANNER.retime(_arm_only(), 0.5, top=0), "top"),
        (lambda: TANNER.retime(_arm_only(), 0.5, points=2), "points"),
        (lambda: TANNER.retime(_arm_only(), 0.5, gravity=[0, 0, np.nan]), "finite"),
        (lambda: TANNER.retime(_arm_only(), 0.0), "slipping"),
        (
            lambda: TANNER.retime((np.linspace(0, 1, 9), np.zeros((9, 6))), 0.5),
            "the motion stands still",
        ),
        (lambda: TANNER.payload_map(0.5, poses=[[0.0]]), "poses has shape"),
        (lambda: TANNER.payload_map(0.5, poses=[[np.nan, 0.0]]), "poses"),
        (lambda: TANNER.payload_map(0.5, most=0), "most"),
    ],
)
def test_refused(call, words):
    with pytest.raises(DynarmError, match=words):
        call()


def test_a_path_on_which_it_does_not_stand_is_refused():
    t = np.linspace(0, 2, 41)
    q = np.zeros((41, 6))
    q[:, 4] = 1.3 * t / 2
    with pytest.raises(DynarmError, match="does not even stand, for tipping over the line"):
        TANNER.retime(TANNER.motion(t, q), 0.5)
