"""Minimal parameters at the edge of a decision: nearly parallel axes, nearly no offset or gravity, odd chains."""

from __future__ import annotations

import math
import warnings
from dataclasses import replace

import numpy as np
import pytest

import dynarm
from dynarm import DynarmWarning, minimal_parameters
from dynarm.dynamics.papers.minimal_chain_lin1995 import minimal_chain
from dynarm.dynamics.papers.minimal_newton_euler_lin1995 import inverse_dynamics
from dynarm.dynamics.papers.minimal_parameters_lin1995 import structure_of
from dynarm.parameters.minimal import CONVENTIONS
from dynarm.plan.choice import graph
from dynarm.robot.frames.chain import chain_of, pose
from oracles.batches import relative, stacked
from oracles.example_robots import robots_folder
from oracles.minimal_arms import TOLERANCE, regressor
from oracles.pinocchio_arm import pinocchio_model
from strategies import random_arm, random_states

QUARTER = math.pi / 2


def with_joints(arm, **changes):
    """The arm with some joints' fields replaced: name=(index, value)."""
    joints = list(arm.joints)
    for name, (i, value) in changes.items():
        joints[i] = replace(joints[i], **{name: value})
    return replace(arm, joints=tuple(joints))


def residue(arm, mp):
    """How much of pinocchio's regressor the rows of the matrix do not give, over its largest entry."""
    Y = regressor(arm, samples=10)
    if mp.armature:
        n = arm.n
        qdd = random_states(np.random.default_rng([0, n]), n, 10)[2]
        own = np.concatenate([np.diag(a) for a in qdd])
        Y = np.concatenate([Y.reshape(-1, n, 10), own[:, :, None]], axis=2).reshape(-1, 11 * n)
    Q = np.linalg.qr((mp.matrix / np.linalg.norm(mp.matrix, axis=1, keepdims=True)).T)[0]
    return np.abs(Y - (Y @ Q) @ Q.T).max() / np.abs(Y).max()


# ---- nearly parallel axes, nearly no offset


@pytest.mark.parametrize("angle", [1e-9, 1e-6, 9e-5])
def test_nearly_parallel_axes_get_an_answer_a_warning_and_exact_dynamics(angle):
    arm = random_arm(np.random.default_rng(8), 4, "R", [0.0, angle, 1.0, 0.5], "generic", "generic")
    with pytest.warns(
        DynarmWarning, match=rf"'joint1' and 'joint2': {angle:.3g} rad off, taken as parallel"
    ):
        mp = minimal_parameters(arm)
    assert mp.structure.s == 2 and not mp.structure.exact
    assert mp.count == minimal_parameters(with_joints(arm, alpha=(1, 0.0))).count
    chain = chain_of(arm)
    exact = structure_of(chain, 0.0)
    assert exact.s == 1 and exact.exact
    q, qd, qdd = random_states(np.random.default_rng(9), 4, 3)
    twin = pinocchio_model(arm)
    want = np.array([twin.inverse_dynamics(*s) for s in zip(q, qd, qdd, strict=True)])
    got = stacked(inverse_dynamics(minimal_chain(chain), pose(chain, q.T), qd.T, qdd.T), 3)
    assert relative(got, want) <= TOLERANCE
    finer = minimal_parameters(arm, tolerance=angle / 10)
    assert finer.structure.s == 1 and finer.structure.exact


@pytest.mark.parametrize("angle", [0.0, 1e-9, 1e-5, 9e-5])
def test_the_regressor_neglects_no_more_than_the_angle(angle):
    """tau = Y @ values holds to the size of the angle that was taken for none; exactly if there is none."""
    twists = [0.0, angle, angle, 1.0, 0.5, 0.3]
    arm = random_arm(np.random.default_rng(8), 6, "RRRRPR", twists, "generic", "generic")
    q, qd, qdd = random_states(np.random.default_rng(2), 6, 20)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DynarmWarning)
        values = minimal_parameters(arm).values
        (Y,) = graph(arm, "regressor", {}).evaluate(q, qd, qdd)
    twin = pinocchio_model(arm)
    tau = np.array([twin.inverse_dynamics(*s) for s in zip(q, qd, qdd, strict=True)])
    assert relative(Y @ values, tau) <= 3 * angle + TOLERANCE


