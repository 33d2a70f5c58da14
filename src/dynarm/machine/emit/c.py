"""Graph -> C99: one function of straight-line code, no allocation, no globals, no libc beyond <math.h>."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...errors import InputError
from ...graph.graph import ANGLES, Graph, Port
from ...graph.ops import LEAVES, OPERATIONS

FRAME = 512  # bytes of stack beside temporaries and inputs: saved registers, constants, the call of sincos


@dataclass(frozen=True, slots=True)
class Dialect:
    """double or float, and whether temporaries are reused so that the stack they take is bounded."""

    prefix: str
    single: bool = False
    bounded: bool = False

    @property
    def real(self) -> str:
        return "float" if self.single else "double"

    @property
    def kept(self) -> str:
        """The type of a temporary: where the stack is bounded it is kept where we put it, and nowhere else."""
        return f"volatile {self.real}" if self.bounded else self.real

    @property
    def size(self) -> int:
        return 4 if self.single else 8

    def call(self, name: str) -> str:
        return f"{name}f" if self.single else name

    def number(self, value: float) -> str:
        """A literal that reads back as the same value, or as the nearest float."""
        with np.errstate(over="ignore"):
            nearest = np.float32(value) if self.single else np.float64(value)
        if not np.isfinite(nearest):
            raise InputError(
                f"a number of {float(value)!r} is beyond {self.real} in C; {self._way_out}"
            )
        # the fewest digits that read back as the same number of that type
        return f"{float(str(nearest))!r}{'f' if self.single else ''}"

    @property
    def _way_out(self) -> str:
        return "export with single=False" if self.single else "check the robot with arm.check()"


def signature(name: str, inputs: Sequence[Port], outputs: Sequence[Port], dialect: Dialect) -> str:
    """The prototype of a quantity's function, without semicolon."""
    real = dialect.real
    given = [f"const {real} {p.name}[restrict {p.size}]" for p in inputs]
    made = [f"{real} {output_name(p, inputs)}[restrict {p.size}]" for p in outputs]
    body = ",\n    ".join([*given, *made])
    return f"void {dialect.prefix}_{name}(\n    {body})"


def output_name(port: Port, inputs: Sequence[Port]) -> str:
    """An output's parameter name, kept apart from the inputs'."""
    taken = {p.name.lower() for p in inputs}
    return f"{port.name}_out" if port.name.lower() in taken else port.name


@dataclass(frozen=True, slots=True)
class Code:
    """A function's text and the bytes of stack: of its temporaries, or, bounded, of all that it takes itself."""

    text: str
    stack: int


def function(graph: Graph, name: str, dialect: Dialect) -> Code:
    """The C function of a graph."""
    writer = _Bounded(graph, dialect) if dialect.bounded else _Plain(graph, dialect)
    lines = writer.lines()
    outputs = [
        f"    {output_name(port, graph.inputs)}[{j}] = {'-' if ref.negative else ''}{writer.read(ref.node)};"
        for port, refs in zip(graph.outputs, graph.results, strict=True)
        for j, ref in enumerate(refs)
    ]
    head = signature(name, graph.inputs, graph.outputs, dialect)
    used = {node.args[0] for node in graph.nodes if node.op == "input"}
    idle = [f"    (void){p.name};" for k, p in enumerate(graph.inputs) if k not in used]
    text = "\n".join([head, "{", *writer.declarations(), *idle, *lines, *outputs, "}", ""])
    return Code(text, writer.stack())


