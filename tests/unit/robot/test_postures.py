"""Whole robots by choice: free bases, tools, joints held anywhere, joints that follow others, and what is refused."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest

import dynarm
from dynarm import Arm, DynarmError, Joint, Mimic, Tool
from dynarm.robot.formats.urdf import arm_of_urdf
from dynarm.robot.formats.whole import MAX_JOINTS
from oracles.example_robots import example_robot
from oracles.pinocchio_urdf import PinocchioUrdf
from oracles.random_trees import tree_urdf
from oracles.tree_by_definition import (
    all_positions,
    coupling_matrix,
    gravity,
    link_motions,
    mass_matrix,
)
from strategies import random_parents, random_pose

EXACT = 1e-12
BODY = '<inertial><mass value="{m}"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'


def link(name: str, mass: float | None = 1.0) -> str:
    return f'<link name="{name}">{BODY.format(m=mass) if mass is not None else ""}</link>'


def joint(name: str, parent: str, child: str, kind: str = "revolute", inside: str = "") -> str:
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="0.1 0 0.2" rpy="0.3 0 0.1"/><axis xyz="0 0 1"/>{inside}</joint>'
    )


def mimic(master: str, multiplier: str = "1", offset: str = "0") -> str:
    return f'<mimic joint="{master}" multiplier="{multiplier}" offset="{offset}"/>'


def read(*parts: str, **options) -> Arm:
    text = f'<robot name="toy">{"".join(parts)}</robot>'
    return arm_of_urdf(text.encode(), "toy.urdf", **options)


TRUNK = (link("base"), link("a"), joint("j1", "base", "a"))
FORK = (  # a trunk that carries two arms of two joints
    *TRUNK,
    *(link(x) for x in ("l1", "l2", "r1", "r2")),
    joint("left1", "a", "l1"),
    joint("left2", "l1", "l2", "prismatic"),
    joint("right1", "a", "r1"),
    joint("right2", "r1", "r2"),
    link("hand", 0.5),
    joint("weld", "l2", "hand", "fixed"),
)


def assert_like_pinocchio(arm: Arm, text: str, seed: int, held=None) -> None:
    rng = np.random.default_rng(seed)
    peer = PinocchioUrdf(text, arm, held)
    base = random_pose(rng) if arm.floating else None
    q = all_positions(arm, rng.uniform(-2, 2, len(arm.joint_names)))
    motions = link_motions(arm, q, base)
    G = coupling_matrix(arm)
    M, g = G.T @ peer.mass_matrix(q, base) @ G, G.T @ peer.gravity(q, base)
    assert np.abs(mass_matrix(arm, motions) - M).max() <= EXACT * max(1.0, np.abs(M).max())
    assert np.abs(gravity(arm, motions) - g).max() <= EXACT * max(1.0, np.abs(M).max())
    for tool in arm.tools or ():
        root = arm.base_pose if base is None else base
        carrier = motions[tool.joint - arm.n].pose if tool.joint >= 0 else root
        theirs = peer.link_pose(tool.name, q, base)
        assert np.abs(carrier @ tool.matrix - theirs).max() <= EXACT * max(1.0, arm.size)


@pytest.mark.parametrize("seed", range(30))
def test_random_trees_like_pinocchio(seed):
    """Branches, slight angles, prismatic joints, couplings, free bases, tools, and joints held anywhere."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 30))
    text = tree_urdf(rng, n, ("generic", "structured", "slight")[seed % 3], mimic=0.2)
    whole = arm_of_urdf(text.encode(), "tree.urdf", snap=False)
    picked = rng.choice(whole.joint_names, min(2, len(whole.joint_names) - 1), replace=False)
    freeze = {str(name): float(rng.uniform(-2, 2)) for name in picked}
    tools = ["l0", f"l{n}", f"end{n}"]
    parts = {"freeze": freeze, "floating": seed % 4 > 1, "tools": tools}
    arm = arm_of_urdf(text.encode(), "tree.urdf", **parts, snap=False)
    assert set(arm.joint_names) == set(whole.joint_names) - set(freeze)
    held = dict(freeze)
    for one in whole.joints:  # followers are held with their master
        master = whole.joints[one.mimic.joint].name if one.mimic else None
        if master in freeze:
            held[one.name] = one.mimic.multiplier * freeze[master] + one.mimic.offset
    assert len(arm.joints) == n - len(held)
    assert_like_pinocchio(arm, text, seed, held)