def test_a_right_angle_written_with_five_digits_is_no_doubt():
    """UR10 with twists of 1.5708: no axis is near a parallel one, so nothing is neglected."""
    arm = dynarm.load(robots_folder() / "ur_description/urdf/ur10_robot.urdf")
    joints = [
        replace(j, alpha=math.copysign(1.5708, j.alpha))
        if abs(abs(j.alpha) - QUARTER) < 1e-9
        else j
        for j in arm.joints
    ]
    assert any(abs(j.alpha) == 1.5708 for j in joints)
    blunt = replace(arm, joints=tuple(joints))
    mp = minimal_parameters(blunt)
    assert (mp.count, minimal_parameters(blunt, armature=True).count) == (36, 40)
    assert mp.doubts == () and residue(blunt, mp) <= 1e-11


def test_an_offset_of_a_billionth_of_the_robot_is_doubtful():
    """Two coincident vertical axes, then a link of 1 m: 1e-9 of it apart, k of joint 2 is taken for void."""
    arm = random_arm(np.random.default_rng(3), 3, "R", [0.0, 0.0, 1.0], "zero", "z", base=False)
    arm = with_joints(arm, a=(1, 1e-9), d=(2, 1.0))
    with pytest.warns(
        DynarmWarning, match=r"'joint1' and 'joint2': 1e-09 of the robot's size apart"
    ):
        mp = minimal_parameters(arm)
    assert mp.count == minimal_parameters(with_joints(arm, a=(1, 0.0))).count
    apart = minimal_parameters(with_joints(arm, a=(1, 1e-3)))
    assert apart.count == mp.count + 2 and apart.doubts == ()


NEAR = [1e-12, 1e-9, 1e-7, 1e-5, 5e-5, 2e-4, 1e-3]


@pytest.mark.parametrize("armature", [False, True])
@pytest.mark.parametrize("k", range(21))
def test_any_tolerance_gives_an_answer_that_can_be_used(k, armature):
    """Structured arms with all angles and offsets a little off: a regular matrix, exact conversions, what is stated."""
    rng = np.random.default_rng([11, k])
    n = int(rng.integers(2, 7))
    gravity = ("z", "generic", "none")[k % 3]
    arm = random_arm(rng, n, "mixed", "structured", "mixed", gravity, base=True)
    off = NEAR[k // 3]
    joints = [
        replace(
            j,
            **{
                x: getattr(j, x) + size * off * rng.normal()
                for x, size in (("alpha", 1), ("a", 0.01), ("d", 0.01))
            },
        )
        for j in arm.joints
    ]
    near = replace(arm, joints=tuple(joints))
    for tolerance in (0.0, 1e-6, 1e-4):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            mp = minimal_parameters(near, armature=armature, tolerance=tolerance)
        assert bool(told) == bool(mp.doubts)
        assert len(set(mp.names)) == mp.count == len(mp.matrix)
        even = mp.matrix / np.linalg.norm(mp.matrix, axis=1, keepdims=True)
        assert np.linalg.svd(even, compute_uv=False)[-1] > 1e-7
        neglected = 30 * tolerance + (1e-5 if mp.doubts else 1e-9)  # 1e-10 is no doubt yet
        assert residue(near, mp) <= neglected
        for other in CONVENTIONS:
            change = mp.convert(other)
            found = mp._matrices[other]
            scale = (np.abs(change) @ np.abs(mp.matrix)).max()
            assert np.abs(change @ mp.matrix - found).max() <= 1e-8 * max(1.0, scale)


# ---- gravity


@pytest.mark.parametrize(
    ("size", "count"), [(0.0, 34), (1e-12, 34), (1e-9, 34), (1e-4, 38), (9.81, 38)]
)
def test_gravity_that_can_hardly_be_felt(size, count):
    """PUMA 560 with tilted gravity: 38, without 34; between them the answer is one of these, or comes with a doubt."""
    arm = replace(dynarm.load("puma560"), gravity=(0.3 * size, 0.0, -size))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DynarmWarning)
        mp, driven = minimal_parameters(arm), minimal_parameters(arm, armature=True)
    assert mp.count == count and driven.count == count + 4
    assert bool(mp.doubts) == (size == 1e-9)


