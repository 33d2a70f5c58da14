"""Controllers: computed torque with the right and the wrong model, PD with gravity, sampling, hold and limits."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import expm

import dynarm
from dynarm.simulation import ComputedTorque, Controller, GravityPD
from oracles.motions import end_error, rail

KP, KD = 100.0, 20.0


def path(t):
    """A smooth reference for six joints."""
    a, w = np.array([0.5, 0.4, 0.6, 0.3, 0.7, 0.2]), np.array([1.0, 1.3, 0.8, 1.7, 1.1, 2.0])
    return a * np.sin(w * t), a * w * np.cos(w * t), -a * w**2 * np.sin(w * t)


@pytest.mark.parametrize("method", ["dop853", "rk4"])
def test_computed_torque_follows_to_the_integration_error(method, puma):
    law = ComputedTorque(puma, path, KP, KD, limit=np.inf)
    q, qd, _ = path(0)
    errors = []
    for step in (
        ({"rtol": 1e-7}, {"rtol": 1e-11}) if method == "dop853" else ({"dt": 0.02}, {"dt": 0.01})
    ):
        run = dynarm.simulate(puma, q, qd, 2.0, law, method, **step).check()
        errors.append(np.abs(run.q - [path(t)[0] for t in run.t]).max())
    # the error is the integrator's: it shrinks with the fourth power of the step
    if method == "rk4":
        assert 12 < errors[0] / errors[1] < 20 and errors[1] <= 1e-6
    else:
        assert errors[0] <= 1e-6 and errors[1] <= 1e-10


def test_error_dynamics_are_those_promised(puma):
    """e'' + kd e' + kp e = 0 from any start."""
    kd = 8.0  # not critical: the error swings
    law = ComputedTorque(puma, path, KP, kd, limit=np.inf)
    q, qd, _ = path(0)
    e0 = np.array([0.2, -0.1, 0.15, 0.3, -0.2, 0.1])
    run = dynarm.simulate(puma, q - e0, qd, 0.5, law, rtol=1e-11)
    decay = expm(np.array([[0, 1], [-KP, -kd]]) * 0.5) @ [1.0, 0.0]
    assert np.abs(path(0.5)[0] - run.q[-1] - e0 * decay[0]).max() <= 1e-9
    assert np.abs(path(0.5)[1] - run.qd[-1] - e0 * decay[1]).max() <= 1e-8


def test_ten_percent_more_payload(puma):
    """The controller knows 5 kg, the robot carries 5.5 kg: at rest the error is M^-1 (difference of gravity) / kp."""
    arm = dynarm.load("puma560")
    known = dynarm.compile(arm.with_payload(5.0, com=(0.05, 0, 0.1)), friction=True)
    real = dynarm.compile(arm.with_payload(5.5, com=(0.05, 0, 0.1)), friction=True)
    pose = np.array([0.3, -0.5, 0.4, 0.2, 0.6, -0.1])
    law = ComputedTorque(known, pose, KP, KD, limit=np.inf)
    run = dynarm.simulate(real, pose, np.zeros(6), 4.0, law, rtol=1e-10).check()
    end = run.q[-1]
    lag = known.mass_matrix(end) @ (KP * (pose - end)) - (real.gravity(end) - known.gravity(end))
    assert np.abs(lag).max() <= 1e-6 * np.abs(real.gravity(end)).max()
    assert 1e-4 < np.abs(end - pose).max() < 0.05
    exact = ComputedTorque(real, pose, KP, KD, limit=np.inf)
    assert (
        np.abs(dynarm.simulate(real, pose, np.zeros(6), 4.0, exact, rtol=1e-10).q - pose).max()
        <= 1e-10
    )
    # half the mistake, half the error
    halfway = dynarm.compile(arm.with_payload(5.25, com=(0.05, 0, 0.1)), friction=True)
    half = dynarm.simulate(halfway, pose, np.zeros(6), 4.0, law, rtol=1e-10).q[-1] - pose
    assert abs(np.linalg.norm(half) / np.linalg.norm(end - pose) - 0.5) <= 0.01


