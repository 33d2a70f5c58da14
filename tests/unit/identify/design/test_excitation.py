"""Exciting motions: within limits, at rest at both ends, and better than chance."""

from __future__ import annotations

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest

import dynarm
from dynarm import DynarmError
from dynarm.identify.design import excitation
from dynarm.identify.design.excitation import CRITERIA, rigid_columns
from dynarm.identify.design.trajectory import Series
from dynarm.identify.regressor import Terms
from dynarm.identify.rigid import Rigid

TWO = dynarm.load("two_link")


@pytest.mark.parametrize("criterion", CRITERIA)
def test_optimised_motions_beat_random_ones(criterion):
    found = dynarm.excite(TWO, 10.0, criterion=criterion, starts=1, iterations=40)
    assert found.condition < np.median(found.random)
    assert found.t[-1] == pytest.approx(10.0)
    for x in (found.qd, found.qdd):
        np.testing.assert_allclose(x[[0, -1]], 0, atol=1e-9)
    np.testing.assert_allclose(found.q[0], found.q[-1], atol=1e-9)
    if criterion == "recursive":
        assert max(found.joint_conditions) < 10


def test_limits_are_kept():
    position, velocity, acceleration = [(-1.0, 0.5), (0.0, 1.2)], (1.5, 1.0), 4.0
    found = dynarm.excite(
        TWO,
        8.0,
        position=position,
        velocity=velocity,
        acceleration=acceleration,
        starts=1,
        iterations=30,
    )
    low, high = np.array(position).T
    assert (found.q >= low).all() and (found.q <= high).all()
    assert (np.abs(found.qd) <= velocity).all()
    assert (np.abs(found.qdd) <= acceleration).all()


def test_the_tool_stays_in_its_box():
    free = dynarm.excite(TWO, 10.0, starts=1, iterations=20)
    model = dynarm.compile(TWO)
    tool = model.forward_kinematics(free.q)[:, :3, 3]
    middle = (tool[:, 0].max() + tool[:, 0].min()) / 2
    box = ((middle, -9.0, -9.0), (9.0, 9.0, 9.0))
    found = dynarm.excite(TWO, 10.0, box=box, starts=1, iterations=100)
    assert model.forward_kinematics(found.q)[:, 0, 3].min() >= middle - 1e-9


def test_torque_limits_are_kept():
    model = dynarm.compile(TWO)
    free = dynarm.excite(TWO, 10.0, starts=1, iterations=20)
    limit = 0.9 * np.abs(model.inverse_dynamics(free.q, free.qd, free.qdd)).max(axis=0)
    found = dynarm.excite(TWO, 10.0, torque=limit, starts=1, iterations=100)
    assert (np.abs(model.inverse_dynamics(found.q, found.qd, found.qdd)) <= limit).all()


@pytest.mark.parametrize("name", ["two_link", "scara", "puma560", "stanford"])
def test_the_optimiser_sees_the_compiled_regressor(name):
    arm = dynarm.load(name)
    q, qd, qdd = (ca.SX.sym(x, arm.n) for x in ("q", "qd", "qdd"))
    rng = np.random.default_rng(0)
    state = rng.normal(size=(3, arm.n))
    for armature in (False, True):
        Y = ca.Function("Y", [q, qd, qdd], [ca.densify(rigid_columns(arm, armature, q, qd, qdd))])
        expected = Terms(arm, armature=armature).rigid.columns(*state[:, None])[0]
        np.testing.assert_allclose(np.array(Y(*state)), expected, rtol=1e-11, atol=1e-11)


def test_the_optimiser_sees_parameters_that_mix_columns(monkeypatch):
    """A robot whose minimal parameters are no compiled columns is treated by the matrix between both."""
    arm = dynarm.load("stanford")
    q, qd, qdd = (ca.SX.sym(x, arm.n) for x in ("q", "qd", "qdd"))
    state = np.random.default_rng(0).normal(size=(3, arm.n))
    mixed = Rigid(arm, True)
    monkeypatch.setattr(Rigid, "sources", None)
    assert mixed.places is None
    monkeypatch.setattr(excitation, "rigid_of", lambda *given: mixed)
    Y = ca.Function("Y", [q, qd, qdd], [ca.densify(rigid_columns(arm, True, q, qd, qdd))])
    monkeypatch.undo()
    expected = Rigid(arm, True).columns(*state[:, None])[0]
    np.testing.assert_allclose(np.array(Y(*state)), expected, rtol=1e-11, atol=1e-11)


def test_series_and_its_derivatives():
    series = Series(5.0, 4)
    x = series.random(np.random.default_rng(0), 1)[0]
    t = np.linspace(0, 5, 20001)
    q, qd, qdd = (B @ x for B in series.basis(t))
    np.testing.assert_allclose(np.gradient(q, t)[2:-2], qd[2:-2], atol=1e-5)
    np.testing.assert_allclose(np.gradient(qd, t)[2:-2], qdd[2:-2], atol=1e-4)
    np.testing.assert_allclose(series.rest() @ x, 0, atol=1e-12)


def test_long_motions_repeat_their_period():
    found = dynarm.excite(TWO, 20.0, starts=1, iterations=5, rate=50.0)
    np.testing.assert_allclose(found.q[:500], found.q[500:1000], atol=1e-9)


def test_saved_motions_are_read_back(tmp_path):
    found = dynarm.excite(TWO, 4.0, starts=1, iterations=5)
    found.save(tmp_path / "x.csv")
    table = np.loadtxt(tmp_path / "x.csv", delimiter=",", skiprows=1)
    np.testing.assert_allclose(table[:, 1:3], found.q, atol=1e-8)
    assert (tmp_path / "x.csv").read_text().startswith("t,q1,q2,qd1,qd2,qdd1,qdd2\n")
    assert [p.name for p in tmp_path.iterdir()] == ["x.csv"]
    with pytest.raises(DynarmError, match="check folder and rights"):
        found.save(tmp_path / "nowhere" / "x.csv")


def test_joint_limits_of_the_arm_are_used():
    arm = replace(
        TWO,
        joints=tuple(
            replace(j, position_limits=(-0.4, 0.6), velocity_limit=0.8) for j in TWO.joints
        ),
    )
    found = dynarm.excite(arm, 10.0, starts=1, iterations=10)
    assert found.q.min() >= -0.4 and found.q.max() <= 0.6
    assert np.abs(found.qd).max() <= 0.8


@pytest.mark.parametrize(
    "options, words",
    [
        ({"duration": 0}, "duration"),
        ({"harmonics": 1}, "harmonics"),
        ({"criterion": "beauty"}, "criterion"),
        ({"position": (1.0, -1.0)}, "limits"),
        ({"velocity": 0.0}, "limits"),
        ({"box": (1, 2)}, "box"),
        ({"period": 3.0}, "divide"),
        ({"torque": "much"}, "torque"),
    ],
)
def test_bad_wishes_are_refused(options, words):
    with pytest.raises(DynarmError, match=words):
        dynarm.excite(**({"arm": TWO, "duration": 10.0} | options))
