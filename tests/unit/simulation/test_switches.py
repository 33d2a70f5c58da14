"""Where friction and events meet: reversals, loads at the limit, one-sided friction, events that end a slide."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import dynarm
from dynarm import Friction
from dynarm.simulation import Event, Sampled
from dynarm.simulation.events import root
from dynarm.simulation.friction import Sliding
from dynarm.simulation.plant import Plant
from oracles.motions import end_error, rail

MASS = 2.0


def slider(*args, **more):
    return dynarm.compile(rail(Friction(*args, **more), mass=MASS), friction=True)


def test_a_body_that_is_pushed_back_reverses():
    """-5 N against 2 N of friction: it brakes with 7 N, stands at 2/7 s, and goes back with 3 N at once."""
    run = dynarm.simulate(slider(coulomb=2.0), [0.0], [1.0], 1.0, [-5.0], rtol=1e-10)
    ((when, what),) = run.events
    assert what == "slider reverses" and abs(when - 2 / 7) <= 1e-9
    later = 1.0 - 2 / 7
    assert abs(run.qd[-1, 0] + 1.5 * later) <= 1e-9
    assert abs(run.q[-1, 0] - (1 / 7 - 0.75 * later**2)) <= 1e-9
    assert abs(run.loss[-1] - 2.0 * (1 / 7 + 0.75 * later**2)) <= 1e-9


@pytest.mark.parametrize("load", [2.0, -3.0])
def test_a_load_at_the_limit_is_held(load):
    """Friction bears all that it can bear: exactly its limit on either side, and not a part in a million more."""
    model = slider(coulomb=2.0, coulomb_negative=3.0)
    held = dynarm.simulate(model, [0.5], [0.0], 1.0, [load]).check()
    assert not held.events and (held.q == 0.5).all() and not held.qd.any()
    step = Sampled([0.0, 0.5], [[0.0], [load]])
    held = dynarm.simulate(model, [0.5], [0.0], 1.0, step).check()
    assert not held.events and (held.q == 0.5).all()
    moved = dynarm.simulate(model, [0.5], [0.0], 1.0, [load * (1 + 1e-6)])
    assert np.sign(moved.qd[-1, 0]) == np.sign(load)


def test_friction_on_one_side_only():
    """A ratchet: nothing holds it one way. It stays where it is until something pushes."""
    model = slider(coulomb=1.0, coulomb_negative=0.0)
    assert not dynarm.simulate(model, [0.0], [0.0], 1.0).check().events
    free = dynarm.simulate(model, [0.0], [-0.5], 1.0).check()
    assert abs(free.q[-1, 0] + 0.5) <= 1e-12 and not free.events and not free.loss.any()
    back = dynarm.simulate(model, [0.0], [0.0], 1.0, [-0.1]).check()
    assert abs(back.q[-1, 0] + 0.1 / MASS / 2) <= 1e-9
    ahead = dynarm.simulate(model, [0.0], [0.0], 1.0, [0.9]).check()
    assert not ahead.qd.any()


def test_offset_and_viscous_friction_act_beside_sharp_friction():
    """An offset of 0.5 N is a load like any other: 2.4 N are held, 2.6 N move with 0.1 N and a viscous brake."""
    model = slider(viscous=0.4, coulomb=2.0, offset=0.5)
    assert not dynarm.simulate(model, [0.0], [0.0], 1.0, [2.4]).qd.any()
    run = dynarm.simulate(model, [0.0], [0.0], 3.0, [2.6], rtol=1e-10)
    want = 0.1 / 0.4 * (1 - np.exp(-0.4 * 3.0 / MASS))
    assert abs(run.qd[-1, 0] - want) <= 1e-9


def test_what_a_run_starts_with_is_no_event():
    """Bodies that stick or slide from the start have not switched."""
    model = slider(coulomb=2.0)
    for speed, load in ((0.0, 1.0), (0.0, 5.0), (3.0, 0.0), (-3.0, 0.0)):
        assert not dynarm.simulate(model, [0.0], [speed], 0.1, [load]).events


def test_a_tiny_first_velocity_is_a_motion():
    """1e-6 m/s is far above the tolerance: it stops by friction after 1 micrometre per second squared."""
    run = dynarm.simulate(slider(coulomb=2.0), [0.0], [1e-6], 1.0)
    ((when, what),) = run.events
    assert what == "slider sticks" and abs(when - 1e-6) <= 1e-9


def test_a_joint_that_was_just_let_go_counts_as_at_rest():
    """Rounding may push it back a little; once it has moved faster than the slack, a velocity of zero is a stop."""
    sliding = Sliding.of(Plant(slider(coulomb=2.0)), 1e-6)
    sliding.mode = np.array([-1.0])
    for speed, armed in ((-5e-7, False), (3.0, False), (-2e-6, True), (0.0, True)):
        sliding.arm(np.array([speed]))
        assert sliding.armed.tolist() == [armed]


@pytest.mark.parametrize("inputs", ["gravity", "parameters", "both"])
def test_sharp_friction_of_models_with_inputs(inputs):
    """The same switches and the same end as of the model that knows its gravity and its parameters."""
    arm = dynarm.load("two_link")
    rubbing = [Friction(coulomb=3.0, viscous=0.1), Friction(coulomb=1.0)]
    joints = [replace(j, friction=f) for j, f in zip(arm.joints, rubbing, strict=True)]
    arm = replace(arm, joints=joints)
    options, given = {"friction": True}, {"rtol": 1e-10, "wrench": [1, 2, 0, 0, 0, 0.5]}
    start = ([-1.2, 0.4], [2.0, -3.0], 1.5)
    want = dynarm.simulate(dynarm.compile(arm, **options), *start, **given).check()
    if inputs != "parameters":
        options["gravity"], given["gravity"] = "input", arm.gravity
    if inputs != "gravity":
        options["parameters"] = "inputs"
    model = dynarm.compile(arm, **options)
    if inputs != "gravity":
        given["values"] = model.minimal.values
    run = dynarm.simulate(model, *start, **given).check()
    assert end_error(run, want) <= 1e-6
    assert [name for _, name in run.events] == [name for _, name in want.events]
    assert len(want.events) >= 2
    assert np.allclose([t for t, _ in run.events], [t for t, _ in want.events], atol=1e-7)


def test_two_joints_that_stop_together():
    """Two equal sliders across each other: one event each, at the same time, and both stand afterwards."""
    friction = Friction(coulomb=2.0)
    first = dynarm.Joint(kind="prismatic", alpha=np.pi / 2, friction=friction, name="x", mass=0.0)
    second = dynarm.Joint(kind="prismatic", alpha=np.pi / 2, friction=friction, name="y", mass=MASS)
    model = dynarm.compile(dynarm.Arm([first, second], gravity=(0, 0, 0)), friction=True)
    assert np.allclose(model.mass_matrix([0.0, 0.0]), MASS * np.eye(2))
    run = dynarm.simulate(model, [0.0, 0.0], [1.0, -1.0], 2.0, rtol=1e-10).check()
    assert sorted(name for _, name in run.events) == ["x sticks", "y sticks"]
    assert np.allclose([t for t, _ in run.events], 1.0, rtol=0, atol=1e-9)
    assert np.allclose(run.q[-1], [0.5, -0.5], rtol=0, atol=1e-9) and not run.qd[-1].any()
    apart = dynarm.simulate(model, [0.0, 0.0], [1.0, -0.5], 2.0, rtol=1e-10).check()
    assert [name for _, name in apart.events] == ["y sticks", "x sticks"]
    assert np.allclose([t for t, _ in apart.events], [0.5, 1.0], rtol=0, atol=1e-9)
    assert np.allclose(apart.q[-1], [0.5, -0.125], rtol=0, atol=1e-9)


# ---- events beside friction


def test_an_event_that_ends_a_slide():
    """v = 1 - t: at x = 0.3 the time is 1 - sqrt(0.4); nothing after it is kept."""
    stop = Event("there", lambda t, q, qd: q[0] - 0.3, terminal=True)
    run = dynarm.simulate(slider(coulomb=2.0), [0.0], [1.0], 3.0, events=[stop], rtol=1e-10)
    assert run.status == "event" and [name for _, name in run.events] == ["there"]
    assert abs(run.reached - (1 - np.sqrt(0.4))) <= 1e-9 and abs(run.q[-1, 0] - 0.3) <= 1e-10
    assert abs(run.qd[-1, 0] - np.sqrt(0.4)) <= 1e-9


def test_an_event_where_a_body_comes_to_rest():
    """The zero of the velocity is where it sticks: whichever is seen first, the run ends there at rest."""
    stop = Event("rest", lambda t, q, qd: qd[0], terminal=True)
    run = dynarm.simulate(slider(coulomb=2.0), [0.0], [1.0], 3.0, events=[stop], rtol=1e-10)
    assert run.status == "event" and abs(run.reached - 1.0) <= 1e-8
    assert abs(run.q[-1, 0] - 0.5) <= 1e-9


def test_an_event_after_the_rest_is_not_reported():
    """The step's interpolant goes on beyond the place where friction holds the body; the body does not."""
    beyond = Event("turned", lambda t, q, qd: qd[0] + 0.01)
    passed = Event("passed", lambda t, q, qd: q[0] - 0.4)
    events = [beyond, passed]
    run = dynarm.simulate(slider(coulomb=2.0), [0.0], [1.0], 3.0, events=events, rtol=1e-8)
    assert [name for _, name in run.events] == ["passed", "slider sticks"]
    assert abs(run.events[0][0] - (1 - np.sqrt(0.2))) <= 1e-7


