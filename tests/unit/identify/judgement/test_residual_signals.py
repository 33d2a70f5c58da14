"""Residuals, spikes, energies and digits, each on signals whose answer is known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import dynarm
from dynarm import Identifier, Log, Preparation, minimal_parameters
from dynarm.identify import flow
from dynarm.identify.estimators.factors import RowSource, fold
from dynarm.identify.estimators.least_squares import freedoms
from dynarm.identify.estimators.methods import irls
from dynarm.identify.estimators.problem import Problem
from dynarm.identify.judgement import outliers, soundness, statistics
from dynarm.identify.preprocess import Stretch
from dynarm.identify.regressor import Terms
from oracles.motions import pendulum
from oracles.simulated_log import exact_torque, multi_sine, noisy_log

TWO = dynarm.load("two_link")
HOW = Preparation(cutoff=10.0, velocity="differentiate", decimate=1)
RNG = np.random.default_rng(0)


def stretch(size=1000, rate=100.0, arm=TWO, seed=0, noise=0.0):
    t, q, qd, qdd = (x[:size] for x in multi_sine(arm.n, size / rate + 1, rate, seed))
    tau = exact_torque(arm, q, qd, qdd)
    tau = tau + np.random.default_rng(9).normal(0, 1, tau.shape) * noise
    return Stretch(t, q, qd, qdd, tau, None, np.ones(q.shape, bool), rate)


# ---- residuals


def test_inflation_of_known_noise():
    """First-order noise x' = a x + e has a long-run variance of (1 + a) / (1 - a) times its own."""
    rng = np.random.default_rng(1)
    for a in (0.0, 0.6, -0.6):
        ratios = []
        for _ in range(40):
            e = rng.normal(size=2000)
            x = np.empty(2000)
            x[0] = e[0]
            for k in range(1, 2000):
                x[k] = a * x[k - 1] + e[k]
            ratios.append(statistics.inflation(x))
        assert np.mean(ratios) == pytest.approx((1 + a) / (1 - a), rel=0.12)


def test_inflation_counts_what_a_fit_took():
    """Four waves fitted to white noise take 8 freedoms of the 32 of its 16 lowest frequencies."""
    t = np.arange(1000) / 1000
    waves = [f(2 * np.pi * k * t) for k in (2, 5, 6, 11) for f in (np.sin, np.cos)]
    X = np.column_stack(waves)
    plain, mended = [], []
    for seed in range(200):
        x = np.random.default_rng([seed, 3]).normal(size=1000)
        left = x - X @ np.linalg.lstsq(X, x, rcond=None)[0]
        plain.append(statistics.inflation(left, 16))
        mended.append(statistics.inflation(left, 16, 8.0))
    assert np.mean(plain) == pytest.approx(0.75, abs=0.04)
    assert np.mean(mended) == pytest.approx(1.0, abs=0.05)
    assert statistics.inflation(left, 16, 1000.0) == pytest.approx(plain[-1] / 0.4)


def test_a_fit_takes_freedoms_where_its_columns_are():
    """Of a multi-sine of up to 1.2 Hz in 10 s nearly all are low, but for the sharp sign's and the offset's."""
    arm = dynarm.load("two_link")
    fit = Identifier(arm, cutoff=15.0).fit(noisy_log(arm, 0.5))
    terms, how = fit.record.terms, fit.record.preparation
    pieces = fit.record.recording.pieces(how)
    all_of_them = freedoms(fit.solution)
    assert all_of_them.sum() == pytest.approx(fit.rank_, abs=1e-6)
    rows = fit.solution.data.rows.sum(axis=0)
    low = statistics._taken(terms, pieces, how, fit.solution, [20, 20], rows)
    half = statistics._taken(terms, pieces, how, fit.solution, [20, 20], rows / 2)
    np.testing.assert_allclose(half, low / 2)  # an excerpt of the rows holds its part of them
    assert (low < all_of_them - 0.9).all() and (low > 0.5 * all_of_them).all()
    as_left = statistics.residuals(terms, pieces, how, fit.values_).inflation
    assert (fit.residuals_.inflation > 1.1 * as_left).all()


