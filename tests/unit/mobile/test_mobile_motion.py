"""Simulation and pace: energy, events, projection, time scaling against bisection, refusals."""

from __future__ import annotations

import numpy as np
import pytest

import dynarm
from dynarm import mobile
from dynarm.errors import InputError, KindError, UnknownName
from dynarm.mobile.pace import Motion
from dynarm.mobile.run import negative_spans
from oracles.mobile_machines import MACHINES, car, counter_steered, four_steered, unicycle

TANNER = mobile.load("tanner2001")
CIRCLE = np.array([0, 0, 0, 0.3, 0, 0]), np.array([1.0, 0, 0, 0])


@pytest.mark.parametrize(
    "name", ["four_steered", "car", "counter_steered", "crab", "unicycle", "steered_dolly"]
)
def test_free_motion_keeps_energy(name):
    robot = MACHINES[name]()
    q0, z0 = np.zeros(len(robot.coordinate_names)), np.zeros(len(robot.speed_names))
    z0[0], z0[-1] = 0.5, 0.3
    if robot.guidance.steered:
        q0[3] = 0.2
    run = robot.simulate(q0, z0, 1.0)
    assert np.ptp(run.energy) < 1e-10 * np.abs(run.energy).max()
    assert np.ptp(run.potential) > 1e-3  # the arm really falls


def test_power_of_the_inputs_is_the_change_of_energy():
    robot = car()
    tau = np.zeros(len(robot.input_names))
    tau[:4], tau[8:] = 0.5, 0.2
    load = np.array([1.0, -2.0, 0.5, 0.1, 0.2, -0.1])
    q0, z0 = np.zeros(len(robot.coordinate_names)), np.zeros(len(robot.speed_names))
    z0[0] = 0.4
    run = robot.simulate(q0, z0, 0.5, tau, load=load, dt=0.001)
    _, F, B = robot.equations(run.q, run.z)
    loaded = robot.control(run.q, run.z, run.tau, load)[1]
    power = np.einsum("nij,nj,ni->n", B, run.tau, run.z) - np.einsum("ni,ni->n", loaded - F, run.z)
    work = np.concatenate([[0], np.cumsum((power[1:] + power[:-1]) / 2 * np.diff(run.t))])
    assert np.abs(run.energy - run.energy[0] - work).max() < 1e-5 * np.abs(work).max()


def test_torque_as_a_function_of_state():
    def brake(t, q, z):
        return np.concatenate([-5 * z[0] * np.ones(3), np.zeros(5)])

    run = TANNER.simulate(*CIRCLE, 1.0, brake)
    assert run.z[-1, 0] < 0.5 * run.z[0, 0]
    assert np.allclose(run.tau[:, 0], -5 * run.z[:, 0])
    assert np.all(np.diff(run.energy) < 1e-12)


def test_adhesion_is_watched():
    run = TANNER.simulate(*CIRCLE, 2.0, friction=0.05)
    kinds = {e.kind for e in run.events}
    assert "adhesion" in kinds
    for event in run.events:
        if event.kind == "adhesion":
            wheel = TANNER.wheel_names.index(event.wheel)
            needed = np.interp(event.t, run.t, run.friction_needed[:, wheel])
            assert needed == pytest.approx(0.05, abs=2e-3)


def test_stop_at_the_first_loss():
    run = TANNER.simulate(*CIRCLE, 5.0, stop=True)
    assert run.t[-1] < 2.0 and "loses contact" in run.status
    assert run.wheel_forces[:-1, :, 2].min() > -1e-6
    whole = TANNER.simulate(*CIRCLE, 5.0)
    assert whole.t[-1] == 5.0 and whole.intervals and "formal" in whole.status


