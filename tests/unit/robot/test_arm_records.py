"""The records Arm, Joint and Friction: what they hold, how they change, what they refuse."""

from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dynarm import Arm, DynarmError, Friction, Joint, load
from dynarm.robot.arm import Origin
from dynarm.robot.inertia import move_parameters, pack_parameters, unpack_parameters
from strategies import arm_strategy, random_body, random_pose

BODY = {"mass": 2.0, "com": (0.1, 0.2, 0.3), "inertia": np.diag([0.1, 0.2, 0.25])}


def test_parameters_are_about_the_frame():
    joint = Joint(**BODY)
    assert joint.parameters == pytest.approx(
        [
            2,
            0.2,
            0.4,
            0.6,
            0.1 + 2 * 0.13,
            -2 * 0.02,
            0.2 + 2 * 0.1,
            -2 * 0.03,
            -2 * 0.06,
            0.25 + 2 * 0.05,
        ]
    )
    arm = Arm([joint, Joint(**BODY)])
    assert arm.parameters.shape == (2, 10)
    with pytest.raises(ValueError):
        arm.parameters[0, 0] = 1  # the table is the arm's own
    assert arm.urdf_parameters is arm.parameters


def test_moving_parameters_there_and_back():
    for seed in range(10):
        rng = np.random.default_rng(seed)
        mass, com, inertia = random_body(rng)
        p = pack_parameters(mass, com, inertia)
        T = random_pose(rng)
        R, t = T[:3, :3], T[:3, 3]
        moved = move_parameters(p, R, t)
        assert moved == pytest.approx(
            pack_parameters(mass, R @ com + t, R @ inertia @ R.T), abs=1e-13
        )
        assert move_parameters(moved, R.T, -R.T @ t) == pytest.approx(p, abs=1e-12)
        m, c, I = unpack_parameters(p)
        assert (m, c, I) == (mass, pytest.approx(com), pytest.approx(inertia, abs=1e-13))


@settings(max_examples=25, deadline=None)
@given(arm_strategy(4), st.randoms())
def test_records_are_values(arm, random):
    assert replace(arm) == arm
    assert hash(replace(arm)) == hash(arm)
    assert pickle.loads(pickle.dumps(arm)) == arm
    again = arm.with_parameters(arm.parameters)
    assert np.array_equal(again.parameters, arm.parameters)
    assert replace(arm, name="other") != arm
    joint = arm.joints[0]
    assert replace(joint, name="x").parameters == joint.parameters
    assert replace(joint, armature=1.0).parameters == joint.parameters


def test_records_are_frozen():
    with pytest.raises(FrozenInstanceError):
        Joint().mass = 1
    with pytest.raises(FrozenInstanceError):
        Arm([Joint()]).name = "x"


def test_arrays_of_an_arm_are_read_only_also_after_pickling():
    arm = Arm([Joint(**BODY)])
    arm.parameters, arm.urdf_parameters, arm.frame0, arm.size  # noqa: B018  (cached from here on)
    for one in (arm, pickle.loads(pickle.dumps(arm)), copy.deepcopy(arm), replace(arm)):
        for array in (one.parameters, one.urdf_parameters, one.frame0):
            with pytest.raises(ValueError, match="read-only"):
                array[0, 0] = 7.0
        one.base_pose[0, 0] = one.tool_pose[0, 0] = 7.0  # copies of their own
        assert one == arm and one.base_pose[0, 0] == 1.0


def test_doubts_about_drives_and_limits():
    friction = Friction(viscous=-1.0, coulomb=0.1, coulomb_negative=-2.0)
    arm = Arm([Joint(**BODY, friction=friction, position_limits=(1, -1), name="elbow")])
    assert arm.check() == [
        "joint 'elbow': friction viscous -1 is negative",
        "joint 'elbow': friction coulomb_negative -2 is negative",
        "joint 'elbow': position limits 1.0 > -1.0",
    ]


