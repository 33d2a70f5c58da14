"""Small problems whose answers are known: factors, estimators, statistics and choices on rows written down by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import dynarm
from dynarm import Preparation
from dynarm.identify import tuning
from dynarm.identify.estimators import factors
from dynarm.identify.estimators import least_squares as estimators
from dynarm.identify.estimators.factors import (
    Factors,
    block_edges,
    fold,
    stream,
    triangle,
)
from dynarm.identify.estimators.methods import ols, recursive, wls
from dynarm.identify.estimators.problem import Problem, Pull
from dynarm.identify.judgement import statistics
from dynarm.identify.preprocess import Stretch
from dynarm.identify.regressor import Terms
from oracles.simulated_log import exact_torque, multi_sine

TWO = dynarm.load("two_link")
SUPPORT = (np.arange(5), np.array([3, 4, 5]))
TRUTH = np.array([1.0, -2.0, 0.5, 3.0, -1.0, 2.0])


def parts(blocks=3, rows=30, seed=5, noise=(0.3, 0.05)):
    """X and y of every block and joint."""
    rng = np.random.default_rng(seed)
    told = []
    for _ in range(blocks):
        X = [rng.normal(size=(rows, len(s))) for s in SUPPORT]
        told.append(
            [
                (x, x @ TRUTH[s] + rng.normal(0, e, rows))
                for x, s, e in zip(X, SUPPORT, noise, strict=True)
            ]
        )
    return told


def factors_of(told, rows=None):
    R = [[np.column_stack(both) for both in block] for block in told]
    count = np.array([[len(y) for _, y in block] for block in told]) if rows is None else rows
    return Factors(SUPPORT, 6, R, count)


def stacked(told, weights=(1.0, 1.0)):
    X, y = [], []
    for block in told:
        for (x, z), s, w in zip(block, SUPPORT, weights, strict=True):
            wide = np.zeros((len(x), 6))
            wide[:, s] = x * w
            X.append(wide)
            y.append(z * w)
    return np.vstack(X), np.concatenate(y)


# ---- factors


def test_triangles_keep_products():
    X = np.random.default_rng(0).normal(size=(20, 4))
    R = triangle(np.array(X))
    assert R.shape == (4, 4)
    np.testing.assert_array_equal(R, np.triu(R))
    np.testing.assert_allclose(R.T @ R, X.T @ X, atol=1e-12)
    for few in (X[:4], X[:2]):
        np.testing.assert_array_equal(triangle(few), few)
    np.testing.assert_allclose(np.abs(triangle(X[:5].copy())), np.abs(np.linalg.qr(X[:5])[1]))


@pytest.mark.parametrize("blocks", [[0], [2, 0], [1, 1, 1], None])
def test_some_blocks_as_one(blocks):
    told = parts()
    one = factors_of(told).merged(blocks)
    chosen = [told[b] for b in (blocks if blocks is not None else range(3))]
    X, y = stacked(chosen)
    A, b = one.stacked(np.ones(2))
    np.testing.assert_allclose(A.T @ A, X.T @ X, atol=1e-9)
    np.testing.assert_allclose(A.T @ b, X.T @ y, atol=1e-9)
    assert b @ b == pytest.approx(y @ y)
    np.testing.assert_array_equal(one.rows, [[30 * len(chosen)] * 2])
    assert one.blocks == 1 and one.n == 2


def test_a_joint_without_rows_has_empty_factors():
    told = parts(1)
    empty = Factors(SUPPORT, 6, [[told_to_R(told[0][0]), np.zeros((0, 4))]], np.array([[30, 0]]))
    assert empty.joint(1).shape == (0, 4)
    X, y = empty.stacked(np.ones(2))
    assert len(X) == len(y) == 30


def told_to_R(both):
    return np.column_stack(both)


def test_squares_by_block_and_joint():
    told = parts()
    values = np.arange(6.0)
    expected = [
        [((y - x @ values[s]) ** 2).sum() for (x, y), s in zip(b, SUPPORT, strict=True)]
        for b in told
    ]
    np.testing.assert_allclose(factors_of(told).squares(values), expected)


def test_a_model_with_some_unknowns_in_another_order():
    told, columns = parts(), [5, 3, 0]
    few = factors_of(told).choose(columns)
    X, y = stacked(told)
    A, b = few.stacked(np.ones(2))
    assert few.size == 3
    np.testing.assert_allclose(A.T @ A, (X.T @ X)[np.ix_(columns, columns)], atol=1e-9)
    np.testing.assert_allclose(A.T @ b, (X.T @ y)[columns], atol=1e-9)
    np.testing.assert_array_equal(few.rows, factors_of(told).rows)


def stretch(size, rate=100.0, seed=0, wrench=False, n=2):
    t, q, qd, qdd = (
        x[:size] for x in multi_sine(n, duration=size / rate + 1, rate=rate, seed=seed)
    )
    tau = exact_torque(TWO, q, qd, qdd)
    held = np.random.default_rng(3).normal(size=(size, 6)) if wrench else None
    return Stretch(t, q, qd, qdd, tau, held, np.ones((size, n), bool), rate)


def test_longer_pieces_get_more_blocks():
    edges = block_edges([stretch(300), stretch(100), stretch(8)], 8)
    assert [len(e) - 1 for e in edges] == [6, 2, 1]
    assert edges[0].tolist() == [0, 50, 100, 150, 200, 250, 300]
    assert edges[1].tolist() == [0, 50, 100]
    assert edges[2].tolist() == [0, 8]
    assert sum(len(e) - 1 for e in block_edges([stretch(500)])) == 24


@pytest.mark.parametrize("decimate", [1, 4])
@pytest.mark.parametrize("chunk", [64, 2048])
def test_rows_of_a_stream_do_not_depend_on_chunks(decimate, chunk, monkeypatch):
    """Every kept row once, in its block, whatever is held at a time; ticks add up to the samples."""
    how = Preparation(cutoff=10.0, velocity="differentiate", decimate=decimate)
    terms, pieces = Terms(TWO), [stretch(400), stretch(200, seed=2)]
    keep = np.ones((400, 2), bool)
    keep[40:90, 1] = False
    pieces[0] = replace(pieces[0], keep=keep)
    whole = fold(terms, pieces, how, blocks=1)
    monkeypatch.setattr(factors, "CHUNK", chunk)
    ticks = []
    many = fold(terms, pieces, how, blocks=6, tick=ticks.append)
    assert sum(ticks) == 600
    assert many.blocks == 6 and whole.blocks == 2
    rows = np.array([[400, 350], [200, 200]]) // decimate
    assert np.abs(whole.rows - rows).max() <= (1 if decimate > 1 else 0)
    np.testing.assert_array_equal(many.rows[:4].sum(axis=0), whole.rows[0])
    np.testing.assert_array_equal(many.rows[4:].sum(axis=0), whole.rows[1])
    values = np.linspace(-1, 1, terms.size)
    np.testing.assert_allclose(
        many.squares(values)[:4].sum(axis=0), whole.squares(values)[0], rtol=1e-9
    )
    np.testing.assert_allclose(
        many.squares(values)[4:].sum(axis=0), whole.squares(values)[1], rtol=1e-9
    )
    chunks = list(stream(terms, pieces, how, 6))
    assert [c.block for c in chunks] == sorted(c.block for c in chunks)
    for j in range(2):
        t = np.concatenate([c.t[j] for c in chunks])
        assert len(t) == many.rows[:, j].sum()
        first = t[: many.rows[:4, j].sum()]
        assert (np.diff(first) > 0).all()
        assert first[-1] == pieces[0].t[-1]  # the grid ends on the last sample


def test_a_wrench_is_taken_off_the_torques():
    how = Preparation(cutoff=10.0, velocity="differentiate", decimate=1)
    piece = stretch(100, wrench=True)
    terms = Terms(TWO, friction=(), armature=False)
    model = dynarm.compile(TWO)
    tau = model.inverse_dynamics(piece.q, piece.qd, piece.qdd, piece.wrench)
    held = fold(terms, [replace(piece, tau=tau)], how)
    assert held.squares(dynarm.minimal_parameters(TWO).values).max() < 1e-18 * (tau**2).sum()


def test_rows_may_be_weighed():
    """A weight of w counts a row w^2 times."""
    how = Preparation(cutoff=10.0, velocity="differentiate", decimate=1)
    terms, piece = Terms(TWO), stretch(100)
    plain = fold(terms, [piece], how)
    twice = fold(terms, [piece], how, weigh=lambda j, support, X, y: np.full(len(y), 3.0 + j))
    values = np.linspace(-1, 1, terms.size)
    ratio = twice.squares(values) / plain.squares(values)
    np.testing.assert_allclose(ratio, np.broadcast_to([9.0, 16.0], ratio.shape), rtol=1e-9)


# ---- estimators


def solved(factors, weights, ridge=0.0, pull=None):
    return estimators.weighted(Problem(factors, ridge, pull), weights)


def test_solutions_by_the_normal_equations():
    told, weights = parts(), np.array([2.0, 7.0])
    X, y = stacked(told, weights)
    found = solved(factors_of(told), weights)
    np.testing.assert_allclose(found.values, np.linalg.solve(X.T @ X, X.T @ y), rtol=1e-9)
    np.testing.assert_allclose(found.covariance, np.linalg.inv(X.T @ X), atol=1e-12)
    lengths = np.linalg.norm(X, axis=0)
    np.testing.assert_allclose(found.scales, lengths)
    s = np.linalg.svd(X / lengths, compute_uv=False)
    np.testing.assert_allclose(found.singular, s)
    assert found.condition == pytest.approx(s[0] / s[-1])
    assert found.rank == 6
    assert found.ridge == 0
    np.testing.assert_array_equal(found.pulls, np.zeros(6))
    np.testing.assert_allclose(
        np.linalg.norm((X / lengths) @ found.directions.T, axis=0), s, atol=1e-9
    )


@pytest.mark.parametrize("ridge", [0.5, 3.0])
def test_a_pull_is_more_rows(ridge):
    """One row an unknown, its column's length times ridge and strength, whose torque is that of the prior."""
    told, weights = parts(), np.array([2.0, 7.0])
    pull = Pull(np.arange(6.0), np.array([0.5, 1.0, 2.0, 0.1, 1.0, 3.0]))
    X, y = stacked(told, weights)
    D = np.diag(ridge * pull.strength * np.linalg.norm(X, axis=0))
    wide, right = np.vstack([X, D]), np.r_[y, D @ pull.values]
    expected = np.linalg.lstsq(wide, right, rcond=None)[0]
    found = solved(factors_of(told), weights, ridge, pull)
    np.testing.assert_allclose(found.values, expected, rtol=1e-9)
    np.testing.assert_allclose(found.pulls, np.diag(D))
    bare = solved(factors_of(told), weights, ridge)
    D = np.diag(ridge * np.linalg.norm(X, axis=0))
    expected = np.linalg.lstsq(np.vstack([X, D]), np.r_[y, np.zeros(6)], rcond=None)[0]
    np.testing.assert_allclose(bare.values, expected, rtol=1e-9)


