"""Motions with Maxwell-slip elements, load, ripple and coupling: closed forms, books, and one run as two."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import dynarm
from dynarm import Coupled, DynarmError, Friction, Joint, simulate
from oracles.rich_friction import rich
from oracles.simulated_tree import two_arms

MASS, STROKE, LIMIT = 2.0, 0.01, 3.0


def slider(gravity=0.0, mass=MASS, **friction):
    """A mass that slides along z."""
    joint = Joint(mass=mass, kind="prismatic", friction=Friction(**friction))
    arm = dynarm.Arm([joint], gravity=(0, 0, -gravity))
    return dynarm.compile(arm, friction=True)


def thrown(t, v0):
    """Position of a mass thrown into one element: elastic, slipping, then swinging for ever without loss."""
    w = np.sqrt(LIMIT / STROKE / MASS)
    t1 = np.arcsin(STROKE * w / v0) / w
    v1 = np.sqrt(v0**2 - (w * STROKE) ** 2)
    t2, a = t1 + v1 * MASS / LIMIT, LIMIT / MASS
    top = STROKE + v1**2 / (2 * a)
    slide = STROKE + v1 * (t - t1) - a * (t - t1) ** 2 / 2
    swing = top - STROKE + STROKE * np.cos(w * (t - t2))
    return np.where(t < t1, v0 / w * np.sin(w * t), np.where(t < t2, slide, swing)), t2, top


@pytest.mark.parametrize("method", ["dop853", "radau"])
def test_a_mass_thrown_into_an_element(method):
    """The loss after it has slipped is the limit times the way; what the spring holds comes back and goes again."""
    v0, times = 0.5, np.linspace(0, 1.5, 301)
    model = slider(presliding=((STROKE, LIMIT),))
    run = simulate(model, [0.0], [v0], 1.5, method=method, rtol=1e-10, times=times).check()
    wanted, t2, top = thrown(times, v0)
    np.testing.assert_allclose(run.q[:, 0], wanted, atol=1e-8)
    swinging = times > t2
    x = run.friction_state[:, 0]
    np.testing.assert_allclose(x[swinging], run.q[swinging, 0] - (top - STROKE), atol=1e-8)
    held = LIMIT * x**2 / (2 * STROKE)
    np.testing.assert_allclose((run.loss - held)[swinging], LIMIT * (top - STROKE), atol=1e-8)
    assert run.unexplained < 1e-8


def test_fixed_steps_converge_to_the_closed_form():
    """Of second order: where an element slips or turns within a step, it is late by no more than the step's way."""
    v0, model = 0.5, slider(presliding=((STROKE, LIMIT),))
    errors = []
    for dt in (4e-3, 2e-3, 1e-3, 5e-4):
        run = simulate(model, [0.0], [v0], 1.5, method="rk4", dt=dt)
        errors.append(np.abs(run.q[:, 0] - thrown(run.t, v0)[0]).max())
    assert errors[0] < 2e-3 and errors[0] / errors[-1] > 8**1.5
    both = simulate(model, np.zeros((3, 1)), np.full((3, 1), v0), 1.5, method="rk4", dt=5e-4)
    assert both.friction_state.shape == (3, len(run.t), 2)
    np.testing.assert_allclose(both.q[2], run.q, atol=1e-13)
    stepped = simulate(model, [0.0], [v0], 1.5, method="ab4", dt=5e-4)
    assert np.abs(stepped.q[:, 0] - thrown(stepped.t, v0)[0]).max() < 1e-4


