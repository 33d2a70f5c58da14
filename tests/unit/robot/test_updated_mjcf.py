"""MJCF models with other numbers in them: nothing else moves, and MuJoCo reads the arm's numbers."""

from __future__ import annotations

import difflib
from dataclasses import replace

import numpy as np
import pytest

import dynarm
from dynarm import DynarmError, DynarmWarning, Friction

TEXT = b"""<?xml version="1.0"?>
<!-- a robot of others -->
<mujoco model='toy'>\r
  <compiler angle="degree" meshdir="meshes"/>
  <default><joint damping=".5" armature=".1"/><geom density="200"/>
    <default class="soft"><joint damping=".1"/></default></default>
  <asset><mesh file="gone.stl"/></asset>
  <worldbody>
    <body name="upper"   pos="0 0 1" >  <!-- odd   blanks -->
      <inertial mass="2" pos="0 0 .1"
        diaginertia=".03 .04 .05" euler="10 20 30"/>
      <joint name="a" axis="0 1 0" pos="0 .1 0" frictionloss="0.2"/>
      <geom type='mesh' mesh="gone"/>
      <body name="lower" pos=".4 0 0">
        <joint class="soft" name='b' axis="0 1 0"/><joint name="c" type="slide" axis="1 0 0"/>
        <geom type="capsule" size=".05" fromto="0 0 0 0 0 .3"/>
        <body name="hand" pos="0 0 .3"><inertial pos="0 0 .05" mass=".25" fullinertia="1e-3 2e-3 2e-3 1e-4 0 0"/></body>
        <body><joint name="tip"/><geom size=".1"/></body>
      </body>
    </body>
  </worldbody>
</mujoco>
"""


def written(folder, text=TEXT, name="robot.xml"):
    path = folder / name
    path.write_bytes(text)
    return path


def changed(arm, factor=1.1, joints=None, drives=True):
    """Links of some joints heavier by a factor, and other drives."""
    table = arm.parameters.copy()
    first = len(table) - arm.n
    for k, joint in enumerate(arm.joints):
        if joints is None or joint.name in joints:
            table[first + k] *= factor
    if joints is None:
        table[:first] *= factor
    arm = arm.with_parameters(table)
    if not drives:
        return arm
    new = [
        replace(j, armature=0.3, friction=Friction(viscous=0.6, coulomb=0.4))
        if joints is None or j.name in joints
        else j
        for j in arm.joints
    ]
    return replace(arm, joints=tuple(new))


def holds(path, arm):
    again = dynarm.load(path, floating=bool(arm.floating))
    np.testing.assert_allclose(again.parameters, arm.parameters, rtol=1e-13, atol=1e-14)
    assert [(j.armature, j.friction) for j in again.joints] == [
        (j.armature, j.friction) for j in arm.joints
    ]
    return True


def test_nothing_changes_where_nothing_is_new(tmp_path):
    path = written(tmp_path)
    assert dynarm.load(path).update_mjcf(path, tmp_path / "new.xml") == ()
    assert (tmp_path / "new.xml").read_bytes() == TEXT


def test_only_numbers_of_the_changed_parts_move(tmp_path):
    path = written(tmp_path)
    arm = changed(dynarm.load(path), joints=["a"])
    arm.update_mjcf(path, tmp_path / "new.xml")
    before = TEXT.decode().splitlines(True)
    after = (tmp_path / "new.xml").read_bytes().decode().splitlines(True)
    lines = [line for line in difflib.ndiff(before, after) if line[0] in "+-"]
    assert len(lines) == 6 and holds(tmp_path / "new.xml", arm)
    assert lines[1].startswith('+       <inertial mass="2.2') and 'pos="0 0 .1"' in lines[1]
    assert lines[3].rstrip().endswith('euler="10 20 30"/>')  # axes stay where they are principal
    said = 'name="a" axis="0 1 0" pos="0 .1 0" frictionloss="0.4"'
    assert lines[5].strip() == f'+       <joint {said} armature="0.3" damping="0.6"/>'


def test_all_of_it(tmp_path):
    """Inertias of geoms become <inertial>, classes are overruled on the joint, several joints share a body."""
    path = written(tmp_path)
    arm = changed(dynarm.load(path), 1.3)
    assert arm.update_mjcf(path, tmp_path / "new.xml") == ()
    text = (tmp_path / "new.xml").read_bytes()
    assert holds(tmp_path / "new.xml", arm) and text.count(b"<inertial") == 4
    assert b'damping=".5" armature=".1"' in text and b"<!-- odd   blanks -->" in text
    assert b'mass=".25"' in text  # what is fixed keeps what it had


