"""Every platform with UR5, Panda and TIAGo's lift and arm against an independent model on pinocchio.

Free flyer, contact multipliers, unilateral springs: accelerations, torques, wheel forces and margins at 1e-9.
"""

from __future__ import annotations

from functools import cache, partial

import numpy as np
import pinocchio as pin
import pytest

import dynarm
from dynarm.mobile import Base, MobileManipulator
from dynarm.mobile.kernels import scalar_function
from oracles.example_robots import example_robot
from oracles.mobile_free_flyer import FreeFlyer, urdf_arm
from oracles.mobile_platforms import PLATFORMS

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
EXACT = 1e-9  # of the weight
ARMS = {
    "ur5": ("ur5_robot.urdf", "tool0"),
    "panda": ("panda.urdf", "panda_hand"),
    "tiago": ("tiago_no_hand.urdf", "arm_7_link"),
}


def mount(seed: int, tilt: float) -> np.ndarray:
    """Off centre, and tilted."""
    rng = np.random.default_rng(seed)
    axis = rng.normal(size=3)
    T = np.eye(4)
    T[:3, :3] = pin.exp3(tilt * axis / np.linalg.norm(axis))
    T[:3, 3] = [*rng.uniform(-0.15, 0.15, 2), 0.35]
    return T


@cache
def read(name):
    file, tip = ARMS[name]
    arm = dynarm.load(example_robot(file), tip=tip, snap=False)
    return arm, urdf_arm(example_robot(file), arm.joint_names)


@cache
def machines(wheels: str, names: tuple[str, ...]):
    """dynarm's robot and pinocchio's."""
    stand, made = PLATFORMS[wheels]()
    base = Base(6.0, (0.05, -0.04, 0.2), (0.3, 0.3, 0.2))
    places = [mount(k + len(wheels), 0.0 if wheels == "omni" else 0.5) for k in range(len(names))]
    arms = [(read(name)[0], place) for name, place in zip(names, places, strict=True)]
    if len(names) == 1:
        only = Base(6.0, base.com, base.inertia, places[0])
        robot = MobileManipulator(stand, made, only, arms[0][0])
    else:
        robot = MobileManipulator(stand, made, base, arms=arms)
    if (
        names[0] != "ur5"
    ):  # machine code for one arm; it is what the functions are, as other tests show
        object.__setattr__(robot, "call", partial(over_floats, robot))
    models = [
        (read(name)[1], place, "" if k == 0 else f"other{k}_")
        for k, (name, place) in enumerate(zip(names, places, strict=True))
    ]
    other = FreeFlyer(stand, made, base, models, ARMS[names[0]][1])
    joints = [prefix + n for model, _, prefix in models for n in list(model.names)[1:]]
    return robot, other, joints


def over_floats(robot, name, *args, threads=None):
    """What robot.call gives, by the functions themselves in place of machine code, state by state."""
    ports = robot.ports(name)
    sizes = [port.shape for port in ports[0]]
    lead = np.broadcast_shapes(
        *(np.shape(a)[: np.ndim(a) - len(s)] for a, s in zip(args, sizes, strict=True))
    )
    given = [np.broadcast_to(a, lead + s) for a, s in zip(args, sizes, strict=True)]
    function = scalar_function(robot.formulas, name)
    rows = [function(*(x[k].tolist() for x in given)) for k in np.ndindex(*lead)]
    outputs = tuple(
        np.array([row[i] for row in rows], float).reshape(lead + port.shape)
        for i, port in enumerate(ports[1])
    )
    return outputs if len(outputs) > 1 else outputs[0]


def states(robot, count, seed, fast=0.6):
    rng = np.random.default_rng(seed)
    q = rng.uniform(-1, 1, (count, len(robot.coordinate_names)))
    z, zd = (rng.uniform(-fast, fast, (count, len(robot.speed_names))) for _ in range(2))
    if robot.guidance.steered:
        q[:, 3] *= 0.6
    return q, z, zd, rng.uniform(-30, 30, (count, 6))


CASES = [(wheels, (arm,)) for wheels in PLATFORMS for arm in ARMS]
CASES += [(wheels, ("ur5", "panda")) for wheels in ("differential", "skid-steer", "mecanum")]
NAMES = [f"{wheels} x {' and '.join(arms)}" for wheels, arms in CASES]


