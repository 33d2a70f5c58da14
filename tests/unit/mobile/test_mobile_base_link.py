"""What the file of an arm says about its base link rides along; loads are in the axes of the tool."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pinocchio
import pytest

import dynarm
from dynarm import mobile
from dynarm.mobile import Base, MobileManipulator, Platform, Wheel
from oracles.example_robots import example_robot

WHEELS = [Wheel(0.0, y, 0.15, 4.0) for y in (0.3, -0.3)]
WHEELS += [Wheel(x, 0.0, 0.05, 0.5, "caster") for x in (0.35, -0.35)]
PLATFORM = Platform(80.0, (4.0, 4.0, 6.0), 0.3)
MOUNT = np.array([[0.0, -1, 0, 0.1], [1, 0, 0, 0.05], [0, 0, 1, 0.4], [0, 0, 0, 1]])
ARMS = {"ur5": "ur5_robot.urdf", "panda": "panda.urdf"}


def cart(name: str, base: Base | None = None, **given) -> MobileManipulator:
    arm = dynarm.load(example_robot(ARMS[name]), **given)
    return MobileManipulator(PLATFORM, WHEELS, base or Base(3.0, (0.1, 0, 0.2), mount=MOUNT), arm)


def model(name: str) -> pinocchio.Model:
    return pinocchio.buildModelFromUrdf(str(example_robot(ARMS[name])))


def chained(name: str) -> MobileManipulator:
    return cart(name, tip="panda_link8" if name == "panda" else None)


def own_weight(robot: MobileManipulator) -> float:
    """Of what was given by hand [N]."""
    return 9.81 * (PLATFORM.mass + 3.0 + sum(w.mass for w in WHEELS))


@pytest.mark.parametrize("name", ARMS)
def test_the_whole_file_weighs_on_the_wheels(name):
    robot = chained(name)
    still = np.zeros(len(robot.speed_names))
    ground = robot.ground(np.zeros(len(robot.coordinate_names)), still, still)
    tree = dynarm.load(example_robot(ARMS[name]), floating=True)
    weight = own_weight(robot) + 9.81 * float(tree.parameters[:, 0].sum())
    assert ground.forces[:, 2].sum() == pytest.approx(weight, rel=1e-12)


def test_the_base_link_of_a_ur5_is_four_kilograms_at_its_place():
    robot = chained("ur5")
    alone = dynarm.load(example_robot(ARMS["ur5"]), floating=True).floating
    assert robot.base.mass == pytest.approx(3.0 + alone.mass, rel=1e-14) and alone.mass >= 4.0
    at = MOUNT[:3, :3] @ np.array(alone.com) + MOUNT[:3, 3]
    both = (3.0 * np.array((0.1, 0, 0.2)) + alone.mass * at) / (3.0 + alone.mass)
    np.testing.assert_allclose(robot.base.com, both, atol=1e-15)


def test_the_wrench_on_the_platform_holds_the_base_link():
    """At rest, about the base's mass centre: the weight of base, base link and arm."""
    robot = chained("ur5")
    q, z = np.zeros(9), np.zeros(8)
    wrench = robot.interaction_wrench(q, z, robot.hold(q))
    arm = sum(j.mass for j in robot.arm.joints)
    assert wrench[2] == pytest.approx(-9.81 * (robot.base.mass + arm), rel=1e-12)


def test_it_is_counted_once(tmp_path):
    """In copies, in pickles and in files; an arm of a file of ours brings its base link along too."""
    robot = chained("ur5")
    for other in (replace(robot, name="other"), pickle.loads(pickle.dumps(robot))):
        assert other.base == robot.base
    robot.save(tmp_path / "cart.toml")
    assert mobile.load(tmp_path / "cart.toml").base == robot.base
    arm = dynarm.load(example_robot(ARMS["ur5"]))
    arm.save(tmp_path / "ur5.toml")
    again = MobileManipulator(
        PLATFORM, WHEELS, Base(3.0, (0.1, 0, 0.2), mount=MOUNT), dynarm.load(tmp_path / "ur5.toml")
    )
    assert again.base == robot.base


@pytest.mark.parametrize("name", ARMS)
def test_loads_are_in_the_axes_of_the_tool(name):
    """Drives that hold a load, against the Jacobian of the tip's frame in the file, by pinocchio."""
    robot = chained(name)
    tip = "panda_link8" if name == "panda" else robot.arm.origin.links[-1]
    other = model(name)
    data = other.createData()
    rng = np.random.default_rng(0)
    n = robot.arm.n
    full = pinocchio.neutral(other)
    joints = rng.uniform(-1, 1, n)
    full[:n] = joints
    J = pinocchio.computeFrameJacobian(
        other, data, full, other.getFrameId(tip), pinocchio.ReferenceFrame.LOCAL
    )[:, :n]
    load = rng.uniform(-10, 10, 6)
    q = np.r_[0, 0, 0, joints]
    change = robot.hold(q, load=load) - robot.hold(q)
    np.testing.assert_allclose(change[-n:], -J.T @ load, atol=1e-10)