def test_what_fixed_bodies_had_is_shared_out_where_it_must_be(tmp_path):
    path = written(tmp_path)
    arm = changed(dynarm.load(path), 0.1, joints=["c"], drives=False)
    with pytest.warns(DynarmWarning, match="'hand'.*could not keep"):
        arm.update_mjcf(path, tmp_path / "new.xml")
    assert holds(tmp_path / "new.xml", arm)


@pytest.mark.parametrize("nested", [False, True])
def test_included_files_come_into_the_new_one(nested, tmp_path):
    start, end = TEXT.index(b'      <body name="lower"'), TEXT.index(b"    </body>\n  </worldbody>")
    inner = b"<!-- a part -->\n<mujoco>\n" + TEXT[start:end] + b"</mujoco>\n"
    (tmp_path / "lower.xml").write_bytes(inner)
    if nested:
        (tmp_path / "outer.xml").write_bytes(b'<mujoco><include file="lower.xml"/></mujoco>')
    (tmp_path / "rest.xml").write_bytes(b'<mujoco><option timestep="0.001"/></mujoco>')
    file = b"outer.xml" if nested else b"lower.xml"
    text = TEXT[:start] + b'<include file="' + file + b'"/>' + TEXT[end:]
    path = written(
        tmp_path, text.replace(b"  <default>", b'  <include file="rest.xml"/>\n  <default>', 1)
    )
    before = {p.name: p.read_bytes() for p in tmp_path.iterdir()}
    arm = changed(dynarm.load(path), joints=["a"])
    arm.update_mjcf(path, tmp_path / "new.xml")
    assert (tmp_path / "new.xml").read_bytes().count(b"<include") == 2  # nothing changed in them
    arm = changed(dynarm.load(path), joints=["tip"])
    arm.update_mjcf(path, tmp_path / "new.xml")
    after = (tmp_path / "new.xml").read_bytes()
    assert after.count(b"<include") == 1 and b"<!-- a part -->" in after
    assert holds(tmp_path / "new.xml", arm)
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir() if p.name != "new.xml"} == before


def test_another_folder(tmp_path):
    path = written(tmp_path)
    (tmp_path / "out").mkdir()
    arm = changed(dynarm.load(path))
    (note,) = arm.update_mjcf(path, tmp_path / "out" / "new.xml")
    assert "'../meshes'" in note and holds(tmp_path / "out" / "new.xml", arm)
    assert b'meshdir="../meshes"' in (tmp_path / "out" / "new.xml").read_bytes()


def test_a_free_body(tmp_path):
    text = b'<mujoco><worldbody><body name="x"><freejoint/><geom size=".1"/></body></worldbody></mujoco>'
    path = written(tmp_path, text)
    arm = changed(dynarm.load(path))
    arm.update_mjcf(path, tmp_path / "new.xml")
    assert holds(tmp_path / "new.xml", arm)


BODY = b'<body name="x"><joint name="j"/><geom size=".1"/></body>'
REFUSED = {
    "replicated": (
        b'<worldbody><replicate count="2" offset="1 0 0">' + BODY + b"</replicate></worldbody>",
        "replicate",
    ),
    "from geoms": (
        b'<compiler inertiafromgeom="true"/><worldbody>' + BODY + b"</worldbody>",
        "inertiafromgeom",
    ),
    "total": (b'<compiler settotalmass="3"/><worldbody>' + BODY + b"</worldbody>", "settotalmass"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_written_is_refused(case, tmp_path):
    text, why = REFUSED[case]
    path = written(tmp_path, b"<mujoco>" + text + b"</mujoco>")
    with pytest.raises(DynarmError, match=why):
        changed(dynarm.load(path)).update_mjcf(path, tmp_path / "new.xml")
    assert not (tmp_path / "new.xml").exists()


def test_files_of_other_robots_are_refused(tmp_path):
    path = written(tmp_path)
    arm = dynarm.load(path)
    other = written(tmp_path, TEXT.replace(b'pos=".4 0 0"', b'pos=".5 0 0"'), "other.xml")
    with pytest.raises(DynarmError, match="not the file of this robot: joint 'b' stands elsewhere"):
        arm.update_mjcf(other, tmp_path / "new.xml")
    with pytest.raises(DynarmError, match="did not come from a file"):
        replace(arm, origin=None).update_mjcf(path, tmp_path / "new.xml")
    with pytest.raises(DynarmError, match="is the original"):
        arm.update_mjcf(path, path)
    with pytest.raises(DynarmError, match=r"\.xml or \.mjcf"):
        arm.update_mjcf(path, tmp_path / "new.urdf")