def test_the_order_is_depth_first_as_in_the_file():
    arm = read(*FORK)
    assert arm.joint_names == ("j1", "left1", "left2", "right1", "right2")
    assert arm.parents == (-1, 0, 1, 0, 3)
    assert arm.origin.links == ("a", "l1", "l2", "r1", "r2")
    assert arm.all_tools == () and arm.branched and not arm.serial
    assert read(*FORK[::-1]).joint_names == ("j1", "right1", "right2", "left1", "left2")


def test_a_subtree_and_its_joints():
    arm = read(*FORK, base="a")
    assert arm.joint_names == ("left1", "left2", "right1", "right2")
    assert arm.parents == (-1, 0, -1, 2) and arm.origin.base_link == "a"
    assert arm.check() == ["frozen at zero: j1 (revolute)"]
    with pytest.raises(DynarmError, match="movable joints off the chain"):
        read(*FORK, base="a", freeze=False)
    names = ["j1", "left1", "left2", "right1", "right2"]
    assert read(*FORK, joints=names).n == 5
    with pytest.raises(DynarmError, match="in another order"):
        read(*FORK, joints=names[::-1])
    assert read(*FORK, joints=names[:3]).joint_names == tuple(names[:3])  # they choose the chain


# ---- free bases


def test_a_free_base_has_the_inertia_of_its_link_and_what_is_fixed_to_it():
    parts = (*FORK, link("pack", 3.0), joint("strap", "base", "pack", "fixed"))
    arm = read(*parts, floating=True)
    assert (arm.nq, arm.nv) == (12, 11)
    assert arm.parameters[0, 0] == 4.0 and arm.parameters.shape == (6, 10)
    assert arm.base_pose.tolist() == np.eye(4).tolist()
    assert "merged into link 'base': pack" in arm.origin.notes
    assert read(*parts).parameters.shape == (5, 10)
    chain = read(*parts, floating=True, tip="hand")
    assert chain.joint_names == ("j1", "left1", "left2") and chain.floating.mass == 4.0
    assert chain.all_tools[0].joint == 2


def test_a_floating_joint_of_the_file_is_a_free_base_if_one_is_asked_for():
    parts = (link("world", None), *FORK, joint("free", "world", "base", "floating"))
    with pytest.raises(
        DynarmError, match=r"'free' .*is floating; choose base='base'.*floating=True"
    ):
        read(*parts)
    arm = read(*parts, floating=True)
    assert arm.origin.base_link == "base" and arm.floating.mass == 1.0
    assert read(*parts, freeze={"free": 0}).n == 5


def test_free_bases_that_are_refused():
    with pytest.raises(DynarmError, match="base link 'w' and what is fixed to it have no inertia"):
        read(link("w", None), link("a"), joint("j", "w", "a"), floating=True)
    two = (*FORK, link("ball"), joint("thrown", "a", "ball", "floating"))
    with pytest.raises(
        DynarmError, match=r"'thrown'.*is floating and so is the base 'base'.*freeze="
    ):
        read(*two, floating=True)
    flat = (*FORK, link("puck"), joint("slides", "a", "puck", "planar"))
    with pytest.raises(
        DynarmError, match=r"'slides'.*is planar; choose base='puck'.*freeze={'slides'"
    ):
        read(*flat)
    assert read(*flat, freeze={"slides": 0}).parameters[0, 0] == 2.0
    with pytest.raises(DynarmError, match="planar and can be held at 0 only"):
        read(*flat, freeze={"slides": 0.1})
    with pytest.raises(DynarmError, match="floating is 1; give True or False"):
        dynarm.load(example_robot("go2.urdf"), floating=1)


# ---- tools


def test_tools_stand_on_the_links_that_carry_them():
    arm = read(*FORK, tools=["hand", "r2", "base"])
    assert [(t.name, t.joint) for t in arm.tools] == [("hand", 2), ("r2", 4), ("base", -1)]
    held = read(*FORK, tools=["r2"], freeze={"right2": 0.4, "right1": 0})
    assert held.tools[0].joint == 0
    with pytest.raises(DynarmError, match="unknown link for tools 'hnd'; did you mean hand"):
        read(*FORK, tools=["hnd"])
    with pytest.raises(DynarmError, match="tool 'r2' does not hang on base 'l1'"):
        read(*FORK, base="l1", tools=["r2"])
    with pytest.raises(DynarmError, match="tools is 'hand'; give a list of names"):
        dynarm.load(example_robot("go2.urdf"), tools="hand")
    with pytest.raises(DynarmError, match="give the name of a link"):
        read(*FORK, tools=[3])
    with pytest.raises(DynarmError, match="names of tools are not unique"):
        read(*FORK, tools=["hand", "hand"])
    for tools in (3, Tool("hand", 0), ["hand"]):
        with pytest.raises(DynarmError, match=r"dynarm\.Tool"):
            Arm([Joint(mass=1.0)], tools=tools)


