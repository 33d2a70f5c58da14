"""Trees, mimic joints and free bases in motion: orders, conserved quantities, pinocchio's own steps, checks of q0."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest

import dynarm
from dynarm import Friction
from dynarm.errors import InputError
from dynarm.robot.formats.urdf import arm_of_urdf
from dynarm.simulation import GravityPD
from dynarm.simulation.control import ComputedTorque
from dynarm.simulation.friction import coulomb_limits
from dynarm.simulation.plant import Plant
from dynarm.simulation.system import state_of
from oracles.pinocchio_tree import PinocchioTree
from oracles.random_trees import tree_urdf

END = 0.4


def tree(seed, n=6, mimic=0.0, **options):
    """A random tree; its joints are slow and heavy enough to be stepped over."""
    text = tree_urdf(np.random.default_rng(seed), n, mimic=mimic)
    return arm_of_urdf(text.encode(), "tree", **options)


def start(arm, seed=0, speed=1.0):
    rng = np.random.default_rng(seed)
    q = rng.uniform(-0.5, 0.5, arm.nq)
    if arm.floating:
        q[3:7] = rng.normal(size=4)
        q[3:7] /= np.linalg.norm(q[3:7])
    return q, speed * rng.uniform(-1, 1, arm.nv)


ROBOTS = {
    "tree": tree(3, 6),
    "mimic": tree(5, 6, mimic=0.4),
    "free": tree(7, 5, floating=True),
    "free mimic": tree(11, 6, mimic=0.4, floating=True),
}
MODELS = {name: dynarm.compile(arm) for name, arm in ROBOTS.items()}


def test_the_robots_are_what_their_names_say():
    assert ROBOTS["tree"].branched and ROBOTS["tree"].coupling.free
    assert not ROBOTS["mimic"].coupling.free and not ROBOTS["free mimic"].coupling.free
    assert ROBOTS["free"].nq == ROBOTS["free"].nv + 1


def reference(arm, q, qd, t_end, steps):
    """Classical RK4 over pinocchio's accelerations, with the base carried by pinocchio's own exponential."""
    twin = PinocchioTree.of(arm)
    k, kv = (7, 6) if arm.floating else (0, 0)
    body = pin.Model()
    if arm.floating:
        body.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "free")

    def moved(q, v):
        base = pin.integrate(body, q[:k], v[:kv]) if k else q[:0]
        return np.concatenate([base, q[k:] + v[kv:]])

    def slope(q, qd):
        return twin.forward_dynamics(q, qd, np.zeros(arm.nv))

    h = t_end / steps
    for _ in range(steps):
        # the chart of each step is the exponential at its start: second order, at fine steps
        a = slope(q, qd)
        middle = slope(moved(q, h / 2 * qd), qd + h / 2 * a)
        q, qd = moved(q, h * (qd + h / 2 * a)), qd + h * middle
    return q, qd


@pytest.mark.parametrize("name", ROBOTS)
def test_motion_is_pinocchios(name):
    """Fine midpoint steps over pinocchio, extrapolated: two resolutions of a second-order method."""
    arm, model = ROBOTS[name], MODELS[name]
    q0, qd0 = start(arm, speed=0.5)
    run = dynarm.simulate(model, q0, qd0, 0.05, rtol=1e-11).check()
    coarse, fine = (reference(arm, q0, qd0, 0.05, steps) for steps in (100, 200))
    for got, a, b in zip((run.q[-1], run.qd[-1]), coarse, fine, strict=True):
        want = b + (b - a) / 3
        assert np.abs(got - want).max() <= 3e-7 * max(1, np.abs(want).max())
        assert np.abs(a - want).max() > 0  # the reference does move


@pytest.mark.parametrize(("method", "coarse"), [("rk4", 40), ("ab4", 400)])
@pytest.mark.parametrize("name", ROBOTS)
def test_order_of_convergence_and_unit_quaternion(name, method, coarse):
    arm, model = ROBOTS[name], MODELS[name]
    q0, qd0 = start(arm, speed=2.0)
    want = dynarm.simulate(model, q0, qd0, END, rtol=1e-12).check()
    errors = []
    for steps in (coarse, 2 * coarse):
        run = dynarm.simulate(model, q0, qd0, END, method=method, dt=END / steps).check()
        errors.append(np.abs(run.qd[-1] - want.qd[-1]).max())
        assert run.q.shape == (steps + 1, arm.nq) and run.qd.shape == (steps + 1, arm.nv)
        if arm.floating:
            assert np.abs(np.linalg.norm(run.q[:, 3:7], axis=1) - 1).max() < 1e-14
    assert 3.6 < np.log2(errors[0] / errors[1]) < 5.2


@pytest.mark.parametrize("name", ["free", "free mimic"])
def test_energy_of_a_tumbling_robot_drifts_with_order_four(name):
    model = MODELS[name]
    q0, qd0 = start(ROBOTS[name], seed=2)
    drifts = [
        dynarm.simulate(model, q0, qd0, END, method="rk4", dt=END / steps).check().unexplained
        for steps in (200, 400)
    ]
    assert drifts[1] < drifts[0] and np.log2(drifts[0] / drifts[1]) > 3.5
    exact = dynarm.simulate(model, q0, qd0, END, rtol=1e-12).check()
    assert exact.unexplained < 1e-9 * max(1.0, np.abs(exact.energy).max())


@pytest.mark.parametrize("method", ["dop853", "rk4", "radau"])
def test_momentum_is_conserved_without_gravity_and_the_centre_falls_with_it(method):
    arm = ROBOTS["free"]
    q0, qd0 = start(arm, seed=4)
    extra = {"dt": 2e-4} if method == "rk4" else {"rtol": 1e-11}
    for gravity in ((0.0, 0.0, 0.0), (0.0, 0.0, -9.81)):
        model = dynarm.compile(replace(arm, gravity=gravity))
        run = dynarm.simulate(model, q0, qd0, END, method=method, **extra).check()
        momentum = model.momentum(run.q, run.qd)
        mass = arm.parameters[:, 0].sum()
        fallen = mass * np.outer(run.t, gravity)
        scale = max(1.0, np.abs(momentum).max())
        assert np.abs(momentum[:, :3] - momentum[0, :3] - fallen).max() < 1e-9 * scale
        assert np.abs(momentum[:, 3:] - momentum[0, 3:]).max() < 1e-9 * scale


def test_a_batch_and_its_samples_are_the_same():
    arm, model = ROBOTS["free"], MODELS["free"]
    starts = [start(arm, seed) for seed in range(5)]
    q0, qd0 = (np.array(x) for x in zip(*starts, strict=True))
    run = dynarm.simulate(model, q0, qd0, 0.1, method="rk4", dt=1e-3, threads=2)
    assert run.q.shape == (5, 101, arm.nq) and run.tau.shape == (5, 101, arm.nv)
    for k, (q, qd) in enumerate(starts):
        alone = dynarm.simulate(model, q, qd, 0.1, method="rk4", dt=1e-3)
        np.testing.assert_allclose(run.q[k], alone.q, rtol=0, atol=1e-12)


def test_symplectic_steps_on_trees_and_their_refusal_on_free_bases():
    model = MODELS["mimic"]
    q0, qd0 = start(ROBOTS["mimic"])
    want = dynarm.simulate(model, q0, qd0, 0.1, rtol=1e-11).check()
    errors = [
        np.abs(
            dynarm.simulate(model, q0, qd0, 0.1, method="midpoint", dt=dt).check().q[-1]
            - want.q[-1]
        ).max()
        for dt in (1e-3, 5e-4)
    ]
    assert 1.8 < np.log2(errors[0] / errors[1]) < 2.2
    q0, qd0 = start(ROBOTS["free"])
    with pytest.raises(InputError, match=r"midpoint .* has a free base.*'rk4'"):
        dynarm.simulate(MODELS["free"], q0, qd0, 0.1, method="midpoint", dt=1e-3)


# ---- what acts


def test_wrenches_on_tools_of_a_robot_with_mimic_joints_do_work():
    arm = tree(5, 6, mimic=0.4, tools=["l3", "l6", "l0"])
    assert not arm.coupling.free
    wrench = np.arange(1.0, 19.0).reshape(3, 6) / 9
    run = dynarm.simulate(dynarm.compile(arm), *start(arm), 0.2, wrench=wrench).check()
    assert np.ptp(run.work) > 1e-2 and run.unexplained < 1e-7 * max(1, np.abs(run.energy).max())


def test_wrenches_on_tools_do_work():
    """Two tools of a free tree: power is J' w . qd, and the motion is that of the forces which they stand for."""
    arm = tree(7, 5, floating=True, tools=["l2", "l5"])
    model = dynarm.compile(arm)
    q0, qd0 = start(arm)
    wrench = np.array([[1.0, -2, 3, 0.1, 0.2, -0.3], [0.5, 0.7, -0.2, 0.4, 0, 0.1]])
    run = dynarm.simulate(model, q0, qd0, 0.2, wrench=wrench, rtol=1e-10).check()
    assert run.wrench.shape == (len(run.t), 2, 6)
    assert np.ptp(run.work) > 1e-3 and run.unexplained < 1e-7 * max(1, np.abs(run.energy).max())

    def forces(t, q, qd):
        zero = np.zeros(arm.nv)
        return model.inverse_dynamics(q, qd, zero) - model.inverse_dynamics(q, qd, zero, wrench)

    same = dynarm.simulate(model, q0, qd0, 0.2, forces, rtol=1e-10).check()
    np.testing.assert_allclose(run.q[-1], same.q[-1], rtol=0, atol=1e-7)
    stepped = dynarm.simulate(
        model, q0, qd0, 0.2, method="rk4", dt=5e-4, wrench=lambda t, q, qd: wrench
    )
    np.testing.assert_allclose(stepped.q[-1], run.q[-1], rtol=0, atol=1e-6)
    frame = run.frame()
    assert {"qx_q", "vx_qd", "wz_tau", "wrench_l2_fx", "wrench_l5_tz"} <= set(frame.columns)
    assert "qx_qd" not in frame.columns
    with pytest.raises(InputError, match=r"wrench has shape \(6,\); give shape \(2, 6\)"):
        dynarm.simulate(model, q0, qd0, 0.2, wrench=np.ones(6))
    with pytest.raises(InputError, match=r"returned shape \(6,\) .* must be \(2, 6\)"):
        dynarm.simulate(model, q0, qd0, 0.2, wrench=lambda t, q, qd: np.ones(6))


