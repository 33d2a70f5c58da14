"""MJCF models against MuJoCo's own mj_rne and mj_fullM, and round trips through files that dynarm writes."""

from __future__ import annotations

import re

import numpy as np
import pytest

import dynarm
from dynarm import Arm, DynarmError, Joint
from dynarm.robot.formats import mjcf
from oracles.batches import relative
from oracles.mjcf_cases import ARM, CASES, FINGERS
from oracles.mjcf_features import FEATURES, HAND, MISSING, PLAIN, TENDON
from oracles.mjcf_here import asked_here
from oracles.mujoco_file import file_oracle
from oracles.scene_numbers import numbers_of, scene_of
from strategies import whole_state

TOLERANCE = 1e-12  # |error| <= TOLERANCE * max(1, |reference|max)


def written(folder, text, name="robot.xml"):
    path = folder / name
    path.write_text(f'<mujoco model="toy">{text}</mujoco>')
    return path


def agrees(arm, twin, seed=1):
    s = whole_state(np.random.default_rng(seed), arm)
    scene = scene_of(arm, {x: s[x] for x in ("q", "qd", "qdd")})
    (tau,), (M,) = (numbers_of(scene, word) for word in ("inverse_dynamics", "mass_matrix"))
    assert relative(tau, twin.inverse_dynamics(s["q"], s["qd"], s["qdd"])) <= TOLERANCE
    assert relative(M, twin.mass_matrix(s["q"])) <= TOLERANCE


@pytest.mark.parametrize("case", CASES)
def test_the_file_and_what_is_written_of_it(case, tmp_path):
    path = written(tmp_path, CASES[case])
    arm = dynarm.load(path)
    agrees(arm, file_oracle(path, arm))
    arm.save(tmp_path / "again.xml")
    again = dynarm.load(tmp_path / "again.xml")
    assert again.joint_names == arm.joint_names
    agrees(again, file_oracle(path, again), 2)
    agrees(arm, file_oracle(tmp_path / "again.xml", arm), 3)


@pytest.mark.parametrize("name", FEATURES)
def test_features_of_files_that_people_share(name, tmp_path, monkeypatch):
    """All of them load whole; what the dynamics of the open tree does not feel is noted."""
    monkeypatch.setattr(mjcf, "asked", asked_here)
    feature = FEATURES[name]
    path = written(tmp_path, feature.text)
    arm = dynarm.load(path)
    assert arm.nv == feature.speeds
    agrees(arm, file_oracle(path, arm))
    notes = [line.removeprefix("left out: ") for line in arm.check()]
    assert len(notes) == len(feature.notes), notes
    for note, pattern in zip(notes, feature.notes, strict=True):
        assert re.search(pattern, note), note


@pytest.mark.parametrize("name", MISSING)
def test_files_that_are_not_there(name, tmp_path, monkeypatch):
    monkeypatch.setattr(mjcf, "asked", asked_here)
    arm = dynarm.load(written(tmp_path, MISSING[name]))
    agrees(arm, file_oracle(written(tmp_path, PLAIN, "plain.xml"), arm))


def test_armature_of_tendons_is_refused_but_without_ties(tmp_path):
    path = written(tmp_path, HAND + TENDON.format('armature=".1"'))
    with pytest.raises(DynarmError, match=r"tendon 't' has armature.*mimic=False"):
        dynarm.load(path)
    arm = dynarm.load(path, mimic=False)
    assert arm.check() == ["left out: tendon 't' (armature)"]
    agrees(arm, file_oracle(written(tmp_path, HAND, "bare.xml"), arm))


CURVE = '<equality><joint joint1="r" joint2="l" polycoef=".1 2 .3 0 .1"/><joint joint1="l" joint2="a"/></equality>'


@pytest.mark.parametrize("equality", [CASES["coupled"].split("</worldbody>")[1], CURVE])
def test_joints_that_are_not_tied(equality, tmp_path):
    path = written(tmp_path, f"<worldbody>{ARM.format(FINGERS)}</worldbody>{equality}")
    arm = dynarm.load(path, mimic=False)
    assert arm.nv == 4 and arm.coupling.free
    assert sum("is not tied to" in line for line in arm.check()) == equality.count("joint1")
    agrees(arm, file_oracle(path, arm))


@pytest.mark.parametrize("case", ["tree", "coupled", "free", "simple"])
def test_drives_of_the_file(case, tmp_path):
    """With friction=True armature, damping and frictionloss take part, as in MuJoCo's own mass matrix and forces."""
    path = written(tmp_path, CASES[case])
    arm = dynarm.load(path)
    model, twin = dynarm.compile(arm, friction=True), file_oracle(path, arm, armature=True)
    s = whole_state(np.random.default_rng(4), arm)
    assert relative(model.mass_matrix(s["q"]), twin.mass_matrix(s["q"])) <= TOLERANCE
    tau = twin.inverse_dynamics(s["q"], s["qd"], s["qdd"])
    drives = twin.drives(s["q"], s["qd"], s["qdd"])
    ours = model.inverse_dynamics(s["q"], s["qd"], s["qdd"])
    assert relative(ours, tau + drives) <= TOLERANCE and (case == "simple" or np.any(drives))


@pytest.mark.parametrize("robot", ["puma560", "scara"])
def test_arms_from_elsewhere_are_written(robot, tmp_path):
    arm = dynarm.load(robot)
    arm.save(tmp_path / "arm.xml")
    agrees(arm, file_oracle(tmp_path / "arm.xml", arm))


@pytest.mark.parametrize(
    ("link", "why"),
    [
        ({"mass": 1.0, "inertia": np.diag([0.1, 0.1, 0.3])}, "triangle inequality"),
        ({"mass": 1.0}, "all of these are positive"),
        ({}, "all of these are positive"),
    ],
    ids=["thin", "point", "bare"],
)
def test_arms_that_mujoco_cannot_hold_are_refused(link, why, tmp_path):
    arm = Arm((Joint(mass=1.0, inertia=np.eye(3)), Joint(**link)))
    with pytest.raises(DynarmError, match=f"the link of joint 'joint2'.*{why}"):
        arm.save(tmp_path / "arm.xml")
    assert not list(tmp_path.iterdir())
