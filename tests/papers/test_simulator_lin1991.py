"""lin1991's simulator: forward dynamics from H and b of one graph, and gravity by (2.8) of turney1980."""

from __future__ import annotations

import numpy as np
import pytest

import dynarm
from dynarm.errors import InputError
from dynarm.robot.frames.generic import generic_arm
from oracles.pinocchio_arm import pinocchio_model
from oracles.simulated_tree import two_arms
from strategies import FAMILIES, random_states

NAMES = ("base_composite", "base_composite_moved")


@pytest.mark.parametrize("family", [f for f in FAMILIES if f != "massless_ends"])
@pytest.mark.parametrize("name", NAMES)
def test_accelerations_are_those_of_pinocchio(family, name):
    rng = np.random.default_rng(len(family))
    arm = FAMILIES[family](rng, 4)
    model = dynarm.compile(arm, formulation={"forward_dynamics": name})
    q, qd, qdd = random_states(rng, 4, 8)
    tau = np.array(
        [pinocchio_model(arm).inverse_dynamics(*s) for s in zip(q, qd, qdd, strict=True)]
    )
    scale = np.linalg.cond(model.mass_matrix(q)).max()
    np.testing.assert_allclose(
        model.forward_dynamics(q, qd, tau),
        qdd,
        rtol=0,
        atol=1e-14 * scale * (1 + np.abs(tau).max()),
    )


def test_friction_and_armature_take_part():
    joints = [
        dynarm.Joint(
            a=0.4 * (k > 0),
            mass=2.0,
            com=(0.2, 0, 0),
            armature=0.3,
            friction=dynarm.Friction(0.5, 0.2, 0.1, "tanh"),
        )
        for k in range(3)
    ]
    arm = dynarm.Arm(joints, gravity=(0, -9.81, 0))
    one, usual = (
        dynarm.compile(arm, friction=True, formulation=f)
        for f in ({"forward_dynamics": "base_composite"}, {"forward_dynamics": "articulated_body"})
    )
    q, qd, tau = np.random.default_rng(0).normal(size=(3, 10, 3))
    np.testing.assert_allclose(
        one.forward_dynamics(q, qd, tau), usual.forward_dynamics(q, qd, tau), rtol=1e-12
    )


def test_one_graph_wins_for_short_arms_and_is_tried_unasked():
    """For four joints the pair of one graph is the cheaper; the two best formulations win for six."""
    short, long = generic_arm(4), generic_arm(6)
    whole = dynarm.count(short, "forward_dynamics", "base_composite_moved").total
    best = "+".join(
        dynarm.compile(short).formulation[k] for k in ("mass_matrix", "inverse_dynamics")
    )
    assert whole < dynarm.count(short, "forward_dynamics", best).total
    assert dynarm.count(short, "forward_dynamics").total == whole
    assert dynarm.compile(short).formulation["forward_dynamics"] == "base_composite_moved"
    assert "+" in dynarm.compile(long).formulation["forward_dynamics"]


def test_a_wrench_is_refused_by_name():
    arm, state = generic_arm(3), np.ones((3, 3))
    asked = dynarm.compile(arm, formulation={"forward_dynamics": "base_composite"})
    with pytest.raises(InputError, match="knows no wrench"):
        asked.forward_dynamics(*state, wrench=np.ones(6))
    model = dynarm.compile(arm)
    assert model.forward_dynamics(*state, wrench=np.ones(6)).shape == (3,)


@pytest.mark.parametrize("family", FAMILIES)
def test_gravity_by_2_8(family):
    rng = np.random.default_rng(5)
    arm = FAMILIES[family](rng, 5)
    q = random_states(rng, 5, 6)[0]
    wanted = dynarm.compile(arm).inverse_dynamics(q, 0 * q, 0 * q)
    for name in ("lagrange", "newton_euler", "minimal_newton_euler"):
        got = dynarm.compile(arm, formulation={"gravity": name}).gravity(q)
        np.testing.assert_allclose(got, wanted, atol=1e-12 * (1 + np.abs(wanted).max()))
    asked = dynarm.compile(arm, formulation={"inverse_dynamics": "newton_euler"})
    assert asked.formulation["gravity"] == "newton_euler"


