"""The expression graph between tracing and machine code: a list of scalar operations without repetitions.

Nodes are hash-consed while they are built: an operation that stands already in the graph is never added again, and
x*y = y*x, x-y = -(y-x), (-x)*y = -(x*y) are the same operation, because a sign travels on the reference (`Ref`)
and not in a node. Negations therefore cost nothing until an output needs one.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from ..algebra.vectors import Scalar
from . import ops
from .ops import LEAVES, OPERATIONS, Parity, Way

ANGLES = ops.named(Way.ANGLE)  # sin and cos: free in a count, and one of them comes with the other


class Node(NamedTuple):
    """One operation. `input` holds (which input, which element), `const` its value, the rest their arguments."""

    op: str
    args: tuple[int, ...] = ()
    value: float = 0.0


class Ref(NamedTuple):
    """A node with a sign."""

    node: int
    negative: bool = False

    def __neg__(self) -> Ref:
        return Ref(self.node, not self.negative)


@dataclass(frozen=True, slots=True)
class Port:
    """A named input or output: its shape, () for a scalar."""

    name: str
    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        """The number of scalars."""
        return math.prod(self.shape)


@dataclass(frozen=True, slots=True)
class Count:
    """Operations of a graph. Negations, sin/cos and constants are free; 2x is a multiplication."""

    mul: int
    add: int
    div: int = 0
    sqrt: int = 0
    sincos: int = 0
    other: int = 0
    depth: int = 0  # longest chain of dependent mul, add, div, sqrt

    @property
    def total(self) -> int:
        """Everything that costs time, sin and cos apart."""
        return self.mul + self.add + self.div + self.sqrt


@dataclass(frozen=True, slots=True)
class Graph:
    """A straight-line program: nodes in order of evaluation, then the references each output is read from."""

    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    nodes: tuple[Node, ...]
    results: tuple[tuple[Ref, ...], ...]  # one an output, C order; a zero refers to a const node

    def node_values(self, flat: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Every node's value for inputs of shape (..., size of the port), by NumPy."""
        values: list[np.ndarray] = []
        for node in self.nodes:
            if node.op == "input":
                values.append(flat[node.args[0]][..., node.args[1]])
            elif node.op == "const":
                values.append(np.asarray(node.value))
            else:
                values.append(OPERATIONS[node.op].numpy(*(values[k] for k in node.args)))
        return values

    def evaluate(self, *inputs: np.ndarray) -> tuple[np.ndarray, ...]:
        """The outputs for inputs of shape (..., *port.shape), by NumPy, operation by operation."""
        shapes = [
            np.shape(x)[: np.ndim(x) - len(p.shape)]
            for x, p in zip(inputs, self.inputs, strict=True)
        ]
        batch = np.broadcast_shapes(*shapes)
        flat = [
            np.reshape(np.asarray(x, float), (*shape, -1))
            for x, shape in zip(inputs, shapes, strict=True)
        ]
        values = self.node_values(flat)
        arrays = []
        for port, refs in zip(self.outputs, self.results, strict=True):
            rows = [-values[r.node] if r.negative else values[r.node] for r in refs]
            stacked = np.stack([np.broadcast_to(x, batch) for x in rows], axis=-1)
            arrays.append(stacked.reshape(batch + port.shape))
        return tuple(arrays)

    def count(self) -> Count:
        """Operations by kind, and the critical path. An offset added to a joint angle belongs to its sin/cos."""
        offsets = self.angle_offsets
        tally = Counter[str]()
        depth = [0] * len(self.nodes)
        angles = set()
        for k, (op, args, _) in enumerate(self.nodes):
            if op in LEAVES or k in offsets:
                continue
            if op in ANGLES:
                angles.add(args[0])
            else:
                tally[op] += 1
                depth[k] = 1 + max([depth[a] for a in args])
        costs: dict[str, int] = dict.fromkeys(ops.COSTS, 0)
        for op, times in tally.items():
            costs[OPERATIONS[op].cost] += times
        costs["sincos"] = len(angles)
        ends = [depth[r.node] for refs in self.results for r in refs]
        return Count(**costs, depth=max(ends, default=0))

    @property
    def total(self) -> int:
        """`count().total`, without the critical path."""
        priced = ops.priced()
        return sum([node.op in priced for node in self.nodes]) - len(self.angle_offsets)

    @property
    def angle_offsets(self) -> set[int]:
        """Nodes that add a constant to an input and feed nothing but sin and cos."""
        leaves = {k: node.op for k, node in enumerate(self.nodes) if node.op in LEAVES}
        offsets = {
            k
            for k, (op, args, _) in enumerate(self.nodes)
            if op in ("add", "sub")
            and args[0] in leaves
            and args[1] in leaves
            and leaves[args[0]] != leaves[args[1]]
        }
        if not offsets:
            return offsets
        for op, args, _ in self.nodes:
            if op != "input" and op not in ANGLES:
                offsets.difference_update(args)
        return offsets.difference(r.node for refs in self.results for r in refs)


