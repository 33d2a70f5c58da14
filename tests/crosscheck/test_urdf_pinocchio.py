"""URDF chains against pinocchio: every chain of the example robots, and random ones.

The equations run as plain functions on NumPy batches, so this tests the description (frames, merging, inertias) and not
the compiler.
"""

from __future__ import annotations

import functools
import warnings
from pathlib import Path

import numpy as np
import pytest

from dynarm import Arm, DynarmWarning, load
from dynarm.algebra.vectors import Mat3, Vec3
from dynarm.dynamics.kinematics import (
    forward_kinematics,
    jacobian,
    kinetic_energy,
    potential_energy,
)
from dynarm.dynamics.own.articulated_body import forward_dynamics
from dynarm.dynamics.papers.composite_body_lin1991 import coriolis_tensor
from dynarm.dynamics.papers.newton_euler_lin1995 import inverse_dynamics
from dynarm.dynamics.table import formulation
from dynarm.errors import ModelError
from dynarm.plan.regularity import check_regular
from dynarm.robot.formats.tree import Tree
from dynarm.robot.formats.urdf import arm_of_urdf, read_tree
from dynarm.robot.formats.urdf_text import write_urdf
from dynarm.robot.formats.whole import arm_of_tree
from dynarm.robot.frames.chain import chain_of, pose
from oracles.example_robots import robots_folder
from oracles.pinocchio_arm import PinocchioArm, pinocchio_from_urdf, pinocchio_model
from strategies import URDF_STYLES, random_states, random_urdf, sample_arms

GRAVITY = (0.0, 0.0, -9.81)
RELATIVE = 1e-12  # |error| <= RELATIVE * max(1, |reference|max)
FORWARD = 1e-10  # of forward dynamics, where rounding of the mass matrix allows it
SAMPLES = 3
mass_matrix = formulation("mass_matrix", "composite_1").function


FILES = sorted(robots_folder().rglob("*.urdf"))


