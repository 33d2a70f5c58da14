"""The 3D page without a browser: what stands in the scene, what the numbers say, who may connect."""

from __future__ import annotations

import json
import signal
import socket
import sys
import urllib.request
from collections.abc import Iterator
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import dynarm
from oracles.hostile import hostile_arm
from oracles.patience import waited
from oracles.processes import started

viser = pytest.importorskip("viser", reason="viser is not installed (the extra 'view')")

from dynarm.reproductions.tanner2001_cases import run as run_case  # noqa: E402
from dynarm.view.arm import MESH, ArmDrawing  # noqa: E402
from dynarm.view.meshes import visuals  # noqa: E402
from dynarm.view.recording import ShownRecording, read  # noqa: E402
from dynarm.view.shapes import capsule, inertia_ellipsoid, quaternion  # noqa: E402
from dynarm.view.tables import torques  # noqa: E402
from dynarm.view.viewer import (  # noqa: E402
    ArmViewer,
    MobileViewer,
    ViewError,
    start_server,
)


def pose_of(handle) -> np.ndarray:
    T = np.eye(4)
    T[:3, :3] = viser.transforms.SO3(np.asarray(handle.wxyz)).as_matrix()
    T[:3, 3] = handle.position
    return T


@pytest.fixture
def closing() -> Iterator[list]:
    """Pages that are ended after the test."""
    opened: list = []
    yield opened
    for viewer in opened:
        viewer.close()


def test_a_capsule_is_as_long_and_thick_as_asked():
    start, end = np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 5.0])
    vertices, faces = capsule(start, end, 0.25)
    assert vertices[:, 2].min() == pytest.approx(2.75) and vertices[:, 2].max() == pytest.approx(
        5.25
    )
    assert np.hypot(*(vertices[:, :2] - start[:2]).T).max() == pytest.approx(0.25)
    edges = np.sort(np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]]), axis=1)
    counts = np.unique(edges, axis=0, return_counts=True)[1]
    assert set(counts) <= {1, 2}  # the rings at both tips are single points
    assert np.isfinite(capsule(start, start, 0.1)[0]).all()


def test_an_inertia_ellipsoid_has_that_inertia():
    rng = np.random.default_rng(0)
    R = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    half, mass = np.array([0.3, 0.2, 0.1]), 2.0
    squares = half**2
    inertia = R @ np.diag(mass / 5 * (squares.sum() - squares)) @ R.T
    found, axes = inertia_ellipsoid(mass, inertia)
    again = axes @ np.diag(mass / 5 * ((found**2).sum() - found**2)) @ axes.T
    np.testing.assert_allclose(again, inertia, atol=1e-12)
    assert np.linalg.det(axes) == pytest.approx(1.0)
    assert inertia_ellipsoid(0.0, inertia) is None


@pytest.mark.parametrize("name", ["stanford", "scara"])
def test_links_follow_the_sliders_and_gravity_is_told(name, closing):
    arm = dynarm.load(name)
    viewer = ArmViewer(arm)
    closing.append(viewer)
    model = dynarm.compile(arm)
    for k, slider in enumerate(viewer.sliders):
        slider.value = 20.0 + k if arm.joints[k].revolute else 0.1
    q = np.array([np.radians(20.0 + k) if j.revolute else 0.1 for k, j in enumerate(arm.joints)])
    gravity = [f"{tau:.3f}" for tau in model.gravity(q)]
    waited(lambda: all(number in viewer.numbers.content for number in gravity))
    np.testing.assert_allclose(viewer.drawing.q, q, atol=1e-12)
    tool = pose_of(viewer.drawing.frames[-1]) @ pose_of(viewer.drawing.tools[0])
    np.testing.assert_allclose(tool, model.forward_kinematics(q), atol=1e-9)


def test_names_cannot_become_part_of_the_page(closing):
    viewer = ArmViewer(hostile_arm())
    closing.append(viewer)
    assert "<script>" not in viewer.numbers.content and "&lt;script&gt;" in viewer.numbers.content
    assert "<img" not in viewer.numbers.content


