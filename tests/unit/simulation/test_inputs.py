"""What may drive a run, and how it is held."""

from __future__ import annotations

import numpy as np
import pytest

import dynarm
from dynarm.simulation import Event, Sampled
from oracles.motions import end_error, rail

METHODS = ["dop853", "rk4", "ab4"]


def step_of(method, dt=0.01):
    return {} if method == "dop853" else {"dt": dt}


@pytest.fixture(scope="module")
def mass():
    return dynarm.compile(rail(mass=2.0))


@pytest.mark.parametrize("method", METHODS)
def test_zero_hold_is_a_staircase(method, mass):
    """Jumps between samples that no step sees from the inside: piecewise parabolas to rounding."""
    t, F = np.array([0.0, 0.313, 0.7, 1.234]), np.array([3.0, -5.0, 8.0, 1.0])
    run = dynarm.simulate(
        mass, [0.0], [0.0], 1.5, Sampled(t, F[:, None]), method, **step_of(method)
    )
    x = v = now = 0.0
    for a, force in zip([*t[1:], 1.5], F, strict=True):
        s = a - now
        x, v, now = x + v * s + force / 2 * s**2 / 2, v + force / 2 * s, a
    assert abs(run.q[-1, 0] - x) <= 1e-13 and abs(run.qd[-1, 0] - v) <= 1e-13
    assert abs(run.work[-1] - v**2) <= 1e-12
    assert run.tau[run.t == 0.313, 0] == -5.0 and run.tau[-1, 0] == 1.0


@pytest.mark.parametrize("method", METHODS)
def test_linear_hold_goes_straight_between_samples(method, mass):
    """F = 6 t until 1 s, then constant: x = t^3/2, then a parabola."""
    run = dynarm.simulate(
        mass,
        [0.0],
        [0.0],
        2.0,
        Sampled([0, 1], [[0.0], [6.0]], "linear"),
        method,
        **step_of(method),
    )
    t = run.t
    x = np.where(t < 1, t**3 / 2, 0.5 + 1.5 * (t - 1) + 1.5 * (t - 1) ** 2)
    assert np.abs(run.q[:, 0] - x).max() <= 1e-12
    assert np.abs(run.tau[:, 0] - np.minimum(6 * t, 6)).max() <= 1e-12


@pytest.mark.parametrize("method", METHODS)
def test_breaks_that_only_rounding_separates(method, mass):
    """A controller's ticks and samples of a wrench at the same times, computed in two ways that do not round alike."""

    class Law:
        rate = 100.0

        def __call__(self, t, q, qd):
            return [np.sin(40 * t)]

    R = mass.forward_kinematics([0.0])[:3, :3]
    axis = R.T @ mass.jacobian([0.0])[:3, 0]
    t = np.cumsum(np.full(100, 0.01)) - 0.01
    assert len(np.unique([*t, *(0.01 * np.arange(100))])) > 100
    values = np.zeros((100, 6))
    values[:, :3] = np.outer(np.cos(30 * t), axis)
    run = dynarm.simulate(
        mass, [0.0], [0.0], 1.0, Law(), method, wrench=Sampled(t, values), **step_of(method)
    )
    assert run.status == "success"
    force = np.sin(40 * t) + np.cos(30 * t)
    v = np.concatenate([[0], np.cumsum(force * 0.01 / 2)])
    assert abs(run.qd[-1, 0] - v[-1]) <= 1e-12
    assert abs(run.q[-1, 0] - np.sum((v[1:] + v[:-1]) / 2 * 0.01)) <= 1e-12


def test_a_short_pulse_between_long_steps_is_not_missed(mass):
    pulse = Sampled([0.0, 5.0, 5.001], [[0.0], [1000.0], [0.0]])
    run = dynarm.simulate(mass, [0.0], [0.0], 10.0, pulse)
    assert abs(run.qd[-1, 0] - 0.5) <= 1e-12


def test_before_the_first_sample(mass):
    run = dynarm.simulate(mass, [0.0], [0.0], 1.0, Sampled([0.5], [[4.0]]))
    assert abs(run.qd[-1, 0] - 2.0) <= 1e-12


def test_functions_of_time_and_state(mass):
    """A spring: k = 8, so that w = 2."""
    for spring in (lambda t, q, qd: -8 * q, lambda t, q, qd: float(-8 * q[0])):
        run = dynarm.simulate(mass, [1.0], [0.0], 1.0, spring, rtol=1e-10)
        assert abs(run.q[-1, 0] - np.cos(2)) <= 1e-9
    assert np.abs(run.tau[:, 0] + 8 * run.q[:, 0]).max() <= 1e-12


