"""Robots as TOML: everything comes back bit by bit, nothing unknown gets in."""

from __future__ import annotations

import contextlib
import math
from dataclasses import astuple, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dynarm import Arm, DynarmError, Friction, Joint
from dynarm.robot.formats.toml_file import MAX_BYTES, MAX_JOINTS, read_toml, write_toml
from dynarm.robot.formats.urdf import arm_of_urdf
from strategies import arm_strategy, random_urdf

JOINT = '[[joints]]\nkind = "revolute"\n'


def read(text: str | bytes) -> Arm:
    return read_toml(text if isinstance(text, bytes) else text.encode(), "arm.toml")


def assert_identical(one: Arm, other: Arm) -> None:
    assert one == other
    # also the signs of zeros, and the origin, which equality leaves out
    assert repr(astuple(one)) == repr(astuple(other))


@settings(max_examples=40, deadline=None)
@given(arm_strategy())
def test_any_arm_comes_back(arm):
    assert_identical(read(write_toml(arm)), arm)


def test_everything_comes_back():
    friction = Friction(0.1, 0.2, -0.3, "tanh", 0.05, viscous_negative=0.15, coulomb_negative=0.0)
    body = {"mass": 1.2, "com": (0.1, -0.0, 1 / 3), "inertia": np.diag([0.1, 0.2, 0.25])}
    joints = [
        Joint(
            "prismatic",
            0.1,
            1.5708,
            -0.2,
            1e-17,
            **body,
            armature=1e-5,
            friction=friction,
            name='a "b"\\\n\x7f',
        ),
        Joint(
            beta=1e-7,
            name="épaule 関節",
            position_limits=(-1, 2),
            velocity_limit=3,
            effort_limit=1e300,
        ),
        Joint(parameters=(-1.0, 0.1, 0.2, 0.3, *range(6)), friction=Friction()),
    ]
    arm = Arm(joints, gravity=(0.1, 0.2, 1e-320), name="x", base=np.diag([1, -1, -1, 1]))
    assert_identical(read(write_toml(arm)), arm)
    heavier = arm.with_parameters(arm.parameters * 1.1)
    assert_identical(read(write_toml(heavier)), heavier)
    loaded = arm.with_payload(0.3, (0, 0.1, 0), np.eye(3) * 1e-3)
    assert_identical(read(write_toml(loaded)), loaded)


def test_the_way_back_to_the_urdf_comes_back():
    arm = arm_of_urdf(
        random_urdf(np.random.default_rng(0), 4, branches=0.5).encode(), "x", tip="link4"
    )
    again = read(write_toml(arm))
    assert_identical(again, replace(arm, file=None))  # where the shapes of links are is not written
    assert again.origin == arm.origin
    assert again.origin.notes


def test_a_file_written_by_hand():
    arm = read(
        """
        name = "hand"   # a comment
        convention = "modified"
        [[joints]]
        kind = "revolute"
        alpha = "-pi/2"
        mass = 2
        com = [0, 0, 1]
        inertia = [1, 2, 2.5]
        friction = { viscous = 1, shape = "tanh" }
        [[joints]]
        kind = "prismatic"
        alpha = "90 deg"
        theta = "3 pi / 4"
        mass = 2
        com = [0, 0, 1]
        inertia_at_origin = [[3, 0, 0.5], [0, 4, 0], [0.5, 0, 2.5]]
        """
    )
    first, second = arm.joints
    assert (first.alpha, second.alpha, second.theta) == (-math.pi / 2, math.pi / 2, 3 * math.pi / 4)
    assert first.parameters == (2, 0, 0, 2, 3, 0, 4, 0, 0, 2.5)
    assert second.parameters == (2, 0, 0, 2, 3, 0, 4, 0.5, 0, 2.5)
    assert first.friction == Friction(viscous=1, shape="tanh")
    assert arm.gravity == (0.0, 0.0, -9.81)


def test_classic_convention_is_converted():
    text = (
        'convention = "classic"\n'
        + JOINT
        + 'a = 0.5\nalpha = "pi/2"\n'
        + JOINT
        + "d = 0.1\na = 0.2\n"
    )
    arm = read(text)
    assert [(j.a, j.alpha, j.d) for j in arm.joints] == [(0, 0, 0), (0.5, math.pi / 2, 0.1)]
    assert arm.tool_pose[0, 3] == 0.2


