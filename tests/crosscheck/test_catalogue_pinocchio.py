"""Built-in robots against pinocchio reading the files that they come from, where the wheel example-robot-data has them.

Angles that those files round are written out in full first; hands that the catalogue leaves out are cut off.
"""

from __future__ import annotations

import math
from xml.etree import ElementTree

import numpy as np
import pytest

import dynarm
from oracles.example_robots import example_robot, robots_folder
from oracles.pinocchio_urdf import PinocchioUrdf, whole_urdf
from oracles.scene_numbers import numbers_of, scene_of
from oracles.tree_errors import ORACLE, RELATIVE, apart
from strategies import whole_state

SOURCES = {
    "panda": "panda.urdf",
    "xarm7": "xarm7.urdf",
    "so101": "so101.urdf",
    "solo12": "solo12.urdf",
    "anymal_c": "anymal_c_simple_description/urdf/anymal.urdf",
    "go2": "go2.urdf",
    "g1": "g1_29dof_rev_1_0.urdf",
    "talos": "talos_reduced.urdf",
}
CUT_OFF = {"panda": "panda_hand"}
QUANTITIES = ("inverse_dynamics", "mass_matrix", "gravity", "kinetic_energy")


def source(name: str) -> str:
    """The file's text, rounded right angles exact, without the hand."""
    file = SOURCES[name]
    path = robots_folder() / file if "/" in file else example_robot(file)
    root = ElementTree.fromstring(path.read_bytes())
    for origin in root.iter("origin"):
        if origin.get("rpy"):
            origin.set("rpy", " ".join(map(exact, origin.get("rpy", "").split())))
    gone = {CUT_OFF.get(name, "")}
    for _ in root.iter("joint"):
        gone |= {end(j, "child") for j in root.findall("joint") if end(j, "parent") in gone}
    for part in list(root):
        if part.get("name") in gone or (part.tag == "joint" and end(part, "child") in gone):
            root.remove(part)
    return ElementTree.tostring(root, encoding="unicode")


def end(joint: ElementTree.Element, which: str) -> str:
    link = joint.find(which)
    return "" if link is None else str(link.get("link"))


def exact(text: str) -> str:
    value = float(text)
    turns = round(value / (math.pi / 2))
    near = abs(value - turns * math.pi / 2) < 1e-5
    return repr(turns * math.pi / 2 if near else value)


@pytest.mark.parametrize("name", SOURCES)
def test_torques_are_those_of_the_source(name):
    arm, text = dynarm.load(name), source(name)
    P = whole_urdf(text, arm)
    s = whole_state(np.random.default_rng(3), arm)
    scene = scene_of(arm, {k: x for k, x in s.items() if k != "wrench"})
    for word in QUANTITIES:
        assert apart(numbers_of(scene, word), ORACLE[word](P, s)) <= RELATIVE, word


@pytest.mark.parametrize("name", SOURCES)
def test_tools_stand_where_the_source_has_them(name):
    arm = dynarm.load(name)
    P = PinocchioUrdf(source(name), arm)
    q = np.random.default_rng(4).uniform(-1, 1, arm.n)
    frames = []
    for joint, parent, position in zip(arm.joints, arm.parents, q, strict=True):
        before = frames[parent] if parent >= 0 else arm.base_pose
        frames.append(before @ joint.displacement(position))
    links = [tool.name for tool in arm.tools] if arm.tools else [arm.origin.tip_link]
    world = np.eye(4) if arm.floating else None
    for tool, link in zip(arm.all_tools, links, strict=True):
        place = frames[tool.joint] @ tool.matrix
        np.testing.assert_allclose(place, P.link_pose(link, q, world), atol=1e-12)


@pytest.mark.parametrize("name", SOURCES)
def test_links_are_those_of_the_source_number_by_number(name):
    """Also what no torque shows, such as where the first link of an upright arm has its centre."""
    arm = dynarm.load(name)
    P = PinocchioUrdf(source(name), arm)
    first = [1] if arm.floating else []
    theirs = [P.model.inertias[i].toDynamicParameters() for i in (*first, *P.order)]
    scale = np.abs(theirs).max()
    np.testing.assert_allclose(arm.urdf_parameters, theirs, atol=1e-14 * max(1.0, scale))
