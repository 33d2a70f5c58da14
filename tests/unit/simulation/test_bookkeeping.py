"""What a run counts and keeps beside its motion: evaluations, steps, looks at the clock, times, Jacobians."""

from __future__ import annotations

import numpy as np
import pytest

import dynarm
from dynarm.simulation import Event, GravityPD, Sampled, adaptive
from dynarm.simulation.adaptive import AdaptiveIntegration, Settings
from dynarm.simulation.budget import Budget
from dynarm.simulation.inputs import source_of
from dynarm.simulation.plant import Plant
from oracles.motions import pendulum, rail

ADAPTIVE = ["dop853", "rk45", "rk23", "radau", "bdf", "lsoda"]
EXPLICIT = ["dop853", "rk45", "rk23"]


def how(method, dt=0.01):
    return {"method": method} | ({} if method in ADAPTIVE else {"dt": dt})


@pytest.fixture(scope="module")
def swinging():
    return dynarm.compile(pendulum())


# ---- states that functions see


@pytest.mark.parametrize("method", [*ADAPTIVE, "rk4", "ab4"])
def test_functions_see_states_of_the_joints_alone(method, two_link):
    """Not the work and the losses that are integrated with them."""
    seen = set()

    def torque(t, q, qd):
        seen.add(("torque", q.shape, qd.shape))
        return -q - qd[: len(q)]

    def wrench(t, q, qd):
        seen.add(("wrench", q.shape, qd.shape))
        return np.zeros(6)

    def event(t, q, qd):
        seen.add(("event", q.shape, qd.shape))
        return t - 0.05  # crossed once: the search for its zero asks too

    more = {"events": [event], "rtol": 1e-5} if method in ADAPTIVE else {}
    start = (two_link, [0.1, 0.2], [0.3, 0.1], 0.1)
    dynarm.simulate(*start, torque, **how(method), **more)
    dynarm.simulate(*start, torque, wrench=wrench, **how(method), **more)
    assert {shape for _, *both in seen for shape in both} == {(2,)}
    assert {who for who, *_ in seen} == {"torque", "wrench"} | ({"event"} if more else set())


# ---- counts


@pytest.mark.parametrize("method", EXPLICIT)
def test_evaluations_are_counted(method, swinging):
    """An explicit method asks for the torque once an evaluation; the record asks once a row."""
    calls = []

    def torque(t, q, qd):
        calls.append(t)
        return [0.1]

    run = dynarm.simulate(swinging, [1.0], [0.0], 1.0, torque, method, rtol=1e-6)
    assert run.evaluations == len(calls) - len(run.t) > 20
    assert run.steps == len(run.t) - 1 > 3


@pytest.mark.parametrize("method, each", [("rk4", 4), ("ab4", 1)])
def test_evaluations_of_fixed_steps(method, each, swinging):
    run = dynarm.simulate(swinging, [1.0], [0.0], 1.0, method=method, dt=0.01)
    assert run.steps == 100 and run.evaluations == 100 * each


def test_evaluations_of_the_midpoint_rule(swinging):
    """Two turns a call, and at least one call a step; a pendulum's steps need few."""
    run = dynarm.simulate(swinging, [1.0], [0.0], 1.0, method="midpoint", dt=0.01)
    assert run.evaluations % 2 == 0 and 2 * run.steps <= run.evaluations <= 12 * run.steps
    still = dynarm.simulate(swinging, [0.0], [0.0], 1.0, method="midpoint", dt=0.1)
    assert still.evaluations == 2 * still.steps  # nothing changes: one call sees it


def test_the_clock_is_looked_at_seldom(swinging, monkeypatch):
    looks = []

    def clock():
        looks.append(0)
        return 0.0

    monkeypatch.setattr(adaptive, "Budget", lambda end, most=None: Budget(end, most, clock))
    run = dynarm.simulate(swinging, [2.0], [0.0], 20.0)
    assert len(looks) == 2 + run.evaluations // 200 > 5  # one at the birth of each of two budgets


def test_a_run_that_ends_early_has_counted_what_it_did(swinging):
    run = dynarm.simulate(swinging, [2.0], [0.0], 100.0, max_steps=7)
    assert run.steps == 7 and len(run.t) == 8


# ---- times and dense output


def test_times_after_the_end_of_a_run_are_left_out(swinging):
    """An event ends the run; rows beyond it would be made up."""
    stop = Event("bottom", lambda t, q, qd: q[0], terminal=True)
    times = np.linspace(0, 3, 61)
    run = dynarm.simulate(swinging, [1.0], [0.0], 3.0, events=[stop], times=times)
    assert run.status == "event" and 0.3 < run.reached < 0.7
    assert run.t.tolist() == times[times <= run.reached].tolist()
    assert (run.q[:, 0] > 0).all()


