"""What is read of MJCF, what is left out and said, and what is refused by name."""

from __future__ import annotations

import numpy as np
import pytest

import dynarm
from dynarm import DynarmError
from dynarm.cli.app import run

LINK = '<inertial pos="0 0 .1" mass="1" diaginertia=".1 .1 .1"/>'
HINGE = f'<body name="{{0}}">{LINK}<joint name="{{0}}_joint" {{1}}/>{{2}}</body>'
FREE = f'<body name="{{0}}"><freejoint/>{LINK}{{1}}</body>'
TWO = HINGE.format("one", "", HINGE.format("two", "", '<site name="tcp" pos="0 0 .3"/>'))


def loaded(folder, body, rest="", **how):
    path = folder / "robot.xml"
    path.write_text(f'<mujoco model="toy">{rest}<worldbody>{body}</worldbody></mujoco>')
    return dynarm.load(path, **how)


def test_drives_limits_and_gravity(tmp_path):
    said = 'range="-90 90" damping=".3" armature=".02" frictionloss=".4"'
    motor = '<actuator><motor joint="one_joint" gear="2" forcerange="-3 5"/></actuator>'
    option = '<option gravity="0 1 -3"/>'
    arm = loaded(tmp_path, HINGE.format("one", said, ""), option + motor)
    (joint,) = arm.joints
    assert arm.gravity == (0, 1, -3) and joint.armature == 0.02 and joint.effort_limit == 10
    assert (joint.friction.viscous, joint.friction.coulomb) == (0.3, 0.4)
    assert joint.position_limits == pytest.approx((-np.pi / 2, np.pi / 2))


def test_tools_are_bodies_and_sites(tmp_path):
    arm = loaded(tmp_path, TWO, tools=["tcp", "one"])
    assert [tool.name for tool in arm.tools] == ["tcp", "one"]
    poses = dynarm.compile(arm).forward_kinematics(np.zeros(2))
    assert poses[0][:3, 3] == pytest.approx([0, 0, 0.3]) and poses[1] == pytest.approx(np.eye(4))
    assert loaded(tmp_path, TWO, tip="one").joint_names == ("one_joint",)
    assert loaded(tmp_path, TWO, freeze={"one_joint": 0.5}).joint_names == ("two_joint",)


def test_gravity_in_the_axes_of_a_base_that_hangs(tmp_path):
    hung = TWO.replace('<body name="one">', '<body name="one" euler="180 0 0">')
    assert loaded(tmp_path, hung, base="one").gravity == pytest.approx((0, 0, 9.81))


@pytest.mark.parametrize(
    ("floating", "free"), [(None, True), (True, True), (False, False)], ids=str
)
def test_a_free_joint_is_a_free_base(tmp_path, floating, free):
    arm = loaded(tmp_path, FREE.format("torso", TWO), floating=floating)
    assert (arm.floating is not None) == free and arm.joint_names == ("one_joint", "two_joint")


def test_a_standing_robot_can_be_made_free(tmp_path):
    body = f'<body name="torso">{LINK}{TWO}</body>'
    assert loaded(tmp_path, body).floating is None
    assert loaded(tmp_path, body, floating=True).floating.mass == 1


def test_free_things_beside_a_robot_are_left_out(tmp_path):
    arm = loaded(tmp_path, TWO + FREE.format("cube", ""))
    assert arm.nv == 2 and any("cube" in line for line in arm.check())


LEFT_OUT = {
    "connect": (TWO, '<equality><connect body1="two" anchor="0 0 0"/></equality>', "connect"),
    "spring": (HINGE.format("one", 'stiffness="3"', ""), "", "springs of joints 'one_joint'"),
    "fluid": (TWO, '<option density="1000"/>', "density 1000"),
    "compensation": (
        TWO.replace('"two">', '"two" gravcomp="1">'),
        "",
        "compensation of bodies 'two'",
    ),
    "tendon": (
        TWO,
        '<tendon><fixed name="t" stiffness="2"><joint joint="two_joint" coef="1"/></fixed></tendon>',
        "tendon 't' (stiffness)",
    ),
}


@pytest.mark.parametrize("case", LEFT_OUT)
def test_what_is_left_out_is_said(case, tmp_path):
    body, rest, word = LEFT_OUT[case]
    assert any(word in line for line in loaded(tmp_path, body, rest).check())
    assert loaded(tmp_path, TWO).check() == []