def doubled(near):
    """A problem of two unknowns whose columns differ by `near`."""
    X = np.linalg.qr(np.random.default_rng(0).normal(size=(40, 2)))[0]
    X = np.column_stack([X[:, 0], X[:, 0] + near * X[:, 1]]) * [1.0, 100.0]
    y = X @ [2.0, 0.02]
    return Factors((np.arange(2),), 2, [[np.column_stack([X, y])]], np.array([[40]]))


def test_what_cannot_be_told_apart_is_shared():
    """Columns alike but for their units: both explain half, in scaled unknowns; near the prior, if there is one."""
    found = solved(doubled(0.0), np.ones(1))
    assert found.rank == 1
    assert found.condition == np.inf
    np.testing.assert_allclose(found.values, [2.0, 0.02], rtol=1e-9)
    drawn = solved(doubled(0.0), np.ones(1), 0.0, Pull(np.array([3.0, 0.0]), np.ones(2)))
    np.testing.assert_allclose(drawn.values, [3.5, 0.005], rtol=1e-9)
    held = solved(doubled(0.0), np.ones(1), 1e-3, Pull(np.array([3.0, 0.0]), np.ones(2)))
    np.testing.assert_allclose(held.values, [3.5, 0.005], rtol=1e-5)
    near = solved(doubled(1e-4), np.ones(1))
    assert near.rank == 2
    assert near.condition == pytest.approx(2e4, rel=1e-3)
    # a pull of nothing on one unknown of two alike: the other goes to its prior
    one = Pull(np.array([3.0, 9.0]), np.array([1.0, 0.0]))
    told = solved(doubled(0.0), np.ones(1), 1.0, one)
    np.testing.assert_allclose(told.values, [3.0, 0.01], rtol=1e-6)


