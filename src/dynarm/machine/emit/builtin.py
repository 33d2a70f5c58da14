"""CPython's way of calling a builtin around any kernel, as LLVM functions: one sample without NumPy's machinery.

Where every argument is a plain one-dimensional array of float64 of the right length (at any stride), the sample is
copied to a workspace on the stack, the scalar kernel runs, and new arrays or `out=` get what it made. Other arrays,
lists of numbers, and samples that raise a floating-point flag that NumPy may warn of go to the gufunc and, if that
refuses, to the Python method, as do all other calls at once: NumPy would ask a DataFrame what a gufunc does to it.
Nothing of the caller's is written before it is known that the sample raises no flag.

The addresses of all that is Python's and NumPy's stand in `dynarm_known`; `quick.py` looks at them before it writes
them there.
"""

from __future__ import annotations

from collections.abc import Callable

from ..abi import (
    ALIGN,
    KIND,
    KNOWN,
    LOOKED_AT,
    NAMES,
    PLAIN,
    PORT,
    QUICK,
    WORD,
    Array,
    PortEntry,
    Table,
)
from ..abi import CALL_ARGUMENTS as WORDS
from .text import Text


class _Call(Text):
    """The text of a function that calls Python's."""

    def __init__(self) -> None:
        super().__init__()
        self.at = self.entry("%table", Table.PYTHON, "ptr")

    def known(self, name: str, kind: str = "ptr") -> str:
        """An entry of dynarm_known."""
        place = self.ahead(self.at, WORD * NAMES.index(name))
        return self.put(f"load {kind}, ptr {place}, align 8")

    def call(self, kind: str, name: str, *args: str) -> str:
        """The result of one of the functions."""
        return self.put(f"call {kind} {self.known(name)}({', '.join(args)})")

    def field(self, base: str, offset: int, kind: str = "ptr") -> str:
        return self.put(f"load {kind}, ptr {self.ahead(base, offset)}, align 4")

    def same(self, x: str, y: str | int, kind: str = "ptr") -> str:
        return self.put(f"icmp eq {kind} {x}, {y}")

    def other_kind(self, array: str) -> str:
        """Whether the elements of an array are no numbers of float64 in this machine's byte order."""
        kind = self.field(self.field(array, Array.DESCR), KIND, "i64")
        return self.test("ne", kind, self.known("kind", "i64"))

    def differ(self, x: str, y: str | int, kind: str = "ptr") -> str:
        return self.put(f"icmp ne {kind} {x}, {y}")

    def port(self, index: str) -> str:
        """The table's description of a port."""
        far = self.whole("mul", index, WORD * PORT)
        return self.ahead(self.ahead("%table", WORD * Table.PORTS), far)

    def leave(self, condition: str, result: str) -> None:
        """Return that if the condition holds, which is rare."""
        with self.when(condition, rarely=True, leave=True):
            self.result = result


def builtin(copied: int) -> list[str]:
    """All functions by which Python calls a kernel on one sample; copied: elements in one turn of a loop."""
    text = [f"@{KNOWN} = global [{len(NAMES)} x i64] zeroinitializer, align {ALIGN}"]
    text += [*_only_out(), *_plain(), *_fits(), *_spread(copied), *_fresh(), *_several()]
    return [*text, *_otherwise(), *_quick()]


def _only_out() -> list[str]:
    """only_out(table, kwnames): 1 if one array is made and the one keyword is `out`, else 0."""
    f = _Call()
    f.leave(f.test("ne", f.entry("%table", Table.OUTPUTS), 1), "i64 0")
    f.leave(f.test("ne", f.call("i64", "PyTuple_Size", "ptr %kwnames"), 1), "i64 0")
    name = f.call("ptr", "PyTuple_GetItem", "ptr %kwnames", "i64 0")
    same = f.same(name, f.known("out"))
    f.result = f"i64 {f.put(f'zext i1 {same} to i64')}"
    return f.function("internal i64 @only_out(ptr %table, ptr %kwnames)")


