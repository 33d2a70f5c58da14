"""What is read off a log and its residuals, each on signals whose answer is known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import dynarm
from dynarm import Friction, Identifier, Log, Preparation, minimal_parameters
from dynarm.identify import (
    estimators,
    identifiability,
    instruments,
    outliers,
    prior,
    quality,
    robust,
    soundness,
    statistics,
    tuning,
)
from dynarm.identify.factors import Factors, fold
from dynarm.identify.preprocess import Stretch, smooth
from dynarm.identify.quality import inspect, unit_doubts
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


def test_inflation_looks_at_the_lowest_frequencies():
    n = 400
    t = np.arange(n) / n

    def lines(**power):
        return sum(np.sqrt(p) * np.cos(2 * np.pi * int(k[1:]) * t) for k, p in power.items())

    x = lines(_3=1.0, _15=2.0, _100=3.0)  # 6 of power in 200 lines
    assert statistics.inflation(x) == pytest.approx((3 / 20) / (6 / 200))  # 20 lines: sqrt n
    assert statistics.inflation(x, 15) == pytest.approx((3 / 15) / (6 / 200))
    assert statistics.inflation(x, 14) == pytest.approx((1 / 14) / (6 / 200))
    assert statistics.inflation(x, 2) == pytest.approx((1 / 8) / (6 / 200))  # at least 8
    assert statistics.inflation(x + 5.0) == pytest.approx(statistics.inflation(x))
    assert statistics.inflation(lines(_100=1.0)) == 0.1
    assert statistics.inflation(np.zeros(50)) == 1.0
    assert statistics.inflation(np.ones(15)) == 1.0
    assert statistics.inflation(RNG.normal(size=15)) == 1.0
    assert statistics.inflation(np.r_[np.cos(np.pi * np.arange(16)), 1.0]) != 1.0


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
    monkeypatch.setattr(statistics, "_ENOUGH", 500)
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
    sigma = robust._middle_deviation(
        terms, [replace(piece, tau=tau)], HOW, minimal_parameters(TWO).values
    )
    np.testing.assert_allclose(sigma, [0.57, 0.57], rtol=0.15)
    sigma = robust._middle_deviation(terms, [piece], HOW, minimal_parameters(TWO).values)
    np.testing.assert_allclose(sigma, [0.5, 0.5], rtol=0.08)


def test_the_robust_fit_meets_hubers_condition():
    """Where it stands still, columns are orthogonal to residuals clipped at 1.345 standard deviations."""
    swing = pendulum()
    piece = stretch(arm=swing, noise=0.5)
    tau = piece.tau.copy()
    tau[::9] += 20.0
    piece = replace(piece, tau=tau)
    terms = Terms(swing, friction=("viscous",), armature=False)
    pull = estimators.Pull(np.zeros(terms.size), np.ones(terms.size))
    folded, found = robust.robust(terms, fold(terms, [piece], HOW), [piece], HOW, 0.0, pull, 60)
    X = terms.evaluate(piece.q, piece.qd, piece.qdd)[:, 0]
    left = piece.tau[:, 0] - X @ found.values
    limit = 1.345 * 1.4826 * np.median(np.abs(left))
    clipped = np.clip(left, -limit, limit)
    cosine = X.T @ clipped / np.linalg.norm(X, axis=0) / np.linalg.norm(clipped)
    assert np.abs(cosine).max() < 2e-3
    weights = np.minimum(1, limit / np.abs(left))
    assert folded.squares(found.values).sum() == pytest.approx((weights * left**2).sum(), rel=0.01)
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
    with pytest.raises(dynarm.DynarmError, match="cutoff is 0.5 Hz, below half a cycle"):
        soundness.check_stretches([log], Preparation(cutoff=0.5))
    gaps = rows(np.arange(30) * 0.01 + np.arange(30) // 6 * 5.0)
    with pytest.raises(dynarm.DynarmError, match="longest log has 30 samples"):
        soundness.check_stretches([rows(t[:5]), gaps], Preparation())


# ---- what a log determines


def test_doubt_is_noise_over_what_an_unknown_moves():
    """Orthogonal columns: an unknown of worth w is known to noise / w, in units of its worth."""
    swing = pendulum()
    terms = Terms(swing, friction=(), armature=False)
    p = terms.size
    X = np.linalg.qr(np.random.default_rng(0).normal(size=(60, p)))[0]
    y = X @ np.full(p, 5.0)
    folded = Factors((np.arange(p),), p, [[np.column_stack([X, y])]], np.array([[60]]))
    for weight, grade in ((1.5, "determined"), (0.5, "hardly"), (0.15, "not")):
        solution = estimators.solve(folded, np.array([weight]))
        told = identifiability.assess(
            terms, folded, solution, np.array([4.0]), [stretch(arm=swing)]
        )
        # |y| = 5 sqrt p, shared among p: a worth of 5 weights; noise 2
        np.testing.assert_allclose(told.doubts, 2 / (5 * weight), rtol=1e-9)
        assert told.grades == (grade,) * p
        assert told.rank == p and told.condition == pytest.approx(1)
        assert len(told.directions) == (0 if grade == "determined" else p)
        assert told.worst == pytest.approx(0 if grade == "determined" else 2 / (5 * weight))
        assert told.undetermined == (terms.names if grade == "not" else ())
        assert told.doubtful == (terms.names if grade == "hardly" else ())
        assert bool(told.advice) is (grade != "determined")


def test_a_direction_that_moves_nothing_has_endless_doubt():
    swing = pendulum()
    terms = Terms(swing, friction=(), armature=False)
    X = np.linalg.qr(np.random.default_rng(0).normal(size=(60, 3)))[0] * 100
    X[:, 2] = X[:, 1]
    folded = Factors(
        (np.arange(3),), 3, [[np.column_stack([X, X @ [1.0, 2, 3]])]], np.array([[60]])
    )
    solution = estimators.solve(folded, np.ones(1))
    told = identifiability.assess(terms, folded, solution, np.ones(1), [stretch(arm=swing)])
    assert told.rank == 2 and told.worst == np.inf
    assert told.grades == ("determined", "not", "not")
    np.testing.assert_allclose(told.doubts[1:], 1e6 / np.sqrt(2), rtol=1e-6)
    assert told.directions[0][1] in (
        f"+0.71 {terms.names[1]} -0.71 {terms.names[2]}",
        f"+0.71 {terms.names[2]} -0.71 {terms.names[1]}",
    )
    assert len(told.directions) == 1


def test_contents_of_directions():
    names = list("abcdefgh")
    assert identifiability._content(np.array([0.1, -1.0, 0.21, 0.19]), names) == "+1.00 b -0.21 c"
    assert identifiability._content(np.array([0.5, 0.1]), names) == "+0.50 a"
    many = identifiability._content(np.linspace(1, 0.5, 7), names)
    assert many.endswith("f ...") and "g" not in many
    assert not identifiability._content(np.linspace(1, 0.5, 6), names).endswith("...")


def test_frequencies_of_a_motion():
    t = np.arange(2000) / 100
    speed = 3 * np.sin(2 * np.pi * 2.0 * t) + 2 * np.sin(2 * np.pi * 5.0 * t)
    assert identifiability._frequencies(speed, 100.0) == pytest.approx([2.0, 5.0])
    assert identifiability._frequencies(speed + 7.0, 100.0) == pytest.approx([2.0, 5.0])
    little = 3 * np.sin(2 * np.pi * 2.0 * t) + 0.9 * np.sin(2 * np.pi * 5.0 * t)
    assert identifiability._frequencies(little, 100.0) == pytest.approx([2.0])
    assert identifiability._frequencies(np.ones(100), 100.0) == []
    assert len(identifiability._frequencies(RNG.normal(size=2000), 100.0)) == 12


def advice(amplitude=1.0, lines=1):
    t = np.arange(2000) / 100
    q = sum(amplitude / lines * np.sin(2 * np.pi * f * t) for f in (0.5, 1.1, 1.7, 2.3)[:lines])
    q = np.column_stack([q, q])
    qd = np.gradient(q, t, axis=0)
    piece = Stretch(t, q, qd, 0 * q, q, None, np.ones(q.shape, bool), 100.0)
    terms = Terms(TWO)
    return terms, lambda names: identifiability._advice(
        terms, [piece], [terms.names.index(n) for n in names]
    )


def test_advice_names_joints_lines_and_ranges():
    one, two = TWO.joint_names
    _, told = advice()
    assert told([]) == ()
    first, lines = told(["viscous1", "U2_33+Ia2" if "U2_33+Ia2" in Terms(TWO).names else "Ia2"])
    assert first == f"doubtful unknowns belong to joint {one}, {two}"
    assert f"({one} at 0.5 Hz; {two} at 0.5 Hz)" in lines
    assert told(["viscous2"])[0] == f"doubtful unknowns belong to joint {two}"
    _, narrow = advice(0.24)
    assert narrow(["viscous1"])[2] == f"joint {one} moves through 28 degrees only: widen its range"
    assert len(advice(0.26)[1](["viscous1"])) == 2
    assert "one or two frequencies" in advice(1.0, 2)[1](["viscous1"])[1]
    assert advice(1.0, 4)[1](["viscous1"])[1].startswith("move these joints")


def test_the_summary_counts():
    told = identifiability.Identifiability(
        tuple("abcd"), 3, 12.345, np.zeros(4), ("determined", "hardly", "not", "fixed"),
        tuple((float(k), "x") for k in range(10, 0, -1)), ("advice",),
    )  # fmt: skip
    lines = told.summary().splitlines()
    assert lines[0] == "4 unknowns: 1 determined, 1 hardly, 1 not; rank 3, condition number 12.3"
    assert lines[1] == "no motion tells d from the others: taken as 0"
    assert lines[2:4] == ["not determined: c", "hardly determined: b"]
    assert sum("free combination" in line for line in lines) == 8
    assert lines[-2:] == ["  and 2 more", "advice"]
    assert "more" not in replace(told, directions=told.directions[:8]).summary()


# ---- priors


def test_beliefs_about_links():
    """Half of each number, and a tenth of the mass times the link's length (squared)."""
    arm = replace(
        TWO,
        joints=tuple(replace(j, armature=a) for j, a in zip(TWO.joints, (0.0, 0.4), strict=True)),
    )
    table, doubt = (x.reshape(2, 11) for x in prior._natural(arm, True))
    np.testing.assert_allclose(table[:, :10], arm.parameters)
    np.testing.assert_allclose(table[:, 10], [0.0, 0.4])
    L = arm.size
    mass = arm.parameters[:, 0]
    np.testing.assert_allclose(doubt[:, 0], 0.5 * mass)
    expected = 0.5 * np.abs(arm.parameters[:, 1:4]) + 0.1 * L * mass[:, None]
    np.testing.assert_allclose(doubt[:, 1:4], expected)
    expected = 0.5 * np.abs(arm.parameters[:, 4:]) + 0.1 * L**2 * mass[:, None]
    np.testing.assert_allclose(doubt[:, 4:10], expected)
    assert doubt[0, 10] == np.inf and doubt[1, 10] == pytest.approx(0.2)
    puma = dynarm.load("puma560")
    _, told = prior._natural(puma, False)
    first = told.reshape(6, 10)[2]
    own = puma.parameters[2]
    assert first[1] == pytest.approx(0.5 * abs(own[1]) + 0.1 * own[0] * puma.size / 5)


