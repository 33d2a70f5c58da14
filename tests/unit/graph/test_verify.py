"""The verifier of graphs: each rule catches the fault that was planted for it, and real graphs have none."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from dynarm.graph import verify
from dynarm.graph.graph import Builder, Graph, Node, Port, Ref
from dynarm.graph.simplify import simplify
from dynarm.graph.trace import trace_function
from dynarm.graph.verify import faults, verified
from dynarm.machine.lower.program import program_of
from oracles.machine_graphs import newton_euler_graph, random_graph

X, Y, TWO = Node("input", (0, 0)), Node("input", (0, 1)), Node("const", (), 2.0)
ZERO, ONE = Node("const"), Node("const", (), 1.0)


def made(*nodes: Node, results: tuple[Ref, ...] = (), size: int = 2) -> Graph:
    """A graph of these nodes, whose last one is the output unless others are given."""
    refs = results or (Ref(len(nodes) - 1),)
    return Graph((Port("x", (size,)),), (Port("y", (len(refs),)),), nodes, (refs,))


GOOD = made(X, Y, Node("mul", (0, 1)), Node("add", (0, 2)))
PLANTED = {  # what the verifier says -> graphs in which it is so
    "reads node 3, which is not before it": [made(X, Y, Node("mul", (0, 3)), Node("add", (0, 2)))],
    "reads node 2, which is not before it": [made(X, Y, Node("sin", (2,)))],
    "reads node -1, which is not before it": [made(X, Node("sin", (-1,)))],
    "takes 2 arguments": [made(X, Node("add", (0,)))],
    "takes 1 arguments": [made(X, Y, Node("sqrt", (0, 1)))],
    "the table has no such operation": [made(X, Node("arcsin", (0,)))],
    "an input is a port and an element": [made(Node("input", (0,)))],
    "there are 1 inputs": [made(Node("input", (1, 0))), made(Node("input", (-1, 0)))],
    "port x has 2 elements": [made(Node("input", (0, 2))), made(Node("input", (0, -1)))],
    "has arguments": [made(X, Node("const", (0,), 2.0))],
    "its sign belongs on the reference": [
        made(Node("const", (), -2.0)),
        made(Node("const", (), -0.0)),
    ],
    "output y refers to node 3 of 2": [made(X, Y, results=(Ref(0), Ref(3)))],
    "output y refers to node -1 of 2": [made(X, Y, results=(Ref(0), Ref(-1)))],
    "output y has 4 results, its port 3": [
        replace(made(X, results=(Ref(0),) * 4), outputs=(Port("y", (3,)),))
    ],
    "1 outputs, and results for 2": [replace(GOOD, results=(*GOOD.results, (Ref(0),)))],
    "stands already at 0": [made(X, X, Node("mul", (0, 1)))],
    "stands already at 2": [
        made(X, Y, Node("mul", (0, 1)), Node("mul", (0, 1)), Node("add", (2, 3)))
    ],
    "its arguments are not in order": [
        made(X, Y, Node(op, (1, 0))) for op in ("add", "sub", "mul")
    ],
    "its arguments are the same": [made(X, Node(op, (0, 0))) for op in ("add", "sub")],
    "all arguments are numbers": [
        made(TWO, Node("sin", (0,))),
        made(TWO, ONE, Node("add", (0, 1))),
        made(TWO, Node("const", (), 3.0), Node("div", (0, 1))),
    ],
    "an operation with this number is none": [
        *(made(X, ZERO, Node(op, (0, 1))) for op in ("add", "sub", "mul")),
        *(made(X, ONE, Node(op, (0, 1))) for op in ("mul", "div")),
        made(ZERO, X, Node("div", (0, 1))),
        made(X, Node("const", (), 0.25), Node("div", (0, 1))),
    ],
    "nothing needs it": [made(X, Y, results=(Ref(0),))],
    "a sign belongs on the reference": [
        made(X, ZERO, Node("sub", (1, 0))),
        made(X, ZERO, Node("sub", (1, 0)), Node("sin", (2,))),
        made(X, ZERO, Node("sub", (1, 0)), Node("sqrt", (2,)), Node("mul", (2, 3))),
    ],
}


@pytest.mark.parametrize("text", PLANTED)
def test_each_rule_catches_what_was_planted(text):
    for graph in PLANTED[text]:
        told = list(faults(graph))
        assert any(text in fault for fault in told), told
        with pytest.raises(AssertionError, match=r"the graph of \['y'\]: "):
            verified(graph)


def test_good_graphs_pass():
    assert list(faults(GOOD)) == []
    assert list(faults(made(X, ZERO, Node("sub", (1, 0)), Node("sqrt", (2,))))) == []
    assert list(faults(made(X, ZERO, Node("div", (0, 1))))) == [], "infinite, at run time"
    assert list(faults(made(ONE, ZERO, Node("div", (0, 1))))) == []
    assert list(faults(made(X, Node("mul", (0, 0))))) == []
    assert list(faults(made(Node("const", (), math.nan)))) == []
    for seed in range(40):
        assert list(faults(random_graph(seed))) == []


def test_repetitions_are_allowed_where_they_are_counted():
    twice = made(X, Y, Node("mul", (0, 1)), Node("mul", (0, 1)), Node("add", (2, 3)))
    assert list(faults(twice, shared=False)) == []
    ports = [Port("x", (2,))], [Port("y", (1,))]
    trace_function(*ports, lambda x: [x[0] * x[1] + x[1] * x[0]], share=False)


def test_passes_are_watched(monkeypatch):
    """A builder that forgets to sort is noticed after tracing, a pass after it ran, any graph before it is lowered."""
    assert verify.ON, "tests/conftest.py switches it on"
    ports = [Port("x", (3,))], [Port("y", (1,))]
    right = trace_function(*ports, lambda x: [x[0] * x[1] + x[0] * x[2]])

    def unsorted(self, x, y):
        return self._put("mul", (max(x.node, y.node), min(x.node, y.node)))

    with monkeypatch.context() as other:
        other.setattr(Builder, "mul", unsorted)
        with pytest.raises(AssertionError, match="not in order"):
            trace_function(*ports, lambda x: [x[0] * x[1]])
        with pytest.raises(AssertionError, match=r"mul\(3, 1\)"):
            simplify(right)
    with pytest.raises(AssertionError, match="not in order"):
        program_of(made(X, Y, Node("mul", (1, 0))))


def test_it_costs_nothing_where_it_is_off(monkeypatch):
    def never(*_):
        raise AssertionError("looked at")

    monkeypatch.setattr(verify, "ON", False)
    monkeypatch.setattr(verify, "faults", never)
    graph = newton_euler_graph(3)
    assert verified(graph) is graph
    assert np.isfinite(simplify(graph).evaluate(*np.ones((3, 3)))[0]).all()
