"""Whole robots written and read again: TOML bit by bit, URDF with the same dynamics."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest

import dynarm
from dynarm import Arm, Body, DynarmError, Joint, Mimic, Tool
from dynarm.robot.formats.toml_file import read_toml
from dynarm.robot.formats.urdf import arm_of_urdf
from oracles.example_robots import example_robot
from oracles.random_trees import tree_urdf
from oracles.tree_by_definition import (
    all_positions,
    coupling_matrix,
    gravity,
    link_motions,
    mass_matrix,
    spatial_inertia,
)
from strategies import random_body, random_pose

EXACT = 1e-12
REAL = ("talos_full_v2.urdf", "tiago_dual.urdf", "go2.urdf", "panda.urdf", "baxter.urdf")


def tool_poses(arm: Arm, motions, base: np.ndarray) -> list[np.ndarray]:
    """Of each tool in the user's base link, or in the world of a free base."""
    moving = motions[-arm.n :]
    return [(moving[t.joint].pose if t.joint >= 0 else base) @ t.matrix for t in arm.all_tools]


def assert_same_dynamics(arm: Arm, again: Arm, rng: np.random.Generator) -> None:
    """In a random pose, whatever the internal frames are."""
    assert again.joint_names == arm.joint_names and again.parents == arm.parents
    base = random_pose(rng) if arm.floating else None
    y = rng.uniform(-2, 2, len(arm.joint_names))
    answers = []
    for one in (arm, again):
        motions = link_motions(one, all_positions(one, y), base)
        root = one.base_pose if base is None else base
        answers.append(
            [mass_matrix(one, motions), gravity(one, motions), *tool_poses(one, motions, root)]
        )
    assert len(answers[0]) == len(answers[1])
    for ours, theirs in zip(*answers, strict=True):
        assert np.abs(ours - theirs).max() <= EXACT * max(1.0, np.abs(ours).max(), arm.size)


