"""Loading by name and path, the catalogue, and saving without leftovers."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

import dynarm
from dynarm import Arm, DynarmError, Joint, catalogue, load
from dynarm.robot import files
from strategies import random_urdf


def test_catalogue():
    assert set(catalogue()) >= {
        "stanford",
        "puma560",
        "scara",
        "two_link",
        "generic_6r",
        "generic_7r",
    }


KINDS = {
    "stanford": "RRPRRR",
    "puma560": "RRRRRR",
    "scara": "RRPR",
    "two_link": "RR",
    "generic_6r": "R" * 6,
    "generic_7r": "R" * 7,
}


@pytest.mark.parametrize("name", KINDS)
def test_built_in_robots_are_sound(name):
    arm = load(name, strict=True)
    assert arm.name == name
    assert "".join(j.kind[0].upper() for j in arm.joints) == KINDS[name]
    assert arm.check() == []
    assert arm.gravity == (0.0, 0.0, -9.81)
    assert load(name) == arm


def test_puma_as_armstrong_khatib_and_burdick_measured_it():
    arm = load("puma560")
    assert [(j.a, j.alpha, j.d) for j in arm.joints] == [
        (0.0, 0.0, 0.0),
        (0.0, -np.pi / 2, 0.2435),
        (0.4318, 0.0, -0.0934),
        (-0.0203, np.pi / 2, 0.4331),
        (0.0, -np.pi / 2, 0.0),
        (0.0, np.pi / 2, 0.0),
    ]
    assert [j.mass for j in arm.joints[1:]] == [17.4, 4.8, 0.82, 0.34, 0.09]
    assert arm.joints[1].com == (0.068, 0.006, -0.016)


def test_stanford_as_paul_gives_it():
    """Paul's numbers are in classic frames; here they stand in the frames on the joints."""
    arm = load("stanford")
    assert [(j.a, j.alpha, j.d) for j in arm.joints] == [
        (0.0, 0.0, 0.412),
        (0.0, -np.pi / 2, 0.154),
        (0.0, np.pi / 2, 0.0),
        (0.0, 0.0, 0.0),
        (0.0, -np.pi / 2, 0.0),
        (0.0, np.pi / 2, 0.0),
    ]
    assert arm.parameters[:, 0].tolist() == [9.29, 5.01, 4.25, 1.08, 0.63, 0.51]
    third = arm.parameters[2]
    assert third[1:4] == pytest.approx([0, 0, -0.6447 * 4.25])
    assert third[4:].tolist() == [2.51, 0, 2.51, 0, 0, 0.006]
    reach = arm.base_pose
    for j, q in zip(arm.joints, [0, 0, 0.5, 0, 0, 0], strict=True):
        reach = reach @ j.displacement(q)
    assert (reach @ arm.tool_pose)[:3, 3] == pytest.approx([0, 0.154, 0.412 + 0.5 + 0.263])


def test_unknown_names_suggest_the_nearest():
    with pytest.raises(LookupError, match="did you mean stanford"):
        load("standford")
    with pytest.raises(DynarmError, match=r"one of: .*two_link"):
        load("zzzzz")


@pytest.mark.parametrize(
    "name, advice",
    [
        ("arm.sdf", "SDF"),
        (
            "arm.step",
            "neither a built-in robot nor a file ending in .urdf, .toml, .xacro, .xml or .mjcf",
        ),
        ("folder/arm", "neither"),
    ],
)
def test_other_formats_are_refused_by_name(name, advice, tmp_path):
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("<robot/>")
    for given in (path, str(path), name):
        with pytest.raises(DynarmError, match=advice):
            load(given)


@pytest.mark.parametrize("name", ["missing.urdf", "missing.toml"])
def test_missing_files(name, tmp_path):
    with pytest.raises(DynarmError, match="no such file"):
        load(tmp_path / name)
    with pytest.raises(FileNotFoundError):
        load(tmp_path / name)


def test_unreadable_files(tmp_path):
    (tmp_path / "folder.urdf").mkdir()
    with pytest.raises(DynarmError, match="is a folder"):
        load(tmp_path / "folder.urdf")
    big = tmp_path / "big.urdf"
    with big.open("wb") as file:
        file.truncate(files.MAX_URDF + 1)
    with pytest.raises(DynarmError, match="at most"):
        load(big)


@pytest.mark.parametrize("robot", [None, 5, b"stanford", "", "  ", ["stanford"], "arm\0.urdf"])
def test_no_name_at_all(robot):
    with pytest.raises(DynarmError):
        load(robot)


def test_options_that_only_a_urdf_has(tmp_path):
    with pytest.raises(DynarmError, match="base and tip choose a chain of a URDF"):
        load("stanford", tip="hand")
    names = load("two_link").joint_names
    assert load("two_link", joints=names).n == 2
    with pytest.raises(DynarmError, match="in that order"):
        load("two_link", joints=names[::-1])
    for wrong in ("shoulder", [], [1, 2], 5):
        with pytest.raises(DynarmError, match="list of joint names"):
            load("two_link", joints=wrong)
    assert load("two_link", gravity=(0, -1, 0)).gravity == (0.0, -1.0, 0.0)
    with pytest.raises(DynarmError, match="gravity"):
        load("two_link", gravity="down")


# ---- saving


@pytest.mark.parametrize("suffix", [".toml", ".urdf", ".TOML"])
def test_save_and_load(suffix, tmp_path):
    path = tmp_path / f"arm{suffix}"
    arm = load("puma560")
    arm.save(path)
    arm.save(str(path))  # overwrites
    assert os.listdir(tmp_path) == [path.name]
    again = load(path)
    if suffix.lower() == ".toml":
        assert again == arm
    else:
        assert again.joint_names == arm.joint_names
        assert np.allclose(again.parameters[:, 0], arm.parameters[:, 0])
    umask = os.umask(0)
    os.umask(umask)
    assert path.stat().st_mode & 0o777 == 0o666 & ~umask


