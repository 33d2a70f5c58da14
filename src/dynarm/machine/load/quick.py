"""A method as a builtin function: one sample goes straight from Python to the kernel.

`builtin.py` holds the code of such a function, and relies on things that CPython and NumPy promise to those who compile
against their headers. Here they are looked at first, on objects whose contents are known; where anything is not
as expected there are no builtins, and methods go through NumPy.

Who owns what: a builtin owns its object (`__self__`) and the gufunc, which owns the machine code. What CPython keeps
pointers to besides (name, documentation, PyMethodDef), and the methods to which calls are left, are never given back:
there is one for each place in memory where a kernel is ever loaded.
"""

from __future__ import annotations

import ctypes
import inspect
import platform
import re
import sys
from collections.abc import Hashable, Sequence
from functools import cache
from pathlib import Path

import numpy as np

from ...border.frames import is_plain
from ...border.kinds import Foreign, Kept, Maker, Outside
from ..abi import FASTCALL_KEYWORDS, KIND, NAMES, PORT, WORD, Array, PortEntry, Table
from ..host import host
from .gufunc import inner_loop

# What fetestexcept calls invalid, division by zero, overflow and underflow
_RAISED = {"x86_64": 0x1D, "amd64": 0x1D, "aarch64": 0x0F, "arm64": 0x0F}
_PYTHON = [name for name in NAMES if re.match("Py(_|Object|Method|Tuple|List|Err)", name)]
_ARRAY_FUNCTIONS = {"PyArray_NewFromDescr": 94, "PyArray_Scalar": 60}

# Threads of a call that does not say; with more than one, batches are left to the method.
THREADS = ctypes.c_int64(1)
_kept: dict[Hashable, Kept] = {}  # what CPython and compiled code point to


class _Definition(ctypes.Structure):
    """PyMethodDef."""

    _fields_ = [
        ("name", ctypes.c_char_p),
        ("code", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    ]


class _Module(str):
    """The name of the module of a builtin, and what the builtin needs to live."""

    keep: object = None


def bound(ufunc: np.ufunc, method: Maker, owner: object) -> Maker | None:
    """A builtin that does what `method` does for `owner`, one sample by the kernel of `ufunc` itself, or None.

    The method's first arguments after self must be the inputs of the ufunc, and given them alone (or with out=, if it
    returns one array), it must return what the ufunc returns.
    """
    inside, known = inner_loop(ufunc), _known()
    if inside is None or known is None:
        return None
    table = (ctypes.c_int64 * Table.PORTS).from_address(inside[1])
    if not table[Table.ENTRY] or WORD * table[Table.SLOTS] > host().tuning.stack:
        return None
    first = inside[1] + WORD * Table.PORTS
    ports = (ctypes.c_int64 * (PORT * table[Table.INPUTS])).from_address(first)
    if set(ports[PortEntry.AXES :: PORT]) != {1} or table[Table.METHOD] not in (0, id(method)):
        return None  # other inputs than vectors, or the kernel serves another method
    words = (ctypes.c_int64 * len(NAMES))(*known)
    ctypes.memmove(table[Table.PYTHON], words, ctypes.sizeof(words))
    table[Table.UFUNC], table[Table.METHOD] = id(ufunc), id(_forever(id(method), method))
    module = _Module(method.__module__)
    module.keep = ufunc
    make = ctypes.pythonapi["PyCFunction_NewEx"]
    make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, *[ctypes.py_object] * 2]
    function = make(ctypes.addressof(_definition(table[Table.ENTRY], method)), owner, module)
    return function if _agree(function, ufunc, ports[PortEntry.SIZE :: PORT]) else None


def by_gufunc(ufunc: np.ufunc, method: Maker, owner: object) -> Maker:
    """The same in Python, for hosts without builtins: given the inputs alone, nothing is to be prepared."""

    def call(*given: Outside, **options: Outside) -> Outside:
        plain = all(map(is_plain, given)) and is_plain(options.get("out"))
        if plain and len(given) == ufunc.nin and THREADS.value == 1:
            try:
                if not options:
                    return ufunc(*given)
                if ufunc.nout == 1 and options.keys() == {"out"}:
                    return ufunc(*given, **options)
            except (ValueError, TypeError, OverflowError):
                pass  # said again below, in the robot's words
        return method(owner, *given, **options)

    return call


