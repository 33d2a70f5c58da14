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

A record describes one operand: the address of its first sample, the step from sample to sample, how it is moved, how
dense it is (1: the elements of a sample lie side by side; 2: and so do samples, moved as rows), its first slot, size,
and three axes with their steps.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from .lanes import Lanes

BASE, STEP, MODE, DENSE, SLOT, SIZE, AXES, STEPS, RECORD = 0, 1, 2, 3, 4, 5, 6, 9, 12
STAGE = (16, 128)  # sizes of outputs that gain from being written in whole lines of cache
STRIDED, ROWS, SHORT, COLUMNS, FIXED, STAGED, STREAMED = range(7)


def layout(width: int) -> list[str]:
    """come<W> and go<W> (record, workspace, first sample, samples): one port to the workspace or from it."""
    text = []
    for name in ("come", "go"):
        text += _strided(name, width)
        if width > 1:
            if name == "go":
                text += _stream(width, False) + _stream(width, True)
            text += _columns(name, width) + _rows(name, width) + _short(name, width)
        text += _move(name, width)
    return text


def declarations(width: int) -> list[str]:
    """What a module with the layout of this width must declare."""
    size = group(width)
    t, truth = f"<{size} x double>", f"<{size} x i1>"
    return [
        f"declare {t} @llvm.masked.load.v{size}f64.p0(ptr, i32, {truth}, {t})",
        f"declare void @llvm.masked.store.v{size}f64.p0({t}, ptr, i32, {truth})",
    ]


def group(width: int) -> int:
    """Columns that are transposed together."""
    return min(4, width)


def _move(name: str, width: int) -> list[str]:
    f = Lanes(width)
    base, step, slot = (
        f.entry("%record", BASE, "ptr"),
        f.entry("%record", STEP),
        f.entry("%record", SLOT),
    )
    at = f.ahead(base, f.whole("mul", "%first", step))
    soa = f.ahead("%work", f.whole("mul", slot, 8 * width))
    size = f.entry("%record", SIZE)
    if width == 1:
        with f.when(f.test("sgt", f.entry("%record", DENSE), 0), leave=True), f.repeat(size) as k:
            source, target = (at, soa) if name == "come" else (soa, at)
            f.set_entry(target, k, f.entry(source, k, "double"), "double")
    else:
        whole = f.test("eq", "%count", width)
        mode = f.choose(whole, f.entry("%record", MODE), STRIDED)
        for kind, way in ((ROWS, "rows"), (SHORT, "short")):
            with f.when(f.test("eq", mode, kind), leave=True):
                f.line(
                    f"call void @{way}_{name}{width}(ptr {soa}, ptr {at}, i64 {step}, i64 {size})"
                )
        for kind, way in ((STAGED, "staged"), (STREAMED, "streamed")) if name == "go" else ():
            with f.when(f.test("eq", mode, kind), leave=True):
                f.line(f"call void @rows_go{width}(ptr {soa}, ptr %stage, i64 {step}, i64 {size})")
                f.line(f"call void @{way}{width}(ptr {at}, ptr %stage, i64 {size})")
        with f.when(f.test("eq", mode, COLUMNS), leave=True):
            f.line(f"call void @columns_{name}{width}(ptr {soa}, ptr {at}, ptr %record)")
    f.line(
        f"call void @strided_{name}{width}(ptr {soa}, ptr {at}, ptr %record, i64 {step}, i64 %count)"
    )
    stage = ", ptr %stage" if name == "go" else ""
    return f.function(
        f"internal void @{name}{width}(ptr %record, ptr %work, i64 %first, i64 %count{stage})"
    )


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
        soa = f.ahead("%soa", f.whole("mul", column, 8 * width))
        short = f"<{size} x double>"
        if name == "come":
            pieces = [f.put(f"load {short}, ptr {p}, align 8") for p in pointers]
            for c, value in enumerate(_transposed_in(f, pieces)):
                f.store(value, f.slot(soa, c))
        else:
            columns = [f.load(f.slot(soa, c)) for c in range(size)]
            for pointer, piece in zip(pointers, _transposed_out(f, columns), strict=True):
                f.line(f"store {short} {piece}, ptr {pointer}, align 8")
    return f.function(
        f"internal void @rows_{name}{width}(ptr noalias %soa, ptr noalias %at, i64 %step, i64 %size)"
    )


def dense(name: str, ports: Sequence[tuple[int, int, int]], width: int) -> list[str]:
    """dense_<name><W>(records, workspace, first sample): all ports of one side, rows without gaps, unrolled.

    A port is given by its record's number, its first slot and its size. With the row length known, every address is
    a constant away from the first.
    """
    f, group_size = Lanes(width), group(width)
    short = f"<{group_size} x double>"
    for number, slot, size in ports:
        base = f.entry("%records", number * RECORD + BASE, "ptr")
        at = f.ahead(base, f.whole("mul", "%first", 8 * size))
        for start in range(0, size, group_size):
            column = min(start, size - group_size)
            pointers = [f.ahead(at, 8 * (row * size + column)) for row in range(width)]
            slots = [f.slot("%work", slot + column + c) for c in range(group_size)]
            if name == "come":
                pieces = [f.put(f"load {short}, ptr {p}, align 8") for p in pointers]
                for value, place in zip(_transposed_in(f, pieces), slots, strict=True):
                    f.store(value, place)
            else:
                pieces = _transposed_out(f, [f.load(place) for place in slots])
                for piece, p in zip(pieces, pointers, strict=True):
                    f.line(f"store {short} {piece}, ptr {p}, align 8")
    arguments = "ptr noalias %records, ptr noalias %work, i64 %first"
    return f.function(f"internal void @dense_{name}{width}({arguments})")