def test_a_wrench_in_the_middle_of_a_chain_does_work():
    arm = replace(dynarm.load("puma560"), tools=[dynarm.Tool("elbow", 2)])
    model = dynarm.compile(arm)
    rng = np.random.default_rng(0)
    q0, qd0 = rng.uniform(-0.5, 0.5, (2, 6))
    run = dynarm.simulate(model, q0, qd0, 0.2, wrench=[[9.0, -8, 7, 1, 2, 3]]).check()
    assert np.ptp(run.work) > 1e-2 and run.unexplained < 1e-7


def test_friction_of_a_tree_with_mimic_joints_sticks_and_slides():
    arm = ROBOTS["free mimic"]
    masters = set(arm.coupling.masters)
    joints = [
        replace(j, friction=Friction(coulomb=0.3, coulomb_negative=0.5, viscous=0.05))
        for j in arm.joints
    ]
    sharp = replace(arm, joints=joints)
    model = dynarm.compile(sharp, friction=True)
    limits = coulomb_limits(model)
    assert limits.shape == (arm.nv, 2) and not limits[:6].any() and limits[6:].all()
    q0, qd0 = start(sharp, seed=1)
    drag = model.inverse_dynamics(q0, qd0, 0 * qd0) - model.bias(q0, qd0)
    plant = Plant(model)
    rate = plant.switching(1e-9)
    rate.settle(state_of(plant, q0, qd0), qd0 == 0, np.zeros(arm.nv))
    coulomb = np.where(rate.mode > 0, limits[:, 0], -limits[:, 1]) * rate.sharp
    viscous = np.zeros(arm.nv)
    for i, joint in enumerate(joints):
        place, factor = 6 + arm.coupling.of[i], arm.coupling.multipliers[i]
        viscous[place] += factor * joint.friction.viscous * factor * qd0[place]
    np.testing.assert_allclose(drag, coulomb + viscous, rtol=0, atol=1e-12)
    run = dynarm.simulate(model, q0, 0.1 * qd0, 1.0, rtol=1e-8).check()
    assert any("sticks" in word for _, word in run.events)
    assert all(word.split()[0] in {arm.joints[i].name for i in masters} for _, word in run.events)
    assert run.unexplained < 1e-5 * max(1, np.abs(run.energy).max()) and run.loss[-1] > 0


