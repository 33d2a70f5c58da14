"""Minimal parameters as people read them: names, long forms in numbers and in DH constants, what a payload changes."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import numpy as np
import pytest

import dynarm
from dynarm import Arm, Joint, minimal_parameters
from dynarm.parameters.minimal import CONVENTIONS
from strategies import random_arm


def evaluated(text, names):
    """A long form's value: juxtaposition is a product, ^ a power."""
    product = re.sub(r"(?<=[\w)]) (?=[\w(])", "*", text.replace("^", "**"))
    return eval(product, {"cos": math.cos, "sin": math.sin, "__builtins__": {}}, names)


def with_drives(arm: Arm) -> Arm:
    """The arm with an armature at every joint."""
    joints = [replace(j, armature=0.3 + 0.07 * i) for i, j in enumerate(arm.joints)]
    return replace(arm, joints=tuple(joints))


def some_arm(k: int) -> Arm:
    rng = np.random.default_rng([21, k])
    kind = ("structured", "mixed", "generic")
    gravity = ("z", "generic", "none")[k // 9 % 3]
    n = int(rng.integers(1, 7))
    return random_arm(rng, n, "mixed", kind[k % 3], kind[k // 3 % 3], gravity, base=True)


ROBOTS = {name: dynarm.load(name) for name in ("stanford", "puma560", "scara", "generic_6r")}
ROBOTS |= {
    "puma560, no gravity": replace(ROBOTS["puma560"], gravity=(0, 0, 0)),
    "three concurrent axes, no gravity": random_arm(
        np.random.default_rng(3), 3, "R", "generic", "zero", "none"
    ),
    **{f"random {k}": some_arm(k) for k in range(27)},
}


def natural(arm, mp) -> dict[str, float]:
    """The values of the natural parameters by name, and of the DH constants."""
    table = arm.parameters
    if mp.armature:
        table = np.column_stack([table, [j.armature for j in arm.joints]])
    return dict(zip(mp.natural, table.ravel().tolist(), strict=True))


@pytest.mark.parametrize("armature", [False, True])
@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize("robot", ROBOTS)
def test_long_forms_say_what_the_values_are(robot, convention, armature):
    arm = with_drives(ROBOTS[robot])
    mp = minimal_parameters(arm, convention, armature=armature)
    names = natural(arm, mp)
    for value, text in zip(mp.values, mp.long_forms, strict=True):
        close = pytest.approx(value, rel=3e-5, abs=3e-5)  # six digits shown
        assert evaluated(text, names) == close, text


@pytest.mark.parametrize("armature", [False, True])
@pytest.mark.parametrize("convention", ["lin1995", "linfang1999"])
@pytest.mark.parametrize("robot", ROBOTS)
def test_symbolic_forms_say_it_in_the_robots_constants(robot, convention, armature):
    arm = with_drives(ROBOTS[robot])
    mp = minimal_parameters(arm, convention, armature=armature)
    names = natural(arm, mp)
    for i, joint in enumerate(arm.joints, start=1):
        names |= {f"{key}{i}": getattr(joint, key) for key in ("a", "d", "alpha", "theta", "beta")}
    for name, text in mp.abbreviations.items():  # from the tip inwards: each uses those before it
        names[name] = evaluated(text, names)
    for value, text in zip(mp.values, mp.symbolic_forms, strict=True):
        # factors of merged combinations and of oblique axes are numbers with six digits
        digits = 3e-5 if "." in text else 1e-12
        assert evaluated(text, names) == pytest.approx(value, rel=digits, abs=digits), text
        assert len(text) < 2500
    if robot in ("stanford", "puma560", "scara"):
        assert not mp.abbreviations
    if robot == "generic_6r":
        assert mp.abbreviations


@pytest.mark.parametrize("armature", [False, True])
@pytest.mark.parametrize("robot", ROBOTS)
def test_regrouped_parameters_are_spelled_in_those_of_lin1995(robot, armature):
    arm = with_drives(ROBOTS[robot])
    mp = minimal_parameters(arm, "gautier1990", armature=armature)
    base = minimal_parameters(arm, armature=armature)
    places = sorted(enumerate(base.names), key=lambda item: -len(item[1]))
    names = {f"V{i}": float(v) for i, v in enumerate(base.values)}
    for value, text in zip(mp.values, mp.symbolic_forms, strict=True):
        plain = text
        for i, name in places:
            plain = plain.replace(name, f"V{i}")
        assert evaluated(plain, names) == pytest.approx(value, rel=3e-5, abs=3e-5), text


def test_small_lengths_keep_their_digits():
    """A robot of a tenth of a millimetre: its squared lengths are 1e-8, and no term is rounded away."""
    small = Arm(
        [
            Joint(mass=2.0, com=(1e-4, 0, 0)),
            Joint(a=1.2345e-4, alpha=1.0, mass=3.0, com=(1e-5, 2e-5, 0)),
            Joint(a=2.3456e-6, alpha=-0.5, mass=1.0, com=(1e-5, 0, 3e-5)),
        ],
        gravity=(0.0, 9.81, 0.0),
    )
    mp = minimal_parameters(small)
    assert "1.52399e-08 m2" in mp.long_forms[0]
    names = natural(small, mp)
    for value, text in zip(mp.values, mp.long_forms, strict=True):
        assert evaluated(text, names) == pytest.approx(value, rel=3e-5, abs=1e-20), text


def test_what_is_subtracted_keeps_its_sign():
    """-mcy2 - mcy3, not -mcy2 + mcy3: a row whose entries are all -1."""
    arm = random_arm(np.random.default_rng(5), 3, "RPP", [0.0, math.pi / 2, 0.0], "zero")
    mp = minimal_parameters(arm)
    rows = dict(zip(mp.names, mp.long_forms, strict=True))
    assert rows["kappa1_2"] == "-mcx2 - mcx3" and rows["kappa1_3"] == "-mcx3"


def test_names_a_person_can_read():
    mp = minimal_parameters(dynarm.load("stanford"))
    assert mp.names[:4] == ("U1_33", "U2_11-22", "U2_12", "U2_13")
    assert {"m3", "k3_x", "k3_y", "k3_z", "k4_x"} <= set(mp.names)
    assert dict(zip(mp.names, mp.symbolic_forms, strict=True))["U1_33"] == (
        "Izz1 + Iyy2 + Izz3 + Izz4 + Iyy5 + Izz6 + d2^2 (m2 + m3 + m4 + m5 + m6) + 2 d2 (mcz2 + mcy3)"
    )
    oblique = random_arm(np.random.default_rng(4), 3, "RPR", [0.0, 0.9, -0.9], "generic", "z")
    assert {"kappa1_2", "kappa2_2"} <= set(minimal_parameters(oblique).names)


@pytest.mark.parametrize("armature", [False, True])
@pytest.mark.parametrize("robot", ROBOTS)
def test_names_are_unique_and_short(robot, armature):
    for convention in CONVENTIONS:
        names = minimal_parameters(ROBOTS[robot], convention, armature=armature).names
        assert len(set(names)) == len(names) and max(map(len, names)) < 60


def test_a_payload_changes_what_it_says():
    arm = dynarm.load("stanford")
    load = (2.0, (0.05, -0.02, 0.1), np.diag([0.02, 0.03, 0.01]))
    before, after = minimal_parameters(arm), minimal_parameters(arm.with_payload(*load))
    change = before.payload(*load)
    for name, x, y in zip(before.names, before.values, after.values, strict=True):
        assert y - x == pytest.approx(change.get(name, 0.0), abs=1e-14)
    assert 0 < len(change) < before.count
    assert change["m3"] == pytest.approx(2.0)
