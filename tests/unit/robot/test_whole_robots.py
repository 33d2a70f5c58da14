"""Whole robots against pinocchio: every link's pose, the mass matrix and gravity of real URDFs."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest

import dynarm
from dynarm import Arm
from dynarm.robot.frames.poses import inverse
from oracles.example_robots import robots_folder
from oracles.pinocchio_urdf import PinocchioUrdf
from oracles.tree_by_definition import (
    all_positions,
    coupling_matrix,
    gravity,
    link_motions,
    mass_matrix,
)
from strategies import random_pose

EXACT = 1e-12
BODIES = {
    "quadrotor_base.urdf",
    "iris_simple.urdf",
}  # without joints: robots where they move freely
NOT_A_ROBOT = {"ur3.urdf": "has no <link>"}
IDLE = ("romeo.urdf", "romeo_laas_small.urdf")  # fingers without any inertia
FILES = sorted(robots_folder().rglob("*.urdf"))


def loaded(path: Path, **options) -> Arm:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some of them have impossible inertias
        return dynarm.load(path, allow_massless=path.name in IDLE, snap=False, **options)


def assert_same_robot(arm: Arm, text: str, rng: np.random.Generator, held=None) -> None:
    """Poses of links in their own frames, mass matrix and gravity, in a random pose."""
    peer = PinocchioUrdf(text, arm, held)
    base = random_pose(rng) if arm.floating else None
    q = all_positions(arm, rng.uniform(-2, 2, len(arm.joint_names)))
    motions = link_motions(arm, q, base)
    moving = motions[len(motions) - arm.n :]
    reach = max(1.0, arm.size)
    start = np.eye(4) if arm.floating else peer.link_pose(arm.origin.base_link, q)
    for one, link, flat in zip(moving, arm.origin.links, arm.origin.frames, strict=True):
        ours = start @ one.pose @ np.array(flat).reshape(4, 4)
        assert np.abs(ours - peer.link_pose(link, q, base)).max() <= EXACT * reach
    G = coupling_matrix(arm)
    M = G.T @ peer.mass_matrix(q, base) @ G
    assert np.abs(mass_matrix(arm, motions) - M).max() <= EXACT * max(1.0, np.abs(M).max())
    g = G.T @ peer.gravity(q, base)
    assert np.abs(gravity(arm, motions) - g).max() <= EXACT * max(1.0, np.abs(g).max())


@pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])
@pytest.mark.parametrize("path", FILES, ids=[f"{p.parent.parent.name}/{p.stem}" for p in FILES])
def test_real_robots_whole(path, floating):
    if path.name in NOT_A_ROBOT:
        with pytest.raises(dynarm.DynarmError, match=NOT_A_ROBOT[path.name]):
            loaded(path, floating=floating)
        return
    if path.name in BODIES and not floating:
        with pytest.raises(dynarm.DynarmError, match=r"no movable joint.*floating=True"):
            loaded(path, floating=False)
        assert loaded(path).nv == 6
        return
    arm = loaded(path, floating=floating)
    assert_same_robot(arm, path.read_text(encoding="utf-8"), np.random.default_rng(7))
    for joint in arm.joints:  # frames stay on the robot
        assert max(abs(joint.a), abs(joint.b), abs(joint.d)) <= 30 * arm_reach(arm)


def arm_reach(arm: Arm) -> float:
    """The longest distance between neighbouring link frames of the file [m]."""
    frames = [np.array(flat).reshape(4, 4) for flat in arm.origin.frames]
    lengths = []
    for i, joint in enumerate(arm.joints):
        p = arm.parents[i]
        before = inverse(frames[p]) if p >= 0 else np.eye(4)
        lengths.append(np.linalg.norm((before @ joint.displacement() @ frames[i])[:3, 3]))
    return max(lengths)
