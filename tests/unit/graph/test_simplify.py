"""Factoring: fewer operations, the same values."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dynarm.dynamics.table import TABLE
from dynarm.graph.graph import Port
from dynarm.graph.simplify import simplify
from dynarm.graph.trace import trace_function
from dynarm.plan.choice import graph
from dynarm.robot.frames.generic import generic_arm

CASES = {
    "common factor": (lambda x: [x[0] * x[1] + x[0] * x[2]], 1, 1),
    "difference": (lambda x: [x[0] * x[1] - x[2] * x[0]], 1, 1),
    "three terms": (lambda x: [x[0] * x[1] + x[3] * x[2] + x[0] * x[2]], 2, 2),
    "constants": (lambda x: [2.0 * (3.0 * x[0])], 1, 0),
    "constants deep": (lambda x: [2.0 * ((3.0 * x[0]) * x[1])], 2, 0),
    "shared product stays": (lambda x: [x[0] * x[1] + x[0] * x[2] + (x[0] * x[1]) * x[3]], 3, 2),
    "nothing to do": (lambda x: [x[0] * x[1] + x[2] * x[3]], 2, 1),
}


@pytest.mark.parametrize("case", CASES)
def test_operations_that_are_left(case):
    function, mul, add = CASES[case]
    before = trace_function([Port("x", (4,))], [Port("y", (1,))], function)
    after = simplify(before)
    assert (after.count().mul, after.count().add) == (mul, add)
    x = np.random.default_rng(0).normal(size=(20, 4))
    np.testing.assert_allclose(after.evaluate(x)[0], before.evaluate(x)[0], rtol=1e-13)


steps = st.lists(
    st.tuples(st.sampled_from("+-*+-*c"), st.integers(0, 99), st.integers(0, 99)), max_size=30
)


@settings(max_examples=200, deadline=None)
@given(steps, st.lists(st.integers(0, 99), min_size=1, max_size=4))
def test_any_graph_keeps_its_values_and_grows_no_operation(program, wanted):
    """Whole numbers, so that any order of operations gives the same."""

    def everything(x):
        known = list(x)
        for op, i, j in program:
            a, b = known[i % len(known)], known[j % len(known)]
            known.append({"+": a + b, "-": a - b, "*": a * b, "c": a * (j % 5 - 2)}[op])
        return known

    def function(x):
        known = everything(x)
        return [known[-1 - k % len(known)] for k in wanted]

    before = trace_function([Port("x", (4,))], [Port("y", (len(wanted),))], function)
    after = simplify(before)
    assert after.count().total <= before.count().total
    x = np.array([[1.0, -1.0, 2.0, 1.0], [-1.0, 1.0, 1.0, 3.0], [0.0, 1.0, -1.0, 2.0]])
    assume(all(np.abs(value).max() < 2.0**40 for value in everything(x.T)))
    assert np.array_equal(after.evaluate(x)[0], before.evaluate(x)[0])


@pytest.mark.parametrize("terms", [50, 3000])
def test_long_sums_and_products(terms):
    """However long, without the interpreter's recursion; every third term shares a factor."""

    def function(x):
        total, product = 0, 1.5
        for k in range(terms):
            total = total + x[k] * x[k % 3]
            product = product * x[k] if k < 100 else product
        return [total, product]

    before = trace_function([Port("x", (terms,))], [Port("y", (2,))], function)
    after = simplify(before)
    assert after.count().mul <= before.count().mul - terms + 8
    x = np.random.default_rng(2).uniform(0.5, 1.5, terms)
    np.testing.assert_allclose(after.evaluate(x)[0], before.evaluate(x)[0], rtol=1e-11)


@pytest.mark.parametrize(
    "row", [r for r in TABLE if r.automatic], ids=lambda r: f"{r.quantity}-{r.name}"
)
def test_factored_formulations_give_the_same_values(row):
    arm = generic_arm(4, 2)
    before = graph(arm, row.quantity, {row.quantity: row}, simple=False)
    after = simplify(before)
    assert after.count().total <= before.count().total
    rng = np.random.default_rng(1)
    given = [rng.uniform(-2, 2, (10, *p.shape)) for p in before.inputs]
    for a, b in zip(after.evaluate(*given), before.evaluate(*given), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-12 * max(1.0, np.abs(b).max()))
