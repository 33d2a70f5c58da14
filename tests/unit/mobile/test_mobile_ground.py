"""Held and planned motion: inputs that do it, unilateral forces on the ground, and no verdict on what is not known."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from dynarm import mobile
from dynarm.algebra.piecewise import arctangent
from dynarm.errors import InputError, ModelError
from dynarm.mobile import Base, MobileManipulator, Platform, Wheel
from dynarm.mobile.springs import carry, springs_of
from dynarm.mobile.stability import _hull
from dynarm.model import batch
from oracles.mobile_machines import MACHINES, states
from oracles.mobile_multipliers import MultiplierModel

DRIVEN = [name for name in MACHINES if name != "steered_dolly"]
DIFFDRIVE = mobile.load("diffdrive_puma560")
SIX = [(x, y) for x in (0.4, 0.0, -0.4) for y in (0.3, -0.3)]


def weight(robot):
    """Of everything on the wheels [N]."""
    masses = [robot.platform.mass, robot.base.mass, *(w.mass for w in robot.wheels)]
    return robot.gravity * sum([*masses, *(j.mass for j in robot.arm.joints)])


@pytest.mark.parametrize("name", DRIVEN)
def test_held_robots_press_with_their_weight(name):
    """A limp arm does not: its joints fall."""
    robot = MACHINES[name]()
    q = states(robot, 40)[0]
    still = np.zeros(len(robot.speed_names))
    ground = robot.ground(q, still, still)
    stands = ground.measure > 0
    assert stands.sum() > 20
    total = ground.forces[stands, :, 2].sum(-1)
    np.testing.assert_allclose(total, weight(robot), rtol=1e-12)
    _, F, B = robot.equations(q, still)
    np.testing.assert_allclose(
        np.einsum("kij,kj->ki", B, robot.hold(q)), F, rtol=0, atol=1e-10 * np.abs(F).max()
    )


@pytest.mark.parametrize("name", DRIVEN)
def test_planned_motion_is_what_its_inputs_do(name):
    robot = MACHINES[name]()
    q, z, _, load = states(robot, 30)
    zd = np.random.default_rng(1).uniform(-1, 1, z.shape)
    tau = robot.inverse_dynamics(q, z, zd, load=load)
    np.testing.assert_allclose(robot.acceleration(q, z, tau, load), zd, atol=1e-9)
    ground = robot.ground(q, z, zd, load=load)
    tip = robot.tipover(q, z, tau, load)
    np.testing.assert_allclose(ground.angles, tip.angles, atol=1e-12)
    np.testing.assert_allclose(ground.measure, tip.measure, atol=1e-9)
    guides = [wheel.guides for wheel in robot.wheels]  # a plan drives those that stand
    down = (ground.measure > 0) & ~ground.lifted[:, guides].any(-1)
    assert down.sum() > 5
    forces = robot.wheel_forces(q, z, tau, load)
    np.testing.assert_allclose(ground.forces[down], forces[down], atol=1e-8)


@pytest.mark.parametrize("name", ["tanner2001", "car", "unicycle"])
def test_inputs_and_forces_are_those_of_multipliers(name):
    """Free bodies with constraint forces, whose vertical parts are put on springs."""
    robot = MACHINES[name]()
    model = MultiplierModel(robot)
    q, z, _, load = states(robot, 3, seed=5)
    zd = np.random.default_rng(2).uniform(-0.5, 0.5, z.shape)
    tau = robot.inverse_dynamics(q, z, zd, load=load)
    ground = robot.ground(q, z, zd, load=load)
    for k in range(3):
        answer = model.answer(q[k], z[k], tau[k], load[k], robot.guidance.speeds)
        np.testing.assert_allclose(answer.zd, zd[k], atol=1e-9)
        known = answer.forces[:, 2]
        xy = robot.support.points[:, :2]
        up = by_all_sets(xy, np.ones(len(xy)), known.sum(), known @ xy)
        if up is not None:
            np.testing.assert_allclose(ground.forces[k, :, 2], up, atol=1e-9 * known.sum())
            np.testing.assert_allclose(ground.forces[k, :, 0], answer.forces[:, 0], atol=1e-8)


def by_all_sets(xy, k, force, moment):
    """Vertical forces of springs, by trying every set of wheels; None where none will do."""
    L = np.column_stack([np.ones(len(xy)), xy])
    for size in range(len(xy), 2, -1):
        for group in combinations(range(len(xy)), size):
            some = list(group)
            K = (L[some].T * k[some]) @ L[some]
            if np.linalg.cond(K) > 1e10:
                continue
            height = L @ np.linalg.solve(K, [force, *moment])
            others = [j for j in range(len(xy)) if j not in group]
            if (height[some] >= -1e-12).all() and (height[others] <= 1e-12).all():
                up = np.zeros(len(xy))
                up[some] = k[some] * height[some]
                return up
    return None


@pytest.mark.parametrize("wheels", [3, 4, 5, 6, 8])
def test_springs_share_as_complementarity_says(wheels):
    rng = np.random.default_rng(wheels)
    xy = np.array(SIX) if wheels == 6 else rng.uniform(-0.5, 0.5, (wheels, 2))
    k = rng.uniform(0.5, 2.0, wheels)
    k /= k.mean()
    corners = _hull(xy)
    springs = springs_of(xy, k, tuple(zip(corners, (*corners[1:], corners[0]), strict=True)))
    at = rng.dirichlet(np.full(wheels, 0.4), 100) @ xy
    force = rng.uniform(100, 1000, 100)
    shared = carry(springs, force, force * at[:, 1], -force * at[:, 0])
    up = np.stack(shared.up, axis=-1)
    assert (up >= 0).all() and not np.any(shared.tips)
    for got, f, p in zip(up, force, at, strict=True):
        np.testing.assert_allclose(got, by_all_sets(xy, k, f, f * p), atol=1e-9 * f)


@pytest.mark.parametrize("places", [SIX, SIX[:3], SIX[:4]])
def test_it_tips_where_the_load_point_leaves_the_polygon(places):
    """10,000 load points: inside all triangles' union, or not; then the nearest side carries all of it."""
    rng = np.random.default_rng(0)
    xy = np.array(places)
    corners = _hull(xy)
    springs = springs_of(
        xy, np.ones(len(xy)), tuple(zip(corners, (*corners[1:], corners[0]), strict=True))
    )
    at = rng.uniform(-0.6, 0.6, (10_000, 2))
    inside = np.zeros(10_000, bool)
    for a, b, c in combinations(xy, 3):
        T = np.column_stack([b - a, c - a])
        if abs(np.linalg.det(T)) > 1e-9:
            s, t = np.linalg.solve(T, (at - a).T)
            inside |= (s > 0) & (t > 0) & (s + t < 1)
    shared = carry(springs, 500.0, 500 * at[:, 1], -500 * at[:, 0])
    np.testing.assert_array_equal(shared.tips == 0, inside)
    up = np.stack(shared.up, axis=-1)
    np.testing.assert_allclose(up.sum(-1), 500, rtol=1e-12)
    assert (up >= 0).all() and ((up[~inside] > 0).sum(-1) <= 2).all()