def test_unknowns_that_take_no_part_are_zero():
    told = parts()
    few = (SUPPORT[0][:4], np.array([3, 5]))
    R = [
        [
            np.column_stack([x[:, : 4 - 2 * j][:, : len(s)], y])
            for j, ((x, y), s) in enumerate(zip(b, few, strict=True))
        ]
        for b in told
    ]
    less = Factors(few, 6, R, np.full((3, 2), 30))
    np.testing.assert_array_equal(less.present, [1, 1, 1, 1, 0, 1])
    pull = Pull(np.full(6, 4.0), np.ones(6))
    for found in (wls.solve(Problem(less)), wls.solve(Problem(less, 0.1, pull))):
        assert found.values[4] == 0
        assert (found.covariance[4] == 0).all()
        assert found.rank == 5 and np.isfinite(found.condition)
    assert found.pulls[4] == 0 and (found.pulls[[0, 1, 2, 3, 5]] > 0).all()
    assert estimators.quick(less, 0.1, pull)[4] == 0
    np.testing.assert_allclose(estimators.quick(less, 0.1, pull, 30), found.values, rtol=1e-5)


def test_deviations_count_what_was_fitted():
    told = parts()
    all_rows = factors_of(told)
    values = np.linspace(1, 2, 6)
    squares = all_rows.squares(values).sum(axis=0)
    np.testing.assert_allclose(estimators.deviations(all_rows, values), np.sqrt(squares / [85, 87]))
    torque = [np.concatenate([b[j][1] for b in told]) for j in range(2)]
    np.testing.assert_allclose(estimators.sizes(all_rows), [np.sqrt((y**2).mean()) for y in torque])