def test_a_mass_changes_only_with_its_parameters():
    joint = Joint(**BODY)
    with pytest.raises(DynarmError, match="parameters=None"):
        replace(joint, mass=3.0)
    assert replace(joint, mass=3.0, parameters=None).parameters[0] == 3.0


def test_any_numbers_can_be_parameters():
    arm = Arm([Joint(), Joint()])
    table = np.arange(20.0).reshape(2, 10) - 7
    changed = arm.with_parameters(table)
    assert np.array_equal(changed.parameters, table)
    assert changed.joint_names == arm.joint_names
    with pytest.raises(DynarmError, match=r"shape \(2, 9\)"):
        arm.with_parameters(table[:, :9])
    with pytest.raises(DynarmError, match="NaN"):
        arm.with_parameters(table * np.nan)


def test_payload_is_given_in_the_tool_frame():
    rng = np.random.default_rng(3)
    tool = random_pose(rng)
    arm = Arm([Joint(**BODY), Joint(**BODY)], tool=tool)
    com, inertia = np.array([0.1, 0, 0.05]), np.diag([1e-3, 2e-3, 2.5e-3])
    loaded = arm.with_payload(0.7, com, inertia)
    R, t = tool[:3, :3], tool[:3, 3]
    extra = pack_parameters(0.7, R @ com + t, R @ inertia @ R.T)
    assert loaded.parameters[0] == pytest.approx(arm.parameters[0], abs=0)
    assert loaded.parameters[1] == pytest.approx(arm.parameters[1] + extra, abs=1e-14)
    assert arm.with_payload(0.5).parameters[1, 0] == 2.5
    with pytest.raises(DynarmError, match="negative"):
        arm.with_payload(-1)


def test_names():
    arm = Arm([Joint(), Joint(name="elbow"), Joint()], name="three")
    assert arm.joint_names == ("joint1", "elbow", "joint3")
    assert arm.n == 3


def test_poses():
    base = random_pose(np.random.default_rng(0))
    arm = Arm([Joint(a=0.3, d=0.2)], base=base)
    assert np.array_equal(arm.base_pose, base)
    assert np.array_equal(arm.tool_pose, np.eye(4))
    assert arm.frame0 == pytest.approx(base @ Joint(a=0.3, d=0.2).displacement())
    assert Arm(arm.joints, base=base.tolist()) == Arm(arm.joints, base=base)


# ---- doubts


def test_sound_bodies_raise_no_doubt():
    assert Arm([Joint(**BODY)]).check() == []
    # a small flat disc far from its frame
    far = pack_parameters(5.0, [3.0, -2.0, 7.0], np.diag([1e-9, 1e-9, 2e-9]))
    point = pack_parameters(5.0, [3.0, -2.0, 7.0], np.zeros((3, 3)))
    for p in (far, point):
        assert Arm([Joint(parameters=p)]).check() == []


@pytest.mark.parametrize(
    "joint, doubt",
    [
        (
            Joint(mass=1, inertia=np.diag([1, 1, 3])),
            "principal moments 1, 1, 3 violate the triangle inequality",
        ),
        (Joint(mass=1, inertia=np.diag([1, 1, -0.5])), "negative principal moment"),
        (Joint(inertia=np.eye(3)), "mass is zero but"),
        (Joint(parameters=(0, 1, 0, 0, 1, 0, 1, 0, 0, 1)), "mass is zero but"),
        (Joint(parameters=(-1, 0, 0, 0, 1, 0, 1, 0, 0, 1)), "mass -1 is negative"),
        (Joint(**BODY, armature=-1), "armature -1 is negative"),
        (Joint(), "'joint1' moves no inertia about its axis: the mass matrix is singular"),
        (Joint("prismatic"), "moves no inertia along its axis"),
        (Joint(mass=1), "moves no inertia about its axis"),
    ],
)
def test_doubts(joint, doubt):
    assert any(doubt in text for text in Arm([joint]).check())


