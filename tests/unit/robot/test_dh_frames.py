"""Conversion of chains with arbitrary axes to modified Denavit-Hartenberg frames."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dynarm import Arm, DynarmError, Joint
from dynarm.robot.frames.dh import NEARLY_PARALLEL, JointLine, modified_dh
from dynarm.robot.frames.poses import inverse, rotation, translation
from dynarm.robot.inertia import move_parameters, pack_parameters
from strategies import random_body, random_pose, random_rotation

EXACT = 1e-12


def motion(segment: JointLine, q: float) -> np.ndarray:
    """Displacement of a joint about or along its own axis (Rodrigues)."""
    T = np.eye(4)
    u = segment.axis
    if segment.kind == "prismatic":
        T[:3, 3] = u * q
        return T
    K = np.array([[0, -u[2], u[1]], [u[2], 0, -u[0]], [-u[1], u[0], 0]])
    T[:3, :3] = np.eye(3) + math.sin(q) * K + (1 - math.cos(q)) * K @ K
    return T


def segment(rng, kind, placement, axis) -> JointLine:
    return JointLine(kind, placement, np.asarray(axis, float), pack_parameters(*random_body(rng)))


def assert_same_robot(segments, frames, rng, tolerance=EXACT):
    """Every link frame and every link's inertia seen from the base agree in random poses."""
    size = 1 + sum(np.abs(s.placement[:3, 3]).max() for s in segments)
    for _ in range(3):
        q = rng.uniform(-3, 3, len(segments))
        given, ours = np.eye(4), frames.base
        for i, s in enumerate(segments):
            given = given @ s.placement @ motion(s, q[i])
            a, alpha, beta, d, theta = frames.steps[i]
            step = Joint(s.kind, a=a, alpha=alpha, beta=beta, d=d, theta=theta)
            ours = ours @ step.displacement(q[i])
            assert np.abs(ours @ inverse(frames.links[i]) - given).max() <= tolerance * size
            body = move_parameters(s.parameters, given[:3, :3], given[:3, 3])
            moved = move_parameters(frames.parameters[i], ours[:3, :3], ours[:3, 3])
            assert np.abs(moved - body).max() <= tolerance * max(1, np.abs(body).max())


def tilted(placement: np.ndarray, axis: str, angle: float) -> np.ndarray:
    return placement @ rotation(axis, angle)


PAIRS = {  # the second joint's placement in the first link, both axes z
    "parallel": translation(0.3, -0.2, 0.5),
    "antiparallel": translation(0.3, -0.2, 0.5) @ rotation("x", math.pi),
    "coincident": translation(0, 0, 0.4),
    "coincident, opposite": translation(0, 0, 0.4) @ rotation("y", math.pi),
    "same frame": np.eye(4),
    "intersecting": translation(0, 0, 0.4) @ rotation("x", math.pi / 2),
    "intersecting obliquely": translation(0, 0, 0.4) @ rotation("y", 0.7),
    "skew": translation(0.3, 0.1, 0.2) @ rotation("x", 1.1) @ rotation("y", -0.4),
    "perpendicular, offset": translation(0.3, 0, 0.2) @ rotation("x", -math.pi / 2),
}


@pytest.mark.parametrize("kinds", ["RR", "RP", "PR", "PP"])
@pytest.mark.parametrize("name", PAIRS)
def test_special_pairs_of_axes(name, kinds):
    rng = np.random.default_rng(7)
    word = {"R": "revolute", "P": "prismatic"}
    segments = [
        segment(rng, word[kinds[0]], random_pose(rng), [0, 0, 1]),
        segment(rng, word[kinds[1]], PAIRS[name], [0, 0, 1]),
        segment(rng, "revolute", random_pose(rng), [0, 0, 1]),
    ]
    for chain in (segments, segments[:2]):
        assert_same_robot(chain, modified_dh(chain), rng)


