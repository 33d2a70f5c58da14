"""Samples in NumPy's memory to and from the workspace of a kernel, as LLVM functions.

The workspace holds one vector of W samples for every element of every port. Four ways lead there and back:

    rows     the elements of a sample lie side by side, as in an (N, n) array in C order, samples at any step: loads
             along the rows, transposed in registers four columns at a time. Columns left over are covered by a last
             group that overlaps its neighbour, so that nothing beyond an array is ever touched.
             Outputs without gaps between their rows are first laid out in a staging area and then written line of cache
             by line of cache, which spares the processor reading what it is about to overwrite.
    short    the same for rows of fewer than four elements, with masked loads and stores.
    columns  neighbouring samples lie side by side, as in the transpose of an (n, N) array: plain vector loads.
    strided  anything else, and blocks with fewer than W samples: element by element. Lanes without a sample repeat
             the last one, so that they raise no floating-point flag of their own, and are not stored.

Each operand is described by a record (`RecordEntry`) of `machine/abi.py`.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager

from ..abi import DENSE_ARGUMENTS, MOST_AXES, RECORD, Mode, RecordEntry
from ..host import Tuning
from .lanes import Lanes

Steps = Generator[None, None, list[str]]
ASK = "declare void @llvm.prefetch.p0(ptr, i32, i32, i32)"


def layout(width: int) -> list[str]:
    """come<W> and go<W> (record, workspace, first sample, samples): one port to the workspace or from it."""
    text = []
    for name in ("come", "go"):
        text += _strided(name, width)
        if width == 1:
            text += _line(name)
        else:
            if name == "go":
                text += _stream(width, False) + _stream(width, True)
            text += _columns(name, width) + _rows(name, width) + _short(name, width)
        text += _move(name, width)
    return text


def declarations(width: int) -> list[str]:
    """What a module with the layout of this width must declare."""
    if width == 1:
        return []
    size = group(width)
    t, truth = f"<{size} x double>", f"<{size} x i1>"
    return [
        f"declare {t} @llvm.masked.load.v{size}f64.p0(ptr, i32, {truth}, {t})",
        f"declare void @llvm.masked.store.v{size}f64.p0({t}, ptr, i32, {truth})",
    ]


def asked(address: str, write: bool = True) -> str:
    """Ask for a line of cache: into the first level, to be written to, or into the second, to be read."""
    return f"call void @llvm.prefetch.p0(ptr {address}, i32 {int(write)}, i32 {2 + write}, i32 1)"


def group(width: int) -> int:
    """Columns that are transposed together."""
    return min(4, width)


def _move(name: str, width: int) -> list[str]:
    f = Lanes(width)
    step, size = f.entry("%record", RecordEntry.STEP), f.entry("%record", RecordEntry.SIZE)
    at = f.ahead(f.entry("%record", RecordEntry.BASE, "ptr"), f.whole("mul", "%first", step))
    if name == "come":
        soa = f.ahead("%work", f.whole("mul", f.entry("%record", RecordEntry.SLOT), 8 * width))
        here = f"ptr {soa}, ptr {at}"
    else:
        here = f"ptr %work, ptr {at}, ptr {f.entry('%record', RecordEntry.SLOT, 'ptr')}"
    if width > 1:
        whole = f.test("eq", "%count", width)
        mode = f.choose(whole, f.entry("%record", RecordEntry.MODE), Mode.STRIDED)
        for kind, way in ((Mode.ROWS, "rows"), (Mode.SHORT, "short")):
            with f.when(f.test("eq", mode, kind), leave=True):
                f.line(f"call void @{way}_{name}{width}({here}, i64 {step}, i64 {size})")
        for kind, way in (
            ((Mode.STAGED, "staged"), (Mode.STREAMED, "streamed")) if name == "go" else ()
        ):
            with f.when(f.test("eq", mode, kind), leave=True):
                stage = here.replace(at, "%stage")
                f.line(f"call void @rows_go{width}({stage}, i64 {step}, i64 {size})")
                f.line(f"call void @{way}{width}(ptr {at}, ptr %stage, i64 {size})")
        with f.when(f.test("eq", mode, Mode.COLUMNS), leave=True):
            f.line(f"call void @columns_{name}{width}({here}, ptr %record)")
    else:
        with f.when(f.test("sgt", f.entry("%record", RecordEntry.DENSE), 0), leave=True):
            f.line(f"call void @line_{name}({here}, i64 {size})")
    f.line(f"call void @strided_{name}{width}({here}, ptr %record, i64 {step}, i64 %count)")
    stage = ", ptr %stage" if name == "go" else ""
    arguments = f"ptr %record, ptr %work, i64 %first, i64 %count{stage}"
    return f.function(f"internal void @{name}{width}({arguments})")


def _here(name: str) -> str:
    """What every function is told: the workspace, the array, and of outputs where the slots of the elements stand."""
    return "ptr noalias %soa, ptr noalias %at" + (", ptr noalias %slots" if name == "go" else "")


def _place(f: Lanes, name: str, element: str) -> str:
    """The address of an element in the workspace."""
    slot = element if name == "come" else f.entry("%slots", element)
    return f.ahead("%soa", f.whole("mul", slot, 8 * f.width))


def _line(name: str) -> list[str]:
    """line_<name>: one sample whose elements lie side by side."""
    f = Lanes(1)
    with f.repeat("%size") as k:
        place = _place(f, name, k)
        if name == "come":
            f.store(f.entry("%at", k, "double"), place)
        else:
            f.set_entry("%at", k, f.load(place), "double")
    return f.function(f"internal void @line_{name}({_here(name)}, i64 %size)")


def _stream(width: int, past: bool) -> list[str]:
    """staged<W> or streamed<W> (to, from, vectors): a copy in aligned vectors; `streamed` goes past the caches."""
    f = Lanes(width)
    hint = ", !nontemporal !1" if past else ""
    ahead = f.whole("and", f.whole("sub", 0, f.put("ptrtoint ptr %to to i64")), 8 * width - 1)
    lanes = f.whole("lshr", ahead, 3)
    with f.when(f.test("sgt", lanes, 0)), f.repeat(lanes) as k:
        f.set_entry("%to", k, f.entry("%from", k, "double"), "double")
    to, source = f.ahead("%to", ahead), f.ahead("%from", ahead)
    whole = f.choose(f.test("sgt", lanes, 0), f.whole("sub", "%count", 1), "%count")
    with f.when(f.test("sgt", whole, 0)), f.repeat(whole) as k:
        offset = f.whole("mul", k, 8 * width)
        value = f.load(f.ahead(source, offset), align=8)
        f.line(f"store {f.real} {value}, ptr {f.ahead(to, offset)}, align {8 * width}{hint}")
    rest = f.whole("sub", width, lanes)
    with f.when(f.test("slt", rest, width)):
        offset = f.whole("mul", whole, 8 * width)
        to, source = f.ahead(to, offset), f.ahead(source, offset)
        with f.repeat(rest) as k:
            f.set_entry(to, k, f.entry(source, k, "double"), "double")
    name = "streamed" if past else "staged"
    return f.function(
        f"internal void @{name}{width}(ptr noalias %to, ptr noalias %from, i64 %count)"
    )


# ---- rows


def _rows(name: str, width: int) -> list[str]:
    f, size = Lanes(width), group(width)
    last = f.whole("sub", "%size", size)
    groups = f.whole("sdiv", f.whole("add", "%size", size - 1), size)
    with f.repeat(groups) as k:
        column = f.smaller(f.whole("mul", k, size), last)
        pointers = _row_pointers(f, f.ahead("%at", f.whole("mul", column, 8)))
        places = [_place(f, name, f.whole("add", column, c)) for c in range(size)]
        _group(f, name, pointers, places)
    return f.function(f"internal void @rows_{name}{width}({_here(name)}, i64 %step, i64 %size)")


def _group(f: Lanes, name: str, pointers: Sequence[str], places: Sequence[str]) -> None:
    """Columns that are transposed together, from W row pieces to their slots or back."""
    for _ in _group_steps(f, name, pointers, places):
        pass


def _group_steps(
    f: Lanes, name: str, pointers: Sequence[str], places: Sequence[str], known: int = 0
) -> Iterator[None]:
    """The same, a pause after each instruction; the first columns that come may be known already."""
    short = f"<{len(places)} x double>"
    if name == "come":
        pieces = []
        for p in pointers:
            pieces.append(f.put(f"load {short}, ptr {p}, align 8"))
            yield
        columns = yield from _transposed_in(f, pieces)
        for value, place in list(zip(columns, places, strict=True))[known:]:
            f.store(value, place)
            yield
    else:
        columns = []
        for place in places:
            columns.append(f.load(place))
            yield
        pieces = yield from _transposed_out(f, columns)
        for piece, p in zip(pieces, pointers, strict=True):
            f.line(f"store {short} {piece}, ptr {p}, align 8")
            yield


def dense(name: str, first: int, slots: Sequence[Sequence[int]], width: int) -> list[str]:
    """dense_<name><W>(records, workspace, first sample): all ports of one side, rows without gaps, unrolled.

    `first` is the number of the first port's record; each port is given by the slots of its elements. With the row
    length known, every address is a constant away from the first.
    """
    f = Lanes(width)
    for _ in dense_steps(f, name, first, slots, "%work", "%first"):
        pass
    return f.function(f"internal void @dense_{name}{width}({DENSE_ARGUMENTS})")


def dense_steps(
    f: Lanes, name: str, first: int, slots: Sequence[Sequence[int]], work: str, sample: str
) -> Iterator[None]:
    """The instructions of `dense`, a pause after each."""
    width, size = f.width, group(f.width)
    for number, port in enumerate(slots, first):
        at = _rows_of(f, number, sample, len(port))
        for start in range(0, len(port), size):
            column = min(start, len(port) - size)
            pointers = [f.ahead(at, 8 * (row * len(port) + column)) for row in range(width)]
            places = [f.slot(work, s) for s in port[column : column + size]]
            yield from _group_steps(f, name, pointers, places, start - column)


def _rows_of(f: Lanes, number: int, sample: str, size: int) -> str:
    """The address of a sample's row, of a port whose rows have no gaps."""
    base = f.entry("%records", number * RECORD + RecordEntry.BASE, "ptr")
    return f.ahead(base, f.whole("mul", sample, 8 * size))


