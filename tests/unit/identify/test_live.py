"""Estimates on a stream: payload and torque from outside, in Python and in C."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import dynarm
from dynarm.identify.judgement.statistics import inflation

UR10 = Path(__file__).parents[4] / "shared" / "data" / "ur10"


@pytest.fixture(scope="module")
def recorded():
    """A plain fit to the first 18.5 s of the UR10's recording, the rest, and what the fit leaves of its torques."""
    arm, log = dynarm.load(UR10 / "ur10.urdf"), dynarm.Log.read(UR10 / "log.csv")
    plain = {"friction": ("viscous", "coulomb", "offset"), "shape": "tanh"}
    fit = dynarm.Identifier(arm, **plain).fit(log.cut(0, 18.5))
    rest = log.cut(18.5, 30.0)
    return fit, rest, rest.tau - fit.predict(rest)


@pytest.fixture(scope="module")
def carrying(recorded):
    """A robot with the noise of the UR10's recording, and a payload."""
    fit, rest, left = recorded
    arm = dynarm.load(UR10 / "ur10.urdf")
    model = dynarm.compile(arm, friction=True)
    loaded = dynarm.compile(
        arm.with_payload(3.0, (0.03, -0.02, 0.08), 0.01 * np.eye(3)), friction=True
    )
    rng, t = np.random.default_rng(0), np.arange(0, 5, 0.008)
    w = rng.uniform(0.5, 3.0, 6)
    q = 0.6 * np.sin(np.outer(t, w)) + np.array([0, -1.2, 1.0, -0.5, 0.7, 0.2])
    qd, qdd = 0.6 * w * np.cos(np.outer(t, w)), -0.6 * w**2 * np.sin(np.outer(t, w))
    noise = np.sqrt((left**2).mean(axis=0))
    np.testing.assert_allclose(noise, fit.validate(rest).rmse)
    tau = loaded.inverse_dynamics(q, qd, qdd) + noise * rng.normal(size=q.shape)
    return model, loaded, (t, q, qd, qdd, tau), noise


def test_mass_and_centre_come_out_with_their_certainty(carrying):
    model, _, (_, q, qd, qdd, tau), noise = carrying
    stream = dynarm.LivePayload(model, noise).along(q, qd, qdd, tau)
    assert abs(stream.mass[-1] - 3) < 0.09  # 3 % after 5 s
    assert abs(stream.mass[-1] - 3) < 3 * stream.mass_std[-1]
    assert (np.abs(stream.com[-1] - [0.03, -0.02, 0.08]) < 3.5 * stream.com_std[-1]).all()
    assert (np.diff(stream.mass_std) <= 1e-12).all() and stream.mass_std[0] > 10 * stream.mass_std[
        -1
    ]
    one = dynarm.LivePayload(model, noise)
    for k in range(4):
        one = one.update(q[k], qd[k], qdd[k], tau[k])
    assert one.mass == stream.mass[3] and one.mass_std == stream.mass_std[3]
    assert "kg at" in repr(one)


@pytest.mark.parametrize("first", [0.0, 4.0])
def test_a_fit_and_the_recordings_own_residuals_as_noise(recorded, first):
    """What the fit leaves of torques that it has not seen is no white noise; added to the payload's, 3 % after 5 s."""
    fit, rest, left = recorded
    at = rest.t - rest.t[0]
    keep = (at >= first) & (at < first + 5)
    states = [np.ascontiguousarray(x[keep]) for x in fit.states(rest)]
    com = (0.03, -0.02, 0.08)
    loaded = dynarm.compile(fit.model_.arm.with_payload(3.0, com, 0.01 * np.eye(3)), friction=True)
    tau = loaded.inverse_dynamics(*states) + left[keep]
    live = dynarm.LivePayload(fit)
    seen = fit.residuals_
    np.testing.assert_allclose(live.noise, seen.rms * np.sqrt(np.maximum(seen.inflation, 1)))
    assert abs(live.update(*states, tau).mass - 3) < 0.09
    # the deviation of residuals that go on for a while, as many times as large as these are worth
    wide = np.sqrt([(x @ x) / len(x) * inflation(x) for x in left.T])
    sure = dynarm.LivePayload(fit, noise=wide).update(*states, tau)
    assert abs(sure.mass - 3) < 0.09 and abs(sure.mass - 3) < 3 * sure.mass_std


