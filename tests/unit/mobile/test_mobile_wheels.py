"""Which wheels guide a platform, which of their forces are known as sums, and what is said of wrong arguments."""

from __future__ import annotations

import numpy as np
import pytest

import dynarm
from dynarm import mobile
from dynarm.errors import DynarmError, InputError, KindError, ModelError
from dynarm.mobile import Base, MobileManipulator, Platform, Steering, Wheel
from dynarm.mobile.admissibility import self_stresses
from dynarm.mobile.constraints import forwardness, guidance_of, turned
from oracles.mobile_machines import MACHINES, states

TANNER = mobile.load("tanner2001")
PLATFORM = Platform(40.0, (1.0, 1.0, 3.0), 0.2)
ARM = dynarm.Arm([dynarm.Joint(mass=1.0, com=(0.1, 0, 0), inertia=np.diag([0.1, 0.1, 0.1]))])


def test_the_wheels_farthest_apart_guide():
    """Three axles in parallel: the outer two fix the motion best, in whichever order they are given."""
    places = (-0.1, 0.4, 0.0, -0.3, 0.1)
    for order in (places, places[::-1], sorted(places)):
        wheels = [Wheel(x, 0.2 * (k % 2), 0.1) for k, x in enumerate(order)]
        guidance = guidance_of(PLATFORM, wheels)
        assert {w.x for w in guidance.rows} == {0.4, -0.3} and not guidance.steered
        assert guidance.moving == 1


def test_of_wheels_equally_far_apart_the_first_guide():
    """A cart's four wheels: every pair across the axles is as good, and rounding does not choose."""
    wheels = [Wheel(x, y, 0.1) for x in (0.4, -0.3) for y in (0.3, -0.3)]
    assert guidance_of(PLATFORM, wheels).rows == (wheels[0], wheels[2])


def test_size_is_the_largest_distance_of_two_wheels():
    wheels = [Wheel(1.0, 0.5, 0.1), Wheel(1.0, -0.1, 0.1), Wheel(1.8, 0.5, 0.1, kind="caster")]
    assert guidance_of(PLATFORM, wheels).size == pytest.approx(1.0)


@pytest.mark.parametrize("phi", [-0.9, -0.2, 0.0, 0.4, 1.1])
@pytest.mark.parametrize("front", [0.5, -0.5])
def test_axles_of_ackermann_wheels_meet(phi, front):
    """Each wheel's axle passes the point where the reference wheel's axle meets the line of axles."""
    steering = Steering(front, 0.05, -0.1)
    middle = 0.05 - (front + 0.1) * (-1 / np.tan(phi)) if phi else None
    for x, y in ((0.45, 0.3), (-0.4, 0.25), (0.2, -0.3)):
        wheel = Wheel(x, y, 0.1, kind="ackermann")
        c, s, d, dd = (float(value) for value in turned(wheel, steering, phi))
        assert c * c + s * s == pytest.approx(1)
        if phi:  # the axle is across (c, s)
            assert c * (-0.1 - x) + s * (middle - y) == pytest.approx(0, abs=1e-12)
        else:
            assert (c, s) == (1, 0)
        h = 1e-5
        before, after = (turned(wheel, steering, phi + e) for e in (-h, h))
        rate = (np.arctan2(after[1], after[0]) - np.arctan2(before[1], before[0])) / (2 * h)
        assert d == pytest.approx(rate, rel=1e-6, abs=1e-8)
        assert dd == pytest.approx((after[2] - before[2]) / (2 * h), rel=1e-6, abs=1e-6)


def test_forwardness_changes_sign_at_a_right_angle():
    for robot in (TANNER, MACHINES["steered_dolly"]()):
        below, above = (
            float(forwardness(robot.guidance, robot.platform.steering, np.pi / 2 + e))
            for e in (-1e-3, 1e-3)
        )
        assert below * above < 0 and abs(below) < 0.01


def test_wheels_without_a_name_are_told_by_number():
    front = Wheel(0.3, 0.0, 0.15, 2.0, "steered")
    rear = (Wheel(-0.3, 0.3, 0.15, 2.0), Wheel(-0.3, -0.3, 0.15, 2.0))
    with pytest.raises(ModelError, match=r"only at phi = \S+: .*look at wheel w0, w3\)"):
        MobileManipulator(PLATFORM, (front, *rear, Wheel(0.1, 0.2, 0.1)), Base(), ARM)


def test_both_axles_of_a_cart_are_known_as_sums():
    cart = MACHINES["straight"]()
    state = states(cart, 3, 50)[:3]
    contact = cart.contact(*state)
    assert set(contact.axle_sums) == {("w0", "w1"), ("w2", "w3")}
    assert np.allclose(contact.axle_sums["w2", "w3"], contact.forces[:, 2:, 1].sum(-1))
    _, axle = self_stresses(cart, 0.0)
    assert axle.shape == (4, 2)
    assert np.allclose(axle[:2].sum(0), 0) and np.allclose(axle[2:].sum(0), 0)
    assert not contact.determinate[:, 1:].any() and contact.determinate[:, 0].all()


def test_one_wheel_each_is_known_without_a_sum():
    robot = MACHINES["counter_steered"]()
    contact = robot.contact(*states(robot, 1, 51)[:3])
    assert contact.axle_sums == {} and contact.determinate[:, 1].all()
    assert "vertical forces are indeterminate" in contact.status
    assert "axle" not in contact.status


# ---- words about arguments


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (
            lambda q, z, tau: TANNER.acceleration(q, 0.0, tau, locked=True),
            InputError,
            "z has a single number",
        ),
        (
            lambda q, z, tau: TANNER.acceleration(q, z[:3], tau, locked=True),
            InputError,
            "z has 3 entries",
        ),
        (
            lambda q, z, tau: TANNER.acceleration(q, z + np.eye(4)[1], tau, locked=True),
            InputError,
            "phid is 1",
        ),
        (
            lambda q, z, tau: TANNER.acceleration(q, z, tau, np.zeros(3)),
            InputError,
            "load has 3 entries, robot 'tanner2001' has 6 entries$",
        ),
        (
            lambda q, z, tau: TANNER.equations(np.where(np.arange(6) == 3, np.nan, q), z),
            InputError,
            "phi is nan; give finite",
        ),
        (lambda q, z, tau: TANNER.equations([[1.0] * 6, [1.0] * 5], z), DynarmError, "q"),
        (lambda q, z, tau: TANNER.equations(q * 1j, z), KindError, "q is"),
    ],
)
def test_refused_in_words(call, kind, words):
    with pytest.raises(kind, match=words):
        call(np.zeros(6), np.zeros(4), np.zeros(8))


def test_energy_is_defined_where_steering_is_singular():
    """A robot stands at every steering angle, and has its potential energy there."""
    q = np.array([0, 0, 0, np.pi / 2, 0.3, 0.4])
    assert np.isfinite(TANNER.potential_energy(q))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("platform = 3\nwheels = []\narm = 'two_link'", "platform is 3; give a table"),
        (
            "wheels = [3]\narm = 'two_link'\n[platform]\nmass = 1\ninertia = [1, 1, 1]\nheight = 1",
            "wheel 0 is 3; give a table",
        ),
    ],
)
def test_tables_that_are_none(text, words, tmp_path):
    path = tmp_path / "x.toml"
    path.write_text(text)
    with pytest.raises(DynarmError, match=words):
        mobile.load(path)
