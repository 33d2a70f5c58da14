"""What a log determines, what is believed before it, and what is chosen by it, on problems with known answers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import dynarm
from dynarm import Friction, Log, Preparation, minimal_parameters
from dynarm.identify import preprocess, tuning
from dynarm.identify.estimators import least_squares as estimators
from dynarm.identify.estimators import prior
from dynarm.identify.estimators.factors import Factors, RowSource, fold
from dynarm.identify.estimators.methods import iv, wls
from dynarm.identify.estimators.problem import Problem
from dynarm.identify.judgement import identifiability
from dynarm.identify.preprocess import Recording, Stretch
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
        solution = estimators.weighted(Problem(folded), np.array([weight]))
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
    solution = estimators.weighted(Problem(folded), np.ones(1))
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
    leaning = replace(told, leaning=("a", "b")).summary().splitlines()[1]
    assert leaning == f"{lines[1]}, on which the values of a, b rest"
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
    plain = wls.solve(Problem(folded))
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
        return iv._motion_band([RowSource(None, [piece], Preparation(cutoff=30.0))])

    assert edge((1.0, 1.0), (3.0, 0.5)) == pytest.approx(3.0, abs=0.11)
    assert edge((1.0, 1.0), (5.0, 0.004)) == pytest.approx(1.0, abs=0.11)
    assert edge((1.0, 1.0), (5.0, 0.01)) == pytest.approx(5.0, abs=0.11)
    assert edge((1.0, 0.0), noise=0.0) == 30.0


def test_a_simulated_motion_is_the_motion_without_its_noise():
    t = np.arange(4000) / 200
    w = 2 * np.pi
    clean = np.sin(w * t)[:, None]
    rough = clean + np.random.default_rng(0).normal(0, 1e-3, clean.shape)
    piece = Stretch(t, rough, rough, rough, rough, None, np.ones(rough.shape, bool), 200.0)
    model = iv.simulated(piece, 4.0)
    inner = slice(400, -400)
    np.testing.assert_allclose(model.q[inner], clean[inner], atol=1.5e-3)
    np.testing.assert_allclose(model.qd[inner, 0], w * np.cos(w * t[inner]), atol=2e-2)
    np.testing.assert_allclose(model.qdd[inner, 0], -(w**2) * np.sin(w * t[inner]), atol=0.6)
    assert iv.simulated(piece, 80.0) is piece
    assert iv.simulated(piece, 79.0) is not piece


def test_instruments_that_are_the_columns_give_least_squares():
    """Z = X: with states taken as they are, values, weights and covariance are those of wls."""
    terms = Terms(TWO, friction=("viscous",), armature=False)
    piece = stretch(noise=0.5)
    how = Preparation(cutoff=np.inf, velocity="recorded", decimate=1)
    folded = fold(terms, [piece], how)
    plain = wls.solve(Problem(folded))
    found = iv.solve(Problem(folded, 3.0, sources=(RowSource(terms, [piece], how),)))
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


@pytest.mark.parametrize(
    "width", [0.001, 0.005, 0.01, 0.015, 0.02, 0.03, 0.04, 0.05, 0.06, 0.08, 0.1, 0.12, 0.15, 0.2, 0.3]
)  # fmt: skip
def test_every_usual_width_is_found(width):
    swing = pendulum(friction=Friction(viscous=0.5, coulomb=5.0, shape="tanh", width=width))
    rng = np.random.default_rng(0)
    q, qdd = rng.normal(size=(2, 400, 1))
    qd = np.linspace(-1, 1, 400)[:, None] ** 3
    tau = exact_torque(swing, q, qd, qdd)
    piece = Stretch(np.arange(400) / 100, q, qd, qdd, tau, None, np.ones(q.shape, bool), 100.0)
    widths, errors = tuning.choose_widths(Terms(swing, shape="tanh"), [piece], HOW)
    assert widths == (width,)
    assert errors.min() < 1e-9 * np.linalg.norm(tau)


def test_long_logs_are_tried_in_their_middle(monkeypatch):
    monkeypatch.setattr(preprocess, "LONG", 300)
    log = noisy_log(TWO, 0.1, duration=5.0)
    some = preprocess.middle(log)
    assert len(some) == 300 and some.t[0] == log.t[350]
    assert preprocess.middle(some) is some


def test_preparations_are_tried_in_turn():
    log = noisy_log(TWO, 0.3, jitter=3e-4, duration=8.0)
    terms = Terms(TWO, friction=(), armature=False)
    how, trials = tuning.choose_preparation(Recording([log]), terms, Preparation())
    assert [t.cutoff for t in trials] == list(tuning.CUTOFFS[: len(trials)])
    assert all(t.velocity == "differentiate" for t in trials)
    best = min(trials, key=lambda t: t.error)
    assert (how.cutoff, how.velocity) == (best.cutoff, "differentiate")
    # three in a row that are 5 % worse than the best end the search
    tail = [t.error > 1.05 * best.error for t in trials[-3:]]
    assert all(tail) and len(trials) < len([c for c in tuning.CUTOFFS if c < 80])
    given, none = tuning.choose_preparation(Recording([log]), terms, Preparation(cutoff=7.0))
    assert (given.cutoff, given.velocity, none) == (7.0, "differentiate", ())
    slow = Log(log.t[::50], log.q[::50], log.tau[::50])  # 4 Hz: none of the cut-offs fits
    assert tuning.choose_preparation(Recording([slow]), terms, Preparation())[
        0
    ].cutoff == pytest.approx(0.8)


def recorded(noise, size=3000):
    piece = stretch(size, noise=noise)
    return Log(piece.t, piece.q, piece.tau, piece.qd, piece.qdd)


def test_a_trials_error_is_the_noise_over_the_torques_deviation():
    terms = Terms(TWO, friction=(), armature=False)
    how = Preparation(cutoff=np.inf, velocity="recorded")
    log = recorded(0.5)
    expected = (0.5 / log.tau.std(axis=0)).mean()
    assert tuning._trial(Recording([log]), terms, how, 0.0) == pytest.approx(expected, rel=0.05)
    assert tuning._trial(Recording([log] * 3), terms, how, 0.0) == pytest.approx(expected, rel=0.05)
    small = replace(log, tau=1e-4 * log.tau)  # the unit of torque does not matter
    once = tuning._trial(Recording([log]), terms, how, 0.0)
    assert tuning._trial(Recording([small]), terms, how, 0.0) == pytest.approx(once)
    ruled = tuning._trial(Recording([log]), terms, how, 5.0)  # pulled to zero: nothing is explained
    assert ruled > 2 * expected
    short = [log.rows(slice(k, k + 40)) for k in range(0, 2960, 40)]
    assert tuning._trial(Recording(short), terms, how, 0.0) == pytest.approx(expected, rel=0.15)


def test_recorded_states_are_taken_as_they_are_where_they_explain_all():
    terms = Terms(TWO, friction=(), armature=False)
    how, trials = tuning.choose_preparation(Recording([recorded(0.0)]), terms, Preparation())
    assert (how.cutoff, how.velocity) == (np.inf, "recorded")
    assert len(trials) == 1 and trials[0].error < 1e-6
    _, trials = tuning.choose_preparation(Recording([recorded(0.5)]), terms, Preparation())
    assert trials[0].cutoff == np.inf and len(trials) > 6
    assert {t.velocity for t in trials} == {"recorded", "differentiate"}
    how, trials = tuning.choose_preparation(
        Recording([recorded(0.0)]), terms, Preparation(cutoff=9.0)
    )
    assert how.cutoff == 9.0 and [t.cutoff for t in trials] == [9.0, 9.0]
    how, trials = tuning.choose_preparation(
        Recording([recorded(0.5)]), terms, Preparation(velocity="differentiate")
    )
    assert {t.velocity for t in trials[1:]} == {"differentiate"}