def test_contact_of_four_wheels_is_lost_where_the_measure_ends():
    """With more than three wheels contact means the tip-over axis, not the split that was chosen."""
    robot = four_steered()
    q0, z0 = np.zeros(len(robot.coordinate_names)), np.zeros(len(robot.speed_names))
    z0[-2] = 20.0
    run = robot.simulate(q0, z0, 0.1, dt=0.001)
    assert len(run.intervals) == 1 and [e.lost for e in run.events] == [True, False]
    assert all(e.kind == "contact" and "-" in e.wheel for e in run.events)
    assert np.allclose(run.intervals[0], [e.t for e in run.events], atol=1e-4)
    stopped = robot.simulate(q0, z0, 0.1, dt=0.001, stop=True)
    assert stopped.t[-1] == pytest.approx(run.events[0].t) and abs(stopped.measure[-1]) < 1e-6
    assert f"{run.events[0].wheel} loses contact" in stopped.status


def test_projection_keeps_energy_of_a_coarse_run():
    coarse = {"rtol": 1e-4, "atol": 1e-4, "method": "rk45", "dt": 0.05}
    plain = TANNER.simulate(*CIRCLE, 3.0, **coarse)
    held = TANNER.simulate(*CIRCLE, 3.0, project=True, **coarse)
    drift = np.ptp(plain.energy) / plain.energy[0]
    assert drift > 1e-7
    assert np.ptp(held.energy) / held.energy[0] < 1e-12


def test_locked_steering_draws_a_circle():
    run = TANNER.simulate(*CIRCLE, 2.0, locked=True)
    assert (run.q[:, 3] == 0.3).all() and (run.z[:, 1] == 0).all()
    radius = 0.6 / np.tan(0.3)
    rear = run.q[:, :2] - 0.3 * np.stack([np.cos(run.q[:, 2]), np.sin(run.q[:, 2])], -1)
    assert np.allclose(np.hypot(rear[:, 0] + 0.3, rear[:, 1] - radius), radius, rtol=1e-9)


@pytest.mark.parametrize("method", ["rk45", "Radau", "lsoda"])
def test_other_integrators(method):
    run = TANNER.simulate(*CIRCLE, 0.3, method=method, rtol=1e-9, atol=1e-9)
    reference = TANNER.simulate(*CIRCLE, 0.3)
    assert np.abs(run.q[-1] - reference.q[-1]).max() < 1e-6


def test_singular_steering_ends_the_simulation():
    for v in (0.0, 0.5):
        with pytest.raises(InputError, match="singular value at t"):
            TANNER.simulate([0, 0, 0, 1.0, 0, 0], [v, 3.0, 0.0, 0.0], 1.0)


def test_negative_spans():
    t = np.arange(6.0)
    assert negative_spans(t, np.array([1.0, -1, -1, 1, 1, -1])) == ((0.5, 2.5), (4.5, 5.0))
    assert negative_spans(t, np.array([-1.0, 1, 1, 1, 1, 1])) == ((0.0, 0.5),)
    assert negative_spans(t, np.ones(6)) == ()


@pytest.mark.parametrize(
    "call, kind, words",
    [
        (lambda: TANNER.simulate(np.zeros(5), np.zeros(4), 1.0), InputError, "q0 has shape"),
        (lambda: TANNER.simulate(np.zeros(6), np.full(4, np.nan), 1.0), InputError, "z0 holds NaN"),
        (lambda: TANNER.simulate(*CIRCLE, 0.0), InputError, "t_end is 0"),
        (lambda: TANNER.simulate(*CIRCLE, "long"), KindError, "t_end is 'long'"),
        (lambda: TANNER.simulate(*CIRCLE, 1.0, np.zeros(3)), InputError, "torque has shape"),
        (lambda: TANNER.simulate(*CIRCLE, 1.0, "full"), KindError, "torque is 'full'"),
        (
            lambda: TANNER.simulate(*CIRCLE, 1.0, lambda t, q, z: np.zeros(3)),
            InputError,
            "returned shape",
        ),
        (
            lambda: TANNER.simulate(np.zeros(6), [0, 1, 0, 0], 1.0, locked=True),
            InputError,
            "locked",
        ),
        (lambda: TANNER.simulate(*CIRCLE, 1.0, dt=2.0), InputError, "dt is 2"),
        (lambda: TANNER.simulate(*CIRCLE, 1.0, method="euler"), UnknownName, "method 'euler'"),
        (
            lambda: TANNER.simulate(*CIRCLE, 1.0, np.ones(8), project=True),
            InputError,
            "free motion",
        ),
        (lambda: TANNER.simulate(*CIRCLE, 1.0, load=np.ones(5)), InputError, "load has shape"),
        (lambda: TANNER.safe_speed(3, 0.5), KindError, "motion is int"),
        (lambda: TANNER.motion([0, 1], np.zeros((2, 6))), InputError, "N >= 3"),
        (lambda: TANNER.motion([0, 2, 1], np.zeros((3, 6))), InputError, "must increase"),
        (lambda: TANNER.motion("now", np.zeros((3, 6))), KindError, "t is 'now'"),
    ],
)
def test_refusals(call, kind, words):
    with pytest.raises(kind, match=words):
        call()