def test_the_loop_of_presliding_takes_four_times_limit_and_slip():
    """A servo moves the mass to and fro over A: each element takes 4 c (A - d) a turn, or nothing if A < d."""
    strokes = ((2e-3, 1.0), (8e-3, 2.0), (5e-2, 0.7))
    model = slider(mass=0.1, presliding=strokes)
    A, w = 1.5e-2, 2 * np.pi

    def servo(t, q, qd):
        return [4e3 * (A * np.cos(w * t) - q[0]) - 40 * (A * w * np.sin(w * t) + qd[0])]

    run = simulate(model, [A], [0.0], 2.2, servo, rtol=1e-8).check()
    q = run.q[:, 0]
    ends = np.flatnonzero(np.diff(np.sign(np.diff(q)))) + 1  # a step ends where an element turns
    low, high = (k for k in ends[ends > np.searchsorted(run.t, 0.4)][:2])
    again = ends[ends > high][0]
    assert q[low] < -0.01 and q[high] > 0.01 and q[again] == pytest.approx(q[low], abs=1e-6)
    reach = (q[high] - q[low]) / 2
    wanted = sum(4 * c * (reach - d) for d, c in strokes if d < reach)
    assert run.loss[again] - run.loss[low] == pytest.approx(wanted, rel=1e-4)


def test_a_joint_that_elements_hold_does_not_creep():
    """Under four fifths of the limit it swings to four fifths of the stroke, and stays: springs do not forget."""
    model = slider(viscous=20.0, presliding=((STROKE, LIMIT),))
    run = simulate(model, [0.0], [0.0], 60.0, np.array([0.8 * LIMIT]), times=[0, 20, 40, 60])
    np.testing.assert_allclose(run.q[1:, 0], 0.8 * STROKE, atol=1e-9)
    # and under more than the limit it slides, at the speed that damping allows
    gone = simulate(model, [0.0], [0.0], 20.0, np.array([LIMIT + 1.0]))
    assert gone.qd[-1, 0] == pytest.approx(1.0 / 20.0, rel=1e-6)


def test_a_mass_on_a_belt_sticks_and_slips():
    """A spring k drags a mass with speed u; friction falls by D once it slides: sqrt(k/m) sets the slip's time.

    Sticking lasts 2 D / (k u), slipping (2 / w) (pi - arctan(D w / (k u))), in the limit of a sharp fall.
    """
    mass, k, u, D, limit = 1.0, 50.0, 0.1, 1.0, 3.0
    model = slider(mass=mass, coulomb=limit, curve=((1e-4, -D),))
    run = simulate(model, [0.0], [0.0], 8.0, lambda t, q, qd: [k * (u * t - q[0])], rtol=1e-7)
    slides = [t for t, words in run.check().events if "slides" in words]
    sticks = [t for t, words in run.events if "sticks" in words]
    w = np.sqrt(k / mass)
    slip = 2 / w * (np.pi - np.arctan(D * w / (k * u)))
    assert slides[0] == pytest.approx(limit / (k * u), rel=1e-6)
    assert sticks[1] - slides[1] == pytest.approx(slip, rel=0.01)
    assert slides[2] - sticks[1] == pytest.approx(2 * D / (k * u), rel=0.01)


def test_friction_by_load_takes_its_part_of_a_force():
    """r (1 + g) = tau while it rises: a force loses g / (1 + g) of itself; a free fall loses nothing."""
    g, G = 0.2, 9.81
    model = slider(gravity=G, load_curve=((1e-3, g),))
    rising = simulate(model, [0.0], [1.0], 1.0, np.array([40.0])).check()
    a = 40.0 / (1 + g) / MASS - G
    assert rising.q[-1, 0] == pytest.approx(1.0 + a / 2, rel=1e-8)
    assert rising.loss[-1] == pytest.approx(40.0 * g / (1 + g) * (1.0 + a / 2), rel=1e-8)
    falling = simulate(model, [0.0], [-1.0], 1.0).check()
    assert falling.q[-1, 0] == pytest.approx(-1.0 - G / 2, rel=1e-8)
    sinking = simulate(model, [0.0], [-1.0], 1.0, np.array([15.0])).check()
    a = 15.0 / (1 - g) / MASS - G
    assert sinking.q[-1, 0] == pytest.approx(-1.0 + a / 2, rel=1e-8)


