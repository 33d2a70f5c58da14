"""Sharp Coulomb friction: joints stop, stick and break loose at the times and places of closed forms."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import dynarm
from dynarm import Friction
from dynarm.simulation import Sampled
from dynarm.simulation.friction import Balance, Sliding
from dynarm.simulation.plant import Plant
from oracles.motions import StickSlip, pendulum, rail, stopping, two_link_rates


def rubbing(arm, *frictions):
    joints = [replace(j, friction=f) for j, f in zip(arm.joints, frictions, strict=True)]
    return dynarm.compile(replace(arm, joints=joints), friction=True)


@pytest.mark.parametrize("viscous", [0.0, 1.3])
@pytest.mark.parametrize("speed", [1.7, -0.6])
def test_a_sliding_body_stops_and_stays(viscous, speed):
    friction = Friction(
        viscous=viscous, coulomb=2.5, coulomb_negative=3.5, viscous_negative=2 * viscous or None
    )
    model = dynarm.compile(rail(friction), friction=True)
    c, b = (2.5, viscous) if speed > 0 else (3.5, 2 * viscous)
    time, place = stopping(2.0, abs(speed), c, b)
    run = dynarm.simulate(model, [0.4], [speed], 3.0, rtol=1e-11)
    assert run.status == "success" and run.t[-1] == 3.0
    ((when, what),) = run.events
    assert what == "slider sticks" and abs(when - time) <= 1e-9
    rest = run.t >= when
    assert np.abs(run.q[rest, 0] - (0.4 + np.sign(speed) * place)).max() <= 1e-10
    assert not run.qd[rest].any()
    assert np.ptp(run.q[rest]) == 0
    assert abs(run.loss[-1] - speed**2) <= 1e-9  # m v^2 / 2 with 2 kg
    assert np.abs(run.balance).max() <= 1e-9


def test_driven_stick_slip():
    m, F, w, c = 2.0, 5.0, 3.0, 3.5  # above 0.54 F it stands still between two slides
    model = dynarm.compile(rail(Friction(coulomb=c)), friction=True)
    want = StickSlip(m, F, w, c, until=6.0)
    run = dynarm.simulate(
        model,
        [0.0],
        [0.0],
        6.0,
        lambda t, q, qd: [F * np.sin(w * t)],
        rtol=1e-11,
        times=np.linspace(0, 6, 301),
    )
    switches = [t for t, _ in run.events]
    edges = [t for begin, end, *_ in want.phases for t in (begin, end) if t < 6.0]
    assert len(switches) == len(edges) > 8
    # breaking loose is seen when the load exceeds c by 1e-10 of it
    assert np.abs(np.array(switches) - edges).max() <= 1e-8
    assert np.abs(run.q[:, 0] - [want.place(t) for t in run.t]).max() <= 1e-8
    stuck = [all(not b < t < e for b, e, *_ in want.phases) for t in run.t]
    assert any(stuck) and not run.qd[stuck].any()
    assert np.abs(run.balance).max() <= 1e-9


@pytest.mark.parametrize("rate", [0.5, 30.0])
def test_a_load_that_grows_while_a_joint_sticks_is_not_slept_over(rate):
    """Nothing moves, and yet the integrator's steps follow the load: the joint lets go in the first swing that can."""
    model = dynarm.compile(rail(Friction(coulomb=2.0)), friction=True)

    # a beat: its swings grow beyond 2 N only for a while, after a long time of standing still
    def load(t, q, qd):
        return 2.4 * np.sin(rate * t) * np.exp(-((rate * t - 200) ** 2) / 800)

    run = dynarm.simulate(model, [0.0], [0.0], 400 / rate, load, rtol=1e-9)
    t = np.linspace(0, 400 / rate, 2_000_001)
    first = t[np.argmax(np.abs([load(t, 0, 0)]) > 2.0)]
    assert abs(run.events[0][0] - first) <= 1e-3 / rate and run.events[0][1] == "slider slides"
    assert run.events[-1][1] == "slider sticks" and len(run.events) >= 8