def test_gravity_pd_comes_to_rest_at_the_reference(puma):
    pose = np.array([0.2, -0.6, 0.5, 0.1, 0.3, 0.0])
    law = GravityPD(puma, pose, kp=[300, 400, 200, 30, 30, 30], kd=[60, 90, 40, 5, 5, 5])
    run = dynarm.simulate(puma, np.zeros(6), np.zeros(6), 12.0, law, rtol=1e-9).check()
    assert np.abs(run.q[-1] - pose).max() <= 1e-5 and np.abs(run.qd[-1]).max() <= 1e-4


@pytest.mark.parametrize("method", ["dop853", "rk4", "ab4"])
def test_sampled_control_is_exact_between_its_ticks(method):
    """A PD on a mass, held between ticks: the closed loop is a matrix power."""
    model = dynarm.compile(rail(mass=2.0))
    period, kp, kd = 0.05, 30.0, 4.0
    law = GravityPD(model, [0.0], kp, kd, rate=1 / period)
    run = dynarm.simulate(
        model, [1.0], [0.5], 1.02, law, method, None if method == "dop853" else 0.01
    )
    one = np.array([[1, period], [0, 1]]) - np.array([[period**2 / 2], [period]]) @ [[kp, kd]] / 2.0
    x = np.array([1.0, 0.5])
    for k in range(21):
        at = np.flatnonzero(np.abs(run.t - k * period) <= 1e-12)
        assert len(at) == 1
        assert np.abs([run.q[at[0], 0], run.qd[at[0], 0]] - x).max() <= 1e-11
        assert abs(run.tau[at[0], 0] + kp * x[0] + kd * x[1]) <= 1e-9
        tau, x = -kp * x[0] - kd * x[1], one @ x
    assert run.t[-1] == 1.02 and abs(run.tau[-1, 0] - tau) <= 1e-9  # ends inside a period


def test_sampling_at_the_step_is_held(puma):
    """One tick a step: the torque is held through the stages, not followed."""
    q, qd, _ = path(0)
    law = ComputedTorque(puma, path, KP, KD, rate=100.0, limit=np.inf)
    held = dynarm.simulate(puma, q, qd, 0.5, law, "rk4", 0.01)
    exact = dynarm.simulate(puma, q, qd, 0.5, law, rtol=1e-11)
    assert held.steps == 50 and end_error(held, exact) <= 1e-6
    continuous = dynarm.simulate(
        puma, q, qd, 0.5, ComputedTorque(puma, path, KP, KD, limit=np.inf), rtol=1e-11
    )
    assert end_error(continuous, exact) > 1e-4


def test_torque_limits(puma):
    law = GravityPD(puma, np.ones(6), 1e4, 10.0, limit=[10, 60, 10, 1, 1, 1])
    run = dynarm.simulate(puma, np.zeros(6), np.zeros(6), 0.05, law)
    assert (np.abs(run.tau) <= [10, 60, 10, 1, 1, 1]).all() and np.abs(run.tau[0]).max() == 60
    from dataclasses import replace

    arm = rail(effort_limit=5.0)
    own = GravityPD(dynarm.compile(arm), [1.0], 1e3, 0.0)
    assert own(0.0, np.zeros(1), np.zeros(1)) == [5.0]
    free = GravityPD(
        dynarm.compile(replace(arm, joints=[replace(arm.joints[0], effort_limit=None)])),
        [1.0],
        1e3,
        0.0,
    )
    assert free(0.0, np.zeros(1), np.zeros(1)) == [1000.0]


BAD = {
    "rate": ({"rate": -1.0}, "rate"),
    "gains": ({"kp": [1, 2]}, "kp has shape"),
    "word": ({"kd": "high"}, "kd is 'high'"),
    "reference": ({"reference": [0, 0]}, "reference has shape"),
    "values": ({"values": np.ones(36)}, "parameters='inputs'"),
    "model": ({"model": 3}, "dynarm.compile"),
}


@pytest.mark.parametrize("case", BAD)
def test_controllers_refuse(case, puma):
    change, text = BAD[case]
    given = {"model": puma, "reference": np.zeros(6), "kp": 1.0, "kd": 1.0} | change
    with pytest.raises(dynarm.DynarmError, match=text):
        ComputedTorque(**given)


def test_a_controller_needs_a_law(puma):
    law = Controller(puma, np.zeros(6), 1.0, 1.0)
    with pytest.raises(dynarm.DynarmError, match="control law"):
        dynarm.simulate(puma, np.zeros(6), np.zeros(6), 1.0, law)
