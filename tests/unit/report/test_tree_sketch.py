"""Sketches and sheets of whole robots: lines from parents to children, tables that say what hangs on what."""

from __future__ import annotations

import re

import numpy as np
import pytest
from test_sketch import drawn

import dynarm
from dynarm.report.robot_sheet import inertia_section, robot_section
from dynarm.report.sketch import pose, skeleton
from dynarm.robot.formats.urdf import arm_of_urdf
from dynarm.robot.frames.placed import link_poses, tool_poses
from oracles.random_trees import tree_urdf


def tree(seed=11, n=6, **options):
    text = tree_urdf(np.random.default_rng(seed), n, mimic=0.4)
    return arm_of_urdf(text.encode(), "tree", **options)


@pytest.mark.parametrize("floating", [False, True])
def test_lines_lead_from_parents_to_children_tools_and_ends(floating):
    arm = tree(floating=floating, tools=["l2"])
    q = pose(arm)
    places = link_poses(arm, q)
    root = np.eye(4) if floating else arm.base_pose
    wanted = [((places[p] if p >= 0 else root), T) for p, T in zip(arm.parents, places)]
    lines = skeleton(arm, q)
    for line, (start, end) in zip(lines, wanted):
        np.testing.assert_allclose(line[[0, -1]], [start[:3, 3], end[:3, 3]], atol=1e-12)
    tool = arm.tools[0]
    np.testing.assert_allclose(lines[arm.n][0], places[tool.joint][:3, 3], atol=1e-12)
    np.testing.assert_allclose(lines[arm.n][-1], tool_poses(arm, q)[0][:3, 3], atol=1e-12)
    ends = [k for k in range(arm.n) if k not in {*arm.parents, tool.joint}]
    assert len(lines) == arm.n + 1 + len(ends)
    for line, k in zip(lines[arm.n + 1 :], ends, strict=True):
        np.testing.assert_allclose(line[-1], (places[k] @ [*arm.joints[k].com, 1])[:3], atol=1e-12)


def test_joints_stand_at_zero_or_within_their_limits():
    arm = tree(floating=True)
    q = pose(arm)
    np.testing.assert_array_equal(q[:7], [0, 0, 0, 0, 0, 0, 1])
    for k, i in enumerate(arm.coupling.masters):
        low, high = arm.joints[i].position_limits or (0.0, 0.0)
        assert low <= q[7 + k] <= high and (q[7 + k] == 0 or not low < 0 < high)


def test_what_stands_on_legs_stands_on_the_floor_with_its_feet():
    """Last links without a tool reach to their centres of mass, below all joints."""
    leg = dict(mass=1.0, com=(0.0, 0.0, -0.3), inertia=np.eye(3), parent=-1)
    legs = (dynarm.Joint(gamma=0.0, b=0.1, **leg), dynarm.Joint(gamma=2.0, b=0.1, **leg))
    arm = dynarm.Arm(legs, name="legs", floating=dynarm.Body(mass=5.0, inertia=np.eye(3)))
    picture = drawn(arm)
    ((floor, _, _),) = picture.of("floor")
    drawn_low = [points[:, 2].min() for kind in ("link", "mass") for points, *_ in picture.of(kind)]
    assert np.ptp(floor[:, 2]) == 0 and floor[0, 2] == pytest.approx(min(drawn_low), abs=1e-4)


def test_names_stand_at_the_ends_and_every_joint_tells_its_own():
    arm = tree(floating=True)
    picture = drawn(arm)
    ends = {j.name for k, j in enumerate(arm.joints) if k not in set(arm.parents)}
    assert {e[-1].text for e in picture.of("text")} == ends
    titles = [
        e[-1].find("title").text for kind in ("revolute", "prismatic") for e in picture.of(kind)
    ]
    assert sorted(titles) == sorted(j.name for j in arm.joints)
    discs = [e[-1].find("title").text for e in picture.of("mass")]
    assert discs[0] == f"base: {arm.floating.mass:g} kg" and len(discs) == arm.n + 1


def test_the_sheet_says_what_hangs_on_what_and_follows_what():
    arm = tree(floating=True)
    text = re.sub(r"<[^>]*>", "\n", "".join(map(str, robot_section(arm).parts)))
    words = [w.strip() for w in text.splitlines() if w.strip()]
    follower = next(j for j in arm.joints if j.mimic)
    assert "hangs on" in words and "follows" in words and "gamma, b" in words
    assert any(arm.joints[follower.mimic.joint].name in w and " " in w for w in words)
    assert any("Gravity in the world" in w for w in words)
    row = words[words.index(arm.joints[-1].name, words.index("hangs on")) :]
    parent = arm.parents[-1]
    assert row[1] == ("base" if parent < 0 else arm.joints[parent].name)


def test_inertia_of_a_free_robot_is_that_of_its_joints():
    arm = tree(floating=True)
    text = "".join(map(str, inertia_section(arm).parts))
    assert "with the others and the base held" in text
    assert all(name in text for name in arm.joint_names)
    assert dynarm.compile(arm).arm.nv == len(arm.joint_names) + 6
