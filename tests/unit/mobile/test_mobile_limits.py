"""Where things end: singular steering, records at their limits, support polygons, statics, rows of (9)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import dynarm
from dynarm import mobile
from dynarm.errors import DynarmError, FormatError, InputError, ModelError
from dynarm.mobile import Base, MobileManipulator, Platform, Steering, Wheel
from dynarm.mobile.admissibility import _rows
from dynarm.mobile.contact import Contact
from dynarm.mobile.kernels import graph_of
from dynarm.mobile.stability import Tipover, support_of
from oracles.mobile_machines import MACHINES, states, unicycle

TANNER = mobile.load("tanner2001")
ARM = dynarm.Arm([dynarm.Joint(mass=1.0, com=(0.1, 0, 0), inertia=np.diag([0.1, 0.1, 0.1]))])
PLATFORM = Platform(40.0, (1.0, 1.0, 3.0), 0.2)
REAR = (Wheel(-0.3, 0.3, 0.15, 2.0), Wheel(-0.3, -0.3, 0.15, 2.0))


# ---- singular steering


@pytest.mark.parametrize(("skew", "fine"), [(0.8e6, True), (1.2e6, False)])
def test_steering_is_singular_from_a_millionfold_sideways_speed(skew, fine):
    """Tricycle: {v} moves sideways by t/2 and turns by t/0.6 per unit of v, t = tan(phi); turning counts at 0.67 m."""
    t = skew / np.hypot(0.5, np.hypot(0.6, 0.3) / 0.6)
    q = np.array([0, 0, 0, np.arctan(t), 0, 0])
    if fine:
        assert np.isfinite(TANNER.equations(q, np.zeros(4))[0]).all()
    else:
        with pytest.raises(InputError, match="is singular"):
            TANNER.equations(q, np.zeros(4))
        with pytest.raises(InputError, match=f"phi = {q[3]:.6g} is singular"):
            TANNER.equations(np.stack([np.zeros(6), q]), np.zeros(4))


@pytest.mark.parametrize(("skew", "fine"), [(0.8e6, True), (1.2e6, False)])
def test_singular_steering_of_one_wheel_with_casters(skew, fine):
    """Dolly: sideways t per unit of v and x + y t per unit of turning, which counts at the platform's size."""
    dolly = MACHINES["steered_dolly"]()
    assert dolly.guidance.size == pytest.approx(np.hypot(0.6, 0.6))
    wheel = dolly.wheels[0]
    t = skew / np.hypot(1.0, wheel.y / dolly.guidance.size)
    q = np.array([0, 0, 0, np.arctan(t), 0])
    if fine:
        assert np.isfinite(dolly.equations(q, np.zeros(4))[0]).all()
    else:
        with pytest.raises(InputError, match="is singular"):
            dolly.equations(q, np.zeros(4))


@pytest.mark.parametrize(("slope", "fine"), [(0.8e6, True), (1.2e6, False)])
def test_wheels_must_let_the_platform_go_ahead(slope, fine):
    wheels = (Wheel(0.0, 0.0, 0.1, angle=np.arctan(slope)),)
    wheels += tuple(Wheel(x, y, 0.1, kind="caster") for x, y in ((0.3, 0.3), (-0.3, 0.3)))
    if fine:
        robot = MobileManipulator(PLATFORM, wheels, Base(), ARM)
        assert robot.guidance.speeds == ("v", "thetad")
    else:
        with pytest.raises(ModelError, match="along its x axis"):
            MobileManipulator(PLATFORM, wheels, Base(), ARM)


def test_speeds_of_7_end_where_the_lead_wheel_comes_abreast():
    """Z_o = x cos(phi) + y sin(phi) of the steered wheel, against a millionth of the platform's size."""
    size = TANNER.guidance.size
    for part, fine in ((1.2e-6, True), (0.8e-6, False)):
        q = np.array([0, 0, 0, np.arccos(part * size / 0.3), 0, 0])
        if fine:
            assert np.isfinite(TANNER.kane_equations(q, np.zeros(5))[0]).all()
        else:
            with pytest.raises(InputError, match="Z_o of wheel 'w0' vanishes"):
                TANNER.kane_equations(q, np.zeros(5))


