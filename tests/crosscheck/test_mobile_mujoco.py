"""Loads of wheels against MuJoCo: a rigid robot let down on springs under its wheels, which push and never pull."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from dynarm import mobile
from oracles.example_robots import example_robot
from oracles.mobile_machines import MACHINES

STIFFNESS = 2e5  # [N/m] of each wheel
FOOT = 0.2  # [kg] of what touches the ground, which MuJoCo wants
POSES = 50
MAKERS = {
    "tiago": lambda: mobile.load(example_robot("tiago_no_hand.urdf"), tip="arm_7_link"),
    "diffdrive": MACHINES["diffdrive_puma560"],
    "car": MACHINES["car"],
}


def settled(points: np.ndarray, mass: float, com: np.ndarray) -> np.ndarray:
    """Forces [N] of the ground under feet on springs that carry a mass at com, when all is at rest.

    The mass is as high as the feet's centres, so that the little that the springs let it tilt does not shift it.
    """
    feet = "".join(
        f'<body pos="{x} {y} 0.05"><joint type="slide" axis="0 0 1" stiffness="{STIFFNESS}" damping="2000"/>'
        f'<geom type="sphere" size="0.05" mass="{FOOT}" condim="3" friction="1"/></body>'
        for x, y in points
    )
    text = f"""<mujoco><option timestep="0.00025" integrator="implicitfast"/><worldbody>
    <geom type="plane" size="5 5 1" solref="0.004 1"/>
    <body><freejoint/><inertial pos="{com[0]} {com[1]} 0.05" mass="{mass}" diaginertia="9 9 9"/>{feet}</body>
    </worldbody></mujoco>"""
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    mujoco.mj_step(model, data, 10000)
    up, force = np.zeros(len(points)), np.zeros(6)
    for k in range(data.ncon):
        foot = max(data.contact[k].geom) - 1
        mujoco.mj_contactForce(model, data, k, force)
        up[foot] += force[0] - 9.81 * FOOT
    return up


@pytest.mark.parametrize("name", MAKERS)
def test_wheels_carry_what_mujoco_says(name):
    robot = MAKERS[name]()
    rng = np.random.default_rng(7)
    still = np.zeros(len(robot.speed_names))
    points = robot.support.points[:, :2]
    checked = lifted = 0
    while checked < POSES:
        q = np.zeros(len(robot.coordinate_names))
        q[-robot.arm.n :] = rng.uniform(-1.5, 1.5, robot.arm.n)
        push = np.r_[rng.uniform(-35, 35, 3), np.zeros(3)]
        ground = robot.ground(q, still, still, load=push)
        if ground.degrees < 5:
            continue
        up, weight = ground.forces[:, 2], -ground.load[2]
        com = up @ points / weight
        other = settled(points, weight / 9.81, com)
        np.testing.assert_allclose(up, other, atol=0.02 * weight)
        checked += 1
        lifted += int(ground.lifted.any())
    assert checked == POSES
    assert lifted or name != "tiago", "some poses lift a wheel"
