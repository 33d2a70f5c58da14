"""Measured orders of convergence of the fixed-step methods, in every way in which inputs can come."""

from __future__ import annotations

import numpy as np
import pytest

import dynarm
from dynarm.simulation import Sampled
from oracles.motions import end_error

END = 0.5
TIGHT = {"rtol": 3e-14, "atol": 1e-16}
STANFORD = (np.array([0.3, -0.7, 0.6, 0.4, 0.5, -0.2]), np.array([0.4, -0.3, 0.2, 0.5, -0.4, 0.6]))
PUMA = (np.array([0.1, -0.4, 0.6, 0.2, 0.5, -0.3]), np.zeros(6))
STEPS = {"rk4": (100, 200, 400), "ab4": (400, 800, 1600), "midpoint": (100, 200)}
ORDERS = {"rk4": 4, "ab4": 4, "midpoint": 2}


def drive(t, q, qd):
    amplitudes, rates = np.array([20, -30, 8, 0.3, 0.2, 0.1]), np.array([3, 2, 5, 4, 6, 3])
    return amplitudes * np.sin(rates * t + 0.5) - 3 * np.sin(q) - 0.5 * qd


def push(t, q, qd):
    return np.array(
        [10 * np.sin(4 * t), -5 * np.cos(3 * t), 6 * t, 0.5 * np.sin(2 * t), 0.3 * t, -0.2]
    )


def orders(method, model, start, reference, steps=None, **inputs):
    errors = []
    for count in steps or STEPS[method]:
        run = dynarm.simulate(model, *start, END, method=method, dt=END / count, **inputs)
        assert run.status == "success" and run.steps == count
        errors.append(end_error(run, reference))
    assert errors[-1] > 1e-13, "rounding hides the order"
    return np.diff(-np.log2(errors))


@pytest.mark.parametrize(
    "method, allowed",
    [("dop853", 10), ("rk45", 10), ("rk23", 10), ("radau", 10), ("bdf", 100), ("lsoda", 100)],
)
@pytest.mark.parametrize("rtol", [1e-5, 1e-8])
def test_adaptive_methods_meet_the_tolerance(method, allowed, rtol, stanford):
    """rtol bounds the error of a step; some tens of them add up, and multistep methods let more of each through."""
    if method == "rk23" and rtol < 1e-6:
        rtol = 1e-6  # a method of third order would need a hundred thousand steps
    reference = dynarm.simulate(stanford, *STANFORD, END, **TIGHT)
    run = dynarm.simulate(stanford, *STANFORD, END, method=method, rtol=rtol).check()
    size = max(np.abs(reference.q[-1]).max(), np.abs(reference.qd[-1]).max())
    assert end_error(run, reference) <= allowed * rtol * size


@pytest.mark.parametrize("method", STEPS)
def test_free_stanford(method, stanford):
    reference = dynarm.simulate(stanford, *STANFORD, END, **TIGHT)
    found = orders(method, stanford, STANFORD, reference)
    assert np.abs(found - ORDERS[method]).max() <= 0.1, found


@pytest.mark.parametrize("method", ["rk4", "ab4"])
@pytest.mark.parametrize(
    "inputs", [{"torque": drive}, {"torque": drive, "wrench": push}], ids=["torque", "wrench"]
)
def test_driven_puma(method, inputs, puma):
    reference = dynarm.simulate(puma, *PUMA, END, **inputs, **TIGHT)
    steps = (50, 100, 200) if method == "rk4" else (200, 400, 800)
    found = orders(method, puma, PUMA, reference, steps, **inputs)
    assert np.abs(found - 4).max() <= 0.1, found


@pytest.mark.parametrize("hold", ["zero", "linear"])
@pytest.mark.parametrize("method", ["rk4", "ab4"])
def test_sampled_inputs_keep_the_order(method, hold, puma):
    """Steps end where an input jumps or has a corner, whatever dt was asked for."""
    t = np.array([0.0, 0.11, 0.2, 0.37])
    torque = Sampled(
        t, np.random.default_rng(1).normal(size=(4, 6)) * [20, 30, 10, 0.5, 0.5, 0.2], hold
    )
    wrench = Sampled([0.1, 0.3], np.random.default_rng(2).normal(size=(2, 6)), hold)
    inputs = {"torque": torque, "wrench": wrench}
    reference = dynarm.simulate(puma, *PUMA, END, **inputs, **TIGHT)
    assert {0.1, 0.11, 0.2, 0.3, 0.37} <= set(reference.t)
    errors = []
    for count in (100, 200, 400) if method == "rk4" else (400, 800, 1600):
        run = dynarm.simulate(puma, *PUMA, END, method=method, dt=END / count, **inputs)
        assert {0.1, 0.11, 0.2, 0.3, 0.37} <= set(run.t) and run.t[-1] == END
        assert np.diff(run.t).max() <= END / count * (1 + 1e-9)
        errors.append(end_error(run, reference))
    # segments are not divided exactly by two from run to run, so the order is that of the whole range
    assert errors[-1] > 1e-13
    assert abs(np.log(errors[0] / errors[-1]) / np.log(4) - 4) <= 0.2, errors


def test_the_whole_step_and_its_stages_agree(puma):
    """A constant torque runs compiled, the same torque as a function runs stage by stage in Python."""
    tau = np.array([5.0, -20, 3, 0.1, 0.2, 0.05])
    for method in ("rk4", "ab4"):
        one = dynarm.simulate(puma, *PUMA, 0.1, tau, method=method, dt=1e-3, wrench=np.ones(6))
        two = dynarm.simulate(
            puma,
            *PUMA,
            0.1,
            lambda t, q, qd: tau,
            method=method,
            dt=1e-3,
            wrench=lambda t, q, qd: np.ones(6),
        )
        for a, b in ((one.q, two.q), (one.qd, two.qd), (one.work, two.work), (one.tau, two.tau)):
            assert np.abs(a - b).max() <= 1e-13 * max(1, np.abs(a).max())


def test_step_from_the_velocity_limits(stanford, two_link):
    """turney1980: no joint moves far, and no velocity changes much, in one step."""
    from dataclasses import replace

    arm = dynarm.load("two_link")
    fast = [replace(j, velocity_limit=v) for j, v in zip(arm.joints, (2.0, 10.0), strict=True)]
    model = dynarm.compile(replace(arm, joints=fast, gravity=(0, 0, 0)))
    run = dynarm.simulate(model, [0, 0], [0.1, 0], 1.0, method="rk4")
    assert (
        run.dt == pytest.approx(0.02 / 10, rel=0.01)
        and "step" in run.summary()
        and run.steps == 500
    )
    moved = dynarm.simulate(model, [0, 0], [0, 40.0], 1.0, method="rk4")
    assert moved.dt < 0.02 / 40 * 1.001
    # a sudden load: 1000 rad/s^2 would change 10 rad/s by a tenth in a millisecond
    qdd = model.forward_dynamics([0, 0], [0, 0], [0, 500.0])
    kicked = dynarm.simulate(model, [0, 0], [0, 0], 0.1, [0, 500.0], method="ab4")
    assert kicked.dt <= 0.1 * (np.array([2.0, 10.0]) / np.abs(qdd)).min() * 1.001
