"""Programs: which products are fused, in what order, and that loads, stores and slots keep every value."""

from __future__ import annotations

import numpy as np
import pytest

from dynarm.graph.graph import Builder, Port
from dynarm.machine.host import USUAL, Tuning
from dynarm.machine.lower.fusion import Instruction, code_of
from dynarm.machine.lower.order import (
    by_latency,
    cycles,
    depth_first,
    outputs_by_columns,
    outputs_by_rows,
)
from dynarm.machine.lower.program import Call, program_of
from oracles.machine_graphs import (
    ARITHMETIC,
    newton_euler_graph,
    random_graph,
    run_program,
    samples,
)


def ops_of(write, fused: bool = True) -> list[str]:
    """The operations that are left of what `write` computes from four inputs."""
    build = Builder()
    results = write(build, *(build.input(0, k) for k in range(4)))
    graph = build.finish([Port("x", (4,))], [Port("y", (len(results),))], [results])
    return sorted(ins.op for ins in code_of(graph, fused)[0].values())


@pytest.mark.parametrize(
    ("write", "ops"),
    [
        (lambda b, x, y, z, w: [b.add(b.mul(x, y), z)], ["fma"]),
        (lambda b, x, y, z, w: [b.sub(z, b.mul(x, y))], ["fma"]),
        (lambda b, x, y, z, w: [b.add(b.mul(x, y), b.mul(z, w))], ["fma", "mul"]),
        # a product of two sums vanishes into both
        (lambda b, x, y, z, w: [b.add(b.mul(x, y), z), b.sub(b.mul(x, y), w)], ["fma", "fma"]),
        # one that is also a factor or an output does not
        (
            lambda b, x, y, z, w: [b.add(b.mul(x, y), z), b.mul(b.mul(x, y), w)],
            ["add", "mul", "mul"],
        ),
        (lambda b, x, y, z, w: [b.add(b.mul(x, y), z), b.mul(x, y)], ["add", "mul"]),
        # of three products in a row of sums the two outer ones vanish
        (
            lambda b, x, y, z, w: [
                b.add(b.mul(x, y), b.mul(y, z)),
                b.add(b.mul(y, z), b.mul(z, w)),
            ],
            ["fma", "fma", "mul"],
        ),
    ],
)
def test_products_vanish_into_sums(write, ops):
    assert ops_of(write) == ops


def test_nothing_is_fused_where_the_host_cannot():
    assert ops_of(lambda b, x, y, z, w: [b.add(b.mul(x, y), z)], fused=False) == ["add", "mul"]


def test_outputs_wanted_with_the_opposite_sign_are_computed_with_it():
    build = Builder()
    x, y, z = (build.input(0, k) for k in range(3))
    results = [-build.sub(x, y), -build.add(build.mul(x, y), z)]
    program = program_of(build.finish([Port("x", (3,))], [Port("y", (2,))], [results]))
    stores = [ins for step in program.steps for ins in step if ins.op == "store"]
    assert len(stores) == 2 and not any(ins.minus[0] for ins in stores)


def test_mirrored_outputs_are_computed_once():
    build = Builder()
    x, y = (build.input(0, k) for k in range(2))
    off = build.mul(x, y)
    rows = [build.mul(x, x), off, off, build.mul(y, y)]
    program = program_of(build.finish([Port("x", (2,))], [Port("m", (2, 2))], [rows]))
    stores = [ins for step in program.steps for ins in step if ins.op == "store"]
    assert program.length == len(stores) == 3
    assert program.outputs[0][1] == program.outputs[0][2]


def test_outputs_that_are_inputs_or_constants_are_not_stored():
    build = Builder()
    x, zero = build.input(0, 0), build.const(0.0)
    results = [x, zero, zero, build.const(-2.0), -x, x]
    program = program_of(build.finish([Port("x", (1,))], [Port("y", (6,))], [results]))
    stores = [ins for step in program.steps for ins in step if ins.op == "store"]
    assert [ins.minus[0] for ins in stores] == [True]
    assert sorted(number for _, number in program.fixed) == [-2.0, 0.0]
    first, second, third, fourth, fifth, last = program.outputs[0]
    assert first == last == program.inputs[0] and second == third
    assert len({first, second, fourth, fifth}) == 4


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize(("registers", "piece"), [(22, 1000), (4, 1000), (5, 7), (22, 10)])
def test_a_program_computes_its_graph(seed, registers, piece):
    """Whatever the number of registers and the cuts, slots end with what the graph's own evaluation gives."""
    graph = random_graph(seed, 50, ops=(*ARITHMETIC, "add"))
    program = program_of(graph, True, Tuning(registers=registers, piece=piece))
    inputs = samples(graph, 1, seed)
    slots = run_program(program, [x[0] for x in inputs])
    for places, expected in zip(program.outputs, graph.evaluate(*inputs), strict=True):
        found = np.array([slots[p] for p in places])
        scale = max(1.0, np.abs(expected).max())
        np.testing.assert_allclose(found, expected.ravel(), rtol=0, atol=1e-11 * scale)


@pytest.mark.parametrize("registers", [4, 22])
def test_registers_are_never_exceeded(registers):
    program = program_of(newton_euler_graph(), True, Tuning(registers=registers))
    for step in program.steps:
        if isinstance(step, Call):
            continue
        born, last = {}, {}  # a value that is loaded again is another one in another register
        for k, ins in enumerate(step):
            for a in (ins.dest,) if ins.op == "store" else () if ins.op == "load" else ins.args:
                if a not in program.constants:
                    last[born[a]] = k
            if ins.op != "store":
                born[ins.dest] = k
        alive = [sum(b < k < end for b, end in last.items()) for k in range(len(step))]
        # operands of one instruction may come on top
        assert registers - 3 <= max(alive) <= registers + 3


