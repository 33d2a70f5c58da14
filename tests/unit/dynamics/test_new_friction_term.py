"""A further friction term is an entry of one table and fields of one record: everything that knows friction knows it.

The fields stand in a class of the test's own, as they would stand in `Friction`; nothing else is touched.
"""

from __future__ import annotations

import pickle
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

import dynarm
from dynarm import DynarmError, Friction, Identifier, Log
from dynarm.algebra.vectors import sign, tanh
from dynarm.dynamics import drive
from dynarm.dynamics.drive import Term
from dynarm.identify.design.excitation import _Problem
from dynarm.identify.design.limits import limits_of
from dynarm.identify.design.trajectory import Series
from dynarm.identify.regressor import Terms
from oracles.motions import rail, stopping

RNG = np.random.default_rng(0)
WORDS = ("viscous", "coulomb", "offset", "dip")


@dataclass(frozen=True, slots=True, repr=False)
class Dipping(Friction):
    """Friction that rises and falls again within a few `dip_width` of rest, as Stribeck's does, and one more sign."""

    dip: float = 0.0
    dip_negative: float | None = None
    dip_width: float = 0.3
    grip: float = 0.0


def dip(friction, at):
    x = tanh(at.v * (1 / friction.dip_width))
    return x - x * x * x


DIP = Term("dip", dip, "dip", "dip_negative", ("N m", "N"), dissipative=False)
GRIP = Term("grip", lambda friction, at: sign(at.v), "grip", jumps=lambda friction: True)


def curve(v, width, forwards, backwards):
    """The dip once more, written for numbers."""
    x = np.tanh(v / width)
    return np.where(v > 0, forwards, backwards) * (x - x**3)


@pytest.fixture(autouse=True)
def table():
    before = dict(drive.TERMS)
    with drive.extended(DIP, GRIP):
        yield
    assert before == drive.TERMS and list(before) == ["viscous", "coulomb", "offset"]


def arm_with(*frictions, name="two_link"):
    arm = dynarm.load(name)
    return replace(
        arm,
        joints=tuple(replace(j, friction=f) for j, f in zip(arm.joints, frictions, strict=True)),
    )


ONE_WAY = (
    Dipping(0.5, 0.8, 0.2, shape="tanh", width=0.03, dip=0.6),
    Dipping(0.3, 0.4, -0.1, shape="tanh", width=0.03, dip=-0.7, dip_width=0.5),
)
TWO_WAYS = (
    Dipping(0.5, 0.8, viscous_negative=0.6, coulomb_negative=0.9, dip=0.6, dip_negative=0.4),
    Dipping(0.3, 0.4, viscous_negative=0.2, coulomb_negative=0.7, dip=0.5, dip_negative=-0.3),
)


def states(n=2, count=400):
    return [RNG.uniform(-s, s, (count, n)) for s in (np.pi, 2.0, 5.0)]


def dips(arm, qd):
    """(N, n): the dips' part of the torques."""
    told = [(f.dip_width, *DIP.coefficients(f)) for f in (j.friction for j in arm.joints)]
    return np.column_stack([curve(v, *numbers) for v, numbers in zip(qd.T, told, strict=True)])


def torque(arm, q, qd, qdd):
    """Inverse dynamics of the arm without dips, by the library, and the dips, by the formula above."""
    plain = [replace(j, friction=drive.without(j.friction, [DIP])) for j in arm.joints]
    model = dynarm.compile(replace(arm, joints=tuple(plain)), friction=True)
    return model.inverse_dynamics(q, qd, qdd) + dips(arm, qd)


