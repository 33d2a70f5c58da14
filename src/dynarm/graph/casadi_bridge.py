"""Graphs in CasADi's symbols and back: derivatives of what was traced, functions for optimal control.

The only door to CasADi besides the optimiser of excitation. CasADi differentiates: the part of the graph that is to be
differentiated is rebuilt in SX, and the derivative's instructions are written back into the same builder, where
whatever they share with the function itself is recognised.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import casadi as ca

from ..algebra.vectors import Scalar
from ..border.kinds import Foreign
from .graph import Builder, Graph, Node, Port, Ref, Symbol
from .ops import LEAVES, OPERATIONS

Expressed = Foreign  # an SX expression or a casadi.Function: CasADi tells no types


def _expressed(node: Node, args: list[Expressed]) -> Expressed:
    """An operation on SX expressions."""
    how = OPERATIONS[node.op].casadi
    return getattr(ca, how)(*args) if isinstance(how, str) else how(*args)


def jacobian(values: Sequence[Scalar], variables: Sequence[Symbol]) -> list[list[Scalar]]:
    """d values_i / d variables_j by automatic differentiation; entries that vanish are 0."""
    build = variables[0].builder
    traced = {i: v for i, v in enumerate(values) if isinstance(v, Symbol)}
    J: list[list[Scalar]] = [[0] * len(variables) for _ in values]
    if not traced:
        return J
    leaves = {v.ref.node for v in variables}
    cone = _Cone(build, build.cone([v.ref for v in traced.values()], leaves), leaves)
    wanted = [cone.work.get(v.ref.node, ca.SX.sym("unused")) for v in variables]
    derivative = cone.derivative([v.ref for v in traced.values()], ca.vertcat(*wanted))
    rows, columns = derivative.sparsity().get_triplet()
    f = ca.Function("d", [ca.vertcat(*cone.symbols)], [ca.vertcat(*derivative.nonzeros())])
    refs = _write_back(build, f, [cone.refs])[0]
    places = list(traced)
    for i, j, ref in zip(rows, columns, refs, strict=True):
        sign = -1 if variables[j].ref.negative else 1
        J[places[i]][j] = Symbol(build, ref if sign == 1 else -ref)
    return J


class _Cone:
    """Part of a builder's nodes in SX: inputs and operations that have a derivative of their own are symbols there."""

    def __init__(self, build: Builder, nodes: Sequence[int], leaves: set[int]):
        self.work: dict[int, Expressed] = {}
        self.symbols: list[Expressed] = []
        self.refs: list[Ref] = []  # what the symbols stand for
        self.own: list[tuple[Expressed, Expressed, Expressed]] = []  # symbol, argument, derivative
        for k in nodes:
            node = build.nodes[k]
            rule = None if node.op in LEAVES else OPERATIONS[node.op].derivative
            if k in leaves or node.op == "input" or rule is not None:
                self.work[k] = self._symbol(f"x{k}", Ref(k))
            elif node.op == "const":
                self.work[k] = ca.SX(node.value)
            else:
                self.work[k] = _expressed(node, [self.work[a] for a in node.args])
            if rule is not None and k not in leaves:
                slope = rule(Symbol(build, Ref(node.args[0])))
                known = slope.ref if isinstance(slope, Symbol) else build.const(slope)
                slopes = self._symbol(f"d{k}", known)
                self.own.append((self.work[k], self.work[node.args[0]], slopes))

    def _symbol(self, name: str, ref: Ref) -> Expressed:
        symbol = ca.SX.sym(name)
        self.symbols.append(symbol)
        self.refs.append(ref)
        return symbol

    def derivative(self, refs: Sequence[Ref], variables: Expressed) -> Expressed:
        """d refs / d variables: CasADi's, and by the chain rule through the operations with one of their own."""
        column = ca.vertcat(
            *(-self.work[r.node] if r.negative else self.work[r.node] for r in refs)
        )
        total = ca.jacobian(column, variables)
        rows: list[tuple[Expressed, Expressed]] = []  # symbol, its derivative by the variables
        for symbol, argument, slope in self.own:
            inner = ca.jacobian(argument, variables)
            for earlier, row in rows:
                inner += ca.jacobian(argument, earlier) @ row
            rows.append((symbol, slope * inner))
            total += ca.jacobian(column, symbol) @ rows[-1][1]
        return total


def _write_back(build: Builder, f: Expressed, inputs: Sequence[Sequence[Ref]]) -> list[list[Ref]]:
    """The outputs of a casadi.Function, its instructions added to a builder."""
    work: dict[int, Ref] = {}
    results: list[list[Ref]] = [[Ref(0)] * f.numel_out(k) for k in range(f.n_out())]
    names = {getattr(ca, op.opcode): name for name, op in OPERATIONS.items() if op.opcode}
    for k in range(f.n_instructions()):
        op, out, args = f.instruction_id(k), f.instruction_output(k), f.instruction_input(k)
        if op == ca.OP_OUTPUT:
            results[out[0]][out[1]] = work[args[0]]
        elif op == ca.OP_INPUT:
            work[out[0]] = inputs[args[0]][args[1]]
        elif op == ca.OP_CONST:
            work[out[0]] = build.const(f.instruction_constant(k))
        else:
            refs = [work[a] for a in args]
            known = op in names
            work[out[0]] = build.operation(names[op], refs) if known else _short(build, op, refs)
    return results


def _short(build: Builder, op: int, x: list[Ref]) -> Ref:
    """What CasADi has an instruction for and the graph says with others."""
    if op == ca.OP_NEG:
        return -x[0]
    if op == ca.OP_SQ:
        return build.mul(x[0], x[0])
    if op == ca.OP_TWICE:
        return build.mul(build.const(2.0), x[0])
    if op == ca.OP_INV:
        return build.div(build.const(1.0), x[0])
    raise AssertionError(f"CasADi operation {op} has no counterpart in the graph")


# ---- CasADi's own view, for optimal control and the optimiser


@dataclass(frozen=True, slots=True)
class Expression:
    """Symbols and what was computed from them, in CasADi's SX."""

    inputs: tuple[Port, ...]
    symbols: tuple[Expressed, ...]  # one SX column an input
    outputs: tuple[Port, ...]
    values: tuple[Expressed, ...]  # one dense SX column an output, C order

    def function(self, name: str = "f") -> Expressed:
        """The casadi.Function of the expression."""
        names = [p.name for p in self.inputs], [p.name for p in self.outputs]
        if set(names[0]) & set(names[1]):
            names = names[0], [f"{x}_out" for x in names[1]]
        return ca.Function(name, list(self.symbols), list(self.values), *names)


def column(scalars: Iterable[Scalar]) -> Expressed:
    """A dense SX column of scalars (plain numbers allowed)."""
    return ca.densify(ca.vertcat(*(ca.SX(x) for x in scalars)))


def express(graph: Graph) -> Expression:
    """A graph in CasADi's symbols."""
    given = [ca.SX.sym(p.name, p.size) for p in graph.inputs]
    work: list[Expressed] = []
    for node in graph.nodes:
        if node.op == "input":
            work.append(given[node.args[0]][node.args[1]])
        elif node.op == "const":
            work.append(ca.SX(node.value))
        else:
            work.append(_expressed(node, [work[a] for a in node.args]))
    values = tuple(
        column(-work[r.node] if r.negative else work[r.node] for r in refs)
        for refs in graph.results
    )
    return Expression(graph.inputs, tuple(given), graph.outputs, values)
