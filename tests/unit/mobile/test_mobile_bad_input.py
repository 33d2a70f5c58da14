"""What cannot be meant: each refused, or NaN without a verdict, in words that say what is wrong and what to do."""

from __future__ import annotations

import numpy as np
import pytest

import dynarm
from dynarm import mobile
from dynarm.errors import DynarmError
from dynarm.mobile import Base, MobileManipulator, Platform, Wheel

ARM = dynarm.load("two_link")
P = Platform(50.0, (3, 3, 3), 0.2)
THREE = [Wheel(0, 0.3, 0.1), Wheel(0, -0.3, 0.1), Wheel(0.4, 0, 0.1, kind="caster")]
CART = MobileManipulator(P, THREE, Base(), ARM)
FOUR = MobileManipulator(P, [*THREE, Wheel(-0.4, 0, 0.1, kind="caster")], Base(), ARM, name="four")
Q, Z = np.zeros(5), np.zeros(4)
STEEP = 9.81 * np.array([-np.sin(0.35), 0.0, -np.cos(0.35)])


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (
            lambda: MobileManipulator(P, [Wheel(x, 0, 0.1) for x in (0, 0.2, 0.4)], Base(), ARM),
            "the wheels stand in one line, so there is no support polygon; move one",
        ),
        (
            lambda: MobileManipulator(
                P, [Wheel(w.x, w.y, 0.1, kind="caster") for w in THREE], Base(), ARM
            ),
            "every wheel is a caster, so nothing keeps the platform from sliding; fix or steer one",
        ),
        (lambda: Wheel(0, 0, 0.1, stiffness=0), "stiffness is 0; give a number greater than 0"),
        (lambda: Wheel(0, 0, 0.1, stiffness=np.nan), "stiffness"),
        (
            lambda: MobileManipulator(Platform(0, (0, 0, 0), 0.2), THREE, Base(), ARM),
            "without any mass; give Platform",
        ),
        (
            lambda: CART.limits(Q, gravity=[0, 0, 0]),
            "no load on any wheel: the force on the ground",
        ),
        (lambda: CART.emergency_stop(Q, 1.0, gravity=[0, 0, 9.81]), "no load on any wheel"),
        (lambda: CART.limits([np.nan, *Q[1:]]), "q holds NaN or infinity"),
        (lambda: CART.limits(Q, z=[np.inf, 0, 0, 0]), "z holds NaN or infinity"),
        (lambda: CART.emergency_stop(Q, np.nan), "speed"),
        (lambda: CART.admissible(Q + np.nan, Z, np.zeros(8), 0.5), "hold NaN or infinity"),
        (lambda: CART.trailing(Q + np.nan, Z), "NaN"),
        (lambda: CART.retime((np.arange(5.0), np.full((5, 5), np.inf)), 0.5), "finite"),
    ],
)
def test_refused(make, words):
    with pytest.raises(DynarmError, match=words):
        make()


@pytest.mark.parametrize("gravity", [(0, 0, 0), (0, 0, 9.81)])
def test_without_load_there_is_no_verdict(gravity):
    for robot in (CART, FOUR):
        status = robot.ground(Q, Z, Z, gravity=gravity).status
        assert status.startswith("no load on any wheel") and "neither" in status
    mixed = CART.ground(Q, Z, Z, gravity=[(0, 0, -9.81), gravity]).status
    assert mixed.startswith("no load on any wheel"), "one sample of many is enough"


def test_a_slope_steeper_than_friction_holds():
    for robot in (CART, FOUR):
        limits = robot.limits(Q, friction=0.3, gravity=STEEP)
        assert np.isnan(limits.acceleration) and "not even at rest, limited by w" in limits.status
        stop = robot.emergency_stop(Q, 1.0, friction=0.3, gravity=STEEP)
        assert np.isnan(stop.deceleration) and stop.status.startswith("cannot brake")
        assert robot.ground(Q, Z, Z, gravity=STEEP).friction.max() > 0.3
        assert robot.limits(Q, friction=2.0, gravity=STEEP).acceleration > 0
        with pytest.raises(DynarmError, match="does not even stand, for slipping of w"):
            t = np.linspace(0, 1, 9)
            q = np.zeros((9, 5))
            q[:, 0] = t
            robot.retime((t, q), 0.3, gravity=STEEP)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("contact", ["elastic", "best", "worst"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_what_is_not_finite_gets_no_verdict(bad, contact):
    for place in range(3):
        given = [Q.copy(), Z.copy(), Z.copy()]
        given[place][-1] = bad
        ground = FOUR.ground(*given, contact=contact)
        assert ground.status.startswith("unknown: the state or what acts on it is not finite")
        assert not np.isfinite(ground.measure) and not ground.lifted.any()
    q = Q.copy()
    q[3] = bad
    assert FOUR.contact(q, Z, np.zeros(10)).status.startswith("unknown")


def test_a_urdf_without_wheels_is_refused_by_what_was_looked_for():
    from oracles.example_robots import example_robot

    with pytest.raises(DynarmError, match="no link of it is a wheel by name, axis and shape"):
        mobile.load(example_robot("ur5_robot.urdf"))
