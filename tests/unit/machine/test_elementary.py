"""sin, cos, tanh, sign and abs inside kernels: error bounds against mpmath, odd arguments, floating-point flags."""

from __future__ import annotations

import math
from functools import cache

import mpmath
import numpy as np
import pytest

from dynarm.graph.graph import Builder, Port
from dynarm.machine.host import host
from oracles.machine_graphs import newton_euler_graph, samples

# sin and cos, in ulps of the exact result, with and without fused multiply-adds
BOUND = {True: 1.5, False: 2.5}
TANH = 2.5


def function_graph(*ops: str):
    """y = op(x) for each op, x a scalar."""
    b = Builder()
    x = b.input(0, 0)
    return b.finish([Port("x", ())], [Port(op, ()) for op in ops], [[b.unary(op, x)] for op in ops])


def near_multiples(largest: float) -> np.ndarray:
    """Doubles beside multiples of pi/2, where reduction loses most, among them the worst ones known up to 1e5."""
    k = np.unique(np.geomspace(1, largest / (math.pi / 2), 600).astype(int))
    with mpmath.workdps(60):
        x = np.array([float(mpmath.pi / 2 * int(j)) for j in k])
    return np.concatenate([x, np.nextafter(x, 0), np.nextafter(x, np.inf)])


ARGUMENTS = {
    "turn": lambda rng: rng.uniform(-math.pi, math.pi, 4000),
    "range": lambda rng: rng.uniform(-1e5, 1e5, 4000),
    "logarithmic": lambda rng: np.geomspace(1e-300, 1e5, 3000) * rng.choice([-1, 1], 3000),
    "near multiples of a quarter turn": lambda rng: near_multiples(1e5),
}


@cache
def exactly(op: str, data: bytes) -> list:
    """op of doubles, with many digits; the same for every kind of host."""
    with mpmath.workdps(50):
        return [getattr(mpmath, op)(mpmath.mpf(float(v))) for v in np.frombuffer(data)]


def ulps(found: np.ndarray, op: str, x: np.ndarray) -> float:
    """The largest error in units of the last place of the exact result."""
    with mpmath.workdps(50):
        exact = exactly(op, x.tobytes())
        return float(
            max(
                abs(mpmath.mpf(float(f)) - e) / mpmath.mpf(math.ulp(float(e)))
                for f, e in zip(found, exact, strict=True)
            )
        )


@pytest.mark.parametrize("kind", ARGUMENTS)
def test_sin_and_cos_are_within_their_bound(kind, target, build):
    f = build(function_graph("sin", "cos"), target)
    x = ARGUMENTS[kind](np.random.default_rng(1))
    s, c = f(x)
    assert max(ulps(s, "sin", x), ulps(c, "cos", x)) <= BOUND[target.fused]


@pytest.mark.parametrize(
    "x",
    [
        np.random.default_rng(2).uniform(-25, 25, 4000),
        np.geomspace(1e-300, 30, 3000),
        np.random.default_rng(3).uniform(-0.5, 0.5, 3000),
    ],
)
def test_tanh_is_within_few_ulps(x, target, build):
    assert ulps(build(function_graph("tanh"), target)(x), "tanh", x) <= TANH


def test_large_angles_are_the_library_s(build):
    x = np.array([1.1e5, -2e5, 1e9, -1e9, 1e15, 1e22, 1.7e308, -1.7e308, 5.0])
    s, c = build(function_graph("sin", "cos"))(x)
    np.testing.assert_array_equal(s[:-1], [math.sin(v) for v in x[:-1]])
    np.testing.assert_array_equal(c[:-1], [math.cos(v) for v in x[:-1]])


def test_the_bound_where_the_library_takes_over(build):
    """On both sides of the change the results are right: nothing is reduced with a quotient too large."""
    edge = 2**16 * math.pi / 2
    x = np.concatenate([edge + np.linspace(-4, 4, 801), -edge + np.linspace(-4, 4, 801)])
    s, c = build(function_graph("sin", "cos"))(x)
    assert max(ulps(s, "sin", x), ulps(c, "cos", x)) <= BOUND[host().fused]


