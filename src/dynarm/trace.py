"""Scalar functions -> expression graph and operation counts. The only door to CasADi (besides the optimiser).

CasADi folds zeros and ones and differentiates; `graph.Builder` then removes every repetition that CasADi does not
see. What is traced for which word of the user stands in `quantities.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca

from .algebra import Scalar
from .graph import Builder, Count, Graph, Port, Ref

Symbols = list[Any]
_MULTIPLICATIONS = (ca.OP_MUL, ca.OP_SQ, ca.OP_TWICE)
_ADDITIONS = (ca.OP_ADD, ca.OP_SUB)
_UNARY = {
    ca.OP_SQRT: "sqrt",
    ca.OP_SIN: "sin",
    ca.OP_COS: "cos",
    ca.OP_TANH: "tanh",
    ca.OP_SIGN: "sign",
    ca.OP_FABS: "abs",
}


@dataclass(frozen=True, slots=True)
class Expression:
    """Symbols and what was computed from them: the common ancestor of graphs, casadi.Functions and counts."""

    inputs: tuple[Port, ...]
    symbols: tuple[Any, ...]  # one SX column an input
    outputs: tuple[Port, ...]
    values: tuple[Any, ...]  # one dense SX column an output, C order

    def function(self, name: str = "f") -> Any:
        """The casadi.Function of the expression as it was written."""
        names = [p.name for p in self.inputs], [p.name for p in self.outputs]
        if set(names[0]) & set(names[1]):
            names = names[0], [f"{x}_out" for x in names[1]]
        return ca.Function(name, list(self.symbols), list(self.values), *names)


def symbols(name: str, size: int) -> Symbols:
    """`size` fresh scalar symbols."""
    return [ca.SX.sym(f"{name}{i}") for i in range(size)]


def column(scalars: Iterable[Scalar]) -> Any:
    """A dense SX column of scalars (plain numbers allowed)."""
    return ca.densify(ca.vertcat(*(ca.SX(x) for x in scalars)))


def flatten(nested: Any) -> list[Scalar]:
    """The scalars of nested lists, in C order."""
    if isinstance(nested, (list, tuple)):
        return [x for item in nested for x in flatten(item)]
    return [nested]


def express(
    inputs: Sequence[Port], outputs: Sequence[Port], function: Callable[..., Any]
) -> Expression:
    """The expression of a function that takes one flat list of scalars an input and returns nested lists."""
    given = [symbols(p.name, p.size) for p in inputs]
    found = function(*given)
    if len(outputs) == 1:
        found = (found,)
    columns = tuple(column(flatten(x)) for x in found)
    for port, value in zip(outputs, columns, strict=True):
        if value.numel() != port.size:
            raise AssertionError(
                f"output {port.name} has {value.numel()} entries, its port {port.size}"
            )
    return Expression(tuple(inputs), tuple(column(x) for x in given), tuple(outputs), columns)


def trace_function(
    inputs: Sequence[Port], outputs: Sequence[Port], function: Callable[..., Any]
) -> Graph:
    """The graph of a function over scalars: one flat list of scalars an input, nested lists out."""
    return graph_of(express(inputs, outputs, function))


def jacobian(values: Sequence[Scalar], variables: Sequence[Scalar]) -> list[list[Scalar]]:
    """d values_i / d variables_j by automatic differentiation."""
    J = ca.densify(ca.jacobian(column(values), column(variables)))
    flat = J.elements()
    rows = len(values)
    return [[flat[i + rows * j] for j in range(len(variables))] for i in range(rows)]


def substitute(
    values: Sequence[Scalar], old: Sequence[Scalar], new: Sequence[Scalar]
) -> list[Scalar]:
    """The values with old symbols replaced by new expressions."""
    return list(ca.densify(ca.substitute(column(values), column(old), column(new))).elements())


def graph_of(expression: Expression) -> Graph:
    """The expression as a list of operations, none of them twice."""
    f = expression.function()
    build = Builder()
    work: dict[int, Ref] = {}
    results: list[list[Ref]] = [[Ref(0)] * p.size for p in expression.outputs]
    for k in range(f.n_instructions()):
        op = f.instruction_id(k)
        out = f.instruction_output(k)
        args = f.instruction_input(k)
        if op == ca.OP_OUTPUT:
            results[out[0]][out[1]] = work[args[0]]
        elif op == ca.OP_INPUT:
            work[out[0]] = build.input(args[0], args[1])
        elif op == ca.OP_CONST:
            work[out[0]] = build.const(f.instruction_constant(k))
        else:
            work[out[0]] = _operation(build, op, [work[a] for a in args])
    return build.finish(expression.inputs, expression.outputs, results)


def _operation(build: Builder, op: int, x: list[Ref]) -> Ref:
    if op == ca.OP_MUL:
        return build.mul(x[0], x[1])
    if op == ca.OP_ADD:
        return build.add(x[0], x[1])
    if op == ca.OP_SUB:
        return build.sub(x[0], x[1])
    if op == ca.OP_NEG:
        return -x[0]
    if op == ca.OP_SQ:
        return build.mul(x[0], x[0])
    if op == ca.OP_TWICE:
        return build.mul(build.const(2.0), x[0])
    if op == ca.OP_DIV:
        return build.div(x[0], x[1])
    if op == ca.OP_INV:
        return build.div(build.const(1.0), x[0])
    if op in _UNARY:
        return build.unary(_UNARY[op], x[0])
    raise AssertionError(f"CasADi operation {op} has no counterpart in the graph")


def count_written(expression: Expression) -> Count:
    """Operations of the expression as it was written: zeros and ones folded, repetitions kept."""
    f = expression.function()
    tally: dict[int, int] = {}
    depth: dict[int, int] = {}
    longest = 0
    for k in range(f.n_instructions()):
        op = f.instruction_id(k)
        out, args = f.instruction_output(k), f.instruction_input(k)
        tally[op] = tally.get(op, 0) + 1
        if op == ca.OP_OUTPUT:
            longest = max(longest, depth[args[0]])
        elif op in (ca.OP_INPUT, ca.OP_CONST):
            depth[out[0]] = 0
        else:
            free = op in (ca.OP_NEG, ca.OP_SIN, ca.OP_COS)
            depth[out[0]] = max(depth[a] for a in args) + (not free)

    def sum_of(ops: Iterable[int]) -> int:
        return sum(tally.get(op, 0) for op in ops)

    return Count(
        mul=sum_of(_MULTIPLICATIONS),
        add=sum_of(_ADDITIONS),
        div=sum_of((ca.OP_DIV, ca.OP_INV)),
        sqrt=sum_of((ca.OP_SQRT,)),
        sincos=max(tally.get(ca.OP_SIN, 0), tally.get(ca.OP_COS, 0)),
        other=sum_of((ca.OP_TANH, ca.OP_SIGN, ca.OP_FABS)),
        depth=longest,
    )