@pytest.mark.parametrize("frictions", [ONE_WAY, TWO_WAYS])
def test_compiled_models_feel_it(frictions):
    arm = arm_with(*frictions)
    model, x = dynarm.compile(arm, friction=True), states()
    tau = model.inverse_dynamics(*x)
    assert np.abs(dips(arm, x[1])).max() > 0.1
    np.testing.assert_allclose(tau, torque(arm, *x), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(model.forward_dynamics(*x[:2], tau), x[2], atol=1e-9)
    written = np.array(model.casadi("inverse_dynamics")(*(y[0] for y in x))).ravel()
    np.testing.assert_allclose(written, tau[0], rtol=1e-12)
    q, qd, qdd = (y[0] for y in x)
    slope = model.inverse_dynamics_derivatives(q, qd, qdd)[1]
    h = 1e-6 * np.eye(2)
    numeric = [
        model.inverse_dynamics(q, qd + e, qdd) - model.inverse_dynamics(q, qd - e, qdd) for e in h
    ]
    np.testing.assert_allclose(slope, np.array(numeric).T / 2e-6, atol=1e-6)


def test_it_is_a_column_of_the_regressor():
    arm = arm_with(*ONE_WAY)
    q, qd, qdd = states()
    terms = Terms(arm, ("dip", "viscous"), "tanh", (0.03, 0.03))
    assert terms.names[terms.rigid_size :] == ("viscous1", "dip1", "viscous2", "dip2")
    for j, width in enumerate((0.3, 0.5)):
        k = terms.drive_index(j, "dip")
        wanted = curve(qd[:, j], width, 1, 1)
        np.testing.assert_allclose(terms.evaluate(q, qd, qdd)[:, j, k], wanted, atol=1e-14)
        rows = terms.joint_rows(q, qd, qdd, {})[j]
        np.testing.assert_allclose(rows[list(terms.support[j]).index(k)], wanted, atol=1e-14)
    two_sided = Terms(arm, ("dip",), asymmetric=True)
    assert two_sided.drive_names == ("dip", "dip_negative")
    up, down = (
        two_sided.evaluate(q, qd, qdd)[:, 1, two_sided.drive_index(1, w)]
        for w in two_sided.drive_names
    )
    np.testing.assert_allclose(up, curve(qd[:, 1], 0.5, 1, 0), atol=1e-14)
    np.testing.assert_allclose(down, curve(qd[:, 1], 0.5, 0, 1), atol=1e-14)


@pytest.mark.parametrize("frictions", [ONE_WAY, TWO_WAYS])
def test_fits_recover_it_and_predict_with_it(frictions):
    arm = arm_with(*frictions)
    asymmetric, shape = frictions is TWO_WAYS, frictions[0].shape
    x = states()
    log = Log(np.arange(400) * 0.01, x[0], torque(arm, *x), *x[1:])
    fit = Identifier(
        arm, friction=WORDS, shape=shape, width=0.03, asymmetric=asymmetric, armature=False
    ).fit(log)
    values = dict(zip(fit.names_, fit.values_, strict=True))
    for j, friction in enumerate(frictions):
        forwards, backwards = DIP.coefficients(friction)
        assert values[f"dip{j + 1}"] == pytest.approx(forwards, abs=1e-8)
        if asymmetric:
            assert values[f"dip_negative{j + 1}"] == pytest.approx(backwards, abs=1e-8)
        made = fit.arm_.joints[j].friction
        assert isinstance(made, Dipping) and made.dip_width == friction.dip_width
        assert DIP.coefficients(made) == pytest.approx((forwards, backwards), abs=1e-8)
        v, force = fit.friction_curve(j)
        np.testing.assert_allclose(force, drive.friction_force(made, v), atol=1e-8)
    rows = fit.frame
    assert set(rows[rows["name"].str.startswith("dip")]["unit"]) == {"N m"}
    new = states(count=50)
    wanted = torque(arm, *new)
    told = fit.predict(Log(np.arange(50) * 0.01, new[0], wanted, *new[1:]))
    np.testing.assert_allclose(told, wanted, atol=1e-6)
    np.testing.assert_allclose(fit.model_.inverse_dynamics(*new), told, atol=1e-9)


def test_the_optimiser_of_motions_sees_it():
    arm = arm_with(*ONE_WAY)
    terms = Terms(arm, WORDS, "tanh", (0.05, 0.05))
    problem = _Problem(arm, terms, Series(4.0, 3), limits_of(arm, *[None] * 5), "condition", 50.0)
    state = RNG.normal(size=(3, 2))
    wanted = terms.evaluate(*(np.ascontiguousarray(y[None]) for y in state))[0]
    wanted = wanted / problem.rows[:, None] / problem.scale
    np.testing.assert_allclose(np.array(problem._regressor()(*state)).T, wanted, atol=1e-9)
    smooth = [replace(j.friction, width=0.05) for j in arm.joints]
    tau = torque(arm_with(*smooth), *(y[None] for y in state))[0]
    np.testing.assert_allclose(problem._driven.inverse_dynamics(*state), tau, atol=1e-9)
    motion = dynarm.excite(arm, 6.0, friction=WORDS, starts=1, iterations=5)
    assert np.isfinite(motion.condition)


def test_simulated_joints_stick_by_what_jumps_and_slide_by_the_rest():
    """Two signs hold what both hold; the dip takes energy while it slides."""
    model = dynarm.compile(
        rail(Dipping(coulomb=1.0, coulomb_negative=0.5, grip=1.5)), friction=True
    )
    time, place = stopping(2.0, 1.7, 2.5, 0.0)
    run = dynarm.simulate(model, [0.4], [1.7], 3.0, rtol=1e-11)
    ((when, what),) = run.events
    assert what == "slider sticks" and abs(when - time) <= 1e-9
    assert abs(run.q[-1, 0] - (0.4 + place)) <= 1e-10
    dipping = dynarm.compile(rail(Dipping(grip=1.5, dip=4.0)), friction=True)
    slower = dynarm.simulate(dipping, [0.4], [1.7], 3.0, rtol=1e-11)
    assert slower.events[0][1] == "slider sticks" and not slower.qd[-1].any()
    plain = stopping(2.0, 1.7, 1.5, 0.0)
    assert slower.events[0][0] < plain[0] - 0.05
    assert abs(slower.loss[-1] - 1.7**2) <= 1e-8
    assert np.abs(slower.balance).max() <= 1e-8


def test_what_is_not_in_the_table_is_refused():
    with pytest.raises(DynarmError, match="already"), drive.extended(DIP):
        pass
    with pytest.raises(DynarmError, match="memory"):
        Term("stop", dip, "dip", memory=True)
    with pytest.raises(DynarmError, match="friction dip is"):
        Dipping(dip=float("nan"))
    with pytest.raises(DynarmError, match="viscous, coulomb, offset, dip, grip"):
        Identifier(arm_with(*ONE_WAY), friction=("slip",))
    assert pickle.loads(pickle.dumps(drive.COULOMB)) == drive.COULOMB


def test_friction_is_written_in_one_file():
    """No other room computes a sign or its smooth form for friction's sake."""
    root = Path(dynarm.__file__).parent
    rooms = ("identify", "simulation", "plan", "model", "mobile", "dynamics")
    files = [p for room in rooms for p in (root / room).rglob("*.py")]
    writers = [p.relative_to(root).as_posix() for p in files if "tanh(" in p.read_text("utf-8")]
    assert writers == ["dynamics/drive.py"]