def test_saving_through_a_link_keeps_the_link(tmp_path):
    target = tmp_path / "real.toml"
    target.write_text("old")
    link = tmp_path / "link.toml"
    link.symlink_to(target)
    load("two_link").save(link)
    assert link.is_symlink()
    assert load(target) == load("two_link")


def test_unknown_suffix_and_missing_folder(tmp_path):
    arm = load("two_link")
    with pytest.raises(DynarmError, match=r"end the name in \.urdf, \.toml, \.xml or \.mjcf"):
        arm.save(tmp_path / "arm.json")
    with pytest.raises(DynarmError, match="cannot write"):
        arm.save(tmp_path / "nowhere" / "arm.toml")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_failure_leaves_the_old_file(step, tmp_path, monkeypatch):
    path = tmp_path / "arm.toml"
    load("two_link").save(path)
    before = path.read_bytes()

    def fail(*_args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files.os, step, fail)
    with pytest.raises(DynarmError, match="No space left"):
        load("puma560").save(path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["arm.toml"]


def test_names_that_cannot_be_written(tmp_path):
    with pytest.raises(DynarmError, match="UTF-8"):
        Arm([Joint(name="\ud800")]).save(tmp_path / "x.toml")
    with pytest.raises(DynarmError, match="XML cannot"):
        Arm([Joint(name="bell\a", mass=1, inertia=np.eye(3))]).save(tmp_path / "x.urdf")
    assert os.listdir(tmp_path) == []


def test_names_are_escaped(tmp_path):
    arm = Arm([Joint(name='<a> & "b"\n--', mass=1, inertia=np.eye(3), armature=1)], name="x--><y")
    arm.save(tmp_path / "x.urdf")
    again = load(tmp_path / "x.urdf")
    assert (again.name, again.joint_names) == (arm.name, arm.joint_names)


def test_a_written_urdf_keeps_names_kinds_limits_and_friction(tmp_path):
    text = random_urdf(np.random.default_rng(8), 5, "RPRRP")
    text = text.replace("</joint>", '<dynamics damping="0.5" friction="0.25"/></joint>')
    (tmp_path / "a.urdf").write_text(text)
    arm = load(tmp_path / "a.urdf")
    arm.save(tmp_path / "b.urdf")
    again = load(tmp_path / "b.urdf")
    assert again.origin.links == arm.origin.links
    assert again.origin.kinds == arm.origin.kinds
    assert "continuous" in arm.origin.kinds
    for key in ("name", "kind", "friction", "position_limits", "velocity_limit", "effort_limit"):
        assert [getattr(j, key) for j in again.joints] == [getattr(j, key) for j in arm.joints]
    assert np.allclose(again.urdf_parameters, arm.urdf_parameters, atol=1e-13)
    assert np.allclose(again.origin.axes, arm.origin.axes, atol=1e-15)


def test_saving_again_and_again_changes_nothing_that_matters(tmp_path):
    """Zeros of industrial geometry survive writing and reading: the model does not become dearer."""
    for seed in range(10):
        path = tmp_path / "a.urdf"
        path.write_text(random_urdf(np.random.default_rng(seed), 6, style="industrial"))
        first = load(path)
        arm = first
        for _ in range(3):
            arm.save(path)
            arm = load(path)
        for a, b in zip(arm.joints, first.joints, strict=True):
            for key in ("a", "alpha", "beta", "d", "theta"):
                x, y = getattr(a, key), getattr(b, key)
                assert (x == 0) == (y == 0)
                assert x == pytest.approx(y, abs=1e-12)


def test_what_a_urdf_cannot_hold_is_said(tmp_path):
    friction = dynarm.Friction(0.1, 0.2, 0.3)
    arm = Arm(
        [Joint(mass=1, inertia=np.eye(3), armature=0.5, friction=friction)], gravity=(0, 0, -1.62)
    )
    arm.save(tmp_path / "x.urdf")
    text = (tmp_path / "x.urdf").read_text()
    assert "armature 0.5" in text
    assert "offset=0.3" in text
    assert "-1.62" in text
    massless = arm.with_parameters([[0, 1, 0, 0, 0, 0, 0, 0, 0, 0]])
    for bad in (massless, arm.with_parameters([[-1, 0, 0, 0, 1, 0, 1, 0, 0, 1]])):
        with pytest.raises(DynarmError, match=r"save it as \.toml"):
            bad.save(tmp_path / "y.urdf")
    assert not (tmp_path / "y.urdf").exists()


def test_catalogue_files_cite_their_sources():
    folder = Path(files.__file__).parent / "catalogue"
    for name in catalogue():
        text = (folder / f"{name}.toml").read_text()
        assert text.startswith("# ")
        assert len(text.split("format = 1")[0]) > 200


@pytest.mark.parametrize("name", KINDS)
def test_frames_chosen_on_loading_cost_no_more_than_the_literature_s(name, tmp_path):
    """Written as a URDF and read again, a robot's frames are chosen anew; its inverse dynamics gets no dearer."""
    arm = load(name)
    arm.save(tmp_path / "arm.urdf")
    again = load(tmp_path / "arm.urdf")
    counts = [
        dynarm.count(robot, "inverse_dynamics", formulation="newton_euler_driving_axis")
        for robot in (arm, again)
    ]
    assert counts[1].mul <= counts[0].mul
    assert counts[1].add <= counts[0].add
