"""The tuning of a host is one record: each of its numbers, forced, changes the code, and no result."""

from __future__ import annotations

from dataclasses import fields
from functools import cache

import numpy as np
import pytest

from dynarm.graph.graph import Builder, Graph, Port
from dynarm.machine import compile_graph, load_object
from dynarm.machine.emit import llvm
from dynarm.machine.emit.kernel import kernel_text
from dynarm.machine.emit.loop import runtime_text
from dynarm.machine.host import Host, Tuning, named, native
from dynarm.machine.lower.fusion import code_of
from dynarm.machine.lower.program import _cost, _orders, program_of
from oracles.machine_graphs import newton_euler_graph, random_graph, samples

FORCED = {  # another value of each number
    "registers": 8,
    "woven": False,
    "woven_most": 10,
    "unrolled": 8,
    "copied": 4,
    "angles": 2,
    "latency": 9,
    "slow": 5,
    "ports": 1,
    "window": 5,
    "fetch": 1,
    "pressure": 3,
    "move": 9.0,
    "waiting": 99.0,
    "store": 40,
    "piece": 100,
    "brief": 60,
    "long": 100,
    "cached": 200,
    "very_long": 50,
    "huge": 10,
    "hasty": 10,
    "slot": 99.0,
    "tile": 3,
    "line": 32,
    "stage": (5, 8),
    "asked_most": 5,
    "soon": 1,
    "past_caches": 1 << 10,
    "stack": 1 << 10,
}
# A processor on which short graphs are long ones, for what concerns these
LONG = {"long": 100, "cached": 200}
WAITS = {"cached": 200, "piece": 800}
BASES = {"brief": WAITS, "tile": LONG, "slot": LONG, "very_long": LONG, "store": {"piece": 200}}


@cache
def graphs() -> tuple[Graph, ...]:
    return newton_euler_graph(7), random_graph(3, 150), chains(), newton_euler_graph(3)


def chains() -> Graph:
    """Long chains side by side, with divisions and sums among them: there is always something to wait for."""
    build = Builder()
    x = [build.input(0, k) for k in range(6)]
    ends = []
    for first in x:
        value = first
        for k in range(40):
            value = build.add(build.mul(value, x[k % 6]), x[(k + 1) % 6])
            if k % 13 == 0:
                value = build.div(value, build.add(build.const(3.0), build.mul(value, value)))
        ends.append(value)
    return build.finish([Port("x", (6,))], [Port("y", (6,))], [ends])


@cache
def texts(target: Host) -> tuple[str, ...]:
    """All that is generated for a host, and what the orders are thought to cost among which it was chosen."""
    costs = []
    for graph in graphs():
        written = list(code_of(graph, target.fused)[0].values())
        program = program_of(graph, target.fused, target.tuning)
        costs += [_cost(o, program, target.tuning) for o in _orders(graph, written, target.tuning)]
    kernels = [
        kernel_text(program_of(g, target.fused, target.tuning), g.inputs, g.outputs, target)
        for g in graphs()
    ]
    return *kernels, runtime_text(target), str(costs), str(haste(target))


def haste(target: Host) -> list[bool]:
    """Which graphs LLVM is told to hurry with."""
    hurried: list[bool] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(llvm, "assembled", lambda *_, hasty=False: hurried.append(hasty))
        for graph in graphs():
            llvm.compile_graph(graph, "f", target)
    return hurried


def test_every_number_is_tried():
    assert set(FORCED) == {f.name for f in fields(Tuning)}


@pytest.mark.parametrize("name", FORCED)
def test_each_number_is_read_where_code_is_made(name):
    usual = named("AVX-512").tuned(**BASES.get(name, {}))
    assert getattr(usual.tuning, name) != FORCED[name]
    assert texts(usual.tuned(**{name: FORCED[name]})) != texts(usual)


@pytest.mark.parametrize("name", FORCED)
def test_no_result_depends_on_it(name):
    forced = native().tuned(**BASES.get(name, {}) | {name: FORCED[name]})
    for graph in graphs()[2:]:
        given = samples(graph, 19)
        made = [
            load_object(
                compile_graph(graph, "f", target), "f", graph.inputs, graph.outputs, target=target
            )
            for target in (native(), forced)
        ]
        assert np.array_equal(made[0](*given), made[1](*given))