def quiet_load(*args, **kwargs) -> Arm:
    """load, where impossible inertias are no news: real files are full of them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DynarmWarning)
        return load(*args, snap=False, **kwargs)


def evaluate(arm: Arm, q, qd, qdd) -> dict[str, np.ndarray]:
    """Quantities of the arm for a batch of states, samples first."""
    chain = chain_of(arm)
    steps = pose(chain, list(q.T))
    root, tool = (
        (Mat3(*(Vec3(*map(float, row)) for row in T[:3, :3])), Vec3(*map(float, T[:3, 3])))
        for T in (arm.frame0, arm.tool_pose)
    )
    rates, accelerations = list(qd.T), list(qdd.T)

    def batch(*scalars):
        return np.stack([np.broadcast_to(x, len(q)) for x in scalars], axis=-1)

    R, p = forward_kinematics(steps, root, tool)
    M = np.stack([batch(*row) for row in mass_matrix(chain, steps)], axis=1)
    C = np.stack(
        [np.stack([batch(*x) for x in rows], axis=1) for rows in coriolis_tensor(chain, steps)],
        axis=1,
    )
    columns = [batch(*v, *w) for v, w in jacobian(chain, steps, root, tool)]
    return {
        "inverse_dynamics": batch(*inverse_dynamics(chain, steps, rates, accelerations)),
        "bias": batch(*inverse_dynamics(chain, steps, rates, [0] * arm.n)),
        "gravity": batch(*inverse_dynamics(chain, steps, [0] * arm.n, [0] * arm.n)),
        "mass_matrix": M,
        "coriolis_matrix": np.einsum("sijk,sk->sij", C, qd),
        "kinetic_energy": batch(kinetic_energy(chain, steps, rates)),
        "potential_energy": batch(potential_energy(chain, steps, root, Vec3(*arm.gravity))),
        "rotation": batch(*(x for row in R.rows for x in row)),
        "position": batch(*p),
        "jacobian": np.stack(columns, axis=-1),
    }


def reference(oracle: PinocchioArm, q, qd, qdd) -> dict[str, np.ndarray]:
    states = list(zip(q, qd, qdd, strict=True))
    tool = np.array([oracle.forward_kinematics(s[0]) for s in states])
    return {
        "inverse_dynamics": np.array([oracle.inverse_dynamics(*s) for s in states]),
        "bias": np.array([oracle.bias(*s[:2]) for s in states]),
        "gravity": np.array([oracle.gravity(s[0]) for s in states]),
        "mass_matrix": np.array([oracle.mass_matrix(s[0]) for s in states]),
        "coriolis_matrix": np.array([oracle.coriolis_matrix(*s[:2]) for s in states]),
        "kinetic_energy": np.array([[oracle.kinetic_energy(*s[:2])] for s in states]),
        "potential_energy": np.array([[oracle.potential_energy(s[0])] for s in states]),
        "rotation": tool[:, :3, :3].reshape(len(q), 9),
        "position": tool[:, :3, 3],
        "jacobian": np.array([oracle.jacobian(s[0]) for s in states]),
    }


def assert_equal(arm: Arm, oracle: PinocchioArm, seed: int = 0) -> None:
    states = random_states(np.random.default_rng(seed), arm.n, SAMPLES)
    ours, theirs = evaluate(arm, *states), reference(oracle, *states)
    for quantity, expected in theirs.items():
        error = np.abs(ours[quantity] - expected).max()
        assert error <= RELATIVE * max(1, np.abs(expected).max()), (arm.name, quantity, error)
    assert_forward_dynamics(arm, oracle, *states, theirs["mass_matrix"])


def assert_forward_dynamics(arm: Arm, oracle: PinocchioArm, q, qd, qdd, M) -> None:
    """As pinocchio's, to what rounding leaves of it; where there are no accelerations, the arm is refused."""
    condition = np.linalg.cond(M).max()
    if not condition < 1e14:
        with pytest.raises(ModelError):
            check_regular(arm)
        return
    check_regular(arm)
    states = list(zip(q, qd, qdd, strict=True))
    tau = np.array([oracle.inverse_dynamics(*s) for s in states])
    expected = np.array([oracle.forward_dynamics(*s) for s in zip(q, qd, tau, strict=True)])
    chain = chain_of(arm)
    found = forward_dynamics(chain, pose(chain, list(q.T)), list(qd.T), list(tau.T))
    error = np.abs(np.stack([np.broadcast_to(x, len(q)) for x in found], axis=-1) - expected).max()
    # one chain (the head of icub, condition 3e8) cannot reach 1e-10, nor does pinocchio against its own torques
    limit = max(FORWARD, np.finfo(float).eps * condition)
    assert error <= limit * max(1, np.abs(expected).max()), (arm.name, "forward_dynamics", error)


def assert_same_dynamics(one: PinocchioArm, other: PinocchioArm, n: int) -> None:
    states = random_states(np.random.default_rng(1), n, SAMPLES)
    here, there = reference(one, *states), reference(other, *states)
    for quantity, expected in here.items():
        error = np.abs(there[quantity] - expected).max()
        assert error <= RELATIVE * max(1, np.abs(expected).max()), (quantity, error)


# ---- the robots of the wheel


@functools.cache
def tree_of(path: Path) -> Tree:
    return read_tree(path.read_bytes(), path.name)


def chains(path: Path) -> tuple[tuple[str, str], ...]:
    """Base and tip of every chain from the root to a movable end, cut where a joint has no single degree of freedom."""
    tree = tree_of(path)
    found = []
    for end in tree.movable_ends(tree.root):
        base = tree.root
        for joint in tree.path(tree.root, end):
            if joint.kind in ("floating", "planar"):
                base = joint.child
        joints = [j for j in tree.path(base, end) if j.movable]
        mimics = [k for k, j in enumerate(joints) if j.mimic]
        joints = joints[: mimics[0]] if mimics else joints
        if joints and (base, joints[-1].child) not in found:
            found.append((base, joints[-1].child))
    return tuple(found)


NOT_ROBOTS = {"ur3.urdf"}  # an empty <robot>: a macro file that was expanded without its arguments


def test_the_wheel_is_complete():
    assert len(FILES) >= 60
    assert {path.name for path in FILES} >= NOT_ROBOTS
    assert sum(len(chains(path)) for path in FILES if path.name not in NOT_ROBOTS) > 250


