"""Ground forces, tip-over, friction: against statics, linear programs and brute force."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import linprog

from dynarm import mobile
from dynarm.errors import InputError, KindError
from dynarm.mobile import Base, MobileManipulator, Platform, Wheel
from dynarm.mobile.admissibility import (
    NotAdmissible,
    best_distribution,
    self_stresses,
    slip_margins,
)
from dynarm.mobile.constraints import roller
from dynarm.mobile.sharing import CONTACTS, below
from dynarm.mobile.stability import friction_needed, support_of
from oracles.mobile_machines import MACHINES, states

THREE = ["tanner2001", "crab"]
FOUR = ["four_steered", "car", "counter_steered", "unicycle", "straight"]


def fast_states(robot, count, seed):
    """States violent enough that wheels lift in about half of them."""
    q, z, tau, load = states(robot, count, seed)
    return q, 3 * z, 20 * tau, 20 * load


@pytest.mark.parametrize("name", THREE)
def test_three_wheels_tip_exactly_when_one_lifts(name):
    robot = MACHINES[name]()
    q, z, tau, load = fast_states(robot, 5000, 1)
    forces = robot.wheel_forces(q, z, tau, load)
    tip = robot.tipover(q, z, tau, load)
    lifted = (forces[..., 2] < 0).any(-1)
    assert 0.05 < lifted.mean() < 0.99
    assert np.array_equal(tip.measure < 0, lifted)
    for axis, (a, b) in enumerate(robot.support.axes):
        (other,) = {0, 1, 2} - {a, b}
        assert np.array_equal(tip.angles[:, axis] < 0, forces[:, other, 2] < 0)


@pytest.mark.parametrize("name", FOUR)
def test_more_wheels_tip_exactly_when_no_normals_exist(name):
    robot = MACHINES[name]()
    q, z, tau, load = fast_states(robot, 60, 2)
    out = robot.evaluate(q, z, tau, load, False)
    tip = robot.tipover_of(out.ground)
    points = robot.support.points
    levers = np.stack([np.ones(len(points)), points[:, 1], -points[:, 0]])
    seen = set()
    for k in range(len(q)):
        wanted = levers @ out.forces[k, :, 2]
        found = linprog(np.zeros(len(points)), A_eq=levers, b_eq=wanted, bounds=(0, None))
        possible = found.status == 0
        seen.add(possible)
        assert (tip.measure[k] >= 0) == possible
    assert seen == {True, False}


@pytest.mark.parametrize("name", MACHINES)
def test_minimum_norm_split(name):
    """Ground forces balance the load; what self-stresses could add is orthogonal to them."""
    robot = MACHINES[name]()
    q, z, tau, load = states(robot, 5, 3)
    out = robot.evaluate(q, z, tau, load, False)
    for k in range(len(q)):
        phi = float(q[k, 3]) if robot.guidance.steered else 0.0
        vertical, axle = self_stresses(robot, phi)
        assert np.abs(vertical.T @ out.forces[k, :, 2]).max(initial=0) < 1e-9
        assert np.abs(axle.T @ out.forces[k, :, 1]).max(initial=0) < 1e-9
        force, moment = np.zeros(3), np.zeros(3)
        for wheel, point, f in zip(robot.wheels, robot.support.points, out.forces[k], strict=True):
            at = roller(wheel, robot.platform.steering, phi)
            F = np.array([at.c * f[0] - at.s * f[1], at.s * f[0] + at.c * f[1], f[2]], float)
            force, moment = force + F, moment + np.cross(point, F)
        assert np.abs(force + out.ground[k, :3]).max() < 1e-9
        assert np.abs(moment + out.ground[k, 3:]).max() < 1e-9


def test_what_is_determinate():
    tricycle = mobile.load("tanner2001").contact(np.zeros(6), np.zeros(4), np.zeros(8))
    assert tricycle.determinate[:, 1].tolist() == [True, False, False]
    assert tricycle.determinate[:, 2].all() and tricycle.determinate[:, 0].all()
    assert list(tricycle.axle_sums) == [("w1", "w2")]
    assert "axle forces are indeterminate" in tricycle.status
    robot = MACHINES["four_steered"]()
    contact = robot.contact(*states(robot, 1)[:3])
    assert not contact.determinate[:, 1:].any() and contact.axle_sums == {}
    assert "axle forces are indeterminate: minimum-norm split; vertical forces" in contact.status
    drive = mobile.load("diffdrive_puma560")
    contact = drive.contact(*states(drive, 2)[:3])
    assert list(contact.axle_sums) == [("left", "right")]
    assert contact.determinate[2:, 1].all()  # casters carry nothing sideways, and that is known


def test_lifted_wheels_are_marked_as_formal():
    robot = mobile.load("tanner2001")
    q, z = np.array([0, 0, 0, 0, np.pi / 2, 0.0]), np.array([0, 0, 4.0, 0])
    contact = robot.contact(q, z, np.zeros(8))
    assert contact.formal and "formal" in contact.status
    assert np.isinf(contact.friction_needed[contact.forces[:, 2] < 0]).all()
    assert robot.tipover(q, z, np.zeros(8)).formal
    answer = robot.admissible(q, z, np.zeros(8), 0.9)
    assert not answer and "not admissible" in answer.status
    with pytest.raises(NotAdmissible, match="contact"):
        answer.check()
    rest = robot.contact(np.zeros(6), np.zeros(4), np.zeros(8))
    assert not rest.formal and "formal" not in rest.status


def test_friction_needed_is_the_edge_of_slipping():
    robot = mobile.load("tanner2001")
    q, z, tau, load = states(robot, 200, 4)
    contact = robot.contact(q, z, 4 * tau, load)
    standing = ~contact.formal
    margin = contact.margin(contact.friction_needed[standing].max())
    assert (margin[standing] >= -1e-9).all()
    edge = np.abs(
        np.array(
            [
                c * f[2] - np.hypot(f[0], f[1])
                for c, f in zip(
                    contact.friction_needed[standing][:, 0],
                    contact.forces[standing][:, 0],
                    strict=True,
                )
            ]
        )
    )
    assert edge.max() < 1e-9
    assert np.array_equal(robot.friction_needed(q, z, 4 * tau, load), contact.friction_needed)


def test_friction_of_an_unloaded_wheel():
    needed = friction_needed(
        np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [3.0, 4.0, 10.0], [0.0, 0.0, -1.0]])
    )
    assert needed.tolist() == [0.0, np.inf, 0.5, np.inf]


# ---- admissible


@pytest.mark.parametrize("name", ["tanner2001", "four_steered", "unicycle", "diffdrive_puma560"])
def test_admissible_means_some_distribution(name):
    """The cone program's margin is at least that of every random distribution, and the best of many comes near."""
    robot = MACHINES[name]()
    rng = np.random.default_rng(5)
    q, z, tau, load = states(robot, 6, 5)
    eta = np.full(len(robot.wheels), 0.4)
    guides = np.array([w.guides for w in robot.wheels])
    for k in range(len(q)):
        phi = float(q[k, 3]) if robot.guidance.steered else 0.0
        forces = robot.wheel_forces(q[k], z[k], tau[k], load[k])
        vertical, axle = self_stresses(robot, phi)
        best = best_distribution(forces, vertical, axle, eta, guides)
        answer = robot.admissible(q[k], z[k], tau[k], 0.4, load[k], contact="best")
        top = slip_margins(best, eta)[guides].min()
        assert answer.margin == pytest.approx(min(top, best[:, 2].min()), abs=1e-6)
        for _ in range(300):
            other = forces.copy()
            other[:, 2] += vertical @ rng.normal(scale=80, size=vertical.shape[1])
            other[:, 1] += axle @ rng.normal(scale=80, size=axle.shape[1])
            reach = np.where(guides, slip_margins(other, eta), other[:, 2]).min()
            assert reach <= np.where(guides, slip_margins(best, eta), best[:, 2]).min() + 1e-5