def test_only_this_machine_can_connect(closing):
    viewer = ArmViewer(dynarm.load("two_link"))
    closing.append(viewer)
    assert viewer.address.startswith("http://127.0.0.1:")
    port = viewer.server.get_port()
    others = [a[4][0] for a in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)]
    for address in {a for a in others if not a.startswith("127.")}:
        with pytest.raises(OSError), socket.create_connection((address, port), timeout=2):
            pass
    with urllib.request.urlopen(viewer.address, timeout=10) as answer:
        assert b"<html" in answer.read().lower()


def test_a_port_in_use_is_refused_and_a_free_one_found(closing):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(ViewError, match=f"port {port} is in use; choose another"):
            start_server(port, "x")
    with pytest.raises(dynarm.DynarmError, match="between 1 and 65535"):
        start_server(70000, "x")


def test_without_viser_the_way_to_get_it_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "viser", None)
    with pytest.raises(ViewError, match=r"pip install .*\[view\]'"):
        start_server(None, "x")


def test_recordings_come_from_runs_and_logs(tmp_path):
    arm = dynarm.load("two_link")
    run = dynarm.simulate(dynarm.compile(arm), [0.5, 0], [0, 0], 0.2, times=np.linspace(0, 0.2, 41))
    run.save(tmp_path / "run.npz")
    stored = read(tmp_path / "run.npz", arm)
    np.testing.assert_array_equal(stored.q, run.q)
    assert stored.duration == pytest.approx(0.2) and stored.at(0.1) == 20
    table = np.column_stack([run.t, run.q, run.tau])
    np.savetxt(tmp_path / "log.csv", table, delimiter=",", header="t,q1,q2,tau1,tau2", comments="")
    np.testing.assert_allclose(read(tmp_path / "log.csv", arm).q, run.q, atol=1e-12)
    with pytest.raises(dynarm.DynarmError, match="2 joints, robot 'scara' has 4"):
        read(tmp_path / "run.npz", dynarm.load("scara"))
    with pytest.raises(dynarm.DynarmError, match="there is no file"):
        read(tmp_path / "nosuch.npz", arm)


def test_a_recording_plays(closing):
    arm = dynarm.load("two_link")
    t = np.linspace(0, 0.5, 51)
    q = np.column_stack([t, -t])
    viewer = ArmViewer(arm, recording=ShownRecording(t, q, 10 * q, "made"))
    closing.append(viewer)
    assert "torque" in viewer.numbers.content
    viewer.clock.value = 0.2
    waited(lambda: np.allclose(viewer.drawing.q, [0.2, -0.2], atol=0.011))
    viewer.playing = True
    waited(lambda: viewer.time == pytest.approx(0.5) and not viewer.playing)
    waited(lambda: np.allclose(viewer.drawing.q, [0.5, -0.5], atol=1e-9))


def test_a_mobile_manipulator_stands_on_its_wheels(closing):
    found = run_case(5)
    viewer = MobileViewer(found.robot, found.run)
    closing.append(viewer)
    k = int(np.argmin(found.run.measure))
    viewer._play(float(found.run.t[k]))
    assert "about to tip" in viewer.numbers.content and "lifted" in viewer.numbers.content
    x, y, theta = found.run.q[k, :3]
    T = pose_of(viewer.drawing.platform)
    np.testing.assert_allclose(T[:3, 3], [x, y, found.robot.platform.height], atol=1e-12)
    assert T[0, 0] == pytest.approx(np.cos(theta))


@pytest.mark.parametrize("name", ["tanner2001", "diffdrive_puma560"])
def test_a_platform_has_sliders_and_stands_in_their_pose(name, closing):
    robot = dynarm.mobile.load(name)
    q0, z0 = np.zeros(len(robot.coordinate_names)), np.zeros(len(robot.speed_names))
    z0[0] = 0.3
    run = robot.simulate(q0, z0, 0.2, lambda t, q, z: robot.inverse_dynamics(q, z, 0 * z))
    viewer = MobileViewer(robot, run)
    closing.append(viewer)
    viewer._play(0.1)
    moved, names = viewer.numbers.content, robot.coordinate_names[3:]
    assert len(viewer.sliders) == len(names)
    q = np.array(run.q[viewer._index(viewer.time)])
    for k, slider in enumerate(viewer.sliders):
        slider.value = 10.0 + k
        q[3 + k] = np.radians(10.0 + k)
    rest = np.zeros(len(robot.speed_names))
    ground, held = robot.ground(q, rest, rest), robot.hold(q)
    loads = [f"{force:.1f} N" for force in ground.forces[:, 2]]
    waited(lambda: all(load in viewer.numbers.content for load in loads))
    assert viewer.numbers.content != moved
    told = [f"{tau:.3f} N m".replace("-0.000", "0.000") for tau in held[-robot.arm.n :]]
    assert all(torque in viewer.numbers.content for torque in told)
    np.testing.assert_allclose(viewer.drawing.arm.q, q[-robot.arm.n :], atol=1e-12)


