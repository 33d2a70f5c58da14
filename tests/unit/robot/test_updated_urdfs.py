"""URDFs with our numbers in them: only inertials and <dynamics> change, and the robot that is loaded again is ours."""

from __future__ import annotations

import difflib
import warnings
from dataclasses import replace

import numpy as np
import pytest

import dynarm
from dynarm import DynarmError, DynarmWarning, Friction
from dynarm.robot.formats.shares import shared
from dynarm.robot.inertia import move_parameters, of_pseudo_inertia, pseudo_inertia
from dynarm.view.meshes import visuals

TEXT = """<?xml version="1.0" ?>
<!-- a robot: an arm -->
<robot name='arm' xmlns:x="y">
\t<link name="base"><inertial><mass value="9"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>
\t<link  name="upper" >
\t\t<!-- <mass value="7"/> is not meant -->
\t\t<visual><geometry><mesh filename="meshes/upper.obj"   scale="1 1 1" /></geometry></visual>
\t\t<inertial>
\t\t\t<inertia izz="0.03" ixx='0.02' iyy="0.025" ixy="1e-3"/>   <!-- about the centre -->
\t\t\t<origin rpy="1.5708 0 0.3" xyz="0.1  0 -0.02"/>
\t\t\t<mass   value="2.0"/>
\t\t</inertial>
\t</link>
\t<link name="hand"><inertial><origin xyz="0 0 .05"/><mass value="0.5"/>
\t\t<inertia ixx="0.001" iyy="0.001" izz="0.0008"/></inertial></link>
\t<link name="tip"/>
\t<link name="finger"><!-- bare --></link>
\t<joint name="j1" type="revolute"><parent link="base"/><child link="upper"/>
\t\t<origin xyz="0 0 0.2" rpy="1.570796 0 0"/><axis xyz="0 0 1"/>
\t\t<dynamics friction='0.1' damping="0.5"/><limit lower="-1" upper="1" effort="9" velocity="9"/>
\t</joint>
\t<joint name="wrist" type="continuous">
\t\t<parent link="upper"/><child link="hand"/><origin xyz="0.4 0 0" rpy="0 0.2 0"/><axis xyz="0 1 0"/>
\t</joint>
\t<joint name="weld" type="fixed"><parent link="hand"/><child link="tip"/><origin xyz="0 0 0.1"/></joint>
\t<joint name="slide" type="prismatic"><parent link="tip"/><child link="finger"/><axis xyz="1 0 0"/>
\t\t<limit lower="0" upper="1" effort="9" velocity="9"/></joint>
\t<transmission name="t"><joint name="j1"/></transmission>
</robot>
"""


def loaded(path, **how):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return dynarm.load(path, allow_massless=True, **how)


def scaled(arm, factor=1.1):
    return arm.with_parameters(arm.parameters * factor)


def same_robot(one, other):
    size = np.abs(other.parameters).max(axis=0) + 1e-3
    np.testing.assert_allclose(one.parameters / size, other.parameters / size, atol=1e-12, rtol=0)
    for a, b in zip(one.joints, other.joints, strict=True):
        assert (a.friction or Friction()) == (b.friction or Friction())


@pytest.fixture
def original(tmp_path):
    path = tmp_path / "arm.urdf"
    path.write_bytes(TEXT.encode())
    return path


WAYS = {
    "whole": {},
    "free": {"floating": True},
    "chain": {"tip": "tip"},
    "held": {"freeze": {"wrist": 0.7}},
    "held further in": {"freeze": {"wrist": 0.7, "slide": 0.2}},
    "as written": {"snap": False},
    "from the hand": {"base": "upper"},
}


@pytest.mark.parametrize("ending", ["\n", "\r\n"], ids=["unix", "dos"])
@pytest.mark.parametrize("how", WAYS.values(), ids=WAYS)
def test_nothing_changed(original, tmp_path, how, ending):
    original.write_bytes(TEXT.replace("\n", ending).encode())
    arm = loaded(original, **how)
    assert arm.update_urdf(original, tmp_path / "new.urdf") == ()
    assert (tmp_path / "new.urdf").read_bytes() == original.read_bytes()


