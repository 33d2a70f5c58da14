"""A NumPy gufunc from object code.

NumPy exports the functions of its ufunc C API as a table of pointers in a capsule; entry 31 is
PyUFunc_FromFuncAndDataAndSignature. The table is private, so a self-test compares a known loop with its known result before
the first real use. NumPy keeps pointers to the loops, data, types, name and documentation: they, and the machine code
itself, are owned by the ufunc (`obj` in its C structure) and die with it.
"""

from __future__ import annotations

import ctypes
import itertools
import sys
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from ..errors import DynarmError
from ..graph import Port
from .elementary import LIBRARY
from .llvm import LOCK, host
from .loop import LOOP

_FROM_SIGNATURE = 31
_NUMBERS = itertools.count()
_IMMORTAL: list[Any] = []


def load_object(
    code: bytes, name: str, inputs: Sequence[Port], outputs: Sequence[Port], doc: str = ""
) -> np.ufunc:
    """The gufunc whose inner loop is the function LOOP of an object file."""
    tracker = _linked(code, name)
    return _gufunc(
        tracker[LOOP], tracker, name, signature(inputs, outputs), len(inputs), len(outputs), doc
    )


def signature(inputs: Sequence[Port], outputs: Sequence[Port]) -> str:
    """Core shapes in NumPy's form, such as (7),(7)->(7,7)."""

    def side(ports: Sequence[Port]) -> str:
        return ",".join("(" + ",".join(map(str, port.shape)) + ")" for port in ports)

    return f"{side(inputs)}->{side(outputs)}"


@cache
def _jit() -> Any:
    import llvmlite.binding as llvm

    host()
    return llvm.create_lljit_compiler()


@cache
def _library() -> dict[str, int]:
    """Addresses of the C library's functions that kernels call."""
    library = ctypes.CDLL("ucrtbase" if sys.platform == "win32" else None)
    return {
        name: ctypes.cast(getattr(library, function), ctypes.c_void_p).value or 0
        for name, function in LIBRARY.items()
    }


def _linked(code: bytes, name: str) -> Any:
    import llvmlite.binding as llvm

    with LOCK:
        builder = llvm.JITLibraryBuilder().add_object_img(code).export_symbol(LOOP)
        for symbol, address in _library().items():
            builder.import_symbol(symbol, address)
        try:
            return builder.link(_jit(), f"dynarm{next(_NUMBERS)}")
        except RuntimeError as error:
            raise DynarmError(f"LLVM cannot load the code of '{name}': {error}") from error


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
    address: int, owner: Any, name: str, signature: str, nin: int, nout: int, doc: str
) -> np.ufunc:
    count = nin + nout
    loops, data = (ctypes.c_void_p * 1)(address), (ctypes.c_void_p * 1)()
    types = (ctypes.c_char * count)(*[bytes([np.dtype(float).num])] * count)
    texts = [ctypes.create_string_buffer(x.encode()) for x in (name, doc, signature)]
    places = [ctypes.addressof(x) for x in (loops, data, types)]
    ufunc = _maker()(
        *places, 1, nin, nout, -1, *(ctypes.addressof(t) for t in texts[:2]), 0, texts[2].value
    )
    keep = (owner, loops, data, types, texts)
    record = _UFunc.from_address(id(ufunc))
    seen = (record.nin, record.nout, record.nargs, record.functions, record.name, record.obj)
    if seen == (nin, nout, count, places[0], ctypes.addressof(texts[0]), None):
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(keep))
        record.obj = id(keep)
    else:
        _IMMORTAL.append(keep)
    return ufunc


def inner_loop(ufunc: np.ufunc) -> int | None:
    """The address of the machine code inside a gufunc of ours; None where NumPy's structure looks different."""
    record = _UFunc.from_address(id(ufunc))
    if (record.nin, record.nout, record.nargs) != (ufunc.nin, ufunc.nout, ufunc.nargs):
        return None
    if not record.obj or not record.functions:
        return None
    return ctypes.c_void_p.from_address(record.functions).value


@cache
def _maker() -> Any:
    """PyUFunc_FromFuncAndDataAndSignature as a Python callable."""
    from numpy._core import _multiarray_umath

    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    table = ctypes.cast(
        pointer(_multiarray_umath._UFUNC_API, None), ctypes.POINTER(ctypes.c_void_p)
    )
    p, i = ctypes.c_void_p, ctypes.c_int
    kind = ctypes.PYFUNCTYPE(ctypes.py_object, p, p, p, i, i, i, i, p, p, i, ctypes.c_char_p)
    return kind(table[_FROM_SIGNATURE])