def test_an_arm_that_stands_above_its_base_is_joined_to_it():
    """Also where it branches: no robot floats above the ground."""
    handles: list[str] = []

    class Scene:
        def __getattr__(self, kind):
            def add(name, *args, **options):
                handles.append(name)
                return SimpleNamespace(name=name)

            return add

    joint = dynarm.Joint(mass=1.0, com=(0.1, 0, 0))
    legs = (joint, replace(joint, parent=0), replace(joint, parent=0, gamma=1.0, b=0.2))
    high = np.eye(4)
    high[2, 3] = 0.3
    for arm, joined in (
        (dynarm.Arm(legs, base=high), True),
        (dynarm.Arm(legs, floating=dynarm.Body(mass=1.0, inertia=np.eye(3))), False),
    ):
        handles.clear()
        ArmDrawing(Scene(), arm)
        assert ("/arm/stand/rod0" in handles) == joined


@pytest.mark.parametrize("floating", [False, True])
def test_the_ground_is_never_above_the_robot(floating, closing):
    leg = dynarm.Joint(alpha=1.57, a=0.2, b=0.1, mass=1.0, com=(0.3, 0.0, 0.0), parent=-1)
    arm = dynarm.Arm(
        (leg, replace(leg, gamma=2.0)),
        name="legs",
        floating=dynarm.Body(mass=5.0, inertia=np.eye(3)) if floating else None,
    )
    viewer = ArmViewer(arm)
    closing.append(viewer)
    for angle in (0.0, 90.0, -90.0):
        viewer.sliders[0].value = angle
        waited(lambda angle=angle: abs(viewer.drawing.q[-2] - np.radians(angle)) < 1e-9)
        feet = [(pose_of(f) @ [0.3, 0, 0, 1])[2] for f in viewer.drawing.frames]
        assert viewer.floor <= min(feet) and viewer.floor <= 0
    assert viewer.floor < -0.19, "one foot was straight down"


URDF = """<robot name="m">
 <link name="base"><visual><geometry><box size="1 1 1"/></geometry></visual></link>
 <link name="l1"><inertial><mass value="1"/>
  <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
 <link name="pad"><visual><origin xyz="0 0 0.5" rpy="0.3 0 0"/>
  <geometry><mesh filename="package://m/meshes/pad.stl" scale="2 2 2"/></geometry></visual></link>
 <link name="far"><visual><geometry><mesh filename="nosuch.stl"/></geometry></visual></link>
 <joint name="j" type="revolute"><parent link="base"/><child link="l1"/>
  <origin xyz="0.1 0.2 0.3" rpy="0.4 0.5 0.6"/><axis xyz="0 1 0"/>
  <limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
 <joint name="f" type="fixed"><parent link="l1"/><child link="pad"/><origin xyz="0 0 1" rpy="0 0 1.2"/></joint>
 <joint name="g" type="fixed"><parent link="pad"/><child link="far"/></joint>
</robot>"""


def test_meshes_of_a_urdf_stand_where_the_file_puts_them(tmp_path):
    import trimesh

    (tmp_path / "m" / "urdf").mkdir(parents=True)
    (tmp_path / "m" / "meshes").mkdir()
    trimesh.creation.box((0.1, 0.2, 0.3)).export(tmp_path / "m" / "meshes" / "pad.stl")
    file = tmp_path / "m" / "urdf" / "m.urdf"
    file.write_text(URDF)
    arm = dynarm.load(file, tip="l1")
    found, missing = visuals(file, arm)
    assert [v.link for v in found] == [-1, 0] and missing == ["mesh nosuch.stl is not there"]
    np.testing.assert_allclose(np.ptp(found[1].vertices, axis=0), [0.2, 0.4, 0.6], rtol=1e-6)
    whole = dynarm.load(file, tip="pad")  # its tool is the frame of the pad
    q = np.array([0.7])
    link = arm.base_pose @ arm.joints[0].displacement(0.7)
    origin = np.eye(4)
    origin[2, 3] = 0.5
    origin[1:3, 1:3] = [[np.cos(0.3), -np.sin(0.3)], [np.sin(0.3), np.cos(0.3)]]
    wanted = dynarm.compile(whole).forward_kinematics(q) @ origin
    np.testing.assert_allclose(link @ found[1].pose, wanted, atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(quaternion(wanted[:3, :3])), 1.0)


