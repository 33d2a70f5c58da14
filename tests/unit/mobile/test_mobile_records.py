"""Platforms, wheels and bases as records: what is accepted, what is refused and with which words."""

from __future__ import annotations

import numpy as np
import pytest

import dynarm
from dynarm.errors import DynarmError, InputError, KindError, ModelError
from dynarm.mobile import Base, MobileManipulator, Platform, Steering, Wheel
from oracles.mobile_machines import MACHINES

ARM = dynarm.Arm([dynarm.Joint(mass=1.0, com=(0.1, 0, 0), inertia=np.diag([0.1, 0.1, 0.1]))])
PLATFORM = Platform(40.0, (1.0, 1.0, 3.0), 0.2)
FRONT = Wheel(0.3, 0.0, 0.15, 2.0, "steered", name="front")
REAR = (Wheel(-0.3, 0.3, 0.15, 2.0), Wheel(-0.3, -0.3, 0.15, 2.0))


def build(*wheels: Wheel, platform: Platform = PLATFORM, **options) -> MobileManipulator:
    return MobileManipulator(platform, wheels, Base(), ARM, **options)


REFUSED = {
    "two wheels": (lambda: build(FRONT, REAR[0]), ModelError, "2 wheels cannot hold"),
    "collinear": (
        lambda: build(FRONT, Wheel(0.0, 0.0, 0.1, kind="caster"), Wheel(-0.4, 0.0, 0.1)),
        ModelError,
        "one line",
    ),
    "axles never meet": (
        lambda: build(FRONT, REAR[0], REAR[1], Wheel(0.1, 0.2, 0.1)),
        ModelError,
        "only at phi = 0",
    ),
    "fixed wheels that block": (
        lambda: build(Wheel(0.3, 0.0, 0.1, angle=0.4), *REAR, Wheel(0.0, 0.3, 0.1)),
        ModelError,
        "meet in one point nowhere",
    ),
    "steered wheels that block": (
        lambda: build(
            FRONT, Wheel(0.3, 0.3, 0.1, kind="steered"), *REAR, Wheel(0.0, 0.2, 0.1, angle=0.7)
        ),
        ModelError,
        "at no steering angle",
    ),
    "freedom that changes": (
        lambda: build(
            Wheel(0.3, 0.3, 0.1, 1.0, "steered"),
            Wheel(0.3, -0.3, 0.1, 1.0, "steered"),
            Wheel(-0.3, 0.0, 0.1, kind="caster"),
        ),
        ModelError,
        "more freedom",
    ),
    "casters only": (
        lambda: build(
            *(Wheel(x, y, 0.1, kind="caster") for x, y in ((0.3, 0), (-0.3, 0.3), (-0.3, -0.3)))
        ),
        ModelError,
        "every wheel is a caster",
    ),
    "sideways wheels": (
        lambda: build(
            *(Wheel(x, y, 0.1, angle=np.pi / 2) for x, y in ((0.3, 0), (-0.3, 0.3), (-0.3, -0.3)))
        ),
        ModelError,
        "along its x axis",
    ),
    "ackermann without geometry": (
        lambda: build(Wheel(0.3, 0.0, 0.1, kind="ackermann"), *REAR),
        ModelError,
        "no steering",
    ),
    "geometry without wheels": (
        lambda: build(
            Wheel(-0.3, 0.0, 0.1),
            *REAR[:1],
            Wheel(0.4, 0, 0.1, kind="caster"),
            platform=Platform(40.0, (1, 1, 3), 0.2, Steering(0.3)),
        ),
        ModelError,
        "no wheel follows phi",
    ),
    "geometry against a wheel": (
        lambda: build(
            Wheel(0.3, 0.0, 0.1, kind="ackermann"),
            *REAR,
            platform=Platform(40.0, (1, 1, 3), 0.2, Steering(0.3, 0.0, 0.1)),
        ),
        ModelError,
        "line of axles",
    ),
    "reference on the line": (lambda: Steering(0.2, 0.1, 0.2), ModelError, "cannot turn"),
    "zero radius": (lambda: Wheel(0, 0, 0.0), ModelError, "radius is 0"),
    "negative radius": (lambda: Wheel(0, 0, -0.1), ModelError, "radius is -0.1"),
    "negative mass": (lambda: Wheel(0, 0, 0.1, -1.0), ModelError, "cannot be negative"),
    "unknown kind": (lambda: Wheel(0, 0, 0.1, kind="tracked"), InputError, "tracked"),
    "ratio 0": (lambda: Wheel(0, 0, 0.1, kind="steered", ratio=0.0), ModelError, "make it 'fixed'"),
    "text for a number": (lambda: Wheel("a", 0, 0.1), KindError, "one number"),
    "infinite": (lambda: Wheel(np.inf, 0, 0.1), InputError, "finite"),
    "friction of wrong type": (lambda: Wheel(0, 0, 0.1, rolling=0.1), KindError, "dynarm.Friction"),
    "height 0": (lambda: Platform(1.0, (1, 1, 1), 0.0), ModelError, "height is 0"),
    "asymmetric inertia": (
        lambda: Platform(1.0, [[1, 0.5, 0], [0, 1, 0], [0, 0, 1]], 0.1),
        ModelError,
        "not symmetric",
    ),
    "steering of wrong type": (
        lambda: Platform(1.0, (1, 1, 1), 0.1, steering=0.3),
        KindError,
        "Steering",
    ),
    "mount that is no pose": (lambda: Base(mount=2 * np.eye(4)), InputError, "not a pose"),
    "wheels of wrong type": (
        lambda: MobileManipulator(PLATFORM, [1, 2, 3], Base(), ARM),
        KindError,
        "wheels\\[0\\]",
    ),
    "one wheel, no list": (
        lambda: MobileManipulator(PLATFORM, FRONT, Base(), ARM),
        KindError,
        "list of",
    ),
    "platform of wrong type": (
        lambda: MobileManipulator(40.0, REAR, Base(), ARM),
        KindError,
        "Platform",
    ),
    "names twice": (
        lambda: build(FRONT, REAR[0], Wheel(-0.3, -0.3, 0.15, name="front")),
        InputError,
        "not unique",
    ),
    "gravity upwards": (lambda: build(FRONT, *REAR, gravity=-9.81), InputError, "downwards"),
    "gravity text": (lambda: build(FRONT, *REAR, gravity="down"), KindError, "size downwards"),
    "no name": (lambda: build(FRONT, *REAR, name=""), KindError, "non-empty"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_with_the_reason(name):
    make, kind, words = REFUSED[name]
    with pytest.raises(kind, match=words) as caught:
        make()
    assert isinstance(caught.value, DynarmError)


def test_blocking_wheel_is_named():
    with pytest.raises(ModelError, match="look at wheel front, odd"):
        build(FRONT, *REAR, Wheel(0.1, 0.2, 0.1, name="odd"))


def test_massless_steering_has_no_acceleration():
    robot = build(Wheel(0.3, 0.0, 0.15, kind="steered"), *REAR)
    with pytest.raises(ModelError, match="phid"):
        robot.acceleration(np.zeros(5), np.zeros(3), np.zeros(7))
    assert np.isfinite(robot.acceleration(np.zeros(5), np.zeros(3), np.zeros(7), locked=True)).all()


def test_massless_link_with_first_moments():
    arm = dynarm.Arm([dynarm.Joint(parameters=(0, 0.1, 0, 0, 1, 0, 1, 0, 0, 1))])
    robot = MobileManipulator(PLATFORM, (FRONT, *REAR), Base(), arm)
    with pytest.raises(ModelError, match="no mass centre"):
        robot.equations(np.zeros(5), np.zeros(3))


def test_disk_inertia_is_the_default():
    wheel = Wheel(0, 0, 0.2, 3.0)
    assert wheel.spin == pytest.approx(0.06) and wheel.turn == pytest.approx(0.03)
    assert Wheel(0, 0, 0.2, 3.0, spin=0.1).spin == 0.1


def test_equal_records_are_equal():
    assert build(FRONT, *REAR) == build(FRONT, *REAR)
    assert build(FRONT, *REAR) != build(FRONT, *REAR, friction=True)
    assert hash(build(FRONT, *REAR)) == hash(build(FRONT, *REAR))


@pytest.mark.parametrize("name", MACHINES)
def test_speeds_follow_from_the_wheels(name):
    robot = MACHINES[name]()
    speeds = {
        "unicycle": ("v", "thetad"),
        "diffdrive_puma560": ("v", "thetad"),
        "steered_dolly": ("v", "thetad", "phid"),
        "straight": ("v",),
    }
    assert robot.guidance.speeds == speeds.get(name, ("v", "phid"))
    assert len(robot.speed_names) == len(robot.guidance.speeds) + robot.arm.n
    assert ("phi" in robot.coordinate_names) == ("phid" in robot.speed_names)
