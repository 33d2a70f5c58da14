"""The graph: what is recognised as one operation, what is counted, and that it computes what was written."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dynarm.graph.graph import Builder, Graph, Port, Symbol
from dynarm.graph.trace import fresh_symbols, jacobian, substitute, trace_function

SCALARS = (Port("x", (3,)),), (Port("y", (2,)),)


def trace(function, share=True) -> Graph:
    return trace_function(*SCALARS, function, share)


@pytest.mark.parametrize(
    ("function", "mul", "add"),
    [
        (lambda x: [x[0] * x[1], x[1] * x[0]], 1, 0),
        (lambda x: [x[0] - x[1], x[1] - x[0]], 0, 1),
        (lambda x: [(-x[0]) * x[1], x[0] * (-x[1])], 1, 0),
        (lambda x: [-x[0] - x[1], x[1] + x[0]], 0, 1),
        (lambda x: [x[0] + x[0], 2 * x[0]], 1, 0),
        (lambda x: [x[0] - x[0], x[0] * 0], 0, 0),
        (lambda x: [1 * x[0], -1 * x[1]], 0, 0),
        (lambda x: [(-x[0]).sin() + x[0].sin(), (-x[0]).cos() - x[0].cos()], 0, 0),
        (lambda x: [x[0] / 2, x[0] * 0.5], 1, 0),
        (lambda x: [1 / (x[0] * 0 + 3), 2 / (x[1] * 0 + 3) * x[1]], 1, 0),
    ],
    ids=[
        "commuted product",
        "swapped difference",
        "signs",
        "negated sum",
        "twice",
        "zero",
        "one",
        "parity",
        "half",
        "quotient of constants",
    ],
)
def test_equal_operations_are_one(function, mul, add):
    count = trace(function).count()
    assert (count.mul, count.add, count.div) == (mul, add, 0)


def test_repetitions_stay_in_the_count_as_written():
    count = trace(lambda x: [x[0] * x[1], x[1] * x[0]], share=False).count()
    assert count.mul == 2


def test_offset_of_an_angle_belongs_to_its_sine():
    assert trace(lambda x: [(x[0] + 0.3).sin(), (x[0] + 0.3).cos()]).count().add == 0
    assert trace(lambda x: [(x[0] + 0.3).sin(), x[0] + 0.3]).count().add == 1


def test_depth_is_the_longest_chain():
    count = trace(lambda x: [((x[0] * x[1]) + x[2]) * x[0], x[0] + x[1]]).count()
    assert count.depth == 3


def test_dead_operations_are_dropped():
    def function(x):
        x[0] * x[1] + x[2]
        return [x[0], x[1]]

    graph = trace(function)
    assert {node.op for node in graph.nodes} == {"input"}


leaf = st.sampled_from(["x0", "x1", "x2", "0", "1", "-1", "2", "0.3"])
term = st.recursive(
    leaf,
    lambda t: st.one_of(
        st.tuples(st.sampled_from("+-*"), t, t).map(lambda a: f"({a[1]} {a[0]} {a[2]})"),
        st.tuples(st.sampled_from(["sin", "cos", "tanh", "sign", "fabs", "neg"]), t).map(
            lambda a: f"{a[0]}({a[1]})"
        ),
    ),
    max_leaves=25,
)


@given(st.tuples(term, term))
def test_graph_computes_what_was_written(texts):
    names = ("sin", "cos", "tanh", "sign", "fabs")

    def on_symbols(x):
        def call(name):
            return lambda v: getattr(v if isinstance(v, Symbol) else v + 0 * x[0], name)()

        space = {name: call(name) for name in names} | {"neg": lambda v: -v}
        return [eval(t, {}, space | dict(zip(("x0", "x1", "x2"), x, strict=True))) for t in texts]

    point = np.array([[0.7, -1.3, 2.1], [0.0, 0.5, -0.4]])
    space = {name: getattr(np, name) for name in names} | {"neg": lambda v: -v}
    space |= {f"x{i}": point[:, i] for i in range(3)}
    wanted = np.stack([np.broadcast_to(eval(t, {}, space), (2,)) for t in texts], axis=-1)
    for share in (True, False):
        (got,) = trace(on_symbols, share).evaluate(point)
        np.testing.assert_allclose(got, wanted, rtol=1e-12, atol=1e-12)


def test_jacobian_and_substitution():
    point = np.array([0.4, -0.8, 1.7])

    def function(x):
        value = x[0].sin() * x[1] + x[2] * x[2]
        dx, dy, dz = jacobian([value], x)[0]
        (swapped,) = substitute([dz], [x[2]], [x[0] * x[1]])
        return [dx + dy, swapped]

    (got,) = trace(function).evaluate(point)
    x, y, _ = point
    np.testing.assert_allclose(got, [np.cos(x) * y + np.sin(x), 2 * x * y], rtol=1e-15)


def test_placeholders_are_replaced_or_noticed():
    def function(x, replaced):
        (held,) = fresh_symbols(x[0], 1, 1)
        values = [held * x[1], x[0]]
        return substitute(values, [held], [x[2]]) if replaced else values

    point = np.array([2.0, 3.0, 5.0])
    assert trace(lambda x: function(x, True)).evaluate(point)[0].tolist() == [15.0, 2.0]
    with pytest.raises(AssertionError, match="placeholder"):
        trace(lambda x: function(x, False))


def test_jacobian_of_something_else_is_zero():
    def function(x):
        (row,) = jacobian([x[0] * 2], [x[1], x[2]])
        assert row == [0, 0]
        return [x[0], x[1]]

    assert trace(function).count().mul == 0


def test_derivative_shares_the_function():
    """The product rule reuses sin and cos, which the builder must recognise as its own."""

    def function(x):
        value = x[0].sin() * x[0].cos()
        (row,) = jacobian([value], [x[0]])
        return [value, row[0]]

    count = trace(function).count()
    assert count.sincos == 1 and count.mul <= 3 and count.add == 1


def test_builder_refuses_nothing_silently():
    build = Builder()
    x = build.input(0, 0)
    assert build.value(build.add(x, -x)) == 0.0
    assert build.value(build.mul(x, build.const(0.0))) == 0.0