def test_events_of_one_step_are_told_in_their_order():
    """Free flight is a long step: three events in it, the last of which would be past the end of the run."""
    model = dynarm.compile(rail(mass=MASS))
    events = [
        Event("late", lambda t, q, qd: q[0] - 0.9, terminal=True),
        Event("never", lambda t, q, qd: q[0] - 0.95),
        Event("early", lambda t, q, qd: q[0] - 0.2),
        Event("middle", lambda t, q, qd: q[0] - 0.6),
    ]
    run = dynarm.simulate(model, [0.0], [1.0], 5.0, events=events)
    assert [name for _, name in run.events] == ["early", "middle", "late"]
    assert np.allclose([t for t, _ in run.events], [0.2, 0.6, 0.9], rtol=0, atol=1e-12)
    assert run.status == "event" and run.t[-1] == run.events[-1][0]


# ---- events by themselves


@pytest.mark.parametrize(
    "before, after, rises, falls",
    [(-1, 1, 1, 0), (-1, 0, 1, 0), (0, 1, 0, 0), (1, -1, 0, 1), (1, 0, 0, 1), (0, -1, 0, 0),
     (-2, -1, 0, 0), (2, 1, 0, 0), (0, 0, 0, 0)],
)  # fmt: skip
def test_which_zeros_count(before, after, rises, falls):
    def crosses(direction):
        return Event("e", lambda t, q, qd: 0.0, direction=direction).crosses(before, after)

    assert crosses(1.0) == bool(rises) and crosses(-1.0) == bool(falls)
    assert crosses(0.0) == bool(rises or falls)
    assert Event("e", lambda t, q, qd: 0.0).crosses(before, after) == bool(rises or falls)