# ---- pace


def straight_motion(robot, speed=1.0, brake=0.5):
    """Forward from rest at constant acceleration, everything else still."""
    t = np.linspace(0.0, 1.0, 5)
    q = np.zeros((5, len(robot.coordinate_names)))
    z, zd = np.zeros((5, len(robot.speed_names))), np.zeros((5, len(robot.speed_names)))
    q[:, 0], z[:, 0], zd[:, 0] = brake * t**2 / 2, brake * t, brake
    return Motion(t, q, z, zd)


def admissible_at(robot, motion, k, s, friction, load=None):
    """Whether sample k holds when driven s times as fast, by `admissible` with the torques that this takes."""
    q, z, zd = motion.q[k], s * motion.z[k], s * s * motion.zd[k]
    M, F, B = robot.equations(q, z)
    if load is not None:
        F = robot.control(q, z, np.zeros(len(robot.input_names)), load)[1]
    need = M @ zd + F
    w = len(robot.wheels)
    tau = np.zeros(len(robot.input_names))
    p = robot.guidance.moving
    driven = [j for j in robot.formulas.rolling if robot.wheels[j].driven]
    tau[driven] = np.linalg.pinv(B[:p, driven]) @ need[:p]
    if robot.guidance.steered:
        steer = B[p, w : 2 * w]
        tau[w : 2 * w] = steer * need[p] / (steer @ steer)
    tau[2 * w :] = need[len(need) - robot.arm.n :]
    assert np.allclose(robot.acceleration(q, z, tau, load), zd, atol=1e-8)
    return bool(robot.admissible(q, z, tau, friction, load))


@pytest.mark.parametrize("make", [lambda: TANNER, four_steered, car, unicycle, counter_steered])
def test_safe_speed_against_bisection(make):
    robot = make()
    rng = np.random.default_rng(20)
    n, k = len(robot.coordinate_names), len(robot.speed_names)
    t = np.arange(3.0)
    q, z, zd = (
        rng.uniform(-0.3, 0.3, (3, n)),
        rng.uniform(-1, 1, (3, k)),
        rng.uniform(-1, 1, (3, k)),
    )
    motion = Motion(t, q, z, zd)
    found = robot.safe_speed(motion, 0.6)
    for sample in range(3):
        single = Motion(
            t[:1], q[sample : sample + 1], z[sample : sample + 1], zd[sample : sample + 1]
        )
        limit = robot.safe_speed(single, 0.6)
        if limit.scale == 0:
            assert not admissible_at(robot, motion, sample, 1e-6, 0.6)
            continue
        assert limit.scale == pytest.approx(found.limits[sample])
        assert admissible_at(robot, motion, sample, limit.scale * (1 - 1e-4), 0.6)
        assert not admissible_at(robot, motion, sample, limit.scale * (1 + 1e-4), 0.6)
    if found.scale > 0:
        assert found.scale == found.limits.min() == found.limits[found.sample]
        assert found.wheel in robot.wheel_names and "times as fast" in found.status