def test_weights_are_one_over_each_joints_own_deviation():
    told = parts(8, 100)
    all_rows = factors_of(told)
    found = wls.solve(Problem(all_rows))
    np.testing.assert_allclose(
        found.weights, 1 / estimators.deviations(all_rows, found.values), rtol=1e-5
    )
    assert 1 / found.weights == pytest.approx([0.3, 0.05], rel=0.1)
    np.testing.assert_allclose(estimators.quick(all_rows, passes=20), found.values, rtol=1e-6)
    once = wls.solve(Problem(all_rows), passes=1)
    assert np.abs(once.weights / found.weights - 1).max() > 1e-6
    same = ols.solve(Problem(all_rows)).weights
    assert same[0] == same[1]


def test_exact_data_have_weights_all_the_same():
    """Rounding is all that is left: weights stay finite, and a joint without torque does not spoil the others."""
    told = parts(noise=(0.0, 0.0))
    found = wls.solve(Problem(factors_of(told)))
    np.testing.assert_allclose(found.values, TRUTH, rtol=1e-10)
    silent = [[(x, 0 * y) for x, y in b] for b in told]
    assert np.isfinite(wls.solve(Problem(factors_of(silent))).weights).all()
    np.testing.assert_allclose(wls.solve(Problem(factors_of(silent))).values, 0, atol=1e-12)
    np.testing.assert_allclose(estimators.quick(factors_of(told)), TRUTH, rtol=1e-6)


def test_ordinary_fits_know_their_own_noise():
    told = parts(noise=(0.2, 0.2))
    all_rows = factors_of(told)
    found = ols.solve(Problem(all_rows, 0.1))
    left = all_rows.squares(found.values).sum() / (180 - 6)
    np.testing.assert_allclose(1 / found.weights**2, left)
    X, _ = stacked(told)
    lengths = np.linalg.norm(X, axis=0)
    P = np.diag((0.1 * lengths) ** 2)
    np.testing.assert_allclose(found.covariance, np.linalg.inv(X.T @ X + P) * left, atol=1e-12)
    np.testing.assert_allclose(found.scales, lengths / np.sqrt(left))
    np.testing.assert_allclose(found.pulls, 0.1 * lengths / np.sqrt(left))
    exact = factors_of([[(x, 0 * y) for x, y in b] for b in told])
    np.testing.assert_array_equal(ols.solve(Problem(exact)).weights, [1, 1])


