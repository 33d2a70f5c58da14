"""What the ground allows in a pose: each limit is where the ground says that a wheel slips or the robot tips."""

from __future__ import annotations

import numpy as np
import pytest

from dynarm import mobile
from dynarm.errors import InputError
from dynarm.mobile.limits import UNITS
from dynarm.mobile.outline import arm_frames
from oracles.example_robots import example_robot
from oracles.mobile_machines import straight

TIAGO = mobile.load(example_robot("tiago_no_hand.urdf"), tip="arm_7_link")
TANNER = mobile.load("tanner2001")
POSE = np.r_[0.3, -0.2, 0.7, 0.1, np.linspace(0.2, -0.4, 7)]
STILL = np.zeros(10)
MU = 0.55
JUST = ((1 - 1e-5, True), (1 + 1e-5, False))


@pytest.fixture(scope="module")
def limits():
    return TIAGO.limits(POSE, friction=MU)


def holds(contact="elastic", **given) -> bool:
    state = {"q": POSE, "z": STILL, "zd": STILL} | given
    ground = TIAGO.ground(**state, contact=contact)
    return bool(ground.measure > 0 and ground.friction.max() <= MU)


@pytest.mark.parametrize(("name", "sign"), [("acceleration", 1), ("deceleration", -1)])
@pytest.mark.parametrize("contact", ["elastic", "best"])
def test_straight_ahead(limits, name, sign, contact):
    value = getattr(limits, name) if contact == "elastic" else limits.others[contact][name]
    assert 0.3 < value < 6
    for part, fine in JUST:
        zd = np.r_[sign * part * value, np.zeros(9)]
        assert holds(contact, zd=zd) is fine
    assert limits.by[name] in TIAGO.wheel_names
    assert limits.others["worst"][name] <= getattr(limits, name)


@pytest.mark.parametrize(("name", "x"), [("slope_up", -1), ("slope_down", 1)])
def test_on_a_slope(limits, name, x):
    for part, fine in JUST:
        angle = np.radians(part * getattr(limits, name))
        gravity = 9.81 * np.array([x * np.sin(angle), 0, -np.cos(angle)])
        assert holds(gravity=gravity) is fine


@pytest.mark.parametrize(("name", "side"), [("slope_left", 1), ("slope_right", -1)])
def test_across_a_slope(limits, name, side):
    """The two wheels of the axle share the side force as well as they can."""
    for part, fine in JUST:
        angle = np.radians(part * getattr(limits, name))
        gravity = 9.81 * np.array([0, side * np.sin(angle), -np.cos(angle)])
        assert axle_holds(gravity=gravity) is fine


def axle_holds(**given) -> bool:
    ground = TIAGO.ground(**({"q": POSE, "z": STILL, "zd": STILL} | given))
    roll, side, up = ground.forces[:2].T
    left = (MU * up) ** 2 - roll**2
    return bool((left >= 0).all() and abs(side.sum()) <= np.sqrt(np.maximum(left, 0)).sum())


def test_in_a_bend(limits):
    for part, fine in JUST:
        v = part * limits.curve_speed
        assert axle_holds(z=np.r_[v, v, np.zeros(8)]) is fine
        w = part * limits.yaw_rate
        assert axle_holds(z=np.r_[0, w, np.zeros(8)]) is fine
    wide = TIAGO.limits(POSE, friction=MU, radius=4.0)
    assert wide.curve_speed > 1.5 * limits.curve_speed and wide.yaw_rate == limits.yaw_rate


def test_a_payload(limits):
    q = POSE.copy()
    q[:3] = 0
    R = arm_frames(TIAGO, q)[-1][:3, :3]
    for part, fine in JUST:
        force = R.T @ np.array([0, 0, -9.81 * part * limits.payload])
        assert holds(load=np.r_[force, 0, 0, 0]) is fine
    assert (
        "tipping over the line from" in limits.by["payload"]
        or limits.by["payload"] in TIAGO.wheel_names
    )


def test_a_load_counts_on_a_slope():
    load = np.array([0, 0, 0, 3.0, -12.0, 5.0])
    steep = TIAGO.limits(POSE, friction=MU, load=load)
    for part, fine in JUST:
        angle = np.radians(part * steep.slope_up)
        gravity = 9.81 * np.array([-np.sin(angle), 0, -np.cos(angle)])
        assert holds(gravity=gravity, load=load) is fine


def test_limits_while_driving_a_bend():
    z = np.r_[0.6, 0.5, np.zeros(8)]
    driving = TIAGO.limits(POSE, z, friction=MU)
    assert driving.deceleration < TIAGO.limits(POSE, friction=MU).deceleration
    for part, fine in JUST:
        assert axle_holds(z=z, zd=np.r_[-part * driving.deceleration, np.zeros(9)]) is fine


def test_an_emergency_stop(limits):
    stop = TIAGO.emergency_stop(POSE, 1.2, friction=MU)
    assert stop.deceleration == pytest.approx(limits.deceleration, rel=1e-6)
    assert stop.distance == pytest.approx(1.44 / 2 / stop.deceleration)
    assert stop.time == pytest.approx(1.2 / stop.deceleration)
    assert f"limited by {stop.by} (contact elastic; best: " in stop.status
    turned = np.array([0, 0, 0, 0.3, 0, 0])
    with pytest.raises(InputError, match="set it to 0"):
        TANNER.emergency_stop(turned, 1.0)


def test_every_limit_is_told(limits):
    lines = str(limits).splitlines()
    assert len(lines) == len(UNITS)
    for line, (name, unit) in zip(lines, UNITS.items(), strict=True):
        assert line.startswith(f"{name.replace('_', ' ')} {getattr(limits, name):.4g} {unit}")
        assert f"limited by {limits.by[name]} (contact elastic; best: " in line
    three = TANNER.limits([0, 0, 0, 0.3, 0, 2.5])
    assert three.others == {} and three.status.count("(contact elastic)") == len(UNITS)
    ratio = three.yaw_rate / three.curve_speed
    assert ratio == pytest.approx(np.tan(0.3) / 0.6)


def test_what_cannot_turn_has_no_bend_and_what_tips_no_limits():
    robot = straight()
    still = robot.limits(np.zeros(len(robot.coordinate_names)))
    assert np.isinf(still.curve_speed) and still.by["curve_speed"] == "nothing"
    tipped = TANNER.limits(np.zeros(6), load=[0, 0, -900.0, 0, 0, 0])
    assert np.isnan(tipped.acceleration) and "not even at rest" in tipped.status
    stop = TANNER.emergency_stop(np.zeros(6), 1.0, load=[0, 0, -900.0, 0, 0, 0])
    assert np.isnan(stop.distance) and stop.status.startswith("cannot brake")


@pytest.mark.parametrize(
    "given",
    [
        {"q": np.zeros((2, 11))},
        {"q": np.full(11, np.nan)},
        {"z": np.full(10, np.inf)},
        {"gravity": [0, 0]},
        {"load": np.full(6, np.nan)},
        {"friction": -1},
        {"contact": "firm"},
        {"radius": 0.0},
    ],
)
def test_refused(given):
    with pytest.raises((InputError, ValueError, TypeError)):
        TIAGO.limits(**({"q": POSE} | given))


def test_steeper_than_friction_holds():
    """On ice nothing holds a slope: the limit is none, not a verdict of its own."""
    ice = TIAGO.limits(POSE, friction=0.0)
    assert ice.slope_up == pytest.approx(0, abs=1e-3) and ice.acceleration == pytest.approx(
        0, abs=1e-4
    )
