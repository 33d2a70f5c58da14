"""Samples in NumPy's memory to and from the workspace of a kernel, as LLVM functions.

The workspace holds one vector of W samples for every element of every port. Three ways lead there:

    rows     the elements of a sample lie side by side, as in an (N, n) array in C order, samples at any stride:
             loads along the rows, transposed in registers four columns at a time. Columns left over are covered by a last group
             that overlaps its neighbour, so that nothing beyond an array is ever touched.
    columns  neighbouring samples lie side by side, as in the transpose of an (n, N) array: plain vector loads.
    strided  anything else, and blocks with fewer than W samples: element by element. Lanes without a sample repeat the
             last one, so that they raise no floating-point flag of their own, and are not stored.
"""

from __future__ import annotations

from collections.abc import Sequence

from .lanes import Lanes

STRIDED, ROWS, COLUMNS, FIXED = range(4)


def group(width: int) -> int:
    """Columns that are transposed together."""
    return min(4, width)


def butterfly(names: list[str], lanes: Lanes) -> list[str]:
    """The transposes of the squares of len(names) lanes that the vectors are made of, in log2 stages of shuffles."""
    size, width, t = len(names), lanes.width, lanes.real
    stage = 1
    while stage < size:
        fresh = list(names)
        for i in range(size):
            if i & stage:
                continue
            a, b = names[i], names[i | stage]
            low = [k if not k & stage else width + k - stage for k in range(width)]
            high = [k + stage if not k & stage else width + k for k in range(width)]
            for target, order in ((i, low), (i | stage, high)):
                mask = ", ".join(f"i32 {k}" for k in order)
                fresh[target] = lanes.put(
                    f"shufflevector {t} {a}, {t} {b}, <{width} x i32> <{mask}>"
                )
        names = fresh
        stage *= 2
    return names


def _concatenated(lanes: Lanes, parts: Sequence[str], size: int) -> str:
    """One vector out of width/size short ones."""
    current, length = list(parts), size
    while len(current) > 1:
        mask = ", ".join(f"i32 {k}" for k in range(2 * length))
        t = f"<{length} x double>"
        current = [
            lanes.put(f"shufflevector {t} {a}, {t} {b}, <{2 * length} x i32> <{mask}>")
            for a, b in zip(current[::2], current[1::2], strict=True)
        ]
        length *= 2
    return current[0]


_GROUPS = """\
define internal void @{name}{width}(ptr noalias %soa, ptr noalias %base, i64 %step, i64 %size) nounwind {{
entry:
%last = sub i64 %size, {group}
br label %loop
loop:
%at = phi i64 [ 0, %entry ], [ %next, %loop ]
%row = getelementptr double, ptr %base, i64 %at
%offset = mul i64 %at, {bytes}
%slot = getelementptr i8, ptr %soa, i64 %offset"""

_GROUPS_END = """\
%done = icmp sge i64 %at, %last
%after = add i64 %at, {group}
%beyond = icmp sgt i64 %after, %last
%next = select i1 %beyond, i64 %last, i64 %after
br i1 %done, label %exit, label %loop
exit:
ret void
}}"""


def rows(width: int) -> list[str]:
    """rows_in and rows_out (workspace, first row, bytes from row to row, row length): W rows of at least `group`."""
    return _rows("rows_in", width) + _rows("rows_out", width)


def _rows(name: str, width: int) -> list[str]:
    size = group(width)
    lanes = Lanes(width)
    short = f"<{size} x double>"
    pointers = ["%row"]
    for _ in range(1, width):
        pointers.append(lanes.put(f"getelementptr i8, ptr {pointers[-1]}, i64 %step"))
    if name == "rows_in":
        pieces = [lanes.put(f"load {short}, ptr {p}, align 8") for p in pointers]
        square = [_concatenated(lanes, pieces[i::size], size) for i in range(size)]
        for k, column in enumerate(butterfly(square, lanes)):
            lanes.store(column, lanes.slot("%slot", k))
    else:
        square = butterfly([lanes.load(lanes.slot("%slot", k)) for k in range(size)], lanes)
        for l, pointer in enumerate(pointers):
            mask = ", ".join(f"i32 {l // size * size + k}" for k in range(size))
            t, v = lanes.real, square[l % size]
            piece = (
                v
                if size == width
                else lanes.put(f"shufflevector {t} {v}, {t} {v}, <{size} x i32> <{mask}>")
            )
            lanes.line(f"store {short} {piece}, ptr {pointer}, align 8")
    values = {"name": name, "width": width, "group": size, "bytes": 8 * width}
    return [
        *_GROUPS.format(**values).splitlines(),
        *lanes.text,
        *_GROUPS_END.format(**values).splitlines(),
    ]