class Builder:
    """Collects operations into a graph, each of them once (share=False: as often as they are written)."""

    __slots__ = ("_known", "nodes", "share")

    def __init__(self, share: bool = True):
        self.nodes: list[Node] = []
        self._known: dict[Node, int] = {}
        self.share = share

    def _put(
        self, op: str, args: tuple[int, ...], value: float = 0.0, negative: bool = False
    ) -> Ref:
        k = self._known.get((op, args, value))  # type: ignore[call-overload]
        if k is None or not (self.share or op in LEAVES or op in ANGLES):
            node = Node(op, args, value)
            k = self._known[node] = len(self.nodes)
            self.nodes.append(node)
        return Ref(k, negative)

    def input(self, port: int, element: int) -> Ref:
        """An element of an input; a negative port stands for something replaced later."""
        return self._put("input", (port, element))

    def const(self, value: float) -> Ref:
        """A number; its sign stays on the reference."""
        value = float(value)
        return self._put("const", (), abs(value), value < 0)

    def value(self, ref: Ref) -> float | None:
        """The number behind a reference to a constant, else None."""
        node = self.nodes[ref.node]
        return (-node.value if ref.negative else node.value) if node.op == "const" else None

    def add(self, x: Ref, y: Ref) -> Ref:
        """x + y; folded where both are numbers, one is 0, or they are the same node."""
        a, b = self.value(x), self.value(y)
        if a is not None and b is not None:
            return self.const(a + b)
        if a == 0:
            return y
        if b == 0:
            return x
        if x.node == y.node:
            return self.mul(self.const(2.0), x) if x.negative == y.negative else self.const(0.0)
        low, high = (x, y) if x.node < y.node else (y, x)
        if low.negative == high.negative:
            return self._put("add", (low.node, high.node), negative=low.negative)
        return self._put("sub", (low.node, high.node), negative=low.negative)

    def sub(self, x: Ref, y: Ref) -> Ref:
        """x - y"""
        return self.add(x, -y)

    def mul(self, x: Ref, y: Ref) -> Ref:
        """x y; folded where both are numbers, or one is 0, 1 or -1."""
        a, b = self.value(x), self.value(y)
        if a is not None and b is not None:
            return self.const(a * b)
        if a is not None or b is not None:
            number, other = (b, x) if a is None else (a, y)
            if number == 0:
                return self.const(0.0)
            if number == 1:
                return other
            if number == -1:
                return -other
        pair = (x.node, y.node) if x.node < y.node else (y.node, x.node)
        return self._put("mul", pair, negative=x.negative != y.negative)

    def div(self, x: Ref, y: Ref) -> Ref:
        """x / y; a multiplication where y is a power of two."""
        a, b = self.value(x), self.value(y)
        if b == 1:
            return x
        if a is not None and b:
            return self.const(a / b)
        if b is not None and b != 0 and math.frexp(b)[0] in (0.5, -0.5):
            return self.mul(x, self.const(1 / b))  # exact
        if a == 0 and b is None:
            return self.const(0.0)
        return self._put("div", (x.node, y.node), negative=x.negative != y.negative)

    def unary(self, op: str, x: Ref) -> Ref:
        """op(x); even and odd functions see no sign, for others it becomes an operation: 0 - x."""
        record = OPERATIONS[op]
        number = self.value(x)
        if number is not None:
            return self.const(float(record.numpy(number)))
        if record.parity is Parity.EVEN:
            return self._put(op, (x.node,))
        if record.parity is Parity.ODD:
            return self._put(op, (x.node,), negative=x.negative)
        if x.negative:
            x = self._put("sub", (self.const(0.0).node, x.node))
        return self._put(op, (x.node,))

    def finish(
        self, inputs: Sequence[Port], outputs: Sequence[Port], results: Sequence[Sequence[Ref]]
    ) -> Graph:
        """The graph of what the results need, in the order in which it was built; no placeholder may be left."""
        needed = [False] * len(self.nodes)
        for refs in results:
            for ref in refs:
                needed[ref.node] = True
        for k in range(len(self.nodes) - 1, -1, -1):
            if needed[k] and self.nodes[k].op != "input":
                for a in self.nodes[k].args:
                    needed[a] = True
        place = [0] * len(self.nodes)
        nodes: list[Node] = []
        for k, node in enumerate(self.nodes):
            if needed[k]:
                op, args, value = node
                if op == "input":
                    if args[0] < 0:
                        raise AssertionError(f"placeholder {args} was never replaced")
                elif args:
                    node = Node(op, tuple([place[a] for a in args]), value)
                place[k] = len(nodes)
                nodes.append(node)
        return Graph(
            tuple(inputs),
            tuple(outputs),
            tuple(nodes),
            tuple(tuple(Ref(place[r.node], r.negative) for r in refs) for refs in results),
        )

    def operation(self, op: str, x: Sequence[Ref]) -> Ref:
        """The operation of that name on the given arguments."""
        if op == "add":
            return self.add(x[0], x[1])
        if op == "sub":
            return self.add(x[0], -x[1])
        if op == "mul":
            return self.mul(x[0], x[1])
        if op == "div":
            return self.div(x[0], x[1])
        return self.unary(op, x[0])

    def cone(self, refs: Sequence[Ref], leaves: set[int]) -> list[int]:
        """The nodes that the references need, in order of evaluation; what is among the leaves is not looked into."""
        needed: set[int] = set()
        todo = [r.node for r in refs]
        while todo:
            k = todo.pop()
            if k not in needed:
                needed.add(k)
                if k not in leaves and self.nodes[k].op != "input":
                    todo.extend(self.nodes[k].args)
        return sorted(needed)

    def replace(self, refs: Sequence[Ref], old: Sequence[Ref], new: Sequence[Ref]) -> list[Ref]:
        """The references with some nodes (`old`) replaced by others."""
        place = {o.node: (-n if o.negative else n) for o, n in zip(old, new, strict=True)}
        for k in self.cone(refs, set(place)):
            node = self.nodes[k]
            if k in place:
                continue
            if node.op in LEAVES:
                place[k] = Ref(k)
            else:
                place[k] = self.operation(node.op, [place[a] for a in node.args])
        return [-place[r.node] if r.negative else place[r.node] for r in refs]


