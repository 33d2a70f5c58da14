"""A NumPy gufunc from object code.

NumPy exports the functions of its ufunc C API as a table of pointers in a capsule. The table is not public, so it is
looked at before anything in it is called (its first entry must be the type of ufuncs, and NumPy's own header says where
the maker of gufuncs stands), and a gufunc with a loop in Python is made and tried first.

NumPy keeps pointers to the loops, data, types, name and documentation of a ufunc: they, and the machine code itself,
are owned by the ufunc (`obj` in its C structure) and die with it.
"""

from __future__ import annotations

import contextlib
import ctypes
import re
import threading
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np

from ...border.kinds import Foreign
from ...errors import DynarmError
from ...graph.graph import Port
from ...graph.ops import Way, named
from ..abi import KNOWN, LOOP, MOST_AXES, PORT, QUICK, TABLE, PortEntry, Table, called
from ..emit.llvm import LOCK, compile_runtime, functions_of_c, library, linked
from ..host import Host, check_runs, host, native, on
from . import cache as disk

_MAKER = "PyUFunc_FromFuncAndDataAndSignature"
_IMMORTAL: list[Foreign] = []  # what ufuncs point to, if they cannot own it
_RUNTIMES: dict[Host, Foreign] = {}


def load_object(
    code: bytes,
    name: str,
    inputs: Sequence[Port],
    outputs: Sequence[Port],
    doc: str = "",
    target: Host | None = None,
) -> np.ufunc:
    """The gufunc that an object file from `compile_graph` computes, over the ports that it was compiled for."""
    target = target or host()
    run = runtime(target)
    shared = {symbol: run[symbol] for symbol in _services(target)}
    owner = linked(code, name, (TABLE,), shared | functions_of_c())
    _check_ports(owner[TABLE], name, inputs, outputs)
    return _gufunc(run[LOOP], owner[TABLE], owner, name, inputs, outputs, doc)


def begin() -> None:
    """Begin to compile what all kernels share, if it is not there yet, while others trace: LLVM needs no Python."""
    target = host()
    if target not in _RUNTIMES:
        with contextlib.suppress(RuntimeError):  # no thread to be had: it is compiled when needed
            threading.Thread(target=_quietly, args=(target,), name="dynarm runtime").start()


def _quietly(target: Host) -> None:
    with contextlib.suppress(DynarmError, MemoryError):  # whoever needs it will be told
        runtime(target)


def runtime(target: Host) -> Foreign:
    """The loop and the functions that all kernels share, in executable memory for good."""
    with LOCK:  # there must be one: whatever another one's loops were given would be gone with it
        if target not in _RUNTIMES:
            check_runs(target, native())
            with on(target):  # a key holds the host
                key = disk.digest("runtime")
            entry = disk.load(key)
            if entry is None:
                entry = disk.Entry({}, compile_runtime(target))
                disk.store(key, entry)
            exports = (LOOP, *_services(target))
            _RUNTIMES[target] = linked(entry.code, "runtime", exports, library())
        return _RUNTIMES[target]


def _services(target: Host) -> tuple[str, ...]:
    """What kernels may call."""
    widths, counts = sorted({1, target.width}), range(1, target.tuning.angles + 1)
    sincos = [called("sincos", count, w) for w in widths for count in counts]
    others = [called(op, 1, w) for op in sorted(named(Way.VECTOR)) for w in widths]
    return (*sincos, *others, QUICK, KNOWN)


def signature(inputs: Sequence[Port], outputs: Sequence[Port]) -> str:
    """Core shapes in NumPy's form, such as (7),(7)->(7,7)."""

    def side(ports: Sequence[Port]) -> str:
        return ",".join("(" + ",".join(map(str, port.shape)) + ")" for port in ports)

    return f"{side(inputs)}->{side(outputs)}"


def _check_ports(table: int, name: str, inputs: Sequence[Port], outputs: Sequence[Port]) -> None:
    """Refuse code that was compiled for other ports: it would write beyond the arrays."""
    ports = [*inputs, *outputs]
    entries = (ctypes.c_int64 * (Table.PORTS + PORT * len(ports))).from_address(table)
    compiled = [entries[Table.INPUTS], entries[Table.OUTPUTS]]
    wanted = [len(inputs), len(outputs)]
    if compiled == wanted:
        for k, port in enumerate(ports):
            entry = entries[Table.PORTS + PORT * k : Table.PORTS + PORT * (k + 1)]
            lengths = slice(PortEntry.LENGTHS, PortEntry.LENGTHS + MOST_AXES)
            compiled += [entry[PortEntry.SIZE], *entry[lengths]]
            wanted += [port.size, *(1,) * (MOST_AXES - len(port.shape)), *port.shape]
    if compiled != wanted:
        raise DynarmError(
            f"the code of '{name}' is for other inputs and outputs than {signature(inputs, outputs)}"
        )


class _UFunc(ctypes.Structure):
    """The beginning of PyUFuncObject as NumPy's public header declares it."""

    _fields_ = [
        ("head", ctypes.c_char * object.__basicsize__),
        ("nin", ctypes.c_int),
        ("nout", ctypes.c_int),
        ("nargs", ctypes.c_int),
        ("identity", ctypes.c_int),
        ("functions", ctypes.c_void_p),
        ("data", ctypes.c_void_p),
        ("ntypes", ctypes.c_int),
        ("reserved", ctypes.c_int),
        ("name", ctypes.c_void_p),
        ("types", ctypes.c_void_p),
        ("doc", ctypes.c_void_p),
        ("ptr", ctypes.c_void_p),
        ("obj", ctypes.c_void_p),
    ]