def test_held_by_friction_and_let_go_by_a_jump():
    """Samples that stay below the friction hold the body; the first one above moves it at once."""
    model = dynarm.compile(rail(Friction(coulomb=2.0)), friction=True)
    torque = Sampled([0.0, 1.0, 2.0, 2.5], [[1.9], [2.6], [-1.0], [-2.6]])
    run = dynarm.simulate(model, [0.0], [0.0], 4.0, torque, rtol=1e-11)
    # 0.6 N for a second, then -3 N until it stands: at 2.2 s
    assert [name for _, name in run.events] == ["slider slides", "slider sticks", "slider slides"]
    assert np.allclose([t for t, _ in run.events], [1.0, 2.2, 2.5], atol=1e-9, rtol=0)
    x = 0.3 / 2 + 0.3**2 / 3
    assert abs(run.dense(2.4)[0][0] - x) <= 1e-10
    assert abs(run.q[-1, 0] - (x - 0.3 * 1.5**2 / 2)) <= 1e-10


def test_a_pendulum_comes_to_rest_where_friction_holds_it():
    """Each half swing of a small pendulum shrinks by 2 c / k; it stays where gravity is below the friction."""
    arm, c = pendulum(), 0.4
    model = dynarm.compile(
        replace(arm, joints=[replace(arm.joints[0], friction=Friction(coulomb=c))]), friction=True
    )
    run = dynarm.simulate(model, [0.5], [0.0], 20.0, rtol=1e-10)
    weight = 1.5 * 9.81 * 0.7
    assert run.events[-1][1] == "pivot sticks" and run.events[-1][0] < 10
    assert not run.qd[-1].any() and abs(weight * np.sin(run.q[-1, 0])) <= c
    turns = [run.dense(t)[0][0] for t, name in run.events]
    # energy between two turning points: weight (cos a - cos b) = c |a - b|
    for a, b in zip([0.5, *turns], turns, strict=False):
        assert abs(weight * (np.cos(b) - np.cos(a)) - c * abs(a - b)) <= 1e-8


def test_an_elbow_that_sticks_makes_one_link_of_two():
    arm = dynarm.load("two_link")
    model = rubbing(arm, None, Friction(coulomb=1e4))
    run = dynarm.simulate(model, [0.3, -0.8], [0.0, 0.0], 1.5, rtol=1e-11)
    assert np.ptp(run.q[:, 1]) == 0 and not run.qd[:, 1].any() and not run.events
    inertia, weight = model.mass_matrix([0.0, -0.8])[0, 0], model.gravity

    def locked(t, y):
        return [y[1], -weight([y[0], -0.8])[0] / inertia]

    want = solve_ivp(locked, (0, 1.5), [0.3, 0.0], method="DOP853", rtol=1e-12, atol=1e-13)
    assert abs(run.q[-1, 0] - want.y[0, -1]) <= 1e-9
    assert np.abs(run.balance).max() <= 1e-9 and not run.loss.any()


def test_two_rubbing_joints_obey_the_equations_between_switches():
    """Between two events the motion is that of the textbook's equations with friction of constant size."""
    c = (3.0, 1.0)
    model = rubbing(dynarm.load("two_link"), Friction(coulomb=c[0]), Friction(coulomb=c[1]))
    run = dynarm.simulate(model, [-1.2, 0.4], [2.0, -3.0], 4.0, rtol=1e-11)
    assert run.status == "success" and len(run.events) >= 4
    assert np.abs(run.balance).max() <= 1e-8 and (np.diff(run.loss) >= -1e-12).all()
    edges = [0.0, *(t for t, _ in run.events), 4.0]
    checked = 0
    for low, high in pairwise(edges):
        (q0, v0), (q1, v1) = run.dense(low), run.dense(high)
        way = np.sign(run.dense((low + high) / 2)[1])
        if high - low < 1e-3 or not way.all():
            continue
        tau = tuple(-way * c)
        start = np.concatenate([q0, np.where(np.abs(v0) < 1e-9, 0, v0)])
        want = solve_ivp(
            two_link_rates, (low, high), start, method="DOP853", rtol=1e-12, atol=1e-13, args=(tau,)
        )
        assert np.abs(want.y[:, -1] - [*q1, *v1]).max() <= 1e-7
        checked += 1
    assert checked >= 3


def test_friction_with_wrench_and_hold():
    """Half of the load by a wrench on the tool: the same motion."""
    model = dynarm.compile(rail(Friction(coulomb=2.0, viscous=0.3)), friction=True)
    axis = model.forward_kinematics([0.0])[:3, :3].T @ model.jacobian([0.0])[:3, 0]

    def load(t, q, qd):
        return 5 * np.sin(3 * t)

    one = dynarm.simulate(model, [0.0], [0.0], 3.0, load, rtol=1e-11)
    two = dynarm.simulate(
        model,
        [0.0],
        [0.0],
        3.0,
        lambda *a: load(*a) / 2,
        wrench=lambda *a: [*axis * load(*a) / 2, 0, 0, 0],
        rtol=1e-11,
    )
    assert len(one.events) == len(two.events) > 2
    assert abs(one.q[-1, 0] - two.q[-1, 0]) <= 1e-9 and np.abs(two.balance).max() <= 1e-9


