"""A second opinion: compiled models and URDF reading against MuJoCo, which shares no code with pinocchio."""

from __future__ import annotations

import numpy as np
import pytest

import dynarm
from dynarm.robot.formats.urdf import arm_of_urdf
from oracles.example_robots import example_robot
from oracles.mujoco_arm import MujocoArm, mujoco_from_urdf, mujoco_model
from strategies import FAMILIES, random_states, random_urdf

TOLERANCE = 1e-12  # |error| <= TOLERANCE * max(1, |reference|max)
SAMPLES = 3
STYLES = ("generic", "industrial", "rounded")


def assert_equal(arm: dynarm.Arm, oracle: MujocoArm, seed: int) -> None:
    model = dynarm.compile(arm)
    q, qd, qdd = random_states(np.random.default_rng(seed), arm.n, SAMPLES)
    pairs = {
        "inverse_dynamics": (model.inverse_dynamics(q, qd, qdd), zip(q, qd, qdd, strict=True)),
        "mass_matrix": (model.mass_matrix(q), zip(q, strict=True)),
        "bias": (model.bias(q, qd), zip(q, qd, strict=True)),
        "gravity": (model.gravity(q), zip(q, strict=True)),
    }
    for name, (ours, states) in pairs.items():
        theirs = np.array([getattr(oracle, name)(*state) for state in states])
        error = np.abs(ours - theirs).max() / max(1.0, np.abs(theirs).max())
        assert error <= TOLERANCE, (arm.name, name, error)


@pytest.mark.parametrize("family", ["generic", "mixed", "structured", "leading_prismatic"])
def test_arms_from_dh_numbers(family):
    arm = FAMILIES[family](np.random.default_rng(41), 5)
    assert_equal(arm, mujoco_model(arm), seed=1)


@pytest.mark.parametrize("style", STYLES)
def test_random_urdfs_as_mujoco_reads_them(style):
    text = random_urdf(np.random.default_rng([43, STYLES.index(style)]), 6, style=style)
    parts = {"tip": "link6", "gravity": (1.0, -2.0, -9.0), "snap": False}
    arm = arm_of_urdf(text.encode(), style, **parts)
    assert_equal(arm, mujoco_from_urdf(text, arm.joint_names, arm.gravity), seed=2)


@pytest.mark.parametrize(
    ("file", "tip"),
    [("panda.urdf", "panda_link8"), ("ur5_robot.urdf", None), ("xarm7.urdf", "link7")],
)
def test_real_robots_as_mujoco_reads_them(file, tip):
    path = example_robot(file)
    arm = dynarm.load(path, tip=tip, snap=False)
    assert_equal(arm, mujoco_from_urdf(path, arm.joint_names), seed=3)