def _definition(code: int, method: Maker) -> _Definition:
    """The PyMethodDef of a builtin; its documentation begins with the signature, as `inspect` wants it."""
    key = code, id(method)
    if key not in _kept:
        shown = inspect.signature(method)
        bare = [p.replace(annotation=p.empty) for p in shown.parameters.values()][1:]
        head = f"{method.__name__}{shown.replace(parameters=bare, return_annotation=shown.empty)}"
        text = f"{head}\n--\n\n{method.__doc__ or ''}".encode()
        _forever(key, _Definition(method.__name__.encode(), code, FASTCALL_KEYWORDS, text))
    definition: _Definition = _kept[key]
    return definition


def _forever(key: Hashable, x: Kept) -> Kept:
    """The first object under a key; it outlives even the interpreter's clearing of modules."""
    first = _kept.setdefault(key, x)
    if first is x:
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(x))
    return first


def _agree(function: Maker, ufunc: np.ufunc, sizes: Sequence[int]) -> bool:
    """Whether both return the same bits for some sample."""
    given = [0.3 + np.arange(size) / (7 + k) for k, size in enumerate(sizes)]
    with np.errstate(all="ignore"):
        made, wanted = function(*given), ufunc(*given)
    if ufunc.nout == 1:
        made, wanted = (made,), (wanted,)
    return len(made) == ufunc.nout and all(
        type(a) is type(b) and a.shape == b.shape and a.tobytes() == b.tobytes()
        for a, b in zip(made, wanted, strict=True)
    )


@cache
def _known() -> list[int] | None:
    """What stands in dynarm_known, or None where CPython, NumPy or the processor is not as it is expected."""
    if not _usual():
        return None
    try:
        words = {name: _address(ctypes.pythonapi[name]) for name in _PYTHON}
        words |= _array_functions() | _flags()
    except (AttributeError, ImportError, OSError, LookupError):
        return None
    objects = {"ndarray": np.ndarray, "float64": np.dtype(np.float64), "out": sys.intern("out")}
    objects |= {
        kind.__name__: kind for kind in (ValueError, TypeError, OverflowError, list, float, int)
    }
    words |= {name: id(_forever(name, x)) for name, x in objects.items()}
    words["kind"] = ctypes.c_int64.from_address(id(objects["float64"]) + KIND).value
    words["threads"] = ctypes.addressof(_forever("threads", THREADS))
    return [words[name] for name in NAMES]


def _usual() -> bool:
    """Whether this is CPython with its lock, 64 bits, a system whose conventions are known, and arrays as declared."""
    return (
        platform.python_implementation() == "CPython"
        and "t" not in getattr(sys, "abiflags", "")  # free-threaded
        and platform.system() in ("Linux", "Darwin")
        and platform.machine().lower() in _RAISED
        and ctypes.sizeof(ctypes.c_void_p) == 8
        and object.__basicsize__ == Array.TYPE + WORD
        and _arrays_as_declared()
        and _kinds_as_declared()
    )


def _arrays_as_declared() -> bool:
    """Whether arrays whose contents are known lie in memory as NumPy's header says."""
    whole = np.arange(24.0).reshape(2, 3, 4)
    fixed = np.arange(3)
    fixed.setflags(write=False)
    for a in (whole, whole[1, ::-1, ::2], whole[0, 1], fixed, np.array(1.0)):
        if ctypes.c_int64.from_address(id(a) + Array.TYPE).value != id(np.ndarray):
            return False
        entries = {
            e: ctypes.c_int64.from_address(id(a) + e).value
            for e in (Array.DATA, Array.SHAPE, Array.STRIDES, Array.BASE, Array.DESCR)
        }
        ndim, flags = (
            ctypes.c_int32.from_address(id(a) + e).value for e in (Array.NDIM, Array.FLAGS)
        )
        base = 0 if a.base is None else id(a.base)
        places = [entries[e] for e in (Array.DATA, Array.BASE, Array.DESCR)]
        if places != [a.ctypes.data, base, id(a.dtype)]:
            return False
        if (ndim, flags) != (a.ndim, a.flags.num):
            return False
        for place, wanted in (
            (entries[Array.SHAPE], a.shape),
            (entries[Array.STRIDES], a.strides),
        ):
            if wanted and tuple((ctypes.c_int64 * ndim).from_address(place)) != wanted:
                return False
    return True


