"""The 3D page of whole robots: links on their parents, mimic joints that follow, held joints where they are held."""

from __future__ import annotations

import numpy as np
import pytest

import dynarm
from oracles.random_trees import tree_urdf
from strategies import random_rotation

viser = pytest.importorskip("viser", reason="viser is not installed (the extra 'view')")

from test_viewer import pose_of  # noqa: E402

from dynarm.robot.formats.urdf import arm_of_urdf  # noqa: E402
from dynarm.robot.frames.placed import coordinates, link_poses, root_pose, tool_poses  # noqa: E402
from dynarm.view.meshes import visuals  # noqa: E402
from dynarm.view.recording import read  # noqa: E402
from dynarm.view.viewer import ArmViewer  # noqa: E402


def tree(**options):
    text = tree_urdf(np.random.default_rng(11), 5, mimic=0.4)
    return arm_of_urdf(text.encode(), "tree", tools=["l2", "l0", "end4"], **options)


@pytest.mark.parametrize("floating", [False, True])
def test_places_are_those_of_the_compiled_kinematics(floating):
    arm = tree(floating=floating)
    model = dynarm.compile(arm)
    rng = np.random.default_rng(0)
    q = rng.uniform(-1, 1, arm.nq)
    if floating:
        q[3:7] /= np.linalg.norm(q[3:7])
    np.testing.assert_allclose(tool_poses(arm, q), model.forward_kinematics(q), atol=1e-13)
    assert np.linalg.det(root_pose(arm, q)[:3, :3]) == pytest.approx(1.0, abs=1e-13)
    masses = arm.parameters[:, 0]
    places = [root_pose(arm, q)] * floating + link_poses(arm, q)
    moment = sum(T[:3, 3] * p[0] + T[:3, :3] @ p[1:4] for T, p in zip(places, arm.parameters))
    np.testing.assert_allclose(moment / masses.sum(), model.center_of_mass(q), atol=1e-13)


@pytest.mark.parametrize("floating", [False, True])
def test_one_slider_a_joint_moves_all_that_follows(floating):
    arm = tree(floating=floating)
    assert not arm.coupling.free
    viewer = ArmViewer(arm)
    try:
        assert len(viewer.sliders) == len(arm.joint_names) == len(arm.coupling.masters)
        for k, slider in enumerate(viewer.sliders):
            slider.value = 3.0 * (k + 1) if viewer.joints[k].revolute else 0.1 * (k + 1)
        q = viewer.q
        assert q.shape == (arm.nq,) and (not floating or q[6] == 1.0)
        wanted = link_poses(arm, q)
        for frame, T in zip(viewer.drawing.frames, wanted, strict=True):
            np.testing.assert_allclose(pose_of(frame), T, atol=1e-6)
        assert len(viewer.drawing.tools) == 3
        gravity = dynarm.compile(arm).gravity(q)
        for value in gravity[-len(arm.joint_names) :]:
            assert f"{value:.3f} N" in viewer.numbers.content
        assert all(name in viewer.numbers.content for name in arm.joint_names)
        assert "base" not in viewer.numbers.content
    finally:
        viewer.close()


def test_recordings_of_free_robots_come_whole_or_with_joints_alone(tmp_path):
    arm = tree(floating=True)
    model = dynarm.compile(arm)
    rest = coordinates(arm, np.zeros(len(arm.joint_names)))
    run = dynarm.simulate(model, rest, np.zeros(arm.nv), 0.05)
    run.save(tmp_path / "run.npz")
    motion = read(tmp_path / "run.npz", arm)
    np.testing.assert_array_equal(motion.q, run.q)
    fixed = tree()
    still = np.zeros(fixed.nq)
    alone = dynarm.simulate(dynarm.compile(fixed), still, still, 0.05)
    alone.save(tmp_path / "joints.npz")
    motion = read(tmp_path / "joints.npz", arm)
    assert motion.q.shape[1] == arm.nq and motion.tau.shape[1] == arm.nv
    np.testing.assert_array_equal(motion.q[:, 7:], alone.q)
    np.testing.assert_array_equal(motion.q[:, :7], coordinates(arm, alone.q)[:, :7])


def test_meshes_of_held_joints_stand_where_they_are_held(tmp_path):
    """A pad behind a joint that is held: drawn where the tool on the same link is."""
    text = tree_urdf(np.random.default_rng(4), 5)
    pad = '<visual><origin xyz="0.1 0.2 0.3"/><geometry><box size="1 1 1"/></geometry></visual>'
    for name in ("l0", "l1", "l3", "l5"):
        text = text.replace(f'<link name="{name}">', f'<link name="{name}">{pad}')
    file = tmp_path / "tree.urdf"
    file.write_text(text, encoding="utf-8")
    freeze = {"j1": 0.7, "j5": -0.3}
    arm = dynarm.load(file, freeze=freeze, tools=["l0", "l1", "l3", "l5"])
    pads, lost = visuals(file, arm, freeze)
    assert len(pads) == 4 and not lost
    q = np.random.default_rng(0).uniform(-1, 1, arm.nq)
    links, tools = link_poses(arm, q), tool_poses(arm, q)
    for pad_drawn, tool in zip(pads, tools, strict=True):
        T = (links[pad_drawn.link] if pad_drawn.link >= 0 else np.eye(4)) @ pad_drawn.pose
        wanted = tool @ np.array([0.1, 0.2, 0.3, 1.0])
        np.testing.assert_allclose(T[:3, 3], wanted[:3], atol=1e-12)
        np.testing.assert_allclose(T[:3, :3], tool[:3, :3], atol=1e-12)


def test_a_turned_base_is_drawn_turned():
    arm = tree(floating=True)
    viewer = ArmViewer(arm)
    try:
        R = random_rotation(np.random.default_rng(1))
        w, x, y, z = viser.transforms.SO3.from_matrix(R).wxyz
        q = np.array([0.3, -0.2, 1.0, x, y, z, w, *np.zeros(len(arm.joint_names))])
        viewer.drawing.show(q)
        base = pose_of(viewer.drawing.start)
        np.testing.assert_allclose(base[:3, :3], R, atol=1e-6)
        np.testing.assert_allclose(base[:3, 3], q[:3], atol=1e-9)
    finally:
        viewer.close()
