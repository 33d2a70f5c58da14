"""A mobile manipulator as a system of the one simulator: its books, its steps of fixed length, its inputs."""

from __future__ import annotations

import numpy as np
import pytest

from dynarm import mobile
from dynarm.errors import InputError
from dynarm.mobile.system import RollingSystem
from dynarm.simulation import Sampled
from dynarm.simulation.plant import SPEEDS
from dynarm.simulation.system import rates, state_of
from oracles.mobile_machines import MACHINES, car, unicycle

TANNER = mobile.load("tanner2001")
CIRCLE = np.array([0, 0, 0, 0.3, 0, 0]), np.array([1.0, 0, 0, 0])
LOAD = np.array([1.0, -2.0, 0.5, 0.1, 0.2, -0.1])


def start(robot):
    q0, z0 = np.zeros(len(robot.coordinate_names)), np.zeros(len(robot.speed_names))
    z0[0], z0[-1] = 0.5, 0.3
    if robot.guidance.steered:
        q0[3] = 0.2
    return q0, z0


@pytest.mark.parametrize("name", MACHINES)
def test_rates_are_those_of_the_robot(name):
    """The rate of the state holds the rolling of the coordinates and the accelerations that the robot itself gives."""
    robot = MACHINES[name]()
    q, z = start(robot)
    tau = np.linspace(-1, 1, len(robot.input_names))
    system = RollingSystem(robot)
    rate = rates(system)(state_of(system, q, z), tau, LOAD)
    layout = system.layout
    qd, zd = robot.functions["derivative"](q, z, tau, LOAD)[:2]
    assert len(rate) == layout.size == len(q) + len(z) + 2
    assert np.allclose(rate[layout.q], qd, rtol=1e-13, atol=1e-13)
    assert np.allclose(rate[layout.qd], zd, rtol=1e-11, atol=1e-11 * np.abs(zd).max())


@pytest.mark.parametrize("name", ["tanner2001", "car", "unicycle", "crab"])
@pytest.mark.parametrize("friction", [False, True])
def test_the_books_balance(name, friction):
    """Change of energy = work of inputs and load - what friction takes, to the integrator's error."""
    robot = MACHINES[name]()
    wheels = [
        mobile.Wheel(
            w.x, w.y, w.radius, w.mass, w.kind, angle=w.angle, ratio=w.ratio, name=w.name,
            rolling=mobile.Friction(viscous=0.3) if w.guides else None,
        )
        for w in robot.wheels
    ]  # fmt: skip
    robot = mobile.MobileManipulator(
        robot.platform, wheels, robot.base, robot.arm, friction=friction
    )
    tau = np.full(len(robot.input_names), 0.4)
    tau[len(wheels) : 2 * len(wheels)] = 1e-3  # no more: the columns turn easily
    run = robot.simulate(*start(robot), 0.2, tau, load=LOAD)
    assert run.unexplained < 1e-8 * np.abs(run.work).max() and np.ptp(run.work) > 1e-3
    assert bool(run.loss[-1] > 1e-4) == friction and (np.diff(run.loss) >= 0).all()
    assert np.array_equal(run.balance, run.energy - run.energy[0] - run.work + run.loss)


@pytest.mark.parametrize(("method", "order"), [("rk4", 4), ("ab4", 4)])
@pytest.mark.parametrize("locked", [False, True])
def test_steps_of_fixed_length_converge(method, order, locked):
    best = TANNER.simulate(*CIRCLE, 0.4, locked=locked)
    errors = []
    for dt in (0.02, 0.01):
        run = TANNER.simulate(*CIRCLE, 0.4, method=method, dt=dt, locked=locked)
        assert len(run.t) == round(0.4 / dt) + 1 and run.wheel_forces.shape == (len(run.t), 3, 3)
        errors.append(np.abs(run.q[-1] - best.q[-1]).max())
    assert order - 0.6 < np.log2(errors[0] / errors[1]) < order + 1.2


def test_steps_of_fixed_length_watch_nothing():
    for options in ({"stop": True}, {"project": True}, {"friction": 0.5}):
        with pytest.raises(InputError, match="rk4 knows no events"):
            TANNER.simulate(*CIRCLE, 0.1, method="rk4", **options)


def test_samples_and_held_functions_drive_wheels_too():
    robot = car()
    q0, z0 = start(robot)
    n = len(robot.input_names)
    jump = np.array([np.zeros(n), np.full(n, 0.5)])
    held = robot.simulate(q0, z0, 0.4, Sampled([0.0, 0.2], jump))

    def function(t, q, z):
        return jump[int(t >= 0.2 - 1e-12)]

    function.rate = 10.0
    ticked = robot.simulate(q0, z0, 0.4, function)
    assert np.abs(held.q - ticked.q).max() < 1e-11 and np.ptp(held.tau) == 0.5
    assert np.abs(held.tau[held.t < 0.2 - 1e-9]).max() == 0


def test_a_torque_that_is_no_number_ends_the_run():
    run = TANNER.simulate(*CIRCLE, 0.5, lambda t, q, z: np.full(8, np.nan if t > 0.2 else 0.0))
    assert run.status.startswith("stopped at t = 0.") and "returned NaN" in run.status
    assert run.t[-1] <= 0.2 and np.isfinite(run.q).all()


def test_usual_speeds():
    limits = RollingSystem(unicycle()).speed_limits
    assert limits[:2] == [SPEEDS[False], SPEEDS[True]] and len(limits) == len(
        unicycle().speed_names
    )