def test_modes_of_joints_at_rest_are_consistent():
    """M qdd = f - friction: sliding the way friction opposes, or held by less than the limit, in random cases."""
    rng = np.random.default_rng(3)
    n = 5
    joints = [
        dynarm.Joint(mass=1, com=(0.1, 0, 0), inertia=np.eye(3) * 0.1, friction=Friction(coulomb=1))
        for _ in range(n)
    ]
    model = dynarm.compile(dynarm.Arm(joints), friction=True)
    sliding = Sliding.of(Plant(model), 1e-10)
    seen = set()
    for _ in range(200):
        A = rng.normal(size=(n, n))
        M, f = A @ A.T + 0.05 * np.eye(n), rng.normal(size=n) * 2
        sliding.limits = rng.uniform(0.1, 2, (n, 2))
        at = Balance(M, f, np.zeros(n), np.zeros(n))
        sliding.kernel = lambda *a, at=at: (*at, np.zeros(n), np.zeros(2))
        qd = np.where(rng.random(n) < 0.7, 0.0, rng.normal(size=n))
        sliding.settle(np.concatenate([np.zeros(n), qd, np.zeros(2)]), qd == 0)
        qdd, held, coulomb = sliding._solve(at, sliding.mode)
        assert np.abs(M @ qdd + coulomb + np.where(sliding.stuck, held, 0) - f).max() <= 1e-10
        for i in range(n):
            mode = sliding.mode[i]
            seen.add((qd[i] == 0, mode))
            if qd[i]:
                assert mode == np.sign(qd[i])
            elif mode:
                assert mode * qdd[i] > 0
            else:
                assert qdd[i] == 0 and -sliding.limits[i, 1] <= held[i] <= sliding.limits[i, 0]
    assert len(seen) == 5


def test_friction_that_is_not_sharp_has_no_modes(puma):
    assert Sliding.of(Plant(puma), 1e-10) is None
    smooth = rubbing(
        dynarm.load("two_link"), Friction(coulomb=1, shape="tanh"), Friction(viscous=1)
    )
    assert Sliding.of(Plant(smooth), 1e-10) is None
    left_out = dynarm.compile(rail(Friction(coulomb=2.0)))
    run = dynarm.simulate(left_out, [0.0], [1.0], 1.0)
    assert abs(run.q[-1, 0] - 1) <= 1e-12 and not run.events


def test_negative_friction_is_refused():
    model = dynarm.compile(rail(Friction(coulomb=1.0, coulomb_negative=-0.5)), friction=True)
    with pytest.raises(dynarm.DynarmError, match=r"slider.*-0\.5"):
        dynarm.simulate(model, [0.0], [1.0], 1.0)


@pytest.mark.parametrize("method", ["rk4", "ab4", "midpoint"])
def test_fixed_steps_across_sharp_friction_are_refused(method):
    model = dynarm.compile(rail(Friction(coulomb=1.0)), friction=True)
    with pytest.raises(dynarm.DynarmError, match="tanh"):
        dynarm.simulate(model, [0.0], [1.0], 1.0, method=method, dt=0.01)


def test_asymmetric_friction_lets_go_at_its_own_side():
    """+3 N holds against a push ahead, 1 N against one backwards: each side breaks away at its own load."""
    model = dynarm.compile(rail(Friction(coulomb=3.0, coulomb_negative=1.0)), friction=True)
    for ramp, when in ((1.0, 3.0), (-1.0, 1.0)):
        run = dynarm.simulate(model, [0.0], [0.0], 3.5, lambda t, q, qd, r=ramp: r * t, rtol=1e-10)
        assert [name for _, name in run.events] == ["slider slides"]
        assert abs(run.events[0][0] - when) <= 1e-6
        assert np.sign(run.qd[-1, 0]) == ramp
    jump = Sampled([0.0, 1.0], [[0.9], [-0.9]])
    assert not dynarm.simulate(model, [0.0], [0.0], 2.0, jump).events
    between = Sampled([0.0, 1.0], [[2.9], [-1.1]])
    run = dynarm.simulate(model, [0.0], [0.0], 2.0, between)
    assert [(round(t, 6), name) for t, name in run.events] == [(1.0, "slider slides")]