def test_no_wheel_pulls_where_the_smallest_norm_would():
    """A platform whose load lies near one wheel: the smallest norm lifts a wheel, springs do not."""
    wheels = [
        Wheel(x, y, 0.1, 1.0) for x, y in ((0.5, 0.4), (0.5, -0.4), (-0.5, 0.4), (-0.5, -0.4))
    ]
    wheels[2:] = [Wheel(-0.5, 0.4, 0.1, 1.0, "caster"), Wheel(-0.5, -0.4, 0.1, 1.0, "caster")]
    robot = MobileManipulator(
        Platform(1.0, (1, 1, 1), 0.2),
        wheels,
        Base(60.0, (0.42, 0.3, 0.1), (1, 1, 1)),
        MACHINES["crab"]().arm,
    )
    q, z, tau = np.zeros(5), np.zeros(4), np.zeros(10)
    tau[8:] = robot.equations(q, z)[1][2:]  # hold the arm still
    answer = below(robot, robot.evaluate(q, z, tau).ground)
    assert (robot.support.share @ answer).min() < -1.0, "the smallest norm would pull"
    forces = robot.wheel_forces(q, z, tau)
    assert (forces[:, 2] >= 0).all() and forces[:, 2].sum() == pytest.approx(answer[0])
    assert np.isfinite(robot.friction_needed(q, z, tau)).all()
    answer = robot.admissible(q, z, tau, 0.8)
    assert answer and answer.optimised and (answer.forces[:, 2] >= 0).all()
    assert robot.tipover(q, z, tau).measure > 0