def test_the_last_time_is_recorded(swinging):
    run = dynarm.simulate(swinging, [1.0], [0.0], 0.7, times=[0.7, 0.0, 0.7])
    assert run.t.tolist() == [0.0, 0.7]
    whole = dynarm.simulate(swinging, [1.0], [0.0], 0.7)
    assert run.q[-1] == whole.q[-1] and run.qd[-1] == whole.qd[-1]


def test_dense_output_is_asked_for_inside_the_run(swinging):
    run = dynarm.simulate(swinging, [1.0], [0.5], 2.0)
    q, qd = run.dense([])
    assert q.shape == qd.shape == (0, 1)
    q, qd = run.dense(np.array([[0.0, 2.0], [1.0, 0.5], [0.3, 1.9]]))
    assert q.shape == qd.shape == (3, 2, 1)
    assert (q[0, 0], qd[0, 0]) == ([1.0], [0.5]) and q[0, 1] == run.q[-1]
    for wrong in (-0.1, 2.0001, [1.0, 3.0], [-1.0, 1.0], np.nan):
        with pytest.raises(dynarm.DynarmError, match="from 0 to 2 s"):
            run.dense(wrong)
    mixed = np.random.default_rng(0).permutation(np.linspace(0, 2, 41))
    assert np.array_equal(run.dense(mixed)[0], [run.dense(t)[0] for t in mixed])
    assert np.array_equal(run.dense(run.t)[0][1:-1], run.q[1:-1])


def test_dense_output_of_a_run_that_went_nowhere(swinging):
    run = dynarm.simulate(swinging, [1.0], [0.5], 2.0, lambda t, q, qd: [np.nan])
    assert run.status == "function" and run.t.tolist() == [0.0]
    q, qd = run.dense(0.0)
    assert q.tolist() == [1.0] and qd.tolist() == [0.5]
    with pytest.raises(dynarm.DynarmError, match="from 0 to 0 s"):
        run.dense(0.5)


def test_a_function_that_fails_where_only_the_record_asks(swinging):
    """The integrator steps over it; the row that is asked for has no torque, and the run says so."""

    def torque(t, q, qd):
        return [np.nan if t == 0.123456 else 0.0]

    run = dynarm.simulate(swinging, [1.0], [0.0], 0.5, torque, times=[0.1, 0.123456, 0.2])
    assert run.status == "function" and "0.123456" in run.message
    assert np.isfinite(run.q).all() and run.tau[0, 0] == 0 and np.isnan(run.tau[1:, 0]).all()
    ends = Event("soon", lambda t, q, qd: t - 0.3, terminal=True)
    again = dynarm.simulate(swinging, [1.0], [0.0], 0.5, torque, times=[0.123456], events=[ends])
    assert again.status == "event"  # what ended the run is the better reason


# ---- torques and work


def test_torque_and_wrench_of_a_single_run(two_link):
    torque = Sampled([0.0, 0.1], [[1.0, 2.0], [3.0, 4.0]])
    run = dynarm.simulate(two_link, [0.1, 0.2], [0, 0], 0.2, torque, wrench=np.arange(6.0))
    late = run.t >= 0.1
    assert (run.tau[late] == [3, 4]).all() and (run.tau[~late] == [1, 2]).all()
    assert late.any() and not late.all()
    assert (run.wrench == np.arange(6)).all()
    assert dynarm.simulate(two_link, [0.1, 0.2], [0, 0], 0.2).wrench is None


def test_much_work_is_no_blow_up():
    """A ship of 1e7 kg at 2 m/s: millions of joules, and yet nothing moves fast."""
    model = dynarm.compile(rail(mass=1e7))
    for method in ("dop853", "radau", "rk4", "ab4", "midpoint"):
        run = dynarm.simulate(model, [0.0], [0.0], 2.0, [1e7], **how(method)).check()
        assert abs(run.qd[-1, 0] - 2.0) <= 1e-9 and run.work[-1] == pytest.approx(2e7)


# ---- Jacobians of implicit methods


class Count:
    def __init__(self, monkeypatch):
        self.calls, plain = 0, AdaptiveIntegration.jacobian

        def counted(motion, t, y):
            self.calls += 1
            return plain(motion, t, y)

        monkeypatch.setattr(AdaptiveIntegration, "jacobian", counted)