def _kinds_as_declared() -> bool:
    """Whether eight bytes of an element's type tell float64 in this byte order from all others."""

    def eight(kind: np.dtype) -> bytes:
        return ctypes.string_at(id(kind) + KIND, 8)

    own = np.dtype(np.float64)
    same = [own.newbyteorder("="), np.dtype(np.float64, copy=True)]
    others = [own.newbyteorder("S"), *(np.dtype(c) for c in "?bBhHiIlLqQefgFDGOSUVmM")]
    wanted = b"fd=" + eight(own)[3:4] + own.num.to_bytes(4, sys.byteorder)
    return all(eight(k) == wanted for k in (own, *same)) and wanted not in map(eight, others)


def _address(function: Foreign) -> int:
    return ctypes.cast(function, ctypes.c_void_p).value or 0


def _array_functions() -> dict[str, int]:
    """Addresses of the functions of NumPy that are called, looked up and tried."""
    from numpy._core._multiarray_umath import _ARRAY_API  # type: ignore[attr-defined, unused-ignore]

    pointer = ctypes.pythonapi["PyCapsule_GetPointer"]
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    table = ctypes.cast(pointer(_ARRAY_API, None), ctypes.POINTER(ctypes.c_void_p))
    if (table[2], table[3]) != (id(np.ndarray), id(np.dtype)):
        raise LookupError("the table does not begin with the types of arrays and of their elements")
    places = {name: table[_index(name, usual)] or 0 for name, usual in _ARRAY_FUNCTIONS.items()}
    kind, o, p, i = np.dtype(np.float64), ctypes.py_object, ctypes.c_void_p, ctypes.c_int
    new = ctypes.PYFUNCTYPE(o, p, o, i, p, p, p, i, p)(places["PyArray_NewFromDescr"])
    number = ctypes.PYFUNCTYPE(o, p, o, p)(places["PyArray_Scalar"])
    ctypes.pythonapi.Py_IncRef(o(kind))
    made = new(id(np.ndarray), kind, 2, (ctypes.c_int64 * 2)(3, 4), None, None, 0, None)
    three = number(ctypes.byref(ctypes.c_double(3.0)), kind, None)
    if type(made) is not np.ndarray or made.shape != (3, 4) or made.dtype is not kind:
        raise LookupError("PyArray_NewFromDescr makes something else")
    if not (made.flags.c_contiguous and made.flags.owndata and made.flags.writeable):
        raise LookupError("PyArray_NewFromDescr makes something else")
    if type(three) is not np.float64 or three != 3.0:
        raise LookupError("PyArray_Scalar makes something else")
    return places


def _index(name: str, usual: int) -> int:
    """Where a function stands in NumPy's table, by the header of the NumPy that is running."""
    header = Path(np.get_include(), "numpy", "__multiarray_api.h")
    try:
        text = header.read_text()
    except OSError:
        return usual  # a NumPy without headers; the places have not changed since 1.0
    place = re.search(rf"define {name}\s.*?PyArray_API\[(\d+)\]", text, re.DOTALL)
    if place is None:
        raise LookupError(f"{name} is not in {header.name}")
    return int(place[1])


def _flags() -> dict[str, int]:
    """The address of fetestexcept and the flags that NumPy looks at, after each of them was raised and seen."""
    library = ctypes.CDLL(None)
    flags = _RAISED[platform.machine().lower()]
    library.log.restype, library.log.argtypes = ctypes.c_double, [ctypes.c_double]
    huge, tiny, endless = 1e300, 5e-324, float("inf")
    seen = []
    for operation in (
        lambda: endless - endless,
        lambda: library.log(0.0),
        lambda: huge * huge,
        lambda: tiny * 0.5,
        lambda: 1.0 / (huge / 1e299),  # inexact, which is no reason to warn
    ):
        library.feclearexcept(flags)
        operation()
        seen.append(library.fetestexcept(flags))
    library.feclearexcept(flags)
    single = all(bits and bits & (bits - 1) == 0 for bits in seen[:4])
    if not single or sum(seen) != flags or seen[4]:
        raise LookupError("the processor's flags have other names here")
    return {"fetestexcept": _address(library.fetestexcept), "flags": flags}