# ---- joints that are held


def test_held_joints_are_said():
    arm = read(*FORK, freeze={"left2": 0.25, "right1": 0})
    assert arm.joint_names == ("j1", "left1", "right2")
    assert arm.check() == ["held at 0.25: left2 (prismatic)", "frozen at zero: right1 (revolute)"]
    assert arm.parents == (-1, 0, 0)
    chain = read(*FORK, tip="hand", freeze={"right1": 0.5})
    assert chain.joint_names == ("j1", "left1", "left2")
    assert chain.check() == ["held at 0.5: right1 (revolute)", "frozen at zero: right2 (revolute)"]
    assert read(*FORK).check() == []


BAD_FREEZE = {
    "unknown joint in freeze 'lft1'; did you mean left1": {"lft1": 0},
    "'weld', which is fixed already": {"weld": 0},
    "position of joint 'left1' is nan": {"left1": float("nan")},
    "position of joint 'left1' is inf": {"left1": float("inf")},
    "position of joint 'left1' is 'up'": {"left1": "up"},
    "freeze names 3": {3: 0},
    "would be held at 1e": {"left1": 1e99},
    "freeze is 'left1'; give True, False or": "left1",
    "freeze is None": None,
    "every movable joint under link 'base' is held": dict.fromkeys(
        ("j1", "left1", "left2", "right1", "right2"), 0
    ),
}


@pytest.mark.parametrize("message", BAD_FREEZE)
def test_freeze_refuses(message):
    with pytest.raises(DynarmError, match=message):
        read(*FORK, freeze=BAD_FREEZE[message])


# ---- joints that follow others


def followers(*rules: str, **options) -> Arm:
    parts = [link(f"f{i}") for i in range(len(rules))]
    parts += [joint(f"m{i}", "a", f"f{i}", "revolute", rule) for i, rule in enumerate(rules)]
    return read(*TRUNK, *parts, **options)


def test_followers():
    arm = followers(mimic("j1", "-0.5", "0.25"), "")
    assert arm.joint_names == ("j1", "m1")
    assert arm.joints[1].mimic == Mimic(0, -0.5, 0.25)
    ahead = followers(mimic("m1"), "")  # a master may come after it in the file
    assert ahead.joint_names == ("j1", "m1") and ahead.joints[1].mimic == Mimic(2)


def test_followers_that_are_not_coupled():
    tied = followers(mimic("j1", "-0.5", "0.25"), "")
    loose = followers(mimic("j1", "-0.5", "0.25"), "", mimic=False)
    plain = followers("", "")
    assert loose == plain and loose.nv == tied.nv + 1
    (line,) = loose.check()
    assert "move on their own" in line and tied.joints[1].name in line and plain.check() == []
    assert followers(mimic("nowhere"), "", mimic=False) == plain


def test_followers_of_held_joints_are_held():
    arm = followers(mimic("m1", "2", "0.5"), "", freeze={"m1": 0.25})
    assert arm.joint_names == ("j1",)
    assert arm.check() == [
        "held at 1: m0 (revolute, mimic) as it follows 'm1'",
        "held at 0.25: m1 (revolute)",
    ]
    zero = followers(mimic("j1", "0", "0.5"))
    assert zero.check() == ["held at 0.5: m0 (revolute, mimic) as it follows 'j1'"]
    alone = followers(mimic("j1"), freeze={"m0": 0.1})
    assert alone.check() == ["held at 0.1: m0 (revolute, mimic)"]
    chain = followers(mimic("m1", "1", "0.5"), "", tip="f0")  # its master is off the chain
    assert chain.joint_names == ("j1",) and chain.origin.tip_link == "f0"
    assert "held at 0.5: m0 (revolute, mimic) as it follows 'm1'" in chain.check()
    assert followers(mimic("j1"), tip="f0").joints[1].mimic == Mimic(0)
    beside = followers("", mimic("m2", "2"), "", tip="f0", freeze={"m2": 0.5})
    assert "held at 1: m1 (revolute, mimic)" in beside.check()


