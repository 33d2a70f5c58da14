"""A mobile manipulator seen from above: places known from plane geometry."""

from __future__ import annotations

import numpy as np
import pytest

import dynarm
from dynarm import mobile
from dynarm.mobile.outline import arm_frames, outline, platform_pose, wheel_headings
from oracles.mobile_machines import MACHINES, states

TANNER = mobile.load("tanner2001")


def turned(angle: float, point) -> np.ndarray:
    """A point of the plane as a complex number, turned."""
    z = complex(*point) * np.exp(1j * angle)
    return np.array([z.real, z.imag])


def test_a_tricycle_after_a_quarter_turn():
    """Heading along y at (2, 1), wheel steered left by 30 degrees, arm stretched out and then bent."""
    q = np.array([2.0, 1.0, np.pi / 2, np.pi / 6, 0.0, np.pi / 2])
    drawn = outline(TANNER, q)
    place = np.array([2.0, 1.0])
    front, left, right = ([0.3, 0.0], [-0.3, 0.3], [-0.3, -0.3])
    expected = [place + turned(np.pi / 2, corner) for corner in (front, left, right)]
    assert np.allclose(drawn.polygon, expected, rtol=0, atol=1e-15)
    for wheel, middle, heading in zip(
        drawn.wheels, expected, np.pi / 2 + np.array([np.pi / 6, 0, 0]), strict=True
    ):
        rear, ahead = wheel
        assert np.allclose((rear + ahead) / 2, middle, rtol=0, atol=1e-15)
        assert np.allclose(ahead - rear, turned(heading, [0.3, 0.0]), rtol=0, atol=1e-15)
    mount, one, two, tool = drawn.arm
    assert np.allclose(mount, place) and np.allclose(one, place)
    assert np.allclose(two - one, [0.0, 1.05], rtol=0, atol=1e-15)
    length = np.linalg.norm(TANNER.arm.tool_pose[:3, 3])
    assert np.allclose(tool - two, [-length, 0.0], rtol=0, atol=1e-15)


@pytest.mark.parametrize("name", ["car", "unicycle", "steered_dolly", "straight"])
def test_wheels_head_where_their_centres_move(name):
    """Every wheel that guides is drawn along its velocity (or against it), casters along the platform."""
    robot = MACHINES[name]()
    q, z, tau, load = (x[0] for x in states(robot, 1, 30))
    rates = robot.functions["derivative"](q, z, tau, load)[0]
    drawn = outline(robot, q)
    turn = platform_pose(q)[:2, :2]
    headings = wheel_headings(robot, q)
    for k, wheel in enumerate(robot.wheels):
        arrow = drawn.wheels[k, 1] - drawn.wheels[k, 0]
        assert np.linalg.norm(arrow) == pytest.approx(2 * wheel.radius)
        angle = q[2] + headings[k]
        assert np.allclose(arrow, turned(angle, [2 * wheel.radius, 0]), rtol=0, atol=1e-14)
        if not wheel.guides:
            assert headings[k] == 0
            continue
        away = turn @ [wheel.x, wheel.y]
        velocity = rates[:2] + rates[2] * np.array([-away[1], away[0]])
        sideways = arrow[0] * velocity[1] - arrow[1] * velocity[0]
        assert abs(sideways) < 1e-12 and np.linalg.norm(velocity) > 1e-3


def test_frames_of_the_arm_stand_on_the_platform():
    robot = MACHINES["unicycle"]()
    q = states(robot, 1, 31)[0][0]
    frames = arm_frames(robot, q)
    assert len(frames) == robot.arm.n + 2
    root = platform_pose(q) @ robot.base.mount_pose
    assert np.allclose(frames[0], root @ robot.arm.base_pose)
    tool = dynarm.compile(robot.arm).forward_kinematics(q[3:])
    assert np.allclose(frames[-1], root @ tool, rtol=0, atol=1e-12)
    assert platform_pose(q)[2].tolist() == [0, 0, 1, 0]
    assert platform_pose(q)[3].tolist() == [0, 0, 0, 1]
