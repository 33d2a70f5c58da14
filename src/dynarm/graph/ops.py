"""The operations of a graph: one record each, which says all that any other file needs to know of it.

To add a function, add one row to the table. What evaluates, traces, counts, differentiates, compiles or exports graphs
asks the record by the operation's name and has no list of its own. Only what a pass treats by its algebra is named
elsewhere: sums and products where they are factored or fused, and sin and cos, which are computed as a pair.

CasADi, JAX and LLVM are spoken of in words here, and looked up behind their own doors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import Enum
from typing import Literal, get_args

import numpy as np

from ..border.kinds import Foreign
from ..border.trial import on_trial

Function = Callable[..., Foreign]
# the entry of `Count` that it adds to
Cost = Literal["mul", "add", "div", "sqrt", "sincos", "other"]
COSTS: tuple[Cost, ...] = get_args(Cost)
PRICED: tuple[Cost, ...] = ("mul", "add", "div", "sqrt")  # what a total holds
LEAVES = frozenset({"input", "const"})  # nodes that compute nothing: no operations


class Parity(Enum):
    """What a function of one argument makes of a sign."""

    EVEN = "f(-x) = f(x)"
    ODD = "f(-x) = -f(x)"
    NEITHER = "f(-x) is another value"


class Way(Enum):
    """How vectors of samples are computed, and what the record's `word` then names."""

    INSTRUCTION = "an instruction of LLVM"
    INTRINSIC = "a function that LLVM itself has as instructions"
    COMPOSED = "a few instructions: a method of `machine.emit.lanes.Lanes`"
    ANGLE = "the pair of sin and cos in `machine.emit.elementary`, called between pieces"
    VECTOR = "a function of our own in `machine.emit.elementary`, called between pieces"
    LIBRARY = "a function of the C library, called between pieces, lane by lane"


CALLED = frozenset({Way.ANGLE, Way.VECTOR, Way.LIBRARY})


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """All that is to be known of one operation."""

    name: str
    numpy: Function  # its definition: what `Graph.evaluate` computes
    casadi: str | Function  # a function of the module casadi by name, or one of SX expressions
    jax: str | Function  # a function of the module jax.numpy by name, or one of its arrays
    c: str  # C for double: {0} and {1} stand for the arguments; nothing for angles, which are written in pairs
    c_single: str  # the same for float
    way: Way
    word: str
    parity: Parity | None = None  # None: two arguments, whose signs the builder's own method sorts
    arity: int = 1
    # an instruction of WebAssembly's f64 and f64x2; nothing: JavaScript's Math has it under the operation's name
    wasm: str = ""
    # CasADi's name of it among the instructions of a derivative; nothing: it has none
    opcode: str = ""
    # of a symbol; None: CasADi differentiates what `casadi` says
    derivative: Function | None = None
    cost: Cost = "other"
    instructions: int = 1  # vector arithmetic instructions of one argument; sin and cos together
    slow: bool = False  # whether a processor takes many times longer over it than over a sum

    @property
    def called(self) -> bool:
        """Whether it is computed between pieces of straight-line code, from slots to slots."""
        return self.way in CALLED


def library_function(
    name: str,
    numpy: Function,
    parity: Parity,
    *,
    casadi: str | Function = "",
    jax: str | Function = "",
    opcode: str = "",
    derivative: Function | None = None,
) -> Operation:
    """A function of one argument that C's mathematical library has under this name, and computes lane by lane."""
    return Operation(
        name=name,
        numpy=numpy,
        casadi=casadi or name,
        jax=jax or name,
        c=f"{name}({{0}})",
        c_single=f"{name}f({{0}})",
        way=Way.LIBRARY,
        word=name,
        parity=parity,
        opcode=opcode,
        derivative=derivative,
        instructions=0,
    )


def _arithmetic(
    name: str, numpy: np.ufunc, casadi: str, sign: str, cost: Cost, **more: Foreign
) -> Operation:
    """An operation of two arguments that every language has."""
    return Operation(
        name=name,
        numpy=numpy,
        casadi=casadi,
        jax=numpy.__name__,
        c=f"{{0}} {sign} {{1}}",
        c_single=f"{{0}} {sign} {{1}}",
        way=Way.INSTRUCTION,
        word=f"f{name}",
        arity=2,
        opcode=f"OP_{name.upper()}",
        wasm=f"f64.{name}",
        cost=cost,
        **more,
    )


def _angle(name: str, numpy: np.ufunc, parity: Parity) -> Operation:
    return Operation(
        name=name,
        numpy=numpy,
        casadi=name,
        jax=name,
        c="",
        c_single="",
        way=Way.ANGLE,
        word="sincos",
        parity=parity,
        opcode=f"OP_{name.upper()}",
        cost="sincos",
        instructions=20,
    )


_TABLE = (
    _arithmetic("add", np.add, "plus", "+", "add"),
    _arithmetic("sub", np.subtract, "minus", "-", "add"),
    _arithmetic("mul", np.multiply, "times", "*", "mul"),
    _arithmetic("div", np.divide, "rdivide", "/", "div", slow=True),
    _angle("sin", np.sin, Parity.ODD),
    _angle("cos", np.cos, Parity.EVEN),
    replace(
        library_function("sqrt", np.sqrt, Parity.NEITHER, opcode="OP_SQRT"),
        way=Way.INTRINSIC,
        wasm="f64.sqrt",
        instructions=1,
        cost="sqrt",
        slow=True,
    ),
    replace(
        library_function("fabs", np.abs, Parity.EVEN, jax="abs", opcode="OP_FABS"),
        name="abs",
        way=Way.INTRINSIC,
        wasm="f64.abs",
        instructions=1,
    ),
    Operation(
        name="sign",
        numpy=np.sign,
        casadi="sign",
        jax="sign",
        # the argument stands for itself at the end: the sign of NaN is NaN
        c="({0} > 0.0) ? 1.0 : (({0} < 0.0) ? -1.0 : {0})",
        c_single="({0} > 0.0f) ? 1.0f : (({0} < 0.0f) ? -1.0f : {0})",
        way=Way.COMPOSED,
        word="sign",
        parity=Parity.ODD,
        opcode="OP_SIGN",
    ),
    replace(
        library_function("tanh", np.tanh, Parity.ODD, opcode="OP_TANH"),
        way=Way.VECTOR,
        instructions=25,
    ),
    library_function("exp", np.exp, Parity.NEITHER, opcode="OP_EXP"),
)
OPERATIONS: dict[str, Operation] = {op.name: op for op in _TABLE}


@contextmanager
def extended(*operations: Operation) -> Iterator[None]:
    """Inside, these operations stand in the table as well: how an operation is tried before it gets its row."""
    known = [op.name for op in operations if op.name in OPERATIONS or op.name in LEAVES]
    if known:
        raise ValueError(f"operation {known[0]!r} stands in the table already")
    with on_trial(OPERATIONS, {op.name: op for op in operations}):
        yield


def named(*ways: Way) -> frozenset[str]:
    """Names of the operations that are computed in one of these ways."""
    return frozenset(name for name, op in OPERATIONS.items() if op.way in ways)


def priced() -> frozenset[str]:
    """Names of the operations that a total counts."""
    return frozenset(name for name, op in OPERATIONS.items() if op.cost in PRICED)


def method(name: str) -> Operation | None:
    """The function of one argument that scalars have as a method of this name, which is CasADi's where that has one."""
    for op in OPERATIONS.values():
        if op.arity == 1 and name == (op.casadi if isinstance(op.casadi, str) else op.name):
            return op
    return None