def test_acceleration_on_ice():
    """Accelerating forward on the flat: the pace grows with the square root of friction until a wheel lifts."""
    motion = straight_motion(TANNER)
    slow, fast = TANNER.safe_speed(motion, 0.002), TANNER.safe_speed(motion, 0.008)
    assert fast.scale == pytest.approx(2 * slow.scale, rel=5e-3)
    assert slow.lowest.max() == 0


def test_a_standing_robot_has_no_limit():
    rest = straight_motion(TANNER, brake=0.0)
    found = TANNER.safe_speed(rest, 0.3)
    assert np.isinf(found.scale) and "no speed" in found.status


def test_a_load_that_tips_at_rest():
    motion = straight_motion(TANNER, brake=0.0)
    found = TANNER.safe_speed(motion, 0.5, load=[0, 0, -2000.0, 0, 0, 0])
    assert found.scale == 0 and "no speed will do" in found.status


def test_driven_wheels_must_do():
    wheels = [
        mobile.Wheel(w.x, w.y, w.radius, w.mass, w.kind, driven=False, name=w.name)
        for w in TANNER.wheels
    ]
    robot = mobile.MobileManipulator(TANNER.platform, wheels, TANNER.base, TANNER.arm)
    with pytest.raises(InputError, match="driven wheels cannot"):
        robot.safe_speed(straight_motion(robot), 0.5)


def test_motion_through_samples_of_a_run():
    run = TANNER.simulate(*CIRCLE, 1.0, dt=0.01)
    motion = TANNER.motion(run.t, run.q)
    assert np.abs(motion.z - run.z).max() < 1e-4
    assert np.abs(motion.zd - run.zd)[5:-5].max() < 1e-2
    pace = TANNER.safe_speed((run.t[::10], run.q[::10]), 0.5)
    assert pace.scale == pytest.approx(TANNER.safe_speed(run, 0.5).scale, rel=0.02)


def test_motion_that_skids_is_refused():
    t = np.linspace(0, 1, 50)
    q = np.zeros((50, 6))
    q[:, 1] = t
    with pytest.raises(InputError, match="skid sideways"):
        TANNER.motion(t, q)


@pytest.mark.parametrize(
    ("drift", "rolls"), [(1e-9, True), (0.9e-6, True), (1.1e-6, False), (1e-3, False)]
)
def test_how_much_skidding_is_rounding(drift, rolls):
    """Straight ahead at 1 m/s with a sideways speed: a millionth of the motion's is the most that still rolls."""
    t = np.linspace(0, 1, 50)
    q = np.zeros((50, len(TANNER.coordinate_names)))
    q[:, 0], q[:, 1] = t, drift * t
    if rolls:
        assert np.abs(TANNER.motion(t, q).z[:, 0] - 1).max() < 1e-9
        return
    with pytest.raises(InputError, match="skid sideways"):
        TANNER.motion(t, q)


BUDGETS = {
    "t_end": ({"t_end": 1e12}, "take a larger dt"),
    "dt": ({"dt": 1e-12}, "take a larger dt"),
    "max_seconds": ({"max_seconds": 0}, "max_seconds"),
    "spent": ({"max_seconds": 1e-9}, "led no further than t = 0"),
}


@pytest.mark.parametrize("case", BUDGETS)
def test_runs_that_would_not_end_are_refused(case):
    options, words = BUDGETS[case]
    q, z = CIRCLE
    with pytest.raises(dynarm.DynarmError, match=words):
        TANNER.simulate(q, z, **({"t_end": 1.0} | options))


def test_what_a_torque_raises_is_raised():
    def torque(t, q, z):
        if t > 0.1:
            raise KeyError("bus")
        return np.zeros(len(TANNER.input_names))

    with pytest.raises(KeyError, match="bus") as raised:
        TANNER.simulate(*CIRCLE, 1.0, torque)
    assert raised.traceback[-1].name == "torque"
