"""Mobile manipulators out of one URDF: what is recognised, what is declared, what is refused; TIAGo by pinocchio."""

from __future__ import annotations

import numpy as np
import pytest

import dynarm
from dynarm import mobile
from dynarm.errors import DynarmError, InputError, ModelError
from dynarm.mobile import Wheel
from dynarm.mobile.outline import arm_frames
from oracles.example_robots import example_robot
from oracles.mobile_pinocchio import FreeRobot

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
TIAGO = example_robot("tiago_no_hand.urdf")
DRIVE = {
    f"wheel_{side}_joint": (np.array([0, y, 0.0985]), 0.0985)
    for side, y in (("left", 0.2022), ("right", -0.2022))
}
ROBOTS = {"whole": {}, "arm": {"tip": "arm_7_link"}}


def loaded(name):
    return mobile.load(TIAGO, snap=False, **ROBOTS[name])


def test_tiago_is_recognised():
    robot = loaded("arm")
    kinds = {w.name: (w.kind, round(w.radius, 4)) for w in robot.wheels}
    drives = {f"wheel_{side}": ("fixed", 0.0985) for side in ("left", "right")}
    casters = {
        f"caster_{a}_{b}_2": ("caster", 0.025) for a in ("front", "back") for b in ("left", "right")
    }
    assert kinds == drives | casters
    assert robot.arm.joint_names == ("torso_lift_joint", *(f"arm_{k}_joint" for k in range(1, 8)))
    assert robot.speed_names[:3] == ("v", "thetad", "torso_lift_jointd")
    left, front = (
        next(w for w in robot.wheels if w.name == n) for n in ("wheel_left", "caster_front_left_2")
    )
    assert front.x - left.x == pytest.approx(0.1695 - 0.016, abs=1e-12)
    assert loaded("whole").arm.n == 10 and loaded("whole").arm.branched


def test_no_wheel_pulls_at_rest():
    """With 6 kg in the hand every pose stands, often on fewer than six wheels: no force pulls, no friction is asked."""
    robot = loaded("arm")
    low, high = np.array([joint.position_limits for joint in robot.arm.joints]).T
    q = np.zeros((200, len(robot.coordinate_names)))
    q[:, 3:] = np.random.default_rng(0).uniform(low, high, (200, robot.arm.n))
    still = np.zeros(len(robot.speed_names))
    turns = np.array([arm_frames(robot, row)[-1][:3, :3] for row in q])
    load = np.zeros((200, 6))
    load[:, :3] = np.einsum("kji,j->ki", turns, [0, 0, -6 * 9.81])
    tau = robot.hold(q, load=load)
    contact = robot.contact(q, still, tau, load)
    assert (contact.tipover.measure > 0).all() and (contact.forces[..., 2] >= 0).all()
    assert (contact.forces[..., 2] == 0).any(-1).mean() > 0.2
    assert robot.friction_needed(q, still, tau, load).max() < 1e-9
    planned = robot.ground(q, still, still, load=load)
    np.testing.assert_allclose(contact.forces, planned.forces, atol=1e-9)
    run = robot.simulate(q[0], still, 0.02, tau[0], load=load[0], dt=0.01)
    assert run.wheel_forces[..., 2].min() >= 0 and np.isfinite(run.friction_needed).all()
    assert run.contact == "elastic" and run.status.startswith("stands")