def test_holding_a_column_that_is_not_there_changes_nothing():
    robot = unicycle()
    q, z, tau, load = states(robot, 2, 40)
    for name in ("derivative", "control"):
        for a, b in zip(
            graph_of(robot.formulas, name).evaluate(q, z, tau, load),
            graph_of(robot.formulas, f"{name}:locked").evaluate(q, z, tau, load),
            strict=True,
        ):
            assert np.array_equal(a, b)
    assert np.array_equal(
        robot.acceleration(q, z, tau, load, locked=True), robot.acceleration(q, z, tau, load)
    )


# ---- records


def test_defaults_of_records():
    assert Wheel(1, 2, 0.1) == Wheel(1, 2, 0.1, 0.0, "fixed", 0.0, 1.0, 0.0, 0.0, True)
    assert Steering(0.4) == Steering(0.4, 0.0, 0.0)
    assert Base() == Base(0.0, (0, 0, 0), np.zeros((3, 3)), np.eye(4))
    assert MobileManipulator(PLATFORM, (*REAR, Wheel(0.3, 0, 0.1)), Base(), ARM).gravity == 9.81


def test_numbers_at_their_limits():
    assert Platform(0.0, (1, 1, 1), 0.5).mass == 0 and Wheel(0, 0, 0.5).radius == 0.5
    assert Wheel(0, 0, 0.1, 0.5).mass == 0.5
    longest = dynarm.robot.arm.LONGEST
    assert Wheel(longest, 0, 0.1).x == longest
    with pytest.raises(InputError, match="SI units"):
        Wheel(1.01 * longest, 0, 0.1)
    heaviest = dynarm.robot.arm.HEAVIEST
    assert Platform(1.0, (heaviest, 1, 1), 0.1).inertia[0][0] == heaviest
    with pytest.raises(InputError, match="too large"):
        Platform(1.0, (1.01 * heaviest, 1, 1), 0.1)
    weightless = MobileManipulator(PLATFORM, (*REAR, Wheel(0.3, 0, 0.1)), Base(), ARM, gravity=0)
    assert weightless.wheel_forces(np.zeros(4), np.zeros(2), np.zeros(7))[:, 2] == pytest.approx(0)


@pytest.mark.parametrize("size", [1e-3, 1.0, 1e6])
def test_asymmetry_that_is_rounding(size):
    for part, fine in ((0.9e-9, True), (1.1e-9, False)):
        table = size * np.array([[1.0, 0.2 + part, 0], [0.2, 1.0, 0], [0, 0, 1.0]])
        if fine:
            assert Platform(1.0, table, 0.1).inertia[0][1] == table[0, 1]
        else:
            with pytest.raises(ModelError, match="not symmetric"):
                Platform(1.0, table, 0.1)


@pytest.mark.parametrize("shape", [(3, 4), (4, 3), (15,), (17,)])
def test_mount_must_have_sixteen_numbers(shape):
    with pytest.raises(DynarmError, match="4x4 pose"):
        Base(mount=np.zeros(shape))
    assert Base(mount=np.eye(4).ravel()) == Base()


def test_wheel_is_named_in_its_refusal():
    with pytest.raises(ModelError, match=r"^wheel 'left': radius is 0"):
        Wheel(0, 0, 0.0, name="left")
    with pytest.raises(ModelError, match=r"^wheel: radius is 0"):
        Wheel(0, 0, 0.0)


def test_gravity_must_be_finite():
    with pytest.raises(DynarmError, match="gravity"):
        MobileManipulator(PLATFORM, (*REAR, Wheel(0.3, 0, 0.1)), Base(), ARM, gravity=np.inf)


# ---- inertia that there is, and that there is not


def test_a_rotor_without_mass_turns():
    """A link of inertia alone, as of a motor's rotor: it takes part with that inertia and weighs nothing."""
    rotor = dynarm.Arm([dynarm.Joint(parameters=(0, 0, 0, 0, 0.3, 0, 0.4, 0, 0, 0.5))])
    robot = MobileManipulator(PLATFORM, (*REAR, Wheel(0.3, 0, 0.1)), Base(), rotor)
    M, F, _ = robot.equations(np.array([0, 0, 0, 0.7]), np.zeros(2))
    assert M[1, 1] == pytest.approx(0.5, rel=1e-14) and F[1] == pytest.approx(0, abs=1e-14)