def _plain() -> list[str]:
    """plain(table, object): 1 for an array and for a list that begins with a number: NumPy alone decides on them."""
    f = _Call()
    kind = f.field("%object", Array.TYPE)
    f.leave(f.same(kind, f.known("ndarray")), "i64 1")
    f.leave(f.differ(kind, f.known("list")), "i64 0")
    f.leave(f.test("eq", f.call("i64", "PyList_Size", "ptr %object"), 0), "i64 0")
    first = f.field(f.call("ptr", "PyList_GetItem", "ptr %object", "i64 0"), Array.TYPE)
    f.leave(f.same(first, f.known("float")), "i64 1")
    whole = f.same(first, f.known("int"))
    f.result = f"i64 {f.put(f'zext i1 {whole} to i64')}"
    return f.function("internal i64 @plain(ptr %table, ptr %object)")


def _fits() -> list[str]:
    """fits(table, array): 1 if the first output can be written to an array as it lies in memory, else 0."""
    f = _Call()
    f.leave(f.differ(f.field("%array", Array.TYPE), f.known("ndarray")), "i64 0")
    port = f.port(f.entry("%table", Table.INPUTS))
    axes = f.entry(port, PortEntry.AXES)
    f.leave(f.other_kind("%array"), "i64 0")
    flags = f.put(f"and i32 {f.field('%array', Array.FLAGS, 'i32')}, {LOOKED_AT}")
    f.leave(f.differ(flags, PLAIN, "i32"), "i64 0")
    ndim = f.put(f"sext i32 {f.field('%array', Array.NDIM, 'i32')} to i64")
    f.leave(f.test("ne", ndim, axes), "i64 0")
    with f.when(f.test("sgt", axes, 0)):
        lengths = f.ahead(port, f.whole("mul", f.whole("sub", PortEntry.AXES, axes), 8))
        shape = f.field("%array", Array.SHAPE)
        with f.repeat(axes) as d:
            f.leave(f.test("ne", f.entry(shape, d), f.entry(lengths, d)), "i64 0")
    f.result = "i64 1"
    return f.function("internal i64 @fits(ptr %table, ptr %array)")


def _spread(copied: int) -> list[str]:
    """spread(table, port, work, data): the elements of an output, side by side."""
    f = Text()
    slots = f.ahead("%table", f.whole("mul", f.entry("%port", PortEntry.SLOT), 8))
    size = f.entry("%port", PortEntry.SIZE)
    groups = f.whole("sdiv", size, copied)
    with f.when(f.test("sgt", groups, 0)), f.repeat(groups) as g:
        far = f.whole("mul", g, WORD * copied)
        data, these = f.ahead("%data", far), f.ahead(slots, far)
        for k in range(copied):
            f.set_entry(data, k, f.entry("%work", f.entry(these, k)))
    done = f.whole("mul", groups, copied)
    rest = f.whole("sub", size, done)
    with f.when(f.test("sgt", rest, 0)), f.repeat(rest) as last:
        at = f.whole("add", last, done)
        f.set_entry("%data", at, f.entry("%work", f.entry(slots, at)))
    return f.function("internal void @spread(ptr %table, ptr %port, ptr %work, ptr %data)")


def _fresh() -> list[str]:
    """fresh(table, port, work): an output as a new array, as a number if it has no axes; null without memory."""
    f = _Call()
    axes, kind = f.entry("%port", PortEntry.AXES), f.known("float64")
    with f.when(f.test("eq", axes, 0), leave=True):
        slot = f.entry("%table", f.entry("%port", PortEntry.SLOT))
        place = f.ahead("%work", f.whole("mul", slot, 8))
        number = f.call("ptr", "PyArray_Scalar", f"ptr {place}", f"ptr {kind}", "ptr null")
        f.result = f"ptr {number}"
    f.line(f"call void {f.known('Py_IncRef')}(ptr {kind})")  # for the array, which takes it over
    lengths = f.ahead("%port", f.whole("mul", f.whole("sub", PortEntry.AXES, axes), 8))
    given = [f"ptr {f.known('ndarray')}", f"ptr {kind}", f"i32 {f.put(f'trunc i64 {axes} to i32')}"]
    given += [f"ptr {lengths}", "ptr null", "ptr null", "i32 0", "ptr null"]
    array = f.call("ptr", "PyArray_NewFromDescr", *given)
    f.leave(f.same(array, "null"), "ptr null")
    f.line(f"call void @spread(ptr %table, ptr %port, ptr %work, ptr {f.field(array, Array.DATA)})")
    f.result = f"ptr {array}"
    return f.function("internal ptr @fresh(ptr %table, ptr %port, ptr %work)")


