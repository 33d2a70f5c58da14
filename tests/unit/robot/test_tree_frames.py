"""Modified Denavit-Hartenberg frames of trees: Khalil and Kleinfinger's branches, and what is left free at them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dynarm import Joint
from dynarm.robot.frames.dh import JointLine, modified_dh
from dynarm.robot.frames.lines import Lines
from dynarm.robot.frames.poses import inverse, rotation, translation
from dynarm.robot.inertia import move_parameters, pack_parameters
from oracles.random_trees import random_lines
from strategies import random_body, random_pose

EXACT = 1e-12
QUARTERS = (0.0, math.pi / 2, -math.pi / 2, math.pi)


def motion(segment: JointLine, q: float) -> np.ndarray:
    """Displacement of a joint about or along its own axis (Rodrigues)."""
    T, u = np.eye(4), segment.axis
    if segment.kind == "prismatic":
        T[:3, 3] = u * q
        return T
    K = np.array([[0, -u[2], u[1]], [u[2], 0, -u[0]], [-u[1], u[0], 0]])
    T[:3, :3] = np.eye(3) + math.sin(q) * K + (1 - math.cos(q)) * K @ K
    return T


def joint_of(frames, segments, i) -> Joint:
    a, alpha, beta, d, theta = frames.steps[i]
    gamma, b = frames.branches[i]
    kind = segments[i].kind
    return Joint(kind, a=a, alpha=alpha, beta=beta, d=d, theta=theta, gamma=gamma, b=b)


def length(segments) -> float:
    return sum(float(np.linalg.norm(s.placement[:3, 3])) for s in segments) or 1.0


def assert_same_tree(segments, parents, frames, rng) -> None:
    """Every link frame and every link's inertia seen from the base agree in random poses."""
    size = 1 + length(segments)
    q = rng.uniform(-3, 3, len(segments))
    given, ours = {-1: np.eye(4)}, {-1: frames.base}
    for i, (s, p) in enumerate(zip(segments, parents, strict=True)):
        given[i] = given[p] @ s.placement @ motion(s, q[i])
        ours[i] = ours[p] @ joint_of(frames, segments, i).displacement(q[i])
        assert np.abs(ours[i] @ inverse(frames.links[i]) - given[i]).max() <= EXACT * size
        body = move_parameters(s.parameters, given[i][:3, :3], given[i][:3, 3])
        moved = move_parameters(frames.parameters[i], ours[i][:3, :3], ours[i][:3, 3])
        assert np.abs(moved - body).max() <= EXACT * max(1, np.abs(body).max())


@pytest.mark.parametrize("free", [False, True], ids=["fixed", "free"])
@pytest.mark.parametrize("style", ["generic", "structured", "slight"])
def test_random_trees(style, free):
    for seed in range(40):
        rng = np.random.default_rng(seed)
        segments, parents = random_lines(rng, int(rng.integers(1, 20)), style)
        frames = modified_dh(segments, parents, free)
        assert_same_tree(segments, parents, frames, rng)
        if free or parents.count(-1) > 1:
            assert np.array_equal(frames.base, np.eye(4))  # frame 0 is the base link's own
        else:
            assert not any(frames.steps[0]) and frames.branches[0] == (0.0, 0.0)
        if style != "generic":  # feet of normals do not run away
            reach = 2 * length(segments)
            assert max(np.linalg.norm(X[:3, 3]) for X in frames.links) <= reach
            for (a, _, _, d, _), (_, b) in zip(frames.steps, frames.branches, strict=True):
                assert max(abs(a), abs(d), abs(b)) <= reach
        if style == "structured":  # quarter turns stay quarter turns, at branches too
            assert all(alpha in QUARTERS and beta == 0 for _, alpha, beta, _, _ in frames.steps)
            assert all(-math.pi / 2 < gamma <= math.pi / 2 for gamma, _ in frames.branches)


def test_a_chain_is_a_tree_without_branches():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        segments, _ = random_lines(rng, int(rng.integers(1, 9)))
        alone = modified_dh(segments)
        tree = modified_dh(segments, list(range(-1, len(segments) - 1)))
        assert alone.steps == tree.steps and set(tree.branches) == {(0.0, 0.0)}
        assert all(np.array_equal(a, b) for a, b in zip(alone.links, tree.links, strict=True))


def bodies(rng, *placements: np.ndarray) -> list[JointLine]:
    up = np.array([0.0, 0.0, 1.0])
    return [JointLine("revolute", T, up, pack_parameters(*random_body(rng))) for T in placements]


