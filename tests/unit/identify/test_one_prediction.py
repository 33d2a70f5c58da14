"""One prediction along a log: by the fit, by its compiled model with the friction state, and by C."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from dataclasses import replace

import numpy as np
import pytest

import dynarm
from dynarm import Friction, Identifier, Log
from dynarm.errors import InputError
from oracles.simulated_log import multi_sine

SAME = 1e-9
RICH = Friction(
    shape="tanh",
    width=0.05,
    curve=[(0.3, 0.0)],
    presliding=[(2e-3, 0.0), (2e-2, 0.0)],
    load_curve=[(0.05, 0.0)],
    load_presliding=[(1e-2, 0.0)],
    ripple=[(9.0, 0.0, 0.0)],
)
DRIVEN = Friction(
    viscous=0.4,
    coulomb=0.3,
    presliding=[(2e-3, 0.5), (2e-2, 0.6)],
    load_presliding=[(1e-2, 0.08)],
    ripple=[(9.0, 0.2, -0.1)],
)


def recorded(seed, wrench=False):
    """A log that begins in motion, pauses a second and goes on; its joints rub in every way."""
    arm = dynarm.load("two_link")
    arm = replace(arm, joints=[replace(j, friction=DRIVEN, armature=0.05) for j in arm.joints])
    model = dynarm.compile(arm, friction=True)
    t, q, qd, qdd = multi_sine(2, 12.0, 200.0, seed=seed)
    keep = (t < 5.0) | (t > 6.0)
    t, q, qd, qdd = t[keep], q[keep], qd[keep], qdd[keep]
    starts = [int((t < 5.0).sum())]
    rng = np.random.default_rng(seed)
    push = None
    if wrench:
        wave = np.sin(np.outer(t, [1.0, 2.0, 0.5]))
        push = np.column_stack([20 * wave, 0 * wave])
    states = model.friction_state.along(q, starts, qd, qdd)
    tau = model.inverse_dynamics(q, qd, qdd, push, friction_state=states)
    return arm, Log(t, q, tau + rng.normal(0, 0.01, tau.shape), wrench=push)


@pytest.fixture(scope="module")
def fitted():
    arm, log = recorded(1)
    plain = replace(arm, joints=[replace(j, friction=None) for j in arm.joints])
    return Identifier(plain, friction=[RICH, RICH]).fit(log), recorded(2)[1]


def test_the_fit_explains_the_log_with_every_family(fitted):
    fit, _ = fitted
    assert fit.relative_.mean() < 0.02
    record = fit.friction_[0]
    assert record.presliding and record.load_curve and record.load_presliding and record.ripple


def test_the_model_with_its_state_predicts_what_the_fit_predicts(fitted):
    fit, log = fitted
    states, memory = fit.states(log), fit.friction_states(log)
    predicted = fit.predict(log)
    model = fit.model_
    assert memory.shape == (len(log), model.friction_state.size)
    made = model.inverse_dynamics(*states, friction_state=memory)
    np.testing.assert_allclose(made, predicted, rtol=0, atol=SAME)
    np.testing.assert_allclose(fit.torque(*states, memory), predicted, rtol=0, atol=SAME)
    gap = int(np.argmax(np.diff(log.t) > 0.5)) + 1
    again = model.friction_state.along(states[0], [gap], *states[1:])
    np.testing.assert_array_equal(again, memory)
    # memory and its beginning matter: without them the prediction is another
    assert np.abs(model.inverse_dynamics(*states) - predicted).max() > 1e-2
    unbegun = model.friction_state.along(states[0], [gap])
    other = model.inverse_dynamics(*states, friction_state=unbegun)
    assert np.abs(other - predicted)[[0, gap]].max() > 1e-2


def test_a_state_goes_on_from_the_first_as_predict_does(fitted):
    fit, log = fitted
    (q, qd, qdd), memory = fit.states(log), fit.friction_states(log)
    state, predicted = memory[0], fit.predict(log)
    for k in range(300):
        state = fit.model_.friction_state.next(state, q[k])
        made = fit.model_.inverse_dynamics(q[k], qd[k], qdd[k], friction_state=state)
        np.testing.assert_allclose(made, predicted[k], rtol=0, atol=SAME)


def test_wrenches_are_a_load_of_friction_in_both():
    arm, log = recorded(3, wrench=True)
    plain = replace(arm, joints=[replace(j, friction=None) for j in arm.joints])
    fit = Identifier(plain, friction=[RICH, RICH]).fit(log)
    made = fit.model_.inverse_dynamics(
        *fit.states(log), log.wrench, friction_state=fit.friction_states(log)
    )
    np.testing.assert_allclose(made, fit.predict(log), rtol=0, atol=SAME)
    assert fit.relative_.mean() < 0.02


def test_states_of_another_size_are_refused(fitted):
    fit, log = fitted
    with pytest.raises(InputError, match="friction states of robot"):
        fit.torque(*fit.states(log), np.zeros((len(log), 3)))


@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")
def test_c_predicts_what_the_fit_predicts(fitted, tmp_path):
    fit, log = fitted
    wanted = ("friction_state_next", "inverse_dynamics:friction_state")
    made = dynarm.export_c(fit.model_, tmp_path / "c", quantities=wanted)
    library, source = tmp_path / "robot.so", made.folder / f"{made.name}.c"
    command = ["gcc", "-O2", "-shared", "-fPIC", str(source), "-o", str(library), "-lm"]
    subprocess.run(command, check=True)
    step, inverse = (getattr(ctypes.CDLL(str(library)), name) for name in made.functions)
    (q, qd, qdd), predicted = fit.states(log), fit.predict(log)
    memory = fit.friction_states(log)
    gap = int(np.argmax(np.diff(log.t) > 0.5)) + 1
    state, after, tau = memory[0].copy(), np.empty_like(memory[0]), np.empty(2)
    out = np.empty_like(predicted)
    for k in range(len(log)):
        state[:] = memory[k] if k == gap else state
        _call(step, state, q[k], after)
        _call(inverse, q[k], qd[k], qdd[k], after, tau)
        state[:], out[k] = after, tau
    np.testing.assert_allclose(out, predicted, rtol=0, atol=SAME)


def _call(function, *arrays):
    function(*(np.ascontiguousarray(x).ctypes.data_as(ctypes.c_void_p) for x in arrays))