def test_pulls_are_the_stronger_of_worth_and_belief():
    terms = Terms(TWO, friction=("viscous",), armature=False)
    piece = stretch(noise=0.5)
    folded = fold(terms, [piece], HOW)
    plain = estimators.wls(folded)
    worth = 1 / estimators.worths(folded, plain.weights)
    pull = prior.pull_of(terms, folded, plain, None)
    p = terms.rigid_size
    np.testing.assert_allclose(pull.values, np.r_[minimal_parameters(TWO).values, 0, 0])
    np.testing.assert_allclose(pull.strength[p:], worth[p:])
    doubt = prior._natural(TWO, False)[1]
    own = 1 / (np.sqrt((terms.rigid.matrix**2) @ doubt**2) * plain.scales[:p])
    np.testing.assert_allclose(pull.strength[:p], np.maximum(own, worth[:p]))
    assert (own > worth[:p]).any() and not np.allclose(own, worth[:p])
    alike = TWO.with_parameters(np.tile(TWO.parameters[0], (2, 1)))
    assert prior.placeholders(alike) and not prior.placeholders(TWO)
    other = Terms(alike, friction=("viscous",), armature=False)
    blank = prior.pull_of(other, folded, plain, None)
    np.testing.assert_array_equal(blank.values, 0)
    np.testing.assert_allclose(blank.strength, worth)
    given = prior.pull_of(other, folded, plain, TWO)
    np.testing.assert_allclose(given.values, pull.values)
    np.testing.assert_allclose(
        prior.pull_of(other, folded, plain, alike).values[:p], minimal_parameters(alike).values
    )