def test_inflation_looks_at_the_lowest_frequencies():
    n = 400
    t = np.arange(n) / n

    def lines(**power):
        return sum(np.sqrt(p) * np.cos(2 * np.pi * int(k[1:]) * t) for k, p in power.items())

    x = lines(_3=1.0, _15=2.0, _100=3.0)  # 6 of power in 200 lines
    assert statistics.inflation(x) == pytest.approx((3 / 20) / (6 / 200))  # 20 lines: sqrt n
    assert statistics.inflation(x, statistics.lowest(n, 15)) == pytest.approx((3 / 15) / (6 / 200))
    assert statistics.inflation(x, statistics.lowest(n, 14)) == pytest.approx((1 / 14) / (6 / 200))
    assert statistics.inflation(x, statistics.lowest(n, 2)) == pytest.approx(
        (1 / 8) / (6 / 200)
    )  # at least 8
    assert statistics.inflation(x + 5.0) == pytest.approx(statistics.inflation(x))
    assert statistics.inflation(lines(_100=1.0)) == 0.1
    assert statistics.inflation(np.zeros(50)) == 1.0
    assert statistics.inflation(np.ones(15)) == 1.0
    assert statistics.inflation(RNG.normal(size=15)) == 1.0


def test_autocorrelation_of_a_sine():
    r = np.cos(2 * np.pi * np.arange(4000) / 40)
    lags = statistics._correlation(r)
    assert len(lags) == 20
    np.testing.assert_allclose(lags, np.cos(2 * np.pi * np.arange(1, 21) / 40), atol=0.01)
    np.testing.assert_allclose(statistics._correlation(r + 3.0), lags, atol=1e-9)
    assert statistics._correlation(r[:20]).tolist() == [0.0] * 20
    assert statistics._correlation(r[:21])[0] != 0
    assert statistics._correlation(np.zeros(100)).tolist() == [0.0] * 20
    assert statistics._correlation(np.zeros(0)).tolist() == [0.0] * 20


def test_spectrum_of_a_sine():
    """The density's integral is the variance, its peak at the sine's frequency."""
    t = np.arange(4000) / 200
    f, density = statistics._spectrum(t, 3 * np.sin(2 * np.pi * 25 * t))
    assert f[np.argmax(density)] == pytest.approx(25, abs=1)
    assert density.sum() * f[1] == pytest.approx(4.5, rel=0.01)
    assert f[-1] == pytest.approx(100)
    assert f[1] == pytest.approx(200 / 256)  # segments of 256 samples, or a sixteenth
    assert statistics._spectrum(np.arange(8000) / 200, np.zeros(8000))[0][1] == pytest.approx(0.4)
    assert len(statistics._spectrum(t[:15], t[:15])[0]) == 0
    assert len(statistics._spectrum(t[:16], t[:16])[0]) == 9


def test_residuals_of_known_values():
    piece = stretch(noise=0.5)
    keep = piece.keep.copy()
    keep[100:300, 1] = False
    piece = replace(piece, keep=keep)
    terms = Terms(TWO, friction=(), armature=False)
    values = minimal_parameters(TWO).values
    noise = piece.tau - exact_torque(TWO, piece.q, piece.qd, piece.qdd)
    left = statistics.residuals(terms, [piece], HOW, values)
    for j in range(2):
        own = noise[keep[:, j], j]
        np.testing.assert_allclose(left.measured[j] - left.predicted[j], own, atol=1e-9)
        np.testing.assert_array_equal(left.t[j], piece.t[keep[:, j]])
        assert left.rms[j] == pytest.approx(np.sqrt((own**2).mean()))
        assert left.spread[j] == pytest.approx(piece.tau[keep[:, j], j].std())
        assert left.white[j] > 0.8
    assert len(left.t[0]) == 1000 and len(left.t[1]) == 800
    coarse = replace(HOW, decimate=5)
    left = statistics.residuals(terms, [piece], coarse, values)
    assert len(left.t[0]) == 200
    assert left.rms[0] == pytest.approx(0.5 * np.sqrt(0.8 / 5), rel=0.2)  # a fifth of the band
    held = replace(piece, wrench=RNG.normal(size=(1000, 6)))
    tau = dynarm.compile(TWO).inverse_dynamics(held.q, held.qd, held.qdd, held.wrench)
    for how in (HOW, coarse):
        left = statistics.residuals(terms, [replace(held, tau=tau)], how, values)
        assert (left.rms < 1e-9 * left.spread).all()


def test_long_logs_are_looked_at_in_their_middle(monkeypatch):
    monkeypatch.setattr(flow, "ENOUGH", 500)
    pieces = [stretch(1000), stretch(250, seed=1)]
    some = statistics._excerpt(pieces)
    assert [len(p) for p in some] == [400, 100]
    assert some[0].t[0] == pieces[0].t[300] and some[1].t[0] == pieces[1].t[75]
    assert [len(p) for p in statistics._excerpt([stretch(2000), stretch(100)])] == [476, 64]
    assert len(statistics._excerpt([stretch(500)])[0]) == 500
    monkeypatch.setattr(statistics, "_SHOWN", 100)
    assert len(statistics._thin(np.arange(350))) == 117
    np.testing.assert_array_equal(statistics._thin(np.arange(199)), np.arange(199))
    assert statistics._lasting(np.r_[0.0, 0.1, 0.2, 9.0, 9.1]) == pytest.approx(0.5)
    assert statistics._lasting(np.array([0.3])) == 0.0


