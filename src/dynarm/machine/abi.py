"""The binary interface: what a kernel's code, the code that all kernels share, NumPy and Python know of each other.

Whoever writes one of these places and whoever reads it names it by what stands here; nobody counts bytes for himself.

    symbol             written by          called or read by
    dynarm_table       emit/kernel.py      the loop, gufunc.py, quick.py: describes the kernels of one object file
    dynarm_loop        emit/loop.py        NumPy (and march.py), with a table as data
    dynarm_quick       emit/builtin.py     a kernel's own entry, which Python calls
    dynarm_known       emit/builtin.py     dynarm_quick; quick.py writes into it what Python and NumPy are
    dynarm_<f><k>x<W>  emit/elementary.py  kernels: a function of k arguments over W lanes
    dynarm_<f>         the C library       the code that all kernels share, and kernels

    void dynarm_loop(char **args, intptr_t *dims, intptr_t *steps, void *table)
        dims[0] samples; steps: the step in bytes from sample to sample of each operand, inputs first, then the steps
        inside each operand's core axes.
    void kernel<W>(void *work, int64 blocks, void **lines)
        work: the workspaces of so many blocks of W samples, one after another. A workspace has `Table.SLOTS` slots, a
        slot W numbers, aligned to their size; inputs have the first ones. lines: for each block one address a port,
        from which the inputs of the next tile will come and to which the outputs of this block will go: a kernel asks
        for their lines of cache while it computes. A kernel of one lane is given null.
    void dense_come<W>(void *records, void *work, int64 first), dense_go<W> the same
        all inputs into a workspace, or all outputs from it, where the rows of every port have no gaps.
    void woven<W>(void *records, void *work, void *other, int64 next, int64 last)
        one block, with the moves of its neighbours, in the workspace `other`, woven in.
    PyObject *dynarm_quick(void *table, PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
    void march(loop, char **args, intptr_t *dims, intptr_t *steps, void *data, intptr_t *advance, operands, count)
        calls a loop `count` times, its operands moving on.

Tables, records and lists are arrays of words of eight bytes: integers, addresses or the bits of a double.
"""

from __future__ import annotations

from enum import IntEnum

WORD = 8  # bytes of an entry, and of a number
ALIGN = 64  # bytes that workspaces, records and tables are aligned to: the widest vector, and a line of cache
MOST_PORTS = 16  # inputs and outputs together
MOST_AXES = 3  # of a port

# ---- symbols and signatures

TABLE = "dynarm_table"
LOOP = "dynarm_loop"
QUICK = "dynarm_quick"
KNOWN = "dynarm_known"
MARCH = "march"
LOOP_ARGUMENTS = "ptr %args, ptr %dims, ptr %steps, ptr %table"
KERNEL_ARGUMENTS = "ptr noalias %work, i64 %blocks, ptr noalias %lines"
DENSE_ARGUMENTS = "ptr noalias %records, ptr noalias %work, i64 %first"
WOVEN_ARGUMENTS = (
    "ptr noalias %records, ptr noalias %work, ptr noalias %other, i64 %next, i64 %last"
)
CALL_ARGUMENTS = "ptr %args, i64 %nargs, ptr %kwnames"  # of Python's, after self


def called(op: str, count: int, width: int) -> str:
    """The function for a call with so many arguments: void (ptr x1, ptr x2 ..., ptr results), slots of that width."""
    return f"dynarm_{op}{count}x{width}"


def of_c(function: str) -> str:
    """Our name for a function of the C library."""
    return f"dynarm_{function}"


# ---- the table of an object file


class Table(IntEnum):
    """Entries of a table. After them: PORT entries for each port; slot and bits of each constant; slots of outputs."""

    KERNEL_ONE = 0  # address of the kernel for single samples, or 0
    KERNEL_WIDE = 1  # of the kernel for vectors of samples
    DENSE_IN = 2  # of what moves dense inputs, or 0
    DENSE_OUT = 3  # of what moves dense outputs, or 0
    WOVEN = 4  # of the kernel with such moves woven into it, or 0
    ENTRY = 5  # of the function that Python calls; 0 without a kernel for single samples
    PYTHON = 6  # of dynarm_known
    UFUNC = 7  # the gufunc, and
    METHOD = 8  # the method, to which other calls are left; 0 until quick.py writes them
    INPUTS = 9  # ports
    OUTPUTS = 10
    SLOTS = 11  # of a workspace
    TILE = 12  # blocks that a kernel takes at once
    AREAS = 13  # workspaces
    LARGEST = 14  # elements of the largest output
    CONSTANTS = 15  # outputs that are constants, each once
    WHOLE = 16  # elements of all outputs of a sample together
    PORTS = 17  # here the ports begin


class PortEntry(IntEnum):
    """Entries of a port in a table. Axes that it does not have stand first, with the length 1."""

    SLOT = 0  # the first slot of an input; of an output: where in the table the slots of its elements stand
    SIZE = 1
    CORE = 2  # where the steps of its three axes stand among NumPy's
    LENGTHS = 3  # of the three axes
    AXES = 6  # how many it has, the last ones of the three


PORT = 7  # entries of a port


# ---- the record of an operand, made by the loop


class RecordEntry(IntEnum):
    """Entries of a record."""

    BASE = 0  # the address of the first sample
    STEP = 1  # bytes from sample to sample
    MODE = 2
    DENSE = 3  # 1: the elements of a sample lie side by side; 2: and so do samples, moved as rows without a stage
    SLOT = 4  # the first slot; of an output the address of its elements' slots
    SIZE = 5
    AXES = 6  # three lengths
    STEPS = 9  # three steps
    AHEAD = 12  # bytes from block to block of lines that are asked for, or 0


RECORD = 13  # entries of a record


class Mode(IntEnum):
    """How an operand is moved; `emit/layout.py` says what each way is."""

    STRIDED = 0
    ROWS = 1
    SHORT = 2
    COLUMNS = 3
    FIXED = 4
    STAGED = 5
    STREAMED = 6


# ---- what CPython and NumPy promise to those who compile against their headers

# Entries of dynarm_known: objects, numbers and functions
NAMES = (
    *("ndarray", "float64", "kind", "out", "threads", "flags", "list", "float", "int"),
    *("ValueError", "TypeError", "OverflowError"),
    *("Py_IncRef", "Py_DecRef", "PyObject_Vectorcall", "PyMethod_New", "fetestexcept"),
    *("PyTuple_New", "PyTuple_SetItem", "PyTuple_GetItem", "PyTuple_Size"),
    *("PyList_GetItem", "PyList_Size"),
    *("PyErr_ExceptionMatches", "PyErr_Clear", "PyArray_NewFromDescr", "PyArray_Scalar"),
)


class Array(IntEnum):
    """Bytes from the beginning of an object to its type, and of an array (PyArrayObject_fields) to its fields."""

    TYPE = 8
    DATA = 16
    NDIM = 24
    SHAPE = 32
    STRIDES = 40
    BASE = 48
    DESCR = 56
    FLAGS = 64


KIND = 24  # bytes from the type of elements (PyArray_Descr) to eight that tell kind, byte order and number
# Of an array's flags those that matter when it is written to (C order 1, aligned 0x100, writeable 0x400, a copy to be
# written back 0x2000, one that warns: the sign), and how they must be
LOOKED_AT, PLAIN = 0x2501 - (1 << 31), 0x501
# How a builtin takes its arguments: METH_FASTCALL | METH_KEYWORDS
FASTCALL_KEYWORDS = 0x0080 | 0x0002