def test_limits_of_joints_that_follow_others():
    text = tree_urdf(np.random.default_rng(5), 6, mimic=0.4)
    arm = arm_of_urdf(text.encode(), "tree")
    follower = next(i for i in range(arm.n) if arm.joints[i].mimic)
    rule = arm.joints[follower].mimic
    master = arm.coupling.of[follower]
    bound = rule.offset + rule.multiplier * 0.05  # where the master is at 0.05
    joints = [replace(j, position_limits=None) for j in arm.joints]
    reach = (bound - 10, bound) if rule.multiplier > 0 else (bound, bound + 10)
    joints[follower] = replace(joints[follower], position_limits=reach)
    model = dynarm.compile(replace(arm, joints=joints, gravity=(0, 0, 0)))
    qd0 = np.zeros(arm.nv)
    qd0[master] = 1.0
    run = dynarm.simulate(model, np.zeros(arm.nq), qd0, 0.2, limits="stop")
    assert run.status == "event" and run.q[-1, master] == pytest.approx(0.05, abs=1e-9)


def test_controllers_drive_joints_and_not_the_base():
    arm, model = ROBOTS["free"], MODELS["free"]
    q0, qd0 = start(arm, speed=0.0)
    law = GravityPD(model, q0[7:], 50.0, 5.0, rate=500.0)
    run = dynarm.simulate(model, q0, qd0, 0.1, law).check()
    assert run.tau.shape[1] == arm.nv and not run.tau[:, :6].any() and run.tau[:, 6:].any()
    with pytest.raises(InputError, match="free base that nothing drives"):
        ComputedTorque(model, q0[7:], 50.0, 5.0)