# ---- robust fits


def test_deviation_by_the_median():
    piece = stretch(noise=0.5)
    tau = piece.tau.copy()
    tau[::10] += 300.0
    terms = Terms(TWO, friction=(), armature=False)
    loud = RowSource(terms, [replace(piece, tau=tau)], HOW)
    sigma = irls._middle_deviation([loud], minimal_parameters(TWO).values)
    np.testing.assert_allclose(sigma, [0.57, 0.57], rtol=0.15)
    sigma = irls._middle_deviation([RowSource(terms, [piece], HOW)], minimal_parameters(TWO).values)
    np.testing.assert_allclose(sigma, [0.5, 0.5], rtol=0.08)


def test_the_robust_fit_meets_hubers_condition():
    """Where it stands still, columns are orthogonal to residuals clipped at 1.345 standard deviations."""
    swing = pendulum()
    piece = stretch(arm=swing, noise=0.5)
    tau = piece.tau.copy()
    tau[::9] += 20.0
    piece = replace(piece, tau=tau)
    terms = Terms(swing, friction=("viscous",), armature=False)
    source = RowSource(terms, [piece], HOW)
    found = irls.solve(Problem(fold(terms, [piece], HOW), sources=(source,)), 60)
    assert found.status == "solved" and 1 < found.iterations < 60
    X = terms.evaluate(piece.q, piece.qd, piece.qdd)[:, 0]
    left = piece.tau[:, 0] - X @ found.values
    limit = 1.345 * 1.4826 * np.median(np.abs(left))
    clipped = np.clip(left, -limit, limit)
    cosine = X.T @ clipped / np.linalg.norm(X, axis=0) / np.linalg.norm(clipped)
    assert np.abs(cosine).max() < 2e-3
    weights = np.minimum(1, limit / np.abs(left))
    assert found.data.squares(found.values).sum() == pytest.approx(
        (weights * left**2).sum(), rel=0.01
    )
    plain = X.T @ left / np.linalg.norm(X, axis=0) / np.linalg.norm(left)
    assert np.abs(plain).max() > 0.02


# ---- spikes


def test_spikes_stand_off_their_size_and_their_neighbours():
    t = np.arange(1000)
    column = np.sin(t / 50.0)
    assert outliers.spikes(column) == []
    for size, told in ((9.0, []), (12.0, [400])):
        spoiled = column.copy()
        spoiled[400] += size
        assert outliers.spikes(spoiled) == told
    first, last = column.copy(), column.copy()
    first[0], last[-1] = 30.0, -30.0
    assert outliers.spikes(first) == [0] and outliers.spikes(last) == [999]
    step = np.where(t < 995, np.sin(t / 50.0), 40.0)  # lasts, but is no motion of ten samples
    assert outliers.spikes(step) == [995, 996, 997, 998, 999]
    held = np.sin(t / 50.0).repeat(30)
    held[9000:9025] = 40.0  # a motion that lasts longer than the neighbours looked at
    told = outliers.spikes(held)
    assert 9012 not in told
    rest = np.zeros(1000)
    rest[5] = 1.0
    assert outliers.spikes(rest) == []


@pytest.mark.parametrize("wide, off", [(10, True), (11, False)])
def test_ten_neighbours_on_either_side_are_looked_at(wide, off):
    """Eleven samples high: half of the twenty neighbours of the first are, so that the median lies between."""
    column = np.r_[np.zeros(20), np.full(wide, 40.0), np.zeros(20)]
    assert outliers._stands_off(column, 20, 30.0) is off
    assert outliers._stands_off(column, 19 + wide, 30.0) is off


def test_spoiled_rows_are_left_out_and_named():
    log = noisy_log(TWO, 0.1, duration=4.0)
    assert outliers.without_outliers(log) is log
    tau = log.tau.copy()
    tau[100, 1], tau[200, 0], tau[200, 1] = 1e5, -1e6, 2e5
    clean = outliers.without_outliers(replace(log, tau=tau, notes=("read",)))
    assert len(clean) == len(log) - 2
    assert log.t[100] not in clean.t and log.t[200] not in clean.t
    (told,) = outliers.left_out(clean)
    assert told.startswith("left out: 2 samples whose tau cannot be (row 201, column 1: -1e+06")
    assert clean.notes[0] == "read"


# ---- bodies with negative energy