def test_one_child_of_a_link_needs_no_branch():
    """The main child is that of most joints, and pins the frame; the others take gamma and b."""
    rng = np.random.default_rng(2)
    segments = bodies(rng, *(random_pose(rng) for _ in range(6)))
    frames = modified_dh(segments, [-1, 0, 0, 2, 0, 2])
    assert_same_tree(segments, [-1, 0, 0, 2, 0, 2], frames, rng)
    assert frames.branches[2] == (0.0, 0.0)
    assert all(gamma and b for gamma, b in (frames.branches[1], frames.branches[4]))
    assert [frames.branches[i] == (0.0, 0.0) for i in (3, 5)].count(True) == 1


def test_the_child_that_pins_a_frame_is_the_one_that_makes_zeros():
    """Of two equal children one stands square to the link: pinned by the other, it would need an odd gamma."""
    rng = np.random.default_rng(3)
    square = translation(0.3, 0, 0) @ rotation("x", math.pi / 2)
    fork = [translation(0, 0, 0.2), square, rotation("z", math.pi / 2) @ square, square]
    frames = modified_dh(bodies(rng, *fork), [-1, 0, 0, 0])
    odd = [gamma for gamma, _ in frames.branches if gamma not in QUARTERS]
    assert not odd and sum(b != 0 for _, b in frames.branches) == 0
    askew = bodies(rng, np.eye(4), square @ rotation("z", 0.3), rotation("z", 0.4) @ square)
    frames = modified_dh([askew[0], askew[2], askew[1]], [-1, 0, 0])
    assert sum(gamma not in QUARTERS for gamma, _ in frames.branches) == 1


def test_parallel_branches_keep_gamma_and_b_where_they_are_free():
    rng = np.random.default_rng(4)
    level = [translation(0, 0, 0.1), translation(0.3, 0, 0), translation(-0.2, 0, 0.5)]
    frames = modified_dh(bodies(rng, *level), [-1, 0, 0])
    assert [b for _, b in frames.branches] == [0.0, 0.0, 0.0]
    assert {gamma for gamma, _ in frames.branches} == {0.0}
    assert sum(step[3] != 0 for step in frames.steps) == 0  # ends: their origins may slide
    on_axis = modified_dh(bodies(rng, level[0], random_pose(rng), np.eye(4)), [-1, 0, 0])
    assert (on_axis.steps[2][:3], on_axis.branches[2][0]) == ((0.0, 0.0, 0.0), 0.0)


@pytest.mark.parametrize("angle", [1e-9, 3.7e-6, 1e-4, 1e-2])
def test_hayatis_rotation_at_a_branch(angle):
    """A branch all but parallel to its link's axis: two rotations reach it, and nothing runs away."""
    rng = np.random.default_rng(5)
    near = translation(0.4, 0.1, 0.2) @ rotation("y", angle)
    segments = bodies(rng, np.eye(4), random_pose(rng), random_pose(rng), near)
    frames = modified_dh(segments, [-1, 0, 1, 0])
    assert_same_tree(segments, [-1, 0, 1, 0], frames, rng)
    a, _, beta, d, _ = frames.steps[3]
    gamma, b = frames.branches[3]
    assert beta != 0 and gamma != 0
    assert max(abs(a), abs(b), abs(d)) < 2.5


def test_the_line_of_a_prismatic_branch_may_be_moved():
    """A slide beside its link's axis: only its direction counts, so that a and b become 0."""
    rng = np.random.default_rng(6)
    slide = translation(0.3, 0.1, 0.2) @ rotation("x", math.pi / 2)
    segments = bodies(rng, np.eye(4), random_pose(rng), random_pose(rng))
    up, ten = np.array([0.0, 0.0, 1.0]), pack_parameters(*random_body(rng))
    segments.append(JointLine("prismatic", slide, up, ten))
    parents = [-1, 0, 1, 0]
    frames = modified_dh(segments, parents)
    assert_same_tree(segments, parents, frames, rng)
    assert frames.steps[3][0] == 0.0 and frames.branches[3][1] == 0.0


def test_only_what_a_choice_changes_is_converted_again(monkeypatch):
    """The search converts the frames that may change; converting all of them gives the same numbers."""
    for seed in range(60):
        rng = np.random.default_rng(seed)
        style = ("generic", "structured", "structured", "slight")[seed % 4]
        segments, parents = random_lines(rng, int(rng.integers(4, 11)), style)
        if seed % 2:  # one joint on the base: frame 1 is pinned by lines further out
            parents[1:] = [max(p, 0) for p in parents[1:]]
        few = modified_dh(segments, parents)
        with monkeypatch.context() as patched:
            patched.setattr(Lines, "affected", lambda lines, i: range(lines.n))
            every = modified_dh(segments, parents)
        assert few.steps == every.steps and few.branches == every.branches
