"""The step that is taken where none is given, and settings that are taken as they are given."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import dynarm
from dynarm.simulation import Sampled
from dynarm.simulation.fixed import step_length
from dynarm.simulation.plant import Plant
from oracles.motions import pendulum, rail


def step(model, q0, qd0, torque):
    q0, qd0, torque = (np.asarray(x, float) for x in (q0, qd0, torque))
    return step_length(Plant(model), q0, qd0, [torque])


def test_a_step_from_positions():
    """0.02 rad or m at the speed that a joint may have: pi rad/s, 1 m/s, its limit, or that of its start."""
    slider = dynarm.compile(rail())
    assert step(slider, [0.0], [0.0], [0.0]) == pytest.approx(0.02)
    assert step(slider, [0.0], [-4.0], [0.0]) == pytest.approx(0.005)
    limited = dynarm.compile(rail(velocity_limit=0.5))
    assert step(limited, [0.0], [0.0], [0.0]) == pytest.approx(0.04)
    hanging = dynarm.compile(pendulum())
    assert step(hanging, [0.0], [0.0], [0.0]) == pytest.approx(0.02 / np.pi)


def test_a_step_from_velocities():
    """A tenth of that speed at the first acceleration: 2 kg that 100 N push gain 50 m/s^2."""
    slider = dynarm.compile(rail(mass=2.0))
    assert step(slider, [0.0], [0.0], [100.0]) == pytest.approx(0.1 / 50)
    assert step(slider, [0.0], [0.0], [-100.0]) == pytest.approx(0.1 / 50)
    assert step(slider, [0.0], [3.0], [100.0]) == pytest.approx(0.3 / 50)
    # of a batch the sample that is pushed the hardest counts, and the fastest one
    batch = step(slider, np.zeros((3, 1)), [[0.0], [0.0], [0.0]], [[0.0], [-400.0], [100.0]])
    assert batch == pytest.approx(0.1 / 200)
    fast = step(slider, np.zeros((3, 1)), [[0.0], [-8.0], [2.0]], np.zeros((3, 1)))
    assert fast == pytest.approx(0.02 / 8)


def test_of_two_joints_the_quicker_one_counts():
    arm = dynarm.load("two_link")
    joints = [replace(j, velocity_limit=v) for j, v in zip(arm.joints, (2.0, 10.0), strict=True)]
    model = dynarm.compile(replace(arm, joints=joints, gravity=(0, 0, 0)))
    assert step(model, [0, 0], [0, 0], [0, 0]) == pytest.approx(0.02 / 10)
    qdd = np.array([-300.0, 100.0])
    tau = model.inverse_dynamics([0, 0], [0, 0], qdd)
    assert step(model, [0, 0], [0, 0], tau) == pytest.approx(0.1 * 2.0 / 300)
    both = np.stack([tau, 0 * tau])
    assert step(model, np.zeros((2, 2)), np.zeros((2, 2)), both) == pytest.approx(0.1 * 2.0 / 300)


def test_accelerations_that_are_no_numbers_say_nothing():
    slider = dynarm.compile(rail(mass=2.0))
    pushed = [[np.inf], [100.0]]
    assert step(slider, np.zeros((2, 1)), np.zeros((2, 1)), pushed) == pytest.approx(0.1 / 50)
    assert step(slider, np.zeros((1, 1)), np.zeros((1, 1)), [[np.nan]]) == pytest.approx(0.02)


def test_the_step_is_judged_at_the_start():
    """A force that grows, samples that come later, ticks of a controller and a short run."""
    slider = dynarm.compile(rail(mass=2.0))

    def taken(torque, t_end=1.0, **more):
        return dynarm.simulate(slider, [0.0], [0.0], t_end, torque, "rk4", **more).dt

    assert taken(lambda t, q, qd: [1e5 * t]) == pytest.approx(0.02)
    assert taken(lambda t, q, qd: [100.0 + 1e5 * t]) == pytest.approx(0.002)
    assert taken(Sampled([0.0, 0.5], [[0.0], [1000.0]])) == pytest.approx(0.02)
    assert taken(Sampled([0.0, 0.5], [[100.0], [0.0]])) == pytest.approx(0.002)
    assert taken(None, 0.013) == pytest.approx(0.013)
    assert taken(None, wrench=np.zeros(6)) == pytest.approx(0.02)

    def law(t, q, qd):
        return [0.0]

    law.rate = 80.0
    assert taken(law) == pytest.approx(1 / 80)


def test_a_step_longer_than_the_run():
    run = dynarm.simulate(dynarm.compile(rail()), [0.0], [1.0], 0.5, method="rk4", dt=7.0)
    assert run.dt == 0.5 and run.t.tolist() == [0.0, 0.5] and run.q[-1] == [0.5]


# ---- settings


def test_atol_is_a_hundredth_of_rtol(two_link):
    start = (two_link, [0.3, 0.2], [0.0, 0.0], 1.0)
    plain = dynarm.simulate(*start, rtol=1e-5)
    same = dynarm.simulate(*start, rtol=1e-5, atol=1e-5 / 100)
    coarse = dynarm.simulate(*start, rtol=1e-5, atol=1e-2)
    assert np.array_equal(plain.t, same.t) and np.array_equal(plain.q, same.q)
    assert coarse.steps < plain.steps
    assert np.array_equal(
        dynarm.simulate(*start).q, dynarm.simulate(*start, rtol=1e-9, atol=1e-9 / 100).q
    )


def test_the_longest_step_is_kept(two_link):
    run = dynarm.simulate(two_link, [0.3, 0.2], [0.0, 0.0], 1.0, rtol=1e-3, max_step=0.05)
    assert np.diff(run.t).max() <= 0.05 * (1 + 1e-12) and run.steps >= 20
    with pytest.raises(dynarm.DynarmError, match="more than max_steps"):
        dynarm.simulate(two_link, [0, 0], [0, 0], 1.0, max_step=0.05, max_steps=19)
    # twenty of them are just enough
    dynarm.simulate(two_link, [0, 0], [0, 0], 1.0, max_step=0.05, max_steps=20)


BORDERS = {
    "rtol": {"rtol": 2.3e-14, "t_end": 0.01},
    "one step": {"max_steps": 1, "t_end": 1e-9},
    "max_step": {"max_step": np.inf},
    "max_seconds": {"max_seconds": np.inf},
    "seconds": {"max_seconds": 0.9},
    "times": {"times": [0.0, 0.1]},
    "threads": {"threads": 1, "method": "rk4"},
    "every": {"every": 1, "method": "rk4"},
    "method": {"method": "RK4"},
    "one row": {"q0": [[0.1, 0.2]], "method": "rk4"},
}


@pytest.mark.parametrize("case", BORDERS)
def test_taken_at_the_border(case, two_link):
    given = {"q0": [0.1, 0.2], "qd0": [0, 0], "t_end": 0.1} | BORDERS[case]
    assert dynarm.simulate(two_link, **given).check().t[-1] == given["t_end"]


REFUSED = {
    "number": ({"q0": 0.1}, "q0 has shape"),
    "three axes": ({"q0": np.zeros((2, 2, 2)), "method": "rk4"}, "q0 has shape"),
    "too many": ({"q0": [0.1, 0.2, 0.3]}, "q0 has shape"),
    "infinite": ({"q0": [0.1, np.inf]}, "q0 holds NaN"),
    "no end": ({"t_end": 0.0}, "t_end is 0"),
    "early": ({"times": [-0.1, 0.05]}, "times must lie"),
    "late": ({"times": [0.0, 0.05, 0.2]}, "times must lie"),
    "tight": ({"rtol": 2.2e-14}, "double precision"),
    "infinite dt": ({"dt": np.inf, "method": "rk4"}, "dt is inf"),
    "infinite rtol": ({"rtol": np.inf}, "rtol is inf"),
    "limits": ({"limits": "stop", "method": "rk4"}, "knows no events"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused_beyond_it(case, two_link):
    change, text = REFUSED[case]
    given = {"q0": [0.1, 0.2], "qd0": [0, 0], "t_end": 0.1} | change
    with pytest.raises(dynarm.DynarmError, match=text):
        dynarm.simulate(two_link, **given)


@pytest.mark.parametrize("lead", [(), (3,)])
def test_a_run_that_cannot_start_has_its_first_state(lead):
    """Its shapes are those of a run of one time; its inputs are unknown."""
    heavy = dynarm.Joint(mass=1, com=(0.2, 0, 0), inertia=np.eye(3) * 0.1)
    model = dynarm.compile(dynarm.Arm([heavy, dynarm.Joint(a=1.0, name="idle")]))
    q0 = np.broadcast_to([0.1, 0.2], (*lead, 2))
    run = dynarm.simulate(model, q0, [0.3, 0.4], 1.0, method="rk4", wrench=np.ones(6))
    assert run.status == "singular" and run.t.tolist() == [0.0]
    assert run.q.shape == run.qd.shape == run.tau.shape == (*lead, 1, 2)
    assert run.steps == run.evaluations == 0 and run.dt is None and not run.events
    assert (run.q == [0.1, 0.2]).all() and (run.qd == [0.3, 0.4]).all()
    assert run.wrench.shape == (*lead, 1, 6) and np.isnan(run.wrench).all()
    assert np.isnan(run.tau).all() and np.shape(run.reached) == lead and not np.any(run.reached)
    assert dynarm.simulate(model, q0, [0.3, 0.4], 1.0, method="rk4").wrench is None