# ---- instruments


def test_where_a_motion_ends():
    """Sines at 1 and 3 Hz with a little noise: 3 Hz; a weak line of 0.1 % of the velocity's power is left out."""
    t = np.arange(4000) / 200
    rng = np.random.default_rng(0)

    def edge(*lines, noise=1e-4):
        q = sum(a * np.sin(2 * np.pi * f * t) for f, a in lines)[:, None]
        q = q + rng.normal(0, noise, q.shape)
        piece = Stretch(t, q, q, q, q, None, np.ones(q.shape, bool), 200.0)
        return instruments._motion_band([piece], Preparation(cutoff=30.0))

    assert edge((1.0, 1.0), (3.0, 0.5)) == pytest.approx(3.0, abs=0.11)
    assert edge((1.0, 1.0), (5.0, 0.002)) == pytest.approx(1.0, abs=0.11)
    assert edge((1.0, 1.0), (5.0, 0.03)) == pytest.approx(5.0, abs=0.11)
    assert edge((1.0, 0.0), noise=0.0) == 30.0


def test_a_simulated_motion_is_the_motion_without_its_noise():
    t = np.arange(4000) / 200
    w = 2 * np.pi
    clean = np.sin(w * t)[:, None]
    rough = clean + np.random.default_rng(0).normal(0, 1e-3, clean.shape)
    piece = Stretch(t, rough, rough, rough, rough, None, np.ones(rough.shape, bool), 200.0)
    model = instruments.simulated(piece, 4.0)
    inner = slice(400, -400)
    np.testing.assert_allclose(model.q[inner], clean[inner], atol=1.5e-3)
    np.testing.assert_allclose(model.qd[inner, 0], w * np.cos(w * t[inner]), atol=2e-2)
    np.testing.assert_allclose(model.qdd[inner, 0], -(w**2) * np.sin(w * t[inner]), atol=0.6)
    assert instruments.simulated(piece, 80.0) is piece
    assert instruments.simulated(piece, 79.0) is not piece


