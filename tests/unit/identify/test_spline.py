"""States by smoothing splines, and torques that lag the motion."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import dynarm
from dynarm import Identifier, Log, Preparation
from dynarm.errors import InputError
from dynarm.identify.spline import spline_of

SPLINE = Preparation(smoothing="spline")
ARM = dynarm.load("two_link")


def motion(t):
    """Positions, velocities and accelerations (N, 2) of two joints."""
    w, p = np.array([2.0, 3.1]), np.array([0.3, 1.0])
    x = t[:, None] * w + p
    y = 2.3 * t[:, None] * w
    q = np.sin(x) + 0.3 * np.sin(y)
    qd = w * np.cos(x) + 0.69 * w * np.cos(y)
    return q, qd, -(w**2) * np.sin(x) - 0.3 * (2.3 * w) ** 2 * np.sin(y)


def recorded(delay=0.0, noise=0.02):
    """A log of two_link whose torques come late."""
    rng = np.random.default_rng(5)
    t = np.arange(0.0, 12.0, 0.005)
    tau = dynarm.compile(ARM).inverse_dynamics(*motion(t - delay))
    q = motion(t)[0] + rng.normal(0, 1e-5, (len(t), 2))
    return Log(t, q, tau + rng.normal(0, noise, tau.shape))


def test_a_spline_finds_velocities_and_accelerations_on_uneven_times():
    rng = np.random.default_rng(2)
    t = np.sort(rng.uniform(0, 6, 2000))
    exact = motion(t)
    states = spline_of(t, exact[0] + rng.normal(0, 1e-4, exact[0].shape)).states(t)
    for got, true, part in zip(states, exact, (1e-4, 2e-3, 0.03), strict=True):
        assert (np.sqrt(((got - true) ** 2).mean(axis=0)) < part * true.std(axis=0)).all()


def test_the_noise_decides_how_smooth():
    t = np.arange(0.0, 6.0, 0.005)
    noise = np.random.default_rng(3).normal(0, 1, (len(t), 2))
    fine, coarse = (spline_of(t, motion(t)[0] + s * noise).strengths for s in (1e-6, 1e-3))
    assert (coarse > fine + 1).all()


def test_positions_far_from_zero_lose_nothing():
    t = np.arange(0.0, 2.0, 0.005)
    near, far = (spline_of(t + s, motion(t)[0] + s).states(t + s) for s in (0.0, 1000.0))
    np.testing.assert_allclose(near[1], far[1], atol=1e-5)


def test_a_fit_on_spline_states_predicts_and_is_kept(tmp_path):
    log = recorded()
    fit = Identifier(ARM, friction=(), preparation=SPLINE).fit(log)
    assert fit.validate(log).mean < 0.02
    np.testing.assert_allclose(
        fit.model_.inverse_dynamics(*fit.states(log)), fit.predict(log), atol=1e-9
    )
    fit.save(tmp_path / "fit.toml")
    again = dynarm.load_fit(tmp_path / "fit.toml")
    assert again.record.preparation == fit.record.preparation
    np.testing.assert_array_equal(again.predict(log), fit.predict(log))


@pytest.mark.parametrize("delay", [0.004, -0.006])
@pytest.mark.parametrize("how", [SPLINE, Preparation(cutoff=20.0)])
def test_a_delay_is_found(how, delay):
    log = recorded(delay)
    fit = Identifier(ARM, friction=(), preparation=replace(how, delay=None)).fit(log)
    assert fit.record.preparation.delay == pytest.approx(delay, abs=5e-4)
    plain = Identifier(ARM, friction=(), preparation=how).fit(log)
    assert (fit.relative_ < 0.7 * plain.relative_).all()  # rows that no end of a filter spoils


def test_no_delay_is_taken_where_there_is_none():
    log = recorded(0.0)
    fit = Identifier(ARM, friction=(), preparation=replace(SPLINE, delay=None)).fit(log)
    assert fit.record.preparation.delay == 0


@pytest.mark.parametrize(
    "options, told",
    [
        ({"smoothing": "spline", "cutoff": 10.0}, "cutoff is"),
        ({"smoothing": "spline", "velocity": "recorded"}, "derives velocities"),
        ({"smoothing": "wavelet"}, "'filter' or 'spline'"),
        ({"delay": 5.0}, "delay"),
    ],
)
def test_what_does_not_go_together_is_refused(options, told):
    with pytest.raises(InputError, match=told):
        Preparation(**options)
