"""`dynarm identify` on robots of files: what was found is written back into the file, and nothing else changes."""

from __future__ import annotations

import re

import numpy as np
import pytest
from program import dynarm

import dynarm as library
from dynarm.cli.files import write_log
from dynarm.cli.rehearsal import simulated_log
from dynarm.identify.design.trajectory import Series

BODY = """<inertial>
      <mass value="{m}"/> <origin xyz="0.2 0 0.01"/>
      <inertia ixx="0.01" iyy="0.05" izz="0.05"/>
    </inertial>"""
URDF = """<?xml version="1.0"?>
<!-- drawn by hand -->
<robot name="two">
  <link name="base"/>
  <link name="upper">
    <visual><geometry><box size="0.4 0.1 0.1"/></geometry></visual>
    {upper}
  </link>
  <link name="lower">{lower}</link>
  <link name="hand">{hand}</link>
  <joint name="shoulder" type="revolute">
    <parent link="base"/><child link="upper"/><axis xyz="0 1 0"/>
    <limit lower="-2" upper="2" effort="90" velocity="4"/>
  </joint>
  <joint name="elbow" type="revolute">
    <parent link="upper"/><child link="lower"/><origin xyz="0.4 0 0" rpy="1.5708 0 0"/><axis xyz="0 1 0"/>
    <limit lower="-2" upper="2" effort="90" velocity="4"/>
  </joint>
  <joint name="weld" type="fixed"><parent link="lower"/><child link="hand"/><origin xyz="0.3 0 0"/></joint>
  <transmission name="t"><actuator name="m"/></transmission>
</robot>
"""
TEXT = URDF.format(upper=BODY.format(m=3), lower=BODY.format(m=2), hand=BODY.format(m=0.5))
MASKED = re.compile(r"<inertial>.*?</inertial>|\s*<dynamics [^>]*/>", re.DOTALL)


@pytest.fixture
def place(tmp_path):
    """A robot's file, and a log of the robot as it is, half as heavy again."""
    (tmp_path / "robot.urdf").write_text(TEXT)
    arm = library.load(tmp_path / "robot.urdf")
    real = arm.with_parameters(1.5 * arm.parameters)
    series = Series(10.0, 5)
    t = np.arange(1001) / 100
    x = series.random(np.random.default_rng(5), arm.n) * 0.8
    q, qd, qdd = (B @ x.T for B in series.basis(t))
    write_log(simulated_log(real, t, q, qd, qdd, noise=0.001), tmp_path / "log.csv")
    return tmp_path


@pytest.mark.parametrize("ending", [".urdf", ".xacro"])
def test_identified_parameters_go_back_into_the_file(place, ending):
    words = ["robot.urdf"]
    before = TEXT
    if ending == ".xacro":
        head = '<robot name="two" xmlns:xacro="http://www.ros.org/wiki/xacro">'
        macro = TEXT.replace('<robot name="two">', head).replace('"3"', '"$(arg heavy)"')
        macro = macro.replace(
            '<link name="base"/>', '<xacro:arg name="heavy" default="9"/><link name="base"/>'
        )
        (place / "robot.urdf.xacro").write_text(macro)
        words = ["robot.urdf.xacro", "--xacro", "heavy=3"]
    done = dynarm(
        "identify", *words, "log.csv", "--friction", "none", "--no-armature", folder=place
    )
    assert done.code == 0, done.err
    new = place / "identified" / "identified.urdf"
    if ending == ".urdf":
        assert MASKED.sub("", new.read_text()) == MASKED.sub("", before)
        assert new.read_text() != before
    assert "transmission" in new.read_text() and "drawn by hand" in new.read_text()
    found = library.minimal_parameters(library.load(new))
    own = library.minimal_parameters(library.load(place / "robot.urdf"))
    np.testing.assert_allclose(found.values, 1.5 * own.values, atol=0.02 * np.abs(own.values).max())


GRIPPER = """
  <link name="left">{finger}</link>
  <link name="right">{finger}</link>
  <link name="head"><visual><geometry><sphere radius="0.1"/></geometry></visual>{finger}</link>
  <joint name="open" type="prismatic">
    <parent link="hand"/><child link="left"/><axis xyz="0 1 0"/><limit lower="0" upper="0.5" effort="9" velocity="1"/>
  </joint>
  <joint name="other" type="prismatic">
    <parent link="hand"/><child link="right"/><axis xyz="0 -1 0"/><mimic joint="open" multiplier="1"/>
    <limit lower="0" upper="0.5" effort="9" velocity="1"/>
  </joint>
  <joint name="neck" type="revolute">
    <parent link="base"/><child link="head"/><axis xyz="0 1 0"/><limit lower="-2" upper="2" effort="9" velocity="4"/>
  </joint>
</robot>
"""


