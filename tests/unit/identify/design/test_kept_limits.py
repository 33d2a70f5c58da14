"""Torque limits and boxes hold in every motion that excite returns; where none can keep them, an error says which."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest

import dynarm
from dynarm import DynarmError, Friction
from dynarm.identify.design.limits import limits_of
from dynarm.identify.design.scaling import drawn_in, reachable_pose, resting_pose
from dynarm.identify.judgement import measures

TWO = dynarm.load("two_link")
QUICK = {"starts": 1, "iterations": 8}


def torques(arm, motion):
    model = dynarm.compile(arm, friction=True)
    return np.abs(model.inverse_dynamics(motion.q, motion.qd, motion.qdd)).max(axis=0)


@pytest.mark.parametrize("limit", [(8.0, 3.0), (25.0, 1.0), 2.0])
@pytest.mark.parametrize("iterations", [0, 8])
def test_tight_torques_are_kept(limit, iterations):
    """Far below the 50 N m that the free motion needs, and with an optimiser that may give up at once."""
    found = dynarm.excite(TWO, 10.0, torque=limit, starts=1, iterations=iterations)
    assert (torques(TWO, found) <= limit).all()
    assert (torques(TWO, found) > 0.3 * np.array(limit)).any()  # no smaller than it has to be
    assert np.isfinite(found.condition)
    np.testing.assert_allclose(found.qd[[0, -1]], 0, atol=1e-9)
    low, high = limits_of(TWO, None, None, None, None, None).low, np.pi
    assert (found.q >= low - 1e-9).all() and (found.q <= high + 1e-9).all()


def test_armature_and_friction_count_against_torque_limits():
    drive = Friction(viscous=2.0, coulomb=1.5, offset=0.5)
    arm = replace(TWO, joints=tuple(replace(j, friction=drive, armature=1.0) for j in TWO.joints))
    found = dynarm.excite(arm, 10.0, torque=12.0, **QUICK)
    assert (torques(arm, found) <= 12.0).all()
    assert (torques(arm, found) > torques(TWO, found) + 1).any()


@pytest.mark.parametrize("seed", [2, 5])
def test_torques_of_twenty_thousand_samples_are_kept_at_the_last_of_them_too(seed):
    """Dry friction makes them jump, so that those between samples looked at may be larger."""
    drive = Friction(viscous=0.5, coulomb=1.5)
    arm = replace(TWO, joints=tuple(replace(j, friction=drive) for j in TWO.joints))
    wishes = {"period": 20.0, "rate": 1000.0, "starts": 1, "iterations": 0, "seed": seed}
    free = dynarm.excite(arm, 20.0, floor=False, collisions=False, **wishes)
    limit = 0.8 * np.abs(free.tau).max(axis=0)
    found = dynarm.excite(arm, 20.0, floor=False, collisions=False, torque=limit, **wishes)
    assert (torques(arm, found) <= limit).all()
    assert (torques(arm, found) > 0.99 * limit).any()


def test_the_status_says_that_a_motion_was_drawn_in():
    assert "drawn in" in dynarm.excite(TWO, 10.0, torque=8.0, starts=1, iterations=0).status
    assert "drawn in" not in dynarm.excite(TWO, 10.0, torque=1e4, **QUICK).status


@pytest.mark.parametrize("angle, inside", [(0.0, 0.01), (0.0005, 0.01), (2.0, 1.99)])
def test_a_home_at_an_end_of_a_range_is_refused_and_one_as_far_inside_as_told_is_not(angle, inside):
    """A motion that begins there at rest could not move the joint at all."""
    wishes = {"position": ((0, 2), (-1, 1)), "floor": False, "starts": 1, "iterations": 30}
    with pytest.raises(DynarmError, match=r"an end of its range 0 to 2.*give a home 0.01 inside"):
        dynarm.excite(TWO, 10.0, home=(angle, 0), **wishes)
    run = dynarm.excite(TWO, 10.0, home=(inside, 0), **wishes)
    assert np.ptp(run.q, axis=0).min() > 0.1 and run.condition < 1000


def test_of_the_few_poses_within_a_box_one_is_taken_from_where_all_joints_can_move(monkeypatch):
    """The middle of the box is beyond the end of the first joint's range, its edge is not."""
    monkeypatch.setattr(measures, "roomy_poses", lambda *given: [])
    model = dynarm.compile(TWO)
    middle = model.forward_kinematics(np.array([-0.3, 0.3]))[:3, 3]
    run = dynarm.excite(
        TWO,
        10.0,
        position=((0, 2), (-1, 1)),
        box=(middle - 0.6, middle + 0.6),
        floor=False,
        **QUICK,
    )
    assert np.ptp(run.q, axis=0).min() > 0.01 and run.condition < 1000


