"""NumPy's inner loop around any kernel, as LLVM functions: what all compiled functions share.

`machine/abi.py` says what it is given, and what stands in the tables and records that it reads and writes. Whole
blocks of W samples run in the vector kernel, a single sample in the scalar one, and several left over in the vector
kernel with lanes repeated. On a host of one lane all samples run in the scalar kernel.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ..abi import (
    ALIGN,
    LOOP,
    LOOP_ARGUMENTS,
    MOST_AXES,
    MOST_PORTS,
    PORT,
    RECORD,
    WORD,
    Mode,
    PortEntry,
    RecordEntry,
    Table,
    of_c,
)
from ..host import Host, Tuning
from . import builtin, layout
from .elementary import LIBRARY, elementary
from .lanes import Lanes
from .text import PAST, RARELY, Text

HEAP = ("malloc", "free")
PROBED = '"probe-stack"="inline-asm" '  # a stack that is too short is noticed, not jumped over


def runtime_text(target: Host) -> str:
    """The module that every kernel of a host is run by: the loop, the layouts and the elementary functions."""
    width, tuning = target.width, target.tuning
    text = [
        RARELY,
        PAST,
        *(f"declare double @{of_c(name)}(double)" for name in LIBRARY),
        "declare ptr @dynarm_malloc(i64)",
        "declare void @dynarm_free(ptr)",
        layout.ASK,
    ]
    for w in sorted({1, width}):
        text += [*Lanes(w).declarations(), *elementary(w, target)]
        text += [*layout.declarations(w), *layout.layout(w), *_constants(w)]
    text += [*_describe(width, tuning), *_single()]
    text += [*_wide(width, tuning), *_loop(width, tuning.stack)] if width > 1 else _loop_of_one()
    return "\n".join([*text, *builtin.builtin(tuning.copied)])


def _describe(width: int, tuning: Tuning) -> list[str]:
    """describe(args, steps, table, records, count, n): a record for each operand, and how it is moved."""
    f = Text()
    inputs = f.entry("%table", Table.INPUTS)
    ports = f.ahead("%table", WORD * Table.PORTS)
    huge = _huge(f, tuning)
    with f.repeat("%count") as k:
        port = f.ahead(ports, f.whole("mul", k, WORD * PORT))
        record = f.ahead("%records", f.whole("mul", k, WORD * RECORD))
        slot, size, core = (
            f.entry(port, e) for e in (PortEntry.SLOT, PortEntry.SIZE, PortEntry.CORE)
        )
        axes = [f.entry(port, PortEntry.LENGTHS + d) for d in range(MOST_AXES)]
        step = f.entry("%steps", k)
        steps, dense = _spacing(f, core, axes)
        long = f.test("sge", size, layout.group(width))
        mode = f.choose(dense, f.choose(long, Mode.ROWS, Mode.SHORT), Mode.STRIDED)
        gapless = f.both(f.test("eq", mode, Mode.ROWS), f.test("eq", step, f.whole("mul", size, 8)))
        output = f.test("sge", k, inputs)
        least, most = tuning.stage
        wide = f.both(f.test("sge", size, least), f.test("sle", size, most))
        # shorter ones go quickest with the arithmetic, as `dense` and `woven` move them
        past = f.both(huge, f.test("sge", size, least))
        better = f.choose(past, Mode.STREAMED, f.choose(wide, Mode.STAGED, Mode.ROWS))
        mode = f.choose(f.both(gapless, output), better, mode)
        asked = f.choose(gapless, f.whole("mul", step, width), 0)
        asked = f.choose(f.both(output, past), 0, asked)
        mode = f.choose(f.test("eq", step, 8), Mode.COLUMNS, mode)
        still = f.both(f.test("eq", step, 0), f.test("slt", k, inputs))
        mode = f.choose(still, Mode.FIXED, mode)
        f.set_entry(record, RecordEntry.BASE, f.entry("%args", k, "ptr"), "ptr")
        listed = f.put(f"ptrtoint ptr {f.ahead('%table', f.whole('mul', slot, 8))} to i64")
        tight = f.both(gapless, f.test("eq", mode, Mode.ROWS))
        flag = f.choose(tight, 2, f.choose(dense, 1, 0))
        for entry, value in (
            (RecordEntry.STEP, step),
            (RecordEntry.MODE, mode),
            (RecordEntry.DENSE, flag),
            (RecordEntry.SLOT, f.choose(output, listed, slot)),
            (RecordEntry.SIZE, size),
            (RecordEntry.AHEAD, asked),
        ):
            f.set_entry(record, entry, value)
        for d in range(MOST_AXES):
            f.set_entry(record, RecordEntry.AXES + d, axes[d])
            f.set_entry(record, RecordEntry.STEPS + d, steps[d])
    return f.function(
        "internal void @describe(ptr %args, ptr %steps, ptr %table, ptr %records, i64 %count, i64 %n)"
    )


def _spacing(f: Text, core: str, axes: list[str]) -> tuple[list[str], str]:
    """The steps of an operand's own axes, and whether its entries lie one after the other."""
    dense, whole = "true", "8"
    steps: list[str] = []
    for d in reversed(range(MOST_AXES)):
        # axes that a port does not have stand first; their steps are never used, but must not be read from nowhere
        place = f.whole("add", core, d)
        place = f.choose(f.test("slt", place, 0), 0, place)
        steps.insert(0, f.entry("%steps", place))
        same = f.put(f"or i1 {f.test('eq', axes[d], 1)}, {f.test('eq', steps[0], whole)}")
        dense, whole = f.both(dense, same), f.whole("mul", whole, axes[d])
    return steps, dense


