"""What emitted code is made of: lines of cache that it asks for, ways of moving, limits, counts of instructions."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace

import pytest

from dynarm.graph.graph import Port
from dynarm.graph.ops import OPERATIONS
from dynarm.machine.abi import Table
from dynarm.machine.emit import elementary, layout
from dynarm.machine.emit.kernel import _dense, _lines, _middle, _woven, kernel_text
from dynarm.machine.emit.lanes import Lanes
from dynarm.machine.host import USUAL, Host, named, narrowed
from dynarm.machine.lower.fusion import Instruction
from dynarm.machine.lower.program import Call, Program, program_of
from oracles.machine_graphs import newton_euler_graph, random_graph

SINCOS = Call("sincos", (0,), (1, 2))


def sums(count: int) -> tuple[Instruction, ...]:
    return tuple(Instruction("add", 10 + k, (0, 1)) for k in range(count))


def made(steps, slots: int = 40, outputs=((20, 21, 22, 23),)) -> Program:
    return Program(tuple(steps), {0: 1.0, 1: 2.0}, (), (0,), outputs, slots, 0)


# ---- asking for lines of cache


def test_every_line_is_asked_for_once_after_the_last_call_and_evenly():
    """By pieces three to one in length, and of a long and a short port in turn."""
    program = made([sums(50), SINCOS, sums(30), sums(10)])
    ports = {0: Port("long", (9,)), 1: Port("short", (3,)), 2: Port("odd", (1,))}
    found = _lines(program, ports, 8, 64)
    assert set(found) == {2, 3}
    assert [len(found[k]) for k in (2, 3)] == [10, 3]
    flat = found[2] + found[3]
    wanted = {0: 9, 1: 3, 2: 1}  # 8 lanes: a line for each element
    assert sorted(flat) == [(p, line) for p, count in wanted.items() for line in range(count)]
    assert [place for place in flat if place[0] == 1] == [(1, 0), (1, 1), (1, 2)]
    assert [flat.index((1, k)) for k in range(3)] == [1, 6, 10], "thirds of the way"
    # two lanes: four elements in a line, the last one may be begun only
    few = [port for piece in _lines(program, ports, 2, 64).values() for port, _ in piece]
    assert Counter(few) == {0: 3, 1: 1, 2: 1}


def test_programs_that_end_with_a_call_ask_for_nothing():
    assert _lines(made([sums(5), SINCOS]), {0: Port("x", (9,))}, 8, 64) == {}
    assert set(_lines(made([sums(5), sums(5)]), {0: Port("x", (9,))}, 8, 64)) == {0, 1}


def test_how_lines_are_asked_for():
    """Into the first level to be written to, into the second to be read; both of data."""
    assert layout.asked("%p") == "call void @llvm.prefetch.p0(ptr %p, i32 1, i32 3, i32 1)"
    assert layout.asked("%p", False) == "call void @llvm.prefetch.p0(ptr %p, i32 0, i32 2, i32 1)"


def asked_in(text: str) -> Counter:
    """How often lines are asked for, to be read (0) and to be written to (1)."""
    return Counter(re.findall(r"call void @llvm\.prefetch\.p0\(ptr [^,]*, i32 (\d)", text))


def function(text: str, name: str) -> str:
    return re.search(rf"define [^\n]*@{name}\(.*?\n}}", text, re.DOTALL)[0]


def emitted(graph, target: Host) -> str:
    program = program_of(graph, target.fused, target.tuning)
    return kernel_text(program, graph.inputs, graph.outputs, target)


@pytest.mark.parametrize(("name", "lines"), [("AVX-512", 1), ("AVX2", 2), ("SSE2", 4)])
def test_a_kernel_asks_for_the_lines_of_its_ports(name, lines):
    """Seven elements of three inputs and of an output; the kernel of one sample asks for nothing."""
    text = emitted(newton_euler_graph(), named(name).tuned(woven=False))
    each = -(-7 // lines)
    assert asked_in(text) == {"0": 3 * each, "1": each}
    assert not asked_in(function(text, "piece1_1"))
    # lines are 64 bytes apart: of the first one no address need be computed
    steps = re.findall(r"getelementptr i8, ptr %v\d+, i64 (\d+)\ncall void @llvm.prefetch", text)
    assert Counter(map(int, steps)) == {64 * k: 4 for k in range(1, each)}


@pytest.mark.parametrize(("size", "lines"), [(16, 16), (17, 0)])
def test_lines_of_long_outputs_are_not_asked_for(size, lines):
    graph = random_graph(1, inputs=((3,),), outputs=((size,), (2,)))
    text = emitted(graph, named("AVX-512").tuned(woven=False))
    assert asked_in(text) == {"0": 3, "1": lines + 2}


def test_a_woven_kernel_asks_for_lines_four_blocks_ahead():
    f = Lanes(8)
    for _ in layout.singly_steps(f, 1, [[5, 6, 7]], "%far", "%last", USUAL):
        pass
    steps = re.findall(
        r"getelementptr i8, ptr %v\d+, i64 (\d+)\ncall void @llvm.pref", "\n".join(f.text)
    )
    assert list(map(int, steps)) == [4 * 192, 4 * 192 + 64, 4 * 192 + 128]
    assert asked_in("\n".join(f.text)) == {"1": 3}


def test_pieces_count_from_a_slot_near_the_last():
    assert [_middle(made([], slots=n)) for n in (100, 128, 300)] == [0, 0, 172]


# ---- which code of its own a kernel has


def slots_of(*sizes: int) -> list[range]:
    return [range(size) for size in sizes]


@pytest.mark.parametrize(
    ("side", "width", "sizes", "own"),
    [
        ("come", 8, (60, 4), True),
        ("come", 8, (61, 4), False),  # more than 64 elements
        ("come", 8, (64,), True),
        ("come", 8, (65,), False),
        ("come", 8, (7, 3), False),  # rows shorter than what is transposed together
        ("come", 2, (7, 2), True),
        ("come", 2, (7, 1), False),
        ("come", 4, (4,), True),
        ("come", 4, (3,), False),
        ("come", 1, (7,), False),
        ("go", 8, (15, 15), True),
        ("go", 8, (16,), False),  # staged: written in whole lines of cache
    ],
)
def test_which_ports_are_moved_by_code_of_their_own(side, width, sizes, own):
    assert bool(_dense(side, slots_of(*sizes), 0, narrowed(named("AVX-512"), width))) == own


def weaves(program: Program, inputs=((0, 1, 2, 3),)) -> bool:
    return bool(_woven(program, inputs, named("AVX-512")))


def test_which_programs_are_woven():
    assert weaves(made([sums(600)])) and not weaves(made([sums(601)]))
    assert weaves(made([SINCOS, sums(9)])) and weaves(made([sums(9), SINCOS, sums(9)]))
    assert not weaves(made([SINCOS])) and not weaves(made([]))
    assert not weaves(made([sums(9), sums(9)])), "two pieces would ask for lines"
    assert not weaves(made([sums(9)], outputs=((20, 21, 22),))), "short"
    assert weaves(made([sums(9)], outputs=(range(20, 35),)))
    assert not weaves(made([sums(9)], outputs=(range(20, 36),))), "staged"
    assert weaves(made([sums(9)], slots=90, outputs=[range(20, 32)] * 5))
    assert not weaves(made([sums(9)], slots=90, outputs=[range(20, 33)] * 5)), "65 elements"
    assert not weaves(made([sums(9)], outputs=((3, 21, 22, 23),))), "an output that is an input"


def test_moves_of_a_woven_kernel_count_from_the_same_slot_as_its_pieces():
    """With 300 slots of 64 bytes from slot 172 on: inputs from slot 0, outputs from slot 200."""
    program = made([sums(9)], slots=300, outputs=(range(200, 204),))
    text = "\n".join(_woven(program, ((0, 1, 2, 3),), named("AVX-512")))
    for area in ("%work", "%other"):
        assert f"getelementptr i8, ptr {area}, i64 {172 * 64}\n" in text
    offsets = re.findall(r"getelementptr i8, ptr %far, i64 (-?\d+)", text)
    wanted = [-172, -171, -170, -169, 28, 29, 30, 31]
    assert list(map(int, offsets)) == [64 * slot for slot in wanted]


def test_kernels_are_woven_where_the_host_weaves_and_inputs_are_dense():
    whole = named("AVX-512")
    assert "@woven8(" in emitted(newton_euler_graph(4), whole)
    assert "@woven8(" not in emitted(newton_euler_graph(3), whole), "rows of three are short"
    assert "@woven8(" not in emitted(newton_euler_graph(4), whole.tuned(woven=False))


@pytest.mark.parametrize(("count", "scalar"), [(20000, True), (20001, False)])
def test_a_huge_program_has_no_kernel_for_one_sample(count, scalar):
    text = kernel_text(made([sums(count)]), [Port("x", (4,))], [Port("y", (4,))], named("AVX2"))
    assert ("@kernel1(" in text) == ("@entry(" in text) == scalar
    assert "@kernel4(" in text


def test_workspaces_and_the_rest_of_the_table():
    """Inputs, outputs, slots, tile, workspaces, largest output, constants, all outputs together; then the ports."""
    ports = [Port("x", (4,))], [Port("y", (2, 2)), Port("z", ())]
    program = Program(
        (sums(9),),
        {0: 1.0, 1: 2.0},
        ((30, 2.0), (31, -0.0)),
        (0,),
        ((20, 21, 22, 30), (31,)),
        40,
        0,
    )
    entry = r"@dynarm_table = .*\[\d+ x i64\] \[(.*)\]"
    text = kernel_text(program, *ports, named("AVX2"))
    table = [int(x.split()[1]) for x in re.search(entry, text)[1].split(", ")]
    assert table[:8] == [1, 2, 40, 1, 1, 4, 2, 5]
    # slot or place of slots, size, where steps of axes begin among NumPy's, three lengths, axes
    first = Table.PORTS + 3 * 7 + 4
    assert table[8:29] == [
        *(0, 4, 3 - 2, 1, 1, 4, 1),
        *(first, 4, 4 - 1, 1, 2, 2, 2),
        *(first + 4, 1, 6 - 3, 1, 1, 1, 0),
    ]
    assert table[29:] == [30, 0x4000000000000000, 31, -(2**63), 20, 21, 22, 30, 31]
    long = kernel_text(replace(program, moves=5000), *ports, named("AVX2"))
    assert "i64 40, i64 3, i64 3, i64 4, i64 2" in long, "a workspace for each block of a tile"
    # from block to block: 40 slots of four numbers, three addresses of lines
    steps = re.findall(r"= mul i64 %i\d+, (\d+)", function(long, "kernel4"))
    assert steps == [str(40 * 4 * 8), str(3 * 8)]
    assert "mul" not in function(long, "kernel1") and "mul" not in function(text, "kernel4")


# ---- counts


ARITHMETIC = r"\b(fadd|fsub|fmul|fdiv|call [^@\n]*@llvm\.fma)\b"


@pytest.mark.parametrize("width", [1, 2, 4, 8])
def test_instructions_of_the_elementary_functions_are_those_that_are_counted(width):
    for count in (1, 6):
        text = "\n".join(elementary.sincos(count, width, True))
        assert len(re.findall(ARITHMETIC, text)) == OPERATIONS["sin"].instructions * count
    text = "\n".join(elementary.tanh(width, True))
    assert len(re.findall(ARITHMETIC, text)) == OPERATIONS["tanh"].instructions