def test_roots_are_found_to_rounding():
    assert root(lambda t: t * t - 2, 1.0, 2.0) == pytest.approx(np.sqrt(2), rel=1e-15)
    assert root(lambda t: 0.3 - t, 0.0, 1.0) == pytest.approx(0.3, rel=1e-15)
    tiny = root(lambda t: t - 1e-9, 0.0, 1e-8)
    assert abs(tiny - 1e-9) <= 1e-22
    assert root(lambda t: t - 1.0, 1.0, 2.0) == 1.0  # on an end
    assert root(lambda t: t - 2.0, 1.0, 2.0) == 2.0
    assert root(lambda t: 1.0, 1.0, 2.0) == 2.0  # none at all
    assert root(lambda t: -1.0, 1.0, 2.0) == 2.0
    for half in (lambda t: t - 1.5, lambda t: 1e-3 * (t - 1.5), lambda t: 1.5 - t):
        assert root(half, 1.0, 2.0) == 1.5


def test_the_ends_of_a_search_are_looked_at_once():
    """A user's function may be dear, or noisy."""
    asked = []

    def value(t):
        asked.append(t)
        return t - 0.25

    root(value, 0.0, 1.0)
    assert asked.count(0.0) == asked.count(1.0) == 1 and len(asked) <= 5


def test_limits_are_crossed_from_the_inside():
    """Going out is an event on either side; coming in from outside is none."""
    model = dynarm.compile(rail(mass=MASS, position_limits=(-0.5, 1.5)))

    def names(x, v):
        run = dynarm.simulate(model, [x], [v], 4.0, limits="report")
        return [(round(t, 9), name) for t, name in run.events]

    assert names(0.0, 1.0) == [(1.5, "upper limit of slider")]
    assert names(0.0, -1.0) == [(0.5, "lower limit of slider")]
    assert names(2.0, -1.0) == [(2.5, "lower limit of slider")]
    assert names(-1.0, 1.0) == [(2.5, "upper limit of slider")]
    stopped = dynarm.simulate(model, [0.0], [1.0], 4.0, limits="stop")
    assert stopped.status == "event" and abs(stopped.q[-1, 0] - 1.5) <= 1e-12
    without = dynarm.simulate(dynarm.compile(rail()), [0.0], [1.0], 4.0, limits="stop")
    assert without.status == "success" and not without.events
    assert not dynarm.simulate(model, [0.0], [1.0], 4.0).events


def test_events_that_are_none(two_link):
    start = (two_link, [0.1, 0.2], [0, 0], 0.1)
    for wrong, text in (("rest", "events is 'rest'"), ([lambda t, q, qd: 1.0, 5], r"events\[1\]")):
        with pytest.raises(dynarm.DynarmError, match=text):
            dynarm.simulate(*start, events=wrong)
    with pytest.raises(dynarm.DynarmError, match="name of an event is 3"):
        Event(3, lambda t, q, qd: 1.0)
    with pytest.raises(dynarm.DynarmError, match="event 'e' is 3"):
        Event("e", 3)


def test_functions_without_a_name_are_numbered(two_link):
    class Height:
        def __call__(self, t, q, qd):
            return t - 0.05

    events = [lambda t, q, qd: 1.0, Height()]
    run = dynarm.simulate(two_link, [0.1, 0.2], [0, 0], 0.1, events=events)
    assert [name for _, name in run.events] == ["event 1"]
