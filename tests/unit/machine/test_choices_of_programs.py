"""What decides about a program: which orders are tried, what they cost, where code is cut, what stays in registers."""

from __future__ import annotations

import pytest

from dynarm.graph.graph import Builder, Port
from dynarm.machine.host import Tuning
from dynarm.machine.lower.fusion import Instruction
from dynarm.machine.lower.program import (
    Call,
    Program,
    _cost,
    _cut,
    _evenly,
    _orders,
    _waits,
    program_of,
)
from oracles.machine_graphs import newton_euler_graph, random_graph


def apart(count: int) -> list[Instruction]:
    """Operations on inputs alone."""
    return [Instruction("add", 10 + k, (0, 1)) for k in range(count)]


def chain(count: int) -> list[Instruction]:
    """Operations each of which needs the one before."""
    return [Instruction("add", 10 + k, (9 + k, 1)) for k in range(count)]


def made(steps, slots: int = 0, moves: int = 0) -> Program:
    return Program(tuple(steps), {}, (), (0,), ((0,),), slots, moves)


def test_only_what_takes_longer_than_its_instructions_waits():
    """n independent operations take n/2 + 3 cycles, and a twentieth more than n/2 is not yet waiting."""
    assert _waits(apart(118)) and not _waits(apart(122))
    assert _waits(chain(2000))


def orders_of(written: list[Instruction]) -> int:
    return len(list(_orders(newton_euler_graph(1), written)))


def test_how_many_orders_are_tried():
    """Of a very long program one; by columns from 1601 instructions on, by latency up to there if any waits."""
    assert [orders_of(apart(n)) for n in (1600, 1601, 20000, 20001)] == [2, 3, 3, 1]
    assert orders_of(chain(1600)) == orders_of(chain(1601)) == 3


def test_what_an_order_costs():
    """Cycles, and an eighth of a cycle or so for a move; of a long program moves, and two for each slot."""
    program = made([], slots=10, moves=100)
    assert _cost(chain(10), program) == pytest.approx(40 + 12)
    assert _cost(chain(1600), program) == pytest.approx(6400 + 12)
    assert _cost(chain(1601), program) == pytest.approx(100 + 20)


def test_only_what_leaves_the_instruction_cache_is_tiled():
    """Loads and stores take room in it, too; calls do not."""
    load = Instruction("load", 5, (0,))
    call = Call("sincos", (0,), (1, 2))
    pieces = [tuple(apart(3000)), call, (*apart(900), *[load] * 100)]
    assert made(pieces).length == 3900
    assert made(pieces, moves=100).tile() == 1
    assert made(pieces, moves=101).tile() == 2


def test_parts_of_nearly_equal_length():
    assert [len(part) for part in _evenly(list(range(13)), 6)] == [4, 4, 5]
    assert _evenly(list(range(12)), 6) == [list(range(6)), list(range(6, 12))]
    assert _evenly([], 6) == []


# ---- cuts


def necklace(beads: int, width: int) -> list[Instruction]:
    """Beads of `width` products and the sums that make one number of them, which the next bead begins with."""
    body, last, fresh = [], 0, 10
    for _ in range(beads):
        products = []
        for _ in range(width):
            body.append(Instruction("mul", fresh, (last, 1)))
            products.append(fresh)
            fresh += 1
        for p in products[1:]:
            body.append(Instruction("add", fresh, (products[0], p)))
            products[0] = fresh
            fresh += 1
        last = products[0]
    return body


def test_code_is_cut_where_one_value_is_alive():
    """Beads of 19 instructions, in pieces of about 200: each cut lies between two beads."""
    body = necklace(50, 10)
    parts = _cut(body, {}, 200)
    assert [ins for part in parts for ins in part] == body
    assert len(parts) == 5
    assert all(len(part) % 19 == 0 for part in parts)
    assert all(130 <= len(part) <= 270 for part in parts)


def test_what_is_light_enough_is_not_cut():
    body = necklace(10, 10)
    assert len(body) == 190
    assert _cut(body, {}, 190) == [body]
    assert len(_cut(body, {}, 189)) == 2
    assert _cut([], {}, 100) == [[]]


def test_a_stored_output_weighs_as_much_as_three_instructions():
    body = apart(100)
    wanted = {ins.dest: {False} for ins in body[:50]}
    wanted[body[0].dest] = {False, True}  # with both signs: two stores
    assert len(_cut(body, wanted, 253)) == 1
    assert len(_cut(body, wanted, 252)) == 2
    # the first half weighs four times as much: a cut in the middle of the weight lies early
    first, _ = _cut(body, wanted, 252)
    assert 18 <= len(first) <= 45