@pytest.mark.parametrize("turn", [0.0, 0.3, 1.0])
def test_rounding_leaves_nothing_on_a_wheel(turn):
    """Beyond a corner that wheel carries all of it, and no other a last digit that would count as standing."""
    c, s = np.cos(turn), np.sin(turn)
    xy = np.array(SIX) @ np.array([[c, s], [-s, c]])
    corners = _hull(xy)
    springs = springs_of(
        xy, np.ones(6), tuple(zip(corners, (*corners[1:], corners[0]), strict=True))
    )
    rng = np.random.default_rng(1)
    force = rng.uniform(1, 1000, 2000)
    at = rng.uniform(-1, 1, (2000, 2)) @ np.array([[c, s], [-s, c]])
    held = carry(springs, force, force * at[:, 1], -force * at[:, 0])
    up, stands = np.stack(held.up, axis=-1), np.stack(held.stands, axis=-1)
    assert np.array_equal(stands, up > 0)
    assert ((up == 0) | (up > 1e-12 * force[:, None])).all()
    np.testing.assert_allclose(up.sum(-1), force, rtol=1e-11)
    assert (stands.sum(-1) == 1).any() and (stands.sum(-1)[held.tips == 1] <= 2).all()


def test_three_wheels_carry_what_statics_says_however_stiff():
    xy = np.array(SIX[:3])
    corners = _hull(xy)
    sides = tuple(zip(corners, (*corners[1:], corners[0]), strict=True))
    at = np.random.default_rng(0).dirichlet(np.ones(3), 50) @ xy
    given = (100.0 + 0 * at[:, 0], 100 * at[:, 1], -100 * at[:, 0])
    up = np.stack(carry(springs_of(xy, [1e-3, 1.0, 1e3], sides), *given).up, axis=-1)
    levers = np.stack([np.ones(3), xy[:, 1], -xy[:, 0]])
    np.testing.assert_allclose(up, np.stack(given, -1) @ np.linalg.inv(levers).T, atol=1e-12)