@pytest.mark.parametrize("kind", ["revolute", "prismatic"])
@pytest.mark.parametrize("axis", ["x", "y"])
@pytest.mark.parametrize(
    "angle", [1e-16, 1e-15, 1e-14, 1e-12, 3e-10, 3.7e-6, 1e-4, 1e-2, 0.049, 0.051]
)
def test_nearly_parallel_axes_keep_frames_on_the_robot(angle, axis, kind):
    """Two fingers' breadth from parallel, the common normal may stand kilometres away; the frames may not."""
    rng = np.random.default_rng(3)
    for placement in (translation(0.3, -0.2, 0.5), translation(0.4, 0, 0), translation(0, 0, 0.4)):
        for flip in (0.0, math.pi):
            near = tilted(placement, "x", flip)
            segments = [
                segment(rng, "revolute", random_pose(rng), [0, 0, 1]),
                segment(rng, kind, tilted(near, axis, angle), [0, 0, 1]),
                segment(
                    rng, "revolute", tilted(tilted(placement, axis, -angle), "x", 1.5708), [0, 0, 1]
                ),
                segment(rng, "revolute", tilted(near, "y", angle), [0, 0, 1]),
            ]
            frames = modified_dh(segments)
            assert_same_robot(segments, frames, rng)
            size = sum(np.linalg.norm(s.placement[:3, 3]) for s in segments[1:])
            if angle < NEARLY_PARALLEL:
                assert max(abs(x) for step in frames.steps for x in (step[0], step[3])) <= 2 * size
                assert max(np.linalg.norm(X[:3, 3]) for X in frames.links) <= 2 * size


def test_hayati_rotation_appears_only_where_it_must():
    rng = np.random.default_rng(5)
    away = translation(0.4, 0, 0)

    def beta(placement):
        chain = [
            segment(rng, "revolute", np.eye(4), [0, 0, 1]),
            segment(rng, "revolute", placement, [0, 0, 1]),
        ]
        return modified_dh(chain).steps[1][2]

    # the normal's foot would be 400 km off
    assert beta(tilted(away, "y", 1e-6)) == pytest.approx(1e-6)
    assert beta(tilted(away, "x", 1e-6)) == 0.0  # the normal is x itself
    assert beta(tilted(translation(0, 0, 0.4), "y", 1e-6)) == 0.0  # the axes meet
    assert beta(away) == 0.0
    assert beta(tilted(away, "y", 0.2)) == 0.0


def test_random_chains():
    worst_zero_step = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(1, 8))
        segments = [
            segment(
                rng,
                "prismatic" if rng.random() < 0.4 else "revolute",
                random_pose(rng),
                random_rotation(rng)[:, 0],
            )
            for _ in range(n)
        ]
        frames = modified_dh(segments)
        assert_same_robot(segments, frames, rng)
        worst_zero_step = max(worst_zero_step, max(map(abs, frames.steps[0])))
    assert worst_zero_step == 0.0  # everything constant before the first joint sits in the base


def test_rounded_quarter_turns_stay_as_written():
    rng = np.random.default_rng(1)
    for written in (1.5708, 1.570796, 1.57079632679):
        chain = [
            segment(rng, "revolute", np.eye(4), [0, 0, 1]),
            segment(rng, "revolute", translation(0.1, 0, 0.3) @ rotation("x", written), [0, 0, 1]),
            segment(rng, "revolute", translation(0.2, 0, 0), [0, 0, 1]),
        ]
        assert abs(abs(modified_dh(chain).steps[1][1]) - written) <= 4e-16
    exact = [
        chain[0],
        segment(rng, "revolute", translation(0.1, 0, 0.3) @ rotation("x", math.pi / 2), [0, 0, 1]),
    ]
    assert abs(modified_dh(exact).steps[1][1]) == math.pi / 2


def structured_chain(rng, n):
    """Joints in modified DH with quarter turns and few offsets, and the same chain in frames scattered along them."""
    joints, segments = [], []
    before = np.eye(4)
    for i in range(n):
        kind = "prismatic" if rng.random() < 0.3 else "revolute"
        a, d = (
            0.0 if rng.random() < 0.5 else float(np.round(rng.uniform(-0.5, 0.5), 3)) for _ in "ad"
        )
        quarter = [0.0, math.pi / 2, -math.pi / 2, math.pi]
        joint = Joint(
            kind, a=a, alpha=quarter[rng.integers(4)], d=d, theta=quarter[rng.integers(4)]
        )
        slide = translation(0, 0, float(np.round(rng.uniform(-0.3, 0.3), 3)))
        turn = rotation("z", float(quarter[rng.integers(4)]))
        own = slide @ turn  # the link frame, elsewhere on the same axis
        step = joint.displacement() if i else np.eye(4)
        segments.append(segment(rng, kind, inverse(before) @ step @ own, [0, 0, 1]))
        before = own
        joints.append(joint)
    return joints, segments