class _Plain:
    """One constant local a node."""

    def __init__(self, graph: Graph, dialect: Dialect):
        self.graph, self.dialect = graph, dialect
        self.pairs: dict[int, dict[str, int]] = {}  # argument -> sin and cos of it
        for k, node in enumerate(graph.nodes):
            if node.op in ANGLES:
                self.pairs.setdefault(node.args[0], {})[node.op] = k

    def declarations(self) -> list[str]:
        return []

    def stack(self) -> int:
        """Bytes that the temporaries take if the compiler keeps them all."""
        named = sum(node.op not in LEAVES for node in self.graph.nodes)
        return named * self.dialect.size

    def read(self, k: int) -> str:
        node = self.graph.nodes[k]
        if node.op == "input":
            return f"{self.graph.inputs[node.args[0]].name}[{node.args[1]}]"
        if node.op == "const":
            return self.dialect.number(node.value)
        return self.local(k)

    def local(self, k: int) -> str:
        return f"v{k}"

    def assign(self, k: int, value: str) -> str:
        return f"    const {self.dialect.real} {self.local(k)} = {value};"

    def lines(self) -> list[str]:
        lines = []
        for k, node in enumerate(self.graph.nodes):
            if node.op not in LEAVES:
                lines += self.node(k)
        return lines

    def node(self, k: int) -> list[str]:
        node = self.graph.nodes[k]
        if node.op in ANGLES:
            return self.angle(k)
        record = OPERATIONS[node.op]
        text = record.c_single if self.dialect.single else record.c
        return [self.assign(k, text.format(*map(self.read, node.args)))]

    def angle(self, k: int) -> list[str]:
        """sin and cos of one argument, together where both are wanted."""
        node = self.graph.nodes[k]
        pair = self.pairs[node.args[0]]
        argument = self.read(node.args[0])
        if len(pair) == 1:
            return [self.assign(k, f"{self.dialect.prefix}_{node.op}({argument})")]
        if k != min(pair.values()):
            return []
        s, c = self.local(pair["sin"]), self.local(pair["cos"])
        return [
            f"    {self.dialect.real} {s};",
            f"    {self.dialect.real} {c};",
            f"    {self.dialect.prefix}_sincos({argument}, &{s}, &{c});",
        ]


class _Bounded(_Plain):
    """Temporaries in an array whose places are used again as soon as a value is no longer needed."""

    def __init__(self, graph: Graph, dialect: Dialect):
        super().__init__(graph, dialect)
        self.place = self._places()
        self.size = 1 + max(self.place.values(), default=-1)
        if any(len(pair) == 1 for pair in self.pairs.values()):
            self.size += 1  # the last place takes a cosine or sine that nobody wants

    def _places(self) -> dict[int, int]:
        nodes = self.graph.nodes
        last = {a: k for k, node in enumerate(nodes) if node.op != "input" for a in node.args}
        end = len(nodes)
        for refs in self.graph.results:
            last |= {r.node: end for r in refs}
        born = {k: k for k in range(len(nodes))}
        for pair in self.pairs.values():
            for k in pair.values():
                born[k] = min(pair.values())
        free: list[int] = []
        place: dict[int, int] = {}
        top = 0
        leaving: dict[int, list[int]] = {}
        for k in sorted(range(end), key=lambda k: born[k]):
            if nodes[k].op in LEAVES:
                continue
            for moment in [m for m in leaving if m <= born[k]]:
                free += leaving.pop(moment)
            if free:
                place[k] = free.pop()
            else:
                place[k], top = top, top + 1
            # a place may be taken again by the node after the last reader: outputs of a call must not overlap
            leaving.setdefault(last[k] + 1, []).append(place[k])
        return place

    def declarations(self) -> list[str]:
        """volatile twice: an optimiser that takes the array apart needs twice its size for what it spills, and one that
        repeats sincos at every call has new temporaries for each."""
        kept, prefix = self.dialect.kept, self.dialect.prefix
        array = [f"    {kept} w[{self.size}];"] if self.size else []
        takes = f"{self.dialect.real}, {kept} *, {kept} *"
        return array + [f"    void (*volatile turn)({takes}) = {prefix}_sincos;"] * bool(self.pairs)

    def stack(self) -> int:
        """Bytes of stack at most: the array, inputs that the compiler keeps at hand, and FRAME for all else."""
        inputs = sum(port.size for port in self.graph.inputs)
        return (self.size + inputs) * self.dialect.size + FRAME

    def angle(self, k: int) -> list[str]:
        argument = self.graph.nodes[k].args[0]
        pair = self.pairs[argument]
        if k != min(pair.values()):
            return []
        spare = f"w[{self.size - 1}]"
        s, c = (self.local(pair[op]) if op in pair else spare for op in ("sin", "cos"))
        return [f"    turn({self.read(argument)}, &{s}, &{c});"]

    def local(self, k: int) -> str:
        return f"w[{self.place[k]}]"

    def assign(self, k: int, value: str) -> str:
        return f"    {self.local(k)} = {value};"