@pytest.mark.parametrize(
    "path",
    [p for p in FILES if p.name not in NOT_ROBOTS],
    ids=lambda p: p.relative_to(robots_folder()).as_posix(),
)
def test_every_chain_of_the_example_robots(path):
    seen = set()
    for base, tip in chains(path):
        arm = arm_of_tree(tree_of(path), base, tip, gravity=GRAVITY, allow_massless=True)
        if arm in seen:  # left and right limbs are often the same numbers
            continue
        seen.add(arm)
        oracle = pinocchio_from_urdf(path, base, tip)
        assert_equal(arm, oracle)
        size = sum(np.linalg.norm(T) for T in placements(path, base, tip)) + 0.1
        assert max(abs(x) for j in arm.joints for x in (j.a, j.d)) <= 2 * size, (
            "a frame left the robot"
        )


def placements(path: Path, base: str, tip: str) -> list[np.ndarray]:
    return [joint.placement[:3, 3] for joint in tree_of(path).path(base, tip)]


WRITTEN = (
    "panda.urdf",
    "ur5_robot.urdf",
    "kinova.urdf",
    "xarm7.urdf",
    "so101.urdf",
    "tiago_no_hand.urdf",
    "pr2.urdf",
)


@pytest.mark.parametrize("name", WRITTEN)
def test_written_urdf_has_the_same_dynamics(name, tmp_path):
    path = next(p for p in FILES if p.name == name)
    base, tip = max(chains(path), key=lambda c: len(tree_of(path).path(*c)))
    arm = quiet_load(path, base=base, tip=tip, allow_massless=True)
    target = tmp_path / "again.urdf"
    arm.save(target)
    assert_same_dynamics(
        pinocchio_from_urdf(path, base, tip), pinocchio_from_urdf(target, base, tip), arm.n
    )
    again = quiet_load(target, tip=tip, allow_massless=True)
    assert again.joint_names == arm.joint_names
    assert_equal(again, pinocchio_from_urdf(path, base, tip))


# ---- random chains

RANDOM_CHAINS = 500


@pytest.mark.parametrize("style", URDF_STYLES)
def test_random_urdf_chains(style):
    for k in range(RANDOM_CHAINS // len(URDF_STYLES)):
        rng = np.random.default_rng([17, URDF_STYLES.index(style), k])
        n = 1 + k % 9
        text = random_urdf(rng, n, style=style, branches=0.2)
        arm = arm_of_urdf(text.encode(), f"{style} {k}", tip=f"link{n}", snap=False)
        oracle = pinocchio_from_urdf(text, tip=f"link{n}")
        assert_equal(arm, oracle, seed=k)
        if k % 5 == 0:
            assert_same_dynamics(oracle, pinocchio_from_urdf(write_urdf(arm), tip=f"link{n}"), n)


def test_chains_between_any_two_links():
    """base and tip inside the file: gravity is meant in the base link, what stands before it does not move."""
    for k in range(20):
        rng = np.random.default_rng([23, k])
        text = random_urdf(rng, 6, branches=0.5)
        base, tip = f"link{k % 4}", f"link{4 + k % 3}"
        gravity = rng.normal(size=3)
        arm = arm_of_urdf(text.encode(), "cut", base=base, tip=tip, gravity=gravity)
        assert_equal(arm, pinocchio_from_urdf(text, base, tip, gravity))


def test_random_dh_arms_written_and_read():
    """Arms that never were a URDF: written in their internal frames, they keep their dynamics."""
    for arm in sample_arms(29, 60):
        assert_equal(arm, pinocchio_model(arm))
        text = write_urdf(arm)
        again = arm_of_urdf(
            text.encode(), "written", gravity=arm.gravity, allow_massless=True, snap=False
        )
        oracle = pinocchio_from_urdf(text, gravity=arm.gravity)
        assert_equal(again, oracle)
        states = random_states(np.random.default_rng(2), arm.n, 1)
        direct = pinocchio_model(arm).inverse_dynamics(*(x[0] for x in states))
        indirect = oracle.inverse_dynamics(*(x[0] for x in states))
        assert np.abs(direct - indirect).max() <= RELATIVE * max(1, np.abs(direct).max())


def test_built_in_robots():
    from dynarm import catalogue

    for name in catalogue():
        arm = load(name)
        if arm.serial and arm.tools is None:  # the others: test_catalogue_pinocchio.py
            assert_equal(arm, pinocchio_model(arm))
