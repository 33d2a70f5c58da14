"""One and two links against closed forms and against a textbook's equations."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import dynarm
from dynarm.simulation import Event
from oracles.motions import (
    pendulum,
    pendulum_angle,
    pendulum_period,
    pendulum_rate,
    pendulum_speed,
    rail,
    two_link_rates,
)


@pytest.fixture(scope="module")
def swinging():
    return dynarm.compile(pendulum())


@pytest.mark.parametrize("swing", [0.1, 1.5, 3.0])
def test_period_of_a_pendulum(swing, swinging):
    period = pendulum_period(swing, pendulum_rate())
    # back on the side where it was let go
    top = Event("rest", lambda t, q, qd: qd[0], direction=-1)
    run = dynarm.simulate(swinging, [swing], [0.0], 3.2 * period, events=[top], rtol=1e-12)
    times = [t for t, name in run.events if name == "rest"]
    assert np.abs(np.array(times) - period * np.arange(1, 4)).max() <= 1e-10 * period


@pytest.mark.parametrize("method", ["dop853", "rk45", "radau", "bdf", "lsoda"])
@pytest.mark.parametrize("rtol", [1e-6, 1e-9])
def test_tolerances_are_met_against_elliptic_functions(method, rtol, swinging):
    swing, rate, end = 2.0, pendulum_rate(), 1.9
    run = dynarm.simulate(swinging, [swing], [0.0], end, method=method, rtol=rtol)
    q = pendulum_angle(end, swing, rate)
    # the tolerance is one of a single step; these runs have some ten to some thousand
    allowed = {"bdf": 300, "lsoda": 300, "rk45": 100}.get(method, 30) * rtol
    assert abs(run.q[-1, 0] - q) <= allowed
    assert abs(abs(run.qd[-1, 0]) - pendulum_speed(q, swing, rate)) <= allowed * rate


def test_dense_output_lies_on_the_closed_form(swinging):
    swing, rate = 2.0, pendulum_rate()
    run = dynarm.simulate(swinging, [swing], [0.0], 3.0, rtol=1e-10)
    t = np.linspace(0, 3.0, 57)
    q, qd = run.dense(t)
    exact = np.array([pendulum_angle(x, swing, rate) for x in t])
    assert q.shape == qd.shape == (57, 1)
    assert np.abs(q[:, 0] - exact).max() <= 1e-8
    again = dynarm.simulate(swinging, [swing], [0.0], 3.0, rtol=1e-10, times=t)
    assert np.array_equal(again.t, t) and np.abs(again.q - q).max() == 0
    with pytest.raises(dynarm.DynarmError, match="0 to 3 s"):
        run.dense(3.1)


@pytest.mark.parametrize("method", ["rk4", "ab4"])
def test_steps_on_a_pendulum(method, swinging):
    run = dynarm.simulate(swinging, [2.0], [0.0], 1.0, method=method, dt=1e-3)
    assert (
        abs(run.q[-1, 0] - pendulum_angle(1.0, 2.0, pendulum_rate()))
        <= {"rk4": 1e-10, "ab4": 1e-9}[method]
    )


@pytest.mark.parametrize("tau", [(0.0, 0.0), (40.0, -5.0)])
def test_two_links(tau, two_link):
    start = [0.3, -0.8, 0.5, 1.0]
    want = solve_ivp(
        two_link_rates, (0, 2.0), start, method="DOP853", rtol=1e-13, atol=1e-14, args=(tau,)
    )
    run = dynarm.simulate(two_link, start[:2], start[2:], 2.0, tau, rtol=1e-12)
    assert np.abs(np.concatenate([run.q[-1], run.qd[-1]]) - want.y[:, -1]).max() <= 1e-9


def test_constant_force_and_wrench_on_a_rail():
    """x = F t^2 / 2m, its work F x, and a wrench along the rail that does the same."""
    model = dynarm.compile(rail(mass=2.0))
    R = model.forward_kinematics([0.0])[:3, :3]
    axis = model.jacobian([0.0])[:3, 0]
    force = R.T @ axis * 3.0  # 3 N along the rail, in the tool's axes
    for inputs in (
        {"torque": [3.0]},
        {"wrench": [*force, 0, 0, 0]},
        {"torque": [1.0], "wrench": [*force * 2 / 3, 0, 0, 0]},
    ):
        for method in ("dop853", "rk4"):
            run = dynarm.simulate(
                model,
                [0.1],
                [0.2],
                2.0,
                method=method,
                dt=0.1 if method == "rk4" else None,
                **inputs,
            )
            x = 0.1 + 0.2 * run.t + 3.0 / 2 * run.t**2 / 2
            assert np.abs(run.q[:, 0] - x).max() <= 1e-13 * 10
            assert np.abs(run.work - 3.0 * (x - 0.1)).max() <= 1e-12 * 10
            assert (run.wrench is None) == ("wrench" not in inputs)
