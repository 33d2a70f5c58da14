"""A program as LLVM text: a kernel for one sample, a kernel for vectors of samples, and a table that describes them.

`machine/abi.py` says how they are called. Straight-line code longer than the processor's instruction cache runs only
as fast as code can be fetched, so a long program takes two blocks of samples (a tile) through each piece in turn
instead of each block through all pieces. While it computes, a kernel asks for the lines of cache of inputs that are to
come, a few at a time, and for those of short outputs.
"""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Iterator, Mapping, Sequence

from ...errors import KindError
from ...graph.graph import Port
from ...graph.ops import Way, named
from ..abi import (
    KERNEL_ARGUMENTS,
    KNOWN,
    MOST_AXES,
    MOST_PORTS,
    PORT,
    QUICK,
    TABLE,
    WORD,
    WOVEN_ARGUMENTS,
    Table,
    called,
)
from ..host import Host, Tuning
from ..lower.fusion import Instruction
from ..lower.program import Call, Program
from .elementary import c_function, lane_by_lane
from .lanes import Lanes, integer
from .layout import ASK, asked, dense, dense_steps, group, singly_steps


def kernel_text(
    program: Program, inputs: Sequence[Port], outputs: Sequence[Port], target: Host
) -> str:
    """The module of a program: both kernels (of a huge one the widest only) and the table."""
    width, tuning = target.width, target.tuning
    calls = {(s.op, len(s.arguments)) for s in program.steps if isinstance(s, Call)}
    single = named(Way.LIBRARY)
    text = [ASK, *(c_function(op) for op, _ in sorted(calls) if op in single)]
    widths = sorted({1, width}) if program.length <= tuning.huge else [width]
    for w in widths:
        text += Lanes(w).declarations()
        for op, count in sorted(calls):
            if op in single:
                text += lane_by_lane(op, w)
                continue
            arguments = ", ".join(["ptr"] * (count + 1))
            text.append(f"declare void @{called(op, count, w)}({arguments})")
        text += _kernel(program, [*inputs, *outputs], len(inputs), w, target)
    moves = []
    places = [range(s, s + port.size) for s, port in zip(program.inputs, inputs, strict=True)]
    sides: list[tuple[str, Sequence[Sequence[int]], int]]
    sides = [("come", places, 0), ("go", program.outputs, len(inputs))]
    for name, slots, first in sides:
        code = _dense(name, slots, first, target)
        moves.append(f"@dense_{name}{width}" if code else "null")
        text += code
    woven = _woven(program, places, target) if tuning.woven and moves[0] != "null" else []
    moves.append(f"@woven{width}" if woven else "null")
    text += woven
    text += _entry() if 1 in widths else []
    kernels = ["@kernel1" if 1 in widths else "null", f"@kernel{width}"]
    entry = ["@entry" if 1 in widths else "null", f"@{KNOWN}"]
    pointers = [*kernels, *moves, *entry, "null", "null"]
    return "\n".join([*text, *_table(program, inputs, outputs, pointers, program.tile(tuning))])


def _dense(name: str, slots: Sequence[Sequence[int]], first: int, target: Host) -> list[str]:
    """Code that moves all ports of one side at once, if there are not too many of them and none is short."""
    sizes, width, most = [len(port) for port in slots], target.width, target.tuning.unrolled
    longest = target.tuning.stage[0] - 1 if name == "go" else most
    if width == 1 or min(sizes) < group(width) or max(sizes) > longest or sum(sizes) > most:
        return []
    return dense(name, first, slots, width)


def _entry() -> list[str]:
    """The function that Python calls: it knows the table, all else is done by what every kernel shares."""
    given = "ptr %self, ptr %args, i64 %nargs, ptr %kwnames"
    return [
        f"declare ptr @{QUICK}(ptr, ptr, ptr, i64, ptr)",
        f"define internal ptr @entry({given}) nounwind {{",
        f"%made = tail call ptr @{QUICK}(ptr @{TABLE}, {given})",
        "ret ptr %made",
        "}",
    ]