def test_a_joint_that_moves_nothing_is_named():
    empty = dynarm.Arm([dynarm.Joint(name="wrist")])
    robot = MobileManipulator(PLATFORM, (*REAR, Wheel(0.3, 0, 0.1)), Base(), empty)
    with pytest.raises(ModelError, match=r"'wrist' .* moves no inertia.*; give it mass"):
        robot.acceleration(np.zeros(4), np.zeros(2), np.zeros(7))


def test_two_joints_that_turn_the_same_link_have_no_accelerations():
    heavy = dynarm.Joint(mass=2.0, com=(0.2, 0, 0), inertia=np.diag([0.1, 0.1, 0.1]))
    twice = dynarm.Arm([dynarm.Joint(), heavy])
    robot = MobileManipulator(PLATFORM, (*REAR, Wheel(0.3, 0, 0.1)), Base(), twice)
    with pytest.raises(ModelError, match="mass matrix of robot 'mobile' is singular"):
        robot.acceleration(np.zeros(5), np.zeros(3), np.zeros(8))


# ---- support


@pytest.mark.parametrize("scale", [1e-5, 1.0, 1e3])
def test_support_polygon_at_every_size(scale):
    """A wheel in the middle of a side, off it by a ten-billionth, is no corner."""
    places = [(0.0, 0.0), (0.5, 0.4), (-0.5, 0.4), (-0.5, -0.4), (0.0, 0.4 + 1e-10), (0.5, -0.4)]
    wheels = [Wheel(scale * x, scale * y, 0.1, kind="caster") for x, y in places]
    assert support_of(wheels, 0.2).corners == (1, 2, 3, 5)
    out = [(0.0, 0.0), (0.5, 0.4), (-0.5, 0.4), (-0.5, -0.4), (0.0, 0.4 + 1e-7), (0.5, -0.4)]
    wheels = [Wheel(scale * x, scale * y, 0.1, kind="caster") for x, y in out]
    assert support_of(wheels, 0.2).corners == (1, 4, 2, 3, 5)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_wheels_almost_in_line(scale):
    def three(aside: float) -> list[Wheel]:
        places = ((0.5, 0.3), (0.0, 0.3 + aside), (-0.5, 0.3))
        return [Wheel(scale * x, scale * y, 0.1, kind="caster") for x, y in places]

    assert len(support_of(three(1e-8), 0.2).corners) == 3
    with pytest.raises(ModelError, match="one line"):
        support_of(three(1e-10), 0.2)


def test_tip_over_in_words():
    axes = (("a", "b"), ("b", "c"), ("c", "a"))

    def at(*angles):
        table = np.array(angles)
        return Tipover(table, 2 * table.min(-1), axes)

    assert at([0.5, 0.0, 0.2]).status == "stands (smallest measure 0 N rad, 0 degrees)"
    assert not at([0.5, 0.0, 0.2]).formal[0] and not at([0.3, 0.2, 0.2]).formal[0]
    falling = at([0.5, 0.1, 0.2], [0.5, 0.1, -0.2], [-0.1, 0.1, 0.2])
    assert "over the line from c to a (measure -0.4 N rad, -11.5 degrees)" in falling.status
    assert falling.formal.tolist() == [False, True, True]
    nothing = Tipover(np.zeros((0, 3)), np.zeros(0), axes)
    assert nothing.status == "no state was given"


def test_margin_of_adhesion_in_newtons():
    forces = np.array([[[3.0, 4.0, 20.0], [0.0, -6.0, 10.0]], [[0.0, 0.0, 5.0], [8.0, 6.0, -1.0]]])
    tip = Tipover(np.zeros((2, 3)), np.zeros(2), ())
    contact = Contact(forces, np.ones((2, 3), bool), {}, np.zeros((2, 2)), tip, np.zeros(2), "")
    assert contact.margin(0.5).tolist() == [[5.0, -1.0], [2.5, -10.5]]
    assert contact.margin([0.5, 1.0]).tolist() == [[5.0, 4.0], [2.5, -11.0]]


