"""How more than three wheels share a load: on springs, at best, at worst; against linear programs, state by state."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

from dynarm import mobile
from dynarm.errors import InputError
from dynarm.mobile import Base, MobileManipulator, Motion, Platform, Wheel
from dynarm.mobile.sharing import CONTACTS
from oracles.mobile_machines import MACHINES, car, states, unicycle

TANNER = mobile.load("tanner2001")
PLACES = ((0.15, 0.1), (0.15, -0.1), (-0.19, 0.1), (-0.19, -0.1))


def six(stiffness: float | None = None) -> MobileManipulator:
    """Two driven wheels between four casters, as on TIAGo; a tall arm."""
    drive = [Wheel(0.0, y, 0.1, 1.8, stiffness=stiffness) for y in (0.2, -0.2)]
    soft = None if stiffness is None else 1e4
    casters = [Wheel(x, y, 0.025, 0.1, "caster", stiffness=soft) for x, y in PLACES]
    mount = np.eye(4)
    mount[:3, 3] = -0.1, 0.0, 0.3
    base = Base(20.0, (-0.05, 0.01, 0.2), (1, 1, 1), mount)
    return MobileManipulator(
        Platform(88.0, (0.5, 0.5, 0.5), 0.2), [*drive, *casters], base, TANNER.arm
    )


def gentle(robot, count, seed=0):
    q, z, _, _ = states(robot, count, seed)
    rng = np.random.default_rng(seed + 1)
    return q, 0.3 * z, rng.uniform(-0.3, 0.3, z.shape)


def possible(robot, ground, k):
    """The equations that vertical forces satisfy: sum and first moments."""
    xy = robot.support.points[:, :2]
    up = ground.forces[k, :, 2]
    return np.vstack([np.ones(len(xy)), xy.T]), np.r_[up.sum(), up @ xy]


@pytest.mark.parametrize("make", [six, car, unicycle, MACHINES["diffdrive_puma560"]])
def test_best_and_worst_are_those_of_linear_programs(make):
    robot = make()
    state = gentle(robot, 30)
    grounds = {way: robot.ground(*state, contact=way) for way in CONTACTS}
    elastic = grounds["elastic"]
    stands = np.flatnonzero(elastic.measure > 0)
    assert len(stands) > 8
    for k in stands:
        A, b = possible(robot, elastic, k)
        w = len(robot.wheels)
        push = np.hypot(elastic.forces[k, :, 0], elastic.forces[k, :, 1])
        for ground in grounds.values():
            np.testing.assert_allclose(A @ ground.forces[k, :, 2], b, atol=1e-9 * b[0])
            assert (ground.forces[k, :, 2] >= 0).all()
        every = linprog(
            np.r_[np.zeros(w), -1.0],
            A_ub=np.c_[-np.eye(w), push],
            b_ub=np.zeros(w),
            A_eq=np.c_[A, np.zeros(3)],
            b_eq=b,
            bounds=[(0, None)] * (w + 1),
        )
        assert grounds["best"].friction[k].max() == pytest.approx(1 / every.x[-1], rel=1e-5)
        least = [
            linprog(np.eye(w)[j], A_eq=A, b_eq=b, bounds=[(0, None)] * w).fun for j in range(w)
        ]
        asked = max(push[j] / max(least[j], 1e-9 * b[0]) for j in range(w))
        worst = grounds["worst"].friction[k].max()
        assert worst == pytest.approx(asked, rel=1e-5) or (asked > 1e4 and worst > 1e4)


def test_three_wheels_leave_no_choice():
    state = gentle(TANNER, 20)
    grounds = [TANNER.ground(*state, contact=way) for way in CONTACTS]
    for other in grounds[1:]:
        np.testing.assert_allclose(other.forces, grounds[0].forces, atol=1e-12)
        np.testing.assert_allclose(other.friction, grounds[0].friction, rtol=1e-12)
    assert [g.contact for g in grounds] == list(CONTACTS)
    assert "(contact worst)" in grounds[2].status
    answer = TANNER.admissible(np.zeros(6), np.zeros(4), np.zeros(8), 0.5)
    assert list(answer.margins) == ["elastic"] and answer.status.endswith("(contact elastic)")


@pytest.mark.parametrize("way", CONTACTS)
@pytest.mark.parametrize("make", [six, car])
def test_vertical_forces_add_up_to_the_weight(make, way):
    robot = make()
    q = states(robot, 40)[0]
    still = np.zeros(len(robot.speed_names))
    masses = [robot.platform.mass, robot.base.mass, *(w.mass for w in robot.wheels)]
    weight = 9.81 * sum([*masses, *(j.mass for j in robot.arm.joints)])
    up = robot.ground(q, still, still, contact=way).forces[..., 2].sum(-1)
    np.testing.assert_allclose(up, weight, rtol=1e-12)


def brake(robot, acceleration):
    """One sample that brakes, arm held."""
    q, z, zd = (np.zeros((1, len(n))) for n in (robot.coordinate_names, *[robot.speed_names] * 2))
    zd[0, 0] = acceleration
    return Motion(np.zeros(1), q, z, zd)


def test_each_way_allows_its_own_braking():
    """The largest deceleration of a cart on six wheels by hand: the two driven wheels carry what the way gives them."""
    robot, eta = six(), 0.3
    limits = {way: robot.safe_speed(brake(robot, -1.0), eta, contact=way) for way in CONTACTS}
    values = {way: limit.scale**2 for way, limit in limits.items()}
    assert values["worst"] < values["elastic"] < values["best"]
    q, z, zd = np.zeros(5), np.zeros(4), np.zeros(4)
    for way in ("elastic", "best"):
        for part, holds in ((1 - 1e-6, True), (1 + 1e-6, False)):
            zd[0] = -part * values[way]
            needed = robot.ground(q, z, zd, contact=way).friction.max()
            assert (needed <= eta) == holds
    told = limits["elastic"]
    assert told.contact == "elastic" and told.scales["best"] == pytest.approx(limits["best"].scale)
    for way in ("best", "worst"):
        assert f"{way}: {limits[way].scale:.4g} times" in told.status


@pytest.mark.parametrize("way", CONTACTS)
@pytest.mark.parametrize("make", [six, car, unicycle])
def test_safe_speed_ends_where_admissible_does(make, way):
    robot = make()
    q, z, zd = gentle(robot, 4, 3)
    for k in range(4):
        motion = Motion(np.zeros(1), q[k : k + 1], z[k : k + 1], zd[k : k + 1])
        limit = robot.safe_speed(motion, 0.5, contact=way)
        if limit.scale == 0:
            judged = robot.admissible(q[k], 0.01 * z[k], robot.hold(q[k]), 0.5, contact=way)
            assert not judged, "not even slowly"
            continue
        for part, holds in ((1 - 1e-4, True), (1 + 1e-4, False)):
            s = limit.scale * part
            tau = robot.inverse_dynamics(q[k], s * z[k], s * s * zd[k])
            answer = robot.admissible(q[k], s * z[k], tau, 0.5, contact=way)
            assert bool(answer) == holds, answer.status
            assert answer.contact == way and f"(contact {way}; " in answer.status


@pytest.mark.parametrize("make", [six, car])
def test_safe_speed_on_a_slope_is_that_of_limits(make):
    """Braking on a slope: the square of the scale is the deceleration that `limits` allows there."""
    robot = make()
    motion = brake(robot, -1.0)
    level = robot.safe_speed(motion, 0.4)
    same = robot.safe_speed(motion, 0.4, gravity=[0, 0, -9.81])
    assert same.scale == pytest.approx(level.scale, rel=1e-7) and same.wheel == level.wheel
    steep = 9.81 * np.array([0.05, 0.0, -np.sqrt(1 - 0.05**2)])  # downhill
    for way in CONTACTS:
        slower = robot.safe_speed(motion, 0.4, contact=way, gravity=steep)
        wanted = robot.limits(motion.q[0], friction=0.4, gravity=steep, contact=way)
        if np.isnan(wanted.deceleration):
            assert slower.scale == 0
        else:
            assert slower.scale**2 == pytest.approx(wanted.deceleration, rel=1e-6, abs=1e-6)
        assert slower.scale < robot.safe_speed(motion, 0.4, contact=way).scale or way == "worst"
    with pytest.raises(InputError, match=r"gravity is .*; give 3 numbers"):
        robot.safe_speed(motion, 0.4, gravity=[[0, 0, -9.81]] * 2)


def test_margins_of_all_ways_are_told():
    robot = six()
    tau = robot.hold(np.zeros(5))
    answers = {
        way: robot.admissible(np.zeros(5), np.zeros(4), tau, 0.5, contact=way) for way in CONTACTS
    }
    margins = answers["elastic"].margins
    assert margins["worst"] <= margins["elastic"] <= margins["best"]
    for way, answer in answers.items():
        assert answer.margin == pytest.approx(margins[way], abs=1e-6)
        assert answer.margins == pytest.approx(margins, abs=1e-9)
    assert f"best: margin {margins['best']:.4g} N" in answers["elastic"].status


def test_stiffness_moves_the_limit():
    stiff, soft = (six(k).safe_speed(brake(six(), -1.0), 0.3) for k in (3e4, 1e4))
    assert (
        stiff.scale > soft.scale == pytest.approx(six().safe_speed(brake(six(), -1.0), 0.3).scale)
    )


def test_words_that_are_no_contact():
    still = np.zeros(4)
    for bad in ("soft", None, 3):
        with pytest.raises(InputError, match="choose one of elastic, best, worst"):
            six().ground(np.zeros(5), still, still, contact=bad)
        with pytest.raises(InputError, match="choose one of"):
            six().admissible(np.zeros(5), still, np.zeros(14), 0.5, contact=bad)
        with pytest.raises(InputError, match="choose one of"):
            six().safe_speed(brake(six(), 1.0), 0.5, contact=bad)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_not_finite_is_no_verdict_anywhere(bad):
    q = np.zeros(6)
    q[4] = bad
    with np.errstate(invalid="ignore"):
        contact = TANNER.contact(q, np.zeros(4), np.zeros(8))
        assert contact.status.startswith("unknown") and not contact.formal.any()
        assert contact.tipover.status.startswith("unknown")
        with pytest.raises(InputError, match="NaN or infinity"):
            TANNER.admissible(q, np.zeros(4), np.zeros(8), 0.5)
        for way in CONTACTS:
            q5 = np.zeros(5)
            q5[3] = bad
            ground = six().ground(q5, np.zeros(4), np.zeros(4), contact=way)
            assert ground.status.startswith("unknown") and np.isnan(ground.measure)
            assert not ground.lifted.any()