def singly_steps(
    f: Lanes, first: int, slots: Sequence[Sequence[int]], work: str, sample: str, tuning: Tuning
) -> Iterator[None]:
    """Outputs to rows without gaps, number by number, a pause after each: the ports for arithmetic have no part in it.

    Lines of cache that will be written to soon are asked for, whether they are there or beyond the array's end.
    """
    for number, port in enumerate(slots, first):
        at = _rows_of(f, number, sample, len(port))
        block = 8 * f.width * len(port)
        for line in range(0, block, tuning.line):
            f.line(asked(f.ahead(at, tuning.soon * block + line)))
            yield
        places = [f.slot(work, s) for s in port]
        for row in range(f.width):
            for column, place in enumerate(places):
                f.set_entry(at, row * len(port) + column, f.entry(place, row))
                yield


def _short(name: str, width: int) -> list[str]:
    f, size = Lanes(width), group(width)
    t, truth = f"<{size} x double>", f"<{size} x i1>"
    pointers = _row_pointers(f, "%at")
    known = [f.test("sgt", "%size", c) for c in range(size)]
    mask = "zeroinitializer"
    for c, bit in enumerate(known):
        mask = f.put(f"insertelement {truth} {mask}, i1 {bit}, i32 {c}")
    if name == "come":
        load = f"call {t} @llvm.masked.load.v{size}f64.p0"
        pieces = [
            f.put(f"{load}(ptr {p}, i32 8, {truth} {mask}, {t} zeroinitializer)") for p in pointers
        ]
        for c, value in enumerate(_at_once(_transposed_in(f, pieces))):
            with f.when(known[c]):
                f.store(value, _place(f, name, str(c)))
    else:
        # columns beyond the last repeat it: there is nothing behind the list of slots
        last = f.whole("sub", "%size", 1)
        columns = [f.load(_place(f, name, f.smaller(str(c), last))) for c in range(size)]
        store = f"call void @llvm.masked.store.v{size}f64.p0"
        for pointer, piece in zip(pointers, _at_once(_transposed_out(f, columns)), strict=True):
            f.line(f"{store}({t} {piece}, ptr {pointer}, i32 8, {truth} {mask})")
    return f.function(f"internal void @short_{name}{width}({_here(name)}, i64 %step, i64 %size)")