def test_an_unknown_is_worth_the_torque_shared_among_all():
    """Alone on one joint: |y| / sqrt k of its torque, in scaled units; on two: averaged as 1 / worth^2."""
    told, weights = parts(), np.array([2.0, 7.0])
    worth = estimators.worths(factors_of(told), weights)
    y = [np.concatenate([b[j][1] for b in told]) * weights[j] for j in range(2)]
    own = [np.linalg.norm(y[0]) / np.sqrt(5), np.linalg.norm(y[1]) / np.sqrt(3)]
    np.testing.assert_allclose(worth[:3], own[0])
    np.testing.assert_allclose(worth[5], own[1])
    x = [np.vstack([b[j][0] for b in told]) * weights[j] for j in range(2)]
    part = [np.square(x[0][:, 3]).sum(), np.square(x[1][:, 0]).sum()]
    mean = (part[0] / own[0] ** 2 + part[1] / own[1] ** 2) / sum(part)
    assert worth[3] == pytest.approx(mean**-0.5)
    silent = Factors(
        (np.arange(1), np.arange(0)),
        2,
        [[np.zeros((3, 2)), np.zeros((0, 1))]],
        np.ones((1, 2), int),
    )
    np.testing.assert_array_equal(estimators.worths(silent, np.ones(2)), [1, 1])


# ---- the recursive procedure


def test_the_recursive_procedure_joint_by_joint():
    told = parts()
    found = recursive.solve(Problem(factors_of(told)))
    x, y = ([np.concatenate([b[j][k] for b in told]) for j in range(2)] for k in range(2))
    outer = np.linalg.lstsq(x[1], y[1], rcond=None)[0]
    inner = np.linalg.lstsq(x[0][:, :3], y[0] - x[0][:, 3:] @ outer[:2], rcond=None)[0]
    np.testing.assert_allclose(found.values, np.r_[inner, outer], rtol=1e-9)
    lengths = [np.linalg.cond(A / np.linalg.norm(A, axis=0)) for A in (x[0][:, :3], x[1])]
    np.testing.assert_allclose(found.joint_conditions, lengths, rtol=1e-9)
    assert found.condition == pytest.approx(max(lengths))
    assert found.rank == 6
    np.testing.assert_allclose(
        found.weights, 1 / estimators.deviations(factors_of(told), found.values), rtol=1e-9
    )


def test_a_joint_that_is_not_excited_has_an_infinite_condition():
    told = parts()
    for block in told:
        block[1][0][:, 2] = block[1][0][:, 0]  # unknown 5 moves with unknown 3
    found = recursive.solve(Problem(factors_of(told)))
    assert found.joint_conditions[1] == np.inf
    assert np.isfinite(found.joint_conditions[0])
    assert found.rank == 5


def test_a_joint_without_rows_tells_nothing():
    told = parts(1)
    empty = Factors(SUPPORT, 6, [[np.zeros((0, 6)), told_to_R(told[0][1])]], np.array([[0, 30]]))
    found = recursive.solve(Problem(empty))
    np.testing.assert_allclose(found.values[:3], 0)
    outer = np.linalg.lstsq(*told[0][1], rcond=None)[0]
    np.testing.assert_allclose(found.values[3:], outer, rtol=1e-9)
    assert found.joint_conditions[0] == 1.0 and found.rank == 3


# ---- essential unknowns, bootstrap


def test_unknowns_without_effect_are_left_out_first():
    rng = np.random.default_rng(0)
    told = parts(3, 200, noise=(0.5, 0.5))
    small = TRUTH.copy()
    small[[1, 5]] = 1e-4
    for block in told:
        for j, s in enumerate(SUPPORT):
            x = block[j][0]
            block[j] = x, x @ small[s] + rng.normal(0, 0.5, 200)
    all_rows = factors_of(told)
    solution = wls.solve(Problem(all_rows))
    names = list("abcdef")
    assert statistics.essential(solution, names) == ("a", "c", "d", "e")
    assert statistics.essential(solution, names, rise=100.0) == ("d",)
    everything = statistics.essential(solution, names, rise=0.0)
    assert everything == tuple(names)


def test_error_may_rise_by_as_much_as_is_said():
    """One unknown explains a fifth of the error: kept at 1 %, left out at 25 %."""
    X = np.linalg.qr(np.random.default_rng(0).normal(size=(100, 3)))[0]
    y = X @ [10.0, np.sqrt(0.44), 1.0]
    alone = Factors((np.arange(2),), 2, [[np.column_stack([X[:, :2], y])]], np.array([[100]]))
    solution = solved(alone, np.ones(1))
    # squared error 1 with both, 1.44 with the first alone: 20 % more in root mean square
    assert statistics.essential(solution, "ab", rise=0.19) == ("a", "b")
    assert statistics.essential(solution, "ab", rise=0.21) == ("a",)