def _several() -> list[str]:
    """several(table, work): all outputs in a tuple, or null."""
    f = _Call()
    count = f.entry("%table", Table.OUTPUTS)
    made = f.call("ptr", "PyTuple_New", f"i64 {count}")
    f.leave(f.same(made, "null"), "ptr null")
    with f.repeat(count) as k:
        port = f.port(f.whole("add", k, f.entry("%table", Table.INPUTS)))
        array = f.put(f"call ptr @fresh(ptr %table, ptr {port}, ptr %work)")
        with f.when(f.same(array, "null"), rarely=True, leave=True):
            f.line(f"call void {f.known('Py_DecRef')}(ptr {made})")
            f.result = "ptr null"
        f.call("i32", "PyTuple_SetItem", f"ptr {made}", f"i64 {k}", f"ptr {array}")
    f.result = f"ptr {made}"
    return f.function("internal ptr @several(ptr %table, ptr %work)")


def _otherwise() -> list[str]:
    """otherwise(...): the gufunc's result if plain arguments are all it takes; if it refuses them, the method's."""
    f = _Call()
    f.line("%alone = alloca i64, align 8")
    f.line("%count = alloca i64, align 8")
    one = f.test("eq", f.entry(f.known("threads"), 0), 1)
    fit = f.both(one, f.test("eq", "%nargs", f.entry("%table", Table.INPUTS)))
    f.set_entry("%alone", 0, f.put(f"zext i1 {fit} to i64"))
    with f.when(f.both(fit, f.differ("%kwnames", "null"))):
        f.set_entry("%alone", 0, f.put("call i64 @only_out(ptr %table, ptr %kwnames)"))
    with f.when(f.test("ne", f.entry("%alone", 0), 0)):
        f.set_entry("%count", 0, "%nargs")
        with f.when(f.differ("%kwnames", "null")):
            f.set_entry("%count", 0, f.whole("add", "%nargs", 1))
        with f.repeat(f.entry("%count", 0)) as k:
            plain = f.put(f"call i64 @plain(ptr %table, ptr {f.entry('%args', k, 'ptr')})")
            f.set_entry("%alone", 0, f.whole("and", f.entry("%alone", 0), plain))
    with f.when(f.test("ne", f.entry("%alone", 0), 0)):
        ufunc = f.entry("%table", Table.UFUNC, "ptr")
        made = f.call("ptr", "PyObject_Vectorcall", f"ptr {ufunc}", WORDS)
        with f.when(f.differ(made, "null"), leave=True):
            f.result = f"ptr {made}"
        refused = [
            f.call("i32", "PyErr_ExceptionMatches", f"ptr {f.known(kind)}")
            for kind in ("ValueError", "TypeError", "OverflowError")
        ]
        either = f.put(f"or i32 {refused[0]}, {refused[1]}")
        f.leave(f.same(f.put(f"or i32 {either}, {refused[2]}"), 0, "i32"), "ptr null")
        # the method says it again, in the robot's words
        f.line(f"call void {f.known('PyErr_Clear')}()")
    method = f.entry("%table", Table.METHOD, "ptr")
    bound = f.call("ptr", "PyMethod_New", f"ptr {method}", "ptr %self")
    f.leave(f.same(bound, "null"), "ptr null")
    made = f.call("ptr", "PyObject_Vectorcall", f"ptr {bound}", WORDS)
    f.line(f"call void {f.known('Py_DecRef')}(ptr {bound})")
    f.result = f"ptr {made}"
    return f.function(f"internal ptr @otherwise(ptr %table, ptr %self, {WORDS})", "noinline ")