def _huge(f: Text, tuning: Tuning) -> str:
    """Whether no cache will hold all outputs of n samples until they are read."""
    together = f.whole("mul", f.entry("%table", Table.WHOLE), 8)
    return f.test("sgt", f.whole("mul", together, "%n"), tuning.past_caches)


def _constants(width: int) -> list[str]:
    """constants<W>(table, work): write the outputs that are constants."""
    f = Lanes(width)
    count = f.entry("%table", Table.CONSTANTS)
    with f.when(f.test("sgt", count, 0)):
        ports = f.whole("add", f.entry("%table", Table.INPUTS), f.entry("%table", Table.OUTPUTS))
        first = f.whole("add", f.whole("mul", ports, PORT), Table.PORTS)
        with f.repeat(count) as k:
            place = f.whole("add", first, f.whole("mul", k, 2))
            slot, number = f.entry("%table", place), f.entry("%table", f.whole("add", place, 1))
            with f.repeat(width) as lane:
                f.set_entry("%work", f.whole("add", f.whole("mul", slot, width), lane), number)
    return f.function(f"internal void @constants{width}(ptr %table, ptr %work)")


@contextmanager
def _records(f: Text, name: str) -> Iterator[str]:
    """For each input (come) or each output (go) its record."""
    inputs = f.entry("%table", Table.INPUTS)
    number = inputs if name == "come" else f.entry("%table", Table.OUTPUTS)
    with f.repeat(number) as k:
        index = k if name == "come" else f.whole("add", k, inputs)
        yield f.ahead("%records", f.whole("mul", index, WORD * RECORD))


def _ports(f: Text, name: str, width: int, work: str, first: str, count: str | int) -> None:
    """Move all inputs (come) or all outputs (go) of `count` samples from `first` on."""
    stage = ", ptr %stage" if name == "go" else ""
    with _records(f, name) as record:
        line = (
            f"call void @{name}{width}(ptr {record}, ptr {work}, i64 {first}, i64 {count}{stage})"
        )
        if name == "come" and width > 1:
            with f.when(f.test("ne", f.entry(record, RecordEntry.MODE), Mode.FIXED)):
                f.line(line)
        else:
            f.line(line)


def _single() -> list[str]:
    """single(table, records, first, last): samples one by one in the scalar kernel."""
    f = Text()
    slots = f.entry("%table", Table.SLOTS)
    f.line(f"%work = alloca double, i64 {slots}, align {ALIGN}")
    f.line("%stage = getelementptr i8, ptr %work, i64 0")
    f.line("call void @constants1(ptr %table, ptr %work)")
    kernel = f.entry("%table", Table.KERNEL_ONE, "ptr")
    with f.repeat(f.whole("sub", "%last", "%first")) as k:
        sample = f.whole("add", k, "%first")
        _ports(f, "come", 1, "%work", sample, 1)
        f.line(f"call void {kernel}(ptr %work, i64 1, ptr null)")
        _ports(f, "go", 1, "%work", sample, 1)
    return f.function(
        "internal void @single(ptr %table, ptr %records, i64 %first, i64 %last)", PROBED
    )


