"""Every robot of example-robot-data as MJCF, converted by MuJoCo itself and written by dynarm, against MuJoCo.

MuJoCo refuses inertias that no body has. For its own conversion these are taken out here, and it is asked to bring the
rest in order, so that all robots take part; its own text rounds numbers, so that this is asked of it twice.
"""

from __future__ import annotations

import warnings
from xml.etree import ElementTree

import mujoco
import numpy as np
import pytest

import dynarm
from dynarm import Arm, DynarmError
from dynarm.robot.formats import mjcf
from oracles.batches import relative
from oracles.example_robots import robots_folder
from oracles.mjcf_here import asked_here
from oracles.mujoco_file import file_oracle
from oracles.mujoco_tree import MujocoTree
from oracles.scene_numbers import numbers_of, scene_of
from strategies import whole_state

TOLERANCE = 1e-12  # |error| <= TOLERANCE * max(1, |reference|max)
NO_ROBOT = ("ur3.urdf",)  # without links
BODIES = ("quadrotor_base.urdf", "iris_simple.urdf")  # without joints
IMPOSSIBLE = {  # moving links that MuJoCo refuses
    "icub.urdf": "all of these are positive",
    "icub_reduced.urdf": "all of these are positive",
    "romeo.urdf": "all of these are positive",
    "romeo_small.urdf": "triangle inequality",
    "romeo_laas_small.urdf": "triangle inequality",
}
FILES = [p for p in sorted(robots_folder().rglob("*.urdf")) if p.name not in NO_ROBOT]
every_file = pytest.mark.parametrize(
    "path", FILES, ids=lambda p: p.relative_to(robots_folder()).as_posix()
)
MENDED = '<mujoco><compiler balanceinertia="true" boundmass="1e-4" boundinertia="1e-6"/></mujoco>'


@pytest.fixture(autouse=True)
def reading(monkeypatch):
    monkeypatch.setattr(mjcf, "asked", asked_here)


def error_of(arm: Arm, twin: MujocoTree, seed: int = 1) -> float:
    s = whole_state(np.random.default_rng(seed), arm)
    scene = scene_of(arm, {x: s[x] for x in ("q", "qd", "qdd")})
    (tau,), (M,) = (numbers_of(scene, word) for word in ("inverse_dynamics", "mass_matrix"))
    forces = twin.inverse_dynamics(s["q"], s["qd"], s["qdd"])
    return max(relative(tau, forces), relative(M, twin.mass_matrix(s["q"])))


def bare(path) -> str:
    """A URDF without shapes, and without inertias that are not positive definite."""
    robot = ElementTree.parse(path).getroot()
    for extension in robot.findall("mujoco"):
        robot.remove(extension)
    for link in robot.iter("link"):
        for tag in ("visual", "collision"):
            for shape in link.findall(tag):
                link.remove(shape)
        for inertial in link.findall("inertial"):
            if not positive(inertial.find("inertia")):
                link.remove(inertial)
    robot.insert(0, ElementTree.fromstring(MENDED))
    return ElementTree.tostring(robot, encoding="unicode")


def positive(inertia) -> bool:
    if inertia is None:
        return False
    rows = [[float(inertia.get("i" + "".join(sorted(a + b)), "0")) for a in "xyz"] for b in "xyz"]
    return bool(np.linalg.eigvalsh(np.array(rows)).min() > 1e-14)


@every_file
def test_converted_by_mujoco(path, tmp_path):
    model = mujoco.MjModel.from_xml_string(bare(path))
    theirs = tmp_path / "theirs.xml"
    mujoco.mj_saveLastXML(str(theirs), model)
    theirs.write_text(theirs.read_text().replace("<compiler ", '<compiler balanceinertia="true" '))
    if path.name in BODIES:
        with pytest.raises(DynarmError, match="no joint moves any body"):
            dynarm.load(theirs)
        return
    arm = dynarm.load(theirs)
    assert arm.n == model.nv and not arm.origin.rigid
    assert error_of(arm, file_oracle(theirs, arm)) <= TOLERANCE
    arm.save(tmp_path / "ours.xml")
    assert error_of(arm, file_oracle(tmp_path / "ours.xml", arm), 2) <= TOLERANCE


@every_file
def test_written_by_dynarm(path, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some of them have impossible inertias
        arm = dynarm.load(path, allow_massless=True, snap=False, floating=path.name in BODIES)
    if path.name in IMPOSSIBLE:
        with pytest.raises(DynarmError, match=IMPOSSIBLE[path.name]):
            arm.save(tmp_path / "ours.xml")
        return
    arm.save(tmp_path / "ours.xml")
    twin = file_oracle(tmp_path / "ours.xml", arm)
    assert error_of(arm, twin) <= TOLERANCE
    assert error_of(dynarm.load(tmp_path / "ours.xml"), twin, 2) <= TOLERANCE


def test_the_robots_are_there():
    names = {path.name for path in FILES}
    assert len(FILES) >= 65 and names >= {*BODIES, *IMPOSSIBLE}