REFUSED = {
    "broken TOML": ("name = ", "not a TOML file"),
    "binary": (b"\xff\xfe\x00", "not UTF-8"),
    "no joints": ('name = "x"', "joints"),
    "an empty list of joints": ("joints = []", "joints"),
    "joints that are none": ("joints = [1, 2]", "joint 1 is 1"),
    "too many joints": (JOINT * (MAX_JOINTS + 1), f"1 to {MAX_JOINTS}"),
    "an unknown key": (JOINT + 'colour = "red"', "unknown key in joint 1 'colour'"),
    "a misspelt key": (JOINT + "armatur = 1", "did you mean armature"),
    "an unknown key above": (
        "gravitation = [0, 0, 0]\n" + JOINT,
        "unknown key in the file 'gravitation'",
    ),
    "an unknown friction key": (
        JOINT + "friction = { stiction = 1 }",
        "unknown key in joint 1: friction",
    ),
    "friction as a number": (JOINT + "friction = 1", "friction is 1; give a table"),
    "an unknown convention": ('convention = "khalil"\n' + JOINT, "unknown convention 'khalil'"),
    "another format": ("format = 2\n" + JOINT, "reads format 1"),
    "an unknown kind": ('[[joints]]\nkind = "ball"', "kind is 'ball'"),
    "text for a number": (JOINT + 'a = "1.0"', "give one number"),
    "text for an angle": (JOINT + 'alpha = "right"', "'pi/2' or '-90 deg'"),
    "code for an angle": (JOINT + "alpha = \"__import__('os')\"", "'pi/2' or '-90 deg'"),
    "an angle over zero": (JOINT + 'alpha = "pi/0"', "divides by zero"),
    "a truth value": (JOINT + "mass = true", "give one number"),
    "NaN": (JOINT + "d = nan", "finite"),
    "infinity": (JOINT + "com = [0, inf, 0]", "NaN or infinity"),
    "an enormous integer": (JOINT + "d = 1" + "0" * 400, "finite"),
    "an integer beyond Python's limit": (JOINT + "d = 1" + "0" * 5000, "not a TOML file"),
    "text in a vector": (JOINT + 'com = [0, "x", 0]', "com is"),
    "a short vector": (JOINT + "com = [0, 1]", "shape"),
    "a ragged matrix": (JOINT + "inertia = [[1, 0], [0, 1, 0], [0, 0, 1]]", "inertia"),
    "an asymmetric inertia": (
        JOINT + "inertia = [[1, 0.5, 0], [0, 1, 0], [0, 0, 1]]",
        "not symmetric",
    ),
    "a negative mass": (JOINT + "mass = -1", "cannot be negative"),
    "mass and parameters": (
        JOINT + f"mass = 1\nparameters = {[2.0] * 10}",
        "both given and differ",
    ),
    "a number for com, with parameters": (JOINT + f"com = 5\nparameters = {[2.0] * 10}", "com"),
    "two inertias": (JOINT + "inertia = [1, 1, 1]\ninertia_at_origin = [1, 1, 1]", "give one of"),
    "two joints of one name": ((JOINT + 'name = "j"\n') * 2, "not unique"),
    "a number for a name": (JOINT + "name = 1", "name is 1"),
    "an endless name": (f'name = "{"x" * 10_000}"\n' + JOINT, "1 to 1000 characters"),
    "a base that is no pose": (
        "base = [[2,0,0,0],[0,1,0,0],[0,0,1,0],[0,0,0,1]]\n" + JOINT,
        "not a pose",
    ),
    "a short gravity": ("gravity = [0, 1]\n" + JOINT, "gravity"),
    "a date": (JOINT + "d = 2020-01-01", "give one number"),
    "deep nesting": ("gravity = " + "[" * 5000 + "]" * 5000 + "\n" + JOINT, "arm.toml"),
    "half an origin": (JOINT + '[origin]\nbase_link = "b"\n', "origin has no links"),
    "an origin of another robot": (
        JOINT + '[origin]\nbase_link = "b"\nlinks = []\nframes = []\naxes = []\nkinds = []\n',
        "origin",
    ),
    "an origin of texts": (
        JOINT
        + '[origin]\nbase_link = "b"\nlinks = ["a"]\nframes = ["x"]\naxes = [[0, 0, 1]]\nkinds = ["revolute"]',
        "origin: frames",
    ),
    "an oversized file": (b"#" * (MAX_BYTES + 1), "at most"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_refused(what):
    text, message = REFUSED[what]
    with pytest.raises(DynarmError, match=message) as caught:
        read(text)
    assert str(caught.value).startswith("arm.toml")


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet='[]{}=,."# \n0123456789-einfajostk_', max_size=80))
def test_noise_is_refused_or_read(text):
    """Whatever stands in the file, the answer is an arm or a DynarmError."""
    for document in (text, JOINT + text):
        with contextlib.suppress(DynarmError):
            assert isinstance(read(document), Arm)
