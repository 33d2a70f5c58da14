"""Graphs in CasADi's symbols and back: derivatives of what was traced, functions for optimal control.

The only door to CasADi besides the optimiser of excitation. CasADi differentiates: the part of the graph that is to be
differentiated is rebuilt in SX, and the derivative's instructions are written back into the same builder, where
whatever they share with the function itself is recognised.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca

from ..algebra.vectors import Scalar
from .graph import Builder, Graph, Port, Ref, Symbol

_UNARY = {
    ca.OP_SQRT: "sqrt",
    ca.OP_SIN: "sin",
    ca.OP_COS: "cos",
    ca.OP_TANH: "tanh",
    ca.OP_SIGN: "sign",
    ca.OP_FABS: "abs",
}
_SX: dict[str, Any] = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "div": lambda x, y: x / y,
    "sqrt": ca.sqrt,
    "sin": ca.sin,
    "cos": ca.cos,
    "tanh": ca.tanh,
    "sign": ca.sign,
    "abs": ca.fabs,
}


def jacobian(values: Sequence[Scalar], variables: Sequence[Symbol]) -> list[list[Scalar]]:
    """d values_i / d variables_j by automatic differentiation; entries that vanish are 0."""
    build = variables[0].builder
    traced = {i: v for i, v in enumerate(values) if isinstance(v, Symbol)}
    J: list[list[Scalar]] = [[0] * len(variables) for _ in values]
    if not traced:
        return J
    leaves = {v.ref.node for v in variables}
    cone = build.cone([v.ref for v in traced.values()], leaves)
    work: dict[int, Any] = {}
    names: list[int] = []  # the nodes behind the symbols of the SX function
    for k in cone:
        node = build.nodes[k]
        if k in leaves or node.op == "input":
            work[k] = ca.SX.sym(f"x{k}")
            names.append(k)
        elif node.op == "const":
            work[k] = ca.SX(node.value)
        else:
            work[k] = _SX[node.op](*(work[a] for a in node.args))
    column = ca.vertcat(
        *(-work[v.ref.node] if v.ref.negative else work[v.ref.node] for v in traced.values())
    )
    wanted = [work.get(v.ref.node, ca.SX.sym("unused")) for v in variables]
    derivative = ca.jacobian(column, ca.vertcat(*wanted))
    rows, columns = derivative.sparsity().get_triplet()
    f = ca.Function(
        "d", [ca.vertcat(*(work[k] for k in names))], [ca.vertcat(*derivative.nonzeros())]
    )
    refs = _write_back(build, f, [[Ref(k) for k in names]])[0]
    places = list(traced)
    for i, j, ref in zip(rows, columns, refs, strict=True):
        sign = -1 if variables[j].ref.negative else 1
        J[places[i]][j] = Symbol(build, ref if sign == 1 else -ref)
    return J


def _write_back(build: Builder, f: Any, inputs: Sequence[Sequence[Ref]]) -> list[list[Ref]]:
    """The outputs of a casadi.Function, its instructions added to a builder."""
    work: dict[int, Ref] = {}
    results: list[list[Ref]] = [[Ref(0)] * f.numel_out(k) for k in range(f.n_out())]
    for k in range(f.n_instructions()):
        op, out, args = f.instruction_id(k), f.instruction_output(k), f.instruction_input(k)
        if op == ca.OP_OUTPUT:
            results[out[0]][out[1]] = work[args[0]]
        elif op == ca.OP_INPUT:
            work[out[0]] = inputs[args[0]][args[1]]
        elif op == ca.OP_CONST:
            work[out[0]] = build.const(f.instruction_constant(k))
        else:
            work[out[0]] = _operation(build, op, [work[a] for a in args])
    return results


def _operation(build: Builder, op: int, x: list[Ref]) -> Ref:
    if op == ca.OP_MUL:
        return build.mul(x[0], x[1])
    if op == ca.OP_ADD:
        return build.add(x[0], x[1])
    if op == ca.OP_SUB:
        return build.add(x[0], -x[1])
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


# ---- CasADi's own view, for optimal control and the optimiser


@dataclass(frozen=True, slots=True)
class Expression:
    """Symbols and what was computed from them, in CasADi's SX."""

    inputs: tuple[Port, ...]
    symbols: tuple[Any, ...]  # one SX column an input
    outputs: tuple[Port, ...]
    values: tuple[Any, ...]  # one dense SX column an output, C order

    def function(self, name: str = "f") -> Any:
        """The casadi.Function of the expression."""
        names = [p.name for p in self.inputs], [p.name for p in self.outputs]
        if set(names[0]) & set(names[1]):
            names = names[0], [f"{x}_out" for x in names[1]]
        return ca.Function(name, list(self.symbols), list(self.values), *names)


def column(scalars: Iterable[Scalar]) -> Any:
    """A dense SX column of scalars (plain numbers allowed)."""
    return ca.densify(ca.vertcat(*(ca.SX(x) for x in scalars)))


def express(graph: Graph) -> Expression:
    """A graph in CasADi's symbols."""
    given = [ca.SX.sym(p.name, p.size) for p in graph.inputs]
    work: list[Any] = []
    for node in graph.nodes:
        if node.op == "input":
            work.append(given[node.args[0]][node.args[1]])
        elif node.op == "const":
            work.append(ca.SX(node.value))
        else:
            work.append(_SX[node.op](*(work[a] for a in node.args)))
    values = tuple(
        column(-work[r.node] if r.negative else work[r.node] for r in refs)
        for refs in graph.results
    )
    return Expression(graph.inputs, tuple(given), graph.outputs, values)