def test_a_lifted_wheel_takes_no_force_along_its_axle():
    """In a bend: the wheel that stands holds the platform alone, and friction stays finite."""
    wheels = [Wheel(0, 0.3, 0.1, name="left"), Wheel(0, -0.3, 0.1, name="right")]
    wheels += [Wheel(x, 0, 0.1, kind="caster") for x in (0.4, -0.4)]
    base = Base(80.0, (0.05, -0.24, 0.1), (1, 1, 1))
    slight = 1e-9 * np.array([[1, 0, 0, 0, 1, 0, 1, 0, 0, 1]] * 2)
    arm = mobile.load("tanner2001").arm.with_parameters(slight)
    robot = MobileManipulator(Platform(20.0, (1, 1, 1), 0.2), wheels, base, arm)
    q, z = np.zeros(5), np.array([0.8, 0.4, 0, 0])
    tau = np.zeros(10)
    contact = robot.contact(q, z, tau)
    assert contact.tipover.measure > 0
    assert contact.forces[0, 2] == 0 and contact.forces[0, 1] == 0 and contact.forces[1, 2] > 10
    turned = robot.acceleration(q, z, tau)[1]
    across = 20 * 0.8 * 0.4 + 80 * (0.8 * 0.4 + 0.05 * turned + 0.24 * 0.4**2)
    assert contact.forces[1, 1] == pytest.approx(across, rel=1e-6)
    assert np.isfinite(contact.friction_needed).all()


def test_contact_says_how_the_wheels_share():
    """The state with its inputs, shared in each way, is the planned motion shared in that way."""
    robot = MACHINES["diffdrive_puma560"]()
    q = states(robot, 1)[0][0]
    still = np.zeros(len(robot.speed_names))
    tau = robot.hold(q)
    for way in CONTACTS:
        contact = robot.contact(q, still, tau, contact=way)
        planned = robot.ground(q, still, still, contact=way)
        np.testing.assert_allclose(contact.forces[:, 2], planned.forces[:, 2], atol=1e-8)
        assert contact.contact == way and contact.status.endswith(f"(contact {way})")
    with pytest.raises(InputError, match="contact is 'soft'"):
        robot.contact(q, still, tau, contact="soft")