def test_idle_joints_are_those_at_the_tip():
    massless, massive = Joint(), Joint(**BODY)
    assert len(Arm([massive, massless, massless]).check()) == 2
    assert Arm([massless, massless, massive]).check() == []


# ---- refused

WRONG_JOINTS = {
    "kind": {"kind": "spherical"},
    "kind as a number": {"kind": 1},
    "kind as an array": {"kind": np.zeros(2)},
    "text": {"a": "0.1"},
    "NaN": {"alpha": float("nan")},
    "infinity": {"d": float("inf")},
    "an integer too large": {"d": 10**400},
    "complex": {"theta": 1j},
    "a truth value": {"a": True},
    "None": {"a": None},
    "a vector for a number": {"a": [1, 2]},
    "negative mass": {"mass": -1.0},
    "asymmetric inertia": {"inertia": [[1, 0.1, 0], [0, 1, 0], [0, 0, 1]]},
    "wrong shape of inertia": {"inertia": [1, 1, 1]},
    "wrong length of com": {"com": (0, 0)},
    "text in com": {"com": ("a", 0, 0)},
    "texts that are numbers": {"com": ("1", "2", "3")},
    "NaN in com": {"com": (0, float("nan"), 0)},
    "friction as a number": {"friction": 0.1},
    "name as a number": {"name": 7},
    "one limit": {"position_limits": 1.0},
    "text for a limit": {"velocity_limit": "fast"},
    "nine parameters": {"parameters": [1.0] * 9},
    "two descriptions": {"parameters": [1.0] * 10, "mass": 5.0},
}


@pytest.mark.parametrize("what", WRONG_JOINTS)
def test_joints_refuse(what):
    with pytest.raises(DynarmError) as caught:
        Joint(**WRONG_JOINTS[what])
    assert isinstance(caught.value, (ValueError, TypeError))
    assert len(str(caught.value)) > 20


WRONG_ARMS = {
    "no joints": {"joints": []},
    "one joint outside a list": {"joints": Joint()},
    "a number": {"joints": 3},
    "other things": {"joints": [Joint(), "elbow"]},
    "names twice": {"joints": [Joint(name="a"), Joint(name="a")]},
    "short gravity": {"joints": [Joint()], "gravity": (0, 0)},
    "gravity in words": {"joints": [Joint()], "gravity": "down"},
    "NaN gravity": {"joints": [Joint()], "gravity": (0, 0, float("nan"))},
    "no name": {"joints": [Joint()], "name": ""},
    "a number for a name": {"joints": [Joint()], "name": 5},
    "a base that is no pose": {"joints": [Joint()], "base": np.eye(4) * 2},
    "a mirrored tool": {"joints": [Joint()], "tool": np.diag([1, 1, -1, 1])},
    "a 3x3 tool": {"joints": [Joint()], "tool": np.eye(3)},
    "a tool in words": {"joints": [Joint()], "tool": "hand"},
    "another robot's origin": {"joints": [Joint()], "origin": Origin("b", (), (), (), ())},
}


@pytest.mark.parametrize("what", WRONG_ARMS)
def test_arms_refuse(what):
    with pytest.raises(DynarmError):
        Arm(**WRONG_ARMS[what])


@pytest.mark.parametrize(
    "wrong",
    [
        {"viscous": "x"},
        {"coulomb": float("nan")},
        {"shape": "stribeck"},
        {"width": 0.0},
        {"viscous_negative": []},
    ],
)
def test_friction_refuses(wrong):
    with pytest.raises(DynarmError):
        Friction(**wrong)


def test_built_in_arm_survives_a_change_of_gravity():
    arm = load("stanford")
    tilted = replace(arm, gravity=(1, 2, 3))
    assert tilted.gravity == (1.0, 2.0, 3.0)
    assert np.array_equal(tilted.parameters, arm.parameters)