@pytest.mark.parametrize(
    "value", [0.0, -0.0, 5e-324, -5e-324, 1e-310, 2.3e-308, 1e-160, -1e-200, 1e-17]
)
def test_small_arguments_are_exact_and_silent(value, target, build):
    f = build(function_graph("sin", "cos", "tanh"), target)
    with np.errstate(all="raise"):
        s, c, t = f(np.array([value] * 3))
    for found, expected in ((s, value), (c, 1.0), (t, value)):
        assert np.all(found == expected) and np.all(np.signbit(found) == np.signbit(expected))


def test_sign_and_abs(target, build):
    x = np.array([-2.0, -0.0, 0.0, 3.0, np.inf, -np.inf, np.nan, 5e-324, -5e-324])
    with np.errstate(all="raise"):
        s, a = build(function_graph("sign", "abs"), target)(x)
    np.testing.assert_array_equal(s, np.sign(x))
    np.testing.assert_array_equal(a, np.abs(x))


def test_tanh_at_the_ends(target, build):
    x = np.array([np.inf, -np.inf, np.nan, 22.0, -22.0, 700.0, 1e308])
    with np.errstate(all="raise"):
        found = build(function_graph("tanh"), target)(x)
    np.testing.assert_array_equal(found, [1, -1, np.nan, 1, -1, 1, 1])


# ---- flags: a warning only where a sample of the user asks for it


ODD = {
    "nan": np.nan,
    "far": 1e9,
    "very far": 1e300,
    "denormal": 5e-324,
    "zero": 0.0,
    "minus zero": -0.0,
}


@pytest.mark.parametrize("count", [1, 2, 5, 8, 9, 13])
@pytest.mark.parametrize("odd", ODD)
def test_an_odd_lane_disturbs_no_other_and_raises_nothing(odd, count, build):
    f = build(function_graph("sin", "cos", "tanh", "sign", "abs"))
    x = np.linspace(-3, 3, count)
    plain = f(x)
    for lane in range(count):
        y = x.copy()
        y[lane] = ODD[odd]
        with np.errstate(all="raise"):
            found = f(y)
        others = np.arange(count) != lane
        for a, b in zip(found, plain, strict=True):
            np.testing.assert_array_equal(a[others], b[others])
        alone = f(np.array([ODD[odd]]))
        assert all(
            np.array_equal(a[lane], b[0], equal_nan=True) for a, b in zip(found, alone, strict=True)
        )


@pytest.mark.parametrize("count", [1, 3, 8, 9, 20])
def test_a_nan_sample_touches_no_other(count, target, build):
    graph = newton_euler_graph(4)
    f = build(graph, target)
    inputs = samples(graph, count)
    expected = f(*inputs)
    for lane in range(count):
        spoilt = [x.copy() for x in inputs]
        spoilt[lane % 3][lane, 3] = np.nan
        with np.errstate(all="raise"):
            found = f(*spoilt)
        others = np.arange(count) != lane
        np.testing.assert_array_equal(found[others], expected[others])
        assert np.isnan(found[lane]).any()


def test_infinite_angles_warn_as_numpy_does(target, build):
    f = build(function_graph("sin", "cos"), target)
    with pytest.warns(RuntimeWarning, match="invalid"):
        s, c = f(np.array([1.0, np.inf, 2.0]))
    assert np.isnan([s[1], c[1]]).all() and np.isfinite([s[0], c[0], s[2], c[2]]).all()


@pytest.mark.parametrize("count", [1, 2, 3, 8, 9, 11])
def test_remainders_raise_no_flag_of_their_own(count, target, build):
    """Lanes without a sample hold a valid one: 1/x and sqrt(x) of positive numbers stay silent."""
    b = Builder()
    x = b.input(0, 0)
    results = [[b.div(b.const(1.0), x), b.unary("sqrt", x)]]
    f = build(b.finish([Port("x", (1,))], [Port("y", (2,))], results), target)
    with np.errstate(all="raise"):
        f(np.full((count, 1), 0.25))


def test_a_division_by_zero_is_reported(build):
    b = Builder()
    f = build(b.finish([Port("x", ())], [Port("y", ())], [[b.div(b.const(1.0), b.input(0, 0))]]))
    with pytest.warns(RuntimeWarning, match="divide by zero"):
        assert np.isinf(f(np.array([1.0, 0.0, 2.0]))[1])