class Symbol:
    """A scalar that writes down what is done to it: the operand on which formulations are traced."""

    __array_ufunc__ = None
    __slots__ = ("builder", "ref")

    def __init__(self, builder: Builder, ref: Ref):
        self.builder = builder
        self.ref = ref

    def _ref(self, other: Scalar) -> Ref:
        return other.ref if other.__class__ is Symbol else self.builder.const(other)

    def __add__(self, o: Scalar) -> Symbol:
        return Symbol(self.builder, self.builder.add(self.ref, self._ref(o)))

    __radd__ = __add__

    def __sub__(self, o: Scalar) -> Symbol:
        return Symbol(self.builder, self.builder.add(self.ref, -self._ref(o)))

    def __rsub__(self, o: Scalar) -> Symbol:
        return Symbol(self.builder, self.builder.add(self._ref(o), -self.ref))

    def __mul__(self, o: Scalar) -> Symbol:
        return Symbol(self.builder, self.builder.mul(self.ref, self._ref(o)))

    __rmul__ = __mul__

    def __truediv__(self, o: Scalar) -> Symbol:
        return Symbol(self.builder, self.builder.div(self.ref, self._ref(o)))

    def __rtruediv__(self, o: Scalar) -> Symbol:
        return Symbol(self.builder, self.builder.div(self._ref(o), self.ref))

    def __neg__(self) -> Symbol:
        return Symbol(self.builder, -self.ref)

    def __pos__(self) -> Symbol:
        return self

    def apply(self, op: str) -> Symbol:
        """A function of one argument by its name in the table of operations."""
        return Symbol(self.builder, self.builder.unary(op, self.ref))

    def __getattr__(self, name: str) -> Callable[[], Symbol]:
        """The same as a method (`sin`, `fabs`), as formulas over abstract scalars call it."""
        op = ops.method(name)
        if op is None:
            raise AttributeError(f"a symbol has no method {name!r}; see graph/ops.py")
        return partial(self.apply, op.name)


def apply(op: str, x: Scalar) -> Scalar:
    """A function of one argument by its name in the table of operations, of a float, a NumPy batch or a symbol."""
    return x.apply(op) if isinstance(x, Symbol) else OPERATIONS[op].numpy(x)