def test_a_narrow_box_is_kept():
    model = dynarm.compile(TWO)
    middle = model.forward_kinematics(np.array([0.6, 1.0]))[:3, 3]
    box = middle - 0.2, middle + 0.2
    found = dynarm.excite(TWO, 10.0, box=box, starts=2, iterations=60)
    tool = model.forward_kinematics(found.q)[:, :3, 3]
    assert (tool >= box[0] - 1e-9).all() and (tool <= box[1] + 1e-9).all()
    assert np.ptp(tool, axis=0).max() > 0.3  # most of the 0.4 that there are


@pytest.mark.parametrize(
    "options, words",
    [
        ({"box": ((50, 50, 50), (51, 51, 51))}, "box is out of the tool's reach by"),
        ({"box": ((-9, 0.5, -9), (9, 0.6, 9))}, "box is out of the tool's reach by 0.5 m"),
        ({"torque": 1e-3, "position": (-0.4, 0.4)}, "needs .* to hold the arm at rest"),
        ({"torque": (100.0, 1e-9), "position": (-0.4, 0.4)}, "limit is 1e-09"),
    ],
)
def test_limits_that_nothing_keeps_are_refused_in_one_line(options, words):
    with pytest.raises(DynarmError, match=words) as refusal:
        dynarm.excite(TWO, 10.0, **QUICK, **options)
    assert "\n" not in str(refusal.value)


def test_friction_that_leaves_no_room_is_told():
    arm = replace(TWO, joints=tuple(replace(j, friction=Friction(coulomb=9.0)) for j in TWO.joints))
    with pytest.raises(
        DynarmError, match=r"joint 'shoulder' has a Coulomb friction of 9 .* limit of 5, so nothing"
    ):
        dynarm.excite(arm, 10.0, torque=5.0, **QUICK)


# ---- the search itself


LIMITS = limits_of(TWO, (-1.0, 2.0), None, None, None, None)


def test_the_pose_with_most_room_is_found():
    best = np.array([0.7, -0.3])
    pose, miss = resting_pose(LIMITS, lambda q: np.abs(q - best).max(axis=1) - 0.1, 0)
    np.testing.assert_allclose(pose, best, atol=1e-3)
    assert miss == pytest.approx(-0.1, abs=1e-3)
    outside = np.array([3.0, 0.0])
    pose, miss = resting_pose(LIMITS, lambda q: np.abs(q - outside).max(axis=1), 0)
    assert pose[0] == pytest.approx(2.0, abs=1e-3)
    assert miss == pytest.approx(1.0, abs=1e-3)
    with pytest.raises(DynarmError, match="reach by 1 m"):
        reachable_pose(LIMITS, lambda q: np.abs(q - outside).max(axis=1), np.zeros_like, ("a",), 0)


def test_motions_are_drawn_in_as_little_as_needed():
    """|c + a| may be 1, with c = 2 and a = 2 about a pose at 0: a quarter of the way."""
    x = np.array([[2.0, 2.0]])
    drawn = drawn_in(x, np.zeros(1), lambda y: float(np.abs(y.sum()) - 1))
    np.testing.assert_allclose(drawn, [[0.5, 0.5]], rtol=1e-3)
    assert drawn.sum() <= 1
    same = drawn_in(x, np.zeros(1), lambda y: float(np.abs(y.sum()) - 4))
    np.testing.assert_allclose(same, x)
    moved = drawn_in(x, np.array([-1.0]), lambda y: float(y[0, 1] - 1))
    np.testing.assert_allclose(moved, [[0.5, 1.0]], rtol=1e-3)  # half of 2, half of -1