_ELEMENTS = """\
define internal void @{name}{width}(ptr noalias %soa, ptr noalias %base, i64 %step, i64 %valid, i64 %mode,
    i64 %d0, i64 %s0, i64 %d1, i64 %s1, i64 %d2, i64 %s2) nounwind {{
entry:
%contiguous = icmp eq i64 %mode, {columns}
br label %loop0
loop0:
%i0 = phi i64 [ 0, %entry ], [ %n0, %end0 ]
%t0 = phi ptr [ %soa, %entry ], [ %t0n, %end0 ]
%o0 = mul i64 %i0, %s0
%p0 = getelementptr i8, ptr %base, i64 %o0
br label %loop1
loop1:
%i1 = phi i64 [ 0, %loop0 ], [ %n1, %end1 ]
%t1 = phi ptr [ %t0, %loop0 ], [ %t1n, %end1 ]
%o1 = mul i64 %i1, %s1
%p1 = getelementptr i8, ptr %p0, i64 %o1
br label %loop2
loop2:
%i2 = phi i64 [ 0, %loop1 ], [ %n2, %end2 ]
%t2 = phi ptr [ %t1, %loop1 ], [ %t2n, %end2 ]
%o2 = mul i64 %i2, %s2
%p2 = getelementptr i8, ptr %p1, i64 %o2
br i1 %contiguous, label %whole, label %single
whole:
{whole}
br label %end2
single:
%l = phi i64 [ 0, %loop2 ], [ %ln, %single ]
{single}
%ln = add i64 %l, 1
%more = icmp ult i64 %ln, {lanes}
br i1 %more, label %single, label %end2
end2:
%t2n = getelementptr i8, ptr %t2, i64 {bytes}
%n2 = add i64 %i2, 1
%m2 = icmp ult i64 %n2, %d2
br i1 %m2, label %loop2, label %end1
end1:
%t1n = phi ptr [ %t2n, %end2 ]
%n1 = add i64 %i1, 1
%m1 = icmp ult i64 %n1, %d1
br i1 %m1, label %loop1, label %end0
end0:
%t0n = phi ptr [ %t1n, %end1 ]
%n0 = add i64 %i0, 1
%m0 = icmp ult i64 %n0, %d0
br i1 %m0, label %loop0, label %exit
exit:
ret void
}}"""

_GATHER = """\
%highest = sub i64 %valid, 1
%short = icmp ugt i64 %l, %highest
%k = select i1 %short, i64 %highest, i64 %l
%far = mul i64 %k, %step
%from = getelementptr i8, ptr %p2, i64 %far
%to = getelementptr double, ptr %t2, i64 %l
%value = load double, ptr %from, align 8
store double %value, ptr %to, align 8"""

_SCATTER = """\
%far = mul i64 %l, %step
%to = getelementptr i8, ptr %p2, i64 %far
%from = getelementptr double, ptr %t2, i64 %l
%value = load double, ptr %from, align 8
store double %value, ptr %to, align 8"""


def elements(width: int) -> list[str]:
    """gather and scatter (workspace, first sample, sample step, samples, mode, then size and step of three axes)."""
    t = Lanes(width).real
    into = f"%v = load {t}, ptr %p2, align 8\nstore {t} %v, ptr %t2, align {8 * width}"
    out = f"%v = load {t}, ptr %t2, align {8 * width}\nstore {t} %v, ptr %p2, align 8"
    values = {"width": width, "bytes": 8 * width, "columns": COLUMNS}
    gather = _ELEMENTS.format(name="gather", whole=into, single=_GATHER, lanes=width, **values)
    scatter = _ELEMENTS.format(name="scatter", whole=out, single=_SCATTER, lanes="%valid", **values)
    return gather.splitlines() + scatter.splitlines()