def test_rows_of_9():
    robot = mobile.load("tanner2001")
    answer = robot.admissible(np.zeros(6), np.zeros(4), np.zeros(8), 0.5)
    names = [(row.name, row.wheel) for row in answer.rows]
    assert names[:2] == [("vertical balance", None), ("no skidding", None)] and names[-1] == (
        "no tip-over",
        None,
    )
    assert [n for n in names if n[0] == "no slipping"] == [
        ("no slipping", w) for w in ("w0", "w1", "w2")
    ]
    assert answer and answer.check() is answer
    assert "ok   contact of w0" in str(answer)
    slippery = robot.admissible(
        np.zeros(6), np.zeros(4), [5, 0, 0, 0, 0, 0, 0, 0], [0.01, 0.5, 0.5]
    )
    assert [r.wheel for r in slippery.rows if not r.holds] == ["w0"]
    assert not slippery and "no slipping of w0" in slippery.status


@pytest.mark.parametrize(
    "friction, kind, words",
    [
        (-0.1, InputError, "not negative"),
        (np.nan, InputError, "finite"),
        ("dry", KindError, "coefficient"),
        ([0.1, 0.2], KindError, "3 wheels"),
    ],
)
def test_friction_refused(friction, kind, words):
    robot = mobile.load("tanner2001")
    with pytest.raises(kind, match=words):
        robot.admissible(np.zeros(6), np.zeros(4), np.zeros(8), friction)


def test_admissible_takes_one_state():
    robot = mobile.load("tanner2001")
    with pytest.raises(InputError, match="one state"):
        robot.admissible(np.zeros((2, 6)), np.zeros((2, 4)), np.zeros(8), 0.5)
    with pytest.raises(InputError, match="NaN"):
        robot.admissible(np.zeros(6), np.zeros(4), np.full(8, np.nan), 0.5)


def test_support_polygon_leaves_inner_wheels_out():
    places = [(0.0, 0.0), (0.5, 0.4), (-0.5, 0.4), (-0.5, -0.4), (0.0, 0.4), (0.5, -0.4)]
    support = support_of([Wheel(x, y, 0.1, kind="caster") for x, y in places], 0.2)
    assert support.corners == (1, 2, 3, 5)
    assert support.axes == ((1, 2), (2, 3), (3, 5), (5, 1))
    assert not support.determinate


def test_tip_angle_of_a_box():
    """A block with its mass centre at height h: the angle about each side is arctan(half width / h)."""
    wheels = [Wheel(0.3, 0.2, 0.1, name="a"), Wheel(-0.3, 0.2, 0.1, name="b")]
    wheels += [
        Wheel(-0.3, -0.2, 0.1, kind="caster", name="c"),
        Wheel(0.3, -0.2, 0.1, kind="caster", name="d"),
    ]
    robot = MobileManipulator(
        Platform(10.0, (1, 1, 1), 0.4),
        wheels,
        Base(),
        MACHINES["tanner2001"]().arm.with_parameters(np.zeros((2, 10))),
    )
    tip = robot.tipover_of(np.array([0, 0, -98.1, 0, 0, 0]))
    expected = np.arctan2([0.2, 0.3, 0.2, 0.3], 0.4)
    assert np.allclose(tip.angles, expected, rtol=0, atol=1e-14)
    assert tip.measure == pytest.approx(98.1 * expected.min())
    assert tip.axes[0] == ("a", "b") and "stands" in tip.status


def test_wheels_that_face_opposite_ways_share_no_sum():
    """Turned by half a turn, a wheel's axle points the other way: only the difference of the two is determinate."""
    drive = mobile.load("diffdrive_puma560")
    left, right, *rest = drive.wheels
    turned = replace(right, angle=np.pi)
    wheels = [left, turned, *rest]
    robot = mobile.MobileManipulator(drive.platform, wheels, drive.base, drive.arm)
    state = states(robot, 1)[:3]
    assert list(drive.contact(*state).axle_sums) == [("left", "right")]
    contact = robot.contact(*state)
    assert contact.axle_sums == {} and not contact.determinate[:2, 1].any()
    both = contact.forces[0, :2, 1]
    assert both[0] == pytest.approx(-both[1])  # the minimum-norm split of what they carry together