CURVE = '<equality><joint joint1="two_joint" joint2="one_joint" polycoef="0 1 2 0 0"/></equality>'
HEAVY = '<tendon><fixed name="t" armature="1"><joint joint="one_joint" coef="1"/></fixed></tendon>'
REFUSED = {
    "ball": (HINGE.format("one", 'type="ball"', TWO.replace("one", "x")), "", "'one_joint'.*ball"),
    "heavy tendon": (TWO, HEAVY, r"tendon 't' has armature.*mimic=False"),
    "two free": (
        FREE.format("a", TWO) + FREE.format("b", HINGE.format("x", "", "")),
        "",
        "base='a'",
    ),
    "nothing": ("", "", "no joint moves"),
    "soft": ('<flexcomp name="f" type="grid" count="2 2 1"/>', "", "flexcomp"),
    "outside": (TWO, '<include file="../secret.xml"/>', "not below its own folder"),
    "root": (TWO, '<include file="/etc/passwd"/>', "not below its own folder"),
    "twice": (TWO, '<include file="o.xml"/><include file="o.xml"/>', "included twice"),
    "nonsense": ("<bodyy/>", "", "MuJoCo refuses"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused_is_named(case, tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "o.xml").write_text('<mujoco><option gravity="0 0 -1"/></mujoco>')
    (tmp_path / "secret.xml").write_text("<mujoco/>")
    body, rest, word = REFUSED[case]
    with pytest.raises(DynarmError, match=word):
        loaded(tmp_path / "in", body, rest)


def test_joints_on_a_curve_move_on_their_own_or_are_held(tmp_path):
    arm = loaded(tmp_path, TWO, CURVE)
    assert arm.coupling.free and arm.n == 2 and "on a curve" in arm.check()[0]
    assert loaded(tmp_path, TWO, CURVE, freeze={"two_joint": 0}).joint_names == ("one_joint",)


def test_the_command_line_names_no_keywords(tmp_path, capsys):
    path = tmp_path / "robot.xml"
    path.write_text(f"<mujoco><worldbody>{TWO}</worldbody>{HEAVY}</mujoco>")
    assert run(["info", str(path)]) == 2
    said = capsys.readouterr().err
    assert "--no-mimic" in said and "mimic=" not in said
    assert run(["info", str(path), "--no-mimic"]) == 0
    assert "tendon 't' (armature)" in capsys.readouterr().out


def test_entities_are_refused(tmp_path):
    (tmp_path / "e.xml").write_text('<!DOCTYPE m [<!ENTITY a "b">]><mujoco/>')
    with pytest.raises(DynarmError, match="entity"):
        dynarm.load(tmp_path / "e.xml")


def test_meshes_are_needed_only_for_inertias(tmp_path):
    asset = '<asset><mesh file="gone.stl"/></asset>'
    shown = HINGE.format("one", "", '<geom type="mesh" mesh="gone"/>')
    assert loaded(tmp_path, shown, asset).nv == 1
    bare = '<body name="bare"><joint/><geom type="mesh" mesh="gone"/></body>'
    with pytest.raises(DynarmError, match=r"gone\.stl.*'bare'"):
        loaded(tmp_path, bare, asset)


def test_includes_are_taken_below_the_folder(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a.xml").write_text('<mujoco><include file="b.xml"/></mujoco>')
    (tmp_path / "sub" / "b.xml").write_text('<mujoco><option gravity="0 0 -1"/></mujoco>')
    assert loaded(tmp_path, TWO, '<include file="sub/a.xml"/>').gravity == (0, 0, -1)


def test_files_of_a_folder_that_the_user_names(tmp_path, capsys):
    """Scenes that people share include from a folder beside their own; what is written back goes there too."""
    (tmp_path / "own").mkdir()
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "a.xml").write_text('<mujoco><option gravity="0 0 -1"/></mujoco>')
    above = '<include file="../parts/a.xml"/>'
    with pytest.raises(DynarmError, match=r"holds both: packages=\{'name': 'folder'\}"):
        loaded(tmp_path / "own", TWO, above)
    both = {"scene": tmp_path}
    arm = loaded(tmp_path / "own", TWO, above, packages=both)
    assert arm.gravity == (0, 0, -1)
    path, new = tmp_path / "own" / "robot.xml", tmp_path / "own" / "new.xml"
    heavier = arm.with_parameters(1.5 * arm.parameters)
    heavier.update_mjcf(path, new, packages=both)
    again = dynarm.load(new, packages={"parts": tmp_path / "parts"})
    np.testing.assert_allclose(again.parameters, heavier.parameters, rtol=1e-13, atol=1e-14)
    assert run(["info", str(path), "--package", f"scene={tmp_path}"]) == 0
    assert run(["info", str(path), "--package", f"scene={tmp_path / 'own'}"]) == 2
    assert "not below its own folder" in capsys.readouterr().err
    with pytest.raises(DynarmError, match="the whole disk"):
        dynarm.load(path, packages={"all": "/"})