# ---- first states


def test_quaternions_are_normalised_within_rounding_and_refused_beyond():
    model = MODELS["free"]
    q0, qd0 = start(ROBOTS["free"])
    q0[3:7] *= 1 + 5e-7
    run = dynarm.simulate(model, q0, qd0, 0.01)
    assert abs(np.linalg.norm(run.q[0, 3:7]) - 1) < 1e-15
    for factor in (1 + 2e-6, 0.0, 2.0):
        bad = q0.copy()
        bad[3:7] *= factor
        with pytest.raises(InputError, match=r"quaternion of length .* qx qy qz qw; give one of"):
            dynarm.simulate(model, bad, qd0, 0.01)
    with pytest.raises(InputError, match="quaternion of length 2"):
        dynarm.simulate(model, np.array([q0, [*q0[:3], 0, 0, 0, 2, *q0[7:]]]), qd0, 0.01, dt=0.001)


def test_sizes_of_first_states_are_told_by_name():
    model = MODELS["free"]
    arm = ROBOTS["free"]
    with pytest.raises(InputError, match=r"q0 has shape \(5,\), .* 12: x y z qx qy qz qw of its"):
        dynarm.simulate(model, np.zeros(5), np.zeros(arm.nv), 0.1)
    q0, _ = start(arm)
    with pytest.raises(InputError, match=r"qd0 has shape \(12,\), .* 11: vx vy vz wx wy wz of its"):
        dynarm.simulate(model, q0, np.zeros(arm.nq), 0.1)
    with pytest.raises(InputError, match=r"torque has shape .*; give 11 entries"):
        dynarm.simulate(model, q0, np.zeros(arm.nv), 0.1, np.zeros(arm.nq))
    with pytest.raises(InputError, match="independent joints"):
        dynarm.simulate(MODELS["mimic"], np.zeros(6), np.zeros(6), 0.1)
    with pytest.raises(InputError, match="branches and has none, load it with tools"):
        branched = ROBOTS["tree"]
        dynarm.simulate(MODELS["tree"], *start(branched), 0.1, wrench=np.zeros(6))


def test_functions_see_unit_quaternions():
    """Stages of a step and interpolants stray; what torque, events and `dense` are given does not."""
    lengths = []

    def torque(t, q, qd):
        lengths.append(np.linalg.norm(q[3:7]))
        return np.zeros(len(qd))

    def event(t, q, qd):
        lengths.append(np.linalg.norm(q[3:7]))
        return 1.0

    q0, qd0 = start(ROBOTS["free"], speed=3.0)
    model = MODELS["free"]
    dynarm.simulate(model, q0, qd0, 0.05, torque, method="rk4", dt=0.01)
    run = dynarm.simulate(model, q0, qd0, 0.05, torque, events=[event], rtol=1e-4)
    lengths += np.linalg.norm(run.dense(np.linspace(0, 0.05, 7))[0][:, 3:7], axis=1).tolist()
    assert len(lengths) > 30 and np.abs(np.array(lengths) - 1).max() < 1e-14
    assert str(run).count("\n") > 12 and "qw" in str(run) and "wz" in str(run)