def test_instruments_that_are_the_columns_give_least_squares():
    """Z = X: with states taken as they are, values, weights and covariance are those of wls."""
    terms = Terms(TWO, friction=("viscous",), armature=False)
    piece = stretch(noise=0.5)
    how = Preparation(cutoff=np.inf, velocity="recorded", decimate=1)
    folded = fold(terms, [piece], how)
    plain = estimators.wls(folded)
    found = instruments.instrumented(
        terms, folded, [piece], how, replace(plain, weights=np.ones(2))
    )
    np.testing.assert_allclose(found.values, plain.values, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(found.weights, plain.weights, rtol=1e-5)
    np.testing.assert_allclose(found.covariance, plain.covariance, rtol=1e-4, atol=1e-12)
    assert found.ridge == 0


# ---- choices


def test_lags_of_torques():
    """Of a parabola's three lowest points; none at the edge."""
    shifts = np.array(tuning._SHIFTS)
    for lag in (0.0, 0.004, -0.017):
        assert tuning._least((shifts - lag) ** 2 + 1) == pytest.approx(lag)
    assert np.isnan(tuning._least(shifts)) and np.isnan(tuning._least(-shifts))
    piece = stretch(300)
    moved = tuning._shifted(piece, 0.03)
    np.testing.assert_allclose(moved.tau[:-3], piece.tau[3:], atol=1e-9)
    assert moved.keep[:-3].all() and not moved.keep[-3:].any()
    moved = tuning._shifted(piece, -0.02)
    np.testing.assert_allclose(moved.tau[2:], piece.tau[:-2], atol=1e-9)
    assert moved.keep[2:].all() and not moved.keep[:2].any()
    assert piece.keep.all()


@pytest.mark.parametrize("lag", [-0.013, 0.0, 0.008])
def test_channel_delays_joint_by_joint(lag):
    piece = stretch(3000, noise=0.01)
    late = np.interp(piece.t - lag, piece.t, piece.tau[:, 1])
    piece = replace(piece, tau=np.column_stack([piece.tau[:, 0], late]))
    told = tuning.channel_delays(Terms(TWO, friction=(), armature=False), [piece], HOW)
    assert told == pytest.approx([0.0, lag], abs=1e-3)


def test_errors_of_every_width():
    """The residual of each joint fitted alone, with the others' columns and its own smoothed sign."""
    friction = [Friction(viscous=0.5, coulomb=5.0, shape="tanh", width=w) for w in (0.05, 0.15)]
    arm = replace(
        TWO, joints=tuple(replace(j, friction=f) for j, f in zip(TWO.joints, friction, strict=True))
    )
    piece = stretch(arm=arm, noise=0.01)
    terms = Terms(TWO, shape="tanh", armature=False)
    widths, errors = tuning.choose_widths(terms, [piece], HOW)
    assert widths == (0.05, 0.15)
    assert errors.shape == (2, len(tuning.WIDTHS))
    k = tuning.WIDTHS.index(0.1)
    X = Terms(TWO, ("viscous", "coulomb", "offset"), "tanh", (0.1, 0.1), False)
    rows = X.evaluate(piece.q, piece.qd, piece.qdd)
    for j in range(2):
        A = rows[:, j, X.support[j]]
        _, left, *_ = np.linalg.lstsq(A, piece.tau[:, j], rcond=None)
        assert errors[j, k] == pytest.approx(np.sqrt(left[0]), rel=1e-6)


def test_long_logs_are_tried_in_their_middle(monkeypatch):
    monkeypatch.setattr(tuning, "_LONG", 300)
    log = noisy_log(TWO, 0.1, duration=5.0)
    some = tuning.middle(log)
    assert len(some) == 300 and some.t[0] == log.t[350]
    assert tuning.middle(some) is some


def test_preparations_are_tried_in_turn():
    log = noisy_log(TWO, 0.3, jitter=3e-4, duration=8.0)
    terms = Terms(TWO, friction=(), armature=False)
    how, trials = tuning.choose_preparation([log], terms, Preparation())
    assert [t.cutoff for t in trials] == list(tuning.CUTOFFS[: len(trials)])
    assert all(t.velocity == "differentiate" for t in trials)
    best = min(trials, key=lambda t: t.error)
    assert (how.cutoff, how.velocity) == (best.cutoff, "differentiate")
    # three in a row that are 5 % worse than the best end the search
    tail = [t.error > 1.05 * best.error for t in trials[-3:]]
    assert all(tail) and len(trials) < len([c for c in tuning.CUTOFFS if c < 80])
    given, none = tuning.choose_preparation([log], terms, Preparation(cutoff=7.0))
    assert (given.cutoff, given.velocity, none) == (7.0, "differentiate", ())
    slow = Log(log.t[::50], log.q[::50], log.tau[::50])  # 4 Hz: none of the cut-offs fits
    assert tuning.choose_preparation([slow], terms, Preparation())[0].cutoff == pytest.approx(0.8)


# ---- defects of recordings

T = np.arange(2000) * 0.005
Q = np.column_stack([np.sin(2 * T), 0.5 * np.cos(3 * T)])
V = np.column_stack([2 * np.cos(2 * T), -1.5 * np.sin(3 * T)])


def told(t=T, q=Q, tau=Q, qd=V):
    return inspect(t, q, tau, qd)


def test_gaps_are_told_with_time_and_length():
    t = T + 3.0 + 0.021 * (np.arange(2000) >= 700) + 0.5 * (np.arange(2000) >= 900)
    found = told(t)
    assert found.gaps == (
        (pytest.approx(3.495), pytest.approx(0.026)), (pytest.approx(4.516), pytest.approx(0.505)),
    )  # fmt: skip
    assert found.notes[0] == "2 gaps in time, the longest 505 ms at 4.516 s"
    assert found.jitter == pytest.approx(0, abs=1e-9) and not found.uniform
    assert told(T + 0.019 * (np.arange(2000) >= 700)).gaps == ()


def test_jitter_decides_what_is_uniform():
    for size, even in ((0.9e-3, True), (1.1e-3, False)):
        t = T + np.where(np.arange(2000) % 2, 0.5, 0) * size * 0.005 * 1.0
        found = told(t)
        assert found.jitter == pytest.approx(size / 2, rel=1e-3)
        t = T + np.where(np.arange(2000) % 2, 1, 0) * size * 0.005
        found = told(t)
        assert found.uniform is even
        assert any("time steps vary" in note for note in found.notes) is not even


@pytest.mark.parametrize("velocity", [True, False])
def test_rests_are_told_from_a_fifth_on(velocity):
    for part, count in ((0.18, 0), (0.24, 1)):
        q, v = Q.copy(), V.copy()
        k = int(part * 2000)
        q[:k, 0], v[:k, 0] = q[k, 0], 0.0
        found = inspect(T, q, Q, v if velocity else None)
        assert found.resting[0] == pytest.approx(part, abs=0.015)
        assert sum("joint 1 rests in" in note for note in found.notes) == count


@pytest.mark.parametrize("run, count", [(4, 0), (5, 1)])
def test_saturation_is_held_for_five_samples(run, count):
    tau = Q.copy()
    tau[500 : 500 + run, 1] = -0.8
    tau[900 : 900 + run - 1, 1] = 0.8
    found = told(tau=tau)
    assert len(found.warnings) == count
    assert found.saturated[1] == pytest.approx(count * (2 * run - 1) / 2000)
    assert found.saturated[0] == 0
    assert told(tau=np.zeros_like(Q)).saturated.tolist() == [0, 0]
    assert told(tau=np.ones_like(Q)).saturated.tolist() == [0, 0]
    if count:
        assert "joint 2 stands at its extreme value in 0.4 % of" in found.warnings[0]


def test_only_five_jumps_are_told():
    q = Q.copy()
    for k in range(7):
        q[200 + 200 * k :, 0] += 3.0
    found = told(q=q, qd=None)
    assert len(found.resets) == 7 and len(found.warnings) == 5


def test_few_or_fine_steps_are_no_quantisation():
    step = 1e-3
    coarse = step * np.round(Q[:, 0] / step)
    assert quality._resolution(coarse) == pytest.approx(step)
    assert quality._resolution(step * np.floor(np.arange(300) / 15)) == 0  # 19 changes
    assert quality._resolution(step * np.floor(np.arange(315) / 15)) == pytest.approx(step)
    assert quality._resolution(Q[:, 0]) == 0
    assert quality._resolution(np.arange(1000.0)) == 0  # every sample another value


# ---- velocities that do not fit


@pytest.mark.parametrize(
    "factor, words",
    [(2.9, None), (3.1, "change 0.323 times"), (0.345, None), (0.32, "change 3.12 times")],
)
def test_velocities_may_be_off_by_a_factor_of_three(factor, words):
    doubts = unit_doubts(T, Q, V * [factor, 1.0], (True, True))
    assert len(doubts) == (words is not None)
    assert words is None or words in doubts[0]


def test_each_velocity_is_compared_with_every_position():
    swapped = unit_doubts(T, Q, V[:, ::-1], (True, True))
    assert swapped == [
        "the velocity of joint 1 fits the positions of joint 2 better: swapped columns?",
        "the velocity of joint 2 fits the positions of joint 1 better: swapped columns?",
    ]
    assert unit_doubts(T, Q, V * [-1, 1] + [5.0, 0], (True, True)) == [
        "the velocity of joint 1 has the opposite sign of its positions"
    ]
    noise = np.random.default_rng(0).normal(size=V.shape)
    assert unit_doubts(T, Q, noise, (True, True)) == []
    assert unit_doubts(T, Q, 0 * V, (True, True)) == []
    assert unit_doubts(T, Q * [0, 1], V, (True, True)) == []
    assert unit_doubts(T, Q + [6.5, 0], V, (True, True)) != []
    assert unit_doubts(T, Q + [5.9, 0], V, (True, True)) == []
    assert unit_doubts(T, Q + [6.5, 0], None, (True, True)) != []


def test_a_fit_keeps_what_was_left_out():
    log = noisy_log(TWO, 0.1)
    tau = log.tau.copy()
    tau[100, 1] = 1e5
    with pytest.warns(dynarm.DynarmWarning, match="left out: 1 samples"):
        fit = Identifier(TWO, cutoff=15.0).fit(replace(log, tau=tau, source="run"))
    assert "run: left out: 1 samples whose tau cannot be (row 101, column 2: 1e+05)" in fit.status_
    assert smooth(log, HOW).tau.shape == log.tau.shape