@pytest.mark.parametrize("how", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize("factor", [1.3, 0.1])
def test_other_inertias(original, tmp_path, how, factor):
    """By which way the robot was loaded does not matter: it comes back, and no line beside those of inertia changes."""
    arm = scaled(loaded(original, **how), factor)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        arm.update_urdf(original, tmp_path / "new.urdf")
    text = (tmp_path / "new.urdf").read_bytes().decode()
    same_robot(loaded(tmp_path / "new.urdf", **how), arm)
    kept = [line for line in difflib.ndiff(TEXT.splitlines(), text.splitlines()) if line[0] in "+-"]
    for line in kept:
        assert any(word in line for word in ("<mass", "<inertia", "<origin"))
    assert ('<mass value="9"/>' in text) == (not how.get("floating")), "a fixed base moves nothing"


def test_a_change_of_mass_alone_changes_that_text_alone(original, tmp_path):
    arm = loaded(original)
    table = arm.parameters.copy()
    com = table[0, 1:4] / table[0, 0]
    table[0] += np.array([0.25, *(0.25 * com), *_point(0.25, com)])
    arm.with_parameters(table).update_urdf(original, tmp_path / "new.urdf")
    new = (tmp_path / "new.urdf").read_text()
    assert new == TEXT.replace('value="2.0"', 'value="2.25"')


def _point(m, c):
    J = m * (c @ c * np.eye(3) - np.outer(c, c))
    return J[[0, 0, 1, 0, 1, 2], [0, 1, 1, 2, 2, 2]]


def test_friction(original, tmp_path):
    arm = loaded(original)
    joints = [
        replace(arm.joints[0], friction=Friction(0.5, 0.3)),
        replace(arm.joints[1], friction=Friction(0.02, 0.0, offset=0.1), armature=0.2),
        arm.joints[2],
    ]
    notes = replace(arm, joints=joints).update_urdf(original, tmp_path / "new.urdf")
    new = (tmp_path / "new.urdf").read_text()
    assert new == TEXT.replace("friction='0.1'", "friction='0.3'").replace(
        '<axis xyz="0 1 0"/>\n', '<axis xyz="0 1 0"/>\n\t\t<dynamics damping="0.02"/>\n'
    )
    (note,) = notes
    assert "armature of 'wrist'; friction beyond viscous and Coulomb of 'wrist'" in note
    bare = replace(arm, joints=[replace(j, friction=None) for j in arm.joints])
    bare.update_urdf(original, tmp_path / "new.urdf")
    assert """<dynamics friction='0.0' damping="0.0"/>""" in (tmp_path / "new.urdf").read_text()


def test_new_inertials_stand_as_their_neighbours(original, tmp_path):
    arm = loaded(original)
    table = arm.parameters.copy()
    table[2] = of_pseudo_inertia(0.01 * np.eye(4))
    heavy = arm.with_parameters(table)
    heavy.update_urdf(original, tmp_path / "new.urdf")
    text = (tmp_path / "new.urdf").read_text()
    assert '\t<link name="finger">\n\t\t<inertial>\n\t\t\t<origin xyz=' in text
    assert "\t\t</inertial><!-- bare --></link>" in text
    same_robot(loaded(tmp_path / "new.urdf"), heavy)
    closed = TEXT.replace("<!-- bare --></link>", "</link>").replace(
        '<link name="finger"></link>', '<link name="finger" />'
    )
    original.write_text(closed)
    heavy.update_urdf(original, tmp_path / "new.urdf")
    text = (tmp_path / "new.urdf").read_text()
    assert (
        '\t<link name="finger">\n\t\t<inertial>\n' in text
        and "\t\t</inertial>\n\t</link>\n" in text
    )
    original.write_bytes(TEXT.replace("<!-- bare -->", "").replace("\n", "\r\n").encode())
    heavy.update_urdf(original, tmp_path / "new.urdf")
    text = (tmp_path / "new.urdf").read_bytes().decode()
    assert '\t<link name="finger">\r\n\t\t<inertial>\r\n' in text
    assert text.count("\t\t</inertial>\r\n\t</link>\r\n") == 2, "of upper and finger"
    assert "\n" not in text.replace("\r\n", "")
    original.write_text(closed.replace("\n", " "))
    heavy.update_urdf(original, tmp_path / "new.urdf")
    assert '<link name="finger"><inertial><origin' in (tmp_path / "new.urdf").read_text()
    same_robot(loaded(tmp_path / "new.urdf"), heavy)


# ---- links that move as one


def group(original, hand, rest):
    """The arm with a payload fixed to its tip, identified with other masses."""
    tip = '<link name="tip"><inertial><mass value="0.3"/><inertia ixx=".001" iyy=".001" izz=".001"/></inertial></link>'
    original.write_text(TEXT.replace('<link name="tip"/>', tip))
    arm = loaded(original, tip="tip")
    table = arm.parameters.copy()
    table[1] *= (hand + rest) / 0.8
    return arm.with_parameters(table)


def test_fixed_links_keep_what_they_have(original, tmp_path):
    heavier = group(original, 0.9, 0.3)
    assert heavier.update_urdf(original, tmp_path / "new.urdf") == ()
    text = (tmp_path / "new.urdf").read_text()
    assert 'name="tip"><inertial><mass value="0.3"/>' in text
    same_robot(loaded(tmp_path / "new.urdf", tip="tip"), heavier)
    assert loaded(tmp_path / "new.urdf", tip="hand").joints[1].mass == pytest.approx(1.2)


def test_what_cannot_be_subtracted_is_shared_out(original, tmp_path):
    lighter = group(original, 0.1, 0.1)
    with pytest.warns(
        DynarmWarning, match="link 'tip' could not keep its inertia: 'hand'.* mass of -0.1 kg"
    ):
        notes = lighter.update_urdf(original, tmp_path / "new.urdf")
    assert len(notes) == 1
    again = loaded(tmp_path / "new.urdf", tip="tip")
    same_robot(again, lighter)
    text = (tmp_path / "new.urdf").read_text()
    masses = [float(part.split('"')[0]) for part in text.split('<mass value="')[1:]]
    assert min(masses) > 0.05 and sum(masses[-2:]) == pytest.approx(0.2, rel=1e-12)
    assert not any("hand" in line or "tip" in line for line in again.check())


def divergence(parts, before):
    total = 0.0
    for P, R in zip(parts, before, strict=True):
        X = pseudo_inertia(P) @ np.linalg.inv(pseudo_inertia(R))
        total += np.trace(X) - np.log(np.linalg.det(X)) - 4
    return total


def body(rng, mass):
    points = np.c_[rng.normal(size=3) * 0.2 + rng.normal(size=(6, 3)) * 0.1, np.ones(6)]
    return of_pseudo_inertia(points.T @ points * mass / 6)


def test_shares_are_the_nearest_bodies():
    rng = np.random.default_rng(3)
    for _ in range(20):
        before = [body(rng, m) for m in (1.0, 0.5, 2.0)]
        whole = body(rng, 0.4)
        shares = shared(before[0], before[1:], whole - sum(before))
        parts = [shares.own, *shares.fixed]
        np.testing.assert_allclose(sum(parts), whole, atol=1e-14)
        assert all(np.linalg.eigvalsh(pseudo_inertia(p))[0] > 0 for p in parts)
        least = divergence(parts, before)
        for _ in range(10):
            step = 1e-3 * parts[0] * rng.normal(size=10)
            i, j = rng.permutation(3)[:2]
            moved = list(parts)
            moved[i], moved[j] = moved[i] + step, moved[j] - step
            if all(np.linalg.eigvalsh(pseudo_inertia(p))[0] > 0 for p in moved):
                assert divergence(moved, before) > least
        R, t = np.linalg.qr(rng.normal(size=(3, 3)))[0], rng.normal(size=3)
        R *= np.linalg.det(R)
        turned = [move_parameters(p, R, t) for p in before]
        same = shared(turned[0], turned[1:], move_parameters(whole, R, t) - sum(turned))
        np.testing.assert_allclose(same.own, move_parameters(parts[0], R, t), atol=1e-9)


def test_point_masses_and_impossible_wholes():
    rng = np.random.default_rng(4)
    point, own = np.array([3.0, *[0.0] * 9]), body(rng, 1.0)
    whole = body(rng, 0.5)
    shares = shared(own, [point], whole - own - point)
    assert shares.own[0] > 0 and shares.fixed[0][0] > 0
    np.testing.assert_allclose(shares.own + shares.fixed[0], whole, atol=1e-14)
    odd = np.array([0.5, 0, 0, 0, 1, 0, 0.1, 0, 0, 0.1])  # violates the triangle inequality
    shares = shared(own, [point], odd - own - point)
    assert [shares.own[0], shares.fixed[0][0]] == pytest.approx([0.125, 0.375])
    nothing = shared(np.zeros(10), [own], 0.5 * own)
    assert nothing.fixed is None, "an empty link takes what a body can have"
    nothing = shared(np.zeros(10), [own], -0.5 * own)
    np.testing.assert_allclose(nothing.fixed[0], 0.5 * own)
    assert not nothing.own.any()


# ---- refusals and files


def test_another_robot_is_refused(original, tmp_path):
    arm = loaded(original)
    other = tmp_path / "other.urdf"
    for old, new, why in (
        ('"0.4 0 0"', '"0.41 0 0"', "joint 'wrist' stands elsewhere"),
        ('"wrist"', '"elbow"', "no joint 'wrist'"),
        (
            'name="weld" type="fixed"',
            'name="weld" type="prismatic"',
            "movable joints that the robot has not: 'weld",
        ),
        ('"upper"', '"lower"', "joint 'j1' moves 'lower', not 'upper'"),
        ('"base"', '"root"', "no link 'base'"),
        (
            'type="continuous"',
            'type="prismatic"',
            "joint 'wrist' is of another kind|stands elsewhere",
        ),
    ):
        other.write_text(TEXT.replace(old, new))
        with pytest.raises(DynarmError, match=f"other.urdf is not the file of this robot: .*{why}"):
            arm.update_urdf(other, tmp_path / "new.urdf")
    with pytest.raises(DynarmError, match="'puma560' did not come from a URDF"):
        dynarm.load("puma560").update_urdf(original, tmp_path / "new.urdf")
    other.write_bytes(TEXT.encode("utf-16"))
    with pytest.raises(DynarmError, match="UTF-16"):
        arm.update_urdf(other, tmp_path / "new.urdf")
    assert not (tmp_path / "new.urdf").exists()


def test_the_original_is_replaced_only_on_demand(original, tmp_path):
    arm = scaled(loaded(original))
    (tmp_path / "link.urdf").symlink_to(original)
    for name in ("arm.urdf", "link.urdf", "../" + tmp_path.name + "/arm.urdf"):
        with pytest.raises(DynarmError, match="is the original; name a new file, or force=True"):
            arm.update_urdf(original, tmp_path / name)
    assert original.read_text() == TEXT
    arm.update_urdf(original, original, force=True)
    same_robot(loaded(original), arm)
    with pytest.raises(DynarmError, match=r"end the name in \.urdf"):
        arm.update_urdf(original, tmp_path / "new.xml")
    with pytest.raises(DynarmError, match="no such file"):
        arm.update_urdf(tmp_path / "none.urdf", tmp_path / "new.urdf")
    table = arm.parameters.copy()
    table[0, 0] = -1
    with pytest.raises(DynarmError, match="link 'upper' has mass -1"):
        arm.with_parameters(table).update_urdf(original, tmp_path / "new.urdf")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["arm.urdf", "link.urdf"]


@pytest.mark.parametrize("how", WAYS.values(), ids=WAYS)
def test_by_way_of_toml(original, tmp_path, how):
    scaled(loaded(original, **how)).save(tmp_path / "arm.toml")
    arm = loaded(tmp_path / "arm.toml")
    arm.update_urdf(original, tmp_path / "new.urdf")
    same_robot(loaded(tmp_path / "new.urdf", **how), arm)


def test_meshes_follow_into_another_folder(original, tmp_path):
    (tmp_path / "meshes").mkdir()
    (tmp_path / "meshes" / "upper.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    (tmp_path / "results").mkdir()
    arm = loaded(original)
    for place, count in (("new.urdf", 0), ("results/new.urdf", 1)):
        notes = arm.update_urdf(original, tmp_path / place)
        assert len(notes) == count
        drawn, missing = visuals(tmp_path / place, arm)
        assert len(drawn) == 1 and not missing
    text = (tmp_path / "results" / "new.urdf").read_text()
    assert text == TEXT.replace("meshes/upper.obj", "../meshes/upper.obj")
    (tmp_path / "meshes" / "upper.obj").unlink()
    assert arm.update_urdf(original, tmp_path / "results" / "new.urdf") == ()


def test_meshes_of_packages_are_found_where_the_user_says(original, tmp_path):
    text = TEXT.replace("meshes/upper.obj", "package://parts/meshes/upper.obj")
    original.write_text(text)
    (tmp_path / "pack" / "meshes").mkdir(parents=True)
    (tmp_path / "pack" / "meshes" / "upper.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    (tmp_path / "results").mkdir()
    new = tmp_path / "results" / "new.urdf"
    arm = loaded(original)
    assert arm.update_urdf(original, new) == () and new.read_text() == text
    assert visuals(new, arm)[1] == ["mesh package://parts/meshes/upper.obj is not there"]
    drawn, missing = visuals(new, arm, packages={"parts": str(tmp_path / "pack")})
    assert len(drawn) == 1 and not missing