def test_a_function_cannot_change_the_state(mass):
    def vandal(t, q, qd):
        q[0] = 7
        return [0.0]

    with pytest.raises(ValueError, match="read-only"):
        dynarm.simulate(mass, [1.0], [0.0], 1.0, vandal)


def test_events_and_limits(mass):
    crossed = Event("crosses", lambda t, q, qd: q[0] - 0.25)

    def turns(t, q, qd):
        return qd[0]

    run = dynarm.simulate(
        mass, [1.0], [0.0], 5.0, lambda t, q, qd: -8 * q, events=[crossed, turns], rtol=1e-11
    )
    times = [t for t, name in run.events if name == "crosses"]
    first = np.arccos(0.25) / 2
    want = [first, np.pi - first, np.pi + first]
    assert np.abs(np.array(times) - want[: len(times)]).max() <= 1e-9 and len(times) == 3
    assert [name for _, name in run.events].count(
        "turns"
    ) == 3  # not the start, which lies on the zero itself
    turns.direction = 1
    once = dynarm.simulate(
        mass, [1.0], [0.0], 5.0, lambda t, q, qd: -8 * q, events=turns, rtol=1e-11
    )
    assert [round(t, 6) for t, _ in once.events] == [round(np.pi / 2, 6), round(3 * np.pi / 2, 6)]
    turns.terminal = True
    ended = dynarm.simulate(
        mass, [1.0], [0.0], 5.0, lambda t, q, qd: -8 * q, events=[turns], rtol=1e-11
    )
    assert (
        ended.status == "event"
        and abs(ended.t[-1] - np.pi / 2) <= 1e-9
        and "turns" in ended.message
    )
    assert ended.check() is ended and ended.reached == ended.t[-1]

    limited = dynarm.compile(rail(position_limits=(-0.5, 1.5), mass=2.0))
    seen = dynarm.simulate(
        limited, [1.0], [0.0], 5.0, lambda t, q, qd: -8 * q, limits="report", rtol=1e-11
    )
    assert [name for _, name in seen.events] == [
        "lower limit of slider"
    ] * 2 and seen.status == "success"
    stopped = dynarm.simulate(
        limited, [1.0], [0.0], 5.0, lambda t, q, qd: -8 * q, limits="stop", rtol=1e-11
    )
    assert stopped.status == "event" and abs(stopped.q[-1, 0] + 0.5) <= 1e-12
    assert abs(stopped.t[-1] - np.arccos(-0.5) / 2) <= 1e-9


def test_an_event_inside_a_long_step_is_seen(mass):
    """Free flight is one long step for the integrator; two crossings of a parabola's tip lie close together."""
    tip = Event("tip", lambda t, q, qd: q[0] - 0.99)
    run = dynarm.simulate(mass, [0.0], [2.0], 2.0, [-4.0], events=[tip])  # x = 2 t - t^2
    assert np.allclose([t for t, _ in run.events], [0.9, 1.1], atol=1e-10)


def test_gravity_as_an_input(two_link):
    arm = dynarm.load("two_link")
    model = dynarm.compile(arm, gravity="input")
    for method in reversed(METHODS):
        want = dynarm.simulate(two_link, [0.3, 0.4], [0, 0], 0.5, method=method, **step_of(method))
        run = dynarm.simulate(
            model, [0.3, 0.4], [0, 0], 0.5, method=method, gravity=arm.gravity, **step_of(method)
        )
        assert end_error(run, want) <= 1e-9 and np.abs(run.energy - want.energy).max() <= 1e-8
    batch = dynarm.simulate(
        model, [0.3, 0.4], [0, 0], 0.5, method="rk4", dt=0.01, gravity=[[0, 0, -9.81], [0, 0, 0]]
    )
    assert batch.q.shape == (2, 51, 2) and not np.ptp(batch.q[1], axis=0).any()
    assert np.abs(batch.balance).max() <= 1e-4
    radau = dynarm.simulate(
        model, [0.3, 0.4], [0, 0], 0.5, method="radau", gravity=arm.gravity, rtol=1e-8
    )
    assert end_error(radau, want) <= 1e-6


def test_stiff_feedback_with_an_implicit_method(puma):
    """High gains and a damper: the Jacobian knows the torque's own slope, so that steps stay long."""

    def law(t, q, qd):
        return -2e4 * q - 5e4 * qd

    run = dynarm.simulate(
        puma, np.full(6, 0.1), np.zeros(6), 1.0, law, method="radau", rtol=1e-6
    ).check()
    tight = dynarm.simulate(
        puma, np.full(6, 0.1), np.zeros(6), 1.0, law, method="bdf", rtol=1e-9
    ).check()
    assert np.abs(run.q[-1] - tight.q[-1]).max() <= 1e-5
    assert run.steps < 400
