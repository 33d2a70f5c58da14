"""Wheels with rollers: kinematics in closed form, dynamics by multipliers, energy; what wheels let a platform do."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from dynarm import mobile
from dynarm.errors import InputError, ModelError
from dynarm.mobile import Base, MobileManipulator, Platform, Wheel
from dynarm.mobile.sharing import CONTACTS
from oracles.mobile_machines import MACHINES, _base, _inertia, skew_arm, states
from oracles.mobile_multipliers import MultiplierModel

QUARTER = np.pi / 4
L, W, R = 0.3, 0.25, 0.08


def mecanum(kinds: str = "RR", roller: float = QUARTER, mass: float = 1.2) -> MobileManipulator:
    """Four mecanum wheels, a skew arm on a skew base."""
    rng = np.random.default_rng(11)
    corners = ((L, W, -1), (L, -W, 1), (-L, W, 1), (-L, -W, -1))
    wheels = [Wheel(x, y, R, mass, "mecanum", roller=s * roller) for x, y, s in corners]
    platform = Platform(50.0, _inertia(rng, 4.0), 0.2)
    return MobileManipulator(platform, wheels, _base(rng), skew_arm(rng, kinds), name="mecanum")


def omni(kinds: str = "RP") -> MobileManipulator:
    """Three omni wheels at 120 degrees."""
    rng = np.random.default_rng(12)
    wheels = []
    for k in range(3):
        a = 2 * np.pi * k / 3 + 0.1
        wheels.append(Wheel(0.3 * np.cos(a), 0.3 * np.sin(a), R, 1.0, "omni", angle=a + np.pi / 2))
    platform = Platform(30.0, _inertia(rng, 2.0), 0.2)
    return MobileManipulator(platform, wheels, _base(rng), skew_arm(rng, kinds), name="omni")


def dolly() -> MobileManipulator:
    """Two fixed wheels, and two omni wheels in place of casters."""
    robot = MACHINES["unicycle"]()
    front = [replace(w, kind="omni") for w in robot.wheels[2:]]
    return replace(robot, wheels=(*robot.wheels[:2], *front))


MADE = {"mecanum": mecanum, "omni": omni, "dolly": dolly}


def wheel_speeds(robot, v):
    """Spin [rad/s] of the wheels at platform speeds v: the inputs' power is torque times spin."""
    q, z = np.zeros(len(robot.coordinate_names)), np.zeros(len(robot.speed_names))
    B = robot.equations(q, z)[2]
    return np.asarray(v) @ B[: len(v), : len(robot.wheels)]


def test_mecanum_kinematics_both_ways():
    """w = (vx -+ vy -+ (l + w) thd) / r, and back by the transposed quarter."""
    rng = np.random.default_rng(0)
    for v in rng.uniform(-1, 1, (5, 3)):
        vx, vy, w = v
        k = (L + W) * w
        closed = np.array([vx - vy - k, vx + vy + k, vx + vy - k, vx - vy + k]) / R
        spins = wheel_speeds(mecanum(), v)
        np.testing.assert_allclose(spins, closed, atol=1e-12)
        back = R / 4 * np.array([[1, 1, 1, 1], [-1, 1, 1, -1], [-1, 1, -1, 1]]) @ spins
        np.testing.assert_allclose(back / [1, 1, L + W], v, atol=1e-13)
    steep = wheel_speeds(mecanum(roller=0.5), [0, 1, 0])
    np.testing.assert_allclose(steep, np.tan(0.5) * np.array([-1, 1, 1, -1]) / R, atol=1e-12)


def test_omni_kinematics():
    """Each wheel runs with the speed along its rolling direction."""
    robot, v = omni(), np.array([0.4, -0.7, 1.1])
    closed = [
        (np.cos(w.angle) * v[0] + np.sin(w.angle) * v[1] + 0.3 * v[2]) / R for w in robot.wheels
    ]
    np.testing.assert_allclose(wheel_speeds(robot, v), closed, atol=1e-12)