def test_structured_robots_do_not_become_dearer():
    """Frames slid and turned along the axes give back constants at most as dear as a hand-made table's."""

    def price(segments, steps):
        total = 0
        for s, (a, _, beta, d, theta) in zip(segments, steps, strict=True):
            odd = theta not in (0.0, math.pi / 2, -math.pi / 2, math.pi)
            total += (
                2 * (a != 0)
                + 2 * (d != 0)
                + odd * (1 if s.kind == "revolute" else 8)
                + 8 * (beta != 0)
            )
        return total

    for seed in range(80):
        rng = np.random.default_rng(seed)
        joints, segments = structured_chain(rng, int(rng.integers(2, 8)))
        frames = modified_dh(segments)
        assert_same_robot(segments, frames, rng)
        table = [(j.a, j.alpha, 0.0, j.d, j.theta) for j in joints[1:]]
        assert price(segments[1:], frames.steps[1:]) <= price(segments[1:], table), seed
        for step in frames.steps:
            assert step[1] in (0.0, math.pi / 2, -math.pi / 2, math.pi)


def test_rounding_in_inertias_is_removed():
    """A symmetric link stays symmetric: the products of inertia are zeros, not 1e-17."""
    rng = np.random.default_rng(0)
    bar = pack_parameters(2.0, [0, 0, 0.1], np.diag([0.3, 0.2, 0.1]))
    chain = [
        JointLine("revolute", np.eye(4), np.array([0.0, 0, 1]), bar),
        JointLine(
            "revolute",
            translation(0.3, 0, 0) @ rotation("x", math.pi / 2),
            np.array([0.0, 1, 0]),
            bar,
        ),
        JointLine(
            "revolute",
            translation(0, 0.2, 0) @ rotation("y", -math.pi / 2),
            np.array([1.0, 0, 0]),
            bar,
        ),
    ]
    frames = modified_dh(chain)
    assert_same_robot(chain, frames, rng)
    entries = np.abs(frames.parameters)
    assert entries[entries > 0].min() > 1e-3
    # m, first moments, diagonal; one product where a frame is moved
    assert np.count_nonzero(entries) == 17


def test_classic_dh_gives_the_same_frames_and_bodies():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(1, 7))
        joints = []
        for _ in range(n):
            mass, com, inertia = random_body(rng)
            a, alpha, d, theta = rng.uniform(-1, 1, 4).tolist()
            kind = "prismatic" if rng.random() < 0.4 else "revolute"
            joints.append(Joint(kind, a, alpha, d, theta, mass=mass, com=com, inertia=inertia))
        base, tool = random_pose(rng), random_pose(rng)
        arm = Arm.from_classic_dh(joints, base=base, tool=tool, name="classic")
        q = rng.uniform(-2, 2, n)
        classic, ours = base, base
        for i, joint in enumerate(joints):
            theta, d = (
                (joint.theta + q[i], joint.d) if joint.revolute else (joint.theta, joint.d + q[i])
            )
            classic = classic @ rotation("z", theta) @ translation(0, 0, d)
            classic = classic @ translation(joint.a, 0, 0) @ rotation("x", joint.alpha)
            ours = ours @ arm.joints[i].displacement(q[i])
            body = move_parameters(joint.parameters, classic[:3, :3], classic[:3, 3])
            moved = move_parameters(arm.parameters[i], ours[:3, :3], ours[:3, 3])
            assert np.abs(moved - body).max() <= EXACT * max(1, np.abs(body).max())
        assert np.abs(ours @ arm.tool_pose - classic @ tool).max() <= EXACT


@pytest.mark.parametrize("joints", [[], Joint(), None, [Joint(), "elbow"], [Joint(beta=0.1)]])
def test_classic_dh_refuses(joints):
    with pytest.raises(DynarmError):
        Arm.from_classic_dh(joints)
