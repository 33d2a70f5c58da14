"""Square roots of nodes that are wanted with the opposite sign: a root is neither even nor odd."""

from __future__ import annotations

import numpy as np
import pytest

from dynarm.graph.graph import Builder, Port
from dynarm.graph.simplify import simplify
from dynarm.machine.lower.program import program_of
from oracles.machine_graphs import as_tuple

NEGATIVE = -np.linspace(0.25, 9, 13)


def of_an_input(b, x, y):
    return b.unary("sqrt", -x)


def of_a_product(b, x, y):
    return b.unary("sqrt", -b.mul(x, y))


def of_a_difference(b, x, y):
    """x - 3 y is a node of its own; its negative is what is positive here."""
    return b.unary("sqrt", b.sub(b.mul(b.const(3.0), y), b.mul(x, y)))


def of_both_signs(b, x, y):
    """|x| by two roots of one node: one of x x, one of -(x y)."""
    product = b.mul(x, y)
    return b.add(b.unary("sqrt", -product), b.unary("sqrt", b.unary("abs", -product)))


def minus_a_root(b, x, y):
    return -b.unary("sqrt", -x)


CASES = {
    of_an_input: lambda x, y: np.sqrt(-x),
    of_a_product: lambda x, y: np.sqrt(-x * y),
    of_a_difference: lambda x, y: np.sqrt(3 * y - x * y),
    of_both_signs: lambda x, y: 2 * np.sqrt(-x * y),
    minus_a_root: lambda x, y: -np.sqrt(-x),
}


def graph_of(case):
    b = Builder()
    x, y = b.input(0, 0), b.input(0, 1)
    return b.finish([Port("x", (2,))], [Port("y", (1,))], [[case(b, x, y)]])


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.__name__)
def test_roots_of_negatives(case, target, build):
    given = np.stack([NEGATIVE, np.linspace(2, 5, 13)], axis=1)
    wanted = CASES[case](*given.T)
    graph = graph_of(case)
    for g in (graph, simplify(graph)):
        with np.errstate(all="raise"):
            (evaluated,) = g.evaluate(given)
            (made,) = as_tuple(build(g, target)(given))
        np.testing.assert_allclose(evaluated[:, 0], wanted, rtol=4e-16)
        np.testing.assert_allclose(made[:, 0], wanted, rtol=4e-16)
        assert program_of(g, target.fused, target.tuning).length


def test_a_root_of_a_negative_number_is_reported(target, build):
    """With the sign lost on the way there would be none to report."""
    f = build(graph_of(of_an_input), target)
    with pytest.warns(RuntimeWarning, match="invalid"):
        assert np.isnan(f(np.array([[4.0, 1.0]]))).all()


def test_roots_of_a_node_and_of_its_negative_differ():
    b = Builder()
    x = b.input(0, 0)
    plus, minus = b.unary("sqrt", x), b.unary("sqrt", -x)
    assert plus.node != minus.node
    assert minus == b.unary("sqrt", -x), "and each is computed once"