PAINTED = """<robot name="m">
 <material name="grey"><color rgba="0.5 0.5 0.5 1"/></material>
 <link name="base">
  <visual><geometry><box size="1 1 1"/></geometry><material name="red"><color rgba="1 0 0 1"/></material></visual>
  <visual><geometry><box size="1 1 1"/></geometry><material name="grey"/></visual>
  <visual><geometry><box size="1 1 1"/></geometry></visual>
  <visual><geometry><mesh filename="part.dae"/></geometry></visual></link>
 <link name="l1"><inertial><mass value="1"/>
  <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
 <joint name="j" type="revolute"><parent link="base"/><child link="l1"/><axis xyz="0 1 0"/>
  <limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
</robot>"""


def test_colours_of_a_urdf_and_meshes_of_collada_files(tmp_path, closing):
    import trimesh

    part = trimesh.creation.box((0.1, 0.2, 0.3))
    part.visual.face_colors = [0, 0, 255, 255]
    (tmp_path / "part.dae").write_bytes(trimesh.exchange.dae.export_collada(part))
    (tmp_path / "m.urdf").write_text(PAINTED)
    arm = dynarm.load(tmp_path / "m.urdf")
    shown, missing = visuals(tmp_path / "m.urdf", arm)
    assert missing == [] and len(shown) == 4
    assert [v.colour for v in shown[:3]] == [(255, 0, 0), (128, 128, 128), None]
    assert shown[3].colour == (0, 0, 255)
    np.testing.assert_allclose(np.ptp(shown[3].vertices, axis=0), [0.1, 0.2, 0.3], rtol=1e-5)
    viewer = ArmViewer(arm, visuals=shown)
    closing.append(viewer)
    assert viewer.drawing.meshes[0].color == (255, 0, 0)
    assert viewer.drawing.meshes[2].color == MESH


def test_torques_are_told_with_their_limits_and_zero_has_no_sign():
    arm = dynarm.load("two_link")
    joints = (
        replace(arm.joints[0], effort_limit=50.0, position_limits=(-1.0, 2.0)), arm.joints[1],
    )  # fmt: skip
    told = torques(replace(arm, joints=joints), {"gravity": np.array([-25.0, -1e-5])})
    assert "-25.000 N m" in told and "50 %" in told and "-57 to 115°" in told
    assert "-0.000" not in told and "0.000 N m" in told and "free" in told and "–" in told
    bare = torques(arm, {"gravity": np.zeros(2)})
    assert "of limit" not in bare


@pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX's")
def test_the_help_s_examples_serve_a_page_until_they_are_stopped(tmp_path):
    from dynarm.cli.view import EXAMPLES

    for line in EXAMPLES:
        words = [*line.split()[1:], "--json"]
        script = f"import sys; from dynarm.cli.app import run; sys.exit(run({words!r}))"
        process = started(script, tmp_path)
        lines = [process.stdout.readline() for _ in range(4)]
        told = json.loads("".join(lines))
        with urllib.request.urlopen(told["address"], timeout=10) as answer:
            assert answer.status == 200
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        assert process.returncode == 0 and out == "" and err == ""


def test_an_interrupt_while_the_address_is_told_ends_the_page_too(closing):
    """Whoever reads the address may be faster than the program."""
    viewer = ArmViewer(dynarm.load("two_link"))
    closing.append(viewer)
    with urllib.request.urlopen(viewer.address, timeout=10) as answer:
        assert answer.status == 200

    def told() -> None:
        raise KeyboardInterrupt

    viewer.wait(told)
    with pytest.raises(OSError):
        urllib.request.urlopen(viewer.address, timeout=10)