@pytest.mark.parametrize("name", MADE)
def test_dynamics_are_those_of_multipliers(name):
    robot = MADE[name]()
    model = MultiplierModel(robot)
    q, z, tau, load = states(robot, 3, seed=2)
    M, F, B = robot.equations(q, z)
    plain = robot.evaluate(q, z, tau, load)
    for k in range(3):
        answer = model.answer(q[k], z[k], tau[k], load[k], robot.guidance.speeds)
        assert answer.slip < 1e-12
        np.testing.assert_allclose(M[k], answer.M, atol=1e-9)
        np.testing.assert_allclose(plain.zd[k], answer.zd, atol=1e-9)
        np.testing.assert_allclose(plain.wrench[k], answer.wrench, atol=1e-8)
        np.testing.assert_allclose(plain.forces[k], answer.forces, atol=1e-7)
        assert F[k].shape == z[k].shape and B[k].shape[1] == len(tau[k])


@pytest.mark.parametrize("name", MADE)
def test_planned_motion_is_what_its_inputs_do(name):
    robot = MADE[name]()
    q, z, _, load = states(robot, 10, seed=4)
    zd = np.random.default_rng(5).uniform(-1, 1, z.shape)
    tau = robot.inverse_dynamics(q, z, zd, load=load)
    np.testing.assert_allclose(robot.acceleration(q, z, tau, load), zd, atol=1e-9)
    ground = robot.ground(q, z, zd, load=load)
    for j, wheel in enumerate(robot.wheels):
        if wheel.slant is not None:
            along = ground.forces[:, j]
            np.testing.assert_allclose(along[:, 1], wheel.slant * along[:, 0], atol=1e-9)
    assert (ground.forces[..., 2] >= 0).all()


def test_energy_is_kept():
    robot = mecanum()
    q0, z0 = np.zeros(5), np.array([0.3, -0.4, 0.5, 0.6, -0.2])
    run = robot.simulate(q0, z0, 0.4)
    assert np.ptp(run.energy) < 1e-9 * np.abs(run.energy).max()
    assert abs(run.q[-1, 1]) > 0.05, "it moves across"


def test_limits_and_verdicts_of_a_mecanum_platform():
    """Straight ahead on level ground: friction holds the whole force, which is longer than its part ahead."""
    robot = replace(mecanum(), base=Base(5.0, mount=np.eye(4)))
    q, z = np.zeros(5), np.zeros(5)
    for way in CONTACTS[:2]:
        limit = robot.limits(q, friction=0.5, contact=way)
        for part, fine in ((1 - 1e-5, True), (1 + 1e-5, False)):
            zd = np.r_[part * limit.acceleration, np.zeros(4)]
            assert (robot.ground(q, z, zd, contact=way).friction.max() <= 0.5) == fine
            tau = robot.inverse_dynamics(q, z, zd)
            assert bool(robot.admissible(q, z, tau, 0.5, contact=way)) == fine


def test_a_motion_across_is_a_motion():
    t = np.linspace(0, 1, 21)
    q = np.zeros((21, 5))
    q[:, 1] = 0.3 * t
    motion = mecanum().motion(t, q)
    np.testing.assert_allclose(motion.z[:, :3], np.tile([0, 0.3, 0], (21, 1)), atol=1e-9)


def test_wheels_come_back_from_files(tmp_path):
    robot = mecanum()
    robot.save(tmp_path / "m.toml")
    assert mobile.load(tmp_path / "m.toml").wheels == robot.wheels


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("mecanum", "ahead, across and turns"),
        ("unicycle", "turns on the spot"),
        ("straight", "goes ahead only.*skidding"),
        ("crab", "crabwise.*same phi"),
        ("car", "along bends"),
    ],
)
def test_what_the_wheels_allow_is_said(name, words):
    robot = (MADE.get(name) or MACHINES[name])()
    assert re.search(words, robot.mobility)


def test_refused():
    for given in (
        {"kind": "mecanum"},
        {"kind": "omni", "roller": 0.3},
        {"kind": "mecanum", "roller": 1.6},
    ):
        with pytest.raises(ModelError, match="rollers at an angle"):
            Wheel(0, 0, 0.1, **given)
    with pytest.raises(InputError, match="without rollers"):
        mecanum().kane_equations(np.zeros(5), np.zeros(4))
    idle = [replace(w, driven=False) for w in mecanum().wheels[:2]]
    robot = replace(mecanum(), wheels=(*idle, *mecanum().wheels[2:]))
    with pytest.raises(ModelError, match="cannot produce v and vy and thetad"):
        robot.hold(np.zeros(5))