def random_whole(seed: int) -> Arm:
    """A random tree with a tool at a weld and one on a link, on a free base now and then."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 15))
    style = ("generic", "structured", "slight")[seed % 3]
    text = tree_urdf(rng, n, style, mimic=0.3)
    tools = [f"l{int(rng.integers(0, n + 1))}", f"end{n}"]
    return arm_of_urdf(text.encode(), "tree.urdf", floating=bool(seed % 2), tools=tools, snap=False)


def again_from_urdf(arm: Arm, path) -> Arm:
    arm.save(path)
    tools = None if arm.tools is None else [tool.name for tool in arm.tools]
    parts = {"floating": arm.floating is not None, "tools": tools}
    return dynarm.load(path, **parts, allow_massless=True, snap=False)


@pytest.mark.parametrize("seed", range(24))
def test_random_trees_are_saved(tmp_path, seed):
    arm = random_whole(seed)
    rng = np.random.default_rng(seed)
    arm.save(tmp_path / "tree.toml")
    same = dynarm.load(tmp_path / "tree.toml")
    assert same == arm and same.origin == arm.origin
    again = again_from_urdf(arm, tmp_path / "tree.urdf")
    assert_same_dynamics(arm, again, rng)
    assert again.origin.links == arm.origin.links
    # without an origin the links stand in the internal frames
    bare = replace(arm, origin=None)
    assert_same_dynamics(bare, again_from_urdf(bare, tmp_path / "bare.urdf"), rng)


@pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])
@pytest.mark.parametrize("name", REAL)
def test_real_robots_are_saved(tmp_path, name, floating):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        arm = dynarm.load(example_robot(name), floating=floating)
        arm = replace(arm, tools=(Tool(arm.origin.links[-1], arm.n - 1, None),))
        arm.save(tmp_path / "r.toml")
        assert dynarm.load(tmp_path / "r.toml") == arm
        arm = replace(arm, tools=None)
        again = again_from_urdf(arm, tmp_path / "r.urdf")
    assert_same_dynamics(arm, again, np.random.default_rng(1))


def hand_made() -> Arm:
    mass, com, inertia = random_body(np.random.default_rng(0))
    body = {"mass": mass, "com": com, "inertia": inertia}
    joints = [
        Joint(name="trunk", **body),
        Joint(name="left", gamma=0.3, b=0.2, a=0.1, alpha=1.0, **body),
        Joint(name="right", parent=0, gamma=-0.3, b=-0.2, mimic=Mimic("left", -2.0, 0.1), **body),
        Joint("prismatic", name="tail", parent=-1, **body),
    ]
    return Arm(
        joints,
        floating=Body(**body),
        tools=[Tool("hand", 1, random_pose(np.random.default_rng(1)))],
    )


def test_a_tree_by_hand_in_toml(tmp_path):
    arm = hand_made()
    arm.save(tmp_path / "x.toml")
    text = (tmp_path / "x.toml").read_text()
    assert 'parent = "trunk"' in text and "parent = -1" in text
    assert 'mimic = { joint = "left", multiplier = -2.0, offset = 0.1 }' in text
    assert dynarm.load(tmp_path / "x.toml") == arm
    by_index = text.replace('parent = "trunk"', "parent = 0").replace('joint = "left"', "joint = 1")
    assert read_toml(by_index.encode(), "x.toml") == arm
    degrees = "[[joints]]\n[[joints]]\n[[joints]]\nparent = 'joint1'\ngamma = '90 deg'\nb = 1\n"
    forked = read_toml(degrees.encode(), "x.toml")
    assert forked.parents == (-1, 0, 0) and forked.joints[2].gamma == np.pi / 2


def test_no_tools_and_none_said_are_two_things(tmp_path):
    for tools in (None, ()):
        arm = Arm([Joint(mass=1.0), Joint(a=1.0, mass=1.0)], tools=tools)
        arm.save(tmp_path / "x.toml")
        assert dynarm.load(tmp_path / "x.toml").tools == tools


def test_a_tool_named_as_another_link_is_renamed(tmp_path):
    arm = random_whole(4)
    pose = random_pose(np.random.default_rng(0))
    odd = replace(arm, tools=[Tool("l1", 1, pose), Tool("l1_", 0, pose)])
    odd.save(tmp_path / "x.urdf")
    text = (tmp_path / "x.urdf").read_text()
    assert "tools=['l1_', 'l1__']" in text
    again = dynarm.load(tmp_path / "x.urdf", tools=["l1_", "l1__"])
    assert_same_dynamics(odd, again, np.random.default_rng(1))


HEAD = "[[joints]]\nname = 'a'\n[[joints]]\nname = 'b'\n"
REFUSED = {
    "parent = 'c'": "unknown joint 2: parent 'c'",
    "parent = 1": "'b' is its own parent",
    "parent = 7": "'b' .index 1. has parent 7",
    "parent = true": "parent is True",
    "parent = 0.5": "parent is 0.5",
    "mimic = 3": "mimic is 3; give a table",
    "mimic = {}": "mimic has no joint",
    "mimic = { joint = 'c' }": "unknown joint for the mimic joint 'b' 'c'",
    "mimic = { joint = 'b' }": "mimics itself",
    "mimic = { joint = 'a', multiplier = 0 }": "multiplier is 0; hold the joint",
    "mimic = { joint = 'a', factor = 2 }": "unknown key in joint 2: mimic 'factor'",
    "mimic = { joint = [] }": "mimic joint is",
    "[floating]\nweight = 3": "unknown key in floating 'weight'",
    "[floating]\nmass = -1": "mass cannot be negative",
    "[floating]\nmass = 1\n[[floating]]": "not valid TOML|already|overwrite",
    "[[tools]]\nname = 'x'": "tool 1 has no joint",
    "[[tools]]\nname = 'x'\njoint = 'c'": "unknown tool 1: joint 'c'",
    "[[tools]]\nname = 'x'\njoint = 2": "tool 'x' is on joint 2",
    "[[tools]]\nname = ''\njoint = 1": "name is ''",
    "[[tools]]\nname = 'x'\njoint = 1\npose = [1]": "shape",
    "[tools]\nname = 'x'": r"give \[\[tools\]\] tables",
}


@pytest.mark.parametrize("text", REFUSED)
def test_refused_in_toml(text):
    with pytest.raises(DynarmError, match=REFUSED[text]):
        read_toml((HEAD + text + "\n").encode(), "x.toml")


@pytest.mark.parametrize("row", ["parent = -1", "gamma = 1", "b = 1"])
def test_the_classic_convention_has_no_branches(row):
    text = "convention = 'classic'\n" + HEAD + row + "\n"
    with pytest.raises(DynarmError, match="classic convention is one of chains"):
        read_toml(text.encode(), "x.toml")
    for part in ("[floating]\nmass = 1\n", "[[tools]]\nname = 'x'\njoint = 0\n"):
        with pytest.raises(DynarmError, match="goes with convention = 'modified'"):
            read_toml(("convention = 'classic'\n" + HEAD + part).encode(), "x.toml")


# ---- the records as a whole


def test_payloads_and_parameters_of_whole_robots():
    arm = hand_made()
    rng = np.random.default_rng(3)
    mass, com, inertia = random_body(rng)
    loaded = arm.with_payload(mass, com, inertia, tool="hand")
    motions = link_motions(loaded, all_positions(loaded, [0.1, 0.2, 0.3]), np.eye(4))
    before = mass_matrix(arm, motions)
    hand = arm.tools[0].matrix
    carried = Body(mass, com, inertia)
    J = motions[2].jacobian  # of the link of joint 1, behind the base's
    R, p = hand[:3, :3], hand[:3, 3]
    across = np.array([[0, -p[2], p[1]], [p[2], 0, -p[0]], [-p[1], p[0], 0]])
    J = np.vstack([R.T @ (J[:3] - across @ J[3:]), R.T @ J[3:]])
    G = coupling_matrix(arm)
    added = G.T @ J.T @ spatial_inertia(carried.parameters) @ J @ G
    assert np.allclose(mass_matrix(loaded, motions), before + added, rtol=0, atol=1e-12 * 100)
    with pytest.raises(DynarmError, match="unknown tool 'hnd'; did you mean hand"):
        arm.with_payload(1.0, tool="hnd")
    with pytest.raises(DynarmError, match="has 0 tools; load it with tools="):
        replace(arm, tools=()).with_payload(1.0)
    table = 2 * arm.parameters
    twice = arm.with_parameters(table)
    assert np.array_equal(twice.parameters, table) and twice.floating.mass == 2 * arm.floating.mass
    assert twice.link_names == ("base", "trunk", "left", "right", "tail")
    on_base = replace(arm, tools=[Tool("eye", -1)])
    assert on_base.with_payload(3.0).parameters[0, 0] == arm.parameters[0, 0] + 3.0


def test_a_tree_on_the_screen():
    arm = hand_made()
    assert (
        repr(arm)
        == "<dynarm.Arm 'arm', 4 joints RRRP, tree of 3 ends, 1 following others, free base>"
    )
    text = str(arm)
    assert "4 joints, tree of 3 ends, 1 following others, free base, gravity" in text
    head, *rows = (line.split() for line in text.splitlines()[1:])
    assert "parent" in head and "follows" in head
    assert any(row[:2] == ["base", "free"] for row in rows)
    assert any(row[:2] == ["right", "trunk"] and "left" in row for row in rows)
    assert "<td>base</td>" in arm._repr_html_() or "base" in arm._repr_html_()
    chain = str(dynarm.load("scara"))
    assert "parent" not in chain and "follows" not in chain and "tree" not in chain