def test_sum_of_axle_forces_and_who_has_lifted_by_sample():
    q, z, tau, load = states(TANNER, 40, 41)
    contact = TANNER.contact(q, 3 * z, 20 * tau, 20 * load)
    assert list(contact.axle_sums) == [("w1", "w2")]
    both = contact.forces[:, 1, 1] + contact.forces[:, 2, 1]
    assert np.allclose(contact.axle_sums["w1", "w2"], both, rtol=1e-14)
    lifted = (contact.forces[..., 2] < 0).any(-1)
    assert contact.formal.tolist() == lifted.tolist() and 0 < lifted.sum() < 40


# ---- rows of (9)


@pytest.mark.parametrize("name", ["tanner2001", "four_steered", "unicycle"])
@pytest.mark.parametrize("friction", [False, True])
def test_forces_balance_load_and_drive(name, friction):
    """Vertical and level balance and the driving torques hold at every state, friction of bearings or not."""
    rough = dynarm.Friction(viscous=0.3, coulomb=0.2, shape="tanh", width=0.1)
    robot = MACHINES[name]()
    wheels = tuple(replace(w, rolling=rough) if w.guides else w for w in robot.wheels)
    robot = replace(robot, wheels=wheels, friction=friction)
    q, z, tau, load = (x[0] for x in states(robot, 1, 42))
    answer = robot.admissible(q, z, tau, 0.7, load)
    balances = [r for r in answer.rows if r.name in ("vertical balance", "no skidding")]
    drives = [r for r in answer.rows if r.name == "driving torque"]
    assert len(balances) == 2 and len(drives) == sum(w.guides for w in robot.wheels)
    assert all(row.holds and -1e-8 < row.margin <= 0 for row in balances + drives)


def rows_at(robot, ground, forces, drive=None, eta=0.5):
    w = len(robot.wheels)
    drive = np.zeros(w) if drive is None else drive
    q = np.zeros(len(robot.coordinate_names))
    made = _rows(robot, q, forces, ground, np.full(w, eta), drive)
    return {(r.name, r.wheel): r for r in made}


def test_a_balance_may_lack_a_billionth_of_the_load():
    weight = 300.0
    ground = np.array([0, 0, -weight, 0, 0, 0.0])
    level = np.tile([0.0, 0.0, weight / 3], (3, 1))
    for part, fine in ((0.8e-9, True), (1.2e-9, False)):
        lacks = part * weight
        forces = level + np.array([[lacks, 0, 0], [0, 0, 0], [0, 0, 0]])
        assert rows_at(TANNER, ground, forces)["no skidding", None].holds is fine
        forces = level + np.array([[0, 0, 0], [0, 0, -lacks], [0, 0, 0]])
        assert rows_at(TANNER, ground, forces)["vertical balance", None].holds is fine
        made = rows_at(TANNER, ground, level, np.array([0, -lacks, 0]))
        assert made["driving torque", "w1"].holds is fine and made["driving torque", "w0"].holds
        assert made["driving torque", "w1"].margin == -lacks
        nothing = rows_at(TANNER, 0 * ground, np.array([[0, part, 0], [0, 0, 0], [0, 0, 0]]))
        assert nothing["no skidding", None].holds is fine
    off = rows_at(TANNER, ground, level + np.array([[3.0, 4.0, 7.0], [0, 0, 0], [0, 0, 0]]))
    assert off["no skidding", None].margin == pytest.approx(-5.0)
    assert off["vertical balance", None].margin == pytest.approx(-7.0)