def test_negative_energy_is_told_with_its_size():
    """A pendulum with an inertia of -2 kg m2 at a usual speed v: the energy is -v^2."""
    swing = pendulum()
    piece = stretch(arm=swing)
    terms = Terms(swing, friction=(), armature=False)
    values = minimal_parameters(swing).values.copy()
    sure = 1e-8 * np.eye(len(values))
    assert soundness.negative_energy(terms, [piece], values, sure) == ()
    k = terms.names.index("U1_33")
    values[k] = -2.0
    usual = np.sqrt((piece.qd**2).mean())
    (told,) = soundness.negative_energy(terms, [piece], values, sure)
    assert f"kinetic energy {-(usual**2):.3g} J" in told
    assert "mostly of joint pivot" in told
    # 5 standard deviations, less 3 % of the energy: 2 - 0.06 = 5 std
    for std, count in ((0.38, 1), (0.395, 0)):
        doubt = sure.copy()
        doubt[k, k] = std**2
        assert len(soundness.negative_energy(terms, [piece], values, doubt)) == count
    still = replace(piece, qd=0 * piece.qd)
    assert "kinetic energy -1 J" in soundness.negative_energy(terms, [still], values, sure)[0]


def test_small_negative_energies_are_not_told():
    """One of two joints: it must exceed 3 % of both."""
    terms = Terms(TWO, friction=(), armature=True)
    piece = stretch()
    usual = np.sqrt((piece.qd**2).mean(axis=0))
    sure = 1e-12 * np.eye(terms.size)
    values = np.zeros(terms.size)
    big, small = terms.names.index("U1_33+Ia1"), terms.names.index("Ia2")
    assert terms.names[small] == "Ia2"
    for part, count in ((0.02, 0), (0.05, 1)):
        values[big] = 10.0
        values[small] = -part * 10.0 * usual[0] ** 2 / usual[1] ** 2
        told = soundness.negative_energy(terms, [piece], values, sure)
        assert len(told) == count
    assert f"mostly of joint {TWO.joint_names[1]}" in told[0]


# ---- logs without digits


def rows(t, q=None, tau=None, qd=None):
    x = np.sin(np.linspace(0, 6, len(t)))[:, None]
    return Log(t, x if q is None else q, x if tau is None else tau, qd)


@pytest.mark.parametrize(
    "log, words",
    [
        (rows(np.arange(20) * 0.9e-7), "usual time step is 9e-08"),
        (rows(np.arange(20) * 1.1e5), "usual time step is 1.1e+05"),
        (rows(1e12 + np.arange(20) * 0.01), "times reach 1e\\+12"),
        (rows(np.arange(20) * 0.01, np.linspace(9e11, 1e12, 20)), "positions of joint 1 reach"),
        (rows(np.arange(20) * 0.01, tau=np.linspace(0, 2e100, 20)), "tau reaches 2e\\+100"),
        (rows(np.arange(20) * 0.01, qd=np.linspace(0, -2e100, 20)), "qd reaches 2e\\+100"),
    ],
)
def test_numbers_that_float64_cannot_tell_apart(log, words):
    with pytest.raises(dynarm.DynarmError, match=words.replace("e+0", "e\\+0")):
        soundness.check_digits(log)


@pytest.mark.parametrize(
    "log",
    [
        rows(np.arange(20) * 1.1e-7),
        rows(np.arange(20) * 0.9e5),
        rows(1e11 + np.arange(20) * 0.01),
        rows(np.arange(20) * 0.01, np.linspace(4e11, 5e11, 20)),
        rows(np.arange(20) * 0.01, tau=np.linspace(0, 0.9e100, 20)),
    ],
)
def test_numbers_with_digits_enough(log):
    soundness.check_digits(log)


def test_stretches_must_hold_the_cutoff():
    t = np.arange(100) * 0.01
    log = rows(t)
    soundness.check_stretches([log], Preparation(cutoff=0.51))
    with pytest.raises(dynarm.DynarmError, match=r"cutoff is 0\.5 Hz, below half a cycle"):
        soundness.check_stretches([log], Preparation(cutoff=0.5))
    gaps = rows(np.arange(30) * 0.01 + np.arange(30) // 6 * 5.0)
    with pytest.raises(dynarm.DynarmError, match="longest log has 30 samples"):
        soundness.check_stretches([rows(t[:5]), gaps], Preparation())


@pytest.mark.parametrize("lengths", [(1000,), (5, 7, 3), (100, 333, 78), (41, 1)])
def test_states_for_the_energy_stand_evenly_in_all_stretches(lengths):
    from dynarm.identify.judgement.soundness import _STATES, _some

    whole = np.arange(2 * sum(lengths), dtype=float).reshape(-1, 2)
    parts = np.split(whole, np.cumsum(lengths)[:-1])
    np.testing.assert_array_equal(_some(parts), whole[:: max(1, len(whole) // _STATES)])
