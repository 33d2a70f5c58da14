"""Energy of free motions, the power balance of driven ones, and what a symplectic method keeps."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import dynarm
from dynarm.simulation import Sampled

BALANCE = 1e-9  # of the total energy that is at play


def scale(run):
    """The energy [J] that goes to and fro in a run."""
    spans = [np.ptp(x) for x in (run.kinetic, run.potential, run.work, run.loss)]
    return max(*spans, np.abs(run.kinetic).max())


def smooth(arm, width=0.05):
    """The arm with friction of every kind, none of it sharp."""
    frictions = [
        dynarm.Friction(
            0.8 / (i + 1),
            1.5 / (i + 1),
            0.1,
            shape="tanh",
            width=width,
            viscous_negative=1.0 / (i + 1),
        )
        for i in range(arm.n)
    ]
    joints = [
        replace(j, friction=f, armature=0.1) for j, f in zip(arm.joints, frictions, strict=True)
    ]
    return replace(arm, joints=joints, name=arm.name + "_rough")


@pytest.mark.parametrize("name", ["stanford", "two_link"])
def test_free_motion_keeps_its_energy(name, request):
    model = request.getfixturevalue(name)
    q0 = np.linspace(0.2, 0.9, model.arm.n)
    run = dynarm.simulate(model, q0, np.full(model.arm.n, 0.3), 10.0, rtol=1e-11).check()
    assert np.abs(run.energy - run.energy[0]).max() <= BALANCE * np.abs(run.energy).max()
    assert np.abs(run.balance).max() <= BALANCE * scale(run)
    assert not run.work.any() and not run.loss.any()
    assert np.ptp(run.kinetic) > 1  # it does move


def test_power_balance_with_friction_and_inputs():
    model = dynarm.compile(smooth(dynarm.load("stanford")), friction=True)
    t = np.linspace(0, 3, 13)
    inputs = {
        "torque": lambda t, q, qd: 4 * np.sin(t * np.arange(1, 7)) - 2 * q,
        "wrench": Sampled(t, np.random.default_rng(0).normal(size=(13, 6)), "linear"),
    }
    run = dynarm.simulate(model, np.full(6, 0.3), np.zeros(6), 3.0, rtol=1e-11, **inputs).check()
    assert np.abs(run.balance).max() <= BALANCE * scale(run)
    assert run.loss[-1] > 1 and abs(run.work[-1]) > 1
    # the same work from the record: torque times velocity, wrench times the tool's velocity in its own axes
    times = np.linspace(0, 3, 6001)
    fine = dynarm.simulate(
        model, np.full(6, 0.3), np.zeros(6), 3.0, rtol=1e-11, times=times, **inputs
    )
    R = model.forward_kinematics(fine.q)[:, :3, :3]
    J = model.jacobian(fine.q)
    turned = np.concatenate([R.swapaxes(1, 2) @ J[:, :3], R.swapaxes(1, 2) @ J[:, 3:]], axis=1)
    power = np.einsum("ti,ti->t", fine.tau + np.einsum("tkj,tk->tj", turned, fine.wrench), fine.qd)
    work = np.trapezoid(power, times)
    assert abs(work - fine.work[-1]) <= 1e-4 * scale(run)
    # and friction alone takes energy from a free motion
    free = dynarm.simulate(model, np.full(6, 0.3), np.ones(6), 2.0, rtol=1e-11).check()
    assert np.abs(free.balance).max() <= BALANCE * scale(free)
    # offsets may give a little back where a joint creeps, viscous and Coulomb friction never do
    assert free.loss[-1] > 0.5 * free.kinetic[0]


@pytest.mark.parametrize("method", ["rk4", "ab4"])
def test_power_balance_of_steps(method):
    model = dynarm.compile(smooth(dynarm.load("two_link"), width=0.5), friction=True)
    errors = []
    for dt in (2e-3, 1e-3):
        run = dynarm.simulate(model, [0.3, 0.2], [0, 1.0], 1.0, [5.0, -1.0], method=method, dt=dt)
        errors.append(np.abs(run.balance).max())
        assert run.loss[-1] > 0.1
    assert errors[0] / errors[1] > 10 and errors[1] < 1e-7


def test_symplectic_energy_is_bounded(two_link):
    """Hanging links swing for 200 s: the energy oscillates and does not drift; that of RK4 with a like step does."""
    q0, qd0, dt, end = [-np.pi / 2 + 0.9, 0.5], [0.0, 0.0], 0.02, 200.0
    run = dynarm.simulate(two_link, q0, qd0, end, method="midpoint", dt=dt, every=5).check()
    error = np.abs(run.balance)
    early, late = error[run.t <= 50].max(), error[run.t > 150].max()
    assert late <= 1.2 * early and late <= 1e-3 * scale(run)
    half = dynarm.simulate(two_link, q0, qd0, 50.0, method="midpoint", dt=dt / 2, every=10)
    # second order: a bound that shrinks with the step
    assert np.abs(half.balance).max() <= early / 3
    other = dynarm.simulate(two_link, q0, qd0, end, method="rk4", dt=2 * dt, every=5)
    first, last = np.abs(other.balance[other.t <= 50]).max(), np.abs(other.balance[-1])
    assert last >= 3 * first


def test_midpoint_runs_backwards(two_link):
    """Symmetric: the reversed motion leads back to the start, as far as the iteration goes."""
    there = dynarm.simulate(two_link, [0.4, 0.7], [0.5, -0.3], 2.0, method="midpoint", dt=0.01)
    back = dynarm.simulate(two_link, there.q[-1], -there.qd[-1], 2.0, method="midpoint", dt=0.01)
    assert np.abs(back.q[-1] - [0.4, 0.7]).max() <= 1e-10
    assert np.abs(back.qd[-1] + [0.5, -0.3]).max() <= 1e-10


def test_midpoint_with_torques_and_friction():
    model = dynarm.compile(smooth(dynarm.load("two_link"), width=0.5), friction=True)
    torque = Sampled([0, 0.5], [[5.0, 1.0], [-3.0, 2.0]], "linear")
    want = dynarm.simulate(model, [0.3, 0.2], [0, 1.0], 1.0, torque, rtol=1e-12)
    errors = []
    for dt in (2e-3, 1e-3):
        run = dynarm.simulate(model, [0.3, 0.2], [0, 1.0], 1.0, torque, method="midpoint", dt=dt)
        ends = [(run.q, want.q), (run.loss, want.loss), (run.work, want.work)]
        errors.append([np.abs(a[-1] - b[-1]).max() for a, b in ends] + [np.abs(run.balance).max()])
    ratios = np.array(errors[0]) / errors[1]
    assert (ratios > 3.8).all() and (ratios < 4.2).all(), ratios