def test_a_wheel_that_just_touches_is_in_contact():
    ground = np.array([0, 0, -300.0, 0, 0, 0])
    touching = np.array([[0, 0, 0.0], [0, 0, 150.0], [0, 0, 150.0]])
    made = rows_at(TANNER, ground, touching)
    assert made["contact", "w0"].holds and made["contact", "w0"].margin == 0
    assert made["no slipping", "w0"].holds and made["no slipping", "w1"].margin > 0
    slow = rows_at(
        TANNER, ground, touching + np.array([[0, 0, 0], [0.5, 0, 0], [0, 0, 0]]), eta=0.01
    )
    assert slow["no slipping", "w1"].holds
    floating = rows_at(TANNER, 0 * ground, 0 * touching)
    assert not floating["no tip-over", None].holds


def test_without_open_forces_nothing_is_searched():
    """One steered wheel and two casters: every force follows from statics."""
    wheels = (Wheel(0.3, 0.0, 0.15, 2.0, "steered"),)
    wheels += tuple(Wheel(-0.3, y, 0.1, 0.5, "caster") for y in (0.3, -0.3))
    robot = MobileManipulator(PLATFORM, wheels, Base(), ARM)
    n = len(robot.input_names)
    answer = robot.admissible(np.zeros(5), np.zeros(4), np.zeros(n), 0.5)
    assert answer and not answer.optimised and "the forces satisfy every" in answer.status
    assert np.array_equal(answer.forces, robot.wheel_forces(np.zeros(5), np.zeros(4), np.zeros(n)))
    three = TANNER.admissible(np.zeros(6), np.zeros(4), np.zeros(8), 0.0)
    assert three and three.optimised  # at rest on ice: one self-stress of the rear axle is open
    assert "some distribution" in three.status


@pytest.mark.parametrize(
    ("z", "tau", "words"),
    [
        (np.zeros((2, 4)), np.zeros(8), "loop over the batch"),
        (np.zeros(4), np.zeros((2, 8)), "tau or load holds a batch"),
    ],
)
def test_admissible_takes_no_batch(z, tau, words):
    with pytest.raises(InputError, match=words):
        TANNER.admissible(np.zeros(6), z, tau, 0.5)


# ---- files

FILE = """
[platform]
mass = 10.0
inertia = [1, 1, 1]
height = 0.2
[[wheels]]
x = 0.0
y = 0.3
radius = 0.1
[[wheels]]
x = 0.0
y = -0.3
radius = 0.1
[[wheels]]
x = 0.4
y = 0.0
radius = 0.1
kind = "caster"
"""


def test_file_says_little(tmp_path):
    """Gravity, friction, name and mount that a file leaves out; a file of an arm's name does not hide the arm."""
    path = tmp_path / "cart.TOML"
    (tmp_path / "two_link").write_text("no arm")
    path.write_text('arm = "two_link"\n' + FILE)
    robot = mobile.load(path)
    assert (robot.gravity, robot.friction, robot.name) == (9.81, False, "mobile")
    assert robot.arm == dynarm.load("two_link") and robot.base == Base()
    path.write_text('arm = "two_link"\n' + FILE + "[base]\nyaw = 0.3\n")
    turn = mobile.load(path).base.mount_pose
    assert np.allclose(turn[:2, :2], [[np.cos(0.3), -np.sin(0.3)], [np.sin(0.3), np.cos(0.3)]])
    assert (turn[:3, 3] == 0).all() and turn[2, 2] == 1
    path.write_text('arm = "two_link"\n' + FILE + "[base]\nposition = [0.1, 0.2, 0.3]\n")
    shifted = mobile.load(path).base.mount_pose
    assert shifted[:3, 3].tolist() == [0.1, 0.2, 0.3] and (shifted[:3, :3] == np.eye(3)).all()
    path.write_text('arm = "gone.toml"\n' + FILE)
    with pytest.raises(DynarmError, match=r"gone\.toml"):
        mobile.load(path)
    with pytest.raises(FormatError, match=r"must end in \.toml"):
        mobile.load(str(tmp_path / "cart"))


@pytest.mark.parametrize("name", ["a b", "tab\there", "del\x7f", 'quote " and \\', "\x01"])
def test_every_name_comes_back(name, tmp_path):
    robot = MobileManipulator(PLATFORM, (*REAR, Wheel(0.3, 0, 0.1)), Base(), ARM, name=name)
    robot.save(tmp_path / "x.toml")
    assert mobile.load(tmp_path / "x.toml").name == name