def test_a_stiffer_wheel_carries_more_and_lifted_wheels_nothing():
    platform, arm = Platform(40.0, (1.0, 1.0, 3.0), 0.2), mobile.load("tanner2001").arm

    def robot(stiffness):
        rear = (Wheel(-0.3, 0.3, 0.1), Wheel(-0.3, -0.3, 0.1))
        front = [
            Wheel(0.4, y, 0.1, kind="caster", stiffness=k)
            for y, k in ((0.3, stiffness), (-0.3, stiffness and 1.0))
        ]
        soft = [Wheel(w.x, w.y, w.radius, stiffness=stiffness and 1.0) for w in rear]
        return MobileManipulator(platform, (*soft, *front), Base(), arm)

    q, still = np.array([0, 0, 0, 0.9, 0.2]), np.zeros(4)
    equal, stiff = (robot(k).ground(q, still, still) for k in (None, 5.0))
    assert stiff.forces[2, 2] > equal.forces[2, 2]
    down = np.array([0, 0, -50.0, 0, 0, 0])
    far = robot(None).ground([0, 0, 0, 0.75, 0.0], still, still, load=down)
    assert (far.forces[..., 2] >= 0).all()
    assert far.lifted.any() and far.measure > 0, "stands on three wheels"
    assert "carries nothing (contact elastic)" in far.status
    np.testing.assert_array_equal(far.friction[far.lifted], 0)


def test_threads_change_nothing():
    """Slices of a batch give what the whole gives, bit by bit, and that is what single states give."""
    robot = MACHINES["car"]()
    q, z, _, load = (np.tile(x, (400, 1)) for x in states(robot, 50))
    zd = np.random.default_rng(4).uniform(-1, 1, z.shape)
    whole, cut = (robot.ground(q, z, zd, load=load, threads=count) for count in (1, 2))
    assert len(q) * robot.kernel("ground").notes["instructions"] > 2 * batch._SMALLEST
    for name in ("forces", "angles", "measure", "load", "friction"):
        assert np.array_equal(getattr(whole, name), getattr(cut, name))
    taus = [robot.inverse_dynamics(q, z, zd, threads=count) for count in (1, 2)]
    assert np.array_equal(*taus)
    for k in (0, 7, 19_999):
        alone = robot.ground(q[k], z[k], zd[k], load=load[k])
        np.testing.assert_allclose(alone.forces, whole.forces[k], atol=1e-9)
        assert alone.measure == pytest.approx(whole.measure[k], abs=1e-9)
    with pytest.raises(InputError, match="threads is 0"):
        robot.ground(q, z, zd, threads=0)


def test_a_slope_is_a_turned_gravity():
    """Uphill the drives hold m g sin, and the load point moves down the slope."""
    robot, still = DIFFDRIVE, np.zeros(8)
    for angle in (0.1, -0.2):
        g = 9.81 * np.array([-np.sin(angle), 0.0, -np.cos(angle)])
        tau = robot.hold(np.zeros(9), gravity=g)
        assert tau[:2].sum() / 0.15 == pytest.approx(weight(robot) * np.sin(angle), rel=1e-12)
        ground = robot.ground(np.zeros(9), still, still, gravity=g)
        total = ground.forces.sum(0)
        assert total[2] == pytest.approx(weight(robot) * np.cos(angle), rel=1e-12)
        assert total[0] == pytest.approx(weight(robot) * np.sin(angle), rel=1e-12)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # as NumPy says of sin(inf), and arms do
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_gets_no_verdict(bad):
    still = np.zeros((3, 8))
    q = np.zeros((3, 9))
    q[1, 4] = bad
    ground = DIFFDRIVE.ground(q, still, still)
    assert ground.status.startswith("unknown: ")
    assert np.isnan(ground.measure[1]) and np.isfinite(ground.measure[[0, 2]]).all()
    assert not ground.lifted.any() and np.isnan(ground.forces[1, :, 2]).all()


def test_what_cannot_be_planned_is_refused():
    robot = MACHINES["steered_dolly"]()
    n = len(robot.speed_names)
    with pytest.raises(ModelError, match=r"cannot produce v and thetad.*more wheels be driven"):
        robot.ground(np.zeros(len(robot.coordinate_names)), np.zeros(n), np.zeros(n))
    with pytest.raises(ModelError, match="stiffness is 0; give a number greater than 0"):
        Wheel(0.0, 0.0, 0.1, stiffness=0)
    wheels = [Wheel(0.3, 0.0, 0.1, kind="caster", stiffness=1e4)]
    wheels += [Wheel(-0.3, y, 0.1) for y in (0.3, -0.3)]
    with pytest.raises(InputError, match="to all wheels or to none"):
        MobileManipulator(Platform(9.0, (1, 1, 1), 0.2), wheels, Base(), DIFFDRIVE.arm)


def test_the_arctangent_is_that_of_numpy():
    rng = np.random.default_rng(0)
    y, x = rng.normal(size=(2, 1000)) * 10 ** rng.uniform(-5, 5, (2, 1000))
    np.testing.assert_allclose(arctangent(y, x), np.arctan2(y, x), rtol=0, atol=1e-15)
    for b, a in ((0, 0), (0, 1), (0, -1), (1, 0), (-1, 0), (1, 1), (-1, -1)):
        assert arctangent(np.float64(b), np.float64(a)) == pytest.approx(np.arctan2(b, a))