# ---- floor, bodies, home


def test_links_stay_above_the_floor_and_the_motion_starts_at_home():
    model = dynarm.compile(TWO)
    home = np.array([1.2, 0.6])
    run = dynarm.excite(TWO, 10.0, home=home, floor=0.1, **QUICK)
    np.testing.assert_allclose(run.q[[0, -1]], [home, home], atol=1e-9)
    assert model.forward_kinematics(run.q)[:, 2, 3].min() > 0.1
    assert any("z = 0.1 m" in line for line in run.checked)
    free = dynarm.excite(TWO, 10.0, floor=False, collisions=False, **QUICK)
    assert model.forward_kinematics(free.q)[:, 2, 3].min() < -0.1
    assert not free.checked and "switched off" in free.unchecked[0]


@pytest.mark.parametrize(
    "options, words",
    [
        ({"home": (-1.2, 0.0)}, "at home .* above the floor"),
        ({"home": (9.0, 0.0)}, "home of joint 'shoulder' is 9, its limits are"),
        ({"home": (1.0, 0.0, 0.0)}, "home"),
        ({"floor": 50.0}, "no pose keeps the links off the floor"),
        (
            {"home": (1.2, 0.6), "box": ((-2.0, -1.0, 0.0), (2.0, 1.0, 0.3)), "floor": False},
            r"at home the tool is \d.* m out of the box; give another home",
        ),
        (
            {"home": (0.0, 0.0), "torque": 1.0, "floor": False},
            "at home joint 'shoulder' needs .* times its torque limit",
        ),
        ({"box": ((-2, -1, -9), (2, 1, -8))}, "box is out of the tool's reach by"),
        (
            {"box": ((-2, -1, -1.5), (2, 1, -0.5))},
            "no pose keeps the tool in the box and the links off",
        ),
        ({"floor": "low"}, "floor"),
        ({"collisions": 3}, "collisions"),
        ({"rate": 1e6, "duration": 1e4}, "need .* GB, give at most"),
    ],
)
def test_wishes_about_bodies_that_nothing_keeps_are_refused(options, words):
    with pytest.raises(DynarmError, match=words):
        dynarm.excite(**({"arm": TWO, "duration": 10.0} | QUICK | options))


def test_what_was_kept_is_kept_in_numbers():
    box = ((-2.0, -1.0, 0.0), (2.0, 1.0, 2.5))
    run = dynarm.excite(TWO, 10.0, torque=40.0, box=box, **QUICK)
    kept, model = run.kept, dynarm.compile(TWO, friction=True)
    assert kept.floor == 0.0 and kept.torque.tolist() == [40.0, 40.0]
    np.testing.assert_array_equal(kept.box, box)
    np.testing.assert_allclose(kept.home, run.q[0], atol=1e-12)
    np.testing.assert_allclose(run.q[-1], kept.home, atol=1e-9)
    assert (run.q >= kept.position[:, 0]).all() and (run.q <= kept.position[:, 1]).all()
    assert (np.abs(run.qd) <= kept.velocity).all() and (np.abs(run.qdd) <= kept.acceleration).all()
    np.testing.assert_allclose(run.tau, model.inverse_dynamics(run.q, run.qd, run.qdd))
    free = dynarm.excite(TWO, 10.0, floor=False, collisions=False, **QUICK).kept
    assert (free.floor, free.box, free.torque, free.pairs) == (None, None, None, ())


def test_pairs_of_links_are_kept_by_name():
    arm = dynarm.load("puma560")
    kept = dynarm.excite(arm, 10.0, starts=1, iterations=2).kept
    assert kept.pairs and all(a != b for a, b in kept.pairs)
    assert not set(kept.pairs) & set(kept.left)