def _kernel(
    program: Program, ports: Sequence[Port], inputs: int, width: int, target: Host
) -> list[str]:
    text: list[str] = []
    main = Lanes(width, target.fused)
    line = target.tuning.line
    most = target.tuning.asked_most
    asked_for = {p: port for p, port in enumerate(ports) if p < inputs or port.size <= most}
    asked_by = _lines(program, asked_for, width, line) if width > 1 else {}
    for k, step in enumerate(program.steps):
        if not isinstance(step, Call):
            asking = [(port, line * at, port >= inputs) for port, at in asked_by.get(k, ())]
            text += _piece(step, program, asking, f"piece{width}_{k}", width, target.fused)
        if width == 1 or program.tile(target.tuning) == 1:
            _run(main, program, k, "%work", "%lines")
            continue
        with main.repeat("%blocks") as block:
            work = main.ahead("%work", main.whole("mul", block, 8 * width * program.slots))
            lines = main.ahead("%lines", main.whole("mul", block, WORD * len(ports)))
            _run(main, program, k, work, lines)
    return [*text, *main.function(f"internal void @kernel{width}({KERNEL_ARGUMENTS})")]


def _lines(
    program: Program, ports: Mapping[int, Port], width: int, size: int
) -> dict[int, list[tuple[int, int]]]:
    """For each piece after the last call, which lines of that size [bytes] it asks for: port and number, evenly."""
    last = max((k for k, step in enumerate(program.steps) if isinstance(step, Call)), default=-1)
    pieces = range(last + 1, len(program.steps))
    counts = {p: -(-port.size * 8 * width // size) for p, port in ports.items()}
    lines = [(p, line) for p, count in counts.items() for line in range(count)]
    lines.sort(key=lambda place: place[1] / counts[place[0]])
    ends = list(itertools.accumulate(len(program.steps[k]) for k in pieces))
    of_piece: dict[int, list[tuple[int, int]]] = {}
    for k, place in enumerate(lines if ends else ()):
        piece = pieces[bisect.bisect_right(ends, k * ends[-1] // len(lines))]
        of_piece.setdefault(piece, []).append(place)
    return of_piece


def _run(main: Lanes, program: Program, k: int, work: str, lines: str) -> None:
    """Step k of the program on one workspace."""
    step = program.steps[k]
    if not isinstance(step, Call):
        middle = main.slot(work, _middle(program))
        main.line(f"call void @piece{main.width}_{k}(ptr {middle}, ptr {lines})")
        return
    places = ", ".join(f"ptr {main.slot(work, s)}" for s in (*step.arguments, step.results[0]))
    main.line(f"call void @{called(step.op, len(step.arguments), main.width)}({places})")


def _middle(program: Program) -> int:
    """The slot that pieces count from: 128 slots on either side of it are reached by the shortest addresses."""
    return max(0, program.slots - 128)


def _woven(program: Program, places: Sequence[Sequence[int]], target: Host) -> list[str]:
    """woven<W>(records, work, other, next, last): one block, with the moves of its neighbours woven in.

    Transposing keeps one kind of execution port busy and leaves others idle; between arithmetic instructions it costs
    almost nothing. While the block in `work` is computed, the inputs of the block from sample `next` on come into the
    workspace `other`, and the outputs of the block from sample `last` on go from there.
    """
    main, width, tuning = program.steps[-1] if program.steps else (), target.width, target.tuning
    if not main or isinstance(main, Call) or program.length > tuning.woven_most:
        return []
    sizes = [len(port) for port in program.outputs]
    if min(sizes) < group(width) or max(sizes) >= tuning.stage[0] or sum(sizes) > tuning.unrolled:
        return []
    taken = {slot for port in places for slot in port}
    if any(taken.intersection(port) for port in program.outputs):
        return []  # outputs that would be the next block's inputs by then
    if not all(isinstance(step, Call) for step in program.steps[-2:-1]):
        return []  # a piece before the last one that would ask for lines, too
    f = Lanes(width, target.fused)
    for k in range(len(program.steps) - 1):
        _run(f, program, k, "%work", "null")  # only the last piece would ask for lines
    middle = 8 * width * _middle(program)
    f.line(f"%middle = getelementptr i8, ptr %work, i64 {middle}")
    f.line(f"%far = getelementptr i8, ptr %other, i64 {middle}")
    count = sum(1 for _ in _moves(Lanes(width), program, places, tuning))
    _write(f, main, program, _moves(f, program, places, tuning), count)
    return f.function(f"internal void @woven{width}({WOVEN_ARGUMENTS})")


def _moves(
    f: Lanes, program: Program, places: Sequence[Sequence[int]], tuning: Tuning
) -> Iterator[None]:
    """The instructions that move inputs into the workspace around %far, and outputs from there; a pause after each."""
    middle = _middle(program)
    come, go = (
        [[slot - middle for slot in port] for port in side] for side in (places, program.outputs)
    )
    yield from dense_steps(f, "come", 0, come, "%far", "%next")
    yield from singly_steps(f, len(places), go, "%far", "%last", tuning)


def _piece(
    piece: Sequence[Instruction],
    program: Program,
    lines: Sequence[tuple[int, int, bool]],
    name: str,
    width: int,
    fused: bool,
) -> list[str]:
    """A piece that also asks for lines: of which port, how many bytes on, and whether it will be written to."""
    lanes = Lanes(width, fused)
    _write(lanes, piece, program, _asking(lanes, lines), len(lines))
    return lanes.function(f"internal void @{name}(ptr noalias %middle, ptr noalias %lines)")


def _asking(f: Lanes, lines: Sequence[tuple[int, int, bool]]) -> Iterator[None]:
    """The instructions that ask for lines, a pause after each."""
    at: dict[int, str] = {}
    for port, offset, write in lines:
        if port not in at:
            at[port] = f.entry("%lines", port, "ptr")
        f.line(asked(f.ahead(at[port], offset), write))
        yield


def _write(
    lanes: Lanes, piece: Sequence[Instruction], program: Program, moves: Iterator[None], count: int
) -> None:
    """The instructions of a piece, those of the moves evenly between them."""
    value = {k: lanes.number(c) for k, c in program.constants.items()}
    middle = _middle(program)
    done = 0
    for place, (op, dest, args, minus) in enumerate(piece):
        while done * len(piece) < place * count:
            next(moves, None)
            done += 1
        if op == "load":
            value[dest] = lanes.load(lanes.slot("%middle", args[0] - middle))
        elif op == "store":
            x = lanes.neg(value[dest]) if minus[0] else value[dest]
            lanes.store(x, lanes.slot("%middle", args[0] - middle))
        elif op == "fma":
            a, b, c = (value[x] for x in args)
            value[dest] = lanes.fma(
                lanes.neg(a) if minus[0] else a, b, lanes.neg(c) if minus[1] else c
            )
        else:
            value[dest] = lanes.operation(op, *(value[x] for x in args))
    for _ in moves:
        pass


def _table(
    program: Program,
    inputs: Sequence[Port],
    outputs: Sequence[Port],
    pointers: Sequence[str],
    tile: int,
) -> list[str]:
    ports = [*inputs, *outputs]
    if len(ports) > MOST_PORTS:
        raise KindError(
            f"the function has {len(ports)} inputs and outputs; at most {MOST_PORTS} are compiled"
        )
    areas = tile if pointers[Table.WOVEN] == "null" else 2
    entries = [len(inputs), len(outputs), program.slots, tile, areas]
    sizes = [port.size for port in outputs]
    entries += [max(sizes), len(program.fixed), sum(sizes)]
    core = len(ports)
    listed = Table.PORTS + PORT * len(ports) + 2 * len(program.fixed)
    starts = itertools.accumulate((port.size for port in outputs), initial=listed)
    for port, slot in zip(ports, (*program.inputs, *starts), strict=False):
        axes = len(port.shape)
        if axes > MOST_AXES:
            raise KindError(f"port '{port.name}' has {axes} axes; at most {MOST_AXES} are compiled")
        missing = MOST_AXES - axes
        entries += [slot, port.size, core - missing, *(1,) * missing, *port.shape, axes]
        core += axes
    for slot, number in program.fixed:
        entries += [slot, integer(number)]
    entries += [slot for port in program.outputs for slot in port]
    places = ", ".join(f"ptr {p}" for p in pointers)
    whole = ", ".join(f"i64 {e}" for e in entries)
    kind = f"[{len(entries)} x i64]"
    kinds = ", ".join(["ptr"] * len(pointers) + [kind])
    return [
        f"@{KNOWN} = external global [0 x i64]",
        f"@{TABLE} = dso_local global {{ {kinds} }} {{ {places}, {kind} [{whole}] }}, align 64",
    ]