def _quick() -> list[str]:
    f = _Call()

    def pass_on(condition: str) -> None:
        """Leave the call to others if the condition holds."""
        with f.when(condition, rarely=True, leave=True):
            made = f.put(f"tail call ptr @otherwise(ptr %table, ptr %self, {WORDS})")
            f.result = f"ptr {made}"

    f.line("%out = alloca ptr, align 8")
    inputs = f.entry("%table", Table.INPUTS)
    pass_on(f.test("ne", "%nargs", inputs))
    f.set_entry("%out", 0, "null", "ptr")
    with f.when(f.differ("%kwnames", "null")):
        pass_on(f.test("eq", f.put("call i64 @only_out(ptr %table, ptr %kwnames)"), 0))
        given = f.entry("%args", "%nargs", "ptr")
        pass_on(f.test("eq", f.put(f"call i64 @fits(ptr %table, ptr {given})"), 0))
        f.set_entry("%out", 0, given, "ptr")
    f.line(f"%work = alloca double, i64 {f.entry('%table', Table.SLOTS)}, align {ALIGN}")
    with f.when(f.test("ne", f.entry("%table", Table.CONSTANTS), 0)):
        f.line("call void @constants1(ptr %table, ptr %work)")
    with f.repeat(inputs) as k:
        _take(f, f.entry("%args", k, "ptr"), f.port(k), pass_on)
    kernel = f.entry("%table", Table.KERNEL_ONE, "ptr")
    f.line(f"call void {kernel}(ptr %work, i64 1, ptr null)")
    # a flag that was up before is another's: the gufunc clears it, computes again, and warns of its own only
    raised = f.call("i32", "fetestexcept", f"i32 {f.known('flags', 'i32')}")
    pass_on(f.differ(raised, 0, "i32"))
    with f.when(f.test("ne", f.entry("%table", Table.OUTPUTS), 1), leave=True):
        f.result = f"ptr {f.put('call ptr @several(ptr %table, ptr %work)')}"
    port = f.port(inputs)
    out = f.entry("%out", 0, "ptr")
    with f.when(f.same(out, "null"), leave=True):
        made = f.put(f"call ptr @fresh(ptr %table, ptr {port}, ptr %work)")
        f.result = f"ptr {made}"
    f.line(f"call void @spread(ptr %table, ptr {port}, ptr %work, ptr {f.field(out, Array.DATA)})")
    f.line(f"call void {f.known('Py_IncRef')}(ptr {out})")
    f.result = f"ptr {out}"
    return f.function(
        f"ptr @{QUICK}(ptr %table, ptr %self, {WORDS})", '"probe-stack"="inline-asm" '
    )


def _take(f: _Call, array: str, port: str, pass_on: Callable[[str], None]) -> None:
    """Copy an argument to its slots, if it is a plain array as the port wants it."""
    pass_on(f.differ(f.field(array, Array.TYPE), f.known("ndarray")))
    pass_on(f.differ(f.field(array, Array.NDIM, "i32"), 1, "i32"))
    pass_on(f.other_kind(array))
    size = f.entry(port, PortEntry.SIZE)
    pass_on(f.test("ne", f.entry(f.field(array, Array.SHAPE), 0), size))
    data, stride = f.field(array, Array.DATA), f.entry(f.field(array, Array.STRIDES), 0)
    slots = f.ahead("%work", f.whole("mul", f.entry(port, PortEntry.SLOT), 8))
    with f.repeat(size) as k:
        place = f.ahead(data, f.whole("mul", k, stride))
        number = f.put(f"load i64, ptr {place}, align 1")
        f.set_entry(slots, k, number)