@pytest.mark.parametrize("shape", ["tanh", "sign"])
@pytest.mark.parametrize("name", ["two_link", "gripper"])
def test_books_of_every_family_balance(name, shape):
    arm = rich(dynarm.load("two_link") if name == "two_link" else two_arms(gripper=True))
    joints = [replace(j, friction=replace(j.friction, shape=shape)) for j in arm.joints]
    model = dynarm.compile(replace(arm, joints=joints), friction=True)
    n = model.arm.nv
    amplitude = 8.0 / (1 + np.arange(n))
    run = simulate(
        model, np.zeros(n), np.zeros(n), 0.6, lambda t, q, qd: amplitude * np.cos(9 * t), rtol=1e-8
    ).check()
    assert run.loss[-1] > 0.05 and run.unexplained < 1e-6 * max(1.0, run.loss[-1])
    # the states that were kept are those of the motion, and give the torques that moved it
    k = len(run.t) // 2
    state = {"friction_state": run.friction_state[k]}
    qdd = model.forward_dynamics(run.q[k], run.qd[k], run.tau[k], **state)
    tau = model.inverse_dynamics(run.q[k], run.qd[k], qdd, **state)
    np.testing.assert_allclose(tau, run.tau[k], atol=1e-9)


def test_a_run_goes_on_where_another_ended():
    model = dynarm.compile(rich(dynarm.load("two_link")), friction=True)
    kick = np.array([5.0, 1.0])
    whole = simulate(model, [0.3, 0.2], [0.5, -1.0], 0.5, kick, rtol=1e-10)
    half = simulate(model, [0.3, 0.2], [0.5, -1.0], 0.25, kick, rtol=1e-10)
    rest = simulate(
        model,
        half.q[-1],
        half.qd[-1],
        0.25,
        kick,
        rtol=1e-10,
        friction_state=half.friction_state[-1],
    )
    np.testing.assert_allclose(rest.q[-1], whole.q[-1], atol=1e-8)
    np.testing.assert_allclose(rest.friction_state[-1], whole.friction_state[-1], atol=1e-8)
    forgetful = simulate(model, half.q[-1], half.qd[-1], 0.25, kick, rtol=1e-10)
    assert np.abs(forgetful.q[-1] - whole.q[-1]).max() > 1e-4


def test_elements_on_the_sum_of_two_positions_turn_when_the_sum_does():
    """Two masses side by side, the second coupled with the first; fine steps and adaptive ones agree."""
    pair = [Joint(mass=1.0, kind="prismatic"), Joint(mass=1.0, kind="prismatic", alpha=np.pi / 2)]
    feels = Friction(viscous=0.5, coupling=(Coupled(0, presliding=((0.02, 2.0),)),))
    arm = dynarm.Arm([pair[0], replace(pair[1], friction=feels)], gravity=(0, 0, 0))
    model = dynarm.compile(arm, friction=True)

    def shaken(t, q, qd):
        return [2 * np.cos(11 * t), 3 * np.sin(17 * t)]

    fine = simulate(model, [0.0, 0.0], [0.0, 0.0], 1.0, shaken, method="rk4", dt=2e-4)
    run = simulate(model, [0.0, 0.0], [0.0, 0.0], 1.0, shaken, rtol=1e-10).check()
    np.testing.assert_allclose(run.q[-1], fine.q[-1], atol=1e-7)
    assert np.abs(run.friction_state[:, 0]).max() == pytest.approx(0.02, abs=1e-15)


def test_what_a_run_with_memory_refuses():
    model = slider(presliding=((STROKE, LIMIT),))
    with pytest.raises(
        DynarmError, match="midpoint is for free motions; friction of joint 'joint1'"
    ):
        simulate(model, [0.0], [0.0], 1.0, method="midpoint")
    for state in ([0.0], [np.nan, 0.0], "x"):
        with pytest.raises(DynarmError, match="state"):
            simulate(model, [0.0], [0.0], 1.0, friction_state=state)
    none = dynarm.compile(dynarm.load("two_link"))
    assert simulate(none, [0.0, 0.0], [0.0, 0.0], 0.01).friction_state is None
    with pytest.raises(DynarmError, match="have 0 numbers"):
        simulate(none, [0.0, 0.0], [0.0, 0.0], 0.01, friction_state=[0.0, 0.0])
