"""Tip-over and the zero-moment point: the sign of the measure says whether it lies in the polygon, on 10,000 states."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from dynarm import mobile
from oracles.example_robots import example_robot
from oracles.mobile_machines import MACHINES, states
from oracles.mobile_pinocchio import FreeRobot

TIAGO = example_robot("tiago_no_hand.urdf")


def in_polygon(corners: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Whether points lie in some triangle of the corners."""
    inside = np.zeros(len(points), bool)
    for a, b, c in combinations(corners, 3):
        T = np.column_stack([b - a, c - a])
        if abs(np.linalg.det(T)) > 1e-9:
            s, t = np.linalg.solve(T, (points - a).T)
            inside |= (s > 0) & (t > 0) & (s + t < 1)
    return inside


@pytest.mark.parametrize("name", ["tanner2001", "car", "unicycle", "diffdrive_puma560", "tiago"])
def test_sign_of_the_measure(name):
    robot = mobile.load(TIAGO, tip="arm_7_link") if name == "tiago" else MACHINES[name]()
    q, z, _, load = states(robot, 10_000, seed=1)
    zd = 6 * np.random.default_rng(2).uniform(-1, 1, z.shape)
    ground = robot.ground(q, 2 * z, zd, load=8 * load)
    force, moment = -ground.load[:, :3], -ground.load[:, 3:]
    moment = moment + np.cross([0, 0, robot.platform.height], force)  # about the point below {v}
    presses = force[:, 2] > 0
    point = np.column_stack([-moment[:, 1], moment[:, 0]]) / force[:, 2:]
    inside = in_polygon(robot.support.points[:, :2], point)
    assert presses.sum() > 9000 and (~inside).sum() > 300 and inside.sum() > 300
    np.testing.assert_array_equal((ground.measure > 0)[presses], inside[presses])
    up = ground.forces[presses & inside][..., 2]
    np.testing.assert_allclose(up.sum(-1), force[presses & inside, 2], rtol=1e-11)


def test_the_point_is_that_of_pinocchio():
    """TIAGo standing in poses: below its mass centre, by pinocchio."""
    robot = mobile.load(TIAGO, tip="arm_7_link", snap=False)
    other = FreeRobot(TIAGO, {})
    com = -robot.base.mount_pose[:2, 3]
    still = np.zeros(10)
    for seed in range(5):
        joints = np.random.default_rng(seed).uniform(-1, 1, 8)
        values = {n: (x, 0.0, 0.0) for n, x in zip(robot.arm.joint_names, joints, strict=True)}
        wrench, _ = other.planned(values, (0, 0, 0), (0, 0, 0))
        ground = robot.ground(np.r_[0, 0, 0, joints], still, still)
        xy = robot.support.points[:, :2] + com
        carried = ground.forces[:, 2]
        if ground.measure > 0:
            np.testing.assert_allclose(
                carried @ xy / carried.sum(),
                [-wrench[4] / wrench[2], wrench[3] / wrench[2]],
                atol=1e-11,
            )
