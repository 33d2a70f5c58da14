"""Models with friction that depends on load, place, other joints and the past: forces, accelerations, derivatives."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np
import pytest

import dynarm
from dynarm import Coupled, DynarmError, Friction
from dynarm.dynamics import stops
from dynarm.dynamics.drive import pieces
from oracles.friction_log import columns_along, friction_along
from oracles.rich_friction import friction_by_hand, rich, rigid_forces
from oracles.simulated_tree import two_arms

ARMS = {
    "two_link": lambda: dynarm.load("two_link"),
    "puma560": lambda: dynarm.load("puma560"),
    "gripper": lambda: two_arms(gripper=True),
    "floating": lambda: two_arms(floating=True),
}
N = 200


@lru_cache
def model_of(name):
    return dynarm.compile(rich(ARMS[name]()), friction=True)


@lru_cache
def motion_of(name):
    """A walk that turns often, its friction states, velocities and accelerations at random."""
    arm = model_of(name).arm
    rng = np.random.default_rng(4)
    q = np.cumsum(rng.normal(0, 1.2e-2, (N, arm.nq)), axis=0)
    if arm.floating:
        q[:, 3:7] = rng.normal(size=(N, 4))
        q[:, 3:7] /= np.linalg.norm(q[:, 3:7], axis=1, keepdims=True)
    return q, rng.normal(0, 0.5, (N, arm.nv)), rng.normal(0, 2, (N, arm.nv))


@pytest.mark.parametrize("name", ARMS)
def test_forces_along_a_motion_are_those_by_hand(name):
    model, motion = model_of(name), motion_of(name)
    rigid = rigid_forces(model.arm, *motion)
    wanted = rigid + friction_by_hand(model.arm, *motion, rigid)
    size = 1e-12 * np.abs(wanted).max()
    states = model.friction_state.along(motion[0])
    assert states.shape == (N, model.friction_state.size) and model.friction_state.size > 5
    made = model.inverse_dynamics(*motion, friction_state=states)
    np.testing.assert_allclose(made, wanted, atol=size)
    # the state of the sample before says the same, and so does one that is carried along
    before = np.vstack([states[:1], states[:-1]])
    np.testing.assert_allclose(
        model.inverse_dynamics(*motion, friction_state=before), wanted, atol=size
    )
    state = model.friction_state.start(motion[0][0])
    for k in range(1, N):
        state = model.friction_state.next(state, motion[0][k])
    np.testing.assert_allclose(state, states[-1], atol=1e-14)
    # what an identification computes
    np.testing.assert_allclose(rigid + friction_along(model.arm, *motion, rigid), wanted, atol=size)


@pytest.mark.parametrize("name", ARMS)
def test_forward_dynamics_is_the_inverse(name):
    model, (q, qd, qdd) = model_of(name), motion_of(name)
    state = model.friction_state.along(q)
    wrench = np.ones((*((2,) if model.arm.tools else ()), 6))
    for given in ({}, {"wrench": wrench}):
        tau = model.inverse_dynamics(q, qd, qdd, friction_state=state, **given)
        made = model.forward_dynamics(q, qd, tau, friction_state=state, **given)
        np.testing.assert_allclose(made, qdd, atol=1e-10 * np.abs(qdd).max())


@pytest.mark.parametrize("name", ["two_link", "gripper"])
@pytest.mark.parametrize("remembered", [True, False])
def test_derivatives_are_those_by_differences(name, remembered):
    model, (q, qd, qdd) = model_of(name), motion_of(name)
    state = model.friction_state.along(q)
    step = 1e-6
    for k in (20, 90):
        more = {"friction_state": state[k]} if remembered else {}
        tau = model.inverse_dynamics(q[k], qd[k], qdd[k], **more)
        for call, slopes, at in (
            (model.inverse_dynamics, model.inverse_dynamics_derivatives, qdd[k]),
            (model.forward_dynamics, model.forward_dynamics_derivatives, tau),
        ):
            made = slopes(q[k], qd[k], at, **more)
            for which in range(3):
                spread = np.eye(model.arm.nv) * step
                given = [q[k], qd[k], at]
                ahead = call(*(x + spread * (i == which) for i, x in enumerate(given)), **more)
                behind = call(*(x - spread * (i == which) for i, x in enumerate(given)), **more)
                wanted = ((ahead - behind) / (2 * step)).T
                size = np.abs(wanted).max()
                np.testing.assert_allclose(made[which], wanted, atol=1e-6 * size + 1e-7)


def test_columns_along_a_log_times_coefficients_are_the_friction():
    model, motion = model_of("puma560"), motion_of("puma560")
    arm = model.arm
    rigid = rigid_forces(arm, *motion)
    starts = [60, 140]
    for memory in (True, False):
        own = columns_along(arm, *motion, rigid, starts, memory)
        listed = np.column_stack(
            [
                c @ [p.coefficient for p in pieces(j.friction)]
                for c, j in zip(own, arm.joints, strict=True)
            ]
        )
        bare = [replace(j.friction, **dict.fromkeys(LISTS, ())) for j in arm.joints]
        joints = [replace(j, friction=f) for j, f in zip(arm.joints, bare, strict=True)]
        rest = replace(arm, joints=joints)
        plain = friction_along(rest, *motion, rigid)
        wanted = friction_along(arm, *motion, rigid, starts, memory)
        np.testing.assert_allclose(listed + plain, wanted, atol=1e-12)
    # after a gap the elements begin anew
    late = tuple(x[140:] for x in motion)
    whole = friction_along(arm, *motion, rigid, starts)
    np.testing.assert_allclose(whole[140:], friction_along(arm, *late, rigid[140:]), atol=1e-13)
    state = model.friction_state.along(motion[0], starts)
    np.testing.assert_allclose(state[140:], model.friction_state.along(motion[0][140:]), atol=0)


LISTS = ("curve", "presliding", "load_curve", "load_presliding", "ripple", "coupling")


def test_without_a_state_elements_are_guessed_or_slipped():
    """The stand-in of v^2 / (2 |a| d) for forces; for accelerations, which are not known, the way the joint moves."""
    arm = dynarm.Arm([dynarm.Joint(mass=2.0, com=(0.1, 0, 0), kind="prismatic")], gravity=(0, 0, 0))
    d, c = 0.05, 3.0
    arm = replace(arm, joints=[replace(arm.joints[0], friction=Friction(presliding=((d, c),)))])
    model = dynarm.compile(arm, friction=True)
    v, a = np.array([0.1, 0.1, -0.1, 2.0]), np.array([0.4, -0.4, -0.4, 0.4])
    turned = np.sign(v) * np.clip(v**2 / (2 * np.abs(a) * d) - 1, -1, 1)
    wanted = 2 * a + c * np.where(v * a > 0, turned, np.sign(v))
    made = model.inverse_dynamics(np.zeros((4, 1)), v[:, None], a[:, None])[:, 0]
    np.testing.assert_allclose(made, wanted, atol=1e-12)
    slipped = model.forward_dynamics(np.zeros((4, 1)), v[:, None], np.full((4, 1), 5.0))[:, 0]
    np.testing.assert_allclose(slipped, (5.0 - c * np.sign(v)) / 2, atol=1e-12)
    # with a state a joint at rest is held by as much as its elements are deflected
    state = model.friction_state.next(model.friction_state.start([0.0]), [0.03])
    held = model.forward_dynamics([0.03], [0.0], [c * 0.03 / d], friction_state=state)
    np.testing.assert_allclose(held, 0, atol=1e-12)


def test_states_of_a_motion_that_is_under_way():
    """Begun with velocity and acceleration they are what a call without a state takes them to be, and go on from it."""
    model, (q, qd, qdd) = model_of("gripper"), motion_of("gripper")
    memory = model.friction_state
    begun = memory.start(q, qd, qdd)
    made = model.inverse_dynamics(q, qd, qdd, friction_state=begun)
    np.testing.assert_allclose(made, model.inverse_dynamics(q, qd, qdd), atol=1e-11)
    assert np.array_equal(memory.start(q[0], 0 * qd[0], qdd[0]), memory.start(q[0]))
    starts = [120, 40]
    states = memory.along(q, starts, qd, qdd)
    rest, own = memory.start(q), qd[:, model.arm.nv - len(model.arm.coupling.masters) :]
    speeds, count = stops.element_steps(model.arm, own), len(memory.strokes)
    for first, last in ((0, 40), (40, 120), (120, N)):
        usual = np.sqrt((speeds[first:last] ** 2).mean(axis=0))
        fast = np.abs(speeds[first]) > 0.1 * usual  # slower ones begin without a deflection
        assert fast.any()
        state = np.r_[
            np.where(fast, begun[first, :count], rest[first, :count]), begun[first, count:]
        ]
        for k in range(first, last):
            state = state if k == first else memory.next(state, q[k])
            np.testing.assert_allclose(states[k], state, atol=1e-14)
    slow = qd.copy()
    slow[0] *= 1e-3
    np.testing.assert_array_equal(memory.along(q, (), slow, qdd)[0], rest[0])
    with pytest.raises(DynarmError, match="qdd is missing"):
        memory.start(q[0], qd[0])
    with pytest.raises(DynarmError, match="qd holds NaN"):
        memory.start(q[0], np.nan * qd[0], qdd[0])
    with pytest.raises(DynarmError, match="qdd has shape"):
        memory.start(q[0], qd[0], qdd[0, :2])


def test_models_without_memory_take_an_empty_state():
    model = dynarm.compile(dynarm.load("two_link"), friction=True)
    q = np.ones(2)
    state = model.friction_state.start(q)
    assert model.friction_state.size == 0 and state.shape == (0,) and not model.friction_state.names
    assert model.friction_state.next(state, q).shape == (0,)
    assert model.friction_state.along(np.ones((3, 2))).shape == (3, 0)
    with_it = model.inverse_dynamics(q, q, q, friction_state=state)
    assert np.array_equal(with_it, model.inverse_dynamics(q, q, q))
    with pytest.raises(DynarmError, match="compile with friction=True an arm whose joints have"):
        model.inverse_dynamics(q, q, q, friction_state=np.ones(3))
    # a model compiled without friction has no memory either
    rigid = dynarm.compile(rich(dynarm.load("two_link")))
    assert rigid.friction_state.size == 0


def test_hostile_states_and_positions():
    model, (q, qd, qdd) = model_of("two_link"), motion_of("two_link")
    memory = model.friction_state
    state = memory.start(q[0])
    for call, words in (
        (lambda: memory.next(state[:-1], q[0]), "numbers; give what"),
        (lambda: memory.next(state, q[0, :1]), "2 coordinates"),
        (lambda: memory.next(np.nan * state, q[0]), "state holds NaN"),
        (lambda: memory.next("state", q[0]), "state is"),
        (lambda: memory.next(np.tile(state, (3, 1)), q[:2]), "do not fit"),
        (lambda: memory.start([np.nan, 0.0]), "q holds NaN"),
        (lambda: memory.start(1.0), "shape"),
        (lambda: memory.along(q[0]), "samples of a motion"),
        (lambda: memory.along(q, [N]), "starts is"),
        (lambda: memory.along(q, 3), "starts is"),
        (
            lambda: model.inverse_dynamics(q, qd, qdd, friction_state=state[1:]),
            "friction_state has",
        ),
        (lambda: model.inverse_dynamics(q, qd, qdd, friction_state=1.0), "a single number"),
        (lambda: model.mass_matrix(q[0], friction_state=state), "friction_state"),
    ):
        with pytest.raises((DynarmError, TypeError), match=words):
            call()
    assert memory.along(np.empty((0, 2))).shape == (0, memory.size)


def test_what_accelerations_cannot_be_found_from_is_refused_by_name():
    arm = dynarm.load("two_link")
    heavy = Friction(load_curve=((0.1, 0.6),), load_presliding=((1e-2, -0.4),))
    for coupling in ((), (Coupled(0, inertia=0.1),)):
        friction = replace(heavy, coupling=coupling)
        joints = [arm.joints[0], replace(arm.joints[1], friction=friction)]
        model = dynarm.compile(replace(arm, joints=joints), friction=True)
        q = np.full(2, 0.3)
        assert np.isfinite(model.inverse_dynamics(q, q, q)).all()
        with pytest.raises(DynarmError, match=r"joint 'elbow' .* sum to 1; accelerations need"):
            model.forward_dynamics(q, q, q)
    with pytest.raises(DynarmError, match="packed derivatives have no place"):
        q = np.full(2, 0.3)
        model_of("two_link").inverse_dynamics_derivatives_packed(q, q, q)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_load_and_coupled_inertia_on_the_same_joints(count):
    """Loads of either sign and near zero: their signs are found together with the accelerations."""
    arm = dynarm.load("puma560")
    joints = [replace(j, armature=0.2) for j in arm.joints]
    for i in range(6 - count, 6):
        coupled = (Coupled(i - 1, inertia=0.08), Coupled((i + 1) % 6, inertia=-0.06))
        friction = Friction(viscous=0.1, load_curve=((0.1, 0.5),), coupling=coupled)
        joints[i] = replace(joints[i], friction=friction)
    model = dynarm.compile(replace(arm, joints=joints), friction=True)
    rng = np.random.default_rng(count)
    q, qd, qdd = rng.normal(0, 1, (3, 3000, 6))
    qdd[:, 3:] *= 10.0 ** rng.uniform(-3, 1, (3000, 3))
    tau = model.inverse_dynamics(q, qd, qdd)
    made = model.forward_dynamics(q, qd, tau)
    np.testing.assert_allclose(made, qdd, atol=1e-10 * np.abs(qdd).max())


def test_functions_with_a_state_stand_beside_the_others():
    model, (q, qd, qdd) = model_of("two_link"), motion_of("two_link")
    state = model.friction_state.along(q)
    names = set(model.functions)
    assert {"inverse_dynamics:friction_state", "forward_dynamics:wrench:friction_state"} <= names
    bare = model.functions["inverse_dynamics:friction_state"](q, qd, qdd, state)
    assert np.array_equal(bare, model.inverse_dynamics(q, qd, qdd, friction_state=state))
    assert "inverse_dynamics:friction_state" not in dynarm.compile(model.arm).functions
    with pytest.raises(DynarmError, match="takes no friction_state"):
        model.kernel("mass_matrix:friction_state")