@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.parametrize("slope", [0.0, 0.2])
def test_loads_and_torques_are_those_of_pinocchio(name, slope):
    """Whatever moves, and on a slope: torques of the joints, load on the ground, the drives' share, at 1e-9."""
    robot = loaded(name)
    other = FreeRobot(TIAGO, DRIVE)
    rng = np.random.default_rng(3)
    com = -np.array(robot.base.mount_pose[:3, 3])
    gravity = 9.81 * np.array([-np.sin(slope), 0.0, -np.cos(slope)])
    for _ in range(6):
        q, z, zd = (
            rng.uniform(-1, 1, len(n)) for n in (robot.coordinate_names, *[robot.speed_names] * 2)
        )
        joints = dict(
            zip(robot.arm.joint_names, zip(q[3:], z[2:], zd[2:], strict=True), strict=True)
        )
        # v is the forward speed of the mass centre; the root link stands on the axle
        twist = (z[0] + com[1] * z[1], 0.0, z[1])
        change = (zd[0] + com[1] * zd[1], 0.0, zd[1])
        wrench, torques = other.planned(joints, twist, change, gravity)
        ground = robot.ground(q, z, zd, gravity=gravity)
        size = np.abs(wrench).max()
        np.testing.assert_allclose(-ground.load[:3], wrench[:3], atol=1e-9 * size)
        moment = wrench[3:] - np.cross(com, wrench[:3])
        np.testing.assert_allclose(-ground.load[3:], moment, atol=1e-9 * size)
        tau = robot.inverse_dynamics(q, z, zd, gravity=gravity)
        for joint, value in zip(robot.arm.joint_names, tau[-robot.arm.n :], strict=True):
            assert value == pytest.approx(torques[joint], abs=1e-9 * size)
        # the wheels push so that forward force and yaw moment about the axle are what the motion needs
        forces = dict(zip(robot.wheel_names, ground.forces, strict=True))
        left, right = forces["wheel_left"][0], forces["wheel_right"][0]
        assert left + right == pytest.approx(wrench[0], abs=1e-9 * size)
        assert 0.2022 * (right - left) == pytest.approx(wrench[5], abs=1e-9 * size)
        for side, push in (("left", left), ("right", right)):
            drive = tau[robot.wheel_names.index(f"wheel_{side}")]
            spin = torques[f"wheel_{side}_joint"]
            assert drive == pytest.approx(0.0985 * push + spin, abs=1e-9 * size)


@pytest.mark.parametrize("file", ["tiago_no_hand.urdf", "tiago_dual.urdf", "tiago_pro.urdf"])
def test_everything_weighs(file):
    path = example_robot(file)
    robot = mobile.load(path)
    still = np.zeros(len(robot.speed_names))
    q = np.random.default_rng(0).uniform(-0.3, 0.3, (5, len(robot.coordinate_names)))
    whole = dynarm.load(path, floating=True, allow_massless=True).parameters[:, 0].sum()
    up = robot.ground(q, still, still).forces[..., 2].sum(-1)
    np.testing.assert_allclose(up, 9.81 * whole, rtol=1e-12)


def test_two_arms_move_on_their_own():
    """Torques of a whole robot with two arms, against pinocchio."""
    path = example_robot("tiago_pro.urdf")
    robot = mobile.load(path, snap=False)
    assert robot.speed_names[0] == "v" and robot.speed_names[1] != "thetad", (
        "four fixed wheels go ahead only"
    )
    other = FreeRobot(path, {})
    rng = np.random.default_rng(1)
    q, z, zd = (
        rng.uniform(-0.6, 0.6, len(n)) for n in (robot.coordinate_names, *[robot.speed_names] * 2)
    )
    z[0] = zd[0] = 0.0
    joints = dict(zip(robot.arm.joint_names, zip(q[3:], z[1:], zd[1:], strict=True), strict=True))
    wrench, torques = other.planned(joints, (0, 0, 0), (0, 0, 0))
    tau = robot.inverse_dynamics(q, z, zd)[-robot.arm.n :]
    for joint, value in zip(robot.arm.joint_names, tau, strict=True):
        assert value == pytest.approx(torques[joint], abs=1e-9 * np.abs(wrench).max())
    np.testing.assert_allclose(
        -robot.ground(q, z, zd).load[:3], wrench[:3], atol=1e-9 * abs(wrench[2])
    )


CART = """<robot name="cart"><link name="base">
<inertial><origin xyz="0.05 0 0.2"/><mass value="20"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>
{parts}
<link name="boom"><inertial><origin xyz="0.2 0 0"/><mass value="3"/><inertia ixx="0.1" iyy="0.1" izz="0.1"/></inertial>
</link>
<joint name="turn" type="revolute"><parent link="base"/><child link="boom"/><origin xyz="0 0 0.4"/><axis xyz="0 0 1"/>
<limit lower="-3" upper="3" velocity="1" effort="10"/></joint></robot>"""


def part(name, x, y, z, radius, axis="0 1 0", kind="continuous"):
    shape = (
        f'<collision><geometry><cylinder radius="{radius}" length="0.04"/></geometry></collision>'
        if radius
        else ""
    )
    return (
        f'<link name="{name}"><inertial><mass value="1"/><inertia ixx="0.002" iyy="0.004" izz="0.002"/></inertial>'
        f"{shape}</link>"
        f'<joint name="{name}_axle" type="{kind}"><parent link="base"/><child link="{name}"/>'
        f'<origin xyz="{x} {y} {z}"/><axis xyz="{axis}"/></joint>'
    )


