"""Mobile manipulators as TOML: everything comes back, mistakes are named."""

from __future__ import annotations

import numpy as np
import pytest

import dynarm
from dynarm import mobile
from dynarm.errors import DynarmError, FileError, FormatError, KindError, UnknownName
from dynarm.mobile import Friction, MobileManipulator, Wheel
from dynarm.mobile.files import write
from oracles.mobile_machines import MACHINES

GOOD = """
name = "cart"
[platform]
mass = 10.0
inertia = [1, 1, 1]
height = 0.2
[[wheels]]
x = 0.0
y = 0.3
radius = 0.1
[[wheels]]
x = 0.0
y = -0.3
radius = 0.1
[[wheels]]
x = 0.4
y = 0.0
radius = 0.1
kind = "caster"
[base]
mass = 1.0
position = [0.1, 0.0, 0.3]
yaw = 0.5
[arm]
[[arm.joints]]
mass = 1.0
com = [0.1, 0, 0]
inertia = [0.1, 0.1, 0.1]
"""


@pytest.mark.parametrize("name", MACHINES)
def test_everything_comes_back(name, tmp_path):
    robot = MACHINES[name]()
    path = tmp_path / "robot.toml"
    robot.save(path)
    assert mobile.load(path) == robot
    assert write(mobile.load(path)) == write(robot)


def test_friction_and_steering_come_back(tmp_path):
    robot = MACHINES["car"]()
    rough = Friction(viscous=0.1, coulomb=0.2, shape="tanh", viscous_negative=0.3)
    front = Wheel(
        0.6, 0.3, 0.17, 2.0, "ackermann", rolling=rough, swivel=rough, driven=False, name='a "b"\\'
    )
    robot = MobileManipulator(
        robot.platform, (front, *robot.wheels[1:]), robot.base, robot.arm, 1.62, True, "moon"
    )
    path = tmp_path / "robot.toml"
    robot.save(path)
    assert mobile.load(path) == robot
    assert mobile.load(path, friction=False).friction is False


def test_mount_by_position_and_yaw(tmp_path):
    path = tmp_path / "cart.toml"
    path.write_text(GOOD)
    T = mobile.load(path).base.mount_pose
    assert np.allclose(T[:3, 3], [0.1, 0.0, 0.3]) and T[1, 0] == pytest.approx(np.sin(0.5))


def test_arm_by_name_and_by_path(tmp_path):
    head = GOOD[: GOOD.index("[arm]")]
    path = tmp_path / "cart.toml"
    path.write_text('arm = "puma560"\n' + head)
    assert mobile.load(path).arm == dynarm.load("puma560")
    dynarm.load("two_link").save(tmp_path / "small.toml")
    path.write_text('arm = "small.toml"\n' + head)
    assert mobile.load(path).arm == dynarm.load("two_link")


@pytest.mark.parametrize(
    "old, new, words",
    [
        ("mass = 10.0", "mas = 10.0", "did you mean mass"),
        ("mass = 10.0\n", "", "platform has no mass"),
        ("x = 0.4\n", "", "wheel 2 has no x"),
        ('kind = "caster"', 'kind = "roller"', "choose one of"),
        ("yaw = 0.5", "yaw = 0.5\nmount = [[1, 0, 0, 0]]", "give one of the two"),
        ('name = "cart"', "name = cart", "not a TOML file"),
        ('radius = 0.1\nkind = "caster"', 'kind = "caster"', "wheel 2 has no radius"),
        (
            "[arm]\n[[arm.joints]]\nmass = 1.0\ncom = [0.1, 0, 0]\ninertia = [0.1, 0.1, 0.1]\n",
            "",
            "there is no arm",
        ),
        ("[[wheels]]\nx = 0.4", "[wheel]\nx = 0.4", "key in the file 'wheel'"),
        ("[base]", "[base]\nsize = 3", "key in base 'size'"),
        ("height = 0.2", "height = 0.2\nsteering = { y = 0.1 }", "steering has no x"),
    ],
)
def test_mistakes_are_named(old, new, words, tmp_path):
    assert old in GOOD
    path = tmp_path / "cart.toml"
    text = GOOD.replace(old, new, 1)
    path.write_text(text)
    with pytest.raises(DynarmError, match=words) as caught:
        mobile.load(path)
    assert "cart.toml" in str(caught.value)


@pytest.mark.parametrize(
    "name, kind, words",
    [
        ("tanner2002", UnknownName, "did you mean tanner2001"),
        ("missing.toml", FileError, "no such file"),
        ("robot.xml", FormatError, "must end in .toml or .urdf"),
        (3, KindError, "built-in name"),
        ("", KindError, "built-in name"),
    ],
)
def test_unknown_robots(name, kind, words):
    with pytest.raises(kind, match=words):
        mobile.load(name)


def test_wheels_must_be_a_list(tmp_path):
    path = tmp_path / "cart.toml"
    start, end = GOOD.index("[[wheels]]"), GOOD.index("[base]")
    path.write_text("wheels = 3\n" + GOOD[:start] + GOOD[end:])
    with pytest.raises(FormatError, match="one \\[\\[wheels\\]\\] table"):
        mobile.load(path)
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(FormatError, match="not UTF-8 text"):
        mobile.load(path)


def test_folder_that_cannot_be_written(tmp_path):
    with pytest.raises(FileError, match="cannot write"):
        MACHINES["crab"]().save(tmp_path / "nowhere" / "x.toml")