def test_it_is_the_solution_of_all_samples_at_once(carrying):
    model, _, (_, q, qd, qdd, tau), noise = carrying
    live = dynarm.LivePayload(model, noise).update(q, qd, qdd, tau)
    Z = np.empty((*q.shape, 10))
    for k, unit in enumerate(np.eye(10)):
        arm = model.arm
        table = np.array(arm.parameters)
        table[-1] += dynarm.robot.arm.move_parameters(
            unit, arm.tool_pose[:3, :3], arm.tool_pose[:3, 3]
        )
        Z[..., k] = dynarm.compile(arm.with_parameters(table), friction=True).inverse_dynamics(
            q, qd, qdd
        )
    own = model.inverse_dynamics(q, qd, qdd)
    A = ((Z - own[..., None]) / noise[:, None]).reshape(-1, 10)
    from dynarm.identify.live.payload import PRIOR

    info = A.T @ A + np.diag(1 / np.square(PRIOR))
    x = np.linalg.solve(info, A.T @ ((tau - own) / noise).ravel())
    assert np.allclose(live.parameters, x, rtol=1e-6, atol=1e-6)
    spread = np.linalg.inv(info)
    assert np.allclose(live.std, np.sqrt(np.diag(spread)), rtol=1e-6)
    slope = np.column_stack([-x[1:4] / x[0] ** 2, np.eye(3) / x[0]])  # of mc / m
    own = np.sqrt(np.diag(slope @ spread[:4, :4] @ slope.T))
    assert np.allclose(live.com_std, own, rtol=1e-5)


def test_the_observer_sees_a_push(carrying):
    model, _, _, _ = carrying
    arm = model.arm
    t, h = np.arange(0, 1, 0.001), 0.001
    push = np.where(t > 0.5, 1.0, 0.0)[:, None] * np.array([5.0, -8, 4, 1, 2, -1])
    q = 0.3 * np.sin(np.outer(t, np.arange(1, 7))) + np.array([0, -1.2, 1.0, -0.5, 0.7, 0.2])
    w = np.arange(1, 7)
    qd, qdd = 0.3 * w * np.cos(np.outer(t, w)), -0.3 * w**2 * np.sin(np.outer(t, w))
    tau = model.inverse_dynamics(q, qd, qdd) - push
    seen, _ = dynarm.MomentumObserver(model, h, 0.02).update(q, qd, tau)
    assert np.abs(seen[480]).max() < 0.1 and np.abs(seen[-1] - push[-1]).max() < 0.1
    rise = (seen[520] - seen[499]) / push[-1]  # after one time constant
    assert np.allclose(rise, 1 - np.exp(-1), atol=0.05)
    first, state = dynarm.MomentumObserver(model, h, 0.02).update(q[0], qd[0], tau[0])
    assert np.array_equal(first, seen[0]) and first.shape == (arm.n,)
    assert np.array_equal(state.update(q[1], qd[1], tau[1])[0], seen[1])


def test_c_says_the_same(carrying, tmp_path):
    model, _, _, noise = carrying
    live = dynarm.LivePayload(model, noise)
    out = live.export_c(tmp_path / "c")
    assert {f.split("_live_")[1] for f in out.functions} == {
        "live_payload",
        "momentum_observer",
        "momentum",
    }
    files = [str(p) for p in (tmp_path / "c").glob("*.c")]
    subprocess.run(
        ["cc", "-std=c99", "-O1", "-o", str(tmp_path / "test"), *files, "-lm"], check=True
    )
    done = subprocess.run([str(tmp_path / "test")], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("bad", [0.0, [1, 2], np.nan])
def test_noise_and_numbers_are_checked(carrying, bad):
    model, _, (_, q, qd, qdd, tau), noise = carrying
    with pytest.raises(dynarm.DynarmError, match="noise"):
        dynarm.LivePayload(model, bad)
    with pytest.raises(dynarm.DynarmError, match="NaN"):
        dynarm.LivePayload(model, noise).update(q[0], qd[0], qdd[0], np.nan * tau[0])
    with pytest.raises(dynarm.DynarmError, match="noise is None"):
        dynarm.LivePayload(model)
    with pytest.raises(dynarm.DynarmError, match="lag"):
        dynarm.MomentumObserver(model, 0.01, 0.001)
    with pytest.raises(dynarm.DynarmError, match="give a fit"):
        dynarm.LivePayload(replace)


def test_the_observer_begins_with_its_own_momentum_whatever_the_model_has_computed():
    """M qd and the linear and angular momentum are both six numbers of an arm of six joints."""
    model = dynarm.compile(dynarm.load("puma560"))
    q, qd = np.full(6, 0.3), np.full(6, 0.5)
    assert model.momentum(q, qd).shape == (6,)  # first, so that its code is the one at hand
    _, observer = dynarm.MomentumObserver(model, dt=0.01).update(q, qd, model.bias(q, qd))
    after = np.asarray(observer.state) - 0.01 * (model.coriolis_matrix(q, qd).T @ qd)
    after -= 0.01 * (model.bias(q, qd) - model.gravity(q))
    np.testing.assert_allclose(after, model.mass_matrix(q) @ qd, atol=1e-9)