def _gufunc(
    loop: int,
    table: int,
    owner: Foreign,
    name: str,
    inputs: Sequence[Port],
    outputs: Sequence[Port],
    doc: str,
) -> np.ufunc:
    nin, nout = len(inputs), len(outputs)
    loops, data = (ctypes.c_void_p * 1)(loop), (ctypes.c_void_p * 1)(table)
    types = (ctypes.c_char * (nin + nout))(*[bytes([np.dtype(float).num])] * (nin + nout))
    label, text = (ctypes.create_string_buffer(x.encode()) for x in (name, doc))
    places = [ctypes.addressof(x) for x in (loops, data, types, label, text)]
    core = signature(inputs, outputs).encode()
    ufunc: np.ufunc = _maker()(*places[:3], 1, nin, nout, -1, *places[3:], 0, core)
    keep = (owner, loops, data, types, label, text)
    record = _UFunc.from_address(id(ufunc))
    pointers = [record.functions, record.data, record.types, record.name, record.doc]
    if pointers == places and (record.nin, record.nout, record.obj) == (nin, nout, None):
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(keep))
        record.obj = id(keep)
    else:
        _IMMORTAL.append(keep)
    return ufunc


def inner_loop(ufunc: np.ufunc) -> tuple[int, int] | None:
    """Addresses of the loop inside a gufunc of ours and of what NumPy passes to it; None where that is not known."""
    if type(ufunc) is not np.ufunc:
        return None
    record = _UFunc.from_address(id(ufunc))
    if (record.nin, record.nout, record.nargs) != (ufunc.nin, ufunc.nout, ufunc.nargs):
        return None
    if not record.obj or not record.functions or not record.data:
        return None
    loop = ctypes.c_void_p.from_address(record.functions).value
    data = ctypes.c_void_p.from_address(record.data).value
    return (loop, data) if loop and data else None


@cache
def _maker() -> Foreign:
    """PyUFunc_FromFuncAndDataAndSignature as a Python callable, looked up and tried."""
    try:
        from numpy._core._multiarray_umath import _UFUNC_API  # type: ignore[attr-defined, unused-ignore]
    except ImportError:
        raise _strange("the table is not where it used to be") from None
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    table = ctypes.cast(pointer(_UFUNC_API, None), ctypes.POINTER(ctypes.c_void_p))
    if table[0] != id(np.ufunc):
        raise _strange("the table does not begin with the type of ufuncs")
    p, i = ctypes.c_void_p, ctypes.c_int
    kind = ctypes.PYFUNCTYPE(ctypes.py_object, p, p, p, i, i, i, i, p, p, i, ctypes.c_char_p)
    make = kind(table[_index()])
    _try(make)
    return make


def _index() -> int:
    """Where the maker stands in the table, by the header of the NumPy that is running."""
    header = Path(np.get_include(), "numpy", "__ufunc_api.h")
    try:
        place = re.search(
            rf"define {_MAKER}\s.*?PyUFunc_API\[(\d+)\]", header.read_text(), re.DOTALL
        )
    except OSError:
        return 31  # a NumPy without headers; the place has not changed since 1.0
    if place is None:
        raise _strange(f"{_MAKER} is not in {header.name}")
    return int(place[1])


_sizes = ctypes.POINTER(ctypes.c_ssize_t)
_Loop = ctypes.CFUNCTYPE(None, ctypes.POINTER(ctypes.c_void_p), _sizes, _sizes, ctypes.c_void_p)


def _halves(args: Foreign, dims: Foreign, steps: Foreign, data: Foreign) -> None:
    """Half the second of two numbers, sample by sample: the loop of the gufunc that is tried first."""
    for k in range(dims[0]):
        pair = ctypes.c_double.from_address(args[0] + k * steps[0] + steps[2])
        ctypes.c_double.from_address(args[1] + k * steps[1]).value = pair.value / 2


def _try(make: Foreign) -> None:
    loop = _Loop(_halves)
    loops = (ctypes.c_void_p * 1)(ctypes.cast(loop, ctypes.c_void_p).value)
    data, types = (ctypes.c_void_p * 1)(), (ctypes.c_char * 2)(*[bytes([np.dtype(float).num])] * 2)
    places = [ctypes.addressof(x) for x in (loops, data, types)]
    ufunc = make(
        *places, 1, 1, 1, -1, ctypes.addressof(types), ctypes.addressof(data), 0, b"(2)->()"
    )
    _IMMORTAL.append((loop, loops, data, types, ufunc))
    if not isinstance(ufunc, np.ufunc) or not np.array_equal(
        ufunc(np.arange(6.0).reshape(3, 2)), [0.5, 1.5, 2.5]
    ):
        raise _strange("a gufunc made with it computes something else")


def _strange(what: str) -> DynarmError:
    return DynarmError(
        f"NumPy {np.__version__} keeps its table of ufunc functions differently: {what}; "
        "install one of the versions of NumPy that dynarm names in its requirements"
    )