@pytest.mark.parametrize("freeze", [{}, {"neck": 0.5}], ids=["whole", "with a neck that is held"])
def test_whole_robots_with_followers_and_held_joints_go_back(tmp_path, freeze):
    """A tree of two branches, a gripper whose second finger follows the first, a joint that is held."""
    text = TEXT.replace("</robot>\n", GRIPPER.format(finger=BODY.format(m=0.2)))
    (tmp_path / "robot.urdf").write_text(text)
    arm = library.load(tmp_path / "robot.urdf", freeze=freeze or True)
    assert arm.n > arm.nv == 4 - len(freeze) and arm.branched
    series, t = Series(10.0, 5), np.arange(1001) / 100
    x = series.random(np.random.default_rng(5), arm.nv) * 0.5
    q, qd, qdd = (B @ x.T for B in series.basis(t))
    real = arm.with_parameters(1.5 * arm.parameters)
    write_log(simulated_log(real, t, q, qd, qdd, noise=0.001), tmp_path / "log.csv")
    held = [word for name, at in freeze.items() for word in ("--freeze", f"{name}={at}")]
    plain = ("--friction", "none", "--no-armature")
    done = dynarm("identify", "robot.urdf", "log.csv", *held, *plain, folder=tmp_path)
    assert done.code == 0, done.err
    new = tmp_path / "identified" / "identified.urdf"
    assert MASKED.sub("", new.read_text()) == MASKED.sub("", text) != new.read_text()
    again = library.load(new, freeze=freeze or True)
    theirs, own = (library.minimal_parameters(one).values for one in (again, real))
    np.testing.assert_allclose(theirs, own, atol=0.03 * np.abs(own).max())
    head = text[text.index('<link name="head">') :].partition("</link>")[0]
    assert (head in new.read_text()) == bool(freeze), "what is held keeps what it had"


MODEL = """<mujoco model="two">
  <!-- drawn by hand -->
  <compiler angle="radian"/>
  <worldbody>
    <body name="upper">
      <joint name="shoulder" axis="0 1 0" range="-2 2" damping="0.5"/>
      <inertial mass="3" pos="0.2 0 0.01" diaginertia="0.01 0.05 0.05"/>
      <geom type="box" size="0.2 0.05 0.05" contype="0"/>
      <body name="lower" pos="0.4 0 0" quat="1 1 0 0">
        <joint name="elbow" axis="0 1 0" range="-2 2"/>
        <inertial mass="2" pos="0.2 0 0.01" diaginertia="0.01 0.05 0.05"/>
      </body>
    </body>
  </worldbody>
  <actuator><motor joint="elbow" gear="3"/></actuator>
</mujoco>
"""
NUMBERS = re.compile(r"<inertial [^>]*/>| (?:damping|frictionloss|armature)=\"[^\"]*\"")


def test_a_model_of_mujoco_goes_back_into_its_own_file(tmp_path):
    (tmp_path / "robot.xml").write_text(MODEL)
    arm = library.load(tmp_path / "robot.xml")
    real = arm.with_parameters(1.5 * arm.parameters)
    series, t = Series(10.0, 5), np.arange(1001) / 100
    x = series.random(np.random.default_rng(5), arm.n) * 0.8
    q, qd, qdd = (B @ x.T for B in series.basis(t))
    write_log(simulated_log(real, t, q, qd, qdd, noise=0.001), tmp_path / "log.csv")
    told = dynarm("identify", "robot.xml", "log.csv", "--out", "out", folder=tmp_path)
    assert "wrote model.toml, identified.xml, fit.toml, report.html, c into out" in told.out
    written = (tmp_path / "out" / "identified.xml").read_text()
    assert NUMBERS.sub("", written) == NUMBERS.sub("", MODEL) and written != MODEL
    back, found = (
        library.load(tmp_path / "out" / "identified.xml"),
        library.load(tmp_path / "out" / "model.toml"),
    )
    np.testing.assert_allclose(
        library.compile(back).inverse_dynamics(q[:9], qd[:9], qdd[:9]),
        library.compile(found).inverse_dynamics(q[:9], qd[:9], qdd[:9]),
        rtol=1e-9,
        atol=1e-9,
    )