def test_followers_of_followers():
    """Fingers of a hand: m2 = 3 m1 + 0.3, m1 = 2 m0 + 0.2, m0 = -0.5 j1 + 0.25, in any order in the file."""
    row = mimic("j1", "-0.5", "0.25"), mimic("m0", "2", "0.2"), mimic("m1", "3", "0.3")
    arm = followers(*row, "")
    assert [joint.mimic and joint.mimic.joint for joint in arm.joints] == [None, 0, 0, 0, None]
    factors = [(joint.mimic.multiplier, joint.mimic.offset) for joint in arm.joints[1:4]]
    np.testing.assert_allclose(factors, [(-0.5, 0.25), (-1, 0.7), (-3, 2.4)], rtol=1e-15)
    ahead = followers(mimic("m1", "2", "0.2"), mimic("j1", "-0.5", "0.25"))
    np.testing.assert_allclose(ahead.joints[1].mimic.offset, 0.7, rtol=1e-15)
    held = followers(*row, "", freeze={"m0": 0.1})
    assert held.joint_names == ("j1", "m3")
    assert {"held at 0.4: m1 (revolute, mimic) as it follows 'm0'"} < set(held.check())
    assert "held at 1.5: m2 (revolute, mimic) as it follows 'm0'" in held.check()
    between = followers(*row, "", tip="f2")  # the joint between is off the chain
    assert between.joint_names == ("j1",) and between.joints[1].mimic.multiplier == -3


def test_a_circle_off_the_chain_is_nobodys_concern():
    arm = followers(mimic("m1"), mimic("m0"), "", tip="f2")
    assert arm.joint_names == ("j1", "m2")


def test_followers_of_joints_that_are_not_there_move_on_their_own():
    arm = followers(mimic("jj1"), "")
    assert arm == followers("", "")
    (line,) = arm.check()
    assert line.endswith("these move on their own: 'm0' (to 'jj1')")
    assert "jj1" not in str(followers(mimic("jj1"), "", freeze={"m0": 0}).check())
    assert followers(mimic("jj1"), "", tip="f1").check() == ["frozen at zero: m0 (revolute)"]


BAD_MIMIC = {
    "'m0' mimics itself, by way of 'm0'": [mimic("m0")],
    "'m0' mimics itself, by way of 'm1'": [mimic("m1"), mimic("m0")],
    "'m0' mimics itself, by way of 'm1'; name another joint": [
        mimic("m1"),
        mimic("m2"),
        mimic("m1"),
    ],
    "<mimic> has no joint": ["<mimic/>"],
    "finite number": [mimic("j1", "two")],
    "1 finite number": [mimic("j1", "1", "nan")],
}


@pytest.mark.parametrize("message", BAD_MIMIC)
def test_mimic_joints_that_are_refused(message):
    with pytest.raises(DynarmError, match=message):
        followers(*BAD_MIMIC[message])


def test_couplings_of_records_that_are_refused():
    two = [Joint(name="a"), Joint(name="b", mimic=Mimic("a"))]
    circle = [Joint(name="a", mimic=Mimic("b")), two[1]]
    with pytest.raises(DynarmError, match="'a' mimics itself, by way of 'b'"):
        Arm(circle)
    third = Arm([*two, Joint(mimic=Mimic("b", 2.0, 0.5))]).joints[2]
    assert third.mimic == Mimic(0, 2.0, 0.5)
    for extra, message in (
        (Joint(mimic=Mimic("joint3")), "mimics itself"),
        (Joint(mimic=Mimic("c")), "unknown joint for the mimic joint 'joint3' 'c'"),
        (Joint(mimic=Mimic(2)), "mimics itself"),
        (Joint(mimic=Mimic(9)), "mimics joint 9"),
        (Joint(parent=3), "has parent 3"),
        (Joint(parent=2), "its own parent"),
        (Joint(parent=-2), "has parent -2"),
    ):
        with pytest.raises(DynarmError, match=message):
            Arm([*two, extra])
    with pytest.raises(DynarmError, match="comes after it"):
        Arm([Joint(parent=1), Joint()])
    with pytest.raises(DynarmError, match="at most 256"):
        Arm([Joint(mass=1.0, parent=-1)] * 257)


# ---- trees that are none


