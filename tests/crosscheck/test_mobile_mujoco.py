"""Loads of wheels against MuJoCo: the robot, held in a pose, let down on soft contacts, which push and never pull.

A contact of MuJoCo at rest is a spring: its force times its regularisation R is the stiffness of `solref` times the
depth, and R is alike for all shapes of one body as long as the impedance (`solimp`) is constant. With the usual
`solimp` the impedance grows with the depth, so that the springs stiffen where they carry more and share the load in
another way. Contacts with the default time constant of 0.02 s let the platform tilt, which near to tipping moves more
than 2 % of the load between the wheels; with 0.005 s they are 16 times as stiff.
"""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from dynarm import mobile
from dynarm.mobile.bodies import hand_of
from dynarm.mobile.outline import arm_frames
from oracles.example_robots import example_robot
from oracles.mobile_machines import MACHINES

POSES = 50
PART = 0.02  # of the mean load of a wheel
MAKERS = {
    "tiago": lambda: mobile.load(example_robot("tiago_no_hand.urdf"), tip="arm_7_link"),
    "diffdrive": MACHINES["diffdrive_puma560"],
    "car": MACHINES["car"],
}


def inertial(mass: float, com, inertia) -> str:
    i = np.asarray(inertia, float)
    full = (i[0, 0], i[1, 1], i[2, 2], i[0, 1], i[0, 2], i[1, 2])
    words = " ".join(f"{x:.17g}" for x in full)
    place = " ".join(f"{x:.17g}" for x in com)
    return f'<inertial mass="{mass:.17g}" pos="{place}" fullinertia="{words}"/>'


def body(T: np.ndarray, inside: str) -> str:
    quaternion = np.zeros(4)
    mujoco.mju_mat2Quat(quaternion, np.ascontiguousarray(T[:3, :3]).ravel())
    place, turn = (" ".join(f"{x:.17g}" for x in v) for v in (T[:3, 3], quaternion))
    return f'<body pos="{place}" quat="{turn}">{inside}</body>'


def described(robot, q, payload: float) -> str:
    """The robot held in q: every link a body fixed to the platform, a sphere of its radius below each wheel."""
    height = robot.platform.height
    frames = arm_frames(robot, q)
    parts = [body(np.eye(4), inertial(robot.base.mass, robot.base.com, robot.base.inertia))]
    ball = np.eye(3) * 1e-6
    for frame, joint in zip(frames[1:], robot.arm.joints, strict=False):
        if joint.mass > 0:
            parts.append(body(frame, inertial(joint.mass, joint.com, joint.inertia)))
    parts.append(body(frames[-1], inertial(payload, np.zeros(3), ball)))
    for w in robot.wheels:
        T = np.eye(4)
        T[:3, 3] = w.x, w.y, w.radius - height
        if w.mass > 0:
            parts.append(body(T, inertial(w.mass, np.zeros(3), np.eye(3) * 1e-3)))
    feet = "".join(
        f'<geom type="sphere" pos="{w.x} {w.y} {w.radius - height}" size="{w.radius}" mass="0"/>'
        for w in robot.wheels
    )
    own = inertial(robot.platform.mass, np.zeros(3), np.asarray(robot.platform.inertia))
    return f"""<mujoco><compiler balanceinertia="true" boundmass="1e-9" boundinertia="1e-9"/>
    <option timestep="0.001" integrator="implicitfast" cone="elliptic"/>
    <default><geom condim="3" friction="1" solref="0.005 1" solimp="0.9 0.9 0.001 0.5 2"/></default>
    <worldbody><geom type="plane" size="5 5 1"/>
    <body pos="0 0 {height}"><freejoint/>{own}{feet}{"".join(parts)}</body></worldbody></mujoco>"""


def settled(robot, q, payload: float) -> np.ndarray:
    """Forces [N] of the ground on the wheels when all is at rest."""
    model = mujoco.MjModel.from_xml_string(described(robot, q, payload))
    data = mujoco.MjData(model)
    for _ in range(40):
        mujoco.mj_step(model, data, 250)
        if np.abs(data.qvel).max() < 1e-6:
            break
    assert np.abs(data.qvel).max() < 1e-4, "it has come to rest"
    up, force = np.zeros(len(robot.wheels)), np.zeros(6)
    for k in range(data.ncon):
        mujoco.mj_contactForce(model, data, k, force)
        up[max(data.contact[k].geom) - 1] += force[0]
    return up


@pytest.mark.parametrize(
    ("name", "heaviest"), [("tiago", 12.0), ("diffdrive", 90.0), ("car", 12.0)]
)
def test_wheels_carry_what_mujoco_says(name, heaviest):
    """Every pose that stands, however near to tipping, with a payload: each wheel within 2 % of their mean load."""
    robot = MAKERS[name]()
    rng = np.random.default_rng(7)
    still = np.zeros(len(robot.speed_names))
    checked = lifted = 0
    nearest = np.inf
    while checked < POSES:
        q = np.zeros(len(robot.coordinate_names))
        q[-robot.arm.n :] = rng.uniform(-1.5, 1.5, robot.arm.n)
        payload = float(rng.uniform(0.5, heaviest))
        tool = arm_frames(robot, q)[-1][:3, :3]
        assert hand_of(robot.arm)[0] == robot.arm.n - 1
        push = np.r_[tool.T @ [0, 0, -9.81 * payload], np.zeros(3)]
        ground = robot.ground(q, still, still, load=push)
        if ground.measure < 0:
            continue
        up, mean = ground.forces[:, 2], -ground.load[2] / len(robot.wheels)
        np.testing.assert_allclose(up, settled(robot, q, payload), atol=PART * mean)
        checked += 1
        lifted += int(ground.lifted.any())
        nearest = min(nearest, float(ground.degrees))
    assert nearest < 8, "poses near to tipping are among them"
    assert lifted or name == "diffdrive", "some poses lift a wheel"
