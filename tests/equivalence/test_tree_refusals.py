"""Whole robots: formulations that speak of chains decline by name, and calls that cannot be meant are refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import dynarm
from dynarm import Body, Joint, Mimic, Tool
from dynarm.dynamics.table import TABLE, applicable, formulation
from dynarm.errors import InputError, ModelError
from dynarm.robot.frames.chain import chain_of
from strategies import random_tree, whole_state

FORKED = random_tree(np.random.default_rng(5), 4, "RPRR", branching=0.8, name="fork")
FLOATING = random_tree(np.random.default_rng(5), 3, branching=0.0, floating=True, name="float")
FOLLOWING = random_tree(np.random.default_rng(5), 4, branching=0.8, mimic=2, name="mime")
CHAINS = [row for row in TABLE if not row.trees]
FIT = 1e-14  # relative, of results that differ by the rounding of a quaternion's length


@pytest.fixture(scope="module")
def free() -> dynarm.Model:
    return dynarm.compile(FLOATING)


@pytest.fixture
def state() -> dict[str, np.ndarray]:
    return whole_state(np.random.default_rng(1), FLOATING)


# ---- formulations


@pytest.mark.parametrize("row", CHAINS, ids=lambda row: f"{row.quantity}-{row.name}")
def test_methods_of_papers_decline_trees_by_name(row):
    for arm, kind in ((FORKED, "branches"), (FLOATING, "moves freely")):
        serving = ", ".join(r.name for r in applicable(row.quantity, chain_of(arm), False))
        wanted = (
            f"{row.name} does not apply to this robot: it speaks of chains on a fixed base, "
            f"and this robot {kind}; these do: {serving}"
        )
        with pytest.raises(InputError) as refusal:
            formulation(row.quantity, row.name, chain_of(arm))
        assert str(refusal.value) == wanted
        with pytest.raises(InputError) as refusal:
            dynarm.compile(arm, {row.quantity: row.name})
        assert str(refusal.value) == wanted


def test_every_quantity_has_a_formulation_for_trees_or_is_put_together():
    quantities = {row.quantity for row in TABLE}
    serving = {row.quantity for row in TABLE if row.trees}
    assert quantities - serving == {"mass_matrix_and_bias", "gravity"}


def test_a_method_that_solves_joint_by_joint_declines_followers():
    model = dynarm.compile(FOLLOWING, {"forward_dynamics": "articulated_body"})
    with pytest.raises(InputError, match="joints of this robot follow others; these do: ") as said:
        model.forward_dynamics(*np.zeros((3, FOLLOWING.nv)))
    assert str(said.value).endswith("these do: gathered_composite+gathered_newton_euler")


# ---- states


@pytest.mark.parametrize("deviation", [1e-8, -1e-7, 9e-7])
def test_quaternions_that_are_nearly_units_are_normalised(free, state, deviation):
    q, qd, qdd, tau = (state[x] for x in ("q", "qd", "qdd", "tau"))
    near = q.copy()
    near[3:7] *= 1 + deviation
    kept = near.copy()
    for ours, wanted in (
        (free.inverse_dynamics(near, qd, qdd), free.inverse_dynamics(q, qd, qdd)),
        (free.forward_dynamics(near, qd, tau), free.forward_dynamics(q, qd, tau)),
        (free.center_of_mass([near, q])[0], free.center_of_mass(q)),
    ):
        assert np.abs(ours - wanted).max() <= FIT * max(1.0, np.abs(wanted).max()) * 10
    assert np.array_equal(near, kept), "what was given is left alone"


@pytest.mark.parametrize("deviation", [1e-3, -1e-3, 2e-6, 1.0, -1.0])
def test_quaternions_that_are_no_units_are_refused(free, state, deviation):
    q, qd, qdd = (state[x] for x in ("q", "qd", "qdd"))
    far = q.copy()
    far[3:7] *= 1 + deviation
    for given in (far, np.stack([q, far]), far.tolist()):
        with pytest.raises(InputError, match="quaternion of length") as said:
            free.inverse_dynamics(given, qd, qdd)
        assert "length 1 at" not in str(said.value)
        assert "divide it by its length" in str(said.value)


def test_a_quaternion_and_its_negative_are_one_rotation(free, state):
    q, qd, qdd = (state[x] for x in ("q", "qd", "qdd"))
    other = q.copy()
    other[3:7] *= -1
    assert np.array_equal(free.inverse_dynamics(q, qd, qdd), free.inverse_dynamics(other, qd, qdd))


def test_wrong_sizes_name_what_is_wanted(free, state):
    q, qd, qdd = (state[x] for x in ("q", "qd", "qdd"))
    with pytest.raises(
        InputError, match=r"q has 9 entries, robot 'float' has 10; .*coordinate_names"
    ):
        free.inverse_dynamics(qd, qd, qdd)  # speeds where coordinates are meant
    with pytest.raises(InputError, match="q has 5 entries, robot 'float' has 10"):
        free.mass_matrix(q[:5])
    with pytest.raises(InputError, match=r"qd has 10 entries, robot 'float' has 9; .*speed_names"):
        free.inverse_dynamics(q, q, qdd)
    model = dynarm.compile(FOLLOWING)
    with pytest.raises(InputError, match="q has 4 entries, robot 'mime' has 2 joints"):
        model.gravity(np.zeros(4))


# ---- tools


def test_a_tree_without_tools_has_no_poses():
    model, q = dynarm.compile(FORKED), np.zeros(FORKED.nq)
    for call in (
        lambda: model.forward_kinematics(q),
        lambda: model.jacobian(q),
        lambda: model.jacobian_derivative(q, q),
        lambda: model.inverse_dynamics(q, q, q, np.zeros(6)),
    ):
        with pytest.raises(
            InputError, match=r"'fork' branches and has no tools; load it with tools=\["
        ):
            call()


def test_wrenches_come_one_a_tool():
    arm = replace(FORKED, tools=(Tool("a", 1, None), Tool("b", 3, None)))
    model, q = dynarm.compile(arm), np.full(arm.nq, 0.3)
    assert model.inverse_dynamics(q, q, q, np.ones((5, 2, 6))).shape == (5, arm.nv)
    for shape in ((6,), (12,), (3, 6), (2, 5)):
        with pytest.raises(InputError, match=r"wrench has the shape .*; give \(\.\.\., 2, 6\)"):
            model.inverse_dynamics(q, q, q, np.ones(shape))
    with pytest.raises(InputError, match="do not fit together"):
        model.inverse_dynamics(np.ones((3, arm.nq)), q, q, np.ones((5, 2, 6)))
    alone = dynarm.compile(replace(arm, tools=arm.tools[:1]))
    assert alone.forward_kinematics(q).shape == (1, 4, 4)
    with pytest.raises(InputError, match=r"give \(\.\.\., 1, 6\)"):
        alone.inverse_dynamics(q, q, q, np.ones(6))


# ---- no accelerations


BODY = {"mass": 1.0, "com": (0.1, 0.2, 0.3), "inertia": np.eye(3) * 0.1}


def test_a_light_branch_before_a_heavy_one_has_no_acceleration():
    joints = [
        Joint(name="trunk", **BODY),
        Joint(name="flag", parent=0, a=0.1),
        Joint(name="arm", parent=0, a=0.3, alpha=1.0, **BODY),
    ]
    for floating in (None, Body(**BODY)):
        model = dynarm.compile(dynarm.Arm(joints, floating=floating))
        nq, nv = model.arm.nq, model.arm.nv
        q = np.eye(nq)[6] if floating else np.zeros(nq)
        with pytest.raises(ModelError, match="joint 'flag' of robot 'arm' moves no inertia"):
            model.forward_dynamics(q, np.zeros(nv), np.zeros(nv))
        assert np.isfinite(model.inverse_dynamics(q, np.zeros(nv), np.zeros(nv))).all()


def test_a_follower_without_mass_takes_no_acceleration_away():
    joints = [
        Joint(name="finger", **BODY),
        Joint(name="tip", a=0.1, mimic=Mimic("finger", 0.5)),
    ]
    model = dynarm.compile(dynarm.Arm(joints, name="gripper"))
    assert np.isfinite(model.forward_dynamics([0.1], [0.2], [0.3])).all()