def _wide(width: int, tuning: Tuning) -> list[str]:
    """wide(table, records, work, n): n > 1 samples, block by block."""
    f = Text()
    # whether the kernel's own code can move inputs and outputs, and whether the kernel with its moves woven in can run
    f.line("%dense = alloca [3 x i64], align 16")
    f.line(f"%lines = alloca [{tuning.tile * MOST_PORTS} x ptr], align 16")
    _note_dense(f)
    tile, slots = f.entry("%table", Table.TILE), f.entry("%table", Table.SLOTS)
    areas = f.entry("%table", Table.AREAS)
    stride = f.whole("mul", slots, 8 * width)
    f.line(f"%stage = getelementptr i8, ptr %work, i64 {f.whole('mul', stride, areas)}")
    with f.repeat(areas) as b:
        work = f.ahead("%work", f.whole("mul", b, stride))
        f.line(f"call void @constants{width}(ptr %table, ptr {work})")
        with _records(f, "come") as record:
            fixed = f.test("eq", f.entry(record, RecordEntry.MODE), Mode.FIXED)
            with f.when(fixed):
                f.line(f"call void @come{width}(ptr {record}, ptr {work}, i64 0, i64 1)")
    blocks = f.whole("sdiv", "%n", width)
    _point(f, tile, blocks)
    some = f.test("sgt", blocks, 0)
    woven = f.test("ne", f.entry("%dense", 2), 0)
    with f.when(f.both(some, woven)):
        _woven(f, width, blocks, stride)
    with f.when(f.both(some, f.put(f"xor i1 {woven}, true"))):
        _tiles(f, width, blocks, tile, stride)
    done = f.whole("mul", blocks, width)
    rest = f.whole("sub", "%n", done)
    alone = f.both(f.test("eq", rest, 1), _has_scalar(f))
    with f.when(alone):
        f.line(f"call void @single(ptr %table, ptr %records, i64 {done}, i64 %n)")
    with f.when(f.both(f.test("sgt", rest, 0), f.put(f"xor i1 {alone}, true"))):
        _ports(f, "come", width, "%work", done, rest)
        kernel = f.entry("%table", Table.KERNEL_WIDE, "ptr")
        f.line(f"call void {kernel}(ptr %work, i64 1, ptr %lines)")
        _ports(f, "go", width, "%work", done, rest)
    with f.when(_huge(f, tuning)):
        f.line("fence seq_cst")  # what went past the caches is seen by whoever reads next
    return f.function(
        "internal void @wide(ptr %table, ptr %records, ptr %work, i64 %n)", "noinline "
    )


def _note_dense(f: Text) -> None:
    """dense[0], dense[1], dense[2]: whether the kernel itself moves inputs, outputs, and both woven in."""
    for place, entry in enumerate((Table.DENSE_IN, Table.DENSE_OUT, Table.WOVEN)):
        own = f.entry("%table", entry)
        f.set_entry("%dense", place, f.choose(f.test("ne", own, 0), 1, 0))
    for side, name in enumerate(("come", "go")):
        with (
            _records(f, name) as record,
            f.when(f.test("ne", f.entry(record, RecordEntry.DENSE), 2)),
        ):
            f.set_entry("%dense", side, 0)
            f.set_entry("%dense", 2, 0)


def _has_scalar(f: Text) -> str:
    """Whether there is a kernel for single samples."""
    return f.test("ne", f.entry("%table", Table.KERNEL_ONE), 0)


def _tiles(f: Text, width: int, blocks: str, tile: str, stride: str) -> None:
    """All whole blocks, a tile at a time: inputs, kernel, outputs."""
    kernel = f.entry("%table", Table.KERNEL_WIDE, "ptr")
    own = [f.entry("%table", Table.DENSE_IN + side, "ptr") for side in range(2)]
    dense = [f.test("ne", f.entry("%dense", side), 0) for side in range(2)]
    tiles = f.whole("sdiv", f.whole("add", blocks, f.whole("sub", tile, 1)), tile)
    with f.repeat(tiles) as t:
        first = f.whole("mul", t, tile)
        count = f.smaller(f.whole("sub", blocks, first), tile)
        for side, name in enumerate(("come", "go")):
            with f.repeat(count) as b:
                sample = f.whole("mul", f.whole("add", first, b), width)
                work = f.ahead("%work", f.whole("mul", b, stride))
                with f.when(dense[side]):
                    f.line(f"call void {own[side]}(ptr %records, ptr {work}, i64 {sample})")
                with f.when(f.put(f"xor i1 {dense[side]}, true")):
                    _ports(f, name, width, work, sample, width)
            if name == "come":
                _point(f, tile, first)
                f.line(f"call void {kernel}(ptr %work, i64 {count}, ptr %lines)")