def _row_pointers(f: Lanes, first: str) -> list[str]:
    pointers = [first]
    for _ in range(1, f.width):
        pointers.append(f.ahead(pointers[-1], "%step"))
    return pointers


def _shuffle(f: Lanes, length: int, a: str, b: str, order: Sequence[int]) -> str:
    t, mask = f"<{length} x double>", ", ".join(f"i32 {k}" for k in order)
    return f.put(f"shufflevector {t} {a}, {t} {b}, <{len(order)} x i32> <{mask}>")


def _transposed_in(f: Lanes, pieces: Sequence[str]) -> Steps:
    """Columns out of the W row pieces of `group` elements each: rows i, i + group ... share a vector."""
    size = group(f.width)
    square = []
    for i in range(size):
        current, length = list(pieces[i::size]), size
        while len(current) > 1:
            pairs = list(zip(current[::2], current[1::2], strict=True))
            current = []
            for a, b in pairs:
                current.append(_shuffle(f, length, a, b, range(2 * length)))
                yield
            length *= 2
        square += current
    return (yield from _butterfly(f, square))


def _transposed_out(f: Lanes, columns: Sequence[str]) -> Steps:
    """The W row pieces of `group` elements each, out of columns."""
    size = len(columns)
    square = yield from _butterfly(f, columns)
    if size == f.width:
        return square
    pieces = []
    for l in range(f.width):
        start, whole = l - l % size, square[l % size]
        pieces.append(_shuffle(f, f.width, whole, whole, range(start, start + size)))
    return pieces