def test_the_bootstrap_draws_blocks_with_replacement():
    told = parts(6, 40)
    all_rows = factors_of(told)
    draws = statistics.bootstrap(Problem(all_rows), wls.solve, repetitions=400, seed=3)
    assert draws.shape == (400, 6)
    exact = np.sqrt(np.diag(wls.solve(Problem(all_rows)).covariance))
    ratio = draws.std(axis=0) / exact
    assert ((ratio > 0.4) & (ratio < 1.6)).all()
    again = statistics.bootstrap(Problem(all_rows), wls.solve, repetitions=400, seed=3)
    np.testing.assert_array_equal(draws, again)
    assert not np.array_equal(
        draws, statistics.bootstrap(Problem(all_rows), wls.solve, repetitions=400, seed=4)
    )
    assert statistics.bootstrap(Problem(all_rows), wls.solve).shape == (200, 6)
    firm = Pull(np.zeros(6), np.ones(6))
    np.testing.assert_allclose(
        statistics.bootstrap(Problem(all_rows, 1e5, firm), wls.solve, 3), 0, atol=1e-6
    )


# ---- choices by held-out time


def test_time_is_held_out_in_stretches():
    all_rows = factors_of(parts(16, 10))
    pairs = tuning.split(all_rows, 4)
    assert len(pairs) == 4
    for inside, outside in pairs:
        assert inside.rows.tolist() == [[120, 120]] and outside.rows.tolist() == [[40, 40]]
    y = [both[0][1] for both in parts(16, 10)]
    for k, (_, outside) in enumerate(pairs):
        expected = sum(z @ z for z in y[4 * k : 4 * k + 4])
        assert outside.squares(np.zeros(6))[0, 0] == pytest.approx(expected)
    for blocks in (2, 3, 5, 7):  # fewer than folds: each is left out once
        assert len(tuning.split(factors_of(parts(blocks)), 8)) == blocks
    assert len(tuning.split(all_rows)) == 8
    assert tuning.split(factors_of(parts(1))) == []
    rows = np.full((4, 2), 30)
    rows[2, 1] = 0  # a joint that rests there is not judged by that stretch
    assert len(tuning.split(factors_of(parts(4), rows), 4)) == 3


def test_held_out_errors_are_root_mean_squares():
    told = parts(4, 400)
    errors = tuning.held_out(tuning.split(factors_of(told), 4), 0.0, None)
    assert errors.shape == (4, 2)
    np.testing.assert_allclose(errors.mean(axis=0), [0.3, 0.05], rtol=0.05)
    inside = stacked(told[1:], 1 / np.array([0.3, 0.05]))
    values = np.linalg.lstsq(*inside, rcond=None)[0]
    left = told[0][0][1] - told[0][0][0] @ values[SUPPORT[0]]
    assert errors[0, 0] == pytest.approx(np.sqrt((left**2).mean()), rel=1e-3)
    assert tuning.held_out([], 0.0, None).tolist() == [[np.inf]]


def test_the_strongest_pull_that_costs_nothing_is_taken():
    told = parts(16, 4, noise=(1.0, 1.0))
    all_rows = factors_of(told)
    right, wrong = Pull(TRUTH, np.ones(6)), Pull(-20 * TRUTH, np.ones(6))
    ridge, errors = tuning.choose_ridge(all_rows, right, 0.3)
    assert ridge == pytest.approx(4.0 * 0.3)
    assert list(errors) == pytest.approx([0.0, 0.15, 0.3, 0.6, 1.2])
    direct = np.exp(np.log(tuning.held_out(tuning.split(all_rows), 0.6, right)).mean())
    assert errors[2.0 * 0.3] == pytest.approx(direct)
    assert tuning.choose_ridge(all_rows, wrong, 0.3)[0] == 0.0
    assert tuning.choose_ridge(all_rows, right, 0.0) == (0.0, {})
    assert tuning.choose_ridge(factors_of(parts(2)), right, 0.3) == (0.0, {})
    assert tuning.choose_ridge(factors_of(parts(3)), right, 0.3)[1] != {}