@pytest.mark.parametrize(("wheels", "arms"), CASES, ids=NAMES)
def test_planned_motions(wheels, arms):
    """Torques, wheel forces, load on the ground and margins of planned motions, on a slope, with a load."""
    robot, other, joints = machines(wheels, arms)
    q, z, zd, load = states(robot, 4, 3)
    gravity = 9.81 * np.array([-np.sin(0.1), 0.03, -np.cos(0.1)])
    tau = robot.inverse_dynamics(q, z, zd, gravity, load)
    ground = robot.ground(q, z, zd, gravity, load)
    w = len(robot.wheels)
    size = 9.81 * other.weighs
    for k in range(len(q)):
        answer = other.planned(robot.guidance.speeds, joints, q[k], z[k], zd[k], gravity, load[k])
        np.testing.assert_allclose(-ground.load[k], answer.wrench, atol=EXACT * size)
        np.testing.assert_allclose(tau[k, 2 * w :], list(answer.joints.values()), atol=EXACT * size)
        np.testing.assert_allclose(ground.angles[k], answer.angles, atol=EXACT)
        assert ground.measure[k] == pytest.approx(answer.measure, abs=EXACT * size)
        if answer.measure < 0:
            continue
        np.testing.assert_allclose(ground.forces[k], answer.forces, atol=EXACT * size)
        if not ground.lifted[
            k
        ].any():  # drives of a lifted wheel: those that stand share them on the ground
            drives = tau[k, :w]
            if wheels == "swerve":  # its parts along x and y, along the heading
                headings = answer.headings
                drives = np.cos(headings) * drives + np.sin(headings) * tau[k, w : 2 * w]
            np.testing.assert_allclose(drives, answer.wheels, atol=EXACT * size)


@pytest.mark.parametrize("arm", ARMS)
def test_accelerations_on_wheels_that_steer_themselves(arm):
    """The model on pinocchio says what inputs a motion needs; under these the robot moves so."""
    robot, other, joints = machines("swerve", (arm,))
    q, z, zd, load = states(robot, 4, 5)
    down = np.array([0.0, 0.0, -9.81])
    tau = robot.inverse_dynamics(q, z, zd, down, load)
    w = len(robot.wheels)
    checked = 0
    for k in range(len(q)):
        answer = other.planned(robot.guidance.speeds, joints, q[k], z[k], zd[k], down, load[k])
        if answer.measure < 0 or robot.ground(q[k], z[k], zd[k], down, load[k]).lifted.any():
            continue
        drives = np.cos(answer.headings) * tau[k, :w] + np.sin(answer.headings) * tau[k, w : 2 * w]
        size = EXACT * 9.81 * other.weighs
        np.testing.assert_allclose(drives, answer.wheels, atol=size)
        np.testing.assert_allclose(tau[k, 2 * w :], list(answer.joints.values()), atol=size)
        np.testing.assert_allclose(
            robot.acceleration(q[k], z[k], tau[k], load[k]), zd[k], atol=1e-9
        )
        checked += 1
    assert checked


@pytest.mark.parametrize(
    ("wheels", "arms"),
    [c for c in CASES if c[0] != "swerve"],
    ids=[n for n in NAMES if "swerve" not in n],
)
def test_accelerations(wheels, arms):
    """Accelerations under inputs, by contact multipliers."""
    robot, other, joints = machines(wheels, arms)
    q, z, _, load = states(robot, 2, 5)
    rng = np.random.default_rng(6)
    tau = rng.uniform(-20, 20, (len(q), len(robot.input_names)))
    for j, wheel in enumerate(robot.wheels):
        tau[:, len(robot.wheels) + j] *= wheel.kind in ("steered", "ackermann")
        tau[:, j] *= wheel.guides
    zd = robot.acceleration(q, z, tau, load)
    for k in range(len(q)):
        answer = other.accelerated(
            list(robot.guidance.speeds), joints, q[k], z[k], tau[k], (0, 0, -9.81), load[k]
        )
        np.testing.assert_allclose(zd[k], answer, atol=EXACT * max(1, np.abs(answer).max()))


@pytest.mark.parametrize(("wheels", "arms"), CASES, ids=NAMES)
def test_at_rest_the_wheels_carry_the_weight(wheels, arms):
    robot, other, joints = machines(wheels, arms)
    q = states(robot, 20, 8)[0]
    still = np.zeros(len(robot.speed_names))
    ground = robot.ground(q, still, still)
    np.testing.assert_allclose(ground.forces[..., 2].sum(-1), 9.81 * other.weighs, rtol=1e-12)
    held = robot.hold(q)
    if "swerve" in wheels:
        return  # a wheel that stands has no heading
    for k in range(3):
        answer = other.planned(robot.guidance.speeds, joints, q[k], still, still, (0, 0, -9.81))
        torques = list(answer.joints.values())
        np.testing.assert_allclose(
            held[k, -robot.arm.n :], torques, atol=EXACT * 9.81 * other.weighs
        )
