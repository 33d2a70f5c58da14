"""Fixtures of the machine-code tests."""

from __future__ import annotations

import pytest

from dynarm.graph.graph import Graph
from dynarm.machine import compile_graph, load_object
from dynarm.machine.host import Host
from oracles.processors import KINDS


@pytest.fixture(params=KINDS)
def target(request) -> Host:
    return KINDS[request.param]


@pytest.fixture
def build():
    """A gufunc from a graph, for this host or another kind."""

    def make(graph: Graph, target: Host | None = None):
        code = compile_graph(graph, "made", target)
        return load_object(code, "made", graph.inputs, graph.outputs, "made in a test", target)

    return make