def test_a_robot_without_geometry_gets_rods_and_says_so(tmp_path):
    """A URDF without collision shapes, and one whose mesh is not there."""
    inertia = '<mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
    link = f'<link name="{{}}"><inertial>{inertia}</inertial>{{}}</link>'
    mesh = '<collision><geometry><mesh filename="none.stl"/></geometry></collision>'
    joint = (
        '<joint name="{0}" type="revolute"><parent link="{1}"/><child link="{2}"/><axis xyz="0 1 0"/>'
        '<origin xyz="0 0 {3}"/>'
        '<limit lower="-2" upper="2" velocity="2" effort="90"/></joint>'
    )
    joints = joint.format("first", "base", "upper", 0.5) + joint.format(
        "second", "upper", "lower", 0.6
    )
    for shape, words in (
        ("", "rods between joints"),
        (mesh, "none.stl is not there; a rod is taken"),
    ):
        path = tmp_path / "arm.urdf"
        links = "".join(link.format(name, shape) for name in ("base", "upper", "lower"))
        path.write_text(f'<robot name="bare">{links}{joints}</robot>')
        run = dynarm.excite(dynarm.load(path), 10.0, **QUICK)
        assert any(words in line for line in (*run.checked, *run.unchecked))


def test_a_base_that_stands_on_a_pedestal_has_its_floor_below():
    from benchmarks.collisions import example_robot

    from dynarm.identify.design.clearance import clearance_of
    from dynarm.identify.design.shapes import shapes_of

    for file, tip, height in (("baxter.urdf", "left_hand_link", -0.93), ("panda.urdf", None, 0.0)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            arm = dynarm.load(example_robot(file), tip=tip)
        limits = limits_of(arm, *[None] * 5)
        look = clearance_of(arm, shapes_of(arm), limits, 0.0, True, False)
        assert look.floor == pytest.approx(height, abs=0.01)
        given = clearance_of(arm, shapes_of(arm), limits, 0.0, True, True)
        assert given.floor == 0.0  # what was asked for stays where it is


def test_an_arm_that_hangs_at_a_shoulder_has_no_floor_unless_it_is_asked_for():
    from benchmarks.collisions import example_robot

    from dynarm.identify.design.clearance import clearance_of
    from dynarm.identify.design.shapes import shapes_of

    arm = dynarm.load(
        example_robot("talos_left_arm.urdf"), tip="arm_left_7_link", allow_massless=True
    )
    shapes, limits = shapes_of(arm), limits_of(arm, *[None] * 5)
    look = clearance_of(arm, shapes, limits, 0.0, True, False)
    assert not len(look.ends) and any("below it in most poses" in line for line in look.unchecked)
    asked = clearance_of(arm, shapes, limits, 0.0, True, True)
    assert len(asked.ends) and any(line.startswith("floor") for line in asked.checked)
    for file in ("ur5_robot.urdf", "so101.urdf"):  # these stand, and reach below their base
        standing = dynarm.load(example_robot(file), allow_massless=True)
        limits = limits_of(standing, *[None] * 5)
        assert len(clearance_of(standing, shapes_of(standing), limits, 0.0, True, False).ends)


def test_fingers_that_follow_each_other_may_touch():
    from benchmarks.collisions import example_robot

    from dynarm.identify.design.clearance import clearance_of
    from dynarm.identify.design.shapes import shapes_of

    arm = dynarm.load(example_robot("panda.urdf"))
    look = clearance_of(arm, shapes_of(arm), limits_of(arm, *[None] * 5), 0.0, True, False)
    pairs = {frozenset(pair) for pair in (*look.paired, *look.left)}
    assert frozenset(("'panda_leftfinger'", "'panda_rightfinger'")) not in pairs
    assert frozenset(("'panda_leftfinger'", "'panda_link5'")) in pairs


def test_progress_is_told():
    parts = []
    dynarm.excite(TWO, 10.0, progress=parts.append, **QUICK)
    assert parts == sorted(parts) and parts[0] > 0 and parts[-1] <= 1
