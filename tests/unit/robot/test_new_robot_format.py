"""A new robot format is a reader, a writer and one record: load, save, messages and the command line know it."""

from __future__ import annotations

import json

import numpy as np
import pytest

import dynarm
from dynarm import DynarmError
from dynarm.cli.app import run
from dynarm.robot import files
from dynarm.robot.files import RobotFormat
from dynarm.robot.formats.toml_file import read_toml, write_toml
from dynarm.robot.formats.urdf import arm_of_urdf

ARM = dynarm.load("scara")
LINKS = """<robot name="toy"><link name="ground"/>{}</robot>"""
LINK = """<link name="{0}"><inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>
</inertial></link><joint name="to_{0}" type="revolute"><parent link="{1}"/><child link="{0}"/><axis xyz="0 1 0"/>
<limit effort="1" velocity="1" lower="-1" upper="1"/></joint>"""


def backwards(text: str) -> str:
    return text[::-1]


def read_backwards(content, source, chosen):
    assert chosen == {}
    return read_toml(backwards(content.decode()).encode(), source)


def read_shouted(content, source, chosen):
    """A format with links to choose from: a URDF in capitals."""
    return arm_of_urdf(content.lower(), source, **chosen)


TOY = RobotFormat(".toy", read_backwards, lambda arm: backwards(write_toml(arm)), most=4000)
SHOUTED = RobotFormat(".world", read_shouted, parts=True)


@pytest.fixture(autouse=True)
def table():
    before = dict(files.FORMATS)
    with files.extended(TOY, SHOUTED):
        yield
    assert list(before.items()) == list(files.FORMATS.items())


@pytest.fixture
def robot(tmp_path):
    ARM.save(tmp_path / "arm.TOY")
    return tmp_path / "arm.TOY"


def test_robots_are_saved_and_loaded(robot):
    assert robot.read_text() == backwards(write_toml(ARM))
    assert dynarm.load(robot) == ARM
    turned = dynarm.load(robot, gravity=(0.0, 0.0, -1.62), joints=ARM.joint_names, strict=True)
    assert turned.gravity == (0.0, 0.0, -1.62)
    q = np.array([0.1, 0.2, 0.05, 0.3])
    np.testing.assert_array_equal(
        dynarm.compile(dynarm.load(robot)).gravity(q), dynarm.compile(ARM).gravity(q)
    )


def test_what_is_refused_for_other_files_is_refused(robot, tmp_path):
    with pytest.raises(DynarmError, match="base and tip choose a chain of a URDF"):
        dynarm.load(robot, tip="hand")
    with pytest.raises(DynarmError, match="floating, tools and freeze choose parts of a URDF"):
        dynarm.load(robot, floating=True)
    with pytest.raises(DynarmError, match="joints is"):
        dynarm.load(robot, joints=["one"])
    robot.write_text(robot.read_text() + " " * 4000)
    with pytest.raises(DynarmError, match="4000"):
        dynarm.load(robot)
    with pytest.raises(DynarmError, match="no such file"):
        dynarm.load(tmp_path / "other.toy")


def test_parts_are_chosen_where_there_are_links(tmp_path):
    path = tmp_path / "robot.world"
    path.write_text(LINKS.format(LINK.format("one", "ground") + LINK.format("two", "one")).upper())
    assert dynarm.load(path).joint_names == ("to_one", "to_two")
    near = dynarm.load(path, tip="one", gravity=(0.0, 0.0, -1.0), tools=["one"])
    assert near.joint_names == ("to_one",) and near.gravity == (0.0, 0.0, -1.0)
    with pytest.raises(DynarmError, match="cannot save"):
        near.save(path)


def test_messages_name_it(tmp_path):
    with pytest.raises(
        DynarmError, match=r"ending in \.urdf, \.toml, \.xacro, \.xml, \.mjcf, \.world or \.toy"
    ):
        dynarm.load("robot.step")
    with pytest.raises(
        DynarmError, match=r"end the name in \.urdf, \.toml, \.xml, \.mjcf or \.toy"
    ):
        ARM.save(tmp_path / "arm.step")


def test_the_command_line_reads_it(robot, capsys):
    assert run(["info", str(robot), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert run(["info", "scara", "--json"]) == 0
    built_in = json.loads(capsys.readouterr().out)
    assert told.pop("about") == {} and built_in.pop("about")
    assert told == built_in


def test_it_is_gone_with_its_context(tmp_path):
    other = RobotFormat(".other", TOY.read, TOY.write)
    with files.extended(other):
        ARM.save(tmp_path / "arm.other")
        with pytest.raises(ValueError, match="already"), files.extended(other):
            pass
    with pytest.raises(DynarmError, match="neither a built-in robot"):
        dynarm.load(tmp_path / "arm.other")
