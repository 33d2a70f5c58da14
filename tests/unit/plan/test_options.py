"""Every quantity with every combination of options compiles and agrees with the plain model."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

import dynarm
from dynarm.plan.quantities import QUANTITIES
from strategies import random_arm, random_states

TOLERANCE = 1e-12
FORWARD = 1e-10  # what solves for accelerations loses a few digits
SAMPLES = 3
FRICTION = (
    dynarm.Friction(0.7, 1.1, 0.2, viscous_negative=0.8, coulomb_negative=0.4),
    dynarm.Friction(0.5, 0.9, -0.1, shape="tanh", width=0.5, coulomb_negative=1.4),
)


def driven_arm() -> dynarm.Arm:
    """One joint of each kind (small, for it is compiled 150 times), tilted base, tool off the link, both drives."""
    arm = random_arm(np.random.default_rng(7), 2, "RP", gravity="generic", base=True)
    joints = (replace(j, armature=0.1 + i, friction=FRICTION[i]) for i, j in enumerate(arm.joints))
    return replace(arm, joints=tuple(joints))


ARM = driven_arm()
STATE = dict(zip(("q", "qd", "qdd"), random_states(np.random.default_rng(8), 2, SAMPLES)))
STATE["tau"] = np.random.default_rng(9).uniform(-5, 5, (SAMPLES, 2))
WRENCH = np.random.default_rng(10).normal(size=(SAMPLES, 6))
WORDS = [
    *QUANTITIES,
    *(f"{name}:wrench" for name, word in QUANTITIES.items() if word.takes_wrench),
]
OPTIONS = list(itertools.product((False, True), (None, "input"), (None, "inputs")))


def several(found):
    return found if isinstance(found, tuple) else (found,)


def call(model, key, **keywords):
    name, _, wrench = key.partition(":")
    if wrench:
        keywords["wrench"] = WRENCH
    return several(getattr(model, name)(*(STATE[k] for k in QUANTITIES[name].state), **keywords))


@pytest.fixture(scope="module")
def plain():
    return {friction: dynarm.compile(ARM, friction=friction) for friction in (False, True)}


@pytest.mark.parametrize("key", WORDS)
def test_options_change_the_arguments_and_not_the_results(key, plain):
    word = QUANTITIES[key.partition(":")[0]]
    for friction, gravity, parameters in OPTIONS:
        model = dynarm.compile(ARM, friction=friction, gravity=gravity, parameters=parameters)
        keywords = {}
        if gravity and word.feels_gravity:
            keywords["gravity"] = np.array(ARM.gravity)
        if parameters:
            keywords["values"] = model.minimal.values
        found = call(model, key, **keywords)
        wanted = call(plain[friction], key)
        if word.name == "regressor":  # its columns are the model's own minimal parameters
            found = (found[0] @ model.minimal.values,)
            wanted = (plain[False].inverse_dynamics(*(STATE[k] for k in word.state)),)
        if word.name == "potential_energy" and parameters:  # known but for a constant
            found, wanted = ([x[0] - x[0][0]] for x in (found, wanted))
        for a, b in zip(found, wanted, strict=True):
            error = np.abs(a - b).max() / max(1.0, np.abs(b).max())
            limit = FORWARD if word.solves else TOLERANCE
            assert error <= limit, (friction, gravity, parameters, error)


def test_friction_enters_what_it_should_and_nothing_else(plain):
    """Armature: mass matrix, kinetic energy, dynamics, derivatives. Friction: dynamics and their derivatives."""
    changed = {
        key
        for key in WORDS
        if any(
            not np.array_equal(a, b)
            for a, b in zip(call(plain[False], key), call(plain[True], key), strict=True)
        )
    }
    assert changed == {
        "mass_matrix_packed",
        "inverse_dynamics",
        "inverse_dynamics:wrench",
        "forward_dynamics",
        "forward_dynamics:wrench",
        "mass_matrix",
        "mass_matrix_and_bias",
        "kinetic_energy",
        "inverse_dynamics_derivatives",
        "inverse_dynamics_derivatives_packed",
        "forward_dynamics_derivatives",
    }
    assert np.array_equal(
        call(plain[False], "mass_matrix_and_bias")[1], call(plain[True], "mass_matrix_and_bias")[1]
    )


@pytest.mark.parametrize("friction", [False, True])
def test_derivatives_are_those_of_the_functions(friction, plain):
    """Central differences, away from the corners of Coulomb friction."""
    model = plain[friction]
    for name in ("inverse_dynamics", "forward_dynamics"):
        parts = getattr(model, f"{name}_derivatives")
        state = [STATE[k] for k in QUANTITIES[name].state]
        function = getattr(model, name)
        for k, derivative in enumerate(parts(*state)):
            h = 1e-5
            for j in range(ARM.n):
                ends = []
                for sign in (1, -1):
                    moved = [x.copy() for x in state]
                    moved[k][:, j] += sign * h
                    ends.append(function(*moved))
                slope = (ends[0] - ends[1]) / (2 * h)
                error = np.abs(derivative[..., j] - slope).max()
                assert error <= 1e-7 * max(1.0, np.abs(derivative).max()), (name, k, j)


def test_gravity_minus_the_acceleration_of_the_base_moves_the_base():
    """An arm on three massless slides that accelerate, against the same arm with gravity as an input."""
    rng = np.random.default_rng(11)
    arm = random_arm(rng, 3, "RPR", gravity="generic")
    turns = (0.0, np.pi / 2, np.pi / 2)
    slides = [
        dynarm.Joint("prismatic", alpha=t, theta=t, name=f"slide{i}") for i, t in enumerate(turns)
    ]
    carried = dynarm.Arm([*slides, *arm.joints], gravity=arm.gravity, tool=arm.tool_pose)
    whole, own = dynarm.compile(carried), dynarm.compile(arm, gravity="input")
    # pose of the arm's base link on the slides
    stand = whole.forward_kinematics(np.zeros(6)) @ np.linalg.inv(
        dynarm.compile(arm).forward_kinematics(np.zeros(3))
    )
    q, qd, qdd = random_states(rng, 3, SAMPLES)
    pushes = rng.uniform(-3, 3, (SAMPLES, 3))
    axes = whole.jacobian(np.zeros(6))[:3, :3]  # of the slides, in the base of the whole
    felt = (np.array(arm.gravity) - pushes @ axes.T) @ stand[:3, :3]
    found = own.inverse_dynamics(q, qd, qdd, gravity=felt)
    still = np.zeros((SAMPLES, 3))
    wanted = whole.inverse_dynamics(
        *(np.concatenate(pair, axis=1) for pair in ((still, q), (still, qd), (pushes, qdd)))
    )[:, 3:]
    assert np.abs(found - wanted).max() <= TOLERANCE * np.abs(wanted).max()


def test_wrench_acts_on_the_tool():
    """A horizontal lever, one metre long: pushed up at its end, the motor is relieved; pushed down, loaded."""
    lever = dynarm.Arm(
        [dynarm.Joint(mass=2.0, com=(0.5, 0, 0))],
        gravity=(0, -10, 0),
        tool=np.array([[1, 0, 0, 1.0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]),
    )
    model = dynarm.compile(lever)
    z = np.zeros(1)
    assert model.inverse_dynamics(z, z, z)[0] == pytest.approx(10.0)
    assert model.inverse_dynamics(z, z, z, [0, 4, 0, 0, 0, 0])[0] == pytest.approx(6.0)
    assert model.inverse_dynamics(z, z, z, [0, 0, 0, 0, 0, 3])[0] == pytest.approx(7.0)
    inertia = 2.0 * 0.25
    assert model.forward_dynamics(z, z, z, [0, 10, 0, 0, 0, 1])[0] == pytest.approx(1 / inertia)
    turned = model.inverse_dynamics([np.pi / 2], z, z, [0, 4, 0, 0, 0, 0])[0]
    assert turned == pytest.approx(-4.0), "the force turns with the tool"