def cart(tmp_path, *parts):
    path = tmp_path / "cart.urdf"
    path.write_text(CART.format(parts="".join(parts)))
    return path


TWO = [part(f"{n}_wheel", 0.0, y, 0.1, 0.1) for n, y in (("left", 0.3), ("right", -0.3))]


def test_wheels_by_name_by_shape_and_by_declaration(tmp_path):
    front = part("front_caster", 0.3, 0.0, 0.05, 0.05, kind="fixed")
    robot = mobile.load(cart(tmp_path, *TWO, front))
    assert [w.kind for w in robot.wheels] == ["fixed", "fixed", "caster"]
    assert [round(w.mass, 12) for w in robot.wheels] == [1.0, 1.0, 0.0]
    assert robot.wheels[0].spin == pytest.approx(0.004) and robot.wheels[0].turn == pytest.approx(
        0.002
    )
    assert robot.platform.mass == pytest.approx(21.0)
    rollers = [part(f"r{k}", 0.0, y, 0.1, 0.1) for k, y in enumerate((0.3, -0.3))]
    path = cart(tmp_path, *rollers, part("ball", 0.3, 0.0, 0.05, 0.05, kind="fixed"))
    kinds = {"r0": "fixed", "r1_axle": "fixed", "ball": "caster"}
    by_shape = mobile.load(path, wheels=kinds)
    same = np.array([(w.x, w.y, w.radius, w.mass) for w in by_shape.wheels])
    np.testing.assert_allclose(
        same, [(w.x, w.y, w.radius, w.mass) for w in robot.wheels], atol=1e-12
    )
    third = Wheel(0.3, 0.0, 0.05, kind="caster", name="third")
    mixed = mobile.load(path, wheels=["r0", "r1", third])
    assert mixed.wheels[2].x == pytest.approx(robot.wheels[2].x)
    text = 'urdf = "cart.urdf"\nname = "mine"\nwheels = { r0 = "fixed", r1 = "fixed", ball = "caster" }\n'
    (tmp_path / "cart.toml").write_text(text)
    file = mobile.load(tmp_path / "cart.toml")
    assert (
        file.name == "mine"
        and file.wheels == by_shape.wheels
        and file.platform == by_shape.platform
    )


def named():
    """Names that say nothing, and meshes where cylinders would tell the radius."""
    places = (("fl", 0.3, 0.25), ("fr", 0.3, -0.25), ("bl", -0.3, 0.25), ("br", -0.3, -0.25))
    return [part(f"drive_{n}", x, y, 0.1, None) for n, x, y in places]


def test_a_mecanum_base_of_meshes_is_declared(tmp_path):
    """Radius, kind and rollers where nothing in the file tells them, in Python and in TOML."""
    turn = np.pi / 4
    rollers = {"drive_fl": -turn, "drive_fr": turn, "drive_bl": turn, "drive_br": -turn}
    path = cart(tmp_path, *named())
    with pytest.raises(ModelError, match=r"radius; declare it: .*\"radius\": 0.1"):
        mobile.load(path, wheels={name: "omni" for name in rollers})
    given = {n: {"kind": "mecanum", "roller": a, "radius": 0.1} for n, a in rollers.items()}
    robot = mobile.load(path, wheels=given)
    assert [(w.radius, w.roller) for w in robot.wheels] == [(0.1, a) for a in rollers.values()]
    assert robot.speed_names[:3] == ("v", "vy", "thetad")
    assert robot.platform.mass == pytest.approx(20.0), "the mass of the wheels is with the wheels"
    rows = "".join(
        f'[wheels.{n}]\nkind = "mecanum"\nroller = {a!r}\nradius = 0.1\n'
        for n, a in rollers.items()
    )
    (tmp_path / "cart.toml").write_text(f'urdf = "cart.urdf"\n{rows}')
    assert mobile.load(tmp_path / "cart.toml").wheels == robot.wheels
    for bad in (0, -0.1, np.nan, "big"):
        with pytest.raises(
            DynarmError, match=r"radius of wheel 'drive_fl' is .*; give metres above"
        ):
            mobile.load(path, wheels=given | {"drive_fl": {"radius": bad}})