def _point(f: Text, tile: str, first: str) -> None:
    """Where the lines begin that a tile from block `first` on asks for: of its outputs, of the next tile's inputs."""
    inputs = f.entry("%table", Table.INPUTS)
    ports = f.whole("add", inputs, f.entry("%table", Table.OUTPUTS))
    with f.repeat(ports) as k:
        record = f.ahead("%records", f.whole("mul", k, WORD * RECORD))
        step, base = f.entry(record, RecordEntry.AHEAD), f.entry(record, RecordEntry.BASE, "ptr")
        begin = f.choose(f.test("slt", k, inputs), f.whole("add", first, tile), first)
        with f.repeat(tile) as b:
            at = f.ahead(base, f.whole("mul", f.whole("add", begin, b), step))
            f.set_entry("%lines", f.whole("add", f.whole("mul", b, ports), k), at, "ptr")


def _woven(f: Text, width: int, blocks: str, stride: str) -> None:
    """All whole blocks, each computed while the inputs of the next one come and the outputs of the last one go."""
    come, kernel = (f.entry("%table", e, "ptr") for e in (Table.DENSE_IN, Table.WOVEN))
    f.line(f"call void {come}(ptr %records, ptr %work, i64 0)")
    end = f.whole("sub", blocks, 1)

    def area(block: str) -> str:
        return f.ahead("%work", f.whole("mul", f.whole("and", block, 1), stride))

    with f.repeat(blocks) as k:
        after = f.whole("add", k, 1)
        before = f.choose(f.test("sgt", k, 0), f.whole("sub", k, 1), 0)  # at first for nothing
        next_, last = (f.whole("mul", x, width) for x in (f.smaller(after, end), before))
        areas = f"ptr {area(k)}, ptr {area(after)}"
        f.line(f"call void {kernel}(ptr %records, {areas}, i64 {next_}, i64 {last})")
    _ports(f, "go", width, area(end), f.whole("mul", end, width), width)


def _begun(f: Text) -> str:
    """The number of samples, with a record for each operand, if there are any samples at all."""
    f.line(f"%records = alloca [{MOST_PORTS * RECORD} x i64], align {ALIGN}")
    n = f.entry("%dims", 0)
    with f.when(f.test("slt", n, 1), leave=True):
        pass
    inputs = f.entry("%table", Table.INPUTS)
    count = f.whole("add", inputs, f.entry("%table", Table.OUTPUTS))
    f.line(
        f"call void @describe(ptr %args, ptr %steps, ptr %table, ptr %records, i64 {count}, i64 {n})"
    )
    return n


def _loop_of_one() -> list[str]:
    """The inner loop of a host without vectors: samples one by one."""
    f = Text()
    n = _begun(f)
    f.line(f"call void @single(ptr %table, ptr %records, i64 0, i64 {n})")
    return f.function(f"void @{LOOP}({LOOP_ARGUMENTS})", PROBED)


def _loop(width: int, stack: int) -> list[str]:
    """The inner loop itself. Without memory on the heap, samples run one by one: the result is the same."""
    f = Text()
    n = _begun(f)
    scalar = _has_scalar(f)
    with f.when(f.both(f.test("eq", n, 1), scalar), leave=True):
        f.line("call void @single(ptr %table, ptr %records, i64 0, i64 1)")
    size = f.whole("mul", f.entry("%table", Table.AREAS), f.entry("%table", Table.SLOTS))
    size = f.whole("add", size, f.entry("%table", Table.LARGEST))
    size = f.whole("mul", size, 8 * width)
    with f.when(f.test("sle", size, stack), leave=True):
        f.line(f"%near = alloca i8, i64 {size}, align {ALIGN}")
        f.line(f"call void @wide(ptr %table, ptr %records, ptr %near, i64 {n})")
    heap = f.put(f"call ptr @dynarm_malloc(i64 {f.whole('add', size, ALIGN)})")
    none = f.put(f"icmp eq ptr {heap}, null")
    with f.when(f.both(none, scalar), leave=True):
        f.line(f"call void @single(ptr %table, ptr %records, i64 0, i64 {n})")
    with f.when(none, leave=True):
        f.line(f"%last = alloca i8, i64 {size}, align {ALIGN}")
        f.line(f"call void @wide(ptr %table, ptr %records, ptr %last, i64 {n})")
    address = f.whole("and", f.whole("add", f.put(f"ptrtoint ptr {heap} to i64"), ALIGN), -ALIGN)
    aligned = f.put(f"inttoptr i64 {address} to ptr")
    f.line(f"call void @wide(ptr %table, ptr %records, ptr {aligned}, i64 {n})")
    f.line(f"call void @dynarm_free(ptr {heap})")
    return f.function(f"void @{LOOP}({LOOP_ARGUMENTS})", PROBED)