def _short(name: str, width: int) -> list[str]:
    f, size = Lanes(width), group(width)
    t, truth = f"<{size} x double>", f"<{size} x i1>"
    pointers = _row_pointers(f, "%at")
    known = [f.test("sgt", "%size", c) for c in range(size)]
    mask = "zeroinitializer"
    for c, bit in enumerate(known):
        mask = f.put(f"insertelement {truth} {mask}, i1 {bit}, i32 {c}")
    if name == "come":
        pieces = [
            f.put(
                f"call {t} @llvm.masked.load.v{size}f64.p0(ptr {p}, i32 8, {truth} {mask}, {t} zeroinitializer)"
            )
            for p in pointers
        ]
        for c, value in enumerate(_transposed_in(f, pieces)):
            with f.when(known[c]):
                f.store(value, f.slot("%soa", c))
    else:
        # columns beyond the last repeat it: their slots belong to others
        last = f.whole("sub", "%size", 1)
        offsets = [f.whole("mul", f.smaller(str(c), last), 8 * width) for c in range(size)]
        columns = [f.load(f.ahead("%soa", offset)) for offset in offsets]
        for pointer, piece in zip(pointers, _transposed_out(f, columns), strict=True):
            f.line(
                f"call void @llvm.masked.store.v{size}f64.p0({t} {piece}, ptr {pointer}, i32 8, {truth} {mask})"
            )
    return f.function(
        f"internal void @short_{name}{width}(ptr noalias %soa, ptr noalias %at, i64 %step, i64 %size)"
    )


def _row_pointers(f: Lanes, first: str) -> list[str]:
    pointers = [first]
    for _ in range(1, f.width):
        pointers.append(f.ahead(pointers[-1], "%step"))
    return pointers


def _shuffle(f: Lanes, length: int, a: str, b: str, order: Sequence[int]) -> str:
    t, mask = f"<{length} x double>", ", ".join(f"i32 {k}" for k in order)
    return f.put(f"shufflevector {t} {a}, {t} {b}, <{len(order)} x i32> <{mask}>")


def _transposed_in(f: Lanes, pieces: Sequence[str]) -> list[str]:
    """Columns out of the W row pieces of `group` elements each: rows i, i + group ... share a vector."""
    size = group(f.width)
    square = []
    for i in range(size):
        current, length = list(pieces[i::size]), size
        while len(current) > 1:
            pairs = zip(current[::2], current[1::2], strict=True)
            current = [_shuffle(f, length, a, b, range(2 * length)) for a, b in pairs]
            length *= 2
        square += current
    return _butterfly(f, square)


def _transposed_out(f: Lanes, columns: Sequence[str]) -> list[str]:
    """The W row pieces of `group` elements each, out of columns."""
    size, square = len(columns), _butterfly(f, columns)
    if size == f.width:
        return square
    return [
        _shuffle(
            f, f.width, square[l % size], square[l % size], range(l - l % size, l - l % size + size)
        )
        for l in range(f.width)
    ]


def _butterfly(f: Lanes, vectors: Sequence[str]) -> list[str]:
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
            fresh[i | stage] = _shuffle(
                f, f.width, a, b, [k + stage if not k & stage else f.width + k for k in lanes]
            )
        current = fresh
        stage *= 2
    return current


# ---- element by element


@contextmanager
def _elements(f: Lanes) -> Iterator[tuple[str, str]]:
    """For each element of a port its address in the array and in the workspace."""
    d0, d1, d2 = (f.entry("%record", AXES + k) for k in range(3))
    s0, s1, s2 = (f.entry("%record", STEPS + k) for k in range(3))
    with f.repeat(d0) as i0:
        p0 = f.ahead("%at", f.whole("mul", i0, s0))
        e0 = f.whole("mul", i0, d1)
        with f.repeat(d1) as i1:
            p1 = f.ahead(p0, f.whole("mul", i1, s1))
            e1 = f.whole("mul", f.whole("add", e0, i1), d2)
            with f.repeat(d2) as i2:
                p2 = f.ahead(p1, f.whole("mul", i2, s2))
                yield p2, f.ahead("%soa", f.whole("mul", f.whole("add", e1, i2), 8 * f.width))


def _columns(name: str, width: int) -> list[str]:
    f = Lanes(width)
    with _elements(f) as (at, soa):
        if name == "come":
            f.store(f.load(at, align=8), soa)
        else:
            f.store(f.load(soa), at, align=8)
    return f.function(
        f"internal void @columns_{name}{width}(ptr noalias %soa, ptr noalias %at, ptr %record)"
    )


def _strided(name: str, width: int) -> list[str]:
    f = Lanes(width)
    last = f.whole("sub", "%count", 1)
    with _elements(f) as (at, soa):
        if name == "come":
            with f.repeat(width) as lane:
                sample = f.ahead(at, f.whole("mul", f.smaller(lane, last), "%step"))
                f.set_entry(soa, lane, f.entry(sample, 0, "double"), "double")
        else:
            with f.repeat("%count") as lane:
                sample = f.ahead(at, f.whole("mul", lane, "%step"))
                f.set_entry(sample, 0, f.entry(soa, lane, "double"), "double")
    arguments = "ptr noalias %soa, ptr noalias %at, ptr %record, i64 %step, i64 %count"
    return f.function(f"internal void @strided_{name}{width}({arguments})")