def test_gravity_from_any_direction():
    arm = dynarm.load("puma560")
    assert minimal_parameters(arm, gravity="any").count == 38
    still = replace(arm, gravity=(0, 0, 0))
    assert minimal_parameters(still, gravity="any").count == 38


@pytest.mark.parametrize("k", range(12))
def test_the_base_may_stand_anywhere(k):
    """Turning base and gravity together changes nothing."""
    rng = np.random.default_rng([5, k])
    arm = random_arm(rng, 4, "mixed", "structured", "mixed", "z", base=True)
    R = np.array(arm.base_pose[:3, :3])
    plain = replace(arm, base=None, gravity=tuple((R.T @ arm.gravity).tolist()))
    first = minimal_parameters(arm)
    second = minimal_parameters(plain)
    assert first.names == second.names
    assert relative(first.values, second.values) <= 1e-12


# ---- odd chains


ODD = {
    "one rotational joint": ("R", [0.0], "generic"),
    "one translational joint": ("P", [0.0], "generic"),
    "all translational": ("PPPPP", [0.0, 0.3, QUARTER, 0.0, 1.0], "generic"),
    "nine joints": (
        "RRPRRRRPR",
        [0.0, QUARTER, 0.0, 0.4, -QUARTER, 1.0, 0.0, math.pi, 0.2],
        "generic",
    ),
    "all parallel": ("RPRRP", [0.0, 0.0, math.pi, 0.0, 0.0], "generic"),
    "antiparallel first axes": ("RRRR", [0.0, math.pi, math.pi, 0.7], "generic"),
    "leading translational joints": ("PPRPR", [0.0, QUARTER, 0.5, 0.0, 0.9], "generic"),
}


@pytest.mark.parametrize("gravity", ["z", "generic", "none"])
@pytest.mark.parametrize("name", ODD)
def test_odd_chains(name, gravity):
    kinds, twists, offsets = ODD[name]
    arm = random_arm(np.random.default_rng(len(kinds)), len(kinds), kinds, twists, offsets, gravity)
    for armature in (False, True):
        mp = minimal_parameters(arm, armature=armature)
        Y = regressor(arm)
        assert residue(arm, mp) <= 1e-11
        if not armature:
            assert mp.count == np.linalg.matrix_rank(Y, 1e-8 * np.linalg.norm(Y))


@pytest.mark.parametrize("shift", [0.0, 1e-9, 0.01])
def test_coincident_axes_around_a_translational_joint(shift):
    """R T R on one vertical line, b2 = -b3: k of the third joint is void too, unless the line is missed."""
    arm = random_arm(np.random.default_rng(7), 4, "RPRR", [0.0, 0.0, 0.0, 0.8], "generic", "z")
    arm = with_joints(arm, theta=(1, 0.0))
    arm = with_joints(arm, a=(2, -arm.joints[1].a + shift))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DynarmWarning)
        mp = minimal_parameters(arm)
    assert mp.structure.delta[2] == (shift == 0.01)
    assert residue(arm, mp) <= 1e-11 + 3 * (shift == 1e-9) * 1e-9


# ---- what is told and refused


def test_decisions_are_reported():
    mp = minimal_parameters(dynarm.load("scara"))
    assert any("taken as parallel (tolerance 0.0001)" in text for text in mp.decisions)
    assert any("along gravity" in text for text in mp.decisions)
    assert mp.doubts == ()


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"convention": "lin1994"}, "did you mean lin1995"),
        ({"tolerance": -1.0}, "give an angle in rad"),
        ({"gravity": "up"}, "choose None for the arm's own"),
    ],
)
def test_bad_input_is_refused_with_advice(options, text):
    with pytest.raises(dynarm.DynarmError, match=text):
        minimal_parameters(dynarm.load("scara"), **options)
    with pytest.raises(dynarm.DynarmError, match=r"give a dynarm\.Arm"):
        minimal_parameters("scara")