def _butterfly(f: Lanes, vectors: Sequence[str]) -> Steps:
    """The transposes of the squares that the vectors are made of, in log2 stages of shuffles."""
    current, stage, lanes = list(vectors), 1, range(f.width)
    while stage < len(current):
        fresh = list(current)
        for i in range(len(current)):
            if i & stage:
                continue
            a, b = current[i], current[i | stage]
            fresh[i] = _shuffle(
                f, f.width, a, b, [k if not k & stage else f.width + k - stage for k in lanes]
            )
            yield
            fresh[i | stage] = _shuffle(
                f, f.width, a, b, [k + stage if not k & stage else f.width + k for k in lanes]
            )
            yield
        current = fresh
        stage *= 2
    return current


def _at_once(steps: Steps) -> list[str]:
    """What the steps return, without a pause."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            columns: list[str] = end.value
            return columns


# ---- element by element


@contextmanager
def _elements(f: Lanes, name: str) -> Iterator[tuple[str, str]]:
    """For each element of a port its address in the array and in the workspace."""
    d0, d1, d2 = (f.entry("%record", RecordEntry.AXES + k) for k in range(MOST_AXES))
    s0, s1, s2 = (f.entry("%record", RecordEntry.STEPS + k) for k in range(MOST_AXES))
    with f.repeat(d0) as i0:
        p0 = f.ahead("%at", f.whole("mul", i0, s0))
        e0 = f.whole("mul", i0, d1)
        with f.repeat(d1) as i1:
            p1 = f.ahead(p0, f.whole("mul", i1, s1))
            e1 = f.whole("mul", f.whole("add", e0, i1), d2)
            with f.repeat(d2) as i2:
                p2 = f.ahead(p1, f.whole("mul", i2, s2))
                yield p2, _place(f, name, f.whole("add", e1, i2))


def _columns(name: str, width: int) -> list[str]:
    f = Lanes(width)
    with _elements(f, name) as (at, place):
        if name == "come":
            f.store(f.load(at, align=8), place)
        else:
            f.store(f.load(place), at, align=8)
    return f.function(f"internal void @columns_{name}{width}({_here(name)}, ptr %record)")


def _strided(name: str, width: int) -> list[str]:
    f = Lanes(width)
    last = f.whole("sub", "%count", 1)
    with _elements(f, name) as (at, place):
        if name == "come":
            with f.repeat(width) as lane:
                sample = f.ahead(at, f.whole("mul", f.smaller(lane, last), "%step"))
                f.set_entry(place, lane, f.entry(sample, 0, "double"), "double")
        else:
            with f.repeat("%count") as lane:
                sample = f.ahead(at, f.whole("mul", lane, "%step"))
                f.set_entry(sample, 0, f.entry(place, lane, "double"), "double")
    return f.function(
        f"internal void @strided_{name}{width}({_here(name)}, ptr %record, i64 %step, i64 %count)"
    )