def test_angles_are_computed_before_everything_else_and_together():
    steps = program_of(newton_euler_graph()).steps
    calls = [isinstance(step, Call) for step in steps]
    assert calls == [True, False]
    assert len(steps[0].arguments) == 6  # frame 1 does not tilt gravity


def test_many_angles_are_computed_in_groups_of_nearly_equal_size():
    steps = program_of(newton_euler_graph(9)).steps
    assert [len(step.arguments) for step in steps if isinstance(step, Call)] == [4, 4]


def lengths_of(program) -> list[int]:
    """Arithmetic instructions of each piece."""
    return [
        sum(ins.op not in ("load", "store") for ins in step)
        for step in program.steps
        if not isinstance(step, Call)
    ]


def test_a_long_program_is_cut_into_pieces_and_keeps_few_slots():
    program = program_of(newton_euler_graph(30), True, Tuning(piece=400))
    lengths = lengths_of(program)
    assert sum(lengths) == program.length and max(lengths) <= 600 and len(lengths) > 5
    assert program.slots < 0.3 * program.length


def test_long_programs_that_wait_for_results_are_cut_into_brief_pieces():
    """While one block waits, the next one's piece begins; a program that runs from the cache has nothing to gain."""
    long, short = (program_of(newton_euler_graph(n)) for n in (50, 20))
    assert long.tile() == 2 and max(lengths_of(long)) < 1.5 * USUAL.brief
    assert short.tile() == 1 and max(lengths_of(short)) > 2 * USUAL.brief


def test_long_programs_that_do_not_wait_are_cut_into_few_pieces():
    build, columns = Builder(), 3000
    x = [build.input(0, k) for k in range(4)]
    results = [
        build.mul(build.add(x[k % 4], build.const(float(k))), x[(k + 1) % 4])
        for k in range(columns)
    ]
    program = program_of(build.finish([Port("x", (4,))], [Port("y", (columns,))], [results]))
    assert program.tile() == 2
    assert max(lengths_of(program)) > 0.8 * USUAL.piece / (1 + USUAL.store / 2)


ORDERS = {
    "rows, depth first": lambda graph, body: depth_first(body, outputs_by_rows(graph)),
    "columns, depth first": lambda graph, body: depth_first(body, outputs_by_columns(graph)),
    "by latency": lambda graph, body: by_latency(body),
}


@pytest.mark.parametrize("name", ORDERS)
@pytest.mark.parametrize(
    "graph", [newton_euler_graph(5), random_graph(1, 200)], ids=["chain", "random"]
)
def test_an_order_is_one_of_the_same_instructions(name, graph):
    code, _ = code_of(graph, True)
    order = ORDERS[name](graph, list(code.values()))
    assert sorted(ins.dest for ins in order) == sorted(code)
    done: set[int] = set()
    for ins in order:
        assert all(a in done for a in ins.args if a in code)
        done.add(ins.dest)


def test_columns_of_matrices_come_last_one_first():
    build = Builder()
    x = [build.input(0, k) for k in range(7)]
    ports = [Port("v", ()), Port("m", (2, 3))]
    graph = build.finish([Port("x", (7,))], ports, [x[:1], x[1:]])
    assert [graph.nodes[k].args[1] for k in outputs_by_columns(graph)] == [6, 3, 5, 2, 4, 1, 0]


def test_cycles_of_a_chain_and_of_independent_work():
    chain = [Instruction("add", k + 1, (k, k)) for k in range(200)]
    assert cycles(chain) == 200 * USUAL.latency
    apart = [Instruction("add", 1000 + k, (0, 0)) for k in range(200)]
    assert cycles(apart) == 200 / USUAL.ports + USUAL.latency - 1
    # independent work hides beside the chain where both are mixed, not where it stands long before
    mixed = [ins for pair in zip(chain, apart, strict=True) for ins in pair]
    assert cycles(mixed) == cycles(chain)
    assert cycles([*apart, *chain]) > 1.05 * cycles(chain)


def test_latency_is_hidden_where_that_is_possible():
    """A factorisation's chain of divisions beside independent sums: the order by latency mixes them."""
    build = Builder()
    x = [build.input(0, k) for k in range(8)]
    sums = []
    for k in range(40):
        value = x[k % 8]
        for d in range(10):
            value = build.add(build.mul(value, build.const(1.25 + d + k / 64)), x[(k + d) % 8])
        sums.append(value)
    chain = x[0]
    for k in range(12):
        chain = build.div(x[1 + k % 7], build.add(chain, build.const(2.0 + k)))
    graph = build.finish([Port("x", (8,))], [Port("y", (41,))], [[*sums, chain]])
    order = [
        ins for step in program_of(graph).steps for ins in step if ins.op not in ("load", "store")
    ]
    written = list(code_of(graph, True)[0].values())
    assert cycles(order) < 0.8 * cycles(written)


def test_the_order_that_moves_less_is_taken():
    """Outputs one after another beat an order that computes a layer of all of them before the next layer."""
    build, count, depth = Builder(), 40, 12
    rows = [build.input(0, k) for k in range(count)]
    for d in range(depth):
        rows = [
            build.add(build.mul(r, build.const(1.5 + d)), build.input(0, k))
            for k, r in enumerate(rows)
        ]
    graph = build.finish([Port("x", (count,))], [Port("y", (count,))], [rows])
    assert program_of(graph).moves == 2 * count
