"""Runs and paces at their limits: grids, tolerances, events, energy; splines of few samples; who limits a motion."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dynarm import mobile
from dynarm.errors import DynarmError, InputError
from dynarm.mobile.pace import Motion
from dynarm.mobile.run import negative_spans
from dynarm.simulation import adaptive
from dynarm.simulation.budget import Budget
from oracles.mobile_machines import MACHINES, crab, four_steered, unicycle

TANNER = mobile.load("tanner2001")
CIRCLE = np.array([0, 0, 0, 0.3, 0, 0]), np.array([1.0, 0, 0, 0])
STRAIGHT = np.zeros(6), np.array([1.0, 0, 0, 0])
# the tricycle whose front wheel is neither driven nor heavy, so that on a straight line it needs no grip
LIGHT = replace(TANNER.wheels[0], mass=0.0, spin=0.0, turn=0.0, driven=False)
REAR_DRIVEN = replace(TANNER, wheels=(LIGHT, *TANNER.wheels[1:]))


# ---- runs


def test_grid_of_a_run():
    """A hundredth of the time, at most 10 ms, or as asked; the end is on it, once."""
    assert np.allclose(TANNER.simulate(*STRAIGHT, 0.5).t, np.linspace(0, 0.5, 101))
    assert np.allclose(TANNER.simulate(*STRAIGHT, 2.0).t, np.linspace(0, 2.0, 201))
    assert np.allclose(TANNER.simulate(*STRAIGHT, 0.5, dt=0.2).t, [0, 0.2, 0.4, 0.5])
    assert TANNER.simulate(*STRAIGHT, 0.5, dt=0.5).t.tolist() == [0, 0.5]
    assert len(TANNER.simulate(*STRAIGHT, 0.3, dt=0.1).t) == 4
    run = TANNER.simulate(*STRAIGHT, 0.5, dt=0.1)
    assert np.allclose(run.q[:, 0], run.t, rtol=1e-12) and not run.zd.any()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"dt": 0.0}, "dt is 0"),
        ({"dt": 0.51}, "dt is 0.51"),
        ({"dt": 0.49e-7}, "more than 1e.07 times"),
        ({"atol": 0.9e-15}, "atol"),
        ({"rtol": 1.5}, "rtol"),
        ({"t_end": np.inf}, "t_end"),
        ({"t_end": -1.0}, "t_end"),
        ({"load": np.zeros(6), "project": True}, "free motion"),
    ],
)
def test_refused(options, words):
    with pytest.raises(DynarmError, match=words):
        TANNER.simulate(*STRAIGHT, **({"t_end": 0.5} | options))


def test_limits_themselves_are_accepted():
    run = TANNER.simulate(*STRAIGHT, 0.02, rtol=1.0, atol=1e-15, max_seconds=0.9)
    assert run.t[-1] == 0.02
    assert TANNER.simulate(*STRAIGHT, 0.02, atol=1.0).t[-1] == 0.02


def test_friction_takes_energy_and_is_not_projected():
    rough = mobile.load("tanner2001", friction=True)
    with pytest.raises(InputError, match="free motion"):
        rough.simulate(*STRAIGHT, 0.1, project=True)


def test_projection_counts_the_height_of_the_arm():
    robot = crab()
    q0, z0 = np.zeros(6), np.array([0.5, 0.0, 0.0, 0.6])
    q0[-1] = 0.8  # not the pose in which the potential energy is zero
    run = robot.simulate(q0, z0, 0.2, project=True, dt=0.05, rtol=1e-4, atol=1e-4)
    assert run.energy[0] == run.kinetic[0] + run.potential[0]
    assert np.ptp(run.energy) < 1e-11 * np.abs(run.energy).max()
    assert np.ptp(run.potential) > 0.1


def test_a_robot_at_rest_is_projected_onto_rest():
    run = TANNER.simulate(np.zeros(6), np.zeros(4), 0.05, project=True, dt=0.01)
    assert not run.q.any() and not run.z.any() and len(run.t) == 6


def test_spans_of_a_signal_that_touches_zero():
    t = np.array([0.0, 1.0, 3.0, 4.0])
    assert negative_spans(t, np.array([0.5, 0.0, 0.25, 0.5])) == ()
    assert negative_spans(t, np.array([0.5, -0.5, 1.5, 0.5])) == ((0.5, 1.5),)
    assert negative_spans(t, -np.ones(4)) == ((0.0, 4.0),)


def test_stop_waits_for_a_loss():
    """A start with a wheel in the air goes on when it lands and ends where one lifts again."""
    start = np.array([0, 0, 0, 0, np.radians(60), 0.0]), np.array([0, 0, 3.0, 0])
    whole = TANNER.simulate(*start, 2.0)
    assert [e.lost for e in whole.events][:2] == [False, True]
    stopped = TANNER.simulate(*start, 2.0, stop=True)
    assert stopped.t[-1] == pytest.approx(whole.events[1].t, abs=1e-8)
    assert f"{whole.events[1].wheel} loses contact" in stopped.status
    assert f"t = {stopped.t[-1]:.6g} s" in stopped.status
    assert (np.diff(stopped.t) > 0).all()


@pytest.mark.parametrize(
    ("make", "options"),
    [(lambda: TANNER, {"locked": True}), (four_steered, {})],
)
def test_adhesion_ends_where_that_wheel_needs_more(make, options):
    robot = make()
    q0, z0 = np.zeros(len(robot.coordinate_names)), np.zeros(len(robot.speed_names))
    q0[3], z0[0] = 0.3, 0.3
    z0[-1] = 1.0
    free = robot.simulate(q0, z0, 0.4, dt=0.001, **options)
    eta = float(np.median(free.friction_needed))
    run = robot.simulate(q0, z0, 0.4, dt=0.001, friction=eta, **options)
    slips = [e for e in run.events if e.kind == "adhesion"]
    assert slips
    for event in slips:
        wheel = robot.wheel_names.index(event.wheel)
        needed = run.friction_needed[:, wheel]
        assert np.interp(event.t, run.t, needed) == pytest.approx(eta, rel=1e-3)
        k = int(np.searchsorted(run.t, event.t))
        assert (needed[k] > needed[k - 1]) == event.lost


def test_a_robot_without_steering_is_watched_too():
    robot = unicycle()
    q0, z0 = np.zeros(6), np.array([0.3, 0.4, 0.2, 0.1, 0.0])
    run = robot.simulate(q0, z0, 0.05, locked=True)  # there is no column to hold
    assert np.array_equal(run.q, robot.simulate(q0, z0, 0.05).q)


@pytest.mark.parametrize("locked", [False, True])
def test_compiling_takes_nothing_of_the_budget(locked, monkeypatch):
    """A slow compiler is no slow motion: everything that a run calls is there before its clock starts."""
    robot = replace(TANNER, gravity=9.7)
    ready = []

    def compiled():
        return {*robot.functions._made, *robot.marches}

    def started(*given):
        ready.append(compiled())
        return Budget(*given)

    monkeypatch.setattr(adaptive, "Budget", started)
    robot.simulate(*STRAIGHT, 0.05, locked=locked)
    assert ready[-1] == compiled() and len(ready[-1]) == 4


# ---- motions through samples


def test_few_samples_of_a_straight_motion():
    """Four samples of a cubic give its speed and acceleration exactly, three a natural spline."""
    t = np.arange(4.0)
    q = np.zeros((4, 6))
    q[:, 0] = t**3 - t
    motion = TANNER.motion(t, q)
    assert np.allclose(motion.z[:, 0], 3 * t**2 - 1) and np.allclose(motion.zd[:, 0], 6 * t)
    q[:, 0] = t**2
    three = TANNER.motion(t[:3], q[:3])
    assert np.allclose(three.z[:, 0], [0.5, 2.0, 3.5]) and np.allclose(three.zd[:, 0], 1.5)
    assert not three.z[:, 1:].any()


@pytest.mark.parametrize("heading", [0.0, 0.6, -2.0])
def test_motion_of_a_differential_drive(heading):
    """A circle of 2 m about its axle at 0.5 rad/s, joints at constant speed: v, thetad and joint speeds."""
    robot = MACHINES["unicycle"]()
    t = np.linspace(0, 1, 41)
    theta = heading + 0.5 * t
    axle = 2.0 * np.stack([np.sin(theta), -np.cos(theta)], -1)
    q = np.zeros((41, 6))
    q[:, :2] = axle - 0.12 * np.stack([np.cos(theta), np.sin(theta)], -1)
    q[:, 2], q[:, 3], q[:, 5] = theta, 0.2 * t, -0.1 * t
    motion = robot.motion(t, q)
    assert np.allclose(motion.z, [1.0, 0.5, 0.2, 0.0, -0.1], rtol=0, atol=1e-5)
    assert np.abs(motion.zd[3:-3]).max() < 1e-3


@pytest.mark.parametrize(
    ("t", "q"),
    [
        (np.zeros((3, 1)), np.zeros((3, 6))),
        (np.arange(2.0), np.zeros((2, 6))),
        (np.arange(3.0), np.zeros((3, 5))),
        (np.array([0.0, 1.0, 1.0]), np.zeros((3, 6))),
        (np.array([0.0, 1.0, np.nan]), np.zeros((3, 6))),
        (np.arange(3.0), np.full((3, 6), np.inf)),
    ],
)
def test_samples_refused(t, q):
    with pytest.raises(InputError, match=r"N >= 3|must increase"):
        TANNER.motion(t, q)


# ---- paces


def ahead(acceleration: float) -> Motion:
    """Three samples straight ahead, from rest."""
    t = np.arange(3.0)
    q, z, zd = (np.zeros((3, n)) for n in (6, 4, 4))
    q[:, 0], z[:, 0], zd[:, 0] = acceleration * t**2 / 2, acceleration * t, acceleration
    return Motion(t, q, z, zd)


def front_force(acceleration: float, load) -> float:
    """Vertical force on the front wheel of the tricycle that drives straight at an acceleration, arm held."""
    q, z, zd = np.zeros(6), np.zeros(4), np.array([acceleration, 0, 0, 0])
    _, ground, _ = REAR_DRIVEN.functions["prescribed"](q, z, zd, load)[:3]
    # moments about the rear axle, 0.3 m behind and 0.15 m below {v}
    return float((ground[4] + 0.15 * ground[0] - 0.3 * ground[2]) / 0.6)


def test_the_front_wheel_lifts_first():
    """With grip enough, acceleration ends where the front wheel carries nothing."""
    load = np.zeros(6)
    rest, moving = front_force(0.0, load), front_force(1.0, load)
    assert rest > 0 and moving < rest
    answer = REAR_DRIVEN.safe_speed(ahead(1.0), 50.0)
    assert answer.scale**2 == pytest.approx(rest / (rest - moving), rel=1e-6)
    assert answer.wheel == "w0" and answer.lowest.max() == 0
    assert "below" not in answer.status and "w0" in answer.status
    assert np.allclose(answer.limits, answer.scale)


def test_a_robot_that_would_tip_at_rest_must_brake():
    """A lift at the tool takes the front wheel off the ground; braking presses it down again."""
    unit = np.array([0, 0, 1.0, 0, 0, 0])
    rest = front_force(0.0, 0 * unit)
    lift = (rest + 1.0) / (rest - front_force(0.0, unit))
    load = lift * unit
    tipped, braked = front_force(0.0, load), front_force(-4.0, load)
    assert tipped == pytest.approx(-1.0) and braked > 0
    answer = REAR_DRIVEN.safe_speed(ahead(-4.0), 50.0, load=load)
    lowest = np.sqrt(tipped / (tipped - braked))
    assert 0.01 < lowest < 1 and np.allclose(answer.lowest, lowest, rtol=1e-5)
    assert answer.scale > lowest
    assert f"below {lowest:.4g} times the robot tips" in answer.status
    wrong = REAR_DRIVEN.safe_speed(ahead(4.0), 50.0, load=load)
    assert wrong.scale == 0 and wrong.wheel == "w0" and np.isnan(wrong.limits).all()
    assert wrong.status.startswith("no speed will do: at t = 0 s w0 slips or lifts")


def test_the_worst_sample_sets_the_pace():
    gentle, rough = ahead(0.5), ahead(2.0)
    zd = gentle.zd.copy()
    zd[1] = rough.zd[1]
    answer = REAR_DRIVEN.safe_speed(Motion(gentle.t, gentle.q, gentle.z, zd), 50.0)
    assert answer.sample == 1 and "t = 1 s" in answer.status
    assert answer.limits[0] == pytest.approx(2 * answer.scale, rel=1e-6)


@pytest.mark.parametrize("load", [np.zeros(5), [0, 0, np.nan, 0, 0, 0], np.zeros((1, 6))])
def test_loads_refused(load):
    with pytest.raises(DynarmError, match="load"):
        REAR_DRIVEN.safe_speed(ahead(1.0), 0.5, load=load)
    with pytest.raises(DynarmError, match="motion is"):
        REAR_DRIVEN.safe_speed((1, 2, 3), 0.5)