# ---- registers and slots


def moved(program: Program) -> list[str]:
    """Loads and stores in order, by name of operation."""
    return [
        ins.op
        for step in program.steps
        if not isinstance(step, Call)
        for ins in step
        if ins.op in ("load", "store")
    ]


def test_the_value_that_is_needed_last_leaves_the_registers():
    """x^2, x^4 ... are read in the opposite order: the first ones go to memory, the last ones stay."""
    build = Builder()
    powers = [build.input(0, 0)]
    for _ in range(5):
        powers.append(build.mul(powers[-1], powers[-1]))
    total = powers[5]
    for p in powers[4:0:-1]:
        total = build.mul(build.unary("sqrt", total), p)
    graph = build.finish([Port("x", (1,))], [Port("y", ())], [[total]])
    counts = {r: program_of(graph, True, Tuning(registers=r)).moves for r in (2, 3, 4, 5, 6)}
    # x is loaded and y is stored in any case; what does not fit is stored and loaded once
    assert counts == {2: 8, 3: 6, 4: 4, 5: 2, 6: 2}


def test_slots_are_given_away_after_their_last_use():
    """A row of wide beads needs the room of one bead, however many there are."""

    def slots(beads: int) -> int:
        build = Builder()
        last = build.input(0, 0)
        for b in range(beads):
            products = [build.mul(last, build.const(2.0 + b + k / 64)) for k in range(20)]
            value = products[0]
            for p in products[1:]:
                value = build.mul(build.add(value, p), value)
            last = value
        graph = build.finish([Port("x", (1,))], [Port("y", ())], [[last]])
        return program_of(graph, True, Tuning(registers=4, piece=100000)).slots

    assert slots(2) == slots(6) <= 24


# joints of an arm and registers: arithmetic, moves, slots, and pieces and calls together
KNOWN = {
    (7, 11): (538, 187, 65, 2),
    (7, 26): (538, 214, 82, 2),
    (20, 11): (1809, 659, 208, 6),
    (40, 26): (3788, 962, 426, 21),
}


@pytest.mark.parametrize(("joints", "registers"), KNOWN)
def test_moves_and_slots_of_known_programs(joints, registers):
    """No laws, but what the choices above come to: whoever makes them more makes these programs slower."""
    program = program_of(newton_euler_graph(joints), True, Tuning(registers=registers))
    assert len(moved(program)) == program.moves
    made = (program.length, program.moves, program.slots, len(program.steps))
    assert made == KNOWN[joints, registers]


def test_calls_in_a_row_are_rounds():
    """What a call needs comes before it, everything else after the last one; angles of one round go together."""
    build = Builder()
    x = [build.input(0, k) for k in range(3)]
    first = [build.unary("sin", v) for v in x]
    second = build.unary("tanh", build.add(first[0], first[1]))
    third = build.unary("cos", build.mul(second, x[0]))
    rest = build.mul(build.add(x[1], x[2]), third)
    graph = build.finish([Port("x", (3,))], [Port("y", (2,))], [[rest, build.unary("cos", x[2])]])
    steps = program_of(graph).steps
    shown = [
        (s.op, len(s.arguments))
        if isinstance(s, Call)
        else [i.op for i in s if i.op not in ("load", "store")]
        for s in steps
    ]
    assert shown == [
        ("sincos", 3),
        ["add"],
        ("tanh", 1),
        ["mul"],
        ("sincos", 1),
        ["add", "mul"],
    ]


def test_the_negative_of_what_the_last_call_gives_is_stored_after_it():
    build = Builder()
    first = build.unary("sin", build.input(0, 0))
    results = [-build.unary("sin", first), build.unary("tanh", first)]
    program = program_of(build.finish([Port("x", (1,))], [Port("y", (2,))], [results]))
    assert [isinstance(step, Call) for step in program.steps] == [True, True, True, False]
    assert [(ins.op, ins.minus[0]) for ins in program.steps[-1]] == [
        ("load", False),
        ("store", True),
    ]
    assert program.outputs[0][0] == program.steps[-1][1].args[0]


def test_a_program_is_for_the_registers_of_a_wide_host_unless_it_is_told():
    graph = newton_euler_graph(7)
    assert program_of(graph) == program_of(graph, True, Tuning(registers=26, piece=1200))


@pytest.mark.parametrize("seed", range(4))
def test_results_of_calls_lie_side_by_side(seed):
    for step in program_of(random_graph(seed, 80)).steps:
        if isinstance(step, Call):
            assert step.results == tuple(
                range(step.results[0], step.results[0] + len(step.results))
            )
            assert len(step.results) == len(step.arguments) * (2 if step.op == "sincos" else 1)