def steered(name, x, y, off=0.0):
    """A wheel on a steering column of its own."""
    return (
        f'<link name="{name}_column"/><joint name="{name}_steer" type="revolute"><parent link="base"/>'
        f'<child link="{name}_column"/><origin xyz="{x} {y} 0.1"/><axis xyz="0 0 1"/>'
        '<limit lower="-0.6" upper="0.6" velocity="1" effort="10"/></joint>'
    ) + part(f"{name}_wheel", 0, off, 0, 0.1).replace(
        '<parent link="base"/>', f'<parent link="{name}_column"/>'
    )


def test_a_car_steers_so_that_its_axles_meet(tmp_path):
    """Wheels on columns of their own beside fixed ones: by hand a Steering on the line of the fixed axle."""
    front = [steered(f"front_{s}", 0.5, y) for s, y in (("left", 0.3), ("right", -0.3))]
    path = cart(tmp_path, *TWO, *front)
    robot = mobile.load(path)
    kinds = {"left_wheel": "fixed", "right_wheel": "fixed"}
    kinds |= {"front_left_wheel": "ackermann", "front_right_wheel": "ackermann"}
    assert {w.name.removesuffix("_axle"): w.kind for w in robot.wheels} == kinds
    assert robot.speed_names[:2] == ("v", "phid") and "phi" in robot.coordinate_names
    geometry = robot.platform.steering
    assert geometry.x - geometry.axle == pytest.approx(0.5)
    assert geometry.axle == pytest.approx(robot.wheels[0].x)
    assert mobile.load(path, wheels=kinds).platform == robot.platform
    swung = [steered(f"front_{s}", 0.5, y, 0.05) for s, y in (("left", 0.3), ("right", -0.3))]
    with pytest.raises(ModelError, match="'front_left_wheel_axle' stands 50 mm off the axis of"):
        mobile.load(cart(tmp_path, *TWO, *swung))
    with pytest.raises(ModelError, match="axles of 'ackermann' wheels meet on the line of fixed"):
        mobile.load(cart(tmp_path, *TWO, *front), wheels=dict.fromkeys(kinds, "ackermann"))


def test_a_skew_axle_sets_the_angle(tmp_path):
    third = part("w_wheel", 0.3, 0.0, 0.1, 0.1, axis="-0.5 -0.866025403784 0")
    robot = mobile.load(
        cart(tmp_path, *TWO, third),
        wheels={"left_wheel": "caster", "right_wheel": "caster", "w_wheel": "fixed"},
    )
    assert robot.wheels[2].angle == pytest.approx(-np.pi / 6)


@pytest.mark.parametrize(
    ("parts", "given", "words"),
    [
        ([], {}, "no link of it is a wheel by name, axis and shape; declare them"),
        (TWO, {"tip": "elbow"}, "elbow"),
        (TWO, {"wheels": ["left_whel"]}, "left_whe"),
        (TWO, {"wheels": 3}, "wheels is 3; declare them"),
        (TWO, {"wheels": {"left_wheel": "round"}}, "is 'round'; choose one of"),
        ([*TWO, part("big_wheel", 0.3, 0, 0.2, 0.05)], {}, "stands 150 mm above the ground"),
        ([part(f"{k}_wheel", 0, k, 0.1, None) for k in (1, 2)], {}, "tells their radius; declare"),
        (
            TWO,
            {},
            "stands on three wheels or more, known are 'left_wheel_axle', 'right_wheel_axle'",
        ),
    ],
)
def test_refused(tmp_path, parts, given, words):
    with pytest.raises(DynarmError, match=words):
        mobile.load(cart(tmp_path, *parts), **given)


def test_wheels_that_steer_on_their_own_are_refused_by_name():
    with pytest.raises(ModelError, match=r"'j_wheel_1'.* steered each by a joint of its own"):
        mobile.load(example_robot("centauro.urdf"))
    with pytest.raises(InputError, match="choose parts of a URDF"):
        mobile.load("tanner2001", tip="x")
    with pytest.raises(ModelError, match="joints that follow others"):
        arm = dynarm.load(example_robot("panda.urdf"))
        mobile.MobileManipulator(
            mobile.Platform(9.0, (1, 1, 1), 0.2),
            [Wheel(0.3, 0, 0.1, kind="caster"), Wheel(0, 0.3, 0.1), Wheel(0, -0.3, 0.1)],
            mobile.Base(),
            arm,
        )