@pytest.mark.parametrize("method", ADAPTIVE)
def test_implicit_methods_take_the_compiled_derivatives(method, two_link, monkeypatch, recwarn):
    count = Count(monkeypatch)
    dynarm.simulate(two_link, [0.1, 0.2], [0, 0], 0.2, method=method, rtol=1e-5).check()
    assert bool(count.calls) == (method in ("radau", "bdf", "lsoda")) or method == "lsoda"
    assert not recwarn.list
    count.calls = 0
    pushed = dynarm.simulate(
        two_link, [0.1, 0.2], [0, 0], 0.2, method=method, rtol=1e-5, wrench=np.ones(6)
    ).check()
    assert count.calls == 0 and pushed.steps > 2


def test_implicit_methods_with_sharp_friction_difference_it(monkeypatch):
    count = Count(monkeypatch)
    friction = dynarm.Friction(coulomb=2.0, viscous=1.0)
    model = dynarm.compile(rail(friction), friction=True)
    run = dynarm.simulate(model, [0.0], [1.0], 2.0, method="radau", rtol=1e-8).check()
    assert count.calls == 0 and [name for _, name in run.events] == ["slider sticks"]


@pytest.mark.parametrize("kind", ["constant", "feedback", "controller"])
def test_the_jacobian_is_that_of_the_derivative(kind, two_link):
    rng = np.random.default_rng(4)
    A, B = rng.normal(size=(2, 2, 2))
    torque = {
        "constant": np.array([3.0, -1.0]),
        "feedback": lambda t, q, qd: A @ np.sin(q) + B @ (qd * np.abs(qd)) + t,
        "controller": GravityPD(two_link, [0.5, 0.1], 50.0, 5.0),
    }[kind]
    source = source_of(torque, (2,), "torque")
    motion = AdaptiveIntegration(
        Plant(two_link), source, None, Settings("radau", 1e-6, 1e-8, 1.0, 10, ())
    )
    y = np.array([20.0, -0.7, -30.0, 2.0, 5.0, 6.0])
    motion.enter(0.3, 1.0, y)
    steps = 1e-5 * np.eye(6)
    want = [(motion.derivative(0.3, y + e) - motion.derivative(0.3, y - e)) / 2e-5 for e in steps]
    J = motion.jacobian(0.3, y)
    rows = slice(0, 4)  # energies follow the motion and do not act back on it
    assert J.shape == (6, 6) and not J[4:].any()
    assert np.abs(J[rows] - np.transpose(want)[rows]).max() <= 1e-5 * np.abs(want).max()
    assert np.array_equal(J[:2], np.eye(2, 6, 2))


# ---- patience


def motion_of(model):
    n = model.arm.n
    settings = Settings("dop853", 1e-6, 1e-8, 1.0, 10, ())
    motion = AdaptiveIntegration(Plant(model), source_of(None, (n,), "torque"), None, settings)
    y = np.zeros(2 * n + 2 + (motion.sliding is not None))
    motion.states.append(y)
    motion.enter(0.0, 1.0, y)
    return motion, y


def test_friction_may_switch_many_times_at_once_but_not_for_ever():
    """A row of switches at one time is borne; a step that leads on begins the count anew."""
    friction = dynarm.Friction(coulomb=2.0)
    motion, y = motion_of(dynarm.compile(rail(friction), friction=True))

    def stay(times):
        for _ in range(times):
            motion.keep(motion.times[-1], motion.times[-1], 9.0, y, lambda t: y)

    stay(adaptive.STALLED)
    motion.keep(0.0, 0.5, 9.0, y, lambda t: y)
    assert motion.times == [0.0, 0.5] and len(motion.pieces) == 1 and len(motion.states) == 2
    stay(adaptive.STALLED)
    with pytest.raises(adaptive.Ended) as ended:
        stay(1)
    assert ended.value.args == ("step", "friction switches without end at t = 0.5 s")


def test_rates_that_are_no_numbers_are_borne_for_a_while(two_link):
    """SciPy shortens its step when it meets one; thousands in a row have no end."""
    motion, y = motion_of(two_link)
    finite = motion.rates

    def ask(times, rates):
        motion.rates = rates
        for _ in range(times):
            motion.derivative(0.0, y)

    def lost(*state):
        return np.full(6, np.nan)

    ask(adaptive.LOST, lost)
    ask(1, finite)
    ask(adaptive.LOST, lost)
    assert motion.evaluations == 2 * adaptive.LOST + 1
    with pytest.raises(adaptive.Ended):
        ask(1, lost)