def test_strobing_by_either_recursion():
    """End of section 3: any inverse dynamics can be strobed, the improved one too."""
    arm = generic_arm(5)
    q = np.random.default_rng(2).normal(size=(4, 5))
    plain, improved = (
        dynarm.compile(arm, formulation={"mass_matrix": f}).mass_matrix(q)
        for f in ("strobed", "strobed_modified")
    )
    np.testing.assert_allclose(improved, plain, rtol=1e-11, atol=1e-13)
    plain, improved = (
        dynarm.compile(arm, formulation={"coriolis_tensor": f}).coriolis_tensor(q)
        for f in ("strobed", "strobed_modified")
    )
    np.testing.assert_allclose(improved, plain, rtol=1e-10, atol=1e-12)
    # each is strobed out of its own recursion: the improved one pays where joints turn, not from rest
    (rest, better_rest), (turning, better) = (
        [dynarm.count(arm, quantity, f).total for f in ("strobed", "strobed_modified")]
        for quantity in ("mass_matrix", "coriolis_tensor")
    )
    assert rest < better_rest and better < turning


@pytest.mark.parametrize(
    "name",
    [
        "base_composite",
        "renaud+minimal_newton_euler",
        "walker_orin+newton_euler",
        "renaud+base_composite",
    ],
)
def test_a_simulation_by_a_formulation(name):
    """dynarm.simulate(..., formulation=...): the same motion, by other operations, whatever else the model was told."""
    arm = generic_arm(3, 1, (1.0, 2.0, -9.81))
    plain = dynarm.compile(arm, friction=True)
    start = (np.full(3, 0.3), np.zeros(3), 0.5)
    one, other = dynarm.simulate(plain, *start), dynarm.simulate(plain, *start, formulation=name)
    assert other.status == "success"
    np.testing.assert_allclose(other.q[-1], one.q[-1], rtol=1e-7)
    used = dynarm.compile(arm, formulation={"forward_dynamics": name}, friction=True)
    np.testing.assert_array_equal(other.q[-1], dynarm.simulate(used, *start).q[-1])


def test_any_mass_matrix_goes_with_lin1991_s_bias():
    """H by any formulation, b by (54)-(58): the accelerations of every other pair; no wrench on the tool."""
    arm = generic_arm(4, 1)
    state = np.random.default_rng(5).normal(size=(3, 20, 4))
    wanted = dynarm.compile(arm).forward_dynamics(*state)
    scale = 1 + np.abs(wanted).max()
    for H in ("renaud", "composite_3", "minimal_composite_1", "lagrange"):
        for b in ("base_composite", "base_composite_moved"):
            name = f"{H}+{b}"
            assert name in dynarm.formulations("forward_dynamics")
            model = dynarm.compile(arm, formulation={"forward_dynamics": name})
            assert model.formulation["forward_dynamics"] == name
            np.testing.assert_allclose(
                model.forward_dynamics(*state), wanted, atol=1e-9 * scale, err_msg=name
            )
    with pytest.raises(dynarm.DynarmError, match="wrench"):
        model.forward_dynamics(*state, wrench=np.ones(6))
    both = dynarm.count(arm, "mass_matrix_and_bias", "renaud+base_composite").total
    assert both < dynarm.count(arm, "forward_dynamics", "renaud+base_composite").total


def test_formulations_that_do_not_simulate_are_refused():
    model = dynarm.compile(generic_arm(3))
    start = (np.zeros(3), np.zeros(3), 0.1)
    for name in ("gathered", "renaud", 7, ["base_composite"]):
        with pytest.raises(dynarm.DynarmError, match="formulation of forward_dynamics"):
            dynarm.simulate(model, *start, formulation=name)
    tree = dynarm.compile(two_arms())
    with pytest.raises(dynarm.DynarmError, match="branches"):
        dynarm.simulate(tree, np.zeros(6), np.zeros(6), 0.1, formulation="base_composite")