def test_trees_that_are_refused():
    with pytest.raises(DynarmError, match="'l2' hangs on two joints, 'left2' and 'closing'"):
        read(*FORK, joint("closing", "r2", "l2"))
    with pytest.raises(DynarmError, match="form a loop"):
        read(*FORK, link("x"), link("y"), joint("xy", "x", "y"), joint("yx", "y", "x"))
    with pytest.raises(DynarmError, match="child 'nowhere', but there is no such link"):
        read(*FORK, joint("lost", "a", "nowhere"))
    with pytest.raises(DynarmError, match="several roots"):
        read(*FORK, link("island"))
    bush = [link("base"), *(link(f"t{i}") for i in range(MAX_JOINTS + 1))]
    twigs = [joint(f"j{i}", "base", f"t{i}") for i in range(MAX_JOINTS + 1)]
    assert read(*bush[:-1], *twigs[:-1]).n == MAX_JOINTS
    with pytest.raises(DynarmError, match=f"the robot has {MAX_JOINTS + 1} joints; at most"):
        read(*bush, *twigs)


def test_links_without_inertia_in_a_tree():
    """Between two joints they are how files write joints of two degrees; at an end they are a mistake."""
    parts = (*FORK, link("cross", None), link("end"), joint("u1", "a", "cross"))
    arm = read(*parts, joint("u2", "cross", "end"))
    assert arm.n == 7 and not arm.parameters[5].any()
    with pytest.raises(DynarmError, match=r"moving link 'cross' and what is carried by it has no"):
        read(*FORK, link("cross", None), joint("u1", "a", "cross"))
    lax = read(*FORK, link("cross", None), joint("u1", "a", "cross"), allow_massless=True)
    assert lax.check() == [
        "joint 'u1' moves no inertia about its axis: the mass matrix is singular"
    ]


def test_doubts_of_trees():
    massive, idle = {"mass": 1.0, "inertia": np.eye(3)}, {}
    forked = Arm([Joint(**massive), Joint(name="x", **idle), Joint(parent=0, **massive)])
    assert [text.split("'")[1] for text in forked.check()] == ["x"]
    carrying = Arm([Joint(**idle), Joint(**massive), Joint(parent=0, **massive)])
    assert carrying.check() == []
    led = Arm([Joint(**massive), Joint(**idle), Joint(parent=0, mimic=Mimic(1), **massive)])
    assert led.check() == []  # a follower gives its master inertia
    odd = dynarm.Body(mass=1.0, inertia=np.diag([1.0, 1.0, 9.0]))
    assert "free base: principal moments" in Arm([Joint(**massive)], floating=odd).check()[0]


ODD = ("nan", "1e308", "-1e50", "1e-320", "0", "1e20", "-0.0", "1e-160", "0.5")
NAMES = ("", "l0", "l2", "j1", "j3", "floating", "fixed", "planar", "revolute", "x" * 2000)


def damaged(rng: np.random.Generator, text: str) -> str:
    """One number, or now and then one name, replaced."""
    names = rng.random() < 0.3
    pattern = r'(?<=")[a-z]+[0-9]*(?=")' if names else r"-?[0-9]+\.[0-9]+(e-?[0-9]+)?"
    places = [match.span() for match in re.finditer(pattern, text)]
    start, end = places[rng.integers(len(places))]
    words = NAMES if names else ODD
    return text[:start] + words[rng.integers(len(words))] + text[end:]


@pytest.mark.parametrize("seed", range(3))
def test_damaged_trees_are_read_or_refused(seed):
    """Whatever is changed in a tree's file, the answer is an arm or a DynarmError of one line, without warnings."""
    rng = np.random.default_rng(seed)
    kept = refused = 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(80):
            text = tree_urdf(rng, 6, ("generic", "slight", "structured")[seed], mimic=0.5)
            for _ in range(int(rng.integers(1, 4))):
                text = damaged(rng, text)
            try:
                arm = arm_of_urdf(
                    text.encode(), "t.urdf", floating=bool(rng.integers(2)), freeze={"j2": 0.5}
                )
                assert np.isfinite(arm.parameters).all()
                kept += 1
            except DynarmError as error:
                assert str(error).isprintable() and len(str(error)) < 3000
                refused += 1
    assert kept > 10 and refused > 10


def test_parents_of_random_trees_come_first():
    parents = random_parents(np.random.default_rng(0), 50)
    assert all(p < i for i, p in enumerate(parents))
